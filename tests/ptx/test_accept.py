"""Modules that must be read clean: what nvcc 13.0 makes of varied CUDA code, and the language beyond that by hand."""

import re
import tracemalloc
from pathlib import Path

import pytest
from oric.ptx import builder as b
from oric.ptx import parse, parse_module
from oric.ptx.recorder import Instruction, Module, Recorder
from oric.support.diagnostics import diagnostics_for

from tests.ptx import reject_cases

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = sorted([*(HERE / "accept").glob("*.ptx"), *(ROOT / "tests/kernels").glob("*.ptx"), *(ROOT / "examples").glob("*.ptx")])


def described(module: Module) -> list[list[tuple]]:
    """What was recorded, without places."""
    out = []
    for body in module.bodies:
        rows = []
        for s in body.statements:
            rows.append((s.variant.text, s.guard, s.operands) if isinstance(s, Instruction) else ("label", s.name))
        out.append(rows)
    return out


def instruction_count(text: str) -> int:
    """Instructions of a compiler-made module, counted without the parser: lines that begin with a mnemonic."""
    code = re.sub(r"//[^\n]*", "", text)
    code = re.sub(r"\.section[^{]*\{[^}]*\}", "", code)
    return len(re.findall(r"^[\t ]*(?:@!?%\w+[\t ]+)?[a-z][\w.:]*(?:[\t ]+[^;]*)?;", code, re.M))


@pytest.mark.row("R2-02")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_clean(path):
    module = parse(path.read_text(encoding="utf-8"), path.name)
    assert module.bodies


@pytest.mark.parametrize("path", [p for p in FILES if p.name != "language.ptx"], ids=lambda p: p.name)
def test_every_instruction_is_passed_on(path):
    text = path.read_text(encoding="utf-8")
    inline = text.count("begin inline asm")
    found = sum(len(body.instructions()) for body in parse(text, path.name).bodies)
    if not inline:
        assert found == instruction_count(text)
    else:
        assert found >= instruction_count(text) - 2 * inline


def with_comments(text: str) -> str:
    """A comment inside each instruction, declaration and line of data, which sends it the careful way."""
    text = re.sub(r"^([\t ]*(?:@!?%\w+[\t ]+)?[a-z][\w.:]*)([\t ]+[^;:\n]*;)", r"\1 /* */\2", text, flags=re.M)
    text = re.sub(
        r"^([\t ]*(?:\.(?:reg|param|local|shared|loc|b8|b32|b64)|call(?:\.uni)?))(?=[\t ])", r"\1 /* */", text, flags=re.M
    )
    return re.sub(r"^(\$L\w+):", r"\1 /* */:", text, flags=re.M)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_both_ways_of_reading_agree(path):
    text = path.read_text(encoding="utf-8")
    assert described(parse(with_comments(text))) == described(parse(text.replace("\n", "\r\n"))) == described(parse(text))


def test_white_space_behind_a_form_feed():
    header = ".version 9.0\n.target sm_90\n.address_size 64\n"
    plain = parse(header + ".entry k() { .reg .b32 %r; mov.b32 %r, 1; ret; }")
    fed = parse(header + "\f // x\n.entry k()\f \n{ .reg .b32\f\t%r; \f\nmov.b32 %r,\f 1; \f ret; }\f ")
    assert described(fed) == described(plain)


def test_places_are_those_of_the_mnemonic():
    text = (ROOT / "examples/saxpy.ptx").read_text(encoding="utf-8")
    for instruction in parse(text).bodies[0].instructions():
        assert text.startswith(instruction.variant.text, instruction.loc)


def test_language_module_in_detail():
    module = parse((HERE / "accept/language.ptx").read_text(encoding="utf-8"), "language.ptx")
    assert module.header is not None and module.header.version == (9, 0) and module.header.options == ("texmode_unified",)
    symbols = {s.name: s for s in module.symbols}
    assert symbols["matrix"].init == b"".join(i.to_bytes(4, "little") for i in (1, 2, 3, 4, 5)) and symbols["matrix"].size == 24
    assert symbols["count"].dims == (6,) and symbols["count"].init == bytes([16, 0, 5, 0, 15, 0, 9, 0, 255, 255, 2, 0])
    assert symbols["four"].init.hex() == "0000803f000020c00000404000008040"
    assert [(r.offset, r.addend, r.generic) for r in symbols["places"].relocs] == [(0, 0, False), (8, 4, True), (16, 8, False)]
    assert [(r.offset, r.size, r.mask) for r in symbols["bytes"].relocs] == [(0, 1, 0xFF), (1, 1, 0xFF00)]
    assert symbols["dynamic"].size == 0 and symbols["dynamic"].align == 16 and symbols["dynamic"].linkage == "extern"
    assert symbols["managed"].attributes == ("managed",)
    assert symbols["by_param"].linkage == "visible"
    kernel = module.function("kernel")
    assert kernel.function.directives == {"maxntid": (128, 2, 1), "minnctapersm": (2,), "maxnreg": (64,)}
    assert kernel.function.pragmas == ("nounroll",)
    assert kernel.function.params[0].ptr == ("global", 16) and kernel.function.params[1].size == 24
    assert [kind for kind, _, _ in kernel.tables] == ["prototype", "call", "branch"]


def test_hidden_names_and_labels_of_inner_scopes():
    module = parse((HERE / "accept/language.ptx").read_text(encoding="utf-8"), "language.ptx")
    kernel = module.function("kernel")
    moves = [i for i in kernel.instructions() if i.variant.text == "mov.b32" and i.operands[1] == (b.INT, 3)]
    outer = next(r for r in kernel.registers if r.name == "%r")
    assert not outer.first <= moves[0].operands[0][1] < outer.first + outer.count
    assert kernel.labels.count("inner") == 1 and kernel.labels.count("OUTER") == 1


ODDITIES = [line for line in (HERE / "accept/oddities.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
FRAMES = {"f": "{}", "m": "@header\n{}", "b": "@kernel\n{}\n@end"}


def oddity(line: str) -> str:
    """The module that a line of oddities.txt stands for."""
    kind, _, text = line.partition(" ")
    return reject_cases.expand(FRAMES[kind].format(text.replace("\\n", "\n")))


@pytest.mark.parametrize("line", ODDITIES)
def test_oddities(line):
    assert ": error: " not in reject_cases.errors_of(oddity(line))


def test_there_are_oddities():
    assert len(ODDITIES) >= 60


def second_operands(body: str) -> list[tuple]:
    """The second operand of each instruction in front of the last."""
    return [i.operands[1] for i in parse(oddity(f"b {body}")).bodies[0].instructions()[:-1]]


def test_names_of_variables_and_places():
    """An array's element: the index counts scalars, as an address and as a value, in an array of vectors too."""
    rows = second_operands(".shared .v2 .u32 x[8];\\nmov.u32 %r1, x[1];\\nld.shared.u32 %r1, x[3];")
    assert [(row[0], row[2]) for row in rows] == [(b.SYM, 4), (b.ADDR_SYM, 12)]


def test_registers_as_indices_and_with_constants():
    rows = second_operands(
        ".shared .u16 x[8];\\nmov.u32 %r1, %r2;\\nmov.u32 %r1, %r2+7;\\nld.shared.u16 %rs1, x[%r2+3];\\nmov.u32 %r1, x[%r2];"
    )
    register = rows[0][1]
    assert rows[1] == (b.SUM, register, 7)
    assert (
        [row[0] for row in rows[2:]] == [b.INDEX, b.INDEX] and rows[2][2:] == (register, 2, 6) and rows[3][2:] == (register, 2, 0)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".b16 a = 1.1", "9a99"),
        (".b16 a = 0f12345678", "7856"),
        (".b8 a[2] = {0f3F803344, 7}", "4407"),
        (".b128 a = 1.1", "9a9999999999f13f0000000000000000"),
        (".b128 a = -5", "fbffffffffffffff0000000000000000"),
        (".b32 a = 1.1", "cdcc8c3f"),
        (".u32 a[2] = {}", "00000000"),
        (".u32 a[4000][4000][4000] = {{{1}, {2}}}", "01000000" + "00000000" * 3999 + "02000000"),
    ],
)
def test_initial_bytes(text, expected):
    """What ptxas puts into the section; of a .b128 variable it leaves the second half of a floating-point value undefined."""
    symbol = parse(oddity(f"m .global {text};")).symbols[0]
    assert symbol.init.hex() == expected


def test_warning_of_a_directive_that_is_ignored():
    text = oddity("m .entry k() .minnctapersm 2 {ret;}\\n.entry l() .minnctapersm 2 .maxntid 32 {ret;}")
    diag = diagnostics_for(text, "f")
    parse_module(text, "f", Recorder(diag.source), None, diag)
    assert [diag.headline(item) for item in diag.items] == [
        "f:4:12: warning: '.minnctapersm' is ignored without '.maxntid' or '.reqntid'"
    ]


def test_memory_of_a_large_initialised_array():
    """Zeros behind the last value are not stored, so a few characters of text cannot take memory."""
    tracemalloc.start()
    try:
        parse(oddity("m .global .u64 a[4294967296][4294967296] = {{1}};"))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
