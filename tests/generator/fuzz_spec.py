"""Fuzzer of the specification: random edits of its files, each of which is refused with a message or gives a page.

python -m tests.generator.fuzz_spec --count N --seed S [--accepted N]

An edit is refused with a ``SpecError`` (file, and the line where there is one), or ``oricgen diff`` has a page for it. The page
says something whenever a generated file differs in more than line numbers. Nothing else may happen.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from oricgen.errors import UsageError
from oricgen.review import review, side
from oricgen.review.kernels import samples

from . import page_proof, review_cases
from .review_cases import ROOT

KERNELS = ("tests/kernels/saxpy.sm_80.ptx",)
SPEC = ROOT / "spec"
# What a hand-written C source names and the specification no longer has is refused by the C compiler, at that source.
REFUSED = re.compile(r"after: (?:spec/[\w/.]+(?::\d+){0,2}|.*\bruntime/oric/native/[\w/.]+:\d+(?::\d+)?): .+", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.\"'-])(0x[0-9a-fA-F]+|\d+)(?![\w.\"'-])")
_NAME = re.compile(r"(?<![\w$%.\"'])([A-Za-z_][\w.]*)(?=[\]},:\s])")
_ROW = re.compile(r"(?P<indent> *)(?P<item>- )?(?P<rest>\S.*)")

Edit = Callable[[list[str], random.Random], bool]  # of the lines of a file; False: nothing to do there


@dataclass(frozen=True)
class Outcome:
    """What became of an edit: ``refused``, ``nothing``, ``page``, or ``wrong`` with the reason in ``text``."""

    kind: str
    text: str
    edit: str


# --- edits


def number(lines: list[str], rng: random.Random) -> bool:
    """Another number."""
    at, found = _pick(lines, _NUMBER, rng)
    if found is None:
        return False
    value = int(found[1], 0)
    new = rng.choice([value + 1, max(value - 1, 0), value ^ 1 << rng.randrange(5), 0, value * 2])
    text = hex(new) if found[1].startswith("0x") else str(new)
    lines[at] = lines[at][: found.start(1)] + text + lines[at][found.end(1) :]
    return True


def name(lines: list[str], rng: random.Random) -> bool:
    """A name that is one elsewhere in the file, or that is none."""
    at, found = _pick(lines, _NAME, rng)
    _, other = _pick(lines, _NAME, rng)
    if found is None or other is None:
        return False
    new = rng.choice([other[1], found[1] + "x", found[1][:-1] or "q", found[1].swapcase()])
    lines[at] = lines[at][: found.start(1)] + new + lines[at][found.end(1) :]
    return True


def flag(lines: list[str], rng: random.Random) -> bool:
    """The other truth value."""
    at, found = _pick(lines, re.compile(r"\b(true|false)\b"), rng)
    if found is None:
        return False
    lines[at] = lines[at][: found.start()] + ("false" if found[1] == "true" else "true") + lines[at][found.end() :]
    return True


def word(lines: list[str], rng: random.Random) -> bool:
    """Prose or a template with a word less, or one twice."""
    at, found = _pick(lines, re.compile(r"(?<= )(\w+),? (?=\w)"), rng)
    if found is None:
        return False
    lines[at] = lines[at][: found.start()] + rng.choice(["", found[0] * 2]) + lines[at][found.end() :]
    return True


def remove(lines: list[str], rng: random.Random) -> bool:
    """A row less."""
    block = _row(lines, rng)
    if block is None:
        return False
    del lines[block]
    return True


def double(lines: list[str], rng: random.Random) -> bool:
    """A row again under another name (lists: the same row twice)."""
    block = _row(lines, rng)
    if block is None:
        return False
    copy = lines[block]
    copy[0] = re.sub(r"^( *(?:- \{?\w+: )?)(\w+)", lambda m: f"{m[1]}{m[2]}q", copy[0], count=1)
    lines[block.stop : block.stop] = copy
    return True


def swap(lines: list[str], rng: random.Random) -> bool:
    """Two neighbouring rows in the other order."""
    block = _row(lines, rng)
    other = None if block is None else _block(lines, block.stop)
    if block is None or other is None:
        return False
    lines[block.start : other.stop] = lines[other] + lines[block]
    return True


def comment(lines: list[str], rng: random.Random) -> bool:
    """A comment more: no difference at all."""
    lines.insert(rng.randrange(len(lines)), "# another comment")
    return True


EDITS: dict[str, tuple[Edit, int]] = {
    "number": (number, 5), "name": (name, 3), "flag": (flag, 2), "word": (word, 3), "remove": (remove, 4), "double": (double, 2),
    "swap": (swap, 4), "comment": (comment, 1),
}  # fmt: skip


def _pick(lines: list[str], pattern: re.Pattern[str], rng: random.Random) -> tuple[int, re.Match[str] | None]:
    """A place that fits, outside of comments."""
    for _ in range(50):
        at = rng.randrange(len(lines))
        code = re.split(r"(?:^|\s)#", lines[at])[0]
        if found := list(pattern.finditer(code + " ")):
            return at, rng.choice(found)
    return 0, None


def _row(lines: list[str], rng: random.Random) -> slice | None:
    """The lines of some row below the first level."""
    for _ in range(50):
        at = rng.randrange(len(lines))
        if lines[at].startswith("  ") and not lines[at].strip().startswith("#"):
            return _block(lines, at)
    return None


def _block(lines: list[str], start: int) -> slice | None:
    """A line with those below it that are indented more."""
    match = _ROW.fullmatch(lines[start]) if start < len(lines) else None
    if match is None or not match["indent"]:
        return None
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > len(match["indent"])):
        end += 1
    return slice(start, end)


def edit(seed: int) -> tuple[str, dict[str, str]]:
    """What the edits of a seed are called, and the texts of the files that they change."""
    rng = random.Random(seed)
    kinds, weights = list(EDITS), [w for _, w in EDITS.values()]
    said: list[str] = []
    texts: dict[str, str] = {}
    wanted = rng.choice([1, 1, 1, 2])
    while len(said) < wanted:
        file = rng.choice(_files())
        kind = rng.choices(kinds, weights)[0]
        lines = (texts.get(file) or (SPEC / file).read_text(encoding="utf-8")).split("\n")
        before = list(lines)
        if EDITS[kind][0](lines, rng) and lines != before:
            texts[file] = "\n".join(lines)
            said.append(f"{kind} in {file}")
    return f"seed {seed}: {', '.join(said)}", texts


@cache
def _files() -> list[str]:
    return sorted(p.relative_to(SPEC).as_posix() for p in SPEC.rglob("*.yaml"))


# --- outcomes


def outcome(seed: int) -> Outcome:
    """What becomes of the edits of a seed."""
    called, texts = edit(seed)
    try:
        with review_cases.after(texts) as new:
            page = review.page_of(review_cases.before(), new, ROOT, samples(ROOT, KERNELS), 40, review_cases.WORKSHOP)
            return _judged(called, page, new)
    except UsageError as error:
        kind = "refused" if REFUSED.match(str(error)) else "wrong"
        return Outcome(kind, str(error), called)
    except Exception as error:  # whatever it is, it is a mistake of the generator
        return Outcome("wrong", f"{type(error).__name__}: {error}", called)


def _judged(called: str, page: str, new: side.Side) -> Outcome:
    differ = page_proof.differing_files(review_cases.before().outputs, new.outputs)
    if not page:
        return Outcome("wrong", f"an empty page, but {differ[:3]} differ", called) if differ else Outcome("nothing", "", called)
    said = [line for line in page.splitlines() if line.startswith("## ")]
    if set(said) <= {"## Generated files"}:
        return Outcome("wrong", f"a page that tells no cause; {differ[:3]} differ", called)
    return Outcome("page", page, called)


def outcomes(seed: int, count: int, accepted: int = 0) -> Iterator[Outcome]:
    """``count`` edits, or as many as it takes until ``accepted`` have given a page."""
    taken = number_ = 0
    while number_ < count or taken < accepted:
        found = outcome(seed * 1_000_000 + number_)
        number_ += 1
        taken += found.kind != "refused"
        yield found


def main() -> int:
    """Exit status 1 when something else happened than a message or a page."""
    parser = argparse.ArgumentParser(prog="tests.generator.fuzz_spec", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="edits")
    parser.add_argument("--accepted", type=int, default=0, help="go on until so many are valid")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    try:
        for found in outcomes(options.seed, options.count, options.accepted):
            kinds[found.kind] += 1
            if found.kind == "wrong":
                print(f"{found.edit}\n    {found.text[:600]}", flush=True)
    finally:
        review_cases.before().stop()
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    return 1 if kinds["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
