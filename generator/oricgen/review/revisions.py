"""The two sides of a review: revisions of git and the working tree, each as a folder with ``spec/``."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UsageError

PARTS = ("spec", "generator", "runtime")
TREE = "working tree"


@dataclass(frozen=True)
class Version:
    """One side: what the page calls it, and the folder that has its ``spec/``, ``generator/`` and ``runtime/``."""

    label: str
    folder: Path


@contextmanager
def versions(root: Path, names: list[str]) -> Iterator[tuple[Version, Version]]:
    """The old and the new side: no name is HEAD against the working tree, one is that against the working tree.

    Raises:
        UsageError: no git, no repository, an unknown revision, a revision without ``spec/``.
    """
    with TemporaryDirectory(prefix="oricgen-diff-") as scratch:
        found = [_extract(root, name, Path(scratch) / str(number)) for number, name in enumerate(names or ["HEAD"])]
        yield found[0], (found[1] if len(found) > 1 else Version(TREE, root))


def _extract(root: Path, name: str, folder: Path) -> Version:
    commit = (
        _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", missing=name).decode().strip()
    )
    tree = _git(root, "ls-tree", "--name-only", commit).decode().split()
    if PARTS[0] not in tree:
        raise UsageError(f"revision '{name}' has no folder '{PARTS[0]}'")
    data = _git(root, "archive", "--format=tar", commit, *[part for part in PARTS if part in tree])
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")
    short = _git(root, "rev-parse", "--short", commit).decode().strip()
    return Version(name if short.startswith(name) or name.startswith(short) else f"{name} ({short})", folder)


def _git(root: Path, *arguments: str, missing: str = "") -> bytes:
    """What git prints."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UsageError("'git' is not installed: revisions cannot be compared without it") from error
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
    if missing and not said:
        raise UsageError(f"there is no revision '{missing}'")
    if "not a git repository" in said:
        raise UsageError(f"{root} is in no git repository: there is no revision to compare with")
    raise UsageError(f"git {arguments[0]}: {said}")
