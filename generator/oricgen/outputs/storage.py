"""``oric_tables/storage.py``: state spaces by number, storage classes of variables.

Raises SpecError for a state space with two ways to find its variables, and for spaces and types that PTX does not have.
"""

from __future__ import annotations

from ..errors import SpecError
from ..render import template
from ..rows import Row
from ..spec import Spec
from ..tables import mapping, ptx_nodes, ptx_types

WAYS = ("slot", "constants", "parameters", "frame", "block", "behind", "registers")
_EXTERNAL = "extern"  # the storage class of what another module defines
_KERNEL, _PARAMETERS = "kernel", "param"  # parameters of a kernel lie in the space of parameters
_FILE = ptx_nodes.FILES[0]

_Class = tuple[int, int, int]


def render(spec: Spec) -> dict[str, str]:
    """Render the spaces of mapping.yaml and the storage classes of ptx_nodes.yaml."""
    rows = ptx_nodes.load(spec)["storage"]
    _check(spec, rows)
    objects = [name for row in rows for name in row.values.get("types", ())]
    numbers = mapping.space_numbers(spec)
    text = template("storage.py.j2", spaces=numbers, ways=WAYS, classes=_classes(rows, numbers), objects=objects)
    return {"oric_tables/storage.py": text}


def _classes(rows: tuple[Row, ...], numbers: dict[str, int]) -> dict[tuple[str, bool], _Class]:
    """(State space, external) -> (storage class, value of field 281 or 0, place in WAYS from 1 on) of a variable there."""
    plain: dict[str, _Class] = {}
    external: dict[str, _Class] = {}
    for row in rows:
        for space, way in row.values.get("finds", {}).items():
            number = numbers.get(_PARAMETERS if space == _KERNEL else space, 0)
            found = external if row.values["name"] == _EXTERNAL else plain
            found[space] = (row.values["class"], number, WAYS.index(way) + 1)
    return {(space, False): row for space, row in plain.items()} | {
        (space, True): row for space, row in (plain | external).items()
    }


def _check(spec: Spec, rows: tuple[Row, ...]) -> None:
    types = ptx_types.load(spec)
    path = spec.path(_FILE)
    owner: dict[str, str] = {}
    for row in rows:
        for name in row.values.get("types", ()):
            if name not in types["types"]:
                raise SpecError(path, row.line, f"{row.key}: '{name}' is no type of ptx/types.yaml")
        for space in row.values.get("finds", {}):
            if space not in (_KERNEL, *types["spaces"]):
                raise SpecError(path, row.line, f"{row.key}: '{space}' is no state space of ptx/types.yaml")
            if row.values["name"] != _EXTERNAL and owner.setdefault(space, row.key) != row.key:
                raise SpecError(path, row.line, f"{row.key}: {space} is in {owner[space]} already")
