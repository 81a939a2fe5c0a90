"""Operands, symbols and addresses: where variables lie, how code reaches them; special registers.

Addresses by space: global and generic are 64-bit registers; shared, local, constant and parameter addresses are
32-bit registers (the low part of a 64-bit PTX register). The address of a kernel parameter is its offset behind the first one.
Variables in shared and local memory get their places when the kernel is complete (:mod:`oric.lower.layout`); until then
code names their symbols.
"""

from __future__ import annotations

from typing import Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import storage
from oric_tables.cubin_layout import RESERVED_NAMES

from oric.ir import operand as opd
from oric.ir.calls import FUNCTION_SLOT, WORD, ParamVariable
from oric.ir.function import R
from oric.ir.images import KINDS, header
from oric.ir.links import ENTRY, FUNCTION
from oric.ir.module import BANK_ADDRESS, Module, Symbol
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .emit import ADDRESS, FLOATING, INTEGER, OPERAND, Env, Value, integer, packed, part
from .linked import Linked
from .program import CC, CLUSTER, DESC, FIRST_TEMP, NOFF, OFF, WORD_MASK, A, B, M, N, Program, Q

QUAD: Final = 4  # 32-bit registers of 128 bits
_ADDRESS_REGISTERS: Final = 2  # 32-bit registers of a global or generic address
_OFFSET_BITS: Final = 24  # of the displacement of an access, where a rule says nothing else with `reach`
_OFFSET_MIN: Final = -(1 << _OFFSET_BITS - 1)
_OFFSET_MAX: Final = (1 << _OFFSET_BITS - 1) - 1
_WIDE_STEP: Final = 32  # of the displacements of accesses of 256 bits, and what they reach
_WIDE_MIN: Final = -(1 << 21)
_WIDE_MAX: Final = (1 << 21) - _WIDE_STEP
_MOST_ADDEND: Final = 1 << 22  # a larger distance from the start of a variable is added by an instruction
_EXTENDED: Final = {1: 0x4440, 2: 0x4410}  # bytes -> selector of PRMT that puts zeros behind them
_MASK32: Final = 0xFFFFFFFF


@final
class Place:
    """What a symbol handle names.

    ``space``: global, const, shared, local, kernel (a kernel parameter), param (a parameter variable of a call, in
    registers), entry (a kernel) or function. ``ir_id``: id in the module's symbols, -1 for the last four. ``offset``: of a kernel
    parameter in the parameter area. ``param``: the registers of a call parameter. ``storage``, ``number``, ``way``: its storage
    class, the value of field 281 for the space, and how it is found, 0 for functions (:mod:`oric_tables.storage`).
    """

    def __init__(
        self, name: str, space: str, size: int, align: int, ir_id: int = -1, offset: int = 0, external: bool = False
    ) -> None:
        self.storage, self.number, self.way = storage.CLASSES.get((space, external), (0, 0, 0))
        self.name = name
        self.space = space
        self.size = size
        self.align = align
        self.ir_id = ir_id
        self.offset = offset
        self.param: ParamVariable | None = ParamVariable(name, size, align) if self.way == storage.REGISTERS else None


@final
class Address:
    """Base register and displacement (an immediate or a symbol) of an access."""

    def __init__(self, base: int, displacement: int) -> None:
        self.base = base
        self.displacement = displacement


class Memory(Linked):
    """The part of the builder that knows operands and addresses."""

    def __init__(self, target: Any, source: Any, module: Module) -> None:
        Linked.__init__(self, target, source, module)
        self.symbols: list[Place | None] = []  # symbol handle -> what it names
        self.registers_ = vec[i64]()  # register handle -> packed operand, 0 before its first use
        self.sizes = vec[i64]()  # register handle -> number of 32-bit registers, 0 for predicates
        self.integers: list[tuple[int, int]] = []  # handles of registers declared as signed or unsigned: first, end
        self.narrow: list[tuple[int, int, int]] = []  # handles of registers of fewer than 32 bits: first, end, bytes
        self.tables_of_labels: list[list[int]] = []
        self.functions: dict[int, Any] = {}  # symbol handle -> the parser's description of a function
        self.prototypes: list[Any] = []  # what indirect calls call, by the handle of the table that they name
        self.aliases: dict[int, int] = {}  # symbol handle of a function that is another one -> the handle of that
        self.named: dict[int, bool] = {}  # handles of functions in the order in which code names them -> whether to call them
        self.pointers: dict[int, int] = {}  # symbol handle of a function whose address is taken -> its number among them
        self.cleared: dict[tuple[ParamVariable, int], int] = {}  # words of variables for calls -> what makes them 0 first
        self.zeroed: list[tuple[ParamVariable, int]] = []  # those that are 0 where the function at hand begins
        self.vector_results: list[tuple[ParamVariable, list[int]]] = []  # of the function at hand: variable, registers
        self.intrinsics: dict[
            int, Any
        ] = {}  # calls of the function at hand that are noted: instruction -> oric.lower.ocg.IntrinsicCall
        self.parted: list[tuple[int, Any]] = []  # registers that hold the elements of a vector of destinations, and these
        self.carry = 0
        self.loc = 0  # of the instruction at hand

    # -- registers ---------------------------------------------------------------------------------------

    def narrow_bytes(self, handle: int) -> int:
        """Bytes of a register of fewer than 32 bits, 0 for others."""
        for first, end, size in self.narrow:
            if first <= handle < end:
                return size
        return 0

    def is_integer(self, handle: int) -> bool:
        """Whether a register was declared as a signed or unsigned integer."""
        return any(first <= handle < end for first, end in self.integers)

    def register(self, handle: i64) -> i64:
        """The operand of a register, which is created on first use."""
        operand = self.registers_[handle]
        if not operand:
            size = self.sizes[handle]
            if size == 1:
                operand = opd.IS_REG | self.code.new_reg(R)
            else:
                operand = self.new("R", size) if size else self.new_p()
            self.registers_[handle] = operand
        return operand

    def place_of(self, handle: int) -> Place:
        """What a symbol handle names."""
        place = self.symbols[handle]
        assert place is not None
        return place

    # -- operands ----------------------------------------------------------------------------------------

    def value(self, node: Any) -> Value:
        """A PTX operand."""
        kind: int = node[0]
        if kind == nodes.REG:
            return packed(self.register(node[1]))
        if kind == nodes.NOT:
            return packed(self.register(node[1]) ^ opd.NEGATE)
        if kind == nodes.INT:
            return integer(node[1])
        if kind == nodes.FLOAT:
            return Value(FLOATING, node[1], node[2])
        if kind == nodes.SYM:
            return self.symbol_address(node[1], node[2])
        if kind == nodes.SREG:
            return self.special_register(node[1])
        if kind == nodes.SUM:
            return packed(self.register_sum(node[1], node[2]))
        if kind == nodes.INDEX:
            return packed(self.element_address(node))
        raise self.unexpected(node, "as an operand here")

    def dest(self, node: Any) -> i64:
        """The register of a destination."""
        if node[0] == nodes.REG:
            return self.register(node[1])
        return self.value(node).bits

    def quad(self, value: Value) -> i64:
        """Four registers with a constant of 128 bits."""
        made = self.new("R", QUAD)
        self.set(made, value)
        return made

    def bind(self, program: Program, env: Env, operands: list[Any]) -> None:
        """Put the PTX operands into the environment of a program."""
        args = program.args
        count = min(len(args), len(operands))
        self.parted.clear()
        for at in range(count):
            index = args[at]
            node = operands[at]
            kind: int = node[0]
            if kind == nodes.REG:
                env.put(index, self.register(node[1]))
            elif kind == nodes.INT or kind == nodes.FLOAT:
                if program.quad and (index == A or index == B):
                    env.put(index, self.quad(self.value(node)))
                else:
                    env.put_node(index, node)
            else:
                self._bind_other(program, env, index, node, kind)
        if program.commute and env.kind[A] != OPERAND and env.kind[B] == OPERAND:
            _exchange(env)
        if program.uses_desc:
            env.put(DESC, self.descriptor())
        if program.uses_carry:
            if not self.carry:
                self.carry = self.new_p()
            env.put(CC, self.carry)

    def _bind_other(self, program: Program, env: Env, index: int, node: Any, kind: int) -> None:
        if kind == nodes.PAIR:
            for place, item in ((index, node[1]), (Q, node[2])):
                if item[0] == nodes.SINK:
                    env.put(place, program.sinks[place])
                else:
                    env.put_value(place, self.value(item))
        elif kind == nodes.SINK:
            if index == M or index == N:
                raise NotSupported("_ as an address")
            env.put(index, program.sinks[index])
        elif kind == nodes.VEC and len(node[1]) == 1:
            env.put_value(index, self.value(node[1][0]))
        elif index == M:
            self.put_address(env, self.bound_address(node, program))
        elif index == N:
            self.put_second(env, self.bound_address(node, program, True))
        elif kind == nodes.VEC:
            env.put(index, self._bound_vector(program, index, node[1]))
        else:
            env.put_value(index, self.value(node))

    def _bound_vector(self, program: Program, index: int, items: Any) -> i64:
        """A register for the elements of a vector: with their values where the lines read them; where they write them
        :meth:`part_vectors` brings them into the elements."""
        words = self.element_words(items, program.wide)
        wide = self.gathered(items, words) if program.read >> index & 1 else self.new("R", words * len(items))
        if program.written >> index & 1:
            self.parted.append((wide, items))
        return wide

    def element_words(self, items: Any, wide: bool) -> int:
        """32-bit words of each element of a vector; ``wide``: those of a vector of constants have 64 bits.

        Raises:
            NotSupported: an element is a predicate.
        """
        sizes = {int(self.sizes[item[1]]) for item in items if item[0] == nodes.REG}
        if 0 in sizes or any(item[0] == nodes.NOT for item in items):
            raise NotSupported("a predicate as an element of a vector")
        return max(sizes, default=2 if wide else 1)

    def gathered(self, items: Any, words: int) -> i64:
        """The elements of a vector, of ``words`` words each, in one register; RZ where all are 0."""
        values = [self.value(item) for item in items]
        if all(value.kind != OPERAND and not value.bits and not value.wide for value in values):
            return opd.RZ_OPERAND
        wide = self.new("R", words * len(items))
        for at, value in enumerate(values):
            self.set(opd.reg(wide & opd.INDEX, at * words, words), value)
        return wide

    def part_vectors(self, guard: i64) -> None:
        """Bring the words of what the instruction at hand has written into the elements of its vectors; sinks take none."""
        for wide, items in self.parted:
            words = opd.count_of(wide) // len(items)
            for at, item in enumerate(items):
                if item[0] != nodes.SINK:
                    self.move(self.dest(item), opd.reg(wide & opd.INDEX, at * words, words), guard)
        self.parted.clear()

    def put_address(self, env: Env, address: Address) -> None:
        """Put an address into the places of an environment that are for it."""
        env.put(M, address.base)
        env.put(OFF, address.displacement)

    def put_second(self, env: Env, address: Address) -> None:
        """Put a second address into its places."""
        env.put(N, address.base)
        env.put(NOFF, address.displacement)

    def bound_address(self, node: Any, program: Program, second: bool = False) -> Address:
        """An address as the options of a rule say: its space, the bits of its displacement (0: there is none), the space whose
        variables may stand for an address of no space, what stands above a register of 32 bits where ptxas takes one.
        """
        options = program.options
        space = program.other if second else program.space
        if (
            node[0] == nodes.ADDR_REG
            and space == storage.GENERIC
            and "narrow" in options
            and self.sizes[node[1]] < _ADDRESS_REGISTERS
        ):
            return self.within(self._with_offset(self._widened(self.register(node[1])), node[2], True), _OFFSET_BITS)
        if node[0] in (nodes.ADDR_SYM, nodes.INDEX) and program.variables == self.place_of(node[1]).number:
            space = program.variables
        return self.within(self.address(node, space), int(options.get("other_reach" if second else "reach", _OFFSET_BITS)))

    def _widened(self, low: i64) -> i64:
        """A pair with a register below and zeros above."""
        dest = self.new_pair()
        self.copy(part(dest, 0), low, 0)
        self.copy(part(dest, 1), opd.RZ_OPERAND, 0)
        return dest

    def within(self, address: Address, bits: int) -> Address:
        """An address whose displacement has so many bits, with a sign; 0: it is 0."""
        displacement = address.displacement
        if displacement & opd.TYPE == opd.IS_SYMBOL:
            if bits:
                return address
            return Address(self._placed(address.base, Value(ADDRESS, displacement)), opd.imm(0))
        offset = self.code.imm_value(displacement)
        reach = 1 << bits >> 1
        return address if -reach <= offset < max(reach, 1) else self._moved(address.base, offset)

    def displaced(self, address: Address, offset: int) -> Address:
        """An address some bytes further on, of a displacement that is a number."""
        total = self.code.imm_value(address.displacement) + offset
        return self._with_offset(address.base, total, opd.count_of(address.base) > 1)

    def _moved(self, base: i64, offset: int) -> Address:
        """An address whose displacement has been added to its base."""
        wide = opd.count_of(base) > 1
        dest = self.new_pair() if wide else self.new_r()
        self.template("add_offset_wide" if wide else "add_constant", 0, dest, packed(base), integer(offset))
        return Address(dest, opd.imm(0))

    # -- things loaded at function entry -------------------------------------------------------------------

    def descriptor(self) -> i64:
        """The pair of uniform registers with the descriptor of global memory."""
        f = self.code
        if not f.descriptor:
            f.descriptor = self.new("UR", 2)
            f.needs.append("descriptor")
        return f.descriptor

    def stack(self) -> i64:
        """The register with the address of the frame."""
        f = self.code
        if not f.stack:
            f.stack = self.new_r()
            f.needs.append("stack")
        return f.stack

    def shared_base(self) -> i64:
        """The register with what addresses in the block's shared memory begin with; RZ where blocks have no clusters."""
        f = self.code
        program = self.tables.template("load_shared")
        if program.first == program.last:
            return opd.RZ_OPERAND
        if not f.shared:
            f.shared = self.new_r()
            f.needs.append("shared")
        return f.shared

    def top(self) -> i64:
        """The register with the address below which the stack is free: what ``alloca`` moves."""
        f = self.code
        if not f.top:
            f.top = self.new_r()
            f.needs.append("top")
        return f.top

    # -- addresses ---------------------------------------------------------------------------------------

    def address(self, node: Any, space: int) -> Address:
        """An address operand in a space (the value of field 281); in the shared memory of a cluster, the generic address."""
        kind: int = node[0]
        if space == CLUSTER:
            return self._in_window(self.address(node, storage.SHARED))
        wide = space == storage.GENERIC or space == storage.GLOBAL
        if kind == nodes.ADDR_REG:
            base = self.register(node[1])
            if not wide:
                base &= WORD_MASK
            elif self.sizes[node[1]] < _ADDRESS_REGISTERS:
                raise NotSupported("a global or generic address of less than 64 bits")
            return self._with_offset(base, node[2], wide)
        if kind == nodes.ADDR_IMM:
            if _OFFSET_MIN <= node[1] <= _OFFSET_MAX:
                return Address(opd.RZ_OPERAND, self.code.imm(node[1] & _MASK32))
            return Address(self.constant64(node[1]) if wide else self.constant(node[1] & _MASK32), opd.imm(0))
        if kind == nodes.INDEX:
            found = self._symbol_base(self.place_of(node[1]), 0, space)
            return Address(self._scaled(node, found.base, wide), found.displacement)
        if kind != nodes.ADDR_SYM:
            raise self.unexpected(node, "as an address")
        return self._symbol_base(self.place_of(node[1]), node[2], space)

    def _in_window(self, found: Address) -> Address:
        """The generic address of an address in shared memory, where those of other blocks of the cluster lie too.

        The sum of its register and its displacement has 32 bits.
        """
        dest = self.new_pair()
        low, offset = packed(found.base), found.displacement
        symbol = offset & opd.TYPE == opd.IS_SYMBOL
        if symbol or self._number(offset):
            low = packed(self.new_r())
            added = Value(ADDRESS, offset) if symbol else integer(self._number(offset))
            self.template("add_constant", 0, low.bits, packed(found.base), added)
        self.template("in_shared_window", 0, dest, low)
        return Address(dest, opd.imm(0))

    def in_steps_of_256_bits(self, address: Address) -> Address:
        """The same address with a displacement that an access of 256 bits can have."""
        offset = self._number(address.displacement)
        if not offset % _WIDE_STEP and _WIDE_MIN <= offset <= _WIDE_MAX:
            return address
        dest = self.new_pair()
        self.template("add_offset_wide", 0, dest, packed(address.base), integer(offset))
        return Address(dest, opd.imm(0))

    def address_value(self, node: Any) -> Value:
        """A generic address operand as a value."""
        found = self.address(node, storage.GENERIC)
        offset = self._number(found.displacement)
        if not offset:
            return packed(found.base)
        dest = self.new_pair()
        self.template("add_offset_wide", 0, dest, packed(found.base), integer(offset))
        return packed(dest)

    def _number(self, displacement: int) -> int:
        """A displacement with its sign."""
        offset = self.code.imm_value(displacement) & _MASK32
        return offset - (1 << 32) if offset >> 31 else offset

    def _with_offset(self, base: i64, offset: int, wide: bool) -> Address:
        if _OFFSET_MIN <= offset <= _OFFSET_MAX:
            return Address(base, self.code.imm(offset))
        return self._moved(base, offset)

    def _scaled(self, node: Any, base: i64, wide: bool) -> i64:
        """``base`` plus the bytes in front of an element that a register chooses.

        The index is a 32-bit number without sign, whatever the register (observed: ptxas 13.0.88).
        """
        _, _, handle, scale, offset = node
        index = self.register(handle) & WORD_MASK
        size = self.narrow_bytes(handle)
        if size:
            narrow = index
            index = self.new_r()
            self.template("permute", 0, index, packed(narrow), integer(_EXTENDED[size]), packed(opd.RZ_OPERAND))
        if offset:
            first = index
            index = self.new_r()
            self.template("add_constant", 0, index, packed(first), integer(offset // scale))
        dest = self.new_pair() if wide else self.new_r()
        self.template("add_scaled_wide" if wide else "multiply_add", 0, dest, packed(index), integer(scale), packed(base))
        return dest

    def element_address(self, node: Any) -> i64:
        """The address of an element that a register chooses, as a value: a 64-bit register."""
        base = self.symbol_address(node[1], 0)
        if base.kind == INTEGER:
            return self._scaled(node, self.constant64(base.bits), True)
        if base.kind == ADDRESS:
            pair = self.new_pair()
            self.set(pair, base)
            return self._scaled(node, pair, True)
        return self._scaled(node, base.bits, True)

    def register_sum(self, handle: i64, offset: int) -> i64:
        """A register with the sum of a register and a constant, of the width of the former."""
        base = self.register(handle)
        dest = self.like(base)
        name = "add_offset_wide" if opd.count_of(base) > 1 else "add_constant"
        self.template(name, 0, dest, packed(base), integer(offset))
        return dest

    def _symbol_base(self, place: Place, offset: int, space: int) -> Address:
        way = place.way
        if way == storage.SLOT and (space == storage.GENERIC or space == place.number):
            return self._with_offset(self._global_address(place), offset, True)
        if self._is_linked_shared(way) and space == place.number:
            return Address(self._low_address(place, offset), opd.imm(0))
        if space == storage.GENERIC and way in (storage.FRAME, storage.BLOCK, storage.BEHIND):
            dest = self.new_pair()
            self.template(f"in_{place.space}_window", 0, dest, packed(self._low_address(place, offset)))
            return Address(dest, opd.imm(0))
        if place.number != space:
            raise NotSupported(f"an address in {place.space} of {place.name} for an access of {_name_of(space)}")
        if way == storage.BEHIND:
            return Address(self._dynamic_shared(place, offset), opd.imm(0))
        if way == storage.BLOCK or way == storage.FRAME:
            base = self.stack() if way == storage.FRAME else self.shared_base()
            if abs(offset) < _MOST_ADDEND:
                return Address(base, opd.symbol(place.ir_id, offset))
            far = self.new_r()
            self.template("add_constant", 0, far, packed(base), integer(offset))
            return Address(far, opd.symbol(place.ir_id, 0))
        if self.is_linked_constant(place):
            return self._with_offset(self.linked(place.space, place.ir_id, 0), offset, False)
        return self._with_offset(opd.RZ_OPERAND, self.bank_offset(place) + offset, False)

    def bank_offset(self, place: Place) -> int:
        """Byte offset of a constant variable in bank 3, of a kernel parameter in bank 0."""
        if place.way == storage.PARAMETERS:
            return int(place.offset)
        return self.ir.constant_offset(place.ir_id)

    def is_linked_constant(self, place: Place) -> bool:
        """Whether a linker tells where a constant variable lies."""
        told = self.ir.relocatable or self.ir.preserved
        return place.way == storage.CONSTANTS and (told or self.ir.is_elsewhere(place.ir_id))

    def _is_linked_shared(self, way: int) -> bool:
        """The same of a shared variable."""
        return (self.ir.relocatable and way in (storage.BLOCK, storage.BEHIND)) or (self.ir.preserved and way == storage.BLOCK)

    def _global_address(self, place: Place) -> i64:
        if self.ir.linked and not self.ir.independent:
            return self.linked_pair(place.space, place.ir_id, place.name)
        return self._from_slot(self.ir.address_slot(place.ir_id))

    def _from_slot(self, slot: int) -> i64:
        """The address that a slot of bank 4 has, in a pair of registers."""
        dest = self.new_pair()
        self.copy(part(dest, 0), opd.const_bank(BANK_ADDRESS, slot), 0)
        self.copy(part(dest, 1), opd.const_bank(BANK_ADDRESS, slot + 4), 0)
        return dest

    def _is_near(self, place: Place, offset: int) -> bool:
        """Whether a symbol with an addend can say how far from the start of a variable that has a place of its own."""
        return place.way != storage.BEHIND and abs(offset) < _MOST_ADDEND

    def _dynamic_shared(self, place: Place, offset: int) -> i64:
        """A register with the address of dynamic shared memory, which lies behind all static variables."""
        near = abs(offset) < _MOST_ADDEND
        dest = self._placed(self.shared_base(), Value(ADDRESS, opd.symbol(place.ir_id, offset if near else 0)))
        return dest if near else self._plus(dest, offset)

    def _placed(self, base: i64, symbol: Value) -> i64:
        """A new register with the sum of a register and the place of a variable."""
        dest = self.new_r()
        if base == opd.RZ_OPERAND:
            self.set(dest, symbol)
        else:
            self.template("add_constant", 0, dest, packed(base), symbol)
        return dest

    def _plus(self, base: i64, offset: int) -> i64:
        dest = self.new_r()
        self.template("add_constant", 0, dest, packed(base), integer(offset))
        return dest

    def symbol_address(self, handle: int, offset: int) -> Value:
        """The address of a variable as a value: a 64-bit register, or a constant."""
        place = self.place_of(handle)
        if place.space == FUNCTION:
            self.named.setdefault(handle, False)
        linked = self.ir.separate and place.space == FUNCTION
        if place.way == storage.SLOT or place.space == ENTRY or linked:
            base = self._address_of_code(handle, place) if place.space in (ENTRY, FUNCTION) else self._global_address(place)
            if not offset:
                return packed(base)
            dest = self.new_pair()
            self.template("add_offset_wide", 0, dest, packed(base), integer(offset))
            return packed(dest)
        if place.space in storage.OBJECTS and not offset:
            return packed(self._address_of_reference(place))
        if place.space == FUNCTION:
            return integer(self.function_address(handle) + offset)
        if place.way == storage.CONSTANTS and not self.is_linked_constant(place):
            return integer(self.bank_offset(place) + offset)
        if place.way == storage.PARAMETERS:
            base = self.code.attributes.param_base(self.target)
            if base != self.target.bank0_params:  # the rules know where the window of the others begins
                raise NotSupported(f"the address of parameter {place.name} of a kernel with so many bytes of them")
            return integer(place.offset - base + offset)
        bare = place.way == storage.BLOCK and not self._is_linked_shared(place.way)
        if bare and self.shared_base() == opd.RZ_OPERAND and self._is_near(place, offset):
            return Value(ADDRESS, opd.symbol(place.ir_id, offset))
        dest = self.new_pair()
        low = self._low_address(place, offset)
        self.copy(part(dest, 0), low, 0)
        self.copy(part(dest, 1), opd.RZ_OPERAND, 0)
        return packed(dest)

    def _address_of_reference(self, place: Place) -> i64:
        """The handle of a reference in a pair of registers: its header and what it is the handle of."""
        dest = self.new_pair()
        word = part(dest, 0)
        if "uniform_handles" in self.target.features:
            self.copy(word, header(place.ir_id), 0)
        else:
            bare = self.new_r()
            self.copy(bare, header(place.ir_id), 0)
            self.template("reference_word", 0, word, packed(bare))
        self.copy(part(dest, 1), self.code.imm(KINDS[place.space]), 0)
        return dest

    def _address_of_code(self, handle: int, place: Place) -> i64:
        """The address of an entry, or of a function that is code of its own, in a pair of registers."""
        if place.space == ENTRY and not self.ir.linked:
            return self._from_slot(self.ir.kernel_slot(place.name))
        if place.space == FUNCTION:
            self.function_address(handle)
        elif place.name not in self.ir.addressed:
            self.ir.addressed.append(place.name)
        if self.ir.independent:
            return self._independent_address(place)
        return self.linked_pair(place.space, place.ir_id, place.name)

    def _independent_address(self, place: Place) -> i64:
        """The same from bank 4; that of a function counts from where the target has them count from."""
        self.code.taken.append(place.name)
        if place.space == ENTRY:
            return self._from_slot(self.ir.kernel_slot(place.name))
        address = self._from_slot(self.ir.external_slot(place.name))
        if not self.ir.pointer_base:
            return address
        dest = self.new_pair()
        base = self._from_slot(self.ir.external_slot(self.ir.pointer_base))
        self.template("distance_wide", 0, dest, packed(address), packed(base))
        return dest

    def function_address(self, handle: int) -> int:
        """The address of a function: its place in the table of functions, which every kernel that calls by one has in bank 2.

        0 is no function. Source: observed (ptxas 13.0.88, for modules of several kernels).
        """
        known = next((n for other, n in self.pointers.items() if self.aliased(other) == self.aliased(handle)), len(self.pointers))
        return FUNCTION_SLOT * (1 + self.pointers.setdefault(self.aliased(handle), known))

    def aliased(self, handle: int) -> int:
        """The function that a function is, as far as aliases have been seen: itself, or what it is an alias of."""
        while handle in self.aliases:
            handle = self.aliases[handle]
        return handle

    def _low_address(self, place: Place, offset: int) -> i64:
        """A 32-bit register with the address of a variable in shared or local memory, or a constant of an object."""
        kept = self.is_linked_constant(place) or self._is_linked_shared(place.way)
        if kept or (self.ir.relocatable and place.way not in (storage.FRAME, storage.REGISTERS)):
            return self._linked_low(place, offset)
        if place.way == storage.BEHIND:
            return self._dynamic_shared(place, offset)
        near = abs(offset) < _MOST_ADDEND
        if place.way not in (storage.FRAME, storage.BLOCK, storage.REGISTERS):
            raise NotSupported(f"address of {place.space} {place.name}")
        number = self._home(place) if place.way == storage.REGISTERS else place.ir_id
        symbol = Value(ADDRESS, opd.symbol(number, offset if near else 0))
        low = self._placed(self.shared_base() if place.way == storage.BLOCK else self.stack(), symbol)
        return low if near else self._plus(low, offset)

    def _linked_low(self, place: Place, offset: int) -> i64:
        """The same of a variable that a linker places."""
        if place.way == storage.CONSTANTS:
            return self.linked(place.space, place.ir_id, offset)
        if place.way not in (storage.BLOCK, storage.BEHIND):
            raise NotSupported(f"address of {place.space} {place.name}")
        if place.way == storage.BEHIND:
            self.code.attributes.uses_dynamic_shared = True
        low = self.linked(place.space, place.ir_id, self.target.shared_base + offset)
        base = self.shared_base()
        if base == opd.RZ_OPERAND:
            return low
        dest = self.new_r()
        self.template("add_constant", 0, dest, packed(base), packed(low))
        return dest

    def _home(self, place: Place) -> int:
        """The variable in local memory that a parameter or result of the function at hand is, whose address is taken.

        A variable for a call has no address: the parser has refused it.
        """
        variable = place.param
        assert variable is not None
        if variable.home < 0:
            size, align = -(-place.size // WORD) * WORD, max(place.align, WORD)
            variable.home = self.ir.add_symbol(Symbol(place.name, "local", size, align), scoped=True)
        return variable.home

    # -- special registers ---------------------------------------------------------------------------------

    def special_register(self, name: str) -> Value:
        """A register (32 or 64 bits, or a predicate) with the value of a special register."""
        from oric_tables import lower_index

        size = lower_index.SPECIAL_REGISTERS.get(name)
        if size is None:
            raise NotSupported(f"%{name}")
        dest = self.new("R", size) if size else self.new_p()
        self._read_special(name, dest, 0)
        return packed(dest)

    def read_special(self, name: str, dest: i64, guard: i64) -> bool:
        """Read a special register into ``dest``; False when the widths differ (or the name is unknown)."""
        from oric_tables import lower_index

        size: int = 0 if self.code.is_predicate(dest) else opd.count_of(dest)
        if lower_index.SPECIAL_REGISTERS.get(name) != size:
            return False
        self._read_special(name, dest, guard)
        return True

    def _read_special(self, name: str, dest: i64, guard: i64) -> None:
        if name in RESERVED_NAMES:
            self.code.attributes.reserved_read = True
        program = self.tables.template(f"%{name}")
        env = self.open(program)
        env.put(0, dest)
        self.run(program, env, guard)
        self.close()

    def add_register(self, operand: i64, size: i64) -> int:
        """A handle of a register whose operand is known (0: not yet)."""
        self.registers_ = append(self.registers_, operand)
        self.sizes = append(self.sizes, size)
        return len(self.registers_) - 1


def _name_of(space: int) -> str:
    """The name of a state space that is not the generic one, by its value of field 281."""
    return next((name for name, number in storage.SPACES.items() if number == space and name), "no space")


def _exchange(env: Env) -> None:
    """Let sources a and b change places."""
    kind, bits, wide = env.kind[A], env.bits[A], env.wide[A]
    env.kind[A], env.bits[A], env.wide[A] = env.kind[B], env.bits[B], env.wide[B]
    env.kind[B], env.bits[B], env.wide[B] = kind, bits, wide


assert OFF < FIRST_TEMP
