"""The front of a compilation: PTX texts to one module, or to nothing but a verdict."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from oric.ir.module import Module
from oric.lower import OriBuilder
from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, Diagnostics, diagnostics_for

from .options import CompileOptions, Watch

_DOUBLE = "f64"


class PtxInput(NamedTuple):
    """A PTX module as text, and its name in messages."""

    text: str
    filename: str


class InputErrors(CompileError):
    """Errors in some of several inputs: ``parts`` holds the messages of each input in turn."""

    def __init__(self, parts: Sequence[Diagnostics]) -> None:
        super().__init__(next(part for part in parts if part.error_count))
        self.args = ("\n".join(part.render() for part in parts if part.items),)
        self.parts = tuple(parts)


class Front(NamedTuple):
    """What the inputs became. ``places``: function -> the messages of the input that it stands in, ``seconds`` -> its
    construction."""

    module: Module
    parts: list[Diagnostics]
    places: dict[str, Diagnostics]
    seconds: dict[str, float]


class _WatchDouble:
    """Mixed into a builder: warns about every instruction with a type of double precision, once."""

    diag: Diagnostics

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._seen: set[int] = set()

    def instruction(self, variant: Any, guard: Any, operands: Any, loc: int) -> None:
        """Look at the types, then go on."""
        if _DOUBLE in variant.types and loc not in self._seen:
            self._seen.add(loc)
            self.diag.warning("Program is doing double precision computations.", loc)
        super().instruction(variant, guard, operands, loc)  # type: ignore[misc]


class _Definitions:
    """Where the names that all inputs share stand first."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], tuple[Diagnostics, int]] = {}

    def enter(self, what: str, name: str, diag: Diagnostics, loc: int) -> bool:
        """A definition of ``name``; False, and an error that tells both places, when another input has one."""
        first, at = self._places.setdefault((what, name), (diag, loc))
        if first is diag:
            return True
        place = f"{first.source.filename}:{first.source.line_of(at)}"
        diag.error(f"Duplicate definition of {what} '{name}'", loc, f"the first definition is in {place}")
        return False


class _Builder(OriBuilder):
    """Builds the functions of all inputs into one module, in which a name stands for one thing."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        self.diag = diagnostics_for("", "")
        self.places: dict[str, Diagnostics] = {}
        self.seconds: dict[str, float] = {}
        self._begun = 0.0
        self._body_at = -1
        self._defined = _Definitions()
        self._bodies: set[str] = set()  # names of the functions and entries that have one

    def begin_input(self, diag: Diagnostics) -> None:
        """What follows comes from another text."""
        self.diag = diag
        self.line_of = diag.source.line_of
        if not self.ir.filename:
            self.ir.filename = diag.source.filename

    def begin_body(self, symbol: int, function: Any) -> list[int]:
        """Remember where and when."""
        self._begun, self._body_at = time.perf_counter(), function.loc
        self._bodies.add(function.name)
        return super().begin_body(symbol, function)

    def end_body(self, loc: int) -> None:
        """One entry of a name is enough."""
        if self.recording is None:
            if not self._defined.enter("function", self.code.name, self.diag, self._body_at):
                return
            self.places[self.code.name] = self.diag
            super().end_body(loc)
            self.seconds[self.code.name] = time.perf_counter() - self._begun
        else:
            super().end_body(loc)

    def end_module(self) -> None:
        """All that is declared is defined, or else external; with other errors a definition may have been passed over."""
        declared = {f.name for f in self.inliner.functions.values() if f.linkage != "extern"}
        missing = [] if self.diag.error_count else sorted(declared - self._bodies)
        for name in missing:
            self.diag.error(f"Unresolved extern function '{name}'")
        self._bodies.update(missing)
        if not missing:
            super().end_module()

    def ir_symbol(self, variable: Any) -> int:
        """One variable of a name that is seen from outside is enough."""
        if variable.linkage and not variable.in_function:
            self._defined.enter("variable", variable.name, self.diag, variable.loc)
        return super().ir_symbol(variable)


class _WatchingBuilder(_WatchDouble, _Builder):
    """The same with warnings about double precision."""


class _Checker(Recorder):
    """Takes a module in and makes nothing of it."""

    def __init__(self, diag: Diagnostics, defined: _Definitions) -> None:
        super().__init__(diag.source)
        self.diag = diag
        self.defined = defined

    def begin_body(self, symbol: int, function: Any) -> Sequence[int]:
        """One entry of a name is enough."""
        if function.is_entry:
            self.defined.enter("function", function.name, self.diag, function.loc)
        return super().begin_body(symbol, function)

    def instruction(self, variant: Any, guard: Any, operands: Any, loc: int) -> None:
        """Nothing: what there is to check has been checked."""


class _WatchingChecker(_WatchDouble, _Checker):
    """The same with warnings about double precision."""


def build_inputs(inputs: Sequence[PtxInput], options: CompileOptions) -> Front:
    """Parse, check and lower.

    Raises:
        CompileError: there were errors.
    """
    builder = _WatchingBuilder(options.target) if options.watch.double else _Builder(options.target)
    parts = []
    for text, filename in inputs:
        diag = diagnostics_for(text, filename)
        parts.append(diag)
        builder.begin_input(diag)
        _parse(text, filename, builder, options.target, diag)
    fail_if_any(parts)
    return Front(builder.ir, parts, builder.places, builder.seconds)


def check_inputs(inputs: Sequence[PtxInput], arch: str, watch: Watch) -> list[Diagnostics]:
    """Parse and check for a target, by the name of any that there is, real or virtual; returns the messages of each input."""
    target = SimpleNamespace(name=arch.replace("compute_", "sm_").replace("lto_", "sm_"))
    parts = []
    defined = _Definitions()
    for text, filename in inputs:
        diag = diagnostics_for(text, filename)
        parts.append(diag)
        _parse(text, filename, (_WatchingChecker if watch.double else _Checker)(diag, defined), target, diag)
    return parts


def fail_if_any(parts: Sequence[Diagnostics]) -> None:
    """End the compilation here when there were errors.

    Raises:
        CompileError: at least one error was reported.
    """
    if len(parts) == 1:
        parts[0].check()
    elif any(part.error_count for part in parts):
        raise InputErrors(parts)


def _parse(text: str, filename: str, builder: Any, target: Any, diag: Diagnostics) -> None:
    try:
        parse_module(text, filename, builder, target, diag)
    except CompileError:
        if not diag.error_count:
            raise
