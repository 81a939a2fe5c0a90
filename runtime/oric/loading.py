"""Which form of the package's modules runs: the compiled one, or with ``ORIC_INTERPRET=1`` the sources.

Compiled modules of a wheel lie beside their sources and Python finds them first. Those of a checkout lie in
``build/compiled`` (``oricgen compiled``); the finder here looks there. Interpreted runs use checked arrays in place of
``librt.vecs`` (:mod:`oric.support.checked_vecs`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Final

INTERPRET: Final = os.environ.get("ORIC_INTERPRET", "") not in ("", "0")
PACKAGES: Final = ("oric.", "oric_tables.", "oric_rules.", "oric__mypyc")
_LIBRARY: Final = "__mypyc"
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
    file = f"{_CHECKOUT}/{name.removesuffix(_LIBRARY).replace('.', '/')}{EXTENSION_SUFFIXES[0]}"
    if not os.path.isfile(file):
        return None
    spec = ModuleSpec(name, _Loader(name, file), origin=file)
    spec.has_location = True
    return spec


class _Loader(ExtensionFileLoader):
    """Loads a compiled module and, from the same file, the module ``NAME__mypyc`` that it takes everything from.

    Two things make that cheaper than the usual way: the second module is not looked for, unless another one needs it first, and
    functions are bound when they are first called.
    """

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        before = sys.getdlopenflags()
        sys.setdlopenflags(os.RTLD_LAZY)
        try:
            library = spec.name + _LIBRARY
            if not spec.name.endswith(_LIBRARY) and library not in sys.modules:
                inner = super().create_module(ModuleSpec(library, self, origin=spec.origin))
                super().exec_module(inner)
                sys.modules[library] = inner
            return super().create_module(spec)
        finally:
            sys.setdlopenflags(before)


def install() -> None:
    """Choose the form for everything that is imported from now on."""
    if INTERPRET:
        from .support import checked_vecs

        sys.modules["librt.vecs"] = checked_vecs
    if INTERPRET or os.path.isdir(_CHECKOUT):
        sys.meta_path.insert(0, Finder())
