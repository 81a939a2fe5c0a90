"""The notation of rewrite rules.

A pattern is ``OPERATION{modifier}...(source, ...)``; the sources are what the operation reads, in the order of its operands.
Those that are left out at the end must be absent, modifiers that are not named must have their default.

=====================  ===============================================================================================
``x``                  any operand without signs; the same letter stands for the same operand
``x*``                 any operand, its signs belong to it
``-x``                 a negated operand; on the side that is made: ``x`` with the other sign (``-x*`` too)
``#k``                 a constant; k is its bits (signs applied), for use in expressions
``#(k + 1)``           a constant that is computed (only made)
``RZ 1 0x3210 -1``     that constant; ``-RZ`` is the operand -RZ itself: the negative zero of a float
``PT !PT``             the constant predicates
``?``                  anything
``OP(...)``            what another instruction makes whose sources are still the same; ``-OP(...)``: read negated
``PAIR(x, RZ)``        a pair of registers by its words, the lower one first (only matched); a copy is what it copies
``{sign}``             any value of a modifier; on the other side: that same value
``{sign=S32}``         that value; ``{ftz=true}`` for a switch
``{lut=t}``            any value, t for use in expressions; ``{lut=#(t & 15)}``: one that is computed
=====================  ===============================================================================================
"""

from __future__ import annotations

import re

from ..ctext.expressions import MOST_NESTED
from ..errors import SpecError
from .model import Anything, Constant, Literal, ModifierTest, Node, Source, Truth, Variable

_TOKEN = re.compile(
    r"\s*(?:(?P<op>[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)|(?P<number>-?(?:0x[0-9a-fA-F]+|\d+))|(?P<name>[a-z]\w*)"
    r"|(?P<mark>[-!~?#(){},=*]))"
)
_RESERVED: dict[str, Source] = {"RZ": Literal(0), "PT": Truth(True)}
_MOST = 0xFFFFFFFFFFFFFFFF


def _quoted(text: str, otherwise: str) -> str:
    return f"'{text}'" if text else otherwise


class _Reader:
    def __init__(self, text: str, path: str, line: int) -> None:
        self.text = text
        self.path = path
        self.line = line
        self.at = 0
        self.depth = 0

    def error(self, message: str, at: int | None = None) -> SpecError:
        column = (self.at if at is None else at) + 1
        return SpecError(self.path, self.line, f"'{self.text}', column {column}: {message}")

    def peek(self) -> tuple[str, str]:
        """Kind and text of the next token; ('', '') at the end."""
        match = _TOKEN.match(self.text, self.at)
        if match is None or not match.lastgroup:
            if self.text[self.at :].strip():
                raise self.error(f"unexpected '{self.text[self.at :].strip()[0]}'")
            return "", ""
        return match.lastgroup, match[match.lastgroup]

    def take(self, wanted: str = "") -> str:
        """The next token, which must be ``wanted`` if that is given."""
        kind, text = self.peek()
        if not kind or (wanted and text != wanted):
            raise self.error(f"expected {_quoted(wanted, 'more')}, found {_quoted(text, 'the end')}")
        match = _TOKEN.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return text

    def accept(self, wanted: str) -> bool:
        if self.peek()[1] == wanted:
            self.take()
            return True
        return False

    # -- grammar -----------------------------------------------------------------------------------------

    def source(self, made: bool) -> Source:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise self.error(f"operations are nested more than {MOST_NESTED} deep")
        found = self._source(made)
        self.depth -= 1
        return found

    def _source(self, made: bool) -> Source:
        kind, text = self.peek()
        if kind == "mark" and text in {"-", "!"}:
            self.take()
            return self.signed(text, made)
        if kind == "mark" and text == "?":
            self.take()
            if made and self.depth < 2:
                raise self.error("'?' cannot be made")
            return Anything()
        if kind == "mark" and text == "#":
            self.take()
            return self.constant(made)
        if kind == "number":
            value = int(self.take(), 0)
            if not -(_MOST >> 1) - 1 <= value <= _MOST:
                raise self.error(f"{value} has more than 64 bits")
            return Literal(value)
        if kind == "name":
            name = self.take()
            return Variable(name, self.accept("*"))
        if kind == "op":
            if text in _RESERVED:
                self.take()
                return _RESERVED[text]
            return self.node(made, False)
        raise self.error(f"expected a source, found {_quoted(text, 'the end')}")

    def signed(self, sign: str, made: bool) -> Source:
        at = self.at
        inner = self.source(made)
        if sign == "!":
            if inner != Truth(True):
                raise self.error("'!' stands before PT only", at)
            return Truth(False)
        match inner:
            case Literal(0, False):
                return Literal(0, True)
            case Variable(name, keeps, False) if made or not keeps:
                return Variable(name, keeps, True)
            case Node(operation, modifiers, sources, False) if not made:
                return Node(operation, modifiers, sources, True)
        raise self.error("'-' stands before x, x*, RZ or OP(...)", at)

    def constant(self, made: bool) -> Constant:
        if self.peek()[1] == "(":
            if not made:
                raise self.error("an expression cannot be matched")
            return Constant(self.expression())
        if self.peek()[0] != "name":
            raise self.error("expected the name of a constant, or (expression)")
        return Constant(self.take())

    def expression(self) -> str:
        """The text between parentheses that belong together."""
        self.take("(")
        depth, start = 1, self.at
        while depth:
            if self.at == len(self.text):
                raise self.error("')' is missing")
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
        return self.text[start : self.at - 1].strip()

    def node(self, made: bool, negated: bool) -> Node:
        operation = self.take()
        modifiers = []
        while self.peek()[1] == "{":
            modifiers.append(self.modifier(made))
        names = [m.name for m in modifiers]
        if len(set(names)) < len(names):
            raise self.error(f"a modifier of {operation} is named twice")
        self.take("(")
        sources: list[Source] = []
        while self.peek()[1] != ")":
            sources.append(self.source(made))
            if not self.accept(","):
                break
        self.take(")")
        return Node(operation, tuple(modifiers), tuple(sources), negated)

    def modifier(self, made: bool) -> ModifierTest:
        self.take("{")
        if self.peek()[0] != "name":
            raise self.error("expected the name of a modifier")
        name = self.take()
        test = ModifierTest(name)
        if self.accept("="):
            kind, text = self.peek()
            if kind == "mark" and text == "#":
                self.take()
                if not made:
                    raise self.error("an expression cannot be matched")
                test = ModifierTest(name, text=self.expression())
            elif kind == "name" and text not in {"true", "false"}:
                test = ModifierTest(name, bound=self.take())
            else:
                test = ModifierTest(name, value=self.take())
        self.take("}")
        return test


def pattern(text: str, path: str, line: int, made: bool = False) -> Source:
    """Read one side of a rule; ``made``: the side that takes the other's place.

    Raises:
        SpecError: the text does not fit the notation; the message names the column.
    """
    reader = _Reader(text, path, line)
    found = reader.source(made)
    if reader.peek()[0]:
        raise reader.error(f"expected the end, found '{reader.peek()[1]}'")
    return found
