"""Kernels in Triton that reduce rows: softmax, norms, losses, forward and backward."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, (v / tl.sum(v, axis=0)).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def softmax_persistent(x, out, stride, rows, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
        v = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * stride + at, v / tl.sum(v, axis=0), mask=at < n)


@triton.jit
def softmax_online(x, out, n, BLOCK: tl.constexpr):
    """Rows longer than a block: maximum and sum in one pass."""
    row = tl.program_id(0)
    most = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(most, tl.max(v, 0))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(v - new), 0)
        most = new
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
        tl.store(out + row * n + at, (tl.exp(v - most) / total).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def softmax_backward(y, dy, dx, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    p = tl.load(y + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    g = tl.load(dy + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(dx + row * n + at, (p * (g - tl.sum(p * g, 0))).to(dx.dtype.element_ty), mask=at < n)


@triton.jit
def layer_norm(x, out, weight, bias, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    m = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.where(at < n, tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) - m, 0.0)
        square += v * v
    r = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        w, b = tl.load(weight + at, mask=at < n).to(tl.float32), tl.load(bias + at, mask=at < n).to(tl.float32)
        v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        tl.store(out + at, ((v - m) * r * w + b).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, lock, stride, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """dx of a row; its part of dw and db is added to one of several sums, under a lock."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + row * stride + at, mask=mask, other=0).to(tl.float32)
    g = tl.load(dy + row * stride + at, mask=mask, other=0).to(tl.float32)
    weight = tl.load(w + at, mask=mask).to(tl.float32)
    m, r = tl.load(mean + row), tl.load(rstd + row)
    normal = tl.where(mask, (v - m) * r, 0.0)
    wg = tl.where(mask, weight * g, 0.0)
    c1, c2 = tl.sum(normal * wg, axis=0) / n, tl.sum(wg, axis=0) / n
    tl.store(dx + row * stride + at, ((wg - (normal * c1 + c2)) * r).to(dx.dtype.element_ty), mask=mask)
    group = row % GROUPS
    count = lock + GROUPS + group
    lock += group
    part_w, part_b = g * normal, g
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(dw + group * n + at, mask=mask)
        part_b += tl.load(db + group * n + at, mask=mask)
    tl.store(dw + group * n + at, part_w, mask=mask)
    tl.store(db + group * n + at, part_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def column_sums(x, out, rows, n, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, rows, BM):
        at = start + tl.arange(0, BM)
        mask = (at[:, None] < rows) & (columns[None, :] < n)
        total += tl.load(x + at[:, None] * n + columns[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out + columns, tl.sum(total, axis=0), mask=columns < n)


@triton.jit
def rms_norm(x, residual, weight, out, n, eps, BLOCK: tl.constexpr):
    """With the sum with the residual written back."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + row * n + at, mask=mask, other=0.0) + tl.load(residual + row * n + at, mask=mask, other=0.0)
    tl.store(residual + row * n + at, v, mask=mask)
    v = v.to(tl.float32)
    v = v * tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(out + row * n + at, (v * tl.load(weight + at, mask=mask).to(tl.float32)).to(out.dtype.element_ty), mask=mask)


@triton.jit
def combine(m1, s1, n1, m2, s2, n2):
    n = n1 + n2
    delta = m2 - m1
    share = tl.where(n == 0.0, 0.0, n2 / n)
    return m1 + delta * share, s1 + s2 + delta * delta * n1 * share, n


@triton.jit
def group_norm(x, out, mean, variance, size, eps, BLOCK: tl.constexpr):
    """Mean and variance in one reduction with three values."""
    group = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < size
    v = tl.load(x + group * size + at, mask=mask, other=0.0).to(tl.float32)
    m, s, count = tl.reduce((v, tl.zeros_like(v), mask.to(tl.float32)), 0, combine)
    tl.store(mean + group, m)
    tl.store(variance + group, s / count)
    v = (v - m) * tl.rsqrt(s / count + eps)
    tl.store(out + group * size + at, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


@triton.jit
def cross_entropy(logits, labels, loss, sums, n, smooth, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    most = -float("inf")
    total = 0.0
    plain = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(logits + row.to(tl.int64) * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(most, tl.max(v, 0))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(v - new), 0)
        plain += tl.sum(tl.where(at < n, v, 0.0), 0)
        most = new
    whole = most + tl.log(total)
    tl.store(sums + row, whole)
    if label >= 0:
        picked = tl.load(logits + row.to(tl.int64) * n + label).to(tl.float32)
        tl.store(loss + row, (1 - smooth) * (whole - picked) + smooth * (whole - plain / n))
    else:
        tl.store(loss + row, 0.0)


@triton.jit
def cross_entropy_backward(logits, labels, sums, dloss, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    g = tl.where(label >= 0, tl.load(dloss + row), 0.0)
    v = tl.load(logits + row.to(tl.int64) * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    p = tl.exp(v - tl.load(sums + row))
    tl.store(out + row.to(tl.int64) * n + at, (g * (p - tl.where(at == label, 1.0, 0.0))).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def reductions(x, out, which, rows, n, BM: tl.constexpr, BN: tl.constexpr):
    """Each row's sum, extremes and where these are; the parity of the rows' first numbers."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    mask = (r[:, None] < rows) & (c[None, :] < n)
    p = x + r[:, None] * n + c[None, :]
    inside = r < rows
    tl.store(out + r, tl.sum(tl.load(p, mask=mask, other=0.0), 1), mask=inside)
    most, at = tl.max(tl.load(p, mask=mask, other=-float("inf")), 1, return_indices=True)
    tl.store(out + rows + r, most, mask=inside)
    tl.store(which + r, at, mask=inside)
    least, at = tl.min(tl.load(p, mask=mask, other=float("inf")), 1, return_indices=True)
    tl.store(out + 2 * rows + r, least, mask=inside)
    tl.store(which + rows + r, at, mask=inside)
    bits = tl.load(p, mask=mask, other=0.0).to(tl.int32, bitcast=True)
    tl.store(which + 2 * rows + r, tl.xor_sum(bits, 1) ^ tl.reduce_or(bits, 1), mask=inside)


@triton.jit
def total_in_steps(x, part, done, out, n, BLOCK: tl.constexpr):
    """Parts of a sum; the last block adds them up."""
    block, blocks = tl.program_id(0), tl.num_programs(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    tl.store(part + block, tl.sum(tl.load(x + at, mask=at < n, other=0.0).to(tl.float32), 0))
    tl.debug_barrier()
    if tl.atomic_add(done, 1, sem="acq_rel") == blocks - 1:
        parts = tl.arange(0, 64)
        v = tl.load(part + parts, mask=parts < blocks, other=0.0, cache_modifier=".cg")
        tl.store(out, tl.sum(v, 0))
