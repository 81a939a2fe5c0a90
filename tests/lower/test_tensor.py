"""Copies of boxes of tensors, and what changes the maps that describe them, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.support import elf

Array = np.ndarray[Any, Any]
TARGETS = [("sm_90a", 0), ("sm_90a", 3), ("sm_100a", 3), ("sm_120a", 3)]
BYTES = "mbarrier::complete_tx::bytes"
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u32 pbytes, .param .align 64 .b8 map[128], .param .u64 pout, .param .u64 pat)
{{
  .reg .pred %p<6>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %d<20>;
  .shared .align 1024 .b8 data[32768]; .shared .align 8 .b64 bar;
  ld.param.u32 %r1, [pbytes]; ld.param.u64 %d1, [pout]; ld.param.u64 %d2, [pat];
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r4, data; mov.u32 %r5, bar;
  mul.wide.u32 %d3, %r0, 32; add.u64 %d3, %d3, %d2;         // five coordinates of the thread, and where its box goes
  ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%d3]; ld.global.v2.u32 {{%r14, %r15}}, [%d3+16]; add.u32 %r6, %r4, %r15;
  mov.u16 %h0, {offsets[0]}; mov.u16 %h1, {offsets[1]}; mov.u16 %h2, {offsets[2]};
  createpolicy.fractional.L2::evict_last.b64 %d9, 1.0;
  @%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r1; bar.sync 0;
"""
WAIT = "wait: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra wait; fence.proxy.async;\n"
SAVE = "  @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [data], %r1;\n"
FILL = f"  @%p0 cp.async.bulk.shared::cta.global.{BYTES} [data], [%d1], %r1, [bar];\n{WAIT}"
LOAD_AND_STORE = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u32 n)
{{
  .reg .b64 %d<2>; .reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 128 .b8 s[2048];
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; mov.u32 %r0, s; ld.param.u32 %r1, [n]; setp.ne.u32 %p0, %r1, 0;
  @%p0 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0+1024], [%d0, {{{at}}}], [%r0];
  cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%d0, {{{at}}}], [%r0];
  ret;
}}
"""
END = "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n  ret;\n}}\n"


def box_of(tensor: Array, at: list[int], box: list[int]) -> Array:
    """A box of a tensor with zeros outside of it; both begin with the innermost dimension."""
    out = np.zeros(box[::-1], tensor.dtype)
    for index in np.ndindex(*out.shape):
        place = tuple(a + i for a, i in zip(at[::-1], index, strict=True))
        if all(0 <= p < n for p, n in zip(place, tensor.shape, strict=True)):
            out[index] = tensor[place]
    return out


def coordinates(rank: int) -> str:
    return ", ".join(f"%r{10 + k}" for k in range(rank))


SHAPES = {
    1: ([100], [32]),
    2: ([36, 20], [16, 8]),
    3: ([12, 6, 5], [8, 4, 2]),
    4: ([16, 5, 4, 3], [16, 2, 3, 2]),
    5: ([8, 4, 3, 3, 4], [4, 2, 2, 2, 2]),
}


def places(rank: int, threads: int, seed: int) -> list[list[int]]:
    dims, box = SHAPES[rank]
    random = np.random.default_rng(seed)
    found = [[int(random.integers(-b, n)) for n, b in zip(dims, box, strict=True)] for _ in range(threads)]
    return [[place[0] // 4 * 4, *place[1:]] for place in found]  # whole 16 bytes


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("rank", SHAPES)
@pytest.mark.parametrize("hint", ["", ".L2::cache_hint"])
def test_every_thread_loads_a_box(target: str, level: int, rank: int, hint: str) -> None:
    dims, box = SHAPES[rank]
    tensor = np.random.default_rng(rank).integers(1, 1000, dims[::-1]).astype(np.int32)
    at = places(rank, 6, 1)
    out = np.zeros((6, *box[::-1]), np.int32)
    body = (f"  cp.async.bulk.tensor.{rank}d.shared::cta.global.tile.{BYTES}{hint} "
            f"[%r6], [%d0, {{{{{coordinates(rank)}}}}}], [%r5]"
            f"{', %d9' if hint else ''};\n" + WAIT + SAVE)  # fmt: skip
    run_with_map(target, level, body, tensor, box, out, at)
    assert out.tolist() == [box_of(tensor, place, box).tolist() for place in at]


def run_with_map(
    target: str, level: int, body: str, tensor: Array, box: list[int], out: Array, at: list[list[int]], **more: Any
) -> Array:
    """Run with a map of a tensor in the module's memory; returns what the tensor is then."""
    rows = np.zeros((len(at), 8), np.int32)
    for t, place in enumerate(at):
        rows[t, : len(place)] = place
        rows[t, 5] = t * (out.nbytes // len(at))
    text = (HEAD + body + END).format(target=target, offsets=more.get("offsets", (0, 0, 0)))
    module = oric.sim.load(oric.compile(text, arch=target, opt_level=level).image)
    memory = module.buffer(tensor)
    dims, strides = list(tensor.shape[::-1]), list(tensor.strides[-2::-1])
    if "columns" in more:
        map_ = oric.sim.tensor_map_im2col(tensor.dtype, memory, dims, strides, *more["columns"])
    else:
        map_ = oric.sim.tensor_map(tensor.dtype, memory, dims, strides, box)
    module.launch("k", 1, len(at), [out.nbytes, map_, out, rows])
    return np.frombuffer(memory.read(), tensor.dtype).reshape(tensor.shape)


@pytest.mark.parametrize("target", ["sm_90", "sm_100a", "sm_120"])
@pytest.mark.parametrize("rank", SHAPES)
def test_a_load_and_a_store_of_one_map(target: str, rank: int) -> None:
    """On sm_120 a load is a call of the driver, and the operands of the store are in several blocks: they get registers that it
    leaves alone, in groups that begin at multiples of their sizes.
    """
    text = LOAD_AND_STORE.format(target=target, rank=rank, at=", ".join(["0"] * rank))
    assert check_cubin(elf.read(oric.compile(text, arch=target).image)).findings == []


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("rank", SHAPES)
@pytest.mark.parametrize(("what", "hint"), [("copy", ""), ("add", ""), ("xor", ".L2::cache_hint")])
def test_every_thread_stores_or_reduces_a_box(target: str, level: int, rank: int, what: str, hint: str) -> None:
    dims, box = SHAPES[rank]
    random = np.random.default_rng(rank)
    tensor = random.integers(1, 1000, dims[::-1]).astype(np.int32)
    at = places(rank, 1 if what == "copy" else 6, 2)  # of copies to one place the last one counts, whichever that is
    given = random.integers(1, 1000, (len(at), *box[::-1])).astype(np.int32)
    name = "cp.async.bulk.tensor" if what == "copy" else "cp.reduce.async.bulk.tensor"
    op = "" if what == "copy" else f".{what}"
    body = FILL + (f"  {name}.{rank}d.global.shared::cta{op}.tile.bulk_group{hint} [%d0, {{{{{coordinates(rank)}}}}}], [%r6]"
                   f"{', %d9' if hint else ''};\n")  # fmt: skip
    done = run_with_map(target, level, body, tensor, box, given, at)
    want = tensor.copy()
    for place, part in zip(at, given, strict=True):
        cells = box_of(np.arange(tensor.size).reshape(tensor.shape) + 1, place, box)
        inside = cells > 0
        old = want.reshape(-1)[cells[inside] - 1]
        want.reshape(-1)[cells[inside] - 1] = (
            part[inside] if what == "copy" else old + part[inside] if what == "add" else old ^ part[inside]
        )
    assert done.tolist() == want.tolist()


COLUMNS = [
    ([16, 9, 4], [-1], [-1], [0, 3, 1], (2,), (16, 20), [1]),
    ([8, 9, 7, 3], [-1, -1], [-1, -1], [0, 7, 4, 0], (2, 1), (8, 64), [1, 1]),
    ([8, 5, 4, 3, 3], [-1, 0, -1], [-1, 0, -1], [0, 2, 1, -1, 0], (1, 0, 2), (8, 100), [1, 1, 1]),
]


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{len(c[0])}D")
def test_columns_of_pixels(target: str, level: int, column: Any) -> None:
    dims, low, high, at, offsets, (channels, pixels), steps = column
    rank = len(dims)
    images = np.random.default_rng(rank).integers(1, 1000, dims[::-1]).astype(np.int32)
    out = np.zeros((pixels, channels), np.int32)
    registers = ", ".join(f"%h{k}" for k in range(len(offsets)))
    body = (f"  cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.{BYTES} "
            f"[%r6], [%d0, {{{{{coordinates(rank)}}}}}], [%r5], "
            f"{{{{{registers}}}}};\n" + WAIT + SAVE)  # fmt: skip
    shape = (low, high, channels, pixels, [1, *steps, 1])
    run_with_map(target, level, body, images, [], out, [at], offsets=(*offsets, 0, 0), columns=shape)
    want = np.zeros_like(out)
    ranges = [range(lo, n + hi) for lo, n, hi in zip(low, dims[1:-1], high, strict=True)]
    order = [(n, *p) for n in range(dims[-1]) for p in _places(ranges)]
    first = order.index((at[-1], *at[-2:0:-1]))
    for row, (n, *rest) in enumerate(order[first : first + pixels]):
        place = [r + o for r, o in zip(rest[::-1], offsets, strict=True)]
        if all(0 <= p < size for p, size in zip(place, dims[1:-1], strict=True)):
            line = images[(n, *place[::-1])][at[0] : at[0] + channels]
            want[row, : len(line)] = line
    assert out.tolist() == want.tolist()


def _places(ranges: list[range]) -> list[tuple[int, ...]]:
    """Places of pixels in order, outermost dimension first."""
    found: list[tuple[int, ...]] = [()]
    for values in ranges[::-1]:
        found = [(*place, value) for place in found for value in values]
    return found


@pytest.mark.memcheck
def test_rows_of_a_tensor() -> None:
    tensor = np.random.default_rng(3).integers(1, 1000, (50, 32)).astype(np.int32)
    out = np.zeros((2, 4, 16), np.int32)
    at = [[8, 3, 49, 50, 17], [0, 1, 2, -1, 4]]
    rows = coordinates(5)
    body = (
        f"  cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.{BYTES} [%r6], [%d0, {{{{{rows}}}}}], [%r5];\n{WAIT}{SAVE}"
    )
    run_with_map("sm_100a", 3, body, tensor, [16, 1], out, at)
    for got, (column, *lines) in zip(out, at, strict=True):
        assert got.tolist() == [tensor[r, column : column + 16].tolist() if 0 <= r < 50 else [0] * 16 for r in lines]
    body = (
        FILL + f"  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d0, {{{{{coordinates(5)}}}}}], [%r6];\n"
    )
    given = out[:1] + 5
    done = run_with_map("sm_100a", 3, body, tensor, [16, 1], given, at[:1])
    want = tensor.copy()
    want[[3, 49, 17], 8:24] = given[0, [0, 1, 3]]
    assert done.tolist() == want.tolist()


FIELDS = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout, .param .u64 paddress)
{{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;
  .shared .align 128 .b8 map[128];
  ld.param.u64 %d0, [pout]; ld.param.u64 %d1, [paddress]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
  mov.u32 %r2, map; add.u32 %r2, %r2, %r1;
  st.shared.u32 [%r2], 0; bar.warp.sync -1; setp.ne.u32 %p0, %r0, 0; @%p0 bra done; {where}
{fields}
done: bar.warp.sync -1;
  {give}
  fence.proxy.tensormap::generic.release.gpu;
  fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;
  ret;
}}
"""


@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("space", [".shared::cta", ".global", ""])
def test_a_map_is_made_field_by_field(target: str, level: int, space: str) -> None:
    """As the library makes it, which has the fields where ptxas's code shows them."""
    dims, strides, box, steps = [36, 20, 7], [144, 2880], [16, 8, 3], [1, 2, 3]
    name = "[map]" if space == ".shared::cta" else "[%d0]"
    lines = [("global_address", "b64", "", "%d1"), ("rank", "b32", "", str(len(dims) - 1)), ("elemtype", "b32", "", "3"),
             ("interleave_layout", "b32", "", "0"), ("swizzle_mode", "b32", "", "2"), ("fill_mode", "b32", "", "0")]  # fmt: skip
    for k in range(3):
        lines += [
            ("box_dim", "b32", f"{k}, ", str(box[k])),
            ("global_dim", "b32", f"{k}, ", str(dims[k])),
            ("element_stride", "b32", f"{k}, ", str(steps[k])),
        ]
    lines += [("global_stride", "b64", f"{k}, ", str(strides[k])) for k in range(2)]
    fields = "\n".join(
        f"  tensormap.replace.tile.{field}{space}.b1024.{type_} {name}, {ordinal}{value};"
        for field, type_, ordinal, value in lines
    )
    give = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [map], 128;"
    text = FIELDS.format(target=target, fields=fields, where="", give=give if space == ".shared::cta" else "")
    out = np.zeros(128, np.uint8)
    address = 1 << 40
    oric.sim.load(oric.compile(text, arch=target, opt_level=level).image).launch("k", 1, 32, [out, address])
    made = bytes(oric.sim.tensor_map(np.int32, address, dims, strides, box, steps, "64B"))
    assert bytes(out)[:64] == made[:64]  # behind them the library has a name of its own


@pytest.mark.parametrize(("target", "offset"), [("sm_75", 32), ("sm_80", 32), ("sm_90a", 48), ("sm_100a", 64), ("sm_120a", 64)])
def test_parameters_are_aligned_by_their_places_in_the_bank(target: str, offset: int) -> None:
    text = f""".version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u32 a, .param .align 64 .b8 map[128], .param .u32 b) {{ ret; }}
"""
    assert oric.compile(text, arch=target).kernels["k"].params == ((0, 4), (offset, 128), (offset + 128, 4))
