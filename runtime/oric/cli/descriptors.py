"""Encoding descriptors as text, for ``oric dump --descriptors``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oric_tables import descriptor as tables
from oric_tables import ops
from oric_tables.ori_operands import KIND_TEXTS

from oric.encode.descriptor import EncodingDescriptor, OperandWord, Value, build_encoding_descriptor
from oric.ir.function import Function
from oric.ir.kinds import GUARD, operand_kind


def descriptor_lines(f: Function, i: int) -> Iterator[str]:
    """What a descriptor holds, one line each: words, category, fields in and beside the words, operands.

    Raises:
        DescriptorError: the instruction has none; its registers are not allocated.
    """
    found = build_encoding_descriptor(f, i)
    yield "words    " + " ".join(f"{word:08x}" for word in found.words)
    yield "category " + _category(found)
    if found.placed:
        yield "fields   " + "; ".join(_placed(value) for value in found.placed)
    if found.unplaced:
        yield "unplaced " + "; ".join(_value(value) for value in found.unplaced)
    parts = [name for name in ("texture scope", "special") if _part(found, name)]
    if _part(found, "operand count"):
        parts.append(f"operand count {_part(found, 'operand count')}")
    if parts:
        yield "flags    " + "; ".join(parts)
    words = [*([found.guard] if found.guard else []), *found.operands]
    if words:
        yield "operands " + "; ".join(map(_operand, words))
    kinds = list(_kinds(f, i))
    if kinds:
        yield "kinds    " + "; ".join(kinds)


def _kinds(f: Function, i: int) -> Iterator[str]:
    """What each operand is to register allocation."""
    if f.guard[i]:
        yield f"guard {KIND_TEXTS[operand_kind(f, i, GUARD)]}"
    for at in range(f.count[i]):
        kind = operand_kind(f, i, at)
        if kind:
            yield f"{ops.op(f.op[i]).operands[at].name} {KIND_TEXTS[kind]}"


def _part(found: EncodingDescriptor, name: str) -> int:
    place = tables.PARTS[name]
    value: int = found.words[place.word] >> place.first & (1 << place.width) - 1
    return value


def _category(found: EncodingDescriptor) -> str:
    """The category and where it is from, or why there is none."""
    handler = f", sub-handler {found.handler}" if found.handler else ""
    if found.extended is not None:
        return f"{found.category}: {found.meaning}, sub-opcode {found.extended.sub_opcode:#x}{handler}"
    if found.case is None:
        return f"unknown: no document has a case of {found.opcode}{handler}"
    case = f"case {_spans(found.case.ids, '#04x')} {found.case.text}{handler}"
    if found.category is not None:
        return f"{found.category}: {case}"
    candidates = f", one of {_spans(found.case.categories)}" if found.case.categories else ""
    return f"unknown{candidates}: {case}"


def _placed(value: Value) -> str:
    place = tables.CLASS_FIELDS[value.ids[0]].place
    assert place is not None
    bits = f"{place.first}" if place.width == 1 else f"{place.first}-{place.first + place.width - 1}"
    return f"{_value(value)} in a3[{place.word}] {bits}"


def _value(value: Value) -> str:
    number = "" if value.text == str(value.number) else f" ({value.number})"
    namespace = "operand field " if value.namespace == "operand" else ""
    return f"{namespace}{_spans(value.ids)} {value.name} = {value.text}{number}"


def _operand(operand: OperandWord) -> str:
    if operand.number is None:
        return f"{operand.name} {operand.register} {operand.word:#06x}"
    group, sub = tables.class_of(operand.number)
    field = tables.write_register_field(0, tables.hardware_register(group, sub))
    return f"{operand.name} {operand.register} {operand.word:#06x} ({group}:{sub} {field:#010x})"


def _spans(ids: Iterable[int], form: str = "") -> str:
    """Ascending numbers in short: ``449-456``, ``10 13``."""
    out: list[list[int]] = []
    for number in ids:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return " ".join(f"{a:{form}}" if a == b else f"{a:{form}}-{b:{form}}" for a, b in out)
