"""Launches of the kernels with tensor descriptors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import ALL, Array, Described, Launch, out, register
from tests.programs.triton.products import E4, narrow, times, whole

Random = np.random.Generator
BF16 = ml_dtypes.bfloat16
SINCE_90 = (90, 100, 120)


def _copy(dtype: Any, rows: int, columns: int, block: tuple[int, int]) -> Any:
    def build(rng: Random) -> Launch:
        x = rng.integers(0, 90, (rows, columns)).astype(dtype)
        grid = (-(-rows // block[0]), -(-columns // block[1]))
        return Launch(grid, [Described(x), Described(out(x.shape, dtype))], {1: x})

    return build


register(
    "tensor_copy_f16",
    "descriptors.copy",
    "tensordesc<fp16[32,64]> tensordesc<fp16[32,64]>",
    _copy(np.float16, 50, 104, (32, 64)),
    BM=32,
    BN=64,
)
register(
    "tensor_copy_f32",
    "descriptors.copy",
    "tensordesc<fp32[16,8]> tensordesc<fp32[16,8]>",
    _copy(np.float32, 33, 20, (16, 8)),
    SINCE_90,
    BM=16,
    BN=8,
)
register(
    "tensor_copy_u8",
    "descriptors.copy",
    "tensordesc<u8[64,32]> tensordesc<u8[64,32]>",
    _copy(np.uint8, 70, 48, (64, 32)),
    SINCE_90,
    BM=64,
    BN=32,
)


def copy_from_device(rng: Random) -> Launch:
    m, n = 40, 72
    x = whole(rng, (m, n), BF16, 100)
    return Launch((2, 2), [x, out((n, m), BF16), m, n], {1: x.T})


register(
    "tensor_copy_from_device", "descriptors.copy_from_device", "*bf16 *bf16 i32 i32", copy_from_device, ALL, "", BM=32, BN=64
)


def _reduce(dtype: Any, kind: str) -> Any:
    def build(rng: Random) -> Launch:
        x, y = whole(rng, (96, 32), dtype, 99), whole(rng, (32, 32), dtype, 99)
        parts = [*x.astype(int).reshape(3, 32, 32), y.astype(int)]
        want = {"add": np.sum, "max": np.max, "min": np.min}[kind](np.stack(parts), 0)
        return Launch(3, [Described(x), Described(y)], {1: want})

    return build


for _name, _type, _dtype, _kind in (
    ("f32", "fp32", np.float32, "add"),
    ("i64", "i64", np.int64, "max"),
    ("i32", "i32", np.int32, "min"),
):
    _types = f"tensordesc<{_type}[32,32]> tensordesc<{_type}[32,32]>"
    register(
        f"tensor_{_kind}_{_name}", "descriptors.reduce_into", _types, _reduce(_dtype, _kind), SINCE_90, BM=32, BN=32, KIND=_kind
    )


def rows_by_number(rng: Random) -> Launch:
    x, y = whole(rng, (50, 128), np.float16, 100), out((64, 128), np.float16)
    at = rng.integers(0, 50, 32).astype(np.int32)
    want = y.copy()
    want[::2] = x[at]
    return Launch(2, [Described(x), at, Described(y)], {2: want})


register(
    "tensor_rows_by_number",
    "descriptors.rows_by_number",
    "tensordesc<fp16[1,64]> *i32 tensordesc<fp16[1,64]>",
    rows_by_number,
    (100,),
    ROWS=32,
    BN=64,
)


def three_dimensions(rng: Random) -> Launch:
    x = whole(rng, (4, 24, 64), np.float16, 100)
    y = out((24, 4, 64), np.float16)
    return Launch((2, 2), [Described(x), Described(y)], {1: x.transpose(1, 0, 2)})


register(
    "tensor_three_dimensions", "descriptors.three_dimensions", "tensordesc<fp16[4,16,32]> tensordesc<fp16[16,4,32]>",
    three_dimensions, (90, 100, 120), B=4, BM=16, BN=32,
)  # fmt: skip


def _product(
    source: Any, result: Any, sizes: tuple[int, int, int], grid: Any, turned: bool = True, described: bool = True
) -> Any:
    def build(rng: Random) -> Launch:
        m, n, k = sizes
        a, b, c = whole(rng, (m, k), source), whole(rng, (k, n), source), out((m, n), result)
        want = times(a, b).astype(result)
        arrays: list[Any] = [a, np.ascontiguousarray(b.T) if turned else b, c]
        return Launch(grid, [*(Described(x) if described else x for x in arrays), m, n, k], {2: want})

    return build


def _types(kind: str, result: str, bm: int, bn: int, bk: int, turned: bool = True, store: int = 0) -> str:
    b = f"[{bn},{bk}]" if turned else f"[{bk},{bn}]"
    return f"tensordesc<{kind}[{bm},{bk}]> tensordesc<{kind}{b}> tensordesc<{result}[{bm},{store or bn}]> i32 i32 i32"


for _name, _kind, _result, _source, _to, _bk, _turned, _options in (
    ("f16", "fp16", "fp16", np.float16, np.float16, 64, True, {}),
    ("bf16", "bf16", "fp32", BF16, np.float32, 32, False, {}),
    ("tf32", "fp32", "fp32", np.float32, np.float32, 32, True, {}),
    ("e4m3", "fp8e4nv", "fp16", E4, np.float16, 128, True, {"num_warps": 8}),
    ("i8", "i8", "fp32", np.int8, np.float32, 64, True, {}),
):
    if _name != "i8":
        register(
            f"tensor_product_{_name}", "descriptors.product", _types(_kind, _result, 128, 64, _bk, _turned),
            _product(_source, _to, (144, 80, 2 * _bk + 16), (2, 2), _turned), SINCE_90, "M N K", _options,
            BM=128, BN=64, BK=_bk, TRANSPOSED=_turned,
        )  # fmt: skip

for _name, _flat, _special, _halves, _warps, _targets in (
    ("", True, False, False, 4, SINCE_90),
    ("_specialised", True, True, False, 4, (90, 100)),
    ("_halves", False, False, True, 8, SINCE_90),
):
    register(
        f"tensor_product_persistent{_name}", "descriptors.product_persistent",
        _types("fp16", "fp16", 128, 128, 64, store=64 if _halves else 0),
        _product(np.float16, np.float16, (256, 200, 136), 2), _targets, "M N K", {"num_warps": _warps},
        BM=128, BN=128, BK=64, FLAT=_flat, SPECIAL=_special, HALVES=_halves,
    )  # fmt: skip

for _special in (False, True):
    register(
        f"tensor_product_from_device{'_specialised' * _special}", "descriptors.product_from_device",
        "*fp16 *fp16 *fp16 i32 i32 i32",
        _product(np.float16, np.float16, (200, 128, 136), 1, described=False), SINCE_90, "", {},
        BM=128, BN=64, BK=64, SPECIAL=_special,
    )  # fmt: skip

register(
    "tensor_product_cluster", "descriptors.product", _types("fp16", "fp16", 128, 128, 64),
    _product(np.float16, np.float16, (128, 128, 128), (1, 1)), (90,), "M N K", {"num_ctas": 2},
    BM=128, BN=128, BK=64, TRANSPOSED=True,
)  # fmt: skip


def _order_of_scales(scales: Array) -> Array:
    """[rows, columns] as the hardware has scales: tiles of 128 x 4, in each of these 32 x 4 x 4."""
    rows, columns = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(tiles.reshape(1, rows // 128, columns // 4, 2, 256))


def _scaled(form: str, vector: int, m: int, n: int, k: int) -> Any:
    def build(rng: Random) -> Launch:
        (a, va), (b, vb) = narrow(rng, m, k, form), narrow(rng, n, k, form)
        if vector == 16:  # of e4m3
            sa, sb = (np.exp2(rng.integers(-2, 3, (rows, k // vector))).astype(E4) for rows in (m, n))
            xa, xb = sa.astype(np.float64), sb.astype(np.float64)
        else:
            sa, sb = (rng.integers(125, 130, (rows, k // vector)).astype(np.uint8) for rows in (m, n))
            xa, xb = np.exp2(sa.astype(np.float64) - 127), np.exp2(sb.astype(np.float64) - 127)
        va, vb = va * xa.repeat(vector, 1), vb * xb.repeat(vector, 1)
        c = out((m, n), np.float32)
        tensors = [Described(x) for x in (a, _order_of_scales(sa), b, _order_of_scales(sb), c)]
        return Launch((1, 1), [*tensors, m, n, k], {4: times(va, vb.T)})

    return build


for _name, _form, _vector, _kind, _scale in (
    ("mxfp8", "e4m3", 32, "fp8e4nv", "u8"),
    ("mxfp4", "e2m1", 32, "u8", "u8"),
    ("nvfp4", "e2m1", 16, "u8", "fp8e4nv"),
):
    _bk = 128
    _inner = _bk // 2 if _form == "e2m1" else _bk
    _sizes = f"[1,1,{_bk // _vector // 4},2,256]"
    register(
        f"tensor_scaled_{_name}", "descriptors.scaled",
        f"tensordesc<{_kind}[128,{_inner}]> tensordesc<{_scale}{_sizes}> tensordesc<{_kind}[128,{_inner}]> "
        f"tensordesc<{_scale}{_sizes}> tensordesc<fp32[128,128]> i32 i32 i32",
        _scaled(_form, _vector, 128, 128, 256), (100, 120), "M N K", {"num_stages": 2},
        BM=128, BN=128, BK=_bk, VEC=_vector, FORMAT=_form,
    )  # fmt: skip
