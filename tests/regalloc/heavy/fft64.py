"""A Fourier transform of 64 complex numbers in one thread, all six stages written out: 128 values live at once."""

from __future__ import annotations

import cmath

import numpy as np
import numpy.typing as npt

SIZE = 64
STAGES = 6


def ptx(arch: str) -> str:
    """The kernel ``heavy(data)``: 64 complex numbers of single precision a thread, transformed in place."""
    lines: list[str] = []
    count = 0

    def make(op: str, *sources: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"{op} %x{count}, {', '.join(sources)};")
        return f"%x{count}"

    def bits(value: float) -> str:
        return f"0f{int(np.float32(value).view(np.uint32)):08X}"

    values: list[tuple[str, str]] = []
    for n in range(SIZE):
        at = 8 * int(f"{n:06b}"[::-1], 2)
        values.append((make("ld.global.f32", f"[%at+{at}]"), make("ld.global.f32", f"[%at+{at + 4}]")))
    for stage in range(STAGES):
        half = 1 << stage
        for first in range(0, SIZE, 2 * half):
            for k in range(half):
                w = cmath.exp(-1j * cmath.pi * k / half)
                (a, b), (c, d) = values[first + k], values[first + k + half]
                re = make("sub.rn.f32", make("mul.rn.f32", c, bits(w.real)), make("mul.rn.f32", d, bits(w.imag)))
                im = make("add.rn.f32", make("mul.rn.f32", c, bits(w.imag)), make("mul.rn.f32", d, bits(w.real)))
                values[first + k] = make("add.rn.f32", a, re), make("add.rn.f32", b, im)
                values[first + k + half] = make("sub.rn.f32", a, re), make("sub.rn.f32", b, im)
    for n, (re, im) in enumerate(values):
        lines += [f"st.global.f32 [%at+{8 * n}], {re};", f"st.global.f32 [%at+{8 * n + 4}], {im};"]
    body = "\n".join(lines)
    return f"""\
.version 8.0
.target {arch}
.address_size 64
.visible .entry heavy(.param .u64 data)
{{
.reg .b32 %i; .reg .b64 %at, %d; .reg .f32 %x<{count + 1}>;
ld.param.u64 %at, [data]; mov.u32 %i, %tid.x; mul.wide.u32 %d, %i, {8 * SIZE}; add.u64 %at, %at, %d;
{body}
ret;
}}
"""


def data(threads: int) -> tuple[list[npt.NDArray[np.float32]], npt.NDArray[np.float32]]:
    """Real and imaginary parts in turn, and those of the transforms."""
    given = np.random.default_rng(64).standard_normal((threads, SIZE, 2)).astype(np.float32)
    made = np.fft.fft(given[..., 0] + 1j * given[..., 1], axis=1)
    return [given], np.stack([made.real, made.imag], axis=2).astype(np.float32)
