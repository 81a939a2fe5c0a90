"""Which instructions ptxas makes of each form of some families of PTX, as a table.

``python -m tests.e2e.vendor_instructions`` writes it. A line has a target, the PTX statement and the instructions that matter
with their modifiers, in order; operands are left out, and what computes addresses and loops over the threads' values. The tests
read the table and need no ptxas.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from oric.sass.code import Code
from oric.support import elf

from tests import coverage
from tests.ptx.agreement import OBJECTS, module

TABLE = Path(__file__).resolve().parents[1] / "data" / "vendor_instructions.txt"
TARGETS = ("sm_80", "sm_90a")
FAMILIES = ("mbarrier", "async", "control")
_MATTER = re.compile(
    r"(SYNCS|ATOMS?|LDGSTS|LDGDEPBAR|DEPBAR|ARRIVES|STAS|REDAS|MEMBAR|ERRBAR|CGAERRBAR|CCTL|NANOSLEEP|PMTRIG|BPT|PREEXIT|ACQBULK)\b"
)


_RESULT = re.compile(r"[\w.:]+ (%(u64|u32|pred)_0), ")
_READ = {
    "u64": "st.global.u64 [%u64_1], %u64_0;",
    "u32": "st.global.u32 [%u64_1], %u32_0;",
    "pred": "@%pred_0 st.global.u64 [%u64_1], %u64_1;",
}


def source(target: str, text: str) -> str:
    """A kernel with one statement, whose result is stored."""
    ptx, _ = module(coverage.VERSION, target, [text])
    ptx = ptx if "tex0" in text or "srf0" in text else ptx.replace(OBJECTS, "")
    result = _RESULT.match(text)
    return ptx.replace(f"{text};", f"{text}; {_READ[result[2]]}") if result else ptx


def instructions(image: bytes) -> list[str]:
    """The instructions of a cubin that matter: mnemonics with modifiers, in order."""
    cubin = elf.read(image)
    found = []
    for function in cubin.functions.values():
        for line in Code(elf.model_of(cubin), function.text).texts():
            mnemonic = next(word for word in line.split() if not word.startswith("@"))
            if _MATTER.match(mnemonic):
                found.append(mnemonic)
    return found


def vendor(target: str, text: str) -> list[str] | None:
    """What ptxas makes of a statement, None when it refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.ptx").write_text(source(target, text))
        made = subprocess.run(
            ["ptxas", f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=folder, capture_output=True, check=False
        )
        return instructions(Path(folder, "k.cubin").read_bytes()) if made.returncode == 0 else None


def rows() -> list[tuple[str, str, list[str]]]:
    """The table: target, statement, instructions."""
    lines = (line.split(" | ") for line in TABLE.read_text().splitlines() if line and not line.startswith("#"))
    return [(target, text, made.split()) for target, text, made in lines]


def main() -> None:
    """Write the table anew."""
    questions = [(target, text) for target in TARGETS for family in FAMILIES for text in coverage.texts(family, target)]
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda question: vendor(*question), questions))
    lines = ["# Made by tests/e2e/vendor_instructions.py with ptxas 13.0.88. Do not edit."]
    lines += [f"{target} | {text} | {' '.join(made)}" for (target, text), made in zip(questions, answers, strict=True) if made]
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
