"""What is known about a function besides its instructions: parameters, limits, memory, resources.

Source: PTX ISA, "Directives"; ``.nv.info`` records that these facts become.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oric_tables.targets import Target

# Pointee address spaces of a ``.ptr`` parameter, as ``.nv.info`` numbers them.
POINTEE_NONE: Final = 0
POINTEE_GLOBAL: Final = 4


@dataclass(slots=True)
class Param:
    """One kernel parameter; ``offset``, ``size`` and ``align`` in bytes, ``offset`` from the start of the area."""

    ordinal: int
    name: str
    offset: int
    size: int
    align: int
    pointee_space: int = POINTEE_NONE
    pointee_align: int = 0


@dataclass(slots=True)
class JumpTable:
    """A table of 4-byte code offsets of blocks in bank 2, ``offset`` bytes from its start."""

    offset: int
    targets: list[int]  # block indices


@dataclass(slots=True)
class FunctionAttributes:
    """Facts of one function for allocation, encoding and the cubin. Sizes in bytes; 0 = not given."""

    params: list[Param] = field(default_factory=list)
    param_size: int = 0
    # launch limits
    maxntid: tuple[int, int, int] | None = None
    reqntid: tuple[int, int, int] | None = None
    minnctapersm: int = 0
    maxnreg: int = 0
    noreturn: bool = False
    binding: str = "global"  # of the function's symbol: global (.visible), weak, local
    reqnctapercluster: tuple[int, int, int] | None = None
    explicitcluster: bool = False
    maxclusterrank: int = 0
    blocksareclusters: bool = False
    # shared memory: module symbol id -> byte offset from the start of the user part
    shared_offsets: dict[int, int] = field(default_factory=dict)
    static_shared: int = 0
    shared_align: int = 1
    uses_dynamic_shared: bool = False
    # local memory
    local_offsets: dict[int, int] = field(default_factory=dict)  # module symbol id -> byte offset in the frame
    local_size: int = 0
    frame_size: int = 0  # local_size plus spill area, set when it is final
    # other resources
    num_barriers: int = 0  # CTA barriers, highest used + 1
    num_convergence_barriers: int = 0
    uses_warp_sync: bool = False
    # bank 2: constants the compiler made
    constant2: bytearray = field(default_factory=bytearray)
    jump_tables: list[JumpTable] = field(default_factory=list)
    # result of allocation
    num_regs: int = 0
    num_uregs: int = 0
    num_preds: int = 0
    spill_bytes: int = 0

    def register_limit(self, target: Target, default: int = 0) -> int:
        """Registers a thread may have: from ``.maxnreg``, ``.maxntid``/``.reqntid`` and ``.minnctapersm``.

        ``default`` (``-maxrregcount``, 0 = none) counts only where no directive does. ``.minnctapersm`` is left out when
        that many blocks have more warps than an SM. Source: MAXREG_COUNT in ptxas 13.0.88 output.
        """
        block = self.reqntid or self.maxntid
        most: int = target.max_regs
        wished = self.maxnreg if self.maxnreg <= most else 0
        if block is None and not wished:
            return min(max(default, target.min_regs), most) if default else most
        limit = max(wished, int(target.min_regs)) if wished else most
        if block is not None:
            warps = -(-block[0] * block[1] * block[2] // 32)
            if warps * self.minnctapersm <= target.warps_per_sm:
                warps *= max(self.minnctapersm, 1)
            warps = -(-max(warps, 1) // target.warp_unit) * target.warp_unit
            limit = min(limit, target.regs_per_sm // (32 * warps) // target.register_unit * target.register_unit)
        return limit

    def reserve_shared(self, symbol: int, size: int, align: int) -> int:
        """Give a shared variable its place on first use; returns its byte offset in the user part."""
        offset = self.shared_offsets.get(symbol)
        if offset is None:
            offset = -(-self.static_shared // align) * align
            self.shared_offsets[symbol] = offset
            self.static_shared = offset + size
            self.shared_align = max(self.shared_align, align)
        return offset

    def reserve_local(self, symbol: int, size: int, align: int) -> int:
        """Give a local variable its place in the frame on first use; returns its byte offset."""
        offset = self.local_offsets.get(symbol)
        if offset is None:
            offset = -(-self.local_size // align) * align
            self.local_offsets[symbol] = offset
            self.local_size = offset + size
        return offset

    def add_jump_table(self, targets: list[int]) -> int:
        """Reserve a jump table in bank 2; returns its byte offset. The encoder fills in the code offsets."""
        offset = len(self.constant2)
        self.constant2.extend(bytes(4 * len(targets)))
        self.jump_tables.append(JumpTable(offset, targets))
        return offset
