"""The signature tables as a whole: every form accepts its own examples, gates hold, names resolve."""

import importlib
from itertools import product

import pytest
from oric.ptx import parse
from oric.support.diagnostics import CompileError
from oric_tables import ptx_index as ix

from tests.ptx.agreement import module as frame
from tests.ptx.signature_examples import all_families, examples

EXAMPLES = [example for example in examples() if not example.removed]


def module(version: str, target: str, lines: list[str]) -> str:
    return frame(version, target, lines)[0]


def target_for(sm: int, arch: tuple[str, ...]) -> str:
    return arch[0] if arch else "sm_100a" if sm > 90 else "sm_90"


@pytest.mark.parametrize("target", sorted({target_for(*example.gates[1:]) for example in EXAMPLES}))
def test_every_form_accepts_its_examples(target):
    lines = [example.text for example in EXAMPLES if target_for(*example.gates[1:]) == target]
    assert len(parse(module("9.0", target, lines)).bodies[0].instructions()) == len(lines) + 1


def test_there_are_thousands():
    assert len({example.text for example in EXAMPLES}) > 2000


def test_a_version_and_target_below_the_gate_are_refused():
    refused = 0
    for text, options in by_text().items():
        if all(sm > 80 or arch for _, sm, arch in options):
            with pytest.raises(CompileError, match="needs target"):
                parse(module("9.0", "sm_80", [text]))
            refused += 1
    assert refused > 200


def by_text():
    found = {}
    for example in EXAMPLES:
        found.setdefault(example.text, []).append(example.gates)
    return found


def test_no_name_stands_twice():
    for first, rows in ix.HEADS.items():
        names = [rest for rest, _ in rows]
        assert len(names) == len(set(names)), first


def combinations():
    """Each form with each choice of its types."""
    found = set()
    for family in all_families():
        for name, (_, forms, _) in importlib.import_module(f"oric_tables.ptx_{family}").FORMS.items():
            for index, form in enumerate(forms):
                types = [values for _, values, _ in form[0] if all(value in ix.TYPES for value in values)]
                found |= {(name, index, *chosen) for chosen in product(*types)}
    return found


@pytest.mark.row("R2-04")
def test_there_are_as_many_combinations_of_types_as_documented():
    assert len(combinations()) >= 1141


@pytest.mark.row("R2-04")
def test_a_wrong_type_is_answered_with_the_legal_ones():
    with pytest.raises(CompileError) as caught:
        parse(module("9.0", "sm_90", ["add.f33 %f32_1, %f32_2, %f32_3"]))
    text = str(caught.value)
    assert "'add' has no qualifier '.f33'" in text and "did you mean '.f32'?" in text
    note = next(line for line in text.splitlines() if "types of 'add' here" in line)
    assert {".f32", ".f64", ".s32", ".u64", ".f16x2", ".bf16"} <= set(note.replace(",", " ").split())
