"""Registers of the PTX are where the map of registers says, with the values that the PTX gives them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.support.elf import Cubin, read
from oric_tables.cubin_layout import REGISTER_CLASSES

from tests.cubin.debug_sections import CLASS_BITS, Place, register_map
from tests.cubin.line_program import sequences
from tests.cubin.stepping import Stop, stops

from .debugger_programs import Program, State
from .test_calls import TARGETS

NUMBER = 0x12345
_P, _HALF, _R = (REGISTER_CLASSES[kind] for kind in ("P", "half", "R"))


def value(stop: Stop, place: Place) -> int:
    """What a debugger reads at a place."""
    kind, number = place.register >> CLASS_BITS, place.register & (1 << CLASS_BITS) - 1
    if kind == _P:
        return stop.predicates >> number & 1
    if kind == _HALF:
        return stop.registers[number // 2] >> 16 * (number & 1) & 0xFFFF
    assert kind == _R
    return stop.registers[number]


def lines_of(cubin: Cubin, function: str) -> dict[int, int]:
    """By the place of an instruction, the line of the PTX that it comes from."""
    (rows,) = (s.rows for s in sequences(cubin, ".nv_debug_line_sass") if s.kernel == function)
    out: dict[int, int] = {}
    for row, end in zip(rows, [*(r.address for r in rows[1:]), len(cubin.functions[function].text)], strict=True):
        out.update(dict.fromkeys(range(row.address, end, 16), row.line))
    return out


def compare(program: Program, image: bytes, found: list[Stop], whole: bool = True) -> dict[str, int]:
    """How often each register has been seen with its value; ``whole``: nothing that the debug data name is lost."""
    cubin = read(image)
    places, lines = register_map(cubin)["k"], lines_of(cubin, "k")
    trace = program.trace(NUMBER)
    watched, seen, at, before = set(program.watched()), dict[str, int](), 0, 0
    for stop in (stop for stop in found if stop.function == "k"):
        line = lines[stop.place]
        if line < trace[at][0] and stop.place == before + 16:  # spill code that has the line of what it saves
            before = stop.place
            continue
        if line != trace[at][0] or stop.place < before:
            following = next((n for n in range(at + 1, len(trace)) if trace[n][0] == line), None)
            if following is None:
                continue  # in front of the first statement
            at = following
        before = stop.place
        state: State = trace[at][1]
        here = [place for place in places if place.start <= stop.place <= place.end]
        for place in here:
            if place.name in state:
                want = state[place.name] >> 32 * place.word & 0xFFFFFFFF
                assert value(stop, place) == want, (hex(stop.place), place, program.statements[line - program.first_line].text)
                seen[place.name] = seen.get(place.name, 0) + 1
        if whole and line != lines.get(stop.place - 16):  # a statement begins
            lost = watched & state.keys() - {place.name for place in here}
            assert not lost, (hex(stop.place), line, lost)
    assert at == len(trace) - 1
    return seen


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(12))
def test_values(seed: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(seed)
    image = oric.compile(program.text(target), arch=target, opt_level=0, debug=True, verify=True).image
    assert check_cubin(read(image)).findings == []
    seen = compare(program, image, stops(image, [np.array([NUMBER], np.uint32)], monkeypatch))
    values = program.trace(NUMBER)[-1][1].keys() & set(program.watched())
    assert values <= seen.keys() and sum(seen.values()) > 50


@pytest.mark.parametrize("target", TARGETS)
def test_registers_that_do_not_fit_are_not_told(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few registers: what is told is true, though some of it is lost."""
    program = Program(3)
    image = oric.compile(program.text(target), arch=target, opt_level=0, debug=True, verify=True, maxrregcount=24).image
    found = stops(image, [np.array([NUMBER], np.uint32)], monkeypatch)
    assert compare(program, image, found, whole=False)


TYPES = """.version 9.0
.target sm_90, debug
.address_size 64
.file 1 "x.cu"
.visible .entry k(.param .u64 p)
{
.reg .b16 %h<3>; .reg .u16 %uh<2>; .reg .s16 %sh<2>; .reg .f16 %fh<2>; .reg .f16x2 %fx<2>; .reg .b32 %r<3>; .reg .u32 %ur<2>;
.reg .s32 %sr<2>; .reg .f32 %f<2>; .reg .b64 %rd<3>; .reg .u64 %ud<2>; .reg .s64 %sd<2>; .reg .f64 %fd<2>; .reg .pred %p<2>;
.loc 1 1 1
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
ld.global.b16 %h1, [%rd1+8]; ld.global.u16 %uh1, [%rd1+10]; ld.global.s16 %sh1, [%rd1+12]; mov.b16 %fh1, %h1; mov.b32 %fx1, %r1;
mov.u32 %ur1, %r1; mov.s32 %sr1, %r1; mov.b32 %f1, %r1; mov.u64 %ud1, %rd1; mov.s64 %sd1, %ud1; mov.b64 %fd1, %sd1;
setp.eq.u32 %p1, %r1, 7; @%p1 bra L;
st.global.b16 [%rd1], %h1; st.global.b16 [%rd1], %uh1; st.global.b16 [%rd1], %sh1; st.global.b16 [%rd1], %fh1;
st.global.b32 [%rd1], %fx1; st.global.b32 [%rd1], %ur1; st.global.b32 [%rd1], %sr1; st.global.f32 [%rd1], %f1;
st.global.b64 [%rd1], %ud1; st.global.b64 [%rd1], %sd1; st.global.f64 [%rd1], %fd1;
L: ret;
}
.section .debug_abbrev { .b8 1,17,0,37,8,0,0,0 }
.section .debug_info { .b32 12
.b8 2,0
.b32 .debug_abbrev
.b8 8
.b8 1,65,0,0,0
}
"""
WANTED = {"h": 0x01, "uh": 0x05, "sh": 0x09, "fh": 0x0C, "fx": 0x0D, "r": 0x02, "ur": 0x06, "sr": 0x0A, "f": 0x0E, "rd": 0x03,
          "ud": 0x07, "sd": 0x0B, "fd": 0x0F, "p": 0x10}  # fmt: skip


def kinds(image: bytes) -> dict[str, tuple[int, set[int], set[int]]]:
    """The type of each register, the words that are told and the classes of where they are."""
    found: dict[str, tuple[int, set[int], set[int]]] = {}
    for place in register_map(read(image))["k"]:
        _, words, classes = found.setdefault(place.name, (place.type, set(), set()))
        words.add(place.word)
        classes.add(place.register >> CLASS_BITS)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_types(target: str) -> None:
    found = kinds(oric.compile(TYPES.replace("sm_90", target), arch=target, opt_level=0, debug=True).image)
    assert {name: kind for name, (kind, _, _) in found.items()} == {f"%{name}1": kind for name, kind in WANTED.items()}
    for name, (_, words, classes) in found.items():
        assert words == ({0, 1} if name[1:-1] in ("rd", "ud", "sd", "fd") else {0})
        assert classes == {_P if name == "%p1" else _HALF if "h" in name else _R}


@pytest.mark.parametrize("target", TARGETS)
def test_ptxas_tells_the_same(target: str, tmp_path: Path, ptxas: str) -> None:
    """Of which registers, of which types, in which classes (it has halves in whole registers for some time, too)."""
    text = TYPES.replace("sm_90", target)
    (tmp_path / "k.ptx").write_text(text)
    subprocess.run([ptxas, "-g", f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    ours = kinds(oric.compile(text, arch=target, opt_level=0, debug=True).image)
    theirs = kinds((tmp_path / "k.cubin").read_bytes())
    assert {name: found[:2] for name, found in ours.items()} == {name: found[:2] for name, found in theirs.items()}
    assert all(classes <= theirs[name][2] for name, (_, _, classes) in ours.items())
