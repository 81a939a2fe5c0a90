"""Launches of dispatch.cu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs.portable.case import Case, out, program, s32

M32 = 0xFFFFFFFF
Binary = Callable[[int, int], int]
OPERATIONS: tuple[Binary, ...] = (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, max, lambda a, b: a ** (b & 7))


def signed(x: int) -> int:
    """The 32-bit number with these bits."""
    return (x + (1 << 31) & M32) - (1 << 31)


def _tables(rng: Any, value: Callable[[int, int, list[int]], int]) -> Case:
    a, which = rng.integers(-99, 99, 32).astype(np.int32), rng.integers(0, 5, (32, 6)).astype(np.int32)
    return Case(1, 32, [a, which, out(32, np.int32)], {2: [value(t, int(a[t]), which[t].tolist()) for t in range(32)]})


@program()
def table_global(rng: Any) -> Case:
    def value(t: int, x: int, row: list[int]) -> int:
        for k, n in enumerate(row):
            x = signed(OPERATIONS[n](x, k + t))
        return x

    return _tables(rng, value)


@program()
def table_constant(rng: Any) -> Case:
    def value(t: int, x: int, row: list[int]) -> int:
        for k, n in enumerate(row):
            x = signed(OPERATIONS[4 - n](x, k - t)) ^ signed(OPERATIONS[4 - row[0]](x, k))
        return x

    return _tables(rng, value)


@program()
def higher_order(rng: Any) -> Case:
    a, want = rng.integers(-9, 9, (32, 5)).astype(np.int32), []
    for t in range(32):
        f, g, x, total = OPERATIONS[t % 5], OPERATIONS[t // 5 % 5], int(a[t, 0]), 3
        for n in range(t % 7, 0, -1):
            x, f, g = signed(f(x, n)), g, f
        for y in a[t].tolist():
            total = signed(OPERATIONS[t % 4](total, y))
        want.append(x + total)
    return Case(1, 32, [a, out(32, np.int32), 5], {1: s32(want)})


def _shapes(rng: Any, count: int, first: int, value: Callable[[float, float, int], float]) -> Case:
    kinds, w = rng.integers(0, 3, (32, 4)).astype(np.int32), rng.integers(1, 20, (32, 4)).astype(np.float32)
    want = []
    for kind, wide in zip(kinds.tolist(), w.tolist(), strict=True):
        total = 0.0
        for k in range(count):
            x, h = wide[k], k + first
            shape = ((x * x, 4 * x, 4), (x * h, 2 * (x + h), 4), (x * x / 2, 3 * x, 3))[kind[k]]
            total += value(*shape)
        want.append(total)
    return Case(1, 32, [kinds, w, out(32, np.float32)], {2: want})


@program()
def virtual_local(rng: Any) -> Case:
    return _shapes(rng, 4, 1, lambda area, around, corners: 2 * area + around * corners)


@program()
def virtual_heap(rng: Any) -> Case:
    return _shapes(rng, 3, 2, lambda area, around, corners: area - around * corners)


@program()
def virtual_recursion(rng: Any) -> Case:
    a, want = rng.integers(-99, 99, (32, 8)).astype(np.int32), []
    for t, row in enumerate(a.tolist()):
        s = [row[2 * k] + row[2 * k + 1 - (t >> k & 1)] for k in range(4)]
        want.append((s[0] * s[1] + 1) * ((s[2] if t & 1 else row[4]) * s[3] + 1) + 1)
    return Case(1, 32, [a, out(32, np.int32)], {1: s32(want)})


NAMES = ["push", "add", "sub", "mul", "xor", "dup", "swap", "over", "drop", "rot", "shl", "shr", "not", "neg", "jnz", "jmp",
         "less", "load", "store", "halt"]  # fmt: skip
OPERANDS = ("push", "jnz", "jmp", "load", "store")
SOURCES = (  # greatest common divisor, a mixture of bits, Fibonacci numbers
    "load 0 load 1 loop: over over xor jnz @go store 2 store 3 halt go: over over less jnz @below swap over sub swap jmp @loop "
    "below: over sub jmp @loop",
    "push 9 store 2 loop: load 0 push 3 shl load 1 xor dup push 5 shr xor not store 0 load 1 neg load 0 push 77 mul add store 1 "
    "load 0 load 1 push 13 rot sub xor store 3 load 2 push 1 sub dup store 2 jnz @loop halt",
    "push 12 store 2 push 0 push 1 loop: dup rot add load 2 push -1 add dup store 2 jnz @loop store 0 store 1 halt",
)


def assembled(source: str) -> list[int]:
    """Bytes; a jump counts from behind itself."""
    places, words = {}, []
    for word in source.split():
        if word.endswith(":"):
            places["@" + word[:-1]] = len(words)
        else:
            words.append(word)
    values = [places[w] - k - 1 if w in places else NAMES.index(w) if w in NAMES else int(w) for k, w in enumerate(words)]
    return [v & 255 for v in values]


def run_bytes(code: list[int], cells: list[int]) -> list[int]:
    """The machine of byte_code: a name an operation, values as numbers of Python."""
    stack: list[int] = []
    pc = steps = 0
    two: dict[str, Binary] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "xor": lambda a, b: a ^ b,
        "shl": lambda a, b: a << (b & 31), "shr": lambda a, b: (a & M32) >> (b & 31), "less": lambda a, b: int(a < b),
    }  # fmt: skip
    moves: dict[str, tuple[int, list[int]]] = {"dup": (1, [0, 0]), "swap": (2, [1, 0]), "over": (2, [0, 1, 0]), "drop": (1, []),
                                               "rot": (3, [1, 2, 0])}  # fmt: skip
    while steps < 1000:
        name = NAMES[code[pc]]
        pc, steps = pc + 1, steps + 1
        operand = 0
        if name in OPERANDS:
            operand, pc = (code[pc] ^ 128) - 128, pc + 1
        if name in two:
            b, a = stack.pop(), stack.pop()
            stack.append(signed(two[name](a, b)))
        elif name in moves:
            count, order = moves[name]
            taken, stack = stack[-count:], stack[:-count]
            stack += [taken[k] for k in order]
        elif name in ("not", "neg"):
            stack.append(signed(~stack.pop() if name == "not" else -stack.pop()))
        elif name == "push":
            stack.append(operand)
        elif name == "load":
            stack.append(cells[operand & 3])
        elif name == "store":
            cells[operand & 3] = stack.pop()
        elif name == "jmp" or (name == "jnz" and stack.pop()):
            pc += operand
        elif name == "halt":
            break
    return [*cells, steps]


@program()
def byte_code(rng: Any) -> Case:
    codes = [assembled(source) for source in SOURCES]
    length = max(map(len, codes))
    a = rng.integers(1, 60, (32, 2)).astype(np.int32)
    want = [run_bytes(codes[t % 3], [*a[t].tolist(), 0, 0]) for t in range(32)]
    code = np.array([c + [0] * (length - len(c)) for c in codes], np.uint8)
    return Case(1, 32, [code, a, out((32, 5), np.int32), length], {2: want})


@program()
def register_machine(rng: Any) -> Case:
    def op(name: str, d: int, a: int = 0, b: int = 0, n: int = 0) -> int:
        return ["add", "mul", "sub", "set", "loop", "halt"].index(name) | d << 4 | a << 6 | b << 8 | (n & 0xFFFF) << 16

    codes = [
        [op("set", 3, n=9), op("mul", 1, 1, 2), op("add", 0, 0, 1), op("sub", 2, 0, 2), op("loop", 3, n=1), op("halt", 0)],
        [op("set", 1, n=-7), op("set", 3, n=5), op("add", 2, 2, 0), op("mul", 1, 1, 2), op("loop", 3, n=8), op("halt", 0)],
    ]
    want = []
    for t in range(32):
        r, pc, steps, code = [t, 1, 2, 3], t % 2 * 6, 0, codes[0] + codes[1]
        while True:
            i = code[pc]
            pc, steps = pc + 1, steps + 1
            kind, d, a, b, n = i & 15, i >> 4 & 3, r[i >> 6 & 3], r[i >> 8 & 3], i >> 16
            if kind < 3:
                r[d] = signed((a + b, a * b, a - b)[kind])
            elif kind == 3:
                r[d] = (n ^ 0x8000) - 0x8000
            elif kind == 4:
                r[d] -= 1
                pc = n if r[d] > 0 else pc
            else:
                break
        want.append([*r, steps])
    return Case(1, 32, [np.array(codes, np.uint32), out((32, 5), np.int32), 6], {1: want})


@program()
def state_machine(rng: Any) -> Case:
    text = rng.choice(np.frombuffer(b"  ab1 z93", np.uint8), (32, 16))
    want = []
    for row in text.tolist():
        n, state = [0, 0, 0, 0], 0
        for c in row:
            if state == 1:
                n[2] = signed(n[2] * 31 + c)
            elif state == 2:
                n[3] += c - 48
            digit, blank = 48 <= c <= 57, c <= 32
            new = 0 if blank else (1 if state == 1 or not digit else 2)
            if state == 0 and new:
                n[new - 1] += 1
            state = new
        want.append(n)
    return Case(1, 32, [text, out((32, 4), np.int32), 16], {1: want})
