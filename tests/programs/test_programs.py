"""Whole programs as nvcc makes PTX of them: this compiler's code is clean, and it computes what numpy says."""

from __future__ import annotations

import shutil

import pytest

from bench.programs import held_out
from tests.cubin.loader_facts import ptxas_image
from tests.e2e.conftest import LANES_LEFT_OUT
from tests.programs.measure import TARGETS, entries, measure
from tests.programs.stored import FILE, sources, wanted
from tests.ptx_text import kernels

SAMPLE = [("strings", "sm_120a"), ("cooperation", "sm_80")]  # the quick lane
LEAST = 340  # programs


def vendor(text: str, target: str) -> bytes | None:
    """ptxas's cubin; None without ptxas, and the summary says so."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        LANES_LEFT_OUT.append("ptxas not found on PATH: programs were NOT run as the vendor compiles them")
        return None
    return ptxas_image(ptxas, text, target)


@pytest.mark.parametrize(("source", "target"), SAMPLE)
def test_a_sample_is_right(source: str, target: str) -> None:
    assert [o for o in measure(source, target) if o.problem or o.refusal] == []


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", sources())
def test_what_compiles_is_right(source: str, target: str) -> None:
    assert [o for o in measure(source, target, vendor=vendor) if o.problem] == []


def test_there_are_enough_and_all_have_stored_ptx() -> None:
    found = {(source, target): entries(source, target) for source in sources() for target in wanted(source)}
    assert all(found.values())
    assert len({entry.name for some in found.values() for entry in some}) >= LEAST
    assert FILE.stat().st_size < 2_500_000


NEWEST = ("graphs", "learning", "media", "science")


def test_a_third_is_held_out_and_most_of_the_newest_sources() -> None:
    found = {source: [held_out(source, entry.name) for entry in entries(source, "sm_90a")] for source in sources()}
    for source in NEWEST:
        assert len(found[source]) > 8 and sum(found[source]) >= 0.75 * len(found[source]), "but for those that were looked at"
    others = [mark for source, marks in found.items() if source not in NEWEST for mark in marks]
    assert 0.25 < sum(others) / len(others) < 0.42


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
