"""Generic addresses, which space an address is in, policies for caches: what the PTX manual says, in code of ours and of ptxas.

Programs run in the strict simulator with the memory checker, on several targets and at several levels.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.sim import Modes
from oric_tables.simulator import DEVICES
from oric_tables.targets import TARGETS

WIDE = ("%in", "%c0", "%c95", "%c96", "%p", "%s", "%l", "%zero", "%below")
NARROW = "%low"  # the lower half of an address
SPACES = ("const", "global", "local", "shared", "shared::cta", "param", "param::entry", "shared::cluster")
HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
LANES = [
    (target, level)
    for target in ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
    if target in TARGETS
    for level in (0, 3)
]
VENDOR = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
MODES = Modes(strict=True, memcheck=True)


def has_clusters(target: str) -> bool:
    """Whether a target has thread block clusters."""
    return DEVICES[target].clusters


def run(image: bytes, args: list[Any], threads: int = 1, grid: int = 1, cluster: int = 0) -> None:
    """One launch without a report."""
    shape = {"cluster": (cluster, 1, 1)} if cluster else {}
    done = oric.sim.load(image).launch("k", grid=(grid, 1, 1), block=(threads, 1, 1), args=args, modes=MODES, **shape)
    assert not done.reports


def by_ptxas(ptxas: str, text: str, target: str, level: int, folder: Path) -> bytes:
    """What ptxas makes of a program."""
    path, out = folder / "k.ptx", folder / "k.cubin"
    path.write_text(text)
    subprocess.run([ptxas, f"-arch={target}", f"-O{level}", str(path), "-o", str(out)], check=True, capture_output=True)
    return out.read_bytes()


# -- where addresses are ------------------------------------------------------------------------------------------


def where(target: str, registers: tuple[str, ...]) -> str:
    """A kernel that writes, for addresses of every space, a bit for each space that they are in."""
    lines = []
    for at, register in enumerate(registers):
        lines.append("mov.u32 %m, 0;")
        for bit, space in enumerate(SPACES):
            if space != "shared::cluster" or has_clusters(target):
                lines.append(f"isspacep.{space} %q, {register}; selp.u32 %t, {1 << bit}, 0, %q; or.b32 %m, %m, %t;")
        lines.append(f"st.global.u32 [%out+{4 * at}], %m;")
    return (
        HEAD.format(target=target)
        + f"""
.const .align 4 .b8 first[32]; .const .align 4 .b8 second[64];
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 8 .b8 more[16])
{{
  .reg .b64 %in, %out, %c0, %c95, %c96, %p, %s, %l, %zero, %below; .reg .b32 %m, %t, %low; .reg .pred %q;
  .shared .align 8 .b8 cell[16]; .local .align 8 .b8 own[16];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u64 %c0, first; cvta.const.u64 %c0, %c0; add.u64 %c95, %c0, 95; add.u64 %c96, %c0, 96; sub.u64 %below, %c0, 1;
  mov.u64 %p, more; cvta.param.u64 %p, %p; mov.u64 %s, cell; cvta.shared.u64 %s, %s; mov.u64 %l, own; cvta.local.u64 %l, %l;
  mov.u64 %zero, 0; cvt.u32.u64 %low, %in;
  {" ".join(lines)}
  ld.const.u8 %t, [first]; ld.const.u8 %t, [second];
  ret;
}}
"""
    )


def expected(target: str) -> list[int]:
    """Constants and parameters are in global memory, but an address of constants is none of it."""
    bit = {space: 1 << n for n, space in enumerate(SPACES)}
    shared = bit["shared"] | bit["shared::cta"] | (bit["shared::cluster"] if has_clusters(target) else 0)
    params = bit["param"] | bit["param::entry"]
    plain, const = bit["global"], bit["const"]
    return [plain, const, const, plain, params | plain, shared, bit["local"], plain, plain]


@pytest.mark.parametrize(("target", "level"), LANES)
def test_isspacep(target: str, level: int) -> None:
    out = np.zeros(10, np.uint32)
    text = where(target, (*WIDE, NARROW))
    run(oric.compile(text, arch=target, opt_level=level).image, [np.zeros(4, np.uint32), out, bytes(16)])
    assert list(out) == [*expected(target), 1 << SPACES.index("global")]


@pytest.mark.parametrize("target", VENDOR)
def test_isspacep_of_ptxas(ptxas: str, target: str, tmp_path: Path) -> None:
    out = np.zeros(9, np.uint32)
    run(by_ptxas(ptxas, where(target, WIDE), target, 3, tmp_path), [np.zeros(4, np.uint32), out, bytes(16)])
    assert list(out) == expected(target)


# -- from spaces and back -----------------------------------------------------------------------------------------

ROUND = """
.const .align 4 .u32 table[8] = {{10, 11, 12, 13, 14, 15, 16, 17}};
.global .align 4 .u32 cells[4] = {{20, 21, 22, 23}};
.visible .entry k(.param .u64 out, .param .align 8 .b8 more[16])
{{
  .reg .b64 %out, %a, %g, %b; .reg .b32 %v, %w, %t, %n; .reg .pred %q;
  .shared .align 8 .u32 cell[8]; .local .align 8 .u32 own[8];
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %n, 0;
  st.shared.u32 [cell+4], 31; st.local.u32 [own+4], 41; bar.sync 0;
{tests}
  ret;
}}
"""


def round_trip(target: str) -> tuple[str, int]:
    """For each space: a value through the generic address, one through what comes back of it, and whether that is the first."""
    spaces = {"const": "table+8", "global": "cells+8", "shared": "cell+4", "shared::cta": "cell+4", "local": "own+4"}
    spaces |= {"param": "more+4", "param::entry": "more+4"}
    if has_clusters(target):
        spaces["shared::cluster"] = "cell+4"
    lines = []
    for at, (space, symbol) in enumerate(spaces.items()):
        lines.append(f"""
  mov.u64 %a, {symbol}; cvta.{space}.u64 %g, %a; ld.u32 %v, [%g]; st.global.u32 [%out+{12 * at}], %v;
  cvta.to.{space}.u64 %b, %g; ld.{space}.u32 %w, [%b]; st.global.u32 [%out+{12 * at + 4}], %w;
  setp.eq.u64 %q, %a, %b; selp.u32 %v, 1, 0, %q; st.global.u32 [%out+{12 * at + 8}], %v;""")
    text = ROUND.format(tests="".join(lines)).replace("[cell+4], 31", "[cell+4], %n").replace("[own+4], 41", "[own+4], %n")
    return HEAD.format(target=target) + text.replace("mov.u32 %n, 0", "mov.u32 %n, 31"), len(spaces)


def check_round_trip(image: bytes, count: int) -> None:
    values = {0: 12, 1: 22, 2: 31, 3: 31, 4: 31, 5: 0x07060504, 6: 0x07060504, 7: 31}
    out = np.zeros((count, 3), np.uint32)
    run(image, [out, bytes(range(16))])
    assert [list(row) for row in out] == [[values[n], values[n], 1] for n in range(count)]


@pytest.mark.parametrize(("target", "level"), LANES)
def test_round_trip(target: str, level: int) -> None:
    text, count = round_trip(target)
    check_round_trip(oric.compile(text, arch=target, opt_level=level).image, count)


@pytest.mark.parametrize("target", VENDOR)
def test_round_trip_of_ptxas(ptxas: str, target: str, tmp_path: Path) -> None:
    text, count = round_trip(target)
    check_round_trip(by_ptxas(ptxas, text, target, 3, tmp_path), count)


# -- accesses of no space that name a variable ---------------------------------------------------------------------

NAMING = (
    HEAD
    + """.visible .shared .align 16 .b8 s[64];
.extern .shared .align 16 .b8 more[];
.global .align 16 .u32 g[4] = {{1, 2, 3, 4}};
.visible .entry k(.param .u64 out)
{{
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p; .local .align 16 .b8 l[64];
  ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 32; add.u64 %d0, %d0, %d1; add.u32 %r1, %r0, 50;
  setp.eq.u32 %p, %r0, 1;
  @%p st.v2.u32 [s+8], {{%r0, %r1}}; @%p st.shared.u32 [more+4], 77; st.u32 [l+20], %r1; st.volatile.u32 [l], %r0;
  bar.sync 0;
  ld.u32 %r2, [s+8]; ld.volatile.u32 %r3, [s+12]; ld.u32 %r4, [more+4]; ld.local.u32 %r5, [l+20];
  st.global.v4.u32 [%d0], {{%r2, %r3, %r4, %r5}};
  bar.sync 0;
  atom.add.u32 %r6, [s+16-8], 3; prefetch.L1 [s]; prefetch.L2 [l]; ld.u32 %r7, [l]; ld.v2.u32 {{%r8, %r9}}, [g+8];
  bar.sync 0;
  ld.u32 %r6, [s+8];
  st.global.v4.u32 [%d0+16], {{%r6, %r7, %r8, %r9}};
  ret;
}}
"""
)


def check_naming(image: bytes) -> None:
    """Two threads, of which the second writes what both see."""
    out = np.zeros((2, 8), np.uint32)
    assert not oric.sim.load(image).launch("k", grid=(1,), block=(2,), args=[out], shared_bytes=64, modes=MODES).reports
    assert out.tolist() == [[1, 51, 77, 50, 7, 0, 3, 4], [1, 51, 77, 51, 7, 1, 3, 4]]


@pytest.mark.parametrize(("target", "level"), LANES)
def test_accesses_of_no_space_that_name_a_variable(target: str, level: int) -> None:
    check_naming(oric.compile(NAMING.format(target=target), arch=target, opt_level=level).image)


@pytest.mark.parametrize("target", VENDOR)
def test_accesses_of_no_space_that_name_a_variable_of_ptxas(ptxas: str, target: str, tmp_path: Path) -> None:
    text = NAMING.replace("prefetch.L2 [l];", "")  # it dies of that from sm_100 on
    check_naming(by_ptxas(ptxas, text.format(target=target), target, 3, tmp_path))


# -- policies -----------------------------------------------------------------------------------------------------

PRIMARY = {"evict_last": 4, "evict_normal": 6, "evict_first": 2, "evict_unchanged": 0}
SECONDARY = {"": 0, ".L2::evict_first": 1, ".L2::evict_unchanged": 0}
KINDS = [(f".L2::{a}{b}", x + y) for a, x in PRIMARY.items() for b, y in SECONDARY.items()]
FRACTIONS = np.array([1.0, 0.5, 0.25, 0.1, 0.9375, 0.9, 0.03, 1e-30], np.float32)
RANGES = [
    (0x7F0000001000, 4096, 8192), (0x7F00DEADBE00, 1 << 20, 1 << 21), (0x123456789A00, 100, 1 << 30), (0x100, 0, 0),
    (0xFFFFFFFF0000, 1 << 31, 0xFFFFFFFF), (0x1000, 1, 1), (0x7F0000000FFF, 0xFFFFFFFF, 5000000), (0, 1 << 19, (1 << 19) + 1),
]  # fmt: skip


def policies(target: str) -> str:
    """A kernel of a thread for each fraction and range, which writes the policies of every kind."""
    lines = []
    for at, (kind, _) in enumerate(KINDS):
        for k, text in enumerate(
            (f"fractional{kind}.b64 %p, %f", f"fractional{kind}.b64 %p", f"range{kind}.b64 %p, [%a], %n, %m")
        ):
            lines.append(f"createpolicy.{text}; createpolicy.cvt.L2.b64 %q, %p; st.global.u64 [%out+{8 * (3 * at + k)}], %q;")
    return (
        HEAD.format(target=target)
        + f"""
.visible .entry k(.param .u64 fractions, .param .u64 ranges, .param .u64 out)
{{
  .reg .b64 %in, %r, %out, %a, %p, %q, %o; .reg .b32 %t, %n, %m; .reg .f32 %f;
  ld.param.u64 %in, [fractions]; ld.param.u64 %r, [ranges]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4; add.u64 %in, %in, %o; mul.wide.u32 %o, %t, 16; add.u64 %r, %r, %o;
  mul.wide.u32 %o, %t, {24 * len(KINDS)}; add.u64 %out, %out, %o;
  ld.global.f32 %f, [%in]; ld.global.u64 %a, [%r]; ld.global.v2.u32 {{%n, %m}}, [%r+8];
  {" ".join(lines)}
  ret;
}}
"""
    )


def range_policy(kind: int, base: int, primary: int, total: int) -> int:
    """The upper half of a policy for a range; the logarithm is that of a single."""
    if not total:
        return 0x18000000
    shift = max(int(np.ceil(np.log2(np.float32(total)))) - 7, 12)
    first = base >> shift
    more = min((base + (primary + (1 << shift) - 1 & 0xFFFFFFFF) >> shift) - first, 127)
    return 0x18000000 | kind << 24 | (shift - 12 & 15) << 20 | (first & 0x7F) << 12 | more << 5


def check_policies(image: bytes) -> None:
    count = len(FRACTIONS)
    ranges = np.array([(a & 0xFFFFFFFF, a >> 32, n, m) for a, n, m in RANGES], np.uint32)
    out = np.zeros((count, len(KINDS), 3), np.uint64)
    run(image, [FRACTIONS, ranges, out], threads=count)
    for thread, fraction in enumerate(FRACTIONS):
        for at, (_, kind) in enumerate(KINDS):
            sixteenths = int(fraction * np.float32(15.99))
            high = [0x10000000 | kind << 24 | sixteenths << 20, 0x10F00000 | kind << 24, range_policy(kind, *RANGES[thread])]
            assert [hex(int(v)) for v in out[thread, at]] == [hex(h << 32) for h in high], (thread, KINDS[at])


@pytest.mark.parametrize(("target", "level"), [lane for lane in LANES if lane[0] != "sm_75"])
def test_policies(target: str, level: int) -> None:
    check_policies(oric.compile(policies(target), arch=target, opt_level=level).image)


@pytest.mark.parametrize("target", [t for t in VENDOR if t != "sm_75"])
def test_policies_of_ptxas(ptxas: str, target: str, tmp_path: Path) -> None:
    check_policies(by_ptxas(ptxas, policies(target), target, 3, tmp_path))
