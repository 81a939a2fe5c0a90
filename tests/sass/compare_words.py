"""Compare how this package prints and encodes machine words with a real nvdisasm: what to mend in spec/encoding, by mnemonic.

    python -m tests.sass.compare_words ISA FILE... [--only REGEX] [--show N] [--words]

FILE is a cubin (every word of its code sections), or text or JSON in which every quoted or free-standing run of 32
hexadecimal digits is a word (`tests/data/vectors/*/*.txt`, golden files, observed forms). Each distinct word is printed by
nvdisasm once; its texts are kept in `$XDG_CACHE_HOME/oric/nvdisasm.sqlite`. Scheduling bits that the text does not show are left
out of that question, but not out of the check that a word encodes to itself.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from oric.support.elf import CubinError, read
from oric_tables._native import ffi, lib

from tests.sass import nvdisasm, words

BATCH = 4000
TEXT_BYTES = 1024
SHOWN = 3
CONTROL = ((1 << 17) - 1) << 105
REUSE = 15 << 122
PLAIN = words.PLAIN_CONTROL << 105
_WORD = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{32}(?![0-9a-fA-F])")
_MNEMONIC = re.compile(r"(?:@!?U?P\w+ )?([A-Z0-9_]+)")


class Judge:
    """nvdisasm's texts of words, asked once: word -> (text, address in the question); the text is None for a refused word."""

    def __init__(self, tool: str) -> None:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oric"
        base.mkdir(parents=True, exist_ok=True)
        self.tool = tool
        self.version = nvdisasm.version(tool)
        self.store = sqlite3.connect(base / "nvdisasm.sqlite", timeout=120)
        self.store.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, at INTEGER, text TEXT) WITHOUT ROWID")

    def ask(self, isa: str, asked: list[int]) -> dict[int, tuple[str | None, int]]:
        """The texts of ``asked``; an address is that of the word in the question, in bytes."""
        prefix = f"{self.version} {isa} "
        query = "SELECT key, at, text FROM texts WHERE key >= ? AND key < ?"
        rows = self.store.execute(query, (prefix, prefix + "g"))
        known: dict[int, tuple[str | None, int]] = {int(key[len(prefix) :], 16): (text, at) for key, at, text in rows}
        new = [w for w in dict.fromkeys(asked) if w not in known]
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            for i, (word, text) in enumerate(zip(batch, nvdisasm.texts(self.tool, isa, batch), strict=True)):
                known[word] = (text, i * 16)
            fresh = [(f"{prefix}{w:032x}", known[w][1], known[w][0]) for w in batch]
            with self.store:
                self.store.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", fresh)
        return {w: known[w] for w in asked}


def words_of(path: Path) -> list[int]:
    """The distinct machine words in a file, in order.

    Raises:
        CubinError: a file that begins like a cubin and is none.
    """
    data = path.read_bytes()
    if data[:4] == b"\x7fELF":
        image = read(data)
        code = [s.data for s in image.sections if s.name.startswith(".text.")]
        found = [int.from_bytes(c[i : i + 16], "little") for c in code for i in range(0, len(c) - 15, 16)]
    else:
        found = [int(w, 16) for w in _WORD.findall(data.decode())]
    return list(dict.fromkeys(found))


def plain(word: int) -> int:
    """The word without the scheduling bits that its text does not show."""
    return word if word & REUSE else word & ~CONTROL | PLAIN


def ours(isa: int, word: int, at: int) -> tuple[str, int]:
    """(text at address ``at``, word that the decoded instruction encodes to); "" for no instruction, 0 for no word."""
    insn = ffi.new("oric_insn *")
    if lib.oric_decode(isa, [word & (1 << 64) - 1, word >> 64], insn) != lib.ORIC_E_OK:
        return "", 0
    buffer = ffi.new("char[]", TEXT_BYTES)
    if lib.oric_print(isa, insn, at, ffi.NULL, ffi.NULL, buffer, TEXT_BYTES) < 0:
        return "", 0
    out = ffi.new("uint64_t[2]")
    error = lib.oric_encode(isa, insn, out)
    if error & 0xFF == lib.ORIC_E_ALIGN:  # random words
        error = lib.oric_encode_form(isa, insn, out)
    return ffi.string(buffer).decode(), 0 if error else out[0] | out[1] << 64


def differences(judge: Judge, isa: str, found: list[int]) -> tuple[int, list[tuple[str, int, str, str]]]:
    """How many words nvdisasm knows, and of those (mnemonic, word, its text, what is wrong with ours)."""
    number = words.load().isas.index(isa)
    texts = judge.ask(isa, [plain(w) for w in found])
    wrong = []
    legal = 0
    for word in found:
        text, at = texts[plain(word)]
        if text is None:
            continue
        legal += 1
        said, again = ours(number, word, at)
        match = _MNEMONIC.match(text)
        mnemonic = match[1] if match else text
        if not said:
            wrong.append((mnemonic, word, text, "does not decode"))
        elif said != text:
            wrong.append((mnemonic, word, text, said))
        elif again != word:
            wrong.append((mnemonic, word, text, f"encodes to {again:032x}" if again else "cannot be encoded"))
    return legal, wrong


def main(arguments: list[str] | None = None) -> int:
    """Print the differences by mnemonic; returns 1 when there are some, 2 without nvdisasm."""
    parser = argparse.ArgumentParser(prog="compare_words", description="compare machine words with nvdisasm")
    parser.add_argument("isa", choices=words.load().isas)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="only mnemonics that this regular expression matches")
    parser.add_argument("--show", type=int, default=SHOWN, help=f"examples a mnemonic (default {SHOWN})")
    parser.add_argument("--words", action="store_true", help="print every differing word as: word, nvdisasm's text, ours")
    options = parser.parse_args(arguments)
    tool = nvdisasm.find()
    if tool is None:
        print("compare_words: no nvdisasm on this machine ($NVDISASM, PATH, triton wheel)", file=sys.stderr)
        return 2
    try:
        found = list(dict.fromkeys(w for path in options.files for w in words_of(path)))
    except (OSError, UnicodeDecodeError, CubinError) as error:
        print(f"compare_words: {error}", file=sys.stderr)
        return 2
    legal, wrong = differences(Judge(tool), options.isa, found)
    groups: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for mnemonic, word, text, said in wrong:
        if re.search(options.only, mnemonic):
            groups[mnemonic].append((word, text, said))
    for mnemonic, items in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0])):
        if options.words:
            print("\n".join(f"{w:032x}\t{text}\t{said}" for w, text, said in items))
            continue
        print(f"{mnemonic}: {len(items)}")
        for word, text, said in items[: options.show]:
            print(f"  {word:032x} {word & 0xFFF:03x} {text}\n  {'':32}     {said}")
    shown = sum(map(len, groups.values()))
    said = f"{options.isa}: {len(found)} words, nvdisasm {len(found) - legal} refused; {len(wrong)} differ"
    print(said + (f", {shown} of '{options.only}'" if options.only else ""), file=sys.stderr)
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
