"""``tcgen05``: what a thread asks of the units that work on tensor memory, whose operands are in uniform registers.

Such a unit takes one request for a warp. Where several threads of it ask, each does so in its turn: a loop takes one of them,
whose operands it brings into uniform registers. Source: observed (what ptxas 13.0.88 makes).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64
from oric_tables import storage

from oric.ir import operand as opd
from oric.ir.function import AUX_ALONE
from oric.support import nodes

from .emit import OPERAND, Value, integer, packed, part
from .memory import Memory
from .program import NOFF, OFF, A, B, C, D, E, F, M, N, Program, Q

_MASK32: Final = 0xFFFFFFFF
_ADDRESSES: Final = (nodes.ADDR_REG, nodes.ADDR_SYM, nodes.ADDR_IMM, nodes.INDEX)
_LOW_HALF: Final = 0xFFFF
_NAMES: Final = {A: "a", B: "b", C: "c", D: "d", E: "e", F: "f"}  # of entries of the environment


class Request:
    """An operation in uniform registers: ``needs`` has for entries of the environment the words that they are made of, by
    ``ready`` are the others, ``whether`` predicates of the thread."""

    def __init__(self) -> None:
        self.needs: list[tuple[int, list[Value]]] = []
        self.ready: list[tuple[int, Value]] = []
        self.whether: list[tuple[int, Value]] = []


def two_halves(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """An access whose lower and upper half warp have places of their own: ``noff`` is how far the second is from the first."""
    at = program.args.index(NOFF)
    address = b.bound_address(operands[program.args.index(M)], program)
    apart = b.code.imm_value(address.displacement) + operands[at][1]
    skip: i64 = -1
    if guard:
        skip = b.make_label()
        b.branch(skip, guard ^ opd.NEGATE)
    env = b.open(program)
    b.bind(program, env, [*operands[:at], (nodes.INT, apart & _MASK32), *operands[at + 1 :]])
    b.run(program, env)
    b.part_vectors(0)
    b.close()
    if skip >= 0:
        b.place(skip)


def for_each_thread(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """An operation whose operands ``needs`` names are in uniform registers, asked for by one thread after the other."""
    request = Request()
    for index, node in zip(program.args, operands, strict=True):
        if index == M:
            address = b.bound_address(node, program)
            request.needs.append((M, [packed(part(address.base, 0))]))
            request.ready.append((OFF, packed(address.displacement)))
        elif index == A:
            request.needs.append((A, [_low_half(b, node)]))
        else:
            request.needs.append((index, _words(b, node, 2)))
    _ask(b, program, guard, request)


def with_words(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """An operation asked for by one thread after the other: all but results, an address and the number ``off`` is in uniform
    registers. ``pairs`` names the operands of two words, ``zeros`` those that are left out where all of their words are 0."""
    pairs = program.options.get("pairs", "").split()
    zeros = program.options.get("zeros", "").split()
    request = Request()
    for index, node in zip(program.args, operands, strict=True):
        if program.written >> index & 1:
            request.ready.append((index, packed(b.dest(node))))
        elif index == M:
            address = b.bound_address(node, program)
            request.needs.append((M, [packed(part(address.base, 0))]))
            request.ready.append((OFF, packed(address.displacement)))
        elif index == OFF:
            request.ready.append((OFF, integer(node[1])))
        else:
            items = node[1] if node[0] == nodes.VEC else [node]
            words = [word for item in items for word in _words(b, item, 2 if _NAMES[index] in pairs else 1)]
            if _NAMES[index] in zeros and all(word.kind != OPERAND and not word.bits for word in words):
                request.ready.append((index, packed(opd.RZ_OPERAND)))
            else:
                request.needs.append((index, words))
    _ask(b, program, guard, request)


def tensor_product(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A product: its operands depend on what the instruction has."""
    has = program.options["has"].split()
    rest = list(operands)
    request = Request()
    request.needs.append((D, [_address(b, rest.pop(0))]))
    if rest[0][0] in _ADDRESSES:
        request.needs.append((N, [_address(b, rest.pop(0))]))
        request.ready.append((A, packed(opd.NO_OPERAND)))
    else:
        request.needs.append((A, _words(b, rest.pop(0), 2)))
        request.ready.append((N, packed(opd.NO_OPERAND)))
    request.needs.append((B, _words(b, rest.pop(0), 2)))
    chosen = _address(b, rest.pop(0)) if "sparse" in has else integer(0)
    request.needs.append((E, [chosen, *_words(b, rest.pop(0), 1)]))
    request.ready.append((F, packed(opd.RZ_OPERAND)))
    if "scales" in has:
        request.needs.append((F, [_address(b, rest.pop(0)), _address(b, rest.pop(0))]))
    elif rest[0][0] == nodes.VEC:
        request.needs.append((F, [_words(b, item, 1)[0] for item in rest.pop(0)[1]]))
    request.whether.append((Q, _whether(b, rest.pop(0))))
    request.ready.append((OFF, integer(0)))
    if rest and "zeros" in has:
        request.needs.append((F, _words(b, rest.pop(0), 2)))
    elif rest:
        request.ready.append((OFF, integer(rest.pop(0)[1])))
    _ask(b, program, guard, request)


def _ask(b: Memory, program: Program, guard: i64, request: Request) -> None:
    """The loop."""
    skip: i64 = -1
    if guard:
        skip = b.make_label()
        b.branch(skip, guard ^ opd.NEGATE)
    again = b.make_label()
    b.place(again)
    elected = b.new_p()
    b.template("elect", 0, elected, integer(0))
    b.code.aux[len(b.code.op) - 1] |= AUX_ALONE
    env = b.open(program)
    for index, value in request.ready:
        env.put_value(index, value)
    for index, words in request.needs:
        env.put(index, _uniform(b, words, elected))
    for index, value in request.whether:
        env.put_value(index, _of_thread(b, value, elected))
    b.run(program, env)
    b.close()
    b.branch(again, elected ^ opd.NEGATE)
    if skip >= 0:
        b.place(skip)


def _uniform(b: Memory, words: list[Value], elected: i64) -> i64:
    """Uniform registers with the words of a thread."""
    made = b.new("UR", len(words))
    for at, value in enumerate(words):
        word = part(made, at) if len(words) > 1 else made
        if value.kind == OPERAND and value.bits != opd.RZ_OPERAND:
            b.template("to_uniform", elected, word, value)
        else:
            b.template("uniform_number", 0, word, integer(0 if value.kind == OPERAND else value.bits & _MASK32))
    return made


def _words(b: Memory, node: Any, count: int) -> list[Value]:
    """The 32-bit words of an operand."""
    value = b.value(node)
    if value.kind == OPERAND:
        return [packed(part(value.bits, at)) for at in range(count)]
    if node[0] != nodes.INT:
        raise b.unexpected(node, "as an operand of a product")
    return [integer(value.bits >> 32 * at & _MASK32) for at in range(count)]


def _address(b: Memory, node: Any) -> Value:
    """An address in tensor memory with its displacement."""
    return packed(part(b.within(b.address(node, storage.SHARED), 0).base, 0))


def _whether(b: Memory, node: Any) -> Value:
    """A predicate."""
    value = b.value(node)
    if value.kind != OPERAND:
        return packed(opd.PT_OPERAND if value.bits else opd.NOT_PT_OPERAND)
    return value


def _of_thread(b: Memory, value: Value, elected: i64) -> Value:
    """A uniform predicate: that of the elected thread, whatever others have in theirs."""
    if value.bits & ~opd.NEGATE == opd.PT_OPERAND:
        return value
    made = b.new("UP")
    b.template("of_thread", 0, made, value, packed(elected))
    b.code.aux[len(b.code.op) - 1] |= AUX_ALONE
    return packed(made)


def _low_half(b: Memory, node: Any) -> Value:
    """A number of 16 bits, with zeros above."""
    value = b.value(node)
    if value.kind != OPERAND:
        return integer(value.bits & _LOW_HALF)
    made = b.new_r()
    b.template("low_half", 0, made, value)
    return packed(made)
