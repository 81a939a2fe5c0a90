"""From PTX text to a cubin: parse and lower, run the phases, encode, write."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from oric_tables import knobs
from oric_tables.macros import SHARED
from oric_tables.named import NamedTuple
from oric_tables.targets import Target

from oric import cubin as cubin_writer
from oric.encode import add_up, encode_function
from oric.ir.encoded import EncodedFunction
from oric.ir.function import Function
from oric.ir.lineinfo import line_of
from oric.ir.module import BANK_ADDRESS, BANK_COMPILER, BANK_KERNEL, BANK_USER, Module
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions, write_with_notes
from oric.ir.verify import MalformedCode, verify
from oric.lower.subroutines import subroutine
from oric.phases.backend import phase_functions
from oric.phases.contracts import BrokenPromise
from oric.phases.manager import PhaseManager
from oric.support.collection import no_collection
from oric.support.diagnostics import CompileError, Diagnostics, InternalError

from .front import Front, PtxInput, build_inputs, fail_if_any
from .options import CompileOptions, LaunchBounds
from .registry import passes
from .result import Cubin, KernelInfo
from .timing import DAGGEN, ELF, OCG, SETUP, Stages

if TYPE_CHECKING:
    from .observing import Observation
    from .saving import Saver

_NO_LIMIT = 255
_WARP: Final = 32  # threads
_REPORTED: Final = "constants_reported"
# What a caller knows, or can help, as it is.
_TOLD: Final = (CompileError, MalformedCode, BrokenPromise, MemoryError, OSError)
# Of a kernel, for the functions behind it.
_INHERITED: Final = (
    "annotate", "errors_visible", "maxnreg", "maxntid", "minnctapersm", "register_override", "reqntid",
)  # fmt: skip


def compile_text(text: str, options: CompileOptions, filename: str = "<ptx>") -> Cubin:
    """Compile a PTX module.

    Raises:
        CompileError: see :func:`oric.api.compile`.
        ValueError: ``options.dump`` names no phase, ``options.disabled`` none that can be switched off.
    """
    return compile_inputs([PtxInput(text, filename)], options)


def compile_inputs(inputs: Sequence[PtxInput], options: CompileOptions) -> Cubin:
    """Compile PTX modules into one cubin. They do not see each other's names.

    Raises:
        CompileError: as :func:`compile_text`; :class:`oric.driver.front.InputErrors` for several inputs.
        ValueError: ``options.dump`` names no phase, ``options.disabled`` none that can be switched off,
            ``options.entries`` no entry.
    """
    with no_collection():
        return _compile(inputs, options)


def compile_functions(text: str, options: CompileOptions, filename: str = "<ptx>") -> list[tuple[Function, EncodedFunction]]:
    """The functions of a PTX module after all phases, each with its machine code: what dumps look at.

    Raises:
        CompileError: see :func:`oric.api.compile`.
        ValueError: ``options.dump`` names no phase, ``options.disabled`` none that can be switched off.
    """
    made = _functions([PtxInput(text, filename)], options, Stages(options.clock))
    return list(zip(made.front.module.functions, made.encoded, strict=True))


class Made(NamedTuple):
    """A module whose functions are encoded, and what the container needs besides; ``seconds``: of phases and encoding;
    ``records``: what was saved of it."""

    front: Front
    encoded: list[EncodedFunction]
    limit: int | None
    manager: PhaseManager
    seconds: dict[str, float]
    records: bytes = b""


def _compile(inputs: Sequence[PtxInput], options: CompileOptions) -> Cubin:
    stages = Stages(options.clock)
    return contained(_functions(inputs, options, stages), options, stages)


def contained(made: Made, options: CompileOptions, stages: Stages) -> Cubin:
    """The cubin of a module whose functions are encoded, and what is told of it."""
    module, encoded = made.front.module, made.encoded
    note = options.knobs.everywhere.texts[knobs.TOOL_NOTE]
    image = cubin_writer.write(module, encoded, options.target, note, made.limit or 0)
    stages.finished(ELF)
    kernels = {}
    for code, item in zip(module.functions, encoded, strict=True):
        times = (made.front.seconds[code.name], made.seconds[code.name])
        kernels[code.name] = _facts(code, item, options, made.front.places[code.name], times)
    return Cubin(
        image,
        kernels,
        [text for part in made.front.parts for text in part.warnings()],
        _global_bytes(module),
        made.manager.time_rows(),
        constants=_constants({BANK_USER: module.constant_size, BANK_ADDRESS: 8 * len(module.address_slots)}, options),
        messages=made.front.parts,
        stages=stages,
        register_limit=made.limit,
        records=made.records,
    )


def phase_manager(options: CompileOptions, *after: Callable[[Function, PassContext, int], None]) -> PhaseManager:
    """The phases as a compilation runs them; ``after``: see :class:`oric.phases.manager.PhaseManager`.

    Raises:
        ValueError: ``options`` name a phase that there is not, or one that cannot be switched off.
    """
    return PhaseManager(
        _registry(options),
        options.opt_level,
        functions=phase_functions(options.target),
        disabled=options.disabled,
        verify=verify if options.verify else None,
        dump=options.dump,
        dump_text=write_with_notes,
        trace=options.watch.trace,
        sink=options.dump_sink,
        clock=options.clock if options.time_phases else None,
        after=after,
    )


def context_of(code: Function, module: Module, options: CompileOptions, diag: Diagnostics, limit: int | None) -> PassContext:
    """What phases get besides an entry or function of a module; ``limit``: the ceiling of registers of the command line."""
    most = limit if code.is_entry or options.extras.function_registers is None else options.extras.function_registers
    return PassContext(
        *(options.target, module, options.opt_level, diag, most),
        verify=options.verify,
        register_usage=options.register_usage,
        reports=options.watch.uninitialized,
        contract=options.contract,
        nvopt=_nvopt(options),
        knobs=options.knobs,
    )


def _nvopt(options: CompileOptions) -> int | None:
    """The NvOpt level whose recipes are applied: that of the options, else that of the knob."""
    level = int(options.knobs.everywhere.numbers[knobs.NVOPT_RECIPE])
    return level if options.nvopt is None and level >= 0 else options.nvopt


def _observation(options: CompileOptions) -> Observation | None:
    """What looks at functions between phases, loaded only where somebody wants to.

    Raises:
        ValueError: a phase that there is not, or that does not run.
    """
    if options.observer is None:
        return None
    from .observing import Observation

    return Observation(options, options.observer)


def _registry(options: CompileOptions) -> dict[str, PassFunction]:
    """The passes, with those that report in their places where reports are asked for."""
    if not options.watch.profile and options.observer is None:
        return passes()
    from oric.inside.profile import counting, reports

    found = passes()
    return found | (reports(options.watch.profile, options.dump_sink, found) if options.watch.profile else counting(found))


def _functions(inputs: Sequence[PtxInput], options: CompileOptions, stages: Stages) -> Made:
    saver, observation = _saver(options), _observation(options)
    manager = phase_manager(options, *options.listeners, *[one.after for one in (saver, observation) if one is not None])
    if saver is not None:
        saver.phases = manager.phases
    if observation is not None:
        observation.manager = manager
    stages.finished(SETUP)
    front = build_inputs(inputs, options)
    module = front.module
    _choose_entries(module, options)
    for code in module.functions:
        code.attributes.annotate = options.extras.annotate
        code.attributes.errors_visible = options.extras.errors_visible
        _set_bounds(code, options.bounds)
        _check_bounds(code, options.target, front.places[code.name])
    limit = _register_limit(options, front.parts[0])
    for code in module.functions:
        code.attributes.register_override = (limit or 0) if options.bounds.override else 0
    _check_memory(module, options, front.parts[0])
    fail_if_any(front.parts)
    stages.finished(DAGGEN)
    stages.inlining = front.inlining
    if module.for_debugger:
        cubin_writer.watch_registers(module)
    encoded, seconds = [], {}
    for code in module.functions:
        diag = front.places[code.name]
        context = context_of(code, module, options, diag, limit)
        for function in code.functions:
            for fact in _INHERITED:
                setattr(function.attributes, fact, getattr(code.attributes, fact))
            run_phases(function, context, manager, diag)
        encoded.append(machine_code(code, context, manager, diag))
        seconds[code.name] = stages.finished(OCG)
    return finished(Made(front, encoded, limit, manager, seconds, saver.data(front, limit) if saver is not None else b""))


def finished(made: Made) -> Made:
    """Settle what is known of all functions together only."""
    module = made.front.module
    if module.for_debugger and not module.relocatable:
        add_up(module.functions, made.encoded)
    return made


def _saver(options: CompileOptions) -> Saver | None:
    """What saves Code Objects, if that is asked for."""
    if options.records is None:
        return None
    from .saving import Saver

    return Saver(options)


def machine_code(
    code: Function, context: PassContext, manager: PhaseManager, diag: Diagnostics, behind: int = -1
) -> EncodedFunction:
    """Run the phases on a kernel and encode it with its functions, on which they have run already.

    ``behind``: as for :func:`run_phases`.

    Raises:
        InternalError: the code cannot be encoded; else as :func:`run_phases`.
    """
    run_phases(code, context, manager, diag, behind)
    code.functions += [_shared_code(code, number, context, manager, diag) for number in range(len(code.shared_code))]
    code.attributes.take_needs([function.attributes for function in code.functions])
    module = context.module
    try:
        return encode_function(code, context.target, module.separate and not module.independent, module.told_banks)
    except _TOLD:
        raise
    except Exception as error:
        raise _found(code, "encoding", error) from error


def _shared_code(code: Function, number: int, context: PassContext, manager: PhaseManager, diag: Diagnostics) -> Function:
    """Code that a kernel has once and calls, after all phases.

    Raises:
        InternalError: it changes more than ``shared`` of ``spec/macros.yaml`` says; else as :func:`run_phases`.
    """
    op = code.shared_code[number]
    made = subroutine(op, number, context.target)
    run_phases(made, context, manager, diag)
    _, registers, predicates, _ = SHARED[op]
    facts = made.attributes
    if facts.frame_size or facts.num_regs > registers or facts.num_preds > predicates or facts.num_uregs:
        raise InternalError(f"'{made.name}' changes more registers than its callers know of")
    return made


def run_phases(code: Function, context: PassContext, manager: PhaseManager, diag: Diagnostics, behind: int = -1) -> None:
    """Run the phases on a function, from the one behind ``behind`` on.

    Raises:
        CompileError: the function does not fit the target.
        MalformedCode: the verifier has found something.
        BrokenPromise: a phase is not as its row says; seen with the verifier.
        InternalError: whatever else goes wrong; the text names the phase and the lines of the PTX.
    """
    try:
        manager.run(code, context, behind)
        diag.check()
    except _TOLD:
        raise
    except Exception as error:
        raise _found(code, manager.running, error) from error


def _found(code: Function, phase: str, error: Exception) -> InternalError:
    """What has gone wrong in a phase, with the lines of the function."""
    lines = sorted(line_of(code.line[i]) for i in all_instructions(code)) or [0]
    return InternalError.found(phase, error, f"in '{code.name}', lines {max(lines[0], 1)} to {lines[-1]} of the PTX")


def _choose_entries(module: Module, options: CompileOptions) -> None:
    """Leave out the entries that are not asked for; the functions of an object stay."""
    for name in options.entries:
        if module.function(name) is None:
            raise ValueError(f"Unknown function {name}")
    if options.entries:
        kept = [code for code in module.functions if code.name in options.entries or not code.is_entry]
        module.functions[:] = kept
        module.function_names[:] = [code.name for code in kept]
        module.function_ids.clear()
        module.function_ids.update((code.name, number) for number, code in enumerate(kept))


def _set_bounds(code: Function, bounds: LaunchBounds) -> None:
    """Launch bounds of the command line for an entry."""
    facts = code.attributes
    if bounds.maxntid and (bounds.override or (facts.maxntid is None and facts.reqntid is None)):
        facts.maxntid, facts.reqntid = bounds.maxntid, None
    if bounds.minnctapersm > 0 and (bounds.override or not facts.minnctapersm):
        facts.minnctapersm = bounds.minnctapersm


def _check_bounds(code: Function, target: Target, diag: Diagnostics) -> None:
    """Launch bounds that no multiprocessor can keep do not count (limits and wording of ptxas 13.0.88)."""
    facts, name = code.attributes, code.name
    if facts.maxnreg > _NO_LIMIT:
        diag.warning(f"Too many maxnreg specified for entry {name}, will be ignored")
        facts.maxnreg = target.max_regs  # it stands in place of the command line's all the same (observed)
    elif 0 < facts.maxnreg < target.min_regs:
        change = f"register count of {facts.maxnreg} to lower bound of {target.min_regs}"
        diag.warning(f"For entry {name} adjusting per thread {change}")
        facts.maxnreg = target.min_regs
    sizes = facts.reqntid or facts.maxntid
    if sizes is None:
        return
    threads, most = math.prod(sizes), _WARP * target.warps_per_sm
    if facts.minnctapersm > target.blocks_per_sm:
        diag.warning(f"Value of minnctapersm for entry {name} is out of range. minnctapersm will be ignored")
        facts.minnctapersm = 0
    if threads > most:
        diag.warning(f"Value of threads per SM for entry {name} is out of range. .minnctapersm and .maxntid will be ignored")
        facts.minnctapersm, facts.maxntid = 0, None
    elif threads * facts.minnctapersm > most:
        diag.warning(f"Value of threads per SM for entry {name} is out of range. .minnctapersm will be ignored")
        facts.minnctapersm = 0


def _check_memory(module: Module, options: CompileOptions, diag: Diagnostics) -> None:
    """Static shared memory and constants fit the target (limits and wording of ptxas 13.0.88)."""
    for code in module.functions:
        used, most = code.attributes.static_shared, options.target.static_shared
        if used > most:
            diag.error(f"Entry function '{code.name}' uses too much shared data (0x{used:x} bytes, 0x{most:x} max)")
    constants = 0
    for symbol in module.symbols:
        if symbol.space == "const":
            constants = -(-constants // symbol.align) * symbol.align + symbol.size
    if constants > options.target.const_bank_bytes:
        limit = options.target.const_bank_bytes
        diag.error(f"File uses too much global constant data (0x{constants:x} bytes, 0x{limit:x} max)")


def _register_limit(options: CompileOptions, diag: Diagnostics) -> int | None:
    """The ceiling that the command line sets, in the range that ptxas 13.0.88 accepts (observed)."""
    limit = options.maxrregcount
    if limit is None:
        return None
    if not 0 <= limit <= _NO_LIMIT:
        diag.warning(f"Too big maxrregcount value specified {limit}, will be ignored")
        return _NO_LIMIT
    if limit < options.target.min_regs:
        least: int = options.target.min_regs
        diag.warning(f"For profile {options.arch} adjusting per thread register count of {limit} to lower bound of {least}")
        return least
    return limit


def _facts(
    code: Function, encoded: EncodedFunction, options: CompileOptions, diag: Diagnostics, times: tuple[float, float]
) -> KernelInfo:
    facts, prefix = code.attributes, f"${code.name}$"
    for f in (code, *code.functions):
        _warn_of_memory(f, f.name.removeprefix(prefix), options, diag)
    return KernelInfo(
        name=code.name,
        registers=encoded.num_regs,
        shared=facts.static_shared,
        stack=facts.frame_size,
        spills=(facts.spill_stores, facts.spill_loads),
        barriers=facts.num_barriers,
        params=tuple((p.offset, p.size) for p in facts.params),
        instructions=code.length(),
        constants=_constants(
            {BANK_KERNEL: facts.param_base(options.target) + facts.param_size, BANK_COMPILER: len(facts.constant2)}, options
        ),
        construct_seconds=times[0],
        generate_seconds=times[1],
        bounded=not facts.register_override and bool(facts.maxntid or facts.reqntid or facts.maxnreg),
        limit=facts.register_limit(options.target),
        limit_by="" if facts.register_override else facts.limit_by(),
        stated=facts.maxnreg if facts.register_override else 0,
        is_entry=code.is_entry,
        functions=tuple(_of_function(f, prefix) for f in code.functions if not f.subroutine),
    )


def _warn_of_memory(f: Function, name: str, options: CompileOptions, diag: Diagnostics) -> None:
    """Tell of local memory and of registers that wait there, what a function saves for its callers among them."""
    facts, watch = f.attributes, options.watch
    if watch.local and facts.frame_size:
        diag.warning(f"Local memory used for function '{name}', size of stack frame: {facts.frame_size} bytes")
    if watch.spills and facts.spill_stores + facts.spill_loads:
        amounts = f"{facts.spill_stores} bytes spill stores, {facts.spill_loads} bytes spill loads"
        diag.warning(f"Registers are spilled to local memory in function '{name}', {amounts}")


def _of_function(f: Function, prefix: str) -> tuple[str, int, tuple[int, int]]:
    """What is told of a function behind a kernel."""
    facts = f.attributes
    return f.name.removeprefix(prefix), facts.frame_size, (facts.spill_stores, facts.spill_loads)


def _constants(sizes: dict[int, int], options: CompileOptions) -> dict[int, int]:
    """Bytes of the constant banks in use, by bank; nothing for targets whose reports leave them out."""
    return {bank: size for bank, size in sizes.items() if size} if _REPORTED in options.target.features else {}


def _global_bytes(module: Module) -> int:
    return sum(s.size for s in module.symbols if s.space == "global" and s.binding != "extern")
