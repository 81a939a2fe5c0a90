"""The scheduling tables: what they say, and the messages that mistakes in them get."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.isa.rows import load as load_machine
from oricgen.latency import OTHER, REWRITE, load
from oricgen.spec import Spec

from tests.sched.model import ROOT, tables


def changed(tmp_path: Path, name: str, pattern: str, replacement: str):
    """Load the spec with one file changed by a regular expression that must match once."""
    spec = tmp_path / "spec"
    shutil.copytree(ROOT / "spec", spec)
    path = spec / name
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), count=1)
    assert count == 1
    path.write_text(text, encoding="utf-8")
    loaded = Spec(spec)
    return load(loaded, load_machine(loaded))


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "message"),
    [
        ("latency/sm_90.yaml", r"alu: \[4, 4, 13448", "alu: [3, 4, 13448",
         r"sm_90.yaml:\d+: 'R alu' to 'alu': 3 cycles is below the smallest distance seen, 4"),
        ("latency/sm_80.yaml", r"other: 13", "other: 12", "sm_80.yaml:\\d+: 'P alu': 'other' is below the distance to a known"),
        ("latency/sm_90.yaml", r"rewrite: \[6, 6", "rewrite: [5, 6", "'R alu': rewrite 5 is below the smallest distance seen, 6"),
        ("latency/sm_90.yaml", r"half: \[", "halves: [", "'R alu' to 'halves': no class reads as 'halves'"),
        ("latency/sm_90.yaml", r"isa: sm_90", "isa: sm_80", "the file of sm_90 says 'sm_80'"),
        ("latency/classes.yaml", r"stall: \[5, 5\]", "stall: [4, 5]", "class 'jump' on sm_80: stall 4 is below the smallest"),
        ("latency/classes.yaml", r"operations: \[MOV\]", "operations: [MOVE]", "class 'move': no operation 'MOVE'"),
        ("latency/classes.yaml", r"operations: \[MOV\]", "operations: [MOV, IADD3]", "operation 'IADD3' is also in class 'alu'"),
        ("latency/classes.yaml", r"operations: \[VOTE\]", "operations: [ELECT]", "class 'elect': operation 'ELECT' is also in"),
        ("latency/classes.yaml", r", IABS,", ",", "integer.yaml:\\d+: operation 'IABS' has no scheduling class"),
        ("latency/classes.yaml", r"results: \{R: vote", "results: {R: veto", "latency/sm_80.yaml has no row 'R veto'"),
        ("latency/classes.yaml", r"    estimate: 20\n", "", "class 'conversion' on sm_80: a variable result needs an 'estimate'"),
        ("latency/classes.yaml", r"mod: order", "mod: odor", "operation 'LDG' has no modifier 'odor'"),
        ("latency/classes.yaml", r"isa: \{sm_90: \{spacing", "isa: {sm_91: {spacing", "class 'float': no ISA 'sm_91'"),
        ("latency/classes.yaml", r"    memory: \[global\]\n", "",
         "class 'load_global' on sm_80: 'memory' and 'does' belong together"),
        ("latency/classes.yaml", r"result: fixed\n", "result: foxed\n", "classes.yaml:\\d+: .*'foxed' is not one of"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path, name, pattern, replacement, message):
    with pytest.raises(SpecError, match=message):
        changed(tmp_path, name, pattern, replacement)


def test_every_operation_has_a_class_and_every_distance_a_value():
    t = tables()
    assert len(t.operations) == len({o.operation.name for o in t.operations})
    for isa in t.isas:
        for row, cells in t.distance[isa].items():
            assert set(cells) == set(t.groups), row
            assert cells[OTHER] == max(v for g, v in cells.items() if g != REWRITE)


@pytest.mark.parametrize(
    ("isa", "row", "group", "cycles"),
    [
        ("sm_80", "R alu", "alu", 4), ("sm_90", "R alu", "fma", 5), ("sm_90", "R fma", "fma", 4), ("sm_90", "P alu", "guard", 13),
        ("sm_80", "R wide.lo", "wide.c.lo", 6), ("sm_90", "R wide.lo", "wide.c.lo", 4), ("sm_90", "R fp64", "fp64", 8),
        ("sm_80", "R half", "half", 5), ("sm_90", "UR uldc", "desc", 2), ("sm_90", "UR uniform", "xu", 9),
    ],
)  # fmt: skip
def test_known_distances(isa, row, group, cycles):
    """Figures of published tables and of the measurements."""
    assert tables().distance[isa][row][group] == cycles


def test_double_precision_is_fixed_on_hopper_only():
    classes = tables().classes["double"]
    assert classes["sm_80"].result == "variable"
    assert classes["sm_90"].result == "fixed"
