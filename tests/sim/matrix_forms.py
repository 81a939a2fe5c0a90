"""The matrix products of PTX that tests/sim/vendor/matrix.*.cubin.xz hold, one kernel each, and the layouts of their fragments.

A kernel is one warp: thread `lane` reads its registers of A, B, C (and metadata, scales) from arrays of words [lane][register],
executes one ``mma`` and writes its registers of D. Layouts are those of the PTX manual, "Matrix Fragments for mma".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
TARGETS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
WIDTH = {
    "f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
    "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8, "e2m1": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Form:
    """One kernel. ``k`` is that of the whole product; ``width`` the bits in which an element of A or B is stored."""

    name: str
    m: int
    k: int
    atype: str
    btype: str
    ctype: str
    dtype: str
    text: str  # the instruction with {d}, {a}, {b}, {c}, {e} (metadata), {sa}, {sb} (scales)
    width: int
    sparse: bool = False
    selector: int = 0
    scale: str = ""  # type of the scales
    blocks: int = 0
    chosen: tuple[int, int, int, int] = (0, 0, 0, 0)  # byte and thread of A's scales, of B's
    row: str = "row"
    col: str = "col"
    op: str = ""  # of bits
    sat: bool = False

    def words(self) -> tuple[int, int, int, int]:
        """Registers of A, B, C, D."""
        if self.k == 4 and self.width == 16:  # quad pairs: eight columns for each of four products of 8 x 8
            return 2, 2, 8 if self.ctype == "f32" else 4, 8 if self.dtype == "f32" else 4
        kept = self.k // 2 if self.sparse else self.k
        each = {"f16": 16, "f64": 64}
        c, d = (self.m * 8 * each.get(t, 32) // 1024 for t in (self.ctype, self.dtype))
        return self.m * kept * self.width // 1024, 8 * self.k * self.width // 1024, c, d


def _floats(target: int) -> list[Form]:
    forms = []

    def add(shape: str, a: str, c: str, sparse: bool = False, selector: int = 0, ordered: bool = False) -> None:
        k = int(shape.split("k")[1])
        kind = "mma" + (".sp::ordered_metadata" if ordered else ".sp" if sparse else "")
        tail = f", {{e}}, {selector}" if sparse else ""
        text = f"{kind}.sync.aligned.{shape}.row.col.{c}.{a}.{a}.{c} {{d}}, {{a}}, {{b}}, {{c}}{tail};"
        forms.append(
            Form(f"{shape}_{a}_{c}{f'_sp{selector}' if sparse else ''}", 16, k, a, a, c, c, text, WIDTH[a], sparse, selector)
        )

    for c in ("f16", "f32"):
        add("m16n8k8", "f16", c)
        if target >= 80:
            add("m16n8k16", "f16", c)
            add("m16n8k16", "f16", c, True, 2, ordered=target >= 100)
            add("m16n8k32", "f16", c, True, 1, ordered=target >= 100)
    if target >= 80:
        for shape in ("m16n8k8", "m16n8k16"):
            add(shape, "bf16", "f32")
        for shape in ("m16n8k4", "m16n8k8"):
            add(shape, "tf32", "f32")
        add("m16n8k8", "tf32", "f32", True, 3)
        add("m16n8k16", "tf32", "f32", True, 1)
        add("m16n8k32", "bf16", "f32", True, 0)
    for row in ("row", "col"):
        for col in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
                text = f"mma.sync.aligned.m8n8k4.{row}.{col}.{d}.f16.f16.{c} {{d}}, {{a}}, {{b}}, {{c}};"
                forms.append(Form(f"m8n8k4_{row}_{col}_{d}_{c}", 8, 4, "f16", "f16", c, d, text, 16, row=row, col=col))
    if target >= 80:
        doubles = (("m8n8k4", 8, 4), ("m16n8k4", 16, 4), ("m16n8k8", 16, 8), ("m16n8k16", 16, 16))
        for shape, m, k in doubles[: 4 if target >= 90 else 1]:
            text = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {{d}}, {{a}}, {{b}}, {{c}};"
            forms.append(Form(f"{shape}_f64", m, k, "f64", "f64", "f64", "f64", text, 64))
    return forms


def _integers(target: int) -> list[Form]:
    forms = []

    def add(shape: str, a: str, b: str, sat: bool, sparse: bool = False, selector: int = 0) -> None:
        m, k = int(shape[1 : shape.index("n")]), int(shape.split("k")[1])
        tail = f", {{e}}, {selector}" if sparse else ""
        head = f"mma{'.sp' if sparse else ''}.sync.aligned.{shape}.row.col{'.satfinite' if sat else ''}"
        text = f"{head}.s32.{a}.{b}.s32 {{d}}, {{a}}, {{b}}, {{c}}{tail};"
        name = f"{shape}_{a}_{b}{'_sat' if sat else ''}{f'_sp{selector}' if sparse else ''}"
        forms.append(Form(name, m, k, a, b, "s32", "s32", text, WIDTH[a], sparse, selector, sat=sat))

    for size, shapes in (("8", ("m8n8k16", "m16n8k16", "m16n8k32")), ("4", ("m8n8k32", "m16n8k32", "m16n8k64"))):
        for a, b in (("s", "s"), ("u", "u"), ("s", "u"), ("u", "s")):
            for shape in shapes[: 3 if target >= 80 else 1]:
                add(shape, a + size, b + size, a == b == "s" or shape.startswith("m16n8k32"))
    if target >= 80:
        add("m16n8k32", "s8", "u8", False, True, 1)
        add("m16n8k64", "u8", "s8", True, True, 0)
        add("m16n8k64", "s4", "s4", False, True, 1)
        add("m16n8k128", "u4", "u4", False, True, 0)
    for op in ("xor", "and") if target >= 80 else ("xor",):
        for shape, m, k in (("m8n8k128", 8, 128), ("m16n8k128", 16, 128), ("m16n8k256", 16, 256))[: 3 if target >= 80 else 1]:
            text = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc {{d}}, {{a}}, {{b}}, {{c}};"
            forms.append(Form(f"{shape}_b1_{op}", m, k, "b1", "b1", "s32", "s32", text, 1, op=op))
    return forms


def _bytes(target: int) -> list[Form]:
    """FP8 from sm_89 on; FP6, FP4 and scaled blocks on sm_120a."""
    forms = []

    def add(shape: str, a: str, b: str, c: str, kind: str = "", sparse: bool = False) -> None:
        k = int(shape.split("k")[1])
        head = "mma" + (".sp::ordered_metadata" if sparse and kind else ".sp" if sparse else "")
        tail = ", {e}, 0" if sparse else ""
        text = f"{head}.sync.aligned.{shape}.row.col{kind}.{c}.{a}.{b}.{c} {{d}}, {{a}}, {{b}}, {{c}}{tail};"
        forms.append(Form(f"{shape}_{a}_{b}_{c}{'_sp' if sparse else ''}", 16, k, a, b, c, c, text, 8, sparse))

    for a, b, c in (("e4m3", "e4m3", "f32"), ("e5m2", "e4m3", "f32"), ("e4m3", "e5m2", "f16")):
        for shape in ("m16n8k16", "m16n8k32"):
            add(shape, a, b, c)
    add("m16n8k64", "e4m3", "e5m2", "f32", sparse=True)
    if target != 120:
        return forms
    for a, b, c in (("e3m2", "e2m3", "f32"), ("e2m1", "e5m2", "f16"), ("e2m3", "e2m1", "f32"), ("e2m1", "e3m2", "f32")):
        add("m16n8k32", a, b, c, ".kind::f8f6f4")
    add("m16n8k64", "e2m1", "e3m2", "f32", ".kind::f8f6f4", True)

    def scaled(
        kind: str, shape: str, types: str, vec: str, scale: str, chosen: tuple[int, int, int, int], sparse: bool = False
    ) -> None:
        a, b = types.split(".")
        k, blocks, width = int(shape.split("k")[1]), int(vec[0]), 8 if "f8" in kind else 4
        head, tail = ("mma.sp::ordered_metadata", "{e}, 0, ") if sparse else ("mma", "")
        ids = f"{{sa}}, {{{{{chosen[0]}, {chosen[1]}}}}}, {{sb}}, {{{{{chosen[2]}, {chosen[3]}}}}}"
        text = (
            f"{head}.sync.aligned.{shape}.row.col.kind::{kind}.block_scale.scale_vec::{vec}.f32.{a}.{b}.f32.{scale} "
            f"{{d}}, {{a}}, {{b}}, {{c}}, {tail}{ids};"
        )
        name = f"{kind}_{shape}_{a}_{b}_{vec}_{scale}{'_sp' if sparse else ''}_{''.join(map(str, chosen))}"
        forms.append(Form(name, 16, k, a, b, "f32", "f32", text, width, sparse, 0, scale, blocks, chosen))

    scaled("mxf8f6f4", "m16n8k32", "e4m3.e2m3", "1X", "ue8m0", (0, 0, 0, 0))
    scaled("mxf8f6f4", "m16n8k32", "e2m1.e5m2", "1X", "ue8m0", (3, 1, 1, 2))
    scaled("mxf8f6f4", "m16n8k64", "e5m2.e3m2", "1X", "ue8m0", (2, 0, 3, 3), True)
    scaled("mxf4", "m16n8k64", "e2m1.e2m1", "2X", "ue8m0", (2, 1, 0, 1))
    scaled("mxf4nvf4", "m16n8k64", "e2m1.e2m1", "2X", "ue8m0", (0, 0, 2, 3))
    scaled("mxf4nvf4", "m16n8k64", "e2m1.e2m1", "4X", "ue4m3", (0, 1, 0, 2))
    scaled("mxf4nvf4", "m16n8k128", "e2m1.e2m1", "4X", "ue4m3", (0, 0, 0, 1), True)
    scaled("mxf4", "m16n8k128", "e2m1.e2m1", "2X", "ue8m0", (0, 1, 2, 0), True)
    return forms


def forms_of(target: str) -> list[Form]:
    """All forms that are tested on a target."""
    number = int("".join(c for c in target if c.isdigit()))
    forms = _floats(number) + _integers(number)
    if number in (89, 120):
        forms += _bytes(number)
    return forms


def kernel(form: Form) -> str:
    """The PTX of a form's kernel."""
    a, b, c, d = form.words()
    lines, lists = [], {}

    def registers(name: str, count: int, wide: bool, real: bool) -> None:
        kind = "f64" if wide else "f32" if real else "b32"
        number = count // 2 if wide else count
        lines.append(f".reg .{kind} {name}<{number}>;")
        lists[name] = ["{" + ", ".join(f"{name}{i}" for i in range(number)) + "}", kind, number]

    wide = form.atype == "f64"
    registers("a", a, wide, False)
    registers("b", b, wide, False)
    registers("c", c, wide, form.ctype == "f32")
    registers("d", d, wide, form.dtype == "f32")
    lines += [".reg .b64 p<8>;", ".reg .b32 t, e, sa, sb;", "mov.u32 t, %tid.x;"]
    for i, name in enumerate("abcd"):
        kind, number = lists[name][1:]
        size = 8 if wide else 4
        lines += [f"ld.param.u64 p{i}, [p_{name}];", f"mad.wide.u32 p{i}, t, {size * number}, p{i};"]
        if name != "d":
            lines += [f"ld.global.{kind} {name}{j}, [p{i}+{size * j}];" for j in range(number)]
    lines += ["ld.param.u64 p4, [p_e];", "mad.wide.u32 p4, t, 12, p4;"]
    lines += [f"ld.global.b32 {name}, [p4+{4 * j}];" for j, name in enumerate(("e", "sa", "sb"))]
    lines.append(form.text.format(**{n: lists[n][0] for n in "abcd"}, e="e", sa="sa", sb="sb"))
    kind, number = lists["d"][1:]
    lines += [f"st.global.{kind} [p3+{(8 if wide else 4) * j}], d{j};" for j in range(number)]
    name = form.name.replace("-", "_")
    parameters = ", ".join(f".param .u64 p_{n}" for n in "abcde")
    return f".visible .entry {name}({parameters}) {{\n" + "\n".join(lines) + "\nret;\n}\n"


def moves_of(target: str) -> list[tuple[str, str, int, str, str, bool]]:
    """Loads, stores and transpositions of fragments: name, instruction, registers, kind, element form, whether transposed."""
    number = int("".join(c for c in target if c.isdigit()))
    rows = []
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            name = f"x{count}{trans.replace('.', '_')}"
            rows.append(
                (
                    f"ldmatrix_{name}",
                    f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{r}}, [at];",
                    count,
                    "load",
                    "b16",
                    bool(trans),
                )
            )
            if number >= 90:
                text = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [at], {{r}};"
                rows.append((f"stmatrix_{name}", text, count, "store", "b16", bool(trans)))
        if number < 100:
            continue
        rows.append(
            (
                f"stmatrix_b8_x{count}",
                f"stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8 [at], {{r}};",
                count,
                "store",
                "b8",
                True,
            )
        )
        for short, kind in (("u4", "b4x16_p64"), ("u6", "b6x16_p32")):
            text = f"ldmatrix.sync.aligned.m8n16.x{count}.shared.b8x16.{kind} {{r}}, [at];"
            rows.append((f"ldmatrix_{short}_x{count}", text, count, "load", short, False))
            if count < 4:
                text = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.b8x16.{kind} {{r}}, [at];"
                rows.append((f"ldmatrix_{short}_x{count}_trans", text, 2 * count, "load", short, True))
        if count < 4:
            text = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.b8 {{r}}, [at];"
            rows.append((f"ldmatrix_b8_x{count}_trans", text, 2 * count, "load", "b8", True))
    rows.append(("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 r0, r0;", 1, "move", "b16", True))
    return rows


def move_kernel(name: str, text: str, count: int, kind: str) -> str:
    """A warp that fills shared memory from an array, executes the instruction and writes registers or shared memory back."""
    lines = [".reg .b32 r<8>, t, at, s;", ".reg .b64 p<8>;", ".shared .align 16 .b8 room[4096];"]
    lines += ["mov.u32 t, %tid.x;", "mov.u32 s, room;"]
    lines += [f"ld.param.u64 p{i}, [p_{n}];" for i, n in enumerate("abc")]
    lines += ["mad.wide.u32 p0, t, 4, p0;", "mad.lo.u32 s, t, 4, s;"]
    for i in range(32):
        lines += [f"ld.global.b32 r0, [p0+{128 * i}];", f"st.shared.b32 [s+{128 * i}], r0;"]
    lines += ["mad.wide.u32 p1, t, 4, p1;", "ld.global.b32 at, [p1];", "mov.u32 r1, room;", "add.u32 at, at, r1;", "bar.sync 0;"]
    lines.append(f"mad.wide.u32 p2, t, {4 * count}, p2;")
    if kind != "load":
        lines += [f"ld.global.b32 r{i}, [p2+{4 * i}];" for i in range(count)]
    lines.append(text.replace("{r}", "{" + ", ".join(f"r{i}" for i in range(count)) + "}"))
    if kind != "store":
        lines += [f"st.global.b32 [p2+{4 * i}], r{i};" for i in range(count)]
    else:
        lines.append("bar.sync 0;")
        for i in range(32):
            lines += [f"ld.shared.b32 r0, [s+{128 * i}];", f"st.global.b32 [p0+{128 * i}], r0;"]
    parameters = ", ".join(f".param .u64 p_{n}" for n in "abc")
    return f".visible .entry {name}({parameters}) {{\n" + "\n".join(lines) + "\nret;\n}\n"


def module_text(target: str) -> str:
    """The PTX module of a target."""
    moves = "".join(move_kernel(*row[:4]) for row in moves_of(target))
    return f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(kernel(f) for f in forms_of(target)) + moves


def pack(elements: Array, width: int) -> Array:
    """Fragment [lane][register] of a matrix of element codes [rows][k]; rows are 8 or 16 (B: its columns)."""
    rows, k = elements.shape
    if width == 64:
        out64 = np.zeros((32, rows * k // 32), np.uint64)
        for lane in range(32):
            for i in range(out64.shape[1]):
                row, block = (i % 2, i // 2) if rows == 16 else (0, i)
                out64[lane, i] = elements[lane // 4 + 8 * row, lane % 4 + 4 * block]
        return out64.view(np.uint32)
    each = 32 // width
    out = np.zeros((32, rows * k // each // 32), np.uint32)
    for lane in range(32):
        for register in range(out.shape[1]):
            row, block = (register % 2, register // 2) if rows == 16 else (0, register)
            for i in range(each):
                code = int(elements[lane // 4 + 8 * row, lane % 4 * each + i + 4 * each * block])
                out[lane, register] |= np.uint32(code << (width * i))
    return out


def pack_accumulator(values: Array) -> Array:
    """Fragment [lane][register] of an accumulator [rows][8] of 16-, 32- or 64-bit numbers."""
    rows = values.shape[0]
    pairs = values.reshape(rows // 8, 8, 4, 2).transpose(1, 2, 0, 3).reshape(32, rows // 4)
    return np.ascontiguousarray(pairs).view(np.uint32)


def unpack_accumulator(words: Array, rows: int, dtype: Any) -> Array:
    """The matrix of a fragment: the inverse of pack_accumulator."""
    values = words.view(dtype).reshape(8, 4, rows // 8, 2)
    return np.ascontiguousarray(values.transpose(2, 0, 1, 3).reshape(rows, 8))


def pack_metadata(places: Array, form: Form) -> Array:
    """Words [lane] of metadata from the indices [row][kept element] within the chunk of each kept element."""
    width, k = form.width, form.k
    chunk = {32: 2, 16: 4, 8: 4, 4: 8}[width]
    bits = [0] * 16
    for row in range(16):
        for j in range(k // 2):
            group, index = divmod(j, chunk // 2)
            place = int(places[row, j])
            if width == 32:
                bits[row] |= (14 if place else 4) << (4 * group)
            elif width == 4:
                if index % 2 == 0:
                    bits[row] |= (place // 2) << (4 * group + index)
            else:
                bits[row] |= place << (4 * group + 2 * index)
    size = 4 * k // chunk
    out = np.zeros(32, np.uint32)
    for g in range(8):
        low, high, lanes = bits[g], bits[g + 8], out[4 * g : 4 * g + 4]
        if size == 16:
            lanes[form.selector] = low | high << 16
        elif size == 64:
            lanes[:] = [low & 0xFFFFFFFF, high & 0xFFFFFFFF, low >> 32, high >> 32]
        elif width <= 8:
            lanes[2 * form.selector : 2 * form.selector + 2] = [low, high]
        else:
            lanes[2 * form.selector] = (low & 0xFFFF) | (high & 0xFFFF) << 16
            lanes[2 * form.selector + 1] = low >> 16 | (high >> 16) << 16
    return out
