"""Faults planted in ptxas-made code: what makes it unsafe is decided here without the checker's code or tables.

The registers that instructions read and write are those of nvdisasm's life ranges. A mutant is taken only where the fault cannot
be harmless: both instructions lie in one stretch of code without branches, labels, guards or other waits between them.

- ``wait``: the only wait for a result of variable latency (or for its sources to be read) is dropped
- ``write``, ``read``: the barrier that tells when the result is there, or the sources are read, is not set
- ``swap``: another barrier is set than the one that is waited for
- ``stall``: a stall count is lowered so that a result of fixed latency is read sooner than any result of an instruction of that
  name is in the corpus, and sooner than an instruction of the reader's name reads anything; both distances were met often
- ``shift``: a register pair or quadruple of a load or store begins at a number that no such instruction of the corpus begins at
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from oric.sass import check
from oric.sass.code import Code
from oric.support import elf
from oric.support.targets import find_model

from tests.sass.compare_words import plain

from . import golden, judge, targets

KINDS = ("wait", "write", "read", "swap", "stall", "shift")
MOST = 6000  # mutants of a target, as evenly of every kind as there are
WINDOW = 48  # instructions between the two
OFTEN = 20  # times that a shortest distance must have been met to be believed
NONE = 7
# Instructions behind which the end of a stretch is: control flow, and waits that the scheduling bits do not show.
_END = re.compile(
    r"(?:B(?!REV|MSK|FIND|MOV)\w*|CALL|RET|EXIT|JM\w+|YIELD|WARPSYNC|WARPGROUP|DEPBAR|LDGDEPBAR|LDTM|LDT|STT|ERRBAR|NANOSLEEP|KILL|RPCMOV"
    r"|CCTL|MEMBAR|FENCE|UCG|ACQ\w+|PREEXIT|ARRIVES|SYNCS|UTC\w+|UT\w+|UBLK\w+|\w*GMMA|R2B|PMTRIG|DEPBAR|CGAERRBAR|ELECT|USETMAXREG)$"
)
_STALL = (1 << 4) - 1
_WIDE_MEMORY = re.compile(r"(?:LDG|LDS|LDL|LD|STG|STS|STL|ST)\b.*\.(64|128)\b")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: fields of the scheduling bits, and what life ranges say of its registers."""

    word: int
    name: str  # without modifiers
    mnemonic: str
    guarded: bool
    stall: int
    write: int
    read: int
    wait: int
    written: frozenset[str]
    used: frozenset[str]


class Mutant(NamedTuple):
    """A changed word in a function of a cubin."""

    kind: str
    cubin: int
    function: str
    number: int  # of the instruction
    word: int
    why: str


@dataclass
class Result:
    """Mutants of a target: how many, and how many of them the checker finds; ``missed`` tells of the others."""

    unsafe: int = 0
    caught: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)


def _put(word: int, at: int, width: int, value: int) -> int:
    mask = (1 << width) - 1
    return word & ~(mask << at) | value << at


def steps(data: bytes, facts: dict[int, golden.Word]) -> list[Step | None]:
    """The instructions of a function; None where nvdisasm's registers are not the same everywhere."""
    out: list[Step | None] = []
    for word in judge.words(data):
        known = facts[plain(word)]
        if known.registers == golden.DIFFERS:
            out.append(None)
            continue
        written, used = (frozenset(filter(None, part.split(","))) for part in known.registers.split("="))
        tokens = known.text.split(" ")
        guarded = tokens[0].startswith("@")
        mnemonic = tokens[guarded]
        control = word >> 105
        out.append(
            Step(
                word, mnemonic.split(".")[0], mnemonic, guarded, control & _STALL, control >> 5 & 7, control >> 8 & 7,
                control >> 11 & 63, written, used,
            )
        )  # fmt: skip
    return out


def stretches(code: Code, function: elf.Function, found: list[Step | None]) -> Iterator[tuple[int, int]]:
    """(first, behind the last) instruction of every stretch without branches and labels."""
    starts = {0, *(t // 16 for t in code.targets()), *(t // 16 for all_t in function.branch_targets.values() for t in all_t)}
    at = 0
    for number, step in enumerate(found):
        if number in starts and number > at:
            yield at, number
            at = number
        if step is None or _END.match(step.name):
            yield at, number
            at = number + 1
    yield at, len(found)


class Functions:
    """All functions of a target, taken apart."""

    def __init__(self, target: str) -> None:
        self.model = targets.model_of(target)
        self.isa = find_model(target)
        facts = {w.word: w for w in golden.words(self.model)}
        self.cubins = [elf.read(c.image) for c in golden.cubins(self.model) if c.target == target]
        self.parts: list[tuple[int, str, list[Step]]] = []  # cubin, function, stretch
        self.starts: list[int] = []  # number of the first instruction of the stretch
        for index, cubin in enumerate(self.cubins):
            for function in cubin.functions.values():
                code = Code(self.isa, function.text)
                found = steps(function.text, facts)
                for first, last in stretches(code, function, found):
                    part = [s for s in found[first:last] if s is not None]
                    if len(part) > 1:
                        self.parts.append((index, function.name, part))
                        self.starts.append(first)
        self.variable = {s.name for _, _, part in self.parts for s in part if s.write != NONE}
        self.shortest = self._shortest()
        self.aligned = self._aligned()

    def _shortest(self) -> dict[tuple[str, str, str], int]:
        """("makes" or "reads", name, register file) -> least cycles from fixed-latency code to its reader, if met often."""
        met: dict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
        for _, _, part in self.parts:
            for a, step in enumerate(part):
                if step.name not in self.variable:
                    for register, b in first_readers(part, a).items():
                        cycles = distance(part, a, b)
                        met["makes", step.name, _file(register)][cycles] += 1
                        met["reads", part[b].name, _file(register)][cycles] += 1
        return {key: min(counts) for key, counts in met.items() if counts[min(counts)] >= OFTEN}

    def _aligned(self) -> set[str]:
        """Mnemonics of wide loads and stores whose data registers always begin at a multiple of their number."""
        met: dict[str, set[bool]] = defaultdict(set)
        for _, _, part in self.parts:
            for step in part:
                if place := wide_data(step):
                    at, width = place
                    met[step.mnemonic].add((step.word >> at & 255) % width == 0)
        return {mnemonic for mnemonic, seen in met.items() if seen == {True}}


def _file(register: str) -> str:
    return register.rstrip("0123456789")


def distance(part: list[Step], a: int, b: int) -> int:
    """Cycles from the issue of one instruction to that of a later one."""
    return sum(max(s.stall, 1) for s in part[a:b])


def first_readers(part: list[Step], a: int) -> dict[str, int]:
    """The first reader of everything that an instruction writes, as long as nothing writes it again."""
    left = set(part[a].written)
    found: dict[str, int] = {}
    for b in range(a + 1, min(len(part), a + WINDOW)):
        for register in left & part[b].used:
            found[register] = b
        left -= part[b].used | part[b].written
        if not left:
            break
    return found


def wide_data(step: Step) -> tuple[int, int] | None:
    """(bit, registers) of the data of a load or store of more than one register."""
    match = _WIDE_MEMORY.match(step.mnemonic)
    if not match:
        return None
    at, width = (16 if step.name.startswith("L") else 32), int(match[1]) // 32
    first = step.word >> at & 255
    data = {f"R{n}" for n in range(first, first + width)}
    return (at, width) if data <= (step.written if at == 16 else step.used) else None


def mutants(functions: Functions) -> dict[str, list[Mutant]]:
    """Every mutant of every kind."""
    found: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for (cubin, name, part), start in zip(functions.parts, functions.starts, strict=True):
        for a, step in enumerate(part):
            for kind, number, word, why in _at(functions, part, a, step):
                found[kind].append(Mutant(kind, cubin, name, start + number, word, why))
    return found


def _at(functions: Functions, part: list[Step], a: int, step: Step) -> Iterator[tuple[str, int, int, str]]:
    if (place := wide_data(step)) and step.mnemonic in functions.aligned:
        at, _ = place
        number = step.word >> at & 255
        if number < 240:
            yield "shift", a, _put(step.word, at, 8, number + 1), f"{step.mnemonic} with R{number + 1}"
    if step.guarded:
        return
    if step.write != NONE:
        yield from _result(part, a, step)
    elif step.name not in functions.variable:
        yield from _fixed(functions, part, a, step)
    if step.read not in (NONE, step.write):
        yield from _sources(functions, part, a, step)


def _only_wait(part: list[Step], a: int, board: int, registers: frozenset[str], writes_only: bool) -> int | None:
    """The instruction that touches one of ``registers`` first, when its wait for ``board`` is the only thing that protects it."""
    for b in range(a + 1, min(len(part), a + WINDOW)):
        step = part[b]
        touched = step.written if writes_only else step.written | step.used
        if touched & registers:
            others = step.wait & ~(1 << board)
            between = part[a + 1 : b]
            covered = any(others >> n & 1 for s in part[a:b] for n in (s.write, s.read) if n not in (NONE, board))
            again = any(board in (s.write, s.read) for s in between)
            return b if step.wait >> board & 1 and not step.guarded and not covered and not again else None
        if step.wait:
            return None
    return None


def _result(part: list[Step], a: int, step: Step) -> Iterator[tuple[str, int, int, str]]:
    board = step.write
    b = _only_wait(part, a, board, step.written, writes_only=False)
    if b is None:
        return
    other = part[b]
    why = f"{step.mnemonic} then {other.mnemonic}"
    yield "wait", b, _put(other.word, 116, 6, other.wait & ~(1 << board)), why
    yield "write", a, _put(step.word, 110, 3, NONE), why
    free = [n for n in range(6) if n != board and not other.wait >> n & 1 and n != step.read]
    if free:
        yield "swap", a, _put(step.word, 110, 3, free[a % len(free)]), why


def _sources(functions: Functions, part: list[Step], a: int, step: Step) -> Iterator[tuple[str, int, int, str]]:
    registers = frozenset(r for r in step.used - step.written if _file(r) == "R")
    board = step.read
    b = _only_wait(part, a, board, registers, writes_only=True)
    # Only what writes after a fixed time can come too soon: loads and the like wait in the queue behind the reader.
    if b is None or part[b].name in functions.variable or part[b].wait >> step.write & 1:
        return
    other = part[b]
    why = f"{step.mnemonic} before {other.mnemonic}"
    yield "wait", b, _put(other.word, 116, 6, other.wait & ~(1 << board)), why
    yield "read", a, _put(step.word, 113, 3, NONE), why


def _fixed(functions: Functions, part: list[Step], a: int, step: Step) -> Iterator[tuple[str, int, int, str]]:
    for register, b in first_readers(part, a).items():
        keys = (("makes", step.name, _file(register)), ("reads", part[b].name, _file(register)))
        least = min(functions.shortest.get(key, 0) for key in keys)
        if part[b].guarded or any(s.wait for s in part[a + 1 : b + 1]):
            continue
        now = distance(part, a, b)
        for k in range(a, b):
            stall = part[k].stall
            if stall > 1 and now - stall + 1 < least <= now:
                lower = max(1, stall - (now - least) - 1)
                why = f"{step.mnemonic} then {part[b].mnemonic} after {now - stall + lower} cycles, never below {least}"
                yield "stall", k, _put(part[k].word, 105, 4, lower), why
                return


def chosen(found: dict[str, list[Mutant]], most: int) -> list[Mutant]:
    """At most ``most`` mutants, as evenly of every kind as there are, spread over the corpus."""
    left = most
    out = []
    kinds = sorted(found, key=lambda k: len(found[k]))
    for place, kind in enumerate(kinds):
        share = min(len(found[kind]), left // (len(kinds) - place))
        out += [found[kind][i * len(found[kind]) // share] for i in range(share)]
        left -= share
    return out


def measure(target: str, most: int = MOST) -> Result:
    """Plant the mutants of a target one by one and check the functions."""
    functions = Functions(target)
    result = Result()
    known: dict[tuple[int, str], set[tuple[str, int, str]]] = {}
    for mutant in chosen(mutants(functions), most):
        cubin = functions.cubins[mutant.cubin]
        function = cubin.functions[mutant.function]
        key = (mutant.cubin, mutant.function)
        if key not in known:
            known[key] = _findings(functions.isa, cubin, function, function.text)
        at = mutant.number * 16
        data = function.text[:at] + mutant.word.to_bytes(16, "little") + function.text[at + 16 :]
        result.unsafe += 1
        result.kinds[mutant.kind] += 1
        new = _findings(functions.isa, cubin, function, data) - known[key]
        if any(kind == "alignment" for kind, _, _ in new) if mutant.kind == "shift" else new:
            result.caught += 1
        else:
            result.missed.append(f"{mutant.kind} {mutant.function}+{at:#x}: {mutant.why}")
    return result


def _findings(isa: int, cubin: elf.Cubin, function: elf.Function, data: bytes) -> set[tuple[str, int, str]]:
    report = check.check_code(Code(isa, data), check.section_of(cubin, function))
    return {(f.kind, f.offset, f.register) for f in report.findings}
