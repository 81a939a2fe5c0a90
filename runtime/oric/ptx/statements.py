"""The statements of function bodies as the scanner in C gives them: rows of numbers, each operand text a number of its own.

What the numbers mean is said in ``native/ptx/scan.h``. A text has one number in the whole module; what it stands for depends
on the scope. :class:`Statements` therefore keeps beside each text its node, and beside that for which state of which scope it
was worked out (its serial) and of what class the operand is.
"""

from __future__ import annotations

from typing import Any, Final

from librt.vecs import extend
from mypy_extensions import i64
from oric_tables._native import ffi, lib

from oric.support.arrays import zeros
from oric.support.lend import lend

from .builder import Operand
from .signatures import Entry
from .text import Text

# Kinds of statements: ORIC_PTX_INSTRUCTION and so on.
INSTRUCTION: Final = 0
LABEL: Final = 1
LOC: Final = 2
REGISTERS: Final = 3
VARIABLE: Final = 4
CALL: Final = 5
OPEN: Final = 6
CLOSE: Final = 7
# Words of a statement: kind and size, place, end, and what only some have.
PLACE: Final = 1
END: Final = 2
DETAILS: Final = 3
OPERANDS: Final = 6  # of an instruction
# Shapes of operand texts: ORIC_PTX_TEXT and so on.
TEXT: Final = 0
REG: Final = 1
NOT: Final = 2
ADDR_REG: Final = 3
ADDR_NAME: Final = 4
INT: Final = 5
SINGLE: Final = 6
DOUBLE: Final = 7
VECTOR: Final = 8
NAME: Final = 9
ROW_WORDS: Final = 4
CLASS_BITS: Final = 32  # the lower bits of ``known``

_OTHER: Final = 0  # why a scan ended: ORIC_PTX_OTHER, ORIC_PTX_ROWS
_NO_ROWS: Final = 2
_MEMORY_WORDS: Final = 6  # of a row with its share of the hash table
_FEW_ROWS: Final = 32
_MOST_ROWS: Final = 4096  # at first
_CHARACTERS_EACH: Final = 32  # of a module for each different text in it, or more
_FEW_WORDS: Final = 256
_MOST_WORDS: Final = 8192
_scan: Final[Any] = lib.oric_ptx_statements
_begin: Final[Any] = lib.oric_ptx_begin
_grow: Final[Any] = lib.oric_ptx_grow


def power_of_two(wanted: i64, least: i64, most: i64) -> i64:
    """The power of two from ``wanted`` on, between two others."""
    found = least
    while found < wanted and found < most:
        found *= 2
    return found


class Statements:
    """A window of statements of a text, and what is known of the operand texts met so far.

    Attributes:
        stream: the statements of the window; ``cursor``: where the next one stands, ``count``: where they end.
        rows: for each text, :data:`ROW_WORDS` words: shape and length, place, two that depend on the shape.
        nodes: text -> node of the operand.
        known: text -> serial of the scope for which ``nodes`` has it, and class of the operand in the lower bits.
        entries: text of a mnemonic -> its entry in ``table``, None when it was not looked up.
    """

    __slots__ = ("_lent", "_out", "_room", "_scan", "count", "cursor", "entries", "known", "nodes", "rows", "serial", "source",
                 "stream", "table")  # fmt: skip

    def __init__(self, source: Text) -> None:
        self.source = source
        self.cursor: int = 0
        self.count: int = 0
        self.serial: int = 0
        self.table: dict[str, Entry] = {}
        rows = power_of_two(source.length // _CHARACTERS_EACH, _FEW_ROWS, _MOST_ROWS)
        self.nodes: list[Operand] = [()] * rows
        self.entries: list[Entry | None] = [None] * rows
        self.known = zeros(rows)
        self.rows = zeros(_MEMORY_WORDS * rows)
        self.stream = zeros(_FEW_WORDS)
        self._out: Any = lend(self.stream)
        self._room: int = _FEW_WORDS
        self._lent: Any = lend(self.rows)
        self._scan: Any = ffi.new("oric_ptx_scan *")
        _begin(self._scan, source.bytes, source.length, self._lent, rows)

    # -- the window ----------------------------------------------------------------------------------------

    def find(self, position: i64) -> bool:
        """Move the cursor to the statement at ``position``; False when none of the plain forms stands there."""
        stream = self.stream
        cursor = self.cursor
        while cursor < self.count and stream[cursor + PLACE] < position:
            cursor += stream[cursor] >> 8
        self.cursor = cursor
        if cursor < self.count:
            if stream[cursor + PLACE] == position:
                return True
            self._room = _FEW_WORDS  # what was read ahead was in vain
        elif self._scan.end == position:
            if self._scan.reason == _OTHER:
                return False
            self._room = min(2 * self._room, _MOST_WORDS)
        return self._read(position)

    def _read(self, position: i64) -> bool:
        """Scan from ``position`` on; False when the statement there is of no plain form."""
        if self._room > len(self.stream):
            self.stream = zeros(self._room)
            self._out = lend(self.stream)
        self.cursor = 0
        self.count = _scan(self._scan, position, self._out, self._room)
        while self.count == 0 and self._scan.reason == _NO_ROWS:
            self._more_rows()
            self.count = _scan(self._scan, position, self._out, self._room)
        return self.count > 0

    def _more_rows(self) -> None:
        more: i64 = len(self.nodes)
        rows = zeros(2 * more * _MEMORY_WORDS)
        lent = lend(rows)
        _grow(self._scan, lent, 2 * more)
        self.rows, self._lent = rows, lent
        self.known = extend(self.known, zeros(more))
        self.nodes.extend([()] * more)
        self.entries.extend([None] * more)

    # -- texts ---------------------------------------------------------------------------------------------

    def text(self, row: i64) -> str:
        """An operand or mnemonic as written."""
        at = self.rows[ROW_WORDS * row + 1]
        return self.source.text[at : at + (self.rows[ROW_WORDS * row] >> 8)]

    def entry(self, row: i64) -> Entry | None:
        """The entry of a mnemonic; None when the module has not used it before."""
        entry = self.entries[row]
        if entry is None:
            entry = self.entries[row] = self.table.get(self.text(row))
        return entry

    def use(self, table: dict[str, Entry]) -> None:
        """Take the entries of mnemonics from another table from now on."""
        if self.table is not table:
            self.table = table
            self.entries = [None] * len(self.nodes)

    def new_serial(self) -> i64:
        """A number for a scope as it is now."""
        self.serial += 1
        return self.serial
