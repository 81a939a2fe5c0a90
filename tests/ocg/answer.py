"""What a compiler answers to a call: the words of its message, or the instructions that do the work, without registers."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import oric
from oric.cli.words import in_ptxas_words
from oric.sass.listing import list_cubin
from oric.support.elf import read
from oric.support.ocg_source import module

CRASH: Final = "!"  # in front of what is no message: ptxas ends by itself
CODE: Final = "="  # in front of instructions
_PATIENCE: Final = 5  # seconds; ptxas needs hundredths of one
_INTERNAL: Final = "Internal compiler error"
_PTXAS: Final = re.compile(r"^ptxas (?:\S+, line \d+; )?(?:fatal|error) *: ")
_ABORTED: Final = "Ptx assembly aborted due to errors"
# What stands around a call in every kernel of such a module: loads of arguments, stores of results, moves to and from uniform
# registers, the loop over threads of what reads these, and the end.
_AROUND: Final = re.compile(
    r"(U?LDC(U|\.64|\.128)* U?R\d+, c\[0x0\]\S*|LDG|STG|EXIT|NOP|MOV|UMOV|R2UR|CS2R R\d+, SRZ|BSSY|BSYNC|WARPSYNC|VOTEU?|ELECT"
    r"|PLOP3|UPLOP3|BRA|IMAD\.MOV|IMAD\.U32 R\d+, RZ, RZ|IMAD\.SHL|HFMA2 R\d+, -RZ, RZ|FLO|UFLO|POPC|UPOPC|SEL|USEL|UISETP"
    r"|ISETP|R2P|P2R|RPCMOV\.32|RET\.REL\.NODEC)(?!\w)"
)
_NAMES: Final = ((re.compile(r"\b(UR|R|UP|P)\d+\b"), r"\1"), (re.compile(r"\bURZ\b"), "UR"), (re.compile(r"(?<!\.)\bRZ\b"), "R"))
_REUSE: Final = re.compile(r"\.reuse\b")


def of_ptxas(ptxas: str, target: str, call: str, params: str, variables: bool = False) -> str:
    """The answer of ptxas."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_text(module([(call, params)], target, variables))
        command = [ptxas, "-arch", target, str(source), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return f"{CRASH} no end"
        if done.returncode == 0:
            return of_code(made.read_bytes())
    lines = [_PTXAS.sub("", line) for line in (done.stderr + done.stdout).splitlines() if not line.startswith("ptxas warning")]
    told = [line for line in lines if line and line != _ABORTED]
    if done.returncode < 0 or not told or any(_INTERNAL in line for line in told):
        return f"{CRASH} {told[0] if told else f'signal {-done.returncode}'}"
    return told[0]


def of_ours(target: str, call: str, params: str, variables: bool = False, opt_level: int = 3) -> str:
    """The answer of the compiler."""
    try:
        made = oric.compile(module([(call, params)], target, variables), target, opt_level, verify=False)
    except oric.CompileError as error:
        told = in_ptxas_words(error.diagnostics, target)
        return next(line.text for line in told if line.severity != "warning")
    return of_code(made.image)


def of_code(cubin: bytes) -> str:
    """The instructions of a cubin that do the work, sorted."""
    found = []
    for function in list_cubin(read(cubin)).functions:
        for line in function.lines:
            text = re.sub(r"^@!?U?P\w+ ", "", line.text.strip().rstrip(";").strip())
            if not _AROUND.match(text):
                for pattern, name in _NAMES:
                    text = pattern.sub(name, text)
                found.append(_REUSE.sub("", text))
    return f"{CODE} {' ; '.join(sorted(found))}".strip()
