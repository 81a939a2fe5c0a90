"""An interpreter of a small machine with 16 registers, all of them registers of the thread, and a jump table of 24 operations.

A word of the program is operation, target, left and right, a byte each; a number ``k`` in place of right for operations that
take one. Every thread runs a program of its own, so the lanes of a warp go different ways all the time.
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

REGISTERS = 16
LENGTH = 48
STEPS = 200
# what an operation makes of left (x), right (y) and its number (k)
OPERATIONS = [
    "add.u32 %t, %x, %y;",
    "sub.u32 %t, %x, %y;",
    "mul.lo.u32 %t, %x, %y;",
    "xor.b32 %t, %x, %y;",
    "and.b32 %t, %x, %y;",
    "or.b32 %t, %x, %y;",
    "not.b32 %t, %x;",
    "neg.s32 %t, %x;",
    "min.u32 %t, %x, %y;",
    "max.s32 %t, %x, %y;",
    "and.b32 %t, %y, 31; shl.b32 %t, %x, %t;",
    "and.b32 %t, %y, 31; shr.u32 %t, %x, %t;",
    "and.b32 %t, %y, 31; shr.s32 %t, %x, %t;",
    "mul.hi.u32 %t, %x, %y;",
    "mov.u32 %t, %k;",
    "add.u32 %t, %x, %k;",
    "mul.lo.u32 %t, %x, %k;",
    "popc.b32 %t, %x;",
    "clz.b32 %t, %x;",
    "brev.b32 %t, %x;",
    "setp.lt.u32 %p, %x, %y; selp.b32 %t, 1, 0, %p;",
    "mad.lo.u32 %t, %x, %y, %k;",
    "setp.ne.u32 %p, %x, 0; @%p add.u32 %pc, %pc, %k; mov.u32 %t, %x;",  # goes on further down
    "setp.gt.u32 %p, %y, %x; @%p mov.u32 %pc, 0; mov.u32 %t, %y;",  # begins again
]


def ptx(arch: str) -> str:
    """The kernel ``heavy(programs, state)``: a program and 16 registers a thread."""
    lines = [f"ld.global.u32 %g{n}, [%state+{4 * n}];" for n in range(REGISTERS)]
    lines += [
        "mov.u32 %pc, 0; mov.u32 %step, 0;",
        "NEXT:",
        f"rem.u32 %pc, %pc, {LENGTH};",
        "mul.wide.u32 %d, %pc, 4; add.u64 %d, %d, %prog;",
    ]
    lines += ["ld.global.u32 %word, [%d]; add.u32 %pc, %pc, 1;", "bfe.u32 %op, %word, 0, 8; bfe.u32 %to, %word, 8, 8;"]
    lines += ["bfe.u32 %l, %word, 16, 8; bfe.u32 %k, %word, 24, 8; and.b32 %r, %k, 15;", "mov.u32 %x, %g0; mov.u32 %y, %g0;"]
    for n in range(1, REGISTERS):
        lines.append(f"setp.eq.u32 %p, %l, {n}; selp.b32 %x, %g{n}, %x, %p; setp.eq.u32 %p, %r, {n}; selp.b32 %y, %g{n}, %y, %p;")
    names = [f"OP{n}" for n in range(len(OPERATIONS))]
    lines += [f"TABLE: .branchtargets {', '.join(names)};", "brx.idx %op, TABLE;"]
    for name, code in zip(names, OPERATIONS, strict=True):
        lines += [f"{name}: {code}", "bra DONE;"]
    lines.append("DONE:")
    lines += [f"setp.eq.u32 %p, %to, {n}; selp.b32 %g{n}, %t, %g{n}, %p;" for n in range(REGISTERS)]
    lines += ["add.u32 %step, %step, 1;", f"setp.lt.u32 %p, %step, {STEPS};", "@%p bra NEXT;"]
    lines += [f"st.global.u32 [%state+{4 * n}], %g{n};" for n in range(REGISTERS)]
    body = "\n".join(lines)
    return f"""\
.version 8.0
.target {arch}
.address_size 64
.visible .entry heavy(.param .u64 programs, .param .u64 state)
{{
.reg .b32 %i, %pc, %step, %word, %op, %to, %l, %r, %k, %t, %x, %y, %g<{REGISTERS}>; .reg .b64 %prog, %state, %d; .reg .pred %p;
ld.param.u64 %prog, [programs]; ld.param.u64 %state, [state]; mov.u32 %i, %tid.x;
mul.wide.u32 %d, %i, {4 * LENGTH}; add.u64 %prog, %prog, %d; mul.wide.u32 %d, %i, {4 * REGISTERS}; add.u64 %state, %state, %d;
{body}
ret;
}}
"""


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def result(op: int, x: int, y: int, k: int) -> int:
    """What an operation gives, before it is cut to 32 bits."""
    return (
        x + y,
        x - y,
        x * y,
        x ^ y,
        x & y,
        x | y,
        ~x,
        -x,
        min(x, y),
        x if signed(x) > signed(y) else y,
        x << (y & 31),
        x >> (y & 31),
        signed(x) >> (y & 31),
        x * y >> 32,
        k,
        x + k,
        x * k,
        x.bit_count(),
        32 - x.bit_length(),
        int(f"{x:032b}"[::-1], 2),
        int(x < y),
        x * y + k,
        x,
        y,
    )[op]


def run(program: list[int], registers: list[int]) -> list[int]:
    """What the interpreter does."""
    g, pc = list(registers), 0
    for _ in range(STEPS):
        pc %= LENGTH
        op, to, left, k = program[pc].to_bytes(4, "little")
        x, y = g[left] if left < REGISTERS else g[0], g[k & 15]
        pc += 1
        if op == 22 and x:
            pc += k
        if op == 23 and y > x:
            pc = 0
        if to < REGISTERS:
            g[to] = result(op, x, y, k) & 0xFFFFFFFF
    return g


def data(threads: int) -> tuple[list[npt.NDArray[np.uint32]], npt.NDArray[np.uint32]]:
    """Programs and registers, and the registers behind them."""
    rng = random.Random(24)
    programs = [
        [
            rng.randrange(len(OPERATIONS))
            | rng.randrange(REGISTERS) << 8
            | rng.randrange(REGISTERS) << 16
            | rng.randrange(256) << 24
            for _ in range(LENGTH)
        ]
        for _ in range(threads)
    ]
    state = [[rng.getrandbits(32) for _ in range(REGISTERS)] for _ in range(threads)]
    after = [run(program, registers) for program, registers in zip(programs, state, strict=True)]
    return [np.array(programs, np.uint32), np.array(state, np.uint32)], np.array(after, np.uint32)
