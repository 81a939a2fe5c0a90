"""The target and backend tables against what the documents and ptxas 13.0.88 say."""

from __future__ import annotations

import pytest
from oric.sass.code import Code
from oricgen.tables import backends, targets

from tests import specification

SPEC = specification.spec()
BY_NAME = targets.load(SPEC).by_name
TABLE = backends.load(SPEC)

# `-arch` of ptxas 13.0.88 --help
ARCH = """
    sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f
    sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a
"""
# Headers of cubins that ptxas 13.0.88 makes: e_flags, first parameter in bank 0.
CONTAINERS = {
    "sm_75": (0x06004B04, 0x160), "sm_80": (0x06005004, 0x160), "sm_86": (0x06005604, 0x160), "sm_87": (0x06005704, 0x160),
    "sm_88": (0x06005804, 0x160), "sm_89": (0x06005904, 0x160), "sm_90": (0x06005A04, 0x210), "sm_90a": (0x06005A04, 0x210),
    "sm_100": (0x06006402, 0x380), "sm_100a": (0x06006402, 0x380), "sm_103f": (0x06006702, 0x380),
    "sm_110": (0x06006E02, 0x380), "sm_120": (0x06007802, 0x380), "sm_121a": (0x06007902, 0x380),
}  # fmt: skip


def test_every_name_is_there() -> None:
    assert sorted(t.name for t in BY_NAME.values() if t.ptxas) == sorted(ARCH.split())
    documented = "sm_30 sm_35 sm_37 sm_50 sm_53 sm_60 sm_61 sm_70 sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_104"
    assert set(documented.split()) <= set(BY_NAME)
    assert {t.name for t in BY_NAME.values() if t.code} <= set(ARCH.split())
    assert all(t.source for t in BY_NAME.values())


def test_documented_numbers_are_the_rows() -> None:
    """Ori IR and Data structures, field +24; the generation is the number >> 12."""
    numbers = {t.name: t.encoded_arch for t in BY_NAME.values() if t.encoded_known and not t.variant}
    assert numbers == {"sm_30": 12288, "sm_50": 20481, "sm_80": 28673, "sm_90": 36865}
    assert [number >> 12 for number in numbers.values()] == [3, 5, 7, 9]
    assert [BY_NAME[name].generation for name in numbers] == [3, 5, 7, 9]
    # Uniform registers are reported above 24575, which is what sm_75 and up have (Data structures, Stats Emitter).
    have = {t.name for t in BY_NAME.values() if t.encoded_arch > 24575}
    assert "sm_75" in have and have - {"sm_70", "sm_72"} == {n for n, t in BY_NAME.items() if t.limits.get("uniform_regs")}


@pytest.mark.row("R3-27")
def test_seven_backends() -> None:
    """Data structures, SM Backend Object."""
    assert [(b.case, b.size) for b in TABLE.by_case.values()] == [
        (3, 1712), (4, 1712), (5, 1888), (6, 1912), (7, 1928), (8, 1992), (9, 1992),
    ]  # fmt: skip
    cases = {"sm_30": 3, "sm_50": 4, "sm_60": 5, "sm_70": 6, "sm_75": 6, "sm_80": 7, "sm_89": 8, "sm_90": 9, "sm_90a": 9}
    assert {name: BY_NAME[name].backend for name in cases} == cases
    assert {t.backend for t in BY_NAME.values() if t.number >= 90} == {9, "unknown"}
    assert [t.name for t in BY_NAME.values() if t.backend == "unknown"] == ["sm_104"]


def test_operations_of_backends() -> None:
    assert len(TABLE.operations) > 50
    assert TABLE.operations["GvnCse"].slot == 23 and TABLE.operations["OriReassociateAndCommon"].slot == 44
    assert TABLE.operations["MidExpansion"].phases == (45,)
    assert TABLE.operations["LateExpansionUnsupportedOps"].phases == (78,)
    assert TABLE.operations["simplify_control_flow"].phases == (16, 64)


@pytest.mark.row("R3-28")
def test_capability_bits() -> None:
    """Bit 0 at +1037: seeds for FP64."""
    assert targets.load(SPEC).features["fp64_mufu_seeds"].bit == 0
    assert BY_NAME["sm_80"].capabilities & 1 == BY_NAME["sm_121f"].capabilities & 1 == 1
    assert not BY_NAME["sm_30"].capabilities & 1


def test_registers() -> None:
    """Registers, Per-Class Hardware Limits and Minimum Register Counts; what ptxas raises a limit to."""
    classes = ("max_regs", "uniform_regs", "predicates", "uniform_predicates", "barrier_regs", "uniform_barriers")
    for name in ("sm_75", "sm_80", "sm_90a"):
        assert [BY_NAME[name].limits[c] for c in classes] == [255, 63, 7, 7, 16, 16]
    assert [BY_NAME["sm_121"].limits[c] for c in classes] == [255, 77, 7, 7, 16, 16]
    assert [BY_NAME["sm_70"].limits[c] for c in classes] == [255, 0, 7, 0, 16, 16]
    minimums = {name: (t.limits["documented_min_regs"], t.limits["min_regs"]) for name, t in BY_NAME.items() if t.limits}
    assert {name for name, m in minimums.items() if m[0] == 0} == {"sm_30", "sm_32", "sm_35", "sm_37"}
    assert {name for name, m in minimums.items() if m[0] == 24} == {n for n, t in BY_NAME.items() if t.number >= 90 and t.limits}
    assert minimums["sm_62"] == (16, 16) and minimums["sm_70"] == (16, 24) and minimums["sm_90"] == (24, 24)
    assert all(minimums[name][1] == 24 for name in ARCH.split())


@pytest.mark.parametrize(("name", "facts"), CONTAINERS.items())
def test_containers(name: str, facts: tuple[int, int]) -> None:
    target = BY_NAME[name]
    flags, params = target.elf["flags_base"], target.bank0["params"]
    assert isinstance(flags, int) and (flags | target.number << 8, params) == facts
    assert (target.elf["osabi"], target.elf["abiversion"], target.elf["machine"]) == (0x41, 8, 190)


def test_names_of_ptx() -> None:
    """`.target`: the PTX versions that ptxas 13.0.88 asks for; families."""
    least = {
        "sm_30": 30,
        "sm_53": 42,
        "sm_75": 63,
        "sm_88": 73,
        "sm_90": 78,
        "sm_90a": 80,
        "sm_100": 86,
        "sm_100f": 88,
        "sm_121a": 88,
    }
    assert {name: BY_NAME[name].ptx for name in least} == least
    families = {name: t.family for name, t in BY_NAME.items() if t.variant == "f"}
    assert families == {"sm_100f": 100, "sm_101f": 110, "sm_103f": 100, "sm_110f": 110, "sm_120f": 120, "sm_121f": 120}
    assert BY_NAME["sm_104"].ptx == 0
    assert {t.name: t.renamed for t in BY_NAME.values() if t.renamed} == {
        "sm_101": "sm_110", "sm_101a": "sm_110a", "sm_101f": "sm_110f",
    }  # fmt: skip


def test_rows_with_code_know_everything() -> None:
    for target in targets.load(SPEC).with_code:
        absent = (targets.NONE, targets.UNKNOWN)
        known = {**target.limits, **{key: -1 if v in absent else v for key, v in target.bank0.items()}}
        assert all(isinstance(v, int) for v in known.values())


def test_prologues_say_what_their_words_are() -> None:
    """The texts are those of the disassembler, on every model of a target that has them."""
    models = targets.isa_names(SPEC)
    for prologue in targets.load(SPEC).prologues.values():
        for model in {models.index(t.isa) for t in BY_NAME.values() if t.prologue is prologue}:
            assert Code(model, prologue.code).plain_texts == list(prologue.texts)


@pytest.mark.row("R3-29")
def test_overrides_fall_back() -> None:
    """Target before backend before base; where none names an operation, the phase table decides."""
    text = (SPEC.root / "backends.yaml").read_text(encoding="utf-8")
    text = text.replace(
        "constructor: sub_662220}",
        "constructor: sub_662220, overrides: {GvnCse: null, OriReassociateAndCommon: remove_dead_code}}",
    )
    text = text.replace("vtable: off_21D6860,", "vtable: off_21D6860, overrides: {GvnCse: simplify_control_flow},")
    rows = (SPEC.root / "sm_targets.yaml").read_text(encoding="utf-8")
    rows = rows.replace("  sm_90a:\n", "  sm_90a:\n    overrides: {OriReassociateAndCommon: null}\n")
    found = targets.load(SPEC.edited({"backends.yaml": text, "sm_targets.yaml": rows})).by_name
    assert found["sm_80"].overrides == {}
    assert found["sm_89"].overrides == {"GvnCse": None, "OriReassociateAndCommon": "remove_dead_code"}
    assert found["sm_90"].overrides == {"GvnCse": "simplify_control_flow", "OriReassociateAndCommon": "remove_dead_code"}
    assert found["sm_90a"].overrides == {"GvnCse": "simplify_control_flow", "OriReassociateAndCommon": None}
