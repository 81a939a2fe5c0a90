"""Control bits protect every dependence on every path."""

from __future__ import annotations

import oric
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.sass.check import check_cubin
from oric.sass.listing import list_cubin
from oric.support import elf
from oric_tables._native import lib

from tests.sched.model import HazardError, PhysicalProgram, programs, tables, walk

CHOICES = st.lists(st.integers(0, 5), min_size=1, max_size=6)


def assigned(program: PhysicalProgram):
    fn = program.build()
    assert lib.oric_assign_control(fn) >= 0
    return fn


@settings(max_examples=200)
@given(programs(), CHOICES)
def test_every_path_is_protected(program: PhysicalProgram, choices: list[int]):
    walk(assigned(program), tables().isas[program.isa], program.succs, choices)


@settings(max_examples=100)
@given(programs(max_blocks=1, max_insns=40))
def test_long_blocks_are_protected(program: PhysicalProgram):
    """More pending results than there are scoreboards."""
    walk(assigned(program), tables().isas[program.isa], program.succs, [0])


@settings(max_examples=150)
@given(programs(), CHOICES, st.data())
def test_the_checker_sees_planted_faults(program: PhysicalProgram, choices: list[int], data):
    """Removing a wait that mattered, or a barrier that is waited for, is found where the walk passes it."""
    fn = assigned(program)
    masks = [i for i in range(fn.insn_count) if fn.nodes[i].control >> 11 & 63]
    if not masks:
        return
    victim = data.draw(st.sampled_from(masks))
    for i in range(fn.insn_count):
        if fn.nodes[i].control >> 11 & 63 and i >= victim:
            fn.nodes[i].control &= (1 << 11) - 1
    reached = _passes(fn, program, choices, victim)
    if reached:
        with pytest.raises(HazardError):
            walk(fn, tables().isas[program.isa], program.succs, choices)


def _passes(fn, program: PhysicalProgram, choices: list[int], victim: int) -> bool:
    """Does a straight run over the victim's own block contain its dependence? Judged with the original bits."""
    original = assigned(program)
    block = max(b for b in range(len(program.blocks)) if fn.block_first[b] <= victim and fn.block_first[b + 1] > victim)
    if block != 0:
        return False
    position = victim
    boards = original.nodes[position].control >> 11 & 63
    for i in range(fn.block_first[block], position):
        control = original.nodes[i].control
        if boards >> (control >> 5 & 7) & 1 and control >> 5 & 7 != 7:
            return _needed(original, i, position)
    return False


def _needed(fn, producer: int, consumer: int) -> bool:
    def units(i: int, write: bool) -> set[int]:
        node = fn.nodes[i]
        out = set()
        for k in range(node.access_count):
            a = fn.accesses[node.access + k]
            if not write or a.flags & lib.ORIC_A_DEF:
                out |= set(range(a.unit, a.unit + a.count))
        return out

    results = units(producer, True)
    touched = units(consumer, False)
    between = set()
    for i in range(producer + 1, consumer):
        between |= units(i, False)
    return bool(results & touched - between)


MMA = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
SPLIT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 i, .param .u64 o, .param .u32 n)
{{
  .reg .b32 %c<4>, %w<6>, %n; .reg .b64 %ip, %op; .reg .pred %l;
  ld.param.u64 %ip, [i]; ld.param.u64 %op, [o]; ld.param.u32 %n, [n]; setp.eq.u32 %l, %n, 77;
  ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%ip]; ld.global.v2.b32 {{%w4, %w5}}, [%ip+512];
  mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0; bar.sync 0;
Q: {mma} {{%c0, %c1, %c2, %c3}}, {{%w0, %w1, %w2, %w3}}, {{%w4, %w5}}, {{%c0, %c1, %c2, %c3}};
  add.s32 %c0, %c0, %c1;
  {between}
  @%l bra Q;
  st.global.v4.b32 [%op], {{%c0, %c1, %c2, %c3}};
  ret;
}}
"""
BETWEEN = {
    "one": "cp.async.wait_group 0;",
    "two": "cp.async.wait_group 0; cp.async.commit_group; cp.async.wait_group 1;",
    "fence": "fence.acq_rel.cta;",
    "warp": "bar.warp.sync -1;",
    "barrier": "bar.sync 0;",
    "arrival": "bar.arrive 1, 64;",
}


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_a_long_wait_leaves_the_instruction_in_front_its_own_stall(between: str, target: str, level: int) -> None:
    """What a stall count cannot hold passes in NOPs behind it."""
    image = oric.compile(SPLIT.format(target=target, mma=MMA, between=between), arch=target, opt_level=level).image
    assert not check_cubin(elf.read(image)).findings


SPIN = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .b64 %a; .reg .b32 %n, %v; .reg .pred %q;
  ld.param.u64 %a, [p]; ld.param.u32 %n, [n];
again:
  ld.acquire.gpu.b32 %v, [%a];
  setp.ne.s32 %q, %v, %n;
  @%q bra again;
  ret;
}
"""


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_what_waits_for_memory_waits_for_that_alone(target: str):
    """The comparison comes first, and its time passes while what ends the acquire does its work."""
    image = oric.compile(SPIN, arch=target).image
    (code,) = list_cubin(elf.read(image)).functions
    names = [line.text.split()[-1 if line.text.startswith("@") else 0].split(".")[0] for line in code.lines]
    load, compare, end = (next(n for n, name in enumerate(names) if name == wanted) for wanted in ("LD", "ISETP", "CCTL"))
    assert load < compare < end
    assert code.lines[compare].control & 15 < code.lines[end].control & 15
    assert not check_cubin(elf.read(image)).findings


DOUBLES = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .reg .b64 %a; .reg .f64 %d<9>; .reg .pred %q; .reg .b32 %t;
  ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; setp.lt.u32 %q, %t, 7;
  ld.global.f64 %d1, [%a]; ld.global.f64 %d2, [%a+8]; ld.global.f64 %d3, [%a+16]; ld.global.f64 %d4, [%a+24];
again:
  .pragma "nounroll";
  {guard} fma.rn.f64 %d1, %d1, 0d3FE0000000000000, %d2; {guard} fma.rn.f64 %d2, %d2, 0d3FE0000000000000, %d3;
  {guard} fma.rn.f64 %d3, %d3, 0d3FE0000000000000, %d4; {guard} fma.rn.f64 %d4, %d4, 0d3FE0000000000000, %d4;
  add.u32 %t, %t, 1; setp.lt.u32 %q, %t, 70; @%q bra again;
  st.global.f64 [%a], %d1; st.global.f64 [%a+8], %d2; st.global.f64 [%a+16], %d3; st.global.f64 [%a+24], %d4;
  ret;
}}
"""


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_89", "sm_120"])
def test_what_follows_in_a_queue_waits_for_no_reads(target: str):
    """Operations of one queue read in order: what overwrites a source of another waits for nothing, except under a guard."""
    counts = []
    for guard in ("", "@%q"):
        image = oric.compile(DOUBLES.format(guard=guard), arch=target).image
        assert not check_cubin(elf.read(image)).findings
        (code,) = list_cubin(elf.read(image)).functions
        chain = [line for line in code.lines if "DFMA" in line.text]
        counts.append(sum(line.control >> 8 & 7 != 7 for line in chain))
    assert counts == [0, 3]
