"""Calls of nvcc and ptxas: PTX modules of kernels, without the statements that a target does not have."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

VERSION = "9.0"
_ERROR = re.compile(r"line (\d+); (?:error|fatal)")
_ROUNDS = 12


class ToolError(Exception):
    """A tool that is not there, or that fails without saying at which line."""


@dataclass
class Module:
    """PTX functions of one name, each a list of lines. ``refused``: (function, line text, message) left out so far."""

    name: str
    head: list[str]
    functions: dict[str, list[str]]
    refused: list[tuple[str, str, str]] = field(default_factory=list)

    def text(self, target: str) -> tuple[str, list[tuple[str, int]]]:
        """The PTX text for a target, and for every line of it (from 1) which function and line of the function it is."""
        lines = [f".version {VERSION}", f".target {target}", ".address_size 64", *self.head]
        places = [("", -1)] * (len(lines) + 1)
        for name, body in self.functions.items():
            lines += body
            places += [(name, i) for i in range(len(body))]
        return "\n".join(lines) + "\n", places


def need(tool: str) -> str:
    """Path of a tool.

    Raises:
        ToolError: it is not on PATH.
    """
    found = shutil.which(tool)
    if not found:
        raise ToolError(f"{tool} is not on PATH")
    return found


def compile_module(module: Module, target: str, whole: bool = False) -> bytes | None:
    """The cubin of a module; statements that the target does not have are left out and noted in ``module.refused``.

    With ``whole`` a function goes with its first refused line. None when nothing is left.

    Raises:
        ToolError: ptxas fails without naming a line of a function.
    """
    for _ in range(_ROUNDS):
        if not module.functions:
            return None
        text, places = module.text(target)
        image, errors = run_ptxas(text, target)
        if image is not None:
            return image
        bad = {int(m[1]): line for line in errors.splitlines() if (m := _ERROR.search(line))}
        hits = {places[n]: message for n, message in bad.items() if n < len(places) and places[n][0]}
        if not hits:
            raise ToolError(f"{module.name} for {target}: ptxas: {errors.strip()[:400]}")
        _leave_out(module, hits, whole)
    raise ToolError(f"{module.name} for {target}: still errors after {_ROUNDS} rounds: {errors.strip()[:400]}")


def _leave_out(module: Module, hits: dict[tuple[str, int], str], whole: bool) -> None:
    for (name, index), message in sorted(hits.items(), key=lambda h: (h[0][0], -h[0][1])):
        body = module.functions.get(name)
        if body is None:
            continue
        module.refused.append((name, body[index], message.split(": ", 1)[-1].strip()))
        if whole:
            del module.functions[name]
        else:
            body[index] = ""


def run_ptxas(text: str, target: str) -> tuple[bytes | None, str]:
    """The cubin, or None and what ptxas says."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "module.ptx", Path(folder) / "module.cubin"
        source.write_text(text)
        command = [need("ptxas"), "-O3", "-arch", target, str(source), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return None, done.stderr + done.stdout
        return output.read_bytes(), ""


def ptx_of(source: Path, target: str) -> str:
    """The PTX that nvcc makes of a CUDA source; without paths of this machine.

    Raises:
        ToolError: nvcc refuses it.
    """
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(source, folder)
        out = Path(folder) / "out.ptx"
        architecture = target.replace("sm_", "compute_")
        command = [need("nvcc"), "-O3", "-std=c++17", f"-arch={architecture}", "-ptx", source.name, "-o", str(out)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{source.name} for {target}: {done.stderr.strip()[:800]}")
        return out.read_text()
