"""Lending arrays to C without a copy.

The buffer of a ``vec`` is formally read-only, but C may write through it. No array may grow while it is lent: the view is
taken for one call, or kept only as long as the array that it shows does not grow.
"""

from __future__ import annotations

from typing import Any, Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables._native import ffi

_CHECKED: Final[bool] = hasattr(vec[i64](), "buffer")  # interpreted runs have arrays that check themselves, round a buffer


def lend(array: vec[i64]) -> Any:
    """The elements as an ``int64_t *`` for C."""
    return ffi.from_buffer("int64_t[]", getattr(array, "buffer") if _CHECKED else array)  # noqa: B009 no attribute of a vec
