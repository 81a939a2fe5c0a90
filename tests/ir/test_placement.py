"""Where sources are put: an operation is made in an order of its sources that has a form, and computes the same so."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R, control_flow
from oric.ir.interpret import Thread, difference
from oric.ir.legality import legality_of
from oric.ir.read import read
from oric.ir.values import Values
from oric.phases.optimize import general_optimize_early
from oric_tables import op as op_numbers
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.numbers import F_ABSENT, INSN_OPERANDS
from oric_tables.rewrites import COMMUTE, NEGATED, TABLE
from oric_tables.targets import TARGETS

from tests.ir.functions import context

ARCH = "sm_90"
ISA = TARGETS[ARCH].isa_name
DRAWS = 300


def sources(row: ops.Op) -> list[int]:
    return [at for at, operand in enumerate(row.operands) if not operand.writes and operand.kind == "gpr"]


# Operations whose sources in registers follow the result, and may change places without another modifier.
OPERATIONS = [
    ops.op(number)
    for number, entry in COMMUTE.items()
    if not entry[1] and ISA in ops.op(number).isas and sources(ops.op(number))[:1] == [1]
]
# Those whose sources are words: pairs get no constants here.
COMMUTING = [row for row in map(ops.op, COMMUTE) if ISA in row.isas and sources(row) and row.regs(sources(row)[0], 0) == 1]


def random_operand(rng: random.Random, f: Function, words: int, in_register: bool = False) -> int:
    kind = rng.randrange(4)
    register = opd.reg(f.new_reg(R, words), 0, words)
    if words == 1 and kind in (1, 2):
        number, bank = f.imm(rng.choice((1, 5, 0x3F800000, 0x7FFFFFFF, -7))), opd.const_bank(0, 0x210 + 4 * rng.randrange(8))
        made = number if kind == 1 else bank
        if not in_register:
            return int(made)
        cursor = Cursor(f)
        cursor.in_front(f.head[0])
        cursor.make2(op_numbers.MOV, register, made)
    return int(opd.RZ_OPERAND if kind == 3 and rng.random() < 0.3 else register)


def random_mods(rng: random.Random, row: ops.Op) -> int:
    """Modifiers with which the operation has a value."""
    while True:
        mods = _any_mods(rng, row)
        marks = [0 if operand.writes or operand.kind == "gpr" else F_ABSENT for operand in row.operands]
        marks += [F_ABSENT] * (INSN_OPERANDS - len(marks))
        words = ffi.new("int64_t[]", INSN_OPERANDS)
        if lib.oric_value(row.number, mods, ffi.new("int64_t[]", marks), 1, words, ffi.new("int64_t[]", INSN_OPERANDS)):
            return mods


def _any_mods(rng: random.Random, row: ops.Op) -> int:
    mods = 0
    for mod in row.mods.values():
        code = rng.choice(list(mod.values.values())) if mod.values else rng.getrandbits(mod.width)
        mods |= (code & mod.mask) << mod.shift
    return mods


def function(row: ops.Op, seed: int, in_registers: bool) -> tuple[Function, int]:
    """A function that stores what an operation makes of random sources; those out of registers may have no form as they stand."""
    rng = random.Random(f"{row.name} {seed}")
    f = read(f"entry test {ARCH} final_flow\nbix0:\n    EXIT\n", target=ARCH)
    exit_ = f.head[0]
    mods = random_mods(rng, row)
    places = sources(row)
    given = {at: random_operand(rng, f, row.regs(at, mods), in_registers) for at in places}
    result = opd.reg(f.new_reg(R, row.regs(0, mods)), 0, row.regs(0, mods))
    predicate = row.operands[0].kind != "gpr"
    cursor = Cursor(f)
    cursor.in_front(exit_)
    if predicate:
        result = opd.reg(f.new_reg(P))
    i = cursor.make(row.number, mods)
    for at in range(max(places) + 1):
        cursor.put(given.get(at, opd.NO_OPERAND if at else result))
    if predicate:
        word = opd.reg(f.new_reg(R))
        cursor.make(op_numbers.SEL)
        for operand in (word, opd.reg(f.new_reg(R)), opd.reg(f.new_reg(R)), result):
            cursor.put(operand)
        result = word
    address = opd.reg(f.new_reg(R, 2), 0, 2)
    for number in range(opd.count_of(result)):
        cursor.make(op_numbers.STG)
        for operand in (address, f.imm(4 * number), opd.word(result, number) if opd.count_of(result) > 1 else result):
            cursor.put(operand)
    return f, i


def told(before: Function, after: Function) -> str:
    for state in range(4):
        one, other = Thread(before, state), Thread(after, state)
        one.run()
        other.run()
        assert one.ended and len(one.events) > 1
        if found := difference(one, other):
            return found
    return ""


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_what_is_made_computes_the_same(row: ops.Op) -> None:
    legality = legality_of(ISA)
    outcomes: Counter[str] = Counter()
    for seed in range(DRAWS):
        before, _ = function(row, seed, False)
        after, i = function(row, seed, False)
        graph: Cfg = control_flow(after)
        values = Values(after, graph, ISA)
        given = [after.get(i, at) for at in sources(row)]
        a, b, c = (*given, 0, 0)[:3]
        fits = legality.takes(after, row.number, a, b, c)
        made = values.make(i, row.number, after.mods[i], len(given), a, b, c)
        now = [after.get(i, at) for at in sources(row)]
        if not made:
            assert not fits and now == given
            outcomes["no form"] += 1
            continue
        assert legality.takes(after, row.number, *(*now, 0, 0)[:3])
        assert Counter(now) == Counter(given)
        assert not fits or now == given, "an order that fits stays"
        outcomes["as it stands" if now == given else "another order"] += 1
        assert not (found := told(before, after)), f"{seed}: {found}"
    stays = row.regs(1, 0) == 2 or row.number in NEGATED  # another order of these is another predicate, which the caller sees to
    assert outcomes["as it stands"] and (stays or outcomes["another order"]), outcomes


def test_tables_and_plain_sources_are_both_tried() -> None:
    assert {row.number in TABLE for row in OPERATIONS} == {False, True} and len(OPERATIONS) >= 8


@pytest.mark.parametrize("row", COMMUTING, ids=lambda row: row.name)
def test_constants_that_change_places_keep_the_result(row: ops.Op) -> None:
    """Constants of registers go into operands, in another order of the sources where only that has a form."""
    changed = 0
    for seed in range(DRAWS // 3):
        before, _ = function(row, seed, True)
        after, _ = function(row, seed, True)
        changed += general_optimize_early(after, context(ARCH))
        assert not (found := told(before, after)), f"{seed}: {found}"
    assert changed
