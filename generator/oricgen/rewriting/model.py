"""What a rewrite rule says, as frozen data. Patterns are trees; both sides of a rule have the same form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..isa.model import Modifier, Operation

NEGATE, ABSOLUTE, COMPLEMENT = "-", "|", "~"


@dataclass(frozen=True)
class Anything:
    """``?``: any operand."""


@dataclass(frozen=True)
class Variable:
    """``x``: an operand without signs; ``x*``: with those that it has; ``-x``: one that is negated, or (made) the other sign."""

    name: str
    keeps_signs: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Constant:
    """``#k`` binds the bits of a constant, signs applied; ``#(k + 1)`` makes one."""

    text: str  # a name, or an expression


@dataclass(frozen=True)
class Literal:
    """A number; ``RZ`` is 0. ``exact``: that very operand, with the sign that it has (``-RZ``, a float's negative zero)."""

    value: int
    exact: bool = False


@dataclass(frozen=True)
class Truth:
    """``PT`` or ``!PT``."""

    value: bool


@dataclass(frozen=True)
class ModifierTest:
    """``{sign}``: any value, passed on; ``{sign=S32}``: that one; ``{lut=t}``: any, bound to t; ``{lut=#(t & 1)}``: made."""

    name: str
    value: str = ""  # of the modifier, as spec/encoding names it
    bound: str = ""  # a name
    text: str = ""  # an expression


@dataclass(frozen=True)
class Node:
    """An operation and its sources; ``negated``: the operand that it is behind has a minus."""

    operation: str
    modifiers: tuple[ModifierTest, ...]
    sources: tuple[Source, ...]
    negated: bool = False

    def nodes(self) -> Iterator[Node]:
        """This node and those below it, the outermost first."""
        yield self
        for source in self.sources:
            if isinstance(source, Node):
                yield from source.nodes()

    def leaves(self) -> Iterator[Leaf]:
        """What is no node, from left to right."""
        for source in self.sources:
            if isinstance(source, Node):
                yield from source.leaves()
            else:
                yield source


Leaf = Anything | Variable | Constant | Literal | Truth
Source = Leaf | Node


@dataclass(frozen=True)
class Within:
    """Where an operand rule looks: sources of these operations (``operations``), or their addresses (``addresses``)."""

    operations: tuple[Operation, ...]
    addresses: bool = False
    default: tuple[str, ...] = ()  # modifiers that must have their default
    absent: tuple[str, ...] = ()  # operands that must be left out

    def text(self) -> list[str]:
        """What it says, for views."""
        places = ["addresses"] if self.addresses else [o.name for o in self.operations]
        return places + [f"{name} default" for name in self.default] + [f"no {name}" for name in self.absent]


@dataclass(frozen=True)
class Rule:
    """One row. ``match`` is the instruction (or, with ``within``, a source of one), ``make`` what takes its place."""

    path: str
    line: int
    match: Node
    make: Source
    conditions: tuple[str, ...] = ()
    within: Within | None = None
    register: str = ""  # a variable that goes into a register when it is a constant that no form takes
    alone: bool = False  # only where nobody else reads what the other instructions of the pattern make
    is_register: str = ""  # a variable that must be a register
    unsigned: tuple[tuple[str, int], ...] = ()  # variables whose bits from a number on must be zero
    signed: tuple[tuple[str, int], ...] = ()  # variables that must be a signed number of so many bits, extended with its sign

    def text(self) -> str:
        """``IADD3(x, RZ, RZ) => x if ...`` as flat views show it."""
        from .show import show

        place = f"in {', '.join(self.within.text())}: " if self.within is not None else ""
        tail = f" if {' and '.join(self.conditions)}" if self.conditions else ""
        tail += f" ({self.register} in a register)" if self.register else ""
        tail += " (read by nobody else)" if self.alone else ""
        tail += f" ({self.is_register} a register)" if self.is_register else ""
        tail += "".join(f" ({name} of {bits} bits)" for name, bits in self.unsigned)
        tail += "".join(f" ({name} of {bits} bits with a sign)" for name, bits in self.signed)
        return f"{place}{show(self.match)} => {show(self.make)}{tail}"


@dataclass(frozen=True)
class Commute:
    """Sources (operand positions) that may change places; ``swap``: modifier -> renamed values; ``table``: their truth table."""

    positions: tuple[int, ...]
    swap: tuple[tuple[Modifier, dict[int, int]], ...] = ()
    table: Modifier | None = None
    all_results: bool = False  # stay the same, not only the first
    negated: int | None = None  # position of a predicate that is the other one then
    any_nan: bool = False  # which of two NaNs is passed on depends on the order
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Contraction:
    """A sum that takes a product, and what both become.

    ``values``: (mask, bits) in the modifiers of the product, the sum, the fused operation.
    """

    product: Operation
    sum: Operation
    fused: Operation
    values: tuple[tuple[tuple[int, int], tuple[int, int], tuple[int, int]], ...]


@dataclass(frozen=True)
class Narrow:
    """An operation whose result is a number of few bits: where ``mask`` of its modifiers is ``bits``.

    Bits from ``unsigned`` on are zero, and it is a number of ``signed`` bits that is extended with its sign.
    """

    operation: Operation
    mask: int
    bits: int
    unsigned: int
    signed: int


@dataclass
class Rules:
    """Everything in ``spec/rewrites``."""

    rules: list[Rule] = field(default_factory=list)
    commute: dict[str, Commute] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    rank: dict[str, int] = field(default_factory=dict)
    contract: list[Contraction] = field(default_factory=list)
    narrow: list[Narrow] = field(default_factory=list)


@dataclass(frozen=True)
class Function:
    """A condition or computation that rules name: ``oric.phases.conditions.NAME``."""

    name: str
    parameters: tuple[str, ...]
    doc: str
    path: str
    line: int
