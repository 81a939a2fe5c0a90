"""The mapping tables, against the documents' numbers and against the machine words that come out."""

from __future__ import annotations

import pytest
from oric import compile as compile_ptx
from oric.sass import decode
from oric.support.elf import read
from oric_tables.targets import TARGETS
from oricgen.tables import mapping

from tests import specification

SPEC = specification.spec()
SECTIONS = mapping.load(SPEC)
ROWS = {section: [row.values for row in rows] for section, rows in SECTIONS.items()}
ROUNDING = 0b11 << 78  # where FADD and DADD have it
# a destination, sources and the store of a result, by type
_BODY = {
    "f16": "{op} %h1, %h2, %h3; st.global.b16 [%d0], %h1;",
    "bf16": "{op} %h1, %h2, %h3; st.global.b16 [%d0], %h1;",
    "f32": "{op} %f1, %f2, %f3; st.global.f32 [%d0], %f1;",
    "f64": "{op} %g1, %g2, %g3; st.global.f64 [%d0], %g1;",
    "s32": "{op} %r1, %r2, %r3; st.global.u32 [%d0], %r1;",
    "u32": "{op} %r1, %r2, %r3; st.global.u32 [%d0], %r1;",
    "b32": "{op} %r1, %r2, %r3; st.global.u32 [%d0], %r1;",
    # predicates that no comparison alone makes: such a one would take the other condition itself
    "pred": "@%p3 setp.eq.u32 %p2, %r2, 7; @%p2 setp.eq.u32 %p3, %r3, 9; {op} %p1, %p2, %p3; "
    "selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d0], %r1;",
}
_COMPARE = "{op} %p1, %{r}2, %{r}3; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d0], %r1;"


def _text(body: str, arch: str = "sm_90") -> bytes:
    """The machine words of a kernel with registers loaded from memory around ``body``."""
    ptx = f""".version 9.0
.target {arch}
.address_size 64
.visible .entry k(.param .u64 p)
{{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %g<4>;
ld.param.u64 %d0, [p]; ld.global.b16 %h2, [%d0+2]; ld.global.b16 %h3, [%d0+4]; ld.global.u32 %r2, [%d0+8];
ld.global.u32 %r3, [%d0+12]; ld.global.u64 %d2, [%d0+16]; ld.global.u64 %d3, [%d0+24]; ld.global.f32 %f2, [%d0+32];
ld.global.f32 %f3, [%d0+36]; ld.global.f64 %g2, [%d0+40]; ld.global.f64 %g3, [%d0+48];
setp.ne.u32 %p2, %r2, 0; setp.ne.u32 %p3, %r3, 0;
{body}
ret;
}}
"""
    (function,) = read(compile_ptx(ptx, arch).image).functions.values()
    return function.text


def _words(code: bytes) -> list[int]:
    return [int.from_bytes(code[at : at + 16], "little") for at in range(0, len(code), 16)]


def test_counts() -> None:
    counts = mapping.counts(SPEC)
    assert (counts["type prefixes"], counts["state spaces"], counts["field namespaces"], counts["comparison aliases"]) == (
        8,
        6,
        7,
        4,
    )
    assert [row["prefix"] for row in ROWS["types"]] == ["H", "H", "F", "D", "I", "I", "none", "P"]
    assert all(row["source"] for rows in ROWS.values() for row in rows)


def test_documented_numbers() -> None:
    """PTX-to-Ori lowering, Tables 1 to 3."""
    spaces = {row["space"]: (row["load"], row["store"], row["atomic"], row["value"]) for row in ROWS["spaces"]}
    assert spaces["generic"] == ("LD", "ST", "ATOM", 1435)
    assert spaces["global"] == ("LDG", "STG", "ATOMG", 1436)
    assert spaces["shared"] == ("LDS", "STS", "ATOMS", 1437)
    assert spaces["local"] == ("LDL", "STL", "none", 1438)
    assert (spaces["const"][3], spaces["param"][3]) == (1439, 1440)
    fields = {row["field"]: row["values"] for row in ROWS["namespaces"]}
    assert sorted(fields) == [22, 126, 150, 281, 300, 301, 345]
    assert fields[22] == {"unsigned": 99, "signed": 101}
    assert fields[126] == {"f32": 547, "f64": 548}
    assert list(fields[345].values()) == [1900, 1901, 1902, 1903]
    rounding = {row["modifier"]: row for row in ROWS["modifiers"] if row.get("set") == "rnd"}
    assert {name: row["hardware"] for name, row in rounding.items()} == {"rn": [0], "rm": [1], "rp": [2], "rz": [3]}
    assert {name: row["encoding"]["value"] for name, row in rounding.items()} == {"rn": 1513, "rz": 1514, "rm": 1515, "rp": 1516}
    assert rounding["rz"]["documented"] == 1515


@pytest.mark.row("R2-60")
@pytest.mark.parametrize("row", ROWS["types"], ids=[row["class"] for row in ROWS["types"]])
def test_examples_begin_with_the_letter(row: dict[str, dict[str, str]]) -> None:
    """On sm_90 every example becomes the documented opcode."""
    example = row["example"]
    body = _BODY[example["ptx"].rpartition(".")[2]].replace("{op}", example["ptx"])
    mnemonics = {instruction.mnemonic.partition(".")[0] for instruction in decode(_text(body), "sm_90")}
    assert example["sass"] in mnemonics


@pytest.mark.row("R2-64")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("row", ROWS["aliases"], ids=[row["alias"] for row in ROWS["aliases"]])
@pytest.mark.parametrize("type_", ["u16", "u32", "u64"])
def test_aliases_have_the_same_words(row: dict[str, str], type_: str, arch: str) -> None:
    register = {"u16": "h", "u32": "r", "u64": "d"}[type_]
    alias, other, opposite = (
        _text(_COMPARE.replace("{op}", f"setp.{word}.{type_}").replace("{r}", register), arch)
        for word in (row["alias"], row["of"], {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[row["of"]])
    )
    assert alias == other
    assert alias != opposite


@pytest.mark.row("R2-62")
@pytest.mark.parametrize("arch", [name for name in TARGETS if TARGETS[name].variant == ""])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_rounding_modes_differ_in_two_bits(type_: str, arch: str) -> None:
    """The mode is the number of bits 78 and 79: RN 0, RM 1, RP 2, RZ 3."""
    modes = {row["modifier"]: row["hardware"][0] for row in ROWS["modifiers"] if row.get("set") == "rnd"}
    words = {mode: _words(_text(_BODY[type_].replace("{op}", f"add.{mode}.{type_}"), arch)) for mode in modes}
    for mode, number in modes.items():
        assert len(words[mode]) == len(words["rn"])
        different = [(a, b) for a, b in zip(words["rn"], words[mode], strict=True) if a != b]
        assert [a ^ b for a, b in different] == ([number << 78] if number else [])
    rm_rz = [a ^ b for a, b in zip(words["rm"], words["rz"], strict=True) if a != b]
    assert len(rm_rz) == 1
    assert rm_rz[0] & ~ROUNDING == 0
