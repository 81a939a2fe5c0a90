"""The scanner in C against its grammar as slow regular expressions, and at its limits."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oric.ptx import lexer, parse, sections
from oric.ptx import statements as words
from oric.ptx import text as token_text
from oric.ptx.lexer import Lexer, PtxError
from oric.ptx.statements import Statements
from oric.ptx.text import Text, latin
from oric.support.diagnostics import CompileError
from oric_tables._native import ffi, lib

from tests.ptx import scanner
from tests.ptx.scanner import Statement, Token
from tests.ptx_corpus.archive import COMPILERS, modules

KINDS = ["instruction", "label", "loc", "registers", "variable", "call", "open", "close"]
SHAPES = ["text", "register", "not", "register address", "name address", "integer", "single", "double", "vector", "name"]
FRAGMENTS = [
    *(" ", " ", " ", "\t", "\n", "\r\n", "\f", "\x00", "\x0b", "é", "\u20ac", "\ud800", "?", '"', "'", "\\", "`"),
    *("// c\n", "//", "/* c */", "/*", "*/", "/", '# 1 "a.cu"\n', '#line 7 "b"', "#", "# x"),
    *("add.s32", "ld.global::x.v4.f32", "ret", "call", "call.uni", "call.x", "LOUD", "bra"),
    *("@", "@%p1 ", "@!%p2 ", "!", ";", ";", ",", ", ", ":", "::", "(", ")", "[", "]", "{", "}", "<", ">", "+", "-", "|", "."),
    *("%r1", "%r12", "%rd007", "%r123456789", "%r", "%", "%tid.x", "%r1x", "x", "$L__1", "_", "$", "WARP_SZ", "WARP_SZ2", "a1"),
    *("0", "7", "007", "4096", "10000000", "123456789012345678", "1234567890123456789", "-5", "1.5", ".5", "1e9", "2e", "0b11"),
    *("9U", "0x1F", "0X1fU", "0x1234567890abcdef", "0x", "0f3F800000", "0F3f80000", "0d3FF0000000000000", "0f"),
    *(".loc", ".loc 1 2 3", ", function_name ", ", inlined_at ", ".reg", ".reg .b32 ", ".b32", ".param ", ".shared", ".align"),
    *(".align 8 ", "<5>", "[16]", ".branchtargets", ".callprototype", ".pragma", ".section", ".b8", ".b8 1, 2", ".b64"),
    *("[%rd1+16]", "[ %r3 + 0 ]", "[a+-4]", "[%SP]", "{%f1, %f2}", "{ %r1 }", "{a,b}", "{}", "[%r1, {%r2}]", "%p|%q"),
    *("%r1, %r2, %r3;", "add.s32 %r1, %r2, 3;", "L1:\n", "L2: ", "\t.loc\t1 5 9\n", "call.uni (r), f, (a, b);", "call f, ();"),
    "mov.b64 %rd1, {%r1, %r2};\n",
]
OPERANDS = [
    *("%r1", "%r0", "%r01", "%r12345678", "%r123456789", "%r", "%", "%1", "%r1x", "%r1.x", "%tid.x", "%SP", "!%p1", "!%p01"),
    *("x", "_", "$", "WARP_SZ", "WARP_SZ2", "a.b", "-x", "%p|%q", "a[1]", "a+1", "[a].unified", "!", "~1", "1+2"),
    *("0", "7", "-7", "007", "+7", "- 7", "123456789012345678", "1234567890123456789", "-123456789012345678", "7U", "1.5"),
    *("0x1F", "0X1fU", "0x1fu", "0x123456789abcdef", "0x0123456789abcdef", "0x", "0xU", "-0x1", "0xg", "0b1"),
    *("0f3F800000", "0F3f80000", "0f3F800000U", "0d3FF0000000000000", "0D3FF00000000000000", "0d3FF000000000000g", "0f", "0d"),
    *("[%rd1]", "[%rd1+16]", "[ %r3 + 0 ]", "[%r3+-4]", "[%r3 - 4]", "[%r3+04]", "[%r3+0x4]", "[%r3+4", "[%r3+4]]", "[%r1x]"),
    *("[%r01+1]", "%r1 + 4"),
    *("[a]", "[a+-4]", "[ a\n+ 4 ]", "[%SP+8]", "[WARP_SZ]", "[WARP_SZ2]", "[16]", "[]", "[a+]", "[a b]", "[a+1+1]"),
    "[a, {%r1}]",
    *("[a+123456789012345678]", "[a+1234567890123456789]", "[%r123456789]", "[_]", "[a]b", "b[a]", "[%r1]x"),
    *("{%f1, %f2}", "{ %r1 }", "{a,b}", "{}", "{a,}", "{,a}", "{a b, c}", "{a}b", "{a}}", "{{a}}", "{[a]}", "{a|b}"),
    "{1, -1, _, 0f00000000}",
    *("{a, b, c, d, e}", "{a;b}", "{a"),
]  # fmt: skip
HEADS = [
    "add.s32 ",
    "mov.b64\t",
    "@%p1 ret ",
    "@!%p1\tbra.uni\n",
    "@p add ",
    "call ",
    "call.uni\n",
    "callx ",
    "x:\nadd ",
    "@%p1 call ",
    "add",
]
TAILS = [";", ";", " ;", "\n;", ";\n", "", ",;", "// c\n;", ";// c\n", "\f;", "?;"]
STATEMENTS = st.builds(
    lambda head, operands, comma, tail: head + comma.join(operands) + tail,
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(OPERANDS), max_size=5),
    st.sampled_from([", ", ",", " ,\n\t"]),
    st.sampled_from(TAILS),
)  # fmt: skip
PIECES = st.sampled_from(FRAGMENTS)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=25).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=12).map("".join),
    st.lists(st.one_of(STATEMENTS, STATEMENTS, STATEMENTS, PIECES), max_size=8).map("".join),
)
WORDS = st.text('0123456789abcdefxXuUE+-._:$%<>=!&|/*#@" \n\f', max_size=30)


def read_tokens(text: str, position: int, end: int) -> tuple[list[Token], PtxError | None]:
    """What the lexer reads, up to the end or a mistake."""
    found: list[Token] = []
    try:
        cursor = Lexer(Text(text), position, end)
        found.append(Token(cursor.kind, cursor.at, cursor.after))
        while cursor.kind != lexer.END:
            cursor.advance()
            found.append(Token(cursor.kind, cursor.at, cursor.after))
            assert cursor.value == text[cursor.at : cursor.after]
    except PtxError as error:
        return found, error
    return found, None


@settings(max_examples=400, deadline=None)
@given(st.one_of(TEXTS, WORDS), st.integers(0, 20), st.integers(0, 20))
@example("/**/x/***/y/*/*/z", 0, 0)
@example('# 1 "a"b\nx # line 1 "a"\n#line1 "a"\n', 0, 0)
def test_tokens(text: str, skipped: int, cut: int) -> None:
    position = min(skipped, len(text))
    end = max(len(text) - cut, position)
    found, error = read_tokens(text, position, end)
    wanted = scanner.tokens(text, position, end)
    assert found == wanted[: len(found)]
    if error is None:
        assert len(found) == len(wanted)
        return
    mistake = wanted[len(found)]
    assert error.at == mistake.at
    assert error.message == ("unterminated comment" if text.startswith("/*", error.at) else "unterminated string")


def decoded(source: Statements, cursor: int) -> Statement:
    """A statement of the window, with texts in place of numbers."""
    head = source.stream[cursor]
    kind, at, end = KINDS[head & 0xFF], source.stream[cursor + 1], source.stream[cursor + 2]
    values: list[Any] = [source.stream[i] for i in range(cursor + 3, cursor + (head >> 8))]

    def text(index: int) -> str:
        return source.source.text[values[index] : values[index + 1]]

    def number(index: int, none: int) -> str | None:
        return None if values[index] == none else str(values[index])

    if kind == "instruction":
        assert source.source.text.startswith(source.text(values[1]), values[0])
        guard = None if values[2] < 0 else source.text(values[2])
        return Statement(kind, at, end, (guard, source.text(values[1]), [source.text(row) for row in values[3:]]))
    if kind == "call":
        names = [source.text(row) for row in values[3:]]
        results = names[: values[2]]
        return Statement(kind, at, end, (source.text(values[0]), results, source.text(values[1]), names[values[2] :]))
    if kind == "label":
        return Statement(kind, at, end, (source.source.text[at : values[0]],))
    if kind == "loc":
        inlined = (text(3), *map(str, values[5:])) if len(values) > 3 else (None,) * 4
        return Statement(kind, at, end, (*map(str, values[:3]), *inlined))
    if kind == "registers":
        return Statement(kind, at, end, (text(0), text(2), number(4, -1)))
    if kind == "variable":
        return Statement(kind, at, end, (text(0), number(6, 0), text(2), text(4), number(7, -1)))
    return Statement(kind, at, end, ())


def scanned(source: Statements, position: int) -> list[Statement]:
    """All statements from a place on, up to one that is not plain."""
    found: list[Statement] = []
    while source.find(position):
        cursor = source.cursor
        while cursor < source.count:
            found.append(decoded(source, cursor))
            cursor += source.stream[cursor] >> 8
        source.cursor = cursor
        position = found[-1].end
    return found


def expected(text: str, position: int) -> list[Statement]:
    found: list[Statement] = []
    while (one := scanner.statement(text, position)) is not None:
        found.append(one)
        position = one.end
    return found


def check_shapes(source: Statements) -> None:
    """Every text met is of the shape that the grammar says, and stands once."""
    row, seen = 0, set()
    while row < len(source.nodes) and source.rows[words.ROW_WORDS * row]:
        word = words.ROW_WORDS * row
        text, name = source.text(row), SHAPES[source.rows[word] & 0xFF]
        assert text not in seen
        seen.add(text)
        first, second = source.rows[word + 2], source.rows[word + 3]
        values: tuple[Any, ...] = ()
        if name in ("register", "not", "register address"):
            values = (source.text(first >> 32), first & 0xFFFFFFFF)
            values += (second,) if name == "register address" else ()
        elif name == "name address":
            begin = source.rows[word + 1] + (first & 0xFFFFFFFF)
            values = (source.source.text[begin : begin + (first >> 32)], second)
        elif name in ("integer", "single"):
            values = (first,)
        elif name == "double":
            values = (first & 0xFFFFFFFFFFFFFFFF,)
        elif name == "vector":
            values = ([source.text(source.rows[word + words.ROW_WORDS + i]) for i in range(first)],)
            row += -(-first // words.ROW_WORDS)
        assert (name, *values) == scanner.shape(text), text
        row += 1


@settings(max_examples=1000, deadline=None)
@given(TEXTS)
@example("".join(f"mov {one};" for one in OPERANDS if ";" not in one))
@example("L1: /* c */ .branchtargets a;")
@example("L1: /")
@example(".loc 1 2 3 /* x")
@example("L1:\n\n.call x;")
@example(".loc 1 2 3\n, function_name x")
@example(".param .align 0 .b8 a[4];.param .align 4 .b8 a[0];.param .align x;")
@example("@!%p1 call f, ();@%p call.uni (a), f, (b);call (a,), f, (b);")
@example("mov.b32 %r1,{%r1,%r2}[a];mov a,{b,{c}};mov a,[b,[c]];mov a,{b;c};mov a,{[b}];")
def test_statements(text: str) -> None:
    source = Statements(Text(text))
    for position in range(min(len(text) + 1, 4)):
        assert scanned(source, position) == expected(text, position)
    check_shapes(source)


def bodies(text: str) -> list[int]:
    """Places behind the braces that may open bodies."""
    return [match.end() for match in re.finditer(r"^\{", text, re.MULTILINE)]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_statements_of_compilers(compiler: str) -> None:
    for _, text in modules(compiler, 400_000):
        source = Statements(Text(text))
        for position in bodies(text):
            assert scanned(source, position) == expected(text, position)
        check_shapes(source)


NUMBERS = (
    (lexer, "END IDENT NUMBER DOT_WORD STRING PUNCT BAD"),
    (words, "INSTRUCTION LABEL LOC REGISTERS VARIABLE CALL OPEN CLOSE"),
    (words, "TEXT REG NOT ADDR_REG ADDR_NAME INT SINGLE DOUBLE VECTOR NAME ROW_WORDS"),
    (token_text, "TOKEN_WORDS"),
)


@pytest.mark.parametrize(("module", "names"), NUMBERS)
def test_the_numbers_are_those_of_the_kernel(module: Any, names: str) -> None:
    for name in names.split():
        assert getattr(module, name) == getattr(lib, f"ORIC_PTX_{name}"), name


def test_a_window_begins_anywhere_in_a_statement_that_was_passed() -> None:
    text = "".join(f"add.s32 %r{i}, %r{i}, {i};\n" for i in range(2000))
    source = Statements(Text(text))
    places = [match.start() for match in re.finditer("add", text)]
    assert source.find(places[3]) and decoded(source, source.cursor).at == places[3]
    assert source.find(places[5]) and decoded(source, source.cursor).at == places[5]  # passed over two
    assert not source.find(places[7] + 5)  # in the middle of a mnemonic: ".s32" is no statement
    assert source.find(places[8]) and decoded(source, source.cursor).at == places[8]
    assert [one.at for one in scanned(source, places[9])] == places[9:]


def test_many_texts() -> None:
    count = 40_000
    text = "".join(f"mov.u32 x{i}, {{a{i}, b{i}, c{i}, d{i}, e{i}}};\n" for i in range(count))
    source = Statements(Text(text))
    found = scanned(source, 0)
    assert [one.values[2][0] for one in found] == [f"x{i}" for i in range(count)]
    check_shapes(source)


def test_nothing_is_written_behind_the_room() -> None:
    one = f"add {', '.join(['a'] * scanner.MOST_OPERANDS)};"
    data = latin(one * 3)
    scan, rows = ffi.new("oric_ptx_scan *"), ffi.new("int64_t[]", 6 * 64)
    for room in range(1, 3 * lib.ORIC_PTX_LONGEST + 1):
        lib.oric_ptx_begin(scan, data, len(data), rows, 64)
        ffi.memmove(rows, bytes(ffi.sizeof(rows)), ffi.sizeof(rows))
        out = ffi.new("int64_t[]", [-7] * (3 * lib.ORIC_PTX_LONGEST + 1))
        written = lib.oric_ptx_statements(scan, 0, out, room)
        assert written == room // lib.ORIC_PTX_LONGEST * lib.ORIC_PTX_LONGEST
        assert all(word == -7 for word in list(out)[written + lib.ORIC_PTX_LONGEST if written < room else written :])
        assert -7 not in list(out)[:written]
        assert all(word == -7 for word in list(out)[room:])


@pytest.mark.parametrize(("operands", "plain"), [(1, True), (74, True), (75, False)])
def test_number_of_operands(operands: int, plain: bool) -> None:
    source = Statements(Text(f"add {', '.join(['a'] * operands)};"))
    assert source.find(0) == plain
    passed = f"call ({', '.join(['a'] * (operands - 1))}), f, (b);"
    assert Statements(Text(passed)).find(0) == plain


@pytest.mark.parametrize(("length", "plain"), [(4000, True), (4001, False)])
def test_length_of_operands(length: int, plain: bool) -> None:
    assert Statements(Text(f"add {'a' * length};")).find(0) == plain
    assert scanner.statement(f"add {'a' * length};", 0) is None or plain


@pytest.mark.parametrize(("elements", "found"), [(256, "vector"), (257, "text")])
def test_length_of_vectors(elements: int, found: str) -> None:
    source = Statements(Text(f"mov a, {{{', '.join(['b'] * elements)}}};"))
    assert source.find(0)
    row = source.stream[source.cursor + words.OPERANDS + 1]
    assert SHAPES[source.rows[words.ROW_WORDS * row] & 0xFF] == found
    check_shapes(source)


@pytest.mark.parametrize("text", ["", "abc", "é", "\xff\x80", "a\u20acb?", "\ud800\U0001f600é?"])
def test_one_byte_for_each_character(text: str) -> None:
    data = latin(text)
    assert len(data) == len(text)
    for byte, character in zip(data, text, strict=True):
        assert byte == ord(character) if character.isascii() else byte >= 0x80


@pytest.mark.parametrize("odd", ["é", "\u20ac", "\U0001f600"])
def test_places_behind_odd_characters(odd: str) -> None:
    head = f"// {odd * 5}\n.version 9.0\n.target sm_90\n.address_size 64\n"
    text = head + f".visible .entry k()\n{{ // {odd}\n/* {odd} */ add.s33 a, b, c;\n}}\n"
    with pytest.raises(CompileError) as caught:
        parse(text)
    (item,) = caught.value.diagnostics.items
    assert text[item.offset :].startswith(".s33")


DATA = [
    *("\t.b8 1\n", ".b8 1, 2,3\n", ".b8 256\n", ".b8 01\n", ".b32 7 // c\n", ".b32 a+8\n", ".b64 .debug_info+8\n", ".b32 a-b\n"),
    *(".b32 a+089\n", ".b64 1234567890\n", ".b32 %a\n", ".b16 3\n", ".b32 .5\n", ".b8 1,\n", "L:\n", "/* c */", ".b32 -1\n"),
    *(".b8 -1\n", ".b8 0x10\n", ".b32 a + 4\n", ".b32 .$x\n", ".b8 é\n", ".b64 x.y\n", "+1\n", ".b32 8\n"),
]


def read_section(text: str) -> object:
    """What is read of a section, or the mistake in it."""
    labels: dict[str, int] = {}
    try:
        found = sections.read_section(Lexer(Text(f".section .x {{{text}}} .end"), len(".section ")), labels)
    except PtxError as error:
        return error.at, error.message
    return found, labels


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(DATA), max_size=8).map("".join))
def test_sections_are_the_same_without_the_fast_way(text: str) -> None:
    fast = read_section(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "_lines", Lexer.move)
        assert read_section(text) == fast


def test_plain_data_is_passed_at_once() -> None:
    text = ".b8 1, 2\n.b8 255 // c\n.b32 7\n.b64 a+8\n.b32 b-a\n.b64 .x+1\n}"
    assert Text(text).behind_data(0) == len(text) - 1
