"""The stored answers of ptxas: calls that it takes, calls that it refuses, and broken calls that it takes nevertheless."""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from .enumeration import Item

FOLDER: Final = Path(__file__).resolve().parents[1] / "data" / "ocg"
LEGAL: Final = "legal"
BROKEN: Final = "broken"
STRANGE: Final = "strange"
FILES: Final = (LEGAL, BROKEN, STRANGE)


def write(name: str, answers: Iterable[tuple[Item, str]]) -> None:
    """Store answers; the same answers give the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    text = "".join(
        "\t".join((item.target, item.call, item.params, "v" if item.variables else "r", answer)) + "\n"
        for item, answer in answers
    )
    (FOLDER / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def stored(name: str) -> list[tuple[Item, str]]:
    """The answers, in their order."""
    text = lzma.decompress((FOLDER / f"{name}.txt.xz").read_bytes()).decode()
    found = []
    for line in text.splitlines():
        target, call, params, form, answer = line.split("\t")
        found.append((Item(target, call, params, form == "v"), answer))
    return found
