"""Wrong phases: behind a phase one fault is left in what it has made, and the comparison of before and after must see it.

Of a fault that neither the verifier nor the comparison sees, on few states and then on many, the simulator decides: the program
is compiled with the fault in it, and when it writes something else than it should, the fault was missed.

    python -m tests.ir.planted_phases [PROGRAMS]    # counts them
"""

from __future__ import annotations

import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from unittest.mock import patch

from oric.cli.opt import FAILURES
from oric.driver.registry import passes
from oric.ir.function import Function
from oric.ir.interpret import STEPS, Thread, difference
from oric.ir.passes import PassContext
from oric.ir.text import format_instruction
from oric.ir.verify import MalformedCode, verify
from oric_tables.phases import PHASES

from bench.programs import Key, keys, subject
from tests.ir.faults import FAULTS
from tests.ir.phases import ALLOCATION, JOINING, Check, functions_of, run_phases
from tests.programs import compare

KINDS = ("any", "any", "small", "any", "floats")  # of the states that each phase is checked on
# Further states for what the first ones do not tell: (seeds, their kind, steps). Some have small numbers, so that loops end.
FURTHER = (
    (range(100, 120), "any", STEPS),
    (range(200, 230), "small", 6000),
    (range(300, 306), "floats", 6000),
    (range(400, 420), "named", 3000),
)
PLACES, EACH = 5, 3  # phases of a function that are made wrong, and faults in each
TRIES = 40  # instructions that are looked at for a fault


@dataclass
class Planted:
    """A wrong phase: where, what, and who saw it: verifier, states or (refused) what makes code of it; nobody: ""."""

    key: Key
    phase: str
    kind: str
    instruction: int
    seed: int
    seen: str = ""
    report: str = ""

    def __str__(self) -> str:
        return f"{self.key[1]} {self.key[2]}, {self.phase}, {self.kind} at instruction {self.instruction}: {self.report}"


@dataclass
class Planter(Check):
    """Makes some of the phases wrong, one fault at a time, while the right phases run on."""

    key: Key = ("", "", "")
    rng: random.Random = field(default_factory=random.Random)
    chosen: frozenset[int] = frozenset()
    planted: list[Planted] = field(default_factory=list)

    def after(self, f: Function, phase: str) -> None:
        """A phase has run."""
        number = int(phase.split()[1])
        was, comparable = self.before, number not in self.unseen
        super().after(f, phase)
        epochs = f.flow_epoch, f.code_epoch
        if number in self.chosen and comparable:
            for kind in self.rng.sample(sorted(FAULTS), len(FAULTS)):
                if sum(p.phase == phase for p in self.planted) < EACH:
                    self._plant(f, phase, kind, was, number in JOINING)
        f.flow_epoch, f.code_epoch = epochs  # all faults have been taken back

    def _plant(self, f: Function, phase: str, kind: str, was: list[Thread], scheduled: bool) -> None:
        executed = sorted({i.number for thread in self.before for code in thread.blocks.values() for i in code})
        for i in self.rng.sample(executed, min(TRIES, len(executed))):
            seed = self.rng.randrange(1 << 30)
            text = format_instruction(f, i)
            undo = FAULTS[kind](f, i, random.Random(seed))
            if undo is None:
                continue
            one = Planted(self.key, phase, kind, i, seed)
            one.seen, one.report = _seen(f, phase, was, scheduled)
            undo()
            if not one.seen:
                one.seen, one.report = self._with_more_states(f, one, scheduled)
            one.report = one.report or f"nothing is seen: {text}"
            self.planted.append(one)
            return

    @staticmethod
    def _with_more_states(f: Function, one: Planted, scheduled: bool) -> tuple[str, str]:
        for seeds, states, limit in FURTHER:
            right = _threads(f, seeds, states, limit)
            undo = FAULTS[one.kind](f, one.instruction, random.Random(one.seed))
            assert undo is not None
            found = _seen(f, one.phase, right, scheduled, limit)
            undo()
            if found[0]:
                return found
        return "", ""


def _threads(f: Function, seeds: Iterable[int], kind: str = "any", limit: int = STEPS) -> list[Thread]:
    threads = [Thread(f, seed, kind=kind) for seed in seeds]
    named = tuple(sorted({int(word) & 0xFFFFFFFF for word in f.immediates})) if kind == "named" else ()
    for thread in threads:
        thread.named = named
        thread.run(limit)
    return threads


def _seen(f: Function, phase: str, was: list[Thread], scheduled: bool, limit: int = STEPS) -> tuple[str, str]:
    """Who sees a fault, and what is reported."""
    try:
        verify(f, phase)
    except MalformedCode as error:
        return "verifier", str(error)
    try:
        now = [Thread(f, thread.seed, kind=thread.kind) for thread in was]
        for thread, before in zip(now, was, strict=True):
            thread.named = before.named
            thread.run(limit)
    except (AssertionError, IndexError, KeyError, ValueError) as error:
        return "states", f"{f.name} after {phase}: it cannot be executed: {error}"
    for one, other in zip(was, now, strict=True):
        if found := difference(one, other, scheduled=scheduled):
            return "states", f"{f.name} after {phase}, seed {one.seed}: {found}"
    return "", ""


def plant_in(key: Key) -> list[Planted]:
    """Wrong phases for each function of a program."""
    found = []
    for f, context in functions_of(subject(key).text, key[2]):
        rng = random.Random(zlib.crc32(repr((key, f.name)).encode()))
        all_phases = [p.index for p in PHASES if p.function and p.index < ALLOCATION and p.function in passes()]
        planter = Planter(f.name, range(len(KINDS)), KINDS, context, ALLOCATION)
        planter.key, planter.rng, planter.chosen = key, rng, frozenset(rng.sample(all_phases, PLACES))
        run_phases(f, context, planter)
        assert not planter.wrong, planter.wrong
        found += planter.planted
    return found


# -- what is missed --------------------------------------------------------------------------------------------------


def is_missed(one: Planted) -> str:
    """What the simulator says of a program that is compiled with a fault that nothing has seen; "" when it is right."""
    number = int(one.phase.split()[1])
    name = next(p.function for p in PHASES if p.index == number)
    calls = [p.index for p in PHASES if p.function == name].index(number)  # how often the pass has run before
    runs: Counter[int] = Counter()

    def wrong(f: Function, context: PassContext) -> bool:
        changed = right(f, context)
        if runs[id(f)] == calls:
            FAULTS[one.kind](f, one.instruction, random.Random(one.seed))
        runs[id(f)] += 1
        return changed

    right = passes()[name]
    with patch.dict(passes(), {name: wrong}):
        try:
            told = compare.ours(subject(one.key), ("contract_products",))  # which the phases do without a command line, too
        except FAILURES as error:  # the back end or the encoder refuses the code: nothing is emitted
            one.seen, one.report = "refused", f"{one.phase}: {error}"
            return ""
    return told if isinstance(told, str) else ""


# -- all of them -----------------------------------------------------------------------------------------------------


@cache
def in_order() -> list[Key]:
    """All programs, in an order of chance that is the same in each run."""
    return sorted(keys(), key=lambda key: zlib.crc32(repr(key).encode()))


def results(programs: Iterable[Key]) -> Iterator[tuple[Planted, str]]:
    """Wrong phases, and of those that nothing sees what the simulator says."""
    for key in programs:
        for one in plant_in(key):
            yield one, "" if one.seen else is_missed(one)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seen: Counter[str] = Counter()
    missed = []
    for one, told in results(in_order()[:count]):
        seen[one.seen or ("missed" if told else "right all the same")] += 1
        if not one.seen:
            print(f"{told or 'right'}: {one}")
        missed += [one] if told else []
    print(f"{seen.total()} wrong phases:", ", ".join(f"{n} {who}" for who, n in sorted(seen.items())))
    return len(missed)


if __name__ == "__main__":
    raise SystemExit(main())
