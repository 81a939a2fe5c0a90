"""``cvt``: results fill registers that are larger than their type, whatever the operand sizes (PTX ISA, Operand Size Exceeding
Instruction-Type Size: the result is sign- or zero-extended to the size of the destination register)."""

from __future__ import annotations

import numpy as np
import pytest

from .support import launch, source

INTEGERS = [f"{sign}{bits}" for bits in (8, 16, 32, 64) for sign in "us"]
REGISTERS = {"h": 16, "r": 32, "d": 64}
WORDS = [0x123456789ABCDEF0, 0, 0xFFFFFFFFFFFFFFFF, 0x8000000000000080, 0x7FFFFFFF00008000, 0xFFFF80007F7F7FFF, 0x80000000]


def value_of(type_: str, bits: int) -> int:
    """The number that the lower bits of a register are."""
    size = int(type_[1:])
    bits &= (1 << size) - 1
    return bits - (1 << size) if type_[0] == "s" and bits >> size - 1 else bits


def bounds(type_: str) -> tuple[int, int]:
    size = int(type_[1:])
    return (-(1 << size - 1), (1 << size - 1) - 1) if type_[0] == "s" else (0, (1 << size) - 1)


def fits(by: str, to: str) -> bool:
    """Whether every number of a type is one of another: then there is no ``.sat``."""
    (low, high), (least, most) = bounds(by), bounds(to)
    return least <= low and high <= most


def integer_cases(sat: bool) -> list[tuple[str, str, str, str]]:
    """(destination, source) as types and register letters."""
    return [
        (to, into, by, given)
        for to in INTEGERS
        for into, size in REGISTERS.items()
        for by in INTEGERS
        for given, width in REGISTERS.items()
        if size >= int(to[1:]) and width >= int(by[1:]) and not (sat and fits(by, to))
    ]


def results(text: list[str], data: np.ndarray, level: int, arch: str) -> np.ndarray:
    """What each line leaves in ``%h9``, ``%r9`` or ``%d9``, as 64 bits; one row a thread, whose word ``%d1`` holds."""
    lines = ["add.s64 %in, %in, %tid8; ld.global.b64 %d1, [%in]; ld.global.b32 %r1, [%in]; ld.global.b16 %h1, [%in];",
             "ld.global.f64 %g1, [%in]; ld.global.f32 %f1, [%in];",
             f"mul.lo.u64 %tid8, %tid8, {len(text)}; add.s64 %out, %out, %tid8;"]  # fmt: skip
    for at, line in enumerate(text):
        register = line.split()[1].rstrip(",")
        lines.append("mov.b64 %d9, 0x5555555555555555; mov.b32 %r9, 0x55555555; mov.b16 %h9, 0x5555; mov.b64 %d8, 0;")
        lines.append(line)
        size = REGISTERS[register[1]]
        lines.append(f"st.global.b64 [%out+{8 * at}], %d8; st.global.b{size} [%out+{8 * at}], {register};")
    out = np.zeros((32, len(text)), np.uint64)
    return launch(source("\n".join(lines), arch), np.resize(data, 32), out, arch=arch, level=level)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("sat", ["", ".sat"])
def test_integers_to_integers(sat: str, level: int, arch: str) -> None:
    cases = integer_cases(bool(sat))
    text = [f"cvt{sat}.{to}.{by} %{into}9, %{given}1;" for to, into, by, given in cases]
    words = np.resize(np.array(WORDS, np.uint64), 32)
    found = results(text, words, level, arch)
    for t, word in enumerate(WORDS):
        for at, (to, into, by, _) in enumerate(cases):
            number = value_of(by, word)
            if sat:
                low, high = bounds(to)
                number = min(max(number, low), high)
            want = value_of(to, number) & ((1 << REGISTERS[into]) - 1)
            assert int(found[t, at]) == want, (text[at], hex(word), hex(int(found[t, at])), hex(want))


FLOATS = [
    0.0,
    -0.0,
    5.0,
    -5.0,
    3.75,
    -3.75,
    127.5,
    -129.0,
    40000.0,
    -40000.0,
    3e9,
    -3e9,
    1e19,
    -1e19,
    float("inf"),
    float("-inf"),
]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("by", "given", "type_"), [("f32", "f", np.uint32), ("f64", "g", np.uint64)])
def test_floats_to_integers(by: str, given: str, type_: type, arch: str) -> None:
    """Out of range gives the nearest number of the type."""
    cases = [(to, into) for to in INTEGERS for into, size in REGISTERS.items() if size >= int(to[1:])]
    text = [f"cvt.rzi.{to}.{by} %{into}9, %{given}1;" for to, into in cases]
    floats = np.array(FLOATS, np.float32 if by == "f32" else np.float64)
    found = results(text, np.resize(floats.view(type_).astype(np.uint64), 32), 3, arch)
    for t, number in enumerate(floats):
        for at, (to, into) in enumerate(cases):
            low, high = bounds(to)
            exact = high if number == np.inf else low if number == -np.inf else int(number)
            want = min(max(exact, low), high) & ((1 << REGISTERS[into]) - 1)
            assert int(found[t, at]) == want, (text[at], number, hex(int(found[t, at])), hex(want))


def test_nan_to_s8_is_extended() -> None:
    """The smallest number of the type, in registers of each size."""
    nan = np.array([0x7FF8000000000000], np.uint64)
    found = results([f"cvt.rzi.s8.f64 %{into}9, %g1;" for into in REGISTERS], nan, 3, "sm_80")
    assert [hex(int(n)) for n in found[0]] == ["0xff80", "0xffffff80", "0xffffffffffffff80"]


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("cvt.f64.f32 %g2, 0f40400000; mov.b64 %d9, %g2;", 0x4008000000000000),
        ("rcp.approx.ftz.f32 %f2, 0f40400000; mov.b32 %r2, %f2; cvt.u64.u32 %d9, %r2;", 0x3EAAAAAB),
        ("ex2.approx.ftz.f32 %f2, 0f40400000; mov.b32 %r2, %f2; cvt.u64.u32 %d9, %r2;", 0x41000000),
        ("mov.b32 %f1, 0f40C00000; div.approx.ftz.f32 %f2, %f1, 0f40400000; mov.b32 %r2, %f2; cvt.u64.u32 %d9, %r2;", 0x40000000),
        ("cvt.rzi.s64.f32 %d9, 0f40400000;", 3),
        ("cvt.rzi.s64.f32 %d9, 3.0;", 3),
        ("cvt.rni.u64.f32 %d9, 2.5;", 2),
        ("cvt.rzi.s64.f64 %d9, 0d4008000000000000;", 3),
        ("tanh.approx.f32 %f2, 0f41A00000; mov.b32 %r2, %f2; cvt.u64.u32 %d9, %r2;", 0x3F800000),
    ],
)
def test_float_constants_as_sources(line: str, want: int, level: int) -> None:
    """An immediate has the size of the instruction's type, not that of another form of the operation."""
    out = launch(source(line + " st.global.b64 [%out], %d9;"), np.zeros(1), np.zeros(1, np.uint64), level=level, threads=1)
    assert hex(int(out[0])) == hex(want)


@pytest.mark.parametrize(
    ("word", "normal"),
    [
        (0, 1),
        (1 << 63, 1),
        (1, 0),
        (0x0010000000000000, 1),
        (0x000FFFFFFFFFFFFF, 0),
        (0x7FF0000000000000, 0),
        (0x8000000000000001, 0),
    ],
)
def test_zeros_are_normal(word: int, normal: int) -> None:
    body = """ld.global.f64 %g1, [%in]; testp.normal.f64 %p1, %g1; selp.b32 %r1, 1, 0, %p1;
    mov.b64 {%r2, %r3}, %g1; mov.b32 %f1, %r3; testp.normal.f32 %p2, %f1; selp.b32 %r4, 1, 0, %p2;
    st.global.v2.b32 [%out], {%r1, %r4};"""
    out = launch(source(body), np.array([word], np.uint64), np.zeros(2, np.uint32), threads=1)
    single = word >> 32 & 0x7FFFFFFF
    assert list(out) == [normal, int(single == 0 or 0x800000 <= single < 0x7F800000)]
