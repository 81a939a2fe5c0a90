"""``python -m oric``."""

from .cli import entry

entry()
