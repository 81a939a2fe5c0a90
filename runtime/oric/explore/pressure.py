"""Live registers of a function in Ori, in front of every instruction, by register file.

Counted are 32-bit words of general and uniform registers, and predicates and barrier registers; hardware registers once there are
some, so that values that share one count once. A write under a guard leaves the
old value alive. What a MovPhi reads is read at the ends of the blocks before.
"""

from __future__ import annotations

from typing import Final

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS
from oric.ir.phis import all_phis
from oric.ir.text import LETTERS, instructions_of

FILES: Final = ("R", "UR", "P", "UP", "B")
Access = tuple[tuple[int, ...], tuple[int, ...]]  # places of words that are read, and of those that are certainly written


def live_counts(f: Function) -> dict[str, list[int]]:
    """For every instruction in the order of the code how many registers of each file are live in front of it.

    Files of which nothing is ever live are left out.
    """
    phis = all_phis(f)
    known = {i for found in phis.values() for i in found}
    place, file_of = _places(f)
    blocks = [[_accesses(f, i, i in known, place) for i in instructions_of(f, b)] for b in range(f.blocks())]
    at_end = _read_at_ends(f, known, place)
    live_in = _solve(f, blocks, at_end)
    counts: list[list[int]] = []
    for b, accesses in enumerate(blocks):
        counts += reversed(_walk(accesses, _words(_behind(f, b, live_in)) | at_end[b], file_of))
    return {name: column for at, name in enumerate(FILES) if any(column := [row[at] for row in counts])}


def _places(f: Function) -> tuple[list[int], list[int]]:
    """Of every word its place, the same one for words in the same hardware register; of every place the number of its file."""
    place = list(range(f.words))
    file_of = [0] * f.words
    shared: dict[tuple[int, int], int] = {}
    for r in range(f.registers()):
        letter = LETTERS[f.reg_type[r]]
        if letter not in FILES:
            continue
        file, first, number = FILES.index(letter), f.reg_word[r], f.physical[r]
        for at in range(f.reg_size[r]):
            file_of[first + at] = file
            if number != NONE:
                place[first + at] = shared.setdefault((file, number + at), first + at)
    return place, file_of


def _read_at_ends(f: Function, phis: set[int], place: list[int]) -> list[set[int]]:
    """The places that MovPhis read, by the block at whose end they do."""
    out: list[set[int]] = [set() for _ in range(f.blocks())]
    for i in phis:
        for at in range(1, f.count[i] - 1, 2):
            value = f.get(i, at)
            if _named(value):
                word = f.words_of(value)
                out[opd.index_of(f.get(i, at + 1))].update(place[word : word + opd.count_of(value)])
    return out


def _accesses(f: Function, i: int, phi: bool, place: list[int]) -> Access:
    """What an instruction reads and writes where it stands."""
    mask, first = OPS.writes[f.op[i]], f.first[i]
    reads: list[int] = []
    writes: list[int] = []
    guard = f.guard[i]
    for at in range(f.count[i]):
        operand = f.operand[first + at]
        if operand & opd.TYPE != opd.IS_REG or operand & opd.INDEX in (opd.RZ, opd.PT):
            continue
        word = f.words_of(operand)
        words = place[word : word + opd.count_of(operand)]
        if not mask >> at & 1:
            reads += () if phi else words
        elif not guard:
            writes += words
    if _named(guard):
        reads.append(place[f.words_of(guard)])
    return tuple(reads), tuple(writes)


def _named(operand: int) -> bool:
    """A register operand that is neither RZ nor PT."""
    return opd.is_register(operand) and operand & opd.INDEX not in (opd.RZ, opd.PT)


def _solve(f: Function, blocks: list[list[Access]], at_end: list[set[int]]) -> list[int]:
    """The words that are live in front of every block, as bits."""
    through = [_through(accesses, last, f.words) for accesses, last in zip(blocks, at_end, strict=True)]
    before: list[list[int]] = [[] for _ in blocks]
    for b in range(len(blocks)):
        for at in range(f.succ_count[b]):
            before[f.successor(b, at)].append(b)
    live_in = [0] * len(blocks)
    waiting = dict.fromkeys(reversed(range(len(blocks))))
    while waiting:
        b = next(iter(waiting))
        del waiting[b]
        reads, kept = through[b]
        found = reads | _behind(f, b, live_in) & kept
        if found != live_in[b]:
            live_in[b] = found
            waiting.update(dict.fromkeys(before[b]))
    return live_in


def _behind(f: Function, b: int, live_in: list[int]) -> int:
    found = 0
    for at in range(f.succ_count[b]):
        found |= live_in[f.successor(b, at)]
    return found


def _through(accesses: list[Access], at_end: set[int], words: int) -> tuple[int, int]:
    """The words that a block reads before it writes them, and those that it does not write, as bits."""
    live = set(at_end)
    written: set[int] = set()
    for reads, writes in reversed(accesses):
        live.difference_update(writes)
        live.update(reads)
        written.update(writes)
    return _bits(live, words), (1 << words) - 1 & ~_bits(written, words)


def _bits(members: set[int], words: int) -> int:
    out = bytearray(words + 7 >> 3)
    for word in members:
        out[word >> 3] |= 1 << (word & 7)
    return int.from_bytes(out, "little")


def _words(bits: int) -> set[int]:
    found: set[int] = set()
    digits = f"{bits:b}"[::-1]  # few of many are set: looking for them in a text is fast
    at = digits.find("1")
    while at >= 0:
        found.add(at)
        at = digits.find("1", at + 1)
    return found


def _walk(accesses: list[Access], live: set[int], file_of: list[int]) -> list[list[int]]:
    """The counts in front of the instructions of a block, from the last one on; ``live``: the words live behind it."""
    row = [0] * len(FILES)
    for word in live:
        row[file_of[word]] += 1
    out = []
    for reads, writes in reversed(accesses):
        for word in writes:
            if word in live:
                live.remove(word)
                row[file_of[word]] -= 1
        for word in reads:
            if word not in live:
                live.add(word)
                row[file_of[word]] += 1
        out.append(list(row))
    return out
