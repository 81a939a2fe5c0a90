"""What ``--verbose``, ``--compiler-stats``, ``--stats`` and ``--time-phases`` print of a compilation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from oric.support.memory import peak_memory

from .messages import INFO, Messages

if TYPE_CHECKING:
    from oric.driver import Cubin, KernelInfo

PARSE: Final = "Parse"
_STAGES: Final = (PARSE, "CompileUnitSetup", "DAGgen", "OCG", "ELF", "DebugInfo")  # in ptxas's order
OCG: Final = "OCG"
_IN_UNIT: Final = ("DAGgen", OCG)
_REGISTERS: Final = 256  # of a thread, as ptxas counts them where nothing limits them
_GMEM: Final = "bytes gmem"


def print_verbose(messages: Messages, cubin: Cubin, arch: str, entries: tuple[str, ...]) -> None:
    """The resources of the module and of each kernel: the last one first; ``entries``: those asked for by name."""
    limit = cubin.register_limit
    order = entries or tuple(cubin.kernels)
    kernels = [cubin.kernels[name] for name in reversed(order) if name in cubin.kernels]
    for kernel in kernels if limit is not None else ():
        if kernel.is_entry and not kernel.bounded:
            stated = kernel.stated or _REGISTERS
            text = f"Overriding maximum register limit {stated} for '{kernel.name}' with  {limit} of maxrregcount option"
            messages.tell(INFO, text)
    for kernel in kernels if limit is not None else ():
        if kernel.bounded and kernel.limit_by and kernel.limit != limit:
            by = f"of {kernel.limit_by}" if kernel.limit_by.startswith(".") else f"computed using {kernel.limit_by}"
            messages.tell(INFO, f"Overriding global maxrregcount {limit} with entry-specific value {kernel.limit} {by}")
    messages.tell(INFO, ", ".join([f"{cubin.global_bytes} {_GMEM}", *_banks(cubin.constants)]))
    for kernel in kernels:
        if kernel.is_entry:
            messages.tell(INFO, f"Compiling entry function '{kernel.name}' for '{arch}'")
        messages.tell(INFO, _properties(kernel.name, kernel.stack, kernel.spills))
        if kernel.is_entry:
            messages.tell(INFO, _used(kernel))
        seconds = kernel.construct_seconds + kernel.generate_seconds
        messages.tell(INFO, f"Compile time = {seconds * 1e3:.3f} ms")
        for function in kernel.functions:
            messages.tell(INFO, _properties(*function))


def _properties(name: str, stack: int, spills: tuple[int, int]) -> str:
    moved = f"{spills[0]} bytes spill stores, {spills[1]} bytes spill loads"
    return f"Function properties for {name}\n    {stack} bytes stack frame, {moved}"


def _used(kernel: KernelInfo) -> str:
    parts = [f"Used {kernel.registers} registers", f"used {kernel.barriers} barriers"]
    if kernel.stack:
        parts.append(f"{kernel.stack} bytes cumulative stack size")
    if kernel.shared:
        parts.append(f"{kernel.shared} bytes smem")
    return ", ".join(parts + _banks(kernel.constants))


def _banks(sizes: dict[int, int]) -> list[str]:
    return [f"{size} bytes cmem[{bank}]" for bank, size in sorted(sizes.items())]


def compiler_stats(tool: str, cubin: Cubin, kinds: tuple[str, ...], reading: float) -> Iterator[str]:
    """The lines of ``--compiler-stats``; ``reading``: seconds that reading the input took."""
    head = f"{tool} {INFO:<8}: STAT: "
    split = "phase-wise" in kinds
    seconds = {PARSE: reading, **cubin.stages.seconds}
    total = sum(seconds.values())
    if "time" in kinds:
        yield f"{head}CompileTime = {total * 1e3:.6f} ms{' (100%)' if split else ''}"
        if split:
            yield from (_timer(f"{f'{stage}-time':<21}", seconds.get(stage, 0.0), total) for stage in _STAGES)
            yield ""
    if "memory" in kinds:
        yield f"{head}PeakMemoryUsage = {peak_memory():.3f} KB"
        if split:
            for stage in _STAGES:
                name = f"Peak{'Parser' if stage == PARSE else stage}MemoryUsage"
                yield f"{name:<31} : {cubin.stages.kilobytes.get(stage, 0.0):.3f} KB"
            yield ""
    if "detailed" in kinds and {"time", "memory"} & set(kinds):
        yield head
        for kernel in cubin.kernels.values():
            yield from _unit(kernel, kinds, split)


def _unit(kernel: KernelInfo, kinds: tuple[str, ...], split: bool) -> Iterator[str]:
    """A kernel among the detailed statistics; memory is that of the process, which is not told apart by kernel."""
    yield f"Compile-unit with entry {kernel.name}"
    if "time" in kinds:
        seconds = dict(zip(_IN_UNIT, (kernel.construct_seconds, kernel.generate_seconds), strict=True))
        yield f"\tTotal Compile-Unit time        = {sum(seconds.values()) * 1e3:.3f} ms"
        if split:
            yield from (f"\t\t{f'{stage}-time':<22} : {took * 1e3:.3f} ms" for stage, took in seconds.items())
            yield ""
    if "memory" in kinds:
        yield f"\tPeak Compile-Unit memory usage = {peak_memory():.3f} KB"
        if split:
            yield ""


def stage_lines(cubin: Cubin) -> Iterator[str]:
    """The two documented timers. DAGgen ends with the last operand of the last instruction, all else is OCG."""
    construct = cubin.stages.seconds["DAGgen"]
    total = sum(cubin.stages.seconds.values())
    yield _timer("DAGgen-time", construct, total)
    yield _timer("OCG-time", total - construct, total)


def _timer(name: str, seconds: float, total: float) -> str:
    return f"{name} : {seconds * 1e3:.3f} ms ({100 * seconds / total if total else 0.0:.2f}%)"


def phase_lines(cubin: Cubin) -> Iterator[str]:
    """How long all phases took, and below that every one."""
    yield f"{'':4} {OCG:40} {sum(seconds for *_, seconds in cubin.phase_times) * 1e3:10.3f} ms"
    for index, phase, seconds in cubin.phase_times:
        yield f"{index:4}     {phase:36} {seconds * 1e3:10.3f} ms"
