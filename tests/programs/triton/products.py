"""Launches of the matrix products. Factors are small whole numbers, so that no order of the sums rounds anything."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import ALL, Array, Close, Launch, out, register

Random = np.random.Generator
BF16 = ml_dtypes.bfloat16
E4, E5 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
SINCE_89 = (89, 90, 100, 120)


def whole(rng: Random, shape: tuple[int, ...], dtype: Any, most: int = 4) -> Array:
    """Whole numbers up to `most`."""
    found: Array = rng.integers(-most, most + 1, shape).astype(dtype)
    return found


def times(a: Array, b: Array) -> Array:
    """The exact product."""
    found: Array = a.astype(np.float64) @ b.astype(np.float64)
    return found


def _product(source: Any, result: Any, sizes: tuple[int, int, int], blocks: int, turned: str = "", activation: str = "") -> Any:
    """`turned`: which of a and b lie with the other dimension inside; the stride of 1 is a constant."""

    def build(rng: Random) -> Launch:
        m, n, k = sizes
        a, b = whole(rng, (m, k), source), whole(rng, (k, n), source)
        want: Any = times(a, b)
        if activation:
            want = Close(np.where(want >= 0, want, 0.01 * want), ulp=1, rtol=1e-6)
        a, b = (np.ascontiguousarray(x.T) if letter in turned else x for x, letter in ((a, "a"), (b, "b")))
        args = [a, b, out((m, n), result), m, n, k, m if "a" in turned else k, k if "b" in turned else n, n]
        return Launch(blocks, args, {2: want})

    return build


SIZES = {"BM": 64, "BN": 64, "BK": 32, "GROUP": 4, "ACC": "tl.float32", "PRECISION": "tf32", "ACTIVATION": ""}
SMALL = {"BM": 16, "BN": 16, "BK": 16}
KINDS: list[tuple[str, str, Any, Any, tuple[int, ...], dict[str, Any], str]] = [
    ("f16", "*fp16 *fp16 *fp16", np.float16, np.float16, ALL, {}, ""),
    ("f16_turned", "*fp16 *fp16 *fp16", np.float16, np.float16, ALL, {"ACTIVATION": "leaky"}, "ab"),
    ("bf16", "*bf16 *bf16 *fp32", BF16, np.float32, ALL, {}, "b"),
    ("f16_in_f16", "*fp16 *fp16 *fp16", np.float16, np.float16, ALL, {"ACC": "tl.float16"}, ""),
    ("tf32", "*fp32 *fp32 *fp32", np.float32, np.float32, ALL, {}, ""),
    ("tf32x3", "*fp32 *fp32 *fp32", np.float32, np.float32, ALL, {"PRECISION": "tf32x3"}, "b"),
    ("ieee", "*fp32 *fp32 *fp32", np.float32, np.float32, ALL, {"PRECISION": "ieee", "BM": 32, "BN": 32}, ""),
    ("i8", "*i8 *i8 *i32", np.int8, np.int32, ALL, {"ACC": "tl.int32", "PRECISION": None}, "b"),
    ("e5m2", "*fp8e5 *fp8e5 *fp32", E5, np.float32, ALL, {}, "b"),
    ("e4m3", "*fp8e4nv *fp8e4nv *fp32", E4, np.float32, SINCE_89, {}, "b"),
    ("f64", "*fp64 *fp64 *fp64", np.float64, np.float64, ALL, {"ACC": "tl.float64", "PRECISION": None, **SMALL}, ""),
]  # fmt: skip


def _add_product(name: str, types: str, build: tuple[Any, ...], targets: tuple[int, ...], turned: str, **more: Any) -> None:
    options, aligned = more.pop("options", {}), more.pop("aligned", "M N K sam sak sbk sbn scm")
    ones = {"sam" if "a" in turned else "sak": 1, "sbk" if "b" in turned else "sbn": 1}
    sizes = SIZES | more
    m, n, _ = build[2]
    blocks = -(-m // sizes["BM"]) * -(-n // sizes["BN"])
    launch = _product(*build, blocks, turned, sizes["ACTIVATION"])
    register(name, "matrices.product", types + 6 * " i32", launch, targets, aligned, options, **(sizes | ones))


for _name, _types, _source, _result, _targets, _constants, _turned in KINDS:
    # Strides that Triton knows to be multiples of 16; the last blocks are not whole.
    _add_product(f"product_{_name}", _types, (_source, _result, (96, 80, 112)), _targets, _turned, **_constants)

F16 = "*fp16 *fp16 *fp16"
# Whole blocks of the size that one uses; sizes of which nothing is known; few rows; two CTAs a block.
_add_product(
    "product_large", F16, (np.float16, np.float16, (128, 256, 128)), ALL, "", BM=128, BN=256, BK=64, options={"num_warps": 8}
)
_add_product("product_ragged", F16, (np.float16, np.float16, (70, 67, 45)), ALL, "", aligned="")
_add_product(
    "product_narrow", F16, (np.float16, np.float16, (16, 64, 128)), ALL, "b", BM=16, BN=64, BK=64, options={"num_stages": 4}
)
_add_product(
    "product_cluster", F16, (np.float16, np.float16, (128, 128, 64)), (90,), "b", BM=128, BN=128, options={"num_ctas": 2}
)


def product_split(rng: Random) -> Launch:
    m, n, k = 48, 64, 200
    a, b = whole(rng, (m, k), BF16), whole(rng, (k, n), BF16)
    return Launch((1, 1, 3), [a, b, np.zeros((m, n), np.float32), m, n, k], {2: times(a, b)})


register(
    "product_split",
    "matrices.product_split",
    "*bf16 *bf16 *fp32 i32 i32 i32",
    product_split,
    aligned="N",
    BM=64,
    BN=64,
    BK=32,
    SPLIT=3,
)


def product_batched(rng: Random) -> Launch:
    batch, m, n, k = 3, 40, 48, 64
    a, b, bias = whole(rng, (batch, m, k), np.float16), whole(rng, (batch, k, n), np.float16), whole(rng, (n,), np.float16)
    want = times(a, b) + bias.astype(np.float64)
    return Launch((1, 1, batch), [a, b, bias, out((batch, m, n), np.float16), m, n, k], {3: want})


register(
    "product_batched",
    "matrices.product_batched",
    "*fp16 *fp16 *fp16 *fp16 i32 i32 i32",
    product_batched,
    aligned="N K",
    BM=64,
    BN=64,
    BK=32,
)


def product_persistent(rng: Random) -> Launch:
    m, n, k = 128, 160, 96
    a, b = whole(rng, (m, k), np.float16), whole(rng, (k, n), np.float16)
    return Launch(2, [a, b, out((m, n), np.float16), m, n, k], {2: times(a, b)})


for _flat in (False, True):
    register(
        f"product_persistent{'_flat' * _flat}", "matrices.product_persistent", F16 + " i32 i32 i32", product_persistent, ALL,
        "M N K", BM=64, BN=64, BK=32, FLAT=_flat,
    )  # fmt: skip


def product_grouped(rng: Random) -> Launch:
    shapes, wants, parts = [], [], ([], [], [])  # type: ignore[var-annotated]
    at = [0, 0, 0]
    for m, n, k in ((64, 32, 48), (20, 70, 32), (100, 64, 16)):
        a, b = whole(rng, (m, k), np.float16), whole(rng, (k, n), np.float16)
        shapes.append([m, n, k, *at])
        wants.append(times(a, b))
        for i, x in enumerate((a, b, wants[-1])):
            flat = np.concatenate([x.ravel(), np.zeros(-x.size % 8)])
            parts[i].append(flat.astype(np.float16))
            at[i] += flat.size
    a, b, c = (np.concatenate(p) for p in parts)
    want, got = c.copy(), out(c.size, np.float16)
    for (m, n, _, _, _, offset), _w in zip(shapes, wants, strict=True):
        end = offset + m * n
        want[end : end + -(m * n) % 8] = got[end : end + -(m * n) % 8]
    return Launch(3, [a, b, got, np.array(shapes, np.int32), len(shapes)], {2: want})


register("product_grouped", "matrices.product_grouped", F16 + " *i32 i32", product_grouped, BM=64, BN=32, BK=16)


def product_int4(rng: Random) -> Launch:
    m, n, k, group = 30, 64, 128, 64
    a, v = whole(rng, (m, k), np.float16), rng.integers(0, 16, (k, n)).astype(np.uint32)
    scale = np.exp2(rng.integers(-2, 2, (k // group, n))).astype(np.float16)
    packed = np.zeros((k // 8, n), np.uint32)
    for i in range(8):
        packed |= v[i::8] << np.uint32(4 * i)
    b = (v.astype(np.float64) - 8) * scale.repeat(group, 0).astype(np.float64)
    want = times(a, b).astype(np.float16)
    return Launch((1, 1), [a, packed.view(np.int32), scale, out((m, n), np.float16), m, n, k], {3: want})


register(
    "product_int4",
    "matrices.product_int4",
    "*fp16 *i32 *fp16 *fp16 i32 i32 i32",
    product_int4,
    aligned="N K",
    GROUP=64,
    BM=32,
    BN=64,
    BK=64,
)


def product_experts(rng: Random) -> Launch:
    tokens, experts, n, k, block = 37, 3, 64, 64, 16
    x, w = whole(rng, (tokens, k), BF16), whole(rng, (experts, k, n), BF16)
    chosen = rng.integers(0, experts, tokens)
    order, owner = [], []
    for e in range(experts):
        mine = np.flatnonzero(chosen == e)
        places = np.concatenate([mine, np.full(-mine.size % block, tokens)])
        order.append(places)
        owner += [e] * (places.size // block)
    want = np.stack([times(x[t], w[e]) for t, e in enumerate(chosen)]).astype(BF16)
    args = [x, w, out((tokens, n), BF16), np.concatenate(order).astype(np.int32), np.array(owner, np.int32), tokens, n, k]
    return Launch((len(owner), 1), args, {2: want})


register(
    "product_experts",
    "matrices.product_experts",
    "*bf16 *bf16 *bf16 *i32 *i32 i32 i32 i32",
    product_experts,
    aligned="N K",
    BM=16,
    BN=64,
    BK=32,
)


def convolution(rng: Random) -> Launch:
    h, w, c, k, r = 7, 9, 24, 32, 3
    x, f = whole(rng, (h, w, c), np.float16), whole(rng, (r, r, c, k), np.float16)
    padded = np.zeros((h + 2, w + 2, c))
    padded[1:-1, 1:-1] = x
    want = sum(padded[i : i + h, j : j + w] @ f[i, j].astype(np.float64) for i in range(r) for j in range(r))
    return Launch((1, 1), [x, f, out((h, w, k), np.float32), h, w, c, k], {2: want})


register(
    "convolution", "matrices.convolution", "*fp16 *fp16 *fp32 i32 i32 i32 i32", convolution, aligned="K", R=3, BP=64, BC=16, BK=32
)


def product_and_norm(rng: Random) -> Launch:
    m, n, k, eps = 40, 128, 80, 1e-5
    x, w = whole(rng, (m, k), BF16), whole(rng, (k, n), BF16)
    v = times(x, w)
    v -= v.mean(1, keepdims=True)
    v /= np.sqrt((v * v).mean(1, keepdims=True) + eps)
    return Launch(2, [x, w, out((m, n), BF16), m, k, eps], {2: Close(v, ulp=1, atol=1e-6)})


register(
    "product_and_norm",
    "matrices.product_and_norm",
    "*bf16 *bf16 *bf16 i32 i32 fp32",
    product_and_norm,
    aligned="K",
    N=128,
    BM=32,
    BK=16,
)

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def narrow(rng: Random, rows: int, k: int, form: str) -> tuple[Array, Array]:
    """Random bytes of a form, [rows, k] elements of it, and their values."""
    if form == "e2m1":
        codes = rng.integers(0, 16, (rows, k)).astype(np.uint8)
        return codes[:, ::2] | codes[:, 1::2] << 4, E2M1[codes]
    values = whole(rng, (rows, k), {"e4m3": E4, "e5m2": E5}[form])
    return values.view(np.uint8), values.astype(np.float64)


def _scaled(fa: str, fb: str, m: int, n: int, k: int) -> Any:
    def build(rng: Random) -> Launch:
        (a, va), (b, vb) = narrow(rng, m, k, fa), narrow(rng, n, k, fb)
        sa, sb = (rng.integers(125, 130, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
        va, vb = (v * np.exp2(s.astype(np.float64) - 127).repeat(32, 1) for v, s in ((va, sa), (vb, sb)))
        args = [a, sa, b, sb, out((m, n), np.float32), m, n, k]
        return Launch((1, 1), args, {4: times(va, vb.T)})

    return build


TYPES = {"e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "e2m1": "*u8"}
for _fa, _fb, _targets in (
    ("e4m3", "e4m3", SINCE_89),
    ("e5m2", "e5m2", ALL),
    ("e2m1", "e2m1", ALL),
    ("e4m3", "e2m1", SINCE_89),
    ("e5m2", "e4m3", SINCE_89),
):
    register(
        f"scaled_{_fa}_{_fb}", "matrices.scaled", f"{TYPES[_fa]} *u8 {TYPES[_fb]} *u8 *fp32 i32 i32 i32",
        _scaled(_fa, _fb, 100, 64, 128), _targets, "K N", BM=128, BN=64, BK=128, FA=_fa, FB=_fb,
    )  # fmt: skip
