"""Register allocation by fat points: which hardware register every virtual register gets.

The C kernels do the work; the policy is here: the order of the code that is allocated, the limits, what to do when
registers run out. Source: Register Model, "Seven Allocator Register Classes", "Allocator Pressure Arrays".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from oric_tables._native import ffi, lib
from oric_tables.knobs import DEFAULTS
from oric_tables.registers import TITLES

from oric.ir import machine
from oric.ir.code import CodeObject
from oric.ir.machine import FILES, NO_LIMIT, MachineFunction
from oric.ir.passes import PassContext

from .predicates import spill_predicates

CONGESTED: Final[int] = DEFAULTS[684]  # threshold of the primary cost
ROUNDS: Final = 3  # allocation orders that are tried
_ROOMY: Final = (30, 6, 16, 16, 6)  # registers per file that cost no occupancy
_SPARE: Final = (3, 3, 3, 3, 3)  # registers beyond the peak that may keep values apart
# (largest numbers of live units, limits) -> live units that an order may reach, by file
_Order = Callable[[list[int], list[int]], list[int]]


class OutOfRegisters(Exception):
    """A function needs more registers of a file than there are; without a diagnostics object to tell it to."""


class _Allocation:
    """The outcome of one try."""

    __slots__ = ("assigned", "leader", "result", "view")

    def __init__(self, view: MachineFunction, limits: list[int], optimize: bool) -> None:
        fn = view.fn
        self.view = view
        self.assigned = ffi.new("int32_t[]", fn.unit_count + 1)
        self.leader = ffi.new("int32_t[]", fn.unit_count + 1)
        self.result = ffi.new("oric_regalloc_result *")
        options = ffi.new("oric_regalloc_options *", {
            "limit": limits, "threshold": CONGESTED, "coalesce": 1, "rounds": ROUNDS if optimize else 1,
            "spread": int(optimize), "spare": _SPARE,
            "roomy": [min(free, most) for free, most in zip(limits, _ROOMY, strict=True)],
        })  # fmt: skip
        if lib.oric_regalloc(fn, options, self.assigned, self.leader, self.result):
            raise MemoryError("no memory for register allocation")

    @property
    def failed(self) -> bool:
        return int(self.result.failed_file) >= 0


def allocate_registers(code: CodeObject, ctx: PassContext) -> bool:
    """Give every virtual register a hardware register and drop the copies that this makes idle.

    Above -O0 the code is first put in an order that shows memory latency, as far as registers suffice; when they do
    not, the order that came in is taken, then one that needs few registers. Leaves the back end's view for the scheduler.

    Raises:
        CompileError: a file has too few registers.
        OutOfRegisters: the same, when ``ctx`` has no diagnostics.
        InternalError: an instruction that the tables do not know.
    """
    limits = _limits(code, ctx)
    done = _search(code, ctx, limits)
    spilled = 0
    while done.failed and FILES[done.result.failed_file] == "P":
        # One at a time near the end, since a spill can make others needless.
        over = max(done.result.peak[1], done.result.used[1]) - limits[1]
        found = spill_predicates(code, max(1, over // 2))
        if not found:
            break
        spilled += found
        done = _search(code, ctx, limits)
    ctx.count("spilled_predicates", spilled)
    if done.failed:
        _report(code, ctx, done, limits)
    _publish(code, ctx, done)
    return True


def _search(code: CodeObject, ctx: PassContext, limits: list[int]) -> _Allocation:
    """The first order of the code that fits, or the last that was tried."""
    view = machine.load(code, ctx.target.isa)
    optimize = ctx.opt_level >= 1
    best: _Allocation | None = None
    for order in (_comfortable, None, _frugal) if optimize else (None, _frugal):
        if best is not None:
            view = view.reload()
        best = _try(view, limits, order, optimize)
        if not best.failed:
            break
    assert best is not None
    return best


def _limits(code: CodeObject, ctx: PassContext) -> list[int]:
    target = ctx.target
    most = code.attributes.register_limit(target, ctx.maxrregcount or 0) - target.reserved_regs
    return [most, target.predicates, target.barrier_regs, target.uniform_regs, target.uniform_predicates]


def _try(view: MachineFunction, limits: list[int], order: _Order | None, optimize: bool) -> _Allocation:
    """Allocate, after putting the code in order as far as the live registers that ``order`` names allow."""
    if lib.oric_liveness(view.fn):
        raise MemoryError("no memory for liveness")
    if order is not None:
        peak = ffi.new("int32_t[5]")
        if lib.oric_pressure(view.fn, peak):
            raise MemoryError("no memory for the measure of pressure")
        options = ffi.new("oric_list_options *", {"limit": order(list(peak), limits), "by_use": order is _frugal})
        if lib.oric_list_schedule(view.fn, options) < 0:
            raise MemoryError("no memory for scheduling")
    return _Allocation(view, limits, optimize)


def _frugal(peak: list[int], limits: list[int]) -> list[int]:
    """What frees registers comes first; for code that does not fit as it is."""
    return [0, 0, NO_LIMIT, 0, 0]


def _comfortable(peak: list[int], limits: list[int]) -> list[int]:
    """Live registers that the order may reach: some more than the code as it came needs, but not near the limit."""
    general = min(max(peak[0] + 4, 26), max(limits[0] - 8, 8))
    return [general, limits[1] - 1, NO_LIMIT, limits[3] - 3, limits[4] - 1]


def _report(code: CodeObject, ctx: PassContext, tried: _Allocation, limits: list[int]) -> None:
    file = tried.result.failed_file
    needed = max(tried.result.used[file], tried.result.peak[file])
    text = (
        f"'{code.name}' needs {needed} {TITLES[FILES[file]]} registers ({FILES[file]}) and {limits[file]} are available; "
        "spilling is not supported yet"
    )
    if ctx.diag is None:
        raise OutOfRegisters(text)
    ctx.diag.error(text)
    ctx.diag.check()


def _publish(code: CodeObject, ctx: PassContext, done: _Allocation) -> None:
    image = done.view.image
    lib.oric_fn_publish(image.c, done.view.fn, done.assigned, done.leader)
    image.read_physical()
    final = done.view.on_registers()
    final.write_back()
    code.analyses[machine.KEY] = final
    result, facts = done.result, code.attributes
    facts.num_regs = result.used[0]
    facts.num_preds = result.used[1]
    facts.num_convergence_barriers = result.used[2]
    facts.num_uregs = result.used[3]
    ctx.count("coalesced_copies", result.coalesced)
    ctx.count("constraints", result.constraints)
