"""Calls of functions of the driver that stand for instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, final

from oric.ir import operand as opd
from oric.ir.calls import WORD, CallSite, ParamVariable, Shape

from .control import prototype
from .memory import Memory
from .symbols import Place

WORDS: Final = "b32"
BYTES: Final = "b8"


@final
class DriverVariable:
    """A result or parameter of such a function: so many words, declared as an array of ``b32`` or ``b8``."""

    def __init__(self, words: int, align: int, type_: str) -> None:
        self.name = ""
        self.space = "param"
        self.type = type_
        self.vector = 1
        self.dims: tuple[int, ...] = (words if type_ == WORDS else WORD * words,)
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
    b: Memory,
    name: str,
    results: int,
    arguments: Sequence[tuple[list[int], int]],
    guard: int = 0,
    then: Callable[[list[int]], None] | None = None,
    type_: str = WORDS,
) -> None:
    """Call a function of the driver. ``results``: words of its only result, 0: none; ``arguments``: words and alignment of each.

    ``then`` gets registers with the result; what it emits is under the guard.
    """
    returns = (DriverVariable(results, WORD, type_),) if results else ()
    params = tuple(DriverVariable(len(words), align, type_) for words, align in arguments)
    function = DriverFunction(name, returns, params)
    number = next((handle for handle, known in b.functions.items() if known.name == name), -1)
    if number < 0:
        number = len(b.symbols)
        b.symbols.append(Place(name, "function", 0, 1))
        b.functions[number] = function
    made: list[int] = [b.new_r() for _ in range(results)]
    actuals: list[ParamVariable | int] = []
    for variable, words in zip((*returns, *params), ([made] if results else []) + [words for words, _ in arguments], strict=True):
        actual = ParamVariable("", variable.size, variable.align)
        actual.words = list(words)
        actuals.append(actual)
    shapes = [Shape(v.size, v.align, n < len(returns)) for n, v in enumerate((*returns, *params))]
    around = -1
    if guard:
        around = int(b.make_label())
        b.branch(around, guard ^ opd.NEGATE)
    line = b.tables.template("invoke").first
    i = b.stand().make(b.tables.op[line], b.tables.mods[line])
    b.code.aux[i] = len(b.code.calls)
    b.code.calls.append(CallSite(number, actuals, b.loc, shapes, 0, prototype(function)))
    if then is not None:
        then(made)
    if around >= 0:
        b.place(around)
