"""Texts stored in one file: NAME.tar.xz below tests/data/programs."""

from __future__ import annotations

import io
import tarfile
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "programs"


@cache
def read(file: Path) -> dict[str, str]:
    """The texts of an archive by name."""
    with tarfile.open(file, "r|xz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}  # type: ignore[union-attr]


def write(file: Path, found: dict[str, str]) -> None:
    """Store texts; the same texts give the same bytes."""
    file.parent.mkdir(exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for name, text in sorted(found.items()):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    read.cache_clear()
    print(f"{len(found)} modules, {sum(map(len, found.values()))} characters, {file.stat().st_size} bytes stored")
