"""Settings that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from oric.regalloc.verify import ALWAYS
from oric.sim.modes import Modes
from oric.sim.module import Module, Statistics

from tests import campaigns, rows

# The same examples on every run, and no limits of time: a slow machine is no failure.
settings.register_profile(
    "oric", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("oric")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--memcheck", action="store_true", help="launches that do not ask for modes have the memory checker as well")


_modes = [Modes(strict=True)]  # of the test that runs


def pytest_runtest_setup(item: pytest.Item) -> None:
    checked = item.get_closest_marker("memcheck") is not None or item.config.getoption("--memcheck")
    _modes[0] = Modes(strict=True, memcheck=bool(checked))


@pytest.fixture(autouse=True, scope="session")
def proved_allocations() -> None:
    """Every allocation is proved."""
    ALWAYS[0] = True


@pytest.fixture(autouse=True, scope="session")
def strict_launches() -> Iterator[None]:
    """Launches that do not ask for modes are strict, in tests marked `memcheck` with the memory checker, and have no report."""
    launch = Module.launch

    def strict(self: Module, *args: Any, modes: Modes | None = None, **kwargs: Any) -> Statistics:
        done = launch(self, *args, modes=modes or _modes[0], **kwargs)
        assert modes is not None or [str(r) for r in done.reports] == []
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Module, "launch", strict)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Samples are marked before marks select; tests that take many seconds begin first, so that several processes end together.

    Raises:
        pytest.UsageError: a row that does not exist.
    """
    campaigns.leave_to_measure(items)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    marks = {(item.nodeid.partition("[")[0], mark.args) for item in items for mark in item.iter_markers("row")}
    for test, ids in sorted(marks):
        if not ids or rows.unknown(ids):
            raise pytest.UsageError(f"{test}: tests/rows.yaml has no row {', '.join(rows.unknown(ids)) or 'without an id'}")
