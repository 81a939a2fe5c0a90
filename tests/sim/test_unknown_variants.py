"""What is not known stops with its name: variants that no public source explains, and operations without a meaning."""

from __future__ import annotations

from typing import Any

import pytest
from oric_tables import ops
from oric_tables._native import ffi, lib

from tests.sim.program import Device, word

VARIANTS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("sm_90", "HMUL2", ("R0", "R1", "R2"), {"fmz": 1}),
    ("sm_90", "HFMA2", ("R0", "R1", "R2", "R3"), {"ftz": "FMZ"}),
    ("sm_90", "VHMNMX", ("R0", "R1", "R2", "R3", "PT"), {"xorsign": 1}),
    ("sm_90", "VIMNMX", ("R0", "R1", "R2", "PT"), {"type": "U32", "relu": 1}),
    ("sm_120", "VIADD", ("R0", "R1", "R2"), {"simd": "16x2", "isat": 1}),
    ("sm_90", "I2IP", ("R0", "R1", "R2", "R3"), {"dtype": "U8", "sat": "NONE"}),
    ("sm_90", "F2IP", ("R0", "R1", "R2", "R3"), {"dtype": "U8"}),
    ("sm_90", "F2FP.PACK_AB_MERGE_C", ("R0", "R1", "R2", "R3"), {"dtype": "E4M3"}),
    ("sm_100", "F2FP.PACK_AB_MERGE_C", ("R0", "R1", "R2", "R3"), {"dtype": "E4M3", "satfinite": 1, "rnd": "RZ"}),
    ("sm_100", "F2FP.PACK_AB_MERGE_C", ("R0", "R1", "R2", "R3"), {"dtype": "E8", "satfinite": 1}),
    ("sm_90", "F2FP.PACK_AB", ("R0", "R1", "R2"), {"dtype": "E5M2"}),
    ("sm_90", "F2FP.UNPACK_B", ("R0", "R1"), {"dtype": "BF16", "stype": "E4M3"}),
    ("sm_100", "CREDUX", ("UR0", "R1"), {"op": "MAXABS", "type": "U32"}),
    ("sm_100", "IADD.XOR", ("R0", "R1", "R2", "R3", "PT"), {}),
    ("sm_100", "IMUL.XOR", ("R0", "R1", "R2", "R3"), {}),
    ("sm_120", "UFMNMX.IS_A", ("UR0", "UR1", "UR2", "UP0", "UPT"), {}),
]


@pytest.mark.parametrize(("isa", "name", "operands", "mods"), VARIANTS, ids=lambda v: str(v) if isinstance(v, str) else None)
def test_it_stops_with_its_name(isa: str, name: str, operands: tuple[Any, ...], mods: dict[str, Any]) -> None:
    number = ops.ISAS.index(isa)
    fault = Device(number, word(number, name, *operands, **mods) + word(number, "EXIT")).launch(32, b"")
    assert fault is not None
    assert fault.code == lib.ORIC_FAULT_NO_MEANING
    assert name in ffi.string(fault.detail).decode()


@pytest.mark.parametrize("bit", [40, 86])
def test_bits_that_no_field_explains_stop(bit: int) -> None:
    number = ops.ISAS.index("sm_80")
    plain = word(number, "HFMA2", "R0", "R1", "R2", "R3")
    assert Device(number, plain + word(number, "EXIT")).launch(32, b"") is None
    changed = (int.from_bytes(plain, "little") | 1 << bit).to_bytes(16, "little")
    fault = Device(number, changed + word(number, "EXIT")).launch(32, b"")
    assert fault is not None
    assert fault.code == lib.ORIC_FAULT_NO_MEANING
