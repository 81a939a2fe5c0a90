"""Line information: which source line every instruction comes from.

``Function.line`` has an *origin* for each instruction: the line of its PTX statement in the low 32 bits, and above them a number
of :attr:`LineInfo.marks`, 0 for nearly all. What ``.loc`` is in force there follows from the line, so that no phase has to carry
it. A mark stands where that does not do: several statements in one line of the PTX, instructions of a function that was inlined.

Source: PTX ISA, "Debugging Directives: .file, .loc"; observed (ptxas 13.0.88) for what an ``inlined_at`` refers to.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final, final

from mypy_extensions import i64
from oric_tables.named import NamedTuple

LINE_BITS: Final = 32
LINE: Final = (1 << LINE_BITS) - 1
NO_LOC: Final = -1
STRINGS: Final = ".debug_str"
_DATA: Final = re.compile(r"//[^\n]*|/\*.*?\*/|([A-Za-z_$%][\w$]*)\s*:|\.b(8|16|32|64)\s+(-?\d\w*(?:\s*,\s*-?\d\w*)*)", re.DOTALL)
_OCTAL: Final = re.compile(r"0\d+")


def line_of(origin: i64) -> i64:
    """The line of the PTX that an instruction comes from, 0 for none."""
    return origin & LINE


class SourceFile(NamedTuple):
    """A ``.file``; ``time`` and ``size`` 0 where they are not told."""

    name: str
    time: int = 0
    size: int = 0


class PtxRegister(NamedTuple):
    """A register of the PTX, its type, and the operand that it is in the code."""

    name: str
    type: str
    operand: int


class Loc(NamedTuple):
    """A ``.loc``. ``outer``: number of the ``.loc`` that its ``inlined_at`` refers to, or NO_LOC; ``label``, ``offset``: where
    the name of the function is that was inlined."""

    file: int
    line: int
    column: int
    ptx_line: int
    outer: int = NO_LOC
    label: str = ""
    offset: int = 0


class Mark(NamedTuple):
    """``loc``: number of the ``.loc`` in force, or NO_LOC: the last one in front of the line; ``call``: origin of the call in
    whose place the body of ``callee`` stands, 0 for none."""

    loc: int
    call: int
    callee: str


class Node(NamedTuple):
    """A row that a line table can have: a ``.loc``, and the origin of the call that it came to its place by (0: none)."""

    loc: int
    call: int
    callee: str


class Text:
    """One input: its text, and the ``.loc`` and function bodies in it, all in the order of the text."""

    __slots__ = ("bodies", "code_labels", "first_locs", "labels", "loc_lines", "locs", "names", "sections", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.locs: list[Loc] = []
        self.loc_lines: list[int] = []
        self.names: list[str] = []  # of the functions that have a body
        self.bodies: list[int] = []  # the lines in which their bodies begin
        self.first_locs: list[int] = []  # numbers of the first .loc in them, if they have one
        self.labels: dict[str, int] = {}  # of .debug_str -> offset there
        self.code_labels: dict[str, int] = {}  # of the code -> line, where somebody wants debug data
        self.sections: list[tuple[str, str]] = []  # of debug data, in the order of the text

    def loc_at(self, line: int) -> int:
        """Number of the ``.loc`` in force at the beginning of a line, or NO_LOC."""
        found = bisect_left(self.loc_lines, line) - 1
        body = bisect_right(self.bodies, line) - 1
        return found if body >= 0 and found >= self.first_locs[body] else NO_LOC

    def body(self, name: str) -> tuple[int, int]:
        """Of a function: the line in which its body begins, and the number of its first ``.loc`` or NO_LOC."""
        at = self.names.index(name)
        end = self.first_locs[at + 1] if at + 1 < len(self.first_locs) else len(self.locs)
        return self.bodies[at], self.first_locs[at] if self.first_locs[at] < end else NO_LOC


@final
class LineInfo:
    """What the inputs say of their sources. ``has_locs``: one of them has a ``.loc``; ``strings``: contents of .debug_str;
    ``debug``: sections of debug data and the labels of the code are wanted, too."""

    def __init__(self) -> None:
        self.texts: list[Text] = [Text("")]
        self.text = self.texts[0]  # the input at hand
        self.of_kernel: dict[str, Text] = {}
        self.files: dict[int, SourceFile] = {}
        self.strings = bytearray()
        self.has_locs = False
        self.debug = False
        self.names_added = False  # to the strings
        self.marks: list[Mark] = [Mark(NO_LOC, 0, "")]
        self._marks: dict[Mark, int] = {}
        self._names: dict[str, int] = {}  # of functions of the module that were inlined -> offset in the strings
        self._last: dict[tuple[int, int, int], int] = {}  # file, line, column -> number of the last such .loc

    # -- what an input says --------------------------------------------------------------------------------

    def begin_text(self, text: str) -> None:
        """What follows comes from another input."""
        self.text = Text(text)
        if len(self.texts) == 1 and not self.texts[0].text:
            self.texts.clear()
        self.texts.append(self.text)
        self._last = {}

    def body(self, name: str, line: int, is_entry: bool) -> None:
        """The body of a function begins in a line of the PTX."""
        self.text.names.append(name)
        self.text.bodies.append(line)
        self.text.first_locs.append(len(self.text.locs))
        if is_entry:
            self.of_kernel[name] = self.text

    def loc(self, file: int, line: int, column: int, ptx_line: int, inlined: tuple[str, int, tuple[int, int, int]] | None) -> int:
        """A ``.loc``; ``inlined``: label and offset of the function's name, and the place where it was inlined."""
        self.has_locs = True
        made = Loc(file, line, column, ptx_line)
        if inlined is not None:
            label, offset, outer = inlined
            made = Loc(file, line, column, ptx_line, self._last.get(outer, NO_LOC), label, offset)
        number = self._last[file, line, column] = len(self.text.locs)
        self.text.locs.append(made)
        self.text.loc_lines.append(ptx_line)
        return number

    def section(self, name: str, text: str) -> None:
        """The text of a ``.section``: names are kept always, other debug data where it is wanted."""
        if self.debug:
            self.text.sections.append((name, text))
        if name != STRINGS:
            return
        for found in _DATA.finditer(text):
            if found[1]:
                self.text.labels[found[1]] = len(self.strings)
            elif found[2]:
                size = int(found[2]) // 8
                for value in found[3].split(","):
                    self.strings += (number_of(value.strip()) & (1 << 8 * size) - 1).to_bytes(size, "little")

    # -- origins ---------------------------------------------------------------------------------------------

    def mark(self, loc: int, call: int = 0, callee: str = "") -> int:
        """The bits of an origin for a mark."""
        wanted = Mark(loc, call, callee)
        number = self._marks.get(wanted)
        if number is None:
            number = self._marks[wanted] = len(self.marks)
            self.marks.append(wanted)
        return number << LINE_BITS

    def inlined(self, origin: int, call: int, callee: str) -> int:
        """The origin of an instruction of the body of ``callee`` where it stands in the place of the call of that origin."""
        mark = self.marks[origin >> LINE_BITS]
        if mark.call:
            return origin & LINE | self.mark(mark.loc, self.inlined(mark.call, call, callee), mark.callee)
        return origin & LINE | self.mark(mark.loc, call, callee)

    def node(self, text: Text, origin: int) -> Node | None:
        """The row of an origin; that of the call where an inlined body tells nothing, None where nothing is known."""
        mark = self.marks[origin >> LINE_BITS]
        loc = mark.loc if mark.loc >= 0 else text.loc_at(origin & LINE)
        if loc >= 0:
            return Node(loc, mark.call, mark.callee)
        return self.node(text, mark.call) if mark.call else None

    def outer(self, text: Text, node: Node) -> Node | None:
        """The row of the place where the function of a row was inlined, None for none."""
        outer = text.locs[node.loc].outer
        if outer >= 0:
            return Node(outer, node.call, node.callee)
        return self.node(text, node.call) if node.call else None

    def name(self, text: Text, node: Node) -> int:
        """Offset in .debug_str of the name of the function that was inlined there; that of a function of the module is added."""
        loc = text.locs[node.loc]
        if loc.outer >= 0:
            return text.labels.get(loc.label, 0) + loc.offset
        if not node.call:
            return 0
        known = self._names.get(node.callee)
        if known is None:
            known = self._names[node.callee] = self._place(node.callee)
        return known

    def _place(self, name: str) -> int:
        """Offset in .debug_str of a name, which is added where it is not there."""
        wanted = name.encode() + b"\0"
        found = self.strings.find(b"\0" + wanted)
        self.names_added = True
        if self.strings.startswith(wanted):
            return 0
        if found < 0:
            if self.strings and self.strings[-1]:
                self.strings += b"\0"
            found = len(self.strings) - 1
            self.strings += wanted
        return found + 1


def number_of(text: str) -> int:
    """The value of an integer of PTX."""
    digits = text.rstrip("U")
    return int(digits, 8) if _OCTAL.fullmatch(digits.lstrip("-")) else int(digits, 0)
