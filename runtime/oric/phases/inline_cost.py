"""Which functions are too large to be copied to each of their calls.

A function is copied wherever that costs little: where it is small, where it has one call, or where all its copies together are.
What else there is stays a function, so that chains of functions that call the next one twice do not double with each of them.
ptxas 13.0.88 copies none (observed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set

from oric_tables import knobs

from oric.ir.function import Function


def too_large(bodies: Mapping[int, Function], entries: Iterable[Function], kept: Set[int]) -> set[int]:
    """The functions of ``bodies`` whose calls stay because copies are too much; ``kept``: those whose calls stay anyhow."""
    sites = Counter(site.callee for f in (*bodies.values(), *entries) for site in f.calls)
    found: set[int] = set()
    sizes: dict[int, int] = {}

    def size(callee: int) -> int:
        """Instructions of a function with those that it takes in; functions of ``kept`` may be among their own callees."""
        if callee not in sizes:
            body = bodies[callee]
            sizes[callee] = int(body.length())
            inner = [site.callee for site in body.calls if site.callee in bodies and site.callee not in kept]
            sizes[callee] += sum(size(other) for other in inner if size(other) and other not in found)
            copies = sizes[callee] * (sites[callee] - 1)
            numbers = body.knobs.numbers
            if sizes[callee] > numbers[knobs.INLINE_SMALL] and copies > numbers[knobs.INLINE_GROWTH] and _can_be_called(body):
                found.add(callee)
        return sizes[callee]

    for callee in bodies:
        size(callee)
    return found - kept


def _can_be_called(body: Function) -> bool:
    """Whether the calling convention has places for all that goes in and comes out."""
    return not any(formal.operand and body.is_predicate(formal.operand) for formal in body.formals)
