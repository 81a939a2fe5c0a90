"""The container of ELF-64 files, cubins and host programs alike: header, section headers, and reading within bounds.

Every number of the file is checked before use; :class:`CubinError` is the only exception.

Source: ELF-64 object file format.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .elf_format import ELF_MAGIC, FATBIN_MAGIC, HEADER, SECTION, SHT_STRTAB

_COPY_BUDGET: Final = 4  # sections may take this many times the bytes of the file (names and headers are copied twice)
_NAME_BUDGET: Final = 16  # names may take this many times the bytes of the file (overlapping string offsets)
_EXTENDED: Final = 0xFFFF  # e_shstrndx: the number is in sh_link of section 0


class CubinError(Exception):
    """The image is nothing that can be read; ``str()`` is one line that says why."""


class Header(NamedTuple):
    """The ELF header, in the order of the file."""

    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


class SectionHeader(NamedTuple):
    """One section header with its name."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entsize: int


class ElfImage:
    """An ELF-64 file in memory. Raises :class:`CubinError` when it has no whole header."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._names = _NAME_BUDGET * len(data) + 65536
        self._bytes = _COPY_BUDGET * len(data)
        if data[:4] != ELF_MAGIC:
            raise CubinError(f"not a cubin: {_what_is(data)}")
        if len(data) < HEADER.size:
            raise CubinError("truncated: the ELF header is incomplete")
        self.header = Header(*HEADER.unpack_from(data))
        if self.header.ident[4] != 2 or self.header.ident[5] != 1:
            raise CubinError("not a cubin: not a 64-bit little-endian ELF file")

    def within(self, what: str, offset: int, size: int) -> None:
        """Raise unless ``size`` bytes at ``offset`` lie in the file."""
        if offset > len(self.data) or size > len(self.data) - offset:
            raise CubinError(f"truncated: {what} ends at {offset + size:#x}, the file at {len(self.data):#x}")

    def slice(self, what: str, offset: int, size: int) -> bytes:
        """A copy of ``size`` bytes; all copies together may not be much longer than the file."""
        self.within(what, offset, size)
        self._bytes -= size
        if self._bytes < 0:
            raise CubinError(f"{what} overlaps others: sections are longer than the file")
        return self.data[offset : offset + size]

    def string(self, table: bytes, offset: int, what: str) -> str:
        """The name at ``offset`` of a string table; 0 is the empty name."""
        if offset == 0:
            return ""
        end = table.find(b"\0", offset)
        if offset >= len(table) or end < 0:
            raise CubinError(f"the name of {what} lies outside of its string table")
        self._names -= end - offset
        if self._names < 0:
            raise CubinError("names are longer than the file")
        try:
            return table[offset:end].decode("utf-8")
        except UnicodeDecodeError:
            raise CubinError(f"the name of {what} is not UTF-8") from None

    def section_headers(self) -> list[SectionHeader]:
        """All section headers, number 0 included; more than 65,279 sections are counted as the format says."""
        header = self.header
        if header.shoff == 0 and header.shnum == 0:
            raise CubinError("no section headers")
        if header.shentsize != SECTION.size:
            raise CubinError(f"section headers of {header.shentsize} bytes, not {SECTION.size}")
        count, names_at = header.shnum, header.shstrndx
        if count == 0 or names_at == _EXTENDED:
            self.within("the section header table", header.shoff, SECTION.size)
            first = SECTION.unpack_from(self.data, header.shoff)
            count = count or first[5]
            names_at = first[6] if names_at == _EXTENDED else names_at
        if count == 0:
            raise CubinError("no section headers")
        raw = self.slice("the section header table", header.shoff, count * SECTION.size)
        rows = list(SECTION.iter_unpack(raw))
        if names_at >= len(rows) or rows[names_at][1] != SHT_STRTAB:
            raise CubinError("the section names are missing")
        names = self.slice("the section name table", rows[names_at][4], rows[names_at][5])
        return [
            SectionHeader(self.string(names, name, f"section {index}"), kind, flags, offset, size, link, info, align, entsize)
            for index, (name, kind, flags, _, offset, size, link, info, align, entsize) in enumerate(rows)
        ]


def _what_is(data: bytes) -> str:
    if not data:
        return "the file is empty"
    return "a fatbin, which holds cubins" if data[:4] == FATBIN_MAGIC else "not an ELF file"
