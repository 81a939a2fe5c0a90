"""Half-written and damaged texts: everything has an answer, and the server goes on."""

from __future__ import annotations

import random

import pytest
from oric.lsp.complete import complete
from oric.lsp.document import Document
from oric.lsp.hover import hover
from oric.lsp.navigate import RenameError, references_at, renamed, symbols

from tests.lsp.client import Client, part
from tests.lsp.samples import BIGGEST, CALLS, FILES, SAXPY


def ask_everything(text: str, offset: int) -> None:
    """Every answer about a place; their places are in the text."""
    document = Document("file:///a.ptx", text)
    found = hover(document, offset)
    if found is not None:
        assert 0 <= found.at <= offset <= found.after <= len(text)
        assert found.text
    proposed = complete(document, offset)
    assert proposed.at <= offset == proposed.after
    for occurrence in references_at(document, offset):
        assert text[occurrence.at : occurrence.after] == occurrence.name
    for symbol in symbols(document):
        assert 0 <= symbol.begin <= symbol.definition.at < symbol.definition.after <= symbol.end <= len(text)
    try:
        renamed(document, offset, "fresh")
    except RenameError as error:
        assert str(error)


@pytest.mark.parametrize("text", [SAXPY, CALLS], ids=["saxpy", "calls"])
def test_a_text_cut_anywhere(text):
    for cut in range(len(text) + 1):
        ask_everything(text[:cut], cut)


@pytest.mark.parametrize("text", [SAXPY, CALLS], ids=["saxpy", "calls"])
def test_a_line_half_written_anywhere(text):
    for at in range(0, len(text), 3):
        end = text.find("\n", at)
        ask_everything(text[:at] + text[end if end >= 0 else len(text) :], at)


def damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + rng.choice(("", "", "", "{", "}", ";", '"', "/*", ".", "@", "<", "\n", "😀", "\0"))
            + text[at + rng.randrange(3) :]
        )
    return text


@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: path.name)
def test_characters_lost_and_found(path):
    rng = random.Random(path.name)
    text = path.read_text()
    for _ in range(25):
        odd = damaged(text, rng)
        ask_everything(odd, rng.randrange(len(odd) + 1))


def test_the_server_goes_on():
    rng = random.Random(3)
    with Client() as client:
        uri = client.open(CALLS)
        lines = CALLS.splitlines()
        for version in range(2, 60):
            odd = damaged(CALLS, rng) if version % 2 else CALLS[: rng.randrange(len(CALLS))]
            client.change(uri, version, {"text": odd})
            line = rng.randrange(len(lines))
            place = line, rng.randrange(len(lines[line]) + 1)
            numbers = [
                client.ask(
                    f"textDocument/{name}", {"textDocument": {"uri": uri}, "position": {"line": place[0], "character": place[1]}}
                )
                for name in ("hover", "completion", "definition", "documentHighlight")
            ]
            numbers.append(client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}))
            for number in numbers:
                client.answer(number)
        client.change(uri, 100, {"text": CALLS})
        assert client.messages(uri, 100) == []
        assert client.leave() == 0


def test_typing_a_statement_into_the_biggest_file():
    text = BIGGEST.read_text()
    at = text.index("shf.l.wrap", len(text) // 2)
    line = text.count("\n", 0, at)
    with Client() as client:
        uri = client.open(text)
        typed = "ld.global.u32 %r1, [%rd1];"
        for count, char in enumerate(typed):
            client.change(uri, count + 2, part((line, count), (line, count), char))
            if char in ".%[":
                assert client.at("completion", uri, line, count + 1)["items"]
        client.change(uri, 100, part((line, 0), (line, len(typed)), ""))
        assert client.messages(uri, 100) == []
        assert client.leave() == 0
