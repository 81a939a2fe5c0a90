"""Builds code objects from the text that ``oric.ir.dump`` prints, with shortcuts for tests.

Registers are declared by use; their ids are those of the text. ``bix1:`` begins a block. Edges are made from the code by
phase 3. Operands that are left out at the end stay out.
"""

from __future__ import annotations

import re

from oric.ir import operand as opd
from oric.ir.code import R2, R4, UP, UR, CodeObject, Instruction, P, R
from oric.ir.module import Module
from oric.ir.passes import PassContext
from oric.phases.control import analyze_control_flow
from oric_tables import ops
from oric_tables.targets import TARGETS

_REGISTER = re.compile(r"(UR|UP|R|P)(\d+)(?:\.(\d))?(?::(\d))?\Z")
_FILES = {"R": R, "UR": UR, "P": P, "UP": UP}
_INSTRUCTION = re.compile(r"(?:@(\S+) )?([A-Z][A-Z0-9_.]*)(?:\{([^}]*)\})?\s*(.*)\Z")


def context(arch: str = "sm_90", level: int = 3) -> PassContext:
    return PassContext(TARGETS[arch], Module(arch), level)


def parse(text: str, arch: str = "sm_90", edges: bool = True) -> CodeObject:
    code = CodeObject("test", arch)
    _declare(code, text)
    names = {op.name: op for op in ops.OPS if op is not None}
    block = None
    for number, raw in enumerate(text.splitlines(), 1):
        line, _, note = raw.partition("//")
        line = line.strip()
        if not line or line.startswith(("entry", "function")):
            continue
        if line.endswith(":"):
            block = code.new_block()
            assert line == f"bix{block.index}:", f"line {number}: blocks in order, please"
            continue
        if block is None:
            block = code.new_block()
        match = _INSTRUCTION.match(line)
        assert match, f"line {number}: {line}"
        guard, name, mods, rest = match.groups()
        op = names[name]
        values = {}
        for item in (mods or "").split():
            key, _, value = item.partition("=")
            values[key] = int(value, 0) if re.fullmatch(r"0x[0-9a-f]+", value) else value or True
        operands = [operand(code, t.strip()) for t in rest.split(",")] if rest else []
        node = Instruction(op.word, operands, op.pack(**values), operand(code, guard) if guard else 0, number)
        if note.strip().startswith("aux="):
            node.aux = int(note.strip()[4:], 0)
        code.append(block, node)
    if edges:
        analyze_control_flow(code, context(arch))
    return code


def _declare(code: CodeObject, text: str) -> None:
    sizes: dict[int, tuple[str, int]] = {}
    for letter, index, component, width in re.findall(r"\b(UR|UP|R|P)(\d+)(?:\.(\d))?(?::(\d))?\b", text):
        size = int(component or 0) + int(width or 1)
        size = 1 if size == 1 else 2 if size == 2 else 4
        known = sizes.get(int(index))
        assert known is None or known[0] == letter, f"register {index} is of two files"
        sizes[int(index)] = (letter, max(size, known[1] if known else 1))
    for index in range(max(sizes, default=-1) + 1):
        letter, size = sizes.get(index, ("R", 1))
        if index == opd.PT:
            code.regs.append(None)
            continue
        kind = {1: R, 2: R2, 4: R4}[size] if letter == "R" else _FILES[letter]
        assert code.new_reg(kind, size) == index


def operand(code: CodeObject, text: str) -> int:
    flags = 0
    while text[0] in "-!~|":
        if text[0] == "|":
            flags |= opd.ABSOLUTE
            text = text[1:-1]
        else:
            flags ^= opd.COMPLEMENT if text[0] == "~" else opd.NEGATE
            text = text[1:]
    match = _REGISTER.match(text)
    if match:
        _, index, component, width = match.groups()
        return flags ^ opd.reg(int(index), int(component or 0), {None: 0, "1": 0, "2": 1, "4": 2}[width])
    if text in ("RZ", "PT", "_"):
        return flags ^ {"RZ": opd.RZ_OPERAND, "PT": opd.PT_OPERAND, "_": opd.NO_OPERAND}[text]
    if text.startswith("c["):
        bank, offset = re.fullmatch(r"c\[(\w+)\]\[(\w+)\]", text).groups()  # type: ignore[union-attr]
        return flags ^ opd.const_bank(int(bank, 0), int(offset, 0))
    if text.startswith("bix"):
        return opd.label(int(text[3:]))
    for prefix in ("SR", "special", "bank", "B"):
        if text.startswith(prefix):
            return opd.special(int(text[len(prefix) :]))
    return flags ^ code.imm(int(text, 0))
