"""What a PTX text declares and where its names stand, read from its tokens: an outline of texts that need not be correct.

The parser answers for modules; this answers for a text while it is written. A statement ends at its semicolon, or, where that is
missing, in front of a line that begins another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from oric_tables import ptx_index as ix

from oric.ptx.lexer import DOT_WORD, IDENT, NO_NAMES, NUMBER
from oric.support.collection import no_collection

from .tokens import MNEMONIC, read_tokens

REGISTER: Final = "register"
VARIABLE: Final = "variable"
PARAMETER: Final = "parameter"
FUNCTION: Final = "function"
ENTRY: Final = "entry"
LABEL: Final = "label"
TABLE: Final = "table"
INSTRUCTION: Final = "instruction"
DECLARATION: Final = "declaration"
HEADER: Final = "header"

_SPACES: Final = frozenset(f".{space}" for space in ix.SPACES)
_LINKAGE: Final = frozenset({".extern", ".visible", ".weak", ".common"})
_FUNCTIONS: Final = frozenset({".entry", ".func"})
_TABLES: Final = frozenset({".branchtargets", ".calltargets", ".callprototype"})
_LINES: Final = frozenset({".version", ".target", ".address_size", ".file", ".loc"})  # end with their line
_BEGINNINGS: Final = _SPACES | _LINKAGE | _FUNCTIONS | _LINES | {".pragma", ".section", ".alias"}
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_DIGITS: Final = "0123456789"


@dataclass(slots=True, eq=False)
class Definition:
    """A name and its declaration, ``at`` to ``after``; ``count``: of a range of registers (``%r<count>``), else -1.

    ``type``: with its dot (``.f32``, ``.v4 .f32``); ``space``: of variables and parameters, without; ``text``: the declaration as
    it is shown; ``owner``: the function that it stands in; ``begin``, ``end``: of a function, around its header and body.
    """

    name: str
    kind: str
    at: int
    after: int
    type: str = ""
    space: str = ""
    text: str = ""
    count: int = -1
    owner: Definition | None = None
    has_body: bool = False
    begin: int = -1
    end: int = -1

    @property
    def function(self) -> str:
        """The name of the function that it stands in, or ""."""
        return self.owner.name if self.owner is not None else ""


@dataclass(slots=True, eq=False)
class Scope:
    """The names between two places; ``function``: whose body or header it belongs to, None for the module."""

    parent: Scope | None
    at: int
    function: Definition | None = None
    end: int = -1
    names: dict[str, Definition] = field(default_factory=dict)
    ranges: dict[str, Definition] = field(default_factory=dict)

    def resolve(self, name: str) -> Definition | None:
        """What a name stands for here."""
        scope: Scope | None = self
        prefix = name.rstrip(_DIGITS)
        number = name[len(prefix) :]
        while scope is not None:
            found = scope.names.get(name)
            if found is None and number:
                row = scope.ranges.get(prefix)
                found = row if row is not None and len(number) < 12 and int(number) < row.count else None
            if found is not None:
                return found
            scope = scope.parent
        return None


@dataclass(slots=True, eq=False)
class Occurrence:
    """A name where it stands; ``declares``: the definition that begins here, if one does."""

    name: str
    at: int
    after: int
    scope: Scope
    declares: Definition | None = None

    def definition(self) -> Definition | None:
        """What the name stands for."""
        return self.declares or self.scope.resolve(self.name)


@dataclass(slots=True, eq=False)
class Statement:
    """A statement: tokens ``first`` to ``last`` (both included); of an instruction the mnemonic and where that stands."""

    kind: str
    first: int
    last: int
    scope: Scope
    mnemonic: str = ""
    at: int = -1
    after: int = -1


class Outline:
    """The outline of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        with no_collection():
            self._read()

    def _read(self) -> None:
        text = self.text
        self.tokens = read_tokens(text)
        self.module = Scope(None, 0, end=len(text))
        self.scopes = [self.module]
        self.definitions: list[Definition] = []
        self.occurrences: list[Occurrence] = []
        self.statements: list[Statement] = []
        _Reader(self).run()
        self.by_name: dict[str, list[Occurrence]] = {}
        for occurrence in self.occurrences:
            self.by_name.setdefault(occurrence.name, []).append(occurrence)

    def occurrence_at(self, offset: int) -> Occurrence | None:
        """The name that holds a place or ends there."""
        low, high = 0, len(self.occurrences)
        while low < high:
            middle = (low + high) // 2
            if self.occurrences[middle].after < offset:
                low = middle + 1
            else:
                high = middle
        for occurrence in self.occurrences[low : low + 2]:
            if occurrence.at <= offset <= occurrence.after:
                return occurrence
        return None

    def statement_at(self, offset: int) -> Statement | None:
        """The last statement that begins in front of a place, or there."""
        low, high = 0, len(self.statements)
        while low < high:
            middle = (low + high) // 2
            if self.tokens[self.statements[middle].first].at <= offset:
                low = middle + 1
            else:
                high = middle
        return self.statements[low - 1] if low else None

    def scope_at(self, offset: int) -> Scope:
        """The innermost scope that holds a place."""
        found = self.module
        for scope in self.scopes:
            if scope.at > offset:
                break
            if offset <= scope.end:
                found = scope
        return found

    def references(self, definition: Definition, name: str) -> list[Occurrence]:
        """Where a name stands for a definition; those of all its registers where ``name`` is that of a range."""
        if definition.count >= 0 and name == definition.name:
            names = [n for n in self.by_name if n == name or (n.startswith(name) and n[len(name) :].isdigit())]
        else:
            names = [name]
        found = [o for n in names for o in self.by_name.get(n, ()) if o.definition() is definition]
        return sorted(found, key=lambda occurrence: occurrence.at)


class _Reader:
    """Reads the tokens of an outline, statement by statement."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.tokens = outline.tokens
        self.scope = outline.module

    def run(self) -> None:
        at, count = 0, len(self.tokens)
        while at < count:
            text = self.tokens[at].text
            if text == "{":
                self.open(at, self.scope.function)
                at += 1
            elif text == "}":
                self.close(self.tokens[at].after)
                at += 1
            elif text in (";", ","):
                at += 1
            else:
                at = self.statement(at)
        while self.scope.parent is not None:
            self.close(len(self.outline.text))

    def open(self, at: int, function: Definition | None) -> Scope:
        self.scope = Scope(self.scope, self.tokens[at].at, function, len(self.outline.text))
        self.outline.scopes.append(self.scope)
        return self.scope

    def close(self, end: int) -> None:
        """End the scope at hand, with the header of a function that of the function, too."""
        scope = self.scope
        if scope.parent is None:
            return
        scope.end = end
        self.scope = scope.parent
        parent = scope.parent
        if scope.function is not None and parent.function is scope.function and parent.parent is self.outline.module:
            scope.function.end = parent.end = end
            self.scope = self.outline.module

    # -- statements ------------------------------------------------------------------------------------------

    def statement(self, first: int) -> int:
        """Read the statement that begins with a token; returns the number of the one behind it."""
        token = self.tokens[first]
        if token.kind in (IDENT, MNEMONIC) and self.text(first + 1) == ":" and self.text(first + 2) != ":":
            return self.label(first)
        if token.kind == DOT_WORD and self.function_word(first) >= 0:
            return self.function(first)
        last = self.end_of(first)
        if token.kind == DOT_WORD:
            self.directive(first, last)
        else:
            self.instruction(first, last)
        return last + 1

    def text(self, at: int) -> str:
        """The text of a token, "" behind the last one."""
        return self.tokens[at].text if at < len(self.tokens) else ""

    def function_word(self, first: int) -> int:
        """The number of ``.entry`` or ``.func`` where a statement begins a function, else -1."""
        at = first
        while self.text(at) in _LINKAGE:
            at += 1
        if self.text(at) == ".attribute":
            while at < len(self.tokens) and self.text(at) not in (")", ";", "{"):
                at += 1
            at += 1
        return at if self.text(at) in _FUNCTIONS else -1

    def end_of(self, first: int) -> int:
        """The last token of a statement that begins at ``first``: its semicolon, or the last one before what ends it."""
        tokens, depth, at = self.tokens, 0, first
        whole_line = tokens[first].text in _LINES
        section = tokens[first].text == ".section"
        while at < len(tokens):
            text = tokens[at].text
            if text == ";":
                return at
            if at > first and self.begins_line(at) and (whole_line or self.begins_statement(at, depth, section)):
                return at - 1
            if text in _OPENING:
                depth += 1
            elif text in _CLOSING:
                if depth == 0:
                    return at - 1 if at > first else at
                depth -= 1
                if section and depth == 0:
                    return at
            at += 1
        return at - 1

    def begins_line(self, at: int) -> bool:
        """A token is the first of its line."""
        return "\n" in self.outline.text[self.tokens[at - 1].after : self.tokens[at].at]

    def begins_statement(self, at: int, depth: int, section: bool) -> bool:
        """The first token of a line begins a statement, though the one before has not ended."""
        if section:
            return False
        token, before = self.tokens[at], self.text(at - 1)
        if token.text in _BEGINNINGS:
            return depth == 0 and before not in ("(", ",", "=")
        if token.text == "@":
            return True
        if token.text == "}":
            return depth == 0
        if token.kind == MNEMONIC:
            return token.text.partition(".")[0] in ix.HEADS
        return token.kind == IDENT and (
            (token.text in ix.HEADS and (self.text(at + 1) == ";" or before != ","))
            or (self.text(at + 1) == ":" and self.text(at + 2) != ":")
        )

    def label(self, at: int) -> int:
        """``L:``, or the name of a table."""
        token = self.tokens[at]
        kind = TABLE if self.text(at + 2) in _TABLES else LABEL
        self.define(Definition(token.text, kind, token.at, token.after, text=f"{token.text}:"), self.scope)
        if kind == LABEL:
            return at + 2
        last = self.end_of(at + 2)
        self.names(at + 3, last)
        self.outline.statements.append(Statement(DECLARATION, at, last, self.scope))
        return last + 1

    def instruction(self, first: int, last: int) -> None:
        """An instruction, with the guard in front of it."""
        at = first
        if self.text(at) == "@":
            at += 1
            at += self.text(at) == "!"
            if at <= last and self.tokens[at].kind in (IDENT, MNEMONIC):
                self.names(at, at)
                at += 1
        mnemonic, begin, end = "", -1, -1
        if at <= last and self.tokens[at].kind in (IDENT, MNEMONIC):
            mnemonic, begin, end = self.tokens[at].text, self.tokens[at].at, self.tokens[at].after
            at += 1
            while at <= last and self.tokens[at].kind == DOT_WORD and not self.begins_line(at):
                mnemonic, end = mnemonic + self.tokens[at].text, self.tokens[at].after
                at += 1
        self.outline.statements.append(Statement(INSTRUCTION, first, last, self.scope, mnemonic, begin, end))
        self.names(at, last)

    def names(self, first: int, last: int) -> None:
        """Note the names among some tokens."""
        for token in self.tokens[first : last + 1]:
            if token.kind in (IDENT, MNEMONIC) and token.text not in NO_NAMES:
                name = token.text.partition(".")[0]
                self.outline.occurrences.append(Occurrence(name, token.at, token.at + len(name), self.scope))

    # -- declarations ----------------------------------------------------------------------------------------

    def define(self, definition: Definition, scope: Scope) -> None:
        """Add a definition; of several of a name the first counts, of a function the one that has a body."""
        names = scope.ranges if definition.count >= 0 else scope.names
        known = names.get(definition.name)
        definition.owner = scope.function
        if known is None or (known.kind in (FUNCTION, ENTRY) and definition.has_body and not known.has_body):
            names[definition.name] = definition
        self.outline.definitions.append(definition)
        place = Occurrence(definition.name, definition.at, definition.after, scope)
        declared_only = definition.kind in (FUNCTION, ENTRY) and not definition.has_body  # a body may follow
        place.declares = definition if names.get(definition.name) is definition and not declared_only else None
        self.outline.occurrences.append(place)

    def directive(self, first: int, last: int) -> None:
        """A declaration of variables or registers, or another directive."""
        at = first
        while at <= last and (self.text(at) in _LINKAGE or self.text(at) in (".align", ".attribute")):
            at = self.behind_word(at, last)
        kind = DECLARATION
        self.outline.statements.append(Statement(kind, first, last, self.scope))
        if at <= last and self.text(at) in _SPACES:
            self.declarators(at, first, last, self.scope, VARIABLE)
        elif self.text(first) not in _LINES:
            self.names(first, last)

    def behind_word(self, at: int, last: int) -> int:
        """Behind ``.visible``, ``.align 8``, ``.attribute(...)``."""
        word = self.text(at)
        at += 1
        if word == ".align" and at <= last and self.tokens[at].kind == NUMBER:
            return at + 1
        if word == ".attribute" and self.text(at) == "(":
            while at < last and self.text(at) != ")":
                at += 1
            return at + 1
        return at

    def declarators(self, at: int, first: int, last: int, scope: Scope, kind: str) -> None:
        """``.global .align 4 .v4 .f32 a[4] = {1, 2}, b``: its names, from the state space on."""
        space = self.text(at)[1:]
        types: list[str] = []
        at += 1
        depth = 0
        shown = self.text_of(first, last)
        while at <= last:
            token = self.tokens[at]
            if depth == 0 and token.kind == DOT_WORD:
                if token.text in (".align", ".attribute"):
                    at = self.behind_word(at, last)
                    continue
                if token.text == ".ptr":
                    at = self.behind_pointer(at, last)
                    continue
                types.append(token.text)
            elif depth == 0 and token.kind in (IDENT, MNEMONIC):
                at = self.declarator(at, last, scope, REGISTER if space == "reg" else kind, (" ".join(types), space, shown))
                continue
            elif token.text in _OPENING:
                depth += 1
            elif token.text in _CLOSING:
                depth -= 1
            at += 1

    def behind_pointer(self, at: int, last: int) -> int:
        """Behind ``.ptr .global .align 8``."""
        at += 1
        while at <= last and self.tokens[at].kind in (DOT_WORD, NUMBER):
            at += 1
        return at

    def declarator(self, at: int, last: int, scope: Scope, kind: str, rest: tuple[str, str, str]) -> int:
        """One name with its dimensions and initial value; returns the number of the comma behind it, or the end."""
        token = self.tokens[at]
        definition = Definition(token.text, kind, token.at, token.after, *rest)
        at += 1
        if self.text(at) == "<":
            definition.count = int(self.text(at + 1)) if self.text(at + 1).isdecimal() and len(self.text(at + 1)) < 12 else 0
            at += 1
        self.define(definition, scope)
        depth = 0
        while at <= last and (depth or self.text(at) != ","):
            token = self.tokens[at]
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if token.kind in (IDENT, MNEMONIC):
                self.names(at, at)
            at += 1
        return at + 1

    def function(self, first: int) -> int:
        """The header of a function or entry; its parameters belong to a scope around the body."""
        word = self.function_word(first)
        kind = ENTRY if self.text(word) == ".entry" else FUNCTION
        name, at, depth, groups = -1, word + 1, 0, []
        while at < len(self.tokens):
            text = self.text(at)
            if depth == 0 and (text in (";", "{", "}") or (self.begins_line(at) and text in _BEGINNINGS)):
                break
            if text == "(":
                groups.append(at)
            depth += (text == "(") - (text == ")")
            if depth == 0 and name < 0 and self.tokens[at].kind in (IDENT, MNEMONIC):
                name = at
            at += 1
        has_body, last = self.text(at) == "{", at - 1
        self.outline.statements.append(Statement(HEADER, first, max(last, first), self.scope))
        definition = None
        if name >= 0:
            token = self.tokens[name]
            shown = self.text_of(first, last)
            definition = Definition(token.text, kind, token.at, token.after, text=shown, has_body=has_body)
            definition.begin, definition.end = self.tokens[first].at, self.tokens[last].after
        module = self.scope
        inner = self.open(first, definition) if has_body else Scope(module, self.tokens[first].at, definition)
        self.parameters(groups, name, last, definition, (module, inner))
        if not has_body:
            return at + (self.text(at) == ";")
        self.open(at, definition)
        return at + 1

    def parameters(
        self, groups: list[int], name: int, last: int, definition: Definition | None, scopes: tuple[Scope, Scope]
    ) -> None:
        """The name and the parameters of a function, in the order of the text."""
        module, inner = scopes
        for group in groups:
            if definition is not None and 0 <= name < group:
                self.define(definition, module)
                name = -1
            at = group + 1
            while at <= last and self.text(at) != ")":
                end = at
                while end <= last and self.text(end) not in (",", ")"):
                    end += 1
                space = next((i for i in range(at, end) if self.text(i) in _SPACES), -1)
                if space >= 0:
                    self.declarators(space, at, end - 1, inner, PARAMETER)
                at = end + 1 if self.text(end) == "," else end
        if definition is not None and name >= 0:
            self.define(definition, module)

    def text_of(self, first: int, last: int) -> str:
        """The text of a declaration as it is shown."""
        begin, end = self.tokens[first].at, self.tokens[last].after
        text = " ".join(self.outline.text[begin : min(end, begin + 400)].split())
        return text if end - begin <= 400 else f"{text} ..."
