"""The tables against code that ptxas made: the hazard checker finds nothing in it."""

from __future__ import annotations

import pytest
from oric.sass.check import check_cubin
from oric.support import elf

from tests.kernels.cases import files, golden_cubin

CASES = [(file, arch) for file in files() for arch in ("sm_80", "sm_90")]


@pytest.mark.parametrize(("file", "arch"), CASES)
def test_nothing_is_found_in_code_of_ptxas(file, arch):
    report = check_cubin(elf.read(golden_cubin(file, arch)))
    assert report.instructions
    assert (report.findings, report.unknown) == ([], [])
