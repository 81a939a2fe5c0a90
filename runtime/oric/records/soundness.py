"""What must hold of a Code Object that was read before compiled code and kernels touch it: they trust its numbers.

Every number that says where something is must be one of something that is there; what holds between phases is then the
verifier's to say (:mod:`oric.ir.verify`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from oric_tables import ops
from oric_tables.macros import SHARED
from oric_tables.numbers import CONTROL_BITS, REUSE_PLACES
from oric_tables.ori_operands import IMM, LABEL, NONE, POOL, REG, SPECIAL, SYMBOL
from oric_tables.phases import PHASES
from oric_tables.registers import DISPLAY, PT, RZ

from oric.ir import operand as opd
from oric.ir.function import Function
from oric.ir.lineinfo import LINE_BITS
from oric.ir.module import Module
from oric.ir.optable import OPS
from oric.ir.verify import MalformedCode, verify

if TYPE_CHECKING:
    from oric_tables.targets import Target

_NO: Final = -1
_MOST_WORDS: Final = 256  # of a register
_MOST_PHYSICAL: Final = 256  # hardware registers of any file
_MOST: Final = 1 << 40  # of sizes, numbers of marks, epochs
_CONTROL: Final = 1 << CONTROL_BITS + REUSE_PLACES
_INSTRUCTIONS: Final = ("op", "mods", "guard", "line", "aux", "control", "first", "count", "room", "prev", "next", "block")
_BLOCKS: Final = ("head", "tail", "flags", "succ_first", "succ_count", "labels")
_REGISTERS: Final = ("reg_type", "reg_size", "reg_word", "reg_flags", "physical", "hint", "parent")
_SIGNS_OF_NOTHING: Final = frozenset({IMM, NONE, SPECIAL, SYMBOL})  # types whose index is no number of a part of the function


def check(f: Function, module: Module, target: Target) -> str:
    """What is wrong with a function that was read, "" for nothing."""
    for problem in _problems(f, module, target):
        return problem
    try:
        verify(f)
    except MalformedCode as error:
        return str(error).replace("\n", " ")
    return ""


def _problems(f: Function, module: Module, target: Target) -> Iterator[str]:
    if f.target != target.name:
        yield f"it is for {f.target}, the file for {target.name}"
    yield from _lengths(f)
    yield from _registers(f)
    yield from _blocks(f)
    yield from _instructions(f, module)
    yield from _lists(f)
    yield from _facts(f, module)
    yield from _module(module)


def _lengths(f: Function) -> Iterator[str]:
    """Arrays of one thing are of one length."""
    for names in (_INSTRUCTIONS, _BLOCKS, _REGISTERS):
        sizes = {len(getattr(f, name)) for name in names}
        if len(sizes) > 1:
            yield f"the arrays {', '.join(names)} are of different lengths"


def _outside(values: Iterable[int], low: int, high: int) -> int | None:
    """The first number that is not from low to below high."""
    return next((int(value) for value in values if not low <= value < high), None)


def _ranged(f: Any, names: dict[str, tuple[int, int]]) -> Iterator[str]:
    for name, (low, high) in names.items():
        found = _outside(getattr(f, name), low, high)
        if found is not None:
            yield f"'{name}' has {found}, which is not from {low} to {high - 1}"


def _registers(f: Function) -> Iterator[str]:
    count = len(f.reg_type)
    yield from _ranged(f, {
        "reg_type": (0, len(DISPLAY)),
        "reg_size": (0, _MOST_WORDS + 1),
        "reg_flags": (0, 1 << 32),
        "physical": (_NO, _MOST_PHYSICAL),
        "hint": (_NO, _MOST),
        "parent": (_NO, count),
    })  # fmt: skip
    word = 0
    for r in range(count):
        if f.reg_word[r] != word:
            yield f"register {r} begins at word {f.reg_word[r]}, the one before it ends at {word}"
            return
        if f.physical[r] != _NO and f.physical[r] + f.reg_size[r] > _MOST_PHYSICAL:
            yield f"register {r} goes beyond the last hardware register"
        word += int(f.reg_size[r])
    if f.words != word:
        yield f"there are {word} words of registers, not {f.words}"
    for r in (PT, RZ):
        if r < count and f.reg_size[r]:
            yield f"register {r} stands for a constant"
    yield from _parents(f)


def _parents(f: Function) -> Iterator[str]:
    """What registers are coalesced with ends somewhere."""
    done: set[int] = set()
    for r in range(len(f.parent)):
        way: set[int] = set()
        while r != _NO and r not in done and r not in way:
            way.add(r)
            r = int(f.parent[r])
        if r in way and f.parent[r] != r:
            yield f"register {r} is coalesced with itself"
            return
        done |= way


@cache
def _layout(number: int) -> tuple[int, tuple[tuple[int, int, frozenset[int]], ...]]:
    """Bits of the modifiers of an operation, and the values of those that have names."""
    mods = ops.op(number).mods.values()
    named = tuple((mod.shift, mod.mask, frozenset(mod.values.values())) for mod in mods if mod.values)
    return sum({mod.mask << mod.shift for mod in mods}), named


def _instructions(f: Function, module: Module) -> Iterator[str]:
    count = len(f.op)
    marks = len(module.line_info.marks) if module.line_info is not None else 1 << 31
    yield from _ranged(f, {
        "op": (1, len(OPS.flags)),
        "aux": (_NO, _MOST),
        "line": (0, max(marks, 1) << LINE_BITS),
        "control": (0, _CONTROL),
        "first": (0, len(f.operand) + 1),
        "count": (0, len(f.operand) + 1),
        "room": (0, len(f.operand) + 1),
        "prev": (_NO, count),
        "next": (_NO, count),
        "block": (_NO, _MOST),
    })  # fmt: skip
    for i in _linked(f):
        if i < 0:
            yield f"the instructions of block {~i} are no list"
            return
        if f.count[i] > f.room[i] or f.first[i] + f.room[i] > len(f.operand):
            yield f"the operands of instruction {i} are beyond the pool"
            return
        allowed, named = _layout(int(f.op[i]))
        mods = int(f.mods[i])
        if mods & ~allowed or any(mods >> shift & mask not in values for shift, mask, values in named):
            yield f"instruction {i} has modifiers {mods:#x}, which {ops.op(f.op[i]).name} does not have"
            return
        for at in range(f.first[i], f.first[i] + f.count[i]):
            problem = _operand(f, int(f.operand[at]))
            if problem:
                yield f"operand {at - f.first[i]} of instruction {i}: {problem}"
                return
        guard = int(f.guard[i])
        problem = _operand(f, guard) if guard else ""
        if problem or (guard and opd.type_of(guard) != REG):
            yield f"the guard of instruction {i}: {problem or 'it is no register'}"
            return


def _linked(f: Function) -> Iterator[int]:
    """The instructions that stand in blocks: of others, what they name may be gone. The complement of a block that is no list."""
    seen: set[int] = set()
    for b in range(len(f.head)):
        i = int(f.head[b])
        while i != _NO:
            if not 0 <= i < len(f.op) or i in seen or f.block[i] != b:
                yield ~b
                return
            seen.add(i)
            yield i
            i = int(f.next[i])


def _operand(f: Function, operand: int) -> str:
    """What is wrong with an operand: one without a type is 0."""
    if not operand:
        return ""
    kind, index = opd.type_of(operand), opd.index_of(operand)
    if operand < 0 or kind in _SIGNS_OF_NOTHING:
        return "a negative number" if operand < 0 else ""
    if kind == REG:
        return _register(f, operand, index)
    if kind == POOL:
        return "" if index < len(f.immediates) else f"there is no immediate {index}"
    if kind == LABEL:
        return "" if index < len(f.head) else f"there is no block {index}"
    return "it has no type"


def _register(f: Function, operand: int, index: int) -> str:
    if index in (RZ, PT):
        return ""
    if index >= len(f.reg_type):
        return f"there is no register {index}"
    last = int(opd.first_of(operand) + opd.span_of(operand))
    return "" if last < f.reg_size[index] else f"register {index} has no word {last}"


def _blocks(f: Function) -> Iterator[str]:
    count, blocks = len(f.op), len(f.head)
    yield from _ranged(f, {
        "head": (_NO, count),
        "tail": (_NO, count),
        "flags": (0, 1 << 32),
        "succ_first": (0, _MOST),
        "succ_count": (0, len(f.succ) + 1),
        "succ": (_NO, max(blocks, 1)),
    })  # fmt: skip
    for b in range(blocks):
        if f.succ_count[b] and f.succ_first[b] + f.succ_count[b] > len(f.succ):
            yield f"the edges of block {b} are beyond the list"
            return
        if any(f.succ[at] < 0 for at in range(f.succ_first[b], f.succ_first[b] + f.succ_count[b])):
            yield f"an edge of block {b} goes nowhere"
            return


def _lists(f: Function) -> Iterator[str]:
    """Numbers of instructions, registers and immediates in lists."""
    count, registers, pool = len(f.op), len(f.reg_type), len(f.immediates)
    lists: list[tuple[str, Iterable[int], int]] = [
        ("an instruction", [*f.marks, *f.watching, *(f.realigned, *(move.instruction for move in f.frame_moves))], count),
        ("a register", [*f.window, *f.homes, *f.homes.values()], registers),
        ("an immediate", [*f._immediate_ids.values(), *(i for i, _ in f.outgoing), *f.links, *f.returns_to], pool),
        ("an immediate", [*f.below_frame, *f.below_free, *(kept.back for kept in f.kept)], pool),
    ]
    for what, values, most in lists:
        found = _outside(values, _NO, most)
        if found is not None:
            yield f"{what} {found} is named, there are {most}"
    operands = [f.descriptor, f.stack, f.top, f.shared, f.sp, *(formal.operand for formal in f.formals)]
    operands += [register.operand for register in f.ptx_registers] + [operand for operand, _, _ in f.watched]
    operands += [actual for call in f.calls for actual in call.actuals if isinstance(actual, int)]
    operands += [call.pointer for call in f.calls] + [f.attributes.spill_base]
    variables = [formal.variable for formal in f.formals] + [
        actual for call in f.calls for actual in call.actuals if not isinstance(actual, int)
    ]
    operands += [word for variable in variables if variable is not None for word in variable.words]
    for operand in operands:
        problem = _operand(f, operand)
        if problem:
            yield f"an operand among what is known of the function: {problem}"
            return
    if not 0 <= f.expanded <= PHASES[-1].index:
        yield f"there is no phase {f.expanded}"
    if not (0 <= f.flow_epoch < _MOST and 0 <= f.code_epoch < _MOST):
        yield "an epoch that no function reaches"
    if any(number not in SHARED for number in f.shared_code):
        yield "code is called in place of an operation that has none"


def _facts(f: Function, module: Module) -> Iterator[str]:
    """Sizes, symbols and blocks among the facts."""
    facts, symbols = f.attributes, len(module.symbols)
    for name in facts.__slots__:
        value = getattr(facts, name)
        if type(value) is int and not _NO <= value < _MOST:
            yield f"'{name}' is {value}"
    used = [*facts.shared_offsets, *facts.local_offsets, *facts.stack_arguments, *facts.headers, *f.own_shared]
    used += [param.symbol for param in facts.params]
    found = _outside(used, _NO, symbols)
    if found is not None:
        yield f"there is no variable {found}"
    places = [*facts.shared_offsets.values(), *facts.local_offsets.values(), *facts.stack_arguments.values(), *facts.doubles]
    if _outside(places, _NO, _MOST) is not None:
        yield "a variable lies beyond all memory"
    for table in facts.jump_tables:
        if _outside(table.targets, 0, len(f.head)) is not None:
            yield "a jump table leads to a block that there is not"
        if not _NO <= table.offset < _MOST or (
            table.offset >= 0 and table.offset + 4 * len(table.targets) > len(facts.constant2)
        ):
            yield "a jump table is beyond the constants"
    if any(not 0 <= i < len(f.op) for i in facts.marks):
        yield "an instruction of allocation's own making is none"


def _module(module: Module) -> Iterator[str]:
    for symbol in module.symbols:
        if not (0 <= symbol.size < _MOST and 0 < symbol.align < _MOST and _NO <= symbol.offset < _MOST):
            yield f"size, alignment or place of '{symbol.name}' are none"
    found = _outside(module.symbol_ids.values(), 0, len(module.symbols))
    if found is not None:
        yield f"there is no variable {found}"
