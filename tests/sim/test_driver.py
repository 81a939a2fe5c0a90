"""What the driver does for device code: printf, assertions, the heap, launch values; calls; CTAs on host threads."""

from __future__ import annotations

import lzma
import time
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import VENDOR, cubin

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
CLUSTER_TARGETS = TARGETS[2:]
I = np.arange(32)  # noqa: E741
targets = pytest.mark.parametrize("target", TARGETS)
cluster_targets = pytest.mark.parametrize("target", CLUSTER_TARGETS)
FAST = Modes(workers=1)


def load(target: str, name: str = "driver") -> oric.sim.Module:
    return oric.sim.load(cubin(name, target))


@targets
def test_printf(target: str) -> None:
    got: list[str] = []
    stats = load(target).launch("prints", 1, 32, [2], output=got.append)
    tail = "1099511627776 ff {:<5d}| 1.2e+04 % 00ABCDEF 4464 0x1234 {} 10\n"
    want = f"0 of 32:  0.000 a {tail.format(0, 0)}1 of 32: text 0.500 b {tail.format(1, -1)}"
    assert stats.printed == want
    assert "".join(got) == want


@targets
def test_printf_gives_the_number_of_arguments(target: str) -> None:
    out = np.zeros(3, np.int32)
    stats = load(target).launch("print_results", 1, 3, [out])
    assert out.tolist() == [20] * 3
    assert stats.printed == "0 1\n1 1\n2 1\nxxx"


@targets
def test_assertions_say_where(target: str) -> None:
    values = np.array([3, 2, -1, 5], np.int32)
    with pytest.raises(oric.sim.AssertionFailed, match=r"p\[threadIdx.x\] > 0 \(driver.cu:18, .*thread \(2,0,0\).*CALL") as found:
        load(target).launch("asserts", 1, 4, [values])
    assert (found.value.assertion, found.value.file, found.value.line) == ("p[threadIdx.x] > 0", "driver.cu", 18)
    assert "asserts" in found.value.asserting
    assert values.tolist() == [3, 2, -1, 5]
    load(target).launch("asserts", 1, 2, [values])
    assert values.tolist() == [7, 7, -1, 5]


@targets
def test_heap(target: str) -> None:
    module, out = load(target), np.zeros(32, np.int64)
    for _ in range(3):
        module.launch("heap", 1, 32, [out, 10], heap_bytes=32 * 40)
        assert out.tolist() == (45 + 10 * I).tolist()
    module.launch("too_much", 1, 1, [out, 1 << 20], heap_bytes=1 << 19)
    assert out[0] == 0
    module.launch("too_much", 1, 1, [out, 1 << 19], heap_bytes=1 << 19)
    assert out[0] != 0


@targets
def test_wrong_frees(target: str) -> None:
    with pytest.raises(oric.sim.BadFree, match=r"thread \(0,0,0\) .* at free_twice.*CALL"):
        load(target).launch("free_twice", 1, 1)
    with pytest.raises(oric.sim.BadFree):
        load(target).launch("free_other", 1, 1, [np.zeros(4)])
    load(target).launch("free_other", 1, 1, [0])


@targets
def test_trap(target: str) -> None:
    with pytest.raises(oric.sim.Trap, match=r"thread \(3,0,0\)"):
        load(target).launch("traps", 1, 32)


@targets
def test_calls(target: str) -> None:
    module, out = load(target), np.zeros(32, np.int32)
    module.launch("pointers", 1, 32, [out])
    assert (out == np.choose(I % 3, [I + 3, I * 5, I - 7])).all()
    module.launch("recursion", 1, 32, [out])
    assert (out == np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])[I % 12]).all()
    module.launch("deep", 1, 32, [out, 500], stack_bytes=40000)
    assert (out == 500 * 501 // 2).all()
    with pytest.raises(oric.sim.OutOfBounds, match="local memory"):
        module.launch("deep", 1, 32, [out, 5000])


def step(u: int, i: int, r: int) -> int:
    """What one turn of kernel `jumps` does."""
    return [i * 3, r - 77, r * 5 ^ 0x55, i << 4, ~r, r + 1000, r ^ 0x1234][u] if u < 7 else r * 9 - i


@targets
def test_jump_tables(target: str) -> None:
    module, out = load(target), np.zeros(32, np.int32)
    for u in range(9):
        module.launch("jumps", 1, 32, [out, u])
        assert out.tolist() == [step(u, i, step(i % 8, i, 0)) for i in range(32)], u


@pytest.mark.row("R2-06")
@targets
def test_special_registers(target: str) -> None:
    module, out = load(target), np.zeros(13, np.uint32)
    module.launch("special", (4, 5), (64, 1, 3), [out], shared_bytes=128)
    warps = 32 if target == "sm_75" else 48 if target == "sm_120" else 64
    assert out.tolist() == [5, 5, warps, 1, 31, 128, 128, 0, 0, 1, 1, 5, 3]


def test_unknown_functions_are_named() -> None:
    data = bytearray(cubin("driver", "sm_90"))
    data = data.replace(b"\0malloc\0", b"\0nalloc\0")
    with pytest.raises(oric.sim.Unsupported, match="external function nalloc"):
        oric.sim.load(bytes(data)).launch("heap", 1, 1, [np.zeros(1, np.int64), 1])


@targets
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_host_threads(target: str, workers: int) -> None:
    """The same results, statistics and faults for any number of them."""
    module, modes = load(target), Modes(workers=workers)
    bins = np.zeros(32, np.int32)
    one = module.launch("count", 1, 256, [np.zeros(32, np.int32), 50], modes=FAST)
    many = module.launch("count", 40, 256, [bins, 50], modes=modes)
    assert bins.sum() == 40 * 256 * 50 * 49 // 2
    assert (many.ctas, many.thread_instructions) == (40, 40 * one.thread_instructions)
    order = np.zeros(40, np.int32)
    module.launch("ticket", 40, 32, [np.zeros(1, np.int32), order], modes=modes)
    assert order.tolist() == list(range(40))
    stores = np.zeros(64, np.int32)
    with pytest.raises(oric.sim.OutOfBounds, match=r"thread \(0,0,0\) of block \(5,0,0\)"):
        module.launch("far_store", 64, 32, [stores], modes=modes)
    buffer = module.buffer(256)
    with pytest.raises(oric.sim.OutOfBounds):
        module.launch("far_store", 64, 32, [buffer], modes=modes)
    assert np.frombuffer(buffer.read(), np.int32).tolist() == [1] * 5 + [0] * 59  # as one thread leaves it


@pytest.mark.parametrize("workers", [1, 4])
def test_limits(workers: int) -> None:
    module, modes = load("sm_90"), Modes(workers=workers)
    with pytest.raises(oric.sim.StepLimit, match=r"block \(0,0,0\)"):
        module.launch("forever", 8, 32, max_steps=100_000, modes=modes)
    start = time.monotonic()
    with pytest.raises(oric.sim.TimeLimit, match=r"0.05 seconds are over \(kernel forever\)"):
        module.launch("forever", 8, 32, max_steps=1 << 40, max_seconds=0.05, modes=modes)
    assert time.monotonic() - start < 20


def expected_places(grid: tuple[int, int, int], cluster: tuple[int, int, int], explicit: bool, shared: int) -> list[list[int]]:
    rows = []
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                at = (x, y, z)
                mine = [a // c for a, c in zip(at, cluster, strict=True)]
                inside = [a % c for a, c in zip(at, cluster, strict=True)]
                rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
                count = [g // c for g, c in zip(grid, cluster, strict=True)]
                size = cluster[0] * cluster[1] * cluster[2]
                rows.append([*mine, *count, *inside, *cluster, rank, size, int(explicit), shared])
    return rows


@cluster_targets
def test_places_in_clusters(target: str) -> None:
    module = load(target, "cluster")
    for grid, cluster in (((4, 6, 2), (2, 3, 1)), ((7, 2, 4), (7, 1, 2)), ((2, 1, 1), (1, 1, 1))):
        out = np.zeros((grid[0] * grid[1] * grid[2], 16), np.uint32)
        module.launch("shape", grid, 1, [out], cluster=cluster)
        assert out.tolist() == expected_places(grid, cluster, True, 1024)
    out = np.zeros((12, 16), np.uint32)
    module.launch("shape", (6, 2), 1, [out])
    assert out.tolist() == expected_places((6, 2, 1), (1, 1, 1), False, 1024)
    module.launch("fixed_shape", (6, 2), 1, [out])
    assert out.tolist() == expected_places((6, 2, 1), (3, 2, 1), True, 1024)


@cluster_targets
@pytest.mark.parametrize("size", [1, 2, 5, 8, 16])
def test_distributed_shared_memory(target: str, size: int) -> None:
    out = np.zeros((2 * size, 64), np.int32)
    load(target, "cluster").launch("neighbours", 2 * size, 64, [out], cluster=size)
    k = np.arange(64)
    for block in range(2 * size):
        rank = block % size
        want = (rank + 1) % size * 1000 + 63 - k
        want[:32] += rank * 1000 + k[:32] + 2 * 100000
        want[63] = (rank + 1) % size
        assert out[block].tolist() == want.tolist()


@cluster_targets
def test_shared_addresses_have_a_rank(target: str) -> None:
    out = np.zeros(4, np.int32)
    load(target, "cluster").launch("raw", 4, 32, [out, 2], cluster=4)
    assert out.tolist() == [102, 102, 112, 102]
    with pytest.raises(oric.sim.OutOfBounds, match="the cluster's shared memory at 0x7"):
        load(target, "cluster").launch("raw", 4, 32, [out, 7], cluster=4)


@cluster_targets
def test_faults_of_clusters(target: str) -> None:
    module, out = load(target, "cluster"), np.zeros(1, np.int32)
    with pytest.raises(oric.sim.Deadlock, match="4 warps wait for ever"):
        module.launch("never_all", 2, 64, [out], cluster=2)
    with pytest.raises(oric.sim.OutOfBounds, match="the cluster's shared memory"):
        module.launch("late", 2, 32, [out], cluster=2)


@targets
def test_statistics(target: str) -> None:
    """One warp loads with a stride, stores to shared memory with it, and half of it goes on."""
    for stride, sectors, turns in ((1, 8, 2), (2, 12, 3), (32, 36, 33)):
        data = np.zeros(1024, np.int32)
        stats = load(target).launch("traffic", 1, 32, [data, stride], shared_bytes=4096)
        assert stats.traffic["global"] == (2, sectors, 4 * (32 + 16))
        assert stats.traffic["shared"] == (2, turns, 4 * (32 + 16))
        assert sum(stats.classes.values()) == stats.warp_instructions
        assert stats.active_share == stats.thread_instructions / (32 * stats.warp_instructions)
    calls = load(target).launch("pointers", 1, 32, [np.zeros(32, np.int32)])
    assert 0 < calls.divergent_branches < calls.branches
    assert load(target).launch("pointers", 1, 1, [np.zeros(1, np.int32)]).divergent_branches == 0
    alone, many = (
        load(target).launch("count", n, 64, [np.zeros(32, np.int32), 8], modes=Modes(workers=min(n, 3))) for n in (1, 12)
    )
    assert {name: 12 * count for name, count in alone.classes.items()} == many.classes
    assert many.traffic["global"].bytes == 12 * alone.traffic["global"].bytes


def test_streams_run_in_order() -> None:
    module = load("sm_90")
    counter, order = module.buffer(4), [np.full(3, 9, np.int32) for _ in range(3)]
    first, second = module.stream(), module.stream()
    first.launch("ticket", 3, 32, [counter, order[0]])
    event = first.record()
    first.launch("ticket", 3, 32, [counter, order[2]])
    second.wait(event)
    second.launch("ticket", 3, 32, [counter, order[1]])
    assert all((o == 9).all() for o in order)
    assert [s.ctas for s in second.synchronize()] == [3]
    assert order[0].tolist() == [0, 1, 2]
    assert order[1].tolist() == [3, 4, 5]
    assert (order[2] == 9).all()
    assert [s.ctas for s in first.synchronize()] == [3, 3]
    assert order[2].tolist() == [6, 7, 8]
    first.launch("traps", 1, 32)
    first.launch("ticket", 1, 32, [counter, order[0]])
    with pytest.raises(oric.sim.Trap):
        first.synchronize()
    assert first.synchronize() == []
    event.synchronize()


BAD_CLUSTERS: list[tuple[str, dict[str, Any], str]] = [
    ("shape", {"grid": 3, "cluster": 2}, "grid.x is 3, no multiple of the 2 blocks"),
    ("shape", {"grid": 32, "cluster": 32}, "at most 16 blocks"),
    ("shape", {"grid": 2, "cluster": 0}, "at most 16 blocks"),
    ("fixed_shape", {"grid": (3, 2), "cluster": (2, 1)}, r"requires clusters of \(3, 2, 1\)"),
    ("fixed_shape", {"grid": (4, 2)}, "no multiple of the 3 blocks"),
]


@pytest.mark.parametrize(("kernel", "launch", "message"), BAD_CLUSTERS)
def test_impossible_clusters(kernel: str, launch: dict[str, Any], message: str) -> None:
    with pytest.raises(oric.sim.LaunchError, match=message):
        load("sm_90", "cluster").launch(kernel, block=1, args=[np.zeros(1024, np.uint32)], **launch)


def test_no_clusters_before_sm_90() -> None:
    with pytest.raises(oric.sim.LaunchError, match="sm_80 has no clusters"):
        load("sm_80").launch("forever", 2, 1, cluster=2)


def test_every_source_has_its_cubins() -> None:
    for target in TARGETS:
        assert lzma.decompress((VENDOR / f"driver.{target}.cubin.xz").read_bytes())[:4] == b"\x7fELF"
