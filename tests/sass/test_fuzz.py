"""A few thousand damaged and random files and words; `make sanitize` runs 200,000."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests import fuzz


def test_every_input_ends_in_an_error_or_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.run(2_000, seed=5, jobs=1), capsys.readouterr().out
    said = capsys.readouterr().out
    for outcome in ("file: no container", "file: read", "file: refused", "words: all decoded", "words: words without a form"):
        assert outcome in said, said


def test_a_failure_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_: bytes) -> str:
        raise KeyError("planted")

    monkeypatch.setattr(fuzz, "read_file", fails)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert not fuzz.run(20, seed=5, jobs=1)
    assert "KeyError: 'planted'" in capsys.readouterr().out
    assert list(tmp_path.glob("oric-fuzz-*.bin"))
