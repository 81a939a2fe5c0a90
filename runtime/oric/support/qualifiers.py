"""Qualifiers of a mnemonic given to the slots of a pattern: by the signatures of the parser and by the rules of the lowering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oric_tables import ptx_index as ix


def assign(slots: Sequence[Any], words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give each word to the first free slot that takes it.

    As for ptxas, qualifiers may come in any order. Types keep the order of their slots, state spaces theirs, layouts of matrices
    theirs, and the words of an instruction's name (slots with a dot in front of their name) stand in front of the qualifiers that
    follow them in the pattern.

    Args:
        slots: ``(name, words that it takes, ...)`` in the order of the pattern.
        words: the qualifiers as written.

    Returns:
        the word of each slot, "" for those that stay empty; the words left over. Repetitions of words that may be written again
        are neither.
    """
    taken = [""] * len(slots)
    extra = []
    reached = [-1, -1, -1, -1]  # slot of the last type, state space, ordered word; -1 for other words
    furthest = -1  # last slot filled
    for word in words:
        sort = 0 if word in ix.TYPES else 1 if word.partition("::")[0] in ix.SPACES else 2 if word in ix.ORDERED else 3
        for index, slot in enumerate(slots):
            if word not in slot[1] or index <= reached[sort] or (slot[0][:1] == "." and index < furthest):
                continue
            if not taken[index]:
                taken[index] = word
                furthest = max(furthest, index)
                if sort < 3:
                    reached[sort] = index
                break
        else:
            if word not in ix.REPEATABLE or word not in taken:
                extra.append(word)
    return taken, extra
