"""The check as a whole: all mistakes of one run, files that nothing reads, files that cannot be read, disks that are full."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oricgen import checking, cli, kept, stamp
from oricgen.errors import MOST, Mistakes, SpecError
from oricgen.review.reading import files
from oricgen.spec import Spec

from tests import specification
from tests.generator import planted

ROOT = planted.ROOT


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """What a command that fails prints."""
    assert cli.main([*arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.splitlines()


def edited(*edits: tuple[str, str, str]) -> Spec:
    """The specification with (file, old text, new text)."""
    texts: dict[str, str] = {}
    for file, old, new in edits:
        text = texts.get(file) or (ROOT / "spec" / file).read_text(encoding="utf-8")
        assert text.count(old) >= 1, old
        texts[file] = text.replace(old, new, 1)
    return specification.spec().edited(texts)


def all_of(spec: Spec) -> list[str]:
    with pytest.raises(SpecError) as caught:
        checking.checked(spec)
    return [str(error) for error in caught.value.all()]


def test_mistakes_of_different_files_and_rows_are_told_in_one_run() -> None:
    found = all_of(
        edited(
            ("options.yaml", "default: 3\n", "default: 0o3\n"),
            ("options.yaml", "default: 64\n", "default: 1_0\n"),
            ("thresholds.yaml", "name: order_floor, value: 8", "name: order_floor, value: 41"),
            ("structs.yaml", "name: head", "name: Head"),
            ("knobs.yaml", "type: double, default", "type: duoble, default"),
            ("ptx/arith.yaml", '"add{.sat}.s32 d, a, b"', '"add{.sat}.s33 d, a, b"'),
            ("ptx/arith.yaml", '"sub{.sat}.s32 d, a, b"', '"sub{.sat}.s32 d, a:s34, b"'),
        )
    )
    files = [text.split(":")[0].removeprefix("spec/") for text in found]
    assert files == sorted(files)
    assert {"options.yaml", "thresholds.yaml", "structs.yaml", "knobs.yaml", "ptx/arith.yaml"} == set(files)
    assert [files.count(name) for name in ("options.yaml", "ptx/arith.yaml")] == [2, 2]
    assert len(found) == 7, "what follows from a mistake is not said again"


def test_a_mistake_that_others_depend_on_is_told_once() -> None:
    found = all_of(edited(("opcodes.yaml", "FADD: {id: 12,", "FADD: {id: twelve,")))
    assert [text.split(": ")[0].split(":")[0] for text in found] == ["spec/opcodes.yaml"]


def test_a_target_is_told_all_that_code_needs() -> None:
    text = (ROOT / "spec/sm_targets.yaml").read_text(encoding="utf-8")
    for known, unknown in (("stack: 0x37c", "stack: unknown"), ("layout: sm_100}", "layout: unknown}")):
        start = text.index("  sm_100:\n")
        text = text[:start] + text[start:].replace(known, unknown, 1)
    spec = specification.spec().edited({"sm_targets.yaml": text})
    found = [one for one in all_of(spec) if " sm_100: " in one]
    assert [text.partition(": ")[2] for text in found] == [
        "sm_100: code can be made for it, but bank0.stack is unknown",
        "sm_100: code can be made for it, but elf.layout is unknown",
    ]
    lines = spec._text("sm_targets.yaml").split("\n")
    for one, column in zip(found, ("stack: unknown", "layout: unknown"), strict=True):
        assert column in lines[int(one.split(":")[1]) - 1]


def test_a_target_without_a_row_above_is_told_all_columns_too() -> None:
    text = (ROOT / "spec/sm_targets.yaml").read_text(encoding="utf-8")
    start = text.index("  sm_104:\n")
    found = all_of(
        specification.spec().edited({"sm_targets.yaml": text[:start] + text[start:].replace("code: false", "code: true", 1)})
    )
    assert len(found) > 30
    assert all("sm_104: code can be made for it, but" in one for one in found)


def test_a_crash_is_a_mistake_of_the_file_unless_another_mistake_may_be_its_cause() -> None:
    run = checking._Run(specification.spec(), {})
    run.step("", "options.yaml", lambda: {}["x"])
    assert [re.sub(":[0-9]+", ":N", str(error)) for error in run.found] == [
        "spec/options.yaml: this cannot be checked: KeyError in checking.py:N: 'x'"
    ]
    run.step("", "options.yaml", lambda: {}["y"])
    assert len(run.found) == 1


def test_more_than_enough_mistakes_are_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(spec: Spec, passed: kept.Steps, render: bool) -> None:
        with Mistakes() as each:
            for line in range(MOST + 7):
                with each:
                    raise SpecError("spec/x.yaml", line + 1, "wrong")

    monkeypatch.setattr("oricgen.checking.checked", fail)
    lines = said(capsys, "check")
    assert len(lines) == MOST + 1
    assert lines[0] == "oricgen: error: spec/x.yaml:1: wrong"
    assert lines[-1] == "... and 7 more"


# -- files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    return tmp_path


def test_files_that_nothing_reads(copy: Path) -> None:
    spec = copy / "spec"
    for name in ("x.yml", "opcodes.YAML", "x.yaml", "ptx/x.YAML", "sub/x.yaml", "schema/x.schema.json", "a.bak", ".x.yaml"):
        (spec / name).parent.mkdir(exist_ok=True)
        (spec / name).write_text("a: 1\n", encoding="utf-8")
    (spec / "ptx/link").symlink_to(copy, target_is_directory=True)
    for name in ("opcodes.yaml~", ".opcodes.yaml.swp", "encoding/#float.yaml#", ".DS_Store"):
        (spec / name).write_bytes(b"\0")
    (spec / "encoding/.#float.yaml").symlink_to("somebody@somewhere")
    assert [str(error) for error in checking.strays(Spec(spec))] == [
        "spec/.x.yaml: nothing reads this file: .x is no table",
        "spec/a.bak: nothing reads this file",
        "spec/opcodes.YAML: nothing reads this file: write the suffix .yaml",
        "spec/ptx/link: nothing reads this file",
        "spec/ptx/x.YAML: nothing reads this file: write the suffix .yaml",
        "spec/schema/x.schema.json: nothing reads this file",
        "spec/sub/x.yaml: nothing reads this file: no table reads this folder",
        "spec/x.yaml: nothing reads this file: x is no table",
        "spec/x.yml: nothing reads this file: write the suffix .yaml",
    ]
    assert [text.partition(": ")[0] for text in checking.remarks(Spec(spec))] == [
        "spec/.DS_Store",
        "spec/.opcodes.yaml.swp",
        "spec/encoding/#float.yaml#",
        "spec/encoding/.#float.yaml",
        "spec/opcodes.yaml~",
    ]
    assert not list(checking.strays(specification.spec()))
    assert not checking.remarks(specification.spec())


def test_a_file_of_a_table_that_nothing_names() -> None:
    model = (ROOT / "spec/latency/sm_90.yaml").read_text(encoding="utf-8")
    assert all_of(specification.spec().edited({"latency/sm_77.yaml": model})) == [
        "spec/latency/sm_77.yaml:1: no table reads this file: nothing names it"
    ]


def test_files_that_cannot_be_read_are_all_told(copy: Path) -> None:
    """Exit status 2, every file named, no traceback; neither check nor build."""
    spec = copy / "spec"
    (spec / "encoding/folder.yaml").mkdir()
    (spec / "encoding/link.yaml").symlink_to("nowhere")
    (spec / "opcodes.yaml").unlink()
    (spec / "options.yaml").write_bytes(b"a: 1\nb: \xff\n")
    (spec / "knobs.yaml").write_bytes(b"a: \0\n")
    (spec / "structs.yaml").write_text("a: " + "[" * 3000 + "]" * 3000 + "\n", encoding="utf-8")
    (spec / "numbers.yaml").write_text("a: " + "9" * 5000 + "\n", encoding="utf-8")
    (spec / "schema/thresholds.schema.json").write_text('{"type":\n', encoding="utf-8")
    (spec / "schema/symbols.schema.json").write_text("[" * 100000, encoding="utf-8")
    (spec / "schema/layouts.schema.json").write_text('{"type": "object", "kind": 1}', encoding="utf-8")
    (spec / "schema/dumps.schema.json").write_text('{"type": "object", "type": 1}', encoding="utf-8")
    (spec / "schema/progress.schema.json").unlink()
    for command in ("check", "build"):
        done = subprocess.run(
            [sys.executable, "-m", "oricgen", "--root", str(copy), command],
            env={"PYTHONPATH": str(ROOT / "generator"), "PATH": ""}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stdout == ""
        assert [line.removeprefix("oricgen: error: spec/") for line in done.stderr.splitlines()] == [
            "encoding/folder.yaml: the file cannot be read: it is a folder, or a device, and no file",
            "encoding/link.yaml: the file cannot be read: it is a link to nothing",
            "knobs.yaml:1: there is a NUL byte",
            "numbers.yaml:1: a number of 5000 characters: at most 64 are read",
            "opcodes.yaml: the file cannot be read: No such file or directory",
            "options.yaml:2: the file is not UTF-8",
            "schema/dumps.schema.json: not valid JSON: duplicate key 'type'",
            "schema/layouts.schema.json: the schema cannot be used: 'kind' is not known here",
            "schema/progress.schema.json: the file cannot be read: No such file or directory",
            "schema/symbols.schema.json: not valid JSON: lists and mappings stand too deep in each other",
            "schema/thresholds.schema.json:2: not valid JSON: Expecting value",
            "structs.yaml:1: lists and mappings stand more than 32 deep in each other",
        ]


def test_a_file_that_a_comparison_cannot_read(tmp_path: Path) -> None:
    (tmp_path / ".#x.yaml").symlink_to("somebody@somewhere")
    assert files(tmp_path) == {}
    (tmp_path / "x.yaml").symlink_to("nowhere")
    with pytest.raises(SpecError, match=r"^spec/x\.yaml: the file cannot be read: No such file or directory$"):
        files(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(copy: Path) -> None:
    (copy / "spec/options.yaml").chmod(0)
    assert all_of(Spec(copy / "spec")) == ["spec/options.yaml: the file cannot be read: Permission denied"]


def test_a_folder_that_cannot_be_read(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("rewrites"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(SpecError, match=r"^spec/rewrites: the folder cannot be read: Permission denied$"):
        list(checking._files(copy / "spec"))


def test_there_is_no_specification(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "build"):
        assert said(capsys, "--root", str(tmp_path), command) == [f"oricgen: error: there is no folder '{tmp_path}/spec'"]


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "No space left on device"), (errno.EROFS, "Read-only file system")])
def test_what_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, words: str
) -> None:
    """A disk that is full, or may only be read: the file is named, and the next build does not take it for a good one."""
    files = {"flat/a.txt": "a", "flat/b.txt": "b"}
    monkeypatch.setattr("oricgen.checking.checked", lambda spec, passed: files)
    (tmp_path / "spec").mkdir()
    whole = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "b.txt":
            whole(path, data[:0])
            raise OSError(number, os.strerror(number))
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert said(capsys, "--root", str(tmp_path), "build") == [f"oricgen: error: build/flat/b.txt cannot be written: {words}"]
    assert not stamp.current(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", whole)
    assert cli.main(["--root", str(tmp_path), "build"]) == 0
    assert stamp.current(tmp_path)
    assert (tmp_path / "build/flat/b.txt").read_text(encoding="utf-8") == "b"


def test_a_file_stands_where_a_folder_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("oricgen.checking.checked", lambda spec, passed: {"flat/a.txt": "a"})
    (tmp_path / "spec").mkdir()
    (tmp_path / "build").write_text("", encoding="utf-8")
    (line,) = said(capsys, "--root", str(tmp_path), "build")
    assert line.startswith("oricgen: error: build/flat")
    assert "cannot be written" in line


def test_what_is_quoted_at_length_is_cut() -> None:
    """The place and the reason stay to be read, whatever stands in a row."""
    said = str(SpecError("spec/ptx/arith.yaml", 26, f"add: syntax 'add{'{.sat' * 2000}}}' has a bracket too many in 'x'"))
    assert said.startswith("spec/ptx/arith.yaml:26: add: syntax 'add{.sat")
    assert said.endswith("' has a bracket too many in 'x'")
    assert " ... " in said
    assert len(said) < 300
    short = "row 'a' and row 'b': " + "x" * 500
    assert SpecError("f", 1, short).message == short
