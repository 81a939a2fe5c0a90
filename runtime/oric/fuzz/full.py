"""The random kernels of the command: all of :class:`oric.fuzz.wide.WideProgram`, the instructions of :mod:`oric.fuzz.extended`,
and statements for the ways of a program: carries, two results, shared memory by all addresses and widths, constants, parameters,
jump tables, calls, barriers in loops and of one warp, and lanes of one instruction that have different masks.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Generator, Iterator
from typing import Any, Final

from .extended import by_result
from .meaning import COMBINE, COMPARE, TYPE, WIDTH, Op, signed
from .programs import POOL, TABLE, THREADS, Buffer, Statement
from .wide import ATOMS, MASKS, WideProgram

CELL: Final = 64  # bytes of shared memory that a thread has
CONSTANTS: Final = 64  # words of constant memory
FUNCTIONS: Final = 2
SELECTED: Final = 32  # numbers that a statement of many ways chooses by
_LANES: Final = 32
_WORD: Final = 0xFFFFFFFF
_SIZES: Final = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16, "v2.u64": 16}
_LETTERS: Final = {
    "u8": "B",
    "s8": "b",
    "u16": "H",
    "s16": "h",
    "u32": "I",
    "u64": "Q",
    "v2.u32": "2I",
    "v4.u32": "4I",
    "v2.u64": "2Q",
}


class FullProgram(WideProgram):
    """A random kernel for targets from a number on. The same arguments give the same program."""

    def __init__(self, seed: int, size: int = 40, target: int = 75) -> None:
        self.ops = by_result(target)
        rng = random.Random(seed ^ 0xC0FFEE)
        self.constants = [rng.getrandbits(32) for _ in range(CONSTANTS)]
        self.parameters = {"u": rng.getrandbits(32) >> rng.choice((0, 0, 24)), "w": rng.getrandbits(64)}
        self.functions: list[list[Statement]] = []
        WideProgram.__init__(self, seed, size, reduces=target >= 80)
        self.functions = [[self.arithmetic() for _ in range(self.rng.randrange(1, 8))] for _ in range(FUNCTIONS)]

    # -- making ---------------------------------------------------------------------------------------------------

    def choice(self, c: str) -> Op:
        return self.rng.choice(self.ops[c])

    def registers_of(self, c: str, n: int) -> list[str]:
        """Different registers of a class."""
        return [f"{c}{k}" for k in self.rng.sample(range(POOL[c]), n)]

    def statement(self, depth: int) -> Statement:
        """One statement that a thread can execute alone."""
        kind = self.rng.random()
        if kind < 0.06:
            what = self.rng.choice(list(_SIZES))
            n = int(what[1]) if what[0] == "v" else 1
            results = self.registers_of("d" if "64" in what else "r", n)
            return ("cell", self.rng.random() < 0.5, self.rng.random() < 0.3, what, results, self.register("r"))
        if kind < 0.09:
            what = self.rng.choice(list(ATOMS))
            c = "d" if what.endswith("64") else "r"
            return ("cell_atomic", self.rng.random() < 0.3, what, *(self.register(c) for _ in range(3)), self.register("r"))
        if kind < 0.11:
            c = self.rng.choice("rd")
            return ("constant", self.register(c), self.register("r"))
        if kind < 0.13:
            c = self.rng.choice("rd")
            return ("parameter", self.register(c))
        if kind < 0.15:
            return ("uniform_load", self.register("r"), self.rng.randrange(TABLE))
        if kind < 0.19:
            n = self.rng.randrange(2, 5)
            how = self.rng.choice(["add.u32", "sub.u32", "mad.u32", "add.u64", "sub.u64"])
            c = "d" if "64" in how else "r"
            return ("carry", how, [self.register(c) for _ in range(n)], [[self.register(c) for _ in range(3)] for _ in range(n)])
        if kind < 0.22:
            c = self.rng.choice("hrd")
            join = self.rng.choice(["", *COMBINE])
            test = self.rng.choice(list(COMPARE))
            signs = self.rng.choice("su")
            return ("pair", test, signs, join, self.registers_of("p", 2), self.register(c), self.register(c), self.register("p"))
        if depth and kind < 0.24:
            blocks = [self.block(depth - 1) for _ in range(self.rng.randrange(3, 6))]
            return ("switch", self.register("r"), self.cases(len(blocks)), *blocks)
        if kind < 0.26:
            function = self.rng.randrange(FUNCTIONS)
            return ("call", function, self.register("d"), [self.register(c) for c in "rrdf"])
        if kind < 0.28:
            c = self.rng.choice("hrd")
            guard = (self.register("p"), self.rng.random() < 0.5)
            return ("guarded_store", guard, c, self.register(c), self.rng.randrange(8))
        return WideProgram.statement(self, depth)

    def cases(self, blocks: int) -> tuple[str, int, int, tuple[int, ...]]:
        """How a statement of many ways finds its block: kind, first number, step, and the block of each number from there on.

        ``table``: a jump by table of all numbers that there are; ``checked``: behind a test of the range; ``chain``: comparisons.
        The last block is that of all other numbers.
        """
        kind = self.rng.choice(["table", "checked", "chain", "chain"])
        count = self.rng.choice((4, 8, 16)) if kind == "table" else self.rng.randrange(2, 14)
        step = self.rng.choice((1, 1, 1, 2, 3)) if kind == "chain" else 1
        first = self.rng.choice((0, 0, self.rng.randrange(16), -3)) if kind != "table" else 0
        return kind, first, step, tuple(self.rng.randrange(blocks) for _ in range(count))

    def collective(self) -> Statement:
        """A statement that all threads of a block reach together."""
        kind = self.rng.random()
        if kind < 0.12:
            return ("uniform_loop", self.rng.randrange(TABLE), self.uniform_block())
        if kind < 0.20:
            other = self.uniform_block() if self.rng.random() < 0.5 else []
            return ("uniform_if", self.rng.randrange(TABLE), self.rng.randrange(32), self.uniform_block(), other)
        if kind < 0.24:
            return ("warp_barrier", self.rng.randrange(2))
        if kind < 0.30:
            return ("handover", self.register("r"), self.register("r"), self.rng.randrange(2))
        if kind < 0.38:
            return ("split", self.register("p"), self.masked_block(MASKS - 1))
        if kind < 0.46:
            return ("masked_loop", self.register("r"), self.masked_block(MASKS - 1))
        return WideProgram.collective(self)

    def uniform_block(self) -> list[Statement]:
        """Statements that all threads of a block reach together, those of one thread among them."""
        simple = (self.statement, WideProgram.collective)
        return [simple[0](1) if self.rng.random() < 0.6 else simple[1](self) for _ in range(self.rng.randrange(1, 5))]

    def masked_statement(self, depth: int) -> Statement:
        kind = self.rng.random()
        if depth and kind < 0.07:
            return ("split", self.register("p"), self.masked_block(depth - 1))
        if depth and kind < 0.14:
            return ("masked_loop", self.register("r"), self.masked_block(depth - 1))
        if kind < 0.20:
            c = self.rng.choice("rd")
            return ("some_match_all", self.register("r"), self.register("p"), c, self.register(c))
        if kind < 0.25:
            return ("some_last", self.register("r"), self.register("r"))
        if kind < 0.32:
            return ("some_butterfly", self.register("r"), self.register("r"), self.rng.randrange(32))
        return WideProgram.masked_statement(self, depth)

    # -- PTX ------------------------------------------------------------------------------------------------------

    def text(self, target: str) -> str:
        """The kernel and its functions as PTX."""
        text = WideProgram.text(self, target)
        words = ", ".join(map(str, self.constants))
        head = [f".const .align 8 .u32 constants[{CONSTANTS}] = {{{words}}};"]
        for k, body in enumerate(self.functions):
            head += self._function(k, body)
        text = text.replace(".visible .entry", "\n".join(head) + "\n.visible .entry", 1)
        return text.replace("\t.param .u64 p_atoms\n", "\t.param .u64 p_atoms,\n\t.param .u32 p_u,\n\t.param .u64 p_w\n", 1)

    def plain_text(self, target: str) -> str:
        """The kernel and its functions for ptxas, which means the same."""
        return self.text(target)

    def _function(self, k: int, body: list[Statement]) -> Iterator[str]:
        yield f".func (.reg .b64 x0) function{k}(.reg .b32 y0, .reg .b32 y1, .reg .b64 y2, .reg .f32 y3)\n{{"
        yield from (f"\t.reg {TYPE[c]} %{c}<{n}>;" for c, n in POOL.items())
        yield "\t.reg .b32 %t<10>;\n\t.reg .b64 %a<10>;"
        for c, n in POOL.items():
            for m in range(n):
                if c == "p":
                    yield f"\tsetp.ne.u32 %p{m}, 0, 0;"
                else:
                    zero = {"f": "0f00000000", "g": "0d0000000000000000"}.get(c, "0")
                    yield f"\tmov.{'u' + str(WIDTH[c]) if c in WIDTH else TYPE[c][1:]} %{c}{m}, {zero};"
        yield "\tmov.b32 %r0, y0;\n\tmov.b32 %r1, y1;\n\tmov.b64 %d0, y2;\n\tmov.f32 %f0, y3;"
        for statement in body:
            yield from ("\t" + line for line in self.emit(statement, 0))
        yield "\tadd.u64 x0, %d1, %d2;\n\tret;\n}"

    def more_declarations(self) -> list[str]:
        return [
            *WideProgram.more_declarations(self),
            "\t.reg .b32 %k<10>;",
            "\t.reg .pred %x<2>;",
            f"\t.shared .align 16 .b8 cells[{CELL * THREADS}];",
        ]

    def prologue(self) -> Iterator[str]:
        yield "\tmov.u32 %t4, cells;"
        yield f"\tmad.lo.u32 %t4, %t0, {CELL}, %t4;"
        yield "\tmov.u64 %w0, 0;"
        yield from (f"\tst.shared.v2.u64 [%t4+{k}], {{%w0, %w0}};" for k in range(0, CELL, 16))
        yield from WideProgram.prologue(self)

    def emit_cell(self, stores: bool, generic: bool, what: str, registers: list[str], index: str, depth: int) -> Iterator[str]:
        address = yield from self._cell(generic, index, _SIZES[what])
        list_ = ", ".join("%" + r for r in registers)
        list_ = f"{{{list_}}}" if what[0] == "v" else list_
        space = "" if generic else ".shared"
        yield f"st{space}.{what} [{address}], {list_};" if stores else f"ld{space}.{what} {list_}, [{address}];"

    @staticmethod
    def _cell(generic: bool, index: str, size: int) -> Generator[str, None, str]:
        """The address of one of the places in the thread's cell; gives the register."""
        yield f"and.b32 %v0, %{index}, {CELL // size - 1};"
        yield f"mad.lo.u32 %v0, %v0, {size}, %t4;"
        if not generic:
            return "%v0"
        yield "cvt.u64.u32 %w0, %v0;"
        yield "cvta.shared.u64 %w0, %w0;"
        return "%w0"

    def emit_cell_atomic(self, generic: bool, what: str, result: str, a: str, b: str, index: str, depth: int) -> Iterator[str]:
        address = yield from self._cell(generic, index, 8 if what.endswith("64") else 4)
        second = f", %{b}" if what.startswith("cas") else ""
        yield f"atom{'' if generic else '.shared'}.{what} %{result}, [{address}], %{a}{second};"

    def emit_constant(self, result: str, index: str, depth: int) -> Iterator[str]:
        size = WIDTH[result[0]] // 8
        yield f"and.b32 %v0, %{index}, {4 * CONSTANTS // size - 1};"
        yield "mov.u64 %w0, constants;"
        yield f"mad.wide.u32 %w0, %v0, {size}, %w0;"
        yield f"ld.const.u{8 * size} %{result}, [%w0];"

    def emit_parameter(self, result: str, depth: int) -> Iterator[str]:
        yield f"ld.param.u{WIDTH[result[0]]} %{result}, [{'p_u' if result[0] == 'r' else 'p_w'}];"

    def emit_uniform_load(self, result: str, place: int, depth: int) -> Iterator[str]:
        yield f"ld.global.u32 %{result}, [%a0+{4 * place}];"

    def emit_carry(self, how: str, results: list[str], sources: list[list[str]], depth: int) -> Iterator[str]:
        name, kind = how.split(".")
        last = len(results) - 1
        for k, (result, (a, b, c)) in enumerate(zip(results, sources, strict=True)):
            carries = ("c" if k else "") + (f".{'lo' if k % 2 == 0 else 'hi'}" if name == "mad" else "")
            third = f", %{c}" if name == "mad" else ""
            yield f"{name}{carries}{'.cc' if k < last else ''}.{kind} %{result}, %{a}, %{b}{third};"

    def emit_pair(self, test: str, sign: str, join: str, results: list[str], a: str, b: str, p: str, depth: int) -> Iterator[str]:
        how, third = (f".{join}", f", %{p}") if join else ("", "")
        yield f"setp.{test}{how}.{sign}{WIDTH[a[0]]} %{results[0]}|%{results[1]}, %{a}, %{b}{third};"

    def emit_switch(self, selector: str, cases: tuple[str, int, int, tuple[int, ...]], *blocks_and_depth: Any) -> Iterator[str]:
        *blocks, depth = blocks_and_depth
        kind, first, step, to = cases
        end, labels = self.label(), [self.label() for _ in blocks]
        yield f"and.b32 %v0, %{selector}, {len(to) - 1 if kind == 'table' else SELECTED - 1};"
        if kind == "chain":
            for k, block in enumerate(to):
                yield f"setp.eq.s32 %q0, %v0, {first + step * k}; @%q0 bra {labels[block]};"
            yield f"bra {labels[-1]};"
        else:
            table = self.label()
            if kind == "checked":
                yield f"sub.u32 %v0, %v0, {first}; setp.gt.u32 %q0, %v0, {len(to) - 1}; @%q0 bra {labels[-1]};"
            yield f"{table}: .branchtargets {', '.join(labels[block] for block in to)};"
            yield f"brx.idx %v0, {table};"
        for label, statements in zip(labels, blocks, strict=True):
            yield f"{label}:"
            for statement in statements:
                yield from self.emit(statement, depth)
            yield f"bra {end};"
        yield f"{end}:"

    def emit_call(self, k: int, result: str, arguments: list[str], depth: int) -> Iterator[str]:
        yield f"call (%{result}), function{k}, ({', '.join('%' + a for a in arguments)});"

    def emit_guarded_store(self, guard: tuple[str, bool], c: str, source: str, slot: int, depth: int) -> Iterator[str]:
        for line in self.emit_store(c, source, slot, depth):
            yield f"@{'!' if guard[1] else ''}%{guard[0]} {line}"

    def emit_uniform_loop(self, place: int, body: list[Statement], depth: int) -> Iterator[str]:
        top = self.label()
        yield f"ld.global.u32 %k8, [%a0+{4 * place}];"
        yield "and.b32 %k8, %k8, 3;"
        yield "mov.u32 %k9, 0;"
        yield f"{top}:"
        for statement in body:
            yield from self.emit(statement, depth)
        yield "add.u32 %k9, %k9, 1;"
        yield "setp.le.u32 %x0, %k9, %k8;"
        yield f"@%x0 bra {top};"

    def emit_uniform_if(self, place: int, bit: int, then: list[Statement], other: list[Statement], depth: int) -> Iterator[str]:
        skip, end = self.label(), self.label()
        yield f"ld.global.u32 %v0, [%a0+{4 * place}];"
        yield f"and.b32 %v0, %v0, {1 << bit};"
        yield "setp.eq.u32 %x0, %v0, 0;"
        yield f"@%x0 bra.uni {skip};"
        for statement in then:
            yield from self.emit(statement, depth)
        yield f"bra.uni {end};"
        yield f"{skip}:"
        for statement in other:
            yield from self.emit(statement, depth)
        yield f"{end}:"

    def emit_warp_barrier(self, warp: int, depth: int) -> Iterator[str]:
        yield "shr.u32 %v0, %t0, 5;"
        yield f"setp.eq.u32 %x0, %v0, {warp};"
        yield "@%x0 bar.sync 3, 32;"

    def emit_handover(self, result: str, source: str, warp: int, depth: int) -> Iterator[str]:
        takes, end = self.label(), self.label()
        yield "shr.u32 %v0, %t0, 5;"
        yield f"setp.ne.u32 %x0, %v0, {warp};"
        yield f"@%x0 bra {takes};"
        yield f"st.shared.u32 [%t2], %{source};"
        yield f"bar.arrive 4, {THREADS};"
        yield f"bra {end};"
        yield f"{takes}:"
        yield f"bar.sync 4, {THREADS};"
        yield f"xor.b32 %v0, %t0, {_LANES};"
        yield "mad.lo.u32 %v0, %v0, 4, %t1;"
        yield f"ld.shared.u32 %{result}, [%v0];"
        yield f"{end}:"
        yield "bar.sync 0;"

    def emit_split(self, p: str, body: list[Statement], depth: int) -> Iterator[str]:
        outer = self.mask_name()
        self.mask += 1
        yield f"vote.sync.ballot.b32 %m{self.mask}, %{p}, {outer};"
        yield f"not.b32 %v0, %m{self.mask};"
        yield f"and.b32 %v0, %v0, {outer};"
        yield f"selp.b32 %m{self.mask}, %m{self.mask}, %v0, %{p};"
        for statement in body:
            yield from self.emit(statement, depth)
        self.mask -= 1
        yield f"bar.warp.sync {outer};"

    def emit_masked_loop(self, bound: str, body: list[Statement], depth: int) -> Iterator[str]:
        top, end, outer = self.label(), self.label(), self.mask_name()
        self.mask += 1
        count, most = f"%k{2 * self.mask - 2}", f"%k{2 * self.mask - 1}"
        yield f"and.b32 {most}, %{bound}, 3;"
        yield f"mov.u32 {count}, 0;"
        yield f"mov.b32 %m{self.mask}, {outer};"
        yield f"{top}:"
        yield f"setp.lt.u32 %x0, {count}, {most};"
        yield f"vote.sync.ballot.b32 %m{self.mask}, %x0, %m{self.mask};"
        yield f"@!%x0 bra {end};"
        for statement in body:
            yield from self.emit(statement, depth)
        yield f"add.u32 {count}, {count}, 1;"
        yield f"bra {top};"
        yield f"{end}:"
        self.mask -= 1
        yield f"bar.warp.sync {outer};"

    def mask_name(self) -> str:
        return f"%m{self.mask}" if self.mask else "0xffffffff"

    def emit_some_match_all(self, result: str, p: str, c: str, source: str, depth: int) -> Iterator[str]:
        yield f"match.all.sync.b{WIDTH[c]} %{result}|%{p}, %{source}, %m{self.mask};"

    def emit_some_last(self, result: str, source: str, depth: int) -> Iterator[str]:
        yield f"bfind.u32 %v2, %m{self.mask};"
        yield f"shfl.sync.idx.b32 %{result}, %{source}, %v2, 31, %m{self.mask};"

    def emit_some_butterfly(self, result: str, source: str, by: int, depth: int) -> Iterator[str]:
        yield f"shfl.sync.bfly.b32 %v2, %{source}, {by}, 31, %m{self.mask};"
        yield f"xor.b32 %v3, %t0, {by};"
        yield f"shf.r.wrap.b32 %v3, %m{self.mask}, 0, %v3;"
        yield "and.b32 %v3, %v3, 1;"
        yield "setp.ne.u32 %x1, %v3, 0;"
        yield f"selp.b32 %{result}, %v2, %{source}, %x1;"

    # -- meaning --------------------------------------------------------------------------------------------------

    def run(self, data: Buffer) -> tuple[Buffer, Buffer]:
        """What the kernel computes, as :meth:`oric.fuzz.programs.Program.run` gives it."""
        self.cells = [bytearray(CELL) for _ in range(THREADS)]
        out, atoms = WideProgram.run(self, data)
        return out, atoms

    def do_cell(self, v: dict[str, Any], t: int, stores: bool, generic: bool, what: str, names: list[str], index: str) -> None:
        size, letters = _SIZES[what], "<" + _LETTERS[what]
        at = v[index] % (CELL // size) * size
        if stores:
            masks = (1 << 8 * size // len(names)) - 1
            self.cells[t][at : at + size] = struct.pack(letters.upper(), *(v[name] & masks for name in names))
            return
        for name, value in zip(names, struct.unpack_from(letters, self.cells[t], at), strict=True):
            v[name] = value & (1 << WIDTH[name[0]]) - 1

    def do_cell_atomic(
        self, v: dict[str, Any], t: int, generic: bool, what: str, result: str, a: str, b: str, index: str
    ) -> None:
        size = 8 if what.endswith("64") else 4
        at = v[index] % (CELL // size) * size
        old = int.from_bytes(self.cells[t][at : at + size], "little")
        self.cells[t][at : at + size] = ATOMS[what](old, v[a], v[b]).to_bytes(size, "little")
        v[result] = old

    def do_constant(self, v: dict[str, Any], t: int, result: str, index: str) -> None:
        wide = result[0] == "d"
        at = v[index] % (CONSTANTS // (1 + wide)) * (1 + wide)
        v[result] = self.constants[at] | (self.constants[at + 1] << 32 if wide else 0)

    def do_parameter(self, v: dict[str, Any], t: int, result: str) -> None:
        v[result] = self.parameters["u" if result[0] == "r" else "w"]

    def do_uniform_load(self, v: dict[str, Any], t: int, result: str, place: int) -> None:
        v[result] = self.word(place)

    def word(self, place: int) -> int:
        """A word of the table."""
        return int.from_bytes(self.table[4 * place : 4 * place + 4], "little")

    @staticmethod
    def do_carry(v: dict[str, Any], t: int, how: str, results: list[str], sources: list[list[str]]) -> None:
        name, kind = how.split(".")
        bits, carry = int(kind[1:]), 0
        for k, (result, (a, b, c)) in enumerate(zip(results, sources, strict=True)):
            if name == "mad":
                product = v[a] * v[b]
                value = (product >> bits if k % 2 else product & _WORD) + v[c] + carry
            else:
                value = v[a] + v[b] + carry if name == "add" else v[a] - v[b] - carry
            carry = int(value >> bits != 0)
            v[result] = value & (1 << bits) - 1

    @staticmethod
    def do_pair(v: dict[str, Any], t: int, test: str, sign: str, join: str, to: list[str], a: str, b: str, p: str) -> None:
        x, y = (signed(v[r], WIDTH[r[0]]) if sign == "s" else v[r] for r in (a, b))
        holds = COMPARE[test](x, y)
        both = [holds, not holds]
        if join:
            both = [COMBINE[join](value, bool(v[p])) for value in both]
        for result, value in zip(to, both, strict=True):
            v[result] = int(value)

    def do_switch(
        self, v: dict[str, Any], t: int, selector: str, cases: tuple[str, int, int, tuple[int, ...]], *blocks: list[Statement]
    ) -> None:
        kind, first, step, to = cases
        number = v[selector] % (len(to) if kind == "table" else SELECTED) - first
        found = number % step == 0 and 0 <= number // step < len(to)
        for statement in blocks[to[number // step] if found else -1]:
            self.step(statement, v, t)

    def do_call(self, v: dict[str, Any], t: int, k: int, result: str, arguments: list[str]) -> None:
        inner: dict[str, Any] = {f"{c}{m}": 0.0 if c in "fg" else 0 for c, n in POOL.items() for m in range(n)}
        inner.update(zip(("r0", "r1", "d0", "f0"), (v[a] for a in arguments), strict=True))
        for statement in self.functions[k]:
            self.step(statement, inner, t)
        v[result] = inner["d1"] + inner["d2"] & (1 << 64) - 1

    def do_guarded_store(self, v: dict[str, Any], t: int, guard: tuple[str, bool], c: str, source: str, slot: int) -> None:
        if bool(v[guard[0]]) != guard[1]:
            self.do_store(v, t, c, source, slot)

    def together_uniform_loop(self, threads: list[dict[str, Any]], place: int, body: list[Statement]) -> None:
        for _ in range((self.word(place) & 3) + 1):
            for statement in body:
                self.all_step(statement, threads)

    def together_uniform_if(
        self, threads: list[dict[str, Any]], place: int, bit: int, then: list[Statement], other: list[Statement]
    ) -> None:
        for statement in then if self.word(place) >> bit & 1 else other:
            self.all_step(statement, threads)

    def together_warp_barrier(self, threads: list[dict[str, Any]], warp: int) -> None:
        """Nothing to see."""

    @staticmethod
    def together_handover(threads: list[dict[str, Any]], result: str, source: str, warp: int) -> None:
        for lane in range(_LANES):
            threads[lane + _LANES * (1 - warp)][result] = threads[lane + _LANES * warp][source]

    def together_split(self, threads: list[dict[str, Any]], p: str, body: list[Statement]) -> None:
        for lanes in self.warps():
            self.lanes_split(threads, lanes, p, body)

    def together_masked_loop(self, threads: list[dict[str, Any]], bound: str, body: list[Statement]) -> None:
        for lanes in self.warps():
            self.lanes_masked_loop(threads, lanes, bound, body)

    @staticmethod
    def warps() -> list[list[int]]:
        return [list(range(first, first + _LANES)) for first in range(0, THREADS, _LANES)]

    def lanes_split(self, threads: list[dict[str, Any]], lanes: list[int], p: str, body: list[Statement]) -> None:
        sides = [[t for t in lanes if bool(threads[t][p]) == side] for side in (True, False)]
        for side in sides:
            self.lanes_steps(threads, side, body)

    def lanes_masked_loop(self, threads: list[dict[str, Any]], lanes: list[int], bound: str, body: list[Statement]) -> None:
        bounds = {t: threads[t][bound] & 3 for t in lanes}
        for count in range(3):
            self.lanes_steps(threads, [t for t in lanes if count < bounds[t]], body)

    @staticmethod
    def some_match_all(threads: list[dict[str, Any]], lanes: list[int], result: str, p: str, _c: str, source: str) -> None:
        same = len({threads[t][source] for t in lanes}) == 1
        for t in lanes:
            threads[t][result] = sum(1 << u % _LANES for u in lanes) if same else 0
            threads[t][p] = int(same)

    @staticmethod
    def some_last(threads: list[dict[str, Any]], lanes: list[int], result: str, source: str) -> None:
        value = threads[lanes[-1]][source]
        for t in lanes:
            threads[t][result] = value

    @staticmethod
    def some_butterfly(threads: list[dict[str, Any]], lanes: list[int], result: str, source: str, by: int) -> None:
        before = {t: threads[t][source] for t in lanes}
        for t in lanes:
            threads[t][result] = before.get(t ^ by, before[t])
