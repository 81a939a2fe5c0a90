"""Runs the phases on a function and compares what it does before and after each one (:mod:`oric.ir.interpret`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle

from oric.driver.front import PtxInput, build_inputs
from oric.driver.options import CompileOptions
from oric.driver.registry import passes
from oric.ir.function import Function
from oric.ir.interpret import Thread, difference
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.text import all_instructions
from oric.lower.images import has_images
from oric.phases.backend import phase_functions
from oric.phases.manager import PhaseManager
from oric.phases.optimize import RULES
from oric_rules.matchers import TEXTS
from oric_tables import knobs, ops
from oric_tables.macros import SHARED
from oric_tables.op import E_SIDE_EFFECT as SIDE_EFFECT
from oric_tables.phases import PHASES
from oric_tables.values import HAS_VALUE

ALLOCATION = next(phase.index for phase in PHASES if phase.function == "allocate_registers")
# Of several stores they make one.
JOINING = [phase.index for phase in PHASES if phase.function in ("forward_values", "widen_accesses")]
PROMOTING = next(phase.index for phase in PHASES if phase.function == "generate_movphi")
FOLLOWING = next(phase.index for phase in PHASES if phase.function == "follow_copies")
PLACING = next(phase.index for phase in PHASES if phase.function == "place_images")
CONVENTION = next(phase.index for phase in PHASES if phase.function == "lower_calls")
NUMBER = {row.name: number for number, row in enumerate(ops.OPS) if row is not None}
CALL_SHARED = {number for number, row in enumerate(ops.OPS) if row is not None and row.name.startswith("CALL_SHARED")}
SHARING = {
    number for number, row in enumerate(ops.OPS) if row is not None and {number, NUMBER.get(f"{row.name}.ANY")} & set(SHARED)
}
SEEDS = range(5)


@dataclass
class Check:
    """What a function did after the last phase; ``wrong``: phases after which it did something else."""

    name: str
    seeds: Iterable[int] = SEEDS
    kinds: Sequence[str] = ("any",)  # of values that the states have, by turns
    context: PassContext | None = None  # of the phases, which name their rules in it
    until: int = 1 << 10  # phases from this one on are left to other proofs
    before: list[Thread] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    events: int = 0
    ended: int = 0
    unseen: set[int] = field(default_factory=set)

    def start(self, f: Function) -> None:
        """Before the first phase."""
        self._forget_rules()
        self.before = self._run(f)
        self.unseen = _unseen(f)
        self.events = sum(len(thread.events) for thread in self.before)
        self.ended = sum(thread.ended for thread in self.before)

    def after(self, f: Function, phase: str) -> None:
        """A phase has run."""
        number = int(phase.split()[1])
        if number >= self.until:
            return
        allocated = number >= ALLOCATION
        threads = self._run(f, physical=allocated)
        if number not in self.unseen:
            for one, other in zip(self.before, threads, strict=True):
                if found := difference(one, other, scheduled=allocated or number in JOINING):
                    self.wrong.append(f"{self.name} after {phase}, seed {one.seed}: {found}{self._rules()}")
        self.before = threads
        self.unseen = _unseen(f)
        self._forget_rules()

    def _rules(self) -> str:
        """The rules that the phase has applied."""
        counts = self.context.stats if self.context is not None else {}
        fired = [TEXTS[int(name.removeprefix(RULES))] for name in counts if name.startswith(f"{RULES} ")]
        return f"; rules: {'; '.join(fired)}" if fired else ""

    def _forget_rules(self) -> None:
        if self.context is not None:
            self.context.stats = {RULES: 0}

    def _run(self, f: Function, physical: bool = False) -> list[Thread]:
        kinds = cycle(self.kinds)
        threads = [Thread(f, seed, physical=physical, kind=next(kinds)) for seed in self.seeds]
        for thread in threads:
            thread.run()
        return threads


def _unseen(f: Function) -> set[int]:
    """Phases that expand macro operations without a value: what they make of them is run on the machine, in tests/lower. So is
    the code that several of some operations share, and call. What threads do together has its value for a thread that runs by
    itself, but not what votes and shuffles make of it: that is run in tests/e2e/test_aggregated_atomics.py. Local variables that
    become registers are run in tests/phases/test_promotion.py."""
    operations = [f.op[i] for i in all_instructions(f)]
    shared = Counter(op for op in operations if op in SHARING)
    found = {op for op in operations if op not in HAS_VALUE or shared[op] > 1 or OPS.flags[op] & SIDE_EFFECT}
    calls = {CONVENTION} if CALL_SHARED & found else set()
    calls |= {PLACING} if has_images(f) else set()  # other operations with other operands
    calls |= {FOLLOWING} if NUMBER["COPY"] in operations else set()  # of a copy it makes one that begins where another one ended
    calls |= (
        {PROMOTING} if 0 < f.local_bytes <= 4 * knobs.NUMBERS[knobs.PROMOTED_WORDS] else set()
    )  # no place of a random state lies in the variables
    return {OPS.expansion[op] for op in found if OPS.expansion[op]} | calls


def check_phases(
    f: Function, context: PassContext, name: str = "", last: int = ALLOCATION, seeds: Iterable[int] = SEEDS
) -> Check:
    """Run the phases before ``last`` on a function, each under the interpreter."""
    check = Check(name or f.name, seeds, context=context)
    run_phases(f, context, check, last)
    return check


def run_phases(f: Function, context: PassContext, check: Check, last: int = ALLOCATION) -> None:
    """Run the phases before ``last`` on a function under a check."""
    later = [str(phase.index) for phase in PHASES if phase.index >= last and phase.function and not phase.required]
    manager = PhaseManager(
        passes(), context.opt_level, functions=phase_functions(context.target), verify=check.after, disabled=later
    )
    check.start(f)
    manager.run(f, context)


def functions_of(text: str, target: str, level: int = 3) -> Iterator[tuple[Function, PassContext]]:
    """The functions of a PTX module as lowering makes them, with what phases get besides."""
    options = CompileOptions(arch=target, opt_level=level)
    front = build_inputs([PtxInput(text, "kernel.ptx")], options)
    for f in front.module.functions:
        yield f, PassContext(options.target, front.module, level, front.places[f.name], None)
