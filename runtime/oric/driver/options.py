"""What a compilation is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from oric_tables.targets import Target

from oric.support.targets import find_target

MAX_OPT_LEVEL = 3


@dataclass(frozen=True, slots=True)
class LaunchBounds:
    """Launch bounds of the command line, for entries that state none; 0 and None: none.

    ``override``: they count for entries that state some, too.
    """

    maxntid: tuple[int, int, int] | None = None
    minnctapersm: int = 0
    override: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """What is warned about: double precision in the PTX, local memory and spills in the code."""

    double: bool = False
    local: bool = False
    spills: bool = False


@dataclass(slots=True)
class CompileOptions:
    """Options of one compilation.

    ``maxrregcount`` is a ceiling of registers per thread. ``dump`` names the phases (names or numbers) after which
    the Ori code is given to ``dump_sink``; ``("all",)`` means every phase. ``time_phases`` collects run times.
    ``entries`` names the entry functions to compile, all when it is empty.

    Raises:
        ValueError: a target that code cannot be made for (:class:`oric.support.targets.TargetError`), a negative level.
    """

    arch: str = "sm_90"
    opt_level: int = 3
    maxrregcount: int | None = None
    verify: bool = False
    dump: tuple[str, ...] = ()
    dump_sink: Callable[[str], None] = print
    time_phases: bool = False
    entries: tuple[str, ...] = ()
    bounds: LaunchBounds = LaunchBounds()
    watch: Watch = Watch()
    target: Target = field(init=False)

    def __post_init__(self) -> None:
        self.target = find_target(self.arch, "gpu-name")
        if self.opt_level < 0:
            raise ValueError(f"Value '{self.opt_level}' is not defined for option 'opt-level'")
        self.opt_level = min(self.opt_level, MAX_OPT_LEVEL)
