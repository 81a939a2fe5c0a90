"""What the tests of the generator share."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen.review.reading import files
from oricgen.spec import Spec

from tests import specification


@pytest.fixture
def known_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that this process runs take what the shared specification knows; in a copy, what was edited is read there."""
    ours = specification.ROOT / "spec"

    class Known(Spec):
        def __new__(cls, root: Path) -> Spec:  # type: ignore[misc]
            before, after = files(ours), files(root)
            assert before.keys() == after.keys(), "a copy with other files is another specification"
            edits = {name: data.decode() for name, data in after.items() if before[name] != data}
            return specification.spec().edited(edits) if edits else specification.spec()

    monkeypatch.setattr("oricgen.spec.Spec", Known)
