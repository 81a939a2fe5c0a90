"""Writes an extensible whole program: a program whose addresses of globals, and calls of functions elsewhere, a linker settles.

It has the code, the places of constants and of shared variables of a whole program, and the sections and symbols of an object.
Source: observed (ptxas 13.0.88 -ewp, and what nvlink 13.0.88 makes of it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from oric.ir.links import CALL, ENTRY

from . import records
from .container import OutSection
from .linked import CONST, LinkedWriter

if TYPE_CHECKING:
    from oric.ir.encoded import EncodedFunction

_SPACES: Final = ("global", CONST)
_RESERVED_VARIABLE: Final = (tables.OBJECT_BINDINGS["weak"] << 4 | tables.OBJECT_SYMBOL_TYPE, tables.SYM_RESERVED_ALIAS[1])


class ExtensibleWriter(LinkedWriter):
    """Writes an extensible whole program."""

    def _called(self, function: EncodedFunction) -> list[str]:
        return [link.function for _, link in function.links if link.part == CALL]

    def _taken(self, kernel: records.KernelFacts) -> list[str]:
        """Names of the kernels whose addresses a kernel takes, each once."""
        return list(dict.fromkeys(link.function for _, link in kernel.encoded.links if link.space == ENTRY))

    # -- variables ---------------------------------------------------------------------------------------------

    def _data(self) -> None:
        """Symbols of module variables: those seen outside first, then the local ones."""
        module = self.module
        module.place_constants()
        for entry in module.symbols:
            for pointer in entry.relocations:
                if pointer.function and pointer.function not in module.addressed:
                    module.addressed.append(pointer.function)
        self._place_globals()
        for number in sorted(range(len(module.symbols)), key=lambda n: module.symbols[n].binding == "local"):
            if module.symbols[number].space in _SPACES:
                self._declare(number)

    def _shared_bytes(self, size: int) -> int:
        return size  # what the system keeps for itself, the linker adds

    def _reserved_shared(self) -> None:
        """Symbols of the shared memory that the system keeps: those that are placed tell alignments."""
        if not self.layout.reserved_shared:
            return
        variables = self.layout.reserved_variables
        section = self.out.section(tables.SHARED_RESERVED, align=self.layout.reserved_align)
        for name, kind, size, defined in tables.RESERVED_SHARED_SYMBOLS:
            if defined and variables:
                self.out.section_symbol(section)
            self.out.symbol(name, kind, section if defined else None, 1 if defined else self.layout.reserved_start, size)
        for name, _, size in variables:
            section.size += size
            self.out.symbol(name, _RESERVED_VARIABLE, section, self.layout.reserved_align, size)

    # -- relocations and records -------------------------------------------------------------------------------

    def _relocations(self, frame: OutSection) -> None:
        names = {kernel.encoded.name: symbol for kernel, symbol in zip(self.kernels, self.kernel_symbols, strict=True)}
        self.named.update(names)
        for kernel, info in zip(self.kernels, self.info_sections, strict=True):
            assert info.owner is not None  # as every kernel has its section
            uses_shared = bool(kernel.attributes.static_shared or kernel.attributes.uses_dynamic_shared)
            links = self._links(kernel)
            self.out.relocate(info.owner, links, empty=self.layout.empty_relocations and uses_shared)
        super()._relocations(frame)

    def _call_graph(self) -> bytes:
        """Calls of functions elsewhere, kernels whose address is taken, who takes it."""
        calls = []
        takers = []
        taken = dict.fromkeys(self.kernel_symbol(name).number for name in self.module.addressed)
        for kernel, symbol in zip(self.kernels, self.kernel_symbols, strict=True):
            calls += [(symbol.number, other.number) for other in reversed(kernel.externs)]
            found = [self.kernel_symbol(name) for name in self._taken(kernel)]
            takers += [(symbol.number, other.number) for other in found]
            taken.update(dict.fromkeys(other.number for other in found))
            kernel.externs += found
        return records.call_graph(sorted(taken), calls, takers)

    def _module_records(self) -> bytes:
        return records.extensible_records(self.kernels, self.layout)
