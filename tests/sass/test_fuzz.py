"""A few thousand damaged and random files and words; `make sanitize` runs 200,000."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from oric.sass.check import check_cubin
from oric.support.elf import read

from tests import fuzz, fuzz_run


def test_every_input_ends_in_an_error_or_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert not fuzz_run.run(fuzz.FUZZER, 2_000, seed=5, jobs=1), capsys.readouterr().out
    said = capsys.readouterr().out
    for outcome in ("file: no container", "file: read", "file: refused", "words: all decoded", "words: words without a form"):
        assert outcome in said, said


def test_a_failure_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_: bytes) -> str:
        raise KeyError("planted")

    monkeypatch.setattr(fuzz, "read_file", fails)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert fuzz_run.run(fuzz.FUZZER, 20, seed=5, jobs=1)
    assert "KeyError: 'planted'" in capsys.readouterr().out
    assert list(tmp_path.glob("oric-fuzz-*.bin"))


def test_absurd_numbers_of_registers_are_checked_as_all_there_are() -> None:
    data = bytearray((fuzz.DATA / "cubin" / "container.sm_90.cubin").read_bytes())
    section = read(bytes(data)).section(".nv.info")
    assert section is not None
    for at in range(section.offset, section.offset + section.size - 12, 4):
        if data[at + 1] == 0x2F:  # REGCOUNT
            data[at + 8 : at + 12] = b"\xff" * 4
    cubin = read(bytes(data))
    assert {f.registers for f in cubin.functions.values()} == {0xFFFFFFFF}
    assert check_cubin(cubin).instructions > 0
