"""Targets by name, with the messages for names that no code can be made for."""

from __future__ import annotations

from typing import Final

from oric_tables.targets import KNOWN, MODELS, TARGETS, Target

_HAS_CODE: Final = "code can be made"
_NO_CODE: Final = "known, no code yet"


class TargetError(ValueError):
    """A target that code cannot be made for, or no target at all; the text says which and what there is."""


def find_target(name: str, option: str = "") -> Target:
    """The target that ``name`` means; ``option`` is the long name of the command-line option that it comes from.

    Raises:
        TargetError: code cannot be made for it yet, or there is no such target.
    """
    if name in TARGETS:
        return TARGETS[name]
    if name in KNOWN:
        raise TargetError(no_code(name))
    what = f"Value '{name}' is not defined for option '{option}'" if option else f"unknown target '{name}'"
    raise TargetError(f"{what} (code can be made for {', '.join(TARGETS)})")


def find_model(name: str, option: str = "") -> int:
    """Number of the encoding model of target ``name``: its machine code can be read, written and checked.

    Raises:
        TargetError: the encodings of the target are not in the tables, or there is no such target.
    """
    if name in MODELS:
        return int(MODELS[name])
    if name in KNOWN:
        raise TargetError(f"{name} is known but its machine code is not (that of {', '.join(MODELS)} is)")
    what = f"Value '{name}' is not defined for option '{option}'" if option else f"unknown target '{name}'"
    raise TargetError(f"{what} (machine code is known of {', '.join(MODELS)})")


def no_code(name: str) -> str:
    """What is said of a target, real or virtual, that is known and no more."""
    return f"{name}: {_NO_CODE} ({_HAS_CODE} for {', '.join(TARGETS)})"


def list_targets() -> list[tuple[str, str]]:
    """(name, what can be done for it) of every target that is known, in the order of the table."""
    return [(name, _HAS_CODE if name in TARGETS else _NO_CODE) for name in KNOWN]
