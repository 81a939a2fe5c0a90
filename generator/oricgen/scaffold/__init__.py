"""``oricgen new-target`` and ``new-opcode``: rows written into the YAML files as text, with the questions to answer.

A row that is made from another is marked with comments ``# TODO? ...`` where somebody who knows the new thing must look.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import SpecError
from ..spec import Spec
from ..textedit import Document

MARK = "# TODO?"


@dataclass
class Plan:
    """Edits of files below ``spec/``, not written yet, and what to do next."""

    root: Path
    documents: dict[str, Document] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)  # what was written, a line each
    next: list[str] = field(default_factory=list)  # commands

    def document(self, name: str) -> Document:
        """``spec/NAME``, to be edited."""
        if name not in self.documents:
            self.documents[name] = Document(self.root / "spec" / name)
            self.before[name] = self.documents[name].text()
        return self.documents[name]

    def texts(self) -> dict[str, str]:
        """The edited files: name below ``spec/`` -> text."""
        return {name: document.text() for name, document in self.documents.items()}

    def questions(self, *, new: bool = True) -> list[str]:
        """The marked lines that the edits add, or those that were there before, as ``FILE:LINE: question``."""
        return [
            f"spec/{name}:{number}: {line.partition(MARK)[2].strip()}"
            for name, document in self.documents.items()
            for number, line in enumerate(document.lines, 1)
            if MARK in line and document.is_new(number - 1) == new
        ]

    def difference(self) -> str:
        """The edits as a unified diff."""
        return "".join(
            line
            for name, text in self.texts().items()
            for line in difflib.unified_diff(
                self.before[name].splitlines(True), text.splitlines(True), f"a/spec/{name}", f"b/spec/{name}", n=1
            )
        )

    def verdict(self, spec: Spec) -> str:
        """What ``oricgen check`` says of the edited specification: a message, or "" when it passes."""
        from ..outputs import render_all
        from ..tables import check_all

        edited = spec.edited(self.texts())
        try:
            check_all(edited)
            render_all(edited)
        except SpecError as error:
            return str(error)
        return ""

    def write(self) -> None:
        """Write the files."""
        for name, text in self.texts().items():
            (self.root / "spec" / name).write_text(text, encoding="utf-8")


def report(plan: Plan, spec: Spec, dry_run: bool) -> str:
    """Carry the plan out, or show it; the text for the terminal."""
    verdict = plan.verdict(spec)
    lines = [plan.difference()] if dry_run else plan.done
    if not dry_run:
        plan.write()
    questions = plan.questions()
    if questions:
        lines += ["", f"Questions (each is a comment `{MARK}` in the file; delete it when it is answered):"]
        lines += [f"  {question}" for question in questions]
    earlier = plan.questions(new=False)
    if earlier:
        lines += ["", "Questions that stood there before, and are not answered yet:", *(f"  {question}" for question in earlier)]
    would = "`oricgen check` would say" if dry_run else "`oricgen check` says"
    lines += ["", f"{would}, so answer this first:\n  {verdict}" if verdict else "`oricgen check` passes."]
    lines += ["", "Next:", *(f"  {command}" for command in plan.next)]
    return "\n".join(lines) + "\n"
