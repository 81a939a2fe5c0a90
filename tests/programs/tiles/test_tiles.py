"""Tiled products as nvcc makes PTX of them: this compiler's code is clean and computes what numpy says, and so does ptxas's."""

from __future__ import annotations

import oric
import pytest
from oric.sim import Modes

from tests.cubin.loader_facts import ptxas_image
from tests.e2e.conftest import ptxas  # noqa: F401
from tests.programs import archive, cuda
from tests.programs.compare import ours, theirs
from tests.programs.tiles.case import FILE, HERE, OWN, TARGETS, module, programs
from tests.programs.tiles.measure import judge, problem, subject

NAMES = sorted(programs())
EVERY = [(name, target) for name in NAMES for target in programs()[name].targets]
LEAST = 51


def turn(name: str) -> str:
    """One of a kernel's targets, so that over all of them every target has its turn."""
    targets = programs()[name].targets
    return targets[NAMES.index(name) % len(targets)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_each_on_one_target(name: str) -> None:
    assert problem(name, turn(name)) == ""


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_each_on_every_target(name: str, target: str, level: int) -> None:
    assert problem(name, target, level) == ""


def vendor_problem(ptxas: str, name: str, target: str) -> str:  # noqa: F811
    image = ptxas_image(ptxas, module(name, target), target)
    assert image is not None
    return judge(name, image, checked=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES[::4])
def test_ptxas_means_the_same(name: str, ptxas: str) -> None:  # noqa: F811
    assert vendor_problem(ptxas, name, turn(name)) == ""


@pytest.mark.measure
@pytest.mark.parametrize(("name", "target"), EVERY)
def test_ptxas_means_the_same_on_every_target(name: str, target: str, ptxas: str) -> None:  # noqa: F811
    assert vendor_problem(ptxas, name, target) == ""


@pytest.mark.parametrize("name", ["tensor_pair", "tensor_single"])
def test_commits_hand_order_on(name: str) -> None:
    """In fast mode products read shared memory as who issues them: copies behind the mbarrier of a commit are no race."""
    image = oric.compile(module(name, "sm_100a"), arch="sm_100a", opt_level=3).image
    assert not programs()[name].case().launch(oric.sim.load(image), name, Modes(memcheck=True)).reports


def test_figures_of_both(ptxas: str) -> None:  # noqa: F811
    mine, other = ours(subject("product_f16", "sm_80")), theirs(ptxas, subject("product_f16", "sm_80"))
    assert not isinstance(mine, str)
    assert not isinstance(other, str)
    assert 0 < mine.cycles < 2 * other.cycles
    assert mine.spills == other.spills == 0


def test_there_are_enough_and_all_have_stored_ptx() -> None:
    assert len(NAMES) >= LEAST
    assert {target for _, target in EVERY} == {*TARGETS, *(target for targets in OWN.values() for target in targets)}
    sources = {path.stem: cuda.since(path) for path in HERE.glob("*.cu")}
    assert {f"{source}.ptx" for source in sources} == set(archive.read(FILE))
    for entry in programs().values():
        assert f".target sm_{sources[entry.source]}\n" in archive.read(FILE)[f"{entry.source}.ptx"]
        assert f".entry {entry.name}(" in module(entry.name, entry.targets[0])
    assert FILE.stat().st_size < 500_000
