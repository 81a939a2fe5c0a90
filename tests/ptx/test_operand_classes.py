"""Classes of operands in the signatures, and size classes of types: the tables of spec/ptx_nodes.yaml at work."""

import importlib
from collections.abc import Iterator

import pytest
from oric.lower import OriBuilder
from oric.ptx import parse_module
from oric.ptx.signatures import OperandSpec
from oric.support import nodes
from oric.support.diagnostics import diagnostics_for
from oric_tables import ptx_index as ix
from oric_tables.targets import TARGETS

from tests.ptx.signature_examples import all_families, mnemonics

ANY = sum(ix.CLASSES.values())


def specs() -> Iterator[tuple[str, OperandSpec]]:
    """Each operand of each form, those in brackets, in braces and behind ``|`` too."""
    for family in all_families():
        module = importlib.import_module(f"oric_tables.ptx_{family}")
        for name, (_, forms, _) in module.FORMS.items():
            for form in forms:
                _, fields = next(iter(mnemonics(name, form)))
                left = [OperandSpec(row, fields, module.COUNTS) for row in form[1]]
                while left:
                    spec = left.pop()
                    yield name, spec
                    left += [*spec.rest, *filter(None, [spec.pair])]


def test_twelve_classes_share_no_bit() -> None:
    masks = list(ix.CLASSES.values())
    assert len(masks) == 12 and sum(masks) == ANY
    assert all(not a & b for n, a in enumerate(masks) for b in masks[:n])


@pytest.mark.row("R2-05")
def test_every_signature_uses_these_classes_only() -> None:
    used, number = 0, 0
    for name, spec in specs():
        assert spec.mask & ANY, f"{name}: {spec.name}"
        used |= spec.mask & ANY
        number += 1
    assert number > 3000
    assert used == ANY, [name for name, mask in ix.CLASSES.items() if not used & mask]


def test_classes_hold_every_kind_of_node() -> None:
    """A pair is two operands, and the lists of calls are the parser's own business."""
    kinds = {name for name, value in vars(nodes).items() if name.isupper() and isinstance(value, int)}
    assert len(kinds) == len(nodes.KIND_NAMES)
    assert {name for names in ix.CLASS_NODES.values() for name in names} == kinds - {"PAIR", "ARGS"}


@pytest.mark.row("R2-17")
def test_every_type_has_the_size_class_of_its_bits() -> None:
    for name, (_, bits, *_) in ix.TYPES.items():
        assert ix.SIZES[name] == (min(bits.bit_length() - 4, 4) if bits >= 8 else ix.OUT_OF_RANGE), name
    assert set(ix.SIZES) == set(ix.TYPES) and set(ix.SIZES.values()) == {0, 1, 2, 3, 4, ix.OUT_OF_RANGE}


@pytest.mark.row("R2-17")
@pytest.mark.parametrize("type_", [name for name, (_, _, register, *_) in ix.TYPES.items() if register])
def test_registers_take_what_their_size_class_says(type_: str) -> None:
    diag = diagnostics_for(f".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{{\n.reg .{type_} %a<3>;\nret;\n}}\n", "")
    builder = OriBuilder(TARGETS["sm_90"], diag.source)
    parse_module(diag.source.text, "", builder, None, diag)
    assert not diag.items
    size = ix.SIZES[type_]
    assert list(builder.sizes) == [0 if size == ix.OUT_OF_RANGE else max(1, 1 << size >> 2)] * 3
