"""A PTX module under compilation: symbols, constant banks, functions.

Source: Data Structures, "Function Object Table", "Constant Buffer Layout". The one-based and inclusive loops that
the document shows are half-open here, from 0.
"""

from __future__ import annotations

from typing import Final

from oric_tables.cubin_layout import DYNAMIC_SHARED_ALIGN
from oric_tables.named import NamedTuple

from oric.support.record import Record

from .attributes import FunctionAttributes, JumpTable, Param
from .function import Function
from .lineinfo import LineInfo
from .links import Link

__all__ = [
    "BANK_ADDRESS",
    "BANK_COMPILER",
    "BANK_KERNEL",
    "BANK_USER",
    "Function",
    "FunctionAttributes",
    "JumpTable",
    "Module",
    "Param",
    "Relocation",
    "Symbol",
]

# Constant banks: what lies in each.
BANK_KERNEL: Final = 0  # driver area and parameters
BANK_COMPILER: Final = 2  # per function: jump tables, wide immediates
BANK_USER: Final = 3  # __constant__ data of the module
EXTERNALS: Final = 1 << 32  # more than there are kernels
BANK_ADDRESS: Final = 4  # 8-byte addresses of globals, filled by relocation


class Relocation(NamedTuple):
    """An address of ``symbol`` plus ``addend`` at byte ``offset`` of an initialiser, or the byte of it that ``byte`` names.

    ``size``: bytes of the element that holds it. ``function``: the kernel that is meant in place of a symbol.
    """

    offset: int
    symbol: int  # id in Module.symbols; -1 with a function
    addend: int = 0
    generic: bool = False  # a generic address rather than one of the symbol's own space
    size: int = 8
    byte: int = -1  # of the address, the lowest is 0; -1: all
    function: str = ""


class Symbol(Record):
    """A variable of the module.

    ``space`` is the PTX state space: global, const, shared, local; the type of what the driver keeps (texref, samplerref,
    surfref); or end, see :meth:`Module.constants_end`.
    ``init`` is empty for zero or no initialiser and may be shorter than ``size``. ``binding`` is local, global
    (``.visible``), weak, common or extern. ``offset`` is the byte offset in the symbol's section once placed, -1 before.
    """

    __slots__ = ("align", "binding", "fields", "init", "managed", "name", "offset", "relocations", "size", "space")

    def __init__(
        self,
        name: str,
        space: str,
        size: int,
        align: int,
        init: bytes = b"",
        relocations: list[Relocation] | None = None,
        binding: str = "local",
        offset: int = -1,
        managed: bool = False,
    ) -> None:
        self.name = name
        self.space = space
        self.size = size
        self.align = align
        self.init = init
        self.relocations = relocations if relocations is not None else []
        self.binding = binding
        self.offset = offset
        self.managed = managed
        self.fields: dict[str, str | int] = {}  # of a texture, sampler or surface: what its declaration says of it

    @property
    def is_dynamic_shared(self) -> bool:
        """True for ``extern .shared`` arrays, whose size is given at launch."""
        return self.space == "shared" and self.binding == "extern" and not self.size


class Module:
    """Everything that one PTX file declares.

    ``functions`` are Code Objects by function id, ``function_names`` runs parallel. Symbols are named by their
    index in ``symbols``; names of function scope are not entered into ``symbol_ids``.
    """

    def __init__(self, target: str, ptx_version: tuple[int, int] = (0, 0), filename: str = "") -> None:
        self.target = target
        self.written_for = target  # the target that the PTX names, which may be an older one
        self.ptx_version = ptx_version
        self.filename = filename
        self.address_size = 64
        self.debug = False
        self.independent_textures = False  # samplers stand beside textures
        self.line_info: LineInfo | None = None  # where there is some, or somebody wants it
        self.symbols: list[Symbol] = []
        self.symbol_ids: dict[str, int] = {}
        self.functions: list[Function] = []
        self.function_names: list[str] = []
        self.function_ids: dict[str, int] = {}
        self.constant_size = 0  # bytes used in bank 3
        self._constants_end = -1
        self.address_slots: dict[int, int] = {}  # symbol id -> byte offset in bank 4, in order of offset
        self.externals: list[str] = []  # functions elsewhere, of the driver for one; number n has the id -1 - n - EXTERNALS there
        self.addressed: list[str] = []  # kernels whose address is taken; number n has the id -1 - n there
        self.relocatable = False  # an object to link: addresses and calls are left to the linker
        self.linked = False  # that, or an extensible whole program: addresses of globals and what is elsewhere are
        self.own_bank = True  # kernels may have constants of the compiler's, and jump tables, in bank 2
        self.independent = False  # an object whose code takes addresses from bank 4
        self.pointer_base = ""  # there: what addresses of functions count from, "" for none
        self.preserved = False  # a whole program that tells what a linker would have had to settle
        self.told_banks: tuple[int, ...] = ()  # constant banks: places in the code that name them are told
        self.for_debugger = False  # functions of the source are functions here, with frames that a debugger can unwind
        self.takes_columns = False  # code takes columns of tensor memory, or gives them back
        self.isa_class = 1  # of .nv.compat: 2 where code needs more than any loader knows
        # What code does with tensor maps of the first layout: 1, it hands them to operations, 2, it changes them.
        self.tensor_maps = 0
        self.tensor_products = 0  # of .nv.compat: what products of tensor memory need, where that is more than is always told
        self.links: list[Link] = []  # what code names of that, by the numbers of LINKED
        self._link_numbers: dict[Link, int] = {}
        self.aliases: dict[str, tuple[str, str]] = {}  # of an object: another name of a function -> that, and its binding
        self.prototypes: dict[str, str] = {}  # of the functions of an object, as the container writes them

    @property
    def separate(self) -> bool:
        """Whether functions are code of their own, whose addresses are settled when all is linked or loaded."""
        return self.relocatable or self.for_debugger

    def add_symbol(self, symbol: Symbol, scoped: bool = False) -> int:
        """Enter a variable; returns its id. ``scoped`` ones are not found by name."""
        number = len(self.symbols)
        self.symbols.append(symbol)
        if not scoped:
            self.symbol_ids[symbol.name] = number
        return number

    @property
    def dynamic_shared_align(self) -> int:
        """Alignment of the one place at which all dynamic shared arrays begin, 0 when there is none."""
        align = 0
        for symbol in self.symbols:
            if symbol.is_dynamic_shared:
                align = max(align, symbol.align, DYNAMIC_SHARED_ALIGN)
        return align

    def add_function(self, code: Function) -> int:
        """Enter a function; returns its id.

        Raises:
            ValueError: a function of that name exists.
        """
        if code.name in self.function_ids:
            raise ValueError(f"function '{code.name}' is defined twice")
        number = len(self.functions)
        self.functions.append(code)
        self.function_names.append(code.name)
        self.function_ids[code.name] = number
        return number

    def function(self, name: str) -> Function | None:
        """The function of that name, None when there is none."""
        number = self.function_ids.get(name)
        return None if number is None else self.functions[number]

    def address_slot(self, symbol: int) -> int:
        """Byte offset in bank 4 of the 8-byte address of a symbol; made on first use."""
        return self.address_slots.setdefault(symbol, 8 * len(self.address_slots))

    def kernel_slot(self, name: str) -> int:
        """The same of the address of a kernel, which need not be there yet."""
        if name not in self.addressed:
            self.addressed.append(name)
        return self.address_slot(-1 - self.addressed.index(name))

    def external_slot(self, name: str) -> int:
        """The same of the address of a function of the driver."""
        if name not in self.externals:
            self.externals.append(name)
        return self.address_slot(-1 - self.externals.index(name) - EXTERNALS)

    def link(self, link: Link) -> int:
        """The number of a link; made on first use."""
        number = self._link_numbers.setdefault(link, len(self.links))
        if number == len(self.links):
            self.links.append(link)
        return number

    def constant_offset(self, symbol: int) -> int:
        """Byte offset in bank 3 of a constant variable; placed on first use.

        Variables that no code uses are placed by :meth:`place_constants`, so that none is lost.
        """
        entry = self.symbols[symbol]
        if entry.offset < 0:
            entry.offset = -(-self.constant_size // entry.align) * entry.align
            self.constant_size = entry.offset + entry.size
        return entry.offset

    def constants_end(self) -> int:
        """Id of a symbol whose offset is the size of bank 3, known when :meth:`place_constants` has been called."""
        if self._constants_end < 0:
            self._constants_end = self.add_symbol(Symbol("the end of constants", "end", 0, 1), scoped=True)
        return self._constants_end

    def place_constants(self) -> None:
        """Place every constant variable of the module in declaration order (those already placed stay)."""
        for number, entry in enumerate(self.symbols):
            if entry.space == "const" and not self.is_elsewhere(number):
                self.constant_offset(number)
        if self._constants_end >= 0:
            self.symbols[self._constants_end].offset = self.constant_size

    def is_elsewhere(self, symbol: int) -> bool:
        """Whether a linker has to find a variable in another file."""
        return self.linked and self.symbols[symbol].binding == "extern"

    def __repr__(self) -> str:
        return f"Module({self.target}, {len(self.symbols)} symbols, {len(self.functions)} functions)"
