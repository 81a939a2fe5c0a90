#!/usr/bin/env python3
"""The parser and ptxas 13.0 asked about the same instructions: every form of the signatures and its neighbours.

    python -m tests.ptx.agreement [--family STEM ...] [--name INSTRUCTION ...] [--target sm_90a ...] [--show N]

For every form the examples of :mod:`tests.ptx.signature_examples` are made, and from each of them its neighbours
(:func:`neighbours`): a qualifier left out, added or replaced, an operand too many or too few, one of another type or kind, an
immediate beyond its limits. What the parser takes is a positive, what it refuses a negative; ptxas has to say the same of each.
Prints the instructions on which they differ, with ptxas's words, and the counts.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from oric.ptx.parser import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import ERROR, Diagnostics, Source

from tests.ptx.signature_examples import Example, declarations, examples

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_100f")
CHUNK = 400
INDEPENDENT = ", texmode_independent"
OBJECTS = ".global .texref tex0;\n.global .surfref srf0;\n"
SAMPLER = ".global .samplerref smp0;\n"
MOST = 2_000  # neighbours of one instruction that are asked; of more, a choice that is always the same
OLDEST = 75  # ptxas makes code for this SM and newer ones; modules for older ones it takes and checks all the same
FIRST_WIDE = 30  # from here on there are 64 bit addresses and tables of branch targets
FIRST_OPAQUE = 1.5  # PTX version from which on there are opaque variables
PTXAS = shutil.which("ptxas")
_LINE = re.compile(r"line (\d+); (error|fatal)\s*: (.*)")
_EXTRA = ("sat", "ftz", "approx", "v2", "sync", "global", "rn", "u32", "f64", "b16", "aligned", "relaxed", "L2::cache_hint")
_FOREIGN = (
    *("%u16_7", "%u64_7", "%f32_7", "%f64_7", "%pred_7", "%b128_7"),
    *("7", "0f3F800000", "[%u64_7]", "{%b32_7, %b32_8}", "L0", "_", "T0"),
)
# What stands in braces and brackets otherwise.
_ELEMENTS = ("%u16_7", "%b32_7", "%u32_7", "%f32_7", "%u64_7", "%pred_7", "7", "0f3F800000", "_")
_OBJECTS = ("tex0", "srf0", "tex0+4", "%u32_7", "7")

# What fills a vector of registers otherwise.
_FILLS = ("%b32_7", "%u32_7", "%s32_7", "%f32_7", "%pred_7", "%b64_7", "%u64_7", "%f64_7", "%u16_7", "7", "0f3F800000")


@dataclass(frozen=True)
class Verdict:
    """What one side says of an instruction; ``why`` is its first message when it refuses."""

    accepted: bool
    why: str = ""


def module(version: str, target: str, lines: Iterable[str]) -> tuple[str, int]:
    """A module with one instruction a line, and the number of the first one's line; options may stand behind the target."""
    sm = number(target)
    registers = declarations(int(version.replace(".", "")), sm)
    size = ".address_size 64\n" if sm >= FIRST_WIDE else ""
    table = "T0: .branchtargets L0;\n" if sm >= FIRST_WIDE and float(version) >= 6 else ""
    objects = OBJECTS * (float(version) >= FIRST_OPAQUE) + SAMPLER * (INDEPENDENT in target)
    head = f".version {version}\n.target {target}\n{size}{objects}.entry k()\n{{\n{registers}{table}"
    body = "".join(f"{line};\n" for line in lines)
    return f"{head}{body}L0: ret;\n}}\n", head.count("\n") + 1


def number(target: str) -> int:
    """75 for sm_75."""
    return int(re.sub(r"\D", "", target))


def ours(lines: list[str], target: str, version: str = "9.0") -> list[Verdict]:
    """The parser's verdicts."""
    out: list[Verdict] = []
    for start in range(0, len(lines), CHUNK):
        chunk = lines[start : start + CHUNK]
        text, first = module(version, target, chunk)
        diag = Diagnostics(Source(text, "m.ptx"), 10**9)
        parse_module(text, "m.ptx", Recorder(diag.source), None, diag)
        bad: dict[int, str] = {}
        for item in (item for item in diag.items if item.severity == ERROR):
            bad.setdefault(diag.source.line_of(item.offset) - first, item.message)
        out += [Verdict(i not in bad, bad.get(i, "")) for i in range(len(chunk))]
    return out


def ptxas(lines: list[str], target: str, version: str = "9.0") -> list[Verdict]:
    """The verdicts of ptxas, of its parser and semantic checks alone: what it says of code comes from a later part."""
    out: list[Verdict] = []
    for start in range(0, len(lines), CHUNK):
        out += _ptxas_chunk(lines[start : start + CHUNK], target, version)
    return out


def _ptxas_chunk(lines: list[str], target: str, version: str) -> list[Verdict]:
    """Ask until nothing more is refused: a syntax error hides what follows it, other errors hide later checks."""
    bad: dict[int, str] = {}
    while True:
        left = [i for i in range(len(lines)) if i not in bad]
        found, status, text = _run([lines[i] for i in left], target, version)
        if not found and status and left:
            found = {
                _culprit([lines[i] for i in left], target, version): "it crashes" if status < 0 else "an error without a place"
            }
        if not found:
            if status:
                raise RuntimeError(f"ptxas refuses the frame: {text[:500]}")
            return [Verdict(i not in bad, bad.get(i, "")) for i in range(len(lines))]
        bad.update({left[i]: why for i, why in found.items()})


def _run(lines: list[str], target: str, version: str) -> tuple[dict[int, str], int, str]:
    """Index of each refused line with the reason, exit status (negative after a crash), all that ptxas said."""
    assert PTXAS is not None
    text, first = module(version, target, lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ptx"
        path.write_text(text, encoding="utf-8")
        arch = "compute_75" if number(target) < OLDEST else target.partition(",")[0].replace("sm_", "compute_")
        command = [PTXAS, "-arch", arch, str(path), "-o", str(path.with_suffix(".o"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[int, str] = {}
    for line, _, why in _LINE.findall(done.stderr):
        if 0 <= int(line) - first < len(lines):
            found.setdefault(int(line) - first, why)
    return found, done.returncode, done.stderr


def settled(lines: list[str], mine: list[Verdict], theirs: list[Verdict], target: str, version: str) -> list[Verdict]:
    """The verdicts of ptxas, where they differ from ours those on the instruction alone.

    In a module with many others the functions that ptxas writes for matrix instructions have the types of their first use.
    """
    differ = [a.accepted != b.accepted for a, b in zip(mine, theirs, strict=True)]
    return [ptxas([t], target, version)[0] if d else b for t, b, d in zip(lines, theirs, differ, strict=True)]


def _culprit(lines: list[str], target: str, version: str) -> int:
    """Index of the first line on which ptxas crashes or for which it names no line, none of which it refuses."""
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        if _run(lines[low:middle], target, version)[1]:
            high = middle
        else:
            low = middle
    return low


def neighbours(example: Example, deep: bool = False) -> Iterator[str]:
    """Instructions one change away from an example; ``deep``: changes inside braces and brackets too."""
    mnemonic, _, tail = example.text.partition(" ")
    first, *words = mnemonic.split(".")
    operands = split(tail)
    for index in range(len(words)):
        yield _text(first, words[:index] + words[index + 1 :], operands)
        for word in example.others.get(index, ()):
            yield _text(first, [*words[:index], word, *words[index + 1 :]], operands)
    for word in _EXTRA:
        yield _text(first, [*words, word], operands)
        yield _text(first, [word, *words], operands)
    if operands:
        yield _text(first, words, operands[:-1])
        yield _text(first, words, [*operands, operands[-1]])
    else:
        yield _text(first, words, ["%u32_1"])
    for index in range(len(operands)):
        for other in (*_FOREIGN, *(inside(operands[index]) if deep else ())):
            yield _text(first, words, [*operands[:index], other, *operands[index + 1 :]])
    for index, written in enumerate(operands):
        for other in vectors(written):
            yield _text(first, words, [*operands[:index], other, *operands[index + 1 :]])
    for index, values in example.limits.items():
        for value in values:
            yield _text(first, words, [*operands[:index], value, *operands[index + 1 :]])


def vectors(operand: str) -> Iterator[str]:
    """A vector of registers with an element too few, too many, of other types, as constants, and without its braces."""
    if not (operand.startswith("{") and operand.endswith("}")):
        return
    elements = split(operand[1:-1])
    yield "{" + ", ".join([*elements, elements[0]]) + "}"
    if len(elements) > 1:
        yield "{" + ", ".join(elements[:-1]) + "}"
    yield elements[0]
    for other in _FILLS:
        yield "{" + ", ".join([other] * len(elements)) + "}"


def inside(operand: str) -> Iterator[str]:
    """An operand with braces or brackets and other elements in them: of another kind, more, fewer, none."""
    match = re.fullmatch(r"([\[{])(.*)([\]}])((?:\|.*)?)", operand)
    if match is None:
        return
    opening, closing, behind = match[1], match[3], match[4]
    elements = split(match[2])
    if behind:
        yield opening + match[2] + closing
    if opening == "[" and len(elements) == 1:
        yield from (f"[{name}]" for name in _OBJECTS)
        return
    for index in {0, len(elements) - 1} if opening == "{" else range(len(elements)):
        for other in (*(_ELEMENTS if opening == "{" else _FOREIGN), *inside(elements[index])):
            yield opening + ", ".join([*elements[:index], other, *elements[index + 1 :]]) + closing + behind
    if opening == "{":
        yield elements[0] + behind
        yield from (opening + ", ".join((elements * n)[:n]) + closing + behind for n in (1, 2, 3, 4, 8) if n != len(elements))
    else:
        yield from (f"[{', '.join(elements[:i] + elements[i + 1 :])}]" for i in range(len(elements)))
        yield from (f"[{', '.join([name, *elements[1:]])}]" for name in _OBJECTS)


def _text(first: str, words: list[str], operands: list[str]) -> str:
    return f"{'.'.join([first, *words])} {', '.join(operands)}".strip()


def split(text: str) -> list[str]:
    """Operands at commas outside of brackets."""
    out, depth = [""], 0
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and not depth:
            out.append("")
        else:
            out[-1] += character
    return [part.strip() for part in out if part.strip()]


def questions(families: Iterable[str] = (), names: Iterable[str] = (), texmode: str = "unified") -> list[str]:
    """All instructions to ask about, in order, each once; of an instruction with very many neighbours a choice of these."""
    out: dict[str, None] = {}
    forms = set()
    for _, group in groupby(examples(families, names, texmode), lambda example: example.name):
        near: dict[str, None] = {}
        for example in group:
            out[example.text] = None
            near.update(dict.fromkeys(neighbours(example, (example.name, example.form) not in forms)))
            forms.add((example.name, example.form))
        one_in = len(near) // MOST + 1
        out.update(dict.fromkeys(text for text in near if zlib.crc32(text.encode()) % one_in == 0))
    return list(out)


def main() -> int:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--ptx", default="9.0")
    parser.add_argument("--independent", action="store_true", help="in the independent texture mode")
    parser.add_argument("--every", type=int, default=1, help="ask every Nth question only")
    parser.add_argument("--show", type=int, default=40)
    options = parser.parse_args()
    lines = questions(options.family, options.name, "independent" if options.independent else "unified")[:: options.every]
    total = differ = positives = negatives = 0
    for target in options.target or TARGETS:
        target += INDEPENDENT * options.independent
        mine = ours(lines, target, options.ptx)
        theirs = settled(lines, mine, ptxas(lines, target, options.ptx), target, options.ptx)
        wrong = [(t, a, b) for t, a, b in zip(lines, mine, theirs, strict=True) if a.accepted != b.accepted]
        positives += sum(v.accepted for v in theirs)
        negatives += sum(not v.accepted for v in theirs)
        total += len(lines)
        differ += len(wrong)
        print(f"{target}: {len(lines)} instructions, {len(wrong)} differ")
        for text, a, b in wrong[: options.show]:
            print(f"    {text}\n        {'we refuse: ' + a.why if not a.accepted else 'ptxas refuses: ' + b.why}")
    share = 100 - 100 * differ / max(total, 1)
    print(f"{total} questions, {positives} accepted and {negatives} refused by ptxas, agreement {share:.2f} %")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
