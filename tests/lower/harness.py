# ruff: noqa: E501 (tables)
"""Runs one PTX instruction on many operands: plain, under a guard, with its result in the place of a source.

A case is written ``"add.s32 D, A, B"`` with the register classes of D and the sources: h (16 bits), r (32), d (64),
f (f32), g (f64), p (predicate). Values are bit patterns as Python ints.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import oric

BITS = {"h": 16, "r": 32, "d": 64, "f": 32, "g": 64, "p": 1}
_REG = {"h": ".b16", "r": ".b32", "d": ".b64", "f": ".f32", "g": ".f64", "p": ".pred"}
_SENTINEL = 0x0123456789ABCDEF
THREADS = 128
NAMES = "ABC"

INTEGERS = {
    16: [0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x1234],
    32: [0, 1, 2, 3, 5, 8, 16, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000,
         0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF],
    64: [0, 1, 2, 3, 10, 31, 32, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x1FFFFFFFF,
         0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001, 0xFFFFFFFF00000000, 0xFFFFFFFF80000000,
         0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF0],
}  # fmt: skip
FLOATS = {
    16: [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x3C01, 0x4000, 0x3800, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE00,
         0x4248, 0xC500, 0x6400, 0x2E66],
    32: [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x40000000,
         0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001,
         0x4F000000, 0xCF000000, 0x4F800000, 0x5F000000, 0x5F800000, 0x40490FDB, 0xC0490FDB, 0x42F60000, 0x7E800000, 0x7F000000,
         0x00400000, 0x0D000000, 0x33800000, 0x477FE000, 0x43000000],
    64: [0, 1 << 63, 1, (1 << 63) | 1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001,
         0x4000000000000000, 0x3FE0000000000000, 0xBFE0000000000000, 0x3FF8000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
         0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x41E0000000000000, 0xC1E0000000000000, 0x41F0000000000000,
         0x43E0000000000000, 0x43F0000000000000, 0x400921FB54442D18, 0xC00921FB54442D18, 0x47EFFFFFE0000000, 0x47F0000000000000,
         0x3810000000000000, 0x36A0000000000000, 0x40EFFFE000000000],
}  # fmt: skip


def values(kind: str, count: int, rng: random.Random) -> list[int]:
    """Special and random patterns for an operand of kind "h", "r" ..., a capital letter meaning a float of that size."""
    bits = BITS[kind.lower()]
    if bits == 1:
        return [rng.getrandbits(1) for _ in range(count)]
    special = (FLOATS if kind in "fgH" else INTEGERS)[bits]
    out = []
    for _ in range(count):
        choice = rng.random()
        if choice < 0.45:
            out.append(rng.choice(special))
        elif choice < 0.55:
            out.append(rng.getrandbits(rng.randint(1, bits)))
        elif choice < 0.65:
            out.append((1 << bits) - 1 - rng.getrandbits(rng.randint(1, bits)))
        elif choice < 0.85 and kind in "fgH":
            out.append(_ordinary(bits, rng))
        else:
            out.append(rng.getrandbits(bits))
    return out


def _ordinary(bits: int, rng: random.Random) -> int:
    """A float of moderate size."""
    x = rng.uniform(-1, 1) * 2.0 ** rng.randint(-12, 12)
    dtype = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    return int(np.array(x, dtype).view(f"u{bits // 8}"))


def kernel(instruction: str, dest: str, sources: str, sm: str, constants: Sequence[int | None] = ()) -> tuple[str, int]:
    """PTX of a kernel for the instruction, and the number of results per thread.

    ``constants`` replaces sources by immediates.
    """
    lines = [
        f".version 9.0\n.target {sm}\n.address_size 64",
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 po)\n{",
        "  .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>; .reg .f64 %g<20>;",
        "  .reg .b64 %t<20>; .reg .b32 %u<8>; .reg .pred %guard;",
        "  ld.param.u64 %t0, [pa]; ld.param.u64 %t1, [pb]; ld.param.u64 %t2, [pc]; ld.param.u64 %t3, [po];",
        "  mov.u32 %u0, %tid.x; mul.wide.u32 %t4, %u0, 8; and.b32 %u1, %u0, 1; setp.ne.u32 %guard, %u1, 0;",
    ]
    for index, kind in enumerate(sources):
        lines.append(f"  add.u64 %t{index}, %t{index}, %t4; ld.global.u64 %t{5 + index}, [%t{index}];")
        lines.append("  " + _into(kind, f"{10 + index}", f"%t{5 + index}"))
    lines.append("  add.u64 %t3, %t3, %t4;")
    names = [f"%{kind}{10 + index}" for index, kind in enumerate(sources)]
    for index, value in enumerate(constants):
        if value is not None:
            names[index] = str(value)
    target = f"%{dest}1"
    results = 0

    def text(d: str, operands: Sequence[str], guard: str = "") -> str:
        out = instruction.replace("D", d)
        for name, operand in zip(NAMES, operands, strict=False):
            out = out.replace(name, operand)
        if out[0] != "{":
            return f"{guard}{out};"
        inner = [part.strip() for part in out[1:-1].split(";") if part.strip()]
        return "{" + " ".join(f"{'' if part[0] == '.' else guard}{part};" for part in inner) + "}"

    def store() -> None:
        nonlocal results
        lines.append("  " + _out_of(dest, target))
        lines.append(f"  st.global.u64 [%t3+{results * THREADS * 8}], %t9;")
        results += 1

    lines.append("  " + text(target, names))
    store()
    lines.append(f"  mov.u64 %t9, {_SENTINEL};\n  " + _into(dest, "1", "%t9"))
    lines.append("  " + text(target, names, "@%guard "))
    store()
    for index, kind in enumerate(sources):
        if kind == dest and names[index][0] == "%":
            move = {"h": "mov.b16", "r": "mov.b32", "d": "mov.b64", "f": "mov.f32", "g": "mov.f64", "p": "mov.pred"}[kind]
            lines.append(f"  {move} {target}, {names[index]};")
            lines.append("  " + text(target, [target if k == index else n for k, n in enumerate(names)]))
            store()
    lines.append("  ret;\n}")
    return "\n".join(lines) + "\n", results


def _into(kind: str, number: str, wide: str) -> str:
    return {
        "h": f"cvt.u16.u64 %h{number}, {wide};",
        "r": f"cvt.u32.u64 %r{number}, {wide};",
        "d": f"mov.b64 %d{number}, {wide};",
        "f": f"cvt.u32.u64 %u2, {wide}; mov.b32 %f{number}, %u2;",
        "g": f"mov.b64 %g{number}, {wide};",
        "p": f"and.b64 %t8, {wide}, 1; setp.ne.u64 %p{number}, %t8, 0;",
    }[kind]


def _out_of(kind: str, register: str) -> str:
    return {
        "h": f"cvt.u64.u16 %t9, {register};",
        "r": f"cvt.u64.u32 %t9, {register};",
        "d": f"mov.b64 %t9, {register};",
        "f": f"mov.b32 %u2, {register}; cvt.u64.u32 %t9, %u2;",
        "g": f"mov.b64 %t9, {register};",
        "p": f"selp.u64 %t9, 1, 0, {register};",
    }[kind]


def run(text: str, inputs: Sequence[Sequence[int]], results: int, arch: str, level: int) -> list[list[int]]:
    """Compile and launch; the results, a list of ``THREADS`` patterns each."""
    image = oric.compile(text, arch=arch, opt_level=level).image
    arrays = [np.array([v & 0xFFFFFFFFFFFFFFFF for v in column], np.uint64) for column in inputs]
    while len(arrays) < 3:
        arrays.append(np.zeros(1, np.uint64))
    out = np.zeros(results * THREADS, np.uint64)
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[*arrays, out])
    return [[int(v) for v in out[k * THREADS : (k + 1) * THREADS]] for k in range(results)]


def sentinel(kind: str) -> int:
    """What a guarded instruction leaves where its guard is false."""
    return _SENTINEL & (1 << BITS[kind]) - 1
