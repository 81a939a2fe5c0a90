"""The classification of memory operands, against the document's rows."""

import pytest
from oric_tables.memory_spaces import INPUT_OF, NAMES, NO_SPACE, memory_space
from oricgen.tables import memory_spaces

from tests import specification

SPEC = specification.spec()
# Ori IR, "Memory Space Classification"
DOCUMENTED = {
    1: 16, 2: 12, 4: 1, 5: 3, 6: 11, 7: 2, 9: 2, 12: 4, 13: 0, 14: 8, 15: 17, 16: 7, 19: 15, 20: 6, 21: 5, 22: 5, 23: 18,
}  # fmt: skip
UNMAPPED = (0, 3, 8, 10, 11, 17)


@pytest.mark.row("R1-39")
def test_all_inputs() -> None:
    assert {n: memory_space(n) for n in range(24) if n not in UNMAPPED and n != 18} == DOCUMENTED
    assert [memory_space(n) for n in UNMAPPED] == [NO_SPACE] * 6
    for number in (-1, 24):
        with pytest.raises(IndexError):
            memory_space(number)


def test_input_18_goes_by_opcode() -> None:
    expected = {7: 6, 43: 6, 45: 6, 53: 6, 111: 5, 54: 9} | dict.fromkeys(range(183, 200), 5) | {189: 9}
    assert {n: memory_space(18, n) for n in range(512) if memory_space(18, n) != NO_SPACE} == expected
    assert memory_space(6, 7) == 11, "the opcode counts for input 18 only"


def test_spaces_of_mnemonics() -> None:
    spaces = {name: NAMES[memory_space(number)] for name, number in INPUT_OF.items()}
    expected = {"LDG": "global", "STS": "shared", "LDL": "local", "LDC": "const", "ATOM": "generic", "SYNCS": "shared"}
    assert expected.items() <= spaces.items()


def test_counts() -> None:
    counts = memory_spaces.counts(SPEC)
    assert counts["memory-space inputs"] == 24
    assert counts["inputs with a category of their own"] == 17
    assert counts["numbers classified by opcode"] == 4 + 1 + 17 + 1
    assert all(row.values["source"] for row in memory_spaces.rows(SPEC))
