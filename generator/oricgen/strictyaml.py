"""Strict YAML: what is ambiguous to a reader is an error with its file and line, not a surprise.

Refused: duplicate keys, anchors, aliases and tags, the YAML 1.1 words yes/no/on/off, octal-looking integers
(``010``) and sexagesimal ones (``1:30``). Integers are decimal, ``0x`` or ``0b``. Mappings and sequences
remember the line of every entry, so that later checks can name it.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Any

import yaml

from .errors import SpecError

_INT = re.compile(r"[-+]?(0|[1-9][0-9_]*)\Z")
_HEX = re.compile(r"0x[0-9a-fA-F_]+\Z")
_BIN = re.compile(r"0b[01_]+\Z")
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]+)?\Z")
_OCTAL = re.compile(r"[-+]?0[0-9]+\Z")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+\Z")
_YES_NO = frozenset({"yes", "no", "on", "off", "y", "n"})


class Map(dict[str, Any]):
    """A mapping that knows the line it starts on and the line of each key."""

    line: int
    lines: dict[str, int]

    def line_of(self, key: str) -> int:
        """Line of ``key``, or of the mapping itself when the key is absent."""
        return self.lines.get(key, self.line)


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
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(name, 0, f"the file cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError(name, line, "the file is not UTF-8") from error


def loads(text: str, path: PurePath | str = "<string>") -> Map:
    """Read YAML whose top level is a mapping; ``path`` is used in messages only.

    Raises:
        SpecError: the text is no YAML, or breaks one of the rules above.
    """
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            _refuse_indirection(event, path)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise SpecError(path, mark.line + 1 if mark else 0, f"not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise SpecError(path, 0, f"not valid YAML: {error}") from error
    if node is None:
        raise SpecError(path, 1, "the file is empty")
    value = _construct(node, path)
    if not isinstance(value, Map):
        raise SpecError(path, 1, "the top level must be a mapping")
    return value


def _refuse_indirection(event: Any, path: PurePath | str) -> None:
    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise SpecError(path, line, "anchors and aliases are not allowed in the specification")
    tag = getattr(event, "tag", None)
    if tag not in (None, "!"):
        raise SpecError(path, line, f"the tag '{tag}' is not allowed in the specification")


def _construct(node: Any, path: PurePath | str) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _construct_map(node, path)
    if isinstance(node, yaml.SequenceNode):
        seq = Seq(_construct(item, path) for item in node.value)
        seq.line = node.start_mark.line + 1
        seq.lines = [item.start_mark.line + 1 for item in node.value]
        return seq
    return _scalar(node, path)


def _construct_map(node: Any, path: PurePath | str) -> Map:
    out = Map()
    out.line = node.start_mark.line + 1
    out.lines = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise SpecError(path, line, "a key must be a plain word")
        key = _scalar(key_node, path)
        key = key_node.value if not isinstance(key, str) else key
        if key in out:
            raise SpecError(path, line, f"duplicate key '{key}' (first on line {out.lines[key]})")
        out.lines[key] = line
        out[key] = _construct(value_node, path)
    return out


def _scalar(node: Any, path: PurePath | str) -> Any:
    text: str = node.value
    if node.style:  # quoted or block scalar; plain ones have '' (libyaml) or None
        return text
    line = node.start_mark.line + 1
    if text.lower() in _YES_NO:
        raise SpecError(path, line, f"'{text}' is ambiguous: write true or false, or quote it")
    if _OCTAL.match(text):
        raise SpecError(path, line, f"'{text}' looks octal: write decimal or 0x, or quote it")
    if _SEXAGESIMAL.match(text):
        raise SpecError(path, line, f"'{text}' looks like base 60: quote it")
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if text.lower() in ("true", "false", "null"):
        raise SpecError(path, line, f"write '{text.lower()}' in lower case, or quote it")
    if _INT.match(text) or _HEX.match(text) or _BIN.match(text):
        return int(text.replace("_", ""), 0)
    if _FLOAT.match(text):
        return float(text)
    return text
