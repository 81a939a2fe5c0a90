"""What nvcc makes of the CUDA sources of this repository and of new ones that use CUB, Thrust and libcu++."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import cuda_ptx

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
INCLUDES = Path("/usr/local/cuda/include/cccl")
OLD = tuple(
    f"tests/{name}" for name in ("corpus/sources", "kernels", "ptx/accept", "sim", "sim/suite", "sim/planted", "sim/vendor")
)
# Sources of this folder and how each is compiled: name of the module -> architecture and further options.
TYPES = ("int", "float", "double")
COMMON = ["-extended-lambda", "-std=c++17", "-w"]


@dataclass(frozen=True)
class Job:
    """One module: its name, its source, nvcc's options."""

    name: str
    source: Path
    options: tuple[str, ...]


def jobs() -> Iterator[Job]:
    """Everything that is compiled."""
    for folder in OLD:
        for path in sorted((TESTS.parent / folder).glob("*.cu")):
            yield from _repository(path)
    for arch in ("75", "80", "90", "100"):
        for name in ("cub_block", "groups", "libcuxx", "texture_surface", "small_floats", "matrices", "language_wide"):
            yield _job(name, arch)
        yield _job("mathematics", arch, "-DREAL=float")
    yield _job("mathematics", "90", "-DREAL=double", suffix="double")
    yield _job("mathematics", "90", "-DREAL=float", "-use_fast_math", suffix="fast")
    for part in range(8):
        yield _job("cub_device", "80" if part % 2 else "90", f"-DPART={part}", f"-DTYPE={TYPES[part % 3]}", suffix=str(part))
    for part in range(5):
        yield _job("thrust_algorithms", "90" if part % 2 else "80", f"-DPART={part}", suffix=str(part))
    for arch in ("80", "90"):
        for name in ("groups", "libcuxx", "language_wide", "small_floats"):
            yield _job(name, arch, "-G", suffix="G")
            yield _job(name, arch, "-lineinfo", suffix="lineinfo")
        yield _job("separate", arch, "-rdc=true", "-DLAUNCH", suffix="rdc")
        yield _job("separate", arch, "-rdc=true", "-G", "-DLAUNCH", suffix="rdc.G")
        yield _job("groups", arch, "-rdc=true", suffix="rdc")
        yield _job("language_wide", arch, "-rdc=true", suffix="rdc")
        yield _job("cub_block", arch, "-lineinfo", suffix="lineinfo")


def _repository(path: Path) -> Iterator[Job]:
    where = path.parent.name
    include = f"-I{TESTS}/sim/suite"
    yield Job(f"{where}.{path.stem}.sm_90a.ptx", path, ("-arch=sm_90a", include))
    yield Job(f"{where}.{path.stem}.sm_100a.ptx", path, ("-arch=sm_100a", include))
    if where in ("kernels", "sources"):
        yield Job(f"{where}.{path.stem}.sm_75.G.ptx", path, ("-arch=sm_75", "-G", include))
        yield Job(f"{where}.{path.stem}.sm_80.lineinfo.ptx", path, ("-arch=sm_80", "-lineinfo", include))


def _job(stem: str, arch: str, *options: str, suffix: str = "") -> Job:
    name = ".".join(part for part in (stem, f"sm_{arch}", suffix, "ptx") if part)
    return Job(name, HERE / "cuda" / f"{stem}.cu", (f"-arch=sm_{arch}", *options))


def build(folder: Path) -> dict[str, str]:
    """Compile everything; modules that nvcc or ptxas refuses are named on standard error and left out."""
    todo = list(jobs())
    for arch, parts in (("80", 1), ("90", 2), ("90a", 2), ("100a", 4)):
        for part in range(parts):
            path = folder / f"cuda_ptx_{part}.{arch}.cu"
            path.write_text(cuda_ptx.source(INCLUDES / "cuda/__ptx/instructions/generated", arch, part, parts))
            todo.append(Job(f"cuda_ptx.{part}.sm_{arch}.ptx", path, (f"-arch=sm_{arch}",)))
    with ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda job: _compile(job, folder), todo)
        return {job.name: text for job, text in zip(todo, texts, strict=True) if text}


def _compile(job: Job, folder: Path) -> str:
    output = folder / job.name
    if output.exists() and output.stat().st_mtime > job.source.stat().st_mtime:
        return output.read_text()
    with TemporaryDirectory() as scratch:
        source = Path(scratch) / job.source.name  # so that the debug information names no folder of this machine
        source.write_text(job.source.read_text())
        command = ["nvcc", *COMMON, *job.options, f"-I{job.source.parent}", "-ptx", source.name, "-o", str(output)]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            first = next((line for line in (done.stdout + done.stderr).splitlines() if "error" in line), "?")
            print(f"{job.name}: nvcc says {first}", file=sys.stderr)
            return ""
        text = output.read_text().replace(scratch, "/build")
    output.write_text(text)
    return text
