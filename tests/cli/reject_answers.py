#!/usr/bin/env python3
"""What ptxas 13.0.88 prints about the broken modules of tests/ptx/reject.

    python -m tests.cli.reject_answers      # asks the ptxas on PATH, rewrites tests/data/ptx/reject_answers.json.xz

An answer is kept under a digest of the module's text, so that one about a text that has changed is none.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.ptx import reject_cases

FILE: Final = Path(__file__).resolve().parents[1] / "data/ptx/reject_answers.json.xz"
NAME: Final = "m.ptx"


def modules() -> dict[str, str]:
    """The broken modules by the names of their cases."""
    return {name: reject_cases.expand(text) for _, name, text, _, _ in reject_cases.cases()}


def digest(text: str) -> str:
    """What an answer is kept under."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def answers() -> dict[str, list[str]]:
    """The lines on standard error, by digest."""
    found: dict[str, list[str]] = json.loads(lzma.decompress(FILE.read_bytes()))
    return found


def ask(text: str) -> list[str]:
    """What the ptxas on PATH prints."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / NAME).write_text(text, encoding="utf-8")
        command = ["ptxas", "-arch", reject_cases.arch_of(text), NAME, "-o", "m.o"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        return done.stderr.splitlines()


def _main() -> None:
    texts = modules().values()
    with ThreadPoolExecutor() as pool:
        found = {digest(text): lines for text, lines in zip(texts, pool.map(ask, texts), strict=True)}
    FILE.write_bytes(lzma.compress(json.dumps(found, indent=0, sort_keys=True).encode()))


if __name__ == "__main__":
    _main()
