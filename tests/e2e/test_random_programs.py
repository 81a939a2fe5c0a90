"""Random PTX kernels: what Oric makes of them at every level, run in the simulator, equals the reference interpreter."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.fuzz import programs

pytestmark = pytest.mark.memcheck


def run_image(image: bytes, data: programs.Buffer) -> tuple[programs.Buffer, programs.Buffer]:
    """Output lines and atomic words of one launch."""
    out = np.zeros((programs.THREADS, programs.OUT_WORDS), np.uint64)
    atoms = np.zeros(len(programs.ATOM_PLACE), np.uint32)
    module = oric.sim.load(image)
    module.launch("random_program", grid=(1, 1, 1), block=(programs.THREADS, 1, 1), args=[data.copy(), out, atoms])
    return programs.canonical(out), atoms


def check(program: programs.Program, target: str, make: Callable[[str], bytes]) -> None:
    """Compile, run, compare; a failure names the first wrong register and how to see the program."""
    data = programs.input_data(program.seed)
    want, want_atoms = program.run(data)
    got, atoms = run_image(make(program.text(target)), data)
    want = programs.canonical(want)
    if not (got == want).all():
        thread, slot = map(int, np.argwhere(got != want)[0])
        names = [name for _, name in programs.registers()] + [f"store {k}" for k in range(8)]
        raise AssertionError(
            f"seed {program.seed} on {target}: thread {thread}, {names[slot]} is {int(got[thread, slot]):#x}, expected "
            f"{int(want[thread, slot]):#x} (python -m oric.fuzz.programs {program.seed} {target} prints the program)"
        )
    assert (atoms == want_atoms).all(), f"seed {program.seed} on {target}: atomic words"


def check_seed(seed: int, levels: tuple[int, ...]) -> None:
    program = programs.Program(seed, size=20 + seed % 5 * 20)
    target = ("sm_80", "sm_90")[seed % 2]
    for level in levels:
        check(program, target, lambda text, level=level: oric.compile(text, arch=target, opt_level=level).image)


@pytest.mark.parametrize("seed", range(40))
def test_random_program(seed: int) -> None:
    check_seed(seed, (0, 3))


@pytest.mark.measure
@pytest.mark.parametrize("seed", range(1000, 1500))
def test_many_random_programs(seed: int) -> None:
    check_seed(seed, (0, 1, 2, 3))


PRESSED_LIMITS = (24, 24, 32, 40)
# Parts of registers that were split twice: one came from its slot only to be stored there again, and one that is written under a
# guard, and whose old value nobody needs, was brought back from a slot that nothing had been stored to.
SPLIT_TWICE = (100051, 100215, 101047, 101050)
BEHIND_A_WAIT = (2013, 2062)  # what went to the end of a block went behind the wait for the other threads
# A block waits for a load of the block before it, and so for one of its own that has the same scoreboard: loads that begin then
# are pending at its end, although the block by itself would have waited for them.
SHARED_SCOREBOARD = (2038,)


def check_pressed(seed: int) -> None:
    """With so few registers that some values wait in memory."""
    program = programs.Program(seed, size=40 + seed % 4 * 30)
    target = ("sm_80", "sm_90")[seed % 2]
    limit = PRESSED_LIMITS[seed % 4]
    for level in (0, 3):
        check(
            program, target, lambda text, level=level: oric.compile(text, arch=target, opt_level=level, maxrregcount=limit).image
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", (*range(8), *SPLIT_TWICE, *BEHIND_A_WAIT, *SHARED_SCOREBOARD))
def test_random_program_with_few_registers(seed: int) -> None:
    check_pressed(seed)


@pytest.mark.measure
@pytest.mark.parametrize("seed", range(2000, 2200))
def test_many_random_programs_with_few_registers(seed: int) -> None:
    check_pressed(seed)


# What ptxas 13.0 itself makes of these programs at -O3 is not what PTX says (its -O0 code is right).
PTXAS_DIFFERS = {
    1057: "a shift count is converted to S16 although the program converts it to U32",
    1064: "a branch in a loop is dropped although its predicate changes in the loop",
    1088: "neg.s16 of -32768 is compared as +32768",
}


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_random_program_by_ptxas(seed: int, level: int, ptxas: str, tmp_path: Path) -> None:
    """The judges themselves: what ptxas makes of the program gives the same results in the simulator."""
    program = programs.Program(seed, size=20 + seed % 5 * 20)
    target = ("sm_80", "sm_90")[seed % 2]

    def assemble(text: str) -> bytes:
        (tmp_path / "in.ptx").write_text(text)
        subprocess.run([ptxas, f"-O{level}", "-arch", target, "in.ptx", "-o", "out.cubin"], cwd=tmp_path, check=True)
        return (tmp_path / "out.cubin").read_bytes()

    if level == 3 and seed in PTXAS_DIFFERS:
        with pytest.raises(AssertionError, match="expected"):
            check(program, target, assemble)
    else:
        check(program, target, assemble)


def test_every_operation_is_reached() -> None:
    """The seeds of `make measure` use every instruction of the reference at least once."""
    text = "".join(programs.Program(seed, size=20 + seed % 5 * 20).text("sm_90") for seed in range(1000, 2000))
    missing = [op.mnemonic for op in programs.OPS if f"{op.mnemonic} " not in text]
    assert not missing
