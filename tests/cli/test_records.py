"""``--save-records``, ``oric show`` and ``oric resume`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from oric.cli import ERROR_STATUS, main

from tests import specification
from tests.records import samples

SCHEMA = json.loads((specification.ROOT / "docs/records.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.ptx").write_text(samples.SMALL)
    return tmp_path


def save(*more: str) -> int:
    return main(["k.ptx", "-arch", "sm_75", "-o", "k.cubin", *more])


def test_saved_shown_and_gone_on_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert save("--save-records=GeneralOptimizeEarly:k.rec") == 0
    assert main(["resume", "k.rec", "-o", "again.cubin"]) == main(["resume", "k.rec", "--verify", "-o", "more.cubin"]) == 0
    image = (folder / "k.cubin").read_bytes()
    assert image == (folder / "again.cubin").read_bytes() == (folder / "more.cubin").read_bytes()
    assert main(["show", "k.rec"]) == 0
    out, err = capsys.readouterr()
    assert not err and "// sm_75 -O3, saved behind phase 13 GeneralOptimizeEarly" in out and "entry small sm_75" in out
    assert "instructions: instruction stream" in out and "live_in" not in out
    assert out.count("\n// ") >= 30


def test_all_that_can_be_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert save("--save-records=13:k.rec", "--records-full", "--records-wrap") == 0
    assert main(["show", "--elements", "k.rec"]) == 0
    out = capsys.readouterr().out
    for text in ("0x2c ", "0x3e ", "live_in: live-in", "text=_ORI_R", "encoded_arch=24576"):
        assert text in out
    for words in (["--json"], ["--json", "--elements"]):
        assert main(["show", *words, "k.rec"]) == 0
        found = json.loads(capsys.readouterr().out)
        jsonschema.validate(found, SCHEMA)
        assert found["phase"] == 13 and found["functions"][0]["code"].startswith("entry small")
        assert any(section.get("rows") for section in found["sections"]) == ("--elements" in words)


def test_a_file_of_another_build_is_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = samples.small()
    Path("k.rec").write_bytes(samples.sealed(data[:32] + bytes(16) + data[48:]))
    assert main(["show", "k.rec"]) == 0
    out = capsys.readouterr().out
    assert "made by another build of Oric" in out and "0x7004" in out
    assert main(["show", "--json", "k.rec"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), SCHEMA)
    assert main(["resume", "k.rec", "-o", "k.cubin"]) == ERROR_STATUS and not Path("k.cubin").exists()
    assert "another build of Oric has made this file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "resume"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "k.rec: at offset 0x0: this is no record file: it has 0 bytes"),
        (b"\x7fELF" + bytes(200), "this is no record file"),
        (None, "the file is cut off"),
    ],
)
def test_damaged_files(folder: Path, capsys: pytest.CaptureFixture[str], command: str, data: bytes | None, message: str) -> None:
    Path("k.rec").write_bytes(samples.small()[:-9] if data is None else data)
    assert main([command, "k.rec"]) == ERROR_STATUS
    out, err = capsys.readouterr()
    assert not out and err.startswith("oric: error: ") and message in err and "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["k.ptx", "k.rec"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--save-records=13"], "expected a phase and a file"),
        (["--save-records=:k.rec"], "expected a phase and a file"),
        (["--save-records=nonsense:k.rec"], "there is no phase 'nonsense'"),
        (["--save-records=all:k.rec"], "one phase"),
        (["--records-full"], "it goes with '--save-records'"),
        (["--records-wrap"], "it goes with '--save-records'"),
        (["--save-records=13:missing/k.rec"], "missing/k.rec"),
    ],
)
def test_options_that_make_no_sense(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert save(*words) == ERROR_STATUS
    assert message in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["k.ptx"]


@pytest.mark.parametrize("words", [["show"], ["resume"], ["show", "none.rec"], ["resume", "none.rec"], ["show", "--what", "k"]])
def test_files_that_are_not_there(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(words) == ERROR_STATUS
    assert capsys.readouterr().err.startswith("oric: error: ")


def test_a_mistake_in_the_ptx_saves_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(samples.SMALL.replace("mad.lo", "fam.lo"))
    assert save("--save-records=13:k.rec") == ERROR_STATUS
    assert [path.name for path in folder.iterdir()] == ["k.ptx"]
