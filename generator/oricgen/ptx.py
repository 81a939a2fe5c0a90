"""PTX signatures: the notation of ``spec/ptx`` parsed into resolved forms (notation: spec/README.md).

A form's syntax line reads like the manual's: ``ld{.weak}{.space}{.vec}.type d+vec+wider, [a]``. Words behind the
name are slots when the form, the instruction or the file gives them values, literals otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePath
from typing import Any

from .errors import Mistakes, SpecError
from .spec import Spec
from .strictyaml import Map
from .tables import ptx_nodes

NON_FAMILIES = ("types", "special_registers", "directives", "declarations")

# What an operand may be: bits of the generated masks, named in the generated index.
FLAGS = (
    "dest", "reg", "imm", "addr", "label", "table", "sreg", "sym", "pack", "vec", "sink", "wider",
    "bare", "neg", "part", "tex", "index", "exact",
    "more", "scalar", "frag", "areg", "object", "any", "unified", "load", "store", "preds", "gaps",
)  # fmt: skip
BIT = {name: 1 << i for i, name in enumerate(FLAGS)}
_RESULTS = frozenset({"d", "p", "q"})
_FIXED_TYPES = frozenset({"imm", "label", "table"})

_WORD = re.compile(r"(\{)?\.([A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)(!)?(\})?")
_OPERAND = re.compile(
    r"(?P<name>[a-z][a-z0-9]*)(?P<part>\.\w+|\{\.\w+\})?(?::(?P<wide>wide\()?(?P<type>[a-z0-9]+)\)?)?"
    r"(?:\*(?P<count>\w+(?:\.[a-z])?(?:[*/]\d+)?))?(?P<flags>(?:[-+][a-z]+)*)"
    r"(?:<(?P<lo>-?\d+)\.\.(?P<hi>-?\w+)(?:/(?P<step>\d+))?>|<(?P<choices>-?\d+(?:\|-?\d+)*)>)?\Z"
)
_COUNT = re.compile(r"(\w+)(?:\.([a-z]))?(?:([*/])(\d+))?\Z")
_RANGE = re.compile(r"<(\d+)\.\.(\d+)(?:/(\d+))?>")
_TYPE = re.compile(r"([a-z]+)[0-9]+(x[0-9]+)?")
_OPENING, _CLOSING = "[{(<", "]})>"
_TYPE_FIELDS = ("dtype", "atype", "btype", "ctype", "stype")
_GATE_COLUMNS = ("ptx", "sm", "arch", "removed")
_COLUMNS = frozenset({"syntax", "over", "special", "texmode", "warning", "needs", *_GATE_COLUMNS})
Fields = dict[str, tuple[str, ...]]  # slots of a mnemonic with their values
Gate = tuple[int, int, tuple[str, ...]]  # least PTX version * 10, least SM, exact targets


@dataclass(frozen=True)
class Operand:
    """One operand: type reference (``$slot``, ``wide $slot`` or a type; a space reference for addresses).

    ``bounds`` (least, most, step) or ``choices`` limit an immediate. ``count`` is the number of elements of a vector in
    braces: a number, or a key of the family's counts; 0 for none. ``rest`` is what follows in an address: ``[a, c]``.
    """

    name: str
    type: str
    mask: int
    optional: bool = False
    bounds: tuple[int, int, int] | None = None
    pair: Operand | None = None
    pair_optional: bool = False
    choices: tuple[int, ...] = ()
    part: str = ""
    count: int | str = 0
    rest: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Form:
    """One resolved signature: slots as (field, values, required), operands, gates; ``removed``: gone from (PTX, SM) on.

    ``texmode``: texture mode of the modules that have it, "" for both; ``warning``: what a use of it is told; ``needs``: what
    optional operands need.
    """

    slots: tuple[tuple[str, tuple[str, ...], bool], ...]
    operands: tuple[Operand, ...]
    ptx: int
    sm: int
    arch: tuple[str, ...]
    special: str
    removed: tuple[int, int] | None
    texmode: str
    warning: str
    needs: dict[str, Gate]
    syntax: str
    line: int


@dataclass(frozen=True)
class Instruction:
    """All forms under one name, and what its qualifiers need where the file's gates say something else."""

    name: str
    section: str
    forms: tuple[Form, ...]
    gates: dict[str, Gate]


@dataclass
class Family:
    """One file of spec/ptx; ``counts``: as operands say it (``num``, ``shape.n/2``) -> (slot, its value -> elements)."""

    stem: str
    gates: dict[str, Gate]
    counts: dict[str, tuple[str, dict[str, int]]]
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
    classes = class_masks(spec)
    out = []
    owner: dict[str, str] = {}
    with Mistakes() as each:
        for name in spec.names("ptx"):
            path = spec.path(name)
            if path.stem in NON_FAMILIES:
                continue
            with each:
                data = spec.load(name)
                family = _family(path, data, types)
                for instruction in family.instructions:
                    with each:
                        if instruction.name in owner:
                            line = data["instructions"].line_of(instruction.name)
                            raise SpecError(path, line, f"{instruction.name}: is also in {owner[instruction.name]}")
                        owner[instruction.name] = path.name
                        _check_classes(path, instruction, classes)
                out.append(family)
    return out


def class_masks(spec: Spec) -> dict[str, int]:
    """Class of operands (``ptx_nodes.yaml``) -> the bits of a mask that stand for it.

    Raises:
        SpecError: a class of an unknown flag.
    """
    masks = {}
    for name, flags in ptx_nodes.class_flags(spec).items():
        for flag in flags:
            if flag not in BIT:
                row = next(row for row in ptx_nodes.load(spec)["classes"] if row.values["class"] == name)
                raise SpecError(spec.path("ptx_nodes.yaml"), row.line, f"{row.key}: signatures have no flag '{flag}'")
        masks[name] = sum(BIT[flag] for flag in flags)
    return masks


def _check_classes(path: PurePath, instruction: Instruction, classes: dict[str, int]) -> None:
    """Each operand is of one of the classes at least.

    Raises:
        SpecError: the first form with one that is not.
    """
    allowed = sum(classes.values())
    for form in instruction.forms:
        left = list(form.operands)
        while left:
            operand = left.pop()
            if not operand.mask & allowed:
                raise SpecError(path, form.line, f"{instruction.name}: operand '{operand.name}' is of no class of ptx_nodes.yaml")
            left += [*operand.rest, *filter(None, [operand.pair])]


def _family(path: PurePath, data: Map, types: Map) -> Family:
    counts = {n: (n, dict(r)) for n, r in data.get("counts", {}).items()}
    family = Family(path.stem, gates_of(path, data["gates"], types), counts)
    used: set[str] = set()
    with Mistakes() as each:
        for name, row in data["instructions"].items():
            slots = {**data["slots"], **row.get("slots", {})}
            marks = BIT["frag"] if "vectors" in data else 0, BIT[row["access"]] if "access" in row else 0
            reader = _Reader(path, name, slots, family.counts, types, used, marks)
            forms = []
            for index, form in enumerate(row["forms"]):
                line = row["forms"].line_of(index)
                with each:
                    forms += [reader.form(columns, line) for columns in columns_of(form, reader, data.get("tables", {}), line)]
            with each:
                gates = gates_of(path, row.get("gates", {}), types)
                family.instructions.append(Instruction(name, row["section"], tuple(forms), gates))
    with Mistakes() as each:  # a form that cannot be read uses none
        for slot in data["slots"]:
            with each:
                if slot not in used:
                    raise SpecError(path, data["slots"].line_of(slot), f"{slot}: no form uses this slot")
    return family


def combined_rows(path: PurePath, line: int, over: Any, tables: Any) -> list[dict[str, Any]]:
    """The rows of ``over``: as they stand there, or each row of a table ``$name`` with each of the next one.

    Raises:
        SpecError: there is no such table.
    """
    out: list[dict[str, Any]] = [{}]
    rows = [row for row in over if not isinstance(row, str)]
    for name in (row.removeprefix("$") for row in over if isinstance(row, str)):
        if name not in tables:
            raise SpecError(path, line, f"over: there is no table '{name}'")
        out = [{**left, **right} for left in out for right in map(dict, tables[name])]
    return [{**left, **right} for left in out for right in map(dict, rows or ({},))]


def with_texts(syntax: str, row: dict[str, Any]) -> str:
    """A syntax line with the texts that columns called by a capital letter stand for in its operands."""
    head, space, tail = syntax.partition(" ")
    return head + space + re.sub("[A-Z]", lambda match: row[match[0]] if isinstance(row.get(match[0]), str) else match[0], tail)


def columns_of(form: Any, reader: _Reader, tables: Any, line: int) -> Iterator[dict[str, Any]]:
    """The columns of each form that a row stands for: its syntax lines, for each row of ``over``, without groups."""
    columns: dict[str, Any] = {"syntax": form} if isinstance(form, str) else form
    lines = [columns["syntax"]] if isinstance(columns["syntax"], str) else columns["syntax"]
    for over in combined_rows(reader.path, line, columns.get("over", ({},)), tables):
        row = {**columns, **over}
        reader.check_columns(row, lines, line)
        for written in lines:
            yield from ({**row, "syntax": syntax} for syntax in without_groups(with_texts(written, over)))


def gates_of(path: PurePath, rows: Any, types: Map) -> dict[str, Gate]:
    """What the words of a ``gates`` map need."""
    return {
        word: (version(row.get("ptx")), row.get("sm", 0), targets_of(path, rows.line_of(word), row.get("arch", ()), types))
        for word, row in rows.items()
    }


def targets_of(path: PurePath, line: int, arch: Any, types: Map) -> tuple[str, ...]:
    """The targets of an ``arch`` column: a list, or ``$name`` of a list in types.yaml.

    Raises:
        SpecError: there is no such list.
    """
    if not isinstance(arch, str):
        return tuple(arch)
    found = types["target_sets"].get(arch.removeprefix("$"))
    if found is None:
        raise SpecError(path, line, f"arch: types.yaml has no target set '{arch.removeprefix('$')}'")
    return tuple(found)


def in_range(value: str) -> Iterator[str]:
    """``m64n<8..24/8>k16`` written out: m64n8k16, m64n16k16, m64n24k16."""
    match = _RANGE.search(value)
    if match is None:
        yield value
        return
    for number in range(int(match[1]), int(match[2]) + 1, int(match[3] or 1)):
        yield from in_range(f"{value[: match.start()]}{number}{value[match.end() :]}")


def without_groups(syntax: str) -> list[str]:
    """``{.sem.scope}`` (both or none) written out as two forms; single optional words stay."""
    match = re.search(r"\{((?:\.[A-Za-z0-9_:]+){2,})\}", syntax)
    if match is None:
        return [syntax]
    before, after = syntax[: match.start()], syntax[match.end() :]
    return [*without_groups(before + after), *without_groups(before + match[1] + after)]


def split_operands(text: str) -> list[tuple[str, bool]]:
    """Operand texts with their optional mark: ``a{, b}, [c, d]``; commas in brackets do not count."""
    out: list[tuple[str, bool]] = []
    start = depth = 0
    optional = False
    for index, character in enumerate(text + ","):
        if character in _OPENING and text[index : index + 2] == "{," and not depth:
            out.append((text[start:index], False))
            start, optional = index + 2, True
        depth += character in _OPENING
        depth -= character in _CLOSING
        if (character == "," and not depth) or (optional and not depth):
            out.append((text[start:index], optional))
            start, optional = index + 1, False
    return [(part.strip(), mark) for part, mark in out if part.strip()]


@cache
def _letters(types: tuple[str, ...]) -> re.Pattern[str]:
    """What reads like one of the types: ``u33`` does because of ``u32``."""
    found = {match[1] for name in types if (match := _TYPE.fullmatch(name))}
    return re.compile(rf"({'|'.join(sorted(found))})[0-9]+(x[0-9]+)?")


class _Reader:
    """Reads the forms of one instruction."""

    def __init__(
        self, path: PurePath, name: str, slots: dict[str, Any], counts: Any, types: Map, used: set[str], marks: tuple[int, int]
    ) -> None:
        self.path = path
        self.name = name
        self.slots = slots
        self.counts = counts
        self.all_types = types
        self.types = types["types"]
        self.spaces = set(types["spaces"])
        self.used = used
        self.vectors, self.addresses = marks  # flags of all vectors, of all addresses
        self.line = 0
        self.row: dict[str, Any] = {}

    def error(self, message: str) -> SpecError:
        return SpecError(self.path, self.line, f"{self.name}: {message}")

    def check_columns(self, row: dict[str, Any], lines: Sequence[str], line: int) -> None:
        """Each column of a form is a slot of its mnemonics, a number, or has a meaning of its own."""
        self.line = line
        heads = [written.partition(" ")[0] for written in lines]
        words = {match[2] for head in heads for match in _WORD.finditer(head)}
        for column, value in row.items():
            if column not in _COLUMNS and column not in words and not isinstance(value, int) and not column.isupper():
                raise self.error(f"{column}: the mnemonic '{heads[0]}' has no such slot")

    def form(self, row: dict[str, Any], line: int) -> Form:
        self.line, self.row = line, row
        head, _, tail = row["syntax"].partition(" ")
        slots = self.read_words(head, row)
        fields = {name: values for name, values, _ in slots}
        for name, values in fields.items():
            typed = name in ("type", *_TYPE_FIELDS)
            self.check_words(name, values if typed else filter(self.seems_type, values), self.types, "type")
        operands = tuple(self.operand(text, optional, fields) for text, optional in split_operands(tail))
        arch = targets_of(self.path, line, row.get("arch", ()), self.all_types)
        removed = row.get("removed")
        gone = None if removed is None else (version(removed["ptx"]), removed.get("sm", 0))
        gates = version(row.get("ptx")), row.get("sm", 0), arch
        told = row.get("texmode", ""), row.get("warning", ""), self.needs(row, operands)
        return Form(slots, operands, *gates, row.get("special", ""), gone, *told, row["syntax"], line)

    def needs(self, row: dict[str, Any], operands: tuple[Operand, ...]) -> dict[str, Gate]:
        """What optional operands need, by their names."""
        rows = row.get("needs", {})
        optional = {o.pair.name if o.pair and o.pair_optional else o.name for o in operands if o.optional or o.pair_optional}
        return {name: gate for name, gate in gates_of(self.path, rows, self.all_types).items() if name in optional}

    def read_words(self, head: str, row: dict[str, Any]) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
        """The slots of a mnemonic; words of the instruction's own name and ``.word!`` get fields that begin with a dot."""
        own = self.name.split(".")
        base = own.pop(0)
        if not head.startswith(base) or head[len(base) : len(base) + 1] not in ("", ".", "{"):
            raise self.error(f"syntax '{head}' does not begin with the name")
        words = []
        position = len(base)
        while position < len(head):
            match = _WORD.match(head, position)
            if match is None or bool(match[1]) != bool(match[4]):
                raise self.error(f"syntax '{head}': cannot read '{head[position:]}'")
            words.append((match[2], match[1] is None, match[3] is not None))
            position = match.end()
        typed = [w for w, _, _ in words if w in self.types or w in ("type", *_TYPE_FIELDS)]
        out: list[tuple[str, tuple[str, ...], bool]] = []
        for word, required, in_place in words:
            if word in own and required:
                own.remove(word)
                out.append(("." + word, (word,), True))
                continue
            field = "." + word if in_place else self.field_of(word, typed)
            out.append((field, self.values_of(word, row), required))
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
            return tuple(written for value in values or () for written in in_range(value))
        return (word,)

    def field_of(self, word: str, typed: list[str]) -> str:
        if word in self.types:
            if len(typed) == 1:
                return "type"
            index = typed.index(word)
            typed[index] = ""
            return _TYPE_FIELDS[index]
        if word in self.spaces and word not in self.slots:
            return "space"
        return word

    def operand(self, text: str, optional: bool, fields: Fields) -> Operand:
        match = re.fullmatch(r"([^|{\[<]+)(\{)?\|([^}]+)\}?", text)
        if match:
            first = self.single(match[1], fields, optional)
            second = self.single(match[3], fields, False)
            return replace(first, pair=second, pair_optional=match[2] is not None)
        if text.startswith("[") and text.endswith("]"):
            return self.address(text, fields, optional)
        if text.startswith("{"):
            return self.group(text, fields, optional)
        return self.single(text, fields, optional)

    def group(self, text: str, fields: Fields, optional: bool) -> Operand:
        """``{a:u16<0..3>, b:u16}``: a vector whose elements are operands of their own."""
        parts = tuple(self.operand(part, mark, fields) for part, mark in split_operands(text[1:-1]))
        if len(parts) < 2:
            raise self.error(f"cannot read operand '{text}'")
        return Operand(parts[0].name, "", BIT["vec"], optional, count=len(parts), rest=parts)

    def address(self, text: str, fields: Fields, optional: bool) -> Operand:
        """``[a]``, ``[a:space]``, ``[a:tex, c]``: an address, perhaps with operands behind it."""
        parts = split_operands(text[1:-1])
        match = _OPERAND.match(parts[0][0]) if parts else None
        if match is None or match["lo"] or match["choices"] or match["count"]:
            raise self.error(f"cannot read operand '{text}'")
        rest = tuple(self.operand(part, mark, fields) for part, mark in parts[1:])
        mask = BIT["addr"] | self.addresses
        for flag in self.flags(match["flags"], text, mask):
            mask |= BIT[flag]
        if match["type"] in self.types:  # [t:texref, c]: a name or handle; [t:u32]: an address in a register of the type
            mask |= BIT["tex" if self.types[match["type"]]["kind"] == "opaque" else "areg"]
            return Operand(match["name"], match["type"], mask, optional, rest=rest)
        return Operand(match["name"], self.space_of(match["type"], fields), mask, optional, rest=rest)

    def flags(self, text: str, operand: str, mask: int) -> set[str]:
        """The names of the flags of ``mask`` and of those that ``text`` (``+vec-imm``) adds, less those that it takes away."""
        out = {flag for flag in FLAGS if mask & BIT[flag]}
        for sign, flag in re.findall(r"([-+])([a-z]+)", text):
            if flag not in BIT:
                raise self.error(f"operand '{operand}': unknown flag '{flag}'")
            out = out | {flag} if sign == "+" else out - {flag}
        return out

    def single(self, text: str, fields: Fields, optional: bool) -> Operand:
        match = _OPERAND.match(text)
        if match is None:
            raise self.error(f"cannot read operand '{text}'")
        name, type_ = match["name"], match["type"]
        bounds = (int(match["lo"]), self.limit_of(match["hi"]), int(match["step"] or 1)) if match["lo"] else None
        choices = tuple(map(int, match["choices"].split("|"))) if match["choices"] else ()
        mask = BIT["dest"] | BIT["reg"] if name in _RESULTS else BIT["reg"] | BIT["imm"]
        if type_ in _FIXED_TYPES:
            mask = BIT[type_]
            type_ = "u64" if type_ == "imm" else ""
        else:
            type_ = self.type_of(type_, bool(match["wide"]), fields)
        count = self.count_of(match["count"], fields)
        if count:
            mask |= BIT["vec"] | self.vectors
        mask = sum(BIT[flag] for flag in self.flags(match["flags"], text, mask))
        part, mask = self.part_of(match["part"] or "", mask)
        return Operand(name, type_, mask, optional, bounds, choices=choices, part=part, count=count)

    def part_of(self, text: str, mask: int) -> tuple[str, int]:
        """``d.lane``, ``a{.lane}``: the set of parts, and the mask with ``part``; without ``reg`` where the part is needed."""
        if not text:
            return "", mask
        name = text.strip("{.}")
        if name not in self.all_types["parts"]:
            raise self.error(f"types.yaml has no set of parts '{name}'")
        return name, mask | BIT["part"] if text[0] == "{" else (mask | BIT["part"]) & ~(BIT["reg"] | BIT["imm"])

    def limit_of(self, text: str) -> int:
        """The greatest value of an immediate: digits or an integer column of the form."""
        found = int(text) if text.lstrip("-").isdigit() else self.row.get(text)
        if not isinstance(found, int):
            raise self.error(f"there is no number '{text}'")
        return found

    def count_of(self, text: str | None, fields: Fields) -> int | str:
        """A number of vector elements: digits, an integer column of the form, a slot that counts; perhaps ``*2`` or ``/2``.

        ``shape.n`` is the number that follows the letter ``n`` in the value of the slot ``shape``.
        """
        if text is None:
            return 0
        match = _COUNT.match(text)
        assert match is not None  # as _OPERAND reads it
        name, letter, sign, number = match[1], match[2], match[3], int(match[4] or 1)
        fixed = int(name) if name.isdigit() else self.row.get(name)
        if isinstance(fixed, int):
            return self.scaled(fixed, sign, number, text)
        if name not in fields or (letter is None and name not in self.counts):
            raise self.error(f"there is no count '{text}'")
        if letter is None:
            found = {value: self.number_of(value, name) for value in fields[name]}
        else:
            found = {value: self.number_behind(letter, value, text) for value in fields[name]}
        if text != name:
            scaled = {value: self.scaled(count, sign, number, text) for value, count in found.items()}
            self.counts.setdefault(text, (name, {}))[1].update(scaled)
        return text

    def number_of(self, value: str, name: str) -> int:
        elements: dict[str, int] = self.counts[name][1]
        count = elements.get(value)
        if count is None:
            raise self.error(f"counts say nothing of '{value}' in '{name}'")
        return count

    def number_behind(self, letter: str, value: str, text: str) -> int:
        match = re.search(rf"(?<![a-z]){letter}(\d+)", value)
        if match is None:
            raise self.error(f"count '{text}': there is no number behind '{letter}' in '{value}'")
        return int(match[1])

    def scaled(self, count: int, sign: str | None, number: int, text: str) -> int:
        """A count times or by a number."""
        if sign == "/" and count % number:
            raise self.error(f"count '{text}': {count} is no multiple of {number}")
        return count // number if sign == "/" else count * number

    def space_of(self, type_: str | None, fields: Fields) -> str:
        if type_ is None and "space" not in fields:
            return ""
        type_ = type_ or "space"
        if type_ in fields:
            self.check_words(type_, (value.partition("::")[0] for value in fields[type_]), self.spaces, "state space")
            return f"${type_}"
        if type_ not in self.spaces:
            raise self.error(f"there is no state space or slot '{type_}'")
        return type_

    def seems_type(self, word: str) -> bool:
        """Whether a word reads like a type: letters of one with other numbers behind them."""
        return bool(_letters(tuple(self.types)).fullmatch(word)) and word not in self.all_types["others"]

    def check_words(self, slot: str, values: Iterable[str], known: Container[str], what: str) -> None:
        """A slot that an operand is typed by, or lies in, has types or spaces for values."""
        for value in values:
            if value not in known:
                raise self.error(f"{slot}: there is no {what} '{value}'")

    def type_of(self, type_: str | None, wide: bool, fields: Fields) -> str:
        if type_ is None:
            type_ = "type"
        if type_ in fields:
            self.check_words(type_, fields[type_], self.types, "type")
            return f"wide ${type_}" if wide else f"${type_}"
        if type_ not in self.types:
            raise self.error(f"there is no type or slot '{type_}'")
        return type_
