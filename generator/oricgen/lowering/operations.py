"""What the lowering rules need to know of the operations of spec/encoding."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..isa import model, ranges, rows
from ..isa.model import is_source
from ..spec import Spec
from ..tables import conversions, macros, targets

# Bits of an operand slot. An immediate stands in a field, or (SLOT_IMM) in a place that is no source of variable kind; what such
# sources take besides registers says oric_tables.operand_kinds.
SLOT_PRED, SLOT_WIDE, SLOT_DEST, SLOT_VAR, SLOT_FIELD, SLOT_IMM, SLOT_SIGNED = (1 << n for n in range(7))  # signed: a field
SLOT_WIDTH = 12  # from this bit on: bits of a field in whose place a register may stand, 0 where none may
_ADDRESSING = frozenset({"base", "explicit"})  # modifiers of the form of an address: never meant by a bare value
_WORDS = frozenset(
    {"x32", "s32", "s64", "f32", "f64h", "f16", "bf16", "f16x2", "bf16x2"}
)  # formats that take what a register would hold


@dataclass(frozen=True)
class Column:
    """An operand of an operation; ``slot`` is a sum of the ``SLOT_`` bits.

    ``named``: a line gives it as ``NAME=...`` (predicates behind the first operand, and what has a default);
    ``optional``: it may be left out; ``immediate``: some form has an immediate there.
    """

    name: str
    slot: int
    named: bool
    optional: bool
    immediate: bool


@dataclass(frozen=True)
class Modifier:
    """Place of a modifier in the packed word; ``values`` maps the names of its values to packed codes."""

    name: str
    shift: int
    width: int
    values: dict[str, int]
    base: int  # xored into plain numbers

    @property
    def mask(self) -> int:
        """Largest value."""
        return (1 << self.width) - 1

    def place(self, value: int) -> tuple[int, int]:
        """(mask, bits) of a packed code in the packed word."""
        return self.mask << self.shift, value << self.shift


@dataclass
class Operation:
    """An operation: its number, operands in order, modifiers, the encoding models that have it (None: all), and the conversions
    of phase 5 on the others: models and conditions.
    """

    name: str
    number: int
    operands: list[Column]
    mods: dict[str, Modifier] = field(default_factory=dict)
    isas: tuple[str, ...] | None = None
    converted: tuple[tuple[tuple[str, ...], tuple[conversions.Condition, ...]], ...] = ()

    def converted_on(self, mods: int, open_: bool) -> set[str]:
        """The models without it on which phase 5 converts it with these modifiers; ``open_``: qualifiers decide on some."""
        return {isa for isas, conditions in self.converted for isa in isas if open_ or conversions.fits(mods, conditions)}

    def slot(self, name: str) -> int | None:
        """Index of an operand by name."""
        for index, column in enumerate(self.operands):
            if column.name == name:
                return index
        return None

    def modifier(self, text: str) -> tuple[int, int] | None:
        """(mask, bits) of the modifier value that ``text`` names (``FTZ``, ``rnd=RZ``); None when none or several do.

        A flag of that name goes before values of other modifiers.
        """
        key, equals, value = text.partition("=")
        if equals:
            row = self.mods.get(key)
            return row.place(row.values[value]) if row and value in row.values else None
        flag = self.mods.get(text.lower())
        if flag is not None and text in flag.values:
            return flag.place(flag.values[text])
        found = [m.place(m.values[text]) for m in self.mods.values() if text in m.values and m.name not in _ADDRESSING]
        return found[0] if len(found) == 1 else None

    def field(self, name: str, value: int) -> tuple[int, int] | None:
        """(mask, bits) of modifier ``name`` with a plain number; None when there is no such field or it is too narrow."""
        row = self.mods.get(name)
        return row.place(value ^ row.base) if row and 0 <= value <= row.mask else None


def load(spec: Spec) -> dict[str, Operation]:
    """All operations by name."""
    machine = rows.load(spec)
    compiled = {t.isa for t in targets.load(spec).with_code}
    isas = tuple(isa for isa in machine.isas if isa in compiled)
    found = {o.name: _operation(o, isas) for o in machine.operations}
    for name, others in conversions.converted(spec).items():
        if name in found:
            found[name].converted = tuple(others)
    return found | {o.name: replace(_operation(o, isas), isas=None) for o in macros.load(spec)}


def special_registers(spec: Spec) -> dict[str, tuple[int, tuple[str, ...] | None]]:
    """Numbers of the system registers, and the encoding models that have them, None for all."""
    data = spec.load("formats.yaml")
    isas = tuple(data["isas"])
    found: dict[str, tuple[int, list[str]]] = {}
    for isa in isas:
        names: dict[int, str] = {}
        for key, part in data["names"]["sreg"].items():
            if key == "all" or isa in ranges.expand(key, isas):
                names.update((int(number), name) for number, name in part.items())
        for number, name in names.items():
            found.setdefault(name, (number, []))[1].append(isa)
    return {name: (number, None if tuple(have) == isas else tuple(have)) for name, (number, have) in found.items()}


def _operation(row: model.Operation, isas: tuple[str, ...]) -> Operation:
    operands = [
        Column(
            o.name,
            _slot(row, o),
            o.default is not None or (o.kind in {"pred", "upred"} and index > 0),
            o.default is not None,
            o.name in row.takes or bool(_immediates(row, index)),
        )
        for index, o in enumerate(row.operands)
    ]
    mods = {m.name: Modifier(m.name, m.shift, m.width, _codes(m), 0 if m.codes else m.default) for m in row.mods}
    have = tuple(isa for isa in isas if row.forms.get(isa))
    return Operation(row.name, row.number, operands, mods, None if have == isas else have)


def _codes(mod: model.Modifier) -> dict[str, int]:
    """Values by name; a flag's name is its own in capitals, as it prints."""
    codes = dict(mod.codes)
    if "true" in codes:
        codes[mod.name.upper()] = codes["true"]
    return codes


def _slot(row: model.Operation, operand: model.Operand) -> int:
    index = row.operands.index(operand)
    slot = SLOT_DEST if operand.writes else 0
    if operand.kind in {"pred", "upred"}:
        slot |= SLOT_PRED
    registers = row.registers[index]
    if registers.table[0] == 2:  # without modifiers
        slot |= SLOT_WIDE
    elif registers.mods:
        slot |= SLOT_VAR
    formats = _immediates(row, index)
    if not formats <= _WORDS:
        slot |= SLOT_FIELD | (SLOT_SIGNED if all(name[0] == "s" for name in formats) else 0)
        if any(place.kind == "gpr" for place in _places(row, index)):
            slot |= min(int(name[1:]) for name in formats) << SLOT_WIDTH
    elif formats and not is_source(operand):
        slot |= SLOT_IMM
    return slot


def _places(row: model.Operation, index: int) -> list[model.FormOperand]:
    """An operand in all forms of an operation."""
    return [p for forms in row.forms.values() for form in forms for p in form.operands if p.index == index]


def _immediates(row: model.Operation, index: int) -> set[str]:
    """The number formats of an operand where it is an immediate."""
    return {place.spec for place in _places(row, index) if place.kind == "imm"}
