"""Calls of functions of the module: what goes in and comes out, until the call is inlined.

Source: PTX ISA, "Function Declarations and Definitions"; "call".
"""

from __future__ import annotations

from typing import final


@final
class ParamVariable:
    """A ``.param`` variable of a call or a function: one register a four bytes in ``words``, 0 before the first use."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.words: list[int] = [0] * -(-size // 4)


@final
class Formal:
    """A result or parameter of a function: a ``.param`` variable, or a register (``operand``, 0: never named)."""

    def __init__(self, variable: ParamVariable | None, operand: int, is_result: bool) -> None:
        self.variable = variable
        self.operand = operand
        self.is_result = is_result


@final
class CallSite:
    """A call: the function's id in the module's symbols, and for each of its results and parameters a ``.param`` variable of
    the caller or a register (0 for a result that nobody wants). ``loc``: place in the PTX.
    """

    def __init__(self, callee: int, actuals: list[ParamVariable | int], loc: int) -> None:
        self.callee = callee
        self.actuals = actuals
        self.loc = loc
