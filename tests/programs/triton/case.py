"""The instances: NAME.py in this folder registers launches, ``kernels/NAME.py`` holds the kernels' sources in Triton.

    register("softmax_f32", "rows.softmax", "*fp32 *fp32 i32 i32", launch, BLOCK=1024)

An instance is a kernel with types and constants; its PTX for each target is stored (:mod:`tests.programs.triton.stored`), with
what a launch has to know of it: warps, shared memory, CTAs of a cluster, scratch memory, the form of its tensor maps.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.sim.suite.case import Array, Case, Close, Shape, Tensor, out

__all__ = ("ALL", "Array", "Close", "Described", "Instance", "Launch", "case", "instances", "out", "register")

HERE = Path(__file__).resolve().parent
ALL = (80, 89, 90, 100, 120)
_INSTANCES: dict[str, Instance] = {}
_NOT_LAUNCHES = ("__init__", "__main__", "case", "compare", "make", "measure", "stored")
_SWIZZLES = ("none", "32B", "64B", "128B")


@dataclass
class Described:
    """An array that the kernel has a tensor descriptor of, made on the host."""

    array: Array
    fill: str = "zero"


@dataclass
class Launch:
    """A launch, in blocks of the kernel: `args` without constants, `want` as in `Case` by their index."""

    grid: Shape
    args: list[Any]
    want: dict[int, Any]
    free: tuple[int, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)  # other fields of the case


@dataclass(frozen=True)
class Instance:
    """`kernel`: FILE.FUNCTION; `types` of the arguments, in Triton's words; `aligned`: the multiples of 16 among them."""

    name: str
    kernel: str
    types: tuple[str, ...]
    build: Callable[[np.random.Generator], Launch]
    targets: tuple[int, ...]
    aligned: tuple[str, ...]
    options: dict[str, Any]
    constants: dict[str, Any]


def register(
    name: str,
    kernel: str,
    types: str,
    build: Callable[[np.random.Generator], Launch],
    targets: Sequence[int] = ALL,
    aligned: str = "",
    options: dict[str, Any] | None = None,
    **constants: Any,
) -> None:
    """Add an instance; a constant "tl.NAME" is a type of Triton's."""
    assert name not in _INSTANCES, name
    made = Instance(name, kernel, tuple(types.split()), build, tuple(targets), tuple(aligned.split()), options or {}, constants)
    _INSTANCES[name] = made


@cache
def instances() -> dict[str, Instance]:
    """All of them by name."""
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in _NOT_LAUNCHES and not path.stem.startswith("test_"):
            import_module(f"tests.programs.triton.{path.stem}")
    return _INSTANCES


def case(name: str, facts: dict[str, Any]) -> Case:
    """The launch of an instance, with memory as it is before; `facts`: what is stored of its code."""
    launch = instances()[name].build(np.random.default_rng(zlib.crc32(name.encode())))
    grid = (launch.grid,) if isinstance(launch.grid, int) else launch.grid
    args: list[Any] = []
    want, free = {}, []
    maps = iter(facts["tensors"])
    for index, value in enumerate(launch.args):
        if index in launch.want:
            want[len(args)] = launch.want[index]
        if index in launch.free:
            free.append(len(args))
        args += _described(value, next(maps, None)) if isinstance(value, Described) else [value]
    scratch = facts["scratch"] * int(np.prod(grid)) * facts["ctas"]
    free.append(len(args))
    args += [np.zeros(scratch, np.uint8) if scratch else 0, 0]
    made = Case(
        grid=(grid[0] * facts["ctas"], *grid[1:]),
        block=32 * facts["warps"],
        args=args,
        want=want,
        shared=facts["shared"],
        cluster=facts["ctas"] if facts["ctas"] > 1 else None,
        free=tuple(free),
    )
    for key, value in launch.more.items():
        setattr(made, key, value)
    return made


def _described(value: Described, tensor: dict[str, Any] | None) -> list[Any]:
    """What the host passes for a descriptor: the map and the sizes, or without TMA the address and the sizes twice."""
    array = value.array
    sizes = [*array.shape, *(s // array.itemsize for s in array.strides)]
    if tensor is None:
        return [array, *sizes, value.fill == "nan", *sizes]
    options = {"box": tensor["block_size"][::-1], "swizzle": _SWIZZLES[tensor["swizzle"]], "fill": value.fill}
    return [Tensor(array, options), *sizes]
