"""Wrong rows of spec/values are seen by the comparison with the machine (tests/ir/mistakes.yaml)."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from cffi import FFI
from oric_tables import ops
from oricgen.isa import rows as machine_rows
from oricgen.known import of_threads
from oricgen.native import CFLAGS, c_compiler
from oricgen.render import template
from oricgen.strictyaml import Map
from oricgen.values import read

from tests import specification
from tests.ir import machine
from tests.ir.machine import THREADS, execute, random_instance, random_rows
from tests.sim.program import BY_NAME

ROOT = Path(__file__).resolve().parents[2]
MISTAKES: list[dict[str, str]] = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text(encoding="utf-8"))
PROTOTYPE = "int {}(int64_t op, int64_t mods, const int64_t *marks, int64_t tuples, const int64_t *in, int64_t *out);"
VARIANTS = 60


def wrong_text(row: Any, mistake: dict[str, str]) -> object:
    """The row with the mistake in it. What the text does not name any more is ignored."""
    columns = dict(row) if isinstance(row, Map) else {"value": row}
    text = " ".join(str(columns["value"]).split())
    assert mistake["find"] in text, f"{mistake['find']!r} is not in the value of {mistake['operation']}"
    columns["value"] = text.replace(mistake["find"], mistake["replace"], 1)
    columns["ignores"] = f"{columns.get('ignores', '')} {mistake.get('ignores', '')}"
    return columns


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All mistakes compiled, ``wrong_N`` is the function of mistake N."""
    spec = specification.spec()
    operations = {o.name: o for o in machine_rows.load(spec).operations}
    texts = {name: row for data in spec.family("values").values() for name, row in data.get("values", {}).items()}
    folder = tmp_path_factory.mktemp("wrong")
    include = [f"-I{ROOT}/runtime/oric/native", f"-I{ROOT}/build/c"]
    sources = []
    for number, mistake in enumerate(MISTAKES):
        operation = operations[mistake["operation"]]
        row = wrong_text(texts[operation.name], mistake)
        meaning = read(operation, row, operations, texts, of_threads(spec), spec.path("values"), 0)
        table = [None] * operation.number + [type("Row", (), {"meaning": meaning, "operation": operation})]
        source = folder / f"wrong_{number}.c"
        body = template("values.c.j2", meanings=[meaning], table=table)
        source.write_text(f"#define oric_value wrong_{number}\n#pragma GCC visibility push(default)\n{body}")
        sources.append(str(source))
    sources += [str(path) for path in sorted((ROOT / "runtime/oric/native/arith").glob("*.c"))]
    flags = [flag for flag in CFLAGS if not flag.startswith(("-O", "-W"))]
    subprocess.run([*c_compiler(), *flags, "-shared", *include, *sources, "-o", str(folder / "wrong.so"), "-lm"], check=True)
    ffi = FFI()
    ffi.cdef("\n".join(PROTOTYPE.format(f"wrong_{number}") for number in range(len(MISTAKES))))
    return ffi, ffi.dlopen(str(folder / "wrong.so"))


@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=lambda n: f"{MISTAKES[n]['operation']}-{MISTAKES[n]['name']}")
def test_a_wrong_row_is_seen(library: Any, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, functions = library
    mistake = MISTAKES[number]
    isa = ops.ISAS.index(mistake.get("isa", "sm_80"))
    rng = random.Random(number)
    blank = np.zeros((1, 8), np.uint32)
    drawn = [random_instance(rng, isa, BY_NAME[mistake["operation"]]) for _ in range(VARIANTS)]
    instances = [instance for instance in drawn if instance is not None and instance.value(blank) is not None]
    rows = [random_rows(rng, THREADS) for _ in instances]
    for instance, data in zip(instances, rows, strict=True):
        if instance.uniform:
            data[:] = data[0]
    left = execute(isa, instances, rows)
    assert not any(map(machine.differences, instances, rows, left))
    monkeypatch.setattr(machine, "lib", _With(getattr(functions, f"wrong_{number}"), library[0]))
    assert any(map(machine.differences, instances, rows, left))


class _With:
    """Stands in place of the library: its ``oric_value`` is another function."""

    def __init__(self, function: Any, ffi: FFI) -> None:
        self.function, self.ffi = function, ffi

    def oric_value(self, op: int, mods: int, marks: Any, tuples: int, given: Any, out: Any) -> int:
        address = [self.ffi.cast("int64_t *", int(machine.ffi.cast("intptr_t", pointer))) for pointer in (marks, given, out)]
        result: int = self.function(op, mods, address[0], tuples, address[1], address[2])
        return result
