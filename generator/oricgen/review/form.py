"""Which modules of the compiler run compiled with the tables of a side: those that have nothing of other tables in their code.

mypyc takes the constants of generated modules into the code that it makes, and calls between compiled modules are bound when they
are compiled. So what uses a generated module with other constants or other code, and what uses that, runs from its source.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from .. import compiled

SOURCES, INTERPRET = "ORIC_SOURCES", "ORIC_INTERPRET"
_CONSTANT = re.compile(
    r"^([A-Za-z_]\w*)(?:\s*:[^=\n]+)?\s*=\s*(-?\d[\w.]*|'[^'\n]*'|\"[^\"\n]*\"|True|False)\s*(?:#.*)?$", re.MULTILINE
)


def environment(home: Path, outputs: Mapping[str, str]) -> dict[str, str]:
    """Variables with which the compiler of ``home`` runs with the tables ``outputs`` (path below ``build/`` -> text)."""
    if not compiled.is_current(home):
        return {INTERPRET: "1"}
    return {SOURCES: " ".join(sorted(interpreted(home, outputs)))}


def interpreted(home: Path, outputs: Mapping[str, str]) -> set[str]:
    """The compiled modules of ``home`` that do not fit the tables."""
    others = {
        _module(name) for name, text in outputs.items() if name.endswith(".py") and _differs(home / "build" / name, name, text)
    }
    if not others:
        return set()
    names = {_module(path.removeprefix("runtime/").removeprefix("build/")): home / path for path in compiled.sources(home)}
    uses = {name: _imports(name, path) for name, path in names.items()}
    out = others & names.keys()
    reached = set(others)
    while more := {name for name, used in uses.items() if used & reached and name not in out}:
        out |= more
        reached |= more
    return out


def _differs(path: Path, name: str, text: str) -> bool:
    """Whether a generated module has other constants, or is compiled itself and has another text."""
    was = path.read_text(encoding="utf-8") if path.is_file() else ""
    if was == text:
        return False
    return name.removesuffix(".py") in compiled.TABLES or _CONSTANT.findall(was) != _CONSTANT.findall(text)


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _imports(name: str, path: Path) -> set[str]:
    """The modules that a module imports, wherever in its text."""
    out: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            out |= {base, *_below(base, (alias.name for alias in node.names))}
    return out


def _below(base: str, names: Iterable[str]) -> set[str]:
    return {f"{base}.{name}" for name in names}
