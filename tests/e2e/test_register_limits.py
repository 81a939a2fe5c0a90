"""Registers that a thread may have, by directives and options: MAXREG_COUNT of every combination is ptxas's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from oric.cli import main
from oric.support import elf

ANSWERS = Path(__file__).with_name("register_limits.json")  # what ptxas 13.0.88 answers
DIRECTIVES = (
    "", ".maxnreg 8", ".maxnreg 24", ".maxnreg 40", ".maxnreg 255", ".maxnreg 300", ".maxntid 1024", ".maxntid 2048",
    ".reqntid 1024",
    ".maxntid 1024 .minnctapersm 2", ".maxntid 128 .minnctapersm 32", ".maxntid 512 .maxnreg 40", ".maxntid 256 .minnctapersm 9",
    ".maxntid 512 .minnctapersm 4 .maxnreg 64", ".maxntid 1024 .minnctapersm 64", ".maxnreg 100 .maxntid 1024",
    ".maxnreg 300 .maxntid 1024", ".maxnreg 128 .reqntid 1024 .minnctapersm 2", ".maxnreg 128 .reqntid 1024 .minnctapersm 3",
)  # fmt: skip
OPTIONS = (
    "", "-maxrregcount 8", "-maxrregcount 24", "-maxrregcount 40", "-maxrregcount 128", "-maxrregcount 255", "-maxrregcount 256",
    "-maxrregcount 32 -override-directive-values", "-maxrregcount 128 -override-directive-values", "-maxntid 1024",
    "-maxntid 512 -minnctapersm 2", "-maxrregcount 32 -maxntid 512", "-maxntid 4096", "-maxntid 256 -override-directive-values",
    "-maxntid 1024 -minnctapersm 2 -override-directive-values", "-func-maxrregcount 32",
)  # fmt: skip
TARGETS = ("sm_80", "sm_90")
PTX = ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry k()\n{directives}\n{{\n ret;\n}}\n"


def count(image: bytes) -> int:
    """MAXREG_COUNT of a cubin."""
    limit: int = elf.read(image).kernels["k"].max_registers
    return limit


def cases() -> list[tuple[str, str, str]]:
    return [(target, directives, options) for target in TARGETS for directives in DIRECTIVES for options in OPTIONS]


def written(folder: Path, target: str, directives: str) -> None:
    (folder / "k.ptx").write_text(PTX.format(target=target, directives=directives))


def answers(ptxas: str, folder: Path) -> dict[str, int]:
    """What ptxas makes of every case."""
    found = {}
    for case in cases():
        written(folder, *case[:2])
        command = [ptxas, "-arch", case[0], "k.ptx", "-o", "k.cubin", *case[2].split()]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        found["|".join(case)] = count((folder / "k.cubin").read_bytes())
    return found


@pytest.mark.row("R4-42", "R4-45")
def test_every_combination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted: dict[str, int] = json.loads(ANSWERS.read_text())
    assert list(wanted) == ["|".join(case) for case in cases()]
    wrong = []
    for target, directives, options in cases():
        written(tmp_path, target, directives)
        assert main(["k.ptx", "-arch", target, "-o", "k.cubin", *options.split()]) == 0
        found = count((tmp_path / "k.cubin").read_bytes())
        if found != wanted[f"{target}|{directives}|{options}"]:
            wrong.append((target, directives, options, found, wanted[f"{target}|{directives}|{options}"]))
    assert wrong == []


@pytest.mark.measure
def test_ptxas_still_says_so(ptxas: str, tmp_path: Path) -> None:
    assert answers(ptxas, tmp_path) == json.loads(ANSWERS.read_text())


OVER = "Overriding global maxrregcount 40 with entry-specific value"
TAKEN = "Overriding maximum register limit {} for 'k' with  40 of maxrregcount option"


@pytest.mark.parametrize(
    ("directives", "options", "lines"),
    [
        ("", "", [TAKEN.format(256)]),
        (".maxnreg 32", "", [f"{OVER} 32 of .maxnreg"]),
        (".maxnreg 40", "", []),
        (".maxnreg 300", "", [f"{OVER} 255 of .maxnreg"]),
        (".maxntid 1024", "", []),
        (".maxntid 1024 .minnctapersm 2", "", [f"{OVER} 32 computed using thread count"]),
        (".maxnreg 100 .maxntid 1024", "", [f"{OVER} 100 of .maxnreg"]),
        (".maxnreg 128 .maxntid 1024 .minnctapersm 2", "", [f"{OVER} 32 computed using thread count"]),
        (".maxnreg 32", "-override-directive-values", [TAKEN.format(32)]),
        (".maxntid 1024", "-override-directive-values", [TAKEN.format(256)]),
        (".minnctapersm 4", "", [TAKEN.format(256)]),
    ],
)
def test_what_is_said_of_limits(
    directives: str,
    options: str,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The lines of ptxas 13.0.88 (observed)."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "sm_90", directives)
    assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin", "-v", "-maxrregcount", "40", *options.split()]) == 0
    said = "".join(capfd.readouterr())
    assert [line.partition(": ")[2] for line in said.splitlines() if "Overriding" in line] == lines
