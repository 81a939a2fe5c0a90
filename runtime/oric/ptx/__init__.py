"""PTX: scanner, parser and checker; drives a Builder (:mod:`oric.ptx.builder`)."""

from .parser import parse_module
from .recorder import Module, parse

__all__ = ["Module", "parse", "parse_module"]
