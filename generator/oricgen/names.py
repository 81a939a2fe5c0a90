"""Names that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

COUNT = 5


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Up to five of ``known`` that resemble ``word`` (best first): equal but for case, beginning with it, or misspelt."""
    by_folded: dict[str, list[str]] = {}
    for name in sorted(set(known)):
        by_folded.setdefault(name.lower(), []).append(name)
    folded = word.lower()
    close = difflib.get_close_matches(folded, by_folded, n=COUNT, cutoff=0.6)
    begins = [name for name in by_folded if name.startswith(folded)] if len(folded) > 1 else []
    exact = [folded] if folded in by_folded else []
    order = dict.fromkeys([*exact, *close, *begins])
    return [name for folded_name in order for name in by_folded[folded_name]][:COUNT]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean A, B?``, or nothing when no name resembles ``word``."""
    found = nearest(word, known)
    return f"; did you mean {', '.join(found)}?" if found else ""
