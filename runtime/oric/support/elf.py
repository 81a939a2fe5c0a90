"""Reader of cubins: ELF sections, symbols, relocations, ``.nv.info`` records, and the facts of each kernel.

Reads the container that ptxas 12.x writes (OS ABI 0x33) and the one of ptxas 13 (OS ABI 0x41), finished cubins and
``-c`` objects. Every number of the file is checked before use: whatever is wrong with it, :class:`CubinError` with
a short message is the only exception. Names and codes come from ``oric_tables.cubin``.

Sources: ELF-64 object file format; the container as observed in ptxas 12.8 and 13.0 output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from typing import Final, NamedTuple

from oric_tables import cubin as tables
from oric_tables.numbers import INSN_BYTES
from oric_tables.targets import KNOWN, TARGETS, Target

from oric.support.targets import TargetError, find_model, no_code

from .elf_format import (
    EM_CUDA,
    ET_EWP,
    ET_EXEC,
    ET_REL,
    REL,
    RELA,
    SEGMENT,
    SHF_EXECINSTR,
    SHF_MERCURY,
    SHT_NOBITS,
    SHT_PROGBITS,
    SHT_REL,
    SHT_RELA,
    SHT_SYMTAB,
    STO_ENTRY,
    STT_FUNC,
    SYMBOL,
)
from .elf_image import CubinError, ElfImage

__all__ = [
    "Cubin",
    "CubinError",
    "Function",
    "Param",
    "Record",
    "Relocation",
    "Section",
    "Segment",
    "Symbol",
    "model_of",
    "read",
    "target_of",
]

INSTRUCTION_BYTES: Final[int] = INSN_BYTES
_AGAIN: Final = "#"  # between the name of a function that has another one's name and the number of its section
_PARAM: Final = Struct("<IHHI")
_LONG_PARAM: Final = Struct("<IHHHBB")
_U32: Final = Struct("<I")
_I64: Final = Struct("<q")


@dataclass(slots=True)
class Section:
    """One section header and the bytes of its section (empty for NOBITS, whose ``size`` may still be large)."""

    index: int
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entsize: int
    data: bytes


def has_bytes(kind: int, flags: int) -> bool:
    """Whether a section of this type and these flags has bytes in the file; reserved shared memory: in the second form only."""
    return kind != 0 and (kind not in tables.TYPES_WITHOUT_BYTES or (kind != SHT_NOBITS and bool(flags & SHF_MERCURY)))


class Symbol(NamedTuple):
    """One symbol table entry; ``section`` is a section index, 0 = undefined."""

    number: int  # index in the table
    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_function(self) -> bool:
        """True for kernels and device functions."""
        return self.info & 0xF == STT_FUNC


class Relocation(NamedTuple):
    """The place ``offset`` of section ``section`` takes the value of ``symbol`` (an index) plus ``addend``."""

    section: int
    offset: int
    type: int
    symbol: int
    addend: int


class Segment(NamedTuple):
    """One program header."""

    type: int
    flags: int
    offset: int
    filesz: int
    memsz: int
    align: int


class Record(NamedTuple):
    """One ``.nv.info`` or ``.nv.compat`` record: ``value`` of formats 2 and 3, ``data`` of format 4."""

    code: int
    format: int
    value: int
    data: bytes

    @property
    def name(self) -> str:
        """The attribute's name without EIATTR_, ``0x..`` when it has none."""
        known = tables.ATTRIBUTES.get(self.code)
        return known.name if known else f"{self.code:#04x}"

    def words(self) -> tuple[int, ...]:
        """The payload as unsigned 32-bit words (a rest of 1 to 3 bytes is left out)."""
        return tuple(w for (w,) in _U32.iter_unpack(self.data[: len(self.data) & ~3]))


class Param(NamedTuple):
    """One kernel parameter; ``offset`` in bytes from the start of the parameter area."""

    ordinal: int
    offset: int
    size: int
    space: int  # 4: pointer into global memory
    pointee_align: int  # bytes, 1 when not declared


@dataclass(slots=True)
class Function:
    """One ``.text.NAME`` section and what the file says about it. Sizes in bytes."""

    name: str
    section: int
    symbol: int  # index of the function's symbol, 0 when there is none
    is_entry: bool
    text: bytes
    registers: int = 0
    params: list[Param] = field(default_factory=list)
    param_base: int = 0  # offset in bank 0
    param_size: int = 0
    frame_size: int = 0
    min_stack: int = 0
    shared_size: int = 0  # of .nv.shared.NAME: static part plus what the SM reserves
    shared_section: int = 0
    barriers: int = 0  # CTA barriers, highest used + 1
    max_registers: int = 0
    max_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None  # CTAs of a cluster
    max_cluster: int = 0  # most CTAs of a cluster, 0 when not stated
    blocks_are_clusters: bool = False  # the grid of a launch counts clusters
    exits: tuple[int, ...] = ()
    branch_targets: dict[int, tuple[int, ...]] = field(default_factory=dict)  # offset of an indirect branch -> targets
    constants: dict[int, bytes] = field(default_factory=dict)  # banks of this function (0, 2): bank -> bytes
    constant_sections: dict[int, int] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)


class Cubin:
    """A cubin that has been read. Raises :class:`CubinError` from the constructor.

    ``functions`` are in the order of the file, by name; local ones of the name of another have the number of their section
    behind it. ``constants`` are the banks of the module (3, 4) as bank -> bytes. ``sm`` and ``variant`` ("" or "a") come from the
    header (and ``.nv.compat``); ``target`` joins them ("sm_90a").
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.records: list[Record] = []
        self.compat: list[Record] = []
        self.functions: dict[str, Function] = {}
        self.constants: dict[int, bytes] = {}
        self.constant_sections: dict[int, int] = {}
        self._read_header()
        self._read_sections()
        self._read_segments()
        self.symbols: list[Symbol] = self._read_symbols()
        self.relocations: list[Relocation] = self._read_relocations()
        self._read_target()
        self._read_functions()
        self._read_constants()
        self._read_info()

    @property
    def target(self) -> str:
        """The target's usual name, ``sm_90`` or ``sm_90a``."""
        return f"sm_{self.sm}{self.variant}"

    @property
    def kernels(self) -> dict[str, Function]:
        """The functions that can be launched."""
        return {name: f for name, f in self.functions.items() if f.is_entry}

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return self._by_name.get(name)

    def relocations_of(self, section: int) -> list[Relocation]:
        """The relocations that patch a section, in order of offset."""
        return self._relocations_by_section.get(section, [])

    def symbols_of(self, section: int) -> list[Symbol]:
        """The symbols that lie in a section, in order of the symbol table."""
        return self._symbols_by_section.get(section, [])

    @cached_property
    def _relocations_by_section(self) -> dict[int, list[Relocation]]:
        out: dict[int, list[Relocation]] = {}
        for relocation in sorted(self.relocations, key=lambda r: r.offset):
            out.setdefault(relocation.section, []).append(relocation)
        return out

    @cached_property
    def _symbols_by_section(self) -> dict[int, list[Symbol]]:
        out: dict[int, list[Symbol]] = {}
        for symbol in self.symbols:
            out.setdefault(symbol.section, []).append(symbol)
        return out

    # -- container -------------------------------------------------------------------------------------------

    def _read_header(self) -> None:
        image = self._image = ElfImage(self.data)
        header = image.header
        if header.machine != EM_CUDA:
            raise CubinError(f"not a cubin: ELF machine {header.machine} is not CUDA ({EM_CUDA})")
        if header.type not in (ET_REL, ET_EXEC, ET_EWP):
            raise CubinError(f"not a cubin: ELF type {header.type} is neither an executable nor an object")
        self.type, self.version, self.entry, self.flags = header.type, header.version, header.entry, header.flags
        self.osabi, self.abiversion = header.ident[7], header.ident[8]
        self.segments_at, self.segment_bytes = header.phoff, header.phentsize  # offset of the program headers, size of each
        form = tables.HEADER_FORMS.get(self.osabi)
        if form is None:
            raise CubinError(f"unknown form of cubin: OS ABI {self.osabi:#x}")
        self.form = form
        self.sm = self.flags >> form.sm_shift & 0xFF
        self.variant = "a" if self.flags & form.variant_flag else ""

    def _read_sections(self) -> None:
        self.sections: list[Section] = []
        self._by_name: dict[str, Section] = {}
        headers = self._image.section_headers()
        for index, (label, kind, flags, offset, size, link, info, align, entsize) in enumerate(headers):
            if link >= len(headers):
                raise CubinError(f"section {index} ({label}) is linked to section {link} of {len(headers)}")
            data = self._image.slice(f"section {index} ({label})", offset, size) if has_bytes(kind, flags) else b""
            section = Section(index, label, kind, flags, offset, size, link, info, align, entsize, data)
            self.sections.append(section)
            self._by_name.setdefault(label, section)

    def _read_segments(self) -> None:
        self.segments: list[Segment] = []
        header = self._image.header
        if header.phnum == 0:
            return
        if header.phentsize != SEGMENT.size:
            raise CubinError(f"program headers of {header.phentsize} bytes, not {SEGMENT.size}")
        raw = self._image.slice("the program header table", header.phoff, header.phnum * SEGMENT.size)
        for index, (kind, flags, offset, _va, _pa, filesz, memsz, align) in enumerate(SEGMENT.iter_unpack(raw)):
            self._image.within(f"program segment {index}", offset, filesz)
            self.segments.append(Segment(kind, flags, offset, filesz, memsz, align))

    def _read_symbols(self) -> list[Symbol]:
        table = next((s for s in self.sections if s.type == SHT_SYMTAB), None)
        if table is None:
            return []
        if len(table.data) % SYMBOL.size:
            raise CubinError("the symbol table does not hold whole entries")
        names = self.sections[table.link].data
        out: list[Symbol] = []
        for index, (name, info, other, section, value, size) in enumerate(SYMBOL.iter_unpack(table.data)):
            label = self._image.string(names, name, f"symbol {index}")
            if section >= len(self.sections) and section < 0xFF00:
                raise CubinError(f"symbol {index} ({label}) lies in section {section} of {len(self.sections)}")
            out.append(Symbol(index, label, info, other, section, value, size))
        return out

    def _read_relocations(self) -> list[Relocation]:
        out: list[Relocation] = []
        for table in self.sections:
            if table.type not in (SHT_REL, SHT_RELA):
                continue
            layout = RELA if table.type == SHT_RELA else REL
            if len(table.data) % layout.size:
                raise CubinError(f"{table.name} does not hold whole entries")
            if not 0 < table.info < len(self.sections):
                raise CubinError(f"{table.name} patches section {table.info} of {len(self.sections)}")
            patched = self.sections[table.info]
            for entry in layout.iter_unpack(table.data):
                out.append(self._relocation(table, patched, entry))
        return out

    def _relocation(self, table: Section, patched: Section, entry: tuple[int, ...]) -> Relocation:
        offset, kind, symbol = entry[:3]
        size = tables.RELOCATIONS[kind].size if kind in tables.RELOCATIONS else 1
        if offset > patched.size or size > patched.size - offset:
            raise CubinError(f"{table.name}: offset {offset:#x} lies outside of {patched.name}")
        if symbol >= len(self.symbols):
            raise CubinError(f"{table.name}: symbol {symbol} of {len(self.symbols)}")
        if len(entry) == 4:
            addend = entry[3]
        else:
            place = patched.data[offset : offset + 8]
            addend = _I64.unpack(place)[0] if size == 8 and len(place) == 8 else 0
        return Relocation(patched.index, offset, kind, symbol, addend)

    # -- contents --------------------------------------------------------------------------------------------

    def _read_target(self) -> None:
        section = self.section(".nv.compat")
        if section is None:
            return
        self.compat = read_records(section.data, section.name)
        for record in self.compat:
            if record.code == tables.COMPAT_VARIANT and record.value == 1:
                self.variant = "a"

    def _read_functions(self) -> None:
        for section in self.sections:
            if section.type != SHT_PROGBITS or not section.flags & SHF_EXECINSTR or not section.name.startswith(".text."):
                continue
            name = section.name[len(".text.") :]
            if name in self.functions:  # local functions of objects that were linked
                name = f"{name}{_AGAIN}{section.index}"
            if len(section.data) % INSTRUCTION_BYTES:
                raise CubinError(f"{section.name} does not hold whole instructions")
            self.functions[name] = Function(name, section.index, 0, False, section.data)
        by_section = {f.section: f for f in self.functions.values()}
        for symbol in self.symbols:
            if not symbol.is_function or symbol.section not in by_section:
                continue
            function = by_section[symbol.section]
            if symbol.value > len(function.text):
                raise CubinError(f"function {symbol.name} starts behind the end of its section")
            if symbol.name == function.name.partition(_AGAIN)[0]:
                function.symbol = symbol.number
                function.is_entry = bool(symbol.other & STO_ENTRY)
            if function.is_entry and _AGAIN in function.name:
                raise CubinError(f"two sections {self.sections[function.section].name}")

    def _read_constants(self) -> None:
        for section in self.sections:
            if section.name.startswith(".nv.shared.") and section.name[11:] in self.functions:
                function = self.functions[section.name[11:]]
                function.shared_size, function.shared_section = section.size, section.index
            if not has_bytes(section.type, section.flags) or not section.name.startswith(".nv.constant"):
                continue
            bank_text, dot, name = section.name[len(".nv.constant") :].partition(".")
            if not (bank_text.isascii() and bank_text.isdigit() and len(bank_text) < 3):
                continue
            bank = int(bank_text)
            if not dot:
                self.constants[bank], self.constant_sections[bank] = section.data, section.index
            elif name in self.functions:
                owner = self.functions[name]
                owner.constants[bank], owner.constant_sections[bank] = section.data, section.index

    def _read_info(self) -> None:
        section = self.section(".nv.info")
        if section is not None:
            self.records = read_records(section.data, section.name)
        by_symbol = {f.symbol: f for f in self.functions.values() if f.symbol}
        for record in self.records:
            setter = _MODULE_FACTS.get(record.name)
            if setter is None:
                continue
            index, value = _need(record, 2, ".nv.info")[:2]
            if index in by_symbol:
                setattr(by_symbol[index], setter, value)
        own = {s.info: s for s in self.sections if s.name.startswith(".nv.info.")}
        for function in self.functions.values():
            section = own.get(function.section) or self.section(f".nv.info.{function.name}")
            if section is not None:
                function.records = read_records(section.data, section.name)
                _read_facts(function, section.name)


_MODULE_FACTS: Final = {"REGCOUNT": "registers", "FRAME_SIZE": "frame_size", "MIN_STACK_SIZE": "min_stack"}


def read(data: bytes) -> Cubin:
    """Read a cubin.

    Raises:
        CubinError: the bytes are not a well-formed cubin.
    """
    return Cubin(data)


def target_of(cubin: Cubin) -> Target:
    """The row of ``sm_targets`` that the cubin is for.

    Raises:
        CubinError: there is none.
    """
    for target in TARGETS.values():
        if target.number == cubin.sm and target.variant == cubin.variant:
            return target
    name = cubin.target
    raise CubinError(no_code(name) if name in KNOWN else f"code for {name} is not supported: there is no such target")


def model_of(cubin: Cubin) -> int:
    """Number of the encoding model of the cubin's code.

    Raises:
        CubinError: its encodings are not known.
    """
    try:
        return find_model(f"sm_{cubin.sm}")
    except TargetError as error:
        raise CubinError(str(error)) from error


def read_records(data: bytes, where: str) -> list[Record]:
    """The records of a section like ``.nv.info`` or ``.nv.compat``; ``where`` is its name, for messages.

    Raises:
        CubinError: a record is cut short or of no known format.
    """
    out: list[Record] = []
    offset, end = 0, len(data)
    while offset < end:
        if end - offset < 4:
            raise CubinError(f"{where}: truncated record at {offset:#x}")
        form, code = data[offset], data[offset + 1]
        value = data[offset + 2] | data[offset + 3] << 8
        if not 1 <= form <= 4:
            raise CubinError(f"{where}: unknown format {form} of the record at {offset:#x}")
        offset += 4
        payload = b""
        if form == 4:
            payload = data[offset : offset + value]
            if len(payload) < value:
                raise CubinError(f"{where}: the record at {offset - 4:#x} is longer than its section")
            offset += value
        elif form == 2:
            value &= 0xFF
        out.append(Record(code, form, value, payload))
    return out


def _need(record: Record, count: int, where: str) -> tuple[int, ...]:
    words = record.words()
    if len(words) < count:
        raise CubinError(f"{where}: {record.name} holds {len(record.data)} bytes, not {4 * count}")
    return words


def _read_facts(function: Function, where: str) -> None:
    for record in function.records:
        name = record.name
        if name == "KPARAM_INFO":
            function.params.append(_param(record, where))
        elif name == "KPARAM_INFO_V2":
            function.params.append(_long_param(record, where))
        elif name == "CBANK_PARAM_SIZE":
            function.param_size = record.value
        elif name == "PARAM_CBANK":
            word = _need(record, 2, where)[1]
            function.param_base = word & 0xFFFF
        elif name == "MAXREG_COUNT":
            function.max_registers = record.value
        elif name == "NUM_BARRIERS":
            function.barriers = record.value
        elif name == "EXIT_INSTR_OFFSETS":
            function.exits = record.words()
        elif name == "MAX_THREADS":
            x, y, z = _need(record, 3, where)[:3]
            function.max_threads = (x, y, z)
        elif name == "REQNTID":
            x, y, z = _need(record, 3, where)[:3]
            function.required_threads = (x, y, z)
        elif name == "CTA_PER_CLUSTER":
            x, y, z = _need(record, 3, where)[:3]
            function.cluster = (x, y, z) if x and y and z else None
        elif name == "MAX_CLUSTER_RANK":
            function.max_cluster = _need(record, 1, where)[0]
        elif name == "BLOCKS_ARE_CLUSTERS":
            function.blocks_are_clusters = True
        elif name == "INDIRECT_BRANCH_TARGETS":
            function.branch_targets.update(_branch_targets(record, where))
    function.params.sort(key=lambda p: p.ordinal)
    if [p.ordinal for p in function.params] != list(range(len(function.params))):
        raise CubinError(f"{where}: the parameters are not numbered 0 to {len(function.params) - 1}")


def _param(record: Record, where: str) -> Param:
    if len(record.data) < _PARAM.size:
        raise CubinError(f"{where}: KPARAM_INFO holds {len(record.data)} bytes, not {_PARAM.size}")
    _index, ordinal, offset, word = _PARAM.unpack_from(record.data)
    return Param(ordinal, offset, word >> 18, word >> 8 & 0xF, 1 << (word & 0xFF) if word & 0xFF < 32 else 1)


def _long_param(record: Record, where: str) -> Param:
    if len(record.data) < _LONG_PARAM.size:
        raise CubinError(f"{where}: KPARAM_INFO_V2 holds {len(record.data)} bytes, not {_LONG_PARAM.size}")
    _index, ordinal, offset, size, align, space = _LONG_PARAM.unpack_from(record.data)
    return Param(ordinal, offset, size, space, 1 << align if align < 32 else 1)


def _branch_targets(record: Record, where: str) -> dict[int, tuple[int, ...]]:
    out: dict[int, tuple[int, ...]] = {}
    words = record.words()
    place = 0
    while place < len(words):
        head = words[place : place + 3]
        if len(head) < 3 or head[2] > len(words) - place - 3:
            raise CubinError(f"{where}: INDIRECT_BRANCH_TARGETS is longer than its record")
        out[head[0]] = words[place + 3 : place + 3 + head[2]]
        place += 3 + head[2]
    return out
