"""Operand kinds: one for every operand, and those that allocation gives what it makes itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric.cli import main
from oric_tables import ops
from oric_tables.ori_operands import SLOT_KINDS, kind_of

from tests.regalloc.test_general import live_values
from tests.regalloc.test_verify import PRESSED, predicates


@pytest.mark.row("R1-33")
def test_every_operand_of_every_form_has_one_kind() -> None:
    for one in ops.OPS:
        for slot in one.operands if one is not None else ():
            assert slot.kind in SLOT_KINDS
            assert (kind_of(slot.kind, slot.name) != 0) == (slot.kind != "none"), (one, slot)


def dumped(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> list[tuple[str, list[str]]]:
    """By instruction its text and the kinds of its operands, with their names."""
    assert main(["dump", "--descriptors", str(path), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("/*"):
            found.append((line.partition("*/ ")[2], []))
        elif line.startswith("    kinds    "):
            found[-1] = (found[-1][0], line.partition("kinds    ")[2].split("; "))
    return found


@pytest.mark.row("R1-33")
def test_what_allocation_makes_is_marked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(PRESSED.format(body=live_values(60, "u32")))
    found = dumped(capsys, path, "-arch", "sm_90", "-maxrregcount", "24")
    seen = {kind.partition(" ")[2] for _, kinds in found for kind in kinds}
    assert seen == {"R/UR register", "offset", "regular", "remat", "spill-refill"}
    for text, kinds in found:
        moves = re.match(r"(?:@!?P\d )?(LDL|STL)\b", text)
        assert bool(moves) == any(kind.endswith("spill-refill") for kind in kinds), text
    for limit, kind, forms in (("64", "R2P / P2R", "SEL|ISETP"), ("24", "bit-spill", "LOP3")):
        path.write_text(PRESSED.format(body=predicates(40)))
        marked = [
            text
            for text, kinds in dumped(capsys, path, "-arch", "sm_90", "-maxrregcount", limit)
            for k in kinds
            if k.endswith(kind)
        ]
        assert len(marked) > 20
        assert all(re.search(rf"\b({forms})\b", text) for text in marked)
