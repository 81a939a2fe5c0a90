"""PTX kernels made of the lines of the ``.ops`` files: every line in straight code, and random code with branches and loops.

Every statement is one line of the text, so that a line that ptxas refuses can be left out alone. The same names give the same
text on every machine: the random numbers start from the names.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from . import patterns

PER_KERNEL = 8  # statements that share a kernel
SHARED_BYTES = 8192
_PREFIX = {"b16": "h", "b32": "r", "b64": "d", "f32": "f", "f64": "g", "pred": "p", "b128": "q"}
_BYTES = {"b16": 2, "b32": 4, "b64": 8, "f32": 4, "f64": 8, "b128": 16}
_MOVE = {"b16": "mov.b16", "b32": "mov.b32", "b64": "mov.b64", "f32": "mov.f32", "f64": "mov.f64", "b128": "mov.b128"}
_FLOATS = ("0f3F800000", "0f40490FDB", "0fBF000000", "0f00000000", "0f7F800000", "0f42F60000")
_DOUBLES = ("0d3FF0000000000000", "0d400921FB54442D18", "0dC000000000000000", "0d0000000000000000")
_INTEGERS = (0, 1, 2, 3, 7, 8, 31, 32, 100, 255, 4096, 12345, 65535, -1, -2, -77)
_WIDE_INTEGERS = (*_INTEGERS, 0x12345678, 0x7FFFFFFF, -0x80000000, 1 << 20)
PARAMETERS = ".param .u64 p_out, .param .u64 p_in, " + ", ".join(
    [f".param .b32 p_r{i}" for i in range(4)] + [f".param .b64 p_d{i}" for i in range(3)]
    + [f".param .f32 p_f{i}" for i in range(3)] + [f".param .f64 p_g{i}" for i in range(2)] + [".param .b16 p_h0"]
)  # fmt: skip
_UNIFORM = {
    "b32": [f"p_r{i}" for i in range(4)], "b64": [f"p_d{i}" for i in range(3)], "f32": [f"p_f{i}" for i in range(3)],
    "f64": ["p_g0", "p_g1"], "b16": ["p_h0"],
}  # fmt: skip


@dataclass
class Kernel:
    """A kernel under construction. ``body`` has one statement a line; ``extra`` functions that it calls."""

    name: str
    rng: random.Random
    body: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    pool: dict[str, list[str]] = field(default_factory=dict)
    offset: int = 0
    uniform: bool = False
    directives: str = ""

    def new(self, kind: str) -> str:
        """A fresh register of a register type."""
        number = self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"%{_PREFIX[kind]}{number}"

    def add(self, text: str) -> None:
        """One line."""
        self.body.append(text)

    def load(self, kind: str) -> str:
        """A value that no two threads need share, from memory; in uniform kernels from the parameters."""
        if kind == "pred":
            predicate = self.new("pred")
            self.add(f"setp.gt.s32 {predicate}, {self.load('b32')}, {self.rng.randint(0, 50)};")
            return predicate
        register = self.new(kind)
        if self.uniform and kind in _UNIFORM:
            self.add(f"ld.param.{kind} {register}, [{self.rng.choice(_UNIFORM[kind])}];")
            return register
        self.offset += 16
        self.add(f"ld.global.{kind} {register}, [%ga+{self.offset}];")
        return register

    def store(self, register: str, kind: str) -> None:
        """Use a result."""
        if kind == "pred":
            word = self.new("b32")
            self.add(f"selp.b32 {word}, {self.rng.randint(1, 9)}, {self.rng.randint(10, 99)}, {register};")
            register, kind = word, "b32"
        if kind == "b32" and self.rng.random() < 0.5:
            self.add(f"xor.b32 %acc, %acc, {register};")
            return
        self.offset += 16
        self.add(f"st.global.{kind} [%gb+{self.offset}], {register};")

    def value(self, operand: patterns.Operand, plain: bool) -> str:
        """A value for an operand: when ``plain`` a register loaded or computed, else also a parameter or a constant."""
        kind = patterns.REGISTER[operand.type]
        roll = self.rng.random()
        if not plain and not operand.register:
            if roll < 0.25 and kind in _UNIFORM:
                register = self.new(kind)
                self.add(f"ld.param.{kind} {register}, [{self.rng.choice(_UNIFORM[kind])}];")
                return register
            if roll < 0.5 and (text := self.constant(operand.type)):
                return text
        known = self.pool.setdefault(kind, [])
        if len(known) < 2 or self.rng.random() < 0.3:
            known.append(self.load(kind))
        return self.rng.choice(known[-6:])

    def constant(self, kind: str) -> str | None:
        """A literal of a type; None for the types that have none."""
        if kind in ("f32", "f64"):
            return self.rng.choice(_FLOATS if kind == "f32" else _DOUBLES)
        if kind[0] in "bus" and kind[1:].isdigit() and kind != "b128":
            number = self.rng.choice(_INTEGERS if kind[1:] in ("8", "16") else _WIDE_INTEGERS)
            return str(abs(number) if kind[0] == "u" else number)
        return None

    def address(self, space: str) -> str:
        """An address with an offset that keeps 16-byte alignment."""
        rng = self.rng
        offset = rng.choice(("", "+16", "+64", "+1024", "+4080"))
        if space == "map":
            return rng.choice(("%in", "%out"))
        if space == "shared":
            return rng.choice(("smem", "%sa")) + offset
        if space == "const":
            return rng.choice(("%ca", "ctab")) + rng.choice(("", "+16", "+128"))
        bases = {"global": ("%ga", "%gb", "%in"), "generic": ("%ga", "%in"), "local": ("%la",), "cluster": ("%xa",)}
        return rng.choice(bases[space]) + (offset if space != "local" else rng.choice(("", "+16", "+32")))

    def statement(self, line: patterns.Line, plain: bool) -> None:
        """A line with operands of this kernel; its results are used."""
        texts, results = [], []
        for operand in line.operands:
            if operand.role == "@":
                texts.append(self.address(operand.type))
                continue
            kind = patterns.REGISTER[operand.type]
            parts = []
            for _ in range(operand.count):
                if operand.role:
                    parts.append(self.new(kind))
                    results.append((parts[-1], kind))
                    if operand.role == "+":
                        self.add(f"{_MOVE[kind]} {parts[-1]}, {self.value(operand, True)};")
                else:
                    parts.append(self.value(operand, plain or operand.vector))
            texts.append("{" + ", ".join(parts) + "}" if operand.vector else parts[0])
        text = line.text
        for number, part in enumerate(texts):
            text = text.replace(f"\0{number}\0", part)
        self.add(text)
        for register, kind in results:
            if kind != "b128" and len(results) <= 4:
                self.pool.setdefault(kind, []).append(register)
            self.store(register, kind)

    def text(self) -> list[str]:
        """The lines of the kernel."""
        registers = " ".join(f".reg .{kind} %{_PREFIX[kind]}<{n + 1}>;" for kind, n in self.counts.items())
        return [
            f".visible .entry {self.name}({PARAMETERS}) {self.directives}",
            "{",
            ".local .align 16 .b8 lmem[64];",
            f".reg .b64 %in, %out, %ga, %gb, %ca, %la; .reg .b32 %acc, %tx, %sa, %xa; {registers}",
            "ld.param.u64 %in, [p_in]; ld.param.u64 %out, [p_out]; cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;",
            "mov.u32 %tx, %tid.x; mad.wide.u32 %ga, %tx, 256, %in; mad.wide.u32 %gb, %tx, 128, %out;",
            "mov.u32 %sa, smem; mad.lo.u32 %sa, %tx, 16, %sa; mov.b32 %acc, 0; mov.u64 %la, lmem;",
            "and.b32 %xa, %tx, 15; mul.wide.u32 %ca, %xa, 16; { .reg .b64 t; mov.u64 t, ctab; add.u64 %ca, %ca, t; }",
            "mad.lo.u32 %xa, %tx, 16, %sa;",
            *self.body,
            "st.global.b32 [%gb], %acc;",
            "ret;",
            "}",
        ]


HEAD = [
    f".shared .align 128 .b8 smem[{SHARED_BYTES}];",
    ".const .align 16 .b8 ctab[1024];",
]


def straight(section: patterns.Section) -> list[Kernel]:
    """Kernels with every line of a section ``turns`` times: first with values in registers alone, then with all kinds."""
    kernels = []
    uniform = section.name == "uniform"
    name = section.name.replace(" ", "_")
    for turn in range(section.turns):
        lines = list(section.lines)
        if turn:
            random.Random(f"{name} {turn}").shuffle(lines)
        for start in range(0, len(lines), PER_KERNEL):
            title = f"{name}_{turn}_{start // PER_KERNEL}"
            kernel = Kernel(title, random.Random(title), uniform=uniform)
            for line in lines[start : start + PER_KERNEL]:
                kernel.statement(line, plain=turn == 0 or uniform)
            kernels.append(kernel)
    return kernels
