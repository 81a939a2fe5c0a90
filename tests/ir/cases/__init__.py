"""Cases in plain text: Ori, phases, and what comes out. Files in the folders here; docs/ori.md says how one looks.

``python -m tests.ir.cases --bless [PATTERN]`` writes what comes out now into the cases whose path has PATTERN in it.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import NamedTuple

from oric.cli.opt import FAILURES, opt
from oric.ir.function import Function
from oric.ir.interpret import Thread
from oric.ir.interpret import difference as parting
from oric.ir.text import write
from oric.sass.arguments import UsageError

FOLDER = Path(__file__).resolve().parent
_KEYS = {"phases": "", "target": "sm_90", "level": "3", "runs": "no", "rows": ""}
_SEPARATOR = "--- expected\n"


class Mistake(Exception):
    """A case that is not as a case should be."""


class Case(NamedTuple):
    """``keys``: what the comments in front say; ``text``: everything above the separator."""

    path: Path
    keys: dict[str, str]
    text: str
    expected: str

    @property
    def name(self) -> str:
        return self.path.relative_to(FOLDER).with_suffix("").as_posix()

    @property
    def phases(self) -> list[str]:
        return self.keys["phases"].split()

    @property
    def rows(self) -> list[str]:
        """The rows of tests/rows.yaml that the case checks."""
        return self.keys["rows"].split()

    def result(self) -> str:
        """What comes out: the function, or what is said in place of one."""
        try:
            f = opt(self.text, self.phases, self.path.name, target=self.target, level=int(self.keys["level"]))
        except (UsageError, *FAILURES) as error:
            return f"error: {error}\n"
        return write(f)

    @property
    def target(self) -> str:
        return self.keys["target"]

    def input(self) -> Function:
        """The function before the phases."""
        return opt(self.text, [], self.path.name, target=self.target)

    def is_kept(self) -> bool:
        """Whether threads do the same before and after, and something."""
        before = [Thread(self.input(), seed) for seed in range(8)]
        changed = opt(self.text, self.phases, target=self.target, level=int(self.keys["level"]))
        after = [Thread(changed, seed) for seed in range(8)]
        for thread in (*before, *after):
            thread.run()
        return any(len(t.events) > 1 for t in before) and not any(map(parting, before, after))


def load(path: Path) -> Case:
    """A case.

    Raises:
        Mistake: it has no comment that says what it shows, or a key that no case has.
    """
    whole = path.read_text(encoding="utf-8")
    text, _, expected = whole.partition(_SEPARATOR)
    head = re.match(r"(?://[^\n]*\n)*", text)
    assert head is not None
    keys = dict(_KEYS)
    said = 0
    for line in head[0].splitlines():
        match = re.match(r"// ([a-z]+): (.*)", line)
        if match and match[1] in keys:
            keys[match[1]] = match[2].strip()
        elif match and not said:
            raise Mistake(f"{path.name}: '{match[1]}' is none of {', '.join(keys)}")
        else:
            said += bool(line.strip("/ "))
    if not said:
        raise Mistake(f"{path.name}: a comment in front says what the case shows")
    return Case(path, keys, text, expected)


def all_cases(pattern: str = "") -> list[Case]:
    """The cases whose path below the folder has the pattern in it, by name."""
    found = sorted(path for path in FOLDER.rglob("*.ori") if pattern in path.relative_to(FOLDER).as_posix())
    return [load(path) for path in found]


def difference(case: Case, result: str) -> str:
    """What a failed case is told by: its file, a diff, the command that takes the new text over; "" when it holds."""
    if result == case.expected:
        return ""
    lines = difflib.unified_diff(case.expected.splitlines(), result.splitlines(), "expected", "found", lineterm="")
    return "\n".join([str(case.path), *lines, f"to take it over: python -m tests.ir.cases --bless {case.name}"])


def bless(case: Case) -> bool:
    """Write what comes out now into the case; returns whether it changed."""
    result = case.result()
    if result == case.expected:
        return False
    case.path.write_text(case.text + _SEPARATOR + result, encoding="utf-8")
    return True
