"""Calls: functions of the module are recorded when they are parsed and built again at each call (inlining)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


class Inliner:
    """Builds recorded bodies at their calls. A call of a function that is defined later waits for the end of the body.

    Each inlined copy has its own virtual registers, labels and parameter variables.
    """

    def __init__(self, builder: OriBuilder) -> None:
        self.builder = builder
        self.bodies: dict[int, Recording] = {}
        self.functions: dict[int, Any] = {}
        self.active: list[int] = []

    def declare(self, handle: int, function: Any) -> Place:
        """The place of a function."""
        self.functions[handle] = function
        return Place(function.name, "function", 0, 1)

    def finish_function(self, code: CodeObject) -> None:
        """Close the books of an entry."""
        self.builder.finish_memory(code)
        self.builder.finish_flow()

    def call(self, callee: Any, results: Sequence[Any], arguments: Sequence[Any], guard: int) -> None:
        """Build the body of a function here.

        Raises:
            NotSupported: indirect, recursive or external calls.
        """
        builder = self.builder
        if callee[0] != nodes.SYM or builder.symbols[callee[1]].space != "function":
            raise NotSupported("indirect call")
        symbol = callee[1]
        name = builder.symbols[symbol].name
        body = self.bodies.get(symbol)
        if body is None:
            raise NotSupported(f"call of '{name}', which is not defined before it,")
        if symbol in self.active:
            raise NotSupported(f"recursive call of '{name}'")
        around = -1
        if guard:
            around = builder.new_label()
            builder.branch(around, guard ^ (1 << 31))
        self.active.append(symbol)
        try:
            self._build(body, [*results, *arguments])
        finally:
            self.active.pop()
        if around >= 0:
            builder.place(around)

    def _build(self, body: Recording, actuals: Sequence[Any]) -> None:
        builder = self.builder
        count = len(body.function.returns)
        self._forget_registers(body)
        for index, (formal, actual) in enumerate(zip(body.formals, actuals, strict=True)):
            variable = (*body.function.returns, *body.function.params)[index]
            if variable.space == "reg":
                if index >= count:
                    builder.move(builder.register(formal), builder.value(actual))
            else:
                builder.symbols[formal] = self._parameter(variable, actual)
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
            else:
                builder.instruction(event[1], event[2], [_shift(o, base) for o in event[3]], event[4])
        builder.place(builder.return_label)
        builder.return_label = back
        builder.tables = tables
        for index in range(count):
            if body.function.returns[index].space == "reg":
                builder.move(builder.value(actuals[index]), builder.register(body.formals[index]))

    def _forget_registers(self, body: Recording) -> None:
        """Every copy gets its own virtual registers."""
        for handle in range(body.register_first, body.register_last):
            self.builder.registers_[handle] = 0

    def _parameter(self, variable: Any, actual: Any) -> Place:
        if actual[0] == nodes.SYM and self.builder.symbols[actual[1]].space == "param":
            place: Place = self.builder.symbols[actual[1]]
            return place
        place = Place(variable.name, "param", variable.size, variable.align)
        value = self.builder.value(actual)
        if value.__class__ is int:
            for index in range(len(place.words)):
                place.words[index] = value & ~(1 << 24 | 3 << 22) | index << 20
        else:
            raise NotSupported("a constant as the argument of a call")
        return place


def _shift(node: Any, base: int) -> Any:
    return (nodes.LABEL, node[1] + base) if node[0] == nodes.LABEL else node
