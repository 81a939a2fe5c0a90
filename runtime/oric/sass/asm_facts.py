"""What both directions of assembly share: names, kinds of sections and symbols, the layouts of records.

A directive leaves out what ``spec/cubin.yaml`` says for a section of that name. In values, ``@0040`` is the place of the
instruction marked ``/*0040*/`` in the code that the section belongs to, ``@end`` the end of that code; symbols stand by name,
or as ``#5`` where the name is not unique.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from struct import Struct
from typing import Final, NamedTuple

from oric_tables import cubin as tables
from oric_tables import cubin_layout as layout
from oric_tables.targets import TARGETS

from oric.support.elf_format import ET_EXEC, SEGMENT

NONE, BYTE, HALF, SIZED = layout.FORMAT_NONE, layout.FORMAT_BYTE, layout.FORMAT_HALF, layout.FORMAT_SIZED
FORMATS: Final = {"none": NONE, "byte": BYTE, "half": HALF, "sized": SIZED}
TYPES: Final = {name: number for number, name in tables.SECTION_TYPES.items()}
SYMBOL_KINDS: Final[dict[str, tuple[int, int]]] = {
    name[4:].lower(): value for name, value in sorted(vars(layout).items(), reverse=True) if name.startswith("SYM_")
}
INFO_TYPES: Final = (TYPES["CUDA_INFO"], TYPES["CUDA_COMPAT_INFO"], TYPES["CUDA_MERCURY_INFO"])
SYMTAB_TYPES: Final = (TYPES["SYMTAB"], TYPES["CUDA_MERCURY_SYMTAB"])
RELA_TYPES: Final = (TYPES["RELA"], TYPES["CUDA_MERCURY_RELA"])
RELOCATION_TYPES: Final = (TYPES["REL"], *RELA_TYPES)
CALLGRAPH: Final = TYPES["CUDA_CALLGRAPH"]
STRTAB: Final = TYPES["STRTAB"]
INFO_LINK: Final = 0x40  # sh_flags: sh_info is a section
TEXT_PREFIX: Final = ".text."
_BARE: Final = re.compile(r"[\w.$]+\Z", re.ASCII)
_PARAM: Final = Struct("<IHHI")
_COMPAT_CODES: Final = {name: code for code, name in tables.COMPAT_ATTRIBUTES.items()}
_ATTRIBUTE_CODES: Final = {row.name: row.code for row in tables.ATTRIBUTES.values()}
_DEFAULT_PARAM: Final = layout.KPARAM_BANK << 12
_KINDS: Final = sorted(
    ((row.name.partition("{")[0], number) for number, row in enumerate(layout.SECTIONS)), key=lambda k: -len(k[0])
)  # fmt: skip


HEADER_KEYS: Final = {"type": 16, "osabi": 8, "abi": 8, "version": 32, "flags": 32, "phentsize": 16}  # and their bits


def usual_header(target: str) -> tuple[int, ...] | None:
    """Type, OS ABI, ABI version, version, flags, size of program headers in a cubin for the target; None: not known."""
    row = TARGETS.get(target)
    if row is None:
        return None
    version, sm_shift = layout.HEADER_FORMS[row.elf["osabi"]]
    return ET_EXEC, row.elf["osabi"], row.elf["abiversion"], version, row.elf["flags_base"] | row.number << sm_shift, SEGMENT.size


class SectionKind(NamedTuple):
    """What the table says for the section of a name; ``owner`` is the name's own part, ``number`` -1 for an unknown section."""

    number: int
    owner: str
    type: int
    flags: int
    align: int
    entsize: int
    link: str
    has_owner: bool


def kind_of(name: str) -> SectionKind:
    """The row of the table that a section's name means; plain PROGBITS for others."""
    for prefix, number in _KINDS:
        row = layout.SECTIONS[number]
        if name == row.name or ("{" in row.name and name.startswith(prefix)):
            link = layout.SECTIONS[row.link].name if row.link >= 0 else ""
            return SectionKind(number, name[len(prefix) :], row.type, row.flags, row.align, row.entsize, link, row.owner_info)
    return SectionKind(-1, "", TYPES["PROGBITS"], 0, 0, 0, "", False)


def owner_section(name: str) -> str:
    """What sh_info of the section ``name`` names: the code of ``.nv.info.f``, what ``.rela.x`` patches; "" for nothing."""
    kind = kind_of(name)
    if not kind.has_owner:
        return ""
    return kind.owner if kind.number in (layout.REL, layout.RELA) else TEXT_PREFIX + kind.owner


def quoted(name: str) -> str:
    """A name as directives have it."""
    return name if _BARE.match(name) and not name[0].isdigit() else json.dumps(name, ensure_ascii=False)


def unquoted(text: str) -> str:
    """A name that :func:`quoted` wrote."""
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def compat_names(section: str) -> bool:
    """True where records are those of ``.nv.compat``, whose codes mean other things."""
    return kind_of(section).number == int(layout.COMPAT)


def record_name(code: int, form: int, compat: bool) -> str:
    """The name of a record's attribute, with its format where that is not the usual one."""
    words = {number: word for word, number in FORMATS.items()}
    if compat:
        name = tables.COMPAT_ATTRIBUTES.get(code)
        return f"{name or hex(code)}:{words[form]}"
    known = tables.ATTRIBUTES.get(code)
    if known is None or known.format != form:
        return f"{known.name if known else hex(code)}:{words[form]}"
    return str(known.name)


def record_code(name: str, compat: bool) -> tuple[int, int]:
    """Code and format of the attribute that :func:`record_name` wrote.

    Raises:
        ValueError: there is no such attribute, or its format is missing.
    """
    name, _, form = name.partition(":")
    if form and form not in FORMATS:
        raise ValueError(f"'{form}' is no format of records: {', '.join(FORMATS)}")
    found = _COMPAT_CODES if compat else _ATTRIBUTE_CODES
    code = int(name, 16) if re.fullmatch(r"0x[0-9a-f]{1,2}", name) else found.get(name)
    if code is None:
        raise ValueError(f"there is no attribute '{name}'")
    known = None if compat else tables.ATTRIBUTES.get(code)
    usual = known.format if known else 0
    if not form and not usual:
        raise ValueError(f"the format of '{name}' is not known: write {name}:byte, :half, :sized or :none")
    return code, FORMATS[form] if form else usual


def record_layout(code: int, compat: bool) -> str:
    """How the payload of a record reads (``spec/cubin.yaml``: attributes)."""
    known = None if compat else tables.ATTRIBUTES.get(code)
    return str(known.layout) if known else ""


class Shown(NamedTuple):
    """How numbers become names: a symbol's number, an offset of code."""

    symbol: Callable[[int], str]
    place: Callable[[int], str]


class Read(NamedTuple):
    """The way back: ``number`` takes any word that is a number, a name of a symbol in ``symbol``, a place in ``place``."""

    number: Callable[[str], int]
    symbol: Callable[[str], int]
    place: Callable[[str], int]


def show_payload(code: int, data: bytes, compat: bool, names: Shown) -> str:
    """The values of a sized record as a directive has them; ``hex`` and digits where its layout does not fit."""
    found = _SHOW.get(record_layout(code, compat))
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    text = found(words, data, names) if found and len(data) % 4 == 0 else None
    return f"hex {data.hex()}" if text is None else text


def read_payload(code: int, text: str, compat: bool, names: Read) -> bytes:
    """The bytes of a sized record from its values.

    Raises:
        ValueError: a value is missing or wrong.
    """
    word, _, digits = text.partition(" ")
    if word == "hex":
        return bytes.fromhex(digits)
    read = _READ.get(record_layout(code, compat), _read_words)
    return b"".join(v.to_bytes(4, "little") for v in read([w.strip() for w in text.split(",")] if text.strip() else [], names))


def _show_words(words: list[int], _data: bytes, _names: Shown) -> str:
    return ", ".join(map(hex, words))


def _show_places(words: list[int], _data: bytes, names: Shown) -> str:
    return ", ".join(map(names.place, words))


def _show_symbols(words: list[int], _data: bytes, names: Shown) -> str:
    return ", ".join(map(names.symbol, words))


def _show_symbol_value(words: list[int], _data: bytes, names: Shown) -> str | None:
    return f"{names.symbol(words[0])}, {words[1]}" if len(words) == 2 else None


def _show_param(_words: list[int], data: bytes, _names: Shown) -> str | None:
    if len(data) != _PARAM.size:
        return None
    index, ordinal, offset, word = _PARAM.unpack(data)
    if index:
        return None
    shown = f"{ordinal}, {offset:#x}, {word >> 18}"
    return shown if word & 0x3FFFF == _DEFAULT_PARAM else f"{shown}, {word & 0x3FFFF:#x}"


def _show_long_param(words: list[int], _data: bytes, _names: Shown) -> str | None:
    if len(words) != 3 or words[0]:
        return None
    shown = f"{words[1] & 0xFFFF}, {words[1] >> 16:#x}, {words[2] & 0xFFFF}"
    return f"{shown}, {words[2] >> 16:#x}" if words[2] >> 16 else shown


def _show_param_bank(words: list[int], _data: bytes, names: Shown) -> str | None:
    return f"{names.symbol(words[0])}, {words[1] & 0xFFFF:#x}, {words[1] >> 16}" if len(words) == 2 else None


def _show_branches(words: list[int], _data: bytes, names: Shown) -> str | None:
    groups = []
    while words:
        if len(words) < 3 or words[1] or words[2] > len(words) - 3:
            return None
        groups.append(", ".join(map(names.place, [words[0], *words[3 : 3 + words[2]]])))
        words = words[3 + words[2] :]
    return " | ".join(groups)


def _read_words(words: list[str], names: Read) -> list[int]:
    return [names.number(w) for w in words]


def _read_places(words: list[str], names: Read) -> list[int]:
    return [names.place(w) for w in words]


def _read_symbols(words: list[str], names: Read) -> list[int]:
    return [names.symbol(w) for w in words]


def _read_symbol_value(words: list[str], names: Read) -> list[int]:
    symbol, value = _exactly(words, "SYMBOL, VALUE")
    return [names.symbol(symbol), names.number(value)]


def _read_param(words: list[str], names: Read) -> list[int]:
    ordinal, offset, size, rest = (names.number(w) for w in _exactly([*words, hex(_DEFAULT_PARAM)][:4], "ORDINAL, OFFSET, SIZE"))
    if size >= 1 << 14 or offset >= 1 << 16 or ordinal >= 1 << 16:
        raise ValueError("a parameter's number and offset have 16 bits, its size 14")
    return [0, offset << 16 | ordinal, size << 18 | rest]


def _read_long_param(words: list[str], names: Read) -> list[int]:
    ordinal, offset, size, rest = (names.number(w) for w in _exactly([*words, "0"][:4], "ORDINAL, OFFSET, SIZE"))
    if max(ordinal, offset, size, rest) >= 1 << 16:
        raise ValueError("a parameter's number, offset and size have 16 bits")
    return [0, offset << 16 | ordinal, rest << 16 | size]


def _read_param_bank(words: list[str], names: Read) -> list[int]:
    symbol, base, size = _exactly(words, "SYMBOL, OFFSET, SIZE")
    return [names.symbol(symbol), names.number(size) << 16 | names.number(base)]


def _read_branches(words: list[str], names: Read) -> list[int]:
    out: list[int] = []
    for group in ", ".join(words).split("|"):
        branch, *targets = (names.place(w.strip()) for w in group.split(","))
        out += [branch, 0, len(targets), *targets]
    return out


def _exactly(words: list[str], said: str) -> list[str]:
    if len(words) != said.count(",") + 1 + (said == "ORDINAL, OFFSET, SIZE"):
        raise ValueError(f"expected {said}")
    return words


_SHOW: Final[dict[str, Callable[[list[int], bytes, Shown], str | None]]] = {
    "words": _show_words, "offsets": _show_places, "symbols": _show_symbols, "symbol_value": _show_symbol_value,
    "param": _show_param, "long_param": _show_long_param, "param_cbank": _show_param_bank, "branch_targets": _show_branches,
}  # fmt: skip
_READ: Final[dict[str, Callable[[list[str], Read], list[int]]]] = {
    "words": _read_words, "offsets": _read_places, "symbols": _read_symbols, "symbol_value": _read_symbol_value,
    "param": _read_param, "long_param": _read_long_param, "param_cbank": _read_param_bank, "branch_targets": _read_branches,
}  # fmt: skip
