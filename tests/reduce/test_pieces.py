"""Modules in pieces, and what can be left out of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from oric.ptx import format_text, parse
from oric.reduce import pieces as parts

from tests.kernels import cases
from tests.reduce.modules import large

FILES = sorted(cases.HERE.glob("*.sm_90.ptx"))
BODY = """
.version 8.0
.target sm_90
.address_size 64
// a comment
.func (.param .b32 r) f(.param .b32 a, .param .b32 b)
{
    ret;
}
.visible .entry k(.param .u64 p) .maxntid 128, 1, 1
{
    .reg .b32 %r<9>, %s; /* another */
    .loc 1 2 3
    {
        .reg .b32 t;
        mov.u32 t, 7;
    }
L:  @%p1 bra L;
    { add.s32 %r1, %r2, 3; }
}
"""
SECTION = BODY + '.section .debug_str\n{\n$str:\n.b8 65, 0\n}\n.file 1 "a.cu"\n'


def words(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_pieces_are_the_module(path: Path) -> None:
    """All of it, in order; without comments nothing but the comments is gone; it parses as before."""
    text = path.read_text()
    assert words(parts.text_of(parts.pieces_of(text))) == words(text)
    bare = parts.without_comments(text)
    assert "//" not in bare and format_text(parts.text_of(parts.pieces_of(bare))).count(";") == format_text(text).count(";")
    before, after = parse(text), parse(parts.text_of(parts.pieces_of(bare)))
    assert [len(body.statements) for body in before.bodies] == [len(body.statements) for body in after.bodies]


def test_bodies_and_what_stands_in_them() -> None:
    pieces = parts.pieces_of(SECTION)
    blocks = parts.blocks_of(pieces)
    spans = [[" ".join(pieces[a:b]).split()[:2] for a, b in block] for block in blocks]
    assert len(spans[0]) == 8 and spans[0][3][0] == "//" and spans[0][4][0] == ".func" and spans[0][5][0] == ".visible"
    assert [span[0] for span in spans[0][6:]] == [".section", ".file"]
    assert [block for block in spans if ["ret;"] in block] == [[["ret;"]]]
    (body,) = [block for block in spans if ["L:"] in block]
    assert [span[0] for span in body] == [".reg", "/*", ".loc", "{", "L:", "@%p1", "{"], "a line of .loc is no header"


def test_chunks_leave_out_whole_spans() -> None:
    pieces = parts.pieces_of(BODY)
    for size in (1, 2, 3, 100):
        for edit in parts.chunks(pieces, size):
            left = edit.on(pieces)
            assert left.count("{") == left.count("}") and len(left) < len(pieces)
    whole = [edit.on(pieces) for edit in parts.chunks(pieces, 100)]
    assert [] in whole and any("ret;" not in left and ".func" in "".join(left) for left in whole)
    assert any("mov.u32 t, 7;" in left and left.count("{") == pieces.count("{") - 1 for left in
               (edit.on(pieces) for edit in parts.opened(pieces)))  # fmt: skip


SMALLER = [
    ("@!%p1 add.sat.s32 %r1, %r2, 3;", [
        "add.sat.s32 %r1, %r2, 3;", "@!%p1 add.s32 %r1, %r2, 3;", "@!%p1 add.sat %r1, %r2, 3;", "@!%p1 add.sat.s32 %r1, 0, 3;",
        "@!%p1 add.sat.s32 %r1, %r2, 0;"]),
    ("ld.global.v2.f32 {%f1, %f2}, [%rd1+16];", [
        "ld.global.v2.f32 {%f1, %f2}, [%rd1];", "ld.v2.f32 {%f1, %f2}, [%rd1+16];"]),
    ("fma.rn.f32 %f1, %f2, 0f3F800000, %f3;", [
        "fma.rn.f32 %f1, %f2, 0, %f3;", "fma.rn.f32 %f1, 0f00000000, 0f3F800000, %f3;"]),
    (".reg .b32 %r<9>, %s, t;", [
        ".reg .b32 %r<3>, %s, t;", ".reg .b32 %s, t;", ".reg .b32 %r<9>, t;", ".reg .b32 %r<9>, %s;"]),
    (".visible .entry k(.param .u64 p, .param .u32 n) .maxntid 128, 1, 1", [
        ".entry k(.param .u64 p, .param .u32 n) .maxntid 128, 1, 1", ".visible .entry k(.param .u64 p, .param .u32 n)",
        ".visible .entry k(.param .u64 p) .maxntid 128, 1, 1", ".visible .entry k(.param .u32 n) .maxntid 128, 1, 1"]),
    (".visible .entry k(.param .u64 p)", [".visible .entry k()"]),
    (".visible .global .align 4 .b8 cell[64];", [".global .align 4 .b8 cell[64];", ".visible .global .b8 cell[64];"]),
]  # fmt: skip


@pytest.mark.parametrize(("piece", "smaller"), SMALLER)
def test_what_becomes_of_a_piece(piece: str, smaller: list[str]) -> None:
    pieces = ["add.s32 %r2, %r1, %r2;", piece]
    found = [edit.pieces[0] for edit in parts.details(pieces) if edit.start == 1]
    assert set(smaller) <= set(found), found
    assert piece not in found and len(found) == len(set(found))


@pytest.mark.parametrize("piece", ["ret;", "L:", "bra 0;", "mov.u32 0, 0;", ".reg .b32 t;", "// text", "@@DWARF .b8 1"])
def test_steps_end(piece: str) -> None:
    """Making a piece smaller over and over ends, whatever of it is taken each time."""
    left, seen = [piece], {piece}
    while left:
        one = left.pop()
        for edit in parts.details([one]):
            if edit.pieces[0] not in seen:
                seen.add(edit.pieces[0])
                left.append(edit.pieces[0])
    assert len(seen) < 50


def test_an_instruction_is_bypassed() -> None:
    pieces = ["popc.b32 %r1, %r12;", "@%p1 add.s32 %r2, %r1, %r12;", "st.global.u32 [%rd1], %r2;", "L:"]
    found = [list(edit.on(pieces)) for edit in parts.bypassed(pieces)]
    assert found[0] == ["@%p1 add.s32 %r2, %r12, %r12;", "st.global.u32 [%rd1], %r2;", "L:"]
    assert found[1:3] == [[pieces[0], f"st.global.u32 [%rd1], {r};", "L:"] for r in ("%r1", "%r12")]


def test_registers_get_the_lowest_numbers() -> None:
    pieces = [
        ".reg .b32 %r<90>;",
        ".reg .b64 %rd<9>;",
        ".reg .b32 %other7;",
        "add.s32 %r12, %r80, %other7;",
        "mov.u64 %rd7, %rd7;",
    ]
    (edit,) = parts.renumbered(pieces)
    left = edit.on(pieces)
    assert left[3:] == ["add.s32 %r0, %r1, %other7;", "mov.u64 %rd0, %rd0;"] and parts.renumbered(left) == []


def test_a_large_module_has_bodies_of_hundreds() -> None:
    assert len(large().splitlines()) > 2500 and parts.longest(parts.pieces_of(parts.without_comments(large()))) > 300
