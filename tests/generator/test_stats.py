"""``oricgen stats`` prints the numbers that the documents give."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen.cli import main
from oricgen.tables import all_tables

from tests.generator import planted

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("known_specification")

# Table, what is counted -> number, with the document that gives it.
DOCUMENTED = {
    ("opcodes", "ids"): 355,  # Ori IR, "Opcode Attribute Table": 355 entries
    ("dispatch", "dispatch rows"): 140,  # PTX-to-Ori lowering, "Opcode Dispatch Table"
    ("dispatch", "ids with a row"): 242,
    ("dispatch", "vtable slots"): 85,
    ("dispatch", "direct handlers"): 73,
    ("dispatch", "conditional ids"): 2,
    ("dispatch", "inline emits"): 3,
    ("dispatch", "ids that skip predication"): 5,
    ("intrinsics", "operations"): 44,  # OCG intrinsics, "Category Summary"
    ("intrinsics", "slots"): 43,
    ("intrinsics", "arithmetic operations"): 3,
    ("intrinsics", "packed_float operations"): 5,
    ("intrinsics", "vector_integer operations"): 6,
    ("intrinsics", "async_copy operations"): 6,
    ("intrinsics", "memory operations"): 6,
    ("intrinsics", "async_reduction operations"): 2,
    ("intrinsics", "tensor_core operations"): 8,
    ("intrinsics", "tensor_memory operations"): 2,
    ("intrinsics", "control operations"): 6,
    ("documented_rules", "rules"): 102,  # PTX-to-Ori lowering, "Lowering Rules"
    ("memory_spaces", "memory-space inputs"): 24,  # Ori IR, "Memory Space Classification"
    ("phases", "phases"): 159,  # Architecture overview, "Pipeline"
    ("progress", "progress values"): 21,  # Data structures, "Pipeline Progress Counter"
    ("backends", "backends"): 7,  # Data structures, backends by SM range
    ("descriptor", "class fields (packRegClassField)"): 250,  # Registers: fields 91 to 340
    ("descriptor", "operand fields (packOperandField)"): 69,  # fields 3 to 71
    ("descriptor", "lookup tables"): 28,
    ("descriptor", "descriptor words"): 5,
    ("operand_kinds", "operand kinds"): 10,  # Ori IR, "Operand Kinds"
    ("operand_kinds", "selection predicates"): 5,
    ("registers", "allocator classes"): 7,  # Registers, "Seven Allocator Register Classes"
    ("registers", "register types"): 12,  # reg_type 0 to 11
    ("registers", "pressure counters"): 10,
    ("statistics", "lines of the profile"): 9,
    ("section_tags", "tags in all"): 48,
    ("knobs", "knob types"): 13,
    ("ptx_nodes", "operand nodes"): 11,
    ("ptx_nodes", "storage classes"): 10,
}


@pytest.fixture(scope="module")
def counts() -> dict[tuple[str, str], int]:
    spec, _ = planted.sound()
    return {(table.NAME, what): number for table in all_tables() for what, number in table.counts(spec).items()}


@pytest.mark.parametrize("key", DOCUMENTED, ids=" ".join)
def test_documented_number(counts: dict[tuple[str, str], int], key: tuple[str, str]) -> None:
    assert counts[key] == DOCUMENTED[key]


def test_the_command_prints_every_count_on_a_line(counts: dict[tuple[str, str], int], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(ROOT), "stats"]) == 0
    printed = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert {(table, what): int(number) for table, number, what in printed} == counts


def test_every_table_counts_something(counts: dict[tuple[str, str], int]) -> None:
    assert {table for table, _ in counts} == {table.NAME for table in all_tables()}
    assert all(number > 0 for number in counts.values())
