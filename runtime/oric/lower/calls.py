"""Calls: functions of the module are recorded when they are parsed and built again at each call (inlining)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oric.ir import operand as opd
from oric.ir.code import CodeObject
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .memory import Place

if TYPE_CHECKING:
    from .builder import OriBuilder


class Recording:
    """The body of a function: the builder's calls in order, with labels and variables numbered from 0."""

    def __init__(self, builder: OriBuilder, symbol: int, function: Any) -> None:
        self.builder = builder
        self.symbol = symbol
        self.function = function
        self.events: list[tuple[Any, ...]] = []
        self.labels = 0
        self.tables: list[tuple[int, ...]] = []
        self.variables: list[tuple[int, Any]] = []  # (symbol handle, variable) declared inside
        self.formals: list[int] = []
        self.register_first = len(builder.registers_)
        for variable in (*function.returns, *function.params):
            if variable.space == "reg":
                self.formals.append(builder.registers(variable.type, 1, variable.name))
            else:
                self.formals.append(len(builder.symbols))
                builder.symbols.append(None)
        self.register_last = len(builder.registers_)

    def formal_handles(self) -> list[int]:
        """Handles of results and parameters."""
        return self.formals

    def add(self, *event: Any) -> None:
        """Record a call of the builder."""
        self.events.append(event)

    def new_label(self) -> int:
        """A label of the body."""
        self.labels += 1
        return self.labels - 1

    def variable(self, variable: Any) -> int:
        """A variable declared in the body."""
        handle = len(self.builder.symbols)
        self.builder.symbols.append(None)
        if variable.space == "param":
            self.variables.append((handle, variable))
        else:
            self.builder.symbols[handle] = self.builder.declare(variable)
        return handle


class Pending:
    """A call of a function that was not defined yet: where it goes, from where and with what."""

    __slots__ = ("actuals", "chain", "entry", "loc", "resume", "symbol")

    def __init__(self, symbol: int, actuals: list[Any], entry: int, resume: int, chain: list[int], loc: int) -> None:
        self.symbol = symbol
        self.actuals = actuals
        self.entry = entry  # label of the copy
        self.resume = resume  # label behind the call
        self.chain = chain  # functions that are being inlined around it
        self.loc = loc


class Inliner:
    """Builds recorded bodies at their calls; copies of functions defined later are put at the end of the caller.

    Each inlined copy has its own virtual registers, labels and parameter variables.
    """

    def __init__(self, builder: OriBuilder) -> None:
        self.builder = builder
        self.bodies: dict[int, Recording] = {}
        self.functions: dict[int, Any] = {}
        self.active: list[int] = []
        self.pending: list[Pending] = []
        self.waiting: list[tuple[dict[str, Any], list[Pending]]] = []  # entries with pending calls

    def declare(self, handle: int, function: Any) -> Place:
        """The place of a function."""
        self.functions[handle] = function
        return Place(function.name, "function", 0, 1)

    def finish_function(self, code: CodeObject) -> None:
        """The end of an entry: close its books, now or when all functions are known."""
        if self.pending:
            self.waiting.append((self.builder.body_state(), self.pending))
            self.pending = []
            return
        self.builder.finish_memory(code)
        self.builder.finish_flow()

    def finish_module(self) -> None:
        """Build the copies that waited.

        Raises:
            NotSupported: a function that is called has no body.
        """
        builder = self.builder
        for state, pending in self.waiting:
            builder.set_body_state(state)
            self.pending = pending
            while self.pending:
                item = self.pending.pop()
                if item.symbol not in self.bodies:
                    raise NotSupported(f"call of external function {builder.symbols[item.symbol].name}", item.loc)
                builder.place(item.entry)
                self.active = list(item.chain)
                self._inline(item.symbol, item.actuals)
                builder.branch(item.resume)
                self.active = []
            builder.finish_memory(builder.code)
            builder.finish_flow()
        self.waiting = []

    def call(self, callee: Any, results: Sequence[Any], arguments: Sequence[Any], guard: int) -> None:
        """Build the body of a function here.

        Raises:
            NotSupported: indirect or recursive calls.
        """
        builder = self.builder
        if callee[0] != nodes.SYM or builder.symbols[callee[1]].space != "function":
            raise NotSupported("indirect call")
        symbol = callee[1]
        actuals = [self._actual(node) for node in (*results, *arguments)]
        around = -1
        if guard:
            around = builder.new_label()
            builder.branch(around, guard ^ opd.NEGATE)
        if symbol in self.bodies:
            self._inline(symbol, actuals)
        else:
            entry, resume = builder.new_label(), builder.new_label()
            self.pending.append(Pending(symbol, actuals, entry, resume, list(self.active), builder.loc))
            builder.branch(entry)
            builder.place(resume)
        if around >= 0:
            builder.place(around)

    def _actual(self, node: Any) -> Any:
        """A result or argument: the place of a parameter variable, a packed operand, or the node of a constant."""
        builder = self.builder
        if node[0] == nodes.SYM and builder.symbols[node[1]].space == "param":
            return builder.symbols[node[1]]
        if node[0] == nodes.SINK:
            return None
        return builder.value(node)

    def _inline(self, symbol: int, actuals: Sequence[Any]) -> None:
        if symbol in self.active:
            raise NotSupported(f"recursive call of '{self.builder.symbols[symbol].name}'")
        self.active.append(symbol)
        try:
            self._build(self.bodies[symbol], actuals)
        finally:
            self.active.pop()

    def _build(self, body: Recording, actuals: Sequence[Any]) -> None:
        builder = self.builder
        count = len(body.function.returns)
        variables = (*body.function.returns, *body.function.params)
        self._forget_registers(body)
        for index, (formal, actual) in enumerate(zip(body.formals, actuals, strict=True)):
            variable = variables[index]
            if actual.__class__ is tuple:
                actual = self._constant(variable, actual)
            if variable.space != "reg":
                builder.symbols[formal] = self._parameter(variable, actual)
            elif index >= count:
                builder.move(builder.register(formal), actual)
        for handle, variable in body.variables:
            builder.symbols[handle] = Place(variable.name, "param", variable.size, variable.align)
        base = len(builder.labels)
        builder.labels.extend([-1] * body.labels)
        tables = builder.tables
        builder.tables = [tuple(base + label for label in table) for table in body.tables]
        back, builder.return_label = builder.return_label, builder.new_label()
        for event in body.events:
            if event[0] == "place_label":
                builder.place(base + event[1])
                continue
            try:
                builder.instruction(event[1], event[2], [_shift(o, base) for o in event[3]], event[4])
            except NotSupported as error:
                raise NotSupported(error.what, error.at(event[4])) from None
        builder.place(builder.return_label)
        builder.return_label = back
        builder.tables = tables
        for index in range(count):
            if variables[index].space == "reg" and actuals[index] is not None:
                builder.move(actuals[index], builder.register(body.formals[index]))

    def _constant(self, variable: Any, node: Any) -> int:
        """A register with a constant that is an argument."""
        if variable.type == "pred" or variable.size > 8:
            raise NotSupported(f"a constant as an argument of type .{variable.type}")
        wide = variable.size == 8
        bits = node[2] if wide and node[0] == nodes.FLOAT else node[1]
        return self.builder.constant64(bits & (1 << 64) - 1) if wide else self.builder.constant(bits & 0xFFFFFFFF)

    def _forget_registers(self, body: Recording) -> None:
        """Every copy gets its own virtual registers."""
        for handle in range(body.register_first, body.register_last):
            self.builder.registers_[handle] = 0

    @staticmethod
    def _parameter(variable: Any, actual: Any) -> Place:
        if isinstance(actual, Place):
            return actual
        place = Place(variable.name, "param", variable.size, variable.align)
        if actual is not None:
            for index in range(len(place.words)):
                place.words[index] = actual & ~(opd.WIDE | 3 << opd.WIDTH_SHIFT) | index << opd.COMPONENT_SHIFT
        return place


def _shift(node: Any, base: int) -> Any:
    return (nodes.LABEL, node[1] + base) if node[0] == nodes.LABEL else node
