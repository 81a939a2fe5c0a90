"""Mistakes in spec/ptx are named with file, line and entry."""

import shutil
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.outputs import ptx as output
from oricgen.ptx import families, without_groups
from oricgen.spec import Spec

ROOT = Path(__file__).resolve().parents[2]
HEAD = "slots: {}\ngates: {}\ninstructions:\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "spec/schema", tmp_path / "spec/schema")
    (tmp_path / "spec/ptx").mkdir()
    for name in ("types", "names", "special_registers", "directives"):
        shutil.copy(ROOT / f"spec/ptx/{name}.yaml", tmp_path / "spec/ptx")
    for name in ("sm_targets", "backends", "phases", "formats"):
        shutil.copy(ROOT / f"spec/{name}.yaml", tmp_path / "spec")
    return tmp_path / "spec"


def error_of(spec: Path, text: str) -> str:
    (spec / "ptx/toy.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        output.render(Spec(spec))
    return str(caught.value).replace(str(spec), "spec")


def row(syntax: str, more: str = "") -> str:
    return f'{HEAD}  add:\n    section: "x"\n    forms:\n      - {{syntax: "{syntax}"{more}}}\n'


def named(name: str, syntax: str) -> str:
    return f'{HEAD}  {name}:\n    section: "x"\n    forms: ["{syntax}"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row("sub.s32 d, a"), "spec/ptx/toy.yaml:7: add: syntax 'sub.s32' does not begin with the name"),
        (row("add{.sat.s32 d, a"), "spec/ptx/toy.yaml:7: add: syntax 'add{.sat.s32': cannot read '{.sat.s32'"),
        (row("add.s32 d, a:u33"), "spec/ptx/toy.yaml:7: add: there is no type or slot 'u33'"),
        (row("add.s32 d, [a:heap]"), "spec/ptx/toy.yaml:7: add: there is no state space or slot 'heap'"),
        (row("add.s32 d, a+big"), "spec/ptx/toy.yaml:7: add: operand 'a+big': unknown flag 'big'"),
        (row("add.s32 d, A"), "spec/ptx/toy.yaml:7: add: cannot read operand 'A'"),
        (row("add.type d, a", ", type: $none"), "spec/ptx/toy.yaml:7: add: type: there is no slot 'none'"),
        (row("add.type d, a", ", type: [f32, f32]"), "spec/ptx/toy.yaml:7: add: column 'forms[0].type': 'f32' is listed twice"),
        (row("add.s32 d, a", ', ptx: "10"'), "spec/ptx/toy.yaml:7: "),
        (row("add.s32 d, a").replace("slots: {}", "slots: {rnd: [rn]}"), "spec/ptx/toy.yaml:1: slot 'rnd' is used by no form"),
        (named("wgmma.fence", "wgmma.fence.sync"), "wgmma.fence: has signatures in toy.yaml; remove it here"),
        (named("a.b", "a.c"), "spec/ptx/toy.yaml:6: a.b: syntax 'a.c' lacks '.b' of the name"),
    ],
)  # fmt: skip
def test_mistakes(spec, text, message):
    assert message in error_of(spec, text)


def test_a_name_in_two_families(spec):
    (spec / "ptx/also.yaml").write_text(row("add.s32 d, a"), encoding="utf-8")
    assert error_of(spec, row("add.u32 d, a")) == "spec/ptx/toy.yaml:4: add: is also in also.yaml"


def test_groups_are_written_out():
    assert without_groups("x{.sem.scope}{.ftz}.f32 d") == ["x{.ftz}.f32 d", "x.sem.scope{.ftz}.f32 d"]


def test_every_form_of_the_real_specification_is_read():
    found = families(Spec(ROOT / "spec"))
    assert sum(len(i.forms) for f in found for i in f.instructions) > 350
    assert all(i.section for f in found for i in f.instructions)
