"""Saving a compilation behind a phase, and going on with it (docs/records.md).

Every function of a kernel, and then the kernel, is saved when it has gone through the phase, together with the module as it is
at that moment. What goes on loads them in the same order, each into the one module: whatever the phases behind leave there for
the next function is what they left the first time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from oric.ir.encoded import EncodedFunction
from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.phases.manager import select
from oric.records import (
    FULL,
    WRAPPED,
    Assembler,
    Head,
    Part,
    RecordError,
    Saved,
    Start,
    loaded,
    pads_of,
    put_pads,
    read,
    restore,
    write,
)
from oric.support.added import Added
from oric.support.collection import no_collection
from oric.support.diagnostics import Diagnostics, diagnostics_for

from .front import Front
from .knobs import settings_of
from .options import CompileOptions, Extras, LaunchBounds, Watch
from .pipeline import Made, contained, context_of, finished, machine_code, phase_manager, run_phases
from .result import Cubin
from .timing import DAGGEN, OCG, SETUP, Stages

CLASSES: Final[Mapping[str, type[Any]]] = {
    cls.__name__: cls for cls in (Added, CompileOptions, Extras, LaunchBounds, Watch)
}  # fmt: skip


class Saver:
    """Takes the Code Objects of a compilation behind a phase; ``phases``: indices of those that run.

    Raises:
        ValueError: the phase that is asked for is none, or several.
    """

    def __init__(self, options: CompileOptions) -> None:
        asked = options.records
        assert asked is not None
        found = select([asked.phase])
        if len(found) != 1:
            raise ValueError(f"records are saved behind one phase: '{asked.phase}' names {len(found)}")
        self.options = options
        self.phase = min(found)
        self.phases: list[int] = []
        self._flags = FULL * asked.full | WRAPPED * asked.wrapped
        self._assembler = Assembler(CLASSES, options.opt_level, self._flags)
        self._kernel = self._unit = 0

    def after(self, f: Function, ctx: PassContext, index: int) -> None:
        """A phase has run on a function: save it when that is the phase, or the last one in front of it that runs."""
        if f.subroutine or index != self._last(ctx):
            return  # what stands for macros is made when the kernel is done, by those who go on, too
        unit = -1 if f in ctx.module.functions else self._unit
        recipes = None if ctx.recipes is None else dict(ctx.recipes)
        head = Head(self._kernel, unit, index, recipes, f.in_window, f.sources is not None, pads_of(f))
        self._assembler.add(Part(head, f, ctx.module))
        self._kernel, self._unit = (self._kernel + 1, 0) if unit < 0 else (self._kernel, unit + 1)

    def _last(self, ctx: PassContext) -> int:
        recipes = ctx.recipes or {}
        return max(index for index in self.phases if index <= self.phase and recipes.get(index, 1))

    def data(self, front: Front, limit: int | None) -> bytes:
        """The file."""
        kernels = [code.name for code in front.module.functions]
        inputs = [(part.source.text, part.source.filename) for part in front.parts]
        numbers = {id(part): number for number, part in enumerate(front.parts)}
        start = Start(self.phase, limit, kernels, inputs, [numbers[id(front.places[name])] for name in kernels])
        return write(self._assembler.sections(start, self.options, front.module), self._flags)


def resume(data: bytes, verify: bool = False) -> Cubin:
    """Compile on from what was saved; the cubin is that of a compilation in one go.

    ``verify``: as in the options of a compilation.

    Raises:
        RecordError: the file is not sound.
        CompileError: as a compilation.
    """
    with no_collection():
        saved = load(data)
        return _resume(saved, _options(saved, verify))


def load(data: bytes) -> Saved:
    """What a record file holds, checked.

    Raises:
        RecordError: it is not sound.
    """
    return loaded(read(data), CLASSES)


def _options(saved: Saved, verify: bool) -> CompileOptions:
    """The options of the compilation that was saved.

    Raises:
        RecordError: there are none like that.
    """
    had = saved.options
    try:
        return CompileOptions(
            had.arch,
            had.opt_level,
            maxrregcount=had.maxrregcount,
            verify=verify,
            entries=had.entries,
            bounds=had.bounds,
            watch=had.watch,
            register_usage=had.register_usage,
            extras=had.extras,
            contract=had.contract,
            nvopt=had.nvopt,
            line_info=had.line_info,
            debug=had.debug,
            knobs=settings_of([("records", text) for text in had.knob_texts]),
            disabled=had.disabled,
        )
    except ValueError as error:
        raise RecordError(f"the options that were saved are none: {error}") from error


def _resume(saved: Saved, options: CompileOptions) -> Cubin:
    stages = Stages(options.clock)
    try:
        manager = phase_manager(options)
    except ValueError as error:
        raise RecordError(f"the options that were saved are none: {error}") from error
    stages.finished(SETUP)
    inputs = [diagnostics_for(text, name) for text, name in saved.start.inputs]
    module = saved.module
    kernels = [part.function for part in saved.parts if part.head.unit < 0]
    module.functions = kernels
    places = {code.name: inputs[number] for code, number in zip(kernels, saved.start.sources, strict=True)}
    front = Front(module, inputs, places, {code.name: 0.0 for code in kernels}, 0.0)
    stages.finished(DAGGEN)
    encoded: list[EncodedFunction] = []
    seconds: dict[str, float] = {}
    waiting: list[Part] = []
    for part in saved.parts:
        waiting.append(part)
        if part.head.unit < 0:
            encoded.append(_kernel(waiting, front, manager, options, saved.start))
            seconds[part.function.name] = stages.finished(OCG)
            waiting = []
    return contained(finished(Made(front, encoded, saved.start.limit, manager, seconds)), options, stages)


def _kernel(parts: list[Part], front: Front, manager: Any, options: CompileOptions, start: Start) -> EncodedFunction:
    """Compile a kernel on, the last of the parts, behind its functions."""
    code, module = parts[-1].function, front.module
    diag: Diagnostics = front.places[code.name]
    context = context_of(code, module, options, diag, start.limit)
    code.functions = [part.function for part in parts[:-1]]
    for part in parts:
        if part.module is not module:
            restore(module, part.module)
        f = part.function
        f.sources = module.line_info if part.head.has_lines else None
        context.recipes = part.head.recipes
        put_pads(f, options.target, part.head.pads)
        if part.head.unit >= 0:
            run_phases(f, context, manager, diag, start.phase)
    return machine_code(code, context, manager, diag, start.phase)
