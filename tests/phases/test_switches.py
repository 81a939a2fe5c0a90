"""Phase 14: jumps of many ways become tables, trees and tests of bits; phase 80: tables come into the kernel's bank 2."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.phases.switches import choose_switches, place_tables
from oric.sim import Modes

from tests.phases.ori import after

HEAD = """.version 8.8
.target {target}
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %q<9>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1]; mov.u32 %r3, 1; setp.gt.u32 %q7, %r1, 40;
"""
END = "\nJ: @%q7 add.u32 %r3, %r3, 5; st.global.u32 [%d1+4], %r3; ret;\n}\n"
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_103", "sm_120")
Cases = dict[int, int]  # number -> block


class Switch(NamedTuple):
    """A jump of many ways: ``cases`` of its blocks, the last of which is that of all other numbers; how it is written in PTX."""

    cases: Cases
    blocks: int
    kind: str = "chain"

    def text(self, target: str = "sm_80") -> str:
        lines = list(self._jump())
        for b in range(self.blocks):
            lines.append(f"L{b}: {work(b)} bra J;")
        return HEAD.format(target=target) + "\n".join(lines) + END

    def _jump(self) -> Sequence[str]:
        if self.kind == "chain":
            found = [f"setp.eq.s32 %q1, %r2, {n}; @%q1 bra L{b};" for n, b in self.cases.items()]
            return [*found, f"bra L{self.blocks - 1};"]
        if self.kind == "turned":  # the way of a case is the one that is not taken
            turned = enumerate(self.cases.items())
            found = [f"setp.ne.u32 %q1, %r2, {n}; @%q1 bra N{at}; bra L{b}; N{at}:" for at, (n, b) in turned]
            return [*found, f"bra L{self.blocks - 1};"]
        labels = [self.cases.get(n, self.blocks - 1) for n in range(max(self.cases) + 1)]
        table = f"T: .branchtargets {', '.join(f'L{b}' for b in labels)};"
        if self.kind == "checked":
            return [table, f"setp.gt.u32 %q1, %r2, {len(labels) - 1}; @%q1 bra L{self.blocks - 1}; brx.idx %r2, T;"]
        return [table, f"rem.u32 %r2, %r2, {len(labels)}; brx.idx %r2, T;"]

    def want(self, number: int, thread: int) -> int:
        """What a thread stores."""
        if self.kind == "table":
            number %= max(self.cases) + 1
        found = {n & 0xFFFFFFFF: b for n, b in self.cases.items()}
        return done(found.get(number, self.blocks - 1)) + (5 if thread > 40 else 0) & 0xFFFFFFFF


def work(b: int) -> str:
    """What a block does, more than guarded instructions would."""
    shift = b % 7 + 1
    return f"mul.lo.u32 %r3, %r3, {2 * b + 3}; xor.b32 %r3, %r3, {77 * b + 1}; shl.b32 %r4, %r3, {shift}; add.u32 %r3, %r3, %r4;"


def done(b: int) -> int:
    """What it makes of 1."""
    value = 2 * b + 3 ^ 77 * b + 1
    return value + (value << b % 7 + 1) & 0xFFFFFFFF


def made_of(switch: Switch, target: str = "sm_80") -> str:
    """The code where phase 14 has run, and what nobody reads is gone."""
    dumps: list[str] = []
    compile_text(switch.text(target), CompileOptions(target, dump=("hoist_expanded",), dump_sink=dumps.append, verify=True))
    return dumps[0]


def check(switch: Switch, target: str, level: int, rng: random.Random) -> None:
    """Every number that counts, those beside them, and others."""
    near = [n + d & 0xFFFFFFFF for n in switch.cases for d in (-1, 0, 0, 1)]
    numbers = [rng.choice([*near, rng.getrandbits(32), rng.randrange(64)]) for _ in range(64)]
    data = np.zeros(128, np.uint32)
    data[::2] = numbers
    made = compile_text(switch.text(target), CompileOptions(target, level, verify=True))
    statistics = oric.sim.load(made.image).launch("k", grid=1, block=64, args=[data], modes=Modes(strict=True))
    assert [str(report) for report in statistics.reports] == []
    want = [switch.want(n, t) for t, n in enumerate(numbers)]
    assert data[1::2].tolist() == want, (switch, level)


DENSE = Switch({n: n for n in range(8)}, 9)
WHAT = {  # jumps, and how many tables, comparisons of words for equality and for order, and shifts for bits are made of them
    "dense": (DENSE, (1, 0, 1, 0)),
    "dense, with gaps": (Switch({3 * n: n for n in range(8)}, 9), (1, 0, 1, 0)),
    "dense, far from 0": (Switch({100_000 + n: n for n in range(8)}, 9), (1, 0, 1, 0)),
    "around 0": (Switch({n - 4: n for n in range(8)}, 9), (1, 0, 1, 0)),
    "turned": (Switch({n: n for n in range(8)}, 9, "turned"), (1, 0, 1, 0)),
    "checked": (Switch({n: n for n in range(8)}, 9, "checked"), (1, 0, 1, 0)),
    "table": (Switch({n: n for n in range(8)}, 9, "table"), (1, 0, 0, 0)),
    "few": (Switch({n: n for n in range(4)}, 5), (0, 4, 0, 0)),
    "few of a table": (Switch({n: n for n in range(4)}, 5, "checked"), (0, 4, 0, 0)),
    "sparse": (Switch({1000 * n: n for n in range(8)}, 9), (0, 8, 0, 0)),
    "sparse and many": (Switch({1000 * n: n for n in range(12)}, 13), (0, 12, 3, 0)),
    "two stretches": (Switch({n + (n > 7) * 5000: n for n in range(16)}, 17), (2, 0, 3, 0)),
    "bits": (Switch(dict.fromkeys((3, 5, 9, 20, 33), 0), 2), (0, 1, 0, 1)),
    "bits around 0": (Switch(dict.fromkeys((-9, -1, 4), 0), 2), (0, 1, 0, 1)),
    "a range": (Switch(dict.fromkeys(range(5, 12), 0), 2), (0, 0, 1, 0)),
    "one block each for two": (Switch({n: n // 2 for n in range(16)}, 9), (1, 0, 1, 0)),
    "three blocks": (Switch({n: n % 2 for n in range(8)}, 3), (0, 8, 0, 0)),
}


@pytest.mark.parametrize("name", WHAT)
def test_what_is_made(name: str) -> None:
    switch, counts = WHAT[name]
    code = made_of(switch)
    equal = code.count("cmp=EQ") + code.count("cmp=NE")
    ordered = sum(code.count(f"cmp={relation}") for relation in ("LT", "LE", "GT", "GE")) - 1  # that of the kernel itself
    assert (code.count("SWITCH"), equal, ordered, code.count("SHF{dir=R")) == counts, code


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("name", WHAT)
def test_where_it_goes(name: str, level: int, target: str) -> None:
    check(WHAT[name][0], target, level, random.Random(name + target))


@pytest.mark.parametrize("seed", range(60))
def test_random_cases(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice(("chain", "chain", "turned", "checked", "table"))
    blocks = rng.randrange(2, 12)
    start = 0 if kind in ("checked", "table") else rng.choice((0, 0, -5, 1000, -(1 << 31), (1 << 31) - 4))
    reach = rng.choice((8, 16, 40, 400)) if start or kind in ("checked", "table") else rng.choice((8, 40, 5000))
    numbers = rng.sample(range(reach), min(reach, rng.randrange(2, 24)))
    low = -(1 << 31)
    cases = {(start + n - low) % (1 << 32) + low: rng.randrange(blocks) for n in numbers}
    check(Switch(cases, blocks, kind), rng.choice(TARGETS), rng.choice((0, 1, 2, 3)), rng)


def chain(count: int, numbers: Sequence[int] = range(99), lines: dict[int, list[str]] | None = None) -> list[str]:
    """Blocks that compare R10 with numbers, and of each one that stores its number; ``lines`` stand in front of comparisons."""
    out: list[str] = []
    for k in range(count):
        out += [*([f"bix{k}:"] if k else []), *((lines or {}).get(k, []))]
        out += [f"    ISETP{{cmp=EQ sign=U32}} P500, R10, {hex(numbers[k])}", f"    @P500 BRA bix{count + 1 + k}"]
    out += [f"bix{count}:", "    STG R2:2, 0x100, R11", "    EXIT"]
    for k in range(count):
        out += [f"bix{count + 1 + k}:", f"    IADD3 R11, R11, {hex(k + 1)}, RZ", "    STG R2:2, 0x104, R11", "    EXIT"]
    return out[:-1]


def tables(lines: list[str]) -> int:
    """How many tables phase 14 makes of code that does the same then."""
    return sum("SWITCH" in line for line in after(choose_switches, lines))


def test_a_chain() -> None:
    assert tables(chain(6, range(1, 9))) == 1
    assert tables(chain(5, range(1, 9))) == 0


STAYS = {
    "a word that changes": {3: ["    IADD3 R10, R10, 0x1, RZ"]},
    "something else to do": {3: ["    STG R2:2, 0x108, R11"]},
    "another word": {3: ["    MOV R12, R10"]},
    "a condition on the way": {3: ["    @P501 ISETP{cmp=EQ} P500, R11, 0x9"]},
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    assert tables(chain(7, range(1, 9), lines)) == 0


def test_a_predicate_that_is_read_later() -> None:
    lines = chain(7, range(1, 9))
    lines[lines.index("    STG R2:2, 0x104, R11")] = "    @!P500 STG R2:2, 0x104, R11"
    assert tables(lines) == 0


def test_the_same_number_twice() -> None:
    assert tables(chain(8, (1, 2, 3, 2, 4, 5, 6, 2))) == 1


@pytest.mark.parametrize("targets", [[1, 2, 1, 2, 3], [1, 2, 3], [3, 3, 1], [1]])
def test_a_table_in_the_bank(targets: list[int]) -> None:
    """What the interpreter finds in bank 2 for an entry is the entry."""
    head = f"    table 0{''.join(f' bix{b}' for b in targets)}"
    lines = [
        f"    VIMNMX{{type=U32}} R12, R10, {hex(len(targets) - 1)}, PT", "    SWITCH R12 [aux=0]",
        *(line for b in (1, 2) for line in (f"bix{b}:", f"    STG R2:2, {hex(0x100 + 4 * b)}, R11", "    EXIT")),
        "bix3:", "    STG R2:2, 0x110, R10",
    ]  # fmt: skip
    found = after(place_tables, lines, head=[head])
    assert sum("BRX" in line for line in found) == 1 and not any("SWITCH" in line for line in found)
    assert sum("LDC" in line for line in found) == 1


def test_functions_have_no_bank() -> None:
    """A function that stays one compares: the constant bank is that of the kernel."""
    text = DENSE._replace(kind="checked").text()
    head, body = text.split("{", 1)
    again = "setp.eq.u32 %q8, %r2, 0xffff; @!%q8 bra G; call (%r3), f, (%d1); G:"
    body = body.replace("ld.param.u64 %d1, [p];", "mov.u64 %d1, p;").replace("ret;", f"{again} mov.u32 %x, %r3; ret;")
    entry = ".visible .entry k(.param .u64 p) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; call (%r), f, (%d); ret; }"
    called = head.split(".visible")[0] + ".func (.reg .b32 %x) f(.reg .b64 p) {" + body + entry
    for level in (0, 3):
        data = np.zeros(128, np.uint32)
        data[::2] = [n % 11 for n in range(64)]
        made = compile_text(called, CompileOptions("sm_80", level, verify=True))
        oric.sim.load(made.image).launch("k", grid=1, block=64, args=[data], modes=Modes(strict=True), stack_bytes=1024)
        assert data[1::2].tolist() == [DENSE.want(n % 11, n) for n in range(64)]


@pytest.mark.parametrize("target", TARGETS)
def test_what_limits_the_index_may_be_read_elsewhere(target: str) -> None:
    """Phase 13 takes the lesser of the index and the last number for what a block computes again."""
    blocks = "\n".join(f"L{b}: min.u32 %r7, %r2, 3; mad.lo.u32 %r3, %r7, {70 + b}, %r7; bra J;" for b in range(4))
    jump = "setp.gt.u32 %q1, %r2, 3; @%q1 bra J; T: .branchtargets L0, L1, L2, L3; brx.idx %r2, T;\n"
    made = compile_text(HEAD.format(target=target) + jump + blocks + END, CompileOptions(target, verify=True))
    data = np.zeros(128, np.uint32)
    data[::2] = [n % 6 for n in range(64)]
    oric.sim.load(made.image).launch("k", grid=1, block=64, args=[data], modes=Modes(strict=True))
    values = [(n % 6) * (71 + n % 6) if n % 6 < 4 else 1 for n in range(64)]
    assert data[1::2].tolist() == [value + (5 if n > 40 else 0) for n, value in enumerate(values)]


@pytest.mark.parametrize("level", [0, 3])
def test_code_for_a_debugger(level: int) -> None:
    made = compile_text(DENSE.text("sm_90"), CompileOptions("sm_90", level, debug=True))
    data = np.zeros(128, np.uint32)
    data[::2] = [n % 11 for n in range(64)]
    oric.sim.load(made.image).launch("k", grid=1, block=64, args=[data], modes=Modes(strict=True))
    assert data[1::2].tolist() == [DENSE.want(n % 11, n) for n in range(64)]
