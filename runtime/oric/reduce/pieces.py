"""A PTX module as pieces of text, and what can be left out of it.

A piece is a statement, a label, the header of a function, a comment, or a brace of a body. An edit says which pieces are replaced
by which: every one makes the module smaller, by pieces, by words, or by numbers that become 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from oric.ptx.format import COMMENT, RAW, Token, end_of_statement, tokens_of

OPEN: Final = "{"
CLOSE: Final = "}"
_WORD: Final = re.compile(
    r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|0[fFdD][0-9a-fA-F]+|[0-9]\w*|[%$A-Za-z_][\w$%]*(?:(?:\.|::)\w+)*|\.\w+(?:::\w+)*|\s+|.', re.S
)
_GUARD: Final = re.compile(r"@!?\s*[%$\w]+\s*")
_MNEMONIC: Final = re.compile(r"[A-Za-z]\w*(?:(?:\.|::)\w+)*")
_QUALIFIER: Final = re.compile(r"\.\w+(?:::\w+)*")
_HEADER: Final = re.compile(r"(?:\.\w+\s+)*\.(?:entry|func|section)\b")  # linkage stands in front of the word
_RANGE: Final = re.compile(r"([%$\w]+)<([0-9]+)>")
_ZERO: Final = re.compile(r"0|0[fF]0{8}|0[dD]0{16}")
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"


class Edit(NamedTuple):
    """Pieces from ``start`` on, up to ``end``, are replaced."""

    start: int
    end: int
    pieces: tuple[str, ...] = ()

    def on(self, pieces: list[str]) -> list[str]:
        """What comes out."""
        return [*pieces[: self.start], *self.pieces, *pieces[self.end :]]


def pieces_of(text: str) -> list[str]:
    """The pieces of a module that parses.

    Raises:
        PtxError: the text is no sequence of tokens.
    """
    tokens = list(tokens_of(text))
    found = []
    at = 0
    while at < len(tokens):
        first = tokens[at]
        single = first.comment or first.kind == RAW or first.is_punct(OPEN) or first.is_punct(CLOSE)
        end = at + 1 if single else end_of_statement(tokens, at)
        found.append(text[first.at : tokens[end - 1].at + len(tokens[end - 1].text)] if not single else first.text)
        at = end
    return found


def text_of(pieces: list[str]) -> str:
    """The module: a line for each piece."""
    return "".join(f"{piece}\n" for piece in pieces)


def without_comments(text: str) -> str:
    """A module without what is no part of the language; lines of other tools stay."""
    tokens = [token for token in tokens_of(text) if token.kind == COMMENT]
    out, behind = [], 0
    for token in tokens:
        out += [text[behind : token.at], " "]
        behind = token.at + _length(text, token)
    return "".join(out) + text[behind:]


def _length(text: str, token: Token) -> int:
    """Characters of a comment in the text: those of its token have no blanks at the ends of lines."""
    if token.text.startswith("//"):
        end = text.find("\n", token.at)
        return (len(text) if end < 0 else end) - token.at
    return text.index("*/", token.at + 2) + 2 - token.at


def blocks_of(pieces: list[str]) -> list[list[tuple[int, int]]]:
    """The bodies, outer ones first, each as the spans of what stands in it: a piece, or pieces up to the end of a body."""
    found: list[list[tuple[int, int]]] = [[]]
    open_blocks: list[tuple[list[tuple[int, int]], int]] = []  # the block around, and where the span that is open begins
    block = found[0]
    for at, piece in enumerate(pieces):
        if piece == OPEN:
            header = block.pop()[0] if block and _opens(pieces, block[-1]) else at
            open_blocks.append((block, header))
            block = []
            found.append(block)
        elif piece == CLOSE and open_blocks:
            block, start = open_blocks.pop()
            block.append((start, at + 1))
        else:
            block.append((at, at + 1))
    return found


def _opens(pieces: list[str], span: tuple[int, int]) -> bool:
    """Whether a span is the header of the body that follows."""
    start, end = span
    return end - start == 1 and _HEADER.match(pieces[start]) is not None and not pieces[start].endswith(";")


def chunks(pieces: list[str], size: int) -> list[Edit]:
    """What leaves out each chunk of ``size`` neighbours of a body."""
    return [
        Edit(block[at][0], block[min(at + size, len(block)) - 1][1])
        for block in blocks_of(pieces)
        for at in range(0, len(block), size)
    ]


def longest(pieces: list[str]) -> int:
    """The number of spans of the longest body."""
    return max(map(len, blocks_of(pieces)))


def opened(pieces: list[str]) -> list[Edit]:
    """What puts the statements of a block in place of the block."""
    return [
        Edit(start, end, tuple(pieces[start + 1 : end - 1]))
        for block in blocks_of(pieces)
        for start, end in block
        if pieces[start] == OPEN
    ]


def details(pieces: list[str]) -> list[Edit]:
    """What makes single pieces smaller, in order."""
    found = []
    most = _largest_numbers(pieces)
    for at, piece in enumerate(pieces):
        if piece in (OPEN, CLOSE):
            continue
        found += [Edit(at, at + 1, (smaller,)) for smaller in dict.fromkeys(_smaller(piece, most)) if smaller != piece]
    return found


def _smaller(piece: str, most: dict[str, int]) -> Iterator[str]:
    if piece.startswith(".reg"):
        yield from _shorter_ranges(piece, most)
        yield from _without_elements(piece, piece.find("."), ",", 0)
    elif piece.startswith("."):
        yield from _without_words(piece)
        if "(" in piece:
            yield from _without_elements(piece, piece.index("(") + 1, ",", 0)
    elif not piece.endswith(":"):
        yield from _smaller_instruction(piece)


def _largest_numbers(pieces: list[str]) -> dict[str, int]:
    """By the letters of names, the largest number behind them."""
    found: dict[str, int] = {}
    for piece in pieces:
        if not piece.startswith(".reg"):
            for name, number in re.findall(r"([%$A-Za-z_]+[%$\w]*?)([0-9]+)\b", piece):
                found[name] = max(found.get(name, -1), int(number))
    return found


def _shorter_ranges(piece: str, most: dict[str, int]) -> Iterator[str]:
    for match in _RANGE.finditer(piece):
        needed = most.get(match[1], -1) + 1
        if 0 < needed < int(match[2]):
            yield f"{piece[: match.start(2)]}{needed}{piece[match.end(2) :]}"


def _without_elements(piece: str, start: int, separator: str, depth: int) -> Iterator[str]:
    """A list without each of its elements; it begins at ``start`` and ends where its bracket closes, or with the piece."""
    cuts = [start]
    level = 0
    end = len(piece.rstrip().rstrip(";"))
    for at in range(start, end):
        if piece[at] in _OPENING:
            level += 1
        elif piece[at] in _CLOSING:
            level -= 1
            if level < depth:
                end = at
                break
        elif piece[at] == separator and level == depth:
            cuts.append(at + 1)
    ends = [cut - 1 for cut in cuts[1:]] + [end]
    for number, (first, last) in enumerate(zip(cuts, ends, strict=True)):
        if len(cuts) == 1:
            if start and piece[start - 1] == "(" and piece[first:last].strip():
                yield piece[:first] + piece[last:]
        elif number:
            yield piece[: first - 1] + piece[last:]
        elif start and piece[start - 1] == "(":
            yield piece[:first] + piece[ends[0] + 1 :].lstrip()
        else:  # words of the declaration stand in front of its first name
            head = _declared(piece[first:last])
            yield piece[: first + head] + piece[ends[0] + 1 :].lstrip()


def _declared(text: str) -> int:
    """Where the first name of a declaration begins."""
    match = re.match(r"\s*(?:\.\w+\s*)+", text)
    return match.end() if match else 0


def _without_words(piece: str) -> Iterator[str]:
    """A declaration or header without each word that begins with a dot, and what follows up to the next one."""
    level = 0
    words = []
    for match in _WORD.finditer(piece):
        if match[0] in _OPENING:
            level += 1
        elif match[0] in _CLOSING:
            level -= 1
        elif match[0].startswith(".") and not level:
            words.append(match)
    for number, match in enumerate(words):
        yield (piece[: match.start()] + piece[match.end() :].lstrip()).strip()
        end = words[number + 1].start() if number + 1 < len(words) else len(piece.rstrip().rstrip(";"))
        yield (piece[: match.start()].rstrip() + " " + piece[end:]).strip()


def _smaller_instruction(piece: str) -> Iterator[str]:
    """Without guard, without each qualifier, with 0 for each operand, without offsets."""
    guard = _GUARD.match(piece)
    start = guard.end() if guard else 0
    if guard:
        yield piece[start:]
    mnemonic = _MNEMONIC.match(piece, start)
    if mnemonic is None:
        return
    for match in _QUALIFIER.finditer(piece, start, mnemonic.end()):
        yield piece[: match.start()] + piece[match.end() :]
    words = [match for match in _WORD.finditer(piece, mnemonic.end()) if not match[0].isspace()]
    for number, match in enumerate(words):
        word, before = match[0], words[number - 1][0] if number else ""
        if before in ("+", "-") and word[0].isdigit() and number > 1 and words[number - 2][0] not in ",[({":
            yield piece[: words[number - 1].start()] + piece[match.end() :]
        if (word[0] in "%$_" or word[0].isalnum()) and not _ZERO.fullmatch(word):
            yield f"{piece[: match.start()]}0{piece[match.end() :]}"
            if word[0] in "%$_":
                yield f"{piece[: match.start()]}0f00000000{piece[match.end() :]}"


def bypassed(pieces: list[str]) -> list[Edit]:
    """What leaves out an instruction, with the register that it writes replaced by one that it reads."""
    found = []
    for at, piece in enumerate(pieces):
        guard = _GUARD.match(piece)
        mnemonic = _MNEMONIC.match(piece, guard.end() if guard else 0)
        if mnemonic is None or not piece.endswith(";"):
            continue
        names = [word for word in _WORD.findall(piece[mnemonic.end() :]) if word[0] == "%"]
        for source in dict.fromkeys(names[1:]):
            if source != names[0]:
                rest = [_renamed(other, {names[0]: source}) for other in (*pieces[:at], *pieces[at + 1 :])]
                found.append(Edit(0, len(pieces), tuple(rest)))
    return found


def renumbered(pieces: list[str]) -> list[Edit]:
    """What gives registers of declarations such as ``%r<100>`` the lowest numbers, if any has another one."""
    ranges = {match[1] for piece in pieces if piece.startswith(".reg") for match in _RANGE.finditer(piece)}
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for piece in pieces:
        for word in _WORD.findall(piece) if not piece.startswith(".reg") else ():
            letters = word.rstrip("0123456789")
            if letters in ranges and letters != word and word not in names:
                names[word] = f"{letters}{counts.get(letters, 0)}"
                counts[letters] = counts.get(letters, 0) + 1
    if all(old == new for old, new in names.items()):
        return []
    made = tuple(piece if piece.startswith(".reg") else _renamed(piece, names) for piece in pieces)
    return [Edit(0, len(pieces), made)]


def _renamed(piece: str, names: dict[str, str]) -> str:
    return "".join(names.get(word, word) for word in _WORD.findall(piece))
