"""Which line of a text a character stands in."""

from __future__ import annotations

from typing import final

from librt.vecs import append, vec
from mypy_extensions import i64


@final
class Lines:
    """Offsets at which the lines of a text begin; they end at line feeds only."""

    def __init__(self, text: str) -> None:
        self.starts = vec[i64]([0])
        self._last: int = 0  # what was found last: most questions are about that line or the next one
        at: i64 = text.find("\n")
        while at >= 0:
            self.starts = append(self.starts, at + 1)
            at = text.find("\n", at + 1)

    def of(self, offset: i64) -> i64:
        """Number of the line (from 1) of a character offset; 0 for negative ones, which are nowhere."""
        if offset < 0:
            return 0
        low: i64 = self._last
        count: i64 = len(self.starts)
        if self.starts[low] > offset:
            low = 0
        high = low + 1
        step: i64 = 1
        while high < count and self.starts[high] <= offset:
            low = high
            high += step
            step *= 2
        high = min(high, count)
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= offset:
                low = middle
            else:
                high = middle
        self._last = low
        return low + 1

    def start(self, line: i64) -> i64:
        """Offset of the first character of a line (from 1)."""
        return self.starts[line - 1]

    def count(self) -> i64:
        """Number of lines."""
        return len(self.starts)
