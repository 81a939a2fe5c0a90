"""What ptxas makes of the instructions of batches, in the same simulator: a second opinion on what they compute."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lower import batch, video


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
    assert not list(batch.mistakes(share, batch.operands(128, "video"), lambda text: image_of(text, arch), arch))


@pytest.mark.measure
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100a", "sm_120"])
def test_all_video_instructions(arch: str, image_of: Callable[[str, str], bytes]) -> None:
    assert not list(batch.mistakes(video.items(), batch.operands(256, "more"), lambda text: image_of(text, arch), arch))
