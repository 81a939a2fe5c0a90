"""The products of warp groups (wgmma) that tests/sim/vendor/group.sm_90a.cubin.xz holds, one kernel each.

A kernel is one warp group. It copies `image` into shared memory, adds the address of that memory to the two descriptors it is
given, reads its accumulators (and registers of A, metadata) from arrays of words [thread][register], executes one product and
writes the accumulators back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.sim.matrix_forms import WIDTH

Array = np.ndarray[Any, Any]
ROOM = 40960  # bytes of shared memory: static memory ends at 48 KiB


@dataclass(frozen=True)
class Group:
    """One kernel."""

    n: int
    atype: str
    btype: str
    ctype: str
    registers: bool = False  # A in registers
    turned_a: bool = False  # A, B with M and N contiguous
    turned_b: bool = False
    negative_a: bool = False
    negative_b: bool = False
    sparse: bool = False
    selector: int = 0
    sat: bool = False

    @property
    def k(self) -> int:
        """Elements of the inner dimension."""
        return 256 // WIDTH[self.atype] * (2 if self.sparse else 1)

    @property
    def name(self) -> str:
        """Name of the kernel."""
        flags = ("registers", "turned_a", "turned_b", "negative_a", "negative_b", "sparse", "sat")
        marks = "".join(f"_{flag}" for flag in flags if getattr(self, flag))
        return f"n{self.n}_{self.atype}_{self.btype}_{self.ctype}{marks}"

    @property
    def words(self) -> int:
        """Registers of the accumulator of a thread."""
        return self.n // (4 if self.ctype == "f16" else 2)


GROUPS = (
    *(Group(n, "f16", "f16", "f32") for n in (8, 24, 64, 128, 256)),
    Group(16, "f16", "f16", "f16", negative_b=True),
    Group(32, "bf16", "bf16", "f32", turned_a=True),
    Group(40, "f16", "f16", "f32", turned_b=True, negative_a=True),
    Group(96, "bf16", "bf16", "f32", turned_a=True, turned_b=True),
    Group(64, "f16", "f16", "f32", registers=True, turned_b=True),
    Group(16, "bf16", "bf16", "f32", registers=True, negative_a=True, negative_b=True),
    Group(48, "tf32", "tf32", "f32"),
    Group(24, "tf32", "tf32", "f32", registers=True),
    Group(32, "e4m3", "e5m2", "f32"),
    Group(64, "e5m2", "e4m3", "f16"),
    Group(16, "e4m3", "e4m3", "f32", registers=True, negative_a=True),
    Group(32, "s8", "u8", "s32"),
    Group(16, "s8", "s8", "s32", sat=True),
    Group(24, "u8", "s8", "s32", registers=True),
    Group(32, "b1", "b1", "s32"),
    Group(16, "b1", "b1", "s32", registers=True),
    Group(32, "f16", "f16", "f32", sparse=True, selector=1),
    Group(16, "bf16", "bf16", "f32", sparse=True, registers=True),
    Group(16, "tf32", "tf32", "f32", sparse=True, selector=1),
    Group(32, "e4m3", "e4m3", "f32", sparse=True),
    Group(16, "s8", "s8", "s32", sparse=True),
    Group(64, "u8", "u8", "s32", sparse=True, registers=True, sat=True),
)


def instruction(group: Group, a: str, d: str) -> str:
    """The PTX of the product."""
    floats = group.ctype != "s32"
    types = f"{group.ctype}.{group.atype}.{group.btype}" + (".and.popc" if group.atype == "b1" else "")
    head = f"wgmma.mma_async{'.sp' if group.sparse else ''}.sync.aligned.m64n{group.n}k{group.k}.{types}"
    head += ".satfinite" if group.sat else ""
    operands = [d, a, "db", *(["e", str(group.selector)] if group.sparse else []), "used"]
    if floats:
        operands += ["-1" if group.negative_a else "1", "-1" if group.negative_b else "1"]
    if group.atype in ("f16", "bf16"):
        operands += [] if group.registers else [str(int(group.turned_a))]
        operands.append(str(int(group.turned_b)))
    return f"{head} {', '.join(operands)};"


def kernel(group: Group) -> str:
    """The PTX of a kernel."""
    kind = "f32" if group.ctype == "f32" else "b32"
    lines = [
        f".reg .{kind} d<{group.words}>;",
        ".reg .b32 a<4>, t, s, e, i, x;",
        ".reg .b64 da, db, p<8>;",
        ".reg .pred used, more;",
    ]
    lines += [f".shared .align 1024 .b8 room[{ROOM}];", "mov.u32 t, %tid.x;", "mov.u32 s, room;", "mul.lo.u32 i, t, 4;"]
    lines += [f"ld.param.u64 p{i}, [p_{n}];" for i, n in enumerate(("image", "a", "c", "e"))]
    lines += [
        "COPY:",
        "cvt.u64.u32 p4, i;",
        "add.u64 p5, p0, p4;",
        "ld.global.b32 x, [p5];",
        "add.u32 e, s, i;",
        "st.shared.b32 [e], x;",
    ]
    lines += ["add.u32 i, i, 512;", f"setp.lt.u32 more, i, {ROOM};", "@more bra COPY;", "fence.proxy.async;", "bar.sync 0;"]
    lines += ["ld.param.u64 da, [p_da];", "ld.param.u64 db, [p_db];", "shr.u32 x, s, 4;", "cvt.u64.u32 p4, x;"]
    lines += ["add.u64 da, da, p4;", "add.u64 db, db, p4;", "ld.param.u32 x, [p_used];", "setp.ne.u32 used, x, 0;"]
    lines += ["mad.wide.u32 p3, t, 4, p3;", "ld.global.b32 e, [p3];", "mad.wide.u32 p1, t, 16, p1;"]
    lines += [f"ld.global.b32 a{j}, [p1+{4 * j}];" for j in range(4)]
    lines.append(f"mad.wide.u32 p2, t, {4 * group.words}, p2;")
    lines += [f"ld.global.{kind} d{j}, [p2+{4 * j}];" for j in range(group.words)]
    lines.append("wgmma.fence.sync.aligned;")
    operands = "{" + ", ".join(f"d{j}" for j in range(group.words)) + "}"
    lines.append(instruction(group, "{a0, a1, a2, a3}" if group.registers else "da", operands))
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    lines += [f"st.global.{kind} [p2+{4 * j}], d{j};" for j in range(group.words)]
    parameters = ", ".join([*(f".param .u64 p_{n}" for n in ("image", "a", "c", "e", "da", "db")), ".param .u32 p_used"])
    return f".visible .entry {group.name}({parameters}) {{\n" + "\n".join(lines) + "\nret;\n}\n"


def module_text() -> str:
    """The PTX module."""
    return ".version 9.0\n.target sm_90a\n.address_size 64\n" + "".join(kernel(g) for g in GROUPS)


@dataclass(frozen=True)
class Placing:
    """Where a matrix stands: swizzle span in bytes (16: none), offsets of its descriptor, start; whether rows are contiguous."""

    span: int
    lead: int
    stride: int
    start: int
    by_row: bool

    def descriptor(self) -> int:
        """The descriptor, relative to the start of shared memory."""
        mode = {16: 0, 128: 1, 64: 2, 32: 3}[self.span]
        return self.start >> 4 | (self.lead >> 4) << 16 | (self.stride >> 4) << 32 | mode << 62

    def address(self, row: int, unit: int) -> int:
        """Address of the unit of 16 bytes: `unit` counts along k of `row`, or (by_row) along the rows of k = `row`."""
        units = self.span // 16
        if self.by_row and units == 1:
            at = unit * self.stride + row % 8 * 16 + row // 8 * self.lead
        elif units == 1:
            at = row % 8 * 16 + row // 8 * self.stride + unit * self.lead
        else:
            at = row % 8 * self.span + row // 8 * self.stride + unit // units * self.lead + unit % units * 16
        at += self.start
        return at ^ (at >> 7 & (units - 1)) << 4


def place(image: Array, codes: Array, width: int, placing: Placing) -> None:
    """Write a matrix of element codes [row][k] into an image of shared memory."""
    lines = codes.T if placing.by_row else codes
    each = 128 // width
    for line, values in enumerate(lines):
        bits = (values[:, None].astype(np.uint64) >> np.arange(width, dtype=np.uint64)) & np.uint64(1)
        raw = np.packbits(bits.astype(np.uint8).ravel(), bitorder="little")
        for unit in range(-(-len(values) // each)):
            piece = raw[16 * unit : 16 * unit + 16]
            at = placing.address(line, unit)
            image[at : at + len(piece)] = piece
