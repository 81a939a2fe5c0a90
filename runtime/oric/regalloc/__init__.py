"""Register allocation: which hardware register every virtual register gets."""

from .allocate import OutOfRegisters, allocate_registers

__all__ = ["OutOfRegisters", "allocate_registers"]
