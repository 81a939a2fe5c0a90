"""Every operation of atom and red, in every space, with every order and scope: 64 threads contend for one place."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import oric
import pytest
from oric.sim.modes import Modes

from .atomic_kernels import Operation, Site, is_history, kernel, wrong

TOGETHER = ("add", "min", "max", "and", "or", "xor")  # spec/aggregation.yaml
ARCHES = [("sm_90", 3), ("sm_90", 0), ("sm_80", 3), ("sm_80", 0), ("sm_100", 3), ("sm_120", 0)]
SCALARS = [
    *(Operation("add", t) for t in ("u32", "s32", "u64", "f32", "f64", "f16", "f16x2")),
    *(Operation(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")),
    *(Operation(op, t) for op in ("and", "or", "xor", "exch") for t in ("b32", "b64")),
    *(Operation(op, "u32") for op in ("inc", "dec")),
    *(Operation("cas", t) for t in ("b16", "b32", "b64")),
]
FROM_SM_90 = [*(Operation("add", t) for t in ("bf16", "bf16x2")), *(Operation(op, "b128") for op in ("exch", "cas"))]
VECTORS = [
    *(Operation("add", "f32", n) for n in (2, 4)),
    *(Operation(op, t, n) for op in ("add", "min", "max") for t in ("f16", "bf16") for n in (2, 4, 8)),
    *(Operation(op, t, n) for op in ("add", "min", "max") for t in ("f16x2", "bf16x2") for n in (2, 4)),
]
CLUSTERS = 90  # from this SM on


def _number(arch: str) -> int:
    return int("".join(c for c in arch if c.isdigit()))


def _sites(operation: Operation, arch: str) -> list[Site]:
    """Every form in every place; orders and scopes go round."""
    far = _number(arch) >= CLUSTERS
    scopes = ["", "cta", "gpu", "sys", *(["cluster"] if far else [])]
    orders = {
        "atom": [".".join(filter(None, p)) for p in itertools.product(("", "relaxed", "acquire", "release", "acq_rel"), scopes)],
        "red": [".".join(filter(None, p)) for p in itertools.product(("", "relaxed", "release"), scopes)],
    }
    rounds = {"sink": itertools.cycle(orders["atom"]), **{f: itertools.cycle(o) for f, o in orders.items()}}
    places = [("global", "global"), ("", "global")]
    if operation.vec == 1:
        places += [("", "shared"), ("", "local"), ("shared", "shared"), ("shared::cta", "shared")]
        places += [("shared::cluster", "shared")] * far
    forms = ["atom", "sink"] if operation.op in ("exch", "cas") else ["atom", "sink", "red"]
    found = [Site(form, space, place, next(rounds[form])) for _ in range(2) for space, place in places for form in forms]
    if operation.op != "cas":
        found += [Site(form, space, "global", next(rounds[form]), True) for space in ("global", "") for form in forms]
    return found


def _cases() -> list[tuple[Operation, str, int]]:
    """Operations that a target has, with a level."""
    out = []
    for arch, level in ARCHES:
        newer = _number(arch) >= CLUSTERS
        out += [(o, arch, level) for o in (*SCALARS, *(FROM_SM_90 + VECTORS if newer else ()))]
    return out


def _name(value: Operation | str | int) -> str:
    return f"{value.op}.{value.type}.v{value.vec}" if isinstance(value, Operation) else str(value)


@pytest.mark.sampled(5)
@pytest.mark.memcheck
@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("operation", "arch", "level"), _cases(), ids=_name)
def test_threads_that_contend(operation: Operation, arch: str, level: int) -> None:
    """What they saw, and what is left, comes of some order of the threads."""
    sites = _sites(operation, arch)
    if level and operation.op in TOGETHER:
        sites = [s for s in sites if s.place != "local"]  # one thread does the others', whose local memory is not its own
    image = oric.compile(kernel(operation, sites, arch), arch=arch, opt_level=level).image
    assert wrong(operation, sites, image) == []


@pytest.mark.measure
@pytest.mark.parametrize(("operation", "arch", "level"), _cases(), ids=_name)
def test_threads_that_contend_in_ptxas_code(operation: Operation, arch: str, level: int, tmp_path: Path) -> None:
    """A second opinion on kernel, judge and simulator: the vendor's code of the same PTX."""
    if shutil.which("ptxas") is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, atomics were not run as the vendor compiles them")
    sites = [s for s in _sites(operation, arch) if s.place != "local"]  # atomics there are nothing that PTX promises
    if operation.type.startswith("bf16"):
        sites = [s for s in sites if s.form != "sink" or operation.vec > 1]  # it dies of them
    (tmp_path / "in.ptx").write_text(kernel(operation, sites, arch))
    subprocess.run(["ptxas", f"-O{level}", "-arch", arch, "in.ptx", "-o", "out.cubin"], cwd=tmp_path, check=True)
    assert wrong(operation, sites, (tmp_path / "out.cubin").read_bytes(), modes=Modes()) == []


@pytest.mark.memcheck
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("operation", [*SCALARS, *FROM_SM_90], ids=_name)
def test_threads_of_two_blocks_that_contend(operation: Operation, level: int) -> None:
    """The memory of one block of a cluster, by the address of its window and by generic addresses."""
    forms = ["atom", "sink"] if operation.op in ("exch", "cas") else ["atom", "sink", "red"]
    orders = itertools.cycle(["", "relaxed.cluster", "release.cluster", "relaxed.gpu"])
    sites = [Site(form, space, "shared", next(orders)) for _ in range(2) for space in ("", "shared::cluster") for form in forms]
    image = oric.compile(kernel(operation, sites, "sm_90", blocks=2), arch="sm_90", opt_level=level).image
    assert wrong(operation, sites, image, blocks=2) == []


def test_histories() -> None:
    """The judge itself: chains, a chain with a loop, steps apart from it, a wrong end."""
    assert is_history(0, 3, [(1, 3), (0, 1)]) and is_history(0, 0, [(0, 1), (1, 0), (0, 0)]) and is_history(5, 5, [])
    assert not is_history(0, 1, [(0, 1), (2, 2)]) and not is_history(0, 2, [(0, 1)]) and not is_history(0, 1, [(0, 1), (0, 1)])
