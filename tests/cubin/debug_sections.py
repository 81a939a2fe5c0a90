"""Readers of what debuggers read: call frames and the map of registers, by their formats alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from oric.support.elf import Cubin

STACK = 0x5000001
CLASS_BITS = 24


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, size: int) -> int:
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def uleb(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def text(self) -> str:
        end = self.data.index(0, self.at)
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found


class Frame(NamedTuple):
    """How to leave a function at a place: the frame address is a register plus an offset; what the caller had in a register is
    there still (None) or that many bytes below the frame address; registers that are not in ``rules`` are lost."""

    register: int
    offset: int
    rules: dict[int, int | None]
    return_column: int


def _run(reader: Reader, frame: Frame, first: dict[int, int | None], place: int | None) -> Frame:
    """The rules at a place in the code; None: behind all instructions."""
    rules, register, offset, at = dict(frame.rules), frame.register, frame.offset, 0
    while reader.at < len(reader.data):
        op = reader.number(1)
        if op == 0x04:
            at += 4 * reader.number(4)
            if place is not None and at > place:
                break
        elif op == 0x0C:
            register, offset = reader.uleb(), reader.uleb()
        elif op == 0x05:
            number = reader.uleb()
            rules[number] = 4 * reader.uleb()
        elif op == 0x06:
            number = reader.uleb()
            rules[number] = first[number]
        elif op == 0x07:
            rules.pop(reader.uleb(), None)
        elif op == 0x08:
            rules[reader.uleb()] = None
        else:
            assert op == 0, hex(op)
    return Frame(register, offset, rules, frame.return_column)


def frame_units(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Offsets and bodies of the units of a .debug_frame of 64 bits."""
    at = 0
    while at < len(data):
        assert data[at : at + 4] == b"\xff" * 4
        (size,) = struct.unpack_from("<Q", data, at + 4)
        yield at, data[at + 12 : at + 12 + size]
        at += 12 + size


class Frames:
    """The call frames of a cubin, by the names of functions."""

    def __init__(self, cubin: Cubin) -> None:
        section = cubin.section(".debug_frame")
        assert section is not None
        names = {r.offset: cubin.symbols[r.symbol].name for r in cubin.relocations_of(section.index)}
        self.units: dict[str, tuple[Frame, bytes]] = {}
        self.sizes: dict[str, int] = {}
        common: dict[int, Frame] = {}
        for at, body in frame_units(bytes(section.data)):
            if body[:8] == b"\xff" * 8:
                reader = Reader(body)
                reader.at = 8
                assert [reader.number(1) for _ in range(4)] == [3, 0, 4, 0x7C]
                common[at] = _run(reader, Frame(0, 0, {}, reader.uleb()), {}, None)
            else:
                which, _, size = struct.unpack_from("<QQQ", body)
                name = names[at + 12 + 8]
                self.units[name], self.sizes[name] = (common[which], body[24:]), size

    def at(self, name: str, place: int) -> Frame:
        """How to leave a function in front of the instruction at a place."""
        first, moves = self.units[name]
        return _run(Reader(moves), first, first.rules, place)


class Place(NamedTuple):
    """Word ``word`` of a register of the PTX is in ``register`` (class above 24 bits) from ``start`` to ``end``."""

    name: str
    word: int
    register: int
    start: int
    end: int
    type: int


def register_map(cubin: Cubin) -> dict[str, list[Place]]:
    """By function, where the registers of the PTX are."""
    sections = [cubin.section(name) for name in (".nv_debug_info_reg_sass", ".nv_debug_info_reg_type")]
    assert sections[0] is not None and sections[1] is not None
    places, types = Reader(bytes(sections[0].data)), Reader(bytes(sections[1].data))
    found: dict[str, list[Place]] = {}
    while places.at < len(places.data):
        function, count = places.text(), places.number(4)
        assert (types.text(), types.number(4)) == (function, count)
        rows = found[function] = []
        for _ in range(count):
            word, name = places.number(4), places.text()
            rows.append(Place(name, word, *(places.number(4) for _ in range(3)), types.number(1)))
    assert types.at == len(types.data)
    return found
