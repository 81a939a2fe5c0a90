"""The back end's C view of a function, shared by allocation, scheduling and encoding.

Allocation makes it from a flattened function; scheduling and encoding take it over from ``CodeObject.analyses`` under
:data:`KEY`. A phase that changes instructions in between has to call :func:`forget`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oric_tables import registers
from oric_tables._native import ffi, lib

from oric.support.diagnostics import InternalError

from . import cfg
from .code import CodeObject, Instruction
from .flatten import Image, flatten

KEY: Final = "machine"
# Register files in the order of ORIC_FILE_*, as the kernels number them.
FILES: Final[tuple[str, ...]] = registers.UNITS
NO_LIMIT: Final = 0x7FFFFFFF


_LOAD_ERRORS: Final = {
    lib.ORIC_LOAD_NO_FACTS: "there are no scheduling facts for",
    lib.ORIC_LOAD_NO_REGISTER: "an operand is no register of the machine in",
    lib.ORIC_LOAD_BAD_OPERATION: "there is no operation with the number of",
    lib.ORIC_LOAD_BAD_RESULT: "a result has no latency in",
}


class MachineFunction:
    """``image`` is the flattened function, ``fn`` the ``oric_fn *`` made from it, freed with this object."""

    __slots__ = ("code", "fn", "image", "physical")

    def __init__(self, code: CodeObject, image: Image, fn: Any, physical: bool) -> None:
        if fn == ffi.NULL:
            raise MemoryError("no memory for the back end")
        self.code = code
        self.image = image
        self.fn = ffi.gc(fn, lib.oric_fn_free)
        self.physical = physical
        if fn.error:
            raise InternalError(f"{_LOAD_ERRORS[fn.error]} {self.describe(fn.error_at)}")

    def describe(self, position: int) -> str:
        """Name of the operation at a position of the image, with its place in the PTX."""
        from oric_tables import ops

        node = self.image.order[position]
        number = ops.NUMBER.get(node.op)
        name = ops.OPS[number].name if number is not None else f"opcode {node.op:#x}"
        return f"{name} from line {node.line} of the PTX, in '{self.code.name}'"

    def reload(self) -> MachineFunction:
        """The same function on virtual registers, in the original order."""
        return MachineFunction(self.code, self.image, lib.oric_fn_load(self.image.c, 0), False)

    def on_registers(self) -> MachineFunction:
        """This order on the hardware registers that the image holds, without copies of a register to itself."""
        return MachineFunction(self.code, self.image, lib.oric_fn_on_registers(self.image.c, self.fn), True)

    def nodes(self) -> list[Instruction]:
        """The instructions in the order of the C view."""
        count = self.fn.insn_count
        positions = ffi.new("uint32_t[]", count + 1)
        lib.oric_fn_order(self.fn, positions)
        order = self.image.order
        return [order[i] for i in ffi.unpack(positions, count)]

    def write_back(self, controls: bool = False) -> None:
        """Relink the blocks of the code object in this order; what is not in it is unlinked. ``controls``: control bits too."""
        nodes = self.nodes()
        if controls:
            values = ffi.new("uint32_t[]", len(nodes) + 1)
            lib.oric_fn_controls(self.fn, values)
            for node, value in zip(nodes, ffi.unpack(values, len(nodes)), strict=True):
                node.control = value
        if self.fn.insn_count != len(self.image.order):
            for node in self.image.order:
                node.block = None
        firsts = ffi.unpack(self.fn.block_first, len(self.code.blocks) + 1)
        for block, first, end in zip(self.code.blocks, firsts, firsts[1:], strict=False):
            before: Instruction | None = None
            for node in nodes[first:end]:
                node.block = block
                node.prev = before
                if before is not None:
                    before.next = node
                before = node
            block.head = nodes[first] if end > first else None
            block.tail = before
            if before is not None:
                before.next = None


def load(code: CodeObject, isa: int, physical: bool = False) -> MachineFunction:
    """Flatten a function and read it into the back end.

    Raises:
        InternalError: an instruction that the tables do not know, or a register without a number.
    """
    code.analyses["loop_depth"] = _loop_depths(code)
    image = flatten(code, isa)
    del code.analyses["loop_depth"]
    return MachineFunction(code, image, lib.oric_fn_load(image.c, int(physical)), physical)


def forget(code: CodeObject) -> None:
    """Drop the view: the instructions have changed."""
    code.analyses.pop(KEY, None)


def on_registers(code: CodeObject, isa: int) -> MachineFunction:
    """The view of an allocated function: the one that allocation left, or a new one."""
    view = code.analyses.get(KEY)
    if isinstance(view, MachineFunction) and view.code is code and view.physical:
        return view
    return load(code, isa, physical=True)


def _loop_depths(code: CodeObject) -> Sequence[int]:
    if len(code.blocks) < 2:
        return [0] * len(code.blocks)
    return cfg.analyze(code).loops.depth
