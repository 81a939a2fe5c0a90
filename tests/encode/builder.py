"""Small functions in Ori, built by hand."""

from __future__ import annotations

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import R2, UR, Function, P, R
from oric_tables import op, ops
from oric_tables.targets import TARGETS

from tests.ir.functions import context

__all__ = ["Code", "context", "saxpy", "whole"]


def whole(reg: int, words: int = 1) -> int:
    """The first words of a register."""
    return int(opd.reg(reg, 0, words))


class Code:
    """A function with a short way to append instructions."""

    def __init__(self, name: str = "kernel", arch: str = "sm_90") -> None:
        self.f = Function(name, arch)
        self.cursor = Cursor(self.f)
        self.start()

    def reg(self, kind: int = R, size: int = 1) -> int:
        return int(self.f.new_reg(kind, size))

    def op(self, name: str, *operands: int, guard: int = 0, **mods) -> int:
        """``name`` as in oric_tables.op (IADD3_X); operands are packed."""
        number = getattr(op, name)
        self.cursor.line += 1
        made: int = self.cursor.make(number, ops.op(number).pack(**mods), guard)
        for operand in operands:
            self.cursor.put(operand)
        return made

    def start(self) -> int:
        """Begin a new block; returns its index."""
        self.block: int = self.cursor.new_block()
        self.cursor.at_end(self.block)
        return self.block

    def flow(self, *edges: tuple[int, int]) -> Function:
        """The function, with these edges."""
        self.cursor.begin_edges()
        for source, target in edges:
            self.cursor.edge(source, target)
        return self.f


def saxpy(arch: str) -> Function:
    """y[i] = a * x[i] + y[i] for i < n; parameters n, a, x, y."""
    target = TARGETS[arch]
    base = target.bank0_params
    c = Code("saxpy", arch)
    tid, ctaid, i, addr_x, addr_y, x, y, n = (c.reg(), c.reg(), c.reg(), c.reg(R2, 2), c.reg(R2, 2), c.reg(), c.reg(), c.reg())
    p, desc, four, result = c.reg(P), c.reg(UR, 2), c.reg(), c.reg()
    c.op("ULDC", whole(desc, 2), opd.const_bank(0, target.bank0_desc), size="64")
    c.op("S2R", whole(tid), opd.special(0x21))
    c.op("S2R", whole(ctaid), opd.special(0x25))
    c.op("IMAD", whole(i), whole(ctaid), opd.const_bank(0, target.bank0_ntid), whole(tid))
    c.op("MOV", whole(n), opd.const_bank(0, base))
    c.op("ISETP", whole(p), whole(i), whole(n), cmp="GE")
    c.op("EXIT", guard=whole(p))
    second = c.start()
    c.op("MOV", whole(four), opd.imm(4))
    c.op("IMAD_WIDE", whole(addr_x, 2), whole(i), whole(four), opd.const_bank(0, base + 8))
    c.op("IMAD_WIDE", whole(addr_y, 2), whole(i), whole(four), opd.const_bank(0, base + 16))
    c.op("LDG", whole(x), whole(addr_x, 2), opd.imm(0), whole(desc, 2))
    c.op("LDG", whole(y), whole(addr_y, 2), opd.imm(0), whole(desc, 2))
    c.op("FFMA", whole(result), whole(x), opd.const_bank(0, base + 4), whole(y))
    c.op("STG", whole(addr_y, 2), opd.imm(0), whole(result), whole(desc, 2))
    c.op("EXIT")
    return c.flow((0, second))
