"""What a row of ``spec/encoding`` says, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field

from .bits import Bits

# Kinds of operands as the hardware sees them; spec/numbers.yaml has the same numbers for C and Python.
KINDS = {
    "none": 0, "gpr": 1, "ugpr": 2, "pred": 3, "upred": 4, "imm": 5, "cbank": 6, "cbanku": 7, "label": 8,
    "breg": 9, "sb": 10, "sreg": 11,
}  # fmt: skip

# What operations do besides writing registers, in the order of the flags of oric_tables.ops.
EFFECTS = (
    "load", "store", "atomic", "shared", "local", "constant", "branch", "call", "return", "exit", "barrier", "convergence",
    "fence", "warp", "side_effect", "special", "common", "sum", "global", "wide",
)  # fmt: skip

SLOTS = 12  # most operands of an operation, as oric_insn has places for

REGISTER_KINDS = frozenset({"gpr", "ugpr", "pred", "upred"})


@dataclass(frozen=True)
class Default:
    """What an operand that is left out means: a value to encode, or (kind ``none``) that the form has no such operand."""

    kind: str
    reg: int = 0
    negated: bool = False


@dataclass(frozen=True)
class Operand:
    """An operand of an operation, the same in all its forms."""

    name: str
    writes: bool
    width: str  # number of 32-bit registers, or the modifiers that say it, joined by * or +
    kind: str  # kind by its name; forms of a variable source have others
    marks: str  # of "-|~": negation, absolute value, complement are allowed
    default: Default | None
    where: str  # place given in the row, "" when the name or the shape says it


def is_source(operand: Operand) -> bool:
    """Whether an operand may be of several kinds: a register, an immediate, a constant bank."""
    return not operand.writes and operand.name in {"Ra", "Rb", "Rc"}


@dataclass(frozen=True)
class Registers:
    """Number of 32-bit registers of an operand: ``table`` by the packed values of ``mods``, the first in the lowest bits.

    ``mods`` are positions in the operation's modifiers; without any the table has one entry.
    """

    mods: tuple[int, ...]
    table: tuple[int, ...]


@dataclass(frozen=True)
class Implicit:
    """Registers that an operation accesses and no operand names; ``mask`` is the operand whose immediate chooses among
    them, a bit each (-1: all of them, as when that operand is no immediate).
    """

    file: str  # "R", "P", "UR", "UP", "B"
    first: int
    count: int
    writes: bool
    mask: int


@dataclass(frozen=True)
class Flow:
    """What the hazard checker knows of an operation besides registers; operands and modifiers by index, -1 = none."""

    region: str = ""  # what it does with its convergence barrier: enter, sync or leave
    board: int = -1  # operand: scoreboard that it waits for,
    left: int = -1  # until this many are outstanding
    boards: int = -1  # modifier: set of scoreboards that it waits for besides
    adds: tuple[int, ...] = ()  # the first result is the sum of these operands
    one_sign: tuple[int, ...] = ()  # of these operands one at most is negated or complemented
    conditional: int = -1  # modifier: when it is set a branch asks for more than its predicates
    hidden_reuse: bool = False  # real code has reuse flags that no text shows


@dataclass(frozen=True)
class Value:
    """One value of a modifier: hardware code, name, printed text."""

    raw: int
    name: str
    text: str


@dataclass(frozen=True)
class ModField:
    """Where a modifier sits and what its bits mean; ``values`` is empty for a plain number."""

    bits: Bits
    kind: str  # "enum", "int", "set", "swizzle"
    values: tuple[Value, ...]
    default: int  # raw

    def by_name(self) -> dict[str, int]:
        """Name -> raw code."""
        return {v.name: v.raw for v in self.values}


@dataclass(frozen=True)
class Modifier:
    """A modifier of an operation with its place in the packed ``mods`` word.

    ``codes`` maps names to packed values; the default is always 0, so ``mods == 0`` is an instruction without
    modifiers. ``texts`` is what each packed value prints.
    """

    name: str
    kind: str
    shift: int
    width: int
    default: int  # raw value of the row's field, xored into packed values
    default_name: str
    codes: dict[str, int]
    texts: dict[int, str]


@dataclass(frozen=True)
class FormOperand:
    """An operand's place in one form."""

    index: int
    kind: str
    spec: str  # number format: gpr, x32, s32, f32, f64h, f16x2, bf16x2, u12, s24, rel ...
    bits: Bits
    second: Bits | None = None  # bank, or uniform register of cx[UR][..]
    neg: int = -1
    abs: int = -1
    inv: int = -1
    reuse: int = -1
    invert: bool = False  # register number stored as 7 - n
    shift: int = 0  # value is stored >> shift
    signed: bool = False
    same: bool = False  # shares its bits with another operand, which must be equal
    default: Default | None = None


@dataclass(frozen=True)
class FormMod:
    """A modifier's place in one form: ``decode[raw]`` is the packed value, -1 = refused."""

    mod: int
    bits: Bits
    decode: tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """One encoding of an operation; ISAs on which it is the same share it."""

    op: int
    number: int
    name: str
    line: int
    mask: int  # opcode bits and what acts as such
    value: int
    fixed: int  # bits that no field explains, as real code has them
    operands: tuple[FormOperand, ...]
    mods: tuple[FormMod, ...]
    fields: int  # mask of all field bits
    text: str
    code: bytes  # compiled text template


@dataclass(frozen=True)
class Operation:
    """One row."""

    number: int
    name: str
    opcode: str
    sub: int
    path: str
    line: int
    guard: str
    operands: tuple[Operand, ...]
    mods: tuple[Modifier, ...]
    effects: tuple[str, ...]
    text: str
    forms: dict[str, tuple[Form, ...]] = field(default_factory=dict)
    registers: tuple[Registers, ...] = ()  # of each operand
    implicit: tuple[Implicit, ...] = ()
    flow: Flow = Flow()
    align: tuple[int, ...] = ()  # of each operand: its first register is a multiple; 0 = what follows from its width
    unread: str = ""  # operation that does the same where nobody reads the results
    takes: tuple[str, ...] = ()  # of a macro: sources that may be a constant or a place of a constant bank
    template: str = ""  # of a macro: the template of spec/lowering that it stands for
    expansion: int = 0  # of a macro: index of the phase that puts the template in its place
    repeats: int = 0  # of a macro: so many of its last operands may stand any number of times
    of: str = ""  # of a macro: the operation of the machine whose opcode it has in the documented layouts

    @property
    def ident(self) -> str:
        """Name as Python and C identifier."""
        return self.name.replace(".", "_")


@dataclass(frozen=True)
class Machine:
    """Everything in ``spec/encoding``, resolved."""

    isas: tuple[str, ...]
    operations: tuple[Operation, ...]
    aliases: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]

    def forms_of(self, isa: str) -> list[tuple[Form, Operation]]:
        """All forms of an ISA, by operation."""
        return [(f, o) for o in self.operations for f in o.forms.get(isa, ())]

    def form_order(self, isa: str) -> list[int]:
        """Position in ``forms_of`` of each form number: the forms are numbered by opcode."""
        forms = self.forms_of(isa)
        return sorted(range(len(forms)), key=lambda i: (forms[i][0].value & 0xFFF, i))
