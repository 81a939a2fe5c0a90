"""The directives of a listing: what a cubin holds besides instructions, so that ``oric asm`` can make it again.

Sections come in the order of the file, except those that are of no use to a reader of the code (debug information, notes, string
and symbol tables): they stand behind the code with their number (``index=``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from typing import Final

from oric_tables import cubin as tables

from oric.support.elf import Cubin, Section, has_bytes
from oric.support.elf_format import HEADER, REL, RELA, SHF_EXECINSTR, SHF_MERCURY, SHT_PROGBITS, SHT_REL, SYMBOL

from . import asm_facts as facts
from .asm_facts import quoted, unquoted
from .code import INSTRUCTION_BYTES

_ALLOC: Final = 2
_ZERO_RUN: Final = 64  # bytes from which on zeros are counted
_HEX_BYTES: Final = 48  # bytes on a line of .hex
_STRING_TABLES: Final = {".shstrtab": 1, ".strtab": 2}  # the places of those that the assembler makes
_WORDS: Final = 8  # values on a line of .word
_PAIR: Final = Struct("<II")
SEGMENT_TYPES: Final = {1: "load", 6: "phdr"}
SEGMENT_ALIGN: Final = 8
MOST_GAP: Final = 1 << 24


@dataclass
class Directives:
    """Lines without their end: ``head`` of all, ``before`` the code of a section (by index), ``tail`` behind all code."""

    head: list[str] = field(default_factory=list)
    before: dict[int, list[str]] = field(default_factory=dict)
    tail: list[str] = field(default_factory=list)


def directives(cubin: Cubin) -> Directives:
    """Everything of a cubin but its instructions, as text."""
    return _Writer(cubin).write()


class _Writer:
    def __init__(self, cubin: Cubin) -> None:
        self.cubin = cubin
        self.sections = cubin.sections
        self.counts = Counter(s.name for s in cubin.sections)
        self.tables: dict[int, dict[int, str]] = {}  # symbol table -> names of its entries, and the other way round
        self.unique: dict[int, dict[str, int]] = {}
        self.functions = {f.section: f for f in cubin.functions.values()}

    def write(self) -> Directives:
        out = Directives(self._head())
        pending: list[str] = []
        later: list[Section] = []
        for section in self.sections[1:]:
            is_code = section.index in self.functions
            if not is_code and not self._is_plain(section):
                later.append(section)
                continue
            lines = [""] if is_code or pending else []
            lines += [f"//--------------------- {section.name}"] if is_code else []
            pending += [*lines, self._section(section, indexed=False), *([] if is_code else self._contents(section))]
            if is_code:
                out.before[section.index], pending = pending, []
        out.tail = pending
        for section in later:
            contents = self._contents(section)
            if contents or not self._is_made(section):
                out.tail += ["", self._section(section, indexed=True), *contents]
        out.tail += ["", *self._segments()] if self.cubin.segments else []
        return out

    def _head(self) -> list[str]:
        cubin = self.cubin
        found = (cubin.type, cubin.osabi, cubin.abiversion, cubin.version, cubin.flags, cubin.segment_bytes)
        lines = [f"\t.target\t{cubin.target}"]
        if found != facts.usual_header(cubin.target):
            lines.append("\t.elf\t" + ", ".join(f"{key}={value:#x}" for key, value in zip(facts.HEADER_KEYS, found, strict=True)))
        return lines

    @staticmethod
    def _is_plain(section: Section) -> bool:
        """True for what a reader of the code wants to see: records, memory of the program."""
        mercury = section.flags & SHF_MERCURY
        return not mercury and (
            section.type in facts.INFO_TYPES or bool(section.flags & _ALLOC) or section.type == facts.CALLGRAPH
        )

    def _is_made(self, section: Section) -> bool:
        """True for a string table that is what and where the assembler makes it without being told."""
        if section.type != facts.STRTAB or section.index != _STRING_TABLES.get(section.name):
            return False
        names = [s.name for s in self.sections]
        if section.name == ".strtab":
            names = [n for s in self.sections if s.type in facts.SYMTAB_TYPES for n in self._table(s.index).values()]
        return section.data == b"\0".join([b"", *(n.encode() for n in dict.fromkeys(names) if n), b""])

    # -- sections ------------------------------------------------------------------------------------------------

    def _section(self, section: Section, indexed: bool) -> str:
        kind = facts.kind_of(section.name)
        out = [f"index={section.index}"] if indexed else []
        out += [f"type={_type(section.type)}"] if section.type != kind.type else []
        out += [f"flags={section.flags:#x}"] if section.flags != kind.flags else []
        out += [f"align={section.align}"] if section.align != kind.align else []
        out += [f"entsize={section.entsize}"] if section.entsize != kind.entsize else []
        if section.link != (self._index(kind.link) if kind.link else 0):
            out.append(f"link={self._name(section.link)}")
        out += self._info(section)
        if not has_bytes(section.type, section.flags):
            out.append(f"size={section.size:#x}")
        elif (twin := self._twin(section)) is not None:
            out.append(f"at={self._name(twin.index)}")
        if gap := self._gaps.get(section.index):
            out.append(f"gap={gap:#x}")
        return f"\t.section\t{', '.join([quoted(section.name), *out])}"

    def _info(self, section: Section) -> list[str]:
        owner = facts.owner_section(section.name)
        if section.type == facts.SYMTAB_TYPES[0] and section.info == self._locals(section):
            return []
        if self._is_code(section):
            registers, number = section.info >> 24, section.info & 0xFFFFFF
            function = self.functions.get(section.index)
            named = function is not None and number == function.symbol
            return ([f"registers={registers}"] if registers else []) + ([] if named else [f"symbol={number}"])
        if section.info == (self._index(owner) if owner else 0):
            return []
        linked = section.flags & facts.INFO_LINK or section.type in facts.RELOCATION_TYPES
        return [f"info={self._name(section.info) if linked and section.info < len(self.sections) else hex(section.info)}"]

    @staticmethod
    def _is_code(section: Section) -> bool:
        return section.type == SHT_PROGBITS and bool(section.flags & SHF_EXECINSTR)

    def _locals(self, table: Section) -> int:
        entries = SYMBOL.iter_unpack(table.data) if len(table.data) % SYMBOL.size == 0 else iter(())
        return 1 + max((n for n, entry in enumerate(entries) if entry[1] >> 4 != 1), default=0)

    def _index(self, name: str) -> int:
        section = self.cubin.section(name)
        return section.index if section is not None else -1

    def _name(self, index: int) -> str:
        if 0 < index < len(self.sections) and self.counts[self.sections[index].name] == 1 and self.sections[index].name:
            return quoted(self.sections[index].name)
        return f"#{index}"

    @cached_property
    def _ranges(self) -> dict[tuple[int, int], int]:
        out: dict[tuple[int, int], int] = {}
        for section in self.sections:
            if has_bytes(section.type, section.flags) and section.size:
                out.setdefault((section.offset, section.size), section.index)
        return out

    @cached_property
    def _gaps(self) -> dict[int, int]:
        """Section -> bytes of the file between it and the one in front, besides those that alignment asks for."""
        out: dict[int, int] = {}
        end = HEADER.size
        for section in self.sections[1:]:
            if has_bytes(section.type, section.flags) and section.size and self._twin(section) is not None:
                continue
            start = -(-end // (section.align or 1)) * (section.align or 1)
            if 0 < section.offset - start < MOST_GAP and section.align < MOST_GAP:
                out[section.index] = section.offset - start
            end = max(start, section.offset + (section.size if has_bytes(section.type, section.flags) else 0))
        return out

    def _twin(self, section: Section) -> Section | None:
        """The earlier section whose bytes of the file this one shares."""
        first = self._ranges.get((section.offset, section.size), section.index)
        return self.sections[first] if first < section.index else None

    # -- contents ------------------------------------------------------------------------------------------------

    def _contents(self, section: Section) -> list[str]:
        if not has_bytes(section.type, section.flags) or self._twin(section) is not None:
            return []
        lines: list[str] | None = None
        if section.type in facts.INFO_TYPES:
            lines = self._records(section)
        elif section.type in facts.SYMTAB_TYPES:
            lines = self._symbols(section)
        elif section.type in facts.RELOCATION_TYPES:
            lines = self._relocations(section)
        elif section.type == facts.CALLGRAPH and section.flags & SHF_MERCURY == 0 and len(section.data) % 8 == 0:
            pairs = _PAIR.iter_unpack(section.data)
            return [f"\t.call\t{self._symbol(section.link, a)}, {self._symbol(section.link, b)}" for a, b in pairs]
        elif section.type == facts.STRTAB and not self._is_made(section):
            lines = _strings(section.data)
        elif section.type == facts.STRTAB:
            return []
        return lines if lines is not None else _data(section.data, bool(section.flags & _ALLOC) and section.align % 4 == 0)

    def _records(self, section: Section) -> list[str] | None:
        """Records by name; None where they do not come back the same."""
        compat = facts.compat_names(section.name)
        code = section.info if section.flags & facts.INFO_LINK else 0
        names = facts.Shown(lambda n: self._symbol(section.link, n), lambda at: self._place(code, at))
        read = facts.Read(_number, lambda s: self._symbol_number(section.link, s), lambda at: self._offset(code, at))
        lines = []
        data, place = section.data, 0
        while place < len(data):
            if len(data) - place < 4 or data[place] not in facts.FORMATS.values():
                return None
            form, attribute, value = data[place], data[place + 1], data[place + 2] | data[place + 3] << 8
            place += 4
            text = str(value)
            if form == facts.SIZED:
                payload = data[place : place + value]
                place += value
                text = facts.show_payload(attribute, payload, compat, names)
                if len(payload) < value or not _reads_back(attribute, text, compat, read, payload):
                    text = f"hex {payload.hex()}"
            elif (form == facts.NONE and value) or (form == facts.BYTE and value > 0xFF):
                return None
            name = facts.record_name(attribute, form, compat)
            lines.append(f"\t.info\t{name}" + ("" if form == facts.NONE else f", {text}"))
        return lines if place == len(data) else None

    def _symbols(self, section: Section) -> list[str] | None:
        if not section.data or len(section.data) % SYMBOL.size or section.data[: SYMBOL.size] != bytes(SYMBOL.size):
            return None
        lines = []
        names = self._table(section.index)
        kinds = {value: name for name, value in facts.SYMBOL_KINDS.items()}
        for number, (_, info, other, where, value, size) in enumerate(SYMBOL.iter_unpack(section.data)):
            if number == 0:
                continue
            kind = kinds.get((info, other), f"{info:#x}/{other:#x}")
            place = self._place(where, value) if where in self.functions else hex(value)
            extent = hex(size)
            if where in self.functions and size and self._place(where, value + size).startswith("@"):
                extent = self._place(where, value + size)
            home = "-" if where == 0 else self._name(where)
            lines.append(f"\t.symbol\t{quoted(names[number])}, {kind}, {home}, {place}, {extent}")
        return lines

    def _relocations(self, section: Section) -> list[str] | None:
        layout = REL if section.type == SHT_REL else RELA
        if len(section.data) % layout.size:
            return None
        lines = []
        for offset, kind, symbol, *addend in layout.iter_unpack(section.data):
            known = tables.RELOCATIONS.get(kind)
            place = self._place(section.info, offset)
            rest = f", {addend[0]:#x}" if addend and addend[0] else ""
            lines.append(f"\t.reloc\t{known.name if known else kind}, {place}, {self._symbol(section.link, symbol)}{rest}")
        return lines

    def _table(self, index: int) -> dict[int, str]:
        """The names of a symbol table's entries."""
        if index not in self.tables:
            out: dict[int, str] = {}
            if index < len(self.sections) and self.sections[index].type in facts.SYMTAB_TYPES:
                strings = self.sections[self.sections[index].link].data
                for number, entry in enumerate(SYMBOL.iter_unpack(_whole(self.sections[index].data))):
                    out[number] = strings[entry[0] : strings.find(b"\0", entry[0])].decode(errors="replace") if entry[0] else ""
            self.tables[index] = out
            counts = Counter(out.values())
            self.unique[index] = {n: k for k, n in out.items() if n and counts[n] == 1}
        return self.tables[index]

    def _symbol(self, table: int, number: int) -> str:
        known = self._table(table)
        if number not in known:
            return hex(number)
        name = known[number]
        return quoted(name) if name and self.unique[table].get(name) == number else f"#{number}"

    def _symbol_number(self, table: int, text: str) -> int:
        self._table(table)
        found = self.unique[table].get(unquoted(text))
        return _number(text.lstrip("#")) if found is None else found

    def _place(self, section: int, offset: int) -> str:
        function = self.functions.get(section)
        if function is None or offset % INSTRUCTION_BYTES or offset > len(function.text):
            return hex(offset)
        return "@end" if offset == len(function.text) else f"@{offset:04x}"

    def _offset(self, section: int, text: str) -> int:
        function = self.functions.get(section)
        return len(function.text) if text == "@end" and function else int(text[1:], 16) if text[0] == "@" else _number(text)

    # -- program headers -----------------------------------------------------------------------------------------

    def _segments(self) -> Iterator[str]:
        for segment in self.cubin.segments:
            flags = "".join(letter for letter, bit in (("r", 4), ("w", 2), ("x", 1)) if segment.flags & bit) or "-"
            kind = SEGMENT_TYPES.get(segment.type, hex(segment.type))
            if segment.flags & ~7:
                flags = hex(segment.flags)
            rest = f", align={segment.align}" if segment.align != SEGMENT_ALIGN else ""
            if segment.offset == self.cubin.segments_at:
                yield f"\t.segment\t{kind}, {flags}{rest}"
                continue
            covered = self._covered(segment.offset, segment.filesz, segment.memsz)
            if covered is None:
                sizes = f"offset={segment.offset:#x}, filesz={segment.filesz:#x}, memsz={segment.memsz:#x}"
                yield f"\t.segment\t{kind}, {flags}, {sizes}{rest}"
            else:
                yield f"\t.segment\t{kind}, {flags}, {self._name(covered[0])}, {self._name(covered[1])}{rest}"

    def _covered(self, offset: int, filesz: int, memsz: int) -> tuple[int, int] | None:
        """First and last section of a segment with these sizes."""
        loaded = [s for s in self.sections if s.flags & _ALLOC and not s.flags & SHF_MERCURY]
        for first, section in enumerate(loaded):
            if section.offset != offset:
                continue
            for last in range(first, len(loaded)):
                if segment_sizes(loaded[first : last + 1]) == (filesz, memsz):
                    return section.index, loaded[last].index
                if loaded[last].offset > offset + filesz:
                    break
        return None


def segment_sizes(sections: list[Section]) -> tuple[int, int]:
    """Bytes in the file and in memory of a segment that holds these sections, of which those without bytes come last."""
    start = sections[0].offset
    end = memory = start
    for section in sections:
        if not has_bytes(section.type, section.flags):
            end = max(end, section.offset)
        else:
            end = max(end, section.offset + len(section.data))
    memory = end - start
    for section in sections:
        if not has_bytes(section.type, section.flags):
            memory = -(-memory // (section.align or 1)) * (section.align or 1) + section.size
    return end - start, memory


def _whole(data: bytes) -> bytes:
    return data[: len(data) // SYMBOL.size * SYMBOL.size]


def _type(number: int) -> str:
    return str(tables.SECTION_TYPES.get(number, hex(number)))


def _number(text: str) -> int:
    return int(text, 0)


def _strings(data: bytes) -> list[str] | None:
    """A string table as names; None when it is none."""
    if data[:1] != b"\0" or data[-1:] != b"\0" or len(data) == 1:
        return None
    try:
        return [f"\t.string\t{json.dumps(name.decode(), ensure_ascii=False)}" for name in data[1:-1].split(b"\0")]
    except UnicodeDecodeError:
        return None


def _data(data: bytes, as_words: bool) -> list[str]:
    """Lines of ``.word`` or ``.hex``, long runs of zeros as ``.zero``."""
    step = 4 * _WORDS if as_words and len(data) % 4 == 0 else _HEX_BYTES
    out = []
    place = 0
    while place < len(data):
        end = place
        while end < len(data) and data[end] == 0:
            end += 1
        if step != _HEX_BYTES:
            end -= (end - place) % 4
        if end - place >= _ZERO_RUN or (end == len(data) and end > place):
            out.append(f"\t.zero\t{end - place}")
            place = end
            continue
        part = data[place : place + step]
        if step == _HEX_BYTES:
            out.append(f"\t.hex\t{part.hex()}")
        else:
            words = (int.from_bytes(part[i : i + 4], "little") for i in range(0, len(part), 4))
            out.append("\t.word\t" + ", ".join(f"{word:#010x}" for word in words))
        place += len(part)
    return out


def _reads_back(attribute: int, text: str, compat: bool, read: facts.Read, payload: bytes) -> bool:
    """True when the values of a sized record stand for its bytes; those of a damaged file may not even be the right number."""
    try:
        return facts.read_payload(attribute, text, compat, read) == payload
    except ValueError:
        return False
