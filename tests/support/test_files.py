"""Output files are whole or untouched."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from oric.support import files
from oric.support.files import OutputError, write_atomically


def test_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", b"data")
    finally:
        os.umask(umask)
    assert (tmp_path / "new").read_bytes() == b"data"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["new"]


def test_old_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"a long old content")
    path.chmod(0o755)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.mark.parametrize("cause", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: BaseException) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")

    def stop(name: str, target: str) -> None:
        assert Path(name).read_bytes() == b"new"
        raise cause

    monkeypatch.setattr(files.os, "replace", stop)
    with pytest.raises((KeyboardInterrupt, MemoryError, OutputError)):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["old"]


def test_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is a directory"):
        write_atomically(tmp_path, b"data")


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file or directory"):
        write_atomically(tmp_path / "missing" / "file", b"data")


def test_read_only_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(OutputError, match="read-only"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write_atomically(path, b"data")
    reader.join()
    assert got == [b"data"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_leftover_of_another_run_is_not_touched(tmp_path: Path) -> None:
    leftover = tmp_path / f".oric-{os.getpid()}-0.part"
    leftover.write_bytes(b"other")
    write_atomically(tmp_path / "new", b"data")
    assert leftover.read_bytes() == b"other"
    assert (tmp_path / "new").read_bytes() == b"data"
