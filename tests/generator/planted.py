"""Planted mistakes: an edit of the specification, tried in memory, and the error that it must give.

Each file of ``tests/generator/mistakes`` is a list of

``name``     what is wrong, in a few words
``file``     the file below ``spec/`` that is edited (``create`` in place of ``find``: a new file with that text)
``find``     a text that occurs once in it (one line; a block of several lines is fine)
``after``    a text that occurs once, where several places have ``find``: the first behind it is meant, ``at`` too
``replace``  what stands there afterwards
``at``       a text of the line that the error must name; nothing for an error about the file as a whole
``message``  a text of the message
``in``       the file that the error must name, when it is not ``file``
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from oricgen.errors import SpecError
from oricgen.outputs import all_outputs
from oricgen.spec import Spec
from oricgen.tables import all_tables

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "mistakes"
LONGEST = "render oricgen.outputs.encoding"  # as long as all others: it is tried last


@dataclass(frozen=True)
class Mistake:
    """One entry."""

    name: str
    file: str
    find: str
    replace: str
    at: str
    message: str
    place: str
    after: str

    def text(self) -> str:
        """The edited file."""
        if not self.find:
            assert not (ROOT / "spec" / self.file).exists()
            return self.replace
        text = (ROOT / "spec" / self.file).read_text(encoding="utf-8")
        start = self._start(text)
        assert self.find in text[start:], f"{self.find!r} is not in {self.file}"
        assert self.after or text.count(self.find) == 1, f"{self.find!r} occurs {text.count(self.find)} times in {self.file}"
        return text[:start] + text[start:].replace(self.find, self.replace, 1)

    def _start(self, text: str) -> int:
        """Where ``after`` stands."""
        if self.after:
            assert text.count(self.after) == 1, f"{self.after!r} occurs {text.count(self.after)} times in {self.file}"
        return text.index(self.after) if self.after else 0

    def lines(self) -> list[int]:
        """The lines that the error may name; [0] when it is about the file as a whole."""
        text = self.text() if self.place == self.file else (ROOT / "spec" / self.place).read_text(encoding="utf-8")
        first = text[: self._start(text)].count("\n") + 1 if self.place == self.file and self.after in text else 1
        found = [number for number, line in enumerate(text.split("\n"), 1) if self.at in line and number >= first]
        assert found, f"no line of {self.place} has {self.at!r} after the edit"
        return found if self.at else [0]


def read(path: Path) -> list[Mistake]:
    """The entries of one file."""
    out = []
    for row in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        new = row.pop("create", None)
        find, replace = ("", new) if new is not None else (row.pop("find"), row.pop("replace"))
        place, after = row.pop("in", row["file"]), row.pop("after", "")
        out.append(Mistake(row.pop("name"), row.pop("file"), find, replace, row.pop("at"), row.pop("message"), place, after))
        assert not row, f"{path.name}: {out[-1].name}: unknown keys {list(row)}"
    return out


def steps() -> list[tuple[str, Callable[[Spec], object]]]:
    """What ``oricgen check`` does, in its order."""
    checks: list[tuple[str, Callable[[Spec], object]]] = [(f"check {t.NAME}", t.check) for t in all_tables()]
    return checks + [(f"render {m.__name__}", m.render) for m in all_outputs()]


@cache
def sound() -> tuple[Spec, dict[str, set[str]]]:
    """The specification as it is, and which files each step reads."""
    spec = specification.spec()
    reads = {}
    for name, step in steps():
        with spec.reading() as reads[name]:
            step(spec)
    return spec, reads


def errors(texts: dict[str, str]) -> SpecError | None:
    """What ``oricgen check`` says of the specification with these texts in place of its files: the first error.

    Only the steps that read one of the files are run again, those of the table that owns it first.
    """
    spec, reads = sound()
    edited = spec.edited(texts)
    folders = {f"{Path(name).parent}/" for name in texts if not (ROOT / "spec" / name).exists()}
    todo: list[tuple[str, Callable[[Spec], Any]]] = [s for s in steps() if reads[s[0]] & {*texts, *folders}]
    own = {f"check {t.NAME}" for t in all_tables() if any(n.startswith(f) for n in texts for f in t.FILES)}
    todo.sort(key=lambda step: (step[0] not in own, step[0] == LONGEST))
    assert todo, f"nothing reads {sorted(texts)}"
    try:
        for _, step in todo:
            step(edited)
    except SpecError as error:
        return error
    return None
