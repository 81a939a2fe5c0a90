"""One instruction text for every way of filling the slots of every signature form, made from the generated tables."""

import importlib
from collections.abc import Iterator

from oric.ptx.signatures import OperandSpec, combined, word_gates
from oric_tables import ptx_index as ix

REGISTER_TYPES = ("b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b128", "pred")
DECLARATIONS = "".join(f"\t.reg .{t} %{t}_<9>;\n" for t in REGISTER_TYPES)
_BY_SIZE = {1: "b16", 4: "b16", 8: "b16", 16: "b16", 32: "b32", 64: "b64", 128: "b128"}


def families() -> list[str]:
    """The stems of the generated family modules."""
    return sorted({family for rows in ix.HEADS.values() for _, family in rows if family})


def mnemonics(name: str, form: tuple) -> Iterator[tuple[str, dict[str, str]]]:
    """Mnemonic texts that fill the slots: required ones with their first value, then each other value of each slot."""
    slots = form[0]
    base = {field: values[0] for field, values, required in slots if required}
    chosen = [base]
    for field, values, _ in slots:
        chosen += [{**base, field: value} for value in values if base.get(field) != value]
    for fields in chosen:
        words = [fields[field] for field, _, _ in slots if field in fields]
        yield ".".join([name.split(".", maxsplit=1)[0], *words]), fields


def examples() -> Iterator[tuple[str, tuple, str]]:
    """(instruction name, (ptx, sm, arch), instruction text without semicolon)."""
    for family in families():
        module = importlib.import_module(f"oric_tables.ptx_{family}")
        for name, (_, forms, own) in module.FORMS.items():
            for form in forms:
                if form[5]:
                    continue
                for text, fields in mnemonics(name, form):
                    gates = combined([form[2:5], *word_gates(fields, own, module.GATES)])
                    specs = [OperandSpec(row, fields, module.COUNTS) for row in form[1]]
                    full = [operand(s, i, fields) for i, s in enumerate(specs)]
                    yield name, gates, f"{text} {', '.join(full)}".strip()
                    if any(s.optional for s in specs):
                        short = [t for t, s in zip(full, specs, strict=True) if not s.optional]
                        yield name, gates, f"{text} {', '.join(short)}".strip()


def operand(spec: OperandSpec, index: int, fields: dict[str, str]) -> str:
    """A fitting operand for a spec."""
    if spec.pair is not None:
        pair, spec.pair = spec.pair, None
        return f"{operand(spec, index, fields)}|{operand(pair, index + 3, fields)}"
    mask = spec.mask
    if mask & ix.ADDR:
        rest = [operand(inner, index + 1 + i, fields) for i, inner in enumerate(spec.rest)]
        return f"[{', '.join([f'%u64_{index}', *rest])}]"
    if mask & ix.LABEL:
        return "L0"
    if mask & ix.TABLE:
        return "T0"
    if not mask & ix.REG:
        if mask & ix.SINK:
            return "_"
        return str(spec.bounds[0] if spec.bounds else spec.choices[0] if spec.choices else 16)
    if spec.bounds:
        return str(spec.bounds[0])
    type_ = spec.type if spec.type in REGISTER_TYPES else _BY_SIZE[spec.size]
    if spec.elements > 1 or spec.braces:
        return "{" + ", ".join(f"%{type_}_{(index + i) % 9}" for i in range(spec.elements)) + "}"
    return f"%{type_}_{index}"
