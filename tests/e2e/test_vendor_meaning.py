"""What ptxas makes of the instructions of batches, in the same simulator: a second opinion on what they compute."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lower import batch, integers, video


@pytest.fixture
def image_of(ptxas: str, tmp_path: Path) -> Callable[[str, str], bytes]:
    """Cubins of PTX for a target, as ptxas makes them."""

    def compiled(text: str, arch: str) -> bytes:
        (tmp_path / "k.ptx").write_text(text, encoding="utf-8")
        command = [ptxas, f"-arch={arch}", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
        subprocess.run(command, capture_output=True, check=True)
        return (tmp_path / "k.cubin").read_bytes()

    return compiled


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_video_instructions(arch: str, image_of: Callable[[str, str], bytes]) -> None:
    share = video.items()[int(arch[3:]) % 4 :: 4]
    assert not list(batch.mistakes(share, batch.operands(128, "video"), lambda text: [image_of(text, arch)], arch))


@pytest.mark.measure
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100a", "sm_120"])
def test_all_video_instructions(arch: str, image_of: Callable[[str, str], bytes]) -> None:
    assert not list(batch.mistakes(video.items(), batch.operands(256, "more"), lambda text: [image_of(text, arch)], arch))


def known(item: batch.Item) -> bool:
    """Items that are not asked.

    ptxas 13.0.88 at level 3 lets slct choose by a constant as if it were a float, and cuts constant amounts of shifts of 16
    bits to 16 bits. Of saturated sums of constants it makes UPLOP3 on signs, which the simulator does not have.
    """
    found = [*item.constants, None, None, None]
    return (
        (item.text.startswith("slct") and found[2] is not None)
        or (item.text[:3] in {"shr", "shl"} and found[1] == 1 << 16)
        or ("sat" in item.text and len(item.constants) > 0 and None not in item.constants)
    )


@pytest.mark.parametrize("arch", ["sm_90"])
def test_integer_instructions(arch: str, image_of: Callable[[str, str], bytes]) -> None:
    items = [*integers.plain(), *integers.carries(), *integers.pairs()][::3]
    varied = [varied for item in integers.plain() for varied in integers.varied(item)][::41]
    here = [item for item in items + varied if item.since <= 90 and not known(item)]
    assert not list(batch.mistakes(here, batch.operands(128, "vendor"), lambda text: [image_of(text, arch)], arch))
