"""Mistakes in spec/phases.yaml, spec/structs.yaml and spec/rewrites are found, with their place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.outputs import phases, rewrites, structs
from oricgen.spec import Spec

SPEC = Path(__file__).resolve().parents[2] / "spec"


def changed(tmp_path: Path, name: str, old: str, new: str) -> Spec:
    root = tmp_path / "spec"
    shutil.copytree(SPEC, root)
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return Spec(root)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("index: 16,", "index: 17,", "phase 17 stands where 16"),
        ("name: GvnCse", "name: GeneralOptimize", "two phases are called"),
        ("function: value_numbering", "function: nothing_of_that_name", "no phase runs 'value_numbering'"),
        ("{before: sanitize, after: general_optimize_early", "{before: value_numbering, after: sanitize", "must come before"),
        ("function: sanitize, min_level: 0", "function: sanitize, min_level: 1", "required but does not run"),
        ("{index: 158, name: undocumented", "{index: 158, name: SomeName", "needs a source"),
        ("min_level: 3", "min_level: 9", "9 is above the greatest value, 5"),
    ],
)
def test_phases(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        phases.render(changed(tmp_path, "phases.yaml", old, new))
    assert caught.value.line > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{offset: 8, type: i64, name: tail", "{offset: 4, type: i64, name: tail", "overlaps"),
        ("{offset: 16, type: u32, name: first", "{offset: 17, type: u32, name: first", "not a multiple of 4"),
        ("name: tail", "name: head", "two fields are called"),
        ("size: 40", "size: 36", "beyond its size"),
        ("ptr:oric_block", "ptr:oric_nothing", "neither a plain type"),
    ],
)
def test_structs(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        structs.render(changed(tmp_path, "structs.yaml", old, new))
    assert caught.value.line > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{op: VIADD, search: [x, RZ]", "{op: VIADDX, search: [x, RZ]", "no operation 'VIADDX'"),
        ("with: [x], orders: all", "with: [z], orders: all", "names something"),
        ("any: [sign]", "any: [signs]", "no modifier 'signs'"),
        ("mods: {dir: L,", "mods: {dir: X,", "has no value 'X'"),
        ("search: [x, RZ, RZ], replace: MOV", "search: [x, RZ, RZ, RZ, RZ], replace: MOV", "fewer sources"),
        ("a * b + c", "a * b + d", "unknown names"),
        ("a * b + c", "a * b +", "no expression"),
        ("ISETP: {sources: [Ra, Rb]", "ISETP: {sources: [Ra, Rz]", "no operand 'Rz'"),
        ("LT: GT,", "LT: XX,", "no such values"),
    ],
)
def test_rewrites(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        rewrites.render(changed(tmp_path, "rewrites/algebra.yaml", old, new))
    assert caught.value.line > 0
