"""Kernels that make calls which stay calls, with what they are to compute.

Every kernel is ``k(.param .u64 out, .param .u64 in)``: thread t of a block of 64 reads ``in[t]`` and writes ``out[t]``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

THREADS = 64
M32 = 0xFFFFFFFF
HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
ENTRY = """
.visible .entry k(.param .u64 out, .param .u64 in)
{{
  .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .f32 %f<8>;
{locals}  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %d1, %r1, 4, %d1; mad.wide.u32 %d2, %r1, 4, %d2;
  ld.global.u32 %r2, [%d2];
{body}
  st.global.u32 [%d1], %r3;
  ret;
}}
"""


class Program(NamedTuple):
    """PTX without its head, and what thread t makes of all inputs."""

    text: str
    want: Callable[[list[int], int], int]


def entry(body: str, locals_: str = "") -> str:
    """The kernel with this in the middle: %r2 is the input, %r3 the result."""
    return ENTRY.format(body=body, locals=locals_)


def call(name: str, result: str, *arguments: str) -> str:
    """A call of a function of 32-bit arguments, with one result."""
    params = "".join(f".param .b32 a{n}; st.param.b32 [a{n}], {a};" for n, a in enumerate(arguments))
    names = ", ".join(f"a{n}" for n in range(len(arguments)))
    return f"{{ .param .b32 r; {params} call (r), {name}, ({names}); ld.param.b32 {result}, [r]; }}"


def indirect(pointer: str, result: str, *arguments: str) -> str:
    """The same of the function that a register tells."""
    params = "".join(f".param .b32 a{n}; st.param.b32 [a{n}], {a};" for n, a in enumerate(arguments))
    names = ", ".join(f"a{n}" for n in range(len(arguments)))
    shape = ", ".join(".param .b32 _" for _ in arguments)
    return (
        f"{{ .param .b32 r; {params} proto: .callprototype (.param .b32 _) _ ({shape});\n"
        f"call (r), {pointer}, ({names}), proto; ld.param.b32 {result}, [r]; }}"
    )


def function(name: str, count: int, body: str, locals_: str = "") -> str:
    """A function of ``count`` 32-bit parameters, in %r1, %r2 ...; its result is in %r0."""
    params = ", ".join(f".param .b32 p{n}" for n in range(count))
    loads = " ".join(f"ld.param.u32 %r{n + 1}, [p{n}];" for n in range(count))
    return (
        f".func (.param .b32 res) {name}({params})\n{{ .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<8>; {locals_}\n"
        f"{loads}\n{body}\nDONE: st.param.b32 [res], %r0; ret; }}\n"
    )


# -- recursion ----------------------------------------------------------------------------------------------------------


@cache
def _fib(n: int) -> int:
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


FIB = function(
    "fib", 1,
    f"mov.u32 %r0, %r1; setp.lt.u32 %p1, %r1, 2; @%p1 bra DONE; sub.u32 %r2, %r1, 1; {call('fib', '%r3', '%r2')}"
    f" sub.u32 %r2, %r1, 2; {call('fib', '%r4', '%r2')} add.u32 %r0, %r3, %r4;",
)  # fmt: skip


def _ackermann(m: int, n: int) -> int:
    while m:
        n = _ackermann(m, n - 1) if n else 1
        m -= 1
    return n + 1


ACKERMANN = function(
    "ack", 2,
    f"add.u32 %r0, %r2, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r4, %r1, 1; mov.u32 %r5, 1;"
    f" setp.eq.u32 %p2, %r2, 0; @%p2 bra ONE; sub.u32 %r6, %r2, 1; {call('ack', '%r5', '%r1', '%r6')}"
    f" ONE: {call('ack', '%r0', '%r4', '%r5')}",
)  # fmt: skip

EVEN = (
    ".func (.param .b32 res) odd(.param .b32 p0);\n"
    + function(
        "even", 1, f"mov.u32 %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r1, %r1, 1; {call('odd', '%r0', '%r1')}"
    )
    + function(
        "odd", 1, f"mov.u32 %r0, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r1, %r1, 1; {call('even', '%r0', '%r1')}"
    )
)


def _sum_array(n: int) -> int:
    """A frame of 8 words in each activation, all of them used again behind the call."""
    if n == 0:
        return 7
    return (_sum_array(n - 1) + sum((n * k + 3) & M32 for k in range(8))) & M32


FRAMES = function(
    "frames", 1,
    "mov.u32 %r0, 7; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u64 %d1, buf; cvta.local.u64 %d2, %d1;"
    + "".join(f" mad.lo.u32 %r2, %r1, {k}, 3; st.u32 [%d2+{4 * k}], %r2;" for k in range(8))
    + f" sub.u32 %r3, %r1, 1; {call('frames', '%r0', '%r3')}"
    + "".join(f" ld.local.u32 %r4, [%d1+{4 * k}]; add.u32 %r0, %r0, %r4;" for k in range(8)),
    ".local .align 8 .b8 buf[32];",
)  # fmt: skip


def _hanoi(n: int, a: int, b: int, c: int) -> int:
    if n == 0:
        return 0
    return (_hanoi(n - 1, a, c, b) * 3 + (a * 16 + c) + _hanoi(n - 1, b, a, c)) & M32


HANOI = function(
    "hanoi", 4,
    f"mov.u32 %r0, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r5, %r1, 1; "
    f"{call('hanoi', '%r6', '%r5', '%r2', '%r4', '%r3')}"
    f" {call('hanoi', '%r7', '%r5', '%r3', '%r2', '%r4')} mad.lo.u32 %r8, %r2, 16, %r4; "
    f"mad.lo.u32 %r8, %r6, 3, %r8; add.u32 %r0, %r8, %r7;",
)  # fmt: skip

# -- arguments -------------------------------------------------------------------------------------------------------------


def _many(depth: int, values: list[int]) -> int:
    if depth == 0:
        return sum((k + 1) * v for k, v in enumerate(values)) & M32
    return (_many(depth - 1, [*values[1:], (values[0] + depth) & M32]) + values[3]) & M32


def _many_text(count: int) -> str:
    own = [f"%r{n + 2}" for n in range(count)]
    ends = "mov.u32 %r0, 0;" + "".join(f" mad.lo.u32 %r0, {r}, {k + 1}, %r0;" for k, r in enumerate(own))
    return function(
        "many", count + 1,
        f"{ends} setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; add.u32 %r30, %r2, %r1; sub.u32 %r31, %r1, 1;"
        f" {call('many', '%r0', '%r31', *own[1:], '%r30')} add.u32 %r0, %r0, {own[3]};",
    )  # fmt: skip


def many(count: int) -> Program:
    """So many arguments, some of them on the stack."""
    body = "and.b32 %r9, %r2, 3;" + "".join(f" add.u32 %r{10 + k}, %r2, {k * k};" for k in range(count))
    body += call("many", "%r3", "%r9", *(f"%r{10 + k}" for k in range(count)))
    return Program(
        _many_text(count) + entry(body), lambda data, t: _many(data[t] & 3, [(data[t] + k * k) & M32 for k in range(count)])
    )


def _wide(n: int, x: int) -> int:
    if n == 0:
        return x & M32
    return (_wide(n - 1, x * 3 + (1 << 33) & (1 << 64) - 1) + (x >> 32)) & M32


WIDE = (
    ".func (.param .b32 res) wide(.param .b32 p0, .param .b64 p1)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;\n"
    "ld.param.u32 %r1, [p0]; ld.param.u64 %d1, [p1]; cvt.u32.u64 %r0, %d1; setp.eq.u32 %p, %r1, 0; @%p bra DONE;\n"
    "sub.u32 %r2, %r1, 1; mul.lo.u64 %d2, %d1, 3; add.u64 %d2, %d2, 0x200000000; shr.u64 %d3, %d1, 32; cvt.u32.u64 %r3, %d3;\n"
    "{ .param .b32 r; .param .b32 a; .param .b64 b; st.param.b32 [a], %r2; st.param.b64 [b], %d2; call (r), wide, (a, b);\n"
    "ld.param.b32 %r0, [r]; } add.u32 %r0, %r0, %r3;\nDONE: st.param.b32 [res], %r0; ret; }\n"
)


def _struct(n: int, a: int, b: int, c: int) -> tuple[int, int, int]:
    if n == 0:
        return a, b, c
    x, y, z = _struct(n - 1, (b + 1) & M32, (c ^ a) & M32, (a * 5) & M32)
    return (x + b) & M32, (y ^ n) & M32, (z + a) & M32


STRUCT = (
    ".func (.param .align 4 .b8 res[12]) rec(.param .align 4 .b8 s[12], .param .b32 n)\n"
    "{ .reg .b32 %r<20>; .reg .pred %p; ld.param.u32 %r1, [s]; ld.param.u32 %r2, [s+4]; "
    "ld.param.u32 %r3, [s+8]; ld.param.u32 %r4, [n];\n"
    "mov.u32 %r10, %r1; mov.u32 %r11, %r2; mov.u32 %r12, %r3; setp.eq.u32 %p, %r4, 0; @%p bra DONE;\n"
    "add.u32 %r5, %r2, 1; xor.b32 %r6, %r3, %r1; mul.lo.u32 %r7, %r1, 5; sub.u32 %r8, %r4, 1;\n"
    "{ .param .align 4 .b8 a[12]; .param .b32 m; .param .align 4 .b8 r[12]; st.param.b32 [a], %r5; st.param.b32 [a+4], %r6;\n"
    "st.param.b32 [a+8], %r7; st.param.b32 [m], %r8; call (r), rec, (a, m);\n"
    "ld.param.b32 %r10, [r]; ld.param.b32 %r11, [r+4]; ld.param.b32 %r12, [r+8]; }\n"
    "add.u32 %r10, %r10, %r2; xor.b32 %r11, %r11, %r4; add.u32 %r12, %r12, %r1;\n"
    "DONE: st.param.b32 [res], %r10; st.param.b32 [res+4], %r11; st.param.b32 [res+8], %r12; ret; }\n"
)
STRUCT_BODY = (
    "and.b32 %r9, %r2, 7; mul.lo.u32 %r10, %r2, 3; add.u32 %r11, %r2, 100;\n"
    "{ .param .align 4 .b8 a[12]; .param .b32 m; .param .align 4 .b8 r[12]; st.param.b32 [a], %r2; st.param.b32 [a+4], %r10;\n"
    "st.param.b32 [a+8], %r11; st.param.b32 [m], %r9; call (r), rec, (a, m);\n"
    "ld.param.b32 %r12, [r]; ld.param.b32 %r13, [r+4]; ld.param.b32 %r14, [r+8]; }\n"
    "mad.lo.u32 %r3, %r13, 7, %r12; mad.lo.u32 %r3, %r14, 11, %r3;"
)


def _struct_want(data: list[int], t: int) -> int:
    x, y, z = _struct(data[t] & 7, data[t], data[t] * 3 & M32, (data[t] + 100) & M32)
    return (x + 7 * y + 11 * z) & M32


# -- pointers ----------------------------------------------------------------------------------------------------------------

OPERATIONS: tuple[tuple[str, str, Callable[[int, int], int]], ...] = (
    ("plus", "add.u32 %r0, %r1, %r2;", lambda a, b: a + b),
    ("minus", "sub.u32 %r0, %r1, %r2;", lambda a, b: a - b),
    ("times", "mul.lo.u32 %r0, %r1, %r2;", lambda a, b: a * b),
    ("mix", "mad.lo.u32 %r0, %r1, 77, %r2; xor.b32 %r0, %r0, %r1;", lambda a, b: (a * 77 + b & M32) ^ a),
)
FUNCTIONS = "".join(function(name, 2, text) for name, text, _ in OPERATIONS)
TABLE = f".global .align 8 .u64 table[{len(OPERATIONS)}] = {{{', '.join(name for name, *_ in OPERATIONS)}}};\n"
BY_TABLE = (
    "and.b32 %r4, %r2, 3; mov.u64 %d3, table; mad.wide.u32 %d3, %r4, 8, %d3; ld.global.u64 %d4, [%d3]; add.u32 %r5, %r1, 9;\n"
    + indirect("%d4", "%r3", "%r2", "%r5")
)
CHOSEN = (
    "mov.u64 %d3, plus; mov.u64 %d4, times; setp.gt.u32 %p1, %r2, 40; selp.b64 %d5, %d3, %d4, %p1;\n"
    + indirect("%d5", "%r3", "%r2", "%r1")
    + "\nsetp.eq.u64 %p2, %d5, %d3; @%p2 add.u32 %r3, %r3, 1000;"
)
# A function that applies another one n times, and calls itself to do so.
APPLY = (
    ".func (.param .b32 res) apply(.param .b64 f, .param .b32 n, .param .b32 x)\n{ .reg .b32 %r<9>; "
    ".reg .b64 %d<9>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [f]; ld.param.u32 %r1, [n]; ld.param.u32 %r0, [x]; setp.eq.u32 %p, %r1, 0; @%p bra DONE;\n"
    + indirect("%d1", "%r2", "%r0", "%r1")
    + "\nsub.u32 %r1, %r1, 1; { .param .b32 r; .param .b64 a; .param .b32 b; .param .b32 c; "
    "st.param.b64 [a], %d1; st.param.b32 [b], %r1;\n"
    "st.param.b32 [c], %r2; call (r), apply, (a, b, c); ld.param.b32 %r0, [r]; }\nDONE: st.param.b32 [res], %r0; ret; }\n"
)
APPLY_BODY = (
    "and.b32 %r4, %r2, 3; mov.u64 %d3, table; mad.wide.u32 %d3, %r4, 8, %d3; ld.global.u64 %d4, [%d3]; and.b32 %r5, %r1, 7;\n"
    "{ .param .b32 r; .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d4; st.param.b32 [b], %r5;\n"
    "st.param.b32 [c], %r2; call (r), apply, (a, b, c); ld.param.b32 %r3, [r]; }"
)


def _apply(data: list[int], t: int) -> int:
    x = data[t]
    for n in range(t & 7, 0, -1):
        x = OPERATIONS[data[t] & 3][2](x, n) & M32
    return x


# -- what lives across calls, and threads that part ----------------------------------------------------------------------


def _pressure(data: list[int], t: int) -> int:
    kept = [(data[t] * (k + 1) + k) & M32 for k in range(24)]
    return (sum(v ^ k for k, v in enumerate(kept)) + _fib(data[t] & 7)) & M32


PRESSURE = (
    "".join(f"mad.lo.u32 %r{10 + k}, %r2, {k + 1}, {k};\n" for k in range(24))
    + "and.b32 %r4, %r2, 7; "
    + call("fib", "%r3", "%r4")
    + "".join(f"\nxor.b32 %r{10 + k}, %r{10 + k}, {k}; add.u32 %r3, %r3, %r{10 + k};" for k in range(24))
)
PREDICATES = (
    "".join(f"and.b32 %r4, %r2, {1 << k}; setp.ne.u32 %p{k}, %r4, 0;\n" for k in range(8))
    + "and.b32 %r4, %r2, 7; "
    + call("fib", "%r3", "%r4")
    + "".join(f"\n@%p{k} add.u32 %r3, %r3, {1 << 8 + k};" for k in range(8))
)
# A loop in which some threads call and others do not; they meet in each round for a shuffle.
LOOP = (
    "mov.u32 %r3, 0; mov.u32 %r5, 0;\nLOOP: add.u32 %r6, %r2, %r5; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra SKIP;\n"
    + "and.b32 %r8, %r6, 7; "
    + call("fib", "%r9", "%r8")
    + " add.u32 %r3, %r3, %r9;\nSKIP: shfl.sync.bfly.b32 %r10, %r3, 1, 31, 0xffffffff; "
    "xor.b32 %r3, %r3, %r10; add.u32 %r3, %r3, %r5;\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 6; @%p2 bra LOOP;"
)


def _loop(data: list[int], t: int) -> int:
    state = [0] * THREADS
    for n in range(6):
        for k in range(THREADS):
            if data[k] + n & 1:
                state[k] += _fib(data[k] + n & 7)
        state = [((state[k] ^ state[k ^ 1]) + n) & M32 for k in range(THREADS)]
    return state[t]


# A barrier of the block and shared memory inside a function that calls itself; all threads go as deep.
SHARED = (
    ".shared .align 4 .b8 cells[256];\n"
    + function(
        "turn", 2,
        "mov.u32 %r0, %r2; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u32 %r3, %tid.x; mov.u32 %r4, cells; "
        "mad.lo.u32 %r5, %r3, 4, %r4;\n"
        "bar.sync 0; st.shared.u32 [%r5], %r2; bar.sync 0; add.u32 %r6, %r3, %r1; and.b32 %r6, %r6, 63; "
        "mad.lo.u32 %r6, %r6, 4, %r4;\n"
        "ld.shared.u32 %r7, [%r6]; add.u32 %r8, %r7, %r2; sub.u32 %r9, %r1, 1; " + call("turn", "%r0", "%r9", "%r8")
        + " xor.b32 %r0, %r0, %r7;",
    )
)  # fmt: skip


def _shared(data: list[int], t: int) -> int:
    def turn(n: int, values: list[int]) -> list[int]:
        if n == 0:
            return values
        seen = [values[k + n & 63] for k in range(THREADS)]
        return [a ^ b for a, b in zip(turn(n - 1, [(a + b) & M32 for a, b in zip(seen, values, strict=True)]), seen, strict=True)]

    return turn(5, data)[t]


# No result, memory through a pointer, a way out in the middle, an exit of some threads inside.
VOID = (
    ".func walk(.param .b64 p, .param .b32 n)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 ret; ld.u32 %r2, [%d1]; "
    "mad.lo.u32 %r2, %r2, 3, %r1;\n"
    "st.u32 [%d1], %r2; setp.eq.u32 %p2, %r2, 12345; @%p2 exit; sub.u32 %r1, %r1, 1;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1; call walk, (a, b); } ret; }\n"
)
VOID_BODY = (
    "mov.u64 %d5, cell; st.local.u32 [%d5], %r2; cvta.local.u64 %d6, %d5; and.b32 %r4, %r2, 15;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d6; st.param.b32 [b], %r4; call walk, (a, b); } ld.local.u32 %r3, [%d5];"
)


def _void(data: list[int], t: int) -> int:
    x = data[t]
    for n in range(data[t] & 15, 0, -1):
        x = (x * 3 + n) & M32
    return x


# Predicates that live across a call without a result.
MARKS = (
    ".func marks(.param .b64 p, .param .b32 n)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<8>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; setp.eq.u32 %p7, %r1, 0; @%p7 ret; ld.u32 %r2, [%d1];\n"
    + "".join(f"and.b32 %r3, %r2, {1 << k}; setp.ne.u32 %p{k}, %r3, 0;\n" for k in range(5))
    + "mad.lo.u32 %r2, %r2, 5, %r1; st.u32 [%d1], %r2; sub.u32 %r1, %r1, 1;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1; call marks, (a, b); } ld.u32 %r4, [%d1];\n"
    + "".join(f"@%p{k} mad.lo.u32 %r4, %r4, 3, {k};\n" for k in range(5))
    + "st.u32 [%d1], %r4; ret; }\n"
)


def _marks(x: int, n: int) -> int:
    if n == 0:
        return x
    y = _marks((x * 5 + n) & M32, n - 1)
    for k in range(5):
        if x >> k & 1:
            y = (y * 3 + k) & M32
    return y


# As many arguments as there are registers but one, through a pointer, while the caller's own are still needed.
FULL = (
    function("down", 11, "mov.u32 %r0, 0;" + "".join(f" mad.lo.u32 %r0, %r{k + 1}, {k + 1}, %r0;" for k in range(11)))
    + function(
        "up", 11,
        "mov.u64 %d1, down; setp.eq.u32 %p1, %r1, 77; @%p1 mov.u64 %d1, up;\n"
        + indirect("%d1", "%r0", *(f"%r{11 - k}" for k in range(11)))
        + "".join(f" add.u32 %r0, %r0, %r{k + 1};" for k in range(11)),
    )
)  # fmt: skip


def _full(x: int) -> int:
    values = [(x >> 3) + 100 + k for k in range(11)]
    return (sum((k + 1) * v for k, v in enumerate(reversed(values))) + sum(values)) & M32


FULL_BODY = (
    "shr.u32 %r4, %r2, 3; add.u32 %r4, %r4, 100;"
    + "".join(f" add.u32 %r{10 + k}, %r4, {k};" for k in range(11))
    + " mov.u64 %d3, up; setp.eq.u32 %p1, %r2, 99999; @%p1 mov.u64 %d3, down;\n"
    + indirect("%d3", "%r3", *(f"%r{10 + k}" for k in range(11)))
)

# Threads call different functions, and leave a loop of votes one after another.
VOTES = (
    BY_TABLE
    + "\nshr.u32 %r5, %r2, 4; and.b32 %r5, %r5, 7; mov.u32 %r6, 0; mov.u32 %r7, 0xffffffff;\nLOOP: setp.lt.u32 %p1, %r6, %r5;"
    " vote.sync.ballot.b32 %r7, %p1, %r7; @!%p1 bra END;\nadd.u32 %r3, %r3, %r7; add.u32 %r6, %r6, 1; bra LOOP;\n"
    "END: bar.warp.sync 0xffffffff;"
)


def _votes(data: list[int], t: int) -> int:
    first = t & ~31
    masks = (sum((data[first + lane] >> 4 & 7 > k) << lane for lane in range(32)) for k in range(data[t] >> 4 & 7))
    return (OPERATIONS[data[t] & 3][2](data[t], t + 9) + sum(masks)) & M32


PROGRAMS: dict[str, Program] = {
    "fib": Program(FIB + entry("and.b32 %r4, %r2, 15; " + call("fib", "%r3", "%r4")), lambda data, t: _fib(data[t] & 15)),
    "ackermann": Program(
        ACKERMANN + entry("and.b32 %r4, %r2, 1; and.b32 %r5, %r1, 3; add.u32 %r4, %r4, 1; " + call("ack", "%r3", "%r4", "%r5")),
        lambda data, t: _ackermann((data[t] & 1) + 1, t & 3),
    ),
    "mutual": Program(EVEN + entry("and.b32 %r4, %r2, 31; " + call("even", "%r3", "%r4")), lambda data, t: 1 - (data[t] & 1)),
    "frames": Program(
        FRAMES + entry("and.b32 %r4, %r2, 7; " + call("frames", "%r3", "%r4")), lambda data, t: _sum_array(data[t] & 7)
    ),
    "hanoi": Program(
        HANOI + entry("and.b32 %r4, %r2, 3; mov.u32 %r5, 1; mov.u32 %r6, 2; " + call("hanoi", "%r3", "%r4", "%r5", "%r6", "%r1")),
        lambda data, t: _hanoi(data[t] & 3, 1, 2, t),
    ),
    "eleven arguments": many(10),
    "sixteen arguments": many(15),
    "wide": Program(
        WIDE
        + entry(
            "and.b32 %r4, %r2, 7; mul.wide.u32 %d3, %r2, 0x7fffffff; { .param .b32 r; .param .b32 a; "
            ".param .b64 b; st.param.b32 [a], %r4;\n"
            "st.param.b64 [b], %d3; call (r), wide, (a, b); ld.param.b32 %r3, [r]; }"
        ),
        lambda data, t: _wide(data[t] & 7, data[t] * 0x7FFFFFFF),
    ),
    "struct": Program(STRUCT + entry(STRUCT_BODY), _struct_want),
    "table of functions": Program(
        FUNCTIONS + TABLE + entry(BY_TABLE), lambda data, t: OPERATIONS[data[t] & 3][2](data[t], t + 9) & M32
    ),
    "chosen function": Program(
        FUNCTIONS + entry(CHOSEN), lambda data, t: ((data[t] + t + 1000) if data[t] > 40 else data[t] * t) & M32
    ),
    "votes behind a table of functions": Program(FUNCTIONS + TABLE + entry(VOTES), _votes),
    "applied function": Program(FUNCTIONS + TABLE + APPLY + entry(APPLY_BODY), _apply),
    "values across a call": Program(FIB + entry(PRESSURE), _pressure),
    "predicates across a call": Program(
        FIB + entry(PREDICATES), lambda data, t: (_fib(data[t] & 7) + ((data[t] & 255) << 8)) & M32
    ),
    "calls in a loop": Program(FIB + entry(LOOP), _loop),
    "barriers in a function": Program(SHARED + entry("mov.u32 %r4, 5; " + call("turn", "%r3", "%r4", "%r2")), _shared),
    "predicates across a call without a result": Program(
        MARKS + entry(VOID_BODY.replace("walk", "marks").replace("15;", "7;"), ".local .align 4 .b8 cell[4];\n"),
        lambda data, t: _marks(data[t], data[t] & 7),
    ),
    "eleven arguments through a register": Program(FULL + entry(FULL_BODY), lambda data, t: _full(data[t])),
    "no result": Program(VOID + entry(VOID_BODY, ".local .align 4 .b8 cell[4];\n"), _void),
}
