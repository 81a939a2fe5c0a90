#!/usr/bin/env python3
"""Damaged cubins in the simulator: a result or one of its errors, nothing else.

    python -m tests.fuzz_sim [--count N] [--seed S] [--jobs J] [--seconds T]

Each input is a cubin of the tests in which bits of the code, whole instructions, operand fields, or bytes of the container are
changed, in one kernel above all. It is loaded, and that kernel runs with a limit of steps, with the suite's arguments or with
buffers, tensor maps and textures, in a mode drawn at random: fast with one or more host threads, strict, with the memory
checker, with both, perturbed, with the clock. `make sanitize` runs 100,000 of them with AddressSanitizer and
UndefinedBehaviorSanitizer. An input that ends in another exception is kept in a file; the number and the seed say which it was.
"""

from __future__ import annotations

import lzma
import random
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import oric.sim
from oric.sim import Modes
from oric.support import elf

from tests import fuzz, fuzz_run
from tests.sim.suite.case import ENTRIES, Entry, Tensor
from tests.sim.suite.case import HERE as SUITE

HERE = Path(__file__).parent
FOLDERS = (HERE / "sim", HERE / "kernels")
TENSOR_MAP = 128
LARGE = 100_000  # bytes: from here on reading takes longer than running, so that these are drawn less often
FILES = 12  # of a chunk
STEPS = 1500
FIRST = 100  # instructions of a kernel that are damaged rather than later ones: those that the steps are enough for
BLOCKS = (1, 5, 32, 32, 33, 64, 64, (8, 4, 3), 128, 128)
GRIDS = (1, 1, 1, 2, 3, (2, 2, 1))
BUFFER = 65_536
MODES = (
    Modes(workers=1),
    Modes(workers=1),
    Modes(workers=3),
    Modes(strict=True),
    Modes(memcheck=True),
    Modes(strict=True, memcheck=True),
    Modes(perturb=7, workers=1),
    Modes(timing=True),
)
Ranges = dict[str, list[tuple[int, int]]]
Seed = tuple[str, bytes, Ranges, list[tuple[int, int]]]  # where it is from, its bytes, places of code by kernel, of data
FORMAT = b"%%%%diuxXcsfeEgGaApn*.-+ #0123456789lhjzt\0"


@cache
def seeds() -> tuple[Path, ...]:
    """The cubins of the tests."""
    return tuple(sorted(path for folder in FOLDERS for path in folder.rglob("*.cubin*")))


@cache
def launches() -> dict[str, Entry]:
    """What the kernels of the suite are launched with."""
    for source in sorted(SUITE.glob("*.cu")):
        import_module(f"tests.sim.suite.{source.stem}")
    return ENTRIES


def read_seed(path: Path) -> bytes:
    """A cubin's bytes."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def draw_files(rng: random.Random) -> list[Seed]:
    """Some cubins."""
    out = []
    while len(out) < FILES:
        path = rng.choice(seeds())
        data = read_seed(path)
        if len(data) < LARGE or rng.random() < 0.4:
            out.append((path.parts[-2], data, code_ranges(data), data_ranges(data)))
    return out


def code_ranges(data: bytes) -> Ranges:
    """Where in a file the code of each kernel lies: its start, then all of it and the functions that are no kernels."""
    cubin = elf.read(data)
    places = {name: (cubin.sections[f.section].offset, len(f.text)) for name, f in cubin.functions.items() if f.text}
    functions = [place for name, place in places.items() if name not in cubin.kernels]
    return {
        name: [(places[name][0], min(places[name][1], 16 * FIRST))] * 2 + [places[name], *functions]
        for name in cubin.kernels
        if name in places
    }


def data_ranges(data: bytes) -> list[tuple[int, int]]:
    """Where in a file the initial values of variables and constants lie, texts of printf among them."""
    sections = [s for s in elf.read(data).sections if s.data and s.name.startswith((".nv.global.init", ".nv.constant"))]
    return [(s.offset, len(s.data)) for s in sections]


def damage_data(rng: random.Random, data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Other values of variables and constants: bytes that mean something in formats, words, anything."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 2, 4, 16))):
        offset, size = rng.choice(ranges)
        at = offset + rng.randrange(size)
        kind = rng.randrange(3)
        if kind == 0:
            out[at] = rng.choice(FORMAT)
        elif kind == 1:
            new = rng.choice(fuzz.INTERESTING).to_bytes(4, "little")[: offset + size - at]
            out[at : at + len(new)] = new
        else:
            out[at] = rng.randrange(256)
    return bytes(out)


def damage_code(rng: random.Random, data: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """Other instructions: bits, bytes, words of the code are changed, exchanged or made up."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 8, 40))):
        offset, size = rng.choice(ranges)
        word = offset + rng.randrange(max(size // 16, 1)) * 16
        kind = rng.randrange(6)
        if kind < 2:
            bit = rng.randrange(128)
            out[word + bit // 8] ^= 1 << bit % 8
        elif kind == 2:
            out[word + rng.randrange(16)] = rng.choice((0, 1, 7, 8, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)))
        elif kind == 3:
            other, length = rng.choice(ranges)
            source = other + rng.randrange(max(length // 16, 1)) * 16
            out[word : word + 16] = out[source : source + 16]
        elif kind == 4:
            out[word + 4 : word + 8] = rng.randbytes(4)
        else:
            out[word : word + 16] = bytes((rng.randrange(256), rng.randrange(16) | out[word + 1] & 0xF0)) + rng.randbytes(14)
    return bytes(out[: len(data)])


def contents(rng: random.Random) -> bytes:
    """Bytes for a buffer: zeros, small numbers, floats, anything."""
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(BUFFER)
    if kind == 1:
        return np.arange(BUFFER // 4, dtype=np.uint32).tobytes()
    if kind == 2:
        return np.linspace(-4, 4, BUFFER // 4, dtype=np.float32).tobytes()
    return rng.randbytes(BUFFER)


def structure(rng: random.Random, module: oric.sim.Module, size: int) -> bytes:
    """A parameter by value: a tensor map where it has the size of one, small numbers, or anything."""
    if size == TENSOR_MAP and rng.random() < 0.9:
        rank = rng.randrange(1, 6)
        dims, box = [64, 16, 4, 2, 2][:rank], [32, 8, 2, 1, 1][:rank]
        strides = [128, 2048, 8192, 16384][: rank - 1]
        return oric.sim.tensor_map(np.float16, module.buffer(contents(rng)), dims=dims, strides=strides, box=box)
    if rng.random() < 0.7:
        return b"".join(rng.choice((0, 0, 1, 3, 16, 64)).to_bytes(4, "little") for _ in range(-(-size // 4)))[:size]
    return rng.randbytes(size)


def handle(rng: random.Random, module: oric.sim.Module) -> int:
    """A texture or a surface."""
    kind, axes = rng.choice((("1d", 1), ("2d", 2), ("3d", 3)))
    layered, channels = rng.random() < 0.3, rng.choice((1, 2, 4))
    shape = [8] * (axes + layered) + ([channels] if channels > 1 else [])
    texels = np.ones(shape, rng.choice((np.float32, np.uint8, np.int16, np.uint32)))
    make = rng.choice((module.texture, module.surface))
    return make(texels, kind, layered=layered, channels=channels).address


def arguments(rng: random.Random, module: oric.sim.Module, kernel: elf.Function) -> list[Any]:
    """Something for each parameter: mostly addresses of a buffer for 8 bytes, small numbers for 4."""
    out: list[Any] = []
    for param in sorted(kernel.params, key=lambda p: p.ordinal):
        if param.size == 8 and rng.random() < 0.9:
            texture = rng.random() < (0.7 if ("tex" in kernel.name or "surf" in kernel.name) else 0.02)
            offset = rng.choice((0, 0, 0, 0, 0, 8, BUFFER - 96))
            out.append(handle(rng, module) if texture else module.buffer(contents(rng)).address + offset)
        elif param.size in {1, 2, 4, 8}:
            out.append(rng.choice((0, 1, 3, 16, 32, 64, 128)) & (1 << 8 * param.size - 1) - 1)
        else:
            out.append(structure(rng, module, min(param.size, 4096)))
    return out


def frame(rng: random.Random, module: oric.sim.Module, kernel: elf.Function, folder: str) -> dict[str, Any]:
    """Grid, block and arguments: those of the suite for its kernels, else drawn."""
    if folder == "cubins" and kernel.name in launches() and rng.random() < 0.8:
        case = launches()[kernel.name].case()
        return {
            "grid": case.grid,
            "block": case.block,
            "cluster": case.cluster,
            "args": [a.described(module.buffer(a.array)) if isinstance(a, Tensor) else a for a in case.args],
            "shared_bytes": case.shared if rng.random() < 0.9 else 0,
            "stack_bytes": case.stack,
        }
    shapes = (None, None, None, 2, 3, 4) if kernel.cluster is None else (kernel.cluster,)
    cluster = rng.choice(shapes) if module.image.target.clusters else None
    block: Any = rng.choice(BLOCKS) if kernel.required_threads is None else kernel.required_threads
    return {
        "grid": rng.choice(GRIDS) if cluster is None else 2 * cluster if isinstance(cluster, int) else cluster,
        "block": block,
        "cluster": cluster,
        "args": arguments(rng, module, kernel),
        "shared_bytes": rng.choice((0, 64, 4096, 16384, 40000)),
    }


def run_input(rng: random.Random, data: bytes, kernel: str, folder: str) -> str:
    """Load a cubin and launch one of its kernels; returns what came of it."""
    try:
        module = oric.sim.load(data)
        kernels = module.image.cubin.kernels
        if not kernels:
            return "no kernel"
        name = kernel if kernel in kernels else rng.choice(sorted(kernels))
        module.launch(
            name,
            max_steps=rng.choice((10, STEPS, STEPS, 4 * STEPS)),
            modes=rng.choice(MODES),
            max_seconds=20.0,
            **frame(rng, module, kernels[name], folder),
        )
    except oric.sim.SimError as error:
        str(error)
        return type(error).__name__
    return "to the end"


def step(rng: random.Random, files: list[Seed], tried: fuzz_run.Input) -> str:
    """One input."""
    folder, data, ranges, values = rng.choice(files)
    kernel = rng.choice(sorted(ranges))
    what = rng.random()
    if what < 0.08 and values:
        tried.data = damage_data(rng, data, values)
    else:
        tried.data = damage_code(rng, data, ranges[kernel]) if what < 0.85 else fuzz.damage(rng, data)
    return run_input(rng, tried.data, kernel, folder)


FUZZER = fuzz_run.Fuzzer(draw_files, step, ".cubin", chunk=100, said=20_000, count=100_000)


if __name__ == "__main__":
    sys.exit(fuzz_run.main(FUZZER, __doc__, sys.argv[1:]))
