"""PTX -> Ori: the rules of spec/lowering, run by the builder that the parser drives."""

from .builder import OriBuilder
from .events import Events
from .intrinsics import is_intrinsic

__all__ = ["Events", "OriBuilder", "is_intrinsic"]
