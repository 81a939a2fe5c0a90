"""The encoding descriptor of an instruction: five words, as documented, and the words of its operands.

It mirrors a documented structure and is made from generated tables alone; machine code is not made from it. A field whose bits
no document gives is not placed: it is kept beside the words, by name.

Source: Registers, "Opcode Register Class Table", "SASS Instruction Register Encoding".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from oric_tables import descriptor as tables
from oric_tables import memory_spaces, ops, registers
from oric_tables.descriptor import Case, CaseField, ClassField, Extended, Place
from oric_tables.opcodes import base_opcode

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.text import operands_of

_WORD_MASK: Final = 0xFFFFFFFF
_KINDS: Final = {"R": "gpr", "UR": "ugpr", "P": "pred", "UP": "upred", "B": "breg"}  # file -> kind of an operand slot
_LETTERS: Final = {kind: letters for letters, kind in _KINDS.items()}
_GUARD_KINDS: Final = {"P": "pred", "UP": "upred"}
_PREDICATES: Final = ("pred", "upred")


class DescriptorError(ValueError):
    """A value that a descriptor cannot hold; the text names the field."""


class UnknownPlaceError(DescriptorError):
    """A field whose bits no document gives."""


class Value(NamedTuple):
    """A field and its value: ``ids`` of class or operand fields (``namespace``), ``text`` what the number stands for."""

    namespace: str
    ids: tuple[int, ...]
    name: str
    number: int
    text: str


class OperandWord(NamedTuple):
    """A register or predicate operand: its name in the operation, its register as text, its 16- or 13-bit word.

    ``number`` is the hardware number of a general or uniform register, None for RZ, URZ, predicates and barriers.
    """

    name: str
    register: str
    word: int
    number: int | None


class DescriptorWords:
    """The words under construction, with both packers."""

    __slots__ = ("placed", "unplaced", "words")

    def __init__(self) -> None:
        self.words = [0] * tables.WORDS
        self.placed: list[Value] = []
        self.unplaced: list[Value] = []

    def pack_class_field(self, number: int, value: int) -> None:
        """Write a field of packRegClassField over what was there.

        Raises:
            UnknownPlaceError: no document gives its bits.
            DescriptorError: there is no such field, or the value does not fit.
        """
        field = _class_field(number)
        place = _known_place(field)
        coded = int(value == field.test) if field.test is not None else value - field.base
        if not 0 <= coded < 1 << place.width:
            least = field.base
            raise DescriptorError(f"{_title(field)}: value {value} is not in {least} to {least + (1 << place.width) - 1}")
        self._write(place, coded)

    def class_field(self, number: int) -> int:
        """The value of a field of packRegClassField; for a field with a test: 1 when the value passed it, else 0.

        Raises:
            UnknownPlaceError: no document gives its bits.
            DescriptorError: there is no such field.
        """
        field = _class_field(number)
        base: int = field.base
        return self._read(_known_place(field)) + base

    def pack_operand_field(self, number: int, value: int) -> None:
        """Write a field of packOperandField, whose ids are a namespace of their own.

        Raises:
            UnknownPlaceError: no document gives the bits of any of them.
            DescriptorError: there is no such field.
        """
        if number not in tables.OPERAND_FIELDS:
            raise DescriptorError(f"there is no operand field {number}")
        name = tables.OPERAND_FIELDS[number] or "no name"
        raise UnknownPlaceError(f"operand field {number} ({name}): the place of value {value} is undocumented")

    def pack_part(self, name: str, value: int) -> None:
        """Write a named part of the words.

        Raises:
            DescriptorError: the value does not fit.
        """
        place = tables.PARTS[name]
        if not 0 <= value < 1 << place.width:
            raise DescriptorError(f"{name}: value {value} does not fit {place.width} bits")
        self._write(place, value)

    def part(self, name: str) -> int:
        """The value of a named part of the words."""
        return self._read(tables.PARTS[name])

    def put(self, value: Value) -> None:
        """Pack a value, or keep it in ``unplaced`` when no document says where it goes.

        Raises:
            DescriptorError: the value does not fit.
        """
        if len(value.ids) > 1:  # no document says which of them
            self.unplaced.append(value)
            return
        pack = self.pack_class_field if value.namespace == "class" else self.pack_operand_field
        try:
            pack(value.ids[0], value.number)
        except UnknownPlaceError:
            self.unplaced.append(value)
        else:
            self.placed.append(value)

    def _write(self, place: Place, coded: int) -> None:
        mask = (1 << place.width) - 1
        self.words[place.word] = (self.words[place.word] & ~(mask << place.first) | coded << place.first) & _WORD_MASK

    def _read(self, place: Place) -> int:
        value: int = self.words[place.word] >> place.first & (1 << place.width) - 1
        return value


@dataclass(frozen=True, slots=True)
class EncodingDescriptor:
    """The descriptor of one instruction.

    ``words`` are a3[0..4]; ``category`` is None where no document gives it (a3[0] then holds ``UNKNOWN_CATEGORY``). ``extended``
    is set on the extended memory path, ``meaning`` that of its category. ``placed`` and ``unplaced`` are the fields that the
    instruction has, in and beside the words.
    """

    opcode: str
    case: Case | None
    handler: str
    category: int | None
    words: tuple[int, ...]
    extended: Extended | None
    meaning: str
    placed: tuple[Value, ...]
    unplaced: tuple[Value, ...]
    operands: tuple[OperandWord, ...]
    guard: OperandWord | None


class _Instruction:
    """An instruction, with its operation."""

    __slots__ = ("f", "guard", "mods", "op", "opcode", "operands")

    def __init__(self, f: Function, i: int) -> None:
        self.f = f
        self.op = ops.op(f.op[i])
        self.opcode: int = base_opcode(self.op.word)  # operations that share an opcode go the same way
        self.mods: int = f.mods[i]
        self.guard: int = f.guard[i]
        self.operands = operands_of(f, i)

    def modifier(self, name: str) -> int:
        """The code of a modifier."""
        mod = self.op.mods[name]
        return self.mods >> mod.shift & mod.mask

    def has(self, name: str) -> bool:
        """Whether there is an operand and it is not left out; RZ as a result counts as left out."""
        for slot, operand in zip(self.op.operands, self.operands, strict=False):  # the last operands may be missing
            if slot.name == name:
                return opd.type_of(operand) != opd.NONE and not (slot.writes and operand == opd.RZ_OPERAND)
        return False


def build_encoding_descriptor(f: Function, i: int) -> EncodingDescriptor:
    """The descriptor of an instruction whose registers are allocated.

    Raises:
        DescriptorError: a value that does not fit, or a register without a number.
    """
    at = _Instruction(f, i)
    known = tables.OPCODES.get(at.opcode)
    case = known.case if known else None
    out = DescriptorWords()
    extended = _extended(at) if known and known.extended else None
    category, meaning = _category(at, case, extended)
    out.pack_part("category", tables.UNKNOWN_CATEGORY if category is None else category)
    fields = case.fields if case else ()
    if known and known.space >= 0:
        fields = (*tables.MEMORY_FIELDS, *fields)
    for field in fields:
        value = _value(field, at)
        if value is not None:
            out.put(value)
    if extended is not None:
        _put_extended(out, extended)
    if case and case.flag:
        out.pack_part(case.flag, 1)
    count = tables.EXTENDED_OPERAND_COUNT if extended else known.operand_count if known else 0
    out.pack_part("operand count", count)
    return EncodingDescriptor(
        at.op.name,
        case,
        known.handler if known else "",
        category,
        tuple(out.words),
        extended,
        meaning,
        tuple(out.placed),
        tuple(out.unplaced),
        tuple(_operands(at)),
        _operand_word(f, "guard", _GUARD_KINDS[at.op.guard], at.guard, 1) if at.guard else None,
    )


# -- fields ------------------------------------------------------------------------------------------------------


def _class_field(number: int) -> ClassField:
    if number not in tables.CLASS_FIELDS:
        raise DescriptorError(f"there is no class field {number}")
    return tables.CLASS_FIELDS[number]


def _known_place(field: ClassField) -> Place:
    if field.place is None:
        raise UnknownPlaceError(f"{_title(field)}: its bits are undocumented ({field.within})")
    return field.place


def _title(field: ClassField) -> str:
    return f"class field {field.id} ({field.name or 'no name'})"


def _value(field: CaseField, at: _Instruction) -> Value | None:
    """The value of a field, None when the instruction has none."""
    kind, _, name = field.source.partition(" ")
    op = at.op
    if kind == "mod" and name in op.mods:
        number = at.modifier(name)
        text = next((n for n, c in op.mods[name].values.items() if c == number), str(number))
    elif kind == "operand" and any(o.name == name for o in op.operands):
        number = int(at.has(name))
        text = str(number)
    elif kind == "guard":
        number = int(bool(at.guard))
        text = str(number)
    elif kind == "space":
        number = tables.OPCODES[at.opcode].space
        text = memory_spaces.NAMES[number]
    elif kind == "address":
        number, text = next(((c, t) for c, t, operand in tables.ADDRESS_TYPES if at.has(operand)), (0, "none"))
    else:
        return None
    return Value(field.place, field.ids, field.name, number, text)


# -- category and extended path --------------------------------------------------------------------------------


def _category(at: _Instruction, case: Case | None, extended: Extended | None) -> tuple[int | None, str]:
    if extended is not None:
        for category, when, meaning in tables.GATES:
            kind, _, name = when.partition(" ")
            if kind == "always" or (kind == "guard" and at.guard) or (kind == "operand" and at.has(name)):
                return category, meaning
    return (case.categories[0] if case and len(case.categories) == 1 else None), ""


def _extended(at: _Instruction) -> Extended:
    """The row of the extended path for the width of the access."""
    op = at.op
    how = tables.OPCODES[at.opcode].extended
    assert how is not None
    narrow = op.mods.get(tables.NARROW_MODIFIER)
    if narrow is not None:
        number = at.modifier(tables.NARROW_MODIFIER)
        if any(narrow.values.get(name) == number for name in tables.NARROW_VALUES):
            return tables.EXTENDED[how.narrow]
    data = next(name for name in how.data if any(o.name == name for o in op.operands))
    count = op.regs(op.index(data), at.mods)
    if count not in how.registers:
        raise DescriptorError(f"{op.name}: no sub-opcode of the extended path has {count} registers")
    return tables.EXTENDED[how.registers[count]]


def _put_extended(out: DescriptorWords, row: Extended) -> None:
    values = {"register_class": (row.register_class, row.class_name), "width": (row.width, row.width_name)}
    for column, number in tables.EXTENDED_FIELDS:
        value, text = values[column]
        out.put(Value("class", (number,), tables.CLASS_FIELDS[number].name, value, text))


# -- operand words ---------------------------------------------------------------------------------------------


def _operands(at: _Instruction) -> list[OperandWord]:
    """The words of the register and predicate operands that are there."""
    out = []
    for index, (slot, operand) in enumerate(zip(at.op.operands, at.operands, strict=False)):
        if opd.type_of(operand) == opd.REG:
            out.append(_operand_word(at.f, slot.name, slot.kind, operand, at.op.regs(index, at.mods)))
    return out


def _operand_word(f: Function, name: str, kind: str, operand: int, count: int) -> OperandWord:
    """One operand; ``kind`` is that of its slot, which a register of another file overrides."""
    index = opd.index_of(operand)
    number: int | None = None
    if index not in (opd.RZ, opd.PT):
        if index >= f.registers() or f.physical[index] == NONE:
            raise DescriptorError(f"operand {name}: register {index} has no number")
        kind = _KINDS[registers.DISPLAY[f.reg_type[index]]]
        number = f.physical[index] + opd.first_of(operand)
    text = f"{_LETTERS[kind]}{number}"
    if kind in _PREDICATES:
        negated = bool(operand & opd.NEGATE)
        word = tables.predicate_word(kind, number, negated)
        text = text if number is not None else f"{'U' if kind == 'upred' else ''}PT"
        return OperandWord(name, f"{'!' if negated else ''}{text}", word, None)
    tag = tables.TAG_OF.get((kind, count))
    if tag is None:
        raise DescriptorError(f"operand {name}: no register type has {count} registers of kind {kind}")
    word = tables.register_word(tag, opd.RZ if number is None else number)
    if number is None:
        text = "URZ" if kind == "ugpr" else "RZ"
    return OperandWord(name, text, word, number if kind != "breg" else None)
