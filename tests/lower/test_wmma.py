"""wmma: loads, products and stores of every type, shape and layout, in global, shared and generic memory, against numpy."""

from __future__ import annotations

import itertools
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import oric
import oric.sim
import pytest
from oric.sim import Modes
from oric.support.elf import read

Array = np.ndarray[Any, Any]
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
LAYOUTS = ("row", "col")
STEP = 16  # bytes of which the distance of rows is a multiple


@dataclass(frozen=True)
class Form:
    """A product: types as PTX has them, registers of the fragments, the first target."""

    shape: str
    a: str
    b: str
    c: str
    d: str
    registers: tuple[int, int, int, int]
    since: int = 75
    suffix: str = ""

    def sizes(self) -> tuple[int, int, int]:
        """m, n, k."""
        m, rest = self.shape[1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def types(self) -> str:
        """The types behind the shape."""
        return f"{self.d}.{self.c}" if self.a == "f16" else f"{self.d}.{self.a}.{self.b}.{self.c}"


SHAPES = ("m16n16k16", "m8n32k16", "m32n8k16")
FORMS = [
    *(Form(s, "f16", "f16", c, d, (8, 8, 4 if c == "f16" else 8, 4 if d == "f16" else 8)) for s in SHAPES
      for c, d in itertools.product(("f16", "f32"), repeat=2)),
    *(Form(s, "bf16", "bf16", "f32", "f32", (*r, 8, 8), 80) for s, r in zip(SHAPES, ((4, 4), (2, 8), (8, 2)), strict=True)),
    Form("m16n16k8", "tf32", "tf32", "f32", "f32", (4, 4, 8, 8), 80),
    Form("m8n8k4", "f64", "f64", "f64", "f64", (1, 1, 2, 2), 80),
    *(Form(s, t, t, "s32", "s32", (*r, 8, 8)) for t in ("s8", "u8")
      for s, r in zip(SHAPES, ((2, 2), (1, 4), (4, 1)), strict=True)),
    Form("m16n16k16", "s8", "s8", "s32", "s32", (2, 2, 8, 8), 75, ".satfinite"),
    *(Form("m8n8k32", t, t, "s32", "s32", (1, 1, 2, 2), 75, sat) for t in ("s4", "u4") for sat in ("", ".satfinite")),
]  # fmt: skip
REGISTER = {"f16": "b32", "bf16": "b32", "tf32": "b32", "f32": "f32", "f64": "f64"}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4}


def numbers(rng: Any, rows: int, columns: int, kind: str) -> Array:
    """Small integers, which every type has."""
    low, high = {"u": (0, 9), "s": (-7, 8)}.get(kind[0], (-5, 6))
    return np.asarray(rng.integers(low, high, (rows, columns)).astype(np.int64))


def stored(matrix: Array, kind: str, layout: str, distance: int) -> Array:
    """The bytes of a matrix, whose rows (of `col` columns) begin every ``distance`` elements."""
    lines = matrix if layout == "row" else matrix.T
    padded = np.zeros((lines.shape[0], distance), np.int64)
    padded[:, : lines.shape[1]] = lines
    if BITS[kind] == 4:
        return np.asarray((padded[:, ::2] & 15 | (padded[:, 1::2] & 15) << 4).astype(np.uint8))
    if kind == "bf16":
        return np.asarray((padded.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)).view(np.uint8)
    name = {"f16": "f2", "tf32": "f4", "f32": "f4", "f64": "f8", "s32": "i4", "s8": "i1", "u8": "u1"}[kind]
    return padded.astype(name).view(np.uint8)


def kernel(name: str, form: Form, layouts: tuple[str, str, str], distances: tuple[int, int, int, int], space: str) -> str:
    """A warp that loads three matrices, multiplies and stores the result where C was, by way of ``space``."""
    lines = [".reg .b32 t, s; .reg .b64 p<4>; .reg .b128 q;", ".shared .align 256 .b8 room[16384];", "mov.u32 t, %tid.x;"]
    text = {}
    for letter, kind, count in zip("abcd", (form.a, form.b, form.c, form.d), form.registers, strict=True):
        lines.append(f".reg .{REGISTER.get(kind, 'b32')} {letter}<{count}>;")
        text[letter] = "{" + ", ".join(f"{letter}{i}" for i in range(count)) + "}"
    lines += [f"ld.param.u64 p{i}, [p_{i}];" for i in range(4)]
    at = [f"p{i}" for i in range(4)]
    if space == ".shared":
        at = [f"room+{4096 * i}" for i in range(4)]
        for i in range(4):
            lines += ["{ .reg .b64 x; .reg .b32 v; mov.u32 v, room; mad.lo.u32 s, t, 4, v;", f"mad.wide.u32 x, t, 4, p{i};"]
            lines += [f"ld.global.b32 v, [x+{j}]; st.shared.b32 [s+{4096 * i + j}], v;" for j in range(0, 4096, 128)] + ["}"]
        lines.append("bar.sync 0;")
    head = "sync.aligned"
    for i, (letter, kind) in enumerate(zip("abc", (form.a, form.b, form.c), strict=True)):
        stride = "" if distances[i] == 0 else f", {distances[i]}"
        lines.append(f"wmma.load.{letter}.{head}.{layouts[i]}.{form.shape}{space}.{kind} {text[letter]}, [{at[i]}]{stride};")
    operands = ", ".join(text[letter] for letter in "dabc")
    lines.append(f"wmma.mma.{head}.{layouts[0]}.{layouts[1]}.{form.shape}.{form.types()}{form.suffix} {operands};")
    lines.append(f"mov.u32 s, {distances[3]};")
    lines.append(f"wmma.store.d.{head}.{layouts[2]}.{form.shape}{space}.{form.d} [{at[3]}], {text['d']}, s;")
    if space == ".shared":
        lines += ["bar.sync 0;", "{ .reg .b64 x; .reg .b32 v; mad.wide.u32 x, t, 4, p3; mov.u32 v, room; mad.lo.u32 s, t, 4, v;"]
        lines += [f"ld.shared.b32 v, [s+{12288 + 128 * j}]; st.global.b32 [x+{128 * j}], v;" for j in range(32)] + ["}"]
    parameters = ", ".join(f".param .u64 p_{i}" for i in range(4))
    return f".visible .entry {name}({parameters}) {{\n" + "\n".join(lines) + "\nret;\n}\n"


def kernels(target: str) -> list[tuple[str, Form, tuple[str, str, str], tuple[int, int, int, int], str]]:
    """Name, form, layouts of A, B and C, distances of rows (0: left out), state space."""
    number = int("".join(c for c in target if c.isdigit()))
    out = []
    for n, form in enumerate(f for f in FORMS if f.since <= number):
        m, cols, k = form.sizes()
        for i, layouts in enumerate(itertools.product(LAYOUTS, repeat=3)):
            if BITS[form.a] == 4 and layouts[:2] != ("row", "col"):
                continue
            widths = [(k, m), (cols, k), (cols, m), (cols, m)]
            least = [w[layouts[min(j, 2)] == "col"] for j, w in enumerate(widths)]
            more = [STEP * 8 // BITS[kind] for kind in (form.a, form.b, form.c, form.d)]
            wide = [-(-low // step) * step + step * (i % 2) for low, step in zip(least, more, strict=True)]
            plain = i % 4 == 2 and all(low % step == 0 for low, step in zip(least, more, strict=True))
            distances = (0, 0, 0, least[3]) if plain else tuple(wide)
            out.append((f"k{n}_{i}", form, layouts, distances, ("", ".global", ".shared")[(n + i) % 3]))
    return out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_products(target: str, level: int) -> None:
    """Sums of small integers are exact in every type; what lies between the rows of the result stays."""
    rows = kernels(target)
    text = f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(kernel(*row) for row in rows)
    module = oric.sim.load(oric.compile(text, arch=target, opt_level=level).image)
    for name, form, layouts, distances, space in rows:
        rng = np.random.default_rng(zlib.crc32(f"{form}{layouts}".encode()))
        m, n, k = form.sizes()
        a, b, c = numbers(rng, m, k, form.a), numbers(rng, k, n, form.b), numbers(rng, m, n, form.c)
        widths = [(k, m), (n, k), (n, m), (n, m)]
        used = [d or w[layouts[min(j, 2)] == "col"] for j, (d, w) in enumerate(zip(distances, widths, strict=True))]
        buffers = []
        for matrix, kind, layout, distance in zip((a, b, c), (form.a, form.b, form.c), layouts, used, strict=False):
            room = np.zeros(4096, np.uint8)
            raw = stored(matrix, kind, layout, distance).reshape(-1)
            room[: raw.size] = raw
            buffers.append(room)
        result = np.zeros(4096, np.uint8)
        module.launch(name, 1, 32, [*buffers, result], modes=Modes(strict=True))
        want = stored(a @ b + c, form.d, layouts[2], used[3]).reshape(-1)
        np.testing.assert_array_equal(result[: want.size], want, f"{target} {form} {layouts} {distances} {space}")


def test_bits() -> None:
    """Products of bits: how many both have, how many one of them has."""
    for target, op in (
        ("sm_75", "xor"),
        ("sm_80", "and"),
        ("sm_90", "xor"),
        ("sm_90", "and"),
        ("sm_100", "xor"),
        ("sm_100", "and"),
    ):
        text = f""".version 9.0\n.target {target}\n.address_size 64
.visible .entry k(.param .u64 p_0, .param .u64 p_1, .param .u64 p_2) {{ .reg .b32 a, b, c<2>; .reg .b64 p<3>;
ld.param.u64 p0, [p_0]; ld.param.u64 p1, [p_1]; ld.param.u64 p2, [p_2];
wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {{a}}, [p0], 256;
wmma.load.b.sync.aligned.col.m8n8k128.b1 {{b}}, [p1];
wmma.load.c.sync.aligned.row.m8n8k128.s32 {{c0, c1}}, [p2], 12;
wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {{c0, c1}}, {{a}}, {{b}}, {{c0, c1}};
wmma.store.d.sync.aligned.col.m8n8k128.s32 [p2], {{c0, c1}}, 12;
ret; }}"""
        rng = np.random.default_rng(3)
        a, b = (rng.integers(0, 256, (8, 32), dtype=np.uint8) for _ in range(2))
        c = rng.integers(0, 99, (8, 12)).astype(np.int32)
        found = c.copy()
        oric.sim.load(oric.compile(text, arch=target).image).launch("k", 1, 32, [a, b[:, :16].copy(), found])
        x, y = np.unpackbits(a[:, :16], axis=1).astype(int), np.unpackbits(b[:, :16], axis=1).astype(int)
        both = x @ y.T
        want = (both if op == "and" else x.sum(axis=1)[:, None] + y.sum(axis=1) - 2 * both) + c[:, :8]
        np.testing.assert_array_equal(found[:, :8], want.T, f"{target} {op}")


@pytest.mark.parametrize("target", TARGETS)
def test_record(target: str) -> None:
    """A kernel with wmma has WMMA_USED (observed)."""
    text = f".version 9.0\n.target {target}\n.address_size 64\n" + kernel(*kernels(target)[0])
    assert "WMMA_USED" in {r.name for r in next(iter(read(oric.compile(text, arch=target).image).functions.values())).records}
