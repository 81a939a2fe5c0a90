"""What the two sides make of the same things: machine words, instructions, sample kernels."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .compare import TableChange
from .side import Side
from .words import examples

VECTORS = "tests/data/vectors"
CODEC = ("c/tables/forms.c", "c/tables/forms.h", "oric_tables/ops.py", "oric_tables/targets.py")  # what words depend on
KERNELS = ("examples", "tests/kernels")


@dataclass(frozen=True)
class Word:
    """A machine word that one side reads differently; texts, or why there is none in brackets."""

    operation: str
    isa: str
    word: str
    old: str
    new: str


@dataclass(frozen=True)
class Encoding:
    """An instruction that gets another word; words, or why there is none in brackets."""

    operation: str
    isa: str
    text: str
    old: str
    new: str

    @property
    def word(self) -> str:
        """The word of the side that has one, of the new side when both have."""
        return self.old if self.new.startswith("(") else self.new


@dataclass(frozen=True)
class Kernel:
    """A function of a sample file on targets that agree. ``old`` and ``new`` are (bytes, registers) or an error."""

    name: str
    path: str
    targets: tuple[str, ...]
    old: tuple[int, int] | str
    new: tuple[int, int] | str
    instructions: int  # of the new version
    changed: int
    deeply: int  # of those, the ones that differ in more than register numbers and control codes
    listing: tuple[str, ...]  # lines with "-", "+" or " " in front


@dataclass(frozen=True)
class Effects:
    """Everything that a change does to code; ``known`` words and ``compiled`` functions were compared, 0 when none had to be."""

    words: tuple[Word, ...] = ()
    encodings: tuple[Encoding, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    known: int = 0
    compiled: int = 0

    def __bool__(self) -> bool:
        return bool(self.words or self.encodings or self.kernels)


def effects(
    old: Side, new: Side, changes: Sequence[TableChange], root: Path, kernels: Sequence[Path], start: Callable[[], None]
) -> Effects:
    """Compare what both sides decode, encode and compile; ``start`` starts them when there is something to compare."""
    if old.runs_like(new):
        return Effects()
    codec = old.home != new.home or any(old.outputs.get(name) != new.outputs.get(name) for name in CODEC)
    if not codec and not kernels:
        return Effects()
    start()
    words, encodings, known = _words(old, new, changes, root) if codec else ([], [], 0)
    found, compiled = _kernels(old, new, kernels, root)
    return Effects(tuple(words), tuple(encodings), tuple(found), known, compiled)


# --- words


def _words(old: Side, new: Side, changes: Sequence[TableChange], root: Path) -> tuple[list[Word], list[Encoding], int]:
    before, after = _isas(old), _isas(new)
    words: list[Word] = []
    encodings: list[Encoding] = []
    known = 0
    for isa in dict.fromkeys([*before, *after]):
        made = examples(changes, isa)
        items = list(dict.fromkeys([*_vectors(root, isa), *made]))
        known += len(items)
        nothing = [{"error": f"no encoding model {isa}"}] * len(items)
        reads = old.ask("decode", [[before[isa], w] for w in items]) if isa in before else nothing
        now = new.ask("decode", [[after[isa], w] for w in items]) if isa in after else nothing
        different = [(w, a, b) for w, a, b in zip(items, reads, now, strict=True) if _text(a) != _text(b)]
        words += [Word((b if "op" in b else a).get("op", ""), isa, w, _text(a), _text(b)) for w, a, b in different]
        if isa in before and isa in after:
            touched = _touched(changes, isa) | {x["op"] for _, a, b in different for x in (a, b) if "op" in x}
            pairs = [(w, a, b) for w, a, b in zip(items, reads, now, strict=True) if {a.get("op"), b.get("op")} & touched]
            read = {(w, _text(a)) for w, a, _ in different} | {(w, _text(b)) for w, _, b in different}
            found = _encodings(old, new, isa, (before[isa], after[isa]), pairs)
            encodings += [e for e in found if not (_one_sided(e) and (e.word, e.text) in read)]
    return words, encodings, known


def _text(answer: dict[str, Any]) -> str:
    return str(answer["text"]) if "text" in answer else f"({answer['error']})"


def _encodings(old: Side, new: Side, isa: str, targets: tuple[str, str], pairs: list[tuple[str, Any, Any]]) -> list[Encoding]:
    """Instructions that one side reads from its words, encoded by the other."""
    out: dict[tuple[str, str], Encoding] = {}
    mine = [(w, a) for w, a, _ in pairs if "op" in a]
    for (word, a), answer in zip(mine, new.ask("encode", [[targets[1], a] for _, a in mine]), strict=True):
        if answer.get("word") != word:
            out[a["op"], a["text"]] = Encoding(a["op"], isa, a["text"], word, answer.get("word") or f"({answer['error']})")
    theirs = [(w, b) for w, _, b in pairs if "op" in b]
    for (word, b), answer in zip(theirs, old.ask("encode", [[targets[0], b] for _, b in theirs]), strict=True):
        if answer.get("word") != word:
            found = Encoding(b["op"], isa, b["text"], answer.get("word") or f"({answer['error']})", word)
            out.setdefault((b["op"], b["text"]), found)
    return list(out.values())


def _one_sided(encoding: Encoding) -> bool:
    """Whether only one side has the instruction: then the words that read differently say it already."""
    return encoding.old.startswith("(") or encoding.new.startswith("(")


def _isas(side: Side) -> dict[str, str]:
    """Encoding model -> a target that has it."""
    out: dict[str, str] = {}
    for name, (isa, *_) in side.ask("targets").items():
        out.setdefault(isa, name)
    return out


def _vectors(root: Path, isa: str) -> list[str]:
    """The known words of an encoding model."""
    files = sorted((root / VECTORS / isa).glob("*.txt"))
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    return [line[:32] for line in lines if not line.startswith("#")]


def _touched(changes: Sequence[TableChange], isa: str) -> set[str]:
    """Operations with a changed form."""
    rows = [r for change in changes if change.name == "forms" for r in change.rows]
    return {row.values["operation"] for r in rows for row in (r.old, r.new) if row and row.values["isa"] == isa}


# --- kernels


def samples(root: Path, patterns: Sequence[str] = ()) -> list[Path]:
    """The sample kernels, or those that ``patterns`` (below ``root``) name."""
    globs = patterns or [f"{folder}/*.ptx" for folder in KERNELS]
    return sorted({path for pattern in globs for path in root.glob(pattern)})


def _kernels(old: Side, new: Side, paths: Sequence[Path], root: Path) -> tuple[list[Kernel], int]:
    out: list[Kernel] = []
    compiled = 0
    for group, columns in _alike(old, new).items():
        chosen = _chosen(paths, columns)
        before, after = (_compile(side, group[0], [text for _, text in chosen]) for side in (old, new))
        for (path, _), a, b in zip(chosen, before, after, strict=True):
            was, now = (side.get("functions", {}) for side in (a, b))
            for name in dict.fromkeys([*was, *now]):
                compiled += 1
                one, two = was.get(name, a.get("error", "not there")), now.get(name, b.get("error", "not there"))
                if one != two:
                    out.append(_kernel(name, path.relative_to(root).as_posix(), group, one, two))
    return _joined(out), compiled


def _compile(side: Side, target: str, texts: list[str]) -> list[Any]:
    """What a side makes of the texts for a target, which it may not have."""
    if target not in side.ask("targets"):
        return [{"error": f"no target {target}"}] * len(texts)
    return list(side.ask("compile", [[target, text] for text in texts]))


def _joined(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Targets for which the same is made of the same file in one entry."""
    groups: dict[Kernel, list[str]] = {}
    for kernel in kernels:
        groups.setdefault(replace(kernel, targets=()), []).extend(kernel.targets)
    return [replace(kernel, targets=tuple(names)) for kernel, names in groups.items()]


def _alike(old: Side, new: Side) -> dict[tuple[str, ...], tuple[int, str]]:
    """Targets of both sides -> number and variant; those for which no side can make other code than for one another are one."""
    before, after = old.ask("targets"), new.ask("targets")
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name in dict.fromkeys([*after, *before]):
        _, number, variant, _ = after.get(name) or before[name]
        columns = [side[name][3] if name in side else name for side in (before, after)]
        groups.setdefault((number, variant, *columns), []).append(name)
    return {tuple(names): (key[0], key[1]) for key, names in groups.items()}


def _chosen(paths: Sequence[Path], target: tuple[int, str]) -> list[tuple[Path, str]]:
    """The files that the target takes; of files for several targets (``saxpy.sm_80.ptx``) the newest."""
    best: dict[str, tuple[int, Path, str]] = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        match = re.search(r"^\s*\.target\s+sm_(\d+)([a-z]?)", text, re.MULTILINE)
        number = int(match[1]) if match else 0
        if number > target[0] or (match and match[2] and not (number == target[0] and match[2] == target[1])):
            continue
        key = re.sub(r"\.sm_\d+\w?\.ptx$", ".ptx", path.as_posix())
        if key not in best or best[key][0] < number:
            best[key] = (number, path, text)
    return [(path, text) for _, path, text in best.values()]


def _kernel(name: str, path: str, targets: tuple[str, ...], old: Any, new: Any) -> Kernel:
    alignment = align(old["lines"], new["lines"]) if isinstance(old, dict) and isinstance(new, dict) else ((), 0, 0)
    facts = [(side["bytes"], side["registers"]) if isinstance(side, dict) else side for side in (old, new)]
    count = sum(not line.endswith(":") for line in new["lines"]) if isinstance(new, dict) else 0
    return Kernel(name, path, targets, facts[0], facts[1], count, alignment[1], alignment[2], alignment[0])


def align(old: list[str], new: list[str]) -> tuple[tuple[str, ...], int, int]:
    """The lines of both with ``-``, ``+`` and blanks in front; how many instructions differ, and how many in more than detail.

    A detail is the number of a register, or a control code: one more instruction somewhere changes them everywhere. Lines that
    differ in details only are shown as differences when no others are.
    """
    matcher = difflib.SequenceMatcher(None, [_shape(x) for x in old], [_shape(x) for x in new], autojunk=False)
    blocks = matcher.get_opcodes()
    whole = any(what != "equal" for what, *_ in blocks)
    lines: list[str] = []
    details = more = 0
    for what, a, b, c, d in blocks:
        if what == "equal":
            for one, two in zip(old[a:b], new[c:d], strict=True):
                details += one != two
                lines += [f" {two}"] if whole or one == two else [f"-{one}", f"+{two}"]
            continue
        gone = [line for line in old[a:b] if not line.endswith(":")]
        come = [line for line in new[c:d] if not line.endswith(":")]
        more += max(len(gone), len(come))
        lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
    return tuple(lines), details + more, more


def _shape(line: str) -> str:
    """A line without control code and register numbers."""
    return re.sub(r"\b(U?[RP])\d+\b", r"\1", line.partition("] ")[2] or line)
