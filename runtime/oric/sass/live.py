"""Live registers: what some path still reads before it is written, in front of every instruction.

A write under a guard leaves the old value alive. A call goes through its callee where that is in the same section; what others
read is not known and counts as nothing.
"""

from __future__ import annotations

from typing import Final

from oric_tables.registers import INSN_PT

from .access import Use
from .code import Code
from .flow import Flow, flow_of_listing
from .listing import Listing

_ORDER: Final = ("R", "UR", "P", "UP", "B")
_PLACE_OF_FILE: Final = {file: number * 256 for number, file in enumerate(_ORDER)}
_FILE_MASK: Final = (1 << 256) - 1


def add_live(listing: Listing) -> None:
    """Fill ``live`` of every function: names of the live registers, by file and number."""
    for function in listing.functions:
        names: dict[int, tuple[str, ...]] = {}
        live = live_registers(function.code, flow_of_listing(function))
        function.live = [names.setdefault(bits, names.get(bits) or _names(bits)) for bits in live]


def live_registers(code: Code, flow: Flow) -> list[int]:
    """For every instruction the registers that are live in front of it, a bit each: 256 for R, UR, P, UP and B."""
    uses = code.uses()
    effects = [_bits(code, number, found) for number, found in enumerate(uses)]
    entry = [0] * len(flow.blocks)
    before: list[list[int]] = [[] for _ in flow.blocks]
    for number, block in enumerate(flow.blocks):
        for edge in block.edges:
            before[edge.to].append(number)
    through = [_through(effects, block.first, block.end) for block in flow.blocks]
    waiting = dict.fromkeys(reversed(range(len(flow.blocks))))
    while waiting:
        number = next(iter(waiting))
        del waiting[number]
        reads, writes = through[number]
        found = reads | _leaving(flow, number, entry) & ~writes
        if found != entry[number]:
            entry[number] = found
            waiting.update(dict.fromkeys(before[number]))
    out = [0] * code.count
    for number, block in enumerate(flow.blocks):
        bits = _leaving(flow, number, entry)
        for i in range(block.end - 1, block.first - 1, -1):
            reads, writes = effects[i]
            out[i] = bits = reads | bits & ~writes
    return out


def _leaving(flow: Flow, number: int, entry: list[int]) -> int:
    """What is live behind a block."""
    bits = 0
    for edge in flow.blocks[number].edges:
        bits |= entry[edge.to]
    return bits


def _through(effects: list[tuple[int, int]], first: int, end: int) -> tuple[int, int]:
    """(read before written, written) of the instructions of a block."""
    reads = writes = 0
    for number in range(first, end):
        reads |= effects[number][0] & ~writes
        writes |= effects[number][1]
    return reads, writes


def _bits(code: Code, number: int, uses: list[Use]) -> tuple[int, int]:
    """(registers read, registers certainly written) by an instruction."""
    insn = code.insns[number]
    certain = insn.guard == INSN_PT and not insn.guard_neg
    reads = writes = 0
    for use in uses:
        bits = ((1 << use.width) - 1) << _PLACE_OF_FILE[use.file] + use.number
        if not use.writes:
            reads |= bits
        elif certain:
            writes |= bits
    return reads, writes


def _names(bits: int) -> tuple[str, ...]:
    out = []
    for file, place in _PLACE_OF_FILE.items():
        found = bits >> place & _FILE_MASK
        out += [f"{file}{number}" for number in range(found.bit_length()) if found >> number & 1]
    return tuple(out)
