"""What the parser does with its client: order of calls, handles handed back, unsupported statements."""

import pytest
from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import NotSupported, diagnostics_for

MODULE = """.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	add.s32 %r1, %r2, %r3;
	wgmma.fence.sync.aligned;
	mul.lo.s32 %r1, %r2, %r3;
	@%p1 ret;
	wgmma.wait_group.sync.aligned 0;
	ret;
}
"""


class Picky(Recorder):
    """Supports all but warpgroups."""

    def instruction(self, variant, guard, operands, loc):
        if variant.name.startswith("wgmma."):
            raise NotSupported(variant.text)
        super().instruction(variant, guard, operands, loc)


def test_unsupported_statements_are_named_with_place_and_target():
    diag = diagnostics_for(MODULE, "m.ptx")
    builder = Picky(diag.source)
    parse_module(MODULE, "m.ptx", builder, None, diag)
    assert diag.errors() == [
        "m.ptx:9:2: error: 'wgmma.fence.sync.aligned' is not supported for sm_90a yet",
        "m.ptx:11:3: error: register '%p1' is not declared",
        "m.ptx:12:2: error: 'wgmma.wait_group.sync.aligned' is not supported for sm_90a yet",
    ]
    assert [i.variant.name for i in builder.result.bodies[0].instructions()] == ["add", "mul", "ret"]


def test_a_definition_behind_an_external_declaration_keeps_the_handle():
    text = """.version 9.0
.target sm_90
.address_size 64
.extern .global .u32 a;
.entry k() { .reg .b64 r; mov.b64 r, a; ret; }
.visible .global .u32 a = 7;
.extern .global .u32 a;
.entry j() { .reg .b64 r; mov.b64 r, a; ret; }
"""
    diag = diagnostics_for(text, "m.ptx")
    builder = Recorder(diag.source)
    parse_module(text, "m.ptx", builder, None, diag)
    assert not diag.items
    first, second = (body.instructions()[0].operands[1] for body in builder.result.bodies)
    assert first == second
    assert builder.result.symbols[first[1]].init == (7).to_bytes(4, "little")


class RefusingEnds(Recorder):
    """Refuses the end of a body, of a scope, registers, labels."""

    what = ""

    def end_body(self, loc):
        super().end_body(loc)
        self.refuse("end_body")

    def end_scope(self, loc):
        self.refuse("end_scope")

    def begin_scope(self, loc):
        self.refuse("begin_scope")

    def registers(self, type_, count, name):
        self.refuse("registers")
        return super().registers(type_, count, name)

    def place_label(self, label, loc):
        self.refuse("place_label")
        super().place_label(label, loc)

    def refuse(self, name):
        if name == self.what:
            raise NotSupported(name)


@pytest.mark.parametrize(
    ("what", "place"),
    [("end_body", "11:1"), ("end_scope", "8:1"), ("begin_scope", "6:1"), ("registers", "5:11"), ("place_label", "9:1")],
)
@pytest.mark.parametrize("comment", ["", " /* slowly */"])
def test_any_call_may_refuse(what, place, comment):
    text = f""".version 9.0
.target sm_90
.address_size 64
.entry k() {{
.reg .b32{comment} %r<4>;
{{
ret;
}}
L{comment}:
ret;
}}
.entry j() {{ ret; }}
"""
    diag = diagnostics_for(text, "m.ptx")
    builder = RefusingEnds(diag.source)
    builder.what = what
    parse_module(text, "m.ptx", builder, None, diag)
    line = place.partition(":")[0]
    assert [e.split(":")[1] for e in diag.errors() if ".entry j" not in e][:1] == [line]
    assert all(f"'{what}' is not supported for sm_90 yet" in e for e in diag.errors())
    assert [body.function.name for body in builder.result.bodies] == ["k", "j"]


class Target:
    name = "sm_80"


@pytest.mark.parametrize(
    ("module", "target", "message"),
    [
        ("sm_90", "sm_80", "a module for sm_90 cannot be compiled for sm_80, which is older"),
        ("sm_90a", "sm_90", "a module for sm_90a can be compiled for sm_90a only, not for sm_90"),
        ("sm_90a", "sm_100a", "a module for sm_90a can be compiled for sm_90a only, not for sm_100a"),
        ("sm_100f", "sm_120f", "a module for sm_100f can be compiled for its family only, not for sm_120f"),
        ("sm_100f", "sm_100", None),
        ("sm_100f", "sm_103a", None),
        ("sm_103f", "sm_100", "a module for sm_103f cannot be compiled for sm_100, which is older"),
        ("sm_101f", "sm_110", None),
        ("sm_101f", "sm_103", "a module for sm_101f can be compiled for its family only, not for sm_103"),
        ("sm_86", "sm_90", None),
        ("sm_86", "sm_80", "a module for sm_86 cannot be compiled for sm_80, which is older"),
        ("sm_100", "sm_90", "a module for sm_100 cannot be compiled for sm_90, which is older"),
        ("sm_80", "sm_90", None),
        ("sm_90", "sm_90a", None),
        ("sm_100f", "sm_103a", None),
    ],
)
def test_target_of_the_module_against_the_one_compiled_for(module, target, message):
    text = f".version 9.0\n.target {module}\n.address_size 64\n"
    diag = diagnostics_for(text, "m.ptx")
    wanted = Target()
    wanted.name = target
    try:
        parse_module(text, "m.ptx", Recorder(diag.source), wanted, diag)
    except Exception as error:
        assert message is not None and message in str(error)
    else:
        assert message is None


class Refusing(Recorder):
    """Refuses whatever is named in ``what``."""

    what = ""

    def module(self, header):
        self.refuse("module")
        super().module(header)

    def variable(self, variable):
        self.refuse("variable")
        return super().variable(variable)

    def refuse(self, name):
        if name == self.what:
            raise NotSupported(name)


@pytest.mark.parametrize(("what", "place"), [("module", "1:1"), ("variable", "4:1")])
def test_declarations_may_be_refused_too(what, place):
    text = ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 a;\n.entry k() { ret; }\n"
    diag = diagnostics_for(text, "m.ptx")
    builder = Refusing(diag.source)
    builder.what = what
    parse_module(text, "m.ptx", builder, None, diag)
    assert diag.errors() == [f"m.ptx:{place}: error: '{what}' is not supported for sm_90 yet"]
    assert builder.result.bodies
