"""Register allocation by fat points: which hardware register every virtual register gets.

The C kernels do the work; the policy is here: the order of the code that is allocated, the limits, what to do when
registers run out. Source: Register Model, "Seven Allocator Register Classes", "Allocator Pressure Arrays".
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, final

from oric_tables import knobs
from oric_tables._native import ffi, lib
from oric_tables.phases import REMAT_SECOND_MODE
from oric_tables.registers import FLAG_FIXED, KEPT, TITLES, UNIFORM_DISALLOWED
from oric_tables.registers import PREDICATES as PREDICATES_IN_FRONT

from oric.ir import machine
from oric.ir.function import NONE, Function
from oric.ir.machine import FILES, MachineFunction
from oric.ir.passes import PassContext
from oric.ir.register_changes import most_at_once, room_of

from .compares import choose_compares
from .convention import GENERAL_USED
from .flight import hold, release
from .frame import finish_frame, settle_free_stack
from .hurry import is_hurried
from .idle import drop_idle
from .order import GENERAL, Order, careful, comfortable, frugal, put_in_order, roomy, settled
from .predicates import SharedHomes, choose_predicates, crowded_homes, spill_predicates
from .remake import remake
from .residence import Code
from .slots import share_slots
from .spill import Memory, plan, spill
from .turns import hold_turns, release_turns
from .twins import join_twins
from .uniforms import choose_uniforms, spill_uniforms
from .verify import Proof, wanted
from .watching import definitions, drop_changed, look_away

PREDICATES: Final = FILES.index("P")
UNIFORM: Final = FILES.index("UR")
_FOR_PREDICATES: Final = 8  # general registers, at the most
_ROUNDS: Final = 4  # of splitting until fewer registers are to be live


@final
class OutOfRegisters(Exception):
    """A function needs more registers of a file than there are; without a diagnostics object to tell it to."""


@final
class Allocation:
    """The outcome of one try; ``view``: the function in the order that was tried.

    ``spread``: the files, as bits, whose registers are spread over those that there are; ``room``: the general registers that
    there are in each block, None for the limit everywhere. ``closer``: where no more are live than there are registers and yet
    they do not fit, they are tried again without spreading the file that fails. ``brief``: when it fails, only the file and the
    peaks are right. ``spare``: general registers beyond the peak that may keep values apart.
    """

    __slots__ = ("_closer", "_limits", "_most", "_spread", "assigned", "code", "dear", "fixed", "leader", "result", "room",
                 "view")  # fmt: skip

    def __init__(
        self, view: MachineFunction, limits: list[int], spread: int, room: list[int] | None, closer: bool, brief: bool = True,
        spare: int = -1,
    ) -> None:  # fmt: skip
        fn, values = view.fn, view.f.knobs
        kept_apart = values.listed(knobs.ALLOCATION_SPARE, len(FILES))
        hopeless, free = values.listed(knobs.ALLOCATION_HOPELESS, len(FILES)), values.listed(knobs.ALLOCATION_ROOMY, len(FILES))
        self.view: MachineFunction | None = view
        self.code: Code | None = None  # of the function as it was tried, if somebody has made it
        self._limits, self._spread, self._most, self._closer = limits, spread, room, closer
        self.assigned = ffi.new("int32_t[]", fn.unit_count + 1)
        self.leader = ffi.new("int32_t[]", fn.unit_count + 1)
        self.result = ffi.new("oric_regalloc_result *")
        # An attribute: compiled code lets go of a local after its last use, and C reads the array later.
        self.room = ffi.NULL if room is None else ffi.new("int32_t[]", room)
        self.fixed = ffi.NULL if not view.f.sp else ffi.new("int32_t[]", _places(view))
        self.dear = ffi.NULL if view.f.is_entry else ffi.new("int32_t[]", _costs(int(values.numbers[knobs.ALLOCATION_KEPT])))
        options = ffi.new("oric_regalloc_options *", {
            "most": self.room, "fixed": self.fixed, "dear": self.dear, "limit": limits,
            "threshold": int(values.numbers[knobs.INTERFERENCE_THRESHOLD]),
            "coalesce": int(not view.f.for_debugger),
            "rounds": int(values.numbers[knobs.ALLOCATION_ORDERS]),
            "spread": spread, "brief": int(brief), "closer": int(closer),
            "spare": [kept_apart[GENERAL] if spare < 0 else spare, *kept_apart[1:]],
            "hopeless": [most * part // 100 for most, part in zip(limits, hopeless, strict=True)],
            "roomy": [min(most, room) for most, room in zip(limits, free, strict=True)],
        })  # fmt: skip
        if lib.oric_regalloc(fn, options, self.assigned, self.leader, self.result):
            raise MemoryError("no memory for register allocation")

    @property
    def failed(self) -> bool:
        """Whether a file has too few registers."""
        return int(self.result.failed_file) >= 0

    def whole(self) -> Allocation:
        """The same try to its end, though it fails; the function is as it was."""
        assert self.view is not None
        if lib.oric_liveness(self.view.fn):
            raise MemoryError("no memory for liveness")
        close = self._closer and self.result.peak[GENERAL] <= self._limits[GENERAL]  # it has come as close as can be
        return Allocation(self.view, self._limits, 0 if close else self._spread, self._most, closer=False, brief=False)

    def apart(self, spare: int) -> Allocation:
        """The same try with more general registers that may keep values apart; itself where that fails."""
        assert self.view is not None
        if lib.oric_liveness(self.view.fn):
            raise MemoryError("no memory for liveness")
        again = Allocation(self.view, self._limits, self._spread, self._most, self._closer, spare=spare)
        return self if again.failed else again


def allocate_registers(f: Function, ctx: PassContext) -> bool:
    """Give every virtual register a hardware register and drop the copies that this makes idle.

    Above -O0 the code is first put in an order that shows memory latency, as far as registers suffice; when they do
    not, the order that came in is taken, then one that needs few registers. Leaves the back end's view for the scheduler.

    Raises:
        CompileError: a file has too few registers.
        OutOfRegisters: the same, when ``ctx`` has no diagnostics.
        InternalError: an instruction that the tables do not know.
        MalformedCode: the proof has found that something is read that was not read before; with ``ctx.verify``.
    """
    limits = limits_of(f, ctx)
    turns = hold_turns(f, limits)
    room = room_of(f, limits[GENERAL], ctx.target)
    held = hold(f)
    if f.watching and _too_many(f, ctx, limits):
        look_away(f)
    drop_unread(f, ctx)
    found = make_room(f, ctx, limits, room)
    proof = Proof(f, ctx) if wanted(ctx) else None
    written = definitions(f) if f.for_debugger else {}
    done = assign(f, ctx, limits, room, found)
    if f.for_debugger:
        drop_changed(f, written)
    view = done.view
    assert view is not None  # as the try has not failed
    if proof is not None:
        proof.check(view, limits)
    _finish(f, ctx, done, view)
    if turns.fetches:
        done.view = view = f.analyses.machine = None  # the arrays of the function grow
        release_turns(f, turns, GENERAL_USED if f.sp else 0, ctx.target.predicates)
    if held:
        done.view = view = f.analyses.machine = None  # the arrays of the function grow
        release(f, held)
        f.analyses.machine = machine.load(f, ctx.target.isa, ctx.target.uniform_regs, physical=True)
    if f.sp:
        done.view = view = f.analyses.machine = None  # the arrays of the function grow
        del proof
        finish_frame(f, ctx.target, ctx.module.for_debugger)
        if not turns.fetches:  # else the phase behind puts in their instructions
            f.analyses.machine = machine.load(f, ctx.target.isa, ctx.target.uniform_regs, physical=True)
    settle_free_stack(f)
    if room is not None:  # the pool of the block knows how many registers each warp begins with
        f.attributes.num_regs = f.attributes.entry_registers - ctx.target.reserved_regs
    return True


def drop_unread(f: Function, ctx: PassContext) -> None:
    """Remove the copies whose results nobody reads before they are written again; what a debugger watches keeps all of them.

    Dead code is removed by registers, and one that goes round a loop has readers behind some of its writes only.
    """
    if ctx.opt_level < 1 or f.for_debugger:
        return
    view = machine.load(f, ctx.target.isa, ctx.target.uniform_regs)
    dropped = 0
    while True:
        if lib.oric_liveness(view.fn):
            raise MemoryError("no memory for liveness")
        found = lib.oric_drop_unread(view.fn)
        if found < 0:
            raise MemoryError("no memory for liveness")
        if not found:
            break
        dropped += found
    if dropped:
        view.link()
        ctx.count("unread copies", dropped)


def make_room(f: Function, ctx: PassContext, limits: list[int], room: list[int] | None) -> Allocation | None:
    """Where too many general registers or predicates are live, make those again that can be made of others which are there.

    Arguments are those of :func:`assign`. Returns what was tried for the function as it is then, if anything was.
    """
    rounds, compares, lean = 0, 0, False
    across = ctx.past(REMAT_SECOND_MODE)
    while ctx.opt_level >= 1 and rounds < _ROUNDS:
        done = _search(f, ctx, limits, room, lean)
        if done.failed and compares < _ROUNDS and done.result.peak[PREDICATES] > limits[PREDICATES]:
            compares += 1
            chosen = choose_compares(f, _again(done), comfortable(f, limits)[PREDICATES])
            if chosen is not None:
                done.view = None  # the arrays of the function grow
                chosen.repeat()
                ctx.count("predicates made again", len(chosen.victims))
                continue
        if not _lacks_general(done, limits):
            return done
        rounds += 1
        if rounds == 1 and join_twins(f, _code(f, done)):
            done.view = None
            done = _search(f, ctx, limits, room, lean)
            if not _lacks_general(done, limits):
                return done
        if rounds == 1 and _put_in_lean_order(f, _again(done), limits, room):
            lean = True
            continue
        code, epoch = _code(f, done), f.code_epoch
        done.view = None  # the arrays of the function grow
        if not remake(f, code, list(room or [limits[GENERAL]] * f.blocks()), across):
            if f.code_epoch != epoch:
                return None
            done.view = machine.load(f, ctx.target.isa, ctx.target.uniform_regs)
            return done
        ctx.count("rounds of making registers again")
    return None


def _lacks_general(done: Allocation, limits: list[int]) -> bool:
    """Whether a try failed for general registers, or would have, had there been enough predicates."""
    return int(done.result.failed_file) == GENERAL or (done.failed and done.result.peak[GENERAL] > limits[GENERAL])


def _put_in_lean_order(f: Function, view: MachineFunction, limits: list[int], room: list[int] | None) -> bool:
    """Let a function have an order in which fewer general registers are live where too many are, if there is one."""
    if lib.oric_liveness(view.fn):
        raise MemoryError("no memory for liveness")
    fixed = ffi.new("int32_t[]", _places(view)) if f.sp else ffi.NULL
    for i in range(view.fn.insn_count):
        if view.fn.nodes[i].index == f.realigned:  # what waits in memory needs the top of the stack, which is known behind it
            view.fn.nodes[i].flags |= lib.ORIC_I_FENCE
    most = ffi.NULL if room is None else ffi.new("int32_t[]", room)
    changed = lib.oric_lean_order(view.fn, limits[GENERAL], most, fixed)
    if changed < 0:
        raise MemoryError("no memory for scheduling")
    if changed:
        view.link()
    return bool(changed)


def _too_many(f: Function, ctx: PassContext, limits: list[int]) -> bool:
    """Whether the values that a debugger wants to see take more general registers than there are; predicates that do not fit take
    some of them."""
    others = [most if file == GENERAL else int(lib.ORIC_FAT_POINTS) for file, most in enumerate(limits)]
    others[GENERAL] -= _FOR_PREDICATES
    return _search(f, ctx, others, None).failed


def assign(
    f: Function, ctx: PassContext, limits: list[int], room: list[int] | None = None, done: Allocation | None = None
) -> Allocation:
    """Find an order and a hardware register for every register, spilling until there is one, and enter the registers.

    ``limits``: of each file; ``room``: of the general file by block, where it is not the same everywhere; ``done``: what was
    tried for the function as it is, None: nothing. The order of the
    allocation is in the view; the function has still the one that came in, unless something waits in memory.

    Raises:
        CompileError, OutOfRegisters, InternalError: see :func:`allocate_registers`.
    """
    done = done or _search(f, ctx, limits, room)
    relief = _Relief(f, ctx, limits, room)
    while done.failed and relief.give(done):
        done = _search(f, ctx, limits, room)
    ctx.count("spilled_predicates", relief.predicates)
    ctx.count("spilled_uniforms", relief.uniforms)
    ctx.count("spilled_registers", relief.memory.registers)
    if done.failed or done.view is None:
        _report(f, ctx, done, limits)
        raise OutOfRegisters(f.name)
    if relief.memory.home and ctx.opt_level >= 1 and room is None:
        used = lib.oric_hoist_loads(done.view.fn, limits[GENERAL], done.assigned, done.leader)
        if used < 0:
            raise MemoryError("no memory for scheduling")
        done.result.used[GENERAL] = used if not f.sp else _used(done)
    done.view.publish(done.assigned, done.leader)
    if relief.memory.home:  # the function gets the order that was tried, and as small a frame as there can be
        done.view.link()
        done.view = None  # the pool of immediates grows
        share_slots(f, relief.memory)
        done.view = machine.load(f, ctx.target.isa, ctx.target.uniform_regs)
    return done


def _places(view: MachineFunction) -> list[int]:
    """By unit, the register that it has to get, -1: any."""
    f, fn = view.f, view.fn
    fixed = [int(f.hint[n]) if f.reg_flags[n] & FLAG_FIXED else -1 for n in range(f.registers())]
    return [fixed[fn.unit_register[u]] for u in range(fn.unit_count)]


def _used(done: Allocation) -> int:
    """How many general registers an allocation takes, without those that have their places by convention."""
    assert done.view is not None
    fn = done.view.fn
    taken = [done.assigned[u] + 1 for u in range(fn.unit_count) if fn.unit_file[u] == GENERAL and done.fixed[u] < 0]
    return max(taken, default=0)


@cache
def _costs(kept: int) -> list[int]:
    """What each general register costs a function that has to keep some of them."""
    return [kept if n in KEPT else 0 for n in range(lib.ORIC_FAT_POINTS)]


@final
class _Relief:
    """What is spilled, step by step, while a file has too few registers."""

    def __init__(self, f: Function, ctx: PassContext, limits: list[int], room: list[int] | None) -> None:
        self.f = f
        self.ctx = ctx
        self.most = room
        self.aim = list(limits)  # live words that spilling is to leave, by file
        self.room = [] if room is None else list(room)  # live words of the general file that spilling is to leave, by block
        self.rounds = 0  # of splitting with this room
        self.tighter = 0  # how often there was less room than before
        self.predicates = 0
        self.reserved = False  # whether it is settled that some registers are left to loads under way
        self.uniforms = 0
        self.homes: set[int] = set()  # registers that have a spilled predicate each
        self.shared = SharedHomes()
        self.memory = Memory()

    def give(self, done: Allocation) -> bool:
        """Spill something for a try that failed; False when nothing is left to spill. The order is that of the function."""
        file = int(done.result.failed_file)
        if file == GENERAL:
            return self._general(done)
        while file in (PREDICATES, UNIFORM) and self.aim[file] > 0:
            if self._predicates(done) if file == PREDICATES else self._uniforms(done):
                return True
            self.aim[file] -= 1  # no more are live than there are registers, and yet they do not fit
        return False

    def _predicates(self, done: Allocation) -> bool:
        victims = choose_predicates(self.f, _again(done), self.aim[PREDICATES])
        numbers = self.f.knobs.numbers
        if len(victims) > numbers[knobs.PREDICATE_OFTEN]:  # what brings them back in turn needs some
            least = self.aim[PREDICATES] - int(numbers[knobs.PREDICATE_RESERVE])
            victims = choose_predicates(self.f, _again(done), least)
        if victims:
            done.view = None
            self.homes.update(spill_predicates(self.f, victims))
            self.predicates += len(victims)
        return bool(victims)

    def _uniforms(self, done: Allocation) -> bool:
        victims = choose_uniforms(self.f, _again(done), self.aim[UNIFORM])
        if victims:
            done.view = None
            spill_uniforms(self.f, victims)
            self.uniforms += len(victims)
        return bool(victims)

    def _general(self, done: Allocation) -> bool:
        """Split registers; where no more are live than there are registers and yet they do not fit, let fewer be."""
        f = self.f
        code = _code(f, done)
        blocks: list[int] = []
        self.room = self.room or [self.aim[GENERAL]] * f.blocks()
        self.rounds += 1
        while True:
            crowded = self._crowded(code)
            if crowded:
                done.view = None  # the arrays of the function grow
                self.homes.difference_update(crowded)
                self.shared.move(f, crowded)
                return True
            split = plan(f, code, self.room, self.memory)
            if not self.reserved and self.ctx.opt_level >= 1:
                self.reserved = True
                if f.knobs.numbers[knobs.SPILL_OFTEN] * sum(len(places) for places in split.back) > f.length():
                    self.room = [room - _reserve(f, self.aim[GENERAL]) for room in self.room]
                    split = plan(f, code, self.room, self.memory)
            if split.returns() and self.rounds <= _ROUNDS:
                break
            self.rounds = 0
            blocks = blocks or self._blocks(done, code)
            for b in blocks:
                self.room[b] -= _step(f, self.tighter, self.room[b])
            self.tighter += 1
            if min(self.room) <= 0:
                if not self.shared.moved:
                    return False
                done.view = None
                self.shared.give_back(f)
                self.homes.clear()  # none of them is to share a register again
                self.room = [self.aim[GENERAL]] * f.blocks()
                self.tighter = 0
                return True
        done.view = None
        self.homes -= split.returns()
        spill(f, split, self.memory, self.ctx.target)
        drop_idle(f, self.memory)
        return True

    def _crowded(self, code: Code) -> list[int]:
        """Registers of predicates that are better bits of one."""
        if len(self.homes) < 2:
            return []
        base = int(self.f.attributes.spill_base != 0)
        return crowded_homes(self.f, code, [room - base for room in self.room], self.homes)

    def _blocks(self, done: Allocation, code: Code) -> list[int]:
        """Where registers live that got none."""
        assert done.view is not None
        fn, found, assigned = done.view.fn, list[int](), done.whole().assigned
        limits = self.most or [self.aim[GENERAL]] * self.f.blocks()
        beyond = {limit: _beyond(fn, assigned, limit) for limit in set(limits)}
        for b, limit in enumerate(limits):
            if not beyond[limit].isdisjoint(code.live_in[b]) or not beyond[limit].isdisjoint(code.at[b]):
                found.append(b)
        return found or list(range(self.f.blocks()))


def _beyond(fn: Any, assigned: Any, limit: int) -> set[int]:
    """The general registers that have got a place behind ``limit``."""
    return {fn.unit_register[u] for u in range(fn.unit_count) if assigned[u] >= limit and fn.unit_file[u] == GENERAL}


def _step(f: Function, times: int, room: int) -> int:
    """How many registers fewer are to be live where these did not fit, after so many times: the tries are few in any case."""
    numbers = f.knobs.numbers
    share: int = room // int(numbers[knobs.SPILL_TIGHTER_SHARE])
    return max(min(1 << min(times // int(numbers[knobs.SPILL_TIGHTER]), room.bit_length()), share), 1)


def _reserve(f: Function, limit: int) -> int:
    """General registers that spilling leaves to loads under way."""
    numbers = f.knobs.numbers
    return min(int(numbers[knobs.SPILL_RESERVE]), limit // int(numbers[knobs.SPILL_RESERVE_SHARE]))


def _again(done: Allocation) -> MachineFunction:
    """The function in its own order; nobody may hold it when the function changes."""
    assert done.view is not None
    return done.view.reload()


def _code(f: Function, done: Allocation) -> Code:
    """The function as registers of the general file see it; it is as it was tried."""
    if done.code is None:
        done.code = Code(f, _again(done))
    return done.code


def _search(f: Function, ctx: PassContext, limits: list[int], room: list[int] | None, lean: bool = False) -> Allocation:
    """The first order of the code that fits, or that of the function, which does not: spilling begins there.

    ``lean``: the function has been put in an order in which few general registers are live.
    """
    view = machine.load(f, ctx.target.isa, ctx.target.uniform_regs)
    optimize = ctx.opt_level >= 1
    own: Allocation | None = None
    file = int(NONE)  # the one that the last order had too few of
    orders = _orders(f) if optimize else (None,) if f.for_debugger else (None, frugal)
    for order in orders:
        if (order in (careful, settled) and file != PREDICATES) or (order is roomy and not lean):
            continue
        done = _try(f, view, limits, order, optimize, ctx.register_usage, room)
        if not done.failed:
            assert done.view is not None
            hurried = optimize and is_hurried(done.view, done.assigned)
            return done.apart(int(f.knobs.numbers[knobs.HURRY_SPARE])) if hurried else done
        file = int(done.result.failed_file)
        if order is None:
            own = done
        view = view.reload()
    assert own is not None
    return own


def _orders(f: Function) -> tuple[Order | None, ...]:
    """The orders of the code that are tried, one after the other until one fits."""
    policy = f.knobs.texts[knobs.ORDER_POLICY]
    if policy == "own":
        return (None, settled, frugal)
    return (roomy, comfortable, careful, None, settled, frugal) if policy == "measured" else (frugal, None)


def limits_of(f: Function, ctx: PassContext) -> list[int]:
    """Registers of each file that a function may use."""
    target = ctx.target
    most = f.attributes.register_limit(target, ctx.maxrregcount or 0) - target.reserved_regs
    if f.attributes.entry_registers:
        most = most_at_once(f) - target.reserved_regs
    most = min(most, int(f.knobs.numbers[knobs.REGFILE_SIZE_HINT]))
    predicates = min(target.predicates, PREDICATES_IN_FRONT)
    return [most, predicates, target.barrier_regs, target.uniform_regs, target.uniform_predicates]


def _try(
    f: Function, view: MachineFunction, limits: list[int], order: Order | None, optimize: bool, level: int, room: list[int] | None
) -> Allocation:
    """Allocate, after putting the code in order as far as the live registers that ``order`` names allow."""
    if lib.oric_liveness(view.fn):
        raise MemoryError("no memory for liveness")
    if order is not None:
        put_in_order(f, view, limits, order, level, room)
    spread = f.knobs.listed(knobs.SPREAD_FILES, len(FILES))
    files = sum(on << file for file, on in enumerate(spread)) if optimize else 0
    return Allocation(view, limits, files, room, closer=order is not frugal)


def _report(f: Function, ctx: PassContext, tried: Allocation, limits: list[int]) -> None:
    file = tried.result.failed_file
    result = tried.result if tried.view is None else tried.whole().result
    needed = max(result.used[file], result.peak[file])
    if file == UNIFORM and not limits[file]:
        text = f"'{f.name}': {UNIFORM_DISALLOWED % needed}"
    else:
        text = f"'{f.name}' needs {needed} {TITLES[FILES[file]]} registers ({FILES[file]}) and {limits[file]} are available"
    if ctx.diag is None:
        raise OutOfRegisters(text)
    ctx.diag.error(text)
    ctx.diag.check()


def _finish(f: Function, ctx: PassContext, done: Allocation, view: MachineFunction) -> None:
    if f.for_debugger:  # copies of a register to itself stay, too
        view.link()
        final = machine.load(f, ctx.target.isa, ctx.target.uniform_regs, physical=True)
    else:
        final = view.on_registers()
        final.link()
    f.analyses.machine = final
    result, facts = done.result, f.attributes
    facts.num_regs = result.used[0]
    facts.num_preds = result.used[1]
    facts.num_convergence_barriers = result.used[2]
    facts.num_uregs = result.used[3]
    ctx.count("coalesced_copies", result.coalesced)
    ctx.count("constraints", result.constraints)
