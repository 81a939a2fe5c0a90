"""Code with few registers, ours and ptxas's: bytes of spills, cycles in the simulator; what the proof of allocations costs."""

from __future__ import annotations

import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import Ptxas, Row, table
from bench.modules import Input
from tests.kernels import cases

LIMITS: tuple[int | None, ...] = (None, 24, 32, 40, 64)
SPILLS_LIMIT, CYCLES_LIMIT, PROOF_LIMIT = 1.1, 1.15, 0.10
PROOF_REPEATS = 5
_SPILLED = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


class Spills(NamedTuple):
    """Bytes that the code of a module stores and loads, counted once an instruction."""

    stores: int
    loads: int

    @property
    def both(self) -> int:
        return self.stores + self.loads


def our_spills(one: Input, level: int, limit: int | None) -> Spills:
    """Raises oric.CompileError."""
    import oric

    kernels = oric.compile(one.text, arch=one.target, opt_level=level, maxrregcount=limit).kernels.values()
    return Spills(sum(k.spills[0] for k in kernels), sum(k.spills[1] for k in kernels))


def their_code(one: Input, level: int, limit: int | None, ptxas: Ptxas) -> tuple[Spills, bytes] | None:
    """None: ptxas is not there, or refuses the module."""
    if ptxas.path is None:
        return None
    folder = Path(ptxas.folder.name)
    (folder / "k.ptx").write_text(one.text)
    command = [ptxas.path, "-v", f"-O{level}", "-arch", one.target, "k.ptx", "-o", "k.cubin"]
    command += ["-maxrregcount", str(limit)] if limit else []
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    found = [tuple(map(int, match.groups())) for match in _SPILLED.finditer(done.stdout + done.stderr)]
    return Spills(sum(stores for stores, _ in found), sum(loads for _, loads in found)), ptxas.image()


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
    """One row a module and limit; ``ptxas`` is None where that refuses the module, or is not there."""
    rows: list[Row] = []
    for one in inputs:
        for limit in LIMITS:
            theirs = their_code(one, level, limit, ptxas)
            ours = our_spills(one, level, limit)
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
                theirs = their_code(one, level, limit, ptxas)
                image = oric.compile(one.text, arch=target, opt_level=level, maxrregcount=limit).image
                rows.append({"name": file, "target": target, "limit": limit, "oric": cycles(image, file),
                             "ptxas": theirs and cycles(theirs[1], file)})  # fmt: skip
    return rows


def measure_proof(inputs: list[Input], level: int) -> Row:
    """CPU seconds of compilations at three limits, without and with the proof of their allocations."""
    import oric
    from oric.regalloc import verify

    took: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(PROOF_REPEATS):
        for proved in (False, True):
            verify.ALWAYS[0] = proved
            start = time.process_time()
            for one in inputs:
                for limit in (None, 24, 40):
                    oric.compile(one.text, arch=one.target, opt_level=level, maxrregcount=limit)
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
    return sum(r["oric"].both for r in counted), sum(r["ptxas"].both for r in counted)


def factor(rows: list[Row]) -> float | None:
    """Geometric mean of ours in ptxas's cycles."""
    return statistics.geometric_mean(r["oric"] / r["ptxas"] for r in rows) if rows else None


def report(spills: list[Row], clock: list[Row], proof: Row) -> None:
    """Print what was measured."""
    head = ["limit", "modules", "oric stores", "loads", "ptxas stores", "loads"]
    lines: list[list[Any]] = []
    for limit, rows in by_limit(spills):
        sums = [sum(getattr(r[who], what) for r in rows) for who in ("oric", "ptxas") for what in ("stores", "loads")]
        lines.append([limit, len(rows), *sums])
    table("Bytes of spills, by limit of registers", head, lines)
    lines = []
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
        if r["limit"] is None and r["ptxas"] is not None and r["oric"].both and not r["ptxas"].both
    ]
    for limit, rows in by_limit(clock):
        found = factor(rows)
        if found is not None and limit != "default" and found > CYCLES_LIMIT:
            missed.append(f"cycles at {limit} registers: {found:.2f} of ptxas's")
    if proof["with"] > (1 + PROOF_LIMIT) * proof["without"]:
        missed.append(f"proof of allocations: {proof['with'] / proof['without'] - 1:.1%} of the time")
    return missed
