"""Writes a module as a cubin, section by section as ptxas 13.0.88 does for the same SM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from oric.ir.module import EXTERNALS
from oric.support import notes
from oric.support.elf_format import ET_EWP, ET_EXEC, ET_REL

from . import records
from .container import Container, OutSection, OutSymbol
from .dwarf import Address, debug_data
from .images import Images
from .lines import line_tables
from .registers import register_sections
from .resolved import Resolved

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.encoded import EncodedFunction
    from oric.ir.module import Module, Relocation, Symbol

ADDRESS_BYTES: Final = 8
_SHARED_ADDRESS_BYTES: Final = 4
# What variables of shared memory lie behind.
_END: Final[tuple[str, bool]] = next(row for row in tables.RESERVED_NAMES.values() if row[1])
_NOTE_SHIFT: Final = 24


class Writer:
    """Writes a whole program."""

    def __init__(self, module: Module, target: Target, register_default: int) -> None:
        self.module = module
        self.target = target
        self.register_default = register_default
        self.layout = tables.LAYOUTS[target.elf["layout"]]
        kind = ET_REL if module.relocatable else ET_EWP if module.linked else ET_EXEC
        self.out = Container(self.layout, kind)
        self.kernels: list[records.KernelFacts] = []
        self.kernel_symbols: list[OutSymbol] = []
        self.info_sections: list[OutSection] = []
        self.bank0: dict[str, OutSection] = {}
        self.externals: dict[str, OutSymbol] = {}
        self.data_symbols: dict[int, OutSymbol] = {}  # module symbol id -> symbol
        self.images = Images(self)
        self.constant3: OutSection | None = None
        self.constant4: OutSection | None = None
        self.global_init: OutSection | None = None
        self.global_zero: OutSection | None = None
        self.reserved_made: set[str] = set()  # symbols of the system's part of shared memory
        self.constant2: dict[str, OutSection] = {}  # kernel -> its bank 2
        self.shared_sections: dict[str, OutSection] = {}
        self.frame_parts: list[tuple[int, int]] = []  # places of .debug_frame that name others in it, and what they name
        self.dynamic_align = module.dynamic_shared_align

    def image(self, encoded: list[EncodedFunction], options: str) -> bytes:
        """The file; ``encoded``: the kernels, ``options``: see :func:`oric.cubin.write`."""
        out = self.out
        info = self._begin(options)
        for number, function in enumerate(reversed(encoded)):
            self._kernel(function, first=number == 0)
        if not encoded:
            self._reserved_shared()
            self._data()
        self._finish_code()
        frame = out.section(tables.DEBUG_FRAME)
        if encoded:
            out.section_symbol(frame)
        self._lines()
        self._relocations(frame)
        graph = out.section(tables.CALLGRAPH)
        self._reserve(graph)
        if self.layout.rel_action and not self.module.linked:
            out.section(tables.REL_ACTION).data = self.layout.rel_action
        if tables.CONSTANT0 in self.layout.late:
            self._parameters()
        out.number()
        graph.data = self._call_graph()
        self._number_records()
        info.data = self._module_records()
        return self._image()

    def _finish_code(self) -> None:
        """What is made once all code has its section."""

    def _reserve(self, graph: OutSection) -> None:
        """Room for the call graph, where names are entered for it."""

    def _call_graph(self) -> bytes:
        """Calls of functions of the driver, kernels whose address is taken."""
        addressed = sorted(self.kernel_symbol(name).number for name in self.module.addressed)
        called = [(self.kernel_symbols[n].number, s.number) for n, k in enumerate(self.kernels) for s in reversed(k.externs)]
        return records.call_graph(addressed, called)

    def _module_records(self) -> bytes:
        """The section ``.nv.info``."""
        return records.module_records(self.kernels, self.layout, self.images.records(), self.module.independent_textures)

    def _parameters(self) -> None:
        """Bank 0 of each entry."""
        for facts, section in zip(self.kernels, self.info_sections, strict=True):
            if facts.is_entry and not facts.attributes.headers:
                self._bank0(facts, section.owner)

    def _number_records(self) -> None:
        """Records of functions, with the numbers that symbols have now."""
        for facts, symbol, section in zip(self.kernels, self.kernel_symbols, self.info_sections, strict=True):
            facts.symbol = symbol.number
            if facts.is_entry:
                bank0 = self.bank0[facts.encoded.name].symbol
                facts.bank0_symbol = bank0.number if bank0 is not None else 0
            section.data = records.kernel_records(facts, self.layout)
            self._text_info(section.owner, facts)

    def _begin(self, options: str) -> OutSection:
        """What stands first; returns the section of the module's records."""
        out, target = self.out, self.target
        out.section(tables.TKINFO).data = notes.tool_note(options)
        cuinfo = self.cuinfo = out.section(tables.CUINFO)
        cuinfo.data = notes.cuda_note(int(self.module.written_for.removeprefix("sm_").rstrip("af")))
        cuinfo.flags |= self.layout.cuinfo_flags
        info = out.section(tables.INFO)
        if self.layout.compat:
            cuinfo.owner = out.section(tables.COMPAT)
            cuinfo.owner.data = records.compat_records(target, self.module, self.layout)
        return info

    def _image(self) -> bytes:
        """The file."""
        elf = self.target.elf
        version, sm_shift = tables.HEADER_FORMS[elf["osabi"]]
        base = elf["flags_base"] & ~0xFF | tables.OBJECT_FLAGS if self.module.linked else elf["flags_base"]
        flags = base | self.target.number << sm_shift
        if flags >> _NOTE_SHIFT:  # the number of the section with the CUDA note
            flags = flags & (1 << _NOTE_SHIFT) - 1 | self.cuinfo.number << _NOTE_SHIFT
        return self.out.image(elf["osabi"], elf["abiversion"], version, flags)

    # -- kernels ---------------------------------------------------------------------------------------------

    def _kernel(self, function: EncodedFunction, first: bool) -> None:
        code = self.module.function(function.name)
        if code is None:
            raise ValueError(f"the module has no function '{function.name}'")
        kernel = records.KernelFacts(function, code.attributes, self.target, self.register_default)
        kind = KERNEL_KINDS[code.attributes.binding]
        symbol = self.out.symbol(function.name, kind, None, 0, len(function.words))
        text = symbol.section = self.out.section(tables.TEXT, function.name)
        text.data = function.words
        self.images.of_kernel(kernel, text, first)
        self.kernels.append(kernel)
        self.kernel_symbols.append(symbol)
        self.info_sections.append(self.out.section(tables.KERNEL_INFO, function.name, text))
        self._shared(kernel, text)
        if first:
            self._reserved_shared()
            self._data()
        self.images.name_sizes(kernel)
        self._shared_use(kernel, text)
        self._bank2(function, text)
        self._functions(kernel, text)
        kernel.externs = [self._function(name) for name in dict.fromkeys(self._called(function))]
        if tables.CONSTANT0 not in self.layout.late or kernel.attributes.headers:
            self._bank0(kernel, text)

    def _bank2(self, function: EncodedFunction, text: OutSection) -> None:
        """The tables of a function."""
        if function.constant2:
            bank2 = self.constant2[function.name] = self.out.section(tables.CONSTANT2, function.name, text)
            bank2.data = function.constant2
            if self.layout.empty_relocations and function.indirect_branches:
                self.out.relocate(bank2, [], empty=True)

    def scoped_name(self, number: int) -> str:
        """The name of a variable, which tells those of functions apart."""
        entry = self.module.symbols[number]
        return entry.name if self.module.symbol_ids.get(entry.name) == number else f"$__{entry.name}__{number}"

    def _called(self, function: EncodedFunction) -> list[str]:
        """Names of the functions that are not here and that a kernel calls, in the order of the calls."""
        return [name for _, name in function.syscalls]

    def _function(self, name: str) -> OutSymbol:
        """The symbol of a function that is not here."""
        if name not in self.externals:
            self.externals[name] = self.out.symbol(name, tables.SYM_EXTERNAL_FUNCTION, None)
        return self.externals[name]

    def _functions(self, kernel: records.KernelFacts, text: OutSection) -> None:
        """Symbols of the functions behind a kernel; the last one has the padding, too."""
        found = kernel.encoded.functions
        for n, (name, offset, size) in enumerate(found):
            whole = len(kernel.encoded.words) - offset if n + 1 == len(found) else size
            weak = n >= len(found) - kernel.encoded.shared and not self.module.linked  # a linker would take one for all
            kind = tables.SYM_WEAK_FUNCTION if weak else tables.SYM_FUNCTION
            kernel.functions.append(self.out.symbol(name, kind, text, offset, whole))

    def _shared(self, kernel: records.KernelFacts, text: OutSection) -> None:
        attributes = kernel.attributes
        if not attributes.static_shared and not self.dynamic_align:
            return
        align = max(attributes.shared_align, self.dynamic_align, 1)
        section = self.shared_sections[kernel.encoded.name] = self.out.section(tables.SHARED, kernel.encoded.name, text, align)
        section.size = self._shared_bytes(attributes.static_shared)
        if self.dynamic_align:  # dynamic arrays begin behind it
            section.size = self._shared_bytes(-(-attributes.static_shared // align) * align)
        if attributes.static_shared:
            self.out.section_symbol(section)

    def _shared_bytes(self, size: int) -> int:
        """Bytes of the section of a kernel with so many bytes of shared variables."""
        return int(self.target.shared_base) + size

    def _shared_use(self, kernel: records.KernelFacts, text: OutSection) -> None:
        """What remains in the file of code that names shared addresses."""
        attributes = kernel.attributes
        uses = bool(attributes.static_shared or attributes.uses_dynamic_shared)
        named = [tables.RESERVED_NAMES[name] for name in attributes.reserved_read if tables.RESERVED_NAMES[name][0]]
        if not uses and not named:
            return
        if self.layout.reserved_shared:
            for name, base in [*named, *([_END] if uses else [])]:
                self._reserved_symbol(name, self.target.shared_base if base else 0)
        if self.layout.empty_relocations and not self.module.linked:  # else there may be some, which come later
            self.out.relocate(text, [], empty=True)

    def _reserved_symbol(self, name: str, value: int) -> None:
        """A symbol of the system's part of shared memory that code refers to, once in the file."""
        if name in self.reserved_made:
            return
        self.reserved_made.add(name)
        if self.layout.shared_end:
            self.out.symbol(name, tables.SYM_RESERVED_OBJECT, None, value, _SHARED_ADDRESS_BYTES)
        else:
            self.out.symbol("", tables.SYM_NAMELESS, None)

    def _reserved_variables(self) -> tuple[tuple[str, int, int], ...]:
        """What the system keeps in shared memory: (name, place, bytes)."""
        variables = self.layout.reserved_variables
        if not self.module.takes_columns:
            return variables
        name, size = tables.TENSOR_PARTITION
        return (*variables, (name, int(self.target.tensor_system), size))

    def _reserved_shared(self) -> None:
        if not self.layout.reserved_shared:
            return
        start, variables = self.layout.reserved_start, self._reserved_variables()
        section = self.out.section(tables.SHARED_RESERVED, align=self.layout.reserved_align)
        section.size = max([self.layout.reserved_size, *(place + size for _, place, size in variables)])
        for name, kind, size, defined in tables.RESERVED_SHARED_SYMBOLS:
            if defined and variables:
                self.out.section_symbol(section)
            self.reserved_made.add(name)
            if not self.layout.shared_end and self._is_read(name):
                self.out.symbol("", tables.SYM_NAMELESS, None)
            else:
                self.out.symbol(name, kind, section if defined else None, start, size)
        for name, place, size in variables:
            self.out.symbol(name, tables.SYM_RESERVED_OBJECT, section, place, size)

    def _is_read(self, symbol: str) -> bool:
        """Whether an entry reads the special register that a symbol stands for."""
        read = {name for code in self.module.functions if code.is_entry for name in code.attributes.reserved_read}
        return any(tables.RESERVED_NAMES[name][0] == symbol for name in read)

    def _bank0(self, kernel: records.KernelFacts, text: OutSection | None) -> None:
        section = self.out.section(tables.CONSTANT0, kernel.encoded.name, text)
        attributes = kernel.attributes
        section.data = bytes(attributes.bank0_end(self.target))
        section.early = bool(attributes.headers)
        self.bank0[kernel.encoded.name] = section

    def _text_info(self, text: OutSection | None, kernel: records.KernelFacts) -> None:
        if text is not None:
            high = kernel.encoded.num_regs << 24 if self.layout.section_info_has_registers else 0
            text.info = high | kernel.symbol

    # -- data of the module ----------------------------------------------------------------------------------

    def _data(self) -> None:
        """Sections and symbols of module variables: those seen outside first, then the local ones."""
        self.module.place_constants()
        order = sorted(range(len(self.module.symbols)), key=lambda n: self.module.symbols[n].binding == "local")
        for number in order:
            if self.module.symbols[number].space == "global":
                self.module.address_slot(number)  # those that no code has asked for come last
            for pointer in self.module.symbols[number].relocations:
                if pointer.function:
                    self.module.kernel_slot(pointer.function)
        self._place_globals()
        for number in order:
            entry = self.module.symbols[number]
            if entry.space == "const":
                section = self._constants()
            elif entry.space == "global":
                section = self._globals(entry)
            else:
                self.images.of_module(number)
                continue
            kind = _OBJECT_KINDS.get(entry.binding, tables.SYM_GLOBAL_OBJECT)
            info, other = kind
            if entry.managed:
                other |= tables.MANAGED_OTHER
            self.data_symbols[number] = self.out.symbol(entry.name, (info, other), section, entry.offset, entry.size)
            if entry.space == "global" or all(n < 0 for n in self.module.address_slots):
                self._addresses()
        self._addresses()

    def _addresses(self) -> None:
        """The section of addresses, where there are some and it is not there yet."""
        if self.module.address_slots and self.constant4 is None:
            self.constant4 = self.out.section(tables.CONSTANT4)
            self.constant4.data = bytes(ADDRESS_BYTES * len(self.module.address_slots))

    def _defined(self, space: str) -> list[Symbol]:
        """The variables of a state space that have their place in the file."""
        return [s for s in self.module.symbols if s.space == space]

    def _place_globals(self) -> None:
        """Give every global its offset: by falling alignment, then by rising size."""
        ends = {True: 0, False: 0}
        for entry in sorted(self._defined("global"), key=lambda s: (-s.align, s.size)):
            initialised = is_initialised(entry)
            entry.offset = -(-ends[initialised] // entry.align) * entry.align
            ends[initialised] = entry.offset + entry.size

    def _constants(self) -> OutSection:
        if self.constant3 is None:
            entries = self._defined("const")
            section = self.constant3 = self.out.section(tables.CONSTANT3, align=max(s.align for s in entries))
            section.data = contents(entries, self.module.constant_size)
        return self.constant3

    def _globals(self, entry: Symbol) -> OutSection:
        initialised = is_initialised(entry)
        made = self.global_init if initialised else self.global_zero
        if made is None:
            entries = [s for s in self._defined("global") if is_initialised(s) == initialised]
            kind = tables.GLOBAL_INIT if initialised else tables.GLOBAL
            made = self.out.section(kind, align=max(s.align for s in entries))
            made.size = max(s.offset + s.size for s in entries)
            if initialised:
                made.data = contents(entries, made.size)
                self.global_init = made
            else:
                self.global_zero = made
        return made

    def _lines(self) -> None:
        """Line tables, where there is something to tell."""
        if self.module.line_info is None:
            return
        made = line_tables(self.module.line_info, [kernel.encoded for kernel in self.kernels])
        for kind, data, places in made:
            section = self.out.section(kind, self._text_mark() if kind == tables.DEBUG_PTX_TXT else "")
            section.data = data
            entries = [(at, tables.R_CUDA_64, self.kernel_symbols[number], 0) for at, number in places]
            self.out.relocate(section, entries, rising=True)
        if self.module.for_debugger:
            names, types = register_sections([kernel.encoded for kernel in self.kernels])
            self.out.section(tables.DEBUG_REGISTERS).data = names
            self.out.section(tables.DEBUG_TYPES).data = types
        if self.module.line_info.debug:
            self._debug_data()

    def _debug_data(self) -> None:
        """Sections of debug data of the PTX."""
        found = debug_data(self.module, self.kernels, self.target)
        made = [self.out.section(tables.DEBUG_DATA, name) for name, _, _ in found]
        for section, (_, data, patches) in zip(made, found, strict=True):
            section.data = data
            for implicit in (False, True):
                wanted = [p for p in patches if (p.implicit and self.layout.implicit_addends) == implicit]
                entries = [(p.at, p.type, self._address_symbol(p.address, made), p.address.value) for p in wanted]
                if entries:
                    self.out.relocate_as(section, tables.REL if implicit else tables.RELA, entries)

    def _address_symbol(self, address: Address, debug: list[OutSection]) -> OutSymbol:
        if address.section != "":
            named = (s for s in self.out.sections if s.name == address.section)
            symbol = (debug[address.section] if isinstance(address.section, int) else next(named)).symbol
            assert symbol is not None  # all sections of debug data have one
            return symbol
        return self.kernel_symbols[address.kernel] if address.kernel >= 0 else self.data_symbols[address.variable]

    def _text_mark(self) -> str:
        """What the name of the section with the PTX has behind it: nothing."""
        return ""

    def _relocations(self, frame: OutSection) -> None:
        self.images.relocate(self.kernels[:1])
        if self.constant4 is not None:
            slots: list[tuple[int, int, OutSymbol, int]] = []
            for n, at in self.module.address_slots.items():
                if n < -EXTERNALS:
                    slots.append((at, tables.R_CUDA_64, self._function(self.module.externals[-1 - n - EXTERNALS]), 0))
                elif n < 0:
                    slots.append((at, tables.R_CUDA_FUNC_DESC_64, self.kernel_symbol(self.module.addressed[-1 - n]), 0))
                else:
                    slots.append((at, tables.R_CUDA_64, self.data_symbols[n], 0))
            self.out.relocate(self.constant4, slots)
        if self.global_init is not None:
            self.out.relocate(self.global_init, self._pointers(self.global_init, "global"))
        if self.constant3 is not None:
            self.out.relocate(self.constant3, self._pointers(self.constant3, "const"))
        self._frames(frame)
        self.images.relocate(self.kernels[1:])

    def _frames(self, frame: OutSection) -> None:
        """Call frames of kernels and of the functions behind them."""
        entries = []
        data = bytearray()
        for kernel, symbol in zip(self.kernels, self.kernel_symbols, strict=True):
            unit, place = records.frame_entry(len(data), kernel)
            self.frame_parts.append((place - ADDRESS_BYTES, len(data)))
            data += unit
            entries.append((place, tables.R_CUDA_64, symbol, 0))
            for function in kernel.functions:
                unit, code, place = records.function_frame_entry(len(data), function.size)
                self.frame_parts.append((place - ADDRESS_BYTES, len(data)))
                data += unit
                addend = function.value
                if self.layout.implicit_addends:  # in the place itself
                    data[place : place + ADDRESS_BYTES] = addend.to_bytes(ADDRESS_BYTES, "little")
                    addend = 0
                entries += [(code, tables.R_CUDA_64, symbol, 0), (place, tables.R_CUDA_64, symbol, addend)]
        frame.data = data
        self.out.relocate(frame, entries)
        if self.module.preserved:
            Resolved(self, self.shared_sections).write(frame)

    def _kernel_address(self, pointer: Relocation, place: int) -> tuple[int, int, OutSymbol, int]:
        """The relocation of the address of a kernel in an initialiser.

        Raises:
            ValueError: the kernel is not among those that are written.
        """
        kind = tables.R_CUDA_FUNC_DESC_64 if pointer.byte < 0 else tables.R_CUDA_FUNC_DESC_8[pointer.byte]
        return place, kind, self.kernel_symbol(pointer.function), pointer.addend

    def kernel_symbol(self, name: str) -> OutSymbol:
        """The symbol of a kernel."""
        names = [kernel.encoded.name for kernel in self.kernels]
        if name not in names:
            raise ValueError(f"Undefined reference to '{name}'")
        return self.kernel_symbols[names.index(name)]

    def _pointers(self, section: OutSection, space: str) -> list[tuple[int, int, OutSymbol, int]]:
        """Relocations of the pointers in initialisers; a constant's own address is its bank offset, known here."""
        out: list[tuple[int, int, OutSymbol, int]] = []
        data = bytearray(section.data)
        for entry in self.module.symbols:
            if entry.space != space:
                continue
            for pointer in entry.relocations:
                place = entry.offset + pointer.offset
                if pointer.function:
                    out.append(self._kernel_address(pointer, place))
                    continue
                pointee = self.module.symbols[pointer.symbol]
                if pointee.space == "const" and not pointer.generic and not self.module.is_elsewhere(pointer.symbol):
                    value = ((pointee.offset + pointer.addend) % (1 << 64)).to_bytes(ADDRESS_BYTES, "little")
                    part = value[: pointer.size] if pointer.byte < 0 else value[pointer.byte : pointer.byte + 1]
                    data[place : place + len(part)] = part
                else:
                    out.append((place, self._variable_type(pointer), self.data_symbols[pointer.symbol], pointer.addend))
        section.data = data
        return out

    def _variable_type(self, pointer: Relocation) -> int:
        """The type of the relocation of a variable's address in an initialiser."""
        return tables.R_CUDA_G64 if pointer.byte < 0 else tables.R_CUDA_G8[pointer.byte]


KERNEL_KINDS: Final = {"global": tables.SYM_KERNEL, "weak": tables.SYM_WEAK_KERNEL, "local": tables.SYM_LOCAL_KERNEL}
_OBJECT_KINDS: Final = {"local": tables.SYM_OBJECT, "weak": tables.SYM_WEAK_OBJECT}


def is_initialised(entry: Symbol) -> bool:
    """Whether a variable has bytes in the file."""
    return bool(entry.init or entry.relocations)


def contents(entries: list[Symbol], size: int) -> bytearray:
    """The bytes of placed variables."""
    data = bytearray(size)
    for entry in entries:
        data[entry.offset : entry.offset + len(entry.init)] = entry.init
    return data
