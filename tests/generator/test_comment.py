"""Pages as comments: 60 lines at most, details folded, no block of code left open."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from oricgen.review.comment import MOST, comment

from tests.generator import review_cases

PAGES = sorted(review_cases.CHANGES.glob("*.md"))
LINES = st.lists(st.sampled_from(["", "- entry", "  - `a`: 1 → 2", "| a | b |", "```diff", "```", "text"]), max_size=40)


def check(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= MOST
    assert lines.count("</details>") == sum(line.startswith("<details>") for line in lines)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_of_recorded_changes(path: object) -> None:
    page = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    text = comment(page)
    check(text)
    head = page.partition("\n## ")[0]
    assert text.startswith(head.rstrip("\n"))
    for title in (line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")):
        assert f"<summary>{title}</summary>" in text or title in text.splitlines()[-1]


@given(st.lists(LINES, max_size=12))
def test_any_page(sections: list[list[str]]) -> None:
    page = "\n".join(
        ["# title", "", "a table", ""] + [line for n, s in enumerate(sections) for line in (f"## part {n}", "", *s, "")]
    )
    text = comment(page)
    check(text)
    for part in text.split("</details>"):
        fences = [line for line in part.splitlines() if line.strip().startswith("```")]
        whole = sections and all(sum(line.startswith("```") for line in s) % 2 == 0 for s in sections)
        assert not whole or len(fences) % 2 == 0


def test_the_example_workflow_posts_what_the_script_writes() -> None:
    path = review_cases.ROOT / "docs/review.workflow.yml"
    steps = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["review"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert runs[0].startswith(".ci/review ") and runs[0].split()[-1] == "comment.md" and "--body-file comment.md" in runs[1]
