"""``--register-usage-level``: how freely registers are used below the limit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from oric.driver import CompileOptions, compile_text

from tests.kernels import cases

LEVELS = range(11)


def registers(text: str, arch: str, level: int) -> int:
    """All of the kernels of a module together."""
    done = compile_text(text, CompileOptions(arch, register_usage=level))
    return sum(kernel.registers for kernel in done.kernels.values())


@pytest.mark.sampled(2)
@pytest.mark.row("R4-43")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_lower_level_uses_fewer_registers(arch: str) -> None:
    """Over the kernels of the tests each level uses at most as many as the next, but for one in a hundred, since other orders of
    the code need what they need; from end to end it makes a difference."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(cases.HERE.glob(f"*.{arch}.ptx"))]
    sums = [sum(registers(text, arch, level) for text in texts) for level in LEVELS]
    assert all(100 * fewer <= 101 * more for fewer, more in pairwise(sums))
    assert sums[0] < sums[5] < sums[10]


@pytest.mark.parametrize("level", [0, 10])
@pytest.mark.parametrize("name", ["sgemm", "transpose", "divrem"])
def test_code_is_right_at_every_level(name: str, level: int) -> None:
    text = (cases.HERE / f"{name}.sm_90.ptx").read_text(encoding="utf-8")
    image = compile_text(text, CompileOptions("sm_90", register_usage=level)).image
    cases.launch(image, name)


@pytest.mark.parametrize("level", [-1, 11])
def test_levels_that_there_are_not(level: int) -> None:
    with pytest.raises(ValueError, match=r"out of valid range \{0\.\.10\}"):
        CompileOptions("sm_90", register_usage=level)
