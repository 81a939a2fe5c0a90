"""Special registers, opaque variables and pragmas as ptxas has them; warnings."""

import re

import oric
import pytest
from oric import sass
from oric.cli import main
from oric.ptx import parse
from oric.ptx.parser import parse_module
from oric.ptx.recorder import Recorder
from oric.support import elf
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


@pytest.mark.row("R4-39")
@pytest.mark.parametrize("what", ["2, 3", "8, 2", "12,0", "2-3"])
def test_the_first_registers_are_no_parameters(what: str, tmp_path, capsys):
    """In the documented words, which ptxas has too; kernels have these registers for whatever they like."""
    source = tmp_path / "k.ptx"
    source.write_text(objects.full("sm_90", "9.0", f'.func f(.param .b32 a)\n{{ .pragma "abi_param_reg {what}"; ret; }}'))
    assert main([str(source), "-arch", "sm_90", "-o", str(tmp_path / "k.cubin")]) != 0
    assert (
        "k.ptx:5:11: error: Registers 0-3 are reserved by ABI and cannot be used for parameter passing\n"
        in capsys.readouterr().err
    )


@pytest.mark.row("R4-39")
def test_kernels_have_the_first_registers():
    body = "ld.param.u64 %d, [o]; mov.u32 %r, %tid.x; st.global.u32 [%d], %r; ret;"
    text = objects.full("sm_90", "9.0", f".entry k(.param .u64 o)\n{{ .reg .b32 %r; .reg .b64 %d; {body} }}")
    cubin = elf.read(oric.compile(text, arch="sm_90").image)
    named = {name for i in sass.decode(cubin.kernels["k"].text, cubin.target) for name in re.findall(r"\bR\d+\b", i.text)}
    assert len({"R0", "R1", "R2", "R3"} & named) == 3


def test_other_registers_for_parameters_are_refused_by_name():
    text = objects.full("sm_90", "9.0", '.func f(.param .b32 a)\n{ .pragma "abi_param_reg 2, 8"; ret; }')
    with pytest.raises(CompileError, match="'pragma abi_param_reg 2, 8' is not supported"):
        oric.compile(text, arch="sm_90")
