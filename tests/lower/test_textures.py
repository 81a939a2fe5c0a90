"""Textures and surfaces: fetches and accesses against numpy, by handles from everywhere; the operations of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.instruction import disassemble
from oric.sim import Modes, Sampling
from oric.support import elf

from tests.lower.support import source

TARGETS = ("sm_75", "sm_86", "sm_90", "sm_100", "sm_120")
Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)
HANDLE = ", .param .u64 handle"
REFERENCES = ".global .texref tex0;\n.global .surfref srf0;\n"
# The handle of each thread: the parameter, or one of two that memory has.
PARAMETER = "ld.param.u64 %d1, [handle];"
MEMORY = "add.s64 %d2, %in, %tid8; ld.global.u64 %d1, [%d2+512];"


def launch(text: str, arch: str, *args: Any, level: int = 3) -> oric.sim.Module:
    module = oric.sim.load(oric.compile(text, arch=arch, opt_level=level).image)
    return run(module, *args)


def run(module: oric.sim.Module, *args: Any) -> oric.sim.Module:
    done = module.launch("k", 1, 32, args, modes=Modes(strict=True, memcheck=True))
    assert done.reports == ()
    return module


def code(body: str, arch: str, level: int = 3, module: str = REFERENCES, params: str = "") -> list[str]:
    """The instructions of a kernel."""
    file = elf.read(oric.compile(source(body, arch, module, params), arch=arch, opt_level=level).image)
    section = next(s for s in file.sections if s.name == ".text.k")
    return list(disassemble(section.data, arch))


def fetches(lines: list[str]) -> list[str]:
    """Those that fetch or access surfaces."""
    return [line for line in lines if any(name in line for name in ("TEX", "TLD", "TXD", "TXQ", "SULD", "SUST", "SURED"))]


FETCH = """
  add.s64 %d2, %in, %tid4;
  ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+128]; ld.global.s32 %r1, [%d2+256]; ld.global.s32 %r2, [%d2+384];
  {handle}
  {fetch}
  add.s64 %d3, %out, %tid8; add.s64 %d3, %d3, %tid8;
  st.global.v4.f32 [%d3], {{%f4, %f5, %f6, %f7}};
"""


def inputs(handles: list[int], size: tuple[int, int] = (13, 9)) -> tuple[Array, Array, Array, Array]:
    """The buffer that kernels read, and what is in it: coordinates, integer coordinates."""
    x = RNG.uniform(-3, size[0] + 3, 32).astype(np.float32)
    y = RNG.uniform(-3, size[1] + 3, 32).astype(np.float32)
    i = RNG.integers(0, size[0], 32).astype(np.int32)
    j = RNG.integers(0, size[1], 32).astype(np.int32)
    words = np.concatenate([x.view(np.int32), y.view(np.int32), i, j])
    chosen = np.array(handles or [0], np.uint64)[np.arange(32) % max(len(handles), 1)]
    return np.concatenate([words, chosen.view(np.int32)]), np.stack([x, y]), i, j


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("from_memory", [False, True])
def test_nearest_texels(arch: str, level: int, from_memory: bool) -> None:
    fetch = "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f2}];"
    text = source(FETCH.format(fetch=fetch, handle=MEMORY if from_memory else PARAMETER), arch, params=HANDLE)
    module = oric.sim.load(oric.compile(text, arch=arch, opt_level=level).image)
    images = [RNG.random((9, 13, 4), np.float32) for _ in range(2)]
    textures = [module.texture(image, channels=4) for image in images]
    buffer, (x, y), _, _ = inputs([t.address for t in textures])
    out = np.zeros((32, 4), np.float32)
    run(module, buffer, out, textures[0])
    row, column = np.clip(np.floor(y), 0, 8).astype(int), np.clip(np.floor(x), 0, 12).astype(int)
    chosen = np.arange(32) % 2 if from_memory else np.zeros(32, int)
    np.testing.assert_array_equal(out, np.stack(images)[chosen, row, column])


@pytest.mark.parametrize("arch", TARGETS)
def test_linear_filter(arch: str) -> None:
    fetch = "tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f2}], 0f00000000, {1, -2};"
    module = oric.sim.load(
        oric.compile(source(FETCH.format(fetch=fetch, handle=PARAMETER), arch, params=HANDLE), arch=arch).image
    )
    image = RNG.random((9, 13, 4), np.float32)
    buffer, (x, y), _, _ = inputs([])
    out = np.zeros((32, 4), np.float32)
    run(module, buffer, out, module.texture(image, channels=4, sampling=Sampling(linear=True)))
    px, py = x.astype(np.float64) - 0.5, y.astype(np.float64) - 0.5
    wx, wy = (np.round((p - np.floor(p)) * 256) / 256 for p in (px, py))
    total = np.zeros((32, 4))
    for dx, dy in ((0, 0), (0, 1), (1, 0), (1, 1)):
        column = np.clip(np.floor(px).astype(int) + 1 + dx, 0, 12)
        row = np.clip(np.floor(py).astype(int) - 2 + dy, 0, 8)
        weight = (wx if dx else 1 - wx) * (wy if dy else 1 - wy)
        total += weight[:, None] * image[row, column]
    np.testing.assert_allclose(out, total, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("arch", TARGETS)
def test_layers_and_gathers(arch: str) -> None:
    layers = RNG.random((3, 9, 13, 4), np.float32)
    fetch = "and.b32 %r3, %i, 3; tex.a2d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%d1, {%r3, %r1, %r2, %r2}];"
    module = oric.sim.load(
        oric.compile(source(FETCH.format(fetch=fetch, handle=PARAMETER), arch, params=HANDLE), arch=arch).image
    )
    buffer, _, i, j = inputs([])
    out = np.zeros((32, 4), np.float32)
    run(module, buffer, out, module.texture(layers, channels=4, layered=True))
    np.testing.assert_array_equal(out, layers[np.minimum(np.arange(32) % 4, 2), j, i])  # the last layer for those beyond


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("from_memory", [False, True])
def test_surfaces(arch: str, from_memory: bool) -> None:
    body = FETCH.format(
        handle=MEMORY if from_memory else PARAMETER,
        fetch="""shl.b32 %r3, %r1, 2;
        suld.b.2d.b32.clamp %r4, [%d1, {%r3, %r2}];
        add.u32 %r5, %r4, 5;
        shl.b32 %r6, %i, 2;
        sust.b.2d.b32.clamp [%d1, {%r6, 0}], %r5;
        sured.b.add.2d.u32.clamp [%d1, {%r6, 1}], %r5;
        mov.b32 %f4, %r4; mov.f32 %f5, 0f00000000; mov.f32 %f6, %f5; mov.f32 %f7, %f5;""",
    )
    module = oric.sim.load(oric.compile(source(body, arch, params=HANDLE), arch=arch).image)
    image = RNG.integers(0, 1 << 30, (9, 32)).astype(np.uint32)
    surfaces = [module.surface(image) for _ in range(2)]
    buffer, _, i, j = inputs([s.address for s in surfaces])
    j = np.maximum(j, 2)  # away from the rows that are written
    buffer[96:128] = j
    out = np.zeros((32, 4), np.uint32)
    run(module, buffer, out, surfaces[0])
    np.testing.assert_array_equal(out[:, 0], image[j, i])
    chosen = np.arange(32) % 2 if from_memory else np.zeros(32, int)
    for n, surface in enumerate(surfaces):
        wanted = image.copy()
        mine = chosen == n
        wanted[0, mine] = image[j, i][mine] + 5
        wanted[1, mine] += image[j, i][mine] + 5
        np.testing.assert_array_equal(surface.read().reshape(9, 32), wanted)


@pytest.mark.parametrize(
    ("arch", "wanted"), [("sm_75", "TLD.SCR.LZ RZ"), ("sm_86", "TLD.SCR.LZ RZ"), ("sm_90", "TLD.LZ RZ"), ("sm_120", "TLD.LZ RZ")]
)
def test_components_that_nobody_reads(arch: str, wanted: str) -> None:
    body = """add.s64 %d2, %in, %tid8; ld.global.u32 %r1, [%d2]; ld.global.u32 %r2, [%d2+4];
    tex.2d.v4.u32.s32 {%r3, %r4, %r5, _}, [tex0, {%r1, %r2}];
    add.s64 %d3, %out, %tid4; st.global.u32 [%d3], %r4;"""
    (found,) = fetches(code(body, arch))
    assert found.startswith(wanted)
    assert found.rstrip(" ;").endswith("2D, 0x2")


@pytest.mark.parametrize(("arch", "native"), [("sm_75", True), ("sm_86", True), ("sm_90", False), ("sm_120", False)])
def test_halves(arch: str, native: bool) -> None:
    body = """add.s64 %d2, %in, %tid8; ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+4];
    tex.2d.v2.f16x2.f32 {%r3, %r4}, [tex0, {%f1, %f2}];
    add.s64 %d3, %out, %tid8; st.global.u32 [%d3], %r3; st.global.u32 [%d3+4], %r4;"""
    lines = code(body, arch)
    (found,) = fetches(lines)
    assert (".F16.RN" in found) == native
    assert sum("F2FP" in line for line in lines) == (0 if native else 2)


@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_handles_of_threads_take_a_loop(arch: str) -> None:
    body = FETCH.format(fetch="tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f2}];", handle=MEMORY)
    lines = code(body, arch)
    at = next(n for n, line in enumerate(lines) if "TEX" in line)
    assert lines[at].startswith("@!P")
    assert any("R2UR P" in line for line in lines[:at])
    assert any("BRA" in line for line in lines[at:])
    uniform = FETCH.format(fetch="tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f2}];", handle=PARAMETER)
    assert not any("R2UR P" in line for line in code(uniform, arch, params=HANDLE))


@pytest.mark.parametrize(("arch", "place"), [("sm_75", 0x170), ("sm_86", 0x170), ("sm_90", 0x220), ("sm_120", 0x390)])
def test_references_have_places_behind_the_parameters(arch: str, place: int) -> None:
    body = """tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [tex0, {%i}];
    suld.b.1d.b32.trap %r1, [srf0, {%i}];
    add.s64 %d3, %out, %tid8; st.global.f32 [%d3], %f4; st.global.u32 [%d3+4], %r1;"""
    file = elf.read(oric.compile(source(body, arch, REFERENCES), arch=arch).image)
    symbols = {s.name: s for s in file.symbols}
    assert (symbols["tex0"].info, symbols["srf0"].info) == (0x1A, 0x1C)
    bank = next(s for s in file.sections if s.name == ".nv.constant0.k")
    assert len(bank.data) == place + 8


def test_derivatives_by_the_driver() -> None:
    body = """add.s64 %d2, %in, %tid8; ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+4];
    tex.grad.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}|%p1, [tex0, {%f1, %f2, %f1, %f2}], {%f1, %f2, %f1, %f2}, {%f2, %f1, %f2, %f1};
    add.s64 %d3, %out, %tid8; st.global.f32 [%d3], %f4; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d3+4], %r1;"""
    file = elf.read(oric.compile(source(body, "sm_90", REFERENCES), arch="sm_90").image)
    assert "__cuda_syscall_tex_grad_pred_3d_v4_f32_f32" in {s.name for s in file.symbols}


@pytest.mark.parametrize(("arch", "mark"), [("sm_75", True), ("sm_86", True), ("sm_90", False), ("sm_120", False)])
def test_addresses_of_references_are_handles(arch: str, mark: bool) -> None:
    body = "mov.u64 %d1, tex0; mov.u64 %d2, srf0; st.global.u64 [%out], %d1; st.global.u64 [%out+8], %d2;"
    lines = code(body, arch)
    assert any("0x20000000" in line for line in lines)
    assert sum("0x80000000" in line for line in lines if "LOP3" in line) == (2 if mark else 0)


RECURSIVE = """
.global .texref tex0;
.func (.reg .f32 %r) turn(.reg .f32 %a, .reg .u32 %n) {
  .reg .f32 %f<8>; .reg .pred %q;
  setp.eq.u32 %q, %n, 0; @%q bra Done;
  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tex0, {%a, %a}]; sub.u32 %n, %n, 1;
  call (%r), turn, (%f0, %n); ret;
Done: mov.f32 %r, %a; ret;
}
"""


def test_references_that_are_refused() -> None:
    body = "call (%f1), turn, (%f1, %i); st.global.f32 [%out], %f1;"
    with pytest.raises(oric.CompileError, match="in a function that 'k' calls"):
        oric.compile(source(body, "sm_90", RECURSIVE), arch="sm_90")
    with pytest.raises(oric.CompileError, match=r"\.texref tex0 in an object to link"):
        oric.compile(source("", "sm_90", REFERENCES), arch="sm_90", relocatable=True)


@pytest.mark.parametrize(("body", "wanted"), [("st.global.u32 [%out], %i;", 1), ("sust.b.1d.b32.trap [srf0, {%i}], %i;", 2)])
def test_modules_with_the_operations_are_of_another_class(body: str, wanted: int) -> None:
    file = elf.read(oric.compile(source(body, "sm_90", REFERENCES), arch="sm_90").image)
    compat = next(s for s in file.sections if s.name == ".nv.compat")
    assert bytes((2, 2, wanted)) in compat.data


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_levels_that_are_0(arch: str) -> None:
    body = """add.s64 %d2, %in, %tid8; ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+4]; mov.f32 %f3, 0f00000000;
    tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [tex0, {%f1, %f2}], %f3; st.global.f32 [%out], %f4;"""
    (found,) = fetches(code(body, arch))
    assert ".LZ" in found
    (found,) = fetches(code(body.replace("0f00000000", "0f80000000"), arch))
    assert ".LL" in found


@pytest.mark.parametrize(
    ("coordinates", "wanted"),
    [("f32.f32 {%f4, %f5, %f6, %f7}, [tex0, {%f1}]", "2D"), ("f32.s32 {%f4, %f5, %f6, %f7}, [tex0, {%i}]", "1D")],
)
def test_derivatives_of_lines(coordinates: str, wanted: str) -> None:
    body = f"""add.s64 %d2, %in, %tid8; ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+4];
    tex.grad.1d.v4.{coordinates}, {{%f1}}, {{%f2}}; st.global.f32 [%out], %f4;"""
    (found,) = fetches(code(body, "sm_90"))
    assert found.startswith("TXD")
    assert f", {wanted}," in found


# Two surfaces take turns as a counter says; `END` is what ends the loop, `MORE` what else happens in it.
TURNS = """
  ld.param.u64 %d1, [one]; ld.param.u64 %d2, [other]; ld.param.u32 %n, [n]; mov.u32 %c, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
ROUND:
  and.b32 %r1, %c, 1; setp.eq.u32 %p1, %r1, 1; selp.b64 %d3, %d1, %d2, %p1;
  suld.b.1d.b32.zero {%r2}, [%d3, {%r3}]; add.u32 %r4, %r4, %r2;
  MORE
  add.u32 %c, %c, 1; setp.lt.u32 %p2, %c, END; @%p2 bra ROUND;
  st.global.u32 [%out], %r4;
"""
TURNS_PARAMS = ", .param .u64 one, .param .u64 other, .param .u32 n"


def turns(arch: str, end: str, more: str = "") -> bool:
    """Whether the surfaces of a counter take a loop over the threads."""
    body = ".reg .b32 %n, %c, %lane; mov.u32 %lane, %tid.x;" + TURNS.replace("END", end).replace("MORE", more)
    return any("R2UR P" in line for line in code(body, arch, level=1, params=TURNS_PARAMS))


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_handles_of_counters_take_no_loop(arch: str) -> None:
    assert not turns(arch, "%n")
    elsewhere = "setp.lt.u32 %p3, %lane, 5; @%p3 bra BEHIND; add.u32 %r4, %r4, 3; BEHIND:"
    assert not turns(arch, "%n", elsewhere)


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_handles_of_counters_of_threads_take_a_loop(arch: str) -> None:
    """Counters that threads change by themselves, and those of a loop that they leave one by one."""
    assert turns(arch, "%n", "setp.lt.u32 %p3, %lane, 5; @%p3 bra BEHIND; add.u32 %c, %c, 1; BEHIND:")
    assert turns(arch, "%n", "setp.lt.u32 %p3, %lane, 5; @%p3 add.u32 %c, %c, 1;")
    assert turns(arch, "%n", "add.u32 %c, %c, %lane;")
    assert turns(arch, "%lane")
