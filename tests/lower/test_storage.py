"""Variables by storage class: a module for each, the address that it compiles to, and the numbers of the state spaces."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.driver.front import PtxInput, build_inputs
from oric.driver.options import CompileOptions
from oric.lower.program import tables_of
from oric.support import elf
from oric_tables import storage

from .support import source

pytestmark = pytest.mark.memcheck

# Storage class -> module, body, parameters, the words stored. Each variable lies behind another, and is read at its name, at an
# address that code holds, and where a generic address may name it by that.
MODULES = {
    2: ("", "mov.u32 %r1, 7; mov.b64 %d1, {%r1, 9}; mov.b64 {%r2, %r3}, %d1; st.global.v2.u32 [%out], {%r2, %r3};", [7, 9]),
    4: (
        ".global .u32 before; .global .u32 row[4] = {5, 6, 7, 8};\n.const .u32 fixed[4] = {1, 2, 3, 4};\n.shared .u32 both[4];",
        """and.b32 %r1, %i, 1; add.u32 %r1, %r1, 2; ld.global.u32 %r2, row[%r1];
        ld.const.u32 %r3, fixed[%r1]; st.shared.u32 both[%r1], %r3; ld.shared.u32 %r4, both[%r1+0];
        st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};""",
        [2, 7, 3, 3],
    ),
    5: (
        ".const .u8 before = 1;\n.const .align 16 .u32 fixed[4] = {11, 12, 13, 14};",
        """ld.const.u32 %r1, [fixed+4]; mov.u64 %d1, fixed; ld.const.u32 %r2, [%d1+8]; cvta.const.u64 %d2, %d1;
        ld.u32 %r3, [%d2+12]; and.b64 %d3, %d1, 15; cvt.u32.u64 %r4, %d3; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};""",
        [12, 13, 14, 0],
    ),
    8: (
        "",
        """ld.param.u32 %r1, [first]; ld.param.u32 %r2, [second+4]; mov.u64 %d1, second; ld.param.u32 %r3, [%d1+8];
        st.global.v4.u32 [%out], {%r1, %r2, %r3, 0};""",
        [21, 32, 33, 0],
    ),
    9: (
        ".shared .align 4 .b8 before[20];\n.extern .shared .align 4 .b8 more[];",
        """mov.u32 %r1, more; mov.u32 %r2, before; sub.u32 %r3, %r1, %r2; st.shared.u32 [more+4], 77; ld.shared.u32 %r4, [%r1+4];
        st.global.v4.u32 [%out], {%r3, %r4, 0, 0};""",
        [32, 77, 0, 0],
    ),
    10: (
        ".global .u8 before = 1;\n.visible .global .align 4 .u32 row[4] = {41, 42, 43, 44};",
        """ld.global.u32 %r1, [row+4]; mov.u64 %d1, row; ld.global.u32 %r2, [%d1+8]; cvta.global.u64 %d2, %d1;
        ld.u32 %r3, [%d2+12]; ld.u32 %r4, [row]; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};""",
        [42, 43, 44, 41],
    ),
    11: (
        "",
        """.local .u8 before; .local .align 8 .u32 own[4]; st.local.u8 [before], 1; st.local.v2.u32 [own], {51, 52};
        st.local.u32 [own+8], 53; mov.u64 %d1, own; ld.local.u32 %r1, [%d1+4];
        cvta.local.u64 %d2, %d1; ld.u32 %r2, [%d2+8]; ld.u32 %r3, [own];
        and.b64 %d3, %d1, 7; cvt.u32.u64 %r4, %d3; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};""",
        [52, 53, 51, 0],
    ),
    12: (
        ".shared .u8 before;\n.shared .align 8 .u32 both[4];",
        """st.shared.u8 [before], 1; st.shared.v2.u32 [both], {61, 62}; st.shared.u32 [both+8], 63;
        mov.u32 %r9, both; ld.shared.u32 %r1, [%r9+4]; cvt.u64.u32 %d1, %r9; cvta.shared.u64 %d2, %d1; ld.u32 %r2, [%d2+8];
        ld.u32 %r3, [both]; and.b32 %r4, %r9, 7; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};""",
        [62, 63, 61, 0],
    ),
}  # fmt: skip
PARAMETERS = ", .param .u32 first, .param .align 4 .b8 second[12]"
ARGUMENTS = (np.uint32(21), np.array([31, 32, 33], np.uint32).tobytes())


def ptx(number: int) -> str:
    module, body, _ = MODULES[number]
    return source(body.replace("}, 0}", "}"), "sm_75", module, PARAMETERS)


def run(image: bytes, words: int = 4) -> list[int]:
    out = np.zeros(words, np.uint32)
    module = oric.sim.load(image)
    module.launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[np.zeros(4, np.uint32), out, *ARGUMENTS], shared_bytes=64)
    return out.tolist()


@pytest.mark.row("R2-09")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("number", MODULES)
def test_a_module_for_each_storage_class(number: int, level: int, arch: str) -> None:
    want = MODULES[number][2]
    assert run(oric.compile(ptx(number), arch=arch, opt_level=level).image)[: len(want)] == want


@pytest.mark.row("R2-09")
@pytest.mark.parametrize("number", MODULES)
def test_storage_classes_in_ptxas_code(number: int, tmp_path: Path) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, variables were not found as the vendor's code finds them")
    (tmp_path / "in.ptx").write_text(ptx(number), encoding="utf-8")
    subprocess.run(["ptxas", "-arch", "sm_90", "in.ptx", "-o", "out.cubin"], cwd=tmp_path, check=True)
    want = MODULES[number][2]
    assert run((tmp_path / "out.cubin").read_bytes())[: len(want)] == want


@pytest.mark.row("R2-09")
def test_reserved_shared_memory_begins_and_ends() -> None:
    """Storage class 3: numbers that the target has."""
    body = (
        "mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_cap; st.global.v2.u32 [%out], {%r1, %r2};"
    )
    assert run(oric.compile(source(body, "sm_80", "", PARAMETERS), arch="sm_90").image)[:2] == [0, 1024]


# Special register -> the symbol of it that files for sm_100 and later have, and its value.
RESERVED = {
    "begin": (".nv.reservedSmem.begin", 0), "end": None, "cap": (".nv.reservedSmem.cap", 0x400),
    "0": (".nv.reservedSmem.offset0", 0x40), "1": None,
}  # fmt: skip
DEFINED = ("__nv_reservedSMEM_offset_0_alias", 0x40)  # behind offset0, which every file has


def reads(names: list[str]) -> str:
    """A kernel that stores special registers of reserved shared memory in their order."""
    body = "".join(
        f"mov.u32 %r1, %reserved_smem_offset_{name}; st.global.u32 [%out+{4 * n}], %r1;\n" for n, name in enumerate(names)
    )
    return source(body, "sm_80", "", PARAMETERS)


def reserved_symbols(image: bytes) -> list[tuple[str, int]]:
    """The symbols of the system's part of shared memory, and those without a name, in the order of the file."""
    ours = [symbol for symbol in elf.read(image).symbols[1:] if "eserved" in symbol.name or (not symbol.name and symbol.other)]
    return [(symbol.name, symbol.value) for symbol in ours]


@pytest.mark.row("R2-16")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100a", "sm_103a", "sm_120"])
@pytest.mark.parametrize("names", [[name] for name in RESERVED] + [list(RESERVED), list(reversed(RESERVED))], ids="-".join)
def test_reserved_names_resolve_as_ptxas_resolves_them(names: list[str], arch: str, tmp_path: Path) -> None:
    """Their numbers, and the symbols that the files have for them."""
    image = oric.compile(reads(names), arch=arch).image
    if arch != "sm_80":
        own = [RESERVED[name] for name in names if RESERVED[name]]
        if arch == "sm_90":
            first = ("", 0) if "0" in names else (".nv.reservedSmem.offset0", 0)
            assert reserved_symbols(image) == [first, (DEFINED[0], 0), *[("", 0)] * (len(own) - ("0" in names))]
        else:
            assert reserved_symbols(image) == [RESERVED["0"], DEFINED, *(row for row in own if row != RESERVED["0"])]
    if shutil.which("ptxas") is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, the names of reserved memory were not compared with the vendor's")
    (tmp_path / "in.ptx").write_text(reads(names), encoding="utf-8")
    subprocess.run(["ptxas", "-arch", arch, "in.ptx", "-o", "out.cubin"], cwd=tmp_path, check=True)
    theirs = (tmp_path / "out.cubin").read_bytes()
    assert reserved_symbols(image) == reserved_symbols(theirs)
    assert run(image, 8) == run(theirs, 8)


@pytest.mark.row("R2-09")
def test_a_variable_has_the_class_of_its_declaration() -> None:
    """The class of each variable, and where the linker is told to fill an address in."""
    module = ".extern .shared .b8 more[];\n.const .u32 fixed;\n.global .u32 row;\n.shared .u32 both;\n"
    text = source(".local .u32 own; mov.u64 %d1, row; st.global.u64 [%out], %d1;", "sm_75", module)
    front = build_inputs([PtxInput(text, "m.ptx")], CompileOptions("sm_90"))
    assert not any(part.items for part in front.parts)
    assert {symbol.name: storage.CLASSES[symbol.space, symbol.binding == "extern"][0] for symbol in front.module.symbols} == {
        "more": 9, "fixed": 5, "row": 10, "both": 12, "own": 11,
    }  # fmt: skip
    assert [front.module.symbols[number].name for number in front.module.address_slots] == ["row"]
    image = oric.compile(text, arch="sm_90").image
    assert ".nv.constant4" in {section.name for section in elf.read(image).sections}


@pytest.mark.row("R2-61", "R2-63")
def test_rules_and_variables_have_the_numbers_of_their_spaces() -> None:
    """An access finds a variable where their numbers agree; code goes by nothing else."""
    numbers = {"generic": 1435, "global": 1436, "shared": 1437, "local": 1438, "const": 1439, "param": 1440}
    assert {name or "generic": number for name, number in storage.SPACES.items()} == numbers
    module = ".global .u32 row;\n.shared .u32 both;\n.extern .shared .u32 more[];\n.const .u32 fixed;\n"
    loads = {"ld.u32": "row", "ld.global.u32": "row", "ld.shared.u32": "both", "ld.local.u32": "own", "ld.const.u32": "fixed"}
    body = ".local .u32 own;" + "".join(f"{text} %r1, [{name}]; st.global.u32 [%out], %r1;" for text, name in loads.items())
    text = source(f"{body} atom.shared.add.u32 %r2, [more], 1; atom.add.u32 %r3, [%in], 1;", "sm_75", module)
    assert oric.compile(text, arch="sm_90").image
    tables = tables_of("sm_90", CompileOptions("sm_90").extras.added)
    found = {program.text: program.space for programs in tables.programs.values() for program in programs}
    spaces = {"ld.u32": 1435, "ld.global.u32": 1436, "ld.shared.u32": 1437, "ld.local.u32": 1438, "st.global.u32": 1436,
              "atom.shared.add.u32": 1437, "atom.add.u32": 1435}  # fmt: skip
    assert {name: found[name] for name in spaces} == spaces
    assert {space: storage.CLASSES[space, False][1] for space in ("global", "shared", "local", "const", "kernel")} == {
        "global": 1436, "shared": 1437, "local": 1438, "const": 1439, "kernel": 1440,
    }  # fmt: skip
    with pytest.raises(oric.CompileError, match="shared"):
        oric.compile(source("ld.global.u32 %r1, [both]; st.global.u32 [%out], %r1;", "sm_75", module), arch="sm_90")
