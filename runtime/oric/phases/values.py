"""What register components are known to hold while a pass walks over a function, and putting it into operands.

A *fact* says that a 32-bit component (or predicate) holds the same as an operand: another register component, an
immediate, a word of a constant bank. Facts of components with several definitions hold within a block until either side
changes (versions). Facts of components with one definition hold wherever that definition dominates, provided that the
register they name has one definition as well, which dominates the fact.
"""

from __future__ import annotations

from typing import Final

from oric_tables import operand_kinds
from oric_tables.rewrites import COMMUTE

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.code import UP, UR, CodeObject, Instruction, P, R
from oric.ir.optable import CONTROL, INFO, MOV, Info
from oric.ir.slots import slot_map

_TYPE: Final = 7 << opd.TYPE_SHIFT
_REG: Final = opd.REG << opd.TYPE_SHIFT
SIGNS: Final = opd.NEGATE | opd.ABSOLUTE | opd.COMPLEMENT
PART: Final = opd.WIDE | 3 << opd.WIDTH_SHIFT | 3 << opd.COMPONENT_SHIFT
MASK32: Final = 0xFFFFFFFF
_GPR, _UGPR, _IMM, _CBANK = 1, 2, 5, 6  # kinds as in oric_insn.h
_BITS: Final = {"u4": 4, "u5": 5, "u12": 12, "u13": 13, "u16": 16}
_FLOATS: Final = frozenset({"f32", "f64h", "f16x2", "bf16x2"})
_WORDS: Final = frozenset({"s32", "x32", "f32"})
# Operations that select halves of their sources: a constant in place of a register would need its halves arranged.
_SWIZZLED: Final = frozenset(
    number for tables in operand_kinds.KINDS.values() for number, table in enumerate(tables) if "f16x2" in table.values()
)


class Values:
    """Facts and definitions during a walk in reverse post-order."""

    def __init__(self, code: CodeObject, graph: Cfg, isa: str) -> None:
        self.code = code
        slots = slot_map(code)
        self.bases = slots.bases
        self.sizes = slots.sizes
        self.of = slots.of
        n = slots.count
        self.files = bytearray(0 if reg is None else reg.reg_type for reg in code.regs)
        self.kinds = operand_kinds.KINDS[isa]
        self.block = 0
        self.first, self.last = graph._intervals
        self.defs = self._count(n)
        self.version = [0] * n
        self.fact = [0] * n
        self.fact_block = [0] * n
        self.fact_source = [-1] * n
        self.fact_version = [0] * n
        self.fact_global = bytearray(n)
        self.def_node: list[Instruction | None] = [None] * n
        self.def_block = [-1] * n
        self.def_clock = [0] * n
        self.clock = 0
        self.changed = 0
        self._slots = slots
        self._constants: dict[int, int] = {}

    def _count(self, n: int) -> bytearray:
        """Number of definitions of each slot, 2 for more than one."""
        counts = bytearray(n)
        of = self.of
        for block in self.code.blocks:
            node = block.head
            while node is not None:
                operands = node.operands
                for place in INFO[node.op].writes:
                    if place >= len(operands):
                        break
                    for slot in of(operands[place]):
                        counts[slot] = 2 if counts[slot] else 1
                node = node.next
        return counts

    # -- facts -------------------------------------------------------------------------------------------

    def dominates(self, a: int, b: int) -> bool:
        """Whether block ``a`` dominates block ``b``."""
        return self.first[a] <= self.first[b] and self.last[b] <= self.last[a]

    def is_stable(self, slot: int, block: int) -> bool:
        """Whether a slot has one definition, and that one reaches all of ``block`` from here on."""
        at = self.def_block[slot]
        return self.defs[slot] == 1 and at >= 0 and (at == block or self.dominates(at, block))

    def learn(self, slot: int, value: int) -> None:
        """The slot, just defined in the current block, holds the same as ``value``."""
        source = -1
        if value & _TYPE == _REG and value & opd.INDEX_MASK not in (opd.RZ, opd.PT):
            source = self.bases[value & opd.INDEX_MASK] + (value >> opd.COMPONENT_SHIFT & 3)
            if source == slot:
                return
            self.fact_version[slot] = self.version[source]
        self.fact[slot] = value
        self.fact_block[slot] = self.block
        self.fact_source[slot] = source
        self.fact_global[slot] = self.defs[slot] == 1 and (source < 0 or self.is_stable(source, self.block))

    def known(self, slot: int) -> int:
        """What the slot holds here, 0 when nothing is known."""
        value = self.fact[slot]
        if not value:
            return 0
        if self.fact_block[slot] == self.block:
            source = self.fact_source[slot]
            return value if source < 0 or self.version[source] == self.fact_version[slot] else 0
        if self.fact_global[slot] and self.dominates(self.fact_block[slot], self.block):
            return value
        return 0

    def define(self, node: Instruction, info: Info) -> None:
        """Note that ``node`` writes its destinations: what was known of them is no more."""
        operands = node.operands
        block = self.block
        self.clock += 1
        for place in info.writes:
            if place >= len(operands):
                break
            operand = operands[place]
            index = operand & opd.INDEX_MASK
            if operand & _TYPE != _REG or index in (opd.RZ, opd.PT):
                continue
            slot = self.bases[index]
            width = operand >> opd.WIDTH_SHIFT & 3
            if width == 0:
                span: tuple[int, ...] = (slot + (operand >> opd.COMPONENT_SHIFT & 3),)
            else:
                span = tuple(self.of(operand))
            for slot in span:
                self.version[slot] += 1
                self.fact[slot] = 0
                self.def_node[slot] = None if node.guard else node
                self.def_block[slot] = block
                self.def_clock[slot] = self.clock

    # -- operands ----------------------------------------------------------------------------------------

    def substitute(self, node: Instruction, info: Info) -> None:
        """Put what is known into the sources and the guard of ``node``."""
        operands = node.operands
        count = len(operands)
        fact = self.fact
        for place in info.reads:
            if place >= count:
                break
            operand = operands[place]
            index = operand & opd.INDEX_MASK
            if operand & _TYPE != _REG or index in (opd.RZ, opd.PT):
                continue
            if operand >> opd.WIDTH_SHIFT & 3 == 0:
                slot = self.bases[index] + (operand >> opd.COMPONENT_SHIFT & 3)
                if fact[slot]:
                    value = self.known(slot)
                    if value:
                        self.replace(node, info, place, operand, value)
            elif operand >> opd.WIDTH_SHIFT & 3 == 1:
                self._substitute_pair(node, info, place, operand)
        guard = node.guard
        if guard and guard & opd.INDEX_MASK != opd.PT:
            slot = self.bases[guard & opd.INDEX_MASK]
            if fact[slot]:
                value = self.known(slot)
                if value and not (info.flags & CONTROL and value & opd.INDEX_MASK == opd.PT):
                    node.guard = value ^ (guard & opd.NEGATE)
                    self.changed += 1

    def _substitute_pair(self, node: Instruction, info: Info, place: int, operand: int) -> None:
        slot = self.bases[operand & opd.INDEX_MASK] + (operand >> opd.COMPONENT_SHIFT & 3)
        if not self.fact[slot] or not self.fact[slot + 1]:
            return
        pair = self.pair_of(self.known(slot), self.known(slot + 1))
        if pair:
            self.replace(node, info, place, operand, pair)

    def pair_of(self, low: int, high: int) -> int:
        """The 64-bit operand whose parts are ``low`` and ``high``; 0 when they are none."""
        if not low or not high or (low | high) & SIGNS:
            return 0
        if low & _TYPE == _REG and high == low + (1 << opd.COMPONENT_SHIFT) and not low >> opd.COMPONENT_SHIFT & 1:
            return low | opd.WIDE | 1 << opd.WIDTH_SHIFT
        if low & opd.CONST_BANK and high == low + 4 and not low & 7:
            return low
        if low == opd.RZ_OPERAND == high:
            return opd.RZ_OPERAND
        if low == opd.RZ_OPERAND and high & _TYPE in (opd.IMM << opd.TYPE_SHIFT, opd.POOL << opd.TYPE_SHIFT):
            return high | HIGH_WORD
        return 0

    def replace(self, node: Instruction, info: Info, place: int, operand: int, value: int) -> bool:
        """Put ``value`` for the register ``operand`` at ``place`` if the operation takes it there; keeps the signs."""
        operands = node.operands
        form = value & _TYPE
        if info.kinds[place] in ("pred", "upred"):
            operands[place] = value ^ (operand & opd.NEGATE)
            self.changed += 1
            return True
        index = value & opd.INDEX_MASK
        if form == _REG:
            if index == opd.RZ or self.files[index] not in (UR, UP) or self.files[operand & opd.INDEX_MASK] == UR:
                operands[place] = value | operand & SIGNS
                self.changed += 1
                return True
            kind = _UGPR
        else:
            kind = _CBANK if value & opd.CONST_BANK else _IMM
        return self._replace_by_kind(node, info, place, operand, value, kind)

    def _replace_by_kind(self, node: Instruction, info: Info, place: int, operand: int, value: int, kind: int) -> bool:
        positions = operand_kinds.POSITIONS[info.number]
        table = self.kinds[info.number]
        if place not in positions or info.number in _SWIZZLED or (kind == _IMM and len(positions) == 1 and node.op != MOV):
            return False
        operands = node.operands
        format_ = table.get(self._key(operands, positions, place, kind))
        target = place
        if format_ is None:
            commute = COMMUTE.get(node.op)
            if commute is None or place not in commute[0]:
                return False
            for other in commute[0]:
                if other != place and self._kind(operands[other]) == _GPR:
                    trial = operands.copy()
                    trial[place] = operands[other]
                    format_ = table.get(self._key(trial, positions, other, kind))
                    if format_ is not None:
                        target = other
                        break
            if format_ is None:
                return False
        new = self._fitted(operand, value, kind, format_)
        if not new:
            return False
        if target != place:
            operands[place] = operands[target]
            for shift, mask, names in COMMUTE[node.op][1]:
                old = node.mods >> shift & mask
                node.mods ^= (old ^ names.get(old, old)) << shift
        operands[target] = new
        self.changed += 1
        return True

    def _kind(self, operand: int) -> int:
        form = operand >> opd.TYPE_SHIFT & 7
        if form == opd.REG:
            index = operand & opd.INDEX_MASK
            return _UGPR if index != opd.RZ and self.files[index] == UR else _GPR
        if form in (opd.IMM, opd.POOL):
            return _IMM
        if form == opd.SYMBOL:
            return _CBANK if operand & opd.CONST_BANK else 15
        return 0

    def _key(self, operands: list[int], positions: tuple[int, ...], place: int, kind: int) -> int:
        key = 0
        shift = 0
        for position in positions:
            if position == place:
                key |= kind << shift
            elif position < len(operands):
                key |= self._kind(operands[position]) << shift
            shift += 4
        return key

    def _fitted(self, operand: int, value: int, kind: int, format_: str) -> int:
        """``value`` with the signs of ``operand``, as an operand of that number format; 0 when it does not fit."""
        if kind != _IMM:
            return value | operand & SIGNS
        if bool(value & HIGH_WORD) != (format_ == "f64h"):
            return 0
        bits = self.code.imm_value(value & ~HIGH_WORD) & MASK32
        if format_ in _BITS:
            return value if not operand & SIGNS and bits >> _BITS[format_] == 0 else 0
        if format_ not in _WORDS and format_ != "f64h":
            return 0
        return self.code.imm(with_signs(bits, operand, format_ in _FLOATS, format_) & MASK32)

    def accepts(self, word: int, operands: list[int]) -> bool:
        """Whether an operation has a form for the kinds and signs of these operands."""
        info = INFO[word]
        positions = operand_kinds.POSITIONS[info.number]
        if self._key(operands, positions, -1, 0) not in self.kinds[info.number]:
            return False
        for place, allowed in zip(positions, operand_kinds.SIGNS[info.number], strict=True):
            signs = operands[place] & SIGNS if place < len(operands) else 0
            if (signs & opd.NEGATE and not allowed & 1) or (signs & opd.ABSOLUTE and not allowed & 2):
                return False
            if signs & opd.COMPLEMENT and not allowed & 4:
                return False
        return True

    # -- definitions -------------------------------------------------------------------------------------

    def source_def(self, operand: int) -> Instruction | None:
        """The instruction that made the value of a register component, if its sources still hold what it read."""
        index = operand & opd.INDEX_MASK
        if operand & _TYPE != _REG or index in (opd.RZ, opd.PT):
            return None
        slot = self.bases[index] + (operand >> opd.COMPONENT_SHIFT & 3)
        node = self.def_node[slot]
        if node is None or node.block is None:
            return None
        at = self.def_block[slot]
        if at != self.block and not self.is_stable(slot, self.block):
            return None
        clock = self.def_clock[slot]
        operands = node.operands
        for place in INFO[node.op].reads:
            if place >= len(operands):
                break
            for source in self.of(operands[place]):
                if at == self.block:
                    if self.def_block[source] == at and self.def_clock[source] >= clock:
                        return None
                elif not self.is_stable(source, at):
                    return None
        return node

    def constant_register(self, value: int) -> int:
        """A register that holds a 32-bit constant from the function's entry on."""
        known = self._constants.get(value)
        if known is not None:
            return known
        index = self.code.new_reg(R)
        while len(self._slots.sizes) < index:  # ids that are kept for RZ and PT
            self._add_register(0)
        self._add_register(1)
        operand = self._constants[value] = opd.reg(index)
        node = Instruction(MOV, [operand, self.code.imm(value)])
        entry = self.code.blocks[0]
        if entry.head is None:
            self.code.append(entry, node)
        else:
            node.line = entry.head.line
            self.code.insert_before(entry.head, node)
        slot = self.bases[index]
        self.defs[slot] = 1
        self.def_node[slot] = node
        self.def_block[slot] = 0
        return operand

    def _add_register(self, size: int) -> None:
        slots = self._slots
        slots.bases.append(slots.count)
        slots.sizes.append(size)
        slots.count += size
        self.files.append(R if size else 0)
        for _ in range(size):
            for table, blank in ((self.version, 0), (self.fact, 0), (self.fact_block, 0), (self.fact_source, -1),
                                 (self.fact_version, 0), (self.def_block, -1), (self.def_clock, 0)):  # fmt: skip
                table.append(blank)
            self.def_node.append(None)
            self.defs.append(0)
            self.fact_global.append(0)

    def constant(self, operand: int, is_float: bool = False) -> int | None:
        """The 32-bit pattern of an operand with its signs applied, None when it is not known to be constant."""
        form = operand >> opd.TYPE_SHIFT & 7
        if form == opd.REG and operand & opd.INDEX_MASK not in (opd.RZ, opd.PT) and not operand & opd.WIDE:
            slot = self.bases[operand & opd.INDEX_MASK] + (operand >> opd.COMPONENT_SHIFT & 3)
            value = self.known(slot) if self.fact[slot] else 0
            if not value or value & opd.CONST_BANK or value & (_TYPE | opd.INDEX_MASK) == opd.PT_OPERAND:
                return None
            operand = value | operand & SIGNS
            form = operand >> opd.TYPE_SHIFT & 7
        if form in (opd.IMM, opd.POOL):
            return with_signs(self.code.imm_value(operand & ~SIGNS) & MASK32, operand, is_float, "") & MASK32
        if operand & (_TYPE | opd.INDEX_MASK) == opd.RZ_OPERAND:
            return with_signs(0, operand, is_float, "") & MASK32
        return None

    def is_predicate(self, operand: int) -> bool:
        """True for a register operand of a predicate file."""
        index = operand & opd.INDEX_MASK
        return operand & _TYPE == _REG and (index == opd.PT or (index != opd.RZ and self.files[index] in (P, UP)))


# Mark on an immediate that stands for the upper word of a 64-bit value whose lower word is 0; only inside this package.
HIGH_WORD: Final = 1 << 60


def with_signs(bits: int, operand: int, is_float: bool, format_: str) -> int:
    """A 32-bit pattern with the sign changes of ``operand`` applied."""
    if not operand & SIGNS:
        return bits
    if is_float:
        top = 0x80008000 if format_ in ("f16x2", "bf16x2") else 0x80000000
        if operand & opd.ABSOLUTE:
            bits &= ~top
        return bits ^ top if operand & opd.NEGATE else bits
    if operand & opd.ABSOLUTE and bits >> 31:
        bits = -bits & MASK32
    if operand & opd.COMPLEMENT:
        bits = ~bits
    return -bits if operand & opd.NEGATE else bits
