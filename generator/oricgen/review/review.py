"""A review from beginning to end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import stamp
from ..tables import lowering
from . import compare, reading, remainder, rewrites
from .effects import effects
from .page import FIRST, write
from .places import Targets
from .revisions import Version
from .side import Side, read, without_places

WORKSHOP = "build/review"


def page(old: Version, new: Version, root: Path, kernels: Sequence[Path], limit: int = 0) -> str:
    """The page of a change; "" when nothing differs that means anything.

    Raises:
        UsageError: one of the specifications is invalid.
    """
    if _is_known(old, new, root):
        return ""
    before = read(old, root)
    after = read(new, root, before)
    try:
        return page_of(before, after, root, kernels, limit)
    finally:
        before.stop()
        after.stop()


def _is_known(old: Version, new: Version, root: Path) -> bool:
    """Whether both say the same, in the words that ``build/`` was made from: the specification is valid, and nothing differs."""
    same = new.folder == root and reading.files(old.folder / "spec") == reading.files(new.folder / "spec")
    return same and stamp.current(root)


def page_of(old: Side, new: Side, root: Path, kernels: Sequence[Path], limit: int = 0, workshop: str = WORKSHOP) -> str:
    """As :func:`page`, for sides that were read; their processes stay. Tables are built in ``workshop``, a folder of ``root``."""
    changes = _changes(old, new)

    def start() -> None:
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda side: side.start(root / workshop, root / "build/obj"), (old, new)))

    found = effects(old, new, changes, root, kernels, start)
    notes = _notes(old, new)
    made = generated(old, new)
    if not changes and not notes and not found and not made:
        return ""
    return write((old.label, new.label), notes, changes, Targets.of_sides(old, new), found, made, limit)


def _changes(old: Side, new: Side) -> list[compare.TableChange]:
    """Everything that differs in what the specifications say."""
    changes = compare.tables(old.tables, new.tables, FIRST)
    made = generated(old, new)
    ordered = any(gone == come == 0 for _, gone, come in made)
    rest = remainder.unlisted(old.folder, new.folder, changes, old.tables, new.tables, ordered)
    if new.reading and lowering.NAME in old.tables:
        before, after = old.tables[lowering.NAME], new.tables[lowering.NAME]
        moved = remainder.reordered(before, after, new.reading.spec)
        changes = remainder.with_overlaps(changes, before, after, new.reading.spec)
        changes = compare.joined(changes, compare.TableChange(lowering.NAME, tuple(moved)), FIRST)
    if old.reading and new.reading:
        more = rewrites.overlaps(changes, old.reading.spec, new.reading.spec)
        changes = compare.joined(changes, compare.TableChange(rewrites.TABLE, tuple(more)), FIRST)
    if made or _moved(old, new):  # else the order of rows says nothing
        differing = {f"spec/{name}" for name, text in reading.files(new.folder / "spec").items() if _text(old, name) != text}
        moves = remainder.orders(old.tables, new.tables, differing)
        rest = compare.TableChange(rest.name, (*rest.rows, *moves))
    return [*changes, rest] if rest.rows else changes


def _moved(old: Side, new: Side) -> bool:
    """Whether a file that shows the rows as text has the same lines in another order."""
    names = {name for name in {*old.outputs, *new.outputs} if name.startswith("flat/")}
    both = [[without_places(side.outputs.get(name, "")).splitlines() for side in (old, new)] for name in sorted(names)]
    return any(one != two and sorted(one) == sorted(two) for one, two in both)


def _text(side: Side, name: str) -> bytes:
    path = side.folder / "spec" / name
    return path.read_bytes() if path.is_file() else b""


def generated(old: Side, new: Side) -> list[tuple[str, int, int]]:
    """Generated files that differ in more than places of the specification, with the lines that went and came. Those with the
    rows as text say nothing new."""
    out = []
    for name in sorted({*old.outputs, *new.outputs}):
        if name.startswith("flat/") or old.outputs.get(name) == new.outputs.get(name):
            continue
        one, two = (without_places(side.outputs.get(name, "")).splitlines() for side in (old, new))
        if one != two:
            gone, come = Counter(one), Counter(two)
            out.append((name, (gone - come).total(), (come - gone).total()))
    return out


def _notes(old: Side, new: Side) -> list[str]:
    """What a reader must know of the comparison itself."""
    notes = [f"{side.label} is read by its own generator: this one refuses it." for side in (old, new) if side.own]
    for side, other in ((new, old), (old, new)):
        only = [f"{name} ({len(rows)} rows)" for name, rows in side.tables.items() if name not in other.tables]
        if only:
            notes.append(f"Tables of {side.label} that {other.label} does not have: {', '.join(only)}.")
    return notes
