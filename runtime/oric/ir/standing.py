"""Whether the operations of a function are its target's, or macros whose expansion is still to come."""

from __future__ import annotations

from array import array
from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import op_tables, ops

from oric.support.diagnostics import InternalError

from .function import NONE, Function
from .lineinfo import line_of
from .optable import OPS
from .passes import PassContext
from .text import format_instruction


def _models() -> vec[i64]:
    numbers = array(op_tables.ISAS[0])
    numbers.frombytes(op_tables.ISAS[1])
    return vec[i64](numbers.tolist())


_MODELS: Final = _models()


def check_operations(f: Function, ctx: PassContext, expanded: i64) -> None:
    """Every operation is the target's, or a macro that a phase behind number ``expanded`` expands.

    Raises:
        InternalError: one is not; the text names the instruction and its line.
    """
    model: i64 = ctx.target.isa
    expansion, models = OPS.expansion, _MODELS
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            number = f.op[i]
            known = 0 < number < len(models)
            phase = expansion[number] if known else 0
            if not known or (phase <= expanded if phase else not models[number] >> model & 1):
                raise _stranger(f, ctx, i, known)
            i = f.next[i]
        b += 1


def _stranger(f: Function, ctx: PassContext, i: i64, known: bool) -> InternalError:
    """The error about an operation that the target does not have."""
    if not known:
        return InternalError(f"no operation has the number {f.op[i]:#x}, in line {line_of(f.line[i])} of the PTX")
    name = ops.op(f.op[i]).name
    return InternalError(
        f"{ctx.target.name} has no {name}: '{format_instruction(f, i)}' from line {line_of(f.line[i])} of the PTX"
    )
