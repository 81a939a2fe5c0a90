"""What a program tells of relocations that are settled already (--preserve-relocs): where code names variables and addresses.

Each section ``.nv.resolvedrela.NAME`` has the entries that a relocatable file would have for NAME.
Source: observed (ptxas 13.0.88 --preserve-relocs for sm_75 .. sm_89).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables
from oric_tables.cubin import RELOCATIONS

from oric.ir.calls import FUNCTION_SLOT
from oric.ir.links import BANK, Link
from oric.ir.module import EXTERNALS
from oric.support.elf_format import SHT_NOBITS

if TYPE_CHECKING:
    from oric.ir.module import Module

    from . import records
    from .container import OutSection, OutSymbol
    from .writer import Writer

ADDRESS_MARK: Final = "$ADDRESS$"  # in front of the name of what a place in bank 4 has the address of
INTERNAL: Final = 1  # st_other: nobody else sees it
_VARIABLE: Final = 1  # st_info
_WEAK: Final = 2  # binding
_BANKS: Final = 0x1F  # the field of a constant bank
_ELSEWHERE: Final = ("extern", "common")
_SPACES: Final = ("shared", "const")
_ADDRESS_BYTES: Final = 8

Entry = tuple[int, int, "OutSymbol", int]  # offset, type, symbol, addend


def address_name(name: str) -> str:
    """The name of the place in bank 4 with the address of something."""
    return ADDRESS_MARK + name


def is_settled(link: Link, module: Module) -> bool:
    """Whether the writer of a program settles a link itself."""
    return link.space == BANK or (link.space in _SPACES and not module.is_elsewhere(link.symbol))


def put(words: bytearray, offset: int, kind: int, value: int) -> None:
    """Put a value into the bits that a relocation fills."""
    relocation = RELOCATIONS[kind]
    end = offset + relocation.size
    word = int.from_bytes(words[offset:end], "little")
    value >>= relocation.shift
    for first, count in relocation.bits:
        word = word & ~((1 << count) - 1 << first) | (value & (1 << count) - 1) << first
        value >>= count
    words[offset:end] = word.to_bytes(relocation.size, "little")


def clear(words: bytearray, offset: int, kind: int) -> None:
    """Take a place in a constant bank out of an instruction, for a linker to put one there."""
    put(words, offset, kind, 0)
    at, bit = divmod(RELOCATIONS[kind].bank, 8)
    end = offset + at + 2
    word = int.from_bytes(words[offset + at : end], "little") & ~(_BANKS << bit)
    words[offset + at : end] = word.to_bytes(2, "little")


class Resolved:
    """Settles what is left of a program's code, and tells where. ``shared``: sections of shared variables, by kernel."""

    def __init__(self, writer: Writer, shared: dict[str, OutSection]) -> None:
        self.writer = writer
        self.module = writer.module
        self.shared = shared
        self.variables: dict[int, OutSymbol] = {}  # shared ones
        self.addresses: dict[int, OutSymbol] = {}  # places in bank 4
        self.common: OutSection | None = None

    def write(self, frame: OutSection) -> None:
        """The sections of all kernels, and of ``frame``, whose parts are at the places of ``frame_parts``."""
        writer = self.writer
        self._symbols()
        for kernel, info in zip(writer.kernels, writer.info_sections, strict=True):
            assert info.owner is not None  # as every kernel has its section
            self._text(kernel, info.owner)
            self._tables(kernel)
        assert frame.symbol is not None or not writer.frame_parts
        entries = [(at, tables.R_CUDA_64, frame.symbol, start) for at, start in writer.frame_parts if frame.symbol]
        self._section(frame, entries)

    def _section(self, section: OutSection, entries: list[Entry]) -> None:
        if entries:
            self.writer.out.relocate_as(section, tables.RESOLVED_RELA, entries)

    # -- symbols -----------------------------------------------------------------------------------------------

    def _kind(self, binding: int, space: str) -> tuple[int, int]:
        """st_info and st_other of a variable that nobody else sees."""
        if self.module.linked:
            return binding << 4 | tables.OBJECT_SYMBOL_TYPE, tables.OBJECT_SPACES[space] | INTERNAL
        return binding << 4 | _VARIABLE, INTERNAL

    def _symbols(self) -> None:
        """Places in bank 4, parameters, shared variables."""
        writer, module = self.writer, self.module
        for number, at in module.address_slots.items():
            name, binding = self._addressed(number)
            kind = self._kind(binding, "const")
            self.addresses[at] = writer.out.symbol(address_name(name), kind, writer.constant4, at, _ADDRESS_BYTES)
        users: dict[int, list[str]] = {}
        for kernel in writer.kernels:
            bank0 = writer.bank0[kernel.encoded.name]
            facts = kernel.attributes
            if facts.params:
                writer.out.symbol("_param", self._kind(0, "const"), bank0, facts.param_base(writer.target), facts.param_size)
            for number in facts.shared_offsets:
                users.setdefault(number, []).append(kernel.encoded.name)
        for number, kernels in users.items():
            self._shared(number, kernels)

    def _addressed(self, number: int) -> tuple[str, int]:
        """Name and binding of what has an address in bank 4; what is not here may be in several files."""
        module = self.module
        if number < -EXTERNALS:
            return module.externals[-1 - number - EXTERNALS], _WEAK
        if number < 0:
            name = module.addressed[-1 - number]
            return name, self.writer.kernel_symbol(name).info >> 4
        entry = module.symbols[number]
        return self.writer.data_symbols[number].name, _WEAK if entry.binding in _ELSEWHERE else tables.OBJECT_BINDINGS[
            entry.binding
        ]

    def _shared(self, number: int, kernels: list[str]) -> None:
        """A shared variable: in the section of its kernel, or of none where there are several."""
        writer, entry = self.writer, self.module.symbols[number]
        offset = 0
        if len(kernels) == 1:
            section = self.shared[kernels[0]]
            offset = next(k.attributes.shared_offsets[number] for k in writer.kernels if k.encoded.name == kernels[0])
        else:
            section = self._module_shared(entry.align)
        kind = self._kind(tables.OBJECT_BINDINGS[entry.binding], "shared")
        self.variables[number] = writer.out.symbol(writer.scoped_name(number), kind, section, offset, entry.size)

    def _module_shared(self, align: int) -> OutSection:
        """A section without bytes, for the symbols of what several kernels have at places of their own."""
        if self.common is None:
            self.common = self.writer.out.section(tables.MODULE_SHARED, align=align)
            self.common.file_type = SHT_NOBITS
        self.common.align = max(self.common.align, align)
        return self.common

    # -- entries -----------------------------------------------------------------------------------------------

    def _text(self, kernel: records.KernelFacts, text: OutSection) -> None:
        """Puts the places of shared variables and constants into the code of a kernel."""
        words = bytearray(text.data)
        entries: list[Entry] = []
        for offset, link in kernel.encoded.links:
            if link.space != BANK and is_settled(link, self.module):
                kind = self.writer.layout.links[link.part, link.space]
                is_shared = link.space == "shared"
                place = kernel.attributes.shared_offsets[link.symbol] if is_shared else self.module.symbols[link.symbol].offset
                put(words, offset, kind, place + link.addend)
                symbol = self.variables[link.symbol] if is_shared else self.writer.data_symbols[link.symbol]
                entries.append((offset, kind, symbol, link.addend))
            elif link.space == BANK:
                start = link.addend // _ADDRESS_BYTES * _ADDRESS_BYTES
                kind = self.writer.layout.links[link.part, BANK]
                entries.append((offset, kind, self.addresses[start], link.addend - start))
        text.data = bytes(words)
        self._section(text, entries)

    def _tables(self, kernel: records.KernelFacts) -> None:
        """The table of functions of a kernel: its first place is no function's."""
        if not kernel.encoded.addressed:
            return
        name = kernel.encoded.name
        section = self.writer.constant2[name]
        size = FUNCTION_SLOT * (1 + len(kernel.encoded.addressed))
        table = self.writer.out.symbol(f"$__funcAddrTab_c${name}", self._kind(0, "const"), section, 0, size)
        found = {symbol.name: symbol for symbol in kernel.functions}
        entries: list[Entry] = [(0, tables.R_CUDA_64, table, 1)]
        for number, function in enumerate(kernel.encoded.addressed, 1):
            if function in found:
                entries.append((FUNCTION_SLOT * number, tables.R_CUDA_64, found[function], 0))
        self._section(section, entries)
