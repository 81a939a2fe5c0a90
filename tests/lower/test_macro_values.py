"""What templates of macro operations compute: the values of spec/values, for random operands, modifiers and guards."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R
from oric.ir.interpret import Thread, difference
from oric.ir.legality import KIND_GPR, KIND_IMM, legality_of
from oric.ir.optable import OPS
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import verify
from oric.lower.expand import PASSES
from oric_tables import macros, op, ops
from oric_tables.targets import TARGETS
from oric_tables.values import HAS_VALUE

from tests.ir.functions import context

# the value of what threads do together is that for a thread which runs by itself, and none of the machine's operations
VALUED = [ops.op(number) for number in macros.TEMPLATES if number in HAS_VALUE and not OPS.flags[number] & op.E_SIDE_EFFECT]
PASS_OF = {index: PASSES[name] for name, index in macros.EXPANSIONS.items()}
DRAWS, SEEDS = 60, 6


def takes_constants(row: ops.Op, arch: str, at: int) -> bool:
    """Whether a source of a macro may be a constant beside registers."""
    legality = legality_of(TARGETS[arch].isa_name)
    source = legality.source_at(row.number, at)
    if source < 0:
        return False
    key = sum((KIND_IMM if s == source else KIND_GPR) << 3 * s for s in range(legality.sources(row.number)))
    return legality.format_of(row.number, key, source) != 0


class Draw:
    """A function with one macro and stores of its results."""

    def __init__(self, row: ops.Op, arch: str, rng: random.Random) -> None:
        self.f: Function = read(f"entry test {arch} final_flow\nbix0:\n    EXIT\n", target=arch)
        self.row, self.arch, self.rng = row, arch, rng
        self.cursor = Cursor(self.f)
        self.cursor.at_start(0)
        self.constants = rng.random() < 0.5
        operands = [self._operand(at) for at in range(len(row.operands))]
        if rng.random() < 0.4:
            operands[0] = rng.choice([operands[0], *(o for o in operands[1:] if self._is_like(o, operands[0]))])
        mods = sum(rng.choice([*mod.values.values()]) << mod.shift for mod in row.mods.values())
        guard = self._predicate() if rng.random() < 0.3 else 0
        self._put(row.number, mods, guard, operands)
        for at, operand in enumerate(operands):
            if row.operands[at].writes and opd.is_register(operand):
                self._observe(operand)

    def _put(self, number: int, mods: int, guard: int, operands: list[int]) -> None:
        self.cursor.make(number, mods, guard)
        for operand in operands:
            self.cursor.put(operand)

    def _is_like(self, one: int, other: int) -> bool:
        if not opd.is_register(one) or opd.count_of(one) != opd.count_of(other):
            return False
        return self.f.is_predicate(one) == self.f.is_predicate(other)

    def _predicate(self) -> int:
        return opd.reg(self.f.new_reg(P)) ^ self.rng.choice([0, opd.NEGATE])

    def _register(self, words: int) -> int:
        return opd.reg(self.f.new_reg(R, words), 0, words)

    def _operand(self, at: int) -> int:
        rng, operand = self.rng, self.row.operands[at]
        if operand.kind == "pred":
            made = self._predicate()
            return opd.reg(opd.index_of(made)) if operand.writes else made
        if operand.kind == "imm":
            return self.f.imm(rng.randint(1, 31))
        words = self.row.regs(at, 0)
        if operand.writes or not self.constants or not takes_constants(self.row, self.arch, at):
            return self._register(words)
        number = rng.choice([1, 31, 32, 33, 63, 64, 65, rng.getrandbits(32), rng.getrandbits(32 * words)])
        return rng.choice([self.f.imm(number - (number >> 63 << 64)), opd.const_bank(0, 0x210), opd.RZ_OPERAND])

    def _observe(self, operand: int) -> None:
        if self.f.is_predicate(operand):
            word = self._register(1)
            self._put(op.SEL, 0, 0, [word, opd.RZ_OPERAND, self.f.imm(1), operand])
            operand = word
        address, count = self._register(2), opd.count_of(operand)
        for at in range(count):
            self._put(op.STG, 0, 0, [address, opd.imm(4 * at), opd.word(operand, at) if count > 1 else operand])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("row", VALUED, ids=lambda row: row.name)
def test_a_template_computes_the_value_of_its_macro(row: ops.Op, arch: str) -> None:
    rng = random.Random(f"{row.name} {arch}")
    for _ in range(DRAWS):
        f = Draw(row, arch, rng).f
        verify(f)
        text = write(f)
        before = [Thread(f, seed) for seed in range(SEEDS)]
        for thread in before:
            thread.run()
        assert PASS_OF[OPS.expansion[row.number]](f, context(arch))
        verify(f)
        for seed, thread in enumerate(before):
            after = Thread(f, seed)
            after.run()
            assert not (found := difference(thread, after)), f"{found}\n{text}\n{write(f)}"


def test_constants_and_overlaps_are_drawn() -> None:
    row = ops.op(op.SHR64)
    texts = [write(Draw(row, "sm_90", random.Random(seed)).f).splitlines() for seed in range(100)]
    lines = [next(line.strip() for line in text if "SHR64" in line) for text in texts]
    assert sum("c[0x0]" in line for line in lines) > 3 and sum(line.startswith("@") for line in lines) > 10
    assert any(line.endswith(", 0x20") for line in lines)
    assert any(line.split()[-3] == line.split()[-2] for line in lines)
