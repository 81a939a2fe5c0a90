"""What objects and extensible whole programs have in common: symbols that tell state spaces, places in code for a linker.

Source: observed (ptxas 13.0.88 -c and -ewp, and what nvlink 13.0.88 makes of them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from oric.ir.links import BANK, ENTRY, FUNCTION, PLACE, POINTER, Link

from . import records
from .container import OutSection, OutSymbol
from .resolved import is_settled
from .writer import ADDRESS_BYTES, Writer

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.module import Module, Relocation, Symbol

CONST: Final = "const"
EXTERN: Final = "extern"
COMMON: Final = "common"

Entry = tuple[int, int, OutSymbol, int]  # of a section's relocations: offset, type, symbol, addend


class LinkedWriter(Writer):
    """Writes a file for a linker."""

    def __init__(self, module: Module, target: Target, register_default: int) -> None:
        super().__init__(module, target, register_default)
        self.named: dict[str, OutSymbol] = {}  # functions and entries
        self.addresses: dict[int, OutSymbol] = {}  # places in bank 4 with addresses
        self.base: OutSymbol | None = None  # what addresses of functions count from

    def _function(self, name: str) -> OutSymbol:
        """The symbol of a function, which is elsewhere when nobody has made it yet."""
        if name not in self.named:
            self.named[name] = self.out.symbol(name, tables.SYM_EXTERNAL_FUNCTION, None)
        return self.named[name]

    # -- variables ---------------------------------------------------------------------------------------------

    def _defined(self, space: str) -> list[Symbol]:
        return [s for s in super()._defined(space) if s.binding not in (EXTERN, COMMON)]

    def _declare(self, number: int) -> None:
        """The symbol of a variable that no function has for itself alone."""
        entry = self.module.symbols[number]
        if entry.binding == EXTERN:
            self._variable(number, None, 0)
        elif entry.binding == COMMON:
            self._variable(number, None, entry.align).place = tables.COMMON_SECTION
        elif entry.space == CONST:
            self._variable(number, self._constants(), entry.offset)
        else:
            self._variable(number, self._globals(entry), entry.offset)

    def _variable(self, number: int, section: OutSection | None, value: int) -> OutSymbol:
        entry = self.module.symbols[number]
        info = tables.OBJECT_BINDINGS[entry.binding] << 4 | tables.OBJECT_SYMBOL_TYPE
        other = tables.OBJECT_SPACES[entry.space] | (tables.MANAGED_OTHER if entry.managed else 0)
        made = self.data_symbols[number] = self.out.symbol(self.scoped_name(number), (info, other), section, value, entry.size)
        return made

    def _variable_type(self, pointer: Relocation) -> int:
        if self.module.symbols[pointer.symbol].space == CONST and not pointer.generic:
            whole = tables.R_CUDA_64 if pointer.size == ADDRESS_BYTES else tables.R_CUDA_32
            return whole if pointer.byte < 0 else tables.R_CUDA_8[pointer.byte]
        return super()._variable_type(pointer)

    # -- relocations -------------------------------------------------------------------------------------------

    def _links(self, facts: records.KernelFacts) -> list[Entry]:
        """What the linker puts into a function."""
        entries: list[Entry] = []
        for offset, link in facts.encoded.links:
            if self.module.preserved and is_settled(link, self.module):
                continue
            kind = self.layout.links.get((link.part, link.space))
            symbol = self._linked(link)
            addend = link.addend % ADDRESS_BYTES if link.space == BANK else link.addend
            if kind is not None and symbol is not None:
                entries.append((offset, kind, symbol, addend))
        return entries

    def _linked(self, link: Link) -> OutSymbol | None:
        """The symbol of a link; None where calls through registers need none."""
        if link.space in (FUNCTION, ENTRY, PLACE):
            return self.named[link.function]
        if link.space == BANK:
            return self.addresses[link.addend // ADDRESS_BYTES * ADDRESS_BYTES]
        return self.base if link.space == POINTER else self.data_symbols[link.symbol]
