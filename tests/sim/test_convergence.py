"""Diverged threads: convergence barriers, BREAK, saved barriers, warp synchronisation, indirect branches, YIELD."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oric_tables._native import ffi

from tests.sim.program import SM_80, SM_90, Device, word

Array = np.ndarray[Any, Any]
isas = pytest.mark.parametrize("isa", [SM_80, SM_90])
FULL = 0xFFFFFFFF


class Program:
    """Instructions with labels; ``("BRA", "name")`` jumps to a label."""

    def __init__(self, isa: int) -> None:
        self.isa = isa
        self.rows: list[tuple[Any, ...]] = []
        self.labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        self.labels[name] = len(self.rows)

    def __call__(self, *row: Any, **mods: Any) -> None:
        self.rows.append((row, mods))

    def text(self) -> bytes:
        out = []
        for at, (row, mods) in enumerate(self.rows):
            resolved = [(self.labels[o] - at - 1) * 16 if isinstance(o, str) and o in self.labels else o for o in row[1:]]
            out.append(word(self.isa, row[0], *resolved, **mods))
        return b"".join(out)

    def run(self, threads: int = 32, words: int = 2) -> Array:
        """What each thread has left in R16 and R17."""
        prologue = Program(self.isa)
        prologue("S2R", "R0", "SR33")
        prologue("S2R", "R1", "SR0")
        prologue("UMOV", "UR4", 0)
        prologue("UMOV", "UR5", 0)
        prologue("MOV", "R4", 8)
        prologue("IMAD.WIDE", "R2", "R0", "R4", "c[0][0]", sign="U32")
        self("STG", "R2", 0, "R16", "UR4", size="64")
        self("EXIT")
        device = Device(self.isa, prologue.text() + self.text())
        like = np.zeros((threads, words), np.uint32)
        address = device.array(like)
        fault = device.launch(threads, address.to_bytes(8, "little"), shared=4096)
        assert fault is None, (fault.code, ffi.string(fault.detail), hex(fault.pc))
        return device.read(address, like)


def ballot(p: Program, register: str) -> None:
    """The lanes that run together, into a register."""
    p("VOTE", register, "PT", "PT", op="ANY")


@isas
def test_bsync_joins_what_a_branch_split(isa: int) -> None:
    p = Program(isa)
    p("ISETP", "P0", "R1", 10, cmp="LT", sign="U32")
    p("BSSY", "B0", "join")
    p("BRA", "else", guard="P0")
    ballot(p, "R16")
    p("BRA", "join")
    p.label("else")
    ballot(p, "R16")
    p.label("join")
    p("BSYNC", "B0")
    ballot(p, "R17")
    out = p.run()
    assert (out[:10, 0] == 0x3FF).all()
    assert (out[10:, 0] == FULL ^ 0x3FF).all()
    assert (out[:, 1] == FULL).all()


@isas
def test_loop_of_different_lengths(isa: int) -> None:
    """Lane n goes round n + 1 times; all meet again."""
    p = Program(isa)
    p("MOV", "R16", 0)
    p("BSSY", "B1", "out")
    p.label("again")
    p("IADD3", "R16", "R16", 1, "RZ")
    p("ISETP", "P0", "R16", "R1", cmp="LE", sign="U32")
    p("BRA", "again", guard="P0")
    p.label("out")
    p("BSYNC", "B1")
    ballot(p, "R17")
    out = p.run()
    assert out[:, 0].tolist() == list(range(1, 33))
    assert (out[:, 1] == FULL).all()


@isas
def test_nested_regions_with_the_same_barrier_in_both_arms(isa: int) -> None:
    p = Program(isa)
    p("ISETP", "P0", "R1", 16, cmp="LT", sign="U32")
    p("LOP3", "R5", "R1", 1, "RZ", lut=0xC0)
    p("ISETP", "P1", "R5", 0, cmp="NE", sign="U32")
    p("BSSY", "B0", "end")
    p("BRA", "low", guard="P0")
    for arm in ("high", "low"):
        p.label(arm)
        p("BSSY", "B1", f"{arm} inner")
        p("BRA", f"{arm} inner", guard="P1")
        p("NOP")
        p.label(f"{arm} inner")
        p("BSYNC", "B1")
        ballot(p, "R16")
        p("BRA", "end")
    p.label("end")
    p("BSYNC", "B0")
    ballot(p, "R17")
    out = p.run()
    assert (out[:16, 0] == 0xFFFF).all()
    assert (out[16:, 0] == 0xFFFF0000).all()
    assert (out[:, 1] == FULL).all()


@isas
def test_break_leaves_the_region(isa: int) -> None:
    """Lanes below 8 leave by BREAK and finish alone; the others do not wait for them."""
    p = Program(isa)
    p("ISETP", "P0", "R1", 8, cmp="LT", sign="U32")
    p("MOV", "R17", 0)
    p("BSSY", "B2", "join")
    p("BREAK", "B2", guard="P0")
    p("BRA", "away", guard="P0")
    p.label("join")
    p("BSYNC", "B2")
    ballot(p, "R17")
    p.label("away")
    ballot(p, "R16")
    out = p.run()
    assert (out[8:, 1] == FULL ^ 0xFF).all()
    assert (out[:8, 1] == 0).all()
    assert (out[:8, 0] == 0xFF).all()


@isas
def test_exit_completes_a_barrier(isa: int) -> None:
    p = Program(isa)
    p("ISETP", "P0", "R1", 5, cmp="GE", sign="U32")
    p("BSSY", "B0", "join")
    p("BRA", "join", guard="!P0")
    p("EXIT")
    p.label("join")
    p("BSYNC", "B0")
    ballot(p, "R16")
    p("MOV", "R17", 7)
    out = p.run()
    assert (out[:5] == [0x1F, 7]).all()
    assert (out[5:] == 0).all()


@isas
def test_saved_barrier(isa: int) -> None:
    """A barrier moved to a register and back, as around a call that uses the same one."""
    p = Program(isa)
    p("ISETP", "P0", "R1", 4, cmp="LT", sign="U32")
    p("BSSY", "B3", "join")
    p("BRA", "join", guard="P0")
    p("BMOV.R", "R10", "B3")
    p("BSSY", "B3", "inner")
    p.label("inner")
    p("BSYNC", "B3")
    ballot(p, "R16")
    p("BMOV.B", "B3", "R10")
    p.label("join")
    p("BSYNC", "B3")
    ballot(p, "R17")
    out = p.run()
    assert (out[4:, 0] == FULL ^ 0xF).all()
    assert (out[:, 1] == FULL).all()


@isas
def test_warp_synchronisation_by_mask(isa: int) -> None:
    """Three parts of a warp come from different ways; two of them meet."""
    p = Program(isa)
    p("ISETP", "P0", "R1", 8, cmp="LT", sign="U32")
    p("ISETP", "P1", "R1", 24, cmp="GE", sign="U32")
    p("MOV", "R6", 0xFFFFFF)
    p("MOV", "R16", 0)
    p("BRA", "last", guard="P1")
    p("BRA", "meet", guard="P0")
    p("NOP")
    p.label("meet")
    p("WARPSYNC", "R6")
    ballot(p, "R16")
    p.label("last")
    p("MOV", "R17", 1)
    out = p.run()
    assert (out[:24, 0] == 0xFFFFFF).all()
    assert (out[24:, 0] == 0).all()


@isas
def test_indirect_branch_to_several_targets(isa: int) -> None:
    """Each lane jumps to its own instruction of a table."""
    p = Program(isa)
    p("LOP3", "R6", "R1", 3, "RZ", lut=0xC0)
    p("SHF", "R6", "R6", 5, "RZ", dir="L", type="U32")
    p("MOV", "R7", 0)
    p("BSSY", "B0", "end")
    p("BRX", "R6", 0)
    for value in (10, 20, 30, 40):
        p("MOV", "R16", value)
        p("BRA", "end")
    p.label("end")
    p("BSYNC", "B0")
    ballot(p, "R17")
    out = p.run()
    assert out[:, 0].tolist() == [10, 20, 30, 40] * 8
    assert (out[:, 1] == FULL).all()


@isas
def test_call_and_return(isa: int) -> None:
    p = Program(isa)
    p("LEPC", "R8")
    p("IADD3", "R8", "R8", 4 * 16, "RZ")
    p("MOV", "R16", "R1")
    p("CALL.REL", "function", noinc=True)
    p("NOP")
    p("IADD3", "R17", "R16", 1, "RZ")
    p("BRA", "end")
    p.label("function")
    p("IMAD", "R16", "R16", 3, "RZ")
    p("RET", "R8", -(len(p.rows) + 1 + 6) * 16 - 0x10000, nodec=True)
    p.label("end")
    p("NOP")
    out = p.run()
    assert out.tolist() == [[3 * k, 3 * k + 1] for k in range(32)]


@isas
@pytest.mark.parametrize("how", ["YIELD", "NOP"])
def test_diverged_threads_wait_for_each_other(isa: int, how: str) -> None:
    """The last lane spins on shared memory until the first has stored: every group gets its turn."""
    p = Program(isa)
    p("MOV", "R16", 5)
    p("STS", "RZ", 0, "RZ")
    p("ISETP", "P0", "R1", 31, cmp="NE", sign="U32")
    p("BRA", "store", guard="P0")
    p.label("spin")
    p("LDS", "R16", "RZ", 0)
    p(how)
    p("ISETP", "P1", "R16", 0, cmp="EQ", sign="U32")
    p("BRA", "spin", guard="P1")
    p("BRA", "end")
    p.label("store")
    p("MOV", "R7", 99)
    p("STS", "RZ", 0, "R7")
    p.label("end")
    p("MOV", "R17", 0)
    out = p.run()
    assert out[31, 0] == 99


@isas
def test_barriers_between_warps(isa: int) -> None:
    """Each warp reads what the next has written before the barrier; one warp exits early."""
    p = Program(isa)
    p("ISETP", "P0", "R0", 96, cmp="GE", sign="U32")
    p("EXIT", guard="P0")
    p("SHF", "R6", "R0", 2, "RZ", dir="L", type="U32")
    p("STS", "R6", 0, "R0")
    p("BAR.SYNC", 0)
    p("LOP3", "R7", "R6", 0x7C, "RZ", lut=0x3C)
    p("LDS", "R16", "R7", 0)
    p("ISETP", "P1", "R0", 50, cmp="LT", sign="U32")
    p("BAR.RED", 0, None, "P1", op="POPC")
    p("B2R", "R17", None)
    out = p.run(threads=128)
    lane = np.arange(96)
    assert (out[:96, 0] == (lane ^ 31)).all()
    assert (out[:96, 1] == 50).all()
    assert (out[96:] == 0).all()


@isas
def test_groups_give_way_at_branches_only(isa: int) -> None:
    """What vendor code of sm_120 counts on: a uniform register set in divergent code holds until the next branch."""
    p = Program(isa)
    p("MOV", "R16", 0)
    p("MOV", "R17", 0)
    p("ISETP", "P0", "R1", 10, cmp="LT", sign="U32")
    p("BSSY", "B0", "join")
    p("BRA", "other", guard="P0")
    for name, step in (("first", 1), ("other", 5)):
        p.label(name)
        p("UMOV", "UR6", step)
        p("MOV", "R18", "UR6")
        p("IMAD", "R16", "R18", 1, "R16")
        p("IMAD", "R17", "R18", 1, "R17")
        p("ISETP", "P1", "R17", 700 * step, cmp="LT", sign="U32")
        p("BRA", name, guard="P1")
        p("BRA", "join")
    p.label("join")
    p("BSYNC", "B0")
    p("MOV", "R17", 0)
    out = p.run()
    assert out[:, 0].tolist() == [3500] * 10 + [700] * 22
