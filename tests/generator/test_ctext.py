"""The language of meanings and values; the mistakes that rows can have are in ``mistakes/*_text.yaml``."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from oricgen.ctext import arithmetic
from oricgen.ctext.expressions import Expressions
from oricgen.ctext.headers import declarations
from oricgen.ctext.statements import Statements
from oricgen.ctext.types import NUMBERS, TextError, Value, described, pointer, unfit
from oricgen.known import of_lanes
from oricgen.native import CFLAGS, FOLDERS, c_compiler

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = {
    "a": "uint32_t", "b": "uint32_t", "s": "int32_t", "q": "uint64_t", "t": "int64_t", "f": "float", "d": "double", "n": "int",
}  # fmt: skip
HEADER = """
/* a comment { with a bracket */
#define OP(name, ...) void do_##name(int w, __VA_ARGS__)
#define PURE static inline __attribute__((always_inline))
#define BITS(x) ((x) & 0xff)
#define MOST 32u
typedef struct pair {
    uint32_t low, *high;
    uint8_t bytes[4]; // the rest
} pair;
typedef const pair *pairs;
enum { ONE = 1, TWO, /* and */ THREE };
extern const pair nothing;
PURE unsigned sum(unsigned a, uint64_t b) { return (unsigned)(a + b); }
static inline float *table(void) { if (1) { return 0; } return 0; }
OP(jump, pairs to, unsigned long long count);
"""


class Variables:
    """A scope with a variable of each type."""

    def __init__(self) -> None:
        self.names = of_lanes(specification.spec())
        self.values: dict[str, list[str]] = {}

    def named(self, name: str, member: str, offset: int) -> tuple[Value, str] | None:
        """A variable is itself."""
        return (NUMBERS[VARIABLES[name]], name) if name in VARIABLES and not member else None


def value(text: str) -> Value:
    return Expressions(text, Variables()).whole()


def test_what_a_header_declares() -> None:
    declared = declarations(HEADER)
    assert declared.signature("sum") == (
        NUMBERS["unsigned"], [("unsigned a", NUMBERS["unsigned"]), ("uint64_t b", NUMBERS["uint64_t"])],
    )  # fmt: skip
    assert declared.signature("table") == (pointer("float"), [])
    assert [kind for _, kind in declared.signature("do_jump")[1]] == [
        NUMBERS["int"],
        pointer("pair"),
        NUMBERS["unsigned long long"],
    ]
    assert declared.constants == {"ONE", "TWO", "THREE"}
    assert declared.macros["BITS"] == (("x",), "((x) & 0xff)")
    assert described(declared.type_of(declared.objects["nothing"])) == "a struct (pair)"
    members = {name: described(declared.type_of(text)) for name, text in declared.members("pair").items()}
    assert members == {
        "low": "an unsigned integer of 32 bits", "high": "a pointer (uint32_t *)", "bytes": "a pointer (uint8_t *)",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a + b", "uint32_t"), ("a + q", "uint64_t"), ("s + a", "uint32_t"), ("s + t", "int64_t"), ("f * d", "double"),
        ("1.0f * f", "float"), ("0xffffffff", "uint32_t"), ("4294967295", "int64_t"), ("1ull << 63", "uint64_t"),
        ("a == b", "int"), ("!q", "int"), ("a ? q : b", "uint64_t"), ("(uint8_t)a << 3", "int"),
        ("w->UR[3] >> 1", "uint32_t"), ("fadd(f, 1.0, 0, 0, 0)", "uint32_t"), ("SIM_FULL", "uint32_t"), ("V_RN", "int"),
        ("*w->UR", "uint32_t"), ("- - a", "uint32_t"), ("(((a)))", "uint32_t"),
        ("(uint64_t)(int64_t)(int32_t)a", "uint64_t"), ("0x1p-126f", "float"), ("SIM_BANKS", "int"),
    ],
)  # fmt: skip
def test_types(text: str, kind: str) -> None:
    got, wanted = value(text), NUMBERS[kind]
    assert (got.kind, got.width, got.signed) == (wanted.kind, wanted.width, wanted.signed)


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("(" * 3000 + "a" + ")" * 3000, 32, "nested more than 32 deep"),
        ("brev(" * 3000 + "a" + ")" * 3000, 160, "nested more than 32 deep"),
        ("a ? 1 : " * 3000 + "1", 252, "nested more than 32 deep"),
        ("(" * 3000, 32, "nested more than 32 deep"),
        ("a + " + "9" * 5000, 4, "a number of 5000 characters is too long"),
        ("a + 0x" + "0" * 5000, 4, "a number of 5002 characters is too long"),
        ("1." + "0" * 5000, 0, "a number of 5002 characters is too long"),
        ("a b", 2, "an operator or ';' is missing before 'b'"),
        ("a[0]", 1, "'[' behind an unsigned integer of 32 bits"),
        ("w->nothing", 3, "sim_warp has no member 'nothing'"),
        ("", 0, "the text ends where a value is missing"),
        ("brev(a", 4, "'(' of 'brev' has no ')'"),
        ("brev(a,)", 7, "a value is missing before ')'"),
        ("ö", 0, "'ö' is no part of the language"),
    ],
    ids=lambda given: str(given)[:20],
)
def test_refusals(text: str, offset: int, message: str) -> None:
    with pytest.raises(TextError) as raised:
        value(text)
    assert message in raised.value.message
    assert raised.value.offset == offset


def test_long_texts_that_are_right() -> None:
    assert value("a" + " + b" * 3000).kind == "integer"
    assert value("!" * 3000 + "a").kind == "integer"


def test_a_call_without_its_first_parameters() -> None:
    row = Variables()
    statement = Statements("close_copies( COPIES )", row)  # type: ignore[arg-type]  # no statement asks it for more
    assert statement.called("sim_do_", 2) == ("close_copies", " COPIES ")


def test_what_is_accepted_is_c(tmp_path: Path) -> None:
    """Random expressions that pass are types and names of C: the compiler may warn of what is always true, no more."""
    rng = random.Random(1)
    scope = Variables()
    accepted: list[tuple[str, str]] = []
    while len(accepted) < 300:
        text, target = _random(rng, scope, 3), rng.choice(["uint32_t", "uint64_t", "float", "double", "int32_t"])
        try:
            found = value(text)
        except TextError:
            continue
        if not unfit(found, NUMBERS[target]):
            accepted.append((target, text))
    parameters = ", ".join(f"{kind} {name}" for name, kind in VARIABLES.items())
    lines = [
        '#include "sim/exec.h"',
        *(f"{kind} x{i}({parameters}) {{ return {text}; }}" for i, (kind, text) in enumerate(accepted)),
    ]
    (tmp_path / "accepted.c").write_text("\n".join(lines), encoding="utf-8")
    flags = [flag for flag in CFLAGS if not flag.startswith("-W")] + ["-w", "-Werror=implicit-function-declaration"]
    include = [f"-I{ROOT}/{folder}" for folder in FOLDERS]
    command = [*c_compiler(), *flags, *include, "-fsyntax-only", str(tmp_path / "accepted.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _random(rng: random.Random, scope: Variables, depth: int) -> str:
    """An expression; most of them are wrong."""
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return rng.choice([*VARIABLES, *VARIABLES, "0", "31", "0xffffffffu", "1.0", "2.5f", "V_RN", "SIM_FULL", "1ull"])
    inner = f"({_random(rng, scope, depth - 1)})"
    if kind < 0.6:
        return f"{inner} {rng.choice(sorted(arithmetic.BINDS))} {_random(rng, scope, depth - 1)}"
    if kind < 0.7:
        return rng.choice(["!", "~", "-", "(uint32_t)", "(int64_t)", "(float)"]) + inner
    if kind < 0.8:
        return f"({inner} ? {_random(rng, scope, depth - 1)} : {_random(rng, scope, depth - 1)})"
    name = rng.choice(
        ["fadd", "icmp", "brev", "arith_f32", "arith_bits32", "mul_wide", "carry64", "fcmp", "arith_encode", "sqrt"]
    )
    count = len(scope.names.declared.signature(name)[1])
    return f"{name}({', '.join(_random(rng, scope, depth - 2) for _ in range(count))})"
