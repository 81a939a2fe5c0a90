"""Registers that are made again of others which are in the file, in place of waiting in memory.

Where more is live than there are registers, what :mod:`.residence` would bring back in front of an instruction is rather made
once more there, if that takes few instructions and what they read is in the file at that place. It is done on the function as it
came to allocation, before anything waits in memory: what is spilled then is less. Source: Briggs, Cooper and Torczon,
"Rematerialization" (1992), here for values of other registers, too.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import thresholds
from oric_tables.op import MOV
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P
from oric.ir.optable import CONTROL, MEMORY, OPS, PINNED, SPECIAL, WARP

from .repeatable import repeatable
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


def remake(f: Function, code: Code, limits: list[int]) -> bool:
    """Make registers again where they would be brought back; whether there were some. Nobody may hold a view of the function.

    ``code``: of the function as it stands; ``limits``: by block, the words of general registers.
    """
    if code.cfg.loops().irreducible:
        return False
    constant = set(repeatable(f, set(), {}))
    recipes = _Recipes(f, code)
    sources = {n: recipes.reach(n) for n in recipes.found if n not in constant}
    return bool(sources) and _Remaking(f, Plan(code, limits, may_be_spilled(f), constant, sources), recipes).run()


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
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                self._note(i)
                i = f.next[i]
            b += 1
        for n, made in self._defs.items():
            recipe = self._recipe(n, made)
            if recipe is not None:
                self.found[n] = recipe
        self.found = {n: recipe for n, recipe in self.found.items() if all(self._lasts(n, m) for m in recipe.sources)}

    def _note(self, i: i64) -> None:
        f = self.f
        self._note_read(f.guard[i])
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if not OPS.writes_at(f.op[i], at):
                self._note_read(operand)
            elif opd.is_register(operand):
                n = operand & opd.INDEX
                words = _words(operand)
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

    def _note_read(self, operand: i64) -> None:
        if opd.is_register(operand):
            n = operand & opd.INDEX
            self.read[n] = self.read.get(n, 0) | _words(operand)

    def _recipe(self, n: int, made: list[int]) -> Recipe | None:
        """How a register is made, if that is by few instructions without an effect, of registers with one definition each."""
        f = self.f
        if not is_general(f, n) or f.reg_flags[n] & (FLAG_FIXED | SPILLED) or f.reg_size[n] > _WIDEST:
            return None
        if n in self._again or self.read.get(n, 0) & ~self._words[n]:
            return None
        sources: list[int] = []
        for i in made:
            if f.guard[i] or OPS.flags[f.op[i]] & _EFFECTS or OPS.sreg[f.op[i]] >= 0 or not self._reads(n, i, sources):
                return None
        cost = sum(f.op[i] != MOV or not opd.is_register(f.get(i, 1)) for i in made)
        return Recipe(made, sources, cost) if cost <= thresholds.SPILL_REMADE else None

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
                if number != n and (f.reg_type[number] != P or number in self.read):
                    return False
            elif number == n and (i == self._defs[n][0] or len(self._defs[n]) != 2 or self._is_apart(n)):
                return False  # it makes more of what it is
            elif number != n and not self._is_once(number, operand):
                return False
            elif number != n and number not in sources:
                sources.append(number)
            at += 1
        return True

    def _is_apart(self, n: int) -> bool:
        """Whether the two instructions that make a register make each words of its own."""
        return self.f.get(self._defs[n][0], 0) != self.f.get(self._defs[n][1], 0)

    def _is_once(self, n: int, operand: i64) -> bool:
        """Whether the words that an operand names of a general register have one definition each."""
        if not is_general(self.f, n) or self.f.reg_flags[n] & FLAG_FIXED or n in self._again:
            return False
        return not _words(operand) & ~self._words.get(n, 0)

    def _lasts(self, n: int, m: int) -> bool:
        """Whether a source is what it was wherever a register is live: no loop makes it anew meanwhile."""
        loops = self.code.cfg.loops()
        for i in self._defs[m]:
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
                if m in self.found and cost + self.found[m].cost <= thresholds.SPILL_REMADE:
                    waiting.append((m, cost + self.found[m].cost))
        return found

    def cost(self, n: int, there: set[int]) -> int:
        """Instructions that make a register of those that are there and of constants; more than are worth it if it cannot be."""
        recipe = self.found.get(n)
        if recipe is None:
            return int(thresholds.SPILL_REMADE) + 1
        total = recipe.cost
        for m in recipe.sources:
            if m not in there and total <= int(thresholds.SPILL_REMADE):
                total += self.cost(m, there)
        return total

    def used(self, n: int, there: set[int]) -> set[int]:
        """Which of those that are there a register is made of."""
        found: set[int] = set()
        for m in self.found[n].sources:
            found |= {m} if m in there else self.used(m, there)
        return found


def _words(operand: i64) -> int:
    """The words that an operand names, as bits."""
    return ((1 << opd.count_of(operand)) - 1) << opd.first_of(operand)


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

    def __init__(self, f: Function, plan: Plan, recipes: _Recipes) -> None:
        self.f = f
        self.plan = plan
        self.recipes = recipes
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
        if there is None or written or self.recipes.cost(n, there) > int(thresholds.SPILL_REMADE):
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
        for made in recipe.made:
            if i == NONE:
                self.cursor.at_end(b)
            else:
                self.cursor.in_front(i)
            copy = self.cursor.clone(made)
            at: i64 = 0
            while at < f.count[copy]:
                operand = f.get(made, at)
                number = operand & opd.INDEX
                if OPS.writes_at(f.op[copy], at):
                    if opd.is_register(operand):
                        f.set(copy, at, opd.with_index(operand, x) if number == n else opd.PT_OPERAND)
                elif opd.is_register(operand):
                    f.set(copy, at, opd.with_index(operand, x if number == n else sources[number]))
                at += 1

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
                for i in left.pop(n).made:
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
