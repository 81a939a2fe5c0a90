"""Which of two targets is older: the tables say it, not the numbers in the names."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen.spec import Spec
from oricgen.tables import _line, check_all, opcodes, targets

from tests import specification

ROOT = Path(__file__).resolve().parents[2]


def with_row(name: str, base: str, *lines: str, before: str = "") -> Spec:
    """The specification with one more target, in front of the row ``before`` or at the end."""
    text = (ROOT / "spec/sm_targets.yaml").read_text(encoding="utf-8").rstrip("\n") + "\n"
    row = "".join(f"{line}\n" for line in (f"  {name}:", f"    inherits: {base}", *(f"    {line}" for line in lines)))
    text = text.replace(f"  {before}:\n", f"{row}  {before}:\n", 1) if before else text + row
    return specification.spec().edited({"sm_targets.yaml": text})


def test_targets_stand_where_their_models_stand() -> None:
    places = _line.places(specification.spec())
    line = ["sm_30", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_104", "sm_110", "sm_120"]
    assert sorted(line, key=lambda name: places[name]) == line
    assert places["sm_87"] == places["sm_88"] == places["sm_86"]
    assert places["sm_101"] == places["sm_110"], "it is the same hardware"


def test_names_that_are_no_targets_and_rows_in_a_circle_have_places() -> None:
    """Other checks refuse them."""
    assert _line.in_line(["m"], {"a": "nosuch", "b": "m"}) == {"a": (0.5, 0), "b": (0, 0), "m": (0, 0)}
    assert _line.level("sm_1", {"sm_1": "sm_2", "sm_2": "sm_1"}) == 2


@pytest.mark.parametrize("before", ["", "sm_75", "sm_86", "sm_90"])
def test_a_number_says_nothing_of_the_age(before: str) -> None:
    """sm_83 has the model of sm_86, and so all that exists from sm_86 on, wherever its row stands."""
    spec = with_row("sm_83", "sm_86", "code: true", 'ptx: "7.1"', "source: inferred", before=before)
    check_all(spec)
    places = _line.places(spec)
    assert places["sm_83"] == places["sm_86"]
    assert opcodes.load(spec).rows == opcodes.load(specification.spec()).rows
    assert targets.load(spec).by_name["sm_83"].code


def test_ptx_gates_pass_for_what_a_target_inherits() -> None:
    names = specification.spec()
    assert all(level == int(name[3:].rstrip("af")) for name, level in _line.levels(names).items())
    levels = _line.levels(with_row("sm_83", "sm_86", "code: false", "source: inferred"))
    assert levels["sm_83"] == 86
    assert _line.levels(with_row("sm_130", "sm_80", "code: false", "source: inferred"))["sm_130"] == 130
