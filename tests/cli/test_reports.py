"""What the compile command reports and writes besides what ptxas's answers on file show."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oric.cli import main

from tests.cli import command_lines as cl
from tests.cli import option_table

_TIMER = re.compile(r"(DAGgen|OCG)-time : (\d+\.\d{3}) ms \((\d+\.\d{2})%\)")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cl.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)


def sections(path: Path) -> set[str]:
    """The code sections of a cubin."""
    return {name.decode() for name in re.findall(rb"\0(\.text\.\w+)(?=\0)", path.read_bytes())}


@pytest.mark.row("R2-69")
def test_two_timers_sum_to_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.ptx", "-arch", "sm_90", "--stats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [match.groups() for match in map(_TIMER.fullmatch, lines) if match]
    assert [name for name, _, _ in found] == ["DAGgen", "OCG"] and len(lines) == 2
    assert sum(float(percent) for _, _, percent in found) == pytest.approx(100, abs=0.011)
    assert all(float(took) > 0 for _, took, _ in found)
    whole = sum(float(took) for _, took, _ in found)
    for _, took, percent in found:
        assert float(percent) == pytest.approx(100 * float(took) / whole, abs=0.1)


@pytest.mark.row("R2-69")
def test_construction_ends_before_the_first_phase(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser, the builder and the calls that are replaced last are DAGgen; phases, encoding and the file are OCG."""
    import time

    from oric.cubin import write
    from oric.driver import front, pipeline
    from oric.phases.manager import PhaseManager
    from oric.support.diagnostics import Source

    slow = {  # what is made slow, by where it counts: 0 is DAGgen, 1 is OCG
        "parse": (0, front, "parse_module", front.parse_module),
        "lines": (0, Source, "lines", Source.lines),
        "calls": (0, front, "Inliner", front.Inliner),
        "phases": (1, PhaseManager, "run", PhaseManager.run),
        "encoding": (1, pipeline, "encode_function", pipeline.encode_function),
        "file": (1, pipeline.cubin_writer, "write", write),
    }
    assert main(["a.ptx", "-arch", "sm_90", "--stats"]) == 0  # all modules are loaded
    capsys.readouterr()
    for name, (timer, owner, function, plain) in slow.items():
        waits = iter([0.2])
        with monkeypatch.context() as patch:

            def delayed(
                *args: object, plain: Callable[..., object] = plain, waits: Iterator[float] = waits, **named: object
            ) -> object:
                time.sleep(next(waits, 0.0))
                return plain(*args, **named)

            patch.setattr(owner, function, delayed)
            assert main(["a.ptx", "-arch", "sm_90", "--stats"]) == 0
        shares = [float(match[3]) for match in _TIMER.finditer(capsys.readouterr().out)]
        assert shares[timer] > 60, f"{name}: {shares}"


def test_messages_of_ptxas_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bad2.ptx", "-arch", "sm_90", "--ptxas-messages"]) == 255
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("ptxas bad2.ptx, line 11; error   : ")
    assert lines[-1] == "ptxas fatal   : Ptx assembly aborted due to errors"
    assert main(["bad2.ptx", "-arch", "sm_90"]) == 255
    assert capsys.readouterr().err.startswith("bad2.ptx:11:")


def test_several_inputs_make_one_cubin(tmp_path: Path) -> None:
    assert main(["a.ptx", "b.ptx", "-arch", "sm_90", "-o", "two.o"]) == 0
    assert main(["two.ptx", "-arch", "sm_90", "-o", "one.o"]) == 0
    assert (tmp_path / "two.o").stat().st_size == (tmp_path / "one.o").stat().st_size
    assert sections(tmp_path / "two.o") == {".text.j", ".text.k"}


@pytest.mark.parametrize("words", [["-e", "j"], ["--entry=j"], ["-e", "j,j"]])
def test_entries_are_chosen(words: list[str], tmp_path: Path) -> None:
    assert main(["two.ptx", "-arch", "sm_90", "-o", "x.o", *words]) == 0
    assert sections(tmp_path / "x.o") == {".text.j"}


def test_launch_bounds_of_the_command_line_are_those_of_the_directive(tmp_path: Path) -> None:
    for name, words in {
        "directive": ["ntid.ptx"],
        "option": ["a.ptx", "-maxntid=64"],
        "kept": ["ntid.ptx", "-maxntid=256"],
        "overridden": ["ntid.ptx", "-maxntid=256", "-override-directive-values"],
    }.items():
        assert main([*words, "-arch", "sm_90", "-o", f"{name}.o"]) == 0
    image = {path.stem: path.read_bytes() for path in tmp_path.glob("*.o")}
    assert image["directive"] == image["option"] == image["kept"] != image["overridden"]


@pytest.mark.parametrize("bad", ["bad.ptx", "empty.ptx", "binary.ptx", "elf.ptx", "nosuch.ptx", "folder"])
def test_an_old_output_survives_bad_input(bad: str, tmp_path: Path) -> None:
    (tmp_path / "x.o").write_bytes(b"old")
    assert main([bad, "-arch", "sm_90", "-o", "x.o"]) == 255
    assert main(["a.ptx", bad, "-arch", "sm_90", "-o", "x.o"], "ptxas") == 255
    assert (tmp_path / "x.o").read_bytes() == b"old"
    assert cl.new_files(tmp_path) == ["x.o"]


def test_warnings_of_several_kinds_become_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for file, option in (("double.ptx", "-warn-double-usage"), ("local.ptx", "-warn-lmem-usage")):
        assert main([file, "-arch", "sm_90", option, "-o", "x.o"]) == 0
        assert "warning" in capsys.readouterr().err
        assert main([file, "-arch", "sm_90", option, "-w", "-o", "x.o"]) == 0
        assert not capsys.readouterr().err
        assert main([file, "-arch", "sm_90", option, "-Werror", "-o", "x.o"]) == 255
        assert "error" in capsys.readouterr().err


def test_a_full_device_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.ptx", "-arch", "sm_90", "-o", "/dev/full"], "ptxas") == 255
    assert capsys.readouterr().err == "ptxas fatal   : Output file '/dev/full' could not be opened\n"


def test_the_page_has_the_table_of_today() -> None:
    text = option_table.PAGE.read_text(encoding="utf-8")
    assert text == option_table.page(text)


def test_phases_are_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    """By name, number or function; the code is another one, and the list of phases says so."""
    images = []
    for off in ([], ["GvnCse"], ["GvnCse,OriDoPredication"], ["49,63"]):
        arguments = [word for name in off for word in ("--disable-phase", name)]
        assert main(["a.ptx", "-arch", "sm_90", "-o", "off.cubin", "--dump-ir", "49,63", *arguments], "oric") == 0
        images.append([line for line in capsys.readouterr().out.splitlines() if " after phase " in line])
    assert [len(lines) for lines in images] == [2, 1, 0, 0]
    assert main(["--list-phases", "--disable-phase", "value_numbering"], "oric") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "GvnCse" in line]
    assert line.split() == ["49", "GvnCse", "-"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("GvnCsee", "there is no phase 'GvnCsee' (see --list-phases)"),
        ("49,,63", "there is no phase '' (see --list-phases)"),
        ("undocumented", "there is no phase 'undocumented' (see --list-phases)"),
        ("159", "there is no phase '159' (see --list-phases)"),
        ("49,allocate_registers", "phase 100 (allocate_registers) is required: it cannot be switched off"),
        ("all", "phase 0 OriCheckInitialProgram (check_initial_program) is required: it cannot be switched off"),
    ],
)
def test_what_cannot_be_switched_off(names: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a.ptx", "-arch", "sm_90", "-o", "off.cubin", "--disable-phase", names], "oric") == 255
    assert capsys.readouterr().err == f"oric: error: {said}\n" and not Path("off.cubin").exists()
    assert main(["--list-phases", "--disable-phase", names], "oric") == 255
