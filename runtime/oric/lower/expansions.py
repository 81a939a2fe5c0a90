"""The few instructions whose lowering is no template: what ``expand`` in the rules names.

Each function takes the emitter with its memory, the program, the guard operand (0 for none) and the PTX operand nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64

from oric.support import nodes

from .access import load, load_const, load_param, store, store_param
from .constants import divide_by_constant
from .control import barrier, branch, branch_table, call, leave, run_lines
from .emit import part
from .memory import Memory
from .moves import extend, move
from .program import D, Program


def shift_count(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A power of two as divisor becomes the amount of a shift."""
    amount = (nodes.INT, operands[2][1].bit_length() - 1)
    run_lines(b, program, guard, [*operands[:2], amount])


def low_mask(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A power of two as divisor becomes the mask of the bits below it."""
    run_lines(b, program, guard, [*operands[:2], (nodes.INT, operands[2][1] - 1)])


def narrow(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A result of 8 or 16 bits in a register of any size: the upper half of a wide one is filled."""
    dest = b.dest(operands[0])
    env = b.open(program)
    b.bind(program, env, operands)
    env.put(D, part(dest, 0))
    b.emit(program, env, guard)
    b.close()
    extend(b, dest, program.types[0][0] == "s", guard)


Expansion = Callable[[Memory, Program, int, list[Any]], None]

FUNCTIONS: Final[dict[str, Expansion]] = {
    "barrier": barrier,
    "branch": branch,
    "branch_table": branch_table,
    "call": call,
    "divide_by_constant": divide_by_constant,
    "leave": leave,
    "load": load,
    "load_const": load_const,
    "load_param": load_param,
    "low_mask": low_mask,
    "move": move,
    "narrow": narrow,
    "shift_count": shift_count,
    "store": store,
    "store_param": store_param,
}
