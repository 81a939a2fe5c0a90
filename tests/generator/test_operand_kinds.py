"""Operands of Ori instructions: the packed word, the ten kinds, the predicates of selection in Python and in C."""

from collections import Counter

import pytest
from oric.ir import operand as opd
from oric_tables import ori_operands, registers
from oric_tables._native import lib
from oricgen.isa import rows as machine
from oricgen.tables import operand_kinds

from tests import specification

SPEC = specification.spec()
PREDICATES = ("is_reg", "is_pred", "is_imm", "is_const", "is_ureg")
# One operand of each type: word, type of its register -> predicates that hold, register class.
TRUTH = {
    "R5": (opd.reg(5), registers.R, "is_reg", 1),
    "R4:R5": (opd.reg(4, 0, 2), registers.R2, "is_reg", 1),
    "R4:R7": (opd.reg(4, 0, 4), registers.R4, "is_reg", 1),
    "-|R5|": (opd.reg(5) | opd.NEGATE | opd.ABSOLUTE, registers.R, "is_reg", 1),
    "UR5": (opd.reg(5), registers.UR, "is_reg is_ureg", 3),
    "P3": (opd.reg(3), registers.P, "is_reg is_pred", 5),
    "UP3": (opd.reg(3), registers.UP, "is_reg is_pred", 5),
    "B3": (opd.reg(3), registers.B, "is_reg", 9),
    "accumulator": (opd.reg(3), registers.ACC, "is_reg", 6),
    "RZ": (opd.RZ_OPERAND, 0, "is_reg is_ureg", 1023),
    "PT": (opd.PT_OPERAND, 0, "is_reg is_pred", 5),
    "!PT": (opd.NOT_PT_OPERAND, 0, "is_reg is_pred", 5),
    "7": (opd.imm(7), 0, "is_imm", 0),
    "wide immediate": (opd.pool(3), 0, "is_imm", 0),
    "label": (opd.label(3), 0, "", 0),
    "c[3][0x10]": (opd.const_bank(3, 16), 0, "is_const", 0),
    "symbol": (opd.symbol(31), 0, "", 0),
    "special": (opd.special(31), 0, "", 0),
    "left out": (opd.NO_OPERAND, 0, "", 0),
    "no guard": (0, 0, "", 0),
}


@pytest.mark.parametrize("name", TRUTH)
def test_predicates(name: str) -> None:
    word, reg_type, holds, reg_class = TRUTH[name]
    expected = {p: p in holds.split() for p in PREDICATES}
    assert {p: getattr(ori_operands, p)(word, reg_type) for p in PREDICATES} == expected
    assert {p: bool(getattr(lib, f"oric_{p}")(word, reg_type)) for p in PREDICATES} == expected
    assert ori_operands.get_reg_class(word, reg_type) == lib.oric_get_reg_class(word, reg_type) == reg_class


def test_python_and_c_agree_on_every_type_and_register() -> None:
    functions = (*PREDICATES, "get_reg_class")
    for code in range(8):
        for index in (0, 31, 32, 41, 255, 1023, 0xFFFFF):
            for flags in (0, opd.CONST_BANK, opd.NEGATE, opd.EXTENDED):
                for reg_type in range(12):
                    word = code << 28 | index | flags
                    for name in functions:
                        assert getattr(ori_operands, name)(word, reg_type) == getattr(lib, f"oric_{name}")(word, reg_type)


def test_truth_table_has_every_type_of_operand() -> None:
    assert {opd.type_of(word) for word, *_ in TRUTH.values()} == set(range(8))


def test_packed_word() -> None:
    assert opd.type_of(0x10000003) == opd.REG
    assert opd.const_bank(0, 16) == 5 << 28 | 16 | 0x1000000 << 32
    assert opd.ABSOLUTE == 0x4000000 << 32
    (extended,) = (row for row in operand_kinds.load(SPEC)["fields"] if row.values["field"] == "EXTENDED")
    assert sum(1 << bit for bit in operand_kinds.bits_of(extended)) == 0xFE000000 << 32
    assert opd.EXTENDED == 0x7E000000 << 32, "all but the sign of the signed numbers that arrays hold"


def test_ten_kinds() -> None:
    kinds = ["R/UR register", "P/UP register", "any register", "offset", "regular", "predicated", "remat", "spill-refill"]
    assert list(ori_operands.KIND_TEXTS[1:]) == [*kinds, "R2P / P2R", "bit-spill"]
    sources = [row.values["source"] for row in operand_kinds.load(SPEC)["problems"]]
    assert sources == ['Ori IR, "Operand Kinds"'] * 10 + ["inferred"] * 3


def test_every_form_operand_has_one_kind() -> None:
    counted: Counter[int] = Counter()
    for operation in machine.load(SPEC).operations:
        for forms in operation.forms.values():
            for form in forms:
                for placed in form.operands:
                    kind = ori_operands.kind_of(placed.kind, operation.operands[placed.index].name)
                    assert 1 <= kind <= 5
                    counted[kind] += 1
    assert sorted(counted) == [1, 2, 3, 4, 5], "each kind that forms give is there"
    found = operand_kinds.kinds_of_forms(SPEC)
    assert {ori_operands.KIND_TEXTS[k]: n for k, n in counted.items()} == {
        row.values["text"]: found[row.values["name"]] for row in operand_kinds.load(SPEC)["kinds"] if found[row.values["name"]]
    }
