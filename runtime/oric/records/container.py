"""The file of section records: a header, the section table of 32-byte entries, and the payloads behind it.

Payloads begin at multiples of 16, one behind the other in the order of their entries: behind ``size`` bytes the cursor goes on
by ``(size + 15) & ~15``. Entries may point to the payload of an
earlier one, all of it or (with no bytes of their own) none of it.

Source: Data structures, "Section Record Format"; header and checksums are this project's (``spec/section_tags.yaml``).
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from functools import cache
from typing import Any, Final

from oric_tables import op_tables, ops, phases, record_tags, registers
from oric_tables.named import NamedTuple

from oric.support.version import VERSION

from .codec import RecordError

_ENTRY: Final = struct.Struct(record_tags.ENTRY[0])
_FILE: Final = struct.Struct(record_tags.FILE[0])
_ENTRY_BYTES: Final = record_tags.ENTRY_BYTES
_FILE_BYTES: Final = record_tags.FILE_BYTES
_ALIGN: Final = record_tags.PAYLOAD_ALIGN
_MAGIC: Final = int.from_bytes(record_tags.MAGIC.encode() + b"\0", "little")
_MOST_BYTES: Final = (1 << 32) - 1  # of a payload
FULL: Final = 1  # flags of a file: with the extended tags ...
WRAPPED: Final = 2  # ... and with records around all sections
NAMES: Final = {tag.tag: tag for tag in record_tags.TAGS}
TAG: Final = {tag.name: tag.tag for tag in record_tags.TAGS}


class Section(NamedTuple):
    """A section: its tag, its payload, elements, and what the tag means by the two fields behind them.

    ``shares``: the section whose payload it has, -1 for one of its own; ``offset``: of the payload in the file that it is from.
    """

    tag: int
    payload: bytes
    elements: int = 0
    aux: int = 0
    aux_2: int = 0
    shares: int = -1
    offset: int = 0


class RecordFile(NamedTuple):
    """The sections of a file, its flags, and whether the tables of this build give its numbers their meaning."""

    sections: list[Section]
    flags: int
    own_build: bool


def name_of(tag: int) -> str:
    """A tag as messages name it."""
    return f"tag {tag:#x} ({NAMES[tag].name})" if tag in NAMES else f"tag {tag:#x} (unknown)"


def behind(cursor: int, size: int) -> int:
    """Where the payload behind one of ``size`` bytes begins."""
    return cursor + (size + _ALIGN - 1) // _ALIGN * _ALIGN


@cache
def build() -> tuple[int, int]:
    """A digest of the tables that give numbers in a file their meaning, in two halves."""
    digest = hashlib.sha256(VERSION.encode())
    columns = [getattr(op_tables, name) for name in sorted(vars(op_tables)) if name.isupper()]
    mods = [
        (op.number, op.word, op.name, [(m.name, m.shift, m.width, sorted(m.values.items())) for m in op.mods.values()])
        for op in ops.OPS
        if op is not None
    ]
    files = sorted((name, value) for name, value in vars(registers).items() if name.isupper() and isinstance(value, (int, tuple)))
    for part in (columns, mods, files, [tuple(phase) for phase in phases.PHASES], record_tags.STATE, record_tags.TAGS):
        digest.update(repr(part).encode())
    low, high = struct.unpack("<QQ", digest.digest()[:16])
    return low, high


def write(sections: list[Section], flags: int) -> bytes:
    """A file of sections."""
    cursor = behind(_FILE_BYTES, _ENTRY_BYTES * len(sections))
    start = cursor
    places: list[int] = []
    table, body = bytearray(), bytearray()
    for section in sections:
        at = cursor if section.shares < 0 else places[section.shares]
        places.append(at)
        table += _entry(section, at, zlib.crc32(section.payload))
        if section.shares < 0:
            body += section.payload + bytes(-len(section.payload) % _ALIGN)
            cursor = behind(cursor, len(section.payload))
    table += bytes(start - _FILE_BYTES - len(table))
    values = {
        "magic": _MAGIC,
        "version": record_tags.VERSION,
        "entries": len(sections),
        "size": cursor,
        "flags": flags,
        "checksum": 0,
        "build_low": build()[0],
        "build_high": build()[1],
    }
    values["checksum"] = zlib.crc32(table, zlib.crc32(_head(values)))
    return _head(values) + bytes(table) + bytes(body)


def _head(values: dict[str, int]) -> bytes:
    return _FILE.pack(*(values[name] for name in record_tags.FILE[1])).ljust(_FILE_BYTES, b"\0")


def _entry(section: Section, place: int, checksum: int) -> bytes:
    if len(section.payload) > _MOST_BYTES:
        raise RecordError(f"{name_of(section.tag)}: a payload of {len(section.payload)} bytes does not fit an entry")
    values = {
        "type_tag": section.tag,
        "data_size": len(section.payload),
        "data_ptr": place,
        "element_count": section.elements,
        "aux_field": section.aux,
        "aux_field_2": section.aux_2,
        "checksum": checksum,
    }
    return _ENTRY.pack(*(values[name] for name in record_tags.ENTRY[1])).ljust(_ENTRY_BYTES, b"\0")


def read(data: bytes) -> RecordFile:
    """The sections of a file, of tags that are known and of others.

    Raises:
        RecordError: it is no record file, of another version, or damaged.
    """
    if len(data) < _FILE_BYTES:
        raise RecordError(f"this is no record file: it has {len(data)} bytes, the header has {_FILE_BYTES}", len(data))
    found = dict(zip(record_tags.FILE[1], _FILE.unpack_from(data), strict=True))
    if found["magic"] != _MAGIC:
        raise RecordError("this is no record file: it does not begin with ORICREC")
    if found["version"] != record_tags.VERSION:
        age = "newer" if found["version"] > record_tags.VERSION else "older"
        raise RecordError(f"version {found['version']} of the format is {age} than this program, which reads version "
                          f"{record_tags.VERSION}", _offset("version"))  # fmt: skip
    if found["size"] != len(data):
        state = "the file is cut off" if found["size"] > len(data) else "something stands behind the end of the file"
        raise RecordError(f"{state}: it has {len(data)} bytes, the header says {found['size']}", min(len(data), found["size"]))
    end = behind(_FILE_BYTES, _ENTRY_BYTES * found["entries"])
    if end > len(data):
        raise RecordError(f"a table of {found['entries']} sections does not fit the file", _offset("entries"))
    checked = zlib.crc32(data[_FILE_BYTES:end], zlib.crc32(_head({**found, "checksum": 0})))
    if checked != found["checksum"] or data[:_FILE_BYTES] != _head(found) or any(data[_table_end(found["entries"]) : end]):
        raise RecordError("the header or the section table is damaged: another checksum", _offset("checksum"))
    if found["flags"] & ~(FULL | WRAPPED):
        raise RecordError(f"there are flags {found['flags']:#x}, which nobody knows", _offset("flags"))
    sections = _sections(data, found["entries"], end)
    return RecordFile(sections, found["flags"], (found["build_low"], found["build_high"]) == build())


def _offset(field: str) -> int:
    """The byte of a field in the header."""
    code = record_tags.FILE[0][1:]
    return struct.calcsize("<" + code[: record_tags.FILE[1].index(field)])


def _table_end(entries: int) -> int:
    return int(_FILE_BYTES + _ENTRY_BYTES * entries)


def _sections(data: bytes, count: int, start: int) -> list[Section]:
    cursor = start
    out: list[Section] = []
    places: dict[int, int] = {}  # offset -> the section whose payload lies there
    sums: list[int] = []
    for number in range(count):
        at = _FILE_BYTES + _ENTRY_BYTES * number
        raw = data[at : at + _ENTRY_BYTES]
        entry: dict[str, Any] = dict(zip(record_tags.ENTRY[1], _ENTRY.unpack_from(raw), strict=True))
        tag, size, place = entry["type_tag"], entry["data_size"], entry["data_ptr"]
        where = f"section {number}, {name_of(tag)}"
        shares = -1
        if place != cursor:
            shares = places.get(place, -1)
            if shares < 0 or size not in (0, len(out[shares].payload)):
                raise RecordError(
                    f"{where}: the payload is at {place:#x}, not at {cursor:#x} and not that of another section", at
                )
        if place + size > len(data):
            raise RecordError(f"{where}: the payload of {size} bytes ends beyond the file", at)
        payload = out[shares].payload if shares >= 0 and size else data[place : place + size]
        sums.append(sums[shares] if shares >= 0 and size else zlib.crc32(payload))
        if sums[number] != entry["checksum"]:
            raise RecordError(f"{where}: the payload is damaged: another checksum", place)
        section = Section(tag, payload, entry["element_count"], entry["aux_field"], entry["aux_field_2"], shares, place)
        if _entry(section, place, sums[number]) != raw:
            raise RecordError(f"{where}: bytes between the fields of its entry are not zero", at)
        if shares < 0:
            cursor = behind(cursor, size)
            if cursor > len(data) or any(data[place + size : cursor]):
                raise RecordError(f"{where}: what fills up to the next payload is cut off or not zero", place + size)
            if size:
                places[place] = number
        out.append(section)
    if cursor != len(data):
        raise RecordError(f"{len(data) - cursor} bytes belong to no section", cursor)
    return out
