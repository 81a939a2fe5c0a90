"""``oricgen new-target`` and ``new-opcode``: rows that pass the checks, files otherwise untouched, questions, refusals."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from oricgen.cli import main
from oricgen.errors import UsageError
from oricgen.isa import rows as machine_rows
from oricgen.scaffold import MARK, Plan, opcode, target
from oricgen.spec import Spec
from oricgen.tables import opcodes, targets
from oricgen.textedit import Document

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("known_specification")


@pytest.fixture(scope="module")
def spec() -> Spec:
    return specification.spec()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A project folder with a specification of its own."""
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], root: Path, *words: str) -> tuple[int, str, str]:
    status = main(["--root", str(root), *words])
    out = capsys.readouterr()
    return status, out.out, out.err


def free_machine_opcode(spec: Spec) -> int:
    taken = {form.value & 0x1FF for o in machine_rows.load(spec).operations for forms in o.forms.values() for form in forms}
    return min(set(range(0x100, 0x200)) - taken)


def assert_only_added(plan: Plan, name: str, changed: tuple[str, ...] = ()) -> None:
    """All lines of the file are still there, in their order, but for those that hold one of the words ``changed``."""
    lines = iter(plan.documents[name].lines)
    for line in plan.before[name].splitlines():
        if not any(word in line for word in changed):
            assert line in lines, line


# -- editing text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "group"),
    [("sm_targets.yaml", "targets"), ("opcodes.yaml", "opcodes"), ("encoding/float.yaml", "operations"),
     ("encoding/memory.yaml", "operations"), ("latency/classes/arithmetic.yaml", "classes"), ("cubin.yaml", "layouts")],
)  # fmt: skip
def test_the_lines_of_an_entry_are_the_entry(spec: Spec, name: str, group: str) -> None:
    from oricgen import strictyaml

    document = Document(ROOT / "spec" / name)
    data = strictyaml.loads(document.text())[group]
    assert len(data) > 2
    for key, value in data.items():
        block = document.block(group, key)
        assert block[-1].strip()
        assert not block[-1].lstrip().startswith("#")
        assert strictyaml.loads("\n".join(block)) == {key: value}


# -- targets ---------------------------------------------------------------------------------------------------------


def test_a_new_target_passes_the_check_at_once(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (copy / "spec/sm_targets.yaml").read_text().splitlines()
    status, out, err = run(capsys, copy, "new-target", "sm_99", "--from", "sm_90")
    assert (status, err) == (0, "")
    after = (copy / "spec/sm_targets.yaml").read_text().splitlines()
    added = [line for line in after if line not in before]
    assert 4 <= len(added) <= 30
    remaining = iter(after)
    assert all(line in remaining for line in before)
    assert "`oricgen check` passes." in out
    questions = [line for line in added if MARK in line]
    assert len(questions) >= 5
    assert all(f"{line.partition(MARK)[2].strip()}\n" in out for line in questions)
    found = targets.load(Spec(copy / "spec")).by_name
    assert found["sm_99"].code
    assert (found["sm_99"].isa, found["sm_99"].limits) == (found["sm_90"].isa, found["sm_90"].limits)
    assert list(found).index("sm_99") == list(found).index("sm_90a") + 1


@pytest.mark.measure
def test_facts_become_code_and_stay(spec: Spec) -> None:
    plan = target.plan(ROOT, spec, "sm_72", "sm_80")
    assert plan.verdict(spec) == ""
    before, after = targets.load(spec).by_name["sm_72"], targets.load(spec.edited(plan.texts())).by_name["sm_72"]
    assert (before.code, after.code) == (False, True)
    for group in ("limits", "bank0", "elf"):
        for key, value in getattr(before, group).items():
            if value != targets.UNKNOWN:
                assert getattr(after, group)[key] == value, (group, key)
    assert (after.note, after.source, after.ptx) == (before.note, before.source, before.ptx)
    assert_only_added(plan, "sm_targets.yaml", ("code: false", "sm_72: {"))


@pytest.mark.parametrize("name", ["sm_72", "sm_101", "sm_101f", "sm_104"])
def test_other_targets_keep_what_is_known_and_unknown_of_them(spec: Spec, name: str) -> None:
    plan = target.plan(ROOT, spec, name, "sm_80" if name < "sm_90" and len(name) == 5 else "sm_90")
    before, after = targets.load(spec).by_name, targets.load(spec.edited(plan.texts())).by_name
    assert after[name].code
    for other in before:
        if other != name:
            values = (before[other], after[other])
            assert targets.columns(values[0]) == targets.columns(values[1]), other


@pytest.mark.parametrize(
    ("name", "base", "message"),
    [
        ("sm_90", "sm_80", "there is a target sm_90 already, and code can be made for it: spec/sm_targets.yaml:"),
        ("sm_99b", "sm_90", "'sm_99b' is no name for a target"),
        ("SM_99", "sm_90", "'SM_99' is no name for a target"),
        ("sm_099", "sm_90", "'sm_099' is no name for a target"),
        ("sm_99", "sm_9O", "there is no target 'sm_9O'; did you mean sm_9"),
        ("sm_72", "sm_70", "for code it needs a base that has code, and sm_70 has none: "),
    ],
)
def test_targets_that_are_refused(spec: Spec, name: str, base: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        target.plan(ROOT, spec, name, base)
    assert message in str(error.value)


def test_a_refusal_writes_nothing(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (copy / "spec/sm_targets.yaml").read_bytes()
    status, out, err = run(capsys, copy, "new-target", "sm_90", "--from", "sm_80")
    assert (status, out) == (2, "")
    assert err.startswith("oricgen: error: there is a target sm_90 already")
    status, out, err = run(capsys, copy, "new-target", "sm_99", "--from", "sm_90", "--dry-run")
    assert status == 0
    assert "+  sm_99:\n+    inherits: sm_90\n" in out
    assert (copy / "spec/sm_targets.yaml").read_bytes() == before


# -- opcodes ---------------------------------------------------------------------------------------------------------


def test_a_new_opcode_is_refused_until_its_number_is_known(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, copy, "new-opcode", "FAVG", "--like", "FADD")
    assert (status, err) == (0, "")
    assert "`oricgen check` says, so answer this first:" in out
    status, _, err = run(capsys, copy, "check")
    assert status == 2
    assert "spec/encoding/float.yaml:" in err
    assert "FAVG: form RR" in err
    assert "FADD's form RR" in err
    assert err.count("\n") == 1
    path = copy / "spec/encoding/float.yaml"
    lines = path.read_text().splitlines()
    asked = next(i for i, line in enumerate(lines) if "which machine opcode? 0x021 is FADD's" in line)
    assert lines[asked + 1] == "    forms: add2 0x021"
    lines[asked : asked + 2] = [f"    forms: add2 {free_machine_opcode(specification.spec()):#05x}"]
    path.write_text("\n".join(lines) + "\n")
    assert run(capsys, copy, "check") == (0, "", "")


def test_rows_of_a_new_opcode(spec: Spec) -> None:
    plan = opcode.plan(ROOT, spec, "FAVG", "FADD", None, free_machine_opcode(spec))
    assert plan.verdict(spec) == ""
    edited = spec.edited(plan.texts())
    found = opcodes.load(edited).by_name["FAVG"]
    assert found.id == max(opcodes.load(spec).by_id) + 1 >= 512
    assert (found.category, found.basis) == ("float", "assigned")
    operation = next(o for o in machine_rows.load(edited).operations if o.name == "FAVG")
    assert operation.text == "FAVG{ftz}{rnd}{sat} Rd, Ra, Rb"
    assert any("FADD, FAVG, FMUL" in line for line in plan.documents["latency/classes/arithmetic.yaml"].lines)
    for name in plan.documents:
        assert_only_added(plan, name, ("operations: [FADD",))


@pytest.mark.measure
def test_an_undocumented_id_may_be_named(spec: Spec) -> None:
    plan = opcode.plan(ROOT, spec, "FAVG", "FADD", 116, free_machine_opcode(spec))
    assert plan.verdict(spec) == ""
    before, after = opcodes.load(spec), opcodes.load(spec.edited(plan.texts()))
    assert before.by_id[116].name == ""
    assert (after.by_id[116].name, after.by_id[116].basis, after.by_id[116].between) == ("FAVG", "inferred", (114, 118))
    assert len(after.by_id) == len(before.by_id)
    for number in (0, 30, 115, 117, 354):  # at the ends of runs, and runs of one
        edited = spec.edited(opcode.plan(ROOT, spec, "FAVG", "FADD", number, free_machine_opcode(spec)).texts())
        assert opcodes.load(edited).by_id[number].name == "FAVG"
        assert set(opcodes.load(edited).by_id) == set(before.by_id)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("like", ["IADD3", "IMAD_WIDE", "MUFU", "BAR", "CS2R_32", "LDS", "ULDC", "HMMA"])
def test_any_opcode_with_an_operation_can_be_a_model(spec: Spec, like: str) -> None:
    plan = opcode.plan(ROOT, spec, "NEW_ONE", like, None, free_machine_opcode(spec))
    edited = spec.edited(plan.texts())
    operation = next(o for o in machine_rows.load(edited).operations if o.name == "NEW.ONE")
    assert operation.opcode == "NEW_ONE"
    assert operation.text.startswith("NEW.ONE")
    model = next(o for o in machine_rows.load(spec).operations if o.opcode == like and o.sub == 0)
    assert {isa: len(forms) for isa, forms in operation.forms.items()} == {i: len(f) for i, f in model.forms.items()}
    opcodes.check(edited)


@pytest.mark.parametrize(
    ("name", "like", "number", "base", "message"),
    [
        ("FADD", "FMUL", None, None, "there is an opcode FADD already: id 12, spec/opcodes.yaml:"),
        ("favg", "FADD", None, None, "'favg' is no name for an opcode"),
        ("FAVG_", "FADD", None, None, "'FAVG_' is no name for an opcode"),
        ("FAVG", "FAD", None, None, "there is no opcode 'FAD'; did you mean"),
        ("FAVG", "SM89_LAST", None, None, "SM89_LAST has no operation in spec/encoding that could be copied"),
        ("FAVG", "FADD", 12, None, "id 12 is that of FADD (spec/opcodes.yaml:"),
        ("FAVG", "FADD", 400, None, "400 is no id: the documented ones are 0 to 354, this project's own begin at 512"),
        ("FAVG", "FADD", None, 0x221, "the machine opcode is bits 0-8 of the word, a number up to 0x1ff, not 0x221"),
    ],
)
def test_opcodes_that_are_refused(spec: Spec, name: str, like: str, number: int | None, base: int | None, message: str) -> None:
    with pytest.raises(UsageError) as error:
        opcode.plan(ROOT, spec, name, like, number, base)
    assert message in str(error.value)
