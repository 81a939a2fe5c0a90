"""Textures, samplers and surfaces in the code: the bank that stands for their places, and what a fetch is.

Until phase 21 the header of a reference (the number that the driver gives it) is a word of a bank that no machine has, at four
times the id of its symbol; a word for a texture and a sampler together has the id of the sampler above. Then it gets a place in
bank 0 behind the kernel's parameters.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import QUAD_TURNS
from oric_tables.registers import SCRATCH_BARRIERS

from . import operand as opd
from .function import NONE, Function

HEADER_BANK: Final = 31
WORD: Final = 4  # bytes
# Tables of which a fetch names its parts by number.
STEMS: Final = ("tex", "tld", "tld4", "txd", "txq")
DIMENSIONS: Final = ("1D", "2D", "3D", "CUBE", "ARRAY_1D", "ARRAY_2D", "ARRAY_CUBE")
LEVELS: Final = ("", "LZ", "LL")
FLAGS: Final = ("aoffi", "dc", "ms", "cl")
_INDEPENDENT: Final = "independent"
COMPONENTS: Final = 4
SINGLE, PAIRS = 1, 2  # halves in the words of a result
MOST_HALVES: Final = 4  # words of an operation that has them in two halves
_TURNS_NUMBER: Final = 9  # the operand that describes the fetch

KINDS: Final = {"texref": 0x20000000, "samplerref": 0x40000000, "surfref": 0x80000000}  # upper words of handles


def header(symbol: int) -> i64:
    """The word that stands for the header of a reference."""
    return opd.const_bank(HEADER_BANK, WORD * symbol)


def is_header(operand: i64) -> bool:
    """Whether an operand is the word that stands for a reference."""
    return operand & opd.TYPE == opd.IS_SYMBOL and operand & opd.CONST_BANK != 0 and opd.aux_of(operand) == HEADER_BANK


def has_header(f: Function, i: i64) -> bool:
    """Whether an operand of an instruction is one."""
    at: i64 = 0
    while at < f.count[i]:
        if is_header(f.get(i, at)):
            return True
        at += 1
    return False


def names_header(f: Function) -> bool:
    """Whether any is of a function."""
    return any(f.block[i] != NONE and has_header(f, i) for i in range(f.instructions()))


@final
class Fetch:
    """What a fetch is beside its operands.

    ``stem``: of the templates of its operations. ``first``, ``rest``: how many words are coordinates, and how many follow.
    ``mask``: the components that somebody names; ``flags``: modifiers that it has. ``independent``: a sampler stands beside it.
    ``halves``: the result has halves: each component one in the word of its number, or two in the word of the even ones.
    """

    def __init__(
        self, stem: str, dim: str, first: int, rest: int, mask: int = 15, level: str = "", component: int = 0,
        flags: tuple[str, ...] = (), independent: bool = False, halves: int = 0,
    ) -> None:  # fmt: skip
        self.stem = stem
        self.dim = dim
        self.first = first
        self.rest = rest
        self.mask = mask
        self.level = level
        self.component = component
        self.flags = flags
        self.independent = independent
        self.halves = halves

    def number(self) -> int:
        """All of it as the last operand of FETCH."""
        words = (
            (STEMS.index(self.stem), 3), (DIMENSIONS.index(self.dim), 3), (LEVELS.index(self.level), 2), (self.component, 2),
            (self.first, 3), (self.rest, 3), (self.mask, 4), (self.halves, 2), *((int(name in self.flags), 1) for name in FLAGS),
            (int(self.independent), 1),
        )  # fmt: skip
        made = shift = 0
        for value, bits in words:
            made |= value << shift
            shift += bits
        return made


def stride(spatial: int) -> int:
    """Words of the derivatives in one direction of so many coordinates, as vectors of PTX have them."""
    return 1 << (spatial - 1).bit_length()


@final
class Turns:
    """The words of a fetch for which the threads of a quad take turns, and the registers in which it is made.

    The first of these have what stands in front of the others in the operation (``first`` words), those from ``behind`` on what
    follows it; all of them become the components of the result. Those from ``work`` on have derivatives of as many coordinates as
    there is room for (``least`` and ``most`` registers), then whether the result is not resident.
    ``spatial``: words of the coordinates with derivatives, ``layers``: those in front. ``compact``: the words go in two halves.
    ``align``: of the first register.
    """

    def __init__(self, made: Fetch, in_register: bool) -> None:
        total = made.first + made.rest + in_register
        self.total = total
        self.layers = int(made.dim.startswith("ARRAY"))
        self.spatial = made.first - self.layers
        self.compact = total <= MOST_HALVES
        self.first = -(-total // 2) if self.compact else made.first
        self.align = self.behind = MOST_HALVES // 2 if self.compact else MOST_HALVES
        self.work = 2 * self.behind
        self.least = self.work + 2
        self.most = self.work + 2 * self.spatial

    def place(self, word: int) -> int:
        """The register of a word."""
        return word if word < self.first else self.behind + word - self.first


def turns_of(f: Function, i: i64) -> tuple[Fetch, Turns, int]:
    """The fetch of an instruction for which threads take turns, and the place of its handle in bank 0, -1: a register has it."""
    made = fetch_of(int(f.imm_value(f.get(i, _TURNS_NUMBER))))
    place = int(f.imm_value(f.get(i, _TURNS_NUMBER + 1)))
    return made, Turns(made, place < 0), place


def takes_turns(f: Function) -> bool:
    """Whether there is such an instruction in a function."""
    return any(f.block[i] != NONE and f.op[i] == QUAD_TURNS for i in range(f.instructions()))


def turns_barrier(f: Function, barriers: int) -> int:
    """The convergence barrier that knows the threads which take turns, of so many that there are."""
    return (barriers if f.is_entry else SCRATCH_BARRIERS) - 1


def fetch_of(number: int) -> Fetch:
    """The fetch of a number."""
    fields = []
    for bits in (3, 3, 2, 2, 3, 3, 4, 2):
        fields.append(number & (1 << bits) - 1)
        number >>= bits
    stem, dim, level, component, first, rest, mask, halves = fields
    flags = tuple(name for at, name in enumerate(FLAGS) if number >> at & 1)
    independent = bool(number >> len(FLAGS) & 1)
    return Fetch(STEMS[stem], DIMENSIONS[dim], first, rest, mask, LEVELS[level], component, flags, independent, halves)
