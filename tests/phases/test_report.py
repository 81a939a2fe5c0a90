"""Phase 9: registers that may be read before anything is written to them, the dump there, the trace of phases."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
from oric.cli import main
from oric.driver import CompileOptions, Watch, compile_text
from oric.driver.registry import passes
from oric.ir.read import read
from oric.ir.text import write_with_notes
from oric.phases.backend import phase_functions
from oric.phases.manager import PhaseManager
from oric.support.targets import find_target
from oric_tables.phases import PHASES

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
HEAD += ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<5>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"


def warnings(body: str, level: int = 3, asked: bool = True) -> str:
    options = CompileOptions("sm_80", level, watch=Watch(uninitialized=asked))
    return "".join(part.render() for part in compile_text(f"{HEAD}{body}\nret;\n}}\n", options, "m.ptx").messages)


def found(count: int, lines: str) -> str:
    place = f"    note: read in {lines}"
    return f"m.ptx: warning: Found {count} potentially uninitialized register(s) in function k\n{place}"


@pytest.mark.row("R2-67")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("st.global.u32 [%d1], %r1;", ""),
        ("st.global.u32 [%d1], %r2;", found(1, "line 8")),
        ("add.u32 %r2, %r1, 1;\nst.global.u32 [%d1], %r2;", ""),
        ("st.global.u64 [%d1], %d2;\nst.global.u64 [%d1], %d2;", found(1, "lines 8, 9")),
        # written on one way of two, and on both
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r2, 1;\nL: st.global.u32 [%d1], %r2;", found(1, "line 11")),
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r2, 1;\nbra M;\nL: mov.u32 %r2, 2;\nM: st.global.u32 [%d1], %r2;", ""),
        # under a guard: a write is one; a guard is read itself
        ("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r2, 1;\nst.global.u32 [%d1], %r2;", ""),
        ("@%p2 st.global.u32 [%d1], %r1;", found(1, "line 8")),
        # a counter that nobody sets
        ("L: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 5;\n@%p1 bra L;\nst.global.u32 [%d1], %r3;", found(1, "line 8")),
    ],
)
def test_what_is_read_before_it_is_written(body: str, expected: str, level: int) -> None:
    assert warnings(body, level) == expected
    assert warnings(body, level, asked=False) == ""


KERNELS = sorted((Path(__file__).resolve().parents[1] / "kernels").glob("*.sm_90.ptx"))


@pytest.mark.row("R2-32", "R2-16")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_the_dump_of_phase_9_is_read_back(path: Path, level: int) -> None:
    """It is a function in Ori text: read and written again it is the same text, and has the same code."""
    shown: list[str] = []
    options = CompileOptions("sm_90", level, dump=("ReportInitialRepresentation",), dump_sink=shown.append)
    compile_text(path.read_text(encoding="utf-8"), options, path.name)
    assert shown
    for dump in shown:
        heading, progress, text = dump.split("\n", 2)
        assert heading.endswith(" after phase 9 ReportInitialRepresentation") and progress == "// progress 2"
        again = read(dump)
        assert f"{write_with_notes(again)}// __$endLabel$__{again.name}\n" == text


@pytest.mark.row("R2-32")
@pytest.mark.parametrize("options", [[], ["--ftrace"], ["--dump-ir", "9"]], ids=" ".join)
def test_nothing_is_printed_unasked(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither dumps nor the trace; with it every phase of the level has a line, in order, and the code is the same."""
    files = [str(tmp_path / name) for name in ("asked", "plain")]
    assert main([str(KERNELS[0]), "-arch", "sm_90", "-o", files[1]], "oric") == 0
    assert capsys.readouterr() == ("", "")
    assert main([str(KERNELS[0]), "-arch", "sm_90", "-o", files[0], *options], "oric") == 0
    out, err = capsys.readouterr()
    assert not err and bool(out) == bool(options)
    assert Path(files[0]).read_bytes() == Path(files[1]).read_bytes()
    if "--ftrace" in options:
        pattern = r"ftrace: (\w+): phase (\d+) (\S+): (changed|the same), (\d+) instructions in (\d+) blocks, progress (\d+)"
        lines = [re.fullmatch(pattern, line) for line in out.splitlines()]
        found = [(line[1], int(line[2]), int(line[7])) for line in lines if line]
        ran = PhaseManager(passes(), 3, functions=phase_functions(find_target("sm_90"))).phases
        assert len(found) == len(lines) and found
        for name, lines_of in groupby(found, key=lambda line: line[0]):
            assert [line[1:] for line in lines_of] == [(index, PHASES[index].leaves) for index in ran], name
