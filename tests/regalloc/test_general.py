"""Registers that do not fit: kernels in the simulator at many limits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import oric
import pytest
from oric.cli import main
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

from tests.kernels import cases
from tests.lower.support import source

LIMITS = (24, 32, 64)
WAYS = [("sm_80", 3), ("sm_90", 3), ("sm_90", 0)]
Array = np.ndarray[Any, Any]


def check(text: str, kernel: str, arch: str, level: int, limit: int | None, args: list[Any], want: Array) -> Any:
    """Run a kernel of one warp strictly; returns the description of its code. The last argument is the result."""
    done = oric.compile(text, arch=arch, opt_level=level, maxrregcount=limit)
    info = next(iter(done.kernels.values())) if isinstance(done.kernels, dict) else done.kernels[0]
    assert info.registers <= (limit or 255)
    modes = Modes(strict=True, memcheck=True)
    oric.sim.load(done.image).launch(kernel, grid=(1, 1, 1), block=(32, 1, 1), args=args, modes=modes)
    assert np.array_equal(args[-1], want)
    return info


def live_values(count: int, kind: str, tail: str = "") -> str:
    """Loads ``count`` values, and sums products of them in an order that keeps all of them until then."""
    size = {"u32": 4, "u64": 8}[kind]
    register = {"u32": "%v", "u64": "%w"}[kind]
    body = f".reg .b32 %v<{count + 3}>; .reg .b64 %w<{count + 3}>; mul.wide.u32 %d9, %i, {size}; add.u64 %d1, %in, %d9;\n"
    for n in range(count):
        body += f"  ld.global.{kind} {register}{n}, [%d1+{32 * size * n}];\n"
    body += f"  mov.{kind} {register}{count}, 0;\n{tail}"
    for n in range(count):
        body += f"  mad.lo.{kind} {register}{count}, {register}{n}, {register}{count - 1 - n}, {register}{count};\n"
    body += f"  add.u64 %d2, %out, %d9; st.global.{kind} [%d2], {register}{count};\n"
    return body


def sums(data: Array, count: int) -> Array:
    rows = data.reshape(-1, 32)[:count]
    with np.errstate(over="ignore"):
        total: Array = (rows * rows[::-1]).sum(axis=0, dtype=data.dtype)
    return total


@pytest.mark.parametrize(("arch", "level"), WAYS)
def test_what_waits_at_different_times_shares_slots(arch: str, level: int) -> None:
    """The frame of two parts with many live values each is no larger than that of the larger part."""
    body, data = live_values(60, "u32"), np.arange(60 * 32, dtype=np.uint32) * 77
    out = np.zeros(32, np.uint32)
    once = check(source(body, arch), "k", arch, level, 24, [data, out], sums(data, 60))
    again = "{" + body + "}\nbar.sync 0;\n{" + live_values(50, "u32") + "}\n"
    twice = check(source(again, arch), "k", arch, level, 24, [data, out], sums(data, 50))
    assert twice.spills[0] > 1.5 * once.spills[0]
    assert twice.stack <= once.stack + 16


@pytest.mark.row("R4-01", "R4-42")
@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize(("kind", "count", "limit"), [
    ("u32", 40, 24), ("u32", 100, 32), ("u32", 300, None), ("u64", 30, 24), ("u64", 60, 40), ("u64", 160, None),
])  # fmt: skip
def test_many_live_values(kind: str, count: int, limit: int | None, arch: str, level: int) -> None:
    dtype: Any = {"u32": np.uint32, "u64": np.uint64}[kind]
    data = np.random.default_rng(count).integers(0, 1 << 32, 32 * count, dtype=np.uint64).astype(dtype)
    info = check(source(live_values(count, kind), arch), "k", arch, level, limit, [data, np.zeros(32, dtype)], sums(data, count))
    if count > 100 or level == 0:
        assert info.spills[0] and info.spills[1]


LOOP = """
  mov.u32 %r50, 0;
AGAIN:
  add.u32 %v3, %v3, %v4; setp.gt.u32 %p1, %v5, %r50; @%p1 add.u32 %v6, %v6, %r50; @!%p1 xor.b32 %v7, %v7, %v3;
  add.u32 %r50, %r50, 1; setp.lt.u32 %p2, %r50, %v8; @%p2 bra AGAIN;
"""


@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize("limit", LIMITS)
def test_guarded_writes_in_a_loop(limit: int, arch: str, level: int) -> None:
    """Each lane its own number of rounds."""
    count = 70
    data = np.random.default_rng(1).integers(0, 1 << 32, 32 * count, dtype=np.uint64).astype(np.uint32)
    rows = data.reshape(-1, 32)
    rows[8] = np.arange(32) % 7
    rows[5] = np.arange(32) % 5
    expected = rows.copy()
    for lane in range(32):
        v = expected[:, lane]
        n = 0
        while True:
            with np.errstate(over="ignore"):
                v[3] += v[4]
                if v[5] > n:
                    v[6] += np.uint32(n)
                else:
                    v[7] ^= v[3]
            n += 1
            if not n < v[8]:
                break
    text = source(live_values(count, "u32", LOOP), arch)
    check(text, "k", arch, level, limit, [data, np.zeros(32, np.uint32)], sums(expected.reshape(-1), count))


QUIET = """
  mov.u32 %r50, 0;
AGAIN: .pragma "nounroll";
  mad.lo.u32 %v3, %v3, %v4, %r50; xor.b32 %v5, %v5, %v3;
  add.u32 %r50, %r50, 1; setp.lt.u32 %p2, %r50, 9; @%p2 bra AGAIN;
"""


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("arch", cases.TARGETS)
def test_a_loop_finds_what_it_needs(arch: str, limit: int) -> None:
    """What waits in memory around a loop is neither stored nor brought back in it."""
    count = 70
    data = np.random.default_rng(3).integers(0, 1 << 32, 32 * count, dtype=np.uint64).astype(np.uint32)
    rows = data.copy().reshape(-1, 32)
    for n in range(9):
        rows[3] = rows[3] * rows[4] + np.uint32(n)
        rows[5] ^= rows[3]
    text = source(live_values(count, "u32", QUIET), arch)
    info = check(text, "k", arch, 3, limit, [data, np.zeros(32, np.uint32)], sums(rows.reshape(-1), count))
    assert info.spills[0] or limit == LIMITS[-1]
    lines = disassemble(elf.read(oric.compile(text, arch=arch, maxrregcount=limit).image).section(".text.k").data, arch)
    back = [(int(to[1], 0) // 16, n) for n, line in enumerate(lines) if (to := re.search(r"@!?P\d BRA (0x[0-9a-f]+)", line))]
    loops = [lines[first : last + 1] for first, last in back if first < last]
    assert len(loops) == 1
    assert any("IMAD" in line for line in loops[0])
    assert not any("LDL" in line or "STL" in line for line in loops[0])


@pytest.mark.parametrize(("arch", "level"), WAYS)
def test_vectors_stay_whole(arch: str, level: int) -> None:
    """Quads of registers, loaded and stored at once, beside a variable in local memory."""
    body = ".reg .b32 %v<100>; .local .align 4 .b8 own[64];\n"
    body += "  mul.wide.u32 %d9, %i, 16; add.u64 %d1, %in, %d9; add.u64 %d2, %out, %d9;\n"
    body += "  mov.u64 %d5, own; and.b32 %r9, %i, 15; mul.wide.u32 %d6, %r9, 4; add.u64 %d5, %d5, %d6; st.local.u32 [%d5], %i;\n"
    for n in range(20):
        body += f"  ld.global.v4.u32 {{%v{4 * n}, %v{4 * n + 1}, %v{4 * n + 2}, %v{4 * n + 3}}}, [%d1+{512 * n}];\n"
    body += "  ld.local.u32 %r8, [%d5];\n"
    for n in reversed(range(20)):
        body += f"  add.u32 %v{4 * n + 1}, %v{4 * n + 1}, %r8;\n"
        body += f"  st.global.v4.u32 [%d2+{512 * n}], {{%v{4 * n}, %v{4 * n + 1}, %v{4 * n + 2}, %v{4 * n + 3}}};\n"
    data = np.random.default_rng(2).integers(0, 1 << 31, 20 * 128, dtype=np.uint64).astype(np.uint32)
    want = data.reshape(20, 32, 4).copy()
    want[:, :, 1] += np.arange(32, dtype=np.uint32)
    args = [data, np.zeros(20 * 128, np.uint32)]
    info = check(source(body, arch), "k", arch, level, 32, args, want.reshape(-1))
    assert info.stack >= 64 + info.spills[0] // 32


def test_what_is_said(capfd: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(source(live_values(100, "u32")))
    assert main([str(path), "-arch", "sm_90", "-maxrregcount", "32", "-v", "-warn-spills", "-o", str(tmp_path / "k.cubin")]) == 0
    said = "".join(capfd.readouterr())
    found = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert found and all(int(x) for x in found.groups())
    assert re.search(
        r"Registers are spilled to local memory in function 'k', \d+ bytes spill stores, \d+ bytes spill loads", said
    )
