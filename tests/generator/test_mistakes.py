"""Every mistake of tests/generator/mistakes is refused with the right file, line and words."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.generator import planted, raise_sites
from tests.generator.planted import FOLDER, ROOT, Mistake

CASES = [(path.stem, m) for path in sorted(FOLDER.glob("*.yaml")) for m in planted.read(path)]

# Errors that no edit of a file can cause.
ELSEWHERE = {
    "accept.py": "a mistake in a schema: test_accept.py",
    "checking.py": "files that no edit makes: test_checking.py",
    "errors.py": "what was raised before",
    "spec.py: known": "what was raised before",
    "relation.py: Unknown": "no mistake: what is said of a value that is none",
    "schema.py: the schema cannot be used": "a mistake in a schema: test_checking.py",
    "schema.py: the file cannot be read": "a mistake in a schema: test_checking.py",
    "schema.py: not valid JSON": "a mistake in a schema: test_checking.py",
    "schema.py: duplicate key": "a mistake in a schema: test_checking.py",
    "schema.py: the file does not fit": "a mistake in the generator itself",
    "handlers.py": "the compiler is not installed",
    "native.py": "headers that include each other; what a C compiler refuses: test_native.py",
    "rewriting/proof.py": "rules whose sides differ: test_rewriting.py",
    "rewriting/emit.py": "a mistake in the generator itself",
    "review/reading.py": "test_checking.py",
    "outputs/__init__.py": "a mistake in the generator itself",
    "textedit.py": "commands that edit the specification: their tests have it",
    "strictyaml.py: the file cannot be read": "test_strictyaml.py",
    "strictyaml.py: the file is not UTF-8": "test_strictyaml.py",
}


class Said(NamedTuple):
    """What an error says and where it was raised; the error itself would keep the specification that it is about."""

    text: str
    message: str
    line: int
    sites: frozenset[raise_sites.Site]


@cache
def said_of(mistake: Mistake) -> Said | None:
    error = planted.errors({mistake.file: mistake.text()})
    return Said(str(error), error.message, error.line, frozenset(raise_sites.sites_of(error))) if error else None


def problem(mistake: Mistake) -> str:
    """What is wrong with what is said of a mistake, "" for nothing."""
    said = said_of(mistake)
    if said is None:
        return "nothing is said of it"
    right = said.text.startswith(f"spec/{mistake.place}:") and mistake.message in said.message and said.line in mistake.lines()
    return "" if right else said.text


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "mistake"), [pytest.param(table, mistake, id=f"{table}: {mistake.name}") for table, mistake in CASES[::30]]
)
def test_mistake(table: str, mistake: Mistake) -> None:
    assert problem(mistake) == ""


@pytest.mark.long
@pytest.mark.measure
def test_each_mistake_is_told_and_every_message_of_the_generator_has_one() -> None:
    assert {f"{table}: {mistake.name}": said for table, mistake in CASES if (said := problem(mistake))} == {}
    raised = {site for _, mistake in CASES if (said := said_of(mistake)) for site in said.sites}
    missing = {
        f"{file}: {text}"
        for (file, line), text in raise_sites.all_sites().items()
        if (file, line) not in raised and "UsageError" not in text and not _elsewhere(file, text)
    }
    assert not missing


def _elsewhere(file: str, text: str) -> bool:
    return any(file == key.partition(": ")[0] and key.partition(": ")[2] in text for key in ELSEWHERE)


def test_there_are_enough() -> None:
    assert len(CASES) >= 40


def test_names_are_unique() -> None:
    names = [(t, m.name) for t, m in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ["build", "check"])
def test_on_the_command_line(tmp_path: Path, command: str) -> None:
    """Exit status 2, one line on standard error, no traceback, nothing written."""
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    _, mistake = CASES[0]
    (tmp_path / "spec" / mistake.file).write_text(mistake.text(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "oricgen", "--root", str(tmp_path), command],
        env={"PYTHONPATH": str(ROOT / "generator"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"oricgen: error: spec/{mistake.place}:{mistake.lines()[0]}: ")
    assert len(done.stderr.splitlines()) == 1
    assert {p.name for p in tmp_path.iterdir()} == {"spec"}
