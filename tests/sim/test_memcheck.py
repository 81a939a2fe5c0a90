"""Planted faults of memory: every one is reported with its kind, thread and source line, and its clean twin says nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import oric.sim
import pytest
from oric.sim import Kind, Modes

from tests.kernels import cases
from tests.sim.planted_cubins import LIBRARY, TARGETS, check, lines, lines_with, module, of_kind, on

targets = on(*TARGETS)
with_copies = on(*TARGETS[1:])  # LDGSTS
of_library = pytest.mark.parametrize("target", LIBRARY)
BYTES = 249  # of the buffer that is overrun: no multiple of any size, so that accesses can straddle its end
ME, BLOCK = (37, 0, 0), (1, 0, 0)
WIDTHS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2": 8, "v4": 16}
ATOMICS = {"atomic_add": 4, "atomic_add64": 8, "atomic_float": 4, "atomic_cas": 4, "atomic_exch64": 8, "reduce_max": 4}
FAR = 1 << 20


class Access(NamedTuple):
    """A stray access: kernel, offset, what is said about it."""

    kernel: str
    at: int
    kind: Kind
    size: int
    write: bool
    near: str


def global_accesses() -> list[Access]:
    """Reads, writes and atomics of every width in front of a buffer, over and behind its end, far from it, misaligned."""
    made = []
    sizes = {f"read_{n}": s for n, s in WIDTHS.items()} | {f"write_{n}": s for n, s in WIDTHS.items() if n != "v2"} | ATOMICS
    for kernel, size in sizes.items():
        write = not kernel.startswith("read")
        last = BYTES // size * size
        made.append(Access(kernel, -size, Kind.OUT_OF_BOUNDS, size, write, f", {size} bytes before"))
        if size > 1:
            made.append(Access(kernel, last, Kind.OUT_OF_BOUNDS, size, write, ", in buffer"))
            made.append(Access(kernel, size // 2, Kind.MISALIGNED, size, write, ""))
        behind = -(-BYTES // size) * size
        made.append(Access(kernel, behind, Kind.OUT_OF_BOUNDS, size, write, f", {behind - BYTES} bytes past the end of"))
        made.append(Access(kernel, FAR, Kind.OUT_OF_BOUNDS, size, write, "past the end of"))
    return made


def place_of(kernel: str) -> frozenset[int]:
    """Lines of the access of a kernel of access.cu."""
    for prefix, macro in {"shared_read": "SHARED_READ", "shared_write": "SHARED_WRITE", "read": "READ", "write": "WRITE"}.items():
        if kernel.startswith(prefix + "_"):
            name = kernel.removeprefix(prefix + "_")
            return frozenset(n for n in lines_with("access", f"{macro}({name}, ") if n not in lines_with("access", "#define"))
    if kernel in ATOMICS:
        return lines_with("access", f"K {kernel}(")
    return lines_with("access", f"// FAULT {kernel}")


def values(dtype: type = np.uint8, count: int = 4096) -> Any:
    return np.zeros(count, dtype)


@targets
@pytest.mark.parametrize("case", global_accesses(), ids=lambda c: f"{c.kernel}{c.at:+}")
def test_global_access(target: str, case: Access) -> None:
    loaded = module("access", target)
    buffer = loaded.buffer(bytes(BYTES))
    [report] = check(loaded, case.kernel, [buffer, values(), case.at], grid=2)
    assert (report.kind, report.thread, report.block, report.space) == (case.kind, ME, BLOCK, "global")
    assert (report.size, report.address) == (case.size, buffer.address + case.at)
    assert report.access == ("atomic access" if case.kernel in ATOMICS else "write" if case.write else "read")
    assert lines(report) & place_of(case.kernel)
    assert case.near in report.near
    assert report.repeats == 0


@targets
@pytest.mark.parametrize("kernel", sorted({c.kernel for c in global_accesses()}))
def test_global_access_in_bounds(target: str, kernel: str) -> None:
    loaded = module("access", target)
    assert check(loaded, kernel, [loaded.buffer(bytes(BYTES)), values(), 0], grid=2) == []


@targets
@pytest.mark.parametrize("kernel", ["read_u32", "write_v4", "atomic_cas"])
def test_null_pointer(target: str, kernel: str) -> None:
    loaded = module("access", target)
    buffer = loaded.buffer(bytes(BYTES))
    [report] = check(loaded, kernel, [buffer, values(), -buffer.address], grid=2)
    assert (report.kind, report.thread, report.address, report.near) == (Kind.OUT_OF_BOUNDS, ME, 0, ", a null pointer")


@targets
@pytest.mark.parametrize("kernel", ["read_u8", "read_v4", "write_u32", "atomic_add"])
def test_use_after_free(target: str, kernel: str) -> None:
    loaded = module("access", target)
    gone, kept = loaded.buffer(bytes(256)), loaded.buffer(bytes(256))
    at = gone.address - kept.address
    gone.free()
    [report] = check(loaded, kernel, [kept, values(), at], grid=2)
    assert (report.kind, report.thread, report.block) == (Kind.USE_AFTER_FREE, ME, BLOCK)
    assert "which has been freed (256 bytes)" in report.near
    assert lines(report) & place_of(kernel)


SHARED = {f"shared_{how}_{n}": WIDTHS[n] for how in ("read", "write") for n in ("u8", "u16", "u32", "u64", "v4")} | {
    "shared_atomic": 4
}


@targets
@pytest.mark.parametrize("where", ["before", "behind", "far", "misaligned", "inside"])
@pytest.mark.parametrize("kernel", SHARED)
def test_shared_access(target: str, kernel: str, where: str) -> None:
    size = SHARED[kernel]
    at = {"before": -size, "behind": 64 * size, "far": 1 << 18, "misaligned": size // 2, "inside": 37 * size}[where]
    if where == "misaligned" and size == 1:
        at = 1 << 20
    reports = check(module("access", target), kernel, [values(), at], grid=2)
    if where == "inside":
        assert reports == []
        return
    kind = Kind.MISALIGNED if at == size // 2 else Kind.OUT_OF_BOUNDS
    [report] = of_kind(reports, kind)
    assert (report.thread, report.block, report.space, report.size) == (ME, BLOCK, "shared", size)
    assert lines(report) & place_of(kernel)
    # The write that was dropped leaves a word that nobody has written.
    assert all(r.kind in {kind, Kind.UNINITIALISED} for r in reports)


@targets
@pytest.mark.parametrize("kernel", ["dynamic_read", "dynamic_write"])
@pytest.mark.parametrize("at", [256, 2, 1 << 16])
def test_dynamic_shared_access(target: str, kernel: str, at: int) -> None:
    loaded = module("access", target)
    [report] = of_kind(
        check(loaded, kernel, [values(), at], grid=2, shared=256), Kind.MISALIGNED if at == 2 else Kind.OUT_OF_BOUNDS
    )
    assert (report.thread, report.block, report.space) == (ME, BLOCK, "shared")
    assert lines(report) & place_of(kernel)
    assert check(loaded, kernel, [values(), 148], grid=2, shared=256) == []


@targets
@pytest.mark.parametrize("kernel", ["local_read", "local_write"])
@pytest.mark.parametrize("at", [-4, 128, 1 << 19, 6])
def test_local_access(target: str, kernel: str, at: int) -> None:
    loaded = module("access", target)
    [report] = check(loaded, kernel, [values(np.int32), at], grid=2)
    assert report.kind == (Kind.MISALIGNED if at == 6 else Kind.OUT_OF_BOUNDS)
    assert (report.thread, report.block, report.space, report.size) == (ME, BLOCK, "local", 4)
    assert lines(report) & place_of(kernel)
    assert check(loaded, kernel, [values(np.int32), 124], grid=2) == []


@targets
@pytest.mark.parametrize("at", [64, 2, 1 << 20])
def test_constant_access(target: str, at: int) -> None:
    loaded = module("access", target)
    [report] = check(loaded, "constant_read", [values(np.int32), at], grid=2)
    assert report.kind == (Kind.MISALIGNED if at == 2 else Kind.OUT_OF_BOUNDS)
    assert (report.thread, report.block, report.space, report.size) == (ME, BLOCK, "constant", 4)
    assert lines(report) & place_of("constant_read")
    assert check(loaded, "constant_read", [values(np.int32), 60], grid=2) == []


@targets
def test_constant_write(target: str) -> None:
    loaded = module("access", target)
    [report] = check(loaded, "constant_write", [values(np.int32), 1], grid=2)
    assert (report.kind, report.thread, report.block, report.access) == (Kind.READ_ONLY, ME, BLOCK, "write")
    assert lines(report) & place_of("constant_write")
    assert check(loaded, "constant_write", [values(np.int32), 0], grid=2) == []


GENERIC = {
    "generic_read": ("global", "shared", "local"),
    "generic_write": ("global", "shared", "local"),
    "generic_atomic": ("global", "shared"),
}


@targets
@pytest.mark.parametrize("kernel,where", [(k, n) for k, spaces in GENERIC.items() for n in range(len(spaces))])
@pytest.mark.parametrize("at", [256, 2])
def test_generic_access(target: str, kernel: str, where: int, at: int) -> None:
    loaded = module("access", target)

    def reports(offset: int) -> list[oric.sim.Report]:
        return check(loaded, kernel, [loaded.buffer(bytes(256)), values(np.int32), where, offset], grid=2)

    [report] = reports(at)
    assert report.kind == (Kind.MISALIGNED if at == 2 else Kind.OUT_OF_BOUNDS)
    assert (report.thread, report.block, report.space, report.size) == (ME, BLOCK, GENERIC[kernel][where], 4)
    assert lines(report) & place_of(kernel)
    assert reports(0) == []


@with_copies
@pytest.mark.parametrize("kernel", ["copy_astray", "copy_from_astray"])
@pytest.mark.parametrize("at", [1 << 18, 2])
def test_asynchronous_copy(target: str, kernel: str, at: int) -> None:
    loaded = module("access", target)
    [report] = of_kind(
        check(loaded, kernel, [values(), values(), at], grid=2), Kind.MISALIGNED if at == 2 else Kind.OUT_OF_BOUNDS
    )
    assert (report.thread, report.block, report.size) == (ME, BLOCK, 4)
    assert report.space == ("shared" if kernel == "copy_astray" else "global")
    assert lines(report) & place_of(kernel)
    assert check(loaded, kernel, [values(), values(), 0], grid=2) == []


@targets
@pytest.mark.parametrize(
    "kernel", ["read_u8", "read_u16", "read_u32", "read_u64", "read_v2", "read_v4", "atomic_add", "atomic_cas"]
)
def test_uninitialised_buffer(target: str, kernel: str) -> None:
    """Only the beginning of the buffer is written."""
    loaded = module("access", target)
    buffer = loaded.buffer(256, uninitialised=True)
    buffer.write(bytes(16))
    [report] = check(loaded, kernel, [buffer, values(), 64], grid=2)
    assert (report.kind, report.thread, report.block) == (Kind.UNINITIALISED, ME, BLOCK)
    assert lines(report) & place_of(kernel)
    assert "in buffer" in report.near
    buffer.write(bytes(16), 64)
    assert check(loaded, kernel, [buffer, values(), 64], grid=2) == []


@targets
def test_written_by_a_kernel(target: str) -> None:
    loaded = module("access", target)
    buffer = loaded.buffer(256, uninitialised=True)
    buffer.write(bytes(16))
    assert check(loaded, "write_u64", [buffer, values(), 64], grid=2) == []
    assert check(loaded, "read_u64", [buffer, values(), 64], grid=2) == []
    assert [r.kind for r in check(loaded, "read_u64", [buffer, values(), 72], grid=2)] == [Kind.UNINITIALISED]
    loaded.launch("read_u64", 2, 64, [buffer, values(), 72])  # a launch without the checker writes without a trace
    assert check(loaded, "read_u64", [buffer, values(), 72], grid=2) == []


@targets
@pytest.mark.parametrize(
    "kernel", ["uninitialised_shared", "uninitialised_dynamic", "uninitialised_counter", "uninitialised_local"]
)
def test_uninitialised(target: str, kernel: str) -> None:
    loaded = module("access", target)
    reports = check(loaded, kernel, [values(np.int32), 1], shared=256)
    report = reports[0]
    one_of_warp = {(31, 0, 0), (63, 0, 0), (0, 0, 0), (32, 0, 0)}  # the compiler lets one thread of a warp add for all
    assert (report.kind, report.block) == (Kind.UNINITIALISED, (0, 0, 0))
    assert report.thread in (one_of_warp if kernel == "uninitialised_counter" else {(0, 0, 0)})
    assert report.space == ("local" if kernel == "uninitialised_local" else "shared")
    assert lines(report) & place_of(kernel)
    assert check(loaded, kernel, [values(np.int32), 0], shared=256) == []


HEAP = {
    1: (Kind.UNINITIALISED, "uninitialised"), 2: (Kind.OUT_OF_BOUNDS, "past"), 3: (Kind.USE_AFTER_FREE, "after_free"),
    4: (Kind.BAD_FREE, "twice"), 5: (Kind.BAD_FREE, "middle"), 6: (Kind.BAD_FREE, "foreign"),
    8: (Kind.USE_AFTER_FREE, "write_after_free"), 9: (Kind.OUT_OF_BOUNDS, "before"),
}  # fmt: skip


@targets
@pytest.mark.parametrize("what", HEAP)
def test_heap(target: str, what: int) -> None:
    kind, marker = HEAP[what]
    [report] = check(module("heap", target), "heap", [values(np.int32, 4), what], grid=2)
    assert (report.kind, report.thread, report.block) == (kind, (3, 0, 0), BLOCK)
    assert lines(report) & lines_with("heap", f"FAULT heap_{marker}")
    assert ("argument 0" if what == 6 else "memory from malloc") in report.near
    if what in {3, 4, 8}:
        assert lines(report, first=True) & lines_with("heap", "FREE heap")


@targets
def test_leaks(target: str) -> None:
    loaded = module("heap", target)
    assert check(loaded, "heap", [values(np.int32, 4), 0], grid=2) == []
    assert loaded.leaks() == ()
    assert check(loaded, "heap", [values(np.int32, 4), 7], grid=2) == []
    [leak] = loaded.leaks()
    assert (leak.kind, leak.size) == (Kind.LEAK, 64)
    assert "64 bytes from malloc" in str(leak)


@targets
def test_text(target: str) -> None:
    loaded = module("access", target)
    buffer = loaded.buffer(bytes(BYTES))
    [report] = check(loaded, "read_u32", [buffer, values(), 252], grid=2)
    text = str(report)
    assert text.startswith(
        f"out of bounds: 4-byte read of global memory at {buffer.address + 252:#x}, 3 bytes past the end of buffer "
    )
    assert f"thread (37,0,0) of block (1,0,0) at read_u32+{report.offset:#06x} '{report.instruction}' [" in text
    assert "access.cu:" in text
    assert text.endswith("(kernel read_u32)")
    assert "\n" not in text


@targets
def test_a_bad_load_gives_a_pattern_and_a_bad_store_is_dropped(target: str) -> None:
    loaded = module("access", target)
    buffer, out = loaded.buffer(bytes(range(16)) * 16), np.zeros(128, np.uint32)
    assert len(check(loaded, "read_u32", [buffer, out, 256], grid=2)) == 1
    assert out[64 + 37] == 0xCDCDCDCD
    assert set(out.tolist()) == {0xCDCDCDCD, 0x03020100}
    before = buffer.read()
    assert len(check(loaded, "write_u32", [buffer, out, 256], grid=2)) == 1
    assert buffer.read()[4:] == before[4:]


@targets
def test_faults_that_are_not_of_memory_still_stop(target: str) -> None:
    with pytest.raises(oric.sim.StepLimit) as caught:
        module("access", target).launch("read_u32", 2, 64, [0, values(), 0], modes=Modes(memcheck=True), max_steps=20)
    assert isinstance(caught.value.reports, tuple)


@pytest.mark.parametrize("case", cases.CASES, ids=lambda c: c.id)
@of_library
def test_clean_kernels(target: str, case: cases.Case) -> None:
    """Kernels without faults: no report, and the results are right."""
    loaded = oric.sim.load(cases.golden_cubin(case.file, target))
    for step in case.build():
        done = loaded.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, modes=Modes(memcheck=True))
        assert [str(r) for r in done.reports] == []
        step.check()


@targets
def test_read_that_does_not_matter(target: str) -> None:
    """An unwritten word is reported when results depend on it, not when it is only read; memory is that of the one launch."""
    loaded = module("access", target)
    out = np.arange(1, 65, dtype=np.int32)
    assert check(loaded, "behind", [out, 64]) == []
    assert out.tolist() == [*range(2, 65), 0]
    [report] = check(loaded, "behind", [out, 65])
    assert (report.kind, report.thread, report.space) == (Kind.UNINITIALISED, (63, 0, 0), "shared")
    assert lines(report) & place_of("behind")
    assert out[:-1].tolist() == [*range(3, 65), 0]
