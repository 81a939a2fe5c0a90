"""Where the generator raises errors: read from its source, and from the traceback of an error that was raised."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import TracebackType

SOURCES = Path(__file__).resolve().parents[2] / "generator" / "oricgen"

Site = tuple[str, int]  # file below SOURCES, line of the `raise`


def all_sites() -> dict[Site, str]:
    """Every ``raise`` of the generator that is about the specification -> its source text."""
    out: dict[Site, str] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in _raises(path):
            if node.exc is not None:
                out[path.relative_to(SOURCES).as_posix(), node.lineno] = ast.unparse(node.exc)
    return out


@cache
def _raises(path: Path) -> list[ast.Raise]:
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Raise)]


def sites_of(error: BaseException) -> set[Site]:
    """The ``raise`` of the error and those of its causes."""
    out: set[Site] = set()
    one: BaseException | None = error
    while one is not None:
        place = _last(one.__traceback__)
        if place is not None:
            out.add(place)
        one = one.__cause__
    return out


def _last(traceback: TracebackType | None) -> Site | None:
    """The innermost frame, when it is a ``raise`` of the generator."""
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    path = Path(traceback.tb_frame.f_code.co_filename).resolve()
    if not path.is_relative_to(SOURCES):
        return None
    for node in _raises(path):
        if node.lineno <= traceback.tb_lineno <= (node.end_lineno or node.lineno):
            return path.relative_to(SOURCES).as_posix(), node.lineno
    return None
