"""Making a module smaller while it fails as it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from oric.ptx import parse

from . import pieces as parts
from .chunks import drop_chunks, try_all
from .pieces import Edit
from .runner import Runner, Stopped


class NoFailure(ValueError):
    """The module does not fail as it is."""


class Reduced(NamedTuple):
    """What came out: ``text`` of the module, ``signature`` of its failure; ``whole``: no limit has ended the search."""

    text: str
    signature: str
    whole: bool


def reduce_module(text: str, runner: Runner, say: Callable[[str], None] = lambda line: None, filename: str = "<ptx>") -> Reduced:
    """Leave out of a module what its failure does not need: functions, statements, comments, words, operands.

    What comes out is the same whatever the number of processes. It parses, fails in the same way, and no single line of it can go
    (but where a limit has ended the search).

    Raises:
        CompileError: it does not parse.
        NoFailure: it does not fail.
        Question: the judge cannot answer.
    """
    parse(text, filename)
    wanted = runner.signature(text)
    if not wanted:
        raise NoFailure("there is no failure to begin with: nothing is written")
    say(f"the failure: {wanted}")
    work = _Work(text, wanted, runner, say)
    try:
        work.run()
    except Stopped:
        return Reduced(work.text, wanted, False)
    return Reduced(work.text, wanted, True)


class _Work:
    """The search: ``text`` is the smallest module so far, ``pieces`` what it consists of."""

    def __init__(self, text: str, wanted: str, runner: Runner, say: Callable[[str], None]) -> None:
        self.text = text
        self._wanted = wanted
        self._runner = runner
        self._say = say
        self.pieces = parts.pieces_of(text)

    def run(self) -> None:
        """Rounds of ever smaller steps, until a round finds nothing."""
        self._start()
        changed = True
        while changed:
            changed = self._drop()
            for edits in (parts.opened, parts.details, parts.bypassed, parts.renumbered):
                changed = self._try(edits) or changed

    def _start(self) -> None:
        """Without comments if that may be, and in pieces, if it fails so too."""
        for text in (parts.without_comments(self.text), self.text):
            pieces = parts.pieces_of(text)
            made = parts.text_of(pieces)
            if self._runner.first([made], self._wanted) == 0:
                self.text, self.pieces = made, pieces
                return
        raise NoFailure("the failure depends on how the text is laid out: with a statement a line it is another one")

    def _drop(self) -> bool:
        """Leave out what stands in bodies, and in the module."""
        largest = parts.longest(self.pieces)
        changed = drop_chunks(largest, lambda size: parts.chunks(self.pieces, size), self._keep, self._runner.jobs)
        self._say(f"{len(self.pieces)} lines, {self._runner.asked} questions")
        return changed

    def _try(self, edits: Callable[[list[str]], Sequence[Edit]]) -> bool:
        return try_all(lambda: edits(self.pieces), self._keep, self._runner.jobs)

    def _keep(self, edits: Sequence[Edit]) -> int | None:
        """Do the first of the edits with which the failure stays."""
        made = [edit.on(self.pieces) for edit in edits]
        done = self._runner.first([parts.text_of(pieces) for pieces in made], self._wanted)
        if done is not None:
            self.pieces = made[done]
            self.text = parts.text_of(self.pieces)
        return done
