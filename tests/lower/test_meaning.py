"""Every instruction of the table, compiled and run in the simulator, gives what the PTX manual says."""

from __future__ import annotations

import random
from typing import Any

import pytest

from . import cases, harness
from .meaning import BF16, F16, F32, F64

CASES = cases.all_cases()
_FORMAT = {"f": F32, "g": F64}


def _name(case: cases.Case) -> str:
    constants = "".join(f" {c}" for c in case.constants if c is not None)
    return case.text.replace(" D,", "").replace(",", "") + constants


_RUNS = [
    (case, arch, level) for case in CASES for arch, level in (("sm_90", 3), ("sm_90", 0), ("sm_80", 3)) if arch in case.targets
]


@pytest.mark.parametrize(("case", "arch", "level"), _RUNS, ids=[f"{arch}-O{level}-{_name(case)}" for case, arch, level in _RUNS])
def test_instruction(case: cases.Case, arch: str, level: int) -> None:
    rng = random.Random(f"{case.text} {case.constants}")
    kinds = case.kinds or case.sources
    inputs = [harness.values(kind, harness.THREADS, rng) for kind in kinds]
    for index, constant in enumerate(case.constants):
        if constant is not None:
            inputs[index] = [constant & (1 << harness.BITS[case.sources[index]]) - 1] * harness.THREADS
    text, results = harness.kernel(case.text, case.dest, case.sources, arch, case.constants)
    got = harness.run(text, inputs, results, arch, level)
    wrong = []
    for run in range(results):
        for thread in range(harness.THREADS):
            operands = [column[thread] for column in inputs]
            want = case.reference(*operands)
            if run == 1 and not thread & 1:
                if got[run][thread] != harness.sentinel(case.dest):
                    wrong.append((run, thread, "written although the guard is false", got[run][thread]))
                continue
            if not _equal(case, got[run][thread], want, operands):
                wrong.append((run, thread, [hex(o) for o in operands], f"got {got[run][thread]:#x}, want {want:#x}"))
    assert not wrong, wrong[:6]


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
