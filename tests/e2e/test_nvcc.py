"""nvcc with this compiler in the place of ptxas: cubins, objects, links, fat binaries and executables."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.containers import read_contents
from oric.support.elf import read
from oric.support.elf_format import ET_EXEC, ET_REL

from .conftest import LANES_LEFT_OUT

pytestmark = pytest.mark.measure
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
MODES = Modes(strict=True, memcheck=True)
STACK = 1 << 16
THREADS = 32
ONE = r"""
#include <cstdio>
struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } };
struct Bar : Shape {
    int a, b;
    __device__ Bar(int a, int b) : a(a), b(b) {}
    __device__ int area() const override { return a * b; }
};
extern __device__ int other(int);
extern __constant__ int few[4];
__device__ int table[4] = {1, 2, 3, 4};
__device__ int (*chosen)(int) = other;
__global__ void k(int *out, const int *in)
{
    __shared__ int shared[32];
    int t = threadIdx.x;
    shared[t] = other(in[t] & 7) + table[t & 3] + few[t & 3];
    __syncthreads();
    Shape *shape = t & 1 ? (Shape *)new Square(t) : (Shape *)new Bar(t, 3);
    out[t] = shared[t ^ 1] + chosen(3) + shape->area();
    if (t == 0) printf("first %d\n", out[0]);
    delete shape;
}
"""
TWO_ALONE = r"""
__constant__ int few[4] = {10, 20, 30, 40};
__device__ __noinline__ int other(int x) { return x < 2 ? x : other(x - 1) + other(x - 2) + table[x & 3]; }
"""
TWO = f"extern __device__ int table[4];{TWO_ALONE}"
MAIN = r"""
#include <cstdio>
__global__ void k(int *, const int *);
int main()
{
    int *out, *in;
    cudaMallocManaged(&out, 128); cudaMallocManaged(&in, 128);
    for (int i = 0; i < 32; i++) in[i] = i;
    k<<<1, 32>>>(out, in);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++) printf("%d ", out[i]);
}
"""


def other(x: int) -> int:
    return x if x < 2 else other(x - 1) + other(x - 2) + (1, 2, 3, 4)[x & 3]


def wanted() -> list[int]:
    shared = [other(t & 7) + (1, 2, 3, 4)[t & 3] + (10, 20, 30, 40)[t & 3] for t in range(THREADS)]
    return [shared[t ^ 1] + other(3) + (t * t if t & 1 else 3 * t) for t in range(THREADS)]


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a toolkit whose ptxas is ours; without nvcc the test is skipped and the summary says so."""
    path = shutil.which("nvcc")
    told = subprocess.run([path, "--dryrun", "-cubin", "x.cu"], capture_output=True, text=True, check=False) if path else None
    top = re.search(r"^#\$ TOP=(.*)$", told.stderr, re.MULTILINE) if told else None
    if top is None:
        LANES_LEFT_OUT.append("nvcc not found on PATH: it was NOT run with this compiler inside")
        pytest.skip(LANES_LEFT_OUT[-1])
    real, made = Path(top[1]).resolve(), tmp_path_factory.mktemp("toolkit")
    for entry in real.iterdir():
        if entry.name != "bin":
            (made / entry.name).symlink_to(entry)
    (made / "bin").mkdir()
    for entry in (real / "bin").iterdir():
        if entry.name != "ptxas":
            (made / "bin" / entry.name).symlink_to(entry)
    (made / "bin" / "ptxas").symlink_to(Path(sys.executable).parent / "oric-ptxas")
    return made


class Nvcc:
    def __init__(self, toolkit: Path, folder: Path) -> None:
        self.program = str(toolkit / "bin" / "nvcc")
        self.folder = folder
        for name, text in (("one.cu", ONE), ("two.cu", TWO), ("main.cu", MAIN)):
            (folder / name).write_text(text)

    def run(self, *words: str) -> None:
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def bytes(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


@pytest.fixture
def nvcc(toolkit: Path, tmp_path: Path) -> Nvcc:
    return Nvcc(toolkit, tmp_path)


def runs(image: bytes) -> None:
    out, data = np.zeros(THREADS, np.int32), np.arange(THREADS, dtype=np.int32)
    module = oric.sim.load(image)
    name = next(iter(read(image).kernels))
    done = module.launch(name, grid=1, block=THREADS, args=[out, data], modes=MODES, stack_bytes=STACK)
    assert [int(x) for x in out] == wanted() and not done.reports
    assert done.printed == f"first {wanted()[0]}\n"
    assert check_cubin(read(image)).findings == []


def cubins(data: bytes) -> list[bytes]:
    """All cubins in a file of the host or a fat binary."""
    return [image.data for image in read_contents(data).images]


def is_ours(image: bytes) -> bool:
    section = read(image).section(".note.nv.tkinfo")
    return section is not None and b"oric" in section.data


def test_a_cubin(nvcc: Nvcc) -> None:
    one = ONE.replace("extern __device__ int other(int);\nextern __constant__ int few[4];", "")
    (nvcc.folder / "whole.cu").write_text(one.replace("__device__ int (*chosen)", f"{TWO_ALONE}__device__ int (*chosen)"))
    nvcc.run("-arch=sm_90", "-cubin", "whole.cu", "-o", "whole.cubin")
    image = nvcc.bytes("whole.cubin")
    assert is_ours(image)
    runs(image)


@pytest.mark.parametrize("target", TARGETS)
def test_objects_and_their_link(target: str, nvcc: Nvcc) -> None:
    nvcc.run(f"-arch={target}", "-dc", "one.cu", "two.cu")
    for name in ("one.o", "two.o"):
        found = cubins(nvcc.bytes(name))
        assert found and all(is_ours(image) and read(image).type == ET_REL for image in found)
    nvcc.run(f"-arch={target}", "-dlink", "-cubin", "one.o", "two.o", "-o", "linked.cubin")
    runs(nvcc.bytes("linked.cubin"))


def test_a_fat_binary(nvcc: Nvcc) -> None:
    nvcc.run("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90", "-rdc=true", "-fatbin", "two.cu",
             "-o", "two.fatbin")  # fmt: skip
    found = cubins(nvcc.bytes("two.fatbin"))
    assert sorted(read(image).target for image in found) == ["sm_80", "sm_90"] and all(map(is_ours, found))


def test_an_executable_of_several_files(nvcc: Nvcc) -> None:
    nvcc.run("-arch=sm_90", "-rdc=true", "one.cu", "two.cu", "main.cu", "-o", "program")
    linked = [image for image in cubins(nvcc.bytes("program")) if read(image).type == ET_EXEC and read(image).kernels]
    assert len(linked) == 1
    runs(linked[0])


@pytest.mark.parametrize("target", TARGETS)
def test_position_independent_objects(nvcc: Nvcc, target: str) -> None:
    nvcc.run(f"-arch={target}", "-dc", "-Xptxas", "-pic=true", "one.cu", "two.cu")
    nvcc.run(f"-arch={target}", "-dlink", "-cubin", "one.o", "two.o", "-o", "linked.cubin")
    runs(nvcc.bytes("linked.cubin"))


LAUNCHES = r"""
__device__ int added = 1;
__device__ __noinline__ int more(int x) { return x < 2 ? x : more(x - 1) + added; }
__global__ void child(int *p) { p[threadIdx.x] += more(threadIdx.x); }
__global__ void k(int *p) { child<<<1, 32>>>(p); }
int main() { return 0; }
"""


@pytest.mark.parametrize("target", TARGETS)
def test_extensible_programs(nvcc: Nvcc, target: str) -> None:
    """nvcc -ewp adds the device runtime; the simulator has no driver that launches, so the child runs alone."""
    (nvcc.folder / "launches.cu").write_text(LAUNCHES)
    nvcc.run(f"-arch={target}", "-ewp", "launches.cu", "-o", "launches")
    linked = [i for i in cubins(nvcc.bytes("launches")) if read(i).type == ET_EXEC and "_Z1kPi" in read(i).kernels]
    assert len(linked) == 1
    launching = [s for s in read(linked[0]).symbols if "LaunchDevice" in s.name and s.is_function and s.section]
    assert launching  # functions of the device runtime
    data = np.arange(THREADS, dtype=np.int32)
    done = oric.sim.load(linked[0]).launch("_Z5childPi", grid=1, block=THREADS, args=[data], modes=MODES, stack_bytes=STACK)
    assert not done.reports
    assert [int(x) for x in data] == [2 * t for t in range(THREADS)]
