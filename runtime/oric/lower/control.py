"""Control flow: branches, tables of branches, ends, calls, barriers."""

from __future__ import annotations

import math
from typing import Any, Final

from mypy_extensions import i64
from oric_tables.cubin_layout import PROTOTYPE_TYPES
from oric_tables.op import WARPSYNC

from oric.ir import operand as opd
from oric.ir.calls import INDIRECT, WORD, CallSite, Shape
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_ALONE, AUX_APART, NONE, Function
from oric.ir.optable import BARRIER, OPS, WARP
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .arguments import actual, give_results, take_result
from .emit import OPERAND, integer
from .memory import Memory
from .moves import DOUBLE_BYTES
from .ocg import note_call
from .program import Program

_APART: Final = "apart"


def branch(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``bra``."""
    if operands[0][0] != nodes.LABEL:
        raise NotSupported("indirect branch")
    b.branch(operands[0][1], guard)


def branch_table(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``brx.idx``; no index is beyond the last label."""
    index = b.value(operands[0])
    targets = b.tables_of_labels[operands[1][1]]
    around: i64 = -1
    if guard:
        around = b.make_label()
        b.branch(around, guard ^ opd.NEGATE)
    if index.kind != OPERAND or len(set(targets)) == 1:
        b.branch(targets[min(index.bits, len(targets) - 1)] if index.kind != OPERAND else targets[0])
    else:
        entry = b.new_r()
        b.template("lesser", 0, entry, index, integer(len(targets) - 1))
        b.switch(entry, targets)
    if around >= 0:
        b.place(around)


def leave(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``exit``, and ``ret``, which phase 5 makes the same of in an entry."""
    if program.options["kind"] == "ret":
        give_results(b)
        b.leave("return", guard)
    else:
        b.leave("exit", guard)


def call(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``call``: of a function of the module, or of the one that a register tells; the inliner decides what stays a call.

    Raises:
        NotSupported: fewer arguments than parameters, an argument that no register holds.
    """
    rest = list(operands)
    results = rest.pop(0)[1] if rest[0][0] == nodes.ARGS else ()
    callee = rest.pop(0)
    arguments = rest.pop(0)[1] if rest and rest[0][0] == nodes.ARGS else ()
    if callee[0] == nodes.SYM:
        function, number, pointer = b.functions[callee[1]], callee[1], 0
        if note_call(b, function, guard, results, arguments):
            return
    else:
        function, number, pointer = b.prototypes[rest[0][1]], INDIRECT, b.register(callee[1])
        if opd.count_of(pointer) < DOUBLE_BYTES // WORD:
            raise NotSupported("a call through a register of less than 64 bits")
    variables = (*function.returns, *function.params)
    if len(variables) != len(results) + len(arguments):
        raise NotSupported("a call without the open array at the end of the parameters")
    given = (*results, *arguments)
    actuals = [actual(b, variable, given[n], n < len(results)) for n, variable in enumerate(variables)]
    shapes = [Shape(v.size, v.align, n < len(function.returns)) for n, v in enumerate(variables)]
    around: i64 = -1
    if guard:
        around = b.make_label()
        b.branch(around, guard ^ opd.NEGATE)
    line = b.tables.template("invoke").first
    made = b.stand().make(b.tables.op[line], b.tables.mods[line])
    b.code.aux[made] = len(b.code.calls)
    b.named.setdefault(number, True)
    b.code.calls.append(CallSite(number, actuals, b.loc, shapes, pointer, prototype(function)))
    for n, node in enumerate(results):
        take_result(b, variables[n], node, actuals[n])
    if around >= 0:
        b.place(around)


def prototype(function: Any) -> str:
    """Results and parameters of a function, or of what a register tells, as the container writes them."""
    results = "".join(map(_letter, function.returns)) or PROTOTYPE_TYPES["none"]
    return f"#{results}{''.join(map(_letter, function.params))}"


def _letter(variable: Any) -> str:
    if variable.vector > 1 and not variable.dims:
        return PROTOTYPE_TYPES[f"b{8 * variable.size}"]
    return PROTOTYPE_TYPES[variable.type] + (str(math.prod(variable.dims)) if variable.dims else "")


def barrier(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``bar`` and ``barrier``: counts the barriers that the function uses, then runs the lines.

    Option ``threads``: ``apart`` where the threads of a warp need not come together; a guard is a branch around it then.
    """
    first = next((o for o in operands if o[0] in (nodes.INT, nodes.REG)), (nodes.INT, 0))
    number = operands[int(program.options["barrier"])] if "barrier" in program.options else first
    used = number[1] + 1 if number[0] == nodes.INT else b.target.cta_barriers
    facts = b.code.attributes
    facts.num_barriers = max(facts.num_barriers, used)
    if program.options.get("threads") != _APART:
        run_lines(b, program, guard, operands)
        return
    skip = b.make_label() if guard else -1
    if guard:
        b.branch(skip, guard ^ opd.NEGATE)
    made: i64 = len(b.code.op)
    run_lines(b, program, 0, operands)
    while not OPS.flags[b.code.op[made]] & BARRIER:
        made += 1
    b.code.aux[made] |= AUX_APART  # what fetches its result follows
    if guard:
        b.place(skip)


def of_a_mask(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``shfl.sync`` and its like: the lines, in which the threads of a mask may come to what is of the warp one by one."""
    f = b.code
    made: i64 = len(f.op)
    wait: i64 = NONE
    run_lines(b, program, guard, operands)
    end: i64 = len(f.op)
    while made < end:
        if f.op[made] == WARPSYNC:
            wait = made
        if OPS.flags[f.op[made]] & WARP:
            f.aux[made] |= AUX_APART
            if wait != NONE:
                _bring_to(f, wait, made)
            wait = NONE
        made += 1


def _bring_to(f: Function, wait: i64, made: i64) -> None:
    """Put a WARPSYNC directly in front of what its mask is for: constants may have got their registers in between."""
    if f.prev[made] == wait or f.block[made] != f.block[wait]:
        return
    cursor = Cursor(f)
    cursor.remove(wait)
    cursor.in_front(made)
    cursor.link(wait)


def warp_barrier(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``bar.warp.sync``: the lines, whose last is for no instruction behind it."""
    run_lines(b, program, guard, operands)
    b.code.aux[len(b.code.op) - 1] |= AUX_ALONE


def run_lines(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """Run the lines of a program on these operands."""
    env = b.open(program)
    b.bind(program, env, operands)
    b.emit(program, env, guard)
    b.close()
