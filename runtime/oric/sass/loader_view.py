"""What a loader takes from a cubin, as facts with names: two cubins that have the same facts load alike.

A fact is found under (kind, name, field), say ``("section", ".nv.shared.k", "align")``, and is plain data. Whatever numbers say
which section, symbol or offset is meant is told by names. Left out is what follows from the machine code and so differs between
two compilers: sizes and contents of code, records that name places in it (``oric_tables.cubin.CODE_RECORDS``, which
:mod:`oric.sass.loader_check` holds against the code of their own file), local functions inside of a kernel, the order of address
slots, and who made the file.

Source: ELF-64 object file format; the container as observed in ptxas 12.8 and 13.0 output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from oric_tables import cubin as tables

from oric.support.elf import Cubin, Record, Relocation, Section, Segment, Symbol, has_bytes, read_records
from oric.support.elf_format import SHF_ALLOC, SHF_EXECINSTR, SHF_MERCURY, SHF_WRITE, SHT_NOTE, SHT_REL, SHT_RELA

from . import facts

SLOTS: Final = ".nv.constant4"  # addresses of globals: the code says in which order
FRAMES: Final = ".debug_frame"
_TABLES: Final = ("SYMTAB", "STRTAB")  # their contents are told as symbols and names
_INFO: Final = "CUDA_INFO"
_PHDR: Final = 6  # p_type
_WRITABLE: Final = 2  # p_flags
_OWNER: Final = 0x40  # sh_flags: sh_info is a section
_RELOCATED: Final = (".rela", ".rel")


class Key(NamedTuple):
    """Where a fact is found; ``field`` is "" for facts that only are there."""

    kind: str
    name: str
    field: str


def view(cubin: Cubin) -> dict[Key, Any]:
    """The facts of a cubin."""
    out: dict[Key, Any] = {}
    for part in (_header, _sections, _segments, _symbols, _relocations, _attributes, _compat, _notes, _callgraph):
        for kind, name, field, value in part(cubin):
            out[Key(kind, name, field)] = value
    return out


_Facts = Iterator[tuple[str, str, str, Any]]


def _header(c: Cubin) -> _Facts:
    for field, value in facts.facts_of_header(c).items():
        yield "header", "", field, value


def is_of_code(name: str) -> bool:
    """Whether a section is there or not by the choices of whoever made the code; that of its relocations too."""
    for prefix in _RELOCATED:
        if name.startswith((f"{prefix}.text.", *(prefix + kind for kind in tables.CODE_SECTIONS))):
            return True
    return name.startswith(tables.CODE_SECTIONS)


def _numbered(names: list[str]) -> list[str]:
    """Names, the second and later ones of those that are alike with a number."""
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out


def _sections(c: Cubin) -> _Facts:
    names = _numbered([s.name for s in c.sections])
    for section, name in zip(c.sections[1:], names[1:], strict=True):
        if is_of_code(section.name):
            continue
        yield "section", name, "type", tables.SECTION_TYPES.get(section.type, f"{section.type:#x}")
        yield "section", name, "flags", f"{section.flags:#x}"
        yield "section", name, "align", section.align
        yield "section", name, "entsize", section.entsize
        yield "section", name, "link", c.sections[section.link].name
        if section.flags & _OWNER:
            yield "section", name, "info", c.sections[section.info].name if section.info < len(c.sections) else section.info
        yield from _contents(c, section, name)


def _contents(c: Cubin, section: Section, name: str) -> _Facts:
    """Size and bytes of a section where nothing else tells them (variables do) and they are not the code's."""
    kind = tables.SECTION_TYPES.get(section.type, "")
    told = kind in _TABLES or kind.endswith("INFO") or section.type in (SHT_NOTE, SHT_REL, SHT_RELA) or kind == "CUDA_CALLGRAPH"
    if told or section.flags & SHF_EXECINSTR or section.name in (SLOTS, FRAMES):
        return
    yield "section", name, "size", section.size
    if has_bytes(section.type, section.flags) and any(section.data) and not any(s.size for s in c.symbols_of(section.index)):
        yield "section", name, "bytes", section.data.hex()


def _segments(c: Cubin) -> _Facts:
    """Segments by the first section that they cover; one that covers sections of the code's choice alone is left out."""
    for segment in c.segments:
        inside = _covered(c, segment)
        kept = [name for name in inside if not is_of_code(name)]
        if inside and not kept:
            continue
        kind = "headers" if segment.type == _PHDR else "table" if segment.offset == c.segments_at else "nothing"
        name = kept[0] if kept else kind
        yield "segment", name, "type", segment.type
        yield "segment", name, "flags", segment.flags
        yield "segment", name, "align", segment.align
        yield "segment", name, "covers", kept


def _covered(c: Cubin, segment: Segment) -> list[str]:
    """Names of the sections of a segment; those without bytes follow the ones that have some, and are writable as it is."""
    if segment.offset == c.segments_at:
        return []
    return [s.name for s in c.sections if s.flags & SHF_ALLOC and not s.flags & SHF_MERCURY and _is_inside(s, segment)]


def _is_inside(section: Section, segment: Segment) -> bool:
    if not section.data:
        return bool(section.flags & SHF_WRITE and segment.flags & _WRITABLE)
    return segment.offset <= section.offset and section.offset + section.size <= segment.offset + segment.filesz


def is_local_function(c: Cubin, symbol: Symbol) -> bool:
    """Whether a symbol is a function inside of a kernel's code: which there are is up to whoever made the code."""
    return symbol.is_function and facts.section_name(c, symbol.section) not in ("UNDEF", f".text.{symbol.name}")


def _symbols(c: Cubin) -> _Facts:
    chosen = [
        (number, s) for number, s in enumerate(c.symbols)
        if number and not is_local_function(c, s) and not is_of_code(facts.section_name(c, s.section))
    ]  # fmt: skip
    names = _numbered([facts.symbol_name(c, number) or "(none)" for number, _ in chosen])
    for (number, symbol), name in zip(chosen, names, strict=True):
        told = facts.facts_of_symbol(c, number)
        for field in ("binding", "type", "visibility", "marks", "section"):
            yield "symbol", name, field, told[field]
        section = c.sections[symbol.section] if symbol.section < len(c.sections) else c.sections[0]
        if symbol.is_function:
            yield "symbol", name, "size", "all of its section" if symbol.size == section.size else symbol.size
            continue
        yield "symbol", name, "size", symbol.size
        if not section.flags & SHF_WRITE:  # code finds global variables by relocations, wherever they are
            yield "symbol", name, "value", symbol.value
        data = section.data[symbol.value : symbol.value + symbol.size]
        if section.flags & SHF_ALLOC and any(data):
            yield "symbol", name, "bytes", data.hex()


def _relocations(c: Cubin) -> _Facts:
    slots: Counter[tuple[str, str]] = Counter()
    for r in c.relocations:
        section = c.sections[r.section].name
        if is_of_code(section):
            continue
        told = {"type": facts.relocation_name(r.type), "symbol": facts.symbol_name(c, r.symbol), "addend": r.addend}
        if section == FRAMES:  # there are some for each function inside of a kernel, too
            if not r.addend:
                yield "relocation", f"{section}: {told['symbol']}", "type", told["type"]
            continue
        place = _place(c, r)
        if place is None:
            slots[section, f"{told['type']} {told['symbol']} + {r.addend}"] += 1
            continue
        for field, value in told.items():
            yield "relocation", f"{section}: {place}", field, value
    for (section, what), count in sorted(slots.items()):
        yield "relocation", f"{section}: {what}", "count", count


def _place(c: Cubin, r: Relocation) -> str | None:
    """What a relocation patches: a place in a variable; None where the order is the code's."""
    section = c.sections[r.section]
    if section.name == SLOTS or section.flags & SHF_EXECINSTR:
        return None
    for symbol in c.symbols_of(r.section):
        if symbol.name and symbol.value <= r.offset < symbol.value + symbol.size:
            return f"{symbol.name} + {r.offset - symbol.value:#x}"
    return f"{r.offset:#x}"


def _attributes(c: Cubin) -> _Facts:
    for section in c.sections:
        if tables.SECTION_TYPES.get(section.type) != _INFO:
            continue
        kept = [r for r in read_records(section.data, section.name) if not _of_code(c, r)]
        for name, record in zip(_numbered([record_name(c, r) for r in kept]), kept, strict=True):
            yield "attribute", f"{section.name}: {name}", "format", record.format
            value = facts.record_value(c, record)
            yield "attribute", f"{section.name}: {name}", "value", value if not _counts_code(record) else "of the code"


def _of_code(c: Cubin, record: Record) -> bool:
    known = tables.ATTRIBUTES.get(record.code)
    if known is not None and known.layout == "symbol_value" and record.words():
        number = record.words()[0]
        return number < len(c.symbols) and is_local_function(c, c.symbols[number])
    return record.name in tables.CODE_RECORDS


def _counts_code(record: Record) -> bool:
    """Registers and stack of a function."""
    known = tables.ATTRIBUTES.get(record.code)
    return known is not None and known.layout == "symbol_value"


def record_name(c: Cubin, record: Record) -> str:
    """The attribute, with the parameter or the function that it is about."""
    known = tables.ATTRIBUTES.get(record.code)
    words = record.words()
    if known is not None and known.layout in ("param", "long_param") and len(words) > 1:
        return f"{record.name} {words[1] & 0xFFFF}"
    if known is not None and known.layout == "symbol_value" and words:
        return f"{record.name} {facts.symbol_name(c, words[0])}"
    return record.name


def _compat(c: Cubin) -> _Facts:
    names = _numbered([facts.compat_name(r) for r in c.compat])
    for name, record in zip(names, c.compat, strict=True):
        yield "compat", name, "format", record.format
        yield "compat", name, "value", facts.plain_value(record)


def _notes(c: Cubin) -> _Facts:
    for section in c.sections:
        if section.type != SHT_NOTE:
            continue
        for number, note in enumerate(facts.notes(section)):
            for field, value in note.items():
                if field not in facts.TOOL_STRINGS and field != "section":
                    yield "note", f"{section.name} {number}", field, value


def _callgraph(c: Cubin) -> _Facts:
    for section in c.sections:
        if tables.SECTION_TYPES.get(section.type) == "CUDA_CALLGRAPH":
            for (caller, callee), count in sorted(Counter(facts.calls(c, section)).items()):
                yield "call graph", f"{caller} -> {callee}", "count", count
