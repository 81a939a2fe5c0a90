"""Functions behind phases, for the tests of what is shown of them."""

from __future__ import annotations

from functools import cache

from oric.driver import CompileOptions, compile_functions
from oric.driver.observing import Observer
from oric.inside.facts import Facts
from oric.inside.kinds import KINDS
from oric.ir.encoded import EncodedFunction
from oric.ir.function import Function
from oric.ir.read import read
from oric_tables.targets import TARGETS

from tests.kernels import cases

TARGET = "sm_90"
NAMES = ("saxpy", "histogram", "reduction", "collatz", "divrem")


def facts(name: str = TARGET) -> Facts:
    """Of a function that is read from text."""
    return Facts(TARGETS[name], 0, "text", {})


def lines_of(kind: str, text: str) -> list[str]:
    """The lines of a dump of a function in text, without the heading."""
    made = KINDS[kind]
    return list(made.lines(made.record(read(text), facts())))[1:]


def looked(
    ptx: str,
    kinds: tuple[str, ...],
    phases: tuple[str, ...] = (),
    level: int = 3,
    target: str = TARGET,
    registers: int | None = None,
) -> tuple[list[dict[str, object]], list[tuple[Function, EncodedFunction]]]:
    """The records of functions behind phases, and the functions with their code."""
    records: list[dict[str, object]] = []

    def seen(f: Function, where: Facts, _: float) -> None:
        records.extend(KINDS[kind].record(f, where) for kind in kinds)

    options = CompileOptions(target, level, observer=Observer(phases, seen), maxrregcount=registers)
    return records, compile_functions(ptx, options)


@cache
def kernel(name: str) -> str:
    """A kernel of the tests."""
    return cases.ptx(name, TARGET)
