"""Uniform registers that do not fit wait in general ones: ``MOV r, ur`` behind each write, ``R2UR ur', r`` in front of each read.

Uniform registers keep their values over whole stretches of code (``alloc/spans.h``), so what is named again last goes first.
Source: observed (R2UR and its counterpart); the documents know uniform registers only as a file of the allocator.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables._native import lib
from oric_tables.op import MOV, R2UR
from oric_tables.ori_operands import KIND_SPILL_REFILL

from oric.ir.function import Function, R
from oric.ir.machine import MachineFunction

from .homes import Spiller, choose


def choose_uniforms(f: Function, view: MachineFunction, limit: int) -> list[int]:
    """The uniform registers to be kept in general ones so that no more than ``limit`` words are in their file at any point.

    Those of earlier spills stay. ``view``: the function as it stands, in its own order.
    """
    return choose(f, view, lambda fn, stays, chosen: int(lib.oric_uniform_choose(fn, stays, limit, chosen)))


def spill_uniforms(f: Function, victims: list[int]) -> None:
    """Move uniform registers into general ones; no view of the function may be held."""
    _UniformSpiller(f, {n: [f.new_reg(R) for _ in range(f.reg_size[n])] for n in victims}).rewrite_all()


@final
class _UniformSpiller(Spiller):
    def load(self, short: i64, home: i64) -> None:
        self.f.attributes.marks[self.cursor.make2(R2UR, short, home)] = KIND_SPILL_REFILL

    def keep(self, short: i64, home: i64) -> None:
        self.f.attributes.marks[self.cursor.make2(MOV, home, short)] = KIND_SPILL_REFILL
