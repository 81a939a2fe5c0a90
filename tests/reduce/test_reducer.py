"""Planted failures in modules of thousands of lines become a handful of lines of which none can go."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from oric.cli import main
from oric.driver import CompileOptions, registry
from oric.ir.function import Function
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions
from oric.ptx import parse
from oric.reduce.judges import Command, Crash, Differs, Judge
from oric.reduce.reducer import NoFailure, reduce_module
from oric.reduce.runner import Limits, Question, Runner
from oric.support.diagnostics import CompileError
from oric_tables import op, ops

from tests.kernels import cases
from tests.reduce.modules import TARGET, large, launch_file

CRASHING = "value_numbering"
WRONG = "general_optimize_late"


class Has:
    """Fails when texts stand in a module, however often."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def signature(self, text: str) -> str:
        return "it has them" if all(one in text for one in self.texts) else ""

    def prepare(self, text: str) -> None:
        pass


def check_minimal(text: str, judge: Judge, wanted: str) -> None:
    """It fails as it should, and without any single line it does not, or is no module."""
    assert judge.signature(text) == wanted
    lines = text.splitlines(keepends=True)
    for at in range(len(lines)):
        less = "".join(lines[:at] + lines[at + 1 :])
        try:
            parse(less)
        except CompileError:
            continue
        assert judge.signature(less) != wanted, lines[at]


@pytest.fixture
def _planted() -> Iterator[dict[str, PassFunction]]:
    passes = registry.passes()
    kept = dict(passes)
    yield passes
    passes.update(kept)


def names_in(f: Function) -> set[str]:
    return {ops.op(f.op[i]).name.split(".")[0] for i in all_instructions(f)}


def plant_crash(passes: dict[str, PassFunction]) -> None:
    """A pass that does not stand POPC and a store together, and tells of it in ever other numbers."""
    real = passes[CRASHING]

    def fails(f: Function, ctx: PassContext) -> bool:
        if {"POPC", "STG"} <= names_in(f):
            raise AssertionError(f"{f.length()} instructions of '{f.name}' do not add up")
        return real(f, ctx)

    passes[CRASHING] = fails


@pytest.mark.measure
def test_texts_in_a_large_module() -> None:
    """Two instructions in two kernels: two kernels of one instruction each."""
    judge = Has("popc.b32", "fma.rn.f32")
    done = reduce_module(large(), Runner(judge, 1, Limits()))
    assert done.whole and done.signature == "it has them" and len(large().splitlines()) > 2500
    check_minimal(done.text, judge, done.signature)
    assert len(done.text.splitlines()) <= 15


@pytest.mark.measure
def test_any_number_of_processes_gives_the_same() -> None:
    text = cases.ptx("reduction", TARGET)
    judge = Has("shfl.sync", "bar.sync")
    results = {reduce_module(text, Runner(judge, jobs, Limits())).text for jobs in (1, 3)}
    assert len(results) == 1
    check_minimal(*results, judge, "it has them")


@pytest.mark.measure
def test_an_internal_error(_planted: dict[str, PassFunction]) -> None:
    """The numbers and names of its message are others in the end."""
    plant_crash(_planted)
    judge = Crash(CompileOptions(TARGET))
    wanted = "phase 49 GvnCse: AssertionError: N instructions of ... do not add up"
    assert judge.signature(large()) == wanted and judge.signature(cases.ptx("saxpy", TARGET)) == ""
    done = reduce_module(large(), Runner(judge, 2, Limits()))
    assert done.whole and done.signature == wanted and "popc.b32" in done.text and "st." in done.text
    assert len(done.text.splitlines()) <= 12
    check_minimal(done.text, judge, wanted)


def test_an_error_of_another_phase_is_another_failure(_planted: dict[str, PassFunction]) -> None:
    """Two errors in a module: it is the first that stays."""
    plant_crash(_planted)
    early = _planted["general_optimize_early"]

    def fails(f: Function, ctx: PassContext) -> bool:
        if "SHFL" in names_in(f):
            raise AssertionError("no exchange")
        return early(f, ctx)

    text = cases.ptx("reduction", TARGET) + cases.ptx("switch", TARGET).partition(".address_size 64")[2]
    before = Crash(CompileOptions(TARGET)).signature(text)
    _planted["general_optimize_early"] = fails
    judge = Crash(CompileOptions(TARGET))
    wanted = judge.signature(text)
    assert wanted != before
    done = reduce_module(text, Runner(judge, 1, Limits()))
    assert done.signature == wanted == judge.signature(done.text)


@pytest.mark.measure
@pytest.mark.parametrize("levels", [(0, 3), (3,)])
def test_a_wrong_rewrite(levels: tuple[int, ...], tmp_path: Path, _planted: dict[str, PassFunction]) -> None:
    """Above -O0 factor and term of a sum of a product change places: what is left computes one, and stores it.

    Against what the launch file expects it is the wrong result that stays, and with it all that it is made of.
    """
    real = _planted[WRONG]

    def wrong(f: Function, ctx: PassContext) -> bool:
        changed = real(f, ctx)
        for i in all_instructions(f):
            if f.op[i] == op.FFMA:
                factor, term = f.get(i, 2), f.get(i, 3)
                f.set(i, 2, term)
                f.set(i, 3, factor)
                changed = True
        return changed

    _planted[WRONG] = wrong
    path = launch_file(tmp_path, "saxpy-31-32")
    judge = Differs(path, [CompileOptions(TARGET, level) for level in levels])
    text = cases.ptx("saxpy", TARGET) + cases.ptx("reduction", TARGET).partition(".address_size 64")[2]
    done = reduce_module(text, Runner(judge, 2, Limits()))
    assert done.whole and done.signature.startswith("the results differ") and ("to" in done.signature) == (len(levels) == 1)
    assert "fma.rn" in done.text and "st." in done.text
    assert len(done.text.splitlines()) <= (20 if len(levels) > 1 else 40) < len(text.splitlines()) / 5
    check_minimal(done.text, judge, done.signature)
    _planted[WRONG] = real
    assert Differs(path, [CompileOptions(TARGET, level) for level in (0, 3)]).signature(done.text) == ""


def test_registers_that_nothing_writes_are_no_difference(tmp_path: Path) -> None:
    path = launch_file(tmp_path, "saxpy-256-256")
    text = cases.ptx("saxpy", TARGET)
    ways = [CompileOptions(TARGET, 0), CompileOptions(TARGET, 3)]
    expected = [CompileOptions(TARGET, 3)]
    assert Differs(path, ways).signature(text) == "" == Differs(path, expected).signature(text)
    unwritten = text.replace("fma.rn.f32", "//fma.rn.f32")
    assert Differs(path, expected).signature(unwritten) == ""
    assert Differs(path, expected, unwritten=True).signature(unwritten).startswith("the results differ")


class Dies:
    """Ends the process where a text stands in a module."""

    def __init__(self, text: str, how: int) -> None:
        self.text = text
        self.how = how

    def signature(self, text: str) -> str:
        if self.text in text:
            if self.how:
                os.kill(os.getpid(), self.how)
            time.sleep(1000)
        return ""

    def prepare(self, text: str) -> None:
        raise AssertionError("it would end the process")


def test_a_signal_is_a_failure() -> None:
    done = reduce_module(cases.ptx("reduction", TARGET), Runner(Dies("shfl.sync", signal.SIGKILL), 2, Limits()))
    assert done.signature == "it is ended by signal 9" and done.text.count("shfl.sync") == 1 and len(done.text.splitlines()) <= 8


def test_a_hang_is_a_failure() -> None:
    runner = Runner(Dies("shfl.sync", 0), 2, Limits(steps=12, each=0.5))
    done = reduce_module(cases.ptx("saxpy", TARGET).replace("ret;", "shfl.sync.up.b32 %r1|%p1, %r1, 1, 0, -1;\nret;"), runner)
    assert done.signature == "it takes longer than 0.5 s" and not done.whole and "shfl.sync" in done.text


def test_limits_end_the_search() -> None:
    """What was found by then is there, and fails."""
    for limits in (Limits(steps=30), Limits(seconds=0.2)):
        judge = Has("popc.b32")
        runner = Runner(judge, 1, limits)
        done = reduce_module(large(), runner)
        assert not done.whole and judge.signature(done.text) and (runner.asked <= 31 or limits.steps == 0)
        parse(done.text)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(NoFailure, match="there is no failure to begin with: nothing is written"):
        reduce_module(large(), Runner(Has("nowhere"), 1, Limits()))
    with pytest.raises(CompileError, match="unknown instruction 'fam'"):
        reduce_module(cases.ptx("saxpy", TARGET).replace("fma", "fam"), Runner(Has(""), 1, Limits()))

    class Puzzled(Has):
        def signature(self, text: str) -> str:
            raise ValueError("the moon is in the way")

    with pytest.raises(Question, match="the moon is in the way"):
        reduce_module(large(), Runner(Puzzled(), 1, Limits()))


def test_a_failure_of_comments_keeps_them() -> None:
    text = cases.ptx("saxpy", TARGET).replace("ret;", "// the end\nret;")
    done = reduce_module(text, Runner(Has("// the end"), 1, Limits()))
    assert "// the end" in done.text and len(done.text.splitlines()) <= 6


def test_commands() -> None:
    """Status and output decide."""
    text = cases.ptx("saxpy", TARGET)
    assert Command("grep -q fma").signature(text) == "" and Command("! grep -q fma {}").signature(text) != ""
    assert Command("cat {}; exit 7").signature(text) == "the command ends with status 7"
    assert Command("cat {}; exit 7", "fma.rn").signature(text) and Command("cat {}; exit 7", "mad24").signature(text) == ""


@pytest.fixture
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "in.ptx"
    path.write_text(cases.ptx("reduction", TARGET))
    return path


def test_the_command(_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.ptx"
    command = ["reduce", str(_file), "-o", str(out), "--test", "! grep -q shfl.sync {}"]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{len(_file.read_text().splitlines())} lines became {len(out.read_text().splitlines())}, ")
    assert "the failure: the command ends with status 1" in captured.err
    text = out.read_text()
    assert text.count("shfl.sync") == 1 and len(text.splitlines()) <= 8
    assert main([*command, "-j", "3", "-q"]) == 0 and out.read_text() == text
    assert capsys.readouterr().err == ""
    assert main([*command, "--steps", "3", "-q"]) == 1 and "a limit has ended the search" in capsys.readouterr().out


@pytest.mark.measure
def test_crashes_by_the_command(
    _file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], _planted: dict[str, PassFunction]
) -> None:
    plant_crash(_planted)
    _file.write_text(cases.ptx("switch", TARGET))
    out = tmp_path / "out.ptx"
    assert main(["reduce", str(_file), "-o", str(out), "--crash", "-arch", TARGET, "-O", "0"]) == 2
    assert "there is no failure to begin with: nothing is written" in capsys.readouterr().err and not out.exists()
    assert main(["reduce", str(_file), "-o", str(out), "--crash", "-arch", TARGET, "-q", "-j", "2"]) == 0
    assert "popc.b32" in out.read_text() and len(out.read_text().splitlines()) <= 12


def test_refusals(_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what is wrong; nothing is written."""
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    bare = launch_file(tmp_path, "saxpy-1-32", expected=False)
    good = [str(_file), "-o", str(tmp_path / "out.ptx")]
    for words, said in (
        ([str(_file), "--crash"], "the following arguments are required: -o/--output"),
        (good, "one of the arguments --test --crash --differs is required"),
        ([*good, "--crash", "--test", "x"], "argument --test: not allowed with argument --crash"),
        ([*good, "--crash", "-arch", "sm_1"], "sm_1"),
        ([*good, "--crash", "-O", "-1"], "Value '-1' is not defined for option 'opt-level'"),
        ([*good, "--crash", "-j", "0"], "there is at least one question at a time"),
        ([*good, "--crash", "--matching", "x"], "--matching means nothing without --test"),
        ([*good, "--test", "x", "--matching", "("], "--matching: "),
        ([*good, "--differs", str(bad)], f"{bad}: "),
        ([*good, "--differs", str(tmp_path / "none.json")], "none.json"),
        ([*good, "--differs", str(bare), "--levels", "3"], "there is nothing to expect: give two levels, as --levels 0,3"),
        ([*good, "--differs", str(bare), "--levels", "0,x"], "--levels: '0,x' is neither a level nor two"),
        ([str(tmp_path / "none.ptx"), "-o", "x", "--crash"], "could not be opened"),
        ([*good, "--crash"], "there is no failure to begin with"),
    ):
        assert main(["reduce", *words]) == 2, words
        captured = capsys.readouterr()
        assert captured.out == "" and said in captured.err and captured.err.startswith("oric: error: ")
        assert captured.err.count("\n") == 1, captured.err
    assert not (tmp_path / "out.ptx").exists()
    assert main(["reduce", str(_file), "-o", "/nowhere/x", "--test", "! grep -q shfl {}", "-q"]) == 2
    assert "could not be written" in capsys.readouterr().err
    _file.write_text(_file.read_text().replace("shfl", "shlf"))
    assert main(["reduce", *good, "--crash"]) == 2
    assert "error: unknown instruction 'shlf'" in capsys.readouterr().err
