"""What a loader sees of ptxas's cubins of the test modules, stored so that ours can be held against it without ptxas.

    python -m tests.cubin.loader_facts    # makes tests/data/cubin/loader.json.xz anew; needs ptxas 13.0.88 on PATH

The file holds the facts (:mod:`oric.sass.loader_view`) that there are, each once, and for every target and module the numbers of
its facts, as differences; so it is small, for most facts are in most files.
"""

from __future__ import annotations

import json
import lzma
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from oric.sass.loader_check import problems
from oric.sass.loader_view import Key, view
from oric.support.elf import read

from tests.cubin.loader_modules import MODULES

HERE = Path(__file__).parent
FILE = HERE.parent / "data" / "cubin" / "loader.json.xz"
# Every target that ptxas 13.0 makes code for.
TARGETS = (
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a",
    "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f",
)  # fmt: skip
_TARGET = re.compile(r"^(\s*\.target\s+)\w+", re.M)
_LEAST = re.compile(r"\.sm_(\d+)\.ptx$")
Facts = dict[Key, Any]


def sources(target: str) -> Iterator[tuple[str, str]]:
    """Name and PTX of the modules that a target takes: those of this folder, the kernels and the small modules of the tests."""
    number = int(re.sub(r"\D", "", target))
    yield from ((m.name, m.text(target)) for m in MODULES if m.fits(target))
    for path in sorted([*(HERE.parent / "kernels").glob("*.ptx"), *(HERE.parent / "data" / "cubin" / "structure").glob("*.ptx")]):
        least = _LEAST.search(path.name)
        newer = path.stem == "clusters" and number < 90
        if not newer and (least is None or int(least[1]) <= number) and not (least and least[1] == "80" and number >= 90):
            yield path.name, _TARGET.sub(rf"\g<1>{target}", path.read_text())


def ptxas_image(ptxas: str, text: str, target: str) -> bytes | None:
    """The cubin that ptxas makes; None when it does not take the module."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(text)
        done = subprocess.run([ptxas, "-arch", target, "in.ptx", "-o", "out.cubin"], cwd=folder, check=False, capture_output=True)
        return (Path(folder) / "out.cubin").read_bytes() if done.returncode == 0 else None


def make(ptxas: str) -> int:
    """Write the file; returns its size in bytes."""
    known: dict[str, int] = {}
    stored: dict[str, dict[str, list[int]]] = {}
    for target in TARGETS:
        for name, text in sources(target):
            image = ptxas_image(ptxas, text, target)
            if image is None:  # PTX of the other tests can be for newer targets only
                assert name.endswith(".ptx"), f"{name}: ptxas does not take it for {target}"
                continue
            cubin = read(image)
            found = problems(cubin)
            assert not found, (name, target, found)
            facts = [json.dumps([*key, value], separators=(",", ":")) for key, value in view(cubin).items()]
            numbers = sorted(known.setdefault(fact, len(known)) for fact in facts)
            steps = [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]
            stored.setdefault(target, {})[name] = steps
    version = subprocess.run([ptxas, "--version"], check=True, capture_output=True, text=True).stdout.split("\n")[-2]
    data = json.dumps({"tool": version, "facts": list(known), "modules": stored}, separators=(",", ":")).encode()
    return FILE.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


@cache
def _file() -> Any:
    return json.loads(lzma.decompress(FILE.read_bytes()))


def facts_of(target: str, name: str) -> Facts:
    """The stored facts of a module."""
    out, number = {}, 0
    for step in _file()["modules"][target][name]:
        number += step
        kind, thing, field, value = json.loads(_file()["facts"][number])
        out[Key(kind, thing, field)] = value
    return out


def names(target: str) -> set[str]:
    """The modules whose facts are stored for a target."""
    return set(_file()["modules"][target])


def plain(facts: Facts) -> Facts:
    """Facts as they come back from the file."""
    return {key: json.loads(json.dumps(value)) for key, value in facts.items()}


if __name__ == "__main__":
    tool = shutil.which("ptxas")
    if tool is None:
        raise SystemExit("there is no ptxas on PATH")
    print(f"{make(tool)} bytes, {len(_file()['facts'])} facts")
