"""Division, reciprocal and square root in every rounding: equal to the last bit, on special values and random patterns."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from oric.sim import Modes

from . import directed, harness, meaning
from .support import launch, source

Array = np.ndarray[Any, Any]
OPERATIONS = ("div.rn", "rcp.rn", "sqrt.rn")
DIRECTED = tuple(f"{name}.{mode}" for name in ("div", "rcp", "sqrt") for mode in ("rz", "rm", "rp"))
EVERY = [(operation, bits) for operation in OPERATIONS + DIRECTED for bits in (32, 64)]
EVERY += [(operation + ".ftz", 32) for operation in OPERATIONS + DIRECTED]
WAYS = [("sm_90", 3), ("sm_80", 3), ("sm_90", 0)]
ONE = {32: 0x3F800000, 64: 0x3FF << 52}
WIDTH = {32: (4, np.uint32, np.float32), 64: (8, np.uint64, np.float64)}


@cache
def operands(bits: int, count: int) -> tuple[Array, Array]:
    """Every pair of special values, and behind them random patterns: any, and of numbers whose quotient is no overflow."""
    rng = np.random.default_rng(bits)
    word = WIDTH[bits][1]
    special = np.array(harness.FLOATS[bits], word)
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    more = max(count - pairs.shape[1], 0)
    random = rng.integers(0, 1 << bits, (2, more), np.uint64, False).astype(word) if bits == 32 else rng.bytes(16 * more)
    random = np.frombuffer(random, word).reshape(2, more) if isinstance(random, bytes) else random
    mantissa, one = (23, 127) if bits == 32 else (52, 1023)
    exponents = rng.integers(one - 40, one + 40, (2, more), dtype=np.uint64).astype(word) << word(mantissa)
    ordinary = random & word((1 << mantissa) - 1) | exponents
    chosen = np.where(rng.random((2, more)) < 0.5, random, ordinary)
    first, second = np.concatenate([pairs, chosen], axis=1)
    return first, second


def run(operation: str, bits: int, arch: str, level: int, a: Array, b: Array, modes: Modes | None = None) -> Array:
    size = WIDTH[bits][0]
    register = {32: "%f", 64: "%g"}[bits]
    given = f"{register}2" if not operation.startswith("div") else f"{register}2, {register}3"
    tid = f"%tid{size}"
    body = f"""
  mov.u32 %r1, %ctaid.x; mad.lo.u32 %i, %r1, 256, %i; mul.wide.u32 {tid}, %i, {size};
  add.u64 %d1, %in, {tid}; add.u64 %d2, %second, {tid}; add.u64 %d3, %out, {tid};
  ld.global.f{bits} {register}2, [%d1]; ld.global.f{bits} {register}3, [%d2];
  {operation}.f{bits} {register}1, {given}; st.global.f{bits} [%d3], {register}1;
"""
    text = source(".reg .b64 %second; ld.param.u64 %second, [psecond];" + body, arch, params=", .param .u64 psecond")
    return over(text, a, b, arch, level, modes)


def over(text: str, a: Array, b: Array, arch: str, level: int, modes: Modes | None = None) -> Array:
    """What a kernel of 256 threads a block makes of two arrays, ``second`` a parameter behind the usual ones."""
    blocks = -(-len(a) // 256)
    pad = blocks * 256 - len(a)
    padded = [np.concatenate([x, np.ones(pad, x.dtype)]) for x in (a, b)]
    out = np.zeros(len(padded[0]), a.dtype)
    return launch(text, padded[0], out, arch, level, 256, [padded[1]], grid=blocks, modes=modes)[: len(a)]


def with_nan(want: Array, a: Array, b: Array) -> Array:
    """The NaN that ptxas's code leaves: of singles the canonical one, of doubles the first operand that is one, made quiet."""
    if want.dtype == np.float32:
        return np.where(np.isnan(want), np.uint32(0x7FFFFFFF).view(np.float32), want)
    quiet, invalid = np.uint64(1 << 51), np.uint64(0xFFF8 << 48)
    nan = np.where(np.isnan(a.view(want.dtype)), a | quiet, np.where(np.isnan(b.view(want.dtype)), b | quiet, invalid))
    return np.where(np.isnan(want), nan, want.view(np.uint64)).view(want.dtype)


@cache
def wanted(operation: str, bits: int, count: int) -> Array:
    """The patterns of the results: numpy's to nearest, in other roundings what is proved by what is left of it."""
    _, word, form = WIDTH[bits]
    name, mode, *flush = operation.split(".")
    a, b = (flushed(x) if flush else x for x in operands(bits, count))
    x, y = a.view(form), b.view(form)
    if mode == "rn":
        with np.errstate(all="ignore"):
            want: Array = {"div": lambda: x / y, "rcp": lambda: form(1) / x, "sqrt": lambda: np.sqrt(x)}[name]()
    else:
        one = np.full(len(a), ONE[bits], word)
        found = {"div": lambda: directed.quotients(a, b, bits, mode),
                 "rcp": lambda: directed.quotients(one, a, bits, mode),
                 "sqrt": lambda: directed.roots(a, bits, mode)}[name]()  # fmt: skip
        want = found.view(form)
    result = with_nan(want, a, b if name == "div" else a).view(word)
    return flushed(result) if flush else result


def flushed(words: Array) -> Array:
    """Patterns of singles with zeros of their sign for subnormal numbers."""
    return np.where(words & 0x7F800000, words, words & 0x80000000).astype(np.uint32)


def check(operation: str, bits: int, arch: str, level: int, count: int, modes: Modes | None = None) -> None:
    a, b = operands(bits, count)
    got, want = run(operation, bits, arch, level, a, b, modes), wanted(operation, bits, count)
    wrong = np.flatnonzero(got != want)
    assert not len(wrong), [(hex(a[i]), hex(b[i]), hex(got[i]), hex(want[i])) for i in wrong[:6]]


@pytest.mark.row("R2-49")
@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize(("operation", "bits"), EVERY)
def test_special_values_and_some_others(operation: str, bits: int, arch: str, level: int) -> None:
    check(operation, bits, arch, level, 4096)


@pytest.mark.row("R2-49")
@pytest.mark.measure
@pytest.mark.parametrize(("arch", "level"), [("sm_75", 3), ("sm_90", 3), ("sm_120", 3), ("sm_80", 0)])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_million_operands(operation: str, bits: int, arch: str, level: int) -> None:
    check(operation, bits, arch, level, 1 << 20)


@pytest.mark.row("R2-49")
@pytest.mark.measure
@pytest.mark.parametrize(("operation", "bits"), [way for way in EVERY if way[0] not in OPERATIONS])
def test_a_million_operands_in_other_roundings(operation: str, bits: int) -> None:
    check(operation, bits, "sm_90", 3, 1 << 20)


@pytest.mark.row("R2-49")
@pytest.mark.measure
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("operation", "bits"), EVERY)
def test_results_are_exact_whatever_the_multifunction_unit_gives(operation: str, bits: int, seed: int) -> None:
    """Within its error bounds, by a seed: the sequences do not rest on the bits of one chip.

    But for quotients of doubles by numbers whose mantissa is all ones (docs/deviations.md): there Newton's iteration comes to the
    next double below the reciprocal from some of its neighbours.
    """
    a, b = operands(bits, 1 << 17)
    got = run(operation, bits, ("sm_90", "sm_75", "sm_120")[seed % 3], 3, a, b, Modes(perturb=seed))
    want = wanted(operation, bits, 1 << 17)
    last = np.uint64((1 << 52) - 1)
    known = b & last == last if (operation, bits) == ("div.rn", 64) else np.zeros(len(a), bool)
    wrong = np.flatnonzero((got != want) & ~known)
    assert not len(wrong), [(hex(a[i]), hex(b[i]), hex(got[i]), hex(want[i])) for i in wrong[:6]]
    assert (want[known].astype(np.int64) - got[known].astype(np.int64) <= 1).all()


def integers(type_: str, count: int) -> tuple[Array, Array]:
    """Dividends and divisors of all sizes, no divisor 0 and no quotient beyond the type."""
    rng = np.random.default_rng(count)
    form = np.dtype(f"{'i' if type_[0] == 's' else 'u'}{int(type_[1:]) // 8}")
    info = np.iinfo(form)
    special = np.array([v for v in (0, 1, 2, 3, 5, 7, 10, 641, -1, -2, -3, -7, info.max, info.max - 1, info.min, info.min + 1,
                                    info.max // 2, info.max // 2 + 1) if info.min <= v <= info.max], form)  # fmt: skip
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    random = rng.integers(info.min, info.max, (2, count - pairs.shape[1]), form, True)
    random >>= rng.integers(0, info.bits, random.shape).astype(form)  # of all sizes
    a, b = np.concatenate([pairs, random], axis=1)
    b = np.where(b == 0, form.type(3), b)
    return np.where((a == info.min) & (b == b.dtype.type(-1 if info.min else info.max)), form.type(5), a), b


@pytest.mark.measure
@pytest.mark.parametrize(("arch", "level"), [("sm_75", 3), ("sm_90", 3), ("sm_120", 3), ("sm_80", 0)])
@pytest.mark.parametrize("type_", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_a_million_integers(type_: str, arch: str, level: int) -> None:
    """Quotients towards zero, and remainders with the sign of the dividend."""
    a, b = integers(type_, 1 << 20)
    size, register = a.dtype.itemsize, {16: "%h", 32: "%r", 64: "%d1"}[int(type_[1:])]
    for operation in ("div", "rem"):
        body = f"""
  mov.u32 %r1, %ctaid.x; mad.lo.u32 %i, %r1, 256, %i; mul.wide.u32 %d4, %i, {size};
  add.u64 %d1, %in, %d4; add.u64 %d2, %second, %d4; add.u64 %d3, %out, %d4;
  ld.global.{type_} {register}2, [%d1]; ld.global.{type_} {register}3, [%d2];
  {operation}.{type_} {register}1, {register}2, {register}3; st.global.{type_} [%d3], {register}1;
"""
        text = source(".reg .b64 %second; ld.param.u64 %second, [psecond];" + body, arch, params=", .param .u64 psecond")
        quotient = exact_quotients(a, b)
        want = quotient if operation == "div" else a - quotient * b
        got = over(text, a, b, arch, level)
        wrong = np.flatnonzero(got != want)
        assert not len(wrong), [(operation, a[i], b[i], got[i], want[i]) for i in wrong[:6]]


def exact_quotients(a: Array, b: Array) -> Array:
    """Quotients towards zero: numpy's are towards minus infinity."""
    down = a // b
    return down + ((down < 0) & (down * b != a)).astype(a.dtype)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("bits", [32, 64])
def test_the_reference_is_what_exact_fractions_say(bits: int, mode: str) -> None:
    """On the special values and some others."""
    exact = {32: meaning.F32, 64: meaning.F64}[bits]
    a, b = operands(bits, 6000)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert directed.quotients(a, b, bits, mode).tolist() == [exact.div(p, q, mode) for p, q in pairs]
    assert directed.roots(a, bits, mode).tolist() == [exact.sqrt(p, mode) for p, _ in pairs]
