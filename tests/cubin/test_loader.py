"""Would it load? Our cubins tell a loader what ptxas's cubins of the same modules tell it, and fit their own code."""

from __future__ import annotations

import shutil

import oric
import pytest
from oric.sass.diff import Difference, differences
from oric.sass.loader_check import problems
from oric.sass.loader_view import view
from oric.support.elf import Cubin, read
from oric.support.elf_format import SHF_MERCURY
from oric_tables.targets import TARGETS

from tests.cubin import loader_facts
from tests.cubin.loader_facts import facts_of, plain, sources
from tests.cubin.loader_modules import MODULES

# Whether what is loaded can be the second form, and what both ask of an SM: ptxas's answers depend on its code.
OF_SECOND_FORM = (("compat", "CAN_FASTPATH_FINALIZE"), ("compat", "ISA_CLASS"))
BOTH_LEVELS = frozenset(("warp_constant_mask", "warp_variable_mask", "divergence", "spills", "local", "jump_table", "barriers"))


def first_form(facts: loader_facts.Facts) -> loader_facts.Facts:
    """Facts without the second form of the program that ptxas writes for sm_100 and up, and what is said of that form."""
    second = {key.name for key, value in facts.items() if key[::2] == ("section", "flags") and int(value, 0) & SHF_MERCURY}
    return {key: value for key, value in facts.items() if key.name not in second and (key.kind, key.name) not in OF_SECOND_FORM}


def differing(image: Cubin, target: str, name: str) -> list[Difference]:
    return list(differences(first_form(plain(view(image))), first_form(facts_of(target, name))))


def compiled(text: str, target: str, level: int) -> bytes:
    """Our cubin; what there is no code for yet is passed over, and the summary says why."""
    try:
        return oric.compile(text, arch=target, opt_level=level).image
    except oric.CompileError as error:
        message = str(error).split("error: ", 1)[-1].split("\n")[0]
        if "not supported" not in message:
            raise
        pytest.skip(message)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", [t for t in loader_facts.TARGETS if t in TARGETS])
@pytest.mark.parametrize("name", [m.name for m in MODULES])
def test_a_loader_sees_what_ptxas_says(name: str, target: str) -> None:
    text = dict(sources(target)).get(name)
    if text is None:
        return  # the module is for newer targets
    for level in (0, 3) if name in BOTH_LEVELS else (3,):
        ours = read(compiled(text, target, level))
        assert differing(ours, target, name) == []
        assert problems(ours) == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", [t for t in loader_facts.TARGETS if t in TARGETS])
def test_kernels_and_small_modules(target: str) -> None:
    stored = loader_facts.names(target)
    for name, text in sources(target):
        if name.endswith(".ptx") and name in stored:
            ours = read(compiled(text, target, 3))
            assert differing(ours, target, name) == [], name
            assert problems(ours) == [], name


def test_every_target_with_code_has_stored_facts() -> None:
    assert set(TARGETS) <= set(loader_facts.TARGETS)


@pytest.mark.measure
@pytest.mark.parametrize("target", [t for t in loader_facts.TARGETS if t in TARGETS])
def test_against_ptxas_itself(target: str) -> None:
    """The stored facts are those of the ptxas at hand, and both files fit their code."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("THERE IS NO ptxas ON PATH: cubins were compared with stored facts alone")
    for name, text in sources(target):
        image = loader_facts.ptxas_image(ptxas, text, target)
        if image is None:
            assert name.endswith(".ptx"), name
            continue
        theirs = read(image)
        assert plain(view(theirs)) == facts_of(target, name), name
        try:
            ours = oric.compile(text, arch=target).image
        except oric.CompileError as error:
            assert "not supported" in str(error)
            continue
        assert differing(read(ours), target, name) == [], name
        assert (problems(read(ours)), problems(theirs)) == ([], []), name


def test_stored_facts_are_complete() -> None:
    """Every module that a target takes is stored, and the facts tell modules apart."""
    for target in loader_facts.TARGETS:
        stored = loader_facts.names(target)
        assert {m.name for m in MODULES if m.fits(target)} <= stored
        assert facts_of(target, "grid_x") != facts_of(target, "limits")
