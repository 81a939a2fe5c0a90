"""The cubins in a file, whatever holds them: a cubin itself, a fatbin, a host object or program, an archive of these.

Sources: ELF-64 object file format; the common ``ar`` format (System V names, GNU and BSD long names); sections as nvcc 12.8 and
13.0 write them into host objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from . import fatbin
from .elf_format import ELF_MAGIC, EM_CUDA, FATBIN_MAGIC, SHT_NOBITS
from .elf_image import CubinError, ElfImage

_AR_MAGIC: Final = b"!<arch>\n"
_THIN_MAGIC: Final = b"!<thin>\n"
_AR_HEADER: Final = 60
_AR_NAMES: Final = "//"
_AR_INDEXES: Final = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", "__.SYMDEF_64 SORTED")
_FAT_SECTIONS: Final = (".nv_fatbin", "__nv_relfatbin")  # the latter: device code that is still to be linked
_DEPTH: Final = 4  # containers within containers


class Image(NamedTuple):
    """A cubin and where it is: ``place`` is "" for a file that is one, else like ``member.o: .nv_fatbin entry 2``."""

    place: str
    data: bytes


class Contents(NamedTuple):
    """What a file holds: cubins, and what else was found and passed over (PTX ...), one line each."""

    images: list[Image]
    passed_over: list[str]


def read_contents(data: bytes) -> Contents:
    """All cubins in ``data``.

    Raises:
        CubinError: no container that is known, a damaged one, or one without any cubin.
    """
    out = Contents([], [])
    _collect(data, "", out, _DEPTH)
    if not out.images:
        found = f" (found: {', '.join(out.passed_over)})" if out.passed_over else ""
        raise CubinError(f"there is no cubin in this file{found}")
    return out


def is_container(data: bytes) -> bool:
    """True when ``data`` begins as one of the formats that :func:`read_contents` reads."""
    return data[:4] in {ELF_MAGIC, FATBIN_MAGIC} or data[:8] in {_AR_MAGIC, _THIN_MAGIC}


def _collect(data: bytes, place: str, out: Contents, depth: int) -> None:
    if depth == 0:
        raise CubinError(f"{place}: containers are nested too deeply")
    if data[:4] == FATBIN_MAGIC:
        _collect_fatbin(data, place, out, depth)
    elif data[:8] == _AR_MAGIC:
        for name, member in _members(data):
            if is_container(member):
                _collect(member, _join(place, name), out, depth - 1)
    elif data[:8] == _THIN_MAGIC:
        raise CubinError("a thin archive: its members are files of their own, give those")
    else:
        image = ElfImage(data)
        if image.header.machine == EM_CUDA:
            out.images.append(Image(place, data))
        else:
            _collect_host(image, place, out, depth)


def _collect_host(image: ElfImage, place: str, out: Contents, depth: int) -> None:
    for section in image.section_headers():
        if section.name in _FAT_SECTIONS and section.type != SHT_NOBITS:
            data = image.slice(f"section {section.name}", section.offset, section.size)
            _collect_fatbin(data, _join(place, section.name), out, depth)


def _collect_fatbin(data: bytes, place: str, out: Contents, depth: int) -> None:
    for number, entry in enumerate(fatbin.entries(data), 1):
        where = _join(place, f"entry {number}")
        if entry.kind == fatbin.ELF:
            _collect(entry.data, where, out, depth - 1)
        else:
            out.passed_over.append(f"{where}: {entry.kind_name} for sm_{entry.sm}")


def _join(place: str, part: str) -> str:
    return f"{place}: {part}" if place else part


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of the members of an archive, without its indexes."""
    at = len(_AR_MAGIC)
    long_names = b""
    while at < len(data):
        header = data[at : at + _AR_HEADER]
        if len(header) < _AR_HEADER or header[58:] != b"`\n":
            raise CubinError(f"truncated: the archive has no member header at {at:#x}")
        size_text = header[48:58].strip()
        if not size_text.isdigit():
            raise CubinError(f"the member of the archive at {at:#x} has no size")
        size = int(size_text)
        begin = at + _AR_HEADER
        if size > len(data) - begin:
            raise CubinError(f"truncated: the member of the archive at {at:#x} ends behind the file")
        at = begin + size + (size & 1)
        name = header[:16].decode("latin-1").rstrip(" ")
        body = data[begin : begin + size]
        if name == _AR_NAMES:
            long_names = body
            continue
        name, body = _long_name(name, body, long_names)
        if name not in _AR_INDEXES:
            yield name.removesuffix("/"), body


def _long_name(name: str, body: bytes, long_names: bytes) -> tuple[str, bytes]:
    """The member's name where the header only says where it is: GNU ``/123``, BSD ``#1/12``."""
    if name.startswith("#1/") and name[3:].isdigit():
        length = min(int(name[3:]), len(body))
        return body[:length].rstrip(b"\0").decode("utf-8", "replace"), body[length:]
    if name[:1] == "/" and name[1:].isdigit():
        start = int(name[1:])
        end = long_names.find(b"\n", start)
        if start >= len(long_names) or end < 0:
            raise CubinError(f"the name of the archive's member {name} is missing")
        return long_names[start:end].decode("utf-8", "replace"), body
    return name, body
