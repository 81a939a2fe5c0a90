"""Names: what they stand for, nested scopes, parameterised register ranges, labels."""

from __future__ import annotations

from typing import Any, Final

from . import classes as cl
from .builder import REG, Operand
from .lexer import again

REGISTER: Final = 0
SYMBOL: Final = 1
FUNCTION: Final = 2
TABLE_NAME: Final = 3

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


class OperandCache(dict[str, Operand]):
    """Operand text -> node, filled by ``scope.resolver`` on a miss; the class goes to ``scope.classes``."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope: Scope | None = scope

    def __missing__(self, text: str) -> Operand:
        scope = self.scope
        assert scope is not None
        scope.missed = True
        node: Operand
        node, class_ = scope.resolver(text)
        self[text] = node
        scope.classes[text] = class_
        return node


_NODES: Final[list[Operand]] = []  # of the registers 0, 1, ..., which all functions share
_RANGES: Final[dict[str, list[str]]] = {}  # prefix -> names with the numbers 0, 1, ...
_SHARED: Final = 1 << 16  # registers of a range whose names and nodes are kept; more are rare
_PREFIXES: Final = 64  # compilers use ten or so


def register_nodes(first: int, count: int) -> list[Operand]:
    """The nodes of ``count`` registers from ``first`` on."""
    last = first + count
    if last > _SHARED:
        return [(REG, i) for i in range(first, last)]
    if last > len(_NODES):
        _NODES.extend([(REG, i) for i in range(len(_NODES), last)])
    return _NODES[first:last]


def range_names(prefix: str, count: int) -> list[str]:
    """``%r0``, ``%r1``, ...: the names of a parameterised declaration."""
    known = _RANGES.get(prefix)
    if known is None:
        if len(_RANGES) >= _PREFIXES:
            _RANGES.clear()
        known = _RANGES[prefix] = []
    if count > _SHARED:
        return [f"{prefix}{i}" for i in range(count)]
    if count > len(known):
        known.extend([f"{prefix}{i}" for i in range(len(known), count)])
    return known[:count]


class Scope:
    """One level of names. ``nodes`` and ``classes`` remember the operand texts met in this scope."""

    __slots__ = ("classes", "depth", "label_names", "labels", "missed", "names", "nodes", "opened_at", "parent", "pending",
                 "places", "prefixes", "ranges", "resolver")  # fmt: skip

    def __init__(self, parent: Scope | None, opened_at: int, resolver: Any = None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.opened_at = opened_at
        self.names: dict[str, Entity] = {}
        self.places: dict[str, int] = {}  # name or prefix of a range -> offset of its declaration
        self.ranges: dict[str, tuple[int, int, str, int]] = {}  # prefix -> first handle, count, type, class
        self.prefixes: set[str] = set()  # what is left of single names without their trailing digits
        self.labels: dict[str, int] = {}
        self.pending: dict[str, int] = {}  # label used but not placed -> offset of first use
        self.label_names: frozenset[str] | None = None  # labels that this nested scope defines, when known
        self.resolver = resolver
        self.classes: dict[str, int] = {}
        self.missed = False  # an operand was remembered that a later declaration could change
        self.nodes = OperandCache(self)

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
            if number < row[1]:
                return Entity(REGISTER, row[0] + number, row[2])
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

    def declare_range(self, prefix: str, first: int, count: int, type_: str, at: int, likely: int = 0) -> None:
        """Add the registers ``prefix0 .. prefix(count-1)``; up to ``likely`` of them are remembered at once.

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
        class_ = cl.class_id(cl.C_REG, type_)
        self.places[f"{prefix}<>"] = at
        self.ranges[prefix] = (first, count, type_, class_)
        self.forget()
        if (
            count <= likely and prefix[-1] not in DIGITS
        ):  # the digits at the end of a name are all its number: no name is in r1<5>
            names = range_names(prefix, count)
            self.nodes.update(zip(names, register_nodes(first, count), strict=True))
            self.classes.update(dict.fromkeys(names, class_))

    def forget(self) -> None:
        """Drop remembered operand texts: a new name may hide an outer one."""
        if self.missed:
            self.nodes.clear()
            self.classes.clear()
            self.missed = False

    def leave(self) -> None:
        """The scope's brace is closed: free what it remembers now, without waiting for a collection of cycles."""
        self.nodes.clear()
        self.classes.clear()
        self.nodes.scope = None
        self.resolver = None


def register_operand(entity: Entity) -> tuple[Operand, int]:
    """Node and class of a scalar register."""
    return (REG, entity.handle), cl.class_id(cl.C_REG, entity.type)
