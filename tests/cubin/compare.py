"""The structure of a cubin as lines of text without file offsets and section numbers: two files can be laid side by side."""

from __future__ import annotations

from itertools import pairwise

from oric.support.elf import Cubin, Record, Segment, Symbol

# Contents that name the tool or depend on what only its maker knows (where the prologue ends).
_OPAQUE = (".shstrtab", ".strtab", ".symtab", ".note.nv.tkinfo", ".debug_frame")


_SECOND_COPY = 0x10000000  # flag of the sections of a second copy of the code, which only files of ptxas have (from sm_100 on)
_FASTPATH = b"\x04\x0b\x08\x00"  # CAN_FASTPATH_FINALIZE in .nv.compat, a record of 8 bytes: what can be made of that copy


def structure(cubin: Cubin) -> list[str]:
    """Header, program headers, sections, symbols, relocations, records: one line each.

    A second copy of the code is left out, and what .nv.compat says of it.
    """
    c = cubin
    out = [f"header osabi {c.osabi:#x} abi {c.abiversion} version {c.version} flags {c.flags:#x} type {c.type} target {c.target}"]
    for s in c.segments:
        out.append(f"segment type {s.type} flags {s.flags} {_covered(c, s)} bss {s.memsz - s.filesz:#x} align {s.align}")
    sections = [s for s in c.sections if not s.flags & _SECOND_COPY]
    for s in sections:
        info = _info(c, s.type, s.flags, s.name, s.info)
        size = "-" if s.name in _OPAQUE else f"{s.size:#x}"
        link = c.sections[s.link].name
        layout = f"link {link} {info} align {s.align} entsize {s.entsize}"
        out.append(f"section {s.name} type {s.type:#x} flags {s.flags:#x} size {size} {layout}")
    out += [f"symbol {_symbol(c, y)}" for y in c.symbols]
    for r in c.relocations:
        if c.sections[r.section].flags & _SECOND_COPY:
            continue
        value = f"{c.symbols[r.symbol].name} + {r.addend}"
        out.append(f"relocation {c.sections[r.section].name} {_place(c, r.section, r.offset)} type {r.type} {value}")
    out += [f"info {_record(c, r)}" for r in c.records]
    for f in c.functions.values():
        out += [f"info {f.name} {_record(c, r)}" for r in f.records]
    for s in sections:
        if s.name not in _OPAQUE and s.data and s.type not in (4, 9, 0x70000000):
            data = bytes(s.data)
            if s.name == ".nv.compat":
                data = data[: data.index(_FASTPATH) + len(_FASTPATH)]
            out.append(f"data {s.name} {data.hex()}")
    return out


def _covered(c: Cubin, segment: Segment) -> str:
    """The sections of a segment and their bytes; the padding between them depends on the length of the tool's name."""
    start, end = segment.offset, segment.offset + segment.filesz
    own = [x for x in c.sections if not x.flags & _SECOND_COPY]
    inside = [x for x in own if x.flags & 2 and x.data and start <= x.offset and x.offset + len(x.data) <= end]
    for first, second in pairwise(inside):
        assert second.offset - first.offset - len(first.data) < second.align, f"a gap before {second.name}"
    if inside:
        assert inside[0].offset == start
    return f"{sum(len(x.data) for x in inside):#x} bytes of {[x.name for x in inside]}"


def _info(c: Cubin, kind: int, flags: int, name: str, info: int) -> str:
    if flags & 0x40:
        return f"info {c.sections[info].name}"
    if name.startswith(".text."):
        return f"info {info >> 24} registers, symbol {c.symbols[info & 0xFFFFFF].name}"
    return f"info {info}" if kind != 2 else f"locals end with {c.symbols[info - 1].name}"


def _symbol(c: Cubin, y: Symbol) -> str:
    section = c.sections[y.section].name if y.section < len(c.sections) else hex(y.section)
    return f"{y.name!r} info {y.info:#x} other {y.other:#x} section {section} value {y.value:#x} size {y.size:#x}"


def _place(c: Cubin, section: int, offset: int) -> str:
    return "-" if c.sections[section].name == ".debug_frame" else f"{offset:#x}"


def _record(c: Cubin, r: Record) -> str:
    words = [f"{w:#x}" for w in r.words()]
    if r.name in ("REGCOUNT", "FRAME_SIZE", "MIN_STACK_SIZE", "PARAM_CBANK"):
        words[0] = c.symbols[r.words()[0]].name
    return f"{r.name} format {r.format} " + (" ".join(words) if r.format == 4 else str(r.value))
