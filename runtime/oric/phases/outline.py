"""Functions that stay functions: each kernel has a copy of those that it calls behind its own code.

A copy begins with its arguments in the registers of the calling convention and ends with its results there; in between stands
the body, inlined. Source: observed (ptxas 13.0.88 makes the same copies, ``$kernel$function``, where it need not make an object
to link).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import ARG_IN, ARG_OUT, CALL_SITE, CALL_SITE_R, INVOKE, RETURN

from oric.ir import operand as opd
from oric.ir.calls import FREE_STACK, FUNCTION_SLOT, INDIRECT, STACK_POINTER, CallSite, Formal, ParamVariable, Shape
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function, R

from .in_place import leave_in_place, stack_arguments
from .inline import Inliner, Splice
from .passing import give_to_room, pass_words, take_pointer

_NO_FUNCTION: Final = b"\1"  # at the place that is the address of no function; observed


@final
class Outliner:
    """Gives kernels the functions that they call. ``shapes``: of results and parameters, by a function's id."""

    def __init__(self, inliner: Inliner, shapes: dict[int, list[Shape]]) -> None:
        self.inliner = inliner
        self.shapes = shapes

    def complete(self, kernel: Function, addressed: Iterable[int]) -> None:
        """Make the copies that a kernel needs, in the order of their names, in which ptxas has them (observed).

        ``addressed``: the functions whose addresses are taken, by their numbers.

        Raises:
            NotSupported: see :meth:`Inliner.inline`; a function that the convention does not have here.
        """
        if self.inliner.separate:
            _call_below(kernel)
            return
        found: dict[int, Function] = {}
        waiting = self._called(kernel, addressed)
        while waiting:
            callee = waiting.pop(0)
            if callee not in found:
                name = f"${kernel.name}${self.inliner.names[callee]}"
                found[callee] = self._copy(name, self.inliner.body(callee), callee)
                waiting += self._called(found[callee], addressed)
        kernel.functions = [found[callee] for _, callee in sorted([(f.name, callee) for callee, f in found.items()])]
        for f in (kernel, *kernel.functions):
            _call_below(f)
        if any(call.callee == INDIRECT for f in (kernel, *kernel.functions) for call in f.kept):
            kernel.addressed = list(addressed)
            kernel.attributes.constant2 = bytearray(_NO_FUNCTION.ljust(FUNCTION_SLOT * (1 + len(kernel.addressed)), b"\0"))

    @staticmethod
    def _called(f: Function, addressed: Iterable[int]) -> list[int]:
        """The functions that a function calls, each once."""
        found: dict[int, None] = {}
        for call in f.kept:
            if not call.external:
                found.update(dict.fromkeys(addressed if call.callee == INDIRECT else [call.callee]))
        return list(found)

    def alone(self, callee: int) -> Function:
        """A function that is code of its own.

        Raises:
            NotSupported: as :meth:`complete`.
        """
        f = self._copy(self.inliner.names[callee], self.inliner.body(callee), callee)
        _call_below(f)
        return f

    def _copy(self, name: str, body: Function, callee: int) -> Function:
        """A function as it is called."""
        f = Function(name, body.target, is_entry=False)
        f.callee = callee
        f.sources = body.sources
        f.attributes.nounroll = body.attributes.nounroll
        cursor = Cursor(f)
        cursor.at_end(cursor.new_block())
        f.sp = opd.reg(f.new_reg(R))
        made = cursor.make1(ARG_IN, f.sp)
        f.aux[made] = STACK_POINTER
        site = CallSite(callee, [_fresh(f, body, formal) for formal in body.formals], 0, self.shapes[callee])
        staying = {} if self.inliner.for_debugger else stack_arguments(body, site)
        f.calls = [site]
        pointer = take_pointer(f, cursor, site)
        f.given = pass_words(f, cursor, site, False, ARG_IN)
        made = cursor.make(INVOKE)
        f.aux[made] = 0
        f.returned = pass_words(f, cursor, site, True, ARG_OUT)
        give_to_room(f, cursor, site, pointer)
        cursor.line = _line_of_return(body)
        cursor.make(RETURN)
        make_edges(f)
        splice = Splice(f, self.inliner.bodies, {INDIRECT: ""}, self.inliner.rooms)
        splice.run()
        f.calls = []
        if staying:
            leave_in_place(f, staying, {int(splice.map[word & opd.INDEX]) for word in _words(body, staying)})
        return f


def _words(body: Function, homes: Container[int]) -> Iterator[int]:
    """The registers of a body for the words of parameters."""
    for formal in body.formals:
        if formal.variable is not None and not formal.is_result and formal.variable.home in homes:
            yield from formal.variable.words


def _line_of_return(body: Function) -> int:
    """The line of the last return of a body, which all others go to."""
    found = 0
    for b in range(body.blocks()):
        if body.tail[b] != NONE and body.op[body.tail[b]] == RETURN:
            found = body.line[body.tail[b]]
    return found


def _call_below(f: Function) -> None:
    """Let the stack of what a function calls begin below what the function has taken from the stack."""
    if not f.top or not f.kept:
        return
    cursor = Cursor(f)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        first: i64 = NONE  # of the arguments of the call to come
        while i != NONE:
            if f.op[i] == ARG_OUT:
                first = i if first == NONE else first
            elif f.op[i] == CALL_SITE or f.op[i] == CALL_SITE_R:
                cursor.in_front(i if first == NONE else first)
                made = cursor.make1(ARG_OUT, f.top)
                f.aux[made] = FREE_STACK
                first = NONE
            i = f.next[i]
        b += 1


def _fresh(f: Function, body: Function, formal: Formal) -> ParamVariable | int:
    """A variable or a register of the copy for a result or parameter of the body."""
    if formal.variable is None:
        if not formal.operand:
            return 0
        index: i64 = formal.operand & opd.INDEX
        return opd.with_index(formal.operand, f.new_reg(body.reg_type[index], body.reg_size[index]))
    made = ParamVariable(formal.variable.name, formal.variable.size, formal.variable.align)
    made.words = [opd.reg(f.new_reg(R)) if word else 0 for word in formal.variable.words]
    return made
