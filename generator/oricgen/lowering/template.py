"""One line of a rule: ``@!%p IADD3.X d.hi, a.hi, ~b.hi, RZ, Pp=%c``.

A line is ``[@[!]predicate] MNEMONIC[.MODIFIER|{set}]... operand, ..., key=value, ...`` or a label ``name:`` (a branch names it
as its target). A line that begins with ``?`` is left out where the operation does not exist. One with ``[SLOT=QUALIFIER,...]``
in front stands only for these qualifiers of the rule's slot, with ``[SLOT!=QUALIFIER,...]`` for all others and where the slot
is left out. Operands:

=====================  ===============================================================================================
``d a b c e f``        the PTX operands in order (a rule's `args` may name them otherwise); of registers in braces a wide
                       register with all of their words
``q``                  the second of a pair ``d|q`` (PT when there is none)
``m``, ``off``         base register and byte offset of the address operand
``n``, ``noff``        the same of a second address operand
``desc``               the descriptor of global memory: a pair of uniform registers, loaded at function entry
``v``, ``x``           the vector or wide register made of a braced operand; of 256 bits the lower and the upper half
``cc``                 the carry flag, a predicate that lives as long as the function
``%p.. %r.. %s.. %w.. %x..``  temporaries: predicate, 32-bit (r, s), 64-bit, 128-bit register (first letter says which);
                       ``%o..``, ``%h..`` 256-bit, 512-bit register; ``%u..``, ``%v..`` uniform 32-bit, 64-bit,
                       ``%y..`` uniform predicate
``.lo .hi .0 .1 ..``   words of a wide operand; ``.4:7`` those from the first to the last
``RZ PT URZ UPT``      constants; ``!PT``
``12 -1 0xff``         integers; ``f:0.5`` and ``d:0.5`` the bit pattern of a float (of its upper half for ``d:``)
``c:NAME+4``           word of constant bank 0 whose offset is the target's column ``bank0.NAME``; ``c:+4``: offset 4
``t:NAME+4``           the target's column NAME as an integer, and more
``SR_TID.X``           a system register
``SB0``                a scoreboard
``- ~ ! |x|``          sign changes in front
``x@H0_H0``            half selection of a packed operand
=====================  ===============================================================================================
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..errors import SpecError

ARGS = ("d", "a", "b", "c", "e", "f", "q", "m", "off", "desc", "v", "cc", "n", "noff", "x", "g", "h", "i", "j")

_CONDITION = re.compile(r"\[([^]]*)\]\s*")
_TEST = re.compile(r"(\w+)(!?)=([\w:]+(?:,[\w:]+)*)\Z")
_LABEL = re.compile(r"(\w+):\Z")
_LINE = re.compile(r"(?:@(!?)(%?\w+)\s+)?([A-Z][A-Z0-9_]*)((?:\.\w+(?:=\w+)?|\{\w+\})*)(?:\s+(.*))?\Z")
_SUFFIX = re.compile(r"\.(\w+(?:=\w+)?)|\{(\w+)\}")
_OPERAND = re.compile(r"([-~!]*)(\|?)(-?)([%\w:.+]+?)(\|?)(?:@(\w+))?\Z")
_INT = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)\Z")
USUAL_ARGS = "d a b c e f"  # of a rule or template that names none
_ARG = re.compile(rf"({'|'.join(sorted(ARGS, key=len, reverse=True))}|%[a-z]\w*)(?:\.(lo|hi|\d+(?::\d+)?))?\Z")
TEMP_KINDS = "prswxohuvy"


@dataclass(frozen=True)
class Operand:
    """One operand of a line. ``base`` is an argument or temporary name, a constant name, or a number in ``value``."""

    base: str  # "a", "%t", "RZ", "int", "column", "sreg", "board", "cbank", "label"
    view: str = ""
    value: int = 0
    name: str = ""
    neg: bool = False
    inv: bool = False
    absolute: bool = False
    half: str = ""


@dataclass
class Line:
    """A parsed line; ``label`` is set for label lines, else the rest."""

    text: str
    label: str = ""
    guard: Operand | None = None
    mnemonic: str = ""
    suffixes: list[str] = field(default_factory=list)  # fixed modifiers, NAME or key=NAME
    sets: list[str] = field(default_factory=list)  # names of substituted sets
    operands: list[Operand] = field(default_factory=list)
    named: dict[str, Operand] = field(default_factory=dict)
    if_present: bool = False
    tests: tuple[tuple[str, bool, tuple[str, ...]], ...] = ()  # slot, whether it must be (or not be) one of these qualifiers


def parse(text: str, path: str, line: int) -> Line:
    """Parse one template line; the same text gives the same object, which nobody changes.

    Raises:
        SpecError: the line does not fit the grammar above.
    """
    try:
        return _parsed(text)
    except ValueError as error:
        raise SpecError(path, line, str(error)) from error


@cache
def _parsed(text: str) -> Line:
    label = _LABEL.match(text)
    if label:
        return Line(text, label=label[1])
    condition = _CONDITION.match(text)
    rest = text[condition.end() :] if condition else text
    match = _LINE.match(rest.removeprefix("?"))
    if not match:
        raise ValueError(f"'{text}' is no line: write [@[!]PREDICATE] MNEMONIC[.MODIFIER]... OPERAND, ...")
    out = Line(text, mnemonic=match[3], if_present=rest.startswith("?"))
    if condition:
        out.tests = tuple(_test(part, text) for part in condition[1].split())
    if match[2]:
        out.guard = _operand(("!" if match[1] else "") + match[2], text)
    for fixed, named in _SUFFIX.findall(match[4] or ""):
        if named:
            out.sets.append(named)
        else:
            out.suffixes.append(fixed)
    for part in filter(None, (p.strip() for p in (match[5] or "").split(","))):
        key, equals, value = part.partition("=")
        if equals:
            out.named[key.strip()] = _operand(value.strip(), text)
        else:
            out.operands.append(_operand(part, text))
    return out


def _test(text: str, line_text: str) -> tuple[str, bool, tuple[str, ...]]:
    match = _TEST.match(text)
    if not match:
        raise ValueError(f"'{line_text}': '{text}' is no condition: write SLOT=QUALIFIER,... or SLOT!=QUALIFIER,...")
    return match[1], not match[2], tuple(match[3].split(","))


def _operand(text: str, line_text: str) -> Operand:
    if _INT.match(text):
        return Operand("int", value=int(text, 0))
    if text[:2] in {"f:", "d:"}:
        return Operand("int", value=_float_bits(text))
    match = _OPERAND.match(text)
    if not match or (match[2] != match[5]):
        raise ValueError(f"'{line_text}': '{text}' is no operand")
    signs = match[1] + match[3]
    flags: dict[str, Any] = {
        "neg": "-" in signs or "!" in signs,
        "inv": "~" in signs,
        "absolute": bool(match[2]),
        "half": match[6] or "",
    }
    body = match[4]
    arg = _ARG.match(body)
    if arg:
        if arg[1].startswith("%") and arg[1][1] not in TEMP_KINDS:
            raise ValueError(f"'{line_text}': temporary '{arg[1]}' must begin with one of {', '.join(TEMP_KINDS)}")
        first, _, last = (arg[2] or "").partition(":")
        if last and int(last) <= int(first):
            raise ValueError(f"'{line_text}': '{arg[2]}': the last word does not come behind the first")
        return Operand(arg[1], view=arg[2] or "", **flags)
    if body in ("RZ", "PT", "URZ", "UPT"):
        return Operand(body, **flags)
    if body.startswith("SR_"):
        return Operand("sreg", name=body)
    if re.fullmatch(r"SB[0-5]", body):
        return Operand("board", value=int(body[2:]))
    if body.startswith("c:"):
        name, _, add = body[2:].partition("+")
        if not _INT.match(add or "0"):
            raise ValueError(f"'{line_text}': '{add}' is no offset in bytes")
        return Operand("cbank", name=name, value=int(add or "0", 0), **flags)
    if body.startswith("t:"):
        name, _, add = body[2:].partition("+")
        if not _INT.match(add or "0"):
            raise ValueError(f"'{line_text}': '{add}' is no number")
        return Operand("column", name=name, value=int(add or "0", 0), **flags)
    if re.fullmatch(r"[A-Z]\w*", body):
        return Operand("label", name=body)
    raise ValueError(f"'{line_text}': there is no operand '{text}'")


def _float_bits(body: str) -> int:
    try:
        value = float(body[2:])
    except ValueError as error:
        raise ValueError(f"'{body}' is no number") from error
    if body[0] == "f":
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
        return bits
    wide: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    if wide & 0xFFFFFFFF:
        raise ValueError(f"'{body}' does not fit the upper half of a double")
    return wide >> 32
