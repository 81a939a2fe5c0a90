"""Arrays of 64-bit integers whose elements are equal at first."""

from __future__ import annotations

from typing import Final

from librt.vecs import extend, vec
from mypy_extensions import i64

_ZEROS: Final = vec[i64]([0] * 1024)
_NONES: Final = vec[i64]([-1] * 1024)


def zeros(count: i64) -> vec[i64]:
    """An array of ``count`` zeros."""
    return _repeated(_ZEROS, count)


def nones(count: i64) -> vec[i64]:
    """An array of ``count`` times -1."""
    return _repeated(_NONES, count)


def _repeated(block: vec[i64], count: i64) -> vec[i64]:
    if count <= len(block):
        return block[0:count]
    found = block[:]
    while len(found) < count:
        found = extend(found, found)
    return found[0:count]
