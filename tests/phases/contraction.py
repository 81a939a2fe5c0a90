"""Kernels with products and sums: what of them is fused, as ptxas 13.0.88 does it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

THREADS = 64
PLACES = 8  # of 64 bits each: what a thread reads, and what it writes
_HEAD = """.version 8.7
.target {arch}
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .f32 %f<60>; .reg .f64 %d<60>; .reg .b16 %h<60>; .reg .b32 %r<60>; .reg .b64 %q<60>; .reg .pred %p<4>; .reg .b64 %a<6>;
.reg .b32 %t;
ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in];
cvta.to.global.u64 %a0, %a0; cvta.to.global.u64 %a1, %a1;
mov.u32 %t, %tid.x;
mad.wide.u32 %a0, %t, 64, %a0; mad.wide.u32 %a1, %t, 64, %a1;
"""
_REGISTERS = {"f32": ("f", "f32"), "f64": ("d", "f64"), "f16": ("h", "b16"), "bf16": ("h", "b16"), "f16x2": ("r", "b32"),
              "bf16x2": ("r", "b32"), "f32x2": ("q", "b64")}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """``body``: PTX in which ``@N`` is register N (1 to 5 are read from memory, 20 up are written) and ``T`` the type.

    ``fused``: operations that are fused, ``rest``: products and sums that stay.
    """

    name: str
    body: str
    fused: int
    rest: int
    types: tuple[str, ...] = ("f32",)
    since: int = 75

    def text(self, kind: str, arch: str) -> str:
        """The module."""
        letter, width = _REGISTERS[kind]
        written = [n for n in range(20, 20 + PLACES) if f"@{n}" in self.body]
        lines = [f"ld.global.{width} @{n}, [%a1+{8 * n}];" for n in range(1, 6)]
        lines += [self.body, *(f"st.global.{width} [%a0+{8 * (n - 20)}], @{n};" for n in written)]
        body = "\n".join(lines).replace("@p", "$").replace("@", f"%{letter}").replace("$", "@%p").replace(".T ", f".{kind} ")
        return _HEAD.format(arch=arch) + body + "\nret;\n}\n"


_SCALARS = ("f32", "f64", "f16", "bf16")
_ALL = (*_SCALARS, "f16x2", "bf16x2", "f32x2")
_PRODUCT = "mul.T @10, @1, @2; "
_TWO = _PRODUCT + "mul.T @11, @3, @4; "
CASES = (
    Case("sum", _PRODUCT + "add.T @20, @10, @3;", 1, 0, _ALL),
    Case("sum, product second", _PRODUCT + "add.T @20, @3, @10;", 1, 0, _ALL),
    Case("difference", _PRODUCT + "sub.T @20, @10, @3;", 1, 0, _ALL),
    Case("difference, product second", _PRODUCT + "sub.T @20, @3, @10;", 1, 0, _ALL),
    Case("rounded product", "mul.rn.T @10, @1, @2; add.T @20, @10, @3;", 0, 2, _SCALARS),
    Case("rounded sum", _PRODUCT + "add.rn.T @20, @10, @3;", 0, 2, _SCALARS),
    Case("directed roundings", "mul.rz.T @10, @1, @2; add.rz.T @20, @10, @3;", 0, 2, ("f32", "f64")),
    Case("flushed both", "mul.ftz.T @10, @1, @2; add.ftz.T @20, @10, @3;", 1, 0, ("f32", "f16", "f16x2")),
    Case("flushed product", "mul.ftz.T @10, @1, @2; add.T @20, @10, @3;", 0, 2, ("f32", "f16")),
    Case("flushed sum", _PRODUCT + "add.ftz.T @20, @10, @3;", 0, 2, ("f32", "f16")),
    Case("saturated sum", _PRODUCT + "add.sat.T @20, @10, @3;", 1, 0, ("f32", "f16")),
    Case("saturated product", "mul.sat.T @10, @1, @2; add.T @20, @10, @3;", 0, 2, ("f32", "f16")),
    Case("two sums", _PRODUCT + "add.T @20, @10, @3; sub.T @21, @4, @10;", 2, 0, ("f32", "f64")),
    Case("product that is stored", "mul.T @20, @1, @2; add.T @21, @20, @3;", 0, 2, ("f32", "f64")),
    Case("product of a product", _PRODUCT + "add.T @20, @10, @3; mul.T @21, @10, @4;", 0, 3),
    Case("two products", _TWO + "add.T @20, @10, @11;", 1, 1, ("f32", "f64")),
    Case("two products, first stored", "mul.T @20, @1, @2; mul.T @11, @3, @4; add.T @21, @20, @11;", 1, 1),
    Case("two products, second with more readers", _TWO + "add.T @20, @10, @11; add.T @21, @11, @5;", 1, 2),
    Case("twice a product", _PRODUCT + "add.T @20, @10, @10;", 0, 2),
    Case("equal products", _PRODUCT + "mul.T @11, @1, @2; add.T @20, @10, @11;", 0, 2),
    Case("equal products apart", _PRODUCT + "mul.T @20, @1, @2; add.T @21, @10, @3;", 1, 1),
    Case("equal product that is rounded", _PRODUCT + "mul.rn.T @20, @1, @2; add.T @21, @10, @3;", 1, 1),
    Case("negated product", _PRODUCT + "neg.T @11, @10; add.T @20, @11, @3;", 1, 0, ("f32", "f64")),
    Case("absolute product", _PRODUCT + "abs.T @11, @10; add.T @20, @11, @3;", 0, 2, ("f32", "f64")),
    Case("copied product", _PRODUCT + "mov.f32 @11, @10; add.T @20, @11, @3;", 1, 0),
    Case("chain", _PRODUCT + "add.T @11, @10, @3; mul.T @12, @11, @4; add.T @20, @12, @5;", 2, 0, ("f32", "f64")),
    Case("factor written in between", _PRODUCT + "add.rn.T @1, @3, @4; add.T @20, @10, @1;", 1, 1, ("f32", "f64")),
    Case("factor is the result", "mul.T @1, @1, @2; add.T @1, @1, @4; add.rn.T @20, @1, @5;", 1, 1, ("f32", "f64")),
    Case("one register for all", _PRODUCT + "add.T @10, @10, @4; mul.T @10, @10, @2; add.T @20, @10, @5;", 2, 0),
    Case("constant factor and addend", "mul.T @10, @1, 0f40400000; add.T @20, @10, 0f40A00000;", 1, 0),
    Case("constants of 64 bits", "mul.T @10, @1, 0d4008000000000000; add.T @20, @10, 0d4014000000000000;", 1, 0, ("f64",)),
    Case("guarded sum", "setp.gt.f32 %p1, @5, 0f00000000; mov.f32 @20, @4;" + _PRODUCT + "@p1 add.T @20, @10, @3;", 1, 0),
    Case("guarded product", "setp.gt.f32 %p1, @5, 0f00000000; mov.f32 @10, @4; @p1 " + _PRODUCT + "add.T @20, @10, @3;", 0, 2),
    Case("label in between", _PRODUCT + "L1: add.T @20, @10, @3;", 1, 0),
    Case("other block", _PRODUCT + "setp.gt.f32 %p1, @5, 0f00000000; mov.f32 @20, @4; bar.sync 0; @p1 bra L1; membar.cta;"
         " L1: add.T @20, @10, @20;", 0, 2),
    Case("loop", "L1:" + _PRODUCT + "add.T @2, @10, @3; setp.lt.f32 %p1, @2, 0f00000000; @p1 bra L2; add.rn.T @2, @2, @2;"
         " L2: add.rn.T @20, @2, @1;", 1, 2),
    Case("fast division", "div.full.T @10, @1, @2; add.T @20, @10, @3;", 1, 2),
)  # fmt: skip


def sums(seed: int) -> str:
    """A random body: three products, five sums of them, of what was read and of each other; half of the results are stored.

    No two products are equal: what ptxas does with their sums is not followed (docs/deviations.md).
    """
    rng = random.Random(seed)
    pairs = rng.sample(list(combinations_with_replacement(range(1, 6), 2)), 3)
    lines = [f"mul.T @{10 + k}, @{a}, @{b};" for k, (a, b) in enumerate(pairs)]
    known = [10, 11, 12] * 3 + [1, 2]
    for k in range(5):
        result = 20 + k if k == 4 or rng.random() < 0.5 else 40 + k
        lines.append(f"{rng.choice(['add', 'sub'])}.T @{result}, @{rng.choice(known)}, @{rng.choice(known)};")
        known += [result] * 2
    return "\n".join(lines)


def operands(seed: int, kind: str) -> NDArray[Any]:
    """What the threads read: numbers of about the same size, of all sizes, and special ones."""
    rng = np.random.default_rng(seed)
    made = rng.standard_normal((THREADS, PLACES))
    made[1::3] *= np.exp2(rng.integers(-12, 12, made[1::3].shape))
    made[2::7] = rng.choice([0.0, -0.0, np.inf, 1.0, -1.0, 1e-30], made[2::7].shape)
    cells = np.zeros((THREADS, PLACES), np.uint64)
    if kind == "f64":
        return made.view(np.uint64)
    with np.errstate(over="ignore"):
        singles = made.astype(np.float32)
        halves = singles.astype(np.float16).view(np.uint16)
    if kind in ("f32", "f32x2"):
        cells |= singles.view(np.uint32)
        cells |= (singles[:, ::-1].copy().view(np.uint32).astype(np.uint64) << 32) if kind == "f32x2" else np.uint64(0)
    else:
        low = halves if kind.startswith("f16") else (singles.view(np.uint32) >> 16).astype(np.uint16)
        cells |= low
        cells |= low[:, ::-1].astype(np.uint64) << np.uint64(16)
    return cells
