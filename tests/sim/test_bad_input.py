"""Launches that are not possible, files that are no cubins any more, branches into nowhere: an exception with place and cause."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes
from oric.support import elf
from oric_tables._native import ffi, lib

from tests.kernels import cases
from tests.sim import vendor_cubins
from tests.sim.program import CODE, SM_80, SM_90, Device, word

CLUSTERS = Path(__file__).resolve().parents[1] / "data" / "cubin" / "structure" / "clusters.sm_90.cubin"
SECTION = struct.Struct("<IIQQQQIIQQ")
TYPE, OFFSET, SIZE = 1, 4, 5
isas = pytest.mark.parametrize("isa", [SM_80, SM_90])


def saxpy(target: str = "sm_90") -> oric.sim.Module:
    return oric.sim.load(cases.golden_cubin("saxpy", target))


def arguments(n: int = 8) -> list[Any]:
    return [n, 2.0, np.ones(n, np.float32), np.ones(n, np.float32)]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None}, "no kernel 'None' in the module (it has: saxpy)"),
    "a list as name": ({"name": ["saxpy"]}, "no kernel"),
    "no grid": ({"grid": None}, "grid is None, not up to three numbers"),
    "half a grid": ({"grid": 0.5}, "grid is 0.5, not up to three numbers"),
    "empty grid": ({"grid": ()}, "grid is (), not up to three numbers"),
    "negative grid": ({"grid": -1}, "grid.x is -1, not 1 to 2147483647"),
    "grid of 2^31": ({"grid": 1 << 31}, "grid.x is 2147483648"),
    "grid.z": ({"grid": (1, 1, 65536)}, "grid.z is 65536, not 1 to 65535"),
    "block as text": ({"block": "32"}, "block is '32', not up to three numbers"),
    "block of floats": ({"block": (32, 1.0)}, "not up to three numbers"),
    "empty block": ({"block": (32, 0)}, "block.y is 0, not 1 to 1024"),
    "huge block": ({"block": 1 << 80}, "not 1 to 1024"),
    "cluster of floats": ({"grid": 4, "cluster": 2.0}, "cluster is 2.0, not up to three numbers"),
    "cluster.y": ({"grid": (4, 3), "cluster": (1, 2)}, "grid.y is 3, no multiple of the 2 blocks of a cluster"),
    "cluster of 4 x 4 x 2": ({"grid": (4, 4, 2), "cluster": (4, 4, 2)}, "at most 16 blocks are possible"),
    "half shared memory": ({"shared_bytes": 0.5}, "shared_bytes is 0.5, not zero or a positive number"),
    "negative shared memory": ({"shared_bytes": -1}, "shared_bytes is -1, not zero or a positive number"),
    "too much shared memory": ({"shared_bytes": 232449}, "232449 bytes of shared memory: sm_90 has at most 232448"),
    "shared memory of 2^70": ({"shared_bytes": 1 << 70}, "shared_bytes is 1180591620717411303424, too many"),
    "negative stack": ({"stack_bytes": -1}, "stack_bytes is -1, not zero or a positive number"),
    "too much stack": ({"stack_bytes": 1 << 20}, "bytes of local memory: a thread has at most 524288"),
    "negative heap": ({"heap_bytes": -1}, "heap_bytes is -1, not zero or a positive number"),
    "heap of 2^70": ({"heap_bytes": 1 << 70}, "too many"),
    "no steps": ({"max_steps": 0}, "max_steps is 0, not a positive number"),
    "steps as text": ({"max_steps": "5"}, "max_steps is '5', not a positive number"),
    "negative time": ({"max_seconds": -1}, "max_seconds is -1, not zero or a positive number"),
    "time that is no number": ({"max_seconds": float("nan")}, "max_seconds is nan"),
    "negative threads": ({"modes": Modes(workers=-1)}, "workers is -1, not zero or a positive number"),
    "2^40 threads": ({"modes": Modes(workers=1 << 40)}, "workers is 1099511627776, too many"),
    "arguments no list": ({"args": 5}, "the arguments are 5, not a list of values"),
    "no argument": ({"args": [None, *arguments()[1:]]}, "argument 0: a NoneType cannot be a kernel argument"),
    "an argument in a list": ({"args": [[8], *arguments()[1:]]}, "argument 0: a list cannot be a kernel argument"),
    "complex": ({"args": [8, 2j, *arguments()[2:]]}, "argument 1: a complex cannot be a kernel argument"),
    "address of 65 bits": (
        {"args": [8, 2.0, 1 << 64, 0]},
        "argument 2: 18446744073709551616 does not fit a parameter of 8 bytes",
    ),
    "a long structure": ({"args": [8, 2.0, bytes(9), 0]}, "argument 2: 9 bytes given for a parameter of 8"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_launch(what: str) -> None:
    changes, message = WRONG[what]
    with pytest.raises(oric.sim.LaunchError) as caught:
        saxpy().launch(**{"name": "saxpy", "grid": 1, "block": 32, "args": arguments(), **changes})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numpy_numbers_are_numbers() -> None:
    args = arguments()
    kinds = {"shared_bytes": np.uint16(64), "stack_bytes": np.int8(16), "max_steps": np.int64(1000), "cluster": np.int32(2)}
    saxpy().launch("saxpy", np.int64(2), np.array([4, 1]), args, **kinds)  # type: ignore[arg-type]
    assert (args[3] == 3).all()


def test_buffers_of_others() -> None:
    module, other = saxpy(), saxpy()
    foreign, freed = other.buffer(32), module.buffer(32)
    freed.free()
    for buffer in (foreign, freed):
        with pytest.raises(oric.sim.LaunchError, match="argument 2: a buffer of another module, or one that has been freed"):
            module.launch("saxpy", 1, 8, [8, 2.0, buffer, np.ones(8, np.float32)])
    for size in (-1, 1 << 62, 1 << 80):
        with pytest.raises(oric.sim.LaunchError, match=f"no memory for a buffer of {size} bytes"):
            module.buffer(size)


def test_grids_that_count_clusters() -> None:
    module = oric.sim.load(CLUSTERS.read_bytes())
    kernels = module.image.cubin.kernels
    name = next(n for n, k in kernels.items() if k.blocks_are_clusters)
    args = [bytes(p.size) for p in kernels[name].params]
    with pytest.raises(oric.sim.LaunchError, match=r"grid\.x is 2147483647 clusters of 4 blocks: too many"):
        module.launch(name, (1 << 31) - 1, 32, args)
    with pytest.raises(oric.sim.LaunchError, match=r"requires blocks of \(32, 1, 1\), not \(64, 1, 1\)"):
        module.launch(name, 1, 64, args)
    limited = next(n for n, k in kernels.items() if k.max_cluster)
    args = [bytes(p.size) for p in kernels[limited].params]
    with pytest.raises(oric.sim.LaunchError, match=r"a cluster of \(16, 1, 1\): at most 8 blocks are possible"):
        module.launch(limited, 16, 512, args, cluster=16)


@pytest.mark.parametrize(
    "modes", [Modes(workers=1), Modes(workers=2), Modes(strict=True), Modes(memcheck=True), Modes(timing=True)]
)
def test_endless_loops_end(modes: Modes) -> None:
    module = vendor_cubins.module("driver", "sm_90")
    with pytest.raises(
        oric.sim.StepLimit, match=r"step limit; thread \(\d+,0,0\) of block \(\d,0,0\) at forever\+0x[0-9a-f]+ '.*BRA"
    ):
        for steps in range(3000, 3020):  # the limit lies on the loop's branch in one of them
            try:
                module.launch("forever", 2, 64, max_steps=steps, modes=modes)
            except oric.sim.StepLimit as error:
                if "BRA" in error.instruction:
                    raise
    with pytest.raises(oric.sim.TimeLimit, match=r"time limit: 0.02 seconds are over \(kernel forever\)"):
        module.launch("forever", 2, 64, modes=modes, max_seconds=0.02)


def test_the_time_limit_counts_for_the_second_run_of_the_memory_checker() -> None:
    """Code that ends or not, as a byte of shared memory happens to be: the checker runs it again with other bytes there."""
    data = cases.golden_cubin("saxpy", "sm_90")
    start, _ = text_of(data, "saxpy")
    rows = [
        word(SM_90, "LDS", "R2", "RZ", 0x400),
        word(SM_90, "ISETP", "P0", "R2", 0x5A5A5A5A, cmp="EQ"),
        word(SM_90, "BRA", -16, guard="P0"),
        word(SM_90, "EXIT"),
    ]
    text = b"".join(rows)
    module = oric.sim.load(data[:start] + text + data[start + len(text) :])
    begin = time.monotonic()
    done = module.launch("saxpy", 1, 32, arguments(), shared_bytes=16, modes=Modes(memcheck=True), max_seconds=0.1)
    assert [report.kind.name for report in done.reports] == ["UNINITIALISED"]
    assert time.monotonic() - begin < 5


WILD = {
    "odd": CODE + 8,
    "behind the end": CODE + 0x1000,
    "before the start": CODE - 16,
    "zero": 0,
    "all ones": (1 << 64) - 1,
    "half of the address space": 1 << 63,
    "behind the driver's functions": 0x7E0000000000 + (1 << 24),
    "between the driver's functions": 0x7E0000000008,
}
BRANCHES: dict[str, tuple[Any, ...]] = {
    "BRX": ("R2", 0),
    "CALL.REL.R": ("R2", 0),
    "RET": ("R2", 0),
    "CALL.ABS": ("R4", 0),
    "RET.ABS": ("R4", 0),
    "BRXU": ("UR4", 0),
}


@isas
@pytest.mark.parametrize("target", WILD)
@pytest.mark.parametrize("how", BRANCHES)
def test_wild_branches_name_the_branch(isa: int, how: str, target: str) -> None:
    """The place is the branch's; nothing there is executed."""
    to, at = WILD[target], CODE + 8 * 16
    relative = (to - at - 16) & (1 << 64) - 1
    text = b"".join([
        word(isa, "MOV", "R2", relative & 0xFFFFFFFF),
        word(isa, "MOV", "R3", relative >> 32),
        word(isa, "MOV", "R4", to & 0xFFFFFFFF),
        word(isa, "MOV", "R5", to >> 32),
        word(isa, "UMOV", "UR4", relative & 0xFFFFFFFF),
        word(isa, "UMOV", "UR5", relative >> 32),
        word(isa, "S2R", "R6", "SR33"),
        word(isa, "ISETP", "P0", "R6", 5, cmp="EQ"),
        word(isa, how, *BRANCHES[how], guard="P0"),
        word(isa, "EXIT"),
    ])  # fmt: skip
    for modes in (0, lib.ORIC_SIM_MEMCHECK, lib.ORIC_SIM_TIMING):
        fault = Device(isa, text).launch(32, bytes(64), modes=modes)
        assert fault is not None
        assert (fault.code, fault.address, fault.pc, fault.lane) == (lib.ORIC_FAULT_WILD_BRANCH, to, at, 5)


def test_a_wild_branch_in_words() -> None:
    """A branch far behind the code, and code whose last instruction does not leave it."""
    data = cases.golden_cubin("saxpy", "sm_90")
    start, size = text_of(data, "saxpy")
    branch = word(SM_90, "BRA", 0x10000)
    with pytest.raises(
        oric.sim.WildBranch, match=r"wild branch to 0x\w+; thread \(0,0,0\) of .* at saxpy\+0x0000 'BRA "
    ) as caught:
        oric.sim.load(data[:start] + branch + data[start + 16 :]).launch("saxpy", 1, 32, arguments())
    assert caught.value.address == 0x7F0000010010
    nothing = word(SM_90, "NOP") * (size // 16)
    with pytest.raises(oric.sim.WildBranch, match=rf"at saxpy\+{size - 16:#06x} 'NOP'"):
        oric.sim.load(data[:start] + nothing + data[start + size :]).launch("saxpy", 1, 32, arguments())


def test_words_that_are_no_instructions() -> None:
    """The words of the code name themselves when a thread comes to them, and not before."""
    data = cases.golden_cubin("saxpy", "sm_90")
    start, size = text_of(data, "saxpy")
    bad = bytes(range(0xE0, 0xF0))
    with pytest.raises(oric.sim.IllegalInstruction, match=r"no such instruction; thread .* at saxpy\+0x0010 '0xefee.*e0'"):
        oric.sim.load(data[: start + 16] + bad + data[start + 32 :]).launch("saxpy", 1, 32, arguments())
    last = start + size - 16
    oric.sim.load(data[:last] + bad + data[last + 16 :]).launch("saxpy", 1, 32, arguments())


def text_of(data: bytes, name: str) -> tuple[int, int]:
    """Where a function's code is in a file."""
    cubin = elf.read(data)
    return cubin.sections[cubin.functions[name].section].offset, len(cubin.functions[name].text)


def changed(data: bytes, name: str, **fields: int) -> bytes:
    """The file with fields of a section's header changed; `type`, `offset`, `size`."""
    cubin = elf.read(data)
    at = struct.unpack_from("<Q", data, 0x28)[0] + SECTION.size * next(s.index for s in cubin.sections if s.name == name)
    values = list(SECTION.unpack_from(data, at))
    for field, value in fields.items():
        values[{"type": TYPE, "offset": OFFSET, "size": SIZE}[field]] = value
    return data[:at] + SECTION.pack(*values) + data[at + SECTION.size :]


def patched_relocation(data: bytes, field: int, value: int) -> bytes:
    """The file with a field of the first relocation of its constants or data changed: 0 offset, 1 type, 2 symbol."""
    cubin = elf.read(data)
    table = next(
        s for s in cubin.sections if s.name.startswith((".rel", ".rela")) and "text" not in s.name and "debug" not in s.name
    )
    at = table.offset + (0, 8, 12)[field]
    return data[:at] + struct.pack("<Q" if field == 0 else "<I", value) + data[at + (8 if field == 0 else 4) :]


CONTAINERS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "half a file": (lambda d: d[: len(d) // 2], "truncated: "),
    "a header": (lambda d: d[:64], "truncated: "),
    "code of 2^40 bytes": (lambda d: changed(d, ".text.pointers", size=1 << 40), "(.text.pointers) ends at"),
    "code behind the file": (lambda d: changed(d, ".text.pointers", offset=(1 << 64) - 64), "(.text.pointers) ends at"),
    "half an instruction": (lambda d: changed(d, ".text.pointers", size=24), ".text.pointers does not hold whole instructions"),
    "data of 2^62 bytes": (lambda d: changed(d, ".nv.constant4", type=8, size=1 << 62), ""),
    "unknown relocation": (lambda d: patched_relocation(d, 1, 999), "type 999 is not supported"),
    "relocation outside": (lambda d: patched_relocation(d, 0, 1 << 40), "offset 0x10000000000 lies outside of"),
    "relocation without symbol": (lambda d: patched_relocation(d, 2, 1 << 20), "symbol 1048576 of"),
}


def driver() -> bytes:
    return vendor_cubins.cubin("driver", "sm_90")


@pytest.mark.parametrize("what", CONTAINERS)
def test_corrupt_containers(what: str) -> None:
    damage, message = CONTAINERS[what]
    with pytest.raises(oric.sim.SimError) as caught:
        oric.sim.load(damage(driver())).launch("pointers", 1, 32, [np.zeros(32, np.int32)])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_overlapping_sections() -> None:
    """Two functions may have the same bytes: then they do the same."""
    data = driver()
    start, size = text_of(data, "traps")
    made = changed(data, ".text.forever", offset=start, size=size)
    with pytest.raises(oric.sim.Trap, match="at forever"):
        oric.sim.load(made).launch("forever", 1, 32)


# The peak of this program: getrusage's goes back to before it was started.
RUNNER = """
import re, sys
from oric.sim.run import main
done = [main([name]) for name in sys.argv[1:]] == [1] * len(sys.argv[1:])
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
sys.exit(0 if done and peak < 1 << 19 else 3)
"""


def test_oric_run_of_corrupt_cubins(tmp_path: Path) -> None:
    """One line for each file, exit status 1, and half a gigabyte is enough."""
    files = []
    for number, (damage, _) in enumerate(CONTAINERS.values()):
        (tmp_path / f"{number}.cubin").write_bytes(damage(driver()))
        param = {"dtype": "int32", "shape": 32}
        launch = {"cubin": f"{number}.cubin", "kernel": "pointers", "grid": 1, "block": 32, "params": [param]}
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(launch))
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, *map(str, files)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(files)
    for line, path in zip(lines, files, strict=True):
        assert line.startswith(f"oric run: error: {path}: ")
        assert line != line.partition(": ")[0]


def test_more_than_the_host_has() -> None:
    """A launch with more memory than can be had does not start; the device says so itself."""
    device = Device(SM_90, word(SM_90, "EXIT"))
    assert lib.oric_sim_alloc(device.sim, (1 << 64) - 1, 0) == 0
    assert lib.oric_sim_alloc(device.sim, 1 << 60, 0) == 0
    record = ffi.new(
        "oric_sim_launch *", {"grid": [1, 1, 1], "block": [1, 1, 1], "entry": CODE, "num_regs": 256, "max_steps": 10}
    )
    assert lib.oric_sim_start(device.sim, record) != 0
