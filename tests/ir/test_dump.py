"""What dumps say about registers."""

from oric.ir.dump import dump, dump_with_notes, undefined_registers

from tests.ir.oritext import parse

CODE = """
    bix0:
        MOV R1, 0x5
        @P9 IADD3 R2, R1, R5, RZ
        ISETP P3, R5, UR7, PT, PT
        @!P3 STG R2:2, 0x0, R12
        EXIT
"""


def test_registers_that_nothing_writes() -> None:
    code = parse(CODE)
    messages = [f"Referencing undefined register: {name}" for name in ("R5", "P9", "UR7", "R12")]
    assert sorted(undefined_registers(code)) == sorted(messages)
    assert all(f"\n// {message}\n" in dump_with_notes(code) for message in messages)


def test_the_physical_number_is_shown_once_there_is_one() -> None:
    code = parse(CODE)
    register = code.regs[5]
    assert register is not None
    register.physical_reg = 2
    assert "Referencing undefined register: R2" in undefined_registers(code)


def test_nothing_is_said_of_code_that_defines_its_registers() -> None:
    code = parse("bix0:\n MOV R1, 0x5\n IADD3 R2, R1, R1, RZ\n EXIT\n")
    assert dump_with_notes(code) == dump(code)
