"""General registers that do not fit wait in local memory, or are made again.

A spilled register has a slot of the stack frame: a store follows each write that is brought back, or stands where it leaves the
file if that is less often; a load goes where the plan (:mod:`.residence`) has it in the file again; each part of its life
between these is a register by itself. A register that is made of constants, words of constant banks or special registers that
do not change needs no slot: that is repeated. Source: Register Model, "Flag Bits at +48"; frames: observed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import LDL, MOV, STL
from oric_tables.ori_operands import KIND_REMAT, KIND_SPILL_REFILL

from oric.ir import operand as opd
from oric.ir.bankwords import load_word
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P, R
from oric.ir.legality import legality_of
from oric.ir.optable import CALL, OPS
from oric.ir.text import all_instructions

from .passing_over import passed_over
from .repeatable import repeatable
from .residence import Code, Plan, Step, accesses, is_flow, is_general

if TYPE_CHECKING:
    from oric_tables.targets import Target

SPILLED: Final = 0x4000  # flag of a register descriptor: it belongs to a spill and is not spilled again
_STACK_HINT: Final = 1  # R1 is the stack pointer of the ABI
FRAME_ALIGN: Final = 16
WORD: Final = 4  # bytes
_WIDEST: Final = 4  # words of one access
_LEAVES: Final = -2  # in a list of events: a part leaves the file


def may_be_spilled(f: Function) -> list[bool]:
    """By register: those that have a place in memory, are not passed over, and are no base of a frame."""
    skipped = passed_over(f)
    return [
        f.reg_type[n] != P and not skipped[n] and f.hint[n] == NONE and 0 < f.reg_size[n] <= _WIDEST for n in range(f.registers())
    ]


@final
class Memory:
    """What the spills of a function have in local memory.

    ``home``: register -> bytes from the top of the stack down to its slot; the parts of a split register share it, as only one of
    them has its value at any point. ``loads``, ``stores``: instructions that bring something back, and that store something;
    ``kept``: those whose result is stored behind them, with the slot.
    """

    def __init__(self) -> None:
        self.home: dict[int, int] = {}
        self.loads: set[int] = set()
        self.kept: set[tuple[int, int]] = set()
        self.stores: set[int] = set()
        self.clears: set[int] = set()  # instructions that only begin the life of words, whatever those have
        self.copies: set[int] = set()  # registers that are made again
        self.registers = 0  # how many were split


def plan(f: Function, code: Code, limits: list[int], memory: Memory) -> Plan:
    """What comes back where, so that in no block more than its ``limits`` words are in general registers, as far as that can be.

    ``code``: of the function as it stands.
    """
    again = set(repeatable(f, memory.copies, memory.home))
    allowed = may_be_spilled(f)
    less = [limit - 1 for limit in limits]  # one has the top of the stack
    made = Plan(code, less if f.attributes.spill_base else limits, allowed, again)
    if not f.attributes.spill_base and made.returns() - again:
        return Plan(code, less, allowed, again)
    return made


def spill(f: Function, plan: Plan, memory: Memory, target: Target) -> None:
    """Do what a plan of the function as it stands says; nobody may hold a view of it."""
    victims = sorted(plan.returns())
    again = repeatable(f, memory.copies, memory.home)
    _Splitter(f, plan, {n: again[n] for n in victims if n in again}, memory, target).split(victims)


@cache
def size_mods(number: int, words: int) -> int:
    """Modifiers of an access to the slot of so many words."""
    mods: int = ops.op(number).pack(size=str(32 * words))
    return mods


@final
class _Parts:
    """Parts of the lives of registers, joined where one goes on in the other."""

    def __init__(self) -> None:
        self.of: list[int] = []  # part -> the register that it is of
        self.joined: list[int] = []
        self.first: list[int] = []  # part -> the first instruction that makes it, NONE: it is brought back
        self.returns: list[list[int]] = []  # in front of what it is brought back, NONE: at the end of a block
        self.readers: list[set[int]] = []

    def new(self, register: int) -> int:
        """A part by itself."""
        self.of.append(register)
        self.joined.append(len(self.joined))
        self.first.append(NONE)
        self.returns.append([])
        self.readers.append(set())
        return len(self.of) - 1

    def find(self, part: int) -> int:
        """The part that stands for all that it is joined with."""
        return _find(self.joined, part)

    def join(self, one: int, other: int) -> None:
        """Make one of two."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        one, other = min(one, other), max(one, other)
        self.joined[other] = one
        if self.first[one] == NONE:
            self.first[one] = self.first[other]
        self.returns[one] += self.returns[other]
        self.readers[one] |= self.readers[other]

    def is_short(self, part: int) -> bool:
        """Whether a part, with all that it is joined with, is brought back for one instruction: it cannot live shorter."""
        return self.first[part] == NONE and len(self.returns[part]) == 1 and self.readers[part] <= set(self.returns[part])


def _find(joined: list[int], part: int) -> int:
    while joined[part] != part:
        joined[part] = joined[joined[part]]
        part = joined[part]
    return part


@final
class _Leaving:
    """Where a part leaves the file, ``i``: in front of what (NONE: at the block's end). ``clean``: memory has the value there."""

    def __init__(self, block: int, i: int, part: int, clean: bool) -> None:
        self.block = block
        self.i = i
        self.part = part
        self.clean = clean


@final
class _Splitter:
    """Splits registers as a plan says, a register for each part, and fills and stores the parts."""

    def __init__(self, f: Function, plan: Plan, repeated: dict[int, list[int]], memory: Memory, target: Target) -> None:
        self.f = f
        self.plan = plan
        self.repeated = repeated
        self.memory = memory
        self.stack: int = target.bank0_stack
        self.isa: str = target.isa_name
        self.cursor = Cursor(f)
        self.parts = _Parts()
        self.returning: list[tuple[int, int, int, int]] = []  # block, in front of what, part, words as bits
        self.named: list[tuple[int, int, int]] = []  # instruction, operand, part
        self.made: dict[tuple[int, int], int] = {}  # instruction that writes, register -> part
        self.leaving: list[_Leaving] = []
        self.loaded: set[int] = set()  # parts that are as they were brought back
        self.owed: set[int] = set()  # parts that memory must have where they would be brought back
        self.gone: list[int] = []  # stores of earlier splits that nobody needs any more
        self._calling = {int(f.block[i]) for i in all_instructions(f) if OPS.flags[f.op[i]] & CALL}
        self.before: dict[int, list[int]] = {}  # part at the entry of a block -> those that it goes on from
        self.begun: set[int] = set()  # parts that some way to them leaves without a value
        self.idle: set[int] = set()  # parts that do not come here after all: nothing needs them but what is made of them
        self.behind: dict[tuple[int, int], int] = {}  # instruction, register -> the words of that needed behind it
        self.makers: dict[int, dict[int, int]] = {}  # register -> by block, the words that are made in front of it
        self.wrote: dict[tuple[int, int], int] = {}  # instruction, register -> the words of it that are made, as bits
        self.fresh: set[tuple[int, int]] = set()  # instruction, register: nothing is left of what was there before
        # register, block -> who writes (NONE: it is brought back), whether all of it, the part
        self.events: dict[tuple[int, int], list[tuple[int, bool, int]]] = {}
        self.places: dict[int, list[int]] = {}  # register -> the blocks in which something happens to it

    def split(self, victims: list[int]) -> None:
        """All of it."""
        f = self.f
        kept = [n for n in victims if n not in self.repeated]
        self.memory.registers += len(victims)
        if kept:
            self._make_room([n for n in kept if n not in self.memory.home])
        away = set(victims)
        last: list[dict[int, int]] = []
        first: list[dict[int, int]] = []
        for b in range(f.blocks()):
            first.append({n: self.parts.new(n) for n in sorted(away & self.plan.entry[b])})
            last.append(self._block(b, away, dict(first[b])))
        for n, b in self.events:
            self.places.setdefault(n, []).append(b)
        self._link(first, last)
        needed, stored, left = self._stored(kept)
        self.idle = {part for part in self.before if part not in needed}
        for part in sorted(needed):
            for one in self.before.get(part, ()):
                self.parts.join(one, part)
        registers = self._registers()
        for i, at, part in self.named:
            f.set(i, at, opd.with_index(f.get(i, at), registers[self.parts.find(part)]))
        for leaving in left:
            self._stand(leaving.block, leaving.i)
            register = registers[self.parts.find(leaving.part)]
            self._store(self.parts.of[leaving.part], register, opd.all_bits(f.reg_size[register]), 0)
        alone = self._read_alone()
        for b, i, part, words in self.returning:
            if part not in needed:
                self.idle.add(part)
            else:
                words &= alone.get(self.parts.find(part), words)
                stored_words = self._made_for(b, part) & words
                self._bring(b, i, self.parts.of[part], registers[self.parts.find(part)], stored_words)
                self._begin(registers[self.parts.find(part)], words & ~stored_words)
        for i, n in stored:
            self._keep(i, n, registers[self.parts.find(self.made[i, n])])
        for n, made in self.repeated.items():
            for i in made:
                part = self.parts.find(self.made[i, n])
                if self.parts.readers[part]:
                    self.cursor.in_front(i)
                    self._repeat(i, registers[part])
        for made in self.repeated.values():
            for i in made:
                self.cursor.remove(i)
        for i in self.gone:
            f.attributes.spill_stores -= WORD * opd.count_of(f.get(i, 2))
            self.cursor.remove(i)

    def _make_room(self, victims: list[int]) -> None:
        """Slots below the variables and earlier slots; a register with the top of the stack."""
        f = self.f
        facts = f.attributes
        top = max(facts.frame_size, facts.local_size)
        for n in victims:
            size = WORD * f.reg_size[n]
            top = -(-(top + size) // size) * size
            self.memory.home[n] = top
        facts.frame_size = -(-top // FRAME_ALIGN) * FRAME_ALIGN
        if not facts.spill_base:
            base = f.new_reg(R)
            f.reg_flags[base] |= SPILLED
            if not f.stack:
                f.hint[base] = _STACK_HINT
            facts.spill_base = opd.reg(base)
            self.cursor.at_start(0)
            if not f.is_entry:
                # Behind what says where a function's registers come from, and what aligns the stack.
                self.cursor.behind(f.head[0] if f.realigned == NONE else f.realigned)
                self.cursor.make2(MOV, facts.spill_base, f.sp)
                return
            load_word(self.cursor, legality_of(self.isa), facts.spill_base, opd.const_bank(0, self.stack))

    def _block(self, b: int, away: set[int], now: dict[int, int]) -> dict[int, int]:
        """The parts that the instructions of a block name; ``now``: those at its entry. Returns those at its end."""
        plan, clean = self.plan, dict.fromkeys(now, False)  # what comes from another block is looked at as a whole
        returns: dict[int, list[int]] = {}
        leaves: dict[tuple[int, bool], list[int]] = {}
        for i, n in plan.back[b]:
            returns.setdefault(i, []).append(n)
        for i, n, behind in plan.away[b]:
            leaves.setdefault((i, behind), []).append(n)
        ends = plan.code.words[b]
        for step in plan.code.steps[b]:
            for n in leaves.get((step.i, False), ()):
                self._leave(b, step.i, n, now, clean)
                now.pop(n, None)
            for n in returns.pop(step.i, ()):
                self._return(b, step.i, n, step.words[n] if n in step.reads else ends[n], now, clean)
            self._name(b, step, away, now, clean)
            for n in leaves.get((step.i, True), ()):
                self._leave(b, step.i, n, now, clean)
                now.pop(n, None)
        tail = self.f.tail[b]
        for n in sorted(now):
            if any(n in plan.code.live_in[x] and n not in plan.entry[x] for x in plan.code.cfg.successors(b)):
                self._leave(b, tail if is_flow(self.f, tail) else NONE, n, now, clean)
        for i, registers in returns.items():
            for n in registers:
                self._return(b, i, n, ends[n], now, clean)
        return now

    def _leave(self, b: int, i: int, n: int, now: dict[int, int], clean: dict[int, bool]) -> None:
        if n in now:
            self.events.setdefault((n, b), []).append((_LEAVES, False, len(self.leaving)))
            self.leaving.append(_Leaving(b, i, now[n], clean[n]))

    def _return(self, b: int, i: int, n: int, words: int, now: dict[int, int], clean: dict[int, bool]) -> None:
        clean[n] = True
        part = now[n] = self.parts.new(n)
        self.parts.returns[part].append(i)
        self.loaded.add(part)
        self.returning.append((b, i, part, words))
        if words != opd.all_bits(self.f.reg_size[n]):
            self.begun.add(part)
        self.events.setdefault((n, b), []).append((NONE, True, part))

    def _name(self, b: int, step: Step, away: set[int], now: dict[int, int], clean: dict[int, bool]) -> None:
        f = self.f
        if step.i in self.memory.stores and all(n in now and now[n] in self.loaded for n in step.reads if n in away):
            if away.intersection(step.reads):  # memory has it already, when it is stored for what was brought back here
                self.gone.append(step.i)
                self.owed.update(now[n] for n in step.reads if n in away)
                return
        before = {n: now[n] for n in step.reads if n in now}
        for n, whole in step.writes.items():
            if n not in away:
                continue
            if step.i not in self.memory.clears:
                self.wrote[step.i, n] = accesses(f, step.i)[1][n]
            self.behind[step.i, n] = step.behind[n]
            if whole or n not in now:
                now[n] = self.parts.new(n)
                self.fresh.add((step.i, n))
                if f.guard[step.i] or not whole or accesses(f, step.i)[1][n] != opd.all_bits(f.reg_size[n]):
                    self.begun.add(now[n])
            elif f.guard[step.i] and self._writes_guard(step.i):
                self.parts.readers[now[n]].add(step.i)  # it is stored whether written or not
            clean[n] = self._is_kept(step.i, n) and (whole or clean.get(n, True))
            self.loaded.discard(now[n])
            part = self.made[step.i, n] = now[n]
            if self.parts.first[part] == NONE:
                self.parts.first[part] = step.i
            self.events.setdefault((n, b), []).append((step.i, whole, part))
        at: i64 = 0
        while at < f.count[step.i]:
            operand = f.get(step.i, at)
            n = operand & opd.INDEX
            if n in away and opd.is_register(operand) and is_general(f, n):
                if OPS.writes_at(f.op[step.i], at):
                    part = now[n]
                else:
                    part = before[n] if n in before else self.parts.new(n)
                    self.parts.readers[part].add(step.i)
                self.named.append((step.i, at, part))
            at += 1

    def _is_kept(self, i: int, n: int) -> bool:
        """Whether memory has what an instruction writes to a register: it comes from there, or is stored behind it already.

        Nobody reads what only begins a life: what memory has is as good.
        """
        if i in self.memory.loads or i in self.memory.clears:
            return True
        return n in self.memory.home and (i, self.memory.home[n]) in self.memory.kept

    def _link(self, first: list[dict[int, int]], last: list[dict[int, int]]) -> None:
        """Where parts go on in each other, over the edges."""
        cfg = self.plan.code.cfg
        for b in range(self.f.blocks()):
            for n, part in first[b].items():
                before = [p for p in cfg.predecessors(b) if cfg.number[p] >= 0]
                self.before[part] = [last[p][n] for p in before if n in last[p]]
                if len(self.before[part]) < len(before):
                    self.begun.add(part)

    def _needed(self) -> set[int]:
        """The parts that somebody reads, also in other blocks."""
        needed = {part for part, readers in enumerate(self.parts.readers) if readers}
        waiting = sorted(needed)
        while waiting:
            for one in self.before.get(waiting.pop(), ()):
                if one not in needed:
                    needed.add(one)
                    waiting.append(one)
        return needed

    def _stored(self, kept: list[int]) -> tuple[set[int], list[tuple[int, int]], list[_Leaving]]:
        """What goes to memory for what is brought back from there: behind the instructions that make it, or where it leaves the
        file, whichever is less. The parts that are needed then; the instructions, with the register; where parts leave.
        """
        whole = list(range(len(self.parts.of)))  # joined, whether needed or not
        for part, before in self.before.items():
            for one in before:
                x, y = _find(whole, one), _find(whole, part)
                whole[max(x, y)] = min(x, y)
        chosen: set[int] | None = None
        left: set[int] = set()
        while True:
            needed = self._needed()
            makers, leaving = self._sources(kept, needed)
            dirty = {_find(whole, self.made[i, n]) for i, n in self.made if not self._is_kept(i, n)}
            leaving = {k for k in leaving if not self.leaving[k].clean and _find(whole, self.leaving[k].part) in dirty}
            if chosen is None:
                chosen = self._late(whole, makers, leaving)
            more = {k for k in leaving - left if _find(whole, self.leaving[k].part) in chosen}
            if not more:
                break
            left |= more
            for k in more:
                self.parts.readers[self.leaving[k].part].add(self.leaving[k].i)
        stored = sorted((i, n) for i, n in makers if not self._is_kept(i, n) and _find(whole, self.made[i, n]) not in chosen)
        return needed, stored, [self.leaving[k] for k in sorted(left)]

    def _late(self, whole: list[int], makers: set[tuple[int, int]], leaving: set[int]) -> set[int]:
        """The parts that are better stored where they leave than where they are made."""
        early: dict[int, int] = {}
        late: dict[int, int] = {}
        for i, n in makers:
            if not self._is_kept(i, n):
                part = _find(whole, self.made[i, n])
                early[part] = early.get(part, 0) + self._cost(self.f.block[i])
        for k in leaving:
            part = _find(whole, self.leaving[k].part)
            late[part] = late.get(part, 0) + self._cost(self.leaving[k].block)
        unsure = {_find(whole, part) for part in self.begun}
        return {part for part, cost in early.items() if part not in unsure and late.get(part, 0) < cost}

    def _cost(self, b: i64) -> int:
        """What an instruction of a block counts; beside a call it counts little."""
        if b in self._calling:
            return 1
        return self.plan.code.cfg.loops().runs(b)

    def _sources(self, kept: list[int], needed: set[int]) -> tuple[set[tuple[int, int]], set[int]]:
        """What makes, and where leaves, what is brought back from memory somewhere."""
        makers: set[tuple[int, int]] = set()
        leaving: set[int] = set()
        for n in kept:
            places = [
                (b, k)
                for b in self.places[n]
                for k, (i, _, part) in enumerate(self.events[n, b])
                if i == NONE and (part in needed or part in self.owed)
            ]
            self._trace(n, places, needed, makers, leaving)
        return makers, leaving

    def _trace(
        self, n: int, places: list[tuple[int, int]], needed: set[int], makers: set[tuple[int, int]], leaving: set[int]
    ) -> None:
        """What writes a register in front of events, given as block and number, and where it leaves, on all ways there."""
        cfg = self.plan.code.cfg
        seen: set[int] = set()
        while places:
            at, behind = places.pop()
            events = self.events.get((n, at), [])
            for i, whole, part in reversed(events if behind < 0 else events[:behind]):
                if i == _LEAVES:
                    leaving.add(part)
                    continue
                if i != NONE:
                    makers.add((i, n))
                if whole and (i != NONE or part in needed):
                    break
            else:
                for p in cfg.predecessors(at):
                    if p not in seen and n in self.plan.code.live_out[p]:
                        seen.add(p)
                        places.append((p, -1))

    def _registers(self) -> dict[int, int]:
        """The register of every part: what is made in the code first keeps its own."""
        f, parts = self.f, self.parts
        found: dict[int, int] = {}
        used: set[int] = set()
        for part in sorted({parts.find(one) for _, _, one in self.named}):
            n = parts.of[part]
            own = parts.first[part] != NONE and n not in used
            register = n if own else f.new_reg(f.reg_type[n], f.reg_size[n])
            used.add(register)
            found[part] = register
            if n in self.memory.home:
                self.memory.home[register] = self.memory.home[n]
            if n in self.repeated:
                self.memory.copies.add(register)
            if parts.is_short(part):
                f.reg_flags[register] |= SPILLED  # it cannot live shorter
        return found

    def _read_alone(self) -> dict[int, int]:
        """Part that is brought back for one instruction -> the words that this reads, as bits: nobody needs the others."""
        found: dict[int, int] = {}
        for i, at, part in self.named:
            part = self.parts.find(part)
            if self.parts.is_short(part):
                operand = self.f.get(i, at)
                found[part] = found.get(part, 0) | opd.bits_of(operand)
        return found

    def _bring(self, b: int, i: int, n: int, register: int, words: int) -> None:
        """Bring words of a register back in front of an instruction, or at the end of a block, where the cursor is then."""
        f = self.f
        self._stand(b, i)
        if n in self.repeated:
            for made in {opd.first_of(f.get(made, 0)): made for made in reversed(self.repeated[n])}.values():
                self._repeat(made, register)
            return
        for first, count in _accesses(words, f.reg_size[n]):
            i = self.cursor.make(LDL, size_mods(LDL, count))
            self.memory.loads.add(i)
            f.attributes.marks[i] = KIND_SPILL_REFILL
            self.cursor.put(opd.reg(register, first, count))
            self.cursor.put(f.attributes.spill_base)
            self.cursor.put(self._offset(n, first))
            f.attributes.spill_loads += WORD * count

    def _made_for(self, b: int, part: int) -> int:
        """The words of a part that is brought back which something on some way there makes, as bits: of the others memory has
        nothing, and any value is as good.
        """
        n = self.parts.of[part]
        if n in self.repeated:
            return -1
        if n not in self.makers:
            self.makers[n] = self._behind_makers(n)
        made = self.makers[n].get(b, 0)
        for i, _, other in self.events[n, b]:
            if other == part and i == NONE:
                break
            made |= self.wrote.get((i, n), 0)
        return made

    def _behind_makers(self, n: int) -> dict[int, int]:
        """By block, the words of a register that something makes on some way to it."""
        cfg, live = self.plan.code.cfg, self.plan.code.live_in
        own: dict[int, int] = {}
        for b in self.places[n]:
            for i, _, _ in self.events[n, b]:
                own[b] = own.get(b, 0) | self.wrote.get((i, n), 0)
        found: dict[int, int] = {}
        waiting = list(own)
        while waiting:
            b = waiting.pop()
            made = own.get(b, 0) | found.get(b, 0)
            for x in cfg.successors(b):
                if n in live[x] and made & ~found.get(x, 0):
                    found[x] = found.get(x, 0) | made
                    waiting.append(x)
        return found

    def _stand(self, b: int, i: int) -> None:
        """Go in front of an instruction, or to the end of a block."""
        f = self.f
        if i == NONE:
            self.cursor.at_exit(b)
            self.cursor.line = f.line[f.tail[b]] if f.tail[b] != NONE else 0
        else:
            self.cursor.in_front(i)

    def _repeat(self, i: i64, register: i64) -> None:
        """Make a word of a register again in front of the cursor."""
        f = self.f
        made = self.cursor.clone(i)
        f.attributes.marks[made] = KIND_REMAT
        f.set(made, 0, opd.with_index(f.get(i, 0), register))

    def _keep(self, i: int, n: int, register: int) -> None:
        """Store the words of a register that are needed later behind the instruction that writes them: all of them in one access,
        if it writes the whole register and several are needed.
        """
        f = self.f
        written, guard = accesses(f, i)[1][register], f.guard[i]
        words = written & self.behind[i, n]
        if guard and self._writes_guard(i):
            guard = 0  # what it was is not known behind the instruction: the old value is stored again
            if (i, n) in self.fresh:
                self._clear(i, register, written)
        if f.guard[i] and self.made[i, n] in self.idle:
            self._clear(i, register, written)
        self.memory.kept.add((i, self.memory.home[n]))
        if not f.guard[i] and written == opd.all_bits(f.reg_size[n]) and words & (words - 1):
            words = written
        if words:
            self.cursor.behind(i)
            self._store(n, register, words, guard)

    def _store(self, n: int, register: int, words: int, guard: int) -> None:
        """Store words of a register at the cursor."""
        f = self.f
        for first, count in _accesses(words, f.reg_size[n]):
            i = self.cursor.make(STL, size_mods(STL, count), guard)
            self.memory.stores.add(i)
            f.attributes.marks[i] = KIND_SPILL_REFILL
            self.cursor.put(f.attributes.spill_base)
            self.cursor.put(self._offset(n, first))
            self.cursor.put(opd.reg(register, first, count))
            f.attributes.spill_stores += WORD * count

    def _clear(self, i: i64, register: int, words: int) -> None:
        """Begin the life of words that an instruction writes under a guard."""
        self.cursor.in_front(i)
        self._begin(register, words)

    def _begin(self, register: int, words: int) -> None:
        """Begin the life of words at the cursor."""
        for n in range(self.f.reg_size[register]):
            if words >> n & 1:
                self.memory.clears.add(self.cursor.make2(MOV, opd.reg(register, n), opd.RZ_OPERAND))

    def _writes_guard(self, i: i64) -> bool:
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at)) and not (f.get(i, at) ^ f.guard[i]) & opd.INDEX:
                return True
            at += 1
        return False

    def _offset(self, n: int, first: int) -> i64:
        return self.f.imm(WORD * first - self.memory.home[n])


def _accesses(words: int, size: int) -> list[tuple[int, int]]:
    """(first word, number of words) of the accesses for the words that ``words`` has as bits: a whole register in one."""
    if words == (1 << size) - 1 and size in (1, 2, _WIDEST):
        return [(0, size)]
    return [(n, 1) for n in range(size) if words >> n & 1]
