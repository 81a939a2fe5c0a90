"""Random PTX kernels and what they compute.

`Program(seed)` is a kernel with integer, floating-point and predicate arithmetic, divergent branches and loops, loads
and stores, shuffles, votes, barriers and atomics. `.text(target)` is its PTX; `.run(data)` interprets it, thread by
thread, with the functions of :mod:`oric.fuzz.meaning`. `python -m oric.fuzz.programs SEED [TARGET]` prints the PTX.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .meaning import OPS, TYPE, WIDTH, Op

THREADS = 64
POOL = {"h": 4, "r": 8, "d": 5, "f": 5, "g": 3, "p": 4}  # registers of each class
SCRATCH = sum(POOL.values())  # 8-byte slots of a thread: one per register, then eight for stores
OUT_WORDS = SCRATCH + 8
TABLE = 64  # 32-bit words of read-only input
ATOM_PLACE = {"add.u32": 0, "min.s32": 1, "max.u32": 2, "or.b32": 3, "xor.b32": 4}

BY_RESULT: dict[str, list[Op]] = {}
for _op in OPS:
    BY_RESULT.setdefault(_op.result, []).append(_op)

Statement = tuple[Any, ...]
Buffer = np.ndarray[Any, Any]


def bits_of(value: Any, c: str) -> int:
    """The register's bits as an unsigned number."""
    if c == "f":
        with np.errstate(over="ignore"):
            return int(np.float32(value).view(np.uint32))
    if c == "g":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    return int(value)


class Program:
    """A random kernel; the same seed gives the same program."""

    def __init__(self, seed: int, size: int = 40) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.labels = 0
        self.body: list[Statement] = []
        while size > 0:
            statement = self.collective() if self.rng.random() < 0.12 else self.statement(3)
            self.body.append(statement)
            size -= count(statement)

    # -- making ---------------------------------------------------------------------------------------------------

    def register(self, c: str) -> str:
        return f"{c}{self.rng.randrange(POOL[c])}"

    def statement(self, depth: int) -> Statement:
        """One statement that a thread can execute alone, with at most `depth` levels of nesting."""
        kind = self.rng.random()
        if depth and kind < 0.10:
            return (
                "if",
                self.register("p"),
                self.rng.random() < 0.5,
                self.block(depth - 1),
                self.block(depth - 1) if self.rng.random() < 0.5 else [],
            )
        if depth and kind < 0.15:
            return ("loop", self.register("r"), self.block(depth - 1), self.register("p") if self.rng.random() < 0.5 else None)
        if kind < 0.22:
            return ("load", self.rng.choice(["u8", "s8", "u16", "s16", "u32", "u64", "f32", "v2", "v4"]), self.pick(6))
        if kind < 0.28:
            c = self.rng.choice("hrd")  # no floats: the bits of a NaN are not defined
            return ("store", c, self.register(c), self.rng.randrange(8))
        if kind < 0.31:
            return ("atomic", self.rng.choice(["add.u32", "min.s32", "max.u32", "or.b32", "xor.b32"]), self.register("r"))
        return self.arithmetic()

    def pick(self, n: int) -> list[int]:
        return [self.rng.randrange(1 << 30) for _ in range(n)]

    def block(self, depth: int) -> list[Statement]:
        return [self.statement(depth) for _ in range(self.rng.randrange(1, 6))]

    def choice(self, c: str) -> Op:
        """An instruction with a result of a class."""
        return self.rng.choice(BY_RESULT[c])

    def arithmetic(self) -> Statement:
        c = self.rng.choice("hrrrrrdddffffgpp")
        op = self.choice(c)
        sources: list[Any] = []
        for s in op.sources:
            if s in "iL":
                limit = 256 if s == "L" else self.rng.choice([16, 1 << 16, 1 << 32])
                sources.append(self.rng.randrange(limit))
            else:
                sources.append(self.register("r" if s == "B" else s.lower()))
        guard = (self.register("p"), self.rng.random() < 0.5) if self.rng.random() < 0.15 else None
        return ("op", op, self.register(c), sources, guard)

    def collective(self) -> Statement:
        """A statement that all threads of a block reach together."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return (
                "shfl",
                self.rng.choice(["bfly", "up", "down", "idx"]),
                self.register("r"),
                self.register("r"),
                self.rng.randrange(32),
                self.register("p"),
            )
        if kind == 1:
            return ("ballot", self.register("r"), self.register("p"), self.rng.random() < 0.3)
        if kind == 2:
            return ("vote", self.rng.choice(["any", "all"]), self.register("p"), self.register("p"))
        return ("exchange", self.register("r"), self.register("r"), self.rng.randrange(1, THREADS))

    # -- PTX ------------------------------------------------------------------------------------------------------

    def text(self, target: str) -> str:
        """The kernel `random(const void *in, void *out, unsigned *atoms)` as PTX."""
        self.labels = 0
        lines = [
            f".version 9.0\n.target {target}\n.address_size 64\n",
            ".visible .entry random_program(",
            "\t.param .u64 p_in,",
            "\t.param .u64 p_out,",
            "\t.param .u64 p_atoms",
            ")",
            "{",
            f"\t.shared .align 4 .b8 exchange[{4 * THREADS}];",
        ]
        lines += [f"\t.reg {TYPE[c]} %{c}<{n}>;" for c, n in POOL.items()]
        lines += ["\t.reg .b32 %t<10>;", "\t.reg .b64 %a<10>;", "\t.reg .b16 %s<3>;", "\t.reg .pred %q<3>;", "\t.reg .b32 %n<8>;"]
        lines += ["\tld.param.u64 %a0, [p_in];", "\tld.param.u64 %a1, [p_out];", "\tld.param.u64 %a2, [p_atoms];"]
        lines += [f"\tcvta.to.global.u64 %a{k}, %a{k};" for k in range(3)]
        lines += [
            "\tmov.u32 %t0, %tid.x;",
            f"\tmad.wide.u32 %a1, %t0, {8 * OUT_WORDS}, %a1;",
            "\tmov.u32 %t1, exchange;",
            "\tmad.lo.u32 %t2, %t0, 4, %t1;",
        ]
        lines += self.more_declarations()
        lines += list(self.prologue())
        for statement in self.body:
            lines += ["\t" + line if not line.endswith(":") else line for line in self.emit(statement, 0)]
        lines += list(self.epilogue())
        return "\n".join(lines) + "\n\tret;\n}\n"

    def more_declarations(self) -> list[str]:
        """Lines behind the declarations that every program has."""
        return []

    def prologue(self) -> Iterator[str]:
        """Every register gets its value of the thread's own line of the input (8 bytes a register)."""
        yield f"\tadd.u64 %a3, %a0, {4 * TABLE};"
        yield f"\tmad.wide.u32 %a3, %t0, {8 * SCRATCH}, %a3;"
        for k, (c, name) in enumerate(registers()):
            if c == "p":
                yield f"\tld.global.u32 %t3, [%a3+{8 * k}];"
                yield f"\tsetp.ne.s32 %{name}, %t3, 0;"
            else:
                yield f"\tld.global.{'f' if c in 'fg' else 'u'}{width(c)} %{name}, [%a3+{8 * k}];"

    def epilogue(self) -> Iterator[str]:
        """Every register goes to its slot of the thread's line of the output."""
        for k, (c, name) in enumerate(registers()):
            if c == "p":
                yield f"\tselp.u32 %t3, 1, 0, %{name};"
                yield f"\tst.global.u32 [%a1+{8 * k}], %t3;"
            else:
                yield f"\tst.global.{'f' if c in 'fg' else 'u'}{width(c)} [%a1+{8 * k}], %{name};"

    def label(self) -> str:
        self.labels += 1
        return f"$L{self.labels}"

    def emit(self, statement: Statement, depth: int) -> Iterator[str]:
        """PTX lines of one statement; `depth` numbers the loop counters."""
        yield from getattr(self, "emit_" + statement[0])(*statement[1:], depth)

    def emit_op(self, op: Op, result: str, sources: list[Any], guard: tuple[str, bool] | None, depth: int) -> Iterator[str]:
        operands = []
        for k, (s, source) in enumerate(zip(op.sources, sources, strict=True)):
            if s in "BRD":
                temporary = f"%t{5 + k}" if s != "D" else f"%a{5 + k}"
                change = "and.b32 {}, %{}, 255;" if s == "B" else f"or.b{WIDTH[s.lower()]} {{}}, %{{}}, 1;"
                yield change.format(temporary, source)
                operands.append(temporary)
            else:
                operands.append(f"%{source}" if isinstance(source, str) else str(source))
        prefix = "" if guard is None else f"@{'!' if guard[1] else ''}%{guard[0]} "
        yield f"{prefix}{op.mnemonic} %{result}, {', '.join(operands)};"

    def emit_if(self, p: str, negated: bool, then: list[Statement], other: list[Statement], depth: int) -> Iterator[str]:
        skip, end = self.label(), self.label()
        yield f"@{'' if negated else '!'}%{p} bra {skip};"
        for statement in then:
            yield from self.emit(statement, depth)
        if other:
            yield f"bra {end};"
        yield f"{skip}:"
        for statement in other:
            yield from self.emit(statement, depth)
        yield f"{end}:"

    def emit_loop(self, bound: str, body: list[Statement], leave: str | None, depth: int) -> Iterator[str]:
        top, end = self.label(), self.label()
        yield f"and.b32 %n{2 * depth + 1}, %{bound}, 3;"
        yield f"mov.u32 %n{2 * depth}, 0;"
        yield f"{top}:"
        for k, statement in enumerate(body):
            yield from self.emit(statement, depth + 1)
            if leave and k == len(body) // 2:
                yield f"@%{leave} bra {end};"
        yield f"add.u32 %n{2 * depth}, %n{2 * depth}, 1;"
        yield f"setp.le.u32 %q0, %n{2 * depth}, %n{2 * depth + 1};"
        yield f"@%q0 bra {top};"
        yield f"{end}:"

    def emit_load(self, kind: str, picks: list[int], depth: int) -> Iterator[str]:
        base, targets = self.load_plan(kind, picks)
        yield f"and.b32 %t3, %{base}, {15 * 16};"
        yield "cvt.u64.u32 %a3, %t3;"
        yield "add.u64 %a3, %a0, %a3;"
        if kind[0] == "v":
            yield f"ld.global.{kind}.u32 {{{', '.join('%' + t for t in targets)}}}, [%a3];"
        else:
            yield f"ld.global.{kind} %{targets[0]}, [%a3{'+8' if kind == 'u64' else '+3' if kind.endswith('8') else ''}];"

    @staticmethod
    def load_plan(kind: str, picks: list[int]) -> tuple[str, list[str]]:
        """Base register and result registers; those of one vector differ."""
        c = {"u64": "d", "f32": "f"}.get(kind, "r")
        first = picks[1] % POOL[c]
        n = int(kind[1]) if kind[0] == "v" else 1
        return f"r{picks[0] % POOL['r']}", [f"{c}{(first + k) % POOL[c]}" for k in range(n)]

    def emit_store(self, c: str, source: str, slot: int, depth: int) -> Iterator[str]:
        yield f"st.global.{'f' if c in 'fg' else 'u'}{width(c)} [%a1+{8 * (SCRATCH + slot)}], %{source};"

    def emit_atomic(self, what: str, source: str, depth: int) -> Iterator[str]:
        yield f"red.global.{what} [%a2+{4 * ATOM_PLACE[what]}], %{source};"

    def emit_shfl(self, mode: str, result: str, source: str, by: int, p: str, depth: int) -> Iterator[str]:
        yield f"shfl.sync.{mode}.b32 %{result}|%{p}, %{source}, {by}, {0 if mode == 'up' else 31}, 0xffffffff;"

    def emit_ballot(self, result: str, p: str, negated: bool, depth: int) -> Iterator[str]:
        yield f"vote.sync.ballot.b32 %{result}, {'!' if negated else ''}%{p}, 0xffffffff;"

    def emit_vote(self, mode: str, result: str, p: str, depth: int) -> Iterator[str]:
        yield f"vote.sync.{mode}.pred %{result}, %{p}, 0xffffffff;"

    def emit_exchange(self, result: str, source: str, distance: int, depth: int) -> Iterator[str]:
        yield f"st.shared.u32 [%t2], %{source};"
        yield "bar.sync 0;"
        yield f"add.u32 %t3, %t0, {distance};"
        yield f"and.b32 %t3, %t3, {THREADS - 1};"
        yield "mad.lo.u32 %t3, %t3, 4, %t1;"
        yield f"ld.shared.u32 %{result}, [%t3];"
        yield "bar.sync 0;"

    # -- meaning --------------------------------------------------------------------------------------------------

    def run(self, data: Buffer) -> tuple[Buffer, Buffer]:
        """Output lines (threads x OUT_WORDS words of 64 bits, floats as canonical bits) and the atomic words."""
        self.table = data[: TABLE // 2].tobytes()
        self.atoms = [0] * len(ATOM_PLACE)
        lines = data[TABLE // 2 :].reshape(THREADS, SCRATCH)
        threads = [self.start(lines[t]) for t in range(THREADS)]
        self.out = np.zeros((THREADS, OUT_WORDS), np.uint64)
        for statement in self.body:
            self.all_step(statement, threads)
        self.finish()
        for t, values in enumerate(threads):
            for k, (c, name) in enumerate(registers()):
                self.out[t, k] = bits_of(values[name], c)
        return self.out, np.array([a & 0xFFFFFFFF for a in self.atoms], np.uint32)

    def finish(self) -> None:
        """What the threads do together at the end."""

    @staticmethod
    def start(line: Buffer) -> dict[str, Any]:
        """A thread's first register values."""
        values: dict[str, Any] = {}
        for k, (c, name) in enumerate(registers()):
            raw = line[k : k + 1].tobytes()
            if c == "f":
                values[name] = struct.unpack("<f", raw[:4])[0]
            elif c == "g":
                values[name] = struct.unpack("<d", raw)[0]
            else:
                values[name] = int(line[k]) & (1 << width(c)) - 1
                if c == "p":
                    values[name] = int(values[name] != 0)
        return values

    def all_step(self, statement: Statement, threads: list[dict[str, Any]]) -> None:
        """A statement that all threads reach together."""
        together = getattr(self, "together_" + statement[0], None)
        if together:
            together(threads, *statement[1:])
        else:
            for t, values in enumerate(threads):
                self.step(statement, values, t)

    def step(self, statement: Statement, v: dict[str, Any], t: int) -> None:
        getattr(self, "do_" + statement[0])(v, t, *statement[1:])

    def do_op(self, v: dict[str, Any], t: int, op: Op, result: str, sources: list[Any], guard: tuple[str, bool] | None) -> None:
        if guard and bool(v[guard[0]]) == guard[1]:
            return
        v[result] = op.function(*(self.source(v, c, s) for c, s in zip(op.sources, sources, strict=True)))

    @staticmethod
    def source(v: dict[str, Any], c: str, source: Any) -> Any:
        """The value of a source of a class."""
        if not isinstance(source, str):
            return source
        return v[source] | 1 if c in "RD" else v[source] & 255 if c == "B" else v[source]

    def do_if(self, v: dict[str, Any], t: int, p: str, negated: bool, then: list[Statement], other: list[Statement]) -> None:
        for statement in then if bool(v[p]) != negated else other:
            self.step(statement, v, t)

    def do_loop(self, v: dict[str, Any], t: int, bound: str, body: list[Statement], leave: str | None) -> None:
        for _ in range((v[bound] & 3) + 1):
            for k, statement in enumerate(body):
                self.step(statement, v, t)
                if leave and k == len(body) // 2 and v[leave]:
                    return

    def do_load(self, v: dict[str, Any], t: int, kind: str, picks: list[int]) -> None:
        base, targets = self.load_plan(kind, picks)
        at = v[base] & 15 * 16
        if kind[0] == "v":
            values: tuple[Any, ...] = struct.unpack_from(f"<{kind[1]}I", self.table, at)
        elif kind == "u64":
            values = struct.unpack_from("<Q", self.table, at + 8)
        elif kind.endswith("8"):
            values = struct.unpack_from("<B" if kind[0] == "u" else "<b", self.table, at + 3)
        else:
            values = struct.unpack_from({"u16": "<H", "s16": "<h", "u32": "<I", "f32": "<f"}[kind], self.table, at)
        for target, value in zip(targets, values, strict=True):
            v[target] = value & 0xFFFFFFFF if kind[0] == "s" else value

    def do_store(self, v: dict[str, Any], t: int, c: str, source: str, slot: int) -> None:
        raw = bits_of(v[source], c).to_bytes(width(c) // 8, "little")
        line = self.out[t, SCRATCH + slot : SCRATCH + slot + 1].view(np.uint8)
        line[: len(raw)] = np.frombuffer(raw, np.uint8)

    def do_atomic(self, v: dict[str, Any], t: int, what: str, source: str) -> None:
        k, value = ATOM_PLACE[what], v[source]
        old = self.atoms[k] & 0xFFFFFFFF

        def s(x: int) -> int:
            return x - (1 << 32) if x >> 31 else x

        self.atoms[k] = {
            "add.u32": old + value,
            "min.s32": min(s(old), s(value)),
            "max.u32": max(old, value),
            "or.b32": old | value,
            "xor.b32": old ^ value,
        }[what]

    @staticmethod
    def together_shfl(threads: list[dict[str, Any]], mode: str, result: str, source: str, by: int, p: str) -> None:
        before = [v[source] for v in threads]
        for t, v in enumerate(threads):
            lane = t & 31
            at = {"bfly": lane ^ by, "up": lane - by, "down": lane + by, "idx": by}[mode]
            valid = 0 <= at <= 31
            v[result] = before[t - lane + (at if valid else lane)]
            v[p] = int(valid)

    @staticmethod
    def together_ballot(threads: list[dict[str, Any]], result: str, p: str, negated: bool) -> None:
        votes = [bool(v[p]) != negated for v in threads]
        for t, v in enumerate(threads):
            v[result] = sum(votes[t - t % 32 + k] << k for k in range(32))

    @staticmethod
    def together_vote(threads: list[dict[str, Any]], mode: str, result: str, p: str) -> None:
        votes = [bool(v[p]) for v in threads]
        for t, v in enumerate(threads):
            v[result] = int((any if mode == "any" else all)(votes[t - t % 32 : t - t % 32 + 32]))

    @staticmethod
    def together_exchange(threads: list[dict[str, Any]], result: str, source: str, distance: int) -> None:
        before = [v[source] for v in threads]
        for t, v in enumerate(threads):
            v[result] = before[(t + distance) % THREADS]


def width(c: str) -> int:
    return {"f": 32, "g": 64, "p": 32}.get(c) or WIDTH[c]


def registers() -> list[tuple[str, str]]:
    """(class, name) of every register of the pool, in the order of input and output slots."""
    return [(c, f"{c}{k}") for c, n in POOL.items() for k in range(n)]


def count(statement: Statement) -> int:
    """Statements inside a statement, itself included."""
    return 1 + sum(count(inner) for part in statement if isinstance(part, list) for inner in part if isinstance(inner, tuple))


def input_data(seed: int) -> Buffer:
    """The input buffer: the table, then a line of 8-byte first values per thread, corner cases among them."""
    rng = np.random.default_rng(seed)
    corners = np.array(
        [0, 1, 2, 31, 32, 33, 255, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, (1 << 64) - 1], np.uint64
    )
    floats = np.array([0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 1e-40, -1e-38, 3e38, -3e9, 5e9, np.inf, 2147483648.0, 16777217.0])
    data = rng.integers(0, 1 << 63, TABLE // 2 + THREADS * SCRATCH, dtype=np.uint64) * np.uint64(2)
    lines = data[TABLE // 2 :].reshape(THREADS, SCRATCH)
    for k, (c, _) in enumerate(registers()):
        if c in "fg":
            values = np.where(rng.random(THREADS) < 0.4, rng.choice(floats, THREADS), rng.standard_normal(THREADS) * 1000)
            if c == "f":
                with np.errstate(all="ignore"):
                    values = values.astype(np.float32).astype(np.float64)
                lines[:, k] = values.astype(np.float32).view(np.uint32)
            else:
                lines[:, k] = values.view(np.uint64)
        elif c == "p":
            lines[:, k] = rng.integers(0, 2, THREADS)
        else:
            picks = rng.random(THREADS)
            lines[:, k] = np.where(picks < 0.4, rng.choice(corners, THREADS), lines[:, k])
            lines[:, k] = np.where(picks > 0.8, lines[:, k] >> np.uint64(40), lines[:, k])
    return data


def canonical(out: Buffer) -> Buffer:
    """The output lines with every NaN of a float register made the same."""
    out = out.copy()
    for k, (c, _) in enumerate(registers()):
        if c == "f":
            nan = np.isnan(out[:, k].astype(np.uint32).view(np.float32))
            out[nan, k] = 0x7FC00000
        elif c == "g":
            out[np.isnan(out[:, k].copy().view(np.float64)), k] = 0x7FF8000000000000
    return out


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).text(sys.argv[2] if len(sys.argv) > 2 else "sm_90"))
