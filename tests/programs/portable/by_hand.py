"""Launches of by_hand.ptx."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.portable.case import Case, out, program, words

M32 = 0xFFFFFFFF
BYTES = [0, 7, 5, 2, 1, 4, 3, 8, 6, 5, 9, 4, 10, 11, 1, 12, 6, 5, 4, 13, 14, 1, 0, 3, 7, 8, 10, 2, 4, 5, 1, 9, 14, 6, 0, 15]


def _signed(x: int) -> int:
    return (x & M32 ^ 1 << 31) - (1 << 31)


def _machine(a: int, b: int) -> tuple[int, int]:
    c = i = 0
    while BYTES[i] != 15:
        op, i = BYTES[i], i + 1
        if op == 10:
            i += a & 1
        elif op == 11:
            c += 1
            i = 2 if c < 3 and b & 2 else i
        elif op == 2:
            a = a * b + i
        elif op == 4:
            a, b = b, a
        elif op in (3, 6, 8, 12, 14):
            b = {3: b ^ a, 6: ~b, 8: -b, 12: b + a.bit_count(), 14: a * a + b}[op]
        else:
            turned = a << 9 | a >> 23
            a = {
                0: a + b,
                1: a - b,
                5: turned,
                7: _signed(a) >> 1,
                9: min(_signed(a), _signed(b)),
                13: int(f"{a:032b}"[::-1], 2),
            }[op]
        a, b = a & M32, b & M32
    return a, b


@program()
def brx_machine(rng: Any) -> Case:
    a = words(rng.integers(0, 1 << 32, (32, 2)))
    return Case(1, 32, [a, out((32, 2), np.uint32)], {1: [_machine(*row) for row in a.tolist()]})


@program()
def old_calls(rng: Any) -> Case:
    want = []
    for t in range(32):
        n, steps = t + 1, 0
        while n > 1:
            n, steps = 3 * n + 1 if n & 1 else n // 2, steps + 1
        want.append((steps, next(x for x in range(t, t + 99, 3) if x > 20) if t & 3 == 2 else 77))
    return Case(1, 32, [out((32, 2), np.uint32)], {0: want}, stack=4096)


@program()
def moved_pointers(rng: Any) -> Case:
    functions = (lambda x: x + 100, lambda x: x * 7, lambda x: ~x)
    want = []
    for t in range(32):
        other = (t ^ 5) % 3
        x = functions[other](t) & M32
        want.append(((functions[4 % 3](x) & M32) + (0x1000 if other == 1 else 0), x))
    return Case(1, 32, [out((32, 2), np.uint32)], {0: words(want)})


@program()
def predicate_logic(rng: Any) -> Case:
    a, want = words(rng.integers(0, 1024, 32)), []
    for t, x in enumerate(a.tolist()):
        p = [bool(x >> k & 1) for k in range(10)]
        p += [p[0] ^ p[1], p[2] & p[3], p[4] | p[5], not p[6], p[7] ^ p[8]]
        p += [p[10] & p[12], p[11] | p[14]]
        p += [p[15] ^ p[16]]
        p += [p[13] & p[17]]
        p += [p[18] ^ p[9]]
        p += [x > 500 and p[19], not x > 500 and p[19], (x < t) ^ p[16]]
        p[19] = not p[19]
        want.append(sum(p[10 + k] << k for k in range(13)) ^ (not p[0]) ^ (not p[5]) << 15)
    return Case(1, 32, [a, out(32, np.uint32)], {1: words(want)})
