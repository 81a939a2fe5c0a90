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
_PLACED: Final = re.compile(r"(?m)^(\w+ .*, line \d+;) (?:error|fatal)\s*: .*$")
_REGISTERS: Final = re.compile(r"Used \d+ registers")
_SPILLS: Final = re.compile(r"\b\d+ bytes (spill stores|spill loads|stack frame|cumulative stack size)")

# Where our error is better than ptxas's: it has a place, and the text is looked at to its end.
PLACED: Final = {
    "-arch sm_80 binary.ptx": "ptxas binary.ptx, line 1; error   : ",
    "-arch sm_80 elf.ptx": "ptxas elf.ptx, line 1; error   : ",
    "-arch sm_80 t90.ptx": "ptxas t90.ptx, line 2; error   : ",
    "-arch compute_80 t90.ptx": "ptxas t90.ptx, line 2; error   : ",
    "-arch sm_90 t90a.ptx": "ptxas t90a.ptx, line 2; error   : ",
    "-arch compute_90 t90a.ptx": "ptxas t90a.ptx, line 2; error   : ",
}
# Not done yet, and said so: line -> words of our message.
NOT_DONE: Final = {"-arch sm_80 spill.ptx -warn-spills": "spilling is not supported yet"}


def normal(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what is not compared: texts about PTX (their places are), counts of registers and bytes of spills, the
    order of functions; of help the descriptions, of the version all but the release."""
    err = _NOT_DONE.sub("", cl.steady(answer["err"]))
    err = _REGISTERS.sub("Used # registers", _PLACED.sub(r"\1 error", err))
    out = answer["out"]
    if out.lstrip().startswith(("Usage", "--")):
        out = "\n".join(line.rstrip() for line in out.splitlines() if line.startswith("--"))
    elif "release 13.0" in out:
        out = out[out.index("release") :].splitlines()[0]
    return answer | {"out": out, "err": sorted(dict.fromkeys(err.splitlines()))}


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
    assert {*PLACED, *NOT_DONE} <= set(LINES)


@pytest.mark.parametrize("line", LINES)
def test_the_drop_in_answers_as_ptxas(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ours(line, tmp_path, capsys, monkeypatch)
    if line in NOT_DONE:
        assert (answer["status"], answer["files"]) == (255, [])
        assert NOT_DONE[line] in answer["err"]
    elif line in PLACED:
        assert (answer["status"], answer["files"]) == (ANSWERS[line]["status"], ANSWERS[line]["files"])
        assert answer["err"].startswith(PLACED[line])
        assert answer["err"].endswith("\nptxas fatal   : Ptx assembly aborted due to errors\n")
    else:
        assert normal(answer) == normal(ANSWERS[line])


@pytest.mark.measure
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here: its answers are those on file")
@pytest.mark.parametrize("line", LINES)
def test_the_answers_on_file_are_those_of_ptxas(line: str) -> None:
    assert normal(cl.ask("ptxas", line)) == normal(ANSWERS[line])
