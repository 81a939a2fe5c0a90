"""Phases 23 and 73: partial SSA form, what stands in it, and the way out of it."""

from __future__ import annotations

import random

import pytest
from oric.driver import CompileOptions, compile_functions
from oric.ir import operand as opd
from oric.ir import phis
from oric.ir.cursor import Cursor
from oric.ir.function import Function
from oric.ir.image import Image, field_values
from oric.ir.interpret import difference
from oric.ir.read import read
from oric.ir.text import all_instructions, format_instruction, write
from oric.ir.verify import MalformedCode, verify
from oric.phases.control import simplify_control_flow
from oric.phases.optimize import value_numbering
from oric.phases.predication import predicate_short_blocks
from oric.phases.ssa import generate_movphi
from oric.phases.unssa import convert_movphi
from oric_tables.op import MOV, MovPhi
from oric_tables.ops import op
from oric_tables.phases import PHASES

from tests.ir.functions import context
from tests.phases.ori import function, threads

DIAMOND = [
    "    ISETP{cmp=LT} P5, R10, 0x10",
    "    @P5 BRA bix2",
    "bix1:",
    "    MOV R20, R11",
    "    BRA bix3",
    "bix2:",
    "    IADD3 R20, R10, R10, RZ",
    "bix3:",
    "    STG R2:2, 0x8, R20",
]
# Two registers change places in every round.
SWAP = [
    "    MOV R20, R10",
    "    MOV R21, R11",
    "    MOV R22, RZ",
    "bix1:",
    "    MOV R23, R20",
    "    MOV R20, R21",
    "    MOV R21, R23",
    "    IADD3 R22, R22, 0x1, RZ",
    "    ISETP{cmp=LT} P5, R22, 0x5",
    "    @P5 BRA bix1",
    "bix2:",
    "    STG R2:2, 0x8, R20",
    "    STG R2:2, 0xc, R21",
]
# What the counter was before the last step is read behind the loop.
LOST = [
    "    MOV R20, R10",
    "bix1:",
    "    MOV R21, R20",
    "    IADD3 R20, R20, 0x1, RZ",
    "    LOP3{lut=0xc0} R22, R20, 0x7, RZ",
    "    ISETP{cmp=NE} P5, R22, RZ",
    "    @P5 BRA bix1",
    "bix2:",
    "    STG R2:2, 0x8, R21",
    "    STG R2:2, 0xc, R20",
]
NESTED = [
    "    MOV R20, RZ",
    "    MOV R21, R10",
    "bix1:",
    "    MOV R22, RZ",
    "bix2:",
    "    IADD3 R21, R21, R22, RZ",
    "    IADD3 R22, R22, 0x1, RZ",
    "    ISETP{cmp=LT} P5, R22, 0x3",
    "    @P5 BRA bix2",
    "bix3:",
    "    IADD3 R20, R20, 0x1, RZ",
    "    ISETP{cmp=LT} P6, R20, 0x3",
    "    @P6 BRA bix1",
    "bix4:",
    "    STG R2:2, 0x8, R21",
]
# A loop with two ways in.
IRREDUCIBLE = [
    "    MOV R20, R10",
    "    MOV R22, RZ",
    "    ISETP{cmp=LT} P5, R11, 0x10",
    "    @P5 BRA bix2",
    "bix1:",
    "    IADD3 R20, R20, 0x3, RZ",
    "bix2:",
    "    IADD3 R20, R20, R11, RZ",
    "    IADD3 R22, R22, 0x1, RZ",
    "    ISETP{cmp=LT} P6, R22, 0x4",
    "    @P6 BRA bix1",
    "bix3:",
    "    STG R2:2, 0x8, R20",
]
PAIR = [
    "    MOV R30.0, R10",
    "    MOV R30.1, R11",
    "    MOV R22, RZ",
    "bix1:",
    "    IADD3 R32.0, R30.0, 0x1, RZ",
    "    IADD3 R32.1, R30.1, 0x3, RZ",
    "    MOV R30.0, R32.1",
    "    MOV R30.1, R32.0",
    "    IADD3 R22, R22, 0x1, RZ",
    "    ISETP{cmp=LT} P5, R22, 0x4",
    "    @P5 BRA bix1",
    "bix2:",
    "    STG R2:2, 0x8, R30.0",
    "    STG R2:2, 0xc, R30.1",
]
PROGRAMS = {"diamond": DIAMOND, "swap": SWAP, "lost": LOST, "nested": NESTED, "irreducible": IRREDUCIBLE, "pair": PAIR}


def opened(lines: list[str]) -> Function:
    """A function in partial SSA form, which does what it did."""
    f = function(lines)
    simplify_control_flow(f, context())  # phase 16: no branch goes where control goes anyway
    before = threads(f)
    generate_movphi(f, context())
    verify(f)
    _same(before, f)
    return f


def _same(before: list, f: Function) -> None:
    for one, other in zip(before, threads(f), strict=True):
        assert not (found := difference(one, other)), f"{found}\n{write(f)}"


def closed(f: Function) -> list[str]:
    """The instructions of a function behind phase 73; it does what it did."""
    before = threads(f)
    convert_movphi(f, context())
    verify(f)
    _same(before, f)
    assert MovPhi not in [f.op[i] for i in all_instructions(f)]
    return [format_instruction(f, i) for i in all_instructions(f)]


def merged(f: Function) -> list[str]:
    """The phis of a function as dumps show them."""
    return [format_instruction(f, i) for b in range(f.blocks()) for i in phis.phis_of(f, b)]


@pytest.mark.row("R1-29", "R1-30")
def test_a_join_has_a_phi() -> None:
    """One for two predecessors has five operands: what it defines, then sources and blocks in turn."""
    f = opened(DIAMOND)
    assert merged(f) == ["MovPhi R22, R20, bix1, R21, bix2"]
    (i,) = phis.phis_of(f, 3)
    assert f.count[i] == 5 and [opd.index_of(f.get(i, at)) for at in (2, 4)] == [1, 2]
    assert phis.value_from(f, i, 1) != phis.value_from(f, i, 2) != 0 and phis.value_from(f, i, 0) == 0
    assert "    " + merged(f)[0] in write(f)


@pytest.mark.row("R1-30")
def test_the_image_of_a_phi_is_that_of_a_mov_with_a_flag() -> None:
    f = opened(DIAMOND)
    image = Image(f)
    rows = list(field_values("oric_instruction", image.instructions, "id", "opcode", "aux", "operand_count"))
    (phi,) = [row for row in rows if f.op[row[0]] == MovPhi]
    movs = [row for row in rows if f.op[row[0]] == MOV]
    assert phi[1] == movs[0][1] == op(MOV).word == 19 and phi[3] == 5
    assert phi[2] and not any(row[2] for row in movs)


@pytest.mark.row("R1-29", "R1-31")
@pytest.mark.parametrize("name", PROGRAMS)
def test_there_and_back(name: str) -> None:
    """Phis where values meet, single definitions, and behind it the same program, with no more copies than it had."""
    before = len([line for line in PROGRAMS[name] if line.startswith(" ") and "BRA" not in line]) + 5  # START, and EXIT
    f = opened(PROGRAMS[name])
    assert merged(f)
    after = closed(f)
    assert len([line for line in after if "BRA" not in line]) <= before


@pytest.mark.row("R1-31")
def test_copies_that_are_done_at_once() -> None:
    """The two phis of a swap read one another: the copies need a third register."""
    f = read(
        "\n".join([
            "entry test sm_90 final_flow", "bix0:", "    LDC R10, RZ, c[0x0][0x0], 0x210", "    LDC R11, RZ, c[0x0][0x0], 0x214",
            "    MOV R22, RZ", "bix1:", "    MOV R1, R22", "    IADD3 R23, R1, 0x1, RZ", "    ISETP{cmp=LT} P5, R23, 0x5",
            "    @P5 BRA bix1", "bix2:", "    STG R24:2, 0x8, R10", "    STG R24:2, 0xc, R11", "    EXIT",
        ]) + "\n",
        target="sm_90",
    )  # fmt: skip
    f.in_window = True
    made = []
    for old in (10, 11):
        cursor = Cursor(f)
        cursor.block, cursor.before = 1, f.head[1] if not made else f.next[made[-1]]
        made.append(cursor.make1(MovPhi, opd.reg(f.new_reg(1))))
        cursor.put(opd.reg(old))
        cursor.put(opd.label(0))
    names = [f.get(i, 0) for i in made]
    for i, other in zip(made, reversed(names), strict=True):
        phis.add(Cursor(f), i, other, 1)
    for i in all_instructions(f):
        if op(f.op[i]).name == "STG":
            f.set(i, 2, names[0] if f.get(i, 2) == opd.reg(10) else names[1])
    head = phis.phis_of(f, 1)
    assert len(head) == 2
    counter = next(i for i in all_instructions(f) if format_instruction(f, i).startswith("MOV R1, R22"))
    cursor = Cursor(f)
    cursor.in_front(head[0])
    third = cursor.make1(MovPhi, opd.reg(1))
    for operand in (opd.reg(22), opd.label(0), opd.reg(23), opd.label(1)):
        cursor.put(operand)
    assert f.op[third] == MovPhi
    cursor.remove(counter)
    verify(f)
    closed(f)


@pytest.mark.row("R1-31")
def test_an_edge_is_split_where_the_copy_would_be_missed() -> None:
    """What the loop had is read behind it: the copy for the next round has a block of its own."""
    f = opened(LOST)
    (i,) = phis.phis_of(f, 1)
    old = f.get(i, 0)
    for j in all_instructions(f):  # as if copies had been propagated
        if format_instruction(f, j).startswith("STG R2:2, 0x8"):
            f.set(j, 2, old)
    verify(f)
    blocks = f.blocks()
    closed(f)
    assert f.blocks() == blocks + 1


@pytest.mark.row("R1-29")
def test_the_verifier_asks_for_single_definitions() -> None:
    f = opened(DIAMOND)
    cursor = Cursor(f)
    cursor.at_start(1)
    first = next(r for r in sorted(f.window))
    cursor.make2(MOV, opd.reg(first), opd.RZ_OPERAND)
    with pytest.raises(MalformedCode, match=f"register {first} of partial SSA form has more than one definition"):
        verify(f)


@pytest.mark.row("R1-29")
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("late", "a MovPhi behind other instructions"),
        ("lost", r"values from \[1\], but control comes from \[1, 2\]"),
        ("guard", "a MovPhi under a guard"),
        ("outside", "a MovPhi outside of partial SSA form"),
    ],
)
def test_phis_that_are_wrong(how: str, message: str) -> None:
    f = opened(DIAMOND)
    (i,) = phis.phis_of(f, 3)
    if how == "late":
        Cursor(f).remove(i)
        cursor = Cursor(f)
        cursor.behind(f.head[3])
        cursor.link(i)
    elif how == "lost":
        phis.drop(Cursor(f), i, 3)
    elif how == "guard":
        f.set_guard(i, opd.PT_OPERAND)
    else:
        f.in_window = False
    with pytest.raises(MalformedCode, match=message):
        verify(f)


def test_what_nobody_reads_has_no_phi() -> None:
    f = opened([*DIAMOND[:-1], "    MOV R20, R10", DIAMOND[-1]])
    assert merged(f) == []


@pytest.mark.parametrize(
    "line", ["    @P5 IADD3 R20, R10, R10, RZ", "    IADD3 R40.1, R10, R10, RZ"], ids=["under a guard", "in part"]
)
def test_what_stays_outside(line: str) -> None:
    """What is written under a guard, or in part, has one name, and no phi."""
    register = line.split()[2 if "@" in line else 1].rstrip(",").split(".")[0]
    f = opened([*DIAMOND[:3], line, *DIAMOND[3:5], "bix2:", line, "bix3:", f"    STG R2:2, 0x8, {register}"])
    assert not merged(f)


@pytest.mark.parametrize("source", ["R10", "0x7", "RZ"])
@pytest.mark.parametrize("guard", ["P5", "!P5"])
def test_copies_under_a_guard_are_choices(guard: str, source: str) -> None:
    f = opened([*DIAMOND[:1], "    MOV R20, R11", f"    @{guard} MOV R20, {source}", "    STG R2:2, 0x8, R20"])
    assert not [i for i in all_instructions(f) if f.guard[i]]
    assert any("SEL" in format_instruction(f, i) for i in all_instructions(f))


def test_registers_that_are_used_again_get_names() -> None:
    """Without any branch: three values of one register."""
    f = opened(["    MOV R20, R10", "    STG R2:2, 0x8, R20", "    MOV R20, R11", "    STG R2:2, 0xc, R20"])
    assert {20} < {r for r in f.window if r >= 20} and not merged(f)
    written = [f.get(i, 0) for i in all_instructions(f) if f.op[i] == MOV and f.get(i, 1) & opd.INDEX in (10, 11)]
    assert len(set(written)) == 2


def test_the_text_of_a_phi_is_read() -> None:
    text = write(opened(DIAMOND), exact=True)
    assert write(read(text), exact=True) == text


def test_short_blocks_run_under_guards_without_a_select() -> None:
    """The two values have one register again, as before."""
    f = opened(DIAMOND)
    before = threads(f)
    predicate_short_blocks(f, context())
    verify(f)
    _same(before, f)
    names = {op(f.op[i]).name for i in all_instructions(f)}
    assert "SEL" not in names and "BRA" not in names and not merged(f)


def test_values_of_one_round_are_seen_across_blocks() -> None:
    """The same sum twice in a round, in two blocks: the register that the loop changes has one definition for each value."""
    f = opened([
        "    MOV R20, R10",
        "bix1:",
        "    IADD3 R21, R20, R11, RZ",
        "    STG R2:2, 0x8, R21",
        "    ISETP{cmp=LT} P6, R21, 0x10",
        "    @P6 BRA bix3",
        "bix2:",
        "    IADD3 R22, R20, R11, RZ",
        "    STG R2:2, 0xc, R22",
        "bix3:",
        "    IADD3 R20, R20, 0x1, RZ",
        "    ISETP{cmp=LT} P5, R20, 0x20",
        "    @P5 BRA bix1",
        "bix4:",
    ])  # fmt: skip
    f.merged = True
    before = threads(f)
    value_numbering(f, context())
    verify(f)
    _same(before, f)
    assert sum(op(f.op[i]).name == "IADD3" for i in all_instructions(f)) == 2


@pytest.mark.row("R1-29")
@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed: int) -> None:
    """Random flow of control on a few registers: in and out of the form, with phases between, it does the same."""
    chosen = random.Random(seed)
    blocks = chosen.randint(3, 7)
    lines = ["    MOV R50, RZ", *(f"    MOV R{r}, R{10 + r % 2}" for r in range(20, 25))]
    for b in range(1, blocks):
        lines.append(f"bix{b}:")
        for _ in range(chosen.randint(0, 4)):
            a, c, d = (chosen.randint(20, 24) for _ in range(3))
            lines.append(
                chosen.choice([
                    f"    MOV R{a}, R{c}", f"    IADD3 R{a}, R{c}, R{d}, RZ", f"    STG R2:2, {8 + 4 * b:#x}, R{a}",
                ])
            )  # fmt: skip
        mask = chosen.randint(1, 3)
        lines += ["    IADD3 R50, R50, 0x1, RZ", f"    LOP3{{lut=0xc0}} R51, R{chosen.randint(20, 24)}, {mask}, RZ"]
        lines.append("    ISETP{cmp=NE} P5, R51, RZ")
        lines.append("    ISETP{cmp=LT} P6, R50, 0x18, PT, P5")
        if b + 1 < blocks or chosen.random() < 0.7:
            lines.append(f"    @P6 BRA bix{chosen.randint(1, blocks)}")
    lines += [f"bix{blocks}:", *(f"    STG R2:2, {4 * r:#x}, R{r}" for r in range(20, 25))]
    f = opened(lines)
    for phase in (value_numbering, predicate_short_blocks, simplify_control_flow):
        f.merged = True
        before = threads(f)
        phase(f, context())
        verify(f)
        _same(before, f)
    closed(f)


@pytest.mark.row("R1-32")
def test_the_window() -> None:
    """The eighteen phases stand in their order between 23 and 73, and say that they see the form."""
    named = [
        "GenerateMovPhi", "OriPipelining", "StageAndFence", "OriRemoveRedundantBarriers", "GeneralOptimize", "GeneralOptimizeMid",
        "GeneralOptimizeMid2", "GvnCse", "OriReassociateAndCommon", "OriDoRematEarly", "GeneralOptimizeLate", "OriDoPredication",
        "GeneralOptimizeLate2", "OriDoRemat", "OriPropagateVaryingSecond", "OptimizeSyncInstructions",
        "LateExpandSyncInstructions", "ConvertAllMovPhiToMov",
    ]  # fmt: skip
    found = [phase for phase in PHASES if phase.name in named]
    assert [phase.name for phase in found] == named and len(named) == 18
    assert [phase.index for phase in found] == [23, 24, 25, 26, 29, 37, 46, 49, 50, 54, 58, 63, 65, 69, 70, 71, 72, 73]
    assert [phase.ssa for phase in found] == ["opens", *["window"] * 16, "closes"]
    assert all(phase.ssa == "window" for phase in PHASES[24:73] if phase.function)
    assert not any(phase.ssa for phase in (*PHASES[:23], *PHASES[74:]))


KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, 0; mov.u32 %r3, 1;
L:
  add.u32 %r5, %r2, %r3; mov.u32 %r2, %r3; mov.u32 %r3, %r5;
  st.global.u32 [%d1], %r2;
  add.u64 %d1, %d1, 4;
  setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra L;
  ret;
}
"""


@pytest.mark.row("R1-29")
def test_dumps_show_phis_behind_23_and_none_behind_73(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    from oric.cli import main

    source = tmp_path / "k.ptx"
    source.write_text(KERNEL)
    assert main(["-arch", "sm_90", "--verify", "--dump-ir", "22,23,72,73", str(source), "-o", str(tmp_path / "k.cubin")]) == 0
    parts = capsys.readouterr().out.split("after phase ")[1:]
    shown = {int(part.split()[0]): part.count("MovPhi R") for part in parts}
    assert shown[22] == 0 and shown[23] >= 3 and shown[72] >= 3 and shown[73] == 0


@pytest.mark.parametrize("level", [0, 1])
def test_low_levels_stay_out(level: int) -> None:
    ((f, _),) = compile_functions(KERNEL, CompileOptions("sm_90", level, verify=True))
    assert not f.in_window and not f.window


UNREACHED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o)
{
  .reg .b32 %a, %t; .reg .b64 %d; .reg .pred %p;
  ld.param.u64 %d, [o]; mov.u32 %t, %tid.x; setp.gt.u32 %p, %t, 3; mov.u32 %a, 1;
  @%p bra A; ld.global.u32 %a, [%d+8]; bra E;
N: bra E;
A: ld.global.u32 %a, [%d];
E: st.global.u32 [%d+4], %a; ret;
}
"""


@pytest.mark.parametrize("disabled", ["16", "16,66", "13,16"])
def test_a_block_that_nothing_leads_to_has_no_values(disabled: str) -> None:
    """It is there where the phases that would have removed it are off, and leads to a join."""
    options = CompileOptions("sm_90", 3, disabled=tuple(disabled.split(",")), verify=True)
    ((f, _),) = compile_functions(UNREACHED, options)
    assert f.blocks() < 6
