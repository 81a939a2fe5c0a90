"""A product of matrices of doubles, 8 by 8 results a thread in registers: 64 sums live through the loop."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

TILE = 8
DEPTH = 12


def ptx(arch: str) -> str:
    """The kernel ``heavy(a, b, c)``: a thread has DEPTH columns of 8 of ``a``, DEPTH rows of 8 of ``b``, and 8 by 8 of ``c``."""
    lines = [f"mov.f64 %c{n}, 0d0000000000000000;" for n in range(TILE * TILE)]
    lines += ["mov.u32 %k, 0;", "AGAIN:"]
    for n in range(TILE):
        lines += [f"ld.global.f64 %x{n}, [%a+{8 * n}];", f"ld.global.f64 %y{n}, [%b+{8 * n}];"]
    for row in range(TILE):
        lines += [f"fma.rn.f64 %c{TILE * row + n}, %x{row}, %y{n}, %c{TILE * row + n};" for n in range(TILE)]
    lines += [
        f"add.u64 %a, %a, {8 * TILE};",
        f"add.u64 %b, %b, {8 * TILE};",
        "add.u32 %k, %k, 1;",
        f"setp.lt.u32 %p, %k, {DEPTH};",
        "@%p bra AGAIN;",
    ]
    lines += [f"st.global.f64 [%c+{8 * n}], %c{n};" for n in range(TILE * TILE)]
    body = "\n".join(lines)
    return f"""\
.version 8.0
.target {arch}
.address_size 64
.visible .entry heavy(.param .u64 a, .param .u64 b, .param .u64 c)
{{
.reg .b32 %i, %k; .reg .b64 %a, %b, %c, %d; .reg .f64 %c<{TILE * TILE}>, %x<{TILE}>, %y<{TILE}>; .reg .pred %p;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; mov.u32 %i, %tid.x;
mul.wide.u32 %d, %i, {8 * TILE * DEPTH}; add.u64 %a, %a, %d; add.u64 %b, %b, %d;
mul.wide.u32 %d, %i, {8 * TILE * TILE}; add.u64 %c, %c, %d;
{body}
ret;
}}
"""


def data(threads: int) -> tuple[list[npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
    """Both factors and room for the products; the products; small whole numbers, so that sums are exact."""
    rng = np.random.default_rng(8)
    a, b = (rng.integers(-99, 99, (threads, DEPTH, TILE)).astype(np.float64) for _ in range(2))
    return [a, b, np.zeros((threads, TILE, TILE))], np.einsum("tki,tkj->tij", a, b)
