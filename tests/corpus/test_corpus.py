"""The corpus of ptxas-made code against this package: texts, round trips, registers, findings, mutants; and its tool."""

from __future__ import annotations

import pytest
from oric.sass.check import check_cubin
from oric.support import elf

from tests.corpus import build, compare, golden, judge, kernels, mutants, patterns, randoms, targets
from tests.corpus.compile import Module
from tests.sass.compare_words import plain

MODELS = list(targets.MODELS)
TARGETS_OF_THE_COMPILER = ("sm_80", "sm_90")
MOST_BYTES = 10 << 20
MOST_WRONG = 0.001
# What the sources must cover, by the name of their sections.
FAMILIES = {
    "integer", "carry", "divide", "logic", "bits", "compare", "uniform", "float", "double", "half", "convert integer",
    "convert float", "video", "load store", "memory order", "cache", "atomic", "warp", "barrier", "mma", "wmma", "matrix moves",
    "texture", "surface", "special", "system", "random", "features", "cuda",
}  # fmt: skip
NEWER = {
    80: {"mma eighty", "async copy", "mbarrier", "reduce", "convert pairs", "half eighty"},
    89: {"mma small floats", "convert small floats"},
    90: {"cluster", "bulk copy", "tensor copy", "mbarrier ninety", "multimem", "elect", "half ninety"},
    100: {"float three", "load store wider", "convert smaller floats"},
}


@pytest.mark.parametrize("model", MODELS)
def test_texts_are_those_of_nvdisasm(model: str):
    wrong = compare.texts(model)
    assert len(wrong) <= MOST_WRONG * len(golden.words(model)), wrong[:20]


@pytest.mark.parametrize("model", MODELS)
def test_every_bit_is_explained(model: str):
    assert compare.unexplained(model) == {}


@pytest.mark.parametrize("model", MODELS)
def test_words_encode_to_themselves(model: str):
    assert compare.round_trips(model) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", MODELS)
def test_registers_are_those_of_the_life_ranges(model: str):
    assert [d for d in compare.registers(model) if compare.name(d[1]) not in compare.LIFE_RANGES] == []


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_found_in_the_corpus(model: str):
    reports = [check_cubin(elf.read(c.image)) for c in golden.cubins(model)]
    assert [str(f) for r in reports for f in r.findings] == []


@pytest.mark.parametrize("target", TARGETS_OF_THE_COMPILER)
def test_mutants_are_found(target: str):
    result = mutants.measure(target, most=240)
    assert result.missed == []
    assert result.caught == result.unsafe == 240
    assert set(result.kinds) == set(mutants.KINDS)


@pytest.mark.measure
@pytest.mark.parametrize("target", targets.TARGETS)
def test_every_mutant_is_found(target: str):
    result = mutants.measure(target)
    assert result.missed == []
    assert result.caught == result.unsafe >= 5000


@pytest.mark.parametrize("model", MODELS)
def test_every_target_has_its_kernels_and_families(model: str):
    counts = compare.kernels(model)
    assert sorted(counts) == sorted(targets.MODELS[model])
    for target, count in counts.items():
        assert count >= 400
        families = {c.family for c in golden.cubins(model) if c.target == target}
        number = targets.parse(target).number
        wanted = FAMILIES.union(*(names for oldest, names in NEWER.items() if number >= oldest))
        wanted |= {"wgmma"} if target == "sm_90a" else set()
        wanted |= {"tcgen05", "tcgen05 moves"} if target in ("sm_100a", "sm_100f", "sm_103a", "sm_110a") else set()
        wanted |= {"mma smaller floats"} if target in ("sm_120a", "sm_121a") else set()
        assert not wanted - families


def test_the_golden_data_stays_small():
    sizes = {p.name: p.stat().st_size for p in golden.FOLDER.iterdir()}
    assert sorted(sizes) == sorted(f"{m}.{kind}.xz" for m in MODELS for kind in ("cubins", "words"))
    assert sum(sizes.values()) <= MOST_BYTES


@pytest.mark.parametrize("model", MODELS)
def test_words_stand_for_the_code_of_the_cubins(model: str):
    code = {w for c in golden.cubins(model) for data in judge.code(c.image).values() for w in judge.words(data)}
    assert {plain(w) for w in code} == {w.word for w in golden.words(model)}


def test_alternatives_expand_and_refer_to_one_another():
    assert list(patterns.expand("(min|max).(s32|u32) <=\\2>, <\\2>")) == [
        "min.s32 <=s32>, <s32>", "min.u32 <=u32>, <u32>", "max.s32 <=s32>, <s32>", "max.u32 <=u32>, <u32>",
    ]  # fmt: skip
    assert list(patterns.expand("ld(.nc|).b32 [x]")) == ["ld.nc.b32 [x]", "ld.b32 [x]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add.s32 <=s32>, <s32>", "1: a line before the first section"),
        ("[a b; sm > 80]", "1: what is 'sm > 80'?"),
        ("[a; turns]\n", "1: what is 'turns'?"),
        ("[a", "1: not a section: [a"),
        ("[a]\nadd <=q32>, <s32>", "2: no such type: q32"),
        ("[a]\nld <=s32>, [<@texture>]", "2: no such address: texture"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path, text: str, message: str):
    (tmp_path / "bad.ops").write_text(text)
    with pytest.raises(patterns.PatternError) as caught:
        patterns.read(tmp_path / "bad.ops")
    assert str(caught.value) == f"bad.ops:{message}"


def test_the_same_sources_give_the_same_text():
    section = next(s for s in patterns.sections() if s.name == "compare")
    assert [k.text() for k in kernels.straight(section)] == [k.text() for k in kernels.straight(section)]
    assert [k.text() for k in randoms.kernels(100)] == [k.text() for k in randoms.kernels(100)]


def test_lines_that_no_target_takes_are_told():
    line, other = ("k", "bad.s32;"), ("k", "new.s32;")
    old = build.Result([], {line: "no bad", other: "not on sm_75"}, {line, other})
    new = build.Result([], {line: "no bad"}, {line, other})
    assert build.dead_lines([old, new]) == ["k: bad.s32;: no bad"]


def test_a_place_in_the_text_names_the_line_of_the_function():
    module = Module("m", [".head"], {"f": ["one", "two"], "g": ["three"]})
    text, places = module.text("sm_90")
    lines = text.splitlines()
    for number, (name, index) in enumerate(places):
        if name:
            assert lines[number - 1] == module.functions[name][index]
    assert [p for p in places if p[0]] == [("f", 0), ("f", 1), ("g", 0)]
