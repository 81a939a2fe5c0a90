"""Declarations, references, symbols and new names."""

from __future__ import annotations

import pytest
from oric.lsp.document import Document
from oric.lsp.navigate import RenameError, definition_at, references_at, renamed, symbols
from oric.ptx import parse

from tests.lsp.samples import CALLS, FILES, SAXPY


def rename(text: str, mark: str, name: str) -> str:
    document = Document("file:///a.ptx", text)
    out = text
    for place, new in reversed(renamed(document, text.index(mark), name)):
        out = out[: place.at] + new + out[place.after :]
    return out


@pytest.mark.parametrize(
    ("mark", "declared"),
    [
        ("twice, (x0)", "twice (.param"),
        ("DONE;", "DONE:"),
        ("%r2, %r1", "%r<3>"),
        ("x0], a", "x0;"),
        ("in];", "in)"),
        ("p];", "p)"),
    ],
)
def test_where_it_is_declared(mark, declared):
    found = definition_at(Document("a", CALLS), CALLS.index(mark))
    assert found is not None
    assert found.at == CALLS.index(declared)


def test_references():
    document = Document("a", CALLS)
    at = CALLS.index("twice, (x0)")
    assert [CALLS[o.at : o.after] for o in references_at(document, at)] == ["twice", "twice"]
    assert [o.at for o in references_at(document, at, declaration=False)] == [at]
    assert references_at(document, CALLS.index("%tid")) == []


def test_symbols():
    found = symbols(Document("a", CALLS))
    assert [s.definition.name for s in found] == ["elsewhere", "counter", "table", "twice", "first"]
    assert [s.definition.name for s in found[3].inner] == ["out", "in", "%r"]
    assert [s.definition.name for s in found[4].inner] == ["p", "%rd", "a", "b", "q", "buffer", "x0", "y0", "DONE"]
    for symbol in found:
        assert symbol.begin <= symbol.definition.at < symbol.definition.after <= symbol.end
        assert all(symbol.begin <= s.begin and s.end <= symbol.end for s in symbol.inner)


@pytest.mark.parametrize(
    ("mark", "name", "count"),
    [("twice (", "double", 2), ("%r<3>", "%reg", 6), ("DONE:", "END", 2), ("a, b;", "first_one", 4), ("p)", "pointer", 2)],
)
def test_renaming_keeps_the_meaning(mark, name, count):
    out = rename(CALLS, mark, name)
    assert out.count(name) == count
    old, new = parse(CALLS), parse(out)
    assert [[i.operands for i in b.instructions()] for b in old.bodies] == [
        [i.operands for i in b.instructions()] for b in new.bodies
    ]
    assert rename(out, name, mark.split("<")[0].split(":")[0].split(" ")[0].rstrip("),")) == CALLS


def test_every_name_of_a_kernel_can_be_renamed():
    text = SAXPY
    for definition in Document("a", SAXPY).outline.definitions:
        fresh = f"{definition.name}_new"
        out = rename(SAXPY, SAXPY[definition.at : definition.after + 1], fresh)
        parse(out)
        assert fresh in out
    assert text == SAXPY


@pytest.mark.parametrize(
    ("mark", "name", "message"),
    [
        ("%tid", "%x", "there is no name that is declared in this file"),
        ("ret;", "x", "there is no name that is declared in this file"),
        ("%r2, %r1", "%x", "'%r2' is one of '%r<3>': rename that where it is declared"),
        ("a, b;", "5x", "'5x' is no name"),
        ("a, b;", "_", "'_' is no name"),
        ("a, b;", "", "'' is no name"),
        ("a, b;", "x y", "'x y' is no name"),
        ("a, b;", "b", "'b' is declared already, in line 18"),
        ("a, b;", "x0", "'x0' is declared already, in line 26"),
        ("a, b;", "counter", "'counter' is declared already, in line 5"),
        ("%r<3>", "%r1", "'%r1<3>': the name of a range ends with no digit"),
    ],
)
def test_names_that_cannot_be_given(mark, name, message):
    with pytest.raises(RenameError) as caught:
        rename(CALLS, mark, name)
    assert str(caught.value) == message


@pytest.mark.parametrize("path", FILES[::6], ids=lambda path: path.name)
def test_every_reference_of_a_kernel_is_its_declaration(path):
    text = path.read_text()
    document = Document("a", text)
    for occurrence in document.outline.occurrences:
        definition = occurrence.definition()
        if definition is not None:
            assert any(o.at == occurrence.at for o in references_at(document, occurrence.at))
            assert definition_at(document, occurrence.at) is definition
