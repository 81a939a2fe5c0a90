"""Single and double precision, pairs of singles, uniform floats against exact arithmetic in Python's integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.sim import lanes
from tests.sim.lanes import Case, Want, check
from tests.sim.numbers import BF16, BOP, F16, F32, F64, NAN, Format, Number, add, compare, fma, multiply

ROUND = ("RN", "RM", "RP", "RZ")
SCALES = {"D8": -3, "D4": -2, "D2": -1, "1": 0, "M2": 1, "M4": 2, "M8": 3}
ONE = 0x3F800000


def f32(bits: int, ftz: Any = 0, mark: str = "") -> Number:
    """An operand: marks first, then denormals to zero."""
    if "|" in mark:
        bits &= 0x7FFFFFFF
    if "-" in mark:
        bits ^= 0x80000000
    return F32.number(F32.flushed(bits) if ftz else bits)


def finish(x: Number, rnd: str, ftz: Any, sat: Any) -> int:
    bits = F32.bits_of(x, rnd)
    if x == NAN:
        return 0 if sat else F32.nan
    if ftz:
        bits = F32.flushed(bits)
    if sat:
        return 0 if bits >> 31 else min(bits, ONE)
    return bits


def fadd(a: int, b: int, rnd: str, ftz: Any = 0, sat: Any = 0) -> int:
    return finish(add(f32(a, ftz), f32(b, ftz), rnd), rnd, ftz, sat)


def fmul(a: int, b: int, rnd: str, ftz: Any = 0, sat: Any = 0, scale: int = 0, fmz: Any = 0) -> int:
    x, y = f32(a, ftz or fmz), f32(b, ftz or fmz)
    if fmz and 0 in (x[1], y[1]):
        return 0
    product = multiply(x, y)
    return finish((product[0], product[1], product[2] + scale) if product[1] > 0 else product, rnd, ftz or fmz, sat)


def ffma(a: int, b: int, c: int, rnd: str, ftz: Any = 0, sat: Any = 0, fmz: Any = 0) -> int:
    x, y, z = (f32(v, ftz or fmz) for v in (a, b, c))
    if fmz and 0 in (x[1], y[1]):
        return finish(z, "RN", 1, sat)
    return finish(fma(x, y, z, rnd), rnd, ftz or fmz, sat)


def fmnmx(a: int, b: int, low: int, ftz: Any = 0, nan: Any = 0, xorsign: Any = 0) -> int:
    sign = (a ^ b) & 0x80000000
    x, y = (F32.flushed(v) if ftz else v for v in (a, b))
    if xorsign:
        x, y = x & 0x7FFFFFFF, y & 0x7FFFFFFF
    nans = [F32.number(v) == NAN for v in (x, y)]
    if all(nans) or (nan and any(nans)):
        return F32.nan
    if any(nans):
        result = y if nans[0] else x
    else:
        order = sorted((x, y), key=lambda v: (v ^ 0xFFFFFFFF) if v >> 31 else v | 0x80000000)
        result = order[0] if low else order[1]
    return result & 0x7FFFFFFF | sign if xorsign else result


def ordered(cmp: str, x: Number, y: Number) -> int:
    c = compare(x, y)
    base = cmp.removesuffix("U") if cmp not in ("LTU", "EQU", "LEU", "GTU", "NEU", "GEU") else cmp[:-1]
    if cmp in ("F", "T"):
        return int(cmp == "T")
    if cmp in ("NUM", "NAN"):
        return int((c is None) == (cmp == "NAN"))
    if c is None:
        return int(cmp.endswith("U"))
    return int({"LT": c < 0, "EQ": c == 0, "LE": c <= 0, "GT": c > 0, "NE": c != 0, "GE": c >= 0}[base])


FCMP = ("F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T")


def single_cases() -> list[Case]:
    cases: list[Case] = []

    def both(
        name: str, regs: int, want: Callable[..., Want], mods: dict[str, Any], uniform_mods: dict[str, Any] | None = None
    ) -> None:
        """The operation, and its uniform twin."""
        operands = ("R16", *(f"R{8 + i}" for i in range(regs)))
        cases.append(Case("sm_90", name, operands, ("f32",) * regs, want(), mods))
        if uniform_mods is not None:
            twin = tuple(f"U{o}" for o in operands)
            cases.append(Case("sm_120", f"U{name}", twin, ("f32",) * regs, want(), uniform_mods, uniform=True))

    for rnd, ftz, sat in itertools.product(ROUND, (0, 1), (0, 1)):
        m = {"rnd": rnd, "ftz": ftz, "sat": sat}
        both("FADD", 2, lambda r=rnd, f=ftz, s=sat: lambda x, p: {"R16": fadd(x[0], x[1], r, f, s)}, m, m)
        u = {"rnd": rnd, "ftz": "FTZ" if ftz else "NONE", "sat": sat}
        both("FFMA", 3, lambda r=rnd, f=ftz, s=sat: lambda x, p: {"R16": ffma(x[0], x[1], x[2], r, f, s)}, m, u)
        both("FMUL", 2, lambda r=rnd, f=ftz, s=sat: lambda x, p: {"R16": fmul(x[0], x[1], r, f, s)}, m, u)
    for rnd, sat in itertools.product(ROUND, (0, 1)):
        m, u = {"rnd": rnd, "fmz": 1, "sat": sat}, {"rnd": rnd, "ftz": "FMZ", "sat": sat}
        both("FFMA", 3, lambda r=rnd, s=sat: lambda x, p: {"R16": ffma(x[0], x[1], x[2], r, 0, s, fmz=1)}, m, u)
        both("FMUL", 2, lambda r=rnd, s=sat: lambda x, p: {"R16": fmul(x[0], x[1], r, 0, s, fmz=1)}, m, u)
    for scale, rnd, ftz in itertools.product(SCALES, ROUND, (0, 1)):
        if scale != "1":
            m, u = {"rnd": rnd, "scale": scale, "ftz": ftz}, {"rnd": rnd, "scale": scale, "ftz": "FTZ" if ftz else "NONE"}
            both("FMUL", 2, lambda r=rnd, c=SCALES[scale], f=ftz: lambda x, p: {"R16": fmul(x[0], x[1], r, f, scale=c)}, m, u)
    for a, b in (("-", ""), ("|", ""), ("-|", "-"), ("", "-|")):
        marked = [f"{m.replace('|', '')}{'|' if '|' in m else ''}R{8 + i}{'|' if '|' in m else ''}" for i, m in enumerate((a, b))]

        def want(x: list[int], p: list[int], a: str = a, b: str = b) -> dict[str, int]:
            return {"R16": finish(add(f32(x[0], 0, a), f32(x[1], 0, b)), "RN", 0, 0)}

        cases.append(Case("sm_80", "FADD", ("R16", *marked), ("f32", "f32"), want))
    for ftz, nan, xorsign in itertools.product((0, 1), (0, 1), (0, 1)):
        m = {"ftz": ftz, "nan": nan, "xorsign": xorsign}

        def least(x: list[int], p: list[int], f: int = ftz, n: int = nan, s: int = xorsign) -> dict[str, int]:
            return {"R16": fmnmx(x[0], x[1], p[1], f, n, s)}

        cases.append(Case("sm_90", "FMNMX", ("R16", "R8", "R9", "P1"), ("f32", "f32"), least, m))
        cases.append(Case("sm_120", "UFMNMX", ("UR16", "UR8", "UR9", "UP1"), ("f32", "f32"), least, m, uniform=True))
    for ftz, nan in itertools.product((0, 1), (0, 1)):

        def least3(x: list[int], p: list[int], f: int = ftz, n: int = nan) -> dict[str, int]:
            return {"R16": fmnmx(fmnmx(x[0], x[1], p[1], f, n), x[2], p[1], f, n)}

        cases.append(Case("sm_100", "FMNMX3", ("R16", "R8", "R9", "R10", "P1"), ("f32",) * 3, least3, {"ftz": ftz, "nan": nan}))
    return cases


def comparison_cases() -> list[Case]:
    cases = []
    for cmp, bop, ftz in itertools.product(FCMP, BOP, (0, 1)):

        def holds(x: list[int], p: list[int], c: str = cmp, b: str = bop, f: int = ftz) -> dict[str, int]:
            r = ordered(c, f32(x[0], f), f32(x[1], f))
            return {"P0": BOP[b](r, p[5]), "P1": BOP[b](1 - r, p[5])}

        def bits(x: list[int], p: list[int], c: str = cmp, b: str = bop, f: int = ftz) -> dict[str, int]:
            return {"R16": ONE if BOP[b](ordered(c, f32(x[0], f), f32(x[1], f)), p[5]) else 0}

        m = {"cmp": cmp, "bop": bop, "ftz": ftz}
        cases.append(Case("sm_80", "FSETP", ("P0", "R8", "R9", "P1", "P5"), ("f32", "f32"), holds, m))
        cases.append(Case("sm_80", "FSET", ("R16", "R8", "R9", "P5"), ("f32", "f32"), bits, m))
        if bop == "AND":
            cases.append(Case("sm_120", "UFSETP", ("UP0", "UR8", "UR9", "UP1", "UP5"), ("f32", "f32"), holds, m, uniform=True))
            cases.append(Case("sm_120", "UFSET", ("UR16", "UR8", "UR9", "UP5"), ("f32", "f32"), bits, m, uniform=True))
    for ftz in (0, 1):

        def chosen(x: list[int], p: list[int], f: int = ftz) -> dict[str, int]:
            value = x[0] if p[2] else x[1]
            return {"R16": F32.flushed(value) if f else value}

        cases.append(Case("sm_80", "FSEL", ("R16", "R8", "R9", "P2"), ("f32", "f32"), chosen, {"ftz": ftz}))
        cases.append(Case("sm_120", "UFSEL", ("UR16", "UR8", "UR9", "UP2"), ("f32", "f32"), chosen, {"ftz": ftz}, uniform=True))
    for cmp in FCMP[1:-1]:

        def wide(x: list[int], p: list[int], c: str = cmp) -> dict[str, int]:
            r = ordered(c, F64.number(x[0] | x[1] << 32), F64.number(x[2] | x[3] << 32))
            return {"P0": r & p[5], "P1": (1 - r) & p[5]}

        cases.append(Case("sm_80", "DSETP", ("P0", "R8", "R10", "P1", "P5"), ("f64", "f64"), wide, {"cmp": cmp}))
    for name in ("MIN", "MAX"):

        def extreme(x: list[int], p: list[int], sign: int = 1 if name == "MIN" else -1) -> dict[str, int]:
            a, b = (v[0] | v[1] << 32 for v in (x[0:2], x[2:4]))
            one, two = F64.number(a), F64.number(b)
            order = compare(one, two)
            first = order is not None and (order * sign < 0 or (order == 0 and bool(a >> 63) == (sign > 0)))
            return {"P0": one != NAN and (two == NAN or first), "P1": one == NAN and two == NAN}

        cases.append(Case("sm_80", "DSETP", ("P0", "R8", "R10", "P1"), ("f64", "f64"), extreme, {"cmp": name}))
    return cases


def double(x: Number, rnd: str, *sources: int) -> int:
    """A NaN result is the first NaN operand, quiet, or the default one."""
    for bits in sources:
        if F64.number(bits) == NAN:
            return bits | 1 << 51
    return F64.bits_of(x, rnd)


def double_cases() -> list[Case]:
    cases = []
    for rnd in ROUND:

        def sums(x: list[int], p: list[int], r: str = rnd) -> dict[str, int]:
            a, b = (v[0] | v[1] << 32 for v in (x[0:2], x[2:4]))
            return {"D16": double(add(F64.number(a), F64.number(b), r), r, a, b)}

        def products(x: list[int], p: list[int], r: str = rnd) -> dict[str, int]:
            a, b = (v[0] | v[1] << 32 for v in (x[0:2], x[2:4]))
            return {"D16": double(multiply(F64.number(a), F64.number(b)), r, a, b)}

        def fused(x: list[int], p: list[int], r: str = rnd) -> dict[str, int]:
            a, b, c = (v[0] | v[1] << 32 for v in (x[0:2], x[2:4], x[4:6]))
            return {"D16": double(fma(F64.number(a), F64.number(b), F64.number(c), r), r, a, b, c)}

        cases.append(Case("sm_80", "DADD", ("R16", "R8", "R10"), ("f64", "f64"), sums, {"rnd": rnd}))
        cases.append(Case("sm_80", "DMUL", ("R16", "R8", "R10"), ("f64", "f64"), products, {"rnd": rnd}))
        cases.append(Case("sm_80", "DFMA", ("R16", "R8", "R10", "R12"), ("f64", "f64", "f64"), fused, {"rnd": rnd}))
    return cases


def words_of(x: list[int], at: int, how: str) -> tuple[int, int]:
    """The low and the high number of a pair operand in registers 8 + at, 9 + at."""
    if how == "F32":
        return x[at], x[at]
    return (x[at], x[at + 1]) if how == "F32x2.HI_LO" else (x[at + 1], x[at])


def pair_cases() -> list[Case]:
    cases = []
    ways = ("F32x2.HI_LO", "F32x2.LO_HI", "F32")
    high = 0x80000000
    for rnd, ftz in itertools.product(ROUND, (0, 1)):
        way, other, np_ = ways[(ROUND.index(rnd) + ftz) % 3], ways[ROUND.index(rnd) % 3], bool(ftz) ^ (rnd == "RM")
        flips = (0, high if np_ else 0)

        def sums(
            x: list[int], p: list[int], r: str = rnd, f: int = ftz, s: str = way, t: str = other, n: tuple[int, int] = flips
        ) -> dict[str, int]:
            a, b = words_of(x, 0, s), words_of(x, 2, t)
            return {f"R{16 + i}": fadd(a[i] ^ n[i], b[i] ^ high, r, f) for i in range(2)}

        def products(
            x: list[int], p: list[int], r: str = rnd, f: int = ftz, s: str = way, t: str = other, n: tuple[int, int] = flips
        ) -> dict[str, int]:
            a, b = words_of(x, 0, s), words_of(x, 2, t)
            return {f"R{16 + i}": fmul(a[i] ^ n[i], b[i], r, f) for i in range(2)}

        def fused(
            x: list[int], p: list[int], r: str = rnd, f: int = ftz, s: str = way, t: str = other, n: tuple[int, int] = flips
        ) -> dict[str, int]:
            a, b, c = words_of(x, 0, s), words_of(x, 2, t), words_of(x, 4, s)
            return {f"R{16 + i}": ffma(a[i] ^ n[i], b[i], c[i] ^ high, r, f) for i in range(2)}

        np_mod = "NP" if np_ else "false"
        m = {"rnd": rnd, "swza": way, "swzb": other, "npa": np_mod}
        four, six = ("f32",) * 4, ("f32",) * 6
        cases.append(Case("sm_100", "FADD2", ("R16", "R8", "-R10"), four, sums, m | {"ftz": ftz}))
        wide = m | {"ftz": "FTZ" if ftz else "NONE"}
        cases.append(Case("sm_100", "FMUL2", ("R16", "R8", "R10"), four, products, wide))
        cases.append(Case("sm_100", "FFMA2", ("R16", "R8", "R10", "-R12"), six, fused, wide | {"swzc": way}))
        once = {k: v for k, v in wide.items() if k != "swzb"}
        value = lanes.EDGES["f32"][len(cases) % len(lanes.EDGES["f32"])]
        for name, operands, at, want, mods in (  # a constant is both numbers
            ("FADD2", ("R16", "R8", value), 2, sums, once | {"ftz": ftz}),
            ("FMUL2", ("R16", "R8", value), 2, products, once),
            ("FFMA2", ("R16", "R8", value, "-R12"), 2, fused, once | {"swzc": way}),
            ("FFMA2", ("R16", "R8", "R10", value), 4, fused, wide),
        ):
            stored = value if want is products or (at == 2 and want is fused) else value ^ high  # the sign that `want` turns

            def constant(x: list[int], p: list[int], w: Want = want, at: int = at, v: int = stored) -> dict[str, int]:
                return w([*x[:at], v, v, *x[at + 2 :]], p)

            cases.append(Case("sm_100", name, operands, six, constant, mods))
    return cases


def mixed_cases() -> list[Case]:
    """A half and singles."""
    cases = []

    def widened(bits: int, part: str, fmt: Format) -> int:
        half = bits >> 16 if part == "H1" else bits & 0xFFFF
        return F32.bits_of(fmt.number(half))

    for bf16, rnd, sat, part in itertools.product((0, 1), ROUND, (0, 1), ("H0", "H1")):
        fmt, kind, m = (BF16, "bf16", {"bf16": 1}) if bf16 else (F16, "f16", {})

        def sums(x: list[int], p: list[int], r: str = rnd, s: int = sat, h: str = part, f: Format = fmt) -> dict[str, int]:
            return {"R16": fadd(widened(x[0], h, f), x[1], r, 0, s)}

        def fused(x: list[int], p: list[int], r: str = rnd, s: int = sat, h: str = part, f: Format = fmt) -> dict[str, int]:
            return {"R16": ffma(widened(x[0], h, f), widened(x[1], "H1", f), x[2], r, 0, s)}

        m = m | {"rnd": rnd, "sat": sat, "part": part}
        cases.append(Case("sm_100", "FHADD", ("R16", "R8", "R9"), (kind, "f32"), sums, m))
        cases.append(Case("sm_100", "FHFMA", ("R16", "R8", "R9", "R10"), (kind, kind, "f32"), fused, m | {"partb": "H1"}))
        if part == "H0":
            cases.append(Case("sm_120", "UFHADD", ("UR16", "UR8", "UR9"), (kind, "f32"), sums, m, uniform=True))
            uniform = ("UR16", "UR8", "UR9", "UR10")
            cases.append(Case("sm_120", "UFHFMA", uniform, (kind, kind, "f32"), fused, m | {"partb": "H1"}, uniform=True))
    return cases


def quad_cases() -> list[Case]:
    """FSWZADD: each lane of a quad has its own signs; row and lane are the same in these programs."""
    cases = []
    for pattern, ftz, ndv in ((0x00, 0, 1), (0x1B, 0, 0), (0xE4, 1, 1), (0x99, 0, 1)):

        def want(x: list[int], p: list[int], code: int = pattern, f: int = ftz) -> dict[str, int]:
            a, c, minus = x[0], x[1], 1 << 31
            signed = [(a, c), (a, c ^ minus), (a ^ minus, c), (0, c)][code >> 6 - 2 * (x[6] & 3) & 3]
            return {"R16": fadd(*signed, "RN", f)}

        cases.append(
            Case("sm_80", "FSWZADD", ("R16", "R8", "R9"), ("f32", "f32"), want, {"pattern": pattern, "ftz": ftz, "ndv": ndv})
        )
    return cases


CASES = [*single_cases(), *comparison_cases(), *double_cases(), *pair_cases(), *mixed_cases(), *quad_cases()]


@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_edges_and_some_random_operands(case: Case) -> None:
    check(case, lanes.FEW)


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_random_operands(case: Case) -> None:
    check(case, lanes.share(case, CASES), seed=2)


@pytest.mark.parametrize("nan", [0, 1])
@pytest.mark.parametrize("op", ["MAX", "MIN", "MAXABS", "MINABS"])
def test_extremes_of_a_warp(op: str, nan: int) -> None:
    """CREDUX: NaNs do not count unless the word says so, or when there is nothing else; 20 warps of edges, 80 of any numbers."""
    data = lanes.rows(("f32",), 4000, 7)[:3200]
    data[:640, 0] = np.random.default_rng(8).choice(np.array(lanes.EDGES["f32"], np.uint32), 640)
    data[640:672, 0] = 0xFFC00001
    mods = {"op": op, "type": "F32", "nan": nan}
    got = lanes.run(Case("sm_100", "CREDUX", ("UR8", "R8"), ("f32",), lambda x, p: {}, mods), data, after="UR8")[::32, 0]
    for warp, have in zip(data[:, 0].reshape(-1, 32).tolist(), got.tolist(), strict=True):
        values = [v & 0x7FFFFFFF if "ABS" in op else v for v in warp]
        want = values[0]
        for v in values:
            want = fmnmx(want, v, int("MIN" in op), 0, nan)
        assert have == want


def test_easy_divisions() -> None:
    """FCHK: where it does not ask for the slow path, the usual Newton steps cannot leave the range of normal numbers."""
    data = lanes.rows(("f32", "f32"), 20_000, 9)
    slow = lanes.run(Case("sm_80", "FCHK", ("P0", "R8", "R9"), ("f32", "f32"), lambda x, p: {}), data)[:, 7] & 1
    a, b = (data[:, k].view(np.float32) for k in (0, 1))
    with np.errstate(all="ignore"):
        quotient, inverse = np.abs(a / b), np.abs(1 / b)
    easy = slow == 0
    assert 0.05 < easy.mean() < 0.95
    for value in (np.abs(a), np.abs(b), quotient, inverse):
        assert ((value[easy] > 2.0**-126) & np.isfinite(value[easy])).all()
