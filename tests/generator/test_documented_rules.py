"""The numbered lowering rules of the reference; tests/lower/test_rules.py compiles their examples."""

from __future__ import annotations

from oricgen.tables import documented_rules

from tests import specification

SPEC = specification.spec()
ROWS = {row.values["number"]: row.values for row in documented_rules.rows(SPEC)}
# PTX-to-Ori lowering, "Lowering Rules Reference": the rules that are not written by the parser
PHASES = {
    "2": [97],
    "5": [17, 25, 35, 37, 49, 50, 51, 52, 53, 54, 55, 56, 57, 91, 93, 94],
    "45/78": [26],
    "78": [27, 28, 29, 30, 31, 32, 34, 38, 39],
}


def test_numbers_and_phases() -> None:
    assert sorted(ROWS) == list(range(1, 103))
    for phase, numbers in PHASES.items():
        assert [n for n, row in ROWS.items() if row["phase"] == phase] == numbers
    assert sum(row["phase"] == "P" for row in ROWS.values()) == 75


def test_known_rows() -> None:
    assert ROWS[1]["ptx"] == "add.s32 / add.u32"
    assert ROWS[1]["sass"] == "IADD3 Rd, Ra, Rb, RZ"
    assert ROWS[87]["sass"] == "SHFL.BFLY Rd|Pp, Ra, Rb, Rc"
    assert (ROWS[30]["ratio"], ROWS[30]["here"][0]["rule"]) == ("1:~60", "div.u64")
    assert ROWS[102]["ptx"] == "nanosleep"


def test_contradictions_that_concern_a_rule_are_named() -> None:
    """docs/deviations.md, 68 to 72."""
    named = {n: row["differs"].partition(":")[0] for n, row in ROWS.items() if row.get("differs", "")[:2].isdigit()}
    expected = {2: "71", 5: "68", 19: "72", 20: "72", 37: "72", 52: "69", 55: "70", 56: "70", 57: "70", 64: "72"}
    assert named == expected | {88: "72", 91: "72", 98: "72"}


def test_counts() -> None:
    counts = documented_rules.counts(SPEC)
    assert counts["rules"] == counts["rules done by a rule here"] == 102
    assert counts["rules done in another way"] == sum("differs" in row for row in ROWS.values())
    assert all(row["source"] for row in ROWS.values())
