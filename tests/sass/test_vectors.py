"""Golden vectors: words of every form print as nvdisasm prints them and encode to themselves."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.sass.instruction import decode, encode
from oric.support.targets import TARGETS
from oric_tables import ops
from oric_tables._native import ffi, lib

from tests.sass import words

MACHINE = words.load()
ISAS = MACHINE.isas
FAMILIES = [(isa, family) for isa in ISAS for family in words.families(isa)]
TEXT_BYTES = 1024


def decoded(isa: int, word: int):  # type: ignore[no-untyped-def]
    insn = ffi.new("oric_insn *")
    error = lib.oric_decode(isa, [word & (1 << 64) - 1, word >> 64], insn)
    assert error == lib.ORIC_E_OK, f"{word:032x}: error {error}"
    return insn


def printed(isa: int, insn, pc: int = 0) -> str:  # type: ignore[no-untyped-def]
    buffer = ffi.new("char[]", TEXT_BYTES)
    assert lib.oric_print(isa, insn, pc, ffi.NULL, ffi.NULL, buffer, TEXT_BYTES) >= 0
    return ffi.string(buffer).decode()


def encoded(isa: int, insn) -> int:  # type: ignore[no-untyped-def]
    out = ffi.new("uint64_t[2]")
    error = lib.oric_encode(isa, insn, out)
    assert error == lib.ORIC_E_OK, f"{printed(isa, insn)}: error {error & 255}, operand or modifier {error >> 8}"
    return out[0] | out[1] << 64


@pytest.mark.parametrize(("isa", "family"), FAMILIES)
def test_vectors_print_and_encode(isa: str, family: str) -> None:
    number = MACHINE.isas.index(isa)
    wrong = []
    for word, text in words.vectors(isa, family):
        insn = decoded(number, word)
        if printed(number, insn) != text:
            wrong.append(f"{word:032x}: '{printed(number, insn)}', nvdisasm says '{text}'")
        if encoded(number, insn) != word:
            wrong.append(f"{word:032x} {text}: encodes to {encoded(number, insn):032x}")
    assert not wrong, "\n".join([*wrong[:20], f"{len(wrong)} in all; `python tests/sass/make_vectors.py` blesses new forms"])


@pytest.mark.parametrize(("isa", "family"), FAMILIES)
def test_every_form_and_modifier_value_has_a_vector(isa: str, family: str) -> None:
    number = MACHINE.isas.index(isa)
    forms: dict[str, set[int]] = {}
    values = set()
    for word, _ in words.vectors(isa, family):
        insn = decoded(number, word)
        op = ops.OPS[insn.op]
        assert op is not None
        forms.setdefault(op.name, set()).add(insn.form)
        values |= {(op.name, name, value) for name, value in op.unpack(insn.mods).items()}
    operations = [o for o in MACHINE.operations if words.family_of(o) == family and isa in o.forms]
    assert {name: len(found) for name, found in forms.items()} == {o.name: len(o.forms[isa]) for o in operations}
    for operation in operations:
        for mod in operation.mods:
            reached = {name for name, code in mod.codes.items() if _reachable(operation, isa, mod.name, code)}
            missing = {name for name in reached if (operation.name, mod.name, name) not in values}
            assert len(missing) <= max(0, len(reached) - 16), (
                f"{isa} {operation.name}.{mod.name}: no vector with {sorted(missing)}"
            )


def _reachable(operation, isa: str, mod: str, code: int) -> bool:  # type: ignore[no-untyped-def]
    """A form of the ISA has the value, and nothing that acts as opcode bit forbids it."""
    for form in operation.forms.get(isa, ()):
        for field in form.mods:
            if operation.mods[field.mod].name == mod and code in field.decode:
                raw = field.decode.index(code)
                if not (field.bits.place(raw) ^ form.value) & form.mask & field.bits.mask:
                    return True
    return False


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_made_words_come_back(seed: int, data: st.DataObject) -> None:
    isa, family = data.draw(st.sampled_from(FAMILIES))
    operation = data.draw(st.sampled_from([o for o in MACHINE.operations if isa in o.forms and words.family_of(o) == family]))
    form = data.draw(st.sampled_from(operation.forms[isa]))
    number = MACHINE.isas.index(isa)
    word = words.word_of(operation, form, random.Random(seed), data.draw(st.integers(0, 40)))
    insn = decoded(number, word)
    assert ops.OPS[insn.op].name == operation.name  # type: ignore[union-attr]
    assert encoded(number, insn) == word
    noise = data.draw(st.integers(0, 2**128 - 1)) & ~_known(number, insn.form)
    noisy = decoded(number, word ^ noise)
    assert (noisy.residue[0] | noisy.residue[1] << 64) == noise
    assert encoded(number, noisy) == word ^ noise


def _known(isa: int, form: int) -> int:
    arrays = [ffi.new("uint64_t[2]") for _ in range(4)]
    assert lib.oric_form_bits(isa, form, *arrays) > 0
    return arrays[3][0] | arrays[3][1] << 64


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa in TARGETS])
def test_objects_encode_to_the_word_they_came_from(isa: str) -> None:
    for word, text in words.vectors(isa)[::7]:
        (instruction,) = decode(word.to_bytes(16, "little"), isa)
        assert instruction.text == text
        assert encode(instruction, isa) == word
