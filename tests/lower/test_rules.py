"""The numbered lowering rules of the reference (spec/documented_rules.yaml): the operations that each becomes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric.lower import OriBuilder
from oric.ptx import parse_module
from oric.support.diagnostics import diagnostics_for
from oric_tables import ops
from oric_tables.targets import TARGETS
from oricgen.spec import Spec
from oricgen.tables import documented_rules

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


RULES = documented_rules.load(Spec(Path(__file__).resolve().parents[2] / "spec"))
TARGET = TARGETS[RULES.target]


def _operations(ptx: str) -> list[str]:
    """Mnemonics of what one instruction becomes; constants and entry code left out."""
    text = _HEAD + ptx + _TAIL
    diag = diagnostics_for(text, "rule.ptx")
    builder = OriBuilder(TARGET, diag.source)
    parse_module(text, "rule.ptx", builder, TARGET, diag)
    assert not diag.error_count, diag.render()
    line = _HEAD.count("\n") + 1
    (code,) = builder.ir.functions
    return [ops.OPS[ops.NUMBER[i.op]].name for i in code.instructions() if i.line == line]


@pytest.mark.parametrize("example", RULES.examples, ids=[f"{e.number}-{e.ptx}" for e in RULES.examples])
def test_rule(example: documented_rules.Example) -> None:
    want, got = example.emits, " ".join(_operations(example.ptx))
    if documented_rules.ANY in want:
        assert re.fullmatch(
            re.escape(want).replace(r"\*\ ", "(?:.* )?").replace(r"\ \*", "(?: .*)?").replace(r"\*", ".*"), got
        ), got
    else:
        assert got == want


def test_all_rules_are_here() -> None:
    assert {example.number for example in RULES.examples} == set(range(1, 103))
