"""Command line of the generator: ``build``, ``check`` and ``native``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .errors import SpecError

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT = CHECKOUT if (CHECKOUT / "spec").is_dir() else Path.cwd()  # installed: the folder one stands in


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oricgen", description="Compile spec/ into build/.")
    parser.add_argument("--root", type=Path, default=ROOT, help="project folder (default: the checkout)")
    sub = parser.add_subparsers(dest="command", required=True)
    sub.add_parser("build", help="write the generated tables and C source to build/")
    sub.add_parser("check", help="check the specification; write nothing")
    native = sub.add_parser("native", help="compile the C module into build/oric_tables/")
    native.add_argument("--sanitize", action="store_true", help="with AddressSanitizer and UBSan")
    return parser


def build(root: Path) -> list[str]:
    """Render everything below ``root/build``; returns the files that changed.

    Raises:
        SpecError: a mistake in the specification.
    """
    from .outputs import render_all
    from .render import write_tree
    from .spec import Spec

    files = render_all(Spec(root / "spec"))
    out = root / "build"
    for folder in ("oric_tables", "c", "flat"):
        for old in (out / folder).glob("*.*"):
            name = f"{folder}/{old.name}"
            if name not in files and old.suffix in (".py", ".c", ".h", ".txt"):
                old.unlink()
    return write_tree(out, files)


def main(argv: list[str]) -> int:
    """Run the command line; returns the exit status."""
    args = _parser().parse_args(argv)
    try:
        if args.command == "build":
            for name in build(args.root):
                print(f"wrote build/{name}")
        elif args.command == "check":
            from .outputs import render_all
            from .spec import Spec

            render_all(Spec(args.root / "spec"))
        else:
            from .native import build_native

            print(build_native(args.root, sanitize=args.sanitize))
    except SpecError as error:
        print(f"oricgen: error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"oricgen: error: {error.name} is not installed: pip install 'oric[spec]'", file=sys.stderr)
        return 2
    return 0


def entry() -> None:
    """The ``oricgen`` console script."""
    sys.exit(main(sys.argv[1:]))
