"""Integer, logic and selection operations, and their uniform twins, against Python's integers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.sim import lanes
from tests.sim.lanes import Case, Want, check, run
from tests.sim.numbers import BOP, CMP

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
CASES: list[Case] = []


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def wide(x: list[int], at: int) -> int:
    return x[at] | x[at + 1] << 32


def put(isa: str, name: str, operands: tuple[Any, ...], kinds: str, want: Want, twin: str | None = None, **mods: Any) -> None:
    """A case, and one for its twin on the uniform datapath; kinds: `w` a word, `d` two words."""
    of = {"w": "int", "d": "i64"}
    names = tuple(of[k] for k in kinds)
    CASES.append(Case(isa, name, operands, names, want, mods))
    if twin:

        def uniform(o: Any) -> Any:
            if not isinstance(o, str):
                return o
            at = next(i for i, c in enumerate(o) if c.isalpha())
            return f"{o[:at]}U{o[at:]}"

        CASES.append(Case("sm_120", twin, tuple(uniform(o) for o in operands), names, want, mods, uniform=True))


def additions() -> None:
    def three(x: list[int], p: list[int]) -> dict[str, int]:
        total = x[0] + (x[1] ^ M32) + 1 + x[2]
        return {"R16": total, "P0": total >> 32 != 0, "P1": total >> 33}

    def three_x(x: list[int], p: list[int]) -> dict[str, int]:
        total = x[0] + (x[1] ^ M32) + x[2] + p[5] + 1 - p[6]
        return {"R16": total, "P0": total >> 32 != 0, "P1": total >> 33}

    put("sm_80", "IADD3", ("R16", "R8", "-R9", "R10", "P0", "P1"), "www", three, "UIADD3")
    put("sm_80", "IADD3.X", ("R16", "R8", "~R9", "R10", "P0", "P1", "P5", "!P6"), "www", three_x, "UIADD3.X")

    def two(x: list[int], p: list[int]) -> dict[str, int]:
        total = x[0] + (x[1] ^ M32) + 1
        return {"R16": total, "P0": total >> 32}

    def two_x(x: list[int], p: list[int]) -> dict[str, int]:
        total = (x[0] ^ M32) + x[1] + p[5]
        return {"R16": total, "P0": total >> 32}

    put("sm_120", "IADD", ("R16", "R8", "-R9", "P0"), "ww", two)
    put("sm_120", "IADD.X", ("R16", "~R8", "R9", "P0", "P5"), "ww", two_x)

    def sum64(x: list[int], p: list[int]) -> dict[str, int]:
        total = wide(x, 0) + wide(x, 2)
        return {"D16": total, "P0": total >> 64}

    def minus64(x: list[int], p: list[int]) -> dict[str, int]:
        total = wide(x, 0) + (wide(x, 2) ^ M64) + 1
        return {"D16": total, "P0": total >> 64}

    def carried64(x: list[int], p: list[int]) -> dict[str, int]:
        total = wide(x, 0) + (wide(x, 2) ^ M64) + p[5]
        return {"D16": total, "P0": total >> 64}

    def less_five(x: list[int], p: list[int]) -> dict[str, int]:
        return {"D16": wide(x, 0) - 5}

    put("sm_120", "IADD.64", ("R16", "R8", "R10", "P0"), "dd", sum64)
    put("sm_120", "IADD.64", ("R16", "R8", "-R10", "P0"), "dd", minus64)
    put("sm_120", "IADD.64", ("R16", "R8", -5 & M32), "d", less_five)
    put("sm_120", "IADD.64.X", ("R16", "R8", "~R10", "P0", "P5"), "dd", carried64)

    def uniform64(x: list[int], p: list[int]) -> dict[str, int]:
        total = wide(x, 0) + (wide(x, 2) ^ M64) + 1 + wide(x, 4)
        return {"D16": total, "P0": total >> 64 != 0, "P1": total >> 65}

    def uniform64x(x: list[int], p: list[int]) -> dict[str, int]:
        total = wide(x, 0) + (wide(x, 2) ^ M64) + wide(x, 4) + p[5] + p[4]
        return {"D16": total, "P0": total >> 64 != 0, "P1": total >> 65}

    kinds = ("i64",) * 3
    CASES.append(Case("sm_120", "UIADD3.64", ("UR16", "UR8", "-UR10", "UR12", "UP0", "UP1"), kinds, uniform64, uniform=True))
    CASES.append(
        Case(
            "sm_120", "UIADD3.64.X", ("UR16", "UR8", "~UR10", "UR12", "UP0", "UP1", "UP5", "UP4"), kinds, uniform64x, uniform=True
        )
    )


def multiplications() -> None:
    for sign in ("U32", "S32"):
        s = sign == "S32"

        def product(x: list[int], s: bool = s) -> int:
            return signed(x[0]) * signed(x[1]) if s else x[0] * x[1]

        def low(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            return {"R16": f(x) - x[2]}

        def low_x(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            return {"R16": f(x) + (x[2] ^ M32) + p[5]}

        def full(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            total = (f(x) & M64) + wide(x, 2)
            return {"D16": total, "P0": total >> 64}

        def full_x(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            total = (f(x) & M64) + (wide(x, 2) ^ M64) + p[5]
            return {"D16": total, "P0": total >> 64}

        def high(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            total = (f(x) & M64) + (wide(x, 2) ^ M64) + 1
            return {"R16": total >> 32, "P0": total >> 64}

        def high_x(x: list[int], p: list[int], f: Any = product) -> dict[str, int]:
            total = (f(x) & M64) + wide(x, 2) + p[5]
            return {"R16": total >> 32, "P0": total >> 64}

        put("sm_80", "IMAD", ("R16", "R8", "R9", "-R10"), "www", low, "UIMAD", sign=sign)
        put("sm_80", "IMAD.X", ("R16", "R8", "R9", "~R10", "P5"), "www", low_x, "UIMAD.X", sign=sign)
        put("sm_80", "IMAD.WIDE", ("R16", "R8", "R9", "R10", "P0"), "wwd", full, "UIMAD.WIDE", sign=sign)
        put("sm_80", "IMAD.WIDE.X", ("R16", "R8", "R9", "~R10", "P0", "P5"), "wwd", full_x, "UIMAD.WIDE.X", sign=sign)
        put("sm_80", "IMAD.HI", ("R16", "R8", "R9", "-R10", "P0"), "wwd", high, "UIMAD.HI", sign=sign)
        put("sm_80", "IMAD.HI.X", ("R16", "R8", "R9", "R10", "P0", "P5"), "wwd", high_x, "UIMAD.HI.X", sign=sign)


def comparisons() -> None:
    for cmp, sign, bop in itertools.product(CMP, ("U32", "S32"), BOP):
        s = sign == "S32"

        def small(x: list[int], p: list[int], c: str = cmp, b: str = bop, s: bool = s) -> dict[str, int]:
            r = int(CMP[c](*(signed(v) if s else v for v in x[:2])))
            return {"P0": BOP[b](r, p[5]), "P1": BOP[b](1 - r, p[5])}

        def extended(x: list[int], p: list[int], c: str = cmp, b: str = bop, s: bool = s, low: Any = None) -> dict[str, int]:
            """The upper halves, and P6 says how the lower ones compare."""
            a, d = (signed(v) if s else v for v in x[:2])
            r = int(CMP[c](a, d))
            if c == "EQ":
                r = int(a == d) & p[6]
            elif c == "NE":
                r = int(a != d) | p[6]
            elif a == d and c not in ("F", "T"):
                r = p[6]
            return {"P0": BOP[b](r, p[5]), "P1": BOP[b](1 - r, p[5])}

        m = {"cmp": cmp, "bop": bop, "sign": sign}
        put("sm_80", "ISETP", ("P0", "R8", "R9", "P1", "P5"), "ww", small, "UISETP", **m)
        put("sm_80", "ISETP.EX", ("P0", "R8", "R9", "P1", "P5", "P6"), "ww", extended, "UISETP.EX", **m)

        def large(x: list[int], p: list[int], f: Want = small, s: bool = s) -> dict[str, int]:
            return f([v - (1 << 32 if s else 0) for v in ranks(x, s)], p)

        def large_ex(x: list[int], p: list[int], f: Want = extended, s: bool = s) -> dict[str, int]:
            return f([v - (1 << 32 if s else 0) for v in ranks(x, s)], p)

        m["sign"] = sign[0] + "64"
        put("sm_120", "ISETP.64", ("P0", "R8", "R10", "P1", "P5"), "dd", large, "UISETP.64", **m)
        put("sm_120", "ISETP.64.EX", ("P0", "R8", "R10", "P1", "P5", "P6"), "dd", large_ex, "UISETP.64.EX", **m)


def ranks(x: list[int], s: bool) -> list[int]:
    """Two 64-bit numbers as two small ones in the same order."""
    a, b = (signed(wide(x, k), 64) if s else wide(x, k) for k in (0, 2))
    return [(a > b) + 5, (b > a) + 5]


def elements(word: int, kind: str) -> list[int]:
    width = {"32": 32, "U32": 32, "S32": 32, "16x2": 16, "U16x2": 16, "S16x2": 16, "U8x4": 8, "S8x4": 8}[kind]
    values = [word >> at & (1 << width) - 1 for at in range(0, 32, width)]
    return [signed(v, width) if kind[0] == "S" else v for v in values]


def assembled(values: list[int]) -> dict[str, int]:
    width = 32 // len(values)
    return {"R16": sum((v & (1 << width) - 1) << i * width for i, v in enumerate(values))}


def extremes() -> None:
    for kind, relu in itertools.product(("U32", "S32", "U16x2", "S16x2", "U8x4", "S8x4"), (0, 1)):
        if relu and kind[0] == "U":
            continue

        def choose(x: list[int], p: list[int], k: str = kind, r: int = relu) -> dict[str, int]:
            out = [(min if p[2] else max)(a, b) for a, b in zip(elements(x[0], k), elements(x[1], k), strict=True)]
            return assembled([max(v, 0) if r else v for v in out])

        def three(x: list[int], p: list[int], k: str = kind, r: int = relu) -> dict[str, int]:
            out = [(min if p[2] else max)(v) for v in zip(*(elements(w, k) for w in x[:3]), strict=True)]
            return assembled([max(v, 0) if r else v for v in out])

        def summed(x: list[int], p: list[int], k: str = kind, r: int = relu) -> dict[str, int]:
            total = assembled([a - b for a, b in zip(elements(x[0], k), elements(x[1], k), strict=True)])["R16"]
            out = [(min if p[2] else max)(v) for v in zip(elements(total, k), elements(x[2], k), strict=True)]
            return assembled([max(v, 0) if r else v for v in out])

        m = {"type": kind, "relu": relu}
        put("sm_120", "VIMNMX.104", ("R16", "R8", "R9", "P2"), "ww", choose, "UVIMNMX", **m)
        if "8" not in kind:
            put("sm_90", "VIMNMX", ("R16", "R8", "R9", "P2"), "ww", choose, **m)
            put("sm_90", "VIMNMX3", ("R16", "R8", "R9", "R10", "P2"), "www", three, **m)
            put("sm_90", "VIADDMNMX", ("R16", "R8", "-R9", "R10", "P2"), "www", summed, **m)
    for kind, saturate in itertools.product(("32", "16x2", "S32", "S16x2", "U8x4", "S8x4"), (0, 1)):
        if saturate and kind in ("32", "16x2"):
            continue

        def total(x: list[int], p: list[int], k: str = kind, t: int = saturate) -> dict[str, int]:
            out = [a - b for a, b in zip(elements(x[0], k), elements(x[1], k), strict=True)]
            width = 32 // len(out)
            low, high = (-(1 << width - 1), (1 << width - 1) - 1) if k[0] == "S" else (0, (1 << width) - 1)
            return assembled([max(low, min(high, v)) if t else v for v in out])

        put("sm_120", "VIADD", ("R16", "R8", "-R9"), "ww", total, "UVIADD", simd=kind, isat=saturate)
    for sign in ("U", "S"):

        def narrow(x: list[int], p: list[int], s: str = sign) -> dict[str, int]:
            return {"R16": (min if p[2] else max)(x[0], x[1], key=signed if s == "S" else int)}

        def broad(x: list[int], p: list[int], s: str = sign) -> dict[str, int]:
            return {"D16": (min if p[2] else max)(wide(x, 0), wide(x, 2), key=(lambda v: signed(v, 64)) if s == "S" else int)}

        put("sm_120", "IMNMX", ("R16", "R8", "R9", "P2"), "ww", narrow, "UIMNMX", sign=f"{sign}32")
        put("sm_80", "IMNMX", ("R16", "R8", "R9", "P2"), "ww", narrow, sign=f"{sign}32")
        put("sm_120", "IMNMX.64", ("R16", "R8", "R10", "P2"), "dd", broad, "UIMNMX.64", sign=f"{sign}64")

        def distance(x: list[int], p: list[int], s: str = sign) -> dict[str, int]:
            a, b = (signed(v) if s == "S" else v for v in x[:2])
            return {"R16": abs(a - b) + x[2]}

        put("sm_80", "VABSDIFF", ("R16", "R8", "R9", "R10"), "www", distance, sign=f"{sign}32")
        for acc in (0, 1):

            def distances(x: list[int], p: list[int], s: str = sign, acc: int = acc) -> dict[str, int]:
                out = [abs(a - b) for a, b in zip(elements(x[0], s + "8x4"), elements(x[1], s + "8x4"), strict=True)]
                return {"R16": sum(out) + x[2]} if acc else assembled(out)

            put("sm_80", "VABSDIFF4", ("R16", "R8", "R9", "R10"), "www", distances, sign=f"{sign}8", acc=acc)
    put("sm_80", "IABS", ("R16", "R8"), "w", lambda x, p: {"R16": abs(signed(x[0]))}, "UIABS")


def dot_products() -> None:
    for mode, kind in itertools.product(("4A.U8", "4A.S8", "2A.LO.U16", "2A.LO.S16", "2A.HI.U16", "2A.HI.S16"), ("U8", "S8")):

        def want(x: list[int], p: list[int], mode: str = mode, k: str = kind) -> dict[str, int]:
            b = elements(x[1], k + "x4")
            if mode[0] == "4":
                a = elements(x[0], mode[3:] + "x4")
            else:
                a, b = elements(x[0], mode[6:] + "x2"), b[2:] if "HI" in mode else b[:2]
            return {"R16": sum(i * j for i, j in zip(a, b, strict=True)) - x[2]}

        put("sm_80", "IDP", ("R16", "R8", "R9", "-R10"), "www", want, mode=mode, type=kind)


def shifts() -> None:
    for way, kind, wrap in itertools.product("LR", ("U32", "S32", "U64", "S64"), "CW"):
        width = int(kind[1:])

        def value(x: list[int], way: str = way, k: str = kind, wrap: str = wrap, n: int = width) -> int:
            v = x[0] | x[2] << 32
            by = x[1] % n if wrap == "W" else min(x[1], n)
            return (v << by if way == "L" else (signed(v, 64) if k[0] == "S" else v) >> by) & M64

        def low(x: list[int], p: list[int], f: Any = value) -> dict[str, int]:
            return {"R16": f(x)}

        def high(x: list[int], p: list[int], f: Any = value) -> dict[str, int]:
            return {"R16": f(x) >> 32}

        m = {"dir": way, "type": kind, "wrap": wrap}
        put("sm_80", "SHF", ("R16", "R8", "R9", "R10"), "www", low, "USHF", **m)
        put("sm_80", "SHF", ("R16", "R8", "R9", "R10"), "www", high, "USHF", **m, hi=1)
    for shift in (0, 1, 7, 31):

        def lea(x: list[int], p: list[int], s: int = shift) -> dict[str, int]:
            total = (x[0] << s & M32) + (x[1] ^ M32) + 1
            return {"R16": total, "P0": total >> 32}

        def lea_x(x: list[int], p: list[int], s: int = shift) -> dict[str, int]:
            total = (x[0] << s & M32) + (x[1] ^ M32) + p[5]
            return {"R16": total, "P0": total >> 32}

        def lea_hi(x: list[int], p: list[int], s: int = shift) -> dict[str, int]:
            total = ((x[0] | x[2] << 32) << s >> 32 & M32) + x[1]
            return {"R16": total, "P0": total >> 32}

        def lea_hi_x(x: list[int], p: list[int], s: int = shift) -> dict[str, int]:
            total = ((x[0] | x[2] << 32) << s >> 32 & M32) + x[1] + p[5]
            return {"R16": total, "P0": total >> 32}

        def lea_sx(x: list[int], p: list[int], s: int = shift) -> dict[str, int]:
            total = (signed(x[0]) << s >> 32 & M32) + x[1]
            return {"R16": total, "P0": total >> 32}

        put("sm_80", "LEA", ("R16", "R8", "-R9", "P0"), "ww", lea, "ULEA", shift=shift)
        put("sm_80", "LEA.X", ("R16", "R8", "~R9", "P0", "P5"), "ww", lea_x, "ULEA.X", shift=shift)
        put("sm_80", "LEA.HI", ("R16", "R8", "R9", "R10", "P0"), "www", lea_hi, "ULEA.HI", shift=shift)
        put("sm_80", "LEA.HI.X", ("R16", "R8", "R9", "R10", "P0", "P5"), "www", lea_hi_x, "ULEA.HI.X", shift=shift)
        put("sm_80", "LEA.HI", ("R16", "R8", "R9", None, "P0"), "ww", lea_sx, "ULEA.HI", shift=shift, sx32=1)


def bits() -> None:
    for wrap, sign in itertools.product("CW", ("U32", "S32")):

        def extend(x: list[int], p: list[int], w: str = wrap, s: str = sign) -> dict[str, int]:
            n = x[1] & 31 if w == "W" else min(x[1], 32)
            kept = x[0] & (1 << n) - 1
            return {"R16": signed(kept, n) if s == "S32" and n else kept}

        put("sm_80", "SGXT", ("R16", "R8", "R9"), "ww", extend, "USGXT", wrap=wrap, sign=sign)

    for wrap in "CW":

        def mask(x: list[int], p: list[int], w: str = wrap) -> dict[str, int]:
            start, n = (v & 31 if w == "W" else min(v, 32) for v in x[:2])
            return {"R16": (1 << n) - 1 << start}

        put("sm_80", "BMSK", ("R16", "R8", "R9"), "ww", mask, "UBMSK", wrap=wrap)
    for sign, sh, inv in itertools.product(("U32", "S32"), (0, 1), ("", "~")):

        def leading(x: list[int], p: list[int], s: str = sign, sh: int = sh, inv: str = inv) -> dict[str, int]:
            v = x[0] ^ M32 if inv else x[0]
            v = v ^ M32 if s == "S32" and v >> 31 else v
            return {"R16": M32 if v == 0 else 32 - v.bit_length() if sh else v.bit_length() - 1}

        put("sm_80", "FLO", ("R16", f"{inv}R8"), "w", leading, "UFLO", sign=sign, sh=sh)
    put("sm_80", "POPC", ("R16", "~R8"), "w", lambda x, _: {"R16": 32 - x[0].bit_count()}, "UPOPC")
    put("sm_80", "BREV", ("R16", "R8"), "w", lambda x, p: {"R16": int(f"{x[0]:032b}"[::-1], 2)}, "UBREV")


def logic() -> None:
    for lut, pand in ((0xC0, 0), (0x96, 1), (0x1B, 0), (0xE8, 1), (0x00, 0), (0xFF, 1)):

        def three(x: list[int], p: list[int], lut: int = lut, pand: int = pand) -> dict[str, int]:
            out = 0
            for i in range(8):
                if lut >> i & 1:
                    term = M32
                    for k, v in enumerate(x[:3]):
                        term &= v if i >> 2 - k & 1 else v ^ M32
                    out |= term
            return {"R16": out, "P0": (out != 0 and p[5]) if pand else (out != 0 or p[5])}

        def truth(x: list[int], p: list[int], lut: int = lut) -> dict[str, int]:
            i = p[4] << 2 | (1 - p[5]) << 1 | p[6]
            return {"P0": lut >> i & 1, "P1": 0x35 >> i & 1}

        put("sm_80", "LOP3", ("R16", "R8", "R9", "R10", "P0", "P5"), "www", three, "ULOP3", lut=lut, pand=pand)
        put("sm_80", "PLOP3", ("P0", "P4", "!P5", "P6", "P1"), "w", truth, "UPLOP3", lut=lut, lutb=0x35)

        def signs(x: list[int], p: list[int], lut: int = lut) -> dict[str, int]:
            i = x[0] >> 31 << 2 | x[1] >> 31 << 1 | x[2] >> 31
            return {"P0": lut >> i & 1, "P1": 0x35 >> i & 1}

        def one_sign(x: list[int], p: list[int], lut: int = lut) -> dict[str, int]:
            i = p[4] << 2 | x[0] >> 31 << 1 | p[6]
            return {"P0": lut >> i & 1, "P1": 0x35 >> i & 1}

        def two_signs(x: list[int], p: list[int], lut: int = lut) -> dict[str, int]:
            i = p[4] << 2 | x[0] >> 31 << 1 | x[1] >> 31
            return {"P0": lut >> i & 1, "P1": 0x35 >> i & 1}

        put("sm_80", "PLOP3.SIGN", ("P0", "R8", "R9", "R10", "P1"), "www", signs, "UPLOP3.SIGN", lut=lut, lutb=0x35)
        put("sm_80", "PLOP3.SIGN1", ("P0", "P4", "R8", "P6", "P1"), "w", one_sign, "UPLOP3.SIGN1", lut=lut, lutb=0x35)
        put("sm_80", "PLOP3.SIGN2", ("P0", "P4", "R8", "R9", "P1"), "ww", two_signs, "UPLOP3.SIGN2", lut=lut, lutb=0x35)
    tables = {
        "F4E": lambda s, i: s + i,
        "B4E": lambda s, i: s - i & 7,
        "RC8": lambda s, i: s,
        "ECL": max,
        "ECR": min,
        "RC16": lambda s, i: (s & 1) * 2 + (i & 1),
    }
    for mode in ("IDX", *tables):

        def permuted(x: list[int], p: list[int], mode: str = mode) -> dict[str, int]:
            both = (x[0] | x[2] << 32).to_bytes(8, "little")
            if mode == "IDX":
                picks = [x[1] >> 4 * i & 15 for i in range(4)]
                out = [255 * (both[k & 7] >> 7) if k & 8 else both[k] for k in picks]
            else:
                out = [both[tables[mode](x[1] & 3, i)] for i in range(4)]
            return {"R16": int.from_bytes(bytes(out), "little")}

        put(
            "sm_80",
            "PRMT",
            ("R16", "R8", "R9", "R10"),
            "www",
            permuted,
            "UPRMT" if mode == "IDX" else None,
            **({} if mode == "IDX" else {"mode": mode}),
        )
    put("sm_80", "SEL", ("R16", "R8", "R9", "P5"), "ww", lambda x, p: {"R16": x[0] if p[5] else x[1]}, "USEL")
    put("sm_120", "SEL.64", ("R16", "R8", "R10", "P5"), "dd", lambda x, p: {"D16": wide(x, 0) if p[5] else wide(x, 2)}, "USEL.64")
    put("sm_120", "SEL.64", ("R16", "R8", -2, "P5"), "d", lambda x, p: {"D16": wide(x, 0) if p[5] else -2}, "USEL.64")
    put(
        "sm_120",
        "SEL.64",
        ("R16", "R8", 0xFFFFFFFE, "P5"),
        "d",
        lambda x, p: {"D16": wide(x, 0) if p[5] else 0xFFFFFFFE},
        "USEL.64",
    )
    put("sm_120", "MOV.64", ("R16", "R8"), "d", lambda x, p: {"D16": wide(x, 0)}, "UMOV.64")
    put("sm_120", "MOV.64", ("R16", 0x8123456789ABCDEF - (1 << 64)), "w", lambda x, p: {"D16": 0x8123456789ABCDEF}, "UMOV.64")


for family in (additions, multiplications, comparisons, extremes, dot_products, shifts, bits, logic):
    family()


@pytest.mark.parametrize("quad", [0x0, 0x8, 0x5, 0xF])
def test_a_move_of_some_lanes_of_each_quad(quad: int) -> None:
    """The lanes that the mask leaves out keep what the register had: one pattern here. Numbers are packed xor their default."""
    data = lanes.rows(("int",), 200, 5)
    got = run(Case("sm_80", "MOV", ("R16", "R8"), ("int",), lambda x, p: {}, {"mask": quad ^ 0xF}), data)[:, 0]
    written = (quad >> (np.arange(len(data)) & 3) & 1).astype(bool)
    np.testing.assert_array_equal(got[written], data[written, 0])
    assert len(set(got[~written].tolist())) <= 1


@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_edges_and_some_random_operands(case: Case) -> None:
    check(case, lanes.FEW)


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_random_operands(case: Case) -> None:
    check(case, lanes.share(case, CASES), seed=2)


@pytest.mark.parametrize("op", ["MAX", "MIN"])
@pytest.mark.parametrize("kind", ["U32", "S32"])
def test_extremes_of_a_warp(op: str, kind: str) -> None:
    data = lanes.rows(("int",), 4000, 6)[-3200:]
    got = run(Case("sm_100", "CREDUX", ("UR8", "R8"), ("int",), lambda x, p: {}, {"op": op, "type": kind}), data, after="UR8")
    values = data[:, 0].view(np.int32 if kind == "S32" else np.uint32).reshape(-1, 32)
    want = np.repeat(values.max(1) if op == "MAX" else values.min(1), 32).view(np.uint32)
    np.testing.assert_array_equal(got[:, 0], want)
