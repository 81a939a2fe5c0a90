"""Addresses that a linker tells, in the code of an object."""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64
from oric_tables.op import LINKED

from oric.ir.links import HIGH, LOW, SIZE, Link
from oric.ir.module import Module

from .emit import Emitter, part


class Linked(Emitter):
    """The part of the builder that names such addresses."""

    def __init__(self, target: Any, source: Any, module: Module) -> None:
        Emitter.__init__(self, target, source)
        self.ir = module

    def linked_pair(self, space: str, symbol: int, name: str) -> i64:
        """The 64-bit address of a variable of the module, or by its name of a function, in a pair of registers."""
        dest = self.new_pair()
        for word, which in enumerate((LOW, HIGH)):
            self._link(part(dest, word), Link(which, space, symbol, "" if symbol >= 0 else name))
        return dest

    def linked(self, space: str, symbol: int, offset: int) -> i64:
        """A register with the 32-bit address of a variable, and more."""
        dest = self.new_r()
        self._link(dest, Link(LOW, space, symbol, addend=offset))
        return dest

    def linked_size(self, name: str) -> i64:
        """A register with the size of an entry of a table of the driver, by the name of the symbol that tells it."""
        dest = self.new_r()
        self._link(dest, Link(LOW, SIZE, -1, name))
        return dest

    def _link(self, dest: i64, link: Link) -> None:
        number = self.code.imm(self.ir.link(link))
        self.stand().make2(LINKED, dest, number)
