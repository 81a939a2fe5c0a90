"""General optimization: random programs that must compute the same afterwards. Single steps are cases in
``tests/ir/cases/optimize`` and ``predication``."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import R2, Function, P, R
from oric.ir.interpret import difference
from oric.ir.passes import PassFunction
from oric.ir.text import all_instructions, write
from oric.ir.verify import verify
from oric.lower.expand import expand_sums
from oric.phases.cleanup import remove_dead_code
from oric.phases.control import analyze_control_flow, set_control_flow_last, simplify_control_flow
from oric.phases.optimize import general_optimize_early, general_optimize_late, value_numbering
from oric.phases.predication import predicate_short_blocks
from oric_tables import op, ops

from tests import campaigns
from tests.ir.cases import all_cases
from tests.ir.functions import context
from tests.phases.ori import after, threads


@pytest.mark.parametrize("run", [remove_dead_code, set_control_flow_last], ids=lambda run: run.__name__)
def test_a_second_run_has_nothing_to_do(run: PassFunction) -> None:
    changed = 0
    for case in all_cases():
        if case.expected.startswith("error"):
            continue
        f = case.input()
        analyze_control_flow(f, context())
        changed += run(f, context())
        before = write(f)
        assert not run(f, context()) and write(f) == before, case.path
    assert changed


class Generator:
    """Random programs over a few registers with several definitions and many with one."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.f = Function("random", "sm_90")
        self.cursor = Cursor(self.f)
        self.many = [self.f.new_reg(R) for _ in range(3)]
        self.pairs = [self.f.new_reg(R2, 2) for _ in range(2)]
        self.predicates = [self.f.new_reg(P) for _ in range(3)]
        self.ready: list[int] = []

    def put(self, number: int, operands: list[int], guard: int = 0, **mods: str | int) -> None:
        self.cursor.make(number, ops.op(number).pack(**mods), guard)
        for operand in operands:
            self.cursor.put(operand)

    def make(self) -> Function:
        rng, f = self.rng, self.f
        n = rng.randint(1, 7)
        for number in range(n):
            self.cursor.at_end(self.cursor.new_block())
            if number == 0:
                for register in self.many:
                    self.put(op.MOV, [opd.reg(register), f.imm(rng.choice([0, 1, 7, 0x80000000]))])
                for register in self.pairs:
                    for part in (0, 1):
                        word = opd.const_bank(0, 0x210 + 8 * register % 32 + 4 * part)
                        self.put(op.MOV, [opd.reg(register, part), word])
                for register in self.predicates:
                    self.put(op.ISETP, [opd.reg(register), opd.reg(self.many[0]), f.imm(5)])
            for _ in range(rng.randint(1, 9)):
                self.step()
            if number == n - 1:
                self.put(op.EXIT, [])
            elif rng.random() < 0.6:
                target = rng.randint(1, n - 1)
                guard = opd.reg(rng.choice(self.predicates)) if target <= number or rng.random() < 0.8 else 0
                self.put(op.BRA, [opd.label(target)], guard)
        return f

    def source(self, constants: bool = True) -> int:
        rng = self.rng
        kind = rng.random()
        if constants and kind < 0.2:
            return self.f.imm(rng.choice([0, 1, 4, 0xFFFFFFFF, 0x3210, 0x80000000, rng.getrandbits(32)]))
        if constants and kind < 0.3:
            return opd.const_bank(0, 0x210 + 4 * rng.randrange(8))
        if kind < 0.4:
            return opd.RZ_OPERAND
        if kind < 0.65 or not self.ready:
            return opd.reg(rng.choice(self.many))
        if kind < 0.75:
            return opd.reg(rng.choice(self.pairs), rng.randint(0, 1))
        return rng.choice(self.ready)

    def dest(self) -> int:
        kind = self.rng.random()
        if kind < 0.25:
            return opd.reg(self.rng.choice(self.many))
        if kind < 0.35:
            return opd.reg(self.rng.choice(self.pairs), self.rng.randint(0, 1))
        operand = opd.reg(self.f.new_reg(R))
        self.ready.append(operand)
        return operand

    def step(self) -> None:
        rng, f = self.rng, self.f
        plain = [self.source(False), self.source(True), self.source(False)]
        guard = opd.reg(rng.choice(self.predicates)) ^ (opd.NEGATE * (rng.random() < 0.5)) if rng.random() < 0.12 else 0
        kind = rng.randrange(11)

        def put(number: int, operands: list[int], **mods: str | int) -> None:
            self.put(number, operands, guard, **mods)

        if kind <= 1:
            dest = self.dest()
            put(op.MOV, [dest, self.source()])
        elif kind <= 3:
            signs = [s ^ opd.NEGATE if rng.random() < 0.2 and opd.is_register(s) else s for s in plain]
            put(op.IADD3, [self.dest(), *signs])
        elif kind == 4:
            put(op.IMAD, [self.dest(), *plain])
        elif kind == 5:
            put(op.LOP3, [self.dest(), *plain], lut=rng.choice([0xC0, 0xFC, 0x3C, 0x0F, 0xEA, 0xAA, rng.getrandbits(8)]))
        elif kind == 6:
            cmp = rng.choice(["LT", "EQ", "LE", "GT", "NE", "GE"])
            put(op.ISETP, [opd.reg(rng.choice(self.predicates)), *plain[:2]], cmp=cmp)
        elif kind == 7:
            sources = [opd.reg(rng.choice(self.predicates)) ^ (opd.NEGATE * (rng.random() < 0.3)) for _ in range(3)]
            sources = [rng.choice([opd.PT_OPERAND, opd.NOT_PT_OPERAND, s, s]) for s in sources]
            lut = rng.choice([0xF0, 0x0F, 0x3C, 0xC0, rng.getrandbits(8)])
            put(op.PLOP3, [opd.reg(rng.choice(self.predicates)), *sources], lut=lut)
        elif kind == 8:
            put(op.STS, [plain[0], f.imm(rng.choice([0, 8, 0xFFFFFFFC])), plain[2]])
        elif kind == 9:
            self.wide()
        else:
            put(op.SEL, [self.dest(), *plain[:2], opd.reg(rng.choice(self.predicates))])

    def wide(self) -> None:
        rng, f = self.rng, self.f
        product, total = f.new_reg(R2, 2), f.new_reg(R2, 2)
        base = rng.choice(self.pairs)
        if rng.random() < 0.3:
            total = base
        put = self.put
        kind = rng.random()
        if kind < 0.4:
            put(op.IMAD_WIDE, [opd.reg(product, 0, 2), self.source(False), f.imm(rng.choice([4, 8, 12])), opd.RZ_OPERAND])
            other = opd.reg(product, 0, 2)
        elif kind < 0.7:
            put(
                rng.choice([op.SHL64, op.SHR64, op.SAR64, op.MUL64]),
                [opd.reg(product, 0, 2), opd.reg(base, 0, 2), f.imm(rng.choice([1, 3, 31, 32, 35, 63]))],
            )
            other = opd.reg(product, 0, 2)
        else:
            step = rng.choice([4, 0x1000, 0x7FFFFF, -8, 0, 0x123456789])
            other = f.imm(step) if step else opd.RZ_OPERAND
        put(rng.choice([op.ADD64, op.SUB64]), [opd.reg(total, 0, 2), opd.reg(base, 0, 2), other])
        put(op.STG, [opd.reg(total, 0, 2), f.imm(rng.choice([0, 4])), self.source(False)])


@pytest.mark.parametrize("seed", campaigns.seeds(600, first=40))
def test_random_programs_compute_the_same(seed: int) -> None:
    f = Generator(seed).make()
    analyze_control_flow(f, context())
    set_control_flow_last(f, context())
    verify(f)
    before = threads(f)
    count = len(all_instructions(f))
    text = write(f)
    remove_dead_code(f, context())
    general_optimize_early(f, context())
    verify(f)
    assert not any(map(difference, before, threads(f))), text + "\n----\n" + write(f)
    simplify_control_flow(f, context())
    f.merged = True
    value_numbering(f, context())
    verify(f)
    assert not any(map(difference, before, threads(f))), text + "\n----\n" + write(f)
    assert len(all_instructions(f)) <= count + 3
    expand_sums(f, context())
    general_optimize_late(f, context())
    verify(f)
    assert not any(map(difference, before, threads(f))), text + "\n----\n" + write(f)
    predicate_short_blocks(f, context())
    verify(f)
    assert not any(map(difference, before, threads(f))), text + "\n----\n" + write(f)


CROSSED = {
    "one_place_on": ("P500, R10, R11, P501", "P501, R10, R11, P502", 2),
    "one_place_back": ("P501, R10, R11, P502", "P500, R10, R11, P501", 2),
    "swapped": ("P500, R10, R11, P501", "P501, R10, R11, P500", 2),
    "the_same": ("P500, R10, R11, P501", "P500, R10, R11, P501", 1),
    "others": ("P500, R10, R11, P501", "P502, R10, R11, P503", 1),
    "one_of_them": ("P500, R10, R11, P501", "P502, R10, R11, P501", 2),
}


@pytest.mark.parametrize("compare", ["ISETP{cmp=LT}", "FSETP{cmp=LT}"])
@pytest.mark.parametrize(("first", "second", "left"), CROSSED.values(), ids=CROSSED)
def test_equal_comparisons_whose_results_change_places(first: str, second: str, left: int, compare: str) -> None:
    """The one that is written first is what the other one would be copied from; what is written again at once goes."""
    lines = ["    ISETP{cmp=GT} P502, R10, 0x5", "    ISETP{cmp=GT} P503, R11, 0x5"]
    lines += [f"    {compare} {first}", f"    {compare} {second}"]
    for n in range(500, 504):
        lines += [f"    SEL R{20 + n - 500}, R10, R11, P{n}", f"    STG R2:2, {hex(0x100 + 4 * (n - 500))}, R{20 + n - 500}"]
    found = after(general_optimize_early, lines)
    assert sum("cmp=LT" in line for line in found) == left
