"""Every instruction of the table, compiled and run in the simulator, gives what the PTX manual says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from . import cases, cases_100, harness
from .meaning import BF16, F16, F32, F64

CASES = cases.all_cases()
_FORMAT = {"f": F32, "g": F64}


def _name(case: cases.Case) -> str:
    constants = "".join(f" {c}" for c in case.constants if c is not None)
    return case.text.replace(" D,", "").replace(",", "") + constants


_WAYS = (("sm_90", 3), ("sm_90", 0), ("sm_80", 3))  # target, level
_WAYS_100 = (("sm_100", 3), ("sm_100", 0), ("sm_110", 3), ("sm_120", 3), ("sm_120", 0))


@pytest.mark.sampled(2)
@pytest.mark.row("R2-48", "R2-50", "R2-51", "R2-54", "R2-57")
@pytest.mark.parametrize("case", CASES, ids=map(_name, CASES))
def test_instruction(case: cases.Case) -> None:
    """For each target and level; what the results should be is computed once."""
    run_case(case, [way for way in _WAYS if way[0] in case.targets])


@pytest.mark.row("R2-48", "R2-50", "R2-51", "R2-54", "R2-57")
@pytest.mark.parametrize("case", cases_100.all_cases(), ids=_name)
def test_instruction_since_sm_100(case: cases.Case) -> None:
    run_case(case, [way for way in _WAYS_100 if way[0] in case.targets])


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=map(_name, CASES))
def test_older_instruction_since_sm_100(case: cases.Case) -> None:
    run_case(case, _WAYS_100)


def run_case(case: cases.Case, ways: Sequence[tuple[str, int]]) -> None:
    """A case for targets and levels."""
    rng = random.Random(f"{case.text} {case.constants}")
    kinds = case.kinds or case.sources
    inputs = [harness.values(kind, harness.THREADS, rng) for kind in kinds]
    for index, constant in enumerate(case.constants):
        if constant is not None:
            inputs[index] = [constant & (1 << harness.BITS[case.sources[index]]) - 1] * harness.THREADS
    wanted = [case.reference(*operands) for operands in zip(*inputs, strict=True)]
    assert ways
    for arch, level in ways:
        text, results = harness.kernel(case.text, case.dest, case.sources, arch, case.constants)
        got = harness.run(text, inputs, results, arch, level)
        wrong = list(_wrong(case, inputs, wanted, got))
        assert not wrong, (arch, level, wrong[:6])


def _wrong(case: cases.Case, inputs: list[list[int]], wanted: list[int], got: list[list[int]]) -> Iterator[tuple[object, ...]]:
    """Results that are not as they should be."""
    for run, found in enumerate(got):
        for thread, (value, want) in enumerate(zip(found, wanted, strict=True)):
            operands = [column[thread] for column in inputs]
            if run == 1 and not thread & 1:
                if value != harness.sentinel(case.dest):
                    yield run, thread, "written although the guard is false", value
            elif not _equal(case, value, want, operands):
                yield run, thread, [hex(o) for o in operands], f"got {value:#x}, want {want:#x}"


def _equal(case: cases.Case, got: int, want: int, operands: list[int]) -> bool:
    if case.check is not None:
        return bool(case.check(got, want, *operands))
    if got == want:
        return True
    form: Any = _FORMAT.get(case.dest)
    if case.dest == "h":
        words = case.text.split()[0].split(".")
        form = BF16 if "bf16" in words else F16 if "f16" in words else None
    return form is not None and form.is_nan(got) and form.is_nan(want)
