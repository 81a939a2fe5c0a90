# ruff: noqa: E501 (tables)
"""The table of instructions: text, class of the result, classes of the sources, reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from . import meaning as m
from .meaning import BF16, F16, F32, F64, s, u


class Case(NamedTuple):
    """An instruction and what it computes; ``check`` replaces equality (got, want, *sources)."""

    text: str
    dest: str
    sources: str
    reference: Callable[..., int]
    constants: tuple[int | None, ...] = ()
    check: Callable[..., bool] | None = None
    kinds: str = ""  # how operands are drawn when not as their classes say ("H": half floats in h)
    targets: tuple[str, ...] = ("sm_90", "sm_80")


_CLASS = {16: "h", 32: "r", 64: "d"}


def integer() -> Iterator[Case]:
    for bits in (16, 32, 64):
        c = _CLASS[bits]
        for t in ("s", "u"):
            T = f"{t}{bits}"
            signed = t == "s"

            def v(x: int, bits: int = bits, signed: bool = signed) -> int:
                return s(x, bits) if signed else x

            yield Case(f"add.{T} D, A, B", c, c * 2, lambda a, b, n=bits: u(a + b, n))
            yield Case(f"sub.{T} D, A, B", c, c * 2, lambda a, b, n=bits: u(a - b, n))
            for k in (1, 5, -3, 0):
                yield Case(f"add.{T} D, A, B", c, c * 2, lambda a, b, n=bits: u(a + b, n), (None, k))
                yield Case(f"sub.{T} D, A, B", c, c * 2, lambda a, b, n=bits: u(a - b, n), (None, k))
            yield Case(f"mul.lo.{T} D, A, B", c, c * 2, lambda a, b, n=bits: u(a * b, n))
            yield Case(f"mul.hi.{T} D, A, B", c, c * 2, lambda a, b, n=bits, v=v: u(v(a) * v(b) >> n, n))
            yield Case(f"mad.lo.{T} D, A, B, C", c, c * 3, lambda a, b, x, n=bits: u(a * b + x, n))
            yield Case(f"mad.hi.{T} D, A, B, C", c, c * 3, lambda a, b, x, n=bits, v=v: u((v(a) * v(b) >> n) + x, n))
            yield Case(f"min.{T} D, A, B", c, c * 2, lambda a, b, v=v: min(a, b, key=v))
            yield Case(f"max.{T} D, A, B", c, c * 2, lambda a, b, v=v: max(a, b, key=v))
            yield Case(f"max.{T} D, A, B", c, c * 2, lambda a, b, v=v: max(a, b, key=v), (None, 7))
            yield Case(
                f"div.{T} D, A, B", c, c * 2, lambda a, b, n=bits, v=v: u(m.truncated(v(a), v(b))[0], n) if b else u(-1, n)
            )
            yield Case(
                f"rem.{T} D, A, B", c, c * 2, lambda a, b, n=bits, v=v: u(m.truncated(v(a), v(b))[1], n) if b else u(-1, n)
            )
            more = (7, 641, 1000003, 0x7FFFFFFF) if bits == 32 else ()
            for k in (1, 3, 8, 10, *more, *((-1, -2, -3, -7, -10, -16, -1000) if signed and bits == 32 else ())):
                yield Case(f"div.{T} D, A, B", c, c * 2, lambda a, b, n=bits, v=v: u(m.truncated(v(a), v(b))[0], n), (None, k))
                yield Case(f"rem.{T} D, A, B", c, c * 2, lambda a, b, n=bits, v=v: u(m.truncated(v(a), v(b))[1], n), (None, k))
            yield Case(f"sad.{T} D, A, B, C", c, c * 3, lambda a, b, x, n=bits, v=v: u(abs(v(a) - v(b)) + x, n))
            if bits < 64:
                w = _CLASS[2 * bits]
                yield Case(f"mul.wide.{T} D, A, B", w, c * 2, lambda a, b, n=bits, v=v: u(v(a) * v(b), 2 * n))
                yield Case(f"mad.wide.{T} D, A, B, C", w, c * 2 + w, lambda a, b, x, n=bits, v=v: u(v(a) * v(b) + x, 2 * n))
                yield Case(f"mul.wide.{T} D, A, B", w, c * 2, lambda a, b, n=bits, v=v: u(v(a) * v(b), 2 * n), (None, 12))
            yield Case(f"shr.{T} D, A, B", c, c + "r", lambda a, b, n=bits, v=v: u(v(a) >> min(b, n), n))
            yield Case(f"shr.{T} D, A, B", c, c + "r", lambda a, b, n=bits, v=v: u(v(a) >> min(b, n), n), (None, 5))
            for k in (bits // 2, bits - 1, bits, bits + 8):
                yield Case(f"shr.{T} D, A, B", c, c + "r", lambda a, b, n=bits, v=v: u(v(a) >> min(b, n), n), (None, k))
            for name, compare in m.INTEGER_COMPARE.items():
                yield Case(f"setp.{name}.{T} D, A, B", "p", c * 2, lambda a, b, f=compare, v=v: int(f(v(a), v(b))))
        n = bits
        yield Case(f"neg.s{n} D, A", c, c, lambda a, n=n: u(-a, n))
        yield Case(f"abs.s{n} D, A", c, c, lambda a, n=n: u(abs(s(a, n)), n))
        yield Case(f"setp.lt.s{n} D, A, B", "p", c * 2, lambda a, b, n=n: int(s(a, n) < s(b, n)), (None, -2))
        yield Case(f"setp.hi.u{n} D, A, B", "p", c * 2, lambda a, b: int(a > b), (None, 9))
        yield Case(f"setp.eq.b{n} D, A, B", "p", c * 2, lambda a, b: int(a == b))
        for op, f in (("and", lambda x, y: x and y), ("or", lambda x, y: x or y), ("xor", lambda x, y: x != y)):
            yield Case(
                f"setp.lt.{op}.s{n} D, A, B, C", "p", c * 2 + "p", lambda a, b, p, n=n, f=f: int(f(s(a, n) < s(b, n), bool(p)))
            )
            yield Case(f"setp.ge.{op}.u{n} D, A, B, !C", "p", c * 2 + "p", lambda a, b, p, f=f: int(f(a >= b, not p)))
        yield Case(f"shl.b{n} D, A, B", c, c + "r", lambda a, b, n=n: u(a << min(b, n), n))
        yield Case(f"shl.b{n} D, A, B", c, c + "r", lambda a, b, n=n: u(a << b, n), (None, 3))
        for k in (n // 2, n - 1, n, n + 8):
            yield Case(f"shl.b{n} D, A, B", c, c + "r", lambda a, b, n=n: u(a << b, n), (None, k))
        yield Case(f"selp.b{n} D, A, B, C", c, c * 2 + "p", lambda a, b, p: a if p else b)
        yield Case(f"slct.b{n}.s32 D, A, B, C", c, c * 2 + "r", lambda a, b, x: a if s(x, 32) >= 0 else b)
        yield Case(f"not.b{n} D, A", c, c, lambda a, n=n: u(~a, n))
        yield Case(f"cnot.b{n} D, A", c, c, lambda a: int(a == 0))
        for op, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            yield Case(f"{op}.b{n} D, A, B", c, c * 2, f)
            yield Case(f"{op}.b{n} D, A, B", c, c * 2, lambda a, b, f=f, n=n: u(f(a, b), n), (None, 0x55))
            yield Case(f"{op}.b{n} D, A, B", c, c * 2, lambda a, b, f=f, n=n: u(f(a, b), n), (0x1234, None))
    yield Case("add.sat.s32 D, A, B", "r", "rr", lambda a, b: m.saturate(s(a, 32) + s(b, 32), 32, True))
    yield Case("sub.sat.s32 D, A, B", "r", "rr", lambda a, b: m.saturate(s(a, 32) - s(b, 32), 32, True))
    yield Case("sub.s32 D, A, B", "r", "rr", lambda a, b: u(a - b, 32), (100, None))
    yield Case("sub.s64 D, A, B", "d", "dd", lambda a, b: u(a - b, 64), (100, None))
    yield Case(
        "mad.hi.sat.s32 D, A, B, C", "r", "rrr", lambda a, b, c: m.saturate((s(a, 32) * s(b, 32) >> 32) + s(c, 32), 32, True)
    )
    for lo in (True, False):
        sh = 0 if lo else 16
        n = "lo" if lo else "hi"
        yield Case(f"mul24.{n}.s32 D, A, B", "r", "rr", lambda a, b, h=sh: u(s(a, 24) * s(b, 24) >> h, 32))
        yield Case(f"mul24.{n}.u32 D, A, B", "r", "rr", lambda a, b, h=sh: u(u(a, 24) * u(b, 24) >> h, 32))
        yield Case(f"mad24.{n}.s32 D, A, B, C", "r", "rrr", lambda a, b, c, h=sh: u((s(a, 24) * s(b, 24) >> h) + c, 32))
        yield Case(f"mad24.{n}.u32 D, A, B, C", "r", "rrr", lambda a, b, c, h=sh: u((u(a, 24) * u(b, 24) >> h) + c, 32))
    for ta in "su":
        for tb in "su":

            def dot(a: int, b: int, c: int, x: str = ta, y: str = tb) -> int:
                f, g = (s if x == "s" else u), (s if y == "s" else u)
                return u(c + sum(f(a >> 8 * k, 8) * g(b >> 8 * k, 8) for k in range(4)), 32)

            def dot2(a: int, b: int, c: int, base: int, x: str = ta, y: str = tb) -> int:
                f, g = (s if x == "s" else u), (s if y == "s" else u)
                return u(c + sum(f(a >> 16 * k, 16) * g(b >> 8 * (k + base), 8) for k in range(2)), 32)

            yield Case(f"dp4a.{ta}32.{tb}32 D, A, B, C", "r", "rrr", dot)
            yield Case(f"dp2a.lo.{ta}32.{tb}32 D, A, B, C", "r", "rrr", lambda a, b, c, f=dot2: f(a, b, c, 0))
            yield Case(f"dp2a.hi.{ta}32.{tb}32 D, A, B, C", "r", "rrr", lambda a, b, c, f=dot2: f(a, b, c, 2))
    yield Case("mad24.hi.sat.s32 D, A, B, C", "r", "rrr",
               lambda a, b, c: u(max(-(1 << 31), min((1 << 31) - 1, (s(a, 24) * s(b, 24) >> 16) + s(c, 32))), 32))  # fmt: skip
    for op, pick in (("min", min), ("max", max)):
        yield Case(f"{op}.relu.s32 D, A, B", "r", "rr", lambda a, b, f=pick: max(0, f(s(a, 32), s(b, 32))), targets=("sm_90",))


def carries() -> Iterator[Case]:
    yield Case("{.reg .b32 %lo; add.cc.u32 %lo, A, B; addc.u32 D, C, 0;}", "r", "rrr", lambda a, b, c: u(c + (a + b >> 32), 32))
    yield Case("{.reg .b32 %lo; sub.cc.u32 %lo, A, B; subc.u32 D, C, 7;}", "r", "rrr", lambda a, b, c: u(c - 7 - (a < b), 32))
    yield Case("{.reg .b32 %lo; sub.cc.u32 %lo, A, 0; subc.u32 D, C, B;}", "r", "rrr", lambda a, b, c: u(c - b, 32))
    yield Case("{.reg .b32 %lo; add.cc.u32 %lo, A, B; addc.cc.u32 %lo, C, A; addc.u32 D, 0, 0;}", "r", "rrr",
               lambda a, b, c: c + a + (a + b >> 32) >> 32)  # fmt: skip
    yield Case(
        "{.reg .b32 %lo; mad.lo.cc.u32 %lo, A, B, C; madc.hi.u32 D, A, B, 0;}", "r", "rrr", lambda a, b, c: u(a * b + c >> 32, 32)
    )
    yield Case("{.reg .b64 %lo; add.cc.u64 %lo, A, B; addc.u64 D, C, 0;}", "d", "ddd", lambda a, b, c: u(c + (a + b >> 64), 64))
    yield Case("{.reg .b64 %lo; sub.cc.u64 %lo, A, B; subc.u64 D, C, A;}", "d", "ddd", lambda a, b, c: u(c - a - (a < b), 64))
    for t, signed in (("u64", False), ("s64", True)):
        for part in ("lo", "hi"):

            def product(a: int, b: int, signed: bool = signed, part: str = part) -> int:
                whole = s(a, 64) * s(b, 64) if signed else a * b
                return u(whole if part == "lo" else whole >> 64, 64)

            # the sum and its carry, without and with a carry that comes in (of C + C)
            yield Case(f"{{mad.{part}.cc.{t} D, A, B, C;}}", "d", "ddd", lambda a, b, c, f=product: u(f(a, b) + c, 64))
            yield Case(f"{{.reg .b64 %lo; mad.{part}.cc.{t} %lo, A, B, C; addc.u64 D, 0, 0;}}", "d", "ddd",
                       lambda a, b, c, f=product: f(a, b) + c >> 64)  # fmt: skip
            yield Case(f"{{.reg .b64 %lo; add.cc.u64 %lo, C, C; madc.{part}.{t} D, A, B, C;}}", "d", "ddd",
                       lambda a, b, c, f=product: u(f(a, b) + c + (c >> 63), 64))  # fmt: skip
            yield Case(f"{{.reg .b64 %lo; add.cc.u64 %lo, C, C; madc.{part}.cc.{t} %lo, A, B, C; addc.u64 D, 0, 0;}}", "d", "ddd",
                       lambda a, b, c, f=product: f(a, b) + c + (c >> 63) >> 64)  # fmt: skip


def bits() -> Iterator[Case]:
    for n in (32, 64):
        c = _CLASS[n]
        yield Case(f"popc.b{n} D, A", "r", c, lambda a: a.bit_count())
        yield Case(f"clz.b{n} D, A", "r", c, lambda a, n=n: m.clz(a, n))
        yield Case(f"brev.b{n} D, A", c, c, lambda a, n=n: m.brev(a, n))
        for t in "su":
            yield Case(f"bfind.{t}{n} D, A", "r", c, lambda a, n=n, t=t: m.bfind(a, n, t == "s"))
            yield Case(f"bfind.shiftamt.{t}{n} D, A", "r", c, lambda a, n=n, t=t: m.bfind(a, n, t == "s", True))
            yield Case(f"bfe.{t}{n} D, A, B, C", c, c + "rr", lambda a, b, x, n=n, t=t: m.bfe(a, b, x, n, t == "s"))
            for pos, length in ((4, 8), (0, 32), (20, 31), (31, 1), (5, 0)):
                yield Case(
                    f"bfe.{t}{n} D, A, B, C",
                    c,
                    c + "rr",
                    lambda a, b, x, n=n, t=t: m.bfe(a, b, x, n, t == "s"),
                    (None, pos, length),
                )
        yield Case(f"{{.reg .b32 %len; mov.b32 %len, 9; bfi.b{n} D, A, B, C, %len;}}", c, c * 2 + "r",
                   lambda a, b, x, n=n: m.bfi(a, b, x, 9, n))  # fmt: skip
        yield Case(f"{{.reg .b32 %pos; mov.b32 %pos, 3; bfi.b{n} D, A, B, %pos, C;}}", c, c * 2 + "r",
                   lambda a, b, x, n=n: m.bfi(a, b, 3, x, n))  # fmt: skip
        yield Case(f"bfi.b{n} D, A, B, 4, 8", c, c * 2, lambda a, b, n=n: m.bfi(a, b, 4, 8, n))
    for mode, f in (("wrap", lambda x: x & 31), ("clamp", lambda x: min(x, 32))):
        yield Case(f"shf.l.{mode}.b32 D, A, B, C", "r", "rrr", lambda a, b, c, f=f: u((b << 32 | a) << f(c) >> 32, 32))
        yield Case(f"shf.r.{mode}.b32 D, A, B, C", "r", "rrr", lambda a, b, c, f=f: u((b << 32 | a) >> f(c), 32))
        yield Case(
            f"shf.l.{mode}.b32 D, A, B, C", "r", "rrr", lambda a, b, c, f=f: u((b << 32 | a) << f(c) >> 32, 32), (None, None, 13)
        )
        yield Case(f"bmsk.{mode}.b32 D, A, B", "r", "rr", lambda a, b, f=f: u(((1 << f(b)) - 1) << f(a), 32))
        yield Case(f"szext.{mode}.u32 D, A, B", "r", "rr", lambda a, b, f=f: u(a, f(b)) if f(b) else 0)
        yield Case(f"szext.{mode}.s32 D, A, B", "r", "rr", lambda a, b, f=f: u(s(a, f(b)), 32) if f(b) else 0)
    yield Case("prmt.b32 D, A, B, C", "r", "rrr", m.prmt)
    yield Case("prmt.b32 D, A, B, C", "r", "rrr", m.prmt, (None, None, 0x7531))
    yield Case("prmt.b32 D, A, B, C", "r", "rrr", m.prmt, (None, 0, 0x4321))
    for lut in (0x96, 0xE8, 0xCA, 0x01, 0xC0):
        yield Case(f"lop3.b32 D, A, B, C, {lut}", "r", "rrr", lambda a, b, c, lut=lut: m.lop3(a, b, c, lut))
    yield Case("and.pred D, A, B", "p", "pp", lambda a, b: a & b)
    yield Case("or.pred D, A, B", "p", "pp", lambda a, b: a | b)
    yield Case("xor.pred D, A, B", "p", "pp", lambda a, b: a ^ b)
    yield Case("not.pred D, A", "p", "p", lambda a: 1 - a)
    yield Case("mov.pred D, A", "p", "p", lambda a: a)
    yield Case("mov.b32 D, A", "r", "r", lambda a: a)
    yield Case("mov.b64 D, A", "d", "d", lambda a: a)
    yield Case("mov.b16 D, A", "h", "h", lambda a: a)
    yield Case("mov.b64 D, {A, B}", "d", "rr", lambda a, b: a | b << 32)
    yield Case("mov.b32 D, {A, B}", "r", "hh", lambda a, b: a | b << 16)
    yield Case("mov.b64 D, {A, B, C, A}", "d", "hhh", lambda a, b, c: a | b << 16 | c << 32 | a << 48)
    yield Case("mov.b32 D, {5, A}", "r", "r", lambda a: 5 | u(a, 16) << 16)
    yield Case("mov.b32 D, {5, A}", "r", "d", lambda a: 5 | u(a, 16) << 16)
    yield Case("mov.b64 D, {-1, A}", "d", "d", lambda a: 0xFFFFFFFF | u(a, 32) << 32)
    yield Case("mov.b32 D, {1, A, 3, B}", "r", "rd", lambda a, b: 1 | u(a, 8) << 8 | 3 << 16 | u(b, 8) << 24)
    yield Case("{.reg .b32 %z; mov.b32 %z, {1, 2}; xor.b32 D, %z, A;}", "r", "r", lambda a: a ^ 0x20001)
    yield Case("{.reg .b64 %z; mov.b64 %z, {-1, 70000}; xor.b64 D, %z, A;}", "d", "d", lambda a: a ^ (70000 << 32 | 0xFFFFFFFF))
    yield Case("{.reg .f32 %z; mov.b32 %z, A; mov.b64 D, {%z, 1.5};}", "d", "r", lambda a: a | 0x3FC00000 << 32)
    yield Case("{.reg .f32 %z; mov.b32 %z, A; mov.b64 D, {0f3F800000, %z};}", "d", "r", lambda a: 0x3F800000 | a << 32)
    yield Case("{.reg .b32 %lo; mov.b64 {%lo, D}, A;}", "r", "d", lambda a: a >> 32)
    yield Case("{.reg .b32 %hi; mov.b64 {D, %hi}, A;}", "r", "d", lambda a: u(a, 32))
    yield Case("{.reg .b16 %lo; mov.b32 {%lo, D}, A;}", "h", "r", lambda a: a >> 16)
    yield Case("{.reg .b16 %x; mov.b64 {%x, %x, D, %x}, A;}", "h", "d", lambda a: u(a >> 32, 16))


INT_TYPES = [(t, n) for n in (8, 16, 32, 64) for t in "su"]
_INT_CLASS = {8: "r", 16: "h", 32: "r", 64: "d"}


def _int_result(value: int, t: str, n: int) -> int:
    """A converted value in its register: 8-bit results fill 32 bits."""
    value = u(value, n)
    return u(s(value, n), 32) if n == 8 and t == "s" else value


def _packed(a: int, b: int, bits: int, kind: str) -> int:
    """The first source above the second, both saturated."""
    high, low = (u(m.saturate(s(x, 32), bits, kind == "s"), bits) for x in (a, b))
    return high << bits | low


def conversions() -> Iterator[Case]:
    for td, nd in INT_TYPES:
        for ts, ns in INT_TYPES:
            src, dst = f"{ts}{ns}", f"{td}{nd}"

            def value(a: int, ts: str = ts, ns: int = ns) -> int:
                return s(a, ns) if ts == "s" else u(a, ns)

            yield Case(
                f"cvt.{dst}.{src} D, A", _INT_CLASS[nd], _INT_CLASS[ns], lambda a, v=value, t=td, n=nd: _int_result(v(a), t, n)
            )
            if nd < ns or (td, ts) == ("u", "s") or (td != ts and nd == ns):
                yield Case(f"cvt.sat.{dst}.{src} D, A", _INT_CLASS[nd], _INT_CLASS[ns],
                           lambda a, v=value, t=td, n=nd: _int_result(m.saturate(v(a), n, t == "s"), t, n))  # fmt: skip
    for t in ("u", "s"):
        yield Case(f"cvt.pack.sat.{t}16.s32 D, A, B", "r", "rr", lambda a, b, t=t: _packed(a, b, 16, t))
        yield Case(f"cvt.pack.sat.{t}8.s32.b32 D, A, B, C", "r", "rrr",
                   lambda a, b, c, t=t: _packed(a, b, 8, t) | (c & 0xFFFF) << 16)  # fmt: skip
    floats = [("f16", F16, "h", "H"), ("f32", F32, "f", "f"), ("f64", F64, "g", "g")]
    for name, fmt, c, kind in floats:
        for t, n in INT_TYPES:
            for mode in ("rn", "rz", "rm", "rp") if n >= 32 or name == "f32" else ("rn",):
                yield Case(f"cvt.{mode}.{name}.{t}{n} D, A", c, _INT_CLASS[n],
                           lambda a, f=fmt, t=t, n=n, mode=mode: f.from_int(s(a, n) if t == "s" else u(a, n), mode))  # fmt: skip
            for mode in ("rni", "rzi", "rmi", "rpi"):
                # NaN: 0 for results up to 32 bits of f32 and f16, the sign bit alone otherwise (observed)
                nan = 0 if n < 64 and name != "f64" else 1 << n - 1
                yield Case(f"cvt.{mode}.{t}{n}.{name} D, A", _INT_CLASS[n], c,
                           lambda a, f=fmt, t=t, n=n, mode=mode, nan=nan: _int_result(f.to_int(a, n, t == "s", mode, nan), t, n),
                           kinds=kind, check=lambda got, want, a, f=fmt: got == want or f.is_nan(a))  # fmt: skip
        for mode in ("rni", "rzi", "rmi", "rpi"):
            yield Case(f"cvt.{mode}.{name}.{name} D, A", c, c, lambda a, f=fmt, mode=mode: f.to_whole(a, mode), kinds=kind)
    yield Case("cvt.f64.f32 D, A", "g", "f", lambda a: F64.convert(a, F32))
    yield Case("cvt.f32.f16 D, A", "f", "h", lambda a: F32.convert(a, F16), kinds="H")
    yield Case("cvt.f64.f16 D, A", "g", "h", lambda a: F64.convert(a, F16), kinds="H")
    yield Case("cvt.f32.bf16 D, A", "f", "h", lambda a: a << 16, check=lambda got, want, a: got == want)
    for mode in ("rn", "rz", "rm", "rp"):
        yield Case(f"cvt.{mode}.f32.f64 D, A", "f", "g", lambda a, mode=mode: F32.convert(a, F64, mode))
        yield Case(f"cvt.{mode}.f16.f32 D, A", "h", "f", lambda a, mode=mode: F16.convert(a, F32, mode))
        yield Case(f"cvt.{mode}.f16.f64 D, A", "h", "g", lambda a, mode=mode: F16.convert(a, F64, mode))
    for mode in ("rn", "rz"):
        yield Case(f"cvt.{mode}.bf16.f32 D, A", "h", "f", lambda a, mode=mode: BF16.convert(a, F32, mode),
                   check=lambda got, want, a: got == want or F32.is_nan(a))  # fmt: skip
        yield Case(f"cvt.{mode}.f16x2.f32 D, A, B", "r", "ff", lambda a, b, mode=mode: F16.convert(b, F32, mode) | F16.convert(a, F32, mode) << 16,
                   check=lambda got, want, a, b: got == want or F32.is_nan(a) or F32.is_nan(b))  # fmt: skip
        yield Case(f"cvt.{mode}.bf16x2.f32 D, A, B", "r", "ff", lambda a, b, mode=mode: BF16.convert(b, F32, mode) | BF16.convert(a, F32, mode) << 16,
                   check=lambda got, want, a, b: got == want or F32.is_nan(a) or F32.is_nan(b))  # fmt: skip
    yield Case("cvt.sat.f32.f32 D, A", "f", "f", _sat)
    yield Case("cvt.ftz.f32.f32 D, A", "f", "f", F32.flush)


def _sat(a: int) -> int:
    if F32.is_nan(a) or a & F32.sign:
        return 0
    return min(a, 0x3F800000)


def floats() -> Iterator[Case]:
    for name, fmt, c in (("f32", F32, "f"), ("f64", F64, "g")):
        for mode in ("", ".rn", ".rz", ".rm", ".rp"):
            r = mode[1:] or "rn"
            yield Case(f"add{mode}.{name} D, A, B", c, c * 2, lambda a, b, f=fmt, r=r: f.add(a, b, r))
            yield Case(f"sub{mode}.{name} D, A, B", c, c * 2, lambda a, b, f=fmt, r=r: f.add(a, f.sign ^ b, r))
            yield Case(f"mul{mode}.{name} D, A, B", c, c * 2, lambda a, b, f=fmt, r=r: f.mul(a, b, r))
            if mode:
                yield Case(f"fma{mode}.{name} D, A, B, C", c, c * 3, lambda a, b, x, f=fmt, r=r: f.fma(a, b, x, r))
        yield Case(f"abs.{name} D, A", c, c, lambda a, f=fmt: a & ~f.sign)
        yield Case(f"neg.{name} D, A", c, c, lambda a, f=fmt: a ^ f.sign)
        yield Case(f"min.{name} D, A, B", c, c * 2, lambda a, b, f=fmt: f.minimum(a, b))
        yield Case(f"max.{name} D, A, B", c, c * 2, lambda a, b, f=fmt: f.minimum(a, b, larger=True))
        yield Case(f"copysign.{name} D, A, B", c, c * 2, lambda a, b, f=fmt: b & ~f.sign | a & f.sign,
                   check=lambda got, want, a, b: got == want)  # fmt: skip
        yield Case(f"selp.{name} D, A, B, C", c, c * 2 + "p", lambda a, b, p: a if p else b)
        yield Case(f"div.rn.{name} D, A, B", c, c * 2, lambda a, b, f=fmt: f.div(a, b))
        yield Case(f"rcp.rn.{name} D, A", c, c, lambda a, f=fmt: f.div(f.from_int(1), a))
        yield Case(f"sqrt.rn.{name} D, A", c, c, lambda a, f=fmt: f.sqrt(a))
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield Case(f"testp.{test}.{name} D, A", "p", c, lambda a, f=fmt, t=test: int(_class(f, a, t)))
        for compare in ("eq", "ne", "lt", "le", "gt", "ge", "num", "nan", "equ", "neu", "ltu", "leu", "gtu", "geu"):
            yield Case(f"setp.{compare}.{name} D, A, B", "p", c * 2, lambda a, b, f=fmt, k=compare: int(f.compare(k, a, b)))
        yield Case(f"setp.lt.and.{name} D, A, B, C", "p", c * 2 + "p", lambda a, b, p, f=fmt: int(f.compare("lt", a, b) and p))
        yield Case(f"set.lt.u32.{name} D, A, B", "r", c * 2, lambda a, b, f=fmt: 0xFFFFFFFF * f.compare("lt", a, b))
        yield Case(f"set.gtu.f32.{name} D, A, B", "f", c * 2, lambda a, b, f=fmt: 0x3F800000 * f.compare("gtu", a, b))
    yield Case("min.NaN.f32 D, A, B", "f", "ff", lambda a, b: F32.minimum(a, b, nan=True))
    yield Case("max.NaN.f32 D, A, B", "f", "ff", lambda a, b: F32.minimum(a, b, True, True))
    for op, nan in product(("min", "max"), (False, True)):
        least = partial(F32.minimum_of_magnitudes, larger=op == "max", nan=nan)
        name = f"{op}{'.NaN' * nan}.xorsign.abs.f32"
        yield Case(f"{name} D, A, B", "f", "ff", least, targets=("sm_90",))
        for k in (0xC0A00000, 0x80000000, 0xFFFFFFFF, 0x40A00000):  # a sign of a constant counts under .abs, too
            yield Case(f"{name} D, A, 0f{k:08x}", "f", "f", partial(least, b=k), targets=("sm_90",))
        for sign, f in (("neg", lambda x: x ^ F32.sign), ("abs", lambda x: x & ~F32.sign)):  # and so does one that a sign hides
            yield Case(
                f"{{ .reg .f32 %t; {sign}.f32 %t, B; {name} D, A, %t; }}",
                "f",
                "ff",
                lambda a, b, f=f, least=least: least(a, f(b)),
                targets=("sm_90",),
                check=lambda got, want, a, b: got == want or F32.is_nan(b) or (F32.is_nan(got) and F32.is_nan(want)),
            )  # fmt: skip  (a NaN may lose its sign)
    yield Case("add.ftz.f32 D, A, B", "f", "ff", lambda a, b: F32.flush(F32.add(F32.flush(a), F32.flush(b))))
    yield Case("mul.ftz.f32 D, A, B", "f", "ff", lambda a, b: F32.flush(F32.mul(F32.flush(a), F32.flush(b))),
               check=lambda got, want, a, b: got == want or (F32.is_nan(want) and F32.is_nan(got)) or _borderline(got, want))  # fmt: skip
    yield Case("add.sat.f32 D, A, B", "f", "ff", lambda a, b: _sat(F32.add(a, b)))
    yield Case("mul.f32 D, A, 0f40490fdb", "f", "f", lambda a: F32.mul(a, 0x40490FDB))
    yield Case("add.f32 D, 0f3f800000, A", "f", "f", lambda a: F32.add(a, 0x3F800000))
    yield Case("sub.f32 D, A, 0f3f800000", "f", "f", lambda a: F32.add(a, 0xBF800000))
    yield Case("sub.f32 D, 0f40000000, A", "f", "f", lambda a: F32.add(0x40000000, a ^ F32.sign))
    yield Case("fma.rn.f32 D, A, 0f3f000000, B", "f", "ff", lambda a, b: F32.fma(a, 0x3F000000, b))
    yield Case("fma.rn.f32 D, A, B, 0fbf800000", "f", "ff", lambda a, b: F32.fma(a, b, 0xBF800000))
    yield Case("add.f64 D, A, 0d3ff0000000000000", "g", "g", lambda a: F64.add(a, 0x3FF0000000000000))
    yield Case("mul.f64 D, A, 0d400921fb54442d18", "g", "g", lambda a: F64.mul(a, 0x400921FB54442D18))
    yield Case("fma.rn.f64 D, A, 0dc000000000000000, B", "g", "gg", lambda a, b: F64.fma(a, 0xC000000000000000, b))
    yield Case("setp.gt.f64 D, A, 0d3fb999999999999a", "p", "g", lambda a: int(F64.compare("gt", a, 0x3FB999999999999A)))


def _borderline(got: int, want: int) -> bool:
    """Flushing before or after rounding: results that round up to the smallest normal number."""
    return {got & 0x7FFFFFFF, want & 0x7FFFFFFF} == {0, 0x800000}


def _class(f: m.Float, a: int, test: str) -> bool:
    finite = not f.is_nan(a) and not f.is_inf(a)
    return {"finite": finite, "infinite": f.is_inf(a), "number": not f.is_nan(a), "notanumber": f.is_nan(a),
            "normal": finite and not f.is_subnormal(a), "subnormal": f.is_subnormal(a)}[test]  # fmt: skip


def half() -> Iterator[Case]:
    for name, f in (("f16", F16), ("bf16", BF16)):
        since = ("sm_90",) if name == "bf16" else ("sm_90", "sm_80")  # of the plain sums and products
        for packed in (False, True):
            c, T, kind = ("r", f"{name}x2", "r") if packed else ("h", name, "H" if name == "f16" else "h")

            def lift(g: Callable[..., int], packed: bool = packed) -> Callable[..., int]:
                return (lambda *xs: m.halves(g, *xs)) if packed else g

            def check(got: int, want: int, *_: Any, f: m.Float = f, packed: bool = packed) -> bool:
                pairs = [(got & 0xFFFF, want & 0xFFFF)] + ([(got >> 16, want >> 16)] if packed else [])
                return all(x == y or (f.is_nan(x) and f.is_nan(y)) for x, y in pairs)

            yield Case(f"add.{T} D, A, B", c, c * 2, lift(f.add), check=check, kinds=kind * 2, targets=since)
            yield Case(
                f"sub.{T} D, A, B",
                c,
                c * 2,
                lift(lambda a, b, f=f: f.add(a, b ^ f.sign)),
                check=check,
                kinds=kind * 2,
                targets=since,
            )
            yield Case(f"mul.{T} D, A, B", c, c * 2, lift(f.mul), check=check, kinds=kind * 2, targets=since)
            yield Case(f"fma.rn.{T} D, A, B, C", c, c * 3, lift(f.fma), check=check, kinds=kind * 3)
            yield Case(f"neg.{T} D, A", c, c, lift(lambda a, f=f: a ^ f.sign), check=check, kinds=kind)
            yield Case(f"abs.{T} D, A", c, c, lift(lambda a, f=f: a & ~f.sign), check=check, kinds=kind)
            yield Case(f"min.{T} D, A, B", c, c * 2, lift(f.minimum), check=check, kinds=kind * 2)
            for op, nan in product(("min", "max"), (False, True)):
                least = partial(f.minimum_of_magnitudes, larger=op == "max", nan=nan)
                yield Case(f"{op}{'.NaN' * nan}.xorsign.abs.{T} D, A, B", c, c * 2, lift(least), check=check, kinds=kind * 2,
                           targets=("sm_90", "sm_86"))  # fmt: skip
            yield Case(
                f"max.NaN.{T} D, A, B", c, c * 2, lift(lambda a, b, f=f: f.minimum(a, b, True, True)), check=check, kinds=kind * 2
            )
        for compare in ("lt", "neu", "num"):
            yield Case(f"setp.{compare}.{name} D, A, B", "p", "hh", lambda a, b, f=f, k=compare: int(f.compare(k, a, b)), kinds="HH",
                       targets=since)  # fmt: skip
        yield Case(f"set.leu.{name}.{name} D, A, B", "h", "hh",
                   lambda a, b, f=f: (0x3C00 if f is F16 else 0x3F80) * f.compare("leu", a, b), kinds="HH", targets=since)  # fmt: skip
        yield Case(
            f"set.gt.u32.{name} D, A, B",
            "r",
            "hh",
            lambda a, b, f=f: 0xFFFFFFFF * f.compare("gt", a, b),
            kinds="HH",
            targets=since,
        )
    yield Case(
        "set.ne.f16x2.f16x2 D, A, B", "r", "rr", lambda a, b: m.halves(lambda x, y: 0x3C00 * F16.compare("ne", x, y), a, b)
    )
    yield Case("set.lt.and.f16.f16 D, A, B, C", "h", "hhp", lambda a, b, p: 0x3C00 * (F16.compare("lt", a, b) and p), kinds="HHp")
    yield Case("set.ge.or.f16x2.f16x2 D, A, B, C", "r", "rrp",
               lambda a, b, p: m.halves(lambda x, y: 0x3C00 * (F16.compare("ge", x, y) or p), a, b))  # fmt: skip
    yield Case("set.eq.u32.f16x2 D, A, B", "r", "rr", lambda a, b: m.halves(lambda x, y: 0xFFFF * F16.compare("eq", x, y), a, b))
    yield Case("add.sat.f16 D, A, B", "h", "hh", lambda a, b: _sat16(F16.add(a, b)), kinds="HH")
    yield Case("fma.rn.relu.f16 D, A, B, C", "h", "hhh", lambda a, b, c: _relu(F16, F16.fma(a, b, c)), kinds="HHH")


_TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "u16": 0xFFFF, "s16": 0xFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
_RESULT = {"f32": "f", "f16": "h", "bf16": "h", "u16": "h", "s16": "h"}
_BOOLS: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda x, p: x and p,
    "or": lambda x, p: x or p,
    "xor": lambda x, p: x != p,
}
_ORDERED = {
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "lo": "lt",
    "ls": "le",
    "hi": "gt",
    "hs": "ge",
    "eq": "eq",
    "ne": "ne",
}


def sets() -> Iterator[Case]:
    """``set`` of every pair of types, comparisons and combinations in turn."""
    turn = 0
    for signedness, comparisons in (("s", "eq ne lt le gt ge"), ("u", "eq ne lo ls hi hs lt le gt ge"), ("b", "eq ne")):
        for bits in (16, 32, 64):
            for dest in ("u32", "s32", "f32", "f16", "bf16"):
                for combine in ("", "and", "or", "xor"):
                    compare = comparisons.split()[turn % len(comparisons.split())]
                    turn += 1
                    yield _set(
                        compare,
                        combine,
                        dest,
                        f"{signedness}{bits}",
                        _CLASS[bits],
                        _compares(compare, signedness == "s", bits),
                        "",
                    )
    formats = (("f32", F32, "f", "", "u32 s32 f32 f16 bf16"), ("f64", F64, "g", "", "u32 s32 f32 f16 bf16"),
               ("f16", F16, "h", "H", "u32 s32 u16 s16 f16 bf16"), ("bf16", BF16, "h", "H", "u32 s32 u16 s16 bf16"))  # fmt: skip
    for name, fmt, c, kind, dests in formats:
        for dest in dests.split():
            for combine in ("", "and", "or", "xor"):
                compare = ("lt", "equ", "ne", "gtu", "nan", "le", "neu", "num", "ge", "eq", "ltu", "leu", "gt", "geu")[turn % 14]
                turn += 1
                yield _set(compare, combine, dest, name, c, lambda a, b, f=fmt, k=compare: f.compare(k, a, b), kind)


def _compares(compare: str, signed: bool, bits: int) -> Callable[[int, int], bool]:
    import operator

    by = getattr(operator, _ORDERED[compare])
    return lambda a, b: by(s(a, bits), s(b, bits)) if signed else by(a, b)


def _set(compare: str, combine: str, dest: str, source: str, c: str, by: Callable[[int, int], Any], kind: str) -> Case:
    targets = ("sm_90",) if "bf16" in (dest, source) else ("sm_90", "sm_80")
    true = _TRUE[dest]
    if not combine:
        return Case(f"set.{compare}.{dest}.{source} D, A, B", _RESULT.get(dest, "r"), c * 2, lambda a, b: true * bool(by(a, b)),
                    kinds=kind * 2, targets=targets)  # fmt: skip
    return Case(f"set.{compare}.{combine}.{dest}.{source} D, A, B, C", _RESULT.get(dest, "r"), c * 2 + "p",
                lambda a, b, p: true * bool(_BOOLS[combine](bool(by(a, b)), bool(p))), kinds=kind and kind * 2 + "p", targets=targets)  # fmt: skip


def _sat16(a: int) -> int:
    if F16.is_nan(a) or a & F16.sign:
        return 0
    return min(a, 0x3C00)


def _relu(f: m.Float, a: int) -> int:
    return a if f.is_nan(a) else 0 if a & f.sign else a


def _near(function: Callable[[float], float], relative: float, absolute: float = 0.0) -> Callable[..., bool]:
    """The result is close to a real function of the operand."""

    def check(got: int, want: int, a: int) -> bool:
        del want
        if F32.is_nan(a):
            return F32.is_nan(got)
        x = m.as_f32(a)
        try:
            exact = function(x)
        except (ValueError, ZeroDivisionError, OverflowError):
            return True
        y = m.as_f32(got)
        if math.isnan(exact) or math.isnan(y):
            return math.isnan(exact) and math.isnan(y)
        if math.isinf(exact) or abs(exact) > 3.4e38:
            return y == exact or (math.isinf(y) or abs(y) > 3.3e38)
        return abs(y - exact) <= relative * abs(exact) + absolute

    return check


def _near64(got: int, want: int, a: int) -> bool:
    """Two f64 patterns are within a few units in the last place; a zero's reciprocal root has its sign."""
    if not a & ~F64.sign:
        return got == F64.inf | a
    return got == want or (F64.is_nan(got) and F64.is_nan(want)) or abs(got - want) <= 4


def approximate() -> Iterator[Case]:
    zero = lambda a: 0  # noqa: E731
    yield Case("rcp.approx.f32 D, A", "f", "f", zero, check=_near(lambda x: 1 / x, 2**-22, 2**-149))
    yield Case("sqrt.approx.f32 D, A", "f", "f", zero, check=_near(math.sqrt, 2**-22))
    yield Case("rsqrt.approx.f32 D, A", "f", "f", zero, check=_near(lambda x: 1 / math.sqrt(x), 2**-21))
    yield Case("lg2.approx.f32 D, A", "f", "f", zero, check=_near(math.log2, 2**-21, 2**-21))
    yield Case("ex2.approx.f32 D, A", "f", "f", zero, check=_near(lambda x: 2.0**x, 2**-20, 2**-149))
    yield Case("tanh.approx.f32 D, A", "f", "f", zero, check=_near(math.tanh, 2**-10, 2**-126))
    yield Case("rsqrt.approx.f64 D, A", "g", "g", lambda a: F64.div(0x3FF0000000000000, F64.sqrt(a)), check=_near64)
    small = lambda f: lambda x: f(x) if abs(x) < 3.2 else math.sqrt(-1.0)  # noqa: E731
    yield Case("sin.approx.f32 D, A", "f", "f", zero, check=_near(small(math.sin), 0, 2**-18))
    yield Case("cos.approx.f32 D, A", "f", "f", zero, check=_near(small(math.cos), 0, 2**-18))
    for form in ("approx", "full"):
        yield Case(f"div.{form}.f32 D, A, B", "f", "ff", F32.div,
                   check=lambda got, want, a, b, form=form: _close_quotient(got, want, b, form))  # fmt: skip


def _close_quotient(got: int, want: int, b: int, form: str) -> bool:
    if F32.is_nan(want) or F32.is_nan(got):
        return F32.is_nan(want) or (form == "approx" and abs(m.as_f32(b)) > 2.0**126) or F32.is_inf(b)
    x, y = m.as_f32(got), m.as_f32(want)
    if form == "approx" and abs(m.as_f32(b)) > 2.0**126:
        return True
    if math.isinf(y) or math.isinf(x) or abs(y) < 1e-37:
        return x == y or abs(x) > 3e38 or abs(y) > 3e38 or abs(y) < 1e-37
    return abs(x - y) <= abs(y) * 2**-21


def all_cases() -> list[Case]:
    return [*integer(), *carries(), *bits(), *conversions(), *floats(), *half(), *sets(), *approximate()]
