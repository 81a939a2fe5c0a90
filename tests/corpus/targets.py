"""The targets of the corpus and what their code is compared with."""

from __future__ import annotations

from typing import NamedTuple

TARGETS = (
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a",
    "sm_110a", "sm_120a", "sm_121a",
)  # fmt: skip
# Targets whose words mean the same: one golden file each, named after the encoding model.
MODELS = {
    "sm_75": ("sm_75",), "sm_80": ("sm_80",), "sm_86": ("sm_86", "sm_87", "sm_88"), "sm_89": ("sm_89",),
    "sm_90": ("sm_90", "sm_90a"), "sm_100": ("sm_100", "sm_100a", "sm_100f"), "sm_103": ("sm_103a",),
    "sm_110": ("sm_110a",), "sm_120": ("sm_120a", "sm_121a"),
}  # fmt: skip


class Target(NamedTuple):
    """A target name taken apart: ``sm_90a`` is 90 with suffix "a"."""

    name: str
    number: int
    suffix: str


def parse(name: str) -> Target:
    """The parts of a target name."""
    digits = name.removeprefix("sm_").rstrip("af")
    return Target(name, int(digits), name.removeprefix("sm_" + digits))


def model_of(target: str) -> str:
    """The encoding model of a target."""
    return next(model for model, members in MODELS.items() if target in members)
