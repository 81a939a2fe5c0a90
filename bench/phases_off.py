"""What each phase is worth: whole programs without it, in those with all phases.

Every phase of -O3 that can be switched off is left out alone; the programs are those of :mod:`bench.programs`. Each launch must
write what it should.

    python -m bench.phases_off [--targets sm_80,sm_90a] [--phases OriDoPredication,49]    # all without names
"""

from __future__ import annotations

import argparse
import multiprocessing
from statistics import geometric_mean
from typing import Any

from oric.phases.manager import list_phases, optional_phases, select

from bench.measure import table
from bench.programs import TARGETS, Key, keys, subject
from tests.programs import compare
from tests.programs.compare import Figures

FIGURES = ("executed", "cycles", "registers", "instructions")
CHANGED = 0.001  # a geometric mean that differs by less is said to be the same
Question = tuple[Key, tuple[str, ...]]


def _figures(question: Question) -> Figures | str:
    key, off = question
    return compare.ours(subject(key), off)


def run(targets: tuple[str, ...], phases: list[int]) -> list[tuple[str, list[float], list[str]]]:
    """For each phase: its name, the means of the FIGURES without it in those with it, and the programs that went wrong."""
    names = {index: name for index, name, _ in list_phases(3)}
    programs = list(keys(targets))
    found = []
    with multiprocessing.get_context("fork").Pool(multiprocessing.cpu_count()) as pool:
        whole = pool.map(_figures, [(key, ()) for key in programs], chunksize=1)
        for phase in phases:
            rows = pool.map(_figures, [(key, (str(phase),)) for key in programs], chunksize=1)
            wrong = [
                f"{key[1]} {key[2]}: {row}"
                for key, was, row in zip(programs, whole, rows, strict=True)
                if isinstance(row, str) and not isinstance(was, str)
            ]
            pairs = [(w, r) for w, r in zip(whole, rows, strict=True) if isinstance(w, Figures) and isinstance(r, Figures)]
            found.append((f"{phase} {names[phase]}", [_mean(pairs, figure) for figure in FIGURES], wrong))
    return found


def _mean(pairs: list[tuple[Figures, Figures]], figure: str) -> float:
    return geometric_mean([max(getattr(off, figure), 1) / max(getattr(on, figure), 1) for on, off in pairs])


def report(found: list[tuple[str, list[float], list[str]]]) -> None:
    """The table; phases that help no program; programs that went wrong."""
    rows: list[list[Any]] = [[name, *(f"{mean:.3f}" for mean in means), len(wrong)] for name, means, wrong in found]
    table("Whole programs at -O3 without a phase, in those with all", ["without phase", *FIGURES, "wrong"], rows)
    idle = [name for name, means, _ in found if all(abs(mean - 1) < CHANGED for mean in means)]
    print("\nphases that change none of the means: " + (", ".join(idle) or "none"))
    for name, _, wrong in found:
        for line in wrong:
            print(f"wrong without {name}: {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--phases", type=lambda text: text.split(","), default=[])
    options = parser.parse_args()
    chosen = select(options.phases)
    found = run(tuple(options.targets.split(",")), [i for i in optional_phases(3) if i in chosen or not chosen])
    report(found)
    return int(any(wrong for *_, wrong in found))


if __name__ == "__main__":
    raise SystemExit(main())
