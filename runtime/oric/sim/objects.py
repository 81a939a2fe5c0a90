"""Files for a linker that need nothing from elsewhere: what it would settle, so that they can run as they are.

In an object, shared variables of all kernels lie one behind the other, so that functions find them at one place whoever calls
them. An extensible whole program has its own places for them, and leaves what the system keeps to the linker.
"""

from __future__ import annotations

from typing import Final

from oric_tables.cubin_layout import DYNAMIC_SHARED_ALIGN, LAYOUTS, OBJECT_SPACES, is_of_driver
from oric_tables.simulator import Device

from oric.support.elf import Cubin, Symbol
from oric.support.elf_format import ET_EWP

from .errors import LoadError

_SHARED: Final = OBJECT_SPACES["shared"]
_CONST: Final = OBJECT_SPACES["const"]
_SPACES: Final = ~0x1F  # of st_other
_TYPE: Final = 0xF  # of st_info
_VARIABLE: Final = 0xD
_BASES: Final = frozenset(name for layout in LAYOUTS.values() for name in layout.object_symbols)


class ObjectPlaces:
    """``places``: symbol -> its address in a space of its own (shared memory, the bank of constants).

    Raises:
        LoadError: something is not in the object.
    """

    def __init__(self, cubin: Cubin, target: Device) -> None:
        self.cubin = cubin
        self.places: dict[int, int] = {}
        named = {relocation.symbol for relocation in cubin.relocations}
        for number in sorted(named):
            self._check(cubin.symbols[number])
        if cubin.type == ET_EWP:
            for kernel in cubin.kernels.values():
                kernel.shared_size += target.shared_base
            return
        self._place_shared(target)
        registers = max((f.registers for f in cubin.functions.values()), default=0)
        for kernel in cubin.kernels.values():
            kernel.registers = registers
        for symbol in cubin.symbols:
            if _space(symbol) == _CONST and symbol.section:
                self.places[symbol.number] = symbol.value

    def is_base(self, number: int) -> bool:
        """Whether a symbol is what addresses of functions count from."""
        return self.cubin.symbols[number].name in _BASES

    def _check(self, symbol: Symbol) -> None:
        """A symbol that is named is here, or the driver's."""
        dynamic = _space(symbol) == _SHARED and not symbol.size
        if symbol.section or dynamic or symbol.name in _BASES or is_of_driver(symbol.name):
            return
        raise LoadError(f"an object made with -c or -ewp: it needs a linker before it can run, as '{symbol.name}' is not in it")

    def _place_shared(self, target: Device) -> None:
        end = 0
        for symbol in self.cubin.symbols:
            if _space(symbol) == _SHARED and symbol.section:
                end = -(-end // max(symbol.value, 1)) * max(symbol.value, 1)
                self.places[symbol.number] = end
                end += symbol.size
        behind = -(-end // DYNAMIC_SHARED_ALIGN) * DYNAMIC_SHARED_ALIGN
        for symbol in self.cubin.symbols:
            if _space(symbol) == _SHARED and not symbol.section:
                self.places[symbol.number] = behind
        for kernel in self.cubin.kernels.values():
            kernel.shared_size = target.shared_base + behind


def _space(symbol: Symbol) -> int:
    """The state space of a variable by its symbol, 0 for others."""
    return symbol.other & _SPACES if symbol.info & _TYPE == _VARIABLE else 0
