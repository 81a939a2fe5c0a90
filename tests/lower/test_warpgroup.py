"""Products of warp groups (wgmma) made by this compiler: the programs and the checks of the simulator's own tests."""

from __future__ import annotations

from collections.abc import Iterator

import oric
import oric.sim
import pytest

from tests.sim import test_warpgroup as products
from tests.sim.group_forms import GROUPS, Group, module_text

LEVELS = (0, 1, 3)


@pytest.fixture(scope="module", params=LEVELS, ids=lambda level: f"O{level}")
def loaded(request: pytest.FixtureRequest) -> oric.sim.Module:
    """All programs, compiled at a level; the hazard checker finds nothing in them."""
    made = oric.compile(module_text(), arch="sm_90a", opt_level=request.param)
    return oric.sim.load(made.image)


@pytest.fixture(autouse=True)
def instead(loaded: oric.sim.Module, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The simulator's tests take these programs."""
    monkeypatch.setattr(products, "module", lambda: loaded)
    yield


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)
def test_products(group: Group) -> None:
    """Every type and size, sparse, from registers and from shared memory, in strict mode."""
    products.test_products(group)
