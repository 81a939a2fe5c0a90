"""Timing mode takes its cycles from the columns of the model: with others it counts others."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import oric
import oric_tables
import pytest
from oricgen import native

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("settle", "over_read", "over_read_variable", "over_read_late", "late_read", "block_barrier")
READ = ("settle", "late_read", "block_barrier")
# The value that is stored changes right behind the store, and the block meets in every round.
PTX = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry rounds(.param .u64 out) {
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
again:
    st.global.u32 [%rd2], %r1;
    add.u32 %r1, %r1, %r1;
    bar.sync 0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 20;
    @%p bra again;
    ret;
}
"""
CYCLES = """
import sys, oric, oric.sim
module = oric.sim.load(bytes.fromhex(sys.argv[1]))
done = module.launch("rounds", 1, 64, [module.buffer(64)], modes=oric.sim.Modes(timing=True))
print(done.timing.cycles)
"""


def cycles(tables: Path) -> int:
    """What a launch takes with the package ``oric_tables`` of a folder."""
    paths = [str(tables), *(str(ROOT / part) for part in ("runtime", "generator", "."))]
    code = oric.compile(PTX, arch="sm_90").image.hex()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-c", CYCLES, code], env=env, capture_output=True, text=True, check=True)
    return int(done.stdout)


def variant(folder: Path, column: str) -> Path:
    """A copy of the package whose C module has 100 cycles more in a column of all models."""
    made = Path(oric_tables.__file__).parent
    shutil.copytree(made, folder / "oric_tables", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    text = (ROOT / "build/c/tables/latency.c").read_text(encoding="utf-8")
    head, begin, rest = text.partition("const oric_model oric_models[ORIC_ISAS] = {\n")
    rows, end, rest = rest.partition("};\n")
    place = COLUMNS.index(column)
    rows, count = re.subn(rf"\{{((?:[0-9]+, ){{{place}}})([0-9]+)", lambda m: f"{{{m[1]}{int(m[2]) + 100}", rows)
    assert count == 9
    source, changed = folder / "latency.c", folder / "latency.o"
    source.write_text(head + begin + rows + end + rest, encoding="utf-8")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    sanitize = native.SANITIZE if made.parts[-2] == "sanitize" else []
    include = [f"-I{ROOT / part}" for part in native.FOLDERS]
    subprocess.run([*compiler, "-fPIC", *sanitize, *include, "-c", str(source), "-o", str(changed)], check=True)
    objects = sorted((ROOT / "build" / ("obj-sanitize" if sanitize else "obj")).glob("*.o"))
    kept = [path for path in objects if not path.name.startswith("tables.latency-")]
    assert len(kept) == len(objects) - 1
    target = folder / "oric_tables" / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    link = [*compiler, "-shared", *sanitize, "-o", str(target), *map(str, kept), str(changed), "-lm", "-lpthread"]
    subprocess.run(link, check=True)
    return folder


@pytest.fixture(scope="module")
def usual() -> int:
    return cycles(Path(oric_tables.__file__).parents[1])


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_the_model_changes_the_clock_where_it_is_read(tmp_path: Path, usual: int, column: str) -> None:
    assert (cycles(variant(tmp_path, column)) != usual) == (column in READ)
