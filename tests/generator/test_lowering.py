"""What the compiler of lowering rules makes of a rule; what it says of a wrong one is in ``mistakes/lowering.yaml``."""

from __future__ import annotations

from oricgen import strictyaml
from oricgen.lowering import operations
from oricgen.lowering.compiler import Compiler

from tests import specification

SPEC = specification.spec()
OPERATIONS = operations.load(SPEC)
SPECIAL = operations.special_registers(SPEC)
SETS = {"rnd": {"rn": "", "rz": ".RZ"}, "ftz": {"ftz": ".FTZ"}}
MACROS = {"twice": {"params": ["d", "a"], "emit": ["IADD3 %r, $a, $a, RZ", "MOV $d, %r"]}}


def _compile(text: str) -> list[tuple[str, tuple[object, ...]]]:
    entry = strictyaml.loads(text, "rules.yaml")
    return Compiler(OPERATIONS, SETS, MACROS, SPECIAL, "rules.yaml").rules(entry)


def test_sets_become_bits_to_flip() -> None:
    ((family, (slots, count, (case,))),) = _compile('ptx: add[.rnd][.ftz].f32\nemit: ["FADD{ftz}{rnd} d, a, b"]\n')
    assert (family, count) == ("add", -1)
    assert [s[0] for s in slots] == ["rnd", "ftz", ""]
    ((number, mods, sets, guard, operands, isas),) = case[10]
    fadd = OPERATIONS["FADD"]
    assert (number, mods, guard, isas) == (fadd.number, 0, 0, None)
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
    assert set(case[0]) == {"sm_90", "sm_100", "sm_103", "sm_120"}
