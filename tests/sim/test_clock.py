"""The clock: of pairs of kernels of which one is known to be faster it says so; what it reports adds up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes, Timing
from oric.support import elf

from tests.sim.clock_pairs import EVERYWHERE, LEVELS, PAIRS, TARGETS, Launch, N, flat, size, squares
from tests.sim.vendor_cubins import module


@pytest.fixture(scope="module")
def loaded() -> oric.sim.Module:
    return module("clock", "sm_90")


def buffers(loaded: oric.sim.Module) -> tuple[oric.sim.Buffer, oric.sim.Buffer]:
    return loaded.buffer(np.random.default_rng(1).random(N * 16, np.float32)), loaded.buffer(N * 64)


@pytest.fixture(scope="module")
def memory(loaded: oric.sim.Module) -> tuple[oric.sim.Buffer, oric.sim.Buffer]:
    return buffers(loaded)


def timing(loaded: oric.sim.Module, memory: Any, launch: Launch) -> Timing:
    kernel, grid, block, shared = launch
    done = loaded.launch(kernel, grid, block, [*memory, size(launch)], shared_bytes=shared, modes=Modes(timing=True))
    assert done.timing is not None
    return done.timing


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pair", PAIRS)
def test_ranking(loaded: oric.sim.Module, memory: Any, pair: str) -> None:
    fast, slow = (timing(loaded, memory, launch) for launch in PAIRS[pair])
    assert fast.cycles < slow.cycles


def rankings(target: str, pairs: Iterable[str]) -> dict[str, bool]:
    """Whether the clock ranks pairs as it should, on another GPU."""
    other = module("clock", target)
    arrays = buffers(other)
    cycles = {pair: [timing(other, arrays, launch).cycles for launch in PAIRS[pair]] for pair in pairs}
    return {pair: fast < slow for pair, (fast, slow) in cycles.items()}


@pytest.mark.parametrize("target", TARGETS)
def test_ranking_on_other_gpus(target: str) -> None:
    assert rankings(target, EVERYWHERE) == dict.fromkeys(EVERYWHERE, True)


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
def test_ranking_of_every_pair_on_other_gpus(target: str) -> None:
    assert rankings(target, PAIRS) == dict.fromkeys(PAIRS, True)


@pytest.mark.parametrize("name", LEVELS)
def test_ranking_of_levels(loaded: oric.sim.Module, memory: Any, name: str) -> None:
    lower = module(name, "sm_90")
    arrays = buffers(lower)
    slow = {launch[0]: timing(lower, arrays, launch).cycles for launch in LEVELS[name]}
    fast = {launch[0]: timing(loaded, memory, launch).cycles for launch in LEVELS[name]}
    assert {kernel: fast[kernel] < slow[kernel] for kernel in slow} == dict.fromkeys(slow, True)


def test_same_cycles_every_time(loaded: oric.sim.Module, memory: Any) -> None:
    launch = squares("gemm_tiled")
    assert timing(loaded, memory, launch) == timing(loaded, memory, launch)


def test_what_an_sm_does(loaded: oric.sim.Module, memory: Any) -> None:
    found = timing(loaded, memory, flat("copy", 1320))
    assert (found.machine, found.blocks, found.resident, found.warps) == ("H100 SXM", 10, 8, 64)
    assert found.seconds == pytest.approx(found.cycles / 1.98e9)
    assert {s.issued for s in found.stalls if "EXIT" in s.text} == {80}
    store = next(s for s in found.stalls if s.text.startswith("STG"))
    assert store.scoreboard > 80 * 200  # each warp waits for its load there
    assert len(found.issues) == sum(s.issued for s in found.stalls)
    assert max(i.cycle for i in found.issues) <= found.cycles
    assert len({(i.cycle, i.slot % 4) for i in found.issues}) == len(found.issues)  # one a cycle on each scheduler


def test_cycles_of_warps_and_blocks(loaded: oric.sim.Module, memory: Any) -> None:
    found = timing(loaded, memory, flat("sum_shared", 1320))
    times = found.warp_times
    assert [(w.block, w.warp) for w in times] == [(block, warp) for block in range(10) for warp in range(8)]
    assert max(w.end for w in times) <= found.cycles
    assert {w.start for w in times if w.block < found.resident} == {0}
    for slot in (0, 7):
        of_slot = [i.cycle for i in found.issues if i.slot == slot and i.block == 0]
        assert times[slot].start <= of_slot[0]
        assert times[slot].end == of_slot[-1] + 1
    # The ninth block comes when the first one has gone.
    ends = [max(w.end for w in times if w.block == block) for block in range(8)]
    assert {w.start for w in times if w.block == 8} == {min(ends)}
    assert found.warp_cycles == [w.end - w.start for w in times]
    assert found.block_cycles[:8] == ends


def test_barriers_and_conflicts_are_told(loaded: oric.sim.Module, memory: Any) -> None:
    waits = timing(loaded, memory, flat("synced")).stalls
    assert sum(s.barrier for s in waits) > 64 * 8 * 10
    found = timing(loaded, memory, flat("banks32"))
    assert max(found.stalls, key=lambda s: s.scoreboard + s.pipe).text.split()[0] in {"LDS", "LDS.128", "FADD"}


def test_trace(loaded: oric.sim.Module, memory: Any, tmp_path: Path) -> None:
    """What the Trace Event Format asks of complete events ("X") and metadata ("M"); a warp has one instruction at a time."""
    found = timing(loaded, memory, flat("sum_shared", 132))
    path = tmp_path / "trace.json"
    found.write_trace(path)
    document = json.loads(path.read_text())
    assert document["displayTimeUnit"] in {"ms", "ns"}
    events = document["traceEvents"]
    issues = [e for e in events if e["ph"] == "X"]
    names = [e for e in events if e["ph"] == "M"]
    assert len(issues) + len(names) == len(events)
    assert len(issues) == len(found.issues)
    assert {e["tid"] for e in issues} == {e["tid"] for e in names} == set(range(8))
    assert {(e["name"], e["args"]["name"]) for e in names} == {("thread_name", f"warp {slot}") for slot in range(8)}
    for e in issues:
        assert {type(e[key]) for key in ("ts", "dur", "pid", "tid")} == {int}
        assert e["dur"] >= 1
        assert isinstance(e["name"], str)
        assert e["name"]
        assert isinstance(e["args"], dict)
    assert [e["ts"] for e in issues] == sorted(e["ts"] for e in issues)
    for slot in range(8):
        row = [e for e in issues if e["tid"] == slot]
        assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in pairwise(row))


GUARDED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b64 %d; .reg .b32 %r<9>; .reg .pred %p;
  ld.param.u64 %d, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  setp.lt.u32 %p, %r2, %r1; mov.u32 %r3, 0;
  @%p ld.global.u32 %r3, [%d+256]; add.u32 %r3, %r3, 1; st.global.u32 [%d], %r3;
  @%p ld.global.u32 %r3, [%d+512]; add.u32 %r3, %r3, 1; st.global.u32 [%d+4], %r3;
  ret;
}
"""


def test_a_load_of_no_thread_is_soon_over() -> None:
    """What a guard holds for nobody goes to no memory, and does not wait for any."""
    guarded = oric.sim.load(oric.compile(GUARDED, arch="sm_90").image)
    data = np.zeros(256, np.uint32)
    off, on = (guarded.launch("k", 1, 32, [data, n], modes=Modes(timing=True)).timing for n in (0, 32))
    assert off is not None and on is not None
    assert off.cycles < 200 and on.cycles > off.cycles + 400


# Four words of local memory are written, and one of them read, which only a sum with an argument tells.
LOCAL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b64 %d<4>; .reg .b32 %r<9>; .local .align 16 .b8 own[64];
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; mov.u64 %d2, own; cvt.u64.u32 %d3, %r1; add.u64 %d3, %d2, %d3;
  mov.u32 %r2, %tid.x; STORE
  ld.local.u32 %r3, [%d3]; st.global.u32 [%d1], %r3;
  ret;
}
"""
WORDS = (
    "st.local.v4.u32 [%d2], {%r2, %r1, %r2, %r1};",
    " ".join(f"st.local.u32 [%d2+{at}], %r2;" for at in (0, 4, 8, 12)),
)


def test_a_wide_store_of_local_memory_is_in_all_its_words() -> None:
    """A load of any of them goes to memory as little as behind four stores."""
    data = np.zeros(256, np.uint32)
    for n in (0, 12):
        wide, narrow = (
            oric.sim.load(oric.compile(LOCAL.replace("STORE", words), arch="sm_90", opt_level=1).image)
            .launch("k", 1, 32, [data, n], modes=Modes(timing=True))
            .timing
            for words in WORDS
        )
        assert wide is not None and narrow is not None
        assert abs(wide.cycles - narrow.cycles) < 100


# What is loaded last is at hand, what is loaded before it is not.
AT_HAND = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %d; .reg .b32 %r<9>;
  ld.param.u64 %d, [out];
  ld.volatile.global.u32 %r1, [%d]; xor.b32 %r1, %r1, 1; st.volatile.global.u32 [%d+4], %r1;
  ld.volatile.global.u32 %r2, [%d+512]; ld.volatile.global.u32 %r3, [%d];
  add.u32 %r2, %r2, %r3; st.volatile.global.u32 [%d+4], %r2;
  ret;
}
"""
WRITE_BOARD, NO_BOARD = 110, 7


def test_results_of_a_queue_come_in_order() -> None:
    """A scoreboard of a load tells of the ones before it that have none."""
    image = oric.compile(AT_HAND, arch="sm_90").image
    text = elf.read(image).kernels["k"].text
    words = [int.from_bytes(text[at : at + 16], "little") for at in range(0, len(text), 16)]
    second = [n for n, word in enumerate(words) if word & 0xFFF == 0x981][1]  # LDG
    bare = words[second] | NO_BOARD << WRITE_BOARD
    changed = image.replace(text, text[: 16 * second] + bare.to_bytes(16, "little") + text[16 * (second + 1) :])
    assert changed != image
    marked, unmarked = (
        oric.sim.load(one).launch("k", 1, 32, [np.zeros(256, np.uint32)], modes=Modes(timing=True)).timing
        for one in (image, changed)
    )
    assert marked is not None and unmarked is not None
    assert marked.cycles > 1000 and abs(marked.cycles - unmarked.cycles) < 10


CHASED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b64 %d, %e; .reg .b32 %r<4>; .shared .align 16 .b32 s[64];
  ld.param.u64 %d, [in]; ld.param.u64 %e, [out]; mov.u32 %r1, s; st.shared.u32 [s+16], %r1; bar.sync 0;
  {copy}
  {chain}
  cp.async.wait_all;
  st.global.u32 [%e], %r1; ret;
}}
"""


def test_loads_of_shared_memory_do_not_wait_for_a_copy_into_it() -> None:
    """It has no result in a register: what comes behind it in the queue is told of by its own scoreboard."""
    cycles = []
    for copy in ("", "cp.async.ca.shared.global [s], [%d], 16;"):
        text = CHASED.format(copy=copy, chain="ld.shared.u32 %r1, [%r1+16]; " * 60)
        found = oric.sim.load(oric.compile(text, arch="sm_80").image).launch(
            "k", 1, 1, [np.zeros(64, np.uint32), np.zeros(1, np.uint32)], modes=Modes(timing=True)
        )
        assert found.timing is not None
        cycles.append(found.timing.cycles)
    assert cycles[0] > 1200 and abs(cycles[1] - cycles[0]) < 100


# One warp works through n rounds, and arrives; the other one waits for it, in a loop with more or less in it.
WAITING = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b64 %d; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .align 8 .b64 bar;
  ld.param.u64 %d, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
  setp.lt.u32 %p2, %r2, 32; @%p2 bra WAIT;
WORK: ld.volatile.global.u32 %r3, [%d+512]; sub.u32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 0; @%p3 bra WORK;
  mbarrier.arrive.shared.b64 _, [bar];
  bra DONE;
WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; MORE @!%p3 bra WAIT;
DONE: st.global.u32 [%d], %r1;
  ret;
}
"""


def test_waiting_at_an_mbarrier_ends_behind_the_arrival() -> None:
    """Whatever the loop does meanwhile, and it counts as waiting at a barrier."""
    data = np.zeros(256, np.uint32)
    times: list[int] = []
    for more in ("", "xor.b32 %r5, %r5, %r2; add.u32 %r6, %r5, %r6; not.b32 %r5, %r6; shl.b32 %r6, %r6, 1;"):
        waiting = oric.sim.load(oric.compile(WAITING.replace("MORE", more), arch="sm_90").image)
        for rounds in (1, 20):
            timing_ = waiting.launch("k", 1, 64, [data, rounds], modes=Modes(timing=True)).timing
            assert timing_ is not None
            waits, works = sorted(timing_.warp_cycles, reverse=True)
            assert works <= waits + 40
            polls = [stall for stall in timing_.stalls if "SYNCS.PHASECHK" in stall.text]
            assert sum(poll.issued for poll in polls) <= 2
            assert sum(poll.barrier for poll in polls) > 0
            times.append(timing_.cycles)
    assert times[1] > times[0] + 19 * 50 and abs(times[0] - times[2]) < 40 and abs(times[1] - times[3]) < 40


# A loop reads the word of an mbarrier that nobody arrives at; then its phase before the first one is asked for, which is over.
PEEKING = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b64 %d; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .align 8 .b64 bar;
  ld.param.u64 %d, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
PEEK: ld.volatile.shared.u32 %r3, [bar]; sub.u32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 0; @%p3 bra PEEK;
  mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; selp.u32 %r4, 1, 0, %p2;
  st.global.u32 [%d], %r4;
  ret;
}
"""


def test_an_mbarrier_that_nobody_has_arrived_at() -> None:
    """Its word is known, as a loop reads it; an arrival is not."""
    data = np.zeros(4, np.uint32)
    peeking = oric.sim.load(oric.compile(PEEKING, arch="sm_90").image)
    done = peeking.launch("k", 1, 64, [data, 5], modes=Modes(timing=True))
    assert done.timing is not None and data[0] == 1


def test_results_and_reports_are_as_without_a_clock(loaded: oric.sim.Module) -> None:
    x, y, z = np.arange(256, dtype=np.float32), np.zeros(256, np.float32), np.zeros(256, np.float32)
    loaded.launch("sine", 1, 256, [x, y, 256])
    done = loaded.launch("sine", 1, 256, [x, z, 256], modes=Modes(timing=True, strict=True, memcheck=True))
    assert y.tobytes() == z.tobytes()
    assert done.reports == ()
    assert loaded.launch("sine", 1, 256, [x, z, 256]).timing is None


# One warp works through n rounds, and writes a word; the other one asks for that, in a loop with more or less in it.
ASKING = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b64 %d; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .align 8 .b32 flag; .shared .align 8 .b64 bar;
  ld.param.u64 %d, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r4, 0;
  setp.eq.u32 %p1, %r2, 0; @%p1 st.volatile.shared.u32 [flag], 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;
  setp.ge.u32 %p2, %r2, 32; @%p2 bra WAIT;
WORK: ld.volatile.global.u32 %r3, [%d+512]; sub.u32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 0; @%p3 bra WORK;
  WRITE
  bra DONE;
WAIT: ASK MORE @!%p3 bra WAIT;
DONE: st.global.u32 [%d], %r4;
  ret;
}
"""


@pytest.mark.parametrize(
    "write, ask",
    [
        ("st.volatile.shared.u32 [flag], 1;", "ld.volatile.shared.u32 %r5, [flag]; setp.ne.u32 %p3, %r5, 0;"),
        ("red.shared.add.u32 [flag], 1;", "ld.volatile.shared.u32 %r5, [flag]; setp.eq.u32 %p3, %r5, 32;"),
        ("mbarrier.arrive.shared.b64 _, [bar];", "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; mov.u32 %r5, 3;"),
    ],
    ids=["a flag", "a counter", "an mbarrier"],
)
def test_rounds_that_only_ask_are_not_played(write: str, ask: str) -> None:
    """What is read in the end waits for the write, however much the loop does meanwhile."""
    data, times = np.zeros(256, np.uint32), []
    for more in ("", "xor.b32 %r6, %r5, %r2; shl.b32 %r7, %r6, 3; not.b32 %r4, %r7;"):
        text = ASKING.replace("WRITE", write).replace("ASK", ask).replace("MORE", more)
        asking = oric.sim.load(oric.compile(text, arch="sm_80").image)
        for rounds in (20, 60):
            timing_ = asking.launch("k", 1, 64, [data, rounds], modes=Modes(timing=True)).timing
            assert timing_ is not None
            waits, works = sorted(timing_.warp_cycles, reverse=True)
            assert works <= waits + 40
            times.append(timing_.cycles)
    assert times[1] > times[0] + 40 * 30 and abs(times[0] - times[2]) < 60 and abs(times[1] - times[3]) < 60


def test_rounds_that_change_something_are_played() -> None:
    """A loop that counts how often it asks."""
    ask, more = "ld.volatile.shared.u32 %r5, [flag]; setp.ne.u32 %p3, %r5, 0;", "add.u32 %r4, %r4, 1;"
    text = ASKING.replace("WRITE", "st.volatile.shared.u32 [flag], 1;").replace("ASK", ask).replace("MORE", more)
    data = np.zeros(256, np.uint32)
    done = oric.sim.load(oric.compile(text, arch="sm_80").image).launch("k", 1, 64, [data, 20], modes=Modes(timing=True))
    assert done.timing is not None
    assert sum(s.issued for s in done.timing.stalls) == done.warp_instructions
