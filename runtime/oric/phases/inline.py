"""Inlining: the bodies of called functions take the places of the calls, unless they are too large (:mod:`.inline_cost`).

Each copy has virtual registers of its own; ``.param`` variables of the caller take the places of those of the function. Calls of
functions that call themselves, by whatever way, and calls through registers stay calls (:mod:`oric.phases.outline`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.cubin_layout import is_of_driver
from oric_tables.op import ARG_IN, ARG_OUT, BRA, CALL_SITE, CALL_SITE_R, INVOKE, MOV, PLOP3, RETURN, SWITCH
from oric_tables.registers import ARGUMENTS

from oric.ir import operand as opd
from oric.ir.calls import INDIRECT, CallSite, Formal, KeptCall, ParamVariable, reached
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import BLOCK_NOUNROLL, NONE, Function, R
from oric.ir.lineinfo import LINE, LINE_BITS, PtxRegister
from oric.ir.module import Module
from oric.support.arrays import nones, zeros
from oric.support.diagnostics import NotSupported

from .inline_cost import too_large
from .passing import Rooms, make_room, pass_words, take_from_room


@final
class Inliner:
    """Inlines the calls of a module. ``bodies``: functions by symbol id, ``names``: of all that may be called.

    ``broken``: functions that cannot be compiled -> why not. ``separate``: all calls stay, as
    ptxas 13.0.88 has them in an object and in code for a debugger (``for_debugger``). ``linked``: functions without a body are
    elsewhere.
    """

    def __init__(
        self, module: Module, bodies: dict[int, Function], names: dict[int, str], broken: dict[int, NotSupported]
    ) -> None:
        self.rooms = Rooms(module)
        self.separate = module.separate
        self.for_debugger = module.for_debugger
        self.linked = module.linked
        self.bodies = bodies
        self.names = names
        self.broken = broken
        self.entries: list[Function] = []  # those that call functions here
        self.done: set[int] = set()  # functions whose own calls are inlined
        self._recursive: dict[int, str] | None = None

    def inline(self, f: Function) -> None:
        """Inline all calls of a function but those that stay.

        Raises:
            NotSupported: a function with something that cannot be compiled.
        """
        if not f.calls:
            return
        kept = self._kept()
        for site in f.calls:
            if site.callee not in kept:
                self._prepare(site)
        Splice(f, self.bodies, kept, self.rooms).run()
        f.calls = []

    def unresolved(self, f: Function, addressed: Iterable[int]) -> list[str]:
        """Names of the functions that a function calls, itself or through others, and that are nowhere.

        ``addressed``: those whose addresses are taken, which a call through a register may call.
        """
        calls = {callee: {site.callee for site in body.calls} for callee, body in self.bodies.items()}
        calls[INDIRECT] = set(addressed)
        first = {site.callee for site in f.calls}
        found = first.union(*(reached(callee, calls) for callee in first if callee in calls))
        nowhere = (n for n in found if n not in self.bodies and n not in self.broken and n != INDIRECT)
        return sorted(name for name in map(self.names.__getitem__, nowhere) if not is_of_driver(name))

    def body(self, callee: int) -> Function:
        """The body of a function with the calls that stay.

        Raises:
            NotSupported: as :meth:`inline`.
        """
        self._prepare(CallSite(callee, [], 0))
        return self.bodies[callee]

    def _kept(self) -> dict[int, str]:
        """Whose calls stay: functions that call themselves, by whatever way, those that a register tells, and those of the
        driver or of other files, by their names.
        """
        if self._recursive is None and self.separate:
            self._recursive = dict(self.names)
            self._recursive[INDIRECT] = ""
        if self._recursive is None:
            calls = {callee: {site.callee for site in body.calls} for callee, body in self.bodies.items()}
            self._recursive = {callee: "" for callee in calls if callee in reached(callee, calls)}
            self._recursive[INDIRECT] = ""
            external = (n for n, name in self.names.items() if n not in self.bodies and (self.linked or is_of_driver(name)))
            self._recursive.update((n, self.names[n]) for n in external)
            self._recursive.update((n, "") for n in too_large(self.bodies, self.entries, self._recursive.keys()))
        return self._recursive

    def _prepare(self, site: CallSite) -> None:
        """Make the body of a called function free of calls but those that stay."""
        callee = site.callee
        if callee in self.broken:
            raise self.broken[callee]
        if callee not in self.done:
            self.done.add(callee)
            self.inline(self.bodies[callee])


@final
class Splice:
    """Puts copies of bodies into one function, in place of its calls but those of ``kept``."""

    def __init__(self, f: Function, bodies: dict[int, Function], kept: dict[int, str], rooms: Rooms) -> None:
        self.f = f
        self.bodies = bodies
        self.kept = kept
        self.rooms = rooms
        self.cursor = Cursor(f)
        self.order = vec[i64]()
        self.body = f  # the body at hand
        self.map = vec[i64]()  # register of the body at hand -> register here, NONE where there is none yet
        self.word = vec[i64]()  # and the word of it where that begins
        self.call: int = 0  # origin of the call at hand
        self.marks: dict[int, int] = {}  # of the body at hand -> in place of the call, as bits of an origin

    def run(self) -> None:
        """Replace the calls, block after block."""
        f = self.f
        count = f.blocks()
        b: i64 = 0
        while b < count:
            self.order = append(self.order, b)
            i = f.head[b]
            while i != NONE:
                if f.op[i] == INVOKE:
                    i = self._keep(i) if f.calls[f.aux[i]].callee in self.kept else self._replace(i)
                else:
                    i = f.next[i]
            b += 1
        self.cursor.reorder(self.order)
        make_edges(f)

    def _replace(self, call: i64) -> i64:
        """Replace one call; returns the instruction behind it."""
        f = self.f
        site = f.calls[f.aux[call]]
        body = self.bodies[site.callee]
        self.call = f.line[call]
        self.marks = {}
        rest = self.cursor.split_behind(call)
        self._merge_facts(body)
        self.map = nones(body.registers())
        self.word = zeros(body.registers())
        self.body = body
        for need in body.needs:
            self._need(body, need)
        self.cursor.in_front(call)
        kept: i64 = opd.with_index(f.top, f.new_reg(R)) if body.top else 0  # what a body takes from the stack ends with it
        if kept:
            self.cursor.make2(MOV, kept, f.top)
        self._bind(body.formals, site.actuals, True)
        self.cursor.remove(call)
        self._copy(body, rest)
        self.cursor.at_start(rest)
        if kept:
            self.cursor.make2(MOV, f.top, kept)
        self._bind(body.formals, site.actuals, False)
        for name, kind, operand in body.ptx_registers:
            if self.map[operand & opd.INDEX] != NONE:
                f.ptx_registers.append(PtxRegister(name, kind, int(self._operand(operand))))
        self.order = append(self.order, rest)
        return f.head[rest]

    # -- calls that stay ---------------------------------------------------------------------------------

    def _keep(self, call: i64) -> i64:
        """Make one call that stays; returns the instruction behind it."""
        f = self.f
        site = f.calls[f.aux[call]]
        following = f.next[call]
        self.cursor.in_front(call)
        make_room(f, self.cursor, self.rooms, site)
        given = pass_words(f, self.cursor, site, False, ARG_OUT)
        made = self.cursor.make1(CALL_SITE_R, site.pointer) if site.callee == INDIRECT else self.cursor.make(CALL_SITE)
        f.aux[made] = len(f.kept)
        returned = pass_words(f, self.cursor, site, True, ARG_IN)
        take_from_room(f, self.cursor, self.rooms, site)
        f.kept.append(KeptCall(site.callee, site.loc, given, returned, self.kept[site.callee], site.prototype))
        if given > ARGUMENTS:
            f.kept[-1].stack_align = max(shape.align for shape in site.shapes if not shape.is_result)
        self.cursor.remove(call)
        return following

    def _need(self, body: Function, what: str) -> None:
        """Let the caller's own register for what its entry loads stand for that of a body."""
        f = self.f
        theirs: i64 = _needed(body)[what]
        ours: i64 = _needed(f)[what]
        if not ours:
            index: i64 = theirs & opd.INDEX
            ours = opd.with_index(theirs, f.new_reg(body.reg_type[index], body.reg_size[index]))
            f.needs.append(what)
            if what == "descriptor":
                f.descriptor = ours
            elif what == "stack":
                f.stack = ours
            elif what == "top":
                f.top = ours
            else:
                f.shared = ours
        self.map[theirs & opd.INDEX] = ours & opd.INDEX

    def _merge_facts(self, body: Function) -> None:
        self.f.intrinsics += [one for one in body.intrinsics if one not in self.f.intrinsics]
        mine, theirs = self.f.attributes, body.attributes
        mine.num_barriers = max(mine.num_barriers, theirs.num_barriers)
        mine.read_reserved(theirs.reserved_read)
        mine.tensor_memory |= theirs.tensor_memory
        mine.sparse_products |= theirs.sparse_products
        if theirs.mbarriers >= 0:
            mine.mbarriers = max(mine.mbarriers, 0) + theirs.mbarriers

    # -- results and parameters --------------------------------------------------------------------------

    def _bind(self, formals: list[Formal], actuals: list[ParamVariable | int], arguments: bool) -> None:
        """Connect parameters (in front of the copy) or results (behind it)."""
        read = _registers_of(formals, actuals)
        for formal, actual in zip(formals, actuals, strict=True):
            if isinstance(actual, ParamVariable):
                variable = formal.variable
                assert variable is not None  # as lowering has made both from the function's declaration
                if arguments:
                    self._bind_variable(variable, actual, read if formal.is_result else set())
                elif formal.is_result:
                    self._take_back(variable, actual)
            elif formal.is_result != arguments and formal.operand and actual:
                mine = self._operand(formal.operand)
                if arguments:
                    self._move(mine, actual)
                else:
                    self._move(actual, mine)

    def _bind_variable(self, variable: ParamVariable, actual: ParamVariable, read: set[int]) -> None:
        """Let the words of a caller's variable stand for those of a body's, but for those in registers of ``read``."""
        for index, word in enumerate(variable.words):
            mine = actual.words[index] if index < len(actual.words) else 0
            if word and mine and mine & opd.INDEX not in read:
                self.map[word & opd.INDEX] = mine & opd.INDEX
                self.word[word & opd.INDEX] = opd.first_of(mine)

    def _take_back(self, variable: ParamVariable, actual: ParamVariable) -> None:
        """Move the words of a result to the caller's variable, unless they are its own."""
        for index, word in enumerate(variable.words):
            mine = actual.words[index] if index < len(actual.words) else 0
            if word and mine and self.map[word & opd.INDEX] != mine & opd.INDEX:
                self._move(mine, self._operand(word))

    def _move(self, dest: i64, source: i64) -> None:
        """Copy a register of one or two words, or a predicate."""
        f = self.f
        if f.is_predicate(dest):
            self.cursor.make2(PLOP3, dest, source, _copy_of_predicate())
            return
        count = opd.count_of(dest)
        word: i64 = 0
        while word < count:
            self.cursor.make2(MOV, opd.word(dest, word), opd.word(source, word))
            word += 1

    # -- copies ------------------------------------------------------------------------------------------

    def _operand(self, operand: i64) -> i64:
        """An operand of the body as one of the caller."""
        if not opd.is_register(operand):
            return operand
        index = operand & opd.INDEX
        mine = self.map[index]
        if mine == NONE:
            mine = self.f.new_reg(self.body.reg_type[index], self.body.reg_size[index])
            self.map[index] = mine
        return opd.with_first(opd.with_index(operand, mine), opd.first_of(operand) + self.word[index])

    def _copy(self, body: Function, rest: i64) -> None:
        """Copy the blocks of a body behind the block at hand; returns go on to ``rest``."""
        f = self.f
        f.taken += body.taken
        base = f.blocks()
        count = body.blocks()
        b: i64 = 0
        while b < count:
            made = self.cursor.new_block()
            f.flags[made] = body.flags[b] | (BLOCK_NOUNROLL if body.attributes.nounroll else 0)
            self.order = append(self.order, made)
            b += 1
        b = 0
        while b < count:
            self.cursor.at_end(base + b)
            i = body.head[b]
            while i != NONE:
                self.cursor.line = body.line[i] if self.f.sources is None else self._origin(body.name, body.line[i])
                if body.op[i] != RETURN:
                    self._copy_instruction(body, i, base)
                elif body.guard[i] or b + 1 < count or body.next[i] != NONE:
                    self.cursor.make1(BRA, opd.label(rest), 0, self._operand(body.guard[i]))
                i = body.next[i]
            b += 1

    def _origin(self, callee: str, origin: int) -> int:
        """The origin of an instruction of a body here; what is no copy of a call is where it was."""
        sources = self.f.sources
        assert sources is not None  # as asked before
        if not self.call:
            return origin
        mark = origin >> LINE_BITS
        found = self.marks.get(mark)
        if found is None:
            found = self.marks[mark] = sources.inlined(mark << LINE_BITS, self.call, callee)
        return origin & LINE | found

    def _copy_instruction(self, body: Function, i: i64, base: i64) -> None:
        f = self.f
        made = self.cursor.make(body.op[i], body.mods[i], self._operand(body.guard[i]))
        f.aux[made] = body.aux[i]
        if body.op[i] == CALL_SITE or body.op[i] == CALL_SITE_R:
            f.aux[made] = len(f.kept)
            f.kept.append(body.kept[body.aux[i]].copy())
        elif body.op[i] == SWITCH:
            targets = body.attributes.jump_tables[body.aux[i]].targets
            f.aux[made] = f.attributes.add_jump_table([int(base + target) for target in targets])
        at: i64 = 0
        while at < body.count[i]:
            operand = body.get(i, at)
            form = operand & opd.TYPE
            if form == opd.IS_LABEL:
                operand = opd.label(base + (operand & opd.INDEX))
            elif form == opd.IS_POOL:
                operand = f.imm(body.imm_value(operand))
            else:
                operand = self._operand(operand)
            self.cursor.put(operand)
            at += 1


def _needed(f: Function) -> dict[str, int]:
    """The registers that the entry loads, by what it loads."""
    return {"descriptor": f.descriptor, "stack": f.stack, "top": f.top, "shared": f.shared}


def _registers_of(formals: list[Formal], actuals: list[ParamVariable | int]) -> set[int]:
    """Ids of the caller's registers that arguments are in."""
    out: set[int] = set()
    for formal, actual in zip(formals, actuals, strict=True):
        if not formal.is_result:
            words = actual.words if isinstance(actual, ParamVariable) else [actual]
            out.update(word & opd.INDEX for word in words if word)
    return out


@cache
def _copy_of_predicate() -> int:
    """Modifiers of the PLOP3 that copies its first source."""
    from oric_tables import ops

    mods: int = ops.op(PLOP3).pack(lut=0xF0)
    return mods
