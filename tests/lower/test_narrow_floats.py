"""Conversions to and from numbers of eight bits and less, of every mnemonic that a target takes, against ml_dtypes.

To nearest even and saturated. NaN is 0x7f in eight bits; where a format has none it is the largest number. Powers of two
(``ue8m0``) are rounded towards zero or up, without the sign; 0xff is NaN. Random rounding adds random bits below the last one.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from oric_tables.targets import TARGETS

from . import forms

Array = np.ndarray[Any, Any]
FORMATS = {
    "e4m3": (ml_dtypes.float8_e4m3fn, 448.0, 8),
    "e5m2": (ml_dtypes.float8_e5m2, 57344.0, 8),
    "e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 6),
    "e3m2": (ml_dtypes.float6_e3m2fn, 28.0, 6),
    "e2m1": (ml_dtypes.float4_e2m1fn, 6.0, 4),
}
WAYS = [("sm_100a", 3), ("sm_100a", 0), ("sm_120a", 3)]
CHUNK = 24


def narrow(target: str) -> list[str]:
    """The conversions, those with random rounding left out."""
    found = forms.forms(["convert"], target, ("cvt",))
    return [text for text in found if any(name in text for name in (*FORMATS, "ue8m0")) and ".rs." not in text]


def codes(values: Array, name: str, relu: bool) -> Array:
    """Codes of numbers."""
    dtype, most, bits = FORMATS[name]
    with np.errstate(all="ignore"):
        clipped = np.clip(np.where(np.isnan(values), 0, values), 0 if relu else -most, most).astype(np.float32)
        found = clipped.astype(dtype).view(np.uint8).astype(np.uint32) & (1 << bits) - 1
    found = np.where(relu & (values <= 0), 0, found)
    return np.where(np.isnan(values), 0x7F if bits == 8 else (1 << bits - 1) - 1, found).astype(np.uint32)


def powers(values: Array, up: bool, saturate: bool) -> Array:
    """Codes of powers of two: of the exponent alone, or the next one; what is beyond the largest is NaN, or that number."""
    bits = values.astype(np.float32).view(np.uint32) & 0x7FFFFFFF
    exponents = bits >> 23
    if up:
        exponents = np.where(bits & 0x7FFFFF, exponents + 1, exponents)
        exponents = np.where((bits > 0) & (bits <= 0x400000), 0, exponents)  # 2^-127 is the least
    else:
        exponents = np.where((exponents == 0) & (bits >= 0x400000), 0, exponents)
    return np.where(np.isnan(values), 255, np.minimum(exponents, 254 if saturate else 255)).astype(np.uint32)


def sources(by: str, columns: list[Array]) -> tuple[Array, Array]:
    """The upper and the lower number, as singles."""
    if by == "f32":
        return columns[0].astype(np.uint32).view(np.float32), columns[1].astype(np.uint32).view(np.float32)
    words = columns[0].astype(np.uint32)
    if by == "bf16x2":
        return (words & 0xFFFF0000).view(np.float32), (words << 16).view(np.float32)
    high, low = (words >> 16).astype(np.uint16), words.astype(np.uint16)
    return high.view(np.float16).astype(np.float32), low.view(np.float16).astype(np.float32)


def packed(text: str, columns: list[Array]) -> Array:
    """The results of a conversion to narrow numbers."""
    _, *words, to, by = text.split(" ", maxsplit=1)[0].split(".")
    high, low = sources(by, columns)
    name = to.removesuffix("x2")
    if name == "ue8m0":
        high_code, low_code = (powers(x, "rp" in words, "satfinite" in words) for x in (high, low))
        return high_code << 8 | low_code
    width = 8 if FORMATS[name][2] > 4 else 4
    return codes(high, name, "relu" in words) << width | codes(low, name, "relu" in words)


def unpacked(text: str, column: Array) -> tuple[Array, Array]:
    """The results of a conversion from narrow numbers, upper and lower, as numbers."""
    _, *words, _, by = text.split(" ", maxsplit=1)[0].split(".")
    name = by.removesuffix("x2")
    dtype, bits = (ml_dtypes.float8_e8m0fnu, 8) if name == "ue8m0" else (FORMATS[name][0], FORMATS[name][2])
    width = 8 if bits > 4 else 4
    halves = [(column >> at).astype(np.uint8) & (1 << bits) - 1 for at in (width, 0)]
    high, low = (half.astype(np.uint8).view(dtype).astype(np.float32) for half in halves)
    if "relu" in words:
        high, low = (np.where(x <= 0, np.float32(0), x) for x in (high, low))
    return high, low


@pytest.mark.row("R2-51")
@pytest.mark.parametrize(("target", "level"), [way for way in WAYS if way[0] in TARGETS])
def test_narrow_floats(target: str, level: int) -> None:
    texts = narrow(target)
    assert len(texts) > 30
    inputs = forms.operands()
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        got = forms.launch(forms.image(chunk, target, level), len(chunk), inputs)
        for at, text in enumerate(chunk):
            rows = np.array([forms.given(text, row) for row in inputs], np.uint64)
            columns = [rows[:, k] for k in range(rows.shape[1])]
            found = got[:, 2 * at].astype(np.uint32)
            if ".f16x2." in text or ".bf16x2.ue8m0" in text:
                high, low = unpacked(text, columns[0])
                of = ml_dtypes.bfloat16 if "bf16" in text else np.float16
                for part, want in ((found >> 16, high), (found, low)):
                    numbers = part.astype(np.uint16).view(of).astype(np.float32)
                    same = (numbers == want) & (np.signbit(numbers) == np.signbit(want)) | (np.isnan(numbers) & np.isnan(want))
                    assert same.all(), (text, [hex(int(x)) for x in columns[0][~same][:4]])
            else:
                wanted = packed(text, columns)
                wrong = np.flatnonzero(found != wanted)
                assert not len(wrong), (text, [(forms.given(text, inputs[i]), hex(found[i]), hex(wanted[i])) for i in wrong[:4]])
