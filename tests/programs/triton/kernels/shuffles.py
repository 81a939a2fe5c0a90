"""Kernels in Triton that move elements between threads: scans, sorts, histograms, gathers, transpositions, atomics."""

import triton
import triton.language as tl


@triton.jit
def sums_of_rows(x, out, rows, n, REVERSE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Running sums along rows that are longer than a block (forward), or shorter (backward)."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    before = tl.zeros([BM], dtype=tl.float32)
    for start in range(0, n, BN):
        c = start + tl.arange(0, BN)
        mask = (r[:, None] < rows) & (c[None, :] < n)
        v = tl.load(x + r[:, None] * n + c[None, :], mask=mask, other=0.0).to(tl.float32)
        tl.store(out + r[:, None] * n + c[None, :], tl.cumsum(v, 1, reverse=REVERSE) + before[:, None], mask=mask)
        if not REVERSE:
            before += tl.sum(v, 1)


@triton.jit
def after(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a, b, out, n, columns, BN: tl.constexpr, BC: tl.constexpr):
    """h[t] = a[t] * h[t - 1] + b[t] for every column."""
    t = tl.arange(0, BN)
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    mask = (t[:, None] < n) & (c[None, :] < columns)
    at = t[:, None] * columns + c[None, :]
    va, vb = tl.load(a + at, mask=mask, other=1.0), tl.load(b + at, mask=mask, other=0.0)
    _, h = tl.associative_scan((va, vb), 0, after)
    tl.store(out + at, h, mask=mask)


@triton.jit
def histogram(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    found = tl.histogram(v, BINS, mask=at < n)
    tl.atomic_add(out + tl.arange(0, BINS), found)


@triton.jit
def sort_rows(x, out, best, n, DESCENDING: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-1000000 if DESCENDING else 1000000)
    tl.store(out + row * n + at, tl.sort(v, descending=DESCENDING), mask=at < n)
    tl.store(best + row * K + tl.arange(0, K), tl.topk(v, K))


@triton.jit
def lookup(table, index, out, n, width, BM: tl.constexpr, BN: tl.constexpr):
    """Rows of a table by their numbers; a negative one is a row of zeros."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    row = tl.load(index + i, mask=i < n, other=-1)
    mask = (row >= 0)[:, None] & (c < width)[None, :]
    v = tl.load(table + row[:, None] * width + c[None, :], mask=mask, other=0.0)
    tl.store(out + i[:, None] * width + c[None, :], v, mask=(i < n)[:, None] & (c < width)[None, :])


@triton.jit
def scatter_add(x, index, out, n, width, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    mask = (i < n)[:, None] & (c < width)[None, :]
    row = tl.load(index + i, mask=i < n, other=0)
    v = tl.load(x + i[:, None] * width + c[None, :], mask=mask, other=0.0)
    tl.atomic_add(out + row[:, None] * width + c[None, :], v, mask=mask, sem="relaxed")


@triton.jit
def gather_in_block(x, index, out, N: tl.constexpr, M: tl.constexpr):
    at = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    v, i = tl.load(x + at), tl.load(index + at)
    tl.store(out + at, tl.gather(v, i, 0))
    tl.store(out + N * M + at, tl.gather(v, i % M, 1))


@triton.jit
def transpose(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v), mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def shapes(x, out, BLOCK: tl.constexpr):
    """Joined, permuted, reshaped, flipped, broadcast."""
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    w = tl.join(v, v * 2)
    a, b = tl.split(tl.permute(tl.reshape(w, (2, BLOCK // 2, 2)), (1, 0, 2)).reshape(BLOCK, 2))
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.interleave(a, b))
    m = tl.reshape(v, (BLOCK // 16, 16))
    tl.store(out + 2 * BLOCK + tl.arange(0, 16)[:, None] * (BLOCK // 16) + tl.arange(0, BLOCK // 16)[None, :], tl.trans(m))
    tl.store(out + 3 * BLOCK + at, tl.broadcast_to(tl.sum(m, 1)[:, None], (BLOCK // 16, 16)).reshape(BLOCK) + tl.flip(v, 0))


@triton.jit
def atomics(x, out, old, n, BLOCK: tl.constexpr):
    """Threads of all blocks meet at 16 places."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask, other=0)
    place = out + at % 16
    tl.atomic_add(place, v, mask=mask)
    tl.atomic_max(place + 16, v, mask=mask, sem="release")
    tl.atomic_min(place + 32, v, mask=mask, sem="relaxed", scope="sys")
    if v.dtype == tl.int32 or v.dtype == tl.int64:
        tl.atomic_and(place + 48, v, mask=mask)
        tl.atomic_or(place + 64, v, mask=mask, sem="acquire")
        tl.atomic_xor(place + 80, v, mask=mask)
    tl.store(old + at, tl.atomic_xchg(out + 96 + at, v, mask=mask, scope="gpu"), mask=mask)


@triton.jit
def spread_half(x, out, n, BLOCK: tl.constexpr):
    """Packed atomics on halves, element by element where the address is odd."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.atomic_add(out + at % 64, v, mask=at < n)


@triton.jit
def largest_pool(x, out, which, H, W, BLOCK: tl.constexpr):
    """The greatest of 3 x 3 with stride 2, and where it is."""
    channel = tl.program_id(1)
    oh, ow = (H - 1) // 2, (W - 1) // 2
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, z = at // ow, at % ow
    most = tl.full([BLOCK], -float("inf"), tl.float32)
    place = tl.full([BLOCK], -1, tl.int32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            r, c = 2 * y + i, 2 * z + j
            mask = (at < oh * ow) & (r < H) & (c < W)
            v = tl.load(x + (channel * H + r) * W + c, mask=mask, other=-float("inf"))
            place = tl.where(v > most, r * W + c, place)
            most = tl.maximum(v, most)
    tl.store(out + channel * oh * ow + at, most, mask=at < oh * ow)
    tl.store(which + channel * oh * ow + at, place, mask=at < oh * ow)


@triton.jit
def convolution_rows(x, w, out, C, T, WIDTH: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    """Every channel with a filter of its own over what came before, as in state space models."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    total = tl.zeros((BC, BT), dtype=tl.float32)
    for i in tl.static_range(WIDTH):
        back = t - (WIDTH - 1) + i
        mask = (c < C)[:, None] & ((back >= 0) & (back < T))[None, :]
        v = tl.load(x + c[:, None] * T + back[None, :], mask=mask, other=0.0).to(tl.float32)
        total += v * tl.load(w + c * WIDTH + i, mask=c < C, other=0.0).to(tl.float32)[:, None]
    total = total * tl.sigmoid(total)
    tl.store(out + c[:, None] * T + t[None, :], total.to(out.dtype.element_ty), mask=(c < C)[:, None] & (t < T)[None, :])
