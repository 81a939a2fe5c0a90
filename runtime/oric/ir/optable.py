"""What passes ask about operations, indexed by opcode word, derived from the generated tables.

``FLAGS[word]`` is a sum of the flags below; ``INFO[word]`` has operand positions and the rest.
"""

from __future__ import annotations

from typing import Final

from oric_tables import operand_kinds, ops
from oric_tables.ops import BRA, BSSY, BSYNC, MOV, SEL, WARPSYNC, WARPSYNC_ALL, YIELD

from . import operand as opd
from .code import Instruction

__all__ = [
    "ATOMIC", "BARRIER", "BRA", "BRANCH", "BSSY", "BSYNC", "CONSTANT", "CONTROL", "CONVERGENCE", "EXIT", "FENCE", "FLAGS",
    "INDIRECT", "INFO", "LOAD", "MEMORY", "MOV", "PINNED", "SEL", "SHARED", "SPECIAL", "STORE", "WARP", "WARPSYNC",
    "WARPSYNC_ALL", "YIELD", "Info", "is_strong",
]  # fmt: skip

LOAD: Final = ops.E_LOAD
STORE: Final = ops.E_STORE
ATOMIC: Final = ops.E_ATOMIC
SHARED: Final = ops.E_SHARED
CONSTANT: Final = ops.E_CONSTANT
BRANCH: Final = ops.E_BRANCH
EXIT: Final = ops.E_EXIT
BARRIER: Final = ops.E_BARRIER
CONVERGENCE: Final = ops.E_CONVERGENCE
FENCE: Final = ops.E_FENCE
WARP: Final = ops.E_WARP
SPECIAL: Final = ops.E_SPECIAL
INDIRECT: Final = 1 << 24  # a branch whose targets are in a jump table
CONTROL: Final = BRANCH | EXIT | ops.E_RETURN
MEMORY: Final = LOAD | STORE | ATOMIC
# Never removed, whatever becomes of the results.
PINNED: Final = STORE | ATOMIC | CONTROL | BARRIER | CONVERGENCE | FENCE | ops.E_CALL | ops.E_SIDE_EFFECT

_WEAK_PREFIXES: Final = ("WEAK", "CONSTANT")


class Info:
    """Facts of one operation.

    ``writes``/``reads``: operand positions. ``labels``: positions of branch targets. ``special``: position of a special
    register number, -1 = none. ``strong``: (shift, mask, codes) of the memory orders that other threads' writes show
    through, None without such a modifier.
    """

    __slots__ = ("flags", "kinds", "labels", "name", "number", "reads", "special", "strong", "word", "writes")

    def __init__(self, op: ops.Op) -> None:
        self.name: str = op.name
        self.number: int = op.number
        self.word: int = op.word
        self.flags: int = op.effects
        self.kinds: tuple[str, ...] = tuple(o.kind for o in op.operands)
        self.writes: tuple[int, ...] = tuple(i for i, o in enumerate(op.operands) if o.writes)
        self.reads: tuple[int, ...] = tuple(i for i, o in enumerate(op.operands) if not o.writes)
        self.labels: tuple[int, ...] = tuple(i for i, o in enumerate(op.operands) if o.kind == "label")
        self.special: int = next((i for i, o in enumerate(op.operands) if o.kind == "sreg"), -1)
        if self.flags & BRANCH and not self.labels:
            self.flags |= INDIRECT
        order = op.mods.get("order")
        self.strong: tuple[int, int, frozenset[int]] | None = None
        if order is not None:
            codes = frozenset(code for name, code in order.values.items() if not name.startswith(_WEAK_PREFIXES))
            self.strong = (order.shift, order.mask, codes)

    def varies(self, node: Instruction) -> bool:
        """Whether an instruction of this operation gives the threads of a warp different values of its own accord."""
        if self.special >= 0:
            return node.operands[self.special] & opd.INDEX_MASK not in operand_kinds.UNIFORM_SPECIAL
        return bool(self.flags & (LOAD | ATOMIC | WARP)) and not self.flags & CONSTANT


INFO: Final[dict[int, Info]] = {op.word: Info(op) for op in ops.OPS if op is not None}
FLAGS: Final[dict[int, int]] = {word: info.flags for word, info in INFO.items()}


def is_strong(node: Instruction) -> bool:
    """Whether an instruction reads what other threads write: an atomic operation, or a strong load."""
    info = INFO[node.op]
    if info.flags & ATOMIC:
        return True
    if not info.flags & LOAD or info.strong is None:
        return False
    shift, mask, codes = info.strong
    return node.mods >> shift & mask in codes
