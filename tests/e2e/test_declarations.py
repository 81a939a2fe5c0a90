"""What is found of declarations when code is made, and not when a module is only read (as ptxas 13.0.88 does)."""

from __future__ import annotations

import oric
import pytest
from oric import CompileError

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def refused(text: str) -> str:
    """The message of a module that reads clean and of which no code can be made."""
    oric.ptx.parse(HEAD + text)
    with pytest.raises(CompileError) as caught:
        oric.compile(HEAD + text, arch="sm_90")
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        ".func f();\n.entry k() {ret;}",
        ".visible .func f();\n.entry k() {call f; ret;}",
        ".weak .func f();\n.func g() {call f; ret;}",
        ".entry f();\n.entry k() {ret;}",
        ".entry k() {.func f(); ret;}",
    ],
)
def test_functions_that_nothing_defines(text: str) -> None:
    assert "Unresolved extern function 'f'" in refused(text)


def test_functions_that_need_no_body() -> None:
    assert oric.compile(HEAD + ".extern .func f();\n.func g() {ret;}\n.entry k() {ret;}", arch="sm_90").image


def test_a_definition_with_mistakes_is_one() -> None:
    with pytest.raises(CompileError) as caught:
        oric.compile(HEAD + ".func f();\n.func f() {fam; ret;}\n.entry k() {call f; ret;}", arch="sm_90")
    assert "Unresolved" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (".global .b8 a[4294967296][4294967296];", "a of 18446744073709551616 bytes"),
        (".global .u32 a[4][1000000000] = {{1}};", "a of 16000000000 bytes"),
        (".global .attribute(.unified(1, 2)) .u32 a;", ".unified"),
        (".func .attribute(.unified(1, 2)) f() {ret;}", ".unified"),
        (
            ".entry k() {.local .b8 a[5000000000]; .reg .b64 %a; mov.u64 %a, a; st.local.u8 [%a], 5; ret;}",
            "a of 5000000000 bytes",
        ),
    ],
)
def test_declarations_that_no_code_is_made_of(text: str, what: str) -> None:
    assert f"'{what}' is not supported for sm_90 yet" in refused(text)


def test_shared_variables_of_a_body_count_without_a_use() -> None:
    text = ".entry k() {{.shared .align 16 .b8 a[100]; .shared .align 16 .b8 b[{}]; st.shared.u8 [b], 1; ret;}}"
    assert oric.compile(HEAD + text.format(100), arch="sm_90").kernels["k"].shared == 212
    assert "Entry function 'k' uses too much shared data" in refused(text.format(49152))


@pytest.mark.row("R4-40")
@pytest.mark.parametrize(
    ("directives", "warnings"),
    [
        (".reqntid 128 .minnctapersm 33", ["Value of minnctapersm for entry k is out of range. minnctapersm will be ignored"]),
        (".reqntid 1024 .minnctapersm 3", ["Value of threads per SM for entry k is out of range. .minnctapersm will be ignored"]),
        (".maxntid 1024 .minnctapersm 3", ["Value of threads per SM for entry k is out of range. .minnctapersm will be ignored"]),
        (".maxnreg 256", ["Too many maxnreg specified for entry k, will be ignored"]),
        (".maxnreg 23", ["For entry k adjusting per thread register count of 23 to lower bound of 24"]),
        (".maxnreg 24 .reqntid 1024 .minnctapersm 2", []),
        (".maxnreg 255", []),
    ],
)
def test_launch_bounds(directives: str, warnings: list[str]) -> None:
    found = oric.compile(f"{HEAD}.entry k() {directives} {{ret;}}", arch="sm_90").warnings
    assert [text.partition("warning: ")[2] or text for text in found] == warnings


@pytest.mark.row("R4-42")
@pytest.mark.parametrize(("given", "limit"), [(300, 255), (256, 255), (-1, 255), (255, 255), (24, 24), (5, 24), (0, 24)])
def test_the_ceiling_of_registers(given: int, limit: int) -> None:
    """One that is too big is none, which is as many as there are; one below the fewest is these."""
    done = oric.compile(f"{HEAD}.entry k() {{ret;}}", arch="sm_90", maxrregcount=given)
    assert done.register_limit == limit
    too_big = f"Too big maxrregcount value specified {given}, will be ignored"
    raised = f"For profile sm_90 adjusting per thread register count of {given} to lower bound of 24"
    wanted = [too_big] if not 0 <= given <= 255 else [raised] if given < 24 else []
    assert [text.partition("warning: ")[2] or text for text in done.warnings] == wanted


def test_variables_that_are_elsewhere_are_here_in_a_whole_program() -> None:
    """With ptxas's warnings; shared ones with a size are no dynamic arrays."""
    names = ".extern .global .b32 a[4];\n.extern .const .b32 b[4];\n.extern .shared .b32 c[4];\n.extern .shared .b32 d[];\n"
    body = "ld.param.u64 %d, [p]; ld.shared.u32 %r1, [c]; st.global.u32 [%d], %r1; ret;"
    code = f".entry k(.param .u64 p) {{.reg .b32 %r<3>; .reg .b64 %d; {body}}}"
    made = oric.compile(HEAD + names + code, arch="sm_90")
    what = "in whole program compilation, ignoring extern qualifier"
    assert made.warnings == [f"<ptx>: warning: Unresolved extern variable '{name}' {what}" for name in "abc"]
    assert made.kernels["k"].shared == 16
    assert oric.compile(HEAD + names + code, arch="sm_90", relocatable=True).warnings == []


def test_an_array_without_a_size_that_is_nowhere() -> None:
    assert "Unresolved extern variable 'a'" in refused(".extern .global .b32 a[];\n.entry k() {ret;}")


@pytest.mark.parametrize("linkage", [".visible", ".weak", ""])
def test_a_function_of_an_object_that_is_declared_alone(linkage: str) -> None:
    """Only what is declared with .extern may be elsewhere."""
    text = f".version 8.0\n.target sm_90\n.address_size 64\n{linkage} .func f();\n.entry k() {{call f; ret;}}\n"
    with pytest.raises(oric.CompileError, match="error: Unresolved extern function 'f'"):
        oric.compile(text, relocatable=True)
