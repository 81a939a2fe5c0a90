"""Edits of a YAML file as text: comments, order and formatting of everything else stay as they are."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .errors import SpecError


class Document:
    """The lines of a YAML file, and where its entries stand. Lines count from 0 here."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self._original = {id(line): line for line in self.lines}  # the strings themselves: an edit may add the same text again

    def text(self) -> str:
        """The file as it is now."""
        return "\n".join(self.lines) + "\n"

    def is_new(self, index: int) -> bool:
        """Whether a line was put there, also where the file has the same text elsewhere."""
        return id(self.lines[index]) not in self._original

    def entry(self, *keys: str) -> tuple[int, int]:
        """First and last line of the entry reached by ``keys`` from the top (its key included, comments behind it not).

        Raises:
            SpecError: there is no such entry.
        """
        node = _tree(self.text())
        first = last = 0
        for key in keys:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            found = [(k, v) for k, v in pairs if k.value == key]
            if not found:
                raise SpecError(self.path, 0, f"there is no entry '{'.'.join(keys)}'")
            name, node = found[0]
            first, last = name.start_mark.line, self._last(node)
        return first, last

    def _last(self, node: Any) -> int:
        """The last line of a node: a block ends before the comments that follow it."""
        end = node.end_mark
        last = int(end.line) - (1 if end.column == 0 or not getattr(node, "flow_style", True) else 0)
        last = max(last, int(node.start_mark.line))
        while last > node.start_mark.line and (not self.lines[last].strip() or self.lines[last].lstrip().startswith("#")):
            last -= 1
        return last

    def block(self, *keys: str) -> list[str]:
        """The lines of an entry."""
        first, last = self.entry(*keys)
        return self.lines[first : last + 1]

    def insert(self, after: int, new: list[str]) -> None:
        """Put lines behind line ``after``."""
        self.lines[after + 1 : after + 1] = new

    def replace(self, first: int, last: int, new: list[str]) -> None:
        """Put lines in place of others."""
        self.lines[first : last + 1] = new


@lru_cache(maxsize=4)
def _tree(text: str) -> Any:
    """The nodes of a file: several entries of it are looked up one after the other."""
    return yaml.compose(text, Loader=yaml.CSafeLoader)
