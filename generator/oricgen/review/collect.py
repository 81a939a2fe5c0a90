"""Reads a specification with whatever generator is on the path and prints its rows and outputs as JSON.

Runs in a process of its own, so that a revision can be read by the generator that it was written for. The answer is
``{"tables": {name: [[key, values, path, line], ...]}, "outputs": {path: text}}`` or ``{"error": message}``. A generator from the
time before there were tables gives the outputs only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables(spec: Any) -> dict[str, list[list[Any]]]:
    """The rows of all tables, which are checked first."""
    try:
        from oricgen.tables import all_tables, check_all
    except ImportError:
        return {}
    check_all(spec)
    return {t.NAME: [[r.key, r.values, r.path, r.line] for r in t.rows(spec)] for t in all_tables() if hasattr(t, "rows")}


def main(folder: str) -> None:
    """Print what ``FOLDER/spec`` says."""
    from oricgen.errors import SpecError
    from oricgen.outputs import render_all
    from oricgen.spec import Spec

    try:
        spec = Spec(Path(folder) / "spec")
        answer: dict[str, Any] = {"tables": tables(spec), "outputs": render_all(spec)}
    except SpecError as error:
        answer = {"error": str(error).replace(f"{folder}/", "")}
    print(json.dumps(answer, default=sorted))


if __name__ == "__main__":
    main(sys.argv[1])
