"""What all instruction words share: ``spec/formats.yaml``."""

from __future__ import annotations

from typing import Any

from ..errors import Mistakes, SpecError
from ..isa import bits
from ..rows import Row, plain
from ..spec import Spec
from ._shared import entries

NAME = "formats"
FILES = ("formats.yaml",)
_MASKS = ("no_reuse",)  # of the frame: no field, a bit of the opcode as a number


def load(spec: Spec) -> Any:
    """The file as it stands."""
    return spec.load(FILES[0])


def rows(spec: Spec) -> list[Row]:
    """Rows are called by their group: ``isa sm_90``, ``frame stall``, ``shape alu3.RIR``, ``set rnd``, ``sreg 33`` ..."""
    data, path = load(spec), f"spec/{FILES[0]}"
    out = [
        row
        for group, word in (("isas", "isa"), ("frame", "frame"), ("regions", "region"))
        for row in entries(data, group, path, f"{word} ")
    ]
    for table, shapes in data["shapes"].items():
        out += [Row(f"shape {table}.{name}", plain(shape), path, shapes.line_of(name)) for name, shape in shapes.items()]
    for group, word in (("sets", "set"), ("targets", "target")):
        out += entries(data, group, path, f"{word} ")
    for kind, parts in data["names"].items():
        for isa, names in parts.items():
            where = "" if isa == "all" else f" on {isa}"
            out += [Row(f"{kind} {number}{where}", {"name": name}, path, names.line_of(number)) for number, name in names.items()]
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Encoding models, shapes, sets of values, system registers."""
    data = load(spec)
    return {
        "encoding models": len(data["isas"]),
        "shapes": sum(len(table) for table in data["shapes"].values()),
        "sets of modifier values": len(data["sets"]),
        "names of system registers": sum(len(part) for part in data["names"]["sreg"].values()),
    }


def check(spec: Spec) -> None:
    """No two fields of the frame share a bit; the rows that use a format check it: see the operations.

    Raises:
        SpecError: fields that do, a text that names no bits.
    """
    frame = load(spec)["frame"]
    taken: dict[int, str] = {}
    with Mistakes() as each:
        for name, text in frame.items():
            with each:
                if name not in _MASKS:
                    _take(spec, name, text, frame.line_of(name), taken)
                elif not isinstance(text, int):
                    raise SpecError(spec.path(FILES[0]), frame.line_of(name), f"frame: column '{name}': '{text}' is no number")


def _take(spec: Spec, name: str, text: object, line: int, taken: dict[int, str]) -> None:
    try:
        mask = bits.parse_set(text)
    except ValueError as error:
        raise SpecError(spec.path(FILES[0]), line, f"frame: column '{name}': {error}") from error
    for bit in range(bits.WORD):
        if mask >> bit & 1:
            if bit in taken:
                raise SpecError(spec.path(FILES[0]), line, f"frame: column '{name}': bit {bit} is that of '{taken[bit]}'")
            taken[bit] = name
