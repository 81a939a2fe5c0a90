"""Writing of files."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file.

    Raises:
        OSError: it cannot be; ``filename`` is set also where the disk is full, of which the system names no file.
    """
    try:
        path.write_bytes(data)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
