"""Code with few registers, ours and ptxas's: spills, stack frames, simulated cycles; what the proof of allocations costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench.measure import Frames, Ptxas, Row, our_code, table
from bench.modules import Input
from tests.kernels import cases

LIMITS: tuple[int | None, ...] = (None, 24, 32, 40, 64)
SPILLS_LIMIT, CYCLES_LIMIT, PROOF_LIMIT = 1.1, 1.15, 0.10
PROOF_REPEATS = 5


def cycles(image: bytes, file: str) -> int:
    """Of all launches of a kernel file."""
    import oric

    total = 0
    for case in (case for case in cases.CASES if case.file == file):
        module = oric.sim.load(image)
        for step in case.build():
            done = module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, modes=oric.sim.Modes(timing=True))
            assert done.timing is not None
            total += done.timing.cycles
    return total


def measure_spills(inputs: list[Input], level: int, ptxas: Ptxas) -> list[Row]:
    """One row a module and limit, of all its functions; ``ptxas`` is None where that refuses the module, or is not there.

    Where no register allocation is possible at a limit, which ptxas must say as well, there is no row.

    Raises:
        oric.CompileError: a module does not compile, and ptxas takes it.
    """
    import oric

    rows: list[Row] = []
    for one in inputs:
        for limit in LIMITS:
            theirs = ptxas.code(one.text, one.target, level, limit)
            try:
                ours, _ = our_code(one.text, one.target, level, limit)
            except oric.CompileError:
                if limit is None or theirs is not None:
                    raise
                continue
            rows.append({"name": one.name, "target": one.target, "limit": limit, "oric": ours, "ptxas": theirs and theirs[0]})
    return rows


def measure_cycles(files: list[str], targets: list[str], level: int, ptxas: Ptxas) -> list[Row]:
    """One row a kernel file, target and limit."""
    import oric

    rows: list[Row] = []
    for file in files:
        for target in targets:
            for limit in LIMITS:
                one = Input(file, cases.ptx(file, target), target)
                theirs = ptxas.code(one.text, one.target, level, limit)
                image = oric.compile(one.text, arch=target, opt_level=level, maxrregcount=limit).image
                rows.append({"name": file, "target": target, "limit": limit, "oric": cycles(image, file),
                             "ptxas": theirs and cycles(theirs[1], file)})  # fmt: skip
    return rows


def measure_proof(inputs: list[Input], level: int) -> Row:
    """CPU seconds of compilations at three limits, without and with the proof of their allocations."""
    import oric
    from oric.regalloc import verify

    def make(one: Input, limit: int | None) -> bool:
        try:
            oric.compile(one.text, arch=one.target, opt_level=level, maxrregcount=limit)
        except oric.CompileError:
            return False
        return True

    fitting = [(one, limit) for one in inputs for limit in (None, 24, 40) if make(one, limit)]
    took: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(PROOF_REPEATS):
        for proved in (False, True):
            verify.ALWAYS[0] = proved
            start = time.process_time()
            for one, limit in fitting:
                make(one, limit)
            took[proved].append(time.process_time() - start)
    verify.ALWAYS[0] = False
    return {"without": statistics.median(took[False]), "with": statistics.median(took[True])}


def by_limit(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows that both have, limit by limit."""
    for limit in LIMITS:
        yield str(limit or "default"), [r for r in rows if r["limit"] == limit and r["ptxas"] is not None]


def spill_totals(rows: list[Row]) -> tuple[int, int]:
    """Ours and ptxas's bytes under limits."""
    counted = [r for r in rows if r["limit"] and r["ptxas"] is not None]
    return sum(r["oric"].spills for r in counted), sum(r["ptxas"].spills for r in counted)


def factor(rows: list[Row]) -> float | None:
    """Geometric mean of ours in ptxas's cycles."""
    return statistics.geometric_mean(r["oric"] / r["ptxas"] for r in rows) if rows else None


def report_frames(title: str, spills: list[Row]) -> None:
    """Spills and stacks, a line a limit."""
    lines: list[list[Any]] = []
    for limit, rows in by_limit(spills):
        sums = [sum(getattr(r[who], what) for r in rows) for what in Frames._fields for who in ("oric", "ptxas")]
        lines.append([limit, len(rows), *sums])
    table(title, ["limit", "modules", "oric stack", "ptxas", "oric stores", "ptxas", "oric loads", "ptxas"], lines)


def report(spills: list[Row], calling: list[Row], clock: list[Row], proof: Row) -> None:
    """Print what was measured."""
    report_frames("Bytes of stack frames and spills, by limit of registers", spills)
    report_frames("The same of programs that make calls", calling)
    lines: list[list[Any]] = []
    for limit, rows in by_limit(clock):
        worst = max(rows, key=lambda r: r["oric"] / r["ptxas"], default=None)
        shown = [worst["oric"] / worst["ptxas"], f"{worst['name']} {worst['target']}"] if worst else [None, None]
        lines.append([limit, len(rows), factor(rows), *shown])
    head = ["limit", "kernels", "factor", "worst", "in"]
    table("Cycles of the kernels of the tests, geometric mean of ours in ptxas's", head, lines)
    part = proof["with"] / proof["without"] - 1
    print(
        f"\nproof of allocations: {proof['without']:.2f} s of CPU without, {proof['with']:.2f} with it: {100 * part:.1f} % more"
    )


def verdicts(spills: list[Row], clock: list[Row], proof: Row) -> list[str]:
    """The goals that were missed."""
    missed: list[str] = []
    ours, theirs = spill_totals(spills)
    if theirs and ours > SPILLS_LIMIT * theirs:
        missed.append(f"spills: {ours} bytes, ptxas {theirs}")
    missed += [
        f"spills: {r['name']} {r['target']} at the default limit, where ptxas has none"
        for r in spills
        if r["limit"] is None and r["ptxas"] is not None and r["oric"].spills and not r["ptxas"].spills
    ]
    for limit, rows in by_limit(clock):
        found = factor(rows)
        if found is not None and limit != "default" and found > CYCLES_LIMIT:
            missed.append(f"cycles at {limit} registers: {found:.2f} of ptxas's")
    if proof["with"] > (1 + PROOF_LIMIT) * proof["without"]:
        missed.append(f"proof of allocations: {proof['with'] / proof['without'] - 1:.1%} of the time")
    return missed
