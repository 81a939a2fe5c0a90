"""`oric explain ocg:NAME`: the pages of intrinsics."""

from __future__ import annotations

from pathlib import Path

import oric
import pytest
from oric.cli import ERROR_STATUS, main
from oric.driver.explain import explain as explained
from oric.driver.explain import page
from oric_tables import ocg
from oric_tables.intrinsics import OPERATIONS

from tests.ocg.docs import pages


def explain(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["explain", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = explain(capsys, "ocg:add", "--sm", "sm_90a")
    assert (status, err) == (0, "")
    for text in ("# ocg:add", "| sat | sat |", "C7307", "## Example for sm_90a", "IADD3"):
        assert text in out


def test_from_python() -> None:
    assert oric.explain("ocg:tcmma", "sm_103a") == "\n".join(page("tcmma", "sm_103a")) + "\n" == explained("ocg:tcmma", "sm_103a")
    for name, target in (("tcmma", "sm_100a"), ("ocg:tcma", "sm_100a"), ("ocg:tcmma", "sm_1")):
        with pytest.raises(KeyError):
            oric.explain(name, target)


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = explain(capsys, "ocg:")
    assert status == 0
    assert len(out.splitlines()) == len(OPERATIONS) == 44


def test_the_pages_of_the_documentation() -> None:
    folder = Path(__file__).resolve().parents[2] / "docs" / "intrinsics"
    assert {path.name: path.read_text() for path in folder.iterdir()} == pages(), "run python -m tests.ocg docs"


@pytest.mark.parametrize("name", sorted(ocg.EXAMPLES))
def test_every_example_compiles(name: str) -> None:
    lines = list(page(name, ocg.EXAMPLES[name][2]))
    assert "refused" not in lines
    assert lines[-1] == "```"
    assert "EXIT" in lines[-2]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["ocg:tcma"], "there is no operation 'tcma'; did you mean 'tcmma'?"),
        (["add"], "'add' is no name of an intrinsic: write ocg:OPERATION"),
        (["ocg:add", "--sm", "sm_100b"], "unknown target 'sm_100b'; did you mean"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], words: list[str], text: str) -> None:
    status, out, err = explain(capsys, *words)
    assert (status, out) == (ERROR_STATUS, "")
    assert text in err
    assert len(err.splitlines()) == 1
