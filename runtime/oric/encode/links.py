"""Where in code a linker has to put something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import ops

from oric.ir import operand as opd
from oric.ir.encoded import LinkedPlace
from oric.ir.legality import KIND_CBANK
from oric.ir.links import BANK, OPERAND, Link
from oric.ir.optable import CALL, OPS, SLOTS

if TYPE_CHECKING:
    from oric.ir.function import Function
    from oric.ir.machine import MachineFunction

    from .encode import Emitted

_WORD_BYTES: Final = 16


def linked_places(view: MachineFunction, part: Emitted, name: str, banks: tuple[int, ...] = ()) -> list[LinkedPlace]:
    """The instructions whose immediates have something from a linker, ascending; places behind calls are known here.

    ``name``: of the function or kernel whose code the part lies in. ``banks``: constant banks whose places are told as well.
    """
    f, fn = view.f, view.fn
    if not f.links and not banks:
        return []
    found: list[tuple[int, int]] = []  # offset, immediate
    told: list[LinkedPlace] = []
    behind: dict[int, int] = {}  # call -> the place behind it
    for b in range(fn.block_count):
        word = part.blocks[b]
        for k in range(fn.block_first[b], fn.block_first[b + 1]):
            i: int = fn.nodes[k].index
            word += int(fn.nodes[k].pads)
            if OPS.flags[f.op[i]] & CALL:
                behind[f.aux[i]] = _WORD_BYTES * (word + 1)
            for at in range(f.count[i]):
                operand = f.get(i, at)
                if operand & opd.TYPE == opd.IS_POOL and int(operand & opd.INDEX) in f.links:
                    found.append((_WORD_BYTES * word, int(operand & opd.INDEX)))
                elif banks and operand & opd.TYPE == opd.IS_SYMBOL and operand & opd.CONST_BANK and opd.aux_of(operand) in banks:
                    told.append(LinkedPlace(_WORD_BYTES * word, _place_in_bank(f, i, at)))
            word += 1
    out = []
    for offset, place in found:
        link = f.links[place]
        call = f.returns_to.get(place)
        out.append(LinkedPlace(offset, link if call is None else link._replace(function=name, addend=behind[call])))
    return sorted([*out, *told]) if told else out


def _place_in_bank(f: Function, i: int, at: int) -> Link:
    """What an operand in a constant bank names; that of a load may have a displacement behind it."""
    op, operand = f.op[i], f.get(i, at)
    place = int(operand & opd.INDEX)
    if OPS.kind[op * SLOTS + at] != KIND_CBANK:
        return Link(OPERAND, BANK, int(opd.aux_of(operand)), addend=place)
    if at + 1 < f.count[i] and f.get(i, at + 1) & opd.TYPE in (opd.IS_IMM, opd.IS_POOL):
        place += f.imm_value(f.get(i, at + 1))
    return Link(ops.op(op).name.lower(), BANK, int(opd.aux_of(operand)), addend=place)
