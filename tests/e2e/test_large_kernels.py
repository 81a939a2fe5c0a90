"""Kernels of many instructions and of many blocks: how much memory a compilation takes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

MOST = 1536  # MB of a process that compiles one of them
REGISTERS = 32
OPS = (
    "add.s32 {d}, {a}, {b};",
    "mul.lo.s32 {d}, {a}, {b};",
    "xor.b32 {d}, {a}, {b};",
    "mad.lo.s32 {d}, {a}, {b}, {c};",
    "fma.rn.f32 {d}, {a}, {b}, {c};",
    "ld.global.u32 {d}, [%d+{at}];",
    "st.global.u32 [%d+{at}], {a};",
)
COMPILE = """
import sys
from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_text
from oric.support.memory import peak_memory
compile_text(sys.stdin.read(), CompileOptions(sys.argv[1], int(sys.argv[2])))
print(int(peak_memory()) // 1024)
"""


def operation(rng: random.Random) -> str:
    """One instruction on random registers."""
    d, a, b, c = (f"%r{rng.randrange(REGISTERS)}" for _ in range(4))
    return rng.choice(OPS).format(d=d, a=a, b=b, c=c, at=4 * rng.randrange(1000))


def one_block(rng: random.Random) -> Iterator[str]:
    """100,000 instructions."""
    yield from (operation(rng) for _ in range(100_000))


def many_blocks(rng: random.Random) -> Iterator[str]:
    """20,000 blocks: branches forward over some instructions, and now and then a loop."""
    for k in range(10_000):
        yield f"setp.lt.s32 %p, %r{rng.randrange(REGISTERS)}, %r{rng.randrange(REGISTERS)};\n@%p bra L{k};"
        yield operation(rng)
        yield operation(rng)
        yield f"L{k}:"
        if k % 10 == 9:
            yield f"setp.gt.s32 %p, %r{rng.randrange(REGISTERS)}, 100;\n@%p bra L{rng.randrange(max(k - 50, 0), k + 1)};"


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("made", [one_block, many_blocks])
def test_memory(made, target, level):
    lines = [
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p) {{",
        f".reg .b32 %r<{REGISTERS}>; .reg .pred %p; .reg .b64 %d;\nld.param.u64 %d, [p]; cvta.to.global.u64 %d, %d;",
        *(f"ld.global.u32 %r{k}, [%d+{4 * k}];" for k in range(REGISTERS)),
        *made(random.Random(1)),
        *(f"st.global.u32 [%d+{4 * k}], %r{k};" for k in range(REGISTERS)),
        "ret; }\n",
    ]
    command = [sys.executable, "-c", COMPILE, target, str(level)]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) <= MOST
