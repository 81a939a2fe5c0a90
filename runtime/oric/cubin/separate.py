"""Writes functions in sections of their own: what objects to link and programs for a debugger have in common, and the latter.

Source: observed (ptxas 13.0.88 -c, -g).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from oric.ir.calls import INDIRECT
from oric.ir.links import BANK, CALL, ENTRY, FUNCTION, PLACE, POINTER, Link

from . import records
from .container import OutSection, OutSymbol
from .frames import frame_entry
from .linked import Entry, LinkedWriter
from .writer import ADDRESS_BYTES, Writer

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.encoded import EncodedFunction
    from oric.ir.function import Function
    from oric.ir.module import Module, Relocation, Symbol

FUNCTION_KINDS: Final = {
    "global": tables.SYM_GLOBAL_FUNCTION,
    "weak": tables.SYM_WEAK_FUNCTION,
    "local": tables.SYM_FUNCTION,
}


class SeparateWriter(LinkedWriter):
    """Knows how functions name each other."""

    def __init__(self, module: Module, target: Target, register_default: int) -> None:
        super().__init__(module, target, register_default)
        self.codes: list[Function] = []

    def _aliases(self) -> None:
        """The other names of functions."""
        for name, (other, binding) in self.module.aliases.items():
            self.named[name] = self.out.symbol(name, FUNCTION_KINDS[binding], self.named[other].section)

    def _undefined_functions(self) -> None:
        """Functions that code and initialisers name and that are elsewhere."""
        for facts, code in zip(self.kernels, self.codes, strict=True):
            called = [call.external for call in code.kept if call.callee != INDIRECT]
            linked = [p.link.function for p in facts.encoded.links if p.link.space in (FUNCTION, ENTRY)]
            for name in dict.fromkeys([*called, *linked, *code.taken]):
                self._function(name)
            facts.externs = [self.named[name] for name in dict.fromkeys(called) if self.named[name].section is None]
        for entry in self.module.symbols:
            for pointer in entry.relocations:
                if pointer.function:
                    self._function(pointer.function)

    # -- frames -----------------------------------------------------------------------------------------------

    def _frames(self, frame: OutSection) -> None:
        """What a debugger needs to go from frame to frame."""
        data = bytearray()
        entries: list[Entry] = []
        for facts, symbol in zip(self.kernels, self.kernel_symbols, strict=True):
            made, places = self._frame(len(data), facts)
            entries += self._frame_links(frame, symbol, places, len(data))
            data += made
        frame.data = data
        self.out.relocate(frame, entries)

    def _frame(self, offset: int, facts: records.KernelFacts) -> tuple[bytes, tuple[int, int, int]]:
        """The entry of a function, and the places in it that may need relocations."""
        return frame_entry(offset, facts)

    def _frame_links(self, frame: OutSection, symbol: OutSymbol, places: tuple[int, int, int], at: int) -> list[Entry]:
        """The relocations of an entry."""
        return [(places[1], tables.R_CUDA_64, symbol, 0)]

    # -- call graph ----------------------------------------------------------------------------------------------

    def _reserve(self, graph: OutSection) -> None:
        """The texts of prototypes, which are among the names of symbols, and room for the call graph."""
        for name in self.named:
            self._prototype(name)
        for code in self.codes:
            for call in code.kept:
                if call.callee == INDIRECT:
                    self.out.text(call.prototype)
        graph.data = self._graph()

    def _prototype(self, name: str) -> int:
        """The place of a function's prototype; 0: an entry has none."""
        text = self.module.prototypes.get(name, "")
        if text and tables.is_of_driver(name) and self.named[name].section is None:
            text += self.layout.driver_prototype
        return self.out.text(text) if text else 0

    def _graph(self) -> bytes:
        """``.nv.callgraph``: calls, functions whose address is taken, calls through registers, who takes the addresses."""
        taken, takers = self._taken()
        calls: dict[tuple[int, int], None] = {}
        through: list[tuple[int, int]] = []  # one a call
        for code, symbol in zip(self.codes, self.kernel_symbols, strict=True):
            for call in code.kept:
                if call.callee == INDIRECT:
                    through.append((symbol.number, self.out.text(call.prototype)))
                else:
                    calls[symbol.number, self.named[call.external].number] = None
        for name, (other, _) in self.module.aliases.items():
            calls[self.named[name].number, self.named[other].number] = None
        parts = (list(calls), [(self.named[n].number, self._prototype(n)) for n in taken], through, takers)
        return b"".join(
            records.words(0, end) + b"".join(records.words(*pair) for pair in part)
            for end, part in zip(tables.CALLGRAPH_ENDS, parts, strict=True)
        )

    def _taken(self) -> tuple[dict[str, None], list[tuple[int, int]]]:
        """Names of functions whose address is taken; pairs of functions and those whose address they can know."""
        known: list[dict[str, None]] = []
        variables = {at: number for number, at in self.module.address_slots.items() if number >= 0}
        for facts, code in zip(self.kernels, self.codes, strict=True):
            names: dict[str, None] = dict.fromkeys(code.taken)
            for _, link in facts.encoded.links:
                if link.space == BANK:
                    variable = variables.get(link.addend // ADDRESS_BYTES * ADDRESS_BYTES)
                    names.update(dict.fromkeys([] if variable is None else self._reachable(variable, set())))
                elif link.space in (FUNCTION, ENTRY) and link.part != CALL:
                    names[link.function] = None
                elif link.symbol >= 0:
                    names.update(dict.fromkeys(self._reachable(link.symbol, set())))
            known.append(names)
        every = dict.fromkeys(p.function for s in self.module.symbols for p in s.relocations if p.function)
        every.update(dict.fromkeys(n for names in known for n in names))
        pairs = [
            (symbol.number, self.named[n].number) for symbol, names in zip(self.kernel_symbols, known, strict=True) for n in names
        ]
        return every, pairs

    def _reachable(self, number: int, seen: set[int]) -> list[str]:
        """Functions whose addresses are in a variable, or in those that it has the addresses of."""
        seen.add(number)
        found: list[str] = []
        for pointer in self.module.symbols[number].relocations:
            if pointer.function:
                found.append(pointer.function)
            elif pointer.symbol not in seen:
                found += self._reachable(pointer.symbol, seen)
        return found


class DebugWriter(SeparateWriter):
    """Writes a whole program for a debugger: variables have their places, calls are settled when it is loaded."""

    def _kernel(self, function: EncodedFunction, first: bool) -> None:
        code = self.module.function(function.name)
        if code is not None and not code.is_entry:
            self._function_code(function, code)
            if first:
                self._reserved_shared()
                self._data()
        else:
            super()._kernel(function, first)
        assert code is not None  # as Writer says else
        self.codes.append(code)
        self.named[function.name] = self.kernel_symbols[-1]

    def _function_code(self, function: EncodedFunction, code: Function) -> None:
        """The section and the symbol of a function."""
        facts = records.KernelFacts(function, code.attributes, self.target, self.register_default, is_entry=False)
        symbol = self.out.symbol(function.name, FUNCTION_KINDS[code.attributes.binding], None, 0, len(function.words))
        text = symbol.section = self.out.section(tables.TEXT, function.name)
        text.data = function.words
        self.kernels.append(facts)
        self.kernel_symbols.append(symbol)
        self.info_sections.append(self.out.section(tables.KERNEL_INFO, function.name, text))
        self._bank2(function, text)

    def _call_graph(self) -> bytes:
        return self._graph()

    def _finish_code(self) -> None:
        self._aliases()
        self._undefined_functions()
        for facts, section in zip(self.kernels, self.info_sections, strict=True):
            self._text_links(facts, section.owner)

    def _text_links(self, facts: records.KernelFacts, text: OutSection | None) -> None:
        """What is put into a function when it is loaded: addresses of functions are absolute on every target."""
        assert text is not None  # as every function has its section
        entries: list[Entry] = []
        for offset, link in facts.encoded.links:
            kind = self.layout.links.get((link.part, PLACE if link.space == FUNCTION and link.part != CALL else link.space))
            if kind is not None and link.space != POINTER:
                entries.append((offset, kind, self._symbol_of(link), link.addend))
        self.out.relocate(text, entries)

    def _symbol_of(self, link: Link) -> OutSymbol:
        symbol = self._linked(link)
        assert symbol is not None  # but for calls through registers, which need none
        return symbol

    # Variables are those of a whole program.

    def _defined(self, space: str) -> list[Symbol]:
        return Writer._defined(self, space)

    def _variable_type(self, pointer: Relocation) -> int:
        return Writer._variable_type(self, pointer)

    def _kernel_address(self, pointer: Relocation, place: int) -> Entry:
        symbol = self._function(pointer.function)
        if symbol.other == tables.SYM_KERNEL[1]:
            return super()._kernel_address(pointer, place)
        kind = tables.R_CUDA_64 if pointer.byte < 0 else tables.R_CUDA_8[pointer.byte]
        return place, kind, symbol, pointer.addend
