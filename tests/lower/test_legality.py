"""Lowering asks the one table of forms (oric.ir.legality) which sources may be constants: what it makes has a form, always."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oric.ir import legality as legal
from oric.ir.legality import legality_of
from oric.ir.text import all_instructions
from oric_tables.targets import TARGETS

from .support import launch, lowered, name, source

SOURCES = [("%r1", "7"), ("%r2", "0x12345"), ("%r3", "3")]
OPERATIONS = ["mad.lo.s32", "shf.l.wrap.b32", "lop3.b32", "bfe.u32", "prmt.b32", "add.s64"]


def _lines() -> list[str]:
    found = []
    for text in OPERATIONS:
        count = 2 if text == "add.s64" else 3
        tail = ", 0x6a" if text == "lop3.b32" else ""
        for chosen in itertools.product((0, 1), repeat=count):
            given = [SOURCES[at][which] for at, which in enumerate(chosen)]
            if text == "add.s64":
                given = [s.replace("%r", "%d") for s in given]
            if text.startswith("bfe"):  # its places and lengths are bytes
                given[1] = given[1].replace("0x12345", "0x45")
            found.append(f"{text} {'%d9' if text == 'add.s64' else '%r9'}, {', '.join(given)}{tail};")
    return found


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("line", _lines())
def test_sources_have_a_form(line: str, arch: str) -> None:
    (f,) = lowered(source(line, arch), arch).functions
    legality = legality_of(TARGETS[arch].isa_name)
    checked = 0
    for i in all_instructions(f):
        for at in range(f.count[i]):
            if legality.source_at(f.op[i], at) >= 0:
                assert legality.format_with(f, i, at, f.get(i, at)), name(f, i)
                checked += 1
    assert checked


@pytest.mark.parametrize("level", [0, 3])
def test_two_constants_where_one_fits(level: int) -> None:
    """One of them goes into a register."""
    body = """mov.b32 %r1, %i;
    mad.lo.s32 %r2, %r1, 7, 1000;
    shf.l.wrap.b32 %r3, 0x80000001, %r1, 5;
    mad.lo.s32 %r4, 11, 13, %r1;
    add.s64 %tid8, %tid8, %tid8; add.s64 %out, %out, %tid8;
    st.global.v4.u32 [%out], {%r2, %r3, %r4, %r1};"""
    out = launch(source(body), np.zeros(1), np.zeros((32, 4), np.uint32), level=level)
    for t in range(32):
        assert list(out[t]) == [7 * t + 1000, (t << 5 | 0x80000001 >> 27) & 0xFFFFFFFF, 143 + t, t]


@pytest.mark.parametrize(
    ("line", "operation", "kind"),
    [
        ("add.s32 %r9, %r1, 5;", "IADD3", legal.KIND_IMM),
        ("add.f32 %f9, %f1, 0f40000000;", "FADD", legal.KIND_IMM),
        ("add.f64 %g9, %g1, 0d4000000000000000;", "DADD", legal.KIND_IMM),
        ("add.f64 %g9, %g1, 0d4000000000000001;", "DADD", legal.KIND_GPR),
        ("sub.f32 %f9, %f1, 0f40000000;", "FADD", legal.KIND_IMM),
    ],
)
def test_constants_stay_in_the_instruction(line: str, operation: str, kind: int) -> None:
    (f,) = lowered(source(line)).functions
    (i,) = [i for i in all_instructions(f) if name(f, i) == operation]
    assert legal.kind_of(f, f.get(i, legality_of("sm_90").position(f.op[i], 1))) == kind
    if line.startswith("sub.f32"):
        assert f.imm_value(f.get(i, 2)) == 0xC0000000
