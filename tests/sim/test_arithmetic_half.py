"""Packed halves against exact arithmetic in Python's integers."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.sim import lanes
from tests.sim.lanes import Case, check
from tests.sim.numbers import BF16, BOP, F16, F32, NAN, Format, Number, add, fma, multiply
from tests.sim.test_arithmetic_float import FCMP, ordered

SWIZZLES = ("H1_H0", "H0_H0", "H1_H1")
FORMATS = {"f16": F16, "bf16": BF16}
OOB = 0x7FF7
PAIRS = tuple(zip(SWIZZLES, SWIZZLES[1:] + SWIZZLES[:1], strict=True))
CROSSED = ("H1_H1", "H0_NH1")  # as ptxas makes it of the product of complex numbers


def mods_of(kind: str) -> dict[str, Any]:
    return {"bf16": "BF16_V2"} if kind == "bf16" else {}


def part(word: int, i: int, swizzle: str = "H1_H0") -> int:
    from_half = {"H1_H0": i, "H0_H0": 0, "H1_H1": 1, "H0_NH1": 1 - i}[swizzle]
    return (word >> 16 * from_half & 0xFFFF) ^ (0x8000 if swizzle == "H0_NH1" and i == 0 else 0)


def packed(values: list[int]) -> dict[str, int]:
    return {"R16": values[0] | values[1] << 16}


def finish(x: Number, fmt: Format, ftz: int, sat: int = 0, relu: int = 0) -> int:
    bits = fmt.bits_of(x)
    if x == NAN:
        return 0 if sat else fmt.nan
    if ftz and fmt is F16:
        bits = fmt.flushed(bits)
    if (sat or relu) and bits & fmt.sign:
        return 0
    return min(bits, 0x3C00 if fmt is F16 else 0x3F80) if sat else bits


def number(bits: int, fmt: Format, ftz: int) -> Number:
    return fmt.number(fmt.flushed(bits) if ftz and fmt is F16 else bits)


def minimum(a: int, b: int, fmt: Format, low: int, ftz: int, nan: int, xorsign: int) -> int:
    sign = (a ^ b) & fmt.sign
    x, y = (fmt.flushed(v) if ftz and fmt is F16 else v for v in (a, b))
    if xorsign:
        x, y = x & 0x7FFF, y & 0x7FFF
    nans = [fmt.number(v) == NAN for v in (x, y)]
    if all(nans) or (nan and any(nans)):
        return fmt.nan
    if any(nans):
        result = y if nans[0] else x
    else:
        result = sorted((x, y), key=lambda v: v ^ 0xFFFF if v >> 15 else v | 0x8000)[0 if low else 1]
    return result & 0x7FFF | sign if xorsign else result


def sum_and_product_cases() -> list[Case]:
    cases = []
    for kind, (sa, sb), ftz, sat in itertools.product(FORMATS, PAIRS, (0, 1), (0, 1)):
        fmt = FORMATS[kind]

        def sums(
            x: list[int], p: list[int], f: Format = fmt, s: tuple[str, str] = (sa, sb), z: int = ftz, t: int = sat
        ) -> dict[str, int]:
            return packed([finish(add(*(number(part(x[k], i, s[k]), f, z) for k in (0, 1))), f, z, t) for i in (0, 1)])

        def products(
            x: list[int], p: list[int], f: Format = fmt, s: tuple[str, str] = (sa, sb), z: int = ftz, t: int = sat
        ) -> dict[str, int]:
            return packed([finish(multiply(*(number(part(x[k], i, s[k]), f, z) for k in (0, 1))), f, z, t) for i in (0, 1)])

        def singles(
            x: list[int], p: list[int], f: Format = fmt, s: tuple[str, str] = (sa, sb), z: int = ftz, t: int = sat
        ) -> dict[str, int]:
            total = add(*(number(part(x[k], 0, s[k]), f, z) for k in (0, 1)))
            bits = F32.bits_of(total)
            if total == NAN:
                return {"R16": 0 if t else F32.nan}
            bits = F32.flushed(bits) if z else bits
            return {"R16": (0 if bits >> 31 else min(bits, 0x3F800000)) if t else bits}

        m = mods_of(kind) | {"swza": sa, "swzb": sb, "ftz": ftz, "sat": sat}
        cases.append(Case("sm_90", "HADD2", ("R16", "R8", "R9"), (kind, kind), sums, m))
        cases.append(Case("sm_90", "HMUL2", ("R16", "R8", "R9"), (kind, kind), products, m))
        if kind == "f16":
            cases.append(Case("sm_90", "HADD2", ("R16", "R8", "R9"), (kind, kind), singles, m | {"f32": 1}))
    return cases


def fused(a: int, b: int, c: int, fmt: Format, ftz: str, sat: int = 0, relu: int = 0) -> int:
    if ftz == "OOB" and OOB in (a & 0x7FFF, b & 0x7FFF, c & 0x7FFF):
        return 0
    z = int(ftz == "FTZ")
    return finish(fma(number(a, fmt, z), number(b, fmt, z), number(c, fmt, z)), fmt, z, sat, relu)


def fma_cases() -> list[Case]:
    cases = []
    for kind, (sa, sb), ftz in itertools.product(FORMATS, (*PAIRS, CROSSED), ("NONE", "FTZ", "OOB")):
        fmt, kinds = FORMATS[kind], (kind,) * 3
        for sat, relu in ((0, 0), (1, 0), (0, 1)):
            if sat and ftz == "OOB":
                continue

            def want(
                x: list[int],
                p: list[int],
                f: Format = fmt,
                s: tuple[str, ...] = (sa, sb, sa),
                z: str = ftz,
                t: int = sat,
                r: int = relu,
            ) -> dict[str, int]:
                return packed([fused(*(part(x[k], i, s[k]) for k in (0, 1, 2)), f, z, t, r) for i in (0, 1)])

            m = mods_of(kind) | {"swza": sa, "swzb": sb, "swzc": sa, "ftz": ftz}
            name, extra = ("HFMA2.RELU", {}) if relu else ("HFMA2", {"sat": sat})
            cases.append(Case("sm_90", name, ("R16", "R8", "R9", "R10"), kinds, want, m | extra))
            if ftz != "OOB" and sb == SWIZZLES[1]:

                def plain(
                    x: list[int], p: list[int], f: Format = fmt, z: str = ftz, t: int = sat, r: int = relu
                ) -> dict[str, int]:
                    return packed([fused(*(part(x[k], i) for k in (0, 1, 2)), f, z, t, r) for i in (0, 1)])

                name = "HFMA2.MMA.RELU" if relu else "HFMA2.MMA"
                cases.append(Case("sm_90", name, ("R16", "R8", "R9", "R10"), kinds, plain, mods_of(kind) | {"ftz": ftz} | extra))
    return cases


def extreme_cases() -> list[Case]:
    cases = []
    for kind, ftz, nan, xorsign in itertools.product(FORMATS, (0, 1), (0, 1), (0, 1)):
        fmt = FORMATS[kind]

        def want(x: list[int], p: list[int], f: Format = fmt, z: int = ftz, n: int = nan, s: int = xorsign) -> dict[str, int]:
            return packed([minimum(part(x[0], i), part(x[1], i, "H1_H1"), f, p[1], z, n, s) for i in (0, 1)])

        def three(x: list[int], p: list[int], f: Format = fmt, z: int = ftz, n: int = nan) -> dict[str, int]:
            first = [minimum(part(x[0], i), part(x[1], i, "H1_H1"), f, p[1], z, n, 0) for i in (0, 1)]
            return packed([minimum(first[i], part(x[2], i), f, p[1], z, n, 0) for i in (0, 1)])

        m = mods_of(kind) | {"ftz": ftz, "nan": nan, "swzb": "H1_H1"}
        cases.append(Case("sm_90", "HMNMX2", ("R16", "R8", "R9", "P1"), (kind, kind), want, m | {"xorsign": xorsign}))
        if not xorsign:
            cases.append(Case("sm_90", "VHMNMX", ("R16", "R8", "R9", "R10", "P1"), (kind,) * 3, three, m))
    return cases


def comparison_cases() -> list[Case]:
    cases = []
    for kind, cmp, bop in itertools.product(FORMATS, FCMP, BOP):
        fmt, ftz = FORMATS[kind], FCMP.index(cmp) & 1

        def each(x: list[int], f: Format = fmt, c: str = cmp, z: int = ftz) -> list[int]:
            return [ordered(c, number(part(x[0], i), f, z), number(part(x[1], i, "H0_H0"), f, z)) for i in (0, 1)]

        def masks(x: list[int], p: list[int], e: Any = each, b: str = bop, yes: int = 0xFFFF) -> dict[str, int]:
            return packed([yes if BOP[b](r, p[5]) else 0 for r in e(x)])

        def ones(
            x: list[int], p: list[int], e: Any = each, b: str = bop, yes: int = 0x3C00 if fmt is F16 else 0x3F80
        ) -> dict[str, int]:
            return packed([yes if BOP[b](r, p[5]) else 0 for r in e(x)])

        def holds(x: list[int], p: list[int], e: Any = each, b: str = bop) -> dict[str, int]:
            low, high = e(x)
            return {"P0": BOP[b](low, p[5]), "P1": BOP[b](high, p[5])}

        def joined(x: list[int], p: list[int], e: Any = each, b: str = bop) -> dict[str, int]:
            both = int(all(e(x)))
            return {"P0": BOP[b](both, p[5]), "P1": BOP[b](1 - both, p[5])}

        m = mods_of(kind) | {"cmp": cmp, "bop": bop, "ftz": ftz, "swzb": "H0_H0"}
        cases.append(Case("sm_90", "HSET2", ("R16", "R8", "R9", "P5"), (kind, kind), masks, m))
        cases.append(Case("sm_90", "HSET2", ("R16", "R8", "R9", "P5"), (kind, kind), ones, m | {"bf": 1}))
        cases.append(Case("sm_90", "HSETP2", ("P0", "R8", "R9", "P1", "P5"), (kind, kind), holds, m))
        cases.append(Case("sm_90", "HSETP2", ("P0", "R8", "R9", "P1", "P5"), (kind, kind), joined, m | {"h_and": 1}))
    return cases


def turing_cases() -> list[Case]:
    """A single is converted by adding a zero half to it: what ptxas makes of `cvt.rz.f16.f32` (`cvt.rn` is an F2F)."""

    def want(x: list[int], p: list[int]) -> dict[str, int]:
        half = F16.bits_of(add((1, 0, 0), F32.number(x[0])), "RZ")
        return packed([half, half])

    return [Case("sm_75", "HADD2", ("R16", "-RZ", "R8"), ("f32",), want, {"swza": "H0_H0", "swzb": "F32"})]


CASES = [*sum_and_product_cases(), *fma_cases(), *extreme_cases(), *comparison_cases(), *turing_cases()]


@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_edges_and_some_random_operands(case: Case) -> None:
    check(case, lanes.FEW)


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_random_operands(case: Case) -> None:
    check(case, lanes.share(case, CASES), seed=2)
