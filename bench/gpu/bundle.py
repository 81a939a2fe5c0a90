#!/usr/bin/env python3
"""Writes the GPU bundle and, where a GPU is present, runs it: `make gpu`.

    python bench/gpu/bundle.py [--output FOLDER] [--no-run]

The bundle is a folder (and the same as a zip file) that needs nothing of this project: for every kernel file of
tests/kernels and every target the cubins that oric and ptxas make of the same PTX, the inputs and expected outputs of the
launches, and runner.py, which needs numpy and cuda-bindings only. Where ptxas 13 is not on PATH its stored cubins are used.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / part) for part in ("runtime", "generator", "build"))]

import oric  # noqa: E402
import oric.sim  # noqa: E402
from oric.support.elf import Cubin, read  # noqa: E402

from tests.kernels import cases  # noqa: E402
from tests.kernels.cases import Case  # noqa: E402
from tests.sim import clock_pairs, vendor_cubins  # noqa: E402

MAKERS = ("oric", "ptxas")
PTXAS_RELEASE = "V13.0"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip entry: the same files give the same bytes

# Sums are longer in the large launches than in the small ones, and so are their rounding errors.
LARGE_TOLERANCE = 8

# Launches large enough that their time says something about the code; the function in cases.py and its arguments.
TIMED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "saxpy": ("saxpy", (1 << 18, 256)),
    "vecadd_f64": ("vecadd_f64", (1 << 17, 512, 256)),
    "reduction": ("reduce_sum", (1 << 18, 256, 256)),
    "transpose": ("transpose", (512, 512)),
    "sgemm": ("sgemm", (256, 256, 256)),
    "histogram": ("histogram", (1 << 18, 256, 256)),
    "collatz": ("collatz", (4096, 128)),
    "divrem": ("divrem", ("s64", 4096)),
    "softmax": ("softmax", ("softmax", 512, 512)),
    "struct_param": ("struct_param", (1 << 16, 1, 0)),
    "vector128": ("vec_float4", (1 << 16,)),
    "bits": ("bits32", (4096,)),
    "tables": ("tables", (1 << 16,)),
    "switch": ("interpret", (4096, 200)),
    "half2": ("fma_f16x2", (1 << 16,)),
    "jump_table": ("jump_table", (4096,)),
}


def ptxas_cubin(file: str, target: str) -> bytes:
    """What ptxas 13 makes of a kernel file's PTX: made now when it is on PATH, else the stored one."""
    path = shutil.which("ptxas")
    if path is not None:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        if PTXAS_RELEASE in version:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "in.ptx").write_text(cases.ptx(file, target))
                subprocess.run([path, "-O3", "-arch", target, "in.ptx", "-o", "out.cubin"], cwd=folder, check=True)
                return Path(folder, "out.cubin").read_bytes()
    return cases.golden_cubin(file, target)


def large_case(file: str) -> Case | None:
    """The case whose launch is timed, None when the kernel file has none."""
    if file not in TIMED:
        return None
    name, shape = TIMED[file]
    function = getattr(cases, name)
    label = "-".join([name, *map(str, shape)])

    def steps(rng: np.random.Generator) -> Iterator[cases.Step]:
        for step in function(rng, *shape):
            step.rtol *= LARGE_TOLERANCE
            step.atol *= LARGE_TOLERANCE
            yield step

    return Case(file, label, steps)


def scalar_bytes(value: Any, size: int) -> bytes:
    """A scalar argument as the kernel reads it; ``size`` comes from the cubin's parameter table."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).ljust(size, b"\0")
    if isinstance(value, (float, np.floating)):
        return struct.pack("<f" if size == 4 else "<d", value)
    return (int(value) % (1 << 8 * size)).to_bytes(size, "little")


def describe_step(step: cases.Step, number: int, cubin: Cubin, arrays: dict[str, Any]) -> dict[str, Any]:
    """One launch as plain data; its arrays are added to ``arrays``."""
    params = cubin.kernels[step.kernel].params
    arguments: list[dict[str, str]] = []
    for index, value in enumerate(step.args):
        if isinstance(value, np.ndarray):
            arrays[f"step{number}_in{index}"] = value
            arguments.append({"buffer": f"step{number}_in{index}"})
        else:
            arguments.append({"bytes": scalar_bytes(value, params[index].size).hex()})
    expected = {}
    for index, want in step.expected.items():
        arrays[f"step{number}_want{index}"] = want
        expected[str(index)] = f"step{number}_want{index}"
    return {
        "kernel": step.kernel, "grid": step.grid, "block": step.block, "args": arguments, "expected": expected,
        "rtol": step.rtol, "atol": step.atol,
    }  # fmt: skip


def write_case(case: Case, cubin: Cubin, folder: Path) -> dict[str, Any]:
    """Write the arrays of a case; returns its description."""
    arrays: dict[str, Any] = {}
    steps = [describe_step(step, number, cubin, arrays) for number, step in enumerate(case.build())]
    name = f"data/{case.id}.npz"
    (folder / "data").mkdir(exist_ok=True)
    np.savez_compressed(folder / name, **arrays)
    return {"name": case.name, "data": name, "steps": steps}


def write_file(file: str, folder: Path, large: bool) -> tuple[dict[str, Any], list[str]]:
    """Write the cubins and cases of one kernel file; returns its description and what oric could not compile."""
    problems = []
    cubins: dict[str, dict[str, str]] = {}
    for target in cases.TARGETS:
        made = {"ptxas": ptxas_cubin(file, target)}
        try:
            made["oric"] = oric.compile(cases.ptx(file, target), arch=target, filename=f"{file}.ptx").image
        except Exception as error:  # an internal error too is a kernel that the report must name
            problems.append(f"{file} for {target}: {type(error).__name__}: {str(error).splitlines()[0]}")
        cubins[target] = {}
        for maker, image in sorted(made.items()):
            name = f"cubins/{file}.{target}.{maker}.cubin"
            (folder / "cubins").mkdir(exist_ok=True)
            (folder / name).write_bytes(image)
            cubins[target][maker] = name
    table = read((folder / cubins[cases.TARGETS[-1]]["ptxas"]).read_bytes())
    listed = [c for c in cases.CASES if c.file == file]
    timed = large_case(file) if large else None
    if timed is not None:
        listed.append(timed)
    described = [write_case(c, table, folder) for c in listed]
    return {"name": file, "cubins": cubins, "cases": described, "timed": len(described) - 1}, problems


def write_pairs(folder: Path, names: list[str] | None = None) -> None:
    """Add the pairs of kernels that the simulator's clock ranks, with the cycles that it says; the runner times them."""
    target, count = "sm_90", 16 * clock_pairs.N
    image = vendor_cubins.cubin("clock", target)
    x = (np.arange(count) % 1024 / 1024).astype(np.float32)
    (folder / "cubins").mkdir(exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    (folder / f"cubins/clock.{target}.cubin").write_bytes(image)
    np.savez_compressed(folder / "data/clock.npz", x=x, y=np.zeros(count, np.float32))
    module = oric.sim.load(image)
    memory = [module.buffer(x), module.buffer(4 * count)]
    described = []
    for name in names or clock_pairs.PAIRS:
        launches = []
        for launch in clock_pairs.PAIRS[name]:
            kernel, size = launch[0], clock_pairs.size(launch)
            grid, block = ([*((v,) if isinstance(v, int) else v), 1, 1][:3] for v in launch[1:3])
            done = module.launch(kernel, tuple(grid), tuple(block), [*memory, size], launch[3], modes=oric.sim.Modes(timing=True))
            arguments = [{"buffer": "x"}, {"buffer": "y"}, {"bytes": scalar_bytes(size, 4).hex()}]
            launches.append({
                "kernel": kernel, "grid": grid, "block": block, "shared": launch[3], "args": arguments,
                "cycles": done.timing.cycles if done.timing else None,
            })  # fmt: skip
        described.append({"name": name, "launches": launches})
    document = {"target": target, "cubin": f"cubins/clock.{target}.cubin", "data": "data/clock.npz", "pairs": described}
    (folder / "pairs.json").write_text(json.dumps(document, indent=1) + "\n")


def write_bundle(folder: Path, files: list[str] | None = None, large: bool = True) -> list[str]:
    """Write the bundle into an empty ``folder``; returns what oric could not compile.

    ``large`` adds the launches that are worth timing; without them the last small one of each kernel file is timed.
    """
    problems: list[str] = []
    described = []
    for file in files or cases.files():
        entry, found = write_file(file, folder, large)
        described.append(entry)
        problems += found
    document = {"version": 1, "targets": list(cases.TARGETS), "makers": list(MAKERS), "files": described}
    (folder / "bundle.json").write_text(json.dumps(document, indent=1) + "\n")
    shutil.copyfile(HERE / "runner.py", folder / "runner.py")
    if large:
        write_pairs(folder)
    return problems


def write_zip(folder: Path, path: Path) -> None:
    """Pack the folder; entries are sorted and carry no time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(f"oric-gpu/{file.relative_to(folder)}", EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def main(argv: list[str]) -> int:
    """Write the bundle and run it; the exit status is 1 when a kernel does not compile or its results are wrong."""
    parser = argparse.ArgumentParser(description="Write the GPU bundle and run it where a GPU is present.")
    parser.add_argument("--output", type=Path, default=ROOT / "out" / "gpu", help="folder to write (it is replaced)")
    parser.add_argument("--no-run", action="store_true", help="write the bundle only")
    parser.add_argument("kernels", nargs="*", help="kernel files (default: all)")
    args = parser.parse_args(argv)
    unknown = [name for name in args.kernels if name not in cases.files()]
    if unknown:
        parser.error(f"no kernel file '{unknown[0]}' in tests/kernels")
    folder: Path = args.output
    if folder.exists():
        if not (folder / "bundle.json").is_file() and any(folder.iterdir()):
            parser.error(f"{folder} exists and is no bundle")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    problems = write_bundle(folder, args.kernels or None)
    for problem in problems:
        print(f"not compiled: {problem}", file=sys.stderr)
    archive = folder.with_suffix(".zip")
    write_zip(folder, archive)
    print(f"wrote {folder} and {archive} ({archive.stat().st_size >> 10} KiB): run runner.py of it on a machine with a GPU")
    sys.stdout.flush()
    status = 0 if args.no_run else subprocess.run([sys.executable, str(folder / "runner.py")], check=False).returncode
    return 1 if problems else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
