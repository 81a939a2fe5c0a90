"""Video instructions: every mnemonic, every second operation, parts of operands, against what :mod:`tests.lower.video` says."""

from __future__ import annotations

import re
from dataclasses import replace

import oric
import pytest
from oric.lower import lanes

from . import batch, video
from .batch import Item

ITEMS = video.items()
SHARES = 4


def image(text: str, arch: str, level: int) -> bytes:
    """A cubin."""
    return bytes(oric.compile(text, arch=arch, opt_level=level).image)


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize(("arch", "level"), [("sm_80", 3), ("sm_90", 3), ("sm_90", 0)])
def test_results(arch: str, level: int, share: int) -> None:
    inputs = batch.operands(128, "video")
    assert not list(batch.mistakes(ITEMS[share::SHARES], inputs, lambda text: [image(text, arch, level)], arch))


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_a_result_in_the_place_of_a_source_under_a_guard(name: str, level: int) -> None:
    items = [batch.in_place(item, name) for item in ITEMS[level::9] if len(item.sources) == 3]
    inputs = batch.operands(64, name)
    assert not list(batch.mistakes(items, inputs, lambda text: [image(text, "sm_90", level)], "sm_90"))


def with_constant(item: Item, number: int) -> Item:
    """The same with a constant as a whole source, which one by number."""
    place = number % len(item.sources)
    text = re.sub(rf"\b{'ABC'[place]}\.\w+", "ABC"[place], item.text)
    value = (0, 1, 31, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x8000, 255)[number % 8]
    constants = tuple(value if at == place else None for at in range(len(item.sources)))
    return Item(text, item.dest, item.sources, video.reference(text), constants)


@pytest.mark.parametrize("level", [0, 3])
def test_constants_and_one_register_twice(level: int) -> None:
    """Scalar instructions take constants; the same register may be both sources."""
    plain = [item for item in ITEMS if "-" not in item.text and not item.text.partition(".")[0][-1].isdigit()]
    items = [with_constant(item, number) for number, item in enumerate(plain[level::3])]
    items += [replace(item, same=True) for item in ITEMS[level::4]]
    inputs = batch.operands(64, "constants")
    assert not list(batch.mistakes(items, inputs, lambda text: [image(text, "sm_90", level)], "sm_90"))


def test_selectors() -> None:
    assert [lanes.extended(part, signed) for part in ("", "b2", "h1") for signed in (False, True)] == [
        *(0x3210, 0x3210, 0x4442, 0xAAA2, 0x4432, 0xBB32)
    ]  # fmt: skip
    assert [lanes.placed(part) for part in ("b0", "b3", "h0", "h1")] == [0x7650, 0x0654, 0x7610, 0x3254]
    assert lanes.elements("h32", 16) == 0x7654 and lanes.elements("h03", 16) == 0x1076 and lanes.elements("b7041", 8) == 0x7041
    assert lanes.merged("", 8) == 0x3210 and lanes.merged("b31", 8) == 0x3614 and lanes.merged("h1", 16) == 0x3254
