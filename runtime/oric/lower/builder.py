"""The Builder that the PTX parser drives: it makes Ori instructions, blocks and edges of what it is told.

It implements the protocol of ``oric.ptx.builder`` by shape, without importing it. Every function becomes a
:class:`oric.ir.function.Function` of its own; calls stay whole for the inliner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from mypy_extensions import i64
from oric_tables import ptx_index as ix
from oric_tables import storage
from oric_tables.cubin_layout import OBJECT_PARAMETERS, POINTEE_SPACES, PROTOTYPE_TYPES

from oric.ir import mbarriers
from oric.ir import operand as opd
from oric.ir.attributes import NO_PLACE, POINTEE_NONE, TENSOR_COLUMNS, FunctionAttributes, Param
from oric.ir.calls import Formal, ParamVariable, Shape
from oric.ir.function import BLOCK_NOUNROLL, NONE, Function
from oric.ir.images import names_header
from oric.ir.lineinfo import LineInfo, PtxRegister, SourceFile
from oric.ir.module import Module, Relocation, Symbol
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .addressed import settle_parameters
from .arguments import give_results, is_vector, take_parameters
from .control import prototype
from .events import Events
from .expansions import FUNCTIONS
from .intrinsics import is_intrinsic
from .layout import lay_out, lay_out_together
from .memory import Memory
from .ocg import lower_intrinsics, unexpected_name
from .program import Program
from .symbols import Place

# Type of a PTX register -> number of 32-bit registers, 0 for predicates.
_TYPE_SIZES: Final = {
    name: ix.SIZE_REGISTERS.get(ix.SIZES[name], 0) for name, (_, _, is_register, *_) in ix.TYPES.items() if is_register
}
_ADDRESS_BYTES: Final = 8
_MAX_BYTES: Final = {"local": 1 << 31}  # of one variable, where fields of the cubin have 32 bits ...
_MAX_SIZE: Final = 1 << 48  # ... and elsewhere
_MAX_ALIGNMENT: Final = 1 << 20  # the file is padded to it
_MAX_STORED: Final = 1 << 30  # of one variable with initial values, which are in the file
_MAX_PARAMETER: Final = 1 << 16  # bytes of a parameter of a function, whose words are registers
_UNIFIED: Final = "unified"  # attribute of what other modules must be linked with
_PRESERVED: Final = ("abi_preserve", "abi_preserve_control")  # directives that say how many registers a function keeps
_INTEGER_TYPES: Final = "su"  # first letters
_NOUNROLL: Final = "nounroll"  # the pragma that keeps loops
_BINDINGS: Final = {"": "local", "visible": "global"}  # of symbols, by PTX linkage; weak, extern, common stand for themselves


@final
class OriBuilder(Memory):
    """Builds a :class:`oric.ir.module.Module`, which is in ``ir`` when parsing has ended without errors.

    ``source`` (:class:`oric.support.diagnostics.Source`) gives the instructions their lines.
    """

    def __init__(
        self, target: Any, source: Any = None, filename: str = "", events: Any = None, watch_double: bool = False
    ) -> None:
        Memory.__init__(self, target, source, Module(target.name, filename=filename))
        self.events: Any = events if events is not None else Events()
        self.watch_double = watch_double
        self.proof: Callable[[Function, str], None] | None = (
            None  # looks at code whose calls of intrinsics are lowered, step by step
        )
        self.bodies: dict[int, Function] = {}  # functions that are no entries, by symbol handle
        self.broken: dict[int, NotSupported] = {}  # those of them that cannot be compiled: what is missing, where
        self.entries: list[tuple[Function, list[int]]] = []  # with the shared variables declared inside
        self.own_shared: list[int] = []
        self.symbol = -1  # handle of the function at hand
        self.in_body = False
        self.nounroll = False  # by a pragma of the module
        self.module_registers: list[tuple[int, int]] = []  # handles of registers declared outside of bodies
        self.declared: list[tuple[int, int, str, str]] = []  # registers: the first handle, how many, their name and type
        self.sources = LineInfo()
        self.lines_wanted: bool | None = None  # whether there are line tables; None: where there is a .loc
        self.label_names: dict[int, str] = {}  # of the body, for debug data
        self.loc_line: int = 0  # line of the PTX that has the last .loc of the body, ...
        self.loc_mark: int = 0  # ... what origins of instructions behind it in that line have (oric.ir.lineinfo)

    def demand_lines(self, wanted: bool | None, debug: bool) -> None:
        """Say whether there are line tables (None: where the PTX has ``.loc``), and whether debug data is kept."""
        self.lines_wanted = wanted
        self.sources.debug = debug

    # -- module level ------------------------------------------------------------------------------------

    def module(self, header: Any) -> None:
        """The header of the module."""
        self.ir.ptx_version = header.version
        self.ir.written_for = header.target
        self.ir.address_size = header.address_size
        self.ir.debug = "debug" in header.options
        self.ir.independent_textures = "texmode_independent" in header.options
        if header.address_size != 64:
            raise NotSupported(".address_size 32")

    def variable(self, variable: Any) -> int:
        """A variable; returns its handle."""
        handle = len(self.symbols)
        self.symbols.append(None)
        place = self._declare(variable)
        self.symbols[handle] = place
        if variable.in_function and variable.space == "shared" and self.code.is_entry:
            self.own_shared.append(place.ir_id)
        return handle

    def define_variable(self, symbol: int, variable: Any) -> None:
        """The definition of a variable that was declared external before: it takes the place of that one."""
        known = self.place_of(symbol)
        place = Place(variable.name, variable.space, variable.size, variable.align, known.ir_id)
        if place.way != known.way:  # code may have been made for the other
            raise NotSupported(f"definition of {variable.name} behind its external declaration")
        made, old = self._made(variable), self.ir.symbols[known.ir_id]
        if old.offset >= 0 and (old.size, old.align) != (made.size, made.align):  # it has its place already
            raise NotSupported(f"definition of {variable.name} behind its external declaration")
        made.offset = old.offset
        self.ir.symbols[known.ir_id] = made
        self.symbols[symbol] = place

    def _declare(self, variable: Any) -> Place:
        """The place of a declared variable."""
        space = variable.space
        external = variable.linkage == "extern" and (not variable.size or variable.space != "shared")
        way = storage.CLASSES.get((space, external), (0, 0, 0))[2]
        if way == storage.REGISTERS:
            return self._parameter(variable)
        if not way:
            raise NotSupported(f".{space} variable")
        if variable.type in storage.OBJECTS:
            return self._object(variable)
        return Place(variable.name, space, variable.size, variable.align, self._ir_symbol(variable), external=external)

    def _object(self, variable: Any) -> Place:
        """A texture, sampler or surface, which the driver keeps: of the module, or a parameter of a kernel."""
        if self.ir.linked or self.ir.for_debugger:
            where = "code for a debugger" if self.ir.for_debugger else "an object to link"
            raise NotSupported(f".{variable.type} {variable.name} in {where}", variable.loc)
        binding = "param" if variable.in_function else variable.linkage
        symbol = Symbol(variable.name, variable.type, 0, 1, binding=_BINDINGS.get(binding, binding))
        symbol.fields = {key: value for row in variable.fields[:1] for key, value in row}
        return Place(variable.name, variable.type, 0, 1, self.ir.add_symbol(symbol, scoped=variable.in_function))

    @staticmethod
    def _parameter(variable: Any) -> Place:
        """A ``.param`` variable of a call or a function: a register for each of its words."""
        if variable.size > _MAX_PARAMETER:
            raise NotSupported(f"{variable.name} of {variable.size} bytes", variable.loc)
        return Place(variable.name, "param", variable.size, variable.align)

    def _ir_symbol(self, variable: Any) -> int:
        """Enter a variable into the module; returns its id there."""
        if variable.linkage and not variable.in_function:
            self.events.variable(variable)
        return self.ir.add_symbol(self._made(variable), scoped=variable.in_function)

    def _made(self, variable: Any) -> Symbol:
        """A variable as the module has it."""
        most = _MAX_SIZE if variable.init is None else _MAX_STORED
        if variable.size > min(most, _MAX_BYTES.get(variable.space, most)):
            raise NotSupported(f"{variable.name} of {variable.size} bytes", variable.loc)
        if variable.align > _MAX_ALIGNMENT:
            raise NotSupported(f".align {variable.align}", variable.loc)
        if _UNIFIED in variable.attributes:
            raise NotSupported(f".{_UNIFIED}", variable.loc)
        relocations = [self._pointer(item, variable) for item in variable.relocs if not self._is_function(item)]
        binding = _BINDINGS.get(variable.linkage, variable.linkage)
        if binding == "extern" and variable.space == "shared" and variable.size and not self.ir.relocatable:
            binding = "global"  # it is not elsewhere when nothing is linked
        symbol = Symbol(
            variable.name, variable.space, variable.size, variable.align, self._initial(variable), relocations, binding
        )
        symbol.managed = "managed" in variable.attributes
        return symbol

    def _is_function(self, item: Any) -> bool:
        """Whether an address in an initialiser is that of a function: a constant (:meth:`Memory.function_address`)."""
        function = self.functions.get(item.symbol)
        return function is not None and not function.is_entry and not self.ir.separate

    def _initial(self, variable: Any) -> bytes:
        """The initial bytes of a variable, with the addresses of functions."""
        data = bytearray(variable.init or b"")
        for item in variable.relocs:
            if self._is_function(item):
                size = 1 if item.mask else item.size
                shift = (item.mask & -item.mask).bit_length() // 8 * 8 if item.mask else 0
                value = (self.function_address(item.symbol) + item.addend) >> shift & (1 << 8 * size) - 1
                data[item.offset : item.offset + size] = value.to_bytes(size, "little")
        return bytes(data)

    def _pointer(self, item: Any, variable: Any) -> Relocation:
        """An address in an initialiser, or a byte of one."""
        byte = (item.mask & -item.mask).bit_length() // 8 if item.mask else -1
        function = self.functions.get(item.symbol)
        if function is not None and (item.mask or item.size == _ADDRESS_BYTES):
            if not function.is_entry:
                self.function_address(item.symbol)
            return Relocation(item.offset, -1, item.addend, item.generic, item.size, byte, function.name)
        place = self.place_of(item.symbol)
        if place.ir_id < 0:
            raise NotSupported(f"the address of {place.space} {place.name} in an initialiser", variable.loc)
        if place.way != storage.CONSTANTS or item.generic:
            if item.size < _ADDRESS_BYTES and not item.mask:
                raise NotSupported(f"an address of {8 * item.size} bits of {place.space} variable {place.name}", variable.loc)
        return Relocation(item.offset, place.ir_id, item.addend, item.generic, item.size, byte)

    def function(self, function: Any) -> int:
        """First sight of a function; returns its handle."""
        if _UNIFIED in function.attributes:
            raise NotSupported(f".{_UNIFIED}", function.loc)
        self._check_convention(function)
        handle = len(self.symbols)
        self.symbols.append(Place(function.name, "entry" if function.is_entry else "function", 0, 1))
        self.functions[handle] = function
        return handle

    def _check_convention(self, function: Any) -> None:
        """In an object, functions and prototypes that keep other registers than the rest are not supported, and no values are
        passed that lie in less than a register.
        """
        called = self.ir.relocatable and not function.is_entry
        for variable in (*function.returns, *function.params):
            if called and not is_vector(variable) and variable.type not in PROTOTYPE_TYPES:
                raise NotSupported(f"a parameter or result of type .{variable.type} in an object to link", variable.loc)
        for name in _PRESERVED:
            if self.ir.relocatable and name in function.directives:
                raise NotSupported(f".{name} in an object to link", function.loc)

    # -- bodies ------------------------------------------------------------------------------------------

    def begin_body(self, symbol: int, function: Any) -> list[int]:
        """The body of a function begins; returns the handles of its results and parameters.

        Raises:
            Refused: its name is that of an intrinsic.
        """
        if is_intrinsic(function.name) and not function.is_entry:
            raise unexpected_name(function.name, function.loc)
        self.events.begin_body(function)
        f = Function(function.name, self.ir.target, function.is_entry)
        if function.is_entry:
            f.attributes = _facts(function, self.target)
        f.attributes.nounroll = self.nounroll or any(_NOUNROLL in text for text in function.pragmas)
        self.begin_function(f)
        self.sources.body(function.name, self.lines.of(function.body_at), function.is_entry or self.ir.separate)
        self.loc_line = 0
        self.symbol = symbol
        self.in_body = True
        self.carry = 0
        self.zeroed = []
        self.cleared = {}
        self.own_shared = []
        known = {first for first, _ in self.module_registers}
        self.declared = [row for row in self.declared if row[0] in known]
        self.tables_of_labels = []
        self.vector_results = []
        self.intrinsics = {}
        for first, end in self.module_registers:
            for handle in range(first, end):
                self.registers_[handle] = 0
        if not function.is_entry:
            return self._formals(f, function)
        handles: list[int] = []
        for n, (param, variable) in enumerate(zip(f.attributes.params, function.params, strict=True)):
            handles.append(len(self.symbols))
            if variable.type in storage.OBJECTS:
                place = self._object(variable)
                f.attributes.params[n] = param._replace(symbol=place.ir_id)
                self.symbols.append(place)
                continue
            offset = f.attributes.param_base(self.target) + param.offset
            self.symbols.append(Place(variable.name, "kernel", variable.size, variable.align, -1, offset))
        return handles

    def _formals(self, f: Function, function: Any) -> list[int]:
        handles: list[int] = []
        vectors: list[ParamVariable | None] = []
        for variable in (*function.returns, *function.params):
            is_result = len(handles) < len(function.returns)
            vectors.append(None)
            if is_vector(variable):
                handle = self.registers(variable.type, variable.vector, variable.name)
                made = ParamVariable(variable.name, variable.size, variable.align)
                made.words = [self.new_r() for _ in made.words]
                vectors[-1] = made
                f.formals.append(Formal(made, 0, is_result))
            elif variable.space == "reg":
                handle = self.registers(variable.type, 1, variable.name)
                f.formals.append(Formal(None, self.register(handle), is_result))
            else:
                handle = len(self.symbols)
                place = self._parameter(variable)
                self.symbols.append(place)
                f.formals.append(Formal(place.param, 0, is_result))
            handles.append(handle)
        take_parameters(self, function, handles, vectors)
        return handles

    def end_body(self, loc: int) -> None:
        """The end of a body: a thread that runs off it exits or returns."""
        f = self.code
        self.line = self.lines.of(loc)
        if self.block != NONE or f.blocks() == 0:
            if not f.is_entry:
                give_results(self)
            self.leave("exit" if f.is_entry else "return")
        self.finish_parameters()
        self.finish_flow()
        try:
            lower_intrinsics(self)
        except NotSupported as missing:
            if f.is_entry:
                raise
            self._break(missing, loc)
        f.ptx_registers = self._ptx_registers()
        self.in_body = False
        if not f.is_entry:
            self.bodies[self.symbol] = f
        elif self.events.end_entry(f):
            self.ir.add_function(f)
            self.entries.append((f, self.own_shared))

    def prove(self, where: str) -> None:
        """Have the code of the body looked at, where somebody wants that."""
        if self.proof is not None:
            self.proof(self.code, where)

    def finish_parameters(self) -> None:
        """See to the variables for calls, and to parameters whose address is taken."""
        for variable, word in list(self.cleared):
            if variable.home >= 0:
                self.cursor.remove(self.cleared.pop((variable, word)))
        self.zeroed = [(variable, word) for variable, word in self.zeroed if variable.home < 0]
        settle_parameters(self.code, self.zeroed, self.code.stack)

    def begin_scope(self, loc: int) -> None:
        """Scopes are the parser's business."""

    def end_scope(self, loc: int) -> None:
        """Scopes are the parser's business."""

    def registers(self, type_: str, count: int, name: str) -> int:
        """Declare registers; returns the handle of the first. They become virtual registers on first use."""
        size = _TYPE_SIZES.get(type_)
        if size is None:
            raise NotSupported(f".reg .{type_}")
        first = len(self.registers_)
        for _ in range(count):
            self.add_register(0, size)
        bits: int = ix.TYPES[type_][1]
        if bits < 32 and size:
            self.narrow.append((first, first + count, bits // 8))
        if type_[0] in _INTEGER_TYPES:
            self.integers.append((first, first + count))
        if self.ir.for_debugger:
            self.declared.append((first, count, name, type_))
        if not self.in_body:
            self.module_registers.append((first, first + count))
        return first

    def _ptx_registers(self) -> list[PtxRegister]:
        """The registers of the body that have been named, with the operands that they are; those of one name have none."""
        found: dict[str, list[PtxRegister]] = {}
        for first, count, name, type_ in self.declared:
            for n in range(count):
                made = PtxRegister(name if count == 1 else f"{name}{n}", type_, int(self.registers_[first + n]))
                found.setdefault(made.name, []).append(made)
        return [made for named in found.values() for made in named if len(named) == 1 and made.operand]

    # -- labels and tables -------------------------------------------------------------------------------

    def place_label(self, label: int, loc: int) -> None:
        """A label: a block begins."""
        if self.sources.debug:
            self.sources.text.code_labels[self.label_names[label]] = self.lines.of(loc)
        self.place(label)

    def new_label(self, name: str = "") -> int:
        """A label handle."""
        made = self.make_label()
        if self.sources.debug:
            self.label_names[made] = name
        return made

    def branch_targets(self, name: str, labels: Sequence[int], loc: int) -> int:
        """A table of labels; its handle is its place in ``tables_of_labels``."""
        self.tables_of_labels.append(list(labels))
        return len(self.tables_of_labels) - 1

    def call_targets(self, name: str, functions: Sequence[int], loc: int) -> int:
        """The functions that an indirect call may call, which are alike; returns the place in ``prototypes``."""
        for handle in functions:
            self.function_address(handle)
        return self.call_prototype(name, self.functions[functions[0]])

    def call_prototype(self, name: str, prototype: Any) -> int:
        """What an indirect call calls; returns the place in ``prototypes``."""
        self._check_convention(prototype)
        self.prototypes.append(prototype)
        return len(self.prototypes) - 1

    # -- instructions ------------------------------------------------------------------------------------

    def instruction(self, variant: Any, guard: Any, operands: list[Any], loc: int) -> None:
        """Lower one instruction; what is missing in a function counts where the function is called."""
        if self.watch_double and "f64" in variant.types:
            self.events.double(loc)
        if self.code.is_entry:
            self._lower(variant, guard, operands, loc)
            return
        try:
            self._lower(variant, guard, operands, loc)
        except NotSupported as missing:
            self._break(missing, loc)

    def _break(self, missing: NotSupported, loc: int) -> None:
        """The function at hand cannot be compiled."""
        missing.offset = missing.at(loc)
        self.broken.setdefault(self.symbol, missing)

    def _lower(self, variant: Any, guard: Any, operands: list[Any], loc: int) -> None:
        self.loc = loc
        self.line = self.lines.of(loc)
        if self.line == self.loc_line:
            self.line |= self.loc_mark
        self.make_instruction(variant, guard, operands)

    def make_instruction(self, variant: Any, guard: Any, operands: list[Any]) -> None:
        """Lower an instruction where the line is known.

        Raises:
            NotSupported: no rule fits.
        """
        self.depth = 0
        programs = self.tables.programs.get(variant)
        if programs is None:
            programs = self.tables.select(variant)
        program = programs[0]
        if program.count >= 0 or program.test is not None:
            program = _choose(programs, operands)
        predicate: i64 = 0
        if guard is not None:
            predicate = self.register(guard[1])
            if guard[0] == nodes.NOT:
                predicate ^= opd.NEGATE
        made: i64 = len(self.code.op)
        self._make(program, predicate, operands)
        if program.record >= 0:
            mbarriers.mark(self.code, made, program.record)
        self.ir.isa_class = max(self.ir.isa_class, program.isa_class)
        self.ir.tensor_maps |= program.tensor_maps
        self.ir.tensor_products = max(self.ir.tensor_products, program.tensor_products)
        if program.tensor_memory or program.sparse_products:
            self.code.attributes.tensor_memory |= program.tensor_memory
            self.code.attributes.sparse_products |= program.sparse_products
            self.ir.takes_columns = self.ir.takes_columns or program.tensor_memory & TENSOR_COLUMNS != 0

    def _make(self, program: Program, predicate: i64, operands: list[Any]) -> None:
        """Emit what a program says, under a guard."""
        if program.expand:
            FUNCTIONS[program.expand](self, program, predicate, operands)
            return
        env = self.open(program)
        self.bind(program, env, operands)
        if predicate or program.hazard:
            self.emit(program, env, predicate)
        else:
            self.run(program, env)
        if self.parted:
            self.part_vectors(predicate)
        self.close()

    # -- the rest ----------------------------------------------------------------------------------------

    def pragma(self, text: str, loc: int) -> None:
        """``nounroll``: of the module, or of the loop whose header the block at hand is. Others are hints: nothing to do.

        Where no block has begun, what follows without a label is the header of no loop.

        Raises:
            NotSupported: other registers for parameters than those of the convention.
        """
        row = ix.PRAGMAS.get(text.partition(" ")[0])
        if row is not None and row[2]:
            raise NotSupported(f"pragma {text}", loc)
        if _NOUNROLL not in text:
            return
        if not self.in_body:
            self.nounroll = True
        elif self.block != NONE:
            self.code.flags[self.block] |= BLOCK_NOUNROLL

    def file(self, index: int, name: str, loc: int, time: int = 0, size: int = 0) -> None:
        """A source file; numbers of files are those of all inputs."""
        if index in self.sources.files:
            self.events.file_again(index, loc)
        self.sources.files[index] = SourceFile(name, time, size)

    def line_info(
        self, file: int, line: int, col: int, loc: int, inlined: tuple[str, int, tuple[int, int, int]] | None = None
    ) -> None:
        """Where the instructions behind it come from; those behind it in its line need a mark."""
        self.loc_line = self.lines.of(loc)
        self.loc_mark = self.sources.mark(self.sources.loc(file, line, col, self.loc_line, inlined))

    def section(self, name: str, text: str, loc: int) -> None:
        """Debug data; of the names of functions that were inlined line tables know, too."""
        self.sources.section(name, text)

    def alias(self, name: str, target: int, loc: int) -> None:
        """Another name of a function: the same function, at the same address."""
        handle = next(handle for handle, function in self.functions.items() if function.name == name)
        if handle in self.pointers and self.aliased(target) in self.pointers:  # they have different addresses already
            raise NotSupported(f".alias of '{name}' behind uses of its address and of that of the other function", loc)
        self.aliases[handle] = target

    def end_module(self) -> None:
        """All functions are known, and all aliases."""
        for f in (*self.bodies.values(), *(entry for entry, _ in self.entries)):
            for site in f.calls:
                site.callee = self.aliased(site.callee)
        if self.lines_wanted or (self.lines_wanted is None and self.sources.has_locs):
            self.ir.line_info = self.sources
            for f in (*self.bodies.values(), *(f for f, _ in self.entries)):
                f.sources = self.sources
        self.events.end_module(self)

    def addressed(self) -> list[int]:
        """The functions whose addresses are taken, by their numbers."""
        return [self.aliased(handle) for handle in self.pointers]

    def shapes(self) -> dict[int, list[Shape]]:
        """Sizes and alignments of the results and parameters of every function, by symbol handle."""
        return {
            handle: [
                Shape(v.size, v.align, n < len(function.returns)) for n, v in enumerate((*function.returns, *function.params))
            ]
            for handle, function in self.functions.items()
            if not function.is_entry
        }

    def complete(self, settle: Callable[[Function], None]) -> None:
        """Let ``settle`` see to the calls of every entry, give variables their places; also those that no code uses.

        Raises:
            NotSupported: see :func:`oric.lower.layout.lay_out`, and what ``settle`` raises.
        """
        self.ir.place_constants()
        for f, own_shared in self.entries:
            settle(f)
            if any(names_header(function) for function in f.functions):
                raise NotSupported(f"a texture, sampler or surface by its name in a function that '{f.name}' calls")
            f.own_shared = own_shared
            if not self.ir.for_debugger:
                lay_out(f, self.ir, self.target, own_shared)
        self.entries = []

    def binding(self, handle: int) -> str:
        """The binding of a function's symbol."""
        linkage: str = self.functions[handle].linkage
        return _BINDINGS.get(linkage, linkage)

    def place_function(self, f: Function) -> None:
        """Enter a function that is code of its own into the module, and give its variables their places.

        Raises:
            NotSupported: see :func:`oric.lower.layout.lay_out`.
        """
        if not self.ir.for_debugger:
            lay_out(f, self.ir, self.target, [])
        self.ir.add_function(f)

    def place_all(self) -> None:
        """Give the variables of code for a debugger their places, now that all code is known.

        Raises:
            NotSupported: see :func:`oric.lower.layout.lay_out`.
        """
        if self.ir.for_debugger:
            lay_out_together(self.ir, self.target)

    def note_prototypes(self) -> None:
        """Tell the module of all functions that an object has or names."""
        for handle in self.aliases:
            found = self.functions[self.aliased(handle)].name, self.binding(handle)
            self.ir.aliases[self.functions[handle].name] = found
        for function in self.functions.values():
            if not function.is_entry and not is_intrinsic(function.name):
                self.ir.prototypes[function.name] = prototype(function)


def _choose(programs: list[Program], operands: list[Any]) -> Program:
    count = len(operands)
    for program in programs:
        if (program.count == -1 or program.count == count) and (program.test is None or program.test(operands)):
            return program
    raise NotSupported(f"{programs[0].text} with these operands")


def _facts(function: Any, target: Any) -> FunctionAttributes:
    """Parameters and directives of an entry."""
    facts = FunctionAttributes()
    _place_parameters(facts, function, target)
    if facts.param_base(target) != target.bank0_params:
        _place_parameters(facts, function, target)
    facts.binding = _BINDINGS.get(function.linkage, function.linkage)
    for name, values in function.directives.items():
        if name in ("maxntid", "reqntid", "reqnctapercluster"):
            setattr(facts, name, values)
        elif name in ("minnctapersm", "maxnreg", "maxclusterrank"):
            setattr(facts, name, values[0])
        elif name in ("noreturn", "explicitcluster", "blocksareclusters"):
            setattr(facts, name, True)
    return facts


def _place_parameters(facts: FunctionAttributes, function: Any, target: Any) -> None:
    """Give the parameters of an entry their offsets; their places in the bank are what is aligned (observed: ptxas 13.0.88)."""
    base = facts.param_base(target)
    offset = 0
    facts.params = []
    for ordinal, variable in enumerate(function.params):
        if variable.type in OBJECT_PARAMETERS:  # what the driver keeps has no room among the others
            facts.params.append(Param(ordinal, variable.name, NO_PLACE, 0, 1, OBJECT_PARAMETERS[variable.type]))
            continue
        offset = -(-(base + offset) // variable.align) * variable.align - base
        space, align = POINTEE_NONE, 0
        if variable.ptr is not None:
            space, align = POINTEE_SPACES[variable.ptr[0]], variable.ptr[1]
        facts.params.append(Param(ordinal, variable.name, offset, variable.size, variable.align, space, align))
        offset += variable.size
    facts.param_size = offset
