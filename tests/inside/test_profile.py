"""Phases 9, 96 and 126: the profile of a function."""

from __future__ import annotations

import re

import pytest
from oric.driver import CompileOptions, Watch, compile_functions, compile_text
from oric.driver.observing import Observer
from oric.inside.profile import Statistics, occupancy, peak_registers
from oric.ir.function import control_flow
from oric.sass import decode
from oric.support import elf
from oric_tables import statistics as tables
from oric_tables.targets import TARGETS

TARGET = "sm_90"
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 96
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
  .shared .align 4 .b8 cell[384];
  ld.param.u64 %d1, [p]; ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.global.f32 %f1, [%d1]; rcp.approx.f32 %f2, %f1; fma.rn.f32 %f2, %f2, %f1, %f1;
  shl.b32 %r3, %r1, 2; mov.u32 %r4, cell; add.u32 %r3, %r3, %r4;
  st.shared.f32 [%r3], %f2; bar.sync 0; ld.shared.f32 %f3, [%r3];
L: add.f32 %f3, %f3, %f3; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
  st.global.f32 [%d1], %f3;
  ret;
}
"""
SHORT = r"""# k
# (\d+) instructions, (\d+) R-regs
# \[inst=\1\] \[texInst=0\] \[tepid=0\] \[rregs=\2\]
# \[est latency = \d+\] \[LSpillB=0\]
# \[Occupancy = \d\.\d{6}\]
# \[issue thru=\d\.\d{6}\] \[fp thru=\d\.\d{6}\]
# \[worstcaseLat=\d+\.\d{6}\]
# \[avgcaseLat=\d+\.\d{6}\]"""
LONG = (
    SHORT
    + r"""
# \[SharedMem Alloc thru=\d\.\d{6}\]
# \[instHint=0\] \[instPairs=0\]"""
)


def told(form: str, level: int = 3) -> tuple[list[str], bytes, int]:
    """The profiles, the code and the registers that the file tells."""
    shown: list[str] = []
    options = CompileOptions(TARGET, level, watch=Watch(profile=form), dump_sink=shown.append)
    cubin = compile_text(KERNEL, options)
    return shown, cubin.image, cubin.kernels["k"].registers


@pytest.mark.row("R1-05", "R2-31")
@pytest.mark.parametrize(("form", "lines"), [("short", SHORT), ("long", LONG)])
@pytest.mark.parametrize("level", [0, 3])
def test_lines_are_the_documented_ones(form: str, lines: str, level: int) -> None:
    """Letter for letter, the two totals in both of their places; nothing without the option."""
    for profile in told(form, level)[0]:
        assert re.fullmatch(lines, profile), profile
    assert told("", level)[0] == []


@pytest.mark.row("R1-05", "R2-31")
def test_the_documented_example() -> None:
    """The values of the documents give their lines."""
    ((f, _),) = compile_functions(KERNEL, CompileOptions(TARGET))
    record = Statistics(f, TARGETS[TARGET])
    values = {"instr_hi": 150, "instr_lo": 8, "r_alloc": 22, "r_reserved": 2, "tex_inst_count": 0, "est_latency": 87,
              "spill_bytes": 0, "occupancy": 0.75, "worst_case_lat": 87, "avg_case_lat": 52.5}  # fmt: skip
    for name, value in values.items():
        record.words[tables.FIELDS[name]] = value
    lines = record.lines("long")
    assert [lines[n] for n in (0, 1, 2, 3, 5, 6, 8)] == [
        "# 142 instructions, 24 R-regs", "# [inst=142] [texInst=0] [tepid=0] [rregs=24]", "# [est latency = 87] [LSpillB=0]",
        "# [Occupancy = 0.750000]", "# [worstcaseLat=87.000000]", "# [avgcaseLat=52.500000]", "# [instHint=0] [instPairs=0]",
    ]  # fmt: skip


FULL = (
    LONG
    + r"""
# \[urregs=\d+\]
# \[LRefillB=0\] \[SSpillB=0\] \[SRefillB=0\]
# \[LowLmemSpillSize=0\] \[FrameLmemSpillSize=0\]
# \[LNonSpillB=0\] \[LNonRefillB=0\] \[NonSpillSize=0\]
# \[est numDivergentBranches=\d+\] \[attributeMemUsage=0\] \[programSize=\d+\]
# \[est fp=\d+\] \[est half=0\] \[est trancedental=1\] \[est ipa=0\] \[est shared=2\]
# \[est controlFlow=\d+\] \[est loadStore=\d+\] \[est tex=0\]
# \[FP16 inst=0\] \[FP16 VectInst=0\] \[Precise inst=\d+\]
# \[UDP inst=\d+\] \[numVecToURConverts inst=\d+\]
# \[maxNumLiveValuesAtSuspend=0\]
# \[partially unrolled loops=\d\] \[non-unrolled loops=\d\]
# \[CB-Bound Tex=0\] \[Partially Bound Tex=0\] \[Bindless Tex=0\] \[UR-Bound Tex=0\]
# instr/R-regs: \1 instructions, \2 R-regs
# Fatpoint count for entry k for regclass R : \d+
# Fatpoint count for entry k for regclass P : \d+
# Fatpoint count for entry k for regclass B : \d+
# Fatpoint count for entry k for regclass UR : \d+
# Fatpoint count for entry k for regclass UP : \d+
(# .+\n?)*"""
)


@pytest.mark.row("R3-39", "R3-40", "R4-52")
def test_the_full_form_has_all_texts_and_ends_with_the_annotations() -> None:
    """Each text of the record stands in it once, ptxas's spelling of one included."""
    profile = told("full")[0][-1]
    assert re.fullmatch(FULL, profile), profile
    for _, _, name, _, text, _ in tables.ROWS:
        shown = re.escape(text).replace("%d", r"-?\d+").replace("%f", r"\d+\.\d{6}")
        assert not text or len(re.findall(shown, profile)) == 1, name


@pytest.mark.row("R3-39")
def test_every_documented_field_is_filled() -> None:
    """47 fields: each is counted, computed, or 0 for a reason that the table gives."""
    assert len(tables.ROWS) == 47 and all(offset == 4 * index for index, offset, *_ in tables.ROWS)
    texts = {name: (index, text) for index, _, name, _, text, _ in tables.ROWS}
    assert texts["est_latency"] == (8, "[est latency = %d]") and texts["program_size"] == (29, "[programSize=%d]")
    assert texts["tepid_inst"] == (342, "[tepid=%d]") and texts["est_transcendental"] == (307, "[est trancedental=%d]")
    written: set[str] = set()

    class Noting(dict):  # type: ignore[type-arg]
        def __getitem__(self, name: str) -> int:
            written.add(name)
            return int(super().__getitem__(name))

    ((f, _),) = compile_functions(KERNEL, CompileOptions(TARGET))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "FIELDS", Noting(tables.FIELDS))
        record = Statistics(f, TARGETS[TARGET])
    assert written | set(tables.ZEROS) == set(tables.FIELDS)
    assert not any(record.value(name) for name in tables.ZEROS)


@pytest.mark.row("R3-40")
def test_thirteen_floats_are_throughputs_and_occupancy() -> None:
    ((f, _),) = compile_functions(KERNEL, CompileOptions(TARGET))
    record = Statistics(f, TARGETS[TARGET], annotations=["one", "two"])
    assert [index for index, *_ in tables.FLOATS] == [9, 26, 50, 54, 57, 58, 59, 61, 62, 65, 84, 85, 86]
    for index, name, share in tables.FLOATS:
        expected = record.value(share[0]) / record.value(share[1]) if share else record.value(name)
        assert record.words[index] == expected
    assert record.words[50] == pytest.approx(record.value("instructions") / record.value("worst_case_lat"))
    assert record.lines("full")[-2:] == ["# one", "# two"] and "# one" not in record.lines("long")


@pytest.mark.row("R3-41")
def test_uniform_registers_are_told_where_targets_have_them() -> None:
    """From sm_75 on; a target of the table before it is below the threshold."""
    ((f, _),) = compile_functions(KERNEL, CompileOptions("sm_75"))
    record = Statistics(f, TARGETS["sm_75"])
    line = f"# [urregs={f.attributes.num_uregs}]"
    assert record.value("sm_version_check") > 24575 and line in record.lines("full")
    for older in (12288, 20481, 24575):
        record.words[tables.FIELDS["sm_version_check"]] = older
        assert not any("urregs" in text for text in record.lines("full"))
    record.words[tables.FIELDS["sm_version_check"]] = 24576
    assert line in record.lines("full")
    for target in TARGETS.values():
        assert target.encoded_arch > 24575


LOOPS = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<3>; .reg .b16 %h<3>;
  .local .align 8 .b8 cell[64];
  ld.param.u64 %d1, [p]; ld.param.u32 %r2, [n]; mov.u32 %r5, 0;
  mov.u32 %r4, cell; st.local.v2.u32 [%r4+8], {%r2, %r5}; and.b32 %r6, %r2, 15; add.u32 %r4, %r4, %r6; ld.local.u16 %h1, [%r4];
  cvt.u32.u16 %r5, %h1;
L: ld.global.u32 %r3, [%d1]; xor.b32 %r5, %r5, %r3; add.u64 %d1, %d1, 4; sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
  st.global.u32 [%d1], %r5;
  ret;
}
"""


def test_local_memory_loops_and_branches() -> None:
    """8 bytes stored and 2 loaded; the loop that counts at run time is unrolled in part at -O3, and stays as it is at -O0."""
    found = {}
    for level in (0, 3):
        seen: list[Statistics] = []
        observer = Observer((), lambda f, facts, _, seen=seen: seen.append(Statistics(f, facts.target, facts.stats)))  # type: ignore[misc]
        ((f, _),) = compile_functions(LOOPS, CompileOptions(TARGET, level, observer=observer))
        (found[level],) = seen
        (record,) = seen
        assert (record.value("non_spill_bytes"), record.value("non_refill_bytes"), record.value("non_spill_size")) == (8, 2, 64)
        assert record.value("spill_bytes") == record.value("frame_lmem_spill") == 0
        assert record.value("div_branches") >= 1 and record.value("program_size") == 16 * f.length()
        loops = control_flow(f).loops().count
        assert record.value("partial_unroll") + record.value("non_unrolled") == loops
    assert found[0].value("partial_unroll") == 0 and found[0].value("non_unrolled") == 1
    assert found[3].value("partial_unroll") == 1


@pytest.mark.row("R1-04", "R2-33")
@pytest.mark.parametrize("level", [0, 3])
def test_three_reports_and_the_last_is_the_file(level: int) -> None:
    """The counts differ; the last ones are those of the code and of the container."""
    profiles, image, registers = told("short", level)
    counts = [tuple(map(int, re.findall(r"# (\d+) instructions, (\d+) R-regs", profile)[0])) for profile in profiles]
    assert len(counts) == 3 and len(set(counts)) == 3  # at -O0 too: a sum of 64 bits becomes two in phase 55
    (text,) = (s for s in elf.read(image).sections if s.name == ".text.k")
    lines = [instruction.text for instruction in decode(text.data, TARGET)]
    assert counts[-1] == (max(n for n, line in enumerate(lines) if "EXIT" in line) + 1, registers)


def test_the_record_has_the_documented_places() -> None:
    ((f, _),) = compile_functions(KERNEL, CompileOptions(TARGET))
    record = Statistics(f, TARGETS[TARGET])
    words = record.words
    assert words[335] - words[341] == record.value("instructions") == f.length()
    assert words[102] + words[159] == record.value("total_regs")
    assert words[99] == f.attributes.num_uregs and words[372 // 4] == 36865
    assert record.value("est_shared") == 2 and record.value("est_transcendental") == 1
    assert record.value("est_load_store") >= 4 and record.value("est_control_flow") >= 2
    assert 0 < record.value("avg_case_lat") <= record.value("est_latency") <= record.value("worst_case_lat")


@pytest.mark.parametrize(
    ("registers", "block", "share"),
    [(24, None, 1.0), (32, None, 1.0), (33, None, 48 / 64), (255, None, 8 / 64), (32, (96, 1, 1), 63 / 64),
     (32, (1024, 1, 1), 1.0), (40, (1024, 1, 1), 0.5), (16, (32, 1, 1), 0.5)],
)  # fmt: skip
def test_occupancy(registers: int, block: tuple[int, int, int] | None, share: float) -> None:
    """Of an SM with 65,536 registers, 64 warps and 32 blocks."""
    target = TARGETS["sm_90"]
    assert (target.regs_per_sm, target.warps_per_sm, target.blocks_per_sm, target.register_unit) == (65536, 64, 32, 8)
    fit = {33: 51, 255: 8, 40: 51}.get(registers)
    assert occupancy(registers, block, target) == (share if block or fit is None else fit / 64)


def test_registers_before_allocation() -> None:
    """Three sources of a sum."""
    from oric.ir.read import read

    f = read(TEXT)
    assert peak_registers(f) == 3


TEXT = """entry k sm_90
bix0:
    MOV R1, 0x1
    MOV R2, 0x2
    MOV R3, 0x3
    IADD3 R4, R1, R2, R3
    MOV R5, R4
    EXIT
"""
