"""Operand forms and the nodes that they give, read the fast way and the careful way."""

import pytest
from oric.ptx import builder as b
from oric.ptx import parse
from oric.support.diagnostics import CompileError

HEAD = """.version 9.0
.target sm_90
.address_size 64
.global .u32 var[4];
.entry k(.param .u64 param) {
.reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .v2 .f32 v;
"""
P, H, R, RD, F, FD, V = 0, 4, 13, 22, 31, 40, 49  # handles of the first register of each declaration
VAR, PARAM = 0, 2  # symbol handles (1 is the entry)


def operands(statement: str) -> list[tuple[b.Operand, ...]]:
    """Operands of an instruction, read both ways."""
    mnemonic, _, rest = statement.partition(" ")
    found = []
    for text in (statement, f"{mnemonic} /* slowly */ {rest}"):
        module = parse(f"{HEAD}{text}\nL: ret;\n}}\n")
        found.append(module.bodies[0].instructions()[0].operands)
    return found


CASES = [
    ("add.s32 %r1, %r2, %r3;", ((b.REG, R + 1), (b.REG, R + 2), (b.REG, R + 3))),
    ("add.s32 %r1,%r2,-5;", ((b.REG, R + 1), (b.REG, R + 2), (b.INT, -5))),
    ("add.s32 %r1 , %r2 , 0x10 ;", ((b.REG, R + 1), (b.REG, R + 2), (b.INT, 16))),
    ("mov.u32 %r1, 0xFFFFFFFF;", ((b.REG, R + 1), (b.INT, 0xFFFFFFFF))),
    ("mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;", ((b.REG, RD + 1), (b.INT, 0xFFFFFFFFFFFFFFFF))),
    ("mov.u32 %r1, WARP_SZ;", ((b.REG, R + 1), (b.INT, 32))),
    ("mov.u32 %r1, (1 << 4) + 3;", ((b.REG, R + 1), (b.INT, 19))),
    ("mov.f32 %f1, 0f3FC00000;", ((b.REG, F + 1), (b.FLOAT, 0x3FC00000, 0x3FF8000000000000))),
    ("mov.f32 %f1, 1.5;", ((b.REG, F + 1), (b.FLOAT, 0x3FC00000, 0x3FF8000000000000))),
    ("mov.f64 %fd1, 0d3FF8000000000000;", ((b.REG, FD + 1), (b.FLOAT, 0x3FC00000, 0x3FF8000000000000))),
    ("mov.f32 %f1, -0.0;", ((b.REG, F + 1), (b.FLOAT, 0x80000000, 0x8000000000000000))),
    ("mov.f32 %f1, 0f7FC00001;", ((b.REG, F + 1), (b.FLOAT, 0x7FC00001, 0x7FF8000020000000))),
    ("mov.f32 %f1, 1e300;", ((b.REG, F + 1), (b.FLOAT, 0x7F800000, 0x7E37E43C8800759C))),
    ("and.pred %p1, !%p2, %p3;", ((b.REG, P + 1), (b.NOT, P + 2), (b.REG, P + 3))),
    ("setp.eq.s32 %p1|%p2, %r1, 0;", ((b.PAIR, (b.REG, P + 1), (b.REG, P + 2)), (b.REG, R + 1), (b.INT, 0))),
    ("setp.eq.s32 %p1|_, %r1, 0;", ((b.PAIR, (b.REG, P + 1), (b.SINK,)), (b.REG, R + 1), (b.INT, 0))),
    ("ld.global.u32 %r1, [%rd1];", ((b.REG, R + 1), (b.ADDR_REG, RD + 1, 0))),
    ("ld.global.u32 %r1, [%rd1+16];", ((b.REG, R + 1), (b.ADDR_REG, RD + 1, 16))),
    ("ld.global.u32 %r1, [%rd1+-16];", ((b.REG, R + 1), (b.ADDR_REG, RD + 1, -16))),
    ("ld.global.u32 %r1, [ %rd1 + 4*2 ];", ((b.REG, R + 1), (b.ADDR_REG, RD + 1, 8))),
    ("ld.global.u32 %r1, [var];", ((b.REG, R + 1), (b.ADDR_SYM, VAR, 0))),
    ("ld.global.u32 %r1, [var+8];", ((b.REG, R + 1), (b.ADDR_SYM, VAR, 8))),
    ("ld.global.u32 %r1, [var+010];", ((b.REG, R + 1), (b.ADDR_SYM, VAR, 8))),
    ("ld.global.u32 %r1, var[3];", ((b.REG, R + 1), (b.ADDR_SYM, VAR, 12))),
    ("mov.u64 %rd1, var[3];", ((b.REG, RD + 1), (b.SYM, VAR, 12))),
    ("ld.param.u64 %rd1, [param];", ((b.REG, RD + 1), (b.ADDR_SYM, PARAM, 0))),
    ("ld.local.u32 %r1, [16];", ((b.REG, R + 1), (b.ADDR_IMM, 16))),
    ("mov.u64 %rd1, var;", ((b.REG, RD + 1), (b.SYM, VAR, 0))),
    ("mov.u64 %rd1, var+4;", ((b.REG, RD + 1), (b.SYM, VAR, 4))),
    ("mov.u32 %r1, %tid.x;", ((b.REG, R + 1), (b.SREG, "tid.x"))),
    ("mov.u32 %r1, %laneid;", ((b.REG, R + 1), (b.SREG, "laneid"))),
    ("mov.u32 %r1, %envreg3;", ((b.REG, R + 1), (b.SREG, "envreg3"))),
    ("mov.b64 %rd1, {%r1, %r2};", ((b.REG, RD + 1), (b.VEC, ((b.REG, R + 1), (b.REG, R + 2))))),
    ("mov.b64 {%r1,_}, %rd1;", ((b.VEC, ((b.REG, R + 1), (b.SINK,))), (b.REG, RD + 1))),
    ("ld.global.v2.f32 {%f1, %f2}, [%rd1];", ((b.VEC, ((b.REG, F + 1), (b.REG, F + 2))), (b.ADDR_REG, RD + 1, 0))),
    ("ld.global.v2.f32 v, [%rd1];", ((b.VEC, ((b.REG, V), (b.REG, V + 1))), (b.ADDR_REG, RD + 1, 0))),
    ("mov.f32 v.y, %f1;", ((b.REG, V + 1), (b.REG, F + 1))),
    ("atom.global.add.u32 _, [%rd1], 1;", ((b.SINK,), (b.ADDR_REG, RD + 1, 0), (b.INT, 1))),
    ("bra L;", ((b.LABEL, 0),)),
    ("bar.sync 0;", ((b.INT, 0),)),
    ("ret;", ()),
]


@pytest.mark.parametrize(("statement", "expected"), CASES, ids=[c[0] for c in CASES])
def test_nodes(statement, expected):
    assert operands(statement) == [expected, expected]


def test_guards():
    module = parse(f"{HEAD}@%p1 ret;\n@!%p2 ret;\n@ %p3 ret;\nret;\n}}\n")
    assert [i.guard for i in module.bodies[0].instructions()] == [(b.REG, P + 1), (b.NOT, P + 2), (b.REG, P + 3), None]


def test_variants_tell_their_parts():
    module = parse(f"{HEAD}ld.global.nc.L1::no_allocate.v2.b32 {{%r1, %r2}}, [%rd1];\ncvt.rn.f32.s32 %f1, %r1;\nret;\n}}\n")
    load, convert, _ = (i.variant for i in module.bodies[0].instructions())
    assert load.name == "ld" and load.types == ("b32",) and load.qualifiers == ("global", "nc", "L1::no_allocate", "v2")
    assert load.fields == {"space": "global", "nc": "nc", "evict": "L1::no_allocate", "vec": "v2", "type": "b32"}
    assert convert.fields == {"rnd": "rn", "dtype": "f32", "atype": "s32"}
    again = parse(f"{HEAD}cvt.rn.f32.s32 %f1, %r1;\nret;\n}}\n").bodies[0].instructions()[0]
    assert again.variant is convert


def test_qualifiers_in_any_order_types_in_theirs():
    module = parse(f"{HEAD}add.f32.rn %f1, %f2, %f3;\nld.u32.global %r1, [%rd1];\nret;\n}}\n")
    assert [i.variant.fields for i in module.bodies[0].instructions()[:2]] == [
        {"type": "f32", "rnd": "rn"},
        {"type": "u32", "space": "global"},
    ]


@pytest.mark.parametrize(
    ("head", "good", "bad"),
    [
        ("bar.sync ", ("0", "15", "%r1"), ("16", "-1")),
        ("barrier.sync ", ("1, 64", "2, %r1", "%r2, 96"), ("1, 65", "16, 64")),
        ("pmevent.mask ", ("0", "65535"), ("65536", "-1")),
        ("cvt.u64.u64 %rd1, ", ("%rd2", "%clock64"), ("%tid.x", "%r1")),
        ("cvt.sat.u32.u64 %r1, ", ("%rd1", "%clock64"), ("%tid.x", "%r1")),
        ("cp.async.ca.shared.global [%rd1], [%rd2], ", ("4", "8", "16"), ("5", "32", "0")),
    ],
)
def test_limits_hold_for_operands_of_classes_that_were_met(head: str, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    begin = f".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{{\n{registers}"
    met = "".join(f"{head}{one};\n" for one in good * 2)
    assert parse(f"{begin}{met}}}").bodies[0].instructions()[-1].variant.text == head.split(maxsplit=1)[0]
    for one in bad:
        with pytest.raises(CompileError) as caught:
            parse(f"{begin}{met}{head}{one};\n{met}}}")
        (item,) = caught.value.diagnostics.items
        assert item.offset >= len(begin + met + head)
        assert item.offset < len(begin + met + head + one)
