#!/usr/bin/env python3
"""Special registers, opaque variables and pragmas: what ptxas 13.0.88 says of each, kept in tests/data/ptx/objects.json.

    python -m tests.ptx.objects [--check]

Without option ptxas is asked and the file is written; with --check the file and the parser are compared, which needs no ptxas.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from oric.ptx.parser import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, Diagnostics, Source
from oric_tables import ptx_index as ix

from tests.ptx import agreement

FILE = Path(__file__).parents[1] / "data/ptx/objects.json"
COMMAND = "python -m tests.ptx.objects"
PLACES = (("sm_75", "6.3"), ("sm_75", "9.0"), ("sm_90", "7.8"), ("sm_90", "9.0"))
_STRANGERS = ("pm8", "envreg32", "tid.u", "laneid.x", "warpsz", "reserved_smem_offset_2", "pm8_64", "clusterid.u")
_MOVES = ("u16", "b16", "s16", "u32", "b32", "s32", "f32", "u64", "b64", "s64", "f64", "pred")
_FIELDS = sorted({field for fields, _, _ in ix.OPAQUE.values() for field in fields} | {"size"})
_OBJECTS = (
    "{d} x;", "{d} x[4];", "{d} x[];", "{d} x = {{ }};", "{d} x = {{ 3 }};", "{d} x = 3;", "{d} x = {{ width 3 }};", "{d} x, y;",
    ".visible {d} x;", ".weak {d} x;", ".common {d} x;", ".entry e(.param .T x) {{ ret; }}", ".func f() {{ {d} x; ret; }}",
    ".entry e(.param .T x[2]) {{ ret; }}", ".func f(.param .T x) {{ ret; }}", ".func f() {{ .reg .T x; ret; }}", ".const .T x;",
    ".shared .T x;", ".global .v2 .T x;", ".global .align 8 .T x;",
    "{d} x[2] = {{ {{ array_size = 3 }}, {{ array_size = 4 }} }};",
)  # fmt: skip
_PRAGMAS = ("nounroll", "used_bytes_mask 0x7", "used_bytes_mask", "used_bytes_mask x", "frequency 3", "frequency", "frequency -1",
            "frequency 1 2", "unheard_of", "abi_param_reg 2, 3", "abi_param_reg 2, 8", "abi_param_reg")  # fmt: skip


def modules() -> Iterator[tuple[str, str, str]]:
    """Target (with options), version and text behind the header of each module."""
    for target, version in PLACES:
        for text in _PRAGMAS:
            pragma = f'.pragma "{text}";'
            yield target, version, f".entry k() {{ {pragma} ret; }}"
            yield target, version, f".entry k() {pragma} {{ ret; }}"
            yield target, version, f".func k() {pragma} {{ ret; }}"
            yield target, version, f"{pragma}\n.entry k() {{ ret; }}"
    for mode in ("", ", texmode_independent"):
        for type_ in ix.OPAQUE:
            for text in _OBJECTS:
                yield "sm_90" + mode, "9.0", text.replace(".T", "." + type_).format(d=f".global .{type_}")
            for field in _FIELDS:
                for value in ("3", "nearest", "nothing"):
                    yield "sm_90" + mode, "9.0", f".global .{type_} x = {{ {field} = {value} }};"


def moves() -> list[str]:
    """Instructions that read each special register in each way."""
    vectors = ["mov.v4.u32 {%u32_1, %u32_2, %u32_3, %u32_4}", "mov.v4.u16 {%u16_1, %u16_2, %u16_3, %u16_4}"]
    heads = [*(f"mov.{t} %{t}_1" for t in _MOVES), *vectors, "cvt.u16.u32 %u16_1", "cvt.u64.u32 %u64_1", "cvt.rn.f32.u32 %f32_1"]
    return [f"{head}, %{name}" for name in (*ix.SPECIAL, *_STRANGERS) for head in heads]


def full(target: str, version: str, text: str) -> str:
    """The whole module."""
    return f".version {version}\n.target {target}\n.address_size 64\n{text}\n"


def ours(text: str) -> bool:
    """Does the parser take a module?"""
    diag = Diagnostics(Source(text, "m.ptx"), 10**9)
    try:
        parse_module(text, "m.ptx", Recorder(diag.source), None, diag)
    except CompileError:
        return False
    return diag.error_count == 0


def ptxas(target: str, text: str) -> bool:
    """Does ptxas take it (without making code)?"""
    program = shutil.which("ptxas")
    assert program is not None, "there is no ptxas on PATH"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ptx"
        path.write_text(text, encoding="utf-8")
        real = target.partition(",")[0]
        command = [program, "-c", "-O0", "-arch", real, str(path), "-o", str(path.with_suffix(".o"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def load(kind: str) -> list[bool]:
    """The verdicts of the file, in the order of :func:`modules` or, for each place, of :func:`moves`."""
    return [c == "+" for c in json.loads(FILE.read_text(encoding="utf-8"))[kind]]


def differences() -> list[str]:
    """Modules of which the file says something else than the parser."""
    found = []
    lines = moves()
    mine = [
        (f"{place}: {line}", v.accepted) for place in PLACES for line, v in zip(lines, agreement.ours(lines, *place), strict=True)
    ]
    for (text, verdict), known in zip(mine, load("moves"), strict=True):
        if verdict != known:
            found.append(f"{text}: ptxas {'takes' if known else 'refuses'} it")
    for (target, version, text), verdict in zip(modules(), load("modules"), strict=True):
        if ours(full(target, version, text)) != verdict:
            found.append(f"{target} {version}: {' '.join(text.split())[-90:]}: ptxas {'takes' if verdict else 'refuses'} it")
    return found


def main() -> int:
    """Ask ptxas, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the file with the parser")
    if parser.parse_args().check:
        found = differences()
        print("\n".join(found) or "all agree")
        return 1 if found else 0
    lines = moves()
    asked = [verdict.accepted for place in PLACES for verdict in agreement.ptxas(lines, *place)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda row: ptxas(row[0], full(*row)), modules()))
    rows = {"moves": "".join("-+"[v] for v in asked), "modules": "".join("-+"[v] for v in taken)}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({"source": "ptxas 13.0.88", "remade by": COMMAND, **rows}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(asked)} instructions, {len(taken)} modules, ptxas takes {sum(asked)} and {sum(taken)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
