"""Says at the end of a run, in plain sight, which lanes were left out because a vendor tool is missing."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

LANES_LEFT_OUT: list[str] = []


@pytest.fixture(scope="session")
def nvdisasm() -> str:
    """Path of nvdisasm: $NVDISASM, or the one on PATH; without it the test is skipped and the summary says so."""
    path = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if not path:
        LANES_LEFT_OUT.append("nvdisasm not found (PATH, $NVDISASM): cubins were NOT compared with the vendor's disassembler")
        pytest.skip(LANES_LEFT_OUT[-1])
    return path


@pytest.fixture(scope="session")
def ptxas() -> str:
    """Path of ptxas; without it the test is skipped and the summary says so."""
    path = shutil.which("ptxas")
    if not path:
        LANES_LEFT_OUT.append("ptxas not found on PATH: random programs were NOT run as the vendor compiles them")
        pytest.skip(LANES_LEFT_OUT[-1])
    return path


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in dict.fromkeys(LANES_LEFT_OUT):
        terminalreporter.section("SKIPPED LANE", sep="!")
        terminalreporter.write_line(line)
