"""Arguments and results of calls, and what a function has in vector registers: its elements lie in the words of a variable.

A vector in ``.reg`` is passed as a ``.param`` variable of its size and alignment is. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.calls import WORD, ParamVariable
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .emit import FLOATING, OPERAND, Value, integer, packed, part
from .memory import Memory
from .moves import DOUBLE_BYTES, extract, pack_word


def is_vector(variable: Any) -> bool:
    """Whether a result or parameter is a vector register."""
    return bool(variable.space == "reg" and variable.vector > 1)


def word(b: Memory, variable: ParamVariable, index: int) -> i64:
    """The register of a word; RZ outside the variable: as with ptxas, what is stored there is lost, and read is any value."""
    if not 0 <= index < len(variable.words):
        return opd.RZ_OPERAND
    if not variable.words[index]:
        variable.words[index] = b.new_r()
    return variable.words[index]


# -- in the caller ----------------------------------------------------------------------------------------------------------


def actual(b: Memory, variable: Any, node: Any, is_result: bool) -> ParamVariable | int:
    """A result or argument: a parameter variable, or a register where the function has one (0: not wanted).

    Raises:
        NotSupported: a constant that no register holds.
    """
    alone = variable.space == "reg" and variable.vector == 1
    if node[0] == nodes.SYM:
        given = b.place_of(node[1]).param
        if given is not None:
            if alone:
                return _register_of(b, given, is_result)
            _pass_on(b, given, is_result)
            return given
    if node[0] == nodes.VEC:
        return _of_elements(b, variable, node[1], is_result)
    operand = 0 if node[0] == nodes.SINK else _in_register(b, variable, b.value(node))
    if alone:
        return operand
    made = ParamVariable(variable.name, variable.size, variable.align)
    if operand:
        for index in range(len(made.words)):
            made.words[index] = part(operand, index)
    return made


def _pass_on(b: Memory, given: ParamVariable, is_result: bool) -> None:
    """A variable that is the result of a call and an argument of one goes from here to there though no code names its words."""
    given.taken = given.taken or is_result
    given.given = given.given or not is_result
    if given.taken and given.given:
        for index in range(len(given.words)):
            word(b, given, index)


def _register_of(b: Memory, given: ParamVariable, is_result: bool) -> i64:
    """A register in place of a variable: of more than one word it is a copy."""
    if len(given.words) == 1:
        return word(b, given, 0)
    made = b.new("R", len(given.words))
    if not is_result:
        for index in range(len(given.words)):
            b.copy(part(made, index), word(b, given, index), 0)
    return made


def _of_elements(b: Memory, variable: Any, items: Any, is_result: bool) -> ParamVariable:
    """The elements of a vector register as the words of a variable."""
    made = ParamVariable(variable.name, variable.size, variable.align)
    each = variable.size // len(items)
    operands = [b.register(item[1]) for item in items]
    if each >= WORD:
        made.words = [part(operand, k) for operand in operands for k in range(each // WORD)]
        return made
    for index in range(len(made.words)):
        made.words[index] = b.new_r()
    if not is_result:
        _gather(b, made, operands, each)
    return made


def take_result(b: Memory, variable: Any, node: Any, made: ParamVariable | int) -> None:
    """Behind a call, put a result that :func:`actual` has another place for where the caller wants it."""
    if node[0] == nodes.SYM and not isinstance(made, ParamVariable):
        given = b.place_of(node[1]).param
        if given is not None and len(given.words) > 1:
            for index in range(len(given.words)):
                b.copy(word(b, given, index), part(made, index), 0)
    elif node[0] == nodes.VEC and isinstance(made, ParamVariable):
        each = variable.size // len(node[1])
        if each < WORD:
            _scatter(b, made, [b.register(item[1]) for item in node[1]], each)


def _in_register(b: Memory, variable: Any, value: Value) -> int:
    """A register with an argument."""
    if value.kind == OPERAND:
        return value.bits
    if variable.type == "pred" or variable.size > DOUBLE_BYTES:
        raise NotSupported(f"a constant as an argument of type .{variable.type}")
    wide = variable.size == DOUBLE_BYTES
    register: int = b.new_pair() if wide else b.new_r()
    if value.kind == FLOATING:
        value = integer(value.wide if wide else value.bits)
    b.set(register, value)
    return register


# -- in the function --------------------------------------------------------------------------------------------------------


def take_parameters(b: Memory, function: Any, handles: list[int], variables: list[ParamVariable | None]) -> None:
    """Where a function begins, put its vector parameters into their registers, and note its vector results.

    ``handles``, ``variables``: of each result and parameter the first register and, of a vector, the variable that it lies in.
    """
    for index, variable in enumerate((*function.returns, *function.params)):
        given = variables[index]
        if given is not None:
            elements = list(range(handles[index], handles[index] + variable.vector))
            if index < len(function.returns):
                b.vector_results.append((given, elements))
            else:
                _scatter(b, given, [b.register(handle) for handle in elements], given.size // variable.vector)


def give_results(b: Memory) -> None:
    """Where a function returns, put its vector results into the words of their variables."""
    for variable, elements in b.vector_results:
        _gather(b, variable, [b.register(handle) for handle in elements], variable.size // len(elements))


def _scatter(b: Memory, variable: ParamVariable, operands: list[i64], each: int) -> None:
    """Words of a variable into registers, an element of ``each`` bytes into each of them."""
    for index, operand in enumerate(operands):
        if each < WORD:
            extract(b, operand, variable.words[index * each // WORD], index * each % WORD // each, each, False, 0)
        else:
            for k in range(each // WORD):
                b.copy(part(operand, k), variable.words[index * (each // WORD) + k], 0)


def _gather(b: Memory, variable: ParamVariable, operands: list[i64], each: int) -> None:
    """The opposite of :func:`_scatter`."""
    if each < WORD:
        group = WORD // each
        for index, made in enumerate(variable.words):
            values = [packed(operand) for operand in operands[index * group : index * group + group]]
            pack_word(b, made, values + [integer(0)] * (group - len(values)), each)
        return
    for index, operand in enumerate(operands):
        for k in range(each // WORD):
            b.copy(variable.words[index * (each // WORD) + k], part(operand, k), 0)
