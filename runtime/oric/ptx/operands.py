"""Operands: text to node and class. Names are looked up in the current scope; labels may be used before they stand.

:meth:`OperandReader.class_of` is the fast way (an operand's text by its number, remembered for the scope),
:meth:`OperandReader.read` the careful one (tokens with places, errors that name what was expected). They give the same nodes.
"""

from __future__ import annotations

import re
from typing import Final

from mypy_extensions import i64
from oric_tables.ptx_index import PARTS, SPECIAL, TYPES

from oric.support.diagnostics import NotSupported

from . import builder as b
from . import classes as cl
from . import statements as st
from .builder import Operand
from .constants import Constant, expression, float_constant, single_constant
from .lexer import BAD, DOT_WORD, END, IDENT, NUMBER, Lexer, PtxError
from .scopes import FUNCTION, LABEL_NAME, REGISTER, SYMBOL, TABLE_NAME, Entity, Range, Scope, register_operand
from .state import State
from .statements import CLASS_BITS, ROW_WORDS, Statements

_HALF: Final = 0xFFFFFFFF
_MASK64: Final = (1 << 64) - 1
_COMPONENTS: Final = {".x": 0, ".y": 1, ".z": 2, ".w": 3, ".r": 0, ".g": 1, ".b": 2, ".a": 3}
_LABELS: Final = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|\"[^\"\n]*+\"|([{}])|(?<![\w$%.:])([A-Za-z_$%][\w$]*+)[ \t\r\n]*+:(?!:)"
MAX_NESTING: Final = 20
MAX_VECTOR: Final = 256
MAX_INDEX_BITS: Final = 64  # of a register that is an index or has a constant added to it

Found = tuple[Operand, int]


class OperandReader:
    """Reads operands for a function body; ``scope`` is the current innermost scope."""

    __slots__ = ("ahead", "scope", "state", "statements")

    def __init__(self, state: State, statements: Statements, scope: Scope) -> None:
        self.state = state
        self.statements = statements
        self.scope = scope
        self.ahead: dict[int, set[str]] = {}  # offset of a nested scope's brace -> labels in it

    # -- the fast way --------------------------------------------------------------------------------------

    def serial(self) -> i64:
        """The serial of the scope as it is now."""
        scope = self.scope
        if scope.serial == 0:
            scope.serial = self.statements.new_serial()
        return scope.serial

    def class_of(self, row: i64) -> i64:
        """Work out what an operand's text stands for: its node goes to ``statements.nodes``, its class is returned.

        -1: it has a mistake, or cannot be compiled: it has to be read with places for messages.
        """
        statements = self.statements
        serial = self.serial()
        known = statements.known[row]
        if known >> CLASS_BITS == serial:
            return known & _HALF
        try:
            node, class_ = self.resolve(row)
        except (PtxError, NotSupported):
            return -1
        statements.nodes[row] = node
        statements.known[row] = serial << CLASS_BITS | class_
        return class_

    def resolve(self, row: i64) -> tuple[Operand, i64]:
        """Node and class of an operand's text.

        Raises:
            PtxError: a mistake.
        """
        rows = self.statements.rows
        word = ROW_WORDS * row
        shape = rows[word] & 0xFF
        first = rows[word + 2]
        if shape in (st.REG, st.NOT, st.ADDR_REG):
            found = self.range_of(first >> 32, first & _HALF)
            if found is not None:
                handle = found.first + (first & _HALF)
                if shape == st.REG:
                    return (b.REG, handle), found.class_
                if shape == st.NOT:
                    return (b.NOT, handle), found.not_class
                return (b.ADDR_REG, handle, rows[word + 3]), found.address_class
        elif shape == st.INT:
            return (b.INT, first), cl.INT_CLASS
        elif shape == st.ADDR_NAME:
            at = rows[word + 1] + (first & _HALF)
            return self.address_base(self.state.text[at : at + (first >> 32)], 0, rows[word + 3])
        elif shape == st.VECTOR:
            return self.vector_of(word + ROW_WORDS, first)
        elif shape == st.NAME:
            name = self.statements.text(row)
            entity = self.scope.lookup(name)
            if name == "_":
                return (b.SINK,), cl.SINK_CLASS
            if entity is None:
                if name[0] != "%":
                    return (b.LABEL, self.label(name, 0)), cl.LABEL_CLASS
            elif entity.kind == REGISTER and entity.vector == 1:
                return register_operand(entity)
            elif entity.kind == SYMBOL:
                return (b.SYM, entity.handle, 0), symbol_class(cl.C_SYM, entity)
        elif shape == st.SINGLE:
            return constant_operand(single_constant(first))
        elif shape == st.DOUBLE:
            return constant_operand(float_constant(int(first) & _MASK64))
        return self.resolve_tokens(rows[word + 1], rows[word] >> 8)

    def resolve_tokens(self, at: i64, length: i64) -> tuple[Operand, i64]:
        """The same for a text of any other shape."""
        lexer = Lexer(self.state.source, at, at + length)
        node, class_ = self.read(lexer)
        if lexer.kind != END:
            raise lexer.expected("',' or ';'")
        if cl.DESCRIPTORS[class_][0] == cl.C_ELEMENT:
            raise PtxError(at, "an element is a value or an address, as its instruction says")
        return node, class_

    def vector_of(self, word: i64, count: i64) -> tuple[Operand, i64]:
        """``{%f1, %f2}``: the rows of the elements stand in the words from ``word`` on."""
        statements = self.statements
        nodes: list[Operand] = []
        classes: list[int] = []
        for index in range(word, word + count):
            row = statements.rows[index]
            class_ = self.class_of(row)
            if class_ < 0:
                raise PtxError(statements.rows[ROW_WORDS * row + 1], "an element has a mistake")
            nodes.append(statements.nodes[row])
            classes.append(class_)
        return (b.VEC, tuple(nodes)), cl.class_id(cl.C_VEC, *classes)

    def range_of(self, row: i64, number: i64) -> Range | None:
        """The parameterised declaration of a register, when no other name can hide it; ``row``: of the prefix."""
        prefix = self.statements.text(row)
        scope: Scope | None = self.scope
        while scope is not None:
            found = scope.ranges.get(prefix)
            if found is not None and number < found.count:
                return found
            if scope.names and f"{prefix}{number}" in scope.names:
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
            probe = lexer.following()
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
        if entity.kind == LABEL_NAME:
            return (b.LABEL, entity.handle), cl.LABEL_CLASS
        if entity.kind == TABLE_NAME:
            if entity.type != "branch":
                raise PtxError(at, f"'{name}' is not a label of .branchtargets")
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
            if entity.vector == 1 and any(re.fullmatch(part, component[1:]) for part in PARTS.values()):
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
        for match in re.compile(_LABELS, re.ASCII).finditer(self.state.text, opened_at):
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
