"""Kernels as Triton makes PTX of them: this compiler's code is clean and computes what numpy says, and so does ptxas's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric.cli import main
from oric.driver import CompileOptions, compile_functions
from oric.ir.text import all_instructions
from oric_tables.ops import op

from tests.cubin.loader_facts import ptxas_image
from tests.e2e.conftest import ptxas  # noqa: F401
from tests.programs.compare import ours, theirs
from tests.programs.triton import stored
from tests.programs.triton.case import ALL, instances
from tests.programs.triton.compare import subject
from tests.programs.triton.measure import every, judge, problem, sm

NAMES = sorted(instances())
WITHOUT = {("scaled_e4m3_e4m3", 89), ("scaled_e4m3_e2m1", 89)}  # Triton's PTX of these is for sm_90 on
UNKNOWN = {("attention_dq_bf16_d128", 100)}  # ptxas's code has MOV.SPILL, which the tables have for sm_120 only
LEAST = 130  # instances


def turn(name: str) -> int:
    """One of an instance's targets, so that over all of them every target has its turn."""
    targets = [target for found, target in every() if found == name]
    return targets[NAMES.index(name) % len(targets)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES[::2])
def test_each_second_on_one_target(name: str) -> None:
    assert problem(name, turn(name)) == ""


@pytest.mark.measure
@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_each_on_every_target(target: int, level: int) -> None:
    found = {name: problem(name, other, level) for name, other in every()[level % 2 :: 2] if other == target}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize("name", NAMES[::12])
def test_ptxas_means_the_same(name: str, ptxas: str) -> None:  # noqa: F811
    image = ptxas_image(ptxas, stored.ptx(name, turn(name)), sm(turn(name)))
    assert image is not None
    assert judge(name, turn(name), image, checked=False) == ""


@pytest.mark.measure
@pytest.mark.parametrize("name", NAMES)
def test_ptxas_means_the_same_on_every_target(name: str, ptxas: str) -> None:  # noqa: F811
    targets = [target for found, target in every() if found == name]
    for target in targets:
        image = ptxas_image(ptxas, stored.ptx(name, target), sm(target))
        assert image is not None
        found = judge(name, target, image, checked=False)
        assert found == "" or ((name, target) in UNKNOWN and "not supported: MOV;" in found)


def test_figures_of_both(ptxas: str) -> None:  # noqa: F811
    mine, other = ours(subject("add_f32", 90)), theirs(ptxas, subject("add_f32", 90))
    assert not isinstance(mine, str)
    assert not isinstance(other, str)
    assert 0 < mine.instructions < 2 * other.instructions
    assert 0 < mine.cycles < 2 * other.cycles
    assert mine.spills == other.spills == 0


@pytest.mark.parametrize("target", [80, 90])
def test_loads_stay_together_where_predicates_are_short(target: int) -> None:
    """Sixteen masked loads in a loop: that predicates wait in registers puts no sum, which waits for its load, in between."""
    ((f, _),) = compile_functions(stored.ptx("column_sums", target), CompileOptions(sm(target)))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    assert names[: names.index("FADD")].count("LDG") >= 12


def test_the_command_line_of_triton(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `make_cubin` of its compiler calls ptxas, and its knobs read the version."""
    assert main(["--version"], "ptxas") == 0
    assert re.search(r".*release (\d+\.\d+).*", capsys.readouterr().out)
    source, cubin = tmp_path / "kernel.ptx", tmp_path / "kernel.ptx.o"
    source.write_text(stored.ptx("layer_norm", 90), encoding="utf-8")
    assert main(["-lineinfo", "-v", "--gpu-name=sm_90a", str(source), "-o", str(cubin)], "ptxas") == 0
    assert "registers" in capsys.readouterr().err
    assert judge("layer_norm", 90, cubin.read_bytes()) == ""


def test_there_are_enough_and_all_have_stored_ptx() -> None:
    assert len(NAMES) >= LEAST
    wanted = {(i.name, target) for i in instances().values() for target in i.targets}
    assert wanted - set(every()) == WITHOUT
    assert {f"{name}.sm_{target}.ptx" for name, target in every()} == set(stored.names())
    assert stored.FILE.stat().st_size < 1_000_000
