"""The peak of a process is its own."""

import subprocess
import sys

MB = 1024  # KB


def test_what_a_process_had_counts() -> None:
    code = "from oric.support.memory import peak_memory; held = b'1' * (64 << 20); del held; print(peak_memory())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 64 * MB


def test_the_parents_memory_does_not_count() -> None:
    held = b"\1" * (256 * MB * 1024)
    done = subprocess.run(
        [sys.executable, "-c", "from oric.support.memory import peak_memory; print(peak_memory())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(done.stdout) < len(held) // 1024
