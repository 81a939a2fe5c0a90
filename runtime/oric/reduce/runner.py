"""Judges at work, each on one module in a process of its own, several at a time."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from oric.ptx import parse
from oric.support.diagnostics import CompileError

from .judges import Judge

_ENDED: Final = "it "  # begins what is said of a process that gave no answer
_REFUSED: Final = "refused: "  # begins what a process sends when the question makes no sense


class Stopped(Exception):
    """A limit of steps or of time has been reached."""


class Question(ValueError):
    """The judge cannot answer; the text says why."""


class Limits:
    """How long to go on: ``steps``: questions, 0 for any number; ``seconds`` in all, 0 for ever; ``each``: seconds that one
    question may take, after which it counts as a failure of its own kind."""

    def __init__(self, steps: int = 0, seconds: float = 0.0, each: float = 60.0) -> None:
        self.steps = steps
        self.each = each
        self._until = time.monotonic() + seconds if seconds else 0.0

    def check(self, asked: int) -> None:
        """Raises Stopped when so many questions have been asked that it is enough, or the time is over."""
        if (self.steps and asked >= self.steps) or (self._until and time.monotonic() > self._until):
            raise Stopped


class Runner:
    """Asks a judge; ``asked`` counts the questions, without those that the parser has answered already."""

    def __init__(self, judge: Judge, jobs: int, limits: Limits) -> None:
        self._judge = judge
        self._limits = limits
        self._known: dict[str, str] = {}
        self.jobs = jobs
        self.asked = 0

    def signature(self, text: str) -> str:
        """What the judge says of a module.

        Raises:
            Question: it cannot answer.
        """
        (found,) = self._ask([text])
        if found and not found.startswith(_ENDED):  # else it would end this process as well
            self._judge.prepare(text)
        return found

    def first(self, texts: Sequence[str], wanted: str) -> int | None:
        """The number of the first module that parses and fails as ``wanted`` says; None: none does.

        Raises:
            Stopped: a limit has been reached.
            Question: the judge cannot answer.
        """
        self._limits.check(self.asked)
        asked = [number for number, text in enumerate(texts) if text not in self._known and _parses(text)]
        for number, found in zip(asked, self._ask([texts[number] for number in asked]), strict=True):
            self._known[texts[number]] = found
        return next((number for number, text in enumerate(texts) if self._known.get(text, "") == wanted), None)

    def _ask(self, texts: Sequence[str]) -> list[str]:
        context = multiprocessing.get_context("fork")
        running: dict[int, tuple[BaseProcess, Connection]] = {}
        answers: list[str] = []
        until = time.monotonic() + self._limits.each
        for number, text in enumerate(texts):
            ours, theirs = context.Pipe(duplex=False)
            process: BaseProcess = context.Process(target=_answer, args=(self._judge, text, theirs), daemon=True)
            with warnings.catch_warnings():  # libraries may have threads; what is forked here uses none of theirs
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            theirs.close()
            running[number] = (process, ours)
        try:
            answers = [self._received(*running[number], until) for number in range(len(texts))]
        finally:
            for ended, connection in running.values():
                _end(ended)
                connection.close()
        self.asked += len(texts)
        for answer in answers:
            if answer.startswith(_REFUSED):
                raise Question(answer.removeprefix(_REFUSED))
        return answers

    def _received(self, process: BaseProcess, ours: Connection, until: float) -> str:
        if not wait([ours], max(until - time.monotonic(), 0)):
            return f"it takes longer than {self._limits.each:g} s"
        try:
            return str(ours.recv())
        except EOFError:
            process.join()
            code = process.exitcode or 0
            return f"it is ended by signal {-code}" if code < 0 else f"it ends the process with status {code}"


def _parses(text: str) -> bool:
    """Whether it is still a module; it is the parser's verdict that is quick."""
    try:
        parse(text)
    except CompileError:
        return False
    return True


def _answer(judge: Judge, text: str, to: Connection) -> None:
    """Run a judge in a process that was made for it, and leave it without anything of ours being done twice."""
    os.setsid()  # what it starts ends with it
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        to.send(judge.signature(text))
    except Exception as error:
        to.send(f"{_REFUSED}{error}")
    to.close()
    os._exit(0)


def _end(process: BaseProcess) -> None:
    """End a process with all that it has started."""
    if process.pid is not None and process.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()
    process.close()
