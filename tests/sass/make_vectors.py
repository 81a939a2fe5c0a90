"""Write the golden vectors: words of every form with the text that a real nvdisasm prints for them.

    python tests/sass/make_vectors.py            (needs nvdisasm: $NVDISASM, PATH or a triton wheel)

Words that the tool refuses are replaced by others; a form of which it refuses all is an error. Targets of branches are
printed as if the instruction stood at address 0.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from oricgen.isa.model import Form, Operation

from tests.sass import nvdisasm, words

Wanted = tuple[Operation, int, Form, int]  # operation, number of the form, form, turn

TRIES = 6
BATCH = 1000
SEED = 20251121


def main() -> int:
    """Write tests/data/vectors/<isa>.txt for every ISA; returns the exit status."""
    tool = nvdisasm.find()
    if tool is None:
        print("make_vectors: no nvdisasm on this machine ($NVDISASM, PATH, triton wheel)", file=sys.stderr)
        return 2
    machine = words.load()
    words.VECTORS.mkdir(parents=True, exist_ok=True)
    for isa in machine.isas:
        lines = [f"# word, text of nvdisasm {nvdisasm.version(tool)} at address 0; made by tests/sass/make_vectors.py"]
        wanted = [
            (o, i, f, turn)
            for o in machine.operations
            for i, f in enumerate(o.forms.get(isa, ()))
            for turn in range(words.turns(f))
        ]
        found = _collect(tool, isa, wanted)
        missing = {(o.name, i) for o, i, _, _ in wanted} - {key[:2] for key in found}
        if missing:
            print(f"make_vectors: {isa}: nvdisasm refuses every word of {sorted(missing)}", file=sys.stderr)
            return 1
        lines += [f"{word:032x} {text} ;" for word, text in dict.fromkeys(found.values())]
        (words.VECTORS / f"{isa}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{isa}: {len(lines) - 1} vectors of {len({key[:2] for key in found})} forms")
    return 0


def _collect(tool: str, isa: str, wanted: list[Wanted]) -> dict[tuple[str, int, int], tuple[int, str]]:
    found: dict[tuple[str, int, int], tuple[int, str]] = {}
    for attempt in range(TRIES):
        left = []
        for o, i, f, t in wanted:
            if (o.name, i, t) not in found:
                rng = random.Random(f"{SEED} {o.name} {i} {t} {attempt}")  # a form's words do not depend on the others
                left.append((o.name, i, t, f, words.word_of(o, f, rng, t)))
        near = [x for x in left if any(p.kind == "label" for p in x[3].operands)]
        far = [x for x in left if x not in near]
        texts = [nvdisasm.texts(tool, isa, [x[4]])[0] for x in near]
        for start in range(0, len(far), BATCH):
            texts += nvdisasm.texts(tool, isa, [x[4] for x in far[start : start + BATCH]])
        for (name, i, t, _form, word), text in zip(near + far, texts, strict=True):
            if text is not None:
                found[name, i, t] = (word, text)
    order = {(o.name, i, t): at for at, (o, i, _, t) in enumerate(wanted)}
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


if __name__ == "__main__":
    sys.exit(main())
