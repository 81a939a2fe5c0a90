"""Allocation of functions with many registers: spills and their proof within bounds of memory."""

from __future__ import annotations

import subprocess
import sys

import oric
import pytest

from bench import generated
from bench.growth import at_24_registers
from tests.lower.support import source
from tests.regalloc.test_general import live_values

MEGABYTES = 1000
CHILD = r"""
import re, sys
import oric
kernels = oric.compile(sys.stdin.read(), arch="sm_90", verify=True).kernels
[kernel] = kernels.values()
peak = int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])  # getrusage knows the parent's, too
print(kernel.registers, *kernel.spills, peak // 1024)
"""


def compiled(text: str) -> tuple[int, int, int, int]:
    """Registers, bytes of spills that are stored and loaded, and the most memory in MiB, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", CHILD], input=text, capture_output=True, text=True, check=True)
    registers, stores, loads, peak = map(int, done.stdout.split())
    return registers, stores, loads, peak


@pytest.mark.measure
@pytest.mark.parametrize("shape", ["many_blocks", "loop_nests"])
def test_a_hundred_thousand_registers(shape: str) -> None:
    text, count = at_24_registers(getattr(generated, shape))(100_000, "sm_90")
    registers, stores, loads, peak = compiled(text)
    assert count >= 100_000
    assert registers == 24
    assert min(stores, loads) > 5_000
    assert peak < MEGABYTES


def test_thousands_of_values_live_at_once() -> None:
    """Each that does not fit is stored once, and brought back in front of what reads it; nothing asks for all pairs of them."""
    count = 3000
    info = oric.compile(source(live_values(count, "u32"), "sm_90"), arch="sm_90").kernels["k"]
    assert info.registers == 255
    assert info.spills[0] <= 4 * count
    assert info.spills[1] <= 8 * count
