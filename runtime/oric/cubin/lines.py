"""Line tables: ``.debug_line`` (machine code to source lines), ``.nv_debug_line_sass`` (machine code to lines of the PTX) and
``.nv_debug_ptx_txt`` (those lines), ``.debug_str`` with the names of functions that were inlined.

Source: DWARF 2, line number information; observed (ptxas 13.0.88): one sequence for each kernel, distances in code as signed
numbers, special opcodes for one instruction, the extended opcode 0x90 (number of the row of the call in its sequence, offset of
the name in ``.debug_str``). A row has no column. What ptxas leaves out is there here: a row where only the file or the call
changes (docs/debug.md).
"""

from __future__ import annotations

import re
from struct import pack
from typing import Final

from oric_tables import cubin_layout as tables

from oric.ir.encoded import EncodedFunction
from oric.ir.lineinfo import LineInfo, Node, Text, line_of

_VERSION: Final = 2
_LINE_BASE, _LINE_RANGE, _OPCODE_BASE = -5, 14, 10
_ARGUMENTS: Final = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1))  # of the standard opcodes
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 1, 2, 3, 4
_END_SEQUENCE, _SET_ADDRESS, _INLINED_CALL = 1, 2, 0x90
_ADDRESS: Final = bytes(8)
_LENGTH: Final = 4  # bytes of the length of a unit
_NAMES: Final = bytes(4)  # behind the files where something was inlined: where names begin in .debug_str, it seems
_ADDRESS_AT: Final = 3  # offset of the address in the opcode that begins a sequence
_FILE_BITS: Final = 0xFFFF  # of the number of a file
_NO_FILE: Final = -1
_PTX: Final = 0  # the number of the file that the PTX is
# Lines of the PTX that its text is empty for: they say nothing of code.
_SILENT: Final = re.compile(r"//|\.(?:loc|file|b8|b32|b64)\b")
_FIRST: Final = ("/", ".")

# A section: its kind, contents, and the places in it of the addresses of kernels, each with the number of the kernel.
Section = tuple[int, bytes, list[tuple[int, int]]]


def line_tables(info: LineInfo, kernels: list[EncodedFunction]) -> list[Section]:
    """The sections that tell where the code of ``kernels`` comes from, in the file's order."""
    ptx_text, bases = _ptx_text(info)
    source, sass = _Table(), _Table()
    for number, kernel in enumerate(kernels):
        if not kernel.origins:  # of an input without .loc
            continue
        text = info.of_kernel[kernel.name]
        units = _units(kernel, text)
        sass.add(number, _ptx_rows(kernel, units, bases[id(text)]), len(kernel.words))
        source.add(number, _source_rows(info, text, kernel, units), len(kernel.words))
    inlined = info.names_added or any(loc.outer >= 0 for text in info.texts for loc in text.locs)
    head = _header(*_files(info), _NAMES if inlined else b"")
    found: list[Section] = [source.section(tables.DEBUG_LINE, head)]
    last: list[Section] = [
        sass.section(tables.DEBUG_LINE_SASS, _header([], []) if kernels else head),
        (tables.DEBUG_PTX_TXT, ptx_text, []),
    ]
    strings: list[Section] = [(tables.DEBUG_STR, bytes(info.strings), [])] if info.strings else []
    return found + strings + last if inlined else found + last + strings


# -- what the rows are ------------------------------------------------------------------------------------------------


class _Unit:
    """A kernel, or a function behind it: where its code begins, where its body does in the PTX (and the first .loc there)."""

    __slots__ = ("body_line", "first_loc", "origins", "start")

    def __init__(self, start: int, body: tuple[int, int], origins: list[tuple[int, int]]) -> None:
        self.start = start
        self.body_line, self.first_loc = body
        self.origins = origins


def _units(kernel: EncodedFunction, text: Text) -> list[_Unit]:
    prefix = f"${kernel.name}$"
    places = [(kernel.name, 0)] + [(name.removeprefix(prefix), start) for name, start, _ in kernel.functions]
    # Code that stands for macros comes last and is of no place in the PTX.
    return [_Unit(start, text.body(name), part) for (name, start), part in zip(places, kernel.origins, strict=False)]


def _ptx_rows(kernel: EncodedFunction, units: list[_Unit], base: int) -> _Sequence | None:
    """Lines of the PTX; those of nothing in it are of where the body begins."""
    rows = _Sequence()
    for unit in units:
        rows.put(unit.start, _PTX, base + unit.body_line)
        for at, origin in unit.origins:
            rows.put(at, _PTX, base + (line_of(origin) or unit.body_line))
    return rows


def _source_rows(info: LineInfo, text: Text, kernel: EncodedFunction, units: list[_Unit]) -> _Sequence | None:
    """Source lines; None where none is known. A unit begins with its first ``.loc``, wherever that stands."""
    rows = _Rows(info, text)
    for unit in units:
        if unit.first_loc >= 0:
            rows.put(unit.start, Node(unit.first_loc, 0, ""))
        known: dict[int, Node | None] = {}
        for at, origin in unit.origins:
            if origin not in known:
                known[origin] = info.node(text, origin) if line_of(origin) else None
            node = known[origin]
            if node is not None:
                rows.put(at, node)
    return rows.sequence if rows.sequence.count else None


class _Rows:
    """Rows of a sequence with the rows of the calls that they were inlined through."""

    def __init__(self, info: LineInfo, text: Text) -> None:
        self.info = info
        self.text = text
        self.sequence = _Sequence()
        self.rows: dict[Node, int] = {}  # of calls -> their numbers
        self.callers: dict[Node, tuple[int, int]] = {}  # of what was inlined -> row of the call, name
        self.last: Node | None = None

    def put(self, at: int, node: Node) -> None:
        """A row, unless its line is 0: nobody knows then."""
        if node is self.last:
            return
        loc = self.text.locs[node.loc]
        if loc.line:
            self.last = node
            found = self.callers.get(node)
            if found is None:
                found = self.callers[node] = self._inlined(at, node)
            self.sequence.put(at, loc.file, loc.line, found[0], found[1])

    def _inlined(self, at: int, node: Node) -> tuple[int, int]:
        """The number of the row of the call that a row was inlined through, and the name of its function."""
        outer = self.info.outer(self.text, node)
        if outer is None:
            return 0, 0
        if outer not in self.rows:
            loc = self.text.locs[outer.loc]
            self.sequence.put(at, loc.file, loc.line, *self._inlined(at, outer), True)
            self.rows[outer] = self.sequence.count
        return self.rows[outer], self.info.name(self.text, node)


# -- their encoding ---------------------------------------------------------------------------------------------------


class _Sequence:
    """The line number program of a kernel; ``count``: the rows that it has made."""

    def __init__(self) -> None:
        self.data = bytearray(_extended(_SET_ADDRESS, _ADDRESS))
        self.count = 0
        self.file = _NO_FILE
        self.line = 1
        self.at = 0
        self.caller = 0

    def put(self, at: int, file: int, line: int, caller: int = 0, name: int = 0, call: bool = False) -> None:
        """Code from ``at`` on is of a line; ``caller`` and ``name``: of what was inlined there. ``call``: the row is there to be
        referred to, and made anew unless it is the last one."""
        file &= _FILE_BITS
        same = line == self.line and file == self.file and caller == self.caller
        if same and not (call and at != self.at):
            return
        out = self.data
        if file != self.file:
            out += bytes((_SET_FILE,)) + _unsigned(file)
        if caller != self.caller:
            out += _extended(_INLINED_CALL, _unsigned(caller) + _unsigned(name))
        self._row(_signed32(line) - _signed32(self.line), at - self.at)
        self.file, self.line, self.caller, self.at = file, line, caller, at
        self.count += 1

    def _row(self, lines: int, distance: int) -> None:
        special = lines - _LINE_BASE + _LINE_RANGE * distance + _OPCODE_BASE
        if lines and distance and _LINE_BASE <= lines < _LINE_BASE + _LINE_RANGE and special < 1 << 8:
            self.data.append(special)
            return
        if lines:
            self.data += bytes((_ADVANCE_LINE,)) + signed(lines)
        if distance:
            self.data += bytes((_ADVANCE_PC,)) + signed(distance)
        self.data.append(_COPY)

    def end(self, size: int) -> bytes:
        """The whole program of code of ``size`` bytes."""
        rest = bytes((_ADVANCE_PC,)) + signed(size - self.at) if size > self.at else b""
        return bytes(self.data) + rest + _extended(_END_SEQUENCE, b"")


class _Table:
    """The programs of a section; ``places``: of the addresses of kernels in them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.places: list[tuple[int, int]] = []

    def add(self, kernel: int, rows: _Sequence | None, size: int) -> None:
        """The rows of a kernel, if it has some."""
        if rows is not None:
            self.places.append((len(self.data) + _ADDRESS_AT, kernel))
            self.data += rows.end(size)

    def section(self, kind: int, head: bytes) -> Section:
        """One unit of them."""
        before = _LENGTH + len(head)
        return kind, pack("<I", len(head) + len(self.data)) + head + self.data, [(before + at, n) for at, n in self.places]


def _header(folders: list[str], files: list[tuple[str, int, int, int]], names_at: bytes = b"") -> bytes:
    """The head of a unit behind its length. ``files``: name, number of the folder, time and size."""
    fixed = pack("<BBbBB", 1, 1, _LINE_BASE, _LINE_RANGE, _OPCODE_BASE) + _ARGUMENTS
    listed = b"".join(folder.encode() + b"\0" for folder in folders) + b"\0"
    for name, *numbers in files:
        listed += name.encode() + b"\0" + b"".join(map(_unsigned, numbers))
    rest = fixed + listed + b"\0" + names_at
    return pack("<HI", _VERSION, len(rest)) + rest


def _files(info: LineInfo) -> tuple[list[str], list[tuple[str, int, int, int]]]:
    """Folders and files by their numbers. Numbers that are left out are left out here, too, as ptxas does it."""
    folders: dict[str, int] = {"": 0}
    files = []
    for _, file in sorted(info.files.items()):
        cut = max(file.name.rfind("/"), file.name.rfind("\\"))
        folder, name = (file.name[:cut], file.name[cut + 1 :]) if cut > 0 else ("", file.name)
        files.append((name, folders.setdefault(folder, len(folders)), file.time, file.size))
    return list(folders)[1:], files


def _ptx_text(info: LineInfo) -> tuple[bytes, dict[int, int]]:
    """The lines of all inputs, up to the last one that is not empty, each with a zero behind it, and the number of lines in front
    of each input."""
    lines: list[str] = []
    bases: dict[int, int] = {}
    for text in info.texts:
        bases[id(text)] = len(lines)
        for line in text.text.split("\n"):
            shown = line.lstrip(" \t")
            lines.append("" if shown.startswith(_FIRST) and _SILENT.match(shown) else shown)
    shown = "\0".join(lines).replace("\r\0", "\0").rstrip("\r\0")
    return shown.encode("utf-8", "replace") + b"\0" if shown else b"", bases


def _extended(opcode: int, operands: bytes) -> bytes:
    return b"\0" + _unsigned(1 + len(operands)) + bytes((opcode,)) + operands


def _unsigned(value: int) -> bytes:
    """LEB128."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """LEB128 of a number with a sign."""
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


def _signed32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)
