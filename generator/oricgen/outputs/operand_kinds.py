"""``oric_tables/operand_kinds.py``: which kinds of source each operation takes on each ISA, and with which signs.

Read off the forms of spec/encoding, for the passes that put immediates and constants into operands, and
spec/special_values.yaml for those that merge or move instructions.
"""

from __future__ import annotations

from ..errors import SpecError
from ..isa import rows
from ..isa.model import KINDS, Form, Operation
from ..render import template
from ..spec import Spec

VALUES = "special_values.yaml"
KEY_BITS = 4
NEG, ABS, INV = 1, 2, 4


def render(spec: Spec) -> dict[str, str]:
    """Render the table of operand kinds."""
    machine = rows.load(spec)
    pool: dict[tuple[tuple[int, str], ...], int] = {}
    table = {}
    for isa in machine.isas:
        for operation in machine.operations:
            key = _combinations(operation, operation.forms.get(isa, ()))
            table[isa, operation.number] = pool.setdefault(key, len(pool))
    values = spec.load(VALUES)
    uniform, stable = ({int(n) for n in values[name]} for name in ("uniform", "stable"))
    if both := uniform & stable:
        message = f"stable: {', '.join(map(str, sorted(both)))} is listed as uniform too"
        raise SpecError(spec.path(VALUES), values.line_of("stable"), message)
    return {
        "oric_tables/operand_kinds.py": template(
            "operand_kinds.py.j2",
            isas=machine.isas,
            pool=list(pool),
            table={isa: [0, *(table[isa, o.number] for o in machine.operations)] for isa in machine.isas},
            positions=[(), *(_positions(o) for o in machine.operations)],
            signs=[(), *(_signs(o) for o in machine.operations)],
            uniform=sorted(uniform),
            stable=sorted(stable),
        )
    }


def _positions(operation: Operation) -> tuple[int, ...]:
    """Sources that may be of several kinds in some form, as operand positions."""
    return tuple(i for i, o in enumerate(operation.operands) if not o.writes and o.name in ("Ra", "Rb", "Rc"))


def _signs(operation: Operation) -> tuple[int, ...]:
    marks = {"-": NEG, "|": ABS, "~": INV}
    return tuple(sum(bit for mark, bit in marks.items() if mark in operation.operands[i].marks) for i in _positions(operation))


def _combinations(operation: Operation, forms: tuple[Form, ...]) -> tuple[tuple[int, str], ...]:
    positions = _positions(operation)
    found: dict[int, str] = {}
    for form in forms:
        kinds = {o.index: o for o in form.operands}
        key, number = 0, ""
        for place, position in enumerate(positions):
            operand = kinds.get(position)
            key |= (KINDS[operand.kind] if operand is not None else 0) << KEY_BITS * place
            if operand is not None and operand.kind == "imm":
                number = operand.spec
        found.setdefault(key, number)
    return tuple(sorted(found.items()))
