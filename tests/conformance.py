"""``make conformance``: ask a real nvdisasm again about everything whose text is stored, and say loudly when there is none.

Checks the golden vectors of every ISA and, for the stored cubins, that nvdisasm still prints what is stored.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.sass import nvdisasm, nvdisasm_text, words

BATCH = 1000
SHOWN = 20


def main() -> int:
    """Returns 1 when something differs, else 0, also when there is no nvdisasm to ask."""
    tool = nvdisasm.find()
    if tool is None:
        print("conformance: SKIPPED, no nvdisasm on this machine ($NVDISASM, PATH or the triton wheel)", file=sys.stderr)
        return 0
    print(f"nvdisasm {nvdisasm.version(tool)}: {tool}")
    wrong = [line for isa in words.load().isas for line in _vectors(tool, isa)] + _cubins(tool)
    print("\n".join(wrong[:SHOWN] + [f"... {len(wrong)} differences"] * (len(wrong) > SHOWN)) or "no differences")
    return 1 if wrong else 0


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
    wrong = [f"{name}: nvdisasm prints other lines than those stored" for name in differ]
    print(f"{len(stored)} cubins, {len(wrong)} differences")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
