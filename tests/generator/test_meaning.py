"""The `meaning` column: what it becomes in C; its mistakes are in ``mistakes/meaning.yaml``."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen import strictyaml
from oricgen.isa import rows
from oricgen.isa.model import Operation
from oricgen.known import of_lanes, value_name
from oricgen.meaning import Meaning, read

from tests import specification

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def operations() -> dict[str, Operation]:
    return {o.name: o for o in rows.load(specification.spec()).operations}


def meaning(operation: Operation, text: str) -> Meaning | None:
    return read(operation, strictyaml.loads(f"meaning: {text}", Path("row.yaml")), of_lanes(specification.spec()))


def test_lane_expression(operations: dict[str, Operation]) -> None:
    got = meaning(operations["IADD3"], '"uint64_t s = Ra.addend + Rb.addend + Rc.addend; Rd.u32 = s; Pu = s >> 32; Pv = s >> 33"')
    assert got is not None
    assert got.ident == "IADD3"
    assert not got.uniform
    assert got.lane == [
        "uint64_t s = v_Ra_addend[l] + v_Rb_addend[l] + v_Rc_addend[l];",
        "r_Rd[l] = (uint32_t)(s);",
        "r_Pu |= (uint32_t)((s >> 32) != 0) << l;",
        "r_Pv |= (uint32_t)((s >> 33) != 0) << l;",
    ]
    assert "const uint64_t *const v_Ra_addend = sim_get_addend(w, mask, o_Ra, room_Ra_addend);" in "\n".join(got.fetch)
    assert got.store[0] == "sim_put32(w, mask, o_Rd, r_Rd);"
    assert got.checks == []


def test_modifiers_are_names_of_values(operations: dict[str, Operation]) -> None:
    got = meaning(operations["ISETP"], '"Pd = boolean(bop, icmp(cmp, Ra.u32, Rb.u32, sign), Pp); Pv = Pp"')
    assert got is not None
    text = "\n".join(got.mods)
    assert "V_AND" in text
    assert "const unsigned m_cmp = t_cmp[" in text
    assert value_name("4A.U8") == "V_4A_U8"


def test_what_is_not_named_must_be_absent(operations: dict[str, Operation]) -> None:
    """A carry that the text does not set, a modifier that it does not read: a check in the generated function."""
    got = meaning(operations["IADD3"], '"Rd.u32 = Ra.u32 + Rb.u32 + Rc.u32"')
    assert got is not None
    assert got.checks == ["sim_has_operand(&in->ops[4])", "sim_has_operand(&in->ops[5])"]
    got = meaning(operations["FADD"], '"Rd.f32 = Ra.f32 + Rb.f32"')
    assert got is not None
    assert len(got.checks) == 3


def test_whole_warp(operations: dict[str, Operation]) -> None:
    got = meaning(operations["SHFL"], '{warp: "shuffle(Rd, Pd, Ra, Rb, Rc, mode)"}')
    assert got is not None
    assert got.warp == "sim_do_shuffle(w, mask, o_Rd, o_Pd, o_Ra, o_Rb, o_Rc, m_mode);"


def test_no_meaning(operations: dict[str, Operation]) -> None:
    names = of_lanes(specification.spec())
    assert read(operations["IADD3"], strictyaml.loads("ops: x", Path("row.yaml")), names) is None
