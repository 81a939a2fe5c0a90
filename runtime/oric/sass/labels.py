"""Names for the places of code that something branches to, numbered as nvdisasm numbers them for a whole file.

Source: nvdisasm 12.8 and 13.1 output. Places that relocations name come first, then direct targets, both in order of functions
and instructions; then, per record of INDIRECT_BRANCH_TARGETS, the branch itself and its targets; then the words of jump tables
that are still to be linked; at last the end of every function, in order of symbols. The latter three take a number even when the
place has a name, and so does the base of an indirect branch that is still to be linked, among the direct targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

LABEL_PREFIX = ".L_x_"


@dataclass(slots=True)
class CodeSection:
    """What label numbering needs to know of one section of code; offsets in bytes."""

    size: int
    symbols: Mapping[int, str]  # offset -> function that starts there
    targets: Iterable[int | None]  # of direct branches, in order of the instructions; None takes a number and no more
    indirect: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # offset of the branch -> its targets
    relocated: Iterable[int] = ()  # places that relocations name, in order of the relocations
    table_words: int = 0  # of jump tables that are still to be linked


def number_labels(sections: list[CodeSection], ends: Iterable[tuple[int, int]] = ()) -> list[dict[int, str]]:
    """For every section the labels within it: offset -> name. Functions keep their own names and get no label.

    ``ends`` holds the ends of functions, in order of their symbols, as (index in ``sections``, offset).
    """
    counter = 0
    out: list[dict[int, str]] = [{} for _ in sections]
    named: list[tuple[CodeSection, dict[int, str], Iterable[int | None]]]
    named = [(s, labels, s.relocated) for s, labels in zip(sections, out, strict=True)]
    named += [(s, labels, s.targets) for s, labels in zip(sections, out, strict=True)]
    for section, labels, targets in named:
        for target in targets:
            if target is None:
                counter += 1
            elif 0 <= target <= section.size and target not in section.symbols and target not in labels:
                labels[target] = f"{LABEL_PREFIX}{counter}"
                counter += 1
    for section, labels in zip(sections, out, strict=True):
        for branch, targets in section.indirect.items():
            for place in (branch, *targets):
                if 0 <= place <= section.size and place not in section.symbols:
                    labels.setdefault(place, f"{LABEL_PREFIX}{counter}")
                counter += 1
    counter += sum(section.table_words for section in sections)
    for index, place in ends:
        if 0 <= place <= sections[index].size and place not in sections[index].symbols:
            out[index].setdefault(place, f"{LABEL_PREFIX}{counter}")
        counter += 1
    return out
