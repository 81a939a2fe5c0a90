"""What a compilation is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from oric_tables.targets import TARGETS, Target

MAX_OPT_LEVEL = 3


@dataclass(slots=True)
class CompileOptions:
    """Options of one compilation.

    ``maxrregcount`` is a ceiling of registers per thread. ``dump`` names the phases (names or numbers) after which
    the Ori code is given to ``dump_sink``; ``("all",)`` means every phase. ``time_phases`` collects run times.

    Raises:
        ValueError: unknown target, negative level.
    """

    arch: str = "sm_90"
    opt_level: int = 3
    maxrregcount: int | None = None
    verify: bool = False
    dump: tuple[str, ...] = ()
    dump_sink: Callable[[str], None] = print
    time_phases: bool = False
    target: Target = field(init=False)

    def __post_init__(self) -> None:
        if self.arch not in TARGETS:
            known = ", ".join(TARGETS)
            raise ValueError(f"Value '{self.arch}' is not defined for option 'gpu-name' (known: {known})")
        if self.opt_level < 0:
            raise ValueError(f"Value '{self.opt_level}' is not defined for option 'opt-level'")
        self.opt_level = min(self.opt_level, MAX_OPT_LEVEL)
        self.target = TARGETS[self.arch]
