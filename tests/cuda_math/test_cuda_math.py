"""CUDA's mathematics API against the vendor's code, a few operands of each function (the command takes more)."""

from __future__ import annotations

import shutil

import pytest

from tests.e2e.conftest import LANES_LEFT_OUT

from .functions import GROUPS, functions
from .measure import BLOCK, measure

OPERANDS = 8 * BLOCK


@pytest.mark.measure
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_result_has_the_vendors_bits(group: str, target: str) -> None:
    if not shutil.which("nvcc") or not shutil.which("ptxas"):
        LANES_LEFT_OUT.append("nvcc or ptxas not found on PATH: CUDA's mathematics were NOT compared with the vendor's code")
        pytest.skip(LANES_LEFT_OUT[-1])
    assert [o for o in measure(group, target, OPERANDS) if o.problem] == []


def test_names_are_unique() -> None:
    names = [f.name for group in GROUPS for f in functions(group)]
    assert len(set(names)) == len(names) > 700
