"""What is proposed at a place."""

from __future__ import annotations

import pytest
from oric.lsp.complete import Completion, complete
from oric.lsp.document import Document

from tests.lsp.samples import CALLS, SAXPY

BODY = """.version 8.0
.target sm_90
.address_size 64
.global .u32 gone;
.entry k (.param .u64 pointer)
{
    .reg .b32 %r<100>;
    .reg .b64 %rd<4>;
    .reg .pred %p<3>;
LOOP:
    {
        .reg .f32 inner;
    }
    HERE
}
"""


def at(line: str, text: str = BODY) -> Completion:
    """The proposals at the bar in a line that stands in the place of HERE."""
    whole = text.replace("HERE", line)
    offset = whole.index("|")
    return complete(Document("file:///a.ptx", whole.replace("|", "", 1)), offset)


def names(line: str, text: str = BODY) -> list[str]:
    found = at(line, text)
    return [item.text for item in sorted(found.items, key=lambda item: item.rank)]


@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("|", {"add", "ld", "mma", "call"}, {"%r0", "LOOP", ".reg"}),
        ("a|", {"add", "atom"}, {"ld"}),
        ("add.|", {"f32", "u32", "sat"}, {"global", "add"}),
        ("ld.gl|", {"global"}, {"shared"}),
        ("ld.global.|", {"u32", "v2", "nc"}, {"shared"}),
        ("@|", {"%p0", "%p2"}, {"%r0", "%tid", "add"}),
        ("@!%p|", {"%p0"}, {"%rd0"}),
        ("@%p1 |", {"add", "bra"}, {"%r0"}),
        ("@%p1 br|", {"bra", "brx"}, {"add"}),
        ("@%p1 ld.|", {"global"}, {"%r0"}),
        ("add.u32 |", {"%r0", "%rd0", "%tid.x", "gone", "pointer", "LOOP"}, {"inner", "add"}),
        ("add.u32 %r1, %t|", {"%tid.x", "%tid"}, {"%r0"}),
        ("add.u32 %r1, %tid.|", {"%tid.x", "%tid.y"}, {"%tid"}),
        ("add.u32 %r9|", {"%r9", "%r90", "%r99"}, {"%r0"}),
        ("ld.param.u64 %rd1, [|", {"pointer", "%rd2"}, set()),
        ("bra L|", {"LOOP"}, {"ld"}),
        (".|", {".reg", ".shared", ".loc", ".pragma"}, {"add"}),
        (".reg .|", {".b32", ".f32", ".pred"}, {".s4"}),
        (".shared .al|", {".align"}, {".b32"}),
        ("add.u32 %r1, %r2, 3; |", {"add"}, {"%r0"}),
        ("add.u32 %r1, %r2\n |", {"add"}, {"%r0"}),
        ("add.u32 %r1,\n |", {"%r0"}, {"add"}),
        ("mov.b64 {|", {"%r0"}, {"add"}),
        ("mov.b64 {%r1, |", {"%r0"}, {"add"}),
        ("L2: |", {"add"}, {"%r0"}),
    ],
)
def test_what_is_proposed(line, some, none):
    found = set(names(line))
    assert some <= found, found
    assert not none & found


@pytest.mark.parametrize("line", ["// add.|", "/* add.|", '.pragma "no|', "add.u32 %r1, %r2; // %r|"])
def test_nothing_in_comments_and_strings(line):
    assert names(line) == []


@pytest.mark.parametrize(
    ("text", "some"),
    [
        (".version |\n", {"9.0", "8.0"}),
        (".version 8.0\n.target |", {"sm_90", "sm_100a", "debug"}),
        (".version 8.0\n.target sm_90\n.|", {".entry", ".func", ".visible", ".global"}),
        (".|", {".version"}),
        ("", set()),
        ("|", {"add"}),
    ],
)
def test_at_the_module(text, some):
    document = Document("file:///a.ptx", text.replace("|", ""))
    found = complete(document, text.index("|") if "|" in text else 0)
    assert some <= {item.text for item in found.items}


def test_what_is_replaced():
    found = at("ld.global.v4.f|")
    assert found.after - found.at == 1
    found = at("add.u32 %r1, %ti|")
    assert found.after - found.at == 3
    found = at(".re|")
    assert found.after - found.at == 3


def test_what_fits_stands_first():
    assert names("add.u32 |")[:3] == ["%r0", "%r1", "%r2"]
    assert names("ld.global.u64 |")[0] == "%rd0"
    assert names("bra |")[0] == "LOOP"


def test_ranges_propose_what_exists():
    assert "%r100" not in names("add.u32 %r10|")
    assert names("add.u32 %r64|") == ["%r64"]
    assert "%rd3" in names("add.u64 %rd|")
    assert "%rd4" not in names("add.u64 %rd|")


def test_inner_names_go_before_outer_ones_and_stay_inside():
    text = CALLS.replace("st.param.b32 [x0], a;", "st.param.b32 [x|")
    offset = text.index("|")
    assert {"x0"} == {item.text for item in complete(Document("a", text.replace("|", "")), offset).items}
    outside = SAXPY.index("fma.rn")
    assert "x0" not in {item.text for item in complete(Document("a", SAXPY), outside).items}
