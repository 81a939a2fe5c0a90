"""What code names: registers, variables and functions by their handles, where they lie, and special registers.

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
from oric.support.diagnostics import NotSupported

from .emit import ADDRESS, Value, integer, packed, part
from .linked import Linked

MOST_ADDEND: Final = 1 << 22  # a larger distance from the start of a variable is added by an instruction


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


class Symbols(Linked):
    """The part of the builder that knows registers and the places of variables."""

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

    def add_register(self, operand: i64, size: i64) -> int:
        """A handle of a register whose operand is known (0: not yet)."""
        self.registers_ = append(self.registers_, operand)
        self.sizes = append(self.sizes, size)
        return len(self.registers_) - 1

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

    # -- places of variables -------------------------------------------------------------------------------

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
        return place.way != storage.BEHIND and abs(offset) < MOST_ADDEND

    def _dynamic_shared(self, place: Place, offset: int) -> i64:
        """A register with the address of dynamic shared memory, which lies behind all static variables."""
        near = abs(offset) < MOST_ADDEND
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
        near = abs(offset) < MOST_ADDEND
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
            self.code.attributes.read_reserved([name])
        program = self.tables.template(f"%{name}")
        env = self.open(program)
        env.put(0, dest)
        self.run(program, env, guard)
        self.close()
