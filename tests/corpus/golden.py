"""The golden data of the corpus in ``tests/data/corpus``, one pair of files for each encoding model.

``MODEL.cubins.xz`` holds all cubins of the model's targets: a line of JSON, ``{"tools": .., "modules": [[target, name, family,
bytes], ..]}``, then the cubins one after the other. The same files that the loader, the checker and the assembler take.

``MODEL.words.xz`` holds every distinct instruction of them once (:func:`tests.sass.compare_words.plain`: without the scheduling
bits that do not show): the number of words as a line, then 16 bytes a word, then a line each: nvdisasm's text where the word
stands at its number in batches of ``judge.BATCH``, a tab, and the registers that nvdisasm's life ranges show, written and read.
A ``+`` instead of the registers says that they differ from place to place (calls do).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .judge import BATCH

FOLDER = Path(__file__).resolve().parents[1] / "data" / "corpus"
DIFFERS = "+"
_WINDOW = 1 << 26
_CODE = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": _WINDOW, "lc": 0, "lp": 4, "pb": 4}]
_TEXT = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": _WINDOW, "lc": 3, "lp": 0, "pb": 0}]


class Cubin(NamedTuple):
    """One cubin of the corpus."""

    target: str
    name: str
    family: str
    image: bytes


class Word(NamedTuple):
    """One instruction. ``address`` in bytes is where it stood when ``text`` was printed; ``registers`` is WRITTEN=READ."""

    word: int
    address: int
    text: str
    registers: str


def write_cubins(model: str, tools: dict[str, str], cubins: Iterable[Cubin]) -> int:
    """Store the cubins of a model; returns the size of the file in bytes."""
    ordered = sorted(cubins, key=lambda c: (c.name, c.target))  # alike ones side by side
    head = {"tools": tools, "modules": [[c.target, c.name, c.family, len(c.image)] for c in ordered]}
    data = json.dumps(head, separators=(",", ":")).encode() + b"\n" + b"".join(c.image for c in ordered)
    return _store(f"{model}.cubins.xz", data, _CODE)


def write_words(model: str, words: list[tuple[int, str, str]]) -> int:
    """Store (word, text, registers) in the order in which they were asked; returns the size of the file in bytes."""
    images = b"".join(w.to_bytes(16, "little") for w, _, _ in words)
    lines = "".join(f"{text}\t{registers}\n" for _, text, registers in words)
    return _store(f"{model}.words.xz", f"{len(words)}\n".encode() + images + lines.encode(), _TEXT)


def _store(name: str, data: bytes, filters: list[dict[str, int]]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    packed = lzma.compress(data, format=lzma.FORMAT_XZ, filters=filters)
    (FOLDER / name).write_bytes(packed)
    return len(packed)


def tools(model: str) -> dict[str, str]:
    """The versions of the tools that made the data of a model."""
    return dict(_cubin_file(model)[0]["tools"])


@cache
def _cubin_file(model: str) -> tuple[dict[str, list[list[str]]], bytes]:
    head, _, rest = lzma.decompress((FOLDER / f"{model}.cubins.xz").read_bytes()).partition(b"\n")
    return json.loads(head), rest


def cubins(model: str) -> list[Cubin]:
    """The cubins of a model."""
    head, rest = _cubin_file(model)
    result, at = [], 0
    for target, name, family, size in head["modules"]:
        result.append(Cubin(target, name, family, rest[at : at + int(size)]))
        at += int(size)
    assert at == len(rest), f"{model}: {len(rest) - at} bytes too many"
    return result


@cache
def words(model: str) -> list[Word]:
    """The distinct instructions of a model."""
    count, _, rest = lzma.decompress((FOLDER / f"{model}.words.xz").read_bytes()).partition(b"\n")
    n = int(count)
    lines = rest[16 * n :].decode().split("\n")[:-1]
    assert len(lines) == n, f"{model}: {len(lines)} texts for {n} words"
    result = []
    for i, line in enumerate(lines):
        text, registers = line.split("\t")
        result.append(Word(int.from_bytes(rest[16 * i : 16 * i + 16], "little"), i % BATCH * 16, text, registers))
    return result
