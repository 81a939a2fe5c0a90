"""Numbers that C and Python share."""

from __future__ import annotations

from oricgen.tables import numbers

from tests import specification


def test_control_bits_in_another_order() -> None:
    """The fields of the control bits may stand in any order: their shifts count from the lowest of them."""
    spec = specification.spec()
    text = (spec.root / "formats.yaml").read_text(encoding="utf-8")
    edited = text.replace("  stall: 105-108\n  yield: 109\n", "  stall: 106-109\n  yield: 105\n")
    assert edited != text
    now, then = numbers.control(spec), numbers.control(spec.edited({"formats.yaml": edited}))
    assert (now.first, now.bits) == (then.first, then.bits) == (105, 17)
    shifts = [{f.name: f.shift for f in control.fields} for control in (now, then)]
    assert shifts[0] == {"stall": 0, "yield": 4, "write_barrier": 5, "read_barrier": 8, "wait": 11}
    assert shifts[1] == {**shifts[0], "stall": 1, "yield": 0}
