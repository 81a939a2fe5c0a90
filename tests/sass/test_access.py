"""Registers that instructions read and write: wide operands, implicit accesses, guards, zero registers."""

from __future__ import annotations

import pytest
from oric.sass.access import GUARD, IMPLICIT, Use
from oric.sass.code import Code
from oric.support.targets import find_target
from oric_tables._native import ffi, lib

ARCH = "sm_90"
# word -> what it writes, what it reads
CASES = {
    0x023FEC00000A000004190EFF74EB8589: ("P5 R235", "R116 P0"),  # @!P0 SHFL.UP P5, R235, R116, RZ, 0x190e
    0x009FE200000400B9040000CC904F7389: ("P2 R79", "R144 R204 R185"),  # SHFL.UP P2, R79, R144, R204, R185
    0x022FF20000000270000000E24890722B: ("R144 R145", "R72 R73 R226 R227 R112 R113"),  # DFMA R144, |R72|, R226, R112
    0x006FE60008008962002BB00A988C4A2B: ("R140 R141", "R152 R153 UR10 UR11 R98 R99 P4"),  # @P4 DFMA .., cx[UR10][..], -R98
    0x000FEA0008001167000000383C8E6C35: ("R142", "R60 UR56 R103 P6"),  # @P6 HFMA2.MMA.FMZ R142, -R60, UR56, R103
    0x000FEA0007000000FFFFFC9000047945: ("B4", "P6"),  # BSSY !P6, B4
    0x000FEA00008000000000000000027941: ("", "B2 P1"),  # BSYNC P1, B2
    0x000FEA0003C3FFFFFFFFFFF854AC2344: ("", "R84 R85 P2"),  # @P2 CALL.REL.NOINC R84
    0x00FFF20000000000000000001A0F7F55: ("B15", ""),  # BMOV.32 B15, MACTIVE: the source is no barrier register
    0x005FE600078E003C0037A800F1FF7A25: ("", "R241 R60 R61"),  # IMAD.WIDE.U32 RZ, R241, c[0x0][-0x2160], R60
    0x034FF600000030003F8000005B29B803: ("R41", "R91 P3"),  # @!P3 P2R.B3 R41, PR, R91, 0x3f800000: no bit of P0-P6
    0x011FE80000000000524176E39EA37803: ("R163", "R158 P0 P1 P5 P6"),  # P2R R163, PR, R158, 0x524176e3
    0x000FEA00080000000000003F1E387C03: ("R56", "R30 P0 P1 P2 P3 P4 P5 P6"),  # P2R R56, PR, R30, URZ
    0x000FEA00080020000018800886007A04: ("P0 P1 P2 P3 P4 P5 P6", "R134 UR8 UR9"),  # R2P PR, R134.B2, cx[UR8][0x6200]
    0x000FEA000C3F9924D8EABC36D8FF7981: ("", "R216 R217 UR54 UR55 P3"),  # LDG RZ, desc[UR54][R216.64-0x271544], P3
    0x029FF6000C113314712DC894B6007986: ("", "R182 R183 R148 UR20 UR21"),  # STG.E.S8 desc[UR20][R182.64], R148
    0x00AFE8000B0E060600000021311272A5: ("UR18 UR19", "UR49 UR33 UR6 UR7 UP6"),  # UIMAD.WIDE.X UR18, UR49, UR33, UR6, UP6
}


def code_of(*words: int) -> Code:
    code = Code(find_target(ARCH).isa, b"".join(w.to_bytes(16, "little") for w in words))
    assert not code.bad
    return code


def names(found: list[Use], writes: bool) -> list[str]:
    return sorted(name for use in found if use.writes == writes for name in use.names)


@pytest.mark.parametrize("word", CASES, ids=[f"{w & 0xFFF:03x}-{i}" for i, w in enumerate(CASES)])
def test_accesses(word: int):
    found = code_of(word).uses()[0]
    written, read = CASES[word]
    assert (names(found, True), names(found, False)) == (sorted(written.split()), sorted(read.split()))


def test_an_access_says_its_operand_and_alignment():
    found = code_of(0x006FE60008008962002BB00A988C4A2B, 0x011FE80000000000524176E39EA37803).uses()
    assert found[0][0] == Use("R", 140, 2, True, 0, 2)
    assert found[0][-1] == Use("P", 4, 1, False, GUARD, 1)
    assert {u.operand for u in found[1] if u.file == "P"} == {IMPLICIT}


def test_many_instructions_are_those_of_each():
    words = [w for w in CASES for _ in range(40)]
    found = code_of(*words).uses()
    assert found == [code_of(w).uses()[0] for w in words]


def test_unknown_operations_access_nothing():
    insn = ffi.new("oric_insn *")
    room = ffi.new("oric_register_use[]", lib.ORIC_MOST_USES)
    for op in (0, 65535):
        insn.op, insn.nops, insn.guard = op, 12, 3
        assert lib.oric_accesses(insn, room) == 0
