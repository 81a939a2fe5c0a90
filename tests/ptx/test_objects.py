"""Special registers, opaque variables and pragmas as ptxas has them; warnings."""

import pytest
from oric.ptx import parse
from oric.ptx.parser import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, diagnostics_for

from tests.ptx import objects
from tests.ptx.agreement import module


def test_the_parser_says_what_ptxas_says():
    assert objects.differences() == []


def test_fields_of_opaque_variables_are_kept():
    text = objects.full("sm_90", "9.0", ".global .texref t[2] = { { width = 3, filter_mode = nearest }, { } };")
    assert parse(text).symbols[0].fields == ((("width", 3), ("filter_mode", "nearest")), ())


def warnings(text):
    diag = diagnostics_for(text, "m.ptx")
    parse_module(text, "m.ptx", Recorder(diag.source), None, diag)
    assert diag.error_count == 0
    return [line.partition("m.ptx:")[2] for line in diag.warnings()]


def test_deprecated_instructions_and_unknown_pragmas_are_warned_of():
    text, first = module("6.3", "sm_75", ["vote.all.pred %pred_1, %pred_2", "add.u32 %u32_1, %u32_2, 1", '.pragma "unheard_of"'])
    assert warnings(text) == [
        f"{first}:1: warning: 'vote' without '.sync' may produce unpredictable results on sm_70 and later architectures",
        f"{first + 2}:9: warning: pragma 'unheard_of' is not known: it is ignored",
    ]


def test_a_form_of_the_other_texture_mode_is_named():
    text, _ = module("9.0", "sm_90", ["txq.force_unnormalized_coords.b32 %b32_0, [tex0]"])
    with pytest.raises(CompileError, match=r"expected a \.samplerref"):
        parse(text)
