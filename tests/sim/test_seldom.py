"""Operations that no kernel of the other tests has: ways to branch, barrier registers, atomics on surfaces, what does nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oric_tables import ops
from oric_tables._native import ffi, lib

from tests.sim.program import CODE, SM_80, SM_90, Device, frame, run_operation, word
from tests.sim.test_convergence import FULL, Array, Program, ballot

isas = pytest.mark.parametrize("isa", [SM_80, SM_90])
SM_100, SM_120 = ops.ISAS.index("sm_100"), ops.ISAS.index("sm_120")
PROLOGUE = 6  # instructions of Program.run in front of a program
WAYS = ["CALL.REL", "CALL.REL.R", "CALL.ABS", "CALL.ABS.IMM", "BRXU"]


@isas
@pytest.mark.parametrize("back", ["RET", "RET.ABS"])
@pytest.mark.parametrize("how", WAYS)
def test_ways_to_call_and_to_return(isa: int, how: str, back: str) -> None:
    """The lanes below 20 call a function that triples; all meet behind the call."""
    p = Program(isa)
    function, after = 12, 9  # indices of instructions, checked below
    address = CODE + 16 * (PROLOGUE + function)
    relative = 16 * (function - after)
    p("ISETP", "P0", "R1", 20, cmp="LT", sign="U32")
    p("MOV", "R16", "R1")
    p("MOV", "R6", relative if how == "CALL.REL.R" else address)
    p("MOV", "R7", 0)
    p("UMOV", "UR6", relative)
    p("UMOV", "UR7", 0)
    p("LEPC", "R8")
    p("IADD3", "R8", "R8", 3 * 16, "RZ")
    operands = {"CALL.REL": ("function",), "CALL.ABS.IMM": (address,), "BRXU": ("UR6", 0)}.get(how, ("R6", 0))
    p(how, *operands, guard="P0")
    assert len(p.rows) == after
    p("NOP")
    ballot(p, "R17")
    p("BRA", "end")
    p.label("function")
    assert len(p.rows) == function
    p("IMAD", "R16", "R16", 3, "RZ")
    p(back, "R8", 0 if back == "RET.ABS" else -(CODE + 16 * (PROLOGUE + function + 2)))
    p.label("end")
    p("NOP")
    out = p.run()
    lane = np.arange(32)
    assert out[:, 0].tolist() == np.where(lane < 20, 3 * lane, lane).tolist()


@isas
def test_uniform_indirect_branch(isa: int) -> None:
    """All lanes that a predicate lets through go to the place in a uniform register."""
    p = Program(isa)
    p("ISETP", "P0", "R1", 12, cmp="GE", sign="U32")
    p("MOV", "R16", 1)
    p("UMOV", "UR6", 16)
    p("UMOV", "UR7", 0)
    p("BSSY", "B0", "end")
    p("BRXU", "UR6", 16, "P0")
    p("MOV", "R16", 2)
    p("BRA", "end")
    p("IADD3", "R16", "R16", 10, "RZ")
    p.label("end")
    p("BSYNC", "B0")
    ballot(p, "R17")
    out = p.run()
    assert out[:, 0].tolist() == [2] * 12 + [11] * 20
    assert (out[:, 1] == FULL).all()


@isas
@pytest.mark.parametrize("mode", ["DIV", "CONV"])
def test_uniform_indirect_branch_of_unknown_kind(isa: int, mode: str) -> None:
    text = word(isa, "BRXU", "UR6", 0, mode=mode) + word(isa, "EXIT")
    fault = Device(isa, text).launch(32, bytes(64))
    assert fault.code == lib.ORIC_FAULT_NO_MEANING
    assert ffi.string(fault.detail) == b"this variant of BRXU"


@isas
@pytest.mark.parametrize("save", ["BMOV.R", "BMOV.R clear", "BMOV.BB", "BMOV.BC"])
def test_ways_to_save_a_barrier(isa: int, save: str) -> None:
    """Lanes 4 and up use the barrier for something else before they meet the others there."""
    p = Program(isa)
    p("ISETP", "P0", "R1", 4, cmp="LT", sign="U32")
    p("BSSY", "B3", "join")
    p("BRA", "join", guard="P0")
    into = "R10" if save.startswith("BMOV.R") else "B5"
    p(save.split(maxsplit=1)[0], into, "B3", **({"clear": 1} if "clear" in save else {}))
    p("BMOV.R", "R16", "B3")
    p("BSSY", "B3", "inner")
    p.label("inner")
    p("BSYNC", "B3")
    p("BMOV.BB" if into == "B5" else "BMOV.B", "B3", into)
    p.label("join")
    p("BSYNC", "B3")
    ballot(p, "R17")
    out = p.run()
    assert (out[:, 1] == FULL).all()
    assert (out[4:, 0] == (0 if save in {"BMOV.R clear", "BMOV.BC"} else FULL)).all()


@isas
@pytest.mark.parametrize(
    "row", [("BMOV.R", "R10", "B16"), ("BMOV.B", "B17", "R10"), ("BMOV.BB", "B18", "B0"), ("BMOV.BR", "B0", "B19")]
)
def test_state_of_the_warp_in_barrier_registers(isa: int, row: tuple[str, str, str]) -> None:
    """What lies behind the barriers is not known."""
    fault = Device(isa, word(isa, *row) + word(isa, "EXIT")).launch(32, bytes(64))
    assert fault.code == lib.ORIC_FAULT_NO_MEANING
    assert ffi.string(fault.detail) == b"state register"


@isas
def test_kill_ends_a_thread(isa: int) -> None:
    p = Program(isa)
    p("ISETP", "P0", "R1", 5, cmp="GE", sign="U32")
    p("BSSY", "B0", "join")
    p("KILL", guard="P0")
    p.label("join")
    p("BSYNC", "B0")
    ballot(p, "R16")
    p("MOV", "R17", 7)
    out = p.run()
    assert (out[:5] == [0x1F, 7]).all()
    assert (out[5:] == 0).all()


@pytest.mark.parametrize("how", ["WARPSYNC.ALL", "WARPSYNC.COLLECTIVE.ALL", "WARPSYNC.COLLECTIVE", "WARPSYNC exclusive"])
def test_ways_to_meet(how: str) -> None:
    """The halves of a warp come from different ways; with masks of their own they stay apart."""
    p = Program(SM_90)
    p("ISETP", "P0", "R1", 16, cmp="LT", sign="U32")
    p("MOV", "R6", 0xFFFF0000)
    p("BRA", "meet", guard="!P0")
    p("MOV", "R6", 0xFFFF)
    p.label("meet")
    if how.endswith("ALL"):
        p(how, *(("next",) if "COLLECTIVE" in how else ()))
    elif how.endswith("exclusive"):
        p("WARPSYNC", "R6", exclusive=1)
    else:
        p(how, "R6", "next")
    ballot(p, "R16")
    p("ENDCOLLECTIVE") if "COLLECTIVE" in how else p("NOP")
    p.label("next")
    ballot(p, "R17")
    out = p.run()
    together = how.endswith("ALL")
    assert out[:16, 0].tolist() == [FULL if together else 0xFFFF] * 16
    assert out[16:, 0].tolist() == [FULL if together else 0xFFFF0000] * 16


@isas
def test_register_of_return_addresses(isa: int) -> None:
    """Both halves keep a value for each lane."""
    rows = [
        word(isa, "RPCMOV.SET", "R8", half="Rpc.LO"),
        word(isa, "RPCMOV.SET", "R9", half="Rpc.HI"),
        word(isa, "RPCMOV.GET", "R17", half="Rpc.LO"),
        word(isa, "RPCMOV.GET", "R16", half="Rpc.HI"),
    ]
    data = np.random.default_rng(1).integers(0, 1 << 32, (64, 8), np.uint32)
    got = run_operation(isa, rows, data)
    assert (got[:, :2] == data[:, [1, 0]]).all()


def test_addresses_of_code() -> None:
    rows = [word(SM_90, "LEPC", "R16"), word(SM_90, "LEPC", "R18", 0x40)]
    got = run_operation(SM_90, rows, np.zeros((32, 8), np.uint32))
    here = CODE + frame(SM_90, []).index(word(SM_90, "P2R", "R23", "RZ", 0x7F))
    assert (got[:, :4] == [here, 0, here + 32 + 0x40, 0]).all()


def test_moves_of_sm_120() -> None:
    rows = [
        word(SM_120, "UMOV", "UR6", 0x12345678),
        word(SM_120, "UMOV", "UR7", 0x9ABCDEF0 - (1 << 32)),
        word(SM_120, "MOV64IUR", "R18", "UR6"),
        word(SM_120, "MOV.SPILL", "R16", "UR7"),
    ]
    got = run_operation(SM_120, rows, np.zeros((32, 8), np.uint32))
    assert (got[:, 0] == 0x9ABCDEF0).all()
    assert (got[:, 2:4] == [0x12345678, 0x9ABCDEF0]).all()


NOTHING: list[tuple[int, str, tuple[Any, ...]]] = [
    (SM_80, "PMTRIG", (5,)),
    (SM_80, "CCTLL", ("R8", 0)),
    (SM_80, "DEPBAR.SET", ()),
    (SM_90, "ACQBULK", ()),
    (SM_90, "PREEXIT", ()),
    (SM_90, "MEMBAR.ASYNC", ()),
    (SM_90, "UBLKPF", ("UR8", "UR10")),
    (SM_90, "UTMACCTL.ALL", ()),
    (SM_90, "UTMAPF", ("UR8", "UR10")),
    (SM_100, "CCTL.LDC", ("UR8", 0)),
    (SM_100, "CCTL.LDCU", ("UR8", 0)),
    (SM_100, "UTCBAR.FLUSH", ()),
    (SM_100, "UVIRTCOUNT", ("UR8",)),
    (SM_90, "NANOSLEEP", (1000,)),
    (SM_90, "YIELD", ()),
]


@pytest.mark.parametrize(("isa", "name", "operands"), NOTHING, ids=lambda v: v if isinstance(v, str) else None)
def test_what_does_nothing_here(isa: int, name: str, operands: tuple[Any, ...]) -> None:
    """Hints, prefetches, triggers: registers and predicates stay, with whatever in the operands."""
    moves = [word(isa, "MOV", f"R{16 + k}", f"R{8 + k}") for k in range(7)]
    data = np.random.default_rng(2).integers(0, 1 << 32, (64, 8), np.uint32)
    got = run_operation(isa, [*moves, word(isa, name, *operands)], data)
    assert (got[:, :7] == data[:, :7]).all()
    assert (got[:, 7] == data[:, 7] & 0x7F).all()


@pytest.mark.parametrize(("size", "words"), [("U8", 1), ("U16", 1), ("32", 1), ("64", 2)])
def test_store_of_a_uniform_register(size: str, words: int) -> None:
    """One store for the warp, the bytes around it stay."""
    device = Device(SM_100, uniform_memory("USTGR", size=size))
    place = device.array(np.full(4, 0xEEEEEEEE, np.uint32))
    assert device.launch(32, place.to_bytes(8, "little")) is None
    got = device.read(place, np.zeros(16, np.uint8))
    want = np.full(16, 0xEE, np.uint8)
    count = {"U8": 1, "U16": 2}.get(size, 4 * words)
    want[8 : 8 + count] = list((0x8899AABB00112233).to_bytes(8, "little")[:count])
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize(("kind", "bits"), [("32", 32), ("S32", 32), ("64", 64)])
def test_reduction_of_a_uniform_register(kind: str, bits: int) -> None:
    device = Device(SM_100, uniform_memory("UREDGR", type=kind))
    place = device.array(np.full(2, 1 << 63 | 0xFFFFFFF0, np.uint64))
    assert device.launch(32, place.to_bytes(8, "little"), blocks=3) is None
    got = device.read(place, np.zeros(2, np.uint64)).tolist()
    before, added = 1 << 63 | 0xFFFFFFF0, 3 * 0x8899AABB00112233
    whole = (before + added) & (1 << 64) - 1
    assert got == [before, whole if bits == 64 else before & ~0xFFFFFFFF | whole & 0xFFFFFFFF]


CLEARED = [("RZ", 0, 3, [0, 24]), ("R0", 16, 2, [16, 32]), ("RZ", 8, 0, [0, 0]), ("R2", -8, 1, [0, 8]), ("R2", 0, 7, [8, 64])]


def clearing(start: str, offset: int, units: int, guard: str = "") -> list[bytes]:
    """Shared memory of ones, of which units are cleared: R0 is 0, R2 is 8."""
    stores = [word(SM_100, "STS", "R0", at, "R4") for at in range(0, 64, 4)]
    return [
        word(SM_100, "MOV", "R0", 0),
        word(SM_100, "MOV", "R2", 8),
        word(SM_100, "MOV", "R4", -1),
        *stores,
        word(SM_100, "R2UR", "UR8", start),
        word(SM_100, "UMOV", "UR10", units),
        word(SM_100, "UMEMSETS", "UR8", "UR10", offset, guard=guard),
    ]


@pytest.mark.parametrize("guard", ["", "!UP7"])
@pytest.mark.parametrize(("start", "offset", "units", "place"), CLEARED)
def test_shared_memory_is_cleared_in_units_of_8_bytes(start: str, offset: int, units: int, place: list[int], guard: str) -> None:
    rows = [*clearing(start, offset, units, guard)]
    rows += [word(SM_100, "LDS", f"R{8 + k}", "R0", 4 * k) for k in range(16)]
    rows += [
        word(SM_100, "LDC", "R6", "RZ", "c[0][0]", 0, size="64"),
        word(SM_100, "UMOV", "UR4", 0),
        word(SM_100, "UMOV", "UR5", 0),
    ]
    rows += [word(SM_100, "STG", "R6", 4 * k, f"R{8 + k}", "UR4") for k in range(16)]
    device = Device(SM_100, b"".join([*rows, word(SM_100, "EXIT")]))
    out = device.array(np.zeros(16, np.uint32))
    assert device.launch(32, out.to_bytes(8, "little"), shared=64) is None
    want = np.full(16, 0xFFFFFFFF, np.uint32)
    if not guard:
        want[place[0] // 4 : place[1] // 4] = 0
    assert device.read(out, np.zeros(16, np.uint32)).tolist() == want.tolist()


@pytest.mark.parametrize(
    ("offset", "units", "code"),
    [(4, 1, "MISALIGNED"), (0, 9, "OUT_OF_BOUNDS"), (64, 1, "OUT_OF_BOUNDS"), (0, -1, "OUT_OF_BOUNDS")],
)
def test_what_cannot_be_cleared(offset: int, units: int, code: str) -> None:
    device = Device(SM_100, b"".join([*clearing("RZ", offset, units), word(SM_100, "EXIT")]))
    fault = device.launch(32, bytes(8), shared=64)
    assert fault is not None
    assert fault.code == getattr(lib, f"ORIC_FAULT_{code}")


@pytest.mark.parametrize("alike", [True, False])
def test_a_uniform_register_waits_in_a_general_one(alike: bool) -> None:
    """R2UR.FILL, as ptxas has it where uniform registers do not suffice."""
    rows = [
        word(SM_100, "LDC", "R2", "RZ", "c[0][0]", 0, size="64"),
        word(SM_100, "UMOV", "UR8", 0x1234567),
        word(SM_100, "MOV", "R6", "UR8"),
        *([] if alike else [word(SM_100, "S2R", "R6", "SR33")]),
        word(SM_100, "UMOV", "UR8", 0),
        word(SM_100, "UMOV", "UR4", 0),
        word(SM_100, "UMOV", "UR5", 0),
        word(SM_100, "R2UR", "UR8", "R6", fill="FILL"),
        word(SM_100, "MOV", "R7", "UR8"),
        word(SM_100, "STG", "R2", 0, "R7", "UR4"),
        word(SM_100, "EXIT"),
    ]
    device = Device(SM_100, b"".join(rows))
    place = device.array(np.zeros(1, np.uint32))
    fault = device.launch(32, place.to_bytes(8, "little"))
    if alike:
        assert fault is None
        assert device.read(place, np.zeros(1, np.uint32)).tolist() == [0x1234567]
    else:
        assert ffi.string(fault.detail) == b"R2UR.FILL of several values"


def uniform_memory(name: str, **mods: Any) -> bytes:
    """UR8 holds the address in the constant bank, UR10 a number; the access is at offset 8."""
    rows = [
        word(SM_100, "LDC", "R2", "RZ", "c[0][0]", 0, size="64"),
        word(SM_100, "R2UR", "UR8", "R2"),
        word(SM_100, "R2UR", "UR9", "R3"),
        word(SM_100, "UMOV", "UR10", 0x00112233),
        word(SM_100, "UMOV", "UR11", 0x8899AABB - (1 << 32)),
        word(SM_100, name, "UR8", "UR10", 8, **mods),
        word(SM_100, "EXIT"),
    ]
    return b"".join(rows)


def surface(device: Device, texels: Array) -> int:
    """A surface of rows of 32-bit texels, as number 1."""
    address = device.array(texels)
    record = ffi.new("oric_sim_texture *")
    record.data = address
    record.size[0], record.size[1], record.size[2] = texels.shape[1], texels.shape[0], 1
    record.rank, record.layers, record.channels, record.bytes = 2, 1, 1, 4
    assert lib.oric_sim_set_texture(device.sim, 1, record) == 0
    return address


def on_surface(isa: int, row: bytes, texels: Array, data: Array) -> tuple[Array, Array]:
    """An instruction for each row of inputs, one after the other; returns the surface and what the threads got."""
    device = Device(isa, frame(isa, [word(isa, "MOV", "R16", 0x77), row]))
    place = surface(device, texels)
    source, result = device.array(data), device.array(np.zeros_like(data))
    fault = device.launch(len(data), source.to_bytes(8, "little") + result.to_bytes(8, "little"))
    assert fault is None, (fault.code, ffi.string(fault.detail))
    return device.read(place, texels), device.read(result, data)


@isas
@pytest.mark.parametrize("op", ["ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH"])
def test_atomics_on_a_surface_give_the_old_value(isa: int, op: str) -> None:
    rng = np.random.default_rng(3)
    texels = rng.integers(0, 1 << 32, (3, 4), np.uint32)
    data = np.zeros((64, 8), np.uint32)
    data[:, 0], data[:, 1] = 4 * rng.integers(0, 5, 64), rng.integers(0, 3, 64)  # x in bytes, some of them outside
    data[:, 2], data[:, 4] = rng.integers(0, 1 << 32, 64), 1
    row = word(isa, "SUATOM", "R16", "R8", "R10", "R12", ba=1, dim="2D", op=op, clamp="IGN", type="32")
    after, got = on_surface(isa, row, texels, data)
    act = {"ADD": int.__add__, "MIN": min, "MAX": max, "AND": int.__and__, "OR": int.__or__, "XOR": int.__xor__}
    want = texels.copy()
    for i, (x, y, value) in enumerate(data[:, :3].tolist()):
        inside = x < 16
        assert got[i, 0] == (want[y, x // 4] if inside else 0)
        if inside:
            new = value if op == "EXCH" else act[op](int(want[y, x // 4]), value)
            want[y, x // 4] = new & 0xFFFFFFFF
    assert (after == want).all()


@isas
def test_compare_and_swap_on_a_surface(isa: int) -> None:
    rng = np.random.default_rng(4)
    texels = rng.integers(0, 3, (3, 4), np.uint32)
    data = np.zeros((64, 8), np.uint32)
    data[:, 0], data[:, 1] = 4 * rng.integers(0, 4, 64), rng.integers(0, 3, 64)
    data[:, 2], data[:, 3], data[:, 4] = rng.integers(0, 3, 64), rng.integers(0, 3, 64), 1
    row = word(isa, "SUATOM.CAS", "R16", "R8", "R10", "R12", ba=1, dim="2D", clamp="TRAP", type="32")
    after, got = on_surface(isa, row, texels, data)
    want = texels.copy()
    for i, (x, y, expected, value) in enumerate(data[:, :4].tolist()):
        assert got[i, 0] == want[y, x // 4]
        if want[y, x // 4] == expected:
            want[y, x // 4] = value
    assert (after == want).all()


@pytest.mark.parametrize("isa", [SM_80, SM_90, SM_100])
def test_counting_atomic(isa: int) -> None:
    """ATOM.INC counts the threads that execute it; each gets a number of its own."""
    device = Device(
        isa,
        frame(
            isa, [word(isa, "UMOV", "UR6", 0), word(isa, "UMOV", "UR7", 0), word(isa, "ATOM.INC", "R16", "R8", 4, "UR6", "PT")]
        ),
    )
    counters = device.array(np.array([5, 100, 7], np.uint32))
    data = np.zeros((64, 8), np.uint32)
    data[:, 0], data[:, 1] = counters & 0xFFFFFFFF, counters >> 32
    source, result = device.array(data), device.array(np.zeros_like(data))
    fault = device.launch(len(data), source.to_bytes(8, "little") + result.to_bytes(8, "little"))
    assert fault is None, (fault.code, ffi.string(fault.detail))
    assert sorted(device.read(result, data)[:, 0].tolist()) == list(range(100, 164))
    assert device.read(counters, np.zeros(3, np.uint32)).tolist() == [5, 164, 7]


@pytest.mark.parametrize("isa", [SM_80, SM_90, SM_100])
def test_arrival_through_a_generic_address(isa: int) -> None:
    """Four arrivals end a phase: the upper word's pending arrivals count up to a carry into the phase."""
    rows = [word(isa, "UMOV", "UR6", 0), word(isa, "UMOV", "UR7", 0), word(isa, "ATOM.ARRIVE", "R16", "R8", 8, "UR6", "PT")]
    device = Device(isa, frame(isa, rows))
    expected, first = 0x40000000 - 4, 0x80000000 - 4
    barrier = device.array(np.array([1, 2, expected, first], np.uint32))
    data = np.zeros((32, 8), np.uint32)
    data[:, 0], data[:, 1] = barrier & 0xFFFFFFFF, barrier >> 32
    source, result = device.array(data), device.array(np.zeros_like(data))
    fault = device.launch(len(data), source.to_bytes(8, "little") + result.to_bytes(8, "little"))
    assert fault is None, (fault.code, ffi.string(fault.detail))
    before = device.read(result, data)[:, :2]
    assert (before[:, 0] == expected).all()
    pending = [first + turn % 4 | (turn // 4 % 2) << 31 for turn in range(33)]
    assert before[:, 1].tolist() == pending[:32]
    assert device.read(barrier, np.zeros(4, np.uint32)).tolist() == [1, 2, expected, pending[32]]


def test_a_collective_of_several_places() -> None:
    """Who comes from elsewhere goes through the same code and on behind its own place."""
    p = Program(SM_90)
    p("ISETP", "P0", "R1", 7, cmp="LT", sign="U32")
    p("BRA", "other", guard="P0")
    p("WARPSYNC.COLLECTIVE.ALL", "here")
    ballot(p, "R16")
    p("ENDCOLLECTIVE")
    p.label("here")
    p("MOV", "R17", 1)
    p("BRA", "end")
    p.label("other")
    p("WARPSYNC.COLLECTIVE.ALL", "there")
    ballot(p, "R16")
    p("ENDCOLLECTIVE")
    p.label("there")
    p("MOV", "R17", 2)
    p.label("end")
    p("NOP")
    out = p.run()
    assert (out[:, 0] == FULL).all()
    assert out[:, 1].tolist() == [2] * 7 + [1] * 25
