"""The server as an editor has it: a process, and JSON-RPC on its standard streams."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import oric
import pytest

from tests.lsp.client import Client, Refused, part, place
from tests.lsp.samples import BIGGEST, CALLS, FILES, SAXPY

SM_90 = SAXPY.replace("sm_75", "sm_90")
FORMAT = {"options": {"tabSize": 8, "insertSpaces": False}}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(capabilities={"textDocument": {"rename": {"prepareSupport": True}}}) as found:
        yield found
        assert found.leave() == 0


@pytest.fixture
def uri(request: pytest.FixtureRequest) -> str:
    """A name for a document of a test alone."""
    return f"file:///{request.node.name.replace(' ', '%20')}.ptx"


def hover(client: Client, uri: str, text: str, mark: str, behind: int = 1) -> str:
    found = client.at("hover", uri, *place(text, mark, behind))
    return found["contents"]["value"] if found else ""


def formatted(client: Client, uri: str) -> list:
    return client.request("textDocument/formatting", {"textDocument": {"uri": uri}, **FORMAT})


def applied(text: str, edits: list) -> str:
    """A text with edits applied; lines are ASCII here."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        first, last = (starts[edit["range"][key]["line"]] + edit["range"][key]["character"] for key in ("start", "end"))
        text = text[:first] + edit["newText"] + text[last:]
    return text


def test_what_it_says_that_it_can(client):
    for name in (
        "hoverProvider", "completionProvider", "definitionProvider", "referencesProvider", "documentSymbolProvider",
        "documentHighlightProvider", "documentFormattingProvider", "renameProvider",
    ):  # fmt: skip
        assert client.capabilities[name]
    assert client.capabilities["textDocumentSync"]["change"] == 2
    assert client.capabilities["renameProvider"] == {"prepareProvider": True}


def test_messages_are_those_of_the_compiler_at_their_places(client, uri):
    text = SM_90.replace("fma.rn.f32", "fma.rm.f33").replace("ret;", "bra NOWHERE;")
    client.open(text, uri)
    with pytest.raises(oric.CompileError) as caught:
        oric.compile(text, "sm_90")
    found = client.messages(uri, 1)
    items = caught.value.diagnostics.sorted()
    assert [d["message"].split("\n")[0] for d in found] == [item.message for item in items]
    assert [d["message"].split("\n")[1:] for d in found] == [[f"note: {note}" for note in item.notes] for item in items]
    for diagnostic, item in zip(found, items, strict=True):
        line, column = caught.value.diagnostics.source.location(item.offset)
        assert diagnostic["range"]["start"] == {"line": line - 1, "character": column - 1}
        assert diagnostic["range"]["end"]["character"] > column - 1
        assert (diagnostic["severity"], diagnostic["source"]) == (1, "oric")
    client.change(uri, 2, {"text": SM_90})
    assert client.messages(uri, 2) == []


def test_warnings_are_warnings(client, uri):
    client.open(CALLS.replace("    .reg .b32 a, b;", '    .pragma "whatever";\n    .reg .b32 a, b;'), uri)
    (found,) = client.messages(uri, 1)
    assert found["severity"] == 2


def test_hover_shows_the_machine_code_of_the_line(client, uri):
    client.open(SM_90, uri)
    text = hover(client, uri, SM_90, "fma.rn")
    assert "**fma**: product and sum with a single rounding" in text
    assert "**sm_90, -O3**\n```sass\n/*" in text
    assert "FFMA" in text
    assert "@P0 EXIT" in hover(client, uri, SM_90, "bra")
    assert "no instruction of its own" in hover(client, uri, SM_90, "cvta.to.global")


def test_hover_says_why_there_is_no_machine_code(client, uri):
    text = SM_90.replace("mad.lo.s32", "mad.lo.s33")
    client.open(text, uri)
    shown = hover(client, uri, text, "fma.rn")
    assert "**fma**" in shown
    assert "not compiled: 'mad' has no qualifier '.s33'" in shown


def test_hover_in_functions_shows_where_they_are_called(client, uri):
    client.open(CALLS, uri)
    assert "```sass" in hover(client, uri, CALLS, "add.s32")
    alone = CALLS.replace("call.uni (y0), twice, (x0);", "st.param.b32 [y0], a;")
    client.change(uri, 2, {"text": alone})
    assert "no kernel of this file comes here" in hover(client, uri, alone, "add.s32")


def test_what_is_told_when_code_is_made_joins_the_messages(client, uri):
    text = CALLS.replace("buffer[64]", "buffer[64000]")
    client.open(text, uri)
    assert client.messages(uri, 1) == []
    assert "uses too much shared data" in hover(client, uri, text, "setp")
    client.wait_for(lambda: bool(client.diagnostics[uri][1]))
    assert "uses too much shared data" in client.diagnostics[uri][1][0]["message"]


def test_completion(client, uri):
    client.open(SM_90, uri)
    line, column = place(SM_90, "fma.rn.f32", len("fma."))
    client.change(uri, 2, part((line, column), (line, column + len("rn.f32")), ""))
    found = client.at("completion", uri, line, column)
    labels = [item["label"] for item in sorted(found["items"], key=lambda item: item["sortText"])]
    assert {"rn", "rz", "rm", "rp"} <= set(labels)
    item = next(item for item in found["items"] if item["label"] == "rn")
    assert item["documentation"] == "rounded to the nearest, ties to even"
    assert item["textEdit"] == {
        "range": {"start": {"line": line, "character": column}, "end": {"line": line, "character": column}},
        "newText": "rn",
    }
    names = {i["label"] for i in client.at("completion", uri, *place(SM_90, "[%rd", 1))["items"]}
    assert {"%rd1", "%f1", "%r1", "%tid.x", "saxpy_param_0"} <= names


def test_definition_references_highlights(client, uri):
    client.open(CALLS, uri)
    (found,) = client.at("definition", uri, *place(CALLS, "twice, (x0)", 2))
    line, column = place(CALLS, "twice (")
    assert found["uri"] == uri
    assert found["range"] == {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + 5}}
    every = client.at("references", uri, *place(CALLS, "twice ("), context={"includeDeclaration": True})
    assert [r["range"]["start"]["line"] for r in every] == [line, place(CALLS, "twice, (x0)")[0]]
    uses = client.at("references", uri, *place(CALLS, "twice ("), context={"includeDeclaration": False})
    assert len(uses) == 1
    assert len(client.at("documentHighlight", uri, *place(CALLS, "a, %tid"))) == 4
    assert client.at("definition", uri, 0, 0) == []


def test_symbols(client, uri):
    client.open(CALLS, uri)
    found = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [s["name"] for s in found] == ["elsewhere", "counter", "table", "twice", "first"]
    assert [s["name"] for s in found[3]["children"]] == ["out", "in", "%r<3>"]


def test_renaming(client, uri):
    client.open(CALLS, uri)
    found = client.at("rename", uri, *place(CALLS, "a, b;"), newName="index")
    text = applied(CALLS, found["changes"][uri])
    assert ".reg .b32 index, b;" in text
    assert "mov.u32 index, %tid.x;" in text
    client.change(uri, 2, {"text": text})
    assert client.messages(uri, 2) == []
    assert client.at("prepareRename", uri, *place(text, "index"))["start"]["line"] == place(text, "index")[0]
    assert client.at("prepareRename", uri, *place(text, "%r2, %r1")) is None
    with pytest.raises(Refused, match="'5' is no name"):
        client.at("rename", uri, *place(text, "index"), newName="5")


@pytest.mark.parametrize("path", FILES[::7], ids=lambda path: path.name)
def test_formatting_is_that_of_fmt(client, uri, path):
    from oric.ptx import format_text

    text = path.read_text().replace(";\n", " ;\n\n\n").replace("\t", "  ")
    client.open(text, uri)
    assert applied(text, formatted(client, uri)) == format_text(text)
    client.change(uri, 2, {"text": format_text(text)})
    assert formatted(client, uri) is None


def test_what_has_mistakes_is_not_laid_out(client, uri):
    client.open(SAXPY.replace("fma.rn", "   fam.rn"), uri)
    assert formatted(client, uri) is None


def test_incremental_edits_leave_the_text_of_the_client(client, uri):
    rng = random.Random(11)
    text, version = SM_90, 1
    client.open(text, uri)
    for _ in range(40):
        changes = []
        for _ in range(rng.randrange(1, 4)):
            first = rng.randrange(len(text))
            last = min(len(text), first + rng.choice((0, 0, 1, 5, 40)))
            new = rng.choice(("", "x", "\n", "😀", ".reg .b32 %z;\n", "\r\n", "/*", "€ "))
            ends = [(text.count("\n", 0, at), column_of(text, at)) for at in (first, last)]
            changes.append(part(ends[0], ends[1], new))
            text = text[:first] + new + text[last:]
        version += 1
        client.change(uri, version, *changes)
    client.change(uri, version + 1, part((10**6, 0), (10**6, 5), "\n// end"))
    wanted = f"{text}\n// end"
    with Client() as other:
        other.open(wanted, uri, version + 1)
        for request in ("documentSymbol", "formatting"):
            params = {"textDocument": {"uri": uri}, **FORMAT}
            assert client.request(f"textDocument/{request}", params) == other.request(f"textDocument/{request}", params)
        assert client.messages(uri, version + 1) == other.messages(uri, version + 1)


def column_of(text: str, at: int) -> int:
    return len(text[text.rfind("\n", 0, at) + 1 : at].encode("utf-16-le")) // 2


def test_columns_count_utf16(client, uri):
    text = CALLS.replace("    setp.gt.u32 q, a, 5;", "    /* 😀€ä */ setp.gt.u33 q, a, 5;")
    client.open(text, uri)
    (found,) = client.messages(uri, 1)
    line, column = place(text, ".u33")
    assert found["range"]["start"] == {"line": line, "character": column}
    assert "**setp**" in hover(client, uri, text, "setp")
    (defined,) = client.at("definition", uri, *place(text, "a, 5"))
    assert defined["range"]["start"]["line"] == place(text, "a, b;")[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_count_what_the_client_wants(encoding):
    text = CALLS.replace("    setp.gt.u32 q, a, 5;", "    /* 😀€ä */ setp.gt.u33 q, a, 5;")
    line = text.count("\n", 0, text.index(".u33"))
    before = text[text.rfind("\n", 0, text.index(".u33")) + 1 : text.index(".u33")]
    column = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}[encoding]
    with Client(capabilities={"general": {"positionEncodings": [encoding]}}) as client:
        assert client.capabilities["positionEncoding"] == encoding
        uri = client.open(text)
        (found,) = client.messages(uri, 1)
        assert found["range"]["start"] == {"line": line, "character": column}


def test_documents_that_are_not_open_have_nothing(client):
    uri = "file:///nowhere.ptx"
    assert client.at("hover", uri, 3, 3) is None
    assert client.at("definition", uri, 3, 3) == []
    assert client.at("completion", uri, 3, 3)["items"]
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
    client.change(uri, 5, {"text": "x"})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert client.at("hover", uri, 0, 0) is None


def test_a_closed_document_has_no_messages(client, uri):
    client.open(SAXPY.replace("fma.rn", "fam.rn"), uri)
    assert client.messages(uri, 1)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.wait_for(lambda: not client.diagnostics[uri][1])


@pytest.mark.parametrize(
    "text", ["", "\n", "no PTX at all {{{ ]", ".version", "/*", '"', "\0\x01\ufffd", "}" * 50, ".entry", "@", "a" * 5000]
)
def test_texts_that_are_none(client, uri, text):
    client.open(text, uri)
    assert client.messages(uri, 1)
    for line, column in ((0, 0), (0, len(text)), (5, 5)):
        client.at("hover", uri, line, column)
        client.at("completion", uri, line, column)
    client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert formatted(client, uri) is None


def test_settings():
    with Client({"arch": "sm_100a", "level": 0}) as client:
        uri = client.open(SM_90)
        assert "**sm_100a, -O0**" in hover(client, uri, SM_90, "fma.rn")
        client.notify("workspace/didChangeConfiguration", {"settings": {"oric": {"arch": "sm_80", "level": 3}}})
        assert "a module for sm_90 cannot be compiled for sm_80" in hover(client, uri, SM_90, "fma.rn")
        client.notify("workspace/didChangeConfiguration", {"settings": {"oric": {"arch": "sm_1", "level": 9}}})
        client.wait_for(lambda: len(client.shown) == 2)
        assert client.shown == ["oric.arch: unknown target 'sm_1'", "oric.level: '9' is no level, 0 to 3"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"oric": {"arch": ""}}})
        assert "**sm_90, -O3**" in hover(client, uri, SM_90, "fma.rn")


def test_settings_are_asked_for():
    with Client(capabilities={"workspace": {"configuration": True}}, settings={"arch": "sm_120"}) as client:
        uri = client.open(SM_90)
        assert client.messages(uri, 1) == []
        client.wait_for(lambda: True)
        assert "**sm_120, -O3**" in hover(client, uri, SM_90, "fma.rn")


def test_a_request_that_is_cancelled_costs_nothing(client, uri):
    text = BIGGEST.read_text()
    client.open(text, uri)
    line, column = place(text, "shf.l.wrap", 1)
    params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
    number = client.ask("textDocument/hover", params)
    client.notify("$/cancelRequest", {"id": number})
    try:
        client.answer(number)
    except Refused as error:
        assert "cancel" in str(error)
    assert "```sass" in hover(client, uri, text, "shf.l.wrap")


def test_requests_that_are_none(client):
    with pytest.raises(Refused):
        client.request("textDocument/nothing", {})
    client.send({"id": "odd", "method": "textDocument/hover", "params": {"textDocument": 5}})
    client.notify("textDocument/didOpen", {"textDocument": {"uri": 7}})
    assert client.at("hover", "file:///nowhere.ptx", 5, 5) is None


def test_a_client_that_is_gone_ends_the_server():
    command = [sys.executable, "-m", "oric.cli", "lsp"]
    done = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_exit_without_shutdown_is_told():
    with Client() as client:
        client.notify("exit")
        assert client.process.wait() == 1
