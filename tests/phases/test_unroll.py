"""Phase 22 at -O3: loops that end become their rounds, and short ones that count at run time have turns of several."""

from __future__ import annotations

from functools import cache

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.function import control_flow
from oric.ir.text import all_instructions
from oric.sim import Modes
from oric_tables.ops import op

TARGETS = ("sm_75", "sm_90", "sm_120")
LANES = 32
MOST = 400  # rounds of a case
COUNTED = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 first, .param .u32 apart, .param .u32 end)
{{
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<4>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [first]; ld.param.u32 %r2, [apart]; ld.param.u32 %r3, [end];
  mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r4, %r2, %r1; mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2;
  mov.u32 %r6, 0; mov.u32 %r7, 7; mov.u64 %d3, %d1;
L: {pragma}
  ld.global.u32 %r8, [%d3+512]; add.u64 %d3, %d3, 128; mad.lo.u32 %r7, %r7, 31, %r8; xor.b32 %r7, %r7, %r5; add.u32 %r6, %r6, 1;
  add.u32 %r5, %r5, {step}; setp.{compare} %p1, {sides}; @{way}%p1 bra L;
  st.global.u32 [%d1], %r6; st.global.u32 [%d1+128], %r7; st.global.u32 [%d1+256], %r5;
  ret;
}}
"""


def compiled(source: str, target: str, opt_level: int = 3) -> bytes:
    return compile_text(source, CompileOptions(target, opt_level, verify=True)).image


def shape(source: str, name: str, target: str = "sm_90", opt_level: int = 3) -> tuple[int, int]:
    """How many instructions of a name the code has, and how many loops."""
    ((f, _),) = compile_functions(source, CompileOptions(target, opt_level, verify=True))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    return sum(found.startswith(name) for found in names), control_flow(f).loops().count


def counted(compare: str, step: int, turned: bool = False, negated: bool = False, pragma: str = "") -> str:
    sides = "%r3, %r5" if turned else "%r5, %r3"
    return COUNTED.format(compare=compare, step=step, sides=sides, way="!" if negated else "", pragma=pragma)


RELATIONS = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "ne": lambda a, b: a != b,
}


def signed(value: int) -> int:
    return (value & 0xFFFFFFFF) - ((value & 0x80000000) << 1)


def rounds_of(compare: str, step: int, turned: bool, negated: bool, start: int, end: int) -> list[int] | None:
    """The values of the counter in the rounds of one thread, and the last one; None when they are too many."""
    relation, kind = compare.split(".")
    number = signed if kind == "s32" else lambda value: value & 0xFFFFFFFF
    found = [start & 0xFFFFFFFF]
    while len(found) <= MOST:
        found.append((found[-1] + step) & 0xFFFFFFFF)
        a, b = number(found[-1]), number(end)
        if RELATIONS[relation](*((b, a) if turned else (a, b))) == negated:
            return found
    return None


def check_counted(image: bytes, data: np.ndarray, ways: list[list[int]], args: list[int]) -> None:
    buffer = data.copy()
    done = oric.sim.load(image).launch("k", grid=1, block=LANES, args=[buffer, *map(np.uint32, args)], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    for lane, way in enumerate(ways):
        mixed = 7
        for turn, value in enumerate(way[:-1]):
            mixed = (mixed * 31 + int(data[128 + lane + 32 * turn])) & 0xFFFFFFFF ^ value
        assert [int(buffer[lane + 32 * at]) for at in range(3)] == [len(way) - 1, mixed, way[-1]], (lane, args)


@cache
def data() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 1 << 32, 128 + 32 * (MOST + 2), np.uint32)


LOOPS = [
    # how the loop compares, its step, whether the end stands first, whether it goes on when the comparison fails
    ("lt.s32", 1, False, False), ("lt.s32", 3, False, False), ("le.s32", 2, False, False), ("gt.s32", -1, False, False),
    ("ge.s32", -5, False, False), ("lt.u32", 1, False, False), ("le.u32", 7, False, False), ("gt.u32", -1, False, False),
    ("ge.u32", -3, False, False), ("ne.s32", 1, False, False), ("ne.s32", -1, False, False), ("ne.u32", 4, False, False),
    ("ne.u32", -4, False, False), ("gt.s32", 1, True, False), ("lt.u32", -2, True, False), ("ge.s32", 1, False, True),
    ("le.u32", -1, False, True), ("le.s32", 1, True, True), ("lt.s32", 0x3FFFFFF, False, False),
    ("gt.u32", -0x3FFFFFF, False, False), ("lt.u32", 0x4000000, False, False), ("ne.u32", 0x4000000, False, False),
    ("ne.s32", -0x2000000, True, False), ("lt.u32", 0x5000000, False, False),
]  # fmt: skip
EDGES = (0, 1, 2, 3, 4, 5, 11, 12, 13, 0x7FFFFFFF, 0x80000000, 0x7FFFFFF8, 0x80000007, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFF0)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("compare", "step", "turned", "negated"), LOOPS)
def test_rounds_that_are_counted_at_run_time(compare: str, step: int, turned: bool, negated: bool, target: str) -> None:
    """Starts and ends of all kinds, at the limits of numbers as well, in threads that count alike and otherwise."""
    source = counted(compare, step, turned, negated)
    assert shape(source, "LDG", target)[0] == 5
    image = compiled(source, target)
    rng = np.random.default_rng(abs(step) * 31 + len(compare))
    tried = 0
    for _ in range(4000):
        if tried == 40:
            break
        end = int(rng.choice(EDGES)) + int(rng.integers(-2, 3))
        first = end - step * int(rng.integers(-3, 40)) + int(rng.choice((0, 0, 1, -1)))
        if rng.integers(0, 4) == 0:
            first = int(rng.choice(EDGES))
        apart = int(rng.choice((0, 0, step, 2 * step, -step, 1)))
        ways = [rounds_of(compare, step, turned, negated, first + lane * apart, end) for lane in range(LANES)]
        if all(way is not None for way in ways):
            tried += 1
            check_counted(image, data(), [way for way in ways if way is not None], [x & 0xFFFFFFFF for x in (first, apart, end)])
    assert tried >= 10


def test_loops_whose_rounds_nobody_can_test_ahead() -> None:
    """Counters that go away from their end, steps that are too far, pragmas, and levels below."""
    assert shape(counted("lt.s32", 1), "LDG")[0] == 5
    for source in (
        counted("gt.s32", 1), counted("lt.u32", -1), counted("eq.u32", 1), counted("lt.s32", 1 << 27),
        counted("ne.u32", 1, negated=True), counted("lt.s32", 1, pragma='.pragma "nounroll";'),
    ):  # fmt: skip
        assert shape(source, "LDG")[0] == 1
    assert shape(counted("lt.s32", 1), "LDG", opt_level=2)[0] == 1


KNOWN = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .shared .b32 room[32];
  .reg .b32 %r<30>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .f32 %f<5>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1]; mov.u32 %r3, 1; mov.u32 %r4, 0; mov.u32 %r10, room; shl.b32 %r11, %r1, 2; add.u32 %r11, %r11, %r10;
  {before}
L:
  {body}
  add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {rounds}; @%p1 bra L;
E:
  {behind}
  st.global.u32 [%d1+128], %r3; st.global.u32 [%d1+256], %r4;
  ret;
}}
"""


def known(body: str, rounds: int = 6, before: str = "", behind: str = "") -> str:
    return KNOWN.format(body=body, rounds=rounds, before=before, behind=behind)


def python_of(name: str, value: int, lane: int, values: list[int]) -> tuple[int, int]:
    """What the body of a name leaves in %r3 and %r4 in a thread that has read ``value``."""
    r3, r4 = 1, 0
    flag = 0
    kept = 9
    while True:
        if name == "ways":
            r3 = (r3 * 3 if value >> r4 & 1 else r3 + 5) & 0xFFFFFFFF
        elif name == "left":
            r3 = (r3 * 7 + r4) & 0xFFFFFFFF
            if value >> r4 & 1:
                return r3, r4
        elif name == "known ways":
            r3 = (r3 + 100 if r4 < 3 else r3 ^ value) & 0xFFFFFFFF
        elif name == "guards":
            r3 = (r3 + 2 if value >> r4 & 1 else r3) & 0xFFFFFFFF
            kept = r4 if value >> r4 & 1 else kept
        elif name == "again":
            if not value >> r4 & 1:
                r3 = (r3 * 5 + r4) & 0xFFFFFFFF
        elif name == "triangle":
            for inner in range(r4 + 1):
                r3 = (r3 * 3 + inner) & 0xFFFFFFFF
        elif name == "inner":
            for inner in range((value & 3) + 1):
                r3 = (r3 * 3 + inner + r4) & 0xFFFFFFFF
        elif name == "carried":
            r3, flag = (r3 + (3 if flag else 1)) & 0xFFFFFFFF, value >> r4 & 1
        elif name == "exchanged":
            r3, kept = kept, (r3 + kept + value) & 0xFFFFFFFF
        elif name == "meeting":
            other = values[(lane + r4) % LANES]
            r3 = (r3 * 3 + other) & 0xFFFFFFFF
        elif name == "lanes":
            r3 = (r3 + values[lane ^ (1 << r4 & 31)]) & 0xFFFFFFFF
        elif name == "atomics":
            r3 = (r3 + 1) & 0xFFFFFFFF
        r4 += 1
        if r4 >= ROUNDS.get(name, 6):
            break
    if name == "guards":
        r3 = (r3 + kept) & 0xFFFFFFFF
    if name == "carried":
        r3 = (r3 + (50 if flag else 0)) & 0xFFFFFFFF
    if name == "exchanged":
        r3 ^= kept
    return r3, r4


BIT = "shr.u32 %r5, %r2, %r4; and.b32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;"
ROUNDS = {"lanes": 5}
BODIES = {
    "ways": known(f"{BIT} @%p2 bra A; add.u32 %r3, %r3, 5; bra B; A: mul.lo.u32 %r3, %r3, 3; B:"),
    "left": known(f"mad.lo.u32 %r3, %r3, 7, %r4; {BIT} @%p2 bra E;"),
    "known ways": known("setp.lt.u32 %p2, %r4, 3; @%p2 bra A; xor.b32 %r3, %r3, %r2; bra B; A: add.u32 %r3, %r3, 100; B:"),
    "guards": known(
        f"{BIT} @%p2 add.u32 %r3, %r3, 2; @!%p2 bra B; mov.u32 %r6, %r4; B:",
        before="mov.u32 %r6, 9;", behind="add.u32 %r3, %r3, %r6;"),
    "again": known(f"{BIT} @%p2 bra C; mad.lo.u32 %r3, %r3, 5, %r4; C:"),
    "triangle": known(
        "mov.u32 %r6, 0; M: mad.lo.u32 %r3, %r3, 3, %r6; add.u32 %r6, %r6, 1; setp.le.u32 %p3, %r6, %r4; @%p3 bra M;"),
    "inner": known(
        "and.b32 %r7, %r2, 3; mov.u32 %r6, 0; M: mad.lo.u32 %r3, %r3, 3, %r6; add.u32 %r3, %r3, %r4; add.u32 %r6, %r6, 1;"
        "setp.le.u32 %p3, %r6, %r7; @%p3 bra M;"),
    "carried": known(
        f"mov.u32 %r6, 1; @%p4 mov.u32 %r6, 3; add.u32 %r3, %r3, %r6; {BIT} setp.ne.u32 %p4, %r5, 0;",
        before="setp.ne.u32 %p4, %r1, %r1;", behind="@%p4 add.u32 %r3, %r3, 50;"),
    "exchanged": known(
        "add.u32 %r7, %r3, %r6; mov.u32 %r3, %r6; add.u32 %r6, %r7, %r2;",
        before="mov.u32 %r6, 9;", behind="xor.b32 %r3, %r3, %r6;"),
    "meeting": known(
        "st.shared.u32 [%r11], %r2; bar.sync 0; add.u32 %r5, %r1, %r4; and.b32 %r5, %r5, 31; shl.b32 %r5, %r5, 2;"
        "add.u32 %r5, %r5, %r10; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r3, %r3, 3, %r6; bar.sync 0;"),
    "lanes": known("mov.u32 %r6, 1; shl.b32 %r6, %r6, %r4; shfl.sync.bfly.b32 %r5, %r2, %r6, 31, -1; add.u32 %r3, %r3, %r5;", 5),
    "atomics": known("atom.global.add.u32 %r5, [%d1+384], 1; add.u32 %r3, %r3, 1;"),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BODIES)
def test_rounds_that_are_known(name: str, target: str) -> None:
    """Bodies with ways, ends, inner loops, exchanges of values and of threads: what Python makes of them."""
    values = np.random.default_rng(len(name)).integers(0, 1 << 32, LANES, np.uint32)
    values[:8] = (0, 0xFFFFFFFF, 1, 2, 0x20, 0x3F, 0x15, 0x2A)
    source = BODIES[name]
    assert shape(source, "LDG", target)[1] == {"inner": 12, "meeting": 1, "lanes": 1}.get(name, 0)
    for opt_level in (0, 2, 3):
        buffer = np.zeros(4 * LANES, np.uint32)
        buffer[:LANES] = values
        module = oric.sim.load(compiled(source, target, opt_level))
        done = module.launch("k", grid=1, block=LANES, args=[buffer], modes=Modes(strict=True))
        assert [str(report) for report in done.reports] == []
        for lane in range(LANES):
            wanted = python_of(name, int(values[lane]), lane, values.tolist())
            assert (int(buffer[32 + lane]), int(buffer[64 + lane])) == wanted, (opt_level, lane)
        if name == "atomics":
            assert set(buffer[96:].tolist()) == {6}


def test_what_is_unrolled_and_what_is_not() -> None:
    """A pragma, levels below, and threads that do something together, to which they may come in different rounds."""
    assert shape(BODIES["ways"], "LDG", opt_level=2)[1] == 1
    assert shape(known(f'.pragma "nounroll"; {BIT} @%p2 add.u32 %r3, %r3, 5;'), "LDG")[1] == 1
    for meeting in (
        "shfl.sync.idx.b32 %r6, %r2, 3, 31, -1; add.u32 %r3, %r3, %r6;",
        "activemask.b32 %r6; add.u32 %r3, %r3, %r6;",
        "bar.sync 0;",
    ):
        assert shape(known(meeting), "LDG")[1] == 1


def test_volatile_accesses_stay_as_many() -> None:
    source = known("ld.volatile.global.u32 %r5, [%d1]; xor.b32 %r3, %r3, %r5;")
    assert shape(source, "LDG") == (1, 1)


@pytest.mark.parametrize(("rounds", "loops"), [(1, 0), (2, 0), (40, 0), (5000, 1)])
def test_numbers_of_rounds(rounds: int, loops: int) -> None:
    """So many that they are too long stay a loop, whose turns are of four rounds."""
    source = known("mad.lo.u32 %r3, %r3, %r2, %r4; shf.l.wrap.b32 %r5, %r3, %r3, 7; xor.b32 %r3, %r3, %r5;", rounds)
    assert shape(source, "LDG")[1] == loops or loops == 1
    buffer = np.arange(4 * LANES, dtype=np.uint32) * 0x9E3779B1
    wanted = np.ones(LANES, np.uint64)
    for turn in range(rounds):
        wanted = (wanted * buffer[:LANES] + turn) & 0xFFFFFFFF
        wanted ^= (wanted << 7 | wanted >> 25) & 0xFFFFFFFF
    done = oric.sim.load(compiled(source, "sm_90")).launch("k", grid=1, block=LANES, args=[buffer], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    assert buffer[32:64].tolist() == wanted.tolist() and set(buffer[64:96].tolist()) == {rounds}
