"""A real nvdisasm asked again about the stored texts, and about the code that this package's compiler makes."""

from __future__ import annotations

import sys
from pathlib import Path

from oric import api
from oric.sass.code import Code
from oric.support import elf
from oric.support.targets import find_model

from tests.sass import nvdisasm, nvdisasm_text, words
from tests.sass.compare_words import plain

from . import golden, judge, targets

ROOT = Path(__file__).resolve().parents[2]
BATCH = 1000


def check() -> list[str]:
    """What differs; says loudly when there is nothing to ask."""
    tool = nvdisasm.find()
    if tool is None:
        print("conformance: SKIPPED, no nvdisasm on this machine ($NVDISASM, PATH or the triton wheel)", file=sys.stderr)
        return []
    print(f"nvdisasm {nvdisasm.version(tool)}: {tool}")
    wrong = [line for isa in words.load().isas for line in _vectors(tool, isa)]
    wrong += _cubins(tool) + [line for model in targets.MODELS for line in _golden(tool, model)] + _compiled(tool)
    return wrong


def _vectors(tool: str, isa: str) -> list[str]:
    labels = {
        f.value & 0xFFF
        for o in words.load().operations
        for f in o.forms.get(isa, ())
        if any(p.kind == "label" for p in f.operands)
    }
    stored = words.vectors(isa)
    near = [v for v in stored if v[0] & 0xFFF in labels]  # their text depends on the address
    far = [v for v in stored if v[0] & 0xFFF not in labels]
    texts = [nvdisasm.texts(tool, isa, [word])[0] for word, _ in near]
    for start in range(0, len(far), BATCH):
        texts += nvdisasm.texts(tool, isa, [word for word, _ in far[start : start + BATCH]])
    wrong = [f"{isa} {w:032x}: stored '{t}', nvdisasm '{got}'" for (w, t), got in zip(near + far, texts, strict=True) if got != t]
    print(f"{isa}: {len(stored)} vectors, {len(wrong)} differences")
    return wrong


def _cubins(tool: str) -> list[str]:
    stored = nvdisasm_text.stored()
    cubins = nvdisasm_text.cubins()
    differ = [n for n in stored if n not in cubins or nvdisasm_text.ask(tool, cubins[n]) != stored[n]]
    print(f"{len(stored)} cubins, {len(differ)} differences")
    return [f"{name}: nvdisasm prints other lines than those stored" for name in differ]


def _golden(tool: str, model: str) -> list[str]:
    stored = golden.words(model)
    texts = judge.texts(tool, model, [w.word for w in stored])
    wrong = [
        f"{model} {w.word:032x}: stored '{w.text}', nvdisasm '{t}'" for w, t in zip(stored, texts, strict=True) if w.text != t
    ]
    print(f"{model}: {len(stored)} instructions of the corpus, {len(wrong)} differences")
    return wrong


def _compiled(tool: str) -> list[str]:
    """Every instruction that the compiler makes of the test kernels must print as nvdisasm prints it."""
    wrong = []
    for target in ("sm_80", "sm_90"):
        made: dict[int, None] = {}
        for path in sorted((ROOT / "tests/kernels").glob(f"*.{target}.ptx")):
            for level in (0, 1, 2, 3):
                image = api.compile(path.read_text(), arch=target, opt_level=level).image
                for function in elf.read(image).functions.values():
                    made.update((plain(w), None) for w in judge.words(function.text))
        asked = list(made)
        texts = judge.texts(tool, target, asked)
        data = b"".join(w.to_bytes(16, "little") for w in asked)
        ours = [t for at in range(0, len(asked), judge.BATCH) for t in _texts(target, data[16 * at : 16 * (at + judge.BATCH)])]
        bad = [f"{target} compiled {w:032x}: '{o}', nvdisasm '{t}'" for w, o, t in zip(asked, ours, texts, strict=True) if o != t]
        print(f"{target}: {len(asked)} distinct instructions of compiled kernels, {len(bad)} differences")
        wrong += bad
    return wrong


def _texts(target: str, data: bytes) -> list[str]:
    return Code(find_model(target), data).texts()
