# ruff: noqa: E501 (PTX and tables)
"""Loads and stores of every space, type and width; parameters, constants, addresses."""

from __future__ import annotations

import struct

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions
from oric.ir.operand import count_of
from oric.ir.text import all_instructions
from oric_tables.ops import op

from .support import launch, source

TYPES = {
    "u8": 1,
    "s8": 1,
    "b8": 1,
    "u16": 2,
    "s16": 2,
    "b16": 2,
    "u32": 4,
    "s32": 4,
    "b32": 4,
    "f32": 4,
    "u64": 8,
    "s64": 8,
    "b64": 8,
    "f64": 8,
}
REGISTER = {1: "h", 2: "h", 4: "r", 8: "d"}
ARCHES = [("sm_90", 3), ("sm_90", 0), ("sm_80", 3), ("sm_75", 3), ("sm_75", 0)]


def _registers(type_: str, vector: int) -> str:
    c = "f" if type_ == "f32" else "g" if type_ == "f64" else REGISTER[TYPES[type_]]
    names = [f"%{c}{k}" for k in range(vector)]
    return names[0] if vector == 1 else "{" + ", ".join(names) + "}"


WIDTHS = [(t, v) for t, n in TYPES.items() for v in (1, 2, 4) if n * v <= 16]


@pytest.mark.row("R2-10", "R2-55")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("space", ["local", "shared", "global"])
@pytest.mark.parametrize(
    "store", ["b64 [%q+8], 0", "v2.b32 [%q+8], {0, 0}", "f64 [%q+8], 0d0000000000000000", "b64 [%q+8], %d9"]
)  # fmt: skip
def test_parts_of_zeros_that_were_stored(store: str, space: str, level: int) -> None:
    """A load of a part stays behind the store, however little of a register the zeros take."""
    place = "add.u64 %q, %out, 16;" if space == "global" else f".{space} .align 16 .b8 cell[16]; mov.u64 %q, cell;"
    body = f"""
  .reg .b64 %q; {place} mov.b64 %d9, 0; mov.u32 %r9, -1;
  st.{space}.u32 [%q+8], %r9; st.{space}.u32 [%q+12], %r9; st.{space}.{store};
  ld.{space}.u32 %r1, [%q+12]; ld.{space}.u8 %r2, [%q+13]; ld.{space}.u32 %r3, [%q+8]; ld.{space}.u16 %r4, [%q+14];
  st.global.v4.u32 [%out], {{%r1, %r2, %r3, %r4}};
"""
    out = launch(source(body), np.zeros(1, np.uint32), np.ones(8, np.uint32), level=level, threads=1)
    assert not out[:4].any()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize(("type_", "vector"), WIDTHS)
@pytest.mark.parametrize("space", ["global", "generic", "shared", "local"])
def test_copy(space: str, type_: str, vector: int, arch: str, level: int) -> None:
    """A value goes through a space unchanged, at an offset."""
    size = TYPES[type_] * vector
    regs = _registers(type_, vector)
    v = f".v{vector}" if vector > 1 else ""
    body = f"""
  mul.wide.u32 %d20, %i, {size}; add.u64 %d21, %in, %d20; add.u64 %d22, %out, %d20;
  ld.global{v}.{type_} {regs}, [%d21+{size}];
"""
    if space in ("shared", "local"):
        body += f"""
  .{space} .align 16 .b8 buffer[{size * 33}];
  mov.u64 %d23, buffer; {"add.u64 %d23, %d23, %d20;" if space == "shared" else ""}
  st.{space}{v}.{type_} [%d23+{size}], {regs};
  bar.sync 0;
  ld.{space}{v}.{type_} {regs}, [%d23+{size}];
"""
    sp = "" if space == "generic" else ".global"
    body += f"  st{sp}{v}.{type_} [%d22], {regs};"
    data = np.random.default_rng(1).integers(0, 256, size * 33, dtype=np.uint8)
    out = launch(source(body, arch), data, np.zeros(size * 32, np.uint8), arch, level)
    assert (out == data[size:]).all()


def test_a_load_writes_its_own_words_alone() -> None:
    """The upper word of a register of 64 bits does not wait for a load of 32 bits or less."""
    for type_ in ("u8", "u16", "u32", "s32", "f32"):
        register = "d" if type_ != "f32" else "e"
        text = source(f".reg .b64 %e<2>; ld.global.{type_} %{register}1, [%in]; st.global.u64 [%out], %{register}1;", "sm_80")
        ((f, _),) = compile_functions(text, CompileOptions("sm_80", 0, verify=True))
        loads = [i for i in all_instructions(f) if op(f.op[i]).name == "LDG"]
        assert [count_of(f.get(i, 0)) for i in loads] == [1]


@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "s16", "u32", "s32"])
@pytest.mark.parametrize("register", ["h", "r", "d"])
@pytest.mark.parametrize("space", ["global", "const", "shared"])
def test_extension(space: str, type_: str, register: str, arch: str, level: int) -> None:
    """A value in a wider register is extended as its type says."""
    n = TYPES[type_]
    bits = {"h": 16, "r": 32, "d": 64}[register]
    if 8 * n > bits:
        return
    values = np.array(
        [0, 1, 0x7F, 0x80, 0xFF, 0x1234, 0x8000, 0xFFFF, 0x12345678, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF] * 3, np.uint64
    )[:32]
    table = values.astype(f"u{n}")
    module = f".const .align 16 .b8 table[{32 * n}] = {{{', '.join(str(b) for b in table.tobytes())}}};"
    address = {"global": "%d21", "const": "%d23", "shared": "%d23"}[space]
    body = f"mul.wide.u32 %d20, %i, {n}; add.u64 %d21, %in, %d20; add.u64 %d22, %out, %tid8;\n"
    if space == "const":
        body += "  mov.u64 %d23, table; add.u64 %d23, %d23, %d20;\n"
    if space == "shared":
        body += f"  .shared .align 8 .b8 buffer[{32 * n}]; mov.u64 %d23, buffer; add.u64 %d23, %d23, %d20;\n"
        body += f"  ld.global.b{8 * n} %r1, [%d21]; st.shared.b{8 * n} [%d23], %r1;\n"
    body += f"  ld.{space}.{type_} %{register}1, [{address}];\n"
    body += {"h": "cvt.s64.s16 %d2, %h1;", "r": "cvt.s64.s32 %d2, %r1;", "d": "mov.b64 %d2, %d1;"}[register]
    body += " st.global.u64 [%d22], %d2;"
    out = launch(source(body, arch, module), table, np.zeros(32, np.int64), arch, level)
    want = table.view(f"{'i' if type_[0] == 's' else 'u'}{n}").astype(np.int64)
    if register == "h":
        want = want.astype(np.int16).astype(np.int64)
    if register == "r":
        want = want.astype(np.int32).astype(np.int64)
    assert (out == want).all()


@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "s16", "u32", "s32", "b32"])
def test_extension_of_elements(type_: str, arch: str, level: int) -> None:
    """So is each element of a vector, whatever stood in the register."""
    n = TYPES[type_]
    values = np.array([0x12345678, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF, 0x7FFFFFFF, 0x8080, 0x80, 0] * 8, np.uint64)
    table = values.astype(f"u{n}")
    body = f"""mul.wide.u32 %d20, %i, {2 * n}; add.u64 %d21, %in, %d20; mul.wide.u32 %d20, %i, 16; add.u64 %d22, %out, %d20;
  mov.b64 %d1, -1; mov.b64 %d2, 0x0123456789abcdef; mov.b64 %d3, -2;
  ld.global.v2.{type_} {{%d1, %d2}}, [%d21]; ld.global.v2.{type_} {{_, %d3}}, [%d21];
  sub.u64 %d3, %d3, %d2; add.u64 %d2, %d2, %d3; st.global.v2.u64 [%d22], {{%d1, %d2}};"""
    out = launch(source(body, arch), table, np.zeros(64, np.int64), arch, level)
    assert (out == table.view(f"{'i' if type_[0] == 's' else 'u'}{n}").astype(np.int64)).all()


@pytest.mark.parametrize(("arch", "level"), [("sm_100", 0), ("sm_100", 3), ("sm_120", 3)])
@pytest.mark.parametrize("guard", ["", "@%p1 "])
@pytest.mark.parametrize("words", [1, 2])
def test_sinks_of_256_bits(words: int, guard: str, arch: str, level: int) -> None:
    """Every choice of elements; what is not loaded stays."""
    count = 8 // words
    register, type_ = ("%r1", "b32") if words == 1 else ("%d1", "b64")
    body = ["mul.wide.u32 %d20, %i, 32; add.u64 %d21, %in, %d20; mul.wide.u32 %d20, %i, 8192; add.u64 %d22, %out, %d20;",
            "and.b32 %r2, %i, 1; setp.ne.u32 %p1, %r2, 0;"]  # fmt: skip
    body += [f"mov.b{32 * words} {register}{k}, {k + 70};" for k in range(count)]
    masks = range(1, 1 << count)
    for mask in masks:
        kept = ", ".join(f"{register}{k}" if mask >> k & 1 else "_" for k in range(count))
        body.append(f"{guard}ld.global.v{count}.{type_} {{{kept}}}, [%d21];")
        body += [f"st.global.{type_} [%d22+{32 * mask + 4 * words * k}], {register}{k};" for k in range(count)]
        body += [f"mov.b{32 * words} {register}{k}, {k + 70};" for k in range(count)]
    word = f"u{4 * words}"
    data = np.random.default_rng(5).integers(0, 1 << 32, 256, np.uint32).view(word).reshape(32, count)
    out = launch(source("\n".join(body), arch), data, np.zeros((32, 256, count), word), arch, level)
    for mask in masks:
        loaded = np.array([mask >> k & 1 for k in range(count)], bool) & ((np.arange(32) % 2 == 1) | (guard == ""))[:, None]
        assert (out[:, mask] == np.where(loaded, data, np.arange(70, 70 + count, dtype=word))).all(), mask


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("value", [0, 5, -5, 0x123456789ABCDEF0])
def test_constants_of_128_bits(value: int, level: int) -> None:
    """Observed: 64 bits of them, and zeros above."""
    for arch in ("sm_75", "sm_90", "sm_120"):
        swapped = f"""mov.b128 %q, {{%d1, %d1}}; atom.global.exch.b128 %q, [%out+32], {value};
  mov.b128 %q, {{%d1, %d1}}; st.shared.b128 [s], %q; atom.shared.cas.b128 %q, [s], %q, {value}; ld.shared.v2.u64 {{%d2, %d3}}, [s];
  st.global.v2.u64 [%out+48], {{%d2, %d3}};"""
        body = f""".reg .b128 %q; .shared .align 16 .b8 s[32]; mov.u64 %d1, 99; st.global.b128 [%out], {value};
  st.shared.b128 [s+16], {value}; ld.shared.v2.u64 {{%d2, %d3}}, [s+16]; st.global.v2.u64 [%out+16], {{%d2, %d3}};
  {swapped if arch != "sm_75" else ""}"""
        out = launch(source(body, arch), np.zeros(8, np.uint64), np.zeros(8, np.uint64), arch, level, 1)
        assert out.tolist() == [value & (1 << 64) - 1, 0] * (4 if arch != "sm_75" else 2) + [0] * (4 if arch == "sm_75" else 0)


QUALIFIERS = [
    "ld.volatile.global", "ld.relaxed.cta.global", "ld.relaxed.gpu.global", "ld.relaxed.sys.global", "ld.acquire.cta.global",
    "ld.acquire.gpu.global", "ld.acquire.sys.global", "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", "ld.global.cv",
    "ld.global.nc", "ld.global.L1::no_allocate", "ld.global.L1::evict_last", "ld.global.L2::128B", "ldu.global", "ld.weak.global",
    "ld.global.nc.L1::no_allocate.L2::256B", "ld.volatile", "ld.relaxed.gpu", "ld.acquire.gpu",
]  # fmt: skip
STORES = [
    "st.volatile.global", "st.relaxed.gpu.global", "st.relaxed.cta.global", "st.release.gpu.global", "st.release.sys.global",
    "st.release.cta.global", "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.weak.global", "st.volatile",
    "st.global.L1::no_allocate",
]  # fmt: skip


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("load", QUALIFIERS)
def test_qualified_loads(load: str, arch: str) -> None:
    body = f"add.u64 %d1, %in, %tid4; {load}.u32 %r1, [%d1]; add.u64 %d2, %out, %tid4; st.global.u32 [%d2], %r1;"
    data = np.arange(100, 132, dtype=np.uint32)
    assert (launch(source(body, arch), data, np.zeros(32, np.uint32), arch) == data).all()


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("store", STORES)
def test_qualified_stores(store: str, arch: str) -> None:
    body = f"add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; add.u64 %d2, %out, %tid4; {store}.u32 [%d2], %r1;"
    data = np.arange(100, 132, dtype=np.uint32)
    assert (launch(source(body, arch), data, np.zeros(32, np.uint32), arch) == data).all()


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_struct_parameter(arch: str, level: int) -> None:
    """All sizes from a struct by value, at fixed and computed offsets."""
    raw = struct.pack("<bBhHiIqQfd", -5, 250, -1234, 60000, -7, 0xFFFFFFF0, -(1 << 40), 1 << 63, 1.5, -2.25) + bytes(range(20))
    size = len(raw)
    body = """
  ld.param.s8 %d1, [s]; ld.param.u8 %d2, [s+1]; ld.param.s16 %d3, [s+2]; ld.param.u16 %d4, [s+4];
  ld.param.b8 %h1, [s+8]; cvt.u64.u8 %d5, %h1;
  mov.u64 %d40, s; add.u64 %d40, %d40, %tid4; ld.param.u32 %r1, [%d40]; cvt.u64.u32 %d6, %r1;
  ld.param.u8 %d7, [%d40+3];
  add.u64 %d20, %out, %tid8; mul.lo.u64 %d21, %tid8, 6; add.u64 %d20, %out, %d21;
  add.u64 %d5, %d5, %d7;
  st.global.u64 [%d20], %d1; st.global.u64 [%d20+8], %d2; st.global.u64 [%d20+16], %d3; st.global.u64 [%d20+24], %d4;
  st.global.u64 [%d20+32], %d5; st.global.u64 [%d20+40], %d6;
"""
    text = source(body, arch, params=f", .param .align 8 .b8 s[{size}]")
    out = launch(text, np.zeros(1, np.uint32), np.zeros((8, 6), np.int64), arch, level, threads=8, extra=[raw])
    for thread in range(8):
        word = struct.unpack_from("<I", raw, 4 * thread)[0]
        want = [struct.unpack_from("<b", raw, 0)[0], raw[1], struct.unpack_from("<h", raw, 2)[0], struct.unpack_from("<H", raw, 4)[0],
                raw[8] + raw[4 * thread + 3], word]  # fmt: skip
        assert list(out[thread]) == want


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_variables(arch: str, level: int) -> None:
    """Constants and globals by name and by address, addresses in initialisers, generic addresses."""
    module = """
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 counter = 5;
.global .align 4 .u32 numbers[4] = {1, 2, 3, 4};
.global .align 8 .u64 where[2] = {numbers, generic(counter)};
"""
    body = """
  ld.const.u32 %r1, [table+8];
  and.b32 %r2, %i, 3; mul.wide.u32 %d1, %r2, 4; mov.u64 %d2, table; add.u64 %d2, %d2, %d1; ld.const.u32 %r3, [%d2];
  ld.global.u64 %d3, [counter];
  mov.u64 %d4, numbers; add.u64 %d4, %d4, %d1; ld.global.u32 %r4, [%d4];
  ld.global.u64 %d5, [where]; ld.global.u32 %r5, [%d5+4];
  ld.global.u64 %d6, [where+8]; ld.u64 %d7, [%d6];
  cvta.global.u64 %d8, %d4; ld.u32 %r6, [%d8];
  add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6;
  cvt.u32.u64 %r7, %d3; add.u32 %r1, %r1, %r7; cvt.u32.u64 %r8, %d7; add.u32 %r1, %r1, %r8;
  add.u64 %d9, %out, %tid4; st.global.u32 [%d9], %r1;
"""
    out = launch(source(body, arch, module), np.zeros(1, np.uint32), np.zeros(32, np.uint32), arch, level)
    assert list(out) == [30 + (10, 20, 30, 40)[t & 3] + (t & 3) + 1 + 2 + (t & 3) + 1 + 10 for t in range(32)]


@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_generic_addresses(arch: str, level: int) -> None:
    """Shared and local memory through generic pointers, and back."""
    body = """
  .shared .align 4 .b8 tile[128]; .local .align 8 .b8 mine[64];
  cvt.u64.u32 %d1, %i; mov.u64 %d2, tile; cvta.shared.u64 %d3, %d2; add.u64 %d3, %d3, %tid4;
  st.u32 [%d3], %i; bar.sync 0; cvta.to.shared.u64 %d4, %d3; xor.b64 %d4, %d4, 4; ld.shared.u32 %r1, [%d4];
  mov.u64 %d5, mine; cvta.local.u64 %d6, %d5; add.u32 %r2, %i, 1000; st.u32 [%d6+16], %r2; ld.local.u32 %r3, [mine+16];
  cvta.to.local.u64 %d7, %d6; ld.local.u32 %r4, [%d7+16];
  isspacep.shared %p1, %d3; isspacep.local %p2, %d6; isspacep.global %p3, %out; isspacep.shared %p4, %out;
  selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; selp.u32 %r7, 4, 0, %p3; selp.u32 %r8, 8, 0, %p4;
  or.b32 %r5, %r5, %r6; or.b32 %r7, %r7, %r8; or.b32 %r5, %r5, %r7;
  mul.lo.u64 %d8, %tid4, 4; add.u64 %d8, %d8, %out;
  st.global.v4.u32 [%d8], {%r1, %r3, %r4, %r5};
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    for t in range(32):
        assert list(out[t]) == [t ^ 1, t + 1000, t + 1000, 7]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_dynamic_shared(arch: str, level: int) -> None:
    """Static variables come first, the dynamic array behind them."""
    module = ".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b8 fixed[100];"
    body = """
  mov.u64 %d1, fixed; add.u64 %d1, %d1, %i; st.shared.u8 [fixed+96], 7;
  mov.u32 %r1, dyn; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %i; bar.sync 0;
  xor.b32 %r2, %r2, 124; add.u32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [dyn+8];
  add.u32 %r4, %r4, %r5; ld.shared.u8 %r6, [fixed+96]; add.u32 %r4, %r4, %r6;
  add.u64 %d2, %out, %tid4; st.global.u32 [%d2], %r4;
"""
    body = body.replace("add.u64 %d1, %d1, %i;", "")
    out = launch(source(body.replace("st.shared.u8 [fixed+96], 7", "mov.u32 %r9, 7; st.shared.u8 [fixed+96], %r9"), arch, module),
                 np.zeros(1, np.uint32), np.zeros(32, np.uint32), arch, level, shared=128)  # fmt: skip
    assert list(out) == [(31 - t) + 2 + 7 for t in range(32)]


@pytest.mark.row("R2-13", "R2-25")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_far_offsets(arch: str, level: int) -> None:
    """Offsets that do not fit the instruction are added first."""
    far = 1 << 23
    body = f"""
  sub.u64 %d1, %in, {far}; sub.u64 %d1, %d1, {far}; add.u64 %d1, %d1, %tid4; ld.global.u32 %r1, [%d1+{2 * far}];
  add.u64 %d2, %out, {3 * far}; add.u64 %d2, %d2, %tid4; st.global.u32 [%d2+-{3 * far}], %r1;
"""
    data = np.arange(32, dtype=np.uint32)
    assert (launch(source(body, arch), data, np.zeros(32, np.uint32), arch, level) == data).all()


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("offset", [-4, -8, -32768, -32772, 4, 32764, 32768])
def test_offsets_of_constants_behind_a_register(offset: int, level: int) -> None:
    """Offsets are signed; what no instruction can hold is added."""
    module = ".const .align 4 .u32 fill[9000];\n.const .align 4 .u32 cells[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.const .align 4 .u32 more[9];"
    body = f"""mov.u64 %d1, cells; cvt.u64.u32 %d2, %i; mul.lo.u64 %d2, %d2, 4; add.s64 %d1, %d1, %d2; sub.s64 %d1, %d1, {offset};
    ld.const.u32 %r1, [%d1+{offset}]; add.s64 %out, %out, %tid4; st.global.u32 [%out], %r1;"""
    out = launch(source(body, module=module), np.zeros(1), np.zeros(8, np.uint32), level=level, threads=8)
    assert list(out) == list(range(10, 18))


@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "s16", "u32", "u64"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100", "sm_120"])
def test_constants_far_from_the_start_of_their_bank(arch: str, type_: str) -> None:
    """In a bank of constants and in that of parameters: what an offset of 16 bits with a sign cannot say, at both sides of that."""
    size, values = int(type_[1:]) // 8, [5, 7, 9, 11, 13]
    ends = [(1 << 15) - size, 1 << 15, (1 << 15) + size, (1 << 15) - 4 * size, 63992]
    data = bytearray(64000)
    for at, value in zip(ends, values, strict=True):
        data[at] = value
    module = f".const .align 8 .b8 cells[64000] = {{{','.join(map(str, data))}}};"
    out = "\n".join(
        f"ld.const.{type_} %{'d1' if size == 8 else 'r1'}, [cells+{at}]; "
        f"{'cvt.u32.u64 %r1, %d1;' if size == 8 else ''} st.global.u32 [%out+{4 * k}], %r1;"
        for k, at in enumerate(ends)
    )
    assert list(launch(source(out, arch, module), np.zeros(1), np.zeros(5, np.uint32), arch, threads=1)) == values
    if arch == "sm_75":
        return  # 4,352 bytes at the most
    place = 32000 - 64 + 8 * (size == 8)
    body = f"ld.param.{type_} %{'d1' if size == 8 else 'r1'}, [big+{place}]; {'cvt.u32.u64 %r1, %d1;' if size == 8 else ''}"
    text = source(f"{body} st.global.u32 [%out], %r1;", arch, params=", .param .align 16 .b8 big[32000]")
    big, found = np.zeros(32000, np.uint8), np.zeros(1, np.uint32)
    big[place] = 77
    oric.sim.load(oric.compile(text, arch=arch).image).launch("k", 1, 1, [np.zeros(1), found, big.tobytes()])
    assert list(found) == [77]
