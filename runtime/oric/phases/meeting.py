"""Which threads of a warp meet where: barriers of the block without ``.aligned``, and what the threads of a member mask do.

PTX ISA, "barrier{.cta}" and "shfl.sync" (the same words at vote, match, redux, elect and bar.warp.sync): a thread waits until
those of the mask have executed the instruction with the same qualifiers and the same mask, wherever in the code that is.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import B2R, IADD3, IMAD, LOP3, MOV, SHF, WARPSYNC, WARPSYNC_ALL

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_ALONE, AUX_APART, NONE, UR, Function, R
from oric.ir.optable import BARRIER, OPS, WARP, instructions_with, marked
from oric.ir.passes import PassContext
from oric.support.arrays import zeros

from .cleanup import remove_dead_code
from .divergence import Definitions, WaitingLoops, blocks_apart, divergence
from .flow import STOP, Flow
from .gathering import Gathering, Slots, Unit, branch_around, is_predicate
from .makers import Makers, makers_of
from .regions import leaving_blocks

_WAITS: Final = marked((WARPSYNC,))
_LEFT: Final[int] = ops.op(SHF).pack(dir="L", type="U32")
_RIGHT: Final[int] = ops.op(SHF).pack(dir="R", type="U32")
_NUMBER_OR_COUNT: Final[int] = ops.op(LOP3).pack(lut=0xF8)  # a | b & c
_COUNT: Final = 16  # bit of a barrier's register with the number of threads
_NUMBER: Final = 15  # the bits with which barrier it is
_WARP: Final = 5  # bits of a lane's number
_EVERYBODY: Final = 0xFFFFFFFF
_VARIABLE: Final = -1  # in the form of a barrier: a register
_UNCOUNTED: Final = -2  # no number of threads


def gather_barriers(flow: Flow, ctx: PassContext) -> set[int]:
    """Lead the threads of a warp together for barriers that they may reach apart.

    Gives the barriers, in front of each of which all threads of the warp are to wait for one another.
    """
    units = _barriers(flow.f)
    if not units:
        return set()
    parting = Parting(flow)  # they may have been at a barrier before
    parting.settle()
    families: dict[tuple[int, ...], list[Unit]] = {}
    for unit in units:
        families.setdefault(_results(flow.f, unit), []).append(unit)
    found = set[int]()
    for family in families.values():
        for alike in _barriers_alike(flow.f, family):
            # Threads at one place that are apart may wait for others anywhere, behind the place where they would meet, too.
            if any(parting.apart(flow.f.block[unit.first]) for unit in alike):
                _in_one_form(flow, alike, ctx)
                found.add(Gathering(flow, alike).run() if len(alike) > 1 else alike[0].first)
                ctx.count("barriers that threads reach apart", len(alike))
    return found


def masked_apart(flow: Flow) -> list[list[Unit]]:
    """What is alike and of one mask, where some of its threads may be at one place and some at another.

    The places have no guards then: there are branches around them.
    """
    kinds = _masked(flow.f)
    if not kinds:
        return []
    parting = Parting(flow)  # those that end have been elsewhere before, perhaps at one of the places
    if not any(parting.meeting(alike) for alike in kinds):
        return []
    parting.settle()
    groups = [group for alike in kinds for same in parting.of_one_mask(alike) for group in parting.meeting(same)]
    for group in groups:
        for unit in group:
            if flow.f.guard[unit.first]:
                branch_around(flow, unit)
    return groups


def gather_masked(flow: Flow, groups: list[list[Unit]], ctx: PassContext) -> list[int]:
    """Lead the threads of masks together: ``groups`` are of :func:`masked_apart`. Gives the instructions at which they wait."""
    shared: list[int] = []
    for group in groups:
        shared.append(Gathering(flow, group, _wait(flow, group, ctx)).run())
        ctx.count("warp-wide instructions that threads reach apart", len(group))
    return shared


def _wait(flow: Flow, group: list[Unit], ctx: PassContext) -> int:
    """An instruction, in no block, that waits for the threads of a mask; its operand is put in where the mask is a register."""
    f, cursor = flow.f, flow.cursor
    cursor.at_end(0)
    if all(unit.mask == f.imm(_EVERYBODY) for unit in group):
        made = whole_warp(cursor, ctx)
    else:
        made = cursor.make1(WARPSYNC, opd.NO_OPERAND)
    cursor.remove(made)
    return made


def whole_warp(cursor: Cursor, ctx: PassContext) -> int:
    """The instruction that waits for all threads of the warp, at the cursor."""
    if ctx.target.isa_name in ops.op(WARPSYNC_ALL).isas:
        return cursor.make(WARPSYNC_ALL)
    return cursor.make1(WARPSYNC, cursor.f.imm(_EVERYBODY))


def is_for_whole_warp(f: Function, i: i64) -> bool:
    """Whether an instruction waits for all threads of the warp."""
    if f.op[i] != WARPSYNC or f.count[i] != 1 or f.guard[i] or f.mods[i]:
        return f.op[i] == WARPSYNC_ALL
    mask = f.get(i, 0)
    return mask & opd.TYPE in (opd.IS_IMM, opd.IS_POOL) and f.imm_value(mask) & _EVERYBODY == _EVERYBODY


class Parting:
    """Where the threads of a warp part and meet again.

    ``points``: by block, where the threads that part at its end meet. At first threads may part at every branch, and be apart
    anywhere; :meth:`settle` finds out where. In code without such a structure it stays so. Threads that end meet nobody.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.cfg: Cfg = flow.graph(without_bare_exits=True)
        self.anywhere: bool = self.cfg.loops().irreducible
        self._apart: set[int] | None = None
        self._different = vec[i64]()  # by word, whether threads may have different values of it
        self._definitions: Definitions | None = None
        self._branches: list[int] = []
        if self.anywhere:
            return
        self.points = self._stops()
        b: i64 = 0
        while b < self.cfg.blocks:
            if self.cfg.succ_start[b + 1] - self.cfg.succ_start[b] > 1 and self.cfg.number[b] >= 0:
                self._branches.append(b)
            b += 1

    def settle(self) -> None:
        """Find the branches at which threads part, and the blocks in which they are apart."""
        if self.anywhere:
            return
        definitions = Definitions(self.flow)
        waits = WaitingLoops(self.flow, self.cfg, definitions, self.points)
        branches, self._different = divergence(self.flow, self.cfg, definitions, self.points, waits)
        self._definitions = definitions
        self._branches = sorted(branches)
        self._apart = blocks_apart(self.cfg, self.points, branches)

    def _stops(self) -> vec[i64]:
        """Where threads meet if those that end count, too; in a loop that is left by bare exits alone, where others go on."""
        stops = zeros(self.cfg.blocks)
        b: i64 = 0
        while b < self.cfg.blocks:
            stops[b] = 1 if self.flow.kind[b] == STOP else 0
            b += 1
        found = self.cfg.postdominators(stops)
        ends = [block for block in leaving_blocks(self.flow) if self.cfg.number[block] >= 0 and found[block] < 0]
        if not ends:
            return found
        for block in ends:
            stops[block] = 1
        return self.cfg.postdominators(stops)

    def apart(self, block: i64) -> bool:
        """Whether threads may be apart in a block."""
        return self._apart is None or block in self._apart

    def of_one_mask(self, alike: list[Unit]) -> list[list[Unit]]:
        """Units with masks in registers, by the register whose only value they are; it is the same for all threads of the warp.

        Those of other registers are in no list: most masks are not for threads that are elsewhere.
        """
        if _is_known(alike[0].mask):
            return [alike]
        found: dict[int, list[Unit]] = {}
        made = self._definitions.of_one_block() if self._definitions is not None else {}
        for unit in alike:
            word = self._origin(made, unit)
            if word >= 0 and (_is_word(word) or not self._different[word]):
                found.setdefault(word, []).append(unit)
        return list(found.values())

    def _origin(self, made: dict[int, list[int]], unit: Unit) -> int:
        """What the mask of a unit is a copy of: a register's word with one value at all such places, a bank's word; -1: none."""
        f = self.flow.f
        operand, reader = unit.mask, unit.first
        while opd.is_register(operand) and not operand & opd.SIGNS:
            word: int = f.words_of(operand)
            makers = made.get(word, [])
            if not makers or not self._is_behind(reader, makers[-1]):
                return -1
            last = makers[-1]
            if len(makers) > 1 or f.op[last] != MOV or f.guard[last] or f.mods[last]:
                return word
            operand, reader = f.get(last, 1), last
            if not opd.is_register(operand) and not _is_word(operand):
                return word
        return operand if _is_word(operand) else -1

    def _is_behind(self, reader: i64, last: i64) -> bool:
        """Whether an instruction comes behind another one in its block, or is in a block that all threads come to from there."""
        f = self.flow.f
        if f.block[last] != f.block[reader]:
            return self.cfg.dominates(f.block[last], f.block[reader])
        i = f.next[last]
        while i != NONE and i != reader:
            i = f.next[i]
        return i == reader

    def meeting(self, alike: list[Unit]) -> list[list[Unit]]:
        """Of units that are alike, those that stand on different ways of threads that part, as lists of what may meet."""
        f = self.flow.f
        units = [unit for unit in alike if self.apart(f.block[unit.first])]
        if self.anywhere:
            return [units] if len(units) > 1 else []
        blocks = {f.block[unit.first] for unit in units}
        joined = {block: block for block in blocks}
        for branch in self._branches if len(blocks) > 1 else ():
            ways = [self._reached(way, self.points[branch], blocks) for way in self.cfg.successors(branch)]
            for n, way in enumerate(ways):
                for other in ways[:n]:
                    if way and other and len(way | other) > 1:
                        _join(joined, sorted(way | other))
        groups: dict[int, list[Unit]] = {}
        for unit in units:
            groups.setdefault(_find(joined, f.block[unit.first]), []).append(unit)
        return [group for group in groups.values() if len({f.block[unit.first] for unit in group}) > 1]

    def _reached(self, start: i64, end: i64, among: set[int]) -> set[int]:
        """Those of some blocks that threads may come to from one block before they come to another."""
        if start == end:
            return set()
        seen = {start}
        stack = [start]
        while stack:
            for following in self.cfg.successors(stack.pop()):
                if following != end and following not in seen:
                    seen.add(following)
                    stack.append(following)
        return seen & among


def _find(joined: dict[int, int], block: int) -> int:
    while joined[block] != block:
        block = joined[block]
    return block


def _join(joined: dict[int, int], blocks: list[int]) -> None:
    """Make one group of blocks."""
    for block in blocks:
        joined[_find(joined, block)] = _find(joined, blocks[0])


def _is_word(operand: i64) -> bool:
    """Whether an operand is a word of a constant bank."""
    return operand & opd.TYPE == opd.IS_SYMBOL and operand & opd.CONST_BANK != 0


def _is_known(operand: i64) -> bool:
    """Whether a mask, or a number of a barrier, is an immediate."""
    return operand & opd.TYPE == opd.IS_IMM or operand & opd.TYPE == opd.IS_POOL


# -- member masks ----------------------------------------------------------------------------------------------


def _masked(f: Function) -> list[list[Unit]]:
    """What threads of a mask do, as lists by constant mask, or none, and kind, where that is in several blocks."""
    kinds: dict[tuple[int, ...], list[Unit]] = {}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            unit = _unit(f, i) if f.aux[i] & AUX_APART or f.op[i] == WARPSYNC else None
            if unit is None:
                i = f.next[i]
                continue
            mask = unit.mask if _is_known(unit.mask) else opd.NO_OPERAND
            kinds.setdefault((mask, *_shape(f, unit)), []).append(unit)
            i = f.next[unit.last]
        b += 1
    return [alike for alike in kinds.values() if len({f.block[unit.first] for unit in alike}) > 1]


def _unit(f: Function, i: i64) -> Unit | None:
    """What begins with an instruction: a WARPSYNC and what its mask is for, or what all threads do; None: nothing."""
    if _is_of_a_mask(f, i):
        return Unit([i, *_copies(f, i)], NONE, f.imm(_EVERYBODY))
    if f.op[i] != WARPSYNC:
        return None
    mask = _mask(f, i)
    following = f.next[i]
    if f.aux[i] & AUX_ALONE:
        return Unit([], i, mask)
    if following == NONE or not _is_of_a_mask(f, following):
        return None
    return Unit([following, *_copies(f, following)], i, mask)


def drop_full_masks(f: Function, ctx: PassContext) -> None:
    """A mask of all threads that sits in a register is as one that is written so: what it is for needs no WARPSYNC of its own."""
    waits = [i for i in instructions_with(f, _WAITS) if opd.is_register(f.get(i, 0))]
    if not waits:
        return
    makers = makers_of(f)
    dropped: i64 = 0
    for i in waits:
        following = f.next[i]
        if f.guard[i] or f.aux[i] & AUX_ALONE or following == NONE or not _is_of_a_mask(f, following):
            continue
        if _mask(f, i) == f.imm(_EVERYBODY) or _is_always(f, makers, i):
            Cursor(f).remove(i)
            dropped += 1
    if dropped:
        ctx.count("member masks of all threads in registers", dropped)
        remove_dead_code(f, ctx)


def _is_always(f: Function, makers: Makers, i: i64) -> bool:
    """Whether the mask of a WARPSYNC is that of all threads, by the only move into its register."""
    mask = f.get(i, 0)
    if mask & opd.SIGNS or not makers.is_settled(mask, i):
        return False
    made = makers.of(mask)
    if f.op[made] != MOV or f.mods[made] or not _is_known(f.get(made, 1)):
        return False
    return f.imm_value(f.get(made, 1)) & _EVERYBODY == _EVERYBODY


def _is_of_a_mask(f: Function, i: i64) -> bool:
    """Whether the threads of a mask do this, and may come to it one by one."""
    return f.aux[i] & AUX_APART != 0 and OPS.flags[f.op[i]] & WARP != 0


def _mask(f: Function, i: i64) -> i64:
    """The mask of a WARPSYNC, a constant where its block has that in the register."""
    mask = f.get(i, 0)
    if _is_known(mask):
        return f.imm(f.imm_value(mask) & _EVERYBODY)
    if not opd.is_register(mask):
        return mask
    before = f.prev[i]
    while before != NONE:
        at: i64 = 0
        while at < f.count[before]:
            if OPS.writes_at(f.op[before], at) and f.get(before, at) & opd.INDEX == mask & opd.INDEX:
                source = f.get(before, 1)
                known = f.op[before] == MOV and not f.guard[before] and _is_known(source)
                return f.imm(f.imm_value(source) & _EVERYBODY) if known else mask
            at += 1
        before = f.prev[before]
    return mask


def _copies(f: Function, i: i64) -> list[int]:
    """The instructions right behind one that take its uniform results."""
    made = uniform_results(f, i)
    found: list[int] = []
    following = f.next[i]
    while made and following != NONE and _names(f, following, made):
        found.append(following)
        following = f.next[following]
    return found


def uniform_results(f: Function, i: i64) -> set[int]:
    """The uniform registers that an instruction writes."""
    made: set[int] = set()
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if OPS.writes_at(f.op[i], at) and opd.is_register(operand) and f.reg_type[operand & opd.INDEX] == UR:
            made.add(operand & opd.INDEX)
        at += 1
    return made


def _names(f: Function, i: i64, registers: set[int]) -> bool:
    """Whether an instruction names one of some registers."""
    at: i64 = 0
    while at < f.count[i]:
        if opd.is_register(f.get(i, at)) and f.get(i, at) & opd.INDEX in registers:
            return True
        at += 1
    return False


def _shape(f: Function, unit: Unit) -> tuple[int, ...]:
    """What two units have in common that are one instruction of PTX with the same qualifiers."""
    slots = Slots(f, unit)
    reads, makes, inside = set(slots.reads), set(slots.makes), set(slots.inside)
    what: list[int] = [] if unit.members else [WARPSYNC]
    for k, i in enumerate(unit.members):
        what += [f.op[i], f.mods[i]]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            slot = (k, at)
            if slot in makes or slot in inside:
                what.append(-1)
            elif slot not in reads:
                what.append(operand)
            elif is_predicate(f, operand):
                what.append(-2)
            else:
                what += [-3, operand & opd.SIGNS, opd.count_of(operand) if opd.is_register(operand) else 1]
            at += 1
    return tuple(what)


# -- barriers of the block -------------------------------------------------------------------------------------


def _barriers(f: Function) -> list[Unit]:
    """The barriers for which the threads of a warp need not be together, each with what fetches its result."""
    found: list[Unit] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if OPS.flags[f.op[i]] & BARRIER and f.aux[i] & AUX_APART:
                following = f.next[i]
                fetched = following != NONE and f.op[following] == B2R
                found.append(Unit([i, following] if fetched else [i]))
            i = f.next[i]
        b += 1
    return found


def _results(f: Function, unit: Unit) -> tuple[int, ...]:
    """What barriers have in common that may be one: the operation, and the form of the result."""
    what: list[int] = []
    for i in unit.members:
        what += [f.op[i], f.mods[i]]
    if len(unit.members) > 1:
        taken = unit.members[1]
        what += [int(opd.is_register(f.get(taken, 0))), int(opd.is_register(f.get(taken, 1)))]
    return tuple(what)


def _form(f: Function, i: i64) -> tuple[int, int]:
    """Which barrier, and how many threads, or that a register has it or that there is none."""
    number, count = f.get(i, 0), f.get(i, 1)
    counted = f.count[i] > 1 and count != opd.NO_OPERAND
    threads = _UNCOUNTED if not counted else f.imm_value(count) if _is_known(count) else _VARIABLE
    return f.imm_value(number) if _is_known(number) else _VARIABLE, threads


def _barriers_alike(f: Function, family: list[Unit]) -> list[list[Unit]]:
    """Barriers of one operation, those together that may be one barrier: one with its number in a register may be any."""
    numbers = {_form(f, unit.members[0])[0] for unit in family}
    numbers.discard(_VARIABLE)
    alike: dict[int, list[Unit]] = {}
    for unit in family:
        number = _form(f, unit.members[0])[0]
        alike.setdefault(min(numbers) if number == _VARIABLE and len(numbers) == 1 else number, []).append(unit)
    return list(alike.values())


def _in_one_form(flow: Flow, units: list[Unit], ctx: PassContext) -> None:
    """Let the operands of barriers be in registers where they are not the same constants."""
    forms = {_form(flow.f, unit.members[0]) for unit in units}
    for unit in units if len(forms) > 1 else ():
        _in_register(flow, unit.members[0], any(count != _UNCOUNTED for _, count in forms), ctx)


def _in_register(flow: Flow, i: i64, counted: bool, ctx: PassContext) -> None:
    """Put which barrier it is, and with ``counted`` the number of threads, into a register."""
    f, cursor = flow.f, flow.cursor
    _, threads = _form(f, i)
    if threads == _VARIABLE:
        return
    cursor.in_front(i)
    word = opd.reg(f.new_reg(R))
    cursor.make2(MOV, word, f.get(i, 0))
    if counted:
        count = f.imm(threads << _COUNT)
        if threads == _UNCOUNTED:
            count = _threads_of_block(flow, ctx)
        packed = opd.reg(f.new_reg(R))
        cursor.make2(MOV, packed, count)
        whole = opd.reg(f.new_reg(R))
        cursor.make4(LOP3, whole, packed, opd.imm(_NUMBER), word, _NUMBER_OR_COUNT)
        cursor.rewrite(i, f.op[i], f.mods[i], max(2, f.count[i]))
        f.set(i, 1, whole)
        word = whole
    f.set(i, 0, word)


def _threads_of_block(flow: Flow, ctx: PassContext) -> i64:
    """A register with the threads of whole warps of the block, where a barrier's register has their number, at the cursor."""
    f, cursor = flow.f, flow.cursor
    total: i64 = opd.RZ_OPERAND
    for axis in range(3):
        size = opd.reg(f.new_reg(R))
        cursor.make2(MOV, size, opd.const_bank(0, ctx.target.bank0_ntid + 4 * axis))
        if axis == 0:
            total = size
            continue
        product = opd.reg(f.new_reg(R))
        cursor.make4(IMAD, product, total, size, opd.RZ_OPERAND)
        total = product
    made = [opd.reg(f.new_reg(R)) for _ in range(3)]
    cursor.make4(IADD3, made[0], total, opd.imm((1 << _WARP) - 1), opd.RZ_OPERAND)
    cursor.make4(SHF, made[1], opd.RZ_OPERAND, opd.imm(_WARP), made[0], _RIGHT)
    cursor.make4(SHF, made[2], made[1], opd.imm(_WARP + _COUNT), opd.RZ_OPERAND, _LEFT)
    return made[2]
