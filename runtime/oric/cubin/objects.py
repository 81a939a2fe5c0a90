"""Writes a module as an object to link: every function in a section of its own, addresses and calls left to the linker.

Source: observed (objects of ptxas 13.0.88 -c, and what nvlink 13.0.88 makes of them).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables
from oric_tables.cubin import RELOCATIONS

from oric.ir.module import EXTERNALS

from . import records
from .container import OutSection, OutSymbol
from .linked import CONST, EXTERN, Entry
from .resolved import INTERNAL, address_name, clear
from .separate import FUNCTION_KINDS, SeparateWriter
from .writer import ADDRESS_BYTES, KERNEL_KINDS

if TYPE_CHECKING:
    from oric.ir.encoded import EncodedFunction
    from oric.ir.module import Relocation

_SHARED: Final = "shared"


class ObjectWriter(SeparateWriter):
    """Writes an object."""

    def image(self, encoded: list[EncodedFunction], options: str) -> bytes:
        """The file; ``encoded``: functions and entries, ``options``: see :func:`oric.cubin.write`."""
        out = self.out
        info = self._begin(options)
        for function in reversed(encoded):
            self._code(function)
        self._aliases()
        self._undefined()
        self._data()
        frame = out.section(tables.DEBUG_FRAME)
        out.section_symbol(frame)
        self._lines()
        for facts, section in zip(self.kernels, self.info_sections, strict=True):
            self._text_links(facts, section.owner)
        self._relocations(frame)
        graph = out.section(tables.CALLGRAPH)
        self._reserve(graph)
        prototypes = out.section(tables.PROTOTYPE) if self._prototypes() else None
        if tables.CONSTANT0 in self.layout.late:
            self._parameters()
        out.number()
        self._number_records()
        info.data = self._module_records()
        graph.data = self._graph()
        if prototypes is not None:
            prototypes.data = self._prototypes()
        return self._image()

    # -- functions ---------------------------------------------------------------------------------------------

    def _code(self, function: EncodedFunction) -> None:
        """The section and the symbol of a function or an entry, and its own shared variables."""
        code = self.module.function(function.name)
        if code is None:
            raise ValueError(f"the module has no function '{function.name}'")
        facts = records.KernelFacts(function, code.attributes, self.target, self.register_default, code.is_entry)
        kinds = KERNEL_KINDS if code.is_entry else FUNCTION_KINDS
        symbol = self.out.symbol(function.name, kinds[code.attributes.binding], None, 0, len(function.words))
        text = symbol.section = self.out.section(tables.TEXT, function.name)
        text.data = function.words
        self.named[function.name] = symbol
        self.codes.append(code)
        self.kernels.append(facts)
        self.kernel_symbols.append(symbol)
        self.info_sections.append(self.out.section(tables.KERNEL_INFO, function.name, text))
        if code.own_shared:
            section = self.out.section(tables.SHARED, function.name, text, max(self._shared_align(n) for n in code.own_shared))
            self._place_shared(section, code.own_shared)
        if tables.CONSTANT0 not in self.layout.late and code.is_entry:
            self._bank0(facts, text)

    def _undefined(self) -> None:
        """Functions that are elsewhere, and the symbols that every object has."""
        for name in () if self.module.independent else self.layout.object_symbols:
            symbol = self.out.symbol(name, tables.SYM_RESERVED_OBJECT, None, 0, ADDRESS_BYTES)
            if name == self.layout.pointer_base:
                self.base = symbol
        if self.layout.reserved_shared:
            name, kind, size, _ = tables.RESERVED_SHARED_SYMBOLS[0]
            self.out.symbol(name, kind, None, self.layout.reserved_start, size)
        self._undefined_functions()

    # -- variables ---------------------------------------------------------------------------------------------

    def _data(self) -> None:
        """Symbols of variables; those of shared memory the linker places."""
        own = {number for code in self.codes for number in code.own_shared}
        self._place_globals()
        self._place_constants()
        shared = [n for n, s in enumerate(self.module.symbols) if s.space == _SHARED and s.binding != EXTERN and n not in own]
        if shared:
            section = self.out.section(tables.MODULE_SHARED, align=max(self._shared_align(n) for n in shared))
            self._place_shared(section, shared)
        for number, entry in enumerate(self.module.symbols):
            if entry.space not in tables.OBJECT_SPACES or number in self.data_symbols:
                continue
            self._declare(number)

        if self.module.independent:
            self._address_symbols()

    def _address_symbols(self) -> None:
        """Bank 4 and its places: of what code names, then of all globals and functions."""
        for number, entry in enumerate(self.module.symbols):
            if entry.space == "global":
                self.module.address_slot(number)
        for name, symbol in self.named.items():
            if symbol.other != tables.SYM_KERNEL[1] and name not in self.module.aliases:
                self.module.external_slot(name)
        self._addresses()
        for number, at in self.module.address_slots.items():
            symbol = self._addressed(number)
            binding = symbol.info >> 4 if symbol.section is not None else tables.OBJECT_BINDINGS["weak"]
            if symbol.name == self.layout.pointer_base:
                binding = tables.OBJECT_BINDINGS["local"]
            kind = binding << 4 | tables.OBJECT_SYMBOL_TYPE, tables.OBJECT_SPACES[CONST] | INTERNAL
            self.addresses[at] = self.out.symbol(address_name(symbol.name), kind, self.constant4, at, ADDRESS_BYTES)

    def _addressed(self, number: int) -> OutSymbol:
        """What has its address in bank 4."""
        if number >= 0:
            return self.data_symbols[number]
        if number >= -EXTERNALS:
            return self.named[self.module.addressed[-1 - number]]
        name = self.module.externals[-1 - number - EXTERNALS]
        if name == self.layout.pointer_base and self.base is None:
            self.base = self.out.symbol(name, tables.SYM_RESERVED_OBJECT, None, 0, ADDRESS_BYTES)
        return self.base if name == self.layout.pointer_base and self.base is not None else self._function(name)

    def _place_constants(self) -> None:
        """The largest alignment first."""
        end = 0
        for entry in sorted(self._defined(CONST), key=lambda s: -s.align):
            entry.offset = -(-end // entry.align) * entry.align
            end = entry.offset + entry.size
        self.module.constant_size = end

    def _shared_align(self, number: int) -> int:
        return self.module.symbols[number].align

    def _place_shared(self, section: OutSection, numbers: list[int]) -> None:
        """Shared variables of a section: their symbols say how they are aligned."""
        if section.symbol is None:
            self.out.section_symbol(section)
        for number in numbers:
            section.size += self.module.symbols[number].size
            self._variable(number, section, self._shared_align(number))

    def _pointers(self, section: OutSection, space: str) -> list[Entry]:
        """Relocations of the pointers in initialisers."""
        out: list[Entry] = []
        for entry in self._defined(space):
            for pointer in entry.relocations:
                symbol = self.named[pointer.function] if pointer.function else self.data_symbols[pointer.symbol]
                out.append((entry.offset + pointer.offset, self._pointer_type(pointer), symbol, pointer.addend))
        return out

    def _pointer_type(self, pointer: Relocation) -> int:
        byte = pointer.byte
        if pointer.function:
            if self.named[pointer.function].other == tables.SYM_KERNEL[1]:
                return tables.R_CUDA_FUNC_DESC_64 if byte < 0 else tables.R_CUDA_FUNC_DESC_8[byte]
            return self.layout.function_pointer if byte < 0 else self.layout.function_bytes[byte]
        return self._variable_type(pointer)

    @staticmethod
    def _address_type(number: int) -> int:
        """The type of the relocation of an address in bank 4."""
        return tables.R_CUDA_FUNC_DESC_64 if -EXTERNALS <= number < 0 else tables.R_CUDA_64

    # -- relocations -------------------------------------------------------------------------------------------

    def _text_links(self, facts: records.KernelFacts, text: OutSection | None) -> None:
        """What the linker puts into a function."""
        assert text is not None  # as every function has its section
        links = self._links(facts)
        if self.module.independent:
            words = bytearray(text.data)
            for offset, kind, _, _ in links:
                if RELOCATIONS[kind].bank:
                    clear(words, offset, kind)
            text.data = bytes(words)
        self.out.relocate(text, links)

    def _text_mark(self) -> str:
        """A checksum of the PTX: the linker keeps the texts of objects apart by it."""
        assert self.module.line_info is not None  # as there is such a section
        return f".{zlib.adler32(''.join(text.text for text in self.module.line_info.texts).encode('utf-8', 'replace'))}"

    def _relocations(self, frame: OutSection) -> None:
        if self.global_init is not None:
            self.out.relocate(self.global_init, self._pointers(self.global_init, "global"))
        if self.constant4 is not None:
            self.out.relocate(
                self.constant4,
                [(at, self._address_type(n), self._addressed(n), 0) for n, at in self.module.address_slots.items()],
            )
        if self.constant3 is not None:
            self.out.relocate(self.constant3, self._pointers(self.constant3, CONST))
        self._frames(frame)

    def _frame(self, offset: int, facts: records.KernelFacts) -> tuple[bytes, tuple[int, int, int]]:
        return super()._frame(offset, facts) if self.module.for_debugger else records.object_frame_entry(offset, facts)

    def _frame_links(self, frame: OutSection, symbol: OutSymbol, places: tuple[int, int, int], at: int) -> list[Entry]:
        assert frame.symbol is not None
        return [
            (places[0], tables.R_CUDA_64, frame.symbol, at),
            (places[1], tables.R_CUDA_64, symbol, 0),
            (places[2], tables.R_CUDA_UNUSED_CLEAR64, symbol, 0),
        ]

    # -- records -----------------------------------------------------------------------------------------------

    def _module_records(self) -> bytes:
        """The section ``.nv.info``: how much stack is needed nobody knows before all is linked."""
        out = bytearray()
        for facts in reversed(self.kernels):
            frame = facts.attributes.frame_size
            for code, value in (
                (tables.ATTR_REGCOUNT, facts.encoded.num_regs),
                (tables.ATTR_MAX_STACK_SIZE, 0),
                (tables.ATTR_FRAME_SIZE, frame),
            ):
                out += records.record(code, tables.FORMAT_SIZED, 0, records.words(facts.symbol, value))
            if facts.attributes.errors_visible:
                out += records.record(tables.ATTR_GEN_ERRBAR_AT_EXIT, tables.FORMAT_NONE)
        if not self.bank0:  # as there is no entry
            out += records.module_records([], self.layout)
        return bytes(out)

    def _prototypes(self) -> bytes:
        """``.nv.prototype``: of the functions that other objects see or have, but for those of the call graph."""
        taken, _ = self._taken()
        seen = [n for n, s in self.named.items() if n not in taken and s.info != tables.SYM_FUNCTION[0] and self._prototype(n)]
        return b"".join(records.words(self.named[n].number, self._prototype(n)) for n in seen)
