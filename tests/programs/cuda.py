"""PTX of CUDA sources, by nvcc 13. First lines of a source say what it needs: ``// since: 80``, ``// nvcc: options``."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.corpus.compile import ToolError, need

_COMMENT, _BLANK = re.compile(r"^\s*//[^\n]*\n", re.M), re.compile(r"^[ \t]*\n", re.M)


def since(path: Path) -> str:
    """The oldest target of a source: 75 where it does not say so."""
    found = re.search(r"^// since: (\w+)", path.read_text(encoding="utf-8"), re.M)
    return found[1] if found else "75"


def ptx(path: Path, target: str) -> str:
    """What nvcc makes of a source for a target ("90a"), without comments.

    Raises:
        ToolError: nvcc is missing or refuses it.
    """
    flags = re.search(r"^// nvcc: (.*)", path.read_text(encoding="utf-8"), re.M)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.ptx"
        options = ["-O3", "-std=c++17", "-w", *(flags[1].split() if flags else []), f"-arch=compute_{target}"]
        command = [need("nvcc"), *options, "-ptx", "-o", str(output), path.name]
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{path.stem} for {target}: {done.stderr.strip()[:800]}")
        return _BLANK.sub("", _COMMENT.sub("", output.read_text(encoding="utf-8")))
