"""The assembler on the corpus of ptxas-made code: files come back byte for byte, every word from its text."""

from __future__ import annotations

import pytest
from oric.sass.asm_build import assemble_text
from oric.sass.assemble import Assembler, unseen_parts
from oric.sass.code import Code
from oric.sass.listing import list_cubin
from oric.sass.text import text_lines
from oric.support.elf import read
from oric.support.targets import find_model

from tests.corpus import golden, targets

MODELS = list(targets.MODELS)
SAMPLE = 6  # files of a model in the normal lane
WORDS = 700


def differing(cubins: list[golden.Cubin]) -> list[str]:
    """The cubins that do not come back as they were."""
    out = []
    for cubin in cubins:
        found = read(cubin.image)
        if assemble_text("\n".join(text_lines(list_cubin(found), found))) != cubin.image:
            out.append(f"{cubin.target} {cubin.name}")
    return out


@pytest.mark.parametrize("model", MODELS)
def test_some_files_come_back(model: str) -> None:
    found = sorted(golden.cubins(model), key=lambda c: (len(c.image), c.name))
    assert differing(found[: len(found) * 3 // 4 : max(len(found) // SAMPLE, 1)]) == []


@pytest.mark.measure
@pytest.mark.parametrize("model", MODELS)
def test_many_files_come_back(model: str) -> None:
    """Every second one."""
    assert differing(golden.cubins(model)[::2]) == []


@pytest.mark.parametrize("model", MODELS)
def test_words_come_back_from_their_texts(model: str) -> None:
    """Every text of the corpus assembles; a sample goes the whole way."""
    isa = find_model(targets.MODELS[model][0])
    words = [w.word for w in golden.words(model)]
    code = Code(isa, b"".join(word.to_bytes(16, "little") for word in words))
    unseen = unseen_parts(code, {})
    texts = code.texts()
    assert [texts[n] for n, said in unseen.items() if said.startswith("word=")] == []
    assembler = Assembler(isa)
    bad = set(code.bad)
    controls = code.controls()
    for number in range(0, code.count, max(code.count // WORDS, 1)):
        if number not in bad:
            assert assembler.word(texts[number], 16 * number, controls[number], unseen=unseen.get(number, "")) == words[number]
