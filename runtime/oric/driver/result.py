"""What a compilation gives."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """Facts of one kernel: registers per thread, the rest in bytes; ``params`` holds (offset, size) of each."""

    name: str
    registers: int
    shared: int
    stack: int
    spills: int
    barriers: int
    params: tuple[tuple[int, int], ...]
    instructions: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """A compiled module: ``image`` is the ELF file; ``kernels`` maps names to facts."""

    image: bytes
    kernels: dict[str, KernelInfo]
    warnings: list[str] = field(default_factory=list)
    global_bytes: int = 0
    phase_times: list[tuple[int, str, float]] = field(default_factory=list)
