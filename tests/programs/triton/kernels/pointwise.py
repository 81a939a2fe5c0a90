"""Kernels in Triton that go over elements: activations, dropout, conversions, optimisers. Only the maker imports this."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def silu_and_multiply(x, out, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        gate = tl.load(x + row * stride + at, mask=at < n).to(tl.float32)
        up = tl.load(x + row * stride + n + at, mask=at < n).to(tl.float32)
        tl.store(out + row * n + at, (gate * tl.sigmoid(gate) * up).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def gelu_backward(dy, x, dx, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    g = tl.load(dy + at, mask=at < n, other=0.0).to(tl.float32)
    cdf = 0.5 * (1.0 + tl.erf(v * 0.7071067811865476))
    pdf = 0.3989422804014327 * tl.exp(-0.5 * v * v)
    tl.store(dx + at, (g * (cdf + v * pdf)).to(dx.dtype.element_ty), mask=at < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    keep = tl.rand(seed, at) > p
    v = tl.load(x + at, mask=mask)
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), mask=mask)


@triton.jit
def random_numbers(whole, normal, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(whole + at, a ^ (b << 1) ^ (c >> 3) ^ d, mask=at < n)
    tl.store(normal + at, tl.randn(seed, at), mask=at < n)


@triton.jit
def adam(p, g, m, v, n, rate, step1, step2, beta1, beta2, eps, decay, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    w = tl.load(p + at, mask=mask)
    d = tl.load(g + at, mask=mask).to(tl.float32)
    first = beta1 * tl.load(m + at, mask=mask) + (1 - beta1) * d
    second = beta2 * tl.load(v + at, mask=mask) + (1 - beta2) * d * d
    tl.store(m + at, first, mask=mask)
    tl.store(v + at, second, mask=mask)
    w = w - rate * ((first / step1) / (tl.sqrt(second / step2) + eps) + decay * w)
    tl.store(p + at, w, mask=mask)


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask, other=1.0)
    tl.store(out + at, tl.exp(v), mask=mask)
    tl.store(out + n + at, tl.log(v), mask=mask)
    tl.store(out + 2 * n + at, tl.sin(v), mask=mask)
    tl.store(out + 3 * n + at, tl.cos(v), mask=mask)
    tl.store(out + 4 * n + at, tl.math.sqrt_rn(v), mask=mask)
    tl.store(out + 5 * n + at, tl.rsqrt(v), mask=mask)
    tl.store(out + 6 * n + at, libdevice.tanh(v), mask=mask)
    tl.store(out + 7 * n + at, libdevice.pow(v, 1.5), mask=mask)
    tl.store(out + 8 * n + at, libdevice.log1p(v), mask=mask)
    tl.store(out + 9 * n + at, tl.math.div_rn(1.0, v), mask=mask)
    tl.store(out + 10 * n + at, tl.floor(v) + tl.ceil(v) + libdevice.rint(v), mask=mask)
    tl.store(out + 11 * n + at, libdevice.erfinv(v - tl.floor(v)), mask=mask)


@triton.jit
def doubles(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask, other=1.0)
    tl.store(out + at, libdevice.exp(v), mask=mask)
    tl.store(out + n + at, libdevice.log(v), mask=mask)
    tl.store(out + 2 * n + at, tl.sqrt(v) / (v + 1.0), mask=mask)
    tl.store(out + 3 * n + at, libdevice.fma(v, v, 1.0 / v), mask=mask)


@triton.jit
def whole_numbers(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v, w = tl.load(x + at, mask=mask, other=1), tl.load(y + at, mask=mask, other=1)
    tl.store(out + at, v // w, mask=mask)
    tl.store(out + n + at, v % w, mask=mask)
    tl.store(out + 2 * n + at, (v * w) ^ (v >> (w & 15)) ^ (w << 3), mask=mask)
    tl.store(out + 3 * n + at, tl.cdiv(v, 7) + tl.minimum(v, w) * tl.maximum(v, w), mask=mask)
    tl.store(out + 4 * n + at, tl.where(v > w, tl.abs(v), -w), mask=mask)


@triton.jit
def quantise_rows(x, q, scale, n, MOST: tl.constexpr, BLOCK: tl.constexpr):
    """Each row by its greatest magnitude, into 8 bits."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(v), axis=0), 1e-10) / MOST
    v = v / s
    if q.dtype.element_ty == tl.int8:
        v = libdevice.rint(v)
    tl.store(q + row * n + at, v.to(q.dtype.element_ty), mask=at < n)
    tl.store(scale + row, s)


@triton.jit
def conversions(x, h, b, e4, e5, i8, back, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask, other=0.0)
    vh, vb = v.to(tl.float16, fp_downcast_rounding="rtz"), v.to(tl.bfloat16)
    v4, v5 = v.to(e4.dtype.element_ty), v.to(tl.float8e5)
    tl.store(h + at, vh, mask=mask)
    tl.store(b + at, vb, mask=mask)
    tl.store(e4 + at, v4, mask=mask)
    tl.store(e5 + at, v5, mask=mask)
    tl.store(i8 + at, v.to(tl.int8), mask=mask)
    total = v4.to(tl.float32) + v5.to(tl.float16).to(tl.float32) + vh.to(tl.float32) + vb.to(tl.float32) + v.to(tl.int64).to(tl.float32)  # fmt: skip
    tl.store(back + at, total, mask=mask)


@triton.jit
def unpack_int4(packed, scale, zero, out, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Eight numbers a word, a scale and a zero for each group of them."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    word = tl.load(packed + row * (n // 8) + at // 8, mask=at < n, other=0)
    group = row * (n // GROUP) + at // GROUP
    v = (word >> ((at % 8) * 4)) & 15
    s, z = tl.load(scale + group, mask=at < n, other=0.0), tl.load(zero + group, mask=at < n, other=0)
    tl.store(out + row * n + at, ((v - z).to(tl.float32) * s).to(out.dtype.element_ty), mask=at < n)


@triton.jit
def rotary(x, cosine, sine, out, heads, length, SIZE: tl.constexpr, HEADS: tl.constexpr):
    """The first half of a head turns with the second; a block for each position."""
    where = tl.program_id(0)
    head = tl.arange(0, HEADS)
    at = tl.arange(0, SIZE // 2)
    c = tl.load(cosine + (where % length) * (SIZE // 2) + at)[None, :]
    s = tl.load(sine + (where % length) * (SIZE // 2) + at)[None, :]
    first = where * heads * SIZE + head[:, None] * SIZE + at[None, :]
    mask = (head < heads)[:, None]
    a = tl.load(x + first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x + first + SIZE // 2, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + first, (a * c - b * s).to(out.dtype.element_ty), mask=mask)
    tl.store(out + first + SIZE // 2, (b * c + a * s).to(out.dtype.element_ty), mask=mask)


@triton.jit
def complex_product(x, y, out, n, BLOCK: tl.constexpr):
    """Real and imaginary parts lie side by side."""
    at = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    mask = at < 2 * n
    a, b = tl.split(tl.load(x + at, mask=mask, other=0.0).reshape(BLOCK, 2))
    c, d = tl.split(tl.load(y + at, mask=mask, other=0.0).reshape(BLOCK, 2))
    tl.store(out + at, tl.interleave(a * c - b * d, a * d + b * c), mask=mask)


@triton.jit
def assembly(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    low, high = tl.inline_asm_elementwise(
        "{ .reg .b32 t; prmt.b32 t, $2, $2, 0x0123; bfe.u32 $0, t, 3, 11; lop3.b32 $1, t, $2, 0x0f0f0f0f, 0xe8; }",
        "=r,=r,r",
        [v],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(out + at, low * high, mask=at < n)


@triton.jit
def fast_half(x, out, n, BLOCK: tl.constexpr):
    """Half precision throughout, two elements an instruction."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    v = tl.maximum(v * v + v, v) - tl.minimum(v, 0.5)
    tl.store(out + at, tl.where(v > 1.0, v * 0.25, v), mask=at < n)


@triton.jit
def helper(v, n):
    found = v + n
    if n > 3:
        found = v * 2
    return found


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
            v = v ^ outside(i, n)
        i -= 1
    tl.store(out + at, v)


@triton.jit
def printing(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.device_assert(v > 0, "not above zero")
    tl.device_print("value", v)
    tl.store(out + at, v + 1)
