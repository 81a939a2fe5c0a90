"""Planted races and barriers that do not fit: reported with both instructions and threads; with the right order nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oric.sim
import pytest
from oric.sim import Kind, Modes

from tests.sim import vendor_cubins
from tests.sim.planted_cubins import LIBRARY, TARGETS, check, lines, lines_with, module, of_kind, on

targets = on(*TARGETS)
with_copies = on(*TARGETS[1:])  # LDGSTS
of_library = pytest.mark.parametrize("target", LIBRARY)


class Race(NamedTuple):
    """A kernel of races.cu: block, dynamic shared memory, further arguments, which pairs of threads (x) clash."""

    block: Any = 64
    shared: int = 0
    more: tuple[int, ...] = ()
    clash: Callable[[int, int], bool] = lambda a, b: abs(a - b) == 32


def other_warp(a: int, b: int) -> bool:
    return a // 32 != b // 32


RACES = {
    "race_raw": Race(),
    "race_war": Race(),
    "race_waw": Race(),
    "race_bytes": Race(),
    "race_vector": Race(),
    "race_loop": Race(),
    "race_reduction": Race(block=128),
    "race_broadcast": Race(clash=lambda a, b: 63 in {a, b} and other_warp(a, b)),
    "race_atomic_read": Race(clash=other_warp),
    "race_atomic_init": Race(clash=lambda a, b: 0 in {a, b} and other_warp(a, b)),
    "race_arms": Race(block=32, clash=lambda a, b: abs(a - b) == 1),
    "race_one_instruction": Race(block=32, clash=lambda a, b: a != b),
    "race_dynamic": Race(shared=256, clash=lambda a, b: a + b == 63),
    "race_generic": Race(more=(1,)),
    "race_named": Race(clash=lambda a, b: a + b == 63),
    "race_third_warp": Race(block=96, clash=lambda a, b: a + b == 95 and 64 in {a // 32 * 32, b // 32 * 32}),
    "race_double_buffer": Race(),
    "race_lock": Race(clash=lambda a, b: {a, b} == {0, 32}),
}


def numbers(count: int = 256) -> Any:
    return np.arange(count, dtype=np.int32) + 3


def places(kernel: str) -> set[int]:
    """Lines of the two accesses: one marker, where both are on the same line or either may come second."""
    return set(lines_with("races", f"// FAULT {kernel}")) | set(marked_first(kernel))


def marked(name: str) -> frozenset[int]:
    return lines_with("races", f"// FAULT {name}")


def marked_first(kernel: str) -> frozenset[int]:
    try:
        return lines_with("races", f"// FIRST {kernel}")
    except AssertionError:
        return frozenset()


@targets
@pytest.mark.parametrize("kernel", RACES)
def test_race(target: str, kernel: str) -> None:
    race = RACES[kernel]
    loaded = module("races", target)
    wrong = check(loaded, kernel, [numbers(), 0, *race.more], block=race.block, shared=race.shared)
    found = of_kind(wrong, Kind.RACE)
    assert found
    for report in found:
        assert (report.space, report.block) == ("shared", (0, 0, 0))
        assert race.clash(report.thread[0], report.first_thread[0]), str(report)
        assert lines(report) & places(kernel)
        assert lines(report, first=True) & places(kernel)
        assert report.access != "read" or report.first_access != "read"
    if marked_first(kernel):
        marked = lines_with("races", f"// FAULT {kernel}"), marked_first(kernel)
        assert any(lines(r) & marked[i] and lines(r, first=True) & marked[1 - i] for r in found for i in (0, 1))
    # Warps run one after the other: without a barrier one can read what the other has still to write.
    assert {r.kind for r in wrong} <= {Kind.RACE, Kind.UNINITIALISED}
    assert check(loaded, kernel, [numbers(), 1, *race.more], block=race.block, shared=race.shared) == []


@targets
def test_race_in_two_dimensions(target: str) -> None:
    loaded = module("races", target)
    found = of_kind(check(loaded, "race_transpose", [numbers(), 0], block=(8, 8)), Kind.RACE)
    assert all(r.thread == (*r.first_thread[1::-1], 0) for r in found)
    assert found
    assert lines(found[0]) | lines(found[0], first=True) == places("race_transpose")
    assert check(loaded, "race_transpose", [numbers(), 1], block=(8, 8)) == []


@targets
def test_race_text(target: str) -> None:
    [_, report, *_] = check(module("races", target), "race_raw", [numbers(), 0])
    text = str(report)
    assert text.startswith(
        f"race: 4-byte write to shared memory at {report.address:#x}; thread (32,0,0) of block (0,0,0) at race"
    )
    assert "not ordered with the read by thread (0,0,0) at race_raw+" in text
    assert "races.cu:" in text


@with_copies
@pytest.mark.parametrize("what,markers", [
    (1, {"copies_late", "copies_early"}), (2, {"copies_late"}), (3, {"copies_late", "copies_early"}),
    (4, {"copies_early", "copies_refill"}),
])  # fmt: skip
def test_asynchronous_copies(target: str, what: int, markers: set[str]) -> None:
    loaded = module("races", target)
    found = of_kind(check(loaded, "copies", [numbers(), numbers(), what]), Kind.RACE)
    expected = set().union(*(marked(m) for m in markers))
    assert found
    touched = set().union(*(lines(r) | lines(r, first=True) for r in found))
    assert touched & expected
    if what in {1, 2}:
        assert any(r.first_access == "asynchronous write" and r.access == "read" for r in found)
    if what == 2:
        assert all(lines(r) & lines_with("races", "[1][threadIdx.x ^ 32]") for r in found)
    assert check(loaded, "copies", [numbers(), numbers(), 0]) == []


@with_copies
def test_copies_of_the_own_thread(target: str) -> None:
    loaded = module("races", target)
    [report] = check(loaded, "own_copies", [numbers(), numbers(), 0])
    assert (report.kind, report.thread, report.first_thread) == (Kind.RACE, (0, 0, 0), (0, 0, 0))
    assert (report.access, report.first_access) == ("read", "asynchronous write")
    assert lines(report) & lines_with("races", "FAULT own_copies")
    assert check(loaded, "own_copies", [numbers(), numbers(), 1]) == []


BARRIERS = {
    "divergent": (Kind.DIVERGENT_BARRIER, "FAULT divergent"),
    "divergent_loop": (Kind.DIVERGENT_BARRIER, "FAULT divergent_loop"),
    "different_counts": (Kind.BARRIER_MISMATCH, "FAULT different_counts"),
    "different_barriers": (Kind.BARRIER_MISMATCH, "FAULT different_barriers"),
    "too_few": (Kind.BARRIER_MISMATCH, "FAULT too_few"),
    "no_arrival": (Kind.BARRIER_MISMATCH, "FAULT no_arrival"),
    "reducing_and_not": (Kind.BARRIER_MISMATCH, "FAULT reducing_and_not"),
}


def barrier_data(kernel: str) -> Any:
    """Values for which about half of the threads of a warp take a branch, or go on with a loop."""
    return np.arange(256, dtype=np.int32) % 5 if kernel == "divergent_loop" else np.arange(256, dtype=np.int32) + 85


@targets
@pytest.mark.parametrize("kernel", BARRIERS)
def test_barrier(target: str, kernel: str) -> None:
    kind, marker = BARRIERS[kernel]
    loaded = module("barriers", target)
    reports = check(loaded, kernel, [barrier_data(kernel), 0])
    found = [r for r in of_kind(reports, kind) if lines(r) & lines_with("barriers", marker)]
    assert found
    assert found[0].block == (0, 0, 0)
    assert found[0].thread[0] % 32 in {0, 1}
    assert check(loaded, kernel, [barrier_data(kernel), 1]) == []


@targets
def test_barrier_counts_are_named(target: str) -> None:
    reports = check(module("barriers", target), "different_counts", [barrier_data(""), 0])
    assert "barrier 1 with 96 threads, 64 of those before" in str(reports[0])
    assert lines(reports[0], first=True) & lines_with("barriers", "FIRST different_counts")


@targets
@pytest.mark.parametrize("gone", [0, 1, 20, 32, 64])
def test_threads_that_have_left(target: str, gone: int) -> None:
    assert check(module("barriers", target), "early_exit", [barrier_data(""), gone]) == []


@targets
def test_deadlock_has_reports(target: str) -> None:
    with pytest.raises(oric.sim.Deadlock) as caught:
        module("barriers", target).launch("too_few", 1, 64, [barrier_data(""), 0], modes=Modes(memcheck=True))
    assert [r.kind for r in caught.value.reports] == [Kind.BARRIER_MISMATCH]
    assert "barrier 1 is never complete" in str(caught.value.reports[0])


@of_library
@pytest.mark.parametrize("warps", [1, 3])
def test_clean_warp_synchronous_code(target: str, warps: int) -> None:
    """Atomics that are loops of compare and swap, named barriers, copies in groups: of the vendor's compiler, and in order."""
    loaded = vendor_cubins.module("threads", target)
    memcheck = Modes(memcheck=True)
    n = 32 * warps
    x = np.random.default_rng(4).integers(-1000, 1000, n).astype(np.int32)
    done = loaded.launch("atoms", 1, n, [np.zeros(17, np.int32), x, np.zeros(2, np.float32)], modes=memcheck)
    done2 = loaded.launch("cg1", 1, n, [x, np.zeros(n, np.int32)], modes=memcheck)
    done3 = loaded.launch("named", 1, 96, [np.zeros(192, np.int32), 3], modes=memcheck)
    done4 = loaded.launch("cpasync", 1, 64, [np.zeros((64, 4), np.int32), np.zeros((64, 4), np.int32)], modes=memcheck)
    assert [str(r) for d in (done, done2, done3, done4) for r in d.reports] == []
