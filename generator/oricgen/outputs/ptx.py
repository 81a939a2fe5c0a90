"""``oric_tables/ptx_index.py`` and one ``ptx_<family>.py`` per file of spec/ptx: what the parser knows of PTX."""

from __future__ import annotations

from ..ptx import BIT, FLAGS, Family, Form, Gate, Instruction, Operand, class_masks, families, load_types, version
from ..render import header
from ..spec import Spec
from ..strictyaml import Map
from ..tables import ptx_nodes
from ..tables._line import levels
from ..tables.ptx_directives import load as load_directives
from ..tables.special_registers import resolved as resolved_registers
from ..tables.targets import load as load_targets

_ME = "generator/oricgen/outputs/ptx.py"


def render(spec: Spec) -> dict[str, str]:
    """Render the index (types, registers, directives, names) and the families."""
    found = families(spec)
    out = {f"oric_tables/ptx_{f.stem}.py": _render_family(f) for f in found}
    out["oric_tables/ptx_index.py"] = _render_index(spec, found)
    out["flat/ptx.txt"] = _render_flat(found)
    return out


def _render_flat(found: list[Family]) -> str:
    """One line per resolved form: name, slots (``?`` = optional), operands, what version and target it needs."""
    text = header("#", _ME, ["spec/ptx/*.yaml"])
    for family in found:
        text += f"\n# {family.stem}\n"
        text += "".join(f"{i.name} | {_flat_form(f)}\n" for i in family.instructions for f in i.forms)
        text += _flat_words("", family.gates)
        text += "".join(_flat_words(f"{i.name} ", i.gates) for i in family.instructions)
    return text


def _flat_words(where: str, gates: dict[str, Gate]) -> str:
    return "".join(f"# {where}.{word} needs {_flat_gates(*gate)}\n" for word, gate in sorted(gates.items()))


def _flat_form(form: Form) -> str:
    slots = " ".join(f"{field}{'' if need else '?'}={','.join(values)}" for field, values, need in form.slots)
    operands = ", ".join(_flat_operand(o) for o in form.operands) or form.special or "no operands"
    gone = f", gone from {_flat_gates(*form.removed, ())}" if form.removed else ""
    mode = f", texmode_{form.texmode}" if form.texmode else ""
    needs = "".join(f", {name} needs {_flat_gates(*gate)}" for name, gate in form.needs.items())
    told = f", warns: {form.warning}" if form.warning else ""
    return f"{slots or '-'} | {operands} | {_flat_gates(form.ptx, form.sm, form.arch)}{gone}{mode}{needs}{told}"


def _flat_gates(ptx: int, sm: int, arch: tuple[str, ...]) -> str:
    parts = [f"PTX {ptx // 10}.{ptx % 10}"] if ptx else []
    parts += [f"sm_{sm}"] if sm else []
    return " ".join([*parts, *arch]) or "any"


def _flat_operand(operand: Operand) -> str:
    flags = "+".join(flag for flag in FLAGS if operand.mask & BIT[flag])
    bounds = "<{}..{}/{}>".format(*operand.bounds) if operand.bounds else ""
    bounds += f"<{'|'.join(map(str, operand.choices))}>" if operand.choices else ""
    count = f"*{operand.count}" if operand.count else ""
    pair = f"{'?' if operand.pair_optional else ''}|{_flat_operand(operand.pair)}" if operand.pair else ""
    rest = f"[{', '.join(map(_flat_operand, operand.rest))}]" if operand.rest else ""
    part = f".{operand.part}" if operand.part else ""
    return f"{operand.name}{part}{'?' if operand.optional else ''}:{operand.type}{count}({flags}){bounds}{pair}{rest}"


def _render_family(family: Family) -> str:
    text = header("#", _ME, [f"spec/ptx/{family.stem}.yaml"])
    text += f'"""PTX signatures: {family.stem}."""\n\n'
    text += "from typing import Any, Final\n\n"
    text += "# qualifier -> (least PTX version * 10, least SM, exact targets)\n"
    text += f"GATES: Final[dict[str, tuple[int, int, tuple[str, ...]]]] = {family.gates!r}\n"
    text += "# count of an operand -> (slot, its value -> elements of the vector)\n"
    text += f"COUNTS: Final[dict[str, tuple[str, dict[str, int]]]] = {family.counts!r}\n"
    text += "# name -> (section, forms, gates of its own); form: slots, operands, ptx, sm, arch, special, removed, texmode,\n"
    text += "# warning, what optional operands need\n"
    text += "FORMS: Final[dict[str, tuple[str, tuple[Any, ...], dict[str, tuple[int, int, tuple[str, ...]]]]]] = {\n"
    for instruction in family.instructions:
        text += _render_instruction(instruction)
    return text + "}\n"


def _render_instruction(instruction: Instruction) -> str:
    text = f"    {instruction.name!r}: ({instruction.section!r}, (\n"
    for form in instruction.forms:
        text += f"        {_form(form)!r},\n"
    return text + f"    ), {instruction.gates!r}),\n"


def _form(form: Form) -> tuple[object, ...]:
    return (
        form.slots,
        tuple(_operand(o) for o in form.operands),
        form.ptx,
        form.sm,
        form.arch,
        form.special,
        form.removed,
        form.texmode,
        form.warning,
        tuple(form.needs.items()),  # nothing but constants: a module of them loads fast
    )


def _operand(operand: Operand) -> tuple[object, ...]:
    pair = None if operand.pair is None else (_operand(operand.pair), operand.pair_optional)
    rest = tuple(_operand(o) for o in operand.rest)
    limits = operand.bounds, operand.choices, operand.part
    return (operand.name, operand.type, operand.mask, operand.optional, *limits, pair, operand.count, rest)


def _render_index(spec: Spec, found: list[Family]) -> str:
    types = load_types(spec)
    text = header("#", _ME, ["spec/ptx/*.yaml", "spec/ptx_nodes.yaml", "spec/sm_targets.yaml"])
    text += '"""PTX types, targets, special registers, directives and the index of instruction names."""\n\n'
    text += "from typing import Final\n\n"
    for index, flag in enumerate(FLAGS):
        text += f"{flag.upper()}: Final = {1 << index}\n"
    text += "# class of operands -> bits of a mask that stand for it; nodes of operands that it has\n"
    text += _table("CLASSES", "int", dict(class_masks(spec)))
    nodes: dict[str, object] = {row.values["class"]: tuple(row.values["nodes"]) for row in ptx_nodes.load(spec)["classes"]}
    text += _table("CLASS_NODES", "tuple[str, ...]", nodes)
    *entries, outside = ptx_nodes.load(spec)["sizes"]
    text += "# size class of a type, OUT_OF_RANGE for none; registers of 32 bits by size class\n"
    text += f"OUT_OF_RANGE: Final = {outside.values['size']}\n"
    text += f"SIZE_REGISTERS: Final[dict[int, int]] = { {r.values['size']: r.values['registers'] for r in entries}!r}\n"
    text += _table("SIZES", "int", {n: ptx_nodes.size_of(spec, r["size"]) for n, r in types["types"].items()})
    text += "# type -> (kind, bits, may be a register, least PTX version * 10, least SM)\n"
    text += _table("TYPES", "tuple[str, int, bool, int, int]", _types(types))
    text += f"SPACES: Final = {tuple(types['spaces'])!r}\n"
    text += "# state spaces whose variables a generic address may name; types that no variable in .param can have\n"
    text += f"GENERIC: Final = frozenset({sorted(types['generic'])!r})\n"
    text += f"NO_PARAMETER: Final = frozenset({sorted(n for n, r in types['types'].items() if 'parameter' in r)!r})\n"
    text += "# parts of a register that an operand may name: set -> pattern\n"
    text += f"PARTS: Final[dict[str, str]] = {dict(types['parts'])!r}\n"
    text += "# qualifiers that may be written more than once\n"
    text += f"REPEATABLE: Final = frozenset({sorted(types['repeatable'])!r})\n"
    text += f"ORDERED: Final = frozenset({sorted(types['ordered'])!r})\n"
    text += '# bits of a vector, (PTX * 10, SM) that it needs, bits of an element, state spaces (all if empty, "" is generic)\n'
    rows = [(row, (version(row.get("ptx")), row.get("sm", 0))) for row in types["vector_limits"]]
    vectors = tuple((row["bits"], gate, row.get("element", row["bits"]), tuple(row.get("spaces", ()))) for row, gate in rows)
    text += f"VECTOR_LIMITS: Final[tuple[tuple[int, tuple[int, int], int, tuple[str, ...]], ...]] = {vectors!r}\n"
    text += "# target -> (level: what gates compare, suffix, lowest of its family or 0, least PTX version * 10, has code)\n"
    text += _table("TARGETS", "tuple[int, str, int, int, bool]", _targets(spec))
    text += "# word of .target -> (least PTX version * 10, SM from which on it is gone or 0, excluded words)\n"
    options: dict[str, object] = {
        n: (version(r.get("ptx")), r.get("below", 0), tuple(r.get("excludes", ()))) for n, r in types["target_options"].items()
    }
    text += _table("TARGET_OPTIONS", "tuple[int, int, tuple[str, ...]]", options)
    versions = tuple(tuple(map(int, v.split("."))) for v in types["versions"]["major_minor"])
    text += f"VERSIONS: Final = frozenset({sorted(versions)!r})\n"
    text += "# special register without % -> (type, vector elements, least PTX version * 10, least SM, older sizes)\n"
    text += _table("SPECIAL", "tuple[str, int, int, int, tuple[int, ...]]", resolved_registers(spec))
    text += "# bytes of a kernel's parameters, (PTX * 10, SM) that they need\n"
    limits = tuple((row["bytes"], (version(row.get("ptx")), row.get("sm", 0))) for row in types["parameter_limits"])
    text += f"PARAMETER_LIMITS: Final = {limits!r}\n"
    text += f"PARAMETER_ALIGNMENT: Final = {types['parameter_alignment']}\n"
    text += "# directive -> (least count, most count, least value, greatest or 0, fill with 1, what it stands on, PTX * 10, SM,\n"
    text += "#               PTX * 10 that has it no more or 0, excluded directives, needed ones, ones of which it wants one)\n"
    kinds = "tuple[int, int, int, int, bool, tuple[str, ...], int, int, int, tuple[str, ...], tuple[str, ...], tuple[str, ...]]"
    text += _table("DIRECTIVES", kinds, _directives(spec))
    text += _declarations(spec)
    text += "# first word -> ((further words of the name, family), ...), longest names first\n"
    return text + _table("HEADS", "tuple[tuple[tuple[str, ...], str], ...]", _heads(found))


def _table(name: str, value: str, rows: dict[str, object]) -> str:
    body = "".join(f"    {key!r}: {row!r},\n" for key, row in rows.items())
    return f"{name}: Final[dict[str, {value}]] = {{\n{body}}}\n"


def _types(types: Map) -> dict[str, object]:
    return {
        n: (r["kind"], r["size"], r.get("register", False), version(r.get("ptx")), r.get("sm", 0))
        for n, r in types["types"].items()
    }


def _targets(spec: Spec) -> dict[str, object]:
    """The names that ``.target`` takes."""
    level = levels(spec)
    return {t.name: (level[t.name], t.variant, t.family, t.ptx, t.code) for t in load_targets(spec).by_name.values() if t.ptx}


def _directives(spec: Spec) -> dict[str, object]:
    out: dict[str, object] = {}
    for name, row in load_directives(spec).items():
        place = (*row["place"], "once") if row.get("once") else tuple(row["place"])
        values = (*row["values"], row.get("min", 0), row.get("max", 0), row.get("fill", False), place)
        gates = (version(row.get("ptx")), row.get("sm", 0), version(row.get("removed")))
        out[name] = (*values, *gates, *(tuple(row.get(c, ())) for c in ("excludes", "needs", "wants")))
    return out


def _declarations(spec: Spec) -> str:
    """Pragmas, attributes and opaque types."""
    data = spec.load("ptx/declarations.yaml", "ptx_declarations")
    pragmas: dict[str, object] = {
        n: (tuple(r["places"]), r.get("integer", False), r.get("registers", False), version(r.get("ptx")), r.get("sm", 0))
        for n, r in data["pragmas"].items()
    }
    opaque: dict[str, object] = {
        n: (tuple(r["fields"]), r.get("texmode", ""), version(r.get("ptx"))) for n, r in data["opaque"].items()
    }
    attributes: dict[str, object] = {
        n: (tuple(r["places"]), r.get("values", 0), version(r.get("ptx")), r.get("sm", 0)) for n, r in data["attributes"].items()
    }
    text = "# attribute -> (what it stands on, integers that follow, PTX * 10, SM)\n"
    text += _table("ATTRIBUTES", "tuple[tuple[str, ...], int, int, int]", attributes)
    text += "# pragma -> (where it may stand, whether an integer follows, registers for parameters, PTX * 10, SM)\n"
    text += _table("PRAGMAS", "tuple[tuple[str, ...], bool, bool, int, int]", pragmas)
    text += "# opaque type -> (fields, texture mode, PTX * 10); words that are values of fields\n"
    text += _table("OPAQUE", "tuple[tuple[str, ...], str, int]", opaque)
    return text + f"FIELD_VALUES: Final = frozenset({sorted(data['values'])!r})\n"


def _heads(found: list[Family]) -> dict[str, object]:
    heads: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, stem in ((i.name, f.stem) for f in found for i in f.instructions):
        first, *rest = name.split(".")
        heads.setdefault(first, []).append((tuple(rest), stem))
    return {first: tuple(sorted(rows, key=lambda r: (-len(r[0]), r))) for first, rows in sorted(heads.items())}
