"""Mutated modules: the parser answers with a module or with a CompileError that has places inside the text, nothing else."""

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, diagnostics_for

from tests import fuzz_ptx, fuzz_run

HERE = Path(__file__).parent
TEXT = (HERE / "accept/language.ptx").read_text(encoding="utf-8")
TOKENS = re.findall(r"\s+|//[^\n]*|[\w$%.:]+|.", TEXT)
EXTRA = ["0f", "0x", "'", "\x00", "é", "<", "/*", "*/", "::", "1e999", "{{", "}}", ".v4", ".b128", "@!"]
WORDS = [*sorted(set(TOKENS)), *EXTRA]
KINDS = ["drop", "double", "swap", "word", "cut"]


def answer(text: str) -> None:
    diag = diagnostics_for(text, "f.ptx")
    try:
        parse_module(text, "f.ptx", Recorder(diag.source), None, diag)
    except CompileError as error:
        assert error.diagnostics is diag and diag.error_count
    rendered = diag.render()
    assert bool(rendered) == bool(diag.items)
    for item in diag.items:
        assert -1 <= item.offset <= len(text)


MUTATIONS = st.lists(
    st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from(KINDS), st.sampled_from(WORDS)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MUTATIONS)
def test_token_mutations(mutations):
    tokens = list(TOKENS)
    for place, kind, word in mutations:
        at = place % len(tokens)
        if kind == "drop":
            tokens[at] = ""
        elif kind == "double":
            tokens[at] *= 2
        elif kind == "swap":
            tokens[at], tokens[at - 1] = tokens[at - 1], tokens[at]
        elif kind == "word":
            tokens[at] = word
        else:
            tokens = tokens[: at + 1]
    answer("".join(tokens))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}[]();,.:@!|+-*/%<>=?_ \n\t\"'#$%rldadmov.u32b64f0x1", max_size=200))
def test_characters_in_a_body(text):
    answer(f".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{{\n.reg .b32 %r<9>;\n{text}")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_bytes(data):
    answer(data.decode("utf-8", "surrogateescape"))
    answer(".version 9.0\n.target sm_90\n" + data.decode("latin-1"))


def test_a_sample_of_the_long_fuzzing():
    said = []
    assert not fuzz_run.run(fuzz_ptx.FUZZER, 600, 2, 1, say=lambda *words, **_: said.append(words[0])), said
