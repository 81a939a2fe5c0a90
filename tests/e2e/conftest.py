"""Says at the end of a run, in plain sight, which lanes were left out because a vendor tool is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Any

import pytest

LANES_LEFT_OUT: list[str] = []


@pytest.fixture(scope="session")
def nvdisasm() -> str:
    """Path of nvdisasm 13: $NVDISASM, or the one on PATH; without it the test is skipped and the summary says so."""
    path = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout if path else ""
    release = re.search(r"release (\d+)", version)
    if not path or not release or int(release[1]) < 13:
        found = f"{path} is too old" if path else "none found (PATH, $NVDISASM)"
        LANES_LEFT_OUT.append(f"nvdisasm 13: {found}; cubins were NOT compared with the vendor's disassembler")
        pytest.skip(LANES_LEFT_OUT[-1])
    return path


def _on_path(tool: str, left_out: str) -> str:
    """Path of a vendor tool; without it the test is skipped and the summary says what was left out."""
    path = shutil.which(tool)
    if not path:
        LANES_LEFT_OUT.append(f"{tool} not found on PATH: {left_out}")
        pytest.skip(LANES_LEFT_OUT[-1])
    return path


@pytest.fixture(scope="session")
def ptxas() -> str:
    """Path of ptxas."""
    return _on_path("ptxas", "random programs were NOT run as the vendor compiles them")


@pytest.fixture(scope="session")
def nvlink() -> str:
    """Path of nvlink."""
    return _on_path("nvlink", "objects were NOT linked")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in dict.fromkeys(LANES_LEFT_OUT):
        terminalreporter.section("SKIPPED LANE", sep="!")
        terminalreporter.write_line(line)
