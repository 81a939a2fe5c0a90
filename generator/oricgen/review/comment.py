"""A page as a comment of a change request: short, with the details folded."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 60  # lines
_FENCE = "```"
_FRAME = 5  # lines around the content of a section: two that open it, two blank ones, one that closes it


def comment(page: str, most: int = MOST) -> str:
    """The page in at most so many lines: what stands before the first section, and each section folded, as much of it as there is
    room for; sections without room are named in the last line."""
    head, *sections = _sections(page.splitlines())
    room = most - len(head) - 1
    kept = sections[: max(0, room // (_FRAME + 2))]
    names = [section[0].removeprefix("## ") for section in sections[len(kept) :]]
    parts = [head]
    sizes = _shares([max(0, len(section) - 2) for section in kept], room - _FRAME * len(kept))
    for section, size in zip(kept, sizes, strict=True):
        title, body = section[0].removeprefix("## "), section[2:]
        parts.append([f"<details><summary>{title}</summary>", "", *_cut(body, size), "", "</details>", ""])
    if names:
        parts.append([f"More: {', '.join(names)}."])
    return "\n".join(line for part in parts for line in part).rstrip("\n") + "\n"


def _sections(lines: Sequence[str]) -> list[list[str]]:
    """The lines by sections, the ones before the first section first; blank lines at the end of each are left out."""
    out: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("## "):
            out.append([])
        out[-1].append(line)
    return [out[0], *(_stripped(section) for section in out[1:])]


def _stripped(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """How many lines each section gets: small ones all that they want, the rest alike."""
    out = [0] * len(wanted)
    open_ = sorted(range(len(wanted)), key=lambda n: wanted[n])
    while open_:
        n = open_.pop(0)
        out[n] = min(wanted[n], room // (len(open_) + 1))
        room -= out[n]
    return out


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and a last one that says how many there are more; a block of code that is cut ends."""
    if len(lines) <= most:
        return list(lines)
    shown = list(lines[: max(0, most - 1)])
    if sum(line.strip().startswith(_FENCE) for line in shown) % 2:
        shown = shown[:-1]
        shown += [_FENCE] if shown and not shown[-1].strip().startswith(_FENCE) else []
        if sum(line.strip().startswith(_FENCE) for line in shown) % 2:
            shown = shown[:-1]
    return [*shown, f"... {len(lines) - len(shown)} more lines"][:most]
