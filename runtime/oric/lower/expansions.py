"""The few instructions whose lowering is no template: moves with their many shapes, vectors, parameters, control flow.

Each function takes the builder, the program, the guard operand (0 for none) and the PTX operand nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from oric.ir import operand as opd
from oric.ir import optable
from oric.ir.code import AUX_VOLATILE, Instruction
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .constants import divide_by_constant
from .program import DESC, OFF, D, M, Program, V

if TYPE_CHECKING:
    from .builder import OriBuilder

_PART: Final = ~(opd.WIDE | 3 << opd.WIDTH_SHIFT)
_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
DOUBLE_BYTES: Final = 8


def type_bytes(name: str) -> int:
    """Size of a PTX type in bytes: ``"f16x2"`` has 4, ``"pred"`` 0."""
    if name in ("f16x2", "bf16x2"):
        return 4
    return _BYTES.get(name.lstrip("abcdefghijklmnopqrstuvwxyz"), 0)


def part(operand: int, index: int) -> int:
    """The 32-bit part ``index`` of a register operand."""
    if operand & opd.INDEX_MASK == opd.RZ:
        return operand & _PART
    return (operand & _PART) + (index << opd.COMPONENT_SHIFT)


def width_of(operand: int) -> int:
    """Number of 32-bit registers of a register operand."""
    return 1 << (operand >> opd.WIDTH_SHIFT & 3)


# -- moves -------------------------------------------------------------------------------------------------


def move(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``mov``: registers, constants, addresses, special registers, packing and unpacking of vectors."""
    dest, source = operands
    if dest[0] == nodes.VEC:
        _unpack(b, program, guard, dest[1], source)
        return
    target = b.value(dest) if dest[0] != nodes.SINK else None
    if target is None:
        return
    if source[0] == nodes.VEC:
        _pack(b, program, guard, target, source[1])
        return
    if source[0] == nodes.SREG and b.read_special(source[1], target, guard):
        return
    value = b.value(source)
    if value.__class__ is int:
        b.move(target, _fit(b, value, width_of(target)), guard)
    elif b.is_predicate(target):
        b.move(target, opd.PT_OPERAND if value[1] else opd.NOT_PT_OPERAND, guard)
    else:
        b.move(target, _constant(value, program), guard)


def _constant(node: Any, program: Program) -> Any:
    """An immediate as an INT node of the type's size."""
    if node[0] == nodes.FLOAT:
        return (nodes.INT, node[2] if program.wide else node[1])
    return node


def _fit(b: OriBuilder, value: int, width: int) -> int:
    """A register operand cut or zero-extended to ``width`` registers."""
    if b.is_predicate(value):
        return value
    have = width_of(value)
    if have == width:
        return value
    if have > width:
        return part(value, 0)
    wide = b.new("R", 2)
    b.template("pair", d=wide, a=value, b=opd.RZ_OPERAND)
    return wide


def _pack(b: OriBuilder, program: Program, guard: int, dest: int, items: Sequence[Any]) -> None:
    """``mov.b64 %rd, {%r0, %r1}`` and the like."""
    size = type_bytes(program.types[-1])
    each = size // len(items)
    values = [_element(b.value(i), each) for i in items]
    if each >= 4:
        count = each // 4
        overlap = any(v.__class__ is int and (v ^ dest) & opd.INDEX_MASK == 0 for v in values)
        out = b.like(dest) if overlap else dest
        for index, value in enumerate(values):
            for k in range(count):
                item = part(value, k) if value.__class__ is int else (nodes.INT, value[-1] >> 32 * k & 0xFFFFFFFF)
                b.template("move", 0 if overlap else guard, d=part(out, index * count + k), a=item)
        if overlap:
            b.move(dest, out, guard)
        return
    words = [values[k : k + 4 // each] for k in range(0, len(values), 4 // each)]
    out = b.like(dest)
    for index, word in enumerate(words):
        _pack_word(b, part(out, index), word, each)
    b.move(dest, out, guard)


def _element(value: Any, size: int) -> Any:
    """A floating-point constant as an INT node of ``size`` bytes; other elements as they are."""
    if value.__class__ is not int and value[0] == nodes.FLOAT:
        return (nodes.INT, value[2] if size == DOUBLE_BYTES else value[1])
    return value


def _pack_word(b: OriBuilder, dest: int, items: Sequence[Any], each: int) -> None:
    """Put the low bytes of two 16-bit or four 8-bit items into one register."""
    registers = [part(v, 0) if v.__class__ is int else _in_register(b, v[1]) for v in items]
    if each == 2:
        b.template("pack_halves", d=dest, a=registers[0], b=registers[1])
    else:
        b.template("pack_bytes", d=dest, a=registers[0], b=registers[1], c=registers[2], e=registers[3])


def _in_register(b: OriBuilder, value: int) -> int:
    return b.constant(value & 0xFFFFFFFF) if value else opd.RZ_OPERAND


def _unpack(b: OriBuilder, program: Program, guard: int, items: Sequence[Any], source: Any) -> None:
    """``mov.b64 {%r0, %r1}, %rd`` and the like."""
    size = type_bytes(program.types[-1])
    each = size // len(items)
    value = b.value(source)
    if value.__class__ is not int:
        bits = _constant(value, program)[1]
        for index, item in enumerate(items):
            if item[0] != nodes.SINK:
                b.move(b.value(item), (nodes.INT, bits >> 8 * each * index & (1 << 8 * each) - 1), guard)
        return
    targets = [None if i[0] == nodes.SINK else b.value(i) for i in items]
    if any(t is not None and not (t ^ value) & opd.INDEX_MASK for t in targets[:-1]):
        copy = b.like(value)
        b.move(copy, value)
        value = copy
    for index, target in enumerate(targets):
        if target is not None:
            _extract(b, target, value, index, each, f"u{8 * each}", guard)


def _extract(b: OriBuilder, dest: int, wide: int, index: int, each: int, type_: str, guard: int) -> None:
    """Element ``index`` of ``each`` bytes of a wide register, extended to the width of ``dest``."""
    if each >= 4:
        for k in range(each // 4):
            b.template("move", guard, d=part(dest, k), a=part(wide, index * (each // 4) + k))
        return
    word = part(wide, index * each // 4)
    at = index * each % 4
    signed = type_[0] == "s"
    if each == 2:
        selector = (0x9910, 0xBB32)[at // 2] if signed else (0x4410, 0x4432)[at // 2]
    else:
        selector = 0x8880 | 0x1111 * at if signed else 0x4440 | at
    b.template("permute", guard, d=part(dest, 0), a=word, b=(nodes.INT, selector), c=opd.RZ_OPERAND)
    extend(b, dest, signed, guard)


def extend(b: OriBuilder, dest: int, signed: bool, guard: int) -> None:
    """Fill the upper registers of a wide destination whose lowest holds a value."""
    if width_of(dest) == 2:
        b.template("sign_high" if signed else "zero_high", guard, d=dest)


# -- loads and stores ----------------------------------------------------------------------------------------


def _elements(program: Program) -> tuple[int, int, str]:
    """Number of elements, bytes of each, type name of a load or store."""
    vector = program.tokens.get("vec", "v1")
    type_ = program.types[-1]
    return int(vector[1:]), type_bytes(type_), type_


def load(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``ld`` of every space but parameters."""
    env = b.env(program)
    env[M], env[OFF] = b.address(operands[1], program.options["space"])
    if program.uses_desc:
        env[DESC] = b.descriptor()
    dest = operands[0]
    before = b.block.tail if b.block else None
    _load_into(b, program, env, guard, dest)
    _mark_volatile(b, program, before)


def _mark_volatile(b: OriBuilder, program: Program, before: Instruction | None) -> None:
    """Tell the phases that the accesses behind ``before`` show what other threads do, where the machine word cannot say so."""
    if not program.options.get("volatile") or b.block is None:
        return
    node = b.block.head if before is None else before.next
    while node is not None:
        if optable.FLAGS[node.op] & optable.MEMORY:
            node.aux |= AUX_VOLATILE
        node = node.next


def _load_into(b: OriBuilder, program: Program, env: list[Any], guard: int, dest: Any) -> None:
    count, each, type_ = _elements(program)
    if count == 1:
        target = opd.RZ_OPERAND if dest[0] == nodes.SINK else b.value(dest)
        env[V] = target if each >= 4 else part(target, 0)
        narrow = each >= 8 and width_of(target) == 1 and target & opd.INDEX_MASK != opd.RZ
        if narrow:
            raise NotSupported(f"{program.text} into a register of 32 bits")
        b.run(program, env, guard)
        if each < 8 and target & opd.INDEX_MASK != opd.RZ:
            extend(b, target, type_[0] == "s", guard)
        return
    items = dest[1]
    wide = _vector_target(b, items, count, each)
    if wide:
        env[V] = wide
        b.run(program, env, guard)
        return
    env[V] = wide = b.new("R", max(1, count * each // 4))
    b.run(program, env, guard)
    for index, item in enumerate(items):
        if item[0] != nodes.SINK:
            _extract(b, b.value(item), wide, index, each, type_, guard)


def _vector_target(b: OriBuilder, items: Sequence[Any], count: int, each: int) -> int:
    """A new wide register whose parts become the elements' registers, when none of them has been used before."""
    if each < 4:
        return 0
    handles = [i[1] if i[0] == nodes.REG else -1 for i in items]
    per = each // 4
    if any(h >= 0 and (b.registers_[h] or b.sizes[h] != per) for h in handles):
        return 0
    real = [h for h in handles if h >= 0]
    if not real or len(set(real)) != len(real):
        return 0
    wide = b.new("R", count * per)
    for index, handle in enumerate(handles):
        if handle >= 0:
            b.registers_[handle] = opd.reg(wide & opd.INDEX_MASK, index * per, per - 1)
    return wide


def store(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``st`` of every space but parameters."""
    count, each, _ = _elements(program)
    env = b.env(program)
    env[M], env[OFF] = b.address(operands[0], program.options["space"])
    if program.uses_desc:
        env[DESC] = b.descriptor()
    items = operands[1][1] if operands[1][0] == nodes.VEC else (operands[1],)
    env[V] = _store_value(b, program, items, count, each)
    before = b.block.tail if b.block else None
    b.run(program, env, guard)
    _mark_volatile(b, program, before)


def _store_value(b: OriBuilder, program: Program, items: Sequence[Any], count: int, each: int) -> int:
    values = [b.value(i) for i in items]
    values = [v if v.__class__ is int else _constant(v, program) for v in values]
    width = max(1, count * each // 4)
    if all(v.__class__ is not int and not v[1] for v in values):
        return opd.RZ_OPERAND
    if count == 1:
        value = values[0]
        if value.__class__ is int:
            return value if width == width_of(value) else part(value, 0)
        return b.constant64(value[1]) if width == 2 else b.constant(value[1] & 0xFFFFFFFF)
    per = max(1, each // 4)
    if each >= 4 and _in_sequence(b, values, per, width):
        return opd.reg(values[0] & opd.INDEX_MASK, values[0] >> opd.COMPONENT_SHIFT & 3, width.bit_length() - 1)
    wide = b.new("R", width)
    if each < 4:
        for index in range(width):
            group = 4 // each
            chosen = list(values[index * group : index * group + group])
            while len(chosen) < group:
                chosen.append((nodes.INT, 0))
            _pack_word(b, part(wide, index), chosen, each)
        return wide
    for index, value in enumerate(values):
        for k in range(per):
            item = part(value, k) if value.__class__ is int else (nodes.INT, value[1] >> 32 * k & 0xFFFFFFFF)
            b.template("move", d=part(wide, index * per + k), a=item)
    return wide


def _in_sequence(b: OriBuilder, values: Sequence[Any], per: int, width: int) -> bool:
    """True when the values are the parts of one wide register in order."""
    first = values[0]
    if first.__class__ is not int:
        return False
    start = first >> opd.COMPONENT_SHIFT & 3
    descriptor = b.code.regs[first & opd.INDEX_MASK] if first & opd.INDEX_MASK != opd.RZ else None
    if descriptor is None or start % width or descriptor.size < start + width:
        return False
    return all(v.__class__ is int and v == first + (k * per << opd.COMPONENT_SHIFT) for k, v in enumerate(values))


# -- parameters ------------------------------------------------------------------------------------------------


def load_param(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``ld.param``: of a kernel from bank 0, of a call from the registers of the parameter variable."""
    _, each, type_ = _elements(program)
    items = operands[0][1] if operands[0][0] == nodes.VEC else (operands[0],)
    node = operands[1]
    place = b.symbols[node[1]] if node[0] == nodes.ADDR_SYM else None
    if place is not None and place.space == "param":
        for index, item in enumerate(items):
            if item[0] != nodes.SINK:
                _read_words(b, b.value(item), place, node[2] + index * each, each, type_, guard)
        return
    for index, item in enumerate(items):
        if item[0] != nodes.SINK:
            load_constant(b, b.value(item), node, index * each, each, type_, 0, guard)


def load_const(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``ld.const``: from bank 3."""
    _, each, type_ = _elements(program)
    items = operands[0][1] if operands[0][0] == nodes.VEC else (operands[0],)
    for index, item in enumerate(items):
        if item[0] != nodes.SINK:
            load_constant(b, b.value(item), operands[1], index * each, each, type_, 3, guard)


def load_constant(b: OriBuilder, dest: int, node: Any, add: int, each: int, type_: str, bank: int, guard: int) -> None:
    """One element from a constant bank: a move when the address is known, else LDC."""
    if node[0] == nodes.ADDR_SYM:
        place = b.symbols[node[1]]
        if place.space not in ("const", "kernel"):
            raise NotSupported(f"ld of {place.space} variable {place.name} here")
        offset = b.bank_offset(place) + node[2] + add
        if each >= 4 and offset % 4 == 0 and 0 <= offset < 65536:
            op, mods = b.move_op, b.move_mods
            for k in range(each // 4):
                b.append(op, [part(dest, k), opd.const_bank(bank, offset + 4 * k)], mods, guard)
            if each == 4:
                extend(b, dest, type_[0] == "s", guard)
            return
        base = opd.RZ_OPERAND
    else:
        base, displacement = b.address(node, "const")
        offset = _as_signed(b.code.imm_value(displacement)) + add
    if not -(1 << 15) <= offset < 1 << 15 and base != opd.RZ_OPERAND:
        moved = b.new("R")
        b.template("add_constant", d=moved, a=base, b=(nodes.INT, offset))
        base, offset = moved, 0
    name = f"load_constant_{type_[0] if type_[0] == 's' and each < 4 else 'u'}{8 * min(each, 8)}"
    for k in range(max(1, each // 8)):
        target = dest if each == 8 else part(dest, 2 * k)
        if each == 16:
            target = opd.reg(dest & opd.INDEX_MASK, 2 * k, 1)
        b.template(name, guard, d=target, a=base, b=opd.const_bank(bank, 0), c=(nodes.INT, offset + 8 * k))
    if each <= 4:
        extend(b, dest, type_[0] == "s", guard)


def _as_signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _word(b: OriBuilder, place: Any, index: int) -> int:
    if not 0 <= index < len(place.words):
        raise NotSupported(f"access outside parameter {place.name}")
    if not place.words[index]:
        place.words[index] = b.new("R")
    word: int = place.words[index]
    return word


def _read_words(b: OriBuilder, dest: int, place: Any, offset: int, each: int, type_: str, guard: int) -> None:
    if each >= 4:
        if offset % 4:
            raise NotSupported(f"unaligned access to parameter {place.name}")
        for k in range(each // 4):
            b.template("move", guard, d=part(dest, k), a=_word(b, place, offset // 4 + k))
        if each == 4:
            extend(b, dest, type_[0] == "s", guard)
        return
    _extract(b, dest, _word(b, place, offset // 4), offset % 4 // each, each, type_, guard)


def store_param(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``st.param``: into the registers of a parameter variable."""
    _, each, _ = _elements(program)
    node = operands[0]
    place = b.symbols[node[1]] if node[0] == nodes.ADDR_SYM else None
    if place is None or place.space != "param":
        raise NotSupported(f"{program.text} at a computed address")
    items = operands[1][1] if operands[1][0] == nodes.VEC else (operands[1],)
    for index, item in enumerate(items):
        value = b.value(item)
        if value.__class__ is not int:
            value = _constant(value, program)
        at = node[2] + index * each
        if each >= 4:
            for k in range(each // 4):
                source = part(value, k) if value.__class__ is int else (nodes.INT, value[1] >> 32 * k & 0xFFFFFFFF)
                b.template("move", guard, d=_word(b, place, at // 4 + k), a=source)
            continue
        fresh = not place.words[at // 4]
        word = _word(b, place, at // 4)
        source = part(value, 0) if value.__class__ is int else _in_register(b, value[1])
        if fresh:
            b.template("move", d=word, a=(nodes.INT, 0))
        low = at % 4
        keep = [0, 1, 2, 3]
        for k in range(each):
            keep[low + k] = 4 + k
        selector = sum(k << 4 * n for n, k in enumerate(keep))
        b.template("permute", guard, d=word, a=word, b=(nodes.INT, selector), c=source)


# -- control flow ------------------------------------------------------------------------------------------------


def branch(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``bra``."""
    if operands[0][0] != nodes.LABEL:
        raise NotSupported("indirect branch")
    b.branch(operands[0][1], guard)


def branch_table(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``brx.idx``: a tree of comparisons (a table in bank 2 would need as many cycles for the tables that occur)."""
    index = b.value(operands[0])
    targets = b.tables[operands[1][1]]
    around = -1
    if guard:
        around = b.new_label()
        b.branch(around, guard ^ opd.NEGATE)
    if index.__class__ is not int:
        b.branch(targets[index[1]] if index[1] < len(targets) else targets[-1])
    else:
        _branch_tree(b, index, targets, 0, len(targets))
    if around >= 0:
        b.place(around)


def _branch_tree(b: OriBuilder, index: int, targets: Sequence[int], low: int, high: int) -> None:
    if len(set(targets[low:high])) == 1:
        b.branch(targets[low])
        return
    middle = (low + high) // 2
    predicate = b.new("P")
    b.template("is_below", d=predicate, a=index, b=(nodes.INT, middle))
    left = b.new_label()
    b.branch(left, predicate)
    _branch_tree(b, index, targets, middle, high)
    b.place(left)
    _branch_tree(b, index, targets, low, middle)


def leave(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``exit``, and ``ret`` of an entry; ``ret`` of a function that is being inlined goes to the end of the copy."""
    if program.options["kind"] == "ret" and b.return_label >= 0:
        b.branch(b.return_label, guard)
    else:
        b.leave("exit", guard)


def call(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``call`` of a function of the module: its body is built here."""
    rest = list(operands)
    results: Sequence[Any] = rest.pop(0)[1] if rest[0][0] == nodes.ARGS else ()
    callee = rest.pop(0)
    arguments: Sequence[Any] = rest.pop(0)[1] if rest and rest[0][0] == nodes.ARGS else ()
    b.inliner.call(callee, results, arguments, guard)


# -- barriers ----------------------------------------------------------------------------------------------------


def barrier(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``bar`` and ``barrier``: counts the barriers that the function uses, then runs the lines."""
    first = next((o for o in operands if o[0] in (nodes.INT, nodes.REG)), (nodes.INT, 0))
    number = operands[int(program.options["barrier"])] if "barrier" in program.options else first
    used = number[1] + 1 if number[0] == nodes.INT else b.target.cta_barriers
    b.facts.num_barriers = max(b.facts.num_barriers, used)
    env = b.env(program)
    b.bind(program, env, operands)
    b.emit(program, env, guard)


# -- constants and widths -------------------------------------------------------------------------------------------


def shift_count(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """A power of two as divisor becomes the amount of a shift."""
    amount = (nodes.INT, operands[2][1].bit_length() - 1)
    _run(b, program, guard, [*operands[:2], amount])


def low_mask(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """A power of two as divisor becomes the mask of the bits below it."""
    _run(b, program, guard, [*operands[:2], (nodes.INT, operands[2][1] - 1)])


def narrow(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """A result of 8 or 16 bits in a register of any size: the upper half of a wide one is filled."""
    dest = b.value(operands[0])
    env = b.env(program)
    b.bind(program, env, operands)
    env[D] = part(dest, 0)
    b.emit(program, env, guard)
    extend(b, dest, program.types[0][0] == "s", guard)


def _run(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    env = b.env(program)
    b.bind(program, env, operands)
    b.emit(program, env, guard)


FUNCTIONS: Final[dict[str, Callable[..., None]]] = {
    "barrier": barrier,
    "branch": branch,
    "branch_table": branch_table,
    "call": call,
    "divide_by_constant": divide_by_constant,
    "leave": leave,
    "load": load,
    "load_const": load_const,
    "load_param": load_param,
    "low_mask": low_mask,
    "move": move,
    "narrow": narrow,
    "shift_count": shift_count,
    "store": store,
    "store_param": store_param,
}
