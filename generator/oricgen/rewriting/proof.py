"""Randomised proofs of rewrite rules: both sides computed by the values of their operations (``oric_value``), on operands that
include the special ones of integers and floats. A rule is proved when no tuple of operands tells the sides apart.

What stays with the matcher is whether a form of the operation takes the operands; what is proved here is that it may."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from ..errors import SpecError, UsageError
from ..isa.model import Modifier, Operation
from .model import Anything, Commute, Constant, Literal, Node, Rule, Rules, Source, Truth, Variable
from .orders import PERMUTATIONS
from .resolve import ADDRESSES, PAIR, ROOT, Resolver, code_of, constant_words

Array = np.ndarray[Any, Any]
PLACES = 12  # operands of an instruction
NEG, ABS, INV, ABSENT = 1, 2, 4, 32
TUPLES = 512  # of operands, for each choice of modifiers, signs and constants
CHOICES = 24
BOUND_SHARE = 8  # so many tuples fewer where a constant is at a bound
_CONSTANTS = 8  # one in so many values of a variable is that of a constant
DRAWS, BOUND_DRAWS = 400, 40  # until the conditions hold
_SPECIAL = (
    0, 1, 2, 3, 4, 31, 32, 33, 255, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x3F800000, 0xBF800000,
    0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0x3FF00000, 0xBFF00000, 0x7FF00000, 0xFFF00000, 0x7FF80000, 0x000FFFFF, 0x00100000,
)  # fmt: skip
_WHOLE = (
    0, 1, -1, 2, 3, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, -0x80000000, -0x80000001, -0x100000000,
    0x7FFFFFFF00000000, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000, -0x7FFFFFFFFFFFFFFF, 0x123456789ABCDEF, 0x5555555555555555,
)  # fmt: skip
_NAMED = re.compile(r"(?<![\w#])(?:0x[0-9a-f]+|\d+)\b")
_EQUALITY = re.compile(r"(?P<name>\w+)(?: & (?P<mask>0x[0-9a-f]+))? == (?P<value>.*)")
_MARKS = ("", "-", "|", "-|", "~", "-~", "|~", "-|~")  # by NEG, ABS, INV
_MASK = {1: 0xFFFFFFFF, 2: 0xFFFFFFFFFFFFFFFF, 0: 1}


@dataclass
class Operand:
    """Values of a source and the marks on it."""

    values: Array  # one for each tuple, as unsigned numbers
    marks: int = 0
    is_absent: bool = False


class Refuted(SpecError):
    """A rule whose sides differ; the message has the operands."""


class Prover:
    """Proves rules by the values of operations in a built ``oric_tables``.

    Raises:
        UsageError: what is built numbers operations otherwise than the specification.
    """

    def __init__(self, resolver: Resolver, rules: Rules) -> None:
        from oric.ir import conditions
        from oric_tables import numbers, ops
        from oric_tables._native import ffi, lib

        marks = (numbers.F_NEG, numbers.F_ABS, numbers.F_INV, numbers.F_ABSENT)
        assert (numbers.INSN_OPERANDS, marks) == (PLACES, (NEG, ABS, INV, ABSENT))
        built = {row.number: row.name for row in ops.OPS if row is not None}
        if built != {o.number: o.name for o in resolver.operations.values()}:
            raise UsageError("build/ is that of another specification: oricgen build, then oricgen native")
        self.ffi, self.lib = ffi, lib
        self.resolver, self.rules = resolver, rules
        self.functions = {name: getattr(conditions, name) for name in rules.functions}

    def value(
        self, operation: Operation, mods: int, sources: Mapping[int, Operand], all_results: bool = False
    ) -> dict[int, Array] | None:
        """Results of an operation by their positions, or the first one; None where it has no value."""
        count = len(next(iter(sources.values())).values)
        rows = np.zeros((count, PLACES), np.uint64)
        marks = [0] * PLACES
        for place, operand in enumerate(operation.operands):
            given = sources.get(place)
            if given is not None:
                rows[:, place], marks[place] = given.values, given.marks
            if (place and not all_results) if operand.writes else (given is None or given.is_absent):
                marks[place] = ABSENT
        out = np.zeros((count, PLACES), np.uint64)
        done = self.lib.oric_value(
            operation.number, mods, self.ffi.new("int64_t[]", marks), count,
            self.ffi.cast("int64_t *", self.ffi.from_buffer(rows)), self.ffi.cast("int64_t *", self.ffi.from_buffer(out)),
        )  # fmt: skip
        places = [place for place, operand in enumerate(operation.operands) if operand.writes and (all_results or not place)]
        return {place: out[:, place] for place in places} if done else None

    def prove(self, rule: Rule, choices: int = CHOICES, tuples: int = TUPLES) -> int:
        """Try a rule; returns the number of tuples of operands on which the sides were compared.

        Raises:
            Refuted: they differ.
            SpecError: an operation has no value, or nothing was found that the rule fits.
        """
        compared = 0
        rng = random.Random(f"{rule.text()}")
        fitted = False
        for forced in self._at_bounds(rule):
            trial = Trial(self, rule, rng, tuples // BOUND_SHARE, forced=forced)
            if trial.choose(BOUND_DRAWS):
                fitted = True
                compared += trial.compare()
        for tried in range(choices * 20):
            trial = Trial(self, rule, rng, tuples)
            if trial.choose():
                fitted = True
                compared += trial.compare()
            if compared >= choices * tuples:
                return compared
            if tried >= choices // 3 and not fitted:
                break  # its conditions hold for nothing
        if compared:
            return compared
        raise SpecError(rule.path, rule.line, f"cannot be proved: it fits nothing, or there is no value: {rule.text()}")

    def _at_bounds(self, rule: Rule) -> list[tuple[str, int]]:
        """Each constant of a rule at each bound of its conditions, which chance seldom meets."""
        bounds = _bounds(" ".join(rule.conditions))
        return [(name, value) for name in constant_words(rule.match, self.resolver) for value in bounds]

    def prove_commute(self, name: str, entry: Commute, choices: int = CHOICES, tuples: int = TUPLES) -> int:
        """The same of sources that may change places."""
        operation = self.resolver.operations[name]
        rng = random.Random(name)
        compared = 0
        for tried in range(choices * 20):
            mods = _random_mods(rng, operation)
            for modifier, _ in entry.swap:  # each value of it in turn
                codes = _codes(modifier)
                mods = mods & ~((1 << modifier.width) - 1 << modifier.shift) | codes[tried % len(codes)] << modifier.shift
            sources = {}
            for slot in self.resolver.slots(name):
                if slot.position in entry.positions or rng.random() < 0.5:
                    marks = slot.operand.marks if slot.operand else ""
                    sources[slot.position] = _random_operand(rng, slot.words, marks, tuples)
            order = rng.choice(PERMUTATIONS[1:]) if len(entry.positions) == len(PERMUTATIONS[0]) else (1, 0)
            if entry.negated is not None:
                sources.setdefault(entry.negated, _random_operand(rng, 0, "", tuples))
            moved = sources | {entry.positions[j]: sources[entry.positions[place]] for j, place in enumerate(order)}
            if entry.negated is not None:
                moved[entry.negated] = replace(moved[entry.negated], marks=moved[entry.negated].marks ^ NEG)
            before = self.value(operation, mods, sources, entry.all_results)
            after = self.value(operation, _moved_mods(mods, entry, order), moved, entry.all_results)
            if before is None or after is None:
                continue
            if any(not _same(before[at], after[at], entry.any_nan) for at in before):
                message = f"{name}: the results differ when sources change places, modifiers {mods:#x}, order {order}"
                raise Refuted(entry.path, entry.line, message)
            compared += tuples
            if compared >= choices * tuples:
                break
        if not compared:
            raise SpecError(entry.path, entry.line, f"{name}: cannot be proved: it has no value")
        return compared


def _same(one: Array, other: Array, any_nan: bool) -> bool:
    """Whether values are the same, those of doubles up to which NaN they are."""
    equal = one == other
    if any_nan:
        equal |= _is_nan(one) & _is_nan(other)
    return bool(equal.all())


def _is_nan(values: Array) -> Any:
    return np.isnan(values.copy().view(np.float64))


def _moved_mods(mods: int, entry: Commute, order: tuple[int, ...]) -> int:
    """The modifiers when the source at place ``j`` is the one that was at ``order[j]``."""
    for modifier, names in entry.swap:
        old = mods >> modifier.shift & (1 << modifier.width) - 1
        mods ^= (old ^ names.get(old, old)) << modifier.shift
    if entry.table is not None:
        old = mods >> entry.table.shift & 0xFF
        new = 0
        for row in range(8):
            there = sum((row >> 2 - j & 1) << 2 - place for j, place in enumerate(order))
            new |= (old >> there & 1) << row
        mods = mods & ~(0xFF << entry.table.shift) | new << entry.table.shift
    return mods


@cache
def _bounds(text: str) -> list[int]:
    """The numbers that a rule names and those next to them, and counts of shifts."""
    named = {int(found[0], 0) for found in _NAMED.finditer(text)}
    return sorted({number + step for number in named | {0, 32} for step in (-1, 0, 1)})


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "a rule", "eval")


def _codes(modifier: Modifier) -> list[int]:
    return sorted(set(modifier.codes.values())) or list(range(1 << modifier.width))


def _random_mods(rng: random.Random, operation: Operation) -> int:
    return sum(rng.choice(_codes(m)) << m.shift for m in operation.mods if rng.random() < 0.7 or len(_codes(m)) > 16)


def _random_values(rng: random.Random, words: int, count: int) -> Array:
    if words <= 0:
        return np.array([rng.randrange(2) for _ in range(count)], np.uint64)
    out = []
    for _ in range(count):
        value = 0
        for word in range(words):
            part = rng.choice(_SPECIAL) if rng.random() < 0.6 else rng.getrandbits(32) >> rng.choice((0, 0, 16, 24))
            if word + 1 < words and rng.random() < 0.4:
                part = 0  # below the special numbers of a double: zeros, infinities, powers of two
            value |= part << 32 * word
        out.append(value)
    return np.array(out, np.uint64)


def _random_marks(rng: random.Random, allowed: str, is_predicate: bool) -> int:
    marks = 0
    if (is_predicate or "-" in allowed) and rng.random() < 0.4:
        marks |= NEG
    if "|" in allowed and rng.random() < 0.3:
        marks |= ABS
    if "~" in allowed and rng.random() < 0.2:
        marks |= INV
    return marks


def _random_operand(rng: random.Random, words: int, allowed: str, count: int) -> Operand:
    return Operand(_random_values(rng, words, count), _random_marks(rng, allowed, words <= 0))


@dataclass
class Trial:
    """One choice of modifiers, signs and constants, and many tuples of operands."""

    prover: Prover
    rule: Rule
    rng: random.Random
    count: int
    numbers: dict[str, int] = field(default_factory=dict)  # constants and modifiers by name
    operands: dict[str, Operand] = field(default_factory=dict)  # variables
    root: Operation | None = None
    root_mods: int = 0
    forced: tuple[str, int] = ("", 0)  # a constant, and its value

    def choose(self, draws: int = DRAWS) -> bool:
        """Draw modifiers and constants until the conditions hold."""
        rule, rng = self.rule, self.rng
        for _ in range(draws):
            constants = constant_words(rule.match, self.prover.resolver)
            self.numbers = {}
            for name, size in constants.items():
                self.numbers[name] = self._constant(name, size)
            for node, test in ((n, t) for n in rule.match.nodes() for t in n.modifiers if not t.value):
                modifier = self.prover.resolver.modifier(node, test.name)
                assert modifier is not None
                self.numbers.setdefault(test.bound or test.name, rng.choice(_codes(modifier)))
            self._choose_root()
            self._settle(set(constants))
            if all(map(self._evaluated, rule.conditions)):
                return True
        return False

    def _settle(self, constants: set[str]) -> None:
        """Let constants that conditions say to be equal to something be that, or their bits under a mask."""
        for text in self.rule.conditions:
            found = _EQUALITY.fullmatch(text)
            if found and found["name"] in constants:
                mask = int(found["mask"], 0) if found["mask"] else -1
                number = self.numbers[found["name"]] & ~mask | self._evaluated(found["value"]) & mask
                self.numbers[found["name"]] = number

    def _evaluated(self, text: str) -> int:
        """An expression of a rule."""
        return int(eval(_compiled(text), {"__builtins__": {}, **self.prover.functions}, self.numbers))

    def _constant(self, name: str, size: int) -> int:
        """A constant of so many words: at the bounds that the rule names, equal to another one, or any."""
        rng = self.rng
        kind = rng.randrange(8)
        if self.forced[0] == name:
            value = self.forced[1]
        elif kind < 2:
            value = rng.choice(_bounds(self.rule.text()))
        elif kind == 2 and self.numbers:
            value = rng.choice(list(self.numbers.values()))
        else:
            return self._number() if size == 1 else self._whole()
        return value & _MASK[1] if size == 1 else (value & _MASK[2]) - ((value & _MASK[2]) >> 63 << 64)

    def _number(self) -> int:
        return self.rng.choice(_SPECIAL) if self.rng.random() < 0.5 else self.rng.getrandbits(32) >> self.rng.choice((0, 12, 24))

    def _whole(self) -> int:
        """A constant of 64 bits, which is signed."""
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            return rng.choice(_WHOLE)
        if kind == 1:
            return (1 << rng.randrange(63)) * rng.choice((1, 1, -1))
        number = rng.getrandbits((12, 33, 64)[kind - 2])
        return number - (number >> 63 << 64) if kind == 4 else number * rng.choice((1, -1))

    def _choose_root(self) -> None:
        within = self.rule.within
        if within is None or within.addresses:
            return
        self.root = self.rng.choice(within.operations)
        self.root_mods = _random_mods(self.rng, self.root)
        for modifier in self.root.mods:
            self.numbers[ROOT + modifier.name] = self.root_mods >> modifier.shift & (1 << modifier.width) - 1
        for operation in within.operations:
            for modifier in operation.mods:
                self.numbers.setdefault(ROOT + modifier.name, 0)

    # -- values ------------------------------------------------------------------------------------------

    def compare(self) -> int:
        """Number of tuples compared.

        Raises:
            Refuted: the sides differ.
        """
        before = self._node(self.rule.match)
        if before is None:
            return 0
        if isinstance(self.rule.make, Node):
            after = self._node(self.rule.make, True)
        else:
            after = self._leaf(self.rule.make, self._width(), "-|~")
        if after is None:
            return 0
        if self.root is not None:
            return self._compare_inside(before, after)
        applied = self._applied(after)
        return self._equal({0: before.values}, {0: applied})

    def _width(self) -> int:
        operation = self.prover.resolver.operations.get(self.rule.match.operation)
        return 1 if operation is None else self.prover.resolver.width(operation, 0)

    def _applied(self, operand: Operand) -> Array:
        """The value of a leaf as a copy of it has it: a predicate is the other one, a number (a constant) has the other sign."""
        if not operand.marks & NEG:
            return operand.values
        width = self._width()
        return operand.values ^ np.uint64(1) if width == 0 else -operand.values & np.uint64(_MASK[width])

    def _compare_inside(self, before: Operand, after: Operand) -> int:
        """Both operands as each source of the operation around in turn."""
        assert self.root is not None
        slots = [s for s in self.prover.resolver.slots(self.root.name) if s.operand is not None and s.operand.kind == "gpr"]
        compared = 0
        for slot in slots:
            assert slot.operand is not None
            sources = {s.position: _random_operand(self.rng, s.words, s.operand.marks if s.operand else "", self.count) for s in
                       self.prover.resolver.slots(self.root.name)}  # fmt: skip
            outer = _random_marks(self.rng, slot.operand.marks, False)
            marks = after.marks & ~NEG | ABS if outer & ABS else after.marks
            one = self.prover.value(self.root, self.root_mods, {**sources, slot.position: replace(before, marks=outer)})
            new = replace(after, marks=marks ^ (outer & NEG))
            other = self.prover.value(self.root, self.root_mods, {**sources, slot.position: new})
            if one is not None and other is not None:
                compared += self._equal(one, other)
        return compared

    def _equal(self, one: Mapping[int, Array], other: Mapping[int, Array]) -> int:
        for at in one:
            wrong = np.nonzero(one[at] != other[at])[0]
            if len(wrong):
                row = wrong[0]
                shown = [f"{name} = {_MARKS[o.marks & 7]}{int(o.values[row]):#x}" for name, o in self.operands.items()]
                shown += [f"{name} = {value:#x}" for name, value in self.numbers.items() if not name.startswith(ROOT)]
                sides = f"{int(one[at][row]):#x} and {int(other[at][row]):#x}"
                message = f"{self.rule.text()}: the sides differ: {sides} where {', '.join(shown) or 'anything holds'}"
                raise Refuted(self.rule.path, self.rule.line, message)
        return self.count

    def _node(self, node: Node, made: bool = False) -> Operand | None:
        resolver = self.prover.resolver
        sources: dict[int, Operand] = {}
        for source, slot in zip(node.sources, resolver.slots(node.operation), strict=False):
            allowed = slot.operand.marks if slot.operand is not None else ""
            if isinstance(source, Node):
                inner = self._node(source, made)
                if inner is None:
                    return None
                sources[slot.position] = replace(inner, marks=NEG if source.negated else 0)
            else:
                sources[slot.position] = self._leaf(source, slot.words, allowed, made)
        if node.operation in ADDRESSES:
            return Operand(self._address(sources, ADDRESSES[node.operation]))
        if node.operation == PAIR:
            return Operand(sources[0].values | sources[1].values << np.uint64(32))
        found = self.prover.value(resolver.operations[node.operation], self._mods(node), sources)
        return Operand(found[0]) if found is not None else None

    def _address(self, sources: Mapping[int, Operand], words: int) -> Array:
        offset = sources[1].values
        signed = np.where(offset >> np.uint64(31) & np.uint64(1), offset | np.uint64(0xFFFFFFFF00000000), offset)
        return (sources[0].values + signed) & np.uint64(_MASK[words])

    def _leaf(self, source: Source, words: int, allowed: str, made: bool = False) -> Operand:
        match source:
            case Anything():
                return _random_operand(self.rng, words, allowed, self.count)
            case Truth(value):
                return Operand(np.full(self.count, 1, np.uint64), 0 if value else NEG)
            case Literal(value, exact):
                return Operand(np.full(self.count, value & _MASK[max(words, 1)], np.uint64), NEG if exact else 0)
            case Constant(text):
                value = self.numbers[text] if not made and text in self.numbers else self._evaluated(text)
                return Operand(np.full(self.count, value & _MASK[max(words, 1)], np.uint64))
            case Variable(name, keeps, negated):
                if name not in self.operands:
                    marks = _random_marks(self.rng, allowed, words <= 0) if keeps else 0
                    self.operands[name] = Operand(self._narrow(name, self._values(words)), marks)
                known = self.operands[name]
                return replace(known, marks=known.marks ^ NEG) if negated else known
        raise AssertionError(source)

    def _values(self, words: int) -> Array:
        """Values of a variable: now and then those of the constants, which comparisons tell from all others."""
        values = _random_values(self.rng, words, self.count)
        if words > 0 and (known := [n & _MASK[words] for name, n in self.numbers.items() if not name.startswith(ROOT)]):
            values[::_CONSTANTS] = [self.rng.choice(known) for _ in values[::_CONSTANTS]]
        return values

    def _narrow(self, name: str, values: Array) -> Array:
        """Values of a variable, of as many bits as the rule says."""
        for limited, bits in self.rule.unsigned:
            if limited == name:
                values = values & np.uint64((1 << bits) - 1)
        for limited, bits in self.rule.signed:
            if limited == name:
                low = values & np.uint64((1 << bits) - 1)
                above = np.uint64(_MASK[1] & ~((1 << bits) - 1))
                values = np.where(low >> np.uint64(bits - 1) & np.uint64(1), low | above, low)
        return values

    def _mods(self, node: Node) -> int:
        mods = 0
        for test in node.modifiers:
            modifier = self.prover.resolver.modifier(node, test.name)
            assert modifier is not None
            if test.value:
                code = code_of(modifier, test.value)
                assert code is not None
            elif test.text:
                code = self._evaluated(test.text)
            else:
                code = self.numbers[test.bound or test.name]
            mods |= (code & (1 << modifier.width) - 1) << modifier.shift
        return mods


__all__ = ["Operand", "Prover", "Refuted", "Trial"]
