"""Symbols and addresses: where variables lie, how code reaches them; special registers.

Addresses by space: global and generic are 64-bit registers; shared, local, constant and parameter addresses are
32-bit registers (the low part of a 64-bit PTX register). Kernel parameters are addressed by their offset in bank 0.
"""

from __future__ import annotations

from typing import Any, Final

from oric.ir import operand as opd
from oric.ir.attributes import FunctionAttributes
from oric.ir.code import CodeObject, Instruction
from oric.ir.module import BANK_ADDRESS, Module
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .emit import Emitter

_ADDRESS_REGISTERS: Final = 2  # 32-bit registers of a global or generic address
_OFFSET_MIN: Final = -(1 << 23)
_OFFSET_MAX: Final = (1 << 23) - 1
_LO_MASK: Final = ~(opd.WIDE | 3 << opd.WIDTH_SHIFT)
_STACK_HINT: Final = 1  # R1 is the stack pointer of the ABI
_STACK_ALIGN: Final = 16
_EXTENDED: Final = {1: 0x4440, 2: 0x4410}  # bytes -> selector of PRMT that puts zeros behind them


class Place:
    """What a symbol handle names.

    ``space``: global, const, shared, local, kernel (a kernel parameter), param (a parameter variable of a call, in
    registers) or function. ``ir_id``: id in the module's symbols, -1 for the last three. ``offset``: of a kernel
    parameter in the parameter area. ``words``: the registers of a call parameter, one per four bytes, 0 before the
    first use.
    """

    __slots__ = ("align", "ir_id", "name", "offset", "size", "space", "words")

    def __init__(self, name: str, space: str, size: int, align: int, ir_id: int = -1, offset: int = 0) -> None:
        self.name = name
        self.space = space
        self.size = size
        self.align = align
        self.ir_id = ir_id
        self.offset = offset
        self.words: list[int] = [0] * -(-size // 4) if space == "param" else []


class Memory(Emitter):
    """The part of the builder that knows addresses."""

    ir: Module
    symbols: list[Any]

    def __init__(self) -> None:
        self.tables: list[tuple[int, ...]] = []
        self.facts = FunctionAttributes()
        self.dynamic_fixups: list[tuple[Instruction, int, int, int]] = []
        self.own_shared: list[Place] = []
        self.reset_body()

    def reset_body(self) -> None:
        """Forget what belongs to one function."""
        self.tables = []
        self.own_shared = []
        self._descriptor = 0
        self._stack = 0
        self._stack_adjust: Instruction | None = None
        self.dynamic_fixups = []

    # -- declarations ------------------------------------------------------------------------------------

    def declare(self, variable: Any) -> Place:
        """The place of a declared variable."""
        space = variable.space
        if space == "param":
            return Place(variable.name, "param", variable.size, variable.align)
        if space not in ("global", "const", "shared", "local"):
            raise NotSupported(f".{space} variable")
        if variable.type in ("texref", "samplerref", "surfref"):
            raise NotSupported(f".{variable.type}")
        ir_id = self.ir_symbol(variable)
        return Place(variable.name, space, variable.size, variable.align, ir_id)

    def ir_symbol(self, variable: Any) -> int:
        """Enter a variable into the module."""
        raise NotImplementedError

    @staticmethod
    def kernel_param(variable: Any, offset: int) -> Place:
        """The place of a kernel parameter."""
        return Place(variable.name, "kernel", variable.size, variable.align, offset=offset)

    # -- things loaded at function entry -------------------------------------------------------------------

    def descriptor(self) -> int:
        """The pair of uniform registers with the descriptor of global memory."""
        if not self._descriptor:
            self._descriptor = self.new("UR", 2)
            self._at_entry("load_descriptor", self._descriptor)
        return self._descriptor

    def stack(self) -> int:
        """The register with the address of the frame."""
        if not self._stack:
            self._stack = self.new("R")
            register = self.code.regs[self._stack & opd.INDEX_MASK]
            assert register is not None
            register.hint = _STACK_HINT
            op, mods = self.selector.template("add_constant").lines[0][:2]
            adjust = Instruction(op, [self._stack, self._stack, opd.RZ_OPERAND, opd.RZ_OPERAND], mods)
            self._prepend(adjust)
            self._stack_adjust = adjust
            self._at_entry("load_stack", self._stack)
        return self._stack

    def _at_entry(self, template: str, dest: int) -> None:
        op, mods, _, specs, _, _ = self.selector.template(template).lines[0]
        self._prepend(Instruction(op, [dest, *specs[1:]], mods))

    def _prepend(self, instruction: Instruction) -> None:
        if not self.code.blocks:
            self.open_block()
        entry = self.code.blocks[0]
        if entry.head is None:
            self.code.append(entry, instruction)
        else:
            self.code.insert_before(entry.head, instruction)

    def finish_memory(self, code: CodeObject) -> None:
        """What is known only at the end of a body: frame size, place of dynamic shared memory."""
        facts = self.facts
        for place in self.own_shared:
            self._shared_offset(place)  # those that no code uses lie behind the others
        if self._stack_adjust is not None:
            facts.local_size = -(-facts.local_size // _STACK_ALIGN) * _STACK_ALIGN
            facts.frame_size = facts.local_size
            self._stack_adjust.operands[2] = code.imm(-facts.local_size & 0xFFFFFFFF)
        for instruction, index, extra, align in self.dynamic_fixups:
            base = -(-facts.static_shared // align) * align
            instruction.operands[index] = code.imm(self.target.shared_base + base + extra)

    # -- addresses ---------------------------------------------------------------------------------------

    def address(self, node: Any, space: str) -> tuple[int, int]:
        """Base register and byte offset of an address operand in a space (``""`` for generic)."""
        kind = node[0]
        wide = space in ("", "global")
        if kind == nodes.ADDR_REG:
            base = self.registers_[node[1]] or self.register(node[1])
            if not wide:
                base &= _LO_MASK
            elif self.sizes[node[1]] < _ADDRESS_REGISTERS:
                raise NotSupported("a global or generic address of less than 64 bits")
            return self._with_offset(base, node[2], wide)
        if kind == nodes.ADDR_IMM:
            if _OFFSET_MIN <= node[1] <= _OFFSET_MAX:
                return opd.RZ_OPERAND, self.code.imm(node[1] & 0xFFFFFFFF)
            return (self.constant64(node[1]) if wide else self.constant(node[1] & 0xFFFFFFFF)), self.code.imm(0)
        if kind == nodes.INDEX:
            base, displacement = self._symbol_base(self.symbols[node[1]], 0, space)
            return self._scaled(node, base, wide), displacement
        if kind != nodes.ADDR_SYM:
            raise self.unexpected(node, "as an address")
        return self._symbol_base(self.symbols[node[1]], node[2], space)

    def _with_offset(self, base: int, offset: int, wide: bool) -> tuple[int, int]:
        if _OFFSET_MIN <= offset <= _OFFSET_MAX:
            return base, self.code.imm(offset)
        name = "add_offset_wide" if wide else "add_constant"
        dest = self.new("R", 2 if wide else 1)
        self.template(name, d=dest, a=base, b=(nodes.INT, offset))
        return dest, self.code.imm(0)

    def _scaled(self, node: Any, base: int, wide: bool) -> int:
        """``base`` plus the bytes in front of an element that a register chooses.

        The index is a 32-bit number without sign, whatever the register (observed: ptxas 13.0.88).
        """
        _, _, handle, scale, offset = node
        index = (self.registers_[handle] or self.register(handle)) & _LO_MASK
        if self.narrow_bytes(handle):
            index, narrow = self.new("R"), index
            self.template("permute", d=index, a=narrow, b=(nodes.INT, _EXTENDED[self.narrow_bytes(handle)]), c=opd.RZ_OPERAND)
        if offset:
            index, first = self.new("R"), index
            self.template("add_constant", d=index, a=first, b=(nodes.INT, offset // scale))
        dest = self.new("R", 2 if wide else 1)
        self.template("add_scaled_wide" if wide else "multiply_add", d=dest, a=index, b=(nodes.INT, scale), c=base)
        return dest

    def element_address(self, node: Any) -> int:
        """The address of an element that a register chooses, as a value: a 64-bit register."""
        base = self.symbol_address(node[1], 0)
        return self._scaled(node, base if base.__class__ is int else self.constant64(base[1]), True)

    def register_sum(self, handle: int, offset: int) -> int:
        """A register with the sum of a register and a constant, of the width of the former."""
        base = self.registers_[handle] or self.register(handle)
        dest = self.like(base)
        wide = base >> opd.WIDTH_SHIFT & 3
        self.template("add_offset_wide" if wide else "add_constant", d=dest, a=base, b=(nodes.INT, offset))
        return dest

    def _symbol_base(self, place: Place, offset: int, space: str) -> tuple[int, int]:
        if place.space == "global" and space in ("", "global"):
            return self._with_offset(self._global_address(place), offset, True)
        if place.space != space:
            raise NotSupported(f"generic or foreign address of {place.space} variable {place.name}")
        if place.space == "shared":
            if self._is_dynamic(place):
                return self._dynamic_shared(place, offset), self.code.imm(0)
            return self._with_offset(opd.RZ_OPERAND, self._shared_offset(place) + offset, False)
        if place.space == "local":
            return self._with_offset(self.stack(), self._local_offset(place) + offset, False)
        return self._with_offset(opd.RZ_OPERAND, self.bank_offset(place) + offset, False)

    def bank_offset(self, place: Place) -> int:
        """Byte offset of a constant variable in bank 3, of a kernel parameter in bank 0."""
        if place.space == "kernel":
            base: int = self.target.bank0_params
            return base + place.offset
        return self.ir.constant_offset(place.ir_id)

    def _global_address(self, place: Place) -> int:
        slot = self.ir.address_slot(place.ir_id)
        dest = self.new("R", 2)
        low, high = (opd.const_bank(BANK_ADDRESS, slot + part) for part in (0, 4))
        self.template("pair", d=dest, a=low, b=high)
        return dest

    def _is_dynamic(self, place: Place) -> bool:
        return self.ir.symbols[place.ir_id].is_dynamic_shared

    def _shared_offset(self, place: Place) -> int:
        base: int = self.target.shared_base
        return base + self.facts.reserve_shared(place.ir_id, place.size, place.align)

    def _local_offset(self, place: Place) -> int:
        return self.facts.reserve_local(place.ir_id, place.size, place.align)

    def _dynamic_shared(self, place: Place, offset: int) -> int:
        """A register with the address of dynamic shared memory, which lies behind all static variables."""
        self.facts.uses_dynamic_shared = True
        self.facts.shared_align = max(self.facts.shared_align, place.align)
        dest = self.new("R")
        instruction = self.append(self.move_op, [dest, opd.RZ_OPERAND], self.move_mods, 0)
        self.dynamic_fixups.append((instruction, 1, offset, place.align))
        return dest

    def symbol_address(self, handle: int, offset: int) -> Any:
        """The address of a variable as a value: a 64-bit register, or an INT node when it is a constant."""
        place = self.symbols[handle]
        if place.space == "global":
            base = self._global_address(place)
            if not offset:
                return base
            dest = self.new("R", 2)
            self.template("add_offset_wide", d=dest, a=base, b=(nodes.INT, offset))
            return dest
        if place.space == "shared" and not self._is_dynamic(place):
            return (nodes.INT, self._shared_offset(place) + offset)
        if place.space in ("const", "kernel"):
            return (nodes.INT, self.bank_offset(place) + offset)
        if place.space == "shared":
            low = self._dynamic_shared(place, offset)
        elif place.space == "local":
            low = self.new("R")
            self.template("add_constant", d=low, a=self.stack(), b=(nodes.INT, self._local_offset(place) + offset))
        else:
            raise NotSupported(f"address of {place.space} {place.name}")
        dest = self.new("R", 2)
        self.template("pair", d=dest, a=low, b=opd.RZ_OPERAND)
        return dest

    # -- special registers ---------------------------------------------------------------------------------

    def special_register(self, name: str) -> Any:
        """A register (32 or 64 bits) with the value of a special register, or an INT node for a constant one."""
        from oric_tables import lower_index

        size = lower_index.SPECIAL_REGISTERS.get(name)
        if size is None:
            raise NotSupported(f"%{name}")
        dest = self.new("R", size)
        self.template(f"%{name}", d=dest)
        return dest

    def read_special(self, name: str, dest: int, guard: int) -> bool:
        """Read a special register into ``dest``; False when the widths differ (or the name is unknown)."""
        from oric_tables import lower_index

        if lower_index.SPECIAL_REGISTERS.get(name) != 1 << (dest >> opd.WIDTH_SHIFT & 3):
            return False
        self.template(f"%{name}", guard, d=dest)
        return True

    # declared by the builder
    registers_: list[int]
    sizes: bytearray

    def register(self, handle: int) -> int:
        """The operand of a declared register."""
        raise NotImplementedError

    def narrow_bytes(self, handle: int) -> int:
        """Bytes of a register of fewer than 32 bits, 0 for others."""
        raise NotImplementedError
