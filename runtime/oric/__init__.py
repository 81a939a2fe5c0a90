"""Oric: an open PTX-to-SASS optimizing assembler.

``oric.compile(ptx)`` gives a cubin, ``oric.sim`` runs cubins, ``oric.sass`` reads their code. Everything is loaded
on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .loading import install
from .support.version import VERSION

if TYPE_CHECKING:
    from . import sass, sim
    from .api import CompileError, Cubin, KernelInfo, compile, explain

install()

__all__ = ["CompileError", "Cubin", "KernelInfo", "compile", "explain", "sass", "sim"]
__version__ = VERSION

_LAZY = {"compile": ".api", "Cubin": ".api", "KernelInfo": ".api", "CompileError": ".api", "explain": ".api"}
_MODULES = frozenset({"sim", "sass", "ptx"})


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
        return found
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'oric' has no attribute '{name}'")
