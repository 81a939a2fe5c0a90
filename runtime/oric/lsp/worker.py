"""The compiler in a process of its own: ``python -m oric.lsp.worker`` answers requests on its standard input.

A frame is its length (4 bytes, little-endian) and JSON. A request names a function of :mod:`oric.lsp.machine` and its arguments;
the answer is what it returns, or ``{"crash": text}``. A text that brings a process down, or takes it too long, costs an answer
and no more.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from contextlib import suppress
from typing import Any, BinaryIO, Final

from oric.support.diagnostics import InternalError

_LENGTH: Final = struct.Struct("<I")
_MODULE: Final = "oric.lsp.worker"


class WorkerError(Exception):
    """A process that gave no answer; the text says why."""


class Worker:
    """A process that answers one request at a time. It is started when it is needed, and again when it has ended."""

    def __init__(self, patience: float) -> None:
        """``patience``: seconds after which a request counts as lost."""
        self.patience = patience
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._ending: list[asyncio.subprocess.Process] = []

    @property
    def busy(self) -> bool:
        """A request is on its way."""
        return self._waiting > 0

    async def start(self) -> None:
        """Start the process, if there is none."""
        async with self._turn:
            await self._running()

    async def ask(self, function: str, *args: Any) -> dict[str, Any]:
        """What a function of :mod:`oric.lsp.machine` returns for these arguments.

        Raises:
            WorkerError: the process ended or was stopped, took too long, or the compiler failed.
        """
        self._waiting += 1
        try:
            async with self._turn:
                process = await self._running()
                answer = await asyncio.wait_for(_exchange(process, [function, *args]), self.patience)
        except TimeoutError:
            self.stop()
            raise WorkerError(f"the compiler gave no answer in {self.patience:g} seconds") from None
        except (OSError, EOFError) as error:
            self.stop()
            raise WorkerError("the compiler has ended") from error
        except asyncio.CancelledError:
            self.stop()  # an answer is on its way that nobody waits for
            raise
        finally:
            self._waiting -= 1
        if "crash" in answer:
            raise WorkerError(answer["crash"])
        return answer

    def stop(self) -> None:
        """End the process; who waits for its answer gets an error."""
        process, self._process = self._process, None
        if process is not None:
            self._ending = [one for one in self._ending if one.returncode is None]
            self._ending.append(process)
            with suppress(ProcessLookupError):  # it has ended by itself
                process.kill()

    async def close(self) -> None:
        """End the process and wait until it is gone."""
        self.stop()
        for process in self._ending:
            await process.wait()
        self._ending = []

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", _MODULE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        return self._process


async def _exchange(process: asyncio.subprocess.Process, request: list[Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    data = json.dumps(request).encode()
    process.stdin.write(_LENGTH.pack(len(data)) + data)
    await process.stdin.drain()
    (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
    answer: dict[str, Any] = json.loads(await process.stdout.readexactly(length))
    return answer


def main() -> None:
    """Answer requests until the input ends. What anything prints goes nowhere near the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from . import machine

    while (request := _read(sys.stdin.buffer)) is not None:
        name, *args = request
        try:
            answer = machine.FUNCTIONS[name](*args)
        except (MemoryError, RecursionError) as error:
            answer = {"crash": f"the compiler ended: {type(error).__name__}"}
        except Exception as error:
            shown = str(error) if isinstance(error, InternalError | ValueError) else f"{type(error).__name__}: {error}"
            answer = {"crash": f"Internal compiler error. {shown}"}
        data = json.dumps(answer).encode()
        answers.write(_LENGTH.pack(len(data)) + data)
        answers.flush()


def _read(stream: BinaryIO) -> list[Any] | None:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    request: list[Any] = json.loads(stream.read(length))
    return request


if __name__ == "__main__":
    main()
