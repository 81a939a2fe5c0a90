"""Reader of the files in tests/ptx/reject: broken modules with the errors that they must give.

A case is ``=== name``, the text, ``---``, the expected lines ``LINE:COL: error: MESSAGE`` and ``ptxas: LINE``, what ptxas
13.0.88 says of it: the line of its first error, 0 when it gives none, ``accepts`` when it takes the module. In the text a
line ``@header`` stands for the three header lines, ``@kernel`` for them, an entry's opening and some registers (closed by
``@end``), so that cases stay short; line numbers count in the text as expanded.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, diagnostics_for

FOLDER = Path(__file__).parent / "reject"
BLESS = "ORIC_BLESS=1 python3 -m pytest tests/ptx/test_reject.py"
HEADER = ".version 9.0\n.target sm_90\n.address_size 64"
REGISTERS = (
    ".reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;"
    " .reg .pred %p<9>; .reg .u32 %u<9>; .reg .s32 %s<9>; .reg .b128 %rq<9>;"
)
ACCEPTS = "accepts"
PTXAS_TARGETS = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
KERNEL = f"{HEADER}\n.visible .entry k(.param .u64 kp, .param .align 8 .b8 ks[16])\n{{\n{REGISTERS}"


def expand(text: str) -> str:
    """The module that a case stands for."""
    lines = {"@header": HEADER, "@kernel": KERNEL, "@end": "ret;\n}"}
    return "\n".join(lines.get(line, line) for line in text.split("\n"))


def cases() -> list[tuple[str, str, str, str, str]]:
    """(file, name, text as written, expected errors, what ptxas says) of all cases."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = block.partition("\n")
            text, _, expected = rest.partition("\n---\n")
            expected, _, theirs = expected.partition("ptxas:")
            found.append((path.name, name, text, expected.strip(), theirs.strip()))
    return found


def ptxas_says(text: str) -> str:
    """The line of ptxas's first error (0: without a line), or ``accepts``; "" when there is no ptxas."""
    if shutil.which("ptxas") is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ptx"
        path.write_text(text, encoding="utf-8")
        command = ["ptxas", "-arch", arch_of(text), str(path), "-o", str(Path(folder) / "m.o")]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return ACCEPTS
    lines = [int(m) for m in re.findall(r"line (\d+); (?:error|fatal)", done.stderr)]
    return str(min(lines, default=0))


def arch_of(text: str) -> str:
    """The -arch to give ptxas: the module's target, or sm_90 for one that it makes no code for."""
    match = re.search(r"\.target\s+sm_(\d+)([af]?)", text)
    return f"sm_{match[1]}{match[2]}" if match is not None and int(match[1]) in PTXAS_TARGETS else "sm_90"


def errors_of(text: str) -> str:
    """The errors of a module, one line each, without file name and source lines."""
    diag = diagnostics_for(text, "f")
    with contextlib.suppress(CompileError):
        parse_module(text, "f", Recorder(diag.source), None, diag)
    lines = []
    for item in diag.sorted():
        lines += [diag.headline(item).removeprefix("f:"), *(f"  note: {note}" for note in item.notes)]
    return "\n".join(lines)


def bless() -> None:
    """Write the errors found today into the files, and where there is a ptxas what it says."""
    found = cases()
    for path in sorted(FOLDER.glob("*.txt")):
        head = path.read_text(encoding="utf-8").split("=== ")[0]
        blocks = []
        for file, name, text, _, theirs in found:
            if file == path.name:
                module = expand(text)
                blocks.append(f"=== {name}\n{text}\n---\n{errors_of(module)}\nptxas: {ptxas_says(module) or theirs}\n")
        path.write_text(head + "".join(blocks), encoding="utf-8")


def blessing() -> bool:
    """True when the expectations are to be rewritten."""
    return os.environ.get("ORIC_BLESS") == "1"
