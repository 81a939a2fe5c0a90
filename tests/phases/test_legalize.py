"""Phases 5 and 132: operations that the target does not have are found, with their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from oric.cli import main
from oric.driver import CompileOptions, compile_text
from oric.driver.registry import passes
from oric.ir.function import Function
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.read import read
from oric.ir.text import all_instructions
from oric.ir.verify import MalformedCode
from oric.support.diagnostics import CompileError, InternalError
from oric_tables import op_tables, ops
from oric_tables.op import IMNMX, VIMNMX, VIMNMX_104
from oric_tables.phases import PHASES
from oric_tables.targets import TARGETS as ARCHES

ALL = passes()
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<9>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1];
  min.s32 %r2, %r1, 7;
  st.global.u32 [%d1], %r2;
  ret;
}
"""
LINE = 8  # of min
# What the minimum is until phase 5 and behind it, and what the target does not have and nothing converts.
MINIMA = (IMNMX, VIMNMX)
TARGETS = {"sm_80": VIMNMX_104, "sm_90": IMNMX}
BEFORE = {"analyze_control_flow": 5, "report_final_memory_usage": 132}  # function that leaves it behind -> phase that finds it


def plant(monkeypatch: pytest.MonkeyPatch, name: str, new: int) -> None:
    """Let a pass leave another operation behind in the place of the minimum."""

    def planted(f: Function, ctx: PassContext) -> bool:
        changed = ALL[name](f, ctx)
        for i in all_instructions(f):
            if f.op[i] in MINIMA:
                f.op[i] = new
        return changed

    monkeypatch.setattr("oric.driver.pipeline.passes", lambda: {**ALL, name: planted})


@pytest.mark.row("R2-27", "R3-05")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BEFORE)
def test_what_the_target_lacks_is_found(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the phase, the target, the operation and the line of the PTX."""
    new = TARGETS[target]
    plant(monkeypatch, name, new)
    phase = next(p for p in PHASES if p.index == BEFORE[name])
    stranger = ops.op(new).name
    said = rf"phase {phase.index} {phase.name}: {target} has no {stranger}: '{stranger}.* from line {LINE} of the PTX"
    with pytest.raises(InternalError, match=said):
        compile_text(KERNEL, CompileOptions(target))


@pytest.mark.row("R2-38")
@pytest.mark.parametrize("target", TARGETS)
def test_the_optimizer_gets_operations_of_the_target(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    new = TARGETS[target]
    plant(monkeypatch, "general_optimize_early", new)
    said = rf"phase 15 \(check_ready\): {target} has no {ops.op(new).name}: .* from line {LINE} of the PTX"
    with pytest.raises(InternalError, match=said):
        compile_text(KERNEL, CompileOptions(target))


@pytest.mark.row("R2-38")
@pytest.mark.parametrize(
    ("flaw", "said"),
    [
        (lambda f: setattr(f, "final_flow", False), "the control flow of 'k' is not complete"),
        (lambda f: f.succ_count.__setitem__(0, 0), r"edges to \[\], but the code goes elsewhere"),
    ],
)
def test_the_optimizer_gets_a_complete_graph(
    flaw: Callable[[Function], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(f: Function, ctx: PassContext) -> bool:
        ALL["general_optimize_early"](f, ctx)
        flaw(f)
        return True

    monkeypatch.setattr("oric.driver.pipeline.passes", lambda: {**ALL, "general_optimize_early": planted})
    loop = KERNEL.replace("  min", "L: setp.eq.u32 %q, %r1, 0; @%q bra L;\n  min").replace(
        ".reg .b32", ".reg .pred %q; .reg .b32"
    )
    with pytest.raises((InternalError, MalformedCode), match=said):
        compile_text(loop, CompileOptions("sm_90"))


@pytest.mark.row("R1-36", "R2-44")
@pytest.mark.parametrize("number", [0xFFFF, 0])
@pytest.mark.parametrize("name", BEFORE)
def test_the_unsupported_marker_is_an_internal_error(name: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, name, number)
    with pytest.raises(InternalError, match=f"no operation has the number {number:#x}, in line {LINE} of the PTX"):
        compile_text(KERNEL, CompileOptions("sm_90"))


@pytest.mark.row("R1-36")
def test_a_name_of_ptx_is_no_operation() -> None:
    """In text of Ori, which is how one phase runs alone, an instruction of PTX is refused before phase 5 could see it."""
    text = "entry k sm_90\nbix0: -> -\n    add.f32 R0, R1, R2\n    EXIT\n"
    with pytest.raises(CompileError, match=r"'add.f32'"):
        read(text)
    assert read(text.replace("add.f32", "FADD")).instructions() == 2


@pytest.mark.row("R2-66")
def test_the_command_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documented words, phase and line; no file; a reproducer."""
    plant(monkeypatch, "analyze_control_flow", 0xFFFF)
    path, out, kept = (tmp_path / name for name in ("a.ptx", "a.cubin", "again.json"))
    path.write_text(KERNEL)
    status = main(["-arch", "sm_90", str(path), "-o", str(out), "--save-reproducer", str(kept)])
    said = capsys.readouterr().err
    assert status != 0 and not out.exists() and kept.exists()
    assert "Internal compiler error." in said
    assert "phase 5 ConvertUnsupportedOps" in said and f"line {LINE} of the PTX" in said


@pytest.mark.row("R2-39", "R1-36")
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_markers_and_what_stands_behind_them(target: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Both markers once a function, in front of code that has operations of the target, and macros with their phase to come."""
    two = KERNEL + KERNEL.partition("64\n")[2].replace("entry k", "entry m")
    path = tmp_path / "a.ptx"
    path.write_text(two)
    assert main(["-arch", target, str(path), "-o", str(tmp_path / "a.cubin"), "--dump-ir", "5"], "oric") == 0
    shown = capsys.readouterr().out
    parts = re.split(r"^// \w+ after phase 5 ConvertUnsupportedOps\n", shown, flags=re.MULTILINE)[1:]
    assert len(parts) == 2
    for part in parts:
        assert part.startswith("// CONVERTING\n// After MercConverter\n")
        assert part.count("CONVERTING") == part.count("MercConverter") == 1
        names = re.findall(r"^    (?:@\S+ )?([A-Z][A-Z0-9_]*)", part, re.MULTILINE)
        assert len(names) > 4
        for name in names:
            found = [op for op in ops.OPS if op is not None and op.name.split(".")[0] == name]
            assert any(ARCHES[target].isa_name in op.isas or OPS.expansion[op.number] > 5 for op in found), name


def test_the_column_of_models_is_that_of_the_operations() -> None:
    masks = memoryview(bytes(op_tables.ISAS[1])).cast("H")
    for op in ops.OPS:
        if op is not None:
            assert [isa for n, isa in enumerate(ops.ISAS) if masks[op.number] >> n & 1] == list(op.isas)
