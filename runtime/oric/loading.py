"""Which form of the package's modules runs: the compiled one, or with ``ORIC_INTERPRET=1`` the sources.

Compiled modules of a wheel lie beside their sources and Python finds them first. Those of a checkout lie in
``build/compiled`` (``oricgen compiled``); the finder here looks there. Interpreted runs use checked arrays in place of
``librt.vecs`` (:mod:`oric.support.checked_vecs`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Final

INTERPRET: Final = os.environ.get("ORIC_INTERPRET", "") not in ("", "0")
PACKAGES: Final = ("oric.", "oric_tables.", "oric_rules.", "oric__mypyc")
_CHECKOUT: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "build", "compiled")


class Finder:
    """Finds modules of the package in their chosen form. (Its base class would import half the standard library.)"""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module that has such a form, None for others."""
        if not name.startswith(PACKAGES):
            return None
        return _source(name, path) if INTERPRET else _compiled(name)


def _source(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """The source of a module that may be compiled too; packages are never compiled."""
    for folder in path or ():
        file = os.path.join(folder, name.rpartition(".")[2] + ".py")
        if os.path.isfile(file):
            return spec_from_file_location(name, file, loader=SourceFileLoader(name, file))
    return None


def _compiled(name: str) -> ModuleSpec | None:
    file = os.path.join(_CHECKOUT, *name.split(".")) + EXTENSION_SUFFIXES[0]
    return spec_from_file_location(name, file) if os.path.isfile(file) else None


def install() -> None:
    """Choose the form for everything that is imported from now on."""
    if INTERPRET:
        from .support import checked_vecs

        sys.modules["librt.vecs"] = checked_vecs
    if INTERPRET or os.path.isdir(_CHECKOUT):
        sys.meta_path.insert(0, Finder())
