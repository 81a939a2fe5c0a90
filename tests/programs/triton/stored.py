"""The stored PTX of the instances: tests/data/programs/triton.tar.xz, NAME.sm_TARGET.ptx each."""

from __future__ import annotations

import io
import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "data" / "programs" / "triton.tar.xz"


@cache
def _all() -> dict[str, str]:
    with tarfile.open(FILE, "r|xz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}  # type: ignore[union-attr]


def has(name: str, target: int) -> bool:
    """Whether Triton made PTX of an instance for a target."""
    return f"{name}.sm_{target}.ptx" in _all()


def ptx(name: str, target: int) -> str:
    """The PTX of an instance."""
    return _all()[f"{name}.sm_{target}.ptx"]


def facts(name: str, target: int) -> dict[str, Any]:
    """What the first line says of the code: `kernel`, `warps`, `ctas`, `shared` and `scratch` bytes (of a CTA), `tensors`."""
    found: dict[str, Any] = json.loads(ptx(name, target).partition("\n")[0].removeprefix("//"))
    return found


def names() -> list[str]:
    """Names of all modules."""
    return list(_all())


def write(found: dict[str, str]) -> None:
    """Store modules; the same modules give the same bytes."""
    FILE.parent.mkdir(exist_ok=True)
    with tarfile.open(FILE, "w:xz", preset=9) as archive:
        for name, text in sorted(found.items()):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
