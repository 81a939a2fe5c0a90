"""Modules of other compilers that ptxas takes: all of them parse and check clean, and their layout keeps them what they are."""

import re

import pytest
from oric.ptx import format_text, parse
from oric.support.diagnostics import CompileError

from tests.ptx.records import described

from . import archive, cuda_ptx, known

SAMPLE = 350_000  # characters of each compiler's modules that the quick lane reads
LEAST = {"nvcc": 150, "triton": 40, "llc": 60}


def mistakes(compiler: str, most: int = 0) -> dict[str, str]:
    """Name -> first message of each module that the parser refuses."""
    out = {}
    for name, text in archive.modules(compiler, most):
        try:
            assert parse(text, name).header is not None
        except CompileError as error:
            out[name] = error.diagnostics.errors()[0]
    return out


@pytest.mark.parametrize("compiler", archive.COMPILERS)
def test_a_sample_is_clean(compiler):
    found = mistakes(compiler, SAMPLE)
    assert {name: text for name, text in found.items() if name not in known.REFUSED} == {}


def test_every_excuse_is_needed():
    """A module that the parser takes by now leaves the list."""
    texts = {name: text for compiler in archive.COMPILERS for name, text in archive.modules(compiler)}
    for name in known.REFUSED:
        with pytest.raises(CompileError):
            parse(texts[name], name)


@pytest.mark.measure
@pytest.mark.parametrize("compiler", archive.COMPILERS)
def test_all_are_clean(compiler):
    found = mistakes(compiler)
    assert {name: text for name, text in found.items() if name not in known.REFUSED} == {}


@pytest.mark.measure
@pytest.mark.parametrize("compiler", archive.COMPILERS)
def test_layout_keeps_the_modules(compiler):
    for name, text in archive.modules(compiler, 6_000_000):
        if name not in known.REFUSED:
            out = format_text(text)
            assert format_text(out) == out, name
            assert described(parse(out)) == described(parse(text)), name


@pytest.mark.parametrize("compiler", archive.COMPILERS)
def test_there_are_enough(compiler):
    names = [name for name, _ in archive.modules(compiler)]
    assert len(names) == len(set(names)) >= LEAST[compiler]
    assert archive.path_of(compiler).stat().st_size < 2_500_000


def test_no_module_names_this_machine():
    for compiler in archive.COMPILERS:
        for name, text in archive.modules(compiler):
            assert re.search(r'"/(?:work|root|home)/', text) is None, name


def test_known_names_are_stored():
    stored = {name for compiler in archive.COMPILERS for name, _ in archive.modules(compiler)}
    assert set(known.REFUSED) <= stored


def test_calls_of_cuda_ptx_are_made_from_the_comments_of_its_headers(tmp_path):
    header = """/*
// fence.sem.scope; // PTX ISA 60, SM_70
// .sem = { .sc }
// .scope = { .cta, .gpu }
template <cuda::ptx::dot_scope Scope>
__device__ static inline void fence(
  cuda::ptx::sem_sc_t,
  cuda::ptx::scope_t<Scope> scope);
*/"""
    (tmp_path / "fence.h").write_text(header)
    text = cuda_ptx.source(tmp_path, "80", 0, 1)
    assert "ptx::fence(ptx::sem_sc, ptx::scope_cta);" in text
    assert "ptx::fence(ptx::sem_sc, ptx::scope_gpu);" in text
    assert "call_" not in cuda_ptx.source(tmp_path, "60", 0, 1)
