"""Intrinsics of copies and of asynchronous stores and reductions, against numpy: programs of the PTX instructions that mean the
same, with calls in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest

from . import test_async_global as single
from . import test_bulk as bulk
from . import test_clear as clear
from . import test_multimem as multimem
from .ocg_calls import with_calls
from .test_bulk import TARGETS, THREADS, WAIT, parts

LOAD = "  [[cp_async_bulk_mbarrier_shared_global <- b32 %r4, b32 %r5, b64 %d0, b32 %r3, b64 %d9]]\n"
STORE = "  [[cp_async_bulk_global_shared <- b64 %d1, b32 %r4, b32 %r3, b64 %d9]]\n"
COMMIT = "  [[cp_async_commit_bulk_global_shared <-]]\n"
READ = "  [[cp_async_wait_bulk_global_shared_read <- b32 0]]\n"


def image(target: str, level: int, body: str) -> bytes:
    """A program of test_bulk, of which the end is calls as well."""
    text = (bulk.HEAD + body + bulk.END).format(target=target).replace("cp.async.bulk.commit_group;", COMMIT)
    text = text.replace("cp.async.bulk.wait_group 0;", "[[cp_async_wait_bulk_global_shared_write <- b32 0]]")
    return oric.compile(
        with_calls(text.replace("fence.proxy.async;", "[[fence_view_async_all <-]]")), target, opt_level=level
    ).image


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_every_thread_copies_its_part(target: str, level: int) -> None:
    bulk.copies_each_part(image(target, level, LOAD + WAIT + STORE))


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_threads_whose_guard_is_false_copy_nothing(target: str, level: int) -> None:
    bulk.copies_third_parts(image(target, level, bulk.THIRD + (LOAD + WAIT + STORE).replace("  [[", "  @%p2 [[")))


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("what", bulk.REDUCTIONS)
def test_every_thread_reduces(target: str, level: int, what: str) -> None:
    """As many times as there are threads, though all ask for the same."""
    dtype, operation = bulk.REDUCTIONS[what]
    operation_word, type_ = what.replace(".noftz", "").split(".")
    name = f"cp_red_async_bulk_global_shared_{operation_word}_{type_.replace('b', 'u')}"
    body = f"""  @%p0 [[cp_async_bulk_mbarrier_shared_global <- b32 %r20, b32 %r5, b64 %d0, b32 64, b64 %d9]]
{WAIT}  ld.param.u64 %d7, [pout]; [[{name} <- b64 %d7, b32 %r20, b32 64, b64 %d9]]
"""
    random = np.random.default_rng(7)
    data, out = random.integers(0, 9, (2, 64 // np.dtype(dtype).itemsize)).astype(dtype)
    want = out.copy()
    for _ in range(THREADS):
        want = operation(want, data).astype(dtype)
    bulk.run(image(target, level, "  mov.u32 %r20, data;\n" + body), data, out, parts(8)[0], 64)
    assert out.tolist() == want.tolist()


@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_a_store_waits_until_the_group_has_read(target: str, level: int) -> None:
    """Turns of a loop give the same shared memory away."""
    stored = "st.shared.v4.b32 [%r4], {{%r20, %r20, %r0, %r20}}; fence.proxy.async;\n"
    turn = f"{READ}  {stored}{STORE}{COMMIT}  add.u64 %d1, %d1, 640;"
    body = f"  mov.b32 %r20, 7;\n  AGAIN: {turn} add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 12; @%p2 bra AGAIN;\n"
    rows = np.array([[16 * n, 16] for n in range(THREADS)], np.uint32)
    out = np.zeros((5, THREADS, 4), np.uint32)
    bulk.run(image(target, level, body), np.zeros(64, np.uint8), out, rows, 0)
    want = np.broadcast_to(np.arange(7, 12, dtype=np.uint32)[:, None, None], out.shape).copy()
    want[:, :, 2] = np.arange(THREADS)
    assert (out == want).all()


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
def test_a_copy_into_another_block(target: str) -> None:
    what = ("xor.b32 %r22, %r20, 1; mapa.shared::cluster.u32 %r23, %r4, %r22; mapa.shared::cluster.u32 %r24, %r5, %r22;\n"
            "  mov.u32 %r25, %ctaid.x; mul.wide.u32 %d10, %r25, 1024; add.u64 %d0, %d0, %d10;\n"
            "  @%p0 [[cp_async_bulk_mbarrier_shared_global <- b32 %r23, b32 %r24, b64 %d0, b32 1024, b64 %d9]]")  # fmt: skip
    data = np.random.default_rng(12).integers(1, 256, (2, 1024), dtype=np.uint8)
    out = np.zeros_like(data)
    rows = np.zeros((THREADS, 2), np.uint32)
    bulk.run(image(target, 3, bulk.CLUSTER.replace("{what}", what)), data, out, rows, 1024, grid=2, cluster=2)
    assert (out == data[::-1]).all()


# Between two blocks: what each thread of one writes into the other's memory, and the bytes that its mbarrier hears of.
ASYNC = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout)
{{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<6>; .shared .align 16 .b8 data[4096]; .shared .align 8 .b64 bar;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r0, 0; mad.lo.u32 %r2, %r1, 1000, %r0;
  add.u32 %r3, %r2, 5; mul.wide.u32 %d1, %r2, 77777777; add.u64 %d2, %d1, 3;
  mov.u32 %r4, data; shl.b32 %r5, %r0, 4; add.u32 %r4, %r4, %r5; mov.u32 %r6, bar; mov.u32 %r15, 100;
  st.shared.v4.b32 [%r4], {{%r15, %r15, %r15, %r15}};
  @%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
  barrier.cluster.arrive; barrier.cluster.wait;
  xor.b32 %r7, %r1, 1; mapa.shared::cluster.u32 %r8, %r4, %r7; mapa.shared::cluster.u32 %r9, %r6, %r7;
  {what}
wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra wait;
  ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r4];
  ld.param.u64 %d3, [pout]; mad.lo.u32 %r14, %r1, 32, %r0; mul.wide.u32 %d4, %r14, 16; add.u64 %d3, %d3, %d4;
  st.global.v4.b32 [%d3], {{%r10, %r11, %r12, %r13}};
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}}
"""
WITH_GLOBAL = [("sm_100", 0), ("sm_100a", 3), ("sm_110a", 3)]  # on other targets ptxas makes nothing of these calls
PLACE = "b32 %r8, b32 %r9"
STORED: dict[str, tuple[str, int]] = {  # name and values, words written
    "b32": ("write_async_shared_b32 <- {}, b32 %r2", 1),
    "v2": ("write_async_shared_v2_b32 <- {}, b32 %r2, b32 %r3", 2),
    "v4": ("write_async_shared_v4_b32 <- {}, b32 %r2, b32 %r3, b32 %r0, b32 %r1", 4),
    "b64": ("write_async_shared_b64 <- {}, b64 %d1", 2),
    "v2 of b64": ("write_async_shared_v2_b64 <- {}, b64 %d1, b64 %d2", 4),
}


def sent(target: str, level: int, what: str, size: int) -> np.ndarray[Any, Any]:
    """What is in the blocks' memory, a row of four words for each thread."""
    text = with_calls(ASYNC.format(target=target, bytes=32 * size, what=f"[[{what.format(PLACE)}]]"))
    out = np.zeros((2, 32, 4), np.uint32)
    oric.sim.load(oric.compile(text, target, opt_level=level).image).launch("k", 2, 32, [out], cluster=2)
    return out


@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("what", STORED)
def test_stores_in_another_block(target: str, level: int, what: str) -> None:
    text, words = STORED[what]
    out = sent(target, level, text, 4 * words)
    for rank in range(2):
        for thread in range(32):
            of = 1000 * (1 - rank) + thread
            wide = [(77777777 * of + more >> shift) & 0xFFFFFFFF for more in (0, 3) for shift in (0, 32)]
            want = wide if "b64" in what else [of, of + 5, thread, 1 - rank]
            assert out[rank, thread].tolist() == [*want[:words], *[100] * (4 - words)]


@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize(
    "what", ["add_u32", "min_u32", "max_s32", "inc_u32", "dec_u32", "and_u32", "or_u32", "xor_u32", "add_u64"]
)
def test_reductions_in_another_block(target: str, level: int, what: str) -> None:
    operation, type_ = what.split("_")
    value = {"u32": "b32 %r2", "s32": "s32 %r2", "u64": "b64 %d1"}[type_]
    size = int(type_[1:]) // 8
    out = sent(target, level, f"red_async_shared_{type_}_{operation} <- {{}}, {value}", size)
    meaning = (single.SIGNED if type_ == "s32" else single.UNSIGNED)[operation]
    for rank in range(2):
        for thread in range(32):
            of = 1000 * (1 - rank) + thread
            old, given = (100 + (100 << 32), 77777777 * of) if size == 8 else (100, of)
            new = meaning(old, given) % (1 << 8 * size)
            want = [new & 0xFFFFFFFF, new >> 32] if size == 8 else [new, 100]
            assert out[rank, thread].tolist() == [*want, 100, 100]


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), WITH_GLOBAL)
def test_stores_in_global_memory(target: str, level: int) -> None:
    orders = ["", "_gpu", "_sys"]
    forms = [(f"write_async{'_release' if o else ''}_global{o}_{t}", t) for o in orders for t in ("u16", "b32", "b64")]
    lines = ["mov.b32 %r2, 0x1234; mov.b32 %r3, 0x89ABCDEF; mov.b64 %d2, 0x123456789ABCDEF0;"]
    given = {"u16": ("b32 %r2", 0x1234), "b32": ("b32 %r3", 0x89ABCDEF), "b64": ("b64 %d2", 0x123456789ABCDEF0)}
    for at, (name, type_) in enumerate(forms):
        lines.append(f"add.u64 %d3, %d0, {8 * at};\n[[{name} <- b64 %d3, {given[type_][0]}]]")
    text = with_calls(single.HEAD.format(target=target) + "\n".join(lines) + "\n  ret;\n}\n")
    out = np.zeros(len(forms), np.uint64)
    oric.sim.load(oric.compile(text, target, opt_level=level).image).launch("k", 1, 1, [out])
    assert [int(value) for value in out] == [given[type_][1] for _, type_ in forms]


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), WITH_GLOBAL)
def test_reductions_in_global_memory(target: str, level: int) -> None:
    forms = [f"red_async{'_release' if o else ''}_global{o}_{t}_add" for o in ("", "_gpu", "_sys") for t in ("u32", "u64")]
    lines = []
    for at, name in enumerate(forms):
        lines.append(f"add.u64 %d3, %d0, {8 * at};\n[[{name} <- b64 %d3, {'b64 %d1' if 'u64' in name else 'b32 %r1'}]]")
    text = with_calls(single.HEAD.format(target=target) + "\n".join(lines) + "\n  ret;\n}\n")
    out = np.full(len(forms), 5, np.uint64)
    oric.sim.load(oric.compile(text, target, opt_level=level).image).launch("k", 1, 32, [out])
    assert out.tolist() == [5 + sum(thread - 7 for thread in range(32))] * len(forms)


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), multimem.TARGETS)
@pytest.mark.parametrize(("name", "types"), [
    ("add_u32", ["b32"]), ("min_s64", ["b64"]), ("xor_u32", ["b32"]), ("add_f64", ["b64"]), ("add_f32x4", ["b32"] * 4),
    ("max_bf16x4", ["b32"] * 2), ("f32add_f16x8", ["b32"] * 4), ("min_f16x2", ["b32"]),
])  # fmt: skip
def test_of_one_copy_a_reduction_is_what_it_has(target: str, level: int, name: str, types: list[str]) -> None:
    registers = [f"%{'d' if type_ == 'b64' else 'r'}{n + 4}" for n, type_ in enumerate(types)]
    results = ", ".join(f"{type_} {register}" for type_, register in zip(types, registers, strict=True))
    at = int(types[0][1:]) // 8
    stores = " ".join(f"st.global.{t} [%d1+{n * at}], {r};" for n, (t, r) in enumerate(zip(types, registers, strict=True)))
    size = at * len(types)
    body = with_calls(multimem.TEXT.format(target=target, size=size, body=f"  [[ld_mc_{name} {results} <- b64 %d0]] {stores}"))
    data = np.random.default_rng(size).integers(0, 256, multimem.THREADS * size, dtype=np.uint8)
    out = np.zeros_like(data)
    oric.sim.load(oric.compile(body, target, opt_level=level).image).launch("k", 1, multimem.THREADS, [data, out])
    assert (out == data).all()


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), clear.TARGETS)
def test_memory_is_cleared(target: str, level: int) -> None:
    """The second argument counts units of 8 bytes."""
    rows = clear.parts(40)
    text = clear.KERNEL.format(target=target, body="shr.u32 %r3, %r3, 3; [[memclear_b64 <- b32 %r5, b32 %r3]]")
    out = np.zeros(clear.WORDS + 40, np.uint32)
    oric.sim.load(oric.compile(with_calls(text), target, opt_level=level).image).launch("k", 1, 40, [out, rows, np.uint64(24)])
    assert out[: clear.WORDS].tolist() == clear.cleared(*rows.tolist())


@pytest.mark.parametrize(("target", "level"), [("sm_80", 0), ("sm_90a", 3)])
def test_places_in_constant_banks(target: str, level: int) -> None:
    """Up to the end of a bank of 64 KiB, by number and by register."""
    places = [0, 4, 32764, 32768, 32772, 65532]
    lines = []
    for n, at in enumerate(places):
        lines.append(f"[[ldc_u32 b32 %r1 <- b32 3, b32 {at}]] st.global.b32 [%d0+{8 * n}], %r1;")
        lines.append(f"mov.u32 %r2, {at}; add.u32 %r2, %r2, %r3;")
        lines.append(f"[[ldc_u32 b32 %r1 <- b32 3, b32 %r2]] st.global.b32 [%d0+{8 * n + 4}], %r1;")
    text = f""".version 9.0
.target {target}
.address_size 64
.const .b32 c[16384] = {{{", ".join(str(3 * n + 1) for n in range(16384))}}};
.visible .entry k(.param .u64 p)
{{
  .reg .b32 %r<5>; .reg .b64 %d<2>; ld.param.u64 %d0, [p]; mov.u32 %r3, %tid.x;
"""
    out = np.zeros(2 * len(places), np.uint32)
    made = oric.compile(with_calls(text + "\n".join(lines) + "\nret;\n}\n"), target, opt_level=level)
    oric.sim.load(made.image).launch("k", 1, 1, [out])
    assert out.reshape(-1, 2).tolist() == [[3 * (at // 4) + 1] * 2 for at in places]


def test_a_bank_of_its_own() -> None:
    text = "[[ldc_u32 b32 %r1 <- b32 31, b32 4]]".join((single.HEAD.format(target="sm_90a"), "  ret;\n}\n"))
    with pytest.raises(oric.CompileError, match="has no instruction for sm_90a"):
        oric.compile(with_calls(text), "sm_90a")


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("order", ["mmio", "release_gpu", "release_sys", "mmio_release_sys"])
def test_stores_that_release_where_no_operation_stores_asynchronously(level: int, order: str) -> None:
    text = f"[[write_async_{order}_global_b32 <- b64 %d0, b32 %r1]] [[write_async_{order}_global_b64 <- b64 %d3, b64 %d1]]"
    text = single.HEAD.format(target="sm_120a") + "add.u64 %d3, %d0, 8;\n" + text + "\n  ret;\n}\n"
    out = np.zeros(2, np.int64)
    oric.sim.load(oric.compile(with_calls(text), "sm_120a", opt_level=level).image).launch("k", 1, 1, [out])
    assert out.tolist() == [0xFFFFFFF9, -7]
