"""``make conformance``: what this package agrees on with the vendor's tools over the corpus, written to ``docs/conformance.md``.

    python -m tests.conformance [--check] [--model SM...]

All figures come from the golden data of ``tests/data/corpus``; where there is an nvdisasm it is asked again about everything
whose text is stored, and about what the compiler of this package makes. Fails when a figure misses its aim.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from oric.sass import check
from oric.sass.code import Code
from oric.support import elf
from oric.support.targets import find_model

from tests.corpus import compare, golden, judge, mutants, targets, vendor
from tests.sass import words as forms
from tests.sass.compare_words import plain

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "conformance.md"
SPEED_ROUNDS = 3


class Row(NamedTuple):
    """The figures of one target. Shares are (how many agree, of how many)."""

    target: str
    forms: int
    kernels: int
    instructions: int
    distinct: int
    same_text: tuple[int, int]
    same_registers: tuple[int, int]
    round_trips: tuple[int, int]
    false_alarms: int
    mutants: tuple[int, int]
    decoded: float  # instructions a second, to text
    checked: float


class Model(NamedTuple):
    """What is the same for all targets of an encoding model: words that differ, by what they differ in."""

    forms: int
    texts: frozenset[int]
    registers: frozenset[int]
    compared: frozenset[int]  # words whose registers nvdisasm shows alike wherever they stand
    trips: frozenset[int]


def measure_model(model: str) -> Model:
    """Compare the golden words of a model."""
    number = sum(len(o.forms.get(model, ())) for o in forms.load().operations)
    compared = frozenset(w.word for w in golden.words(model) if compare.comparable(model, w))
    return Model(
        number,
        frozenset(w for w, _, _ in compare.texts(model)),
        frozenset(w for w, _, _ in compare.registers(model)),
        compared,
        frozenset(w for w, _, _ in compare.round_trips(model)),
    )


def measure(target: str, model: Model) -> Row:
    """All figures of one target."""
    cubins = [elf.read(c.image) for c in golden.cubins(targets.model_of(target)) if c.target == target]
    code = [f.text for c in cubins for f in c.functions.values()]
    all_words = [w for data in code for w in judge.words(data)]
    plains = [plain(w) for w in all_words]
    compared = [w for w in plains if w in model.compared]
    reports, check_time = _checked(cubins)
    caught = mutants.measure(target)
    return Row(
        target=target,
        forms=model.forms,
        kernels=len(code),
        instructions=len(all_words),
        distinct=len(set(plains)),
        same_text=(sum(w not in model.texts for w in plains), len(plains)),
        same_registers=(sum(w not in model.registers for w in compared), len(compared)),
        round_trips=(sum(w not in model.trips for w in all_words), len(all_words)),
        false_alarms=sum(len(r.findings) for r in reports),
        mutants=(caught.caught, caught.unsafe),
        decoded=len(all_words) / _fastest(lambda: [Code(find_model(target), data).texts() for data in code]),
        checked=sum(r.instructions for r in reports) / check_time,
    )


def _checked(cubins: list[elf.Cubin]) -> tuple[list[check.Report], float]:
    reports: list[check.Report] = []

    def run() -> None:
        reports[:] = [check.check_cubin(c) for c in cubins]

    return reports, _fastest(run)


def _fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs: the others were disturbed."""
    best = float("inf")
    for _ in range(SPEED_ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


# Aims: what a figure must reach, and how a miss is told.
AIMS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("fewer than 400 kernels", lambda r: r.kernels >= 400),
    ("less than 99.9 % of the instructions print as nvdisasm prints them", lambda r: _share(r.same_text) >= 0.999),
    ("words that do not encode to themselves", lambda r: r.round_trips[0] == r.round_trips[1]),
    ("false alarms", lambda r: r.false_alarms == 0),
    ("mutants that are missed, or fewer than 5000", lambda r: r.mutants[0] == r.mutants[1] >= 5000),
    ("less than 500,000 instructions/s to text", lambda r: r.decoded >= 5e5),
    ("less than 100,000 instructions/s checked", lambda r: r.checked >= 1e5),
)


def _share(part: tuple[int, int]) -> float:
    return part[0] / part[1] if part[1] else 0.0


def _percent(part: tuple[int, int]) -> str:
    """A share that says 100 % only when nothing is missing."""
    if part[0] == part[1]:
        return "100 %"
    return f"{min(100 * part[0] / part[1], 99.999):.3f} %"


def page(rows: list[Row], tools: dict[str, str], differing: list[str]) -> str:
    """The text of ``docs/conformance.md``."""
    head = [
        "target", "forms", "kernels", "instructions", "distinct", "text as nvdisasm's", "registers as nvdisasm's", "round trips",
        "false alarms", "mutants caught", "to text, instr/s", "checked, instr/s",
    ]  # fmt: skip
    lines = [INTRODUCTION.format(**tools), "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for r in rows:
        cells = [
            r.target, f"{r.forms:,}", f"{r.kernels:,}", f"{r.instructions:,}", f"{r.distinct:,}", _percent(r.same_text),
            _percent(r.same_registers), _percent(r.round_trips), str(r.false_alarms), f"{r.mutants[0]:,} of {r.mutants[1]:,}",
            f"{r.decoded:,.0f}", f"{r.checked:,.0f}",
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", REGISTERS, "", *differing]) + "\n"


INTRODUCTION = """# Conformance

Written by `make conformance`; do not edit. Every figure is measured over the corpus: kernels made by ptxas {ptxas} (CUDA sources
by nvcc {nvcc}) from `tests/corpus/sources`, whose cubins, texts and registers as nvdisasm {nvdisasm} prints them are stored in
`tests/data/corpus`. Speeds are of one core of the machine that wrote the page.

- **forms**: encodings that the target's encoding model has; **distinct**: instructions that differ in more than scheduling bits
  that the text does not show.
- **text**: share of the instructions whose text is nvdisasm's, character for character.
- **registers**: share of the instructions whose written and read registers are those of nvdisasm's life ranges (`-plr`).
- **round trips**: share of the words, scheduling bits included, that decode and encode to themselves.
- **false alarms**: findings of `oric check`. ptxas-made code is taken to be right.
- **mutants**: changes of scheduling bits or register numbers that make the code unsafe by the evidence alone, and those found.
"""
REGISTERS = """## Registers that differ

Distinct words by mnemonic, with an example: what nvdisasm shows (`written=read`), and what this package says."""


def differing_registers(models: list[str]) -> list[str]:
    """The lines of the page about registers that differ, most frequent first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for model in models:
        for _, expected, said in compare.registers(model):
            found.setdefault(compare.name(expected), []).append((expected, said))
    return [
        f"- {mnemonic}, {len(examples)}: `{examples[0][0]}` here `{examples[0][1]}`"
        + (f"; {compare.LIFE_RANGES[mnemonic]}" if mnemonic in compare.LIFE_RANGES else "")
        for mnemonic, examples in sorted(found.items(), key=lambda f: (-len(f[1]), f[0]))
    ]


def main() -> int:
    """Returns 1 when a figure misses its aim or a real nvdisasm says otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--model", nargs="+", choices=tuple(targets.MODELS), default=list(targets.MODELS))
    options = parser.parse_args()
    wrong = vendor.check()
    rows = []
    for name in options.model:
        model = measure_model(name)
        for target in targets.MODELS[name]:
            rows.append(measure(target, model))
            print(rows[-1], flush=True)
    wrong += [f"{r.target}: {text}" for r in rows for text, reached in AIMS if not reached(r)]
    if not options.check and options.model == list(targets.MODELS):
        PAGE.write_text(page(rows, golden.tools(options.model[0]), differing_registers(options.model)), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    print("\n".join(wrong) or "every figure reaches its aim")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
