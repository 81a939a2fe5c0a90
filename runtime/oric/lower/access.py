"""Loads and stores: vectors, values narrower or wider than their registers, parameters, constant banks."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64
from oric_tables import ops, storage

from oric.ir import operand as opd
from oric.ir.bankwords import FARTHEST
from oric.ir.calls import ParamVariable
from oric.ir.function import AUX_VOLATILE, NONE
from oric.ir.optable import MEMORY, OPS, PINNED
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .arguments import word
from .control import run_lines
from .emit import OPERAND, Env, Value, integer, packed, part
from .memory import QUAD, Address, Memory
from .moves import DOUBLE_BYTES, constant, extend, extract, in_register, pack_word, type_bytes, word_of
from .program import DESC, A, D, E, M, Program, V, X

_MASK32: Final = 0xFFFFFFFF


def count_of_elements(program: Program) -> int:
    """Number of elements of a load or store."""
    return int(program.tokens.get("vec", "v1")[1:])


def load(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``ld`` of every space but parameters."""
    skip = _around(b, guard) if _has_policy(program) else NONE
    if skip != NONE:
        guard = 0
    env = b.open(program)
    b.put_address(env, _address(b, program, operands[1]))
    _put_descriptor(b, program, env, operands)
    before = b.last()
    if program.options.get("wide"):
        _load_wide(b, program, env, guard, operands[0][1])
    else:
        load_into(b, program, env, guard, operands[0], V)
    _mark_volatile(b, program, before)
    b.close()
    if skip != NONE:
        b.place(skip)


def _has_policy(program: Program) -> bool:
    """Whether the third operand is a policy for caches."""
    return "hint" in program.tokens


def _around(b: Memory, guard: i64) -> i64:
    """A branch around what a guard is for, to a label that is placed behind it; ``NONE`` without a guard.

    A policy is that of the first thread at hand, so that no thread may be there that has none.
    """
    if not guard:
        return NONE
    skip = b.make_label()
    b.branch(skip, guard ^ opd.NEGATE)
    return skip


def _address(b: Memory, program: Program, node: Any) -> Address:
    found = b.bound_address(node, program)
    return b.in_steps_of_256_bits(found) if program.options.get("wide") else found


def _put_descriptor(b: Memory, program: Program, env: Env, operands: list[Any]) -> None:
    """The descriptor of global memory, or the policy for caches that stands in its place."""
    if _has_policy(program):
        env.put(DESC, _policy(b, b.value(operands[2])))
    elif program.uses_desc:
        env.put(DESC, b.descriptor())


def _policy(b: Memory, value: Value) -> i64:
    """A pair of uniform registers with a policy."""
    pair = b.new("UR", 2)
    b.template("policy_of_register" if value.kind == OPERAND else "policy_of_constant", 0, pair, value)
    return pair


def _load_wide(b: Memory, program: Program, env: Env, guard: i64, items: Any) -> None:
    """256 bits into two registers of 128, each of which begins with the words of its half that count."""
    each = type_bytes(program.types[-1])
    half = len(items) // 2
    env.put_value(E, integer(_word_mask(items, each)))
    halves = [[item for item in part_ if item[0] != nodes.SINK] for part_ in (items[:half], items[half:])]
    made: list[int] = []
    for entry, part_ in zip((V, X), halves, strict=True):
        wide = opd.RZ_OPERAND
        if part_:
            wide = 0 if guard else _vector_target(b, part_, half, each)
            made.append(0 if wide else b.new("R", QUAD))
            wide = wide or made[-1]
        else:
            made.append(0)
        env.put(entry, wide)
    b.run(program, env, guard)
    for wide, part_ in zip(made, halves, strict=True):
        for index, item in enumerate(part_):
            if wide:
                extract(b, b.dest(item), wide, index, each, program.types[-1][0] == "s", guard)


def _word_mask(items: Any, each: int) -> int:
    """Which of the 32-bit words of a vector of 256 bits count."""
    words = each // 4
    mask = 0
    for index, item in enumerate(items):
        if item[0] != nodes.SINK:
            mask |= ((1 << words) - 1) << index * words
    return mask


def _mark_volatile(b: Memory, program: Program, before: i64) -> None:
    """Tell the phases that the accesses behind ``before`` stay, and show what other threads do."""
    if b.block == NONE or not program.options.get("volatile"):
        return
    f = b.code
    i = f.head[b.block] if before == NONE else f.next[before]
    while i != NONE:
        if OPS.flags[f.op[i]] & MEMORY:
            f.aux[i] |= AUX_VOLATILE
        i = f.next[i]


def load_into(b: Memory, program: Program, env: Env, guard: i64, dest: Any, at: i64) -> None:
    """Run the lines with ``dest``, an element or a vector of them, at a place of the environment."""
    count = count_of_elements(program)
    type_ = program.types[-1]
    each = type_bytes(type_)
    if count == 1:
        dest = _items(dest)[0]  # braces with one element
        target = opd.RZ_OPERAND if dest[0] == nodes.SINK else b.dest(dest)
        if each >= DOUBLE_BYTES and opd.is_register(target) and opd.count_of(target) == 1:
            raise NotSupported(f"{program.text} into a register of 32 bits")
        env.put(at, target if each >= DOUBLE_BYTES else part(target, 0))
        b.run(program, env, guard)
        if each < DOUBLE_BYTES and opd.is_register(target):
            extend(b, target, type_[0] == "s", guard)
        return
    items = dest[1]
    wide = _vector_target(b, items, count, each)
    if wide:
        env.put(at, wide)
        b.run(program, env, guard)
        return
    wide = b.new("R", max(1, count * each // 4))
    env.put(at, wide)
    b.run(program, env, guard)
    for index, item in enumerate(items):
        if item[0] != nodes.SINK:
            extract(b, b.dest(item), wide, index, each, type_[0] == "s", guard)


def _vector_target(b: Memory, items: Any, count: int, each: int) -> i64:
    """A new wide register whose parts become the elements' registers, when none of them has been used before; else 0."""
    if each < 4:
        return 0
    handles: list[int] = [i[1] if i[0] == nodes.REG else -1 for i in items]
    per = each // 4
    if any(h >= 0 and (b.registers_[h] or b.sizes[h] != per) for h in handles):
        return 0
    real = [h for h in handles if h >= 0]
    if not real or len(set(real)) != len(real):
        return 0
    wide = b.new("R", count * per)
    for index, handle in enumerate(handles):
        if handle >= 0:
            b.registers_[handle] = opd.reg(wide & opd.INDEX, index * per, per)
    return wide


def store(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``st`` of every space but parameters."""
    count = count_of_elements(program)
    each = type_bytes(program.types[-1])
    skip = _around(b, guard) if _has_policy(program) else NONE
    if skip != NONE:
        guard = 0
    env = b.open(program)
    b.put_address(env, _address(b, program, operands[0]))
    if "other" in program.options:
        b.put_second(env, b.bound_address(operands[2], program, True))
    _put_descriptor(b, program, env, operands)
    items = operands[1][1] if operands[1][0] == nodes.VEC else (operands[1],)
    if program.options.get("wide"):
        half = count // 2
        env.put_value(E, integer(_word_mask(items, each)))
        for entry, part_ in ((V, items[:half]), (X, items[half:])):
            empty = all(item[0] == nodes.SINK for item in part_)
            env.put(entry, opd.RZ_OPERAND if empty else store_value(b, program, part_, half, each))
    else:
        env.put(V, store_value(b, program, items, count, each))
    before = b.last()
    b.run(program, env, guard)
    _mark_volatile(b, program, before)
    b.close()
    if skip != NONE:
        b.place(skip)


def atomic_vector(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``atom`` and ``red`` of a vector: its elements lie in one register of their whole width, before and behind."""
    env = b.open(program)
    items = operands[program.args.index(A)][1]
    env.put(A, store_value(b, program, items, count_of_elements(program), type_bytes(program.types[-1])))
    for index, node in zip(program.args, operands, strict=False):
        if index == M:
            b.put_address(env, b.bound_address(node, program))
        elif index not in (D, A):
            env.put_value(index, b.value(node))
    if program.uses_desc:
        env.put(DESC, b.descriptor())
    made: i64 = len(b.code.op)
    if D not in program.args or operands[0][0] == nodes.SINK:
        b.run(program, env, guard)
    else:
        load_into(b, program, env, guard, operands[0], D)
    _mark_acquire(b, program, made)
    b.close()


def ordered(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """Lines whose NOPs stay, and whose accesses are acquires for the qualifiers that the option ``acquires`` names, or always."""
    made: i64 = len(b.code.op)
    run_lines(b, program, guard, operands)
    _mark_acquire(b, program, made)


def _mark_acquire(b: Memory, program: Program, made: i64) -> None:
    """Mark the instructions from number ``made`` on. What comes later waits for an acquire's result, which has a register."""
    f = b.code
    named = program.options.get("acquires", "").split()
    acquires = "always" in named or program.tokens.get("sem", "") in named
    while made < len(f.op):
        flags = OPS.flags[f.op[made]]
        if flags & MEMORY and acquires:
            f.aux[made] |= AUX_VOLATILE
            if OPS.writes_at(f.op[made], 0) and f.get(made, 0) == opd.RZ_OPERAND:
                f.set(made, 0, b.new("R", ops.op(f.op[made]).regs(0, f.mods[made])))
        elif not f.count[made] and not flags & PINNED:
            f.aux[made] |= AUX_VOLATILE
        made += 1


def store_value(b: Memory, program: Program, items: Any, count: int, each: int) -> i64:
    """A register with so many elements of so many bytes, of the width of a store."""
    values = [integer(0) if item[0] == nodes.SINK else constant(b.value(item), program.wide) for item in items]
    width = max(1, count * each // 4)
    if all(v.kind != OPERAND and not v.bits for v in values):
        return opd.RZ_OPERAND
    if count == 1:
        value = values[0]
        if value.kind == OPERAND:
            return value.bits if width == opd.count_of(value.bits) else part(value.bits, 0)
        if width == 2:
            pair = b.new_pair()
            b.set(pair, value)
            return pair
        if width == QUAD:
            return b.quad(value)
        return in_register(b, value)
    per = max(1, each // 4)
    if each >= 4 and _in_sequence(b, values, per, width):
        first = values[0].bits
        return opd.reg(first & opd.INDEX, opd.first_of(first), width)
    wide = b.new("R", width)
    if each < 4:
        for index in range(width):
            group = 4 // each
            chosen = list(values[index * group : index * group + group])
            while len(chosen) < group:
                chosen.append(integer(0))
            pack_word(b, part(wide, index), chosen, each)
        return wide
    for index, value in enumerate(values):
        for k in range(per):
            b.set(part(wide, index * per + k), word_of(value, k))
    return wide


def _in_sequence(b: Memory, values: list[Value], per: int, width: int) -> bool:
    """True when the values are the parts of one wide register in order."""
    first = values[0].bits
    if values[0].kind != OPERAND or not opd.is_register(first):
        return False
    start: int = opd.first_of(first)
    if start % width or b.code.reg_size[first & opd.INDEX] < start + width:
        return False
    return all(v.kind == OPERAND and v.bits == opd.with_first(first, start + k * per) for k, v in enumerate(values))


# -- parameters and constants ------------------------------------------------------------------------------------


def load_param(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``ld.param``: of a kernel from bank 0, of a call from the registers of the parameter variable; at an address that a
    register of a function has, from local memory.
    """
    type_ = program.types[-1]
    each = type_bytes(type_)
    node = operands[1]
    if node[0] == nodes.ADDR_REG and not b.code.is_entry and program.first != program.last:
        load(b, program, guard, operands)
        return
    variable = b.place_of(node[1]).param if node[0] == nodes.ADDR_SYM else None
    if variable is None:
        _load_constants(b, program, guard, operands, 0)
        return
    for index, item in enumerate(_items(operands[0])):
        if item[0] != nodes.SINK:
            variable.loads.append((node[2] + index * each, type_))
            _read_words(b, b.dest(item), variable, node[2] + index * each, each, type_, guard)


def load_const(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``ld.const``: from bank 3."""
    _load_constants(b, program, guard, operands, 3)


def _items(node: Any) -> Any:
    return node[1] if node[0] == nodes.VEC else (node,)


def _load_constants(b: Memory, program: Program, guard: i64, operands: list[Any], bank: int) -> None:
    """The elements of a load from a constant bank: moves where the address is known, else an LDC each."""
    type_ = program.types[-1]
    each = type_bytes(type_)
    base, offset = _bank_address(b, operands[1], bank)
    items = _items(operands[0])
    targets = [opd.NO_OPERAND if item[0] == nodes.SINK else b.dest(item) for item in items]
    if len(items) > 1 and opd.is_register(base) and any(target & opd.INDEX == base & opd.INDEX for target in targets):
        kept = b.new_r()  # the first element would take the place of what the others are read by
        b.copy(kept, base, guard)
        base = kept
    for index, target in enumerate(targets):
        if target != opd.NO_OPERAND:
            _load_constant(b, target, base, offset + index * each, type_, bank, guard)


def _bank_address(b: Memory, node: Any, bank: int) -> tuple[int, int]:
    """Base register and offset of an address in a constant bank; no register for a place that has its address by now."""
    if node[0] == nodes.ADDR_SYM and not b.is_linked_constant(b.place_of(node[1])):
        place = b.place_of(node[1])
        if place.way not in (storage.CONSTANTS, storage.PARAMETERS):
            raise NotSupported(f"ld of {place.space} variable {place.name} here")
        return opd.NO_OPERAND, b.bank_offset(place) + node[2]
    found = b.address(node, storage.CONST)
    offset = _as_signed(b.code.imm_value(found.displacement)) + (0 if bank else b.code.attributes.param_base(b.target))
    return found.base, offset


def _load_constant(b: Memory, dest: i64, base: i64, offset: int, type_: str, bank: int, guard: i64) -> None:
    """One element from a constant bank."""
    each = type_bytes(type_)
    if base == opd.NO_OPERAND:
        if each >= 4 and offset % 4 == 0 and 0 <= offset < 65536:
            for k in range(each // 4):
                b.copy(part(dest, k), opd.const_bank(bank, offset + 4 * k), guard)
            if each == 4:
                extend(b, dest, type_[0] == "s", guard)
            return
        base = opd.RZ_OPERAND
    if base == opd.RZ_OPERAND:
        if not -(1 << 15) <= offset <= FARTHEST - each:
            base, offset = b.constant(offset & _MASK32), 0
    elif not -(1 << 15) <= offset < 1 << 15:
        moved = b.new_r()
        b.template("add_constant", 0, moved, packed(base), integer(offset))
        base, offset = moved, 0
    name = f"load_constant_{type_[0] if type_[0] == 's' and each < 4 else 'u'}{8 * min(each, 8)}"
    for k in range(max(1, each // 8)):
        target = dest if each == 8 else part(dest, 2 * k)
        if each == 16:
            target = opd.reg(dest & opd.INDEX, 2 * k, 2)
        b.template(name, guard, target, packed(base), packed(opd.const_bank(bank, 0)), packed(b.code.imm(offset + 8 * k)))
    if each <= 4:
        extend(b, dest, type_[0] == "s", guard)


def _as_signed(value: int) -> int:
    value &= _MASK32
    return value - (1 << 32) if value >> 31 else value


def _read_words(b: Memory, dest: i64, variable: ParamVariable, offset: int, each: int, type_: str, guard: i64) -> None:
    _check_alignment(variable, offset, each)
    if each < 4:
        extract(b, dest, word(b, variable, offset // 4), offset % 4 // each, each, type_[0] == "s", guard)
        return
    for k in range(each // 4):
        b.copy(part(dest, k), word(b, variable, offset // 4 + k), guard)
    if each == 4:
        extend(b, dest, type_[0] == "s", guard)


def store_param(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``st.param``: into the registers of a parameter variable; at an address in a register of a function, to local memory."""
    each = type_bytes(program.types[-1])
    node = operands[0]
    if node[0] == nodes.ADDR_REG and not b.code.is_entry:
        store(b, program, guard, operands)
        return
    variable = b.place_of(node[1]).param if node[0] == nodes.ADDR_SYM else None
    if variable is None:
        raise NotSupported(f"{program.text} at a computed address")
    for index, item in enumerate(_items(operands[1])):
        value = constant(b.value(item), program.wide)
        at = node[2] + index * each
        _check_alignment(variable, at, each)
        variable.stores.append((at, program.types[-1]))
        if each >= 4:
            for k in range(each // 4):
                register = word(b, variable, at // 4 + k)
                if register != opd.RZ_OPERAND:
                    b.set(register, word_of(value, k), guard)
        elif 0 <= at // 4 < len(variable.words):
            _store_bytes(b, variable, at, each, value, guard)


def _clear(b: Memory, variable: ParamVariable, index: int, fresh: bool, guard: i64) -> None:
    """Let a word be 0 before the first of its bytes is written: where the function begins, if another may come first."""
    key = (variable, index)
    if fresh:
        if guard:
            b.zeroed.append(key)
        else:
            b.copy(variable.words[index], opd.RZ_OPERAND, 0)
            b.cleared[key] = int(b.last())
    elif key in b.cleared and b.code.block[b.cleared[key]] != b.block:
        b.cursor.remove(b.cleared.pop(key))
        b.zeroed.append(key)


def _check_alignment(variable: ParamVariable, offset: int, each: int) -> None:
    """Words are whole registers, smaller parts lie within one."""
    if offset % min(each, 4):
        raise NotSupported(f"unaligned access to parameter {variable.name}")


def _store_bytes(b: Memory, variable: ParamVariable, at: int, each: int, value: Value, guard: i64) -> None:
    """Put one or two bytes into a word of a parameter variable."""
    fresh = not variable.words[at // 4]
    register = word(b, variable, at // 4)
    source = part(value.bits, 0) if value.kind == OPERAND else in_register(b, value)
    _clear(b, variable, at // 4, fresh, guard)
    low = at % 4
    keep = [0, 1, 2, 3]
    for k in range(each):
        keep[low + k] = 4 + k
    selector = sum(k << 4 * n for n, k in enumerate(keep))
    b.template("permute", guard, register, packed(register), integer(selector), packed(source))
