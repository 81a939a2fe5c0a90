# ruff: noqa: E501 (PTX)
"""The symbol table: names, spaces, addresses and bindings of variables; operands that name them; elements of arrays."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.driver.front import PtxInput
from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_inputs
from oric.ir import operand as opd
from oric.ir.module import BANK_ADDRESS, Module
from oric.ir.text import all_instructions, operands_of
from oric.ptx import parse
from oric.sass.diff import compare
from oric.support import elf
from oric.support.diagnostics import CompileError

from .support import launch, lowered, names, source

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
VARIABLES = """.visible .global .align 8 .u32 seen[4];
.global .align 4 .u32 own;
.weak .global .align 16 .b8 feeble[32];
.visible .const .align 4 .u32 first[3] = {1, 2, 3};
.const .align 8 .u64 second = 9;
"""


def entry(module: Module, name: str) -> tuple[int, str, int, int, str, int]:
    number = module.symbol_ids[name]
    found = module.symbols[number]
    assert found.name == name
    return number, found.space, found.size, found.align, found.binding, found.offset


def test_a_name_gives_space_size_binding_and_address() -> None:
    module = lowered(source("ret;", module=VARIABLES))
    assert [entry(module, name) for name in module.symbol_ids] == [
        (0, "global", 16, 8, "global", -1),  # global variables get their addresses from the linker
        (1, "global", 4, 4, "local", -1),
        (2, "global", 32, 16, "weak", -1),
        (3, "const", 12, 4, "global", 0),
        (4, "const", 8, 8, "local", 16),
    ]


@pytest.mark.row("R3-51")
def test_the_cubin_has_the_same_symbols() -> None:
    cubin = elf.read(oric.compile(source("ret;", module=VARIABLES), arch="sm_90").image)
    found = {s.name: s for s in cubin.symbols if s.name in ("seen", "own", "feeble", "first", "second")}
    bindings = {name: ("local", "global", "weak")[s.info >> 4] for name, s in found.items()}
    assert bindings == {"seen": "global", "own": "local", "feeble": "weak", "first": "global", "second": "local"}
    assert {name: s.size for name, s in found.items()} == {"seen": 16, "own": 4, "feeble": 32, "first": 12, "second": 8}
    assert [found[name].value for name in ("first", "second")] == [0, 16]
    places = sorted((found[name].value, found[name].size) for name in ("seen", "own", "feeble"))
    assert all(a + size <= b for (a, size), (b, _) in pairwise(places))
    assert not found["feeble"].value % 16 and not found["seen"].value % 8
    assert {cubin.sections[s.section].name for s in found.values()} == {".nv.global", ".nv.constant3"}


def test_symbol_operands_have_the_number_of_their_symbol() -> None:
    body = "mov.u64 %d1, own; mov.u64 %d2, seen; mov.u64 %d3, own; ld.const.u64 %d4, [second];"
    module = lowered(source(body, module=VARIABLES))
    (f,) = module.functions
    operands = [o for i in all_instructions(f) for o in operands_of(f, i) if opd.type_of(o) == opd.SYMBOL]
    slots = {slot: module.symbols[number].name for number, slot in module.address_slots.items()}
    addresses = [o for o in operands if opd.aux_of(o) == BANK_ADDRESS]
    assert all(o & opd.CONST_BANK for o in operands)
    assert [slots[opd.index_of(o) & ~7] for o in addresses] == ["own", "own", "seen", "seen", "own", "own"]
    assert [opd.index_of(o) & 4 for o in addresses] == [0, 4] * 3
    number = module.symbol_ids["seen"]
    plain = opd.symbol(number, 8)
    assert (opd.type_of(plain), opd.index_of(plain), opd.aux_of(plain)) == (5, number, 8)


# -- names that stand twice ---------------------------------------------------------------------------------

TWICE = [
    (".global .u32 a;\n.global .u32 a;", 5),
    (".const .u32 a;\n\n.shared .u32 a;", 6),
    (".global .u32 a;\n.func a();", 5),
    (".func a();\n.global .u32 a;", 5),
    (".func a() {ret;}\n.func a() {ret;}", 5),
    (".entry a() {ret;}\n.entry a() {ret;}", 5),
    (".global .u32 a;\n.entry a() {ret;}", 5),
    (".extern .global .u32 a;\n.global .u64 a;", 5),
    (".entry k(.param .u32 a,\n.param .u32 a) {ret;}", 5),
    (".entry k(.param .u32 a) {\n.reg .b32 a; ret;}", 5),
    (".entry k() { .shared .b32 a;\n.local .b32 a; ret;}", 5),
    (".entry k() { .reg .b32 %a<4>;\n.reg .b32 %a2; ret;}", 5),
    (".entry k() { .reg .b32 %a2;\n\n\n.reg .b32 %a<4>; ret;}", 7),
    (".entry k() { a:\na: ret;}", 5),
    (".entry k() { a: ret;\n.reg .b32 a;}", 5),
]


@pytest.mark.row("R3-45")
@pytest.mark.parametrize(("text", "line"), TWICE, ids=[text for text, _ in TWICE])
def test_a_name_that_stands_twice_is_an_error_with_both_lines(text: str, line: int) -> None:
    with pytest.raises(CompileError) as caught:
        parse(HEAD + text, "m.ptx")
    assert [error.split(":")[:2] for error in caught.value.diagnostics.errors()] == [["m.ptx", str(line)]]
    assert str(caught.value).endswith("note: the first declaration is in line 4")


def compile_two(first: str, second: str) -> None:
    inputs = [PtxInput(HEAD + first, "a.ptx"), PtxInput(HEAD + second, "b.ptx")]
    compile_inputs(inputs, CompileOptions("sm_90"))


@pytest.mark.parametrize(
    ("what", "first", "second"),
    [
        ("function 'k'", "\n.entry k() { ret; }", ".entry j() { ret; }\n\n.entry k() { ret; }"),
        ("variable 'a'", "\n.visible .global .u32 a;", "\n\n.visible .global .u32 a;"),
    ],
)
def test_a_name_in_two_inputs_is_an_error_with_both_places(what: str, first: str, second: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_two(first, second)
    text = str(caught.value)
    assert text.startswith("b.ptx:6:") and f"Duplicate definition of {what}" in text
    assert text.endswith("note: the first definition is in a.ptx:5")


def test_names_of_one_input_are_its_own() -> None:
    compile_two(".global .u32 a;\n.entry k() { ret; }", ".visible .global .u32 a;\n.entry j() { ret; }")


# -- elements and sums --------------------------------------------------------------------------------------

ARRAYS = """.visible .global .align 4 .u32 arr[8] = {10, 11, 12, 13, 14, 15, 16, 17};
.global .align 8 .u64 wide[4] = {20, 21, 22, 23};
.const .align 4 .u32 fixed[4] = {30, 31, 32, 33};
.visible .global .align 8 .u64 places[4] = {arr+12, generic(arr)+4, wide+16, arr};
"""


def relocations(module: Module, name: str) -> list[tuple[int, str, int, bool]]:
    symbols = module.symbols
    found = symbols[module.symbol_ids[name]].relocations
    return [(r.offset, symbols[r.symbol].name, r.addend, r.generic) for r in found]


@pytest.mark.row("R3-47")
def test_addresses_with_an_offset_in_an_initialiser_relocate() -> None:
    assert relocations(lowered(source("ret;", module=ARRAYS)), "places") == [
        (0, "arr", 12, False),
        (8, "arr", 4, True),
        (16, "wide", 16, False),
        (24, "arr", 0, False),
    ]
    cubin = elf.read(oric.compile(source("ret;", module=ARRAYS), arch="sm_90").image)
    places = next(s for s in cubin.symbols if s.name == "places")
    found = {r.offset - places.value: (cubin.symbols[r.symbol].name, r.addend) for r in cubin.relocations_of(places.section)}
    assert found == {0: ("arr", 12), 8: ("arr", 4), 16: ("wide", 16), 24: ("arr", 0)}


@pytest.mark.parametrize("level", [0, 3])
def test_the_linker_puts_the_address_of_the_element_there(level: int) -> None:
    body = """
  ld.global.u64 %d1, [places]; ld.global.u32 %r1, [%d1]; ld.global.u64 %d1, [places+8]; ld.u32 %r2, [%d1];
  ld.global.u64 %d1, places[2]; ld.global.u32 %r3, [%d1]; ld.global.u64 %d1, places[3]; ld.global.u32 %r4, [%d1+28];
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
"""
    out = launch(source(body, module=ARRAYS), np.zeros(1), np.zeros(4, np.uint32), level=level, threads=1)
    assert list(out) == [13, 11, 22, 17]


BYTES = """.visible .global .align 8 .u32 arr[4] = {10, 11, 12, 13};
.visible .const .align 8 .u32 fixed[100];
.visible .global .align 8 .u8 of_one[8] = {0xFF(arr+4), 0xFF00(arr+4), 0xFF0000(arr+4), 0xFF000000(arr+4), 0xFF00000000(arr+4),
  0xFF0000000000(arr+4), 0xFF000000000000(arr+4), 0xFF00000000000000(arr+4)};
.visible .const .align 8 .u8 kept[8] = {0xFF(arr+8), 0xFF00(arr+8), 0xFF0000(arr+8), 0xFF000000(arr+8), 0xFF00000000(arr+8),
  0xFF0000000000(arr+8), 0xFF000000000000(arr+8), 0xFF00000000000000(arr+8)};
.visible .global .align 8 .u64 low[2] = {0xFF(arr), 0xFF00(fixed+0x184)};
.visible .global .align 4 .u32 narrow[3] = {fixed+0x184, 7, fixed};
.visible .global .align 1 .u8 part[3] = {0xFF(fixed+0x184), 0xFF00(fixed+0x184), 9};
"""


@pytest.mark.parametrize("level", [0, 3])
def test_bytes_of_addresses_in_initialisers(level: int) -> None:
    """A byte by its mask, in an element of one byte or extended with zeros; a constant's address is its place in the bank."""
    body = """
  ld.global.u64 %d1, [of_one]; ld.u32 %r1, [%d1]; ld.const.u64 %d2, [kept]; ld.u32 %r2, [%d2]; ld.global.u64 %d3, [low];
  mov.u64 %d4, arr; and.b64 %d4, %d4, 255; sub.u64 %d3, %d3, %d4; cvt.u32.u64 %r3, %d3; ld.global.u32 %r4, [low+8];
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  ld.global.u32 %r1, [narrow]; ld.global.u32 %r2, [narrow+4]; ld.global.u32 %r3, [narrow+8]; ld.global.u8 %r4, [part];
  mov.u32 %r6, fixed; sub.u32 %r1, %r1, %r6; sub.u32 %r3, %r3, %r6;
  ld.global.u8 %r5, [part+1]; mad.lo.u32 %r4, %r5, 256, %r4; sub.u32 %r4, %r4, %r6; st.global.v4.u32 [%out+16], {%r1, %r2, %r3, %r4};
"""
    out = launch(source(body, module=BYTES), np.zeros(1), np.zeros(8, np.uint32), level=level, threads=1)
    assert list(out) == [11, 12, 0, 1, 0x184, 7, 0, 0x184]


@pytest.mark.parametrize("level", [0, 3])
def test_subscripts_of_arrays(level: int) -> None:
    body = """
  ld.global.u32 %r1, arr[3]; mov.u64 %d1, arr[5]; ld.global.u32 %r2, [%d1]; ld.global.u64 %d2, wide[2]; cvt.u32.u64 %r3, %d2;
  ld.const.u32 %r4, fixed[1]; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; mov.u64 %d3, wide[3]; mov.u64 %d4, wide+24;
  sub.u64 %d3, %d3, %d4; st.global.u64 [%out+16], %d3; st.global.u32 arr[1], 77; ld.global.u32 %r5, [arr+4]; st.global.u32 [%out+24], %r5;
"""
    out = launch(source(body, module=ARRAYS), np.zeros(1), np.ones(7, np.uint32), level=level, threads=1)
    assert list(out) == [13, 15, 22, 31, 0, 0, 77]


@pytest.mark.row("R3-47")
def test_a_subscript_in_an_initialiser_is_no_ptx() -> None:
    """As for ptxas, which has addresses with an offset there and nothing else."""
    with pytest.raises(CompileError, match=r"m.ptx:5:\d+: error: expected ';', found '\['"):
        parse(f"{HEAD}.global .u32 arr[4];\n.global .u64 p = arr[3];\n", "m.ptx")


SUMS: Sequence[tuple[str, int]] = [
    ("1 + 0x100000000", 0x100000001),
    ("0xFFFFFFFFFFFFFFFF + 2", 1),
    ("-1 + 0x80000000U", 0x7FFFFFFF),
    ("(-1 + 0x80000000U) / 2", 0x3FFFFFFF),
    ("-4 / 2", -2 & 0xFFFFFFFFFFFFFFFF),
    ("(-4 + 0U) / 2", 0x7FFFFFFFFFFFFFFE),
    ("WARP_SZ + 4", 36),
]


@pytest.mark.row("R2-07")
@pytest.mark.parametrize(("text", "value"), SUMS, ids=[text for text, _ in SUMS])
def test_sums_of_constants_have_64_bits_and_the_wider_type(text: str, value: int) -> None:
    module = lowered(source("ret;", module=f".visible .global .u64 a = {text};\n.visible .global .u32 b = {text};"))
    first, second = (module.symbols[module.symbol_ids[name]].init for name in ("a", "b"))
    assert int.from_bytes(first, "little") == value and second == first[:4]
    out = launch(source(f"mov.u64 %d1, {text}; st.global.u64 [%out], %d1;"), np.zeros(1), np.zeros(1, np.uint64), threads=1)
    assert out[0] == value


@pytest.mark.row("R2-07")
@pytest.mark.parametrize("level", [0, 3])
def test_sums_in_addresses(level: int) -> None:
    """What is added to a 64-bit address is widened with its sign, whether it fits the instruction or not."""
    body = """
  ld.global.u32 %r1, [arr+4*2+4]; ld.global.u32 %r2, [%in + 8]; add.u64 %d1, %in, 0x40000000; ld.global.u32 %r3, [%d1+-0x3FFFFFFC];
  add.u64 %d2, %in, -0x200000000; ld.global.u32 %r4, [%d2 + 0x200000000]; st.global.v4.u32 [%out+-4+4], {%r1, %r2, %r3, %r4};
  mov.u64 %d3, arr+8; mov.u64 %d4, arr; sub.u64 %d3, %d3, %d4; mov.u64 %d5, arr+-8; sub.u64 %d5, %d5, %d4;
  st.global.v2.u64 [%out+16], {%d3, %d5};
"""
    out = launch(
        source(body, module=ARRAYS), np.arange(100, 104, dtype=np.uint32), np.zeros(8, np.uint32), level=level, threads=1
    )
    assert list(out) == [13, 102, 101, 100, 8, 0, 2**32 - 8, 2**32 - 1]


CHOSEN = """.visible .global .align 4 .u32 arr[8] = {10, 11, 12, 13, 14, 15, 16, 17};
.global .align 8 .u64 wide[4] = {20, 21, 22, 23};
.global .align 1 .b8 bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.const .align 4 .u32 fixed[4] = {30, 31, 32, 33};
.shared .align 4 .u32 shared[64];
.extern .shared .align 4 .u32 more[];
"""


@pytest.mark.row("R2-13")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_elements_that_a_register_chooses(arch: str, level: int) -> None:
    """The narrower index is widened without sign; only its lower 32 bits count (as ptxas makes it)."""
    body = """
  .local .align 4 .u32 lane[8];
  rem.u32 %r1, %i, 3; cvt.u16.u32 %h1, %r1; mov.b64 %d1, {%r1, 7}; sub.u32 %r2, %r1, 4; or.b32 %r3, %r1, 0xABCD0000; cvt.u16.u32 %h2, %r3;
  mul.lo.u64 %d9, %tid8, 8; add.u64 %d9, %d9, %out;
  ld.global.u32 %r10, arr[%r1]; ld.global.u32 %r11, arr[%h1+2]; ld.global.u32 %r12, arr[%d1]; ld.global.u32 %r13, arr[%r2+5];
  st.global.v4.u32 [%d9], {%r10, %r11, %r12, %r13};
  ld.global.u64 %d2, wide[%r1+1]; cvt.u32.u64 %r10, %d2; ld.global.u8 %r11, bytes[%r1]; ld.const.u32 %r12, fixed[%r1+1]; mov.u64 %d3, wide[%r1];
  ld.global.u32 %r13, [%d3];
  st.global.v4.u32 [%d9+16], {%r10, %r11, %r12, %r13};
  st.shared.u32 shared[%i], %i; st.shared.u32 more[%i], %i; st.local.u32 lane[%r1], %i; bar.sync 0; xor.b32 %r4, %i, 5;
  ld.shared.u32 %r10, shared[%r4]; ld.shared.u32 %r11, more[%r4]; ld.local.u32 %r12, lane[%r1]; mov.u32 %r13, shared[%r4];
  ld.shared.u32 %r13, [%r13];
  st.global.v4.u32 [%d9+32], {%r10, %r11, %r12, %r13};
  ld.u32 %r10, arr[%h2]; mov.u64 %d4, arr[%i]; @%p1 mov.u64 %d4, 0; mov.u64 %d5, arr; sub.u64 %d4, %d4, %d5; cvt.u32.u64 %r11, %d4;
  setp.eq.u32 %p2, %r1, 1; mov.u32 %r12, 5; @%p2 ld.global.u32 %r12, arr[%r1]; mov.u64 %d6, fixed[%h1]; ld.const.u32 %r13, [%d6];
  st.global.v4.u32 [%d9+48], {%r10, %r11, %r12, %r13};
"""
    body = body.replace("ld.global.u32 %r11, arr[%h1+2]", "setp.ne.u32 %p1, %i, %i; ld.global.u32 %r11, arr[%h1+2]")
    text = source(body, arch, CHOSEN)
    out = launch(text, np.zeros(1), np.zeros((32, 16), np.uint32), arch, level, shared=256)
    for t in range(32):
        k, x = t % 3, t ^ 5
        want = [
            10 + k,
            12 + k,
            10 + k,
            11 + k,
            21 + k,
            1 + k,
            31 + k,
            20 + k,
            x,
            x,
            t,
            x,
            10 + k,
            4 * t,
            11 if k == 1 else 5,
            30 + k,
        ]
        assert list(out[t]) == want, t


@pytest.mark.parametrize("level", [0, 3])
def test_a_register_plus_a_constant(level: int) -> None:
    """The constant is cut or widened to the register; the sum has the width of the register."""
    body = """
  cvt.u16.u32 %h1, %i; mov.b64 %d1, {%i, 9}; mul.lo.u64 %d9, %tid8, 8; add.u64 %d9, %d9, %out; setp.lt.u32 %p1, %i+4, 10;
  mov.u32 %r1, %i+4; add.u32 %r2, %i+0x100000001, 1; mul.lo.u32 %r3, %i+-1, %i+1; selp.u32 %r4, %i+1, %i+2, %p1;
  st.global.v4.u32 [%d9], {%r1, %r2, %r3, %r4};
  add.u64 %d2, %d1+0x1000000000, %d1+-1; mov.u64 %d3, %d1+-9; st.global.v2.u64 [%d9+16], {%d2, %d3};
  cvt.u32.u16 %r5, %h1+0xFFFF; cvt.s64.s32 %d4, %i+-3; cvt.u32.u64 %r6, %d4; shr.u64 %d4, %d4, 32; cvt.u32.u64 %r7, %d4;
  st.global.u32 [%d9+32], %r5; st.global.v2.u32 [%d9+40], {%r6, %r7}; st.global.u32 [%d9+36], %i+7; st.global.u64 [%d9+48], %d1+1;
"""
    out = launch(source(body), np.zeros(1), np.zeros((32, 16), np.uint32), level=level)
    for t in range(32):
        d1 = t | 9 << 32
        wide = [(2 * d1 + 0x1000000000 - 1) % 2**64, d1 - 9, (t - 3) % 2**64, d1 + 1]
        low = [t + 4, t + 2, (t * t - 1) % 2**32, t + 1 if t + 4 < 10 else t + 2]
        words = [half for value in wide for half in (value % 2**32, value >> 32)]
        assert list(out[t, :14]) == [*low, *words[:4], (t + 0xFFFF) % 65536, t + 7, *words[4:]], t


@pytest.mark.row("R2-07")
@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("mov.u64 %d1, arr[%r1];", ["IMAD.WIDE", "MOV", "MOV"]),
        ("ld.global.u32 %r2, arr[%r1];", ["IMAD.WIDE", "LDG"]),
        ("ld.global.u32 %r2, arr[%h1];", ["PRMT", "IMAD.WIDE", "LDG"]),
        ("ld.shared.u32 %r2, shared[%r1];", ["IMAD", "LDS"]),
        ("mov.u64 %d1, %d2+4;", ["ADD64", "MOV", "MOV"]),
        ("mov.u32 %r1, %r2+4;", ["IADD3", "MOV"]),
    ],
)
def test_the_narrower_of_two_operands_is_widened(text: str, last: list[str]) -> None:
    (f,) = lowered(source(text, module=CHOSEN)).functions
    made = names(f)
    assert made[-1] == "RETURN" and [name.removesuffix(".U32") for name in made[-1 - len(last) : -1]] == last


KERNELS = """.version 9.0
.target {arch}
.address_size 64
.visible .entry first() {{ ret; }}
.visible .global .u64 table[3] = {{5, first, 7}};
.visible .const .u64 fixed[2] = {{first, 9}};
.visible .global .u8 low[2] = {{0xff(first), 0xff00(first)}};
.visible .entry k(.param .u64 out)
{{
  .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d0, [out]; ld.global.u64 %d1, [table+8]; ld.const.u64 %d2, [fixed]; mov.u64 %d3, first;
  st.global.v2.u64 [%d0], {{%d1, %d2}}; st.global.u64 [%d0+16], %d3; ld.global.u64 %d4, [table+16]; st.global.u64 [%d0+24], %d4;
  ld.global.u8 %r0, [low]; ld.global.u8 %r1, [low+1]; st.global.v2.u32 [%d0+32], {{%r0, %r1}};
  ret;
}}
"""


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_addresses_of_kernels(arch: str, level: int) -> None:
    """In initialisers of global and constant variables, in code, and a byte of one: the loader puts the same there."""
    image = oric.compile(KERNELS.format(arch=arch), arch=arch, opt_level=level).image
    out = np.zeros(5, np.uint64)
    oric.sim.load(image).launch("k", grid=1, block=1, args=[out])
    address = int(out[0])
    assert address and address % 16 == 0
    assert out[:4].tolist() == [address, address, address, 7]
    assert int(out[4]) == (address & 0xFF) | (address >> 8 & 0xFF) << 32


def test_a_kernel_that_is_left_out_has_no_address() -> None:
    options = CompileOptions("sm_90", entries=("k",))
    with pytest.raises(ValueError, match="Undefined reference to 'first'"):
        compile_inputs([PtxInput(KERNELS.format(arch="sm_90"), "m.ptx")], options)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_addresses_of_kernels_load_as_the_vendors(arch: str, tmp_path: Path) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("ptxas not found on PATH")
    text = KERNELS.format(arch=arch).replace("mov.u64 %d3, first;", "mov.u64 %d3, 1;")  # which is an edge of the call graph
    (tmp_path / "k.ptx").write_text(text)
    subprocess.run(["ptxas", f"-arch={arch}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    found = compare(elf.read(oric.compile(text, arch=arch).image), elf.read((tmp_path / "k.cubin").read_bytes())).differences
    assert not [d for d in found if "merc" not in d.key.name and d.key.name != "CAN_FASTPATH_FINALIZE"]


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("space", ["global", "const"])
def test_a_definition_behind_an_external_declaration(space: str, level: int) -> None:
    """It is the same variable, for code in front of the definition too."""
    there = ".visible .global .u64 there = generic(late);" if space == "global" else ".visible .global .u64 there;"
    body = f"ld.{space}.u32 %r1, [late]; ld.global.u64 %d1, [there]; mov.u32 %r2, %r1;"
    body += "ld.u32 %r2, [%d1];" if space == "global" else ""
    text = source(body + "st.global.v2.u32 [%out], {%r1, %r2};", module=f".extern .{space} .u32 late; {there}")
    text += f".visible .{space} .u32 late = 77;\n"
    assert launch(text, np.zeros(1, np.uint32), np.zeros(2, np.uint32), level=level).tolist() == [77, 77]
