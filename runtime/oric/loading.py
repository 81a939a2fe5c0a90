"""Which form of the package's modules runs: the compiled one, or with ``ORIC_INTERPRET=1`` the sources.

Compiled modules of a wheel lie beside their sources and Python finds them first. Those of a checkout lie in one library in
``build/compiled`` (``oricgen compiled``); the finder here knows which ones, less those that ``ORIC_SOURCES`` names (for tables
that they were not compiled with). Interpreted runs use checked arrays in place of ``librt.vecs``
(:mod:`oric.support.checked_vecs`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Final

INTERPRET: Final = os.environ.get("ORIC_INTERPRET", "") not in ("", "0")
PACKAGES: Final = ("oric.", "oric_tables.", "oric_rules.")
_PART: Final = "__mypyc"
_CHECKOUT: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "build", "compiled")


class Sources:
    """Finds the sources of modules that may be compiled too. (Finders' base class would import half the standard library.)"""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module of the package, None for others; packages are never compiled."""
        if name.startswith(PACKAGES):
            for folder in path or ():
                file = os.path.join(folder, name.rpartition(".")[2] + ".py")
                if os.path.isfile(file):
                    return spec_from_file_location(name, file, loader=SourceFileLoader(name, file))
        return None


class Compiled:
    """Finds the modules of the library."""

    def __init__(self) -> None:
        self.file = f"{_CHECKOUT}/compiled.so"
        with open(f"{_CHECKOUT}/modules", encoding="utf-8") as names:
            self.names = frozenset(names.read().split()) - frozenset(os.environ.get("ORIC_SOURCES", "").split())

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module of the library, None for others."""
        if name.removesuffix(_PART) not in self.names:
            return None
        spec = ModuleSpec(name, _Loader(name, self.file), origin=self.file)
        spec.has_location = True
        return spec


class _Loader(ExtensionFileLoader):
    """Loads a module of the library and, first, the module ``NAME__mypyc`` from which it takes everything.

    Functions of the interpreter are bound when they are first called.
    """

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        before = sys.getdlopenflags()
        sys.setdlopenflags(os.RTLD_LAZY)
        try:
            part = spec.name + _PART
            if not spec.name.endswith(_PART) and part not in sys.modules:
                sys.modules[part] = self._create(part)
            return self._create(spec.name)
        finally:
            sys.setdlopenflags(before)

    def _create(self, name: str) -> ModuleType:
        """The module that the function ``PyInit_`` with the whole name makes."""
        symbol = name.replace(".", "___")
        made = super().create_module(ModuleSpec(symbol, self, origin=self.path))
        del sys.modules[symbol]
        return made


def install() -> None:
    """Choose the form for everything that is imported from now on."""
    if INTERPRET:
        from .support import checked_vecs

        sys.modules["librt.vecs"] = checked_vecs
        sys.meta_path.insert(0, Sources())
    elif os.path.isfile(f"{_CHECKOUT}/modules"):
        sys.meta_path.insert(0, Compiled())
