"""What a dump is told besides the function, and what all records begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.text import LETTERS, all_instructions, format_instruction, operands_of

Record = dict[str, Any]


class Facts(NamedTuple):
    """Where in the pipeline a function is looked at.

    ``phase``: index of the phase that has run last, ``phase_name`` as messages name it; ``target``: the row of the target;
    ``stats``: what phases have counted so far (:meth:`oric.ir.passes.PassContext.count`).
    """

    target: Any
    phase: int
    phase_name: str
    stats: Mapping[str, int]


def head(kind: str, f: Function, facts: Facts) -> Record:
    """What the record of a dump begins with."""
    return {
        "dump": kind,
        "function": f.name,
        "target": facts.target.name,
        "phase": {"index": facts.phase, "name": facts.phase_name},
    }


def title(record: Record) -> str:
    """The first line of a dump in text: a comment, in DOT too."""
    phase = record["phase"]
    return f"// {record['function']} for {record['target']} after phase {phase['index']} {phase['name']}: {record['dump']}"


def text_of(f: Function, i: int) -> str:
    """An instruction as Ori text without marks and control bits."""
    return format_instruction(f, i).partition(" [")[0]


def used_registers(f: Function) -> list[int]:
    """The registers that operands and guards name, in order of their numbers."""
    found: set[int] = set()
    for i in all_instructions(f):
        for operand in (*operands_of(f, i), f.guard[i]):
            if opd.is_register(operand) and opd.index_of(operand) < f.registers() and f.reg_size[opd.index_of(operand)]:
                found.add(int(opd.index_of(operand)))
    return sorted(found)


def is_allocated(f: Function) -> bool:
    """Whether every register that the code names has a hardware register."""
    registers = used_registers(f)
    return bool(registers) and all(f.physical[r] != NONE for r in registers)


def register_name(f: Function, r: int) -> str:
    """A virtual register as Ori text names it."""
    return f"{LETTERS[f.reg_type[r]]}{r}" + (f":{f.reg_size[r]}" if f.reg_size[r] > 1 else "")
