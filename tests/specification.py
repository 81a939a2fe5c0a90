"""The specification of this checkout, read once for all tests of a process: its models are made once too."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from oricgen.spec import Spec

ROOT = Path(__file__).resolve().parents[1]


@cache
def spec() -> Spec:
    """The specification as it is. Edits of it are :meth:`~oricgen.spec.Spec.edited`; nobody changes what it returns."""
    return Spec(ROOT / "spec")
