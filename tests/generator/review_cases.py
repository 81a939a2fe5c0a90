"""Recorded changes of the specification and the pages that ``oricgen diff`` writes for them (see ``changes/README.md``).

python -m tests.generator.review_cases [NAME...]    writes the golden pages
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from oricgen.errors import UsageError
from oricgen.review import review, side
from oricgen.review.kernels import samples
from oricgen.review.revisions import Version

ROOT = Path(__file__).resolve().parents[2]
CHANGES = Path(__file__).with_name("changes")
LABELS = ("before", "after")
WORKSHOP = "build/review-cases"  # apart from that of `oricgen diff`: what is compiled here is not optimised


@dataclass(frozen=True)
class Change:
    """One recorded change."""

    name: str
    title: str
    edits: tuple[dict[str, str], ...]
    kernels: tuple[str, ...]
    status: int

    @property
    def golden(self) -> Path:
        """Its page."""
        return CHANGES / f"{self.name}.md"

    def texts(self) -> dict[str, str]:
        """File below ``spec/`` -> edited text. A text that an edit looks for must be there once."""
        out: dict[str, str] = {}
        for edit in self.edits:
            name = edit["file"]
            text = out.get(name) or (ROOT / "spec" / name).read_text(encoding="utf-8")
            if "append" in edit:
                out[name] = text + edit["append"]
                continue
            found = text.count(edit["find"])
            assert found == 1, f"{self.name}: {edit['find']!r} occurs {found} times in {name}"
            out[name] = text.replace(edit["find"], edit["replace"])
        return out


def changes() -> list[Change]:
    """All recorded changes, by name."""
    return [_read(path) for path in sorted(CHANGES.glob("*.yaml"))]


def _read(path: Path) -> Change:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    kernels = tuple(data.pop("kernels", ()))
    return Change(path.stem, data["title"], tuple(data["edits"]), kernels, data.get("status", 1))


@cache
def before() -> side.Side:
    """The specification as it is; its process stays for all changes."""
    return side.read(Version(LABELS[0], ROOT), ROOT)


@contextmanager
def after(texts: Mapping[str, str]) -> Iterator[side.Side]:
    """The specification with other texts for some files (path below ``spec/`` -> text).

    Raises:
        UsageError: it is invalid.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copytree(ROOT / "spec", folder / "spec")
        for name, text in texts.items():
            (folder / "spec" / name).write_text(text, encoding="utf-8")
        found = side.read(Version(LABELS[1], folder), ROOT, before())
        try:
            yield found
        finally:
            found.stop()


def page_of(change: Change, new: side.Side) -> str:
    """The page of a change as it is written."""
    kernels = samples(ROOT, change.kernels) if change.kernels else []
    return review.page_of(before(), new, ROOT, kernels, 40, WORKSHOP)


def result(change: Change) -> tuple[int, str]:
    """Exit status and page (or message) of a change, with what changes for other reasons blanked."""
    try:
        with after(change.texts()) as new:
            page = page_of(change, new)
    except UsageError as error:
        return 2, blanked(str(error) + "\n")
    return (1 if page else 0), blanked(page)


def blanked(page: str) -> str:
    """The page without line numbers of the specification and without the number of all known words."""
    page = re.sub(r"(spec/[\w/]+\.yaml):\d+", r"\1", page)
    return re.sub(r"Of \d+ known machine words", "Of all known machine words", page)


def main() -> int:
    """Write the golden pages: all, or those of the changes that are named."""
    for change in changes():
        if sys.argv[1:] and change.name not in sys.argv[1:]:
            continue
        status, page = result(change)
        if status != change.status:
            print(f"{change.name}: exit status {status}, not {change.status}\n{page}", file=sys.stderr)
            return 1
        if page:
            change.golden.write_text(page, encoding="utf-8")
        print(f"{change.name}: {len(page.splitlines())} lines")
    before().stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
