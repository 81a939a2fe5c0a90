"""The tables of docs/ptx.md that say what the parser answers are true."""

import re
from pathlib import Path

import pytest
from oric.ptx import parse
from oric.support.diagnostics import CompileError

PAGE = Path(__file__).resolve().parents[2] / "docs/ptx.md"
MODULE = """.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 g[64];
.entry k(.param .u64 p) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<9>; .reg .pred %p<9>;
.shared .align 16 .b8 s[64];
{}
ret;
}}
"""
TABLE = re.compile(r"(?m)^\| PTX \| answer \|\n\| --- \| --- \|\n((?:\|.*\n)+)")
ROW = re.compile(r"\| `(.+?)` \| (.+) \|")


def rows() -> list[tuple[str, str]]:
    """(PTX, answer) of the tables with these headings."""
    lines = [line for table in TABLE.findall(PAGE.read_text(encoding="utf-8")) for line in table.splitlines()]
    found = [ROW.fullmatch(line) for line in lines]
    assert all(found)
    return [(match[1].replace("\\|", "|"), match[2]) for match in found if match is not None]


def test_there_are_rows():
    assert len(rows()) >= 50


@pytest.mark.parametrize(("text", "answer"), rows())
def test_answer(text, answer):
    try:
        parse(MODULE.format(text), "m.ptx")
    except CompileError as error:
        found = [line.split(": error: ", 1)[1] for line in error.diagnostics.errors()]
    else:
        found = ["accepted"]
    assert found == [answer]
