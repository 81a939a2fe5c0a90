# ruff: noqa: E501 (lines of PTX)
"""mbarriers and copies that go on by themselves: programs, judged strictly, with the vendor's code as a second opinion."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.support import elf

from . import barrier_programs as programs
from . import vendor_instructions

Array = np.ndarray[Any, Any]
pytestmark = pytest.mark.memcheck
TARGETS = ("sm_80", "sm_90a", "sm_100a")
both = pytest.mark.parametrize("level", [0, 3])
everywhere = pytest.mark.parametrize("target", TARGETS)


def compiled(text: str, target: str, level: int) -> bytes:
    """Our cubin, in which the hazard checker finds nothing."""
    image = oric.compile(text, arch=target, opt_level=level).image
    assert not check_cubin(elf.read(image)).findings
    return image


def run(text: str, target: str, level: int, data: Array, out: Array, threads: int) -> Array:
    """Compile and launch a kernel of :mod:`.barrier_programs`."""
    return _launch(compiled(text, target, level), data, out, threads)


def _launch(image: bytes, data: Array, out: Array, threads: int) -> Array:
    result = out.copy()
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(threads, 1, 1), args=[data, result])
    return result


def vendor(ptxas: str, folder: Path, text: str, target: str) -> bytes:
    """The cubin that ptxas makes of the same text."""
    (folder / "k.ptx").write_text(text)
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=folder, check=True)
    return (folder / "k.cubin").read_bytes()


# -- phases -----------------------------------------------------------------------------------------------------------


def ring_data(rounds: int) -> Array:
    return np.random.default_rng(rounds).integers(0, 1 << 16, rounds * 32, dtype=np.uint32)


RINGS = [
    ("sm_80", "test"),
    ("sm_90a", "test"),
    ("sm_90a", "try"),
    ("sm_90a", "hint"),
    ("sm_90a", "cluster"),
    ("sm_100a", "hint"),
    ("sm_120", "cluster"),
]


@both
@pytest.mark.parametrize("rounds", [1, 3, 11])
@pytest.mark.parametrize(("target", "form"), RINGS)
def test_a_ring_of_stages(target: str, form: str, rounds: int, level: int) -> None:
    """Warps that fill and warps that empty stages, over several phases of each barrier."""
    data = ring_data(rounds)
    got = run(programs.ring(target, rounds, form), target, level, data, np.zeros(128, np.uint32), 128)
    assert (got == programs.ring_result(data, rounds)).all()


@pytest.mark.parametrize(("target", "form"), RINGS)
def test_the_vendors_ring(ptxas: str, tmp_path: Path, target: str, form: str) -> None:
    data = ring_data(7)
    image = vendor(ptxas, tmp_path, programs.ring(target, 7, form), target)
    assert (_launch(image, data, np.zeros(128, np.uint32), 128) == programs.ring_result(data, 7)).all()


# -- counts -----------------------------------------------------------------------------------------------------------

ARRIVALS = [
    ("sm_80", "mbarrier.arrive.shared.b64 %d5, [{at}];", False),
    ("sm_80", "mbarrier.arrive_drop.shared.b64 %d5, [{at}];", False),
    ("sm_80", "mbarrier.arrive.noComplete.shared.b64 %d5, [{at}], %r1;", True),
    ("sm_80", "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d5, [{at}], %r1;", True),
    ("sm_80", "mbarrier.arrive.noComplete.shared.b64 %d5, [{at}], 1;", False),
    ("sm_90a", "mbarrier.arrive.shared.b64 %d5, [{at}], %r1;", True),
    ("sm_90a", "mbarrier.arrive_drop.release.cluster.shared.b64 %d5, [{at}], %r1;", True),
    ("sm_90a", "mbarrier.arrive.relaxed.cluster.shared.b64 %d5, [{at}], %r1;", True),
]


@both
@pytest.mark.parametrize(("space", "address"), [(".shared", "bars"), ("", "%d20"), ("", "bars")])
@pytest.mark.parametrize(("target", "form", "counted"), ARRIVALS + [("sm_90a", f, c) for t, f, c in ARRIVALS if t == "sm_80"])
def test_states_of_arrivals(target: str, form: str, counted: bool, space: str, address: str, level: int) -> None:
    """Each arrival, from sm_90 on each warp's, finds what those before it have left; generic ones at a variable, too."""
    form = form if space else form.replace(".shared::cta", "").replace(".shared", "")
    counts = np.random.default_rng(3).integers(1, 4, 64, dtype=np.uint32) if counted else np.ones(64, np.uint32)
    got = run(programs.states(target, form, space, address), target, level, counts, np.zeros(65, np.uint32), 64)
    assert programs.in_some_order(got[:64], counts, 1000, target, form)
    assert got[64] == 1000 - counts.sum()


@pytest.mark.parametrize(("target", "form", "counted"), ARRIVALS)
def test_the_vendors_states(ptxas: str, tmp_path: Path, target: str, form: str, counted: bool) -> None:
    counts = np.random.default_rng(3).integers(1, 4, 64, dtype=np.uint32) if counted else np.ones(64, np.uint32)
    image = vendor(ptxas, tmp_path, programs.states(target, form), target)
    got = _launch(image, counts, np.zeros(65, np.uint32), 64)
    assert programs.in_some_order(got[:64], counts, 1000, target, form) and got[64] == 1000 - counts.sum()


@both
@everywhere
@pytest.mark.parametrize("wait", ["test_wait.b64 %p2, [bars], %d5", "test_wait.parity.b64 %p2, [bars], 0"])
def test_generic_instructions_at_a_variable(target: str, wait: str, level: int) -> None:
    body = f"""
  setp.ne.u32 %p3, %i, 0; @!%p3 mbarrier.init.b64 [bars], 64; bar.sync 0; mbarrier.arrive.b64 %d5, [bars];
AGAIN:
  mbarrier.{wait}; @!%p2 bra AGAIN;
  mul.wide.u32 %d3, %i, 4; add.u64 %d3, %d3, %out; st.global.u32 [%d3], 7;"""
    got = run(programs.source(body, target), target, level, np.zeros(64, np.uint32), np.zeros(64, np.uint32), 64)
    assert got.tolist() == [7] * 64


@both
@everywhere
@pytest.mark.parametrize("guard", ["", "@%p2 "])
def test_an_mbarrier_of_each_thread(target: str, guard: str, level: int) -> None:
    """Threads of a warp initialise different objects with different counts."""
    body = f"""
  setp.lt.u32 %p2, %i, 20; shl.b32 %r1, %i, 3; mov.u32 %r2, bars; add.u32 %r1, %r1, %r2; add.u32 %r3, %i, 2;
  mbarrier.init.shared.b64 [%r1+8], 77; {guard}mbarrier.init.shared.b64 [%r1+8], %r3;
  mbarrier.arrive.noComplete.shared.b64 %d5, [%r1+8], 1;
  mbarrier.pending_count.b64 %r4, %d5; mul.wide.u32 %d3, %i, 4; add.u64 %d3, %d3, %out; st.global.u32 [%d3], %r4;"""
    got = run(programs.source(body, target), target, level, np.zeros(1, np.uint32), np.zeros(32, np.uint32), 32)
    want = np.arange(2, 34)  # what was to come in front of the arrival
    assert (got == (np.where(np.arange(32) < 20, want, 77) if guard else want)).all()


@both
@pytest.mark.parametrize("space", [".shared::cta", ".shared::cluster", ".relaxed.cta.shared", ""])
def test_bytes_to_come(space: str, level: int) -> None:
    """A phase is over when the arrivals and the bytes have come, in any order."""
    where = "%d20" if space == "" else "bars"
    test = "mbarrier.test_wait.parity.shared.b64 %p1, [bars], 0; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%out+{at}], %r9;"
    body = f"""
  setp.ne.u32 %p2, %i, 0; @%p2 bra DONE; mov.u64 %d20, bars; cvta.shared.u64 %d20, %d20; mov.u32 %r2, 24;
  mbarrier.init.shared.b64 [bars], 2; {test.format(at=0)}
  mbarrier.expect_tx{space}.b64 [{where}], %r2; mbarrier.arrive.shared.b64 _, [bars]; {test.format(at=4)}
  mbarrier.complete_tx{space}.b64 [{where}], 16; mbarrier.arrive.expect_tx.shared.b64 %d5, [bars], 8; {test.format(at=8)}
  mbarrier.complete_tx{space}.b64 [{where}], 8; {test.format(at=12)}
  mbarrier.complete_tx{space}.b64 [{where}], 8; {test.format(at=16)}
DONE:"""
    got = run(programs.source(body, "sm_90a"), "sm_90a", level, np.zeros(1, np.uint32), np.full(5, 9, np.uint32), 32)
    assert got.tolist() == [0, 0, 0, 0, 1]


@both
@pytest.mark.parametrize("form", ["test_wait.parity.acquire.cluster", "try_wait.parity", "try_wait.parity.acquire.cluster"])
@pytest.mark.parametrize("hint", ["", ", 20"])
def test_a_guard_of_a_test(form: str, hint: str, level: int) -> None:
    """Threads whose guard is false look nowhere: their addresses are none, their predicates stay."""
    if hint and form.startswith("test"):
        pytest.skip("a test takes no time")
    body = f"""
  setp.ne.u32 %p2, %i, 0; @!%p2 mbarrier.init.shared.b64 [bars], 1; bar.sync 0; @!%p2 mbarrier.arrive.shared.b64 _, [bars]; bar.sync 0;
  and.b32 %r1, %i, 1; setp.ne.u32 %p3, %r1, 0; mov.u32 %r2, bars; selp.u32 %r3, %r2, 0xfffff1, %p3; shr.u32 %r4, %i, 1; and.b32 %r4, %r4, 1;
  setp.gt.u32 %p1, %i, 15; @%p3 mbarrier.{form}.shared.b64 %p1, [%r3], %r4{hint};
  selp.u32 %r5, 1, 0, %p1; mul.wide.u32 %d3, %i, 4; add.u64 %d3, %d3, %out; st.global.u32 [%d3], %r5;"""
    got = run(programs.source(body, "sm_90a"), "sm_90a", level, np.zeros(1, np.uint32), np.zeros(32, np.uint32), 32)
    assert got.tolist() == [int(t >> 1 & 1 == 0) if t & 1 else int(t > 15) for t in range(32)]


# -- copies -----------------------------------------------------------------------------------------------------------

COPIES = [(4, "ca.shared.global"), (8, "ca.shared.global"), (16, "ca.shared::cta.global"), (16, "cg.shared.global"),
          (16, "cg.shared.global.L2::cache_hint"), (4, "ca.shared.global.L2::128B"), (16, "cg.shared.global.L2::cache_hint.L2::256B")]  # fmt: skip


def copy_data() -> Array:
    return np.random.default_rng(5).integers(1, 255, (64, 64), dtype=np.uint8)


def _wanted(form: str, data: Array, size: int) -> tuple[str, Array]:
    """The operands of a form, and how many bytes each thread wants."""
    numbers = data[:, 4:8].copy().view(np.uint32)[:, 0]
    return {
        "all": ("", np.full(len(data), size)),
        "part": (f", {size - 3}", np.full(len(data), size - 3)),
        "none": (", 0", np.zeros(len(data), int)),
        "whole": (f", {size}", np.full(len(data), size)),
        "ignored": (", %p6", np.where(numbers & 1, 0, size)),
        "kept": (", !%p6", np.where(numbers & 1, size, 0)),
    }[form]


@both
@everywhere
@pytest.mark.parametrize(("size", "qualifiers"), COPIES)
@pytest.mark.parametrize("form", ["all", "part", "none", "whole", "ignored", "count"])
def test_copies(target: str, size: int, qualifiers: str, form: str, level: int) -> None:
    """Every size, with fewer bytes of the source and with none; what is not copied is zero."""
    data = copy_data()
    if form == "count":
        data[:, 4:8] = (np.arange(64) % (size + 1)).astype(np.uint32).view(np.uint8).reshape(64, 4)
        rest, wanted = ", %r5", np.arange(64) % (size + 1)
    else:
        rest, wanted = _wanted(form, data, size)
    policy = ", %d8" if "cache_hint" in qualifiers else ""
    text = programs.copies(target, size, f"{qualifiers} {rest}{policy}")
    got = run(text, target, level, data, np.zeros((64, 64), np.uint8), 64)[:, :24]
    assert (got == programs.copied(data, size, wanted, 16)).all()


@both
@everywhere
@pytest.mark.parametrize("form", ["all", "part", "none", "count"])
def test_guarded_copies(target: str, form: str, level: int) -> None:
    """A thread whose guard is false copies nothing, and fills nothing with zeros."""
    data = copy_data()
    numbers = np.arange(64) % 17
    if form == "count":
        data[:, 4:8] = numbers.astype(np.uint32).view(np.uint8).reshape(64, 4)
        rest, wanted = ", %r5", numbers
    else:
        rest, wanted = _wanted(form, data, 16)
    guards = data[:, 4] & 1 != 0
    text = programs.copies(target, 16, f"cg.shared.global {rest}", guard="@%p6 ")
    got = run(text, target, level, data, np.zeros((64, 64), np.uint8), 64)[:, :24]
    assert (got == np.where(guards[:, None], programs.copied(data, 16, wanted, 16), 0xFF)).all()


@both
@everywhere
@pytest.mark.parametrize("form", ["all", "part"])
def test_copies_from_far(target: str, form: str, level: int) -> None:
    """A distance that the operation has no room for."""
    data = copy_data()
    rest, wanted = _wanted(form, data, 16)
    text = programs.copies(target, 16, f"cg.shared.global {rest}", far=True)
    got = run(text, target, level, data, np.zeros((64, 64), np.uint8), 64)[:, :24]
    assert (got == programs.copied(data, 16, wanted, 0)).all()


@pytest.mark.parametrize("target", TARGETS)
def test_the_vendors_copies(ptxas: str, tmp_path: Path, target: str) -> None:
    data = copy_data()
    data[:, 4:8] = (np.arange(64) % 17).astype(np.uint32).view(np.uint8).reshape(64, 4)
    image = vendor(ptxas, tmp_path, programs.copies(target, 16, "cg.shared.global , %r5"), target)
    got = _launch(image, data, np.zeros((64, 64), np.uint8), 64)[:, :24]
    assert (got == programs.copied(data, 16, np.arange(64) % 17, 16)).all()


@both
@everywhere
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_groups_of_copies(target: str, depth: int, level: int) -> None:
    """A loop that keeps some groups under way; ordinary loads and their scoreboards are in between."""
    body = f"""
  shl.b32 %r1, %i, 2; mov.u32 %r2, room; add.u32 %r1, %r1, %r2; mul.wide.u32 %d3, %i, 4; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out;
  mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u64 %d5, %d4;
FIRST:
  cp.async.ca.shared.global [%r1], [%d5], 4; cp.async.commit_group;
  add.u32 %r1, %r1, 256; add.u64 %d5, %d5, 256; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, {depth}; @%p1 bra FIRST;
LOOP:
  cp.async.ca.shared.global [%r1], [%d5], 4; cp.async.commit_group; ld.global.u32 %r7, [%d4]; ld.global.u32 %r8, [%d4+256];
  cp.async.wait_group {depth}; sub.u32 %r6, %r1, {256 * depth}; ld.shared.u32 %r5, [%r6]; mad.lo.u32 %r4, %r5, %r3, %r4;
  add.u32 %r7, %r7, %r8; add.u32 %r4, %r4, %r7;
  add.u32 %r1, %r1, 256; add.u64 %d5, %d5, 256; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 12; @%p1 bra LOOP;
  cp.async.wait_all; sub.u32 %r6, %r1, 256; ld.shared.u32 %r5, [%r6]; add.u32 %r4, %r4, %r5; st.global.u32 [%d3], %r4;"""
    data = np.random.default_rng(depth).integers(0, 1 << 20, (12, 64), dtype=np.uint32)
    got = run(programs.source(body, target), target, level, data, np.zeros(64, np.uint32), 64)
    want = np.zeros(64, np.uint32)
    for turn in range(depth, 12):
        want += data[turn - depth] * np.uint32(turn) + data[0] + data[1]
    assert (got == want + data[11]).all()


@both
@everywhere
@pytest.mark.parametrize("form", ["arrive", "arrive.noinc"])
@pytest.mark.parametrize("space", [".shared", ""])
def test_copies_that_an_mbarrier_follows(target: str, form: str, space: str, level: int) -> None:
    """All threads' copies have landed when the phase is over; without ``.noinc`` they are more than the barrier expects."""
    count = 64 if form == "arrive.noinc" else 1
    where = "[bars+8]" if space else "[%d20+8]"
    own = "" if count == 64 else "setp.ne.u32 %p2, %i, 5; @!%p2 mbarrier.arrive.shared.b64 _, [bars+8];"
    body = f"""
  setp.ne.u32 %p2, %i, 0; @!%p2 mbarrier.init.shared.b64 [bars+8], {count}; mov.u64 %d20, bars; cvta.shared.u64 %d20, %d20; bar.sync 0;
  shl.b32 %r1, %i, 3; mov.u32 %r2, room; add.u32 %r1, %r1, %r2; mul.wide.u32 %d3, %i, 8; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out;
  cp.async.ca.shared.global [%r1], [%d4], 8; cp.async.mbarrier.{form}{space}.b64 {where}; bar.sync 0; {own}
WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [bars+8], 0; @!%p1 bra WAIT;
  xor.b32 %r1, %r1, 504; ld.shared.u64 %d7, [%r1]; st.global.u64 [%d3], %d7;"""
    data = np.random.default_rng(1).integers(0, 1 << 40, 64, dtype=np.uint64)
    got = run(programs.source(body, target), target, level, data, np.zeros(64, np.uint64), 64)
    assert (got == data[np.arange(64) ^ 63]).all()


# -- stores that an mbarrier counts -------------------------------------------------------------------------------------

STORES = [(".b32", "%r10", 4), (".s64", "%d10", 8), (".v2.u32", "{%r10, %r11}", 8), (".v4.f32", "{%f10, %f11, %f12, %f13}", 16),
          (".v2.b64", "{%d10, %d11}", 16)]  # fmt: skip


@both
@pytest.mark.parametrize(("type_", "value", "size"), STORES)
@pytest.mark.parametrize("space", [".shared::cluster", ""])
def test_asynchronous_stores(type_: str, value: str, size: int, space: str, level: int) -> None:
    """Each thread stores into its neighbour's place; the phase is over when all bytes have come."""
    at, bar = ("[%d6+16]", "[%d20+8]") if space == "" else ("[%r4+16]", "[bars+8]")
    body = f"""
  .reg .f32 %f<20>;
  setp.ne.u32 %p2, %i, 0; @!%p2 mbarrier.init.shared.b64 [bars+8], 1; mov.u64 %d20, bars; cvta.shared.u64 %d20, %d20; bar.sync 0;
  shl.b32 %r1, %i, 4; mov.u32 %r2, room; xor.b32 %r3, %r1, 16; add.u32 %r1, %r1, %r2; add.u32 %r4, %r3, %r2;
  mul.wide.u32 %d3, %i, 16; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out; cvt.u64.u32 %d6, %r4; cvta.shared.u64 %d6, %d6;
  ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%d4]; ld.global.v2.u64 {{%d10, %d11}}, [%d4];
  ld.global.v4.f32 {{%f10, %f11, %f12, %f13}}, [%d4];
  st.async.weak{space}.mbarrier::complete_tx::bytes{type_} {at}, {value}, {bar};
  @!%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bars+8], {32 * size};
WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bars+8], 0; @!%p1 bra WAIT;
  ld.shared.{"u32" if size == 4 else "u64" if size == 8 else "v2.u64"} {"%r20" if size == 4 else "%d21" if size == 8 else "{%d21, %d22}"}, [%r1+16];
  st.global.{"u32" if size == 4 else "u64" if size == 8 else "v2.u64"} [%d3], {"%r20" if size == 4 else "%d21" if size == 8 else "{%d21, %d22}"};"""
    text = programs.source(body, "sm_90a").replace("st.async.weak.mbarrier", "st.async.mbarrier")
    if space:
        text = text.replace(
            f"st.async.weak{space}.mbarrier::complete_tx::bytes", f"st.async.weak.mbarrier::complete_tx::bytes{space}"
        )
    data = np.random.default_rng(size).integers(0, 255, (32, 16), dtype=np.uint8)
    got = run(text, "sm_90a", level, data, np.zeros((32, 16), np.uint8), 32)
    assert (got[:, :size] == data[np.arange(32) ^ 1, :size]).all()


REDUCTIONS = [("add.u32", "u32", lambda a, b: a + b), ("add.s64", "u64", lambda a, b: a + b), ("min.s32", "s32", min), ("max.u32", "u32", max),
              ("and.b32", "u32", lambda a, b: a & b), ("or.b32", "u32", lambda a, b: a | b), ("xor.b32", "u32", lambda a, b: a ^ b),
              ("inc.u32", "u32", lambda a, b: 0 if a >= b else a + 1), ("dec.u32", "u32", lambda a, b: b if a == 0 or a > b else a - 1)]  # fmt: skip


@both
@pytest.mark.parametrize(("operation", "type_", "by"), REDUCTIONS, ids=lambda v: v if isinstance(v, str) and "." in v else "")
def test_asynchronous_reductions(operation: str, type_: str, by: Any, level: int) -> None:
    """Each thread's value goes into the word of its neighbour."""
    size, dtype = int(type_[1:]) // 8, np.dtype(f"{'i' if type_[0] == 's' else 'u'}{int(type_[1:]) // 8}")
    value, kept = ("%r10", "%r11") if size == 4 else ("%d10", "%d11")
    body = f"""
  setp.ne.u32 %p2, %i, 0; @!%p2 mbarrier.init.shared.b64 [bars], 1; mul.lo.u32 %r1, %i, {size}; mov.u32 %r2, room;
  xor.b32 %r3, %r1, {size}; add.u32 %r1, %r1, %r2; add.u32 %r4, %r3, %r2; mul.wide.u32 %d3, %i, {2 * size}; add.u64 %d4, %d3, %in;
  add.u64 %d3, %d3, %out; ld.global.b{8 * size} {value}, [%d4]; ld.global.b{8 * size} {kept}, [%d4+{size}]; st.shared.b{8 * size} [%r1], {kept};
  bar.sync 0;
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{operation} [%r4], {value}, [bars];
  @!%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bars], {32 * size};
WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bars], 0; @!%p1 bra WAIT;
  ld.shared.b{8 * size} {value}, [%r1]; st.global.b{8 * size} [%d3], {value};"""
    data = np.random.default_rng(size).integers(0, 250, (32, 2)).astype(dtype)
    got = run(programs.source(body, "sm_90a"), "sm_90a", level, data, np.zeros((32, 2), dtype), 32)
    want = [by(int(data[t, 1]), int(data[t ^ 1, 0])) for t in range(32)]
    assert got[:, 0].tolist() == want


# -- launches that depend on each other -----------------------------------------------------------------------------------


@both
def test_dependent_launches(level: int) -> None:
    """The instructions that say so, in their order among accesses of memory."""
    body = """
  griddepcontrol.wait; mul.wide.u32 %d3, %i, 4; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out; ld.global.u32 %r1, [%d4]; st.global.u32 [%d3], %r1;
  griddepcontrol.launch_dependents;"""
    text = programs.source(body, "sm_90a")
    image = compiled(text, "sm_90a", level)
    data = np.arange(32, dtype=np.uint32)
    assert (_launch(image, data, np.zeros(32, np.uint32), 32) == data).all()


# -- the vendor's instructions ----------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@both
@everywhere
def test_the_instructions_are_the_vendors(target: str, level: int) -> None:
    """Operations and modifiers of every form that the table has, in order."""
    different = []
    for _, text, made in (row for row in vendor_instructions.rows() if row[0] == target):
        try:
            image = oric.compile(vendor_instructions.source(target, text), arch=target, opt_level=level).image
        except oric.CompileError:
            continue  # what has no code yet is counted elsewhere
        ours = vendor_instructions.instructions(image)
        if ours != made:
            different.append((text, ours, made))
    assert not different
