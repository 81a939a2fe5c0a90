"""Reads the ``meaning`` column of ``spec/encoding`` and turns it into C.

A meaning is either text, executed for each lane, or a mapping ``{lanes: text, ...}`` or ``{warp: NAME(arguments), ...}``
with ``ignores`` (operands and modifiers that do not change what is computed), ``unknown`` (a condition over modifiers
for which the meaning is not known) and ``where`` (a mask of the lanes that do it; the others keep what they have).

Lane text is C statements separated by ``;``. In it

* ``Ra.TYPE`` is the value of a source operand, ``Rd.TYPE = ...`` sets a destination; the types are the keys of ``LANES.sources``
  and ``LANES.results``; ``Ra.neg``, ``Ra.abs``, ``Ra.inv``, ``Ra.absent`` ask for the operand's marks;
* ``Pp`` is a source predicate (0 or 1), ``Pd = ...`` sets a destination predicate;
* a modifier's name is its value: ``V_NAME``, 0 or 1 for a switch, the number for a number; ``shape.m``, ``.n`` and ``.k`` are the
  numbers of a value like 64x8x16 (0 for values of another kind).

Warp text is a call of one of the C functions ``sim_do_NAME``: an operand's name is its address, a modifier's name its value.
Operands and modifiers that a meaning neither names nor lists under ``ignores`` must be absent or at their default in the word;
otherwise the simulator stops with an error, so that no variant of an instruction is executed by halves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from .errors import SpecError
from .isa.model import Modifier, Operand, Operation
from .strictyaml import Map

_DIMENSIONS = ("m", "n", "k")
_NUMBER = re.compile(r"0x[0-9a-f]+\Z")
_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)\Z")
_PREDICATES = ("pred", "upred")
_WORD = re.compile(r"\b([A-Za-z_]\w*)(?:\.(\w+))?")
_ASSIGN = re.compile(r"([A-Za-z]\w*)(?:\.(\w+))? = (.*)\Z", re.S)
_CALL = re.compile(r"(\w+)\((.*)\)\Z", re.S)


@dataclass
class Meaning:
    """One operation's meaning as C text, in the pieces that the template puts together."""

    ident: str
    name: str
    where: str
    uniform: bool
    operands: list[str] = field(default_factory=list)  # declarations of o_NAME
    checks: list[str] = field(default_factory=list)  # conditions under which the variant has no meaning
    mods: list[str] = field(default_factory=list)  # declarations of modifier values
    where_mask: str = ""  # the lanes that execute it, where not all do
    fetch: list[str] = field(default_factory=list)
    lane: list[str] = field(default_factory=list)  # statements of a lane
    store: list[str] = field(default_factory=list)
    warp: str = ""  # the call, for a warp-wide meaning


def value_name(name: str) -> str:
    """The C name of a modifier value: ``V_`` and the name with ``_`` for what an identifier cannot have."""
    return "V_" + re.sub(r"\W", "_", name)


def is_switch(mod: Modifier) -> bool:
    """Whether a modifier is there or not there, without values of its own."""
    return mod.kind == "enum" and set(mod.codes) == {"false", "true"}


@dataclass(frozen=True)
class Access:
    """How text gets at what an instruction has; ``{n}`` is an operand's name, ``{i}`` its position.

    ``sources`` maps a type to (C type, expression that fetches the value, expression of the value ``{v}`` that was fetched);
    ``results`` maps a type to (C type, bits of the expression ``{e}``, function that stores them).
    """

    declared: str  # declaration of an operand, if any
    packed: str  # the packed modifiers
    present: str  # whether an operand is there and does something
    missing: tuple[str, str]  # a source predicate that is left out: false, true
    marks: Mapping[str, str]
    sources: Mapping[str, tuple[str, str, str]]
    predicate: tuple[str, str, str]
    results: Mapping[str, tuple[str, str, str]]


LANES = Access(
    declared="const oric_operand *const o_{n} = &in->ops[{i}];",
    packed="in->mods",
    present="sim_has_operand(&in->ops[{i}])",
    missing=("0", "SIM_FULL"),
    marks={
        "neg": "((o_{n}->flags & ORIC_F_NEG) != 0)",
        "abs": "((o_{n}->flags & ORIC_F_ABS) != 0)",
        "inv": "((o_{n}->flags & ORIC_F_INV) != 0)",
        "absent": "(o_{n}->kind == ORIC_K_NONE)",
    },
    sources={
        "u32": ("uint32_t", "sim_get32(w, mask, o_{n}, {r}, SIM_AS_INT)", "{v}[l]"),
        "s32": ("uint32_t", "sim_get32(w, mask, o_{n}, {r}, SIM_AS_INT)", "((int32_t){v}[l])"),
        "bits": ("uint32_t", "sim_get32(w, mask, o_{n}, {r}, SIM_AS_BITS)", "{v}[l]"),
        "f32": ("uint32_t", "sim_get32(w, mask, o_{n}, {r}, SIM_AS_F32)", "arith_f32({v}[l])"),
        "h2": ("uint32_t", "sim_get32(w, mask, o_{n}, {r}, SIM_AS_H2)", "{v}[l]"),
        "u64": ("uint64_t", "sim_get64(w, mask, o_{n}, {r}, 0)", "{v}[l]"),
        "s64": ("uint64_t", "sim_get64(w, mask, o_{n}, {r}, 1)", "{v}[l]"),
        "bits64": ("uint64_t", "sim_get_bits64(w, mask, o_{n}, {r})", "{v}[l]"),
        "f64": ("uint64_t", "sim_get_f64(w, mask, o_{n}, {r})", "arith_f64({v}[l])"),
        "addend": ("uint64_t", "sim_get_addend(w, mask, o_{n}, {r})", "{v}[l]"),
    },
    predicate=("uint32_t", "sim_getp(w, o_{n}, {missing})", "({v} >> l & 1)"),
    results={
        "u32": ("uint32_t", "(uint32_t)({e})", "sim_put32"),
        "f32": ("uint32_t", "arith_bits32({e})", "sim_put32"),
        "u64": ("uint64_t", "(uint64_t)({e})", "sim_put64"),
        "f64": ("uint64_t", "arith_bits64({e})", "sim_put64"),
    },
)


class Reader:
    """Makes C of the text of one row.

    How operands are reached is ``access``; :meth:`source_value`, :meth:`set_predicate` and :meth:`set_result` put it into C.
    """

    column = "meaning"

    def __init__(self, op: Operation, access: Access, path: PurePath | str, line: int) -> None:
        self.op = op
        self.access = access
        self.path = path
        self.line = line
        self.operands = {o.name: (i, o) for i, o in enumerate(op.operands)}
        self.modifiers = {m.name: m for m in op.mods}
        self.used_operands: set[str] = set()
        self.used_mods: set[str] = set()
        self.measured: set[str] = set()  # modifiers of which a number is used
        self.fetched: set[tuple[str, str]] = set()
        self.out = Meaning(op.ident, op.name, f"{op.path}:{op.line}", op.guard == "UP")

    def error(self, message: str) -> SpecError:
        """The error at the row."""
        return SpecError(self.path, self.line, f"{self.op.name}: column '{self.column}': {message}")

    def operand(self, name: str) -> Operand:
        """An operand that the text names."""
        index, operand = self.operands[name]
        if name not in self.used_operands:
            self.used_operands.add(name)
            if self.access.declared:
                self.out.operands.append(self.access.declared.format(n=name, i=index))
        return operand

    def modifier(self, name: str) -> str:
        """The C of a modifier's value."""
        mod = self.modifiers[name]
        if name not in self.used_mods:
            self.used_mods.add(name)
            self.out.mods.append(_modifier_value(self.access.packed, mod))
        return f"m_{name}"

    def word(self, match: re.Match[str]) -> str:
        """The C of a word of the text."""
        name, kind = match.group(1), match.group(2)
        if name in self.operands:
            return self.source(name, kind)
        if name in self.modifiers and kind is None:
            return self.modifier(name)
        if name in self.modifiers and kind in _DIMENSIONS:
            return self.dimension(name, _DIMENSIONS.index(kind))
        if name in self.modifiers and kind == "number":
            return self.number(name)
        if kind is not None:
            raise self.error(f"'{match.group(0)}': no operand '{name}'")
        return name

    def dimension(self, name: str, index: int) -> str:
        """A number of a modifier's value like 64x8x16."""
        mod = self.modifiers[name]
        if mod.kind != "enum":
            raise self.error(f"'{name}' has no values like 64x8x16")
        table = ["0"] * (1 << mod.width)
        for value, code in mod.codes.items():
            numbers = _SHAPE.match(value)
            table[code] = numbers.group(index + 1) if numbers else "0"
        key = f"{name}_{_DIMENSIONS[index]}"
        if key not in self.used_mods:
            self.used_mods.add(key)
            self.measured.add(name)
            values = f"static const uint16_t t_{key}[] = {{{', '.join(table)}}};"
            self.out.mods.append(f"{values}\n    const unsigned m_{key} = t_{key}[{_packed_field(self.access.packed, mod)}];")
        return f"m_{key}"

    def number(self, name: str) -> str:
        """The value of a modifier whose values are called like numbers (0x3)."""
        mod = self.modifiers[name]
        if mod.kind != "enum" or not all(_NUMBER.match(value) for value in mod.codes):
            raise self.error(f"'{name}' has no values like 0x3")
        table = ["0"] * (1 << mod.width)
        for value, code in mod.codes.items():
            table[code] = value
        if f"{name}_number" not in self.used_mods:
            self.used_mods.add(f"{name}_number")
            self.measured.add(name)
            self.out.mods.append(
                f"static const uint16_t t_{name}_number[] = {{{', '.join(table)}}};\n"
                f"    const unsigned m_{name}_number = t_{name}_number[{_packed_field(self.access.packed, mod)}];"
            )
        return f"m_{name}_number"

    def source(self, name: str, kind: str | None) -> str:
        """The C of what a source is or has."""
        operand = self.operand(name)
        access = self.access
        index = self.operands[name][0]
        if kind is not None and kind in access.marks:
            return access.marks[kind].format(n=name, i=index)
        if operand.kind in _PREDICATES:
            if operand.writes or kind is not None:
                raise self.error(f"'{name}' is no source predicate")
            ctype, fetch, value = access.predicate
            fetch = fetch.format(n=name, i=index, missing=access.missing[_missing(operand)])
            return self.fetch(name, "", f"const {ctype} v_{name} = {fetch};", value.format(v=f"v_{name}"))
        if operand.writes or kind is None or kind not in access.sources:
            raise self.error(f"'{name}.{kind}' cannot be read (types: {', '.join([*access.sources, *access.marks])})")
        ctype, fetch, value = access.sources[kind]
        return self.source_value(name, kind, ctype, fetch.format(n=name, i=index, r=f"room_{name}_{kind}"), value)

    def fetch(self, name: str, kind: str, declaration: str, value: str) -> str:
        """Declare what is fetched, the first time; returns the expression of the value."""
        if (name, kind) not in self.fetched:
            self.fetched.add((name, kind))
            self.out.fetch.append(declaration)
        return value

    def source_value(self, name: str, kind: str, ctype: str, fetch: str, value: str) -> str:
        """The expression of a source in one type."""
        place, room = f"v_{name}_{kind}", f"room_{name}_{kind}"
        text = f"{ctype} {room}[SIM_LANES];\n    const {ctype} *const {place} = {fetch};"
        return self.fetch(name, kind, text, value.format(v=place))

    def result(self, name: str, kind: str | None, expression: str) -> str:
        """The statement that sets a destination."""
        operand = self.operand(name)
        if not operand.writes:
            raise self.error(f"'{name}' is no destination")
        if operand.kind in _PREDICATES:
            if kind is not None:
                raise self.error(f"predicate '{name}' has no type")
            return self.set_predicate(name, expression)
        if kind is None or kind not in self.access.results:
            raise self.error(f"'{name}.{kind}' cannot be set (types: {', '.join(self.access.results)})")
        ctype, bits, store = self.access.results[kind]
        return self.set_result(name, ctype, bits.format(e=expression), store)

    def set_predicate(self, name: str, expression: str) -> str:
        """The statement that sets a destination predicate."""
        self.out.fetch.append(f"uint32_t r_{name} = 0;")
        self.out.store.append(f"sim_putp(w, mask, o_{name}, r_{name});")
        return f"r_{name} |= (uint32_t)(({expression}) != 0) << l;"

    def set_result(self, name: str, ctype: str, bits: str, store: str) -> str:
        """The statement that sets a destination."""
        self.out.fetch.append(f"{ctype} r_{name}[SIM_LANES];")
        self.out.store.append(f"{store}(w, mask, o_{name}, r_{name});")
        return f"r_{name}[l] = {bits};"

    def lanes(self, text: str) -> None:
        """Statements."""
        for statement in (s.strip() for s in text.split(";")):
            if not statement:
                continue
            match = _ASSIGN.match(statement)
            if match is not None and match.group(1) in self.operands:
                expression = _WORD.sub(self.word, match.group(3))
                self.out.lane.append(self.result(match.group(1), match.group(2), expression))
            else:
                self.out.lane.append(_WORD.sub(self.word, statement) + ";")
        if not self.out.store:
            raise self.error("sets no destination")

    def call(self, text: str) -> None:
        """The call of a warp-wide meaning."""
        match = _CALL.match(text.strip())
        if match is None:
            raise self.error(f"'{text}' is no call")

        def argument(word: re.Match[str]) -> str:
            name, mark = word.group(1), word.group(2)
            if name in self.operands:
                self.operand(name)
                return self.access.marks[mark].format(n=name) if mark in self.access.marks else f"o_{name}"
            return self.word(word)

        self.out.warp = f"sim_do_{match.group(1)}(w, mask, {_WORD.sub(argument, match.group(2))});"

    def read(self, text: object) -> Meaning:
        """The pieces of C of the row's text or mapping."""
        ignored: set[str] = set()
        if isinstance(text, Mapping):
            if set(text) - {"warp", "lanes", "ignores", "unknown", "where"} or ("warp" in text) == ("lanes" in text):
                raise self.error("is text, or a mapping with one of 'warp' and 'lanes', and 'ignores', 'unknown', 'where'")
            ignored = set(str(text.get("ignores", "")).split())
            if "unknown" in text:
                self.out.checks.append(f"({_WORD.sub(self.word, str(text['unknown']))})")
            if "where" in text:
                self.out.where_mask = _WORD.sub(self.word, str(text["where"]))
            if "warp" in text:
                self.call(str(text["warp"]))
            else:
                self.lanes(str(text["lanes"]))
        else:
            self.lanes(str(text))
        self.check_rest(ignored)
        return self.out

    def check_rest(self, ignored: set[str]) -> None:
        """What the text does not name must be absent or at its default."""
        known = {*self.operands, *self.modifiers}
        if ignored - known:
            raise self.error(f"ignores unknown '{min(ignored - known)}'")
        if ignored & (self.used_mods | self.used_operands):
            raise self.error(f"ignores '{min(ignored & (self.used_mods | self.used_operands))}' and uses it")
        for name, (index, operand) in self.operands.items():
            if name in self.used_operands or name in ignored:
                continue
            if operand.kind not in _PREDICATES and operand.default is None and not operand.writes:
                raise self.error(f"does not use operand '{name}'")
            self.out.checks.append(self.access.present.format(n=name, i=index))
        for mod in self.op.mods:
            if mod.name not in self.used_mods | self.measured | ignored:
                self.out.checks.append(_packed_field(self.access.packed, mod))


def _missing(operand: Operand) -> int:
    """The value of a source predicate that is left out."""
    default = operand.default
    return 0 if default is not None and default.negated else 1


def _packed_field(packed: str, mod: Modifier) -> str:
    return f"{packed} >> {mod.shift} & {(1 << mod.width) - 1:#x}"


def _modifier_value(packed: str, mod: Modifier) -> str:
    field_text = f"({_packed_field(packed, mod)})"
    if mod.kind != "enum":
        return f"const unsigned m_{mod.name} = (unsigned)({field_text} ^ {mod.default:#x});"
    if is_switch(mod):
        return f"const unsigned m_{mod.name} = (unsigned){field_text};"
    table = ["V_ABSENT"] * (1 << mod.width)
    for name, code in mod.codes.items():
        table[code] = value_name(name)
    return (
        f"static const uint16_t t_{mod.name}[] = {{{', '.join(table)}}};\n"
        f"    const unsigned m_{mod.name} = t_{mod.name}[{field_text}];"
    )


def in_order(op: Operation, row: Map) -> Meaning | None:
    """Under which condition the result depends on the order of CTAs (``checks``); None: never.

    Raises:
        SpecError: the condition names an operand.
    """
    if row.get("in_order", False) is False:
        return None
    reader = Reader(op, LANES, op.path, row.line_of("in_order") or op.line)
    reader.out.checks.append("1" if row["in_order"] is True else _WORD.sub(reader.word, str(row["in_order"])))
    if reader.used_operands:
        raise SpecError(op.path, reader.line, f"{op.name}: column 'in_order': '{min(reader.used_operands)}' is no modifier")
    return reader.out


def read(op: Operation, row: Map) -> Meaning | None:
    """The meaning of an operation; None when its row has none.

    Raises:
        SpecError: the text names no operand or modifier of the row, reads a destination, leaves an operand unused.
    """
    if "meaning" not in row:
        return None
    reader = Reader(op, LANES, op.path, row.line_of("meaning") or op.line)
    return reader.read(row["meaning"])
