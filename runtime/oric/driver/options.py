"""What a compilation is asked to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from oric_tables.knobs import ORDER_WEIGHT_COUNT
from oric_tables.phases import NVOPT_LEVELS
from oric_tables.targets import Target

from oric.ir.function import Function
from oric.ir.knobs import UNSET, KnobSettings
from oric.ir.passes import PassContext
from oric.support.added import Added
from oric.support.targets import find_target

if TYPE_CHECKING:
    from .observing import Observer

MAX_OPT_LEVEL = 3
MAX_REGISTER_USAGE = ORDER_WEIGHT_COUNT - 1


class LaunchBounds:
    """Launch bounds of the command line, for entries that state none; 0 and None: none.

    ``override``: they count for entries that state some, too.
    """

    __slots__ = ("maxntid", "minnctapersm", "override")

    def __init__(self, maxntid: tuple[int, int, int] | None = None, minnctapersm: int = 0, override: bool = False) -> None:
        self.maxntid = maxntid
        self.minnctapersm = minnctapersm
        self.override = override


class Watch:
    """What is warned about: double precision and registers read before they are written in the PTX, local memory and spills.
    ``stack``: kernels of an extensible whole program whose stack nobody knows.

    ``profile``: form of the profile of every function at three places, that goes where dumps go: short, long, "" for none.
    ``trace``: a line for every phase of every function goes there, too.
    """

    __slots__ = ("double", "local", "profile", "spills", "stack", "trace", "uninitialized")

    def __init__(
        self,
        double: bool = False,
        local: bool = False,
        spills: bool = False,
        uninitialized: bool = False,
        profile: str = "",
        stack: bool = True,
        trace: bool = False,
    ) -> None:
        self.stack = stack
        self.trace = trace
        self.double = double
        self.local = local
        self.spills = spills
        self.uninitialized = uninitialized
        self.profile = profile


class Extras:
    """What code has besides what the PTX says.

    ``added``: qualifiers of instructions (:mod:`oric.support.added`). ``annotate``: the file tells instructions and registers
    of each function. ``errors_visible``: an exit waits until errors of memory accesses are known. ``relocatable``: an object to
    link; ``function_registers``: a ceiling for its functions, None for that of entries. ``extensible``: a whole program to link
    with libraries. ``preserved``: a program tells of the relocations that are settled, where its target has that.
    ``independent``: an object takes addresses from bank 4; whole programs always do. ``own_bank``: kernels may have constants and
    jump tables of the compiler's in a bank of their own; objects have none.
    """

    __slots__ = (
        "added",
        "annotate",
        "errors_visible",
        "extensible",
        "function_registers",
        "independent",
        "own_bank",
        "preserved",
        "relocatable",
    )

    def __init__(
        self,
        added: tuple[Added, ...] = (),
        annotate: bool = False,
        errors_visible: bool = False,
        relocatable: bool = False,
        function_registers: int | None = None,
        extensible: bool = False,
        preserved: bool = False,
        independent: bool = False,
        own_bank: bool = True,
    ) -> None:
        self.own_bank = own_bank
        self.independent = independent
        self.preserved = preserved
        self.extensible = extensible
        self.relocatable = relocatable
        self.function_registers = function_registers
        self.added = added
        self.annotate = annotate
        self.errors_visible = errors_visible


class SaveRecords:
    """What is saved of a compilation (docs/records.md): the Code Objects behind a phase, by name or number, and the module.

    ``full``: with the extended tags; ``wrapped``: with records around all sections.
    """

    __slots__ = ("full", "phase", "wrapped")

    def __init__(self, phase: str, full: bool = False, wrapped: bool = False) -> None:
        self.phase = phase
        self.full = full
        self.wrapped = wrapped


class CompileOptions:
    """Options of one compilation.

    ``maxrregcount`` is a ceiling of registers per thread, ``register_usage`` how freely they are used below it, 0 to 10.
    ``dump`` names the phases (names or numbers) after which the Ori code is given to ``dump_sink``; ``("all",)`` means every
    phase. ``disabled`` names those that do not run.
    ``time_phases`` collects run times; ``clock`` gives their seconds, and those of the stages: of the day, or of this process
    (:func:`time.process_time`). ``entries`` names the entry functions to compile, all when it is empty.
    ``listeners``: each called with the function, its context and the index of every phase that has run; ``observer``: who looks
    at functions between some phases, None for nobody.
    ``contract``: products and sums that nobody says how to round are fused, from level 1 on. ``target``
    is the row of ``arch``. ``nvopt``: the NvOpt level whose recipes are applied, None for none. ``line_info``: whether there are
    line tables; None: where the PTX has ``.loc``. ``debug``: debug data of the PTX is kept, and there are line tables.
    ``records``: what is saved, None for nothing.

    Raises:
        ValueError: a target that code cannot be made for (:class:`oric.support.targets.TargetError`), a negative level, a level
            of register usage or of NvOpt that there is not.
    """

    __slots__ = ("arch", "bounds", "clock", "contract", "debug", "disabled", "dump", "dump_sink", "entries", "extras",
                 "knob_texts", "knobs", "line_info", "listeners", "maxrregcount", "nvopt", "observer", "opt_level", "records",
                 "register_usage", "target", "time_phases", "verify", "watch")  # fmt: skip

    def __init__(
        self,
        arch: str = "sm_90",
        opt_level: int = 3,
        maxrregcount: int | None = None,
        verify: bool = False,
        dump: tuple[str, ...] = (),
        dump_sink: Callable[[str], None] = print,
        time_phases: bool = False,
        entries: tuple[str, ...] = (),
        bounds: LaunchBounds | None = None,
        watch: Watch | None = None,
        clock: Callable[[], float] = time.perf_counter,
        register_usage: int = 5,
        extras: Extras | None = None,
        contract: bool = True,
        nvopt: int | None = None,
        line_info: bool | None = None,
        debug: bool = False,
        disabled: tuple[str, ...] = (),
        knobs: KnobSettings = UNSET,
        observer: Observer | None = None,
        listeners: tuple[Callable[[Function, PassContext, int], None], ...] = (),
        records: SaveRecords | None = None,
    ) -> None:
        self.records = records
        self.listeners = listeners
        self.arch = arch
        self.target: Target = find_target(arch, "gpu-name")
        if opt_level < 0:
            raise ValueError(f"Value '{opt_level}' is not defined for option 'opt-level'")
        if not 0 <= register_usage <= MAX_REGISTER_USAGE:
            raise ValueError(f"Value of RegUsageLevel ({register_usage}) is out of valid range {{0..{MAX_REGISTER_USAGE}}}")
        if nvopt is not None and not 0 <= nvopt < NVOPT_LEVELS:
            raise ValueError(f"Invalid nvopt level : {nvopt}.")
        self.nvopt = nvopt
        self.line_info = True if debug else line_info
        self.debug = debug
        self.disabled = disabled
        self.knobs = knobs
        self.knob_texts = knobs.texts
        self.observer = observer
        self.opt_level = min(opt_level, MAX_OPT_LEVEL)
        self.maxrregcount = maxrregcount
        self.register_usage = register_usage
        self.extras = extras or Extras()
        self.contract = contract
        self.verify = verify
        self.dump = dump
        self.dump_sink = dump_sink
        self.time_phases = time_phases
        self.entries = entries
        self.clock = clock
        self.bounds = bounds or LaunchBounds()
        self.watch = watch or Watch()
