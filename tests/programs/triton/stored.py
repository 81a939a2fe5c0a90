"""The stored PTX of the instances: tests/data/programs/triton.tar.xz, NAME.sm_TARGET.ptx each."""

from __future__ import annotations

import json
from typing import Any

from tests.programs import archive

FILE = archive.DATA / "triton.tar.xz"


def has(name: str, target: int) -> bool:
    """Whether Triton made PTX of an instance for a target."""
    return f"{name}.sm_{target}.ptx" in archive.read(FILE)


def ptx(name: str, target: int) -> str:
    """The PTX of an instance."""
    return archive.read(FILE)[f"{name}.sm_{target}.ptx"]


def facts(name: str, target: int) -> dict[str, Any]:
    """What the first line says of the code: `kernel`, `warps`, `ctas`, `shared` and `scratch` bytes (of a CTA), `tensors`."""
    found: dict[str, Any] = json.loads(ptx(name, target).partition("\n")[0].removeprefix("//"))
    return found


def names() -> list[str]:
    """Names of all modules."""
    return list(archive.read(FILE))


def write(found: dict[str, str]) -> None:
    """Store modules; the same modules give the same bytes."""
    archive.write(FILE, found)
