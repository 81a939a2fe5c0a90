"""Planted faults of copy engines, mbarriers, clusters, matrix loads and stacks: kind, thread, line and what is near are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oric.sim
import pytest
from oric.sim import Kind, Modes

from tests.sim.planted_cubins import PLANTED, TARGETS, check, lines, lines_with, module, of_kind, on

OOB, ODD, UNWRITTEN, FREED, RACE = Kind.OUT_OF_BOUNDS, Kind.MISALIGNED, Kind.UNINITIALISED, Kind.USE_AFTER_FREE, Kind.RACE
GLOBAL, SHARED, CLUSTER = "global", "shared", "the cluster's shared"
LATE = ("sm_90a", "sm_100a", "sm_120a")
WIDE = ("sm_90a", "sm_100a")  # that are launched with clusters
FAR = 1 << 17
PAST, NOWHERE = "bytes past the end of the block's", "of no block of the cluster"
Argument = Callable[[oric.sim.Module], Any] | int | str


class Fault(NamedTuple):
    """A launch with a fault: kernel, arguments behind the data, what is said."""

    kernel: str
    args: tuple[Argument, ...]
    kind: Kind
    space: str
    near: str = ""
    marker: str = ""

    @property
    def id(self) -> str:
        return "-".join([self.kernel, *(getattr(a, "__name__", str(a)) for a in self.args)])


def numbers(count: int = 512) -> Any:
    return np.arange(count, dtype=np.int32)


def buffer(m: oric.sim.Module) -> Any:
    return m.buffer(bytes(1024))


def unwritten(m: oric.sim.Module) -> Any:
    return m.buffer(1024, uninitialised=True)


def freed(m: oric.sim.Module) -> Any:
    gone = m.buffer(bytes(1024))
    address = gone.address
    gone.free()
    return address


def tensor(m: oric.sim.Module, make: Callable[[oric.sim.Module], Any] = buffer) -> bytes:
    return oric.sim.tensor_map("int32", make(m), [16, 16], [64], [16, 16])


def unwritten_tensor(m: oric.sim.Module) -> bytes:
    return tensor(m, unwritten)


def freed_tensor(m: oric.sim.Module) -> bytes:
    return tensor(m, freed)


def short_tensor(m: oric.sim.Module) -> bytes:
    return tensor(m, lambda m: m.buffer(bytes(960)))


MBARRIERS = [
    *(Fault("mbarrier", ("o", what, 4), ODD, SHARED, "", f"mbarrier_{what}") for what in range(1, 5)),
    *(Fault("mbarrier", ("o", what, FAR), OOB, SHARED, PAST, f"mbarrier_{what}") for what in range(1, 5)),
    *(Fault("unborn", ("o", what), UNWRITTEN, SHARED, "", f"unborn_{what}") for what in range(1, 4)),
]
BULK = [
    Fault("bulk_load", (buffer, "o", 1, 8, 0, 512, 0), ODD, SHARED),
    Fault("bulk_load", (buffer, "o", 1, 16, 0, 1024, 0), OOB, SHARED, "the end of the block's"),
    Fault("bulk_load", (buffer, "o", 1, FAR, 0, 512, 0), OOB, SHARED, PAST),
    Fault("bulk_load", (buffer, "o", 1, 0, 8, 512, 0), ODD, GLOBAL, "in buffer"),
    Fault("bulk_load", (buffer, "o", 1, 0, 16, 1024, 0), OOB, GLOBAL, "0 bytes past the end of buffer"),
    Fault("bulk_load", (buffer, "o", 1, 0, -16, 512, 0), OOB, GLOBAL, "16 bytes before buffer"),
    Fault("bulk_load", (buffer, "o", 1, 0, 0, 4096, 0), OOB, GLOBAL, "0 bytes past the end of buffer"),
    Fault("bulk_load", (unwritten, "o", 0, 0, 0, 1024, 0), UNWRITTEN, GLOBAL, "in buffer"),
    Fault("bulk_load", (freed, "o", 1, 0, 0, 1024, 0), FREED, GLOBAL, "freed (1024 bytes)"),
    Fault("bulk_load", (buffer, "o", 1, 0, 0, 512, 4), ODD, CLUSTER),
    Fault("bulk_load", (buffer, "o", 1, 0, 0, 512, FAR), OOB, CLUSTER, PAST),
    Fault("bulk_load", (buffer, "o", 2, 0, 0, 1024, 0), RACE, SHARED, "", "bulk_early"),
    *(
        fault
        for k in ("bulk_store", "bulk_reduce")
        for fault in [
            Fault(k, (buffer, "o", 1, 8, 0, 512), ODD, SHARED),
            Fault(k, (buffer, "o", 1, 16, 0, 1024), OOB, SHARED, "the end of the block's"),
            Fault(k, (buffer, "o", 2, 0, 0, 1024), UNWRITTEN, SHARED),
            Fault(k, (buffer, "o", 1, 0, 8, 512), ODD, GLOBAL, "in buffer"),
            Fault(k, (buffer, "o", 1, 0, 16, 1024), OOB, GLOBAL, "0 bytes past the end of buffer"),
            Fault(k, (buffer, "o", 1, 0, -16, 16), OOB, GLOBAL, "16 bytes before buffer"),
            Fault(k, (freed, "o", 1, 0, 0, 512), FREED, GLOBAL, "freed (1024 bytes)"),
        ]
    ),
]
TENSORS = [
    Fault("tensor_load", (unwritten_tensor, "o", 0, 0), UNWRITTEN, GLOBAL, "in buffer"),
    Fault("tensor_load", (freed_tensor, "o", 0, 0), FREED, GLOBAL, "freed (1024 bytes)"),
    Fault("tensor_load", (short_tensor, "o", 0, 0), OOB, GLOBAL, "0 bytes past the end of buffer"),
    Fault("tensor_load", (tensor, "o", 128, 0), OOB, SHARED, "the end of the block's"),
    Fault("tensor_load", (tensor, "o", 64, 0), ODD, SHARED),
    Fault("tensor_load", (tensor, "o", 0, 4), ODD, CLUSTER),
    Fault("tensor_load", (tensor, "o", 0, FAR), OOB, CLUSTER, PAST),
    Fault("tensor_store", (tensor, "o", 0, 2), UNWRITTEN, SHARED),
    Fault("tensor_store", (freed_tensor, "o", 0, 0), FREED, GLOBAL, "freed (1024 bytes)"),
    Fault("tensor_store", (short_tensor, "o", 0, 0), OOB, GLOBAL, "0 bytes past the end of buffer"),
    Fault("tensor_store", (tensor, "o", 128, 0), OOB, SHARED, "the end of the block's"),
    Fault("tensor_store", (tensor, "o", 64, 0), ODD, SHARED),
]
REMOTE = [
    *(Fault("remote", ("o", what, 2, 0), ODD, CLUSTER, "", f"remote_{what}") for what in range(1, 10)),
    *(Fault("remote", ("o", what, FAR, 0), OOB, CLUSTER, PAST, f"remote_{what}") for what in range(1, 10)),
    *(Fault("remote", ("o", what, 0, 5), OOB, CLUSTER, NOWHERE, f"remote_{what}") for what in (1, 2, 3, 4, 5, 8)),
    Fault("remote", ("o", 10, 512, 0), UNWRITTEN, CLUSTER, "", "remote_10"),
    *(Fault("gone", ("o", what), FREED, CLUSTER, "of a block that has ended", f"gone_{what}") for what in (1, 2, 3)),
]
ATOMICS = {"add": 4, "add64": 8, "exch": 4, "exch64": 8, "cas": 4, "cas64": 8, "min": 4, "xor": 4, "inc": 4}
TILES = [
    Fault("load_matrix", ("o", 8, 0), ODD, SHARED),
    Fault("load_matrix", ("o", FAR, 0), OOB, SHARED, PAST),
    Fault("load_matrix", ("o", -FAR, 0), OOB, SHARED),
    *(Fault(f"shared_{name}", ("o", 2), ODD, SHARED, "", f"ATOMIC({name}, ") for name in ATOMICS),
    *(Fault(f"shared_{name}", ("o", FAR), OOB, SHARED, "past the end of the block's", f"ATOMIC({name}, ") for name in ATOMICS),
    Fault("stack", ("o", 30), OOB, "local", "", "stack"),
]
STORES = [
    Fault("store_matrix", ("o", 8), ODD, SHARED),
    Fault("store_matrix", ("o", FAR), OOB, SHARED, PAST),
]


def reports_of(target: str, source: str, kernel: str, args: tuple[Argument, ...], grid: int = 1) -> list[oric.sim.Report]:
    """What a launch reports, however it ends."""
    loaded = module(source, target)
    values = [numbers() if a == "o" else a(loaded) if callable(a) else a for a in args]
    cluster = {"cluster": 2} if kernel in {"remote", "gone", "cluster_race"} else {}
    try:
        done = loaded.launch(kernel, grid, 64, values, modes=Modes(memcheck=True), max_steps=20_000, **cluster)
    except oric.sim.ExecutionError as error:
        return list(error.reports)
    return list(done.reports)


def racing(line: int) -> list[str]:
    """The kinds of race that a line of transfers.cu is part of."""
    return (PLANTED / "transfers.cu").read_text(encoding="utf-8").splitlines()[line - 1].partition("// RACE ")[2].split()


def judge(target: str, source: str, fault: Fault, grid: int = 1) -> None:
    found = reports_of(target, source, fault.kernel, fault.args, grid)
    assert found
    report = found[0]
    assert (report.kind, report.space, report.block) == (fault.kind, fault.space, (grid - 1, 0, 0)), str(report)
    # Where lanes vote for the one that acts, the instruction is the whole warp's.
    assert report.thread in {(37, 0, 0), (32, 0, 0)}
    assert fault.near in report.near
    marker = fault.marker or fault.kernel
    assert lines(report) & lines_with(source, marker if "(" in marker else f" {marker}")
    assert all(r.kind in {fault.kind, UNWRITTEN} for r in found)


@on(*LATE)
@pytest.mark.parametrize("fault", [*MBARRIERS, *BULK, *TENSORS], ids=lambda f: f.id)
def test_copy_engines_and_mbarriers(target: str, fault: Fault) -> None:
    judge(target, "transfers", fault)


@on(*WIDE)
@pytest.mark.parametrize("fault", REMOTE, ids=lambda f: f.id)
def test_other_blocks_of_the_cluster(target: str, fault: Fault) -> None:
    judge(target, "transfers", fault, grid=2)


@on(*TARGETS)
@pytest.mark.parametrize("fault", TILES, ids=lambda f: f.id)
def test_tiles(target: str, fault: Fault) -> None:
    judge(target, "tiles", fault, grid=2)


@on(*LATE)
@pytest.mark.parametrize("fault", STORES, ids=lambda f: f.id)
def test_stored_tiles(target: str, fault: Fault) -> None:
    judge(target, "tiles", fault, grid=2)


@on(*TARGETS)
def test_unwritten_rows_of_a_matrix(target: str) -> None:
    [report] = reports_of(target, "tiles", "load_matrix", ("o", 0, 4), grid=2)
    assert (report.kind, report.thread, report.block, report.space) == (UNWRITTEN, (32, 0, 0), (0, 0, 0), SHARED)
    assert lines(report) & lines_with("tiles", "FAULT load_matrix")


@on(*LATE)
@pytest.mark.parametrize("what", [1, 2, 3])
def test_phase_that_is_never_over(target: str, what: int) -> None:
    found = of_kind(reports_of(target, "transfers", "never", ("o", what)), Kind.BARRIER_MISMATCH)
    assert found
    assert lines(found[0]) & lines_with("transfers", "FAULT never")
    assert "the phase of the mbarrier at 0x400 is never over" in str(found[0])


@on(*WIDE)
@pytest.mark.parametrize("what", [1, 2, 3, 4, 5])
def test_race_between_blocks_of_a_cluster(target: str, what: int) -> None:
    found = reports_of(target, "transfers", "cluster_race", ("o", what), grid=2)
    assert found
    places = frozenset(n for n in lines_with("transfers", "// RACE") if str(what) in racing(n))
    for report in found:
        assert report.kind == RACE
        assert {report.block, report.first_block} == {(0, 0, 0), (1, 0, 0)}
        assert report.thread == report.first_thread
        assert lines(report) & places
        assert lines(report, first=True) & places
    assert " of block (" in str(found[0]).split("not ordered with")[1]


@on(*LATE)
def test_right_launches_have_no_report(target: str) -> None:
    for kernel, args in [
        ("mbarrier", ("o", 0, 0)), ("unborn", ("o", 0)), ("never", ("o", 0)), ("bulk_load", (buffer, "o", 0, 0, 0, 1024, 0)),
        ("bulk_store", (buffer, "o", 0, 0, 0, 1024)), ("bulk_reduce", (buffer, "o", 0, 0, 0, 1024)),
        ("tensor_load", (tensor, "o", 0, 0)), ("tensor_store", (tensor, "o", 0, 0)),
    ]:  # fmt: skip
        assert reports_of(target, "transfers", kernel, args) == []
    assert reports_of(target, "tiles", "store_matrix", ("o", 0), grid=2) == []
    if target in WIDE:
        assert reports_of(target, "transfers", "remote", ("o", 0, 0, 0), grid=2) == []
        assert reports_of(target, "transfers", "gone", ("o", 0), grid=2) == []
        assert reports_of(target, "transfers", "cluster_race", ("o", 0), grid=2) == []


@on(*TARGETS)
def test_right_tiles_have_no_report(target: str) -> None:
    for kernel, args in [("load_matrix", (0, 0)), ("stack", (1,)), *((f"shared_{name}", (0,)) for name in ATOMICS)]:
        assert check(module("tiles", target), kernel, [numbers(), *args], grid=2) == []


def test_there_are_enough() -> None:
    assert len({f.id for f in [*MBARRIERS, *BULK, *TENSORS, *REMOTE, *TILES, *STORES]}) >= 100
