"""The simulator's tests of tensor memory with programs of this compiler in place of the stored ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import oric.sim
import pytest

from tests.sim import test_tensor_memory as memory

LEVELS = (0, 1, 3)


def programs_instead(made: Callable[[str, int], bytes]) -> Any:
    """A fixture: the tests of a module take what ``made`` gives for a target and a level, at each level."""

    @pytest.fixture(autouse=True, params=LEVELS, ids=lambda level: f"O{level}")
    def instead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        level = request.param

        def cubin(name: str, target: str) -> bytes:
            return made(target, level)

        monkeypatch.setattr(memory, "cubin", cubin)
        monkeypatch.setattr(memory, "module", lambda: oric.sim.load(made("sm_100a", level)))

    return instead
