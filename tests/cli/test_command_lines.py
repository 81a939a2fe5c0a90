"""The drop-in answers command lines as ptxas does: status, streams, files."""

import io
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from oric.cli import main

from tests.cli import command_lines as cl

LINES: Final = cl.lines()
ANSWERS: Final = cl.answers()
_NOT_DONE: Final = re.compile(r"ptxas (warning|error  ) : option '--[\w-]+' is not supported yet, will be ignored\n")
_REGISTERS: Final = re.compile(r"Used \d+ registers")

# Not done yet, and said so: line -> words of our message.
NOT_DONE: Final = {
    "-arch sm_80 t90a.ptx bad2.ptx": "Unknown symbol '%q9'",  # of a module for another target nothing else is said
}


def normal(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what is not compared: registers; of help the descriptions; of the version all but the release."""
    err = _REGISTERS.sub("Used # registers", _NOT_DONE.sub("", cl.steady(answer["err"])))
    out = answer["out"]
    if out.lstrip().startswith(("Usage", "--")):
        out = "\n".join(line.rstrip() for line in out.splitlines() if line.startswith("--"))
    elif "release 13.0" in out:
        out = out[out.index("release") :].splitlines()[0]
    return answer | {"out": out, "err": err}


def ours(line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the drop-in answers."""
    cl.prepare(folder)
    monkeypatch.chdir(folder)
    words, data = cl.split(line)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    status = main(words, "ptxas")
    captured = capsys.readouterr()
    return {"status": status, "out": captured.out, "err": captured.err, "files": cl.new_files(folder)}


def test_there_is_an_answer_to_each_line() -> None:
    assert set(LINES) == set(ANSWERS)
    assert len(LINES) == len(set(LINES)) >= 300
    assert set(NOT_DONE) <= set(LINES)


@pytest.mark.parametrize("line", LINES)
def test_the_drop_in_answers_as_ptxas(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ours(line, tmp_path, capsys, monkeypatch)
    if line in NOT_DONE:
        assert (answer["status"], answer["files"]) == (255, [])
        assert NOT_DONE[line] in answer["err"]
    else:
        assert normal(answer) == normal(ANSWERS[line])


@pytest.mark.measure
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here: its answers are those on file")
@pytest.mark.parametrize("line", LINES)
def test_the_answers_on_file_are_those_of_ptxas(line: str) -> None:
    assert normal(cl.ask("ptxas", line)) == normal(ANSWERS[line])
