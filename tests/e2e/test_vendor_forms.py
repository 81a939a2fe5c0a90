"""Every mnemonic of arithmetic, conversions, bits and comparisons: ptxas's code gives the same as ours, on special numbers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from oric_tables.targets import TARGETS

from tests.lower import forms

FAMILIES = ("convert", "arith", "bits", "compare")
CHUNK = 32
SOME = [("sm_90a", "convert"), ("sm_90a", "arith"), ("sm_90a", "bits"), ("sm_100a", "convert"), ("sm_120a", "arith")]
SOME = [(target, family) for target, family in SOME if target in TARGETS]
# Two families of each target, at one of two levels.
TURNS = [
    (target, family, 3 * ((i // 2 + j // 2) % 2))
    for i, target in enumerate(TARGETS)
    for j, family in enumerate(FAMILIES)
    if (i + j) % 2 == 0
]
# docs/deviations.md, "Integer instructions", "Floating-point arithmetic and conversions"
OTHERWISE = re.compile(r"testp\.f(32|64) ")
REFUSED = {"sm_75": re.compile(r"cvt\.r[nz]\.satfinite\.f16\.f32 ")}  # ptxas makes words of them that sm_75 does not have


def vendor(ptxas: str, folder: Path, text: str, target: str) -> bytes:
    """What ptxas makes of a module."""
    (folder / "k.ptx").write_text(text, encoding="utf-8")
    command = [ptxas, f"-arch={target}", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "k.cubin").read_bytes()


def differing(ptxas: str, folder: Path, texts: list[str], target: str, level: int) -> list[tuple[object, ...]]:
    """The first results in which the two differ: instruction, sources, our result, theirs."""
    inputs = forms.operands()
    wrong: list[tuple[object, ...]] = []
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        mine = forms.launch(forms.image(chunk, target, level), len(chunk), inputs)
        theirs = forms.launch(vendor(ptxas, folder, forms.kernel(chunk, target)[0], target), len(chunk), inputs)
        for at, text in enumerate(chunk):
            a, b = mine[:, 2 * at : 2 * at + 2], theirs[:, 2 * at : 2 * at + 2]
            for row in np.flatnonzero((a != b).any(axis=1))[:1]:
                sources = [hex(x) for x in forms.given(text, inputs[row])]
                wrong.append((text, sources, [hex(int(x)) for x in a[row]], [hex(int(x)) for x in b[row]]))
    return wrong


def agreed(family: str, target: str) -> list[str]:
    """The instructions on which the two agree; moves among special registers and variables are not of this kind."""
    names = ("cvt", "cvt.pack") if family == "convert" else ()
    return [
        text
        for text in forms.forms([family], target, names)
        if not (OTHERWISE.match(text) or (target in REFUSED and REFUSED[target].match(text)))
    ]


@pytest.mark.sampled(5)
@pytest.mark.row("R2-48", "R2-50", "R2-51")
@pytest.mark.parametrize(("target", "family"), SOME)
def test_some_targets(ptxas: str, tmp_path: Path, target: str, family: str) -> None:
    wrong = differing(ptxas, tmp_path, agreed(family, target), target, 3)
    assert not wrong, (len(wrong), wrong[:6])


@pytest.mark.row("R2-48", "R2-50", "R2-51")
@pytest.mark.measure
@pytest.mark.parametrize(("target", "family", "level"), TURNS)
def test_every_target(ptxas: str, tmp_path: Path, target: str, family: str, level: int) -> None:
    wrong = differing(ptxas, tmp_path, agreed(family, target), target, level)
    assert not wrong, (len(wrong), wrong[:6])
