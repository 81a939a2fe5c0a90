"""Loads, stores and hints to caches with all combinations of their qualifiers: the operations that ptxas makes, and what they do.

What ptxas makes stands in ``tests/data/memory/operations.json`` (:mod:`tests.lower.memory_forms`).
"""

from __future__ import annotations

import re

import numpy as np
import oric
import pytest
from oric.sim import Modes
from oric_tables.targets import TARGETS

from . import memory_forms
from .memory_forms import forms, golden, operations, source

MODES = Modes(strict=True, memcheck=True)
POLICY = 0x14F0000000000000  # evict_last, all accesses
THREADS = 32
ANSWERS = golden()
OFTEN_ENOUGH = ("sm_80", "sm_100")  # their neighbours are tried in every run
ORDINARY = {(t, 3 * (n % 2)) for n, t in enumerate(t for t in memory_forms.TARGETS if t not in OFTEN_ENOUGH)}
_SCOPE = re.compile(r"\.STRONG\.\w+")
WITH_CODE = [target for target in memory_forms.TARGETS if target in TARGETS]


def expected(form: str, target: str) -> str:
    """What ptxas makes, but for relaxed loads with ``.L1::evict_first``: those are weak there (docs/deviations.md)."""
    if form.startswith("ld.relaxed") and "L1::evict_first" in form:
        return ANSWERS[form.replace("evict_first", "evict_last")][target].replace(".EL", ".EF")
    return ANSWERS[form][target]


def _same(form: str, target: str, made: str) -> bool:
    """Whether the operations are ptxas's, but for the scope of hinted accesses on sm_75 (docs/deviations.md)."""
    wanted = expected(form, target)
    if target == "sm_75" and "L1::" in form:
        return _SCOPE.sub("", made) == _SCOPE.sub("", wanted)
    return made == wanted


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("target", "level"),
    [
        pytest.param(target, level, marks=[pytest.mark.measure] * ((target, level) not in ORDINARY))
        for target in WITH_CODE
        for level in (0, 3)
    ],
)
def test_forms(target: str, level: int) -> None:
    """Every form has the operations, orders, scopes and waits that ptxas gives it, and moves its value."""
    chosen = [form for form in forms() if target in ANSWERS[form]]
    image = oric.compile(source(target, chosen), arch=target, opt_level=level).image
    made = operations(image, target)
    wrong = {form: is_ for form, is_ in zip(chosen, made, strict=True) if not _same(form, target, is_)}
    assert not wrong
    module = oric.sim.load(image)
    data = np.arange(1000, 1000 + THREADS, dtype=np.uint32)
    for number, form in enumerate(chosen):
        out = np.zeros(THREADS, np.uint32)
        done = module.launch(f"k{number}", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[data, out, POLICY], modes=MODES)
        assert not done.reports, (form, done.reports)
        moved = data if form.startswith(("ld", "st")) else np.zeros(THREADS, np.uint32)
        assert (out == moved).all(), form
