"""A CUDA ELF file under construction: sections and symbols in order of their making, then numbered and laid out.

What goes where (order of sections, links, program headers) comes from ``oric_tables.cubin_layout``.
Source: ELF-64 object file format; the container as ptxas 13.0.88 writes it.
"""

from __future__ import annotations

from typing import Final

from oric_tables import cubin_layout as layout_tables
from oric_tables.cubin_layout import SECTIONS, SYM_SECTION, Layout

from oric.support.elf_format import EM_CUDA, ET_EXEC, HEADER, REL, RELA, SECTION, SEGMENT, SHT_NOBITS, STB_GLOBAL, SYMBOL

_TABLE_ALIGN: Final = 8


class OutSection:
    """One section; ``size`` counts for NOBITS only, ``owner`` is the section that sh_info names."""

    __slots__ = (
        "align",
        "data",
        "early",
        "file_type",
        "flags",
        "info",
        "kind",
        "link",
        "name",
        "number",
        "offset",
        "owner",
        "size",
        "symbol",
    )

    def __init__(self, kind: int, name: str, align: int) -> None:
        self.kind = kind
        self.name = name
        self.align = align
        self.data: bytes | bytearray = b""
        self.size = 0
        self.early = False  # its symbol stands with those of others, though the layout makes the kind late
        self.flags = SECTIONS[kind].flags
        self.file_type = -1  # sh_type, where it is not that of the kind
        self.info = 0
        self.link: OutSection | None = None
        self.owner: OutSection | None = None
        self.symbol: OutSymbol | None = None
        self.number = 0
        self.offset = 0

    @property
    def is_nobits(self) -> bool:
        """True when the section takes no bytes of the file."""
        return int(SECTIONS[self.kind].type) == SHT_NOBITS

    @property
    def length(self) -> int:
        """Bytes in memory."""
        return self.size if self.is_nobits else len(self.data)


class OutSymbol:
    """One symbol; ``section`` None = undefined, or ``place`` says a special index."""

    __slots__ = ("info", "name", "number", "other", "place", "section", "size", "value")

    def __init__(self, name: str, kind: tuple[int, int], section: OutSection | None, value: int, size: int) -> None:
        self.name = name
        self.info, self.other = kind
        self.section = section
        self.value = value
        self.size = size
        self.place = 0
        self.number = 0


class _Strings:
    """A string table; equal strings share one place."""

    def __init__(self) -> None:
        self.data = bytearray(1)
        self._places = {"": 0}

    def add(self, text: str) -> int:
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.data)
            self.data += text.encode("utf-8") + b"\0"
        return place


class Container:
    """Collects sections, symbols and relocations; :meth:`number` fixes their order, :meth:`image` makes the bytes."""

    def __init__(self, layout: Layout, kind: int = ET_EXEC) -> None:
        self.layout = layout
        self.kind = kind  # an ELF type
        self.linked = kind != ET_EXEC  # it is for a linker
        self._texts = _Strings()
        self.sections: list[OutSection] = []
        self.symbols: list[OutSymbol] = []
        self._relocations: list[tuple[OutSection, list[tuple[int, int, OutSymbol, int]]]] = []
        self._names = self.section(layout_tables.SHSTRTAB)
        self._strings = self.section(layout_tables.STRTAB)
        self._table = self.section(layout_tables.SYMTAB)

    def section(self, kind: int, owner_name: str = "", owner: OutSection | None = None, align: int = 0) -> OutSection:
        """Make a section (and its symbol, when its kind always has one); ``align`` where its kind states none."""
        row = SECTIONS[kind]
        made = OutSection(kind, row.name.replace("{owner}", owner_name), row.align or align)
        if row.owner_info:
            made.owner = owner
        self.sections.append(made)
        if row.symbol == 1:
            self.section_symbol(made)
        return made

    def section_symbol(self, section: OutSection) -> None:
        """Give a section its symbol."""
        section.symbol = self.symbol(section.name, SYM_SECTION, section)

    def symbol(self, name: str, kind: tuple[int, int], section: OutSection | None, value: int = 0, size: int = 0) -> OutSymbol:
        """Make a symbol."""
        made = OutSymbol(name, kind, section, value, size)
        self.symbols.append(made)
        return made

    def text(self, text: str) -> int:
        """The place of a text in the string table."""
        return self._texts.add(text)

    def relocate(
        self, section: OutSection, entries: list[tuple[int, int, OutSymbol, int]], empty: bool = False, rising: bool = False
    ) -> None:
        """Patch ``section`` at (offset, type, symbol, addend) entries; makes .rel and .rela sections as the layout says.

        ``empty`` makes the section even when there is nothing in it; ``rising``: relocations with addends come in the order of
        their places.
        """
        plain = [e for e in entries if self.layout.implicit_addends and e[3] == 0]
        added = [e for e in entries if not (self.layout.implicit_addends and e[3] == 0)]
        for kind, part in ((layout_tables.REL, plain), (layout_tables.RELA, added)):
            if part or (empty and kind == layout_tables.RELA):
                self.relocate_as(section, kind, part, rising and kind == layout_tables.RELA)

    def relocate_as(
        self, section: OutSection, kind: int, entries: list[tuple[int, int, OutSymbol, int]], rising: bool = False
    ) -> None:
        """Patch ``section`` by a section of relocations of one kind; those of REL have their addends in their places."""
        ordered = sorted(entries, key=lambda e: e[0] if rising else -e[0])
        self._relocations.append((self.section(kind, section.name, section), ordered))

    def number(self) -> None:
        """Fix the order of sections and symbols; afterwards ``number`` of both is final."""
        ranks = self.layout.ranks
        for made in self.sections:
            if ranks[made.kind] < 0:
                raise ValueError(f"layout {self.layout.name} has no place for {made.name}")
        self.sections.sort(key=lambda s: ranks[s.kind])  # stable: by order of making within a rank
        for number, made in enumerate(self.sections, 1):
            made.number = number
        late = self.layout.late
        after = [s for s in self.symbols if _is_late(s, late)]
        early = [s for s in self.symbols if not _is_late(s, late)]
        bound = [s for s in early if s.info >> 4 == STB_GLOBAL]
        self.symbols = [s for s in early if s.info >> 4 != STB_GLOBAL] + bound + after
        for number, symbol in enumerate(self.symbols, 1):
            symbol.number = number
        self._table.info = 1 + max((s.number for s in self.symbols if s.info >> 4 != STB_GLOBAL), default=0)

    def image(self, osabi: int, abiversion: int, version: int, flags: int) -> bytes:
        """The file. All section data must be final."""
        self._fill_tables()
        for section, entries in self._relocations:
            if section.kind != layout_tables.REL:
                section.data = b"".join(RELA.pack(at, kind, symbol.number, addend) for at, kind, symbol, addend in entries)
            else:
                section.data = b"".join(REL.pack(at, kind, symbol.number) for at, kind, symbol, _ in entries)
        out = bytearray(HEADER.size)
        for section in self.sections:
            out += bytes(-len(out) % (section.align or 1))
            section.offset = len(out)
            if not section.is_nobits:
                out += section.data
        out += bytes(-len(out) % _TABLE_ALIGN)
        headers_at = len(out)
        out += bytes(SECTION.size)  # section 0
        for section in self.sections:
            out += self._header(section)
        segments_at = len(out)
        segments = self._segments(segments_at)
        for segment in segments:
            out += SEGMENT.pack(*segment)
        ident = b"\x7fELF\x02\x01\x01" + bytes([osabi, abiversion]) + bytes(7)
        HEADER.pack_into(
            out, 0, ident, self.kind, EM_CUDA, version, 0, segments_at if segments else 0, headers_at, flags, HEADER.size,
            SEGMENT.size, len(segments), SECTION.size, len(self.sections) + 1, self._names.number,
        )  # fmt: skip
        return bytes(out)

    def _fill_tables(self) -> None:
        strings = self._texts
        table = bytearray(SYMBOL.size)
        for symbol in self.symbols:
            place = symbol.section.number if symbol.section is not None else symbol.place
            table += SYMBOL.pack(strings.add(symbol.name), symbol.info, symbol.other, place, symbol.value, symbol.size)
        self._table.data = table
        self._strings.data = strings.data
        names = _Strings()
        for section in self.sections:
            names.add(section.name)
        self._names.data = names.data
        self._name_of = names

    def _header(self, section: OutSection) -> bytes:
        row = SECTIONS[section.kind]
        link = section.link.number if section.link is not None else 0
        if row.link >= 0 and section.link is None:
            link = next(s.number for s in self.sections if s.kind == row.link)
        info = section.owner.number if section.owner is not None else section.info
        return SECTION.pack(
            self._name_of.add(section.name),
            row.object_type if self.linked else row.type if section.file_type < 0 else section.file_type,
            section.flags,
            0,
            section.offset,
            section.length,
            link,
            info,
            section.align,
            row.entsize,
        )

    def _segments(self, table_at: int) -> list[tuple[int, int, int, int, int, int, int, int]]:
        out = []
        if self.linked:
            return []
        covered = [(s, [x for x in self.sections if x.kind in s[2]]) for s in self.layout.segments]
        covered = [(s, inside) for s, inside in covered if inside or not s[2]]
        size = len(covered) * SEGMENT.size
        for (kind, flags, wanted), inside in covered:
            if not wanted:
                out.append((kind, flags, table_at, 0, 0, size, size, _TABLE_ALIGN))
                continue
            start = inside[0].offset
            end = max(s.offset if s.is_nobits else s.offset + len(s.data) for s in inside)
            memory = end - start
            for section in inside:
                if section.is_nobits:
                    memory = -(-memory // section.align) * section.align + section.size
            out.append((kind, flags, start, 0, 0, end - start, memory, _TABLE_ALIGN))
        return out


def _is_late(symbol: OutSymbol, late: tuple[int, ...]) -> bool:
    """Whether a symbol is that of a section that is made behind the others."""
    section = symbol.section
    return section is not None and section.kind in late and not section.early and section.symbol is symbol
