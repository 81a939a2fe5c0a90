"""Names of the functions that the specification calls: read from the compiler's source, which is not imported.

The compiler needs the generated tables to be imported, so the generator looks at its source text.
"""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path

PREDICATES, EXPANSIONS = "lower/predicates", "lower/expansions"
MACROS = "lower/expand"
FAMILIES = "lower/convert"  # it has a dictionary of the families of conversions
_REGISTRIES = ("phases/registry", "driver/registry", MACROS)
CONTRACTS = "phases/contracts"  # it has a dictionary of the analyses
NATIVE = "native"  # the folder of the C sources
_CHECKOUT = Path(__file__).resolve().parents[2] / "runtime" / "oric"


def folder() -> Path:
    """Where the compiler's package is: beside the generator, else where it is installed."""
    if _CHECKOUT.is_dir():
        return _CHECKOUT
    found = importlib.util.find_spec("oric")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("oric is needed to check the names of its functions", name="oric")
    return Path(found.submodule_search_locations[0])


@cache
def functions(module: str) -> frozenset[str]:
    """Public functions of ``oric/MODULE.py``."""
    return frozenset(n.name for n in _tree(module).body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_"))


@cache
def registered(module: str) -> frozenset[str]:
    """Names under which ``oric/MODULE.py`` registers functions: the text keys of its dictionaries whose values are functions."""
    return frozenset(
        key.value
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(value, ast.Name)
    )


def sources() -> list[Path]:
    """The files that this module reads."""
    return [folder() / f"{module}.py" for module in (EXPANSIONS, PREDICATES, CONTRACTS, FAMILIES, *_REGISTRIES)]


def headers() -> list[Path]:
    """The C headers whose functions the texts of meanings and values call."""
    return list((folder() / NATIVE).rglob("*.h"))


def passes() -> frozenset[str]:
    """Names that ``function`` of a phase may have."""
    return frozenset().union(*map(registered, _REGISTRIES))


def analyses() -> frozenset[str]:
    """Names of the analyses that ``needs`` and ``keeps`` of a phase may list."""
    return registered(CONTRACTS)


def _tree(module: str) -> ast.Module:
    return ast.parse((folder() / f"{module}.py").read_text(encoding="utf-8"))
