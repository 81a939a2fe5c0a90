"""``oric opt``: phases on Ori text, from the command line."""

from __future__ import annotations

import io
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from oric import cli
from oric.cli.opt import opt
from oric.driver import CompileError, CompileOptions, compile_text
from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.ir.text import write
from oric.ir.verify import MalformedCode
from oric.regalloc import OutOfRegisters

ROOT = Path(__file__).resolve().parents[2]

TEXT = """bix0:
    MOV R1, 0x5
    S2R R0, SR33
    IADD3 R2, R0, R1, RZ
    STS R0, 0x0, R2
    EXIT
"""
AFTER = """entry test sm_90
bix0: -> -  // from -
    S2R R0, SR33
    IADD3 R2, R0, 0x5, RZ
    STS R0, 0x0, R2
    EXIT
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["opt", *words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.ori"
    path.write_text(TEXT)
    return str(path)


@pytest.mark.parametrize("name", ["GeneralOptimizeEarly", "13", "general_optimize_early"])
def test_a_phase_by_name_number_or_pass(file: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--phase", name, file) == (0, AFTER, "")


def test_without_a_phase_the_text_is_printed_in_full(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--exact", file)
    assert (status, out.splitlines()[:3]) == (
        0, ["entry test sm_90 registers=3", "bix0: -> -  // from -", "    MOV R1, 0x5 [line=2]"],
    )  # fmt: skip


def test_several_phases_run_in_their_order(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--phase", "analyze_control_flow", "--phase", "6", "--phase", "13", file)
    assert out == AFTER.replace("sm_90", "sm_90 final_flow")


def test_standard_input_target_and_level(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    status, out, _ = run(capsys, "--phase", "all", "--sm", "sm_80", "-O", "0", "-")
    assert (status, out.splitlines()[0]) == (0, "entry test sm_80 final_flow expanded=78")
    assert "MOV R1=" not in out and "MOV R1, 0x5" in out and "facts num_regs=" in out


def test_the_dump_of_one_phase_is_what_the_next_begins_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Phase after phase on the text gives what the compiler makes in one go."""
    shown: list[str] = []
    text = (Path(__file__).resolve().parents[2] / "examples/saxpy.ptx").read_text()
    compile_text(text, CompileOptions("sm_90", 3, dump=("all",), dump_sink=shown.append))
    steps = [dump.split("\n", 1) for dump in shown]
    for (_, before), (head, after) in pairwise(steps):
        (tmp_path / "step.ori").write_text(before)
        status, out, err = run(capsys, "--exact", "--phase", head.split()[4], str(tmp_path / "step.ori"))
        assert (status, err) == (0, "")
        assert out == "".join(line for line in after.splitlines(True) if not line.startswith("// ")), head


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["--phase", "Nonsense"], TEXT, "oric: error: there is no phase 'Nonsense' (see --list-phases)\n"),
        (["--phase", "24"], TEXT, "oric: error: nothing runs in phase 24 '24' for sm_90\n"),
        (["--sm", "sm_91"], TEXT, "oric: error: unknown target 'sm_91'"),
        (["-O", "7"], TEXT, "oric: error: argument -O: invalid choice: "),
        (["--bogus"], TEXT, "oric: error: unrecognized arguments: --bogus\n"),
        ([], TEXT.replace("EXIT", "LEAVE"), "FILE:6:5: error: expected an operation, found 'LEAVE'\n        LEAVE\n        ^\n"),
        ([], TEXT.replace("    EXIT\n", ""), "oric: error: malformed Ori in test after reading:\n  bix0: edge"),
        (
            ["--phase", "sanitize"],
            "entry f sm_90 final_flow\nbix0:\n    EXIT\n    EXIT\n",
            "oric: error: malformed Ori in f after rea",
        ),
    ],
)
def test_what_is_wrong_is_told(words: list[str], text: str, message: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(file).write_text(text)
    status, out, err = run(capsys, *words, file)
    assert (status, out) == (255, "")
    assert err.startswith(message.replace("FILE", file))


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "nowhere.ori")
    assert (status, err) == (255, "oric: error: Input file 'nowhere.ori' could not be opened: No such file or directory\n")


CASES = [path.read_text(encoding="utf-8").partition("---")[0] for path in sorted((ROOT / "tests/ir/cases").rglob("*.ori"))]
TOKEN = re.compile(r"[\w.$%]+|\S")
POOL = sorted({token for text in CASES for token in TOKEN.findall(text)})


@pytest.mark.parametrize("seed", range(100))
def test_damaged_text_goes_through_all_phases_or_is_refused(seed: int) -> None:
    """Words are exchanged, dropped, doubled or misspelt: a function comes out, or a message that says what is wrong."""
    rng = random.Random(seed)
    text = rng.choice(CASES)
    for _ in range(rng.randint(1, 3)):
        word = rng.choice(list(TOKEN.finditer(text)))
        new = rng.choice([rng.choice(POOL), "", f"{word[0]} {word[0]}", word[0][:-1] + rng.choice("0123456789Rx,")])
        text = text[: word.start()] + new + text[word.end() :]
    try:
        f = opt(text, ["all"], level=rng.choice([0, 3]))
    except CompileError as error:
        assert re.match(r"<ori>(:\d+:\d+)?: error: ", str(error))
    except (MalformedCode, OutOfRegisters) as error:
        assert str(error)
    else:
        assert isinstance(write(f), str)


def test_a_pass_that_fails_is_named(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(f: Function, ctx: PassContext) -> bool:
        raise IndexError("planted")

    monkeypatch.setattr("oric.cli.opt.passes", lambda: {"remove_dead_code": broken})
    assert cli.main(["opt", "--phase", "remove_dead_code", file]) == cli.ERROR_STATUS
    assert capsys.readouterr().err.startswith("oric: error: remove_dead_code: IndexError: planted, in '")
