"""Parsing of compile command lines in ptxas's spelling, driven by ``spec/options.yaml``.

An option is written with one or two dashes, by its long or short name; a value follows as the next word, after
``=``, or, where the table allows it, directly (``-O3``, ``-m64``).
"""

from __future__ import annotations

from oric_tables.options import OPTIONS, SPELLINGS, Option
from oric_tables.targets import TARGETS


class UsageError(Exception):
    """A command line that makes no sense; the text is the message."""


class Arguments:
    """A parsed command line: ``values`` maps long names to texts (switches to ""), ``inputs`` are file names."""

    __slots__ = ("inputs", "values")

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.inputs: list[str] = []

    def get(self, name: str) -> str:
        """The value given, or the table's default."""
        return self.values[name] if name in self.values else OPTIONS[SPELLINGS[name]].default

    def has(self, name: str) -> bool:
        """True when the option was given."""
        return name in self.values

    def integer(self, name: str) -> int:
        """The value as a non-negative integer.

        Raises:
            UsageError: it is none.
        """
        text = self.get(name)
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise UsageError(f"Invalid integer value '{text[:80]}' for option '{name}'")
        return int(text)


def parse(argv: list[str]) -> Arguments:
    """Parse a command line.

    Raises:
        UsageError: unknown or unfinished option, value outside the choices, an option that is not supported yet.
    """
    out = Arguments()
    words = iter(argv)
    for word in words:
        if not word.startswith("-") or word == "-":
            out.inputs.append(word)
            continue
        option, value = _split(word)
        if option.value and value is None:
            value = next(words, None)
            if value is None:
                raise UsageError(f"Argument expected after option '{option.name}'")
        elif not option.value and value is not None:
            raise UsageError(f"Option '{option.name}' takes no value")
        if not option.done:
            raise UsageError(f"option '--{option.name}' is not supported yet")
        if option.choices and value not in option.choices:
            raise UsageError(f"Value '{value}' is not defined for option '{option.name}'")
        if option.name in out.values and option.value and out.values[option.name] != value:
            raise UsageError(f"Option '{option.name}' is given more than once")
        out.values[option.name] = value or ""
    return out


def _split(word: str) -> tuple[Option, str | None]:
    name = word.removeprefix("-").removeprefix("-")
    name, equals, value = name.partition("=")
    if name in SPELLINGS:
        return OPTIONS[SPELLINGS[name]], value if equals else None
    for option in OPTIONS:
        if option.attached and name.startswith(option.short) and name[len(option.short) :].isdigit():
            return option, name[len(option.short) :]
    raise UsageError(f"Unknown option '{word[:80]}'")


def help_text() -> str:
    """The options that work, as ``--help`` prints them."""
    lines = [
        "Usage: oric [options] <ptx file>",
        "       oric asm <assembly file>",
        "       oric disasm <cubin>",
        "       oric check <cubin>",
        "       oric dump --descriptors [options] <ptx file>",
        "       oric fmt [--check | -i] <ptx file>...",
        "       oric run <launch file>",
        "",
        "Options:",
    ]
    for option in OPTIONS:
        if option.done:
            value = f" <{option.value}>" if option.value else ""
            short = f" (-{option.short})" if option.short else ""
            default = f" Default: {option.default}." if option.default else ""
            lines.append(f"  --{option.name}{value}{short}\n        {option.help}{default}")
            if option.name == "gpu-name":
                lines += [f"        Code can be made for {', '.join(TARGETS)}; --list-targets names all that are known."]
    return "\n".join(lines)
