"""The `meaning` column: what it becomes in C, and the message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen import strictyaml
from oricgen.errors import SpecError
from oricgen.isa import rows
from oricgen.isa.model import Operation
from oricgen.meaning import Meaning, read, value_name
from oricgen.spec import Spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def operations() -> dict[str, Operation]:
    return {o.name: o for o in rows.load(Spec(ROOT / "spec")).operations}


def meaning(operation: Operation, text: str) -> Meaning | None:
    return read(operation, strictyaml.loads(f"meaning: {text}", Path("row.yaml")))


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
    assert "const uint64_t *const v_Ra_addend = sim_get_addend(w, mask, o_Ra, room_Ra_addend);" in got.fetch
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
    assert read(operations["IADD3"], strictyaml.loads("ops: x", Path("row.yaml"))) is None


MISTAKES = {
    '"Rd.u32 = Rx.u32"': "'Rx.u32': no operand 'Rx'",
    '"Rd.u32 = Ra.u33 + Rb.u32 + Rc.u32"': "'Ra.u33' cannot be read (types: u32, ",
    '"Rd.u32 = Ra + Rb.u32 + Rc.u32"': "'Ra.None' cannot be read",
    '"Rd.u32 = Rd.u32 + Ra.u32 + Rb.u32 + Rc.u32"': "'Rd.u32' cannot be read",
    '"Ra.u32 = Rb.u32 + Rc.u32"': "'Ra' is no destination",
    '"Rd.s32 = Ra.u32 + Rb.u32 + Rc.u32"': "'Rd.s32' cannot be set (types: u32, f32, u64, f64)",
    '"Rd.u32 = Ra.u32 + Rb.u32 + Rc.u32; Pu.u32 = 1"': "predicate 'Pu' has no type",
    '"Rd.u32 = Ra.u32 + Rb.u32 + Rc.u32 + Pu"': "'Pu' is no source predicate",
    '"Rd.u32 = Ra.u32 + Rb.u32"': "does not use operand 'Rc'",
    '"uint32_t x = Ra.u32 + Rb.u32 + Rc.u32"': "sets no destination",
    '{warp: "f(Ra, Rb, Rc", ignores: "Rd"}': "'f(Ra, Rb, Rc' is no call",
    '{warp: "f(Rd, Ra, Rb, Rc)", ignores: "sat"}': "ignores unknown 'sat'",
    '{warp: "f(Rd, Ra, Rb, Rc)", ignores: "Rd"}': "ignores 'Rd' and uses it",
    '{warp: "f(Rd, Ra, Rb, Rc)", lanes: "x"}': "with one of 'warp' and 'lanes'",
    '{wrap: "f(Rd)"}': "with one of 'warp' and 'lanes'",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake(operations: dict[str, Operation], text: str) -> None:
    with pytest.raises(SpecError) as caught:
        meaning(operations["IADD3"], text)
    message = str(caught.value)
    assert "spec/encoding/integer.yaml:" in message
    assert "operation 'IADD3', meaning: " in message
    assert MISTAKES[text] in message


def test_system_registers_are_those_of_the_machine(tmp_path: Path) -> None:
    from oricgen.outputs import sim

    spec = Spec(ROOT / "spec")
    meanings = spec.load("system_registers.yaml")["meanings"]
    meanings["SR_NOTHING"] = "0"
    meanings.lines["SR_NOTHING"] = 77
    with pytest.raises(SpecError, match=r"system_registers.yaml:77: no system register 'SR_NOTHING'"):
        sim.render(spec)
