"""The resolved encoding rows, one line a form: ``flat/<isa>.txt``, kept in git so that a review sees what a change means."""

from __future__ import annotations

from ..isa import bits
from ..isa.model import Form, FormOperand, Machine, Operation
from ..render import header

_OPCODE = 0xFFF


def render(machine: Machine, words: dict[str, int]) -> dict[str, str]:
    """The listings of all ISAs; ``words`` are the Ori opcode words by operation."""
    out = {}
    known: dict[int, str] = {}  # ISAs share forms

    def line(operation: Operation, form: Form) -> str:
        if id(form) not in known:
            known[id(form)] = _line(operation, words[operation.name], form)
        return known[id(form)]

    for isa in machine.isas:
        lines = [
            header("#", "oricgen.outputs.encoding", ["spec/encoding/*.yaml", "spec/formats.yaml", "spec/opcodes.yaml"]).rstrip()
        ]
        lines.append(
            "# operation (Ori opcode word): opcode and bits that act as such | operands | modifiers | bits kept at one | text"
        )
        for operation in machine.operations:
            lines += [line(operation, form) for form in operation.forms.get(isa, ())]
        out[f"flat/{isa}.txt"] = "\n".join(lines) + "\n"
    return out


def _line(operation: Operation, word: int, form: Form) -> str:
    match = form.mask & ~_OPCODE
    conditions = " ".join(f"{b}={form.value >> b & 1}" for b in range(bits.WORD) if match >> b & 1)
    operands = " ".join(_operand(operation.operands[o.index].name, o) for o in form.operands)
    mods = " ".join(_mod(operation, form, i) for i in range(len(form.mods)))
    fixed = bits.names(form.fixed) if form.fixed else "-"
    place = f"{form.value & _OPCODE:#05x} {conditions}"
    return f"{operation.name} ({word:#06x}): {place} | {operands or '-'} | {mods or '-'} | {fixed} | {form.text}"


def _operand(name: str, place: FormOperand) -> str:
    bits_of = (("-", place.neg), ("|", place.abs), ("~", place.inv), ("r", place.reuse))
    marks = "".join(f"{sign}{bit}" for sign, bit in bits_of if bit >= 0)
    second = f"+{place.second}" if place.second else ""
    default = "" if place.default is None or place.default.kind == "none" else "?"
    return f"{name}{default}:{place.spec}@{place.bits}{second}{'^' if place.invert else ''}{'=' if place.same else ''}{marks}"


def _mod(operation: Operation, form: Form, index: int) -> str:
    field = form.mods[index]
    mod = operation.mods[field.mod]
    names = {code: name for name, code in mod.codes.items()}
    if not names or list(mod.codes) == ["false", "true"]:
        return f"{mod.name}@{field.bits}"
    values = ",".join(f"{raw}={names[code]}" for raw, code in enumerate(field.decode) if code >= 0)
    return f"{mod.name}@{field.bits}[{values}]"
