"""Phases keep what a function does: kernels, random programs and cases run under the interpreter before and after each phase."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from oric.cli.opt import FAILURES, opt
from oric.driver.registry import passes
from oric.fuzz import programs as random_programs
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.interpret import Thread, difference
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions
from oric.ir.verify import MalformedCode
from oric.sass.arguments import UsageError
from oric_tables import op, ops

from tests import campaigns
from tests.ir import phases
from tests.ir.cases import Case, all_cases
from tests.ir.phases import SEEDS, Check, check_phases, functions_of
from tests.kernels import cases as kernels

TARGETS = ("sm_80", "sm_90")
OPTIMIZER = "general_optimize_early"


def checked(text: str, target: str, name: str, seeds: range = SEEDS) -> list[Check]:
    return [check_phases(f, context, f"{name} {f.name}", seeds=seeds) for f, context in functions_of(text, target)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", kernels.files())
def test_kernels(name: str) -> None:
    for check in checked(kernels.ptx(name, "sm_90"), "sm_90", name):
        assert not check.wrong, "\n".join(check.wrong)
        assert check.events


@pytest.mark.parametrize("seed", campaigns.seeds(80, first=2))
def test_random_programs(seed: int) -> None:
    target = TARGETS[seed % 2]
    for check in checked(random_programs.Program(seed, size=20 + seed % 5 * 10).text(target), target, str(seed)):
        assert not check.wrong, "\n".join(check.wrong)
        assert check.ended  # a loop over a random word may take a thread beyond the limit of steps


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_cases(case: Case) -> None:
    try:
        before = case.input()
        after = opt(case.text, case.phases, target=case.target, level=int(case.keys["level"]))
    except (UsageError, *FAILURES):
        assert case.expected.startswith("error: ")
        return
    for seed in range(8):
        first, second = Thread(before, seed), Thread(after, seed)
        first.run()
        second.run()
        assert not (found := difference(first, second)), found


# -- planted mistakes ------------------------------------------------------------------------------------------------


def places(f: Function, number: int) -> list[int]:
    """The instructions of an operation that have no guard."""
    return [i for i in all_instructions(f) if f.op[i] == number and not f.guard[i]]


def set_mod(f: Function, number: int, name: str, value: str | int, which: int = 0) -> bool:
    """Change a modifier of one instruction of an operation."""
    mod = ops.op(number).mods[name]
    code = mod.values[value] if isinstance(value, str) else value
    found = [i for i in places(f, number) if f.mods[i] >> mod.shift & mod.mask != code]
    if len(found) <= which:
        return False
    f.mods[found[which]] = f.mods[found[which]] & ~(mod.mask << mod.shift) | code << mod.shift
    return True


def change(f: Function, number: int, at: int, new: Callable[[int], int], which: int = 0) -> bool:
    """Change an operand of one instruction of an operation."""
    found = [i for i in places(f, number) if at < f.count[i] and new(f.get(i, at)) != f.get(i, at)]
    if len(found) <= which:
        return False
    f.set(found[which], at, new(f.get(found[which], at)))
    return True


def drop(f: Function, number: int) -> bool:
    """Remove one instruction of an operation."""
    found = places(f, number)
    if found:
        Cursor(f).remove(found[0])
    return bool(found)


def _negated_guard(f: Function) -> bool:
    found = [i for i in all_instructions(f) if f.guard[i] and f.op[i] == op.BRA]
    if found:
        f.guard[found[0]] ^= opd.NEGATE
    return bool(found)


def _guard_lost(f: Function) -> bool:
    found = [i for i in all_instructions(f) if f.guard[i] and f.op[i] == op.BRA]
    if found:
        f.guard[found[0]] = 0
    return bool(found)


def _moved_up(f: Function) -> bool:
    """A load goes above the store in front of it."""
    loads = [i for i in all_instructions(f) if f.op[i] == op.LDS and f.prev[i] != NONE]
    for i in loads:
        before = f.prev[i]
        while before != NONE and f.op[before] not in (op.STS, op.BAR_SYNC):
            before = f.prev[before]
        if before != NONE:
            cursor = Cursor(f)
            cursor.in_front(before)
            cursor.clone(i)
            cursor.remove(i)
            return True
    return False


def _one_word(f: Function) -> bool:
    """A register is written in place of another."""
    found = [i for i in all_instructions(f) if f.op[i] == op.IMAD_WIDE]
    if len(found) > 1:
        f.set(found[0], 0, f.get(found[1], 0))
    return len(found) > 1


RANDOM = 7  # a random program that has everything
MISTAKES: dict[str, tuple[str | int, Callable[[Function], bool]]] = {
    "a negated source": ("histogram", lambda f: change(f, op.IADD3, 1, lambda o: o ^ opd.NEGATE)),
    "a constant that is one off": ("bits", lambda f: change(f, op.IMAD_WIDE, 2, lambda o: f.imm(f.imm_value(o) + 1))),
    "another comparison": ("saxpy", lambda f: set_mod(f, op.ISETP, "cmp", "NE")),
    "an unsigned comparison": ("saxpy", lambda f: set_mod(f, op.ISETP, "sign", "U32")),
    "an unsigned product": ("saxpy", lambda f: set_mod(f, op.IMAD_WIDE, "sign", "U32")),
    "a branch the other way": ("reduction", _negated_guard),
    "a store that is gone": ("half2", lambda f: drop(f, op.STG)),
    "a barrier that is gone": ("reduction", lambda f: drop(f, op.BAR_SYNC)),
    "an atomic operation that is gone": (RANDOM, lambda f: drop(f, op.ATOMS) or drop(f, op.ATOMG) or drop(f, op.RED)),
    "an offset that is one word off": ("divrem", lambda f: change(f, op.LDG, 2, lambda o: f.imm(f.imm_value(o) + 4))),
    "another truth table": ("bits", lambda f: set_mod(f, op.LOP3, "lut", 0x3F)),
    "a load of another size": ("switch", lambda f: set_mod(f, op.LDG, "size", "U16")),
    "a load above a barrier": (RANDOM, _moved_up),
    "a result in another register": ("sgemm", _one_word),
    "a rounding towards zero": ("saxpy", lambda f: set_mod(f, op.FFMA, "rnd", "RZ")),
}


def text_of(program: str | int) -> str:
    if isinstance(program, str):
        return kernels.ptx(program, "sm_90")
    return random_programs.Program(program, size=60).text("sm_90")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_phase_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, spoil = MISTAKES[name]
    planted = spoiled(spoil, monkeypatch)
    (check, *_) = checked(text_of(program), "sm_90", name, range(16))  # in some of which a thread comes to what is spoilt
    assert planted[0], "there is nothing to spoil"
    assert any("phase 13 " in text for text in check.wrong)


def test_a_branch_for_all_is_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen before anything runs: the edge behind it leads nowhere."""
    planted = spoiled(_guard_lost, monkeypatch)
    with pytest.raises(MalformedCode, match=r"edges to .* but the code goes elsewhere: BRA"):
        checked(text_of("saxpy"), "sm_90", "a branch for all")
    assert planted[0]


def spoiled(spoil: Callable[[Function], bool], monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Make a wrong phase of the optimizer; the list grows by whether something was spoilt with every run."""
    planted: list[bool] = []

    def wrong(f: Function, context: PassContext) -> bool:
        changed = passes()[OPTIMIZER](f, context)
        planted.append(spoil(f))
        return changed

    registry: dict[str, PassFunction] = {**passes(), OPTIMIZER: wrong}
    monkeypatch.setattr(phases, "passes", lambda: registry)
    return planted
