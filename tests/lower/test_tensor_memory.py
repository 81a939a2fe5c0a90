"""Tensor memory (tcgen05) with code of this compiler: the programs and the checks of the simulator's own tests."""

from __future__ import annotations

from typing import Any

import oric
import oric.sim
import pytest

from tests.sim import test_tensor_memory as memory
from tests.sim.tensor_forms import extremes_text, module_text

LEVELS = (0, 1, 3)
_cubins: dict[tuple[str, int], bytes] = {}


def made(target: str, level: int) -> bytes:
    """All programs for a target, compiled at a level."""
    key = target, level
    if key not in _cubins:
        text = module_text() if target == "sm_100a" else extremes_text()
        _cubins[key] = oric.compile(text, arch=target, opt_level=level).image
    return _cubins[key]


@pytest.fixture(autouse=True, params=LEVELS, ids=lambda level: f"O{level}")
def instead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator's tests take these programs."""
    level = request.param

    def cubin(name: str, target: str) -> bytes:
        return made(target, level)

    monkeypatch.setattr(memory, "cubin", cubin)
    monkeypatch.setattr(memory, "module", lambda: oric.sim.load(made("sm_100a", level)))


def _of(name: str) -> Any:
    return getattr(memory, name)


test_loads_and_stores = _of("test_loads_and_stores")
test_loads_with_an_extreme = _of("test_loads_with_an_extreme")
test_copies = _of("test_copies")
test_products = _of("test_products")
test_pair_of_ctas = _of("test_pair_of_ctas")
test_pair_allocates_alike = _of("test_pair_allocates_alike")
