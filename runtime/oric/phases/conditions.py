"""Phase 65: comparisons take the second condition of what reads them, and logic functions are tested as they are made.

An operation that combines two predicates, one of which a comparison makes, becomes that comparison with the other predicate for
its second condition. Where somebody else reads the comparison it is made twice: that takes no instruction more, and one predicate
less is kept, of which there are few. A logic function that is only compared with zero says itself whether it is; where the
question is whether it is zero, the answer is read with the other sign. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import FSETP, ISETP, LOP3, PLOP3
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function, P
from oric.ir.optable import KIND_PRED, OPS, SLOTS, instructions_with, marked, written_registers
from oric.ir.passes import PassContext
from oric.ir.text import all_instructions

from .cleanup import remove_dead_code
from .comparing import is_joined_by_and
from .makers import makers_of

# Rows of the truth table of a PLOP3 in which its sources (operands 1 to 3) are true.
_ROWS: Final = (0xF0, 0xCC, 0xAA)
_TABLE: Final = ops.op(PLOP3).mods["lut"]
_COMPARES: Final = (ISETP, FSETP)
_COMBINED: Final = [ops.op(o).mods["bop"] for o in _COMPARES]
_NAMES: Final = [[operand.name for operand in ops.op(o).operands] for o in _COMPARES]
_COMPLEMENT: Final = [names.index("Pv") for names in _NAMES]
_OTHER: Final = [names.index("Pp") for names in _NAMES]
_ALL: Final = 0xFF
_COMPARED: Final = ops.op(ISETP).mods["cmp"]
_EQUAL: Final[int] = _COMPARED.values["EQ"]
_UNEQUAL: Final[int] = _COMPARED.values["NE"]
_COMBINERS: Final = marked((PLOP3,))
_TESTS: Final = marked((ISETP,))
_LOGIC: Final = marked((LOP3,))
# Whether a logic function is not zero; the second condition is the operand behind.
_TESTED: Final = [operand.name for operand in ops.op(LOP3).operands].index("Pu")
_BOTH: Final = ops.op(LOP3).mods["pand"]


def join_conditions(f: Function, ctx: PassContext) -> bool:
    """Let comparisons have second conditions; returns whether any does."""
    found = _writers(f, _COMBINERS)
    joined: i64 = 0
    if found:
        joiner = _Joiner(f)
        for i in found:
            if joiner.join(i):
                joined += 1
        ctx.count("conditions joined with comparisons", joined)
        if joined:
            remove_dead_code(f, ctx)  # comparisons that nobody reads any more
    tests: i64 = 0
    found = _writers(f, _TESTS) if instructions_with(f, _LOGIC) else []
    if found:
        tester = _Tester(f)
        for i in found:
            if tester.test(i):
                tests += 1
        ctx.count("logic functions tested as they are made", tests)
        if tests:
            remove_dead_code(f, ctx)
    return joined != 0 or tests != 0


def _writers(f: Function, wanted: vec[i64]) -> list[int]:
    """The instructions of some operations that write a register."""
    return [i for i in instructions_with(f, wanted) if opd.is_register(f.get(i, 0))]


@final
class _Joiner:
    """Comparisons of a function, and what holds where they are read."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.makers = makers_of(f)
        self.cursor = Cursor(f)

    def join(self, i: int) -> bool:
        """Make a comparison of what combines two predicates, if one of them is made by one; returns whether it is."""
        sources = self._sources(i)
        if len(sources) != 2:
            return False
        for only in (True, False):  # better one that nobody reads any more
            for at in (0, 1):
                place, other = sources[at], sources[1 - at]
                if self._compare(i, place, only) and self._replace(i, place, other):
                    return True
        return False

    def _sources(self, i: int) -> list[int]:
        """The places of the predicates that are combined; none where more is made than one."""
        f = self.f
        if len(written_registers(f, i)) != 1:
            return []
        places = [at for at in range(1, len(_ROWS) + 1) if opd.is_register(f.get(i, at))]
        for at in range(1, len(_ROWS) + 1):
            operand = f.get(i, at)
            if at in places:
                if f.reg_type[operand & opd.INDEX] != P:  # a uniform one has no place in a comparison
                    return []
            elif not is_absent(operand) and operand not in (opd.PT_OPERAND, opd.NOT_PT_OPERAND):
                return []
        return places

    def _compare(self, i: int, place: int, only: bool) -> bool:
        """Whether the comparison that makes a source of an instruction can be made there; ``only``: and nobody else reads it."""
        f = self.f
        source = f.get(i, place)
        made = self.makers.of(source)
        if made < 0 or f.op[made] not in _COMPARES or (only and self.makers.read[f.words_of(source)] > 1):
            return False
        kind = _COMPARES.index(int(f.op[made]))
        if f.get(made, 0) != source & ~opd.SIGNS or len(written_registers(f, made)) != 1:
            return False
        if not is_absent(f.get(made, _OTHER[kind])) and f.get(made, _OTHER[kind]) != opd.PT_OPERAND:
            return False
        if f.mods[made] >> _COMBINED[kind].shift & _COMBINED[kind].mask != _COMBINED[kind].values["AND"]:
            return False  # PT is no condition of AND alone
        return self.makers.can_move(made, _COMPLEMENT[kind], i)

    def _replace(self, i: int, place: int, other: int) -> bool:
        f = self.f
        made = self.makers.of(f.get(i, place))
        kind = _COMPARES.index(int(f.op[made]))
        table = _of_two(f, i, place, other)
        combined = _COMBINED[kind]
        for name, negated, rows in (("AND", 0, 0x8), ("AND", opd.NEGATE, 0x4), ("OR", 0, 0xE), ("OR", opd.NEGATE, 0xD)):
            if table == rows:
                condition = f.get(i, other) & ~opd.NEGATE | negated
                result = f.get(i, 0)
                mods = f.mods[made] & ~(combined.mask << combined.shift) | combined.values[name] << combined.shift
                self.cursor.rewrite(i, f.op[made], mods, len(_NAMES[kind]))
                f.set(i, 0, result)
                for at in range(1, len(_NAMES[kind])):
                    f.set(i, at, f.get(made, at) if at < f.count[made] else opd.NO_OPERAND)
                f.set(i, _OTHER[kind], condition)
                return True
        return False


@final
class _Tester:
    """Comparisons of logic functions with zero; ``readers``: predicate -> the instructions that name it."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.makers = makers_of(f)
        self.cursor = Cursor(f)
        self.readers: dict[int, list[int]] | None = None  # made when it is asked for

    def _all_readers(self) -> dict[int, list[int]]:
        f = self.f
        found: dict[int, list[int]] = {}
        for i in all_instructions(f):
            _note(f, found, i, f.guard[i])
            at: i64 = 0
            while at < f.count[i]:
                _note(f, found, i, f.get(i, at))
                at += 1
        return found

    def test(self, i: int) -> bool:
        """Make the logic function of a comparison, if that asks whether it is zero; returns whether it does."""
        f = self.f
        zero = f.get(i, 2)
        if len(written_registers(f, i)) != 1 or not (zero == opd.RZ_OPERAND or (_is_number(zero) and f.imm_value(zero) == 0)):
            return False
        made = self._function(i)
        compared = f.mods[i] >> _COMPARED.shift & _COMPARED.mask
        if made == NONE or compared not in (_EQUAL, _UNEQUAL):
            return False
        readers = self._readers(i) if compared == _EQUAL else []
        if readers is None:
            return False
        other = f.get(i, _OTHER[0])
        both = is_joined_by_and(f, i)
        if is_absent(other):
            other = opd.PT_OPERAND
        if compared == _EQUAL:
            other, both = other ^ opd.NEGATE, not both
        if both and other == opd.PT_OPERAND:
            other, both = opd.NOT_PT_OPERAND, False
        self._replace(i, made, other, both)
        for reader, at in readers:
            if at < 0:
                f.set_guard(reader, f.guard[reader] ^ opd.NEGATE)
            else:
                f.set(reader, at, f.get(reader, at) ^ opd.NEGATE)
        return True

    def _function(self, i: int) -> i64:
        """The logic function that a comparison alone reads and that can be made in its place, ``NONE``: there is none."""
        f = self.f
        source = f.get(i, 1)
        if not opd.is_register(source) or source & opd.SIGNS or self.makers.read[f.words_of(source)] != 1:
            return NONE
        made = self.makers.of(source)
        if made < 0 or f.op[made] != LOP3 or len(written_registers(f, made)) != 1:
            return NONE
        return made if self.makers.can_move(made, _TESTED, i) else NONE

    def _readers(self, i: int) -> list[tuple[int, int]] | None:
        """Who reads the predicate of a comparison, at which places (-1: the guard); None where one takes no other sign."""
        f = self.f
        predicate = f.get(i, 0)
        if f.guard[i] or self.makers.of(predicate) != i or f.reg_flags[predicate & opd.INDEX] & FLAG_FIXED:
            return None
        index = int(predicate & opd.INDEX)
        found: list[tuple[int, int]] = []
        if self.readers is None:
            self.readers = self._all_readers()
        for j in self.readers.get(index, ()):
            if opd.is_register(f.guard[j]) and f.guard[j] & opd.INDEX == index:
                found.append((j, -1))
            for at in range(f.count[j]):
                operand = f.get(j, at)
                if j != i and opd.is_register(operand) and operand & opd.INDEX == index:
                    if at >= SLOTS or OPS.kind[f.op[j] * SLOTS + at] != KIND_PRED or OPS.expansion[f.op[j]]:
                        return None
                    found.append((j, at))
        return found

    def _replace(self, i: int, made: i64, other: i64, both: bool) -> None:
        f = self.f
        predicate = f.get(i, 0)
        mods = f.mods[made] & ~(_BOTH.mask << _BOTH.shift) | int(both) << _BOTH.shift
        self.cursor.rewrite(i, LOP3, mods, _TESTED + 2)
        f.set(i, 0, opd.RZ_OPERAND)
        for at in range(1, _TESTED):
            f.set(i, at, f.get(made, at))
        f.set(i, _TESTED, predicate)
        f.set(i, _TESTED + 1, other)


def _note(f: Function, readers: dict[int, list[int]], i: i64, operand: i64) -> None:
    if opd.is_register(operand) and f.is_predicate(operand):
        found = readers.setdefault(int(operand & opd.INDEX), [])
        if not found or found[-1] != i:
            found.append(int(i))


def _is_number(operand: i64) -> bool:
    return operand & opd.TYPE in (opd.IS_IMM, opd.IS_POOL)


def _of_two(f: Function, i: int, place: int, other: int) -> int:
    """The truth table of two sources of an instruction, the others constants: bit 2a + b for a and b without signs."""
    table = f.mods[i] >> _TABLE.shift & _TABLE.mask
    found = 0
    for row in range(4):
        rows = _ALL
        for at in range(1, len(_ROWS) + 1):
            operand = f.get(i, at)
            value = row >> 1 & 1 if at == place else row & 1 if at == other else operand != opd.NOT_PT_OPERAND
            if at in (place, other) and operand & opd.NEGATE:
                value = not value
            rows &= _ROWS[at - 1] if value else ~_ROWS[at - 1]
        if table & rows:
            found |= 1 << row
    return found
