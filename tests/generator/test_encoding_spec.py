"""What the generator says about mistakes in the encoding rows: file, line, entry and what is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.isa import rows
from oricgen.spec import Spec

SPEC = Path(__file__).resolve().parents[2] / "spec"
_HEAD = (SPEC / "opcodes.yaml").read_text(encoding="utf-8").split("\nopcodes:\n")[0]
OPCODES = f"""{_HEAD}
opcodes:
  FADD: {{id: 12, rot13: SNQQ, category: float, source: example}}
  FMUL: {{id: 13, rot13: SZHY, category: float, between: [12, 14]}}
undocumented: []
ir_constants: []
attribute_samples: []
"""
FADD = """operations:
  FADD:
    text: "FADD{ftz} Rd, Ra, Rb"
    ops: "Rd Ra-| Rb-|"
    mods: {ftz: 80}
    zero: "64-71 74-79 81-90"
    forms: add2 0x021
    imm: f32
"""


def load(tmp_path: Path, encoding: str, opcodes: str = OPCODES) -> rows.Machine:
    """Load a specification with one encoding file."""
    root = tmp_path / "spec"
    shutil.copytree(SPEC / "schema", root / "schema", dirs_exist_ok=True)
    shutil.copy(SPEC / "formats.yaml", root / "formats.yaml")
    (root / "opcodes.yaml").write_text(opcodes)
    (root / "encoding").mkdir(exist_ok=True)
    (root / "encoding" / "x.yaml").write_text(encoding)
    spec = Spec(root)
    machine = rows.load(spec)
    rows.opcode_words(spec, machine)
    return machine


def test_the_sound_row_loads(tmp_path: Path) -> None:
    machine = load(tmp_path, FADD)
    assert [f.name for f in machine.operations[0].forms["sm_80"]] == ["RR", "RI", "RC", "RX", "RU"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('zero: "64-71 74-79 81-90"', 'zero: "64-71 74-79 82-90"', 7, "operation 'FADD': form RR: bits 81 are not accounted for"),
        ("{ftz: 80}", "{ftz: 36}", 7, "operation 'FADD': form RR: modifier ftz overlaps with operand Rb in bits 36"),
        (
            'zero: "64-71 74-79 81-90"',
            'zero: "64-71 74-90"',
            7,
            "form RR: bits 80 are said to be fixed, but they belong to a field",
        ),
        ("{ftz: 80}", "{ftz: 80-81 A B C D E}", 5, "modifier 'ftz': value 4 (E) does not fit 2 bits"),
        ("{ftz: 80}", "{ftz: 80 A A}", 5, "modifier 'ftz': duplicate value 'A' or code 1"),
        ("{ftz: 80}", "{ftz: 80 A* (B)}", 5, "modifier 'ftz' has two defaults"),
        ("{ftz: 80}", "{ftz: 80 $none}", 5, "modifier 'ftz': no set 'none' in formats.yaml"),
        ("{ftz: 80}", "{sat: 80}", 7, "operation 'FADD': the text names modifier 'ftz', which the row does not have"),
        ('"Rd Ra-| Rb-|"', '"Rd Ra-| Ra-|"', 4, "operation 'FADD': duplicate operand 'Ra'"),
        ('"Rd Ra-| Rb-|"', '"Rd Ra-| Rb=maybe"', 4, "operation 'FADD': unknown default 'maybe' of operand 'Rb'"),
        ('"Rd Ra-| Rb-|"', '"Rd Ra-|"', 7, "the text names operand 'Rb', which the row does not have"),
        ("forms: add2", "forms: add9", 7, "operation 'FADD': no shape table 'add9' in formats.yaml"),
        ("forms: add2 0x021", "forms: add2 0x021 RR QQ", 7, "operation 'FADD': shape table 'add2' has no shape 'QQ'"),
        ("forms: add2", "forms: alu3", 7, "operation 'FADD': shape RRR has 3 sources, the text names Ra, Rb"),
        ("    imm: f32\n", "", 7, "operation 'FADD': shape RI has an immediate, the row says no 'imm'"),
        ("  FADD:\n", "  FSUB:\n", 2, "operation 'FSUB': no opcode 'FSUB' in opcodes.yaml"),
        ("    imm: f32\n", "    imm: f32\n    match: 79-80=4\n", 7, "operation 'FADD': '79-80=4': the value does not fit"),
        ("{ftz: 80}", "{ftz: 300}", 5, "operation 'FADD': '300' is no run of bits of a 128-bit word"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in FADD
    with pytest.raises(SpecError) as caught:
        load(tmp_path, FADD.replace(old, new))
    assert message in caught.value.message
    assert caught.value.line == line
    assert caught.value.path.endswith("encoding/x.yaml")


def test_two_forms_of_one_word(tmp_path: Path) -> None:
    other = FADD.split("\n", 1)[1].replace("FADD", "FMUL")
    with pytest.raises(
        SpecError, match=r"operation 'FMUL', form RR overlaps with 'FADD', form RR .*no opcode bit tells them apart"
    ) as caught:
        load(tmp_path, FADD + other)
    assert caught.value.line == 14


def test_duplicate_operation_across_files(tmp_path: Path) -> None:
    load(tmp_path, FADD)
    (tmp_path / "spec/encoding/y.yaml").write_text(FADD)
    with pytest.raises(SpecError, match=r"duplicate operation 'FADD' \(first in .*x.yaml:2\)"):
        rows.load(Spec(tmp_path / "spec"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SZHY", "SZHZ", "FMUL: column 'rot13': 'SZHZ' must be 'SZHY'"),
        ("id: 13", "id: 12", "FMUL: column 'id': 12 is that of FADD"),
    ],
)
def test_mistakes_in_opcodes(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, FADD, OPCODES.replace(old, new))
    assert caught.value.message == message
    assert OPCODES.splitlines()[caught.value.line - 1].startswith("  FMUL:")


def test_unknown_key_in_a_row(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="zeros"):
        load(tmp_path, FADD.replace("zero:", "zeros:"))
