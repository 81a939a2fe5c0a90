"""Names: what they stand for, nested scopes, parameterised register ranges, labels."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from . import classes as cl
from .builder import REG, Operand
from .lexer import again

REGISTER: Final = 0
SYMBOL: Final = 1
FUNCTION: Final = 2
TABLE_NAME: Final = 3
LABEL_NAME: Final = 4  # a label that hides a name of the module

DIGITS: Final = "0123456789"
MAX_DIGITS: Final = 12  # of the number in a register's name, with zeros in front
MAX_REGISTERS: Final = 1 << 24  # per function; more is no program but an accident


class Entity:
    """What a name stands for.

    ``handle`` is the builder's; ``type`` a register's type, a symbol's state space; ``vector`` a register's number of
    elements (1 for scalars); ``info`` the Variable, Function or table content.
    """

    __slots__ = ("handle", "info", "kind", "type", "vector")

    def __init__(self, kind: int, handle: int, type_: str, vector: int = 1, info: Any = None) -> None:
        self.kind = kind
        self.handle = handle
        self.type = type_
        self.vector = vector
        self.info = info


class Range:
    """The registers of a parameterised declaration: handles from ``first`` on; classes of one, of ``!`` one, of ``[one]``."""

    __slots__ = ("address_class", "class_", "count", "first", "not_class", "type")

    def __init__(self, first: i64, count: i64, type_: str) -> None:
        self.first: int = first
        self.count: int = count
        self.type = type_
        classes = cl.register_classes(type_)
        self.class_: int = classes[0]
        self.not_class: int = classes[1]
        self.address_class: int = classes[2]


class Scope:
    """One level of names.

    ``serial``: a number for what its names mean now, which remembered operands are marked with; 0 when it has none yet.
    """

    __slots__ = ("depth", "label_names", "labels", "names", "opened_at", "parent", "pending", "places", "prefixes", "ranges",
                 "serial")  # fmt: skip

    def __init__(self, parent: Scope | None, opened_at: i64) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.opened_at: int = opened_at
        self.names: dict[str, Entity] = {}
        self.places: dict[str, int] = {}  # name or prefix of a range -> offset of its declaration
        self.ranges: dict[str, Range] = {}  # by prefix
        self.prefixes: set[str] = set()  # what is left of single names without their trailing digits
        self.labels: dict[str, int] = {}
        self.pending: dict[str, int] = {}  # label used but not placed -> offset of first use
        self.label_names: frozenset[str] | None = None  # labels that this nested scope defines, when known
        self.serial: int = 0

    def lookup(self, name: str) -> Entity | None:
        """The entity of a name, from this scope outwards."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is None and scope.ranges:
                found = scope.in_range(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def in_range(self, name: str) -> Entity | None:
        """A register of a parameterised declaration: ``%r17`` of ``%r<100>``."""
        prefix = name.rstrip(DIGITS)
        row = self.ranges.get(prefix)
        if row is not None and 0 < len(name) - len(prefix) < MAX_DIGITS:
            number = int(name[len(prefix) :])
            if number < row.count:
                return Entity(REGISTER, row.first + number, row.type)
        return None

    def check_free(self, name: str, at: int) -> None:
        """Check that a name is new in this scope.

        Raises:
            PtxError: it exists; a note says where.
        """
        if name in self.names:
            raise again(at, f"'{name}' is declared twice in this scope", self.places[name])
        if self.ranges and self.in_range(name) is not None:
            raise again(at, f"'{name}' is declared twice in this scope", self.places[f"{name.rstrip(DIGITS)}<>"])
        if name in self.labels and name not in self.pending:
            raise again(at, f"'{name}' is declared twice in this scope", self.places[name])

    def declare(self, name: str, entity: Entity, at: int) -> None:
        """Add a name.

        Raises:
            PtxError: it exists in this scope.
        """
        self.check_free(name, at)
        self.names[name] = entity
        self.places[name] = at
        self.prefixes.add(name.rstrip("0123456789"))
        self.forget()

    def declare_range(self, prefix: str, first: int, count: int, type_: str, at: int) -> None:
        """Add the registers ``prefix0 .. prefix(count-1)``.

        Raises:
            PtxError: one of them exists in this scope.
        """
        if prefix in self.ranges:
            raise again(at, f"'{prefix}<...>' is declared twice in this scope", self.places[f"{prefix}<>"])
        if prefix.rstrip(DIGITS) in self.prefixes:
            for name in self.names:
                digits = name[len(prefix) :]
                if name.startswith(prefix) and digits.isdigit() and (digits == "0" or digits[0] != "0") and int(digits) < count:
                    raise again(at, f"'{prefix}<{count}>' declares '{name}' again", self.places[name])
        self.places[f"{prefix}<>"] = at
        self.ranges[prefix] = Range(first, count, type_)
        self.forget()

    def forget(self) -> None:
        """Operands that were remembered may mean something else: a new name may hide an outer one."""
        self.serial = 0


def register_operand(entity: Entity) -> tuple[Operand, int]:
    """Node and class of a scalar register."""
    return (REG, entity.handle), cl.class_id(cl.C_REG, entity.type)
