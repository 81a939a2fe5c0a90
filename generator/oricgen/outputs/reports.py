"""``oric_tables/reports.py``: texts of dumps, what the statistics of registers count, names of pipes."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from ..isa.rows import load as load_machine
from ..latency import load as load_latency
from ..render import header
from ..rows import Row
from ..spec import Spec
from ..tables import _rows, dumps, layouts, registers

_INTRODUCTION = '''"""Texts of dumps (spec/dumps.yaml), sub-classes of registers (spec/registers.yaml), pipes (spec/latency)."""

from typing import Final

'''
_SOURCES = ["spec/dumps.yaml", "spec/registers.yaml", "spec/formats.yaml", "spec/layouts.yaml", "spec/latency/classes/*.yaml"]
_TIMING = "timing_record"
_CODES = {"u32": "I", "ptr": "Q"}  # of the struct module
_MOST_WORDS = 256  # of a register
_ZERO = "SRZ"  # the special register that reads as 0, which is no register of a file


def render(spec: Spec) -> dict[str, str]:
    """Render the tables.

    Raises:
        SpecError: a sub-class of a type, flag or fixed register that there is not.
    """
    formats: dict[str, tuple[str, ...]] = {}
    for row in dumps.load(spec)["formats"]:
        formats[row.values["dump"]] = (*formats.get(row.values["dump"], ()), row.values["text"])
    found = registers.load(spec)
    fatpoints = _rows.named(spec, registers.FILES[0], "messages", found["messages"], "fatpoints").values["text"]
    pipes = tuple(load_latency(spec, load_machine(spec)).pipes)
    text = header("#", "generator/oricgen/outputs/reports.py", _SOURCES) + _INTRODUCTION
    text += f"FORMATS: Final[dict[str, tuple[str, ...]]] = {formats!r}  # lines of a dump, with printf fields\n"
    text += f"FATPOINTS: Final = {fatpoints!r}\n"
    text += "# Name; types, least and most words, flags of the registers that count; or the fixed register of operands.\n"
    text += "SUBCLASSES: Final[tuple[tuple[str, tuple[int, ...], int, int, int, str], ...]] = (\n"
    text += "".join(f"    {_subclass(spec, found, row)!r},\n" for row in found["subclasses"]) + ")\n"
    names = spec.load("formats.yaml", "formats")["names"]["sreg"]["all"]
    (zero,) = (number for number, name in names.items() if name == _ZERO)
    text += f"SRZ: Final = {zero}  # number of the special register that reads as 0\n"
    timing = [row for row in layouts.load(spec)["fields"] if row.values["struct"] == _TIMING]
    fields = {row.values["field"]: (row.values["offset"], _CODES[row.values["type"]]) for row in timing}
    text += f"TIMING_FIELDS: Final[dict[str, tuple[int, str]]] = {fields!r}  # offset and struct code\n"
    (size,) = (row.values["bytes"] for row in layouts.load(spec)["structs"] if row.values["struct"] == _TIMING)
    text += f"TIMING_SIZE: Final = {size}  # bytes\n"
    text += f"PIPES: Final[tuple[str, ...]] = {pipes!r}  # by number in oric_class\n"
    return {"oric_tables/reports.py": text}


def _subclass(spec: Spec, found: _rows.Sections, row: Row) -> tuple[Any, ...]:
    """A row, its names as numbers."""
    types = {r.values["name"]: r.values["type"] for r in found["types"]}
    flags = {r.values["name"]: r.values["mask"] for r in found["flags"]}
    for column, known in (("types", types), ("flags", flags)):
        for name in row.values.get(column, ()):
            if name not in known:
                raise SpecError(spec.path(registers.FILES[0]), row.line, f"{row.key}: {column}: there is no '{name}'")
    fixed = row.values.get("fixed", "")
    if fixed and fixed != _ZERO and fixed not in {r.key for r in found["fixed"]}:
        raise SpecError(spec.path(registers.FILES[0]), row.line, f"{row.key}: there is no fixed register '{fixed}'")
    least, most = row.values.get("words", (1, _MOST_WORDS))
    mask = sum(flags[name] for name in row.values.get("flags", ()))
    chosen = (
        tuple(types.values()) if row.values["counts"] == "flags" else tuple(types[name] for name in row.values.get("types", ()))
    )
    return row.values["name"], chosen, least, most, mask, fixed
