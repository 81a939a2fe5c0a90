"""The short notations of encoding rows: operand lists and modifiers (explained in spec/encoding/README.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import bits
from .model import Default, Flow, Implicit, ModField, Modifier, Operand, Value

_OPERAND = re.compile(
    r"(?P<name>[A-Za-z]+)(?::(?P<width>\w+(?:[*+]\w+)*))?(?P<marks>[-|~]*)(?P<hide>\??)(?:=(?P<default>!?\w+))?(?:@(?P<where>\S+))?\Z"
)
_KIND_BY_PREFIX = (
    ("URd", "ugpr"), ("UR", "ugpr"), ("UP", "upred"), ("SR", "sreg"), ("R", "gpr"), ("P", "pred"), ("B", "breg"),
    ("desc", "ugpr"), ("sb", "sb"), ("target", "label"), ("cb", "cbank"),
)  # fmt: skip
WIDTHS = ("0", "1", "2", "3", "4", "8")  # registers of an operand
_IMPLICIT = re.compile(r"(?P<file>UR|UP|R|P|B)(?P<first>\d+)(?:-(?P<last>\d+))?(?:&(?P<mask>\w+))?\Z")
_TOP = {"R": 254, "UR": 254, "P": 6, "UP": 6, "B": 15}  # last register of each file
_RESERVED = {"RZ": ("gpr", 255), "URZ": ("ugpr", 255), "PT": ("pred", 7), "UPT": ("upred", 7)}
_VALUE = re.compile(r"(?:(?P<raw>\d+)=)?(?P<open>\(?)(?P<name>[A-Za-z0-9_.]+)(?P<close>\)?)(?P<star>[*~]?)\Z")


def operands(text: str) -> tuple[Operand, ...]:
    """Parse the ``ops`` of a row: blank-separated ``NAME[:width][marks][=default][@place]``; widths: a number, ``A*B``, ``1+A``.

    Raises:
        ValueError: malformed, or a name used twice.
    """
    out: list[Operand] = []
    for token in text.split():
        match = _OPERAND.match(token)
        if match is None:
            raise ValueError(f"operand '{token}' is not NAME[:width][marks][=default][@place]")
        name = match["name"]
        if any(o.name == name for o in out):
            raise ValueError(f"operand '{name}' is named twice")
        kind = next((k for prefix, k in _KIND_BY_PREFIX if name.startswith(prefix)), "imm")
        stem = name.removeprefix("U")[1:2] if kind in ("gpr", "ugpr", "pred", "upred", "breg") and name != "desc" else ""
        writes = stem in ("d", "u", "v")
        width = match["width"] or ("2" if name == "desc" else "1")
        out.append(
            Operand(
                name, writes, width, kind, match["marks"], _default(name, kind, writes, match["default"]), match["where"] or ""
            )
        )
    return tuple(out)


def implicit(text: str, writes: bool, operands: tuple[Operand, ...]) -> tuple[Implicit, ...]:
    """Parse ``implicit_reads`` or ``implicit_writes``: blank-separated ``FILE FIRST[-LAST][&OPERAND]`` without the first blank.

    Raises:
        ValueError: malformed, a register that does not exist, an operand that the row does not have.
    """
    out = []
    for token in text.split():
        match = _IMPLICIT.match(token)
        if match is None:
            raise ValueError(f"'{token}' is not FILE with FIRST[-LAST][&OPERAND], as P0-6&Rb")
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if not first <= last <= _TOP[match["file"]]:
            raise ValueError(
                f"'{token}': registers {match['file']}0 to {match['file']}{_TOP[match['file']]} are possible, in order"
            )
        names = [o.name for o in operands]
        if match["mask"] and match["mask"] not in names:
            raise ValueError(f"'{token}': there is no operand '{match['mask']}'")
        mask = names.index(match["mask"]) if match["mask"] else -1
        out.append(Implicit(match["file"], first, last - first + 1, writes, mask))
    return tuple(out)


def flow(row: Mapping[str, Any], operands: tuple[Operand, ...], mods: tuple[Modifier, ...]) -> Flow:
    """The columns ``region``, ``waits``, ``adds``, ``one_sign`` and ``hidden_reuse`` of a row, names resolved.

    Raises:
        ValueError: an operand or a modifier that the row does not have; its second argument is the column.
    """
    names = {o.name: i for i, o in enumerate(operands)}
    by_name = {m.name: i for i, m in enumerate(mods)}
    known = {"boards": by_name, "conditional": by_name}
    adds = row.get("adds", "").split()
    one = row.get("one_sign", "").split()
    found = {}
    named = [(key, row[key]) for key in ("conditional",) if key in row]
    lists = [(f"{key} {i}", a) for key, words in (("adds", adds), ("one_sign", one)) for i, a in enumerate(words)]
    for part, name in [*named, *row.get("waits", {}).items(), *lists]:
        table = known.get(part, names)
        if name not in table:
            column = part.split()[0] if part.split()[0] in row else "waits"
            raise ValueError(f"column '{column}': there is no {'modifier' if part in known else 'operand'} '{name}'", column)
        found[part] = table[name]
    return Flow(
        row.get("region", ""), found.get("board", -1), found.get("left", -1), found.get("boards", -1),
        tuple(found[f"adds {i}"] for i in range(len(adds))), tuple(found[f"one_sign {i}"] for i in range(len(one))),
        found.get("conditional", -1),
        row.get("hidden_reuse", False),
    )  # fmt: skip


def _default(name: str, kind: str, writes: bool, text: str | None) -> Default | None:
    if text is not None:
        negated = text.startswith("!")
        word = text.lstrip("!")
        if word == "NONE":
            return Default("none")
        if word == "ZERO":
            return Default("imm")
        if word in _RESERVED:
            return Default(*_RESERVED[word], negated)
        raise ValueError(
            f"operand '{name}': '{text}' is no default: write NONE, ZERO, {', '.join(_RESERVED)}, with ! for the negation"
        )
    if kind in ("pred", "upred") and name.removeprefix("U") != "Pd":
        return Default(kind, 7)
    return None


def modifier(name: str, text: object, sets: dict[str, str]) -> ModField:
    """Parse a modifier: ``BITS``, ``BITS int[(default)]``, ``BITS set``, ``BITS $set`` or ``BITS VALUE...``.

    Raises:
        ValueError: malformed, more values than the bits hold, two defaults, a value name twice.
    """
    words = str(text).split() or [""]
    try:
        place = bits.parse(words[0])
    except ValueError as error:
        raise ValueError(f"modifier '{name}': {error}") from error
    rest = words[1:]
    if not rest:
        return ModField(place, "enum", (Value(0, "false", ""), Value(1, "true", "." + name.upper())), 0)
    if rest[0].startswith("int"):
        match = re.fullmatch(r"int(?:\((\d+)\))?", " ".join(rest))
        if match is None:
            raise ValueError(f"modifier '{name}': '{' '.join(rest)}' is not int or int(DEFAULT)")
        return ModField(place, "int", (), int(match[1] or 0))
    if rest[0] in ("set", "swizzle"):
        return ModField(place, rest[0], (), 0)
    if rest[0].startswith("$"):
        if rest[0][1:] not in sets:
            raise ValueError(f"modifier '{name}': there is no set '{rest[0][1:]}' in formats.yaml")
        rest = sets[rest[0][1:]].split()
    return _enumeration(name, place, rest)


def _enumeration(name: str, place: bits.Bits, words: list[str]) -> ModField:
    values: list[Value] = []
    default: int | None = None
    raw = 0
    for word in words:
        if word == "-":
            raw += 1
            continue
        match = _VALUE.match(word)
        if match is None or bool(match["open"]) != bool(match["close"]):
            raise ValueError(f"modifier '{name}': '{word}' is no value: write NAME, (NAME), NAME*, NAME~, CODE=NAME or -")
        raw = int(match["raw"]) if match["raw"] else raw
        if raw >= 1 << place.width:
            raise ValueError(
                f"modifier '{name}': value {match['name']} has code {raw}, which does not fit {bits.said(place.mask)}"
            )
        if any(v.name == match["name"] or v.raw == raw for v in values):
            raise ValueError(f"modifier '{name}': value '{match['name']}' or its code {raw} stands there twice")
        values.append(Value(raw, match["name"], "" if match["open"] or match["star"] == "~" else "." + match["name"]))
        if match["open"] or match["star"] == "*":
            if default is not None:
                raise ValueError(f"modifier '{name}' has two defaults")
            default = raw
        raw += 1
    if not values:
        raise ValueError(f"modifier '{name}' has no value")
    return ModField(place, "enum", tuple(values), values[0].raw if default is None else default)
