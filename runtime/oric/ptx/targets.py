"""``.target``: the module's target and its options, and whether code for it can be made for the target asked for."""

from __future__ import annotations

from typing import Final

from oric_tables.ptx_index import TARGET_OPTIONS, TARGETS

from .lexer import Lexer, PtxError
from .state import State

_VIRTUAL: Final = "compute_"  # a virtual architecture: the target sm_NN with the same number


def read_target(lexer: Lexer, state: State, options: list[str]) -> None:
    """``sm_90, debug`` behind ``.target``; the last of several targets counts.

    Raises:
        PtxError: no such target or option, or not one that goes with the others, the version or the target asked for.
    """
    state.set_target(_target_name(lexer, state))
    while lexer.take(","):
        if lexer.value in TARGETS or lexer.value.startswith(_VIRTUAL):
            state.set_target(_target_name(lexer, state))
        else:
            _option(lexer, state, options)


def _target_name(lexer: Lexer, state: State) -> str:
    """A target that the module's version has; ``compute_90`` is sm_90."""
    at, written = lexer.at, lexer.identifier("a target such as sm_90")
    name = f"sm_{written.removeprefix(_VIRTUAL)}" if written.startswith(_VIRTUAL) else written
    if name not in TARGETS:
        raise PtxError(at, f"unknown target '{written}'", *_nearest(written))
    least, have = TARGETS[name][3], state.version
    if have < least:
        wanted = f"{written} needs PTX version {least // 10}.{least % 10} or later"
        raise PtxError(at, f"{wanted}, the module says {have // 10}.{have % 10}")
    _check_target(name, state.compile_target, at)
    return name


def _option(lexer: Lexer, state: State, options: list[str]) -> None:
    """A word beside the target."""
    at, name = lexer.at, lexer.identifier("a target option")
    if name not in TARGET_OPTIONS:
        raise PtxError(at, f"unknown target option '{name}'")
    ptx, below, excluded = TARGET_OPTIONS[name]
    state.gate(f"target option '{name}'", ptx, 0, (), at)
    if below and state.sm >= below:
        raise PtxError(at, f"target option '{name}' is for targets below sm_{below}, the module says {state.target}")
    for other in excluded:
        if other in options:
            raise PtxError(at, f"target options '{other}' and '{name}' exclude each other")
    if name == "debug":
        state.debug_at = at
    options.append(name)


def _check_target(name: str, wanted: str, at: int) -> None:
    """A module for the target ``name`` can be compiled for ``wanted`` ("" for none)."""
    if not wanted or wanted not in TARGETS:
        return
    number, suffix, family, _, code = TARGETS[name]
    have, _, have_family, _, _ = TARGETS[wanted]
    notes = () if code else (f"{name}: known, no code yet",)
    if number > have:
        raise PtxError(at, f"a module for {name} cannot be compiled for {wanted}, which is older", *notes)
    if suffix == "a" and wanted != name:
        raise PtxError(at, f"a module for {name} can be compiled for {name} only, not for {wanted}", *notes)
    if suffix == "f" and have_family != family:
        raise PtxError(at, f"a module for {name} can be compiled for its family only, not for {wanted}", *notes)


def _nearest(name: str) -> tuple[str, ...]:
    """A note with the known target whose name is most like ``name``, if any is."""
    from difflib import get_close_matches

    close = get_close_matches(name, TARGETS, 1, 0.7)
    return (f"did you mean '{close[0]}'?",) if close else ()
