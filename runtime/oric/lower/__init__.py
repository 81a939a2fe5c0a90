"""PTX -> Ori: the rules of spec/lowering, run by the builder that the parser drives."""

from .builder import OriBuilder
from .events import Events

__all__ = ["Events", "OriBuilder"]
