"""Every scalar instruction that ptxas has made for the corpus executes: none of its variants is without a meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from oric_tables import ops
from oric_tables._native import ffi, lib

from tests import specification
from tests.corpus import golden
from tests.sim.program import CODE, word

MEMORY = ("memory", "atomics", "tma")
# Columns along W: their halo and offset have no public description that says which pixels come.
UNKNOWN = {"UTMALDG: this variant of UTMALDG"}
FAMILIES = ("integer", "float", "half", "convert", "logic", "uniform", "uniform_float")
ROOT = Path(__file__).resolve().parents[2]
_LAUNCH = {
    "grid": [1, 1, 1],
    "block": [32, 1, 1],
    "num_regs": 255,
    "shared_window": 1 << 40,
    "local_window": 2 << 40,
    "max_steps": 4,
}


@pytest.fixture(scope="module")
def scalar() -> set[str]:
    """The operations of the scalar families, less those that read system registers."""
    rows = [specification.spec().load(f"encoding/{family}.yaml")["operations"] for family in FAMILIES]
    return {name for family in rows for name, row in family.items() if "special" not in row.get("effects", [])}


def refused(model: str, step: int, wanted: set[str], codes: set[int], least: int) -> dict[str, str]:
    """For each wanted operation and kind of fault of every `step`-th word: one of the words that did not execute."""
    isa = ops.ISAS.index(model)
    words = golden.words(model)[::step]
    leave = word(isa, "EXIT")
    text = b"".join(w.word.to_bytes(16, "little") + leave for w in words)
    sim = ffi.gc(lib.oric_sim_new(isa), lib.oric_sim_delete)
    assert lib.oric_sim_add_code(sim, CODE, text, len(text)) == 0
    for bank in range(32):
        assert lib.oric_sim_set_bank(sim, bank, bytes(1 << 16), 1 << 16) == 0
    launch = ffi.new("oric_sim_launch *", _LAUNCH)
    decoded = ffi.new("oric_insn *")
    found: dict[str, str] = {}
    executed = 0
    for i, w in enumerate(words):
        if lib.oric_decode(isa, ffi.new("uint64_t[2]", [w.word & (1 << 64) - 1, w.word >> 64]), decoded) != 0:
            continue  # other tests see to it that words are decoded
        operation = ops.OPS[decoded.op]
        if operation.name not in wanted:
            continue
        launch.entry = CODE + 32 * i
        assert lib.oric_sim_start(sim, launch) == 0
        executed += 1
        if lib.oric_sim_run(sim, 4) != lib.ORIC_SIM_DONE:
            fault = lib.oric_sim_fault_info(sim)
            if fault.code in codes:
                found[f"{operation.name}: {ffi.string(fault.detail).decode()}"] = w.text
    assert executed > len(words) // least
    return found


SCALAR_CODES = {lib.ORIC_FAULT_ILLEGAL, lib.ORIC_FAULT_NO_MEANING}


@pytest.mark.parametrize("model", ["sm_75", "sm_90", "sm_100", "sm_120"])
def test_a_sample_of_the_scalar_words_executes(model: str, scalar: set[str]) -> None:
    assert refused(model, 5, scalar, SCALAR_CODES, 4) == {}


@pytest.mark.measure
@pytest.mark.parametrize("model", ops.ISAS)
def test_all_scalar_words_execute(model: str, scalar: set[str]) -> None:
    assert refused(model, 1, scalar, SCALAR_CODES, 4) == {}


def without_meaning(model: str, step: int) -> set[str]:
    """There is no memory at the addresses, but each word of memory comes as far as that."""
    rows = [specification.spec().load(f"encoding/{family}.yaml")["operations"] for family in MEMORY]
    names = {name for family in rows for name in family}
    return set(refused(model, step, names, {lib.ORIC_FAULT_NO_MEANING}, 10))


@pytest.mark.parametrize("model", ["sm_80", "sm_90", "sm_100"])
def test_a_sample_of_the_words_of_memory_has_meanings(model: str) -> None:
    assert without_meaning(model, 3) <= UNKNOWN


@pytest.mark.measure
@pytest.mark.parametrize("model", ops.ISAS)
def test_the_words_of_memory_have_meanings(model: str) -> None:
    assert without_meaning(model, 1) <= UNKNOWN
