"""The line number program of a section, opcode by opcode: what a decoder that only wants lines passes over is here, too."""

from __future__ import annotations

from typing import NamedTuple

from oric.support.elf import Cubin


class Row(NamedTuple):
    """A row as it is made: the opcodes in front of it are in ``quiet`` when they made none (distances in code apart)."""

    address: int
    file: int
    line: int
    caller: int
    name: int


class Sequence(NamedTuple):
    """The program of one kernel: its bytes (the address 0), its rows, where it ends; ``plain``: every change makes a row."""

    kernel: str
    data: bytes
    rows: list[Row]
    end: int
    plain: bool


def number(data: bytes, at: int, signed: bool = False) -> tuple[int, int]:
    """LEB128: the number, and what is behind it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return (value - (1 << shift) if signed and data[at - 1] & 0x40 else value), at


def header(cubin: Cubin, section: str) -> bytes:
    """The head of the only unit, without the length of the unit."""
    found = cubin.section(section)
    assert found is not None
    data = bytes(found.data)
    assert int.from_bytes(data[:4], "little") == len(data) - 4  # one unit
    return data[4 : 10 + int.from_bytes(data[6:10], "little")]


def sequences(cubin: Cubin, section: str) -> list[Sequence]:
    """The programs of all kernels, in their order."""
    found = cubin.section(section)
    assert found is not None
    data = bytes(found.data)
    kernels = {r.offset: cubin.symbols[r.symbol].name for r in cubin.relocations_of(found.index)}
    assert all((r.type, r.addend) == (2, 0) for r in cubin.relocations_of(found.index))
    at, out = 4 + len(header(cubin, section)), []
    while at < len(data):
        made, at = _sequence(data, at, kernels)
        out.append(made)
    assert [s.kernel for s in out] == [kernels[at] for at in sorted(kernels)]
    return out


def _sequence(data: bytes, at: int, kernels: dict[int, str]) -> tuple[Sequence, int]:
    begin = at
    assert data[at : at + 3] == b"\x00\x09\x02" and data[at + 3 : at + 11] == bytes(8)
    kernel, at = kernels[at + 3], at + 11
    address, file, line, caller, name, plain, rows = 0, 0, 1, 0, 0, True, []
    quiet = 0  # changes since the last row
    while True:
        opcode, at = data[at], at + 1
        if opcode == 0:
            size, at = number(data, at)
            if data[at] == 1:
                return Sequence(kernel, data[begin : at + size], rows, address, plain and quiet <= 1), at + size
            assert data[at] == 0x90
            caller, behind = number(data, at + 1)
            name, behind = number(data, behind)
            assert behind == at + size
            at = behind
        elif opcode == 2:
            distance, at = number(data, at, True)
            address += distance
            quiet += 1
        elif opcode == 3:
            distance, at = number(data, at, True)
            line += distance
        elif opcode == 4:
            file, at = number(data, at)
        else:
            assert opcode == 1 or opcode >= 10
            if opcode > 1:
                address += (opcode - 10) // 14
                line += (opcode - 10) % 14 - 5
            plain = plain and quiet <= (opcode == 1)
            quiet = 0
            rows.append(Row(address, file, line, caller, name))
