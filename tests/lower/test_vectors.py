"""Operands that are registers in braces: what rules see as one wide register."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.instruction import disassemble
from oric.support.elf import read

TARGETS = [("sm_80", 0), ("sm_80", 3), ("sm_90", 3), ("sm_100", 3), ("sm_120", 3)]
KERNEL = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)
{{
  .reg .pred %p<4>; .reg .b32 %r<30>; .reg .f32 %f<30>; .reg .b64 %d<20>;
  ld.param.u64 %d0, [pa]; ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pc]; ld.param.u64 %d3, [pd];
  mov.u32 %r20, %tid.x; mul.wide.u32 %d10, %r20, 8; mul.wide.u32 %d11, %r20, 16;
  add.u64 %d0, %d0, %d11; add.u64 %d1, %d1, %d10; add.u64 %d2, %d2, %d11; add.u64 %d3, %d3, %d11;
  ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%d0]; ld.global.v2.b32 {{%r4, %r5}}, [%d1];
  ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%d2];
  setp.ne.u64 %p0, %d0, %d1; setp.eq.u64 %p1, %d0, %d1;
  {code}
  st.global.v4.f32 [%d3], {{%f0, %f1, %f2, %f3}};
  ret;
}}
"""
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
A, B = "{%r0, %r1, %r2, %r3}", "{%r4, %r5}"
LANE = np.arange(32)
ROW, COLUMN = LANE >> 2, LANE & 3


def fragments(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the lanes hold of matrices of 16 x 16, 16 x 8 and 16 x 8 elements (PTX ISA, Matrix Fragments for mma.m16n8k16)."""
    fa = [a[r[:, None], k[:, None] + [0, 1]] for k in (COLUMN * 2, COLUMN * 2 + 8) for r in (ROW, ROW + 8)]
    fb = [b[k[:, None] + [0, 1], ROW[:, None]] for k in (COLUMN * 2, COLUMN * 2 + 8)]
    return np.stack(fa, 1).copy(), np.stack(fb, 1).copy(), of_lanes(c)


def of_lanes(c: np.ndarray) -> np.ndarray:
    return np.stack([c[r, COLUMN * 2 + n] for r in (ROW, ROW + 8) for n in (0, 1)], 1).copy()


def run(target: str, level: int, code: str, fa: np.ndarray, fb: np.ndarray, fc: np.ndarray) -> np.ndarray:
    out = np.zeros((32, 4), np.float32)
    image = oric.compile(KERNEL.format(target=target, code=code), arch=target, opt_level=level).image
    oric.sim.load(image).launch("k", grid=(1,), block=(32,), args=[fa, fb, fc, out])
    return out


@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_elements_and_words_of_wide_registers_are_the_same(target: str, level: int) -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = rng.integers(-99, 99, (16, 8)).astype(np.float32)
    product = a.astype(np.float32) @ b.astype(np.float32)
    parts = fragments(a, b, c)
    lanes = of_lanes(product + c)
    plain = f"{MMA} {{%f0, %f1, %f2, %f3}}, {A}, {B}, {{%f0, %f1, %f2, %f3}};"
    np.testing.assert_array_equal(run(target, level, plain, *parts), lanes)
    turned = f"{MMA} {{%f3, %f2, %f1, %f0}}, {A}, {B}, {{%f0, %f1, %f2, %f3}};"
    np.testing.assert_array_equal(run(target, level, turned, *parts), lanes[:, ::-1])
    twice = f"{plain} {plain}"
    np.testing.assert_array_equal(run(target, level, twice, *parts), of_lanes(2 * product + c))
    sunk = f"{MMA} {{%f0, _, %f2, _}}, {A}, {B}, {{%f0, %f1, %f2, %f3}};"
    np.testing.assert_array_equal(run(target, level, sunk, *parts), np.where([True, False, True, False], lanes, of_lanes(c)))
    zero = f"{MMA} {{%f0, %f1, %f2, %f3}}, {A}, {B}, {{0f00000000, 0f00000000, 0f00000000, 0f00000000}};"
    np.testing.assert_array_equal(run(target, level, zero, *parts), of_lanes(product))
    one = f"{MMA} {{%f0, %f1, %f2, %f3}}, {A}, {B}, {{0f00000000, 0f3F800000, %f2, 0f00000000}};"
    expected = of_lanes(product) + np.where([False, False, True, False], of_lanes(c), np.float32([0, 1, 0, 0]))
    np.testing.assert_array_equal(run(target, level, one, *parts), expected)
    np.testing.assert_array_equal(run(target, level, f"@%p0 {plain}", *parts), lanes)
    np.testing.assert_array_equal(run(target, level, f"@%p1 {plain}", *parts), of_lanes(c))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_four_zeros_are_stored_without_registers(arch: str) -> None:
    """RZ is as wide as a store asks for; three zeros and a number are gathered."""
    code = "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, {last};"
    lines = {}
    for last in ("%f0", "0f3F800000"):
        image = oric.compile(KERNEL.format(target=arch, code=code.format(last=last)), arch=arch).image
        out = np.full((32, 4), 7, np.float32)
        oric.sim.load(image).launch("k", 1, 32, [np.zeros((32, 4), np.uint32), np.zeros((32, 2), np.uint32), out.copy(), out])
        assert (out == [0, 0, 0, last != "%f0"]).all()
        [lines[last]] = [line for line in disassemble(read(image).functions["k"].text, arch) if "STG.E.128" in line]
    assert lines["%f0"].endswith(", RZ")
    assert not lines["0f3F800000"].endswith(", RZ")
