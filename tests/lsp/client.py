"""A client of the language server: JSON-RPC over the standard streams of a process, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Refused(Exception):
    """The server answered a request with an error."""


class Client:
    """A server of its own, from ``initialize`` to ``exit``. ``diagnostics``: those published last, by URI, with the version."""

    def __init__(self, options: Any = None, capabilities: Any = None, settings: Any = None) -> None:
        self.settings = settings
        self.diagnostics: dict[str, tuple[int | None, list[Any]]] = {}
        self.shown: list[str] = []
        self._number = 0
        self._answers: dict[Any, Any] = {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "oric.cli", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("runtime", "build"))},
        )
        params = {"processId": None, "rootUri": None, "capabilities": capabilities or {}, "initializationOptions": options}
        self.capabilities = self.request("initialize", params)["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def leave(self) -> int:
        """``shutdown`` and ``exit``; the exit status of the process."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait()

    # -- messages --------------------------------------------------------------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError("the server has ended")
        message: dict[str, Any] = json.loads(stream.read(length))
        return message

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method} | ({} if params is None else {"params": params}))

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; returns its number."""
        self._number += 1
        self.send({"id": self._number, "method": method} | ({} if params is None else {"params": params}))
        return self._number

    def answer(self, number: int) -> Any:
        """The answer to a request; what comes in between is taken in."""
        self.wait_for(lambda: number in self._answers)
        message = self._answers.pop(number)
        if "error" in message:
            raise Refused(message["error"]["message"])
        return message.get("result")

    def request(self, method: str, params: Any = None) -> Any:
        return self.answer(self.ask(method, params))

    def _take(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._answers[message["id"]] = message
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params.get("version"), params["diagnostics"]
        elif method == "window/showMessage":
            self.shown.append(params["message"])
        elif method == "workspace/configuration":
            self.send({"id": message["id"], "result": [self.settings for _ in params["items"]]})

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Take in messages until something holds."""
        while not condition():
            self._take(self.receive())

    # -- documents -------------------------------------------------------------------------------------------

    def open(self, text: str, uri: str = "file:///a.ptx", version: int = 1) -> str:
        item = {"uri": uri, "languageId": "ptx", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)}
        self.notify("textDocument/didChange", params)

    def messages(self, uri: str, version: int) -> list[Any]:
        """The diagnostics of a version, once they are there."""
        self.wait_for(lambda: self.diagnostics.get(uri, (None, []))[0] == version)
        return self.diagnostics[uri][1]

    def at(self, method: str, uri: str, line: int, column: int, **more: Any) -> Any:
        """The answer to a request about a place."""
        params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}, **more}
        return self.request(f"textDocument/{method}", params)


def place(text: str, mark: str, behind: int = 0) -> tuple[int, int]:
    """Line and column (in UTF-16) of the first ``mark`` in a text, so many characters on."""
    at = text.index(mark) + behind
    line = text.count("\n", 0, at)
    start = text.rfind("\n", 0, at) + 1
    return line, len(text[start:at].encode("utf-16-le")) // 2


def part(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    """An edit."""
    return {"range": {"start": _position(start), "end": _position(end)}, "text": text}


def _position(at: tuple[int, int]) -> dict[str, int]:
    return {"line": at[0], "character": at[1]}
