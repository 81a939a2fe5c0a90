"""``oricgen explain``: pages of opcodes, instructions, targets and rows; what is not known is answered with names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oricgen.cli import main
from oricgen.errors import UsageError
from oricgen.explain import explain
from oricgen.explain.index import Index
from oricgen.explain.uses import lowering_rules
from oricgen.isa import rows as machine_rows
from oricgen.isa.model import Form
from oricgen.spec import Spec
from oricgen.tables import targets

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("known_specification")


@pytest.fixture(scope="module")
def spec() -> Spec:
    return specification.spec()


def page(spec: Spec, name: str, sm: str | None = None) -> str:
    return explain(spec, name, sm)


def section(text: str, heading: str) -> list[str]:
    """The lines below the heading that begins with these words."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return next(lines[1:] for lines in blocks if lines[0].startswith(heading))


def test_an_opcode_says_who_it_is(spec: Spec) -> None:
    text = page(spec, "FADD")
    assert text.startswith("FADD: opcode 12  (spec/opcodes.yaml:")
    identity = dict(line.split(maxsplit=1) for line in section(text, "FADD: opcode") if line[2] != " ")
    assert identity["rot13"] == "SNQQ"
    assert identity["source"]


def test_an_operation_shows_operands_modifiers_and_meaning(spec: Spec) -> None:
    text = "\n".join(section(page(spec, "FADD"), "Operation FADD"))
    assert "meaning  Rd.u32 = fadd(Ra.f32, Rb.f32, rnd, ftz, sat)" in text
    assert "    Rd  written  gpr\n    Ra  read     gpr -|\n    Rb  read     gpr -|\n" in text
    assert "    rnd  RN RM RP RZ\n" in text


def test_forms_are_drawn_bit_by_bit(spec: Spec) -> None:
    lines = section(page(spec, "FADD", "sm_90"), "Forms of FADD")
    assert lines[:5] == [
        "  RR  0x221 91=0  [sm_90]",
        "    127 ..:::::: :::::::: :::::::. ........ ....0... .......F RRS...|- ........",
        "     63 -|...... ........ ........ bbbbbbbb aaaaaaaa dddddddd !@@@0010 00100001",
        "        d Rd gpr 16-23   a Ra gpr 24-31 (- 72, | 73, reuse 122)   b Rb gpr 32-39 (- 63, | 62, reuse 124)   S sat 77",
        "        R rnd 78-79   F ftz 80",
    ]
    assert [line.split()[0] for line in lines if line.endswith("]")] == ["RR", "RI", "RC", "RX", "RU"]


def test_every_picture_agrees_with_the_form(spec: Spec) -> None:
    """Letters stand where the operand or modifier has its bits, digits where the word is fixed."""
    from oricgen.explain.picture import picture

    for operation in machine_rows.load(spec).operations:
        for forms in operation.forms.values():
            for form in forms:
                _agrees(form, *picture(operation, form)[:2], [operation.mods[m.mod].name for m in form.mods])


def _agrees(form: Form, high: str, low: str, mods: list[str]) -> None:
    word = (high[4:] + low[4:]).replace(" ", "")[::-1]
    assert len(word) == 128
    assert word[105:126] == ":" * 21
    assert word[12:16] == "@@@!"
    fields = 0
    for place in form.operands:
        fields |= place.bits.mask | (place.second.mask if place.second else 0)
        for bit in (place.neg, place.abs, place.inv):
            fields |= 1 << bit if bit >= 0 else 0
    for mod in form.mods:
        fields |= mod.bits.mask
    for bit, letter in enumerate(word):
        if letter in ":@!":
            continue
        if letter in "01":
            assert (form.mask | form.fixed) >> bit & 1
            assert int(letter) == (form.value | form.fixed) >> bit & 1
        elif letter == ".":
            assert not (form.mask | form.fixed | fields) >> bit & 1
        else:
            assert fields >> bit & 1, (form.name, bit, letter, mods)


def test_scheduling_shows_the_class_the_readers_and_the_evidence(spec: Spec) -> None:
    lines = section(page(spec, "FADD", "sm_80"), "Scheduling on sm_80: class float")
    assert "  spacing  2, seen 1" in lines
    assert "  Ra  is read as fma" in lines
    distances = " ".join(lines[[line.startswith("  cycles from 'R fma'") for line in lines].index(True) + 1 :])
    assert re.search(r"alu 5, seen 5 \([1-9]\d{3,} of [1-9]\d{4,}\)", distances)
    assert "any other 7" in distances


def test_results_that_a_model_does_not_tell_apart_show_the_figures_they_have(spec: Spec) -> None:
    lines = section(page(spec, "ISETP", "sm_80"), "Scheduling on sm_80: class compare")
    assert any(line.startswith("  cycles from 'P alu2'") for line in lines)
    assert any("guard 13, seen 13" in line for line in lines)


def test_models_that_agree_share_a_section(spec: Spec) -> None:
    assert "Scheduling on sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120: class jump" in page(spec, "EXIT")
    assert "Scheduling on sm_90: class jump" in page(spec, "EXIT", "sm_90")
    assert "ELECT does not exist on sm_80." in page(spec, "ELECT", "sm_80")


def test_rules_that_make_an_operation_are_listed(spec: Spec) -> None:
    text = page(spec, "FADD")
    assert any("add[.rnd][.ftz][.sat].f32" in line for line in section(text, "Lowering rules that make FADD"))
    found = section(text, "Lowering rules that make FADD")
    assert "neg, sub" in found[0] and any("template any_add_f32" in line for line in found)
    assert any("sources may change places: Ra, Rb" in line for line in section(text, "Rewrites with FADD"))
    folds = section(page(spec, "POPC"), "Rewrites with POPC")
    assert any("is evaluated when all sources are constants" in line for line in folds)


def test_rewrite_rules_are_found_by_the_operations_that_they_name(spec: Spec) -> None:
    lines = section(page(spec, "IADD3"), "Rewrites with IADD3")
    rules = [" ".join(line.split()) for line in lines if "becomes" in line]
    assert any(line.startswith("IADD3(x, RZ, RZ) becomes x, always spec/rewrites/algebra.yaml:") for line in rules)
    assert any(line.startswith("IMAD{sign}(x, 1, y*) becomes IADD3(x, y*, RZ), always") for line in rules)
    assert any("reachable(k, offset), in addresses, scale default, no URa" in line for line in rules)
    assert all(re.search(r"\bIADD3[({]", line) for line in rules)  # not those of IADD3.X alone
    (floats,) = [line for line in section(page(spec, "FSETP"), "Rewrites with FSETP") if "becomes" in line]
    assert "flushes <= root_ftz, in FADD, FMUL, FFMA, FSETP, FMNMX" in floats


def test_rules_are_found_by_what_they_emit(spec: Spec) -> None:
    """Each operation that the text of a rule begins a line with is one of those found for it."""
    known = {o.name for o in machine_rows.load(spec).operations}
    checked = 0
    for row, made in lowering_rules(Index.of(spec)):
        for line in row.values.get("emit", ()):
            name = line.removeprefix("?").split("{")[0].split()[0]
            if name in known:
                assert name in made or f"{name}.RELU" in made, row.key
                checked += 1
    assert checked > 500


def test_an_opcode_is_found_by_id_rot13_and_small_letters(spec: Spec) -> None:
    assert page(spec, "12") == page(spec, "FADD") == page(spec, "SNQQ") == page(spec, "fadd")


def test_every_opcode_has_a_page(spec: Spec) -> None:
    index = Index.of(spec)
    for row in index.rows("opcodes"):
        if row.values["id"] % 16 == 0 or not row.key.isupper():
            assert f" {row.values['id']}  (spec/opcodes.yaml:{row.line})" in page(spec, str(row.values["id"])).splitlines()[0]


def test_one_operation_of_an_opcode(spec: Spec) -> None:
    text = page(spec, "IADD3.X")
    assert text.startswith("IADD3: opcode 3")
    assert "Operation IADD3.X" in text
    assert "Operation IADD3 " not in text


def test_an_instruction_shows_forms_and_code(spec: Spec) -> None:
    text = page(spec, "add.f32")
    assert section(text, "Forms: 5")[0].startswith("  add{.ftz}{.sat}.f32  (spec/ptx/arith.yaml:")
    assert section(text, "Lowering rules: 3")[1] == "      FADD{ftz}{rnd}{sat} d, a, b"
    assert "Forms: 16" in page(spec, "add")
    assert "Forms: 1" in page(spec, "add.cc.u32")
    assert "needs sm_90" in page(spec, "add.u16x2", "sm_80")
    assert "needs sm_90" not in page(spec, "add.u16x2", "sm_90")


def test_any_row_by_its_key(spec: Spec) -> None:
    text = page(spec, "GvnCse")
    assert text.startswith("GvnCse: row of the table phases  (spec/phases.yaml:")
    assert "  function   value_numbering\n" in text
    assert page(spec, "gvncse") == text
    assert "row of the table lowering" in page(spec, "%tid.x")
    assert "row of the table lowering" in page(spec, "template move")


def test_a_target_and_the_rows_that_name_it(spec: Spec) -> None:
    text = page(spec, "sm_90")
    assert text.startswith("sm_90: row of the table targets  (spec/sm_targets.yaml:")
    named = section(text, "Named by")
    assert "VIADD" in "   ".join(named).split("   ")
    heading = next(i for i, line in enumerate(named) if line.startswith("  targets: "))
    assert "sm_90a" in named[heading + 1].split()


def test_markers_and_ids_without_a_name(spec: Spec) -> None:
    assert page(spec, "205").startswith("SM89_LAST: marker 205")
    assert page(spec, "56").startswith("opcode 56: opcode 56")
    assert "No operation of spec/encoding has this opcode" in page(spec, "56")


def test_an_opcode_page_joins_the_other_tables(spec: Spec) -> None:
    text = page(spec, "MOV", "sm_90")
    assert "category  517" in "\n".join(section(text, "regclass: 0x12 MOV"))
    assert "No case of regclass.yaml is this opcode's" in page(spec, "FADD", "sm_90")
    assert "  ptx     ld.shared.b32" in section(page(spec, "LDS", "sm_90"), "documented_rules: rule 68")
    assert section(page(spec, "LDS", "sm_90"), "dispatch: LDS")


@pytest.mark.parametrize("sm", ["sm_101", "sm_101f"])
def test_forms_and_timings_of_a_target_that_no_code_can_be_made_for(spec: Spec, sm: str) -> None:
    """They are those of its model: words of it can be read, checked and run."""
    isa = targets.load(spec).by_name[sm].isa
    text = page(spec, "FADD", sm)
    assert any(line.endswith(f"[{isa}]") for line in section(text, "Forms of FADD"))
    assert f"Scheduling on {isa}: class float" in text
    assert f"No code can be made for {sm} yet" in text
    assert "No code can be made" not in page(spec, "FADD", "sm_80")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("faddd", "nothing is called 'faddd'; did you mean FADD"),
        ("GvnSce", "did you mean GvnCse"),
        ("9999", "no opcode has the id 9999; the ids are "),
        ("add.f99", "PTX instruction 'add' has no form with .f99; its forms: "),
        ("qqqqqqqq", "nothing is called 'qqqqqqqq'"),
    ],
)
def test_unknown_names_are_answered_with_known_ones(spec: Spec, name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        explain(spec, name)
    assert message in str(error.value)


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "EXIT", "--sm", "sm_80"]) == 0
    out = capsys.readouterr()
    assert out.out.startswith("EXIT: opcode 77")
    assert out.err == ""
    assert main(["explain", "EXIT", "--sm", "sm_8O"]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert "there is no target 'sm_8O'; did you mean sm_8" in out.err
    assert main(["explain", "EXIT", "--sm", "sm_70"]) == 2
    assert "of sm_70 is not known: no forms, no timings; they are for sm_75, sm_80, sm_86" in capsys.readouterr().err
