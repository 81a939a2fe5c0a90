"""Kernel arguments: scalars and structures as bytes of the parameter area, arrays as buffers of the device."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from .errors import LaunchError

if TYPE_CHECKING:
    from oric.support.elf import Param

_FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}
POINTER_BYTES: Final = 8
Array = np.ndarray[Any, Any]


class Address(Protocol):
    """Something that stands for an address of simulated memory."""

    address: int


class HostArrays:
    """The numpy arrays of a launch, grouped into blocks of host memory.

    Arrays that share memory (one passed twice, or a slice of another) lie in one block, so that the device sees
    them overlap as the host does. An array that is not C-contiguous is copied to and from a contiguous one.
    """

    def __init__(self, arrays: list[tuple[int, Array]]) -> None:
        self._spans: list[tuple[int, int]] = []  # host addresses of the blocks
        self._where: dict[int, tuple[int, int]] = {}  # argument -> block, offset
        self._copies: dict[int, Array] = {}
        self.arrays = dict(arrays)
        plain = []
        for index, array in arrays:
            if array.dtype.hasobject:
                raise LaunchError(f"argument {index}: an array of Python objects cannot be a device buffer")
            if not array.dtype.isnative:
                raise LaunchError(f"argument {index}: an array of foreign byte order cannot be a device buffer")
            if array.flags.c_contiguous:
                plain.append((array.ctypes.data, array.nbytes, index))
            else:
                self._copies[index] = np.ascontiguousarray(array)
        for start, size, index in sorted(plain):
            if self._spans and size and start < self._spans[-1][1]:
                low, high = self._spans[-1]
                self._spans[-1] = (low, max(high, start + size))
            else:
                self._spans.append((start, start + size))
            self._where[index] = (len(self._spans) - 1, start - self._spans[-1][0])
        self._check_copies()
        for index in self._copies:
            self._spans.append((0, self._copies[index].nbytes))
            self._where[index] = (len(self._spans) - 1, 0)
        self._renumber()

    def _renumber(self) -> None:
        """Let blocks come as their first arguments do: where the device has them does not depend on where the host does."""
        first: dict[int, int] = {}
        for index, (block, _) in sorted(self._where.items()):
            first.setdefault(block, index)
        order = sorted(first, key=lambda block: first[block])
        number = {block: n for n, block in enumerate(order)}
        self._spans = [self._spans[block] for block in order]
        self._where = {index: (number[block], offset) for index, (block, offset) in self._where.items()}

    def _check_copies(self) -> None:
        for index in self._copies:
            for other, array in self.arrays.items():
                if other != index and np.may_share_memory(self.arrays[index], array):
                    raise LaunchError(f"arguments {index} and {other} share memory and are not contiguous")

    def sizes(self) -> list[int]:
        """Bytes of each block."""
        return [high - low for low, high in self._spans]

    def place(self, index: int) -> tuple[int, int]:
        """Block of an argument, and its byte offset there."""
        return self._where[index]

    def name(self, block: int) -> str:
        """What a message calls a block."""
        return "argument " + " and ".join(str(i) for i, (b, _) in sorted(self._where.items()) if b == block)

    def fill(self, block: int) -> bytes:
        """The bytes that the host has for a block."""
        out = bytearray(self.sizes()[block])
        for index, (where, offset) in self._where.items():
            if where == block:
                data = self._copies.get(index, self.arrays[index]).tobytes()
                out[offset : offset + len(data)] = data
        return bytes(out)

    def take(self, block: int, data: bytes) -> None:
        """Put what the device has for a block back into the arrays.

        Raises:
            LaunchError: the kernel has changed an array that is not writeable.
        """
        for index, (where, offset) in self._where.items():
            if where != block:
                continue
            array = self.arrays[index]
            part = data[offset : offset + array.nbytes]
            if not array.flags.writeable:
                if part != self._copies.get(index, array).tobytes():
                    raise LaunchError(f"the kernel wrote to argument {index}, a read-only array")
                continue
            array[...] = np.frombuffer(part, dtype=array.dtype).reshape(array.shape)


def pack(index: int, param: Param, value: Any) -> bytes:
    """The bytes of a parameter that is no array.

    A ``float`` becomes a binary16, 32 or 64 by the parameter's size, an ``int`` (or ``bool``) an integer of that
    size, ``bytes`` a structure of exactly that size.

    Raises:
        LaunchError: the value does not fit the parameter.
    """
    if hasattr(value, "address"):
        value = int(value.address)
    if isinstance(value, np.generic):
        value = _from_numpy(value, param.size)
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        if len(data) != param.size:
            raise LaunchError(f"argument {index}: {len(data)} bytes given for a parameter of {param.size}")
        return data
    if isinstance(value, float):
        if param.size not in _FLOATS:
            raise LaunchError(f"argument {index}: a float given for a parameter of {param.size} bytes")
        try:
            return struct.pack(_FLOATS[param.size], value)
        except OverflowError:
            return struct.pack(_FLOATS[param.size], float("inf") if value > 0 else float("-inf"))
    if isinstance(value, int):
        bits = 8 * param.size
        if param.size > POINTER_BYTES or not -(1 << bits - 1) <= value < 1 << bits:
            raise LaunchError(f"argument {index}: {value} does not fit a parameter of {param.size} bytes")
        return (value & (1 << bits) - 1).to_bytes(param.size, "little")
    raise LaunchError(f"argument {index}: a {type(value).__name__} cannot be a kernel argument")


def _from_numpy(value: np.generic[Any], size: int) -> Any:
    """A numpy scalar as its own bytes when it has the parameter's size, else as the Python number."""
    if value.dtype.itemsize == size and not value.dtype.hasobject:
        return value.tobytes()
    return value.item()
