"""Graphs of calls at random: functions of all kinds of signatures that call each other, directly and through tables.

A program is made as a tree of statements; :class:`Writer` makes PTX of it, :class:`Run` computes what it does. Every register of
a function is read at its end, so all that a call may not change lives across it. The first argument counts down: at 0 no calls.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tests.programs.portable.case import Case, head, longs, out, program

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
THREADS, DEPTH = 32, 4
SEEDS = (1, 5, 9, 11, 33, 37)
MOST_CALLS = 250  # of one thread
# Kinds of parameters and results: letters of the registers that make them up, in order, with their places and the declaration.
WORD, LONG, REAL = "r", "d", "x"
KINDS: dict[str, tuple[str, str]] = {
    "word": ("r", ".param .b32 {}"), "long": ("d", ".param .b64 {}"), "real": ("x", ".param .f64 {}"),
    "three": ("rrr", ".param .align 4 .b8 {}[12]"), "pair": ("dx", ".param .align 8 .b8 {}[16]"),
    "four": ("rrrr", ".param .align 16 .b8 {}[16]"), "mixed": ("rrdrr", ".param .align 8 .b8 {}[24]"),
    "large": ("dddxxrr", ".param .align 8 .b8 {}[48]"),
}  # fmt: skip
SIZES = {WORD: 4, LONG: 8, REAL: 8}
TYPES = {WORD: "b32", LONG: "b64", REAL: "f64"}
Statement = tuple[Any, ...]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "xor": lambda x, y: x ^ y, "min": min,
    "max": lambda x, y: max(x, y, key=_signed), "shf": lambda x, y: y << 7 | x >> 25,
}  # fmt: skip


class Shape(NamedTuple):
    """A signature, without the counter that comes first; result "" is none."""

    parameters: tuple[str, ...]
    result: str


class Function(NamedTuple):
    name: str
    shape: Shape
    counts: dict[str, int]  # registers of each letter
    body: list[Statement]


class Graph(NamedTuple):
    functions: list[Function]  # the last one is the kernel's own body
    tables: dict[str, list[str]]  # of functions with the same signature


def fields(kind: str) -> list[tuple[str, int]]:
    """(letter, offset) of what a parameter is made of."""
    found, at = [], 0
    for letter in KINDS[kind][0]:
        found.append((letter, at))
        at += SIZES[letter]
    return found


def results_of(f: Function) -> list[str]:
    """The registers of a function's result: the first two of each letter in turn."""
    at, found = dict.fromkeys(SIZES, 0), []
    for letter, _ in fields(f.shape.result) if f.shape.result else []:
        found.append(f"{letter}{at[letter] % 2}")
        at[letter] += 1
    return found


class Maker:
    """Makes a graph from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        kinds = [*KINDS]
        shapes = [
            Shape(tuple(self.random.choices(kinds[:-1], k=self.random.randrange(5))), self.random.choice(["", *kinds]))
            for _ in range(3)
        ]
        self.shapes = {f"f{n}": self.random.choice(shapes) for n in range(self.random.randrange(3, 7))}
        self.tables = {f"t{k}": [n for n, s in self.shapes.items() if s == shape] for k, shape in enumerate(shapes)}
        self.tables = {k: v for k, v in self.tables.items() if v}
        made = [self.function(name, shape) for name, shape in self.shapes.items()]
        self.graph = Graph([*made, self.function("kernel", Shape(("word", "word", "long", "real"), "long"))], self.tables)

    def function(self, name: str, shape: Shape) -> Function:
        need = {letter: sum(KINDS[k][0].count(letter) for k in shape.parameters) for letter in SIZES}
        self.counts = {
            letter: need[letter] + self.random.randrange(2, most) for letter, most in ((WORD, 16), (LONG, 6), (REAL, 5))
        }
        self.calls = 3
        return Function(name, shape, self.counts, self.block(self.random.randrange(4, 16), 2))

    def any(self, letter: str) -> str:
        return f"{letter}{self.random.randrange(self.counts[letter])}"

    def block(self, size: int, depth: int) -> list[Statement]:
        return [self.statement(depth) for _ in range(size)]

    def statement(self, depth: int) -> Statement:
        r = self.random
        kind = r.choices(
            ["op", "long", "real", "pred", "guarded", "array", "mix", "if", "loop", "call", "flip"],
            [6, 3, 3, 2, 2, 2, 2, 1, 1, 8, 1],
        )[0]
        if kind == "call" and self.calls:
            self.calls -= 1
            return self.call()
        if kind in ("if", "loop") and depth:
            return (kind, r.randrange(4) if kind == "if" else r.randrange(2, 4), self.block(r.randrange(1, 5), depth - 1))
        if kind == "long":
            return (
                "op",
                r.choice(["add.u64", "sub.u64", "mul.lo.u64", "xor.b64"]),
                self.any(LONG),
                self.any(LONG),
                self.any(LONG),
            )
        if kind == "real":
            return ("op", r.choice(["add.rn.f64", "sub.rn.f64", "min.f64"]), self.any(REAL), self.any(REAL), self.any(REAL))
        if kind == "pred":
            return ("pred", r.choice(["lt.s32", "eq.u32", "ge.u32"]), r.randrange(4), self.any(WORD), self.any(WORD))
        if kind == "guarded":
            return ("guarded", r.randrange(4), self.any(WORD), self.any(WORD), r.randrange(1, 99))
        if kind == "array":
            return ("array", self.any(WORD), self.any(WORD), self.any(WORD))
        if kind == "mix":
            return r.choice([("wide", self.any(LONG), self.any(WORD), self.any(WORD)), ("narrow", self.any(WORD), self.any(LONG)),
                             ("number", self.any(REAL), self.any(WORD))])  # fmt: skip
        if kind == "flip":
            return ("flip", self.any(WORD))
        return (
            "op",
            r.choice(["add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "max.s32", "shf"]),
            self.any(WORD),
            self.any(WORD),
            self.any(WORD),
        )

    def call(self) -> Statement:
        r = self.random
        table = r.choice([*self.tables])
        names = self.tables[table]
        shape = self.shapes[names[0]]
        values = [[self.any(letter) for letter, _ in fields(kind)] for kind in shape.parameters]
        results = [self.any(letter) for letter, _ in fields(shape.result)] if shape.result else []
        way = r.choice(["direct", "table", "chosen"])
        return ("call", way, table, [r.choice(names), r.choice(names)], self.any(WORD), r.randrange(4), values, results)


class Writer:
    """PTX of a graph."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name
        self.shapes = {f.name: f.shape for f in graph.functions}
        self.lines: list[str] = []
        self.labels = 0

    def text(self) -> str:
        """The module."""
        *functions, kernel = self.graph.functions
        heads = [f"{self.signature(f)};" for f in functions]
        tables = [
            f".global .align 8 .u64 {name}[{len(names)}] = {{{', '.join(names)}}};" for name, names in self.graph.tables.items()
        ]
        for f in functions:
            self.lines += [self.signature(f), "{", self.registers(f), "ld.param.b32 %n, [n];"]
            self.begin(f, [self.parts(kind, f"p{k}") for k, kind in enumerate(f.shape.parameters)])
            self.block(f.body)
            self.end(f)
            if f.shape.result:
                for (letter, _, place), value in zip(self.parts(f.shape.result, "res"), results_of(f), strict=True):
                    self.lines.append(f"st.param.{TYPES[letter]} {place}, %{value};")
            self.lines += ["ret;", "}"]
        self.lines += [f".visible .entry {self.name}(.param .u64 out, .param .u64 words, .param .u32 depth)", "{"]
        self.lines += [self.registers(kernel), "ld.param.u32 %n, [depth]; ld.param.u64 %a, [words]; mov.u32 %s, %tid.x;"]
        self.lines.append("mad.wide.u32 %a, %s, 32, %a; cvta.to.global.u64 %a, %a;")
        self.begin(kernel, [[(letter, 0, f"[%a+{8 * k}]")] for k, letter in enumerate("rrdx")], "ld.global")
        self.block(kernel.body)
        self.end(kernel)
        self.lines += ["ld.param.u64 %a, [out]; cvta.to.global.u64 %a, %a; mov.u32 %s, %tid.x; mad.wide.u32 %a, %s, 8, %a;"]
        self.lines += [f"st.global.u64 [%a], %{results_of(kernel)[0]};", "ret;", "}"]
        return "\n".join([head(), *heads, *tables, *self.lines, ""])

    def parts(self, kind: str, name: str) -> list[tuple[str, int, str]]:
        return [(letter, at, f"[{name}+{at}]" if at else f"[{name}]") for letter, at in fields(kind)]

    def signature(self, f: Function) -> str:
        declared = ", ".join([".param .b32 n", *(KINDS[kind][1].format(f"p{k}") for k, kind in enumerate(f.shape.parameters))])
        result = f"({KINDS[f.shape.result][1].format('res')}) " if f.shape.result else ""
        return f".func {result}{f.name}({declared})"

    def registers(self, f: Function) -> str:
        many = " ".join(f".reg .{TYPES[letter]} %{letter}<{count + 1}>;" for letter, count in f.counts.items())
        return (
            f"{many} .reg .pred %p<5>; .reg .pred %q; .reg .b32 %n, %s, %u; .reg .b64 %a, %b, %t; .local .align 8 .b8 cells[32];"
        )

    def begin(self, f: Function, parameters: list[list[tuple[str, int, str]]], load: str = "ld.param") -> None:
        """Parameters are the first registers, the others are made of the counter."""
        at = dict.fromkeys(SIZES, 0)
        for letter, _, place in (part for parts in parameters for part in parts):
            self.lines.append(f"{load}.{TYPES[letter]} %{letter}{at[letter]}, {place};")
            at[letter] += 1
        for letter, count in f.counts.items():
            for k in range(at[letter], count):
                made = {WORD: f"mad.lo.u32 %r{k}, %n, {k * 77 + 5}, {k};", LONG: f"mul.wide.u32 %d{k}, %n, {k * 0x10000001 + 3};",
                        REAL: f"cvt.rn.f64.u32 %x{k}, %n;"}  # fmt: skip
                self.lines.append(made[letter])
        self.lines += [f"setp.eq.u32 %p{k}, %n, {k};" for k in range(4)]
        self.lines += ["mov.u64 %b, cells;", *(f"st.local.u32 [%b+{4 * k}], %n;" for k in range(8))]

    def end(self, f: Function) -> None:
        """All registers come together in the first ones of their kinds, and in r0 what the predicates are."""
        self.lines += [f"mad.lo.u32 %r0, %r0, 31, %r{k};" for k in range(1, f.counts[WORD])]
        self.lines += [f"@%p{k} xor.b32 %r0, %r0, {1 << k};" for k in range(4)]
        self.lines += [f"ld.local.u32 %s, [%b+{4 * k}]; add.u32 %r0, %r0, %s;" for k in range(8)]
        self.lines += [f"mad.lo.u64 %d0, %d0, 31, %d{k};" for k in range(1, f.counts[LONG])]
        self.lines += [f"max.f64 %x0, %x0, %x{k};" for k in range(1, f.counts[REAL])]
        self.lines += [
            "cvt.u64.u32 %t, %r0; add.u64 %d0, %d0, %t; cvt.rzi.s64.f64 %t, %x0; xor.b64 %d0, %d0, %t;",
            "xor.b32 %r1, %r1, %r0;",
        ]

    def block(self, body: list[Statement]) -> None:
        for statement in body:
            getattr(self, statement[0].replace("if", "branch").replace("loop", "turns"))(*statement[1:])

    def op(self, name: str, d: str, a: str, b: str) -> None:
        self.lines.append(f"shf.l.wrap.b32 %{d}, %{a}, %{b}, 7;" if name == "shf" else f"{name} %{d}, %{a}, %{b};")

    def pred(self, name: str, p: int, a: str, b: str) -> None:
        self.lines.append(f"setp.{name} %p{p}, %{a}, %{b};")

    def guarded(self, p: int, d: str, a: str, n: int) -> None:
        self.lines.append(f"@%p{p} mad.lo.u32 %{d}, %{a}, {n}, %{d};")

    def array(self, d: str, index: str, a: str) -> None:
        self.lines.append(f"and.b32 %s, %{index}, 7; mul.wide.u32 %t, %s, 4; add.u64 %t, %b, %t; ld.local.u32 %u, [%t];")
        self.lines.append(f"st.local.u32 [%t], %{a}; mov.u32 %{d}, %u;")

    def wide(self, d: str, a: str, b: str) -> None:
        self.lines.append(f"mad.wide.u32 %{d}, %{a}, %{b}, %{d};")

    def narrow(self, d: str, a: str) -> None:
        self.lines.append(f"shr.u64 %t, %{a}, 17; cvt.u32.u64 %{d}, %t;")

    def number(self, d: str, a: str) -> None:
        self.lines.append(f"cvt.rn.f64.s32 %{d}, %{a};")

    def flip(self, a: str) -> None:
        self.lines.append(f"xor.b32 %{a}, %{a}, 3;")

    def branch(self, p: int, body: list[Statement]) -> None:
        self.labels += 1
        label = f"L{self.labels}"
        self.lines.append(f"@%p{p} bra {label};")
        self.block(body)
        self.lines.append(f"{label}:")

    def turns(self, count: int, body: list[Statement]) -> None:
        self.labels += 1
        label = f"L{self.labels}"
        self.lines.append(f"{{ .reg .b32 %c; .reg .pred %g; mov.u32 %c, {count};\n{label}:")
        self.block(body)
        self.lines.append(f"sub.u32 %c, %c, 1; setp.ne.u32 %g, %c, 0; @%g bra {label}; }}")

    def call(
        self, way: str, table: str, names: list[str], index: str, p: int, values: list[list[str]], results: list[str]
    ) -> None:
        self.labels += 1
        shape = self.shapes[names[0]]
        label = f"L{self.labels}"
        put = [f"setp.eq.u32 %q, %n, 0; @%q bra {label};", "{ .param .b32 a; sub.u32 %s, %n, 1; st.param.b32 [a], %s;"]
        for k, (kind, registers) in enumerate(zip(shape.parameters, values, strict=True)):
            put.append(f"{KINDS[kind][1].format(f'a{k}')};")
            put += [
                f"st.param.{TYPES[letter]} {place}, %{r};"
                for (letter, _, place), r in zip(self.parts(kind, f"a{k}"), registers, strict=True)
            ]
        got = f"{KINDS[shape.result][1].format('r')};" if shape.result else ""
        arguments = ", ".join(["a", *(f"a{k}" for k in range(len(values)))])
        left = "(r), " if shape.result else ""
        if way == "direct":
            put += [got, f"call {left}{names[0]}, ({arguments});"]
        else:
            if way == "table":
                count = len(self.graph.tables[table])
                put.append(
                    f"rem.u32 %s, %{index}, {count}; mov.u64 %t, {table}; mad.wide.u32 %t, %s, 8, %t; ld.global.u64 %t, [%t];"
                )
            else:
                put.append(f"mov.u64 %t, {names[0]}; mov.u64 %a, {names[1]}; selp.b64 %t, %t, %a, %p{p};")
            prototype = ", ".join([".param .b32 _", *(KINDS[kind][1].format("_") for kind in shape.parameters)])
            result = f"({KINDS[shape.result][1].format('_')}) " if shape.result else ""
            put += [
                got,
                f"Y{self.labels}: .callprototype {result}_ ({prototype});",
                f"call {left}%t, ({arguments}), Y{self.labels};",
            ]
        if shape.result:
            put += [
                f"ld.param.{TYPES[letter]} %{r}, {place};"
                for (letter, _, place), r in zip(self.parts(shape.result, "r"), results, strict=True)
            ]
        self.lines += [*put, "}", f"{label}:"]


class Run:
    """What a graph computes for one thread."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.functions = {f.name: f for f in graph.functions}
        self.calls = 0

    def call(self, name: str, n: int, values: list[Any]) -> list[Any]:
        """The result's parts; ``values``: all parts of the arguments in order."""
        f = self.functions[name]
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise OverflowError
        v: dict[str, Any] = {}
        at = dict.fromkeys(SIZES, 0)
        for letter, value in zip((x for kind in f.shape.parameters for x in KINDS[kind][0]), values, strict=True):
            v[f"{letter}{at[letter]}"] = value
            at[letter] += 1
        for letter, count in f.counts.items():
            for k in range(at[letter], count):
                v[f"{letter}{k}"] = {WORD: n * (k * 77 + 5) + k & M32, LONG: n * (k * 0x10000001 + 3), REAL: float(n)}[letter]
        p, cells = [n == k for k in range(4)], [n] * 8
        self.block(f.body, v, p, cells, n)
        total = v["r0"]
        for k in range(1, f.counts[WORD]):
            total = total * 31 + v[f"r{k}"] & M32
        for k in range(4):
            total ^= p[k] << k
        total = total + sum(cells) & M32
        long = v["d0"]
        for k in range(1, f.counts[LONG]):
            long = long * 31 + v[f"d{k}"] & M64
        real = max(v[f"x{k}"] for k in range(f.counts[REAL]))
        v |= {
            "r0": total,
            "r1": v["r1"] ^ total,
            "d0": (long + total & M64) ^ min(max(int(real), -1 << 63), (1 << 63) - 1) & M64,
            "x0": real,
        }
        return [v[r] for r in results_of(f)]

    def block(self, body: list[Statement], v: dict[str, Any], p: list[bool], cells: list[int], n: int) -> None:
        for kind, *rest in body:
            if kind == "op":
                name, d, a, b = rest
                x, y = v[a], v[b]
                mask = M64 if d[0] == LONG else M32
                value = OPERATIONS[name[:3]](x, y)
                v[d] = value if d[0] == REAL else value & mask
            elif kind == "pred":
                name, k, a, b = rest
                x, y = v[a], v[b]
                p[k] = _signed(x) < _signed(y) if name == "lt.s32" else x == y if name == "eq.u32" else x >= y
            elif kind == "guarded":
                k, d, a, factor = rest
                if p[k]:
                    v[d] = v[a] * factor + v[d] & M32
            elif kind == "array":
                d, index, a = rest
                at = v[index] & 7
                value, cells[at] = cells[at], v[a]
                v[d] = value
            elif kind == "wide":
                d, a, b = rest
                v[d] = v[a] * v[b] + v[d] & M64
            elif kind == "narrow":
                d, a = rest
                v[d] = v[a] >> 17 & M32
            elif kind == "number":
                d, a = rest
                v[d] = float(_signed(v[a]))
            elif kind == "flip":
                v[rest[0]] ^= 3
            elif kind == "if":
                if not p[rest[0]]:
                    self.block(rest[1], v, p, cells, n)
            elif kind == "loop":
                for _ in range(rest[0]):
                    self.block(rest[1], v, p, cells, n)
            elif n:
                way, table, names, index, k, values, results_to = rest
                known = self.graph.tables[table]
                name = (
                    names[0] if way == "direct" else known[v[index] % len(known)] if way == "table" else names[0 if p[k] else 1]
                )
                for r, value in zip(results_to, self.call(name, n - 1, [v[r] for some in values for r in some]), strict=True):
                    v[r] = value


def _signed(x: int) -> int:
    return (x ^ 1 << 31) - (1 << 31)


@cache
def made(seed: int) -> tuple[Graph, Any, list[int]]:
    """The graph, what the threads read, and what they write.

    Raises:
        OverflowError: it makes too many calls.
    """
    graph, rng = Maker(seed).graph, np.random.default_rng(seed)
    words = longs(rng.integers(0, 1 << 63, (THREADS, 4)))
    words[:, 3] = rng.integers(-999, 999, THREADS).astype(np.float64).view(np.uint64)
    want = []
    for a, b, c, d in words.tolist():
        real = float(np.array([d], np.uint64).view(np.float64)[0])
        want += Run(graph).call("kernel", DEPTH, [a & M32, b & M32, c, real])
    return graph, words, want


def _register(seed: int) -> None:
    def build(rng: Any) -> Case:
        _, words, want = made(seed)
        return Case(1, THREADS, [out(THREADS, np.uint64), words.copy(), DEPTH], {0: longs(want)}, stack=8192)

    build.__name__ = f"call_graph_{seed}"
    program(lambda: Writer(made(seed)[0], build.__name__).text())(build)


for _seed in SEEDS:
    _register(_seed)
