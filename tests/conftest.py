"""Settings that all tests share."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from oric.sim.modes import Modes
from oric.sim.module import Module, Statistics

# The same examples on every run, and no limits of time: a slow machine is no failure.
settings.register_profile(
    "oric", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("oric")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--memcheck", action="store_true", help="launches that do not ask for modes have the memory checker as well")


@pytest.fixture(autouse=True)
def strict_launches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches that do not ask for modes are strict, in tests marked `memcheck` with the memory checker, and have no report."""
    launch = Module.launch
    checked = request.node.get_closest_marker("memcheck") is not None or request.config.getoption("--memcheck")
    default = Modes(strict=True, memcheck=bool(checked))

    def strict(self: Module, *args: Any, modes: Modes | None = None, **kwargs: Any) -> Statistics:
        done = launch(self, *args, modes=modes or default, **kwargs)
        assert modes is not None or [str(r) for r in done.reports] == []
        return done

    monkeypatch.setattr(Module, "launch", strict)
