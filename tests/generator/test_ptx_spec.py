"""spec/ptx resolved; its mistakes are in ``mistakes/ptx.yaml``."""

from pathlib import Path

from oricgen.ptx import families, without_groups
from oricgen.spec import Spec

ROOT = Path(__file__).resolve().parents[2]


def test_groups_are_written_out():
    assert without_groups("x{.sem.scope}{.ftz}.f32 d") == ["x{.ftz}.f32 d", "x.sem.scope{.ftz}.f32 d"]


def test_every_form_of_the_real_specification_is_read():
    found = families(Spec(ROOT / "spec"))
    assert sum(len(i.forms) for f in found for i in f.instructions) > 350
    assert all(i.section for f in found for i in f.instructions)
