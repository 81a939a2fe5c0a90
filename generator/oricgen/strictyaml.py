"""Strict YAML: what is ambiguous to a reader is an error with its file and line, not a surprise.

Refused: duplicate keys, anchors, aliases, merge keys and tags, the YAML 1.1 words yes/no/on/off, and every number that is not
written plainly: integers are decimal or ``0x``, other numbers have digits on both sides of their point; no ``010``, ``0o17``,
``1_000``, ``1e3``, ``.5``, ``.inf``, ``+1``, ``1:30``. Tabs, carriage returns and other control characters are refused too, and
what no table needs: brackets deep in brackets, numbers of hundreds of digits. Mappings and sequences remember the line of
every entry, so that later checks can name it.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

import yaml

from . import scalars
from .errors import Mistakes, Row, SpecError

_INT = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+\Z")
_OCTAL = re.compile(r"[-+]?0o?[0-7]+\Z|[-+]?0[0-9]+\Z")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?\Z")
_NUMBER = re.compile(  # what a reader of YAML 1.1 or 1.2 may take for a number
    r"[-+]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0O[0-7_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|\.[0-9][0-9_]*([eE][-+]?[0-9]+)?"
    r"|\.(inf|Inf|INF|nan|NaN|NAN))\Z"
)
_STRANGE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # characters that no text has
_CALLED = {"\t": "a tab: write spaces", "\r": "a carriage return: lines end with a line feed alone", "\0": "a NUL byte",
           "\ufeff": "a byte order mark: save the file without it"}  # fmt: skip
DEEPEST = 32  # mappings and lists in each other; the tables have 8
_TOO_DEEP = f"lists and mappings stand more than {DEEPEST} deep in each other"
LONGEST = 64  # characters of a number
_YES_NO = frozenset({"yes", "no", "on", "off", "y", "n"})


class Map(dict[str, Any]):
    """A mapping that knows the line it starts on, the line of each key, and where each value that is a scalar begins."""

    line: int
    lines: dict[str, int]
    source: str = ""  # the text of the file
    places: Mapping[str, tuple[int, int, int]] = MappingProxyType({})  # line and column, from 1, and the place in the text

    def line_of(self, key: str) -> int:
        """Line of ``key``, or of the mapping itself when the key is absent."""
        return self.lines.get(key, self.line)

    def renamed(self, names: Mapping[str, str]) -> Map:
        """The same mapping with other names for some keys; lines and places stay."""
        out = Map((names.get(key, key), value) for key, value in self.items())
        out.line, out.source = self.line, self.source
        out.lines = {names.get(key, key): line for key, line in self.lines.items()}
        out.places = {names.get(key, key): place for key, place in self.places.items()}
        return out

    def spot(self, key: str, offset: int) -> tuple[int, int]:
        """Line and column of a character of the text that ``key`` has; the column is 0 where only the key's line is known."""
        if key not in self.places:
            return self.line_of(key), 0
        line, column, start = self.places[key]
        at = scalars.place(self.source, start, self[key], offset)
        before = self.source.count("\n", start, at)
        return line + before, at - self.source.rfind("\n", 0, at) if before else column + at - start


class Seq(list[Any]):
    """A sequence that knows the line it starts on and the line of each item."""

    line: int
    lines: list[int]

    def line_of(self, index: int) -> int:
        """Line of item ``index``, or of the sequence itself when there is no such item."""
        return self.lines[index] if 0 <= index < len(self.lines) else self.line


def read(path: Path, name: PurePath | str) -> str:
    """The text of a file that messages call ``name``.

    Raises:
        SpecError: the file cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SpecError(name, 0, "the file cannot be read: it is a folder, or a device, and no file")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = "it is a link to nothing" if path.is_symlink() and not path.exists() else error.strerror
        raise SpecError(name, 0, f"the file cannot be read: {reason}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError(name, line, "the file is not UTF-8") from error


def loads(text: str, path: PurePath | str = "<string>") -> Map:
    """Read YAML whose top level is a mapping; ``path`` is used in messages only.

    Raises:
        SpecError: the text is no YAML, or breaks one of the rules above.
    """
    strange = _STRANGE.search(text)
    if strange is not None:
        character = strange[0]
        line = text.count("\n", 0, strange.start()) + 1
        raise SpecError(path, line, f"there is {_CALLED.get(character, f'the control character U+{ord(character):04X}')}")
    with (mistakes := Mistakes()):
        try:
            return _Reader(text, path, mistakes.row).document()
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            problem = getattr(error, "problem", error)
            text = _TOO_DEEP if "nesting depth" in str(problem) else f"not valid YAML: {problem}"  # what libyaml itself limits
            raise SpecError(path, mark.line + 1 if mark else 0, text) from error


class _Reader:
    """Makes values from the parser's events as they come: no tree of nodes in between."""

    def __init__(self, text: str, path: PurePath | str, each: Row) -> None:
        self._path = path
        self._text = text
        self._next: Callable[[], Any] = yaml.CSafeLoader(text).get_event
        self._each = each
        self._depth = 0

    def document(self) -> Map:
        """The one document of the text.

        Raises:
            SpecError: a mistake behind which nothing can be read; others are kept in ``each``.
        """
        self._next()  # the stream's start
        if type(self._next()) is yaml.StreamEndEvent:
            raise SpecError(self._path, 1, "the file is empty")
        value = self._value(self._next())
        self._next()  # the document's end
        behind = self._next()
        if type(behind) is not yaml.StreamEndEvent:
            raise SpecError(self._path, _line(behind), "a second document begins: a file has one")
        if not isinstance(value, Map):
            raise SpecError(self._path, 1, "the top level must be a mapping")
        return value

    def _value(self, event: Any) -> Any:
        """What the event begins, up to its end."""
        kind = type(event)
        if kind is yaml.AliasEvent or event.anchor or event.tag:
            with self._each:
                self._refuse_marks(event)
        if kind is yaml.AliasEvent:
            return None
        if kind is yaml.ScalarEvent:
            return event.value if event.style else self._plain(event)  # quoted and block scalars have a style
        if self._depth == DEEPEST:
            raise SpecError(self._path, _line(event), _TOO_DEEP)
        self._depth += 1
        value = self._map(_line(event)) if kind is yaml.MappingStartEvent else self._seq(_line(event))
        self._depth -= 1
        return value

    def _refuse_marks(self, event: Any) -> None:
        if type(event) is yaml.AliasEvent or event.anchor:
            raise SpecError(self._path, _line(event), "anchors and aliases are not allowed in the specification")
        raise SpecError(self._path, _line(event), f"the tag '{event.tag}' is not allowed in the specification")

    def _seq(self, line: int) -> Seq:
        out = Seq()
        out.line, out.lines = line, []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            out.lines.append(_line(event))
            out.append(self._value(event))
        return out

    def _map(self, line: int) -> Map:
        out = Map()
        places: dict[str, tuple[int, int, int]] = {}
        out.line, out.lines, out.places, out.source = line, {}, places, self._text
        while type(event := self._next()) is not yaml.MappingEndEvent:
            line = _line(event)
            if type(event) is not yaml.ScalarEvent:
                raise SpecError(self._path, line, "a key must be a plain word")
            known = self._value(event) is not None or event.style  # refuses what is ambiguous
            key: str = event.value
            with self._each:
                if key == "<<" and not event.style:
                    raise SpecError(self._path, line, "merge keys are not allowed in the specification: write the columns out")
                if not known and key in ("", "~", "null"):
                    raise SpecError(self._path, line, "a key is missing: nothing stands in front of the colon")
                if key in out:
                    raise SpecError(self._path, line, f"duplicate key '{key}' (first on line {out.lines[key]})")
                out.lines[key] = line
            event = self._next()
            if type(event) is yaml.ScalarEvent:
                mark: Any = event.start_mark
                places[key] = mark.line + 1, mark.column + 1, mark.index
            out[key] = self._value(event)
        return out

    def _plain(self, event: Any) -> Any:
        try:
            return plain(event.value)
        except ValueError as error:
            with self._each:
                raise SpecError(self._path, _line(event), str(error)) from error


def kept(new: Any, old: Any) -> Any:
    """``new`` with the parts that ``old`` has just so, lines included, in place of its own: what an edit leaves stays itself."""
    if type(new) is not type(old):
        return new
    if isinstance(new, Map):
        same = new.line == old.line and new.lines == old.lines and list(new) == list(old)
        for key in new.keys() & old.keys():
            new[key] = kept(new[key], old[key])
            same = same and new[key] is old[key]
        return old if same else new
    if isinstance(new, Seq):
        same = new.line == old.line and new.lines == old.lines
        for at, (one, two) in enumerate(zip(new, old, strict=False)):
            new[at] = kept(one, two)
            same = same and new[at] is two
        return old if same else new
    return old if new == old else new


def maps(value: Any) -> Iterator[Map]:
    """The mappings in a value, itself among them."""
    if isinstance(value, Map):
        yield value
        value = value.values()
    elif not isinstance(value, Seq):
        return
    for one in value:
        if isinstance(one, (Map, Seq)):
            yield from maps(one)


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


@cache
def plain(text: str) -> Any:
    """What an unquoted scalar stands for.

    Raises:
        ValueError: it is ambiguous.
    """
    if text.lower() in _YES_NO:
        raise ValueError(f"'{text}' is ambiguous: write true or false, or quote it")
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if text.lower() in ("true", "false", "null"):
        raise ValueError(f"write '{text.lower()}' in lower case, or quote it")
    return _number(text) if text[0] in "+-.0123456789" else text


def _number(text: str) -> int | float | str:
    """The number that ``text`` is; the text where nobody takes it for one.

    Raises:
        ValueError: a number that is not written plainly, or a very long one.
    """
    whole = _INT.match(text) or _HEX.match(text)
    if whole or _FLOAT.match(text):
        if len(text) > LONGEST:
            raise ValueError(f"a number of {len(text)} characters: at most {LONGEST} are read")
        return int(text, 0) if whole else float(text)
    if _OCTAL.match(text):
        raise ValueError(f"'{_short(text)}' looks octal: write decimal or 0x, or quote it")
    if _SEXAGESIMAL.match(text):
        raise ValueError(f"'{_short(text)}' looks like base 60: quote it")
    if _NUMBER.match(text):
        raise ValueError(
            f"'{_short(text)}' looks like a number: write decimal digits or 0x, without +, _ and exponent, or quote it"
        )
    return text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
