"""What the encoder hands to the cubin writer: the machine code of one function and the places in it that the container names.

Source: ``.nv.info`` records of ptxas 13.0.88 output (EXIT_INSTR_OFFSETS, COOP_GROUP_INSTR_OFFSETS, ...).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

FULL_MASK: Final = 0xFFFFFFFF  # in ``coop_groups``: the member mask is no register


@dataclass(slots=True)
class EncodedFunction:
    """One function as machine code. Offsets are bytes from the start of ``words``, lists ascend.

    ``words`` ends with the padding (a branch to itself, then NOPs) and is a multiple of 128 bytes long.
    """

    name: str
    words: bytes
    num_regs: int = 0  # for the container: highest register used + 1, plus what the SM needs
    exits: list[int] = field(default_factory=list)
    # warp-synchronous instructions with a member mask: (offset, register that holds the mask or FULL_MASK)
    coop_groups: list[tuple[int, int]] = field(default_factory=list)
    warp_wide: list[int] = field(default_factory=list)  # VOTE, MATCH, REDUX and warp-aggregated atomics
    indirect_branches: list[tuple[int, list[int]]] = field(default_factory=list)  # (offset of BRX, target offsets)
    constant2: bytes = b""  # bank 2 with the jump tables filled in
    uses_convergence: bool = False  # BSSY/BSYNC, calls
    frame_ready: int = 16  # offset behind the instruction that sets the stack pointer
