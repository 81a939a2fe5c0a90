"""Calls of functions of the driver that stand for instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from oric.ir import operand as opd
from oric.ir.calls import WORD, CallSite, ParamVariable, Shape

from .control import prototype
from .memory import Memory, Place


@final
class DriverVariable:
    """A result or parameter of such a function: so many words."""

    def __init__(self, words: int, align: int) -> None:
        self.name = ""
        self.space = "param"
        self.type = "b32"
        self.vector = 1
        self.dims: tuple[int, ...] = (words,)
        self.size = WORD * words
        self.align = align


@final
class DriverFunction:
    """Such a function, as the parser describes those of the module."""

    def __init__(self, name: str, returns: tuple[DriverVariable, ...], params: tuple[DriverVariable, ...]) -> None:
        self.name = name
        self.returns = returns
        self.params = params
        self.is_entry = False
        self.linkage = "extern"


def call_driver(
    b: Memory, name: str, results: int, arguments: Sequence[tuple[list[int], int]], guard: int, then: Callable[[list[int]], None]
) -> None:
    """Call a function of the driver. ``results``: words of its only result; ``arguments``: words and alignment of each.

    ``then`` gets registers with the result; what it emits is under the guard.
    """
    returns = (DriverVariable(results, WORD),)
    params = tuple(DriverVariable(len(words), align) for words, align in arguments)
    function = DriverFunction(name, returns, params)
    number = b.driver_functions.get(name, -1)
    if number < 0:
        number = b.driver_functions[name] = len(b.symbols)
        b.symbols.append(Place(name, "function", 0, 1))
        b.functions[number] = function
    made: list[int] = [b.new_r() for _ in range(results)]
    actuals: list[ParamVariable | int] = []
    for variable, words in zip((*returns, *params), (made, *(words for words, _ in arguments)), strict=True):
        actual = ParamVariable("", variable.size, variable.align)
        actual.words = list(words)
        actuals.append(actual)
    shapes = [Shape(v.size, v.align, n == 0) for n, v in enumerate((*returns, *params))]
    around = -1
    if guard:
        around = int(b.make_label())
        b.branch(around, guard ^ opd.NEGATE)
    line = b.tables.template("invoke").first
    i = b.stand().make(b.tables.op[line], b.tables.mods[line])
    b.code.aux[i] = len(b.code.calls)
    b.code.calls.append(CallSite(number, actuals, b.loc, shapes, 0, prototype(function)))
    then(made)
    if around >= 0:
        b.place(around)
