"""The encoder's refusals, the choice of form by operands, optional operands; the decoder's refusals."""

from __future__ import annotations

from typing import Any

import pytest
from oric.sass.instruction import Control, DecodeError, decode, disassemble, encode
from oric.support.targets import find_model
from oric_tables import op, ops
from oric_tables._native import ffi, lib
from oric_tables.ops import OPS

ISA = {name: find_model(name) for name in ("sm_75", "sm_80", "sm_90", "sm_100")}
RZ = 255
PT = 7


def gpr(n: int, flags: int = 0) -> dict[str, int]:
    return {"kind": lib.ORIC_K_GPR, "reg": n, "flags": flags}


def ugpr(n: int) -> dict[str, int]:
    return {"kind": lib.ORIC_K_UGPR, "reg": n}


def pred(n: int) -> dict[str, int]:
    return {"kind": lib.ORIC_K_PRED, "reg": n}


def imm(value: int) -> dict[str, int]:
    return {"kind": lib.ORIC_K_IMM, "value": value}


def bank(number: int, offset: int) -> dict[str, int]:
    return {"kind": lib.ORIC_K_CBANK, "reg": number, "value": offset}


def make(number: int, *operands: dict[str, int], mods: int = 0) -> Any:
    insn = ffi.new("oric_insn *", {"op": number, "guard": PT, "nops": len(operands), "mods": mods})
    for i, values in enumerate(operands):
        for name, value in values.items():
            setattr(insn.ops[i], name, value)
    return insn


def run(insn: Any, arch: str = "sm_90") -> tuple[int, str]:
    word = ffi.new("uint64_t[2]")
    error = lib.oric_encode(ISA[arch], insn, word)
    if error:
        return error, ""
    return 0, disassemble(ffi.buffer(word)[:], arch)[0]


@pytest.mark.parametrize(
    ("word", "operands", "text"),
    [
        (op.IADD3, [gpr(1), gpr(2), gpr(3), gpr(4)], "IADD3 R1, R2, R3, R4"),
        (op.IADD3, [gpr(1), gpr(2), imm(0xFFFFFFFF), gpr(RZ)], "IADD3 R1, R2, -0x1, RZ"),
        (op.IADD3, [gpr(1), gpr(2), imm(-1), gpr(RZ)], "IADD3 R1, R2, -0x1, RZ"),
        (op.IADD3, [gpr(1), gpr(2), bank(0, 0x160), gpr(RZ), pred(3)], "IADD3 R1, P3, R2, c[0x0][0x160], RZ"),
        (op.IADD3, [gpr(1), gpr(2), ugpr(5), gpr(RZ)], "IADD3 R1, R2, UR5, RZ"),
        (op.IADD3_X, [gpr(1), gpr(2), gpr(3), gpr(RZ)], "IADD3.X R1, R2, R3, RZ, !PT, !PT"),
        (op.FFMA, [gpr(1), gpr(2), imm(0x3F800000), gpr(3, 1)], "FFMA R1, R2, 1, -R3"),
        (op.FFMA, [gpr(1), gpr(2), gpr(3), bank(3, 8)], "FFMA R1, R2, R3, c[0x3][0x8]"),
        (op.MOV, [gpr(1), bank(0, 0x28)], "MOV R1, c[0x0][0x28]"),
        (op.LDG, [gpr(4), gpr(2), imm(16), ugpr(4)], "LDG.E R4, desc[UR4][R2.64+0x10]"),
        (op.LDS, [gpr(4), gpr(2), imm(-16)], "LDS R4, [R2+-0x10]"),
        (op.LDS, [gpr(4), gpr(2), imm(16), ugpr(3)], "LDS R4, [R2+UR3+0x10]"),
        (op.EXIT, [], "EXIT"),
        (op.BAR_SYNC, [imm(0)], "BAR.SYNC 0x0"),
        (op.ISETP, [pred(0), gpr(1), imm(7)], "ISETP.F.AND P0, PT, R1, 0x7, PT"),
    ],
)
def test_operands_choose_the_form(word: int, operands: list[dict[str, int]], text: str) -> None:
    assert run(make(word, *operands)) == (0, text)


def test_the_implicit_descriptor_is_the_usual_form_of_sm_80() -> None:
    plain = make(op.LDG, gpr(4), gpr(2), imm(16), ugpr(4))
    assert run(plain, "sm_80") == (0, "LDG.E R4, [R2.64+0x10]")
    explicit = make(op.LDG, gpr(4), gpr(2), imm(16), ugpr(4), mods=ops.op(op.LDG).pack(explicit="EXPLICIT"))
    assert run(explicit, "sm_80") == (0, "LDG.E R4, desc[UR4][R2.64+0x10]")


@pytest.mark.parametrize(
    ("insn", "error", "index"),
    [
        (make(op.IADD3, gpr(1), gpr(2), gpr(3)), lib.ORIC_E_OPERANDS, 0),
        (make(op.IADD3, gpr(1), ugpr(2), gpr(3), gpr(4)), lib.ORIC_E_OPERANDS, 0),
        (make(op.IADD3, gpr(300), gpr(2), gpr(3), gpr(4)), lib.ORIC_E_RANGE, 0),
        (make(op.IADD3, gpr(1), gpr(2), imm(1 << 33), gpr(4)), lib.ORIC_E_RANGE, 2),
        (make(op.IADD3, gpr(1), gpr(2), bank(0, 0x161), gpr(4)), lib.ORIC_E_RANGE, 2),
        (make(op.IADD3, gpr(1), gpr(2), ugpr(63), gpr(4)), lib.ORIC_E_RANGE, 2),
        (make(op.LDS, gpr(1), gpr(2), imm(1 << 23)), lib.ORIC_E_RANGE, 2),
        (make(op.IADD3, gpr(1), gpr(2, 2), gpr(3), gpr(4)), lib.ORIC_E_SIGN, 1),
        (make(op.FADD, gpr(1, 1), gpr(2), gpr(3)), lib.ORIC_E_SIGN, 0),
        (make(op.FSETP, pred(0), gpr(2), gpr(3), mods=3 << 5), lib.ORIC_E_MOD, 2),
        (make(op.IADD3, gpr(1), gpr(2), gpr(3), gpr(4), mods=1), lib.ORIC_E_FORM, 0),
        (make(op.LDG, gpr(4), gpr(3), imm(16), ugpr(4)), lib.ORIC_E_ALIGN, 1 | 2 << 8),
        (make(op.LDG, gpr(4), gpr(2), imm(16), ugpr(5)), lib.ORIC_E_ALIGN, 3 | 2 << 8),
        (make(op.DADD, gpr(4), gpr(2), gpr(5)), lib.ORIC_E_ALIGN, 2 | 2 << 8),
        (make(op.BSSY, {"kind": lib.ORIC_K_BREG, "reg": 0}, {"kind": lib.ORIC_K_LABEL, "value": 6}), lib.ORIC_E_RANGE, 1),
    ],
)
def test_what_cannot_be_encoded_is_refused(insn: Any, error: int, index: int) -> None:
    got = run(insn)[0]
    assert (got & 0xFF, got >> 8) == (error, index)


def test_operations_of_another_isa_are_refused() -> None:
    assert run(make(op.VIADD, gpr(1), gpr(2), gpr(3)), "sm_80")[0] == lib.ORIC_E_OPERATION
    assert run(make(op.IMNMX, gpr(1), gpr(2), gpr(3)), "sm_90")[0] == lib.ORIC_E_OPERATION
    assert lib.oric_encode(99, make(op.EXIT), ffi.new("uint64_t[2]")) == lib.ORIC_E_OPERATION
    insn = make(op.EXIT)
    insn.op = len(OPS)
    assert run(insn)[0] == lib.ORIC_E_OPERATION


@pytest.mark.parametrize(
    ("insn", "text", "first", "before"),
    [
        (make(op.LDSM, gpr(4), gpr(2), imm(16)), "LDSM.16.M88 R4, [R2+0x10]", "sm_75", None),
        (make(op.LDGDEPBAR), "LDGDEPBAR", "sm_80", "sm_75"),
        (make(op.LDGSTS, gpr(2), imm(0), gpr(6), imm(0), ugpr(4)), "LDGSTS.E [R6], [R2.64]", "sm_80", "sm_75"),
        (make(op.LDTRAM, gpr(4), ugpr(2), imm(16)), "LDTRAM.AB R4, a[UR2+0x10]", "sm_100", "sm_90"),
    ],
)
def test_memory_operations_begin_with_their_target(insn: Any, text: str, first: str, before: str | None) -> None:
    error, printed = run(insn, first)
    assert (error, printed[: len(text)]) == (lib.ORIC_E_OK, text)
    if before:
        assert run(insn, before)[0] == lib.ORIC_E_OPERATION


def test_unknown_words_are_refused_with_their_place() -> None:
    good = (0x000FC000000000000000000000007918).to_bytes(16, "little")
    with pytest.raises(DecodeError, match=r"offset 0x10: no instruction has this word: f{32}"):
        decode(good + b"\xff" * 16, "sm_90")
    with pytest.raises(DecodeError, match="17 bytes are no whole number of instructions"):
        decode(good + b"x", "sm_90")
    with pytest.raises(DecodeError, match="unknown target 'sm_1'"):
        decode(good, "sm_1")
    assert decode(b"", "sm_90") == []


def test_objects_can_be_changed_and_encoded_again() -> None:
    word = 0x000FC80007F3E1FF0000000704037210
    (instruction,) = decode(word.to_bytes(16, "little"), "sm_90")
    assert instruction.text == "IADD3 R3, P1, -R4, R7, RZ"
    assert instruction.mnemonic == "IADD3"
    assert instruction.operand("Ra").negated
    assert str(instruction.control) == "[B------:R-:W-:Y:S04]"
    instruction.control = Control(2, True, 1, 7, 0b100001)
    instruction.operands = tuple(o._replace(negated=False) if o.name == "Ra" else o for o in instruction.operands)
    (again,) = decode(encode(instruction, "sm_90").to_bytes(16, "little"), "sm_90")
    assert again.text == "IADD3 R3, P1, R4, R7, RZ"
    assert str(again.control) == "[B0----5:R-:W1:Y:S02]"


def test_labels_replace_branch_targets() -> None:
    branch = (0x000FEA00038000000000000000101947).to_bytes(16, "little")
    assert disassemble(branch, "sm_90") == ["@P1 BRA 0x50"]
    assert disassemble(branch, "sm_90", {0x50: "`(.L_x_0)"}) == ["@P1 BRA `(.L_x_0)"]


def test_a_packed_modifier_word_of_zero_is_every_default() -> None:
    for o in list(OPS)[1:]:
        assert o is not None
        values = o.unpack(0)
        assert all(values[m.name] == (m.default if m.values else 0) for m in o.mods.values()), o.name
        assert o.pack(**{n: v for n, v in values.items() if v != "false"}) == 0
