"""How much of PTX has code: every form of every instruction, on every target that takes it, through the whole compiler.

    python -m tests.coverage [--sm SM ...] [--family FAMILY ...] [--name NAME ...] [--list]

The forms are the examples of :mod:`tests.ptx.signature_examples`: every slot of every signature filled in turn. The command
prints a line a family and target, with ``--list`` every instruction that is refused and what the compiler says of it.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import oric
from oric_tables import ptx_index as ix
from oric_tables.targets import TARGETS

from tests.ptx.agreement import OBJECTS, module, ours
from tests.ptx.signature_examples import Example, all_families, examples

VERSION = "9.0"


@dataclass(frozen=True)
class Form:
    """An instruction for a target; ``refusal``: what the compiler says of it, "" when it makes code."""

    family: str
    target: str
    text: str
    refusal: str


def targets() -> list[str]:
    """The targets that code can be made for, in the order of the specification."""
    return list(TARGETS)


def taken(example: Example, target: str) -> bool:
    """Whether a target has what an example needs."""
    _, sm, arch = example.gates
    gone = example.removed
    return ix.TARGETS[target][0] >= sm and (not arch or target in arch) and not (gone and ix.TARGETS[target][0] >= gone[1] > 0)


def texts(family: str, target: str, names: Iterable[str] = ()) -> list[str]:
    """The instructions of a family that a target takes: the parser has the last word."""
    found = list(dict.fromkeys(e.text for e in examples([family], names) if taken(e, target)))
    return [text for text, verdict in zip(found, ours(found, target), strict=True) if verdict.accepted]


def compiled(family: str, target: str, text: str) -> Form:
    """What comes of one instruction in a kernel of its own."""
    source, _ = module(VERSION, target, [text])
    if "tex0" not in text and "srf0" not in text:
        source = source.replace(OBJECTS, "")
    try:
        oric.compile(source, arch=target)
    except oric.CompileError as error:
        return Form(family, target, text, str(error).splitlines()[0].partition("error: ")[2])
    return Form(family, target, text, "")


def _measured(question: tuple[str, str, tuple[str, ...]]) -> list[Form]:
    family, target, names = question
    return [compiled(family, target, text) for text in texts(family, target, names)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description="count the PTX forms that have code")
    parser.add_argument("--sm", nargs="+", default=targets(), choices=targets(), metavar="SM", help="only these targets")
    parser.add_argument(
        "--family", nargs="+", default=all_families(), choices=all_families(), help="only these files of spec/ptx"
    )
    parser.add_argument("--name", nargs="+", default=[], help="only these instructions")
    parser.add_argument("--list", action="store_true", help="name what is refused")
    args = parser.parse_args()
    questions = [(family, target, tuple(args.name)) for family in args.family for target in args.sm]
    total: Counter[str] = Counter()
    with multiprocessing.Pool() as pool:
        for (family, target, _), forms in zip(questions, pool.imap(_measured, questions), strict=True):
            refused = [form for form in forms if form.refusal]
            total["forms"] += len(forms)
            total["refused"] += len(refused)
            if forms:
                print(f"{family:16} {target:8} {len(forms):6} forms {len(refused):6} refused", flush=True)
            for form in refused if args.list else ():
                print(f"    {form.text:80} {form.refusal}")
    print(f"{total['forms']} forms, {total['refused']} refused")


if __name__ == "__main__":
    main()
