"""Extra lane: the same questions put to ptxas, when there is one (CUDA 13.0): it must answer as we do."""

import re
import shutil
import subprocess
import warnings

import pytest

from tests.ptx import reject_cases
from tests.ptx.agreement import ours, ptxas
from tests.ptx.signature_examples import examples

CAPTURE = {"capture_output": True, "text": True, "check": False}
PTXAS = shutil.which("ptxas")


@pytest.fixture(autouse=True)
def _needs_ptxas():
    if PTXAS is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, the comparison with the vendor's assembler was left out")


def first_error_line(text, arch, tmp_path):
    """Line of ptxas's first error, None when it accepts the module."""
    path = tmp_path / "m.ptx"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [PTXAS, "-arch", arch, str(path), "-o", str(tmp_path / "m.o")], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    lines = [int(m) for m in re.findall(r"line (\d+); (?:error|fatal)", done.stderr)]
    return min(lines, default=0)


# Broken differently: several mistakes, of which ptxas reports another one first, or it reports the end of the file.
ELSEWHERE = {"tables", "section"}
# Texts that ptxas takes and we refuse, each with the reason.
STRICTER = {
    "register of a range written with a leading zero": "%r02 for %r2 is not in the manual's grammar",
    "too large integer": "ptxas cuts a decimal constant to 64 bits without a word",
    "expression nested too deeply": "ptxas takes some hundred levels, we 100",
}


def test_ptxas_rejects_what_we_reject(tmp_path):
    wrong = []
    for file, name, text, expected in reject_cases.cases():
        module = reject_cases.expand(text)
        ours = int(expected.split(":")[0])
        theirs = first_error_line(module, "sm_90" if "sm_75" not in module else "sm_75", tmp_path)
        if name in STRICTER:
            continue
        if theirs is None or (theirs and abs(theirs - ours) > 1 and name not in ELSEWHERE):
            wrong.append(f"{file}: {name}: ours {ours}, ptxas {theirs}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.measure
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_signatures_as_ptxas(target):
    """Every generated instruction: ptxas and we accept the same ones for a target."""
    texts = list(dict.fromkeys(example.text for example in examples()))
    pairs = zip(texts, ours(texts, target), ptxas(texts, target), strict=True)
    assert not [text for text, mine, theirs in pairs if mine.accepted != theirs.accepted]


def test_ptxas_version():
    done = subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True)
    if "release 13.0" not in done.stdout:
        warnings.warn(f"compared with another ptxas than 13.0: {done.stdout.splitlines()[-1]}", stacklevel=1)
