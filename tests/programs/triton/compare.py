"""The instances for the comparison with ptxas."""

from __future__ import annotations

from collections.abc import Iterable

from tests.programs.compare import Subject
from tests.programs.triton import stored
from tests.programs.triton.case import case
from tests.programs.triton.measure import sm


def subjects(which: Iterable[tuple[str, int]]) -> list[Subject]:
    """Of instances and targets."""
    return [subject(name, target) for name, target in which]


def subject(name: str, target: int) -> Subject:
    """Of one instance."""
    facts = stored.facts(name, target)
    return Subject(f"{name} {sm(target)}", stored.ptx(name, target), sm(target), facts["kernel"], lambda: case(name, facts))
