#!/usr/bin/env python3
"""What ptxas 13.0.88 says of a choice of instructions, kept in tests/data/ptx/golden.txt.xz: positives and negatives.

    python -m tests.ptx.golden [--check]

The choice covers every form of the signatures, deterministically: a number of its examples, each asked for the oldest target and
version that its gates allow, for the ones right below them and for any other target, and neighbours of the examples
(:func:`tests.ptx.agreement.neighbours`) of every kind: each word dropped or replaced, words added, operands of other kinds,
immediates at and beyond their limits. Without option ptxas is asked and the file is written; with --check it is asked again
about what the file has, and nothing is written.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from oric_tables import ptx_index as ix

from tests.ptx.agreement import neighbours, ours, ptxas, split
from tests.ptx.signature_examples import Example, examples

FILE = Path(__file__).parents[1] / "data/ptx/golden.txt.xz"
COMMAND = "python -m tests.ptx.golden"
NEWEST = "9.0"
# Those that ptxas 13.0 knows, oldest first; the order is that of "right below".
TARGETS = (
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_89",
    "sm_90",
    "sm_90a",
    "sm_100",
    "sm_100f",
    "sm_100a",
    "sm_103",
    "sm_103a",
    "sm_120",
    "sm_120a",
)
VERSIONS = tuple(f"{major}.{minor}" for major, minor in sorted(ix.VERSIONS) if (major, minor) >= (6, 3))
EXAMPLES = 6  # of a form
NEIGHBOURS = 1  # of a kind of change, of a form


class Place(NamedTuple):
    """Where an instruction is asked about."""

    target: str
    version: str


@dataclass(frozen=True)
class Answer:
    """What ptxas says of an instruction at a place."""

    place: Place
    text: str
    accepted: bool


def rank(text: str) -> int:
    """A number that orders texts at random, each time in the same way."""
    return zlib.crc32(text.encode())


def number(version: str) -> int:
    """8.3 as 83."""
    return int(version.replace(".", ""))


def places(example: Example) -> list[Place]:
    """The oldest target and version that the gates of an example allow (first), what lies below, another target."""
    ptx, sm, arch = example.gates
    fitting = [t for t in TARGETS if ix.TARGETS[t][0] >= sm and (not arch or t in arch)]
    if not fitting:
        return []
    target = fitting[0]
    versions = [v for v in VERSIONS if number(v) >= ix.TARGETS[target][3]]
    least = next((v for v in versions if number(v) >= ptx), NEWEST)
    out = [Place(target, NEWEST), Place(target, least), Place(TARGETS[rank(example.text) % len(TARGETS)], NEWEST)]
    if least != versions[0]:
        out.append(Place(target, versions[versions.index(least) - 1]))
    if target != TARGETS[0]:
        out.append(Place(TARGETS[TARGETS.index(target) - 1], NEWEST))
    return list(dict.fromkeys(out))


def change(example: str, other: str) -> tuple[object, ...]:
    """What kind of change leads from an example to its neighbour: where, and how the number of words and operands changes."""
    words, operands = _parts(example)
    others, other_operands = _parts(other)
    word = next((i for i, (a, b) in enumerate(zip(words, others, strict=False)) if a != b), len(words))
    place = next((i for i, (a, b) in enumerate(zip(operands, other_operands, strict=False)) if a != b), len(operands))
    integer = place < len(other_operands) and other_operands[place].lstrip("-").isdigit() and other_operands[place]
    return len(others) - len(words), word, len(other_operands) - len(operands), place, integer


def _parts(text: str) -> tuple[list[str], list[str]]:
    mnemonic, _, tail = text.partition(" ")
    return mnemonic.split("."), split(tail)


def choice() -> dict[Place, list[str]]:
    """The instructions to ask about at each place."""
    forms: dict[tuple[str, int], list[Example]] = {}
    for example in examples():
        forms.setdefault((example.name, example.form), []).append(example)
    out: dict[Place, dict[str, None]] = {}
    for found in forms.values():
        chosen = [found[0], *sorted(found[1:], key=lambda e: rank(e.text))[: EXAMPLES - 1]]
        for example in chosen:
            for place in places(example):
                out.setdefault(place, {})[example.text] = None
        for place, text in _neighbours(chosen):
            out.setdefault(place, {})[text] = None
    return {place: sorted(out[place]) for place in sorted(out)}


def _neighbours(chosen: list[Example]) -> Iterator[tuple[Place, str]]:
    kinds: dict[object, dict[str, Place]] = {}
    for example in chosen:
        where = places(example)[:1]
        for text in neighbours(example):
            for place in where:
                kinds.setdefault(change(example.text, text), {}).setdefault(text, place)
    for texts in kinds.values():
        for text in sorted(texts, key=rank)[:NEIGHBOURS]:
            yield texts[text], text


def ask(questions: dict[Place, list[str]]) -> list[Answer]:
    """Ask ptxas."""

    def one(item: tuple[Place, list[str]]) -> list[Answer]:
        place, texts = item
        verdicts = ptxas(texts, place.target, place.version)
        return [Answer(place, text, verdict.accepted) for text, verdict in zip(texts, verdicts, strict=True)]

    with ThreadPoolExecutor(2) as pool:
        return [answer for answers in pool.map(one, questions.items()) for answer in answers]


def write(answers: Iterable[Answer]) -> None:
    """Keep what ptxas said: a line ``@ TARGET VERSION``, then ``+`` or ``-`` and an instruction on each line."""
    lines = []
    last: Place | None = None
    for answer in answers:
        if answer.place != last:
            last = answer.place
            lines.append(f"@ {last.target} {last.version}")
        lines.append(f"{'+' if answer.accepted else '-'} {answer.text}")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(lzma.compress("\n".join(lines).encode() + b"\n", preset=9 | lzma.PRESET_EXTREME))


def load() -> list[Answer]:
    """What ptxas said."""
    out: list[Answer] = []
    place = Place("", "")
    for line in lzma.decompress(FILE.read_bytes()).decode().splitlines():
        mark, _, text = line.partition(" ")
        if mark == "@":
            place = Place(*text.split())
        else:
            out.append(Answer(place, text, mark == "+"))
    return out


def by_place(answers: Iterable[Answer]) -> dict[Place, list[Answer]]:
    """Answers of each place."""
    out: dict[Place, list[Answer]] = {}
    for answer in answers:
        out.setdefault(answer.place, []).append(answer)
    return out


def disagreements(answers: Iterable[Answer]) -> list[tuple[Answer, str]]:
    """Answers of ptxas that are not the parser's, with the parser's reason where it refuses."""
    out = []
    for place, found in by_place(answers).items():
        verdicts = ours([a.text for a in found], place.target, place.version)
        out += [(a, v.why) for a, v in zip(found, verdicts, strict=True) if a.accepted != v.accepted]
    return out


def main() -> int:
    """Ask and write, or ask and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args()
    if options.check:
        stored = load()
        again = ask({place: [a.text for a in found] for place, found in by_place(stored).items()})
        changed = [a for a, b in zip(stored, again, strict=True) if a != b]
        for answer in changed:
            print(f"{answer.place.target} {answer.place.version}: {answer.text}: stored {answer.accepted}, now otherwise")
        return 1 if changed else 0
    answers = ask(choice())
    write(answers)
    positives = sum(a.accepted for a in answers)
    wrong = disagreements(answers)
    for answer, why in wrong:
        said = f"we refuse: {why}" if answer.accepted else "ptxas refuses"
        print(f"{answer.place.target} {answer.place.version}: {answer.text}\n        {said}")
    print(f"{positives} positives, {len(answers) - positives} negatives, {FILE.stat().st_size} bytes; {len(wrong)} disagreements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
