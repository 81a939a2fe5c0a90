"""Copies and reductions by the asynchronous engines: one thread after the other, as the engines read uniform registers.

``each``: every thread has its operation, in a loop that elects one of those that are left. ``alike``: threads that ask for the
same do it once, in a loop over the different values. What an operation reads is said by the options of its rule: ``roles`` names
the PTX operands by letters, ``a``, ``b``, ``c``, ``e`` list what the operands of the lines are made of. A letter stands for

- ``d``, ``x``, ``m``: an address in shared memory (of data, of other data, of an mbarrier), the lower word of a generic one, too;
- ``g``: an address in global memory, a pair; ``t``: that of a tensor map, with the coordinates ``*`` behind it;
- ``c``, ``q``: an address among the constants or parameters, whose generic one is a pair; ``p``: a policy for caches, a pair;
- ``s``, ``k``, ``i``: a size, a mask, a vector of offsets, which templates make a word of (``c: template s k``);
- ``_``: what the operation does not read.

Option ``immediate``: a constant that is all that an operand consists of stands in the operation itself.

Source: observed (what ptxas 13.0.88 makes).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64
from oric_tables import storage

from oric.ir import operand as opd
from oric.ir.calls import WORD
from oric.ir.function import AUX_ALONE, NONE
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .driver import BYTES, call_driver
from .emit import INTEGER, OPERAND, Value, integer, packed, part
from .memory import Memory
from .program import A, B, C, E, Program

_ENTRIES: Final = (("a", A), ("b", B), ("c", C), ("e", E))
_SHARED: Final = frozenset("dxm")
_ADDRESSES: Final = frozenset("gt")
_NUMBERS: Final = (nodes.REG, nodes.INT)  # in place of an address: the lower word
_PAIRS: Final = frozenset("p")
_WINDOWS: Final = {"c": "in_constants", "q": "in_parameters"}
_COORDINATES: Final = "*"
_ROOM: Final = {"*": 5, "i": 2}  # words of a parameter that are not told by its alignment
_MASK32: Final = 0xFFFFFFFF


def bulk(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """An operation of the engines, in the loop that the option ``loop`` names."""
    skip: i64 = -1
    if guard:
        skip = b.make_label()
        b.branch(skip, guard ^ opd.NEGATE)
    done = _forward(b, program, operands) if "call" in program.options else NONE
    groups = _groups(b, program, operands)
    env = b.open(program)
    for entry, words in groups:
        alone = "immediate" in program.options and len(words) == 1 and words[0].kind == INTEGER
        env.put(entry, b.code.imm(words[0].bits & _MASK32) if alone else _registers(b, words))
    again = b.make_label()
    b.place(again)
    other = _elected(b, env.bits, groups) if program.options["loop"] == "each" else _alike(b, env.bits, groups)
    b.run(program, env)
    b.close()
    if other:
        b.branch(again, other)
    if done != NONE:
        b.place(done)
    if skip >= 0:
        b.place(skip)


def _groups(b: Memory, program: Program, operands: list[Any]) -> list[tuple[int, list[Value]]]:
    """What each operand of the lines consists of, word by word."""
    nodes_of = dict(zip(program.options["roles"].split(), operands, strict=True))
    found: list[tuple[int, list[Value]]] = []
    for name, entry in _ENTRIES:
        said = program.options.get(name, "").split()
        if not said:
            continue
        if len(said[0]) > 1:
            found.append((entry, [_made(b, said[0], [nodes_of[letter] for letter in said[1:]])]))
        else:
            found.append((entry, [word for letter in said for word in _words(b, letter, nodes_of)]))
    return found


def _words(b: Memory, letter: str, nodes_of: dict[str, Any]) -> list[Value]:
    """The words of one operand."""
    if letter == _COORDINATES:
        return [b.value(item) for node in nodes_of["t"][2:] for item in _items(node)]
    node = nodes_of[letter]
    if letter in _SHARED and node[0] not in _NUMBERS:
        return [packed(_low_address(b, node))]
    if letter in _ADDRESSES:
        pair = b.address_value(node[1] if node[0] == nodes.TENSOR else node)
        return [_word(pair, 0), _word(pair, 1)]
    if letter in _WINDOWS:
        pair = _in_window(b, _WINDOWS[letter], node)
        return [_word(pair, 0), _word(pair, 1)]
    value = b.value(node)
    return [_word(value, 0), _word(value, 1)] if letter in _PAIRS else [_word(value, 0)]


def _forward(b: Memory, program: Program, operands: list[Any]) -> i64:
    """Let the driver do what the template of the option ``far`` says is not the block's; returns the label behind the rest.

    ``call`` is the function, ``given`` what it gets: letters as above, each with the alignment of a parameter of its own.
    """
    nodes_of = dict(zip(program.options["roles"].split(), operands, strict=True))
    name, letter = program.options["far"].split()
    far = b.new_p()
    b.template(name, 0, far, _words(b, letter, nodes_of)[0])
    near, done = b.make_label(), b.make_label()
    b.branch(near, far ^ opd.NEGATE)
    arguments = [_argument(b, given[0], int(given[1:]), nodes_of) for given in program.options["given"].split()]
    call_driver(b, program.options["call"].format(**program.tokens), 0, arguments, type_=BYTES)
    b.branch(done)
    b.place(near)
    return done


def _argument(b: Memory, letter: str, align: int, nodes_of: dict[str, Any]) -> tuple[list[int], int]:
    """Words and alignment of a parameter with those of an operand: no policy is 0, coordinates have the room of five."""
    if letter == "i":
        items = [b.value(item) for item in _items(nodes_of[letter])]
        pair = b.new_pair()
        b.template(f"offset_words{len(items)}", 0, pair, *items)
        words = [packed(part(pair, 0)), packed(part(pair, 1))]
    else:
        words = _words(b, letter, nodes_of) if letter in nodes_of or letter == _COORDINATES else []
    made: list[int] = []
    for at in range(_ROOM.get(letter, align // WORD)):
        made.append(b.new_r())
        b.set(made[-1], words[at] if at < len(words) else integer(0))
    return made, align


def _items(node: Any) -> list[Any]:
    return list(node[1]) if node[0] == nodes.VEC else [node]


def _word(value: Value, at: int) -> Value:
    if value.kind == OPERAND:
        return packed(part(value.bits, at))
    return integer(value.bits >> 32 * at & _MASK32)


def _low_address(b: Memory, node: Any) -> i64:
    """The address in shared memory, in a word; of one of 64 bits it is the lower one."""
    return b.within(b.address(node, storage.SHARED), 0).base


def _in_window(b: Memory, name: str, node: Any) -> Value:
    """The generic address of an address in a window.

    Raises:
        NotSupported: of a parameter of a function.
    """
    if node[0] == nodes.ADDR_SYM:
        place = b.place_of(node[1])
        if place.way == storage.REGISTERS:
            raise NotSupported(f"the address of {place.name}, which is no parameter of a kernel,")
        own = b.symbol_address(node[1], node[2])
    else:
        own = b.address_value(node)
    dest = b.new_pair()
    b.template(name, 0, dest, own)
    return packed(dest)


def _made(b: Memory, name: str, sources: list[Any]) -> Value:
    """A word that a template makes."""
    values = [b.value(item) for node in sources for item in _items(node)]
    if len(values) == 1 and values[0].kind == INTEGER and not values[0].bits:
        return integer(0)
    made = b.new_r()
    b.template(name, 0, made, *values)
    return packed(made)


def _registers(b: Memory, words: list[Value]) -> i64:
    """The uniform registers for some words; constants are there already."""
    if all(word.kind == INTEGER and not word.bits for word in words):
        return opd.RZ_OPERAND
    group = b.new("UR", len(words))
    for at, word in enumerate(words):
        if word.kind != OPERAND:
            b.template("uniform_constant", 0, part(group, at), word)
    return group


def _moves(bits: Any, groups: list[tuple[int, list[Value]]]) -> list[tuple[int, int]]:
    """Uniform registers and the words that they get in the loop."""
    return [
        (part(bits[entry], at), word.bits)
        for entry, words in groups
        for at, word in enumerate(words)
        if word.kind == OPERAND and bits[entry] != opd.RZ_OPERAND
    ]


def _elected(b: Memory, bits: Any, groups: list[tuple[int, list[Value]]]) -> i64:
    """Elect a thread, whose words it is; returns the guard of the branch of the others."""
    chosen = b.new_p()
    b.template2("elected", 0, chosen, opd.PT_OPERAND)
    b.code.aux[len(b.code.op) - 1] |= AUX_ALONE
    for register, word in _moves(bits, groups):
        b.template2("elected_word", chosen, register, word)
    return chosen ^ opd.NEGATE


def _alike(b: Memory, bits: Any, groups: list[tuple[int, list[Value]]]) -> i64:
    """Take the words of a thread; returns the guard of the branch of those that have others, 0: there are none."""
    others: i64 = 0
    for register, word in _moves(bits, groups):
        differs = b.new_p()
        b.template("word_of_one", 0, register, packed(word), packed(differs))
        if others:
            either = b.new_p()
            b.template("either", 0, either, packed(others), packed(differs))
            others = either
        else:
            others = differs
    return others


def tensor_field(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A field of a tensor map in memory. ``places``: byte and bit of each that there is, by the ordinal in front of the value.

    The lines see the address of its word, the value as ``a``, the first bit as ``b`` and the bits as ``c``. A value of a list is
    a constant: ``values`` has what ``a`` is, ``masks`` the bits of the word that it sets. ``second``: the byte of another word.
    """
    options = program.options
    operands = list(operands)
    value = operands.pop()
    ordinal = operands.pop()[1] if len(operands) > 1 else 0
    byte, bit = (int(part) for part in options["places"].split()[ordinal].split("."))
    env = b.open(program)
    address = b.bound_address(operands[0], program)
    if address.displacement & opd.TYPE == opd.IS_SYMBOL:  # of a variable, whose place is not known yet
        address = b.within(address, 0)
    b.bind(program, env, [])
    b.put_address(env, b.displaced(address, byte))
    mask = int(options.get("mask", "0"), 0) << bit
    if "values" in options:
        env.put_value(A, integer(int(options["values"].split()[value[1]], 0)))
        mask = int(options["masks"].split()[value[1]], 0)
    else:
        env.put_value(A, b.value(value))
    env.put_value(B, integer(bit))
    env.put_value(C, integer(mask))
    if "second" in options:
        b.put_second(env, b.displaced(address, int(options["second"].split()[ordinal])))
    b.emit(program, env, guard)
    b.close()
