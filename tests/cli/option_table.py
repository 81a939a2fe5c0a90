#!/usr/bin/env python3
"""The table of docs/cli.md, made of the option table; run as a program, writes it there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from oric_tables.options import OPTIONS, Option

PAGE: Final = Path(__file__).resolve().parents[2] / "docs/cli.md"
_BEGIN, _END = "<!-- options -->\n", "<!-- end -->\n"


def table() -> str:
    """The rows: ptxas's options by name, then ours."""
    rows = ["| option | short | state | what it does |", "| --- | --- | --- | --- |"]
    for option in sorted(OPTIONS, key=lambda option: (option.origin != "ptxas", option.name.lower())):
        rows.append(_row(option))
    return "".join(f"{row}\n" for row in rows)


def _row(option: Option) -> str:
    star = "\\*" if option.hidden else ""
    short = f"`-{option.short}`" if option.short else ""
    own = " Oric's own." if option.origin != "ptxas" else ""
    default = f" Default: `{option.default}`." if option.default else ""
    silent = f" Silent for {', '.join(f'`{value}`' for value in option.neutral)}." if option.neutral else ""
    note = f" {option.note}" if option.note else ""
    text = f"{option.help}{default}{silent}{note}{own}".replace("|", "\\|")
    return f"| `--{option.name}`{star} | {short} | {option.state} | {text} |"


def page(text: str) -> str:
    """The page with the table of today."""
    head, _, rest = text.partition(_BEGIN)
    return head + _BEGIN + table() + _END + rest.partition(_END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
