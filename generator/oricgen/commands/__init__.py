"""One module per command of ``oricgen``.

A module has ``NAME`` (the word on the command line), ``HELP`` (one line), ``configure(parser)`` (adds its arguments) and
``run(args) -> int`` (the exit status; ``args.root`` is the project folder). It may raise
:class:`oricgen.errors.SpecError` or ``UsageError``, which become a message and exit status 2. What a command needs beyond
the standard library it imports in ``run``, so that ``--help`` stays quick.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import Protocol, cast


class Command(Protocol):
    """What a command module has."""

    NAME: str
    HELP: str

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    @staticmethod
    def run(args: argparse.Namespace) -> int:
        """Do it; returns the exit status."""


def all_commands() -> list[Command]:
    """The command modules, in order of their names on the command line."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    modules = [cast(Command, importlib.import_module(f"{__name__}.{name}")) for name in names]
    return sorted(modules, key=lambda m: m.NAME)
