"""Objects to link, and extensible whole programs, hold what those of ptxas hold."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import oric
import pytest

from tests.cubin import object_facts
from tests.cubin.object_facts import KINDS

PARTS = ("header", "symbols", "calls", "prototypes", "records", "module", "pointers", "sizes", "sections")
CASES = [(kind, name, target) for kind in KINDS for name, _ in object_facts.texts(kind) for target in object_facts.TARGETS]


@cache
def stored(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(object_facts.file_of(kind).read_text())
    return found


@cache
def made(kind: str, name: str, target: str) -> dict[str, Any]:
    text = object_facts.for_target(dict(object_facts.texts(kind))[name], target)
    found: dict[str, Any] = json.loads(json.dumps(object_facts.facts(oric.compile(text, arch=target, **KINDS[kind].ours).image)))
    return found


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(("kind", "name", "target"), CASES)
def test_as_ptxas_has_it(kind: str, name: str, target: str, part: str) -> None:
    assert made(kind, name, target)[part] == stored(kind)[f"{name} {target}"][part]


@pytest.mark.parametrize("kind", KINDS)
def test_every_module_is_stored(kind: str) -> None:
    assert set(stored(kind)) == {f"{name} {target}" for k, name, target in CASES if k == kind}
