"""Compile time of ours and of ptxas on two sets of modules: the kernels of the tests, and what other compilers made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from oric import CompileError
from oric.support.targets import TargetError, find_target

from bench import stages
from bench.measure import Ptxas, Repeats, Row, our_time, ptx_instructions, table
from tests.e2e import call_programs
from tests.kernels import cases
from tests.programs.portable import case
from tests.ptx_corpus import archive

KERNELS, CORPORA = "kernels of the tests", "modules of other compilers"
TOTAL_LIMIT, PHASES_LIMIT, MODULE_LIMIT = 0.35, 0.10, 1.0  # of ptxas's time
MODULE_SIZE = 200  # instructions from which on one module counts by itself
LEAST_MODULES = 100
DEFAULT_TARGET = "sm_90"
KERNEL_REPEATS, MODULE_REPEATS = Repeats(9, 0.5), Repeats(5, 0.6)
_TARGET = re.compile(r"^\s*\.target\s+(sm_(\d+)([af]?))(\s*,\s*debug)?", re.M)


class Input(NamedTuple):
    """A module to compile."""

    name: str
    text: str
    target: str


def kernels(names: list[str], targets: list[str]) -> list[Input]:
    """The kernels of the tests, each for every target."""
    return [Input(name, cases.ptx(name, target), target) for name in names for target in targets]


def corpora() -> Iterator[Input]:
    """The stored modules: those for older targets or for sm_90 for that one, others for their own.

    Without ``debug`` in the target: ptxas refuses to optimize such modules.
    """
    for compiler in archive.COMPILERS:
        for name, text in archive.modules(compiler):
            found = _TARGET.search(text)
            assert found is not None, name
            own, number, letter, debug = found.groups()
            if debug:
                text = text[: found.start(4)] + text[found.end(4) :]
            target = own if letter or int(number) > int(DEFAULT_TARGET[3:]) else DEFAULT_TARGET
            yield Input(f"{compiler}/{name.removesuffix('.ptx')}", text, target)


def calling(targets: list[str]) -> list[Input]:
    """Programs of the tests that make calls which stay calls, and those of which one text is for all targets."""
    inputs = [
        Input(f"calls/{name}", call_programs.HEAD.format(target=target) + call_programs.PROGRAMS[name].text, target)
        for name in call_programs.PROGRAMS
        for target in targets
    ]
    return inputs + [
        Input(f"programs/{name}", case.module(name, target), target)
        for name, entry in case.programs().items()
        for target in targets
        if target in entry.targets
    ]


def compiles(one: Input, level: int) -> bool:
    """Ours makes code of it."""
    import oric

    try:
        find_target(one.target, "gpu-name")
        oric.compile(one.text, arch=one.target, opt_level=level)
    except (CompileError, TargetError):
        return False
    return True


def measure(inputs: list[Input], level: int, repeats: Repeats, ptxas: Ptxas) -> list[Row]:
    """One row a module; ``ptxas_ms`` is None when ptxas refuses it or is not there."""
    rows: list[Row] = []
    for one in inputs:
        theirs = ptxas.compile_time(one.text, one.target, level, repeats)
        rows.append(
            {
                "name": one.name,
                "target": one.target,
                "ptx_instructions": ptx_instructions(one.text),
                "oric_ms": our_time(one.text, one.target, level, repeats) * 1e3,
                "ptxas_ms": None if theirs is None else theirs * 1e3,
                "stages": stages.measure(one.text, one.target, level, 3 if theirs is None or theirs < 0.2 else 1),
            }
        )
    return rows


class Sums(NamedTuple):
    """Of one set: milliseconds, instructions, and the stages of all modules together."""

    oric: float
    ptxas: float | None
    instructions: int
    stages: stages.Breakdown

    def part(self, milliseconds: float) -> float | None:
        """As a part of ptxas's time."""
        return milliseconds / self.ptxas if self.ptxas else None


def both(rows: list[Row]) -> list[Row]:
    """The rows that count for the comparison: both made code, or there is no ptxas at all."""
    return [r for r in rows if r["ptxas_ms"] is not None] or rows


def sums(rows: list[Row]) -> Sums:
    """Totals."""
    counted = both(rows)
    theirs = sum(r["ptxas_ms"] or 0.0 for r in counted)
    return Sums(
        sum(r["oric_ms"] for r in counted),
        theirs or None,
        sum(r["ptx_instructions"] for r in counted),
        stages.added([r["stages"] for r in counted]),
    )


def ratio(row: Row) -> float | None:
    """Ours in ptxas's."""
    return row["oric_ms"] / row["ptxas_ms"] if row["ptxas_ms"] else None


def each(row: Row) -> float:
    """Microseconds of ours an instruction."""
    took: float = row["oric_ms"] * 1e3 / max(1, row["ptx_instructions"])
    return took


def report(title: str, rows: list[Row], worst: int) -> None:
    """Totals, stages, and the modules that cost most."""
    all_ = sums(rows)
    refused = len(rows) - len(both(rows))
    print(f"\n== {title}: {len(both(rows))} modules, {all_.instructions} PTX instructions" + (
        f" ({refused} more that ptxas refuses at this level)" if refused else ""))  # fmt: skip
    their = "-" if all_.ptxas is None else f"{all_.ptxas:.1f} ms ({all_.ptxas * 1e3 / all_.instructions:.1f} us/i)"
    quotient = all_.part(all_.oric)
    print(f"oric {all_.oric:.1f} ms ({all_.oric * 1e3 / all_.instructions:.1f} us/i), ptxas {their}, "
          f"ratio {'-' if quotient is None else f'{quotient:.3f}'}")  # fmt: skip
    _report_stages(all_)
    large = [r for r in both(rows) if r["ptx_instructions"] > MODULE_SIZE]
    slow = sorted((r for r in large if r["ptxas_ms"]), key=lambda r: -r["oric_ms"] / r["ptxas_ms"])
    _report_worst(f"Of more than {MODULE_SIZE} instructions, the worst beside ptxas", slow[:worst])
    dear = sorted(large, key=lambda r: -each(r))
    _report_worst(f"Of more than {MODULE_SIZE} instructions, the worst by instruction", dear[:worst])


def _report_stages(all_: Sums) -> None:
    found, whole = all_.stages, sum(all_.stages.values())
    shown = {stage: stages.phases(found) if stage == "phases" else found.get(stage, 0.0) for stage in stages.ORDER}
    phases = {stage: took for stage, took in sorted(found.items(), key=lambda item: -item[1]) if stages.is_phase(stage)}
    lines = [*shown.items(), *((f"  phase {stage}", took) for stage, took in phases.items())]
    table(
        "stage",
        ["", "ms", "us/i", "of ours", "of ptxas"],
        [[s, t * 1e3, t * 1e6 / all_.instructions, f"{t / whole:.1%}", _percent(all_.part(t * 1e3))] for s, t in lines],
    )


def _percent(part: float | None) -> str | None:
    return None if part is None else f"{part:.2%}"


def _report_worst(title: str, rows: list[Row]) -> None:
    head = ["module", "target", "PTX", "oric ms", "ptxas ms", "ratio", "oric us/i", "most in"]
    lines = [
        [r["name"], r["target"], r["ptx_instructions"], r["oric_ms"], r["ptxas_ms"], ratio(r), each(r), r["most"]]
        for r in ({**row, "most": stages.guilty(row["stages"])} for row in rows)
    ]
    table(title, head, lines)


def verdicts(title: str, rows: list[Row]) -> list[str]:
    """The goals that one set misses."""
    all_, missed = sums(rows), []
    for what, part, limit in (
        ("all", all_.part(all_.oric), TOTAL_LIMIT),
        ("phases", all_.part(stages.phases(all_.stages) * 1e3), PHASES_LIMIT),
    ):
        if part is not None and part > limit:
            missed.append(f"{title}, {what}: {part:.3f} of ptxas's time, more than {limit}")
    for row in rows:
        quotient = ratio(row)
        if quotient is not None and row["ptx_instructions"] > MODULE_SIZE and quotient > MODULE_LIMIT:
            missed.append(f"{row['name']} for {row['target']}: {quotient:.2f} of ptxas's time, more than {MODULE_LIMIT}")
    return missed
