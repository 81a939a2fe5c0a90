"""Where in code a linker has to put something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric.ir import operand as opd
from oric.ir.encoded import LinkedPlace
from oric.ir.optable import CALL, OPS

if TYPE_CHECKING:
    from oric.ir.machine import MachineFunction

    from .encode import Emitted

_WORD_BYTES: Final = 16


def linked_places(view: MachineFunction, part: Emitted, name: str) -> list[LinkedPlace]:
    """The instructions whose immediates have something from a linker, ascending; places behind calls are known here.

    ``name``: of the function or kernel whose code the part lies in.
    """
    f, fn = view.f, view.fn
    found: list[tuple[int, int]] = []  # offset, immediate
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
            word += 1
    out = []
    for offset, place in found:
        link = f.links[place]
        call = f.returns_to.get(place)
        out.append(LinkedPlace(offset, link if call is None else link._replace(function=name, addend=behind[call])))
    return out
