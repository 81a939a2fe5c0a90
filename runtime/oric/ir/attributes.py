"""What is known about a function besides its instructions: parameters, limits, memory, resources.

Source: PTX ISA, "Directives"; ``.nv.info`` records that these facts become.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oric_tables.cubin_layout import SHORT_PARAMETERS
from oric_tables.named import NamedTuple

from oric.support.record import Record

_DOUBLE: Final = 8  # bytes
_ENTRY: Final = 4  # bytes of a jump table's entry

if TYPE_CHECKING:
    from oric_tables.targets import Target

NO_PLACE: Final = 0xFFFF  # offset of a parameter that is no bytes
HEADER: Final = 4  # bytes
POINTEE_NONE: Final = 0  # a parameter without ``.ptr``; the others are numbered as in ``oric_tables.cubin_layout``


WMMA: Final = 256  # among the kinds of products: wmma
# What a function does with tensor memory: with that of its block, with those of a pair; it reads, writes or asks its units for
# something; it takes columns or gives them back.
TENSOR_OWN: Final = 1
TENSOR_PAIR: Final = 2
TENSOR_USED: Final = 4
TENSOR_COLUMNS: Final = 8


class Param(NamedTuple):
    """One kernel parameter; ``offset``, ``size`` and ``align`` in bytes, ``offset`` from the start of the area."""

    ordinal: int
    name: str
    offset: int
    size: int
    align: int
    pointee_space: int = POINTEE_NONE
    pointee_align: int = 0
    symbol: int = -1  # id of the texture, sampler or surface that it is


UNPLACED: Final = -1  # the offset of a jump table that is not in bank 2


class JumpTable(Record):
    """A table of 4-byte code offsets of blocks in bank 2, ``offset`` bytes from its start; ``targets`` are block indices.

    That of a SWITCH is ``UNPLACED`` until phase 80 makes a BRX of it.
    """

    __slots__ = ("offset", "targets")

    def __init__(self, offset: int, targets: list[int]) -> None:
        self.offset = offset
        self.targets = targets


class FunctionAttributes(Record):
    """Facts of one function for allocation, encoding and the cubin. Sizes in bytes; 0 = not given."""

    __slots__ = (
        "annotate",
        "binding",
        "blocksareclusters",
        "constant2",
        "doubles",
        "entry_registers",
        "errors_visible",
        "explicitcluster",
        "frame_size",
        "headers",
        "jump_tables",
        "local_align",
        "local_offsets",
        "local_size",
        "marks",
        "maxclusterrank",
        "maxnreg",
        "maxntid",
        "mbarriers",
        "minnctapersm",
        "noreturn",
        "nounroll",
        "num_barriers",
        "num_convergence_barriers",
        "num_preds",
        "num_regs",
        "num_uregs",
        "param_size",
        "params",
        "parts_for_good",
        "register_override",
        "reqnctapercluster",
        "reqntid",
        "reserved_read",
        "shared_align",
        "shared_offsets",
        "sparse_products",
        "spill_base",
        "spill_loads",
        "spill_stores",
        "stack_arguments",
        "static_shared",
        "tensor_memory",
        "uses_dynamic_shared",
        "uses_warp_sync",
    )

    def __init__(self) -> None:
        self.params: list[Param] = []
        self.param_size: int = 0
        self.headers: list[int] = []  # references whose headers stand behind the parameters: see oric.ir.images
        # launch limits
        self.maxntid: tuple[int, int, int] | None = None
        self.reqntid: tuple[int, int, int] | None = None
        self.minnctapersm: int = 0
        self.maxnreg: int = 0
        self.register_override: int = 0  # registers by the command line, which says that directives do not count
        self.entry_registers: int = 0  # with setmaxnreg: what a thread begins with; 0: nothing changes the number
        self.noreturn: bool = False
        self.nounroll: bool = False  # by .pragma: its loops stay loops
        self.binding: str = "global"  # of the function's symbol: global (.visible), weak, local
        self.reqnctapercluster: tuple[int, int, int] | None = None
        self.explicitcluster: bool = False
        self.maxclusterrank: int = 0
        self.blocksareclusters: bool = False
        # shared memory: module symbol id -> byte offset from the start of the user part
        self.shared_offsets: dict[int, int] = {}
        self.static_shared: int = 0
        self.shared_align: int = 1
        self.uses_dynamic_shared: bool = False
        self.reserved_read: list[str] = []  # the special registers by which it asks where the system's part lies, in their order
        self.tensor_memory: int = 0  # what it does with tensor memory: bits TENSOR_*
        self.sparse_products: int = 0  # as SPARSE_MMA_MASK has them; and WMMA
        # local memory
        self.local_offsets: dict[int, int] = {}  # module symbol id -> byte offset in the frame
        self.stack_arguments: dict[int, int] = {}  # ... of a variable that is an argument on the stack -> byte offset there
        self.local_align: int = 1  # of the variable that wants most
        self.local_size: int = 0
        self.frame_size: int = 0  # local_size plus spill area, set when it is final
        # other resources
        self.num_barriers: int = 0  # CTA barriers, highest used + 1
        self.num_convergence_barriers: int = 0
        self.parts_for_good: bool = False  # threads of a warp may part where no barrier brings them together again
        self.mbarriers: int = -1  # mbarriers that it makes, -1: nothing in it is on one
        self.uses_warp_sync: bool = False
        # bank 2: constants the compiler made
        self.constant2: bytearray = bytearray()
        self.doubles: dict[int, int] = {}  # of these the doubles that code reads: byte offset -> bits
        self.jump_tables: list[JumpTable] = []
        # what the container tells besides
        self.annotate: bool = False  # numbers of instructions and registers
        self.errors_visible: bool = False  # exits wait for the errors of memory accesses
        # result of allocation
        self.num_regs: int = 0
        self.num_uregs: int = 0
        self.num_preds: int = 0
        self.spill_base: int = 0  # operand: the register with the top of the stack, 0 when nothing is spilled
        self.spill_stores: int = 0  # bytes that the code stores, counted once an instruction
        self.spill_loads: int = 0
        self.marks: dict[int, int] = {}  # instruction of allocation's own making -> operand kind of what it moves

    def register_limit(self, target: Target, default: int = 0) -> int:
        """Registers a thread may have: from ``.maxnreg``, ``.maxntid``/``.reqntid`` and ``.minnctapersm``.

        ``default`` (``-maxrregcount``, 0 = none) counts only where no directive does. ``.minnctapersm`` is left out when
        that many blocks have more warps than an SM; without it a block's size does not count beside ``.maxnreg``.
        Source: MAXREG_COUNT in ptxas 13.0.88 output.
        """
        block = self.reqntid or self.maxntid
        most: int = target.max_regs
        if self.register_override:
            return min(max(self.register_override, int(target.min_regs)), most)
        wished = self.maxnreg if self.maxnreg <= most else 0
        if block is None and not wished:
            return min(max(default, target.min_regs), most) if default else most
        limit = max(wished, int(target.min_regs)) if wished else most
        if block is not None:
            warps = max(-(-block[0] * block[1] * block[2] // 32), 1)
            blocks = self.minnctapersm if warps * self.minnctapersm <= target.warps_per_sm else 0
            if blocks or not wished:
                warps = -(-warps * max(blocks, 1) // target.warp_unit) * target.warp_unit
                limit = min(limit, target.regs_per_sm // (32 * warps) // target.register_unit * target.register_unit)
        return limit

    def fixes_registers(self, default: int = 0) -> bool:
        """Whether it is known before a launch how many registers a thread begins with.

        ``default``: as for :meth:`register_limit`. Source: for which functions ptxas 13.0.88 keeps ``setmaxnreg``.
        """
        bounded = self.minnctapersm > 0 and (self.reqntid or self.maxntid) is not None
        return bool(self.register_override or self.maxnreg or bounded or default)

    def param_base(self, target: Target) -> int:
        """Byte offset of the first parameter in bank 0."""
        base: int = target.bank0_params if self.param_size <= SHORT_PARAMETERS else target.bank0_large_params
        return base

    def headers_start(self, target: Target) -> int:
        """Byte offset in bank 0 of the headers of references, behind the parameters."""
        align: int = target.header_align
        return self.param_base(target) + -(-self.param_size // align) * align

    def bank0_end(self, target: Target) -> int:
        """Byte offset of the end of what a kernel has in bank 0."""
        if self.headers:
            return self.headers_start(target) + HEADER * len(self.headers)
        return self.param_base(target) + self.param_size

    def limit_by(self) -> str:
        """What says how many registers a thread may have, beside the block's size alone; "" for nothing."""
        if self.minnctapersm and (self.reqntid or self.maxntid):
            return "thread count"
        return ".maxnreg" if self.maxnreg else ""

    def reserve_shared(self, symbol: int, size: int, align: int) -> int:
        """Give a shared variable its place on first use; returns its byte offset in the user part."""
        offset = self.shared_offsets.get(symbol)
        if offset is None:
            offset = -(-self.static_shared // align) * align
            self.shared_offsets[symbol] = offset
            self.static_shared = offset + size
            self.shared_align = max(self.shared_align, align)
        return offset

    def take_shared(self, others: FunctionAttributes) -> None:
        """Take over the places of all shared variables of others, in front of those of its own."""
        self.shared_offsets.update(others.shared_offsets)
        self.static_shared = max(self.static_shared, others.static_shared)
        self.shared_align = max(self.shared_align, others.shared_align)

    def read_reserved(self, names: list[str]) -> None:
        """Note special registers of the system's part of shared memory that it reads."""
        self.reserved_read += [name for name in names if name not in self.reserved_read]

    def take_needs(self, callees: list[FunctionAttributes]) -> None:
        """Need what the functions need that are called, too."""
        for other in callees:
            self.num_barriers = max(self.num_barriers, other.num_barriers)
            self.read_reserved(other.reserved_read)
            if other.mbarriers >= 0:
                self.mbarriers = max(self.mbarriers, 0) + other.mbarriers

    def reserve_local(self, symbol: int, size: int, align: int) -> int:
        """Give a local variable its place in the frame on first use; returns its byte offset."""
        offset = self.local_offsets.get(symbol)
        if offset is None:
            offset = -(-self.local_size // align) * align
            self.local_offsets[symbol] = offset
            self.local_size = offset + size
            self.local_align = max(self.local_align, align)
        return offset

    def place_local(self, symbol: int, size: int, align: int) -> int:
        """Where a local variable lies: its byte offset in the frame, or among the arguments on the stack."""
        found = self.stack_arguments.get(symbol)
        return self.reserve_local(symbol, size, align) if found is None else found

    def double_place(self) -> int:
        """Where the next double comes to in bank 2; a multiple of 8 bytes."""
        return (len(self.constant2) + _DOUBLE - 1) // _DOUBLE * _DOUBLE

    def double_end(self) -> int:
        """Behind the next double in bank 2."""
        return self.double_place() + _DOUBLE

    def add_double(self, bits: int, offset: int = -1) -> int:
        """Put a number of 64 bits into bank 2, behind all else if nothing says where; returns its byte offset."""
        if offset < 0:
            offset = self.double_place()
        self.doubles[offset] = bits
        self.constant2.extend(bytes(max(0, offset + _DOUBLE - len(self.constant2))))
        self.constant2[offset : offset + _DOUBLE] = bits.to_bytes(_DOUBLE, "little")
        return offset

    def add_jump_table(self, targets: list[int]) -> int:
        """A new jump table, which is not in bank 2 yet; returns its number."""
        self.jump_tables.append(JumpTable(UNPLACED, targets))
        return len(self.jump_tables) - 1

    def place_jump_table(self, number: int) -> int:
        """Reserve room for a jump table in bank 2; returns its byte offset. The encoder fills in the code offsets."""
        table = self.jump_tables[number]
        table.offset = (len(self.constant2) + _ENTRY - 1) // _ENTRY * _ENTRY
        end = table.offset + _ENTRY * len(table.targets)
        self.constant2.extend(bytes(end - len(self.constant2)))
        return table.offset
