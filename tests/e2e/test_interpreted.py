"""The compiled compiler and the interpreted one, with arrays that check every access, give the same bytes or say the same."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import oric
import pytest
from oric.loading import INTERPRET
from oric_tables.targets import TARGETS
from oricgen import compiled

from tests.kernels import cases
from tests.ptx_corpus import archive

ROOT = Path(__file__).resolve().parents[2]
LEVELS = range(4)
PARTS = 32  # of all inputs; every second four of them are a test each
SHARE = 0.05  # of the inputs that are small, in every run of the tests
SMALL = 6000  # characters
FEW_REGISTERS = ROOT / "tests" / "regalloc" / "found"
_BODY = re.compile(r"\)\s*\{")
_TARGET = re.compile(r"^\.target\s+(\w+)", re.MULTILINE)


class Input(NamedTuple):
    """A PTX module and the target that it is compiled for."""

    name: str
    text: str
    target: str


@cache
def inputs() -> tuple[Input, ...]:
    """The kernels, the modules of other compilers and kernels with few registers, large and small ones spread evenly."""
    found = [Input(name, cases.ptx(name, target), target) for name in cases.files() for target in cases.TARGETS]
    for path in sorted(FEW_REGISTERS.glob("*.ptx")):
        limited, count = _BODY.subn(") .maxnreg 24 {", path.read_text(encoding="utf-8"), count=1)
        assert count
        found.append(Input(f"24 registers/{path.stem}", limited, _target(limited)))
    for compiler in archive.COMPILERS:
        found += [Input(f"{compiler}/{name}", text, _target(text)) for name, text in archive.modules(compiler)]
    random.Random(1).shuffle(found)
    return tuple(found)


def _target(text: str) -> str:
    """The target that a module names, sm_90 where there is none of that name."""
    named = _TARGET.search(text)
    assert named is not None
    return named[1] if named[1] in TARGETS else "sm_90"


def outcome(item: Input, level: int) -> str:
    """The digest of the cubin, or what is said in place of one."""
    try:
        return hashlib.sha256(oric.compile(item.text, arch=item.target, opt_level=level).image).hexdigest()
    except oric.CompileError as error:
        return str(error)


def outcomes(numbers: list[int]) -> Iterator[tuple[int, int, str]]:
    """(number of an input, level, outcome): a level each, all levels in turn."""
    for number in numbers:
        level = LEVELS[number % len(LEVELS)]
        yield number, level, outcome(inputs()[number], level)


def is_digest(told: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", told) is not None


def interpreted(numbers: list[int]) -> list[tuple[int, int, str]]:
    """:func:`outcomes` of a process that runs the sources."""
    path = os.pathsep.join(str(ROOT / part) for part in ("runtime", "generator", "build", "."))
    command = [sys.executable, "-m", "tests.e2e.test_interpreted", *map(str, numbers)]
    environment = {**os.environ, "PYTHONPATH": path, "ORIC_INTERPRET": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [(number, level, told) for number, level, told in json.loads(done.stdout)]


def check(numbers: list[int]) -> None:
    """The inputs give the same both ways, and some of them cubins."""
    here = list(outcomes(numbers))
    names = {number: inputs()[number].name for number in numbers}
    different = [
        f"{names[number]} -O{level}: {mine[:300]} / {told[:300]}"
        for (number, level, mine), (*_, told) in zip(here, interpreted(numbers), strict=True)
        if mine != told
    ]
    assert different == []
    assert sum(is_digest(mine) for *_, mine in here) > len(numbers) / 4


@pytest.mark.measure
@pytest.mark.parametrize("part", [part for part in range(PARTS) if part // len(LEVELS) % 4 == 0])
def test_every_fourth_input(part: int) -> None:
    """A quarter of them: as many at each level."""
    check(list(range(part, len(inputs()), PARTS)))


def test_a_sample() -> None:
    small = [number for number, item in enumerate(inputs()) if len(item.text) <= SMALL]
    check(random.Random(2).sample(small, round(SHARE * len(small))))


def test_what_is_named_apart_exists() -> None:
    named = [*(f"runtime/oric/{name}.py" for name in (*compiled.INTERPRETED, *compiled.MODULES)), *compiled.sources(ROOT)]
    assert [name for name in named if not (ROOT / name).is_file()] == []


if __name__ == "__main__":
    assert INTERPRET, "a process of its own runs the sources"
    print(json.dumps(list(outcomes([int(number) for number in sys.argv[1:]]))))
