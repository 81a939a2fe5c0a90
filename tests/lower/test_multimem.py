"""Multimem addresses, which name ordinary memory in the simulator: loads that reduce, stores, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest

Array = np.ndarray[Any, Any]
TARGETS = [("sm_90", 0), ("sm_90a", 3), ("sm_100a", 3), ("sm_120a", 3)]
THREADS = 48
TEXT = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
  .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<9>; .reg .f64 %g<4>;
  ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, {size}; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
{body}
  ret;
}}
"""
# What is loaded with a reduction and stored; the bytes of a thread.
COPIES = [
    ("multimem.ld_reduce.add.u32 %r1, [%d0]; multimem.st.u32 [%d1], %r1;", 4),
    ("multimem.ld_reduce.acquire.sys.global.min.s64 %d3, [%d0]; multimem.st.release.sys.global.s64 [%d1], %d3;", 8),
    ("multimem.ld_reduce.relaxed.gpu.xor.b64 %d3, [%d0]; multimem.st.relaxed.cta.b64 [%d1], %d3;", 8),
    ("multimem.ld_reduce.weak.global.add.f64 %g1, [%d0]; multimem.st.release.cta.f64 [%d1], %g1;", 8),
    ("multimem.ld_reduce.add.v4.f32 {{%f1, %f2, %f3, %f4}}, [%d0];"
     "multimem.st.release.gpu.v4.f32 [%d1], {{%f1, %f2, %f3, %f4}};", 16),
    ("multimem.ld_reduce.max.v2.bf16x2 {{%r1, %r2}}, [%d0]; multimem.st.v2.bf16x2 [%d1], {{%r1, %r2}};", 8),
    ("multimem.ld_reduce.add.acc::f32.v8.f16 {{%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}}, [%d0];"
     "multimem.st.v8.f16 [%d1], {{%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}};", 16),
    ("multimem.ld_reduce.acquire.cluster.min.v2.f16 {{%h0, %h1}}, [%d0]; multimem.st.v2.f16 [%d1], {{%h0, %h1}};", 4),
]  # fmt: skip


def run(target: str, level: int, body: str, size: int, data: Array, out: Array) -> None:
    code = oric.compile(
        TEXT.format(target=target, body=body, size=size).replace("{{", "{").replace("}}", "}"), arch=target, opt_level=level
    ).image
    oric.sim.load(code).launch("k", 1, THREADS, [data, out])


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize(("body", "size"), COPIES, ids=[text.partition(" ")[0] for text, _ in COPIES])
def test_of_one_copy_a_reduction_is_what_it_has(target: str, level: int, body: str, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, THREADS * size, dtype=np.uint8)
    out = np.zeros_like(data)
    run(target, level, body, size, data, out)
    assert (out == data).all()


REDUCTIONS: dict[str, tuple[Any, Any, str, int]] = {
    "add.u32": (np.uint32, np.add, "ld.global.u32 %r1, [%d0]; multimem.red{}.add.u32 [%d1], %r1;", 4),
    "min.s64": (np.int64, np.minimum, "ld.global.u64 %d3, [%d0]; multimem.red{}.min.s64 [%d1], %d3;", 8),
    "and.b32": (np.uint32, np.bitwise_and, "ld.global.u32 %r1, [%d0]; multimem.red{}.and.b32 [%d1], %r1;", 4),
    "add.f64": (np.float64, np.add, "ld.global.f64 %g1, [%d0]; multimem.red{}.add.f64 [%d1], %g1;", 8),
    "add.v4.f32": (np.float32, np.add,
                   "ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%d0];"
                   "multimem.red{}.add.v4.f32 [%d1], {{%f1, %f2, %f3, %f4}};", 16),
    "add.v2.f16x2": (np.float16, np.add,
                     "ld.global.v2.b32 {{%r1, %r2}}, [%d0]; multimem.red{}.add.v2.f16x2 [%d1], {{%r1, %r2}};", 8),
}  # fmt: skip


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("order", ["", ".relaxed.cta", ".release.gpu", ".release.sys.global"])
@pytest.mark.parametrize("what", REDUCTIONS)
def test_reductions(target: str, level: int, what: str, order: str) -> None:
    dtype, operation, body, size = REDUCTIONS[what]
    data, out = np.random.default_rng(1).integers(-99, 99, (2, THREADS * size // np.dtype(dtype).itemsize)).astype(dtype)
    want = operation(out, data).astype(dtype)
    run(target, level, body.replace("{}", order), size, data, out)
    assert out.tolist() == want.tolist()
