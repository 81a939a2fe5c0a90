"""Documented checks on modules as users compile them, where no other test makes them: PTX in, machine code or a message out."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.cli import main
from oric.sass.assemble import Assembler
from oric.sass.listing import list_cubin, list_raw
from oric.support import elf
from oric_tables.targets import ISA_NAMES

from tests.kernels import cases
from tests.lower.support import launch, source

LOAD = "ld.global.u32 %r1, [%in];"
STORE = "st.global.u32 [%out], %r4;"
CONTROL = 0x7E1  # a stall of one, no scoreboards


def code(image: bytes) -> list[str]:
    """The instructions of a cubin as text, without those behind the last exit."""
    texts = [line.text for function in list_cubin(elf.read(image)).functions for line in function.lines]
    return [text for text in texts if not text.startswith(("NOP", "BRA `"))]


SUMS = ("balance_pipes",)


def compiled(body: str, arch: str = "sm_90", level: int = 3) -> list[str]:
    """The code, sums as sums: phase 109 makes products of some."""
    return code(oric.compile(source(body, arch), arch=arch, opt_level=level, disabled=SUMS).image)


@pytest.mark.row("R2-03")
def test_one_statement_makes_one_instruction_and_a_branch_its_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = (
        f"{LOAD} ld.global.f32 %f1, [%in]; add.f32 %f2, %f1, %f1; st.global.f32 [%out], %f2; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"
    )
    (tmp_path / "k.ptx").write_text(source(f"{body} st.global.u32 [%out], %r1; L:"), encoding="utf-8")
    assert main([str(tmp_path / "k.ptx"), "-arch", "sm_90", "-o", str(tmp_path / "k.cubin"), "--dump-ir", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (add,) = (line for line in lines if "FADD" in line)
    assert re.fullmatch(r"\s*FADD R\d+, (R\d+), \1 \[line=\d+ aux=0x1000000\]", add)
    (branch,) = (number for number, line in enumerate(lines) if "BRA" in line)
    block = next(line for line in reversed(lines[:branch]) if re.match(r"bix\d+:", line))
    assert re.search(r"-> bix2 bix1  // from", block), "the place that it names, and what is behind it"


@pytest.mark.row("R1-22")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("add.s32 %r4, %r1, 0;", []),
        ("neg.s32 %r3, %r1; add.s32 %r4, %r3, 0;", ["IADD3"]),
        ("mad.lo.s32 %r4, %r1, 1, 0;", []),
        ("neg.s32 %r3, %r1; mad.lo.s32 %r4, %r3, 1, 0;", ["IADD3"]),
        ("abs.f32 %f2, %f1; setp.eq.u32 %p1, %r1, 9; selp.f32 %f3, %f2, %f2, %p1; mov.b32 %r4, %f3;", ["FADD"]),
        ("setp.eq.u32 %p1, %r1, 9; selp.f32 %f3, %f1, %f1, %p1; mov.b32 %r4, %f3;", []),
    ],
)
def test_rules_for_plain_operands_leave_signs_where_they_are(text: str, left: list[str]) -> None:
    body = f"{LOAD} mov.b32 %f1, %r1; {text} {STORE}"
    arithmetic = [line.split()[0].split(".")[0] for line in compiled(body)]
    assert [name for name in arithmetic if name in ("IADD3", "IMAD", "FADD", "FSEL", "SEL")] == left
    value = np.array([0xBFC00000], np.uint32)
    number = int(value[0]) if not left else 0x3FC00000 if "abs" in text else -int(value[0]) & 0xFFFFFFFF
    assert launch(source(body), value, np.zeros(1, np.uint32), threads=1)[0] == number


@pytest.mark.row("R2-37")
def test_times_one_plus_nothing_vanishes() -> None:
    assert not [line for line in compiled(f"{LOAD} mad.lo.s32 %r4, %r1, 1, 0; {STORE}") if line.startswith(("IMAD", "IADD"))]
    assert [line for line in compiled(f"{LOAD} mad.lo.s32 %r4, %r1, 1, 0; {STORE}", level=0) if line.startswith("IMAD")]


NUMBERS = [0, 1, 5, -1, -5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, -0x80000000, -0x80000001, 0x1234567890, -(1 << 63), (1 << 63) - 1]


@pytest.mark.row("R2-24")
@pytest.mark.parametrize(
    ("arch", "sums"),
    [("sm_75", 0), ("sm_80", 0), ("sm_90", 0), ("sm_100", 0), ("sm_103", 0), ("sm_110", 0), ("sm_120", 6), ("sm_121", 6)],
)
@pytest.mark.parametrize("level", [0, 3])
def test_sums_of_64_bits(arch: str, sums: int, level: int) -> None:
    """A carry joins two sums where the target has none of 64 bits; constants and words of banks are operands of either."""
    lines = "".join(
        f"add.s64 %d5, %d1, {n}; sub.s64 %d6, {n}, %d2; sub.s64 %d7, %d1, {n};"
        f"st.global.v2.u64 [%out+{48 + 32 * k}], {{%d5, %d6}}; st.global.u64 [%out+{64 + 32 * k}], %d7;"
        for k, n in enumerate(NUMBERS)
    )
    loads = "ld.global.v2.u64 {%d1, %d2}, [%in]; ld.param.u64 %d8, [n];"
    few = """
  add.s64 %d3, %d1, %d2; sub.u64 %d4, %d1, %d2; neg.s64 %d5, %d2; add.u64 %d6, %d1, %d8; sub.s64 %d7, %d2, %d8;
  add.s64 %d9, %d2, -77;
  st.global.v2.u64 [%out], {%d3, %d4}; st.global.v2.u64 [%out+16], {%d5, %d6}; st.global.v2.u64 [%out+32], {%d7, %d9};
"""
    one = code(
        oric.compile(source(loads + few, "sm_75", params=", .param .u64 n"), arch=arch, opt_level=level, disabled=SUMS).image
    )
    found = [line.partition(" ")[0] for line in one]
    assert found.count("IADD.64") == sums
    body = f"{loads} add.u64 %d3, %d1, 0x123456789; st.global.u64 [%out], %d3;"
    long = code(oric.compile(source(body, "sm_75", params=", .param .u64 n"), arch=arch, opt_level=level, disabled=SUMS).image)
    assert [line.partition(" ")[0] for line in long if "ADD" in line] == ["IADD3", "IADD3.X"]
    if not sums:
        assert found.count("IADD3") >= 6 and found.count("IADD3.X") >= 6
    a, b, n = 0x89ABCDEF_FFFFFFFF, 0x00000001_80000001, 0xFFFFFFFF_00000003
    text = source(loads + few + lines, "sm_75", params=", .param .u64 n")
    zeros = np.zeros(6 + 4 * len(NUMBERS), np.uint64)
    out = launch(text, np.array([a, b], np.uint64), zeros, arch, level, threads=1, extra=[np.uint64(n)])
    want = [a + b, a - b, -b, a + n, b - n, b - 77]
    for number in NUMBERS:
        want += [a + number, number - b, a - number, 0]
    assert out.tolist() == [value & (1 << 64) - 1 for value in want]


@pytest.mark.row("R2-26")
def test_what_a_target_lacks_is_refused_or_done_otherwise() -> None:
    with pytest.raises(oric.CompileError, match=r"'redux.sync.add.s32' needs target sm_80 or higher, the module says sm_75"):
        oric.compile(source(f"{LOAD} redux.sync.add.s32 %r4, %r1, -1; {STORE}", "sm_75"), arch="sm_80")
    body = f"{LOAD} redux.sync.add.s32 %r2, %r1, -1; min.s32 %r4, %r2, %r1; {STORE}"
    for arch, smaller in (("sm_80", "IMNMX"), ("sm_90", "VIMNMX")):
        mnemonics = [line.split()[0].split(".")[0] for line in compiled(body, arch)]
        assert "REDUX" in mnemonics and smaller in mnemonics


@pytest.mark.row("R2-52")
@pytest.mark.parametrize(("arch", "level"), [("sm_90", 3), ("sm_80", 0)])
def test_all_tables_of_three_inputs(arch: str, level: int) -> None:
    """Bit k of the inputs is bit 2, 1 and 0 of k: the result is the table itself, in every byte."""
    lines = [f"lop3.b32 %r9, %r1, %r2, %r3, {lut}; st.global.u32 [%out+{4 * lut}], %r9;" for lut in range(256)]
    body = "ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%in+4]; ld.global.u32 %r3, [%in+8];\n" + "\n".join(lines)
    inputs = np.array([0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA], np.uint32)
    out = launch(source(body, arch), inputs, np.zeros(256, np.uint32), arch, level, threads=1)
    assert list(out) == [0x01010101 * lut for lut in range(256)]


@pytest.mark.row("R2-53")
@pytest.mark.parametrize(("arch", "level"), [("sm_90", 3), ("sm_90", 0), ("sm_80", 3)])
def test_shifts_by_any_amount(arch: str, level: int) -> None:
    amounts = np.array([0, 1, 31, 32, 33, 63, 64, 255, 1 << 31, 0xFFFFFFFF], np.uint32)
    value = 0x89ABCDEF01234567
    body = """
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; mul.lo.u64 %d2, %tid8, 5; add.u64 %d2, %d2, %out;
  mov.u64 %d3, 0x89ABCDEF01234567; mov.u32 %r2, 0x89ABCDEF;
  shl.b32 %r3, %r2, %r1; shr.u32 %r4, %r2, %r1; shr.s32 %r5, %r2, %r1;
  st.global.v2.u32 [%d2], {%r3, %r4}; st.global.u32 [%d2+8], %r5;
  shl.b64 %d4, %d3, %r1; shr.u64 %d5, %d3, %r1; shr.s64 %d6, %d3, %r1;
  st.global.u64 [%d2+16], %d4; st.global.u64 [%d2+24], %d5; st.global.u64 [%d2+32], %d6;
"""
    out = launch(source(body, arch), amounts, np.zeros((len(amounts), 5), np.uint64), arch, level, threads=len(amounts))
    signed, low = value - (1 << 64), value >> 32
    for amount, row in zip(amounts.tolist(), out.tolist(), strict=True):
        short, long = min(amount, 32), min(amount, 64)
        want = [low << short & 0xFFFFFFFF | low >> short << 32, (low - (1 << 32)) >> short & 0xFFFFFFFF,
                value << long & (1 << 64) - 1, value >> long, signed >> long & (1 << 64) - 1]  # fmt: skip
        assert row == want, amount


@pytest.mark.row("R2-71")
def test_every_sum_has_three_sources() -> None:
    sums = [line for case in cases.files() for arch in cases.TARGETS
            for line in code(oric.compile(cases.ptx(case, arch), arch=arch).image) if " IADD3 " in f" {line}"]  # fmt: skip
    assert len(sums) >= 100
    for line in sums:
        operands = line.partition("IADD3 ")[2].split(", ")
        assert len([o for o in operands if not re.fullmatch(r"!?P(\d|T)", o)]) == 4, line


@pytest.mark.row("R3-01")
def test_compiles_in_one_process_do_not_mix() -> None:
    texts = [(cases.ptx(name, arch), arch) for name in ("saxpy", "reduction", "switch") for arch in cases.TARGETS]
    first = [oric.compile(text, arch=arch).image for text, arch in texts]
    assert [oric.compile(text, arch=arch).image for text, arch in reversed(texts)] == first[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: oric.compile(job[0], arch=job[1]).image, texts * 2)) == first * 2


@pytest.mark.row("R3-49")
def test_constants_beyond_their_bank_are_an_error() -> None:
    module = ".const .b8 table[{}];"
    body = "ld.const.u8 %r1, [table]; st.global.u32 [%out], %r1;"
    with pytest.raises(oric.CompileError, match=r"uses too much global constant data \(0x10001 bytes, 0x10000 max\)"):
        oric.compile(source(body, module=module.format(65537)), arch="sm_90")
    assert oric.compile(source(body, module=module.format(65536)), arch="sm_90").image


@pytest.mark.row("R4-02")
@pytest.mark.parametrize(("isa", "last", "zero"), [("sm_75", 62, 63), ("sm_80", 62, 63), ("sm_90", 62, 63), ("sm_100", 63, 255)])
def test_the_last_uniform_register_and_zero(isa: str, last: int, zero: int) -> None:
    number = ISA_NAMES.index(isa)
    assembler = Assembler(number)
    for name, field in ((f"UR{last}", last), ("URZ", zero)):
        word = assembler.word(f"UMOV {name}, {name}", 0, CONTROL)
        assert (word >> 16 & 0xFF, word >> 32 & 0xFF) == (field, field)
        (line,) = list_raw(word.to_bytes(16, "little"), number, "raw").functions[0].lines
        assert line.text == f"UMOV {name}, {name}"


@pytest.mark.row("R4-18")
def test_a_pair_is_its_even_register() -> None:
    """There is no code for pairs, as docs/deviations.md says: the field has the number of the first register."""
    word = Assembler(ISA_NAMES.index("sm_90")).word("DADD R2, R38, R74", 0, CONTROL)
    assert [word >> at & 0xFF for at in (16, 24, 64)] == [2, 38, 74]
    page = (Path(__file__).parents[2] / "docs" / "deviations.md").read_text(encoding="utf-8")
    assert "| not implemented: hardware fields hold the even register itself |" in page
