"""One instruction text for every way of filling the slots of every signature form, made from the generated tables."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from oric.ptx.signatures import Gate, OperandSpec, combined, word_gates
from oric_tables import ptx_index as ix

REGISTER_TYPES = ("b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128", "pred", "b8")
EXAMPLE_PARTS = {"lane": "b1", "mask2": "h1", "select2": "h32", "mask4": "b31", "select4": "b7210"}
_BY_SIZE = {1: "b16", 4: "b16", 8: "b16", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}
# Names of opaque variables in the frame of the questions; a sampler is one in the independent texture mode only.
_OBJECTS = {"texref": "tex0", "surfref": "srf0"}
Ways = Callable[[str, tuple[Any, ...]], Iterator[tuple[list[str], dict[str, str]]]]  # words behind the first, and by slot


@dataclass(frozen=True)
class Example:
    """An instruction that a form describes.

    ``form``: its number among those of ``name``; ``gates``: what it needs; ``others``: word of the mnemonic (by place behind the
    name's first word) -> further values of its slot in any form of the instruction; ``limits``: operand -> immediates at its
    limits and beyond; ``removed``: from which PTX version and SM on it is gone.
    """

    name: str
    gates: Gate
    text: str
    others: dict[int, tuple[str, ...]]
    limits: dict[int, tuple[str, ...]]
    form: int
    removed: tuple[int, int] | None


def declarations(version: int, sm: int) -> str:
    """Nine registers of each type that a PTX version (times ten) and an SM have."""
    return "".join(f"\t.reg .{t} %{t}_<9>;\n" for t in REGISTER_TYPES if version >= ix.TYPES[t][3] and sm >= ix.TYPES[t][4])


def all_families() -> list[str]:
    """The stems of the generated family modules."""
    return sorted({family for rows in ix.HEADS.values() for _, family in rows if family})


def mnemonics(name: str, form: tuple[Any, ...]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Words behind the first that fill the slots: required ones with their first value, then each other value of each slot."""
    slots = form[0]
    base = {field: values[0] for field, values, required in slots if required}
    chosen = [base]
    for field, values, _ in slots:
        chosen += [{**base, field: value} for value in values if base.get(field) != value]
    for fields in chosen:
        yield [fields[field] for field, _, _ in slots if field in fields], fields


def every(name: str, form: tuple[Any, ...]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The same with every combination of the values of the slots."""
    slots = form[0]
    for way in product(*((*values,) if required else ("", *values) for _, values, required in slots)):
        fields = {field: value for (field, _, _), value in zip(slots, way, strict=True) if value}
        yield list(fields.values()), fields


def examples(
    families: Iterable[str] = (), names: Iterable[str] = (), texmode: str = "unified", ways: Ways = mnemonics
) -> Iterator[Example]:
    """The examples of the families (of all when none is given), or only of the instructions named, in one texture mode.

    ``ways``: how the slots are filled, :func:`mnemonics` in turn or :func:`every`.
    """
    for family in families or all_families():
        module = importlib.import_module(f"oric_tables.ptx_{family}")
        for name, (_, forms, own) in module.FORMS.items():
            if names and name not in names:
                continue
            everywhere = _values(forms)
            for index, form in enumerate(forms):
                if not form[5] and form[7] in ("", texmode):
                    yield from _examples_of(name, index, form, own, module, everywhere, ways)


def _values(forms: Any) -> dict[str, tuple[str, ...]]:
    """Slot -> its values in all forms of an instruction."""
    found: dict[str, dict[str, None]] = {}
    for form in forms:
        for field, values, _ in form[0]:
            found.setdefault(field, {}).update(dict.fromkeys(values))
    return {field: tuple(values) for field, values in found.items()}


def _examples_of(
    name: str, index: int, form: Any, own: Any, module: Any, everywhere: dict[str, tuple[str, ...]], ways: Ways
) -> Iterator[Example]:
    first = name.split(".", maxsplit=1)[0]
    for words, fields in ways(name, form):
        gates = combined([form[2:5], *word_gates(fields, own, module.GATES)])
        specs = [OperandSpec(row, fields, module.COUNTS) for row in form[1]]
        full = [operand(s, i) for i, s in enumerate(specs)]
        filled = [field for field, _, _ in form[0] if field in fields]
        others = {i: tuple(v for v in everywhere[f] if v != fields[f]) for i, f in enumerate(filled)}
        head = ".".join([first, *words])
        yield Example(name, gates, f"{head} {', '.join(full)}".strip(), others, _limits(specs), index, form[6])
        if any(s.optional for s in specs):
            short = [s for s in specs if not s.optional]
            texts = [t for t, s in zip(full, specs, strict=True) if not s.optional]
            yield Example(name, gates, f"{head} {', '.join(texts)}".strip(), {}, _limits(short), index, form[6])


def _limits(specs: list[OperandSpec]) -> dict[int, tuple[str, ...]]:
    return {index: found for index, spec in enumerate(specs) if (found := tuple(_around(spec)))}


def _around(spec: OperandSpec) -> Iterator[str]:
    """Immediates at the limits of an operand and beyond; those of the elements of a vector in turn."""
    if spec.bounds:
        least, most, step = spec.bounds
        values = least, most, least - step, most + step, *((least + 1,) if step > 1 else ())
        yield from (str(value) for value in values if -(1 << 63) <= value < 1 << 64)
    elif spec.choices:
        yield from map(str, (*spec.choices, min(spec.choices) - 1, max(spec.choices) + 1))
    elif not spec.mask & ix.ADDR:
        for place, inner in enumerate(spec.rest):
            elements = [operand(o, 0) for o in spec.rest]
            for value in _around(inner):
                yield "{" + ", ".join([*elements[:place], value, *elements[place + 1 :]]) + "}"


def operand(spec: OperandSpec, index: int) -> str:
    """A fitting operand for a spec."""
    if spec.pair is not None:
        pair, spec.pair = spec.pair, None
        return f"{operand(spec, index)}|{operand(pair, index + 3)}"
    mask = spec.mask
    if mask & ix.ADDR:
        rest = [operand(inner, index + 1 + i) for i, inner in enumerate(spec.rest)]
        register = f"%{_register(spec) if mask & ix.AREG else 'u64'}_{index % 9}"
        base = _OBJECTS.get(spec.type, register) if mask & ix.TEX else register
        return f"[{', '.join([base, *rest])}]"
    if mask & ix.TEX:
        return f"%u64_{index % 9}"
    if spec.rest:
        return "{" + ", ".join(operand(inner, index) for inner in spec.rest) + "}"
    if mask & ix.LABEL:
        return "L0"
    if mask & ix.TABLE:
        return "T0"
    if not mask & (ix.REG | ix.PART):
        if mask & ix.SINK:
            return "_"
        return str(spec.bounds[0] if spec.bounds else spec.choices[0] if spec.choices else 16)
    if spec.bounds:
        return str(spec.bounds[0])
    if mask & ix.PART and not mask & ix.REG:
        return f"%b{spec.size}_{index % 9}.{EXAMPLE_PARTS[spec.part]}"
    type_ = _register(spec)
    if spec.elements > 1 or spec.braces:
        types = ["u32" if mask & ix.INDEX and not i else type_ for i in range(spec.elements)]
        return "{" + ", ".join(f"%{t}_{(index + i) % 9}" for i, t in enumerate(types)) + "}"
    return f"%{type_}_{index % 9}"


def _register(spec: OperandSpec) -> str:
    exact = spec.kind == "packed" or (spec.size == 8 and not spec.mask & ix.WIDER)
    by_size = f"b{spec.size}" if exact and spec.size >= 8 else _BY_SIZE[spec.size]
    return spec.type if spec.type in REGISTER_TYPES else by_size
