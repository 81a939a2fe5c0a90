"""Strict mode on small programs whose scheduling bits are wrong: what is reported, and what the hazard does to the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oric_tables._native import lib

from tests.sim.program import CODE, SM_80, SM_90, Device, word

Array = np.ndarray[Any, Any]
isas = pytest.mark.parametrize("isa", [SM_80, SM_90], ids=["sm_80", "sm_90"])
NONE = 7  # no scoreboard
RAW, WAR, WAW, ASYNC = lib.ORIC_REPORT_RAW, lib.ORIC_REPORT_WAR, lib.ORIC_REPORT_WAW, lib.ORIC_REPORT_ASYNC
SETTLE, STALL, REUSE = lib.ORIC_REPORT_SETTLE, lib.ORIC_REPORT_STALL, lib.ORIC_REPORT_REUSE
R, P, UR = lib.ORIC_FILE_R, lib.ORIC_FILE_P, lib.ORIC_FILE_UR
# Instructions in front of a body; its first one has this number.
FIRST = 6
Row = tuple[Any, ...]


def op(
    name: str, *operands: Any, stall: int = 15, write: int = NONE, read: int = NONE, wait: int = 63, reuse: int = 0, **mods: Any
) -> Row:
    """An instruction with its scheduling bits; the default ones keep every distance and wait for every scoreboard."""
    return name, operands, mods, stall | 1 << 4 | write << 5 | read << 8 | wait << 11 | reuse << 17


def text(isa: int, rows: list[Row]) -> bytes:
    out = b""
    for name, operands, mods, control in rows:
        made = int.from_bytes(word(isa, name, *operands, **mods), "little")
        out += (made & ~(0x1FFFFF << 105) | control << 105).to_bytes(16, "little")
    return out


class Outcome:
    """What a launch of 32 threads left: a word of each thread, the input, and the findings as (kind, first, second, register)."""

    def __init__(self, isa: int, body: list[Row], modes: int = lib.ORIC_SIM_STRICT) -> None:
        begin = [
            op("S2R", "R0", "SR33", write=0),
            op("UMOV", "UR4", 0),
            op("UMOV", "UR5", 0),
            op("MOV", "R6", 4),
            op("IMAD.WIDE", "R2", "R0", "R6", "c[0][0]", sign="U32"),
            op("IMAD.WIDE", "R4", "R0", "R6", "c[0][8]", sign="U32"),
        ]
        assert len(begin) == FIRST
        end = [op("STG", "R4", 0, "R16", "UR4", read=5), op("EXIT")]
        device = Device(isa, text(isa, [*begin, *body, *end]))
        given = np.arange(100, 132, dtype=np.uint32)
        source, result = device.array(given), device.array(np.zeros(32, np.uint32))
        fault = device.launch(32, source.to_bytes(8, "little") + result.to_bytes(8, "little"), shared=1024, modes=modes)
        assert fault is None, fault.code
        self.out = device.read(result, given)
        self.given = device.read(source, given)
        self.found = set()
        self.cycles = {}
        for index in range(lib.oric_sim_report_count(device.sim)):
            r = lib.oric_sim_report_at(device.sim, index)
            first = (r.first - CODE) // 16 - FIRST if r.first else None
            key = (r.kind, first, (r.second - CODE) // 16 - FIRST, (r.file, r.number))
            self.found.add(key)
            self.cycles[key] = (r.had, r.needed)


def load(register: str, **bits: Any) -> Row:
    return op("LDG", register, "R2", 0, "UR4", **bits)


LANES = np.arange(32, dtype=np.uint32)
INPUT = LANES + 100


@isas
def test_right_bits_give_no_report(isa: int) -> None:
    done = Outcome(isa, [load("R8", write=1, read=2), op("IADD3", "R16", "R8", "R8", "RZ")])
    assert done.found == set()
    assert (done.out == 2 * INPUT).all()


@isas
def test_a_result_of_fixed_latency_is_read_too_early(isa: int) -> None:
    body = [
        op("MOV", "R8", 5),
        op("MOV", "R8", 7, stall=1),
        op("IADD3", "R16", "R8", "R8", "RZ"),
        op("IADD3", "R16", "R16", "R8", "RZ"),
    ]
    done = Outcome(isa, body)
    key = (RAW, 1, 2, (R, 8))
    assert done.found == {key}
    had, needed = done.cycles[key]
    assert had == 1 < needed
    assert (done.out == 5 + 5 + 7).all()  # the later reader has the new value
    body[1] = op("MOV", "R8", 7, stall=needed)
    right = Outcome(isa, body)
    assert right.found == set()
    assert (right.out == 21).all()


@isas
def test_a_load_is_read_without_a_wait(isa: int) -> None:
    done = Outcome(isa, [op("MOV", "R8", 1), load("R8", write=1, read=2), op("IADD3", "R16", "R8", 1, "RZ", wait=0)])
    assert done.found == {(RAW, 1, 2, (R, 8))}
    assert (done.out == 2).all()


@isas
def test_the_wrong_scoreboard_is_waited_for(isa: int) -> None:
    done = Outcome(isa, [load("R16", write=1, read=2), op("IADD3", "R16", "R16", 1, "RZ", wait=1 << 2)])
    assert {key[0] for key in done.found} == {RAW, WAW}  # the sum is overwritten as well
    assert (done.out == INPUT).all()


@isas
def test_a_guard_is_read_too_early(isa: int) -> None:
    body = [
        op("MOV", "R16", 1),
        op("ISETP", "P0", "R0", 8, cmp="LT", sign="U32"),
        op("ISETP", "P0", "R0", 16, cmp="LT", sign="U32", stall=1),
        op("MOV", "R16", 2, guard="P0"),
    ]
    done = Outcome(isa, body)
    assert done.found == {(RAW, 2, 3, (P, 0))}
    assert (done.out == np.where(LANES < 8, 2, 1)).all()


@isas
def test_uniform_registers_are_under_way_too(isa: int) -> None:
    body = [op("UMOV", "UR8", 3), op("UMOV", "UR8", 4, stall=1), op("IADD3", "R16", "RZ", "UR8", "RZ")]
    done = Outcome(isa, body)
    assert done.found == {(RAW, 1, 2, (UR, 8))}
    assert (done.out == 3).all()


@isas
def test_the_older_result_lands_last(isa: int) -> None:
    done = Outcome(isa, [load("R16", write=1, read=2), op("MOV", "R16", 3, wait=0)])
    assert done.found == {(WAW, 0, 1, (R, 16))}
    assert (done.out == INPUT).all()


@isas
def test_a_source_of_a_store_is_overwritten(isa: int) -> None:
    body = [op("MOV", "R8", 5), op("STG", "R2", 0, "R8", "UR4", read=1), op("MOV", "R8", 9, wait=0), op("MOV", "R16", "R8")]
    done = Outcome(isa, body)
    assert done.found == {(WAR, 1, 2, (R, 8))}
    assert (done.given == 9).all()
    body[2] = op("MOV", "R8", 9, wait=1 << 1)
    right = Outcome(isa, body)
    assert right.found == set()
    assert (right.given == 5).all()


@isas
@pytest.mark.parametrize("left", [0, 1])
def test_depbar_until_nothing_is_outstanding_waits_for_reads(isa: int, left: int) -> None:
    body = [op("MOV", "R8", 7), op("STG", "R4", 0, "R8", "UR4", read=1, wait=0)]
    body += [op("DEPBAR", "SB1", left, wait=0, le="LE"), op("MOV", "R8", 9, wait=0), op("MOV", "R16", 1, wait=0)]
    found = Outcome(isa, body).found
    assert found == (set() if left == 0 else {(WAR, 1, 3, (R, 8))})


@isas
def test_an_address_of_a_load_is_overwritten(isa: int) -> None:
    done = Outcome(isa, [load("R16", write=1, read=2), op("IADD3", "R2", "R2", 4, "RZ", wait=0, guard="P0"), op("NOP")])
    assert done.found == set()  # P0 is off for all lanes
    body = [op("ISETP", "P0", "R0", 31, cmp="LT", sign="U32"), load("R16", write=1, read=2)]
    done = Outcome(isa, [*body, op("IADD3", "R2", "R2", 4, "RZ", wait=0, guard="P0")])
    assert done.found == {(WAR, 1, 2, (R, 2))}
    assert (done.out == np.append(INPUT[1:], INPUT[31])).all()


@isas
def test_a_wait_that_comes_too_soon_does_not_count(isa: int) -> None:
    body = [op("MOV", "R8", 1), load("R8", write=1, read=2, stall=1), op("NOP", wait=1 << 1), op("MOV", "R16", "R8", wait=0)]
    done = Outcome(isa, body)
    assert done.found == {(SETTLE, 1, 2, (0, 1)), (RAW, 1, 3, (R, 8))}
    assert (done.out == 1).all()


@isas
def test_a_stall_count_below_what_the_instruction_needs(isa: int) -> None:
    done = Outcome(isa, [op("BAR.SYNC", 0, stall=0)])
    assert {key[:3] for key in done.found} == {(STALL, None, 0)}


@isas
def test_the_operand_cache_keeps_the_old_value(isa: int) -> None:
    body = [
        op("MOV", "R8", 5),
        op("IADD3", "R9", "R8", 1, "RZ", reuse=1),
        op("MOV", "R8", 7),
        op("IADD3", "R16", "R8", 1, "RZ"),
    ]
    done = Outcome(isa, body)
    assert done.found == {(REUSE, 1, 3, (R, 8))}
    assert (done.out == 6).all()


@isas
def test_cycles_of_other_threads_do_not_count(isa: int) -> None:
    """Lanes 16 to 31 branch; the others run for long in between, and yet the first result of the branch is too near."""
    body = [
        op("ISETP", "P0", "R0", 16, cmp="GE", sign="U32"),
        op("ISETP", "P1", "R0", 0, cmp="LT", sign="U32"),
        op("MOV", "R16", 1),
        op("ISETP", "P1", "R0", 0, cmp="GE", sign="U32", stall=1),
        op("BRA", 3 * 16, guard="P0", stall=5),
        op("NOP"),
        op("MOV", "R16", 2, guard="P1"),
        op("BRA", 16),
        op("MOV", "R16", 2, guard="P1"),
    ]
    done = Outcome(isa, body)
    assert done.found == {(RAW, 3, 8, (P, 1))}
    assert (done.out == np.where(LANES < 16, 2, 1)).all()


@isas
def test_a_load_of_other_threads_tells_nothing_of_one_before_they_parted(isa: int) -> None:
    """Lanes 0 to 15 load once more, with a scoreboard, and know when the first load has ended; the others wait for it in vain."""
    body = [
        op("ISETP", "P0", "R0", 16, cmp="GE", sign="U32"),
        op("MOV", "R16", 1),
        load("R16", read=2),
        op("BRA", 16, guard="P0"),
        load("R8", write=1, read=2),
        op("IADD3", "R16", "R16", 7, "RZ"),
    ]
    done = Outcome(isa, body)
    assert {key[:3] for key in done.found} == {(RAW, 2, 5), (WAW, 2, 5)}
    assert (done.out == np.where(LANES < 16, INPUT + 7, INPUT)).all()  # what was loaded lands last


@isas
def test_a_counted_wait_leaves_the_last_copies(isa: int) -> None:
    body = [
        op("IMAD", "R8", "R0", "R6", "RZ"),
        op("STS", "R8", 0, "RZ"),
        op("STS", "R8", 128, "RZ"),
        op("LDGSTS", "R2", 0, "R8", 0, "UR4", "PT", read=1),
        op("LDGDEPBAR", write=0),
        op("LDGSTS", "R2", 0, "R8", 128, "UR4", "PT", read=1),
        op("LDGDEPBAR", write=0, wait=0),
        op("DEPBAR", "SB0", 1, wait=0, le="LE"),
        op("LDS", "R9", "R8", 0, write=2, wait=0),
        op("LDS", "R10", "R8", 128, write=2, wait=0),
        op("IADD3", "R16", "R9", "R10", "RZ", wait=1 << 2),
    ]
    done = Outcome(isa, body)
    assert {key[:3] for key in done.found} == {(ASYNC, 5, 9)}
    assert (done.out == INPUT).all()
    body[7] = op("DEPBAR", "SB0", 0, wait=0, le="LE")
    right = Outcome(isa, body)
    assert right.found == set()
    assert (right.out == 2 * INPUT).all()


@isas
def test_a_copy_reads_its_source_late(isa: int) -> None:
    body = [
        op("IMAD", "R8", "R0", "R6", "RZ"),
        op("LDGSTS", "R2", 0, "R8", 0, "UR4", "PT", read=1),
        op("STG", "R2", 0, "R0", "UR4", read=2),
        op("LDGDEPBAR", write=0),
        op("LDS", "R16", "R8", 0, write=2),
    ]
    done = Outcome(isa, body)
    assert {key[:3] for key in done.found} == {(ASYNC, 1, 2)}
    assert (done.out == LANES).all()
    fast = Outcome(isa, body, modes=0)
    assert fast.found == set()
    assert (fast.out == INPUT).all()
