"""What calls of intrinsics compute: sums, minima and maxima, run in the simulator on edge values and random ones.

The meanings are those of the instructions that ptxas makes of the calls; where it makes none of a call, or one of another
meaning, what the operation means on the targets that have it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import oric
import pytest

from . import harness
from . import meaning as m

PREFIX = "__nv_ptx_builtin_ocg_"
TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_110a", "sm_120a"]
THREADS = 256
F16, F32, F64 = (m.Float(name) for name in ("f16", "f32", "f64"))
FLOATS = {"f16": F16, "f32": F32, "f64": F64}
ROUNDINGS = ["", "rn", "rm", "rp", "rz"]
Meaning = Callable[..., Sequence[int]]


@dataclass(frozen=True)
class Call:
    """A call: its name, the types of results and arguments, and patterns of the arguments to those of the results.

    Attributes:
        without: targets whose instruction the simulator does not know.
    """

    name: str
    results: tuple[str, ...]
    arguments: tuple[str, ...]
    reference: Meaning
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {' '.join(self.results)} {' '.join(dict.fromkeys(self.arguments))}"


def bits(kind: str) -> int:
    return int(kind[1:])


# -- integers, by numpy


def lanes(kind: str) -> type:
    """The numpy type of the elements of ``s32``, ``u16x2`` and so on."""
    return {"s32": np.int32, "u32": np.uint32, "s16x2": np.int16, "u16x2": np.uint16, "s64": np.int64, "u64": np.uint64}[kind]


def elements(kind: str, *words: int) -> list[np.ndarray]:
    wide = np.uint64 if kind in ("s64", "u64") else np.uint32
    return [np.array([word], wide).view(lanes(kind)) for word in words]


def whole(found: np.ndarray) -> int:
    return int(found.view(np.uint64 if found.dtype.itemsize == 8 else np.uint32)[0])


def extreme(kind: str, relu: bool, larger: bool) -> Meaning:
    def of(*words: int) -> Sequence[int]:
        found = reduce(np.maximum if larger else np.minimum, elements(kind, *words))
        return [whole(np.maximum(found, 0).astype(found.dtype) if relu else found)]

    return of


def extreme_of_sum(kind: str, relu: bool, larger: bool) -> Meaning:
    def of(a: int, b: int, c: int) -> Sequence[int]:
        x, y = elements(kind, a, b)
        return extreme(kind, relu, larger)(whole(x + y), c)

    return of


def total(kind: str) -> Meaning:
    mask = (1 << bits(kind)) - 1
    return lambda a, b: [a + b & mask]


def saturated(kind: str) -> Meaning:
    size, signed = bits(kind), kind[0] == "s"
    return lambda a, b: [m.saturate(m.s(a, size) + m.s(b, size) if signed else a + b, size, signed)]


def chosen(kind: str) -> Meaning:
    """mnmx: the smaller where the fifth argument is not 0; of 64 bits its lower word says so."""

    def of(*values: int) -> Sequence[int]:
        a, b, smaller = values[-4:-1]
        return extreme(kind, False, not smaller & 0xFFFFFFFF)(a, b)

    return of


# -- floats


def sum_of(kind: str, sat: bool) -> Meaning:
    form = FLOATS[kind]
    one = form.round(Fraction(1))

    def of(a: int, b: int) -> list[int]:
        found = form.add(a, b)
        if not sat:
            return [found]
        return [0 if form.is_nan(found) or found & form.sign else min(found, one)]

    return of


def pairs(function: Callable[..., int], count: int, rounding: str, ftz: bool) -> Meaning:
    flush = F32.flush if ftz else lambda x: x

    def of(*values: int) -> list[int]:
        return [flush(function(*(flush(values[2 * k + part]) for k in range(count)), rounding or "rn")) for part in (0, 1)]

    return of


def of_three(larger: bool, nan: bool, ftz: bool) -> Meaning:
    flush = F32.flush if ftz else lambda x: x

    def of(*values: int) -> list[int]:
        return [reduce(lambda a, b: F32.minimum(a, b, larger, nan), [flush(value) for value in values])]

    return of


# -- the calls


def sums() -> Iterator[Call]:
    for word in ("s32", "f32", "s64", "f64"):
        for kind in ("b32", "u32", "s32", "b64", "u64", "s64"):
            yield Call(f"add_{word}", (kind,), (kind,) * 2, total(kind))
            # of words without a sign: an instruction of sm_120 whose result the simulator does not know
            without = ("sm_120a",) if kind in ("b32", "u32") else ()
            yield Call(f"add_sat_{word}", (kind,), (kind,) * 2, saturated(kind), without)
        for kind in ("f16", "f32", "f64"):
            yield Call(f"add_{word}", (kind,), (kind,) * 2, sum_of(kind, False))
            yield Call(f"add_sat_{word}", (kind,), (kind,) * 2, sum_of(kind, True))
    for kind in ("b32", "s32", "f32"):
        yield Call("viadd_32", (kind,), (kind,) * 2, total(kind))


def choices() -> Iterator[Call]:
    for kind in ("s32", "u32", "s64", "u64"):
        plain = f"b{kind[1:]}"
        for smaller in (None, 0, 1, 2, 1 << 31):
            fifth = plain if smaller is None else f"{plain}={smaller}"
            arguments = (*(plain,) * 4, fifth, f"{plain}=0")
            yield Call(f"mnmx_{kind}", (plain,), arguments, chosen(kind))
        yield Call(f"mnmx_{kind}", (plain,), (plain, plain, plain, f"{plain}=7", plain, f"{plain}=0"), chosen(kind))


def vectors() -> Iterator[Call]:
    for name, larger in (("min", False), ("max", True)):
        for kind, relu in (("s32", 0), ("u32", 0), ("s16x2", 0), ("u16x2", 0), ("s32", 1), ("s16x2", 1)):
            words = f"{kind}{'_relu' * relu}"
            for type_ in ("b32", "s32"):
                yield Call(f"vi{name}_{words}", (type_,), (type_,) * 2, extreme(kind, bool(relu), larger))
                yield Call(f"vi{name}3_{words}", (type_,), (type_,) * 3, extreme(kind, bool(relu), larger))
                yield Call(f"viadd{name}_{words}", (type_,), (type_,) * 3, extreme_of_sum(kind, bool(relu), larger))
            yield Call(f"vi{name}_{words}", ("b32",), ("b32", "b32=5"), extreme(kind, bool(relu), larger))
            yield Call(f"viadd{name}_{words}", ("b32",), ("b32", "b32=65539", "b32"), extreme_of_sum(kind, bool(relu), larger))


def packed() -> Iterator[Call]:
    for name, function, count in (("fadd2", F32.add, 2), ("fmul2", F32.mul, 2), ("ffma2", F32.fma, 3)):
        for rounding, ftz in product(ROUNDINGS, (False, True)):
            words = [name, *(["ftz"] if ftz else []), *([rounding] if rounding else [])]
            for order in {tuple(words), (name, *reversed(words[1:]))}:
                yield Call("_".join(order), ("f32",) * 2, ("f32",) * 2 * count, pairs(function, count, rounding, ftz))
        yield Call(f"{name}_rm_ftz_rz", ("f32",) * 2, ("f32",) * 2 * count, pairs(function, count, "rz", True))
    for name, larger in (("fmin3", False), ("fmax3", True)):
        for ftz, nan in product((False, True), (False, True)):
            called = f"{name}{'_ftz' * ftz}{'_nan' * nan}"
            yield Call(called, ("f32",), ("f32",) * 3, of_three(larger, nan, ftz))
            yield Call(called, ("f32",), ("f32", "f32=0f3F800000", "f32"), of_three(larger, nan, ftz))


FAMILIES = {"sums": sums, "choices": choices, "vectors": vectors, "packed": packed}

# -- the kernel


def constant(argument: str) -> str:
    return argument.partition("=")[2]


def pattern(text: str) -> int:
    return int(text[2:], 16) if text.startswith("0f") else int(text)


def source(call: Call, number: int) -> tuple[str, list[str]]:
    """The declaration of the call's function and the lines of the call: argument k is at ``%a`` + 8 k, results go to ``%z``."""
    function = f"{PREFIX}{call.name}"
    several = len(call.results) > 1
    size = sum(bits(kind) // 8 for kind in call.results)
    result = f".param .align 8 .b8 r[{size}]" if several else f".reg .{call.results[0]} r"
    kinds = [argument.partition("=")[0] for argument in call.arguments]
    given = ", ".join(f".{'param' if several else 'reg'} .{kind} a{k}" for k, kind in enumerate(kinds))
    registers = [(kind, f"%x{k}") for k, kind in enumerate(kinds)] + [(kind, f"%y{k}") for k, kind in enumerate(call.results)]
    lines = ["{", *(f".reg .{kind} {name};" for kind, name in registers)]
    for k, (kind, argument) in enumerate(zip(kinds, call.arguments, strict=True)):
        if not constant(argument):
            lines.append(f"ld.global.{'b16' if kind == 'f16' else kind} %x{k}, [%a+{8 * k}];")
    passed = ", ".join(constant(argument) or f"%x{k}" for k, argument in enumerate(call.arguments))
    if several:
        lines.append(f".param .align 8 .b8 R[{size}];")
    lines.append(f"call.uni ({'R' if several else '%y0'}), {function}, ({passed});")
    at = 0
    for k, kind in enumerate(call.results):
        if several:
            lines.append(f"ld.param.{kind} %y{k}, [R+{at}];")
        at += bits(kind) // 8
        lines.append(f"st.global.{'b16' if kind == 'f16' else kind} [%z+{16 * number + 8 * k}], %y{k};")
    return f".extern .func ({result}) {function} ({given});", [*lines, "}"]


def kernel(calls: Sequence[Call], arch: str) -> str:
    made = [source(call, number) for number, call in enumerate(calls)]
    head = [f".version 9.0\n.target {arch}\n.address_size 64", *dict.fromkeys(declaration for declaration, _ in made)]
    head.append(".visible .entry k(.param .u64 pa, .param .u64 pz)\n{\n.reg .b64 %a; .reg .b64 %z; .reg .b32 %i;")
    head.append("ld.param.u64 %a, [pa]; ld.param.u64 %z, [pz]; mov.u32 %i, %tid.x;")
    head.append(f"mad.wide.u32 %a, %i, {8 * 8}, %a; mad.wide.u32 %z, %i, {16 * len(calls)}, %z;")
    return "\n".join([*head, *(line for _, lines in made for line in lines), "ret;\n}\n"])


def inputs(call: Call, rng: random.Random) -> list[list[int]]:
    columns = []
    for argument in call.arguments:
        kind, _, text = argument.partition("=")
        letter = {"f16": "H", "f32": "f", "f64": "g"}.get(kind, "d" if bits(kind) == 64 else "r")
        columns.append([pattern(text)] * THREADS if text else values(letter, rng))
    if call.name.startswith("mnmx") and not constant(call.arguments[4]):
        columns[4] = [rng.choice([0, 0, 1, 2, 1 << 31, 0xFFFFFFFF]) for _ in range(THREADS)]
    return columns


def values(letter: str, rng: random.Random) -> list[int]:
    """Edge values and random ones of a class of :mod:`tests.lower.harness`, ``H`` for floats of 16 bits."""
    if letter != "H":
        return harness.values(letter, THREADS, rng)
    return [rng.choice([rng.choice(harness.FLOATS[16]), rng.getrandbits(16)]) for _ in range(THREADS)]


def same(kind: str, found: int, want: int) -> bool:
    form = FLOATS.get(kind)
    return found == want or (form is not None and form.is_nan(found) and form.is_nan(want))


def compiled(calls: Sequence[Call], arch: str, level: int) -> bytes:
    image: bytes = oric.compile(kernel(calls, arch), arch=arch, opt_level=level).image
    return image


@pytest.mark.sampled(5)
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_compute_what_their_instructions_do(family: str, arch: str) -> None:
    groups: dict[str, list[Call]] = {}
    for call in FAMILIES[family]():
        if arch not in call.without:  # functions of one name have one declaration in a kernel
            groups.setdefault(f"{call.results} {[a.partition('=')[0] for a in call.arguments]}", []).append(call)
    rng = random.Random(f"{family} {arch}")
    wrong = []
    for calls in groups.values():
        columns = inputs(calls[0], rng)
        for level in (0, 3):
            for call, found, want in results(calls, columns, arch, level):
                at = next((k for k in range(THREADS) if not all(map(same, call.results, found[k], want[k]))), None)
                if at is not None:
                    operands = " ".join(f"{column[at]:#x}" for column in columns)
                    wrong.append(f"{call} -O{level} of {operands}: {[*map(hex, found[at])]}, not {[*map(hex, want[at])]}")
    assert not wrong, "\n".join(wrong)


def results(
    calls: Sequence[Call], columns: Sequence[Sequence[int]], arch: str, level: int
) -> Iterator[tuple[Call, list[list[int]], list[Sequence[int]]]]:
    """The calls with what the kernel found in each thread and what it should have."""
    data = np.zeros((THREADS, 8), np.uint64)
    for k, column in enumerate(columns):
        data[:, k] = np.array(column, np.uint64)
    out = np.zeros((THREADS, len(calls), 2), np.uint64)
    oric.sim.load(compiled(calls, arch, level)).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[data, out])
    for number, call in enumerate(calls):
        fixed = {k: pattern(constant(argument)) for k, argument in enumerate(call.arguments) if constant(argument)}
        found = [[int(out[t, number, k]) for k in range(len(call.results))] for t in range(THREADS)]
        want = [call.reference(*(fixed.get(k, column[t]) for k, column in enumerate(columns))) for t in range(THREADS)]
        yield call, found, want
