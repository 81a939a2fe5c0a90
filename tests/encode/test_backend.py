"""Allocation, scheduling and encoding of small functions, judged from the machine words."""

from __future__ import annotations

import struct

import pytest
from oric.encode import encode_function
from oric.ir import operand as opd
from oric.ir.attributes import JumpTable
from oric.ir.function import R2, R4, UR, P, R
from oric.ir.read import read
from oric.ir.text import write
from oric.regalloc import OutOfRegisters, allocate_registers
from oric.sass import decode, disassemble
from oric.sched import schedule_instructions
from oric.support.diagnostics import CompileError, InternalError, diagnostics_for
from oric_tables.phases import MACHINE

from tests.encode.builder import Code, context, saxpy, whole

ARCHS = ("sm_80", "sm_90")


def compile_code(f, arch: str, opt_level: int = 3, **kwargs):
    ctx = context(arch, opt_level, **kwargs)
    allocate_registers(f, ctx)
    schedule_instructions(f, ctx)
    return encode_function(f, ctx.target)


def texts(encoded, arch: str) -> list[str]:
    """Disassembly without the padding."""
    lines = disassemble(encoded.words, arch)
    end = max(i for i, t in enumerate(lines) if t.startswith("BRA"))
    return lines[:end]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("opt_level", [0, 1, 3])
def test_saxpy(arch, opt_level):
    encoded = compile_code(saxpy(arch), arch, opt_level)
    lines = texts(encoded, arch)
    assert len(lines) == 15
    assert sorted(t.split()[0] for t in lines) == sorted(
        [
            "ULDC.64",
            "S2R",
            "S2R",
            "IMAD",
            "MOV",
            "ISETP.GE.AND",
            "@P0",
            "MOV",
            "IMAD.WIDE",
            "IMAD.WIDE",
            "LDG.E",
            "LDG.E",
            "FFMA",
            "STG.E",
            "EXIT",
        ]
    )
    assert [lines[o // 16].split()[-1] for o in encoded.exits] == ["EXIT", "EXIT"]
    assert 6 <= encoded.num_regs <= 16


@pytest.mark.parametrize("arch", ARCHS)
def test_padding_is_a_jump_to_itself_and_nops(arch):
    encoded = compile_code(saxpy(arch), arch)
    assert len(encoded.words) % 128 == 0
    lines = disassemble(encoded.words, arch)
    end = max(i for i, t in enumerate(lines) if t.startswith("BRA"))
    assert lines[end] == f"BRA {16 * end:#x}"
    assert set(lines[end + 1 :]) <= {"NOP"}


@pytest.mark.row("R2-10", "R4-15", "R4-16")
def test_wide_registers_are_aligned():
    """add.s64 uses even registers; a 128-bit load a multiple of four; halves come from their component."""
    c = Code()
    low, pair, quad, desc, address = c.reg(), c.reg(R2, 2), c.reg(R4, 4), c.reg(UR, 2), c.reg(R2, 2)
    c.op("ULDC", whole(desc, 2), opd.const_bank(0, 0x208), size="64")
    c.op("IMAD_WIDE", whole(address, 2), opd.RZ_OPERAND, opd.RZ_OPERAND, opd.const_bank(0, 0x210))
    c.op("MOV", whole(low), opd.imm(5))
    c.op("LDG", whole(quad, 4), whole(address, 2), opd.imm(16), whole(desc, 2), size="128")
    c.op("IADD3", opd.reg(pair, 0), opd.reg(quad, 0), whole(low), opd.RZ_OPERAND)
    c.op("IADD3", opd.reg(pair, 1), opd.reg(quad, 3), opd.RZ_OPERAND, opd.RZ_OPERAND)
    c.op("STG", whole(address, 2), opd.imm(0), whole(pair, 2), whole(desc, 2), size="64")
    c.op("EXIT")
    f = c.f
    encoded = compile_code(f, "sm_90")
    assert f.physical[pair] % 2 == 0
    assert f.physical[quad] % 4 == 0
    assert f.physical[address] % 2 == 0
    base = f.physical[quad]
    adds = [t for t in texts(encoded, "sm_90") if t.startswith("IADD3")]
    assert any(f", R{base}, " in t for t in adds)
    assert any(f", R{base + 3}, " in t for t in adds)


@pytest.mark.row("R4-19")
def test_sentinels():
    """1023 and 31 become RZ, URZ, PT and UPT, by the file that the operand slot has."""
    c = Code()
    p, r = c.reg(P), c.reg()
    c.op("ISETP", whole(p), opd.RZ_OPERAND, opd.RZ_OPERAND, cmp="EQ")
    c.op("SEL", whole(r), opd.RZ_OPERAND, opd.imm(1), whole(p) | opd.NEGATE)
    c.op("LOP3", opd.RZ_OPERAND, whole(r), whole(r), opd.RZ_OPERAND, lut=0xC0)
    c.op("UIADD3", opd.RZ_OPERAND, opd.RZ_OPERAND, opd.imm(1), opd.RZ_OPERAND)
    c.op("EXIT", guard=opd.NOT_PT_OPERAND)
    c.op("EXIT")
    instructions = decode(compile_code(c.f, "sm_90", 0).words, "sm_90")
    text = [i.text for i in instructions]
    assert text[0] == "ISETP.EQ.AND P0, PT, RZ, RZ, PT"
    assert text[1] == "SEL R0, RZ, 0x1, !P0"
    assert text[2].startswith("LOP3.LUT RZ, R0, R0, RZ, 0xc0")
    assert text[3].startswith("UIADD3 URZ, URZ, 0x1, URZ")
    assert text[4] == "@!PT EXIT"
    assert (opd.RZ, opd.PT) == (1023, 31)


def loop(arch: str):
    """Counts down: a backward branch and a forward one."""
    c = Code("loop", arch)
    i, p = c.reg(), c.reg(P)
    c.op("MOV", whole(i), opd.imm(10))
    head = c.start()
    c.op("IADD3", whole(i), whole(i), c.f.imm(-1), opd.RZ_OPERAND)
    c.op("ISETP", whole(p), whole(i), opd.RZ_OPERAND, cmp="NE")
    c.op("BRA", opd.label(head), guard=whole(p))
    tail = c.start()
    c.op("EXIT")
    return c.flow((0, head), (head, head), (head, tail))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("opt_level", [0, 3])
def test_branch_offsets(arch, opt_level):
    lines = texts(compile_code(loop(arch), arch, opt_level), arch)
    assert lines[1].startswith("IADD3 R0, R0, -0x1, RZ")
    assert "@P0 BRA 0x10" in lines


def test_predicate_is_old_enough_at_the_branch():
    instructions = decode(compile_code(loop("sm_90"), "sm_90").words, "sm_90")
    times, now = {}, 0
    for i in instructions:
        times[i.text.split()[0]] = now
        now += i.control.stall
        if i.text.startswith("@P0 BRA"):
            break
    assert times["@P0"] - times["ISETP.NE.AND"] >= 13


def test_jump_tables_hold_code_offsets():
    f = loop("sm_90")
    f.attributes.constant2 = bytearray(16)
    f.attributes.jump_tables.append(JumpTable(4, [2, 0, 1]))
    encoded = compile_code(f, "sm_90", 0)
    assert struct.unpack("<4I", encoded.constant2) == (0, 0x40, 0, 0x10)


def many_values(count: int, kind: int = R, times: int = 2):
    """All values are added up twice, so that no order makes do with fewer; once, and the order decides."""
    c = Code()
    regs = [c.reg(kind) for _ in range(count)]
    for k, r in enumerate(regs):
        if kind == R:
            c.op("MOV", whole(r), opd.imm(k))
        else:
            c.op("ISETP", whole(r), opd.RZ_OPERAND, opd.imm(k), cmp="EQ")
    total = c.reg()
    c.op("MOV", whole(total), opd.imm(0))
    for r in regs * times:
        if kind == R:
            c.op("IADD3", whole(total), whole(total), whole(r), opd.RZ_OPERAND)
        else:
            c.op("SEL", whole(total), whole(total), opd.imm(1), whole(r))
    c.op("EXIT")
    return c.f


def test_the_limit_of_registers_is_kept():
    assert compile_code(many_values(200), "sm_90", maxrregcount=210).num_regs <= 210
    for count, limit in ((300, 255), (40, 32)):
        code = compile_code(many_values(count), "sm_90", maxrregcount=limit)
        assert code.num_regs <= limit


def test_a_limit_that_no_spilling_reaches_is_named():
    said = r"'kernel' needs \d+ general-purpose registers \(R\) and 1 are available"
    for diag, error in ((None, OutOfRegisters), (diagnostics_for("", "k.ptx"), CompileError)):
        ctx = context("sm_90", diag=diag)
        ctx.target = ctx.target._replace(max_regs=3)
        with pytest.raises(error, match=said):
            allocate_registers(many_values(40), ctx)


@pytest.mark.parametrize("opt_level", [0, 3])
def test_code_that_does_not_fit_as_it_is_gets_another_order(opt_level):
    assert compile_code(many_values(100, times=1), "sm_90", opt_level, maxrregcount=32).num_regs <= 32
    assert compile_code(many_values(20, P, times=1), "sm_90", opt_level).num_regs <= 16


@pytest.mark.row("R4-03")
def test_seven_predicates_fit_and_the_eighth_waits_in_a_register():
    plain = texts(compile_code(many_values(7, P), "sm_90", 0), "sm_90")
    assert not any(t.startswith("ISETP.NE") for t in plain)
    lines = texts(compile_code(many_values(8, P), "sm_90", 0), "sm_90")
    assert any(t.startswith("ISETP.NE") for t in lines)
    assert not any("P7" in t for t in lines)
    better = texts(compile_code(many_values(8, P), "sm_90", 3), "sm_90")  # ... or is made again where it is read
    assert sum("SETP" in t for t in better) > 8
    assert not any("P7" in t for t in better)


def test_what_cannot_be_encoded_is_named_with_its_line():
    c = Code()
    c.op("NOP")
    c.op("IADD3", opd.RZ_OPERAND, opd.imm(1), opd.imm(2), opd.imm(3))
    c.op("EXIT")
    with pytest.raises(InternalError, match=r"IADD3.* from line 2 of the PTX, in 'kernel' cannot be encoded: no form takes"):
        compile_code(c.f, "sm_90")
    c = Code()
    c.op("BRA", opd.symbol(3))
    with pytest.raises(InternalError, match=r"BRA.* from line 1 .* an operand that is none of the machine's"):
        compile_code(c.f, "sm_90")


def test_a_wide_operand_that_begins_at_an_odd_register_is_refused():
    c = Code()
    pair, value, desc = c.reg(R2, 2), c.reg(), c.reg(UR, 2)
    c.op("ULDC", whole(desc, 2), opd.const_bank(0, 0x208), size="64")
    c.op("MOV", opd.reg(pair, 0), opd.imm(4))
    c.op("MOV", opd.reg(pair, 1), opd.imm(4))
    c.op("LDG", whole(value), opd.reg(pair, 1), opd.imm(0), whole(desc, 2))
    c.op("STG", whole(pair, 2), opd.imm(0), whole(value), whole(desc, 2))
    c.op("EXIT")
    with pytest.raises(
        InternalError, match=r"LDG.* from line 4 .* group of registers that is not aligned to its size \(operand Ra\)"
    ):
        compile_code(c.f, "sm_90")


def test_an_operation_without_facts_is_named():
    c = Code()
    c.op("RPCMOV_GET", opd.RZ_OPERAND)
    with pytest.raises(InternalError, match=r"no scheduling facts for 'RPCMOV\.GET.*' from line 1"):
        compile_code(c.f, "sm_90")


def test_encoding_without_the_view_of_the_scheduler():
    """From the arrays alone the same words come out, and from their text."""
    f = saxpy("sm_90")
    ctx = context("sm_90")
    allocate_registers(f, ctx)
    schedule_instructions(f, ctx)
    f.analyses.forget(MACHINE)
    text = write(f, exact=True)
    again = encode_function(f, ctx.target)
    assert encode_function(read(text), ctx.target).words == again.words
    assert again.words == compile_code(saxpy("sm_90"), "sm_90").words


def test_a_write_of_a_pair_in_use_waits():
    """Two loads of unknown time into registers that are read at once: the reader waits for both."""
    instructions = decode(compile_code(saxpy("sm_90"), "sm_90").words, "sm_90")
    ffma = next(i for i in instructions if i.text.startswith("FFMA"))
    loads = [i for i in instructions if i.text.startswith("LDG")]
    waits = {n for n in range(6) if ffma.control.wait >> n & 1}
    assert {i.control.write_barrier for i in loads} <= waits
