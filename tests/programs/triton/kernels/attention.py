"""Attention in Triton: forward with running maxima, backward from recomputed weights, decoding with a cache in pages."""

import triton
import triton.language as tl


@triton.jit
def forward(
    q, k, v, out, lse, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):  # fmt: skip
    """A block of queries of a head (the grid's second dimension); `scale` has the factor for base 2; any length."""
    start = tl.program_id(0) * BM
    base = tl.program_id(1).to(tl.int64) * n * D
    rows, inner = start + tl.arange(0, BM), tl.arange(0, D)
    vq = tl.load(q + base + rows[:, None] * D + inner[None, :], mask=(rows < n)[:, None], other=0.0)
    most = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    end = tl.minimum(start + BM, n) if CAUSAL else n
    for at in range(0, end, BN):
        columns = at + tl.arange(0, BN)
        vk = tl.load(k + base + columns[None, :] * D + inner[:, None], mask=(columns < n)[None, :], other=0.0)
        s = tl.dot(vq, vk) * scale
        seen = (columns < n)[None, :]
        if CAUSAL:
            seen = seen & (rows[:, None] >= columns[None, :])
        s = tl.where(seen, s, -1.0e6)
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        vv = tl.load(v + base + columns[:, None] * D + inner[None, :], mask=(columns < n)[:, None], other=0.0)
        acc = tl.dot(p.to(vv.dtype), vv, acc * alpha[:, None])
        most = new
    tl.store(out + base + rows[:, None] * D + inner[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=(rows < n)[:, None])  # fmt: skip
    tl.store(lse + tl.program_id(1) * n + rows, most + tl.math.log2(total), mask=rows < n)


@triton.jit
def forward_by_descriptors(
    q, k, v, out, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, SPECIAL: tl.constexpr
):
    """Tensors of [heads * n, D]; n is a multiple of the blocks."""
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * n
    rows = start + tl.arange(0, BM)
    vq = q.load([base + start, 0])
    most = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    end = start + BM if CAUSAL else n
    for at in tl.range(0, end, BN, warp_specialize=SPECIAL):
        s = tl.dot(vq, k.load([base + at, 0]).T) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= (at + tl.arange(0, BN))[None, :], s, -1.0e6)
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(most - new)
        vv = v.load([base + at, 0])
        acc = tl.dot(p.to(vv.dtype), vv, acc * alpha[:, None])
        total = total * alpha + tl.sum(p, 1)
        most = new
    out.store([base + start, 0], (acc / total[:, None]).to(out.dtype))


@triton.jit
def row_products(out, dout, delta, n, BM: tl.constexpr, D: tl.constexpr):
    rows, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    at = rows[:, None] * D + inner[None, :]
    o = tl.load(out + at, mask=(rows < n)[:, None], other=0.0).to(tl.float32)
    g = tl.load(dout + at, mask=(rows < n)[:, None], other=0.0).to(tl.float32)
    tl.store(delta + rows, tl.sum(o * g, axis=1), mask=rows < n)


@triton.jit
def backward_kv(
    q, k, v, dout, lse, delta, dk, dv, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):
    """dK and dV of a block of keys; lse is in base 2, `scale` the plain one."""
    start = tl.program_id(0) * BN
    base = tl.program_id(1).to(tl.int64) * n
    columns, inner = start + tl.arange(0, BN), tl.arange(0, D)
    own = (base + columns)[:, None] * D + inner[None, :]
    vk = tl.load(k + own, mask=(columns < n)[:, None], other=0.0)
    vv = tl.load(v + own, mask=(columns < n)[:, None], other=0.0)
    sum_k = tl.zeros([BN, D], dtype=tl.float32)
    sum_v = tl.zeros([BN, D], dtype=tl.float32)
    first = (start // BM) * BM if CAUSAL else 0
    for at in range(first, n, BM):
        rows = at + tl.arange(0, BM)
        place = (base + rows)[None, :] * D + inner[:, None]
        qt = tl.load(q + place, mask=(rows < n)[None, :], other=0.0)
        m = tl.load(lse + base + rows, mask=rows < n, other=0.0)
        p = tl.math.exp2(tl.dot(vk, qt) * (scale * 1.4426950408889634) - m[None, :])
        seen = (rows < n)[None, :] & (columns < n)[:, None]
        if CAUSAL:
            seen = seen & (rows[None, :] >= columns[:, None])
        p = tl.where(seen, p, 0.0)
        g = tl.load(dout + (base + rows)[:, None] * D + inner[None, :], mask=(rows < n)[:, None], other=0.0)
        sum_v = tl.dot(p.to(g.dtype), g, sum_v)
        d = tl.load(delta + base + rows, mask=rows < n, other=0.0)
        ds = p * (tl.dot(vv, tl.trans(g)) - d[None, :])
        sum_k = tl.dot(ds.to(qt.dtype), tl.trans(qt), sum_k)
    tl.store(dv + own, sum_v.to(dv.dtype.element_ty), mask=(columns < n)[:, None])
    tl.store(dk + own, (sum_k * scale).to(dk.dtype.element_ty), mask=(columns < n)[:, None])


@triton.jit
def backward_q(
    q, k, v, dout, lse, delta, dq, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):
    start = tl.program_id(0) * BM
    base = tl.program_id(1).to(tl.int64) * n
    rows, inner = start + tl.arange(0, BM), tl.arange(0, D)
    own = (base + rows)[:, None] * D + inner[None, :]
    vq = tl.load(q + own, mask=(rows < n)[:, None], other=0.0)
    g = tl.load(dout + own, mask=(rows < n)[:, None], other=0.0)
    m = tl.load(lse + base + rows, mask=rows < n, other=0.0)
    d = tl.load(delta + base + rows, mask=rows < n, other=0.0)
    total = tl.zeros([BM, D], dtype=tl.float32)
    end = tl.minimum(start + BM, n) if CAUSAL else n
    for at in range(0, end, BN):
        columns = at + tl.arange(0, BN)
        place = (base + columns)[None, :] * D + inner[:, None]
        kt = tl.load(k + place, mask=(columns < n)[None, :], other=0.0)
        vt = tl.load(v + place, mask=(columns < n)[None, :], other=0.0)
        p = tl.math.exp2(tl.dot(vq, kt) * (scale * 1.4426950408889634) - m[:, None])
        seen = (columns < n)[None, :]
        if CAUSAL:
            seen = seen & (rows[:, None] >= columns[None, :])
        p = tl.where(seen, p, 0.0)
        ds = p * (tl.dot(g, vt) - d[:, None])
        total = tl.dot(ds.to(kt.dtype), tl.trans(kt), total)
    tl.store(dq + own, (total * scale).to(dq.dtype.element_ty), mask=(rows < n)[:, None])


@triton.jit
def decode(
    q, keys, values, pages, lengths, out, scale, most_pages,
    GROUP: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr, KV: tl.constexpr,
):  # fmt: skip
    """One query a sequence, GROUP heads share keys; the cache lies in pages [page, PAGE, KV heads, D]."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    rows, inner, columns = tl.arange(0, 16), tl.arange(0, D), tl.arange(0, PAGE)
    length = tl.load(lengths + sequence)
    at = ((sequence * KV + head) * GROUP + rows)[:, None] * D + inner[None, :]
    vq = tl.load(q + at, mask=(rows < GROUP)[:, None], other=0.0)
    most = tl.full([16], -float("inf"), tl.float32)
    total = tl.zeros([16], dtype=tl.float32)
    acc = tl.zeros([16, D], dtype=tl.float32)
    for start in range(0, length, PAGE):
        page = tl.load(pages + sequence * most_pages + start // PAGE)
        place = ((page * PAGE + columns) * KV + head)[:, None] * D + inner[None, :]
        inside = start + columns < length
        vk = tl.load(keys + place, mask=inside[:, None], other=0.0)
        s = tl.where(inside[None, :], tl.dot(vq, tl.trans(vk)) * scale, -1.0e6)
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        vv = tl.load(values + place, mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(vv.dtype), vv, acc * alpha[:, None])
        most = new
    tl.store(out + at, (acc / total[:, None]).to(out.dtype.element_ty), mask=(rows < GROUP)[:, None])


@triton.jit
def linear(q, k, v, out, n, BT: tl.constexpr, D: tl.constexpr):
    """Causal without weights' softmax: a state of D x D goes from chunk to chunk."""
    base = tl.program_id(0) * n * D
    inner, t = tl.arange(0, D), tl.arange(0, BT)
    state = tl.zeros([D, D], dtype=tl.float32)
    for start in range(0, n, BT):
        at = base + (start + t)[:, None] * D + inner[None, :]
        mask = (start + t < n)[:, None]
        vq, vk, vv = tl.load(q + at, mask=mask, other=0.0), tl.load(k + at, mask=mask, other=0.0), tl.load(v + at, mask=mask, other=0.0)  # fmt: skip
        s = tl.where(t[:, None] >= t[None, :], tl.dot(vq, tl.trans(vk)), 0.0)
        o = tl.dot(s.to(vv.dtype), vv) + tl.dot(vq, state.to(vq.dtype))
        state = tl.dot(tl.trans(vk), vv, state)
        tl.store(out + at, o.to(out.dtype.element_ty), mask=mask)
