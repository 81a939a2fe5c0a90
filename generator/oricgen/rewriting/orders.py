"""The orders in which the sources of a pattern are tried: those that commute in every one that makes a difference."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .model import Anything, Commute, Constant, Literal, Node, Source, Truth, Variable
from .resolve import Resolver

PERMUTATIONS = tuple(itertools.permutations(range(3)))


@dataclass(frozen=True)
class Order:
    """``positions``: operand position of each source; ``table``: number in PERMUTATIONS of those of a truth table's sources."""

    positions: tuple[int, ...]
    table: int = 0


def orders(root: Node, node: Node, commute: Mapping[str, Commute], resolver: Resolver) -> list[Order]:
    """The orders of the sources of ``node``, a part of the pattern ``root``.

    Where modifiers change with the order (``swap``), or a predicate does (``negate``), only the one that is written.
    """
    plain = tuple(slot.position for slot in resolver.slots(node.operation)[: len(node.sources)])
    entry = commute.get(node.operation)
    if entry is None or entry.swap or entry.negated is not None or not set(entry.positions) <= set(plain):
        return [Order(plain)]
    at = [plain.index(p) for p in entry.positions]
    uses = _uses(root)
    seen: set[object] = set()
    out = []
    for permutation in itertools.permutations(range(len(at))):
        positions = list(plain)
        for source, place in zip(at, permutation, strict=True):
            positions[source] = entry.positions[place]
        by_position = sorted(zip(positions, node.sources, strict=True), key=lambda pair: pair[0])
        key = tuple(_key(source, uses, entry.table is not None) for _, source in by_position)
        if key not in seen:
            seen.add(key)
            out.append(Order(tuple(positions), PERMUTATIONS.index(permutation) if entry.table is not None else 0))
    return out


def _uses(root: Node) -> Counter[str]:
    return Counter(leaf.name for leaf in root.leaves() if isinstance(leaf, Variable))


def _key(source: Source, uses: Counter[str], by_table: bool) -> object:
    """What sources have in common that need not change places: with a truth table each variable plays its own part."""
    match source:
        case Variable(name, keeps, negated) if uses[name] == 1 and not by_table:
            return ("variable", keeps, negated)
        case Anything() | Variable() | Constant() | Literal() | Truth() | Node():
            return source
