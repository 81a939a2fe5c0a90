"""Tensor maps: descriptions of tensors in global memory for the tensor memory accelerator.

What ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col`` do on a GPU. The hardware's layout of the 128 bytes is not public,
but the code that ptxas makes of ``tensormap.replace`` shows where the fields of tiles are: those have their places, so that code
can change them; the rest (im2col) has places of our own (``sim/tensor.h``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from oric_tables import numbers
from oric_tables.numbers import MAX_BOX, MAX_PIXELS, MAX_STEP, TENSOR_RANKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .arguments import Address

MAGIC: Final = b"ORICTMAP"
_LAYOUT: Final = struct.Struct("<QI4II5IIII8sHBB2H3h3h36s")
_TYPES: Final = {
    "uint8": (numbers.TENSOR_U8, 1), "uint16": (numbers.TENSOR_U16, 2), "uint32": (numbers.TENSOR_U32, 4),
    "int32": (numbers.TENSOR_S32, 4), "uint64": (numbers.TENSOR_U64, 8), "int64": (numbers.TENSOR_S64, 8),
    "float16": (numbers.TENSOR_F16, 2), "float32": (numbers.TENSOR_F32, 4), "float64": (numbers.TENSOR_F64, 8),
    "bfloat16": (numbers.TENSOR_BF16, 2),
}  # fmt: skip
_FLOATS: Final = {"float16", "float32", "float64", "bfloat16"}
_SWIZZLES: Final = {"none": (0, 0), "32B": (1, 32), "64B": (2, 64), "128B": (3, 128), "128B_ATOM_32B": (3 | 1 << 6, 128)}
_ALIGN: Final = 16
_CORNERS: Final = {3: (-(1 << 15), (1 << 15) - 1), 4: (-(1 << 7), (1 << 7) - 1), 5: (-(1 << 4), (1 << 4) - 1)}


class _Tensor(NamedTuple):
    kind: int
    element: int  # bytes
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int  # mode, and from bit 6 on what its units are
    span: int  # bytes of a swizzle; 0 without
    fill: int


def tensor_map(
    dtype: Any,
    address: int | Address,
    dims: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    element_strides: Sequence[int] | None = None,
    swizzle: str = "none",
    fill: str = "zero",
) -> bytes:
    """The map of a tensor whose tiles are copied: 128 bytes for a ``__grid_constant__ const CUtensorMap`` parameter or memory.

    Args:
        dtype: numpy type (or its name) of the elements, or ``"bfloat16"``.
        address: of the tensor: a number or a `Buffer`.
        dims: size of each dimension in elements, the innermost first.
        strides: bytes between neighbours of each dimension but the innermost.
        box: size of a tile.
        element_strides: distance of the elements of a tile; all of them when left out.
        swizzle: ``none``, ``32B``, ``64B``, ``128B``, ``128B_ATOM_32B``.
        fill: what stands for elements outside of the tensor: ``zero`` or ``nan``.

    Raises:
        ValueError: the hardware has no such tensors or tiles, or the simulator does not know what it does with them.
    """
    tensor = _tensor(dtype, address, dims, strides, element_strides, swizzle, fill)
    if len(box) != len(dims) or not all(1 <= b <= MAX_BOX for b in box):
        raise ValueError(f"a box of {tuple(box)}: a size of 1 to {MAX_BOX} for each of {len(dims)} dimensions is needed")
    _check_row(tensor, box[0])
    return _pack(tensor, numbers.MAP_TILED, tuple(box), (), ())


def tensor_map_im2col(
    dtype: Any,
    address: int | Address,
    dims: Sequence[int],
    strides: Sequence[int],
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    element_strides: Sequence[int] | None = None,
    swizzle: str = "none",
    fill: str = "zero",
) -> bytes:
    """The map of a tensor of images (dimensions C, W, [H, [D,]] N) that are copied pixel after pixel.

    Args:
        dtype: as for `tensor_map`, as are ``address``, ``dims``, ``strides``, ``swizzle`` and ``fill``.
        address: of the tensor.
        dims: size of each dimension in elements, the innermost first.
        strides: bytes between neighbours of each dimension but the innermost.
        lower: first corner of the box of pixels in W, H, D, relative to the first pixel.
        upper: last corner, relative to the last pixel.
        channels: of each pixel that is copied.
        pixels: of a column.
        element_strides: distance of pixels; all of them when left out.
        swizzle: as for `tensor_map`.
        fill: as for `tensor_map`.

    Raises:
        ValueError: the hardware has no such tensors or columns.
    """
    tensor = _tensor(dtype, address, dims, strides, element_strides, swizzle, fill)
    if not 3 <= len(dims) <= TENSOR_RANKS:
        raise ValueError(f"a tensor of {len(dims)} dimensions has no im2col mode")
    low, high = _CORNERS[len(dims)]
    for corner in (lower, upper):
        if len(corner) != len(dims) - 2 or not all(low <= c <= high for c in corner):
            raise ValueError(f"a corner at {tuple(corner)}: {len(dims) - 2} numbers of {low} to {high} are needed")
    if not 1 <= channels <= MAX_BOX or not 1 <= pixels <= MAX_PIXELS:
        raise ValueError(f"{channels} channels of {pixels} pixels: at most {MAX_BOX} and {MAX_PIXELS} are possible")
    _check_row(tensor, channels)
    return _pack(tensor, numbers.MAP_IM2COL, (channels, pixels), tuple(lower), tuple(upper))


def _tensor(
    dtype: Any,
    address: int | Address,
    dims: Sequence[int],
    strides: Sequence[int],
    steps: Sequence[int] | None,
    swizzle: str,
    fill: str,
) -> _Tensor:
    name = dtype if dtype == "bfloat16" else np.dtype(dtype).name
    if name not in _TYPES:
        raise ValueError(f"tensors of {name} are not simulated (known: {', '.join(_TYPES)})")
    if swizzle not in _SWIZZLES:
        raise ValueError(f"swizzle '{swizzle}' is not simulated (known: {', '.join(_SWIZZLES)})")
    if fill not in {"zero", "nan"} or (fill == "nan" and name not in _FLOATS):
        raise ValueError(f"elements of {name} cannot be filled with '{fill}'")
    base = address if isinstance(address, int) else address.address
    if base % _ALIGN or not 0 <= base < 1 << 64:
        raise ValueError(f"a tensor at {base:#x}: the address is no multiple of {_ALIGN}")
    if not 1 <= len(dims) <= TENSOR_RANKS or not all(1 <= d <= 1 << 32 for d in dims):
        raise ValueError(f"dimensions of {tuple(dims)}: one to {TENSOR_RANKS} of 1 to 2**32 are possible")
    if len(strides) != len(dims) - 1 or not all(0 < s < 1 << 40 and s % _ALIGN == 0 for s in strides):
        raise ValueError(f"strides of {tuple(strides)}: {len(dims) - 1} multiples of {_ALIGN} below 2**40 are needed")
    taken = tuple(steps) if steps is not None else (1,) * len(dims)
    if len(taken) != len(dims) or not all(1 <= s <= MAX_STEP for s in taken):
        raise ValueError(f"element strides of {taken}: {len(dims)} numbers of 1 to {MAX_STEP} are needed")
    kind, element = _TYPES[name]
    code, span = _SWIZZLES[swizzle]
    return _Tensor(kind, element, base, tuple(dims), tuple(strides), taken, code, span, int(fill == "nan"))


def _check_row(tensor: _Tensor, elements: int) -> None:
    size = elements * tensor.element
    if size % _ALIGN:
        raise ValueError(f"the innermost dimension of the box has {size} bytes, no multiple of {_ALIGN}")
    if tensor.span and size != tensor.span:
        raise ValueError(
            f"the innermost dimension of the box has {size} bytes, the swizzle {tensor.span}: only equal ones are simulated"
        )


def _pack(tensor: _Tensor, mode: int, box: tuple[int, ...], lower: tuple[int, ...], upper: tuple[int, ...]) -> bytes:
    def filled(values: tuple[int, ...], count: int, rest: int) -> tuple[int, ...]:
        return (*values, *(rest,) * (count - len(values)))

    flags = (len(tensor.dims) - 1) << 4 | tensor.kind << 7 | tensor.swizzle << 13 | tensor.fill << 15
    steps, tile = filled(tensor.steps, TENSOR_RANKS, 1), filled(box if mode == numbers.MAP_TILED else (), TENSOR_RANKS, 1)
    return _LAYOUT.pack(
        tensor.address, flags, *((s >> 4) & 0xFFFFFFFF for s in filled(tensor.strides, TENSOR_RANKS - 1, 0)),
        sum((s >> 36) << 4 * i for i, s in enumerate(tensor.strides)),
        *filled(tuple(d - 1 for d in tensor.dims), TENSOR_RANKS, 0),
        sum((s - 1) << 3 * i for i, s in enumerate(steps)) | (tile[0] - 1) << 24,
        sum((b - 1) << 8 * i for i, b in enumerate(tile[1:])),
        0, MAGIC, numbers.MAP_VERSION, mode, 0, *(box if mode == numbers.MAP_IM2COL else (0, 0)),
        *filled(lower, TENSOR_RANKS - 2, 0), *filled(upper, TENSOR_RANKS - 2, 0), b"",
    )  # fmt: skip


def description(data: bytes) -> dict[str, Any] | None:
    """The arguments of `tensor_map` (with ``box``) or `tensor_map_im2col` (with ``channels``) that gave a map.

    None: ``data`` is no map of the simulator's.
    """
    if len(data) != _LAYOUT.size:
        return None
    address, flags, *rest = _LAYOUT.unpack(data)
    strides, high, dims, (steps, tile, _, magic, _, mode, _) = rest[:4], rest[4], rest[5:10], rest[10:17]
    column, lower, upper = rest[17:19], rest[19:22], rest[22:25]
    if magic != MAGIC:
        return None
    rank = (flags >> 4 & 7) + 1
    codes = {code: name for name, (code, _) in _SWIZZLES.items()}
    out = {
        "dtype": next(name for name, (kind, _) in _TYPES.items() if kind == flags >> 7 & 15),
        "address": address,
        "dims": [d + 1 for d in dims[:rank]],
        "strides": [(s | (high >> 4 * i & 15) << 32) << 4 for i, s in enumerate(strides[: rank - 1])],
        "element_strides": [(steps >> 3 * i & 7) + 1 for i in range(rank)],
        "swizzle": codes[flags >> 13 & 3 | (flags >> 19 & 3) << 6],
        "fill": ("zero", "nan")[flags >> 15 & 1],
    }
    if mode == numbers.MAP_TILED:
        return {**out, "box": [(steps >> 24 & 255) + 1, *((tile >> 8 * i & 255) + 1 for i in range(rank - 1))]}
    return {
        **out, "channels": column[0], "pixels": column[1], "lower": list(lower[: rank - 2]), "upper": list(upper[: rank - 2]),
    }  # fmt: skip
