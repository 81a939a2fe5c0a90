"""``oric asm``: the text that ``oric disasm`` prints in, a cubin out."""

from __future__ import annotations

import sys
from pathlib import Path

from oric.support.files import OutputError, write_atomically

from .arguments import Parser, UsageError
from .asm_build import assemble_text
from .asm_read import AsmError

ERROR_STATUS = 1


def main(argv: list[str]) -> int:
    """Run ``oric asm``; returns the exit status: 0, or 1 with what is wrong on standard error."""
    parser = Parser(prog="oric asm", description="Make a cubin of what `oric disasm` prints, or of SASS written by hand.")
    parser.add_argument("file", metavar="FILE", help="assembly text; - is standard input")
    parser.add_argument(
        "-o", "--output-file", metavar="FILE", help="the cubin, - for standard output; without it, FILE with the ending .cubin"
    )
    try:
        args = parser.parse_args(argv)
        data = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
        text = data.decode("utf-8")
        image = assemble_text(text)
        output = args.output_file or ("-" if args.file == "-" else str(Path(args.file).with_suffix(".cubin")))
        if output == "-":
            sys.stdout.buffer.write(image)
        else:
            write_atomically(Path(output), image)
    except (UsageError, OutputError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    except UnicodeDecodeError as error:
        print(f"oric: error: {args.file}: byte {error.start} is not UTF-8: this is no assembly text", file=sys.stderr)
        return ERROR_STATUS
    except OSError as error:
        print(f"oric: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return ERROR_STATUS
    except AsmError as error:
        lines = text.split("\n")
        for one in (error, *error.others):
            print(message(args.file, one, lines[one.line - 1] if one.line <= len(lines) else ""), file=sys.stderr)
        return ERROR_STATUS
    return 0


def message(file: str, error: AsmError, line: str) -> str:
    """What is wrong, with the line and a mark below the place."""
    shown = line.rstrip("\r").expandtabs(1)
    return f"{file}:{error.line}:{error.column}: error: {error}\n{shown}\n{' ' * (error.column - 1)}^"
