"""What the command prints about itself, and its exit statuses."""

import re
import tomllib
from pathlib import Path

import pytest
from oric.cli import ERROR_STATUS, main
from oric_tables.knob_rows import ROWS
from oric_tables.targets import TARGETS

SAXPY = Path(__file__).resolve().parents[2] / "examples/saxpy.ptx"


@pytest.mark.row("R1-01")
def test_list_phases_has_a_row_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-phases"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [int(row[0]) for row in rows] == list(range(159))
    by_index = {int(row[0]): row[1:] for row in rows}
    assert by_index[0] == ["OriCheckInitialProgram", "runs"]
    assert by_index[23] == ["GenerateMovPhi", "runs"]
    assert by_index[21] == ["(place_images)", "runs"]
    assert by_index[28] == ["(undocumented)", "-"]


@pytest.mark.row("R1-01")
def test_every_stage_runs_and_can_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parsing (laid out again), selection (operations of the machine), phases, allocation, scheduling, encoding, the image."""
    assert main(["fmt", str(SAXPY)]) == 0
    assert "fma.rn.f32" in capsys.readouterr().out
    image = tmp_path / "saxpy.cubin"
    shown = ["0", *(str(index) for index in (12, 23, 73, 99, 100, 110))]
    assert main([str(SAXPY), "-arch", "sm_90", "-o", str(image), "--ftrace", f"--dump-ir={','.join(shown)}"]) == 0
    said = capsys.readouterr().out
    traced = [int(n) for n in re.findall(r"^ftrace: saxpy: phase (\d+) ", said, re.M)]
    assert traced == sorted(traced) and len(traced) > 50
    assert main(["--list-phases"]) == 0
    assert traced == [int(row.split()[0]) for row in capsys.readouterr().out.splitlines() if row.endswith(" runs")]
    dumps = dict(re.findall(r"^// saxpy after phase (\d+) .*?\n(.*?)^// __\$endLabel", said, re.M | re.S))
    assert list(dumps) == [n for n in shown if int(n) in traced]
    fused = {n: re.findall(r"^ +FFMA .*", text, re.M) for n, text in dumps.items()}
    assert all(len(found) == 1 for found in fused.values())
    assert "R14=R" in dumps["100"] and "R14=R" not in dumps["73"]
    assert "control=" in dumps["110"] and "control=" not in dumps["100"]
    assert main(["disasm", str(image)]) == 0
    assert re.search(r"FFMA R\d+, R\d+, c\[0x0\]\[0x214\], R\d+ ;", capsys.readouterr().out)


def test_list_phases_depends_on_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    runs = []
    for level in ("-O0", "-O3"):
        assert main(["--list-phases", level]) == 0
        runs.append({int(line.split()[0]) for line in capsys.readouterr().out.splitlines() if line.endswith(" runs")})
    assert runs[0] < runs[1]
    assert 13 in runs[1] - runs[0]


def test_help_names_ptxas_spellings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"(?m)^--gpu-name <gpu name> +\(-arch\)$", text)
    refused = r"(?m)^--compile-as-tools-patch +\(-astoolspatch\)\n +Compile patch code for tools.\n +Not done yet: refused.$"
    assert re.search(refused, text)
    assert re.search(r"(?m)^--list-targets$", text)
    assert f"Code can be made for {', '.join(TARGETS)}." in " ".join(text.split())


def test_list_targets_names_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-targets"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert list(rows)[:7] == ["sm_10", "sm_11", "sm_12", "sm_13", "sm_20", "sm_21", "sm_30"]
    assert [name for name, status in rows.items() if status == "code can be made"] == list(TARGETS)
    assert {"sm_80", "sm_90", "sm_90a"} <= set(TARGETS)
    assert rows["sm_101"] == rows["sm_104"] == "known, no code yet"


@pytest.mark.parametrize("arch", ["sm_101", "sm_101f", "compute_101", "sm_104", "sm_30"])
def test_a_target_without_code_is_called_what_the_list_calls_it(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-arch", arch, str(SAXPY)]) == ERROR_STATUS
    able = ", ".join(TARGETS)
    assert capsys.readouterr().err == f"oric: error: {arch}: known, no code yet (code can be made for {able})\n"


def test_ptxas_words_for_a_target_that_it_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ptxas-messages", "-arch", "sm_70", str(SAXPY)]) == ERROR_STATUS
    assert capsys.readouterr().err == "ptxas fatal   : Value 'sm_70' is not defined for option 'gpu-name'\n"
    assert main(["-arch", "sm_7O", str(SAXPY)]) == ERROR_STATUS
    assert capsys.readouterr().err == "oric: error: Value 'sm_7O' is not defined for option 'gpu-name'\n"


def test_unknown_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bogus"]) == ERROR_STATUS
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "oric: error: Unknown option '-bogus'\n"


def test_unexpected_exceptions_become_one_message(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(argv: list[str]) -> int:
        raise KeyError("planted")

    monkeypatch.setattr("oric.cli.compile.main", broken)
    monkeypatch.delenv("ORIC_DEBUG", raising=False)
    assert main(["x.ptx"]) == ERROR_STATUS
    assert "Internal compiler error. KeyError: 'planted'" in capsys.readouterr().err


def test_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert main(["-V"]) == 0
    assert f"oric {project['project']['version']}:" in capsys.readouterr().out


def test_the_drop_in_names_the_release_that_it_stands_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"], "ptxas") == 0
    assert re.search(r"release (\d+\.\d+), V13\.0\.88$", capsys.readouterr().out, re.M)


def test_the_drop_in_has_no_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disasm", "x"], "ptxas") == ERROR_STATUS
    assert "ptxas fatal   : Input file 'disasm' could not be opened\n" in capsys.readouterr().err


@pytest.mark.row("R3-10")
def test_list_knobs_prints_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of unrolling and of relocation ids among them, with the modules that read them."""
    assert main(["--list-knobs"]) == 0
    rows = {line[:28].strip(): line[29:].split() for line in capsys.readouterr().out.splitlines()}
    assert rows["unroll_factor_default"][:2] == ["15", "phases/unroll.py"]
    assert rows["relocation_id_seed"][0] == "-1" and rows["loop_unroll_threshold"][0] == "option"
    assert rows["interference_threshold"][:2] == ["50", "regalloc/allocate.py"] and rows["code_object_mode"][0] == "undocumented"
    assert len(rows) == len(ROWS) + 5
