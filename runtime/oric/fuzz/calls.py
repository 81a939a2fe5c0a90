"""Random kernels with functions that call each other: recursion, tables of functions, structures as arguments and results.

All of :class:`oric.fuzz.full.FullProgram`, in a kernel whose threads call the functions from wherever they are. A function has
``fuel`` as its first argument and calls others, itself among them, as long as there is some. What it computes with comes from its
arguments; its results are registers of its own. Functions of one group look the same from outside, so that a register may tell
which of them is called.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from .full import FUNCTIONS, FullProgram
from .meaning import TYPE, WIDTH
from .programs import OUT_WORDS, POOL, Program, Statement, registers
from .wide import LOCAL_SLOTS

STACK: Final = 1 << 16  # bytes of a thread that suffice
_MOST_GROUPS: Final = 3
_MOST_FUEL: Final = 3
_MOST_RESULT: Final = 256  # bytes
_MOST_ARGUMENT: Final = 64
_ARGUMENTS: Final = 7
_BYTE: Final = 0xFF
_FUEL: Final = "fuel"
# Accesses to fields of structures: bytes, class of the registers, how many of them.
_FIELDS: Final = {
    "b8": (1, "h", 1), "b16": (2, "h", 1), "b32": (4, "r", 1), "b64": (8, "d", 1), "f32": (4, "f", 1), "f64": (8, "g", 1),
    "v2.b32": (8, "r", 2), "v4.b32": (16, "r", 4), "v2.b64": (16, "d", 2), "v2.f32": (8, "f", 2),
}  # fmt: skip
_SCALARS: Final = {"h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64"}


class Field(NamedTuple):
    """Part of an argument or result: where it begins, how it is accessed."""

    offset: int
    access: str


class Value(NamedTuple):
    """An argument or result: a scalar, with one field and ``align`` 0, or a structure."""

    size: int
    align: int
    fields: tuple[Field, ...]

    def declared(self, name: str) -> str:
        """As a ``.param`` variable."""
        if not self.align:
            return f".param .{self.fields[0].access} {name}"
        return f".param .align {self.align} .b8 {name}[{self.size}]"

    def classes(self) -> list[str]:
        """Classes of the registers that it goes into."""
        return [c for _, access in self.fields for c in _FIELDS[access][1] * _FIELDS[access][2]]


class Signature(NamedTuple):
    """How the functions of a group look: result (None: none), arguments, numbers of the functions."""

    result: Value | None
    arguments: tuple[Value, ...]
    members: range

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the result."""
        return self.result.fields if self.result else ()

    def declared(self, name: str, each: str = "") -> str:
        """The head of a function, or what a prototype says, where all variables are called ``each``."""
        result = f"({self.result.declared(each or 'res')}) " if self.result else ""
        arguments = [value.declared(each or f"s{n}") for n, value in enumerate(self.arguments)]
        return f"{result}{name} ({', '.join([f'.param .b32 {each or _FUEL}', *arguments])})"


class Plan(NamedTuple):
    """How a function is written: the registers that its result is, whether its frame is space that it takes from the stack, and
    how it reads each structure that it is given.
    """

    results: tuple[str, ...]
    takes: bool
    ways: tuple[str, ...]


class Invocation(NamedTuple):
    """A call: ``how`` the callee is told (direct, table, chosen: by register ``selector``), of which group, the fuel that a
    kernel gives, which registers go into the fields of the arguments and get those of the result, which of these are ``wanted``.
    """

    how: str
    group: int
    callee: int
    selector: str
    fuel: int
    given: tuple[tuple[str, ...], ...]
    taken: tuple[str, ...]
    wanted: tuple[bool, ...]


class _Returns(Exception):
    """A function returns to its caller in the middle."""


class CallProgram(FullProgram):
    """A random kernel and its functions for targets from a number on. The same arguments give the same program."""

    def __init__(self, seed: int, size: int = 40, target: int = 75) -> None:
        rng = random.Random(seed ^ 0xCA11)
        self.signatures: list[Signature] = []
        first = 0
        for _ in range(rng.randrange(1, _MOST_GROUPS + 1)):
            members = range(first, first + rng.choice((1, 1, 2, 4)))
            result = None if rng.random() < 0.15 else _value(rng, _MOST_RESULT)
            self.signatures.append(Signature(result, _arguments(rng), members))
            first = members.stop
        self.plain = self.inside = False
        self.room = 0  # how many calls the function at hand may still make
        FullProgram.__init__(self, seed, size, target)
        self.inside = True
        self.plans = [self._plan(signature) for signature in self.signatures for _ in signature.members]
        for _ in self.plans:
            self.room = 2
            body = [self.statement(2) for _ in range(self.rng.randrange(2, 10))]
            self.functions.append([*body, *([self._invoke(self.rng.randrange(len(self.signatures)))] if self.room else [])])
        self.inside = False

    # -- making ---------------------------------------------------------------------------------------------------

    def _plan(self, signature: Signature) -> Plan:
        rng = self.rng
        results = tuple(f"{c}{rng.randrange(POOL[c])}" for c in (signature.result.classes() if signature.result else ()))
        ways = tuple(rng.choice(("", "", "", "param", "local", "generic")) if v.align else "" for v in signature.arguments)
        return Plan(results, rng.random() < 0.2, ways)

    def statement(self, depth: int) -> Statement:
        """One statement that a thread can execute alone."""
        kind = self.rng.random()
        if not self.inside:
            return self._invoke(self.rng.randrange(len(self.signatures))) if kind < 0.12 else FullProgram.statement(self, depth)
        if kind < 0.12 and self.room:
            self.room -= 1
            return self._invoke(self.rng.randrange(len(self.signatures)))
        if kind < 0.15:
            return ("return", self.register("p"), self.rng.random() < 0.5)
        if kind < 0.25:
            c = self.rng.choice("hrd")
            return ("local", self.rng.random() < 0.5, c, self.register(c), self.register("r"))
        return Program.statement(self, depth)

    def _invoke(self, group: int) -> Statement:
        """A call of a function of a group."""
        signature = self.signatures[group]
        several = len(signature.members) > 1
        how = self.rng.choice(("table", "table", "chosen", "direct") if several else ("direct", "direct", "direct", "chosen"))
        given = tuple(tuple(self.register(c) for c in value.classes()) for value in signature.arguments)
        taken: list[str] = []
        for _, access in signature.fields:
            _, c, n = _FIELDS[access]
            taken += self.registers_of(c, n)
        return ("invoke", Invocation(
            how, group, self.rng.choice(signature.members), self.register("p" if how == "chosen" else "r"),
            self.rng.randrange(_MOST_FUEL), given, tuple(taken), tuple(self.rng.random() < 0.9 for _ in signature.fields),
        ))  # fmt: skip

    # -- PTX ------------------------------------------------------------------------------------------------------

    def text(self, target: str) -> str:
        """The kernel and its functions as PTX."""
        text = FullProgram.text(self, target)
        names = [(signature, k) for signature in self.signatures for k in signature.members]
        head = [".global .align 8 .u64 where[3];", *(f".func {signature.declared(f'g{k}')};" for signature, k in names)]
        for n, signature in enumerate(self.signatures):
            list_ = ", ".join(f"g{k}" for k in signature.members)
            head.append(f".global .align 8 .u64 table{n}[{len(signature.members)}] = {{{list_}}};")
        for signature, k in names:
            self.inside = True
            head += self._definition(signature, k)
            self.inside = False
        return text.replace(".visible .entry", "\n".join(head) + "\n.visible .entry", 1)

    def plain_text(self, target: str) -> str:
        """The same without what ptxas makes no code for that can be trusted: functions that take from the stack, bytes of halves.

        ptxas 13.0.88 stores to the frames of the former before the register is there by which it does so; it converts the latter.
        """
        plans, self.plans = self.plans, [plan._replace(takes=False) for plan in self.plans]
        self.plain = True
        text = self.text(target)
        self.plans, self.plain = plans, False
        return text

    def _store(self, access: str, place: str, names: Sequence[str]) -> Iterator[str]:
        """A store to a field."""
        if access == "b8" and self.plain:
            yield f"and.b16 %s0, %{names[0]}, {_BYTE};"
            names = ["s0"]
        yield f"st.param.{access} [{place}], {_braces(names)};"

    def _function(self, k: int, body: list[Statement]) -> Iterator[str]:
        """Of the functions of every program; the others follow."""
        if k < FUNCTIONS:
            yield from FullProgram._function(self, k, body)

    def _definition(self, signature: Signature, k: int) -> Iterator[str]:
        self.function = (signature, self.plans[k])
        yield f".func {signature.declared(f'g{k}')}\n{{"
        yield from (f"\t.reg {TYPE[c]} %{c}<{n}>;" for c, n in POOL.items())
        yield "\t.reg .b32 %t<10>;\n\t.reg .b64 %a<10>;\n\t.reg .b16 %s<3>;\n\t.reg .pred %q<3>;\n\t.reg .b32 %n<8>;"
        yield "\t.reg .b32 %v<8>;\n\t.reg .b64 %w<4>;\n\t.reg .b32 %k<10>;\n\t.reg .pred %x<3>;\n\t.reg .b32 %fuel;"
        if self.plans[k].takes:
            yield f"\t.reg .b32 slots;\n\talloca.u32 slots, {8 * LOCAL_SLOTS}, 16;"
        else:
            yield f"\t.local .align 8 .b8 slots[{8 * LOCAL_SLOTS}];"
        yield from (f"\tst.local.u64 [slots+{8 * n}], 0;" for n in range(LOCAL_SLOTS))
        yield "\tmov.u32 %t0, %tid.x;\n\tld.param.b32 %fuel, [fuel];"
        yield from (f"\tld.global.u64 %a{n}, [where+{8 * n}];" for n in range(3))
        yield f"\tmad.wide.u32 %a1, %t0, {8 * OUT_WORDS}, %a1;"
        for c, name in registers():
            yield f"\t{_set(c, name, k)}"
        yield from ("\t" + line for line in self._arguments_in(signature, self.plans[k]))
        yield from (f"\tand.b32 %v0, %r{n}, 1;\n\tsetp.ne.u32 %p{n}, %v0, 0;" for n in range(POOL["p"]))
        for statement in self.functions[FUNCTIONS + k]:
            yield from ("\t" + line for line in self.emit(statement, 0))
        yield from ("\t" + line for line in self._results_out())
        yield "\tret;\n}"

    @staticmethod
    def _arguments_in(signature: Signature, plan: Plan) -> Iterator[str]:
        """Every argument goes to the registers of its fields' classes, in turn."""
        turn = dict.fromkeys(POOL, 0)
        for n, (value, way) in enumerate(zip(signature.arguments, plan.ways, strict=True)):
            base, space = f"s{n}", ".param"
            if way:
                base, space = "%w0", {"param": ".param", "local": ".local", "generic": ""}[way]
                yield f"mov.u64 %w0, s{n};"
                if way == "generic":
                    yield "cvta.local.u64 %w0, %w0;"
            for offset, access in value.fields:
                _, c, count = _FIELDS[access]
                names = _next(turn, c, count)
                yield f"ld{space}.{'u8' if access == 'b8' else access} {_braces(names)}, [{base}+{offset}];"

    def _results_out(self) -> Iterator[str]:
        signature, plan = self.function
        for (offset, access), names in _by_field(signature.fields, plan.results):
            yield from self._store(access, f"res+{offset}", names)

    def more_declarations(self) -> list[str]:
        return [*FullProgram.more_declarations(self), "\t.reg .pred %z<2>;"]

    def prologue(self) -> Iterator[str]:
        """Functions find the memory of the kernel in variables."""
        yield "\tsetp.ne.u32 %z0, %t0, 0;\n\t@%z0 bra $where;"
        yield from (f"\tld.param.u64 %w0, [{name}];\n\tcvta.to.global.u64 %w0, %w0;\n\tst.global.u64 [where+{8 * n}], %w0;"
                    for n, name in enumerate(("p_in", "p_out", "p_atoms")))  # fmt: skip
        yield "$where:\n\tbar.sync 0;"
        yield from FullProgram.prologue(self)

    def emit_return(self, p: str, negated: bool, depth: int) -> Iterator[str]:
        skip = self.label()
        yield f"@{'' if negated else '!'}%{p} bra {skip};"
        yield from self._results_out()
        yield "ret;"
        yield f"{skip}:"

    def emit_invoke(self, call: Invocation, depth: int) -> Iterator[str]:
        signature, skip = self.signatures[call.group], self.label()
        names = [f"n{k}" for k in range(1 + len(signature.arguments))]
        if self.inside:
            yield "setp.eq.u32 %x0, %fuel, 0;"
            yield f"@%x0 bra {skip};"
            yield "sub.u32 %v7, %fuel, 1;"
        yield "{"
        yield ".param .b32 n0;"
        yield from (value.declared(name) + ";" for value, name in zip(signature.arguments, names[1:], strict=True))
        if signature.result:
            yield signature.result.declared("m") + ";"
        yield f"st.param.b32 [n0], {'%v7' if self.inside else call.fuel};"
        for value, name, sources in zip(signature.arguments, names[1:], call.given, strict=True):
            for (offset, access), registers_ in _by_field(value.fields, sources):
                yield from self._store(access, f"{name}+{offset}", registers_)
        target, proto = f"g{call.callee}", ""
        if call.how != "direct":
            target, proto = "%w3", self.label()
            yield from self._pointer(call)
            yield f"{proto}: .callprototype {signature.declared('_', '_')};"
        result = "(m), " if signature.result else ""
        yield f"call {result}{target}, ({', '.join(names)}){', ' + proto if proto else ''};"
        for ((offset, access), registers_), wants in zip(_by_field(signature.fields, call.taken), call.wanted, strict=True):
            if wants:
                yield f"ld.param.{'u8' if access == 'b8' else access} {_braces(registers_)}, [m+{offset}];"
        yield "}"
        if self.inside:
            yield f"{skip}:"

    def _pointer(self, call: Invocation) -> Iterator[str]:
        """The address of the callee, in %w3."""
        members = self.signatures[call.group].members
        if call.how == "table":
            yield f"mov.u64 %w3, table{call.group};"
            yield f"and.b32 %v6, %{call.selector}, {len(members) - 1};"
            yield "mad.wide.u32 %w3, %v6, 8, %w3;"
            yield "ld.global.u64 %w3, [%w3];"
        else:
            yield f"mov.u64 %w3, g{call.callee};"
            yield f"mov.u64 %w2, g{members[0]};"
            yield f"selp.b64 %w3, %w3, %w2, %{call.selector};"

    # -- meaning --------------------------------------------------------------------------------------------------

    def do_return(self, v: dict[str, Any], t: int, p: str, negated: bool) -> None:
        if bool(v[p]) != negated:
            raise _Returns

    def do_invoke(self, v: dict[str, Any], t: int, call: Invocation) -> None:
        if v.get("fuel") == 0:
            return
        signature, callee = self.signatures[call.group], call.callee
        if call.how == "table":
            callee = signature.members[v[call.selector] % len(signature.members)]
        elif call.how == "chosen" and not v[call.selector]:
            callee = signature.members[0]
        inner = self._passed(v, callee, signature, call)
        outer, self.slots[t] = self.slots[t], [bytearray(8) for _ in range(LOCAL_SLOTS)]
        try:
            for statement in self.functions[FUNCTIONS + callee]:
                self.step(statement, inner, t)
        except _Returns:
            pass
        self.slots[t] = outer
        found = _by_field(signature.fields, self.plans[callee].results)
        for ((field, names), (_, sources)), wants in zip(
            zip(_by_field(signature.fields, call.taken), found, strict=True), call.wanted, strict=True
        ):
            if wants:
                v.update(zip(names, _through(field, [inner[source] for source in sources]), strict=True))

    @staticmethod
    def _passed(v: dict[str, Any], callee: int, signature: Signature, call: Invocation) -> dict[str, Any]:
        """The registers with which a function begins that registers ``v`` call."""
        inner: dict[str, Any] = {name: _first(c, name, callee) for c, name in registers()}
        inner["fuel"] = v["fuel"] - 1 if "fuel" in v else call.fuel
        turn = dict.fromkeys(POOL, 0)
        for value, sources in zip(signature.arguments, call.given, strict=True):
            for field, names in _by_field(value.fields, sources):
                _, c, count = _FIELDS[field.access]
                inner.update(zip(_next(turn, c, count), _through(field, [v[name] for name in names]), strict=True))
        inner.update((f"p{n}", inner[f"r{n}"] & 1) for n in range(POOL["p"]))
        return inner


def _by_field(fields: tuple[Field, ...], names: tuple[str, ...]) -> Iterator[tuple[Field, tuple[str, ...]]]:
    """Each field with its registers."""
    for field in fields:
        count = _FIELDS[field.access][2]
        yield field, names[:count]
        names = names[count:]


def _through(field: Field, values: list[Any]) -> list[Any]:
    """What comes out of a field that values have gone into."""
    return [value & _BYTE for value in values] if field.access == "b8" else values


def _value(rng: random.Random, most: int) -> Value:
    """A random argument or result of so many bytes at most."""
    if rng.random() < 0.4:
        c = rng.choice("hrrrddfg")
        return Value(WIDTH.get(c, 32 if c == "f" else 64) // 8, 0, (Field(0, _SCALARS[c]),))
    fields: list[Field] = []
    at, align = 0, 1
    limit = rng.choice((4, 12, 48, 52, most))
    while True:
        access = rng.choice(list(_FIELDS))
        size = _FIELDS[access][0]
        offset = -(-at // size) * size + (size if rng.random() < 0.1 else 0)
        if fields and offset + size > min(limit, most):
            break
        fields.append(Field(offset, access))
        at, align = offset + size, max(align, size)
    align = max(align, rng.choice((1, 1, 4, 8, 16)))
    return Value(max(at, rng.choice((0, 0, -(-at // align) * align))), align, tuple(fields))


def _arguments(rng: random.Random) -> tuple[Value, ...]:
    return tuple(_value(rng, _MOST_ARGUMENT) for _ in range(rng.randrange(_ARGUMENTS)))


def _next(turn: dict[str, int], c: str, count: int) -> list[str]:
    """The registers of a class whose turn it is."""
    names = [f"{c}{(turn[c] + k) % POOL[c]}" for k in range(count)]
    turn[c] += count
    return names


def _braces(names: Sequence[str]) -> str:
    text = ", ".join("%" + name for name in names)
    return f"{{{text}}}" if len(names) > 1 else text


def _first(c: str, name: str, k: int) -> Any:
    """What a register of function ``k`` begins with."""
    number = 3 * int(name[1:]) + k
    return float(number) if c in "fg" else number


def _set(c: str, name: str, k: int) -> str:
    """The instruction that gives it that; nothing for predicates."""
    value = _first(c, name, k)
    if c == "p":
        return f"setp.ne.u32 %{name}, 0, 0;"
    if c in "fg":
        return f"mov.{TYPE[c][1:]} %{name}, {value};"
    return f"mov.u{WIDTH[c]} %{name}, {value};"
