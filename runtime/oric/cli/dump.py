"""``oric dump``: what the compiler knows of a PTX module, as text, as JSON, or as it lies in memory.

A dump is a row of :data:`DUMPS`, of functions that are finished: its option, what it prints, and a function from a compiled
function to lines; or a kind of :mod:`oric.inside.kinds`, of functions behind any phase; or the times of the phases.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from . import ERROR_STATUS
from .arguments import Arguments, UsageError, parse, register_limit
from .compile import read_input

if TYPE_CHECKING:
    from oric.driver import CompileOptions
    from oric.driver.observing import Observer
    from oric.inside.facts import Facts
    from oric.ir.encoded import EncodedFunction
    from oric.ir.function import Function
    from oric.ir.image import Image

_OPTIONS: Final = frozenset({"gpu-name", "opt-level", "maxrregcount", "verify", "help"})  # of compiling, that count here too
_FUNCTION: Final = "--function"
_AFTER: Final = "--after"
_JSON: Final = "--json"
_SCHEMA: Final = "--schema"
_IMAGE: Final = "--image"
_TIMING: Final = "--timing"


class Dump(NamedTuple):
    """A kind of dump: ``lines`` makes the text of one function."""

    help: str
    lines: Callable[[Function, EncodedFunction, CompileOptions], Iterator[str]]


class Wanted(NamedTuple):
    """What is asked for: kinds of dumps, the function ("" for all), the phases (none: the last), the form."""

    kinds: list[str]
    function: str
    phases: tuple[str, ...]
    json: bool
    schema: bool


def main(argv: list[str]) -> int:
    """Dump as the command line says; returns the exit status (255 on errors, as the compiler's)."""
    try:
        wanted, rest = _wanted(argv)
        return _run(wanted, parse(rest))
    except (UsageError, OutputError, ValueError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    except CompileError as error:
        print(error, file=sys.stderr)
    return ERROR_STATUS


def all_kinds() -> dict[str, str]:
    """The options of all kinds with what they print."""
    from oric.inside.kinds import KINDS

    found = {name: kind.help for name, kind in DUMPS.items()} | {f"--{name}": kind.help for name, kind in KINDS.items()}
    return found | {_TIMING: "A record of 32 bytes for every run of a phase, below that of all phases on its function."}


def help_text() -> str:
    """What ``oric dump --help`` prints."""
    usage = (
        "Usage: oric dump <what>... [--function <name>] [-arch <target>] [-O<level>] [-maxrregcount <n>] [--verify] <ptx file>"
    )
    lines = [
        usage,
        "       oric dump <what>... [--after <phase>,...] [--json] [-o <file>] [options] <ptx file>",
        f"       oric dump {_IMAGE} [--function <name>] -o <file> [options] <ptx file>",
        f"       oric dump <what> {_SCHEMA}",
        "",
        f"  {_AFTER} <phase>,...\n        Look at functions behind these phases (names or numbers, all); else when all have run.",
        f"  {_JSON}\n        Print records: an array of JSON objects.",
        f"  {_SCHEMA}\n        Print the JSON schema of the records.",
        "  -o <file>\n        Write everything there, and nothing else anywhere.",
        "",
        "What:",
    ]
    return "\n".join(lines + [f"  {name}\n        {text}" for name, text in all_kinds().items()])


def _wanted(argv: list[str]) -> tuple[Wanted, list[str]]:
    """What is asked for, and the words that are left for the compiler's options.

    Raises:
        UsageError: an option without its value.
    """
    known = all_kinds()
    values = {_FUNCTION: "", _AFTER: ""}
    kinds: list[str] = []
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word in known or word in (_JSON, _SCHEMA):
            kinds.append(word)
        elif name in values:
            given = value if equals else next(words, None)
            if not given:
                what = "the name of a function" if name == _FUNCTION else "the name or number of a phase"
                raise UsageError(f"'{name}' needs {what}")
            values[name] = given
        else:
            rest.append(word)
    chosen = [kind for kind in dict.fromkeys(kinds) if kind in known]
    phases = tuple(values[_AFTER].split(",")) if values[_AFTER] else ()
    return Wanted(chosen, values[_FUNCTION], phases, _JSON in kinds, _SCHEMA in kinds), rest


def _run(wanted: Wanted, args: Arguments) -> int:
    if args.has("help"):
        print(help_text())
        return 0
    file = args.values.get("output-file", "")
    kinds = wanted.kinds
    for name in args.values:
        if name not in _OPTIONS and not (name == "output-file" and _may_be_written(kinds)):
            raise UsageError(f"option '--{name}' means nothing to 'oric dump{' ' if kinds else ''}{' '.join(kinds)}'")
    if not kinds:
        raise UsageError(f"'oric dump' needs one of {', '.join(all_kinds())}")
    _check_forms(wanted)
    if wanted.schema:
        return _print_schema(kinds)
    if len(args.inputs) != 1:
        raise UsageError(f"exactly one input file is expected, {len(args.inputs)} given")
    if kinds == [_IMAGE] and file:
        return _write_image(wanted, args, file)
    text = _text(wanted, args)
    if file:
        write_atomically(Path(file), text.encode())
    else:
        sys.stdout.write(text)
    return 0


def _may_be_written(kinds: list[str]) -> bool:
    """Whether ``-o`` takes these kinds: the image alone, as bytes, or text of those that may be asked for behind a phase."""
    return kinds == [_IMAGE] or (bool(kinds) and not any(kind in DUMPS for kind in kinds))


def _check_forms(wanted: Wanted) -> None:
    """Raises UsageError where a form does not fit a kind."""
    forms = [name for name, given in ((_AFTER, wanted.phases), (_JSON, wanted.json), (_SCHEMA, wanted.schema)) if given]
    for kind in wanted.kinds:
        if kind in DUMPS and forms:
            raise UsageError(f"option '{forms[0]}' means nothing to 'oric dump {kind}'")
    if _TIMING in wanted.kinds and wanted.phases:
        raise UsageError(f"option '{_AFTER}' means nothing to 'oric dump {_TIMING}': it tells of all phases")


def _print_schema(kinds: list[str]) -> int:
    from oric.inside.kinds import schema_of

    for kind in kinds:
        print(json.dumps(schema_of(kind.removeprefix("--")), indent=2))
    return 0


def _options_of(args: Arguments, observer: Observer | None, timed: bool) -> CompileOptions:
    from oric.driver import CompileOptions

    return CompileOptions(
        args.get("gpu-name"), args.integer("opt-level"), maxrregcount=register_limit(args), verify=args.has("verify"),
        observer=observer, time_phases=timed,
    )  # fmt: skip


def _write_image(wanted: Wanted, args: Arguments, file: str) -> int:
    from oric.driver import compile_functions

    options = _options_of(args, None, timed=False)
    functions = compile_functions(read_input(args.inputs[0]), options, args.inputs[0])
    chosen = _chosen(functions, wanted.function)
    if len(chosen) != 1:
        raise UsageError(f"'-o' takes the image of one function: {_FUNCTION} with one of {_names(functions)}")
    write_atomically(Path(file), _image(chosen[0][0], options).data())
    return 0


def _names(functions: list[tuple[Function, EncodedFunction]]) -> str:
    return ", ".join(f.name for f, _ in functions)


def _chosen(functions: list[tuple[Function, EncodedFunction]], wanted: str) -> list[tuple[Function, EncodedFunction]]:
    """The functions that are asked for.

    Raises:
        UsageError: there is none of that name.
    """
    found = [(f, encoded) for f, encoded in functions if wanted in ("", f.name)]
    if not found:
        raise UsageError(f"there is no function '{wanted}' (there is {_names(functions)})")
    return found


def _text(wanted: Wanted, args: Arguments) -> str:
    """Everything that is asked for: kinds in their order, records of a kind in the order of phases and functions."""
    from oric.driver import compile_functions
    from oric.inside.kinds import KINDS

    looking = _Looking(wanted, [kind.removeprefix("--") for kind in wanted.kinds if kind.removeprefix("--") in KINDS])
    text = read_input(args.inputs[0])
    functions = []
    if wanted.kinds != [_TIMING]:
        options = _options_of(args, looking.observer() if looking.kinds else None, timed=False)
        functions = compile_functions(text, options, args.inputs[0])
    if _TIMING in wanted.kinds:  # by itself: making records takes time
        options = _options_of(args, looking.timer(), timed=True)
        functions = compile_functions(text, options, args.inputs[0])
        looking.records[_TIMING] = [looking.timing(options.target.name)]
    looking.check()
    if wanted.function not in looking.seen:
        _chosen(functions, wanted.function)
    records = looking.records
    if wanted.json:
        return json.dumps([record for kind in wanted.kinds for record in records[kind]], indent=1) + "\n"
    lines: list[str] = []
    for kind in wanted.kinds:
        if kind in DUMPS:
            chosen = _chosen(functions, wanted.function)
            lines += [line for f, encoded in chosen for line in DUMPS[kind].lines(f, encoded, options)]
        else:
            lines += [line for record in records[kind] for line in _lines_of(kind, record)]
    return "".join(f"{line}\n" for line in lines)


def _lines_of(kind: str, record: dict[str, Any]) -> Iterator[str]:
    from oric.inside.kinds import KINDS
    from oric.inside.timing import timing_lines

    yield from (timing_lines if kind == _TIMING else KINDS[kind.removeprefix("--")].lines)(record)
    yield ""


class _Looking:
    """Makes records of functions while they are compiled: ``records`` by option of the kind; ``seen``: names of functions."""

    def __init__(self, wanted: Wanted, kinds: list[str]) -> None:
        self.kinds = kinds
        self.records: dict[str, list[dict[str, Any]]] = {f"--{kind}": [] for kind in kinds}
        self.seen: dict[str, int] = {"": -1}
        self._function = wanted.function
        self._phases = wanted.phases
        self._refused: ValueError | None = None
        self._runs: list[tuple[int, int, str, float]] = []

    def observer(self) -> Observer:
        """What the driver calls behind the phases that are asked for."""
        from oric.driver.observing import Observer

        return Observer(self._phases, self._look)

    def timer(self) -> Observer:
        """What the driver calls behind all phases."""
        from oric.driver.observing import Observer

        return Observer(("all",), self._timed)

    def timing(self, target: str) -> dict[str, Any]:
        """The record of the times."""
        from oric.inside.timing import records_of, timing_record

        return timing_record(target, [name for name in self.seen if name], records_of(self._runs))

    def check(self) -> None:
        """Raises ValueError where a dump could not be made of a function as it was."""
        if self._refused is not None:
            raise self._refused

    def _look(self, f: Function, facts: Facts, seconds: float) -> None:
        from oric.inside.kinds import KINDS

        self.seen.setdefault(f.name, len(self.seen) - 1)
        if self._function not in ("", f.name):
            return
        try:
            for kind in self.kinds:
                self.records[f"--{kind}"].append(KINDS[kind].record(f, facts))
        except ValueError as error:  # what is raised within a phase would be a failure of the phase
            self._refused = self._refused or error

    def _timed(self, f: Function, facts: Facts, seconds: float) -> None:
        unit = self.seen.setdefault(f.name, len(self.seen) - 1)
        if self._function in ("", f.name):
            self._runs.append((unit, facts.phase, facts.phase_name, seconds))


def _descriptors(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from oric.ir.text import all_instructions
    from oric.sass.listing import list_raw

    from .descriptors import descriptor_lines

    listed = list_raw(encoded.words, options.target.isa, options.arch).functions[0].lines
    instructions = all_instructions(f)
    yield f"// {f.name} for {options.arch}: {len(instructions)} instructions, their encoding descriptors a3[0..4]"
    for i, line in zip(instructions, listed, strict=False):  # the machine code ends with padding
        yield f"/*{line.offset:04x}*/ {line.text}"
        yield from (f"    {text}" for text in descriptor_lines(f, i))
    yield ""


def _image(f: Function, options: CompileOptions) -> Image:
    from oric.ir.image import Image

    return Image(f, options.target.isa)


def _image_lines(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from .images import image_lines

    return image_lines(_image(f, options))


def _intrinsics(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from oric.lower.ocg import Matched
    from oric.lower.ocg_record import Record

    records = [Record(f.name, found) for found in f.intrinsics if isinstance(found, Matched)]
    yield f"// {f.name} for {options.arch}: {len(records)} calls of intrinsics"
    for record in records:
        yield from record.lines()
    yield ""


DUMPS: Final[dict[str, Dump]] = {
    "--descriptors": Dump("The encoding descriptor of every instruction: words, fields, operand words.", _descriptors),
    "--ocg": Dump("The calls of intrinsics: operation, route, operand buffer of 312 bytes, instruction.", _intrinsics),
    _IMAGE: Dump("The memory image: 296-byte instructions, 40-byte blocks, 160-byte registers; -o: as it is.", _image_lines),
}
