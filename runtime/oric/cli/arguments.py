"""Parsing of compile command lines by ptxas's rules (observed: 13.0.88), driven by ``spec/options.yaml``.

A long name is written with two dashes, a short one with one; there are no abbreviations. A value follows as the next word or
after ``=``, with the few short names that the table says also directly (``-O3``, ``-m64``). Every value is checked where it
stands; the first mistake ends the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from oric_tables.named import NamedTuple
from oric_tables.options import CHECKS, LONG, OPTIONS, SHORT, Check, Option

from oric.support.targets import no_code

from .option_files import expand

_INTEGER: Final = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)\Z")
_LEAST, _MOST = -(2**31), 2**31 - 1
_VIRTUAL: Final = ("compute_", "lto_")
_MOST_REGISTERS: Final = 255
_SHOWN: Final = 80  # characters of a word of the user that a message repeats at most


class UsageError(Exception):
    """A command line that makes no sense; the text is the message, ``own`` what we say where ptxas's words are not wanted."""

    def __init__(self, text: str, own: str = "") -> None:
        super().__init__(text)
        self.own = own or text


class Remark(NamedTuple):
    """What is said of a command line that can be gone on with: severity ("warning", "error") and text.

    ``spelling``: it is about how the command line is written, and no option turns it off or into an error. ``late``: it is said
    when the inputs are right; ``section``: and when none of them has this section.
    """

    severity: str
    text: str
    spelling: bool = False
    late: bool = False
    section: str = ""


class Arguments:
    """A parsed command line.

    Attributes:
        values: long name -> text (switches: ""), lists joined with commas.
        inputs: file names; texts: modules given as text; knobs: settings as they were given.
        remarks: warnings and errors about the options, in the order in which they are said.
    """

    __slots__ = ("inputs", "knobs", "remarks", "texts", "values")

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.inputs: list[str] = []
        self.texts: list[str] = []
        self.knobs: list[str] = []
        self.remarks: list[Remark] = []

    @property
    def virtual(self) -> bool:
        """True when a virtual architecture was asked for."""
        return self.get("gpu-name").startswith(_VIRTUAL)

    def get(self, name: str) -> str:
        """The value given, or the table's default."""
        return self.values[name] if name in self.values else OPTIONS[LONG[name]].default

    def has(self, name: str) -> bool:
        """True when the option was given."""
        return name in self.values

    def on(self, name: str) -> bool:
        """True for a switch that was given, and for a boolean option that is true."""
        return self.values.get(name, "false") != "false"

    def words(self, name: str) -> tuple[str, ...]:
        """The values of a list."""
        return tuple(word for word in self.get(name).split(",") if word)

    def integer(self, name: str) -> int:
        """The value as an integer, 0 for an empty one.

        Raises:
            UsageError: it is none.
        """
        return integer(self.get(name))


def integer(text: str) -> int:
    """An integer of the command line: decimal, octal behind a 0 or hexadecimal; nothing is 0.

    Raises:
        UsageError: it is none, or does not fit 32 bits.
    """
    if not text:
        return 0
    if not _INTEGER.match(text):
        raise UsageError(f"'{text[:_SHOWN]}': expected a number")
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" and digits.strip("01234567") == "" else 10
    number = sign * (int(digits, base) if len(digits) < _SHOWN else _MOST + 1)
    if not _LEAST <= number <= _MOST:
        raise UsageError(f"32-bit integer value ({text[:_SHOWN]}) out of range")
    return number


def parse(argv: Iterable[str]) -> Arguments:
    """Parse a command line.

    Raises:
        UsageError: unknown or unfinished option, value outside the choices, an option that is not supported yet.
    """
    out = Arguments()
    _read(out, list(argv), ())
    if not any(map(out.has, ("help", "version", "list-version"))):
        _judge(out)
    return out


def _read(out: Arguments, words: list[str], files: tuple[str, ...]) -> None:
    """Take the words; ``files`` are the options files that they stand in, from the outermost on."""
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not word.startswith("-") or word == "-":
            out.inputs.append(word)
            continue
        option, shown, value = _split(word)
        if not option.value:
            if value is not None:
                raise UsageError(f"no argument expected after '{shown}'")
            out.values[option.name] = ""
            continue
        if value is None and not option.separate and not (option.short and word.startswith("--")):
            value = ""
        if value is None:
            if position == len(words):
                raise UsageError(f"argument expected after '{shown}'")
            value = words[position]
            position += 1
        if option.name == "options-file":
            for name in filter(None, value.split(",")):
                _read(out, expand(name, files, UsageError), (*files, name))
        else:
            _take(out, option, value)


def _split(word: str) -> tuple[Option, str, str | None]:
    """The option that a word names, its name as written, and the value in the word."""
    shown, equals, value = word.partition("=")
    table, name = (LONG, shown[2:]) if shown.startswith("--") else (SHORT, shown[1:])
    if name in table:
        return OPTIONS[table[name]], shown, value if equals else None
    if not shown.startswith("--"):
        for option in OPTIONS:
            if option.attached and name.startswith(option.short):
                return option, f"-{option.short}", word[1 + len(option.short) :]
    raise UsageError(f"Unknown option '{shown[1 : _SHOWN + 1]}'")


def _take(out: Arguments, option: Option, value: str) -> None:
    """Check a value and keep it."""
    items = [item for item in value.split(",") if item] if option.list else [value]
    for item in items:
        if option.value == "integer":
            integer(item)
        elif option.value == "boolean" and item not in ("true", "false"):
            raise UsageError(f"'{item[:_SHOWN]}': expected true or false")
        if option.choices and item not in option.choices:
            own = no_code(item) if item in option.known else ""
            raise UsageError(f"Value '{item[:_SHOWN]}' is not defined for option '{option.name}'", own)
    if option.name == "input-as-string":
        out.texts.append(value)
        out.values[option.name] = ""
    elif option.name == "knob":
        out.knobs.append(value)
        out.values[option.name] = ""
    elif option.list:
        out.values[option.name] = ",".join(filter(None, (out.values.get(option.name, ""), value)))
    else:
        if out.values.get(option.name, value) != value:
            text = f"incompatible redefinition for option '{option.name}', the last value of this option was used"
            out.remarks.append(Remark("warning", text, spelling=True))
        out.values[option.name] = value


def _judge(out: Arguments) -> None:
    """Say what is to be said of the options together, then of those that are not done."""
    if out.has("maxrregcount"):
        register_limit(out)
    for check in CHECKS:
        if not _speaks(check, out):
            continue
        value = out.values[check.given[0]]
        text = check.text.format(value=integer(value) if _numeric(check) else value[:_SHOWN], arch=out.get("gpu-name"))
        if check.severity == "fatal":
            raise UsageError(text)
        out.remarks.append(Remark(check.severity, text, late=check.late, section=check.section))
        if check.instead:
            out.values[check.given[0]] = check.instead
        if check.ignore:
            del out.values[check.ignore]
    for name, value in out.values.items():
        option = OPTIONS[LONG[name]]
        if option.state == "refused" and value not in option.neutral:
            raise UsageError(f"option '--{name}' is not supported yet")
        if option.state == "warned" and value not in option.neutral:
            out.remarks.append(Remark("warning", f"option '--{name}' is not supported yet, will be ignored"))


def _speaks(check: Check, out: Arguments) -> bool:
    if not all(map(out.has, check.given)) or any(map(out.has, check.unless)):
        return False
    if check.virtual is not None and check.virtual != out.virtual:
        return False
    value = out.values[check.given[0]]
    if check.values is not None:
        return value not in check.values
    if not _numeric(check):
        return True
    if value and not _INTEGER.match(value):  # a word in place of a number
        return False
    number = integer(value)
    if check.range is not None:
        return not check.range[0] <= number <= check.range[1]
    return (check.above is None or number > check.above) and (check.below is None or number < check.below)


def _numeric(check: Check) -> bool:
    """The check is about a number."""
    return check.range is not None or check.above is not None or check.below is not None


def register_limit(args: Arguments, name: str = "maxrregcount") -> int | None:
    """What ``-maxrregcount``, or another option like it, says, None when it is not given.

    The most there are when it is beyond all limits.

    Raises:
        UsageError: it is no number.
    """
    if not args.has(name):
        return None
    text = args.get(name)
    if text in ("archmax", "archmin"):
        return _MOST_REGISTERS if text == "archmax" else 32
    if text and not _INTEGER.match(text):
        raise UsageError(f"Invalid value '{text[:_SHOWN]}' for option '{name}'")
    number = integer(text)
    return number if 0 <= number <= _MOST_REGISTERS else _MOST_REGISTERS
