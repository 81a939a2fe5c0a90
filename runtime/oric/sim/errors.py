"""What can go wrong in the simulator, as exceptions that say where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables import numbers

if TYPE_CHECKING:
    from .reports import Report

Triple = tuple[int, int, int]


class SimError(Exception):
    """Base of everything that :mod:`oric.sim` raises; ``str()`` is one line."""


class LoadError(SimError):
    """The image is no cubin that the simulator can load."""


class LaunchError(SimError):
    """A launch that the device would refuse: unknown kernel, wrong parameters, too large a block, too much memory."""


class ExecutionError(SimError):
    """A thread did something that the device cannot do.

    Attributes:
        kernel: name of the kernel that was launched.
        block, thread: indices of the CTA in the grid and of the thread in it (x, y, z).
        function: name of the function with the instruction, "" outside of all code.
        offset: byte offset of the instruction in that function.
        instruction: its text.
        address: the data address, or the target of a wild branch; None where there is none.
        printed: what printf() had written.
        reports: what the modes of the launch had found before.
    """

    kind = "fault"

    def __init__(
        self,
        message: str,
        *,
        kernel: str = "",
        block: Triple = (0, 0, 0),
        thread: Triple = (0, 0, 0),
        function: str = "",
        offset: int = 0,
        instruction: str = "",
        address: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kernel = kernel
        self.block = block
        self.thread = thread
        self.function = function
        self.offset = offset
        self.instruction = instruction
        self.address = address
        self.printed = ""
        self.reports: tuple[Report, ...] = ()


class OutOfBounds(ExecutionError):
    """An access outside of every allocation, or a store to read-only memory."""

    kind = "out of bounds"


class Misaligned(ExecutionError):
    """An access at an address that is no multiple of its size."""

    kind = "misaligned address"


class IllegalInstruction(ExecutionError):
    """A word that is no instruction, or registers that the kernel has not or that are not aligned."""

    kind = "illegal instruction"


class Unsupported(ExecutionError):
    """An instruction, or a variant of one, without a meaning in the spec."""

    kind = "not supported"


class WildBranch(ExecutionError):
    """A jump out of the code, or code without an end; the place is that of the last instruction."""

    kind = "wild branch"


class StepLimit(ExecutionError):
    """More warp instructions than ``max_steps``."""

    kind = "step limit"


class Deadlock(ExecutionError):
    """Threads wait at barriers that will never be complete."""

    kind = "deadlock"


class Trap(ExecutionError):
    """The program stopped itself."""

    kind = "trap"


class OutOfMemory(ExecutionError):
    """The host has no memory left for the simulated device."""

    kind = "out of memory"


class BadFree(ExecutionError):
    """free() in device code of what malloc() has not given, or a second time."""

    kind = "bad free"


class AssertionFailed(ExecutionError):
    """assert() in device code.

    Attributes:
        assertion, file, line, asserting: the expression, its place in the source, and the function.
    """

    kind = "assertion failed"
    assertion = ""
    file = ""
    line = 0
    asserting = ""


class TimeLimit(ExecutionError):
    """A launch that takes longer than ``max_seconds``."""

    kind = "time limit"


BY_CODE: Final[dict[int, type[ExecutionError]]] = {
    numbers.FAULT_ILLEGAL: IllegalInstruction,
    numbers.FAULT_NO_MEANING: Unsupported,
    numbers.FAULT_OUT_OF_BOUNDS: OutOfBounds,
    numbers.FAULT_MISALIGNED: Misaligned,
    numbers.FAULT_READ_ONLY: OutOfBounds,
    numbers.FAULT_WILD_BRANCH: WildBranch,
    numbers.FAULT_STEP_LIMIT: StepLimit,
    numbers.FAULT_DEADLOCK: Deadlock,
    numbers.FAULT_TRAP: Trap,
    numbers.FAULT_NO_MEMORY: OutOfMemory,
    numbers.FAULT_BAD_FREE: BadFree,
    numbers.FAULT_ASSERT: AssertionFailed,
}
