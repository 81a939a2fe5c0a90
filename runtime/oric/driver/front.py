"""The front of a compilation: PTX texts to one module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oric_tables.cubin_layout import LAYOUTS, RESOLVED_RELA
from oric_tables.named import NamedTuple

from oric.encode.calls import is_recursive
from oric.ir.function import Function
from oric.ir.lineinfo import line_of
from oric.ir.module import BANK_ADDRESS, Module
from oric.ir.verify import verify
from oric.lower import Events, OriBuilder, is_intrinsic
from oric.phases.inline import Inliner
from oric.phases.outline import Outliner
from oric.ptx import parse_module
from oric.support.diagnostics import CompileError, Diagnostics, InternalError, NotSupported, diagnostics_for

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
    construction; ``inlining``: seconds of all."""

    module: Module
    parts: list[Diagnostics]
    places: dict[str, Diagnostics]
    seconds: dict[str, float]
    inlining: float


class WatchDouble:
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


class Definitions:
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


class _Watcher(Events):
    """Remembers where and how long each function was built; the functions of all inputs go into one module, in which a name
    stands for one thing.
    """

    def __init__(self, clock: Callable[[], float], watch: Watch) -> None:
        self.watch = watch
        self.clock = clock
        self.inlining = 0.0
        self.diag = diagnostics_for("", "")
        self.places: dict[str, Diagnostics] = {}
        self.seconds: dict[str, float] = {}
        self._begun = 0.0
        self._body_at = -1
        self._defined = Definitions()
        self._extern: list[Any] = []  # variables of the input at hand that are elsewhere
        self._placed: set[int] = set()  # functions of an object that are in the module
        self._bodies: set[str] = set()  # names of the functions and entries that have one

    def begin_input(self, diag: Diagnostics, builder: OriBuilder) -> None:
        """What follows comes from another text."""
        self.diag = diag
        builder.lines = diag.source.lines()
        builder.sources.begin_text(diag.source.text)
        if not builder.ir.filename:
            builder.ir.filename = diag.source.filename

    def begin_body(self, function: Any) -> None:
        """Remember where and when."""
        self._begun, self._body_at = self.clock(), function.loc
        self._bodies.add(function.name)

    def end_entry(self, f: Function) -> bool:
        """One entry of a name is enough."""
        if not self._defined.enter("function", f.name, self.diag, self._body_at):
            return False
        self.places[f.name] = self.diag
        self.seconds[f.name] = self.clock() - self._begun
        return True

    def variable(self, variable: Any) -> None:
        """One variable of a name that is seen from outside is enough."""
        if variable.linkage == "extern" and not (variable.space == "shared" and not variable.size):
            self._extern.append(variable)
        self._defined.enter("variable", variable.name, self.diag, variable.loc)

    def file_again(self, index: int, loc: int) -> None:
        """Inputs share the numbers of their files."""
        self.diag.error(f"Duplicate file index #{index}", loc)

    def double(self, loc: int) -> None:
        """Warn."""
        self.diag.warning("Program is doing double precision computations.", loc)

    def warn(self, text: str, loc: int) -> None:
        """Pass it on."""
        self.diag.warning(text, loc)

    def end_module(self, builder: OriBuilder) -> None:
        """All that is declared is defined, or else external; with other errors a definition may have been passed over."""
        functions = {n: f for n, f in builder.functions.items() if f.linkage != "extern" and not is_intrinsic(f.name)}
        declared = {f.name for n, f in functions.items() if n not in builder.aliases}
        if not builder.ir.relocatable:
            self._check_extern(builder.ir.linked)
        missing = [] if self.diag.error_count else sorted(declared - self._bodies)
        for name in missing:
            self.diag.error(f"Unresolved extern function '{name}'")
        self._bodies.update(missing)
        if not missing:
            start = self.clock()
            self._complete(builder)
            self.inlining += self.clock() - start

    def _check_extern(self, linked: bool) -> None:
        """Variables that are elsewhere are here when nothing is linked, if they have a size (wording of ptxas 13.0.88).

        ``linked``: those of shared memory alone, as a linker finds the others.
        """
        for variable in self._extern:
            if variable.size and linked and variable.space != "shared":
                continue
            if variable.size:
                text = f"Unresolved extern variable '{variable.name}' in whole program compilation, ignoring extern qualifier"
                self.diag.warning(text)
            else:
                self.diag.error(f"Unresolved extern variable '{variable.name}'", variable.loc)
        self._extern.clear()

    def _complete(self, builder: OriBuilder) -> None:
        """See to the calls of all entries, unless something is missing for them."""
        names = {handle: function.name for handle, function in builder.functions.items()}
        inliner = Inliner(builder.ir, builder.bodies, names, builder.broken)
        inliner.entries = [f for f, _ in builder.entries]
        outliner = Outliner(inliner, builder.shapes())
        if not self.diag.error_count and not builder.ir.relocatable:
            self._check_functions(builder, inliner)

        def settle(f: Function) -> None:
            inliner.inline(f)
            outliner.complete(f, builder.addressed())

        if not self.diag.error_count:
            builder.complete(settle)
            if builder.ir.linked and self.watch.stack:
                self._check_stacks(inliner.entries)
            if builder.ir.separate:
                self._complete_functions(builder, outliner)

    def _check_stacks(self, kernels: list[Function]) -> None:
        """Warn of kernels whose functions go as deep as they like (order and wording of ptxas 13.0.88)."""
        for f in reversed(kernels):
            if is_recursive(f):
                self.diag.warning(f"Stack size for entry function '{f.name}' cannot be statically determined")

    def _complete_functions(self, builder: OriBuilder, outliner: Outliner) -> None:
        """The functions that are code of their own, all of which others may call, or have the addresses of."""
        builder.note_prototypes()
        for handle in builder.bodies:
            if handle in self._placed:
                continue  # of an input before
            self._placed.add(handle)
            f = outliner.alone(handle)
            if not self._defined.enter("function", f.name, self.diag, builder.functions[handle].loc):
                continue
            f.attributes.binding = builder.binding(handle)
            builder.place_function(f)
            self.places[f.name] = self.diag
            self.seconds[f.name] = 0.0

    def _check_functions(self, builder: OriBuilder, inliner: Inliner) -> None:
        """What is called, or has an address, has a body; in the order in which code names them, then those in variables."""
        bare = {inliner.names[handle] for handle in builder.addressed() if handle not in builder.bodies} - self._bodies
        nowhere: set[str] = set()
        if not builder.ir.linked:
            calling = [f for f, _ in builder.entries if f.calls]
            nowhere = {name for f in calling for name in inliner.unresolved(f, builder.addressed())} - self._bodies
        named = {inliner.names[handle]: called for handle, called in builder.named.items() if handle in inliner.names}
        where = " in extensible whole program compilation." if builder.ir.linked else ""
        for name in [*(n for n in named if n in bare or n in nowhere), *sorted((bare | nowhere) - named.keys())]:
            if name in nowhere and (named.get(name) or name not in bare):
                self.diag.error(f"Unresolved extern function '{name}'")
            else:
                self.diag.error(f"Cannot take address of function '{name}'{where}")


def _tells_settled(target: Any) -> bool:
    """Whether files for a target have places for relocations that are settled."""
    return bool(LAYOUTS[str(target.elf["layout"])].ranks[RESOLVED_RELA] >= 0)


def build_inputs(inputs: Sequence[PtxInput], options: CompileOptions) -> Front:
    """Parse, check and lower.

    Raises:
        CompileError: there were errors.
        InternalError: whatever else goes wrong; the text names the line.
    """
    events = _Watcher(options.clock, options.watch)
    builder = OriBuilder(options.target, events=events, watch_double=options.watch.double)
    builder.demand(options.extras.added, options.extras.errors_visible)
    builder.ir.relocatable = options.extras.relocatable
    builder.ir.own_bank = options.extras.own_bank and not options.extras.relocatable
    builder.ir.linked = options.extras.relocatable or options.extras.extensible
    if builder.ir.relocatable and options.extras.independent:
        builder.ir.independent, builder.ir.told_banks = True, (BANK_ADDRESS,)
        builder.ir.pointer_base = LAYOUTS[str(options.target.elf["layout"])].pointer_base
    plain = not builder.ir.independent and not options.extras.extensible
    builder.ir.for_debugger = options.debug and options.opt_level == 0 and plain
    if options.extras.preserved and not builder.ir.separate and _tells_settled(options.target):
        builder.ir.preserved, builder.ir.told_banks = True, (BANK_ADDRESS,)
    builder.proof = verify if options.verify else None
    builder.demand_lines(options.line_info, options.debug)
    parts = []
    for text, filename in inputs:
        diag = diagnostics_for(text, filename)
        parts.append(diag)
        events.begin_input(diag, builder)
        try:
            parse_input(text, filename, builder, options.target, diag)
        except (CompileError, MemoryError):
            raise
        except Exception as error:
            raise InternalError.found("lowering", error, f"line {line_of(builder.line)} of the PTX") from error
    fail_if_any(parts)
    try:
        builder.place_all()
    except NotSupported as missing:
        parts[0].error(missing.message(options.arch))
    fail_if_any(parts)
    return Front(builder.ir, parts, events.places, events.seconds, events.inlining)


def fail_if_any(parts: Sequence[Diagnostics]) -> None:
    """End the compilation here when there were errors.

    Raises:
        CompileError: at least one error was reported.
    """
    if len(parts) == 1:
        parts[0].check()
    elif any(part.error_count for part in parts):
        raise InputErrors(parts)


def parse_input(text: str, filename: str, builder: Any, target: Any, diag: Diagnostics) -> None:
    """Parse one input; what ends it early is in its messages."""
    try:
        parse_module(text, filename, builder, target, diag)
    except CompileError:
        if not diag.error_count:
            raise
