"""Launches of flow.cu; all results are exact."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .case import Case, kernel, out, s32
from .integer import reverse, signed, trunc


def diverged(x: int) -> int:
    r, first = 0, x
    if first & 1:
        for k in range(x & 7):
            r = signed(r + k * x, 32)
            if r > 5000:
                break
            if k != 3:
                r ^= k
        return r
    if first & 2:
        while True:
            r, x = signed(r * 3 + x, 32), x - 7
            if not (x > 0 and r < 100000):
                return r
    for k in range(5):
        if x >> k & 1:
            for m in range(k):
                if m * k == 6:
                    return r
                r += m
        r = r * 2 + 1
    return r


@kernel()
def divergence(rng: Any) -> Case:
    x = rng.integers(-1000, 1000, 128).astype(np.int32)
    r = np.array([diverged(v) for v in x.tolist()])
    odd = (r & 1).reshape(-1, 32).sum(1).repeat(32)
    return Case(2, 64, [x, out(128, np.int32)], {1: r + odd})


@kernel()
def recursion(rng: Any) -> Case:
    fib = [0, 1]
    for _ in range(20):
        fib.append(fib[-1] + fib[-2])
    return Case(1, 64, [out((64, 2), np.int32)], {0: [[fib[i % 11], 2 * (i & 7) + 3] for i in range(64)]}, stack=8192)


@kernel()
def quicksort(rng: Any) -> Case:
    x = rng.integers(-99, 99, (32, 24)).astype(np.int32)
    return Case(1, 32, [x.copy(), 24], {0: np.sort(x, axis=1)}, stack=4096)


@kernel()
def function_pointers(rng: Any) -> Case:
    x, choice = rng.standard_normal(64).astype(np.float32), rng.integers(0, 8, 64).astype(np.int32)
    one, two, half = np.float32(1), np.float32(2), np.float32(0.5)
    functions = [lambda v: v + one, lambda v: v * two, lambda v: -v, lambda v: v * half]
    want = [
        (-functions[c & 3](v) if c & 4 else functions[c & 3](v) * two) + functions[c & 3](np.float32(3))
        for v, c in zip(x, choice, strict=True)
    ]
    return Case(2, 32, [x, choice, out(64, np.float32)], {2: want}, stack=1024)


@kernel()
def virtual_functions(rng: Any) -> Case:
    x = rng.integers(1, 50, 64).astype(np.float32)
    areas = [[v * v, 3 * v * v, 2 * v][(i * 7) % 3] for i, v in enumerate(x.tolist())]
    return Case(1, 64, [x, out((64, 2), np.float32)], {1: [[a, [4, 0, 4][(i * 7) % 3]] for i, a in enumerate(areas)]}, stack=1024)


def switched(x: int) -> int:
    r = 1
    for k in range(4):
        u = r & 0xFFFFFFFF
        case = x >> 4 * k & 15
        match case:
            case 0:
                r += 3
            case 1:
                r = signed(r * 5, 32) ^ 0x55
            case 2:
                r ^= 0x55
            case 3:
                r -= x
            case 4:
                r = u << 3 | u >> 29
            case 5:
                r = u.bit_count()
            case 6:
                r = ~r
            case 7:
                r += k * k
            case 8:
                r = trunc(r, 3)[0]
            case 9:
                r &= x
            case 10:
                r = max(r, x)
            case 11:
                r = reverse(u, 32) + 77
            case 12:
                r += 77
            case 13:
                r = trunc(r, 1000)[1]
            case _:
                r ^= k << 20
        r = signed(r, 32)
    return r


@kernel()
def dense_switch(rng: Any) -> Case:
    x = rng.integers(-(1 << 31), 1 << 31, 256).astype(np.int32)
    return Case(2, 128, [x, out(256, np.int32)], {1: [switched(v) for v in x.tolist()]})


@kernel()
def sparse_switch(rng: Any) -> Case:
    results = {-100000: 1, -5: 22, 0: 333, 17: 4, 1000: 55, 1 << 20: 666, 1 << 30: 7}
    x = rng.choice([*results, 5, -6, 99], 64).astype(np.int32)
    return Case(1, 64, [x, out(64, np.int32)], {1: [results.get(v, -v) for v in x.tolist()]})


def interpreted(code: list[int], value: int) -> list[int]:
    stack, pc, steps, length = [value], 0, 0, len(code)
    while pc < length and steps < 200:
        op, pc = code[pc], pc + 1
        if op == 0:
            pc = length
        elif op == 1:
            if len(stack) < 16:
                stack.append(code[pc % length])
            pc += 1
        elif op in (2, 3):
            if len(stack) > 1:
                y, x = stack.pop(), stack.pop()
                stack.append(signed(x + y if op == 2 else x * y, 32))
        elif op == 4:
            stack += stack[-1:] if len(stack) < 16 else []
        elif op == 5:
            stack[-1] = signed(-stack[-1], 32)
        elif op == 6:
            if len(stack) > 1:
                stack[-2:] = stack[:-3:-1]
        elif op == 7:
            pc += stack[-1] & 1
        elif op == 8:
            stack[-1] = signed(stack[-1] - 1, 32)
            pc = 0 if stack[-1] > 0 and steps < 100 else pc
        else:
            stack[-1] ^= op
        steps += 1
    return [stack[-1], len(stack) * 1000 + steps]


@kernel()
def interpreter(rng: Any) -> Case:
    length = 24
    programs = rng.integers(0, 12, (64, length)).astype(np.uint8)
    x = rng.integers(-1000, 1000, 64).astype(np.int32)
    want = [interpreted(code, value) for code, value in zip(programs.tolist(), x.tolist(), strict=True)]
    return Case(2, 32, [programs, x, out((64, 2), np.int32), length], {2: want})


@kernel()
def queens(rng: Any) -> Case:
    return Case(1, 32, [7, out(7, np.int32)], {1: [4, 7, 6, 6, 6, 7, 4]})


@kernel()
def block_barriers(rng: Any) -> Case:
    x = rng.integers(-1000, 1000, 128).astype(np.int32)
    first, second = x[:64] * 2, x[:64] * 2
    left = np.column_stack([np.full(64, (x > 0).sum()), np.full(64, 3), first[::-1], 1 + second])
    right = np.column_stack([np.full(64, (x > 0).sum()), np.full(64, 3), first + 1, 2 + second])
    return Case(1, 128, [x, out((128, 4), np.int32)], {1: np.vstack([left, right])})


@kernel()
def structures(rng: Any) -> Case:
    n, tag, scale, offsets, name = 1000, -7, 0.375, [5, -3, 11, 2, 900], b"abc"
    packed = struct.pack("<ihxxd5i3sx", n, tag, scale, *offsets, name)
    want = []
    for i in range(32):
        places = list(offsets)
        places[i % 5] = -i
        want.append(n + i + tag + scale * i + name[i % 3] + sum(v * (k + 1) for k, v in enumerate(places)))
    return Case(1, 32, [packed, out(32, np.float64)], {1: want}, stack=1024)


@kernel()
def big_stack(rng: Any) -> Case:
    n = 200
    order = rng.permutation(n).astype(np.int32)
    want = []
    for i in range(32):
        following, at, steps = order.tolist(), i % n, 0
        while True:
            following[at], at, steps = i, following[at], steps + 1
            if following[at] == i or steps >= n:
                break
        want.append([steps, sum(v * (k & 3) for k, v in enumerate(following))])
    return Case(1, 32, [order, out((32, 2), np.int32), n], {1: s32(want)})


@kernel()
def find_string(rng: Any) -> Case:
    text = rng.choice(list(b"ab"), 600).astype(np.int8)
    word = np.frombuffer(b"babbaababa", np.int8).copy()
    text[437:447] = word
    place = bytes(text.tobytes()).find(word.tobytes())
    return Case(2, 64, [text, text.size, word, word.size, np.full(1, 1 << 30, np.int32)], {4: [place]})
