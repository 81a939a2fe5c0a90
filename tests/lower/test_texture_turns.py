"""Fetches whose derivatives no operation takes, up to sm_89: the threads of a quad take turns, in registers of their own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes, Sampling
from oric.support import elf

from tests.lower.support import source
from tests.lower.test_textures import HANDLE, REFERENCES, code, fetches

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89")
SIZE, LEVELS = 16, 5
RNG = np.random.default_rng(17)
Array = np.ndarray[Any, Any]
# Of each thread: a direction or place, its derivatives, whether it fetches; handles; what the others compute with instead.
KERNEL = """
  add.s64 %d2, %in, %tid4;
  ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+128]; ld.global.f32 %f3, [%d2+256];
  ld.global.f32 %f11, [%d2+384]; ld.global.f32 %f12, [%d2+512]; ld.global.f32 %f13, [%d2+640];
  ld.global.f32 %f14, [%d2+768]; ld.global.f32 %f15, [%d2+896]; ld.global.f32 %f16, [%d2+1024];
  ld.global.u32 %r1, [%d2+1152]; setp.ne.u32 %p1, %r1, 0;
  add.s64 %d3, %out, %tid8; add.s64 %d3, %d3, %tid8;
  {handle}
  {others}
  @%p1 bra Fetch;
  {otherwise}
  bra Meet;
Fetch:
  tex.grad.{kind}.v4.f32.f32 {{%f4, %f5, %f6, %f7}}, [%d1, {{{layer}%f1, %f2, %f3{last}}}],
    {{%f11, %f12, %f13, %f13}}, {{%f14, %f15, %f16, %f16}};
Meet: st.global.v4.f32 [%d3], {{%f4, %f5, %f6, %f7}};
"""
MANY = 20  # values that only those have who do not fetch


def kernel(kind: str, from_memory: bool) -> str:
    """The body of the kernel; its handle is the parameter, or one of two that memory has."""
    loads = "".join(f"ld.global.f32 %f{20 + n}, [%d2+{4 * n}];" for n in range(MANY - 4))
    spread = "".join(f"ld.global.f32 %f{n}, [%d2+{4 * n}];" for n in range(4, 8))
    sums = "".join(f"add.f32 %f{4 + n % 4}, %f{4 + n % 4}, %f{20 + n};" for n in range(MANY - 4))
    return KERNEL.format(
        kind=kind,
        handle="add.s64 %d4, %in, %tid8; ld.global.u64 %d1, [%d4+1280];" if from_memory else "ld.param.u64 %d1, [handle];",
        others=loads,
        otherwise=spread + "membar.cta;" + sums,
        layer="%i, " if kind[0] == "a" else "",
        last="" if kind[0] == "a" else ", %f3",
    )


def levels_of(shape: tuple[int, ...], axes: int) -> list[Array]:
    """The levels of a texture: random texels whose last component is the level."""
    made = []
    for level in range(LEVELS):
        size = (*shape, *(SIZE >> level,) * axes, 4)
        texels = RNG.random(size, np.float32)
        texels[..., 3] = level
        made.append(texels)
    return made


def place_on_cube(direction: Array) -> tuple[Array, Array, Array]:
    """Face and coordinates from 0 to 1 of directions (the table of the CUDA programming guide)."""
    x, y, z = direction
    size = np.abs(direction)
    major = np.argmax(size, axis=0)
    negative = np.take_along_axis(direction, major[None], 0)[0] < 0
    s = np.choose(major, [np.where(negative, z, -z), x, np.where(negative, -x, x)])
    t = np.choose(major, [-y, np.where(negative, -z, z), -y])
    most = size.max(axis=0)
    return 2 * major + negative, (s / most + 1) / 2, (t / most + 1) / 2


def expected(kind: str, textures: list[list[Array]], chosen: Array, p: Array, by: Array) -> Array:
    """What the fetches give; ``by``: both derivatives of each place."""
    cube = kind.endswith("cube")
    at = (lambda v: v / np.abs(v).max(axis=0) / 2) if cube else (lambda v: v)
    steps = [np.linalg.norm((at(p + d) - at(p)) * SIZE, axis=0) for d in by]
    level = np.clip(np.floor(np.log2(np.maximum(*steps)) + 0.5), 0, LEVELS - 1).astype(int)
    out = np.zeros((32, 4), np.float32)
    face, s, t = place_on_cube(p) if cube else (p[2], p[0], p[1])
    for n in range(32):
        texels = textures[chosen[n]][level[n]]
        if kind[0] == "a":
            texels = texels[min(n, len(texels) - 1)]
        size = SIZE >> level[n]
        first = int(face[n]) if cube else int(face[n] * size)
        out[n] = texels[first, int(t[n] * size), int(s[n] * size)]
    return out


def inputs(kind: str) -> tuple[Array, Array]:
    """Places, and derivatives that are clearly those of some level."""
    p = RNG.uniform(0.1, 0.9, (3, 32)).astype(np.float32)
    if kind.endswith("cube"):
        p = (p - 0.5) * 8
        p[RNG.integers(0, 3, 32), np.arange(32)] = 5 * RNG.choice([-1, 1], 32)
    by = RNG.normal(size=(2, 3, 32))
    length = np.exp2(RNG.integers(0, LEVELS, (2, 32)) + RNG.uniform(-0.3, 0.3, (2, 32))) / SIZE * np.abs(p).max(axis=0)
    if kind.endswith("cube"):
        major = np.argmax(np.abs(p), axis=0)
        by[:, major, np.arange(32)] = 0
        length *= 2
    return p, (by * (length / np.linalg.norm(by, axis=1))[:, None]).astype(np.float32)


@pytest.mark.parametrize("active", [0xFFFFFFFF, 0x1, 0x80000000, 0x12345678, 0x0F0F0F04])
@pytest.mark.parametrize("kind", ["3d", "cube", "acube"])
@pytest.mark.parametrize("arch", TARGETS)
def test_levels_are_those_of_the_derivatives(arch: str, kind: str, active: int) -> None:
    for level, from_memory in ((3, False), (3, True), (0, True)):
        text = source(kernel(kind, from_memory), arch, params=HANDLE)
        module = oric.sim.load(oric.compile(text, arch=arch, opt_level=level).image)
        assert_fetches(module, kind, active, from_memory)


def assert_fetches(module: oric.sim.Module, kind: str, active: int, from_memory: bool) -> None:
    """Launch the kernel of a kind and look at its results."""
    layered, shape = kind[0] == "a", {"3d": (), "cube": (6,), "acube": (3, 6)}[kind]
    textures = [levels_of(shape, 3 if kind == "3d" else 2) for _ in range(2)]
    given = [
        module.texture(
            texels[0], kind.removeprefix("a"), layered=layered, channels=4, sampling=Sampling(normalised=True), smaller=texels[1:]
        )
        for texels in textures
    ]
    p, by = inputs(kind)
    wants = np.array([active >> n & 1 for n in range(32)], np.int32)
    chosen = RNG.integers(0, 2, 32) if from_memory else np.zeros(32, int)
    handles = np.array([texture.address for texture in given], np.uint64)[chosen]
    buffer = np.concatenate([p.ravel().view(np.int32), by.ravel().view(np.int32), wants, handles.view(np.int32)])
    out = np.zeros((32, 4), np.float32)
    done = module.launch("k", 1, 32, [buffer, out, given[0]], modes=Modes(strict=True, memcheck=True))
    assert done.reports == ()
    words = buffer.view(np.float32)
    others = np.stack([np.stack([words[k : k + 32] for k in range(4 + c, 5 + c)])[0] for c in range(4)], axis=1)
    for n in range(MANY - 4):
        others[:, n % 4] += words[n : n + 32]
    wanted = np.where(wants[:, None] != 0, expected(kind, textures, chosen, p, by), others)
    np.testing.assert_array_equal(out, wanted)


FORM = """add.s64 %d2, %in, %tid4;
  ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+128]; ld.global.f32 %f3, [%d2+256]; ld.global.f32 %f4, [%d2+384];
  ld.global.u32 %r1, [%d2+512]; ld.global.u32 %r2, [%d2+640]; {handle}
  tex.grad.{form};
  add.s64 %d3, %out, %tid8; add.s64 %d3, %d3, %tid8; st.global.v4.f32 [%d3], {{%f10, %f11, %f12, %f13}};"""
RESULT = "v4.f32.f32 {%f10, %f11, %f12, %f13}, "
PLACES = {
    "2d": "[%d1, {%f1, %f2}], {%f3, %f4}, {%f4, %f3}",
    "3d": "[%d1, {%f1, %f2, %f3, %f3}], {%f1, %f2, %f3, %f4}, {%f4, %f3, %f2, %f1}",
    "a1d": "[%d1, {%r1, %f1}], {%f3}, {%f4}",
    "a2d": "[%d1, {%r1, %f1, %f2, %f2}], {%f3, %f4}, {%f4, %f3}",
    "cube": "[%d1, {%f1, %f2, %f3, %f3}], {%f1, %f2, %f3, %f4}, {%f4, %f3, %f2, %f1}",
    "acube": "[%d1, {%r1, %f1, %f2, %f3}], {%f1, %f2, %f3, %f4}, {%f4, %f3, %f2, %f1}",
}
# Kind, what follows, the operation with the handle in a constant bank and in a register: as ptxas 13.0.88 makes them.
FORMS = [
    ("2d", ", %f1", "TEX.SCR.DC.NDV", "TEX.SCR.B.DC.NDV", "2D"),
    ("2d", ", {%r1, %r2}, %f1", "TEX.SCR.AOFFI.DC.NDV", "TEX.B.AOFFI.DC.NDV", "2D"),
    ("3d", "", "TEX.SCR.NDV", "TEX.SCR.B.NDV", "3D"),
    ("3d", ", {%r1, %r2, %r1, %r1}", "TEX.SCR.AOFFI.NDV", "TEX.B.AOFFI.NDV", "3D"),
    ("a1d", ", %f1", "TEX.SCR.DC.NDV", "TEX.SCR.B.DC.NDV", "ARRAY_1D"),
    ("a1d", ", {%r1}, %f1", "TEX.SCR.AOFFI.DC.NDV", "TEX.B.AOFFI.DC.NDV", "ARRAY_1D"),
    ("a2d", ", %f1", "TEX.SCR.DC.NDV", "TEX.B.DC.NDV", "ARRAY_2D"),
    ("a2d", ", {%r1, %r2}, %f1", "TEX.AOFFI.DC.NDV", "TEX.B.AOFFI.DC.NDV", "ARRAY_2D"),
    ("cube", "", "TEX.SCR.NDV", "TEX.SCR.B.NDV", "CUBE"),
    ("cube", ", %f1", "TEX.SCR.DC.NDV", "TEX.B.DC.NDV", "CUBE"),
    ("acube", "", "TEX.SCR.NDV", "TEX.B.NDV", "ARRAY_CUBE"),
    ("acube", ", %f1", "TEX.DC.NDV", "TEX.B.DC.NDV", "ARRAY_CUBE"),
]


@pytest.mark.parametrize(("kind", "behind", "placed", "held", "dim"), FORMS)
@pytest.mark.parametrize("arch", ["sm_75", "sm_86"])
def test_operations_are_those_of_ptxas(arch: str, kind: str, behind: str, placed: str, held: str, dim: str) -> None:
    memory = "add.s64 %d4, %in, %tid8; ld.global.u64 %d1, [%d4+768];"
    for handle, name in (("ld.param.u64 %d1, [handle];", placed), (memory, held)):
        lines = code(FORM.format(handle=handle, form=f"{kind}.{RESULT}{PLACES[kind]}{behind}"), arch, params=HANDLE)
        found = fetches(lines)
        assert len(found) == 4
        assert {line.split()[0] for line in found} == {name}
        assert all(re.search(rf"\b{dim}\b", line) for line in found)
        spatial = {"1": 1, "2": 2}.get(kind.removeprefix("a")[0], 3)
        sums = [line.split()[-1] for line in lines if line.startswith("FSWZADD.NDV")]
        assert sorted(sums) == ["ZPPPZPPP"] * 4 * spatial + ["ZPZPPPPP"] * 4 * spatial
        assert sum(line.startswith("MUFU.RCP") for line in lines) == (4 if kind.endswith("cube") else 0)
        assert sum("BMOV.32.PQUAD MACTIVE, B15" in line for line in lines) == 4


def turns(lines: list[str]) -> list[list[str]]:
    """What the threads of a quad do together."""
    found: list[list[str]] = []
    inside = False
    for line in lines:
        if "PQUAD" in line:
            found.append([])
            inside = True
        elif line.startswith("BMOV.32 MACTIVE"):
            inside = False
        elif inside:
            found[-1].append(line)
    return found


def written(line: str) -> set[str]:
    """The first register of each result."""
    operands = re.findall(r"\b(?:R|P)\d+\b|\bPT\b|\bRZ\b", line)
    return set(operands[: 3 if "TEX" in line else 2 if "SHFL" in line else 1]) - {"PT", "RZ"}


@pytest.mark.parametrize("arch", ["sm_75", "sm_86"])
@pytest.mark.parametrize("limit", [0, 32])
def test_helpers_keep_their_values(arch: str, limit: int) -> None:
    """Registers of the turns have numbers above all others, also where there are few registers."""
    text = source(kernel("3d", True), arch, params=HANDLE)
    image = oric.compile(text, arch=arch, maxrregcount=limit or None).image
    assert check_cubin(elf.read(image)).findings == []
    section = next(s for s in elf.read(image).sections if s.name == ".text.k")
    lines = list(oric.sass.instruction.disassemble(section.data, arch))
    own = {name for turn in turns(lines) for line in turn for name in written(line)}
    least = min(int(name[1:]) for name in own if name[0] == "R")
    inside = {line for turn in turns(lines) for line in turn}
    for line in lines:
        if line in inside or re.fullmatch(r"MOV R\d+, R\d+, 0x[1248] *;?", line):
            continue
        assert all(int(number) < least for number in re.findall(r"\bR(\d+)\b", line)), line


@pytest.mark.parametrize("arch", ["sm_75", "sm_89"])
def test_residency(arch: str) -> None:
    result = "v4.f32.f32 {%f10, %f11, %f12, %f13}|%p1, "
    body = FORM.format(handle="ld.param.u64 %d1, [handle];", form=f"3d.{result}{PLACES['3d']}")
    body += "selp.u32 %r5, 1, 0, %p1; st.global.u32 [%d3+512], %r5;"
    lines = code(body, arch, params=HANDLE)
    assert all(re.match(r"TEX\.SCR\.NDV P6,", line) for line in fetches(lines))
    assert sum(bool(re.match(r"SEL R\d+, RZ, 0x1, !P6", line)) for line in lines) == 4
    assert not any("P6" in line for line in lines if not line.startswith(("TEX", "SEL")))


@pytest.mark.parametrize("arch", ["sm_75", "sm_86"])
def test_only_components_that_are_read_are_fetched(arch: str) -> None:
    body = FORM.format(handle="", form=f"3d.v4.f32.f32 {{%f10, _, %f12, _}}, {PLACES['3d']}").replace("%d1", "tex0")
    body = body.replace("%f11, %f12, %f13", "%f12, %f12, %f12")
    found = fetches(code(body, arch, module=REFERENCES))
    assert len(found) == 4
    assert all(line.rstrip(" ;").endswith("3D, 0x5") for line in found)


@pytest.mark.parametrize("arch", ["sm_75", "sm_86"])
def test_a_line_has_nothing_to_compare_with(arch: str) -> None:
    """As ptxas leaves it out."""
    body = FORM.format(handle="ld.param.u64 %d1, [handle];", form=f"1d.{RESULT}[%d1, {{%f1}}], {{%f3}}, {{%f4}}, %f2")
    (found,) = fetches(code(body, arch, params=HANDLE))
    assert found.startswith("TXD R")


def test_a_function_that_stays_one_is_refused() -> None:
    function = """.visible .func (.reg .f32 %r) fetch(.reg .b64 %h, .reg .f32 %a) {
      .reg .f32 %f<9>;
      tex.grad.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%h, {%a, %a, %a, %a}], {%a, %a, %a, %a}, {%a, %a, %a, %a};
      add.f32 %r, %f4, %f5; ret; }"""
    body = "ld.param.u64 %d1, [handle]; mov.f32 %f1, 0f3F800000; call (%f2), fetch, (%d1, %f1); st.global.f32 [%out], %f2;"
    text = source(body, "sm_80", function, HANDLE)
    assert fetches(list(code(body, "sm_80", module=function, params=HANDLE)))
    with pytest.raises(oric.CompileError, match=r"'fetch': tex\.grad with \.3d.*in a function that stays a function"):
        oric.compile(text, arch="sm_80", relocatable=True)
