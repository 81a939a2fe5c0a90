"""The list of rows and the markers agree: a row that is called live has a test, and a test marks a row that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rows
from tests.ir.test_cases import PARAMETERS

ROOT = Path(__file__).resolve().parents[1]


def test_ids_are_in_order_and_say_what_a_row_is() -> None:
    ids = list(rows.load())
    assert ids == sorted(set(ids)) and len(ids) == 279
    assert all(re.fullmatch(r"R[1-5]-\d\d", key) for key in ids)
    assert len({row.title for row in rows.load().values()}) == len(ids)
    assert all(len(row.check) > 8 for row in rows.load().values())


def test_every_marked_row_exists() -> None:
    assert rows.unknown(rows.marked()) == []


def test_live_rows_have_a_test() -> None:
    assert [key for key, row in rows.load().items() if row.state == "live" and key not in rows.marked()] == []


def test_rows_with_a_test_run() -> None:
    """Data that nothing needs are no row done: what checks them is not marked."""
    idle = {
        key: rows.marked()[key] for key, row in rows.load().items() if row.state in ("table", "missing") and key in rows.marked()
    }
    assert idle == {}


def test_markers_are_found_where_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "HERE", tmp_path / "tests")
    path = tmp_path / "tests" / "test_x.py"
    path.parent.mkdir()
    path.write_text(
        'pytestmark = pytest.mark.row("R1-01")\n'
        '@pytest.mark.row("R1-02", "R1-03")\n@pytest.mark.measure\ndef test_one(): pass\n'
        '@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.row("R1-04"))])\ndef test_two(n): pass\n',
        encoding="utf-8",
    )
    assert list(rows.tests_of(path)) == [
        ("R1-01", "tests/test_x.py"), ("R1-02", "tests/test_x.py::test_one"), ("R1-03", "tests/test_x.py::test_one"),
        ("R1-04", "tests/test_x.py::test_two"),
    ]  # fmt: skip
    path.write_text("@pytest.mark.row(NAME)\ndef test_one(): pass\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"tests/test_x.py:1: ids of rows are written out"):
        list(rows.tests_of(path))


def test_rows_of_cases_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "HERE", tmp_path / "tests")
    path = tmp_path / "tests/ir/cases/dead/copy.ori"
    path.parent.mkdir(parents=True)
    path.write_text("// A copy.\n// phases: remove_dead_code\n// rows: R1-01 R1-02\nbix0:\n    EXIT\n", encoding="utf-8")
    test = "tests/ir/test_cases.py::test_case[dead/copy]"
    assert list(rows.rows_of_cases()) == [("R1-01", test), ("R1-02", test)]


def test_cases_carry_the_marker_of_their_rows() -> None:
    """What is found in the files is what the collected tests are marked with."""
    marks = [(mark.args, case.id) for case in PARAMETERS for mark in case.marks]
    assert {(key, f"tests/ir/test_cases.py::test_case[{name}]") for ids, name in marks for key in ids} == {*rows.rows_of_cases()}
    assert marks


@pytest.mark.parametrize(
    ("ids", "said"), [('"R1-01"', ""), ('"R1-01", "R1-99"', "has no row R1-99"), ("", "has no row without an id")]
)
def test_a_row_that_does_not_exist_stops_the_collection(ids: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "test_y.py").write_text(f"import pytest\n@pytest.mark.row({ids})\ndef test_one(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    plugin = ["-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path / "test_y.py")]
    done = subprocess.run([*command, *plugin], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is not bool(said), done.stdout + done.stderr
    assert said in done.stdout + done.stderr


def test_the_command_prints_rows_and_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert rows.main(["R1-12", "R3-36"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "R1-12  live     Reverse postorder:"
    assert lines[1].strip().startswith("tests/ir/test_cfg.py::test_")
    assert "R3-36  missing  Defaults of a function object: no test" in lines
    assert lines[-1] == "1 live, 0 partial, 0 table, 1 missing, 1 with a test"
    assert rows.main(["R9-99"]) == 2
    assert "there is no row R9-99" in capsys.readouterr().err
