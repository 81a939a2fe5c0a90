"""General optimization: single steps as text, and random programs that must compute the same afterwards."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.code import R2, CodeObject, Instruction, P, R
from oric.ir.dump import dump, format_instruction
from oric.ir.verify import verify
from oric.phases.cleanup import remove_dead_code
from oric.phases.control import analyze_control_flow, simplify_control_flow
from oric.phases.optimize import general_optimize_early, value_numbering
from oric.phases.predication import predicate_short_blocks
from oric_tables import ops

from tests.ir.oritext import context, parse
from tests.phases.interp import Thread

CONSTANTS = {(0, at): 0x1000_0000 * (at // 4 % 9) + 0x11 * at for at in range(0, 0x400, 4)}


def optimized(text: str, arch: str = "sm_90") -> list[str]:
    code = parse(text, arch)
    before = Thread(code, CONSTANTS).run()
    general_optimize_early(code, context(arch))
    verify(code, final_flow=True)
    assert Thread(code, CONSTANTS).run() == before
    return [format_instruction(code, node) for node in code.instructions()]


def test_constants_go_into_operands() -> None:
    assert optimized("""
    bix0:
        S2R R0, SR33
        MOV R1, c[0x0][0x210]
        MOV R2, 0x7
        IADD3 R3, R1, R0, RZ
        IADD3 R4, R0, -R2, RZ
        ISETP{cmp=LT} P9, R1, R0
        SEL R5, R3, R4, P9
        STS R0, 0x0, R5
        EXIT
    """) == [
        "S2R R0, SR33", "IADD3 R3, R0, c[0x0][0x210], RZ", "IADD3 R4, R0, 0xfffffff9, RZ",
        "ISETP{cmp=GT} P9, R0, c[0x0][0x210]", "SEL R5, R3, R4, P9", "STS R0, 0x0, R5", "EXIT",
    ]  # fmt: skip


def test_one_constant_per_instruction() -> None:
    assert optimized("""
    bix0:
        MOV R1, c[0x0][0x210]
        MOV R2, 0x7
        IADD3 R3, R1, R2, RZ
        STS RZ, 0x0, R3
        EXIT
    """)[:2] == ["MOV R2, 0x7", "IADD3 R3, R2, c[0x0][0x210], RZ"]


def test_multiply_add_and_sums() -> None:
    assert optimized("""
    bix0:
        S2R R0, SR33
        S2R R1, SR37
        IMAD R2, R1, c[0x0][0x0], RZ
        IADD3 R3, R2, R0, RZ
        IADD3 R4, R3, 0x10, RZ
        IADD3 R5, R4, 0xfffffff0, RZ
        STS R5, 0x0, R3
        EXIT
    """)[2:] == ["IMAD R3, R1, c[0x0][0x0], R0", "STS R3, 0x0, R3", "EXIT"]


def test_address_of_an_element() -> None:
    text = """
    bix0:
        S2R R0, SR33
        MOV R2.0, c[0x0][0x210]
        MOV R2.1, c[0x0][0x214]
        MOV R4.0, c[0x0][0x218]
        MOV R4.1, c[0x0][0x21c]
        MOV R5.0, R2.0
        MOV R5.1, R2.1
        IMAD.WIDE R6:2, R0, 0x4, RZ
        IADD3 R8.0, R5.0, R6.0, RZ, P10
        IADD3.X R8.1, R5.1, R6.1, RZ, PT, PT, P10, !PT
        IADD3 R9.0, R4.0, R6.0, RZ, P11
        IADD3.X R9.1, R4.1, R6.1, RZ, PT, PT, P11, !PT
        STG R8:2, 0x0, R0
        STG R9:2, 0x8, R0
        EXIT
    """
    lines = optimized(text)
    assert lines[0] == "MOV R12, 0x4"
    assert lines[2:4] == ["IMAD.WIDE R8:2, R0, R12, c[0x0][0x210]", "IMAD.WIDE R9:2, R0, R12, c[0x0][0x218]"]
    assert len(lines) == 7


def test_a_product_whose_upper_half_was_changed_is_no_product() -> None:
    lines = optimized("""
    bix0:
        S2R R0, SR33
        MOV R2.0, c[0x0][0x210]
        MOV R2.1, c[0x0][0x214]
        IMAD.WIDE R6:2, R0, 0x4, RZ
        IADD3 R6.1, R6.1, R0, RZ
        IADD3 R8.0, R6.0, R2.0, RZ, P10
        IADD3.X R8.1, R6.1, R2.1, RZ, PT, PT, P10, !PT
        STG R8:2, 0x0, R0
        EXIT
    """)
    assert any(line.startswith("IADD3.X") for line in lines)


def test_offsets() -> None:
    lines = optimized("""
    bix0:
        S2R R0, SR33
        IADD3 R1, R0, 0x100, RZ
        IADD3 R2, R0, 0xfffffffc, RZ
        MOV R3, 0x400
        IADD3 R4.0, R5.0, 0x1000, RZ, P10
        IADD3.X R4.1, R5.1, RZ, RZ, PT, PT, P10, !PT
        IADD3 R6.0, R5.0, 0xfffffff8, RZ, P11
        IADD3.X R6.1, R5.1, 0xffffffff, RZ, PT, PT, P11, !PT
        STS R1, 0x8, R0
        STS R2, 0x0, R0
        STS R3, 0x4, R0
        STG R4:2, 0x10, R0
        STG R6:2, 0x0, R0
        EXIT
    """)
    assert lines[1:] == [
        "STS R0, 0x108, R0", "STS R0, 0xfffffffffffffffc, R0", "STS RZ, 0x404, R0", "STG R5:2, 0x1010, R0",
        "STG R5:2, 0xfffffffffffffff8, R0", "EXIT",
    ]  # fmt: skip


def test_offsets_that_do_not_fit_stay() -> None:
    lines = optimized("""
    bix0:
        S2R R0, SR33
        IADD3 R1, R0, 0x7ffff0, RZ
        STS R1, 0x8, R0
        STS R1, 0x10, R0
        EXIT
    """)
    assert lines[1:4] == ["IADD3 R1, R0, 0x7ffff0, RZ", "STS R0, 0x7ffff8, R0", "STS R1, 0x10, R0"]


def test_predicates_of_negations() -> None:
    lines = optimized("""
    bix0:
        S2R R0, SR33
        ISETP{cmp=EQ} P3, R0, 0x1
        PLOP3{lut=0xf0} P4, !PT, PT, PT
        PLOP3{lut=0x3c} P5, P3, P4, PT
        PLOP3{lut=0x0f} P6, P5, PT, PT
        @P6 STS R0, 0x0, R0
        EXIT
    """)
    assert lines == ["S2R R0, SR33", "ISETP{cmp=EQ} P3, R0, 0x1", "@!P3 STS R0, 0x0, R0", "EXIT"]


def test_logic_functions_merge() -> None:
    lines = optimized("""
    bix0:
        S2R R0, SR33
        S2R R1, SR37
        LOP3{lut=0xc0} R2, R0, 0xff00, RZ
        LOP3{lut=0xfc} R3, R2, R1, RZ
        LOP3{lut=0x3c} R4, R3, R3, RZ
        IADD3 R5, R3, R4, RZ
        STS R0, 0x0, R5
        EXIT
    """)
    assert lines[2:] == ["LOP3{lut=0xea} R3, R1, 0xff00, R0", "STS R0, 0x0, R3", "EXIT"] or len(lines) == 5


def test_a_loop_carried_copy_is_left_alone() -> None:
    code = parse("""
    bix0:
        MOV R0, 0x0
        MOV R1, 0x5
    bix1:
        MOV R2, R0
        IADD3 R0, R0, 0x1, RZ
        STS R2, 0x0, R1
        ISETP{cmp=LT} P4, R0, 0x4
        MOV R1, R2
        @P4 BRA bix1
    bix2:
        EXIT
    """)
    before = Thread(code, CONSTANTS).run()
    general_optimize_early(code, context())
    assert Thread(code, CONSTANTS).run() == before
    assert "MOV R2, R0" in dump(code)


def test_equal_computations_are_made_once() -> None:
    lines = optimized(
        """
    bix0:
        S2R R0, SR33
        S2R R1, SR33
        IMAD R2, R0, R0, R0
        IMAD R3, R1, R0, R1
        CS2R.32 R5, SR80
        CS2R.32 R6, SR80
        STS R2, 0x0, R3
        EXIT
    """.replace("CS2R.32 R5, SR80", "").replace("CS2R.32 R6, SR80", "")
    )
    assert lines == ["S2R R0, SR33", "IMAD R2, R0, R0, R0", "STS R2, 0x0, R2", "EXIT"]


def test_clocks_are_read_every_time() -> None:
    code = parse("""
    bix0:
        CS2R.32 R5, SR80
        CS2R.32 R6, SR80
        IADD3 R7, R6, -R5, RZ
        STS RZ, 0x0, R7
        EXIT
    """)
    general_optimize_early(code, context())
    assert [n.op for n in code.instructions()].count(ops.CS2R_32) == 2


def test_short_blocks_are_predicated() -> None:
    code = parse("""
    bix0:
        S2R R0, SR33
        ISETP{cmp=GE} P1, R0, 0x10
        MOV R5, 0x1
        @P1 BRA bix2
    bix1:
        IMAD R2, R0, R0, R0
        IADD3 R3, R2, 0x1, RZ
        IADD3 R5, R5, R3, RZ
        STS R0, 0x0, R3
        BRA bix3
    bix2:
        MOV R5, 0x9
    bix3:
        STS R0, 0x4, R5
        EXIT
    """)
    before = Thread(code, CONSTANTS).run()
    predicate_short_blocks(code, context())
    verify(code, final_flow=True)
    assert Thread(code, CONSTANTS).run() == before
    lines = [format_instruction(code, node) for node in code.instructions()][3:-2]
    assert lines == [
        "@P1 MOV R5, 0x9", "IMAD R2, R0, R0, R0", "IADD3 R3, R2, 0x1, RZ", "@!P1 IADD3 R5, R5, R3, RZ", "@!P1 STS R0, 0x0, R3",
    ]  # fmt: skip


def test_a_counter_of_a_conditional_block_counts_its_runs() -> None:
    code = parse("""
    bix0:
        MOV R0, 0x0
        MOV R4, 0x0
    bix1:
        IADD3 R0, R0, 0x1, RZ
        LOP3{lut=0xc0} R1, R0, 0x1, RZ
        ISETP{cmp=EQ} P2, R1, RZ
        ISETP{cmp=LT} P3, R0, 0x9
        @P2 BRA bix3
    bix2:
        IADD3 R6, R6, 0x1, RZ
        STS R0, 0x0, R6
    bix3:
        @P3 BRA bix1
    bix4:
        EXIT
    """)
    before = Thread(code, CONSTANTS).run()
    predicate_short_blocks(code, context())
    assert Thread(code, CONSTANTS).run() == before and len(before) == 5
    assert "@!P2 IADD3 R6" in dump(code)


class Generator:
    """Random programs over a few registers with several definitions and many with one."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.code = CodeObject("random", "sm_90")
        self.many = [self.code.new_reg(R) for _ in range(3)]
        self.pairs = [self.code.new_reg(R2, 2) for _ in range(2)]
        self.predicates = [self.code.new_reg(P) for _ in range(3)]
        self.ready: list[int] = []

    def make(self) -> CodeObject:
        rng, code = self.rng, self.code
        n = rng.randint(1, 7)
        for number in range(n):
            block = code.new_block()
            if number == 0:
                for register in self.many:
                    code.append(block, Instruction(ops.MOV, [opd.reg(register), code.imm(rng.choice([0, 1, 7, 0x80000000]))]))
                for register in self.pairs:
                    for part in (0, 1):
                        word = opd.const_bank(0, 0x210 + 8 * register % 32 + 4 * part)
                        code.append(block, Instruction(ops.MOV, [opd.reg(register, part), word]))
                for register in self.predicates:
                    code.append(block, Instruction(ops.ISETP, [opd.reg(register), opd.reg(self.many[0]), code.imm(5)]))
            for _ in range(rng.randint(1, 9)):
                self.step(block)
            if number == n - 1:
                code.append(block, Instruction(ops.EXIT, []))
            elif rng.random() < 0.6:
                target = rng.randint(1, n - 1)
                guard = opd.reg(rng.choice(self.predicates)) if target <= number or rng.random() < 0.8 else 0
                code.append(block, Instruction(ops.BRA, [opd.label(target)], 0, guard))
        return code

    def source(self, constants: bool = True) -> int:
        rng = self.rng
        kind = rng.random()
        if constants and kind < 0.2:
            return self.code.imm(rng.choice([0, 1, 4, 0xFFFFFFFF, 0x3210, 0x80000000, rng.getrandbits(32)]))
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
        operand = opd.reg(self.code.new_reg(R))
        self.ready.append(operand)
        return operand

    def step(self, block) -> None:  # type: ignore[no-untyped-def]
        rng, code = self.rng, self.code
        plain = [self.source(False), self.source(True), self.source(False)]
        guard = opd.reg(rng.choice(self.predicates)) ^ (opd.NEGATE * (rng.random() < 0.5)) if rng.random() < 0.12 else 0
        kind = rng.randrange(11)

        def put(op: int, operands: list[int], **mods: str | int) -> None:
            code.append(block, Instruction(op, operands, ops.op(op).pack(**mods), guard))

        if kind <= 1:
            dest = self.dest()
            put(ops.MOV, [dest, self.source()])
        elif kind <= 3:
            signs = [s ^ opd.NEGATE if rng.random() < 0.2 and opd.is_reg(s) else s for s in plain]
            put(ops.IADD3, [self.dest(), *signs])
        elif kind == 4:
            put(ops.IMAD, [self.dest(), *plain])
        elif kind == 5:
            put(ops.LOP3, [self.dest(), *plain], lut=rng.choice([0xC0, 0xFC, 0x3C, 0x0F, 0xEA, 0xAA, rng.getrandbits(8)]))
        elif kind == 6:
            cmp = rng.choice(["LT", "EQ", "LE", "GT", "NE", "GE"])
            put(ops.ISETP, [opd.reg(rng.choice(self.predicates)), *plain[:2]], cmp=cmp)
        elif kind == 7:
            sources = [opd.reg(rng.choice(self.predicates)) ^ (opd.NEGATE * (rng.random() < 0.3)) for _ in range(3)]
            sources = [rng.choice([opd.PT_OPERAND, opd.NOT_PT_OPERAND, s, s]) for s in sources]
            lut = rng.choice([0xF0, 0x0F, 0x3C, 0xC0, rng.getrandbits(8)])
            put(ops.PLOP3, [opd.reg(rng.choice(self.predicates)), *sources], lut=lut)
        elif kind == 8:
            put(ops.STS, [plain[0], code.imm(rng.choice([0, 8, 0xFFFFFFFC])), plain[2]])
        elif kind == 9:
            self.wide(block)
        else:
            put(ops.SEL, [self.dest(), *plain[:2], opd.reg(rng.choice(self.predicates))])

    def wide(self, block) -> None:  # type: ignore[no-untyped-def]
        rng, code = self.rng, self.code
        product, total, carry = code.new_reg(R2, 2), code.new_reg(R2, 2), code.new_reg(P)
        base = rng.choice(self.pairs)
        if rng.random() < 0.3:
            total = base
        put = lambda op, operands: code.append(block, Instruction(op, operands))  # noqa: E731
        if rng.random() < 0.6:
            put(ops.IMAD_WIDE, [opd.reg(product, 0, 1), self.source(False), code.imm(rng.choice([4, 8, 12])), opd.RZ_OPERAND])
            other = [opd.reg(product, part) for part in (0, 1)]
        else:
            step = rng.choice([4, 0x1000, 0x7FFFFF, -8, 0])
            other = [code.imm(step & 0xFFFFFFFF), code.imm(step >> 63 & 0xFFFFFFFF)]
        put(ops.IADD3, [opd.reg(total, 0), opd.reg(base, 0), other[0], opd.RZ_OPERAND, opd.reg(carry)])
        put(ops.IADD3_X, [opd.reg(total, 1), opd.reg(base, 1), other[1], opd.RZ_OPERAND, opd.PT_OPERAND, opd.PT_OPERAND,
                          opd.reg(carry), opd.NOT_PT_OPERAND])  # fmt: skip
        put(ops.STG, [opd.reg(total, 0, 1), code.imm(rng.choice([0, 4])), self.source(False)])


@pytest.mark.parametrize("seed", range(600))
def test_random_programs_compute_the_same(seed: int) -> None:
    code = Generator(seed).make()
    analyze_control_flow(code, context())
    verify(code, final_flow=True)
    before = Thread(code, CONSTANTS).run()
    count = sum(1 for _ in code.instructions())
    text = dump(code)
    remove_dead_code(code, context())
    general_optimize_early(code, context())
    verify(code, final_flow=True)
    assert Thread(code, CONSTANTS).run()[:400] == before[:400], text + "\n----\n" + dump(code)
    simplify_control_flow(code, context())
    code.analyses["blocks_merged"] = True
    value_numbering(code, context())
    verify(code, final_flow=True)
    got = Thread(code, CONSTANTS).run(6000)
    assert got[: len(before)][:400] == before[:400], text + "\n----\n" + dump(code)
    predicate_short_blocks(code, context())
    verify(code, final_flow=True)
    got = Thread(code, CONSTANTS).run(6000)
    assert got[: len(before)][:400] == before[:400], text + "\n----\n" + dump(code)
    assert sum(1 for _ in code.instructions()) <= count + 3
