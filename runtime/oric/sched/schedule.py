"""Instruction scheduling on hardware registers: the final order and the control bits of every instruction."""

from __future__ import annotations

from oric_tables._native import ffi, lib

from oric.ir import machine
from oric.ir.function import Function
from oric.ir.machine import NO_LIMIT
from oric.ir.passes import PassContext


def schedule_instructions(f: Function, ctx: PassContext) -> bool:
    """Order the instructions of every block (above -O0) and fill in stall counts, yield bits, barriers and wait masks.

    The expected cycles of one pass over the code, all stall counts added, are counted as ``stall_cycles``.

    Raises:
        InternalError: an instruction that the tables do not know, or a register without a number.
    """
    view = machine.on_registers(f, ctx.target.isa, ctx.target.uniform_regs)
    view.take_knobs()
    if ctx.opt_level >= 1:
        options = ffi.new("oric_list_options *", {"limit": [NO_LIMIT] * 5})
        if lib.oric_list_schedule(view.fn, options) < 0:
            raise MemoryError("no memory for scheduling")
    cycles = lib.oric_assign_control(view.fn)
    if cycles < 0:
        raise MemoryError("no memory for scheduling")
    view.link()
    ctx.count("stall_cycles", cycles)
    return True
