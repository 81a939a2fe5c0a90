"""The calling convention in registers, in front of allocation; saved registers and the stack, behind it.

What the convention has in a register becomes a virtual register with that place (``FLAG_FIXED``): one for all arguments and
results, one for the return address, one for the stack pointer. A call writes whatever its callee may change, so nothing that
lives on lies there. Source: ``convention`` of ``spec/registers.yaml``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, final

from mypy_extensions import i64
from oric_tables import ops, registers
from oric_tables._native import lib
from oric_tables.cubin_layout import is_of_driver
from oric_tables.op import (
    ARG_IN,
    ARG_OUT,
    CALL_ABS,
    CALL_ABS_IMM,
    CALL_REL,
    CALL_REL_R,
    CALL_SHARED,
    CALL_SHARED64,
    CALL_SITE,
    CALL_SITE_R,
    IADD3,
    IADD3_X,
    LDC,
    LDL,
    LEPC,
    LINKED,
    LOP3,
    MOV,
    RET,
    RET_ABS,
    RETURN,
    STL,
    YIELD,
)

from oric.ir import operand as opd
from oric.ir.bankwords import load_word
from oric.ir.calls import CALLER_ALIGN, FREE_STACK, INDIRECT, STACK_ARGUMENTS, STACK_POINTER, WORD, KeptCall
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, UP, UR, Function, P, R
from oric.ir.legality import legality_of
from oric.ir.links import CALL as WHOLE
from oric.ir.links import FUNCTION, HIGH, LOW, PLACE, POINTER, Link
from oric.ir.module import BANK_ADDRESS, BANK_COMPILER
from oric.ir.optable import CALL_READS, OPS
from oric.ir.passes import PassContext
from oric.support.diagnostics import InternalError

from .spill import SPILLED, size_mods
from .subroutines import SharedCalls, fix_register, fixed_register, runs, without_own
from .uniforms import make_again, may_wait, spill_uniforms
from .watching import keep_alive

if TYPE_CHECKING:
    pass

GENERAL_USED: Final = registers.RETURN_ADDRESS + 2  # what a function that calls or is called uses at the least
_LEPC_TARGET: Final = "lepc_target"
_KEPT_BY_DRIVER: Final = "kept_by_driver"
_UNTOUCHED: Final = registers.UNTOUCHED_UNIFORM
_AND: Final = 0xC0  # of the first two sources
_MASK32: Final = 0xFFFFFFFF
FRAME_ALIGN: Final = 16  # of the stack pointer at a call
_QUAD: Final = 4  # words of a register that may wait on the stack as one
# Behind all else at calls and returns: room for what is known when registers are allocated, all that code elsewhere may write.
LATER: Final = (opd.NO_OPERAND,) * 4


@cache
def _mods(op: int, **values: str | bool) -> int:
    mods: int = ops.op(op).pack(**values)
    return mods


def lower_calls(f: Function, ctx: PassContext) -> bool:
    """Phase 98: arguments, results and calls as the convention has them, in kernels with calls and in functions."""
    module = ctx.module
    linked = (module.linked or module.preserved or module.for_debugger or bool(module.links)) and _settle_links(f, module.links)
    if f.is_entry and not f.kept and not f.shared_code and not module.for_debugger:
        return _find_free_stack(f, ctx) or linked
    if f.kept or not f.is_entry:
        _settle_uniforms(f, ctx)
    _Lowering(f, ctx).run()
    if module.for_debugger:
        f.for_debugger = True
        keep_alive(f)
    return True


def _needs_alignment(f: Function, ctx: PassContext) -> bool:
    """Whether something on the stack of a function wants more alignment than callers elsewhere give (observed)."""
    if f.top or any(call.stack_align > CALLER_ALIGN for call in f.kept):
        return True
    if any(ctx.module.symbols[n].align > CALLER_ALIGN for n in f.attributes.local_offsets):
        return True
    return any(f.reg_size[n] >= _QUAD for n in range(f.registers()) if not f.reg_flags[n] & registers.FLAG_FIXED)


def _settle_links(f: Function, links: list[Link]) -> bool:
    """Make moves of what a linker tells, in an object; returns whether there was any."""
    cursor = Cursor(f)
    found = False
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == LINKED:
                found = True
                place = f.own_imm()
                f.links[place] = links[f.imm_value(f.get(i, 1))]
                dest = f.get(i, 0)
                cursor.rewrite(i, MOV, 0, 2)
                f.set(i, 0, dest)
                f.set(i, 1, opd.pool(place))
            i = f.next[i]
        b += 1
    return found


def _find_free_stack(f: Function, ctx: PassContext) -> bool:
    """Where free stack begins, in a kernel that makes no calls."""
    i = f.head[0]
    while i != NONE and f.op[i] != ARG_IN:
        i = f.next[i]
    if i == NONE:
        return False
    cursor = Cursor(f)
    cursor.in_front(i)
    frame = opd.reg(f.new_reg(R))
    load_word(cursor, legality_of(ctx.target.isa_name), frame, opd.const_bank(0, ctx.target.bank0_stack))
    _put_free_stack(f, cursor, f.get(i, 0), frame)
    cursor.remove(i)
    return True


def _put_free_stack(f: Function, cursor: Cursor, to: i64, stack_pointer: i64) -> None:
    place = f.own_imm()
    f.below_frame.append(place)
    cursor.make4(IADD3, to, stack_pointer, opd.pool(place), opd.RZ_OPERAND)


def _settle_uniforms(f: Function, ctx: PassContext) -> None:
    """Let nothing be in uniform registers that functions write where other threads of the warp may run other code meanwhile.

    What is there from one block to another, or across a place where threads wait, gets a register that functions leave alone in
    an entry, as far as there are any, and in a function is made again behind such places, or waits in general registers.
    """
    places = sorted(registers.UNTOUCHED_UNIFORM) if f.is_entry else []
    victims: list[int] = []
    for n in lasting_uniforms(f):
        size = f.reg_size[n]
        align = int(lib.oric_align_of_words[size])
        found = next((p for p in places if p % align == 0 and all(p + k in places for k in range(size))), -1)
        if f.reg_type[n] == UR and found >= 0 and found + size <= ctx.target.uniform_regs:
            places = [p for p in places if not found <= p < found + size]
            f.reg_flags[n] |= registers.FLAG_FIXED | SPILLED
            f.hint[n] = found
        elif f.reg_type[n] == UR:
            victims.append(n)
        else:
            raise InternalError(f"a uniform predicate of '{f.name}' is needed in several blocks")
    victims = make_again(f, victims) if victims else victims
    if victims:
        spill_uniforms(f, victims)


def lasting_uniforms(f: Function) -> list[int]:
    """The uniform registers whose value is there in several blocks, or across a place where threads wait."""
    home: dict[int, int] = {}  # register -> the stretch of code that names it
    found: set[int] = set()
    stretch: int = 0
    b: i64 = 0
    while b < f.blocks():
        stretch += 1
        i = f.head[b]
        while i != NONE:
            at: i64 = -1
            while at < f.count[i]:
                operand = f.guard[i] if at < 0 else f.get(i, at)
                n = int(operand & opd.INDEX)
                if opd.is_register(operand) and (f.reg_type[n] == UR or f.reg_type[n] == UP):
                    if home.setdefault(n, stretch) != stretch:
                        found.add(n)
                at += 1
            if may_wait(f, i):
                stretch += 1
            i = f.next[i]
        b += 1
    return sorted(found | _read_first(f, home))


def _read_first(f: Function, home: dict[int, int]) -> set[int]:
    """Of the registers of one stretch those that are read before they are written: their value is from the last time there."""
    seen: set[int] = set()
    found: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            made: set[int] = set()
            at: i64 = -1
            while at < f.count[i]:
                operand = f.guard[i] if at < 0 else f.get(i, at)
                n = int(operand & opd.INDEX)
                if opd.is_register(operand) and n in home:
                    if at >= 0 and OPS.writes_at(f.op[i], at):
                        made.add(n)
                    elif n not in seen:
                        found.add(n)
                at += 1
            seen |= made
            i = f.next[i]
        b += 1
    return found


@final
class _Lowering:
    def __init__(self, f: Function, ctx: PassContext) -> None:
        self.f = f
        self.ctx = ctx
        self.cursor = Cursor(f)
        self.arguments: int = fixed_register(f, R, registers.ARGUMENTS, registers.FIRST_ARGUMENT)
        self.back: int = fixed_register(f, R, 2, registers.RETURN_ADDRESS)
        if f.is_entry:
            f.sp = self._load_stack_pointer()
        fix_register(f, f.sp & opd.INDEX, registers.STACK_REGISTER)
        self.shared = SharedCalls(f, self.cursor, self.arguments, self.back)
        self.changed: dict[frozenset[int], list[int]] = {}  # general registers that a callee keeps -> what it may change
        self.saved: int = 0  # the return address, in a function that makes calls
        self.entry: int = 0  # the stack pointer where the function begins, where it aligns it
        self.own: int = 0  # the stack pointer, where calls change it by what alloca has taken ...
        self.low: int = NONE  # ... and the instruction that did so last

    def run(self) -> None:
        """All blocks."""
        f = self.f
        if not f.is_entry:
            self._begin()
        if f.top and f.kept:
            self.own = opd.reg(f.new_reg(R))
            self.cursor.make2(MOV, self.own, f.sp)
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                op = f.op[i]
                if op == ARG_IN:
                    self._take(i)
                elif op == ARG_OUT:
                    self._give(i)
                elif op == CALL_SITE or op == CALL_SITE_R:
                    self._call(i)
                elif op == CALL_SHARED or op == CALL_SHARED64:
                    self.shared.lower(i)
                elif op == RETURN:
                    self._return(i)
                i = following
            b += 1

    def _load_stack_pointer(self) -> i64:
        """The stack pointer of a kernel, where it begins."""
        made = opd.reg(self.f.new_reg(R))
        self.cursor.at_start(0)
        load_word(self.cursor, legality_of(self.ctx.target.isa_name), made, opd.const_bank(0, self.ctx.target.bank0_stack))
        return made

    def _changed(self, call: KeptCall) -> list[int]:
        """The general registers and predicates that a callee may change, but arguments and the return address."""
        target = self.ctx.target
        more = is_of_driver(call.external) and _KEPT_BY_DRIVER in target.features
        kept = registers.KEPT_BY_DRIVER if more else registers.KEPT
        found = self.changed.get(kept)
        if found is None:
            most = self.f.attributes.register_limit(target, self.ctx.maxrregcount or 0) - target.reserved_regs
            general = runs([n for n in without_own(most) if n not in kept])
            found = [fixed_register(self.f, R, count, first) for first, count in general]
            found.append(fixed_register(self.f, P, target.predicates, 0))
            self.changed[kept] = found
        return found

    def _changed_uniform(self) -> list[int]:
        """The uniform registers and predicates that a callee may change, anew for each call: they are taken over whole
        stretches."""
        target = self.ctx.target
        kept = registers.UNTOUCHED_UNIFORM if self.f.is_entry else frozenset[int]()
        found: list[int] = [
            fixed_register(self.f, UR, count, first)
            for first, count in runs([k for k in range(target.uniform_regs) if k not in kept])
        ]
        if target.uniform_predicates:
            found.append(fixed_register(self.f, UP, target.uniform_predicates, 0))
        return found

    def _convention(self, words: int, back: i64, writes: list[int]) -> None:
        """What other code reads, and what it writes, behind the operands of the machine."""
        self.cursor.put(opd.with_span(self.arguments, words - 1) if words else opd.NO_OPERAND)
        self.cursor.put(self.f.sp)
        self.cursor.put(back)
        for operand in writes:
            self.cursor.put(operand)

    def _begin(self) -> None:
        """What the caller has left in registers, at the start of a function; the mark is taken away behind allocation."""
        f, cursor = self.f, self.cursor
        cursor.at_start(0)
        cursor.make1(YIELD, opd.PT_OPERAND)
        for _ in range(CALL_READS):
            cursor.put(opd.NO_OPERAND)
        if f.given:
            cursor.put(opd.with_span(self.arguments, min(f.given, registers.ARGUMENTS) - 1))
        cursor.put(f.sp)
        cursor.put(self.back)
        if self.ctx.module.relocatable and _needs_alignment(f, self.ctx):
            self._align()
        if f.kept and not self.ctx.module.for_debugger:  # else it waits in memory: a debugger finds it there
            self.saved = opd.reg(f.new_reg(R, 2), 0, 2)
            self._copy_back(self.saved, self.back)

    def _align(self) -> None:
        """Align the stack pointer, in front of all that may wait below it; so what it was is made anew behind that."""
        f, cursor = self.f, self.cursor
        rest = opd.reg(f.new_reg(R))
        f.reg_flags[rest & opd.INDEX] |= SPILLED
        cursor.make4(LOP3, rest, f.sp, f.imm(FRAME_ALIGN - 1), opd.RZ_OPERAND, _mods(LOP3, lut=_AND))
        f.realigned = cursor.make4(LOP3, f.sp, f.sp, f.imm(-FRAME_ALIGN & _MASK32), opd.RZ_OPERAND, _mods(LOP3, lut=_AND))
        self.entry = opd.reg(f.new_reg(R))
        cursor.make4(IADD3, self.entry, f.sp, rest, opd.RZ_OPERAND)

    def _copy_back(self, to: i64, source: i64) -> None:
        self.cursor.make2(MOV, opd.word(to, 0), opd.word(source, 0))
        self.cursor.make2(MOV, opd.word(to, 1), opd.word(source, 1))

    def _take(self, i: i64) -> None:
        """A word of the arguments of this function, or of the results of a call."""
        f = self.f
        word: int = f.aux[i]
        self.cursor.in_front(i)
        if word == FREE_STACK:
            _put_free_stack(f, self.cursor, f.get(i, 0), self.own or f.sp)
        elif word == STACK_ARGUMENTS:
            self.cursor.make2(MOV, f.get(i, 0), self.entry or f.sp)
        elif word != STACK_POINTER:
            if word < registers.ARGUMENTS:
                self.cursor.make2(MOV, f.get(i, 0), opd.word(self.arguments, word))
            else:
                self.cursor.make(LDL, size_mods(LDL, 1))
                self.cursor.put(f.get(i, 0))
                self.cursor.put(self.entry or f.sp)
                self.cursor.put(f.imm(WORD * (word - registers.ARGUMENTS)))
        self.cursor.remove(i)

    def _give(self, i: i64) -> None:
        """A word of the arguments of a call, or of the results of this function."""
        f = self.f
        word: int = f.aux[i]
        self.cursor.in_front(i)
        if word == FREE_STACK:
            place, low = f.own_imm(), opd.reg(f.new_reg(R))
            f.below_free.append(place)
            self.cursor.make4(IADD3, low, f.get(i, 0), opd.pool(place), opd.RZ_OPERAND)
            self.low = self.cursor.make4(LOP3, f.sp, low, f.imm(-FRAME_ALIGN & _MASK32), opd.RZ_OPERAND, _mods(LOP3, lut=_AND))
        elif word < registers.ARGUMENTS:
            self.cursor.make2(MOV, opd.word(self.arguments, word), f.get(i, 0))
        else:  # how far below the top of the frame it lies is known in the end
            data = f.get(i, 0)
            if opd.is_register(data) and f.reg_type[data & opd.INDEX] == UR:
                data = opd.reg(f.new_reg(R))
                self.cursor.make2(MOV, data, f.get(i, 0))
            place = f.own_imm()
            f.outgoing.append((place, WORD * (word - registers.ARGUMENTS)))
            if self.own:  # the stack pointer is where it is at the call
                f.immediates[place] = WORD * (word - registers.ARGUMENTS)
            self.cursor.make(STL, size_mods(STL, 1))
            self.cursor.put(f.sp)
            self.cursor.put(opd.pool(place))
            self.cursor.put(data)
        self.cursor.remove(i)

    def _call(self, i: i64) -> None:
        f, cursor = self.f, self.cursor
        call = f.kept[f.aux[i]]
        cursor.in_front(i)
        call.back = f.own_imm()
        module = self.ctx.module
        linked = module.separate or (module.linked and call.external != "")
        linked = linked and not module.independent
        if linked:
            self._link_back(call.back, f.aux[i])
        elif call.external or module.independent:
            self._place(call.back, f.aux[i])
        else:
            cursor.make2(MOV, opd.word(self.back, 0), opd.pool(call.back))
            cursor.make2(MOV, opd.word(self.back, 1), opd.RZ_OPERAND)
        target = f.own_imm()
        if linked:
            made = self._call_linked(call, i, target)
        elif call.external:
            place = module.external_slot(call.external)
            pointer = self._load_address(opd.RZ_OPERAND, BANK_ADDRESS, place)
            made = cursor.make1(CALL_ABS, pointer, _mods(CALL_ABS, noinc=True), f.guard[i])
        elif module.independent:
            made = cursor.make1(CALL_ABS, self._absolute(f.get(i, 0)), _mods(CALL_ABS, noinc=True), f.guard[i])
        elif call.callee == INDIRECT:
            pointer = self._load_address(opd.word(f.get(i, 0), 0), BANK_COMPILER, 0)
            made = cursor.make1(CALL_REL_R, pointer, _mods(CALL_REL_R, noinc=True), f.guard[i])
        else:
            made = cursor.make(CALL_REL, _mods(CALL_REL, noinc=True), f.guard[i])
        f.aux[made] = f.aux[i]
        cursor.put(opd.pool(target))
        cursor.put(opd.PT_OPERAND)
        writes: list[int] = [
            opd.with_span(self.arguments, registers.ARGUMENTS - 1),
            self.back,
            *self._changed(call),
            *self._changed_uniform(),
            *LATER,
        ]
        self._convention(min(call.arguments, registers.ARGUMENTS), self.back, writes)
        if self.own:
            f.stack_moves.append((self.low, int(cursor.make2(MOV, f.sp, self.own)), int(self.own & opd.INDEX)))
        cursor.remove(i)

    def _link_back(self, low: int, call: int) -> None:
        """The absolute address to return to, which a linker tells."""
        f = self.f
        high: int = f.own_imm()
        for word, (place, part) in enumerate(((low, LOW), (high, HIGH))):
            f.links[place] = Link(part, PLACE, -1, f.name)
            f.returns_to[place] = call
            self.cursor.make2(MOV, opd.word(self.back, word), opd.pool(place))

    def _call_linked(self, call: KeptCall, i: i64, target: int) -> i64:
        """A call of an address that a linker tells, or that a register and a linker tell."""
        f, cursor = self.f, self.cursor
        if call.callee != INDIRECT:
            f.links[target] = Link(WHOLE, FUNCTION, -1, call.external)
            return cursor.make(CALL_ABS_IMM, _mods(CALL_ABS_IMM, noinc=True), f.guard[i])
        f.links[target] = Link(WHOLE, POINTER, -1)
        return cursor.make1(CALL_ABS, f.get(i, 0), _mods(CALL_ABS, noinc=True), f.guard[i])

    def _absolute(self, pointer: i64) -> i64:
        """The absolute address of a function by the pointer to it, in a position independent object."""
        module = self.ctx.module
        if not module.pointer_base:
            return pointer
        f, cursor = self.f, self.cursor
        base = self._load_address(opd.RZ_OPERAND, BANK_ADDRESS, module.external_slot(module.pointer_base))
        sum_, carry = opd.reg(f.new_reg(R, 2), 0, 2), opd.reg(f.new_reg(P))
        cursor.make4(IADD3, opd.word(sum_, 0), opd.word(pointer, 0), opd.word(base, 0), opd.RZ_OPERAND)
        cursor.put(carry)
        cursor.make4(IADD3_X, opd.word(sum_, 1), opd.word(pointer, 1), opd.word(base, 1), opd.RZ_OPERAND)
        cursor.put(opd.PT_OPERAND)
        cursor.put(opd.PT_OPERAND)
        cursor.put(carry)
        return sum_

    def _load_address(self, base: i64, bank: int, offset: int) -> i64:
        """An address in a constant bank, in a pair."""
        pointer = opd.reg(self.f.new_reg(R, 2), 0, 2)
        self.cursor.make(LDC, _mods(LDC, size="64"))
        self.cursor.put(pointer)
        self.cursor.put(base)
        self.cursor.put(opd.const_bank(bank, 0))
        self.cursor.put(opd.imm(offset))
        return pointer

    def _place(self, distance: int, call: i64) -> None:
        """The address that a function of the driver returns to: that of an instruction here, and how far the place is from it."""
        f, cursor = self.f, self.cursor
        if _LEPC_TARGET in self.ctx.target.features:
            made = cursor.make2(LEPC, self.back, opd.pool(distance))
            f.aux[made] = call
            return
        here, carry = opd.reg(f.new_reg(R, 2), 0, 2), opd.reg(f.new_reg(P))
        made = cursor.make1(LEPC, here)
        f.aux[made] = call
        cursor.make4(IADD3, opd.word(self.back, 0), opd.word(here, 0), opd.pool(distance), opd.RZ_OPERAND)
        cursor.put(carry)
        cursor.make4(IADD3_X, opd.word(self.back, 1), opd.word(here, 1), opd.RZ_OPERAND, opd.RZ_OPERAND)
        cursor.put(opd.PT_OPERAND)
        cursor.put(opd.PT_OPERAND)
        cursor.put(carry)

    def _return(self, i: i64) -> None:
        f, cursor = self.f, self.cursor
        cursor.in_front(i)
        if self.saved:
            self._copy_back(self.back, self.saved)
        if self.entry:
            cursor.make2(MOV, f.sp, self.entry)
        if self.ctx.module.relocatable or self.ctx.module.for_debugger:
            cursor.make1(RET_ABS, self.back, _mods(RET_ABS, nodec=True), f.guard[i])
        else:
            cursor.make1(RET, self.back, _mods(RET, nodec=True), f.guard[i])
        cursor.put(opd.pool(f.own_imm()))
        cursor.put(opd.PT_OPERAND)
        self._convention(f.returned, opd.NO_OPERAND, list(LATER))
        cursor.remove(i)
