"""A review from beginning to end."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..tables import lowering
from . import compare, remainder
from .effects import effects
from .page import FIRST, write
from .places import Targets
from .revisions import Version
from .side import Side, read

WORKSHOP = "build/review"


def page(old: Version, new: Version, root: Path, kernels: Sequence[Path], limit: int = 0) -> str:
    """The page of a change; "" when nothing differs that means anything.

    Raises:
        UsageError: one of the specifications is invalid.
    """
    before = read(old, root)
    after = read(new, root, before)
    try:
        return page_of(before, after, root, kernels, limit)
    finally:
        before.stop()
        after.stop()


def page_of(old: Side, new: Side, root: Path, kernels: Sequence[Path], limit: int = 0, workshop: str = WORKSHOP) -> str:
    """As :func:`page`, for sides that were read; their processes stay. Tables are built in ``workshop``, a folder of ``root``."""
    changes = _changes(old, new)

    def start() -> None:
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda side: side.start(root / workshop, root / "build/obj"), (old, new)))

    found = effects(old, new, changes, root, kernels, start)
    notes = _notes(old, new)
    if not changes and not notes and not found:
        return ""
    return write((old.label, new.label), notes, changes, Targets.of_sides(old, new), found, limit)


def _changes(old: Side, new: Side) -> list[compare.TableChange]:
    """Everything that differs in what the specifications say."""
    changes = compare.tables(old.tables, new.tables, FIRST)
    if new.reading and lowering.NAME in old.tables:
        moved = remainder.reordered(old.tables[lowering.NAME], new.tables[lowering.NAME], new.reading.spec)
        changes = compare.joined(changes, compare.TableChange(lowering.NAME, tuple(moved)), FIRST)
    rest = remainder.unlisted(old.folder, new.folder, changes)
    return [*changes, rest] if rest.rows else changes


def _notes(old: Side, new: Side) -> list[str]:
    """What a reader must know of the comparison itself."""
    notes = [f"{side.label} is read by its own generator: this one refuses it." for side in (old, new) if side.own]
    for side, other in ((new, old), (old, new)):
        only = [f"{name} ({len(rows)} rows)" for name, rows in side.tables.items() if name not in other.tables]
        if only:
            notes.append(f"Tables of {side.label} that {other.label} does not have: {', '.join(only)}.")
    return notes
