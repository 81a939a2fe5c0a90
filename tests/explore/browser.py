"""A headless Chromium for the tests of the explorer's page. Where there is none the tests that need it are skipped and say so."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_DRIVERS = ("chromedriver", "chromium.chromedriver")
_SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
)  # fmt: skip
_SECONDS = 60  # for what the page is to show


def _found(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def browser(width: int = 1600, height: int = 900, dark: bool = False) -> Iterator[Any]:
    """A driver (:class:`selenium.webdriver.Chrome`); skips the test where there is no browser, driver or selenium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the explorer's page is not tested: there is no selenium")
    program, driver = _found(_BROWSERS), _found(_DRIVERS)
    if program is None or driver is None:
        missing = " and ".join(n for n, p in (("Chromium", program), ("chromedriver", driver)) if p is None)
        pytest.skip(f"the explorer's page is not tested: there is no {missing} on PATH")
    with tempfile.TemporaryDirectory(prefix="oric-chromium-") as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for switch in (*_SWITCHES, f"--user-data-dir={folder}", f"--window-size={width},{height}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            if dark:
                media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
                made.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            yield made
        finally:
            made.quit()


def wait(driver: Any, script: str) -> Any:
    """Wait until an expression holds on the page; returns its value."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, _SECONDS, 0.05).until(lambda d: d.execute_script(f"return {script}"))


def show(driver: Any, where: str | Path) -> None:
    """Open a page (a file or an address) and wait until it is ready."""
    driver.get(where.resolve().as_uri() if isinstance(where, Path) else where)
    wait(driver, "document.documentElement.dataset.ready === 'yes'")


def complaints(driver: Any) -> list[str]:
    """What the page's console has of errors and warnings, other than failures that a test provokes on the network."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
