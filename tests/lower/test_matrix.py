"""Matrix products of a warp and moves of fragments: in the strict simulator against numpy; what cubins tell of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import oric
import oric.sim
import pytest
from oric.sim import Modes
from oric.support.elf import read

from tests.sim import test_matrix as vendor
from tests.sim.matrix_forms import TARGETS, module_text

OLDEST, NEWEST = TARGETS[0], TARGETS[-1]


class Strict:
    """A module whose launches are strict: who reads a result too early gets the old value."""

    def __init__(self, module: oric.sim.Module) -> None:
        self.module = module

    def launch(self, *args: Any, **keywords: Any) -> Any:
        """Launch."""
        keywords.setdefault("modes", Modes(strict=True))
        return self.module.launch(*args, **keywords)


@cache
def compiled(target: str, level: int) -> Strict:
    """The module of :mod:`tests.sim.matrix_forms`."""
    return Strict(oric.sim.load(oric.compile(module_text(target), arch=target, opt_level=level).image))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("target", "level"), [*((target, 3) for target in TARGETS), (OLDEST, 0), (NEWEST, 0)])
def test_products_and_moves(target: str, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the cubins of ptxas compute, ours do: every type and shape, dense, sparse, scaled; ldmatrix, stmatrix, movmatrix."""
    monkeypatch.setattr(vendor, "module_of", lambda name: compiled(name, level))
    for how in ("integers", "normal", "any"):
        vendor.test_products(target, how)
    vendor.test_quad_pairs(target)
    vendor.test_fragments_and_shared_memory(target)


RECORDS = {
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {c}, {a, b}, {a, b}, {c}, e, 1;": 16,
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {i}, {a, b}, {a, b}, {i}, e, 0;": 32,
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {c}, {a, b, a, b}, {a, b, a, b}, {c}, e, 0;": 24,
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {c}, {a, b, a, b}, {a, b}, {c};": 0,
}


@pytest.mark.parametrize("text", RECORDS)
def test_kinds_of_sparse_products(text: str) -> None:
    """SPARSE_MMA_MASK, from sm_90 on (observed); a product that is composed has the bits of what it is composed of, too."""
    body = text.replace("{c}", "{c0, c1, c2, c3}").replace("{i}", "{i0, i1, i2, i3}")
    registers = ".reg .b32 a, b, e; .reg .f32 c<4>; .reg .b32 i<4>;"
    source = f".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {{ {registers} {body} ret; }}"
    found = {r.name: r.value for r in read(oric.compile(source, arch="sm_90").image).functions["k"].records}
    assert found["SPARSE_MMA_MASK"] == RECORDS[text]
    assert "WMMA_USED" not in found
