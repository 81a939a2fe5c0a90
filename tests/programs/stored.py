"""The PTX of the programs as nvcc made it, so that nothing here needs nvcc: tests/data/programs/ptx.tar.xz.

python -m tests.programs.stored     # makes it anew; needs nvcc 13 on PATH
"""

from __future__ import annotations

import re
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

from tests.programs import archive, cuda
from tests.programs.case import SOURCES
from tests.sim.suite.case import HERE as SUITE
from tests.sim.suite.case import TARGETS

FILE = archive.DATA / "ptx.tar.xz"
_INTERNAL = re.compile(r"(_INTERNAL_)[0-9a-f]{8}(_\d+_\w+?_cu_)[0-9a-f]{8}")  # numbers that are others with every run of nvcc


def path_of(source: str) -> Path:
    """The CUDA source of that name, of the simulator's suite or of the folder ``sources``."""
    return next(folder / f"{source}.cu" for folder in (SOURCES, SUITE) if (folder / f"{source}.cu").exists())


def sources() -> list[str]:
    """Names of all sources."""
    return sorted(path.stem for folder in (SUITE, SOURCES) for path in folder.glob("*.cu"))


def number(target: str) -> int:
    """90 of ``sm_90a``."""
    return int(re.sub(r"\D", "", target))


def nearest(target: str) -> str:
    """The target whose PTX a target takes."""
    return [t for t in TARGETS if number(t) <= number(target)][-1]


def made(source: str, target: str) -> str:
    """The PTX that nvcc makes of a source.

    Raises:
        ToolError: nvcc is missing or refuses it.
    """
    return _INTERNAL.sub(r"\1\2", cuda.ptx(path_of(source), target.removeprefix("sm_")))


def ptx(source: str, target: str) -> str:
    """The stored PTX of a source for a target; one between those that it is made for takes that of the next older one."""
    text = archive.read(FILE)[f"{source}.{nearest(target)}.ptx"]
    return re.sub(r"^\.target \w+", f".target {target}", text, count=1, flags=re.M)


def has(source: str, target: str) -> bool:
    """Whether there is PTX of a source for a target."""
    return f"{source}.{nearest(target)}.ptx" in archive.read(FILE)


def wanted(source: str) -> list[str]:
    """The targets that PTX of a source is stored for."""
    text = path_of(source).read_text(encoding="utf-8")
    since, only = re.search(r"^// since: (\d+)", text, re.M), re.search(r"^// only: (.*)", text, re.M)
    allowed = only[1].split() if only else TARGETS
    return [t for t in TARGETS if t in allowed and (not since or number(t) >= int(since[1]))]


def main(names: list[str]) -> int:
    """Make the PTX of the sources of these names anew, of all where none is given."""
    kept = archive.read(FILE) if names else {}
    todo = [(source, target) for source in names or sources() for target in wanted(source)]
    with ThreadPool(2) as pool:
        texts = pool.starmap(made, todo)
    found = kept | {f"{source}.{target}.ptx": text for (source, target), text in zip(todo, texts, strict=True)}
    archive.write(FILE, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
