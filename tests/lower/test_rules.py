"""The numbered lowering rules of the reference (spec/documented_rules.yaml): the operations that each becomes."""

from __future__ import annotations

import re

import pytest
from oric.lower.expand import PASSES
from oricgen.tables import documented_rules

from tests import specification
from tests.ir.functions import context

from .support import lowered, names

_HEAD = """.version 8.5
.target sm_90
.address_size 64
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.func (.param .b32 o) f (.param .b32 x) { .reg .b32 %r1; ld.param.u32 %r1, [x]; st.param.b32 [o], %r1; ret; }
.visible .entry k(.param .u32 p0)
{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>; .shared .align 4 .b32 cell;
.param .b32 px; .param .b32 qx; mov.b32 %r5, 0; st.param.b32 [px], %r5; mov.b64 %d5, 0; mov.b32 %r6, 0; mov.b32 %f5, %r6;
"""
_TAIL = "\nL: exit;\n}\n"


RULES = documented_rules.load(specification.spec())


def _operations(ptx: str) -> list[str]:
    """Mnemonics of what one instruction becomes, macros expanded; constants and entry code left out."""
    text = _HEAD + ptx + _TAIL
    (f,) = lowered(text, RULES.target).functions
    for expand in PASSES.values():
        expand(f, context())
    return names(f, line=_HEAD.count("\n") + 1)


@pytest.mark.row("R2-48", "R2-50", "R2-57")
@pytest.mark.parametrize("example", RULES.examples, ids=[f"{e.number}-{e.ptx}" for e in RULES.examples])
def test_rule(example: documented_rules.Example) -> None:
    want, got = example.emits, " ".join(_operations(example.ptx))
    if documented_rules.ANY in want:
        assert re.fullmatch(
            re.escape(want).replace(r"\*\ ", "(?:.* )?").replace(r"\ \*", "(?: .*)?").replace(r"\*", ".*"), got
        ), got
    else:
        assert got == want


@pytest.mark.row("R2-57")
def test_all_rules_are_here() -> None:
    assert {example.number for example in RULES.examples} == set(range(1, 103))
