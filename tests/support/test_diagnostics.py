"""Messages: places, order, the source line with its caret, limits."""

import pytest
from oric.support.diagnostics import MAX_ERRORS, CompileError, Diagnostics, Location, Source, diagnostics_for

TEXT = "first line\n\tsecond line\r\nthird\n"


def test_places():
    source = Source(TEXT, "f.ptx")
    assert source.location(0) == Location(1, 1)
    assert source.location(TEXT.index("second")) == Location(2, 2)
    assert source.location(TEXT.index("third")) == Location(3, 1)
    assert source.location(len(TEXT)) == Location(4, 1)
    assert source.line_of(TEXT.index("third") + 3) == 3


def test_rendering_in_order_of_place_with_caret_under_tabs():
    diag = diagnostics_for(TEXT, "f.ptx")
    diag.error("later", TEXT.index("third"))
    diag.error("earlier", TEXT.index("line\r"), "a hint")
    diag.warning("about the file")
    assert diag.render() == (
        "f.ptx: warning: about the file\n"
        "f.ptx:2:9: error: earlier\n    \tsecond line\n    \t       ^\n    note: a hint\n"
        "f.ptx:3:1: error: later\n    third\n    ^"
    )
    assert diag.errors() == ["f.ptx:2:9: error: earlier", "f.ptx:3:1: error: later"]
    assert diag.warnings() == ["f.ptx: warning: about the file"]


def test_long_lines_are_shown_around_the_place():
    text = "a" * 1000 + "X" + "b" * 1000
    diag = diagnostics_for(text, "f")
    diag.error("here", 1000)
    head, line, caret = diag.render().split("\n")
    assert head == "f:1:1001: error: here"
    assert len(line) <= 130 and line[caret.index("^")] == "X"


@pytest.mark.parametrize("text", ["a\x1b[31mb", "\x7fELF\x02", "a\ufffdb", "\udcffx", "x" * 5000])
def test_what_is_no_text_is_not_shown(text):
    diag = diagnostics_for(text, "f")
    diag.error("here", 0)
    assert diag.render() == "f:1:1: error: here"


def test_end_of_file_without_newline():
    diag = diagnostics_for("abc", "f")
    diag.error("more expected", 3)
    assert diag.render() == "f:1:4: error: more expected\n    abc\n       ^"


def test_check_and_limit():
    diag = diagnostics_for(TEXT, "f")
    diag.check()
    diag.error("one", 0)
    with pytest.raises(CompileError, match="f:1:1: error: one"):
        diag.check()
    with pytest.raises(CompileError, match="too many errors"):
        for _ in range(MAX_ERRORS):
            diag.error("again", 0)
    assert diag.error_count == MAX_ERRORS
    assert isinstance(diag, Diagnostics)
