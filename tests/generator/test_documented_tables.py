"""Tables of the documents that nothing compiles yet: complete, and with the numbers that the documents give."""

from typing import Any

import pytest
from oricgen.rows import Row
from oricgen.tables import containers, dumps, knobs, layouts, progress, ptx_nodes, section_tags, statistics, symbols

from tests import specification

SPEC = specification.spec()
TABLES = (containers, dumps, knobs, layouts, progress, ptx_nodes, section_tags, statistics, symbols)


def column(rows: tuple[Row, ...], key: str, name: str) -> dict[Any, Any]:
    return {row.values[key]: row.values[name] for row in rows}


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.NAME)
def test_rows_have_a_key_a_source_and_a_place(table) -> None:  # type: ignore[no-untyped-def]
    rows = table.rows(SPEC)
    assert rows and all(row.values["source"] and row.line > 1 and row.path == f"spec/{table.FILES[0]}" for row in rows)
    lines = (SPEC.root / table.FILES[0]).read_text(encoding="utf-8").splitlines()
    assert all(lines[row.line - 1].lstrip().startswith("- {") for row in rows)
    assert len({row.key for row in rows}) == len(rows)


def test_counts() -> None:
    assert statistics.counts(SPEC) == {"statistics fields": 47, "float fields": 13, "lines of the profile": 9}
    assert section_tags.counts(SPEC) == {"base tags": 26, "extended tags": 20, "tags around the sections": 2, "tags in all": 48}
    assert knobs.counts(SPEC)["knob types"] == 13
    assert knobs.counts(SPEC)["knobs named by number"] == 5
    assert progress.counts(SPEC)["progress values"] == 21
    assert ptx_nodes.counts(SPEC) == {"operand nodes": 11, "builder nodes": 17, "storage classes": 10, "operand classes": 12}
    assert symbols.counts(SPEC)["internal symbols"] == 8
    assert containers.counts(SPEC)["analysis pairs"] == 17
    assert layouts.counts(SPEC)["fields of the Code Object"] == 83
    assert layouts.counts(SPEC)["fields of the compilation context"] == 251


def test_statistics_fields() -> None:
    fields = statistics.load(SPEC)["fields"]
    index = column(fields, "text", "index")
    expected = {
        "[est latency = %d]": 8,
        "[Occupancy = %f]": 26,
        "[programSize=%d]": 29,
        "[est trancedental=%d]": 307,
        "[tepid=%d]": 342,
    }
    assert {text: index[text] for text in expected} == expected
    names = column(fields, "name", "offset")
    assert [names[n] for n in ("ur_count_stats", "r_alloc", "r_reserved", "instr_hi", "instr_lo")] == [396, 408, 636, 1340, 1364]
    floats = [row.values["index"] for row in statistics.load(SPEC)["floats"]]
    assert floats == [9, 26, 50, 54, 57, 58, 59, 61, 62, 65, 84, 85, 86]


def test_profile_of_the_document() -> None:
    """The lines with the document's values are the document's sample."""
    values = {
        "instructions": 142,
        "total_regs": 24,
        "est_latency": 87,
        "occupancy": 0.75,
        "worst_case_lat": 87,
        "avg_case_lat": 52.5,
    }
    floats = iter([0.888889, 0, 0])
    lines = []
    for row in statistics.load(SPEC)["lines"]:
        filled = tuple(next(floats) if n == "undocumented" else values.get(n, 0) for n in row.values["values"])
        lines.append(row.values["text"] % filled)
    assert lines == [
        "# 142 instructions, 24 R-regs",
        "# [inst=142] [texInst=0] [tepid=0] [rregs=24]",
        "# [est latency = 87] [LSpillB=0]",
        "# [Occupancy = 0.750000]",
        "# [issue thru=0.888889] [fp thru=0.000000]",
        "# [worstcaseLat=87.000000]",
        "# [avgcaseLat=52.500000]",
        "# [SharedMem Alloc thru=0.000000]",
        "# [instHint=0] [instPairs=0]",
    ]


def test_knobs() -> None:
    assert knobs.defaults(SPEC) == {391: -1, 684: 50, 740: 0.045}
    assert [row.values["name"] for row in knobs.load(SPEC)["types"]][:3] == ["unset", "bool", "int"]
    assert list(column(knobs.load(SPEC)["slot"], "field", "offset").values()) == [0, 8, 16, 24, 64]


def test_section_tags() -> None:
    tags = [row.values["tag"] for row in section_tags.load(SPEC)["tags"]]
    base = [1, 3, 16, 17, 19, 34, 35, 46, 50, 51, 53, 54, 55, 56, 58, 59, 64, 68, 70, 71, 73, 80, 81, 83, 85, 88]
    assert tags == [*base, *range(4616, 4634), 4640, 4641]


def test_progress() -> None:
    assert [row.values["value"] for row in progress.load(SPEC)["progress"]] == [*range(6), *range(7, 22)]


def test_nodes() -> None:
    assert [row.values["node"] for row in ptx_nodes.load(SPEC)["nodes"]] == [0, 2, 3, 4, 5, 6, 9, 11, 12, 14, 16, "default"]
    assert [row.values["class"] for row in ptx_nodes.load(SPEC)["storage"]] == [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]


def test_builder_nodes_of_operands() -> None:
    """Binary expressions become 131 or 162, signs 71, addresses 131 or 144; casts, parentheses and lists nothing of their own."""
    found = ptx_nodes.load(SPEC)
    assert column(found["binary"], "tag", "builds") == {12: 131, 13: 162}
    builds = column(found["nodes"], "name", "builds")
    assert {name: builds[name] for name in ("binary", "unary", "address", "cast", "parentheses", "list", "predicate")} == {
        "binary": [131, 162], "unary": [71], "address": [131, 144], "cast": [], "parentheses": [], "list": [], "predicate": [],
    }  # fmt: skip


def test_size_classes() -> None:
    """The entry of ``min(class, 4)``; 255 for what has no class."""
    table = [row.values["size"] for row in ptx_nodes.load(SPEC)["sizes"]]
    assert len(table) == 6 and table[5] == 255
    widths = {1: 255, 2: 255, 4: 255, 8: 0, 16: 1, 32: 2, 64: 3, 128: 4, 256: 4, 1024: 4}
    assert {bits: ptx_nodes.size_of(SPEC, bits) for bits in widths} == {
        bits: 255 if class_ == 255 else table[min(class_, 4)] for bits, class_ in widths.items()
    }


def test_hash_constants() -> None:
    constants = column(containers.load(SPEC)["constants"], "name", "value")

    def fnv1a(key: int) -> int:
        value = constants["FNV1A_INIT"]
        for byte in key.to_bytes(4, "little"):
            value = (value ^ byte) * constants["FNV1A_PRIME"] & 0xFFFFFFFF
        return value

    assert [fnv1a(key) for key in (0, 1, 300)] == [0x4B95F515, 0xFB69B604, 0x52E8202E]


def test_field_maps() -> None:
    rows = layouts.load(SPEC)["fields"]
    fields = {(row.values["struct"], row.values["field"]): row.values["offset"] for row in rows}
    expected = {
        ("context", "current_ori_insn"): 232, ("context", "function_table_buffer"): 296,
        ("context", "opcode_attribute_table"): 776,
        ("context", "pipeline_progress"): 1552, ("context", "sm_backend"): 1584, ("context", "knob_container"): 1664,
        ("code_object", "reg_file"): 88, ("code_object", "succ_map"): 648, ("code_object", "rpo_array"): 720,
        ("code_object", "block_info"): 976, ("block", "flags"): 280, ("hash_map", "buckets"): 104, ("pool", "pool_mutex"): 7128,
    }  # fmt: skip
    assert {key: fields[key] for key in expected} == expected
