"""What the scheduling tables say; their mistakes are in ``tests/generator/mistakes/latency.yaml``."""

from __future__ import annotations

import pytest
from oricgen.latency import OTHER, REWRITE

from tests.sched.model import tables


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


@pytest.mark.parametrize(("operation", "cycles"), [("IMNMX", 5), ("IADD.64", 6), ("VIMNMX", 5)])
def test_minima_of_sm_120_do_not_last_as_long_as_sums_of_64_bits(operation, cycles):
    """Observed in front of FADD, FFMA, stores and others: ptxas 13.0.88 never leaves more."""
    klass = next(o.klass for o in tables().operations if o.operation.name == operation)
    results = tables().classes[klass]["sm_120"].results["R"]
    assert {tables().distance["sm_120"][f"R {result}"]["fma"] for result in results} == {cycles}


def test_double_precision_is_fixed_on_hopper_only():
    classes = tables().classes["double"]
    assert classes["sm_80"].result == "variable"
    assert classes["sm_90"].result == "fixed"
