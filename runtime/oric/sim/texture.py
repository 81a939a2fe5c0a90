"""Textures and surfaces: arrays of texels and how they are read, behind a handle that a kernel takes as a parameter."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from oric_tables._native import ffi, lib
from oric_tables.numbers import ADDRESS_MODES, TEXTURE_FLOAT, TEXTURE_SIGNED, TEXTURE_UNSIGNED

from .arguments import Array
from .errors import LaunchError

if TYPE_CHECKING:
    from .module import Buffer, Module

_KINDS: Final = {"u": TEXTURE_UNSIGNED, "i": TEXTURE_SIGNED, "f": TEXTURE_FLOAT}
_RANKS: Final = {"1d": 1, "2d": 2, "3d": 3, "cube": 2}
_FACES: Final = 6
_MAX_HANDLE: Final = (1 << 20) - 1


@dataclass(frozen=True)
class Sampling:
    """How a texture is read, in the words of CUDA's ``cudaTextureDesc``.

    Attributes:
        linear: linear filtering; else the nearest texel.
        address: what lies outside, for all axes or for each: wrap, clamp, mirror, border.
        normalised: coordinates run from 0 to 1 over the texture.
        read_normalised: integers are read as floats of 0 to 1, or -1 to 1.
        border: components outside with address mode border.
    """

    linear: bool = False
    address: str | tuple[str, ...] = "clamp"
    normalised: bool = False
    read_normalised: bool = False
    border: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)


class Texture:
    """A texture or surface of a module; pass it as an argument (its ``address`` is the 64-bit handle)."""

    def __init__(self, module: Module, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], record: Any) -> None:
        self._module = module
        self._shape = shape
        self._dtype = dtype
        self.buffer = buffer
        self.record = record
        module.textures += 1
        self.address = module.textures
        if self.address > _MAX_HANDLE or lib.oric_sim_set_texture(module.image.sim, self.address, record) != 0:
            raise LaunchError(f"no memory for texture {self.address}")

    def read(self) -> Array:
        """The texels of the first level, in the shape of the array that they come from."""
        return np.frombuffer(self.buffer.read(), self._dtype, math.prod(self._shape)).reshape(self._shape).copy()

    def write(self, array: Array) -> None:
        """Replace the texels of the first level.

        Raises:
            ValueError: an array of another shape or type.
        """
        if array.shape != self._shape or array.dtype != self._dtype:
            raise ValueError(f"{array.dtype}{list(array.shape)} given for texels {self._dtype}{list(self._shape)}")
        self.buffer.write(np.ascontiguousarray(array))

    def sampled(self, sampling: Sampling) -> Texture:
        """The same texels, read in another way."""
        record = ffi.new("oric_sim_texture *", self.record[0])
        _set_sampling(record, sampling, self._dtype)
        return Texture(self._module, self.buffer, self._shape, self._dtype, record)


def make(
    module: Module, array: Array, kind: str, layered: bool, channels: int, sampling: Sampling, smaller: Sequence[Array] = ()
) -> Texture:
    """A texture with the texels of an array, and the levels behind it.

    Raises:
        LaunchError: the array is no texture of that kind.
    """
    if kind not in _RANKS:
        raise LaunchError(f"a texture is one of {', '.join(_RANKS)}, not {kind!r}")
    if array.dtype.kind not in _KINDS or array.dtype.itemsize > 4 or not array.dtype.isnative:
        raise LaunchError(f"texels cannot be of type {array.dtype}")
    if channels not in {1, 2, 4}:
        raise LaunchError(f"texels have 1, 2 or 4 components, not {channels}")
    shape = list(array.shape)
    if channels > 1 and (not shape or shape.pop() != channels):
        raise LaunchError(f"the last axis of {array.shape} does not have the {channels} components")
    rank = _RANKS[kind]
    axes = rank + layered + (kind == "cube")
    if len(shape) != axes or 0 in shape or (kind == "cube" and shape[-3] != _FACES):
        raise LaunchError(f"an array of shape {array.shape} is no {'layered ' if layered else ''}{kind} texture")
    fixed = int(layered) + (kind == "cube")  # axes that all levels have alike
    for n, level in enumerate(smaller, 1):
        wanted = [*shape[:fixed], *(max(1, size >> n) for size in shape[fixed:]), *((channels,) if channels > 1 else ())]
        if list(level.shape) != wanted or level.dtype != array.dtype:
            raise LaunchError(f"level {n} of a texture is {array.dtype}{wanted}, not {level.dtype}{list(level.shape)}")
    texels = np.concatenate([level.reshape(-1) for level in (array, *smaller)])
    buffer = module.buffer(texels, name="a texture")
    record = ffi.new("oric_sim_texture *")
    record.data = buffer.address
    for axis in range(3):
        record.size[axis] = shape[-1 - axis] if axis < rank else 1
    record.rank, record.layered, record.cube = rank, layered, kind == "cube"
    record.layers, record.levels = shape[0] if layered else 1, 1 + len(smaller)
    record.channels, record.bytes, record.kind = channels, array.dtype.itemsize, _KINDS[array.dtype.kind]
    _set_sampling(record, sampling, array.dtype)
    return Texture(module, buffer, array.shape, array.dtype, record)


def _set_sampling(record: Any, sampling: Sampling, dtype: np.dtype[Any]) -> None:
    modes = (sampling.address,) * 3 if isinstance(sampling.address, str) else tuple(sampling.address)
    for axis, mode in enumerate((*modes, "clamp", "clamp")[:3]):
        if mode not in ADDRESS_MODES:
            raise LaunchError(f"an address mode is one of {', '.join(ADDRESS_MODES)}, not {mode!r}")
        record.address[axis] = ADDRESS_MODES.index(mode)
    floats = dtype.kind == "f" or sampling.read_normalised
    if sampling.read_normalised and (dtype.kind == "f" or dtype.itemsize > 2):
        raise LaunchError(f"texels of type {dtype} cannot be read as normalised floats")
    if sampling.linear and not floats:
        raise LaunchError("linear filtering needs texels that are read as floats")
    record.linear, record.normalised, record.read_normalised = sampling.linear, sampling.normalised, sampling.read_normalised
    for channel, value in enumerate((*sampling.border, 0, 0, 0, 0)[:4]):
        packed = struct.pack("<f", value) if floats else int(value).to_bytes(4, "little", signed=value < 0)
        record.border[channel] = int.from_bytes(packed, "little")
