"""Encoding: from a scheduled function on hardware registers to machine words."""

from .encode import encode_function

__all__ = ["encode_function"]
