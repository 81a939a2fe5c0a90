"""The hazard checker on small programs: each kind of finding, and the code next to it in which nothing is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric.sass.assemble import Assembler
from oric.sass.check import KINDS, Finding, Report, Section, check_code
from oric.sass.check_cli import main
from oric.sass.code import Code
from oric.sass.instruction import Control
from oric.support.targets import find_model

ARCH = "sm_90"
ROOT = Path(__file__).resolve().parents[2]


def control(text: str) -> Control:
    """From ``[B0-----:R-:W1:-:S04]``."""
    awaited, read, write, yields, stall = text.strip("[]").split(":")
    wait = sum(1 << int(b) for b in awaited[1:] if b != "-")
    return Control(int(stall[1:]), yields == "Y", *(7 if b[1] == "-" else int(b[1]) for b in (write, read)), wait)


def report_of(program: str, arch: str = ARCH, **section) -> Report:
    """Check lines of control code and text; ``L0:`` names the place of the next instruction."""
    isa = find_model(arch)
    lines = [line.strip() for line in program.strip().splitlines()]
    labels, texts = {}, []
    for line in lines:
        if line.endswith(":"):
            labels[line[:-1]] = len(texts) * 16
        else:
            texts.append(line)
    words = []
    for i, line in enumerate(texts):
        bits, text = line.split(" ", 1)
        for label, place in labels.items():
            text = text.replace(label, f"{place:#x}")
        text, _, replaced = text.partition(" | ")  # `| LOW=NUMBER`: the byte from bit LOW on, after assembling
        word = Assembler(isa).word(text.strip(), 16 * i, control(bits).pack())
        if replaced:
            low, number = map(int, replaced.split("="))
            word = word & ~(0xFF << low) | number << low
        words.append(word)
    code = Code(isa, b"".join(w.to_bytes(16, "little") for w in words))
    assert not code.bad
    places = {labels.get(at, at): kernel for at, kernel in section.pop("entries", {0: True}).items()}
    return check_code(code, Section("f", section.pop("registers", 32), places, **section), arch)


def findings(program: str, **section) -> list[Finding]:
    return report_of(program, **section).findings


def the_finding(program: str, **section) -> Finding:
    found = findings(program, **section)
    assert len(found) == 1, found
    return found[0]


EXIT = "[B------:R-:W-:-:S05] EXIT"
ADD, USE = "IADD3 R4, R4, 0x1, RZ", "IADD3 R5, R4, 0x1, RZ"
LOAD = "LDG.E R4, desc[UR4][R2.64]"


def test_a_result_needs_its_distance():
    found = the_finding(f"[B------:R-:W-:-:S03] {ADD}\n[B------:R-:W-:-:S04] {USE}\n{EXIT}")
    assert (found.kind, found.register, found.had, found.needed) == ("read-after-write", "R4", 3, 4)
    assert (found.first_offset, found.first_text, found.offset, found.text) == (0, ADD, 16, USE)
    assert found.message == f"R4 is read 3 cycles after 0x0000 {ADD}; 4 are needed"
    assert not findings(f"[B------:R-:W-:-:S04] {ADD}\n[B------:R-:W-:-:S04] {USE}\n{EXIT}")


def test_distances_add_up_over_instructions_and_blocks():
    program = f"""
        [B------:R-:W-:-:S0{{}}] {ADD}
        [B------:R-:W-:-:S01] @P0 BRA L0
        [B------:R-:W-:-:S01] IADD3 R8, R8, 0x1, RZ
        L0:
        [B------:R-:W-:-:S04] {USE}
        {EXIT}"""
    found = [f for f in findings(program.format(2)) if f.kind == "read-after-write"]
    assert [(f.had, f.needed) for f in found] == [(3, 4)], "the shorter path counts"
    assert not [f for f in findings(program.format(3)) if f.kind == "read-after-write"]


def test_a_loop_meets_its_own_results():
    program = f"""
        L0:
        [B------:R-:W-:-:S05] {USE}
        [B------:R-:W-:-:S01] {ADD}
        [B------:R-:W-:-:S0{{}}] @P0 BRA L0
        {EXIT}"""
    found = [f for f in findings(program.format(2)) if f.kind == "read-after-write"]
    assert [(f.offset, f.first_offset, f.had) for f in found] == [(0, 16, 3)]
    assert not [f for f in findings(program.format(5)) if f.kind == "read-after-write"]


def test_a_load_is_waited_for():
    program = f"[B------:R-:W0:-:S02] {LOAD}\n[B{{}}-----:R-:W-:-:S04] {USE}\n{EXIT}"
    found = the_finding(program.format("-"))
    assert (found.kind, found.register, found.had) == ("read-after-write", "R4", None)
    assert "no wait" in found.message
    assert not findings(program.format("0"))


def test_the_other_scoreboard_does_not_help():
    assert the_finding(f"[B------:R-:W0:-:S02] {LOAD}\n[B-1----:R-:W-:-:S04] {USE}\n{EXIT}").register == "R4"


def test_a_wait_on_one_path_is_no_wait():
    program = f"""
        [B------:R-:W0:-:S02] {LOAD}
        [B------:R-:W-:-:S05] @P0 BRA L0
        [B0-----:R-:W-:-:S01] NOP
        L0:
        [B{{}}-----:R-:W-:-:S04] {USE}
        {EXIT}"""
    assert the_finding(program.format("-")).offset == 48
    assert not findings(program.format("0"))


def test_a_later_scoreboard_of_the_same_queue_covers():
    assert not findings(
        f"[B------:R-:W-:-:S01] {LOAD}\n[B------:R-:W0:-:S02] LDG.E R6, desc[UR4][R2.64+0x4]\n[B0-----:R-:W-:-:S04] {USE}\n{EXIT}"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("UTMALDG.2D [UR24], [UR6]", "UTMALDG.2D [UR32], [UR8]"),
        ("UTCHMMA gdesc[UR6], gdesc[UR8], tmem[UR10], tmem[UR12], idesc[UR13], UPT",) * 2,
    ],
)
def test_engines_read_their_registers_in_order(first: str, second: str):
    program = f"[B------:R-:W-:-:S02] {first}\n[B------:R{{}}:W-:-:S02] {second}\n[B{{}}-----:R-:W-:-:S04] UMOV UR6, 0x0\n{EXIT}"
    registers = {"arch": "sm_100", "registers": 64}
    assert the_finding(program.format("-", "-"), **registers).kind == "write-after-read"
    assert not findings(program.format("0", "0"), **registers)


def test_the_wait_comes_two_cycles_later():
    found = the_finding(f"[B------:R-:W0:-:S01] {LOAD}\n[B0-----:R-:W-:-:S04] {USE}\n{EXIT}")
    assert (found.kind, found.had, found.needed) == ("scoreboard", 1, 2)
    assert found.message.startswith("SB0 is waited for 1 cycles after")


def test_a_store_reads_late():
    program = "[B------:R{}:W-:-:S02] STG.E desc[UR4][R2.64], R4\n[B{}-----:R-:W-:-:S04] " + ADD.replace("R4, R4", "R4, R6")
    found = the_finding(f"{program.format('-', '-')}\n{EXIT}")
    assert (found.kind, found.register) == ("write-after-read", "R4")
    assert the_finding(f"{program.format('0', '-')}\n{EXIT}").kind == "write-after-read"
    assert not findings(f"{program.format('0', '0')}\n{EXIT}")


def test_the_result_of_a_load_says_that_its_address_was_read():
    program = f"[B------:R-:W0:-:S02] {LOAD}\n[B{{}}-----:R-:W-:-:S04] IADD3 R2, R6, 0x1, RZ\n{EXIT}"
    assert the_finding(program.format("-")).kind == "write-after-read"
    assert not findings(program.format("0"))


def test_a_pending_result_is_not_overwritten():
    program = f"[B------:R-:W0:-:S02] {LOAD}\n[B{{}}-----:R-:W-:-:S04] IADD3 R4, R6, 0x1, RZ\n{EXIT}"
    assert the_finding(program.format("-")).kind == "write-after-write"
    assert not findings(program.format("0"))


def test_a_slow_result_does_not_come_after_a_quick_one():
    program = f"[B------:R-:W-:-:S0{{}}] {ADD}\n[B------:R-:W0:-:S02] {LOAD}\n[B0-----:R-:W-:-:S04] {USE}\n{EXIT}"
    found = the_finding(program.format(2))
    assert (found.kind, found.had) == ("write-after-write", 2)
    assert not findings(program.format(8))


def test_threads_of_opposite_guards_do_not_meet():
    program = f"[B------:R-:W0:-:S02] @P0 {LOAD}\n[B------:R-:W-:-:S04] @{{}}P0 {USE}\n{EXIT}"
    assert the_finding(program.format("")).register == "R4"
    assert not findings(program.format("!"))


def test_a_guard_that_has_changed_tells_nothing():
    program = f"""
        [B------:R-:W0:-:S02] @P0 {LOAD}
        [B------:R-:W-:-:S15] ISETP.GE.AND P0, PT, R8, R9, PT
        [B------:R-:W-:-:S04] @!P0 {USE}
        {EXIT}"""
    assert the_finding(program).register == "R4"


def test_predicates_and_uniform_registers_have_distances():
    found = the_finding("[B------:R-:W-:-:S04] ISETP.GE.AND P0, PT, R8, R9, PT\n[B------:R-:W-:-:S05] @P0 EXIT\n" + EXIT)
    assert (found.register, found.had, found.needed) == ("P0", 4, 13)
    found = the_finding(
        "[B------:R-:W-:-:S02] UIADD3 UR4, UR4, 0x1, URZ\n[B------:R-:W-:-:S01] UIADD3 UR5, UR4, 0x1, URZ\n" + EXIT
    )
    assert (found.register, found.had, found.needed) == ("UR4", 2, 4)


def test_halves_of_a_pair_have_their_own_distances():
    """The low half of a 64-bit product is there sooner than the high half."""
    program = "[B------:R-:W-:-:S0{}] IMAD.WIDE R4, R6, R7, RZ\n[B------:R-:W-:-:S04] IADD3 R8, {}, 0x1, RZ\n" + EXIT
    assert not findings(program.format(3, "R4"))
    assert (the_finding(program.format(3, "R5")).needed, the_finding(program.format(2, "R4")).needed) == (5, 3)


@pytest.mark.row("R4-16")
def test_wide_registers_are_aligned():
    # The assembler refuses such registers, so they are put in afterwards.
    found = the_finding(f"[B------:R-:W0:-:S02] LDG.E.64 R4, desc[UR4][R2.64] | 16=5\n{EXIT}")
    assert (found.kind, found.register, found.needed) == ("alignment", "R5", 2)
    assert the_finding(f"[B------:R-:W0:-:S02] LDG.E.128 R4, desc[UR4][R2.64] | 16=6\n{EXIT}").needed == 4
    assert not findings(f"[B------:R-:W0:-:S02] LDG.E.128 R8, desc[UR4][R2.64]\n{EXIT}")


def test_registers_are_declared():
    found = the_finding(f"[B------:R-:W0:-:S02] LDG.E.64 R10, desc[UR4][R2.64]\n{EXIT}", registers=11)
    assert (found.kind, found.register, found.had, found.needed) == ("registers", "R10", 11, 12)
    assert not findings(f"[B------:R-:W0:-:S02] LDG.E.64 R10, desc[UR4][R2.64]\n{EXIT}", registers=12)


def test_the_operand_cache_must_not_be_stale():
    program = (
        """
        [B------:R-:W-:-:S01] IADD3 R8, R4.reuse, R5, RZ
        [B------:R-:W-:-:S05] MOV R4, 0x1
        [B------:R-:W-:-:S01] IADD3 R9, R4, R5, RZ
        """
        + EXIT
    )
    found = the_finding(program)
    assert (found.kind, found.register, found.first_offset, found.offset) == ("reuse", "R4", 0, 32)
    assert not findings(program.replace(".reuse", ""))


REGION = (
    """
    [B------:R-:W-:-:S15] BSSY B0, L1
    [B------:R-:W-:-:S05] @P0 BRA L0
    [B------:R-:W-:-:S01] NOP
    L0:
    [B------:R-:W-:-:S05] BSYNC {}
    L1:
    """
    + EXIT
)


def test_regions_are_paired():
    assert not findings(REGION.format("B0"))
    assert {(f.kind, f.register) for f in findings(REGION.format("B1"))} == {("convergence", "B0"), ("convergence", "B1")}


def test_a_region_that_one_path_goes_around():
    program = (
        """
        [B------:R-:W-:-:S05] @P0 BRA L0
        [B------:R-:W-:-:S15] BSSY B0, L1
        L0:
        [B------:R-:W-:-:S05] BSYNC B0
        L1:
        """
        + EXIT
    )
    assert the_finding(program).message == "B0 is not set on every path that comes here"


CALLS = f"""
    [B------:R-:W-:-:S05] MOV R20, 0x30
    [B------:R-:W-:-:S05] MOV R21, 0x0
    [B------:R-:W-:-:S0{{stall}}] CALL.REL.NOINC L0
    [B------:R-:W-:-:S04] {USE}
    {EXIT}
    L0:
    [B------:R-:W-:-:S0{{body}}] {{inner}}
    [B------:R-:W-:-:S0{{ret}}] RET.REL.NODEC R20 L2
    L2:
    {EXIT}"""


def test_results_of_functions_keep_their_distance():
    common = {"stall": 5, "inner": ADD, "entries": {0: True, "L0": False}}
    entries = common.pop("entries")
    assert not findings(CALLS.format(body=1, ret=5, **common), entries=entries)
    found = the_finding(CALLS.format(body=1, ret=1, **common), entries=entries)
    assert (found.kind, found.had, found.needed) == ("read-after-write", 2, 4)


def test_what_is_pending_at_a_call_meets_the_function():
    program = CALLS.format(stall=5, body=4, ret=5, inner="IADD3 R6, R20, 0x1, RZ").replace(
        "S05] MOV R21, 0x0", "S02] LDS R6, [R22]"
    )
    assert the_finding(program, entries={0: True, "L0": False}).kind == "write-after-write"


def test_functions_leave_the_stack_as_it_was():
    program = CALLS.format(stall=5, body=5, ret=5, inner="VIADD R1, R1, 0xfffffff0")
    found = the_finding(program, entries={0: True, "L0": False})
    assert (found.kind, found.message) == ("stack", "the function returns with R1 moved by -16 bytes")
    balanced = program.replace(
        "VIADD R1, R1, 0xfffffff0", "VIADD R1, R1, 0xfffffff0\n[B------:R-:W-:-:S05] IADD3 R1, R1, 0x10, RZ"
    )
    assert not findings(balanced, entries={0: True, "L0": False})


def test_a_kernel_does_not_return():
    assert the_finding(f"[B------:R-:W-:-:S05] RET.REL.NODEC R20 0x0\n{EXIT}").message == "a return in code that nothing calls"


def test_control_stays_in_the_section():
    assert the_finding("[B------:R-:W-:-:S05] NOP").message == "control runs out of the code here"
    found = findings(f"[B------:R-:W-:-:S05] @P0 BRA 0x1000\n{EXIT}")
    assert [f.message for f in found] == ["the target is no instruction of this section"]


def test_the_page_tells_all_kinds_of_findings():
    page = (ROOT / "docs/checker.md").read_text()
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(KINDS)


COMMANDS = [
    ([], 2, "f+0x0010: read-after-write: IADD3 R5, R4, 0x1, RZ"),
    (["--json"], 2, '"needed": 4'),
]


@pytest.mark.parametrize(("options", "status", "said"), COMMANDS)
def test_the_command_tells_findings(tmp_path, capsys, options, status, said):
    isa = find_model(ARCH)
    lines = [
        (control("[B------:R-:W-:-:S03]"), ADD),
        (control("[B------:R-:W-:-:S04]"), USE),
        (control("[B------:R-:W-:-:S05]"), "EXIT"),
    ]
    words = [Assembler(isa).word(text, 16 * i, bits.pack()) for i, (bits, text) in enumerate(lines)]
    path = tmp_path / "words.bin"
    path.write_bytes(b"".join(w.to_bytes(16, "little") for w in words))
    assert main(["--raw", "--arch", ARCH, *options, str(path)]) == status
    assert said.removeprefix("f+") in capsys.readouterr().out


def test_the_command_refuses_bad_input(tmp_path, capsys):
    path = tmp_path / "words.bin"
    path.write_bytes(bytes(17))
    assert main([str(path)]) == 1
    assert main(["--raw", "--arch", ARCH, str(path)]) == 1
    assert main(["--arch", ARCH, str(path)]) == 1
    assert main(["--raw", "--arch", "sm_12", str(path)]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4 and all(line.startswith("oric: error: ") for line in errors)


def test_unknown_words_are_warnings(tmp_path, capsys):
    path = tmp_path / "words.bin"
    path.write_bytes(
        bytes(16) + Assembler(find_model(ARCH)).word("EXIT", 16, control("[B------:R-:W-:-:S05]").pack()).to_bytes(16, "little")
    )
    assert main(["--raw", "--arch", ARCH, str(path)]) == 0
    assert "no instruction has this word" in capsys.readouterr().err


# A barrier of the block lets the stores before it read their registers.
BEFORE_A_BARRIER = """[B------:R-:W-:-:S04] STS.64 [0x410], R2
                      [B------:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0
                      [B------:R-:W-:-:S02] IADD3 R2, R0, 0xffffffe, RZ"""


@pytest.mark.parametrize(
    ("arch", "program"),
    [
        ("sm_120a", """[B------:R-:W-:-:S04] UPRMT UR14, UR14, 0x5410, UR4
                       [B------:R-:W-:-:S02] UISETP.GT.U32.AND UP3, UPT, UR14, UR15, UPT
                       [B------:R-:W-:-:S02] IMAD.WIDE.U32 R4, R5, UR14, R2"""),
        ("sm_120a", """[B------:R-:W-:-:S05] VOTE.ANY P0, !P0
                       [B------:R-:W-:-:S04] PLOP3.LUT P0, PT, P0, P1, PT, 0x28, 0x82"""),
        ("sm_120a", """[B------:R-:W-:-:S07] HADD2 R0, R17, R12
                       [B------:R-:W-:-:S08] IMMA.16816.S8.U8 R4, R12.ROW, R0.COL, R4"""),
        ("sm_86", """[B------:R-:W-:Y:S01] UIMAD.WIDE.U32 UR6, UR6, -0x2daee0ad, URZ
                     [B------:R-:W-:-:S03] IADD3 R5, R3, -0x61c88647, RZ
                     [B------:R-:W-:-:S02] IMAD.WIDE.U32 R6, R6, -0x326172a9, RZ
                     [B------:R-:W-:-:S03] LOP3.LUT R9, R4, UR7, R9, 0x96, !PT"""),
        ("sm_80", """[B------:R-:W-:Y:S01] HFMA2.MMA R7, -RZ, RZ, 1.96875, 0
                     [B------:R-:W-:Y:S01] IMAD.MOV.U32 R10, RZ, RZ, -0x23e76a17
                     [B------:R-:W-:Y:S01] MOV R8, RZ
                     [B------:R-:W-:-:S03] IMAD.MOV.U32 R11, RZ, RZ, 0x3fb0066b
                     [B------:R-:W0:-:S06] DFMA R6, |R4|, -R6, 0.5"""),
        ("sm_90", """[B------:R-:W-:Y:S01] IMAD.HI.U32 R12, P0, R21, R23, R14
                     [B------:R-:W-:-:S03] LOP3.LUT R14, RZ, R6, RZ, 0x33, !PT
                     [B------:R-:W-:Y:S01] IMAD.X R3, RZ, RZ, ~R3, P3
                     [B------:R-:W-:Y:S01] SEL R13, RZ, 0x1, !P0"""),
        ("sm_80", """[B------:R-:W-:-:S01] BSSY B1, END
                     [B------:R-:W-:Y:S02] IMNMX R9, R10, R9, PT
                     [B------:R-:W-:-:S05] BSYNC B1
                     END:"""),
        ("sm_80", """[B------:R-:W-:-:S01] BSSY B0, END
                     [B------:R-:W-:-:S05] BSYNC B0
                     END:"""),
        ("sm_80", """[B------:R-:W-:-:S04] IMAD.HI.U32 R29, R29, R30, RZ
                     [B------:R-:W-:-:S01] MOV R5, RZ
                     [B------:R-:W0:Y:S04] DADD R28, -RZ, -R12"""),
        ("sm_80", """[B------:R-:W-:-:S01] IADD3 R30, R27, -0x2, RZ
                     [B------:R-:W0:Y:S04] @!P4 DFMA R30, R14, R16, R14"""),
        ("sm_80", BEFORE_A_BARRIER),
        ("sm_89", BEFORE_A_BARRIER),
    ],
)  # fmt: skip
def test_close_pairs_of_the_vendors_compiler_are_no_findings(arch, program):
    lines = [line.strip() for line in program.splitlines()]
    assert not report_of("\n".join([*lines, EXIT]), arch).findings


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120"])
def test_every_model_has_distances(arch):
    program = "[B------:R-:W-:-:S0{}] FADD R4, R4, R6\n[B------:R-:W-:-:S04] FADD R5, R4, R6\n" + EXIT
    assert the_finding(program.format(3), arch=arch).kind == "read-after-write"
    assert not findings(program.format(5), arch=arch)


def test_registers_of_the_pool_are_there_when_the_predicate_says_so() -> None:
    """As ptxas makes it of setmaxnreg: a loop until the pool has given, and a wait right behind what is given back."""
    taken = "L0:\n[B------:R-:W1:-:S02] USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0\n{wait} BRA.U !UP0, L0\n"
    given = "[B------:R-:W0:Y:S00] USETMAXREG.DEALLOC.CTAPOOL 0x28\n[B0-----:R-:W-:Y:S05] IADD3 R5, PT, PT, R0, 0xa, RZ\n" + EXIT
    assert not findings(taken.format(wait="[B-1----:R-:W-:-:S05]") + given, arch="sm_100a")
    found = findings(taken.format(wait="[B------:R-:W-:-:S05]") + given, arch="sm_100a")
    assert {(f.kind, f.register) for f in found} == {("read-after-write", "UP0"), ("write-after-write", "UP0")}
