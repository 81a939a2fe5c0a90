"""General optimization: one walk in reverse post-order, instruction by instruction.

Every instruction first gets what is known about its sources (copies, constants, words of constant banks that its operation
takes directly), then is simplified by itself (constant folding, algebraic rules, logic functions), then combined with the
definitions of its sources (sums, multiply-adds, addresses), then looked up among equal instructions before it. What is
left without readers is removed by the next phase. Source: PTX-to-Ori, "Phase 13: GeneralOptimizeEarly".
"""

from __future__ import annotations

from typing import Final

from oric_tables.operand_kinds import STABLE_SPECIAL
from oric_tables.rewrites import ANY, FALSE, FOLD, IMM, KEEP_SIGNS, RULES, TRUE, ZERO, Rule

from oric.ir import cfg
from oric.ir import operand as opd
from oric.ir.code import UR, CodeObject, Instruction
from oric.ir.optable import CONSTANT, CONTROL, INFO, LOAD, MEMORY, MOV, PINNED, SPECIAL, WARP, Info
from oric.ir.passes import PassContext

from . import combine, logic
from .cleanup import remove_dead_code
from .control import BLOCKS_MERGED
from .values import MASK32, SIGNS, Values

_REG_TYPE: Final = opd.REG << opd.TYPE_SHIFT
_TYPE: Final = 7 << opd.TYPE_SHIFT
# Results that equal instructions share: whatever depends on nothing but the sources.
_NOT_SHARED: Final = MEMORY | PINNED | WARP
MAX_ROUNDS: Final = 2
# A predicate is used again if it was made in the same block, at most so many instructions ago: there are only seven of them.
_PREDICATE_REACH: Final = 16


def general_optimize_early(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 13: walk until nothing changes, at most ``MAX_ROUNDS`` times, then remove what nobody reads."""
    return _optimize(code, ctx, MAX_ROUNDS)


def _optimize(code: CodeObject, ctx: PassContext, rounds: int) -> bool:
    changed = False
    for _ in range(rounds):
        walk = Walk(code, ctx)
        walk.run()
        if not walk.worth_another:
            changed |= bool(walk.values.changed)
            break
        changed = True
    if changed:
        ctx.count("general optimizations")
        remove_dead_code(code, ctx)
    return changed


class Walk:
    """One walk over a function."""

    def __init__(self, code: CodeObject, ctx: PassContext) -> None:
        self.code = code
        graph = cfg.analyze(code)
        self.order = graph.order
        self.values = Values(code, graph, ctx.target.isa_name)
        self.seen: dict[tuple[int, ...], Instruction] = {}
        self.worth_another = False

    def run(self) -> None:
        """Walk over all reachable blocks."""
        values = self.values
        blocks = self.code.blocks
        for index in self.order:
            values.block = index
            node = blocks[index].head
            while node is not None:
                following = node.next
                self._visit(node)
                node = following

    def _visit(self, node: Instruction) -> None:
        values = self.values
        info = INFO[node.op]
        values.substitute(node, info)
        if node.guard and node.guard & opd.INDEX_MASK == opd.PT and not self._settle_guard(node, info):
            return
        op = node.op
        if not info.flags & CONTROL:
            if op in RULES or op in FOLD or op in logic.LOGIC:
                self._simplify(node)
            if node.op in combine.COMBINE and not node.guard:
                before = values.changed
                if combine.COMBINE[node.op](values, node):
                    self._simplify(node)
                if values.changed != before:
                    self.worth_another = True
            info = INFO[node.op]
        kind = info.flags & ~LOAD if info.flags & CONSTANT else info.flags
        shared = 0 if kind & _NOT_SHARED or not info.writes or node.op == MOV else self._share(node, info)
        values.define(node, info)
        if node.guard:
            return
        if node.op == MOV and not node.mods:
            self._learn_copy(node)
        elif shared:
            self._learn_shared(node, info, shared)
        elif node.op in logic.COPIES:
            logic.COPIES[node.op](values, node)

    def _settle_guard(self, node: Instruction, info: Info) -> bool:
        """A constant guard: drop it, or the instruction (control flow is left to other passes). Returns whether it stays."""
        if not node.guard & opd.NEGATE:
            if not info.flags & CONTROL:
                node.guard = 0
            return True
        if info.flags & CONTROL:
            return True
        self.code.remove(node)
        self.values.changed += 1
        return False

    # -- simplification ----------------------------------------------------------------------------------

    def _simplify(self, node: Instruction) -> None:
        """Apply rules to ``node`` in place until none fires."""
        values = self.values
        for _ in range(4):
            if any(_is_register(o) for o in _other_writes(node)):
                return
            fold = FOLD.get(node.op)
            if fold is not None and self._fold(node, fold):
                return
            if not (node.op in logic.LOGIC and logic.LOGIC[node.op](values, node)) and not self._rules(node):
                return
            values.changed += 1

    def _fold(self, node: Instruction, fold: tuple[tuple[int, int, int], object]) -> bool:
        places, function = fold
        numbers = []
        for place in places:
            value = self.values.constant(node.operands[place]) if place >= 0 else 0
            if value is None:
                return False
            numbers.append(value)
        result = function(*numbers, node.mods) & MASK32  # type: ignore[operator]
        operand = self.code.imm(result) if result else opd.RZ_OPERAND
        node.op, node.mods, node.operands = MOV, 0, [node.operands[0], operand]
        self.values.changed += 1
        return True

    def _rules(self, node: Instruction) -> bool:
        for rule in RULES.get(node.op, ()):
            if node.mods & rule[1] == rule[2]:
                bound = _match(self.values, node, rule)
                if bound is not None and self._apply(node, rule, bound):
                    return True
        return False

    def _apply(self, node: Instruction, rule: Rule, bound: dict[int, int]) -> bool:
        made = [node.operands[0]]
        for pattern in rule[4]:
            if pattern == ZERO:
                made.append(opd.RZ_OPERAND)
            elif pattern >= IMM:
                made.append(self.code.imm(pattern - IMM))
            else:
                made.append(bound[pattern & ~KEEP_SIGNS])
        if not self.values.accepts(rule[3], made):
            return False
        node.op, node.mods, node.operands = rule[3], 0, made
        return True

    # -- facts -------------------------------------------------------------------------------------------

    def _learn_copy(self, node: Instruction) -> None:
        dest, source = node.operands[0], node.operands[1]
        if source & SIGNS or not _is_register(dest):
            return
        values = self.values
        index = source & opd.INDEX_MASK
        if source & _TYPE in (opd.IMM << opd.TYPE_SHIFT, opd.POOL << opd.TYPE_SHIFT):
            if not self.code.imm_value(source) & MASK32:
                source = opd.RZ_OPERAND
        elif source & _TYPE == _REG_TYPE and index != opd.RZ and values.files[index] == UR:
            return  # uniform registers are few and their forms cost a slot of the uniform data path
        elif source & _TYPE == opd.SYMBOL << opd.TYPE_SHIFT and not source & opd.CONST_BANK:
            return
        for slot in values.of(dest):
            values.learn(slot, source)

    def _share(self, node: Instruction, info: Info) -> Instruction | int:
        """An equal instruction whose results are at hand, 0 when there is none; else remember this one."""
        values = self.values
        if node.guard or (info.flags & SPECIAL and node.operands[info.special] & opd.INDEX_MASK not in STABLE_SPECIAL):
            return 0
        operands = node.operands
        key = [node.op, node.mods]
        writes = info.writes
        stable = True
        for place, operand in enumerate(operands):
            if place in writes:
                key.append(-1 if _is_register(operand) else operand)
                continue
            key.append(operand)
            index = operand & opd.INDEX_MASK
            if operand & _TYPE == _REG_TYPE and index not in (opd.RZ, opd.PT):
                first = values.bases[index] + (operand >> opd.COMPONENT_SHIFT & 3)
                for slot in values.of(operand) if operand & opd.WIDE else (first,):
                    if not values.is_stable(slot, values.block):
                        stable = False
                        key.append(values.version[slot])
        if not stable:
            key.append(-2 - values.block)
        whole = tuple(key)
        found = self.seen.get(whole)
        if found is not None and self._is_at_hand(found):
            return found
        self.seen[whole] = node
        return 0

    def _is_at_hand(self, node: Instruction) -> bool:
        """Whether the results of an instruction met before still lie in its registers."""
        if node.block is None:
            return False
        values = self.values
        for place in INFO[node.op].writes:
            if place < len(node.operands):
                short_lived = values.is_predicate(node.operands[place])
                for slot in values.of(node.operands[place]):
                    age = values.clock - values.def_clock[slot]
                    if short_lived and (values.def_block[slot] != values.block or age > _PREDICATE_REACH):
                        return False
                    if values.def_node[slot] is not node or not (
                        values.def_block[slot] == values.block or values.is_stable(slot, values.block)
                    ):
                        return False
        return True

    def _learn_shared(self, node: Instruction, info: Info, other: Instruction | int) -> None:
        assert isinstance(other, Instruction)
        values = self.values
        for place in info.writes:
            if place < len(node.operands) and _is_register(node.operands[place]):
                source = other.operands[place]
                width = source >> opd.WIDTH_SHIFT & 3
                part = source & ~(opd.WIDE | 3 << opd.WIDTH_SHIFT)
                for number, slot in enumerate(values.of(node.operands[place])):
                    values.learn(slot, part + (number << opd.COMPONENT_SHIFT) if width else source)
        values.changed += 1


def _is_register(operand: int) -> bool:
    return operand & _TYPE == _REG_TYPE and operand & opd.INDEX_MASK not in (opd.RZ, opd.PT)


def _other_writes(node: Instruction) -> list[int]:
    return [node.operands[p] for p in INFO[node.op].writes if 0 < p < len(node.operands)]


def _match(values: Values, node: Instruction, rule: Rule) -> dict[int, int] | None:
    """What the variables of a rule stand for in ``node``; None when it does not match."""
    bound: dict[int, int] = {}
    operands = node.operands
    for place, pattern in rule[0]:
        if pattern == ANY:
            continue
        if place >= len(operands):
            return None
        operand = operands[place]
        if pattern in (TRUE, FALSE):
            if operand != (opd.PT_OPERAND if pattern == TRUE else opd.NOT_PT_OPERAND):
                return None
        elif pattern == ZERO or pattern >= IMM:
            if values.constant(operand) != (0 if pattern == ZERO else pattern - IMM) or operand & opd.ABSOLUTE:
                return None
        else:
            if operand & SIGNS and not pattern & KEEP_SIGNS:
                return None
            if bound.setdefault(pattern & ~KEEP_SIGNS, operand) != operand:
                return None
    return bound


def value_numbering(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 49: one walk more where blocks have been merged since the last one, so that more is seen within a block."""
    if not code.analyses.pop(BLOCKS_MERGED, False):
        return False
    return _optimize(code, ctx, 1)
