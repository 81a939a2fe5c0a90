"""The `meaning` column: what it becomes in C; its mistakes are in ``mistakes/meaning.yaml``."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen import strictyaml
from oricgen.errors import SpecError
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


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('"Rd.u32 = faddd(Ra.f32)"', "1:20", "there is no function 'faddd'; did you mean fadd"),
        ("{lanes: 'Rd.u32 = Ra.u32 + Rb.u32 Rc.u32'}", "1:44", "an operator or ';' is missing before 'Rc.u32'"),
        (">-\n  uint32_t x = Ra.u32;\n\n  Rd.u32 = y", "4:12", "there is no operand, modifier, local or constant 'y'"),
        ('{lanes: "Rd.u32 = 1", unknown: "Ra.u32"}', "1:42", "a condition cannot ask for the value of 'Ra'"),
        ('"Rd.u32 = ' + "(" * 3000 + "Ra.u32" + ")" * 3000 + '"', "1:52", "nested more than 32 deep"),
        ('"Rd.u32 = ' + "7" * 5000 + '"', "1:20", "a number of 5000 characters is too long"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_line_and_column(operations: dict[str, Operation], text: str, place: str, message: str) -> None:
    with pytest.raises(SpecError) as raised:
        meaning(operations["IADD3"], text)
    path = operations["IADD3"].path
    assert str(raised.value).startswith(f"{path}:{place}: IADD3: column 'meaning': ")
    assert message in raised.value.message


def test_each_statement_says_where_it_is_from(operations: dict[str, Operation]) -> None:
    text = ">-\n  uint64_t s = Ra.addend + Rb.addend +\n  Rc.addend;\n  Rd.u32 = s; Pu = s >> 32;\n  Pv = s >> 33"
    got = meaning(operations["IADD3"], text)
    assert got is not None
    assert got.lines == [2, 4, 4, 5]
    directives = [line for line in got.statements("    ").splitlines() if line.startswith("#line")]
    file = operations["IADD3"].path
    assert directives == [f'#line 2 "{file}"', f'#line 4 "{file}"', f'#line 4 "{file}"']
