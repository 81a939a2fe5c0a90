"""Recorded changes with their proofs: the page of a change, and what of it is false or missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from oricgen.errors import UsageError
from oricgen.review import side
from oricgen.review.kernels import samples

from . import page_proof, review_cases
from .review_cases import ROOT, Change


def run(change: Change, proved: bool = True) -> tuple[int, str, list[str]]:
    """Exit status, page, and the false or missing statements of a recorded change, as far as those are looked for."""
    try:
        with review_cases.after(change.texts()) as new:
            page = review_cases.page_of(change, new)
            wrong = [] if not proved else prove(new, page, change.kernels) if page else nothing(new)
    except UsageError as error:
        return 2, str(error) + "\n", []
    return (1 if page else 0), page, wrong


def prove(new: side.Side, page: str, kernels: tuple[str, ...]) -> list[str]:
    """False or missing statements of a page about the change from the specification as it is to ``new``."""
    old, now = before(), version(new)
    files = samples(ROOT, kernels) if kernels else []
    return page_proof.prove(old, now, page, list(_targets(files, old, now)))


def nothing(new: side.Side) -> list[str]:
    """The same of a page that is empty."""
    return page_proof.differing_files(before().outputs, new.outputs)


@cache
def before() -> page_proof.Version:
    """The specification as it is."""
    return version(review_cases.before())


def version(found: side.Side) -> page_proof.Version:
    """A side as the proof takes it: its folders and files alone."""
    folder = side.build(found, ROOT / review_cases.WORKSHOP, ROOT / "build/obj")
    return page_proof.Version(found.folder, folder, found.outputs)


def _targets(files: list[Path], old: page_proof.Version, new: page_proof.Version) -> Iterator[tuple[Path, str]]:
    """Each target with code, of one of the versions, takes of every sample the newest file that it can."""
    rows = [r for v in (new, old) for r in v.tables["targets"] if r.values.get("code") is True]
    for target in dict.fromkeys(r.key for r in rows):
        best: dict[str, tuple[int, Path]] = {}
        for file in files:
            said = re.search(r"^\s*\.target\s+sm_(\d+)([a-z]?)", file.read_text(encoding="utf-8"), re.MULTILINE)
            number, variant = (int(said[1]), said[2]) if said else (0, "")
            fits = target == f"sm_{number}{variant}" if variant else number <= int(re.sub(r"\D", "", target))
            stem = file.name.split(".", maxsplit=1)[0]
            if fits and number >= best.get(stem, (-1, file))[0]:
                best[stem] = number, file
        yield from ((file, target) for _, file in best.values())


@contextmanager
def closing() -> Iterator[None]:
    """Ends the process of the unchanged specification."""
    try:
        yield
    finally:
        review_cases.before().stop()
