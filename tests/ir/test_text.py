"""The text form: what is written reads back as the same function, and mistakes are told with their place."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from oric.driver import CompileOptions, compile_text
from oric.ir import operand as opd
from oric.ir.function import Function
from oric.ir.read import read
from oric.ir.text import undefined_registers, write, write_with_notes
from oric.support.diagnostics import CompileError

from tests.ir.functions import described, functions

KERNELS = sorted((Path(__file__).resolve().parents[1] / "kernels").glob("*.ptx"))


@settings(max_examples=120)
@given(functions())
def test_what_is_written_reads_back(f: Function) -> None:
    text = write(f, exact=True)
    again = read(text)
    assert described(again) == described(f), text
    assert write(again, exact=True) == text


@settings(max_examples=80)
@given(functions())
def test_the_text_for_people_has_all_but_lines_and_unused_registers(f: Function) -> None:
    again = read(write(f))
    assert described(again, exact=False) == described(f, exact=False)
    assert write(again) == write(f)


def test_a_barrier_by_number_is_told_from_a_register_that_nothing_names() -> None:
    f = read("reg B0\nbix0:\n    BSSY special0, bix1\nbix1:\n    BSYNC special0\n    EXIT\n")
    again = read(write(f))
    assert write(again) == write(f)
    assert (f.get(0, 0), again.get(0, 0)) == (opd.special(0), opd.special(0))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", KERNELS[::4], ids=lambda path: path.stem)
def test_dumps_of_kernels_read_back(path: Path) -> None:
    shown: list[str] = []
    arch = path.name.split(".")[1] if path.name.count(".") == 2 else "sm_90"
    compile_text(path.read_text(), CompileOptions(arch, 3, dump=("all",), dump_sink=shown.append))
    assert len(shown) > 10
    for text in shown:
        assert write_with_notes(read(text)) == re.sub(r"\A(//.*\n)+|// __.*\n\Z", "", text), "notes and all, without head and end"


# -- mistakes ----------------------------------------------------------------------------------------------------

HEAD = "entry f sm_90\n"
MISTAKES = [
    ("bix0:\n    FADDD R1, R2, R3\n", "2:5: error: expected an operation, found 'FADDD'", "note: did you mean 'FADD'?"),
    ("bix0:\n    MOV R1, banana\n", "2:13: error: expected an operand for a slot of kind gpr, found 'banana'", ""),
    ("bix0:\n    MOV R1, bix0\n",
     "2:13: error: expected register or immediate or wide immediate or symbol as operand Rb of MOV, found 'bix0'", ""),
    ("bix0:\n    MOV 0x1, R1\n", "2:9: error: expected register or special as operand Rd of MOV, found '0x1'", ""),
    ("bix0:\n    MOV R1\n", "2:11: error: expected operand Rb of MOV", ""),
    ("bix0:\n    MOV _, R1\n", "2:9: error: operand Rd of MOV cannot be left out", ""),
    ("bix0:\n    EXIT PT, R1\n", "2:14: error: expected 1 operands of EXIT at the most, found 2", ""),
    ("bix0:\n    FADD{ftzz} R1, R2, R3\n", "2:10: error: expected a modifier of FADD, found 'ftzz'", "note: did you mean 'ftz'?"),
    ("bix0:\n    ISETP{cmp=XX} P1, R2, R3\n", "2:11: error: expected one of F, LT, EQ, LE, GT, NE, GE, T for cmp, found", ""),
    ("bix0:\n    ISETP{cmp=#9} P1, R2, R3\n", "2:11: error: expected a number of 3 bits for cmp, found #9", ""),
    ("bix0:\n    ISETP{cmp=LT cmp=LT} P1, R2, R3\n", "2:18: error: cmp is given twice", ""),
    ("bix0:\n    LOP3{lut} R1, R2, R3, R4\n", "2:10: error: expected a number for lut, found 'true'", ""),
    ("bix0:\n    BRA bix3\n    EXIT\n", "2:9: error: there is no block bix3; the last one is bix0", ""),
    ("bix0: -> bix1 bix7\nbix1: -> -\n    EXIT\n", "1:15: error: there is no block bix7; the last one is bix1", ""),
    ("bix0: -> bix1 bix1\nbix1: -> -\n    EXIT\n", "1:15: error: bix1 is a successor already", ""),
    ("bix0: -> bix1\nbix1:\n    EXIT\n",
     "2:1: error: expected '->' and the successors of the block, as other blocks have them", ""),
    ("bix0: -> somewhere\n    EXIT\n", "1:10: error: expected bixN, found 'somewhere'", ""),
    ("bix0: ->\n    EXIT\n", "1:9: error: expected bixN or '-' behind '->'", ""),
    ("bix0: a b -> -\n    EXIT\n", "1:1: error: expected 'bixN: LABEL -> bixN ...'", ""),
    ("bix0:\n    EXIT\nbix0:\n    EXIT\n", "3:1: error: expected bix1, found bix0, which is there already", ""),
    ("bix0:\n    EXIT\nbix2:\n    EXIT\n", "3:1: error: expected bix1: blocks stand in order, found bix2", ""),
    ("bix0:\n    MOV R31, R1\n", "2:9: error: no register can have the number 31", ""),
    ("bix0:\n    MOV R1, P1\n", "2:13: error: register 1 is R1 elsewhere, not P1", ""),
    ("bix0:\n    ISETP R1, R2, R3\n", "2:11: error: expected a predicate, found R1", ""),
    ("bix0:\n    MOV R1, P2\n", "2:13: error: expected a register that is no predicate, found P2", ""),
    ("bix0:\n    MOV R1, PT\n", "2:13: error: expected a register, found PT", ""),
    ("bix0:\n    SEL R1, R2, R3, RZ\n", "2:21: error: expected a predicate, found RZ", ""),
    ("bix0:\n    @R1 EXIT\n", "2:6: error: expected a predicate, found R1", ""),
    ("bix0:\n    @bix0 EXIT\n", "2:6: error: expected a predicate as guard, found 'bix0'", ""),
    ("bix0:\n    MOV R1.250:7, R2\n", "2:9: error: expected 1 to 256 words of a register, found R1.250:7", ""),
    ("reg R1:2\nbix0:\n    MOV R1.2, R2\n", "3:9: error: R1 has 2 words; 'reg R1:N' says so", ""),
    ("bix0:\n    ISETP P1:2, R2, R3\n", "2:11: error: P1 has one word", ""),
    ("bix0:\n    MOV X1, R2\n", "2:9: error: expected 'reg X1[type=...]' in front of the blocks", ""),
    ("bix0:\n    MOV R1, !R2\n",
     "2:13: error: expected '!' in front of predicates and '-' in front of others, found '!R2'", ""),
    ("bix0:\n    MOV R1, 0x12345678123456789\n", "2:13: error: expected an operand for a slot of kind gpr, found", ""),
    ("bix0:\n    MOV R1, 99999999999999999999\n", "2:13: error: expected a number of 64 bits, found 99999999999999999999", ""),
    ("bix0:\n    MOV R1, c[0x9999999][0x0]\n", "2:13: error: expected a word of a constant bank, found c[0x9999999][0x0]", ""),
    ("bix0:\n    MOV R1, sym1+0x9999999\n", "2:13: error: expected a symbol, found sym1+0x9999999", ""),
    ("bix0:\n    MOV R1, R2 [lime=3]\n", "2:17: error: expected line=... or mark=... or aux=... or control=..., each once,", ""),
    ("bix0:\n    MOV R1, R2 [line=3 line=4]\n", "2:24: error: expected line=... or mark=... or aux=... or control=...,", ""),
    ("bix0:\n    BRX R2:2, 0x0\n", "2:5: error: there is no jump table 0; expected [aux=N] and 'table N'", ""),
    ("bix0:\n    99\n", "2:5: error: expected a block or an instruction, found '99'", ""),
    ("entry f sm_91\nbix0:\n    EXIT\n", "1:1: error: expected 'entry NAME TARGET', with a target that code can be made for", ""),
    ("entry f sm_90 fast\nbix0:\n    EXIT\n",
     "1:15: error: expected 'final_flow', 'merged', 'ssa', 'expanded=PHASE' or 'registers=NUMBER', found 'fast'", ""),
    ("entry f sm_90 registers=2\nbix0:\n    MOV R5, R1\n    EXIT\n", "1:15: error: 'registers=2' says less than there are", ""),
    ("entry f sm_90 registers=x\nbix0:\n    EXIT\n", "1:15: error: expected a number, found 'x'", ""),
    ("entry f sm_90 registers=9999999\nbix0:\n    EXIT\n", "1:15: error: expected a number of registers, found 9999999", ""),
    (HEAD + HEAD + "bix0:\n    EXIT\n", "2:1: error: expected a declaration or a block: a text holds one function", ""),
    (HEAD + "bix0:\n    EXIT\n" + HEAD,
     "4:1: error: expected 'entry' in front of the first block: a text holds one function", ""),
    ("facts maxnregs=3\nbix0:\n    EXIT\n", "1:7: error: expected a fact of a function such as maxnreg=32, found 'maxnregs=3'",
     "note: did you mean 'maxnreg'?"),
    ("facts maxntid=3,4\nbix0:\n    EXIT\n", "1:15: error: expected 3 numbers, found '3,4'", ""),
    ("facts noreturn=3\nbix0:\n    EXIT\n", "1:16: error: expected 0 or 1, found '3'", ""),
    ("reg Q1\nbix0:\n    EXIT\n", "1:5: error: expected a register such as R4:2, R4=R7 or R4~1, found 'Q1'", ""),
    ("reg R1=P3\nbix0:\n    EXIT\n", "1:5: error: expected a register such as R4:2, R4=R7 or R4~1, found 'R1=P3'", ""),
    ("reg R1 R1\nbix0:\n    EXIT\n", "1:8: error: register 1 is declared twice", ""),
    ("reg R1:257\nbix0:\n    EXIT\n", "1:5: error: expected 1 to 256 words of a register, found 257", ""),
    ("reg R1[type=Z]\nbix0:\n    EXIT\n", "1:8: error: expected a type of registers (R, R_ALT, UR,", ""),
    ("reg R1[type=P]\nbix0:\n    EXIT\n", "1:5: error: expected [type=...] of a register with letter R, found 'R1[type=P]'", ""),
    ("reg R1[parent=31]\nbix0:\n    EXIT\n", "1:5: error: no register can have the number 31", ""),
    ("table 1 offset=0x0 bix0\nbix0:\n    EXIT\n", "1:1: error: expected 'table 0 [offset=NUMBER] bixN ...', found 'table 1", ""),
    ("table 0 offset=0x0 bix5\nbix0:\n    EXIT\n", "1:20: error: there is no block bix5; the last one is bix0", ""),
    ("table 0 offset=0x10000 bix0\nbix0:\n    EXIT\n", "1:1: error: expected 'table 0 [offset=NUMBER] bixN ...', found", ""),
    ("double 0x0\nbix0:\n    EXIT\n", "1:1: error: expected 'double OFFSET NUMBER', found 'double 0x0", ""),
    ("double 0x10000 0x1\nbix0:\n    EXIT\n", "1:1: error: expected 'double OFFSET NUMBER', found", ""),
    ("// nothing\n\n", "3:1: error: expected an instruction, found the end of the text", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "note"), MISTAKES)
def test_mistakes_have_a_place_and_say_what_was_expected(text: str, message: str, note: str) -> None:
    with pytest.raises(CompileError) as caught:
        read(text, "a.ori")
    first = str(caught.value).split("\n")
    assert first[0].startswith(f"a.ori:{message}")
    assert not note or f"    {note}" in first
    assert caught.value.diagnostics.error_count == 1


def test_every_line_with_a_mistake_is_told() -> None:
    with pytest.raises(CompileError) as caught:
        read("bix0:\n    FADDD R1\n    MOV R1, R2, R3\n    MOVE R1\n", "a.ori")
    assert [line.split(": ")[0] for line in caught.value.diagnostics.errors()] == ["a.ori:2:5", "a.ori:3:17", "a.ori:4:5"]


def test_what_is_marked_is_taken_as_it_is() -> None:
    f = read("bix0:\n    @?0x20000001 MOV ?R999:2, ?0x7f00000010000001\n    MOV R1, pool9\n    EXIT\n")
    assert (f.guard[0], f.get(0, 0), f.get(0, 1)) == (0x20000001, opd.reg(999, 0, 2), 0x7F00000010000001)
    assert f.get(1, 1) == opd.pool(9)
    assert write(f) == (
        "entry test sm_90\nbix0: -> -  // from -\n    @0x1 MOV ?R999:2, ?0x7f00000010000001\n    MOV R1, pool9\n    EXIT\n"
    )


def test_what_follows_three_dashes_is_not_read() -> None:
    assert write(read("bix0:\n    EXIT\n--- expected\nwhatever\n")) == "entry test sm_90\nbix0: -> -  // from -\n    EXIT\n"


WHOLE = """entry f sm_90 final_flow registers=40
    facts maxnreg=32 maxntid=128,1,1
    reg R4:2=R8~3 R9=R1[parent=4] B5 R6:4
    table 0 offset=0x0 bix1 bix2
bix0: start -> bix1 bix2
    @!P3 ISETP{cmp=GE sign=U32} P14, R1, -(0x20), PT, PT [line=12 control=0x7e2]
    LDS{size=128} R6:4, R1, 0x10 [aux=0x400000]
    IMAD.WIDE R4:2, R6.1, c[0x0][0x210], RZ
    BSSY B3, bix1
    BRX R4:2, 0x0
bix1: [flags=0x1] -> -
    EXIT
bix2: -> -
    EXIT
"""


def test_the_sample_reads() -> None:
    f = read(WHOLE)
    assert write(read(write(f, exact=True)), exact=True) == write(f, exact=True)
    assert (f.registers(), f.reg_size[6], f.physical[4], f.hint[4], f.parent[9]) == (40, 4, 8, 3, 4)
    assert len(f.attributes.constant2) == 8


@pytest.mark.parametrize("seed", range(300))
def test_damaged_text_is_refused_or_read(seed: int) -> None:
    """Never anything but a function or a message."""
    rng = random.Random(seed)
    words = re.findall(r"\w+|\W", WHOLE)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(words))
        words[at] = rng.choice(
            ["", words[at] * 2, rng.choice(words), chr(rng.randrange(1, 0x250)), "9" * rng.randint(1, 30), "0x" + "f" * 17]
        )
    try:
        f = read("".join(words))
    except CompileError as error:
        assert re.match(r"<ori>:\d+:\d+: error: ", str(error))
    else:
        assert isinstance(write(f, exact=True), str)


# -- what dumps say about registers ------------------------------------------------------------------------------

CODE = """
bix0:
    MOV R1, 0x5
    @P9 IADD3 R2, R1, R5, RZ
    ISETP P3, R5, UR7, PT, PT
    @!P3 STG R20:2, 0x0, R12
    EXIT
"""


@pytest.mark.row("R4-14", "R4-49")
def test_registers_that_nothing_writes() -> None:
    f = read(CODE)
    messages = [f"Referencing undefined register: {name}" for name in ("R5", "P9", "UR7", "R20", "R12")]
    assert sorted(undefined_registers(f)) == sorted(messages)
    assert all(f"\n// {message}\n" in write_with_notes(f) for message in messages)


def test_the_physical_number_is_shown_once_there_is_one() -> None:
    f = read(CODE.replace("\n", "\nreg R5=R2\n", 1))
    assert "Referencing undefined register: R2" in undefined_registers(f)


def test_nothing_is_said_of_code_that_defines_its_registers() -> None:
    f = read("bix0:\n MOV R1, 0x5\n IADD3 R2, R1, R1, RZ\n EXIT\n")
    assert write_with_notes(f) == write(f, exact=True)
