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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from . import render
from .ctext.expressions import Expressions
from .ctext.headers import Names
from .ctext.statements import Statements
from .ctext.types import INTEGER, NUMBERS, TRUTH, UNSIGNED, TextError, Value, described, pointer, unfit
from .errors import SpecError
from .isa.model import Modifier, Operand, Operation
from .known import is_switch, value_name
from .strictyaml import Map

_DIMENSIONS = ("m", "n", "k")
_NUMBER = re.compile(r"0x[0-9a-f]+\Z")
_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)\Z")
_PREDICATES = ("pred", "upred")
_OPERAND = pointer("oric_operand")
# The C types of the suffixes; bits of floats are integers.
_TYPES = {
    **dict.fromkeys(("u32", "bits", "h2"), "uint32_t"), "s32": "int32_t", "f32": "float", "f64": "double",
    **dict.fromkeys(("u64", "s64", "bits64", "bits_f64", "addend"), "uint64_t"),
}  # fmt: skip

Spot = Callable[[int], tuple[int, int]]  # line and column of a character of a text


@dataclass
class Meaning:
    """One operation's meaning as C text, in the pieces that the template puts together."""

    ident: str
    name: str
    file: str
    uniform: bool
    operands: list[str] = field(default_factory=list)  # declarations of o_NAME
    checks: list[str] = field(default_factory=list)  # conditions under which the variant has no meaning
    mods: list[str] = field(default_factory=list)  # declarations of modifier values
    where_mask: str = ""  # the lanes that execute it, where not all do
    fetch: list[str] = field(default_factory=list)
    lane: list[str] = field(default_factory=list)  # statements of a lane
    lines: list[int] = field(default_factory=list)  # of the file: where each of them stands
    store: list[str] = field(default_factory=list)
    warp: str = ""  # the call, for a warp-wide meaning
    places: dict[str, int] = field(default_factory=dict)  # the line of the file where each text of the row begins

    def at(self, key: str) -> str:
        """The directive by which the C compiler tells of what follows as of the row's text; nothing when it has no such text."""
        return f'#line {self.places[key]} "{self.file}"\n' if key in self.places else ""

    def statements(self, indent: str) -> str:
        """The statements of a lane, each as of its line of the file."""
        out, expected = [], 0
        for text, line in zip(self.lane, self.lines, strict=True):
            out.append(f'#line {line} "{self.file}"\n' if line != expected else "")
            out.append(f"{indent}{text}\n")
            expected = line + 1
        return "".join(out) + render.HERE


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
    :mod:`oricgen.ctext` reads the text, and asks the reader for the row's names.
    """

    column = "meaning"

    def __init__(self, op: Operation, access: Access, names: Names, path: PurePath | str, line: int) -> None:
        self.op = op
        self.access = access
        self.names = self.inside = names
        self.path = path
        self.line = line
        self.operands = {o.name: (i, o) for i, o in enumerate(op.operands)}
        self.modifiers = {m.name: m for m in op.mods}
        self.values = {m.name: [value_name(v) for v in m.codes] for m in op.mods if m.kind == "enum" and not is_switch(m)}
        self.used_operands: set[str] = set()
        self.used_mods: set[str] = set()
        self.measured: set[str] = set()  # modifiers of which a number is used
        self.fetched: set[tuple[str, str]] = set()
        self.results: list[str] = []
        self.locals: dict[str, Value] = {}
        self.unused: dict[str, int] = {}  # locals that nothing has read, and where they stand
        self.of_operands: Callable[[str, str], tuple[Value, str]] = self.source  # what an operand's name stands for
        self.spot: Spot = lambda _: (self.line, 0)
        self.at = 0  # the place of the text that is read
        self.out = Meaning(op.ident, op.name, str(path), op.guard == "UP")

    def error(self, message: str, offset: int | None = None) -> SpecError:
        """The error at a place of the text, by default at that which is read."""
        line, column = self.spot(self.at if offset is None else offset)
        return SpecError(self.path, line, f"{self.op.name}: column '{self.column}': {message}", column)

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

    def named(self, name: str, member: str, offset: int) -> tuple[Value, str] | None:
        """What a name of the row stands for, and its C."""
        self.at = offset
        if name in self.operands:
            return self.of_operands(name, member)
        mod = self.modifiers.get(name)
        if mod is not None and not member:
            return (TRUTH._replace(signed=False) if is_switch(mod) else UNSIGNED)._replace(name=name), self.modifier(name)
        if mod is not None and member in _DIMENSIONS:
            return UNSIGNED, self.dimension(name, _DIMENSIONS.index(member))
        if mod is not None and member == "number":
            return UNSIGNED, self.number(name)
        if member:
            raise self.error(f"'{name}.{member}': no operand '{name}'")
        self.unused.pop(name, None)
        return (self.locals[name], name) if name in self.locals else None

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

    def source(self, name: str, kind: str) -> tuple[Value, str]:
        """What a source is or has, and its C."""
        operand = self.operand(name)
        access = self.access
        index = self.operands[name][0]
        if kind in access.marks:
            return TRUTH, access.marks[kind].format(n=name, i=index)
        if operand.kind in _PREDICATES:
            if operand.writes or kind:
                raise self.error(f"'{name}' is no source predicate")
            ctype, fetch, value = access.predicate
            fetch = fetch.format(n=name, i=index, missing=access.missing[_missing(operand)])
            text = self.fetch(name, "", f"const {ctype} v_{name} = {fetch};", value.format(v=f"v_{name}"))
            return TRUTH._replace(signed=False), text
        if operand.writes or kind not in access.sources:
            whole = f"{name}.{kind}" if kind else name
            raise self.error(f"'{whole}' cannot be read (types: {', '.join([*access.sources, *access.marks])})")
        ctype, fetch, value = access.sources[kind]
        text = self.source_value(name, kind, ctype, fetch.format(n=name, i=index, r=f"room_{name}_{kind}"), value)
        return NUMBERS[_TYPES[kind]], text

    def mark(self, name: str, kind: str) -> tuple[Value, str]:
        """What a condition asks of an operand: it holds for all lanes, so there is no value of one."""
        if kind not in self.access.marks:
            raise self.error(f"a condition cannot ask for the value of '{name}' (only {', '.join(self.access.marks)})")
        return self.source(name, kind)

    def address(self, name: str, kind: str) -> tuple[Value, str]:
        """An argument of a warp-wide meaning: the operand as a whole."""
        if kind:
            return self.mark(name, kind)
        self.operand(name)
        return _OPERAND, f"o_{name}"

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

    def is_operand(self, name: str) -> bool:
        """Whether the row has such an operand."""
        return name in self.operands

    def declare(self, name: str, value: Value, offset: int) -> None:
        """A local begins to be known."""
        taken = name in self.operands or name in self.modifiers or name in self.locals or self.names.value(name) is not None
        if taken or name in self.names.callable():
            raise self.error(f"'{name}' has a meaning already: a local needs another name", offset)
        self.locals[name] = value
        self.unused[name] = offset

    def add(self, text: str, offset: int) -> None:
        """A statement of C."""
        self.out.lane.append(text)
        self.out.lines.append(self.spot(offset)[0])

    def set_operand(self, name: str, member: str, value: Value, text: str, offset: int) -> None:
        """The statement that sets a destination."""
        self.at = offset
        operand = self.operand(name)
        if not operand.writes:
            raise self.error(f"'{name}' is no destination")
        if name in self.results:
            raise self.error(f"sets '{name}' twice")
        self.results.append(name)
        if operand.kind in _PREDICATES:
            if member:
                raise self.error(f"predicate '{name}' has no type")
            if value.kind != INTEGER:
                raise self.error(f"'{name}' is set to {described(value)}: compare it")
            self.add(self.set_predicate(name, text), offset)
            return
        if member not in self.access.results:
            whole = f"{name}.{member}" if member else name
            raise self.error(f"'{whole}' cannot be set (types: {', '.join(self.access.results)})")
        wanted = NUMBERS[_TYPES[member]]
        # An integer is cut to the result's width, as sums with a carry want it.
        if (why := unfit(value._replace(bits=1) if value.kind == wanted.kind == INTEGER else value, wanted)) != "":
            raise self.error(f"'{name}.{member}' is set to {why}")
        ctype, bits, store = self.access.results[member]
        self.add(self.set_result(name, ctype, bits.format(e=text), store), offset)

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
        self.of_operands = self.source
        self.names = self.inside
        Statements(text, self).read()
        if not self.out.store:
            raise self.error("sets no destination", 0)
        for name, offset in self.unused.items():
            raise self.error(f"nothing uses '{name}'", offset)

    def call(self, text: str) -> None:
        """The call of a warp-wide meaning."""
        self.of_operands = self.address
        self.names = self.names.outside
        name, arguments = Statements(text, self).called("sim_do_", 2)
        self.out.warp = f"sim_do_{name}(w, mask, {arguments});"

    def order(self, text: object, spot: Spot) -> Meaning:
        """The condition of the column ``in_order``, or that there is none."""
        self.column = "in_order"
        checks = self.out.checks
        self._part("in_order", "1" if text is True else text, spot, lambda t: checks.append(self.condition(t, self.nothing)))
        return self.out

    def nothing(self, name: str, _: str) -> tuple[Value, str]:
        """What asks for modifiers only cannot name an operand."""
        raise self.error(f"'{name}' is no modifier")

    def condition(self, text: str, of_operands: Callable[[str, str], tuple[Value, str]] | None = None) -> str:
        """The C of an expression that is the same for all lanes."""
        self.of_operands = of_operands or self.mark
        self.names = self.names.outside
        expression = Expressions(text, self)
        expression.condition(expression.whole(), 0)
        return expression.written(0, len(text))

    def read(self, text: object, spot: Spot | None = None) -> Meaning:
        """The pieces of C of the row's text or mapping; ``spot`` says where the text stands.

        Raises:
            SpecError: the text is not right, with its place.
        """
        if not isinstance(text, Mapping):
            self._part("lanes", text, spot, self.lanes)
            self.check_rest(set())
            return self.out
        if set(text) - {"warp", "lanes", "ignores", "unknown", "where"} or ("warp" in text) == ("lanes" in text):
            raise self.error("is text, or a mapping with one of 'warp' and 'lanes', and 'ignores', 'unknown', 'where'")
        row = text
        places = {key: self._place(text, key) for key in text}
        if "unknown" in row:
            self._part("unknown", row["unknown"], places["unknown"], lambda t: self.out.checks.append(f"({self.condition(t)})"))
        if "where" in row:
            self._part("where", row["where"], places["where"], lambda t: setattr(self.out, "where_mask", self.condition(t)))
        main = "warp" if "warp" in row else "lanes"
        self._part(main, row[main], places[main], self.call if main == "warp" else self.lanes)
        ignored = set(str(row.get("ignores", "")).split())
        self.check_ignored(ignored, places.get("ignores", self.spot))
        self.check_rest(ignored)
        return self.out

    def _place(self, row: Mapping[str, object], key: str) -> Spot:
        """Where the text of a key stands; rows that are not those of a file have the line of the whole."""
        return (lambda offset: row.spot(key, offset)) if isinstance(row, Map) else (lambda _: (self.line, 0))

    def _part(self, key: str, text: object, spot: Spot | None, read: Callable[[str], object]) -> None:
        """Read one text of the row."""
        self.spot = spot or self.spot
        self.at = 0
        try:
            read(str(text))
        except TextError as error:
            raise self.error(error.message, error.offset) from error
        self.at = 0
        self.out.places[key] = self.spot(0)[0]

    def check_ignored(self, ignored: set[str], spot: Spot) -> None:
        """What is ignored exists and is not used."""
        unknown = ignored - {*self.operands, *self.modifiers}
        used = ignored & (self.used_mods | self.measured | self.used_operands)
        if unknown or used:
            line, column = spot(0)
            what = f"ignores unknown '{min(unknown)}'" if unknown else f"ignores '{min(used)}' and uses it"
            raise SpecError(self.path, line, f"{self.op.name}: column '{self.column}': {what}", column)

    def check_rest(self, ignored: set[str]) -> None:
        """What the text does not name must be absent or at its default."""
        for name, (index, operand) in self.operands.items():
            if name in self.used_operands or name in ignored:
                continue
            needed = operand.kind not in _PREDICATES and operand.default is None
            if needed and not operand.writes:
                raise self.error(f"does not use operand '{name}'")
            if needed and not self.out.warp:  # a warp-wide meaning may want it to be RZ
                raise self.error(f"does not set result '{name}'")
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


def in_order(op: Operation, row: Map, names: Names) -> Meaning | None:
    """Under which condition the result depends on the order of CTAs (``checks``); None: never.

    Raises:
        SpecError: the condition is not right, or names an operand.
    """
    if row.get("in_order", False) is False:
        return None
    reader = Reader(op, LANES, names, op.path, row.line_of("in_order") or op.line)
    return reader.order(row["in_order"], lambda offset: row.spot("in_order", offset))


def read(op: Operation, row: Map, names: Names) -> Meaning | None:
    """The meaning of an operation; None when its row has none. ``names`` are those of :func:`oricgen.known.of_lanes`.

    Raises:
        SpecError: the text is no text of the language, names no operand or modifier of the row, no function of the headers, reads
            a destination, leaves an operand unused.
    """
    if "meaning" not in row:
        return None
    reader = Reader(op, LANES, names, op.path, row.line_of("meaning") or op.line)
    return reader.read(row["meaning"], lambda offset: row.spot("meaning", offset))
