"""Operands, cursors, blocks, the verifier, module tables."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.vecs import vec
from mypy_extensions import i64
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R, signed64
from oric.ir.module import Module, Symbol
from oric.ir.read import read
from oric.ir.text import instructions_of
from oric.ir.verify import MalformedCode, verify
from oric_tables import op
from oric_tables.ori_operands import image_of

MASK64 = (1 << 64) - 1


@pytest.mark.row("R1-20", "R1-21")
def test_documented_words() -> None:
    word = opd.reg(3)
    assert word == 0x10000003
    assert (opd.type_of(word), word >> 20 & 0xFF, opd.index_of(word)) == (1, 0, 3)
    bank = opd.const_bank(0, 0x10)
    assert opd.type_of(bank) == 5 and bank >> 32 & 0x1000000
    assert opd.ABSOLUTE >> 32 == 0x4000000
    assert opd.NEGATE == 1 << 31


@pytest.mark.row("R1-20", "R4-24")
@given(st.integers(0, opd.INDEX), st.integers(0, 255), st.integers(1, 256), st.booleans())
def test_register_fields_round_trip(index: int, first: int, count: int, negated: bool) -> None:
    word = opd.reg(index, first, count) ^ (opd.NEGATE if negated else 0)
    assert opd.type_of(word) == opd.REG
    assert opd.index_of(word) == index
    assert opd.first_of(word) == first
    assert opd.count_of(word) == count
    assert bool(word & opd.NEGATE) == negated
    assert bool(image_of(word) & 1 << 24) == (count > 1)


@given(st.integers(0, 17), st.integers(0, 0xFFFF))
def test_constant_fields_round_trip(bank: int, offset: int) -> None:
    word = opd.const_bank(bank, offset)
    assert (opd.aux_of(word), opd.index_of(word)) == (bank, offset)


@pytest.mark.row("R4-25")
def test_immediates() -> None:
    f = Function("f", "sm_90")
    values = [0, 1, 0xFFFFF, 0x100000, 0xFFFFFFFF, -1, -5, 1 << 63, 0x100000]
    assert [f.imm_value(f.imm(signed64(v))) & MASK64 for v in values] == [v & MASK64 for v in values]
    assert len(f.immediates) == 5
    with pytest.raises(ValueError, match="does not fit"):
        opd.imm(1 << 20)


def test_sentinels_are_no_registers() -> None:
    f = Function("f", "sm_90")
    ids = [f.new_reg(R) for _ in range(1100)]
    assert not {opd.PT, opd.RZ} & set(ids)
    assert all(f.reg_size[i] == 1 for i in ids)
    assert (f.reg_size[opd.PT], f.reg_size[opd.RZ], f.words) == (0, 0, 1100)


@pytest.mark.row("R1-19")
def test_list_operations_keep_the_links() -> None:
    rng = random.Random(3)
    f = Function("f", "sm_90")
    cursor = Cursor(f)
    block = cursor.new_block()
    model: list[int] = []
    seen: set[int] = set()
    for _ in range(600):
        choice = rng.random()
        at = rng.randrange(len(model)) if model else 0
        if not model or choice < 0.25:
            cursor.at_end(block)
            at = len(model)
        elif choice < 0.45:
            cursor.in_front(model[at])
        elif choice < 0.65:
            cursor.behind(model[at])
            at += 1
        else:
            gone = model.pop(at)
            cursor.remove(gone)
            assert f.block[gone] == NONE
            continue
        i = cursor.make(op.NOP)
        model.insert(at, i)
        assert i not in seen
        seen.add(i)
    assert instructions_of(f, block) == model
    third = len(model) // 3
    rest = cursor.split_behind(model[third])
    assert instructions_of(f, block) == model[: third + 1] and instructions_of(f, rest) == model[third + 1 :]
    assert {f.block[i] for i in model[third + 1 :]} == {rest}
    cursor.append_block(block, rest)
    assert instructions_of(f, block) == model and not instructions_of(f, rest)
    cursor.at_end(block)
    cursor.make(op.EXIT)
    cursor.reorder(vec[i64]([block]))
    verify(f)


def test_a_cursor_stays_where_it_is_when_its_instruction_goes() -> None:
    f = read("bix0:\n    MOV R1, 0x1\n    MOV R2, 0x2\n    EXIT\n")
    cursor = Cursor(f)
    cursor.in_front(1)
    cursor.remove(1)
    made = cursor.make(op.NOP)
    assert instructions_of(f, 0) == [0, made, 2]


def test_operands_go_to_the_instruction_that_was_made_last() -> None:
    f = read("bix0:\n    MOV R1, 0x1\n    EXIT\n")
    cursor = Cursor(f)
    cursor.in_front(0)
    cursor.make1(op.NOP, opd.reg(1))
    cursor.rewrite(2, op.NOP, 0, 2)
    cursor.rewrite(0, op.IADD3, 0, 4)
    assert [f.get(0, at) for at in range(5)] == [opd.reg(1), opd.imm(1), opd.NO_OPERAND, opd.NO_OPERAND, 0]
    with pytest.raises(IndexError):
        f.set(0, 4, opd.imm(1))
    with pytest.raises(IndexError):
        cursor.put(opd.imm(1))


@pytest.mark.row("R1-07")
def test_reorder_renames_everything() -> None:
    f = read("""
        table 0 offset=0x0 bix2 bix1
        bix0:
            @P1 BRA bix2
        bix1:
            BRA bix0
        bix2:
            BRX R2:2, 0x0
    """)
    Cursor(f).reorder(vec[i64]([0, 2, 1]))
    assert f.get(f.tail[0], 0) == opd.label(1)
    assert [[f.successor(b, at) for at in range(f.succ_count[b])] for b in range(3)] == [[1, 2], [1, 2], [0]]
    assert f.attributes.jump_tables[0].targets == [1, 2]
    assert [[f.block[i] for i in instructions_of(f, b)] for b in range(3)] == [[0], [1], [2]]


def _append(f: Function, b: int, number: int, *operands: int) -> None:
    cursor = Cursor(f)
    cursor.at_end(b)
    cursor.make(number)
    for operand in operands:
        cursor.put(operand)


def _branch_on(f: Function) -> None:
    _append(f, 1, op.BRA, opd.label(0))


def _exit_first(f: Function) -> None:
    cursor = Cursor(f)
    cursor.at_start(0)
    cursor.make(op.EXIT)


def _table_that_is_not_there(f: Function) -> None:
    cursor = Cursor(f)
    cursor.remove(3)
    cursor.at_end(2)
    cursor.make2(op.BRX, opd.reg(10, 0, 2), opd.imm(0))


Break = Callable[[Function], object]


def _place(array: str, at: int, value: int) -> Break:
    """Writes one number of an array."""

    def change(f: Function) -> None:
        getattr(f, array)[at] = value

    return change


def _operand(at: int, operand: int) -> Break:
    """Gives the sum another operand."""
    return lambda f: f.set(0, at, operand)


@pytest.mark.row("R1-19", "R2-18")
@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (_place("prev", 1, NONE), "bix0: broken link: @P9 BRA bix2"),
        (_place("next", 0, 99), "bix0: broken link"),
        (_place("block", 2, 0), "bix1: broken link: MOV"),
        (_place("tail", 0, 0), "bix0: the tail is not the last instruction"),
        (_place("succ", 0, 7), "edge to block 7, which does not exist"),
        (_place("succ", 1, 2), "an edge is listed twice"),
        (_place("count", 0, 3), "operand Rc is missing"),
        (lambda f: Cursor(f).rewrite(0, op.IADD3, 0, 13), "13 operands, it takes"),
        (_operand(1, opd.reg(999)), "operand Ra: there is no register 999"),
        (_operand(1, opd.reg(opd.PT)), "RZ and PT are mixed up"),
        (_operand(1, opd.reg(9)), "register 9 is of the wrong file"),
        (_operand(1, opd.reg(1, 1)), "word 1 of register 1, which has 1"),
        (_operand(1, opd.reg(10, 1, 2)), "word 2 of register 10, which has 2"),
        (_operand(1, opd.NO_OPERAND), "operand Ra: it cannot be left out"),
        (_operand(1, opd.pool(5)), "there is no such immediate"),
        (_operand(0, opd.imm(3)), r"immediate\) does not fit a slot for gpr \(R/UR"),
        (_place("op", 0, 0xFFF), "no operation has the number 4095"),
        (_place("guard", 1, opd.reg(1)), "guard: register 1 is of the wrong file"),
        (_place("guard", 1, opd.imm(1)), "guard: it is no register"),
        (lambda f: f.set(1, 0, opd.label(9)), "there is no such block"),
        (lambda f: Cursor(f).remove(3), "bix2: control runs off the end"),
        (_branch_on, r"bix1: edges to \[2\], but the code goes elsewhere"),
        (_exit_first, "bix0: control flow that is not last in its block: EXIT"),
        (_table_that_is_not_there, "there is no jump table 0"),
    ],
)  # fmt: skip
def test_verifier_names_what_is_wrong(break_it: Break, message: str) -> None:
    f = read("""
        entry test sm_90 final_flow
        reg R10:2
        bix0:
            IADD3 R1, R2, R3, R4
            @P9 BRA bix2
        bix1:
            MOV R2, 0x5
        bix2:
            EXIT
    """)
    verify(f)
    break_it(f)
    with pytest.raises(MalformedCode, match=message) as caught:
        verify(f, "a test")
    assert str(caught.value).startswith("malformed Ori in test after a test:\n  bix")


def test_an_empty_function_and_many_problems() -> None:
    with pytest.raises(MalformedCode, match="the function has no blocks"):
        verify(Function("f", "sm_90"))
    f = read("bix0:\n" + "    MOV R1, R2\n" * 50 + "    EXIT\n")
    for i in range(50):
        f.set(i, 0, opd.reg(99))
    with pytest.raises(MalformedCode) as caught:
        verify(f)
    assert len(caught.value.problems) == 20


@pytest.mark.row("R3-03", "R3-04")
def test_module_of_300_functions() -> None:
    module = Module("sm_90")
    for number in range(300):
        module.add_function(Function(f"kernel{number}", "sm_90"))
    for number in range(300):
        found = module.function(f"kernel{number}")
        assert found is module.functions[number] and module.function_names[number] == f"kernel{number}"
    assert module.function("kernel300") is None
    with pytest.raises(ValueError, match="twice"):
        module.add_function(Function("kernel7", "sm_90"))
    long = "k" * 5000
    module.add_function(Function(long, "sm_90"))
    assert module.function(long) is not None


def test_constant_banks() -> None:
    module = Module("sm_90")
    a = module.add_symbol(Symbol("a", "const", 5, 1))
    b = module.add_symbol(Symbol("b", "const", 16, 16))
    c = module.add_symbol(Symbol("c", "global", 4, 4))
    assert module.constant_offset(b) == 0
    assert module.constant_offset(a) == 16
    module.place_constants()
    assert module.constant_size == 21
    assert [module.address_slot(c), module.address_slot(a), module.address_slot(c)] == [0, 8, 0]
    attributes = Function("f", "sm_90").attributes
    offsets = [attributes.reserve_shared(*request) for request in ((1, 5, 1), (2, 8, 8), (1, 5, 1))]
    assert offsets == [0, 8, 0]
    assert (attributes.static_shared, attributes.shared_align) == (16, 8)


@pytest.mark.parametrize(("first", "count"), [(0, 1), (3, 2), (0, 31), (0, 32), (1, 32), (0, 63), (0, 64), (64, 64), (0, 128)])
def test_words_as_bits(first: int, count: int) -> None:
    """Accumulators of warp groups have 128."""
    assert opd.bits_of(opd.reg(7, first, count)) == ((1 << count) - 1) << first
    assert opd.all_bits(count) == (1 << count) - 1
