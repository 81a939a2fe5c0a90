"""The few instructions whose lowering is no template: what ``expand`` in the rules names.

Each function takes the emitter with its memory, the program, the guard operand (0 for none) and the PTX operand nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64
from oric_tables import storage

from oric.ir import operand as opd
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .access import atomic_vector, load, load_const, load_param, ordered, store, store_param
from .bulk import bulk, tensor_field
from .constants import divide_by_constant
from .control import barrier, branch, branch_table, call, leave, of_a_mask, run_lines, warp_barrier
from .copies import copy_async
from .emit import ADDRESS, FLOATING, OPERAND, Value, integer, packed, part
from .lanes import lanes
from .memory import Memory
from .moves import extend, extract, move, move_vector
from .program import A, B, C, D, E, F, Program
from .surfaces import surface_load, surface_store
from .tensor_memory import for_each_thread, tensor_product, two_halves, with_words
from .textures import fetch, query_header, query_table
from .warpgroup import group_product, wait_for_groups

_HALF: Final = 2  # bytes
_STACK_ALIGN: Final = 8  # of what alloca gives, where it does not say
_SIZE_AND_PLACE: Final = 2  # operands of such an alloca
_ADDRESSES: Final = (nodes.ADDR_REG, nodes.ADDR_SYM, nodes.ADDR_IMM, nodes.INDEX)
_KIND_BIT: Final = 24  # of the upper half of a policy


def shift_count(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A power of two as divisor becomes the amount of a shift."""
    amount = (nodes.INT, operands[2][1].bit_length() - 1)
    run_lines(b, program, guard, [*operands[:2], amount])


def low_mask(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A power of two as divisor becomes the mask of the bits below it."""
    run_lines(b, program, guard, [*operands[:2], (nodes.INT, operands[2][1] - 1)])


def one_bit(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A number of a bit becomes that bit."""
    run_lines(b, program, guard, [(nodes.INT, 1 << operands[0][1])])


def on_stack(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``alloca`` and its kin: e is the top of the stack, f the mask of an alignment (the last of three operands)."""
    align = operands.pop()[1] if len(operands) > _SIZE_AND_PLACE else _STACK_ALIGN
    env = b.open(program)
    b.bind(program, env, operands)
    env.put(E, b.top())
    env.put_value(F, integer(-align))
    b.emit(program, env, guard)
    b.close()


def of_kernel(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """To an address in the window of the kernel's parameters, where those of functions do not lie."""
    node = operands[1]
    if node[0] == nodes.SYM and b.place_of(node[1]).way == storage.REGISTERS:
        raise NotSupported(f"{program.text} of {b.place_of(node[1]).name}, which is no parameter of a kernel,")
    run_lines(b, program, guard, operands)


def elements(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """The elements of a vector among the sources are operands of their own."""
    flat: list[Any] = []
    for node in operands:
        flat += node[1] if node[0] == nodes.VEC else [node]
    run_lines(b, program, guard, flat)


def components(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A vector of results: each element by the template that an option names."""
    source = b.value(operands[1]).bits
    whole = b.new("R", opd.count_of(source))
    for word in range(opd.count_of(source)):  # a result may stand in the place of the source
        b.copy(part(whole, word), part(source, word), 0)
    for item, component in zip(operands[0][1], "xyzw", strict=False):
        if item[0] != nodes.SINK:
            b.template2(program.options[component], guard, b.dest(item), whole)


def narrow(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """An integer result in a register that may be larger than its type: it is sign- or zero-extended to the register's size.

    Lines fill 32 bits with a result of 8 bits; what they leave above 16 bits does not count.
    """
    dest = b.dest(operands[0])
    type_ = program.types[0]
    env = b.open(program)
    b.bind(program, env, operands)
    low = part(dest, 0)
    env.put(D, low)
    b.emit(program, env, guard)
    b.close()
    if type_[1:] == "16" and operands[0][0] == nodes.REG and not b.narrow_bytes(operands[0][1]):
        extract(b, dest, low, 0, _HALF, type_[0] == "s", guard)
    else:
        extend(b, dest, type_[0] == "s", guard)


def space_of(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """Whether a generic address is one of a space; ``b`` is the size of the constants. One of 32 bits has zeros above."""
    address = b.value(operands[1])
    if address.kind == OPERAND and opd.count_of(address.bits) == 1:
        pair = b.new_pair()
        b.copy(part(pair, 0), address.bits, 0)
        b.copy(part(pair, 1), opd.RZ_OPERAND, 0)
        address = packed(pair)
    env = b.open(program)
    env.put(D, b.dest(operands[0]))
    env.put_value(A, address)
    if b.ir.linked:  # how many there will be nobody knows yet
        env.put_value(B, integer(b.target.const_bank_bytes))
    else:
        env.put_value(B, Value(ADDRESS, opd.symbol(b.ir.constants_end(), 0)))
    b.emit(program, env, guard)
    b.close()


def by_number(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``a`` is a number of what an operation has a place of its own for: a system register, or (``bank``) a constant bank."""
    number: i64 = operands[1][1]
    env = b.open(program)
    b.bind(program, env, operands)
    env.put(A, opd.const_bank(number, 0) if program.options["number"] == "bank" else opd.special(number))
    b.emit(program, env, guard)
    b.close()


def policy(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A policy for caches: ``e`` says what happens, first and second kind of it; an address among the operands is ``a``."""
    env = b.open(program)
    env.put(D, b.dest(operands[0]))
    for entry, node in zip((A, B, C), operands[1:], strict=False):
        value = b.address_value(node) if node[0] in _ADDRESSES else b.value(node)
        env.put_value(entry, integer(value.bits) if value.kind == FLOATING else value)  # a fraction is .f32, unlike the result
    kind = int(program.options["base"]) + int(program.options[program.tokens["policy1"]])
    second = program.tokens.get("policy2")
    if second is not None:
        kind += int(program.options[second]) // 2
    env.put_value(E, integer(kind << _KIND_BIT))
    b.emit(program, env, guard)
    b.close()


Expansion = Callable[[Memory, Program, int, list[Any]], None]

FUNCTIONS: Final[dict[str, Expansion]] = {
    "atomic_vector": atomic_vector,
    "barrier": barrier,
    "branch": branch,
    "branch_table": branch_table,
    "bulk": bulk,
    "by_number": by_number,
    "call": call,
    "copy_async": copy_async,
    "divide_by_constant": divide_by_constant,
    "components": components,
    "elements": elements,
    "for_each_thread": for_each_thread,
    "group_product": group_product,
    "lanes": lanes,
    "leave": leave,
    "load": load,
    "load_const": load_const,
    "load_param": load_param,
    "fetch": fetch,
    "low_mask": low_mask,
    "move": move,
    "move_vector": move_vector,
    "narrow": narrow,
    "of_a_mask": of_a_mask,
    "of_kernel": of_kernel,
    "on_stack": on_stack,
    "one_bit": one_bit,
    "ordered": ordered,
    "policy": policy,
    "query_header": query_header,
    "query_table": query_table,
    "shift_count": shift_count,
    "space_of": space_of,
    "store": store,
    "store_param": store_param,
    "surface_load": surface_load,
    "surface_store": surface_store,
    "tensor_field": tensor_field,
    "tensor_product": tensor_product,
    "two_halves": two_halves,
    "wait_for_groups": wait_for_groups,
    "warp_barrier": warp_barrier,
    "with_words": with_words,
}
