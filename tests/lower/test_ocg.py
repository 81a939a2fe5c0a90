"""Calls of intrinsics: how they are declared, what is passed in which way, what is collected, what is refused where."""

from __future__ import annotations

import oric
import pytest
from oric.sass.listing import list_cubin
from oric.support.elf import read
from oric.support.ocg_source import PREFIX, module

HEAD = ".version 9.0\n.target sm_100a\n.address_size 64\n"
KERNEL = """.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<3>; .reg .b64 %d<9>;
    ld.param.u64 %d0, [p];
    ld.global.b32 %r0, [%d0];
    ld.global.b32 %r1, [%d0+4];
    {}
    st.global.b32 [%d0], %r2;
    ret;
}}
"""
ADD = f".extern .func (.param .b32 r) {PREFIX}add_s32 (.param .b32 a, .param .b32 b);\n"
CALL = f"call.uni (%r2), {PREFIX}add_s32, (%r0, %r1);"


def code(text: str, opt_level: int = 3, **options: bool) -> list[str]:
    made = oric.compile(text, "sm_100a", opt_level, verify=True, **options)
    return [line.text.strip() for function in list_cubin(read(made.image)).functions for line in function.lines]


def sums(text: str, opt_level: int = 3, **options: bool) -> list[str]:
    return [line for line in code(text, opt_level, **options) if "IADD3" in line]


def message(text: str) -> str:
    with pytest.raises(oric.CompileError) as caught:
        oric.compile(text, "sm_100a")
    [error] = [item.message for item in caught.value.diagnostics.items]
    return error


def kernel(call: str = CALL, declared: str = ADD) -> str:
    return HEAD + declared + KERNEL.format(call)


@pytest.mark.parametrize("linkage", [".extern ", ".weak ", ".visible ", ""])
@pytest.mark.parametrize("opt_level", [0, 3])
def test_declarations(linkage: str, opt_level: int) -> None:
    assert len(sums(kernel(declared=ADD.replace(".extern ", linkage)), opt_level)) == 1


def test_not_uniform_and_guarded_calls() -> None:
    assert len(sums(kernel(CALL.replace(".uni", "")))) == 1
    [line] = sums(kernel(f"mov.b32 %r2, 0; setp.eq.s32 %p1, %r0, 7; @!%p1 {CALL}"))
    assert line.startswith("@")  # no branch


@pytest.mark.parametrize("opt_level", [0, 1, 3])
def test_a_guard_of_what_a_warp_does_at_once_is_a_branch(opt_level: int) -> None:
    declared = f".extern .func {PREFIX}cache_tensor_ivall ();\n"
    call = f"setp.eq.s32 %p1, %r0, 7; @!%p1 call.uni {PREFIX}cache_tensor_ivall, (); mov.b32 %r2, %r1;"
    made = code(kernel(call, declared), opt_level)
    [at] = [at for at, line in enumerate(made) if "UTMACCTL.IVALL" in line]
    assert not made[at].startswith("@")
    assert any(line.startswith("@") and "BRA" in line for line in made[:at])


def test_an_object_has_no_symbol_of_it() -> None:
    image = oric.compile(kernel(), "sm_100a", relocatable=True).image
    assert PREFIX.encode() not in image


VARIABLES = """{{
    .param .b32 A; .param .b32 B; .param .b32 R;
    {stores}
    call.uni (R), {name}, (A, B);
    {loads}
}}"""


def by_variables(stores: str, loads: str) -> str:
    return kernel(VARIABLES.format(stores=stores, name=f"{PREFIX}add_s32", loads=loads))


BOTH = "st.param.b32 [A], %r0; st.param.b32 [B], %r1;"
READ = "ld.param.b32 %r2, [R];"


def test_variables() -> None:
    assert len(sums(by_variables(BOTH, READ))) == 1
    assert len(sums(by_variables("st.param.b32 [B], %r0; st.param.b32 [A], %r1;", READ))) == 1
    assert len(sums(by_variables(BOTH, READ + " ld.param.b32 %r3, [R]; add.s32 %r2, %r2, %r3;"))) >= 1


def test_types_are_those_of_the_accesses() -> None:
    """Observed: not those of the declaration."""
    assert message(by_variables(BOTH, "ld.param.f32 %f1, [R]; mov.b32 %r2, %f1;")) == "(C7301) Unexpected instrinsic type (???)"
    assert "C7301" in message(by_variables("st.param.b32 [A], %r0; st.param.f32 [B], %f1;", READ))


def test_each_store_is_an_argument() -> None:
    """Observed: a variable that is stored twice counts twice, one that is never stored not at all."""
    assert message(by_variables(BOTH + "st.param.b32 [A], %r0;", READ)) == "(C7301) Unexpected instrinsic param number (4)"
    assert message(by_variables("st.param.b32 [B], %r1;", READ)) == "(C7301) Unexpected instrinsic param number (2)"


def test_elements_of_an_array() -> None:
    declared = f".extern .func (.param .b32 r) {PREFIX}add_s32 (.param .align 8 .b8 a[8]);\n"
    call = f"{{ .param .align 8 .b8 A[8]; st.param.v2.b32 [A], {{%r0, %r1}}; call.uni (%r2), {PREFIX}add_s32, (A); }}"
    assert len(sums(kernel(call, declared))) == 1


def test_constants() -> None:
    [line] = sums(kernel(CALL.replace("%r1", "5")))
    assert line.endswith("0x5, RZ")


def test_what_another_function_reads_is_not_collected() -> None:
    declared = ".func (.reg .b32 r) f (.reg .b32 a)\n{ add.u32 r, a, 1; ret; }\n"
    passed = kernel(CALL.replace("%r2", "%r4") + " call (%r2), f, (%r4);", ADD + declared)
    assert len(sums(passed, 0)) >= 2
    by_variable = "{ .param .b32 R; " + CALL.replace("%r2", "R") + " call (%r2), f, (R); }"
    assert (
        len(
            sums(
                kernel(
                    by_variable,
                    ADD
                    + declared.replace(".reg .b32 a", ".param .b32 a")
                    .replace("{ add", "{ .reg .b32 b; ld.param.b32 b, [a]; add")
                    .replace("r, a", "r, b"),
                ),
                0,
            )
        )
        >= 2
    )


def test_arguments_of_other_calls_are_read() -> None:
    """Also in the next turn of a loop, and where what reads it has an effect and no result."""
    assert len(sums(kernel(CALL.replace("%r2", "%r4") + CALL.replace("%r1", "%r4"), ADD), 0)) == 2
    loop = f"mov.b32 %r4, 1; L: {CALL.replace('%r2', '%r4').replace('%r1', '%r4')} setp.eq.s32 %p1, %r0, 3; @%p1 bra L;"
    assert len(sums(kernel(loop + CALL.replace("%r1", "%r4"), ADD), 0)) == 2
    clear = f".extern .func {PREFIX}memclear_b32 (.reg .b32 a, .reg .b32 b);\n"
    text = kernel(f"{CALL.replace('%r2', '%r4')} call.uni {PREFIX}memclear_b32, (%r0, %r4); mov.b32 %r2, 0;", ADD + clear)
    assert len(sums(text, 0)) >= 1


def test_a_register_that_a_call_writes_is_no_constant() -> None:
    """Though the only instruction that writes it moves a constant there."""
    first = CALL.replace("%r2", "%r3")
    assert len(sums(kernel("mov.b32 %r3, 777;" + first + CALL.replace("%r1", "%r3")), 0)) == 2
    for line in sums(kernel("mov.b32 %r3, 777;" + first + CALL.replace("%r1", "%r3"))):
        assert "0x309" not in line
    function = (
        f".func (.reg .b32 r) f (.reg .b32 a, .reg .b32 b)\n{{ call.uni (r), {PREFIX}add_s32, (a, b); mov.b32 a, 777; ret; }}\n"
    )
    assert all("0x309" not in line for line in sums(HEAD + ADD + function + KERNEL.format("call (%r2), f, (%r0, %r1);")))


def test_128_bits_count_twice() -> None:
    declared = f".extern .func (.param .b32 r) {PREFIX}add_s32 (.param .b128 a, .param .b32 b);\n"
    call = f".reg .b128 %q; call.uni (%r2), {PREFIX}add_s32, (%q, %r0);"
    assert message(kernel(call, declared)) == "(C7301) Unexpected instrinsic param number (4)"


@pytest.mark.row("R5-27", "R5-28")
def test_what_nothing_reads_is_collected() -> None:
    assert not sums(kernel(CALL.replace("%r2", "_") + " mov.b32 %r2, 0;"), 0)
    assert not sums(kernel(CALL.replace("%r2", "%r4") + " mov.b32 %r2, 0;"), 0)
    assert not sums(by_variables(BOTH, "mov.b32 %r2, 0;"), 0)


def test_calls_in_loops_and_functions() -> None:
    loop = f"mov.b32 %r2, %r0; L: {CALL} mov.b32 %r0, %r2; setp.lt.s32 %p1, %r2, %r1; @%p1 bra L;"
    assert sums(kernel(loop))
    function = f".func (.reg .b32 r) f (.reg .b32 a, .reg .b32 b)\n{{ call.uni (r), {PREFIX}add_s32, (a, b); ret; }}\n"
    assert sums(HEAD + ADD + function + KERNEL.format("call (%r2), f, (%r0, %r1);"))


BAD = ADD.replace("add_s32", "add_zzz")
BAD_CALL = CALL.replace("add_s32", "add_zzz")


def test_a_function_that_nothing_calls_may_be_wrong() -> None:
    """As in ptxas, which compiles what is called."""
    function = f".func (.reg .b32 r) f (.reg .b32 a, .reg .b32 b)\n{{ call.uni (r), {PREFIX}add_zzz, (a, b); ret; }}\n"
    text = HEAD + BAD + function
    assert code(text + KERNEL.format("mov.b32 %r2, 0;"))
    assert message(text + KERNEL.format("call (%r2), f, (%r0, %r1);")) == "(C7305) Unexpected instrinsic subop (zzz)"


def test_the_message_has_the_place_of_the_call() -> None:
    with pytest.raises(oric.CompileError) as caught:
        oric.compile(kernel(BAD_CALL, BAD), "sm_100a", filename="k.ptx")
    assert str(caught.value).startswith("k.ptx:11:5: error: (C7305) Unexpected instrinsic subop (zzz)")


def test_declared_only() -> None:
    assert code(kernel("mov.b32 %r2, 0;", BAD))


def test_addresses_and_bodies() -> None:
    assert message(kernel(f"mov.b64 %d1, {PREFIX}add_s32; st.global.b64 [%d0], %d1; mov.b32 %r2, 0;")) == (
        f"Cannot take address of function '{PREFIX}add_s32'"
    )
    body = f".func (.reg .b32 r) {PREFIX}add_s32 (.reg .b32 a, .reg .b32 b) {{ sub.u32 r, a, b; ret; }}\n"
    assert message(kernel(declared=body)) == f"(C7300) Unexpected instrinsic name ({PREFIX}add_s32)"


@pytest.mark.row("R5-29")
@pytest.mark.parametrize("name", ["", "addx", "ADD_s32", "cp_async", "mmareadshma", "ldcu"])
def test_names_of_no_operation(name: str) -> None:
    declared, call = (text.replace("add_s32", name) for text in (ADD, CALL))
    assert message(kernel(call, declared)) == f"(C7300) Unexpected instrinsic name ({PREFIX}{name})"


def test_many_calls_in_one_module() -> None:
    calls = [("add_s32", "b32 <- b32*2"), ("add_f32", "f32 <- f32*2"), ("add_f64", "f64 <- f64*2")]
    text = code(module(calls, "sm_100a"))
    assert [word for word in ("IADD3", "FADD", "DADD") if any(word in line for line in text)] == ["IADD3", "FADD", "DADD"]
