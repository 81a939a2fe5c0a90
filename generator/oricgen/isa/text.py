"""Text templates of rows, compiled into the byte code that the C printer runs (opcodes: ``print_ops``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

# The printer's instructions; the generated C header gets the same numbers.
PRINT_OPS = {
    "END": 0,  # end of the template
    "LIT": 1,  # length, bytes
    "MOD": 2,  # modifier: its text
    "ITEM": 3,  # start of an operand: " " or ", " before the next output
    "OP": 4,  # operand
    "HIDE": 5,  # operand, bytes to skip when it has its default
    "INT": 6,  # modifier as hexadecimal number
    "HIDEMOD": 7,  # modifier, bytes to skip when it has its default
    "OPMOD": 8,  # operand, modifier, 1 = the suffix goes inside the bars of |x|
    "ADDR": 9,  # base, scale modifier, base suffix, uniform register, offset, descriptor (255 = none)
    "CADDR": 10,  # bank, base, offset
    "SET": 11,  # modifier as a set of scoreboards
    "SWIZZLE": 12,  # modifier as eight signs
    "ALIAS": 13,  # first alias, number of aliases
    "NAME": 14,  # modifier that is an item of its own: its text without the dot
}
SUFFIXES = {"": 0, ".64": 1, ".U32": 2}

_TOKEN = re.compile(
    r"<(?P<silent>\w+)>|(?P<desc>desc|cb)?\[(?P<address>[^\]]*)\]|(?P<op>[A-Za-z]+)\{(?P<inside>\+?)(?P<suffix>\w+)\}|(?P<hideop>[A-Za-z]+)\?"
    r"|\{(?P<mod>\w+)(?P<hidemod>\??)\}|(?P<name>[A-Za-z]+)|(?P<lit>[^\[\]{}A-Za-z]+)"
)
_WORDS = {"PR", "UPR", "SIGN", "gdesc", "idesc", "tmem", "a", "x"}  # printed as they stand; x is that of 0x0


@dataclass(frozen=True)
class Address:
    """The parts of ``[Ra{scale}+URa+off]``; names, "" when absent."""

    base: str = ""
    scale: str = ""
    suffix: str = ""
    uniform: str = ""
    offset: str = ""
    flags: int = 0


SIGNED_ALONE, HIDE_ZERO, SHOW_ZERO, SECOND = 8, 16, 32, 64  # flags in the suffix byte of ADDR


def parse_address(text: str) -> Address:
    """Parse what stands between the brackets.

    Raises:
        ValueError: a part that is neither register, uniform register nor offset.
    """
    out: dict[str, str] = {}
    flags = 0
    for part in text.split("+"):
        match = re.match(r"(R[a-z])(?:\{(\w+)([?!]?)\})?((?:\.\w+)?)\Z", part)
        if match and match[4] in SUFFIXES and "base" not in out:
            out.update(base=match[1], scale=match[2] or "", suffix=match[4])
            flags |= {"?": HIDE_ZERO, "!": SHOW_ZERO}.get(match[3] or "", 0)
        elif part.startswith("UR") and not out.get("uniform") and text != part:
            out["uniform"] = part
        elif part.startswith("UR"):  # .hi: the second register of a pair
            out["base"] = part.removesuffix(".hi")
            flags |= SECOND if part.endswith(".hi") else 0
        elif part.startswith("off"):
            out["offset"] = part.rstrip("~")
            flags |= SIGNED_ALONE if part.endswith("~") else 0
        else:
            raise ValueError(f"'[{text}]' in the text: '{part}' is no part of an address")
    if "base" not in out and "uniform" in out:
        out["base"] = out.pop("uniform")
    return Address(**out, flags=flags)


def split(text: str) -> tuple[str, list[str]]:
    """Head (mnemonic with modifiers) and operand items of a template."""
    head, _, rest = text.partition(" ")
    return head, rest.split(", ") if rest else []


@cache
def names_in(text: str, operands: frozenset[str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The operands of a template in order of appearance, and its modifiers with the operand each is attached to ("")."""
    head, items = split(text)
    found: list[str] = []
    mods = dict.fromkeys(re.findall(r"[{<](\w+)[}>]", head), "")
    for item in items:
        if unread := _TOKEN.sub("", item):
            raise ValueError(f"cannot read '{unread}' in '{item}' of the text")
        for match in _TOKEN.finditer(item):
            if match["silent"]:
                found.append(match["silent"])
            elif match["address"] is not None:
                if match["desc"] in operands:
                    found.append(match["desc"])
                address = parse_address(match["address"])
                found += [n for n in (address.base, address.uniform, address.offset) if n]
                if address.scale:
                    mods[address.scale] = address.base
            elif match["op"]:
                found.append(match["op"])
                mods[match["suffix"]] = match["op"]
            elif match["hideop"] or (match["name"] and match["name"] not in _WORDS):
                found.append(match["hideop"] or match["name"])
            elif match["mod"]:
                mods[match["mod"]] = ""
    unknown = [n for n in found if n not in operands]
    if unknown:
        raise ValueError(f"the text names '{unknown[0]}', which is not in 'ops'")
    return tuple(dict.fromkeys(found)), MappingProxyType(mods)


def compile_text(text: str, operands: dict[str, int], mods: dict[str, tuple[int, str]], aliases: tuple[int, int]) -> bytes:
    """Compile a template; ``operands`` and ``mods`` map names to indices (and the kind of a modifier).

    Raises:
        ValueError: an unknown name.
    """
    head, items = split(text)
    out = bytearray()
    place = 0
    for match in re.finditer(r"\{(\w+)\}|<\w+>", head):
        out += _literal(head[place : match.start()])
        place = match.end()
        if match[1] is None:  # a modifier that is encoded and not printed
            continue
        out += bytes([PRINT_OPS["ALIAS"], *aliases]) if match[1] == "alias" else _mod(match[1], mods, False)
    out += _literal(head[place:])
    for item in items:
        out.append(PRINT_OPS["ITEM"])
        out += _item(item, operands, mods)
    out.append(PRINT_OPS["END"])
    return bytes(out)


def _item(item: str, operands: dict[str, int], mods: dict[str, tuple[int, str]]) -> bytes:
    parts: list[bytes] = []
    hide = -1
    for match in _TOKEN.finditer(item):
        if match["silent"]:  # an operand that is encoded and not printed
            continue
        if match["address"] is not None:
            prefix = match["desc"] or ""
            if prefix and prefix not in operands:  # a descriptor without an address behind it
                parts.append(_literal(prefix))
                prefix = ""
            parts.append(_address(prefix, parse_address(match["address"]), operands, mods))
        elif match["op"]:
            parts.append(bytes([PRINT_OPS["OPMOD"], operands[match["op"]], mods[match["suffix"]][0], bool(match["inside"])]))
        elif match["hideop"]:
            code = operands[match["hideop"]]
            parts.append(bytes([PRINT_OPS["HIDE"], code, 0, PRINT_OPS["OP"], code]))
            hide = len(parts) - 1
        elif match["mod"]:
            parts.append(_mod(match["mod"], mods, bool(match["hidemod"]), alone=match.start() == 0))
        elif match["name"] in operands:
            parts.append(bytes([PRINT_OPS["OP"], operands[match["name"]]]))
        else:
            parts.append(_literal(match[0]))
    if hide > 0:  # "Ra off?": the blank before a hidden part is hidden too
        parts[hide - 1], parts[hide] = b"", parts[hide][:3] + parts[hide - 1] + parts[hide][3:]
    if hide >= 0:
        tail = b"".join(parts[hide:])
        parts[hide:] = [tail[:2] + bytes([len(tail) - 3]) + tail[3:]]
    return b"".join(parts)


def _mod(name: str, mods: dict[str, tuple[int, str]], hidden: bool, alone: bool = False) -> bytes:
    index, kind = mods[name]
    ops = {"int": "INT", "set": "SET", "swizzle": "SWIZZLE"}
    code = bytes([PRINT_OPS[ops.get(kind, "NAME" if alone else "MOD")], index])
    return bytes([PRINT_OPS["HIDEMOD"], index, len(code)]) + code if hidden else code


def _address(prefix: str, address: Address, operands: dict[str, int], mods: dict[str, tuple[int, str]]) -> bytes:
    def index(name: str) -> int:
        return operands[name] if name else 255

    if prefix == "cb":
        return bytes([PRINT_OPS["CADDR"], operands["cb"], index(address.base), index(address.offset)])
    scale = mods[address.scale][0] if address.scale else 255
    suffix = SUFFIXES[address.suffix] | address.flags
    parts = [index(address.base), scale, suffix, index(address.uniform), index(address.offset), index(prefix)]
    return bytes([PRINT_OPS["ADDR"], *parts])


def _literal(text: str) -> bytes:
    return bytes([PRINT_OPS["LIT"], len(text)]) + text.encode() if text else b""
