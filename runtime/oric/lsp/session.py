"""The open documents and what the compiler says of them: its messages as one types, machine code when somebody asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlparse

from oric_tables.targets import KNOWN

from .document import Document
from .outline import Statement
from .places import UTF16, edited
from .worker import Worker, WorkerError

_PATIENCE: Final = 120.0  # seconds for a compilation; a megabyte of PTX needs a few
_LEAST_DELAY: Final = 0.15  # seconds between a keystroke and the check that it causes ...
_PAUSE: Final = 2.0  # ... and at least so many times as long as the last check took
_LEVELS: Final = range(4)

Message = dict[str, Any]
Change = tuple[tuple[int, int] | None, tuple[int, int] | None, str]  # start and end, None for the whole text; the new text


class Session:
    """Documents by URI. ``publish`` is called with a document and the messages about it whenever these are new."""

    def __init__(self, publish: Callable[[Document, list[Message]], None]) -> None:
        self.publish = publish
        self.documents: dict[str, Document] = {}
        self.encoding = UTF16
        self.arch = ""
        self.level = 3
        self.checker = Worker(_PATIENCE)
        self.compiler = Worker(_PATIENCE)
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._seconds = 0.0  # that the last check took

    # -- texts -----------------------------------------------------------------------------------------------

    def put(self, uri: str, text: str, version: int) -> Document:
        """A text as it is from now on."""
        self._forget_code(uri)
        document = self.documents[uri] = Document(uri, text, version, self.encoding, self.arch)
        self._check_soon(uri)
        return document

    def change(self, uri: str, changes: list[Change], version: int) -> None:
        """Apply edits, each to what the one before left."""
        old = self.documents.get(uri)
        if old is None:
            return
        places = old.places
        for start, end, new in changes:
            text = new if start is None or end is None else edited(places, start, end, new)
            places = type(places)(text, self.encoding)
        self.put(uri, places.text, version)

    def close(self, uri: str) -> None:
        """The text is open no more; there are no messages about it."""
        self._forget_code(uri)
        document = self.documents.pop(uri, None)
        task = self._checks.pop(uri, None)
        if task is not None:
            task.cancel()
        if document is not None:
            self.publish(document, [])

    def configure(self, settings: object) -> list[str]:
        """Take settings ``arch`` and ``level``; returns what is wrong with them. What is wrong or not given stays as it was."""
        wrong = []
        if not isinstance(settings, dict):
            return []
        arch, level = settings.get("arch", self.arch), settings.get("level", self.level)
        if arch is None or arch == "" or arch in KNOWN:
            self.arch = arch or ""
        else:
            wrong.append(f"oric.arch: unknown target '{arch}'")
        if isinstance(level, int) and not isinstance(level, bool) and level in _LEVELS:
            self.level = level
        else:
            wrong.append(f"oric.level: '{level}' is no level, 0 to 3")
        for document in list(self.documents.values()):
            self.put(document.uri, document.text, document.version)
        return wrong

    def stop(self) -> None:
        """End all that is going on."""
        for task in self._checks.values():
            task.cancel()
        for uri in self.documents:
            self._forget_code(uri)
        self.checker.stop()
        self.compiler.stop()

    # -- messages --------------------------------------------------------------------------------------------

    def _check_soon(self, uri: str) -> None:
        task = self._checks.get(uri)
        if task is None or task.done():
            self._checks[uri] = asyncio.ensure_future(self._check(uri))

    async def _check(self, uri: str) -> None:
        """Check a document until the version that was checked is the one that there is."""
        checked: Document | None = None
        while (document := self.documents.get(uri)) is not None and document is not checked:
            await asyncio.sleep(max(_LEAST_DELAY, _PAUSE * self._seconds))
            document = self.documents.get(uri)
            if document is None:
                return
            checked = document
            begun = time.monotonic()
            try:
                answer = await self.checker.ask("check", document.text, name_of(uri), document.module.target)
                messages = answer["messages"]
            except WorkerError as error:
                messages = [{"severity": "error", "message": str(error), "offset": -1, "notes": []}]
            self._seconds = time.monotonic() - begun
            if self.documents.get(uri) is document:
                document.messages = messages
                self.publish(document, messages)
                await self.compiler.start()  # so that the first hover does not wait for it

    # -- machine code ----------------------------------------------------------------------------------------

    def code(self, document: Document, statement: Statement) -> asyncio.Task[Message]:
        """The machine code of the function that an instruction is in; found once for each version of the text.

        The task gives what :func:`oric.lsp.machine.code` returns.
        """
        entries = document.entries_of(statement.scope)
        key = " ".join(entries)
        task: asyncio.Task[Message] | None = document.code.get(key)
        if task is None:
            task = document.code[key] = asyncio.ensure_future(self._compile(document, entries))
        return task

    async def _compile(self, document: Document, entries: tuple[str, ...]) -> Message:
        try:
            answer = await self.compiler.ask(
                *("code", document.text, name_of(document.uri), document.module.target, self.level, list(entries))
            )
        except WorkerError as error:
            return {"lines": {}, "failure": str(error), "messages": []}
        if self.documents.get(document.uri) is document and document.messages is not None:
            more = [message for message in answer["messages"] if message not in document.messages]
            if more:
                document.messages = document.messages + more
                self.publish(document, document.messages)
        return answer

    def _forget_code(self, uri: str) -> None:
        """Stop compiling what is out of date."""
        document = self.documents.get(uri)
        for task in document.code.values() if document is not None else ():
            task.cancel()

    async def format(self, document: Document) -> tuple[int, int, str] | None:
        """What has to be replaced to lay a document out: begin, end, new text; None for nothing, or where it has mistakes."""
        try:
            new = (await self.checker.ask("formatted", document.text, name_of(document.uri)))["text"]
        except WorkerError:
            return None
        if new is None or new == document.text:
            return None
        return difference(document.text, new)


def difference(old: str, new: str) -> tuple[int, int, str]:
    """The part in which two texts differ: where it begins and ends in the old one, and what stands there in the new one."""
    most = min(len(old), len(new))
    begin = next((i for i in range(most) if old[i] != new[i]), most)
    most -= begin
    tail = next((i for i in range(most) if old[len(old) - 1 - i] != new[len(new) - 1 - i]), most)
    if tail and old[len(old) - tail] == "\n" and old[len(old) - tail - 1 : len(old) - tail] == "\r":
        tail -= 1  # an edit does not begin or end inside of a line's end
    return begin, len(old) - tail, new[begin : len(new) - tail]


def name_of(uri: str) -> str:
    """The name of a document in messages."""
    return PurePosixPath(unquote(urlparse(uri).path)).name or uri or "<ptx>"
