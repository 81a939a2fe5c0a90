"""Code for a debugger: functions are code of their own, frames can be unwound wherever a thread stops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.support.elf import read
from oric_tables.registers import KEPT, RETURN_ADDRESS

from tests.cubin.debug_sections import CLASS_BITS, Frames
from tests.cubin.line_program import number, sequences
from tests.cubin.stepping import Stop, stops

from .call_runs import inputs, launch, text, wanted
from .test_calls import PROGRAMS, TARGETS

GENERAL = 5 << CLASS_BITS
STEP = 16


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, target: str) -> None:
    """All calls stay calls, and mean what they mean."""
    program = PROGRAMS[name]
    image = oric.compile(text(program, target), arch=target, opt_level=0, debug=True, verify=True).image
    assert launch(image) == (wanted(program), [])
    cubin = read(image)
    assert check_cubin(cubin).findings == []
    assert not any(symbol.name.startswith("$") for symbol in cubin.symbols)


class Call(NamedTuple):
    """What a function has to find and to leave: where it returns to, the stack pointer and what it keeps."""

    back: tuple[str, int]
    registers: list[int]


def calls_of(found: list[Stop]) -> list[list[Call]]:
    """The calls that are active at each stop, the innermost last; the kernel has none."""
    active: list[Call] = []
    out: list[list[Call]] = []
    before: Stop | None = None
    for stop in found:
        if before is not None and stop.place == 0:
            active = [*active, Call((before.function, before.place + STEP), stop.registers)]
        elif active and (stop.function, stop.place) == active[-1].back:
            active = active[:-1]
        before = stop
        out.append(active)
    return out


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "target", [pytest.param(t, marks=[pytest.mark.measure] * (t not in ("sm_75", "sm_90"))) for t in TARGETS]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_frames(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each instruction of a thread the frame address, the return address and what the callers keep are where they are told."""
    image = oric.compile(text(PROGRAMS[name], target), arch=target, opt_level=0, debug=True).image
    frames = Frames(read(image))
    out, data = np.zeros(32, np.uint32), np.array(inputs(), np.uint32)
    found = stops(image, [out, data], monkeypatch, stack=4096)
    assert {stop.function for stop in found} > {"k"}
    for stop, active in zip(found, calls_of(found), strict=True):
        if not active:
            continue
        frame = frames.at(stop.function, stop.place)
        address = (stop.registers[frame.register - GENERAL] + frame.offset) & 0xFFFFFFFF
        call = active[-1]
        assert address == call.registers[1], (stop.function, hex(stop.place))
        for kept in (*sorted(KEPT), RETURN_ADDRESS, RETURN_ADDRESS + 1):
            below = frame.rules[GENERAL + kept]
            value = stop.registers[kept] if below is None else stop.word(address - below)
            assert value == call.registers[kept], (stop.function, hex(stop.place), kept)
        assert frame.return_column == GENERAL + RETURN_ADDRESS


SHARED = """.version 9.0
.target sm_90
.address_size 64
.shared .align 4 .b8 common[128];
.extern .shared .align 16 .b8 dyn[];
.func (.reg .b32 r) both(.reg .b32 a)
{
  .reg .b32 t; .shared .align 8 .b8 own[64];
  st.shared.u32 [common+4], a; st.shared.u32 [own+8], a;
  ld.shared.u32 r, [common+4]; ld.shared.u32 t, [own+8]; add.u32 r, r, t; ret;
}
.func (.reg .b32 r) late(.reg .b32 a) { st.shared.u32 [dyn+4], a; ld.shared.u32 r, [dyn+4]; ret; }
.func (.reg .b32 r) jump(.reg .b32 a)
{
  .reg .b32 t; and.b32 t, a, 3; ts: .branchtargets A, B, C; brx.idx t, ts;
A: mov.u32 r, 11; bra E; B: mov.u32 r, 22; bra E; C: mov.u32 r, 33; E: ret;
}
.visible .entry k1(.param .u64 p)
{
  .reg .b64 %d<3>; .reg .b32 %r<9>; .shared .align 4 .b8 mine[100];
  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.shared.u32 [mine+16], %r1;
  call (%r2), jump, (%r1); call (%r3), both, (%r1);
  ld.shared.u32 %r4, [mine+16]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%d1+4], %r2; ret;
}
.visible .entry k2(.param .u64 p)
{
  .reg .b64 %d<3>; .reg .b32 %r<9>; .shared .align 16 .b8 mine[300];
  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.shared.u32 [mine+16], %r1;
  call (%r2), late, (%r1); call (%r3), both, (%r1);
  ld.shared.u32 %r4, [mine+16]; st.shared.u32 [dyn+8], 7; ld.shared.u32 %r5, [dyn+4]; ld.shared.u32 %r6, [dyn+8];
  add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6; st.global.u32 [%d1+4], %r2; ret;
}
.visible .entry k3(.param .u64 p)
{
  .reg .b64 %d<3>; .reg .b32 %r<9>; ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1];
  st.shared.u32 [dyn+4], %r1; ld.shared.u32 %r5, [dyn+4]; st.global.u32 [%d1+4], %r5; ret;
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_functions_find_shared_variables_whoever_calls_them(target: str) -> None:
    """And jump tables of their own."""
    image = oric.compile(SHARED.replace("sm_90", target), arch=target, opt_level=0, debug=True, verify=True).image
    module = oric.sim.load(image)
    for kernel, want in (("k1", 33 + 3 * 6), ("k2", 5 * 6 + 7), ("k3", 6)):
        data = np.array([6, 0], np.uint32)
        done = module.launch(kernel, 1, 1, [data], shared_bytes=64, modes=oric.sim.Modes(strict=True, memcheck=True))
        assert (data[1], done.reports) == (want, ())


LOCAL = """.version 9.0
.target sm_90
.address_size 64
.func deep(.reg .b32 a)
{
  .reg .b64 %d<3>; .reg .pred %p; .local .align 8 .b8 inner[24];
  st.local.u32 [inner+4], 4660; setp.eq.u32 %p, a, 0; @%p ret; sub.u32 a, a, 1; call deep, (a); ret;
}
.visible .entry k(.param .u64 p)
{
  .reg .b64 %d<3>; .reg .b32 %r<9>; .local .align 8 .b8 outer[40];
  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.local.u32 [outer+36], 22136; call deep, (%r1);
  ld.local.u32 %r2, [outer+36]; st.global.u32 [%d1], %r2; ret;
}
.section .debug_abbrev { .b8 1 }
.section .debug_info { .b8 3
.b64 inner
.b8 3
.b64 outer
}
"""


def fbreg(data: bytes) -> int:
    """The offset of a DW_OP_fbreg."""
    assert data[0] == 0x91
    return number(data, 1, signed=True)[0]


@pytest.mark.parametrize("target", TARGETS)
def test_local_variables_are_where_the_debug_data_say(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    image = oric.compile(LOCAL.replace("sm_90", target), arch=target, opt_level=0, debug=True).image
    cubin = read(image)
    section = cubin.section(".debug_info")
    assert section is not None
    places = {"deep": (fbreg(section.data) + 4, 4660), "k": (fbreg(section.data[9:]) + 36, 22136)}
    frames, seen = Frames(cubin), set()
    for stop in stops(image, [np.array([3], np.uint32)], monkeypatch):
        frame = frames.at(stop.function, stop.place)
        offset, value = places[stop.function]
        address = stop.registers[frame.register - GENERAL] + frame.offset + offset
        seen.add((stop.function, stop.word(address) == value))
        if (stop.function, True) in seen and stop.function == "k":
            assert stop.word(address) == value
    assert seen >= {("deep", True), ("k", True)}


@pytest.mark.parametrize("target", TARGETS)
def test_each_function_has_its_lines(target: str) -> None:
    """A sequence of the line table of the PTX, from its first byte to its last."""
    cubin = read(oric.compile(SHARED.replace("sm_90", target), arch=target, opt_level=0, debug=True).image)
    sizes = {name: len(function.text) for name, function in cubin.functions.items()}
    found = {s.kernel: (s.rows[0].address, s.end) for s in sequences(cubin, ".nv_debug_line_sass")}
    assert found == {name: (0, size) for name, size in sizes.items()}
