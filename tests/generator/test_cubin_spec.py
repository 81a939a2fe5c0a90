"""spec/cubin.yaml and the targets that name its layouts; other mistakes are in ``mistakes/cubin.yaml``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.outputs import cubin
from oricgen.spec import Spec

from tests import specification

ROOT = Path(__file__).parents[2]


@pytest.fixture
def edited() -> Callable[[str, str], tuple[Spec, int]]:
    """Replace a text that occurs once; gives the spec and the line of the replacement."""

    def edit(old: str, new: str) -> tuple[Spec, int]:
        text = (ROOT / "spec" / "cubin.yaml").read_text()
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        return specification.spec().edited({"cubin.yaml": text.replace(old, new)}), text[: text.index(old)].count("\n") + 1

    return edit


def test_the_spec_itself_renders() -> None:
    files = cubin.render(specification.spec())
    assert set(files) == {"oric_tables/cubin.py", "oric_tables/cubin_layout.py"}


def test_targets_must_name_a_layout(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited("\n  sm_90:\n    inherits: sm_75\n", "\n  sm_91:\n    inherits: sm_75\n")
    with pytest.raises(SpecError, match=r"sm_90: cubin\.yaml has no layout 'sm_90'") as caught:
        cubin.render(spec)
    assert caught.value.path.endswith("sm_targets.yaml") and caught.value.line > 0


def test_targets_must_name_a_header_form(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited("{osabi: 0x41, abiversion: 8,", "{osabi: 0x41, abiversion: 9,")
    with pytest.raises(SpecError, match=r"sm_75: cubin\.yaml has no header form"):
        cubin.render(spec)
