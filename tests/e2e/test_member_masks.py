"""Member masks that differ between the threads of a warp: tiles of lanes vote, match and reduce by themselves.

PTX ISA, "membermask": each thread names the threads that take part with it; those of another mask are no part of that.
"""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

from tests.lower.support import source

LANES = 32
TILES = (1, 2, 4, 8, 16, 32)
Array = np.ndarray[Any, Any]

# What a lane %i with the value %a and the predicate %q = (%a & 1) computes into %r1, with the mask %m.
OPERATIONS = {
    "ballot": "vote.sync.ballot.b32 %r1, %q, %m;",
    "any": "vote.sync.any.pred %p1, %q, %m; selp.u32 %r1, 1, 0, %p1;",
    "all": "vote.sync.all.pred %p1, %q, %m; selp.u32 %r1, 1, 0, %p1;",
    "uni": "vote.sync.uni.pred %p1, %q, %m; selp.u32 %r1, 1, 0, %p1;",
    "match_any": "match.any.sync.b32 %r1, %a, %m;",
    "match_any64": "cvt.u64.u32 %d5, %a; match.any.sync.b64 %r1, %d5, %m;",
    "match_all": "match.all.sync.b32 %r1|%p1, %a, %m; selp.u32 %r2, 0x80000000, 0, %p1; xor.b32 %r1, %r1, %r2;",
    "redux_add": "redux.sync.add.u32 %r1, %a, %m;",
    "redux_max": "redux.sync.max.s32 %r1, %a, %m;",
    "redux_xor": "redux.sync.xor.b32 %r1, %a, %m;",
    "shfl": "shfl.sync.bfly.b32 %r1, %a, 1, 0x1f, %m;",
    "redux_constant": "redux.sync.add.u32 %r1, 5, %m;",
    "match_constant": "match.any.sync.b32 %r1, 7, %m;",
    "match_constant64": "match.any.sync.b64 %r1, 0x700000007, %m;",
    "shfl_constant": "shfl.sync.bfly.b32 %r1, 0x12345678, 1, 0x1f, %m;",
}
ELECT = {"elect": "elect.sync %r1|%p1, %m; selp.u32 %r2, 0x80000000, 0, %p1; xor.b32 %r1, %r1, %r2;"}


def one(name: str, lane: int, lanes: list[int], a: Array) -> int:
    """The same by the manual: ``lanes`` are those of the lane's mask."""
    values = [int(a[k]) for k in lanes]
    mask = sum(1 << k for k in lanes)
    odd = [v & 1 for v in values]
    if name in ("ballot", "any", "all", "uni"):
        ballot = sum(1 << k for k, o in zip(lanes, odd, strict=True) if o)
        return {"ballot": ballot, "any": int(any(odd)), "all": int(all(odd)), "uni": int(len(set(odd)) == 1)}[name]
    if name.endswith("constant") or name == "match_constant64":
        return {"redux": 5 * len(lanes), "match": mask, "shfl": 0x12345678}[name.partition("_")[0]]
    if name.startswith("match_any"):
        return sum(1 << k for k in lanes if a[k] == a[lane])
    if name == "match_all":
        return mask ^ 0x80000000 if len(set(values)) == 1 else 0
    if name == "redux_add":
        return sum(values) & 0xFFFFFFFF
    if name == "redux_max":
        return max(np.array(values, np.uint32).view(np.int32).tolist()) & 0xFFFFFFFF
    if name == "redux_xor":
        return int(np.bitwise_xor.reduce(np.array(values, np.uint32)))
    if name == "elect":
        return min(lanes) ^ (0x80000000 if lane == min(lanes) else 0)
    return int(a[lane ^ 1])


HEAD = """.reg .b32 %a, %m, %t, %s, %n; .reg .pred %q;
 mul.wide.u32 %d9, %i, 4; add.u64 %d1, %in, %d9; add.u64 %d2, %out, %d9;
 ld.global.u32 %a, [%d1]; ld.global.u32 %n, [%d1+128]; and.b32 %s, %a, 1; setp.ne.u32 %q, %s, 0; mov.u32 %r0, 0;
 and.b32 %t, %i, {inverse}; mov.u32 %m, {ones}; shl.b32 %m, %m, %t;
"""
TAIL = " st.global.u32 [%d2], %r0;\n"
STRAIGHT = HEAD + " {op} mov.u32 %r0, %r1;\n" + TAIL
# only the lanes of a tile whose number the data say go through, the others do something else meanwhile
BRANCH = HEAD + """ and.b32 %s, %n, 1; setp.eq.u32 %p2, %s, 0; @%p2 bra OTHER;
 {op} add.u32 %r0, %r1, 1; bra DONE;
OTHER: {op} xor.b32 %r0, %r1, 0x55555555;
DONE: {op} mad.lo.u32 %r0, %r1, 3, %r0;
""" + TAIL  # fmt: skip
# every tile its own number of turns
LOOP = HEAD + """
AGAIN: {op} mad.lo.u32 %r0, %r0, 5, %r1; add.u32 %a, %a, %n; and.b32 %s, %a, 1; setp.ne.u32 %q, %s, 0;
 sub.u32 %n, %n, 1; setp.gt.s32 %p2, %n, 0; @%p2 bra AGAIN;
""" + TAIL  # fmt: skip


def straight(name: str, a: Array, n: Array, tile: int) -> Array:
    return np.array([one(name, k, tile_of(k, tile), a) for k in range(LANES)], np.uint32)


def branch(name: str, a: Array, n: Array, tile: int) -> Array:
    found = straight(name, a, n, tile)
    with np.errstate(over="ignore"):
        return np.where(n & 1, found + np.uint32(1), found ^ np.uint32(0x55555555)) + found * np.uint32(3)


def loop(name: str, a: Array, n: Array, tile: int) -> Array:
    a, n, total = a.copy(), n.copy(), np.zeros(LANES, np.uint32)
    left = set(range(LANES))
    with np.errstate(over="ignore"):
        while left:
            found = straight(name, a, n, tile)
            for k in left:
                total[k] = total[k] * np.uint32(5) + found[k]
            for k in list(left):
                a[k] += n[k]
                n[k] -= np.uint32(1)
                if int(n[k]) == 0:
                    left.discard(k)
    return total


def tile_of(lane: int, tile: int) -> list[int]:
    first = lane // tile * tile
    return list(range(first, first + tile))


SHAPES = {"straight": (STRAIGHT, straight), "branch": (BRANCH, branch), "loop": (LOOP, loop)}


def data(seed: int, tile: int) -> tuple[Array, Array]:
    """Values, few enough that some are alike, and by tile a number of turns."""
    rng = np.random.default_rng(seed)
    a = rng.choice(rng.integers(0, 1 << 32, 6, dtype=np.uint64), LANES).astype(np.uint32)
    a[:tile] = a[0]
    return a, np.repeat(rng.integers(1, 6, LANES // tile), tile).astype(np.uint32)


def check(name: str, op: str, shape: str, arch: str, level: int, tile: int) -> None:
    body = SHAPES[shape][0].format(op=op, inverse=32 - tile, ones=(1 << tile) - 1)
    image = oric.compile(source(body, arch), arch=arch, opt_level=level).image
    report = check_cubin(elf.read(image))
    assert (report.findings, report.unknown) == ([], [])
    judge(image, name, shape, tile)


def judge(image: bytes, name: str, shape: str, tile: int) -> None:
    """Run a cubin and compare; the schedule and the accesses are judged too."""
    expected = SHAPES[shape][1]
    a, n = data(tile, tile)
    out = np.zeros(LANES, np.uint32)
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(LANES, 1, 1), args=[np.concatenate([a, n]), out], modes=modes)
    assert not done.reports
    assert out.tolist() == expected(name, a, n, tile).tolist(), (name, shape, tile)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_tiles(arch: str, level: int, shape: str) -> None:
    for name, op in (OPERATIONS | (ELECT if arch == "sm_90" else {})).items():
        for tile in TILES:
            if (not name.startswith("shfl") or tile > 1) and not (arch == "sm_75" and name.startswith("redux")):
                check(name, op, shape, arch, level, tile)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100a", "sm_120a"])
def test_the_vendors_tiles(ptxas: str, tmp_path: Path, arch: str) -> None:
    """What ptxas makes of some of them: lanes that wait for a mask, and collectives."""
    for name, shape, tile in itertools.product(["match_any", "match_all", "shfl"], ["branch", "loop"], [4, 16]):
        body = SHAPES[shape][0].format(op=OPERATIONS[name], inverse=32 - tile, ones=(1 << tile) - 1)
        (tmp_path / "k.ptx").write_text(source(body, arch).replace(".version 8.6", ".version 9.0"))
        subprocess.run([ptxas, f"-arch={arch}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
        judge((tmp_path / "k.cubin").read_bytes(), name, shape, tile)


def nest(depth: int) -> str:
    """A vote inside so many branches that the data decide, each with something behind it."""
    body = HEAD.format(inverse=24, ones=255)
    for n in range(depth):
        body += f" shr.u32 %s, %a, {n}; and.b32 %s, %s, 1; setp.eq.u32 %p2, %s, 0; @%p2 bra SKIP{n}; add.u32 %r0, %r0, {n + 1};\n"
        body += " red.global.add.u32 [%out], %r0;\n"
    body += " activemask.b32 %t; and.b32 %m, %m, %t; vote.sync.ballot.b32 %r1, %q, %m; xor.b32 %r0, %r0, %r1;\n"
    for n in reversed(range(depth)):
        body += f"SKIP{n}: mad.lo.u32 %r0, %r0, 3, {n}; red.global.add.u32 [%out], %r0;\n"
    return body + TAIL


@pytest.mark.parametrize("depth", [15, 16, 20])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_regions_may_be_any_number_deep(arch: str, depth: int) -> None:
    """A barrier is left for the mask, whatever is around it."""
    data = np.concatenate([~np.zeros(LANES, np.uint32), np.arange(LANES, dtype=np.uint32)])
    found = []
    for level in (0, 3):
        image = oric.compile(source(nest(depth), arch), arch=arch, opt_level=level, verify=True).image
        out = np.zeros(LANES, np.uint32)
        modes = Modes(strict=True, memcheck=True)
        done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(LANES, 1, 1), args=[data, out], modes=modes)
        assert not done.reports
        found.append(out.tolist())
    assert found[0] == found[1]


def test_a_mask_that_all_threads_share_needs_no_barrier() -> None:
    from oric.sass.instruction import disassemble

    head = HEAD.format(inverse=0, ones=0xFFFF).replace(
        "shl.b32 %m, %m, %t;", "mov.u32 %m, %nctaid.x; shl.b32 %m, %m, 4; sub.u32 %m, %m, 1;"
    )
    for body, apart in ((head + OPERATIONS["ballot"] + "mov.u32 %r0, %r1;" + TAIL, False),
                        (STRAIGHT.format(op=OPERATIONS["ballot"], inverse=24, ones=255), True)):  # fmt: skip
        image = oric.compile(source(body), arch="sm_90").image
        code = "\n".join(disassemble(elf.read(image).section(".text.k").data, "sm_90"))
        assert ("EXCLUSIVE" in code, "BSSY" in code, "BSYNC" in code, "WARPSYNC" in code) == (apart, apart, apart, apart)
