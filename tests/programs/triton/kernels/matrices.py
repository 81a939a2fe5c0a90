"""Matrix products in Triton."""

import triton
import triton.language as tl


@triton.jit
def product(
    a, b, c, M, N, K, sam, sak, sbk, sbn, scm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    """C = act(A B) with any strides of A and B; blocks of a group share columns."""
    block = tl.program_id(0)
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = (block // (GROUP * across)) * GROUP
    size = min(down - first, GROUP)
    row = first + (block % (GROUP * across)) % size
    column = (block % (GROUP * across)) // size
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    pa = a + rows[:, None] * sam + inner[None, :] * sak
    pb = b + inner[:, None] * sbk + columns[None, :] * sbn
    total = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        va = tl.load(pa, mask=inner[None, :] < K - k * BK, other=0.0)
        vb = tl.load(pb, mask=inner[:, None] < K - k * BK, other=0.0)
        total = tl.dot(va, vb, total, input_precision=PRECISION, out_dtype=ACC)
        pa += BK * sak
        pb += BK * sbk
    if ACTIVATION == "leaky":
        total = tl.where(total >= 0, total, 0.01 * total)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * scm + columns[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def product_split(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """The inner dimension is split over blocks, whose parts are added in memory."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(part * BK, K, SPLIT * BK):
        inner = k + tl.arange(0, BK)
        va = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        vb = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total += tl.dot(va, vb)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.atomic_add(c + rows[:, None] * N + columns[None, :], total, mask=mask)


@triton.jit
def product_batched(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """With a bias for each column; the batch is the grid's last dimension."""
    batch = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a += batch * M * K
    b += batch * K * N
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        va = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        vb = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(va, vb, total)
    total += tl.load(bias + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + batch * M * N + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def product_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FLAT: tl.constexpr):
    """A block does every n-th tile."""
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=FLAT):
        rows = (tile // across) * BM + tl.arange(0, BM)
        columns = (tile % across) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            inner = k * BK + tl.arange(0, BK)
            va = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
            vb = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
            total = tl.dot(va, vb, total)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def product_grouped(a, b, c, shapes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of several sizes in one launch; `a`, `b`, `c` hold the matrices' offsets in elements behind 16 bytes of them."""
    done = 0
    tile = tl.program_id(0)
    for g in range(groups):
        M, N, K = tl.load(shapes + 6 * g), tl.load(shapes + 6 * g + 1), tl.load(shapes + 6 * g + 2)
        across = tl.cdiv(N, BN)
        count = tl.cdiv(M, BM) * across
        while tile >= done and tile < done + count:
            pa, pb, pc = a + tl.load(shapes + 6 * g + 3), b + tl.load(shapes + 6 * g + 4), c + tl.load(shapes + 6 * g + 5)
            rows = ((tile - done) // across) * BM + tl.arange(0, BM)
            columns = ((tile - done) % across) * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, tl.cdiv(K, BK)):
                inner = k * BK + tl.arange(0, BK)
                va = tl.load(pa + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
                vb = tl.load(pb + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)  # fmt: skip
                total = tl.dot(va, vb, total)
            mask = (rows[:, None] < M) & (columns[None, :] < N)
            tl.store(pc + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=mask)
            tile += tl.num_programs(0)
        done += count


@triton.jit
def product_int4(a, packed, scale, c, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """B has eight numbers of 4 bits a word along K, and a scale for each group of rows."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        va = tl.load(a + rows[:, None] * K + inner[None, :], mask=rows[:, None] < M, other=0.0)
        word = tl.load(packed + (inner // 8)[:, None] * N + columns[None, :], mask=columns[None, :] < N, other=0)
        v = ((word >> ((inner % 8) * 4)[:, None]) & 15) - 8
        s = tl.load(scale + (inner // GROUP)[:, None] * N + columns[None, :], mask=columns[None, :] < N, other=0.0)
        total = tl.dot(va, (v.to(tl.float32) * s.to(tl.float32)).to(va.dtype), total)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def product_experts(x, w, out, order, expert, count, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tokens sorted by the expert that takes them: each block of rows has a matrix of its own."""
    block = tl.program_id(0)
    places = block * BM + tl.arange(0, BM)
    token = tl.load(order + places)
    e = tl.load(expert + block)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        va = tl.load(x + token[:, None] * K + inner[None, :], mask=(token < count)[:, None] & (inner < K)[None, :], other=0.0)
        vb = tl.load(w + e * K * N + inner[:, None] * N + columns[None, :], mask=(inner < K)[:, None] & (columns < N)[None, :], other=0.0)  # fmt: skip
        total = tl.dot(va, vb, total)
    mask = (token < count)[:, None] & (columns < N)[None, :]
    tl.store(out + token[:, None] * N + columns[None, :], total.to(out.dtype.element_ty), mask=mask)


@triton.jit
def convolution(x, w, y, H, W, C, K, R: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr):
    """R x R over an image of C channels, as a product for each place of the filter."""
    at = tl.program_id(0) * BP + tl.arange(0, BP)
    row, column = at // W, at % W
    filters = tl.program_id(1) * BK + tl.arange(0, BK)
    total = tl.zeros((BP, BK), dtype=tl.float32)
    for i in range(R):
        for j in range(R):
            r, c = row + i - R // 2, column + j - R // 2
            inside = (at < H * W) & (r >= 0) & (r < H) & (c >= 0) & (c < W)
            for start in range(0, C, BC):
                ch = start + tl.arange(0, BC)
                vx = tl.load(x + (r * W + c)[:, None] * C + ch[None, :], mask=inside[:, None] & (ch < C)[None, :], other=0.0)
                vw = tl.load(w + ((i * R + j) * C + ch)[:, None] * K + filters[None, :], mask=(ch < C)[:, None] & (filters < K)[None, :], other=0.0)  # fmt: skip
                total = tl.dot(vx, vw, total)
    mask = (at < H * W)[:, None] & (filters < K)[None, :]
    tl.store(y + at[:, None] * K + filters[None, :], total.to(y.dtype.element_ty), mask=mask)


@triton.jit
def product_and_norm(x, w, out, M, K, eps, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """The rows of the product are normalised before they are written."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, N)
    total = tl.zeros((BM, N), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        va = tl.load(x + rows[:, None] * K + inner[None, :], mask=(rows < M)[:, None] & (inner < K)[None, :], other=0.0)
        vb = tl.load(w + inner[:, None] * N + columns[None, :], mask=(inner < K)[:, None], other=0.0)
        total = tl.dot(va, vb, total)
    mean = tl.sum(total, 1) / N
    total = total - mean[:, None]
    total = total * tl.rsqrt(tl.sum(total * total, 1) / N + eps)[:, None]
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(out.dtype.element_ty), mask=(rows < M)[:, None])


@triton.jit
def scaled(
    a, sa, b, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr
):  # fmt: skip
    """Block-scaled: a scale (a power of two) for each 32 elements along K; two e2m1 a byte. Blocks are whole."""
    PA: tl.constexpr = 2 if FA == "e2m1" else 1
    PB: tl.constexpr = 2 if FB == "e2m1" else 1
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ka, kb = k // PA + tl.arange(0, BK // PA), k // PB + tl.arange(0, BK // PB)
        ks = k // 32 + tl.arange(0, BK // 32)
        va = tl.load(a + rows[:, None] * (K // PA) + ka[None, :], mask=rows[:, None] < M, other=0.0)
        vb = tl.load(b + columns[None, :] * (K // PB) + kb[:, None], mask=columns[None, :] < N, other=0.0)
        la = tl.load(sa + rows[:, None] * (K // 32) + ks[None, :], mask=rows[:, None] < M, other=0)
        lb = tl.load(sb + columns[:, None] * (K // 32) + ks[None, :], mask=columns[:, None] < N, other=0)
        total = tl.dot_scaled(va, la, FA, vb, lb, FB, total)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty), mask=mask)
