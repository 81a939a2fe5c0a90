"""Analyses of a function that outlive the pass that asked for them.

Each analysis is a class of its own, made on first use and valid as long as the epoch of what it describes: cursors raise
``Function.shape`` with every change of blocks and edges. The columns ``needs`` and ``keeps`` of ``spec/phases.yaml`` say which
ones a phase wants and which ones its changes leave right; the phase manager drops the others.
"""

from __future__ import annotations

from typing import final

from .cfg import Cfg


@final
class Analyses:
    """What is known of one function. ``cfg`` was made when the function had the shape ``cfg_epoch``; ``machine`` is the
    back end's view (:mod:`oric.ir.machine`), which stands above this module.
    """

    def __init__(self) -> None:
        self.cfg: Cfg | None = None
        self.cfg_epoch: int = -1
        self.machine: object = None

    def drop(self) -> None:
        """Forget everything."""
        self.cfg = None
        self.machine = None
