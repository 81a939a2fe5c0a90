"""What is known of a specification is kept between commands, and never believed when anything is another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oricgen import kept, stamp
from oricgen.cli import main
from oricgen.outputs import lowering, render_all
from oricgen.spec import MOST_PARTS, Spec
from oricgen.strictyaml import Map

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
TARGETS = "spec/sm_targets.yaml"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of which all is known: another process has checked and explained it, with another order of hashes."""
    root = tmp_path_factory.mktemp("known")
    shutil.copytree(ROOT / "spec", root / "spec")
    (root / "build").mkdir()
    for words in (["check"], ["explain", "FADD"]):
        run(root, *words, seed="1")
    return root


@pytest.fixture
def project(known: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    shutil.copytree(known, tmp_path / "project")
    return tmp_path / "project"


def run(root: Path, *words: str, seed: str = "0") -> str:
    command = [sys.executable, "-P", "-m", "oricgen", "--root", str(root), *words]
    return subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True, text=True).stdout


def edit(root: Path, name: str, old: str, new: str) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def steps(root: Path) -> set[str]:
    with kept.opened(root, keep=True) as found:
        return set(found.steps)


def test_a_model_that_an_edit_does_not_change_stays_itself() -> None:
    """What is made from it alone is not made again: here the rules of another file."""
    spec = specification.spec()
    before = lowering.compiled(spec)["lowering/integer.yaml"]
    text = (ROOT / TARGETS).read_text(encoding="utf-8")
    edited = spec.edited({"sm_targets.yaml": text.replace("max_regs: 255", "max_regs: 254", 1)})
    after = lowering.compiled(edited)["lowering/integer.yaml"]
    assert after is not before
    assert all(one is two for (_, _, one), (_, _, two) in zip(after.rules, before.rules, strict=True))
    code = (ROOT / "spec/encoding/float.yaml").read_text(encoding="utf-8")
    other = spec.edited({"encoding/float.yaml": code.replace("rnd: 78-79 $rnd, sat: 77", "sat: 77, rnd: 78-79 $rnd", 1)})
    assert lowering.compiler_of(other, "lowering/integer.yaml").shared[0] is not lowering.compiler_of(spec, "").shared[0]


def test_parts_of_rows_that_are_gone_are_not_kept() -> None:
    """However many edits there were, what is made from rows that are there is known."""
    spec = Spec(ROOT / "spec")
    row = spec.load("encoding/float.yaml")["operations"]["FADD"]
    spec.part((row, "there"), (), lambda: "kept")
    for number in range(MOST_PARTS):
        spec.part((Map(row), "gone"), (number,), lambda: "gone")
    _, (_, _, parts) = spec.state()
    assert [made for rows, _, made in parts if rows[1:] in [("there",), ("gone",)]] == ["kept"]


@pytest.mark.measure
def test_what_is_known_gives_the_same(known: Path) -> None:
    """Tables, outputs and pages are those of a specification that was read anew; nothing is made for them."""
    with kept.opened(known, keep=True) as found:
        assert render_all(found.spec) == render_all(specification.spec())
        assert found.spec.made == 0
    assert run(known, "explain", "FADD") == run(ROOT, "explain", "FADD")


def test_every_model_can_be_kept(known: Path) -> None:
    assert "all" in steps(known)
    with kept.opened(known, keep=True) as found:
        from oricgen.explain import explain

        explain(found.spec, "FADD")
        assert found.spec.made == 0


@pytest.mark.measure
def test_a_mistake_is_found_and_its_end(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(project, TARGETS, "backend: 7\n", "backend: 77\n")
    assert "all" not in steps(project)
    for _ in range(2):
        assert main(["--root", str(project), "check"], keep=True) == 2
        assert "its backend is case 77; a 'note' must say why" in capsys.readouterr().err
    edit(project, TARGETS, "backend: 77\n", "backend: 7\n")
    assert main(["--root", str(project), "check"], keep=True) == 0
    assert "all" in steps(project)


@pytest.mark.measure
def test_an_edit_is_seen_in_every_table_that_depends_on_it(project: Path) -> None:
    edit(project, "spec/encoding/float.yaml", "  FADD:\n    text:", "  # moves what follows\n  FADD:\n    text:")
    edit(project, TARGETS, "    limits: {max_shared: 166912,", "    limits: {max_shared: 133120,")
    texts = {name: (project / "spec" / name).read_text(encoding="utf-8") for name in ("encoding/float.yaml", "sm_targets.yaml")}
    with kept.opened(project, keep=True) as found:
        assert render_all(found.spec) == render_all(specification.spec().edited(texts))
    with kept.opened(project, keep=True) as found:
        render_all(found.spec)
        assert found.spec.made == 0, "from then on it is known"


def test_files_that_are_new_or_gone_are_seen(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = project / "spec/encoding/zzz.yaml"
    extra.write_text("operations: {}\nmore: 1\n", encoding="utf-8")
    assert main(["--root", str(project), "check"], keep=True) == 2
    assert "spec/encoding/zzz.yaml" in capsys.readouterr().err
    extra.unlink()
    assert "table phases" in steps(project)
    (project / "spec/encoding/float.yaml").unlink()
    assert main(["--root", str(project), "check"], keep=True) == 2


@pytest.mark.measure
def test_a_file_that_nothing_reads_is_seen(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stray file is refused, and an editor's is named each time, although nothing that was checked has changed."""
    for stray in (project / "spec/opcodes.bak", project / "spec/more/notes.txt"):
        stray.parent.mkdir(exist_ok=True)
        stray.touch()
        assert main(["--root", str(project), "check"], keep=True) == 2
        assert "nothing reads this file" in capsys.readouterr().err
        stray.unlink()
    (project / "spec/opcodes.yaml~").touch()
    for _ in range(2):
        assert main(["--root", str(project), "check"], keep=True) == 0
        assert "spec/opcodes.yaml~: nothing reads this file" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["generator", "schema"])
def test_another_generator_or_schema_knows_nothing(project: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "generator":
        monkeypatch.setattr(stamp, "generator", lambda: "another")
    else:
        edit(project, "spec/schema/phases.schema.json", "{", "{ ")
    assert steps(project) == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", ["start", "facts", "models", "rows", "cut", "empty"])
def test_a_damaged_file_is_none(project: Path, place: str) -> None:
    """What is damaged is empty, and so is all that would need it; what is whole is used."""
    path = project / "build" / kept.FILE
    data = bytearray(path.read_bytes())
    at = {"start": 3, "facts": 300, "models": 100_000, "rows": len(data) - 100_000}
    if place in at:
        data[at[place]] ^= 0x40
    else:
        del data[len(data) // 2 if place == "cut" else 0 :]
    path.write_bytes(data)
    with kept.opened(project, keep=True) as found:
        assert ("all" in found.steps) == (place in ("models", "rows", "cut"))
        assert bool(found.spec.memo("line of targets", dict)) == (place == "rows"), "made anew where the models are lost"
        before = found.spec.made
        found.spec.load("phases.yaml")
        assert found.spec.made == before + 1


def test_nothing_is_kept_of_what_changed_meanwhile(project: Path) -> None:
    before = (project / "build" / kept.FILE).read_bytes()
    edit(project, TARGETS, "backend: 7\n", "backend: 7   # \n")
    with kept.opened(project, keep=True) as found:
        found.spec.load("sm_targets.yaml")
        found.conclude("new")
        edit(project, TARGETS, "backend: 7   # \n", "backend: 7\n")
    assert (project / "build" / kept.FILE).read_bytes() == before


def test_it_works_without_a_place_to_keep_it(project: Path) -> None:
    shutil.rmtree(project / "build")
    words = ["--root", str(project), "query", "phases", "index=15"]
    assert main(words, keep=True) == 0
    assert not (project / "build").exists()
    (project / "build" / kept.FILE).mkdir(parents=True)  # cannot be read, nor replaced
    assert main(words, keep=True) == 0
    assert [path.name for path in (project / "build").iterdir()] == [kept.FILE]
