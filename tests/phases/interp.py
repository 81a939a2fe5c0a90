"""Runs Ori code of one thread: integers, logic, predicates, moves, shared memory. Written from the operations' meanings."""

from __future__ import annotations

from oric.ir import operand as opd
from oric.ir.code import CodeObject, Instruction
from oric_tables import ops

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF


class Thread:
    def __init__(self, code: CodeObject, constants: dict[tuple[int, int], int]) -> None:
        self.code = code
        self.constants = constants
        self.registers: dict[tuple[int, int], int] = {}
        self.stores: list[tuple[int, ...]] = []
        self.memory: dict[int, int] = {}

    def run(self, limit: int = 3000) -> list[tuple[int, ...]]:
        block = self.code.blocks[0]
        for _ in range(limit):
            following = block.index + 1
            for node in block:
                if node.guard and not self.value(node.guard):
                    continue
                if node.op == ops.EXIT:
                    return self.stores
                if node.op == ops.BRA:
                    following = node.operands[0] & opd.INDEX_MASK
                    break
                self.execute(node)
            block = self.code.blocks[following]
        return self.stores

    def value(self, operand: int, wide: bool = False) -> int:
        form, index = opd.type_of(operand), opd.index_of(operand)
        if form == opd.REG and index == opd.PT:
            return int(not operand & opd.NEGATE)
        if form == opd.REG:
            first = opd.component_of(operand)
            if index == opd.RZ:
                bits = 0
            elif wide:
                bits = self.read(index, first) | self.read(index, first + 1) << 32
            else:
                bits = self.read(index, first)
            reg = None if index == opd.RZ else self.code.regs[index]
            if reg is not None and reg.reg_type == 5:
                return bits ^ bool(operand & opd.NEGATE)
        elif form == opd.SYMBOL:
            bank = opd.aux_of(operand)
            bits = self.constants[bank, index] | (self.constants[bank, index + 4] << 32 if wide else 0)
        else:
            bits = self.code.imm_value(operand) & M32
        if operand & opd.COMPLEMENT:
            bits = ~bits
        return -bits if operand & opd.NEGATE else bits

    def read(self, index: int, component: int) -> int:
        return self.registers.get((index, component), 0xABCD0000 + index)

    def write(self, operand: int, value: int, wide: bool = False) -> None:
        index = opd.index_of(operand)
        if index not in (opd.RZ, opd.PT):
            first = opd.component_of(operand)
            self.registers[index, first] = value & M32
            if wide:
                self.registers[index, first + 1] = value >> 32 & M32

    def execute(self, node: Instruction) -> None:
        op = ops.op(node.op)
        mods = op.unpack(node.mods)
        o = node.operands

        def s(name: str, wide: bool = False, default: int = opd.PT_OPERAND) -> int:
            at = op.index(name)
            return self.value(o[at] if at < len(o) and o[at] != opd.NO_OPERAND else default, wide)

        def out(name: str, value: int) -> None:
            at = op.index(name)
            if at < len(o):
                self.write(o[at], value)

        match op.name:
            case "MOV":
                self.write(o[0], s("Rb"))
            case "IADD3" | "IADD3.X":
                parts = [s("Ra"), s("Rb"), s("Rc")]
                carry = s("Pp", default=opd.NOT_PT_OPERAND) + s("Pq", default=opd.NOT_PT_OPERAND) if op.name.endswith("X") else 0
                negatives = sum(1 for p, x in zip(parts, o[1:4], strict=True) if x & opd.NEGATE and not p & M32)
                total = sum(p & M32 for p in parts) + carry
                self.write(o[0], total)
                out("Pu", int(total + (negatives << 32) >> 32 > 0))
            case "IMAD":
                self.write(o[0], s("Ra") * s("Rb") + s("Rc"))
            case "IMAD.WIDE":
                a, b = s("Ra") & M32, s("Rb") & M32
                if mods["sign"] == "S32":
                    a, b = (x - (x >> 31 << 32) for x in (a, b))
                self.write(o[0], a * b + s("Rc", wide=True) & M64, wide=True)
            case "LOP3":
                lut = mods["lut"]
                assert isinstance(lut, int)
                a, b, c = (s(n) & M32 for n in ("Ra", "Rb", "Rc"))
                bits = 0
                for i in range(32):
                    bits |= (lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i
                self.write(o[0], bits)
            case "PLOP3":
                lut = mods["lut"]
                assert isinstance(lut, int)
                self.write(o[0], lut >> (s("Pp") << 2 | s("Pq") << 1 | s("Pr")) & 1)
            case "ISETP":
                a, b = s("Ra") & M32, s("Rb") & M32
                if mods["sign"] == "S32":
                    a, b = (x - (x >> 31 << 32) for x in (a, b))
                cmp = mods["cmp"]
                outcomes = {"F": False, "LT": a < b, "EQ": a == b, "LE": a <= b, "GT": a > b, "NE": a != b, "GE": a >= b}
                result = outcomes[str(cmp)]
                self.write(o[0], int(result and bool(s("Pp"))))
            case "SEL":
                self.write(o[0], s("Ra") if s("Pp") else s("Rb"))
            case "S2R":
                self.write(o[0], 100 + opd.index_of(o[1]))
            case "STS":
                address = s("Ra") + signed(s("off")) & M32
                self.memory[address] = s("Rb") & M32
                self.stores.append((address, s("Rb") & M32))
            case "LDS":
                self.write(o[0], self.memory.get(s("Ra") + signed(s("off")) & M32, 0x5EED))
            case "STG":
                address = s("Ra", wide=True) + signed(s("off")) & M64
                self.stores.append((address, s("Rb") & M32))
            case _:
                raise NotImplementedError(op.name)


def signed(value: int) -> int:
    value &= M32
    return value - (value >> 31 << 32)
