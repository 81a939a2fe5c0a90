"""PTX: scanner, parser and checker; drives a Builder (:mod:`oric.ptx.builder`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parser import parse_module

if TYPE_CHECKING:
    from .format import format_text
    from .recorder import Module, parse

__all__ = ["Module", "format_text", "parse", "parse_module"]


def __getattr__(name: str) -> Any:
    """``parse``, ``Module`` and ``format_text`` are for tools: a compilation does not load them."""
    if name in ("Module", "parse"):
        from . import recorder

        return getattr(recorder, name)
    if name == "format_text":
        from .format import format_text

        return format_text
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
