"""Which products and sums are fused; the bits are compared in tests/e2e/test_vendor_contraction.py."""

from __future__ import annotations

from collections import Counter

import pytest
from oric.driver import CompileOptions, compile_text
from oric.sass.instruction import disassemble
from oric.support import elf

from .contraction import CASES, Case

_FUSED = ("FFMA", "DFMA", "HFMA2", "FFMA2")
_REST = ("FMUL", "FADD", "DMUL", "DADD", "HMUL2", "HADD2", "FMUL2", "FADD2")


def _operations(text: str, arch: str, **options: object) -> tuple[int, int]:
    """How many operations are fused, and how many products and sums are left."""
    image = compile_text(text, CompileOptions(arch, **options)).image  # type: ignore[arg-type]
    lines = disassemble(elf.read(image).section(".text.k").data, arch)
    words = (word for line in lines for word in line.split() if word[0].isalpha())
    found = Counter(word.split(".")[0].rstrip(";") for word in words)
    return sum(found[op] for op in _FUSED), sum(found[op] for op in _REST)


def _arch(case: Case, kind: str) -> str:
    return "sm_100" if kind == "f32x2" else "sm_90"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_fused(case: Case) -> None:
    for kind in case.types:
        got = _operations(case.text(kind, _arch(case, kind)), _arch(case, kind))
        scaling = 4 if "div.full" in case.body else 0  # products that scale the operands
        assert got == (case.fused, case.rest if not scaling else got[1]), kind


def test_nothing_is_fused_without_the_option_or_at_level_0() -> None:
    for kind in CASES[0].types:
        arch = _arch(CASES[0], kind)
        text = CASES[0].text(kind, arch)
        assert _operations(text, arch, contract=False) == _operations(text, arch, opt_level=0) == (0, 2), kind
        assert _operations(text, arch, opt_level=1) == (1, 0), kind
