"""Hardware forms: the rows of ``spec/encoding`` resolved, one row for each form on each encoding model."""

from __future__ import annotations

from ..isa import bits
from ..isa import rows as machine_rows
from ..isa.model import Form, FormOperand, Machine, Operation
from ..rows import Row
from ..spec import Spec
from ._shared import numbered, without_empty

NAME = "forms"
FILES = ("encoding",)
_OPCODE = 0xFFF


def load(spec: Spec) -> Machine:
    """The machine model, which has the forms of every operation by encoding model."""
    return machine_rows.load(spec)


def rows(spec: Spec) -> list[Row]:
    """One row a form: ``FADD/sm_90/RI``; the place is the line of the entry that makes it."""
    paths = {op: f"spec/{name}" for name, data in spec.family(FILES[0]).items() for op in data["operations"]}
    return [
        row
        for operation in load(spec).operations
        for row in numbered(
            _row(operation, isa, form, paths[operation.name]) for isa, forms in operation.forms.items() for form in forms
        )
    ]


def _row(operation: Operation, isa: str, form: Form, path: str) -> Row:
    match = form.mask & ~_OPCODE
    values = without_empty(
        {
            "operation": operation.name,
            "isa": isa,
            "opcode": f"{form.value & _OPCODE:#05x}",
            "match": " ".join(f"{b}={form.value >> b & 1}" for b in range(bits.WORD) if match >> b & 1),
            "operands": {operation.operands[o.index].name: _operand(o) for o in form.operands},
            "modifiers": {operation.mods[m.mod].name: _modifier(operation, form, i) for i, m in enumerate(form.mods)},
            "ones": bits.names(form.fixed) if form.fixed else "",
            "text": form.text,
            "mask": f"{form.mask:032x}",
            "value": f"{form.value:032x}",
        }
    )
    return Row(f"{operation.name}/{isa}/{form.name}", values, path, form.line)


def _operand(place: FormOperand) -> str:
    """``gpr 24-31 neg 72 abs 73 reuse 122``: number format, bits, sign and reuse bits."""
    parts = [place.spec, f"{place.bits}{'^' if place.invert else ''}"]
    parts += [f"and {place.second}"] if place.second else []
    parts += [f">> {place.shift}"] if place.shift else []
    named = (("neg", place.neg), ("abs", place.abs), ("not", place.inv), ("reuse", place.reuse))
    parts += [f"{what} {bit}" for what, bit in named if bit >= 0]
    parts += ["signed"] * place.signed + ["same"] * place.same
    if place.default is not None and place.default.kind != "none":
        parts.append(f"default {'!' if place.default.negated else ''}{place.default.reg}")
    return " ".join(parts)


def _modifier(operation: Operation, form: Form, index: int) -> str:
    """``78-79 RN* RM RP RZ``: bits, then the values in hardware order (``*`` is the default, ``-`` is refused)."""
    field = form.mods[index]
    mod = operation.mods[field.mod]
    names = {code: name for name, code in mod.codes.items()}
    if not names or list(mod.codes) == ["false", "true"]:
        return str(field.bits) if -1 not in field.decode else f"{field.bits} {_values(field.decode, names)}"
    return f"{field.bits} {_values(field.decode, names)}"


def _values(decode: tuple[int, ...], names: dict[int, str]) -> str:
    return " ".join(names.get(code, str(code)) + "*" * (code == 0) if code >= 0 else "-" for code in decode)


def counts(spec: Spec) -> dict[str, int]:
    """Forms in all and by encoding model."""
    machine = load(spec)
    per_isa = {isa: len(machine.forms_of(isa)) for isa in machine.isas}
    return {"forms": sum(per_isa.values()), **{f"forms of {isa}": n for isa, n in per_isa.items()}}


def check(spec: Spec) -> None:
    """Nothing beyond what the operations check: both are one model."""
