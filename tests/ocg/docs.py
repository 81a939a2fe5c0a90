"""The pages of docs/intrinsics: what `oric explain` prints of each operation, and an index."""

from __future__ import annotations

from typing import Final

from oric.driver.explain import page
from oric_tables.intrinsics import OPERATIONS

INDEX: Final = "README.md"


def pages() -> dict[str, str]:
    """Name of a file -> its text."""
    found = {f"{name}.md": "\n".join(page(name)) + "\n" for name in OPERATIONS}
    rows = [f"| [{name}]({name}.md) | {operation.category} | {operation.doc} |" for name, operation in OPERATIONS.items()]
    head = [
        "# Intrinsics",
        "",
        "What PTX calls as `__nv_ptx_builtin_ocg_NAME`. `oric explain ocg:NAME --sm TARGET` prints a page for any target,",
        "`oric dump --ocg FILE.ptx` the records of the calls of a module.",
        "",
        "| operation | category | |",
        "| --- | --- | --- |",
    ]
    return {INDEX: "\n".join([*head, *rows]) + "\n", **found}
