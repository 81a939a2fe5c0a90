"""Whole programs as nvcc makes PTX of them: this compiler's code is clean, and it computes what numpy says."""

from __future__ import annotations

import shutil

import pytest

from tests.e2e.conftest import LANES_LEFT_OUT
from tests.ptx_text import kernels

from .measure import measure, sources

TARGETS = ("sm_80", "sm_90a")


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", sources())
def test_what_compiles_is_right(source: str, target: str) -> None:
    if not shutil.which("nvcc"):
        LANES_LEFT_OUT.append("nvcc not found on PATH: the programs of tests/sim/suite were NOT compiled")
        pytest.skip(LANES_LEFT_OUT[-1])
    assert [o for o in measure(source, target) if o.problem] == []


def test_a_module_is_cut_into_kernels() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    table = ".global .align 8 .b8 table[4] = {1, 2, 3, 4};\n"
    callee = ".func (.reg .b32 %r) f(.reg .b32 %a)\n{ mov.b64 %d, table; { ret; } }\n"
    other = ".global .u32 other;\n"
    ahead = ".func g();\n.const .b32 later;\n.func g()\n{ ld.const.u32 %r, [later]; }\n"
    third = ".entry third()\n{ call g; ret; }\n"
    first = ".visible .entry first(.param .u64 p)\n{ // } not the end\n call (%r1), f, (%r2); {a: bra a;} }\n"
    second = ".entry second()\n{ ret; }\n"
    found = kernels(head + table + ahead + callee + other + first + second + third)
    assert list(found) == ["first", "second", "third"]
    assert found["third"].split() == (head + ahead + third).split()  # in the order of the module: a name stands before its use
    assert "table[4]" in found["first"]
    assert ".func" in found["first"]
    assert "other" not in found["first"] + found["second"]
    assert "table" not in found["second"]
    assert found["first"].count("entry") == found["second"].count("entry") == 1
