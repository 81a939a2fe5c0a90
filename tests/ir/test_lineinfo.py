"""Origins: which .loc is in force where, and what is left of it in copies of a body."""

from __future__ import annotations

from oric.ir.lineinfo import NO_LOC, LineInfo, Mark, Node, line_of
from oric.ir.read import read
from oric.ir.text import write


def info() -> LineInfo:
    made = LineInfo()
    made.begin_text("...")
    made.body("f", 3, False)
    made.loc(1, 10, 3, 5, None)
    made.loc(1, 11, 3, 7, None)
    made.body("k", 20, True)
    made.loc(2, 30, 1, 22, None)
    made.loc(1, 40, 1, 23, ("L0", 2, (2, 30, 1)))
    return made


def test_a_loc_is_in_force_behind_its_line_up_to_the_end_of_its_body():
    text = info().text
    assert [text.loc_at(line) for line in (1, 4, 5, 6, 7, 8, 19, 20, 22, 23, 24)] == [
        *(NO_LOC, NO_LOC, NO_LOC, 0, 0, 1, 1),
        *(NO_LOC, NO_LOC, 2, 3),
    ]
    assert (text.body("f"), text.body("k")) == ((3, 0), (20, 2))


def test_a_body_without_locs():
    made = info()
    made.body("g", 50, False)
    assert made.text.body("g") == (50, NO_LOC)
    assert made.text.loc_at(55) == NO_LOC


def test_copies_of_copies_are_of_all_calls():
    made = info()
    inner = made.inlined(6, 8, "g")
    outer = made.inlined(inner, 25, "f")
    assert (line_of(inner), line_of(outer)) == (6, 6)
    assert made.inlined(6, 8, "g") == inner  # kept once
    node = made.node(made.text, outer)
    assert node is not None and (node.loc, node.callee) == (0, "g")
    call = made.outer(made.text, node)
    assert call is not None and (call.loc, call.callee) == (1, "f")
    assert made.outer(made.text, call) == Node(3, 0, "")
    assert made.outer(made.text, Node(3, 0, "")) == Node(2, 0, "")  # as its inlined_at says
    assert made.outer(made.text, Node(2, 0, "")) is None


def test_a_body_that_says_nothing_is_of_the_call():
    made = info()
    assert made.node(made.text, 4) is None
    assert made.node(made.text, made.inlined(4, 24, "f")) == Node(3, 0, "")


def test_names_are_added_once():
    made = info()
    made.section(".debug_str", "L9: .b8 65,66\n")
    node = Node(0, 25, "f")
    assert [made.name(made.text, node), made.name(made.text, node)] == [3, 3]
    assert made.name(made.text, Node(0, 25, "g")) == 5
    assert bytes(made.strings) == b"AB\0f\0g\0"
    assert made.name(made.text, Node(3, 0, "")) == 2  # the offset behind a label that is at the start


def test_numbers_in_data():
    made = LineInfo()
    made.section(".debug_str", "A:.b8 0x41,0102 ,-1\n// B: .b8 9\n/* C: .b8 9 */ .b16 258\nD : .b32 1U\n.b64 0xffffffffffffffff")
    assert bytes(made.strings) == b"AB\xff\2\1\1\0\0\0" + b"\xff" * 8
    assert made.text.labels == {"A": 0, "D": 5}


def test_marks_are_in_the_text_of_a_function():
    f = read("entry k sm_80\nbix0:\n    EXIT [line=7 mark=3]\n")
    assert f.line[0] == 7 | 3 << 32
    assert "[line=7 mark=0x3]" in write(f, exact=True)
    assert LineInfo().marks == [Mark(NO_LOC, 0, "")]
