"""Small faults that a wrong phase could leave in a function: planted at one instruction, and taken back."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.optable import ATOMIC, BARRIER, BRANCH, CONTROL, CONVERGENCE, LOAD, OPS, PINNED, STORE
from oric_tables import op, ops
from oric_tables.op import MovPhi
from oric_tables.rewrites import COMMUTE
from oric_tables.values import HAS_VALUE

Undo = Callable[[], None]
Fault = Callable[[Function, int, random.Random], Undo | None]  # None: there is nothing of the kind to do at that instruction
FAULTS: dict[str, Fault] = {}
_NEAR = 12  # instructions between a load and the store that it goes above
_SPACES = op.E_SHARED | op.E_LOCAL | op.E_GLOBAL


def _fault(name: str) -> Callable[[Fault], Fault]:
    def register(fault: Fault) -> Fault:
        FAULTS[name] = fault
        return fault

    return register


# -- parts -----------------------------------------------------------------------------------------------------------


def _set(f: Function, i: int, at: int, operand: int) -> Undo:
    old = f.get(i, at)
    f.set(i, at, operand)
    return lambda: f.set(i, at, old)


def _together(*undo: Undo) -> Undo:
    def back() -> None:
        for one in reversed(undo):
            one()

    return back


def _sources(f: Function, i: int) -> Iterator[tuple[int, int]]:
    """Places and operands of the sources that are registers."""
    for at in range(f.count[i]):
        operand = int(f.get(i, at))
        if operand and opd.is_register(operand) and not OPS.writes_at(f.op[i], at):
            yield at, operand


def _results(f: Function, i: int) -> list[int]:
    return [int(f.get(i, at)) for at in range(f.count[i]) if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at))]


def _alike(f: Function, one: int, other: int) -> bool:
    """Whether operands are other registers of the same file, and as wide."""
    first, second = opd.index_of(one), opd.index_of(other)
    same = f.reg_type[first] == f.reg_type[second] and f.reg_size[first] == f.reg_size[second]
    parts = [(opd.count_of(operand), opd.first_of(operand)) for operand in (one, other)]
    return bool(first != second and same and parts[0] == parts[1])


def _link(f: Function, i: int, block: int, behind: int) -> None:
    cursor = Cursor(f)
    if behind == NONE:
        cursor.at_end(block)
    else:
        cursor.in_front(behind)
    cursor.link(i)


def _moved(f: Function, i: int, to: int) -> Undo:
    """An instruction goes in front of another one of its block, or away."""
    block, behind = int(f.block[i]), int(f.next[i])
    Cursor(f).remove(i)
    if to != NONE:
        _link(f, i, block, to)

    def back() -> None:
        if to != NONE:
            Cursor(f).remove(i)
        _link(f, i, block, behind)

    return back


def _other_modifier(f: Function, i: int, names: tuple[str, ...], rng: random.Random) -> Undo | None:
    mods = ops.op(f.op[i]).mods
    found = [mods[name] for name in names if name in mods]
    if not found:
        return None
    mod, old = rng.choice(found), f.mods[i]
    values = [v for v in sorted(set(mod.values.values())) or range(mod.mask + 1) if v != old >> mod.shift & mod.mask]
    f.set_mods(i, old & ~(mod.mask << mod.shift) | rng.choice(values) << mod.shift)
    return lambda: f.set_mods(i, old)


# -- faults ----------------------------------------------------------------------------------------------------------


@_fault("sources in each other's place")
def _swapped(f: Function, i: int, rng: random.Random) -> Undo | None:
    places = list(_sources(f, i))
    if f.op[i] == MovPhi or f.op[i] in COMMUTE or f.op[i] not in HAS_VALUE:
        return None
    pairs = [(a, b) for a, b in itertools.pairwise(places) if _alike(f, a[1], b[1])]
    if not pairs:
        return None
    (at, one), (to, other) = rng.choice(pairs)
    return _together(_set(f, i, at, other), _set(f, i, to, one))


@_fault("a live instruction is gone")
def _gone(f: Function, i: int, rng: random.Random) -> Undo | None:
    if OPS.flags[f.op[i]] & (CONTROL | PINNED) or f.op[i] == MovPhi or not _results(f, i):
        return None
    return _moved(f, i, NONE)


@_fault("an effect is gone")
def _effect_gone(f: Function, i: int, rng: random.Random) -> Undo | None:
    flags = OPS.flags[f.op[i]]
    if not flags & (STORE | ATOMIC | BARRIER) or flags & (CONTROL | CONVERGENCE):
        return None
    return _moved(f, i, NONE)


@_fault("a load above the store in front of it")
def _above(f: Function, i: int, rng: random.Random) -> Undo | None:
    flags = OPS.flags[f.op[i]]
    if not flags & LOAD or flags & (STORE | ATOMIC | PINNED):
        return None
    space, before = ops.op(f.op[i]).effects & _SPACES, f.prev[i]
    needed = {opd.index_of(operand) for _, operand in _sources(f, i)}
    for _ in range(_NEAR):
        if before == NONE or needed & {opd.index_of(operand) for operand in _results(f, before)}:
            return None
        if OPS.flags[f.op[before]] & STORE and ops.op(f.op[before]).effects & _SPACES == space:
            return _moved(f, i, before)
        before = f.prev[before]
    return None


@_fault("a branch the other way")
def _negated(f: Function, i: int, rng: random.Random) -> Undo | None:
    old = f.guard[i]
    if not old or not OPS.flags[f.op[i]] & CONTROL:
        return None
    f.set_guard(i, old ^ opd.NEGATE)
    return lambda: f.set_guard(i, old)


@_fault("a branch to another block")
def _redirected(f: Function, i: int, rng: random.Random) -> Undo | None:
    """Code and edges say the same, so that only what is executed tells."""
    block = int(f.block[i])
    places = [at for at in range(f.count[i]) if opd.type_of(f.get(i, at)) == opd.LABEL]
    if not OPS.flags[f.op[i]] & BRANCH or len(places) != 1:
        return None
    old = opd.index_of(f.get(i, places[0]))
    edges = [e for e in range(f.succ_count[block]) if f.successor(block, e) == old]
    others = [b for b in range(f.blocks()) if f.head[b] != NONE and b not in (old, block, block + 1)]
    if len(edges) != 1 or not others:
        return None
    to, edge = rng.choice(others), f.succ_first[block] + edges[0]
    undo = _set(f, i, places[0], opd.label(to))
    f.succ[edge] = to
    f.flow_epoch += 1

    def back() -> None:
        undo()
        f.succ[edge] = old
        f.flow_epoch += 1

    return back


@_fault("a guard is lost")
def _unguarded(f: Function, i: int, rng: random.Random) -> Undo | None:
    old = f.guard[i]
    if not old:
        return None
    f.set_guard(i, 0)
    return lambda: f.set_guard(i, old)


@_fault("a guard of the other sign")
def _other_guard(f: Function, i: int, rng: random.Random) -> Undo | None:
    return None if OPS.flags[f.op[i]] & CONTROL else _negated_guard(f, i)


def _negated_guard(f: Function, i: int) -> Undo | None:
    old = f.guard[i]
    if not old:
        return None
    f.set_guard(i, old ^ opd.NEGATE)
    return lambda: f.set_guard(i, old)


@_fault("another value of a MovPhi")
def _phi(f: Function, i: int, rng: random.Random) -> Undo | None:
    if f.op[i] != MovPhi or f.count[i] < 5:
        return None
    at = rng.randrange(1, f.count[i] - 3, 2)
    one, other = int(f.get(i, at)), int(f.get(i, at + 2))
    return _together(_set(f, i, at, other), _set(f, i, at + 2, one)) if one != other else None


@_fault("another value in a source")
def _merged(f: Function, i: int, rng: random.Random) -> Undo | None:
    """What an instruction in front of it has made is taken for one of its sources."""
    if f.op[i] == MovPhi or OPS.flags[f.op[i]] & CONTROL:
        return None
    made, before = [], f.prev[i]
    while before != NONE and len(made) < _NEAR:
        made += _results(f, before)
        before = f.prev[before]
    pairs = [(at, other) for at, operand in _sources(f, i) for other in made if _alike(f, operand, other)]
    if not pairs:
        return None
    at, other = rng.choice(pairs)
    return _set(f, i, at, other | int(f.get(i, at)) & opd.SIGNS)


@_fault("a constant that is one off")
def _constant(f: Function, i: int, rng: random.Random) -> Undo | None:
    places = [at for at in range(f.count[i]) if opd.type_of(f.get(i, at)) == opd.IMM and not OPS.writes_at(f.op[i], at)]
    if not places or OPS.flags[f.op[i]] & (CONTROL | CONVERGENCE):
        return None
    at = rng.choice(places)
    return _set(f, i, at, f.imm(f.imm_value(f.get(i, at)) + 1 & 0xFFFFFFFF))


@_fault("an access of another width")
def _width(f: Function, i: int, rng: random.Random) -> Undo | None:
    return _other_modifier(f, i, ("size",), rng) if OPS.flags[f.op[i]] & (LOAD | STORE) else None


@_fault("another comparison or table")
def _table(f: Function, i: int, rng: random.Random) -> Undo | None:
    return _other_modifier(f, i, ("cmp", "lut", "dir"), rng) if f.op[i] in HAS_VALUE else None


@_fault("another sign")
def _sign(f: Function, i: int, rng: random.Random) -> Undo | None:
    return _other_modifier(f, i, ("sign",), rng) if f.op[i] in HAS_VALUE else None


@_fault("a minus more or less")
def _minus(f: Function, i: int, rng: random.Random) -> Undo | None:
    marked = [at for at, operand in _sources(f, i) if operand & opd.NEGATE]
    places = marked or [at for at, _ in _sources(f, i) if at < len(ops.op(f.op[i]).operands)]
    if f.op[i] not in HAS_VALUE or not places:
        return None
    at = rng.choice(places)
    return _set(f, i, at, int(f.get(i, at)) ^ opd.NEGATE)


@_fault("a result in another register")
def _result(f: Function, i: int, rng: random.Random) -> Undo | None:
    made, behind = [], f.next[i]
    while behind != NONE and len(made) < _NEAR:
        made += _results(f, behind)
        behind = f.next[behind]
    if f.op[i] == MovPhi or not _results(f, i) or not opd.is_register(f.get(i, 0)) or not OPS.writes_at(f.op[i], 0):
        return None
    others = [other for other in made if _alike(f, f.get(i, 0), other)]
    return _set(f, i, 0, rng.choice(others)) if others else None
