"""A new SM target is a few lines of spec/sm_targets.yaml: no Python is touched, and everything knows of it.

Tried with sm_85, among the rows of its relatives, and with sm_99, behind all others; neither exists.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from oric_tables.targets import TARGETS

from tests import copies
from tests.e2e.commands import ROOT, environment
from tests.e2e.new_targets import KERNELS

pytestmark = pytest.mark.long
MOST_LINES = 30
# An invented Hopper: less static shared memory, and a backend that does not number values.
SM_99 = """\
  sm_99:
    inherits: sm_90
    code: true
    ptx: "9.0"
    limits: {static_shared: 8192, max_shared: 262144, shared_per_sm: 263168}
    overrides: {GvnCse: null}
    source: invented
"""
# An invented Ampere: an sm_86 for more blocks.
SM_85 = """\
  sm_85:
    inherits: sm_86
    code: true
    ptx: "9.0"
    limits: {blocks_per_sm: 24}
    source: invented
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with both targets, built; the code is that of this checkout."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "spec", root / "spec")
    (root / "runtime").symlink_to(ROOT / "runtime")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "spec"], ["commit", "-qm", "as it was"]):
        subprocess.run([*git, *words], cwd=root, check=True, capture_output=True)
    file = root / "spec" / "sm_targets.yaml"
    head, begin, rest = file.read_text(encoding="utf-8").partition("  sm_87:\n")
    assert max(len(SM_85.splitlines()), len(SM_99.splitlines())) <= MOST_LINES
    file.write_text(head + SM_85 + begin + rest + SM_99, encoding="utf-8")
    oricgen(root, "build")
    # What is compiled of the same C source is the same: only what the new targets change is compiled again.
    if (ROOT / "build" / "obj").is_dir():
        shutil.copytree(ROOT / "build" / "obj", root / "build" / "obj")
    oricgen(root, "native")
    return root


def oricgen(root: Path, *words: str, status: int = 0) -> str:
    """Run the generator on a project; what it prints."""
    command = [sys.executable, "-m", "oricgen", "--root", str(root), *words]
    done = subprocess.run(command, env=environment(**copies.quick(root)), check=False, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the copy's packages."""
    paths = ":".join(map(str, [root / "runtime", root / "build", ROOT]))
    return subprocess.run(
        [sys.executable, *words], cwd=root, env=environment(PYTHONPATH=paths), check=False, capture_output=True, text=True
    )


def test_kernels_run_as_they_should(project: Path) -> None:
    done = run(project, "-m", "tests.e2e.new_targets", str(project))
    assert done.returncode == 0, done.stderr
    assert "\t.target\tsm_85\n" in done.stdout and "\t.target\tsm_99\n" in done.stdout
    assert "FFMA" in done.stdout and "EXIT" in done.stdout


def test_command_line_knows_them(project: Path) -> None:
    listed = run(project, "-m", "oric.cli", "--list-targets").stdout
    found = [line.split()[0] for line in listed.splitlines() if "can be made" in line]
    assert set(found) == {*TARGETS, "sm_85", "sm_99"}
    assert found.index("sm_86") + 1 == found.index("sm_85") and found[-1] == "sm_99"
    phases = {arch: run(project, "-m", "oric.cli", "--list-phases", "-arch", arch).stdout for arch in KERNELS}
    runs = {arch: {line.split()[1] for line in text.splitlines() if line.endswith(" runs")} for arch, text in phases.items()}
    assert runs["sm_85"] - runs["sm_99"] == {"GvnCse"} and not runs["sm_99"] - runs["sm_85"]


def test_limits_of_the_row_hold(project: Path) -> None:
    text = ".version 9.0\n.target sm_99\n.address_size 64\n.shared .b8 s[8193];\n.entry k() {\n.reg .b32 a;\nmov.b32 a, s;\n"
    (project / "k.ptx").write_text(text + "st.shared.b32 [a], a;\nret;\n}\n", encoding="utf-8")
    done = run(project, "-m", "oric.cli", "-arch", "sm_99", "k.ptx")
    assert done.returncode == 255
    assert "Entry function 'k' uses too much shared data (0x2001 bytes, 0x2000 max)" in done.stderr
    done = run(project, "-m", "oric.cli", "-arch", "sm_90", "k.ptx")
    assert "a module for sm_99 cannot be compiled for sm_90, which is older" in done.stderr


@pytest.mark.measure
def test_reviewers_see_them(project: Path) -> None:
    """The flat file has the resolved rows and nothing else of it changes; `diff` says that no word of machine code does."""
    old, new = ((root / "build" / "flat" / "targets.txt").read_text(encoding="utf-8") for root in (ROOT, project))
    added = [line for line in new.splitlines() if line not in old.splitlines()]
    assert {line.split()[0] for line in added} == {"sm_85", "sm_99"}
    assert any(line.startswith("sm_99 limits:") and "static_shared=8192" in line for line in added)
    assert "sm_99" in oricgen(project, "explain", "sm_99")
    page = oricgen(project, "diff", "--no-kernels", status=1)
    assert "**added** `sm_99`" in page and "**added** `sm_85`" in page
    assert "No machine word reads or is encoded differently" in page


def test_rows_of_this_test_are_yaml() -> None:
    assert set(yaml.safe_load(SM_85 + SM_99)) == {"sm_85", "sm_99"}
