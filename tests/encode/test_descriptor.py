"""The encoding descriptor: words, packers, extended path, operand words; hand-made instructions and properties."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.encode import descriptor as made
from oric.encode.descriptor import DescriptorError, DescriptorWords, UnknownPlaceError, Value, build_encoding_descriptor
from oric.ir import operand as opd
from oric.ir.function import R2, R4, UP, UR, B, P, R, signed64
from oric_tables import descriptor as tables
from oric_tables import ops

from tests.encode.builder import Code

PLACED = sorted(number for number, field in tables.CLASS_FIELDS.items() if field.place is not None)
UNPLACED = sorted(set(tables.CLASS_FIELDS) - set(PLACED))


class Registers(Code):
    """Code whose registers have numbers."""

    def at(self, number: int, kind: int = R, size: int = 1) -> int:
        """An operand: a register with a number."""
        index = self.reg(kind, size)
        self.f.physical[index] = number
        return int(opd.reg(index, 0, size))


def none() -> int:
    return opd.NO_OPERAND


# -- words and packers -------------------------------------------------------------------------------------------


@pytest.mark.row("R4-56")
@given(st.dictionaries(st.sampled_from(PLACED), st.integers(0, 15)))
def test_class_fields_round_trip(values: dict[int, int]) -> None:
    """Each field reads back what was written, whatever the others hold; nothing else is set."""
    out = DescriptorWords()
    for word in range(tables.WORDS):
        out.words[word] = 0xFFFFFFFF
    masks = dict.fromkeys(range(tables.WORDS), 0xFFFFFFFF)
    for number, value in values.items():
        out.pack_class_field(number, value + tables.CLASS_FIELDS[number].base)
        place = tables.CLASS_FIELDS[number].place
        assert place is not None
        masks[place.word] &= ~(((1 << place.width) - 1) << place.first)
    for number, value in values.items():
        field = tables.CLASS_FIELDS[number]
        expected = int(value == field.test) if field.test is not None else value + field.base
        assert out.class_field(number) == expected
    assert [out.words[w] & masks[w] for w in range(tables.WORDS)] == [masks[w] for w in range(tables.WORDS)]


@pytest.mark.row("R4-56")
def test_documented_masks() -> None:
    """Field 113: bits 7 to 10, mask 0xFFFFF87F; field 91: bit 16, mask 0xFFFEFFFF (Registers, examples of the packer)."""
    for number, value, mask, bits in ((113, 68, 0xFFFFF87F, 8 << 7), (113, 60, 0xFFFFF87F, 0), (91, 1, 0xFFFEFFFF, 1 << 16)):
        for before in (0, 0xFFFFFFFF):
            out = DescriptorWords()
            out.words[2] = before
            out.pack_class_field(number, value)
            assert out.words == [0, 0, before & mask | bits, 0, 0]


def test_the_uniform_flag_says_whether_the_value_is_one() -> None:
    out = DescriptorWords()
    out.pack_class_field(91, 2)
    assert out.words[2] == 0


@pytest.mark.parametrize(("number", "value"), [(113, 59), (113, 76), (120, 16), (121, -1)])
def test_values_that_do_not_fit_are_refused(number: int, value: int) -> None:
    out = DescriptorWords()
    with pytest.raises(DescriptorError, match=rf"class field {number} \(.*\): value {value} is not in"):
        out.pack_class_field(number, value)
    assert out.words == [0] * 5


@given(st.sampled_from(UNPLACED), st.integers(0, 1))
def test_fields_without_bits_are_refused_and_kept_beside_the_words(number: int, value: int) -> None:
    out = DescriptorWords()
    with pytest.raises(UnknownPlaceError, match=rf"class field {number} \(.*\): its bits are undocumented"):
        out.pack_class_field(number, value)
    with pytest.raises(UnknownPlaceError):
        out.class_field(number)
    kept = Value("class", (number,), "", value, str(value))
    out.put(kept)
    assert (out.words, out.placed, out.unplaced) == ([0] * 5, [], [kept])


@pytest.mark.row("R4-57")
def test_operand_fields_are_a_namespace_of_their_own() -> None:
    out = DescriptorWords()
    with pytest.raises(UnknownPlaceError, match=r"operand field 65 \(permute selector\): the place of value 3 is undocumented"):
        out.pack_operand_field(65, 3)
    for number in (2, 72, 91, 113):
        with pytest.raises(DescriptorError, match=f"there is no operand field {number}"):
            out.pack_operand_field(number, 0)
    for number in (3, 71, 90, 341):
        with pytest.raises(DescriptorError, match=f"there is no class field {number}"):
            out.pack_class_field(number, 0)


@pytest.mark.row("R4-55")
def test_parts_of_the_words() -> None:
    out = DescriptorWords()
    for name, value in (("category", 542), ("memory space", 11), ("address type", 3), ("texture scope", 1), ("special", 1)):
        out.pack_part(name, value)
        assert out.part(name) == value
    out.pack_part("operand count", 12)
    assert out.words == [542, 0x3B, 0, 1 << 29 | 1 << 1, 12]
    with pytest.raises(DescriptorError, match="memory space: value 17 does not fit 4 bits"):
        out.pack_part("memory space", 17)


# -- operand words -----------------------------------------------------------------------------------------------


@pytest.mark.row("R4-26")
@given(st.sampled_from(sorted(tables.REGISTER_TAGS)), st.integers(0, 1023))
def test_register_words_round_trip(tag: int, number: int) -> None:
    word = tables.register_word(tag, number)
    assert (word & 1, word >> 1 & 15, word >> 5) == (1, tables.REGISTER_TAGS[tag][0], number)
    assert word < 1 << 15
    assert tables.register_of(word) == (tag, number)


@given(st.integers(0, 0xFFFF))
def test_every_16_bits_are_a_register_word_or_refused(word: int) -> None:
    try:
        found = tables.register_of(word)
    except ValueError:
        assert not word & 1 or word >> 1 & 15 > 11 or word >> 15
    else:
        assert word == (tables.register_word(*found) if found else 0)


def test_register_words_refuse() -> None:
    with pytest.raises(ValueError, match="there is no register type tag 9"):
        tables.register_word(9, 0)
    with pytest.raises(ValueError, match="1024 does not fit 10 bits"):
        tables.register_word(1, 1024)


@pytest.mark.row("R4-28")
@given(st.sampled_from(("pred", "upred")), st.one_of(st.none(), st.integers(0, 255).filter(lambda n: n != 14)), st.booleans())
def test_predicate_words_round_trip(kind: str, number: int | None, negated: bool) -> None:
    word = tables.predicate_word(kind, number, negated)
    assert word < 1 << 13
    assert word >> 5 == (14 if number is None else number)
    assert tables.predicate_of(word) == (kind, number, negated)


def test_predicate_words_refuse() -> None:
    for kind, number, message in (("gpr", 0, "'gpr' is no kind"), ("pred", 14, "always-true"), ("pred", 256, "does not fit")):
        with pytest.raises(ValueError, match=message):
            tables.predicate_word(kind, number, False)
    with pytest.raises(ValueError, match="is no predicate operand word"):
        tables.predicate_of(0x1000 << 1)


# -- hardware register numbers -------------------------------------------------------------------------------------


@pytest.mark.row("R4-29")
def test_documented_register_numbers() -> None:
    """Registers, "Register-Class-to-Hardware Encoding"."""
    assert [tables.hardware_register(*pair) for pair in ((0, 1), (1, 1), (2, 1), (0, 0))] == [1, 33, 65, 0]
    assert tables.write_register_field(0, 0xFF) == 0x1C003E00
    for pair in ((0, 32), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="there is no register"):
            tables.hardware_register(*pair)
    with pytest.raises(ValueError, match="register number 256 does not fit"):
        tables.write_register_field(0, 256)


@pytest.mark.row("R4-30")
@given(st.integers(0, 255), st.integers(0, 0xFFFFFFFF))
def test_register_fields_round_trip(number: int, before: int) -> None:
    group, sub = tables.class_of(number)
    assert tables.hardware_register(group, sub) == number
    word = tables.write_register_field(before, number)
    assert tables.read_register_field(word) == number
    assert word & ~0x1C003E00 == before & ~0x1C003E00
    written = (number << 9) & 0x3E00 | (number << 21) & 0x1C000000
    assert word & 0x1C003E00 == written


# -- descriptors of instructions -----------------------------------------------------------------------------------


def test_a_comparison() -> None:
    c = Registers()
    node = c.op("ISETP", c.at(3, P), c.at(7), c.at(9), opd.PT_OPERAND, opd.NOT_PT_OPERAND, cmp="GE")
    found = build_encoding_descriptor(c.f, node)
    assert (found.category, found.words) == (59, (59, 0, 0, 0, 0))
    assert [(o.name, o.register, o.word) for o in found.operands] == [
        ("Pd", "P3", 3 << 5),
        ("Ra", "R7", 7 << 5 | 1),
        ("Rb", "R9", 9 << 5 | 1),
        ("Pv", "PT", 14 << 5),
        ("Pp", "!PT", 14 << 5 | 1 << 2),
    ]


@pytest.mark.row("R4-27")
def test_tags_follow_file_and_width() -> None:
    c = Registers()
    wide = c.op("LDG", c.at(8, R4, 4), c.at(2, R2, 2), opd.imm(0), c.at(4, UR, 2), size="128")
    words = {o.name: o.word for o in build_encoding_descriptor(c.f, wide).operands}
    assert words == {"Rd": 8 << 5 | 11 << 1 | 1, "Ra": 2 << 5 | 1 << 1 | 1, "desc": 4 << 5 | 3 << 1 | 1}
    sync = c.op("BSYNC", c.at(5, B), opd.PT_OPERAND)
    assert build_encoding_descriptor(c.f, sync).operands[0].word == 5 << 5 | 7 << 1 | 1
    zero = c.op("IADD3", opd.RZ_OPERAND, opd.RZ_OPERAND, c.at(1), opd.RZ_OPERAND)
    assert build_encoding_descriptor(c.f, zero).operands[0] == ("Rd", "RZ", 1023 << 5 | 1, None)


@pytest.mark.row("R1-24")
@pytest.mark.parametrize("sub", range(4))
def test_operations_that_share_an_opcode_have_one_entry(sub: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an opcode word has in bits 12 and 13 tells its operations apart, and does not say which opcode it is."""
    c = Registers()
    node = c.op("ISETP", c.at(3, P), c.at(7), c.at(9), opd.PT_OPERAND, opd.NOT_PT_OPERAND, cmp="GE")
    asked: list[int] = []

    class Opcodes(dict[int, tables.Opcode]):
        def get(self, key: int, default: object = None) -> object:  # type: ignore[override]
            asked.append(key)
            return super().get(key)

    op = c.f.op[node]
    for word, base in ((0xB7, 183), (0x89, 0x89), (ops.op(op).word & 0xFFF, 7)):
        monkeypatch.setattr(ops.op(op), "word", word | sub << 12)
        monkeypatch.setattr(tables, "OPCODES", Opcodes(tables.OPCODES))
        found = build_encoding_descriptor(c.f, node)
        assert asked.pop() == base and not asked
    assert found.category == 59, "as ISETP and as ISETP.EX"


def test_a_uniform_register_in_a_general_slot_has_its_own_tag() -> None:
    c = Registers()
    node = c.op("IADD3", c.at(1), c.at(2), c.at(6, UR), opd.RZ_OPERAND)
    assert build_encoding_descriptor(c.f, node).operands[2] == ("Rb", "UR6", 6 << 5 | 2 << 1 | 1, 6)


def test_components_count() -> None:
    c = Registers()
    pair = c.at(8, R2, 2)
    node = c.op("MOV", c.at(1), opd.reg(opd.index_of(pair), 1))
    assert build_encoding_descriptor(c.f, node).operands[1].register == "R9"


def test_fields_of_a_case_without_bits_stay_beside_the_words() -> None:
    c = Registers()
    node = c.op("FSETP", c.at(0, P), c.at(1), c.at(2), opd.PT_OPERAND, opd.PT_OPERAND, cmp="GT", bop="OR")
    found = build_encoding_descriptor(c.f, node)
    assert found.category == 517
    ids = tuple(range(288, 300))
    assert [(v.ids, v.name, v.text) for v in found.unplaced] == [(ids, "comparison", "GT"), (ids, "combine", "OR")]
    mov = build_encoding_descriptor(c.f, c.op("MOV", c.at(1), c.at(2)))
    assert (mov.category, mov.unplaced) == (517, ()), "the same case, but MOV compares nothing"


def test_operand_fields_of_a_case() -> None:
    c = Registers()
    node = c.op("PRMT", c.at(1), c.at(2), c.at(3), c.at(4), mode="F4E")
    found = build_encoding_descriptor(c.f, node)
    assert (found.category, [(v.namespace, v.ids, v.text) for v in found.unplaced]) == (24, [("operand", (65, 66), "F4E")])


@pytest.mark.parametrize(("guarded", "flag"), [(True, 1), (False, 0)])
def test_the_guard_is_a_field_of_cs2r(guarded: bool, flag: int) -> None:
    c = Registers()
    node = c.op("CS2R_32", c.at(1), opd.special(80), guard=c.at(2, P) if guarded else 0)
    found = build_encoding_descriptor(c.f, node)
    assert [(v.ids, v.number) for v in found.unplaced] == [((270,), flag)]
    assert (found.guard.word if found.guard else None) == (2 << 5 if guarded else None)


def test_a_category_that_is_one_of_several_is_unknown() -> None:
    c = Registers()
    node = c.op("LDG", c.at(1), c.at(2, R2, 2), opd.imm(0), c.at(4, UR, 2), cache="EF")
    found = build_encoding_descriptor(c.f, node)
    assert found.category is None
    assert found.words == (0xFFFF, 3 << 4 | 11, 0, 0, 0)
    assert found.handler == "memory"
    assert [(v.ids, v.name, v.text) for v in found.placed] == [
        ((120,), "memory space", "global"), ((121,), "address type", "descriptor"),
    ]  # fmt: skip
    assert ((131,), "cache policy", "EF") in [(v.ids, v.name, v.text) for v in found.unplaced]


def test_an_opcode_without_a_case() -> None:
    c = Registers()
    found = build_encoding_descriptor(c.f, c.op("FADD", c.at(1), c.at(2), c.at(3)))
    assert (found.case, found.category, found.words) == (None, None, (0xFFFF, 0, 0, 0, 0))


def test_the_uniform_flag_of_a_generic_load() -> None:
    c = Registers()
    operands = [c.at(1), c.at(2, R2, 2), opd.imm(0)]
    plain = build_encoding_descriptor(c.f, c.op("LD", *operands, none(), opd.PT_OPERAND))
    uniform = build_encoding_descriptor(c.f, c.op("LD", *operands, none(), opd.PT_OPERAND, c.at(6, UR)))
    assert (plain.words[1:3], uniform.words[1:3]) == ((1 << 4, 0), (2 << 4, 1 << 16))


SIZES = [("U8", 1, 0xF9, 61), ("S16", 1, 0xF9, 61), ("32", 1, 0xF6, 60), ("64", 2, 0xFA, 62), ("128", 4, 0xF8, 63)]


@pytest.mark.row("R4-54")
@pytest.mark.parametrize(("size", "registers", "sub", "width"), SIZES)
def test_extended_path_by_width(size: str, registers: int, sub: int, width: int) -> None:
    c = Registers()
    node = c.op("LDS", c.at(4, {1: R, 2: R2, 4: R4}[registers], registers), c.at(0), opd.imm(0), size=size)
    found = build_encoding_descriptor(c.f, node)
    assert found.extended is not None
    assert (found.extended.sub_opcode, found.category) == (sub, 441)
    assert found.words == (441, 1 << 4 | 1, (width - 60) << 7, 0, 12)
    register_class = 69 if sub == 0xF6 else 0
    assert [(v.ids, v.number) for v in found.unplaced if v.ids == (115,)] == [((115,), register_class)]


def test_gates_of_the_extended_path() -> None:
    c = Registers()
    guard = c.at(0, P)
    data, address = c.at(4), c.at(0)

    def category(guard: int, *uniform: int) -> int | None:
        return build_encoding_descriptor(c.f, c.op("STS", address, opd.imm(0), data, *uniform, guard=guard)).category

    assert [category(0), category(guard), category(0, c.at(6, UR)), category(guard, c.at(6, UR))] == [441, 442, 443, 442]


def test_atomics_take_their_own_sub_opcodes() -> None:
    c = Registers()
    address, off = c.at(2, R2, 2), opd.imm(0)
    red = build_encoding_descriptor(c.f, c.op("RED", address, off, c.at(4, R2, 2), type="64"))
    popc = build_encoding_descriptor(c.f, c.op("ATOMS_POPC", c.at(4), c.at(0), off))
    assert red.extended is not None
    assert popc.extended is not None
    assert (red.extended.sub_opcode, popc.extended.sub_opcode) == (0x10B, 0x106)
    assert red.handler == "memory"


@pytest.mark.row("R4-55")
def test_kill_overrides_the_operand_count() -> None:
    c = Registers()
    assert build_encoding_descriptor(c.f, c.op("KILL", opd.PT_OPERAND)).words == (0xFFFF, 0, 0, 0, 12)
    assert build_encoding_descriptor(c.f, c.op("EXIT", opd.PT_OPERAND)).words[4] == 0


@pytest.mark.parametrize(("name", "bit"), [("Texture/surface", 1), ("special", 29)])
def test_flags_of_cases(monkeypatch: pytest.MonkeyPatch, name: str, bit: int) -> None:
    """No instruction of ours is in a case with a flag yet: NOP is put into one."""
    case = next(case for case in tables.CASES if case.text == name)
    c = Registers()
    node = c.op("NOP")
    number = ops.op(c.f.op[node]).word & 0xFFF
    monkeypatch.setitem(tables.OPCODES, number, tables.Opcode("NOP", case, case.handler, -1, 0, None))
    assert build_encoding_descriptor(c.f, node).words[1:] == (0, 0, 1 << bit, 0)


FILES = {"gpr": {1: R, 2: R2, 4: R4}, "ugpr": {1: UR, 2: UR}, "pred": {1: P}, "upred": {1: UP}, "breg": {1: B}}


@pytest.mark.sampled(5)
@pytest.mark.row("R4-53")
@pytest.mark.parametrize("op", [op for op in ops.OPS if op is not None], ids=lambda op: op.name)
@given(st.data())
@settings(max_examples=20)
def test_every_operation_has_a_descriptor(op: ops.Op, data: st.DataObject) -> None:
    """Whatever the modifiers and registers: what the descriptor says it placed reads back from its words."""
    c = Registers()
    mods = 0
    for mod in op.mods.values():
        mods |= data.draw(st.sampled_from(sorted(mod.values.values()) or [0])) << mod.shift
    operands = []
    for index, slot in enumerate(op.operands):
        size = op.regs(index, mods)
        if size not in FILES.get(slot.kind, (size,)):
            return  # a matrix fragment or a pair of descriptors: the documents have no register class that wide
        if slot.kind not in FILES:
            operands.append(opd.imm(1))
        elif slot.default is not None and data.draw(st.booleans()):
            operands.append(opd.NO_OPERAND)
        else:
            number = data.draw(st.integers(0, 6)) if "pred" in slot.kind else size * data.draw(st.integers(0, 15))
            operands.append(c.at(number, FILES[slot.kind][size], size))
    guard = c.at(1, P if op.guard == "P" else UP) if data.draw(st.booleans()) else 0
    node = c.cursor.make(op.number, signed64(mods), guard)
    for operand in operands:
        c.cursor.put(operand)
    found = build_encoding_descriptor(c.f, node)

    words = DescriptorWords()
    words.words = list(found.words)
    assert words.part("category") == (tables.UNKNOWN_CATEGORY if found.category is None else found.category)
    for value in found.placed:
        assert words.class_field(value.ids[0]) == value.number
    assert words.part("operand count") == (12 if found.extended or op.name == "KILL" else 0)
    registers = [o for o, slot in zip(operands, op.operands, strict=True) if slot.kind in FILES and o != opd.NO_OPERAND]
    assert len(found.operands) == len(registers)
    for operand in found.operands:
        kind = next(slot.kind for slot in op.operands if slot.name == operand.name)
        if kind in ("pred", "upred"):
            assert tables.predicate_of(operand.word)[0] == kind
        else:
            assert tables.register_of(operand.word) is not None
    assert (found.guard is not None) == bool(guard)


def test_registers_without_a_number_are_refused() -> None:
    c = Code()
    node = c.op("MOV", opd.reg(c.reg()), opd.imm(1))
    with pytest.raises(DescriptorError, match="operand Rd: register 0 has no number"):
        build_encoding_descriptor(c.f, node)


def test_no_opcode_is_named_in_the_code() -> None:
    """The descriptor is driven by tables: its source names no operation."""
    source = Path(made.__file__).read_text(encoding="utf-8")
    words = set(re.findall(r"[\"']([A-Z][A-Z0-9_.]+)[\"']", source))
    assert not words & {op.name for op in ops.OPS if op is not None}
    assert not re.search(r"ops\.[A-Z]{2}", source)
