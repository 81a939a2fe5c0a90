"""Instruction scheduling: the final order and the control bits of every instruction."""

from .schedule import schedule_instructions

__all__ = ["schedule_instructions"]
