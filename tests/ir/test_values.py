"""The values of operations (spec/values) against the machine: each operation with a value, on each encoding model that has it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.values import HAS_VALUE

from tests.ir.machine import THREADS, Instance, differences, execute, random_instance, random_rows
from tests.sim.program import Device, word

VARIANTS = 6  # of an operation and ISA
KNOWN = [operation for operation in ops.OPS if operation is not None and operation.number in HAS_VALUE]


def drawn(seed: str, isa: int, operation: ops.Op, count: int = VARIANTS) -> list[Instance]:
    """Instances with a value; on the uniform data path more of them, as there is one row of inputs a warp."""
    rng = random.Random(seed)
    out: list[Instance] = []
    blank = np.zeros((1, 8), np.uint32)
    for _ in range(count * 8):
        instance = random_instance(rng, isa, operation)
        if instance is not None and instance.value(blank) is not None:
            out += [instance] * (6 if instance.uniform else 1)
        if len(out) >= count * (6 if out and out[0].uniform else 1):
            break
    return out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("isa", range(len(ops.ISAS)), ids=ops.ISAS)
def test_values_are_what_the_machine_computes(isa: int) -> None:
    wrong = []
    for operation in KNOWN:
        if ops.ISAS[isa] not in operation.isas:
            continue
        instances = drawn(f"{operation.name} {isa}", isa, operation)
        assert instances, f"{operation.name}: no variant of it was found"
        rng = random.Random(operation.number)
        rows = [random_rows(rng, THREADS) for _ in instances]
        for instance, data in zip(instances, rows, strict=True):
            if instance.uniform:
                data[:] = data[0]
        for instance, data, left in zip(instances, rows, execute(isa, instances, rows), strict=True):
            wrong += differences(instance, data, left)
    assert not wrong, "\n".join(wrong[:20])


def test_what_has_no_value_has_no_meaning() -> None:
    """A variant without a value is one at which the simulator stops, and the other way round."""
    rng = random.Random(1)
    isas = [len(ops.ISAS) - 1, ops.ISAS.index("sm_100"), ops.ISAS.index("sm_90")]
    blank = np.zeros((1, 8), np.uint32)
    without = 0
    for operation in KNOWN:
        isa = next((isa for isa in isas if ops.ISAS[isa] in operation.isas), -1)
        for _ in range(4 if isa >= 0 else 0):
            instance = random_instance(rng, isa, operation)
            if instance is None or instance.value(blank) is not None:
                continue
            if any(operation.operands[place].kind in {"pred", "upred"} for place in instance.constants):
                continue  # the simulator takes !PT for nothing where nothing is known to read it
            without += 1
            fault = Device(isa, instance.code + word(isa, "EXIT")).launch(THREADS, b"")
            if operation.name == "MOV":
                continue  # with a mask of lanes it is known what a warp does, not what one thread does
            assert fault is not None, instance.describe()
            assert fault.code == lib.ORIC_FAULT_NO_MEANING, (instance.describe(), ffi.string(fault.detail))
    assert without > 20
