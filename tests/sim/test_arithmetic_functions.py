"""The multifunction unit: results are the rounded exact ones, or within the manual's error bounds when they are perturbed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest

from tests.sim import lanes
from tests.sim.lanes import Case, run

Array = np.ndarray[Any, Any]
LONG = np.longdouble
TWO_PI = LONG("6.283185307179586476925286766559005768394")


def _turn(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: f((x - np.rint(x)) * TWO_PI)


# The function in extended precision, and how far a perturbed result may be from it: relative, absolute.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "COS": (_turn(np.cos), 0, 2**-20.5),
    "SIN": (_turn(np.sin), 0, 2**-20.5),
    "EX2": (np.exp2, 2**-22.5, 0),
    "LG2": (np.log2, 2**-22, 2**-22),
    "RCP": (lambda x: 1 / x, 2**-23, 0),
    "RSQ": (lambda x: 1 / np.sqrt(x), 2**-22.9, 0),
    "SQRT": (np.sqrt, 2**-23, 0),
    "TANH": (np.tanh, 2**-11, 0),
}
# PTX has EX2 and TANH in 16 bits: relative, absolute.
SHORT = {
    ("EX2", "F16"): (2**-9.9, 0.0),
    ("TANH", "F16"): (0.0, 2**-10.987),
    ("EX2", "BF16"): (2**-7, 0.0),
    ("TANH", "BF16"): (0.0, 2**-8),
}


def case(fn: str, type_: str = "F32", isa: str = "sm_90", operand: str = "R8") -> Case:
    return Case(isa, "MUFU", ("R16", operand), ("f32",), lambda x, p: {}, {"fn": fn, "type": type_})


def flushed(x: Array) -> Array:
    return np.where(np.abs(x) < np.float32(2**-126), np.copysign(np.float32(0), x), x)


def operands(count: int) -> Array:
    return lanes.rows(("f32",), count, 11)


def check_rounded(fn: str, got: Array, x: Array) -> None:
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[fn][0](flushed(x).astype(LONG))
        if fn in ("SIN", "COS"):
            exact = np.where(np.isinf(x), LONG("nan"), exact)
        large = (np.abs(exact) >= LONG(2) ** -126) & np.isfinite(exact) & (np.abs(exact) < LONG(2) ** 127)
        step = np.exp2(np.floor(np.log2(np.where(large, np.abs(exact), LONG(1)))) - 23)
        error = np.abs(got.astype(LONG) - exact)
    assert (np.isnan(got) == np.isnan(exact)).all()
    assert (got.view(np.uint32)[np.isnan(got)] == 0x7FFFFFFF).all()
    slack = LONG(2) ** -55 if fn in ("SIN", "COS") else LONG(0)  # what is left of a half turn in the reference
    assert (error[large] <= step[large] * LONG(0.5000001) + slack).all()
    tiny = np.abs(exact) < LONG(2) ** -127
    assert (got[tiny] == 0).all()
    assert (np.isinf(got) == (np.abs(exact) > LONG(2) ** 128 * (1 - LONG(2) ** -25)))[~np.isnan(exact)].all()


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_results_are_rounded(fn: str) -> None:
    data = operands(3000)
    check_rounded(fn, run(case(fn), data)[:, 0].view(np.float32), data[:, 0].view(np.float32))


@pytest.mark.measure
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_many_results_are_rounded(fn: str) -> None:
    data = operands(400_000)
    check_rounded(fn, run(case(fn), data)[:, 0].view(np.float32), data[:, 0].view(np.float32))


def test_signs_and_magnitudes_of_the_operand() -> None:
    data = operands(100)
    x = data[:, 0].view(np.float32)
    minus, magnitude = (run(case("EX2", operand=o), data)[:, 0].view(np.float32) for o in ("-R8", "|R8|"))
    check_rounded("EX2", minus, -x)
    check_rounded("EX2", magnitude, np.abs(x))


@pytest.mark.parametrize(
    ("fn", "bits", "want"),
    [
        ("RCP", 0x00000000, 0x7F800000),
        ("RCP", 0x80000001, 0xFF800000),  # a denormal is a zero
        ("RCP", 0x7F000000, 0x00000000),  # and so is a denormal result
        ("RCP", 0xFF800000, 0x80000000),
        ("RSQ", 0x80000000, 0xFF800000),
        ("RSQ", 0xBF800000, 0x7FFFFFFF),
        ("SQRT", 0x80000000, 0x80000000),
        ("EX2", 0xFF800000, 0x00000000),
        ("EX2", 0xC2FE0000, 0x00000000),
        ("EX2", 0x43000000, 0x7F800000),
        ("LG2", 0x007FFFFF, 0xFF800000),
        ("LG2", 0xBF800000, 0x7FFFFFFF),
        ("SIN", 0x7F800000, 0x7FFFFFFF),
        ("SIN", 0x3F000000, 0x00000000),  # half a turn
        ("COS", 0x3E800000, 0x00000000),  # a quarter
        ("COS", 0x3F000000, 0xBF800000),
        ("TANH", 0x7F800000, 0x3F800000),
        ("TANH", 0x80000000, 0x80000000),
    ],
)
def test_special_values(fn: str, bits: int, want: int) -> None:
    data = np.full((32, 8), bits, np.uint32)
    for seed in (None, 1):
        assert hex(int(run(case(fn), data, seed)[0, 0])) == hex(want)


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_some_results_against_mpmath(fn: str) -> None:
    """The same with 100 bits: no result is on the wrong side because extended precision was not enough."""
    functions: dict[str, Callable[[Any], Any]] = {
        "COS": lambda x: mpmath.cospi(2 * x),
        "SIN": lambda x: mpmath.sinpi(2 * x),
        "EX2": lambda x: mpmath.mpf(2) ** x,
        "LG2": lambda x: mpmath.log(x, 2),
        "RCP": lambda x: 1 / x,
        "RSQ": lambda x: 1 / mpmath.sqrt(x),
        "SQRT": mpmath.sqrt,
        "TANH": mpmath.tanh,
    }
    data = operands(300)
    x = data[:, 0].view(np.float32)
    usable = np.isfinite(x) & (np.abs(x) > 2.0**-60) & (np.abs(x) < 2.0**60) & ((x > 0) | (fn not in ("LG2", "RSQ", "SQRT")))
    if fn in ("EX2", "TANH"):
        usable &= np.abs(x) < 100
    got = run(case(fn), data)[:, 0].view(np.float32)
    assert usable.sum() > 50
    with mpmath.workprec(120):
        for value, result in zip(x[usable].tolist(), got[usable].tolist(), strict=True):
            exact = functions[fn](mpmath.mpf(value))
            if exact != 0:
                assert abs(result - exact) <= mpmath.mpf(2) ** (mpmath.frexp(exact)[1] - 24) * mpmath.mpf("0.5000001"), (
                    value,
                    result,
                )


def short_operands(type_: str) -> tuple[Array, Array]:
    halves = np.arange(1 << 16, dtype=np.uint32)
    data = np.zeros((len(halves), 8), np.uint32)
    data[:, 0] = halves | np.roll(halves, 7) << np.uint32(16)
    return data, as_floats(halves, type_)


def as_floats(bits: Array, type_: str) -> Array:
    kind: Any = np.float16 if type_ == "F16" else ml_dtypes.bfloat16
    return bits.astype(np.uint16).view(kind).astype(np.float32)


def expected_short(fn: str, type_: str, x: Array) -> Array:
    if (fn, type_) == ("EX2", "BF16"):
        x = flushed(x)
    with np.errstate(all="ignore"):
        exact: Array = FUNCTIONS[fn][0](x.astype(np.float64))
    return exact


@pytest.mark.parametrize(("fn", "type_"), SHORT)
def test_all_operands_of_16_bits(fn: str, type_: str) -> None:
    data, x = short_operands(type_)
    exact = expected_short(fn, type_, x)
    kind: Any = np.float16 if type_ == "F16" else ml_dtypes.bfloat16
    with np.errstate(all="ignore"):
        want = exact.astype(np.float64).astype(kind) if type_ == "F16" else exact.astype(np.float32).astype(kind)
    want = want.astype(np.float32)
    if (fn, type_) == ("EX2", "BF16"):
        want = flushed(want)
    got = as_floats(run(case(fn, type_), data)[:, 0], type_)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_", ["F16", "BF16"])
def test_packed_exponentials(type_: str) -> None:
    data, _ = short_operands(type_)
    both = run(case("EX2", f"{type_}x2", "sm_103"), data)[:, 0]
    single = run(case("EX2", type_), data)[:, 0]
    np.testing.assert_array_equal(both & 0xFFFF, single)
    np.testing.assert_array_equal(both >> 16, np.roll(single, 7))


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("seed", [1, 2])
def test_perturbed_results_stay_within_the_bounds(fn: str, seed: int) -> None:
    f, relative, absolute = FUNCTIONS[fn]
    data = operands(20_000)
    x = flushed(data[:, 0].view(np.float32))
    plain, moved = (run(case(fn), data, s)[:, 0].view(np.float32) for s in (None, seed))
    with np.errstate(all="ignore"):
        exact = f(x.astype(LONG))
        ordinary = np.isfinite(exact) & np.isfinite(plain) & (np.abs(exact) >= LONG(2) ** -126)
        if fn == "LG2":
            bound = np.where((x > 0.5) & (x < 2), LONG(absolute), np.abs(exact) * LONG(relative))
        else:
            bound = np.maximum(np.abs(exact) * LONG(relative), LONG(absolute))
        error = np.abs(moved.astype(LONG) - exact)
    assert (error[ordinary] <= bound[ordinary]).all()
    same = plain.view(np.uint32) == moved.view(np.uint32)
    assert same[~np.isfinite(plain)].all()
    if fn != "TANH":  # whose results for tiny operands only look exact
        assert same[ordinary & (plain.astype(LONG) == exact)].all()
    inexact = ordinary & (plain.astype(LONG) != exact) & (np.abs(plain) != 1)
    assert 0.1 < (~same[inexact]).mean() < 1
    again = run(case(fn), data, seed)[:, 0].view(np.uint32)
    np.testing.assert_array_equal(again, moved.view(np.uint32))


@pytest.mark.parametrize(("fn", "type_"), SHORT)
def test_perturbed_results_of_16_bits(fn: str, type_: str) -> None:
    relative, absolute = SHORT[fn, type_]
    data, x = short_operands(type_)
    exact = expected_short(fn, type_, x)
    plain, moved = (run(case(fn, type_), data, s)[:, 0] for s in (None, 5))
    got = as_floats(moved, type_)
    with np.errstate(all="ignore"):
        ordinary = np.isfinite(got) & np.isfinite(exact) & (np.abs(exact) > (2**-14 if type_ == "F16" else 2.0**-126))
        error = np.abs(got - exact)
    half_step = np.abs(exact) * 2.0 ** (-11 if type_ == "F16" else -8)
    assert (error <= np.maximum(np.maximum(np.abs(exact) * relative, absolute), half_step))[ordinary].all()
    assert (plain != moved).any()


@pytest.mark.parametrize(("fn", "type_"), SHORT)
def test_a_constant_of_16_bits_is_a_register_with_it(fn: str, type_: str) -> None:
    isas = ["sm_80", "sm_90", "sm_120"] if type_ == "F16" else ["sm_90", "sm_120"]
    for value in lanes.EDGES["f16" if type_ == "F16" else "bf16"]:
        data = np.full((32, 8), value, np.uint32)
        want = run(case(fn, type_), data)[0, 0]
        for isa in isas:
            made = dataclasses.replace(case(fn, type_, isa), operands=("R16", value))
            assert run(made, data)[0, 0] == want, (isa, hex(value))


def test_seeds_give_different_results() -> None:
    data = operands(2000)
    first, second = (run(case("RCP"), data, s)[:, 0] for s in (1, 2))
    assert (first != second).any()


@pytest.mark.parametrize("fn", ["RCP64H", "RSQ64H"])
def test_upper_halves_of_doubles(fn: str) -> None:
    data = lanes.rows(("f64",), 20_000, 12)
    high = data[:, 1].copy()
    data[:, 0] = high
    doubles = (high.astype(np.uint64) << np.uint64(32)).view(np.float64)
    doubles = np.where(np.abs(doubles) < 2.0**-1022, np.copysign(0.0, doubles), doubles)
    with np.errstate(all="ignore"):
        exact = (1 / doubles) if fn == "RCP64H" else 1 / np.sqrt(doubles)
    exact = np.where(np.abs(exact) < 2.0**-1022, np.copysign(0.0, exact), exact)
    want = (exact.view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    want[np.isnan(exact)] = 0x7FFFFFFF
    np.testing.assert_array_equal(run(case(fn), data)[:, 0], want)
    moved = run(case(fn), data, 3)[:, 0].astype(np.int64) - want
    assert (np.abs(moved) <= 1).all()
    assert 0.2 < (moved != 0).mean() < 0.9
