"""Encoding: from a scheduled function on hardware registers to machine words."""

from .calls import add_up
from .encode import encode_function

__all__ = ["add_up", "encode_function"]
