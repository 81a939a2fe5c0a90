"""What a program may not do, and how the simulator says so."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim.modes import Modes
from oric.support import elf
from oric_tables._native import ffi, lib

from tests.kernels import cases
from tests.sim import vendor_cubins
from tests.sim.program import SM_80, SM_90, Device, word
from tests.sim.vendor_cubins import TARGETS

targets = pytest.mark.parametrize("target", TARGETS)
isas = pytest.mark.parametrize("isa", [SM_80, SM_90])


def saxpy(target: str) -> oric.sim.Module:
    return oric.sim.load(cases.golden_cubin("saxpy", target))


def arguments(n: int) -> list[Any]:
    return [n, 2.0, np.ones(n, np.float32), np.ones(n, np.float32)]


@targets
def test_out_of_bounds_names_the_place(target: str) -> None:
    n, x, y = 100, np.zeros(100, np.float32), np.zeros(70, np.float32)
    with pytest.raises(oric.sim.OutOfBounds) as caught:
        saxpy(target).launch("saxpy", 1, 128, [n, 2.0, x, y])
    error = caught.value
    assert (error.kernel, error.block, error.function) == ("saxpy", (0, 0, 0), "saxpy")
    assert error.thread[0] in range(70, 100)
    assert error.instruction.startswith(("LDG.E", "@"))
    assert error.offset % 16 == 0
    assert error.address is not None
    text = str(error)
    assert "4-byte read of global memory" in text
    assert "past the end of argument 3 (280 bytes)" in text
    assert f"thread ({error.thread[0]},0,0) of block (0,0,0) at saxpy+{error.offset:#06x} '{error.instruction}'" in text


@targets
def test_arrays_are_unchanged_after_a_fault(target: str) -> None:
    x, y = np.ones(100, np.float32), np.ones(70, np.float32)
    with pytest.raises(oric.sim.OutOfBounds):
        saxpy(target).launch("saxpy", 1, 128, [100, 2.0, x, y])
    assert (y == 1).all()


@targets
def test_misaligned_address(target: str) -> None:
    raw = np.zeros(404, np.uint8)
    y = raw[2:402]
    with pytest.raises(oric.sim.Misaligned, match="misaligned address: 4-byte"):
        saxpy(target).launch("saxpy", 1, 32, [32, 2.0, raw, y])


@targets
def test_step_limit(target: str) -> None:
    flag, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    loaded = vendor_cubins.module("threads", target)
    lock = np.ones(1, np.int32)
    with pytest.raises(oric.sim.StepLimit) as caught:
        loaded.launch("casloop", 1, 64, [lock, np.zeros(2, np.int32), flag, out], max_steps=5000)
    assert caught.value.function == "casloop"
    assert caught.value.instruction


@targets
def test_barrier_deadlock(target: str) -> None:
    out = np.zeros(192, np.int32)
    with pytest.raises(oric.sim.Deadlock, match="BAR"):
        vendor_cubins.module("threads", target).launch("named", 1, 32, [out, 3])


@isas
def test_convergence_deadlock(isa: int) -> None:
    """A lane that waits at WARPSYNC for one that waits at a CTA barrier of another."""
    text = b"".join([
        word(isa, "S2R", "R0", "SR33"),
        word(isa, "ISETP", "P0", "R0", 0, cmp="EQ"),
        word(isa, "BRA", 32, guard="P0"),
        word(isa, "BAR.SYNC", 1, 0x40),
        word(isa, "EXIT"),
        word(isa, "MOV", "R1", 0xFFFFFFFF),
        word(isa, "WARPSYNC", "R1"),
        word(isa, "EXIT"),
    ])  # fmt: skip
    fault = Device(isa, text).launch(32, bytes(64))
    assert fault.code == lib.ORIC_FAULT_DEADLOCK
    assert b"wait for ever" in ffi.string(fault.detail)


FAULTS = {
    "store to unmapped memory": ([("STG", "RZ", 0x100, "R0", "UR4", {})], "OUT_OF_BOUNDS"),
    "shared memory past the end": ([("LDS", "R2", "RZ", 0x40, {})], "OUT_OF_BOUNDS"),
    "shared memory below zero": ([("LDS", "R2", "RZ", -4, {})], "OUT_OF_BOUNDS"),
    "local memory past the end": ([("STL", "RZ", 0x20, "R0", {})], "OUT_OF_BOUNDS"),
    "constant past the end": ([("MOV", "R2", "c[0][64]", {})], "OUT_OF_BOUNDS"),
    "constant bank that is not there": ([("MOV", "R2", "c[9][0]", {})], "OUT_OF_BOUNDS"),
    "misaligned shared access": ([("LDS", "R2", "RZ", 0x4, {"size": "64"})], "MISALIGNED"),
    "misaligned local access": ([("LDL", "R2", "RZ", 0x2, {})], "MISALIGNED"),
    "branch before the code": ([("BRA", -0x100, {})], "WILD_BRANCH"),
    "branch behind the code": ([("BRA", 0x10000, {})], "WILD_BRANCH"),
    "branch into an instruction": ([("BRA", 4, {})], "WILD_BRANCH"),
    "register beyond the kernel's": ([("MOV", "R64", "R0", {})], "ILLEGAL"),
    "pair beyond the kernel's": ([("IMAD.WIDE", "R64", "R0", "R0", "RZ", {})], "ILLEGAL"),
    "odd pair": ([("IMAD.WIDE", "R2", "R0", "R0", "RZ", {"odd": 16})], "ILLEGAL"),
    "odd address": ([("LDG", "R4", "R2", 0, "UR4", {"odd": 24})], "ILLEGAL"),
    "unaligned quad": ([("LDS", "R4", "RZ", 0, {"size": "128", "odd": 16})], "ILLEGAL"),
    "two negated sources": ([("IADD3", "R2", "-R0", "-R1", "RZ", {})], "ILLEGAL"),
    "two complements": ([("IADD3.X", "R2", "~R0", "~R1", "RZ", {})], "ILLEGAL"),
    "two negated sources of a shifted sum": ([("LEA", "R2", "-R0", "-R1", {"shift": 3})], "ILLEGAL"),
    "barrier count": ([("BAR.SYNC", 1, 33, {})], "ILLEGAL"),
    "trap": ([("BPT", {"code": 1})], "TRAP"),
    "no end": ([("BRA", -16, {})], "STEP_LIMIT"),
    "no meaning": ([("S2R", "R2", "SR61", {})], "NO_MEANING"),
    "unknown variant": ([("LDG", "R4", "RZ", 0, "UR4", "P1", {})], "NO_MEANING"),
}


def _made(isa: int, *row: Any, odd: int | None = None, **mods: Any) -> bytes:
    """An instruction; `odd`: the bit of a register number that is set afterwards, as the encoder would refuse it."""
    made = int.from_bytes(word(isa, *row, **mods), "little")
    return (made | (0 if odd is None else 1 << odd)).to_bytes(16, "little")


@isas
@pytest.mark.parametrize("what", FAULTS)
def test_fault(isa: int, what: str) -> None:
    rows, code = FAULTS[what]
    text = b"".join([_made(isa, *row[:-1], **row[-1]) for row in rows] + [word(isa, "EXIT")])
    fault = Device(isa, text).launch(32, bytes(64), shared=64, local=32)
    assert fault is not None
    assert fault.code == getattr(lib, f"ORIC_FAULT_{code}"), (fault.code, ffi.string(fault.detail))


@isas
def test_word_that_is_no_instruction(isa: int) -> None:
    fault = Device(isa, bytes(range(1, 17)) * 2).launch(32, bytes(64))
    assert fault.code == lib.ORIC_FAULT_ILLEGAL


@isas
def test_run_off_the_end(isa: int) -> None:
    fault = Device(isa, word(isa, "NOP")).launch(32, bytes(64))
    assert fault.code == lib.ORIC_FAULT_WILD_BRANCH


@isas
def test_lanes_without_a_fault_do_not_count(isa: int) -> None:
    """Only a lane whose guard holds is checked."""
    text = b"".join([
        word(isa, "S2R", "R0", "SR33"),
        word(isa, "ISETP", "P0", "R0", 7, cmp="EQ"),
        word(isa, "LDS", "R2", "RZ", 0x1000, guard="P0"),
        word(isa, "EXIT"),
    ])  # fmt: skip
    fault = Device(isa, text).launch(32, bytes(64))
    assert (fault.code, fault.lane, fault.tid[0]) == (lib.ORIC_FAULT_OUT_OF_BOUNDS, 7, 7)


WRONG = {
    "no kernel 'nope'": ("nope", 1, 32, arguments(8), {}),
    "takes 4 parameters, 3 given": ("saxpy", 1, 32, arguments(8)[:3], {}),
    "takes 4 parameters, 5 given": ("saxpy", 1, 32, [*arguments(8), 1], {}),
    "argument 0: an array given for a parameter of 4 bytes": ("saxpy", 1, 32, [np.zeros(1), *arguments(8)[1:]], {}),
    "argument 0: 4294967296 does not fit": ("saxpy", 1, 32, [1 << 32, *arguments(8)[1:]], {}),
    "argument 0: 3 bytes given for a parameter of 4": ("saxpy", 1, 32, [b"abc", *arguments(8)[1:]], {}),
    "argument 1: a str cannot be": ("saxpy", 1, 32, [1, "x", *arguments(8)[2:]], {}),
    "argument 2: an array of Python objects": ("saxpy", 1, 32, [1, 2.0, np.array([None]), np.zeros(1, np.float32)], {}),
    "argument 3: an array of foreign byte order": ("saxpy", 1, 32, [1, 2.0, np.zeros(1, "f4"), np.zeros(1, ">f4")], {}),
    "max_steps is 0": ("saxpy", 1, 32, arguments(8), {"max_steps": 0}),
    "1025, not 1 to 1024": ("saxpy", 1, 1025, arguments(8), {}),
    "a block of 2048 threads": ("saxpy", 1, (1024, 2), arguments(8), {}),
    "block.z is 65": ("saxpy", 1, (1, 1, 65), arguments(8), {}),
    "grid.x is 0": ("saxpy", 0, 32, arguments(8), {}),
    "grid.y is 65536": ("saxpy", (1, 65536), 32, arguments(8), {}),
    "not up to three numbers": ("saxpy", (1, 1, 1, 1), 32, arguments(8), {}),
    "bytes of shared memory": ("saxpy", 1, 32, arguments(8), {"shared_bytes": 1 << 20}),
    "bytes of local memory": ("saxpy", 1, 32, arguments(8), {"stack_bytes": 1 << 30}),
}


@targets
@pytest.mark.parametrize("message", WRONG)
def test_wrong_launch(target: str, message: str) -> None:
    name, grid, block, args, more = WRONG[message]
    with pytest.raises(oric.sim.LaunchError) as caught:
        saxpy(target).launch(name, grid, block, args, **more)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@targets
def test_read_only_array(target: str) -> None:
    args = arguments(32)
    args[3].flags.writeable = False
    with pytest.raises(oric.sim.LaunchError, match="argument 3, a read-only array"):
        saxpy(target).launch("saxpy", 1, 32, args)
    args = arguments(32)
    args[2].flags.writeable = False
    saxpy(target).launch("saxpy", 1, 32, args)
    assert (args[3] == 3).all()


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"not a cubin", bytes(4096)])
def test_no_cubin(data: bytes) -> None:
    with pytest.raises(oric.sim.LoadError):
        oric.sim.load(data)


@pytest.mark.parametrize("seed", range(8))
def test_corrupt_code_is_an_error_or_an_answer(seed: int) -> None:
    """Bits of the first instructions flipped: whatever happens is a SimError or a normal end."""
    rng = random.Random(seed)
    pool = [(f, t) for f in cases.files() for t in cases.TARGETS]
    arrays = [np.zeros(256, np.float32) for _ in range(8)]
    outcomes = set()
    for number in range(40):
        modes = Modes(strict=number % 2 == 1)
        data = bytearray(cases.golden_cubin(*rng.choice(pool)))
        cubin = elf.read(bytes(data))
        function = rng.choice(list(cubin.kernels.values()))
        start = cubin.sections[function.section].offset
        for _ in range(rng.randint(1, 5)):
            bit = rng.randrange(128 * min(40, len(function.text) // 16))
            data[start + bit // 8] ^= 1 << bit % 8
        params = sorted(function.params, key=lambda p: p.ordinal)
        args = [arrays[i % 8] if p.size == 8 else bytes(p.size) if p.size > 8 else 64 for i, p in enumerate(params)]
        try:
            oric.sim.load(bytes(data)).launch(function.name, 2, 48, args, max_steps=2000, modes=modes)
            outcomes.add("end")
        except oric.sim.SimError as error:
            assert str(error)
            outcomes.add(type(error).__name__)
    assert len(outcomes) > 2
