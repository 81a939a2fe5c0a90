"""Operands, instruction lists, blocks, module tables."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.ir import operand as opd
from oric.ir.code import RESERVED_IDS, CodeObject, Instruction, R
from oric.ir.module import Module, Symbol
from oric.ir.verify import MalformedCode, verify
from oric_tables import ops

from tests.ir.oritext import parse


def test_documented_words() -> None:
    word = opd.reg(3)
    assert word == 0x10000003
    assert (opd.type_of(word), word >> 20 & 0xFF, opd.index_of(word)) == (1, 0, 3)
    bank = opd.const_bank(0, 0x10)
    assert opd.type_of(bank) == 5 and bank >> 32 & 0x1000000
    assert opd.ABSOLUTE >> 32 == 0x4000000
    assert opd.NEGATE == 1 << 31


@given(st.integers(0, opd.INDEX_MASK), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_register_fields_round_trip(index: int, component: int, width: int, negated: bool) -> None:
    word = opd.reg(index, component, width) ^ (opd.NEGATE if negated else 0)
    assert opd.type_of(word) == opd.REG
    assert opd.index_of(word) == index
    assert opd.component_of(word) == component
    assert word >> opd.WIDTH_SHIFT & 3 == width
    assert bool(word & opd.NEGATE) == negated
    assert bool(word & opd.WIDE) == bool(width)


@given(st.integers(0, 17), st.integers(0, 0xFFFF))
def test_constant_fields_round_trip(bank: int, offset: int) -> None:
    word = opd.const_bank(bank, offset)
    assert (opd.aux_of(word), opd.index_of(word)) == (bank, offset)


def test_immediates() -> None:
    code = CodeObject("f", "sm_90")
    values = [0, 1, 0xFFFFF, 0x100000, 0xFFFFFFFF, -1, -5, 1 << 63, 0x100000]
    assert [code.imm_value(code.imm(v)) for v in values] == [v & (1 << 64) - 1 for v in values]
    assert len(code.immediates) == 5
    with pytest.raises(ValueError, match="does not fit"):
        opd.small_imm(1 << 20)


def test_sentinels_are_no_registers() -> None:
    code = CodeObject("f", "sm_90")
    ids = [code.new_reg(R) for _ in range(1100)]
    assert not RESERVED_IDS & set(ids)
    assert all(code.regs[i] is not None for i in ids)


def test_list_operations_keep_the_links() -> None:
    rng = random.Random(3)
    code = CodeObject("f", "sm_90")
    block = code.new_block()
    model: list[Instruction] = []
    seen: set[int] = set()
    for _ in range(600):
        node = Instruction(ops.NOP, [])
        choice = rng.random()
        at = rng.randrange(len(model)) if model else 0
        if not model or choice < 0.25:
            code.append(block, node)
            model.append(node)
        elif choice < 0.45:
            code.insert_before(model[at], node)
            model.insert(at, node)
        elif choice < 0.65:
            code.insert_after(model[at], node)
            model.insert(at + 1, node)
        else:
            code.remove(model.pop(at))
            continue
        assert node.id not in seen
        seen.add(node.id)
    assert list(block) == model
    tail = code.split_after(model[len(model) // 3])
    assert list(block) == model[: len(model) // 3 + 1] and list(tail) == model[len(model) // 3 + 1 :]
    code.append_all(block, tail)
    assert list(block) == model and not list(tail)
    code.append(block, Instruction(ops.EXIT, []))
    code.reorder([block])
    verify(code)


def test_reorder_renames_everything() -> None:
    code = parse("""
        bix0:
            @P1 BRA bix2
        bix1:
            BRA bix0
        bix2:
            EXIT
    """)
    blocks = code.blocks  # phase 3 put an empty entry block in front
    assert [b.index for b in blocks] == [0, 1, 2, 3]
    code.reorder([blocks[0], blocks[1], blocks[3], blocks[2]])
    branch = code.blocks[1].tail
    assert branch is not None and branch.operands == [opd.label(2)]
    assert code.blocks[1].succs == [2, 3]
    assert [b.index for b in code.blocks] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda c: setattr(c.blocks[0].head.next, "prev", None), "broken link"),
        (lambda c: setattr(c.blocks[0], "tail", c.blocks[0].head), "tail"),
        (lambda c: setattr(c.blocks[0].head, "id", c.blocks[0].tail.id), "twice"),
        (lambda c: setattr(c.blocks[1], "index", 5), "has index 5"),
        (lambda c: c.blocks[0].succs.append(7), "does not exist"),
        (lambda c: c.blocks[2].preds.clear(), "does not know this predecessor"),
        (lambda c: c.blocks[0].head.operands.pop(), "Rc is missing"),
        (lambda c: c.blocks[0].head.operands.extend([0] * 9), "operands, IADD3 takes"),
        (lambda c: c.blocks[0].head.operands.__setitem__(1, opd.reg(999)), "no register 999"),
        (lambda c: c.blocks[0].head.operands.__setitem__(1, opd.reg(9)), "wrong file"),
        (lambda c: c.blocks[0].head.operands.__setitem__(1, opd.reg(1, 1)), "component 1"),
        (
            lambda c: c.blocks[0].head.operands.__setitem__(0, c.imm(3)),
            r"immediate\) does not fit a slot for gpr \(R/UR",
        ),
        (lambda c: setattr(c.blocks[0].head, "op", 0xFFF), "no operation"),
        (lambda c: setattr(c.blocks[0].tail, "guard", opd.reg(1)), "guard: register 1"),
        (lambda c: c.remove(c.blocks[2].tail), "runs off the end"),
        (lambda c: c.append(c.blocks[1], Instruction(ops.BRA, [opd.label(0)])), "the code goes to"),
        (lambda c: c.insert_before(c.blocks[0].head, Instruction(ops.EXIT, [])), "not last"),
    ],
)
def test_verifier_names_what_is_wrong(break_it, message: str) -> None:  # type: ignore[no-untyped-def]
    code = parse("""
        bix0:
            IADD3 R1, R2, R3, R4
            @P9 BRA bix2
        bix1:
            MOV R2, 0x5
        bix2:
            EXIT
    """)
    verify(code, final_flow=True)
    break_it(code)
    with pytest.raises(MalformedCode, match=message):
        verify(code, "a test", final_flow=True)


def test_module_of_300_functions() -> None:
    module = Module("sm_90")
    for number in range(300):
        module.add_function(CodeObject(f"kernel{number}", "sm_90"))
    for number in range(300):
        found = module.function(f"kernel{number}")
        assert found is module.functions[number] and module.function_names[number] == f"kernel{number}"
    assert module.function("kernel300") is None
    with pytest.raises(ValueError, match="twice"):
        module.add_function(CodeObject("kernel7", "sm_90"))
    long = "k" * 5000
    module.add_function(CodeObject(long, "sm_90"))
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
    attributes = CodeObject("f", "sm_90").attributes
    offsets = [attributes.reserve_shared(*request) for request in ((1, 5, 1), (2, 8, 8), (1, 5, 1))]
    assert offsets == [0, 8, 0]
    assert (attributes.static_shared, attributes.shared_align) == (16, 8)
