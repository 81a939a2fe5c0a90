"""The documented records: slots of the table, and the operand buffer of a call."""

from __future__ import annotations

import struct

import pytest
from oric.cli import main
from oric.driver import CompileOptions, compile_functions
from oric.lower.ocg_record import Record, table, table_lines
from oric.support.ocg_source import module
from oric_tables import ocg_records as tables
from oric_tables.intrinsics import OPERATIONS


def records(call: str, params: str, target: str = "sm_100a") -> list[Record]:
    functions = compile_functions(module([(call, params)], target), CompileOptions(target, 3))
    return [Record(f.name, found) for f, _ in functions for found in f.intrinsics]


@pytest.mark.row("R5-02")
def test_slots() -> None:
    data, strings = table()
    assert len(data) == 0x29A8 == tables.SLOTS * tables.SLOT_BYTES
    by_address = {address: text for text, address in strings.items()}
    for name, operation in OPERATIONS.items():
        if operation.slot >= 0:
            pointers = struct.unpack_from("<31Q", data, tables.SLOT_BYTES * operation.slot)
            assert [by_address[p] for p in pointers if p] == [name, *operation.subops]
    assert len(table_lines()) == 1 + tables.SLOTS


def test_buffer() -> None:
    [record] = records("add_s32", "b32 <- b32*2")
    assert len(record.data()) == 312
    assert (record.slot, record.offset, record.subops) == (0, 128, [0])
    assert (record.range, record.key) == ("default", -1)
    assert [record.buffer[at] >> 28 for at in (8, 9, 10)] == [9, 9, 9]
    assert record.buffer[26:29] == [0x60000001, 0x60000000, 0x60081000]
    assert not any(record.buffer[:8]) and not any(record.buffer[11:26])


def test_constants_stand_as_they_are() -> None:
    [record] = records("add_s32", "b32 <- b32 b32=77")
    assert record.buffer[10] == 77


def test_each_sub_operation_sets_a_bit() -> None:
    plain, sat = records("add_s32", "b32 <- b32*2")[0], records("add_sat_s32", "b32 <- b32*2")[0]
    assert plain.buffer[26] ^ sat.buffer[26] == 1 << OPERATIONS["add"].subops.index("sat")


def test_what_is_collected_has_no_instruction() -> None:
    text = module([("add_s32", "b32 <- b32*2")], "sm_100a").replace("st.global.b32", "//")
    [(f, _)] = compile_functions(text, CompileOptions("sm_100a", 0))
    [found] = f.intrinsics
    assert Record(f.name, found).code == ""


def test_dump(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    from pathlib import Path

    source = Path(str(tmp_path), "k.ptx")
    source.write_text(module([("add_s32", "b32 <- b32*2")], "sm_100a"))
    assert main(["dump", "--ocg", "-arch", "sm_100a", str(source)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "// k0 for sm_100a: 1 calls of intrinsics"
    assert lines[1].endswith("__nv_ptx_builtin_ocg_add_s32")
    assert any("control_word_2" in line for line in lines)
