"""Knobs change what comes out: a knob that changes nothing is none.

Those of knobs.yaml all have a program for which they do, and most of the thresholds; the thresholds that C reads have tests of
their own as well (tests/sched/test_numbers.py). ``python -m tests.knobs.differences`` looks for more.
"""

from __future__ import annotations

from pathlib import Path

import oric
import pytest
from oric.cli.compile import main
from oricgen.spec import Spec
from oricgen.tables import knobs as table
from oricgen.tables import thresholds as threshold_table

from tests.kernels import cases
from tests.knobs import differences

ROOT = Path(__file__).resolve().parents[2]
KNOWN = differences.read()
WITH_TESTS_OF_THEIR_OWN = {"compile_timeout_ms"}


def test_every_knob_that_is_no_threshold_has_a_difference() -> None:
    thresholds = {row.values["name"] for row in threshold_table.load(Spec(ROOT / "spec"))["thresholds"]}
    assert differences.NAMES.keys() >= KNOWN.keys() >= differences.NAMES.keys() - thresholds - WITH_TESTS_OF_THEIR_OWN


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_knob_makes_other_code(name: str) -> None:
    value, module, target, limit, also = KNOWN[name]
    assert differences.image(module, target, limit, *also) != differences.image(module, target, limit, *also, f"{name}={value}")


def test_every_knob_is_read_by_the_file_that_it_names() -> None:
    table.check_readers(Spec(ROOT / "spec"), ROOT)


@pytest.mark.row("R3-21")
def test_a_time_out_ends_with_an_error_and_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A phase that has begun ends: time is looked at in front of the next one."""
    ptx, out = tmp_path / "a.ptx", tmp_path / "a.cubin"
    ptx.write_text(cases.ptx("saxpy", "sm_80") + "// " + "x" * 4000000, encoding="utf-8")
    assert main([str(ptx), "-arch", "sm_80", "-o", str(out), "--timeout=1"]) == 255
    assert "compilation has taken more than 1 ms; '" in capsys.readouterr().err and not out.exists()
    assert main([str(ptx), "-arch", "sm_80", "-o", str(out), "--timeout=1000000"]) == 0 and out.exists()


@pytest.mark.row("R3-22")
def test_a_smaller_budget_lowers_registers() -> None:
    value, module, target, limit, _ = KNOWN["regfile_size_hint"]
    text = differences.text_of(module, target)
    few = oric.compile(text, target, maxrregcount=limit, knobs=(f"regfile_size_hint={value}",))
    many = oric.compile(text, target, maxrregcount=limit)
    assert any(few.kernels[name].registers < many.kernels[name].registers for name in many.kernels)


def test_a_condition_on_a_function_leaves_the_others_alone() -> None:
    """As if they were compiled without it."""
    first, second = (cases.ptx(name, "sm_80") for name in ("saxpy", "reduction"))
    text = first + second[second.index(".address_size 64") + len(".address_size 64") :]
    plain = oric.compile(text, "sm_80")
    names = sorted(plain.kernels)
    for name in names:
        limited = oric.compile(text, "sm_80", knobs=(f"skip_phases=function={name}:on",))
        assert [limited.kernels[n].instructions != plain.kernels[n].instructions for n in names] == [n == name for n in names]
