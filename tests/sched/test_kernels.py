"""The control bits of the project's own kernels: the hazard checker finds nothing in the cubins, nor does a walk along
random paths with the distances that the scheduler keeps.
"""

from __future__ import annotations

import random
from pathlib import Path

import oric
import pytest
from oric.fuzz import programs as random_programs
from oric.ir.function import control_flow
from oric.ir.machine import MachineFunction
from oric.sass.check import check_cubin
from oric.sass.code import Code
from oric.support import elf
from oric_tables._native import lib
from oric_tables.targets import TARGETS

from tests.sched.machine_code import registers
from tests.sched.model import ROOT, walk

SOURCES = sorted((ROOT / "tests/kernels").glob("*.ptx"))


def arch_of(path: Path) -> list[str]:
    parts = path.name.split(".")
    return [parts[1]] if len(parts) == 3 else ["sm_80", "sm_90"]


CASES = [(path, arch, level) for path in SOURCES for arch in arch_of(path) for level in (0, 1, 3)]


def compiled(text: str, arch: str, level: int, monkeypatch):
    """(view of the back end, machine code) of every function."""
    from oric.driver import pipeline

    out = []
    encode = pipeline.encode_function

    def capture(f, target, *how):
        view = f.analyses.machine
        assert isinstance(view, MachineFunction)
        encoded = encode(f, target, *how)
        out.append((view, encoded.words))
        return encoded

    monkeypatch.setattr(pipeline, "encode_function", capture)
    report = check_cubin(elf.read(oric.compile(text, arch=arch, opt_level=level).image))
    assert report.instructions
    assert (report.findings, report.unknown) == ([], [])
    assert out
    return out


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("path", "arch", "level"), CASES, ids=[f"{p.stem}-{a}-O{o}" for p, a, o in CASES])
def test_kernel_is_protected_on_every_path(path, arch, level, monkeypatch):
    check_compiled(path.read_text(), arch, level, monkeypatch)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("seed", range(6))
def test_random_program_is_protected_on_every_path(seed, level, monkeypatch):
    arch = ("sm_80", "sm_90")[seed % 2]
    check_compiled(random_programs.Program(seed, size=80).text(arch), arch, level, monkeypatch)


def check_compiled(text: str, arch: str, level: int, monkeypatch) -> None:
    for view, words in compiled(text, arch, level, monkeypatch):
        check_footprints(view.fn, Code(TARGETS[arch].isa, words))
        graph = control_flow(view.f)
        succs = [graph.successors(b) for b in range(graph.blocks)]
        for seed in range(20):
            choose = random.Random(seed)
            walk(view.fn, TARGETS[arch].isa_name, succs, [choose.randrange(6) for _ in range(50)], limit=200)


def check_footprints(fn, code: Code) -> None:
    """The accesses that the scheduler saw are those of the machine words."""
    position = 0
    footprints = registers(code)
    for i in range(fn.insn_count):
        node = fn.nodes[i]
        position += node.pads
        at = position
        position += 1
        assert code.insns[at].op == node.op, at
        seen: tuple[set[int], set[int]] = (set(), set())
        for k in range(node.access_count):
            a = fn.accesses[node.access + k]
            seen[bool(a.flags & lib.ORIC_A_DEF)].update(range(a.unit, a.unit + a.count))
        assert seen == footprints[at], (at, code.texts()[at])


# A product at the end of a block that no jump ends: its result is read first thing behind, on both ways there.
PRODUCT_AT_THE_END = """
.version 9.0
.target {arch}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 o, .param .u32 n) {{
    .reg .b64 %rd<8>; .reg .b32 %r<8>, %b<8>, %n; .reg .f32 %f<8>; .reg .pred %p<2>;
    ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [o]; ld.param.u32 %n, [n];
    mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 16; add.s64 %rd0, %rd0, %rd2; add.s64 %rd1, %rd1, %rd2;
    ld.global.v4.b32 {{%b0, %b1, %b2, %b3}}, [%rd0]; ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [%rd0+512];
    setp.gt.s32 %p0, %n, 0;
    @%p0 bra L;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {{%f0, %f1, %f2, %f3}}, {{%b0, %b1, %b2, %b3}}, {{%b1, %b2}}, {{%f0, %f1, %f2, %f3}};
L:  st.global.v4.f32 [%rd1], {{%f0, %f1, %f2, %f3}};
    ret;
}}
"""


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", [target for target in TARGETS if target in ("sm_80", "sm_89", "sm_90", "sm_100a", "sm_120")])
def test_a_long_wait_behind_the_last_instruction_of_a_block(arch, level, monkeypatch):
    check_compiled(PRODUCT_AT_THE_END.format(arch=arch), arch, level, monkeypatch)
