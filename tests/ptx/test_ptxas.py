"""Extra lane: the same questions put to ptxas, when there is one (CUDA 13.0): it must answer as we do."""

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


@pytest.mark.measure
def test_ptxas_still_says_what_the_cases_say():
    wrong = []
    for file, name, text, _, theirs in reject_cases.cases():
        says = reject_cases.ptxas_says(reject_cases.expand(text))
        if says != theirs:
            wrong.append(f"{file}: {name}: {theirs} in the file, now {says}")
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
