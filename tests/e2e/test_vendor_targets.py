"""The facts of spec/sm_targets.yaml that ptxas 13 shows, against a ptxas that is here: names, headers, bank 0, limits.

Another release than 13.0 may know other targets; only those that it takes are compared.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from oric.sass.listing import list_cubin
from oric.support.elf import read
from oricgen.tables import targets
from oricgen.tables.targets import Target

from tests import specification

TABLE = targets.load(specification.spec())
NAMES = [t.name for t in TABLE.by_name.values() if t.ptxas]


def compiled(ptxas: str, folder: Path, target: Target, body: str, *options: str, ptx: int = 90, before: str = "") -> str:
    """Compile a kernel with one parameter; what ptxas says (nothing when all is well). The cubin is `k.cubin`."""
    text = f".version {ptx // 10}.{ptx % 10}\n.target {target.name}\n.address_size 64\n{before}\n"
    (folder / "k.ptx").write_text(f"{text}.visible .entry k(.param .u64 p) {{\n{body}\nret;\n}}\n", encoding="utf-8")
    command = [ptxas, f"-arch={target.name}", *options, str(folder / "k.ptx"), "-o", str(folder / "k.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def release(ptxas: str) -> tuple[int, int]:
    """Major and minor release of ptxas; without one of 13 the test is skipped."""
    said = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", said)
    if found is None or int(found[1]) != 13:
        pytest.skip(f"{ptxas} is none of release 13")
    return int(found[1]), int(found[2])


def test_names(ptxas: str, release: tuple[int, int]) -> None:
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"'(sm_\d+[af]?)'", text.partition("--gpu-name <")[2].partition("--help ")[0]))
    assert set(NAMES) <= found
    if release == (13, 0):
        assert set(NAMES) == found


@pytest.mark.parametrize("name", NAMES)
def test_container(ptxas: str, release: tuple[int, int], tmp_path: Path, name: str) -> None:
    target = TABLE.by_name[name]
    assert compiled(ptxas, tmp_path, target, "") == ""
    cubin = read((tmp_path / "k.cubin").read_bytes())
    assert (cubin.osabi, cubin.abiversion) == (target.elf["osabi"], target.elf["abiversion"])
    assert cubin.flags == int(target.elf["flags_base"]) | target.number << 8
    assert cubin.kernels["k"].param_base == target.bank0["params"]
    if release == (13, 0):
        found = {record.name: record.words() for record in cubin.kernels["k"].records if record.format == 4}
        assert found.get("SW_WAR", (0,)) == (target.elf["sw_war"],)


@pytest.mark.parametrize("name", NAMES)
def test_beginning_of_kernels(ptxas: str, release: tuple[int, int], tmp_path: Path, name: str) -> None:
    """At every level ptxas puts the row's prologue in front of what loads the stack pointer, or nothing."""
    target = TABLE.by_name[name]
    begins = list(target.prologue.words) if target.prologue else []
    for level in range(4):
        assert compiled(ptxas, tmp_path, target, "", f"-O{level}") == ""
        (function,) = list_cubin(read((tmp_path / "k.cubin").read_bytes())).functions
        assert [line.words[0] | line.words[1] << 64 for line in function.lines[: len(begins)]] == begins
        assert re.match(r"(MOV|LDC) R1, c\[0x0\]\[0x\w+\]", function.lines[len(begins)].text)


@pytest.mark.parametrize("name", NAMES)
def test_limits(ptxas: str, release: tuple[int, int], tmp_path: Path, name: str) -> None:
    target = TABLE.by_name[name]
    shared = ".reg .u32 x; mov.u32 x, s; st.shared.u32 [x], x;"
    said = compiled(ptxas, tmp_path, target, shared, before=".shared .align 4 .b8 s[999999];")
    assert f"0x{target.limits['static_shared']:x} max" in said
    said = compiled(ptxas, tmp_path, target, "", "-maxrregcount=1")
    assert f"to lower bound of {target.limits['min_regs']}" in said
    threads = int(target.limits["warps_per_sm"]) * 32
    for blocks, bad in ((threads // 1024, False), (threads // 1024 + 1, True)):
        body = f"}}\n.visible .entry j() .maxntid 1024 .minnctapersm {blocks} {{"
        assert ("out of range" in compiled(ptxas, tmp_path, target, body)) == bad, blocks
    for blocks, bad in ((int(target.limits["blocks_per_sm"]), False), (int(target.limits["blocks_per_sm"]) + 1, True)):
        body = f"}}\n.visible .entry j() .maxntid 32 .minnctapersm {blocks} {{"
        assert ("out of range" in compiled(ptxas, tmp_path, target, body)) == bad, blocks


@pytest.mark.parametrize("name", NAMES)
def test_ptx_version(ptxas: str, release: tuple[int, int], tmp_path: Path, name: str) -> None:
    target = TABLE.by_name[name]
    assert compiled(ptxas, tmp_path, target, "", ptx=target.ptx) == ""
    older = target.ptx - 1 if target.ptx % 10 else {70: 65, 80: 78, 90: 88}[target.ptx]
    said = compiled(ptxas, tmp_path, target, "", ptx=older)
    assert f"does not support .target {target.name}" in said
