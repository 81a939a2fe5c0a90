"""Reads the rows of ``spec/values``: what each operation of Ori computes of its operands, and turns them into C.

Text is that of the ``meaning`` column (:mod:`oricgen.meaning`) for one thread: ``Ra.TYPE`` is a source with its marks applied as
the type says, ``Rd.TYPE = ...`` and ``Pd = ...`` set results, a modifier's name is its value. A row is

* text, or ``{value: text, ignores: ..., unknown: ...}`` as there: under the condition ``unknown`` the operation has no value;
* ``{like: OPERATION}``: the same text, with operands called as here (``URa`` for ``Ra``).

An operand or modifier that the text does not name must be absent or at its default; else the operation has no value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from .ctext.headers import Names
from .isa.model import Operation
from .meaning import Access, Meaning, Reader, Spot
from .strictyaml import Map

THREAD = Access(
    declared="",
    packed="from->mods",
    present="value_has(from, {i})",
    missing=("0", "1"),
    marks={
        "neg": "value_mark(from, {i}, ORIC_F_NEG)",
        "abs": "value_mark(from, {i}, ORIC_F_ABS)",
        "inv": "value_mark(from, {i}, ORIC_F_INV)",
        "imm": "value_mark(from, {i}, ORIC_F_IMM)",
        "absent": "(!value_has(from, {i}))",
    },
    sources={
        "u32": ("uint32_t", "value_integer(from, {i})", "{v}"),
        "s32": ("int32_t", "(int32_t)value_integer(from, {i})", "{v}"),
        "bits": ("uint32_t", "value_bits(from, {i})", "{v}"),
        "f32": ("float", "value_single(from, {i})", "{v}"),
        "h2": ("uint32_t", "value_halves(from, {i})", "{v}"),
        "u64": ("uint64_t", "value_integer64(from, {i}, 0)", "{v}"),
        "s64": ("uint64_t", "value_integer64(from, {i}, 1)", "{v}"),
        "bits64": ("uint64_t", "value_bits64(from, {i})", "{v}"),
        "f64": ("double", "value_double(from, {i})", "{v}"),
        "bits_f64": ("uint64_t", "value_bits_of_double(from, {i})", "{v}"),
        "addend": ("uint64_t", "value_addend(from, {i})", "{v}"),
    },
    predicate=("uint32_t", "value_predicate(from, {i}, {missing})", "{v}"),
    results={
        "u32": ("uint32_t", "(uint32_t)({e})", ""),
        "f32": ("uint32_t", "arith_bits32({e})", ""),
        "u64": ("uint64_t", "(uint64_t)({e})", ""),
        "f64": ("uint64_t", "arith_bits64({e})", ""),
    },
)  # fmt: skip
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


class _Reader(Reader):
    column = "value"

    def source_value(self, name: str, kind: str, ctype: str, fetch: str, value: str) -> str:
        """A value, not an array of one for each lane."""
        place = f"v_{name}_{kind}"
        return self.fetch(name, kind, f"const {ctype} {place} = {fetch};", value.format(v=place))

    def set_predicate(self, name: str, expression: str) -> str:
        """Into the array of results."""
        return self.set_result(name, "", f"({expression}) != 0", "")

    def set_result(self, name: str, ctype: str, bits: str, store: str) -> str:
        """Into the array of results."""
        self.out.store.append(name)
        return f"from->out[{self.operands[name][0]}] = {bits};"

    def read(self, text: object, spot: Spot | None = None) -> Meaning:
        """The pieces of C of a row."""
        if isinstance(text, Map) and "value" in text:
            text = text.renamed({"value": "lanes"})
        elif isinstance(text, Mapping):
            text = {"lanes" if key == "value" else key: item for key, item in text.items()}
        return super().read(text, spot)


def read(
    operation: Operation,
    row: object,
    others: Mapping[str, Operation],
    rows: Mapping[str, object],
    names: Names,
    path: PurePath,
    line: int,
    spot: Spot | None = None,
) -> Meaning:
    """What a row says, as C; ``others`` and ``rows`` are all operations and rows by name, ``names`` those of
    :func:`oricgen.known.of_threads`; ``spot`` says where the row's text stands, when it is text.

    Raises:
        SpecError: text that is not right, names no operand or modifier of the operation, reads a result, leaves a source or a
            result out.
    """
    reader = _Reader(operation, THREAD, names, path, line)
    if isinstance(row, Mapping) and "like" in row:
        reader.values = {}  # a text for several operations may ask for values that this one's modifiers do not have
        return reader.read(_alike(reader, str(row["like"]), others, rows))
    return reader.read(row, spot)


def _alike(reader: _Reader, name: str, others: Mapping[str, Operation], rows: Mapping[str, object]) -> object:
    """The row of another operation, with the operands of this one."""
    other = rows.get(name)
    if other is None or (isinstance(other, Mapping) and "like" in other):
        raise reader.error(f"'{name}' has no value of its own")
    names = {o.name.removeprefix("U"): o.name for o in reader.op.operands}
    missing = [o.name for o in others[name].operands if o.name not in names]
    if missing:
        raise reader.error(f"has no operand like '{missing[0]}' of {name}")

    def renamed(text: object) -> str:
        return _NAME.sub(lambda match: names.get(match.group(), match.group()), str(text))

    if isinstance(other, Mapping):
        return {key: renamed(text) for key, text in other.items()}
    return renamed(other)
