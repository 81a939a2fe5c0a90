"""What the driver wants to know of while a module is built."""

from __future__ import annotations

from typing import Any

from oric.ir.function import Function


class Events:
    """What the driver wants to know of while a module is built, and may refuse."""

    def begin_body(self, function: Any) -> None:
        """The body of a function or entry begins."""

    def end_entry(self, f: Function) -> bool:
        """An entry is complete; False: it is left out."""
        return True

    def variable(self, variable: Any) -> None:
        """A variable that has linkage is declared."""

    def file_again(self, index: int, loc: int) -> None:
        """A number of a source file is given that another input has given before."""

    def double(self, loc: int) -> None:
        """An instruction with a type of double precision; asked for with ``watch_double``."""

    def warn(self, text: str, loc: int) -> None:
        """A warning about a place in the input."""

    def end_module(self, builder: Any) -> None:
        """The module ends; who wants its entries complete calls :meth:`oric.lower.builder.OriBuilder.complete`."""
