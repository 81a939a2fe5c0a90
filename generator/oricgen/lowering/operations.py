"""What the lowering rules need to know of the operations of spec/encoding."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """An operand of an operation; ``slot`` is a sum of the ``SLOT_`` bits of :mod:`.compiler`."""

    name: str
    slot: int
    optional: bool


@dataclass(frozen=True)
class Modifier:
    """Place of a modifier in the packed word; ``values`` maps the printed suffix to the number."""

    name: str
    shift: int
    width: int
    values: dict[str, int]

    @property
    def mask(self) -> int:
        """Largest value."""
        return (1 << self.width) - 1

    def place(self, value: int) -> tuple[int, int]:
        """(mask, bits) of a value in the packed word."""
        return self.mask << self.shift, value << self.shift


@dataclass
class Operation:
    """An operation: its opcode word, operands in order, modifiers; ``isas`` is None when every model has it."""

    name: str
    word: int
    operands: list[Column]
    mods: dict[str, Modifier] = field(default_factory=dict)
    isas: tuple[str, ...] | None = None
    default: int = 0  # packed modifiers when none is written

    def slot(self, name: str) -> int | None:
        """Index of an operand by name."""
        for index, column in enumerate(self.operands):
            if column.name == name:
                return index
        return None

    def modifier(self, text: str) -> tuple[int, int] | None:
        """(mask, bits) of the modifier value that ``text`` names (``FTZ``, ``rnd=RZ``); None when none or several do."""
        key, equals, value = text.partition("=")
        if equals:
            row = self.mods.get(key)
            return row.place(row.values[value]) if row and value in row.values else None
        found = [m.place(m.values[text]) for m in self.mods.values() if text in m.values]
        return found[0] if len(found) == 1 else None

    def field(self, name: str, value: int) -> tuple[int, int] | None:
        """(mask, bits) of modifier ``name`` with a plain number; None when there is no such field or it is too narrow."""
        row = self.mods.get(name)
        return row.place(value) if row and 0 <= value <= row.mask else None
