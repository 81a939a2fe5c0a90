"""What the container of a cubin says: header, sections, segments, symbols, relocations, attributes, notes.

``facts`` gives plain data (for JSON), ``fact_lines`` the same as text. Names are those that cuobjdump prints, without the
prefixes EIATTR_ and EICOMPAT_ATTR_; a code without a name is printed as a number.

Source: the container as observed in ptxas 12.8 and 13.0 output, names as spec/cubin.yaml says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, Final

from oric_tables import cubin as tables

from oric.support.elf import Cubin, Record, Section, read_records
from oric.support.elf_format import ET_EWP, ET_REL, SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOTE, STO_ENTRY

_BINDINGS: Final = {0: "LOCAL", 1: "GLOBAL", 2: "WEAK"}
_VISIBILITIES: Final = ("DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED")
_TYPES: Final = {ET_REL: "ET_REL", ET_EWP: "ET_EWP"}
_SEGMENT_TYPES: Final = {1: "LOAD", 6: "PHDR"}
_NOTE_HEADER: Final = Struct("<III")
_PAIR: Final = Struct("<ii")
_INFO_TYPES: Final = ("CUDA_INFO", "CUDA_MERCURY_INFO")
_TOOL_NOTE: Final = 2000
_CUDA_NOTE: Final = 1000
TOOL_STRINGS: Final = ("object", "tool", "version", "branch", "arguments")
_MANAGED: Final = 4
_OBSCURE: Final = 8


def facts(cubin: Cubin) -> dict[str, Any]:
    """All facts as dictionaries, lists, strings and numbers."""
    infos = [s for s in cubin.sections if tables.SECTION_TYPES.get(s.type) in _INFO_TYPES]
    return {
        "header": facts_of_header(cubin),
        "sections": [_section(s) for s in cubin.sections[1:]],
        "segments": [_segment(s) for s in cubin.segments],
        "symbols": [facts_of_symbol(cubin, number) for number in range(1, len(cubin.symbols))],
        "relocations": [_relocation(cubin, number) for number in range(len(cubin.relocations))],
        "attributes": {s.name: [_attribute(cubin, r) for r in read_records(s.data, s.name)] for s in infos},
        "compat": [{"name": compat_name(r), "value": plain_value(r)} for r in cubin.compat],
        "callgraph": [pair for s in cubin.sections if s.name == ".nv.callgraph" for pair in calls(cubin, s)],
        "notes": [note for s in cubin.sections if s.type == SHT_NOTE for note in notes(s)],
    }


def fact_lines(cubin: Cubin) -> Iterator[str]:
    """The facts as text: a heading for each group, a line for each fact."""
    everything = facts(cubin)
    yield from _group("ELF header", (f"{name}: {_shown(value)}" for name, value in everything["header"].items()))
    yield from _group("sections", _table(everything["sections"]))
    yield from _group("segments", _table(everything["segments"]))
    yield from _group("symbols", _table(everything["symbols"]))
    yield from _group("relocations", _table(everything["relocations"]))
    for name, rows in everything["attributes"].items():
        yield from _group(name, (f"{row['name']}: {_shown(row['value'])}" for row in rows))
    yield from _group(".nv.compat", (f"{row['name']}: {_shown(row['value'])}" for row in everything["compat"]))
    yield from _group(".nv.callgraph", (f"{caller} -> {callee}" for caller, callee in everything["callgraph"]))
    for note in everything["notes"]:
        yield from _group(note.pop("section"), (f"{name}: {_shown(value)}" for name, value in note.items()))


def facts_of_header(cubin: Cubin) -> dict[str, Any]:
    """The ELF header."""
    return {
        "type": _TYPES.get(cubin.type, "ET_EXEC"),
        "target": cubin.target,
        "osabi": cubin.osabi,
        "abiversion": cubin.abiversion,
        "version": cubin.version,
        "entry": cubin.entry,
        "flags": f"{cubin.flags:#x}",
    }


def _section(section: Section) -> dict[str, Any]:
    letters = ((SHF_ALLOC, "A"), (SHF_WRITE, "W"), (SHF_EXECINSTR, "X"))
    return {
        "index": section.index,
        "name": section.name,
        "type": tables.SECTION_TYPES.get(section.type, f"{section.type:#x}"),
        "flags": f"{section.flags:#x}",
        "kind": "".join(letter for bit, letter in letters if section.flags & bit),
        "offset": section.offset,
        "size": section.size,
        "link": section.link,
        "info": section.info,
        "align": section.align,
        "entsize": section.entsize,
    }


def _segment(segment: Any) -> dict[str, Any]:
    flags = "".join(letter if segment.flags & bit else "-" for bit, letter in ((4, "R"), (2, "W"), (1, "X")))
    kind = _SEGMENT_TYPES.get(segment.type, f"{segment.type:#x}")
    return {"type": kind, "flags": flags, **{name: getattr(segment, name) for name in ("offset", "filesz", "memsz", "align")}}


def facts_of_symbol(cubin: Cubin, number: int) -> dict[str, Any]:
    """A symbol by its number."""
    symbol = cubin.symbols[number]
    kind = symbol.info & 15
    marks = [name for bit, name in ((STO_ENTRY, "ENTRY"), (_MANAGED, "MANAGED"), (_OBSCURE, "OBSCURE")) if symbol.other & bit]
    space = symbol.other >> 5
    if space:
        marks.append(tables.SYMBOL_SPACES.get(space, f"space {space}"))
    return {
        "index": number,
        "name": symbol.name,
        "binding": _BINDINGS.get(symbol.info >> 4, f"{symbol.info >> 4}"),
        "type": tables.SYMBOL_TYPES.get(kind, f"{kind}"),
        "visibility": _VISIBILITIES[symbol.other & 3],
        "marks": " ".join(marks),
        "section": section_name(cubin, symbol.section),
        "value": symbol.value,
        "size": symbol.size,
    }


def relocation_name(kind: int) -> str:
    """What a type of relocations is called."""
    known = tables.RELOCATIONS.get(kind)
    return known.name if known else f"{kind}"


def section_name(cubin: Cubin, number: int) -> str:
    """What a section is called, by its number; UNDEF for none."""
    if number == 0:
        return "UNDEF"
    return cubin.sections[number].name if number < len(cubin.sections) else f"{number:#x}"


def _relocation(cubin: Cubin, number: int) -> dict[str, Any]:
    relocation = cubin.relocations[number]
    return {
        "section": cubin.sections[relocation.section].name,
        "offset": relocation.offset,
        "type": relocation_name(relocation.type),
        "symbol": symbol_name(cubin, relocation.symbol),
        "addend": relocation.addend,
    }


def symbol_name(cubin: Cubin, number: int) -> str:
    """What a symbol is called, by its number; that of a section, and one without a name, by its section."""
    if number >= len(cubin.symbols):
        return f"symbol {number}"
    symbol = cubin.symbols[number]
    return symbol.name or section_name(cubin, symbol.section)


def _attribute(cubin: Cubin, record: Record) -> dict[str, Any]:
    return {"name": record.name, "value": record_value(cubin, record)}


def compat_name(record: Record) -> str:
    """What a record of ``.nv.compat`` is called."""
    return tables.COMPAT_ATTRIBUTES.get(record.code, f"{record.code:#04x}")


def record_value(cubin: Cubin, record: Record) -> Any:
    """The payload by the layout that the tables give; what does not fit it, or has none, as numbers."""
    known = tables.ATTRIBUTES.get(record.code)
    words = record.words()
    if known is None or known.format != record.format:
        return plain_value(record)
    if known.layout == "symbols":
        return [symbol_name(cubin, word) for word in words]
    if known.layout == "symbol_value" and len(words) == 2:
        return {"symbol": symbol_name(cubin, words[0]), "value": words[1]}
    if known.layout == "param_cbank" and len(words) == 2:
        return {"symbol": symbol_name(cubin, words[0]), "offset": words[1] & 0xFFFF, "size": words[1] >> 16}
    if known.layout == "param" and len(words) == 3:
        return _param(words)
    if known.layout == "long_param" and len(words) == 3:
        return _long_param(words)
    if known.layout == "branch_targets":
        return [{"branch": branch, "targets": targets} for branch, targets in _branch_targets(words)]
    return plain_value(record)


def _param(words: tuple[int, ...]) -> dict[str, int]:
    """KPARAM_INFO: u32 index; u16 ordinal, u16 offset; log2 of the pointee's alignment, space, bank, size."""
    index, place, rest = words
    return {
        "index": index, "ordinal": place & 0xFFFF, "offset": place >> 16, "size": rest >> 18, "bank": rest >> 12 & 0x1F,
        "space": rest >> 8 & 0xF, "pointee_log2_align": rest & 0xFF,
    }  # fmt: skip


def _long_param(words: tuple[int, ...]) -> dict[str, int]:
    """KPARAM_INFO_V2: u32 index; u16 ordinal, offset, size; log2 of the pointee's alignment, space, a byte each."""
    index, place, rest = words
    return {
        "index": index, "ordinal": place & 0xFFFF, "offset": place >> 16, "size": rest & 0xFFFF, "space": rest >> 24,
        "pointee_log2_align": rest >> 16 & 0xFF,
    }  # fmt: skip


def _branch_targets(words: tuple[int, ...]) -> Iterator[tuple[int, list[int]]]:
    place = 0
    while place + 3 <= len(words):
        branch, _, count = words[place : place + 3]
        yield branch, list(words[place + 3 : place + 3 + count])
        place += 3 + count


def plain_value(record: Record) -> Any:
    """The value of a record whose layout is not known."""
    if record.format == tables.FORMAT_SIZED:
        return list(record.words()) if len(record.data) % 4 == 0 else record.data.hex()
    return True if record.format == tables.FORMAT_NONE else record.value


def calls(cubin: Cubin, section: Section) -> Iterator[tuple[str, str]]:
    """The edges of the call graph by name; what is no function's number stands for a class of callees."""
    for caller, callee in _PAIR.iter_unpack(section.data[: len(section.data) // _PAIR.size * _PAIR.size]):
        yield _function_name(cubin, caller), _function_name(cubin, callee)


def _function_name(cubin: Cubin, number: int) -> str:
    known = 0 < number < len(cubin.symbols) and cubin.symbols[number].is_function
    return cubin.symbols[number].name if known else str(number)


def notes(section: Section) -> Iterator[dict[str, Any]]:
    """The notes of a section; ``TOOL_STRINGS`` are the fields that tell who made the file."""
    data, at = section.data, 0
    while at + _NOTE_HEADER.size <= len(data):
        owner_size, size, kind = _NOTE_HEADER.unpack_from(data, at)
        begin = at + _NOTE_HEADER.size + (owner_size + 3 & ~3)
        owner = data[at + _NOTE_HEADER.size : at + _NOTE_HEADER.size + owner_size].rstrip(b"\0").decode("latin-1")
        body = data[begin : begin + size]
        yield {"section": section.name, "owner": owner, "type": kind, **_note(kind, body)}
        at = begin + (size + 3 & ~3)


def _note(kind: int, body: bytes) -> dict[str, Any]:
    if kind == _TOOL_NOTE and len(body) >= 4 + 4 * len(TOOL_STRINGS):
        numbers = [int.from_bytes(body[i : i + 4], "little") for i in range(0, 4 + 4 * len(TOOL_STRINGS), 4)]
        strings = body[4 + 4 * len(TOOL_STRINGS) :]
        texts = {
            name: strings[at:].split(b"\0")[0].decode("utf-8", "replace")
            for name, at in zip(TOOL_STRINGS, numbers[1:], strict=True)
        }
        return {"note_version": numbers[0], **texts}
    if kind == _CUDA_NOTE and len(body) >= 6:
        version, sm, toolkit = (int.from_bytes(body[i : i + 2], "little") for i in (0, 2, 4))
        return {"note_version": version, "virtual_sm": f"sm_{sm}", "toolkit": f"{toolkit // 10}.{toolkit % 10}"}
    return {"data": body.hex()}


def _group(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{title}:"
    for line in lines:
        yield f"  {line}"


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Rows as columns as wide as they need."""
    if not rows:
        return
    cells = [list(rows[0]), *([_cell(name, value) for name, value in row.items()] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(name: str, value: Any) -> str:
    decimal = name in {"index", "link", "info", "align", "entsize"}
    return f"{value:#x}" if isinstance(value, int) and not decimal else str(value)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(v)}" for name, v in value.items())
    if isinstance(value, list):
        return " ".join(_shown(v) if not isinstance(v, dict) else f"({_shown(v)})" for v in value)
    if value is True:
        return "set"
    return f"{value:#x}" if isinstance(value, int) else str(value)
