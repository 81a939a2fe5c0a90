"""Python tables of the operations: their numbers (``op.py``), what passes ask (``op_tables.py``), everything (``ops.py``)."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from ..isa.model import EFFECTS, KINDS, SLOTS, Machine, Modifier, Operand, Operation, Registers
from ..render import header, template

INDIRECT = 1 << 24  # flag: a branch whose targets are in a jump table
MACRO_WORDS = 0x4000  # opcode words have 14 bits; those of macros lie above
_MARKS = {"-": 1, "|": 2, "~": 4}
_WEAK = ("WEAK", "CONSTANT")  # names of memory orders through which no other thread's writes show


def render(machine: Machine, words: dict[str, int], macros: Sequence[Operation]) -> dict[str, str]:
    """The texts of ``op.py``, ``op_tables.py`` and ``ops.py``; ``macros`` follow the machine's operations.

    Raises:
        SpecError: an operation that the tables have no room for.
    """
    sources = ["spec/encoding/*.yaml", "spec/opcodes.yaml", "spec/macros.yaml"]
    head = header("#", "oricgen.outputs.encoding", sources)
    together = [*machine.operations, *macros]
    operations = [_operation(o, words.get(o.of or o.name, MACRO_WORDS + o.number)) for o in together]
    columns = _columns(together, machine.isas)
    return {
        "oric_tables/op.py": template("op.py.j2", header=head, effects=EFFECTS, indirect=INDIRECT, operations=operations),
        "oric_tables/op_tables.py": template("op_tables.py.j2", header=head, slots=SLOTS, columns=columns),
        "oric_tables/ops.py": template("ops.py.j2", header=head, isas=machine.isas, operations=operations),
    }


def _columns(operations: Sequence[Operation], models: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """(name, element code of ``struct``, meaning, values in hexadecimal) of every column of ``op_tables.py``."""
    numbers = {o.name: o.number for o in operations}
    facts = [_facts(o, numbers, models) for o in operations]
    blank = [[0] * SLOTS if isinstance(fact, list) else 0 for fact in facts[0]]
    rows = [blank, *facts]
    columns = []
    for at, (name, code, doc) in enumerate(_COLUMNS):
        values = [row[at] for row in rows]
        flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
        columns.append((name, code, doc, struct.pack(f"<{len(flat)}{code}", *flat).hex()))
    return columns


_COLUMNS = (
    ("FLAGS", "i", "effects, sum of the E_ flags of oric_tables.op"),
    ("WRITES", "i", "mask of the operand positions that are written"),
    ("OPTIONAL", "i", "mask of the operand positions that may be left out"),
    ("SLOTS", "b", "number of operands"),
    ("LABEL", "b", "position of the branch target plus 1, 0 = none"),
    ("SREG", "b", "position of a special register number plus 1, 0 = none"),
    ("UNIFORM", "b", "1: the guard is a uniform predicate"),
    ("ORDER_SHIFT", "b", "where the memory order stands in the modifiers"),
    ("ORDER_MASK", "b", "the mask of its codes"),
    ("ORDER_STRONG", "q", "mask of the codes of memory orders that other threads' writes show through, 0 = no such modifier"),
    ("UNREAD", "h", "operation that does the same where nobody reads the results, 0 = none"),
    ("EXPANSION", "B", "index of the phase that expands a macro operation, 0 = it stays"),
    ("REPEATS", "b", "how many of the last operands may stand any number of times"),
    ("ISAS", "H", "mask of the encoding models that have the operation, in the order of oric_tables.ops.ISAS"),
    ("KIND", "b", "kind of each operand slot as in oric_insn"),
    ("SIGNS", "b", "signs that each operand slot may have: 1 negation, 2 absolute value, 4 complement"),
)


def _facts(o: Operation, numbers: Mapping[str, int], models: Sequence[str]) -> list[int | list[int]]:
    kinds = [operand.kind for operand in o.operands]
    flags = sum(1 << EFFECTS.index(e) for e in o.effects)
    if "branch" in o.effects and "label" not in kinds:
        flags |= INDIRECT
    order = next((m for m in o.mods if m.name == "order"), None)
    strong = 0 if order is None else sum(1 << code for name, code in order.codes.items() if not name.startswith(_WEAK))
    return [
        flags,
        sum(1 << i for i, operand in enumerate(o.operands) if operand.writes),
        sum(1 << i for i, operand in enumerate(o.operands) if operand.default is not None),
        len(kinds),
        kinds.index("label") + 1 if "label" in kinds else 0,
        kinds.index("sreg") + 1 if "sreg" in kinds else 0,
        int(o.guard == "UP"),
        order.shift if order is not None else 0,
        (1 << order.width) - 1 if order is not None else 0,
        strong,
        numbers[o.unread] if o.unread else 0,
        o.expansion,
        o.repeats,
        sum(1 << models.index(isa) for isa, forms in o.forms.items() if forms),
        [KINDS[k] for k in kinds] + [0] * (SLOTS - len(kinds)),
        [sum(bit for mark, bit in _MARKS.items() if mark in x.marks) for x in o.operands] + [0] * (SLOTS - len(kinds)),
    ]


def _operation(operation: Operation, word: int) -> dict[str, object]:
    effects = sum(1 << EFFECTS.index(e) for e in operation.effects)
    operands = ";".join(_operand(o, _width(operation, r)) for o, r in zip(operation.operands, operation.registers, strict=True))
    described = ";".join(_mod(m) for m in operation.mods)
    fields = [operation.number, word, operation.name, operation.guard, " ".join(operation.forms), effects, operands, described]
    return {"ident": operation.ident, "word": word, "number": operation.number, "row": "|".join(map(str, fields))}


def _operand(operand: Operand, width: str) -> str:
    default = operand.default
    left_out = f"{default.kind} {default.reg} {'!' if default.negated else '-'}" if default else ""
    return ",".join([operand.name, "w" if operand.writes else "r", width, operand.kind, left_out])


def _mod(mod: Modifier) -> str:
    codes = " ".join(f"{name}={code}" for name, code in sorted(mod.codes.items(), key=lambda i: i[1]))
    return ",".join([mod.name, mod.kind, str(mod.shift), str(mod.width), codes, mod.default_name])


def _width(operation: Operation, registers: Registers) -> str:
    """A number, or modifiers and the table over their packed values, two hexadecimal digits an entry."""
    if not registers.mods:
        return str(registers.table[0])
    return "*".join(operation.mods[i].name for i in registers.mods) + ":" + bytes(registers.table).hex()
