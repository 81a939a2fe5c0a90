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


MEMORY_PROGRAMS: dict[str, Program] = {
    "result of 49 bytes": large(49, 1),
    "result of 50 bytes": large(50, 2),
    "result of 52 bytes and 11 arguments": large(52, 4, 9),
    "result of 64 bytes and 16 arguments": large(64, 16, 14),
    "result of 256 bytes": large(256, 8, depth=1),
}
