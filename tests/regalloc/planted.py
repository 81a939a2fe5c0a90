"""Faults of register allocation, planted into allocations that are right.

Each plant changes an allocated function so that some instruction reads another value than before, and names the problems by which
the verifier may call it. Where a plant may be harmless (a register that is moved onto another one which nothing reads any more),
it chooses places where it is not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oric.driver.front import PtxInput, build_inputs
from oric.driver.options import CompileOptions
from oric.driver.registry import passes
from oric.ir import machine
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R, control_flow
from oric.ir.machine import MachineFunction
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.phases.backend import phase_functions
from oric.phases.manager import PhaseManager
from oric.regalloc.allocate import assign, limits_of
from oric.regalloc.verify import Proof
from oric_tables import op
from oric_tables import ori_operands as words
from oric_tables.op import ISETP, LDL, LOP3, MOV, S2R, SEL, STL


class _Stop(Exception):
    """Allocation comes next."""


@dataclass
class Allocated:
    """A function with registers, in the order of its allocation; ``original``: how many instructions it had before."""

    f: Function
    ctx: PassContext
    proof: Proof
    limits: list[int]
    view: MachineFunction
    original: int

    def check(self) -> None:
        """Raises MalformedCode when the verifier finds something."""
        self.proof.check(machine.load(self.f, self.ctx.target.isa, self.ctx.target.uniform_regs), self.limits)

    def instructions(self) -> Iterator[int]:
        f = self.f
        for b in range(f.blocks()):
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                yield i
                i = following

    def new(self, *ops: int) -> list[int]:
        """Instructions of spills with one of these operations."""
        return [i for i in self.instructions() if i >= self.original and self.f.op[i] in ops]

    def made_again(self) -> list[int]:
        """The MOVs that repeat a constant."""
        f, base = self.f, self.f.attributes.spill_base & opd.INDEX
        moves = [i for i in self.new(MOV) if not opd.is_register(f.get(i, 1)) and f.get(i, 1) != opd.RZ_OPERAND]
        return [i for i in moves if f.get(i, 0) & opd.INDEX != base]

    def writes(self, i: int) -> list[int]:
        """Registers that an instruction writes."""
        f = self.f
        return [
            f.get(i, at) & opd.INDEX for at in range(f.count[i]) if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at))
        ]


def before_allocation(text: str, arch: str, level: int, limit: int | None) -> list[tuple[Function, PassContext]]:
    """The functions of a module as they come to allocation."""
    options = CompileOptions(arch=arch, opt_level=level, maxrregcount=limit)
    front = build_inputs([PtxInput(text, "kernel.ptx")], options)

    def stop(f: Function, ctx: PassContext) -> bool:
        raise _Stop

    out = []
    for f in front.module.functions:
        ctx = PassContext(options.target, front.module, level, front.places[f.name], limit)
        manager = PhaseManager({**passes(), "allocate_registers": stop}, level, functions=phase_functions(options.target))
        try:
            manager.run(f, ctx)
        except _Stop:
            out.append((f, ctx))
    return out


def allocated(f: Function, ctx: PassContext) -> Allocated:
    """Allocate; the function gets the order of the allocation."""
    proof, limits, count = Proof(f, ctx), limits_of(f, ctx), f.instructions()
    view = assign(f, ctx, limits).view
    assert view is not None
    view.link()
    return Allocated(f, ctx, proof, limits, view, count)


# A predicate that comes back wrong: from a register of its own, from a bit of one.
PATTERN = (words.PROBLEM_P2R_PATTERN, words.PROBLEM_BIT_PATTERN)
BASE = (words.PROBLEM_P2R_BASE, words.PROBLEM_BIT_BASE)
Plant = Callable[[Allocated, random.Random], "tuple[int, ...] | None"]


def _registers_read_later(a: Allocated) -> dict[int, list[int]]:
    """Register -> instructions that read it as data."""
    f = a.f
    out: dict[int, list[int]] = {}
    for i in a.instructions():
        for at in range(f.count[i]):
            o = f.get(i, at)
            if opd.is_register(o) and not OPS.writes_at(f.op[i], at):
                out.setdefault(o & opd.INDEX, []).append(i)
    return out


def refill_of_another_slot(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A refill from a word to which nothing is stored."""
    loads = a.new(LDL)
    if not loads:
        return None
    i = rng.choice(loads)
    a.f.attributes.frame_size += 16
    a.f.set(i, 2, a.f.imm(-a.f.attributes.frame_size))
    return words.PROBLEM_NO_SPILL, *PATTERN, words.PROBLEM_EXTRA, words.PROBLEM_UNINITIALIZED  # the last one at the reader


def refill_without_base(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A refill whose address is no stack."""
    loads = a.new(LDL)
    if not loads:
        return None
    i = rng.choice(loads)
    others = [r for r in range(a.f.registers()) if a.f.reg_type[r] == R and a.f.physical[r] != NONE and a.f.reg_size[r] == 1]
    others = [r for r in others if r != a.f.attributes.spill_base & opd.INDEX]
    if not others:
        return None
    a.f.set(i, 1, opd.reg(rng.choice(others)))
    return (words.PROBLEM_NO_SPILL,)


def spill_left_out(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A value that is not stored where it is defined, and is refilled later."""
    f = a.f
    slots = {f.get(i, 2) for i in a.new(LDL)}
    stores = [i for i in a.new(STL) if f.get(i, 1) in slots]
    alone = [i for i in stores if sum(f.get(i, 1) == f.get(k, 1) for k in stores) == 1]
    if not alone:
        return None
    Cursor(f).remove(rng.choice(alone))
    return words.PROBLEM_NO_SPILL, words.PROBLEM_UNINITIALIZED_MEMORY, *PATTERN, words.PROBLEM_EXTRA


def spill_behind_its_refill(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A store that comes in the last block only: the refills in front of it read what nobody has written."""
    f = a.f
    slots = {f.get(i, 2): f.block[i] for i in a.new(LDL)}
    alone = [i for i in a.new(STL) if sum(f.get(i, 1) == f.get(k, 1) for k in a.new(STL)) == 1 and not f.guard[i]]
    moved = [i for i in alone if slots.get(f.get(i, 1), -1) != -1]
    if not moved:
        return None
    i = rng.choice(moved)
    cursor = Cursor(f)
    last = f.tail[f.blocks() - 1]
    reads = [k for k in a.new(LDL) if f.get(k, 2) == f.get(i, 1)]
    if last == NONE or f.block[last] in {f.block[k] for k in reads}:
        return None
    cursor.in_front(last)
    cursor.make(STL, f.mods[i])
    for at in range(3):
        cursor.put(f.get(i, at))
    cursor.remove(i)
    return words.PROBLEM_UNINITIALIZED_MEMORY, words.PROBLEM_NO_SPILL, *PATTERN


def refill_left_out(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A short-lived register that nothing is loaded into."""
    loads = a.new(LDL)
    if not loads:
        return None
    Cursor(a.f).remove(rng.choice(loads))
    return words.PROBLEM_UNINITIALIZED, words.PROBLEM_EXTRA, *BASE, *PATTERN


def register_of_a_neighbour(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A value in the register of another one that is written between its definition and a reader."""
    f, fn = a.f, machine.load(a.f, a.ctx.target.isa, a.ctx.target.uniform_regs).fn
    reads = _registers_read_later(a)
    found = []
    for b in range(fn.block_count):
        nodes = [fn.nodes[k].index for k in range(fn.block_first[b], fn.block_first[b + 1])]
        place = {i: n for n, i in enumerate(nodes)}
        for n, i in enumerate(nodes):
            for r in a.writes(i):
                if i >= a.original or f.guard[i] or f.reg_size[r] != 1 or f.reg_type[r] != R or f.physical[r] == NONE:
                    continue
                again = next((m for m in range(n + 1, len(nodes)) if r in a.writes(nodes[m])), len(nodes))
                ends = [place[k] for k in reads.get(r, ()) if n < place.get(k, -1) <= again and k < a.original]
                for m in range(n + 1, max(ends, default=0)):
                    others = [s for s in a.writes(nodes[m]) if s != r and f.reg_type[s] == R and f.reg_size[s] == 1]
                    found += [(r, s) for s in others if f.physical[s] not in (f.physical[r], NONE) and f.op[nodes[m]] != MOV]
    if not found:
        return None
    r, s = rng.choice(found)
    f.physical[r] = f.physical[s]
    return words.PROBLEM_EXTRA, words.PROBLEM_REMAT, words.PROBLEM_UNINITIALIZED


def extra_definition(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """An instruction too many, which writes a register in front of a reader."""
    f = a.f
    reads = [(r, i) for r, users in _registers_read_later(a).items() for i in users if f.reg_type[r] == R]
    reads = [(r, i) for r, i in reads if i < a.original and f.physical[r] != NONE]
    if not reads:
        return None
    r, i = rng.choice(reads)
    cursor = Cursor(f)
    cursor.in_front(i)
    cursor.make4(op.IADD3, opd.reg(r), opd.reg(r), opd.imm(1), opd.RZ_OPERAND)
    return (words.PROBLEM_EXTRA,)


def definition_gone(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """An instruction of the function is lost."""
    lost = [i for i in a.instructions() if i < a.original and a.writes(i) and a.f.op[i] not in (MOV, S2R)]
    if not lost:
        return None
    Cursor(a.f).remove(rng.choice(lost))
    return (words.PROBLEM_DISAPPEARED,)


def another_constant(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A value that is made again, and not as it was."""
    f, made = a.f, a.made_again()
    if not made:
        return None
    i = rng.choice(made)
    value = opd.imm(rng.randrange(1, 1 << 20))
    if value == f.get(i, 1):
        return None
    f.set(i, 1, value)
    return (words.PROBLEM_REMAT,)


def constant_not_made(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A value that is not made again where it is read."""
    f, made = a.f, a.made_again()
    if not made:
        return None
    Cursor(f).remove(rng.choice(made))
    return words.PROBLEM_REMAT, words.PROBLEM_UNINITIALIZED, words.PROBLEM_EXTRA


def code_that_never_runs(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """An instruction of a spill, under a guard that never holds."""
    f = a.f
    found = [i for i in a.new(LDL, STL, SEL, ISETP, MOV) if f.get(i, 1) != opd.RZ_OPERAND or f.op[i] == SEL]
    if not found:
        return None
    f.set_guard(rng.choice(found), opd.NOT_PT_OPERAND)
    return tuple(range(1, len(words.PROBLEM_TEXTS)))


def bit_not_kept(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A predicate whose register nothing writes."""
    kept = a.new(SEL)
    homes = {a.f.get(i, 0) & opd.INDEX for i in kept}
    if not kept:
        return None
    home = rng.choice(sorted(homes))
    for i in kept:
        if a.f.get(i, 0) & opd.INDEX == home:
            Cursor(a.f).remove(i)
    return words.PROBLEM_P2R_PATTERN, words.PROBLEM_P2R_BASE, words.PROBLEM_UNINITIALIZED_MEMORY, words.PROBLEM_NO_SPILL


def bit_with_another_sense(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A predicate that comes back turned round, or is kept so."""
    f = a.f
    moves = a.new(SEL, ISETP)
    if not moves:
        return None
    i = rng.choice(moves)
    if f.op[i] == SEL:
        f.set(i, 3, f.get(i, 3) ^ opd.NEGATE)
    else:
        f.set(i, 2, opd.imm(1))
    return (words.PROBLEM_P2R_PATTERN,)


def bit_of_another(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A predicate that is brought back from the register of another one."""
    f = a.f
    back = a.new(ISETP)
    homes = sorted({f.get(i, 0) & opd.INDEX for i in a.new(SEL)})
    if not back or len(homes) < 2:
        return None
    i = rng.choice(back)
    others = [h for h in homes if h != f.get(i, 1) & opd.INDEX]
    f.set(i, 1, opd.reg(rng.choice(others)))
    return words.PROBLEM_P2R_PATTERN, words.PROBLEM_EXTRA


def bit_base_destroyed(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """The register of a predicate is written between the time that it is kept and the time that it comes back."""
    f = a.f
    back = a.new(ISETP)
    if not back:
        return None
    i = rng.choice(back)
    cursor = Cursor(f)
    cursor.in_front(i)
    short = f.new_reg(R)
    f.physical[short] = f.physical[f.get(i, 1) & opd.INDEX]
    cursor.make4(op.IADD3, opd.reg(short), opd.RZ_OPERAND, opd.imm(1), opd.RZ_OPERAND)
    return words.PROBLEM_P2R_BASE, words.PROBLEM_EXTRA


def _on_bits(a: Allocated) -> tuple[list[int], list[int], list[int]]:
    """What clears, sets and tests bits of registers that predicates share."""
    f, found = a.f, a.new(LOP3)
    tests = [i for i in found if f.count[i] == 5]
    sets = [i for i in found if f.guard[i]]
    return [i for i in found if i not in tests and i not in sets], sets, tests


def shared_bit_not_cleared(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A bit that is set where the predicate holds, and stays what it was elsewhere."""
    clears, _, _ = _on_bits(a)
    if not clears:
        return None
    Cursor(a.f).remove(rng.choice(clears))
    return (words.PROBLEM_BIT_PATTERN,)


def _is_tested_later(a: Allocated, i: int) -> bool:
    """Whether somebody may ask for the bit that an instruction sets before it is cleared; round a loop anybody may."""
    f = a.f
    order = list(a.instructions())
    clears, _, tests = _on_bits(a)
    for k in order[order.index(i) + 1 :]:
        if k in (*clears, *tests) and f.get(k, 1) == f.get(i, 1) and f.imm_value(f.get(k, 2)) == f.imm_value(f.get(i, 2)):
            return k in tests
    return bool(control_flow(f).loops().count)


def shared_bit_not_set(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A bit that is 0 whatever the predicate."""
    sets = [i for i in _on_bits(a)[1] if _is_tested_later(a, i)]
    if not sets:
        return None
    Cursor(a.f).remove(rng.choice(sets))
    return words.PROBLEM_BIT_PATTERN, words.PROBLEM_BIT_BASE, words.PROBLEM_EXTRA


def shared_bit_turned(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A bit that is set where the predicate does not hold."""
    _, sets, _ = _on_bits(a)
    if not sets:
        return None
    i = rng.choice(sets)
    a.f.set_guard(i, a.f.guard[i] ^ opd.NEGATE)
    return (words.PROBLEM_BIT_PATTERN,)


def shared_bit_of_another(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """The bit of another predicate is tested, cleared or set."""
    f = a.f
    kind = rng.choice(_on_bits(a))
    if not kind:
        return None
    i = rng.choice(kind)
    others = [k for k in a.new(LOP3) if f.get(k, 1) == f.get(i, 1) and f.get(k, 2) != f.get(i, 2)]
    if not others:
        return None
    f.set(i, 2, f.get(rng.choice(others), 2))
    return words.PROBLEM_BIT_PATTERN, words.PROBLEM_BIT_BASE


def shared_bits_destroyed(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A register with bits is written, or begins again, between the time that one is set and the time that it is tested."""
    f = a.f
    _, _, tests = _on_bits(a)
    if not tests:
        return None
    i = rng.choice(tests)
    cursor = Cursor(f)
    cursor.in_front(i)
    if rng.random() < 0.5:
        cursor.make2(MOV, f.get(i, 1), opd.RZ_OPERAND)
    else:
        short = f.new_reg(R)
        f.physical[short] = f.physical[f.get(i, 1) & opd.INDEX]
        cursor.make4(op.IADD3, opd.reg(short), opd.RZ_OPERAND, opd.imm(1), opd.RZ_OPERAND)
    return words.PROBLEM_BIT_BASE, words.PROBLEM_EXTRA, words.PROBLEM_BIT_PATTERN


def shared_bits_in_two_places(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """One of the instructions on the bits of a register is on another one."""
    f = a.f
    found = a.new(LOP3)
    if not found:
        return None
    i = rng.choice(found)
    others = [
        r for r in range(f.registers()) if f.reg_type[r] == R and f.physical[r] not in (NONE, f.physical[f.get(i, 1) & opd.INDEX])
    ]
    others = [r for r in others if f.reg_size[r] == 1]
    if not others:
        return None
    other = opd.reg(rng.choice(others))
    if f.get(i, 0) == f.get(i, 1):
        f.set(i, 0, other)
    f.set(i, 1, other)
    return words.PROBLEM_BIT_PATTERN, words.PROBLEM_BIT_BASE, words.PROBLEM_EXTRA


def another_operand(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """An instruction reads another register than before."""
    f = a.f
    places = [
        (i, at)
        for i in a.instructions()
        for at in range(f.count[i])
        if i < a.original and opd.is_register(f.get(i, at)) and not OPS.writes_at(f.op[i], at)
    ]
    places = [(i, at) for i, at in places if f.reg_type[f.get(i, at) & opd.INDEX] == R]
    others = [r for r in range(f.registers()) if f.reg_type[r] == R and f.physical[r] != NONE]
    if not places:
        return None
    i, at = rng.choice(places)
    number = f.get(i, at) & opd.INDEX
    others = [r for r in others if f.physical[r] != f.physical[number] and f.reg_size[r] == f.reg_size[number]]
    if not others:
        return None
    f.set(i, at, opd.with_index(f.get(i, at), rng.choice(others)))
    return words.PROBLEM_EXTRA, words.PROBLEM_CHANGED, words.PROBLEM_UNINITIALIZED


def another_immediate(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """An instruction is another one."""
    f = a.f
    places = [
        i for i in a.instructions() if i < a.original and any(f.get(i, at) & opd.TYPE == opd.IS_IMM for at in range(f.count[i]))
    ]
    if not places:
        return None
    i = rng.choice(places)
    at = next(at for at in range(f.count[i]) if f.get(i, at) & opd.TYPE == opd.IS_IMM)
    f.set(i, at, f.get(i, at) ^ 1)
    return (words.PROBLEM_CHANGED,)


def no_number(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A register beyond those that the function may use."""
    f = a.f
    used = sorted(r for r in _registers_read_later(a) if f.reg_type[r] == R and f.physical[r] != NONE)
    if not used:
        return None
    f.physical[rng.choice(used)] = a.limits[0] + rng.randrange(4)
    return (words.PROBLEM_PLACE,)


def behind_another_definition(a: Allocated, rng: random.Random) -> tuple[int, ...] | None:
    """A reader that stands behind the next definition of what it reads."""
    f = a.f
    found = []
    for b in range(f.blocks()):
        i = f.head[b]
        order = []
        while i != NONE:
            order.append(i)
            i = f.next[i]
        for n, i in enumerate(order):
            reads = {f.get(i, at) & opd.INDEX for at in range(f.count[i]) if opd.is_register(f.get(i, at))} - set(a.writes(i))
            reads = {r for r in reads if f.reg_size[r] == 1}
            for m in range(n + 1, min(n + 30, len(order))):
                if i < a.original and order[m] < a.original and reads & set(a.writes(order[m])) and f.op[order[m]] != MOV:
                    found.append((i, order[m]))
    if not found:
        return None
    i, j = rng.choice(found)
    cursor = Cursor(f)
    cursor.remove(i)
    cursor.behind(j)
    cursor.link(i)
    return words.PROBLEM_ORDER, words.PROBLEM_EXTRA, words.PROBLEM_UNINITIALIZED


PLANTS: dict[str, Plant] = {
    plant.__name__: plant
    for plant in (
        refill_of_another_slot, refill_without_base, spill_left_out, spill_behind_its_refill, refill_left_out,
        register_of_a_neighbour, extra_definition, definition_gone, another_constant, constant_not_made, code_that_never_runs,
        bit_not_kept,
        bit_with_another_sense, bit_of_another, bit_base_destroyed, shared_bit_not_cleared, shared_bit_not_set,
        shared_bit_turned, shared_bit_of_another, shared_bits_destroyed, shared_bits_in_two_places,
        another_operand, another_immediate, no_number,
        behind_another_definition,
    )
}  # fmt: skip
