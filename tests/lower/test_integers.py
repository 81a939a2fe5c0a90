"""Every form of the integer instructions: registers, constants, one register twice, results in the place of sources, guards."""

from __future__ import annotations

from collections.abc import Sequence

import oric
import pytest
from oric_tables.targets import TARGETS

from . import batch, integers
from .batch import Item

# The oldest target of each encoding model.
MODELS = list({target.isa_name: name for name, target in reversed(TARGETS.items())}.values())
PLAIN = [*integers.plain(), *integers.carries(), *integers.pairs()]
VARIED = [varied for item in integers.plain() for varied in integers.varied(item)]
WAYS = [("sm_80", 0), ("sm_80", 3), ("sm_90", 0), ("sm_90", 3)]
SHARES = 2


def number(target: str) -> int:
    """90 for sm_90a."""
    return int("".join(c for c in target if c.isdigit()))


def mistakes(items: Sequence[Item], arch: str, *levels: int, threads: int = batch.THREADS) -> list[str]:
    """What comes out wrong of the items that a target has, at any of the levels."""
    here = [item for item in items if item.since <= number(arch)]
    assert here
    inputs = batch.operands(threads, arch)

    def images(text: str) -> list[bytes]:
        return [bytes(oric.compile(text, arch=arch, opt_level=level).image) for level in levels]

    return list(batch.mistakes(here, inputs, images, arch))


def test_no_instruction_is_left_out() -> None:
    names = {name for names in integers.FAMILIES.values() for name in names.split()}
    assert {words[0] for words, *_ in integers.forms()} == names == set(integers.REFERENCES)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arch", MODELS)
def test_registers(arch: str) -> None:
    assert not mistakes(PLAIN, arch, 0, 3)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize(("arch", "level"), WAYS)
def test_constants_and_one_register_twice(arch: str, level: int, share: int) -> None:
    """Each item in one way; a third of them on every model and level is measured."""
    first = WAYS.index((arch, level)) * SHARES + share
    assert not mistakes(VARIED[first :: SHARES * len(WAYS)], arch, level, threads=128)


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", MODELS)
def test_more_constants(arch: str, level: int) -> None:
    """Every sixth item, on each model and level others."""
    first = MODELS.index(arch) + (level > 0)
    assert not mistakes(VARIED[first % 6 :: 6], arch, level)


@pytest.mark.parametrize(("arch", "level"), WAYS)
def test_a_result_in_the_place_of_a_source_under_a_guard(arch: str, level: int) -> None:
    items = [
        batch.in_place(item, name)
        for item in integers.plain()
        if len(item.sources) < len(batch.NAMES)
        for name, kind in zip(batch.NAMES, item.sources, strict=False)
        if kind == item.dest
    ]
    assert not mistakes(items, arch, level, threads=64)


@pytest.mark.parametrize(("arch", "level"), WAYS[1:3])
def test_every_table_of_lop3(arch: str, level: int) -> None:
    assert not mistakes(list(integers.lookups()), arch, level)
