"""``oric reduce``: a PTX module made small while a failure stays."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oric.reduce.judges import Command, Crash, Differs, Judge, check_launches
from oric.reduce.reducer import Reduced, reduce_module
from oric.reduce.runner import Limits, Runner
from oric.sass.arguments import Parser, UsageError
from oric.sim.launchfile import LaunchFileError
from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from .arguments import UsageError as OptionError
from .compile import read_input

if TYPE_CHECKING:
    from oric.driver import CompileOptions

FAILED_STATUS: Final = 1
TROUBLE_STATUS: Final = 2
_LEVELS: Final = 2  # at most


def main(argv: list[str]) -> int:
    """Run ``oric reduce``; returns the exit status: 0 reduced, 1 a limit has ended the search (what was found by then is
    written), 2 there is no failure, or input or arguments are wrong (nothing is written)."""
    try:
        args = _parser().parse_args(argv)
        runner = Runner(_judge(args), args.jobs, Limits(args.steps, args.seconds, args.each))
        text = read_input(args.file)
        done = reduce_module(text, runner, _say(args.quiet), args.file)
        write_atomically(Path(args.output), done.text.encode("utf-8", "replace"))
        _tell(args, text, done, runner)
        return 0 if done.whole else FAILED_STATUS
    except CompileError as error:
        print(error, file=sys.stderr)
    except LaunchFileError as error:
        print(f"oric: error: {args.differs}: {error}", file=sys.stderr)
    except (UsageError, OptionError, OutputError, ValueError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    return TROUBLE_STATUS


def _say(quiet: bool) -> Any:
    return (lambda line: None) if quiet else lambda line: print(f"oric: {line}", file=sys.stderr, flush=True)


def _tell(args: argparse.Namespace, text: str, done: Reduced, runner: Runner) -> None:
    ended = "" if done.whole else ", a limit has ended the search"
    lines = f"{len(text.splitlines())} lines became {len(done.text.splitlines())}"
    print(f"{lines}, {runner.asked} questions{ended}: {args.output}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="oric reduce",
        description="Make a PTX module small while a failure stays: leave out functions, statements, words, operands.",
        epilog="Exit status: 0 reduced, 1 ended by a limit, 2 no failure or a mistake.",
    )
    parser.add_argument("file", metavar="FILE", help="the PTX module; - is standard input")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where the small module goes")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--test", metavar="COMMAND", help="it fails while this ends with the same status, other than 0; {} is the file"
    )
    what.add_argument("--crash", action="store_true", help="the compiler fails in the same phase with the same message")
    what.add_argument(
        "--differs",
        metavar="RUN.json",
        help="what the launch file gives in the simulator differs between levels, or from what it expects",
    )
    parser.add_argument("--matching", default="", metavar="REGEX", help="with --test: and it prints something that matches")
    parser.add_argument("-arch", "--arch", metavar="SM", default="sm_90", help="target of --crash and --differs (sm_90)")
    parser.add_argument("-O", "--level", type=int, default=3, metavar="N", help="level of --crash (3)")
    parser.add_argument(
        "--levels",
        default="0,3",
        metavar="A,B",
        help="levels of --differs (0,3); one: it differs from what the launch file expects",
    )
    parser.add_argument(
        "-maxrregcount", "--maxrregcount", type=int, metavar="N", help="ceiling of registers of --crash and --differs"
    )
    parser.add_argument("--verify", action="store_true", help="with --crash: what the verifier refuses is a failure too")
    parser.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="questions at a time (1); what comes out is the same"
    )
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="questions at the most")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="T", help="time at the most")
    parser.add_argument(
        "--each", type=float, default=60.0, metavar="T", help="time for a question; longer is a failure by itself (60)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not tell how far it is")
    return parser


def _judge(args: argparse.Namespace) -> Judge:
    """What the arguments ask.

    Raises:
        UsageError: arguments that do not go together, or numbers that make no sense.
        LaunchFileError: the launch file is wrong.
    """
    if args.jobs < 1 or min(args.steps, args.seconds) < 0 or args.each <= 0:
        raise UsageError("numbers of questions and seconds are not negative, and there is at least one question at a time")
    if args.test is not None:
        try:
            return Command(args.test, args.matching)
        except Exception as error:
            raise UsageError(f"--matching: {error}") from error
    if args.matching:
        raise UsageError("--matching means nothing without --test")
    if args.crash:
        return Crash(_options(args, args.level))
    words = args.levels.split(",")
    if len(words) > _LEVELS or not all(word.isdecimal() for word in words):
        raise UsageError(f"--levels: '{args.levels}' is neither a level nor two")
    check_launches(Path(args.differs), len(words))
    return Differs(Path(args.differs), [_options(args, int(word)) for word in words])


def _options(args: argparse.Namespace, level: int) -> CompileOptions:
    from oric.driver import CompileOptions

    return CompileOptions(args.arch, level, maxrregcount=args.maxrregcount, verify=args.verify)
