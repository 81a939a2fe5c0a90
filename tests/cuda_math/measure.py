"""Every function of a group as nvcc compiles it to PTX, made into code by us and by ptxas, run on the same operands."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import oric
from numpy.typing import NDArray

from tests.corpus.compile import ToolError, ptx_of
from tests.ptx_text import kernels

from .functions import Function, functions
from .operands import operands, results
from .source import source

BLOCK = 128


@dataclass(frozen=True)
class Outcome:
    """``problem``: "" when every result has the same bits; ``nans``: doubles of which both are NaNs, but not the same one."""

    function: Function
    target: str
    problem: str
    nans: int = 0


def modules(chosen: Sequence[Function], target: str) -> dict[str, str]:
    """Kernel -> a PTX module that has it and what it calls.

    Raises:
        ToolError: nvcc is missing, or refuses a function.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "functions.cu"
        path.write_text(source(chosen))
        text = ptx_of(path, target)
    return kernels(text)


def vendor_code(text: str, target: str) -> bytes:
    """ptxas's cubin.

    Raises:
        ToolError: ptxas refuses the module.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "m.ptx", Path(folder) / "m.cubin"
        path.write_text(text)
        done = subprocess.run(["ptxas", "-O3", "-arch", target, path, "-o", output], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(done.stderr)
        return output.read_bytes()


def run(image: bytes, function: Function, count: int) -> NDArray[Any]:
    """The bytes of the results of ``count`` operands."""
    got = results(function, count)
    oric.sim.load(image).launch(function.name, count // BLOCK, BLOCK, [got, *operands(function, count)])
    return got


def with_the_same_nans(function: Function, got: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """The bytes of ours, with ptxas's NaN where both are one: PTX does not say which of two NaN operands of doubles is kept."""
    if function.result != "d":
        return got
    ours, theirs = got.view(np.float64), expected.view(np.float64)
    return np.where(np.isnan(ours) & np.isnan(theirs), theirs, ours).view(np.uint8)


def difference(function: Function, got: NDArray[Any], expected: NDArray[Any], count: int) -> str:
    """Which results differ: how many, and the operands and results of the first."""
    rows, wanted = (a.reshape(count, -1) for a in (got, expected))
    wrong = np.flatnonzero((rows != wanted).any(1))
    if not len(wrong):
        return ""
    first = int(wrong[0])
    columns = [a.view(np.uint8).reshape(count, -1)[first] for a in operands(function, count)]
    given = ", ".join("0x" + bytes(c[::-1]).hex() for c in columns)
    ours, theirs = (bytes(a[first][::-1]).hex() for a in (rows, wanted))
    return f"{len(wrong)} of {count} differ; ({given}): ours 0x{ours}, ptxas 0x{theirs}"


def exists(function: Function, target: str) -> bool:
    """CUDA's headers have products and sums in one of bfloat16 from sm_80 on."""
    return target != "sm_75" or function.group != "bfloat" or len(function.arguments) < 3


def measure(group: str, target: str, count: int, names: Sequence[str] = ()) -> Iterator[Outcome]:
    """The outcome for each function of a group (for those named); ``count``: operands, a multiple of :data:`BLOCK`."""
    chosen = [f for f in functions(group) if exists(f, target) and (not names or f.name in names)]
    texts = modules(chosen, target) if chosen else {}
    for function in chosen:
        text = texts[function.name]
        try:
            image = oric.compile(text, arch=target).image
        except oric.CompileError as error:
            yield Outcome(function, target, str(error).splitlines()[0])
            continue
        theirs = run(vendor_code(text, target), function, count)
        try:
            ours = run(image, function, count)
        except oric.sim.ExecutionError as error:
            yield Outcome(function, target, str(error))
            continue
        same = with_the_same_nans(function, ours, theirs)
        nans = int((same.reshape(count, -1) != ours.reshape(count, -1)).any(1).sum())
        yield Outcome(function, target, difference(function, same, theirs, count), nans)
