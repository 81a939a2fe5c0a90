"""What is shown of instructions, and what may follow in a mnemonic: by the signatures, for all of them."""

from __future__ import annotations

import pytest
from oric.lsp.mnemonics import (
    Module,
    begun_names,
    describe,
    fitting,
    following,
    forms_of,
    gate_text,
    name_of,
    names_of,
    section_of,
    syntax,
    type_doc,
)
from oric_tables import ptx_help
from oric_tables import ptx_index as ix

from tests.lsp.samples import FILES, ROOT

EVERYTHING = Module()
NAMES = [".".join((head, *rest)) for head, rows in ix.HEADS.items() for rest, _ in rows]


def mnemonic_of(name: str, form) -> str:
    """A mnemonic of a form, with the first word of each slot that it needs."""
    return ".".join([name.split(".", maxsplit=1)[0], *(values[0] for _, values, required in form.slots if required)])


def test_every_mnemonic_can_be_completed_word_by_word():
    checked = 0
    for name in NAMES:
        for form in forms_of(name):
            words = mnemonic_of(name, form).split(".")
            for count in range(1, len(words)):
                begun = ".".join(words[:count]) + "."
                assert words[count] in {row.word for row in following(begun, EVERYTHING)}, (begun, words)
                checked += 1
    assert checked > 3000


def test_what_follows_leads_to_an_instruction():
    for name in NAMES:
        head = name.split(".", maxsplit=1)[0]
        for row in following(f"{head}.", EVERYTHING):
            assert any(fitting(other, [row.word]) for other in begun_names([head])), (head, row)


def test_every_mnemonic_of_the_kernels_is_complete():
    for path in FILES:
        for line in path.read_text().splitlines():
            words = line.split("//")[0].split()
            if words and words[0].startswith("@"):
                words = words[1:]
            if not words or not words[-1].endswith(";") or words[0].split(".")[0] not in ix.HEADS:
                continue
            text = words[0].rstrip(";")
            name = name_of(text)
            assert fitting(name, text.split(".")[1:], whole=True), text


@pytest.mark.parametrize(
    ("begun", "some", "none"),
    [
        ("ld.", {"global", "shared", "param", "u32", "v4", "volatile"}, {"rn", "sat"}),
        ("ld.global.v4.", {"f32", "u32"}, {"f64x", "v2", "global", "shared"}),
        ("setp.lt.", {"s32", "u32", "f32", "and"}, {"eq", "ge"}),
        ("cvt.rn.f32.", {"s32", "u64"}, {"rz"}),
        ("cp.async.", {"bulk", "ca", "cg", "commit_group"}, {"add"}),
        ("mul.", {"lo", "hi", "wide", "f32"}, {"shared"}),
        ("nothing.", set(), {"f32"}),
        ("", set(), {"f32"}),
    ],
)
def test_what_follows(begun, some, none):
    found = {row.word for row in following(begun, EVERYTHING)}
    assert some <= found
    assert not none & found


def test_what_a_module_has_not_is_not_proposed():
    assert "bulk" in {row.word for row in following("cp.async.", Module(80, "sm_90"))}
    assert "bulk" not in {row.word for row in following("cp.async.", Module(80, "sm_80"))}
    assert "bulk" not in {row.word for row in following("cp.async.", Module(70, "sm_90"))}
    assert following("tcgen05.", Module(86, "sm_100a"))
    assert not following("tcgen05.", Module(86, "sm_100"))


def test_every_instruction_is_described():
    for name in NAMES:
        for form in forms_of(name):
            text = mnemonic_of(name, form)
            shown = describe(text, EVERYTHING)
            assert f"**{name_of(text)}**: {ptx_help.INSTRUCTIONS[name_of(text)]}" in shown
            assert section_of(name_of(text)) in shown
    assert describe("fam.rn.f32", EVERYTHING) == describe("", EVERYTHING) == ""


def test_names_with_more_words_go_before_shorter_ones():
    assert name_of("cp.async.bulk.commit_group") == "cp.async.bulk.commit_group"
    assert name_of("barrier.cluster.arrive") == "barrier.cluster.arrive"
    assert name_of("barrier.sync") == "barrier"
    assert names_of([]) == []


@pytest.mark.parametrize(
    ("mnemonic", "lines"),
    [
        (
            "add.f32",
            ["add{.ftz}{.sat}.f32 d, a, b;", "- `.f32`: floating-point number of 32 bits", "Needs every version and target"],
        ),
        ("shf.l.wrap.b32", ["- `.l`: direction of the shift", "Needs PTX 3.1, sm_32 or later"]),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", ["[p];", "how many of them at once"]),
        ("dp2a.hi.u32.u32", ["- `.hi`: the lower or upper two of the four bytes"]),
        ("mul.hi.u32", ["- `.hi`: the upper half of the product"]),
        ("call.uni", ["call{.uni} (results), function, (arguments);"]),
        ("shfl.idx.b32", ["gone from PTX 6.4"]),
        ("add", ["- `.type`: `.u16` `.u32` `.u64` `.s16` `.s64`"]),
    ],
)
def test_descriptions(mnemonic, lines):
    shown = describe(mnemonic, EVERYTHING)
    for line in lines:
        assert line in shown, shown


def test_a_description_says_that_the_target_lacks_it():
    assert "(the module: PTX 7.0, sm_80)" in describe("wgmma.fence.sync.aligned", Module(70, "sm_80"))
    assert "the module" not in describe("wgmma.fence.sync.aligned", Module(80, "sm_90a"))


def test_a_qualifier_that_stands_alone():
    assert describe("ld.global", EVERYTHING, "global").split("\n")[2] == "`.global`: state space of memory that all threads share"


def test_gates():
    assert gate_text((0, 0, ())) == "every version and target"
    assert gate_text((78, 90, ())) == "PTX 7.8, sm_90 or later"
    assert gate_text((86, 100, ("sm_100a", "sm_103a"))) == "PTX 8.6, sm_100a sm_103a"
    assert gate_text((0, 0, ()), (64, 70)) == "every version and target; gone from PTX 6.4, sm_70 on"


def test_every_type_has_a_line():
    assert all("bit" in type_doc(name) for name in ix.TYPES)


def test_operands_as_they_are_written():
    assert syntax(forms_of("ld")[0]).endswith("[a];")
    assert any("{|" in syntax(form) for form in forms_of("setp"))
    assert "[a, {c...}]" in "".join(syntax(form) for form in forms_of("tex"))


def test_the_lines_of_help_are_those_of_the_specification():
    text = (ROOT / "spec" / "ptx_help.yaml").read_text()
    assert all(
        doc in text for doc in (*ptx_help.INSTRUCTIONS.values(), *ptx_help.SPECIAL.values(), *ptx_help.DIRECTIVES.values())
    )
