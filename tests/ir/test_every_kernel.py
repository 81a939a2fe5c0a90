"""Every function of the programs and examples does the same before and after each phase of -O3, on random states.

``make measure`` takes every second program for one target, ``python -m tests.ir.test_every_kernel [TARGET...]`` all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bench.programs import TARGETS, Key, subject
from tests.ir.phases import ALLOCATION, Check, functions_of, run_phases
from tests.ir.planted_phases import in_order

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = ("any", "small", "floats")  # of states, one each
PARTS = 16  # every second one is run by ``make measure``
SAMPLE = 180  # one of so many programs is run in each run of the tests
# Programs of a part that may differ behind a phase, as states here say too little: the stack pointer need not be aligned in them
# (phase 56 joins what it is the base of), and R2UR of a constant is an unknown value (phase 59 makes a known one of it).
OPEN = 3
SILENT: list[str] = []  # functions that no state got to do anything that can be compared


def wrong_in(text: str, target: str, name: str) -> Iterator[str]:
    """What phases change that they should not, in each function of a module."""
    for f, context in functions_of(text, target):
        check = Check(f"{name} {target} {f.name}", range(len(KINDS)), KINDS, context, ALLOCATION)
        run_phases(f, context, check)
        yield from check.wrong
        if not any(thread.events for thread in check.before):
            SILENT.append(check.name)


def wrong_of(programs: Iterable[Key]) -> list[str]:
    return [told for key in programs for told in wrong_in(subject(key).text, key[2], key[1])]


def by_turns() -> list[Key]:
    """Each program for one of its targets."""
    found: dict[tuple[str, str], list[Key]] = {}
    for key in in_order():
        found.setdefault(key[:2], []).append(key)
    return [some[0] for some in found.values()]


def test_a_sample_does_the_same() -> None:
    assert wrong_of(by_turns()[::SAMPLE]) == []


@pytest.mark.parametrize("target", TARGETS)
def test_examples_do_the_same(target: str) -> None:
    for path in sorted(EXAMPLES.glob("*.ptx")):
        assert list(wrong_in(path.read_text(encoding="utf-8"), target, path.stem)) == []


@pytest.mark.measure
@pytest.mark.parametrize("part", range(0, PARTS, 4))
def test_programs_do_the_same(part: int) -> None:
    wrong = wrong_of(by_turns()[part::PARTS])
    assert len({told.split()[0] for told in wrong}) <= OPEN, "\n".join(wrong)


def main() -> int:
    targets = sys.argv[1:] or TARGETS
    found = wrong_of(key for key in in_order() if key[2] in targets)
    print(*found, f"{len(found)} differences; nothing to compare in {len(SILENT)} functions: {SILENT}", sep="\n")
    return len(found)


if __name__ == "__main__":
    raise SystemExit(main())
