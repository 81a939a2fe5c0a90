"""The Builder that the PTX parser drives: it makes Ori instructions, blocks and edges of what it is told.

It implements the protocol of ``oric.ptx.builder`` by shape, without importing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oric_tables import ptx_index as ix

from oric.ir import operand as opd
from oric.ir.attributes import FunctionAttributes, Param
from oric.ir.code import CodeObject
from oric.ir.module import Module, Relocation, Symbol
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .calls import Inliner, Recording
from .emit import Emitter
from .memory import Memory
from .program import CC, DESC, OFF, SLOT_PRED, A, B, M, Program, Q, selector

_REG: Final = nodes.REG
# Type of a PTX register -> number of 32-bit registers, 0 for predicates.
_TYPE_SIZES: Final = {
    name: ix.SIZE_REGISTERS.get(ix.SIZES[name], 0) for name, (_, _, is_register, *_) in ix.TYPES.items() if is_register
}
_MAX_BYTES: Final = {"local": 1 << 31}  # of one variable, where fields of the cubin have 32 bits ...
_MAX_SIZE: Final = 1 << 48  # ... and elsewhere
_MAX_ALIGNMENT: Final = 1 << 20  # the file is padded to it
_MAX_STORED: Final = 1 << 30  # of one variable with initial values, which are in the file
_POINTEE_SPACES: Final = {"global": 4}
_UNIFIED: Final = "unified"  # attribute of what other modules must be linked with
_BODY_STATE: Final = (
    "code", "block", "labels", "fixups", "flows", "facts", "tables", "return_label", "dynamic_fixups",
    "own_shared", "_carry", "_descriptor", "_stack", "_stack_adjust",
)  # fmt: skip
_BINDINGS: Final = {"": "local", "visible": "global"}  # of symbols, by PTX linkage; weak, extern, common stand for themselves


class OriBuilder(Memory, Emitter):
    """Builds a :class:`oric.ir.module.Module`, which is in ``ir`` when parsing has ended without errors.

    ``source`` (:class:`oric.support.diagnostics.Source`) gives the instructions their lines.
    """

    def __init__(self, target: Any, source: Any = None, filename: str = "") -> None:
        Emitter.__init__(self, target, selector(target), source)
        Memory.__init__(self)
        self.ir = Module(target.name, filename=filename)
        self.registers_: list[int] = []  # handle -> packed operand, 0 before its first use
        self.sizes = bytearray()  # handle -> number of 32-bit registers, 0 for predicates
        self.narrow: list[tuple[range, int]] = []  # handles of registers of fewer than 32 bits, their bytes
        self.symbols: list[Any] = []  # symbol handle -> what it names: see memory.py
        self.functions: dict[int, Any] = {}
        self.inliner = Inliner(self)
        self.recording: Recording | None = None
        self._carry = 0
        self.loc = 0  # of the instruction at hand
        self.return_label = -1  # when inlining: where `ret` goes

    # -- module level ------------------------------------------------------------------------------------

    def module(self, header: Any) -> None:
        """The header of the module."""
        self.ir.ptx_version = header.version
        self.ir.address_size = header.address_size
        self.ir.debug = "debug" in header.options
        if header.address_size != 64:
            raise NotSupported(".address_size 32")

    def variable(self, variable: Any) -> int:
        """A variable; returns its handle."""
        if self.recording is not None:
            return self.recording.variable(variable)
        handle = len(self.symbols)
        self.symbols.append(None)
        place = self.symbols[handle] = self.declare(variable)
        if variable.in_function and variable.space == "shared":
            self.own_shared.append(place)
        return handle

    def define_variable(self, symbol: int, variable: Any) -> None:
        """The definition of a variable that was declared external before."""
        raise NotSupported(f"definition of {variable.name} behind its external declaration")

    def ir_symbol(self, variable: Any) -> int:
        """Enter a variable into the module; returns its id there."""
        most = _MAX_SIZE if variable.init is None else _MAX_STORED
        if variable.size > min(most, _MAX_BYTES.get(variable.space, most)):
            raise NotSupported(f"{variable.name} of {variable.size} bytes", variable.loc)
        if variable.align > _MAX_ALIGNMENT:
            raise NotSupported(f".align {variable.align}", variable.loc)
        if _UNIFIED in variable.attributes:
            raise NotSupported(f".{_UNIFIED}", variable.loc)
        relocations = []
        for item in variable.relocs:
            place = self.symbols[item.symbol]
            if item.mask or item.size != 8 or place.ir_id < 0:
                raise NotSupported(f"address of that kind in the initialiser of {variable.name}")
            relocations.append(Relocation(item.offset, place.ir_id, item.addend, item.generic))
        binding = _BINDINGS.get(variable.linkage, variable.linkage)
        symbol = Symbol(variable.name, variable.space, variable.size, variable.align, variable.init or b"", relocations, binding)
        symbol.managed = "managed" in variable.attributes
        return self.ir.add_symbol(symbol, scoped=variable.in_function)

    def function(self, function: Any) -> int:
        """First sight of a function; returns its handle."""
        if _UNIFIED in function.attributes:
            raise NotSupported(f".{_UNIFIED}", function.loc)
        handle = len(self.symbols)
        self.symbols.append(self.inliner.declare(handle, function))
        return handle

    def begin_body(self, symbol: int, function: Any) -> list[int]:
        """The body of an entry is built at once; that of a function is recorded for inlining."""
        if not function.is_entry:
            self.recording = Recording(self, symbol, function)
            return self.recording.formal_handles()
        self.code = CodeObject(function.name, self.ir.target, True)
        self.code.attributes = self.facts = _facts(function)
        self.reset_body()
        self.block = None
        self.labels = []
        self.fixups = []
        self.flows = {}
        self.return_label = -1
        self._carry = 0
        handles = []
        for param, variable in zip(self.facts.params, function.params, strict=True):
            handles.append(len(self.symbols))
            self.symbols.append(self.kernel_param(variable, param.offset))
        return handles

    def end_body(self, loc: int) -> None:
        """The end of a body: a thread that runs off it exits."""
        if self.recording is not None:
            self.inliner.bodies[self.recording.symbol] = self.recording
            self.recording = None
            return
        self.set_line(loc)
        if self.block is not None or not self.code.blocks:
            self.leave("exit")
        self.ir.add_function(self.code)
        self.inliner.finish_function(self.code)

    def begin_scope(self, loc: int) -> None:
        """Scopes are the parser's business."""

    def end_scope(self, loc: int) -> None:
        """Scopes are the parser's business."""

    def registers(self, type_: str, count: int, name: str) -> int:
        """Declare registers; returns the handle of the first. They become virtual registers on first use."""
        del name
        size = _TYPE_SIZES.get(type_)
        if size is None:
            raise NotSupported(f".reg .{type_}")
        first = len(self.registers_)
        self.registers_.extend([0] * count)
        self.sizes.extend(bytes([size]) * count)
        if ix.TYPES[type_][1] < 32 and size:
            self.narrow.append((range(first, first + count), ix.TYPES[type_][1] // 8))
        return first

    def narrow_bytes(self, handle: int) -> int:
        """Bytes of a register of fewer than 32 bits, 0 for others."""
        return next((size for handles, size in self.narrow if handle in handles), 0)

    def register(self, handle: int) -> int:
        """The operand of a register, which is created on first use."""
        operand = self.registers_[handle]
        if not operand:
            size = self.sizes[handle]
            operand = self.registers_[handle] = self.new("R", size) if size else self.new("P")
        return operand

    # -- labels and tables -------------------------------------------------------------------------------

    def place_label(self, label: int, loc: int) -> None:
        """A label: a block begins."""
        if self.recording is not None:
            self.recording.add("place_label", label, loc)
            return
        self.place(label)

    def new_label(self, name: str = "") -> int:
        """A label handle."""
        if self.recording is not None:
            return self.recording.new_label()
        return super().new_label(name)

    def branch_targets(self, name: str, labels: Sequence[int], loc: int) -> int:
        """A table of labels; its handle is its place in ``tables``."""
        self.tables.append(tuple(labels))
        return len(self.tables) - 1

    def call_targets(self, name: str, functions: Sequence[int], loc: int) -> int:
        """Indirect calls are refused where they are made."""
        return -1

    def call_prototype(self, name: str, prototype: Any) -> int:
        """Indirect calls are refused where they are made."""
        return -1

    # -- instructions ------------------------------------------------------------------------------------

    def instruction(self, variant: Any, guard: Any, operands: Sequence[Any], loc: int) -> None:
        """Lower one instruction."""
        if self.recording is not None:
            self.recording.add("instruction", variant, guard, operands, loc)
            return
        self.loc = loc
        self.line = self.line_of(loc)
        program = self.programs.get(variant)
        if program is None:
            program = self.selector.select(variant)
        if program.__class__ is list:
            program = _choose(program, operands)
        predicate = 0
        if guard is not None:
            predicate = self.registers_[guard[1]] or self.register(guard[1])
            if guard[0] == nodes.NOT:
                predicate ^= opd.NEGATE
        if program.expand is not None:
            program.expand(self, program, predicate, operands)
            return
        env = self.env(program)
        self.bind(program, env, operands)
        if predicate or program.hazard:
            self.emit(program, env, predicate)
        else:
            self.run(program, env)

    def bind(self, program: Program, env: list[Any], operands: Sequence[Any]) -> None:
        """Put the PTX operands into the environment of a program."""
        known = self.registers_
        for index, node in zip(program.args, operands, strict=False):
            kind = node[0]
            if kind == _REG:
                env[index] = known[node[1]] or self.register(node[1])
            elif kind in (nodes.INT, nodes.FLOAT):
                env[index] = node
            else:
                self._bind_other(program, env, index, node)
        if program.commute and env[A].__class__ is not int and env[B].__class__ is int:
            env[A], env[B] = env[B], env[A]
        if program.uses_desc:
            env[DESC] = self.descriptor()
        if program.uses_carry:
            env[CC] = self.carry()

    def carry(self) -> int:
        """The carry flag of the function."""
        if not self._carry:
            self._carry = self.new("P")
        return self._carry

    def _bind_other(self, program: Program, env: list[Any], index: int, node: Any) -> None:
        kind = node[0]
        if kind == nodes.PAIR:
            for place, item in ((index, node[1]), (Q, node[2])):
                env[place] = self._sink(program, place) if item[0] == nodes.SINK else self.value(item)
        elif kind == nodes.SINK:
            if index == M:
                raise NotSupported("_ as an address")
            env[index] = self._sink(program, index)
        elif index == M:
            env[M], env[OFF] = self.address(node, program.options["space"])
        else:
            env[index] = self.value(node)

    def value(self, node: Any) -> Any:
        """An operand node as a packed operand, or the node itself for immediates."""
        kind = node[0]
        if kind == _REG:
            return self.registers_[node[1]] or self.register(node[1])
        if kind == nodes.NOT:
            return self.register(node[1]) ^ opd.NEGATE
        if kind in (nodes.INT, nodes.FLOAT):
            return node
        if kind == nodes.SYM:
            return self.symbol_address(node[1], node[2])
        if kind == nodes.SREG:
            return self.special_register(node[1])
        if kind == nodes.SUM:
            return self.register_sum(node[1], node[2])
        if kind == nodes.INDEX:
            return self.element_address(node)
        raise self.unexpected(node, "as an operand here")

    @staticmethod
    def _sink(program: Program, index: int) -> int:
        """What takes a result that nobody wants."""
        for line in program.lines:
            if line.__class__ is not int:
                for spec in line[3]:
                    if spec.__class__ is not int and spec[0] == index:
                        return opd.PT_OPERAND if spec[3] & SLOT_PRED else opd.RZ_OPERAND
        return opd.PT_OPERAND if index == Q else opd.RZ_OPERAND

    # -- the rest ----------------------------------------------------------------------------------------

    def pragma(self, text: str, loc: int) -> None:
        """Pragmas are hints (``nounroll`` ...): nothing to do."""

    def file(self, index: int, name: str, loc: int) -> None:
        """Debug information: not kept."""

    def line_info(self, file: int, line: int, col: int, loc: int) -> None:
        """Debug information: not kept."""

    def section(self, name: str, text: str, loc: int) -> None:
        """Debug information: not kept."""

    def alias(self, name: str, target: int, loc: int) -> None:
        """Another name of a function."""
        raise NotSupported(".alias")

    def body_state(self) -> dict[str, Any]:
        """What belongs to the body under construction, for :meth:`set_body_state`."""
        return {name: getattr(self, name) for name in _BODY_STATE}

    def set_body_state(self, state: dict[str, Any]) -> None:
        """Go on with a body."""
        for name, value in state.items():
            setattr(self, name, value)

    def end_module(self) -> None:
        """Build what waited for later functions; place the constant variables that no code uses."""
        self.inliner.finish_module()
        self.ir.place_constants()


def _choose(programs: list[Program], operands: Sequence[Any]) -> Program:
    count = len(operands)
    for program in programs:
        if program.count in (-1, count) and (program.test is None or program.test(operands)):
            return program
    raise NotSupported(f"{programs[0].text} with these operands")


def _facts(function: Any) -> FunctionAttributes:
    """Parameters and directives of an entry."""
    facts = FunctionAttributes()
    offset = 0
    for ordinal, variable in enumerate(function.params):
        offset = -(-offset // variable.align) * variable.align
        space, align = variable.ptr or ("", 0)
        facts.params.append(
            Param(ordinal, variable.name, offset, variable.size, variable.align, _POINTEE_SPACES.get(space, 0), align)
        )
        offset += variable.size
    facts.param_size = offset
    facts.binding = _BINDINGS.get(function.linkage, function.linkage)
    for name, values in function.directives.items():
        if name in ("maxntid", "reqntid", "reqnctapercluster"):
            setattr(facts, name, values)
        elif name in ("minnctapersm", "maxnreg", "maxclusterrank"):
            setattr(facts, name, values[0])
        elif name in ("noreturn", "explicitcluster", "blocksareclusters"):
            setattr(facts, name, True)
    return facts
