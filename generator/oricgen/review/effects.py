"""What the two sides make of the same things: machine words, instructions, sample kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .compare import TableChange
from .kernels import Kernel, compare_kernels
from .side import Side
from .words import examples

VECTORS = "tests/data/vectors"
# What words may depend on, and what of that C code they do not: the frame of every word is in numbers.h.
CODEC = ("c/", *(f"oric_tables/{name}.py" for name in ("ops", "op", "op_tables", "targets", "numbers", "registers")))
NO_CODEC = ("c/sim/", "c/value/", "c/tables/latency.", "c/tables/knobs.", "c/tables/structs.")


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
class Effects:
    """Everything that a change does to code.

    ``known`` words of ``models`` encoding models and ``compiled`` functions were compared, 0 when none had to be.
    """

    words: tuple[Word, ...] = ()
    encodings: tuple[Encoding, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    known: int = 0
    compiled: int = 0
    models: int = 0

    def __bool__(self) -> bool:
        return bool(self.words or self.encodings or self.kernels)


def effects(
    old: Side, new: Side, changes: Sequence[TableChange], root: Path, kernels: Sequence[Path], start: Callable[[], None]
) -> Effects:
    """Compare what both sides decode, encode and compile; ``start`` starts them when there is something to compare."""
    if old.runs_like(new):
        return Effects()
    codec = old.home != new.home or any(
        old.outputs.get(name) != new.outputs.get(name)
        for name in {*old.outputs, *new.outputs}
        if name.startswith(CODEC) and not name.startswith(NO_CODEC)
    )
    if not codec and not kernels:
        return Effects()
    start()
    found = _words(old, new, changes, root) if codec else Effects()
    made, compiled = compare_kernels(old, new, kernels, root)
    return replace(found, kernels=tuple(made), compiled=compiled)


@dataclass(frozen=True)
class _Reading:
    """What a side makes of words: texts, operations, and the words that its encoder makes of the instructions."""

    texts: Sequence[str]
    operations: Sequence[str]
    again: Sequence[str]

    @classmethod
    def of(cls, side: Side, isa: str, words: Sequence[str], control: bool) -> _Reading:
        if isa not in side.ask("models"):
            return cls([f"(no encoding model {isa})"] * len(words), [""] * len(words), [""] * len(words))
        texts, operations, again = side.ask("read", [isa, "".join(words), control])
        return cls(texts, operations, [again.get(str(n), w) for n, w in enumerate(words)])


def _words(old: Side, new: Side, changes: Sequence[TableChange], root: Path) -> Effects:
    """All known words of all encoding models, whether code can be made for them or not."""
    before, after = old.ask("models"), new.ask("models")
    words: list[Word] = []
    encodings: list[Encoding] = []
    known = 0
    frame = any(r.row.key.startswith("frame ") for c in changes if c.name == "formats" for r in c.rows)  # of every word
    models = dict.fromkeys([*before, *after])
    for isa in models:
        made = examples(changes, isa)
        items = list(dict.fromkeys([*_vectors(root, isa), *made]))
        known += len(items)
        was, now = (_Reading.of(side, isa, items, frame) for side in (old, new))
        different = [n for n in range(len(items)) if was.texts[n] != now.texts[n]]
        words += [Word(now.operations[n] or was.operations[n], isa, items[n], was.texts[n], now.texts[n]) for n in different]
        if isa in before and isa in after:
            recoded = [n for n in range(len(items)) if was.again[n] != now.again[n]]
            touched = _touched(changes, isa) | {x.operations[n] for n in (*different, *recoded) for x in (was, now)}
            pairs = [items[n] for n in range(len(items)) if {was.operations[n], now.operations[n]} & (touched - {""})]
            read = {(items[n], x.texts[n]) for n in different for x in (was, now)}
            found = _encodings(old, new, isa, (before[isa][0], after[isa][0]), pairs)
            encodings += [e for e in found if not (_one_sided(e) and (e.word, e.text) in read)]
    return Effects(tuple(words), tuple(encodings), known=known, models=len(models))


def _encodings(old: Side, new: Side, isa: str, targets: tuple[str, str], words: list[str]) -> list[Encoding]:
    """Instructions that one side reads from its words, encoded by the other."""
    out: dict[tuple[str, str], Encoding] = {}
    was, now = (side.ask("decode", [[t, w] for w in words]) for side, t in zip((old, new), targets, strict=True))
    mine = [(w, a) for w, a in zip(words, was, strict=True) if "op" in a]
    for (word, a), answer in zip(mine, new.ask("encode", [[targets[1], a] for _, a in mine]), strict=True):
        if answer.get("word") != word:
            out[a["op"], a["text"]] = Encoding(a["op"], isa, a["text"], word, answer.get("word") or f"({answer['error']})")
    theirs = [(w, b) for w, b in zip(words, now, strict=True) if "op" in b]
    for (word, b), answer in zip(theirs, old.ask("encode", [[targets[0], b] for _, b in theirs]), strict=True):
        if answer.get("word") != word:
            found = Encoding(b["op"], isa, b["text"], answer.get("word") or f"({answer['error']})", word)
            out.setdefault((b["op"], b["text"]), found)
    return list(out.values())


def _one_sided(encoding: Encoding) -> bool:
    """Whether only one side has the instruction: then the words that read differently say it already."""
    return encoding.old.startswith("(") or encoding.new.startswith("(")


def _vectors(root: Path, isa: str) -> list[str]:
    """The known words of an encoding model."""
    files = sorted((root / VECTORS / isa).glob("*.txt"))
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    return [line[:32] for line in lines if not line.startswith("#")]


def _touched(changes: Sequence[TableChange], isa: str) -> set[str]:
    """Operations with a changed form."""
    rows = [r for change in changes if change.name == "forms" for r in change.rows]
    return {row.values["operation"] for r in rows for row in (r.old, r.new) if row and row.values["isa"] == isa}
