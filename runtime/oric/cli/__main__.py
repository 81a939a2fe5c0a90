"""``python -m oric.cli``."""

from . import entry

entry()
