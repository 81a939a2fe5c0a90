"""The rows of tests/rows.yaml and the tests that check them, found by their markers, and by the ``rows`` of cases in plain
text, without running anything.

    python -m tests.rows [--state STATE] [ID ...]

prints for each row its state and its tests, or that there is none.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from oricgen import strictyaml

HERE = Path(__file__).resolve().parent
FILE = HERE / "rows.yaml"
STATES = ("live", "partial", "table", "missing")
MARKER = "row"
CASES = Path("ir/test_cases.py"), Path("ir/cases")  # the test of the cases in plain text, and where they lie


class Row(NamedTuple):
    """What a row is, what holds when it is done, and how far it is."""

    title: str
    check: str
    state: str


@cache
def load() -> dict[str, Row]:
    """The rows by id.

    Raises:
        SpecError: the file is no strict YAML.
        ValueError: a row with other columns or another state.
    """
    found = {}
    for key, row in strictyaml.loads(FILE.read_text(encoding="utf-8"), FILE.name).items():
        if tuple(row) != Row._fields or row["state"] not in STATES:
            raise ValueError(f"{FILE.name}: {key}: columns are {', '.join(Row._fields)}, states {', '.join(STATES)}")
        found[key] = Row(**row)
    return found


def unknown(ids: Iterable[str]) -> list[str]:
    """Those of the ids that no row has."""
    return sorted(set(ids) - load().keys())


def tests_of(path: Path) -> Iterator[tuple[str, str]]:
    """(id of a row, ``FILE::TEST``) of the markers in a file; ``FILE`` alone for those of all its tests.

    Raises:
        ValueError: a marker whose arguments are not written out as texts.
    """
    text = path.read_text(encoding="utf-8")
    if f".{MARKER}(" not in text:
        return
    name = path.relative_to(HERE.parent).as_posix()
    for statement in ast.parse(text).body:
        tested = isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_")
        place = f"{name}::{statement.name}" if tested and isinstance(statement, ast.FunctionDef) else name
        where = statement.decorator_list if isinstance(statement, ast.FunctionDef) else [statement]
        for node in (node for part in where for node in ast.walk(part)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{MARKER}":
                for argument in node.args:
                    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                        raise ValueError(f'{name}:{node.lineno}: ids of rows are written out: {MARKER}("R1-06")')
                    yield argument.value, place


def rows_of_cases() -> Iterator[tuple[str, str]]:
    """(id of a row, ``FILE::TEST[CASE]``) of the cases in plain text, which name their rows in a comment."""
    test, folder = (HERE / path for path in CASES)
    for path in sorted(folder.rglob("*.ori")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        for line in re.findall(r"^// rows: (.*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            for key in line.split():
                yield key, f"{test.relative_to(HERE.parent).as_posix()}::test_case[{name}]"


@cache
def marked() -> dict[str, tuple[str, ...]]:
    """The tests of each row that has some."""
    found: dict[str, dict[str, None]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        for key, test in tests_of(path):
            found.setdefault(key, {})[test] = None
    for key, test in rows_of_cases():
        found.setdefault(key, {})[test] = None
    return {key: tuple(tests) for key, tests in found.items()}


def main(argv: list[str]) -> int:
    """Print the rows; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("ids", metavar="ID", nargs="*", help="rows to print (default: all)")
    parser.add_argument("--state", choices=STATES, help="rows in this state only")
    args = parser.parse_args(argv)
    if wrong := unknown(args.ids):
        print(f"there is no row {', '.join(wrong)} in {FILE.name}", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    for key, row in load().items():
        if (args.ids and key not in args.ids) or (args.state and row.state != args.state):
            continue
        tests = marked().get(key, ())
        counts[row.state] += 1
        counts["with a test"] += bool(tests)
        print(f"{key}  {row.state:7}  {row.title}: {'' if tests else 'no test'}".rstrip())
        for test in tests:
            print(f"{'':16} {test}")
    print(", ".join(f"{counts[name]} {name}" for name in (*STATES, "with a test")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
