"""A progress bar for long launches."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final

_AFTER_S: Final = 1.0
_EVERY_S: Final = 0.2
_WIDTH: Final = 30


class Progress:
    """Shows how much of a grid has run, on standard error where that is a terminal, once a launch has taken a second."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.start = time.monotonic()
        self.next = self.start + _AFTER_S
        self.shown = False
        self.on = sys.stderr.isatty()

    def __call__(self, ended: int, blocks: int, instructions: int) -> None:
        """Look whether there is something to show; called every now and then."""
        now = time.monotonic()
        if not self.on or now < self.next:
            return
        self.next = now + _EVERY_S
        self.shown = True
        full = _WIDTH * ended // blocks
        bar = "#" * full + "." * (_WIDTH - full)
        rate = instructions / (now - self.start) / 1e6
        text = f"\r{self.kernel} [{bar}] {ended}/{blocks} blocks, {rate:.1f} M warp instructions/s "
        print(text, end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
