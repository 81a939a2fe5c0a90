"""How compile time grows with size: from a thousand to a hundred thousand instructions in different shapes."""

from __future__ import annotations

from collections.abc import Callable

from bench import generated, stages
from bench.measure import Ptxas, Repeats, Row, exponent, our_time, table

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
EXPONENT_LIMIT = 1.1
LONGEST_MS = 15_000.0
PTXAS_SIZE = 10_000  # ptxas is measured up to this one
REPEATS = Repeats(5, 0.5)


def at_24_registers(make: Callable[[int, str], tuple[str, int]]) -> Callable[[int, str], tuple[str, int]]:
    """The same with a limit of registers under which values wait in memory."""

    def limited(size: int, target: str) -> tuple[str, int]:
        text, count = make(size, target)
        return text.replace(")\n{", ")\n.maxnreg 24\n{", 1), count

    return limited


SHAPES: tuple[tuple[str, Callable[[int, str], tuple[str, int]]], ...] = (
    ("one block", generated.one_block),
    ("blocks of five instructions", generated.many_blocks),
    ("loop nests of 20", generated.loop_nests),
    ("one loop nest", generated.one_nest),
    ("loop nests of 20, 24 registers", at_24_registers(generated.loop_nests)),
    ("300 inlined calls", generated.inlined_calls),
)


def measure(target: str, level: int, ptxas: Ptxas) -> list[Row]:
    """One row for each shape and size; none for sizes that would take too long, as far as the two before them tell."""
    rows: list[Row] = []
    for shape, make in SHAPES:
        points: list[tuple[int, float]] = []
        for size in SIZES:
            text, count = make(size, target)
            if len(points) > 1:
                power = max(1.0, exponent(points[-2:]))
                if points[-1][1] * (count / points[-1][0]) ** power > LONGEST_MS:
                    print(f"bench: growth, {shape}: {count} instructions and more left out: n^{power:.2f} so far")
                    break
            theirs = ptxas.compile_time(text, target, level, Repeats(2, 0.0)) if size <= PTXAS_SIZE else None
            found = stages.measure(text, target, level, 1)
            ours = 1e3 * our_time(text, target, level, REPEATS)
            rows.append({"shape": shape, "size": size, "instructions": count, "oric_ms": ours, "stages": found,
                         "ptxas_ms": None if theirs is None else theirs * 1e3})  # fmt: skip
            points.append((count, ours))
    return rows


def exponents(rows: list[Row], shape: str) -> tuple[float, float, str]:
    """Over all sizes and over the upper half of them, and the stage that grows most from the middle to the end."""
    own = [r for r in rows if r["shape"] == shape]
    points = [(r["instructions"], r["oric_ms"]) for r in own]
    upper = points[len(points) // 2 :]
    first, last = own[len(points) // 2]["stages"], own[-1]["stages"]
    grown = {stage: took - first.get(stage, 0.0) * upper[-1][0] / upper[0][0] for stage, took in last.items()}
    return exponent(points), exponent(upper), max(grown, key=grown.__getitem__)


def report(rows: list[Row]) -> None:
    """Print what was measured."""
    table(
        "Growth (generated PTX)",
        ["shape", "instructions", "oric ms", "oric us/i", "most in", "ptxas ms", "ptxas us/i"],
        [
            [
                r["shape"],
                r["instructions"],
                r["oric_ms"],
                r["oric_ms"] * 1e3 / r["instructions"],
                stages.guilty(r["stages"]),
                r["ptxas_ms"],
                r["ptxas_ms"] and r["ptxas_ms"] * 1e3 / r["instructions"],
            ]
            for r in rows
        ],
    )
    lines = [[shape, *exponents(rows, shape)] for shape in dict.fromkeys(r["shape"] for r in rows)]
    table("Exponent of growth", ["shape", "all sizes", "upper half", "grows most"], lines)


def verdicts(rows: list[Row]) -> list[str]:
    """The shapes that grow too fast."""
    missed = []
    for shape in dict.fromkeys(r["shape"] for r in rows):
        whole, upper, stage = exponents(rows, shape)
        if max(whole, upper) > EXPONENT_LIMIT:
            found = f"n^{whole:.2f}, n^{upper:.2f} in the upper half"
            missed.append(f"growth, {shape}: {found}, more than {EXPONENT_LIMIT} ({stage})")
    return missed
