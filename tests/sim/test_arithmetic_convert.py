"""Conversions, packed ones too, against exact arithmetic in Python's integers; small formats also against ml_dtypes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.sim import lanes
from tests.sim.lanes import Case, check, run
from tests.sim.numbers import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    INF,
    NAN,
    TF32,
    Format,
    Number,
    integer,
    of_integer,
)

FORMATS = {"F16": F16, "BF16": BF16, "F32": F32, "F64": F64}
KINDS = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64"}
SMALL = {"E5M2": E5M2, "E4M3": E4M3, "E3M2": E3M2, "E2M3": E2M3, "E2M1": E2M1}
ROUND = ("RN", "RM", "RP", "RZ")
WHOLE = ("RN", "FLOOR", "CEIL", "TRUNC")
BITS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "U32": 32, "S32": 32, "U64": 64, "S64": 64}


def source(x: list[int], kind: str, part: str = "H0", ftz: int = 0) -> Number:
    if kind == "F64":
        return F64.number(x[0] | x[1] << 32)
    if kind == "F32":
        return F32.number(F32.flushed(x[0]) if ftz else x[0])
    return FORMATS[kind].number(x[0] >> (16 if part == "H1" else 0) & 0xFFFF)


def place(kind: str, bits: int) -> dict[str, int]:
    return {"D16": bits} if kind in ("F64", "U64", "S64") else {"R16": bits}


def twins(
    name: str, operands: tuple[str, ...], kinds: tuple[str, ...], want: lanes.Want, mods: dict[str, Any], isa: str = "sm_90"
) -> list[Case]:
    """The operation and its uniform twin."""
    uniform = tuple(f"U{o}" for o in operands)
    return [Case(isa, name, operands, kinds, want, mods), Case("sm_120", f"U{name}", uniform, kinds, want, mods, uniform=True)]


def float_cases() -> list[Case]:
    cases = []
    for dtype, stype, rnd, ftz, part in itertools.product(FORMATS, FORMATS, ROUND, (0, 1), ("H0", "H1")):
        if dtype == stype or (part == "H1" and stype in ("F32", "F64")) or (ftz and "F32" not in (dtype, stype)):
            continue
        if ("F64" in (dtype, stype)) and ftz:
            continue
        if FORMATS[dtype].bits > FORMATS[stype].bits and rnd != "RN":
            continue

        def want(
            x: list[int], p: list[int], d: str = dtype, s: str = stype, r: str = rnd, z: int = ftz, h: str = part
        ) -> dict[str, int]:
            value = source(x, s, h, z)
            bits = FORMATS[d].bits_of(value, r) if value != NAN or d != "F64" else 0x7FF8000000000000
            return place(d, F32.flushed(bits) if z and d == "F32" and value != NAN else bits)

        wide = "F64" in (dtype, stype)
        m = {"dtype": dtype, "stype": stype, "rnd": rnd, "ftz": ftz} | ({"part": part} if part == "H1" else {})
        if wide:
            cases.append(Case("sm_90", "F2F.X", ("R16", "R8"), (KINDS[stype],), want, m))
        else:
            cases += twins("F2F", ("R16", "R8"), (KINDS[stype],), want, m)
    return cases


def to_integer_cases() -> list[Case]:
    cases = []
    for dtype, stype, rnd in itertools.product(BITS, FORMATS, WHOLE):
        ftz, part = int(stype == "F32" and rnd == "CEIL"), "H1" if stype in ("F16", "BF16") and rnd == "TRUNC" else "H0"

        def want(
            x: list[int], p: list[int], d: str = dtype, s: str = stype, r: str = rnd, z: int = ftz, h: str = part
        ) -> dict[str, int]:
            value, bits = source(x, s, h, z), BITS[d]
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if d[0] == "S" else (0, (1 << bits) - 1)
            if value == NAN:
                return place(d, 0)
            if value[1] == INF:
                result = low if value[0] else high
            else:
                result = max(low, min(high, integer(value, r)))
            return place(d, result & (1 << max(bits, 32)) - 1)

        wide = stype == "F64" or dtype in ("U64", "S64")
        m = {"dtype": dtype, "stype": stype, "rnd": rnd, "ftz": ftz, "ntz": 1} | ({"part": part} if part == "H1" else {})
        if wide:
            cases.append(Case("sm_90", "F2I.X", ("R16", "R8"), (KINDS[stype],), want, m))
        else:
            cases += twins("F2I", ("R16", "R8"), (KINDS[stype],), want, m)
    return cases


def from_integer_cases() -> list[Case]:
    cases = []
    for dtype, stype, rnd in itertools.product(FORMATS, BITS, ROUND):
        bits = BITS[stype]
        choice = ROUND.index(rnd)
        mods: dict[str, Any] = (
            {"byte": f"B{choice}"} if bits == 8 and choice else {"half": "H1"} if bits == 16 and choice & 1 else {}
        )
        shift = 8 * choice if bits == 8 else 16 if mods else 0

        def want(
            x: list[int], p: list[int], d: str = dtype, s: str = stype, r: str = rnd, at: int = shift, n: int = bits
        ) -> dict[str, int]:
            raw = (x[0] | x[1] << 32) >> at & (1 << n) - 1
            value = raw - (1 << n) if s[0] == "S" and raw >> n - 1 else raw
            return place(d, FORMATS[d].bits_of(of_integer(value), r))

        wide = dtype == "F64" or bits == 64
        m = {"dtype": dtype, "stype": stype, "rnd": rnd} | mods
        kinds = ("i64",) if bits == 64 else ("int",)
        if wide:
            cases.append(Case("sm_90", "I2F.X", ("R16", "R8"), kinds, want, m))
        else:
            cases += twins("I2F", ("R16", "R8"), kinds, want, m)
        if dtype == "F32" and bits == 32 and rnd in ("RN", "RZ"):
            cases += twins("I2FP", ("R16", "R8"), kinds, want, {"stype": stype, "rnd": rnd})
    return cases


def to_whole_cases() -> list[Case]:
    cases = []
    for kind, rnd, ftz in itertools.product(FORMATS, WHOLE, (0, 1)):
        if ftz and kind != "F32":
            continue

        def want(x: list[int], p: list[int], k: str = kind, r: str = rnd, z: int = ftz) -> dict[str, int]:
            value, fmt = source(x, k, "H0", z), FORMATS[k]
            if value == NAN:
                return place(k, fmt.nan & fmt.sign - 1 if k == "F64" else fmt.nan)
            if value[1] == INF:
                return place(k, fmt.bits_of(value))
            whole = integer(value, r)
            return place(k, fmt.bits_of((value[0], abs(whole), 0)))

        if kind == "F64":
            cases.append(Case("sm_90", "FRND.X", ("R16", "R8"), ("f64",), want, {"rnd": rnd}))
        else:
            cases += twins("FRND", ("R16", "R8"), (KINDS[kind],), want, {"type": kind, "rnd": rnd, "ftz": ftz})
    return cases


def clamped(fmt: Format, x: Number, rnd: str, satfinite: int, relu: int, random: int = 0) -> int:
    if relu and x[0] and x != NAN:
        return 0
    return fmt.bits_of(x, rnd, bool(satfinite), random)


def merged(low: int, c: int, part: str) -> dict[str, int]:
    return {"R16": low | (c >> 16 if part == "H1" else c & 0xFFFF) << 16}


def pack_cases() -> list[Case]:
    """Two singles into a pair of halves, one into a half below a half of the third operand, one into TF32."""
    cases = []
    for dtype, rnd, satfinite, relu in itertools.product(("F16", "BF16"), ("RN", "RZ"), (0, 1), (0, 1)):
        fmt = FORMATS[dtype]

        def both(x: list[int], p: list[int], f: Format = fmt, r: str = rnd, s: int = satfinite, u: int = relu) -> dict[str, int]:
            high, low = (clamped(f, F32.number(v), r, s, u) for v in x[:2])
            return {"R16": low | high << 16}

        m = {"dtype": dtype, "rnd": rnd, "satfinite": satfinite, "relu": relu}
        isa = "sm_80" if satfinite else "sm_90"
        cases.append(Case(isa, "F2FP.PACK_AB", ("R16", "R8", "R9"), ("f32", "f32"), both, m))
        cases.append(Case("sm_120", "UF2FP.PACK_AB", ("UR16", "UR8", "UR9"), ("f32", "f32"), both, m, uniform=True))
        for part in ("H0", "H1"):

            def one(
                x: list[int], p: list[int], f: Format = fmt, r: str = rnd, s: int = satfinite, u: int = relu, h: str = part
            ) -> dict[str, int]:
                return merged(clamped(f, F32.number(x[0]), r, s, u), x[1], h)

            cases.append(Case("sm_90", "F2FP.MERGE_C", ("R16", "R8", "R9"), ("f32", "int"), one, m | {"part": part}))
            cases.append(
                Case("sm_120", "UF2FP.MERGE_C", ("UR16", "UR8", "UR9"), ("f32", "int"), one, m | {"part": part}, uniform=True)
            )
    for rnd, satfinite, relu in itertools.product(("RN", "RZ"), (0, 1), (0, 1)):

        def tf32(x: list[int], p: list[int], r: str = rnd, s: int = satfinite, u: int = relu) -> dict[str, int]:
            value = F32.number(x[0])
            return {"R16": F32.nan if value == NAN else clamped(TF32, value, r, s, u) << 13}

        m = {"rnd": rnd, "satfinite": satfinite, "relu": relu}
        cases.append(Case("sm_100", "F2FP.PACK_B", ("R16", "R8"), ("f32",), tf32, m))
        cases.append(Case("sm_120", "UF2FP.PACK_B", ("UR16", "UR8"), ("f32",), tf32, m, uniform=True))
    return cases


def scale(x: Number, rnd: str, satfinite: int) -> int:
    """The exponent as E8, by the definition: the power of two below or above the magnitude."""
    if x == NAN:
        return 255
    if x[1] == INF:
        return 254 if satfinite else 255
    if x[1] == 0:
        return 0
    exponent = x[1].bit_length() - 1 + x[2]
    if rnd == "RP" and x[1] & (x[1] - 1) and exponent >= -127:
        exponent += 1
    exponent = max(exponent, -127)
    return 254 if exponent > 127 and satfinite else exponent + 127


def small_cases() -> list[Case]:
    cases = []
    for dtype, relu, part in itertools.product(SMALL, (0, 1), ("H0", "H1")):
        fmt, width = SMALL[dtype], 4 if dtype == "E2M1" else 8

        def packed(x: list[int], p: list[int], f: Format = fmt, u: int = relu, h: str = part, n: int = width) -> dict[str, int]:
            high, low = (clamped(f, F32.number(v), "RN", 1, u) for v in x[:2])
            pair = low | high << n
            return {"R16": pair | x[2] << 8} if n == 4 else merged(pair, x[2], h)

        def halves(x: list[int], p: list[int], f: Format = fmt, u: int = relu, h: str = part) -> dict[str, int]:
            low, high = (clamped(f, F16.number(x[0] >> i & 0xFFFF), "RN", 1, u) for i in (0, 16))
            return merged(low | high << 8, x[1], h)

        if width == 4 and part == "H1":
            continue
        m = {"dtype": dtype, "relu": relu, "satfinite": 1} | ({"part": part} if part == "H1" else {})
        isa = "sm_90" if dtype in ("E4M3", "E5M2") and relu else "sm_100"
        cases.append(Case(isa, "F2FP.PACK_AB_MERGE_C", ("R16", "R8", "R9", "R10"), ("f32", "f32", "int"), packed, m))
        if width == 8:
            cases.append(Case(isa, "F2FP.UNPACK_B_MERGE_C", ("R16", "R8", "R9"), ("f16", "int"), halves, m))
        if fmt in (E4M3, E5M2):
            three, two = ("UR16", "UR8", "UR9", "UR10"), ("UR16", "UR8", "UR9")
            kinds = ("f32", "f32", "int")
            cases.append(Case("sm_120", "UF2FP.PACK_AB_MERGE_C", three, kinds, packed, m, uniform=True))
            cases.append(Case("sm_120", "UF2FP.UNPACK_B_MERGE_C", two, ("f16", "int"), halves, m, uniform=True))
        for at in range(4) if width == 4 else (0, 2) if part == "H0" else ():

            def unpacked(
                x: list[int], p: list[int], f: Format = fmt, u: int = relu, at: int = 8 * at, n: int = width
            ) -> dict[str, int]:
                used = (1 << f.bits) - 1
                low, high = (clamped(F16, f.number(x[0] >> at + i & used), "RN", 0, u) for i in (0, n))
                return {"R16": low | high << 16}

            place_of = {"byte": f"B{at}"} if width == 4 else {"part": "H1" if at else "H0"}
            cases.append(
                Case(
                    isa,
                    "F2FP.UNPACK_B",
                    ("R16", "R8"),
                    ("int",),
                    unpacked,
                    {"stype": dtype, "relu": relu, "dtype": "F16"} | place_of,
                )
            )
            if dtype in ("E4M3", "E5M2"):
                m2 = {"stype": dtype, "relu": relu, "dtype": "F16"} | place_of
                cases.append(Case("sm_120", "UF2FP.UNPACK_B", ("UR16", "UR8"), ("int",), unpacked, m2, uniform=True))
    for rnd, satfinite in itertools.product(("RZ", "RP"), (0, 1)):

        def scales(x: list[int], p: list[int], r: str = rnd, s: int = satfinite) -> dict[str, int]:
            high, low = (scale(F32.number(v), r, s) for v in x[:2])
            return merged(low | high << 8, x[2], "H0")

        def narrow(x: list[int], p: list[int], r: str = rnd, s: int = satfinite) -> dict[str, int]:
            low, high = (scale(BF16.number(x[0] >> i & 0xFFFF), r, s) for i in (0, 16))
            return merged(low | high << 8, x[1], "H0")

        m = {"dtype": "E8", "rnd": rnd, "satfinite": satfinite}
        cases.append(Case("sm_100", "F2FP.PACK_AB_MERGE_C", ("R16", "R8", "R9", "R10"), ("f32", "f32", "int"), scales, m))
        cases.append(Case("sm_100", "F2FP.UNPACK_B_MERGE_C", ("R16", "R8", "R9"), ("bf16", "int"), narrow, m | {"stype": "BF16"}))

    def powers(x: list[int], p: list[int]) -> dict[str, int]:
        low, high = (0x7FFF if v == 255 else BF16.bits_of((0, 1, v - 127)) for v in (x[0] & 255, x[0] >> 8 & 255))
        return {"R16": low | high << 16}

    cases.append(Case("sm_100", "F2FP.UNPACK_B", ("R16", "R8"), ("int",), powers, {"stype": "E8", "dtype": "BF16"}))
    return cases


def stochastic_cases() -> list[Case]:
    """Rounding by random bits: a pair of halves has 16 of them for each, four small numbers share them (in reverse order)."""
    cases = []
    for dtype, satfinite, relu in itertools.product(("F16", "BF16"), (0, 1), (0, 1)):
        fmt = FORMATS[dtype]

        def halves(x: list[int], p: list[int], f: Format = fmt, s: int = satfinite, u: int = relu) -> dict[str, int]:
            random = [x[2] >> 16, x[2] & 0xFFFF]
            if f is F16:
                random = [(r & 0x1FFF) * 8 for r in random]
            high, low = (clamped(f, F32.number(v), "RS", s, u, r) for v, r in zip(x[:2], random, strict=True))
            return {"R16": low | high << 16}

        m = {"dtype": dtype, "satfinite": satfinite, "relu": relu}
        cases.append(Case("sm_100", "F2FP.PACK_AB.RS", ("R16", "R8", "R9", "R10"), ("f32", "f32", "int"), halves, m))
    for dtype, relu in itertools.product(SMALL, (0, 1)):

        def small(
            x: list[int], p: list[int], f: Format = SMALL[dtype], u: int = relu, four: bool = dtype == "E2M1"
        ) -> dict[str, int]:
            bits = (x[2] >> 24 << 8 | x[2] >> 8 & 255) if four else x[2] >> 16
            backwards = int(f"{bits:016b}"[::-1], 2)
            high = clamped(f, F32.number(x[0]), "RS", 1, u, backwards)
            low = clamped(f, F32.number(x[1]), "RS", 1, u, bits)
            return {"R16": low | high << 4 | x[2] << 8} if four else merged(low | high << 8, x[2], "H0")

        m = {"dtype": dtype, "relu": relu, "satfinite": 1}
        cases.append(Case("sm_100", "F2FP.PACK_AB_MERGE_C.RS", ("R16", "R8", "R9", "R10"), ("f32", "f32", "int"), small, m))
    return cases


def saturation(value: int, dtype: str) -> int:
    bits = int(dtype[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "S" else (0, (1 << bits) - 1)
    return max(low, min(high, value))


def packed_integer_cases() -> list[Case]:
    cases = []

    def signed(v: int) -> int:
        return v - (1 << 32) if v >> 31 else v

    for dtype in ("U8", "S8", "U16", "S16", "U2", "S2", "U4", "S4"):
        bits = int(dtype[1:])

        def want(x: list[int], p: list[int], d: str = dtype, n: int = bits) -> dict[str, int]:
            high, low = (saturation(signed(v), d) & (1 << n) - 1 for v in x[:2])
            return {"R16": low | high << n | (x[2] << 2 * n if n < 16 else 0)}

        place_of: dict[str, Any] = {2: {"part2": "28"}, 4: {"part4": "24"}}.get(bits, {})
        cases += twins("I2IP", ("R16", "R8", "R9", "R10"), ("int",) * 3, want, {"dtype": dtype, "sat": "SAT"} | place_of)
        if bits >= 8:

            def one(x: list[int], p: list[int], d: str = dtype) -> dict[str, int]:
                return {"R16": saturation(signed(x[0]), d)}

            cases += twins("I2I", ("R16", "R8"), ("int",), one, {"dtype": dtype})
    for dtype, rnd, part in itertools.product(("U8", "S8"), ("RN", "TRUNC"), ("H0", "H1")):

        def bytes_of(x: list[int], p: list[int], d: str = dtype, r: str = rnd, h: str = part) -> dict[str, int]:
            out = []
            for v in x[:2]:
                value = F32.number(v)
                low, high = saturation(-(1 << 40), d), saturation(1 << 40, d)
                whole = (
                    0 if value == NAN else (low if value[0] else high) if value[1] == INF else saturation(integer(value, r), d)
                )
                out.append(whole & 0xFF)
            return merged(out[1] | out[0] << 8, x[2], h)

        m = {"dtype": dtype, "rnd": rnd, "ntz": 1, "part": part}
        cases += twins("F2IP", ("R16", "R8", "R9", "R10"), ("f32", "f32", "int"), bytes_of, m)
    return cases


def of_constants(cases: list[Case]) -> list[Case]:
    """The cases with one source that is a half or small numbers, and those that merge small numbers, with a constant for it."""
    found = []
    for number, case in enumerate(cases):
        half, small = case.kinds in (("f16",), ("bf16",)), ".UNPACK_B" in case.name
        if not small and (not half or "part" in case.mods):
            continue
        edges = lanes.EDGES[case.kinds[0]]
        value = edges[number % len(edges)]
        if small and case.kinds[0] != "int":
            value |= edges[(number + 1) % len(edges)] << 16

        def want(x: list[int], p: list[int], first: lanes.Want = case.want, value: int = value) -> dict[str, int]:
            return first([value, *x[1:]], p)

        found.append(dataclasses.replace(case, operands=(case.operands[0], value, *case.operands[2:]), want=want))
    return found


_CONVERSIONS, _SMALL = [*float_cases(), *to_integer_cases(), *to_whole_cases()], small_cases()
CASES = [
    *_CONVERSIONS,
    *from_integer_cases(),
    *pack_cases(),
    *_SMALL,
    *of_constants(_CONVERSIONS),
    *of_constants(_SMALL),
    *stochastic_cases(),
    *packed_integer_cases(),
]


@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_edges_and_some_random_operands(case: Case) -> None:
    check(case, lanes.FEW)


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_random_operands(case: Case) -> None:
    check(case, lanes.share(case, CASES), seed=2)


_SMALL_TYPES: dict[str, tuple[Any, int]] = {
    "E4M3": (ml_dtypes.float8_e4m3fn, 8),
    "E5M2": (ml_dtypes.float8_e5m2, 8),
    "E3M2": (ml_dtypes.float6_e3m2fn, 6),
    "E2M3": (ml_dtypes.float6_e2m3fn, 6),
    "E2M1": (ml_dtypes.float4_e2m1fn, 4),
}


@pytest.mark.parametrize("name", _SMALL_TYPES)
def test_small_numbers_agree_with_ml_dtypes(name: str) -> None:
    """Every number of a format is the one that ml_dtypes says, and every half is rounded to the one that it rounds to."""
    dtype, bits = _SMALL_TYPES[name]
    codes = np.arange(1 << bits, dtype=np.uint8)
    data = np.zeros((len(codes), 8), np.uint32)
    data[:, 0] = codes
    case = Case("sm_100", "F2FP.UNPACK_B", ("R16", "R8"), ("int",), lambda x, p: {}, {"stype": name, "dtype": "F16"})
    got = (run(case, data)[:, 0] & 0xFFFF).astype(np.uint16).view(np.float16)
    np.testing.assert_array_equal(got, codes.view(dtype).astype(np.float16))

    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = halves[np.isfinite(halves)].astype(np.float32)
    largest = float(got[np.isfinite(got)].astype(np.float32).max())
    data = np.zeros((len(values), 8), np.uint32)
    data[:, 1] = values.view(np.uint32)
    case = Case(
        "sm_100", "F2FP.PACK_AB_MERGE_C", ("R16", "R8", "R9", "RZ"), ("f32",), lambda x, p: {}, {"dtype": name, "satfinite": 1}
    )
    mine = (run(case, data)[:, 0] & (1 << bits) - 1).astype(np.uint8)
    theirs = np.clip(values, -largest, largest).astype(dtype).view(np.uint8) & (1 << bits) - 1
    np.testing.assert_array_equal(mine, theirs)


_ROUNDERS: dict[str, tuple[Format, Callable[[Any], Any], Any]] = {
    "F16": (F16, lambda v: v.astype(np.float16), np.uint16),
    "BF16": (BF16, lambda v: v.astype(ml_dtypes.bfloat16), np.uint16),
    "F32": (F32, lambda v: v.astype(np.float32), np.uint32),
}


@pytest.mark.parametrize("name", _ROUNDERS)
def test_the_reference_agrees_with_numpy(name: str) -> None:
    """The exact arithmetic that the other tests trust rounds as numpy and ml_dtypes do."""
    fmt, rounder, unsigned = _ROUNDERS[name]
    words = lanes.rows(("f32",) if name != "F32" else ("f64",), 4000, 3)
    if name == "F32":
        bits = words[:, 0].astype(np.uint64) | words[:, 1].astype(np.uint64) << np.uint64(32)
        values, numbers = bits.view(np.float64), [F64.number(int(b)) for b in bits]
    else:
        values, numbers = words[:, 0].view(np.float32), [F32.number(int(b)) for b in words[:, 0]]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        theirs = rounder(values).view(unsigned)
    for number, want in zip(numbers, theirs.tolist(), strict=True):
        if number != NAN:
            assert fmt.bits_of(number) == want, (number, hex(want))
