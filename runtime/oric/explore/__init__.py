"""The explorer: a page with the PTX, the Ori code behind every phase and the machine code of a module, tied line to line."""

from __future__ import annotations

from .model import Exploration, Request, explore
from .pack import pack, page, unpack

__all__ = ["Exploration", "Request", "explore", "pack", "page", "unpack"]
