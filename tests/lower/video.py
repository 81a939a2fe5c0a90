"""What the video instructions compute, on 32-bit patterns, written from the PTX ISA manual (9.7.18 and 9.7.19)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from .batch import Item
from .meaning import INTEGER_COMPARE, s, u

_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Lanes:
    """A video instruction taken apart: the words of its mnemonic and the parts of its operands ("" for the whole)."""

    words: tuple[str, ...]
    negated: tuple[bool, ...]  # d, a, b, c
    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """The instruction."""
        return self.words[0]

    @property
    def types(self) -> list[str]:
        """The types in the order of the mnemonic."""
        return [w for w in self.words if w in {"u32", "s32"}]

    def has(self, word: str) -> bool:
        """Whether a qualifier is given."""
        return word in self.words


_OPERAND = re.compile(r"(-?)[%\w]+(?:\.(\w+))?\Z")


def take_apart(text: str) -> Lanes:
    """An instruction such as ``vadd.s32.u32.s32.sat D.b1, A.h0, B, C``."""
    mnemonic, _, rest = text.partition(" ")
    found = [_OPERAND.match(operand.strip()) for operand in rest.split(",")]
    matches = [m for m in found if m is not None]
    assert len(matches) == len(found), text
    return Lanes(tuple(mnemonic.split(".")), tuple(bool(m[1]) for m in matches), tuple(m[2] or "" for m in matches))


def _selected(x: int, type_: str, part: str) -> int:
    """A byte, a half or the whole of a word, as a number."""
    if part:
        x >>= int(part[1]) * (8 if part[0] == "b" else 16)
    bits = _width(part)
    return s(x, bits) if type_ == "s32" else u(x, bits)


def _width(part: str) -> int:
    return {"": 32, "b": 8, "h": 16}[part[:1]]


def _clamped(x: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(x, low), high)


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1,
}


def scalar(i: Lanes, a: int, b: int, c: int = 0) -> int:
    """vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset of patterns."""
    is_set = i.name == "vset"
    kinds = [i.types[0], *i.types] if is_set else i.types
    signed = kinds[0] == "s32"
    x, y = _selected(a, kinds[1], i.parts[1]), _selected(b, kinds[2], i.parts[2])
    if is_set:
        value = int(INTEGER_COMPARE[i.words[3]](x, y))
    elif i.name in {"vshl", "vshr"}:
        amount = y & 31 if i.has("wrap") else min(y, 32)
        value = s(x << amount, 64) if i.name == "vshl" else x >> amount
        if i.has("sat"):
            value = s(_clamped(s(value, 34), 32, signed), 32)
    else:
        value = _OPERATIONS[i.name](x, y)
        if i.has("sat"):
            value = _saturated(value, _width(i.parts[0]), signed)
        if i.name in {"vadd", "vsub"}:
            value = s(value, 32)
    return _merged(i, value, c, signed)


def _saturated(value: int, bits: int, signed: bool) -> int:
    """A sum, difference, minimum or maximum that is saturated."""
    if bits == 32:
        return _clamped(value, bits, True) if signed else max(value, 0)
    most = (1 << bits - signed) - 1
    return min(value, most) if 0 <= value <= _WORD else most


def _merged(i: Lanes, value: int, c: int, signed: bool) -> int:
    """The secondary operation or the merge with c."""
    part = i.parts[0]
    if part:
        at, bits = int(part[1]) * _width(part), _width(part)
        mask = (1 << bits) - 1 << at
        return (value if part == "h1" else value << at) & mask | c & ~mask & _WORD
    third = s(c, 32) if signed else c
    if i.has("add"):
        value += third
    elif i.has("min") or i.has("max"):
        pick = min if i.has("min") else max
        value = pick(value, third) if signed else pick(u(value, 64), u(third, 64))
    return u(value, 32)


def multiplied(i: Lanes, a: int, b: int, c: int) -> int:
    """vmad of patterns."""
    atype, btype = i.types[1:]
    minus = i.negated[1] ^ i.negated[2]
    signed = "s32" in (atype, btype) or minus or i.negated[3]
    product = s(_selected(a, atype, i.parts[1]), 32) * s(_selected(b, btype, i.parts[2]), 32)
    if minus:
        product = -product
    third = s(c, 32)
    value = product + (-third if i.negated[3] else third) + i.has("po")
    if not signed:
        value = u(value, 64)
    value >>= 7 if i.has("shr7") else 15 if i.has("shr15") else 0
    if i.has("sat"):
        value = _clamped(value if signed else s(value, 64), 32, signed)
    return u(value, 32)


def lanes(i: Lanes, a: int, b: int, c: int) -> int:
    """The SIMD instructions: two halves or four bytes."""
    count = int(i.name[-1])
    bits = 32 // count
    name = i.name[:-1]
    is_set = name == "vset"
    kinds = ["u32", *i.types] if is_set else i.types
    both = [(b << 32 | a) >> bits * k & (1 << bits) - 1 for k in range(2 * count)]
    x, y = _chosen(both, i.parts[1], 0, count), _chosen(both, i.parts[2], count, count)
    mask = {int(digit) for digit in i.parts[0][1:]} if i.parts[0] else set(range(count))
    total, merged = c, 0
    for k in range(count):
        left, right = (s(v, bits) if t == "s32" else v for v, t in ((x[k], kinds[1]), (y[k], kinds[2])))
        value = int(INTEGER_COMPARE[i.words[3]](left, right)) if is_set else _OPERATIONS[name](left, right)
        if i.has("sat"):
            value = _clamped(value, bits, kinds[0] == "s32")
        total += value if k in mask else 0
        merged |= u(value, bits) << bits * k if k in mask else c & (1 << bits) - 1 << bits * k
    return u(total, 32) if i.has("add") else merged


def _chosen(both: list[int], part: str, first: int, count: int) -> list[int]:
    """The elements that a selector names, its last digit the lowest."""
    return [both[int(digit)] for digit in reversed(part[1:])] if part else both[first : first + count]


def reference(text: str) -> Callable[..., int]:
    """What an instruction computes of the patterns of a, b and c."""
    i = take_apart(text)
    function = multiplied if i.name == "vmad" else lanes if i.name[-1].isdigit() else scalar
    return lambda *operands: function(i, *operands)


# -- instructions that cover the forms ------------------------------------------------------------------------------------

_TYPES = ("u32", "s32")
_PARTS = ("", "b0", "b1", "b2", "b3", "h0", "h1")
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def _with(name: str, part: str) -> str:
    return f"{name}.{part}" if part else name


def _scalar_mnemonics() -> Iterator[str]:
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        yield from (".".join([name, *t, *sat]) for t in product(_TYPES, repeat=3) for sat in ((), ("sat",)))
    for name in ("vshl", "vshr"):
        for types, sat, mode in product(product(_TYPES, repeat=2), ((), ("sat",)), ("clamp", "wrap")):
            yield ".".join([name, *types, "u32", *sat, mode])
    yield from (f"vset.{a}.{b}.{compare}" for a in _TYPES for b in _TYPES for compare in _COMPARE)


def _vmad_mnemonics() -> Iterator[tuple[str, str, str, str]]:
    """With the signs of a, b and c."""
    for types, sat, scale in product(product(_TYPES, repeat=3), ("", ".sat"), ("", ".shr7", ".shr15")):
        head = ".".join(["vmad", *types])
        yield f"{head}.po{sat}{scale}", "", "", ""
        for signs in (("", "", ""), ("-", "", ""), ("", "-", ""), ("-", "-", ""), ("", "", "-")):
            yield f"{head}{sat}{scale}", *signs


def _simd_mnemonics() -> Iterator[tuple[str, int]]:
    """With the number of lanes."""
    for count, types, end in product((2, 4), product(_TYPES, repeat=3), ("", ".sat", ".add")):
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            yield ".".join([f"{name}{count}", *types]) + end, count
    for count, types, compare, end in product((2, 4), product(_TYPES, repeat=2), _COMPARE, ("", ".add")):
        yield ".".join([f"vset{count}", *types, compare]) + end, count


def _selector(rng: random.Random, count: int) -> str:
    if rng.random() < 0.4:
        return ""
    return ("h" if count == 2 else "b") + "".join(rng.choice("01234567"[: 2 * count]) for _ in range(count))


def _mask(rng: random.Random, count: int) -> str:
    chosen = [digit for digit in "3210"[4 - count :] if rng.random() < 0.6]
    return ("h" if count == 2 else "b") + "".join(chosen) if chosen else ""


def texts() -> list[str]:
    """Every mnemonic with every kind of second operation, the parts of operands drawn."""
    rng = random.Random("video")
    out = []
    for head in _scalar_mnemonics():
        a, b, d = (rng.choice(_PARTS) for _ in range(3))
        out.append(f"{head} D, {_with('A', a)}, {_with('B', b)}")
        out += [f"{head}.{op} D, {_with('A', rng.choice(_PARTS))}, {_with('B', b)}, C" for op in ("add", "min", "max")]
        out.append(f"{head} {_with('D', d or 'h1')}, {_with('A', a)}, {_with('B', rng.choice(_PARTS))}, C")
    for head, *signs in _vmad_mnemonics():
        parts = rng.choice(_PARTS), rng.choice(_PARTS), ""
        names = [sign + _with(name, part) for sign, name, part in zip(signs, "ABC", parts, strict=True)]
        out.append(f"{head} D, {', '.join(names)}")
    for head, count in _simd_mnemonics():
        names = [_with("D", _mask(rng, count)), *(_with(name, _selector(rng, count)) for name in "AB"), "C"]
        out.append(f"{head} {', '.join(names)}")
    return out


def items() -> list[Item]:
    """The same as items of a batch."""
    return [Item(text, "r", "rrr" if text.count(",") == 3 else "rr", reference(text)) for text in texts()]
