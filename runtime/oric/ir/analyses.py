"""Analyses of a function that outlive the pass that asked for them.

Each is an object of a class of its own that notes the epoch of the function at which it was made (``flow_epoch`` for the control
flow, ``code_epoch`` for what depends on instructions) and is handed out only while the function is at that epoch. The columns
``needs`` and ``keeps`` of ``spec/phases.yaml`` say which ones a phase wants and which ones are right behind it; the phase manager
makes the former and forgets the rest (:mod:`oric.phases.contracts`). Sets of analyses are masks of the constants of
``oric_tables.phases``.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables.phases import CONTROL_FLOW, DOMINATORS, LOOPS, MACHINE, USES

from .cfg import Cfg


@final
class SsaTracker:
    """What of definitions and uses has to be made again before a phase relies on it.

    ``ssa``: partial SSA form, which phase 23 enters and phase 73 leaves; ``uses``: the chains from uses to definitions, which are
    outdated behind whatever changes code, removing what is dead first of all. Source: Data Structures (``ssa_tracker`` at +1648:
    16 bytes, a pointer to the owner and two flags).
    """

    def __init__(self) -> None:
        self.ssa = True
        self.uses = True


@final
class Analyses:
    """What is known of one function, current or not. ``cfg`` holds dominators and loops once they are asked for; ``machine`` is
    the back end's view (:mod:`oric.ir.machine`) and ``uses`` the chains of :mod:`oric.phases.makers`, which stand above this
    module. ``tracker``: flags of what is outdated.
    """

    def __init__(self) -> None:
        self.cfg: Cfg | None = None
        self.machine: object = None
        self.uses: object = None
        self.tracker = SsaTracker()

    def held(self) -> i64:
        """The mask of what is there."""
        found: i64 = MACHINE if self.machine is not None else 0
        if self.uses is not None:
            found |= USES
        cfg = self.cfg
        if cfg is not None:
            found |= CONTROL_FLOW
            if cfg.has_dominators():
                found |= DOMINATORS
            if cfg.has_loops():
                found |= LOOPS
        return found

    def forget(self, which: i64) -> None:
        """Drop the analyses of a mask. The graph's parts go with it."""
        cfg = self.cfg
        if which & CONTROL_FLOW:
            self.cfg = None
        elif cfg is not None:
            if which & DOMINATORS:
                cfg.forget_dominators()
            if which & LOOPS:
                cfg.forget_loops()
        if which & MACHINE:
            self.machine = None
        if which & USES:
            self.uses = None
            self.tracker.uses = True
