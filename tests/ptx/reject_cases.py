"""Reader of the files in tests/ptx/reject: broken modules with the errors that they must give.

A case is ``=== name``, the text, ``---`` and the expected lines ``LINE:COL: error: MESSAGE``. In the text a line ``@header``
stands for the three header lines, ``@kernel`` for them, an entry's opening and some registers (closed by ``@end``), so that
cases stay short; line numbers count in the text as expanded.
"""

import contextlib
import os
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
KERNEL = f"{HEADER}\n.visible .entry k(.param .u64 kp, .param .align 8 .b8 ks[16])\n{{\n{REGISTERS}"


def expand(text: str) -> str:
    """The module that a case stands for."""
    lines = {"@header": HEADER, "@kernel": KERNEL, "@end": "ret;\n}"}
    return "\n".join(lines.get(line, line) for line in text.split("\n"))


def cases() -> list[tuple[str, str, str, str]]:
    """(file, name, text as written, expected errors) of all cases."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = block.partition("\n")
            text, _, expected = rest.partition("\n---\n")
            found.append((path.name, name, text, expected.strip()))
    return found


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
    """Write the errors found today into the files."""
    for path in sorted(FOLDER.glob("*.txt")):
        head = path.read_text(encoding="utf-8").split("=== ")[0]
        blocks = [f"=== {name}\n{text}\n---\n{errors_of(expand(text))}\n" for file, name, text, _ in cases() if file == path.name]
        path.write_text(head + "".join(blocks), encoding="utf-8")


def blessing() -> bool:
    """True when the expectations are to be rewritten."""
    return os.environ.get("ORIC_BLESS") == "1"
