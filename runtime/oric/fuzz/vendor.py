"""What ptxas is known to get wrong in the random programs, so that every other difference stands out.

Of each fault: how a statement is rewritten so that ptxas does not have it. ``docs/deviations.md`` says what the PTX manual has
and what ptxas 13.0.88 makes.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from .full import FullProgram
from .programs import Statement

Rewrite = Callable[[Statement], list[Statement] | None]  # what stands for a statement; None: it does not have the fault

_FORGETS_GUARD: Final = re.compile(r"testp\.|set\..*\.f32\.[su]32$")
_HIGH_HALF: Final = re.compile(r"m(ad|ul)\.hi\.[su]32$")
# What threads of a mask in a register do together, alone with those of the same mask (WARPSYNC.EXCLUSIVE).
_EXCLUSIVE: Final = {"some_match", "some_match_all", "some_vote", "some_reduce"}
# Where a statement that writes predicates has them: the part after its name.
_PREDICATES: Final = {"op": 2, "pair": 4, "shfl": 5, "vote": 2, "some_vote": 2, "some_match_all": 2}


def _guarded(statement: Statement) -> list[Statement] | None:
    """A branch in place of the guard."""
    if statement[0] != "op":
        return None
    _, op, result, sources, guard = statement
    if guard is None or not _FORGETS_GUARD.match(op.mnemonic):
        return None
    return [("if", *guard, [("op", op, result, sources, None)], [])]


def _equal_halves(statement: Statement) -> list[Statement] | None:
    """Nothing: there is no other way to write it that does not come to the same for ptxas."""
    if statement[0] != "op":
        return None
    _, op, _result, sources, _guard = statement
    return [] if op.mnemonic in ("min.f16", "max.f16") and sources[0] == sources[1] else None


def _width_of_sign(statement: Statement) -> list[Statement] | None:
    """Nothing: constants come into registers by many ways."""
    return [] if statement[0] == "op" and statement[1].mnemonic.startswith("szext.") else None


def _least_half(statement: Statement) -> list[Statement] | None:
    """Nothing: every other way to write it comes to the same for ptxas."""
    return [] if statement[0] == "op" and statement[1].mnemonic in ("abs.s16", "neg.s16") else None


def _least_number(statement: Statement) -> list[Statement] | None:
    """Nothing: every other way to write it comes to the same for ptxas."""
    return [] if statement[0] == "op" and statement[1].mnemonic == "abs.s32" else None


def _inverted_zero(statement: Statement) -> list[Statement] | None:
    """Nothing: there is no other way to write it that does not come to the same for ptxas."""
    return [] if statement[0] == "op" and statement[1].mnemonic == "cnot.b32" else None


def _saturated_sum(statement: Statement) -> list[Statement] | None:
    """Nothing: the difference may come from any instruction before."""
    return [] if statement[0] == "op" and statement[1].mnemonic == "add.sat.s32" else None


def _converted_amount(statement: Statement) -> list[Statement] | None:
    """Nothing: the amount may come from any instruction before."""
    return [] if statement[0] == "op" and statement[1].mnemonic == "shr.s16" else None


def _certain_comparison(statement: Statement) -> list[Statement] | None:
    """Nothing in place of a guarded comparison of a register with itself."""
    if statement[0] != "op":
        return None
    _, op, _result, sources, guard = statement
    return [] if guard is not None and op.mnemonic.startswith("setp.") and sources[0] == sources[1] else None


def _high_half(statement: Statement) -> list[Statement] | None:
    """Nothing: whether a loop around it is unrolled is not known here."""
    return [] if statement[0] == "op" and _HIGH_HALF.match(statement[1].mnemonic) else None


def _uniform_address(statement: Statement) -> list[Statement] | None:
    """Nothing: which addresses are in uniform registers is not known here."""
    return [] if statement[0] == "uniform_load" else None


def _exclusive(statement: Statement) -> list[Statement] | None:
    """The two groups of a split, without what each of them does alone."""
    if statement[0] != "split":
        return None
    body = _without_exclusive(statement[2])
    if body == statement[2]:
        return None
    return [("split", statement[1], body)] if _of_lanes(body) else body


def _without_exclusive(body: list[Statement]) -> list[Statement]:
    return [
        tuple(_without_exclusive(part) if is_block(part) else part for part in statement)
        for statement in body
        if statement[0] not in _EXCLUSIVE
    ]


def _ballot(statement: Statement) -> list[Statement] | None:
    """No ballot where nothing in a region needs its mask: a branch is left of it."""
    if statement[0] in ("ballot", "some_ballot"):
        return []
    if statement[0] == "split" and not _of_lanes(statement[2]):
        return list(statement[2])
    if statement[0] == "masked" and not _of_lanes(statement[3]):
        return [("if", *statement[1:], [])] if statement[3] else []
    return None


def _of_lanes(body: list[Statement]) -> bool:
    """Whether statements need the mask of the threads that are there."""
    return any(
        statement[0].startswith("some_")
        or statement[0] == "masked_loop"
        or any(is_block(part) and _of_lanes(part) for part in statement)
        for statement in body
    )


def _written_guard(statement: Statement) -> list[Statement] | None:
    """Regions that leave the predicate alone by which their threads came there; loops, all those that branch in them."""
    if statement[0] in ("if", "masked", "split"):
        tested = {statement[1]}
    elif statement[0] in ("loop", "masked_loop", "uniform_loop"):
        tested = set(_tested(statement))
    else:
        return None
    kept = tuple(_leaving(part, tested) if is_block(part) else part for part in statement)
    return [kept] if kept != statement else None


def _tested(statement: Statement) -> Iterator[str]:
    """The predicates by which threads branch in a statement."""
    if statement[0] in ("if", "masked", "split"):
        yield statement[1]
    elif statement[0] == "loop" and statement[3]:
        yield statement[3]
    for part in statement:
        for inner in part if is_block(part) else []:
            yield from _tested(inner)


def _leaving(body: list[Statement], predicates: set[str]) -> list[Statement]:
    """Statements, without those that write one of the predicates."""
    out = []
    for statement in body:
        if predicates.isdisjoint(written(statement)):
            out.append(tuple(_leaving(part, predicates) if is_block(part) else part for part in statement))
    return out


def _early_return(statement: Statement) -> list[Statement] | None:
    """Nothing in place of a return in the middle of a function."""
    return [] if statement[0] == "return" else None


class Fault(NamedTuple):
    """How a statement is rewritten that has a fault; ``optimizer``: ptxas has it from level 1 on, and its level 0 is right."""

    rewrite: Rewrite
    optimizer: bool = False


FAULTS: Final[dict[str, Fault]] = {
    "the guard of testp or set is dropped": Fault(_guarded),
    "min or max of one f16 with itself is a copy": Fault(_equal_halves, optimizer=True),
    "abs.s16 and neg.s16 of -32768 are 32768": Fault(_least_half, optimizer=True),
    "abs.s32 of -2147483648 is positive": Fault(_least_number, optimizer=True),
    "szext takes its width from another place than the constant": Fault(_width_of_sign, optimizer=True),
    "the predicate of a branch is mixed up with what its region or loop writes there": Fault(_written_guard, optimizer=True),
    "a saturating conversion takes the result of cnot.b32 for its negative": Fault(_inverted_zero, optimizer=True),
    "add.sat.s32 of a number and a difference from it is no sum": Fault(_saturated_sum, optimizer=True),
    "the amount of shr.s16 is converted to 16 bits with a sign": Fault(_converted_amount, optimizer=True),
    "the second result of setp.or is lost where a guarded comparison is certain": Fault(_certain_comparison, optimizer=True),
    "an unrolled loop adds high halves of products too seldom": Fault(_high_half, optimizer=True),
    "a uniform register is overwritten on the other way of a branch": Fault(_uniform_address, optimizer=True),
    "what threads of a mask do together and nobody needs leaves them apart": Fault(_exclusive, optimizer=True),
    "instructions in front of a ballot move down behind writes of their sources": Fault(_ballot, optimizer=True),
    "threads leave a barrier that a function has in a register meanwhile": Fault(_early_return),
}


def without(program: FullProgram, faults: list[str]) -> FullProgram:
    """A copy of a program in which nothing has the faults, rewritten in their order. The program's own statements stay."""
    other = copy.copy(program)
    for rewrite in (fault.rewrite for name, fault in FAULTS.items() if name in faults):
        other.body = _block(other.body, rewrite)
        other.functions = [_block(body, rewrite) for body in other.functions]
    return other


def faults_of(program: FullProgram) -> list[str]:
    """Which of FAULTS a program, or what those before leave of it, can meet; in their order."""
    found = []
    for name, fault in FAULTS.items():
        if any(fault.rewrite(s) is not None for body in (program.body, *program.functions) for s in _all(body)):
            found.append(name)
            program = without(program, [name])
    return found


def _all(body: list[Statement]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        for part in statement:
            if is_block(part):
                yield from _all(part)


def _block(body: list[Statement], rewrite: Rewrite) -> list[Statement]:
    out: list[Statement] = []
    for statement in body:
        whole = tuple(_block(part, rewrite) if is_block(part) else part for part in statement)
        new = rewrite(whole)
        out += [whole] if new is None else new
    return out


def written(statement: Statement) -> list[str]:
    """The predicates that a statement itself writes, without those inside it."""
    place = _PREDICATES.get(statement[0])
    named = [] if place is None else statement[place] if isinstance(statement[place], list) else [statement[place]]
    return [name for name in named if name[0] == "p"]


def is_block(part: Any) -> bool:
    """Whether a part of a statement is a list of statements."""
    return isinstance(part, list) and all(isinstance(inner, tuple) for inner in part)
