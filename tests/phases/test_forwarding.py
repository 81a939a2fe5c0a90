"""Phase 48: loads of what a register has, and stores that are written over, in all spaces and for all that may stand between."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oric
import pytest
from oric.phases.forwarding import forward_values
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

from tests import campaigns
from tests.phases.ori import after

Array = np.ndarray[Any, Any]
TARGETS = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]
THREADS = 64
BYTES = 32  # of each thread, in every memory

# %p, %q: 32 bytes of the thread in global memory, which may be the same; %gp, %gs: those of %p and of %s under generic addresses;
# %s, %l: 32 bytes in shared and local memory, of which there is too much for registers; %n a number, %c whether it is below 5.
# The results are %r1 to %r4.
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 o, .param .u32 n)
{{
 .reg .b64 %p, %q, %o, %gp, %gs, %d<9>; .reg .b32 %n, %s, %l, %t, %r<30>; .reg .b16 %h<9>; .reg .pred %c, %e;
 .shared .align 16 .b8 shared_memory[2048]; .local .align 16 .b8 local_memory[160];
 ld.param.u64 %d6, [p]; ld.param.u64 %d7, [q]; ld.param.u64 %d8, [o]; ld.param.u32 %n, [n];
 mov.u32 %t, %tid.x; mul.wide.u32 %d0, %t, 32; add.u64 %gp, %d6, %d0; cvta.to.global.u64 %p, %gp; add.u64 %d7, %d7, %d0;
 mul.wide.u32 %d5, %t, 16; add.u64 %d8, %d8, %d5; cvta.to.global.u64 %q, %d7; cvta.to.global.u64 %o, %d8;
 mov.u32 %s, shared_memory; mad.lo.u32 %s, %t, 32, %s; cvt.u64.u32 %d1, %s; cvta.shared.u64 %gs, %d1; mov.u32 %l, local_memory;
 setp.lt.u32 %c, %n, 5; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;
"""
START = " st.volatile.shared.v4.u32 [%s], {%t, %n, %t, 7}; st.local.v4.u32 [%l], {%t, %n, %n, 9}; bar.sync 0;\n"
TAIL = " st.volatile.global.v4.u32 [%o], {{%r1, %r2, %r3, %r4}}; ret;\n}}\n"
FIXED = (0, 3)  # loads and stores of what stands around a body


class Case(NamedTuple):
    """What stays of the loads and stores of a body at -O3."""

    body: str
    loads: int
    stores: int = 0


def spaces(text: str) -> Iterator[tuple[str, str]]:
    """A body whose accesses are of @, at %a, in all spaces."""
    for space, address in ((".global", "%p"), (".shared", "%s"), (".local", "%l"), ("", "%gp"), ("", "%gs")):
        if space != ".local" or "volatile" not in text:
            yield f"{space or 'generic'} {address}", re.sub(r"(?<=ld|st|le)@", space, text).replace("%a", address)


# In every space.
COMMON = {
    "a load again": Case("ld@.u32 %r1, [%a]; ld@.u32 %r2, [%a];", 1),
    "a load behind a store": Case("st@.u32 [%a], %n; ld@.u32 %r1, [%a];", 0, 1),
    "a store again": Case("st@.u32 [%a], %n; st@.u32 [%a], 5;", 0, 1),
    "what is stored is stored again, and loaded": Case("st@.u32 [%a], %n; st@.u32 [%a], %t; ld@.u32 %r1, [%a];", 0, 1),
    "beside": Case("st@.u32 [%a], %n; ld@.u32 %r1, [%a+4]; st@.u32 [%a], %t;", 1, 1),
    "a load between": Case("st@.u32 [%a+4], %n; ld@.u64 %d1, [%a]; cvt.u32.u64 %r1, %d1; st@.u32 [%a+4], %t;", 1, 2),
    "a store beside": Case("ld@.u32 %r1, [%a]; st@.u32 [%a+4], %n; ld@.u32 %r2, [%a];", 1, 1),
    "a store over a part": Case("ld@.u32 %r1, [%a]; st@.u8 [%a+3], %n; ld@.u32 %r2, [%a];", 2, 1),
    "a store over the whole": Case("st@.u8 [%a+3], %n; st@.u16 [%a], %t; st@.u32 [%a], %n;", 0, 1),
    "a part of a store stays": Case("st@.u64 [%a], %d0; st@.u32 [%a], %n;", 0, 2),
    "64 bits": Case("ld@.u64 %d1, [%a]; ld@.u64 %d2, [%a]; cvt.u32.u64 %r1, %d1; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r2, %d2;", 1),
    "a vector": Case("ld@.v4.u32 {%r1, %r2, %r3, %r4}, [%a]; ld@.v4.u32 {%r5, %r6, %r7, %r8}, [%a]; add.u32 %r1, %r5, %r8;", 1),
    "a word of a vector": Case("ld@.v2.u32 {%r1, %r2}, [%a]; ld@.u32 %r3, [%a+4];", 1),
    "a stored vector": Case("st@.v2.u32 [%a], {%n, %t}; ld@.u32 %r3, [%a+4]; ld@.u32 %r4, [%a];", 0, 1),
    "a word that is too long": Case("ld@.u32 %r1, [%a]; ld@.v2.u32 {%r2, %r3}, [%a];", 2),
    "bytes without sign": Case("st@.u8 [%a], %n; ld@.u8 %r1, [%a];", 0, 1),
    "bytes with sign": Case("st@.u8 [%a], %n; ld@.s8 %r1, [%a];", 0, 1),
    "a loaded byte, with and without sign": Case("ld@.u8 %r1, [%a+1]; ld@.s8 %r2, [%a+1]; ld@.u8 %r3, [%a+1];", 1),
    "bytes of a word": Case("st@.u32 [%a], %n; ld@.u8 %r1, [%a+1]; ld@.s8 %r2, [%a+3]; ld@.s8 %r3, [%a+2];", 0, 1),
    "halves of a word": Case("ld@.u32 %r1, [%a]; ld@.u16 %r2, [%a+2]; ld@.s16 %r3, [%a+2]; ld@.s16 %r4, [%a];", 1),
    "halves of a stored word": Case("st@.u32 [%a], %n; ld@.s16 %r2, [%a+2]; ld@.u16 %r3, [%a];", 0, 1),
    "a half of 16 bits": Case("ld@.u16 %h1, [%a]; ld@.u16 %h2, [%a]; cvt.u32.u16 %r1, %h1; cvt.s32.s16 %r2, %h2;", 1),
    "zeros": Case("st@.v4.u32 [%a], {0, 0, 0, 0}; ld@.u32 %r1, [%a+8]; ld@.u8 %r2, [%a+15];", 0, 1),
    "another register with the sum": Case("ld@.u32 %r1, [%a+4]; mov.u32 %r5, 0; add.u32 %r5, %r5, %r1; ld@.u32 %r2, [%a+4];", 1),
    "volatile loads": Case("ld.volatile@.u32 %r1, [%a]; ld.volatile@.u32 %r2, [%a]; ld@.u32 %r3, [%a];", 3),
    "volatile stores": Case("st.volatile@.u32 [%a], %n; st.volatile@.u32 [%a], %t; ld@.u32 %r1, [%a];", 1, 2),
    "a volatile store again": Case("st@.u32 [%a], %t; st.volatile@.u32 [%a], %n;", 0, 2),
    "a barrier of the block": Case("ld@.u32 %r1, [%a]; bar.sync 0; ld@.u32 %r2, [%a];", 2),
    "a barrier of the block, stores": Case("st@.u32 [%a], %n; bar.sync 0; st@.u32 [%a], %t;", 0, 2),
    "a barrier of the warp": Case("ld@.u32 %r1, [%a]; bar.warp.sync -1; ld@.u32 %r2, [%a];", 2),
    "a barrier of the warp, stores": Case("st@.u32 [%a], %n; bar.warp.sync -1; st@.u32 [%a], %t;", 0, 2),
    "a barrier, old words": Case("ld@.u32 %r1, [%a]; barrier.sync 1, 64; ld@.u32 %r2, [%a];", 2),
    "membar.cta": Case("ld@.u32 %r1, [%a]; membar.cta; ld@.u32 %r2, [%a];", 2),
    "membar.gl": Case("st@.u32 [%a], %n; membar.gl; ld@.u32 %r2, [%a]; st@.u32 [%a], %t;", 1, 2),
    "membar.sys": Case("st@.u32 [%a], %n; membar.sys; st@.u32 [%a], %t;", 0, 2),
    "fence.acq_rel": Case("ld@.u32 %r1, [%a]; fence.acq_rel.cta; ld@.u32 %r2, [%a];", 2),
    "fence.sc": Case("ld@.u32 %r1, [%a]; fence.sc.gpu; ld@.u32 %r2, [%a];", 2),
    "a vote": Case("ld@.u32 %r1, [%a]; vote.sync.ballot.b32 %r3, %c, -1; ld@.u32 %r2, [%a];", 1),
    "a shuffle": Case("ld@.u32 %r1, [%a]; shfl.sync.idx.b32 %r3, %r1, 1, 31, -1; ld@.u32 %r2, [%a];", 1),
    "a guarded load behind one for all": Case("ld@.u32 %r1, [%a]; @%c ld@.u32 %r2, [%a];", 1),
    "a guarded load in front": Case("@%c ld@.u32 %r1, [%a]; ld@.u32 %r2, [%a];", 2),
    "a guarded store between": Case("ld@.u32 %r1, [%a]; @%c st@.u32 [%a], %n; ld@.u32 %r2, [%a];", 2, 1),
    "a guarded store behind": Case("st@.u32 [%a], %n; @%c st@.u32 [%a], %t;", 0, 2),
    "a guarded store in front": Case("@%c st@.u32 [%a], %n; st@.u32 [%a], %t; ld@.u32 %r1, [%a];", 0, 2),
    "the address is what is loaded": Case("ld@.u32 %r1, [%a]; st@.u32 [%a], %r1; ld@.u32 %r1, [%a]; add.u32 %r1, %r1, 1;", 1, 1),
}
# In one space, or between spaces.
CASES = {
    "shared memory is not global": Case("ld.global.u32 %r1, [%p]; st.shared.u32 [%s], %n; ld.global.u32 %r2, [%p];", 1, 1),
    "local memory is not shared": Case("ld.shared.u32 %r1, [%s]; st.local.u32 [%l], %n; ld.shared.u32 %r2, [%s];", 1, 1),
    "another pointer": Case("ld.global.u32 %r1, [%p]; st.global.u32 [%q], %n; ld.global.u32 %r2, [%p];", 2, 1),
    "another pointer, stored": Case("st.global.u32 [%p], %n; st.global.u32 [%q], 9; ld.global.u32 %r2, [%p];", 1, 2),
    "a store of another pointer, written over": Case(
        "st.global.u32 [%p], %n; st.global.u32 [%q], 9; st.global.u32 [%p], 3; ld.global.u32 %r1, [%q];", 1, 2
    ),
    "a load of another pointer sees it": Case("st.global.u32 [%p], %n; ld.global.u32 %r1, [%q]; st.global.u32 [%p], 3;", 1, 2),
    "a generic store into global": Case("ld.global.u32 %r1, [%p]; st.u32 [%gp], %n; ld.global.u32 %r2, [%p];", 2, 1),
    "a generic store into shared": Case("ld.shared.u32 %r1, [%s]; st.u32 [%gs], %n; ld.shared.u32 %r2, [%s];", 2, 1),
    "a shared store, generic loads": Case("ld.u32 %r1, [%gs]; st.shared.u32 [%s], %n; ld.u32 %r2, [%gs];", 2, 1),
    "a generic load sees shared stores": Case("st.shared.u32 [%s], %n; ld.u32 %r1, [%gs]; st.shared.u32 [%s], 5;", 1, 2),
    "a relaxed load": Case("ld.relaxed.gpu.global.u32 %r1, [%p]; ld.relaxed.gpu.global.u32 %r2, [%p];", 2),
    "a relaxed store": Case("st.global.u32 [%p], %n; st.relaxed.gpu.global.u32 [%p], %t; ld.global.u32 %r1, [%p];", 1, 2),
    "an acquire": Case("ld.global.u32 %r1, [%p]; ld.acquire.gpu.global.u32 %r2, [%q]; ld.global.u32 %r3, [%p];", 3),
    "a release": Case("ld.global.u32 %r1, [%p]; st.release.gpu.global.u32 [%q+4], %n; ld.global.u32 %r3, [%p];", 2, 1),
    "an atomic": Case("ld.global.u32 %r1, [%p]; atom.global.add.u32 %r2, [%p], 1; ld.global.u32 %r3, [%p];", 2),
    "a reduction": Case("st.global.u32 [%p], %n; red.global.max.u32 [%p], %t; ld.global.u32 %r3, [%p];", 1, 1),
    "a shared atomic": Case("ld.shared.u32 %r1, [%s]; atom.shared.exch.b32 %r2, [%s], %n; ld.shared.u32 %r3, [%s];", 2),
    "read-only": Case("ld.global.nc.u32 %r1, [%p]; ld.global.nc.u32 %r2, [%p];", 1),
    "read-only or not": Case("ld.global.nc.u32 %r1, [%p]; ld.global.u32 %r2, [%p];", 2),
    "cache operators": Case("ld.global.cs.u32 %r1, [%p]; ld.global.cs.u32 %r2, [%p]; ld.global.u32 %r3, [%p];", 2),
    "a store with a cache operator": Case("st.global.cs.u32 [%p], %n; ld.global.u32 %r1, [%p]; st.global.u32 [%p], %t;", 1, 2),
    "behind a branch": Case(
        "ld.global.u32 %r1, [%p]; @%c bra A; bar.sync 0; add.u32 %r2, %r1, 5; bra B; A: ld.global.u32 %r2, [%p]; B:", 1
    ),
    "where ways meet": Case(
        "ld.global.u32 %r1, [%p]; @%c bra A; bar.sync 0; add.u32 %r3, %r1, 5; A: ld.global.u32 %r2, [%p];", 2
    ),
    "a store in front of a branch": Case("st.global.u32 [%p], %n; @%c bra A; st.global.u32 [%p], %t; bar.sync 0; A:", 0, 2),
    "a store in front of an end": Case("st.global.u32 [%p], %n; @%c exit; st.global.u32 [%p], %t;", 0, 2),
    "a counter in memory": Case(
        "st.shared.u32 [%s], 0; mov.u32 %r9, 0; A: ld.shared.u32 %r8, [%s]; add.u32 %r8, %r8, %n;"
        "st.shared.u32 [%s], %r8; ld.shared.u32 %r7, [%s]; add.u32 %r1, %r1, %r7; add.u32 %r9, %r9, 1; setp.lt.u32 %e, %r9, %n;"
        "@%e bra A;", 2, 3,  # of turns and of rounds behind them
    ),
    "an address that goes on": Case(
        "mov.u32 %r9, 0; A: ld.shared.u32 %r7, [%s]; ld.shared.u32 %r8, [%s]; add.u32 %r1, %r7, %r8;"
        "add.u32 %s, %s, 4; ld.shared.u32 %r6, [%s]; add.u32 %r2, %r2, %r6; add.u32 %r9, %r9, 1; setp.lt.u32 %e, %r9, 2;"
        "@%e bra A;",
        2,  # words beside each other are one access
    ),
}  # fmt: skip
ALL = {
    **{f"{name}, {where}": case._replace(body=body) for name, case in COMMON.items() for where, body in spaces(case.body)},
    **CASES,
}


def program(body: str, target: str) -> str:
    return HEAD.format(target=target) + START + body + "\n" + TAIL.format()


def run(image: bytes, same: bool, number: int) -> list[list[int]]:
    """Memory and results afterwards; 128 bytes in front of the other memory where that is another one."""
    rng = np.random.default_rng(number)
    p = rng.integers(0, 1 << 32, THREADS * BYTES // 4, np.uint32)
    q = rng.integers(0, 1 << 32, THREADS * BYTES // 4, np.uint32)
    results = np.zeros(THREADS * 4, np.uint32)
    done = oric.sim.load(image).launch(
        "k", grid=1, block=THREADS, args=[p, p if same else q, results, number], modes=Modes(strict=True, memcheck=True)
    )
    assert [str(report) for report in done.reports] == []
    return [p.tolist(), q.tolist(), results.tolist()]


def counted(image: bytes, target: str) -> tuple[int, int]:
    """Loads and stores of a body."""
    code = next(iter(elf.read(image).kernels.values())).text
    found = [re.search(r"(?:^|\s)(LD|ST)[GSL]?(?=[.\s])", text) for text in disassemble(code, target)]
    kinds = [match[1] for match in found if match]
    return kinds.count("LD") - FIXED[0], kinds.count("ST") - FIXED[1]


def _without(text: str, target: str) -> bytes:
    return oric.compile(text, arch=target, opt_level=0).image


@pytest.mark.memcheck
@pytest.mark.parametrize("name", ALL)
def test_what_stays(name: str) -> None:
    case = ALL[name]
    target = TARGETS[list(ALL).index(name) % len(TARGETS)]
    if target == "sm_75" and re.search(r"\.(?:sc|relaxed|acq)", case.body):
        target = "sm_80"
    text = program(case.body, target)
    made, plain = oric.compile(text, arch=target, opt_level=3, verify=True).image, _without(text, target)
    for same in (False, True):
        for number in (3, 0x89ABCDEF) if "%e" not in case.body else (3, 7):
            assert run(made, same, number) == run(plain, same, number)
    assert counted(made, target) == (case.loads, case.stores)


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_may_write(target: str) -> None:
    head, entry = HEAD.format(target=target).split(".visible", 1)
    call = (
        ".global .u32 g = 5;\n.func f() { .reg .b32 %r; .reg .b64 %d; mov.u64 %d, g; ld.global.u32 %r, [%d]; "
        "add.u32 %r, %r, 1; st.global.u32 [%d], %r; ret; }\n"
    )
    body = "mov.u64 %d3, g; setp.ne.u32 %e, %t, 0; @%e bra A; ld.global.u32 %r1, [%d3]; call f; ld.global.u32 %r2, [%d3]; A:\n"
    text = f"{head}{call}.visible{entry}{body}{TAIL.format()}"
    for level in (0, 3):
        assert run(oric.compile(text, arch=target, opt_level=level).image, False, 1)[2][:4] == [5, 6, 3, 4]


# Threads give each other values through shared memory: every place is loaded again behind the barrier.
PASSING = """ mov.u32 %r9, 0; mov.u32 %r10, shared_memory; mad.lo.u32 %s, %t, 4, %r10; add.u32 %r11, %t, 1;
 and.b32 %r11, %r11, 63; mad.lo.u32 %r11, %r11, 4, %r10; st.shared.u32 [%s], %t;
A: {wait} ld.shared.u32 %r5, [%r11]; ld.shared.u32 %r6, [%s]; {wait} mad.lo.u32 %r5, %r5, 3, %r6; st.shared.u32 [%s], %r9;
 st.shared.u32 [%s], %r5; ld.shared.u32 %r1, [%s]; add.u32 %r9, %r9, 1; setp.lt.u32 %e, %r9, 5; @%e bra A;
"""


@pytest.mark.memcheck
@pytest.mark.parametrize("target", TARGETS)
def test_threads_that_pass_values_on(target: str) -> None:
    wanted = np.arange(THREADS, dtype=np.uint32)
    for _ in range(5):
        wanted = np.roll(wanted, -1) * np.uint32(3) + wanted
    for wait in ("bar.sync 0;", "barrier.sync 0;", "membar.cta; bar.sync 0;"):
        text = program(PASSING.format(wait=wait), target)
        for level in (0, 3):
            found = run(oric.compile(text, arch=target, opt_level=level).image, False, 0)[2]
            assert found[::4] == wanted.tolist()


# -- random programs -------------------------------------------------------------------------------------------------

SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16}
BASES = [(".global", "%p"), (".global", "%q"), (".shared", "%s"), ("", "%gp"), ("", "%gs"), (".local", "%l")]
BETWEEN = ["bar.sync 0;", "membar.cta;", "bar.warp.sync -1;", "add.u32 %n, %n, %r{a};", "xor.b32 %r{a}, %r{b}, %n;"]


def random_body(rng: random.Random, length: int) -> str:
    """Loads and stores of all sizes at offsets that overlap; some under a guard, some blocks in between."""
    lines = [f"mov.u32 %r{n}, {rng.randrange(1 << 32):#x};" for n in range(5, 21)]
    bases = rng.sample(BASES, rng.randrange(1, 4))
    for n in range(length):
        a, b = rng.randrange(5, 21), rng.randrange(5, 21)
        if rng.random() < 0.08:
            lines.append(rng.choice(BETWEEN).format(a=a, b=b))
            continue
        if rng.random() < 0.05:
            lines += [f"setp.gt.u32 %e, %r{a}, %r{b}; @%e bra L{n};", f"add.u32 %r{a}, %r{a}, %n;", f"L{n}:"]
            continue
        size = rng.choice(list(SIZES))
        space, address = rng.choice(bases)
        offset = rng.randrange(0, BYTES, SIZES[size]) if rng.random() < 0.3 else rng.randrange(0, 16, SIZES[size])
        guard = "@%c " if rng.random() < 0.15 else "@!%c " if rng.random() < 0.05 else ""
        registers = {"u64": "%d{0}", "v2.u32": "{{%r{1}, %r{2}}}", "v4.u32": "{{%r{1}, %r{2}, %r{3}, %r{4}}}"}.get(size, "%r{1}")
        names = rng.sample(range(5, 21), 4)
        what = registers.format(2 + a % 6, *names)
        if rng.random() < 0.55:
            lines.append(f"{guard}ld{space}.{size} {what}, [{address}+{offset}];")
        else:
            lines.append(f"{guard}st{space}.{size.replace('s8', 'u8').replace('s16', 'u16')} [{address}+{offset}], {what};")
    every = " ".join(f"mad.lo.u32 %r{1 + n % 4}, %r{1 + n % 4}, 31, %r{n};" for n in range(5, 21))
    words = " ".join(
        f"cvt.u32.u64 %r5, %d{n}; shr.u64 %d{n}, %d{n}, 32; cvt.u32.u64 %r6, %d{n};"
        "mad.lo.u32 %r1, %r1, 31, %r5; xor.b32 %r2, %r2, %r6;"
        for n in range(2, 8)
    )
    memory = " ".join(
        f"ld{space}.u32 %r5, [{address}+{offset}]; mad.lo.u32 %r3, %r3, 31, %r5;"
        for space, address in ((".shared", "%s"), (".local", "%l"))
        for offset in range(0, BYTES, 4)
    )
    filled = " ".join(
        f"st{space}.u32 [{address}+{offset}], %n;"
        for space, address in ((".shared", "%s"), (".local", "%l"))
        for offset in range(16, BYTES, 4)
    )
    doubles = " ".join(f"cvt.u64.u32 %d{n}, %t;" for n in range(2, 8))
    return "\n".join([filled, doubles, "bar.sync 0;", *lines, "bar.sync 0;", every, words, memory])


@pytest.mark.memcheck
@pytest.mark.parametrize("seed", campaigns.seeds(400, first=25))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    target = TARGETS[seed % len(TARGETS)]
    text = program(random_body(rng, 10 + seed % 4 * 12), target)
    made, plain = oric.compile(text, arch=target, opt_level=3, verify=True).image, _without(text, target)
    images = [made]
    if vendor := shutil.which("ptxas"):
        (tmp_path / "k.ptx").write_text(text)
        subprocess.run([vendor, "-arch", target, tmp_path / "k.ptx", "-o", tmp_path / "k.cubin"], check=True, capture_output=True)
        images.append((tmp_path / "k.cubin").read_bytes())
    for same in (False, True):
        for number in (2, 77):
            wanted = run(plain, same, number)
            for image in images:
                assert run(image, same, number) == wanted


# -- Ori code ----------------------------------------------------------------------------------------------------------


def forwarded(lines: list[str]) -> list[str]:
    """What becomes of a function, which does what it did."""
    return [line.strip() for line in after(forward_values, lines, joins_stores=True)]


def accesses(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines if line.split()[0].startswith(("LD", "ST"))]


SHOWN = ["    STG R2:2, 0x40, R20", "    STG R2:2, 0x44, R21"]
ORI = {
    "the base is written": ("LDS R20, R10, 0x0; IADD3 R10, R10, 0x4, RZ; LDS R21, R10, 0x0", "LDS LDS"),
    "the value is written": ("LDS R21, R10, 0x0; IADD3 R21, R21, R11, RZ; LDS R20, R10, 0x0", "LDS LDS"),
    "the stored value is written, and the store goes": ("STS R10, 0x0, R11; IADD3 R11, R11, R10, RZ; STS R10, 0x0, R11", "STS"),
    "a load of its own address": ("LDS R10, R10, 0x0; LDS R20, R10, 0x0", "LDS LDS"),
    "a copy that is an address": ("LDS R20, R10, 0x0; LDS R21, R11, 0x0; LDS R11, R10, 0x0; LDS R21, R11, 0x0", "LDS LDS LDS"),
    "into the same register": ("LDS R20, R10, 0x0; LDS R20, R10, 0x0", "LDS"),
    "words of one register": (
        "LDS{size=128} R20:4, R10, 0x0; LDS{size=64} R20.1:2, R10, 0x0; STG{size=128} R2:2, 0x50, R20:4",
        "LDS{size=128} LDS{size=64}",
    ),
    "words that stay where they are": (
        "LDS{size=128} R20:4, R10, 0x0; LDS{size=64} R20.2:2, R10, 0x8; STG{size=128} R2:2, 0x50, R20:4",
        "LDS{size=128}",
    ),
    "another descriptor": (
        "MOV UR40.0, c[0x0][0x220]; MOV UR40.1, c[0x0][0x224]; LD R20, R2:2, 0x0, UR40:2; MOV UR40.0, c[0x0][0x228];"
        " LD R21, R2:2, 0x0, UR40:2", "LD LD",
    ),
    "scaled": ("LDS{scale=X4} R20, R10, 0x0; LDS{scale=X4} R21, R10, 0x0", "LDS{scale=X4} LDS{scale=X4}"),
    "scaled stores may meet": ("LDS R20, R10, 0x0; STS{scale=X4} R10, 0x8, R11; LDS R21, R10, 0x0", "LDS STS{scale=X4} LDS"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "wanted"), ORI.values(), ids=ORI)
def test_registers(code: str, wanted: str) -> None:
    lines = [f"    {line}" for line in code.split("; ")]
    assert [word for word in accesses(forwarded([*lines, *SHOWN])) if word[2:3] != "G"] == wanted.split()


def test_few_places_are_remembered() -> None:
    """Each access looks at no more of them: time grows with the code alone."""
    many = [f"    LDS R20, R10, {hex(4 * n)}" for n in range(100)]
    assert len(accesses(forwarded([*many, *many, *SHOWN[:1]]))) > 100
