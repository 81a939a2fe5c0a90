"""What a compilation gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from oric.support.diagnostics import Diagnostics

from .timing import Stages


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """Facts of one kernel: registers per thread, the rest in bytes; ``params`` holds (offset, size) of each.

    ``constants`` holds the bytes of the constant banks that its report shows, ``bounded`` whether it states launch bounds or a
    number of registers; its construction and what followed took the seconds given.
    """

    name: str
    registers: int
    shared: int
    stack: int
    spills: int
    barriers: int
    params: tuple[tuple[int, int], ...]
    instructions: int
    constants: dict[int, int] = field(default_factory=dict)
    construct_seconds: float = 0.0
    generate_seconds: float = 0.0
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Cubin:
    """A compiled module: ``image`` is the ELF file; ``kernels`` maps names to facts.

    ``warnings`` are texts; ``messages`` holds the same as objects, by input. ``constants``: bytes of the module's constant banks.
    """

    image: bytes
    kernels: dict[str, KernelInfo]
    warnings: list[str] = field(default_factory=list)
    global_bytes: int = 0
    phase_times: list[tuple[int, str, float]] = field(default_factory=list)
    constants: dict[int, int] = field(default_factory=dict)
    messages: list[Diagnostics] = field(default_factory=list)
    stages: Stages = field(default_factory=Stages)
    register_limit: int | None = None
