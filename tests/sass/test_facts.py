"""`oric disasm --elf` and `--json --elf`: every fact of the container by name, as cuobjdump 13.1 names them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from oric.sass.cli import main
from oric.sass.facts import fact_lines, facts
from oric.support.elf import Cubin, read

DATA = Path(__file__).parents[1] / "data"
CONTAINER = DATA / "cubin" / "container.sm_90.cubin"


def cubin() -> Cubin:
    return read(CONTAINER.read_bytes())


def test_text_is_as_stored() -> None:
    """The whole text for one cubin; its names and numbers were compared with cuobjdump -elf when it was written."""
    assert "\n".join(fact_lines(cubin())) + "\n" == (DATA / "containers" / "facts.sm_90.txt").read_text(encoding="utf-8")


def test_attributes_by_name_and_layout() -> None:
    found = facts(cubin())["attributes"]
    module = [(row["name"], row["value"]) for row in found[".nv.info"]]
    assert ("REGCOUNT", {"symbol": "k_static", "value": 12}) in module
    kernel = {row["name"]: row["value"] for row in found[".nv.info.k_bounds"]}
    assert kernel["MAX_THREADS"] == [256, 1, 1] and kernel["MAXREG_COUNT"] != 0
    switch = {row["name"]: row["value"] for row in found[".nv.info.k_switch"]}
    assert switch["INDIRECT_BRANCH_TARGETS"] == [
        {"branch": 208, "targets": [288, 352, 224, 864]},
        {"branch": 528, "targets": [672, 544, 864]},
    ]
    params = [row["value"] for row in found[".nv.info.k_static"] if row["name"] == "KPARAM_INFO"]
    assert [(p["ordinal"], p["offset"], p["size"]) for p in params] == [(0, 0, 8)]


def test_sections_symbols_notes() -> None:
    found = facts(cubin())
    text = next(s for s in found["sections"] if s["name"] == ".text.k_static")
    assert (text["type"], text["kind"], text["align"]) == ("PROGBITS", "AX", 128)
    kernel = next(s for s in found["symbols"] if s["name"] == "k_static")
    assert (kernel["binding"], kernel["type"], kernel["marks"], kernel["section"]) == (
        "GLOBAL",
        "FUNC",
        "ENTRY",
        ".text.k_static",
    )
    tool, cuda = found["notes"]
    assert (tool["owner"], tool["tool"], cuda["virtual_sm"], cuda["toolkit"]) == ("NVIDIA Corp", "ptxas", "sm_90", "13.0")
    assert ["0", "-1"] in [list(edge) for edge in found["callgraph"]]
    assert {row["name"] for row in found["compat"]} >= {"CUDA_ACCELERATOR_TARGET", "ISA_CLASS"}


def test_relocations_and_spaces_of_an_object() -> None:
    found = facts(read(lzma.decompress((DATA / "containers" / "object.sm_80.cubin.xz").read_bytes())))
    assert found["header"]["type"] == "ET_REL"
    kinds = {r["type"] for r in found["relocations"]}
    assert kinds >= {"R_CUDA_ABS32_LO_32", "R_CUDA_ABS47_34", "R_CUDA_CONST_FIELD21_38", "R_CUDA_UNUSED_CLEAR64"}
    spaces = {s["name"]: s["marks"] for s in found["symbols"]}
    assert (spaces["g"], spaces["dyn"], spaces["tab"]) == ("GLOBAL", "SHARED", "CONSTANT")
    assert ("_Z1kPi", "vprintf") in [tuple(edge) for edge in found["callgraph"]]


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--elf", str(CONTAINER)]) == 0
    assert capsys.readouterr().out == "".join(f"{line}\n" for line in fact_lines(cubin()))
    assert main(["--elf", "--json", str(CONTAINER)]) == 0
    assert json.loads(capsys.readouterr().out)["elf"] == json.loads(json.dumps(facts(cubin())))
