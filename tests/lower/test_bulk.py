"""Bulk copies and reductions: every thread of a warp with operands of its own, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest
from oric.support import elf

Array = np.ndarray[Any, Any]
TARGETS = [("sm_90", 3), ("sm_90a", 0), ("sm_100a", 3), ("sm_120a", 3)]
THREADS = 40
BYTES = "mbarrier::complete_tx::bytes"
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 psizes, .param .u32 ptotal)
{{
  .reg .pred %p<6>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %d<20>;
  .shared .align 128 .b8 data[16384]; .shared .align 128 .b8 more[4096]; .shared .align 8 .b64 bar;
  ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; ld.param.u64 %d2, [psizes]; ld.param.u32 %r1, [ptotal];
  mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mul.wide.u32 %d3, %r0, 8; add.u64 %d2, %d2, %d3;
  ld.global.v2.u32 {{%r2, %r3}}, [%d2];           // where the thread's part begins, its bytes
  cvt.u64.u32 %d4, %r2; add.u64 %d0, %d0, %d4; add.u64 %d1, %d1, %d4; mov.u32 %r4, data; add.u32 %r4, %r4, %r2; mov.u32 %r5, bar;
  createpolicy.fractional.L2::evict_last.b64 %d9, 1.0;
  @%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r1; bar.sync 0;
"""
WAIT = """wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra wait; fence.proxy.async;
"""
END = """  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  ret;
}}
"""
LOAD = f"  cp.async.bulk.shared::cluster.global.{BYTES} [%r4], [%d0], %r3, [%r5];\n"
STORE = "  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r4], %r3;\n"


def image(target: str, level: int, body: str) -> bytes:
    return oric.compile((HEAD + body + END).format(target=target), arch=target, opt_level=level).image


def parts(seed: int) -> tuple[Array, int]:
    """Where each thread's part begins and how many bytes it has, some none; how many they are together."""
    sizes = 16 * np.random.default_rng(seed).integers(0, 20, THREADS)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.stack([starts, sizes], 1).astype(np.uint32), int(sizes.sum())


THIRD = "  rem.u32 %r6, %r0, 3; setp.eq.u32 %p2, %r6, 1;\n"  # %p2: of one thread in three


def copies_each_part(code: bytes) -> None:
    """Each thread copies its part from one place to the other."""
    rows, total = parts(1)
    data = np.random.default_rng(2).integers(0, 256, 16384, dtype=np.uint8)
    out = np.zeros_like(data)
    run(code, data, out, rows, total)
    assert (out[:total] == data[:total]).all()
    assert not out[total:].any()


def copies_third_parts(code: bytes) -> None:
    """The same of the threads of ``THIRD`` alone."""
    rows, _ = parts(3)
    wanted = np.arange(THREADS) % 3 == 1
    data = np.random.default_rng(4).integers(1, 256, 16384, dtype=np.uint8)
    out = np.zeros_like(data)
    run(code, data, out, rows, int(rows[wanted, 1].sum()))
    want = np.zeros_like(data)
    for start, size in rows[wanted]:
        want[start : start + size] = data[start : start + size]
    assert (out == want).all()


def run(code: bytes, data: Array, out: Array, rows: Array, total: int, **more: Any) -> None:
    oric.sim.load(code).launch("k", more.pop("grid", 1), THREADS, [data, out, rows, total], **more)


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize(("load", "store"), [
    (LOAD, STORE),
    (f"  cp.async.bulk.shared::cta.global.{BYTES}.L2::cache_hint [%r4], [%d0], %r3, [%r5], %d9;\n",
     "  cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1], [%r4], %r3, %d9;\n"),
    (f"  cp.async.bulk.prefetch.L2.global [%d0], %r3;\n  cvta.shared.u64 %d5, bar; cvt.u64.u32 %d6, %r4;\n"
     f"  cp.async.bulk.shared::cluster.global.{BYTES} [%d6], [%d0], %r3, [%d5];\n", STORE),
], ids=["plain", "policy", "generic"])  # fmt: skip
def test_every_thread_copies_its_part(target: str, level: int, load: str, store: str) -> None:
    copies_each_part(image(target, level, load + WAIT + store))


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_threads_whose_guard_is_false_copy_nothing(target: str, level: int) -> None:
    copies_third_parts(image(target, level, THIRD + (LOAD + WAIT + STORE).replace("  cp", "  @%p2 cp")))


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_from_shared_memory_to_shared_memory(target: str, level: int) -> None:
    body = f"""{LOAD}{WAIT}  bar.sync 0;
  @%p0 mbarrier.inval.shared.b64 [bar]; @%p0 mbarrier.init.shared.b64 [bar], 1;
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1280; bar.sync 0;
  mov.u32 %r7, more; mad.lo.u32 %r7, %r0, 32, %r7; mov.u32 %r8, data; mad.lo.u32 %r8, %r0, 32, %r8;
  cp.async.bulk.shared::cluster.shared::cta.{BYTES} [%r7], [%r8], 32, [%r5];
again: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra again;
  ld.param.u64 %d7, [pout]; mul.wide.u32 %d8, %r0, 32; add.u64 %d7, %d7, %d8;
  cp.async.bulk.global.shared::cta.bulk_group [%d7], [%r7], 32;
"""
    rows, total = parts(5)
    data = np.random.default_rng(6).integers(0, 256, 16384, dtype=np.uint8)
    out = np.zeros_like(data)
    run(image(target, level, body), data, out, rows, total)
    assert (out[:1280] == data[:1280]).all()


REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "add.u32": (np.uint32, np.add), "add.u64": (np.uint64, np.add), "min.s32": (np.int32, np.minimum),
    "max.u64": (np.uint64, np.maximum),
    "and.b32": (np.uint32, np.bitwise_and), "or.b64": (np.uint64, np.bitwise_or), "xor.b32": (np.uint32, np.bitwise_xor),
    "add.f32": (np.float32, np.add), "add.noftz.f16": (np.float16, np.add), "min.f16": (np.float16, np.minimum),
}  # fmt: skip


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("what", REDUCTIONS)
def test_every_thread_reduces_though_all_ask_for_the_same(target: str, level: int, what: str) -> None:
    dtype, operation = REDUCTIONS[what]
    body = f"""  @%p0 cp.async.bulk.shared::cta.global.{BYTES} [data], [%d0], 64, [bar];
{WAIT}  ld.param.u64 %d7, [pout]; cp.reduce.async.bulk.global.shared::cta.bulk_group.{what} [%d7], [data], 64;
"""
    random = np.random.default_rng(7)
    data, out = random.integers(0, 9, (2, 64 // np.dtype(dtype).itemsize)).astype(dtype)
    want = out.copy()
    for _ in range(THREADS):
        want = operation(want, data).astype(dtype)
    run(image(target, level, body), data, out, parts(8)[0], 64)
    assert out.tolist() == want.tolist()


def test_bytes_of_a_mask() -> None:
    masks = np.arange(THREADS) * 1639 % 65536
    body = LOAD + WAIT + ("  mul.lo.u32 %r9, %r0, 1639; cvt.u16.u32 %h1, %r9;\n"
                          "  cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%r4], %r3, %h1;\n")  # fmt: skip
    rows, total = parts(9)
    data = np.random.default_rng(10).integers(1, 256, 16384, dtype=np.uint8)
    out = np.zeros_like(data)
    run(image("sm_100a", 3, body), data, out, rows, total)
    want = np.zeros_like(data)
    for (start, size), mask in zip(rows, masks, strict=True):
        kept = np.tile(mask >> np.arange(16) & 1, size // 16) == 1
        want[start : start + size][kept] = data[start : start + size][kept]
    assert (out == want).all()


CLUSTER = f"""  barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r20, %cluster_ctarank;
  {{what}}
{WAIT}  mov.u32 %r21, %ctaid.x; mul.wide.u32 %d7, %r21, 1024; ld.param.u64 %d8, [pout]; add.u64 %d8, %d8, %d7;
  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d8], [data], 1024;
over: barrier.cluster.arrive; barrier.cluster.wait;
"""


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize(("mask", "hint"), [(3, ""), (1, ""), (2, ".L2::cache_hint")])
def test_copies_for_several_blocks(target: str, mask: int, hint: str) -> None:
    """The first block copies; those of the mask get it, and their mbarriers hear of it."""
    policy = ", %d9" if hint else ""
    what = (f"setp.eq.and.u32 %p3, %r20, 0, %p0; mov.u16 %h1, {mask};\n  @%p3 cp.async.bulk.shared::cluster.global."
            f"{BYTES}.multicast::cluster{hint} [data], [%d0], 1024, [bar], %h1{policy};\n"
            f"  shr.u32 %r22, {mask}, %r20; and.b32 %r22, %r22, 1; setp.eq.u32 %p4, %r22, 0; @%p4 bra over;")  # fmt: skip
    data = np.random.default_rng(mask).integers(1, 256, 1024, dtype=np.uint8)
    out = np.zeros((2, 1024), np.uint8)
    body = CLUSTER.replace("{what}", what)
    run(image(target, 3, body), data, out, np.zeros((THREADS, 2), np.uint32), 1024, grid=2, cluster=2)
    for block in range(2):
        assert (out[block] == (data if mask >> block & 1 else 0)).all()


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
def test_a_copy_into_another_block(target: str) -> None:
    what = (f"xor.b32 %r22, %r20, 1; mapa.shared::cluster.u32 %r23, %r4, %r22; mapa.shared::cluster.u32 %r24, %r5, %r22;\n"
            f"  mov.u32 %r25, %ctaid.x; mul.wide.u32 %d10, %r25, 1024; add.u64 %d0, %d0, %d10;\n"
            f"  @%p0 cp.async.bulk.shared::cluster.global.{BYTES} [%r23], [%d0], 1024, [%r24];")  # fmt: skip
    data = np.random.default_rng(12).integers(1, 256, (2, 1024), dtype=np.uint8)
    out = np.zeros_like(data)
    run(image(target, 3, CLUSTER.replace("{what}", what)), data, out, np.zeros((THREADS, 2), np.uint32), 1024, grid=2, cluster=2)
    assert (out == data[::-1]).all()


@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_a_group_is_closed_under_a_guard(target: str, level: int) -> None:
    """As Triton does it behind a descriptor that it makes; the hardware's instruction has no guard of a thread's own."""
    write = "  @%p0 st.shared.v4.b32 [%r4], {{%r3, %r3, %r3, %r3}};\n  fence.proxy.async;\n"
    body = f"{write}  @%p0 {STORE.strip()}\n  @%p0 cp.async.bulk.commit_group;\n"
    out = np.zeros(64, np.uint8)
    run(image(target, level, body), np.zeros(64, np.uint8), out, np.array([[0, 16]] * THREADS, np.uint32), 16)
    assert out.view(np.uint32).tolist() == [16] * 4 + [0] * 12


@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_scoreboard_0_counts_the_groups(target: str, level: int) -> None:
    """Also of a group that the next turn of a loop waits for, as DEPBAR.LE SB0 does."""
    turn = (
        f"cp.async.bulk.wait_group.read 0; st.shared.b32 [%r4], %r20; fence.proxy.async;\n{STORE}  cp.async.bulk.commit_group;\n"
    )
    body = f"  mov.b32 %r20, 0;\n  AGAIN: {turn}  add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3; @%p2 bra AGAIN;\n"
    text = elf.read(image(target, level, body)).kernels["k"].text
    words = [int.from_bytes(text[at : at + 16], "little") for at in range(0, len(text), 16)]
    assert [word >> 113 & 7 for word in words if word & 0xFFF == 0x9B7] == [0, 0]


FRACTIONS = {"1.0": 15, "0.5": 7, "0.25": 3, "0.75": 11, "0f3DCCCCCD": 1, "": 15, "%f": 7}


@pytest.mark.parametrize(("target", "level"), [("sm_80", 3), *TARGETS])
def test_fractions_of_policies(target: str, level: int) -> None:
    """As ptxas 13.0.88 has them; a number is one of 32 bits, whatever the policy is."""
    kinds = {
        "L2::evict_first": 0x12,
        "L2::evict_last": 0x14,
        "L2::evict_normal": 0x16,
        "L2::evict_last.L2::evict_unchanged": 0x14,
    }
    rows = [(kind, fraction) for kind in kinds for fraction in FRACTIONS]
    lines = [
        f"createpolicy.fractional.{kind}.b64 %b{', ' * bool(f)}{f}; st.global.b64 [%a+{8 * n}], %b;"
        for n, (kind, f) in enumerate(rows)
    ]
    text = f""".version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .reg .b64 %a, %b; .reg .f32 %f; ld.param.u64 %a, [p]; mov.f32 %f, 0.5;
"""
    out = np.zeros(len(rows), np.uint64)
    made = oric.compile(text + "\n".join(lines) + "\nret;\n}\n", target, opt_level=level)
    oric.sim.load(made.image).launch("k", 1, 1, [out])
    assert [int(word) for word in out] == [kinds[kind] << 56 | FRACTIONS[f] << 52 for kind, f in rows]
