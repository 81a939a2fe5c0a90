"""Every dump of real kernels is valid by the schema of its kind, and looking changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import oric
import pytest
from oric.cli import ERROR_STATUS, main
from oric.driver import CompileOptions, compile_text
from oric.driver.observing import Observer
from oric.inside.kinds import KINDS, TIMING, schema_of

from tests.inside.looking import kernel
from tests.kernels import cases

ALL = [f"--{name}" for name in (*KINDS, TIMING)]
EARLY = [f"--{name}" for name in KINDS if name != "schedule"]


def records(capsys: pytest.CaptureFixture[str], *words: str) -> list[Any]:
    assert main(["dump", "--json", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found: list[Any] = json.loads(captured.out)
    return found


@pytest.mark.parametrize("kind", [*KINDS, TIMING])
def test_schemas_say_everything(kind: str) -> None:
    """Each is a schema, names its kind, and takes no property that it does not name."""
    schema = schema_of(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["dump"] == {"const": kind} and schema["additionalProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"dump": kind}, schema)


@pytest.mark.measure
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_dumps_of_kernels_are_valid(arch: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validators = {kind: jsonschema.Draft202012Validator(schema_of(kind)) for kind in (*KINDS, TIMING)}
    seen = set()
    for path in sorted(cases.HERE.glob(f"*.{arch}.ptx")):
        (tmp_path / "k.ptx").write_text(path.read_text())
        phases = ["0", "AnalyzeControlFlow", "GeneralOptimizeEarly", "ReportBeforeScheduling"]
        found = records(capsys, *ALL, str(tmp_path / "k.ptx"), "-arch", arch)
        found += records(capsys, *EARLY, "--after", ",".join(phases), str(tmp_path / "k.ptx"), "-arch", arch)
        for record in found:
            validators[record["dump"]].validate(record)
            seen.add(record["dump"])
    assert seen == {*KINDS, TIMING}


@pytest.mark.parametrize("name", ["reduction", "switch", "sgemm"])
@pytest.mark.parametrize("level", [0, 3])
def test_looking_behind_every_phase_changes_nothing(name: str, level: int) -> None:
    """The code is the same byte for byte, and the verifier has nothing to say of analyses that were made meanwhile."""
    seen = []

    def look(f: Any, facts: Any, _: float) -> None:
        for kind in KINDS:
            if kind != "schedule":
                seen.append(KINDS[kind].record(f, facts))

    options = CompileOptions("sm_90", level, observer=Observer(("all",), look), verify=True)
    assert compile_text(kernel(name), options).image == oric.compile(kernel(name), "sm_90", opt_level=level).image
    assert len({record["phase"]["index"] for record in seen}) > 20


def test_text_and_records_are_the_same_every_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("reduction"))
    words = ["dump", *(name for name in ALL if name != f"--{TIMING}"), str(path), "-arch", "sm_90"]
    out = []
    for more in ([], [], ["--json"], ["--json"]):
        assert main([*words, *more]) == 0
        out.append(capsys.readouterr().out)
    assert out[0] == out[1] and out[2] == out[3]


def test_a_file_takes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "k.ptx", tmp_path / "out"
    path.write_text(kernel("reduction"))
    words = ["dump", "--cfg", "--live", "--after=AnalyzeControlFlow", str(path), "-arch", "sm_90"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert main([*words, "-o", str(out)]) == 0
    captured = capsys.readouterr()
    assert (
        captured.out == captured.err == ""
        and out.read_text() == shown
        and shown.count(" after phase 3 AnalyzeControlFlow: live\n") == shown.count("after phase 3 AnalyzeControlFlow") / 2 > 0
    )


@pytest.mark.row("R3-17")
def test_one_stream_takes_all_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Dump, trace, profile, times and statistics are in the file, in the order in which they come; nothing is printed."""
    path, out = tmp_path / "k.ptx", tmp_path / "out"
    path.write_text(kernel("saxpy"))
    words = [str(path), "-arch", "sm_90", "-o", str(tmp_path / "k.cubin"), "--dump-ir", "AnalyzeControlFlow", "--ftrace",
             "--profile=full", "--time-phases", "--compiler-stats=time,memory"]  # fmt: skip
    assert main([*words, f"--stats={out}"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    text = out.read_text()
    parts = [
        "ftrace: ",
        "[tepid=",
        "after phase 3 AnalyzeControlFlow",
        "# instr/R-regs: ",
        "  OCG ",
        "CompileTime = ",
        "DAGgen-time : ",
    ]
    assert all(text.count(part) for part in parts) and [text.rindex(part) for part in parts[3:]] == sorted(
        text.rindex(part) for part in parts[3:]
    )
    assert main([*words, "--stats"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("ftrace: ") and "CompileTime" in captured.err, "without a file each has its own stream"


def test_no_file_where_there_is_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "k.ptx", tmp_path / "out"
    path.write_text(kernel("saxpy").replace("fma", "fam"))
    assert main([str(path), "-arch", "sm_90", "-o", str(tmp_path / "k.cubin"), "--ftrace", f"--stats={out}"]) == ERROR_STATUS
    assert main(["dump", "--cfg", str(path), "-arch", "sm_90", "-o", str(out)]) == ERROR_STATUS
    assert not out.exists() and not (tmp_path / "k.cubin").exists() and "fam" in capsys.readouterr().err


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("saxpy"))
    good = [str(path), "-arch", "sm_90"]
    for words, said in {
        ("--cfg", "--after"): "'--after' needs the name or number of a phase",
        ("--cfg", "--after=nowhere"): "there is no phase 'nowhere' (see --list-phases)",
        ("--cfg", "--after", "49", "-O0"): "phase 49 GvnCse does not run with these options (see --list-phases)",
        ("--cfg", "--function", "x"): "there is no function 'x' (there is saxpy)",
        ("--schedule", "--after", "3"): "'saxpy' is not scheduled after phase 3 AnalyzeControlFlow",
        ("--timing", "--after", "3"): "option '--after' means nothing to 'oric dump --timing': it tells of all phases",
        ("--ocg", "--json"): "option '--json' means nothing to 'oric dump --ocg'",
        ("--ocg", "--cfg", "-o", "x"): "option '--output-file' means nothing to 'oric dump --ocg --cfg'",
        ("--cfg", "-o", "/nowhere/x"): "Output file '/nowhere/x' could not be written: No such file or directory",
    }.items():
        order = [*words, *good] if words[-1] != "--after" else [*good, *words]
        assert main(["dump", *order]) == ERROR_STATUS, words
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err == f"oric: error: {said}\n"


def test_schemas_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ALL:
        assert main(["dump", kind, "--schema"]) == 0
        assert json.loads(capsys.readouterr().out) == schema_of(kind[2:])
