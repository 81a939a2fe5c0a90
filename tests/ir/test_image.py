"""The memory image of a function: documented offsets, round trips, results read back."""

from __future__ import annotations

import random
import struct

import pytest
from oric.ir import operand as opd
from oric.ir.code import AUX_VOLATILE, R2, CodeObject, Instruction, P, R
from oric.ir.flatten import INSTRUCTION_SIZE, flatten, layout
from oric_tables import ops, structs
from oric_tables._native import ffi, lib

from tests.ir.oritext import parse


def test_worked_example() -> None:
    code = CodeObject("f", "sm_90")
    for _ in range(4):
        code.new_reg(R)
    node = code.append(code.new_block(), Instruction(ops.FADD, [opd.reg(3), opd.reg(1), opd.reg(2)]))
    image = bytes(flatten(code).instructions)
    assert len(image) == 296
    expected = {16: node.id, 72: 0x0C, 80: 3, 84: 0x10000003, 88: 0, 92: 0x10000001, 96: 0, 100: 0x10000002, 104: 0}
    assert {at: struct.unpack_from("<I", image, at)[0] for at in expected} == expected
    assert struct.unpack_from("<qq", image, 0) == (-1, -1)


def test_sizes() -> None:
    assert (structs.SIZES["oric_block"], structs.SIZES["oric_instruction"], structs.SIZES["oric_register"]) == (40, 296, 160)
    for name, size in structs.SIZES.items():
        assert ffi.sizeof(name) == size
        for field, (offset, _) in structs.FIELDS[name].items():
            assert ffi.offsetof(name, field) == offset


def test_c_sees_what_was_written() -> None:
    code = parse("""
        bix0:
            ISETP{cmp=GE} P5, R1, 0x12345678
            @!P5 BRA bix2
        bix1:
            IADD3 R2, R1, c[0x0][0x210], |R3|
        bix2:
            EXIT
    """)
    image = flatten(code, isa=1)
    c = image.c
    assert (c.instruction_count, c.block_count, c.isa) == (4, 3, 1)
    assert [(c.blocks[i].first, c.blocks[i].count, c.blocks[i].bix) for i in range(3)] == [(0, 2, 0), (2, 1, 1), (3, 1, 2)]
    assert [c.succs[i] for i in range(c.succ_count)] == [2, 1, 2]
    first, branch, add = (c.instructions[i] for i in range(3))
    assert first.number == ops.NUMBER[ops.ISETP] and first.mods == ops.op(ops.ISETP).pack(cmp="GE")
    assert c.immediates[first.operands[4] & 0xFFFFF] == 0x12345678
    assert branch.guard == opd.reg(5) | opd.NEGATE and branch.prev == 0 and branch.next == -1
    assert add.operands[5] & 0x1000000 and add.operands[4] >> 28 & 7 == opd.SYMBOL
    assert add.operands[7] & 0x4000000
    assert (c.registers[5].reg_type, c.registers[1].reg_type, c.registers[1].physical_reg) == (P, R, -1)


def test_operands_beyond_the_ninth_overflow() -> None:
    code = CodeObject("f", "sm_90")
    for _ in range(12):
        code.new_reg(R2, 2)
    operands = [opd.reg(i, 0, 1) for i in range(12)]
    code.append(code.new_block(), Instruction(ops.NOP, operands))
    image = flatten(code)
    node = image.c.instructions[0]
    assert node.operand_count == 12
    inline = [node.operands[2 * i] | node.operands[2 * i + 1] << 32 for i in range(9)]
    assert inline + [image.c.overflow[node.overflow + i] for i in range(3)] == operands


def test_results_come_back() -> None:
    rng = random.Random(7)
    code = parse("bix0:\n" + "MOV R1, R0\n" * 5 + "BRA bix1\nbix1:\n" + "MOV R0, R1\n" * 4 + "EXIT")
    image = flatten(code)
    order = [0, 1, 2, 3, 4, 5]
    rng.shuffle(order)
    expected: list[Instruction | None] = [None] * 11
    for at in range(11):
        place = order[at] if at < 6 else at
        image.c.instructions[at].position = place
        image.c.instructions[at].control = 100 + at
        expected[place] = image.order[at]
    image.c.registers[1].physical_reg = 17
    image.read_control()
    image.read_order()
    image.read_physical()
    assert list(code.instructions()) == expected
    assert [n.control for n in image.order] == list(range(100, 111))
    assert code.regs[1] is not None and code.regs[1].physical_reg == 17
    for block in code.blocks:
        nodes = list(block)
        assert nodes[0] is block.head and nodes[-1] is block.tail
        assert [n.prev for n in nodes] == [None, *nodes[:-1]]
    image.c.instructions[0].position = image.c.instructions[1].position
    with pytest.raises(ValueError, match="taken"):
        image.read_order()


def test_layout_refuses_disorder() -> None:
    with pytest.raises(ValueError, match="out of order"):
        layout("oric_block", ["bix", "head"])
    assert layout("oric_instruction", ["id"], full=True).size == INSTRUCTION_SIZE


def test_flags_of_instructions_are_the_same_in_python_and_c() -> None:
    assert AUX_VOLATILE == lib.ORIC_AUX_VOLATILE
