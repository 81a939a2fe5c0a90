"""PTX signatures: the forms of ``spec/ptx`` resolved, and what its qualifiers need."""

from __future__ import annotations

from ..ptx import BIT, FLAGS, Family, Form, Gate, Operand, families
from ..rows import Row
from ..spec import Spec
from ._shared import numbered, without_empty

NAME = "ptx"
FILES = ("ptx",)
_FEW = 6


def load(spec: Spec) -> list[Family]:
    """The families with their resolved forms."""
    return families(spec)


def rows(spec: Spec) -> list[Row]:
    """One row a form, called by its mnemonic (``add{.rnd}.f32``), and one a gate (``.cluster in atomics``)."""
    out: list[Row] = []
    for family in load(spec):
        path = f"spec/ptx/{family.stem}.yaml"
        data = spec.load(f"ptx/{family.stem}.yaml")
        for instruction in family.instructions:
            for form in instruction.forms:
                values = {"instruction": instruction.name, "family": family.stem, **_form(form), "section": instruction.section}
                out.append(Row(_mnemonic(form), without_empty(values), path, form.line))
            for word, gate in instruction.gates.items():
                line = data["instructions"][instruction.name]["gates"].line_of(word)
                out.append(Row(f".{word} of {instruction.name}", _gate(family, gate), path, line))
        for word, gate in family.gates.items():
            out.append(Row(f".{word} in {family.stem}", _gate(family, gate), path, data["gates"].line_of(word)))
        for slot, elements in data.get("counts", {}).items():
            out.append(Row(f"*{slot} in {family.stem}", dict(elements), path, data["counts"].line_of(slot)))
    return numbered(out)


def _gate(family: Family, gate: Gate) -> dict[str, object]:
    ptx, sm, arch = gate
    return without_empty({"family": family.stem, "ptx": version_text(ptx), "sm": sm, "arch": list(arch)})


def _mnemonic(form: Form) -> str:
    """The mnemonic of a syntax line with its types put in where they are few: ``add{.rnd}.f16,f16x2``."""
    types = next((values for name, values, _ in form.slots if name == "type"), ())
    head = form.syntax.partition(" ")[0]
    return head.removesuffix(".type") + "." + ",".join(types) if head.endswith(".type") and len(types) < _FEW else head


def _form(form: Form) -> dict[str, object]:
    return {
        "qualifiers": {name + ("" if need else "?"): list(values) for name, values, need in form.slots},
        "operands": [_operand(o) for o in form.operands],
        "ptx": version_text(form.ptx),
        "sm": form.sm,
        "arch": list(form.arch),
        "special": form.special,
        "texmode": form.texmode,
        "warning": form.warning,
        "needs": {name: f"PTX {version_text(gate[0])} sm_{gate[1]}" for name, gate in form.needs.items()},
        "removed": f"PTX {version_text(form.removed[0])} sm_{form.removed[1]}" if form.removed else "",
    }


def _operand(operand: Operand) -> str:
    """``d:$type (dest reg)``; ``?`` marks one that may be left out."""
    flags = " ".join(flag for flag in FLAGS if operand.mask & BIT[flag])
    bounds = " {}..{} step {}".format(*operand.bounds) if operand.bounds else ""
    bounds += f" one of {' '.join(map(str, operand.choices))}" if operand.choices else ""
    count = f" * {operand.count}" if operand.count else ""
    pair = f"{' ?' if operand.pair_optional else ' '}| {_operand(operand.pair)}" if operand.pair else ""
    rest = f" [{', '.join(map(_operand, operand.rest))}]" if operand.rest else ""
    part = f".{operand.part}" if operand.part else ""
    return f"{operand.name}{part}{'?' if operand.optional else ''}:{operand.type}{count} ({flags}){bounds}{pair}{rest}"


def version_text(number: int) -> str:
    """78 -> "7.8"; "" for no bound."""
    return f"{number // 10}.{number % 10}" if number else ""


def counts(spec: Spec) -> dict[str, int]:
    """Instructions and their forms."""
    found = load(spec)
    return {
        "instructions": sum(len(f.instructions) for f in found),
        "signatures": sum(len(i.forms) for f in found for i in f.instructions),
        "gated qualifiers": sum(len(f.gates) for f in found),
    }


def check(spec: Spec) -> None:
    """Load the signatures, which check themselves.

    Raises:
        SpecError: notation errors, unknown slots or types, a name given twice.
    """
    load(spec)


__all__ = ["FILES", "NAME", "check", "counts", "load", "rows", "version_text"]
