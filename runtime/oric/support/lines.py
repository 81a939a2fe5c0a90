"""Source lines of machine code: the line number program of ``.debug_line``, with the inlined calls that NVIDIA's tools add.

Source: DWARF 2 to 4, line number information; the extended opcode 0x90 (row of the call, name) as observed in ptxas 13.0 output
against what ``nvdisasm -gi`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .elf import Cubin, CubinError

SOURCES: Final = ".debug_line"
PTX_LINES: Final = ".nv_debug_line_sass"
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_END_SEQUENCE, _SET_ADDRESS, _DEFINE_FILE, _INLINED_CALL = 1, 2, 3, 0x90
_NO_LINE: Final = 0
_DEEPEST: Final = 64  # inlined calls within each other
_VERSIONS: Final = (2, 3, 4)
_VERSION_WITH_OPS: Final = 4  # has the number of operations of a VLIW instruction


class SourceLine(NamedTuple):
    """A place in a source file; ``str()`` is ``FILE:LINE``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(slots=True)
class _Row:
    """A row of the line table: where it applies, and the number of the row of the call that was inlined (0: none)."""

    section: int
    address: int
    file: int
    line: int
    caller: int
    ends: bool = False


@dataclass(slots=True)
class _Program:
    """The line number program of one compilation unit."""

    directories: list[str] = field(default_factory=lambda: [""])
    files: list[tuple[str, int]] = field(default_factory=lambda: [("", 0)])
    rows: list[_Row] = field(default_factory=list)
    first: int = 0  # row that began the present sequence

    def end_sequence(self, row: _Row) -> None:
        """Rows of calls are counted in their sequence: make them numbers of the program."""
        for i in range(self.first, len(self.rows)):
            self.rows[i].caller += self.first if self.rows[i].caller else 0
        self.rows.append(_Row(row.section, row.address, row.file, row.line, 0, True))
        self.first = len(self.rows)

    def path(self, number: int) -> str:
        """The path of a file of the table."""
        name, directory = self.files[number] if number < len(self.files) else ("", 0)
        folder = self.directories[directory] if directory < len(self.directories) else ""
        return name if not folder or name.startswith("/") else f"{folder}/{name}"

    def places(self, row: _Row) -> list[SourceLine]:
        """The innermost place and then the calls that it was inlined through."""
        out = [SourceLine(self.path(row.file), row.line)]
        while 0 < row.caller <= len(self.rows) and len(out) < _DEEPEST:
            row = self.rows[row.caller - 1]
            out.append(SourceLine(self.path(row.file), row.line))
        return out


class _Reader:
    """Numbers and strings of a section; ends with an error when it is cut short."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end

    def bytes(self, size: int) -> bytes:
        if size > self.end - self.at:
            raise CubinError(f"{SOURCES}: truncated at {self.at:#x}")
        self.at += size
        return self.data[self.at - size : self.at]

    def fixed(self, size: int) -> int:
        return int.from_bytes(self.bytes(size), "little")

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.fixed(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise CubinError(f"{SOURCES}: a number at {self.at:#x} has more than 64 bits")

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> str:
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            raise CubinError(f"{SOURCES}: truncated at {self.at:#x}")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text


def source_lines(cubin: Cubin, table: str = SOURCES) -> dict[int, dict[int, list[SourceLine] | None]]:
    """For each text section, by the offsets where that changes, where the code comes from: the line, then the calls that it was
    inlined through. None: from there on nothing is known. ``table``: the section, ``PTX_LINES`` for lines of the PTX.

    Raises:
        CubinError: the line information is damaged or of a version that is not known.
    """
    by_section: dict[int, dict[int, list[SourceLine] | None]] = {}
    for program in _programs(cubin, table):
        for row in program.rows:
            places = None if row.ends or row.line == _NO_LINE else program.places(row)
            rows = by_section.setdefault(row.section, {})
            if places is not None or row.address not in rows:
                rows[row.address] = places
    return by_section


def _programs(cubin: Cubin, table: str) -> Iterator[_Program]:
    section = cubin.section(table)
    if section is None:
        return
    places = {r.offset: (cubin.symbols[r.symbol], r.addend) for r in cubin.relocations_of(section.index)}
    addresses = {at: (symbol.section, symbol.value + addend) for at, (symbol, addend) in places.items()}
    data, at = section.data, 0
    while at < len(data):
        reader = _Reader(data, at, len(data))
        size = reader.fixed(4)
        wide = size == 0xFFFFFFFF
        if wide:
            size = reader.fixed(8)
        if size > len(data) - reader.at:
            raise CubinError(f"{SOURCES}: the unit at {at:#x} is longer than the section")
        at = reader.at + size
        reader.end = at
        yield _program(reader, wide, addresses)


def _program(reader: _Reader, wide: bool, addresses: dict[int, tuple[int, int]]) -> _Program:
    out = _Program()
    version = reader.fixed(2)
    if version not in _VERSIONS:
        raise CubinError(f"{SOURCES}: line information of DWARF version {version} is not supported")
    header = reader.fixed(8 if wide else 4)
    begin = reader.at + header
    step = reader.fixed(1)
    if version >= _VERSION_WITH_OPS:
        reader.fixed(1)
    reader.fixed(1)  # default of is_stmt
    line_base, line_range, opcode_base = reader.fixed(1), reader.fixed(1), reader.fixed(1)
    line_base -= (line_base & 0x80) << 1
    if line_range == 0 or opcode_base == 0:
        raise CubinError(f"{SOURCES}: a unit's header is damaged")
    lengths = [0, *reader.bytes(opcode_base - 1)]
    while text := reader.string():
        out.directories.append(text)
    while text := reader.string():
        out.files.append((text, _file_entry(reader)))
    reader.at = begin
    if begin > reader.end:
        raise CubinError(f"{SOURCES}: a unit's header is longer than the unit")
    _run(reader, out, addresses, (step, line_base, line_range, opcode_base, lengths))
    return out


def _file_entry(reader: _Reader) -> int:
    """The rest of a file's entry; returns the number of its directory."""
    directory = reader.unsigned()
    reader.unsigned()  # time
    reader.unsigned()  # size
    return directory


def _run(
    reader: _Reader, out: _Program, addresses: dict[int, tuple[int, int]], head: tuple[int, int, int, int, list[int]]
) -> None:
    """Run the state machine of the line number program."""
    step, line_base, line_range, opcode_base, lengths = head
    row = _Row(0, 0, 1, 1, 0)
    while reader.at < reader.end:
        opcode = reader.fixed(1)
        if opcode >= opcode_base:
            row.address += (opcode - opcode_base) // line_range * step
            row.line += line_base + (opcode - opcode_base) % line_range
            out.rows.append(_Row(row.section, row.address, row.file, row.line, row.caller))
        elif opcode == 0:
            row = _extended(reader, out, addresses, row)
        elif opcode == _COPY:
            out.rows.append(_Row(row.section, row.address, row.file, row.line, row.caller))
        elif opcode == _ADVANCE_PC:
            row.address += reader.unsigned() * step
        elif opcode == _ADVANCE_LINE:
            row.line += reader.signed()
        elif opcode == _SET_FILE:
            row.file = reader.unsigned()
        elif opcode == _CONST_ADD_PC:
            row.address += (255 - opcode_base) // line_range * step
        elif opcode == _FIXED_ADVANCE_PC:
            row.address += reader.fixed(2)
        else:  # is_stmt, basic blocks, columns ...: nothing that is printed
            for _ in range(lengths[opcode]):
                reader.unsigned()


def _extended(reader: _Reader, out: _Program, addresses: dict[int, tuple[int, int]], row: _Row) -> _Row:
    """One extended opcode; returns the state behind it."""
    size = reader.unsigned()
    body = _Reader(reader.data, reader.at, reader.at + size)
    reader.bytes(size)
    if size == 0:
        return row
    opcode = body.fixed(1)
    if opcode == _END_SEQUENCE:
        out.end_sequence(row)
        return _Row(0, 0, 1, 1, 0)
    if opcode == _SET_ADDRESS:
        row.section, row.address = addresses.get(body.at, (0, 0))
    elif opcode == _DEFINE_FILE:
        out.files.append((body.string(), _file_entry(body)))
    elif opcode == _INLINED_CALL:
        row.caller = body.unsigned()
    return row
