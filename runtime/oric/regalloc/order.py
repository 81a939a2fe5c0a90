"""The order of the code that is allocated: as many general registers as are worth the cycles that they save.

With more of them more loads and long chains are under way together, with fewer more warps run. What an order takes and uses is
measured with several limits before one is chosen. Source: observed; the documents name the levels of register usage alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, Final

from oric_tables import knobs
from oric_tables._native import ffi, lib

from oric.ir.function import Function, control_flow
from oric.ir.machine import FILES, NO_LIMIT, MachineFunction

GENERAL: Final = FILES.index("R")
Order = Callable[[Function, list[int]], list[int]]  # limits -> live units that an order may reach, by file


def put_in_order(f: Function, view: MachineFunction, limits: list[int], order: Order, level: int, room: list[int] | None) -> None:
    """Put the code of a view in order as far as the live registers that ``order`` names allow.

    ``limits``: registers of each file; ``level``: of register usage; ``room``: the general registers that there are in each
    block, None for the limit everywhere. Liveness must be known.

    Raises:
        MemoryError.
    """
    numbers = f.knobs.numbers
    margin, floor = int(numbers[knobs.ORDER_MARGIN + GENERAL]), int(numbers[knobs.ORDER_FLOOR])
    if order is settled:
        put_in_order(f, view, limits, frugal, level, room)
    most = ffi.NULL if room is None else ffi.new("int32_t[]", [max(block - margin, floor) for block in room])
    _put(f, view, order(f, limits), order, level, most)


def _put(f: Function, view: MachineFunction, live: list[int], order: Order, level: int, most: Any) -> None:
    """``most``: what C reads while the calls last; an argument, as compiled code lets go of a local after its last use."""
    options = ffi.new(
        "oric_list_options *", {"limit": live, "by_use": order is frugal, "careful": order is careful, "most": most}
    )
    if order in (comfortable, careful, settled):
        options.limit[GENERAL] = _worth(f, view, options, _peak(view)[GENERAL], level)
    if lib.oric_list_schedule(view.fn, options) < 0:
        raise MemoryError("no memory for scheduling")


def _peak(view: MachineFunction) -> list[int]:
    """Largest number of live units of each file."""
    peak = ffi.new("int32_t[5]")
    if lib.oric_pressure(view.fn, peak):
        raise MemoryError("no memory for the measure of pressure")
    return list(peak)


def frugal(f: Function, limits: list[int]) -> list[int]:
    """What frees registers comes first; for code that does not fit as it is."""
    return [0, 0, NO_LIMIT, 0, 0]


def comfortable(f: Function, limits: list[int]) -> list[int]:
    """Not near the limit; of general registers as many as are worth it."""
    numbers = f.knobs.numbers
    below = [limit - int(numbers[knobs.ORDER_MARGIN + file]) for file, limit in enumerate(limits)]
    return [max(below[0], int(numbers[knobs.ORDER_FLOOR])), below[1], NO_LIMIT, below[3], below[4]]


def roomy(f: Function, limits: list[int]) -> list[int]:
    """All general registers, for code that needs them in another order: it has been put in one that needs few."""
    return comfortable(f, limits)


def careful(f: Function, limits: list[int]) -> list[int]:
    """The same where that had too many predicates: what makes them comes early only where they fit until its turn."""
    return comfortable(f, limits)


def settled(f: Function, limits: list[int]) -> list[int]:
    """The same behind the frugal order, where the function's own has too many predicates itself."""
    return comfortable(f, limits)


def _worth(f: Function, view: MachineFunction, options: Any, peak: int, level: int) -> int:
    """Live general registers that the order may reach: where the product of cycles and a power of the registers is least."""
    highest = int(options.limit[GENERAL])
    tried = _limits(f, peak, highest)
    if len(tried) == 1:
        return highest
    often, weight = _often(f), _weight(f, level)
    costs = _costs(view, options, tried, often, weight)
    best = tried[costs.index(min(costs))]
    fine = int(f.knobs.numbers[knobs.ORDER_FINE])
    between = [limit for limit in (best - fine, best + fine) if tried[0] < limit < tried[-1]]
    costs += _costs(view, options, between, often, weight)
    return (tried + between)[costs.index(min(costs))]


def _costs(view: MachineFunction, options: Any, limits: list[int], often: list[int], weight: float) -> list[float]:
    """What the orders with some limits, ascending, cost: the logarithm of the product."""
    spent, reached = ffi.new("int64_t[]", len(limits)), ffi.new("int32_t[]", len(limits))
    if lib.oric_list_measure(view.fn, options, limits, len(limits), often, spent, reached):
        raise MemoryError("no memory for scheduling")
    fewest = int(view.f.knobs.numbers[knobs.ORDER_FEWEST])
    return [log(spent[k] + 1) + weight * log(max(reached[k], fewest)) for k in range(len(limits))]


def _limits(f: Function, peak: int, highest: int) -> list[int]:
    """Limits that are tried, ascending, for code of which so many registers are live as it came."""
    numbers = f.knobs.numbers
    lowest = min(max(peak - int(numbers[knobs.ORDER_BELOW]), int(numbers[knobs.ORDER_FLOOR])), highest)
    return list(range(lowest, min(lowest + int(numbers[knobs.ORDER_SPAN]), highest) + 1, int(numbers[knobs.ORDER_STEP])))


def _weight(f: Function, level: int) -> float:
    """What registers count beside cycles: the coefficient of pressure scales it, which is 1 where nothing sets that."""
    scale = f.knobs.reals[knobs.PRESSURE_COEFFICIENT] / knobs.REALS[knobs.PRESSURE_COEFFICIENT]
    return int(f.knobs.numbers[knobs.ORDER_WEIGHT + level]) / 100 * scale


def _often(f: Function) -> list[int]:
    """How often each block is expected to run."""
    loops = control_flow(f).loops()
    return [loops.runs(b) for b in range(f.blocks())]
