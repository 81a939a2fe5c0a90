"""Kernels with calls that stay calls and memory: results that no registers hold, addresses of parameters, space on the stack.

As those of :mod:`tests.e2e.call_programs`.
"""

from __future__ import annotations

from .call_programs import M32, Program, call, entry, function

# -- results in memory ----------------------------------------------------------------------------------------------------


def _unit(align: int) -> tuple[int, str, str]:
    """Bytes of an access to a structure of an alignment, its type, and the letter of registers for it."""
    size = min(align, 4)
    return size, f"b{8 * size}", "h" if size < 4 else "r"


def _large_text(size: int, align: int, more: int) -> str:
    """A function that calls itself and returns so many bytes: what it gets, changed by its depth; with ``more`` arguments."""
    unit, kind, letter = _unit(align)
    rest = "".join(f", .param .b32 m{k}" for k in range(more))
    passed = "".join(f".param .b32 n{k}; add.u32 %r5, %r4, {k}; st.param.b32 [n{k}], %r5; " for k in range(more))
    names = "".join(f", n{k}" for k in range(more))
    sums = "".join(f"ld.param.u32 %r5, [m{k}]; mad.lo.u32 %r4, %r5, {k + 1}, %r4; " for k in range(more))

    def put(at: int) -> str:
        value = f"mad.lo.u32 %r5, %r4, {at + 3}, {at};"
        if unit < 4:
            value += " cvt.u16.u32 %h1, %r5;"
        return f"{value} st.param.{kind} [res+{at}], %{letter}{'1' if unit < 4 else '5'};\n"

    def change(at: int) -> str:
        load = f"ld.param.{kind} %{letter}8, [r+{at}];"
        if unit < 4:
            return f"{load} xor.b16 %h8, %h8, %h2; st.param.{kind} [res+{at}], %h8;\n"
        return f"{load} xor.b32 %r8, %r8, %r1; st.param.b32 [res+{at}], %r8;\n"

    places = range(0, size - unit + 1, unit)
    return (
        f".func (.param .align {align} .b8 res[{size}]) big(.param .b32 n, .param .b32 x{rest})\n"
        f"{{ .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .pred %p;\n"
        f"ld.param.u32 %r1, [n]; ld.param.u32 %r4, [x]; {sums} cvt.u16.u32 %h2, %r1;\n"
        f"setp.eq.u32 %p, %r1, 0; @%p bra LAST; sub.u32 %r2, %r1, 1; mad.lo.u32 %r3, %r4, 3, 1;\n"
        f"{{ .param .align {align} .b8 r[{size}]; .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; st.param.b32 [b], %r3;\n"
        f"{passed} call (r), big, (a, b{names});\n{''.join(change(at) for at in places)} }}\n ret;\n"
        f"LAST: {''.join(put(at) for at in places)} ret; }}\n"
    )


def _large(n: int, x: int, size: int, unit: int, more: int, rest: list[int]) -> list[int]:
    mask = (1 << 8 * unit) - 1
    x = (x + sum((k + 1) * v for k, v in enumerate(rest))) & M32
    if n == 0:
        return [(x * (at + 3) + at) & mask for at in range(0, size - unit + 1, unit)]
    passed = [(x + k) & M32 for k in range(more)]
    return [v ^ n for v in _large(n - 1, (x * 3 + 1) & M32, size, unit, more, passed)]


def large(size: int, align: int, more: int = 0, depth: int = 3) -> Program:
    """A result of so many bytes, and ``more`` arguments behind the two first; ``depth``: a mask."""
    unit, kind, letter = _unit(align)
    wide = "" if unit == 4 else f"cvt.u32.u16 %r6, %{letter}8;"
    takes = "".join(
        f"ld.param.{kind} %{letter}{8 if unit < 4 else 6}, [r+{at}]; {wide} mad.lo.u32 %r3, %r6, {at + 1}, %r3;\n"
        for at in range(0, size - unit + 1, unit)
    )
    passed = "".join(f".param .b32 n{k}; add.u32 %r5, %r2, {5 * k}; st.param.b32 [n{k}], %r5; " for k in range(more))
    names = "".join(f", n{k}" for k in range(more))
    body = (
        f".reg .b16 %h<9>; and.b32 %r4, %r2, {depth}; mov.u32 %r3, 0;\n"
        f"{{ .param .b32 a; .param .b32 b; .param .align {align} .b8 r[{size}]; st.param.b32 [a], %r4; st.param.b32 [b], %r2;\n"
        f"{passed} call (r), big, (a, b{names});\n{takes} }}"
    )

    def want(data: list[int], t: int) -> int:
        rest = [(data[t] + 5 * k) & M32 for k in range(more)]
        found = _large(data[t] & depth, data[t], size, unit, more, rest)
        return sum(v * (k * unit + 1) for k, v in enumerate(found)) & M32

    return Program(_large_text(size, align, more) + entry(body), want)


# -- addresses of parameters ----------------------------------------------------------------------------------------------

# Elements of a structure that a register chooses; the callee changes the copy of its caller through a pointer.
CHOOSE = (
    ".func bump(.param .b64 p, .param .b32 n)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p; ld.param.u64 %d1, [p]; "
    "ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p ret; ld.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1; st.u32 [%d1], %r2;\n"
    "sub.u32 %r3, %r1, 1; { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r3; "
    "call bump, (a, b); } ret; }\n"
    ".func (.param .align 4 .b8 res[12]) pick(.param .align 8 .b8 s[32], .param .b32 n)\n"
    "{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p; ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 7; mov.u64 %d1, s;\n"
    "mad.wide.u32 %d2, %r2, 4, %d1; ld.param.u32 %r3, [%d2]; cvta.local.u64 %d3, %d2; and.b32 %r4, %r1, 3;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d3; st.param.b32 [b], %r4; call bump, (a, b); }\n"
    "ld.local.u32 %r5, [%d2]; ld.param.u32 %r6, [s+8]; st.param.b32 [res], %r3; mov.u64 %d4, res; st.param.u32 [%d4+4], %r5;\n"
    "cvta.local.u64 %d5, %d4; st.u32 [%d5+8], %r6; { .param .b64 a; .param .b32 b; st.param.b64 [a], %d5; st.param.b32 [b], 2; "
    "call bump, (a, b); } ret; }\n"
)
# The same in a function that calls itself, so that it stays one.
PICK = (
    "add.u64 %d6, %d1, 4; { .param .align 8 .b8 t[32]; .param .b32 b; .param .align 4 .b8 r[12]; sub.u32 %r7, %r1, 8;\n"
    + "".join(f"ld.local.u32 %r8, [%d1+{4 * (k ^ 1)}]; st.param.b32 [t+{4 * k}], %r8; " for k in range(8))
    + "setp.lt.u32 %p, %r1, 8; @%p bra OUT; st.param.b32 [b], %r7; call (r), pick, (t, b);\n"
    "ld.param.u32 %r8, [r+8]; ld.local.u32 %r2, [%d4+8]; add.u32 %r8, %r8, %r2; st.local.u32 [%d4+8], %r8; }\nOUT: ret; }\n"
)
CHOOSE_OFTEN = CHOOSE.removesuffix(" ret; }\n") + "\n" + PICK
CHOOSE_BODY = (
    "and.b32 %r9, %r2, 31; { .param .align 8 .b8 a[32]; .param .b32 b; .param .align 4 .b8 r[12]; st.param.b32 [b], %r9;\n"
    + "".join(f"mad.lo.u32 %r10, %r2, {k + 1}, {k}; st.param.b32 [a+{4 * k}], %r10; " for k in range(8))
    + "call (r), pick, (a, b); ld.param.u32 %r11, [r]; ld.param.u32 %r12, [r+4]; ld.param.u32 %r13, [r+8]; }\n"
    "mad.lo.u32 %r3, %r12, 7, %r11; mad.lo.u32 %r3, %r13, 11, %r3;"
)


def _pick(s: list[int], n: int, often: bool) -> list[int]:
    s = list(s)
    res = [s[n & 7], 0, 0]
    s[n & 7] = (s[n & 7] + sum(range((n & 3) + 1))) & M32
    res[1:] = s[n & 7], s[2]
    res[0] = (res[0] + 3) & M32
    if often and n >= 8:
        res[2] = (res[2] + _pick([s[k ^ 1] for k in range(8)], n - 8, True)[2]) & M32
    return res


def choose(often: bool) -> Program:
    """Addresses of a parameter and of a result; ``often``: of a function that stays one."""

    def want(data: list[int], t: int) -> int:
        x, y, z = _pick([(data[t] * (k + 1) + k) & M32 for k in range(8)], data[t] & 31, often)
        return (x + 7 * y + 11 * z) & M32

    return Program((CHOOSE_OFTEN if often else CHOOSE) + entry(CHOOSE_BODY), want)


# -- space on the stack ---------------------------------------------------------------------------------------------------

FILL = (
    "mov.u32 %r{i}, 0;\nFILL{n}: mad.lo.u32 %r20, %r{i}, 4, {at}; mad.lo.u32 %r21, %r{i}, 5, {value}; st.local.u32 [%r20], %r21; "
    "add.u32 %r{i}, %r{i}, 1; setp.lt.u32 %p7, %r{i}, {count}; @%p7 bra FILL{n};\n"
)
SUM = (
    "mov.u32 %r{i}, 0;\nSUM{n}: mad.lo.u32 %r20, %r{i}, 4, {at}; ld.local.u32 %r21, [%r20]; add.u32 {to}, {to}, %r21; "
    "add.u32 %r{i}, %r{i}, 1; setp.lt.u32 %p7, %r{i}, {count}; @%p7 bra SUM{n};\n"
)


def _fill(n: int, at: str, value: str, count: str) -> str:
    return FILL.format(i=22, n=n, at=at, value=value, count=count)


def _sum(n: int, at: str, to: str, count: str) -> str:
    return SUM.format(i=22, n=n, at=at, to=to, count=count)


# So many words in each activation, used again behind the call; eight bytes of them are given back in front of it.
TAKE = function(
    "take", 2,
    "mov.u32 %r0, %r2; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; stacksave.u32 %r10; shl.b32 %r3, %r1, 2; alloca.u32 %r4, %r3, 4;\n"
    + _fill(0, "%r4", "%r2", "%r1")
    + "stacksave.u32 %r5; alloca.u32 %r6, 8; st.local.u32 [%r6], %r2; ld.local.u32 %r7, [%r6]; stackrestore.u32 %r5;\n"
    + f"sub.u32 %r8, %r1, 1; add.u32 %r9, %r7, %r1; {call('take', '%r11', '%r8', '%r9')} mov.u32 %r0, %r11;\n"
    + _sum(0, "%r4", "%r0", "%r1")
    + f"stackrestore.u32 %r10; {call('take', '%r12', '%r8', '%r0')} add.u32 %r0, %r12, 1;\n",
)  # fmt: skip


def _take(n: int, x: int) -> int:
    if n == 0:
        return x
    y = (_take(n - 1, (x + n) & M32) + sum(5 * k + x for k in range(n))) & M32
    return (_take(n - 1, y) + 1) & M32


TAKE_BODY = "and.b32 %r4, %r2, 3; " + call("take", "%r3", "%r4", "%r2")

# An area of the kernel, one of a function that is inlined and calls one that is inlined and makes the calls, more arguments than
# registers: none meet.
NESTED = (
    ".func (.param .b32 res) deep("
    + ", ".join(f".param .b32 p{k}" for k in range(15))
    + ");\n"
    + function(
        "deep", 15,
        "mov.u32 %r0, 0;" + "".join(f" mad.lo.u32 %r0, %r{k + 1}, {k + 1}, %r0;" for k in range(15))
        + " setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; sub.u32 %r30, %r1, 1; alloca.u32 %r31, 16; st.local.u32 [%r31+12], %r0;\n"
        + call("deep", "%r32", "%r30", *(f"%r{16 - k}" for k in range(1, 15)))
        + " ld.local.u32 %r33, [%r31+12]; add.u32 %r0, %r32, %r33;",
    )
    + function(
        "middle", 2,
        "add.u32 %r3, %r1, 1;" + "".join(f" add.u32 %r{4 + k}, %r2, {k};" for k in range(14))
        + call("deep", "%r0", "%r1", *(f"%r{4 + k}" for k in range(14))),
    )
    + function(
        "outer", 2,
        f"alloca.u32 %r30, 40; {_fill(0, '%r30', '%r2', '10')} {call('middle', '%r0', '%r1', '%r2')}"
        f" {_sum(0, '%r30', '%r0', '10')}",
    )
)  # fmt: skip
NESTED_BODY = (
    f"and.b32 %r4, %r2, 3; mov.u32 %r5, 0; mov.u32 %r3, 0;\nLOOP: add.u32 %r8, %r5, 2; shl.b32 %r9, %r8, 2;"
    f" alloca.u32 %r6, %r9;\n{_fill(0, '%r6', '%r2', '%r8')} {call('outer', '%r7', '%r4', '%r5')}"
    f" add.u32 %r3, %r3, %r7; {_sum(0, '%r6', '%r3', '%r8')}\n"
    f"{call('middle', '%r7', '%r4', '%r2')} add.u32 %r3, %r3, %r7; {_sum(1, '%r6', '%r3', '%r8')}\n"
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra LOOP;"
)


def _deep(p: list[int]) -> int:
    own = sum((k + 1) * v for k, v in enumerate(p)) & M32
    return (own + _deep([p[0] - 1, *reversed(p[1:])])) & M32 if p[0] else own


def _nested(data: list[int], t: int) -> int:
    total, n = 0, data[t] & 3
    for r in range(3):
        area = sum(5 * k + data[t] for k in range(r + 2))
        total += _deep([n, *(r + k for k in range(14))]) + sum(5 * k + r for k in range(10)) + area
        total += _deep([n, *(data[t] + k for k in range(14))]) + area
    return total & M32


MEMORY_PROGRAMS: dict[str, Program] = {
    "result of 49 bytes": large(49, 1),
    "result of 50 bytes": large(50, 2),
    "result of 52 bytes and 11 arguments": large(52, 4, 9),
    "result of 64 bytes and 16 arguments": large(64, 16, 14),
    "result of 256 bytes": large(256, 8, depth=1),
    "addresses of parameters, inlined": choose(False),
    "addresses of parameters": choose(True),
    "space in each activation": Program(TAKE + entry(TAKE_BODY), lambda data, t: _take(data[t] & 3, data[t])),
    "space of several functions": Program(NESTED + entry(NESTED_BODY), _nested),
}
