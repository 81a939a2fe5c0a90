"""From assembly text to the bytes of a cubin: sections numbered, names resolved, instructions assembled, the file laid out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from oric_tables import cubin as tables

from oric.support.elf import Section, has_bytes
from oric.support.elf_format import (
    ELF_MAGIC,
    EM_CUDA,
    HEADER,
    REL,
    RELA,
    SECTION,
    SEGMENT,
    SHF_EXECINSTR,
    SHT_PROGBITS,
    SHT_REL,
    SYMBOL,
)
from oric.support.targets import TargetError, find_model

from . import asm_facts as facts
from .asm_facts import unquoted
from .asm_kernel import expand_kernels
from .asm_read import AsmError, Source, SourceInstruction, SourceSection, Statement, number_of, options, read_source
from .asm_write import MOST_GAP, SEGMENT_ALIGN, SEGMENT_TYPES, segment_sizes
from .assemble import Assembler, TextError, operand_texts
from .code import INSTRUCTION_BYTES

_TABLE_ALIGN: Final = 8
_MOST_ERRORS: Final = 20
_OWN: Final = (".shstrtab", ".strtab", ".symtab")
_MOST_SECTIONS: Final = 0xFEFF
_FLAG_BITS: Final = {"r": 4, "w": 2, "x": 1, "-": 0}


def assemble_text(text: str) -> bytes:
    """The cubin that an assembly text describes.

    Raises:
        AsmError: the text is wrong; line and column say where.
    """
    return _Builder(read_source(text)).image()


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.target = _target(source)
        expand_kernels(source, self.target)
        self.order = _numbered(source)
        self.names: dict[str, list[int]] = {}
        for number, section in enumerate(self.order, 1):
            self.names.setdefault(section.name, []).append(number)
        self.sections = [Section(0, "", 0, 0, 0, 0, 0, 0, 0, 0, b"")]
        self.symbols: dict[int, dict[str, list[int]]] = {}
        self.entries: dict[int, list[Statement]] = {}

    def image(self) -> bytes:
        """The whole file."""
        for number, section in enumerate(self.order, 1):
            self.sections.append(self._header(number, section))
        for number, section in enumerate(self.order, 1):
            if self.sections[number].type in facts.SYMTAB_TYPES:
                self._name_symbols(number, section)
        for number, section in enumerate(self.order, 1):
            self._finish_header(number, section)
        strings = _Strings(self.order[self.names[".strtab"][0] - 1].data)
        for number, section in enumerate(self.order, 1):
            self.sections[number].data = self._contents(number, section, strings)
        self._strings(strings)
        return self._laid_out()

    # -- section headers -----------------------------------------------------------------------------------------

    def _header(self, number: int, source: SourceSection) -> Section:
        """Everything but what names other sections."""
        kind = facts.kind_of(source.name)
        given, at = source.options, source.statement
        type_text = given.get("type", "")
        kind_number = facts.TYPES[type_text] if type_text in facts.TYPES else number_of(at, type_text) if type_text else kind.type
        flags = number_of(at, given["flags"]) if "flags" in given else kind.flags
        align = number_of(at, given["align"]) if "align" in given else kind.align
        entsize = number_of(at, given["entsize"]) if "entsize" in given else kind.entsize
        size = number_of(at, given["size"]) if "size" in given else 0
        if "size" in given and has_bytes(kind_number, flags):
            raise at.error("size= is for sections without bytes of their own (type=NOBITS)", "size")
        if not has_bytes(kind_number, flags) and (source.data or source.instructions):
            raise at.error("a section of type NOBITS has a size= and no contents")
        if not 0 <= align < 1 << 32 or align & (align - 1) or not 0 <= size < 1 << 48 or not 0 <= flags < 1 << 64:
            raise at.error("flags, alignment (a power of two) or size out of range")
        return Section(number, source.name, kind_number, flags, 0, size, 0, 0, align, entsize, b"")

    def _finish_header(self, number: int, source: SourceSection) -> None:
        section, given, at = self.sections[number], source.options, source.statement
        kind = facts.kind_of(source.name)
        section.link = self._section(at, given["link"]) if "link" in given else self._default(at, kind.link)
        if "info" in given:
            text = given["info"]
            section.info = number_of(at, text) if text[:1].isdigit() else self._section(at, text)
        elif self._is_code(section):
            section.info = self._code_info(section, source)
        elif section.type != facts.SYMTAB_TYPES[0]:
            section.info = self._default(at, facts.owner_section(source.name))

    def _code_info(self, section: Section, source: SourceSection) -> int:
        at = source.statement
        registers = number_of(at, source.options.get("registers", "0"))
        if not 0 <= registers < 256:
            raise at.error("registers= is 0 to 255", "registers")
        if "symbol" in source.options:
            symbol = number_of(at, source.options["symbol"])
        else:
            found = self.symbols.get(section.link, {}).get(source.name.removeprefix(facts.TEXT_PREFIX), [0])
            symbol = found[0]
        return registers << 24 | symbol

    @staticmethod
    def _is_code(section: Section) -> bool:
        return section.type == SHT_PROGBITS and bool(section.flags & SHF_EXECINSTR)

    def _default(self, at: Statement, name: str) -> int:
        return self.names[name][0] if name in self.names else 0

    def _section(self, at: Statement, text: str) -> int:
        """The number of a section that a directive names."""
        if re.fullmatch(r"#\d+", text):
            if int(text[1:]) >= _MOST_SECTIONS << 8:
                raise at.error(f"there is no section {text}", text)
            return int(text[1:])
        name = unquoted(text)
        if name not in self.names:
            raise at.error(f"there is no section '{name}'" + _near(name, self.names), text)
        if len(self.names[name]) > 1:
            raise at.error(f"there is more than one section '{name}': name it by its number, #N", text)
        return self.names[name][0]

    # -- names ---------------------------------------------------------------------------------------------------

    def _name_symbols(self, number: int, source: SourceSection) -> None:
        found: dict[str, list[int]] = {}
        for entry, statement in enumerate(self._of(source, "symbol"), 1):
            if len(statement.values) != 5:
                raise statement.error("expected .symbol NAME, KIND, SECTION, VALUE, SIZE")
            found.setdefault(unquoted(statement.values[0]), []).append(entry)
        self.symbols[number] = found

    def _of(self, source: SourceSection, *words: str) -> list[Statement]:
        """The entries of a section, which must be of these kinds."""
        for statement in source.entries:
            if statement.word not in words:
                raise statement.error(f"'.{statement.word}' does not belong into the section {source.name}")
        return source.entries

    def _symbol(self, at: Statement, table: int, text: str) -> int:
        if re.fullmatch(r"#\d+|0x[0-9a-f]+|\d+", text):
            return number_of(at, text.lstrip("#"))
        name = unquoted(text)
        found = self.symbols.get(table, {}).get(name, [])
        if not found:
            raise at.error(f"there is no symbol '{name}'" + _near(name, self.symbols.get(table, {})), text)
        if len(found) > 1:
            raise at.error(f"there is more than one symbol '{name}': name it by its number, #N", text)
        return found[0]

    def _place(self, at: Statement, section: int, text: str) -> int:
        """An offset in a section: a number, a mark, a label."""
        if re.match(r"-?\d", text):
            return number_of(at, text)
        source = self.order[section - 1] if 0 < section <= len(self.order) else None
        if source is None or not self._is_code(self.sections[section]):
            raise at.error(f"'{text}' is a place in code, but this belongs to no code section", text)
        if text == "@end":
            return len(source.instructions) * INSTRUCTION_BYTES
        if re.fullmatch(r"@[0-9a-f]+", text):
            found = source.marks.get(int(text[1:], 16), [])
            if len(found) != 1:
                what = "more than one instruction is" if found else "no instruction is"
                raise at.error(f"{what} marked /*{text[1:]}*/ in {source.name}", text)
            return found[0] * INSTRUCTION_BYTES
        name = unquoted(text)
        if name not in source.labels:
            raise at.error(f"there is no label '{name}' in {source.name}" + _near(name, source.labels), text)
        return source.labels[name] * INSTRUCTION_BYTES

    # -- contents ------------------------------------------------------------------------------------------------

    def _contents(self, number: int, source: SourceSection, strings: _Strings) -> bytes:
        section = self.sections[number]
        if (source.instructions or source.labels) and not self._is_code(section):
            message = "instructions and labels belong into a section of code, like .text.NAME"
            if source.instructions:
                raise AsmError(source.instructions[0].line, source.instructions[0].column, message)
            raise source.statement.error(message)
        if bool(source.instructions or source.labels) + bool(source.data) + bool(source.entries) > 1:
            raise source.statement.error("a section holds instructions, or data, or entries: one of them")
        if source.data:
            return bytes(source.data)
        if section.type in facts.INFO_TYPES:
            return self._records(section, source)
        if section.type in facts.SYMTAB_TYPES:
            return self._symbol_table(section, source, strings)
        if section.type in facts.RELOCATION_TYPES:
            return self._relocations(section, source)
        if section.type == facts.CALLGRAPH:
            calls = [self._symbol(s, section.link, text) for s in self._of(source, "call") for text in s.values]
            return b"".join((symbol % (1 << 32)).to_bytes(4, "little") for symbol in calls)
        self._of(source)
        return self._code(section, source)

    def _code(self, section: Section, source: SourceSection) -> bytes:
        assembler = Assembler(find_model(self.target))
        names = {f"`({name})": place * INSTRUCTION_BYTES for name, place in source.labels.items()}
        relocated = self._relocated(section.index)
        words = bytearray()
        wrong: list[AsmError] = []
        for number, instruction in enumerate(source.instructions):
            word = instruction.word
            offset = number * INSTRUCTION_BYTES
            try:
                if word is None:
                    targets, immediate = _operands(instruction, names, offset in relocated, source)
                    word = assembler.word(instruction.text, offset, instruction.control, targets, immediate, instruction.unseen)
                words += word.to_bytes(INSTRUCTION_BYTES, "little")
            except TextError as error:
                wrong.append(AsmError(instruction.line, instruction.column + error.column, str(error)))
            except AsmError as error:
                wrong.append(error)
        if wrong:
            wrong[0].others = wrong[1:_MOST_ERRORS]
            raise wrong[0]
        return bytes(words)

    def _relocated(self, number: int) -> set[int]:
        """The offsets in a code section at which a relocation gives the text of an operand."""
        out = set()
        for index, source in enumerate(self.order, 1):
            if self.sections[index].type in facts.RELOCATION_TYPES and self.sections[index].info == number:
                for statement in self._of(source, "reloc"):
                    kind = tables.RELOCATIONS.get(self._relocation_type(statement))
                    if kind is not None and kind.text:
                        out.add(self._place(statement, number, statement.values[1]))
        return out

    @staticmethod
    def _relocation_type(statement: Statement) -> int:
        if not 3 <= len(statement.values) <= 4:
            raise statement.error("expected .reloc TYPE, PLACE, SYMBOL[, ADDEND]")
        name = statement.values[0]
        found = {row.name: code for code, row in tables.RELOCATIONS.items()}
        if name in found:
            return int(found[name])
        if not name.isdigit():
            raise statement.error(f"there is no relocation '{name}'" + _near(name, found), name)
        return int(name)

    def _relocations(self, section: Section, source: SourceSection) -> bytes:
        out = bytearray()
        for statement in self._of(source, "reloc"):
            kind = self._relocation_type(statement)
            place = self._place(statement, section.info, statement.values[1])
            symbol = self._symbol(statement, section.link, statement.values[2])
            addend = number_of(statement, statement.values[3]) if len(statement.values) > 3 else 0
            if not (0 <= place < 1 << 64 and kind < 1 << 32 and symbol < 1 << 32 and -(1 << 63) <= addend < 1 << 63):
                raise statement.error("a value of the relocation does not fit")
            if section.type != SHT_REL:
                out += RELA.pack(place, kind, symbol, addend)
            elif addend:
                raise statement.error("a relocation of type REL has no addend: it is in the place itself", statement.values[3])
            else:
                out += REL.pack(place, kind, symbol)
        return bytes(out)

    def _records(self, section: Section, source: SourceSection) -> bytes:
        compat = facts.compat_names(source.name)
        code = section.info if section.flags & facts.INFO_LINK else 0
        out = bytearray()
        for statement in self._of(source, "info"):
            names = facts.Read(
                lambda text, s=statement: number_of(s, text),  # type: ignore[misc]
                lambda text, s=statement: self._symbol(s, section.link, text),  # type: ignore[misc]
                lambda text, s=statement: self._place(s, code, text),  # type: ignore[misc]
            )
            try:
                out += _record(statement, compat, names)
            except (ValueError, OverflowError) as error:
                raise statement.error(str(error)) from None
        return bytes(out)

    def _symbol_table(self, section: Section, source: SourceSection, strings: _Strings) -> bytes:
        out = bytearray(SYMBOL.size)
        last_local = 0
        for number, statement in enumerate(self._of(source, "symbol"), 1):
            name, kind, home, value, size = statement.values
            info, other = _symbol_kind(statement, kind)
            where = 0 if home == "-" else self._section(statement, home)
            start = self._place(statement, where, value)
            extent = self._place(statement, where, size) - start if not re.match(r"-?\d", size) else number_of(statement, size)
            if not (0 <= start < 1 << 64 and 0 <= extent < 1 << 64 and where < 1 << 16):
                raise statement.error("a value of the symbol does not fit")
            out += SYMBOL.pack(strings.add(unquoted(name)), info, other, where, start, extent)
            last_local = number if info >> 4 != 1 else last_local
        if section.type == facts.SYMTAB_TYPES[0] and "info" not in source.options:
            section.info = last_local + 1
        return bytes(out)

    # -- the file ------------------------------------------------------------------------------------------------

    def _strings(self, strings: _Strings) -> None:
        place = self.names[".shstrtab"][0]
        names = _Strings(self.order[place - 1].data)
        for section in self.sections:
            names.add(section.name)
        self.sections[place].data = bytes(names.data)
        self.sections[self.names[".strtab"][0]].data = bytes(strings.data)
        self.section_names = names

    def _laid_out(self) -> bytes:
        out = bytearray(HEADER.size)
        for section, source in zip(self.sections[1:], self.order, strict=True):
            if "at" in source.options:
                twin = self.sections[self._section(source.statement, source.options["at"])]
                if twin.index >= section.index:
                    raise source.statement.error("at= names a section in front of this one", "at=")
                section.offset, section.size, section.data = twin.offset, len(twin.data), twin.data
                continue
            out += bytes(-len(out) % (section.align or 1))
            if "gap" in source.options:
                out += bytes(self._gap(source))
            section.offset = len(out)
            if has_bytes(section.type, section.flags):
                section.size = len(section.data)
                out += section.data
        out += bytes(-len(out) % _TABLE_ALIGN)
        headers_at = len(out)
        for s in self.sections:
            name = self.section_names.add(s.name)
            out += SECTION.pack(name, s.type, s.flags, 0, s.offset, s.size, s.link, s.info, s.align, s.entsize)
        segments_at = len(out) if self.source.segments else 0
        for statement in self.source.segments:
            out += self._segment(statement, segments_at)
        kind, osabi, abi, version, flags, segment_bytes = self._elf_header()
        ident = ELF_MAGIC + b"\x02\x01\x01" + bytes([osabi, abi]) + bytes(7)
        HEADER.pack_into(
            out, 0, ident, kind, EM_CUDA, version, 0, segments_at, headers_at, flags,
            HEADER.size, segment_bytes, len(self.source.segments), SECTION.size, len(self.sections), self.names[".shstrtab"][0],
        )  # fmt: skip
        return bytes(out)

    @staticmethod
    def _gap(source: SourceSection) -> int:
        gap = number_of(source.statement, source.options["gap"])
        if not 0 <= gap < MOST_GAP:
            raise source.statement.error(f"gap= is less than {MOST_GAP:#x}", "gap")
        return gap

    def _elf_header(self) -> tuple[int, ...]:
        usual = facts.usual_header(self.target)
        statement = self.source.header
        if statement is None:
            if usual is None:
                listed = ", ".join(f"{key}=" for key in facts.HEADER_KEYS)
                raise self.source.target.error(f"what the ELF header of {self.target} holds is not known: write .elf {listed}")
            return usual
        given = options(statement, statement.values, tuple(facts.HEADER_KEYS))
        values = dict(zip(facts.HEADER_KEYS, usual or (), strict=False)) | {k: number_of(statement, v) for k, v in given.items()}
        for key, bits in facts.HEADER_KEYS.items():
            if not 0 <= values.get(key, -1) < 1 << bits:
                raise statement.error(f"{key}= is missing or does not fit {bits} bits")
        return tuple(values[k] for k in facts.HEADER_KEYS)

    def _segment(self, statement: Statement, table_at: int) -> bytes:
        if len(statement.values) < 2:
            raise statement.error("expected .segment TYPE, FLAGS[, FIRST SECTION, LAST SECTION]")
        kind_text, flag_text, *rest = statement.values
        kinds = {name: number for number, name in SEGMENT_TYPES.items()}
        kind = kinds[kind_text] if kind_text in kinds else number_of(statement, kind_text)
        if flag_text.strip("rwx-"):
            flags = number_of(statement, flag_text)
        else:
            flags = sum(_FLAG_BITS[letter] for letter in set(flag_text))
        known = options(statement, [r for r in rest if "=" in r], ("offset", "filesz", "memsz", "align"))
        numbers = {k: number_of(statement, v) for k, v in known.items()}
        align = numbers.pop("align", SEGMENT_ALIGN)
        sections = [r for r in rest if "=" not in r]
        if len(sections) == 2:
            first, last = (self._section(statement, name) for name in sections)
            inside = [s for s in self.sections[first : last + 1] if s.flags & 2]
            if not inside:
                raise statement.error("no section of the program lies there", sections[0])
            offset = inside[0].offset
            filesz, memsz = segment_sizes(inside)
        elif sections:
            raise statement.error("expected two sections, the first and the last", sections[0])
        elif numbers:
            offset, filesz, memsz = (numbers.get(k, 0) for k in ("offset", "filesz", "memsz"))
        else:
            offset, filesz = table_at, len(self.source.segments) * SEGMENT.size
            memsz = filesz
        try:
            return SEGMENT.pack(kind, flags, offset, 0, 0, filesz, memsz, align)
        except Exception:
            raise statement.error("a value of the segment does not fit") from None


class _Strings:
    """A string table, perhaps begun; equal strings share one place."""

    def __init__(self, begun: bytes | bytearray = b"") -> None:
        self.data = bytearray(begun or b"\0")
        self._places = {"": 0}
        place = 1
        for name in bytes(self.data[1:]).split(b"\0")[:-1]:
            self._places.setdefault(name.decode(errors="surrogateescape"), place)
            place += len(name) + 1

    def add(self, text: str) -> int:
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.data)
            self.data += text.encode("utf-8") + b"\0"
        return place


def _target(source: Source) -> str:
    statement = source.target
    if len(statement.values) != 1:
        raise statement.error("expected one target, like .target sm_90")
    try:
        find_model(statement.values[0])
    except TargetError as error:
        raise statement.error(str(error), statement.values[0]) from None
    return statement.values[0]


def _numbered(source: Source) -> list[SourceSection]:
    """The sections in the order of the file: those with index= there, the others in the places between, the tables in front."""
    there = {section.name for section in source.sections}
    made = [SourceSection(name, Statement("section", [name], source.target.line, "")) for name in _OWN if name not in there]
    total = len(made) + len(source.sections)
    if total > _MOST_SECTIONS:
        raise source.target.error(f"{total} sections are more than a file can have")
    fixed: dict[int, SourceSection] = {}
    for section in source.sections:
        if "index" not in section.options:
            continue
        number = number_of(section.statement, section.options["index"])
        if not 1 <= number <= total:
            raise section.statement.error(f"index= is 1 to {total} (the number of sections)", "index")
        if number in fixed:
            raise section.statement.error(f"section {number} is {fixed[number].name} already", "index")
        fixed[number] = section
    free = iter([*made, *(s for s in source.sections if "index" not in s.options)])
    return [fixed[number] if number in fixed else next(free) for number in range(1, total + 1)]


def _operands(
    instruction: SourceInstruction, names: Mapping[str, int], relocated: bool, source: SourceSection
) -> tuple[dict[str, int], str]:
    """The named operands of an instruction: branch targets with their offsets, and the operand that a relocation fills."""
    targets: dict[str, int] = {}
    immediate = ""
    for word in operand_texts(instruction.text):
        if word in names and not relocated:
            targets[word] = names[word]
        elif relocated or word.startswith("`(("):
            immediate = word
        else:
            name = word[2:-1] if word.startswith("`(") else word
            column = instruction.column + instruction.text.find(word)
            if word.startswith("`("):
                known = [n[2:-1] for n in names]
                raise AsmError(instruction.line, column, f"there is no label '{name}' in {source.name}" + _near(name, known))
            raise AsmError(instruction.line, column, f"'{name}' needs a relocation: there is no .reloc for this instruction")
    return targets, immediate


def _record(statement: Statement, compat: bool, names: facts.Read) -> bytes:
    if not statement.values:
        raise ValueError("expected .info ATTRIBUTE[, VALUE...]")
    code, form = facts.record_code(statement.values[0], compat)
    head = bytes([form, code])
    values = statement.values[1:]
    if form == facts.NONE:
        if values:
            raise ValueError(f"{statement.values[0]} has no value")
        return head + bytes(2)
    if form == facts.SIZED:
        payload = facts.read_payload(code, ", ".join(values), compat, names)
        return head + len(payload).to_bytes(2, "little") + payload
    if len(values) != 1:
        raise ValueError(f"{statement.values[0]} has one value")
    value = names.number(values[0])
    if not 0 <= value < (1 << 8 if form == facts.BYTE else 1 << 16):
        raise ValueError(f"{values[0]} does not fit the record")
    return head + value.to_bytes(2, "little")


def _symbol_kind(statement: Statement, text: str) -> tuple[int, int]:
    if text in facts.SYMBOL_KINDS:
        return facts.SYMBOL_KINDS[text]
    match = re.fullmatch(r"(0x[0-9a-f]{1,2})/(0x[0-9a-f]{1,2})", text)
    if match is None:
        raise statement.error(f"'{text}' is no kind of symbol: {', '.join(facts.SYMBOL_KINDS)} or 0xINFO/0xOTHER", text)
    return int(match[1], 16), int(match[2], 16)


def _near(name: str, known: Mapping[str, object] | list[str]) -> str:
    found = get_close_matches(name, list(known), 1, 0.6)
    return f"; there is '{found[0]}'" if found else ""
