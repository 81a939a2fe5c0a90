"""The cubin container: from encoded functions and module data to the bytes of the file."""

from __future__ import annotations

from .writer import write

__all__ = ["write"]
