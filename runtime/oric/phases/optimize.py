"""General optimization: walks in reverse post-order, instruction by instruction.

Every instruction first gets what is known about its sources (copies, constants, words of constant banks that its operation
takes directly), then is simplified by itself (constant folding, algebraic rules, logic functions), then combined with the
definitions of its sources (sums, multiply-adds, addresses), then looked up among equal instructions before it. What is
left without readers is removed by the next phase. Source: PTX-to-Ori, "Phase 13: GeneralOptimizeEarly".
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_rules import matchers
from oric_tables import knobs, ops
from oric_tables.op import ISETP, MOV, VOTEU, MovPhi
from oric_tables.operand_kinds import STABLE_SPECIAL

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.edges import has_register
from oric.ir.facts import MASK32
from oric.ir.function import AUX_CONTRACT, NONE, UR, Function, control_flow
from oric.ir.operand import SIGNS
from oric.ir.optable import BRANCH, CONSTANT, CONTROL, EXIT, LOAD, MEMORY, OPS, PINNED, SPECIAL, WARP
from oric.ir.passes import PassContext
from oric.ir.values import Values

from .bounds import outcome
from .carries import SUMS, carries_of, carry_of
from .cleanup import remove_dead_code
from .decided import settle_branches
from .folding import Folder
from .guarded import write_over
from .seen import Seen
from .sums import add_to_nothing

RULES: Final = "rewrite rules"  # who has this among the statistics gets a count of each rule that is applied, by number
_PREDICATE: Final = 3  # in FOLDS: the result is a predicate, which becomes known
_ANY: Final[int] = ops.op(VOTEU).pack(op="ANY")
_VOTED: Final = [operand.name for operand in ops.op(VOTEU).operands].index("Pp")
_OUTCOME: Final = [operand.name for operand in ops.op(VOTEU).operands].index("UPd")
# Results that equal instructions share: whatever depends on nothing but the sources.
_NOT_SHARED: Final = MEMORY | PINNED | WARP
# A predicate is used again if it was made in the same block, at most so many instructions ago: there are only seven of them.


def general_optimize_early(f: Function, ctx: PassContext) -> bool:
    """Phase 13: ``OPTIMIZE_ROUNDS`` walks, fewer when one finds nothing; then what nobody reads is removed."""
    over = write_over(f)
    return _optimize(f, ctx, f.knobs.numbers[knobs.OPTIMIZE_ROUNDS]) or over


def value_numbering(f: Function, ctx: PassContext) -> bool:
    """Phase 49: one walk more where blocks have been merged since the last one, so that more is seen within a block."""
    return _walk_again(f, ctx, 1)


def general_optimize_mid(f: Function, ctx: PassContext) -> bool:
    """Phase 46: the walks of phase 13 again where macro operations have been expanded."""
    return _walk_again(f, ctx, f.knobs.numbers[knobs.OPTIMIZE_ROUNDS])


def general_optimize_late(f: Function, ctx: PassContext) -> bool:
    """Phase 58: one walk more where macro operations have been expanded; halves that nobody reads are removed.

    Another one where it has found what sums carry, or which way a branch goes.
    """
    changed = _walk_again(f, ctx, 1)
    return _walk_again(f, ctx, 1) or changed


def _walk_again(f: Function, ctx: PassContext, rounds: i64) -> bool:
    if not f.merged:
        return False
    f.merged = False
    return _optimize(f, ctx, rounds)


def _optimize(f: Function, ctx: PassContext, rounds: i64) -> bool:
    changed = False
    while rounds > 0:
        rounds -= 1
        walk = Walk(f, ctx.target.isa_name)
        walk.noted = ctx if RULES in ctx.stats else None
        walk.run()
        if walk.decided and settle_branches(f, walk.decided):
            changed = True
        if not walk.worth_another:
            changed = changed or walk.values.changed != 0
            break
        changed = True
    changed = add_to_nothing(f) or changed
    if changed:
        ctx.count("general optimizations")
        remove_dead_code(f, ctx)
    return changed


@final
class Walk:
    """One walk over a function."""

    def __init__(self, f: Function, isa: str) -> None:
        self.f = f
        self.graph = control_flow(f)
        self.values = Values(f, self.graph, isa)
        self.folder = Folder(self.values)
        self.cursor = Cursor(f)
        self.seen = Seen(f, self.values)
        self.worth_another = False
        self.decided: dict[int, bool] = {}  # block -> whether what ends it is taken
        self.noted: PassContext | None = None  # counts the rules that are applied
        self.some_stay = bool(f.knobs.conditions[knobs.SKIP_RULES] or f.knobs.opcodes[knobs.KEEP_OPCODES])

    def run(self) -> None:
        """Walk over all reachable blocks."""
        f = self.f
        values = self.values
        at: i64 = 0
        while at < self.graph.reachable:
            values.block = self.graph.order[at]
            i = f.head[values.block]
            while i != NONE:
                following = f.next[i]
                self._visit(i)
                i = following
            at += 1

    def _visit(self, i: i64) -> None:
        f = self.f
        values = self.values
        if f.op[i] == MovPhi:  # what it reads is read elsewhere
            values.define(i)
            return
        values.substitute(i)
        flags = OPS.flags[f.op[i]]
        if f.guard[i] and flags & (BRANCH | EXIT) and f.next[i] == NONE and not has_register(f, i):
            self._decide(i)
        if f.guard[i] and f.guard[i] & opd.INDEX == opd.PT and not self._settle_guard(i, flags):
            return
        if not flags & CONTROL and not (self.some_stay and self._stays(i)):
            before = values.combined
            self._simplify(i)
            if values.combined != before:
                self.worth_another = True
            flags = OPS.flags[f.op[i]]
        kind = flags & ~LOAD if flags & CONSTANT else flags
        shared: i64 = NONE
        if not kind & _NOT_SHARED and OPS.writes[f.op[i]] and f.op[i] != MOV:
            shared = self._share(i, flags)
        values.define(i)
        if f.guard[i]:
            return
        if f.op[i] == MOV and not f.mods[i]:
            self._learn_copy(i)
        elif shared != NONE:
            self._learn_shared(i, shared)
        elif matchers.HAS_FACTS[f.op[i]]:
            self._learn_fact(i)
        elif f.op[i] == VOTEU and f.mods[i] == _ANY:
            self._learn_vote(i)
        elif f.op[i] in SUMS:
            self._learn_carries(i)

    def _stays(self, i: i64) -> bool:
        """Whether knobs say that no rule rewrites an instruction."""
        values = self.f.knobs
        return int(self.f.op[i]) in values.opcodes[knobs.KEEP_OPCODES] or values.is_on(knobs.SKIP_RULES, int(i))

    def _decide(self, i: i64) -> None:
        """Note which way a branch or exit goes if its guard is known."""
        guard = self.f.guard[i]
        value = guard if guard & opd.INDEX == opd.PT else self.values.known(self.f.words_of(guard)) ^ (guard & opd.NEGATE)
        if value == opd.PT_OPERAND or value == opd.NOT_PT_OPERAND:
            self.decided[self.values.block] = value == opd.PT_OPERAND

    def _settle_guard(self, i: i64, flags: i64) -> bool:
        """A constant guard: drop it, or the instruction (control flow is left to other passes). Returns whether it stays."""
        f = self.f
        if not f.guard[i] & opd.NEGATE:
            if not flags & CONTROL:
                f.set_guard(i, 0)
            return True
        if flags & CONTROL:
            return True
        self.cursor.remove(i)
        self.values.changed += 1
        return False

    # -- simplification ----------------------------------------------------------------------------------

    def _simplify(self, i: i64) -> None:
        """Apply rules to an instruction in place until none fires."""
        values = self.values
        turn: i64 = 0
        while turn < 4:
            turn += 1
            if self._fold(i):
                return
            if not matchers.rewrite(values, i) and not matchers.rewrite_address(values, i):
                return
            if self.noted is not None:
                self.noted.count(f"{RULES} {values.fired}")

    def _fold(self, i: i64) -> bool:
        f = self.f
        words = matchers.FOLDS[f.op[i]]
        if not words or words == _PREDICATE or not self.values.is_only_result(i):
            return False
        if not self.folder.fold(i):
            return False
        result = self.folder.results[0]
        if words == 2:
            return self.values.make_copies(i, self.values.whole_number(result))
        self.cursor.rewrite(i, MOV, 0, 2)
        f.set(i, 1, self.values.number(result))
        self.values.changed += 1
        return True

    # -- facts -------------------------------------------------------------------------------------------

    def _learn_copy(self, i: i64) -> None:
        f = self.f
        dest, source = f.get(i, 0), f.get(i, 1)
        if source & SIGNS or not opd.is_register(dest):
            return
        form = source & opd.TYPE
        index = source & opd.INDEX
        if form == opd.IS_IMM or form == opd.IS_POOL:
            if not f.imm_value(source) & MASK32:
                source = opd.RZ_OPERAND
        elif form == opd.IS_REG:
            if index != opd.RZ and f.reg_type[index] == UR:
                return  # uniform registers are few and their forms cost a slot of the uniform data path
        elif form == opd.IS_SYMBOL and not source & opd.CONST_BANK:
            return
        word = f.words_of(dest)
        end = word + opd.count_of(dest)
        while word < end:
            self.values.learn(word, source)
            word += 1

    def _learn_fact(self, i: i64) -> None:
        """What is known of the predicate that an instruction makes."""
        dest = self.f.get(i, 0)
        if opd.is_register(dest):
            value = matchers.fact(self.values, i)
            if not value and matchers.FOLDS[self.f.op[i]] and self.folder.fold(i):
                value = opd.PT_OPERAND if self.folder.results[0] else opd.NOT_PT_OPERAND
            if not value and self.f.op[i] == ISETP:
                value = outcome(self.values, i)
            if value and not self._writes(i, value):
                self.values.learn(self.f.words_of(dest), value)

    def _learn_vote(self, i: i64) -> None:
        """Whether any thread has what all threads have or none has."""
        voted, outcome = self.f.get(i, _VOTED), self.f.get(i, _OUTCOME)
        if voted & ~opd.NEGATE == opd.PT_OPERAND and opd.is_register(outcome):
            self.values.learn(self.f.words_of(outcome), voted)

    def _learn_carries(self, i: i64) -> None:
        """What a sum carries is known where its sources are small, or as large as can be; another walk finds a sum without it."""
        found = carries_of(self.values, i)
        carry = carry_of(self.values, i) if found else 0
        if carry == opd.NOT_PT_OPERAND or (carry and len(found) == 1):
            for operand in found:
                self.values.learn(self.f.words_of(operand), carry)
            self.f.merged = True

    def _writes(self, i: i64, value: i64) -> bool:
        """Whether a register is one of an instruction's own results, which is no longer what the instruction has read there."""
        return opd.is_register(value) and self.values.def_of[self.f.words_of(value)] == i

    def _share(self, i: i64, flags: i64) -> i64:
        """An equal instruction whose results are at hand, ``NONE`` when there is none; else remember this one."""
        f = self.f
        if f.guard[i]:
            return NONE
        if flags & SPECIAL and f.get(i, OPS.sreg[f.op[i]]) & opd.INDEX not in STABLE_SPECIAL:
            return NONE
        found = self.seen.lookup(i)
        if found != NONE and self._is_at_hand(found) and not self._crosses(i, found):
            if not (f.aux[i] | f.aux[found]) & AUX_CONTRACT:
                return found
            f.merged = True  # equal products become one when none can be fused any more
        self.seen.remember(i)
        return NONE

    def _is_at_hand(self, i: i64) -> bool:
        """Whether the results of an instruction met before still lie in its registers."""
        f = self.f
        if f.block[i] == NONE:
            return False
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand) and not self._still_holds(i, operand):
                return False
            at += 1
        return True

    def _crosses(self, i: i64, found: i64) -> bool:
        """Whether an instruction writes one result where an equal one has another result, which would be lost."""
        f = self.f
        results = [at for at in range(f.count[i]) if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at))]
        for at in results:
            for other in results:
                if at != other and (f.get(i, at) ^ f.get(found, other)) & (opd.TYPE | opd.INDEX) == 0:
                    return True
        return False

    def _still_holds(self, i: i64, operand: i64) -> bool:
        values = self.values
        short_lived = self.f.is_predicate(operand)
        word = self.f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            age = values.clock - values.def_clock[word]
            here = values.def_block[word] == values.block
            if short_lived and (not here or age > self.f.knobs.numbers[knobs.PREDICATE_REACH]):
                return False
            if not values.is_last(word, values.def_clock[word]):
                return False
            if values.def_of[word] != i or not (here or values.is_stable(word, values.block)):
                return False
            word += 1
        return True

    def _learn_shared(self, i: i64, other: i64) -> None:
        f = self.f
        values = self.values
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.get(i, at)
            if mask >> at & 1 and opd.is_register(operand):
                source = f.get(other, at)
                count = opd.count_of(operand)
                word = f.words_of(operand)
                number: i64 = 0
                while number < count:
                    values.learn(word + number, opd.word(source, number) if count > 1 else source)
                    number += 1
            at += 1
        values.changed += 1
