"""Registers that are made again of others which are in the file, in place of waiting in memory.

Where more is live than there are registers, what :mod:`.residence` would bring back in front of an instruction is rather made
once more there, if that takes few instructions and what they read is in the file at that place. It is done on the function as it
came to allocation, before anything waits in memory: what is spilled then is less. Source: Briggs, Cooper and Torczon,
"Rematerialization" (1992), here for values of other registers, too.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.op import MOV
from oric_tables.registers import FLAG_FIXED, PASSED_OVER

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, UR, Function, P
from oric.ir.optable import CONSTANT, CONTROL, LOAD, MEMORY, OPS, PINNED, SPECIAL, WARP

from .repeatable import is_constant, is_same, repeatable
from .residence import Code, Plan, Step, is_general
from .spill import SPILLED, may_be_spilled

_EFFECTS: Final = MEMORY | PINNED | WARP | CONTROL | SPECIAL
_WIDEST: Final = 4  # words of a register


@final
class Recipe:
    """How a register is made: ``made``: the instructions, each of other words, ``cost``: how many of these are no copies of
    registers; ``sources``: the registers that they read.
    """

    def __init__(self, made: list[int], sources: list[int], cost: int) -> None:
        self.made = made
        self.sources = sources
        self.cost = cost


def remake(f: Function, code: Code, limits: list[int], across: bool = True) -> bool:
    """Make registers again where they would be brought back; whether there were some. Nobody may hold a view of the function.

    ``code``: of the function as it stands; ``limits``: by block, the words of general registers; ``across``: a register is made
    again in other blocks, too, not only in the one that makes it.
    """
    if code.cfg.loops().irreducible:
        return False
    constant = set(repeatable(f, set(), {}))
    recipes = _Recipes(f, code)
    sources = {n: recipes.reach(n) for n in recipes.found if n not in constant}
    return bool(sources) and _Remaking(f, Plan(code, limits, may_be_spilled(f), constant, sources), recipes, across).run()


@final
class _Recipes:
    """Which registers can be made again, wherever they are live and what they are made of is there.

    Each word has one definition, of which every reader has the result, and so have the sources: they are what they were.
    """

    def __init__(self, f: Function, code: Code) -> None:
        self.f = f
        self.code = code
        self.found: dict[int, Recipe] = {}
        self.read: dict[int, int] = {}  # register -> the words that are read, as bits
        self._defs: dict[int, list[int]] = {}
        self._words: dict[int, int] = {}  # register -> the words that are written, as bits
        self._again: set[int] = set()  # registers of which a word is written more than once
        self._readers: dict[int, set[int]] = {}  # predicate -> the instructions that read it
        self.likes: dict[int, list[int]] = {}  # register -> instructions like the one that makes it, elsewhere
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                self._note(i)
                i = f.next[i]
            b += 1
        self._settle_likes()
        for n, made in self._defs.items():
            recipe = self._recipe(n, made)
            if recipe is not None:
                self.found[n] = recipe
        self.found = {n: recipe for n, recipe in self.found.items() if all(self._lasts(n, m) for m in recipe.sources)}

    def _note(self, i: i64) -> None:
        f = self.f
        self._note_read(i, f.guard[i])
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if not OPS.writes_at(f.op[i], at):
                self._note_read(i, operand)
            elif opd.is_register(operand):
                n = operand & opd.INDEX
                words = opd.bits_of(operand)
                if words & self._words.get(n, 0) and self._is_like(n, i):
                    self.likes.setdefault(n, []).append(i)
                    at += 1
                    continue
                if words & self._words.get(n, 0) and not self._goes_on(n, i):
                    self._again.add(n)
                self._words[n] = self._words.get(n, 0) | words
                self._defs.setdefault(n, []).append(i)
            at += 1

    def _goes_on(self, n: int, i: i64) -> bool:
        """Whether an instruction makes a register of what the one in front has made, for nobody else: they are one definition."""
        f, made = self.f, self._defs[n]
        before = f.prev[i]
        if made != [before] or f.guard[i] or f.guard[before] or f.get(i, 0) != f.get(before, 0):
            return False
        return any(f.get(i, at) == f.get(i, 0) for at in range(1, f.count[i]))

    def _is_like(self, n: int, i: i64) -> bool:
        """Whether an instruction makes the same of the same as the only one that makes a register, on another way."""
        f, made = self.f, self._defs[n]
        if len(made) != 1 or f.guard[i] or f.guard[made[0]] or f.block[i] == f.block[made[0]] or not is_same(f, made[0], i):
            return False
        if OPS.flags[f.op[i]] & _EFFECTS or OPS.sreg[f.op[i]] >= 0:
            return False
        return f.get(i, 0) == f.get(made[0], 0) and not any(f.get(i, at) & opd.INDEX == n for at in range(1, f.count[i]))

    def _settle_likes(self) -> None:
        """Take instructions for like ones only where all that they read has one definition."""
        for n in self.likes:
            if not all(self._is_once(m, operand) and m not in self.likes for m, operand in self._operands(n)):
                self._again.add(n)

    def _operands(self, n: int) -> list[tuple[int, int]]:
        """The registers that are read where a register is made first, with the operands."""
        f, i = self.f, self._defs[n][0]
        operands = [f.get(i, at) for at in range(f.count[i]) if not OPS.writes_at(f.op[i], at)]
        return [(int(operand & opd.INDEX), int(operand)) for operand in operands if opd.is_register(operand)]

    def _note_read(self, i: i64, operand: i64) -> None:
        if opd.is_register(operand):
            n = operand & opd.INDEX
            self.read[n] = self.read.get(n, 0) | opd.bits_of(operand)
            if self.f.reg_type[n] == P:
                self._readers.setdefault(n, set()).add(i)

    def _recipe(self, n: int, made: list[int]) -> Recipe | None:
        """How a register is made, if that is by few instructions without an effect, of registers with one definition each."""
        f = self.f
        if not is_general(f, n) or f.reg_flags[n] & PASSED_OVER or f.reg_size[n] > _WIDEST:
            return None
        if n in self._again or self.read.get(n, 0) & ~self._words[n]:
            return None
        sources: list[int] = []
        for i in made:
            if f.guard[i]:
                return None
            if not is_constant(f, i) and (
                OPS.flags[f.op[i]] & _EFFECTS or OPS.sreg[f.op[i]] >= 0 or not self._reads(n, i, sources)
            ):
                return None
        cost = sum(f.op[i] != MOV or not opd.is_register(f.get(i, 1)) for i in made)
        return Recipe(made, sources, cost) if cost <= f.knobs.numbers[knobs.SPILL_REMADE] else None

    def _reads(self, n: int, i: i64, sources: list[int]) -> bool:
        """Whether an instruction makes nothing but a register, of what can be read again; adds the registers that it reads."""
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            number = operand & opd.INDEX
            if not opd.is_register(operand):
                if operand & opd.TYPE in (opd.IS_LABEL, opd.IS_SPECIAL):
                    return False
            elif OPS.writes_at(f.op[i], at):
                if number != n and (f.reg_type[number] != P or number in self.read) and not self.is_carry(n, number):
                    return False
            elif self.is_carry(n, number) or self.base(number) != NONE:
                pass
            elif number == n and (i == self._defs[n][0] or len(self._defs[n]) != 2 or self._is_apart(n)):
                return False  # it makes more of what it is
            elif number != n and not self._is_once(number, operand):
                return False
            elif number != n and number not in sources:
                sources.append(number)
            at += 1
        return True

    def is_carry(self, n: int, number: int) -> bool:
        """Whether a predicate only goes from the first one of the instructions that make a register to the second one."""
        f, made = self.f, self._defs[n]
        if f.reg_type[number] != P or len(made) != 2 or f.block[made[0]] != f.block[made[1]]:
            return False
        return self._defs.get(number) == [made[0]] and self._readers.get(number) == {made[1]} and not f.guard[made[1]]

    def base(self, number: int) -> int:
        """What alone makes a uniform register, of nothing that changes; ``NONE`` where there is no such instruction."""
        f, made = self.f, self._defs.get(number, [])
        if f.reg_type[number] != UR or len(made) != 1 or f.guard[made[0]] or f.reg_flags[number] & FLAG_FIXED:
            return NONE
        flags = OPS.flags[f.op[made[0]]]
        if number in self.likes or flags & _EFFECTS & ~LOAD or (flags & LOAD and not flags & CONSTANT):
            return NONE
        return NONE if any(opd.is_register(f.get(made[0], at)) for at in range(1, f.count[made[0]])) else made[0]

    def bases(self, i: int) -> list[int]:
        """The uniform registers of an instruction that can be made again by themselves."""
        f = self.f
        operands = [f.get(i, at) for at in range(1, f.count[i])]
        numbers = [int(operand & opd.INDEX) for operand in operands if opd.is_register(operand)]
        return [number for number in numbers if self.base(number) != NONE]

    def _is_apart(self, n: int) -> bool:
        """Whether the two instructions that make a register make each words of its own."""
        return self.f.get(self._defs[n][0], 0) != self.f.get(self._defs[n][1], 0)

    def _is_once(self, n: int, operand: i64) -> bool:
        """Whether the words that an operand names of a general register have one definition each."""
        if not is_general(self.f, n) or self.f.reg_flags[n] & FLAG_FIXED or n in self._again:
            return False
        return not opd.bits_of(operand) & ~self._words.get(n, 0)

    def _lasts(self, n: int, m: int) -> bool:
        """Whether a source is what it was wherever a register is live: no loop makes it or what like ones read anew meanwhile."""
        loops = self.code.cfg.loops()
        if m in self.likes and not all(self._lasts(n, other) for other, _ in self._operands(m)):
            return False
        for i in [*self._defs[m], *self.likes.get(m, ())]:
            header: int = loops.header[self.f.block[i]]
            while header >= 0:
                if n in self.code.live_in[header]:
                    return False
                header = loops.outer[header]
        return True

    def reach(self, n: int) -> list[int]:
        """The registers that a register can be made of, those of which its sources are made among them, by few instructions."""
        found: list[int] = []
        waiting = [(n, self.found[n].cost)]
        while waiting:
            made, cost = waiting.pop()
            for m in self.found[made].sources:
                if m not in found and m != n and self._lasts(n, m):
                    found.append(m)
                if m in self.found and cost + self.found[m].cost <= self.f.knobs.numbers[knobs.SPILL_REMADE]:
                    waiting.append((m, cost + self.found[m].cost))
        return found

    def cost(self, n: int, there: set[int]) -> int:
        """Instructions that make a register of those that are there and of constants; more than are worth it if it cannot be."""
        recipe = self.found.get(n)
        if recipe is None:
            return int(self.f.knobs.numbers[knobs.SPILL_REMADE]) + 1
        total = recipe.cost
        for m in recipe.sources:
            if m not in there and total <= int(self.f.knobs.numbers[knobs.SPILL_REMADE]):
                total += self.cost(m, there)
        return total

    def is_of(self, b: int, n: int, there: set[int]) -> bool:
        """Whether a block makes a register, and those on the way to it from what is there."""
        recipe = self.found[n]
        return all(self.f.block[i] == b for i in recipe.made) and all(
            m in there or self.is_of(b, m, there) for m in recipe.sources
        )

    def used(self, n: int, there: set[int]) -> set[int]:
        """Which of those that are there a register is made of."""
        found: set[int] = set()
        for m in self.found[n].sources:
            found |= {m} if m in there else self.used(m, there)
        return found


@final
class _Making:
    """Where a register is made again: in a block, in front of an instruction (NONE: at its end), as which part of its life; the
    parts of what it is made of there.
    """

    def __init__(self, b: int, i: int, n: int, part: int, sources: dict[int, int]) -> None:
        self.b = b
        self.i = i
        self.n = n
        self.part = part
        self.sources = sources


@final
class _Remaking:
    """Makes registers again where a plan has them brought back: a part of their life begins there, a register by itself if it
    does not go on in one that begins otherwise.
    """

    def __init__(self, f: Function, plan: Plan, recipes: _Recipes, across: bool) -> None:
        self.f = f
        self.plan = plan
        self.recipes = recipes
        self.across = across
        self.cursor = Cursor(f)
        self.joined: list[int] = []  # part -> one that it is joined with
        self.own: dict[int, int] = {}  # register -> the part that begins as it was
        self.makings: list[_Making] = []
        self.names: list[tuple[int, int, int]] = []  # instruction, operand, the part that it reads
        self.register: dict[int, int] = {}  # part -> the register that it gets

    def run(self) -> bool:
        """All of it; whether there was something."""
        plan, cfg = self.plan, self.plan.code.cfg
        self.own = {n: self._new() for n in sorted({n for _, _, n in plan.beside})}
        first: list[dict[int, int]] = []
        last: list[dict[int, int]] = []
        for b in range(self.f.blocks()):
            first.append({n: self._new() for n in sorted(plan.entry[b].intersection(self.own))} if cfg.number[b] >= 0 else {})
            last.append(self._block(b, dict(first[b])) if cfg.number[b] >= 0 else {})
        if not self.makings:
            return False
        for b in range(self.f.blocks()):
            for n, part in first[b].items():
                before = [p for p in cfg.predecessors(b) if cfg.number[p] >= 0]
                for p in before:
                    self._join(last[p].get(n, self.own[n]), part)
                if not before or b == 0:
                    self._join(self.own[n], part)
        made = self._needed()
        for making in made:
            sources = {m: self.register[self._find(part)] if part != NONE else m for m, part in making.sources.items()}
            self._repeat(making.b, making.i, making.n, self.register[self._find(making.part)], sources)
        for i, at, part in self.names:
            self.f.set(i, at, opd.with_index(self.f.get(i, at), self.register[self._find(part)]))
        self._mark_short(made)
        self._drop()
        return bool(made)

    def _new(self) -> int:
        self.joined.append(len(self.joined))
        return len(self.joined) - 1

    def _find(self, part: int) -> int:
        joined = self.joined
        while joined[part] != part:
            joined[part] = joined[joined[part]]
            part = joined[part]
        return part

    def _join(self, one: int, other: int) -> None:
        one, other = self._find(one), self._find(other)
        self.joined[max(one, other)] = min(one, other)

    def _block(self, b: int, now: dict[int, int]) -> dict[int, int]:
        """Go through a block; ``now``: register -> the part that is in the file at its entry. Returns those at its end."""
        plan = self.plan
        returns: dict[int, list[int]] = {}
        leaves: dict[tuple[int, bool], list[int]] = {}
        for i, n in plan.back[b]:
            returns.setdefault(i, []).append(n)
        for i, n, behind in plan.away[b]:
            leaves.setdefault((i, behind), []).append(n)
        for step in plan.code.steps[b]:
            for n in returns.pop(step.i, ()):
                self._return(b, step.i, n, n in step.writes, now)
            for n in leaves.get((step.i, False), ()):
                now.pop(n, None)
            self._name(step, now)
            for n in step.writes:
                if n in self.own:
                    now[n] = self.own[n]
            for n in leaves.get((step.i, True), ()):
                now.pop(n, None)
        for i, registers in returns.items():
            for n in registers:
                self._return(b, i, n, False, now)
        return now

    def _return(self, b: int, i: int, n: int, written: bool, now: dict[int, int]) -> None:
        """Something is brought back; ``written``: the instruction there makes a part of it."""
        if n not in self.own:
            return
        there = self.plan.beside.get((b, i, n))
        if there is None or written or self.recipes.cost(n, there) > int(self.f.knobs.numbers[knobs.SPILL_REMADE]):
            now[n] = self.own[n]
            return
        if not self.across and not self.recipes.is_of(b, n, there):
            now[n] = self.own[n]
            return
        part = self._new()
        used = self.recipes.used(n, there)
        self.makings.append(_Making(b, i, n, part, {m: now.get(m, self.own.get(m, NONE)) for m in used}))
        now[n] = part

    def _name(self, step: Step, now: dict[int, int]) -> None:
        """Note which parts an instruction reads."""
        f, i = self.f, step.i
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            n = operand & opd.INDEX
            if opd.is_register(operand) and not OPS.writes_at(f.op[i], at) and n in self.own and is_general(f, n):
                self.names.append((i, at, now.get(n, self.own[n])))
            at += 1

    def _needed(self) -> list[_Making]:
        """The makings of which something is read, and the registers of all parts."""
        f = self.f
        for n, part in self.own.items():
            self.register[self._find(part)] = n
        needed = {self._find(part) for _, _, part in self.names}
        needed.update(self.register)
        made: list[_Making] = []
        waiting = list(self.makings)
        while True:
            fresh = [making for making in waiting if self._find(making.part) in needed]
            if not fresh:
                break
            made += fresh
            waiting = [making for making in waiting if self._find(making.part) not in needed]
            for making in fresh:
                needed.update(self._find(part) for part in making.sources.values() if part != NONE)
        order = {id(making): k for k, making in enumerate(self.makings)}
        made.sort(key=lambda making: order[id(making)])
        for making in made:
            part = self._find(making.part)
            if part not in self.register:
                self.register[part] = f.new_reg(f.reg_type[making.n], f.reg_size[making.n])
        return made

    def _repeat(self, b: int, i: int, n: int, x: int, sources: dict[int, int]) -> None:
        """Put what makes a register in front of an instruction. ``sources``: what is read in place of what; others are made."""
        f, recipe = self.f, self.recipes.found[n]
        for m in recipe.sources:
            if m not in sources:
                short: int = f.new_reg(f.reg_type[m], f.reg_size[m])
                f.reg_flags[short] |= SPILLED
                self._repeat(b, i, m, short, sources)
                sources[m] = short
        carries: dict[int, int] = {}  # and uniform registers: of each copy its own, which live no longer than it takes
        for made in recipe.made:
            for base in self.recipes.bases(made):
                if base not in carries:
                    carries[base] = self._copy_base(b, i, base)
            if i == NONE:
                self.cursor.at_exit(b)
            else:
                self.cursor.in_front(i)
            copy = self.cursor.clone(made)
            at: i64 = 0
            while at < f.count[copy]:
                operand = f.get(made, at)
                number = operand & opd.INDEX
                if OPS.writes_at(f.op[copy], at):
                    if opd.is_register(operand) and number != n and self.recipes.is_carry(n, number):
                        carries[number] = f.new_reg(P)
                        f.reg_flags[carries[number]] |= SPILLED
                        f.set(copy, at, opd.with_index(operand, carries[number]))
                    elif opd.is_register(operand):
                        f.set(copy, at, opd.with_index(operand, x) if number == n else opd.PT_OPERAND)
                elif opd.is_register(operand):
                    other = x if number == n else carries[number] if number in carries else sources[number]
                    f.set(copy, at, opd.with_index(operand, other))
                at += 1

    def _copy_base(self, b: int, i: int, number: int) -> int:
        """Make a uniform register once more in front of an instruction."""
        f = self.f
        if i == NONE:
            self.cursor.at_exit(b)
        else:
            self.cursor.in_front(i)
        short: int = f.new_reg(UR, f.reg_size[number])
        f.reg_flags[short] |= SPILLED
        made = self.recipes.base(number)
        f.set(self.cursor.clone(made), 0, opd.with_index(f.get(made, 0), short))
        return short

    def _mark_short(self, made: list[_Making]) -> None:
        """What is read nowhere but where it is made cannot live shorter."""
        readers: dict[int, set[int]] = {}
        for i, _, part in self.names:
            readers.setdefault(self._find(part), set()).add(i)
        for making in made:
            for part in making.sources.values():
                if part != NONE:
                    readers.setdefault(self._find(part), set()).add(NONE)
        places: dict[int, set[int]] = {}
        for making in made:
            places.setdefault(self._find(making.part), set()).add(making.i)
        own = {self._find(part) for part in self.own.values()}
        for part, where in places.items():
            if part not in own and readers.get(part) == where and len(where) == 1:
                self.f.reg_flags[self.register[part]] |= SPILLED

    def _drop(self) -> None:
        """Take away what makes registers that nobody reads any more."""
        left = dict(self.recipes.found)
        while True:
            read = registers_read(self.f)
            idle = [n for n in left if n not in read]
            if not idle:
                return
            for n in idle:
                for i in [*left.pop(n).made, *self.recipes.likes.get(n, ())]:
                    self.cursor.remove(i)


def registers_read(f: Function) -> set[int]:
    """The registers that something reads."""
    found: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if opd.is_register(f.guard[i]):
                found.add(f.guard[i] & opd.INDEX)
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if opd.is_register(operand) and not OPS.writes_at(f.op[i], at):
                    found.add(operand & opd.INDEX)
                at += 1
            i = f.next[i]
        b += 1
    return found
