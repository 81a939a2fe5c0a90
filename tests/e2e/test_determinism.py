"""The same text gives the same bytes: in one process, in others, whatever the hash seed and the folder."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import oric
import pytest

from tests.e2e.commands import environment
from tests.kernels import cases

CODE = """
import hashlib, sys
import oric
from tests.kernels import cases
for file in cases.files():
    for target in cases.TARGETS:
        image = oric.compile(cases.ptx(file, target), arch=target, opt_level=int(sys.argv[1])).image
        print(file, target, hashlib.sha256(image).hexdigest())
"""


@pytest.mark.parametrize("level", [0, 3])
def test_same_bytes_in_every_process(tmp_path: Path, level: int) -> None:
    here = ""
    for file in cases.files():
        for target in cases.TARGETS:
            text = cases.ptx(file, target)
            first, second = (oric.compile(text, arch=target, opt_level=level).image for _ in range(2))
            assert first == second
            here += f"{file} {target} {hashlib.sha256(first).hexdigest()}\n"
    for seed in ("0", "12345"):
        result = subprocess.run(
            [sys.executable, "-c", CODE, str(level)], cwd=tmp_path, env=environment(PYTHONHASHSEED=seed), capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert result.stdout == here
