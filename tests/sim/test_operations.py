"""Single operations against Python integers: what compilers seldom emit, modifiers, carries, predicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.sim.numbers import BOP, CMP
from tests.sim.program import SM_80, SM_90, run_operation, word

Array = np.ndarray[Any, Any]
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES = [0, 1, 2, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x8000, 0x10000, 0x7F80, 0x12345678]
Thread = list[int]


def s32(v: int) -> int:
    return ((v & M32) ^ 1 << 31) - (1 << 31)


def s64(v: int) -> int:
    return ((v & M64) ^ 1 << 63) - (1 << 63)


def inputs(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 1 << 32, (512, 8), dtype=np.uint32)
    edges = np.array(EDGES, np.uint32)
    chosen = rng.random((512, 8)) < 0.5
    return np.where(chosen, edges[rng.integers(0, len(EDGES), (512, 8))], data)


class Check:
    """Runs instructions on both ISAs and compares registers and predicates with a function of the inputs."""

    def __init__(self, *rows: tuple[Any, ...], isas: tuple[int, ...] = (SM_80, SM_90)) -> None:
        self.rows, self.isas = rows, isas

    def __call__(self, want: Callable[[Thread, list[int]], dict[str, int]]) -> None:
        data = inputs(len(self.rows))
        for isa in self.isas:
            got = run_operation(isa, [word(isa, *row[:-1], **row[-1]) for row in self.rows], data)
            for i, row in enumerate(data.tolist()):
                predicates = [row[7] >> k & 1 for k in range(7)] + [1]
                for place, value in want(row, predicates).items():
                    have = int(got[i, 7]) >> int(place[1:]) & 1 if place[0] == "P" else int(got[i, int(place[1:]) - 16])
                    assert have == value & M32, (self.rows, place, [hex(v) for v in row], hex(have), hex(value & M32))


def test_addition_with_two_carries() -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        low = x[0] + x[1] + x[2]
        high = x[3] + x[4] + x[5] + (low >> 32)
        return {"R16": low, "R17": high}

    Check(
        ("IADD3", "R16", "R8", "R9", "R10", "P0", "P1", {}),
        ("IADD3.X", "R17", "R11", "R12", "R13", "P2", "P3", "P0", "P1", {}),
    )(want)


def test_subtraction_of_64_bits() -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        value = (x[0] | x[1] << 32) - (x[2] | x[3] << 32)
        return {"R16": value, "R17": value >> 32, "P0": (x[0] >= x[2]), "P1": (x[0] | x[1] << 32) >= (x[2] | x[3] << 32)}

    Check(
        ("IADD3", "R16", "R8", "-R10", "RZ", "P0", {}),
        ("IADD3.X", "R17", "R9", "~R11", "RZ", "P1", None, "P0", {}),
    )(want)


@pytest.mark.parametrize("sign", ["U32", "S32"])
def test_multiplication(sign: str) -> None:
    def product(x: Thread) -> int:
        return s32(x[0]) * s32(x[1]) if sign == "S32" else x[0] * x[1]

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        addend = x[2] | x[3] << 32
        wide = (product(x) & M64) + addend
        high = ((product(x) + addend) & M64) >> 32
        plus = (product(x) & M64) + addend + p[1]
        return {
            "R16": wide,
            "R17": wide >> 32,
            "P2": wide >> 64,
            "R18": high,
            "R19": x[0] * x[1] + x[2] + p[1],
            "R20": plus,
            "R21": plus >> 32,
        }

    Check(
        ("IMAD.WIDE", "R16", "R8", "R9", "R10", "P2", {"sign": sign}),
        ("IMAD.HI", "R18", "R8", "R9", "R10", {"sign": sign}),
        ("IMAD.X", "R19", "R8", "R9", "R10", "P1", {"sign": sign}),
        ("IMAD.WIDE.X", "R20", "R8", "R9", "R10", None, "P1", {"sign": sign}),
    )(want)


def test_multiplication_with_negated_addend() -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        wide = x[0] * x[1] - (x[2] | x[3] << 32)
        return {"R16": x[0] * x[1] - x[2], "R18": wide, "R19": wide >> 32, "P0": wide >= 0}

    Check(
        ("IMAD", "R16", "R8", "R9", "-R10", {"sign": "U32"}),
        ("IMAD.WIDE", "R18", "R8", "R9", "-R10", "P0", {"sign": "U32"}),
    )(want)


@pytest.mark.parametrize("sign", ["U32", "S32"])
@pytest.mark.parametrize("cmp", CMP)
@pytest.mark.parametrize("bop", BOP)
def test_comparison(cmp: str, sign: str, bop: str) -> None:
    narrow, wide = (s32, s64) if sign == "S32" else (int, int)

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        small = CMP[cmp](narrow(x[0]), narrow(x[1]))
        big = CMP[cmp](wide(x[0] | x[2] << 32), wide(x[1] | x[3] << 32))
        return {
            "P0": BOP[bop](small, 1 - p[5]),
            "P1": BOP[bop](not small, 1 - p[5]),
            "P3": BOP[bop](big, p[6]),
            "P4": BOP[bop](not big, p[6]),
        }

    Check(
        ("ISETP", "P0", "R8", "R9", "P1", "!P5", {"cmp": cmp, "sign": sign, "bop": bop}),
        ("ISETP", "P2", "R8", "R9", {"cmp": cmp, "sign": "U32", "bop": "AND"}),
        ("ISETP.EX", "P3", "R10", "R11", "P4", "P6", "P2", {"cmp": cmp, "sign": sign, "bop": bop}),
    )(want)


@pytest.mark.parametrize("shift", [0, 1, 5, 31])
def test_scaled_addition(shift: int) -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        base, index = x[2] | x[3] << 32, x[0] | x[1] << 32
        low = (x[0] << shift & M32) + x[2]
        total = (index << shift) + base
        signed = s32(x[0]) << shift
        return {
            "R16": low,
            "R17": total >> 32,
            "R18": x[4] + (((x[1] << 32 | x[0]) << shift) >> 32),
            "R19": x[4] + (signed >> 32),
            "R20": x[2] - (x[0] << shift),
        }

    Check(
        ("LEA", "R16", "R8", "R10", "P0", {"shift": shift}),
        ("LEA.HI.X", "R17", "R8", "R11", "R9", None, "P0", {"shift": shift}),
        ("LEA.HI", "R18", "R8", "R12", "R9", {"shift": shift}),
        ("LEA.HI", "R19", "R8", "R12", {"shift": shift, "sx32": 1}),
        ("LEA", "R20", "-R8", "R10", {"shift": shift}),
    )(want)


@pytest.mark.parametrize("wrap", ["C", "W"])
@pytest.mark.parametrize("type_", ["U32", "S32", "U64", "S64"])
@pytest.mark.parametrize("direction", ["L", "R"])
def test_funnel_shift(direction: str, type_: str, wrap: str) -> None:
    width = int(type_[1:])

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        value = x[0] | x[2] << 32
        by = x[1] % width if wrap == "W" else min(x[1], width)
        if direction == "L":
            value <<= by
        else:
            value = (s64(value) if type_[0] == "S" else value) >> by
        return {"R16": value, "R17": (value & M64) >> 32}

    Check(
        ("SHF", "R16", "R8", "R9", "R10", {"dir": direction, "wrap": wrap, "type": type_}),
        ("SHF", "R17", "R8", "R9", "R10", {"dir": direction, "wrap": wrap, "type": type_, "hi": 1}),
    )(want)


@pytest.mark.parametrize("mode", ["IDX", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16"])
def test_byte_permutation(mode: str) -> None:
    tables = {
        "F4E": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        "B4E": [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        "RC8": [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]],
        "ECL": [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        "ECR": [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        "RC16": [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
    }

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        both = (x[0] | x[2] << 32).to_bytes(8, "little")
        if mode == "IDX":
            picked = [both[x[1] >> 4 * i & 7] for i in range(4)]
            signs = [x[1] >> 4 * i & 8 for i in range(4)]
            out = [(0xFF if b & 0x80 else 0) if s else b for b, s in zip(picked, signs, strict=True)]
        else:
            out = [both[i] for i in tables[mode][x[1] & 3]]
        return {"R16": int.from_bytes(bytes(out), "little")}

    Check(("PRMT", "R16", "R8", "R9", "R10", {"mode": mode}))(want)


@pytest.mark.parametrize("wrap", ["C", "W"])
def test_bit_fields(wrap: str) -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        bits = x[1] & 31 if wrap == "W" else min(x[1], 32)
        kept = x[0] & (1 << bits) - 1
        signed = kept - (1 << bits) if bits and kept >> bits - 1 else kept
        start = x[2] & 31 if wrap == "W" else min(x[2], 32)
        mask = (1 << bits) - 1 << start
        return {"R16": kept, "R17": signed, "R18": mask}

    Check(
        ("SGXT", "R16", "R8", "R9", {"wrap": wrap, "sign": "U32"}),
        ("SGXT", "R17", "R8", "R9", {"wrap": wrap, "sign": "S32"}),
        ("BMSK", "R18", "R10", "R9", {"wrap": wrap}),
    )(want)


def test_counting_bits() -> None:
    def leading(v: int) -> int:
        return v.bit_length() - 1 if v else M32

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        signed = x[0] ^ M32 if x[0] >> 31 else x[0]
        return {
            "R16": leading(x[0]),
            "R17": leading(signed),
            "R18": 32 - x[0].bit_length() if x[0] else M32,
            "R19": (x[0] ^ M32).bit_count(),
            "R20": int(f"{x[0]:032b}"[::-1], 2),
            "R21": leading(x[0] ^ M32),
        }

    Check(
        ("FLO", "R16", "R8", {"sign": "U32"}),
        ("FLO", "R17", "R8", {"sign": "S32"}),
        ("FLO", "R18", "R8", {"sign": "U32", "sh": 1}),
        ("POPC", "R19", "~R8", {}),
        ("BREV", "R20", "R8", {}),
        ("FLO", "R21", "~R8", {"sign": "U32"}),
    )(want)


@pytest.mark.parametrize("lut", [0x00, 0xFF, 0x80, 0xF8, 0x96, 0xCA, 0x3C, 0x1B])
def test_logic(lut: int) -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        out = 0
        for k in range(32):
            index = (x[0] >> k & 1) << 2 | (x[1] >> k & 1) << 1 | (x[2] >> k & 1)
            out |= (lut >> index & 1) << k
        index = p[4] << 2 | (1 - p[5]) << 1 | p[6]
        return {
            "R16": out,
            "P0": out != 0,
            "P1": out != 0 and p[3],
            "P2": lut >> index & 1,
            "R18": x[0] if p[5] else x[1],
        }

    Check(
        ("SEL", "R18", "R8", "R9", "P5", {}),
        ("LOP3", "R16", "R8", "R9", "R10", "P1", "P3", {"lut": lut, "pand": 1}),
        ("LOP3", "R16", "R8", "R9", "R10", "P0", {"lut": lut}),
        ("PLOP3", "P2", "P4", "!P5", "P6", {"lut": lut}),
    )(want)


def test_predicates_as_a_register() -> None:
    def want(x: Thread, p: list[int]) -> dict[str, int]:
        bits = sum(b << k for k, b in enumerate(p[:7]))
        return {"R16": (x[0] & ~0x55) | (bits & 0x55), "R17": (x[1] & ~0x7F00) | bits << 8, "P1": x[2] >> 17 & 1, "P3": p[3]}

    Check(
        ("P2R", "R16", "R8", 0x55, {}),
        ("P2R", "R17", "R9", 0x7F, {"byte": "B1"}),
        ("R2P", "R10", 0x2, {"byte": "B2"}),
    )(want)


@pytest.mark.parametrize("type_", ["U32", "S32", "U16x2", "S16x2"])
def test_minimum_and_maximum(type_: str) -> None:
    def part(v: int, i: int) -> int:
        h = v >> 16 * i & 0xFFFF
        return (h ^ 0x8000) - 0x8000 if type_[0] == "S" else h

    def choose(a: int, b: int, low: int) -> int:
        if type_.endswith("32"):
            one, two = (s32(a), s32(b)) if type_ == "S32" else (a, b)
            return min(one, two) if low else max(one, two)
        return sum(((min if low else max)(part(a, i), part(b, i)) & 0xFFFF) << 16 * i for i in range(2))

    def add(a: int, b: int) -> int:
        if type_.endswith("32"):
            return a + b & M32
        return sum(((a >> 16 * i) + (b >> 16 * i) & 0xFFFF) << 16 * i for i in range(2))

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        return {"R16": choose(x[0], x[1], p[2]), "R17": choose(add(x[0], x[1]), x[2], 1 - p[2])}

    Check(
        ("VIMNMX", "R16", "R8", "R9", "P2", {"type": type_}),
        ("VIADDMNMX", "R17", "R8", "R9", "R10", "!P2", {"type": type_}),
        isas=(SM_90,),
    )(want)


@pytest.mark.parametrize("dtype", ["U8", "S8", "U16", "S16"])
def test_saturation_of_integers(dtype: str) -> None:
    bits = int(dtype[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "S" else (0, (1 << bits) - 1)
    Check(("I2I", "R16", "R8", {"dtype": dtype}))(lambda x, p: {"R16": max(low, min(high, s32(x[0])))})


def test_guards_and_masks() -> None:
    """A guard leaves the other lanes' registers alone, in 32-bit, 64-bit and predicate results."""

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        wide = x[0] * x[1]
        return {
            "R16": x[1] if p[0] else x[0],
            "R18": wide if not p[1] else 5,
            "R19": wide >> 32 if not p[1] else 6,
            "P4": x[0] < x[1] if p[2] else p[4],
        }

    data = inputs(99)
    for isa in (SM_80, SM_90):
        program = [
            word(isa, "MOV", "R16", "R8"),
            word(isa, "MOV", "R18", 5),
            word(isa, "MOV", "R19", 6),
            word(isa, "MOV", "R16", "R9", guard="P0"),
            word(isa, "IMAD.WIDE", "R18", "R8", "R9", "RZ", guard="!P1", sign="U32"),
            word(isa, "ISETP", "P4", "R8", "R9", guard="P2", cmp="LT", sign="U32"),
        ]
        got = run_operation(isa, program, data)
        for i, row in enumerate(data.tolist()):
            predicates = [row[7] >> k & 1 for k in range(7)]
            for place, value in want(row, predicates).items():
                have = int(got[i, 7]) >> int(place[1:]) & 1 if place[0] == "P" else int(got[i, int(place[1:]) - 16])
                assert have == value & M32, (place, row)


def test_uniform_datapath() -> None:
    """The same rows once more with one value a warp."""

    def want(x: Thread, p: list[int]) -> dict[str, int]:
        a, b, c = 0x12345678, 0x9ABCDEF0, 0xFFFFFFFF
        total = a + b + c
        index = a | b << 32
        return {
            "R16": total,
            "R17": b + c + (total >> 32),
            "R18": (a ^ b) & M32,
            "R19": ((index << 5) >> 32) + c,
            "R20": (s32(b) >> 4),
            "R21": b if s32(a) < s32(b) else a,
            "R22": a.bit_count(),
        }

    Check(
        ("UMOV", "UR8", 0x12345678, {}),
        ("UMOV", "UR9", 0x9ABCDEF0, {}),
        ("UMOV", "UR10", 0xFFFFFFFF, {}),
        ("UIADD3", "UR11", "UR8", "UR9", "UR10", "UP0", "UP1", {}),
        ("UIADD3.X", "UR12", "UR9", "UR10", "URZ", None, None, "UP0", "UP1", {}),
        ("ULOP3", "UR13", "UR8", "UR9", "URZ", {"lut": 0x3C}),
        ("ULEA.HI", "UR14", "UR8", "UR10", "UR9", {"shift": 5}),
        ("USHF", "UR15", "URZ", 4, "UR9", {"dir": "R", "type": "S32", "hi": 1}),
        ("UISETP", "UP2", "UR8", "UR9", {"cmp": "LT", "sign": "S32"}),
        ("USEL", "UR16", "UR9", "UR8", "UP2", {}),
        ("UPOPC", "UR17", "UR8", {}),
        *((("MOV", f"R{16 + k}", f"UR{11 + k}", {})) for k in range(7)),
    )(want)


def test_address_of_a_narrow_base_and_a_uniform_register() -> None:
    """[R.U32+UR]: the general register is an unsigned 32-bit offset from the uniform pair. R0 is the thread, R6 is 32."""
    Check(
        ("ULDC", "UR6", "c[0][0]", {"size": "64"}),
        ("IMAD", "R24", "R0", "R6", "RZ", {}),
        ("IADD3", "R24", "R24", -32 & M32, "RZ", {}),
        ("IADD3", "R24", "R24", 32, "RZ", {}),
        ("LDG", "R16", "R24", 8, None, None, None, "UR6", {"size": "32", "base": "U32", "e": "E"}),
        ("QSPC", "P0", "RZ", "R24", 0, "UR6", {"space": "G", "base": "U32", "e": "E"}),
        ("QSPC", "P1", "RZ", "R24", 0, "UR6", {"space": "S", "base": "U32", "e": "E"}),
    )(lambda x, p: {"R16": x[2], "P0": 1, "P1": 0})
