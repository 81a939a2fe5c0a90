"""Machine code as text and objects: ``decode`` and ``disassemble`` for code bytes; whole cubins in :mod:`.listing`.

The way back: :mod:`.assemble` for one instruction, :mod:`.asm_build` for a cubin.
"""

from __future__ import annotations

from .access import Use
from .instruction import Control, DecodeError, Instruction, Operand, decode, disassemble, encode

__all__ = ["Control", "DecodeError", "Instruction", "Operand", "Use", "decode", "disassemble", "encode"]
