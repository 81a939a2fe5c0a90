"""The page of a file that is compiled again when it changes, for a browser on this machine.

Nothing but the page, its data and a version is served, to 127.0.0.1 alone and only under its own name: another site that a
browser shows cannot read it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from .model import Exploration
from .pack import pack, page

ADDRESS: Final = "127.0.0.1"


class RequestError(Exception):
    """Options that make no sense; the text is the message."""


@dataclass(frozen=True)
class Field:
    """A control of the page: the option that it is (or a name of its own), what stands in front of it, and what it begins with.

    ``choices``: the only values, () for any.
    """

    name: str
    title: str
    value: str
    choices: tuple[str, ...] = ()
    hint: str = ""


class Explorer:
    """What is served. ``make`` compiles by the values of the controls; ``files``: what is compiled again when it changes.

    ``make`` raises :class:`RequestError` for values that make no sense.
    """

    def __init__(self, fields: Sequence[Field], make: Callable[[Mapping[str, str]], Exploration], files: Sequence[str]) -> None:
        self.fields = tuple(fields)
        self._make = make
        self._files = tuple(files)
        self._lock = threading.Lock()
        self._last: tuple[str, dict[str, str], str] | None = None  # version, values, packed document

    def version(self) -> str:
        """A text that is another one when a file has changed."""
        return ",".join(map(_stamp, self._files))

    def data(self, values: Mapping[str, str]) -> tuple[str, str]:
        """The version and the packed document for values of the controls; names that there are none of are ignored.

        Raises:
            RequestError: as ``make``.
        """
        chosen = {field.name: values.get(field.name, field.value) for field in self.fields}
        with self._lock:
            version = self.version()
            if self._last is None or self._last[:2] != (version, chosen):
                self._last = (version, chosen, pack(self._make(chosen).document))
            return version, self._last[2]

    def page(self) -> str:
        """The page with what the controls begin with."""
        version, packed = self.data({})
        controls = {"version": version, "fields": [_described(field) for field in self.fields]}
        return page(packed, json.dumps(controls))


def serve(explorer: Explorer, port: int) -> ThreadingHTTPServer:
    """A server, which :meth:`serve_forever` runs; ``port`` 0: any that is free.

    Raises:
        OSError: the port is taken, or not for us.
    """
    return ThreadingHTTPServer((ADDRESS, port), type("Handler", (_Handler,), {"explorer": explorer}))


class _Handler(BaseHTTPRequestHandler):
    explorer: Explorer
    server_version = "oric"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer."""
        if self.headers.get("Host", "") not in self._names():
            self._answer(HTTPStatus.FORBIDDEN, "this server has another name")
            return
        where = urlsplit(self.path)
        try:
            if where.path == "/":
                self._answer(HTTPStatus.OK, self.explorer.page(), "text/html")
            elif where.path == "/version":
                self._answer(HTTPStatus.OK, self.explorer.version())
            elif where.path == "/data":
                version, packed = self.explorer.data(dict(parse_qsl(where.query, keep_blank_values=True)))
                self._answer(HTTPStatus.OK, packed, version=version)
            else:
                self._answer(HTTPStatus.NOT_FOUND, "there is no such page")
        except RequestError as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error))

    def _names(self) -> set[str]:
        port = self.connection.getsockname()[1]
        return {f"{name}:{port}" for name in (ADDRESS, "localhost")}

    def _answer(self, status: HTTPStatus, text: str, kind: str = "text/plain", version: str = "") -> None:
        data = text.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            if version:
                self.send_header("X-Version", version)
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True  # the browser has gone on to something else

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: whoever looks at the page sees what came of a request."""


def _stamp(name: str) -> str:
    try:
        found = os.stat(name)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}"


def _described(field: Field) -> dict[str, Any]:
    made: dict[str, Any] = {"name": field.name, "title": field.title, "value": field.value, "hint": field.hint}
    return made | ({"choices": list(field.choices)} if field.choices else {})
