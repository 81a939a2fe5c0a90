"""What the commands of machine code share: how they refuse their arguments and read their input."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from oric.support.elf import CubinError


class UsageError(Exception):
    """Arguments that do not go together, or that are unknown; ``str()`` says which."""


class Parser(argparse.ArgumentParser):
    """A parser that raises :class:`UsageError` in place of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Raise :class:`UsageError`."""
        raise UsageError(message)


def read_input(name: str) -> bytes:
    """The bytes of file ``name``; ``-`` is standard input.

    Raises:
        CubinError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CubinError(f"{name}: {error.strerror}") from error
