"""Reading of assembly text: lines become sections with instructions, data and what directives say, not yet placed or resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Final

from oric_tables.numbers import NO_SCOREBOARD, SCOREBOARDS, STALL_MASK

from .asm_facts import unquoted
from .instruction import Control

_MARK: Final = r"(?:/\*(?P<{}>[0-9a-f]{{4,}})\*/\s*)?"
_INSTRUCTION: Final = re.compile(
    r"\s*" + _MARK.format("first")
    + r"(?:\[(?P<control>B[0-5-]{6}:R[0-5-]:W[0-5-]:[Y-]:S\d\d?)\]\s*)?" + _MARK.format("second")
    + r"(?P<text>[^;\"]*?)\s*(?:\(\*.*\*\)\s*)?;\s*(?:\^\{(?P<unseen>[^}]*)\}\s*)?(?://.*)?\Z"
)  # fmt: skip
_RAW: Final = re.compile(r"\.word\s+(0x[0-9a-f]{1,16})\s*,?\s+(0x[0-9a-f]{1,16})\s*\Z")
_LABEL: Final = re.compile(r"\s*(?P<name>\"(?:[^\"\\]|\\.)*\"|[^\s:;\[\]\"]+):\s*\Z")
_DIRECTIVE: Final = re.compile(r"\s*\.(?P<word>\w+)(?:\s+(?P<rest>.*))?\Z")
_COMMENT: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|//.*|/\*.*?\*/")
_ARGUMENT: Final = re.compile(r"\s*((?:\"(?:[^\"\\]|\\.)*\"|[^,\"])*?)\s*(?:,|\Z)")
_ODD_CONTROL: Final = re.compile(r"\s*(?:/\*[0-9a-f]+\*/\s*)?\[")


class AsmError(Exception):
    """Assembly text that means nothing; ``line`` and ``column`` count from 1, ``str()`` says what is wrong.

    ``others`` holds further mistakes of the same text.
    """

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.others: list[AsmError] = []


@dataclass(slots=True)
class Statement:
    """A directive: ``word`` without its dot, the values behind it, and where it stands."""

    word: str
    values: list[str]
    line: int
    raw: str

    def error(self, message: str, value: str = "") -> AsmError:
        """What is wrong with it, placed at one of its values."""
        place = self.raw.find(value) if value else -1
        return AsmError(self.line, 1 + (place if place >= 0 else len(self.raw) - len(self.raw.lstrip())), message)


@dataclass(slots=True)
class SourceInstruction:
    """One instruction: ``text`` as the disassembler prints it, from ``column`` on; ``word`` when it stands there as a word."""

    line: int
    column: int
    text: str
    control: int
    unseen: str
    word: int | None = None


@dataclass(slots=True)
class SourceSection:
    """A section as written. ``marks``: /*0040*/ -> numbers of the instructions marked so; ``labels``: name -> number."""

    name: str
    statement: Statement
    options: dict[str, str] = field(default_factory=dict)
    instructions: list[SourceInstruction] = field(default_factory=list)
    marks: dict[int, list[int]] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    data: bytearray = field(default_factory=bytearray)
    entries: list[Statement] = field(default_factory=list)
    facts: list[Statement] = field(default_factory=list)  # of .kernel: directives that sections are made from
    is_kernel: bool = False


@dataclass
class Source:
    """A whole text."""

    target: Statement
    header: Statement | None = None
    sections: list[SourceSection] = field(default_factory=list)
    segments: list[Statement] = field(default_factory=list)


ENTRIES: Final = ("info", "symbol", "reloc", "call")
KERNEL_FACTS: Final = ("registers", "param", "shared", "barriers", "frame", "maxthreads", "reqthreads")
_DIRECTIVES: Final = ("target", "elf", "section", "kernel", "segment", "word", "hex", "zero", "string", *ENTRIES, *KERNEL_FACTS)
SECTION_OPTIONS: Final = (
    "index",
    "type",
    "flags",
    "align",
    "entsize",
    "link",
    "info",
    "size",
    "at",
    "gap",
    "registers",
    "symbol",
)


def read_source(text: str) -> Source:
    """Read assembly text.

    Raises:
        AsmError: a line that is neither instruction, label, directive nor comment.
    """
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self.source: Source | None = None
        self.section: SourceSection | None = None

    def read(self, text: str) -> Source:
        number = 0
        for number, raw in enumerate(text.split("\n"), 1):
            raw = raw.rstrip()
            if not raw:
                continue
            match = _INSTRUCTION.match(raw)
            if match is not None and ";" in raw:
                self._instruction(number, match)
            else:
                self._other(number, raw)
        if self.source is None:
            raise AsmError(max(number, 1), 1, "there is no .target: the text must begin with one")
        return self.source

    def _other(self, number: int, raw: str) -> None:
        text = _COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else " " * len(m[0]), raw).rstrip()
        if not text:
            return
        if (match := _LABEL.match(text)) is not None:
            self._label(number, match)
        elif (match := _DIRECTIVE.match(text)) is not None:
            self._directive(Statement(match["word"], list(arguments(match["rest"] or "")), number, text))
        else:
            raise _wrong_line(number, text)

    def _code(self, line: int, column: int) -> SourceSection:
        if self.section is None:
            raise AsmError(line, column, "an instruction or a label belongs behind '.section .text.NAME' or '.kernel NAME'")
        return self.section

    def _instruction(self, number: int, match: re.Match[str]) -> None:
        text, column = match["text"], match.start("text") + 1
        section = self._code(number, column)
        if not text:
            raise AsmError(number, column, "there is no instruction before the ';'")
        raw = _RAW.match(text)
        if raw is None and match["control"] is None:
            if _ODD_CONTROL.match(text):
                raise AsmError(number, column, "expected a control code like [B0-----:R-:W1:-:S04]")
            raise AsmError(number, column, "an instruction needs its control code in front, like [B------:R-:W-:-:S01]")
        mark = match["first"] or match["second"]
        if mark:
            section.marks.setdefault(int(mark, 16), []).append(len(section.instructions))
        word = int(raw[1], 16) | int(raw[2], 16) << 64 if raw else None
        try:
            control = 0 if match["control"] is None else _control(match["control"])
        except _ControlError as error:
            raise AsmError(number, match.start("control") + error.column + 1, str(error)) from None
        section.instructions.append(SourceInstruction(number, column, text, control, match["unseen"] or "", word))

    def _label(self, number: int, match: re.Match[str]) -> None:
        section = self._code(number, match.start("name") + 1)
        name = unquoted(match["name"])
        place = len(section.instructions)
        if section.labels.setdefault(name, place) != place:
            raise AsmError(number, match.start("name") + 1, f"the label '{name}' is there twice")

    def _directive(self, statement: Statement) -> None:
        word = statement.word
        if word not in _DIRECTIVES:
            near = get_close_matches(word, _DIRECTIVES, 1, 0.6)
            raise statement.error(f"unknown directive '.{word}'" + (f"; there is .{near[0]}" if near else ""))
        if word == "target":
            if self.source is not None:
                raise statement.error("a second .target: one text makes one cubin")
            self.source = Source(statement)
            return
        if self.source is None:
            raise statement.error("the first directive must be .target")
        if word == "elf":
            self.source.header = statement
        elif word == "segment":
            self.source.segments.append(statement)
        elif word in ("section", "kernel"):
            self._begin(self.source, statement)
        elif self.section is None:
            raise statement.error(f"'.{word}' belongs into a section")
        elif word in ENTRIES:
            self.section.entries.append(statement)
        elif word in KERNEL_FACTS:
            if not self.section.is_kernel:
                raise statement.error(f"'.{word}' belongs behind '.kernel NAME'")
            self.section.facts.append(statement)
        else:
            _data(self.section.data, statement)

    def _begin(self, source: Source, statement: Statement) -> None:
        if not statement.values or not statement.values[0]:
            raise statement.error(f"expected a name behind '.{statement.word}'")
        name = unquoted(statement.values[0])
        self.section = SourceSection(name, statement)
        if statement.word == "kernel":
            self.section.name = f".text.{name}"
            self.section.is_kernel = True
        self.section.options = options(statement, statement.values[1:], SECTION_OPTIONS)
        source.sections.append(self.section)


def arguments(text: str) -> Iterator[str]:
    """The values of a directive: parted by commas outside of quotation marks."""
    place = 0
    while place < len(text):
        match = _ARGUMENT.match(text, place)
        if match is None:
            yield text[place:].strip()
            return
        yield match[1]
        place = match.end()


def options(statement: Statement, values: list[str], known: tuple[str, ...]) -> dict[str, str]:
    """``key=value`` words.

    Raises:
        AsmError: another word, or a key that is not known.
    """
    out = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or key.strip() not in known:
            raise statement.error(f"expected one of {', '.join(f'{k}=' for k in known)}; found '{value}'", value)
        out[key.strip()] = text.strip()
    return out


def number_of(statement: Statement, text: str) -> int:
    """A decimal or hexadecimal number of a directive."""
    try:
        return int(text, 0)
    except ValueError:
        raise statement.error(f"expected a number; found '{text}'", text) from None


@cache
def _control(text: str) -> int:
    """The 17 bits of ``B0-----:R-:W1:-:S04``.

    Raises:
        _ControlError: a scoreboard in the place of another, or a stall count that is too large.
    """
    wait = 0
    for place, letter in enumerate(text[1 : 1 + SCOREBOARDS]):
        if letter not in ("-", str(place)):
            raise _ControlError(f"expected {place} or - for scoreboard {place}; found '{letter}'", place + 1)
        wait |= (letter != "-") << place
    _, read, write, yields, stall = text.split(":")
    if int(stall[1:]) > STALL_MASK:
        raise _ControlError(f"a stall count is at most {STALL_MASK}", len(text) - 2)
    scoreboards = [NO_SCOREBOARD if word[1] == "-" else int(word[1]) for word in (read, write)]
    return Control(int(stall[1:]), yields == "Y", scoreboards[1], scoreboards[0], wait).pack()


class _ControlError(Exception):
    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


def _data(data: bytearray, statement: Statement) -> None:
    if statement.word == "string" and not data:
        data += b"\0"
    for value in statement.values:
        if statement.word == "string":
            data += unquoted(value).encode() + b"\0"
            continue
        if statement.word == "hex":
            try:
                data += bytes.fromhex(value)
            except ValueError:
                raise statement.error("expected pairs of hexadecimal digits", value) from None
            continue
        number = number_of(statement, value)
        if statement.word == "zero":
            if not 0 <= number < 1 << 30:
                raise statement.error("that many zeros do not fit", value)
            data += bytes(number)
        elif -(1 << 31) <= number < 1 << 32:
            data += (number % (1 << 32)).to_bytes(4, "little")
        else:
            raise statement.error("a .word has 32 bits", value)


def _wrong_line(number: int, text: str) -> AsmError:
    column = len(text) - len(text.lstrip()) + 1
    if _ODD_CONTROL.match(text) or "/*" in text or text.lstrip()[:1] in "@" or re.match(r"\s*[A-Z]", text):
        if ";" not in text:
            return AsmError(number, len(text) + 1, "expected ';' at the end of the instruction")
        return AsmError(number, column, "expected [B0-----:R-:W1:-:S04] INSTRUCTION ; and nothing but a comment behind it")
    return AsmError(number, column, "expected an instruction, a label or a directive")
