"""The outline of a text: what the parser finds in correct ones, and something in all others."""

from __future__ import annotations

import pytest
from oric.lsp import outline as ol
from oric.lsp.outline import Outline
from oric.lsp.tokens import MNEMONIC, read_tokens, token_at
from oric.ptx import parse
from oric.ptx.builder import Function, Variable

from tests.lsp.samples import BIGGEST, CALLS, FILES, SAXPY


@pytest.mark.parametrize("path", [*FILES, BIGGEST], ids=lambda path: path.name)
def test_what_the_parser_finds(path):
    text = path.read_text()
    module, found = parse(text), Outline(text)
    functions = {s.name: s for s in module.symbols if isinstance(s, Function)}
    wanted = {(f.name, f.loc, ol.ENTRY if f.is_entry else ol.FUNCTION) for f in functions.values()}
    places = {(d.name, d.at, d.kind) for d in found.definitions if d.kind in (ol.ENTRY, ol.FUNCTION)}
    assert wanted <= places
    variables = {(s.name, s.loc, f".{s.type}", s.space) for s in module.symbols if isinstance(s, Variable) if s.space != "param"}
    assert variables == {
        (d.name, d.at, d.type.split()[-1], d.space) for d in found.definitions if d.kind == ol.VARIABLE and d.space != "param"
    }
    registers = {(r.name, f".{r.type}", r.count) for body in module.bodies for r in body.registers}
    assert registers == {(d.name, d.type, abs(d.count)) for d in found.definitions if d.kind == ol.REGISTER}
    labels = {label for body in module.bodies for label in body.labels}
    assert labels == {d.name for d in found.definitions if d.kind == ol.LABEL}
    instructions = [(i.variant.text, i.loc) for body in module.bodies for i in body.instructions()]
    guards = {t.at for t in found.tokens if t.text == "@"}
    statements = [s for s in found.statements if s.kind == ol.INSTRUCTION]
    assert [name for name, _ in instructions] == [s.mnemonic for s in statements]
    for (_, loc), statement in zip(instructions, statements, strict=True):
        assert loc in (statement.at, found.tokens[statement.first].at)
        assert (found.tokens[statement.first].at in guards) == (statement.at != found.tokens[statement.first].at)
    unknown = {o.name for o in found.occurrences if o.definition() is None} - {"generic"}  # a word of initial values
    assert all(name.startswith("%") for name in unknown), unknown  # special registers


def kinds(text: str) -> dict[str, str]:
    return {d.name: d.kind for d in Outline(text).definitions}


def test_functions_parameters_and_scopes():
    found = Outline(CALLS)
    assert kinds(CALLS) == {
        "r": ol.PARAMETER, "elsewhere": ol.FUNCTION, "x": ol.PARAMETER, "counter": ol.VARIABLE, "table": ol.VARIABLE,
        "out": ol.PARAMETER, "twice": ol.FUNCTION, "in": ol.PARAMETER, "%r": ol.REGISTER, "first": ol.ENTRY, "p": ol.PARAMETER,
        "%rd": ol.REGISTER, "a": ol.REGISTER, "b": ol.REGISTER, "q": ol.REGISTER, "buffer": ol.VARIABLE, "x0": ol.VARIABLE,
        "y0": ol.VARIABLE, "DONE": ol.LABEL,
    }  # fmt: skip
    inner = found.scope_at(CALLS.index("[x0]"))
    assert inner.resolve("x0") is not None
    assert inner.resolve("a") is not None
    assert inner.resolve("p").type == ".u64"
    assert inner.resolve("in") is None  # of the other function
    assert inner.resolve("%rd2") is not None
    assert inner.resolve("%rd3") is None  # the range ends before it
    assert found.scope_at(CALLS.index("DONE:")).resolve("x0") is None
    assert {d.name: d.function for d in found.definitions}["out"] == "twice"
    twice = found.module.names["twice"]
    assert CALLS[twice.begin : twice.end].startswith(".func (.param")
    assert CALLS[twice.begin : twice.end].endswith("ret;\n}")


def test_a_definition_goes_before_a_declaration():
    text = ".func f (.param .b32 x);\n.func f (.param .b32 x)\n{\nret;\n}\n.func g ()\n{\ncall f, (x);\n}\n"
    found = Outline(text)
    definition = found.module.names["f"]
    assert definition.at == text.index("f (", 10)
    assert [o.at for o in found.references(definition, "f")] == [6, definition.at, text.index("f, (x)")]


@pytest.mark.parametrize(
    ("broken", "mnemonics"),
    [
        ("add.s32 %r1, %r2\nmov.u32 %r1, 5;", ["add.s32", "mov.u32"]),
        ("ld.global.u32 %r1, [\nmov.u32 %r1, 5;", ["ld.global.u32", "mov.u32"]),
        ("mov.b64 {%r1,\n@%p1 bra L;", ["mov.b64", "bra"]),
        ("add.\nret;", ["add.", "ret"]),
        ("@\nret;", ["", "ret"]),
        ("add.s32 %r1,\nL2:\nret;", ["add.s32", "ret"]),
        ("add.s32 %r1, %r2\n.reg .b32 fresh;\nret;", ["add.s32", "ret"]),
        ('.pragma "no end\nret;', ["ret"]),
        ("add.s32 %r1,\n  %r2,\n  %r3;\nret;", ["add.s32", "ret"]),
        ("st.global.v2.u32 [%rd1],\n  {%r1, %r2}; ret;", ["st.global.v2.u32", "ret"]),
    ],
)
def test_a_statement_without_its_end(broken, mnemonics):
    head = ".version 8.0\n.target sm_90\n.entry k (.param .u64 p)\n{\n.reg .b32 %r<5>;\n"
    text = f"{head}{broken}\n}}\n.entry after ()\n{{\nexit;\n}}\n"
    found = Outline(text)
    assert [s.mnemonic for s in found.statements if s.kind == ol.INSTRUCTION] == [*mnemonics, "exit"]
    assert "after" in found.module.names
    assert found.module.names["k"].end <= found.module.names["after"].begin


def test_every_beginning_has_what_stands_in_it():
    whole = Outline(CALLS)
    for cut in range(len(CALLS)):
        found = Outline(CALLS[:cut])
        names = {d.name for d in found.definitions}
        complete = {d.name for d in whole.definitions if CALLS.find(";", d.after) >= 0 and CALLS.find(";", d.after) < cut - 1}
        assert complete <= names, (cut, complete - names)
        assert all(scope.end >= scope.at for scope in found.scopes)


def test_tokens_go_on_behind_what_is_none():
    assert [t.text for t in read_tokens('a "b\nc /* d')] == ["a", "c"]
    assert [(t.text, t.kind == MNEMONIC) for t in read_tokens("tex.2d.v4.f32 add. %r1.b0 L:x")] == [
        ("tex.2d.v4.f32", True), ("add.", True), ("%r1", False), (".b0", False), ("L", False), (":", False), ("x", False)
    ]  # fmt: skip


def test_the_token_at_a_place():
    tokens = read_tokens("add %r1, %r2 ;")
    named = [tokens[i].text if (i := token_at(tokens, at)) >= 0 else "" for at in range(14)]
    assert named == ["add"] * 4 + ["%r1"] * 4 + [","] + ["%r2"] * 4 + [";"]
    assert token_at([], 0) == -1


def test_references_of_one_register_and_of_all():
    found = Outline(SAXPY)
    scope = found.scope_at(SAXPY.index("fma.rn"))
    definition = scope.resolve("%f2")
    one = [SAXPY[o.at : o.after] for o in found.references(definition, "%f2")]
    every = [SAXPY[o.at : o.after] for o in found.references(definition, "%f")]
    assert set(one) == {"%f2"}
    assert len(one) == SAXPY.count("%f2")
    assert len(every) == SAXPY.count("%f")
