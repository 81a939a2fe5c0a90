"""``oric FILE.ptx``: read, compile, write, report."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically
from oric.support.version import VERSION

from . import ERROR_STATUS
from .arguments import Arguments, UsageError, help_text, parse

if TYPE_CHECKING:
    from oric.driver import Cubin


def main(argv: list[str]) -> int:
    """Compile as the command line says; returns the exit status (255 on errors, as ptxas)."""
    try:
        return _run(parse(argv), bool(argv))
    except (UsageError, ValueError, OutputError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    except CompileError as error:
        print(error, file=sys.stderr)
    return ERROR_STATUS


def _run(args: Arguments, any_words: bool) -> int:
    if args.has("help") or not any_words:
        print(help_text())
        return 0
    if args.has("version"):
        print(f"oric {VERSION}: an open PTX-to-SASS optimizing assembler")
        return 0
    if args.has("list-phases"):
        _list_phases(args)
        return 0
    if args.has("list-targets"):
        _list_targets()
        return 0
    _compile(args)
    return 0


def _compile(args: Arguments) -> None:
    from oric.driver import CompileOptions, compile_text

    if len(args.inputs) != 1:
        raise UsageError(f"exactly one input file is expected, {len(args.inputs)} given")
    options = CompileOptions(
        args.get("gpu-name"),
        args.integer("opt-level"),
        maxrregcount=register_limit(args),
        verify=args.has("verify"),
        dump=tuple(args.values["dump-ir"].split(",")) if args.has("dump-ir") else (),
        time_phases=args.has("time-phases"),
    )
    name = args.inputs[0]
    text = read_input(name)
    start = time.perf_counter()
    cubin = compile_text(text, options, name)
    elapsed = time.perf_counter() - start
    _print_warnings(cubin, args)
    write_atomically(Path(args.get("output-file")), cubin.image)
    if args.has("time-phases"):
        for index, phase, seconds in cubin.phase_times:
            print(f"{index:4} {phase:40} {seconds * 1e3:10.3f} ms")
    if args.has("verbose"):
        _print_statistics(cubin, options.arch, elapsed)


def read_input(name: str) -> str:
    """The text of a PTX file, ``-`` is standard input.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"Input file '{name}' could not be opened: {error.strerror}") from error
    return data.decode("utf-8", "replace")


def register_limit(args: Arguments) -> int | None:
    """What ``-maxrregcount`` says, None when it is not given.

    Raises:
        UsageError: it is no number.
    """
    if not args.has("maxrregcount"):
        return None
    text = args.get("maxrregcount")
    if text in ("archmax", "archmin"):
        return 255 if text == "archmax" else 0
    return args.integer("maxrregcount")


def _print_warnings(cubin: Cubin, args: Arguments) -> None:
    if args.has("warning-as-error") and cubin.warnings:
        raise UsageError("warnings are treated as errors:\n" + "\n".join(cubin.warnings))
    if not args.has("disable-warnings"):
        for warning in cubin.warnings:
            print(warning, file=sys.stderr)


def _list_phases(args: Arguments) -> None:
    from oric.phases.backend import phase_functions
    from oric.phases.manager import list_phases
    from oric.support.targets import find_target

    functions = phase_functions(find_target(args.get("gpu-name"), "gpu-name")) if args.has("gpu-name") else {}
    for index, name, runs in list_phases(args.integer("opt-level"), functions):
        print(f"{index:4} {name:40} {'runs' if runs else '-'}")


def _list_targets() -> None:
    from oric.support.targets import list_targets

    for name, code in list_targets():
        print(f"{name:8} {'code can be made' if code else 'known, no code yet'}")


def _print_statistics(cubin: Cubin, arch: str, seconds: float) -> None:
    print(f"oric info    : {cubin.global_bytes} bytes gmem")
    for kernel in cubin.kernels.values():
        print(f"oric info    : Compiling entry function '{kernel.name}' for '{arch}'")
        print(f"oric info    : Function properties for {kernel.name}")
        print(f"    {kernel.stack} bytes stack frame, {kernel.spills} bytes spill stores, {kernel.spills} bytes spill loads")
        shared = f", {kernel.shared} bytes smem" if kernel.shared else ""
        print(f"oric info    : Used {kernel.registers} registers, used {kernel.barriers} barriers{shared}")
        print(f"oric info    : {kernel.instructions} instructions")
    print(f"oric info    : Compile time = {seconds * 1e3:.3f} ms")
