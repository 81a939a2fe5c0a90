"""Operands and addresses of accesses.

Addresses by space: global and generic are 64-bit registers; shared, local, constant and parameter addresses are
32-bit registers (the low part of a 64-bit PTX register). The address of a kernel parameter is its offset behind the first one.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64
from oric_tables import storage

from oric.ir import operand as opd
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .emit import ADDRESS, FLOATING, INTEGER, OPERAND, Env, Value, integer, packed, part
from .program import CC, CLUSTER, DESC, FIRST_TEMP, NOFF, OFF, WORD_MASK, A, B, M, N, Program, Q
from .symbols import MOST_ADDEND, Place, Symbols

QUAD: Final = 4  # 32-bit registers of 128 bits
_ADDRESS_REGISTERS: Final = 2  # 32-bit registers of a global or generic address
_OFFSET_BITS: Final = 24  # of the displacement of an access, where a rule says nothing else with `reach`
_OFFSET_MIN: Final = -(1 << _OFFSET_BITS - 1)
_OFFSET_MAX: Final = (1 << _OFFSET_BITS - 1) - 1
_WIDE_STEP: Final = 32  # of the displacements of accesses of 256 bits, and what they reach
_WIDE_MIN: Final = -(1 << 21)
_WIDE_MAX: Final = (1 << 21) - _WIDE_STEP
_EXTENDED: Final = {1: 0x4440, 2: 0x4410}  # bytes -> selector of PRMT that puts zeros behind them
_MASK32: Final = 0xFFFFFFFF


@final
class Address:
    """Base register and displacement (an immediate or a symbol) of an access."""

    def __init__(self, base: int, displacement: int) -> None:
        self.base = base
        self.displacement = displacement


class Memory(Symbols):
    """The part of the builder that knows operands and addresses."""

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
            if abs(offset) < MOST_ADDEND:
                return Address(base, opd.symbol(place.ir_id, offset))
            far = self.new_r()
            self.template("add_constant", 0, far, packed(base), integer(offset))
            return Address(far, opd.symbol(place.ir_id, 0))
        if self.is_linked_constant(place):
            return self._with_offset(self.linked(place.space, place.ir_id, 0), offset, False)
        return self._with_offset(opd.RZ_OPERAND, self.bank_offset(place) + offset, False)


def _name_of(space: int) -> str:
    """The name of a state space that is not the generic one, by its value of field 281."""
    return next((name for name, number in storage.SPACES.items() if number == space and name), "no space")


def _exchange(env: Env) -> None:
    """Let sources a and b change places."""
    kind, bits, wide = env.kind[A], env.bits[A], env.wide[A]
    env.kind[A], env.bits[A], env.wide[A] = env.kind[B], env.bits[B], env.wide[B]
    env.kind[B], env.bits[B], env.wide[B] = kind, bits, wide


assert OFF < FIRST_TEMP
