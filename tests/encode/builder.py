"""Small functions in Ori, built by hand."""

from __future__ import annotations

from oric.ir import operand as opd
from oric.ir.code import R2, UR, CodeObject, Instruction, P, R
from oric.ir.module import Module
from oric.ir.passes import PassContext
from oric_tables import ops
from oric_tables.targets import TARGETS


def context(arch: str, opt_level: int = 3, **kwargs) -> PassContext:
    return PassContext(TARGETS[arch], Module(arch), opt_level, **kwargs)


class Code:
    """A CodeObject with a short way to append instructions."""

    def __init__(self, name: str = "kernel", arch: str = "sm_90") -> None:
        self.code = CodeObject(name, arch)
        self.block = self.code.new_block()
        self.line = 0

    def reg(self, kind: int = R, size: int = 1) -> int:
        return self.code.new_reg(kind, size)

    def op(self, name: str, *operands: int, guard: int = 0, **mods) -> Instruction:
        """``name`` as in ops (IADD3_X); operands are packed."""
        word = getattr(ops, name)
        number = ops.NUMBER[word]
        self.line += 1
        packed = ops.OPS[number].pack(**mods) if mods else 0
        return self.code.append(self.block, Instruction(word, list(operands), packed, guard, self.line))

    def start(self) -> int:
        """Begin a new block; returns its index."""
        self.block = self.code.new_block()
        return self.block.index


def saxpy(arch: str) -> CodeObject:
    """y[i] = a * x[i] + y[i] for i < n; parameters n, a, x, y."""
    target = TARGETS[arch]
    base = target.bank0_params
    c = Code("saxpy", arch)
    tid, ctaid, i, addr_x, addr_y, x, y, n = (c.reg(), c.reg(), c.reg(), c.reg(R2, 2), c.reg(R2, 2), c.reg(), c.reg(), c.reg())
    p, desc, four, result = c.reg(P), c.reg(UR, 2), c.reg(), c.reg()
    whole = lambda r, log2=0: opd.reg(r, 0, log2)  # noqa: E731
    c.op("ULDC", whole(desc, 1), opd.const_bank(0, target.bank0_desc), size="64")
    c.op("S2R", whole(tid), opd.special(0x21))
    c.op("S2R", whole(ctaid), opd.special(0x25))
    c.op("IMAD", whole(i), whole(ctaid), opd.const_bank(0, target.bank0_ntid), whole(tid))
    c.op("MOV", whole(n), opd.const_bank(0, base))
    c.op("ISETP", whole(p), whole(i), whole(n), cmp="GE")
    c.op("EXIT", guard=whole(p))
    second = c.code.new_block()
    c.code.add_edge(c.block, second)
    c.block = second
    c.op("MOV", whole(four), opd.small_imm(4))
    c.op("IMAD_WIDE", whole(addr_x, 1), whole(i), whole(four), opd.const_bank(0, base + 8))
    c.op("IMAD_WIDE", whole(addr_y, 1), whole(i), whole(four), opd.const_bank(0, base + 16))
    c.op("LDG", whole(x), whole(addr_x, 1), opd.small_imm(0), whole(desc, 1))
    c.op("LDG", whole(y), whole(addr_y, 1), opd.small_imm(0), whole(desc, 1))
    c.op("FFMA", whole(result), whole(x), opd.const_bank(0, base + 4), whole(y))
    c.op("STG", whole(addr_y, 1), opd.small_imm(0), whole(result), whole(desc, 1))
    c.op("EXIT")
    return c.code
