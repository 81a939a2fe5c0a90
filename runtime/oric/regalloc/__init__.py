"""Register allocation: which hardware register every virtual register gets."""

from .allocate import OutOfRegisters, allocate_registers
from .convention import lower_calls

__all__ = ["OutOfRegisters", "allocate_registers", "lower_calls"]
