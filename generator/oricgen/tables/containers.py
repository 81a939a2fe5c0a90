"""Containers of the described system: ``spec/containers.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "containers"
FILES = ("containers.yaml",)
_FILE = FILES[0]
_KEYS = {
    "hash_modes": "hash mode {mode}",
    "constants": "constant {name}",
    "sizes": "size of {record}",
    "growth": "growth of {container}",
    "pool": "pool {name}",
    "analyses": "analysis pair {pair}",
}
_DOCUMENTED = {"hash_modes": 3, "constants": 6, "growth": 4, "analyses": 17}
_FLAG_SHIFT = 4  # of the hash mode
_BIN_BYTES = 8  # head of a free list

_POOL = ("small_align", "small_limit", "bins_offset", "mutex_offset")  # rows of the pool that its bins follow from


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    names = {
        "hash_modes": "hash modes",
        "constants": "hash constants",
        "growth": "growth formulas",
        "pool": "numbers of the pool",
        "sizes": "sized records",
        "analyses": "analysis pairs",
    }
    return {title: len(found[section]) for section, title in names.items()}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Numbering, flags of the modes, bins that end where the mutex begins.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    _rows.check_numbers(spec, _FILE, found["hash_modes"], "mode")
    _rows.check_numbers(spec, _FILE, found["analyses"], "pair")
    for row in found["hash_modes"]:
        expected = row.values["mode"] << _FLAG_SHIFT
        if row.values["flags"] != expected:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: flags are {row.values['flags']:#x}, expected {expected:#x}")
    pool = {name: _rows.named(spec, _FILE, "pool", found["pool"], name) for name in _POOL}
    align, limit, bins, mutex = (_rows.number(spec, _FILE, row) for row in pool.values())
    if align < 1:
        row = pool["small_align"]
        raise SpecError(spec.path(_FILE), row.line, f"{row.key}: value is {align}; sizes are rounded up to it")
    end = bins + limit // align * _BIN_BYTES + _BIN_BYTES
    if end != mutex:
        row = pool["mutex_offset"]
        raise SpecError(spec.path(_FILE), row.line, f"{row.key}: value is {mutex}, the bins end at {end}")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
