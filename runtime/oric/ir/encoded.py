"""What the encoder hands to the cubin writer: the machine code of one function and the places in it that the container names.

Source: ``.nv.info`` records of ptxas 13.0.88 output (EXIT_INSTR_OFFSETS, COOP_GROUP_INSTR_OFFSETS, ...).
"""

from __future__ import annotations

from typing import Final

from oric_tables.named import NamedTuple

from oric.support.record import Record

from .calls import FrameMove
from .links import Link

FULL_MASK: Final = 0xFFFFFFFF  # in ``coop_groups``: the member mask is no register


class LinkedPlace(NamedTuple):
    """What a linker puts into the instruction at byte ``offset`` of a function."""

    offset: int
    link: Link


class RegisterRange(NamedTuple):
    """Word ``word`` of a register of the PTX is in register ``number`` of file ``file`` in front of the instructions at bytes
    ``start`` to ``end`` of the function, both included."""

    name: str
    type: str
    word: int
    file: str
    number: int
    start: int
    end: int


class EncodedFunction(Record):
    """One function as machine code. Offsets are bytes from the start of ``words``, lists ascend.

    ``words`` ends with the padding (a branch to itself, then NOPs) and is a multiple of 128 bytes long.
    """

    __slots__ = (
        "addressed", "calls", "constant2", "coop_groups", "exits", "frame", "frame_ready", "functions", "indirect_branches",
        "instructions", "links", "mbarriers", "name", "num_regs", "origins", "recursive", "registers", "shared", "special",
        "stack", "syscalls", "uses_convergence", "warp_wide", "words",
    )  # fmt: skip

    def __init__(self, name: str, words: bytes, num_regs: int = 0, exits: list[int] | None = None) -> None:
        self.name = name
        self.words = words
        self.num_regs = num_regs  # for the container: highest register used + 1, plus what the SM needs
        self.exits = exits if exits is not None else []
        # warp-synchronous instructions with a member mask: (offset, register that holds the mask or FULL_MASK)
        self.coop_groups: list[tuple[int, int]] = []
        self.warp_wide: list[int] = []  # warp-wide instructions without a member mask
        # instructions on mbarriers: offset, register and displacement of the address, number, uniform register; no register: -1
        self.mbarriers: list[tuple[int, int, int, int, int]] = []
        self.special: set[int] = set()  # numbers of the special registers that are read
        self.indirect_branches: list[tuple[int, list[int]]] = []  # (offset of BRX, target offsets)
        self.constant2 = b""  # bank 2 with the jump tables filled in
        self.uses_convergence = False  # BSSY/BSYNC, calls
        self.functions: list[tuple[str, int, int]] = []  # behind the kernel's own code: name, offset, bytes
        self.shared = 0  # how many of the last functions are code that stands for macros
        self.syscalls: list[tuple[int, str]] = []  # calls of functions of the driver, which the names are of
        self.stack = (
            0  # bytes of frames that a thread needs, those of the functions that it calls among them, each once at a time
        )
        self.recursive = False  # some of its functions call themselves
        self.addressed: list[str] = []  # the functions in its table of functions, "" for one that is not behind its code
        self.calls = False  # it has calls that stay
        self.links: list[LinkedPlace] = []  # what a linker puts where
        # of the kernel and of each of its functions, where asked for: an offset, the origin from there on (oric.ir.lineinfo)
        self.origins: list[list[tuple[int, int]]] = []
        self.instructions = 0  # without the padding
        self.frame: list[tuple[int, FrameMove]] = []  # what is another from an offset on, for a debugger
        self.registers: list[RegisterRange] = []  # where registers of the PTX are, for a debugger
        self.frame_ready = 16  # offset behind the instruction that sets the stack pointer
