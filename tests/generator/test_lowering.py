"""The compiler of lowering rules: what it makes of a rule, and what it says of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen import strictyaml
from oricgen.errors import SpecError
from oricgen.lowering import operations
from oricgen.lowering.compiler import Compiler
from oricgen.spec import Spec

SPEC = Spec(Path(__file__).resolve().parents[2] / "spec")
OPERATIONS = operations.load(SPEC)
SPECIAL = operations.special_registers(SPEC)
SETS = {"rnd": {"rn": "", "rz": ".RZ"}, "ftz": {"ftz": ".FTZ"}, "bad": {"x": ".NOPE"}}
MACROS = {"twice": {"params": ["d", "a"], "emit": ["IADD3 %r, $a, $a, RZ", "MOV $d, %r"]}}


def _compile(text: str) -> list[tuple[str, tuple[object, ...]]]:
    entry = strictyaml.loads(text, "rules.yaml")
    return Compiler(OPERATIONS, SETS, MACROS, SPECIAL, "rules.yaml").rules(entry)


def test_sets_become_bits_to_flip() -> None:
    ((family, (slots, count, (case,))),) = _compile('ptx: add[.rnd][.ftz].f32\nemit: ["FADD{ftz}{rnd} d, a, b"]\n')
    assert (family, count) == ("add", -1)
    assert [s[0] for s in slots] == ["rnd", "ftz", ""]
    ((word, mods, sets, guard, operands, isas),) = case[10]
    fadd = OPERATIONS["FADD"]
    assert (word, mods, guard, isas) == (fadd.word, 0, 0, None)
    assert dict(sets) == {"ftz": {"ftz": fadd.modifier("FTZ")[1]}, "rnd": {"rn": 0, "rz": fadd.modifier("rnd=RZ")[1]}}
    assert [o[0] for o in operands] == [0, 1, 2]


def test_macros_get_temporaries_of_their_own() -> None:
    ((_, (_, _, (case,))),) = _compile('ptx: neg.s32\nemit: ["$twice %r1, a", "$twice d, %r1"]\n')
    assert len(case[7]) == 3
    assert len(case[10]) == 4


def test_each_multiplies() -> None:
    rules = _compile('each: [[{A: x}, {A: z}], [{B: u}, {B: v}, {B: w}]]\nptx: f.$A.$B\nemit: ["MOV d, a"]\n')
    assert [tuple(s[1][0] for s in rule[0]) for _, rule in rules] == [(a, b) for a in "xz" for b in "uvw"]


def test_overwritten_sources_are_noted() -> None:
    safe = _compile('ptx: f.x\nemit: ["IADD3 d.lo, a.lo, b.lo, RZ", "IADD3 d.hi, a.hi, b.hi, RZ"]\n')
    risky = _compile('ptx: f.x\nemit: ["IADD3 d.lo, a.lo, b.lo, RZ", "IADD3 d.hi, a.lo, b.hi, RZ"]\n')
    assert (safe[0][1][2][0][9], risky[0][1][2][0][9]) == (0, 1)


def test_operations_restrict_the_target() -> None:
    ((_, (_, _, (case,))),) = _compile('ptx: f.x\nemit: ["VIADD d, a, b"]\n')
    assert case[0] == ("sm_90",)


def test_one_constant_an_instruction() -> None:
    """Where a line has a constant already, its other sources must be registers."""
    ((_, (_, _, (case,))),) = _compile('ptx: f.x\nemit: ["SHF.L.U32 d, a, 3, b"]\n')
    assert case[10][0][4][3][3] & operations.SLOT_ANY_IMM == 0


WRONG = [
    ('emit: ["FADDD d, a, b"]', 2, "no operation FADDD"),
    ('emit: ["FADD d, a"]', 2, "FADD takes Rd Ra Rb"),
    ('emit: ["FADD.RQ d, a, b"]', 2, "FADD has no modifier 'RQ'"),
    ('emit: ["FADD{bad} d, a, b"]', 2, "the pattern has no slot 'bad'"),
    ('emit: ["FADD{none} d, a, b"]', 2, "no set 'none'"),
    ('emit: ["ATOMG.E.ADD d, m, off, a"]', 2, "ATOMG needs Pd="),
    ('emit: ["FADD d, a, b, Pp=PT"]', 2, "FADD has no modifier or operand 'Pp'"),
    ('emit: ["FADD d, 1, b"]', 2, "no immediate is possible in place of 1"),
    ('emit: ["LOP3 d, a, b, RZ, lut=256"]', 2, "LOP3 has no modifier or operand 'lut' for that value"),
    ('emit: ["FADD d, a, %z"]', 2, "its first letter must be one of"),
    ('emit: ["fadd d, a, b"]', 2, "cannot read the line"),
    ('emit: ["FADD d, a, b+"]', 2, "unknown operand 'b+'"),
    ('emit: ["@%p BRA NOWHERE"]', 1, "label 'NOWHERE' is never placed"),
    ('emit: ["$thrice d, a"]', 2, "no macro 'thrice'"),
    ('emit: ["S2R d, SR_NOTHING"]', 2, "no system register SR_NOTHING"),
    ('emit: ["DADD d, a, d:0.1"]', 2, "does not fit the upper half of a double"),
]


@pytest.mark.parametrize(("lines", "line", "message"), WRONG)
def test_mistakes_are_named(lines: str, line: int, message: str) -> None:
    with pytest.raises(SpecError) as error:
        _compile(f"ptx: add.f32\n{lines}\n")
    assert message in str(error.value)
    assert str(error.value).startswith(f"rules.yaml:{line}:")


@pytest.mark.parametrize(
    ("pattern", "message"), [("Add.f32", "begins with the name"), ("add[.f32", "cannot read the slot"), ("add.", "empty slot")]
)
def test_wrong_patterns(pattern: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        _compile(f'ptx: "{pattern}"\nemit: ["MOV d, a"]\n')


def test_every_expansion_and_condition_exists() -> None:
    from oric.lower import expansions, predicates

    for name, data in SPEC.family("lowering").items():
        for entry in data.get("rules", ()):
            for row in [entry, *entry.get("cases", ())]:
                assert row.get("expand", "move") in expansions.FUNCTIONS, (name, row)
                assert "if" not in row or callable(getattr(predicates, row["if"])), (name, row)
