"""Mistakes in spec/cubin.yaml: each is an error with the line of its entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.outputs import cubin
from oricgen.spec import Spec

ROOT = Path(__file__).parents[2]


@pytest.fixture
def edited() -> Callable[[str, str], tuple[Spec, int]]:
    """Replace a text that occurs once; gives the spec and the line of the replacement."""

    def edit(old: str, new: str) -> tuple[Spec, int]:
        text = (ROOT / "spec" / "cubin.yaml").read_text()
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        return Spec(ROOT / "spec", {"cubin.yaml": text.replace(old, new)}), text[: text.index(old)].count("\n") + 1

    return edit


def test_the_spec_itself_renders() -> None:
    files = cubin.render(Spec(ROOT / "spec"))
    assert set(files) == {"oric_tables/cubin.py", "oric_tables/cubin_layout.py"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{code: 0x12, name: MIN_STACK_SIZE,", "{code: 0x11, name: MIN_STACK_SIZE,", "attributes: code 17 is used twice"),
        ("{code: 0x12, name: MIN_STACK_SIZE,", "{code: 0x12, name: FRAME_SIZE,", "attributes: name FRAME_SIZE is used twice"),
        (
            "name: EXIT_INSTR_OFFSETS, format: sized",
            "name: EXIT_INSTR_OFFSETS, format: byte",
            "layout 'offsets' does not go with",
        ),
        ("name: EXTERNS, format: sized, layout: symbols", "name: EXTERNS, format: sized", "EXTERNS: column 'layout' is missing"),
        ("{code: 4, name: R_CUDA_G64, size: 8}", "{code: 2, name: R_CUDA_G64, size: 8}", "relocations: code 2 is used twice"),
        ("{name: .nv.compat, type: CUDA_COMPAT,", "{name: .nv.compat, type: COMPAT,", "compat: unknown section type 'COMPAT'"),
        ("entsize: 24, link: strtab}", "entsize: 24, link: strings}", "symtab: linked to the unknown kind 'strings'"),
        (
            "SW_WAR: {attribute: SW2861232_WAR}",
            "WAR: {attribute: SW2861232_WAR}",
            "layout sm_80: there is no record WAR to replace",
        ),
        ("late: [constant0]", "late: [constant1]", "unknown kind of section 'constant1'"),
        ("fact: cluster_rank}", "fact: rank}", "'rank' is not one of"),
        ("empty_module_attribute: MERCURY_ISA_VERSION", "empty_module_attribute: ISA_VERSION", "unknown attribute 'ISA_VERSION'"),
    ],
)
def test_mistakes_are_named(edited: Callable[[str, str], tuple[Spec, int]], old: str, new: str, message: str) -> None:
    spec, line = edited(old, new)
    with pytest.raises(SpecError, match=message) as caught:
        cubin.render(spec)
    assert caught.value.path.endswith("cubin.yaml")
    if "layout sm_80" not in message and "constant1" not in message:
        assert caught.value.line == line


def test_layouts_must_not_inherit_in_a_circle(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited("    inherits: sm_75\n    source: ptxas 13.0.88, sm_80\n", "    inherits: sm_80\n    source: none\n")
    with pytest.raises(SpecError, match="layout sm_80: cannot inherit 'sm_80'"):
        cubin.render(spec)


def test_missing_column_is_named(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited('    rel_action: "73000000000000000000001125000536"\n', "")
    with pytest.raises(SpecError, match="layout sm_75: column 'rel_action' is missing"):
        cubin.render(spec)


def test_targets_must_name_a_layout(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited("\n  sm_90:\n    inherits: sm_75\n", "\n  sm_91:\n    inherits: sm_75\n")
    with pytest.raises(SpecError, match=r"sm_90: cubin\.yaml has no layout 'sm_90'") as caught:
        cubin.render(spec)
    assert caught.value.path.endswith("sm_targets.yaml") and caught.value.line > 0


def test_targets_must_name_a_header_form(edited: Callable[[str, str], tuple[Spec, int]]) -> None:
    spec, _ = edited("{osabi: 0x41, abiversion: 8,", "{osabi: 0x41, abiversion: 9,")
    with pytest.raises(SpecError, match=r"sm_75: cubin\.yaml has no header form"):
        cubin.render(spec)
