"""A row of the encoding and the forms that it becomes; its mistakes are in ``mistakes/encoding.yaml``."""

from __future__ import annotations

from oricgen.isa import bits, rows

from tests import specification

MACHINE = rows.load(specification.spec())


def test_a_shape_table_becomes_a_form_a_shape() -> None:
    fadd = next(o for o in MACHINE.operations if o.name == "FADD")
    assert [f.name for f in fadd.forms["sm_80"]] == ["RR", "RI", "RC", "RX", "RU"]
    assert [f.value for f in fadd.forms["sm_80"]] == [0x221, 0x421, 0x621, 0x621 | 1 << 91, 0xE21 | 1 << 91]


def test_messages_name_bits_as_people_do() -> None:
    assert bits.said(1 << 36) == "bit 36"
    assert bits.said(0xFF << 64 | 1 << 80) == "bits 64–71, 80"
