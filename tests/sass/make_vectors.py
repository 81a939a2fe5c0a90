"""Write the golden vectors: words of every form with the text that a real nvdisasm prints for them.

    python tests/sass/make_vectors.py [ISA|FAMILY ...]       (needs nvdisasm: $NVDISASM, PATH or a triton wheel)

Without arguments those of all ISAs and of all files of spec/encoding. Words that the tool refuses are replaced by others; a form
of which it refuses all is an error. Targets of branches are printed as if the instruction stood at address 0.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from oricgen.isa.model import Form, Machine, Operation

from tests.sass import nvdisasm, words

Wanted = tuple[Operation, int, Form, int]  # operation, number of the form, form, turn

TRIES = 6
BATCH = 1000
SEED = 20251121


def main(arguments: list[str]) -> int:
    """Write tests/data/vectors/<isa>/<family>.txt; returns the exit status: 1 when nvdisasm refuses a form, 2 without it."""
    tool = nvdisasm.find()
    if tool is None:
        print("make_vectors: no nvdisasm on this machine ($NVDISASM, PATH, triton wheel)", file=sys.stderr)
        return 2
    machine = words.load()
    families = list(dict.fromkeys(words.family_of(o) for o in machine.operations))
    if unknown := set(arguments) - {*machine.isas, *families}:
        print(f"make_vectors: '{min(unknown)}' is no ISA and no file of spec/encoding", file=sys.stderr)
        return 2
    isas = [isa for isa in machine.isas if isa in arguments] or machine.isas
    families = [family for family in families if family in arguments] or families
    done = [_write(tool, machine, isa, family) for isa in isas for family in families]
    return 0 if all(done) else 1


def _write(tool: str, machine: Machine, isa: str, family: str) -> bool:
    """Ask for the vectors of one file of spec/encoding on one ISA and store them; False when nvdisasm refuses a form."""
    lines = [f"# word, text of nvdisasm {nvdisasm.version(tool)} at address 0; made by tests/sass/make_vectors.py"]
    wanted = [
        (o, i, f, turn)
        for o in machine.operations
        if words.family_of(o) == family
        for i, f in enumerate(o.forms.get(isa, ()))
        for turn in range(words.turns(f))
    ]
    path = words.VECTORS / isa / f"{family}.txt"
    if not wanted:
        path.unlink(missing_ok=True)
        return True
    found = _collect(tool, isa, wanted)
    missing = {(o.name, f.name, f.line) for o, i, f, _ in wanted} - {
        (o.name, f.name, f.line) for o, i, f, t in wanted if (o.name, i, t) in found
    }
    for name, form, line in sorted(missing):
        print(f"make_vectors: {isa}: {family}.yaml:{line}: {name}: nvdisasm refuses every word of form {form}", file=sys.stderr)
    lines += [f"{word:032x} {text} ;" for word, text in dict.fromkeys(found.values())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{isa} {family}: {len(lines) - 1} vectors of {len({key[:2] for key in found})} forms")
    return not missing


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
            if text is not None and "???" not in text:  # ???: a value that the tool knows to be none
                found[name, i, t] = (word, text)
    order = {(o.name, i, t): at for at, (o, i, _, t) in enumerate(wanted)}
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
