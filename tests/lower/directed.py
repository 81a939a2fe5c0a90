"""Quotients and square roots of whole arrays in the directed roundings: numpy's result to nearest, and the sign of what is left.

What is left of a quotient, ``x - q * y``, is a number of the format (Dekker 1971), so its sign tells on which side of the exact
value the result to nearest lies. Zeros, infinities, NaNs and results beyond the normal numbers go through exact fractions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import meaning

Array = np.ndarray[Any, Any]
_SPLITTER = float((1 << 27) + 1)
_FORMS = {32: (np.float32, meaning.F32, 126), 64: (np.float64, meaning.F64, 1022)}  # type, fractions, exponent of normal numbers


def quotients(a: Array, b: Array, bits: int, mode: str) -> Array:
    """Patterns of ``a / b`` of patterns, in rounding ``rz``, ``rm`` or ``rp``."""
    form, exact, normal = _FORMS[bits]
    with np.errstate(all="ignore"):
        x, y = a.view(form).astype(np.float64), b.view(form).astype(np.float64)
        (mx, ex), (my, ey) = np.frexp(np.abs(x)), np.frexp(np.abs(y))
        near = (mx / my).astype(form)
        scale = ex - ey
        plain = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0) & (np.abs(scale) < normal - 2)
        return _directed(near, _left(mx, near, my), scale, np.signbit(x) ^ np.signbit(y), mode, plain,
                         lambda i: exact.div(int(a[i]), int(b[i]), mode))  # fmt: skip


def roots(a: Array, bits: int, mode: str) -> Array:
    """Patterns of the square roots of patterns, in rounding ``rz``, ``rm`` or ``rp``."""
    form, exact, _ = _FORMS[bits]
    with np.errstate(all="ignore"):
        x = a.view(form).astype(np.float64)
        m, e = np.frexp(x)
        m, e = np.where(e & 1, m * 2, m), e - (e & 1)
        near = np.sqrt(m).astype(form)
        plain = np.isfinite(x) & (x > 0)
        return _directed(near, _left(m, near, near), e // 2, np.zeros(len(a), bool), mode, plain,
                         lambda i: exact.sqrt(int(a[i]), mode))  # fmt: skip


def _left(x: Array, q: Array, y: Array) -> Array:
    """``x - q * y`` where the product is near ``x``: exact."""
    q, y = q.astype(np.float64), y.astype(np.float64)
    product = q * y
    qh, yh = (v * _SPLITTER - (v * _SPLITTER - v) for v in (q, y))
    ql, yl = q - qh, y - yh
    error = ((qh * yh - product) + qh * yl + ql * yh) + ql * yl
    return (x - product) - error


def _directed(near: Array, left: Array, scale: Array, negative: Array, mode: str, plain: Array, exact: Any) -> Array:
    form = near.dtype.type
    toward_zero = np.where(left < 0, np.nextafter(near, form(0)), near)
    away = {"rz": np.zeros(len(near), bool), "rm": negative, "rp": ~negative}[mode] & (left != 0)
    size = np.ldexp(np.where(away, np.nextafter(toward_zero, form(np.inf)), toward_zero), scale)
    result = np.where(negative, -size, size).astype(form).view({4: np.uint32, 8: np.uint64}[near.itemsize])
    for i in np.flatnonzero(~plain).tolist():
        result[i] = exact(i)
    return result
