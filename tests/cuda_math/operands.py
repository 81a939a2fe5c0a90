"""Operands of the functions: special ones in all combinations, ordinary ones, random bits."""

from __future__ import annotations

import zlib
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .functions import TYPES, Function

_DTYPES: dict[str, Any] = {
    "f": np.float32, "d": np.float64, "h": np.float16, "b": ml_dtypes.bfloat16, "i": np.int32, "u": np.uint32, "l": np.int64,
    "m": np.uint64, "s": np.int16, "t": np.uint16, "c": np.int8, "y": np.uint8, "H": np.float16, "B": ml_dtypes.bfloat16,
}  # fmt: skip
_PAIRS = "HB"
_FLOATS = "fdhbHB"
_SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    10.0,
    0.1,
    1e-3,
    100.0,
    12345.678,
    1e-30,
    1e30,
    np.pi,
    -np.e,
    np.inf,
    -np.inf,
    np.nan,
]


def _unsigned(letter: str) -> Any:
    return np.dtype(f"u{np.dtype(_DTYPES[letter]).itemsize}")


def special(letter: str) -> NDArray[Any]:
    """Special values of a type."""
    dtype = _DTYPES[letter]
    bits = 8 * np.dtype(dtype).itemsize
    if letter in _FLOATS:
        with np.errstate(over="ignore"):
            named = np.array(_SPECIAL, np.float64).astype(dtype)
        mantissa = {"f": 23, "d": 52, "h": 10, "H": 10, "b": 7, "B": 7}[letter]
        top = (1 << (bits - 1)) - (1 << mantissa)  # infinity
        words = [1, 2, (1 << mantissa) - 1, 1 << mantissa, top - 1, top + 1, top | 1 << (mantissa - 1) | 5]
        return np.concatenate([named, np.array([*words, *(w | 1 << (bits - 1) for w in words)], _unsigned(letter)).view(dtype)])
    words = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        (1 << (bits - 1)) - 1,
        1 << (bits - 1),
        (1 << (bits - 1)) + 1,
        (1 << bits) - 1,
        (1 << bits) - 2,
    ]
    return np.array([w % (1 << bits) for w in words], _unsigned(letter)).view(dtype)


def _random(rng: np.random.Generator, letter: str, count: int) -> NDArray[Any]:
    """A third ordinary, a third of any magnitude, a third random bits."""
    dtype = _DTYPES[letter]
    raw = rng.bytes(count * np.dtype(dtype).itemsize)
    found = np.frombuffer(raw, dtype).copy()
    third = count // 3
    with np.errstate(over="ignore"):
        if letter in _FLOATS:
            found[:third] = (rng.standard_normal(third) * 4).astype(dtype)
            found[third : 2 * third] = (rng.standard_normal(third) * np.exp2(rng.integers(-40, 40, third))).astype(dtype)
        else:
            found[:third] = rng.integers(0, 100, third).astype(dtype)
    return found


def operands(function: Function, count: int) -> list[NDArray[Any]]:
    """Arrays of ``count`` operands (pairs: of twice as many halves), the same every time."""
    rng = np.random.default_rng(zlib.crc32(function.name.encode()))
    grids = [special(letter) for letter in function.arguments]
    cells = int(np.prod([len(g) for g in grids]))
    if cells > count // 2:
        chosen = [g[rng.integers(0, len(g), count // 2)] for g in grids]
    else:
        chosen = [np.array(column, g.dtype) for column, g in zip(zip(*product(*grids), strict=True), grids, strict=True)]
    made = []
    for letter, cell in zip(function.arguments, chosen, strict=True):
        full = count * (2 if letter in _PAIRS else 1)
        values = np.concatenate([cell, _random(rng, letter, full - len(cell))])
        made.append(values if letter not in _PAIRS else rng.permutation(values))
    return made


def results(function: Function, count: int) -> NDArray[Any]:
    """An array for the results."""
    return np.zeros(count * TYPES[function.result][1], np.uint8)
