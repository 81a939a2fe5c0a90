"""Layout of PTX: nothing but white space changes, comments stay, a second time changes nothing."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.cli import ERROR_STATUS, main
from oric.ptx import format_text, parse

from tests.ptx import test_accept
from tests.ptx.records import described

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = sorted([*(HERE / "accept").glob("*.ptx"), *(ROOT / "tests/kernels").glob("*sm_90.ptx")])
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

UGLY = """// first
.version 9.0 // version
.target   sm_90 , debug
.address_size 64   /* size */
.file 1 "a.cu" .file 2 "b.cu",3,4
.extern .func (.param .b32 r) f(.param .b64 a /* one */, // first
  .param .b64 b // second
) .noreturn ;
# 12 "x.c"
.visible .entry   k  ( .param .u32 a) .maxntid 1,2 .pragma "nounroll"; // tail


// own
{ // body
 .reg .b32 %r<9>; .reg .b64 %d; .reg .pred %p; L: /* l */ add .s32 %r1,%r2, /* in */ - 3 ; // why
 @ ! %p   bra L; mov.b32 %r1, (1 + 2)*3 - -4; ld.u32 %r1,[%d+ 4]; mov.u32 %r1 , 5 > 3 ? 1:2;
 t: .branchtargets L ,L; brx.idx %r1,t; .loc 1 13 3  .loc 2 14 4, function_name info+3, inlined_at 1 20 5 // loc
 { .reg .b32 q; // scope
 mov.b32 q , %tid.x; } ret; }
.section .debug_str { info: .b8 1,
  2 // in the section
}"""
PRETTY = """// first
.version 9.0 // version
.target sm_90, debug
.address_size 64 /* size */
.file 1 "a.cu"
.file 2 "b.cu", 3, 4
.extern .func (.param .b32 r) f(
	.param .b64 a /* one */, // first
	.param .b64 b // second
)
.noreturn;
# 12 "x.c"
.visible .entry k(.param .u32 a)
.maxntid 1, 2
.pragma "nounroll"; // tail

// own
{ // body
	.reg .b32 %r<9>;
	.reg .b64 %d;
	.reg .pred %p;
L: /* l */
	add.s32 %r1, %r2, /* in */ -3; // why
	@!%p bra L;
	mov.b32 %r1, (1+2)*3- -4;
	ld.u32 %r1, [%d+4];
	mov.u32 %r1, 5>3 ? 1 : 2;
	t: .branchtargets L, L;
	brx.idx %r1, t;
	.loc 1 13 3
	.loc 2 14 4, function_name info+3, inlined_at 1 20 5 // loc
	{
		.reg .b32 q; // scope
		mov.b32 q, %tid.x;
	}
	ret;
}
.section .debug_str
{
	info: .b8 1,
	2 // in the section
}
"""


def test_the_layout():
    assert format_text(UGLY) == PRETTY


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_same_module_comes_out(path):
    text = path.read_text(encoding="utf-8")
    out = format_text(text)
    assert format_text(out) == out
    assert described(parse(out)) == described(parse(text))
    assert [c.rstrip() for c in COMMENT.findall(text)] == COMMENT.findall(out)


def test_long_statements_go_on_behind_a_comma():
    body = ".global .b32 table[40] = {" + ",".join(str(1000 + i) for i in range(40)) + "};"
    lines = format_text(HEADER + body).splitlines()[3:]
    assert len(lines) > 1
    assert all(len(line.expandtabs()) <= 100 for line in lines)
    assert all(line.endswith(",") for line in lines[:-1])


SPACE = st.sampled_from([" ", "\t", "\n", "\n\n\n", "  \n ", " // c\n", "/* c */", " /* c\n d */ ", "\r\n"])
PIECES = re.compile(r'"[^"\n]*"|[%$\w.:]*\w|<<|>>|==|\S')
MODULE = """.visible .global .align 8 .u64 v[3] = { 1 , 2 , w + 4 } ;
.visible .entry k ( .param .u64 p , .param .align 8 .b8 q [ 24 ] ) .maxntid 128 , 2 {
.reg .b32 %r<9> ; .reg .pred %p ; .reg .b64 %d ; ld.param.u64 %d , [ p ] ; LOOP : ld.global.v2.u32 { %r1 , %r2 } , [ %d + 8 ] ;
setp.lt.and.s32 %p , %r1 , 5 , %p ; @ ! %p bra LOOP ; { .reg .b32 q ; mov.b32 q , %tid.x ; add.s32 q , q , ( 3 << 2 ) - - 7 ; }
ret ; }"""


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_white_space_and_comments_anywhere(data):
    pieces = PIECES.findall(MODULE)
    text = HEADER + ".global .u32 w;\n"
    for piece in pieces:
        text += piece + data.draw(SPACE)
    text = text.replace("[\r\n", "[\n")
    out = format_text(text)
    assert format_text(out) == out
    assert described(parse(out)) == described(parse(text))
    assert out.count("c */") + out.count("d */") + out.count("// c") == text.count("c */") + text.count("d */") + text.count(
        "// c"
    )


def test_every_mistake_is_refused_and_the_file_left_alone(tmp_path, capsys):
    path = tmp_path / "bad.ptx"
    path.write_text(HEADER + ".entry k { add.s32 %r1,1,2; }")
    before = path.read_bytes()
    assert main(["fmt", "-i", str(path)]) == ERROR_STATUS
    assert path.read_bytes() == before
    assert f"{path}:4:20: error: " in capsys.readouterr().err


def test_in_place_check_and_standard_output(tmp_path, capsys, monkeypatch):
    good, bad = tmp_path / "good.ptx", tmp_path / "bad.ptx"
    good.write_text(HEADER)
    bad.write_bytes(HEADER.replace("\n", " \r\n").encode() + b"// \xe9\r\n")
    assert main(["fmt", "--check", str(good)]) == 0
    assert main(["fmt", "--check", str(good), str(bad)]) == 1
    assert capsys.readouterr().out == f"{bad}\n"
    assert main(["fmt", "-i", str(good), str(bad)]) == 0
    assert bad.read_bytes() == HEADER.encode() + b"// \xe9\n"
    assert main(["fmt", "--check", str(good), str(bad)]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b".version 9.0 .target sm_90")))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == ".version 9.0\n.target sm_90\n"


@pytest.mark.parametrize(
    "words",
    [["--check", "-i", "a.ptx"], ["--frob", "a.ptx"], [], ["-i", "-"], ["/nowhere/a.ptx"]],
    ids=lambda w: " ".join(w) or "none",
)
def test_command_lines_that_make_no_sense(words, capsys):
    assert main(["fmt", *words]) == ERROR_STATUS
    assert capsys.readouterr().err.startswith("oric: error: ")


def test_everything_unusual_comes_out_the_same():
    """All short legal modules on file: laid out they are the same module, and laid out again nothing changes."""
    for line in test_accept.ODDITIES:
        text = test_accept.oddity(line)
        once = format_text(text)
        assert format_text(once) == once, line
        assert described(parse(once)) == described(parse(text)), line


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_lines_of_sections_end_at_line_feeds_only(separator):
    text = HEADER + f".section .debug_str {{ .b8 1 // a{separator}.b8 2\n.b8 3\n}}\n"
    once = format_text(text)
    assert described(parse(once)) == described(parse(text))
    assert format_text(once) == once
