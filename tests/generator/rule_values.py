"""Another opinion on rewrite rules than that of ``oricgen prove``: both sides computed in Python, from what a manual says.

Nothing of ``spec/values`` and of the proof is used.  Constants are drawn from the numbers that the rule itself names, and those
next to them, so that the bounds of its conditions are met more often than by chance.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from oric.ir import conditions
from oricgen.isa.model import Operation
from oricgen.rewriting.model import Anything, Constant, Literal, Node, Rule, Source, Truth, Variable
from oricgen.rewriting.resolve import ADDRESSES, PAIR, Resolver, Slot, constant_words

M32: Final = 0xFFFFFFFF
M64: Final = 0xFFFFFFFFFFFFFFFF
_SPECIAL: Final = (0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, M32, 0xFF, 0x80, 0xFFFF, 0x8000)
Mods = Mapping[str, str | int]
Values = Sequence[int]


class Unknown(Exception):
    """An operation or variant that is not known here."""


def signed(value: int, bits: int) -> int:
    """A number of so many bits with its sign."""
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


# -- operations ------------------------------------------------------------------------------------------------------


def _lop(tables: str) -> Callable[[Mods, Values], int]:
    def run(mods: Mods, s: Values) -> int:
        table = int(mods[tables])
        a, b, c = s[:3]
        out = 0
        for row in range(8):
            if table >> row & 1:
                out |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return out

    return run


def _shift(mods: Mods, s: Values) -> int:
    """A word of the number ``c:a``, shifted by ``n``, as the manual has it of ``shf``."""
    low, n, high = s
    kind = str(mods["type"])
    size = int(kind[1:])
    n = n & size - 1 if mods["wrap"] == "W" else min(n, size)
    number = high << 32 | low
    if mods["dir"] == "L":
        number <<= n
    else:
        number = (signed(number, 64) if kind[0] == "S" else number) >> n
    return number >> (32 if mods["hi"] == "true" else 0)


def _lea(mods: Mods, s: Values) -> int:
    return (s[0] << int(mods["shift"])) + s[1]


def _lea_hi(mods: Mods, s: Values) -> int:
    """The upper word of a shifted number of 64 bits, whose upper word is a sign where ``sx32`` says so."""
    high = s[2] if mods.get("sx32", "false") == "false" else signed(s[0], 32) >> 32
    return ((high << 32 | s[0] & M32) << int(mods["shift"]) >> 32) + s[1] + (s[3] if len(s) > 3 else 0)


def _compare(bits: int) -> Callable[[Mods, Values], int]:
    def run(mods: Mods, s: Values) -> int:
        a, b = ((signed(v, bits) if mods["sign"] == "S32" else v) for v in s[:2])
        order = {"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b, "F": False, "T": True}
        if mods["cmp"] not in order:
            raise Unknown(mods["cmp"])
        return int(order[str(mods["cmp"])])

    return run


def _wide(mods: Mods, s: Values) -> int:
    a, b = ((signed(v, 32) if mods["sign"] == "S32" else v) for v in s[:2])
    return a * b + s[2]


def _permute(mods: Mods, s: Values) -> int:
    if mods.get("mode", "IDX") != "IDX":
        raise Unknown("PRMT")
    bytes_ = [(s[2] << 32 | s[0]) >> 8 * at & 0xFF for at in range(8)]
    out = 0
    for at in range(4):
        which = s[1] >> 4 * at & 15
        byte = bytes_[which & 7]
        out |= (byte if which < 8 else 0xFF * (byte >> 7)) << 8 * at
    return out


def _far(mods: Mods, s: Values) -> int:
    """The upper 64 bits of 128 that are shifted by 32 and more."""
    return (s[0] << 64 | s[1]) << (s[2] & 31) + 32 >> 64


def _capped(value: int, count: int, bits: int) -> int:
    """A shift to the right by no more than there are bits."""
    return value >> min(count, bits)


def _quotient(s: Values, bits: int) -> int:
    """Of numbers with a sign, rounded towards zero."""
    a, b = signed(s[0], bits), signed(s[1], bits)
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


# By the name of the operation: the first result, of sources with their signs applied; it is cut to its width.
OPERATIONS: Final[dict[str, Callable[[Mods, Values], int]]] = {
    "IADD3": lambda m, s: sum(s),
    "IADD3.X": lambda m, s: sum(s),
    "VIADD": lambda m, s: sum(s),
    "IMAD": lambda m, s: s[0] * s[1] + s[2],
    "IMAD.WIDE": _wide,
    "IMAD.HI": lambda m, s: _wide(m, s) >> 32,
    "LOP3": _lop("lut"),
    "PLOP3": _lop("lut"),
    "SHF": _shift,
    "LEA": _lea,
    "LEA.HI": _lea_hi,
    "LEA.HI.X": _lea_hi,
    "SEL": lambda m, s: s[0] if s[2] & 1 else s[1],
    "FSEL": lambda m, s: s[0] if s[2] & 1 else s[1],
    "ISETP": _compare(32),
    "ISETP64": _compare(64),
    "PRMT": _permute,
    "ADD64": lambda m, s: s[0] + s[1],
    "SUB64": lambda m, s: s[0] - s[1],
    "MUL64": lambda m, s: s[0] * s[1],
    "MULHI64": lambda m, s: s[0] * s[1] >> 64,
    "SHL64": lambda m, s: s[0] << min(s[1], 64),
    "SHR64": lambda m, s: _capped(s[0], s[1], 64),
    "SAR64": lambda m, s: _capped(signed(s[0], 64), s[1], 64),
    "LEA64": lambda m, s: (s[0] << (s[2] & 31)) + s[1],
    "FSHL64": lambda m, s: (s[0] << 64 | s[1]) << (s[2] & 31) >> 64,
    "FSHL64.FAR": _far,
    "UDIV": lambda m, s: s[0] // s[1],
    "UREM": lambda m, s: s[0] % s[1],
    "UDIV64": lambda m, s: s[0] // s[1],
    "UREM64": lambda m, s: s[0] % s[1],
    "SDIV": lambda m, s: _quotient(s, 32),
    "SREM": lambda m, s: signed(s[0], 32) - _quotient(s, 32) * signed(s[1], 32),
    "SDIV64": lambda m, s: _quotient(s, 64),
    "SREM64": lambda m, s: signed(s[0], 64) - _quotient(s, 64) * signed(s[1], 64),
}


class Opinion:
    """Values of one rule for one draw of operands after another."""

    def __init__(self, rule: Rule, resolver: Resolver) -> None:
        self.rule, self.resolver = rule, resolver
        self.rng = random.Random(f"opinion {rule.text()}")
        text = rule.text()
        near = {int(found, 0) + step for found in re.findall(r"(?<![\w#])(0x[0-9a-f]+|\d+)\b", text) for step in (-1, 0, 1)}
        self.near = sorted(near | {0, 1, 2, 31, 32, 33, 63, 64})
        self.widths = {name: 2 if size == 2 else 1 for name, size in constant_words(rule.match, resolver).items()}
        self.numbers: dict[str, int] = {}
        self.variables: dict[str, tuple[int, bool]] = {}

    def differs(self, draws: int, tries: int) -> str | None:
        """Operands on which the sides differ; "" when there are none among so many draws, None when nothing fits.

        Raises:
            Unknown: an operation is not known here.
        """
        if self.rule.within is not None and not self.rule.within.addresses:
            raise Unknown("within")
        seen = 0
        for _ in range(tries):
            if not self._draw():
                continue
            seen += 1
            self.variables = {}
            one = self._node(self.rule.match)
            make, width = self.rule.make, self._width(self.rule.match)
            other = self._node(make) if isinstance(make, Node) else self._leaf(make, Slot(0, width, None), "")
            if (one ^ other) & _mask(width):
                return f"{one & _mask(width):#x} and {other & _mask(width):#x} where {self.numbers} {self.variables}"
            if seen == draws:
                break
        return "" if seen else None

    def _draw(self) -> bool:
        rng = self.rng
        self.numbers = {name: self._constant(size) for name, size in self.widths.items()}
        for node in self.rule.match.nodes():
            for test in node.modifiers:
                if not test.value and not test.text:
                    modifier = self.resolver.modifier(node, test.name)
                    assert modifier is not None
                    codes = sorted(modifier.codes.values()) or list(range(1 << modifier.width))
                    self.numbers[test.bound or test.name] = rng.choice(codes)
        for text in self.rule.conditions:  # what they say to be equal to something is that
            if found := re.fullmatch(r"(\w+)((?: & 0x[0-9a-f]+)?) == (.*)", text):
                name, mask, value = found.groups()
                if name in self.numbers:
                    bits = int(mask[3:], 0) if mask else -1
                    kept = self.numbers[name] & ~bits if mask else 0
                    self.numbers[name] = kept | self._evaluated(value) & bits
        return all(map(self._evaluated, self.rule.conditions))

    def _constant(self, size: int) -> int:
        rng = self.rng
        kind = rng.randrange(6)
        if kind < 3:
            value = rng.choice(self.near)
        elif kind == 3:
            value = 1 << rng.randrange(32 * size - (size == 2))
        else:
            value = rng.getrandbits(rng.choice((3, 8, 32, 32 * size)))
        return signed(value, 64) if size == 2 else value & M32

    def _evaluated(self, text: str) -> int:
        try:
            return int(eval(text, {"__builtins__": {}, "logic": conditions.logic, **_FUNCTIONS}, self.numbers))
        except ValueError:
            return 0  # a shift by a negative number: of such a constant nothing is made

    def _width(self, node: Node) -> int:
        if node.operation in ADDRESSES:
            return ADDRESSES[node.operation]
        return self.resolver.width(self.resolver.operations[node.operation], 0)

    # -- values ------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> int:
        slots = self.resolver.slots(node.operation)
        values = []
        for at, slot in enumerate(slots):
            if at >= len(node.sources):
                values.append(self._absent(slot))
                continue
            source = node.sources[at]
            if isinstance(source, Node):
                value = self._node(source)
                values.append(-value & _mask(slot.words) if source.negated else value)
            else:
                values.append(self._leaf(source, slot, slot.operand.marks if slot.operand else ""))
        if node.operation == PAIR:
            return values[1] << 32 | values[0]
        if node.operation in ADDRESSES:
            return values[0] + signed(values[1], 32) & _mask(ADDRESSES[node.operation])
        operation = self.resolver.operations[node.operation]
        if node.operation not in OPERATIONS:
            raise Unknown(node.operation)
        return OPERATIONS[node.operation](self._mods(node, operation), values) & _mask(self._width(node))

    @staticmethod
    def _absent(slot: Slot) -> int:
        default = slot.operand.default if slot.operand is not None else None
        return int(default is not None and default.kind == "pred" and not default.negated)

    def _leaf(self, source: Source, slot: Slot, marks: str) -> int:
        rng, mask = self.rng, _mask(slot.words)
        match source:
            case Anything():
                if slot.operand is not None and slot.operand.default is not None and self._is_made(source):
                    return self._absent(slot)
                return self._random(slot.words)
            case Truth(value):
                return int(value)
            case Literal(value, _):
                return value & (mask if slot.words > 0 else M32)
            case Constant(text):
                return self._evaluated(text) & (mask if slot.words > 0 else M64)
            case Variable(name, keeps, negated):
                if name not in self.variables:
                    sign = keeps and (slot.words <= 0 or "-" in marks) and rng.random() < 0.4
                    self.variables[name] = self._narrow(name, self._random(slot.words)), sign
                value, sign = self.variables[name]
                if sign == negated:
                    return value
                return value ^ 1 if slot.words <= 0 else -value & mask
        raise AssertionError(source)

    def _is_made(self, source: Source) -> bool:
        return isinstance(self.rule.make, Node) and any(source is made for made in self.rule.make.sources)

    def _random(self, words: int) -> int:
        rng = self.rng
        if words <= 0:
            return rng.randrange(2)
        parts = [rng.choice(_SPECIAL) if rng.random() < 0.4 else rng.getrandbits(rng.choice((4, 17, 32))) for _ in range(words)]
        return sum(part << 32 * at for at, part in enumerate(parts))

    def _narrow(self, name: str, value: int) -> int:
        for limited, bits in self.rule.unsigned:
            if limited == name:
                value &= (1 << bits) - 1
        for limited, bits in self.rule.signed:
            if limited == name:
                value = signed(value, bits) & M32
        return value

    def _mods(self, node: Node, operation: Operation) -> dict[str, str | int]:
        """Values of the modifiers by name; of one that is a number the number."""
        said = {test.name: test for test in node.modifiers}
        out: dict[str, str | int] = {}
        for modifier in operation.mods:
            test = said.get(modifier.name)
            names = {code: name for name, code in modifier.codes.items()}
            if test is None:
                code = 0
            elif test.value:
                code = modifier.codes[test.value] if modifier.codes else int(test.value, 0)
            else:
                code = self._evaluated(test.text) if test.text else self.numbers[test.bound or test.name]
            code &= (1 << modifier.width) - 1
            out[modifier.name] = names.get(code, code)
        return out


def _mask(words: int) -> int:
    return {1: M32, 2: M64}.get(words, 1)


_FUNCTIONS: Final = {
    "exponent": lambda k: next((at for at in range(64) if k >> at & 1), 64),
    "reachable": conditions.reachable,
    "reachable64": conditions.reachable64,
}
