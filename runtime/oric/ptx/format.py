"""PTX laid out again: :func:`format_text`. Only white space changes: tokens and comments stay, in their order.

The text is cut into statements by the same tokens that the parser reads; each statement gets lines of its own. Comments keep
their place: behind a token on its line, or on a line of their own. Long statements go on behind a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .lexer import DOT_WORD, END, IDENT, PUNCT, Lexer, PtxError
from .sections import DWARF_LINE
from .text import Text

WIDTH: Final = 100
_TAB: Final = 8
COMMENT: Final = 100  # a kind of token of this module, beside those of the lexer
MARKER: Final = 101  # "# 12 "file.c"" and "@@DWARF ...": a line that stays as it is
RAW: Final = 102  # the inside of a section
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*+(?:\.\w++|::\w++)++", re.ASCII)
_PIECE: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\#[^\n]*|\n", re.S)
_SECTION: Final = re.compile(r'(?:[^}/"]++|//[^\n]*+|/\*.*?\*/|"[^"\n]*+"|.)*?\}', re.S)
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_NO_SPACE_BEFORE: Final = frozenset({",", ";", ")", "]", "}", ">"})
_SIGNS: Final = frozenset("+-")
_WORDS: Final = frozenset({".branchtargets", ".calltargets", ".callprototype"})
_LINES: Final = frozenset({".version", ".target", ".address_size", ".file", ".loc", ".section"})  # end without a semicolon
_ATTRIBUTES: Final = {"function_name": 2, "inlined_at": 4}  # of .loc: tokens of the attribute
_FUNCTIONS: Final = frozenset({".entry", ".func"})


@dataclass(slots=True)
class Token:
    """A token, comment, marker or inside of a section; ``breaks``: line ends before it; ``joined``: nothing stands before it."""

    kind: int
    text: str
    at: int
    breaks: int
    joined: bool

    def is_punct(self, text: str) -> bool:
        """True for this punctuation."""
        return self.kind == PUNCT and self.text == text

    @property
    def comment(self) -> bool:
        """True when it is no part of the language."""
        return self.kind in (COMMENT, MARKER)


def format_text(text: str) -> str:
    """The text of a module without mistakes, laid out; laying it out again changes nothing.

    Raises:
        PtxError: the text is no sequence of tokens (check it first, :func:`oric.ptx.parse`).
    """
    tokens = list(tokens_of(text))
    out = _Writer().module(tokens)
    if _content(tokens) != _content(list(tokens_of(out))):
        raise AssertionError("laying a text out changed its content")
    return out


def _content(tokens: list[Token]) -> tuple[str, list[str]]:
    """What must not change: the text without white space (a mnemonic may be written in parts), and the comments."""
    return "".join(t.text for t in tokens if not t.comment), [t.text for t in tokens if t.comment]


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens of a module with the comments between them."""
    lexer = Lexer(Text(text))
    behind = 0
    section = False
    while True:
        breaks, joined = 0, True
        for piece in _PIECE.finditer(text, behind, lexer.at):
            if piece[0] == "\n":
                breaks += 1
                continue
            kind = MARKER if piece[0][0] == "#" else COMMENT
            yield Token(kind, _trimmed(piece[0]), piece.start(), breaks, False)
            breaks = 0
        joined = lexer.at == behind
        if lexer.kind == END:
            return
        if text.startswith(DWARF_LINE, lexer.at):
            line = text[lexer.at : _line_end(text, lexer.at)]
            yield Token(MARKER, line.rstrip(), lexer.at, breaks, False)
            behind = lexer.at + len(line)
            lexer.move(behind)
            continue
        whole = _DOTTED.match(text, lexer.at) if lexer.kind == IDENT else None
        if whole is not None:  # a mnemonic such as tex.1d: ".1" is no number in it
            yield Token(IDENT, whole[0], lexer.at, breaks, joined)
            behind = whole.end()
            lexer.move(behind)
            continue
        yield Token(lexer.kind, lexer.value, lexer.at, breaks, joined)
        if section and lexer.is_punct("{"):
            section = False
            match = _SECTION.match(text, lexer.after)
            if match is None:
                raise PtxError(lexer.at, "section is not closed")
            inside = "\n".join(line.strip() for line in match[0][:-1].strip().split("\n"))
            if inside:
                yield Token(RAW, inside, lexer.after, 1, False)
            lexer.move(match.end() - 1)
            behind = lexer.at
            continue
        section = section or (lexer.kind == DOT_WORD and lexer.value == ".section")
        behind = lexer.after
        lexer.advance()


def _line_end(text: str, at: int) -> int:
    """Where the line that holds ``at`` ends."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _trimmed(comment: str) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


@dataclass(slots=True)
class _Writer:
    """Writes statements; ``level`` is the depth of braces."""

    lines: list[str] = field(default_factory=list)
    level: int = 0

    def module(self, tokens: list[Token]) -> str:
        at = 0
        while at < len(tokens):
            at = self.statement(tokens, at)
        return "\n".join(self.lines).strip("\n") + "\n" if self.lines else ""

    def statement(self, tokens: list[Token], at: int) -> int:
        """Write what begins at ``at``; returns where the next statement begins."""
        first = tokens[at]
        if first.breaks > 1 and self.lines and self.lines[-1] not in ("", "{") and not first.is_punct("}"):
            self.lines.append("")
        if first.comment:
            self.comment(first, at > 0 and not first.breaks)
            return at + 1
        if first.is_punct("{"):
            self.put(self.level, "{")
            self.level += 1
            return at + 1
        if first.is_punct("}"):
            self.level = max(self.level - 1, 0)
            self.put(self.level, "}")
            return at + 1
        if first.kind == RAW:
            self.lines += [f"\t{line}" if line else "" for line in first.text.split("\n")]
            return at + 1
        end = end_of_statement(tokens, at)
        statement = tokens[at:end]
        label = _is_label(statement)
        if label:
            self.put(max(self.level - 1, 0), first.text + ":")
        else:
            self.write(statement)
        return end

    def comment(self, token: Token, behind: bool) -> None:
        """A comment between statements."""
        if token.kind == MARKER:
            self.lines.append(token.text)
        elif behind and self.lines and self.lines[-1]:
            self.lines[-1] += " " + token.text
        else:
            self.put(self.level, token.text)

    def put(self, level: int, text: str) -> None:
        self.lines.append("\t" * level + text)

    def write(self, statement: list[Token]) -> None:
        """A statement: broken where its layout says so, behind comments, and behind commas at the right margin."""
        breaks = _breaks(statement)
        line, level = "", self.level
        previous: Token | None = None
        head = _head(statement)
        for index, token in enumerate(statement):
            if token.comment:
                own = token.breaks or token.kind == MARKER
                if own and line.strip():
                    self.put(level, line)
                    line, level = "", self.level + 2
                line = f"{line} {token.text}" if line else token.text
                ends = token.text.startswith("//") or token.kind == MARKER or bool(own)
                if ends and index + 1 < len(statement):
                    self.put(0 if token.kind == MARKER else level, line)
                    line, level = "", self.level + 2
                previous = token if line else None
                continue
            gap = " " if previous is not None and _spaced(previous, token, index, head) else ""
            if index in breaks:
                if line:
                    self.put(level, line)
                line, level, gap = "", self.level + breaks[index], ""
            elif gap and previous is not None and previous.is_punct(",") and self.full(line, level, statement, index):
                self.put(level, line)
                line, level, gap = "", self.level + 2, ""
            line += gap + token.text
            previous = token
        self.put(level, line)

    def full(self, line: str, level: int, statement: list[Token], index: int) -> bool:
        """True when what is up to the next comma does not fit the line."""
        width = level * _TAB + len(line) + 1
        for token in statement[index:]:
            width += len(token.text)
            if width > WIDTH:
                return True
            if token.is_punct(",") or token.comment:
                break
        return False


def end_of_statement(tokens: list[Token], at: int) -> int:
    """Behind the statement that begins at ``at``."""
    first = tokens[at]
    if first.kind == DOT_WORD and first.text in _LINES:
        return _end_of_line(tokens, at)
    if first.kind == IDENT and at + 1 < len(tokens) and tokens[at + 1].is_punct(":"):
        following = tokens[at + 2] if at + 2 < len(tokens) else None
        if following is None or following.kind != DOT_WORD or following.text not in _WORDS:
            return at + 2
    function = _is_function(tokens, at)
    depth = 0
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind != PUNCT:
            continue
        if function and not depth and token.text == "{":
            return _without_comments(tokens, at, index)
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text == ";" and depth <= 0:
            return index + 1
    return len(tokens)


def _without_comments(tokens: list[Token], at: int, end: int) -> int:
    """Comments between a header and its body are no part of the header."""
    while end - 1 > at and tokens[end - 1].comment:
        end -= 1
    return end


def _is_function(tokens: list[Token], at: int) -> bool:
    while tokens[at].kind == DOT_WORD or tokens[at].comment:
        if tokens[at].text in _FUNCTIONS:
            return True
        at += 1
        if at == len(tokens):
            break
    return False


def _end_of_line(tokens: list[Token], at: int) -> int:
    """Behind a directive that has no semicolon: numbers, strings, names and what commas join to them."""
    word = tokens[at].text
    end = at + 1
    names = {".target": 1, ".section": 1}.get(word, 0)
    wanted = {".version": 1, ".address_size": 1, ".file": 2, ".loc": 3}.get(word, 0) + names
    while end < len(tokens):
        token = tokens[end]
        if token.comment:
            following = next((t for t in tokens[end:] if not t.comment), None)
            if wanted <= 0 and not (following is not None and following.is_punct(",")):
                break
        elif token.is_punct(","):
            following = next((t for t in tokens[end + 1 :] if not t.comment), None)
            wanted = _ATTRIBUTES.get(following.text, 1) if following is not None else 1
        elif token.is_punct("+"):
            wanted = 1
        elif wanted > 0:
            wanted -= 1
        else:
            break
        end += 1
    return end


def _is_label(statement: list[Token]) -> bool:
    return len(statement) == 2 and statement[1].is_punct(":")


def _head(statement: list[Token]) -> int:
    """How many tokens the guard and the mnemonic of an instruction take; 0 for anything else."""
    at = 0
    if statement[0].is_punct("@"):
        at = 2 + (len(statement) > 1 and statement[1].is_punct("!"))
    if at >= len(statement) or statement[at].kind != IDENT or any(t.comment for t in statement[: at + 1]):
        return 0
    at += 1
    if at < len(statement) and statement[at].is_punct(":"):
        return 0
    while at < len(statement) and statement[at].kind == DOT_WORD:
        at += 1
    return at


def _breaks(statement: list[Token]) -> dict[int, int]:
    """Places in the header of a function that begin a line, and their depth: parameters (of two or more) and directives."""
    if not _is_function(statement, 0):
        return {}
    out: dict[int, int] = {}
    depth, named = 0, False
    opening = -1
    commas: list[int] = []
    for index, token in enumerate(statement):
        if token.kind == IDENT and not depth:
            named = True
        elif token.kind == DOT_WORD and not depth and named:
            out[index] = 0
        elif token.kind == PUNCT and token.text in _OPENING:
            if not depth and named and opening < 0:
                opening = index
            depth += 1
        elif token.kind == PUNCT and token.text in _CLOSING:
            depth -= 1
            if not depth and commas:
                out |= {_behind_comment(statement, at): 1 for at in (opening, *commas)} | {index: 0}
                commas = []
        elif token.is_punct(",") and depth == 1 and opening >= 0 and named:
            commas.append(index)
    return out


def _behind_comment(statement: list[Token], at: int) -> int:
    """Behind a token and the comments on its line."""
    at += 1
    while statement[at].comment and not statement[at].breaks:
        at += 1
    return at


def _spaced(a: Token, b: Token, index: int, head: int) -> bool:
    """True when a space stands between two tokens; ``index`` is the place of the second, the first ``head`` are the opcode."""
    if a.kind == COMMENT:
        return not b.is_punct(";") and not b.is_punct(",")
    if index < head:  # @!p add .s32
        return index > 1 and b.kind == IDENT and a.kind != PUNCT
    if index == head and head:
        return not b.is_punct(";")
    if index == 1 and b.is_punct(":"):  # name: .branchtargets
        return False
    return _wanted(a, b) or not _apart(a.text, b.text)


def _wanted(a: Token, b: Token) -> bool:
    """True when a space reads better."""
    if b.kind == PUNCT:
        if b.text in ("=", "?", ":"):
            return True
        if b.text in _NO_SPACE_BEFORE:
            return False
        if b.text == "(":
            return (a.kind == DOT_WORD and a.text != ".attribute") or a.is_punct(",") or a.is_punct("=")
        if b.text == "{":
            return a.kind != PUNCT or a.text in (",", "=", ")", ":")
    if a.kind == PUNCT:
        if a.text in (",", "=", "?", ":", ")", "]") and not (b.kind == DOT_WORD and b.joined):
            return b.kind != PUNCT or a.text in (",", "=", "?", ":")
        return False
    if b.kind == PUNCT:
        return a.kind in (DOT_WORD,) and b.text in ("-", "+", "!", "~")
    return not (b.kind == DOT_WORD and b.joined)


def _apart(a: str, b: str) -> bool:
    """True when two tokens written together are still the same two tokens."""
    try:
        lexer = Lexer(Text(a + b))
        first = lexer.value
        lexer.advance()
    except PtxError:
        return False
    return first == a and lexer.value == b and not (a in _SIGNS and b in _SIGNS)
