"""``oric_tables/macros.py``: what macro operations stand for."""

from __future__ import annotations

from ..render import header
from ..spec import Spec
from ..tables import macros, phases


def render(spec: Spec) -> dict[str, str]:
    """Render the templates of macro operations, and which phase each function that expands them runs in."""
    found = [o for o in macros.load(spec) if o.template]
    table = phases.load(spec)
    running = {table[o.expansion]["function"]: o.expansion for o in found}
    lines = "".join(f"    {o.number}: {o.template!r},  # {o.name}\n" for o in found)
    rows = spec.load("macros.yaml")["macros"]
    longs = "".join(f"    {o.number}: {rows[o.name]['long']!r},  # {o.name}\n" for o in found if "long" in rows[o.name])
    numbers = {o.name: o.number for o in found}
    wide = "".join(f"    {o.number}: {numbers[rows[o.name]['wide']]},  # {o.name}\n" for o in found if "wide" in rows[o.name])
    shared = "".join(
        f"    {o.number}: ({row['name']!r}, {row['registers']}, {row['predicates']}, {o.registers[0].table[0]}),  # {o.name}\n"
        for o in found
        if (row := rows[o.name].get("shared"))
    )
    mods = "".join(f"    {o.number}: {[(m.shift, (1 << m.width) - 1) for m in o.mods]},  # {o.name}\n" for o in found if o.mods)
    return {
        "oric_tables/macros.py": header("#", "oricgen.outputs.macros", ["spec/macros.yaml", "spec/phases.yaml"])
        + '"""Macro operations: number -> template that a phase puts in its place; number -> the one where a constant\n'
        + "does not fit 32 bits with their sign; number -> (shift, mask) of its modifiers; number -> name of the code that\n"
        + "kernels have once in its place, ends of the registers and predicates that it changes, words of its operands;\n"
        + 'function -> index of its phase."""\n\n'
        + f"TEMPLATES: dict[int, str] = {{\n{lines}}}\nLONG: dict[int, str] = {{\n{longs}}}\n"
        + f"WIDE: dict[int, int] = {{\n{wide}}}  # where the upper words of the sources are known not to be all zero\n"
        + f"MODIFIERS: dict[int, list[tuple[int, int]]] = {{\n{mods}}}\n"
        + f"SHARED: dict[int, tuple[str, int, int, int]] = {{\n{shared}}}\n"
        + f"EXPANSIONS: dict[str, int] = {running!r}\n"
    }
