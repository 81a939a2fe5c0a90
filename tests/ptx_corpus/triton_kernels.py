"""Kernels in Triton for the stored modules; each row of ``CASES`` is compiled once a target. Only the maker imports Triton."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask, other=1), mask=mask)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + columns, values / tl.sum(values, axis=0), mask=columns < n)


@triton.jit
def layer_norm(x, out, weight, bias, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
    m = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < n, other=0.0, eviction_policy="evict_last").to(tl.float32)
        v = tl.where(at < n, v - m, 0.0)
        square += v * v
    r = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < n, eviction_policy="evict_first").to(tl.float32)
        w = tl.load(weight + at, mask=at < n)
        b = tl.load(bias + at, mask=at < n)
        tl.store(out + row * stride + at, (v - m) * r * w + b, mask=at < n)


@triton.jit
def matmul(
    a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr
):
    group = tl.program_id(0)
    blocks = tl.cdiv(N, BN)
    rows = (group // blocks) * BM + tl.arange(0, BM)
    columns = (group % blocks) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    pa = a + rows[:, None] * sa + inner[None, :]
    pb = b + inner[:, None] * sb + columns[None, :]
    total = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        va = tl.load(pa, mask=inner[None, :] < K - k * BK, other=0.0)
        vb = tl.load(pb, mask=inner[:, None] < K - k * BK, other=0.0)
        total = tl.dot(va, vb, total, input_precision=PRECISION, out_dtype=ACC)
        pa += BK
        pb += BK * sb
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * sc + columns[None, :], total.to(c.dtype.element_ty), mask=mask)


@triton.jit
def tma_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr, WS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    blocks = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * blocks
    for tile in tl.range(tl.program_id(0), tiles, SMS, flatten=True, warp_specialize=WS):
        row = (tile // blocks) * BM
        column = (tile % blocks) * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            total = tl.dot(da.load([row, k * BK]), db.load([column, k * BK]).T, total)
        dc.store([row, column], total.to(c.dtype.element_ty))


@triton.jit
def tensor_copies(x, y, M, N, BLOCK: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    dy = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    row = tl.program_id(0) * BLOCK
    tile = dx.load([row, 0])
    dy.atomic_add([row, 0], tile)
    dy.atomic_max([row, BLOCK], tile)
    dy.atomic_min([row, 2 * BLOCK], tile)


@triton.jit
def gathers(x, rows, y, M, N, BLOCK: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[1, BLOCK])
    at = tl.load(rows + tl.arange(0, 32))
    tile = dx.gather(at, 0)
    tl.store(y + tl.arange(0, 32)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], tile)
    dx.scatter(tile, at, BLOCK)


@triton.jit
def attention(q, k, v, out, scale, stride, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * stride
    rows = start + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    inner = tl.arange(0, D)
    vq = tl.load(q + base + rows[:, None] * D + inner[None, :])
    most = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    end = start + BM if CAUSAL else n
    for at in range(0, end, BN):
        vk = tl.load(k + base + (at + columns)[None, :] * D + inner[:, None])
        s = tl.dot(vq, vk) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= (at + columns)[None, :], s, -1.0e6)
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(most - new)
        total = total * alpha + tl.sum(p, 1)
        vv = tl.load(v + base + (at + columns)[:, None] * D + inner[None, :])
        acc = tl.dot(p.to(vv.dtype), vv, acc * alpha[:, None])
        most = new
    tl.store(out + base + rows[:, None] * D + inner[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def convolution(x, w, y, H, W, C, K, R: tl.constexpr, BLOCK: tl.constexpr, BC: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // W, at % W
    filters = tl.arange(0, BC)
    channels = tl.arange(0, BC)
    total = tl.zeros((BLOCK, BC), dtype=tl.float32)
    for i in tl.static_range(R):
        for j in tl.static_range(R):
            r, c = row + i - R // 2, column + j - R // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W)
            vx = tl.load(x + (r * W + c)[:, None] * C + channels[None, :], mask=inside[:, None], other=0.0)
            vw = tl.load(w + ((i * R + j) * C + channels)[:, None] * K + filters[None, :])
            total = tl.dot(vx, vw, total)
    tl.store(y + at[:, None] * K + filters[None, :], total.to(y.dtype.element_ty), mask=(at < H * W)[:, None])


@triton.jit
def atomics(x, y, out, n, BLOCK: tl.constexpr, ORDER: tl.constexpr, SCOPE: tl.constexpr, WHOLE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    old = tl.atomic_add(y + at, v, mask=at < n, sem=ORDER, scope=SCOPE)
    if v.dtype != tl.float16 and v.dtype != tl.bfloat16:
        old += tl.atomic_max(y + at, v, sem=ORDER, scope=SCOPE)
        old += tl.atomic_min(y + at + n, v, mask=at < n, sem=ORDER)
        old += tl.atomic_xchg(y + at, old, sem=ORDER, scope=SCOPE)
        old += tl.atomic_cas(y + at, v, old, sem=ORDER)
    if WHOLE:
        old += tl.atomic_and(y + at, v)
        old += tl.atomic_or(y + at, v, scope=SCOPE)
        old += tl.atomic_xor(y + at, v, sem=ORDER)
    tl.store(out + at, old)
    tl.atomic_add(y, tl.sum(v))


@triton.jit
def larger(a, i, b, j):
    take = a > b
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    w = tl.load(y + at)
    a, b = tl.associative_scan((v, w), 0, first_order)
    c, i = tl.reduce((v, at), 0, larger)
    tl.store(out + at, a + b + tl.cumsum(v, 0) + tl.cumprod(w, 0, reverse=True) + c + i)
    tl.store(out + BLOCK + at, tl.sort(v) + tl.flip(w) + tl.argmax(v, 0) + tl.argmin(w, 0))
    tl.store(out + 2 * BLOCK + tl.arange(0, 16), tl.topk(v, 16))


@triton.jit
def counts(x, out, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK)) & 63
    tl.store(out + tl.arange(0, 64), tl.histogram(v, 64))
    tl.store(out + 64 + tl.arange(0, BLOCK), tl.gather(v, v, 0) + tl.xor_sum(v, 0) + tl.reduce_or(v, 0))


@triton.jit
def random_numbers(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at) + tl.randn(seed, at) + tl.randint(seed, at) + tl.rand(seed + 1, at, n_rounds=7))


@triton.jit
def functions(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    s = tl.exp(v) + tl.log(v) + tl.sin(v) + tl.cos(v) + tl.sqrt(v) + tl.rsqrt(v) + tl.exp2(v) + tl.log2(v) + tl.erf(v)
    s += tl.floor(v) + tl.ceil(v) + tl.abs(v) + tl.sigmoid(v) + tl.fma(v, v, s) + tl.math.sqrt_rn(v) + tl.math.div_rn(v, s)
    s += tl.clamp(v, 0.0, 1.0) + tl.maximum(v, s, propagate_nan=tl.PropagateNan.ALL) + tl.minimum(v, s)
    s += libdevice.tanh(v) + libdevice.atan2(v, s) + libdevice.pow(v, s) + libdevice.lgamma(v) + libdevice.rint(v)
    s += libdevice.erfinv(v) + libdevice.cbrt(v) + libdevice.fast_expf(v) + libdevice.isnan(v) + libdevice.j0(v)
    tl.store(out + at, s)


@triton.jit
def whole_numbers(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v, w = tl.load(x + at, cache_modifier=".ca"), tl.load(y + at, cache_modifier=".cg")
    s = v // w + v % w + (v << 3) + (v >> 2) + (v ^ w) + (~v | w) + tl.cdiv(v, 7) + tl.abs(v) + tl.maximum(v, w)
    s += libdevice.popc(v.to(tl.int32)) + libdevice.clz(w.to(tl.int32)) + tl.umulhi(v.to(tl.uint32), w.to(tl.uint32)).to(tl.int32)
    tl.store(out + at, tl.where(v > w, s, -s), cache_modifier=".wt")
    tl.store(out + BLOCK + at, tl.load(x + BLOCK + at, volatile=True), cache_modifier=".cs")


@triton.jit
def conversions(x, h, b, e4, e5, i8, d, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(h + at, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(b + at, v.to(tl.bfloat16))
    tl.store(e5 + at, v.to(tl.float8e5))
    tl.store(e4 + at, v.to(e4.dtype.element_ty))
    tl.store(i8 + at, v.to(tl.int8) + tl.load(i8 + BLOCK + at))
    tl.store(d + at, tl.load(e4 + BLOCK + at).to(tl.float64) + tl.load(e5 + BLOCK + at).to(tl.float32) + tl.load(h + BLOCK + at))
    tl.store(d + BLOCK + at, tl.load(i8 + at).to(tl.float64) + v.to(tl.int64) + v.to(tl.uint32) + tl.load(b + at).to(tl.float64))


@triton.jit
def shapes(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    w = tl.join(v, v * 2)
    a, b = tl.split(tl.permute(tl.reshape(w, (2, BLOCK // 2, 2)), (1, 0, 2)).reshape(BLOCK, 2))
    z = tl.interleave(a, b)
    tl.store(out + tl.arange(0, 2 * BLOCK), z + tl.cat(v, v, can_reorder=True))
    m = tl.reshape(v, (BLOCK // 16, 16))
    tl.store(out + 2 * BLOCK + tl.arange(0, 16)[:, None] * (BLOCK // 16) + tl.arange(0, BLOCK // 16)[None, :], tl.trans(m))
    tl.store(out + 3 * BLOCK + at, tl.broadcast_to(tl.sum(m, 1)[:, None], (BLOCK // 16, 16)).reshape(BLOCK))


@triton.jit
def assembly(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    lo, hi = tl.inline_asm_elementwise(
        "{ .reg .b32 t; shr.u32 t, $2, 16; and.b32 $0, $2, 0xffff; mov.b32 $1, t; }",
        "=r,=r,r",
        [v],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(out + at, lo * hi)
    tl.debug_barrier()
    tl.device_print("value", v)
    tl.device_assert(v > 0, "not above zero")


@triton.jit
def scaled(a, sa, b, sb, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    PA: tl.constexpr = BK // 2 if FA == "e2m1" else BK
    PB: tl.constexpr = BK // 2 if FB == "e2m1" else BK
    va = tl.load(a + rows[:, None] * PA + tl.arange(0, PA)[None, :])
    vb = tl.load(b + tl.arange(0, PB)[:, None] * BN + columns[None, :])
    la = tl.load(sa + rows[:, None] * (BK // 32) + tl.arange(0, BK // 32)[None, :])
    lb = tl.load(sb + columns[:, None] * (BK // 32) + tl.arange(0, BK // 32)[None, :])
    tl.store(c + rows[:, None] * BN + columns[None, :], tl.dot_scaled(va, la, FA, vb, lb, FB))


@triton.jit
def helper(v, n):
    if n > 3:
        return v * 2
    return v + n


@triton.jit(noinline=True)
def outside(v, n):
    return v * n + 1


@triton.jit
def control(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    i = tl.load(x)
    v = tl.load(x + at)
    while i > 0:
        if i % 3 == 0:
            v += helper(v, n)
        else:
            i = outside(i, n)
        i -= 1
    tl.store(out + at, v)


def case(
    name: str,
    kernel: Any,
    types: str,
    targets: tuple[int, ...] = (80, 90, 100),
    options: dict[str, Any] | None = None,
    **constants: Any,
):
    return name, kernel, types.split(), constants, targets, options or {}


MM = {"BM": 64, "BN": 64, "BK": 32, "ACC": tl.float32, "PRECISION": "tf32"}
CASES = [
    case("add_f32", add, "*fp32 *fp32 *fp32 i32", BLOCK=1024),
    case("add_f16", add, "*fp16 *fp16 *fp16 i32", BLOCK=512),
    case("add_i64", add, "*i64 *i64 *i64 i64", BLOCK=256),
    case("softmax_f32", softmax, "*fp32 *fp32 i32 i32", BLOCK=1024),
    case("softmax_bf16", softmax, "*bf16 *bf16 i32 i32", BLOCK=4096, options={"num_warps": 8}),
    case("layer_norm", layer_norm, "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 i32 i32 fp32", BLOCK=512),
    case("matmul_f16", matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", **MM),
    case("matmul_f16_wide", matmul, "*fp16 *fp16 *fp32 i32 i32 i32 i32 i32 i32", options={"num_warps": 8, "num_stages": 4}, **{**MM, "BM": 128, "BN": 128}),
    case("matmul_bf16", matmul, "*bf16 *bf16 *bf16 i32 i32 i32 i32 i32 i32", **MM),
    case("matmul_tf32", matmul, "*fp32 *fp32 *fp32 i32 i32 i32 i32 i32 i32", **MM),
    case("matmul_tf32x3", matmul, "*fp32 *fp32 *fp32 i32 i32 i32 i32 i32 i32", **{**MM, "PRECISION": "tf32x3"}),
    case("matmul_ieee", matmul, "*fp32 *fp32 *fp32 i32 i32 i32 i32 i32 i32", **{**MM, "BM": 32, "BN": 32, "PRECISION": "ieee"}),
    case("matmul_i8", matmul, "*i8 *i8 *i32 i32 i32 i32 i32 i32 i32", **{**MM, "ACC": tl.int32, "PRECISION": None}),
    case("matmul_e5m2", matmul, "*fp8e5 *fp8e5 *fp32 i32 i32 i32 i32 i32 i32", **MM),
    case("matmul_e4m3", matmul, "*fp8e4nv *fp8e4nv *fp16 i32 i32 i32 i32 i32 i32", (90, 100), **MM),
    case("matmul_f64", matmul, "*fp64 *fp64 *fp64 i32 i32 i32 i32 i32 i32", **{**MM, "BM": 16, "BN": 16, "BK": 16, "ACC": tl.float64, "PRECISION": None}),
    case("matmul_cluster", matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", (90,), {"num_ctas": 2}, **{**MM, "BM": 128}),
    case("tma_matmul", tma_matmul, "*fp16 *fp16 *fp16 i32 i32 i32", (90, 100), BM=128, BN=128, BK=64, SMS=100, WS=False),
    case("tma_matmul_specialized", tma_matmul, "*fp16 *fp16 *fp16 i32 i32 i32", (90, 100), {"num_warps": 4}, BM=128, BN=128, BK=64, SMS=100, WS=True),
    case("tma_matmul_e4m3", tma_matmul, "*fp8e4nv *fp8e4nv *fp8e4nv i32 i32 i32", (90, 100), {"num_warps": 8}, BM=128, BN=128, BK=128, SMS=100, WS=False),
    case("tensor_copies", tensor_copies, "*fp16 *fp16 i32 i32", (90, 100), BLOCK=64),
    case("gathers", gathers, "*fp16 *i32 *fp16 i32 i32", (100,), BLOCK=64),
    case("attention", attention, "*fp16 *fp16 *fp16 *fp16 fp32 i32 i32", BM=64, BN=64, D=64, CAUSAL=False),
    case("attention_causal", attention, "*bf16 *bf16 *bf16 *bf16 fp32 i32 i32", options={"num_warps": 8}, BM=128, BN=64, D=128, CAUSAL=True),
    case("convolution", convolution, "*fp16 *fp16 *fp16 i32 i32 i32 i32", R=3, BLOCK=64, BC=32),
    case("atomics_f32", atomics, "*fp32 *fp32 *fp32 i32", BLOCK=128, ORDER="acq_rel", SCOPE="gpu", WHOLE=False),
    case("atomics_f16", atomics, "*fp16 *fp16 *fp16 i32", BLOCK=256, ORDER="relaxed", SCOPE="gpu", WHOLE=False),
    case("atomics_bf16", atomics, "*bf16 *bf16 *bf16 i32", BLOCK=256, ORDER="relaxed", SCOPE="sys", WHOLE=False),
    case("atomics_i32", atomics, "*i32 *i32 *i32 i32", BLOCK=128, ORDER="acquire", SCOPE="sys", WHOLE=True),
    case("atomics_i64", atomics, "*i64 *i64 *i64 i32", BLOCK=128, ORDER="release", SCOPE="cta", WHOLE=True),
    case("scans", scans, "*fp32 *fp32 *fp32", BLOCK=256),
    case("counts", counts, "*i32 *i32 i32", BLOCK=256),
    case("random_numbers", random_numbers, "*fp32 i64 i32", BLOCK=256),
    case("functions", functions, "*fp32 *fp32", BLOCK=128),
    case("whole_numbers", whole_numbers, "*i32 *i32 *i32", BLOCK=256),
    case("conversions", conversions, "*fp32 *fp16 *bf16 *fp8e4nv *fp8e5 *i8 *fp64", (90, 100), BLOCK=256),
    case("conversions_b15", conversions, "*fp32 *fp16 *bf16 *fp8e4b15 *fp8e5 *i8 *fp64", (80,), BLOCK=256),
    case("shapes", shapes, "*fp32 *fp32", BLOCK=256),
    case("assembly", assembly, "*i32 *i32", BLOCK=128, options={"debug": True}),
    case("scaled_e4m3", scaled, "*u8 *u8 *u8 *u8 *fp32", BM=128, BN=128, BK=128, FA="e4m3", FB="e4m3", targets=(90, 100)),
    case("scaled_e2m1", scaled, "*u8 *u8 *u8 *u8 *fp32", BM=128, BN=128, BK=128, FA="e2m1", FB="e2m1"),
    case("scaled_mixed", scaled, "*u8 *u8 *u8 *u8 *fp32", BM=128, BN=128, BK=128, FA="e5m2", FB="e2m1"),
    case("control", control, "*i32 *i32 i32", BLOCK=128),
]  # fmt: skip
