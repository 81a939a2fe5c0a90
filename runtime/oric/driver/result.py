"""What a compilation gives."""

from __future__ import annotations

from oric.support.diagnostics import Diagnostics

from .timing import Stages


class KernelInfo:
    """Facts of one kernel: registers per thread, the rest in bytes; ``params`` holds (offset, size) of each.

    ``constants`` holds the bytes of the constant banks that its report shows, ``bounded`` whether it states launch bounds or a
    number of registers that count; ``limit_by`` what makes its own ceiling ``limit`` of registers, "" when nothing does, and
    ``stated`` the number that the command line overrides, 0 for none; its construction and what followed took the seconds given.
    ``functions``: those behind its code: name, bytes of the frame, bytes stored and loaded by spills. ``is_entry``: False for a
    function of an object.
    """

    __slots__ = ("barriers", "bounded", "constants", "construct_seconds", "functions",
                 "generate_seconds", "instructions", "is_entry", "limit", "limit_by",
                 "name", "params", "registers", "shared", "spills", "stack", "stated")  # fmt: skip

    def __init__(
        self, *, name: str, registers: int, shared: int, stack: int, spills: tuple[int, int], barriers: int,
        params: tuple[tuple[int, int], ...], instructions: int, constants: dict[int, int], construct_seconds: float,
        generate_seconds: float, bounded: bool, limit: int, limit_by: str, stated: int,
        functions: tuple[tuple[str, int, tuple[int, int]], ...] = (), is_entry: bool = True,
    ) -> None:  # fmt: skip
        self.is_entry = is_entry
        self.name = name
        self.functions = functions
        self.registers = registers
        self.shared = shared
        self.stack = stack
        self.spills = spills
        self.barriers = barriers
        self.params = params
        self.instructions = instructions
        self.constants = constants
        self.construct_seconds = construct_seconds
        self.generate_seconds = generate_seconds
        self.bounded = bounded
        self.limit = limit
        self.limit_by = limit_by
        self.stated = stated

    def __repr__(self) -> str:
        return f"<KernelInfo {self.name}: {self.instructions} instructions, {self.registers} registers>"


class Cubin:
    """A compiled module: ``image`` is the ELF file; ``kernels`` maps names to facts.

    ``warnings`` are texts; ``messages`` holds the same as objects, by input. ``constants``: bytes of the module's constant banks.
    ``records``: what was saved, b"" for nothing.
    """

    __slots__ = ("constants", "global_bytes", "image", "kernels", "messages", "phase_times", "records", "register_limit",
                 "stages", "warnings")  # fmt: skip

    def __init__(
        self, image: bytes, kernels: dict[str, KernelInfo], warnings: list[str], global_bytes: int,
        phase_times: list[tuple[int, str, float]], *, constants: dict[int, int], messages: list[Diagnostics], stages: Stages,
        register_limit: int | None, records: bytes = b"",
    ) -> None:  # fmt: skip
        self.records = records
        self.image = image
        self.kernels = kernels
        self.warnings = warnings
        self.global_bytes = global_bytes
        self.phase_times = phase_times
        self.constants = constants
        self.messages = messages
        self.stages = stages
        self.register_limit = register_limit

    def __repr__(self) -> str:
        return f"<Cubin of {len(self.image)} bytes: {', '.join(self.kernels) or 'no kernels'}>"
