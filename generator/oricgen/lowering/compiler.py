"""Rules compiled to tuples, every mnemonic, modifier and operand checked against the operation tables.

A compiled rule is ``(slots, count, alternatives)``: slots are ``(name, tokens, optional)``; count is the number of
PTX operands that it takes, -1 for any. An alternative is ``(isas, when, test, expand, options, args, commute, temps,
labels, flags, lines)``:

* ``isas``: the encoding models that have all operations or convert them, None for all; ``when``: target features that it needs
  (``!name``: must lack); ``test``: name of a predicate on the operands, or "";
* ``expand``: name of the Python function that emits it (it may run the lines), or ""; ``options``: its parameters;
* ``args``: index in the environment of each PTX operand (see ``template.ARGS``);
* ``temps``: ``(register type letter, size)`` of each temporary, from environment index ``len(ARGS)`` on;
* ``flags``: 1 = a destination is written while sources are still needed, 2 = lines have guards or branches of their own,
  4 = products and sums may be fused unless the slot ``rnd`` is taken.

A line is ``(number of the operation, mods, sets, guard, operands, isas)`` or the number of a label; it is left out on a model
not in ``isas``. ``sets`` are ``(slot name, {token: bits})``, with ``{model: bits}`` where a token means something else on each;
a slot name starting with ``=`` names an argument whose immediate value, some bits flipped, is shifted by a number of the table;
``(?slot, qualifiers)`` says that the line is left out where the slot has none of these ("": where it is left out).
An operand is a packed Ori operand, or ``(index, view, flags, slot)``: the environment entry, ``view`` 0 for the whole,
1 + first word otherwise and from bit 16 on how many words come behind that, ``flags`` to be combined with exclusive or,
``slot`` a sum of the ``SLOT_`` bits. Negative indices are literals (below).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any

from ..errors import SpecError
from ..isa.ranges import pick
from ..strictyaml import Map, Seq
from . import patterns, template
from .operations import SLOT_DEST, SLOT_PRED, Column, Operation

LITERAL, CBANK, COLUMN, LABEL = -1, -2, -3, -5
FLAG_HAZARD, FLAG_GUARDED, FLAG_CONTRACT = 1, 2, 4

_REG, _IMM, _SPECIAL, _NONE = 1 << 28, 2 << 28, 6 << 28, 7 << 28
_BANK0 = 5 << 28 | 1 << 56  # a word of constant bank 0: the offset is added
_NEGATE, _ABSOLUTE, _COMPLEMENT = 1 << 31, 1 << 58, 1 << 59
_CONSTANTS = {"RZ": _REG | 1023, "URZ": _REG | 1023, "PT": _REG | 31, "UPT": _REG | 31}
_TEMPS = {
    "p": ("P", 1),
    "r": ("R", 1),
    "s": ("R", 1),
    "w": ("R", 2),
    "x": ("R", 4),
    "o": ("R", 8),
    "h": ("R", 16),
    "u": ("UR", 1),
    "v": ("UR", 2),
    "y": ("UP", 1),
}
_VIEWS = {"": 0, "lo": 1, "hi": 2}
_MORE = 16  # in a view of several words: the place of how many come behind the first
_DESTINATIONS = frozenset("dqvx")
_GUARD = Column("guard", SLOT_PRED, False, False, False)
_NEVER = template.Operand("PT", neg=True)
_TEMP = re.compile(r"%[a-z]\w*")
_UNSAID = "-"  # in a set: there is no way to say it


@dataclass
class Alternative:
    """What is gathered while the lines of one alternative are compiled."""

    temps: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    labels_at: dict[str, int] = field(default_factory=dict)  # line of the first use
    placed: set[str] = field(default_factory=set)
    used_sets: set[str] = field(default_factory=set)
    lines: list[Any] = field(default_factory=list)
    isas: set[str] | None = None
    flags: int = 0
    written: set[tuple[str, int]] = field(default_factory=set)


class Compiler:
    """Compiles the rules of one file."""

    def __init__(
        self,
        operations: Mapping[str, Operation],
        sets: Mapping[str, Mapping[str, str]],
        macros: Mapping[str, Any],
        special: Mapping[str, tuple[int, tuple[str, ...] | None]],
        path: str,
        columns: Mapping[str, tuple[str, ...] | None] = MappingProxyType({}),
        isas: Sequence[str] = (),
    ) -> None:
        self.columns = columns
        self.isas = isas
        self.operations = operations
        self.by_mnemonic: dict[str, list[tuple[Operation, list[str]]]] = {}
        for operation in operations.values():
            parts = operation.name.split(".")
            self.by_mnemonic.setdefault(parts[0], []).append((operation, parts))
        self.sets = sets
        self.macros = macros
        self.special = special
        self.path = path
        self.shared = (operations, sets, macros, special, columns, isas)  # what a rule depends on beside its own entry
        self._copies = 0
        self._early = False  # what is compiled is emitted in front of phase 5, which converts operations

    def rules(self, entry: Any) -> list[tuple[str, tuple[Any, ...]]]:
        """Compile an entry of ``rules``, once for each row of its `each` (a list of lists: for each combination)."""
        return [self.rule(one) for one in instances(entry)]

    def rule(self, entry: Any) -> tuple[str, tuple[Any, ...]]:
        """Compile a rule; returns the family and the tuple.

        Raises:
            SpecError: anything wrong in it, with its line.
        """
        line = entry.line_of("ptx")
        pattern = patterns.parse(entry["ptx"], self.sets, self.path, line)
        self._early = True
        with _called(entry["ptx"]):
            slots = tuple((s.name, s.tokens, s.optional) for s in pattern.slots)
            slot_names = {s.name: s.tokens for s in pattern.slots if s.name}
            rows = entry.get("cases") or [entry]
            alternatives = tuple(self._alternative(row, entry, slot_names) for row in rows)
        return pattern.family, (slots, entry.get("operands", -1), alternatives)

    def named(self, name: str, row: Any) -> tuple[tuple[Any, ...], ...]:
        """Compile an entry of ``templates``: the alternatives of what expansions run by name."""
        self._early = False
        with _called(name):
            return tuple(self._alternative(case, row, {}) for case in row.get("cases") or [row])

    def _alternative(self, row: Any, entry: Any, slot_names: Mapping[str, tuple[str, ...]]) -> tuple[Any, ...]:
        state = Alternative()
        self._copies = 0
        names = row.get("args", entry.get("args", template.USUAL_ARGS)).split()
        for name in names:
            if name not in template.ARGS:
                said = row if "args" in row else entry
                raise SpecError(
                    self.path, said.line_of("args"), f"column 'args': '{name}' is not one of {', '.join(template.ARGS)}"
                )
        args = tuple(template.ARGS.index(a) for a in names)
        texts = row.get("emit", entry.get("emit", ()))
        for number, text in enumerate(texts):
            at = texts.line_of(number)
            for part in self._expand(text, at):
                self._line(template.parse(part, self.path, at), state, slot_names, at)
        for label in state.labels:
            if label not in state.placed:
                raise SpecError(self.path, state.labels_at[label], f"label '{label}' is never placed")
        temps = tuple(_TEMPS[name[1]] for name in state.temps)
        return (
            None if state.isas is None else tuple(sorted(state.isas)),
            tuple(row.get("when", "").split()),
            row.get("if", ""),
            row.get("expand", entry.get("expand", "")),
            tuple(sorted((k, str(v)) for k, v in row.get("with", entry.get("with", {})).items())),
            args,
            bool(row.get("commute", entry.get("commute", False))),
            temps,
            len(state.labels),
            state.flags | (FLAG_CONTRACT if entry.get("contract") else 0),
            tuple(state.lines),
        )

    def expanded(self, texts: Seq) -> list[str]:
        """The lines of an alternative with its macros written out."""
        self._copies = 0
        return [part for number, text in enumerate(texts) for part in self._expand(text, texts.line_of(number))]

    def _expand(self, text: str, at: int) -> list[str]:
        """The lines of a macro ``$NAME ARG, ...``; its temporaries get names of their own."""
        if not text.startswith("$"):
            return [text]
        name, _, rest = text[1:].partition(" ")
        macro = self.macros.get(name)
        values = [v.strip() for v in rest.split(",") if v.strip()]
        if macro is None:
            raise SpecError(self.path, at, f"'{text}': there is no macro '{name}'")
        if len(values) != len(macro["params"]):
            raise SpecError(self.path, at, f"'{text}': macro '{name}' takes {len(macro['params'])} arguments, not {len(values)}")
        self._copies += 1
        mark = f"_{self._copies}"
        lines = []
        for line in macro["emit"]:
            line = _TEMP.sub(lambda m: m[0] + mark, line)
            for param, value in zip(macro["params"], values, strict=True):
                line = re.sub(rf"\${param}\b", value.replace("\\", r"\\\\"), line)
            lines += self._expand(line, at)
        return lines

    def _line(self, line: template.Line, state: Alternative, slot_names: Mapping[str, tuple[str, ...]], at: int) -> None:
        if line.label:
            state.placed.add(line.label)
            state.lines.append(state.labels.setdefault(line.label, len(state.labels)))
            state.flags |= FLAG_GUARDED
            return
        operation, rest = self.operation_of(line, at)
        base = self._fixed(operation, 0, rest, line, at)
        guard: Any = 0
        if line.guard is not None:
            if line.guard != _NEVER:  # nothing that a guard of the whole could change
                state.flags |= FLAG_GUARDED
            guard = self._operand(line.guard, _GUARD, state, line, at)
        operands, base, dynamic = self._operands(operation, base, line, state, at)
        sets: list[Any] = [self._set(operation, base, name, slot_names, line, at) for name in line.sets]
        if operation.isas is not None and not line.if_present:
            have = {*operation.isas, *(operation.converted_on(base, bool(sets)) if self._early else ())}
            state.isas = have if state.isas is None else state.isas & have
        sets += [self._test(test, slot_names, line, at) for test in line.tests]
        state.lines.append(
            (operation.number, base, tuple(sets + dynamic), guard, tuple(operands), operation.isas if line.if_present else None)
        )

    def operation_of(self, line: template.Line, at: int) -> tuple[Operation, list[str]]:
        """The operation with the most structural suffixes that the line has, and the suffixes left over."""
        best: tuple[Operation, list[str]] | None = None
        for operation, parts in self.by_mnemonic.get(line.mnemonic, ()):
            rest = list(line.suffixes)
            if all(p in rest for p in parts[1:]):
                for part in parts[1:]:
                    rest.remove(part)
                if best is None or len(rest) < len(best[1]):
                    best = operation, rest
        if best is None:
            raise SpecError(self.path, at, f"'{line.text}': there is no operation {'.'.join([line.mnemonic, *line.suffixes])}")
        return best

    def _fixed(self, operation: Operation, base: int, suffixes: list[str], line: template.Line, at: int) -> int:
        """``base`` with the named modifiers put in."""
        while suffixes:
            for count in range(len(suffixes), 0, -1):
                found = operation.modifier(".".join(suffixes[:count]))
                if found is not None:
                    break
            else:
                raise SpecError(
                    self.path,
                    at,
                    f"'{line.text}': {operation.name} has no modifier '{suffixes[0]}', or several",
                )
            base = base & ~found[0] | found[1]
            suffixes = suffixes[count:]
        return base

    def _set(
        self, operation: Operation, base: int, name: str, slots: Mapping[str, tuple[str, ...]], line: template.Line, at: int
    ) -> tuple[str, dict[str, int | dict[str, int]]]:
        """A substituted set: what each qualifier flips in ``base``, on each encoding model where it is not the same on all."""
        table, _, slot = name.partition("_of_")
        slot = slot or table
        if table not in self.sets:
            raise SpecError(self.path, at, f"'{line.text}': there is no set '{table}'")
        if slot not in slots:
            raise SpecError(self.path, at, f"'{line.text}': the pattern has no slot '{slot}'")
        values: dict[str, int | dict[str, int]] = {}
        for token, text in self.sets[table].items():
            if token not in slots[slot]:
                continue
            if isinstance(text, str):
                if text != _UNSAID:
                    values[token] = self._flips(operation, base, text, line, at)
                continue
            try:
                have = self.isas if operation.isas is None else operation.isas
                by_isa = {isa: pick(text, isa, self.isas, _UNSAID) for isa in have}
            except ValueError as error:
                raise SpecError(self.path, at, f"'{line.text}': set '{table}', {token}: {error}") from error
            values[token] = {isa: self._flips(operation, base, t, line, at) for isa, t in by_isa.items() if t != _UNSAID}
        return slot, values

    def _test(
        self, test: tuple[str, bool, tuple[str, ...]], slots: Mapping[str, tuple[str, ...]], line: template.Line, at: int
    ) -> tuple[str, tuple[str, ...]]:
        """The qualifiers of a slot for which a line stands, "" for none."""
        slot, among, qualifiers = test
        if slot not in slots:
            raise SpecError(self.path, at, f"'{line.text}': the pattern has no slot '{slot}'")
        return f"?{slot}", tuple(q for q in ("", *slots[slot]) if (q in qualifiers) == among)

    def _flips(self, operation: Operation, base: int, text: str, line: template.Line, at: int) -> int:
        """What modifiers flip in ``base``."""
        return base ^ self._fixed(operation, base, [s for s in text.split(".") if s], line, at)

    def _operands(
        self, op: Operation, mods: int, line: template.Line, state: Alternative, at: int
    ) -> tuple[list[Any], int, list[Any]]:
        dynamic: list[Any] = []
        given: dict[int, template.Operand] = {}
        required = [i for i, o in enumerate(op.operands) if not o.named]
        if len(line.operands) != len(required):
            names = " ".join(o.name for o in op.operands if not o.named)
            raise SpecError(self.path, at, f"'{line.text}': {op.name} takes {names}")
        given.update(zip(required, line.operands, strict=True))
        for key, value in line.named.items():
            slot = op.slot(key)
            if slot is not None:
                given[slot] = value
            elif value.base == "int":
                field_ = op.field(key, value.value)
                if field_ is None:
                    raise SpecError(
                        self.path, at, f"'{line.text}': {op.name} has no modifier or operand '{key}' for {value.value}"
                    )
                mods = mods & ~field_[0] | field_[1]
            elif key in op.mods and value.base in template.ARGS:
                mods &= ~op.mods[key].place(0)[0]
                row = op.mods[key]
                places = {"shift": row.shift, "mask": row.mask, "flip": row.base}
                dynamic.append(("=" + str(template.ARGS.index(value.base)), places))
            elif value.base == "label" and (field_ := op.modifier(f"{key}={value.name}")) is not None:
                mods = mods & ~field_[0] | field_[1]
            else:
                raise SpecError(self.path, at, f"'{line.text}': {op.name} has no modifier or operand '{key}'")
        for index, column in enumerate(op.operands):
            if not column.optional and index not in given:
                raise SpecError(self.path, at, f"'{line.text}': {op.name} needs {column.name}=")
        out: list[Any] = []
        for index in range(max(given, default=-1) + 1):
            if index not in given:
                out.append(_NONE)
                continue
            operand, column = given[index], op.operands[index]
            if operand.half:
                half = op.modifier(f"swz{column.name[-1]}={operand.half}") or op.modifier(f"part={operand.half}")
                if half is None:
                    raise SpecError(self.path, at, f"'{line.text}': {op.name} cannot select halves of {column.name}")
                mods = mods & ~half[0] | half[1]
            out.append(self._operand(operand, column, state, line, at))
        for index, operand in given.items():
            if op.operands[index].slot & SLOT_DEST and operand.base in template.ARGS:
                state.written.add((operand.base, _view(operand.view)))
        return out, mods, dynamic

    def _operand(self, operand: template.Operand, column: Column, state: Alternative, line: template.Line, at: int) -> Any:
        slot = column.slot
        flags = operand.neg * _NEGATE | operand.absolute * _ABSOLUTE | operand.inv * _COMPLEMENT
        base = operand.base
        if base in _CONSTANTS:
            return _CONSTANTS[base] ^ flags
        if base == "int":
            value = operand.value
            if not column.immediate:
                raise SpecError(self.path, at, f"'{line.text}': an immediate cannot stand in place of {value}")
            return _IMM | value if 0 <= value <= 0xFFFFF else (LITERAL, value & 0xFFFFFFFF, 0, 0)
        if base == "cbank":
            if not operand.name:
                return _BANK0 | operand.value ^ flags
            self._column(f"bank0_{operand.name}", state, line, at)
            return (CBANK, operand.name, flags, operand.value)
        if base == "column":
            self._column(operand.name, state, line, at)
            return (COLUMN, operand.name, 0, operand.value)
        if base == "sreg":
            if operand.name not in self.special:
                raise SpecError(self.path, at, f"'{line.text}': there is no system register {operand.name}")
            number, have = self.special[operand.name]
            self._only(have, state)
            return _SPECIAL | number
        if base == "board":
            return _SPECIAL | operand.value
        if base == "label":
            state.labels_at.setdefault(operand.name, at)
            return (LABEL, state.labels.setdefault(operand.name, len(state.labels)), 0, 0)
        if base.startswith("%"):
            index = len(template.ARGS) + state.temps.setdefault(base, len(state.temps))
        else:
            index = template.ARGS.index(base)
            self._note_hazard(operand, slot, state)
        return (index, _view(operand.view), flags, slot)

    def _column(self, name: str, state: Alternative, line: template.Line, at: int) -> None:
        """A column of the targets, which not all encoding models may have."""
        if name not in self.columns:
            where = "bank0" if name.startswith("bank0_") else "target"
            raise SpecError(self.path, at, f"'{line.text}': there is no {where} column '{name.removeprefix('bank0_')}'")
        self._only(self.columns[name], state)

    def _only(self, have: Collection[str] | None, state: Alternative) -> None:
        """The alternative is for these encoding models only, None for all."""
        if have is not None:
            state.isas = set(have) if state.isas is None else state.isas & set(have)

    def _note_hazard(self, operand: template.Operand, slot: int, state: Alternative) -> None:
        """A source read after a part of a destination that may share its register was written."""
        if slot & SLOT_DEST or operand.base in _DESTINATIONS or operand.base == "desc":
            return
        words = _words(_view(operand.view))
        if any(words & _words(written) for _, written in state.written):
            state.flags |= FLAG_HAZARD


def _view(text: str) -> int:
    """The number of a view: 0 for the whole, else one more than the first word, and how many come behind that."""
    if text in _VIEWS:
        return _VIEWS[text]
    first, _, last = text.partition(":")
    return int(first) + 1 | (int(last or first) - int(first)) << _MORE


def _words(view: int) -> int:
    """The words that a view may be of, one bit each."""
    more, first = view >> _MORE, view & (1 << _MORE) - 1
    return ((2 << more) - 1) << first - 1 if view else -1


def instances(entry: Any) -> list[Any]:
    """A rule once for each row of its `each` (a list of lists: for each combination), with the row's values put in."""
    each = entry.get("each", [{}])
    groups = each if isinstance(each[0], list) else [each]
    combined = [{k: v for row in rows for k, v in row.items()} for rows in product(*groups)]
    return [_substitute(entry, row) for row in combined]


@contextmanager
def _called(name: str) -> Iterator[None]:
    """Puts the row's name in front of the message of a mistake."""
    try:
        yield
    except SpecError as error:
        raise SpecError(error.path, error.line, f"{name}: {error.message}") from error


def _literal(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: text


def _substitute(entry: Any, values: Mapping[str, Any]) -> Any:
    """A copy of an entry with ``$NAME`` replaced in every string; lines of the source are kept."""
    if isinstance(entry, str):
        for name, value in values.items():
            entry = re.sub(rf"\${name}(?![A-Za-z0-9_])", _literal(str(value)), entry)
        return entry
    if isinstance(entry, Map):
        out = Map()
        out.line, out.lines = entry.line, entry.lines
        out.update({k: _substitute(v, values) for k, v in entry.items() if k != "each"})
        return out
    if isinstance(entry, Seq):
        seq = Seq(_substitute(v, values) for v in entry)
        seq.line, seq.lines = entry.line, entry.lines
        return seq
    return entry
