"""Ori as text.

A function is a heading, what is special about its registers and jump tables, and its blocks (docs/ori.md has the grammar)::

    entry saxpy sm_90 final_flow
        facts maxnreg=32
        reg R4:2 R9=R1
        table 0 offset=0x0 bix1 bix2
    bix0: start -> bix1 bix2  // from -
        @!P3 ISETP{cmp=GE sign=U32} P4, R1, 0x20, PT, PT [line=12]

``R7:2`` is a pair of registers, ``R7.1`` its second word, ``_`` an operand that was left out. :mod:`oric.ir.read` reads it.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops, registers
from oric_tables.registers import DISPLAY, UNDEFINED_REGISTER

from . import operand as opd
from .attributes import UNPLACED, FunctionAttributes
from .function import NONE, R2, R4, UP, UR, B, Function, P, R
from .lineinfo import LINE_BITS, line_of

SPECIAL_WORDS: Final = {"sreg": "SR", "breg": "B", "sb": "SB", "cbank": "bank"}  # by kind of slot; others: "special"
SPECIAL: Final = "special"
# Letters of register types; the types that letter and number of words give, and the names of the others.
LETTERS: Final = tuple("X" if letter == "?" else letter for letter in DISPLAY)
USUAL: Final = {"UR": UR, "P": P, "UP": UP, "B": B}
OF_SIZE: Final = {2: R2, 4: R4}  # types of general-purpose registers of several words; others: R
TYPES: Final = {
    name: getattr(registers, name)
    for name in ("R", "R_ALT", "UR", "UR_EXT", "P", "ACC", "UP", "EXTENDED", "B", "R2", "R4")
}  # fmt: skip
WORDS_OF_TYPE: Final = {kind: name for name, kind in TYPES.items()}
# Facts of a function that are numbers, names or sizes of blocks, with what they are when nobody says; the module has the others.
FACTS: Final = {
    name: value
    for name in FunctionAttributes.__slots__
    if isinstance(value := getattr(FunctionAttributes(), name), int | str | None)
}  # fmt: skip
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_SIGNS: Final = opd.NEGATE | opd.ABSOLUTE | opd.COMPLEMENT | opd.REUSE
_FIELDS: Final = {  # bits that the text of an operand shows, by type
    opd.REG: opd.INDEX | opd.FIRST | opd.SPAN,
    opd.IMM: opd.INDEX,
    opd.POOL: opd.INDEX,
    opd.LABEL: opd.INDEX,
    opd.SYMBOL: opd.INDEX | opd.AUX | opd.CONST_BANK,
    opd.SPECIAL: opd.INDEX,
    opd.NONE: 0,
}


def write(f: Function, *, exact: bool = False) -> str:
    """The whole function as text, ending in a newline.

    ``exact``: with what code does not show as well, PTX lines and registers that no operand names, so that reading the text
    gives the same function.
    """
    out = head_lines(f, exact=exact)
    for b, heading in enumerate(block_lines(f)):
        out.append(heading)
        out.extend("    " + format_instruction(f, i, exact=exact) for i in instructions_of(f, b))
    return "\n".join(out) + "\n"


def head_lines(f: Function, *, exact: bool = False) -> list[str]:
    """The lines of a function in front of its blocks; ``exact`` as for :func:`write`."""
    kind = "entry" if f.is_entry else "function"
    words = [word for word, holds in (("final_flow", f.final_flow), ("merged", f.merged), ("ssa", f.in_window)) if holds]
    words += [f"expanded={f.expanded}"] if f.expanded else []
    words += [f"registers={f.registers()}"] if exact else []
    out = [" ".join([kind, f.name, f.target, *words])]
    facts = [shown for name, usual in FACTS.items() if (shown := _fact(name, getattr(f.attributes, name), usual))]
    if facts:
        out.append("    facts " + " ".join(facts))
    used = _used(f)
    # A barrier register takes its name from the barrier of that number, so it is declared even when no operand names it.
    named = [r for r in range(f.registers()) if exact or r in used or f.reg_type[r] == B]
    declared = [shown for r in named if (shown := _declared(f, r, r in used))]
    if declared:
        out.append("    reg " + " ".join(declared))
    for number, table in enumerate(f.attributes.jump_tables):
        place = "" if table.offset == UNPLACED else f" offset={table.offset:#x}"
        out.append(f"    table {number}{place}" + "".join(f" bix{t}" for t in table.targets))
    out.extend(f"    double {offset:#x} {bits:#x}" for offset, bits in f.attributes.doubles.items())
    return out


def block_lines(f: Function) -> list[str]:
    """The line of every block in front of its instructions."""
    before = _predecessors(f)
    return [_heading(f, b, before[b]) for b in range(f.blocks())]


def write_with_notes(f: Function) -> str:
    """The exact text, and behind it what is odd about the code, as comments."""
    return write(f, exact=True) + "".join(f"// {message}\n" for message in undefined_registers(f))


def instructions_of(f: Function, b: int) -> list[int]:
    """The instructions of a block in order."""
    out = []
    i: int = f.head[b]
    while i != NONE:
        out.append(i)
        i = f.next[i]
    return out


def all_instructions(f: Function) -> list[int]:
    """The instructions of all blocks in order."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            found.append(int(i))
            i = f.next[i]
        b += 1
    return found


def operands_of(f: Function, i: int) -> list[int]:
    """The operands of an instruction as a list."""
    return [f.get(i, at) for at in range(f.count[i])]


# -- declarations ------------------------------------------------------------------------------------------------


def _fact(name: str, value: object, usual: object) -> str:
    if value == usual:
        return ""
    if isinstance(value, tuple):
        return f"{name}=" + ",".join(map(str, value))
    return f"{name}={int(value)}" if isinstance(value, int) else f"{name}={value}"


def _used(f: Function) -> set[int]:
    """The registers that operands name."""
    found: set[int] = set()
    for i in all_instructions(f):
        found.update(opd.index_of(o) for o in (*operands_of(f, i), f.guard[i]) if opd.is_register(o))
    return found


def usual_type(letter: str, size: int) -> int:
    """The type of a register of which nothing but letter and number of words is said; -1: there is none."""
    if letter == "R":
        return OF_SIZE.get(size, int(R))
    return USUAL.get(letter, -1)


def _declared(f: Function, r: int, used: bool) -> str:
    """What a reader would not guess of a register; "" for a plain one. ``used``: operands name it, and so its letter."""
    kind: int = f.reg_type[r]
    size: int = f.reg_size[r]
    if not size:
        return ""  # an id that no register has
    letter = LETTERS[kind]
    text = f"{letter}{r}" + (f":{size}" if size > 1 else "")
    facts = f"={letter}{f.physical[r]}" if f.physical[r] != NONE else ""
    facts += f"~{f.hint[r]}" if f.hint[r] != NONE else ""
    notes = [f"type={WORDS_OF_TYPE[kind]}"] if kind != usual_type(letter, size) else []
    notes += [f"parent={f.parent[r]}"] if f.parent[r] != NONE else []
    notes += [f"flags={f.reg_flags[r]:#x}"] if f.reg_flags[r] != registers.INITIAL_FLAGS[kind] else []
    facts += f"[{','.join(notes)}]" if notes else ""
    is_plain = letter == "R" or (used and letter != "B")
    return "" if is_plain and size == 1 and not facts else text + facts


def _predecessors(f: Function) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(f.blocks())]
    for b in range(f.blocks()):
        for at in range(f.succ_count[b]):
            to = f.successor(b, at)
            if 0 <= to < len(out):
                out[to].append(b)
    return out


def _heading(f: Function, b: int, before: list[int]) -> str:
    succs = " ".join(f"bix{f.successor(b, at)}" for at in range(f.succ_count[b])) or "-"
    preds = " ".join(f"bix{p}" for p in before) or "-"
    name = f" {f.labels[b]}" if f.labels[b] else ""
    flags = f" [flags={f.flags[b]:#x}]" if f.flags[b] else ""
    return f"bix{b}:{name}{flags} -> {succs}  // from {preds}"


# -- instructions and operands -----------------------------------------------------------------------------------


def format_instruction(f: Function, i: int, *, exact: bool = False) -> str:
    """One instruction; safe for malformed ones too. ``exact``: with its PTX line."""
    number: int = f.op[i]
    op = ops.OPS[number] if 0 <= number < len(ops.OPS) else None
    text = f"@{format_operand(f, f.guard[i])} " if f.guard[i] else ""
    text += op.name if op is not None else f"OP_{number}"
    if op is not None and f.mods[i]:
        text += "{" + " ".join(_modifiers(op, f.mods[i])) + "}"
    if f.count[i]:
        kinds = [o.kind for o in op.operands] if op is not None else []
        kinds += [""] * (f.count[i] - len(kinds))
        text += " " + ", ".join(format_operand(f, o, k) for o, k in zip(operands_of(f, i), kinds, strict=False))
    notes = [f"line={line_of(f.line[i])}"] if exact else []
    marks = (("mark", f.line[i] >> LINE_BITS if exact else 0), ("aux", f.aux[i]), ("control", f.control[i]))
    notes += [f"{name}={value:#x}" for name, value in marks if value]
    return text + (f" [{' '.join(notes)}]" if notes else "")


def _modifiers(op: ops.Op, mods: int) -> list[str]:
    """``name=value`` of the modifiers that are not at their default; ``name`` alone where the value is "true"."""
    out = []
    for name, mod in op.mods.items():
        code = mods >> mod.shift & mod.mask
        mods &= ~(mod.mask << mod.shift)
        if code:
            number = f"#{code}" if mod.values else f"{code:#x}"
            value = next((n for n, c in mod.values.items() if c == code), number)
            out.append(name if value == "true" else f"{name}={value}")
    return [*out, f"?={mods:#x}"] if mods else out


def format_operand(f: Function, operand: int, kind: str = "") -> str:
    """One operand; ``kind`` is that of its slot and tells what a special value means."""
    form = opd.type_of(operand)
    if form not in _FIELDS or operand & ~(_FIELDS[form] | opd.TYPE | _SIGNS):
        return f"?{operand:#x}"
    bare = text = _body(f, operand, kind)
    if operand & opd.ABSOLUTE:
        text = f"|{text}|"
    if operand & opd.COMPLEMENT:
        text = "~" + text
    if operand & opd.NEGATE:
        if text[0].isdigit():
            text = f"({text})"  # what is negated is the operand, not the number
        text = ("!" if bare.startswith(("P", "UP")) else "-") + text
    return text + ".reuse" if operand & opd.REUSE else text


def _body(f: Function, operand: int, kind: str) -> str:
    index, form = opd.index_of(operand), opd.type_of(operand)
    if form == opd.REG:
        return _register(f, operand, index)
    if form == opd.POOL and index >= len(f.immediates):
        return f"pool{index}"
    if form in (opd.IMM, opd.POOL):
        return f"{f.imm_value(operand) & _MASK64:#x}"
    if form == opd.LABEL:
        return f"bix{index}"
    if form == opd.SYMBOL:
        if operand & opd.CONST_BANK:
            return f"c[{opd.aux_of(operand):#x}][{index:#x}]"
        return f"sym{index}+{opd.aux_of(operand):#x}"
    if form == opd.SPECIAL:
        word = SPECIAL_WORDS.get(kind, SPECIAL)
        return f"{SPECIAL if word == 'B' and _is_barrier(f, index) else word}{index}"
    return "_"


def _is_barrier(f: Function, r: int) -> bool:
    """Whether there is a register of the barrier file with that id: its name is not free for a barrier by number."""
    return r < f.registers() and f.reg_size[r] > 0 and f.reg_type[r] == B


def _register(f: Function, operand: int, index: int) -> str:
    first, count = opd.first_of(operand), opd.count_of(operand)
    words = f".{first}" if first else ""
    if index in (opd.RZ, opd.PT):
        text = "RZ" if index == opd.RZ else "PT"
    elif index >= f.registers() or not f.reg_size[index]:
        text = f"?R{index}"
    else:
        text = f"{LETTERS[f.reg_type[index]]}{index}"
        if f.reg_size[index] > 1 and count == 1:
            words = f".{first}"
    return text + words + (f":{count}" if count > 1 else "")


def undefined_registers(f: Function) -> list[str]:
    """A message for every register that is read and that nothing writes, in order of first use.

    The register has its physical number once it has one. Source: Register Model, "Register Name Table".
    """
    written: set[int] = set()
    used: dict[int, None] = {}
    for i in all_instructions(f):
        op = ops.OPS[f.op[i]]
        slots = op.operands if op is not None else ()
        for place, operand in enumerate((*operands_of(f, i), f.guard[i])):
            if not opd.is_register(operand):
                continue
            index = opd.index_of(operand)
            if place < f.count[i] and place < len(slots) and slots[place].writes:
                written.add(index)
            else:
                used[index] = None
    return [
        UNDEFINED_REGISTER % (DISPLAY[f.reg_type[r]], f.physical[r] if f.physical[r] != NONE else r)
        for r in used
        if r not in written and r < f.registers() and f.reg_size[r]
    ]
