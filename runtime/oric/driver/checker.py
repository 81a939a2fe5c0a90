"""Parse and check only: a verdict on PTX texts, and nothing made of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from oric.ptx.recorder import Recorder
from oric.support.diagnostics import Diagnostics, diagnostics_for

from .front import Definitions, PtxInput, WatchDouble, parse_input
from .options import Watch


class _Checker(Recorder):
    """Takes a module in and makes nothing of it."""

    def __init__(self, diag: Diagnostics, defined: Definitions) -> None:
        super().__init__(diag.source)
        self.diag = diag
        self.defined = defined

    def begin_body(self, symbol: int, function: Any) -> Sequence[int]:
        """One entry of a name is enough."""
        if function.is_entry:
            self.defined.enter("function", function.name, self.diag, function.loc)
        return super().begin_body(symbol, function)

    def instruction(self, variant: Any, guard: Any, operands: Any, loc: int) -> None:
        """Nothing: what there is to check has been checked."""


class _WatchingChecker(WatchDouble, _Checker):
    """The same with warnings about double precision."""


def check_inputs(inputs: Sequence[PtxInput], arch: str, watch: Watch) -> list[Diagnostics]:
    """Parse and check for a target, by the name of any that there is, real or virtual; returns the messages of each input."""
    target = SimpleNamespace(name=arch.replace("compute_", "sm_").replace("lto_", "sm_"))
    parts = []
    defined = Definitions()
    for text, filename in inputs:
        diag = diagnostics_for(text, filename)
        parts.append(diag)
        parse_input(text, filename, (_WatchingChecker if watch.double else _Checker)(diag, defined), target, diag)
    return parts
