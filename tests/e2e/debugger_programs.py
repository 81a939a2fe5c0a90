"""Random PTX whose statements Python can follow: what each register has in front of each statement that a thread executes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

MASK = {"r": 0xFFFFFFFF, "rd": 0xFFFFFFFFFFFFFFFF, "h": 0xFFFF}
State = dict[str, int]  # by the name of a register; those of functions have it in front
WORDS = {"r": 6, "rd": 5, "h": 4}
PREDICATES = 4
FUNCTION = """.func (.reg .b32 out) f(.reg .b32 a, .reg .b32 b)
{
.reg .b32 %x<9>;
.loc 1 9 1
mul.lo.u32 %x1, a, 3;
add.u32 out, %x1, b;
ret;
}
"""
HEAD = ".version 9.0\n.target {target}, debug\n.address_size 64\n"


class Statement(NamedTuple):
    """A line of PTX, what it does, and the label that it may go to (``go`` tells whether it does)."""

    text: str
    do: Callable[[State], None] | None = None
    go: Callable[[State], bool] | None = None
    label: str = ""


def _set(name: str, compute: Callable[[State], int], mask: int, guard: str = "") -> Callable[[State], None]:
    def do(state: State) -> None:
        if not guard or state.get(guard, 0):
            state[name] = compute(state) & mask

    return do


class Program:
    """A kernel ``k`` that begins with a number from memory, and what its registers have in front of each statement."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.labels = 0
        self.statements: list[Statement] = []
        self.known: list[str] = ["%r0"]
        self.used: dict[str, None] = {"%r0": None}
        self._body()

    # -- making --------------------------------------------------------------------------------------------------------

    def _pick(self, kind: str) -> str:
        names = [name for name in self.known if name.rstrip("0123456789") == f"%{kind}"]
        return self.rng.choice(names) if names else ""

    def _new(self, kind: str) -> str:
        name = f"%{kind}{self.rng.randrange(1, WORDS.get(kind, PREDICATES))}"
        self.used[name] = None
        return name

    def _simple(self, certain: bool) -> None:
        """A statement without control flow; ``certain``: it is executed whatever happens."""
        rng, kind = (
            self.rng,
            self.rng.choice(("r", "r", "r", "rd", "h", "p", "wide", "narrow", "guarded", "select", "copy", "call")),
        )
        a, b = self._pick("r"), self._pick("r")
        name, do, text = "", None, ""
        if kind == "r":
            op, compute = rng.choice((("add.u32", int.__add__), ("sub.u32", int.__sub__), ("mul.lo.u32", int.__mul__)))
            name = self._new("r")
            do, text = _set(name, lambda s: compute(s[a], s[b]), MASK["r"]), f"{op} {name}, {a}, {b};"
        elif kind == "rd" and self._pick("rd"):
            c, d, name = self._pick("rd"), self._pick("rd"), self._new("rd")
            op, compute = rng.choice((("add.s64", int.__add__), ("sub.s64", int.__sub__), ("and.b64", int.__and__)))
            do, text = _set(name, lambda s: compute(s[c], s[d]), MASK["rd"]), f"{op} {name}, {c}, {d};"
        elif kind == "wide":
            name = self._new("rd")
            do, text = _set(name, lambda s: s[a] * s[b], MASK["rd"]), f"mul.wide.u32 {name}, {a}, {b};"
        elif kind == "narrow" and self._pick("rd"):
            c, name = self._pick("rd"), self._new("r")
            do, text = _set(name, lambda s: s[c], MASK["r"]), f"cvt.u32.u64 {name}, {c};"
        elif kind == "h":
            name = self._new("h")
            do, text = _set(name, lambda s: s[a], MASK["h"]), f"cvt.u16.u32 {name}, {a};"
        elif kind == "p":
            name = self._new("p")
            do, text = _set(name, lambda s: int(s[a] < s[b]), 1), f"setp.lt.u32 {name}, {a}, {b};"
        elif kind == "guarded" and self._pick("p"):
            p, name = self._pick("p"), a
            do, text = _set(a, lambda s: s[a] + 3, MASK["r"], p), f"@{p} add.u32 {a}, {a}, 3;"
        elif kind == "select" and self._pick("p"):
            p, name = self._pick("p"), self._new("r")
            do, text = _set(name, lambda s: s[a] if s[p] else s[b], MASK["r"]), f"selp.b32 {name}, {a}, {b}, {p};"
        elif kind == "call":
            name = self._new("r")
            do, text = _set(name, lambda s: 3 * s[a] + s[b], MASK["r"]), f"call ({name}), f, ({a}, {b});"
        elif kind == "copy":
            name = self._new("r")
            do, text = _set(name, lambda s: s[a], MASK["r"]), f"mov.b32 {name}, {a};"
        if text:
            self.statements.append(Statement(text, do))
            if certain and name not in self.known:
                self.known.append(name)

    def _label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def _if(self, depth: int) -> None:
        p = self._pick("p")
        if not p:
            return
        other, behind = self._label(), self._label()
        self.statements.append(Statement(f"@{p} bra {other};", None, lambda s: bool(s[p]), other))
        self._block(depth + 1, False)
        self.statements.append(Statement(f"bra.uni {behind};", None, lambda _: True, behind))
        self.statements.append(Statement(f"{other}:"))
        self._block(depth + 1, False)
        self.statements.append(Statement(f"{behind}:"))

    def _loop(self, depth: int, certain: bool) -> None:
        n = self.labels
        begin = self._label()
        counter, test = f"%n{n}", f"%q{n}"
        self.statements += [Statement(f"mov.u32 {counter}, 0;", _set(counter, lambda _: 0, MASK["r"])), Statement(f"{begin}:")]
        self._block(depth + 1, certain)
        self.statements += [
            Statement(f"add.u32 {counter}, {counter}, 1;", _set(counter, lambda s: s[counter] + 1, MASK["r"])),
            Statement(f"setp.lt.u32 {test}, {counter}, 3;", _set(test, lambda s: int(s[counter] < 3), 1)),
            Statement(f"@{test} bra {begin};", None, lambda s: bool(s[test]), begin),
        ]

    def _block(self, depth: int, certain: bool) -> None:
        for _ in range(self.rng.randrange(2, 9)):
            kind = self.rng.randrange(8)
            if kind == 0 and depth < 3:
                self._if(depth)
            elif kind == 1 and depth < 2:
                self._loop(depth, certain)
            else:
                self._simple(certain)

    def _body(self) -> None:
        add = self.statements.append
        add(Statement("ld.param.u64 %a1, [p];"))
        add(Statement("ld.global.u32 %r0, [%a1];"))
        for _ in range(3):
            self._block(0, True)
        add(Statement("st.global.u32 [%a1], %r0;"))
        add(Statement("ret;"))

    # -- text ----------------------------------------------------------------------------------------------------------

    def watched(self) -> list[str]:
        """The registers that the debug data name."""
        return [name for name in self.used if not name.startswith("%p")][::2]

    def text(self, target: str) -> str:
        files = [f".reg .b{8 * size} %{kind}<9>;" for kind, size in (("r", 4), ("rd", 8), ("h", 2), ("a", 8), ("n", 4))]
        files[-1] = f".reg .b32 %n<{self.labels + 1}>;"
        head = (
            HEAD.format(target=target) + '.file 1 "x.cu"\n' + FUNCTION + ".visible .entry k(.param .u64 p)\n{\n" + " ".join(files)
        )
        head += f" .reg .pred %p<9>; .reg .pred %q<{self.labels + 1}>;\n.loc 1 1 1\nBegin:\n"
        body = "".join(f"{statement.text}\n" for statement in self.statements)
        data = "".join(f".b8 144, {', '.join(map(str, uleb(int.from_bytes(n.encode(), 'big'))))}\n" for n in self.watched())
        sections = f".section .debug_abbrev {{ .b8 1 }}\n.section .debug_info {{\n.b64 Begin\n{data}}}\n"
        self.first_line = head.count("\n") + 1
        return f"{head}{body}}}\n{sections}"

    def trace(self, number: int) -> list[tuple[int, State]]:
        """Lines of the statements that a thread executes, with what the registers have in front of each."""
        places = {s.text[:-1]: n for n, s in enumerate(self.statements) if s.text.endswith(":")}
        state: State = {}
        out: list[tuple[int, State]] = []
        at = 0
        while at < len(self.statements):
            statement = self.statements[at]
            out.append((self.first_line + at, dict(state)))
            if statement.text.startswith("ld.global"):
                state["%r0"] = number
            if statement.do is not None:
                statement.do(state)
            at = places[statement.label] if statement.go is not None and statement.go(state) else at + 1
        return out


def uleb(value: int) -> list[int]:
    """A number as LEB128."""
    out = []
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return [*out, value]
