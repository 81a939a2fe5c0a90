"""Every mnemonic of ``cvt`` that a target takes, on special numbers and random ones, against the PTX ISA manual."""

from __future__ import annotations

from functools import cache

import pytest
from oric_tables.targets import TARGETS

from . import conversion_meaning, forms

WAYS = [("sm_90a", 3), ("sm_90a", 0), ("sm_80", 3), ("sm_100a", 3), ("sm_120a", 0)]
CHUNK = 32
NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0")  # test_narrow_floats, test_fp8


def conversions(target: str) -> list[str]:
    """The instructions, those of numbers of eight bits and less left out."""
    found = forms.forms(["convert"], target, ("cvt", "cvt.pack"))
    return [text for text in found if not any(name in text for name in NARROW) and ".rs." not in text]


@cache
def wanted(text: str) -> list[int]:
    """The results in every row of the operands."""
    mnemonic = text.split(" ", maxsplit=1)[0]
    known: dict[tuple[int, ...], int] = {}
    out = []
    for row in forms.operands():
        sources = tuple(forms.given(text, row))
        if sources not in known:
            known[sources] = conversion_meaning.convert(mnemonic, *sources)
        out.append(known[sources])
    return out


@pytest.mark.sampled(5)
@pytest.mark.row("R2-51")
@pytest.mark.parametrize(("target", "level"), [way for way in WAYS if way[0] in TARGETS])
def test_conversions(target: str, level: int) -> None:
    texts = conversions(target)
    assert len(texts) > 700
    check(texts, target, level)


@pytest.mark.parametrize("level", [0, 3])
def test_halves_that_saturate_without_the_instruction(level: int) -> None:
    texts = [text for text in conversions("sm_75") if ".satfinite." in text]
    assert {text.split(" ")[0] for text in texts} == {"cvt.rn.satfinite.f16.f32", "cvt.rz.satfinite.f16.f32"}
    check(texts, "sm_75", level)


def check(texts: list[str], target: str, level: int) -> None:
    """Run the instructions and compare every result."""
    wrong = []
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        got = forms.launch(forms.image(chunk, target, level), len(chunk), forms.operands())
        for at, text in enumerate(chunk):
            words = text.split(" ")[0].split(".")
            to = words[3] if words[1] == "pack" else words[-2]
            width = 32 if words[1] == "pack" else conversion_meaning.result_bits(to)
            mask = (1 << width) - 1
            for row, want in enumerate(wanted(text)):
                found = int(got[row, 2 * at]) & mask
                if not conversion_meaning.same("u32" if words[1] == "pack" else to, found, want):
                    wrong.append((text, [hex(x) for x in forms.given(text, forms.operands()[row])], hex(found), hex(want)))
    assert not wrong, (len(wrong), wrong[:6])
