"""Texts back to words: what the printer prints assembles to the word it came from, and bad texts get a reason and a place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.sass.assemble import Assembler, TextError, mnemonics, unseen_parts
from oric.sass.code import Code

from tests.sass import words

MACHINE = words.load()
ISAS = MACHINE.isas
FAMILIES = [(isa, family) for isa in ISAS for family in words.families(isa)]
CONTROL = words.PLAIN_CONTROL
SM_80, SM_90 = ISAS.index("sm_80"), ISAS.index("sm_90")


def code_of(isa: str, family: str) -> tuple[Code, list[str]]:
    found = list(words.vectors(isa, family))
    data = b"".join(word.to_bytes(16, "little") for word, _ in found)
    return Code(ISAS.index(isa), data), [text for _, text in found]


@pytest.mark.parametrize(("isa", "family"), FAMILIES)
def test_every_vector_assembles_to_its_word(isa: str, family: str) -> None:
    code, texts = code_of(isa, family)
    assembler = Assembler(code.isa)
    printed = code.texts()
    unseen = unseen_parts(code, {})
    assert not [texts[n] for n, said in unseen.items() if said.startswith("word=")], "texts that no template takes"
    for number, (text, control) in enumerate(zip(printed, code.controls(), strict=True)):
        word = assembler.word(text, 16 * number, control, unseen=unseen.get(number, ""))
        assert word == code.word(number), f"{text} {unseen.get(number)}"


@pytest.mark.parametrize(("isa", "family"), FAMILIES)
def test_words_of_texts_print_as_the_texts(isa: str, family: str) -> None:
    """What is chosen where a text says too little still reads the same."""
    code, _ = code_of(isa, family)
    assembler = Assembler(code.isa)
    printed = code.texts()
    made = [assembler.word(text, 16 * n, control) for n, (text, control) in enumerate(zip(printed, code.controls(), strict=True))]
    assert Code(code.isa, b"".join(word.to_bytes(16, "little") for word in made)).texts() == printed


def test_little_is_unseen() -> None:
    """On sm_90 the text shows nearly every bit: what is not said is rare, and never an operand in sight."""
    total = rare = 0
    for family in words.families("sm_90"):
        code, _ = code_of("sm_90", family)
        total += code.count
        rare += len(unseen_parts(code, {}))
    assert total > 3000
    assert rare < total / 50


@settings(max_examples=300)
@given(st.data())
def test_spelling_is_free(data: st.DataObject) -> None:
    """White space, decimal numbers and left-out defaults mean the same."""
    family = data.draw(st.sampled_from(sorted(words.families("sm_90"))))
    word, text = data.draw(st.sampled_from(words.vectors("sm_90", family)))
    control = word >> 105 & 0x1FFFF
    assembler = Assembler(SM_90)
    plain = assembler.word(text, 0, control)
    blank = data.draw(st.sampled_from(["  ", "\t", " \t "]))
    assert assembler.word(text.replace(" ", blank), 0, control) == plain
    assert assembler.word(re.sub(r", ", f"{blank},{blank}", text), 0, control) == plain
    if re.search(r"\[[^\]]*0x", text):
        decimal = re.sub(r"(?<=[\[+-])0x[0-9a-f]+(?=\])", lambda m: str(int(m[0], 16)), text)
        assert assembler.word(decimal, 0, control) == plain


@settings(max_examples=300)
@given(st.data())
def test_changed_texts_are_words_or_errors(data: st.DataObject) -> None:
    """Any text gives a word that prints, or an error whose column lies in the text."""
    family = data.draw(st.sampled_from(sorted(words.families("sm_90"))))
    _, text = data.draw(st.sampled_from(words.vectors("sm_90", family)))
    place = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 3))
    changed = text[:place] + data.draw(st.text("RUP0123456789x.,-|~![]+ ABCé", max_size=4)) + text[place + cut :]
    try:
        word = Assembler(SM_90).word(changed, 0, CONTROL)
    except TextError as error:
        assert 0 <= error.column <= len(changed)
        assert str(error)
    else:
        assert not Code(SM_90, word.to_bytes(16, "little")).bad


@pytest.mark.row("R4-17")
@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("IADD3 R1, R2, R3", 16, "expected ','; the text ends here"),
        ("IAD3 R1, R2, R3, R4", 0, "unknown mnemonic 'IAD3'; there is IADD3"),
        ("", 0, "expected a mnemonic"),
        ("MOV R300, R1", 4, "expected a register; found 'R300, R1'"),
        ("MOV R01, R1", 4, "expected a register"),
        ("@P9 MOV R1, R2", 1, "expected a predicate"),
        ("@UP1 MOV R1, R2", 0, "expected a guard P0 .. P6"),
        ("IADD3 R1, R2, R3, R4, PT", 20, "expected the end of the instruction"),
        ("IADD3 R1, R2, 0x100000000, RZ", 14, "a register number or value does not fit its field"),
        ("FADD R1, R2.reuse.reuse, R3", 17, "expected ','"),
        ("BRA `(.L_x_3)", 4, "expected .INC, .DEC, .U, .DIV, .CONV, a predicate, a label `(NAME) or an address; found"),
        ("IMAD.MOV R1, R2, R3, R4", 0, "a modifier does not exist in the form that the operands ask for"),
        ("LDG.E R1, [R2.64+0x1000000]", 17, "a register number or value does not fit its field"),
        ("LDG.E.128 R6, [R2.64]", 10, "R6 begins a group of registers: its number must be a multiple of 4"),
        ("LDG.E R4, [R3.64+0x10]", 11, "R3 begins a group of registers: its number must be a multiple of 2"),
        ("LDG.E R4, [R2.64+UR5]", 17, "UR5 begins a group of registers: its number must be a multiple of 2"),
        ("DFMA R2, -R4, R7, R6", 14, "R7 begins a group of registers"),
        ("TEX.B.LL R18, R17, R16, R2, CUBE", 14, "R17 begins a group of registers: its number must be a multiple of 2"),
        ("TEX.B.LL R13, R16, R16, R2, CUBE", 9, "R13 begins a group of registers: its number must be a multiple of 2"),
        ("TEX.B.LL R18, R16, R14, R2, CUBE", 19, "R14 begins a group of registers: its number must be a multiple of 4"),
        ("TEX.B.LL R18, R16, R16, R3, CUBE", 24, "R3 begins a group of registers: its number must be a multiple of 2"),
        ("SULD.D.BA.2D.U16.STRONG.SM R7, [R19], R0", 32, "R19 begins a group of registers: its number must be a multiple of 2"),
        ("DADD R2, R4, 0.1", 13, "expected a register, a number whose low 32 bits are zero as double"),
        ("ISETP.XX.AND P0, PT, R1, R2, PT", 5, "expected .F, .LT, .EQ"),
        ("S2R R1, SR_NOTHING", 8, "expected a system register"),
        ("MOV R1, 0x99999999999999999999", 8, "expected"),
    ],
)
def test_errors_say_what_and_where(text: str, column: int, said: str) -> None:
    with pytest.raises(TextError) as caught:
        Assembler(SM_80).word(text, 0, CONTROL)
    assert (caught.value.column, str(caught.value)[: len(said)]) == (column, said)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("FADD R1, R2, 0.1", "FADD R1, R2, 0.10000000149011611938"),
        ("FADD R1, R2, 0x7f800001", "FADD R1, R2, +SNAN "),
        ("HADD2 R1, R2, 0.33325, 65504", "HADD2 R1, R2, 0.333251953125, 65504"),
        ("HADD2 R1, R2, 6e-8, 1e6", "HADD2 R1, R2, 5.9604644775390625e-08, +INF "),
        ("HADD2.BF16_V2 R1, R2, 3.14159, 1", "HADD2.BF16_V2 R1, R2, 3.140625, 1"),
        ("LDG.E R1, desc[UR4][R2.64+0x0]", "LDG.E R1, desc[UR4][R2.64]"),
        ("LDS R1, [R2+-16]", "LDS R1, [R2+-0x10]"),
        ("LDS R1, [R2-16]", "LDS R1, [R2+-0x10]"),
        ("IADD3 R1, PT, PT, R2, R3, R4", "IADD3 R1, R2, R3, R4"),
        ("MOV R1, -1", "MOV R1, 0xffffffff"),
        ("@PT MOV R1, R2", "MOV R1, R2"),
    ],
)
def test_hand_written_spellings(text: str, printed: str) -> None:
    word = Assembler(SM_90).word(text, 0, CONTROL)
    assert Code(SM_90, word.to_bytes(16, "little")).texts() == [printed]


def test_what_is_unseen_is_written_by_name_or_by_bits() -> None:
    assembler = Assembler(SM_80)
    plain = assembler.word("LDG.E R0, [R4.64]", 0, CONTROL)
    named = assembler.word("LDG.E R0, [R4.64]", 0, CONTROL, unseen="desc=UR4")
    assert assembler.unseen(named, plain) == "desc=UR4"
    assert assembler.unseen(plain ^ 1 << 102 ^ 3 << 126, plain) == "102,126-127"
    assert assembler.word("LDG.E R0, [R4.64]", 0, CONTROL, unseen="102,126-127") == plain ^ 1 << 102 ^ 3 << 126
    assert assembler.word("nonsense", 0, CONTROL, unseen="word=0x123") == 0x123
    for wrong, said in (
        ("128", "no range"),
        ("desc=R4", "cannot be"),
        ("Rz=R1", "no operand 'Rz'"),
        ("?", "neither"),
        ("word=4", "digits"),
    ):
        with pytest.raises(TextError, match=said):
            assembler.word("LDG.E R0, [R4.64]", 0, CONTROL, unseen=wrong)


def test_branch_targets_and_relocated_operands_have_names() -> None:
    assembler = Assembler(SM_90)
    there = assembler.word("BRA 0x140", 0x40, CONTROL)
    assert assembler.word("BRA `(.L_x_1)", 0x40, CONTROL, {"`(.L_x_1)": 0x140, "`(.L_x_10)": 0}) == there
    zero = assembler.word("MOV R1, 0x0", 0, CONTROL)
    assert assembler.word("MOV R1, 32@lo((f + 0x8))", 0, CONTROL, immediate="32@lo((f + 0x8))") == zero


@pytest.mark.parametrize("isa", range(len(ISAS)))
def test_mnemonics_are_listed(isa: int) -> None:
    found = mnemonics(isa)
    assert list(found) == sorted(set(found))
    assert {"EXIT", "IADD3", "LDG", "BRA"} <= set(found)


def test_words_with_unaligned_registers_come_back_as_words() -> None:
    """They are decoded and listed; as a text alone they are refused, so the listing says the word."""
    good = "TEX.B.LL R18, R16, R16, R2, CUBE"
    (place,) = [bit for bit in range(128) if _text(_word(good) ^ 1 << bit) == good.replace("R2,", "R3,")]
    word = _word(good) ^ 1 << place
    code = Code(SM_80, word.to_bytes(16, "little"))
    assert code.texts() == ["TEX.B.LL R18, R16, R16, R3, CUBE"]
    (unseen,) = unseen_parts(code, {}).values()
    assert unseen == f"word={word:#x}"
    assert Assembler(SM_80).word(code.texts()[0], 0, CONTROL, unseen=unseen) == word


def test_operands_out_of_sight_are_aligned_too() -> None:
    assembler = Assembler(SM_80)
    text = "LDG.E R4, [R2.64+0x10]"
    named = assembler.word(text, 0, CONTROL, unseen="desc=UR6")
    with pytest.raises(TextError, match="desc=UR7: an operand begins a group of registers: its number must be a multiple of 2"):
        assembler.word(text, 0, CONTROL, unseen="desc=UR7")
    odd = assembler.word(text, 0, CONTROL, unseen="desc=UR6,32")
    code = Code(SM_80, odd.to_bytes(16, "little"))
    assert odd == named ^ 1 << 32
    (unseen,) = unseen_parts(code, {}).values()
    assert "desc" not in unseen
    assert assembler.word(text, 0, CONTROL, unseen=unseen) == odd


def _word(text: str) -> int:
    return Assembler(SM_80).word(text, 0, CONTROL)


def _text(word: int) -> str:
    code = Code(SM_80, word.to_bytes(16, "little"))
    return "" if code.bad else code.texts()[0]
