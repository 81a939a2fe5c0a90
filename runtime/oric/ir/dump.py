"""Ori as text, and control-flow graphs as Graphviz DOT.

One line per instruction: guard, operation, changed modifiers in braces, operands in Ori's order::

    @!P3 ISETP{cmp=GE sign=U32} P4, R1, 0x20, PT, PT

``R7:2`` is a pair of registers, ``R7.1`` its second component, ``_`` an operand that was left out. Source: Ori IR,
"Block Entry Layout" (DOT), "Key CFG Functions" (order and back edges).
"""

from __future__ import annotations

from oric_tables import ops
from oric_tables.registers import DISPLAY, UNDEFINED_REGISTER

from . import cfg
from . import operand as opd
from .code import Block, CodeObject, Instruction


def dump(code: CodeObject) -> str:
    """The whole function as text, ending in a newline."""
    kind = "entry" if code.is_entry else "function"
    lines = [f"{kind} {code.name} {code.target}"]
    for block in code.blocks:
        lines.append(_heading(block))
        lines.extend("    " + format_instruction(code, node) for node in block)
    return "\n".join(lines) + "\n"


def dump_with_notes(code: CodeObject) -> str:
    """The text, and behind it what is odd about the code, as comments."""
    return dump(code) + "".join(f"// {message}\n" for message in undefined_registers(code))


def undefined_registers(code: CodeObject) -> list[str]:
    """A message for every register that is read and that nothing writes, in order of first use.

    The register has its physical number once it has one. Source: Register Model, "Register Name Table".
    """
    written: set[int] = set()
    used: dict[int, None] = {}
    for node in code.instructions():
        number = ops.NUMBER.get(node.op)
        slots = ops.OPS[number].operands if number is not None else ()
        for place, operand in enumerate((*node.operands, node.guard)):
            if operand >> opd.TYPE_SHIFT & 7 != opd.REG:
                continue
            index = operand & opd.INDEX_MASK
            if place < len(node.operands) and place < len(slots) and slots[place].writes:
                written.add(index)
            else:
                used[index] = None
    missing = [code.regs[i] for i in used if i not in written and i < len(code.regs)]
    return [
        UNDEFINED_REGISTER % (DISPLAY[reg.reg_type], reg.physical_reg if reg.physical_reg >= 0 else reg.id)
        for reg in missing
        if reg is not None
    ]


def _heading(block: Block) -> str:
    preds = " ".join(f"bix{p}" for p in block.preds) or "-"
    succs = " ".join(f"bix{s}" for s in block.succs) or "-"
    name = f" {block.label}" if block.label else ""
    return f"bix{block.index}:{name}  // from {preds} to {succs}"


def format_instruction(code: CodeObject, node: Instruction) -> str:
    """One instruction; safe for malformed ones too."""
    number = ops.NUMBER.get(node.op)
    op = ops.OPS[number] if number is not None else None
    text = f"@{format_operand(code, node.guard)} " if node.guard else ""
    text += op.name if op is not None else f"OP_{node.op:#06x}"
    if op is not None and node.mods:
        shown = []
        for name, mod in op.mods.items():
            code_ = node.mods >> mod.shift & mod.mask
            if code_:
                value = next((n for n, c in mod.values.items() if c == code_), f"{code_:#x}")
                shown.append(name if value == "true" else f"{name}={value}")
        text += "{" + " ".join(shown) + "}"
    if node.operands:
        kinds = [o.kind for o in op.operands] if op is not None else []
        kinds += [""] * (len(node.operands) - len(kinds))
        text += " " + ", ".join(format_operand(code, o, k) for o, k in zip(node.operands, kinds, strict=False))
    if node.aux:
        text += f"  // aux={node.aux:#x}"
    return text


def format_operand(code: CodeObject, operand: int, kind: str = "") -> str:
    """One operand; ``kind`` is that of its slot and tells what a special value means."""
    form = operand >> opd.TYPE_SHIFT & 7
    text = _body(code, operand, form, kind)
    if operand & opd.ABSOLUTE:
        text = f"|{text}|"
    if operand & opd.COMPLEMENT:
        text = "~" + text
    if operand & opd.NEGATE:
        text = ("!" if text in ("PT", "UPT") or text.startswith(("P", "UP")) else "-") + text
    return text + ".reuse" if operand & opd.REUSE else text


def _body(code: CodeObject, operand: int, form: int, kind: str) -> str:
    index = operand & opd.INDEX_MASK
    if form == opd.REG:
        return _register(code, operand, index)
    if form in (opd.IMM, opd.POOL):
        if form == opd.POOL and index >= len(code.immediates):
            return f"pool{index}"
        return f"{code.imm_value(operand):#x}"
    if form == opd.LABEL:
        return f"bix{index}"
    if form == opd.SYMBOL:
        if operand & opd.CONST_BANK:
            return f"c[{opd.aux_of(operand):#x}][{index:#x}]"
        return f"sym{index}+{opd.aux_of(operand):#x}"
    if form == opd.SPECIAL:
        return {"sreg": "SR", "breg": "B", "sb": "SB", "cbank": "bank"}.get(kind, "special") + str(index)
    return "_" if form == opd.NONE else f"?{operand:#x}"


def _register(code: CodeObject, operand: int, index: int) -> str:
    if index == opd.RZ:
        return "RZ"
    if index == opd.PT:
        return "PT"
    reg = code.regs[index] if index < len(code.regs) else None
    if reg is None:
        return f"?R{index}"
    text = f"{DISPLAY[reg.reg_type]}{index}"
    component, width = operand >> opd.COMPONENT_SHIFT & 3, operand >> opd.WIDTH_SHIFT & 3
    if component or (reg.size > 1 and width == 0):
        text += f".{component}"
    if width:
        text += f":{reg.size if width == 3 else 1 << width}"
    return text


def dump_dot(code: CodeObject) -> str:
    """The control-flow graph in DOT; back edges of loops are commented as such."""
    graph = cfg.Cfg([block.succs for block in code.blocks])
    back = set(graph.loops.back_edges)
    lines = ["digraph f {", '    node [fontname="Courier" shape=box]']
    lines += [f"    bix{block.index}" for block in code.blocks if not block.succs and not block.preds]
    for block in code.blocks:
        for target in block.succs:
            note = "  // backedge (loop)" if (block.index, target) in back else ""
            lines.append(f"    bix{block.index} -> bix{target}{note}")
    return "\n".join([*lines, "}"]) + "\n"


def dump_order(code: CodeObject) -> str:
    """Reverse post-order numbers and back edges, in the form of the described system."""
    graph = cfg.Cfg([block.succs for block in code.blocks])
    lines = ["Showing RPO state for each basic block:"]
    lines += [f"bix{b} -> RPONum: {number}" for b, number in enumerate(graph.number)]
    lines.append("RPO traversal order: " + ", ".join(f"bix{b}" for b in graph.order))
    lines.append("Showing backedge info:")
    lines += [f"bix{source} -> backedge's successor BB: {target}" for source, target in graph.loops.back_edges]
    return "\n".join(lines) + "\n"
