"""Textures, samplers and surfaces in a cubin: symbols, places for their headers in bank 0, records of samplers.

Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from oric.ir.links import SIZE

from . import records

if TYPE_CHECKING:
    from oric.ir.module import Symbol

    from .container import OutSection, OutSymbol
    from .writer import Writer

_GLOBAL: Final = 1 << 4
_PAIR: Final = 16  # from this bit on the id of a sampler, plus 1, beside that of a texture
_NO_TEXTURE: Final = (1 << _PAIR) - 1
_SAID_NOTHING: Final = 0xFF
_UNNORMALIZED: Final = "force_unnormalized_coords"
_WORD: Final = 4


class Images:
    """What the writer of a program adds for them. ``symbols``: by the ids in the module."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.symbols: dict[int, OutSymbol] = {}
        self.sizes: dict[str, OutSymbol] = {}  # of entries of the driver's tables, by the names of their symbols

    def of_kernel(self, kernel: records.KernelFacts, text: OutSection, first: bool) -> None:
        """The parameters of a kernel that the driver keeps; in front of all others those that the first kernel names."""
        for param in kernel.attributes.params:
            if param.symbol >= 0:
                kind = tables.DRIVER_OBJECTS[self._entry(param.symbol).space][0], 0
                kernel.images[param.symbol] = self.symbols[param.symbol] = self.writer.out.symbol(param.name, kind, text)
        named = [number for key in kernel.attributes.headers for number in _parts(key)]
        kernel.header_types = frozenset(self._entry(number).space for number in named)
        for number in named if first else ():
            self.of_module(number)

    def name_sizes(self, kernel: records.KernelFacts) -> None:
        """The symbols of sizes that the code of a kernel names."""
        for _, link in kernel.encoded.links:
            if link.space == SIZE:
                self._size(link.function)

    def of_module(self, number: int) -> None:
        """The symbol of a module's texture, sampler or surface; nothing for other variables."""
        entry = self._entry(number)
        if entry.space in tables.DRIVER_OBJECTS and number not in self.symbols and entry.binding != "param":
            kind = tables.DRIVER_OBJECTS[entry.space][0] | _GLOBAL, 0
            self.symbols[number] = self.writer.out.symbol(entry.name, kind, None)

    def _entry(self, number: int) -> Symbol:
        return self.writer.module.symbols[number]

    def relocate(self, kernels: list[records.KernelFacts]) -> None:
        """The relocations of headers, and of sizes that code names."""
        target = self.writer.target
        column = 2 if "uniform_handles" in target.features else 1
        for kernel in kernels:
            self._sizes(kernel)
            attributes = kernel.attributes
            start = attributes.headers_start(target)
            entries = [
                (start + _WORD * n, tables.DRIVER_OBJECTS[self._entry(number).space][column], self.symbols[number], 0)
                for n, key in enumerate(attributes.headers)
                for number in _parts(key)
            ]
            if entries:
                self.writer.out.relocate(self.writer.bank0[kernel.encoded.name], entries)

    def _sizes(self, kernel: records.KernelFacts) -> None:
        text = self.writer.kernel_symbol(kernel.encoded.name).section
        entries = [
            (offset, tables.R_CUDA_ABS32_32, self._size(link.function), 0)
            for offset, link in kernel.encoded.links
            if link.space == SIZE
        ]
        if entries and text is not None:
            self.writer.out.relocate(text, entries)

    def _size(self, name: str) -> OutSymbol:
        if name not in self.sizes:
            self.sizes[name] = self.writer.out.symbol(name, tables.SYM_RESERVED_OBJECT, None, 0, _WORD)
        return self.sizes[name]

    def records(self) -> bytes:
        """What the declarations of samplers say, the last first."""
        out = b""
        for number, entry in reversed(list(enumerate(self.writer.module.symbols))):
            if entry.space != "samplerref" or number not in self.symbols or entry.binding == "param":
                continue
            symbol = self.symbols[number].number
            if _UNNORMALIZED in entry.fields:
                data = records.words(symbol, int(entry.fields[_UNNORMALIZED]))
                out += records.record(tables.ATTR_SAMPLER_FORCE_UNNORMALIZED, tables.FORMAT_SIZED, 0, data)
            values = bytes(_value(entry.fields.get(name)) for name in tables.SAMPLER_FIELDS)
            out += records.record(tables.ATTR_SAMPLER_INIT, tables.FORMAT_SIZED, 0, pack("<I", symbol) + values)
        return out


def _value(said: str | int | None) -> int:
    if said is None:
        return _SAID_NOTHING
    return said if isinstance(said, int) else tables.SAMPLER_VALUES[said]


def _parts(key: int) -> list[int]:
    """The ids of what a header is of: a reference, or a sampler and a texture together."""
    sampler, texture = key >> _PAIR, key & _NO_TEXTURE
    return ([texture] if texture != _NO_TEXTURE else []) + ([sampler - 1] if sampler else [])
