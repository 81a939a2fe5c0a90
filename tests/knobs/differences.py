"""For every knob a module and a value that make other code: tests/knobs/differences.yaml.

python -m tests.knobs.differences [NAME...]    # looks for those that the file lacks (or for these), and adds them
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from codecs import encode
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import oric
import yaml
from oric_tables.knob_rows import ROWS, Row

from tests.kernels import cases
from tests.programs import measure, stored
from tests.programs.portable import case as portable

FILE = Path(__file__).with_name("differences.yaml")
NAMES = {encode(row.name, "rot13"): row for row in ROWS}
_TARGETS = ("sm_80", "sm_120a")
_LIMITS = (None, 24)  # --maxrregcount
# Knobs that are no numbers: values to try.
_VALUES = {
    "promote_locals": ("off",), "unroll_ahead": ("2:256", "4:2"), "unroll_rounds": ("1..1", "100..1000"),
    "unroll_share": ("0", "1"), "tool_note": ("-O3",), "order_policy": ("own", "frugal"), "skip_phases": ("on",),
    "skip_rules": ("on",), "extra_latency": ("LDG:400,LDS:100,FFMA:40,IMAD:40",), "keep_opcodes": ("IMAD,IADD3,LOP3,MOV",),
    "pressure_coefficient": ("0", "1"), "spread_files": ("0,0,0,0,0",), "compile_timeout_ms": (),
}  # fmt: skip


# What else is set, so that anything reads a knob.
_WITH = {"unroll_factor_default": ("nvopt_recipe=5",), "unroll_size": ("nvopt_recipe=5",)}
# Modules to try first.
_FIRST = {"promote": ("library/standard_types",)}
_ENOUGH = 220  # modules of a target that are tried


class Difference(NamedTuple):
    """A module (``text_of``), a target and a limit of registers with which ``value`` makes other code.

    ``also``: what is set besides.
    """

    value: str
    module: str
    target: str
    limit: int | None = None
    also: tuple[str, ...] = ()


def read() -> dict[str, Difference]:
    """Those that are known."""
    found = yaml.safe_load(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {name: Difference(*row[:4], tuple(row[4])) for name, row in (found or {}).items()}


def text_of(module: str, target: str) -> str:
    """``kernels/NAME``, ``portable/NAME`` or ``SOURCE/NAME`` of the stored programs."""
    source, name = module.split("/")
    if source == "kernels":
        return cases.ptx(name, target)
    return portable.module(name, target) if source == "portable" else measure.texts(source, target)[name]


@cache
def modules(target: str) -> list[str]:
    """All of them: kernels and portable programs, then the others, small ones first."""
    names = [f"kernels/{name}" for name in cases.files()]
    names += [
        f"portable/{name}" for name, one in portable.programs().items() if stored.nearest(target).removesuffix("a") in one.targets
    ]
    names += [f"{source}/{one.name}" for source in stored.sources() for one in measure.entries(source, target)]
    own = {"kernels": 0, "portable": 1}
    return sorted(set(names), key=lambda name: (own.get(name.split("/")[0], 2), len(text_of(name, target)), name))


@cache
def image(module: str, target: str, limit: int | None, *knobs: str) -> bytes:
    """The file that is made."""
    return oric.compile(text_of(module, target), target, maxrregcount=limit, knobs=knobs).image


def values(row: Row, name: str) -> list[str]:
    """What to try: the bounds, a quarter and the fourfold of the default."""
    if name in _VALUES:
        return list(_VALUES[name])
    numbers = [int(part) for part in row.default.split(",")]
    tried = [[row.least] * len(numbers), [row.most] * len(numbers), [n // 4 for n in numbers], [4 * n + 1 for n in numbers]]
    tried.append([n + 1 for n in numbers])
    fit = [",".join(str(min(max(n, row.least), row.most)) for n in some) for some in tried]
    return [value for value in dict.fromkeys(fit) if value != row.default]


def look(row: Row, name: str, seconds: float) -> Difference | None:
    """A difference that a knob makes, None when none is found in so long."""
    end = time.monotonic() + seconds
    also = _WITH.get(name, ())
    for limit in _LIMITS:
        for target in _TARGETS:
            first = next((found for part, found in _FIRST.items() if name.startswith(part)), ())
            for module in (*first, *islice(modules(target), _ENOUGH)):
                for value in values(row, name):
                    if time.monotonic() > end:
                        return None
                    try:
                        before, after = (
                            image(module, target, limit, *also),
                            image(module, target, limit, *also, f"{name}={value}"),
                        )
                    except oric.CompileError:
                        continue
                    if before != after:
                        return Difference(value, module, target, limit, also)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60, help="how long one knob is looked at")
    given = parser.parse_args()
    known = read()
    for name in given.names or [name for name in NAMES if name not in known]:
        found = look(NAMES[name], name, given.seconds) if name != "compile_timeout_ms" else None
        print(name, found, flush=True)
        if found is not None:
            known[name] = found
            texts = {key: json.dumps([*known[key][:4], list(known[key].also)]) for key in sorted(known)}
            rows = "".join(f"{key}: {text}\n" for key, text in texts.items())
            FILE.write_text(f"# knob: value, module, target, --maxrregcount (tests.knobs.differences)\n{rows}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
