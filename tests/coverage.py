"""How much of PTX has code: every form of every instruction, on every target that takes it, through the whole compiler.

    python -m tests.coverage [--sm SM ...] [--family FAMILY ...] [--name NAME ...] [--all] [--list] [--ptxas] [--write]

The forms are the examples of :mod:`tests.ptx.signature_examples`: every slot of every signature filled in turn, with ``--all`` in
every combination. The command prints a line a family and target, with ``--list`` every instruction that is refused and what the
compiler says of it. ``--ptxas`` (on PATH) leaves out of the refused those that ptxas refuses too; ``--write`` writes
docs/coverage.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import oric
from oric.support.diagnostics import InternalError
from oric_tables import ptx_index as ix
from oric_tables.targets import TARGETS

from tests.ptx.agreement import OBJECTS, module, ours
from tests.ptx.signature_examples import Example, all_families, every, examples, mnemonics

VERSION = "9.0"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
# Families whose instructions are no scalar code: products of matrices, copies of tensors and blocks, textures.
NOT_SCALAR = frozenset({"bulk", "matrix", "multimem", "surface", "tensor", "tensor_memory", "texture", "warpgroup"})
HEAD = """# Coverage of PTX

Written by `python -m tests.coverage --write`: for every target and family of instructions (a file of `spec/ptx`) how many forms
it takes and how many of them this compiler refuses, by name and place. A form is an instruction with every slot of its signature
filled in turn. Families that are no scalar code stand below the line.

What is refused is what the manual does not have and the parser takes as ptxas does. ptxas makes nothing of it, dies of it, makes
wrong code, or takes it only as long as no code is made: `st.async` and `red.async` without an mbarrier, other than from sm_100 on
those of global memory with a scope; the same of global memory with an mbarrier; vectors of eight `.b8` (ptxas stores one byte of
them); `st.param` at an address in a register; `cvta` of `.u32` (32-bit addresses).

"""


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


def texts(family: str, target: str, names: Iterable[str] = (), combined: bool = False) -> list[str]:
    """The instructions of a family that a target takes: the parser has the last word."""
    made = examples([family], names, ways=every if combined else mnemonics)
    found = list(dict.fromkeys(e.text for e in made if taken(e, target)))
    return [text for text, verdict in zip(found, ours(found, target), strict=True) if verdict.accepted]


def source(target: str, text: str) -> str:
    """A module with the instruction in a kernel of its own."""
    made, _ = module(VERSION, target, [text])
    return made if "tex0" in text or "srf0" in text else made.replace(OBJECTS, "")


def compiled(family: str, target: str, text: str) -> Form:
    """What comes of one instruction."""
    try:
        oric.compile(source(target, text), arch=target, opt_level=0)  # nothing is left out as dead: all of it is encoded
    except oric.CompileError as error:
        return Form(family, target, text, str(error).splitlines()[0].partition("error: ")[2])
    except InternalError as error:
        return Form(family, target, text, f"internal error: {error}")
    return Form(family, target, text, "")


def vendor_takes(form: Form) -> bool:
    """Whether ptxas makes code of an instruction."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ptx"
        path.write_text(source(form.target, form.text))
        command = ["ptxas", "-arch", form.target, str(path), "-o", str(path.with_suffix(".cubin"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Question:
    """What one process measures."""

    family: str
    target: str
    names: tuple[str, ...]
    combined: bool
    vendor: bool


def _measured(question: Question) -> list[Form]:
    found = texts(question.family, question.target, question.names, question.combined)
    forms = [compiled(question.family, question.target, text) for text in found]
    return [f for f in forms if not f.refusal or not question.vendor or vendor_takes(f)]


def page(counts: dict[tuple[str, str], tuple[int, int]], names: list[str]) -> str:
    """The page: a row a family, a column a target, ``forms`` or ``forms (refused)``."""
    lines = [HEAD]
    for scalar in (True, False):
        chosen = [family for family in all_families() if (family not in NOT_SCALAR) == scalar]
        lines += ["" if scalar else "\n## Not scalar\n", f"| family | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
        for family in chosen:
            cells = [counts.get((family, name), (0, 0)) for name in names]
            shown = ["" if not f else str(f) if not r else f"{f} ({r})" for f, r in cells]
            lines.append(f"| {family} | {' | '.join(shown)} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description="count the PTX forms that have code")
    parser.add_argument("--sm", nargs="+", default=targets(), choices=targets(), metavar="SM", help="only these targets")
    parser.add_argument(
        "--family", nargs="+", default=all_families(), choices=all_families(), help="only these files of spec/ptx"
    )
    parser.add_argument("--name", nargs="+", default=[], help="only these instructions")
    parser.add_argument("--all", action="store_true", help="every combination of the slots")
    parser.add_argument("--list", action="store_true", help="name what is refused")
    parser.add_argument("--ptxas", action="store_true", help="leave out what ptxas refuses as well")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    args = _arguments()
    questions = [Question(f, t, tuple(args.name), args.all, args.ptxas) for f in args.family for t in args.sm]
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    with multiprocessing.Pool() as pool:
        for question, forms in zip(questions, pool.imap(_measured, questions), strict=True):
            refused = [form for form in forms if form.refusal]
            counts[question.family, question.target] = len(forms), len(refused)
            if forms:
                print(f"{question.family:16} {question.target:8} {len(forms):6} forms {len(refused):6} refused", flush=True)
            for form in refused if args.list else ():
                print(f"    {form.text:80} {form.refusal}")
    totals: Counter[str] = Counter()
    for (family, _), (forms_, refused_) in counts.items():
        kind = "other" if family in NOT_SCALAR else "scalar"
        totals[kind] += forms_
        totals[f"{kind} refused"] += refused_
    print(f"scalar: {totals['scalar']} forms, {totals['scalar refused']} refused")
    print(f"not scalar: {totals['other']} forms, {totals['other refused']} refused")
    if args.write:
        PAGE.write_text(page(counts, args.sm), encoding="utf-8")


if __name__ == "__main__":
    main()
