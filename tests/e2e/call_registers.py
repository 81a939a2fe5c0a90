"""Programs whose functions have results and parameters in registers of all kinds: see :mod:`tests.e2e.call_programs`."""

from __future__ import annotations

from .call_programs import M32, Program, entry

M16 = 0xFFFF
REGISTERS = ".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .b16 %s<9>; .reg .pred %p<4>;"
CALLER = (
    "  .reg .b16 %s<9>; .reg .v2 .b32 %v; .reg .v4 .b8 %b; .reg .v2 .u16 %h; .reg .v2 .b64 %w;\n"
    "  .reg .f16x2 %x; .reg .v4 .f32 %q;\n"
)


def _vectors(recursive: bool) -> Program:
    """Vectors of elements from 8 to 64 bits, in and out; one results in another's arguments."""
    again = "setp.eq.u32 %p1, %n, 0; @%p1 bra END; sub.u32 %r9, %n, 1; call (%res), mix, (%r9, %a, %h, %b, %w, %x);\nEND:"
    mix = (
        ".func (.reg .v2 .b32 %res) mix(.reg .b32 %n, .reg .v2 .b32 %a, .reg .v2 .u16 %h, .reg .v4 .b8 %b, .reg .v2 .b64 %w,"
        f" .reg .f16x2 %x)\n{{ {REGISTERS}\n"
        "cvt.u32.u16 %r1, %h.x; cvt.u32.u16 %r2, %h.y; mad.lo.u32 %r3, %r1, 3, %r2; cvt.u32.u8 %r4, %b.x; cvt.u32.u8 %r5, %b.w;\n"
        "mad.lo.u32 %r3, %r4, 5, %r3; mad.lo.u32 %r3, %r5, 7, %r3; cvt.u32.u64 %r6, %w.x; shr.u64 %d1, %w.y, 32;\n"
        "cvt.u32.u64 %r7, %d1; add.u32 %res.x, %r3, %r6; add.u32 %res.x, %res.x, %a.y; mov.b32 %r8, %x;\n"
        "add.u32 %res.y, %a.x, %r7; add.u32 %res.y, %res.y, %r8; mov.b32 %a.x, %res.x; add.u16 %h.y, %h.y, 1;\n"
        f"mov.b32 %a.y, %res.y; setp.gt.u32 %p2, %n, 7; @%p2 ret;\n{again if recursive else ''} ret; }}\n"
    )
    body = (
        "and.b32 %r9, %r2, 3; mov.b32 %v.x, %r2; add.u32 %v.y, %r2, 9; cvt.u8.u32 %b.x, %r2;\n"
        "mov.b16 %s1, 2; cvt.u8.u16 %b.y, %s1;\n"
        "cvt.u8.u16 %b.z, %s1; cvt.u8.u32 %b.w, %r1; cvt.u16.u32 %h.x, %r2; cvt.u16.u32 %h.y, %r1;\n"
        "cvt.u64.u32 %w.x, %r1; cvt.u64.u32 %d3, %r2; shl.b64 %w.y, %d3, 32; mov.b32 %x, %r1;\n"
        "call (%v), mix, (%r9, %v, %h, %b, %w, %x); mad.lo.u32 %r3, %v.x, 11, %v.y;"
    )

    def step(n: int, a: list[int], x: int, t: int, h: int) -> list[int]:
        own = (3 * (x & M16) + h + 5 * (x & 255) + 7 * (t & 255) + t + a[1]) & M32
        found = [own, (a[0] + x + t) & M32]
        return step(n - 1, found, x, t, h + 1 & M16) if recursive and n else found

    def want(data: list[int], t: int) -> int:
        first, second = step(data[t] & 3, [data[t], data[t] + 9], data[t], t, t)
        return (11 * first + second) & M32

    return Program(mix + entry(body, CALLER), want)


def _small(recursive: bool) -> Program:
    """Results that are a word or less, a function that ends without ``ret``."""
    again = "setp.eq.u32 %p1, %n, 0; @%p1 bra END; sub.u32 %r9, %n, 1; call (%res), small, (%r9, %a, %q);\nEND:"
    small = (
        f".func (.reg .v4 .b8 %res) small(.reg .b32 %n, .reg .v2 .b32 %a, .reg .v4 .f32 %q)\n"
        f"{{ {REGISTERS} .reg .f32 %f<4>;\n"
        "add.u32 %r1, %a.x, 1; add.u32 %r2, %a.y, 2; mov.b32 %a.x, %r1; mov.b32 %a.y, %r2;\n"
        "mov.b32 %r3, %q.w; add.u32 %r4, %r1, %r3;\n"
        "cvt.u8.u32 %res.x, %r1; cvt.u8.u32 %res.y, %r2; cvt.u8.u32 %res.z, %n; cvt.u8.u32 %res.w, %r4;\n"
        f"{again if recursive else ''} ret; }}\n"
    )
    wide = (
        f".func (.reg .v2 .u32 %res) wide(.reg .b32 %a)\n{{ {REGISTERS}\nadd.u32 %res.y, %a, 77; mov.b32 %res.x, %a; }}\n"
        f".func (.reg .v2 .b16 %res) half(.reg .v4 .b8 %a)\n{{ {REGISTERS}\n"
        "cvt.u16.u8 %s1, %a.x; cvt.u16.u8 %s2, %a.y; mad.lo.u16 %res.x, %s1, %s2, 3; cvt.u16.u8 %s3, %a.z;\n"
        "cvt.u16.u8 %s4, %a.w; mad.lo.u16 %res.y, %s3, 256, %s4; ret; }\n"
    )
    body = (
        "and.b32 %r9, %r2, 3; call (%v), wide, (%r2); mov.b32 %q.x, %r1; mov.b32 %q.y, %r1;\n"
        "mov.b32 %q.z, %r1; mov.b32 %q.w, %r1; call (%b), small, (%r9, %v, %q); call (%h), half, (%b);\n"
        "cvt.u32.u16 %r4, %h.x; cvt.u32.u16 %r5, %h.y; mad.lo.u32 %r3, %r4, 65536, %r5;"
    )

    def want(data: list[int], t: int) -> int:
        n = data[t] & 3
        times = n + 1 if recursive else 1
        x, y = data[t] + times & 255, data[t] + 77 + 2 * times & 255
        z, w = 0 if recursive else n, data[t] + times + t & 255
        return ((x * y + 3 & M16) << 16 | z * 256 + w) & M32

    return Program(small + wide + entry(body, CALLER), want)


def _variables(recursive: bool) -> Program:
    """Variables in .param for parameters in registers, and the other way round."""
    again = "setp.eq.u32 %p1, %n, 0; @%p1 bra END; sub.u32 %r9, %n, 1; call (%res), of, (%r9, %d3, %r2);\nEND:"
    of = (
        f".func (.reg .b64 %res) of(.reg .b32 %n, .reg .b64 %a, .param .b32 b)\n{{ {REGISTERS}\n"
        "ld.param.b32 %r1, [b]; cvt.u64.u32 %d1, %r1; add.u64 %d3, %a, %d1; add.u32 %r2, %r1, 1; add.u64 %res, %d3, 5;\n"
        f"{again if recursive else ''} ret; }}\n"
        f".func (.reg .b32 %res) less(.reg .b64 %a)\n{{ {REGISTERS}\nadd.u64 %d1, %a, 3;\n"
        "cvt.u32.u64 %r1, %d1; shr.u64 %d2, %d1, 32;\n"
        "cvt.u32.u64 %r2, %d2; add.u32 %res, %r1, %r2; ret; }\n"
    )
    body = (
        "and.b32 %r9, %r2, 3; { .param .b32 n; .param .b64 a; .param .b64 r; .param .b64 c; .param .b32 s;\n"
        "st.param.b32 [n], %r9;\n"
        "cvt.u64.u32 %d3, %r2; shl.b64 %d4, %d3, 32; or.b64 %d3, %d3, %d4; st.param.b64 [a], %d3;\n"
        "call (r), of, (n, a, %r1); ld.param.b64 %d5, [r]; st.param.b64 [c], %d5; call (s), less, (c); ld.param.b32 %r3, [s]; }\n"
        "cvt.u32.u64 %r4, %d5; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r9;"
    )

    def want(data: list[int], t: int) -> int:
        n = data[t] & 3
        total = (data[t] << 32 | data[t]) + sum(t + k for k in range(n + 1 if recursive else 1)) + 5
        less = (total + 3 & M32) + (total + 3 >> 32)
        return (less + total + n) & M32

    return Program(of + entry(body), want)


def _tables(space: str) -> Program:
    """A variable with addresses of functions says what a call through a register calls; families of names of both kinds."""
    functions = "".join(
        f".func (.reg .b32 %res) way{n}(.reg .b32 %a, .reg .b32 %b)\n{{ {line} ret; }}\n"
        for n, line in enumerate(("add.u32 %res, %a, %b;", "sub.u32 %res, %a, %b;", "mul.lo.u32 %res, %a, %b;"))
    )
    table = f".{space} .align 8 .u64 ways[4] = {{way0, way1, way2, way0}};\n"
    body = (
        "T: .branchtargets L0, K<2>, L1; and.b32 %r4, %r2, 3; mov.u64 %d3, ways; mad.wide.u32 %d3, %r4, 8, %d3;\n"
        f"ld.{space}.u64 %d4, [%d3]; call (%r5), %d4, (%r2, %r1), ways; F: .calltargets way<3>; mov.u64 %d5, way2;\n"
        "call (%r6), %d5, (%r5, %r2), F; mov.u32 %r3, %r6; brx.idx %r4, T;\n"
        "L0: add.u32 %r3, %r3, 5; K0: add.u32 %r3, %r3, 6; K1: add.u32 %r3, %r3, 7; L1:"
    )

    def want(data: list[int], t: int) -> int:
        x, way = data[t], data[t] & 3
        first = (x + t, x - t, x * t, x + t)[way]
        return (first * x + sum((5, 6, 7)[way:])) & M32

    return Program(functions + table + entry(body), want)


REGISTER_PROGRAMS: dict[str, Program] = {
    "vectors in registers": _vectors(recursive=True),
    "vectors in registers, inlined": _vectors(recursive=False),
    "small vectors": _small(recursive=True),
    "small vectors, inlined": _small(recursive=False),
    "variables for registers": _variables(recursive=True),
    "variables for registers, inlined": _variables(recursive=False),
    "a variable as the table of a call": _tables("global"),
    "a constant as the table of a call": _tables("const"),
}
