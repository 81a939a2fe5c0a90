"""Objects to link hold what those of ptxas hold."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import oric
import pytest

from tests.cubin import object_facts

PARTS = ("header", "symbols", "calls", "prototypes", "records", "module", "pointers", "sizes", "sections")
CASES = [(name, target) for name, _ in object_facts.texts() for target in object_facts.TARGETS]


@cache
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(object_facts.FILE.read_text())
    return found


@pytest.mark.parametrize(
    "part", ["header", "symbols", "calls", "prototypes", "records", "module", "pointers", "sizes", "sections"]
)
@pytest.mark.parametrize(("name", "target"), CASES)
def test_as_ptxas_has_it(name: str, target: str, part: str) -> None:
    text = object_facts.for_target(dict(object_facts.texts())[name], target)
    image = oric.compile(text, arch=target, relocatable=True).image
    ours = json.loads(json.dumps(object_facts.facts(image)[part]))
    assert ours == stored()[f"{name} {target}"][part]
