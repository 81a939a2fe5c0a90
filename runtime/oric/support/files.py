"""Output files that are either whole or untouched."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

_NEW_FILE_MODE = 0o666  # less the umask
_ATTEMPTS = 1000


class OutputError(Exception):
    """An output file cannot be written; ``str()`` is one line that names it and the cause."""


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Make ``path`` hold ``data``: written to a temporary file beside it, then renamed.

    Whatever stops it (an error, an interrupt) leaves the old file as it was and no temporary file. A symbolic link stays and
    its target is replaced; a device or pipe is written to directly. The mode of an old file is kept.

    Raises:
        OutputError: ``path`` is a directory, its folder is missing, or the system refuses.
    """
    shown = os.fspath(path)
    target = os.path.realpath(shown)
    try:
        mode = _mode_of_old(target, shown)
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "wb") as file:
                file.write(data)
            return
        _replace(target, data, mode)
    except OSError as error:
        raise OutputError(f"Output file '{shown}' could not be written: {error.strerror}") from error


def _mode_of_old(target: str, shown: str) -> int | None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise OutputError(f"Output file '{shown}' is a directory")
    if not os.access(target, os.W_OK):
        raise OutputError(f"Output file '{shown}' could not be written: it is read-only")
    return mode


def _replace(target: str, data: bytes, mode: int | None) -> None:
    handle, name = _create_beside(target)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _create_beside(target: str) -> tuple[int, str]:
    """Create an empty file in the folder of ``target`` under a name that is not in use."""
    for attempt in range(_ATTEMPTS):
        name = os.path.join(os.path.dirname(target), f".oric-{os.getpid()}-{attempt}.part")
        with suppress(FileExistsError):
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE_MODE), name
    raise OutputError(f"Output file '{target}' could not be written: its folder is full of temporary files")
