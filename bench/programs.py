"""Code of whole programs, ours and ptxas's, in one run: registers, instructions, what warps executed, cycles in the simulator.

The kernels of tests/programs and of the simulator's suite, each a module of its own.  A third of the names is kept apart as
held out, and so are the newest sources with all their kernels: whoever works on the optimizer looks at the others alone, so that
the held out ones say what the work is worth on kernels that nobody has looked at. Who was looked at since is named, and no
longer one of them.

    python -m bench.programs [--targets sm_80,sm_90a] [--rows N] [NAME...]    # all without names; N rows are printed
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import zlib
from collections.abc import Iterator, Sequence
from statistics import geometric_mean
from typing import Any

from bench.measure import Ptxas, Row, table
from tests.programs import compare, measure, stored
from tests.programs.compare import Figures, Subject
from tests.programs.portable import case as portable

TARGETS = ("sm_80", "sm_90a", "sm_120a")
FIGURES = ("executed", "cycles", "registers", "instructions", "spills")
BOUNDS = {"executed": 0.97, "cycles": 0.98, "registers": 1.0, "instructions": 1.0}  # of the means
WORST_CYCLES = 1.15  # of one kernel
_APART = 3  # one name in so many is held out
_FRESH = ("media", "graphs", "learning", "science")  # sources that are held out whole
_LOOKED_AT = frozenset({
    ("cooperation", "tile_of_warp"), ("cooperation", "one_of_many"), ("pipeline", "copy_mbarrier"), ("portable", "arrivals"),
    ("flow", "queens"), ("orders", "bellman_ford"), ("digests", "permutations"), ("library", "standard_types"),
    ("science", "life_sliced"), ("science", "lj_forces"), ("learning", "top_k_rows"), ("learning", "conv_direct"),
    ("learning", "gemm_batched"),
})  # fmt: skip
Key = tuple[str, str, str]  # source, kernel, target; the source of a portable program is "portable"


def held_out(source: str, name: str) -> bool:
    """Whether a kernel is one of those that are reported apart."""
    return (source, name) not in _LOOKED_AT and (source in _FRESH or zlib.crc32(name.encode()) % _APART == 0)


def keys(targets: tuple[str, ...] = TARGETS) -> Iterator[Key]:
    """All programs that end without a fault."""
    for target in targets:
        for name, entry in portable.programs().items():
            if stored.nearest(target).removesuffix("a") in entry.targets and not entry.case().fault:
                yield "portable", name, target
        for source in stored.sources():
            for entry in measure.entries(source, target):
                if not entry.case().fault:
                    yield source, entry.name, target


def subject(key: Key) -> Subject:
    """What is compared of a program."""
    source, name, target = key
    if source == "portable":
        entry = portable.programs()[name]
        return Subject(f"{name} {target}", portable.module(name, target), target, name, entry.case)
    entry = next(entry for entry in measure.entries(source, target) if entry.name == name)
    return Subject(f"{name} {target}", measure.texts(source, target)[name], target, name, entry.case)


def _row(question: tuple[Key, str | None]) -> Row:
    key, path = question
    one = subject(key)
    found = {"oric": compare.ours(one), "ptxas": compare.theirs(path, one) if path else None}
    figures = {who: dataclasses.asdict(f) if isinstance(f, Figures) else None for who, f in found.items()}
    failed = "; ".join(f"{who}: {f}" for who, f in found.items() if isinstance(f, str))
    source, name, target = key
    return {"source": source, "name": name, "target": target, "held_out": held_out(source, name), "failed": failed, **figures}


def run(ptxas: Ptxas, names: Sequence[str] = (), targets: tuple[str, ...] = TARGETS) -> list[Row]:
    """One row a kernel and target at -O3, of all kernels or of those named."""
    questions = [(key, ptxas.path) for key in keys(targets) if not names or key[1] in names]
    with multiprocessing.get_context("fork").Pool(multiprocessing.cpu_count()) as pool:
        return pool.map(_row, questions, chunksize=1)


def ratio(row: Row, what: str) -> float | None:
    """Ours in ptxas's; None where either is missing."""
    if not row["oric"] or not row["ptxas"]:
        return None
    return max(row["oric"][what], 1) / max(row["ptxas"][what], 1)


def mean(rows: list[Row], what: str) -> float | None:
    found = [r for row in rows if (r := ratio(row, what)) is not None]
    return geometric_mean(found) if found else None


def report(rows: list[Row], worst: int) -> None:
    """Means by target, of all and of those held out; the rows that are furthest behind in cycles."""
    lines: list[list[Any]] = []
    for target in dict.fromkeys(row["target"] for row in rows):
        for what, part in (("", False), (" held out", True)):
            some = [row for row in rows if row["target"] == target and row["held_out"] == part]
            above = sum((ratio(row, "cycles") or 0) > WORST_CYCLES for row in some)
            spills = [sum((row[who] or {"spills": 0})["spills"] for row in some) for who in ("oric", "ptxas")]
            lines.append([target + what, len(some), *(mean(some, figure) for figure in FIGURES[:4]), above, *spills])
    head = ["target", "kernels", *FIGURES[:4], f"cycles > {WORST_CYCLES}", "oric spills", "ptxas"]
    table("Whole programs, geometric means of ours in ptxas's", head, lines)
    shown = sorted(
        (row for row in rows if ratio(row, "cycles") and not row["held_out"]), key=lambda r: -(ratio(r, "cycles") or 0)
    )
    columns = [[f"{row['name']} {row['target']}", *(ratio(row, figure) for figure in FIGURES[:4])] for row in shown[:worst]]
    table("Furthest behind in cycles, of those not held out", ["kernel", *FIGURES[:4]], columns)
    for row in rows:
        if row["failed"]:
            print(f"    {row['name']} {row['target']}: {row['failed']}")


def verdicts(rows: list[Row]) -> list[str]:
    """The goals that were missed."""
    missed = []
    for figure, bound in BOUNDS.items():
        found = mean(rows, figure)
        if found is not None and found > bound:
            missed.append(f"whole programs: {figure} {found:.3f} of ptxas's, more than {bound}")
    above = sum((ratio(row, "cycles") or 0) > WORST_CYCLES for row in rows)
    return [*missed, *([f"whole programs: {above} rows above {WORST_CYCLES} of ptxas's cycles"] if above else [])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = run(Ptxas(), options.names, tuple(options.targets.split(",")))
    report(rows, options.rows)
    for line in verdicts(rows):
        print("goal missed:", line)


if __name__ == "__main__":
    main()
