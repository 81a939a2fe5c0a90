"""``mov`` with its many shapes: registers, constants, addresses, special registers, packing and unpacking of vectors."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .emit import FLOATING, INTEGER, OPERAND, Value, integer, packed, part
from .memory import Memory
from .program import Program

_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
_PACKED: Final = {"f16x2": 4, "bf16x2": 4, "e5m2x2": 2, "e4m3x2": 2, "e5m2x4": 4, "e4m3x4": 4}
DOUBLE_BYTES: Final = 8
_MASK32: Final = 0xFFFFFFFF


def type_bytes(name: str) -> int:
    """Size of a PTX type in bytes: ``"f16x2"`` has 4, ``"pred"`` 0."""
    if name in _PACKED:
        return _PACKED[name]
    return _BYTES.get(name.lstrip("abcdefghijklmnopqrstuvwxyz"), 0)


def move(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``mov``."""
    dest, source = operands
    if dest[0] == nodes.VEC:
        dest = _alone(dest)
    if source[0] == nodes.VEC:
        source = _alone(source)
    if dest[0] == nodes.VEC:
        _unpack(b, program, guard, dest[1], source)
        return
    if dest[0] == nodes.SINK:
        return
    target = b.dest(dest)
    if source[0] == nodes.VEC:
        _pack(b, program, guard, target, source[1])
        return
    if source[0] == nodes.SREG and b.read_special(source[1], target, guard):
        return
    value = b.value(source)
    if value.kind == OPERAND:
        b.move(target, _fit(b, value.bits, opd.count_of(target)), guard)
    elif b.code.is_predicate(target):
        b.move(target, opd.PT_OPERAND if value.bits else opd.NOT_PT_OPERAND, guard)
    else:
        b.set(target, constant(value, program.wide), guard)


def _alone(node: Any) -> Any:
    """The one element of a vector of one; any other vector as it is."""
    return node[1][0] if len(node[1]) == 1 else node


def move_vector(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``mov.v2`` and ``mov.v4``: element by element; all are read before one is written."""
    source = operands[1]
    if operands[0][0] != nodes.VEC or source[0] not in (nodes.VEC, nodes.SREG):
        raise NotSupported(f"{program.text} of a register")
    items = source[1]
    if source[0] == nodes.SREG:  # a vector of special registers
        items = [(nodes.SREG, f"{source[1]}.{component}") for component in "xyzw"]
    pairs = [(b.dest(to), b.value(item)) for to, item in zip(operands[0][1], items, strict=False) if to[0] != nodes.SINK]
    written = {to & opd.INDEX for to, _ in pairs}
    values: list[Value] = []
    for to, value in pairs:
        if value.kind == OPERAND and value.bits & opd.INDEX in written:
            copy = b.like(to)
            b.move(copy, value.bits)
            value = packed(copy)
        values.append(constant(value, opd.count_of(to) == 2))
    for (to, _), value in zip(pairs, values, strict=True):
        b.set(to, value, guard)


def constant(value: Value, wide: bool) -> Value:
    """A floating-point immediate as an integer one, of 64 bits when ``wide``; other operands as they are."""
    if value.kind == FLOATING:
        return integer(value.wide if wide else value.bits)
    return value


def _fit(b: Memory, value: i64, width: i64) -> i64:
    """A register operand cut or zero-extended to ``width`` registers."""
    if b.code.is_predicate(value):
        return value
    have = opd.count_of(value)
    if have == width:
        return value
    if have > width:
        return part(value, 0)
    wide = b.new_pair()
    b.copy(part(wide, 0), value, 0)
    b.copy(part(wide, 1), opd.RZ_OPERAND, 0)
    return wide


def word_of(value: Value, index: int) -> Value:
    """The 32-bit word ``index`` of a register or an integer immediate."""
    if value.kind == OPERAND:
        return packed(part(value.bits, index))
    if value.kind == INTEGER:
        return integer(value.bits >> 32 * index & _MASK32)
    return value if index == 0 else packed(opd.RZ_OPERAND)  # an address below 2**32


def _pack(b: Memory, program: Program, guard: i64, dest: i64, items: Any) -> None:
    """``mov.b64 %rd, {%r0, %r1}`` and the like."""
    size = type_bytes(program.types[-1])
    each = size // len(items)
    values = [constant(b.value(item), each == DOUBLE_BYTES) for item in items]
    if each >= 4:
        count = each // 4
        overlap = any(v.kind == OPERAND and (v.bits ^ dest) & opd.INDEX == 0 for v in values)
        out = b.like(dest) if overlap else dest
        for index, value in enumerate(values):
            for k in range(count):
                b.set(part(out, index * count + k), word_of(value, k), 0 if overlap else guard)
        if overlap:
            b.move(dest, out, guard)
        return
    words = [values[k : k + 4 // each] for k in range(0, len(values), 4 // each)]
    out = b.like(dest)
    for index, word in enumerate(words):
        pack_word(b, part(out, index), word, each)
    b.move(dest, out, guard)


def pack_word(b: Memory, dest: i64, items: list[Value], each: int) -> None:
    """Put the low bytes of two 16-bit, or of two or four 8-bit items into one register."""
    words = [packed(part(v.bits, 0) if v.kind == OPERAND else in_register(b, v)) for v in items]
    if each == 2:
        b.template("pack_halves", 0, dest, words[0], words[1])
    else:
        words += [packed(opd.RZ_OPERAND)] * (4 - len(words))
        b.template("pack_bytes", 0, dest, words[0], words[1], words[2], words[3])


def in_register(b: Memory, value: Value) -> i64:
    """A register with the lower 32 bits of a constant; RZ for 0."""
    if value.kind == INTEGER:
        return b.constant(value.bits & _MASK32) if value.bits else opd.RZ_OPERAND
    register = b.new_r()
    b.set(register, value)
    return register


def _unpack(b: Memory, program: Program, guard: i64, items: Any, source: Any) -> None:
    """``mov.b64 {%r0, %r1}, %rd`` and the like."""
    size = type_bytes(program.types[-1])
    each = size // len(items)
    given = b.value(source)
    if given.kind == INTEGER or given.kind == FLOATING:
        bits = constant(given, program.wide).bits
        for index, item in enumerate(items):
            if item[0] != nodes.SINK:
                b.set(b.dest(item), integer(bits >> 8 * each * index & (1 << 8 * each) - 1), guard)
        return
    value: int = given.bits
    if given.kind != OPERAND:
        value = b.new_pair()
        b.set(value, given)
    targets = [0 if i[0] == nodes.SINK else b.dest(i) for i in items]
    if any(t and not (t ^ value) & opd.INDEX for t in targets[:-1]):
        copy = b.like(value)
        b.move(copy, value)
        value = copy
    for index, target in enumerate(targets):
        if target:
            extract(b, target, value, index, each, False, guard)


def extract(b: Memory, dest: i64, wide: i64, index: int, each: int, signed: bool, guard: i64) -> None:
    """Element ``index`` of ``each`` bytes of a wide register, extended to the width of ``dest``."""
    if each >= 4:
        for k in range(each // 4):
            b.copy(part(dest, k), part(wide, index * (each // 4) + k), guard)
        if each < DOUBLE_BYTES:
            extend(b, dest, signed, guard)
        return
    word = part(wide, index * each // 4)
    at = index * each % 4
    if each == 2:
        selector = (0x9910, 0xBB32)[at // 2] if signed else (0x4410, 0x4432)[at // 2]
    else:
        selector = 0x8880 | 0x1111 * at if signed else 0x4440 | at
    b.template("permute", guard, part(dest, 0), packed(word), integer(selector), packed(opd.RZ_OPERAND))
    extend(b, dest, signed, guard)


def extend(b: Memory, dest: i64, signed: bool, guard: i64) -> None:
    """Fill the upper registers of a wide destination whose lowest holds a value."""
    if opd.count_of(dest) == 2:
        b.template2("sign_high" if signed else "zero_high", guard, dest, opd.RZ_OPERAND)
