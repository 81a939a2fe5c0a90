"""The emitter: virtual registers, blocks, labels, and the loop that runs a program."""

from __future__ import annotations

from typing import Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import SWITCH
from oric_tables.rewrites import CONTRACT_ROLE

from oric.ir import legality as legal
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.facts import with_signs
from oric.ir.function import AUX_CONTRACT, AUX_LOCK_FREE, NONE, R2, R4, UP, UR, Function, P, R
from oric.ir.legality import Legality, legality_of
from oric.ir.lineinfo import line_of
from oric.ir.optable import ATOMIC, OPS
from oric.support import nodes
from oric.support.added import Added
from oric.support.arrays import zeros
from oric.support.diagnostics import InternalError, NotSupported
from oric.support.offsets import Lines

from .program import (
    CC,
    FIRST_TEMP,
    LABEL,
    PACKED,
    SLOT_FIELD,
    SLOT_IMM,
    SLOT_PRED,
    SLOT_SIGNED,
    SLOT_VAR,
    SLOT_WIDE,
    SLOT_WIDTH,
    WORD_MASK,
    A,
    B,
    C,
    D,
    E,
    Program,
    Q,
    Tables,
    tables_of,
)

_MASK32: Final = 0xFFFFFFFF
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_SIGN: Final = 1 << 31
_LAST_VIEW: Final = 2  # of a constant: it has 64 bits, and zeros above
# Types of registers by file and words; others are of type R.
_TYPES: Final = {("P", 1): P, ("R", 2): R2, ("R", 4): R4, ("UP", 1): UP} | {("UR", words): UR for words in range(1, 9)}
# What an entry of an environment is.
OPERAND: Final = 0  # a packed operand
INTEGER: Final = 1  # an integer immediate: its 64 bits
FLOATING: Final = 2  # a floating-point immediate: its patterns as .f32 and as .f64
ADDRESS: Final = 3  # the address of a variable, below 2**32 and not known yet: a packed symbol operand
BANK: Final = 4  # a word or pair of a constant bank: a packed operand


@final
class Value:
    """An operand of a PTX instruction: ``kind`` is one of the above, ``bits`` what it holds, ``wide`` the .f64 pattern."""

    def __init__(self, kind: int, bits: int, wide: int = 0) -> None:
        self.kind = kind
        self.bits = bits
        self.wide = wide

    def is_operand(self) -> bool:
        """True for a packed operand: a register."""
        return self.kind == OPERAND


def integer(bits: int) -> Value:
    """An integer immediate."""
    return Value(INTEGER, bits)


def packed(operand: int) -> Value:
    """A packed operand."""
    return Value(OPERAND, operand)


@final
class Env:
    """What the operands of a program's lines refer to: the PTX operands by their letters, then the temporaries."""

    def __init__(self) -> None:
        self.kind = zeros(FIRST_TEMP)
        self.bits = zeros(FIRST_TEMP)
        self.wide = zeros(FIRST_TEMP)

    def reset(self) -> None:
        """RZ everywhere, PT in the place of the predicate result."""
        at: i64 = 0
        while at < FIRST_TEMP:
            self.kind[at] = OPERAND
            self.bits[at] = opd.RZ_OPERAND
            at += 1
        self.bits[Q] = opd.PT_OPERAND

    def room(self, count: i64) -> None:
        """Make room for temporaries."""
        while len(self.kind) < FIRST_TEMP + count:
            self.kind = append(self.kind, OPERAND)
            self.bits = append(self.bits, 0)
            self.wide = append(self.wide, 0)

    def put(self, at: i64, operand: i64) -> None:
        """Set an entry to a packed operand."""
        self.kind[at] = OPERAND
        self.bits[at] = operand

    def put_value(self, at: i64, value: Value) -> None:
        """Set an entry to any operand."""
        self.kind[at] = value.kind
        self.bits[at] = _signed64(value.bits)
        self.wide[at] = _signed64(value.wide)

    def put_node(self, at: i64, node: Any) -> None:
        """Set an entry to an INT or FLOAT node."""
        if node[0] == nodes.INT:
            self.kind[at] = INTEGER
            self.bits[at] = _signed64(node[1])
        else:
            self.kind[at] = FLOATING
            self.bits[at] = node[1]
            self.wide[at] = _signed64(node[2])


def _signed64(bits: int) -> i64:
    bits &= _MASK64
    return bits - (1 << 64) if bits >> 63 else bits


class Emitter:
    """State of the function under construction. One at a time."""

    def __init__(self, target: Any, source: Any) -> None:
        self.target = target
        self.tables: Tables = tables_of(target.name)
        self.lines: Lines = source.lines() if source is not None else Lines("")
        self.code = Function("", target.name)
        self.cursor = Cursor(self.code)
        self.block = NONE  # under construction, NONE behind an end
        self.line = 0
        move = self.tables.template("move").first
        self.move_op: int = self.tables.op[move]
        self.move_mods: int = self.tables.mods[move]
        branch = self.tables.template("branch").first
        self.branch_op: int = self.tables.op[branch]
        self.branch_mods: int = self.tables.mods[branch]
        self.labels = vec[i64]()  # label handle -> block, NONE before it is placed
        self.fix_instruction = vec[i64]()  # branches whose labels are resolved at the end
        self.fix_label = vec[i64]()
        self.tables_to_fix: list[tuple[i64, list[int]]] = []  # number of a jump table, its labels
        self.envs: list[Env] = [Env()]
        self.depth = 0  # environments in use
        self.errors_visible = False  # an exit waits for the errors of memory accesses
        self.legality: Legality = legality_of(target.isa_name)
        # Of the line at hand, where it has immediates: operation, first operand, kinds of the sources that are settled.
        self.op: int = 0
        self.first: int = 0
        self.key: int = 0

    def begin_function(self, f: Function) -> None:
        """Go on with an empty function."""
        self.code = f
        self.cursor = Cursor(f)
        self.block = NONE
        self.labels = vec[i64]()
        self.fix_instruction = vec[i64]()
        self.fix_label = vec[i64]()
        self.tables_to_fix = []
        self.depth = 0

    # -- registers ---------------------------------------------------------------------------------------

    def new(self, kind: str, size: int = 1) -> i64:
        """A new virtual register of a type letter and size, as an operand of its whole width."""
        return opd.reg(self.code.new_reg(_TYPES.get((kind, size), UR if kind == "UR" else R), size), 0, size)

    def new_r(self) -> i64:
        """A new general-purpose register."""
        return opd.IS_REG | self.code.new_reg(R)

    def new_pair(self) -> i64:
        """A new pair of general-purpose registers."""
        return opd.with_span(opd.IS_REG | self.code.new_reg(R2, 2), 1)

    def new_p(self) -> i64:
        """A new predicate."""
        return opd.IS_REG | self.code.new_reg(P)

    def like(self, operand: i64) -> i64:
        """A new register of the width of ``operand``."""
        if self.code.is_predicate(operand):
            return self.new_p()
        return self.new("R", opd.count_of(operand))

    # -- blocks ------------------------------------------------------------------------------------------

    def make_label(self) -> i64:
        """A label handle, to be placed later."""
        self.labels = append(self.labels, NONE)
        return len(self.labels) - 1

    def place(self, label: i64) -> None:
        """Begin a block at ``label``; the one before falls through unless it has ended."""
        if not self.code.blocks():
            self.cursor.new_block()  # nothing comes back to where a function begins
        self.block = self.cursor.new_block()
        self.labels[label] = self.block

    def end_block(self, falls: bool) -> None:
        """The current block ends with a branch or an exit; ``falls``: it may go on."""
        self.block = self.cursor.new_block() if falls else NONE

    def finish_flow(self) -> None:
        """Resolve labels and make the edges."""
        self.resolve_labels()
        make_edges(self.code)

    def resolve_labels(self) -> None:
        """Let branches name the blocks that labels were placed at."""
        at: i64 = 0
        while at < len(self.fix_label):
            self.code.set(self.fix_instruction[at], 0, opd.label(self.labels[self.fix_label[at]]))
            at += 1
        for table, labels in self.tables_to_fix:
            self.code.attributes.jump_tables[table].targets = [self.labels[label] for label in labels]

    # -- instructions ------------------------------------------------------------------------------------

    def stand(self) -> Cursor:
        """The cursor, at the end of the current block."""
        if self.block == NONE:
            self.block = self.cursor.new_block()
        self.cursor.at_end(self.block)
        self.cursor.line = self.line
        return self.cursor

    def last(self) -> i64:
        """The instruction that was appended last to the current block, ``NONE`` when there is none."""
        return NONE if self.block == NONE else self.code.tail[self.block]

    def copy(self, dest: i64, source: i64, guard: i64) -> None:
        """Append a MOV of one word."""
        self.stand().make2(self.move_op, dest, source, self.move_mods, guard)

    def branch(self, label: i64, guard: i64 = 0) -> None:
        """Append a branch to a label, which ends the block."""
        i = self.stand().make1(self.branch_op, opd.label(0), self.branch_mods, guard)
        self.fix_instruction = append(self.fix_instruction, i)
        self.fix_label = append(self.fix_label, label)
        self.end_block(guard != 0)

    def switch(self, index: i64, labels: list[int]) -> None:
        """Append a jump to the label of a number, which is below theirs and ends the block."""
        table = self.code.attributes.add_jump_table([])
        i = self.stand().make1(SWITCH, index)
        self.code.aux[i] = table
        self.tables_to_fix.append((table, labels))
        self.end_block(False)

    def demand(self, added: tuple[Added, ...], errors_visible: bool) -> None:
        """What all code has besides: qualifiers of instructions, exits that wait for the errors of memory accesses."""
        self.tables = tables_of(self.target.name, added)
        self.errors_visible = errors_visible

    def leave(self, name: str, guard: i64 = 0) -> None:
        """Append an instruction of template ``name`` that ends the thread or the function, and the block."""
        if self.errors_visible and (name == "exit" or self.code.is_entry):
            waits = self.tables.template("errors_visible")
            self.run(waits, self.open(waits), guard)
            self.close()
        line = self.tables.template(name).first
        self.stand().make(self.tables.op[line], self.tables.mods[line], guard)
        self.end_block(guard != 0)

    # -- programs ----------------------------------------------------------------------------------------

    def open(self, program: Program) -> Env:
        """A fresh environment with the program's temporaries, in use until :meth:`close`."""
        if self.depth == len(self.envs):
            self.envs.append(Env())
        env = self.envs[self.depth]
        self.depth += 1
        env.reset()
        temps = program.temps
        if temps:
            env.room(len(temps))
            at: i64 = FIRST_TEMP
            for kind, size in temps:
                env.put(at, self.new(kind, size))
                at += 1
        return env

    def close(self) -> None:
        """The environment that was opened last is not used any more."""
        self.depth -= 1

    def run(self, program: Program, env: Env, guard: i64 = 0) -> None:
        """Append the lines of a program."""
        if program.labels:
            self._run_with_labels(program, env, guard)
            return
        line: i64 = program.first
        last: i64 = program.last
        made: i64 = len(self.code.op)
        while line < last:
            self._run_line(line, env, guard, program.wide)
            line += 1
        if program.contract:
            self._allow_contraction(made)

    def _allow_contraction(self, made: i64) -> None:
        """Mark the products and sums from instruction ``made`` on."""
        while made < len(self.code.op):
            if CONTRACT_ROLE[self.code.op[made]]:
                self.code.aux[made] |= AUX_CONTRACT
            made += 1

    def _run_line(self, line: i64, env: Env, guard: i64, wide: bool) -> None:
        tables = self.tables
        own = tables.own[line]
        if own:
            guard = self._operand(own - 1, env, wide)
        elif tables.free[line]:
            guard = 0
        mods = tables.mods[line]
        at = tables.set_start[line]
        while at < tables.set_start[line + 1]:
            mods |= ((env.bits[tables.set_index[at]] ^ tables.set_flip[at]) & tables.set_mask[at]) << tables.set_shift[at]
            at += 1
        # Immediates may need a register, whose instruction comes first: operands are found before the line is appended.
        first = tables.start[line]
        end = tables.operands_end(line)
        if self._has_immediate(first, end, env):
            self._append_slowly(tables.op[line], mods, guard, first, end, env, wide)
            return
        cursor = self.stand()
        cursor.make(tables.op[line], mods, guard)
        while first < end:
            cursor.put(self._operand(first, env, wide))
            first += 1

    def _has_immediate(self, first: i64, end: i64, env: Env) -> bool:
        tables = self.tables
        while first < end:
            index = tables.index[first]
            if index >= 0 and env.kind[index] != OPERAND:
                return True
            first += 1
        return False

    def _append_slowly(self, op: i64, mods: i64, guard: i64, first: i64, end: i64, env: Env, wide: bool) -> None:
        operands: list[int] = []
        self.op = op
        self.first = first
        self.key = self._kinds(end, env)
        while first < end:
            operands.append(self._operand(first, env, wide))
            first += 1
        cursor = self.stand()
        cursor.make(op, mods, guard)
        for operand in operands:
            cursor.put(operand)

    def _kinds(self, end: i64, env: Env) -> i64:
        """Kinds of the sources of the line at hand; what is no operand yet counts as a register, which it is if nothing fits."""
        tables = self.tables
        key: i64 = 0
        o: i64 = self.first
        while o < end:
            source = self.legality.source_at(self.op, o - self.first)
            if source >= 0:
                index = tables.index[o]
                kind: i64 = legal.KIND_GPR
                if index == PACKED:
                    kind = legal.kind_of(self.code, tables.flip[o])
                elif index < 0:
                    kind = legal.KIND_IMM
                elif env.kind[index] == OPERAND:
                    kind = legal.kind_of(self.code, (env.bits[index] & tables.keep[o]) ^ tables.flip[o])
                key |= kind << 3 * source
            o += 1
        return key

    def _format(self, o: i64, kind: i64) -> i64:
        """The number format of a source of another kind beside those that are settled; 0: no form has it."""
        source = self.legality.source_at(self.op, o - self.first)
        return self.legality.format_of(self.op, self._key_with(source, kind), source) if source >= 0 else 0

    def _settle(self, o: i64, kind: i64) -> None:
        """A source is of that kind."""
        self.key = self._key_with(self.legality.source_at(self.op, o - self.first), kind)

    def _key_with(self, source: i64, kind: i64) -> i64:
        return self.key & ~(7 << 3 * source) | kind << 3 * source

    def _operand(self, o: i64, env: Env, wide: bool) -> i64:
        """An operand of a line."""
        tables = self.tables
        index = tables.index[o]
        if index == PACKED:
            return tables.flip[o]
        if index < 0:
            return self.code.imm(tables.flip[o])
        if env.kind[index] == OPERAND:
            return (env.bits[index] & tables.keep[o]) ^ tables.flip[o]
        return self._immediate(env, index, o, wide)

    def _run_with_labels(self, program: Program, env: Env, guard: i64) -> None:
        """A program with branches; a guard is a branch around it."""
        skip: i64 = -1
        if guard:
            skip = self.make_label()
            self.branch(skip, guard ^ opd.NEGATE)
        base: i64 = len(self.labels)
        made: i64 = len(self.code.op)
        count: i64 = 0
        while count < program.labels:
            self.make_label()
            count += 1
        tables = self.tables
        line: i64 = program.first
        while line < program.last:
            if tables.op[line] < 0:
                self.place(base - 1 - tables.op[line])
            else:
                target = self._label_of(line)
                if target < 0:
                    self._run_line(line, env, 0, program.wide)
                else:
                    own = tables.own[line]
                    self.branch(base + target, self._operand(own - 1, env, program.wide) if own else 0)
            line += 1
        while made < len(self.code.op):
            if OPS.flags[self.code.op[made]] & ATOMIC:
                self.code.aux[made] |= AUX_LOCK_FREE
            made += 1
        if skip >= 0:
            self.place(skip)

    def _label_of(self, line: i64) -> i64:
        """Number of the label that a line branches to, -1 when it is no branch."""
        tables = self.tables
        o = tables.start[line]
        while o < tables.start[line + 1]:
            if tables.index[o] == LABEL:
                return tables.flip[o]
            o += 1
        return -1

    def emit(self, program: Program, env: Env, guard: i64) -> None:
        """Run a program for a PTX instruction: takes care of guards on guarded lines and of overlapping registers."""
        if (guard and program.guarded and not program.labels) or (program.hazard and _overlaps(env)):
            self._run_aside(program, env, guard)
        else:
            self.run(program, env, guard)

    def _run_aside(self, program: Program, env: Env, guard: i64) -> None:
        """Compute into new registers, then move the results under the guard."""
        first = env.bits[D]
        second = env.bits[Q]
        if opd.is_register(first):
            env.put(D, self.like(first))
        if opd.is_register(second):
            env.put(Q, self.like(second))
        made = env.bits[D]
        other = env.bits[Q]
        self.run(program, env, guard if program.labels else 0)
        if opd.is_register(first):
            self.move(first, made, guard)
        if opd.is_register(second):
            self.move(second, other, guard)

    # -- templates ---------------------------------------------------------------------------------------

    def template2(self, name: str, guard: i64, d: i64, a: i64) -> None:
        """Run a template with a destination and a register."""
        program = self.tables.template(name)
        env = self.open(program)
        env.put(D, d)
        env.put(A, a)
        self.run(program, env, guard)
        self.close()

    def template(
        self, name: str, guard: i64, d: i64, a: Value, b: Value | None = None, c: Value | None = None, e: Value | None = None
    ) -> None:
        """Run a template with a destination and sources of any kind."""
        program = self.tables.template(name)
        env = self.open(program)
        env.put(D, d)
        env.put_value(A, a)
        if b is not None:
            env.put_value(B, b)
        if c is not None:
            env.put_value(C, c)
        if e is not None:
            env.put_value(E, e)
        self.run(program, env, guard)
        self.close()

    # -- moves -------------------------------------------------------------------------------------------

    def move(self, dest: i64, source: i64, guard: i64 = 0) -> None:
        """Copy a register of the width of ``dest``."""
        count = opd.count_of(dest)
        if self.code.is_predicate(dest):
            self.template2("move_pred", guard, dest, source)
        elif count == 4:
            self.template2("move_quad", guard, dest, source)
        else:
            word: i64 = 0
            while word < count:
                self.copy(part(dest, word) if count > 1 else dest, part(source, word) if count > 1 else source, guard)
                word += 1

    def set(self, dest: i64, value: Value, guard: i64 = 0) -> None:
        """Put any operand into a register."""
        if value.kind == OPERAND:
            self.move(dest, value.bits, guard)
            return
        count = opd.count_of(dest)
        if self.code.is_predicate(dest):
            self.template("move_pred", guard, dest, value)
        elif count == 1 and value.kind == INTEGER:
            bits = value.bits & _MASK32
            self.copy(dest, self.code.imm(bits) if bits else opd.RZ_OPERAND, guard)
        else:
            self.template("move" if count == 1 else "move_wide" if count == 2 else "move_quad", guard, dest, value)

    def constant(self, bits: i64) -> i64:
        """A register that holds a 32-bit pattern."""
        register = self.new_r()
        self.copy(register, self.code.imm(bits), 0)
        return register

    def constant64(self, bits: int) -> i64:
        """A pair of registers that holds a 64-bit pattern."""
        register = self.new_pair()
        self.template("move_wide", 0, register, integer(bits))
        return register

    # -- immediates --------------------------------------------------------------------------------------

    def _immediate(self, env: Env, index: i64, o: i64, is_wide: bool) -> i64:
        """An immediate in an operand slot: itself where a form allows it, else in a register."""
        tables = self.tables
        slot = tables.slot[o]
        view = tables.view[o]
        flags = tables.flip[o] & opd.SIGNS
        kind = env.kind[index]
        bits = env.bits[index]
        if slot & SLOT_PRED:
            return opd.PT_OPERAND ^ flags ^ (0 if bits else opd.NEGATE)
        if kind == ADDRESS:
            return self._address(bits, o, flags, is_wide)
        if kind == BANK:
            return self._bank(bits + 4 * (view - 1) if view else bits, o, flags)
        if kind == FLOATING and (is_wide or view or slot & SLOT_WIDE):
            bits = env.wide[index]
        wide = view == 0 and (slot & SLOT_WIDE != 0 or (slot & SLOT_VAR != 0 and is_wide))
        if view:
            bits = bits >> 32 * (view - 1) if view <= _LAST_VIEW else 0
        if wide:
            return self._wide_immediate(bits, o, flags)
        bits &= _MASK32
        if slot & SLOT_FIELD:
            if slot & SLOT_SIGNED and bits >= _SIGN:
                bits -= _MASK32 + 1
            width = slot >> SLOT_WIDTH
            return self.constant(bits) if width and bits >> width else self.code.imm(bits)
        if bits == 0:
            return opd.RZ_OPERAND ^ flags
        if slot & SLOT_IMM:
            return self.code.imm(bits)
        format_ = self._format(o, legal.KIND_IMM)
        if format_:
            self._settle(o, legal.KIND_IMM)
            return self.code.imm(_folded(bits, flags, format_))
        return self.constant(bits) ^ flags

    def _wide_immediate(self, bits: i64, o: i64, flags: i64) -> i64:
        if bits == 0:
            return opd.RZ_OPERAND ^ flags
        format_ = self._format(o, legal.KIND_IMM)
        if format_ == legal.WHOLE and not flags:
            self._settle(o, legal.KIND_IMM)
            return self.code.imm(bits)
        if format_ == legal.EXTENDED:
            number = -bits if flags & opd.NEGATE else bits
            if -_SIGN <= number < _SIGN:
                self._settle(o, legal.KIND_IMM)
                return self.code.imm(number & _MASK32)
        if legal.IS_FLOAT[format_] and not bits & _MASK32:  # the lower half of the pattern is left out
            self._settle(o, legal.KIND_IMM)
            return self.code.imm(_folded(bits >> 32 & _MASK32, flags, format_))
        return self.constant64(bits) ^ flags

    def _bank(self, operand: i64, o: i64, flags: i64) -> i64:
        """A place of a constant bank: itself where a form allows it, else in a register."""
        if self._format(o, legal.KIND_CBANK):
            self._settle(o, legal.KIND_CBANK)
            return operand ^ flags
        register = self.new_pair() if self.tables.slot[o] & SLOT_WIDE else self.new_r()
        word: i64 = 0
        while word < opd.count_of(register):
            self.copy(opd.word(register, word), operand + 4 * word, 0)
            word += 1
        return register ^ flags

    def _address(self, symbol: i64, o: i64, flags: i64, is_wide: bool) -> i64:
        """The address of a variable that has no place yet; its upper word is 0."""
        slot = self.tables.slot[o]
        view = self.tables.view[o]
        if view > 1:
            return opd.RZ_OPERAND ^ flags
        if view == 0 and (slot & SLOT_WIDE or (slot & SLOT_VAR and is_wide)):
            pair = self.new_pair()
            self.copy(part(pair, 0), symbol, 0)
            self.copy(part(pair, 1), opd.RZ_OPERAND, 0)
            return pair ^ flags
        if slot & (SLOT_FIELD | SLOT_IMM):
            return symbol
        format_ = self._format(o, legal.KIND_IMM)
        if format_ and not flags and not legal.IS_FLOAT[format_]:
            self._settle(o, legal.KIND_IMM)
            return symbol
        register = self.new_r()
        self.copy(register, symbol, 0)
        return register ^ flags

    # -- errors ------------------------------------------------------------------------------------------

    def unexpected(self, node: Any, where: str) -> NotSupported | InternalError:
        """The error for an operand node that nothing is made of: of a known kind it is missing here, of any other a mistake."""
        kind = node[0]
        if 0 <= kind < len(nodes.KIND_NAMES):
            return NotSupported(f"{nodes.KIND_NAMES[kind]} {where}")
        return InternalError(
            f"operand of unknown kind {kind} {where} from line {line_of(self.line)} of the PTX, in '{self.code.name}'"
        )


def part(operand: i64, index: i64) -> i64:
    """The 32-bit word ``index`` of a register operand, with its signs."""
    if operand & opd.INDEX == opd.RZ:
        return operand & WORD_MASK
    return opd.with_first(operand & WORD_MASK, opd.first_of(operand) + index)


def _folded(bits: i64, flags: i64, format_: i64) -> i64:
    """A 32-bit constant of a number format with the sign changes of its place folded in."""
    return with_signs(bits, flags, legal.IS_FLOAT[format_] != 0, legal.IS_HALVES[format_] != 0) & _MASK32


def _overlaps(env: Env) -> bool:
    """True when a destination's register is also a source."""
    for dest_at in (D, Q):
        dest = env.bits[dest_at]
        if env.kind[dest_at] == OPERAND and opd.is_register(dest):
            other: i64 = 1
            while other < FIRST_TEMP:
                if other != dest_at and env.kind[other] == OPERAND and not (env.bits[other] ^ dest) & (opd.INDEX | opd.TYPE):
                    return True
                other += 1
    return False


assert CC < FIRST_TEMP
