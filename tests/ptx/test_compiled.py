"""Extra lane: the parser as mypyc compiles it passes the tests of the parser."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from oricgen.compiled import HOT, build_compiled

ROOT = Path(__file__).parents[2]


@pytest.mark.measure
def test_the_compiled_parser_passes_the_tests():
    folder = build_compiled(ROOT)
    path = [str(folder), *(str(ROOT / part) for part in ("generator", "build", "."))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", "import oric.ptx.body; print(oric.ptx.body.__file__)"]
    used = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert used.startswith(str(folder)) and not used.strip().endswith(".py")
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "not measure", "-o", f"pythonpath={' '.join(path)}", "tests/ptx"]
    done = subprocess.run(tests, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_what_is_compiled_exists():
    assert not [name for name in HOT if not (ROOT / f"runtime/oric/ptx/{name}.py").is_file()]
