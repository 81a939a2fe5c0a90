"""Every form of the integer instructions with what the PTX ISA manual says it computes.

The forms are those of the signatures (``spec/ptx``), each slot with each of its values; :data:`REFERENCES` gives what an
instruction computes by its name. A form whose name has no reference is an error, so that none is left out.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from oric.ptx.signatures import OperandSpec, combined, word_gates

from tests.ptx.signature_examples import operand

from . import harness
from . import meaning as m
from .batch import NAMES, Item
from .meaning import INTEGER_COMPARE, s, u

Words = list[str]
Function = Callable[..., int]
FAMILIES = {
    "arith": "add sub mul mad mul24 mad24 sad div rem abs neg min max dp4a dp2a",
    "bits": "and or xor not cnot shf shl shr popc clz bfind brev bfe bfi szext bmsk fns prmt",
    "compare": "set setp selp slct",
}
_CLASSES = {"16": "h", "32": "r", "64": "d", "pred": "p"}
_WORD = re.compile(r"[bsu](16|32|64)(x2)?\Z")
_FLOAT = re.compile(r"b?f(16|32|64)(x2)?\Z")


def forms() -> Iterator[tuple[Words, str, int]]:
    """The mnemonic (as words) of every form on integers and predicates, the classes of its operands, the SM that it needs."""
    for family, names in FAMILIES.items():
        module = importlib.import_module(f"oric_tables.ptx_{family}")
        for name in names.split():
            for form in module.FORMS[name][1]:
                for fields in _filled(form[0]):
                    specs = [OperandSpec(row, fields, module.COUNTS) for row in form[1]]
                    words = [name, *(fields[field] for field, _, _ in form[0] if field in fields)]
                    if not any(map(_FLOAT.match, words)):
                        gate = combined([form[2:5], *word_gates(fields, module.FORMS[name][2], module.GATES)])
                        yield words, "".join(_class(spec, at) for at, spec in enumerate(specs) if not spec.optional), gate[1]


def _filled(slots: list[tuple[str, tuple[str, ...], bool]]) -> Iterator[dict[str, str]]:
    choices = [[*values, *([] if required else [None])] for _, values, required in slots]
    for values in product(*choices):
        yield {field: value for (field, _, _), value in zip(slots, values, strict=True) if value is not None}


def _class(spec: OperandSpec, at: int) -> str:
    spec.pair = spec.bounds = None
    found = re.fullmatch(r"%([a-z]*)(\d*)_\d", operand(spec, at))
    assert found is not None
    return _CLASSES[found[2] or found[1]]


def type_of(words: Words) -> tuple[bool, int, bool]:
    """Of the last type of a mnemonic: whether it has a sign, its bits, whether it is a pair."""
    word = next(word for word in reversed(words) if _WORD.match(word))
    return word[0] == "s", int(word[1:3]), word.endswith("x2")


# -- arithmetic -------------------------------------------------------------------------------------------------------------


def _value(signed: bool, bits: int) -> Callable[[int], int]:
    return (lambda x: s(x, bits)) if signed else (lambda x: x)


def _plain(compute: Callable[[int, int], int]) -> Callable[[Words], Function]:
    """A function of two numbers, of a pair element by element, perhaps saturated or not below zero."""

    def made(words: Words) -> Function:
        signed, bits, pair = type_of(words)
        value = _value(signed, bits)

        def single(*operands: int) -> int:
            out = compute(*map(value, operands))
            if "relu" in words:
                out = max(out, 0)
            return m.saturate(out, bits, True) if "sat" in words else u(out, bits)

        return (lambda *operands: m.halves(single, *operands)) if pair else single

    return made


def _divided(which: int) -> Callable[[Words], Function]:
    def made(words: Words) -> Function:
        signed, bits, _ = type_of(words)
        value = _value(signed, bits)
        # of nothing by zero the manual says nothing; observed: ptxas 13.0.88
        return lambda a, b: u(m.truncated(value(a), value(b))[which], bits) if b else u(-1, bits)

    return made


def product_of(words: Words, a: int, b: int) -> int:
    """The part of a product that ``mul`` and ``mad`` choose, as a number."""
    signed, bits, _ = type_of(words)
    if "24" in words[0]:
        a, b = (s(x, 24) if signed else u(x, 24) for x in (a, b))
        return u(a * b, 32) if "lo" in words else s(a * b >> 16, 32) if signed else a * b >> 16
    whole = s(a, bits) * s(b, bits) if signed else a * b
    return whole if "wide" in words else whole >> bits if "hi" in words else u(whole, bits)


def _multiplied(words: Words) -> Function:
    _, bits, _ = type_of(words)
    width = 2 * bits if "wide" in words else bits

    def single(a: int, b: int, c: int = 0) -> int:
        if "sat" in words:
            return m.saturate(product_of(words, a, b) + s(c, 32), 32, True)
        return u(product_of(words, a, b) + c, width)

    return single


def _distance(words: Words) -> Function:
    signed, bits, _ = type_of(words)
    value = _value(signed, bits)
    return lambda a, b, c: u(abs(value(a) - value(b)) + c, bits)


def _dot(words: Words) -> Function:
    wide, narrow = (s if word[0] == "s" else u for word in words[-2:])
    if words[0] == "dp4a":
        return lambda a, b, c: u(c + sum(wide(a >> 8 * k, 8) * narrow(b >> 8 * k, 8) for k in range(4)), 32)
    first = 2 if "hi" in words else 0
    return lambda a, b, c: u(c + sum(wide(a >> 16 * k, 16) * narrow(b >> 8 * (k + first), 8) for k in range(2)), 32)


# -- bits -------------------------------------------------------------------------------------------------------------------


def _amount(words: Words) -> Callable[[int], int]:
    return (lambda x: x & 31) if "wrap" in words else (lambda x: min(x, 32))


def _funnel(words: Words) -> Function:
    amount = _amount(words)
    if "l" in words:
        return lambda a, b, c: u((b << 32 | a) << amount(c) >> 32, 32)
    return lambda a, b, c: u((b << 32 | a) >> amount(c), 32)


def _shifted(words: Words) -> Function:
    signed, bits, _ = type_of(words)
    value = _value(signed, bits)
    if words[0] == "shl":
        return lambda a, b: u(a << min(b, bits), bits)
    return lambda a, b: u(value(a) >> min(b, bits), bits)


def _extended(words: Words) -> Function:
    amount, extend = _amount(words), s if "s32" in words else u
    return lambda a, b: u(extend(a, amount(b)), 32) if amount(b) else 0


def _mask(words: Words) -> Function:
    amount = _amount(words)
    return lambda a, b: u((1 << amount(b)) - 1 << amount(a), 32)


def nth_set(mask: int, base: int, offset: int) -> int:
    """``fns``; a base beyond 31, which the manual leaves open, finds no bit, and -2^31 gives 0 (ptxas 13.0.88)."""
    offset = s(offset, 32)
    if offset == -(1 << 31):
        return 0
    if base > 31:
        return 0xFFFFFFFF
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else 0xFFFFFFFF


_PERMUTED: dict[str, Callable[[int], list[int]]] = {
    "f4e": lambda n: [n, n + 1, n + 2, n + 3],
    "b4e": lambda n: [n, n + 7 & 7, n + 6 & 7, n + 5 & 7],
    "rc8": lambda n: [n] * 4,
    "ecl": lambda n: [max(n, k) for k in range(4)],
    "ecr": lambda n: [min(n, k) for k in range(4)],
    "rc16": lambda n: [2 * (n & 1), 2 * (n & 1) + 1] * 2,
}


def _permuted(words: Words) -> Function:
    if len(words) == 2:
        return m.prmt

    def chosen(a: int, b: int, c: int) -> int:
        places = _PERMUTED[words[-1]](c & 3)
        return sum(((b << 32 | a) >> 8 * place & 255) << 8 * k for k, place in enumerate(places))

    return chosen


def _bits(function: Callable[..., int]) -> Callable[[Words], Function]:
    """A function of operands whose last argument is the width."""

    def made(words: Words) -> Function:
        _, bits, _ = type_of(words)
        return lambda *operands: function(*operands, bits)

    return made


def _logic(function: Callable[[int, int], int]) -> Callable[[Words], Function]:
    return lambda words: function


def _bfind(words: Words) -> Function:
    signed, bits, _ = type_of(words)
    return lambda a: m.bfind(a, bits, signed, "shiftamt" in words)


def _bfe(words: Words) -> Function:
    signed, bits, _ = type_of(words)
    return lambda a, b, c: m.bfe(a, b, c, bits, signed)


# -- comparison -------------------------------------------------------------------------------------------------------------

_COMBINE = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _compared(words: Words) -> Function:
    """setp, its first result."""
    signed, bits, _ = type_of(words)
    value, compare = _value(signed, bits), INTEGER_COMPARE[_UNSIGNED.get(words[1], words[1])]
    combine = next((_COMBINE[word] for word in words[2:] if word in _COMBINE), None)

    def single(a: int, b: int, c: int = 1) -> int:
        found = compare(value(a), value(b))
        return int(combine(found, bool(c)) if combine else found)

    return single


def _set(words: Words) -> Function:
    compared = _compared(words)
    return lambda *operands: 0xFFFFFFFF if compared(*operands) else 0


REFERENCES: dict[str, Callable[[Words], Function]] = {
    "add": _plain(lambda a, b: a + b),
    "sub": _plain(lambda a, b: a - b),
    "mul": _multiplied,
    "mad": _multiplied,
    "mul24": _multiplied,
    "mad24": _multiplied,
    "sad": _distance,
    "div": _divided(0),
    "rem": _divided(1),
    "abs": _plain(lambda a, b=0: abs(a)),
    "neg": _plain(lambda a, b=0: -a),
    "min": _plain(min),
    "max": _plain(max),
    "dp4a": _dot,
    "dp2a": _dot,
    "and": _logic(lambda a, b: a & b),
    "or": _logic(lambda a, b: a | b),
    "xor": _logic(lambda a, b: a ^ b),
    "not": lambda words: (lambda a: 1 - a) if "pred" in words else (lambda a: u(~a, type_of(words)[1])),
    "cnot": lambda words: lambda a: int(a == 0),
    "shf": _funnel,
    "shl": _shifted,
    "shr": _shifted,
    "popc": lambda words: lambda a: a.bit_count(),
    "clz": _bits(m.clz),
    "brev": _bits(m.brev),
    "bfind": _bfind,
    "bfe": _bfe,
    "bfi": _bits(m.bfi),
    "szext": _extended,
    "bmsk": _mask,
    "fns": lambda words: nth_set,
    "prmt": _permuted,
    "setp": _compared,
    "set": _set,
    "selp": lambda words: lambda a, b, c: a if c else b,
    "slct": lambda words: lambda a, b, c: a if s(c, 32) >= 0 else b,
}


def plain() -> Iterator[Item]:
    """Each form with registers, all different; carries and lop3 have items of their own."""
    for words, classes, sm in forms():
        if "cc" not in words:
            text = f"{'.'.join(words)} {', '.join('D' + NAMES[: len(classes) - 1])}"
            yield Item(text, classes[0], classes[1:], REFERENCES[words[0]](words), since=sm)


_CONSTANTS: dict[int, Sequence[int]] = {
    16: (0, 1, 2, 3, 7, 10, 15, 16, 31, 255, 256, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF),
    32: (0, 1, 2, 3, 7, 10, 16, 31, 32, 33, 64, 100, 255, 256, 641, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001,
         0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFF00, 0x3210, 0x7654, 0xBEEF),
    64: (0, 1, 2, 3, 7, 10, 16, 63, 64, 1000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
         0x8000000000000001, 0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF),
    1: (),
}  # fmt: skip


def varied(item: Item) -> Iterator[Item]:
    """One register as both sources, each constant in the place of each source, and constants in all places but the first."""
    if len(item.sources) > 1 and item.sources[0] == item.sources[1]:
        yield replace(item, same=True)
    count = len(item.sources)
    if "x2" in item.text:
        return  # they take no constants
    rest = [_CONSTANTS[harness.BITS[kind]] for kind in item.sources]
    if item.text[:3] in {"bfe", "bfi"}:  # their last two are bytes
        rest[-2:] = [[constant for constant in values if constant < 256] for values in rest[-2:]]
    for place, values in enumerate(rest):
        for constant in values:
            yield replace(item, constants=tuple(constant if at == place else None for at in range(count)))
    if count > 1 and all(rest):
        for number in range(1, 8):
            later = [values[number * (7 + at) % len(values)] for at, values in enumerate(rest)]
            yield replace(item, constants=(None, *later[1:]))
            yield replace(item, constants=tuple(later))


# -- sums with carries, lop3 --------------------------------------------------------------------------------------------------


def _carrying(words: Words, a: int, b: int, c: int, carry: int) -> tuple[int, int]:
    """The result and the carry that it leaves, with a carry that comes in (for subtraction: 1 where nothing is borrowed)."""
    signed, bits, _ = type_of(words)
    mask = (1 << bits) - 1
    if words[0] in {"mad", "madc"}:
        whole = s(a, bits) * s(b, bits) if signed else a * b
        # of 16 bits the bits from 32 on count as the upper half (ptxas 13.0.88; the manual says: those from 16 on)
        a, b = (whole >> max(bits, 32) if "hi" in words else whole) & mask, c
    elif words[0] in {"sub", "subc"}:
        b = ~b & mask
    total = a + b + carry
    if "sat" in words and words[0] != "madc":  # madc.hi.sat does not saturate (ptxas 13.0.88)
        return m.saturate(s(a, bits) + s(b, bits) + carry, bits, True), 0
    return total & mask, total >> bits


def carries() -> Iterator[Item]:
    """Each form with and without a carry that comes in, its result and the carry that it leaves."""
    arith = importlib.import_module("oric_tables.ptx_arith")
    for name in ("add", "sub", "mad", "addc", "subc", "madc"):
        for form in arith.FORMS[name][1]:
            for fields in _filled(form[0]):
                words = [name, *(fields[field] for field, _, _ in form[0] if field in fields)]
                if not any(map(_FLOAT.match, words)) and ("cc" in words or name.endswith("c")):
                    yield from _carry_items(words)


def _carry_items(words: Words) -> Iterator[Item]:
    bits = type_of(words)[1]
    kind = _CLASSES[str(bits)]
    names = "A, B, C" if words[0].startswith("mad") else "A, B"
    chained = words[0].endswith("c")
    first = "add.cc.u32 %x, E, E; " if chained else ""  # its carry is the highest bit of E

    def result(a: int, b: int, c: int, e: int) -> int:
        return _carrying(words, a, b, c, e >> 31 if chained else int(words[0] == "sub"))[0]

    def left(a: int, b: int, c: int, e: int) -> int:
        return _carrying(words, a, b, c, e >> 31 if chained else int(words[0] == "sub"))[1]

    sources = kind * 3 + "r"
    mnemonic = ".".join(words)
    declared = f".reg .b32 %x; .reg .b{bits} %y;"
    yield Item(f"{{{declared} {first}{mnemonic} D, {names};}}", kind, sources, result)
    if "cc" in words:
        yield Item(f"{{{declared} {first}{mnemonic} %y, {names}; addc.u32 D, 0, 0;}}", "r", sources, left)


def lookups() -> Iterator[Item]:
    """lop3 with every table, and with a predicate beside the result."""
    for lut in range(256):
        yield Item(f"lop3.b32 D, A, B, C, {lut}", "r", "rrr", lambda a, b, c, lut=lut: m.lop3(a, b, c, lut))
    for lut, word in product((0x00, 0x96, 0xE8, 0x01, 0xC0, 0xFF), ("or", "and")):

        def truth(a: int, b: int, c: int, p: int, lut: int = lut, word: str = word) -> int:
            return int(bool(_COMBINE[word](m.lop3(a, b, c, lut) != 0, bool(p))))

        text = f"lop3.{word}.b32 %z|%q, A, B, C, {lut}, E"
        yield Item(f"{{.reg .b32 %z; .reg .pred %q; {text}; mov.pred D, %q;}}", "p", "rrrp", truth)
        yield Item(
            f"{{.reg .pred %q; {text.replace('%z', 'D')};}}", "r", "rrrp", lambda a, b, c, p, lut=lut: m.lop3(a, b, c, lut)
        )


def pairs() -> Iterator[Item]:
    """The second result of setp: the complement of the comparison, combined with the same predicate."""
    for words, classes, _ in forms():
        if words[0] == "setp":
            combined = next((word for word in words[2:] if word in _COMBINE), "")
            compare = _compared([word for word in words if word != combined])
            text = f"{{.reg .pred %z; {'.'.join(words)} %z|D, {', '.join(NAMES[: len(classes) - 1])};}}"

            def second(a: int, b: int, c: int = 1, word: str = combined, compare: Function = compare) -> int:
                found = not compare(a, b)
                return int(bool(_COMBINE[word](found, bool(c)) if word else found))

            yield Item(text, "p", classes[1:], second)
