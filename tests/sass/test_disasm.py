"""`oric disasm`: the text of nvdisasm, JSON, raw words, and bad input."""

from __future__ import annotations

import json
import lzma
import random
import struct
from pathlib import Path

import pytest
from oric.sass.cli import main
from oric.sass.labels import CodeSection, number_labels
from oric.sass.listing import control_code, list_cubin
from oric.sass.text import text_lines
from oric.support.elf import CubinError, read

from tests.sass.nvdisasm_text import code_lines, cubins, stored

DATA = Path(__file__).parents[1] / "data" / "cubin"
CONTAINER = DATA / "container.sm_90.cubin"
CUBINS = cubins()
EXPECTED = stored()


@pytest.mark.parametrize("name", list(EXPECTED))
def test_lines_are_those_of_nvdisasm(name: str) -> None:
    listing = list_cubin(read(CUBINS[name]))
    assert listing.problems == []
    assert code_lines(text_lines(listing, None, plain=True)) == EXPECTED[name]


def test_every_cubin_of_the_tests_has_stored_text() -> None:
    assert {name for name in CUBINS if "ptxas_12_8" not in name} == set(EXPECTED)


def test_header_form_of_12_8_is_read_too() -> None:
    listing = list_cubin(read(CUBINS["container.ptxas_12_8.sm_90.cubin"]))
    assert listing.problems == []
    assert sum(len(f.lines) for f in listing.functions) > 500


def test_listing_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(CONTAINER)]) == 0
    out = capsys.readouterr().out
    assert "// kernel: 12 registers, 1 barriers" in out
    assert "// parameters in bank 0: 1 at 0x210, 2 at 0x212, 4 at 0x214" in out
    assert "// block size: at most (256, 1, 1)" in out
    assert "[B------:R-:W0:-:S08]         /*0000*/                   LDC R1, c[0x0][0x28] ;\n" in out
    assert ".L_x_24:\n" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", str(CONTAINER)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["arch"] == "sm_90" and document["constants"] == {"3": 68, "4": 24}
    functions = {f["name"]: f for f in document["functions"]}
    static = functions["k_static"]
    assert (static["registers"], static["shared"], static["barriers"], static["entry"]) == (12, 1280, 1, True)
    assert static["params"] == [{"offset": 0x210, "size": 8}]
    first = static["instructions"][0]
    assert first["text"] == "LDC R1, c[0x0][0x28]" and first["offset"] == 0
    assert first["labels"] == ["k_static", ".text.k_static"]
    assert first["word"] == "0x000fe2000000080000000a00ff017b82" and first["control"] == "[B------:R-:W-:-:S01]"
    assert (first["reads"], first["writes"]) == ([], ["R1"])


def test_raw_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "words"
    path.write_bytes(read(CONTAINER.read_bytes()).functions["k_empty"].text[:32])
    assert main(["--raw", "--arch", "sm_90", "--plain", str(path)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1:] == [
        "        /*0000*/                   LDC R1, c[0x0][0x28] ;",
        "        /*0010*/                   EXIT ;",
    ]


def test_guard_stands_left_of_the_mnemonic() -> None:
    lines = text_lines(list_cubin(read(CONTAINER.read_bytes())), None, plain=True)
    assert "        /*0270*/              @!P0 BRA `(.L_x_0) ;" in lines


@pytest.mark.parametrize(
    ("control", "text"),
    [
        (0x7E0, "[B------:R-:W-:Y:S00]"),
        (0x7F1, "[B------:R-:W-:-:S01]"),
        (4 | 1 << 4 | 1 << 5 | 7 << 8 | 0b000101 << 11, "[B0-2---:R-:W1:-:S04]"),
        (15 | 7 << 5 | 5 << 8 | 0b100000 << 11, "[B-----5:R5:W-:Y:S15]"),
    ],
)
def test_control_code(control: int, text: str) -> None:
    assert control_code(control) == text


def test_label_numbers_count_repeated_indirect_targets() -> None:
    first = CodeSection(256, {0: "a", 128: "b"}, [64, 128, 64, 32], {16: (48, 64, 48, 80)})
    second = CodeSection(64, {0: "c"}, [32, 1000, -16])
    labels = number_labels([first, second], [(1, 64), (0, 128), (0, 256)])
    assert labels == [
        {64: ".L_x_0", 32: ".L_x_1", 16: ".L_x_3", 48: ".L_x_4", 80: ".L_x_7", 256: ".L_x_10"},
        {32: ".L_x_2", 64: ".L_x_8"},
    ]


def failed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("oric: error: ") and captured.err.count("\n") == 1
    return captured.err


def test_unreadable_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in failed([str(tmp_path / "missing")], capsys)
    assert "Is a directory" in failed([str(tmp_path)], capsys)
    (tmp_path / "empty").write_bytes(b"")
    assert "the file is empty" in failed([str(tmp_path / "empty")], capsys)
    (tmp_path / "text").write_bytes(b".version 9.0\n" * 9)
    assert "not an ELF file" in failed([str(tmp_path / "text")], capsys)
    (tmp_path / "cut").write_bytes(CONTAINER.read_bytes()[:9000])
    assert "truncated" in failed([str(tmp_path / "cut")], capsys)


def test_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "words"
    path.write_bytes(bytes(17))
    assert "--raw needs --arch" in failed(["--raw", str(path)], capsys)
    assert "a cubin names its target" in failed(["--arch", "sm_90", str(path)], capsys)
    assert "Value 'sm_1' is not defined for option 'arch'" in failed(["--raw", "--arch", "sm_1", str(path)], capsys)
    said = failed(["--raw", "--arch", "sm_52", str(path)], capsys)
    assert said.startswith("oric: error: sm_52 is known but its machine code is not")
    assert "not whole instructions" in failed(["--raw", "--arch", "sm_90", str(path)], capsys)
    assert "required: FILE" in failed([], capsys)


def test_other_architecture_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(CONTAINER.read_bytes())
    struct.pack_into("<I", data, 48, 0x06003402)
    (tmp_path / "other").write_bytes(data)
    assert "sm_52 is known but its machine code is not" in failed([str(tmp_path / "other")], capsys)


def test_unknown_instruction_is_shown_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(CONTAINER.read_bytes())
    start = read(bytes(data)).sections[read(bytes(data)).functions["k_empty"].section].offset
    data[start : start + 16] = b"\xff" * 16
    (tmp_path / "odd").write_bytes(data)
    assert main(["--plain", str(tmp_path / "odd")]) == 0
    captured = capsys.readouterr()
    assert "oric: warning: " in captured.err
    assert ".text.k_empty: offset 0x0000: unknown instruction 0xffffffffffffffffffffffffffffffff" in captured.err
    assert "        /*0000*/                   .word 0xffffffffffffffff 0xffffffffffffffff ;" in captured.out
    assert "        /*0010*/                   EXIT ;" in captured.out


@pytest.mark.parametrize("seed", range(60))
def test_damaged_cubins_never_raise_anything_else(seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(CONTAINER.read_bytes())
    for _ in range(rng.randint(1, 40)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    try:
        lines = text_lines(list_cubin(read(bytes(data))), None)
    except CubinError:
        return
    assert lines


def test_notes_of_relocations() -> None:
    """What the linker does to an opcode stands behind the instruction; a second relocation there does not hide it."""
    data = bytearray(lzma.decompress((DATA.parent / "containers" / "object.sm_90.cubin.xz").read_bytes()))
    section = read(bytes(data)).section(".rela.text._Z2sqi")
    assert section is not None
    place = struct.unpack_from("<Q", data, section.offset)[0]
    for number, kind in enumerate((68, 69)):
        struct.pack_into("<QIIq", data, section.offset + 24 * number, place, kind, 0, 280)
    [function] = [f for f in list_cubin(read(bytes(data))).functions if f.name == "_Z2sqi"]
    assert function.lines[place // 16].note == '(*"RELOCATOR OPCODE,YIELD,280"*)'


def test_unknown_targets_are_refused_by_name_and_the_others_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray((DATA.parent / "containers" / "two.none.fatbin").read_bytes())
    at = bytes(data).find(b"\x7fELF")
    struct.pack_into("<I", data, at + 48, 0x06000002 | 201 << 8)
    (tmp_path / "two.fatbin").write_bytes(data)
    assert main(["--plain", str(tmp_path / "two.fatbin")]) == 1
    captured = capsys.readouterr()
    assert "entry 1: unknown target 'sm_201'" in captured.err
    assert "// entry 2\n\t.target\tsm_90a\n" in captured.out and "EXIT ;" in captured.out


def test_functions_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--function", "k_empty", str(CONTAINER)]) == 0
    assert [f["name"] for f in json.loads(capsys.readouterr().out)["functions"]] == ["k_empty"]
    assert main(["--plain", "--function", "nowhere", str(CONTAINER)]) == 1
    assert "there is no function nowhere" in capsys.readouterr().err


def test_several_images_are_an_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA.parent / "containers" / "two.zstd.fatbin"
    assert main(["--json", str(path)]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["arch"], first["place"], second["arch"], second["place"]) == ("sm_80", "entry 1", "sm_90a", "entry 2")
