# ruff: noqa: E501 (PTX and tables)
"""Shuffles, votes, matches, reductions over the warp; barriers of the block."""

from __future__ import annotations

import numpy as np
import pytest

from .support import launch, source

ARCHES = [("sm_90", 3), ("sm_90", 0), ("sm_80", 3), ("sm_75", 3), ("sm_75", 0)]
REDUX = [way for way in ARCHES if way[0] != "sm_75"]  # redux.sync needs sm_80


def _shuffle(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Source lane and predicate, from the PTX manual."""
    bound, mask = c & 31, c >> 8 & 31
    high = (lane & mask) | (bound & ~mask & 31)
    low = lane & mask
    b &= 31
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": low | (b & ~mask & 31)}[mode]
    p = j >= high if mode == "up" else j <= high
    return (j if p else lane), p


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize(
    ("b", "c"), [(1, 0x1F), (4, 0x1F), (16, 0x1F), (3, 0x181F), (2, 0x1C1F), (1, 0), (5, 0x1800), (31, 0x1F)]
)
def test_shuffle(mode: str, b: int, c: int, arch: str, level: int) -> None:
    """With constants and with registers, with and without the predicate."""
    body = f"""
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; mov.u32 %r2, {b}; mov.u32 %r3, {c};
  ld.global.u32 %r9, [%in]; sub.u32 %r9, %r9, %r9; add.u32 %r2, %r2, %r9; add.u32 %r3, %r3, %r9;
  shfl.sync.{mode}.b32 %r4|%p1, %r1, {b}, {c}, -1; shfl.sync.{mode}.b32 %r5|%p2, %r1, %r2, %r3, 0xffffffff;
  shfl.sync.{mode}.b32 %r6, %r1, {b}, %r3, -1; shfl.sync.{mode}.b32 %r7, %r1, %r2, {c}, -1;
  selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2; or.b32 %r10, %r10, %r11; add.u32 %r6, %r6, %r7;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {{%r4, %r5, %r6, %r10}};
"""
    data = np.arange(1000, 1032, dtype=np.uint32)
    out = launch(source(body, arch), data, np.zeros((32, 4), np.uint32), arch, level)
    for lane in range(32):
        j, p = _shuffle(mode, lane, b, c)
        assert list(out[lane]) == [1000 + j, 1000 + j, 2 * (1000 + j), 3 * p]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize(("b", "c"), [(32, 0x1F), (33, 0), (100, 0x181F), (0xFFFFFFFF, 0x1F), (3, 0x2000), (40, 0xFFFFFFFF)])
def test_shuffle_beyond_the_fields(mode: str, b: int, c: int, arch: str, level: int) -> None:
    """Constants that the instruction has no room for: in registers, as with ptxas; only their low bits count."""
    body = f"""
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; mov.u32 %r2, {b}; mov.u32 %r3, {c};
  shfl.sync.{mode}.b32 %r4|%p1, %r1, {b}, {c}, -1; shfl.sync.{mode}.b32 %r5, %r1, %r2, %r3, -1;
  shfl.sync.{mode}.b32 %r6, %r1, {b}, %r3, 0xffffffff; selp.u32 %r10, 1, 0, %p1;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {{%r4, %r5, %r6, %r10}};
"""
    data = np.arange(1000, 1032, dtype=np.uint32)
    out = launch(source(body, arch), data, np.zeros((32, 4), np.uint32), arch, level)
    for lane in range(32):
        j, p = _shuffle(mode, lane, b, c)
        assert list(out[lane]) == [1000 + j, 1000 + j, 1000 + j, p]


@pytest.mark.memcheck
@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffle_with_fields_of_each_lane(mode: str, arch: str, level: int) -> None:
    """Every clamp with every segment mask, every distance: 1,024 of each lane's own, in registers."""
    rounds = 32
    body = f"""
  add.u64 %d1, %in, %tid8; add.u64 %d2, %out, %tid8; mov.u32 %r9, 0;
again:
  ld.global.v2.u32 {{%r2, %r3}}, [%d1]; shfl.sync.{mode}.b32 %r4|%p1, %i, %r2, %r3, -1; selp.u32 %r5, 1, 0, %p1;
  st.global.v2.u32 [%d2], {{%r4, %r5}}; add.u64 %d1, %d1, 256; add.u64 %d2, %d2, 256;
  add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, {rounds}; @%p2 bra again;
"""
    rng = np.random.default_rng(11)
    data = rng.integers(0, 2**32, (rounds, 32, 2), dtype=np.uint64).astype(np.uint32)
    fields = np.arange(rounds * 32, dtype=np.uint32)
    data[:, :, 1] = (data[:, :, 1] & 0xFFFFE0E0) | (fields & 31 | (fields >> 5 & 31) << 8).reshape(rounds, 32)
    out = launch(source(body, arch), data, np.zeros_like(data), arch, level)
    for turn in range(rounds):
        for lane in range(32):
            assert tuple(out[turn, lane]) == _shuffle(mode, lane, *map(int, data[turn, lane])), (turn, lane)


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffle_with_constant_fields(mode: str, arch: str, level: int) -> None:
    """Segments of every width with a clamp at their end and within, as constants, the distance in a register and as a constant."""
    pairs = [(b, c | mask << 8) for mask in (0, 16, 24, 28, 30, 31) for c in (0, 7, 31) for b in (0, 1, 17, 31)]
    lines = "".join(
        f"  add.u32 %r2, %r9, {b}; shfl.sync.{mode}.b32 %r4|%p1, %i, {b}, {c}, -1; shfl.sync.{mode}.b32 %r5|%p2, %i, %r2, {c}, -1;\n"
        f"  selp.u32 %r6, 32, 0, %p1; selp.u32 %r7, 32, 0, %p2; or.b32 %r4, %r4, %r6; or.b32 %r5, %r5, %r7;\n"
        f"  st.global.v2.u32 [%d2+{8 * 32 * k}], {{%r4, %r5}};\n"
        for k, (b, c) in enumerate(pairs)
    )
    body = f"add.u64 %d2, %out, %tid8; ld.global.u32 %r9, [%in];\n{lines}"
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((len(pairs), 32, 2), np.uint32), arch, level)
    for k, (b, c) in enumerate(pairs):
        for lane in range(32):
            j, p = _shuffle(mode, lane, b, c)
            assert list(out[k, lane]) == [j | 32 * p] * 2, (b, c, lane)


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_votes(arch: str, level: int) -> None:
    body = """
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 0; setp.lt.u32 %p2, %i, 40;
  vote.sync.ballot.b32 %r2, %p1, -1; vote.sync.any.pred %p3, %p1, -1; vote.sync.all.pred %p4, %p1, -1; vote.sync.uni.pred %p5, %p1, -1;
  vote.sync.all.pred %p6, %p2, 0xffffffff; vote.sync.ballot.b32 %r3, !%p1, -1; activemask.b32 %r4;
  selp.u32 %r5, 1, 0, %p3; selp.u32 %r6, 2, 0, %p4; or.b32 %r5, %r5, %r6; selp.u32 %r6, 4, 0, %p5; or.b32 %r5, %r5, %r6;
  selp.u32 %r6, 8, 0, %p6; or.b32 %r5, %r5, %r6;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r2, %r3, %r4, %r5};
"""
    data = np.array([k % 3 == 0 for k in range(32)], np.uint32)
    out = launch(source(body, arch), data, np.zeros((32, 4), np.uint32), arch, level)
    ballot = sum(int(v) << k for k, v in enumerate(data))
    assert (out == [ballot, ballot ^ 0xFFFFFFFF, 0xFFFFFFFF, 1 | 8]).all()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_divergent_ballot(arch: str, level: int) -> None:
    """In a branch only its threads vote; the others come in with their own mask."""
    body = """
  and.b32 %r1, %i, 1; setp.eq.u32 %p1, %r1, 0; mov.pred %p2, %p1; mov.u32 %r3, 0;
  @%p1 bra even;
  mov.u32 %r4, 0xaaaaaaaa; vote.sync.ballot.b32 %r3, %p2, %r4; activemask.b32 %r5; bra join;
even:
  mov.u32 %r4, 0x55555555; vote.sync.ballot.b32 %r3, %p2, %r4; activemask.b32 %r5;
join:
  bar.warp.sync 0xffffffff; activemask.b32 %r6;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r3, %r5, %r6, %r1};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    for t in range(32):
        mask = 0xAAAAAAAA if t & 1 else 0x55555555
        assert list(out[t]) == [0 if t & 1 else 0x55555555, mask, 0xFFFFFFFF, t & 1]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_a_vote_on_a_constant_is_one_of_all(arch: str, level: int) -> None:
    """Behind a loop of some threads, which are apart there: of activemask that is no matter, but of a vote that names all."""
    body = """
  .shared .align 8 .b64 cell; setp.lt.u32 %p1, %i, 1; xor.pred %p2, %p1, %p1; @%p1 bra L; red.shared.add.u64 [cell], 12;
L:
  activemask.b32 %r2; vote.sync.ballot.b32 %r1, !%p2, 0xffffffff; shr.u32 %r2, %r2, %i; and.b32 %r2, %r2, 1;
  mul.lo.u64 %d2, %tid4, 2; add.u64 %d2, %d2, %out; st.global.v2.u32 [%d2], {%r1, %r2};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((32, 2), np.uint32), arch, level)
    assert (out == [0xFFFFFFFF, 1]).all()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_match(arch: str, level: int) -> None:
    body = """
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; cvt.u64.u32 %d3, %r1; shl.b64 %d3, %d3, 20; mov.u32 %r7, 9;
  match.any.sync.b32 %r2, %r1, -1; match.any.sync.b64 %r3, %d3, -1; match.all.sync.b32 %r4|%p1, %r1, -1;
  match.all.sync.b32 %r5|%p2, %r7, 0xffffffff; selp.u32 %r6, 1, 0, %p1; selp.u32 %r8, 2, 0, %p2; or.b32 %r6, %r6, %r8;
  xor.b32 %r5, %r5, %r4;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r2, %r3, %r5, %r6};
"""
    data = np.array([k * k % 7 for k in range(32)], np.uint32)
    out = launch(source(body, arch), data, np.zeros((32, 4), np.uint32), arch, level)
    for t in range(32):
        same = sum(1 << k for k in range(32) if data[k] == data[t])
        assert list(out[t]) == [same, same, 0xFFFFFFFF, 2]


@pytest.mark.parametrize(("arch", "level"), REDUX)
def test_redux(arch: str, level: int) -> None:
    kinds = ["add.s32", "add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"]
    lines = "".join(f"  redux.sync.{k} %r2, %r1, -1; st.global.u32 [%d2+{4 * n}], %r2;\n" for n, k in enumerate(kinds))
    body = f"add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; mul.lo.u64 %d2, %tid4, 9; add.u64 %d2, %d2, %out;\n{lines}"
    data = np.random.default_rng(3).integers(0, 2**32, 32, dtype=np.uint64).astype(np.uint32)
    out = launch(source(body, arch), data, np.zeros((32, 9), np.uint32), arch, level)
    signed = data.view(np.int32)
    total = np.uint32(int(data.sum(dtype=np.uint64)) & 0xFFFFFFFF)
    want = [total, total, np.uint32(int(signed.min()) & 0xFFFFFFFF), np.uint32(int(signed.max()) & 0xFFFFFFFF), data.min(), data.max(),
            np.bitwise_and.reduce(data), np.bitwise_or.reduce(data), np.bitwise_xor.reduce(data)]  # fmt: skip
    assert (out == want).all()


@pytest.mark.parametrize(("arch", "level"), REDUX)
def test_redux_behind_a_loop_that_threads_leave_apart(arch: str, level: int) -> None:
    """A 64-bit sum in shared memory is a loop; the reduction behind it is one of all threads again."""
    body = """
  .shared .align 8 .b64 cell; setp.lt.u32 %p1, %i, 1; @%p1 bra L; red.shared.add.u64 [cell], 12;
L:
  redux.sync.xor.b32 %r1, %i, 0xffffffff; add.u64 %d2, %tid4, %out; st.global.u32 [%d2], %r1;
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.ones(32, np.uint32), arch, level)
    assert not out.any()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_a_loop_does_not_wait_for_atomics_behind_it(arch: str, level: int) -> None:
    """Its branch depends on a predicate that an atomic of another loop decides later: threads meet behind both loops."""
    body = """
  .shared .align 4 .b32 cell; st.shared.u32 [cell], 0; bar.sync 0; and.b32 %r1, %i, 7; setp.gt.u32 %p4, %r1, 2; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r6, 0;
L12:
  @!%p4 bra L14; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L12;
L14:
  setp.ge.u32 %p1, %r3, %r1; @%p1 bra L21; atom.shared.add.u32 %r6, [cell], 0; add.u32 %r3, %r3, 1; bra L14;
L21:
  mov.u32 %r7, 0; setp.ge.u32 %p1, %i, 17; @%p1 bra L22; vote.sync.ballot.b32 %r7, %p4, 0x1ffff;
L22:
  shfl.sync.idx.b32 %r8, %r2, 31, 0x1f, 0xffffffff; setp.gt.u32 %p4, %r6, %r8; selp.u32 %r9, 1, 0, %p4;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r2, %r7, %r8, %r9};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    ballot = sum(1 << t for t in range(17) if t & 7 > 2)
    for t in range(32):
        assert list(out[t]) == [t & 7 if t & 7 > 2 else 0, ballot if t < 17 else 0, 7, 0]


@pytest.mark.parametrize(("arch", "level"), REDUX)
def test_masks_of_some_threads_behind_a_loop_that_waits(arch: str, level: int) -> None:
    """Threads leave the loop when an atomic says so, at different times; then some of them vote, and all of them."""
    body = """
  .shared .align 4 .b32 cell; st.shared.u32 [cell], 0; bar.sync 0; mov.u32 %r2, 0; mov.u32 %r7, 0;
L1:
  atom.shared.add.u32 %r6, [cell], 1; add.u32 %r2, %r2, 1; shr.u32 %r6, %r6, 5; shr.u32 %r3, %i, 3; setp.lt.u32 %p1, %r6, %r3; @%p1 bra L1;
  setp.ge.u32 %p1, %i, 17; @%p1 bra L2; vote.sync.ballot.b32 %r7, %p1, 0x1ffff; not.b32 %r7, %r7;
L2:
  shfl.sync.bfly.b32 %r8, %i, 31, 0x1f, 0xffffffff; redux.sync.add.u32 %r9, %i, 0xffffffff;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r7, %r8, %r9, %r2};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    for t in range(32):
        assert list(out[t][:3]) == [0xFFFFFFFF if t < 17 else 0, 31 - t, 496] and out[t][3] >= 1


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("nan", ["", ".NaN"])
@pytest.mark.parametrize("absolute", ["", ".abs"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_redux_of_floats(op: str, absolute: str, nan: str, level: int) -> None:
    """Of all lanes, and of the halves of a warp by themselves; one NaN in the upper half counts with .NaN only."""
    body = f"""
  add.u64 %d1, %in, %tid4; ld.global.f32 %f1, [%d1]; setp.lt.u32 %p1, %i, 16; selp.u32 %r2, 0xffff, 0xffff0000, %p1;
  redux.sync.{op}{absolute}{nan}.f32 %f2, %f1, -1; redux.sync.{op}{absolute}{nan}.f32 %f3, %f1, %r2;
  add.u64 %d2, %out, %tid8; st.global.v2.f32 [%d2], {{%f2, %f3}};
"""
    data = np.random.default_rng(5).normal(size=32).astype(np.float32)
    data[[3, 20, 21]] = -0.0, np.nan, -np.inf if op == "max" else np.inf
    out = launch(source(body, "sm_100a"), data, np.zeros((32, 2), np.float32), "sm_100a", level)
    parts = np.abs(data) if absolute else data
    fold = {"": np.fmin if op == "min" else np.fmax, ".NaN": np.minimum if op == "min" else np.maximum}[nan].reduce
    want = np.array([[fold(parts), fold(parts[:16] if t < 16 else parts[16:])] for t in range(32)])
    assert np.array_equal(out, want, equal_nan=True)


@pytest.mark.parametrize("level", [0, 3])
def test_elect(level: int) -> None:
    body = """
  elect.sync %r1|%p1, -1; selp.u32 %r2, 1, 0, %p1; add.u64 %d2, %tid8, %out; st.global.v2.u32 [%d2], {%r1, %r2};
"""
    out = launch(source(body, "sm_90"), np.zeros(1, np.uint32), np.zeros((32, 2), np.uint32), "sm_90", level)
    assert sum(out[:, 1]) == 1
    assert (out[:, 0] == np.argmax(out[:, 1])).all()


BARRIERS = ["bar.sync 0", "bar.sync 3", "barrier.sync 1", "barrier.sync.aligned 2", "bar.sync 1, 128", "bar.sync %r20", "bar.sync %r20, 128",
            "bar.sync %r20, %r21", "bar.cta.sync 4"]  # fmt: skip


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("barrier", BARRIERS)
def test_barrier(barrier: str, arch: str, level: int) -> None:
    """Every thread sees what the one on the other side wrote."""
    body = f"""
  .shared .align 4 .b8 tile[512]; mov.u32 %r1, tile; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2; mul.lo.u32 %r4, %i, 3;
  ld.global.u32 %r20, [%in]; ld.global.u32 %r21, [%in+4];
  st.shared.u32 [%r3], %r4; {barrier}; xor.b32 %r5, %r2, 508; add.u32 %r5, %r5, %r1; ld.shared.u32 %r6, [%r5];
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r6;
"""
    out = launch(source(body, arch), np.array([5, 128], np.uint32), np.zeros(128, np.uint32), arch, level, threads=128)
    assert list(out) == [3 * (127 - t) for t in range(128)]


REDUCTIONS = [
    "bar.red.{}",
    "bar.cta.red.{}",
    "barrier.red.{}",
    "barrier.red.{}.aligned",
    "barrier.cta.red.{}",
    "barrier.cta.red.{}.aligned",
]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("form", REDUCTIONS)
def test_barrier_reduction(form: str, arch: str, level: int) -> None:
    popc, both, either = (form.format(op) for op in ("popc", "and", "or"))
    body = f"""
  rem.u32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %i, 200;
  {popc}.u32 %r2, 0, %p1; {both}.pred %p3, 1, %p1; {either}.pred %p4, 2, %p1; {both}.pred %p5, 1, 128, %p2;
  {either}.pred %p6, 0, !%p2;
  selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 2, 0, %p4; or.b32 %r3, %r3, %r4; selp.u32 %r4, 4, 0, %p5; or.b32 %r3, %r3, %r4;
  selp.u32 %r4, 8, 0, %p6; or.b32 %r3, %r3, %r4;
  add.u64 %d1, %out, %tid8; st.global.v2.u32 [%d1], {{%r2, %r3}};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((128, 2), np.uint32), arch, level, threads=128)
    assert (out == [43, 6]).all()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("form", REDUCTIONS)
@pytest.mark.parametrize(("number", "count"), [("%r20", "128"), ("3", "%r21"), ("%r20", "%r21")])
def test_barrier_reduction_with_numbers_in_registers(number: str, count: str, form: str, arch: str, level: int) -> None:
    popc, both, either = (form.format(op) for op in ("popc", "and", "or"))
    body = f"""
  ld.global.u32 %r20, [%in]; ld.global.u32 %r21, [%in+4]; rem.u32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %i, 200;
  {popc}.u32 %r2, {number}, {count}, %p1; {both}.pred %p3, {number}, {count}, %p2; {either}.pred %p4, {number}, {count}, !%p2;
  selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 2, 0, %p4; or.b32 %r3, %r3, %r4;
  add.u64 %d1, %out, %tid8; st.global.v2.u32 [%d1], {{%r2, %r3}};
"""
    out = launch(source(body, arch), np.array([5, 128], np.uint32), np.zeros((128, 2), np.uint32), arch, level, threads=128)
    assert (out == [43, 1]).all()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_producer_consumer(arch: str, level: int) -> None:
    """One warp arrives, the other waits."""
    body = """
  .shared .align 4 .b8 tile[128]; mov.u32 %r1, tile; and.b32 %r2, %i, 31; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1;
  setp.ge.u32 %p1, %i, 32; @%p1 bra consumer;
  mul.lo.u32 %r4, %i, 7; st.shared.u32 [%r3], %r4; membar.cta; bar.arrive 1, 64; bra done;
consumer:
  bar.sync 1, 64; ld.shared.u32 %r5, [%r3]; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %out; st.global.u32 [%d2], %r5;
done:
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros(32, np.uint32), arch, level, threads=64)
    assert list(out) == [7 * t for t in range(32)]


FENCES = ["membar.cta", "membar.gl", "membar.sys", "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu",
          "fence.sc.sys", "fence.gpu", "nanosleep.u32 20", "nanosleep.u32 %i", "prefetch.global.L1 [%in]", "prefetch.global.L2 [%in]",
          "prefetch.L1 [%in]", "prefetchu.L1 [%in]"]  # fmt: skip


FENCES_OF_CLUSTERS = [
    "fence.acquire.cta", "fence.acquire.gpu", "fence.release.sys", "fence.release.cluster", "fence.acq_rel.cluster", "fence.proxy.alias",
    "fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster", "membar.proxy.alias",
    "fence.mbarrier_init.release.cluster", "fence.proxy.async", "fence.proxy.async.global", "fence.proxy.async.shared::cta",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "fence.proxy.tensormap::generic.release.gpu",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "fence.proxy.tensormap::generic.acquire.gpu [%in], 128",
    "fence.proxy.tensormap::generic.acquire.sys [%d1+128], 128",
]  # fmt: skip


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("fence", FENCES)
def test_without_effect(fence: str, arch: str) -> None:
    """Fences and hints change nothing that one thread can see."""
    _no_effect(fence, arch)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("fence", FENCES_OF_CLUSTERS)
def test_fences_of_clusters_without_effect(fence: str, level: int) -> None:
    """The same, under a guard and without; a map of a tensor is thrown out of its cache once for each address."""
    _no_effect(fence, "sm_90", level)
    _no_effect(f"setp.lt.u32 %p7, %i, 9; @%p7 {fence}", "sm_90", level)


def _no_effect(instruction: str, arch: str, level: int = 3) -> None:
    body = f"add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %i; {instruction}; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;"
    assert list(launch(source(body, arch), np.zeros(4, np.uint32), np.zeros(32, np.uint32), arch, level)) == list(range(1, 33))


@pytest.mark.row("R2-06")
@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
def test_special_registers(arch: str) -> None:
    names = ["tid.x", "tid.y", "ctaid.x", "ntid.x", "ntid.y", "nctaid.x", "laneid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt",
             "lanemask_ge"]  # fmt: skip
    lines = "".join(f"  mov.u32 %r1, %{n}; st.global.u32 [%d2+{4 * k}], %r1;\n" for k, n in enumerate(names))
    body = f"mul.lo.u64 %d2, %tid4, {len(names)}; add.u64 %d2, %d2, %out;\n{lines}  mov.u64 %d3, %clock64; mov.u32 %r2, %clock;"
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((64, len(names)), np.uint32), arch, threads=64)
    for t in range(64):
        lane = t & 31
        lt = (1 << lane) - 1
        assert list(out[t]) == [
            t,
            0,
            0,
            64,
            1,
            1,
            lane,
            1 << lane,
            lt,
            lt | 1 << lane,
            0xFFFFFFFF & ~(lt | 1 << lane),
            0xFFFFFFFF & ~lt,
        ]
