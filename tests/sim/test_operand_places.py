"""The same operations with their operands in other places: immediates, constant banks, uniform registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from oric_tables import ops

from tests.sim import test_arithmetic_convert as convert
from tests.sim import test_arithmetic_float as single
from tests.sim import test_arithmetic_half as half
from tests.sim import test_arithmetic_integer as integer
from tests.sim.lanes import Case, compare, rows, run
from tests.sim.program import word

VALUES = {
    "int": 0x80000005,
    "f32": 0xBFC00000,
    "f16": 0xC200C200,
    "bf16": 0xC040C040,
    "f64": 0xC008000000000000,
    "i64": 0xFFFFFFFFFFFFFFF0,
}
MODULES = (single, half, convert, integer)
BANK = 0x10
# Immediates of 33 and 64 bits have tests of their own; an operand of a pair operation may be one number or two.
OTHERS = ("SEL.64", "USEL.64", "MOV.64", "UMOV.64", "FADD2", "FMUL2", "FFMA2")


def first_of_each() -> list[Case]:
    found: dict[str, Case] = {}
    for module in MODULES:
        for case in module.CASES:
            if case.name not in OTHERS:
                found.setdefault(case.name, case)
    return list(found.values())


def moved(case: Case) -> Iterator[tuple[Case, int, str]]:
    """The case with one of its register operands elsewhere, the operand's index among the inputs, and where it is."""
    at = 0
    for index, kind in enumerate(case.kinds):
        wide = kind in ("f64", "i64")
        at += at & 1 if wide else 0
        register = f"{'U' if case.uniform else ''}R{8 + at}"
        if register in case.operands:
            value = VALUES[kind]
            immediate = value >> 32 if kind == "f64" else value & 0xFFFFFFFF
            places: dict[str, Any] = {"immediate": immediate, "constant": f"c[0][{BANK}]", "uniform": "UR8"}
            for place, operand in places.items():
                if place == "immediate" or not case.uniform:
                    operands = tuple(operand if o == register else o for o in case.operands)
                    mods = case.mods
                    if place == "immediate":
                        mods = {k: v for k, v in mods.items() if k != ("", "swzb", "swzc")[min(index, 2)]}
                    yield replace(case, operands=operands, mods=mods), index, place
        at += 2 if wide else 1


def encodes(case: Case) -> bool:
    try:
        word(ops.ISAS.index(case.isa), case.name, *case.operands, **case.mods)
    except ValueError:
        return False
    return True


VARIANTS = [v for case in first_of_each() for v in moved(case) if encodes(v[0])]


def test_there_are_such_variants() -> None:
    counts = {place: sum(v[2] == place for v in VARIANTS) for place in ("immediate", "constant", "uniform")}
    assert min(counts.values()) > 40, counts


@pytest.mark.parametrize(("case", "index", "place"), VARIANTS, ids=str)
def test_an_operand_elsewhere(case: Case, index: int, place: str) -> None:
    isa, kind = ops.ISAS.index(case.isa), case.kinds[index]
    data, value = rows(case.kinds, 100, 4)[-100:], VALUES[kind]
    data[:, 6] = range(len(data))
    at = 0
    for before in case.kinds[:index]:
        at += (at & 1) + 2 if before in ("f64", "i64") else 1
    if kind in ("f64", "i64"):
        at += at & 1
        data[:, at + 1] = value >> 32
    data[:, at] = value & 0xFFFFFFFF
    prepare = [word(isa, "UMOV", f"UR{8 + i}", value >> 32 * i & 0xFFFFFFFF) for i in range(2)] if place == "uniform" else []
    compare(case, data, run(case, data, prepare=prepare, constants=value.to_bytes(8, "little")))
