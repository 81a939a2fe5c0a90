"""Expansion of macro operations: their templates take their places, run by the emitter that lowering runs.

The phases at 45, 55 and 78 call it, each for the macros whose row in ``spec/macros.yaml`` names it. Source: PTX-to-Ori, Phase 8
(macro instructions); Data Structures, Pipeline Progress Counter (MidExpansion, LateExpansion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.macros import EXPANSIONS, LONG, MODIFIERS, TEMPLATES

from oric.ir import mbarriers
from oric.ir import operand as opd
from oric.ir import phis as merges
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import AUX_MBARRIER, AUX_VOLATILE, NONE, Function
from oric.ir.optable import MEMORY, OPS
from oric.ir.passes import PassContext, PassFunction
from oric.ir.worklist import Worklist

from .bankwords import load_bank_words
from .convert import convert_unsupported_ops
from .emit import Emitter
from .images import place_images
from .sources import put_number, put_source
from .subroutines import share
from .turns import take_turns

if TYPE_CHECKING:
    from .program import Program


def expand_control_flow(f: Function, ctx: PassContext) -> bool:
    """Phase 45: operations become code that may have control flow: divisions, roots, reciprocals, loops of atomics."""
    return _expand(f, ctx, EXPANSIONS["expand_control_flow"])


def expand_sums(f: Function, ctx: PassContext) -> bool:
    """Phase 55: 64-bit sums become pairs of 32-bit sums with a carry."""
    return _expand(f, ctx, EXPANSIONS["expand_sums"])


def expand_rest(f: Function, ctx: PassContext) -> bool:
    """Phase 78: what had to stay whole until the convergence barriers stand."""
    return _expand(f, ctx, EXPANSIONS["expand_rest"])


_SIGN: Final = 1 << 31

PASSES: Final[dict[str, PassFunction]] = {
    "convert_unsupported_ops": convert_unsupported_ops,
    "expand_control_flow": expand_control_flow,
    "expand_sums": expand_sums,
    "expand_rest": expand_rest,
    "load_bank_words": load_bank_words,
    "place_images": place_images,
    "take_turns": take_turns,
}


def _expand(f: Function, ctx: PassContext, phase: i64) -> bool:
    """Replace the macros of a phase; returns whether there were any."""
    f.expanded = phase
    waiting = Worklist(f, phase)
    if not len(waiting):
        return False
    f.merged = True
    while len(waiting):
        share(f, ctx, waiting)
        expander = _Expander(f, ctx, phase)
        expander.run(waiting)
        waiting = Worklist(f, phase if expander.again else NONE)
    merges.leave_several(f)
    return True


@final
class _Expander:
    """Replaces the macros of one phase, block after block: a block's instructions are taken out and put back one by one."""

    def __init__(self, f: Function, ctx: PassContext, phase: i64) -> None:
        self.f = f
        self.ctx = ctx
        self.phase: int = phase
        self.cursor = Cursor(f)
        self.emitter = Emitter(ctx.target, None)
        self.emitter.begin_function(f)
        self.count: int = 0
        self.again = False  # whether templates have made macros of the same phase

    def run(self, waiting: Worklist) -> None:
        """Replace them; blocks that templates make stand behind the block of their macro."""
        f = self.f
        order = vec[i64]()
        ends: dict[int, int] = {}  # blocks that macros have parted -> where their ends are now
        before = f.blocks()
        made = before
        i = waiting.next()
        b: i64 = 0
        while b < before:
            order = append(order, b)
            if i != NONE and f.block[i] == b:
                self._block(b)
                if self.emitter.block != b:
                    ends[int(b)] = self.emitter.block
                i = waiting.next()
            while made < f.blocks():
                order = append(order, made)
                made += 1
            b += 1
        self.ctx.count("macro operations expanded", self.count)
        if made > before:
            self.emitter.resolve_labels()
            _move_ends(f, ends)
            self.cursor.reorder(order)
            make_edges(f)

    def _block(self, b: i64) -> None:
        f = self.f
        emitter = self.emitter
        i = self.cursor.empty(b)
        emitter.block = b
        while i != NONE:
            following = f.next[i]
            if OPS.expansion[f.op[i]] == self.phase:
                emitter.line = f.line[i]
                self._macro(i)
            else:
                emitter.stand().link(i)
            i = following

    def _macro(self, i: i64) -> None:
        f = self.f
        emitter = self.emitter
        longer = LONG.get(f.op[i])
        name = longer if longer is not None and _has_long_constant(f, i) else TEMPLATES[f.op[i]]
        program: Program = emitter.tables.template(name)
        env = emitter.open(program)
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if OPS.writes_at(f.op[i], at):
                env.put(program.args[at], operand)
            else:
                put_source(f, env, program.args[at], operand)
            at += 1
        at = OPS.slots[f.op[i]]  # operands that are left out are as in an instruction of PTX
        for shift, mask in MODIFIERS.get(f.op[i], ()):
            put_number(env, program.args[at], f.mods[i] >> shift & mask)
            at += 1
        first: i64 = len(f.op)
        made = first
        emitter.emit(program, env, f.guard[i])
        emitter.close()
        while made < len(f.op):
            if f.aux[i] & AUX_VOLATILE and OPS.flags[f.op[made]] & MEMORY:
                f.aux[made] |= AUX_VOLATILE
            self.again = self.again or OPS.expansion[f.op[made]] == self.phase
            made += 1
        if f.aux[i] & AUX_MBARRIER:
            mbarriers.pass_on(f, i, first)
        f.block[i] = NONE
        self.count += 1


def _move_ends(f: Function, ends: dict[int, int]) -> None:
    """What came from a block comes from where its end is now."""
    for phis in merges.all_phis(f).values() if f.in_window else ():
        for i in phis:
            at: i64 = 2
            while at < f.count[i]:
                source = int(f.get(i, at) & opd.INDEX)
                if source in ends:
                    f.set(i, at, opd.label(ends[source]))
                at += 2


def _has_long_constant(f: Function, i: i64) -> bool:
    """Whether a source is a constant that does not fit 32 bits with their sign."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        form = operand & opd.TYPE
        if (form == opd.IS_IMM or form == opd.IS_POOL) and not -_SIGN <= f.imm_value(operand) < _SIGN:
            return True
        at += 1
    return False
