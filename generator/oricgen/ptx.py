"""PTX signatures: the notation of ``spec/ptx`` parsed into resolved forms (notation: spec/README.md).

A form's syntax line reads like the manual's: ``ld{.weak}{.space}{.vec}.type d+vec+wider, [a]``. Words behind the
name are slots when the form, the instruction or the file gives them values, literals otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from .errors import SpecError
from .spec import Spec
from .strictyaml import Map

NON_FAMILIES = ("types", "names", "special_registers", "directives")

# What an operand may be: bits of the generated masks, named in the generated index.
FLAGS = ("dest", "reg", "imm", "addr", "label", "table", "sreg", "sym", "pack", "vec", "sink", "wider")
BIT = {name: 1 << i for i, name in enumerate(FLAGS)}
_RESULTS = frozenset({"d", "p", "q"})
_FIXED_TYPES = frozenset({"imm", "label", "table"})

_WORD = re.compile(r"(\{)?\.([A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)(\})?")
_OPERAND = re.compile(
    r"(?P<open>\[)?(?P<name>[a-z][a-z0-9]*)(?::(?P<wide>wide\()?(?P<type>[a-z0-9]+)\)?)?(?P<flags>(?:[-+][a-z]+)*)"
    r"(?:<(?P<lo>-?\d+)\.\.(?P<hi>\d+)(?:/(?P<step>\d+))?>)?(?P<close>\])?\Z"
)


@dataclass(frozen=True)
class Operand:
    """One operand: type reference (``$slot``, ``wide $slot`` or a type; a space reference for addresses)."""

    name: str
    type: str
    mask: int
    optional: bool = False
    bounds: tuple[int, int, int] | None = None
    pair: Operand | None = None
    pair_optional: bool = False


@dataclass(frozen=True)
class Form:
    """One resolved signature: slots as (field, values, required), operands, gates."""

    slots: tuple[tuple[str, tuple[str, ...], bool], ...]
    operands: tuple[Operand, ...]
    ptx: int
    sm: int
    arch: tuple[str, ...]
    special: str


@dataclass(frozen=True)
class Instruction:
    """All forms under one name."""

    name: str
    section: str
    forms: tuple[Form, ...]


@dataclass
class Family:
    """One file of spec/ptx."""

    stem: str
    gates: dict[str, tuple[int, int]]
    instructions: list[Instruction] = field(default_factory=list)


def version(text: str | None) -> int:
    """``"7.8"`` -> 78; 0 for no bound."""
    return int(text.replace(".", "")) if text else 0


def load_types(spec: Spec) -> Map:
    """The content of ptx/types.yaml."""
    return spec.load("ptx/types.yaml", "ptx_types")


def families(spec: Spec) -> list[Family]:
    """All instruction families, in order of file name; read once for a specification.

    Raises:
        SpecError: notation errors, unknown slots or types, a name given twice.
    """
    return spec.memo("ptx", lambda: _families(spec))


def _families(spec: Spec) -> list[Family]:
    types = load_types(spec)
    out = []
    owner: dict[str, str] = {}
    for name in spec.names("ptx"):
        path = spec.path(name)
        if path.stem in NON_FAMILIES:
            continue
        data = spec.load(name)
        family = _family(path, data, types)
        for instruction in family.instructions:
            if instruction.name in owner:
                line = data["instructions"].line_of(instruction.name)
                raise SpecError(path, line, f"{instruction.name}: is also in {owner[instruction.name]}")
            owner[instruction.name] = path.name
        out.append(family)
    return out


def _family(path: PurePath, data: Map, types: Map) -> Family:
    gates = {value: (version(row.get("ptx")), row.get("sm", 0)) for value, row in data["gates"].items()}
    family = Family(path.stem, gates)
    used: set[str] = set()
    for name, row in data["instructions"].items():
        reader = _Reader(path, name, {**data["slots"], **row.get("slots", {})}, types, used)
        forms = []
        for index, form in enumerate(row["forms"]):
            line = row["forms"].line_of(index)
            columns = {"syntax": form} if isinstance(form, str) else form
            for syntax in without_groups(columns["syntax"]):
                forms.append(reader.form({**columns, "syntax": syntax}, line))
        family.instructions.append(Instruction(name, row["section"], tuple(forms)))
    for slot in data["slots"]:
        if slot not in used:
            raise SpecError(path, data["slots"].line_of(slot), f"{slot}: no form uses this slot")
    return family


def without_groups(syntax: str) -> list[str]:
    """``{.sem.scope}`` (both or none) written out as two forms; single optional words stay."""
    match = re.search(r"\{((?:\.[A-Za-z0-9_:]+){2,})\}", syntax)
    if match is None:
        return [syntax]
    before, after = syntax[: match.start()], syntax[match.end() :]
    return [*without_groups(before + after), *without_groups(before + match[1] + after)]


class _Reader:
    """Reads the forms of one instruction."""

    def __init__(self, path: PurePath, name: str, slots: dict[str, Any], types: Map, used: set[str]) -> None:
        self.path = path
        self.name = name
        self.slots = slots
        self.types = types["types"]
        self.spaces = set(types["spaces"])
        self.used = used
        self.line = 0

    def error(self, message: str) -> SpecError:
        return SpecError(self.path, self.line, f"{self.name}: {message}")

    def form(self, row: dict[str, Any], line: int) -> Form:
        self.line = line
        head, _, tail = row["syntax"].partition(" ")
        slots = self.read_words(head, row)
        fields = {name for name, _, _ in slots}
        operands = tuple(self.operand(text, optional, fields) for text, optional in self.split(tail))
        return Form(
            slots, operands, version(row.get("ptx")), row.get("sm", 0), tuple(row.get("arch", ())), row.get("special", "")
        )

    def read_words(self, head: str, row: dict[str, Any]) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
        """The slots of a mnemonic; words of the instruction's own name get fields that begin with a dot."""
        own = self.name.split(".")
        base = own.pop(0)
        if not head.startswith(base) or head[len(base) : len(base) + 1] not in ("", ".", "{"):
            raise self.error(f"syntax '{head}' does not begin with the name")
        words = []
        position = len(base)
        while position < len(head):
            match = _WORD.match(head, position)
            if match is None or bool(match[1]) != bool(match[3]):
                raise self.error(f"syntax '{head}': cannot read '{head[position:]}'")
            words.append((match[2], match[1] is None))
            position = match.end()
        typed = [w for w, _ in words if w in self.types or w in ("type", "dtype", "atype")]
        out: list[tuple[str, tuple[str, ...], bool]] = []
        for word, required in words:
            if word in own and required:
                own.remove(word)
                out.append(("." + word, (word,), True))
                continue
            out.append((self.field_of(word, typed), self.values_of(word, row), required))
        if own:
            raise self.error(f"syntax '{head}' lacks '.{own[0]}' of the name")
        return tuple(out)

    def values_of(self, word: str, row: dict[str, Any]) -> tuple[str, ...]:
        values = row.get(word, self.slots.get(word))
        if word in row or word in self.slots:
            self.used.add(word)
            if isinstance(values, str):
                slot = values.removeprefix("$")
                if slot not in self.slots:
                    raise self.error(f"{word}: there is no slot '{slot}'")
                self.used.add(slot)
                values = self.slots[slot]
            return tuple(values or ())
        return (word,)

    def field_of(self, word: str, typed: list[str]) -> str:
        if word in self.types:
            if len(typed) == 1:
                return "type"
            index = typed.index(word)
            typed[index] = ""
            return ("dtype", "atype", "btype", "ctype")[index]
        if word in self.spaces and word not in self.slots:
            return "space"
        return word

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Operand texts with their optional mark: ``a{, b}, c``."""
        out = []
        for part in re.findall(r"\{, [^}]*\}|[^,{]+(?:\{\|[^}]*\})?", text):
            if part.startswith("{, "):
                out.append((part[3:-1].strip(), True))
            elif part.strip():
                out.append((part.strip(), False))
        return out

    def operand(self, text: str, optional: bool, fields: set[str]) -> Operand:
        match = re.fullmatch(r"([^|{]+)(\{)?\|([^}]+)\}?", text)
        if match:
            first = self.single(match[1], fields, optional)
            second = self.single(match[3], fields, False)
            return Operand(first.name, first.type, first.mask, optional, None, second, match[2] is not None)
        return self.single(text, fields, optional)

    def single(self, text: str, fields: set[str], optional: bool) -> Operand:
        match = _OPERAND.match(text)
        if match is None or bool(match["open"]) != bool(match["close"]):
            raise self.error(f"cannot read operand '{text}'")
        name, type_ = match["name"], match["type"]
        bounds = (int(match["lo"]), int(match["hi"]), int(match["step"] or 1)) if match["lo"] else None
        if match["open"]:
            return Operand(name, self.space_of(type_, fields), BIT["addr"], optional)
        mask = BIT["dest"] | BIT["reg"] if name in _RESULTS else BIT["reg"] | BIT["imm"]
        if type_ in _FIXED_TYPES:
            mask = BIT[type_]
            type_ = "u64" if type_ == "imm" else ""
        else:
            type_ = self.type_of(type_, bool(match["wide"]), fields)
        for sign, flag in re.findall(r"([-+])([a-z]+)", match["flags"]):
            if flag not in BIT:
                raise self.error(f"operand '{text}': unknown flag '{flag}'")
            mask = mask | BIT[flag] if sign == "+" else mask & ~BIT[flag]
        return Operand(name, type_, mask, optional, bounds)

    def space_of(self, type_: str | None, fields: set[str]) -> str:
        if type_ is None:
            return "$space" if "space" in fields else ""
        if type_ in fields:
            return f"${type_}"
        if type_ not in self.spaces:
            raise self.error(f"there is no state space or slot '{type_}'")
        return type_

    def type_of(self, type_: str | None, wide: bool, fields: set[str]) -> str:
        if type_ is None:
            type_ = "type"
        if type_ in fields:
            return f"wide ${type_}" if wide else f"${type_}"
        if type_ not in self.types:
            raise self.error(f"there is no type or slot '{type_}'")
        return type_
