"""Operands: text to node and class. Names are looked up in the current scope; labels may be used before they stand.

:meth:`OperandReader.resolve` is the fast way (one operand's text, remembered by the scope), :meth:`OperandReader.read` the
careful one (tokens with places, errors that name what was expected). They give the same nodes.
"""

from __future__ import annotations

import re
from typing import Final

from oric_tables.ptx_index import PARTS, SPECIAL, TYPES

from . import builder as b
from . import classes as cl
from .builder import Operand
from .constants import Constant, expression, literal
from .lexer import BAD, DOT_WORD, END, IDENT, NUMBER, Lexer, PtxError
from .scopes import FUNCTION, REGISTER, SYMBOL, TABLE_NAME, Entity, Scope, register_operand
from .state import State

_REGISTER: Final = re.compile(r"(%[A-Za-z_$]*+)(0|[1-9][0-9]{0,7})\Z", re.ASCII)
_ADDRESS: Final = re.compile(r"\[(%[A-Za-z_$]*+)(0|[1-9][0-9]{0,7})(?:\+(-?(?:0|[1-9][0-9]{0,17})))?\]\Z", re.ASCII)
_NAMED_ADDRESS: Final = re.compile(r"\[([A-Za-z_$][\w$]*+)(?:\+(-?(?:0|[1-9][0-9]{0,17})))?\]\Z", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z$][\w$]*+\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z", re.ASCII)
_BITS: Final = re.compile(r"(?:0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})\Z", re.ASCII)
_VECTOR: Final = re.compile(r"\{([^{}\[\]()/|#]*+)\}\Z")
_OPERANDS: Final = re.compile(r"(?:\A|,[ \t\r\n]*+)((?:[^,{\[]++|\{[^}]*+\}|\[[^\]]*+\]|[{\[])*+)")
_TUPLE: Final = re.compile(r"(\[[^,\[\]{}+]++),[ \t\r\n]*+([^\[\]()/|#]*+)\]\Z")
_NUMERIC: Final = frozenset("-0123456789")
_COMPONENTS: Final = {".x": 0, ".y": 1, ".z": 2, ".w": 3, ".r": 0, ".g": 1, ".b": 2, ".a": 3}
_PARTS: Final = re.compile(rf"\.(?:{'|'.join(PARTS.values())})\Z")
_LABELS: Final = re.compile(
    r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|\"[^\"\n]*+\"|([{}])|(?<![\w$%.:])([A-Za-z_$%][\w$]*+)[ \t\r\n]*+:(?!:)", re.ASCII
)
MAX_NESTING: Final = 20
MAX_VECTOR: Final = 256
MAX_INDEX_BITS: Final = 64  # of a register that is an index or has a constant added to it
# Class of a register -> class of an address on it.
_ADDRESS_CLASSES: Final = {
    cl.class_id(cl.C_REG, type_): cl.class_id(cl.C_ADDR_REG, type_) for type_, row in TYPES.items() if row[2]
}

Found = tuple[Operand, int]


class OperandReader:
    """Reads operands for a function body; ``scope`` is the current innermost scope."""

    __slots__ = ("ahead", "scope", "state")

    def __init__(self, state: State, scope: Scope) -> None:
        self.state = state
        self.scope = scope
        self.ahead: dict[int, set[str]] = {}  # offset of a nested scope's brace -> labels in it

    # -- the fast way --------------------------------------------------------------------------------------

    def resolve(self, text: str) -> Found:
        """Node and class of one operand's text.

        Raises:
            PtxError: a mistake (its place counts from the beginning of ``text``).
        """
        text = text.strip(" \t\r\n")
        first = text[:1]
        found: Found | None = None
        if first == "%":
            found = self.resolve_register(text)
        elif first == "[":
            found = self.resolve_address(text)
        elif first in _NUMERIC:
            if _DECIMAL.match(text) is not None:
                return (b.INT, int(text)), cl.INT_CLASS
            if _BITS.match(text) is not None:
                return constant_operand(literal(text, 0))
        elif first == "{":
            found = self.resolve_vector(text)
        elif _NAME.match(text) is not None and text != "WARP_SZ" and self.scope.lookup(text) is None:
            return (b.LABEL, self.label(text, 0)), cl.LABEL_CLASS
        if found is not None:
            return found
        lexer = Lexer(text)
        result = self.read(lexer)
        if lexer.kind != END:
            raise lexer.expected("',' or ';'")
        if cl.DESCRIPTORS[result[1]][0] == cl.C_ELEMENT:
            raise PtxError(0, "an element is a value or an address, as its instruction says")
        return result

    def resolve_register(self, text: str) -> Found | None:
        """A register of a parameterised declaration or a special register."""
        match = _REGISTER.match(text)
        if match is not None:
            found = self.range_register(match[1], match[2])
            return None if found is None else ((b.REG, found[0]), found[1])
        if text[1:] in SPECIAL and self.scope.lookup(text) is None and self.scope.lookup(text.partition(".")[0]) is None:
            return self.special(text[1:], 0)
        return None

    def resolve_address(self, text: str) -> Found | None:
        """``[%rd1+16]``, ``[name+16]``."""
        match = _ADDRESS.match(text)
        if match is not None:
            found = self.range_register(match[1], match[2])
            if found is not None and (class_ := _ADDRESS_CLASSES.get(found[1])) is not None:
                return (b.ADDR_REG, found[0], int(match[3] or 0)), class_
        elif (match := _NAMED_ADDRESS.match(text)) is not None and match[1] != "WARP_SZ":
            return self.address_base(match[1], 0, int(match[2] or 0))
        elif (match := _TUPLE.match(text)) is not None and "+" not in match[1]:
            return self.resolve_tuple(f"{match[1]}]", match[2])
        return None

    def resolve_tuple(self, base: str, rest: str) -> Found:
        """``[%rd1, {%r1, %r2}]``: an address and operands behind it, which the scope remembers too."""
        texts = [base, *split_operands(rest)]
        nodes = map(self.scope.nodes.__getitem__, texts)
        return (b.TENSOR, *nodes), cl.class_id(cl.C_TUPLE, *map(self.scope.classes.__getitem__, texts))

    def resolve_vector(self, text: str) -> Found | None:
        """``{%f1, %f2}`` of simple elements, which the scope remembers too."""
        match = _VECTOR.match(text)
        if match is None or match[1].count(",") >= MAX_VECTOR:
            return None
        inner = match[1]
        texts = inner.split(", ") if inner.count(", ") == inner.count(",") else inner.split(",")
        nodes = tuple(map(self.scope.nodes.__getitem__, texts))
        return (b.VEC, nodes), cl.class_id(cl.C_VEC, *map(self.scope.classes.__getitem__, texts))

    def range_register(self, prefix: str, number: str) -> tuple[int, int] | None:
        """Handle and class of a register of a parameterised declaration, when no other name can hide it."""
        scope: Scope | None = self.scope
        while scope is not None:
            row = scope.ranges.get(prefix)
            if row is not None and int(number) < row[1]:
                return row[0] + int(number), row[3]
            if scope.names and prefix + number in scope.names:
                return None
            scope = scope.parent
        return None

    # -- the careful way -----------------------------------------------------------------------------------

    def read(self, lexer: Lexer, depth: int = 0) -> Found:
        """One operand from the current token on, ``d|p`` pairs included.

        Raises:
            PtxError: syntax error, unknown name.
        """
        if depth > MAX_NESTING:
            raise PtxError(lexer.at, "operand is nested too deeply")
        node, class_ = self.single(lexer, depth)
        if lexer.is_punct("|") and node[0] in (b.REG, b.SINK, b.VEC):
            lexer.advance()
            at = lexer.at
            second, second_class = self.single(lexer, depth)
            if node[0] == second[0] == b.SINK:
                raise PtxError(at, "one of the two destinations must be a register")
            return (b.PAIR, node, second), cl.class_id(cl.C_PAIR, class_, second_class)
        return node, class_

    def single(self, lexer: Lexer, depth: int) -> Found:
        """One operand that is no pair."""
        if lexer.kind == IDENT and lexer.value != "WARP_SZ":
            name = lexer.value
            found = self.named(lexer)
            if depth or found[0][0] != b.REG or not lexer.is_punct("+"):
                return found
            whole = self.scope.lookup(name)
            return self.sum(lexer, found) if whole is not None and whole.vector == 1 else found
        if lexer.is_punct("["):
            return self.address(lexer, depth)
        if lexer.is_punct("{"):
            return self.vector(lexer, depth)
        if lexer.value in ("!", "-") and lexer.kind not in (IDENT, NUMBER):
            probe = Lexer(lexer.text, lexer.after, lexer.end)
            if probe.kind == IDENT and probe.value != "WARP_SZ":
                return self.prefixed(lexer)
        if lexer.kind == END or lexer.is_punct("}"):
            raise lexer.expected("an operand or ';'")
        if lexer.kind in (DOT_WORD, BAD) or lexer.value in (";", ",", ")", "]", "}"):
            raise lexer.expected("an operand")
        return constant_operand(expression(lexer))

    def prefixed(self, lexer: Lexer) -> Found:
        """``!%p`` or ``-%r``."""
        at = lexer.at
        negated = lexer.value == "!"
        lexer.advance()
        if lexer.kind != IDENT:
            raise lexer.expected("a register")
        node, class_ = self.named(lexer)
        if node[0] != b.REG and (negated or node[0] != b.SELECT):
            raise PtxError(at, f"'{'!' if negated else '-'}' takes a register")
        if negated:
            return (b.NOT, node[1]), cl.class_id(cl.C_NOT, cl.DESCRIPTORS[class_][1])
        return (b.NEG, node), cl.class_id(cl.C_NEG, class_)

    def vector(self, lexer: Lexer, depth: int) -> Found:
        """``{a, b, c, d}``."""
        at = lexer.at
        lexer.advance()
        elements = [self.read(lexer, depth + 1)]
        while lexer.take(","):
            elements.append(self.read(lexer, depth + 1))
        lexer.expect("}")
        if len(elements) > MAX_VECTOR:
            raise PtxError(at, f"vector of {len(elements)} elements is too long")
        return (b.VEC, tuple(n for n, _ in elements)), cl.class_id(cl.C_VEC, *(c for _, c in elements))

    def address(self, lexer: Lexer, depth: int) -> Found:
        """``[base + offset]`` or the tensor form ``[base, operand ...]``."""
        lexer.advance()
        if lexer.kind == IDENT and lexer.value != "WARP_SZ":
            name, at = lexer.value, lexer.at
            lexer.advance()
            alone = not lexer.is_punct("+")
            base = self.address_base(name, at, self.offset(lexer))
        else:
            constant = expression(lexer)
            if constant.is_float:
                raise PtxError(lexer.at, "an address is an integer")
            base = (b.ADDR_IMM, constant.value), cl.ADDR_IMM_CLASS
            alone = False
        if lexer.is_punct(",") and not alone:
            raise lexer.expected("']' behind an offset")
        if lexer.is_punct(","):
            parts = [base]
            while lexer.take(","):
                parts.append(self.read(lexer, depth + 1))
            lexer.expect("]")
            return (b.TENSOR, *(n for n, _ in parts)), cl.class_id(cl.C_TUPLE, *(c for _, c in parts))
        lexer.expect("]")
        if lexer.kind == DOT_WORD and lexer.value == ".unified":  # a hint that changes no address
            lexer.advance()
            return base[0], cl.class_id(cl.C_UNIFIED, base[1])
        return base

    def address_base(self, name: str, at: int, offset: int) -> Found:
        """The node of an address whose base is a name."""
        entity = self.scope.lookup(name)
        if entity is None:
            raise self.unknown(name, at)
        if entity.kind == REGISTER and entity.vector == 1:
            return (b.ADDR_REG, entity.handle, offset), cl.class_id(cl.C_ADDR_REG, entity.type)
        if entity.kind == SYMBOL:
            return (b.ADDR_SYM, entity.handle, offset), symbol_class(cl.C_ADDR_SYM, entity)
        raise PtxError(at, f"'{name}' cannot be the base of an address")

    def offset(self, lexer: Lexer) -> int:
        """``+ constant`` behind the base of an address; 0 when there is none."""
        if not lexer.take("+"):
            return 0
        if lexer.kind == IDENT and lexer.value != "WARP_SZ":
            raise lexer.expected("a constant offset")
        constant = expression(lexer)
        if constant.is_float:
            raise PtxError(lexer.at, "an address offset is an integer")
        return constant.value if constant.value < 1 << 63 else constant.value - (1 << 64)

    def named(self, lexer: Lexer) -> Found:
        """An operand that begins with a name."""
        name, at = lexer.value, lexer.at
        lexer.advance()
        if name == "_":
            return (b.SINK,), cl.SINK_CLASS
        entity = self.scope.lookup(name)
        if entity is None and name[0] == "%" and name[1:] in SPECIAL:
            component = lexer.value if lexer.kind == DOT_WORD else ""
            if component:
                if name[1:] + component not in SPECIAL:
                    raise PtxError(lexer.at, f"special register '{name}' has no component '{component}'")
                lexer.advance()
            return self.special(name[1:] + component, at)
        if entity is None:
            if name[0] == "%" and not self.is_label(name) and not self.is_ahead(name):
                raise self.unknown(name, at)
            return (b.LABEL, self.label(name, at)), cl.LABEL_CLASS
        if entity.kind == REGISTER:
            return self.register(lexer, entity, name)
        if entity.kind == TABLE_NAME:
            return (b.TABLE, entity.handle), cl.TABLE_CLASS
        return self.symbol(lexer, entity)

    def symbol(self, lexer: Lexer, entity: Entity) -> Found:
        """``var``, ``var+4``, the old address form ``var[4]``; a function's name."""
        if entity.kind == FUNCTION:
            return (b.SYM, entity.handle, 0), cl.class_id(cl.C_SYM, "func")
        if lexer.is_punct("["):
            return self.element(lexer, entity), symbol_class(cl.C_ELEMENT, entity)
        return (b.SYM, entity.handle, self.offset(lexer)), symbol_class(cl.C_SYM, entity)

    def element(self, lexer: Lexer, entity: Entity) -> Operand:
        """``[index]`` behind the name of an array; the index counts scalars, also in an array of vectors."""
        at, variable = lexer.at, entity.info
        if not variable.dims:
            raise PtxError(at, f"'{variable.name}' is no array")
        lexer.advance()
        size: int = TYPES[variable.type][1] // 8
        at = lexer.at
        node: Operand
        if lexer.kind == IDENT and lexer.value != "WARP_SZ":
            register = self.index(lexer, at)
            node = (b.INDEX, entity.handle, register, size, self.offset(lexer) * size)
        else:
            constant = expression(lexer)
            if constant.is_float:
                raise PtxError(at, "an index is an integer")
            node = (b.SYM, entity.handle, constant.value * size)
        lexer.expect("]")
        return node

    def index(self, lexer: Lexer, at: int) -> int:
        """The register between the brackets behind an array's name."""
        name = lexer.value
        entity = self.scope.lookup(name)
        if entity is None:
            raise self.unknown(name, at)
        kind, bits = TYPES[entity.type][:2] if entity.kind == REGISTER and entity.vector == 1 else ("", 0)
        if kind not in ("bits", "int") or bits > MAX_INDEX_BITS:
            what = f"'{name}' is of type .{entity.type}" if entity.kind == REGISTER else f"found '{name}'"
            raise PtxError(at, f"an index is an integer or an integer register, {what}")
        lexer.advance()
        return entity.handle

    def sum(self, lexer: Lexer, register: Found) -> Found:
        """``%r1+4``: a register, already read, plus a constant."""
        node, class_ = register
        type_ = cl.DESCRIPTORS[class_][1]
        kind, bits, *_ = TYPES[type_]
        if kind not in ("bits", "int") or bits > MAX_INDEX_BITS:
            raise PtxError(
                lexer.at, f"'+' takes an integer register of at most {MAX_INDEX_BITS} bits, found one of type .{type_}"
            )
        return (b.SUM, node[1], self.offset(lexer)), cl.class_id(cl.C_SUM, type_)

    def register(self, lexer: Lexer, entity: Entity, name: str) -> Found:
        """A register, an element of a vector register, a part of a register, or a whole vector register."""
        if lexer.kind == DOT_WORD:
            component, at = lexer.value, lexer.at
            lexer.advance()
            if entity.vector > 1 and _COMPONENTS.get(component, 99) < entity.vector:
                return register_operand(Entity(REGISTER, entity.handle + _COMPONENTS[component], entity.type))
            if entity.vector == 1 and _PARTS.match(component) is not None:
                part = component[1:]
                return (b.SELECT, (b.REG, entity.handle), part), cl.class_id(cl.C_PART, entity.type, part)
            raise PtxError(at, f"register '{name}' has no component '{component}'")
        if entity.vector == 1:
            return register_operand(entity)
        class_ = cl.class_id(cl.C_REG, entity.type)
        nodes = tuple((b.REG, entity.handle + i) for i in range(entity.vector))
        return (b.VEC, nodes), cl.class_id(cl.C_VEC, *[class_] * entity.vector)

    def special(self, name: str, at: int) -> Found:
        """A special register (``name`` without the percent sign)."""
        type_, elements, ptx, sm, older = SPECIAL[name]
        self.state.gate(f"special register '%{name}'", ptx, sm, (), at)
        return (b.SREG, name), cl.class_id(cl.C_SREG, type_, elements, older)

    def unknown(self, name: str, at: int) -> PtxError:
        """The error for a name that nothing declares."""
        what = "register" if name[0] == "%" else "name"
        return PtxError(at, f"{what} '{name}' is not declared")

    # -- labels --------------------------------------------------------------------------------------------

    def label(self, name: str, at: int) -> int:
        """The handle of a label used at ``at``: of the innermost scope that defines it."""
        scope = self.scope
        while scope.depth > 1 and name not in scope.labels and name not in self.labels_of(scope) and scope.parent is not None:
            scope = scope.parent
        handle = scope.labels.get(name)
        if handle is None:
            handle = scope.labels[name] = self.state.builder.new_label(name)
            scope.pending[name] = max(at, self.state.statement_at)
        return handle

    def labels_of(self, scope: Scope) -> frozenset[str]:
        """The names of the labels that a nested scope defines, found by looking ahead once for all scopes in it."""
        if scope.label_names is None:
            if scope.opened_at not in self.ahead:
                self.look_ahead(scope.opened_at)
            scope.label_names = frozenset(self.ahead.get(scope.opened_at, ()))
        return scope.label_names

    def look_ahead(self, opened_at: int) -> None:
        """Collect the labels of the scope whose brace is at ``opened_at`` and of the scopes inside it."""
        stack: list[int] = []
        for match in _LABELS.finditer(self.state.text, opened_at):
            if match[2]:
                self.ahead[stack[-1]].add(match[2])
            elif match[1] == "{":
                stack.append(match.start())
                self.ahead[match.start()] = set()
            elif match[1] == "}":
                stack.pop()
                if not stack:
                    break

    def is_label(self, name: str) -> bool:
        """A label of this name stands before."""
        scope: Scope | None = self.scope
        while scope is not None and name not in scope.labels:
            scope = scope.parent
        return scope is not None

    def is_ahead(self, name: str) -> bool:
        """A label of this name stands further on in a scope that is open."""
        chain: list[Scope] = []
        scope: Scope | None = self.scope
        while scope is not None and scope.depth:
            chain.append(scope)
            scope = scope.parent
        return any(name in self.labels_of(scope) for scope in reversed(chain))  # one look through the outermost tells of all

    def is_pending(self, name: str) -> bool:
        """A label of this name was used but stands nowhere yet."""
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.labels:
                return name in scope.pending
            scope = scope.parent
        return False

    def forget_labels(self, statement_at: int) -> None:
        """Drop labels that a statement with errors was the first to use."""
        scope: Scope | None = self.scope
        while scope is not None:
            for name in [n for n, at in scope.pending.items() if at >= statement_at]:
                del scope.pending[name], scope.labels[name]
            scope.forget()
            scope = scope.parent


def split_operands(text: str) -> list[str]:
    """The texts between the commas that are outside of brackets and braces."""
    return _OPERANDS.findall(text)


def symbol_class(tag: str, entity: Entity) -> int:
    """Class of a variable's name; for those in .param it tells parameters and results of the function from others."""
    if entity.type == "param":
        return cl.class_id(tag, entity.type, entity.info.formal)
    return cl.class_id(tag, entity.type)


def constant_operand(constant: Constant) -> Found:
    """Node and class of a constant."""
    if constant.is_float:
        class_ = cl.SINGLE_CLASS if constant.single else cl.DOUBLE_CLASS
        return (b.FLOAT, constant.bits32, constant.bits64), class_
    return (b.INT, constant.value), cl.INT_CLASS
