"""Operands of instructions as the sources of a template that is put in their place."""

from __future__ import annotations

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.function import Function

from .emit import BANK, INTEGER, Env


def put_source(f: Function, env: Env, index: i64, operand: i64) -> None:
    """Put an operand into the environment of a template: constants and words of banks may find their way into its lines."""
    form = operand & opd.TYPE
    if form == opd.IS_IMM or form == opd.IS_POOL:
        put_number(env, index, f.imm_value(operand))
    elif operand == opd.RZ_OPERAND:
        put_number(env, index, 0)
    elif operand & opd.CONST_BANK and form == opd.IS_SYMBOL:
        env.kind[index] = BANK
        env.bits[index] = operand
    else:
        env.put(index, operand)


def put_number(env: Env, index: i64, number: i64) -> None:
    """Put a number into the environment of a template."""
    env.kind[index] = INTEGER
    env.bits[index] = number
