"""``oric FILE.ptx`` and the drop-in ``oric-ptxas``: read, compile, write, report."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from oric_tables.targets import TARGETS

from oric.ir.knobs import UNSET, KnobSettings
from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from . import ERROR_STATUS
from .arguments import Arguments, Remark, UsageError, integer, parse, register_limit
from .messages import FATAL, Messages

if TYPE_CHECKING:
    from oric.driver import CompileOptions, Cubin, PtxInput

OWN_NAME = "oric"
PTXAS = "ptxas"
_STANDARD_INPUT = "<stdin>"
_TEXT_INPUT = "application ptx input"  # ptxas's name for modules on the command line
_SIZES = 3


REPRODUCER_SUFFIX: Final = ".reproducer.json"  # behind the name of the output
EXPECTED: Final = (CompileError, OutputError, UsageError, ValueError)  # mistakes of the user


class InputError(Exception):
    """An input cannot be read; the text is the message."""


def main(argv: list[str], tool: str = OWN_NAME) -> int:
    """Compile as the command line says; returns the exit status (255 on errors, as ptxas).

    ``tool``: the name of the program; any other than our own means ptxas's form of messages.
    """
    plain = tool != OWN_NAME or "--ptxas-messages" in argv
    messages = Messages(PTXAS if plain else OWN_NAME, plain)
    try:
        return _run(parse(argv), messages, tool)
    except CompileError as error:
        messages.diagnostics(getattr(error, "parts", (error.diagnostics,)))
        messages.aborted()
    except OutputError as error:
        messages.tell(FATAL, str(error))
    except UsageError as error:
        messages.tell(FATAL, str(error) if messages.plain else error.own)
    except ValueError as error:
        messages.tell(FATAL, str(error))
    return ERROR_STATUS


def reproduce(argv: list[str]) -> int:
    """``oric reproduce FILE``: compile again what a reproducer holds; nothing is written. Returns the exit status."""
    from oric.driver import PtxInput

    from .reproducer import load

    messages = Messages(OWN_NAME, plain=False)
    try:
        if len(argv) != 1 or argv[0].startswith("-"):
            raise UsageError("expected one file: oric reproduce <file>")
        args, texts = load(argv[0], read_input(argv[0]))
        messages.arch = args.get("gpu-name")
        args.values["output-file"] = os.devnull
        inputs = [PtxInput(text, name) for text, name in texts]
        return _make(args, messages, _launch_bounds(args), inputs, complete=True, reading=0.0)
    except CompileError as error:
        messages.diagnostics(getattr(error, "parts", (error.diagnostics,)))
    except EXPECTED as error:
        messages.tell(FATAL, str(error))
    return ERROR_STATUS


def _run(args: Arguments, messages: Messages, tool: str) -> int:
    if args.has("tool-name"):
        messages.tool = args.get("tool-name")
    messages.silent, messages.strict = args.has("disable-warnings"), args.has("warning-as-error")
    messages.arch = args.get("gpu-name")
    if args.has("list-phases"):
        _list_phases(args)
    elif args.has("list-knobs"):
        _list_knobs()
    elif args.has("list-targets"):
        _list_targets()
    elif args.has("help"):
        _print_help(tool)
    elif args.has("version"):
        from .help import version_text

        print(version_text(tool))
    elif args.has("list-version"):
        _list_versions()
    elif not args.inputs and not args.texts:
        _print_help(tool)
    else:
        return _compile(args, messages)
    return 0


def _print_help(tool: str) -> None:
    from .help import help_text

    print(help_text(tool, own=tool == OWN_NAME))


def _compile(args: Arguments, messages: Messages) -> int:
    launch = _launch_bounds(args)
    for remark in args.remarks:
        if not remark.late:
            messages.remark(remark)
    start = time.perf_counter()
    inputs, complete = _read_inputs(args, messages)
    try:
        return _make(args, messages, launch, inputs, complete, time.perf_counter() - start)
    except EXPECTED:
        raise
    except Exception as error:
        path = _reproducer(args)
        if path:
            from .reproducer import save

            save(path, args, inputs, error, knob_texts(args))
            print(f"{messages.tool}: reproducer written to '{path}'", file=sys.stderr)
        raise


def _reproducer(args: Arguments) -> str:
    """Where a reproducer goes: to the file that was named, under ``--verify`` else beside the output, else (``""``) nowhere."""
    if args.has("save-reproducer"):
        return args.get("save-reproducer")
    output = args.get("output-file")
    return f"{output}{REPRODUCER_SUFFIX}" if args.has("verify") and output != os.devnull else ""


def _make(args: Arguments, messages: Messages, launch: Any, inputs: list[PtxInput], complete: bool, reading: float) -> int:
    """Compile inputs that were read (``complete``: all of them could be, in that many seconds), write and report."""
    from oric.driver import compile_inputs

    arch = args.get("gpu-name")
    if args.virtual or messages.errors or not complete:
        return _check(args, messages, inputs, complete)
    if arch not in TARGETS and _check(args, messages, inputs, complete):
        return ERROR_STATUS  # the input is to blame rather than the target
    report = Report(args.get("stats") if args.has("stats") else "")
    options = _options(args, launch, report)
    options.records, path = _saving(args)
    cubin = compile_inputs(inputs, options)
    messages.diagnostics(cubin.messages)
    _say_late(args, messages, inputs)
    if messages.errors:
        messages.aborted()
        return ERROR_STATUS
    if path:
        _write(path, cubin.records, messages)
    _write(args.get("output-file"), cubin.image, messages)
    _report(args, messages, cubin, reading, report)
    report.write(messages)
    return 0


def _check(args: Arguments, messages: Messages, inputs: list[PtxInput], complete: bool) -> int:
    """Parse and check only: for virtual architectures, and when it is known already that no code will be made."""
    from oric.driver.checker import check_inputs

    parts = check_inputs(inputs, args.get("gpu-name"), _watch(args))
    messages.diagnostics(parts)
    if complete:
        _say_late(args, messages, inputs)
    if messages.errors or not complete:
        messages.aborted()
        return ERROR_STATUS
    return 0


def _say_late(args: Arguments, messages: Messages, inputs: list[PtxInput]) -> None:
    """Print what is said of the options when the inputs are right."""
    if not messages.errors:
        for remark in args.remarks:
            if remark.late and not any(has_section(remark.section, one.text) for one in inputs):
                messages.remark(remark)


def has_section(name: str, text: str) -> bool:
    """A module has a section of that name, or a directive."""
    word = re.escape(name)
    return bool(name) and re.search(rf"\.section\s+{word}(?!\w)|^\s*{word}\s", text, re.MULTILINE) is not None


def compile_options(args: Arguments) -> CompileOptions:
    """What the driver is asked to do by a command line that says nothing else, for other commands."""
    return _options(args, _launch_bounds(args), Report(""))


def _options(args: Arguments, launch: Any, report: Report) -> CompileOptions:
    """What the driver is asked to do."""
    from oric.driver import CompileOptions

    level = integer(args.get("opt-level"))
    return CompileOptions(
        args.get("gpu-name"),
        0 if args.has("device-debug") else level if level >= 0 else 3,
        maxrregcount=register_limit(args),
        verify=args.has("verify"),
        dump=tuple(args.values["dump-ir"].split(",")) if args.has("dump-ir") else (),
        dump_sink=report.line,
        disabled=_disabled(args),
        knobs=knobs_of(args),
        time_phases=args.has("time-phases"),
        entries=args.words("entry"),
        bounds=launch,
        watch=_watch(args),
        register_usage=integer(args.get("register-usage-level")),
        extras=_extras(args),
        contract=args.get("fmad") == "true",
        nvopt=_nvopt_level(args),
        line_info=_line_info(args),
        debug=args.has("device-debug") and not args.has("suppress-debug-info"),
    )


def _saving(args: Arguments) -> tuple[Any, str]:
    """What is saved, and to which file; None and "" for nothing.

    Raises:
        UsageError: the option names no phase or no file, or what it says depends on another one that is not there.
    """
    if not args.has("save-records"):
        for name in ("records-full", "records-wrap"):
            if args.has(name):
                raise UsageError(f"'--{name}' says how records are written: it goes with '--save-records'")
        return None, ""
    from oric.driver import SaveRecords

    phase, _, path = args.get("save-records").partition(":")
    if not phase or not path:
        raise UsageError("option '--save-records': expected a phase and a file, as in 13:kernel.ori")
    return SaveRecords(phase, args.has("records-full"), args.has("records-wrap")), path


def _line_info(args: Arguments) -> bool | None:
    """Whether there are line tables; None: where the PTX has ``.loc``."""
    if args.has("suppress-debug-info"):
        return False
    return True if args.has("generate-line-info") else None


def _nvopt_level(args: Arguments) -> int | None:
    return args.integer("nvopt-level") if args.has("nvopt-level") else None


def _disabled(args: Arguments) -> tuple[str, ...]:
    """The phases that are not to run."""
    return tuple(args.values["disable-phase"].split(",")) if args.has("disable-phase") else ()


def knob_texts(args: Arguments) -> list[tuple[str, str]]:
    """(place, text) of all that sets knobs: environment, files, --timeout and --knob, what comes later above what comes earlier.

    Raises:
        UsageError: a file that cannot be read.
        ValueError: a quotation of the environment that does not end.
    """
    found = os.environ.get("ORIC_KNOBS", "")
    if not found and not any(map(args.has, ("knob", "knobs-file", "timeout"))):
        return []
    from oric.driver import knobs

    given = knobs.from_environment(found)
    for name in args.words("knobs-file"):
        given += knobs.from_file(name, read_input(name))
    if args.has("timeout"):
        given.append(("--timeout", f"compile_timeout_ms={args.integer('timeout')}"))
    return given + [("--knob", text) for text in args.knobs]


def knobs_of(args: Arguments) -> KnobSettings:
    """What that makes of the knobs.

    Raises:
        UsageError: a file that cannot be read.
        ValueError: a setting that makes no sense.
    """
    given = knob_texts(args)
    if not given:
        return UNSET
    from oric.driver import knobs

    return knobs.settings_of(given)


def _extras(args: Arguments) -> Any:
    from oric.driver import Extras
    from oric.support.added import added

    qualifiers = added(lambda name: args.get(name) if args.has(name) else "")
    return Extras(
        qualifiers,
        args.has("compiler-annotations"),
        args.has("make-errors-visible-at-exit"),
        args.has("compile-only"),
        register_limit(args, "device-function-maxrregcount"),
        args.has("extensible-whole-program"),
        args.has("preserve-relocs"),
        args.get("position-independent-code") == "true",
        not args.has("disable-optimizer-constants"),
    )


def _watch(args: Arguments) -> Any:
    from oric.driver import Watch

    names = ("warn-on-double-precision-use", "warn-on-local-memory-usage", "warn-on-spills", "warn-on-uninitialized-registers")
    double, local, spills, uninitialized = map(args.has, names)
    profile = args.get("profile") if args.has("profile") else ""
    stack = not args.has("suppress-stack-size-warning")
    return Watch(double, local, spills, uninitialized, profile, stack, args.has("ftrace"))


def _launch_bounds(args: Arguments) -> Any:
    """The launch bounds of the command line; those that make no sense are left out with a warning, as ptxas does."""
    from oric.driver import LaunchBounds

    block: tuple[int, int, int] | None = None
    if args.has("maxntid"):
        words = args.words("maxntid")
        try:
            sizes = [integer(word) for word in words]
        except UsageError as error:
            sizes = []
            args.remarks.append(Remark("warning", f"{error}, option '-maxntid' will be ignored"))
        if len(sizes) > _SIZES:
            args.remarks.append(Remark("warning", "Too many values specified for option '-maxntid', option will be ignored"))
        elif sizes and min(sizes) > 0:
            x, y, z = (*sizes, 1, 1)[:_SIZES]
            block = (x, y, z)
    least = integer(args.values.get("minnctapersm", ""))
    return LaunchBounds(block, max(least, 0), args.has("override-directive-values"))


def _read_inputs(args: Arguments, messages: Messages) -> tuple[list[PtxInput], bool]:
    """The inputs that can be read, and whether these are all."""
    from oric.driver import PtxInput

    inputs: list[PtxInput] = []
    complete = True
    for name in args.inputs:
        try:
            inputs.append(PtxInput(_read(name, messages.plain), _STANDARD_INPUT if name == "-" else name))
        except InputError as error:
            complete = False
            messages.tell(FATAL, str(error))
    return inputs + [PtxInput(text, _TEXT_INPUT) for text in args.texts], complete


def _read(name: str, plain: bool) -> str:
    """The text of a PTX file; ``-`` is standard input. In ptxas's form a folder is an empty file, and no reason is given."""
    try:
        data = _standard_input() if name == "-" else _file(name)
    except IsADirectoryError as error:
        if plain:
            return ""
        raise InputError(f"Input file '{name}' could not be opened: {error.strerror}") from error
    except (OSError, ValueError) as error:
        reason = "" if plain else f": {getattr(error, 'strerror', '') or error}"
        raise InputError(f"Input file '{name}' could not be opened{reason}") from error
    return data.decode("utf-8", "replace")


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ValueError("it is closed")
    return sys.stdin.buffer.read()


def _file(name: str) -> bytes:
    if not name:
        raise ValueError("it has no name")
    with open(name, "rb") as file:
        return file.read()


def read_input(name: str) -> str:
    """The text of a PTX file, ``-`` is standard input.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return _read(name, plain=False)
    except InputError as error:
        raise UsageError(str(error)) from error


def _write(name: str, data: bytes | str, messages: Messages) -> None:
    """Write an output file, or nothing at all.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        if not name:
            raise OutputError("Output file '' could not be opened")
        write_atomically(name, data if isinstance(data, bytes) else data.encode())
    except OutputError as error:
        if messages.plain:
            raise OutputError(f"Output file '{name}' could not be opened") from error
        raise


class Report:
    """Where reports go: standard output, or all of them into one file. Source: Data structures, "Stream Object" (+1440)."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._lines: list[str] = []

    @property
    def to_file(self) -> bool:
        """Whether a file takes everything."""
        return bool(self._file)

    def line(self, text: str) -> None:
        """Print a line, or several."""
        if self._file:
            self._lines.append(text + "\n")
        else:
            print(text)

    def write(self, messages: Messages) -> None:
        """Write the file, if there is one.

        Raises:
            OutputError: it cannot be written.
        """
        if self._file:
            _write(self._file, "".join(self._lines), messages)


def _report(args: Arguments, messages: Messages, cubin: Cubin, reading: float, report: Report) -> None:
    """Print what is to be told of a compilation that went well."""
    if not any(map(args.has, ("time-phases", "verbose", "compiler-stats", "stats"))):
        return
    from .statistics import compiler_stats, phase_lines, print_verbose, stage_lines

    if args.has("time-phases"):
        report.line("\n".join(phase_lines(cubin)))
    if args.has("verbose"):
        print_verbose(messages, cubin, messages.arch, args.words("entry"))
    if args.has("compiler-stats"):
        lines = list(compiler_stats(messages.tool, cubin, args.words("compiler-stats"), reading))
        if args.has("compiler-stats-file"):
            _write(args.get("compiler-stats-file"), "".join(f"{line}\n" for line in lines), messages)
        elif report.to_file:
            report.line("\n".join(lines))
        else:
            sys.stderr.writelines(f"{line}\n" for line in lines)
    if args.has("stats"):
        report.line("\n".join(stage_lines(cubin)))


def _list_phases(args: Arguments) -> None:
    from oric.phases.backend import phase_functions
    from oric.phases.manager import list_phases
    from oric.support.targets import find_target

    functions = phase_functions(find_target(args.get("gpu-name"), "gpu-name")) if args.has("gpu-name") else {}
    for index, name, runs in list_phases(args.integer("opt-level"), functions, _nvopt_level(args), _disabled(args)):
        print(f"{index:4} {name:40} {'runs' if runs else '-'}")


def _list_knobs() -> None:
    from oric_tables.knob_rows import LISTED

    for name, default, reader, doc in LISTED:
        print(f"{name:28} {default or '-':14} {reader or '-':28} {doc}")


def _list_targets() -> None:
    from oric.support.targets import list_targets

    for name, state in list_targets():
        print(f"{name:8} {state}")


def _list_versions() -> None:
    from oric_tables.ptx_index import VERSIONS

    for version in sorted(VERSIONS):
        print(f"{version[0]}.{version[1]}")
