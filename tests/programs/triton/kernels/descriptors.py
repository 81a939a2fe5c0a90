"""Kernels in Triton with tensor descriptors: copies and matrix products by TMA."""

import triton
import triton.language as tl


@triton.jit
def copy(source, target, BM: tl.constexpr, BN: tl.constexpr):
    """Descriptors from the host; what lies outside is not written."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([row, column], source.load([row, column]))


@triton.jit
def copy_from_device(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Descriptors that the kernel makes."""
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(y, shape=[N, M], strides=[M, 1], block_shape=[BN, BM])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([column, row], source.load([row, column]).T)


@triton.jit
def reduce_into(x, y, BM: tl.constexpr, BN: tl.constexpr, KIND: tl.constexpr):
    """Tiles of all blocks are combined with the one tile of `y`."""
    tile = x.load([tl.program_id(0) * BM, 0])
    if KIND == "add":
        y.atomic_add([0, 0], tile)
    elif KIND == "max":
        y.atomic_max([0, 0], tile)
    else:
        y.atomic_min([0, 0], tile)


@triton.jit
def rows_by_number(x, numbers, y, ROWS: tl.constexpr, BN: tl.constexpr):
    """Rows are gathered by one descriptor and scattered by another."""
    at = tl.load(numbers + tl.arange(0, ROWS))
    tile = x.gather(at, tl.program_id(0) * BN)
    y.scatter(tile, tl.arange(0, ROWS) * 2, tl.program_id(0) * BN)


@triton.jit
def three_dimensions(x, y, B: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile = x.load([0, tl.program_id(0) * BM, tl.program_id(1) * BN])
    y.store([tl.program_id(0) * BM, 0, tl.program_id(1) * BN], tl.permute(tile, (1, 0, 2)))


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        va = a.load([row, k])
        vb = b.load([column, k]).T if TRANSPOSED else b.load([k, column])
        total = tl.dot(va, vb, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def product_persistent(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FLAT: tl.constexpr, SPECIAL: tl.constexpr,
    HALVES: tl.constexpr,
):  # fmt: skip
    """A block does every n-th tile; with SPECIAL some warps load while others multiply."""
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=FLAT, warp_specialize=SPECIAL):
        row, column = (tile // across) * BM, (tile % across) * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            total = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, total)
        if HALVES:
            left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1)))
            c.store([row, column], left.to(c.dtype))
            c.store([row, column + BN // 2], right.to(c.dtype))
        else:
            c.store([row, column], total.to(c.dtype))


@triton.jit
def product_from_device(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIAL: tl.constexpr
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(
        tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=True, warp_specialize=SPECIAL
    ):  # fmt: skip
        row, column = (tile // across) * BM, (tile % across) * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            total = tl.dot(da.load([row, k * BK]), db.load([column, k * BK]).T, total)
        dc.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def scaled(
    a, sa, b, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, VEC: tl.constexpr, FORMAT: tl.constexpr
):
    """Block-scaled with scales in the order of the hardware: [rows / 128, K / VEC / 4, 2, 256] bytes, by TMA."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    P: tl.constexpr = 2 if FORMAT == "e2m1" else 1
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        va = a.load([row, k * (BK // P)])
        vb = b.load([column, k * (BK // P)])
        la = sa.load([0, tl.program_id(0) * (BM // 128), k * (BK // VEC // 4), 0, 0])
        lb = sb.load([0, tl.program_id(1) * (BN // 128), k * (BK // VEC // 4), 0, 0])
        la = la.reshape(BM // 128, BK // VEC // 4, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // VEC)
        lb = lb.reshape(BN // 128, BK // VEC // 4, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // VEC)
        total = tl.dot_scaled(va, la, FORMAT, vb.T, lb, FORMAT, total)
    c.store([row, column], total.to(c.dtype))
