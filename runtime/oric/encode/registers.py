"""Where registers of the PTX are in finished code: for each place, which of them are certainly in the register that they got.

A register has its value from behind the statement that gives it one, to where something else is written to the machine's
register, by whatever way the thread has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oric_tables._native import lib
from oric_tables.named import NamedTuple
from oric_tables.registers import DISPLAY, KEPT, STACK_REGISTER

from oric.ir import operand as opd
from oric.ir.encoded import RegisterRange
from oric.ir.optable import CALL, OPS

if TYPE_CHECKING:
    from oric.ir.function import Function
    from oric.ir.machine import MachineFunction

_WORD_BYTES: Final = 16
_FILES: Final = {"R": "R", "P": "P"}


class _Step(NamedTuple):
    """An instruction: its offset, its origin, what it overwrites, what it gives a value, and whether it does so certainly."""

    offset: int
    origin: int
    lost: int
    given: int
    certain: bool


_Code = list[_Step]


class _Places:
    """The words of the registers of the PTX, a bit each, and the machine's registers that they are in."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.words: list[tuple[str, str, int, str, int]] = []  # name, type, word, file, number
        self.bits: dict[int, list[int]] = {}  # register of the function -> bits of its words
        self.of: dict[tuple[str, int], int] = {}  # file and number -> bits of what lies there
        for name, kind, operand in f.ptx_registers:
            index = int(operand & opd.INDEX)
            file = _FILES.get(DISPLAY[f.reg_type[index]], "")
            if not file or f.physical[index] < 0:
                continue
            count = int(opd.count_of(operand)) if file == "R" else 1
            self.bits[index] = []
            for word in range(count):
                number = int(f.physical[index]) + word
                bit = 1 << len(self.words)
                self.words.append((name, kind, word, file, number))
                self.bits[index].append(bit)
                self.of[file, number] = self.of.get((file, number), 0) | bit
        changed = [bits for (file, number), bits in self.of.items() if file == "P" or number not in KEPT | {STACK_REGISTER}]
        self.by_calls = 0
        for bits in changed:
            self.by_calls |= bits

    def effect(self, i: int) -> tuple[int, int]:
        """What an instruction overwrites, and what it gives a value."""
        f = self.f
        if OPS.flags[f.op[i]] & CALL:
            return self.by_calls, 0
        lost = given = 0
        for at in range(f.count[i]):
            operand = f.get(i, at)
            if not OPS.writes_at(f.op[i], at) or not opd.is_register(operand):
                continue
            index = int(operand & opd.INDEX)
            file = _FILES.get(DISPLAY[f.reg_type[index]], "")
            first, count = int(opd.first_of(operand)), int(opd.count_of(operand)) if file == "R" else 1
            for word in range(first, first + count):
                lost |= self.of.get((file, int(f.physical[index]) + word), 0)
            for bit in self.bits.get(index, [])[first : first + count]:
                given |= bit
        return lost & ~given, given


def register_ranges(view: MachineFunction, blocks: list[int]) -> list[RegisterRange]:
    """Where the registers of the PTX are; ``blocks``: the first word of the code of each block."""
    f, fn = view.f, view.fn
    places = _Places(f)
    if not places.words:
        return []
    codes: list[_Code] = []
    for b in range(fn.block_count):
        word = blocks[b]
        code: _Code = []
        for k in range(fn.block_first[b], fn.block_first[b + 1]):
            i: int = fn.nodes[k].index
            word += int(fn.nodes[k].pads)
            lost, given = places.effect(i)
            if _stays(fn, fn.nodes[k]):
                lost = 0
            code.append(_Step(_WORD_BYTES * word, int(f.line[i]), lost, given, not f.guard[i]))
            word += 1
        codes.append(code)
    before = _before(f, len(codes))
    defined = _defined(codes, before)
    return _ranges(places, _valid(codes, _known(codes, before, defined), defined))


def _stays(fn: Any, node: Any) -> bool:
    """Whether an instruction copies a register to itself."""
    first = node.access
    return bool(node.flags & lib.ORIC_I_COPY) and fn.accesses[first].unit == fn.accesses[first + 1].unit


def _before(f: Function, count: int) -> list[list[int]]:
    """By block, those that lead there."""
    out: list[list[int]] = [[] for _ in range(count)]
    for b in range(count):
        for at in range(f.succ_count[b]):
            out[int(f.successor(b, at))].append(b)
    return out


def _defined(codes: list[_Code], before: list[list[int]]) -> list[int]:
    """What may have got a value where each block begins."""
    after = [0] * len(codes)
    begin = [0] * len(codes)
    changed = True
    while changed:
        changed = False
        for b, code in enumerate(codes):
            known = 0
            for other in before[b]:
                known |= after[other]
            begin[b] = known
            for step in code:
                known |= step.given
            if known != after[b]:
                after[b], changed = known, True
    return begin


def _known(codes: list[_Code], before: list[list[int]], defined: list[int]) -> list[int]:
    """What is certain where each block begins: what is so at the end of all blocks that lead there. Where a register cannot have
    got a value yet every place is as good."""
    after = [-1] * len(codes)  # all, until it is known better
    begin = [-1] * len(codes)
    changed = True
    while changed:
        changed = False
        for b, code in enumerate(codes):
            known = -1
            for other in before[b]:
                known &= after[other]
            begin[b], may = known, defined[b]
            for step in code:
                known &= ~(step.lost & may)
                known |= step.given if step.certain else 0
                may |= step.given
            if known != after[b]:
                after[b], changed = known, True
    return begin


def _valid(codes: list[_Code], begin: list[int], defined: list[int]) -> list[tuple[int, int]]:
    """What is certain in front of each instruction: by offset. What a statement gives a value has it behind the statement."""
    found: list[tuple[int, int]] = []
    for b, code in enumerate(codes):
        known, coming, last, may = begin[b], 0, -1, defined[b]
        for step in code:
            if step.origin != last:
                known, coming, last = known | coming, 0, step.origin
            found.append((step.offset, known & may))
            old = known | coming
            lost = step.lost & may
            known &= ~(lost | step.given)
            coming = coming & ~lost | (step.given if step.certain else step.given & old)
            may |= step.given
    return sorted(found)


def _ranges(places: _Places, found: list[tuple[int, int]]) -> list[RegisterRange]:
    """Runs of places where words are certain."""
    out: list[RegisterRange] = []
    since: dict[int, int] = {}  # number of a word -> where its run has begun
    last, before = 0, 0
    for offset, known in [*found, (found[-1][0] + _WORD_BYTES if found else 0, 0)]:
        known &= (1 << len(places.words)) - 1
        changed = known ^ before
        while changed:
            n = (changed & -changed).bit_length() - 1
            changed &= changed - 1
            if known >> n & 1:
                since[n] = offset
            else:
                out.append(RegisterRange(*places.words[n], since.pop(n), last))
        last, before = offset, known
    return out
