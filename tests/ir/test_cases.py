"""The cases in plain text, and what a case that fails says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ir import cases
from tests.ir.cases import Case, Mistake, all_cases, bless, difference, load

CASES = all_cases()


def marked(case: Case) -> tuple[pytest.MarkDecorator, ...]:
    """The marker of the rows that a case says it checks."""
    return (pytest.mark.row(*case.rows),) if case.rows else ()


PARAMETERS = [pytest.param(case, id=case.name, marks=marked(case)) for case in CASES]


@pytest.mark.parametrize("case", PARAMETERS)
def test_case(case: Case) -> None:
    told = difference(case, case.result())
    assert not told, told


@pytest.mark.parametrize("case", [case for case in CASES if case.keys["runs"] == "yes"], ids=lambda case: case.name)
def test_a_thread_stores_the_same_afterwards(case: Case) -> None:
    assert case.is_kept()


def test_most_cases_of_the_optimizer_are_run() -> None:
    assert sum(case.keys["runs"] == "yes" for case in CASES) >= 10


TEXT = """// A copy.
// phases: remove_dead_code
bix0:
    MOV R1, 0x1
    EXIT
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    (tmp_path / "dead").mkdir()
    (tmp_path / "dead/copy.ori").write_text(
        TEXT + "--- expected\nentry test sm_90\nbix0: -> -  // from -\n    MOV R1, 0x1\n    EXIT\n"
    )
    return tmp_path


def test_a_failure_tells_the_file_a_diff_and_what_to_do(folder: Path) -> None:
    (case,) = all_cases("dead/")
    assert difference(case, case.result()).splitlines() == [
        str(folder / "dead/copy.ori"), "--- expected", "+++ found", "@@ -1,4 +1,3 @@", " entry test sm_90",
        " bix0: -> -  // from -", "-    MOV R1, 0x1", "     EXIT", "to take it over: python -m tests.ir.cases --bless dead/copy",
    ]  # fmt: skip


def test_blessing_writes_what_comes_out(folder: Path) -> None:
    (case,) = all_cases("copy")
    assert bless(case)
    (blessed,) = all_cases("copy")
    assert blessed.text == TEXT and blessed.expected == case.result() and not difference(blessed, blessed.result())
    assert not bless(blessed)


def test_cases_of_refused_code_expect_the_message(folder: Path) -> None:
    (folder / "bad.ori").write_text(TEXT.replace("EXIT", "EXITT"))
    assert load(folder / "bad.ori").result() == (
        "error: bad.ori:5:5: error: expected an operation, found 'EXITT'\n"
        "        EXITT\n        ^\n    note: did you mean 'EXIT'?\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("// A copy.\n", ""), "a comment in front says what the case shows"),
        (TEXT.replace("// A copy.", "// fases: remove_dead_code"), "'fases' is none of phases, target, level, runs, rows"),
    ],
)
def test_cases_that_are_none(folder: Path, text: str, message: str) -> None:
    (folder / "none.ori").write_text(text)
    with pytest.raises(Mistake, match=message):
        load(folder / "none.ori")
