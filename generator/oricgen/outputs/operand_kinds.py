"""``oric_tables/operand_kinds.py``: which kinds of source each operation takes on each ISA, and with which signs.

Read off the forms of spec/encoding, for the passes that put immediates and constants into operands, and
spec/special_values.yaml for those that merge or move instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import SpecError
from ..isa import rows
from ..isa.model import KINDS, Form, Operation, is_source
from ..render import template
from ..spec import Spec
from ..tables import conversions, macros

VALUES = "special_values.yaml"
_Combinations = tuple[tuple[int, tuple[str, ...]], ...]  # key and the number formats of the immediates, "" for other sources
KEY_BITS = 3
SOURCES = 3
NEG, ABS, INV = 1, 2, 4


def render(spec: Spec) -> dict[str, str]:
    """Render the table of operand kinds."""
    machine = rows.load(spec)
    operations = [*machine.operations, *macros.load(spec)]
    pool: dict[_Combinations, int] = {}
    table = {}
    for isa in machine.isas:
        for operation in operations:
            key = _of_conversions(spec, operation, isa) or _of(operation, isa)
            table[isa, operation.number] = pool.setdefault(key, len(pool))
    values = spec.load(VALUES)
    uniform, stable = ({int(n) for n in values[name]} for name in ("uniform", "stable"))
    listed = {name: [int(n) for n in values[name]] for name in ("block_places", "warp_places", "distinct", "largest")}
    for name, numbers in listed.items():
        if other := set(numbers) - stable:
            message = f"{name}: {min(other)} is not listed as stable"
            raise SpecError(spec.path(VALUES), values.line_of(name), message)
    if both := uniform & stable:
        message = f"stable: {', '.join(map(str, sorted(both)))} is listed as uniform too"
        raise SpecError(spec.path(VALUES), values.line_of("stable"), message)
    formats = ["", "none", *sorted({number for key in pool for _, numbers in key for number in numbers if number})]
    positions = [(), *(_positions(o) for o in operations)]
    return {
        "oric_tables/operand_kinds.py": template(
            "operand_kinds.py.j2",
            formats=formats,
            pool=[_packed(key, formats) for key in pool],
            table={isa: _hex([[0], *([table[isa, o.number]] for o in operations)]) for isa in machine.isas},
            positions=_hex(_padded([p + 1 for p in row]) for row in positions),
            signs=_hex(_padded(row) for row in [(), *(_signs(o) for o in operations)]),
            one_sign=_hex([[0], *([_one_sign(o)] for o in operations)]),
            halves=_hex([[0], *([int(_selects_halves(o))] for o in operations)]),
            uniform=sorted(uniform),
            stable=sorted(stable),
            places=listed["block_places"],
            warp=listed["warp_places"],
            distinct=sorted(listed["distinct"]),
            largest=sorted((int(n), most) for n, most in values["largest"].items()),
        )
    }


def _hex(rows: Iterable[Iterable[int]]) -> str:
    return bytes(value for row in rows for value in row).hex()


def _padded(row: Sequence[int]) -> list[int]:
    return [*row, *[0] * (SOURCES - len(row))]


def _packed(key: _Combinations, formats: list[str]) -> str:
    """Five bytes a combination: its key, the lower byte first, and the format of each source."""
    return _hex([k & 0xFF, k >> 8, *(formats.index(number or "none") for number in numbers)] for k, numbers in key)


def _selects_halves(operation: Operation) -> bool:
    """Whether the operation takes halves of its sources in some form."""
    return any(o.spec == "f16x2" for forms in operation.forms.values() for form in forms for o in form.operands)


def _positions(operation: Operation) -> tuple[int, ...]:
    """Sources that may be of several kinds in some form, as operand positions."""
    return tuple(i for i, o in enumerate(operation.operands) if is_source(o))


def _signs(operation: Operation) -> tuple[int, ...]:
    marks = {"-": NEG, "|": ABS, "~": INV}
    return tuple(sum(bit for mark, bit in marks.items() if mark in operation.operands[i].marks) for i in _positions(operation))


def _one_sign(operation: Operation) -> int:
    """Mask of the sources of which one at most has a sign."""
    return sum(1 << place for place, at in enumerate(_positions(operation)) if at in operation.flow.one_sign)


def _of(operation: Operation, isa: str) -> _Combinations:
    return _combinations(operation, operation.forms.get(isa, ())) if operation.forms else _taken(operation, operation.takes)


def _of_conversions(spec: Spec, operation: Operation, isa: str) -> _Combinations:
    """Of an operation that a model does not have and phase 5 converts: what all that take its place have."""
    rows = [row for row in conversions.load(spec) if row.op.number == operation.number and isa in row.isas]
    if not rows or operation.forms.get(isa) or not operation.forms:
        return ()
    each = [_of(row.to, isa) if row.to is not None else _taken(operation, row.takes) for row in rows]
    return tuple(entry for entry in each[0] if all(entry in others for others in each[1:]))


def _taken(operation: Operation, takes: Sequence[str]) -> _Combinations:
    """The combinations of what has no form: registers, and a constant in place of one of those that take it."""
    positions = _positions(operation)
    general = sum(KINDS["gpr"] << KEY_BITS * place for place in range(len(positions)))
    found = {general: ("",) * SOURCES}
    for place, position in enumerate(positions):
        operand = operation.operands[position]
        if operand.name in takes:
            rest = general & ~(7 << KEY_BITS * place)
            numbers = [""] * SOURCES
            numbers[place] = _constant(operation) or ("x64" if operand.width == "2" else "x32")
            found[rest | KINDS["imm"] << KEY_BITS * place] = tuple(numbers)
            found[rest | KINDS["cbank"] << KEY_BITS * place] = ("",) * SOURCES
    return tuple(sorted(found.items()))


def _constant(operation: Operation) -> str:
    """The format of constants in the forms that other models have, "" for none: the signs of a constant follow it."""
    forms = (form for _, of_model in sorted(operation.forms.items()) for form in of_model)
    return next((o.spec for form in forms for o in form.operands if o.index in _positions(operation) and o.kind == "imm"), "")


def _combinations(operation: Operation, forms: tuple[Form, ...]) -> _Combinations:
    positions = _positions(operation)
    found: dict[int, tuple[str, ...]] = {}
    for form in forms:
        kinds = {o.index: o for o in form.operands}
        key, numbers = 0, [""] * SOURCES
        if any(KINDS[o.kind] >> KEY_BITS for i, o in kinds.items() if i in positions):
            continue  # never a source that passes put there
        for place, position in enumerate(positions):
            operand = kinds.get(position)
            key |= (KINDS[operand.kind] if operand is not None else 0) << KEY_BITS * place
            if operand is not None and operand.kind == "imm":
                numbers[place] = operand.spec
        found.setdefault(key, tuple(numbers))
    return tuple(sorted(found.items()))
