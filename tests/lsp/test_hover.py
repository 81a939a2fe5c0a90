"""What is shown of the thing at a place."""

from __future__ import annotations

import pytest
from oric.lsp.document import Document
from oric.lsp.hover import hover, machine_code

from tests.lsp.samples import CALLS, SAXPY


def shown(text: str, mark: str, behind: int = 1) -> str:
    found = hover(Document("file:///a.ptx", text), text.index(mark) + behind)
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    ("mark", "parts"),
    [
        ("first (", ["**first**: kernel", ".visible .entry first (.param .u64 .ptr .global .align 8 p)", "line 15"]),
        ("twice, (x0)", ["**twice**: function", ".func (.param .b32 out) twice (.param .b32 in)", "line 7"]),
        ("p]", ["**p**: parameter of `first`", "`.u64` (unsigned integer of 64 bits)"]),
        ("%rd1, [p]", ["**%rd1**: register of `first`", "`.b64` (untyped word of 64 bits)", ".reg .b64 %rd<3>;"]),
        ("%rd<3>", ["**%rd0** to **%rd2**: registers of `first`"]),
        ("counter", ["**counter**: variable", "in `.global`, `.u32`", ".global .align 4 .u32 counter = 7;"]),
        ("buffer", ["**buffer**: variable of `first`", "in `.shared`, `.b8`"]),
        ("DONE;", ["**DONE**: label of `first`"]),
        ("%tid.x", ["**%tid.x**: number of the thread in its block", "special register, `.u32`"]),
        (".x;", ["**%tid.x**"]),
        (".const", ["**.const**: constant memory"]),
        (".f32 table", ["**.f32**: floating-point number of 32 bits"]),
        ("sm_90", ["**sm_90**: target, from PTX 7.8 on; code can be made for it"]),
        ("setp.gt", ["**setp**: compares, with predicates as the results", "- `.gt`: comparison"]),
        (".entry", ["**.entry**: a kernel"]),
    ],
)
def test_things(mark, parts):
    text = shown(CALLS, mark)
    for part in parts:
        assert part in text, text


@pytest.mark.parametrize(("mark", "behind"), [(" = 7", 1), ("64];", 0), ("\n}", 1)])
def test_nothing_is_shown_of_nothing(mark, behind):
    assert not shown(CALLS, mark, behind)


def test_what_is_not_declared():
    text = SAXPY.replace("fma.rn.f32", "fam.rn.f32").replace("%f2, ", "%g2, ")
    assert shown(text, "fam") == "`fam` is no instruction"
    assert "is not declared" in shown(text, "%g2")


def test_the_instruction_comes_with_its_statement():
    document = Document("file:///a.ptx", SAXPY)
    found = hover(document, SAXPY.index("fma.rn") + 2)
    assert found is not None
    assert found.statement is not None
    assert SAXPY[found.at : found.after] == "fma.rn.f32"
    assert document.lines_of(found.statement) == (46, 46)


def test_the_module_says_its_target_unless_the_user_does():
    document = Document("file:///a.ptx", CALLS)
    assert (document.module.version, document.module.target) == (80, "sm_90")
    assert Document("a", CALLS, arch="sm_100a").module.target == "sm_100a"
    assert Document("a", CALLS.replace("sm_90", "compute_90")).module.target == "sm_90"
    assert Document("a", CALLS.replace("sm_90", "sm_9x")).module.target == ""
    assert Document("a", "").module == (0, "")


def test_entries_that_show_a_function():
    document = Document("file:///a.ptx", CALLS)
    inside = document.outline.scope_at(CALLS.index("[x0]"))
    assert document.entries_of(inside) == ("first",)
    assert document.entries_of(document.outline.scope_at(CALLS.index("add.s32"))) == ("first",)
    assert document.entries_of(document.outline.module) == ()
    alone = Document("a", CALLS.replace("twice, (x0)", "other, (x0)"))
    assert alone.entries_of(alone.outline.scope_at(CALLS.index("add.s32"))) == ()


def test_machine_code():
    lines = {"7": [["k", 32, "B"], ["k", 16, "A"]], "8": [["k", 48, "C"], ["f", 0, "D"]]}
    answer = {"lines": lines, "failure": "", "messages": []}
    assert machine_code(answer, (7, 7), "t") == "**t**\n```sass\n/*0010*/ A\n/*0020*/ B\n```"
    assert machine_code(answer, (7, 8), "t").split("\n")[1:4] == ["`k`", "```sass", "/*0010*/ A"]
    assert "no instruction of its own" in machine_code(answer, (9, 9), "t")
    assert machine_code({**answer, "failure": "not compiled: why"}, (7, 7), "t") == "**t**: not compiled: why"
    many = {**answer, "lines": {"1": [["k", 16 * i, "NOP"] for i in range(60)]}}
    assert machine_code(many, (1, 1), "t").endswith("and 12 more instructions")
