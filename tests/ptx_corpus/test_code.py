"""Modules of other compilers: all scalar ones have code, and its schedule is clean; those that are refused are known by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import oric
import pytest
from oric.sass.diff import Difference, differences
from oric.sass.loader_view import view
from oric.support import elf

from tests.cubin.loader_facts import plain, ptxas_image
from tests.cubin.test_loader import first_form
from tests.e2e.conftest import ptxas  # noqa: F401

from . import archive, code
from .code import REFUSABLE, Judged, judge

SAMPLE = 120_000  # characters of each compiler's modules that the quick lane compiles
MOST_REFUSED = 0
LEAST_COMPARED = 240
UNWRITTEN = ("NUM_MBARRIERS", "MBARRIER_INSTR_OFFSETS", "REG_RECONFIG")  # records for tools that look into code
# Modules with tables of functions, and facts that tell what fills those in: the address of a function is the code's affair.
FUNCTIONS = {"llc/programs3": ("visits", ".rela.nv.global.init")}
# What differs in modules that ask textures, in one whose kernels have parameters of several sizes, and in two whose assertions
# about constants hold, so that nothing calls what tells that they do not (docs/deviations.md).
QUERY = re.compile(r"\b(txq|suq)\.")
OF_QUERIES = (".nv.callgraph", " -> ", "MAX_STACK_SIZE ")
HEADERS = {
    "llc/textures.sm_90.llc19.ptx": (".nv.constant0.",),
    **{f"nvcc/small_floats.sm_{sm}.G.ptx": ("__assertfail",) for sm in (80, 90)},
}
# Only modules that call through registers have their kernels in another order.
BY_REGISTER = re.compile(r"\.call(prototype|targets)\b")
LEVELS = (0, 3)


def wrong(most: int, level: int) -> list[Judged]:
    """Modules whose code is wrong, or that are refused for something else than the table says."""
    table = code.refused()
    found = [judge(module, level) for module in code.modules(most)]
    return [one for one in found if one.problem or one.refused != table.get(one.name, frozenset())]


@pytest.mark.parametrize("level", LEVELS)
def test_a_sample_has_code(level: int) -> None:
    assert wrong(SAMPLE, level) == []


@pytest.mark.measure
@pytest.mark.parametrize("level", LEVELS)
def test_all_scalar_modules_have_code(level: int) -> None:
    assert wrong(0, level) == []


def _without_order(found: Sequence[Difference]) -> list[Difference]:
    """Without the order of sections in a segment, where it is that of kernels: it means nothing."""

    def parts(side: Any) -> list[Any]:
        covered = side["covers"] if isinstance(side, dict) else side
        return sorted(covered) if isinstance(covered, list) else [side]

    segments = [d for d in found if d.key.kind == "segment"]
    ours = [parts(d.a) for d in segments if d.a is not None]
    theirs = [parts(d.b) for d in segments if d.b is not None]
    moved = [d for d in segments if parts(d.a or d.b) in ours and parts(d.b or d.a) in theirs]
    return [d for d in found if d not in moved]


@pytest.mark.measure
def test_a_loader_sees_what_ptxas_says(ptxas: str) -> None:  # noqa: F811
    """The vendor's cubin of a module and ours load alike; records that point into code of kinds that ours lacks are left out."""
    found = {}
    for module in code.modules():
        if module.name in code.refused():
            continue
        theirs = ptxas_image(ptxas, module.text, module.target)
        if theirs is not None:  # a module of functions alone may call what is nowhere
            ours = oric.compile(module.text, arch=module.target).image
            both = [first_form(plain(view(elf.read(image)))) for image in (ours, theirs)]
            facts = differences(*both)
            if BY_REGISTER.search(module.text):
                facts = _without_order(facts)
            left_out = (*UNWRITTEN, *FUNCTIONS.get(module.name.split(".")[0], ()))
            told = (*(OF_QUERIES if QUERY.search(module.text) else ()), *HEADERS.get(module.name, ()))
            facts = [d for d in facts if not any(part in d.key.name for part in told)]
            found[module.name] = [d for d in facts if not d.key.name.endswith(left_out)]
    assert len(found) >= LEAST_COMPARED
    assert {name: facts for name, facts in found.items() if facts} == {}


def test_only_what_is_known_to_have_no_code_is_refused() -> None:
    table = code.refused()
    assert {name: words - REFUSABLE for name, words in table.items() if not words <= REFUSABLE} == {}
    stored = {f"{compiler}/{name}" for compiler in archive.COMPILERS for name, _ in archive.modules(compiler)}
    assert table.keys() <= stored
    assert len(table) <= MOST_REFUSED


def test_a_reason_is_what_the_compiler_says() -> None:
    head = ".version 8.8\n.target sm_100\n.address_size 64\n.extern .func f;\n.entry k()\n{\n"
    pair = ".reg .b64 %d<3>;\n.reg .b32 %r<3>;\nst.async.global.v2.b32 [%d1], {%r1, %r2}, [%d2];\n"
    with pytest.raises(oric.CompileError) as error:
        oric.compile(head + f"{pair}call f;\nret;\n}}\n", arch="sm_100")
    assert code.reasons(error.value) == {
        "'st.async.global.v2.b32' is not supported for sm_100 yet"
    }  # what is nowhere is told where nothing else is wrong
    with pytest.raises(oric.CompileError) as error:
        oric.compile(head + "call f;\nret;\n}\n", arch="sm_100")
    assert code.reasons(error.value) == {code.ELSEWHERE}
