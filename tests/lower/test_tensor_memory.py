"""Tensor memory (tcgen05) with code of this compiler: the programs and the checks of the simulator's own tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import oric

from tests.sim import test_tensor_memory as memory
from tests.sim.tensor_forms import extremes_text, module_text

from .tensor_programs import programs_instead


@cache
def made(target: str, level: int) -> bytes:
    """All programs for a target, compiled at a level."""
    text = module_text() if target == "sm_100a" else extremes_text()
    return oric.compile(text, arch=target, opt_level=level).image


instead = programs_instead(made)


def _of(name: str) -> Any:
    return getattr(memory, name)


test_loads_and_stores = _of("test_loads_and_stores")
test_loads_with_an_extreme = _of("test_loads_with_an_extreme")
test_copies = _of("test_copies")
test_products = _of("test_products")
test_pair_of_ctas = _of("test_pair_of_ctas")
test_pair_allocates_alike = _of("test_pair_allocates_alike")
