"""Orders, scopes and spaces of atomics, and fences, against what ptxas makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import oric
import pytest
from oric.sass.listing import list_cubin
from oric.support.elf import read
from oric_tables.targets import TARGETS

from . import vendor_orders as vendor

GOLDEN = vendor.load()
NEWEST = "sm_90"
# One target of each generation always, the others by make measure.
USUAL = [("sm_80", 0), ("sm_90", 3)]
WAYS = [
    (target, level) if (target, level) in USUAL else pytest.param(target, level, marks=pytest.mark.measure)
    for target in vendor.TARGETS
    for level in vendor.LEVELS
    if target in TARGETS
]
_LOOP = re.compile(r"(atom|red)((?:\.(?:relaxed|acquire|release|acq_rel))?(?:\.\w+)?)\.shared\.(add\.f32|add\.f64|cas\.b64)\b")


def expected(instruction: str, target: str) -> str:
    """What is made of an instruction: what ptxas makes, but for two cases (docs/deviations.md).

    In loops on shared memory it leaves out the fences of the order on targets with clusters; fences of one side, which only these
    targets are said to have, are no instructions on others.
    """
    made = GOLDEN[target][instruction]
    loop = _LOOP.match(instruction)
    if loop and loop[3] != "cas.b64":
        other = vendor._atomic("atom", loop[2], ".shared", "add", "u32")
        return " ".join(w for w in GOLDEN[target][other].split() if not w.startswith("ATOMS"))
    if vendor.number(target) < vendor.CLUSTERS and instruction.startswith(("fence.acquire", "fence.release")):
        return GOLDEN[NEWEST][instruction].replace(" CGAERRBAR", "")
    return made


def test_every_form_has_been_asked() -> None:
    for target in vendor.TARGETS:
        missing = set(vendor.forms(target)) - set(GOLDEN[target])
        assert not missing, f"{vendor.FILE.name} is older than the forms: run python -m tests.lower.vendor_orders (needs ptxas)"


@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("target", "level"), WAYS)
def test_what_orders_memory_is_what_ptxas_makes(target: str, level: int) -> None:
    forms = vendor.forms(target)
    image = oric.compile(vendor.module(forms, target), arch=target, opt_level=level).image
    made = dict(zip(forms, vendor.essences(forms, image), strict=True))
    wrong = {f: (made[f], expected(f, target)) for f in forms if made[f] != expected(f, target)}
    assert not wrong


def _waits(image: bytes, count: int) -> Iterator[tuple[int, bool]]:
    """Of every kernel: whether what stands behind its atomic waits for it."""
    listing = {f.name: f.lines for f in list_cubin(read(image)).functions}
    for n in range(count):
        lines = listing[f"k{n}"]
        at = max(i for i, line in enumerate(lines) if re.match(r"(@\S+ )?ATOM", line.text))
        board = lines[at].control >> 5 & 7  # of its result
        behind = next(line for line in lines[at + 1 :] if line.text.startswith(("CCTL", "NOP")))
        between = lines[at + 1 : lines.index(behind) + 1]
        yield n, board < 6 and any(line.control >> 11 >> board & 1 for line in between)


@pytest.mark.parametrize(("target", "level"), USUAL)
def test_an_acquire_is_waited_for(target: str, level: int) -> None:
    """Behind it stands what waits for its result, also when nobody wants that."""
    forms = [f for f in vendor.forms(target) if re.match(r"atom\.(acquire|acq_rel)\S*\.(add\.u32|global\.cas\.b64) ", f)]
    forms += [re.sub(r" %[a-z]o0,", " _,", f) for f in forms]
    image = oric.compile(vendor.module(forms, target), arch=target, opt_level=level).image
    assert [forms[n] for n, waits in _waits(image, len(forms)) if not waits] == []
