"""Programs whose parts name variables, functions and entries of each other: see :mod:`tests.e2e.call_programs`."""

from __future__ import annotations

from .call_programs import M32, Program, call, entry, function, indirect

SHARED = ".shared .align 16 .b32 first[64];\n.shared .align 4 .b32 second[64];\n"
VISITS = function(
    "visits", 2,
    "shl.b32 %r4, %r1, 2; mov.u32 %r5, first; add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], %r2; bar.sync 0;\n"
    "xor.b32 %r6, %r4, 4; mov.u32 %r7, first; add.u32 %r7, %r7, %r6; ld.shared.u32 %r0, [%r7];\n"
    "mov.u32 %r8, second; add.u32 %r8, %r8, %r4; st.shared.u32 [%r8], %r0;",
)  # fmt: skip
OWN = function(
    "own", 2,
    "mov.u64 %d1, inside; mad.wide.u32 %d1, %r1, 4, %d1; st.shared.u32 [%d1], %r2; bar.sync 0;\n"
    "xor.b32 %r3, %r1, 1; mov.u64 %d2, inside; mad.wide.u32 %d2, %r3, 4, %d2; ld.shared.u32 %r0, [%d2]; bar.sync 0;",
    ".shared .align 8 .b32 inside[64];",
)  # fmt: skip
CONSTANTS = (
    ".const .align 4 .u32 odd[4] = {1, 3, 5, 7};\n.visible .const .align 8 .u64 wide[2] = {0x100000001, 0x200000005};\n"
    ".global .align 4 .u32 sums[4] = {10, 20, 30, 40};\n.global .align 8 .u64 where = generic(sums);\n"
    ".global .align 4 .b32 room[256];\n"
)
READS = function(
    "reads", 1,
    "and.b32 %r2, %r1, 3; shl.b32 %r3, %r2, 2; mov.u32 %r4, odd; add.u32 %r4, %r4, %r3; ld.const.u32 %r5, [%r4];\n"
    "ld.const.u32 %r6, [odd+8]; ld.const.u64 %d1, [wide+8]; cvt.u32.u64 %r7, %d1;\n"
    "mov.u64 %d2, odd; cvta.const.u64 %d2, %d2; ld.u32 %r8, [%d2+4];\n"
    "mov.u64 %d3, where; ld.global.u64 %d4, [%d3]; mad.wide.u32 %d4, %r2, 4, %d4; ld.u32 %r9, [%d4];\n"
    "add.u32 %r0, %r5, %r6; add.u32 %r0, %r0, %r7; add.u32 %r0, %r0, %r8; add.u32 %r0, %r0, %r9;",
)  # fmt: skip
WRITES = function(
    "writes", 2,
    "mov.u64 %d1, room; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ld.global.u32 %r3, [room]; \n"
    "ld.global.u32 %r0, [%d1]; mov.u64 %d2, room; cvta.global.u64 %d2, %d2; mad.wide.u32 %d2, %r1, 4, %d2; ld.u32 %r4, [%d2];\n"
    "add.u32 %r0, %r0, %r4;",
)  # fmt: skip
POINTERS = (
    function("plus", 1, "add.u32 %r0, %r1, 100;")
    + function("minus", 1, "sub.u32 %r0, %r1, 7;")
    + function("twice", 1, f"{call('plus', '%r2', '%r1')} {call('plus', '%r0', '%r2')}")
    + ".global .align 8 .u64 table[4] = {plus, minus, twice, plus};\n.const .align 8 .u64 few[2] = {minus, twice};\n"
)
PICK = function(
    "pick", 2,
    "and.b32 %r3, %r1, 3; mov.u64 %d1, table; mad.wide.u32 %d1, %r3, 8, %d1; ld.global.u64 %d2, [%d1];\n"
    f"{indirect('%d2', '%r4', '%r2')}\n"
    "and.b32 %r3, %r1, 1; mov.u64 %d3, few; mad.wide.u32 %d3, %r3, 8, %d3; ld.const.u64 %d4, [%d3];\n"
    "setp.gt.u32 %p1, %r1, 40; mov.u64 %d5, plus; selp.b64 %d4, %d5, %d4, %p1;\n"
    f"{indirect('%d4', '%r0', '%r4')}",
)  # fmt: skip


def _visits(data: list[int], t: int) -> int:
    return data[t ^ 1] + 1 & M32


def _own(data: list[int], t: int) -> int:
    return data[t ^ 1] + 3 & M32


def _reads(data: list[int], t: int) -> int:
    n = data[t] & 3
    return (1, 3, 5, 7)[n] + 5 + 5 + 3 + (10, 20, 30, 40)[n]


def _writes(data: list[int], t: int) -> int:
    return 2 * data[t] & M32


def _pick(data: list[int], t: int) -> int:
    ways = (lambda x: x + 100, lambda x: x - 7, lambda x: x + 200)
    first = (ways[0], ways[1], ways[2], ways[0])[t & 3](data[t])
    return (ways[0] if t > 40 else (ways[1], ways[2])[t & 1])(first) & M32


# Constants of doubles and jumps of many ways, which whole programs have in bank 2.
BANK = (
    "and.b32 %r10, %r2, 15; " + " ".join(f"setp.eq.u32 %p1, %r10, {n}; @%p1 bra W{n};" for n in range(8)) + " bra W8;\n"
    + "\n".join(f"W{n}: mul.lo.u32 %r10, %r10, {2 * n + 3}; xor.b32 %r10, %r10, {77 * n}; bra J;" for n in range(9))
    + "\nJ: { .reg .f64 %f; cvt.rn.f64.u32 %f, %r10; fma.rn.f64 %f, %f, 0d3FF999999999999A, 0d3FB999999999999A;\n"
    "cvt.rzi.u32.f64 %r3, %f; }"
)  # fmt: skip


def _bank(data: list[int], t: int) -> int:
    number = data[t] & 15
    case = min(number, 8)
    return int((number * (2 * case + 3) ^ 77 * case) * 1.6 + 0.1)  # no product is so near to an integer that the rounding counts


PROGRAMS: dict[str, Program] = {
    "constants and tables of the compiler": Program(entry(BANK), _bank),
    "shared variables of the module": Program(
        SHARED + VISITS + entry(
            f"{call('visits', '%r3', '%r1', '%r2')} mov.u32 %r9, second; shl.b32 %r10, %r1, 2; add.u32 %r9, %r9, %r10;\n"
            "ld.shared.u32 %r3, [%r9]; add.u32 %r3, %r3, 1;"
        ),
        _visits,
    ),
    "shared variables of a function and a kernel": Program(
        OWN + entry(
            f"mov.u32 %r9, mine; shl.b32 %r10, %r1, 2; add.u32 %r9, %r9, %r10; st.shared.u32 [%r9], 3;\n"
            f"{call('own', '%r3', '%r1', '%r2')} ld.shared.u32 %r4, [%r9]; add.u32 %r3, %r3, %r4;",
            "  .shared .align 16 .b32 mine[64];\n",
        ),
        _own,
    ),
    "constants and pointers to globals": Program(CONSTANTS + READS + entry(call("reads", "%r3", "%r2")), _reads),
    "a global array": Program(CONSTANTS + WRITES + entry(call("writes", "%r3", "%r1", "%r2")), _writes),
    "tables and addresses of functions": Program(POINTERS + PICK + entry(call("pick", "%r3", "%r1", "%r2")), _pick),
}  # fmt: skip
