"""Every form of wgmma and tcgen05 has code on every target that takes it, which the hazard checker finds nothing in."""

from __future__ import annotations

import oric
import pytest
from oric.sass.check import check_cubin
from oric.support import elf

from tests import coverage

TENSOR = ["sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"]
EVERY = [("warpgroup", "sm_90a"), *(("tensor_memory", target) for target in TENSOR)]
SOME = [
    ("warpgroup", "sm_90a", 97),
    ("tensor_memory", "sm_100a", 53),
    ("tensor_memory", "sm_103a", 61),
    ("tensor_memory", "sm_110f", 67),
]


def check(family: str, target: str, step: int, level: int) -> None:
    """Each form that is a multiple of ``step`` behind the first."""
    for text in coverage.texts(family, target)[::step]:
        image = oric.compile(coverage.source(target, text), arch=target, opt_level=level).image
        assert not check_cubin(elf.read(image)).findings, text


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("family", "target", "step"), SOME)
def test_some_forms(family: str, target: str, step: int, level: int) -> None:
    check(family, target, step, level)


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize(("family", "target"), EVERY)
def test_every_form(family: str, target: str, level: int) -> None:
    check(family, target, 1, level)
