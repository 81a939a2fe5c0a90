"""Functions made of rewrite rules: an instruction that a rule fits, the makers of its sources, and readers of its result."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R
from oric.ir.read import read
from oric.ir.text import write
from oric_tables import op as op_numbers
from oric_tables import ops
from oric_tables.rewrites import REORDERED
from oric_tables.targets import TARGETS
from oricgen.isa.model import Operation
from oricgen.rewriting.model import Anything, Constant, Literal, Node, Rule, Rules, Source, Truth, Variable
from oricgen.rewriting.orders import Order, orders
from oricgen.rewriting.proof import Prover, Trial
from oricgen.rewriting.resolve import ADDRESSES, PAIR, Resolver, Slot, code_of

ARCHES = tuple(TARGETS)
# The memory operations that rules for addresses are tried with.
ACCESSES = {"ADDRESS32": ("LDS", "STS", "LDL"), "ADDRESS64": ("LDG", "STG")}
NARROW = "LDL"  # the load, which executions know, that makes numbers of few bits
_PREDICATES = ("pred", "upred")
_TEXT = "entry test {} final_flow\nbix0:\n    EXIT\n"


class Unfit(Exception):
    """A draw of which no function can be made: there is no form, or the target lacks the operation."""


@dataclass
class Built:
    """``root``: the instruction that the rule fits; ``order``: of its sources."""

    f: Function
    root: int
    order: int
    arch: str

    def text(self) -> str:
        """For messages."""
        return write(self.f)


@dataclass
class Builder:
    """Draws functions for one rule."""

    rule: Rule
    rules: Rules
    resolver: Resolver
    prover: Prover
    rng: random.Random
    f: Function = field(init=False)
    cursor: Cursor = field(init=False)
    trial: Trial = field(init=False)
    variables: dict[str, int] = field(init=False)
    inner: list[int] = field(init=False)

    def build(self, order: int) -> Built:
        """A function; ``order`` is the number of the order of the sources of the root, modulo their count.

        Raises:
            Unfit: this draw makes none.
        """
        self.trial = Trial(self.prover, self.rule, self.rng, 1)
        if not self.trial.choose():
            raise Unfit
        arch = self.rng.choice(ARCHES)
        self.f = read(_TEXT.format(arch), target=arch)
        self.cursor = Cursor(self.f)
        self.cursor.at_start(0)
        self.variables = {}
        self.inner = []
        node = self.rule.match
        root, result = self._access() if node.operation in ADDRESSES else self._instruction(node, order)
        if self.rule.within is not None and node.operation not in ADDRESSES:
            root, result = self._around(result)
        self._check(root, arch)
        self._observe(result)
        if not self.rule.alone and any(other.alone and other.match == self.rule.match for other in self.rules.rules):
            for made in self.inner:  # or the other rule takes it
                self._observe(made)
        return Built(self.f, root, order, arch)

    def _narrow(self, name: str) -> int:
        """A register of as few bits as the rule wants of a variable: what is loaded; 0 when it wants nothing."""
        limits = dict(self.rule.unsigned) | dict(self.rule.signed)
        if name not in limits:
            return 0
        bits, signed = limits[name], name in dict(self.rule.signed)
        fitting = [row for row in self.rules.narrow if (row.signed if signed else row.unsigned) <= bits]
        row = self.rng.choice([row for row in fitting if row.operation.name == NARROW])
        known = {"Rd": self._register(1), "Ra": self._register(self.resolver.width(row.operation, 1)), "off": self.f.imm(0)}
        self.cursor.make(row.operation.number, row.bits)
        for operand in row.operation.operands:
            self.cursor.put(known.get(operand.name, opd.NO_OPERAND))
        return known["Rd"]

    # -- operands ----------------------------------------------------------------------------------------

    def _register(self, words: int, predicate: bool = False) -> int:
        register = self.f.new_reg(P if predicate else R, max(words, 1))
        return opd.reg(register, 0, max(words, 1))

    def _constant(self, value: int) -> int:
        """A constant: in a register, now and then RZ itself."""
        value &= 0xFFFFFFFF
        if not value and self.rng.random() < 0.5:
            return opd.RZ_OPERAND
        register = self._register(1)
        self.cursor.make2(op_numbers.MOV, register, self.f.imm(value))
        return register

    def _whole(self, value: int) -> int:
        """A constant of 64 bits: in a pair of registers, now and then RZ itself."""
        if not value and self.rng.random() < 0.5:
            return opd.RZ_OPERAND
        pair = self._register(2)
        for word in range(2):
            self.cursor.make2(op_numbers.MOV, opd.word(pair, word), self.f.imm(value >> 32 * word & 0xFFFFFFFF))
        return pair

    def _pair(self, node: Node) -> int:
        """A pair of registers whose words are copies of, or are made by, the sources of a pattern."""
        low, high = self.resolver.slots(PAIR)
        lower = self._leaf(node.sources[0], low)
        upper = node.sources[1]
        pair = self._register(2)
        self.cursor.make2(op_numbers.MOV, opd.word(pair, 0), lower)
        if isinstance(upper, Node):
            self._instruction(upper, 0, opd.word(pair, 1))
        else:
            self.cursor.make2(op_numbers.MOV, opd.word(pair, 1), self._leaf(upper, high))
        return pair

    def _marks(self, slot: Slot) -> int:
        allowed = slot.operand.marks if slot.operand is not None else ""
        predicate = slot.words <= 0
        marks = opd.NEGATE if (predicate or "-" in allowed) and self.rng.random() < 0.4 else 0
        return marks | (opd.ABSOLUTE if "|" in allowed and self.rng.random() < 0.3 else 0)

    def _leaf(self, source: Source, slot: Slot) -> int:
        predicate = slot.operand is not None and slot.operand.kind in _PREDICATES
        match source:
            case Anything():
                return self._register(slot.words, predicate)
            case Variable(name, keeps, negated):
                if name not in self.variables:
                    narrow = self._narrow(name)
                    self.variables[name] = narrow or self._register(slot.words, predicate) | (self._marks(slot) if keeps else 0)
                return self.variables[name] ^ (opd.NEGATE if negated else 0)
            case Truth(value):
                return opd.PT_OPERAND if value else opd.NOT_PT_OPERAND
            case Literal(_, True):
                return opd.RZ_OPERAND | opd.NEGATE
            case Literal(value, _):
                return self._whole(value) if slot.words == 2 else self._constant(value)
            case Constant(text):
                value = self.trial.numbers[text]
                return self._whole(value) if slot.words == 2 else self._constant(value)
        raise AssertionError(source)

    # -- instructions ------------------------------------------------------------------------------------

    def orders(self, node: Node) -> list[Order]:
        """The orders of the sources of an operation of the rule."""
        return orders(self.rule.match, node, self.rules.commute, self.resolver)

    def _instruction(self, node: Node, which: int, result: int = 0) -> tuple[int, int]:
        """An instruction and its result; the makers of its sources in front of it."""
        operation = self.resolver.operations[node.operation]
        found = self.orders(node)
        order = found[which % len(found)]
        given: dict[int, int] = {}
        plain = self.resolver.slots(node.operation)
        for source, position, slot in zip(node.sources, order.positions, plain, strict=False):
            if isinstance(source, Node) and source.operation == PAIR:
                given[position] = self._pair(source)
            elif isinstance(source, Node):
                _, made = self._instruction(source, self.rng.randrange(6))
                self.inner.append(made)
                given[position] = made | (opd.NEGATE if source.negated else 0)
            else:
                given[position] = self._leaf(source, slot)
        return self._emit(operation, self._mods(node, order), given, result)

    def _mods(self, node: Node, order: Order) -> int:
        entry = self.rules.commute.get(node.operation)
        mods = 0
        for test in node.modifiers:
            modifier = self.resolver.modifier(node, test.name)
            assert modifier is not None
            code = code_of(modifier, test.value) if test.value else self.trial.numbers[test.bound or test.name]
            assert code is not None
            if entry is not None and entry.table is not None and entry.table.name == test.name:
                wanted = code
                code = next(table for table in range(256) if REORDERED[order.table * 256 + table] == wanted)
            mods |= code << modifier.shift
        return mods

    def _emit(self, operation: Operation, mods: int, given: dict[int, int], result: int = 0) -> tuple[int, int]:
        """Operands that are not given are left out, those at the end altogether; without a result a new register is made."""
        result = result or self._register(self.resolver.width(operation, 0), operation.operands[0].kind in _PREDICATES)
        i = self.cursor.make(operation.number, mods)
        for place in range(max(given) + 1):
            self.cursor.put(result if not place else given.get(place, opd.NO_OPERAND))
        return i, result

    def _around(self, inner: int) -> tuple[int, int]:
        """An instruction with the pattern as one of its sources."""
        operation = self.trial.root
        assert operation is not None
        places = [s for s in self.resolver.slots(operation.name) if s.operand is not None and s.operand.kind == "gpr"]
        chosen = self.rng.choice(places)
        given = {slot.position: self._register(slot.words) | self._marks(slot) for slot in places}
        given[chosen.position] = inner | self._marks(chosen)
        return self._emit(operation, self.trial.root_mods, given)

    def _access(self) -> tuple[int, int]:
        """A memory operation with the pattern as its address."""
        row = ops.op(self.resolver.operations[self.rng.choice(ACCESSES[self.rule.match.operation])].number)
        base, offset = self.rule.match.sources
        if isinstance(base, Node):
            _, address = self._instruction(base, self.rng.randrange(6))
        else:
            address = self._leaf(base, self.resolver.slots(self.rule.match.operation)[0])
        assert isinstance(offset, Constant)
        number = self.trial.numbers[offset.text]
        result = self._register(1)
        i = self.cursor.make(row.number, 0)
        for operand in row.operands:
            known = {"Ra": address, "off": self.f.imm(number - (number >> 31 << 32)), "Rd": result, "Rb": result}
            self.cursor.put(known.get(operand.name, opd.NO_OPERAND))
        return i, 0 if row.operands[0].name == "Ra" else result

    # -- the rest of the function ------------------------------------------------------------------------

    def _check(self, root: int, arch: str) -> None:
        """Raises Unfit when the target lacks an operation."""
        i = self.f.head[0]
        while i != self.f.next[root]:
            isas = ops.op(self.f.op[i]).isas
            if isas and TARGETS[arch].isa_name not in isas:  # macros have no form on any
                raise Unfit
            i = self.f.next[i]

    def _observe(self, result: int) -> None:
        """Stores of the result, whatever it is."""
        f, cursor = self.f, self.cursor
        if not result:
            return  # a store: it is seen itself
        address = self._register(2)
        if f.is_predicate(result):
            word = self._register(1)
            cursor.make(op_numbers.SEL)
            for operand in (word, self._register(1), self._register(1), result):
                cursor.put(operand)
            result = word
        for word_number in range(opd.count_of(result)):
            cursor.make(op_numbers.STG)
            word = opd.word(result, word_number) if opd.count_of(result) > 1 else result
            for operand in (address, f.imm(4 * word_number), word):
                cursor.put(operand)


__all__ = ["Builder", "Built", "Unfit"]
