"""How many 32-bit registers an operand has: a number, or what the values of modifiers multiply or add to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any

from .model import Modifier, Operand, Registers

_WIDE = ((re.compile(r"256"), 8), (re.compile(r"128|F16x8|F32x4"), 4), (re.compile(r"64|F16x4|F32x2"), 2))
_COUNT = re.compile(r"(N|\d+)(?:/([1-9]\d*))?\Z")
_MOST = 255  # registers there are


def registers_of(value: str) -> int:
    """Number of 32-bit registers of a value of the type or size that a modifier value names (``U64`` -> 2)."""
    if value in ("1", "2", "4"):
        return int(value)
    return next((n for pattern, n in _WIDE if pattern.search(value)), 1)


def factors(operand: Operand) -> tuple[str, ...]:
    """Names of the modifiers that say an operand's width, in the order of the row; empty when it is a number."""
    return tuple(part for part in re.split(r"[*+]", operand.width) if not part.isdigit())


def registers(operand: Operand, mods: tuple[Modifier, ...], widths: Mapping[str, Mapping[str, Any]]) -> Registers:
    """The table of an operand; ``widths`` is the column of the row. Halves of registers are rounded up.

    Raises:
        ValueError: a count that is no number or more than there are.
    """
    if operand.width.isdigit():
        return Registers((), (int(operand.width),))
    index = {m.name: i for i, m in enumerate(mods)}
    chosen = [mods[index[name]] for name in factors(operand)]
    added = "+" in operand.width
    fixed = sum(int(part) for part in operand.width.split("+") if part.isdigit())
    columns = []
    for mod in chosen:
        by_code = {code: _part(operand.name, mod.name, name, widths, added) for name, code in mod.codes.items()}
        columns.append([by_code.get(code, Fraction(not added)) for code in range(1 << mod.width)])
    unit = lcm(*(part.denominator for column in columns for part in column))  # counts in parts of a register are whole
    whole = [[int(part * unit) for part in column] for column in columns]
    one, start = (unit, fixed * unit) if added else (unit ** len(columns), 1)
    table = []
    for parts in product(*reversed(whole)):  # the first modifier has the lowest bits
        count = sum(parts, start) if added else prod(parts, start=start)
        table.append(min(-(-count // one), _MOST))  # more: values that do not go together
    return Registers(tuple(index[name] for name in factors(operand)), tuple(table))


def _part(operand: str, mod: str, value: str, widths: Mapping[str, Mapping[str, Any]], added: bool) -> Fraction:
    """What a value multiplies the count with, or adds to it."""
    for key in (operand, mod):  # what is said of the operand goes before what is said of the modifier
        for name, count in widths.get(key, {}).items():
            found = _matches(name, value)
            if found is not None:
                return _count(key, name, str(count), found)
    return Fraction(0 if added else registers_of(value))


def _matches(name: str, value: str) -> int | None:
    """The number that stands for N when ``name`` names ``value`` (0 when it has no N); None when it does not."""
    if name == value:
        return 0
    if "*" not in name and "xN" not in name:
        return None
    pattern = re.sub(r"(?<=x)N", r"(\\d+)", re.escape(name), count=1).replace(r"\*", ".*")
    match = re.fullmatch(pattern, value)
    return None if match is None else int(match[1]) if match.lastindex else 0


def _count(key: str, name: str, text: str, number: int) -> Fraction:
    match = _COUNT.match(text)
    assert match is not None, "the schema says so"
    top = number if match[1] == "N" else int(match[1])
    if top > _MOST * int(match[2] or 1):
        raise ValueError(f"column 'widths': {key}, {name}: {text} registers, more than the {_MOST} there are")
    return Fraction(top, int(match[2] or 1))


def unknown(
    operands: tuple[Operand, ...], mods: tuple[Modifier, ...], widths: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """What the column names and the row does not have: (key, value name or "", message)."""
    known = {m.name: {m.name} for m in mods} | {o.name: set(factors(o)) for o in operands if factors(o)}
    values = {m.name: tuple(m.codes) for m in mods}
    for key, row in widths.items():
        if key not in known:
            yield key, "", f"column 'widths': there is no modifier '{key}', nor an operand whose width modifiers say"
            continue
        for name in row:
            if not any(_matches(name, value) is not None for mod in known[key] for value in values.get(mod, ())):
                yield key, name, f"column 'widths': modifier '{key}' has no value '{name}'"
