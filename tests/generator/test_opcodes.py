"""The opcode table: complete, decoded, the same in YAML, Python and C."""

from __future__ import annotations

from pathlib import Path

import pytest
from oric_tables import _native, ops
from oric_tables import opcodes as generated
from oricgen.tables import dispatch, macros, opcodes

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
SPEC = specification.spec()
TABLE = opcodes.load(SPEC)


def test_counts() -> None:
    own = [o.id for o in TABLE.rows if o.id >= TABLE.own]  # families have ranges of their own, which are not full
    assert opcodes.counts(SPEC) == {
        "ids": 355, "ids documented": 215, "ids inferred": 26, "ids undocumented": 114, "range markers": 7,
        "ids of this project": len(own), "attribute bits": 11, "numbers of the second numbering": 11,
    }  # fmt: skip
    assert [o.id for o in TABLE.rows] == [*range(355), *own]
    assert own == sorted(set(own)) and own[0] == 512


def test_names_of_the_documents_decode() -> None:
    """The pairs that the documents print."""
    text = """
        VZNQ IMAD VNQQ3 IADD3 SSZN FFMA SNQQ FADD SZHY FMUL ZBI MOV FRY SEL YBC3 LOP3 VFRGC ISETP SFRGC FSETP YRN LEA FUS SHF
        ZHSH MUFU YQT LDG FGT STG YQP LDC YQY LDL YQF LDS NGBZ ATOM ONE BAR OEN BRA PNYY CALL ERG RET RKVG EXIT GRK TEX
        ZRZONE MEMBAR JNECFLAP WARPSYNC C2E P2R E2C R2P ABC NOP OFFL BSSY OFLAP BSYNC QRCONE DEPBAR QZHY DMUL FGF STS
    """
    pairs = text.split()
    for encoded, name in zip(pairs[::2], pairs[1::2], strict=True):
        assert TABLE.by_name[name].rot13 == encoded
    known = {"FADD": 12, "MOV": 19, "RET": 72, "EXIT": 77, "STS": 95, "CALL": 71, "HSETP2": 131, "TTUCCTL": 162}
    assert {name: TABLE.by_name[name].id for name in known} == known
    assert all(TABLE.by_name[name].basis == "documented" for name in known)


def test_mnemonics_of_the_dispatch_table_are_documented_names() -> None:
    named = {n for row in SPEC.load("dispatch.yaml")["rows"] for n in row.get("names", ()) if n != "undocumented"}
    assert len(named) == 211
    assert {TABLE.by_name[n].basis for n in named} == {"documented"}


def test_second_numbering() -> None:
    values = [47, 72, 91, 92, 95, 155, 173, 183, 267, 268, 288]
    assert sorted(generated.IR_CONST) == values
    assert sorted(v for o in TABLE.rows for v in o.ir_const) == values
    assert TABLE.by_id[47].name == "I2F"  # the numbers identify nothing


@pytest.mark.row("R1-24")
@pytest.mark.parametrize(("word", "base"), [(0x30B7, 183), (0x2089, 0x89), (0x0C, 12), (0x1200, 512), (0xFFFFFFFF, 0xFFFFCFFF)])
def test_base_opcode(word: int, base: int) -> None:
    assert generated.base_opcode(word) == base
    assert _native.lib.oric_base_opcode(word) == base


def test_throughput_class_goes_by_operand_form() -> None:
    assert generated.throughput_class(0x0C) == generated.throughput_class(0x0C, "register") == 0x3D
    assert generated.throughput_class(0x300C, "constant") == 0x78
    with pytest.raises(KeyError):
        generated.throughput_class(11)


def test_python_and_c_agree() -> None:
    lib, ffi = _native.lib, _native.ffi
    table = lib.oric_opcode_attributes
    assert (table.ids, ffi.sizeof(table), ffi.sizeof(table.words)) == (355, 8 + 1420, 1420)
    assert ffi.sizeof("oric_opcode_name") == 16
    assert list(table.words) + list(lib.oric_own_attributes) == list(generated.ATTRIBUTES)
    rows = list(lib.oric_opcode_names) + list(lib.oric_own_names)
    assert [ffi.string(r.name, r.length).decode() if r.name else "" for r in rows] == list(generated.NAMES)
    assert all(r.length == len(n) and (not n or r.name[len(n)] == b"\0") for r, n in zip(rows, generated.NAMES, strict=True))
    for word in range(0x4000):
        try:
            expected = generated.attributes(word)
        except KeyError:
            expected = 0
        assert lib.oric_attributes_of(word) == expected
    for a in TABLE.attributes:
        assert getattr(lib, f"ORIC_A_{a.name.upper()}") == getattr(generated, f"A_{a.name.upper()}") == 1 << a.bit


def test_specification_and_python_agree() -> None:
    for o in TABLE.rows:
        at = generated.index(o.id)
        assert (generated.NAMES[at], generated.ATTRIBUTES[at], generated.CATEGORIES[at]) == (o.name, TABLE.word(o), o.category)
        assert (o.id in generated.MARKERS) == (o.kind == "marker")
    assert generated.ids() == {o.name: o.id for o in TABLE.rows if o.name}
    for word in (355, 511, 537, 0xFFF, -1):
        with pytest.raises(KeyError):
            generated.name(word)


def test_attributes() -> None:
    def named(name: str) -> set[str]:
        word = generated.attributes(generated.ids()[name])
        return {a.name for a in TABLE.attributes if word >> a.bit & 1}

    assert named("STG") == {"valid", "side_effect", "writes_memory"}
    assert named("LDG") == {"valid", "reads_memory"}
    assert named("FADD") == {"valid"}
    assert named("ATOMG") == {"valid", "side_effect", "reads_memory", "writes_memory", "atomic"}
    assert named("RED") == {"valid", "side_effect", "writes_memory", "atomic"}
    assert named("BRA") == {"valid", "side_effect", "control_flow"}
    assert named("VIADD") == {"valid", "sm_90_on"}
    assert named("MEMBAR") == {"valid", "side_effect", "serializing"}
    assert "cluster_aware" in named("CGABAR_WAIT")
    assert "late_expansion" in named("INTRINSIC")  # what a division is until the late phases
    assert named("SM90_LAST") == set()
    assert all(generated.ATTRIBUTES[o.id] == 0 for o in TABLE.rows if o.basis == "undocumented")


@pytest.mark.row("R2-45")
def test_markers_are_no_instructions() -> None:
    markers = {"SM86_FIRST", "SM89_LAST", "SM90_LAST", "SM100_FIRST", "SM100_LAST", "SM104_FIRST", "LAST"}
    assert TABLE.markers == markers
    own = {operation.number for operation in macros.load(SPEC)}
    used = {op.word & generated.SUB_MASK for op in ops.OPS if op is not None and op.number not in own}
    assert len(used) > 200 and own
    assert not used & generated.MARKERS
    assert all(generated.NAMES[generated.index(word)] for word in used)


def test_flat_listing_has_one_line_an_id() -> None:
    lines = (ROOT / "build" / "flat" / "opcodes.txt").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert [int(line.split()[0]) for line in rows] == [o.id for o in TABLE.rows]
    goes = dispatch.load(SPEC).by_id
    assert all((goes[o.id].text in line) for o, line in zip(TABLE.rows, rows, strict=True) if o.id in goes)
