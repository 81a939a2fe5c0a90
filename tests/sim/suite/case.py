"""What a kernel of the suite is launched with and what it must write.

A file NAME.cu holds kernels, NAME.py one function for each, with the kernel's name:

    @kernel(since=80)
    def transpose(rng):
        x = rng.random((64, 32), np.float32)
        return Case(grid=(1, 2), block=(32, 8), args=[x, out(x.size, np.float32)], want={1: x.T})

`want` maps the index of an argument to what it must hold afterwards; every other array must be as it was. An array there must
be equal bit for bit (but for the kinds of NaN); `Close` says how far a result may be off, and the case's comment why.
"""

from __future__ import annotations

import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import oric.sim

HERE = Path(__file__).resolve().parent
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
Array = np.ndarray[Any, Any]
Shape = int | tuple[int, ...]
NAMED = {"float16", "bfloat16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


@dataclass
class Close:
    """A result that may be off by `ulp` units of its last place, or by `atol` plus `rtol` of its size."""

    value: Any
    ulp: float = 0
    rtol: float = 0
    atol: float = 0

    def wrong(self, got: Array) -> Array:
        """Which elements are further off."""
        want = np.asarray(self.value, np.float64).reshape(got.shape)
        with np.errstate(all="ignore"):
            info = ml_dtypes.finfo(got.dtype)
            size = np.maximum(np.abs(want), float(info.tiny))
            unit = np.exp2(np.floor(np.log2(size))) * float(info.eps)
            off = np.abs(got.astype(np.float64) - want)
            good = (off <= self.ulp * unit + self.rtol * np.abs(want) + self.atol) | (got == want.astype(got.dtype))
        return ~(good | (np.isnan(got) & np.isnan(want)))


@dataclass
class Tensor:
    """An array that the kernel reaches by a tensor map of it: tiles of `box`, or with `channels` columns of images."""

    array: Array
    options: dict[str, Any]

    def described(self, address: oric.sim.Buffer) -> bytes:
        """The argument; `address` has the elements."""
        dims, strides = self.array.shape[::-1], self.array.strides[-2::-1]
        make = oric.sim.tensor_map_im2col if "channels" in self.options else oric.sim.tensor_map
        name = self.array.dtype.name
        return make(name if name in NAMED else f"uint{8 * self.array.itemsize}", address, dims, strides, **self.options)


@dataclass
class Case:
    """One launch. `setup` and `check` see the module before and after it (module variables, for example); `printed` is what the
    device prints, `fault` the error that ends the launch and a pattern in its text, `free` arrays that may end as they like."""

    grid: Shape
    block: Shape
    args: list[Any]
    want: dict[int, Any]
    shared: int = 0
    stack: int = 0
    cluster: Shape | None = None
    cooperative: bool = False
    printed: str = ""
    fault: tuple[type[oric.sim.ExecutionError], str] | None = None
    setup: Callable[[oric.sim.Module], None] | None = None
    check: Callable[[oric.sim.Module], None] | None = None
    free: tuple[int, ...] = ()
    before: dict[int, Array] = field(init=False)

    def __post_init__(self) -> None:
        self.before = {i: a.copy() for i, a in self.arrays().items()}

    def arrays(self) -> dict[int, Array]:
        """The arguments that are memory."""
        found = {i: a.array if isinstance(a, Tensor) else a for i, a in enumerate(self.args)}
        return {i: a for i, a in found.items() if isinstance(a, np.ndarray)}

    def again(self) -> Case:
        """The same launch with memory as it was."""
        fresh = {i: a.copy() for i, a in self.before.items()}
        args = [replace(a, array=fresh[i]) if isinstance(a, Tensor) else fresh.get(i, a) for i, a in enumerate(self.args)]
        return replace(self, args=args)

    def launch(self, module: oric.sim.Module, kernel: str, modes: oric.sim.Modes) -> oric.sim.Statistics:
        """Launch the kernel; what it wrote is in the arrays then."""
        if self.setup:
            self.setup(module)
        behind = {i: module.buffer(a.array, name=f"tensor {i}") for i, a in enumerate(self.args) if isinstance(a, Tensor)}
        args = [self.args[i].described(behind[i]) if i in behind else a for i, a in enumerate(self.args)]
        more = {"cooperative": self.cooperative} | ({} if self.cluster is None else {"cluster": self.cluster})
        keywords = {"modes": modes, "shared_bytes": self.shared, "stack_bytes": self.stack, **more}
        done = module.launch(kernel, self.grid, self.block, args, **keywords)
        for i, buffer in behind.items():
            array = self.args[i].array
            array[...] = np.frombuffer(buffer.read(), array.dtype).reshape(array.shape)
            buffer.free()
        return done

    def judge(self, module: oric.sim.Module) -> None:
        """Fail at the first wrong element of an array."""
        now = self.arrays()
        for index, was in self.before.items():
            got, want = now[index], self.want.get(index, was)
            if index in self.free:
                continue
            if isinstance(want, Close):
                wrong, value = want.wrong(got), np.asarray(want.value)
            else:
                value = np.asarray(want).astype(got.dtype).reshape(got.shape)
                wrong = got != value
                if got.dtype.kind == "f":
                    wrong &= ~(np.isnan(got) & np.isnan(value))
            places = np.flatnonzero(wrong)
            if places.size:
                at = places[0]
                raise AssertionError(
                    f"argument {index}: {places.size} of {got.size} wrong, first [{at}] is {got.ravel()[at]!r}, "
                    f"not {value.ravel()[at]!r}; at {places[:8].tolist()}"
                )
        if self.check:
            self.check(module)


@dataclass(frozen=True)
class Entry:
    """A kernel of the suite: the file that has it, the targets, what makes its launch."""

    source: str
    name: str
    targets: tuple[str, ...]
    build: Callable[[Any], Case]

    def case(self) -> Case:
        """The launch; the same on every call."""
        made = first_case(self)
        if made.setup or made.check:  # these may hold on to the arrays of their case
            return self.build(self._random())
        return made.again()

    def _random(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(self.name.encode()))


@cache
def first_case(entry: Entry) -> Case:
    """The launch as it is built first: exact references take their time."""
    return entry.build(entry._random())


ENTRIES: dict[str, Entry] = {}


def kernel(since: int = 75, only: tuple[str, ...] = TARGETS) -> Callable[[Callable[[Any], Case]], Callable[[Any], Case]]:
    """Register the launch of the kernel that has the function's name.

    Args:
        since: the lowest SM number that has it.
        only: the targets that may have it.
    """

    def register(build: Callable[[Any], Case]) -> Callable[[Any], Case]:
        targets = tuple(t for t in only if int(t[3:].rstrip("a")) >= since)
        source = sys.modules[build.__module__].__name__.rsplit(".", 1)[-1]
        ENTRIES[build.__name__] = Entry(source, build.__name__, targets, build)
        return build

    return register


def out(shape: Any, dtype: Any) -> Array:
    """A buffer for results, filled with a pattern that no kernel writes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.full(size, 0xA5, np.uint8).view(dtype).reshape(shape)


@cache
def module(source: str, target: str, level: str = "") -> oric.sim.Module:
    """A cubin of the suite (of a level of ptxas other than the highest); loaded once, so kernels that change module variables
    set them first."""
    return oric.sim.load(lzma.decompress(cubin_path(source, target, level).read_bytes()))


def cubin_path(source: str, target: str, level: str = "") -> Path:
    """Where the cubin of a source lies."""
    return HERE / "cubins" / f"{source}.{target}{'.' * bool(level)}{level}.cubin.xz"


def s32(value: Any) -> Array:
    """Whole numbers of any size as the 32 bits of an int."""
    return (np.asarray(value, object) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def words(value: Any) -> Array:
    """Whole numbers of any size as 32 bits."""
    return (np.asarray(value, object) & 0xFFFFFFFF).astype(np.uint32)


def longs(value: Any) -> Array:
    """Whole numbers of any size as 64 bits."""
    return (np.asarray(value, object) & 0xFFFFFFFFFFFFFFFF).astype(np.uint64)
