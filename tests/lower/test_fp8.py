"""Conversions to pairs of eight-bit numbers and back, against ml_dtypes: saturating, NaN is 0x7f, the upper source first."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import oric
import pytest
from oric.sim import Modes

Array = np.ndarray[Any, Any]
FORMATS = {"e4m3x2": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2x2": (ml_dtypes.float8_e5m2, 57344.0)}
THREADS = 128
NAN = 0x7F
PTX = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b32 %i, %t, %c, %a, %b, %r; .reg .f32 %x, %y; .reg .b16 %h, %g; .reg .b64 %in, %out, %d;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mov.u32 %t, %ctaid.x; mad.lo.u32 %i, %t, 128, %i;
mul.wide.u32 %d, %i, 8; add.u64 %in, %in, %d; mul.wide.u32 %d, %i, 4; add.u64 %out, %out, %d;
ld.global.v2.u32 {{%a, %b}}, [%in]; mov.b32 %x, %a; mov.b32 %y, %b; cvt.u16.u32 %h, %a;
{op}
st.global.u32 [%out], %r; ret; }}
"""


def run(op: str, pairs: Array, level: int) -> Array:
    """What an instruction makes of pairs of words."""
    blocks = len(pairs) // THREADS
    assert len(pairs) == blocks * THREADS
    out = np.zeros(len(pairs), np.uint32)
    image = oric.compile(PTX.format(op=op), arch="sm_90", opt_level=level).image
    launch = oric.sim.load(image).launch
    done = launch("k", grid=(blocks, 1, 1), block=(THREADS, 1, 1), args=[pairs, out], modes=Modes(strict=True, memcheck=True))
    assert not done.reports
    return out


def packed(values: Array, name: str, relu: bool) -> Array:
    """Codes of numbers, rounded to nearest even and saturated."""
    dtype, most = FORMATS[name]
    with np.errstate(all="ignore"):
        limited = np.clip(np.where(np.isnan(values), 0, values), 0 if relu else -most, most)
        codes = limited.astype(np.float32).astype(dtype).view(np.uint8)
    codes = np.where(relu & (values <= 0), 0, codes)
    return np.where(np.isnan(values), NAN, codes).astype(np.uint32)


def singles() -> Array:
    """Numbers of every size, ties, limits and what is beyond them, two a row."""
    rng = np.random.default_rng(8)
    ties = np.ldexp(np.arange(16, 64).astype(np.float32), rng.integers(-24, 14, 48).astype(np.int32)).astype(np.float32)
    corners = np.array([0, -0.0, np.inf, -np.inf, np.nan, 448, 449, 464, 480, 57344, 57345, 61440, 65536, 1e-9, 2.0**-9, 2.0**-10,
                        2.0**-16, 2.0**-17, 3 * 2.0**-18], np.float32)  # fmt: skip
    small = rng.standard_normal(3000).astype(np.float32) * np.float32(2) ** rng.integers(-20, 18, 3000).astype(np.float32)
    whole = rng.integers(0, 1 << 32, 900, dtype=np.uint64).astype(np.uint32).view(np.float32)
    found = np.concatenate([ties, -ties, corners, -corners, small, whole])
    return np.resize(found, (32 * THREADS, 2)).astype(np.float32)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_single(name: str, relu: str, level: int) -> None:
    values = singles()
    found = run(f"cvt.rn.satfinite{relu}.{name}.f32 %g, %x, %y; cvt.u32.u16 %r, %g;", values.view(np.uint32), level)
    want = packed(values[:, 0], name, bool(relu)) << 8 | packed(values[:, 1], name, bool(relu))
    assert found.tolist() == want.tolist()


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_halves(name: str, relu: str, level: int) -> None:
    """Every half is in some pair."""
    low = np.arange(1 << 16, dtype=np.uint32)
    words = low | (low * 40503 & 0xFFFF) << 16
    pairs = np.stack([words, np.zeros_like(words)], axis=1)
    found = run(f"cvt.rn.satfinite{relu}.{name}.f16x2 %g, %a; cvt.u32.u16 %r, %g;", pairs, level)
    halves = words.view(np.uint16).reshape(-1, 2).view(np.float16).astype(np.float32)
    want = packed(halves[:, 1], name, bool(relu)) << 8 | packed(halves[:, 0], name, bool(relu))
    assert found.tolist() == want.tolist()


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_to_halves(name: str, relu: str, level: int) -> None:
    """All pairs of codes."""
    codes = np.arange(1 << 16, dtype=np.uint32)
    found = run(f"cvt.rn{relu}.f16x2.{name} %r, %h;", np.stack([codes, np.zeros_like(codes)], axis=1), level)
    numbers = codes.astype(np.uint16).view(np.uint8).view(FORMATS[name][0]).astype(np.float16).reshape(-1, 2)
    if relu:
        numbers = np.where(numbers <= 0, np.float16(0), numbers)
    got = found.view(np.float16).reshape(-1, 2)
    assert (np.isnan(got) == np.isnan(numbers)).all()
    there = ~np.isnan(numbers)
    assert got.view(np.uint16)[there].tolist() == numbers.view(np.uint16)[there].tolist()
