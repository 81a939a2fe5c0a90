"""The cubin container: from encoded functions and module data to the bytes of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .extensible import ExtensibleWriter
from .locations import watch_registers
from .objects import ObjectWriter
from .separate import DebugWriter
from .writer import Writer

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.encoded import EncodedFunction
    from oric.ir.module import Module

__all__ = ["watch_registers", "write"]


def write(module: Module, encoded: list[EncodedFunction], target: Target, options: str = "", register_default: int = 0) -> bytes:
    """The cubin of ``module``: ``encoded`` holds its kernels in the order of the source; those of an object or for a
    debugger and its functions.

    ``options`` is the text of the command line for the note of the tool; ``register_default`` the limit that
    ``-maxrregcount`` sets (0 = none). The same arguments always give the same bytes. Places the module's constants
    and gives the globals their address slots where no code has asked for them.
    """
    kind: type[Writer] = ExtensibleWriter if module.linked else Writer
    if module.relocatable or module.for_debugger:
        kind = ObjectWriter if module.relocatable else DebugWriter
    return kind(module, target, register_default).image(encoded, options)
