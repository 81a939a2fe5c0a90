"""Reads a specification with whatever generator is on the path and prints its rows and outputs as JSON.

Runs in a process of its own, so that a revision can be read by the generator that it was written for. The answer is
``{"tables": {name: [[key, values, path, line], ...]}, "outputs": {path: text}}`` or ``{"error": message}``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: str) -> None:
    """Print what ``FOLDER/spec`` says."""
    try:
        from oricgen.errors import SpecError
        from oricgen.outputs import render_all
        from oricgen.spec import Spec
        from oricgen.tables import all_tables, check_all
    except ImportError as error:
        print(json.dumps({"error": f"its generator has no tables that this one could compare ({error})"}))
        return
    try:
        spec = Spec(Path(folder) / "spec")
        check_all(spec)
        outputs = render_all(spec)
        tables = {t.NAME: [[r.key, r.values, r.path, r.line] for r in t.rows(spec)] for t in all_tables()}
    except SpecError as error:
        print(json.dumps({"error": str(error)}))
        return
    print(json.dumps({"tables": tables, "outputs": outputs}, default=sorted))


if __name__ == "__main__":
    main(sys.argv[1])
