"""Forms of a row: shapes expanded, operands and modifiers placed, every bit accounted for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import SpecError
from ..strictyaml import Map
from . import bits, notation, places, ranges, text
from .model import Default, Form, FormMod, FormOperand, ModField, Modifier, Operand
from .places import Formats, Slot

_OPCODE = 0xFFF
_GUARD = 0xF000
_CONTROL = ((1 << 17) - 1) << 105
_FIRST_REUSE = 122
_REUSE = 0xF << _FIRST_REUSE
_BIT91 = 1 << 91
_SELECT_SHIFT = 9
_FRAME = "the bits of every word: opcode, guard, control, reuse"


class Wrong(ValueError):
    """A mistake whose line is known better than that of the form."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class RowContext:
    """A row under construction."""

    path: str
    name: str
    line: int
    row: Map
    operands: tuple[Operand, ...]
    fields: dict[str, dict[str, ModField]]
    sets: dict[str, str]
    aliases: tuple[int, int]
    raw: Map  # formats.yaml
    isas: tuple[str, ...]
    formats: dict[str, Formats]  # by ISA; equal ones are the same object


@dataclass
class View:
    """A row as it is on one ISA: its columns with those of the deltas that name the ISA."""

    isa: str
    formats: Formats
    columns: dict[str, Any]
    mods: dict[str, Any]
    at: dict[str, str]
    lines: dict[str, int]  # of the columns


@dataclass
class Draft:
    """A form before the modifiers of the row have their packed codes."""

    view: View
    name: str
    line: int
    mask: int
    value: int
    zero: int
    ones: int
    template: str
    spare: int = 0  # bits of source regions that are zero when nobody uses them
    slots: dict[str, Slot] = field(default_factory=dict)
    drop: dict[str, str] = field(default_factory=dict)
    overrides: dict[str, Any] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=dict)
    imm: str = ""
    operands: list[FormOperand] = field(default_factory=list)
    mods: dict[str, ModField] = field(default_factory=dict)
    defaults: dict[int, Default | None] = field(default_factory=dict)


class FormBuilder:
    """Builds the forms of one row for one ISA after the other."""

    def __init__(self, context: RowContext) -> None:
        self.context = context
        self._drafts: dict[tuple[object, ...], list[Draft]] = {}
        self._forms: dict[int, tuple[Form, ...]] = {}
        self._codes: dict[str, dict[str, int]] = {}
        self._used: dict[str, list[ModField]] = {}
        for name, by_region in context.fields.items():
            base = next(iter(by_region.values()))
            self._codes[name] = {v.name: v.raw ^ base.default for v in base.values}
            self._used[name] = list(by_region.values())

    def forms(self, isa: str) -> list[Draft]:
        """The drafts for ``isa``, in the order in which the encoder tries them; ISAs that do not differ share the list."""
        view, applied = self._view(isa)
        entries = view.columns["forms"]
        items = (
            [(_entry_of(entries), self._line("forms"))]
            if isinstance(entries, str)
            else list(zip(entries, entries.lines, strict=True))
        )
        chosen = [(entry, line) for entry, line in items if self._names(isa, entry.get("isa", (isa,)), line)]
        key = (id(view.formats), applied, tuple(line for _, line in chosen))
        if key not in self._drafts:
            self._drafts[key] = [draft for entry, line in chosen for draft in self._entry(view, entry, line)]
        return self._drafts[key]

    def _names(self, isa: str, items: Any, line: int) -> bool:
        try:
            return ranges.holds(items, isa, self.context.isas)
        except ValueError as error:
            raise self._fail(line, error) from error

    def _view(self, isa: str) -> tuple[View, tuple[str, ...]]:
        """The row on ``isa``, and which deltas made it."""
        row = self.context.row
        columns: dict[str, Any] = {k: row[k] for k in ("text", "match", "zero", "ones", "forms", "imm", "regions") if k in row}
        lines = {key: row.line_of(key) for key in columns}
        mods: dict[str, Any] = {}
        at: dict[str, str] = {}
        applied = []
        for key, delta in row.get("delta", {}).items():
            if not self._names(isa, (key,), row["delta"].line_of(key)):
                continue
            applied.append(key)
            mods.update(delta.get("mods", {}))
            at.update(delta.get("at", {}))
            own = {k: v for k, v in delta.items() if k not in ("mods", "at")}
            columns.update(own)
            lines.update({k: delta.line_of(k) for k in own})
        return View(isa, self.context.formats[isa], columns, mods, at, lines), tuple(applied)

    def _line(self, key: str) -> int:
        return self.context.row.line_of(key)

    def _fail(self, line: int, message: object) -> SpecError:
        return SpecError(self.context.path, line, f"{self.context.name}: {message}")

    def _entry(self, view: View, entry: Any, line: int) -> list[Draft]:
        try:
            drafts = self._shapes(view, entry, line) if "shape" in entry else [self._word(view, entry, line)]
            for draft in drafts:
                self._place(draft)
                self._account(draft)
        except ValueError as error:
            raise self._fail(getattr(error, "line", line), error) from error
        return drafts

    def _common(self, draft: Draft, entry: Any) -> None:
        row = draft.view.columns
        for source in (row, entry):
            with self._column(draft, source, "match"):
                for condition in str(source.get("match", "")).split():
                    self._match(draft, condition)
            with self._column(draft, source, "zero"):
                draft.zero |= bits.parse_set(source.get("zero"))
            with self._column(draft, source, "ones"):
                draft.ones |= bits.parse_set(source.get("ones"))
        draft.template = entry.get("text", row["text"])
        draft.overrides = entry.get("mods", {})
        draft.at = {**entry.get("at", {}), **draft.view.at}
        draft.drop = entry.get("drop", {})
        draft.imm = entry.get("imm", row.get("imm", ""))

    @contextmanager
    def _column(self, draft: Draft, source: Any, column: str) -> Iterator[None]:
        """A mistake in a column of the row, or of one of its deltas, is on the line of that."""
        try:
            yield
        except ValueError as error:
            line = draft.view.lines.get(column, draft.line) if source is draft.view.columns else draft.line
            raise Wrong(line, f"column '{column}': {error}") from error

    @staticmethod
    def _match(draft: Draft, condition: str) -> None:
        place, equals, value = condition.partition("=")
        if not equals or not value.isdigit():
            raise ValueError(f"'{condition}' is not BITS=VALUE with a decimal value")
        field_bits = bits.parse(place)
        if int(value) >= 1 << field_bits.width:
            raise ValueError(f"'{condition}': {value} does not fit into {bits.said(field_bits.mask)}")
        draft.mask |= field_bits.mask
        draft.value = draft.value & ~field_bits.mask | field_bits.place(int(value))

    def _word(self, view: View, entry: Any, line: int) -> Draft:
        word = entry["word"]
        head, *conditions = (f"0x{word:03x}" if isinstance(word, int) else str(word)).split()
        value = _opcode_of(head)
        draft = Draft(view, head, line, _OPCODE | _BIT91, value, 0, 0, "")
        for condition in conditions:
            self._match(draft, condition)
        draft.name = " ".join([head, *conditions])
        self._common(draft, entry)
        return draft

    def _shapes(self, view: View, entry: Any, line: int) -> list[Draft]:
        table_name, base, *wanted = [*str(entry["shape"]).split(), ""]
        wanted = [w for w in wanted if w]
        tables = self.context.raw["shapes"]
        if table_name not in tables:
            raise ValueError(f"there is no shape table '{table_name}' in formats.yaml")
        opcode = _opcode_of(base)
        unknown = [w for w in wanted if w not in tables[table_name]]
        if unknown:
            raise ValueError(f"shape table '{table_name}' has no shape '{unknown[0]}'")
        table = view.formats.shapes[table_name]
        all_regions = "".join(sorted({letter for shape in table.values() for letter in shape["at"]}))
        names = [name for name in wanted or table if name in table]
        return [self._shape(view, entry, line, name, table[name], opcode, all_regions) for name in names]

    def _shape(self, view: View, entry: Any, line: int, name: str, shape: Any, base: int, all_regions: str) -> Draft:
        value = base | shape["select"] << _SELECT_SHIFT | (_BIT91 if shape.get("u") else 0)
        draft = Draft(view, name, line, _OPCODE | _BIT91, value, 0, 0, "")
        self._common(draft, entry)
        own = view.columns.get("regions", {})
        letters = "C" if shape.get("third") else ""
        sources = [o.name for o in self.context.operands if o.name in ("Ra", "Rb", "Rc", "URa", "URb", "URc")]
        named = text.names_in(draft.template, frozenset(o.name for o in self.context.operands))[0]
        sources = [s for s in sources if s in named]
        if len(sources) != len(name):
            raise ValueError(f"shape {name} has {len(name)} sources, but the text names {', '.join(sources) or 'none'}")
        for i, (source, kind, region) in enumerate(zip(sources, name, shape["at"], strict=True)):
            ordinal = 2 if letters and i == 1 else "abc".index(source[-1])
            if base & self.context.raw["frame"]["no_reuse"] or draft.zero >> _FIRST_REUSE + ordinal & 1:
                ordinal = -1
            draft.slots[source] = Slot(kind, {**view.formats.regions[region], **own.get(region, {}), "": region}, ordinal)
        for letter in all_regions:  # what a region has and nobody uses is zero
            region = {**view.formats.regions[letter], **own.get(letter, {})}
            draft.spare |= bits.parse(region["span"]).mask | 1 << int(region["neg"]) | 1 << int(region["abs"])
        draft.zero &= ~_REUSE  # said above: these sources have no reuse flag
        return draft

    def _place(self, draft: Draft) -> None:
        """Find the place of every operand and modifier that the text names."""
        index = {o.name: i for i, o in enumerate(self.context.operands)}
        used, mods = text.names_in(draft.template, frozenset(index))
        for name in used:
            operand = self.context.operands[index[name]]
            if name in draft.drop:
                operand = replace(operand, marks="".join(m for m in operand.marks if m not in draft.drop[name]))
            if name == "URd":
                draft.spare |= bits.parse(draft.view.formats.regions["D"]["span"]).mask
            region = draft.view.formats.regions.get(draft.at.get(name, operand.where))
            if region is not None:  # a uniform register may be narrower than the general one of the region
                slot = bits.parse(region["gpr"]).mask
                draft.spare |= slot
                draft.zero &= ~slot
            place, default = self._operand(draft, operand, index[name])
            draft.operands.append(place)
            draft.defaults[index[name]] = default
        draft.operands.sort(key=lambda o: o.index)
        for name, attached in mods.items():
            if name != "alias":
                draft.mods[name] = self._mod(draft, name, attached)

    def _operand(self, draft: Draft, operand: Operand, index: int) -> tuple[FormOperand, Default | None]:
        if operand.name in draft.at:
            return places.explicit(operand, index, draft.at[operand.name], draft.view.formats)
        if operand.name in draft.slots:
            slot = draft.slots[operand.name]
            if slot.letter == "I" and not draft.imm:
                raise ValueError(f"shape {draft.name} has an immediate: the row needs a column 'imm' with its number format")
            return places.by_shape(operand, index, slot, draft.imm), None
        if operand.where:
            return places.explicit(operand, index, operand.where, draft.view.formats)
        named = places.by_name(operand, index, draft.view.formats)
        if named is None:
            raise ValueError(f"operand '{operand.name}' has no place: neither '@BITS' nor 'at' says it, nor its name")
        return named, operand.default

    def _mod(self, draft: Draft, name: str, attached: str) -> ModField:
        if name in draft.overrides or name in draft.view.mods:
            text_of = draft.overrides[name] if name in draft.overrides else draft.view.mods[name]
            if isinstance(text_of, Map):
                text_of = _in_region(name, text_of, draft, attached)
            found = notation.modifier(name, text_of, self.context.sets)
            self._used.setdefault(name, []).append(found)
            codes = self._codes.setdefault(name, {})
            for value in found.values:
                if value.name not in codes:
                    codes[value.name] = next(c for c in range(1 << 16) if c not in codes.values())
            return found
        if name not in self.context.fields:
            raise ValueError(f"the text names the modifier '{name}', which is not in 'mods'")
        by_region = self.context.fields[name]
        field_of: ModField = by_region[""] if "" in by_region else _in_region(name, by_region, draft, attached)
        return field_of

    def _account(self, draft: Draft) -> None:
        """Every bit belongs to exactly one of: opcode, guard, operand, modifier, fixed, control."""
        taken = _OPCODE | _GUARD | _CONTROL | _REUSE
        where = f"in form {draft.name} on {draft.view.isa}"
        owner: list[tuple[int, str]] = [(taken, "")]
        for mask, name, line in self._fields(draft):
            for other, whose in owner:
                if mask & other:
                    both = f"field '{whose}' overlaps '{name}'" if whose else f"field '{name}' overlaps {_FRAME}"
                    raise Wrong(line or draft.line, f"{both} ({bits.said(mask & other)}) {where}")
            owner.append((mask, name))
            taken |= mask
        frame = bits.parse_set(self.context.raw["frame"]["zero"]) & ~draft.mask & ~taken
        for mask, name in owner:
            if (draft.zero | draft.ones) & mask:
                whose = f"field '{name}'" if name else _FRAME
                said = bits.said((draft.zero | draft.ones) & mask)
                raise ValueError(f"'zero' or 'ones' names {said}, which belongs to {whose} {where}")
        if draft.zero & draft.ones:
            raise ValueError(f"both 'zero' and 'ones' name {bits.said(draft.zero & draft.ones)} {where}")
        taken |= draft.mask | draft.zero | draft.ones | frame | draft.spare
        missing = ((1 << bits.WORD) - 1) & ~taken
        if missing:
            raise ValueError(f"{bits.said(missing)} {where}: neither a field nor in 'match', 'zero' or 'ones'")

    def _fields(self, draft: Draft) -> Iterator[tuple[int, str, int]]:
        """Bits, name and line of every field of a form; the line is 0 when the form itself says its place."""
        row = self.context.row
        for place in draft.operands:
            operand = self.context.operands[place.index]
            if not place.same:
                said = operand.where and operand.name not in draft.at
                yield places.mask_of(place) & ~_REUSE, operand.name, row.line_of("ops") if said else 0
        for name, mod in draft.mods.items():
            own = name not in draft.overrides and name in row.get("mods", {})
            yield mod.bits.mask, name, row["mods"].line_of(name) if own else 0

    def modifiers(self) -> tuple[Modifier, ...]:
        """The modifiers of the row with their packed layout, after all forms were drafted."""
        out: list[Modifier] = []
        shift = 0
        for name, fields in self._used.items():
            base = fields[0]
            codes = self._codes.get(name, {})
            width = max([f.bits.width for f in fields] + [c.bit_length() for c in codes.values()])
            texts = {codes[v.name]: v.text for f in reversed(fields) for v in f.values}
            default_name = next((n for n, c in codes.items() if c == 0), "")
            out.append(Modifier(name, base.kind, shift, width, base.default, default_name, dict(codes), texts))
            shift += width
        return tuple(out)

    def finish(self, drafts: list[Draft], op: int, mods: tuple[Modifier, ...]) -> tuple[Form, ...]:
        """Forms from drafts: packed codes of modifiers, compiled text. The same list of drafts gives the same forms."""
        if id(drafts) not in self._forms:
            self._forms[id(drafts)] = self._finish(drafts, op, mods)
        return self._forms[id(drafts)]

    def _finish(self, drafts: list[Draft], op: int, mods: tuple[Modifier, ...]) -> tuple[Form, ...]:
        index = {o.name: i for i, o in enumerate(self.context.operands)}
        mod_index = {m.name: (i, m.kind) for i, m in enumerate(mods)}
        out = []
        for draft in drafts:
            form_mods = tuple(
                FormMod(mod_index[n][0], f.bits, self._decode(n, f))
                for n, f in sorted(draft.mods.items(), key=lambda i: mod_index[i[0]][0])
            )
            code = text.compile_text(draft.template, index, mod_index, self.context.aliases)
            operands = tuple(
                replace(o, default=draft.defaults[o.index]) if draft.defaults[o.index] else o for o in draft.operands
            )
            fields = sum_masks([places.mask_of(o) for o in operands] + [m.bits.mask for m in form_mods])
            out.append(
                Form(
                    op, 0, draft.name, draft.line, draft.mask, draft.value, draft.ones & ~draft.mask, operands, form_mods,
                    fields, draft.template, code,
                )
            )  # fmt: skip
        return tuple(out)

    def _decode(self, name: str, mod: ModField) -> tuple[int, ...]:
        size = 1 << mod.bits.width
        if mod.kind != "enum":
            return tuple(raw ^ mod.default for raw in range(size))
        table = [-1] * size
        for value in mod.values:
            table[value.raw] = self._codes[name][value.name]
        return tuple(table)


def sum_masks(masks: list[int]) -> int:
    """Union of masks."""
    out = 0
    for mask in masks:
        out |= mask
    return out


def _in_region(name: str, by_region: dict[str, Any], draft: Draft, attached: str) -> Any:
    """What a modifier is in the region of the operand that it is attached to."""
    region = draft.slots[attached].region[""] if attached in draft.slots else ""
    if region not in by_region:
        raise ValueError(f"modifier '{name}' has no bits for region {region or 'of an operand without one'}")
    return by_region[region]


def _entry_of(shape: str) -> dict[str, Any]:
    """The entry that a ``forms`` given as a string stands for."""
    return {"shape": shape}


def _opcode_of(text: str) -> int:
    """The opcode that a form names, 0 to 0xfff."""
    if not re.fullmatch(r"0x[0-9a-f]{3}", text):
        raise ValueError(f"'{text}' is no opcode: write 0x and three hexadecimal digits")
    return int(text, 16)
