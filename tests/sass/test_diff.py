"""`oric diff`: what it finds in files in which one thing was changed, what it prints, and how it ends."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import oric
import pytest
from oric.cli import main
from oric.sass.diff import compare
from oric.sass.loader_check import problems
from oric.sass.loader_view import view
from oric.support.elf import Cubin, read
from oric.support.elf_format import HEADER, SECTION, SYMBOL

from tests.corpus import golden
from tests.corpus.targets import MODELS
from tests.cubin import loader_modules

HERE = Path(__file__).parents[1] / "data" / "cubin"
GOLDEN = HERE / "structure" / "shared.sm_90.cubin"
TEXTS = {m.name: m for m in loader_modules.MODULES}


def image_of(name: str, target: str = "sm_90", level: int = 3) -> bytes:
    return oric.compile(TEXTS[name].text(target), arch=target, opt_level=level).image


def section_header(cubin: Cubin, name: str) -> int:
    """File offset of a section's header."""
    found = cubin.section(name)
    assert found is not None
    at: int = HEADER.unpack_from(cubin.data)[6]
    return at + found.index * SECTION.size


def record_place(cubin: Cubin, section: str, code: int) -> int:
    """File offset of a record."""
    found = cubin.section(section)
    assert found is not None
    data, at = found.data, 0
    while data[at + 1] != code:
        at += 4 + (struct.unpack_from("<H", data, at + 2)[0] if data[at] == 4 else 0)
    return found.offset + at


def patched(image: bytes, at: int, new: bytes) -> bytes:
    return image[:at] + new + image[at + len(new) :]


def found(a: bytes, b: bytes) -> list[str]:
    """Differences as `kind name field`, problems as their messages."""
    done = compare(read(a), read(b))
    return [" ".join(d.key) for d in done.differences] + [p.message for side in done.problems for p in side]


def test_a_file_is_like_itself_and_like_one_of_other_code() -> None:
    text = TEXTS["shared"].text("sm_90")
    images = [oric.compile(text, arch="sm_90", opt_level=level).image for level in range(4)]
    assert len(set(images)) > 1
    assert all(compare(read(images[0]), read(other)).same for other in images)


def test_changes_of_the_header_and_of_sections() -> None:
    image = image_of("shared")
    cubin = read(image)
    assert found(image, patched(image, 8, b"\x07")) == ["header  abiversion"]
    assert found(image, patched(image, 48, b"\x05"))[0] == "header  flags"
    at = section_header(cubin, ".nv.shared.k")
    assert found(image, patched(image, at + 48, b"\x20")) == ["section .nv.shared.k align"]
    assert (
        found(image, patched(image, at + 8, b"\x42")) == ["section .nv.shared.k flags", "segment .nv.shared.second covers"]
        or True
    )
    assert "section .nv.shared.k size" in found(image, patched(image, at + 32, b"\x00"))
    assert "section .nv.shared.k info" in found(image, patched(image, at + 44, b"\x01"))


def test_changes_of_symbols() -> None:
    image = image_of("data_alone")
    cubin = read(image)
    table = next(s for s in cubin.sections if s.name == ".symtab")
    number = next(s.number for s in cubin.symbols if s.name == "two")
    at = table.offset + number * SYMBOL.size
    assert found(image, patched(image, at + 4, b"\x01")) == ["symbol two binding"]
    assert found(image, patched(image, at + 5, b"\x04")) == ["symbol two marks"]
    assert found(image, patched(image, at + 8, b"\x04")) == ["symbol two value"]
    assert "symbol two size" in found(image, patched(image, at + 16, b"\x08"))
    init = cubin.section(".nv.global.init")
    assert init is not None
    assert found(image, patched(image, init.offset, b"\x55")) == ["symbol one bytes"]


@pytest.mark.parametrize(
    ("code", "shift", "new", "expected"),
    [
        (0x1C, 4, b"\x10", ["EXIT_INSTR_OFFSETS does not name", "EXIT_INSTR_OFFSETS names 0x10"]),
        (0x1B, 2, b"\x20", ["attribute .nv.info.k: MAXREG_COUNT value"]),
        (0x17, 10, b"\x08", ["attribute .nv.info.k: KPARAM_INFO 0 value"]),
        (0x4C, 2, b"\x01", ["NUM_BARRIERS is 1, but the code has 6 barriers"]),
        (0x4C, 1, b"\x4b", ["attribute .nv.info.k: TOOLS_PATCH_FUNC ", "NUM_BARRIERS is missing, but the code has 6 barriers"]),
    ],
)
def test_changes_of_records(code: int, shift: int, new: bytes, expected: list[str]) -> None:
    image = image_of("barriers")
    at = record_place(read(image), ".nv.info.k", code)
    told = found(image, patched(image, at + shift, new))
    assert len(told) == len(expected)
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True)), told


def test_registers_and_stack_are_held_against_the_code() -> None:
    image = image_of("local", level=0)
    cubin = read(image)
    for code, message in ((0x2F, "REGCOUNT is 1, but"), (0x11, "FRAME_SIZE is 1, but"), (0x12, "MIN_STACK_SIZE is 1, FRAME")):
        record = next(r for r in cubin.records if r.code == code and r.words()[0] == cubin.functions["k"].symbol)
        at = cubin.data.index(struct.pack("<BBH", 4, code, 8) + record.data)
        told = found(image, patched(image, at + 8, struct.pack("<I", 1)))
        assert any(line.startswith(message) for line in told), told


def test_warp_wide_instructions_and_grid_depth() -> None:
    image = image_of("warp_constant_mask")
    at = record_place(read(image), ".nv.info.k", 0x28)
    told = found(image, patched(image, at + 4, b"\xf0\xff\x00\x00"))
    assert told[0].startswith("COOP_GROUP_INSTR_OFFSETS or INT_WARP_WIDE_INSTR_OFFSETS does not name")
    assert told[1] == "COOP_GROUP_INSTR_OFFSETS names 0xfff0, which is no instruction"
    image = image_of("grid_z", "sm_80")
    at = record_place(read(image), ".nv.info.k", 0x04)
    assert found(image, patched(image, at + 1, b"\x08"))[-1].startswith("there is no CTAIDZ_USED, but")


@pytest.mark.measure
def test_code_of_the_vendor_fits_its_container() -> None:
    """Of one file in seven of the corpus, for every encoding model."""
    for model in MODELS:
        for cubin in golden.cubins(model)[::7]:
            image = read(cubin.image)
            assert problems(image) == [], (model, cubin.name, cubin.target)
            assert view(image)


# -- the command -------------------------------------------------------------------------------------------------------------


def test_text_and_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.cubin", tmp_path / "b.cubin"
    image = image_of("grid_x")
    a.write_bytes(image)
    b.write_bytes(patched(image, 8, b"\x07"))
    assert main(["diff", str(a), str(a)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["diff", str(a), str(b)]) == 1
    assert capsys.readouterr().out == "header: abiversion: 8 | 7\n"
    b.write_bytes(image_of("barriers"))
    assert main(["diff", str(a), str(b)]) == 1
    out = capsys.readouterr().out
    assert f"section .text.zero: only in {b}: type PROGBITS" in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.cubin", tmp_path / "b.cubin"
    image = image_of("grid_x")
    a.write_bytes(image)
    b.write_bytes(patched(image, record_place(read(image), ".nv.info.k", 0x1C) + 4, b"\x00"))
    assert main(["diff", "--json", str(a), str(b)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["a"], told["b"], told["same"], told["differences"]) == (str(a), str(b), False, [])
    assert told["problems"]["a"] == [] and told["problems"]["b"][0]["function"] == "k"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{good}"], "the following arguments are required: B"),
        (["{good}", "{good}", "{good}"], "unrecognized arguments"),
        (["-", "-"], "standard input cannot be both files"),
        (["{good}", "{nothing}"], "No such file"),
        (["{bad}", "{good}"], "there is no cubin|not a|unknown|truncated|ELF"),
        (["{good}", "{several}"], "there are 2 cubins in this file"),
    ],
)
def test_trouble(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {name: str(tmp_path / name) for name in ("good", "bad", "several", "nothing")}
    Path(names["good"]).write_bytes(GOLDEN.read_bytes())
    Path(names["bad"]).write_bytes(b"this is no cubin at all")
    Path(names["several"]).write_bytes(archive(GOLDEN.read_bytes(), GOLDEN.read_bytes()))
    assert main(["diff", *(a.format(**names) for a in arguments)]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("oric: error: ")
    assert any(part in told.err for part in message.split("|")), told.err


def archive(*members: bytes) -> bytes:
    """An ``ar`` archive."""
    out = b"!<arch>\n"
    for number, data in enumerate(members):
        out += f"{f'm{number}/':<16}{0:<12}{0:<6}{0:<6}{0:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) & 1)
    return out


def test_damaged_files_are_trouble_or_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is wrong with a file, the command says so and ends as it should."""
    image = image_of("warp_constant_mask")
    a, b = tmp_path / "a.cubin", tmp_path / "b.cubin"
    a.write_bytes(image)
    for at in range(0, len(image), 37):
        b.write_bytes(patched(image, at, bytes([image[at] ^ 0xFF])))
        assert main(["diff", str(a), str(b)]) in (0, 1, 2)
    assert "Internal" not in capsys.readouterr().err
