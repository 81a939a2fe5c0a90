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
from oric_tables.phases import CONTROL_FLOW, DOMINATORS, LOOPS, MACHINE

from .cfg import Cfg


@final
class Analyses:
    """What is known of one function, current or not. ``cfg`` holds dominators and loops once they are asked for; ``machine`` is
    the back end's view (:mod:`oric.ir.machine`), which stands above this module.
    """

    def __init__(self) -> None:
        self.cfg: Cfg | None = None
        self.machine: object = None

    def held(self) -> i64:
        """The mask of what is there."""
        found: i64 = MACHINE if self.machine is not None else 0
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
