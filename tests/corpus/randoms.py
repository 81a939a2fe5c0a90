"""Random kernels with branches, loops, switches, calls and early exits, of the lines that are fit for it.

All values live in a small set of registers that branches and loops overwrite, so that the code has values that meet at joins,
live across loops and die in branches.
"""

from __future__ import annotations

import random

from . import patterns
from .kernels import PARAMETERS, Kernel

# Oldest SM of a kernel's lines, and how many kernels of it there are.
LEVELS = {75: 48, 80: 16, 90: 16, 100: 16}
PER_MODULE = 8
_POOL = {"b32": 9, "b64": 5, "f32": 7, "f64": 4, "b16": 4, "pred": 4}
_LETTER = {"b32": "r", "b64": "d", "f32": "f", "f64": "g", "b16": "h", "pred": "p"}
_HELPERS = ("mix", "scale", "walk")
HEAD = [
    ".func (.param .b32 z) mix (.param .b32 a, .param .b32 b) { .reg .b32 x, y; ld.param.b32 x, [a]; ld.param.b32 y, [b];"
    " mad.lo.s32 x, x, y, 77; shf.l.wrap.b32 x, x, y, 9; st.param.b32 [z], x; ret; }",
    ".func (.param .f32 z) scale (.param .f32 a, .param .f64 b) { .reg .f32 x; .reg .f64 y; ld.param.f32 x, [a];"
    " ld.param.f64 y, [b]; cvt.rn.f32.f64 x, y; sqrt.rn.f32 x, x; st.param.f32 [z], x; ret; }",
    ".func (.param .b64 z) walk (.param .b64 a, .param .b32 b) { .reg .b64 x; .reg .b32 n; .reg .pred q; ld.param.b64 x, [a];"
    " ld.param.b32 n, [b]; L: mul.lo.u64 x, x, 6364136223846793005; add.s32 n, n, -1; setp.gt.s32 q, n, 0; @q bra L;"
    " st.param.b64 [z], x; ret; }",
]


class RandomKernel(Kernel):
    """A kernel whose values live in the registers of ``_POOL``."""

    def __init__(self, name: str, lines: list[patterns.Line]) -> None:
        super().__init__(name, random.Random(name))
        self.lines = lines
        self.labels = 0
        self.temporary = 0
        self.loop_depth = 0

    def any(self, kind: str) -> str:
        """One of the registers of a type."""
        return f"%{_LETTER[kind]}{self.rng.randrange(_POOL[kind])}"

    def value(self, operand: patterns.Operand, plain: bool) -> str:
        kind = patterns.REGISTER[operand.type]
        if not plain and not operand.register and self.rng.random() < 0.12 and (text := self.constant(operand.type)):
            return text
        return self.any(kind)

    def label(self) -> str:
        """A fresh label."""
        self.labels += 1
        return f"L{self.labels}"

    def operation(self) -> None:
        """One line of the pool of lines; results overwrite registers."""
        line = self.rng.choice(self.lines)
        text = line.text
        used: set[str] = set()
        for number, operand in enumerate(line.operands):
            if operand.role == "@":
                part = self.address(operand.type)
            else:
                kind = patterns.REGISTER[operand.type]
                parts = []
                for _ in range(operand.count):
                    one = self.any(kind) if operand.role else self.value(operand, operand.vector)
                    while operand.role and one in used:  # two results of one instruction are two registers
                        one = self.any(kind)
                    if operand.role:
                        used.add(one)
                    parts.append(one)
                part = "{" + ", ".join(parts) + "}" if operand.vector else parts[0]
            text = text.replace(f"\0{number}\0", part)
        self.add(text)

    def block(self, size: int, depth: int) -> None:
        """About ``size`` statements."""
        while size > 0:
            roll = self.rng.random()
            if depth < 3 and size >= 8 and roll < 0.12:
                part = self.rng.randint(3, size // 2)
                self.rng.choice((self.branch, self.branch, self.loop, self.switch))(part, depth)
                size -= part
            elif roll < 0.14:
                self.call()
                size -= 2
            elif roll < 0.15 and depth == 0:
                self.add(
                    self.rng.choice(
                        ("bar.sync 0;", "bar.warp.sync -1;", f"@{self.any('pred')} ret;", f"@!{self.any('pred')} exit;")
                    )
                )
            else:
                self.operation()
                size -= 1

    def branch(self, size: int, depth: int) -> None:
        """An if, with or without an else."""
        other, end = self.label(), self.label()
        sign = self.rng.choice(("", "!"))
        self.add(f"@{sign}{self.any('pred')} bra {other};")
        self.block(size // 2, depth + 1)
        if self.rng.random() < 0.6:
            self.add(f"bra {end};")
            self.add(f"{other}:")
            self.block(size - size // 2, depth + 1)
        else:
            self.add(f"{other}:")
        self.add(f"{end}:")

    def loop(self, size: int, depth: int) -> None:
        """A loop that runs as often as a parameter, a constant or a value of the thread says."""
        top, out = self.label(), self.label()
        number = self.temporary = self.temporary + 1
        bound = self.rng.choice((f"%n{number}", f"%n{number}", str(self.rng.randint(2, 40))))
        self.add(f"mov.b32 %i{number}, 0;")
        self.add(
            self.rng.choice(
                (f"ld.param.b32 %n{number}, [p_r1];", f"and.b32 %n{number}, %r0, 15;", f"ld.param.b32 %n{number}, [p_r2];")
            )
        )
        self.add('.pragma "nounroll";')
        self.add(f"{top}:")
        self.block(size, depth + 1)
        if self.rng.random() < 0.3:
            self.add(f"@{self.any('pred')} bra {out};")
        self.add(f"add.s32 %i{number}, %i{number}, 1;")
        self.add(f"setp.lt.s32 %q{number}, %i{number}, {bound};")
        self.add(f"@%q{number} bra {top};")
        self.add(f"{out}:")

    def switch(self, size: int, depth: int) -> None:
        """A jump by a table."""
        count = self.rng.randint(3, 6)
        names = [self.label() for _ in range(count)]
        table, end = self.label(), self.label()
        number = self.temporary = self.temporary + 1
        self.add(f"and.b32 %i{number}, {self.any('b32')}, {3 if count < 5 else 4};")
        self.add(f"min.u32 %i{number}, %i{number}, {count - 1};")
        self.add(f"{table}: .branchtargets {', '.join(names)};")
        self.add(f"brx.idx %i{number}, {table};")
        for name in names:
            self.add(f"{name}:")
            self.block(max(2, size // count), depth + 1)
            if self.rng.random() < 0.8:
                self.add(f"bra {end};")
        self.add(f"{end}:")

    def call(self) -> None:
        """A call of one of the helpers."""
        name = self.rng.choice(_HELPERS)
        result, first, second = {"mix": ("b32", "b32", "b32"), "scale": ("f32", "f32", "f64"), "walk": ("b64", "b64", "b32")}[
            name
        ]
        self.add(
            f"{{ .param .{first} a; .param .{second} b; .param .{result} z; st.param.{first} [a], {self.any(first)};"
            f" st.param.{second} [b], {self.any(second)}; call (z), {name}, (a, b); ld.param.{result} {self.any(result)}, [z]; }}"
        )

    def build(self, size: int) -> None:
        """All of the body."""
        for kind, count in _POOL.items():
            for number in range(count):
                register = f"%{_LETTER[kind]}{number}"
                if kind == "pred":
                    self.add(f"setp.gt.s32 {register}, %r{number}, {number * 7 + 3};")
                elif self.rng.random() < 0.3:
                    source = {"b32": "p_r2", "b64": "p_d1", "f32": "p_f1", "f64": "p_g1", "b16": "p_h0"}[kind]
                    self.add(f"ld.param.{kind} {register}, [{source}];")
                else:
                    self.offset += 16
                    self.add(f"ld.global.{kind} {register}, [%ga+{self.offset}];")
        self.block(size, 0)
        for kind, count in _POOL.items():
            for number in range(count):
                register = f"%{_LETTER[kind]}{number}"
                if kind == "pred":
                    self.add(f"selp.b32 %r0, %r1, %r2, {register};")
                    register, kind = "%r0", "b32"
                self.offset += 16
                self.add(f"st.global.{kind} [%gb+{self.offset}], {register};")

    def text(self) -> list[str]:
        self.counts = {}
        lines = super().text()
        extra = " ".join(f".reg .{kind} %{_LETTER[kind]}<{count}>;" for kind, count in _POOL.items())
        extra += f" .reg .b32 %i<{self.temporary + 1}>, %n<{self.temporary + 1}>; .reg .pred %q<{self.temporary + 1}>;"
        return [*lines[:3], extra, *lines[3:]]


def kernels(level: int) -> list[RandomKernel]:
    """The random kernels whose lines need no newer SM than ``level``."""
    sections = [s for s in patterns.sections() if s.random and s.sm <= level]
    newest = [s for s in sections if level > 75 and s.sm >= level - 10]
    result = []
    for number in range(LEVELS[level]):
        name = f"random_{level}_{number}"
        rng = random.Random(f"{name} lines")
        chosen = rng.sample(sections, rng.randint(2, 5)) + newest
        lines = [line for section in chosen for line in rng.sample(section.lines, min(len(section.lines), 12))]
        kernel = RandomKernel(name, lines)
        kernel.directives = rng.choice(("", "", "", ".maxnreg 32", ".maxnreg 40", ".maxntid 256"))
        kernel.build(rng.choice((20, 40, 60, 100)))
        result.append(kernel)
    return result


__all__ = ["HEAD", "LEVELS", "PARAMETERS", "PER_MODULE", "RandomKernel", "kernels"]
