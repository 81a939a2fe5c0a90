"""Function bodies: a statement scanner for the instructions of a module, a careful reader for everything else.

One regular expression takes a whole instruction. Its operand texts are looked up in the scope's memory, the operand classes
form a key, and a key that the mnemonic accepted before needs no check. Whatever is unusual or wrong (a first use, a comment
inside, a call, an error) is read again token by token by :meth:`Body.statement`, which has places for its messages.
"""

from __future__ import annotations

import re
from typing import Any, Final

from oric.support.diagnostics import NotSupported

from . import classes as cl
from .builder import ADDR_SYM, SYM, Function, Operand
from .check import check, fits
from .declarations import LINKAGE, VARIABLE_SPACES, TypeSpec, name_class
from .headers import Headers, nearest
from .lexer import DOT_WORD, END, IDENT, NO_NAMES, SPACE, Lexer, PtxError, again
from .operands import OperandReader, split_operands
from .scopes import FUNCTION, REGISTER, SYMBOL, TABLE_NAME, Entity, Scope
from .signatures import Entry, entries_for, entry_of
from .state import State
from .targets import read_target

MAX_DEPTH: Final = 2000
_WORDS: Final = dict.fromkeys(("loc", "reg", "pragma", *(space[1:] for space in sorted(VARIABLE_SPACES))))
_STATEMENT: Final = re.compile(SPACE + r'(?:@(!?[\w%$]++)[ \t]++)?([a-z][\w.:]*+)[ \t\r\n]*+([^;()/"@#]{0,4000}+);', re.ASCII)
_OPCODE: Final = re.compile(r"[a-zA-Z_][\w.:]*+", re.ASCII)
_LABEL: Final = re.compile(r"([A-Za-z_$%][\w$]*+)" + SPACE + ":(?!:)", re.ASCII)
# What is common beside instructions: a label alone on its line, .loc, a register or range of them, a variable, braces, a call.
_NAME: Final = r"[A-Za-z_$%][\w$]*+"
_NAMES: Final = rf"\([ \t\r\n]*+((?:{_NAME}(?:,[ \t\r\n]*+{_NAME})*+)?+)[ \t\r\n]*+\)[ \t\r\n]*+"
_NUMBER: Final = r"(0|[1-9]\d{0,6}+)(?!\d)"
_PLACE: Final = rf"{_NUMBER}[ \t]++{_NUMBER}[ \t]++{_NUMBER}"
_LINE: Final = re.compile(
    SPACE + rf"(?:({_NAME}):[ \t]*+(?=[\r\n])[ \t\r\n]*+(?!\.(?:branch|call))"
    rf"|(\.loc)[ \t]++{_PLACE}(?:, function_name[ \t]++({_NAME}), inlined_at[ \t]++{_PLACE})?[ \t]*+(?=[\r\n])"
    rf"|(\.reg)[ \t]++\.([a-z]\d*+|pred)[ \t]++({_NAME})(?:<{_NUMBER}>)?;"
    rf"|\.(param|local|shared)[ \t]++(?:\.align[ \t]++{_NUMBER}[ \t]++)?\.([a-z]\d++)[ \t]++({_NAME})(?:\[{_NUMBER}\])?;"
    rf"|(call(?:\.uni)?)[ \t]++(?:{_NAMES},[ \t\r\n]*+)?({_NAME})[ \t\r\n]*+,[ \t\r\n]*+{_NAMES};"
    r"|([{}]))",
    re.ASCII,
)
_LINE_STARTS: Final = (1, 2, 10, 14, 19, 23)  # groups with which each kind of line begins


class Body:
    """Reads one function body."""

    __slots__ = ("declarations", "done", "function", "headers", "reader", "scope", "state")

    def __init__(self, state: State, headers: Headers, module_scope: Scope, function: Function) -> None:
        self.state = state
        self.headers = headers
        self.declarations = headers.declarations
        self.function = function
        self.done = False
        self.scope = Scope(module_scope, -1)
        self.reader = OperandReader(state, self.scope)
        self.scope.resolver = self.reader.resolve

    def read(self, symbol: int, position: int) -> int:
        """Read from behind the opening brace on; returns the offset behind the closing one (or of the end)."""
        self.scope.opened_at = position - 1
        builder = self.state.builder
        handles = builder.begin_body(symbol, self.function)
        for variable, handle in zip(self.function.returns + self.function.params, handles, strict=True):
            kind = REGISTER if variable.space == "reg" else SYMBOL
            type_ = variable.type if kind == REGISTER else name_class(variable)
            self.scope.declare(variable.name, Entity(kind, handle, type_, variable.vector, variable), variable.loc)
        while not self.done:
            position = self.scan(position)
            if not self.done:
                position = self.step(position)
        return position

    # -- the fast way --------------------------------------------------------------------------------------

    def scan(self, position: int) -> int:
        """Take instructions as long as they are ordinary; returns where it stopped."""
        state = self.state
        node_of = self.scope.nodes.__getitem__
        class_of = self.scope.classes.__getitem__
        entries = entries_for(state)
        emit = state.builder.instruction
        scanner: Any = _STATEMENT.scanner(state.text, position)  # type: ignore[attr-defined]
        following = scanner.match
        while True:
            match = following()
            if match is None:
                here = self.line(position)
                if here == position or self.done:
                    return here
                position = here
                node_of = self.scope.nodes.__getitem__
                class_of = self.scope.classes.__getitem__
                following = _STATEMENT.scanner(state.text, position).match  # type: ignore[attr-defined]
                continue
            guard_text, mnemonic, raw = match.groups()
            entry = entries.get(mnemonic)
            if entry is None or entry.careful:
                return position
            state.statement_at = at = match.start(2)
            guard: Operand | None = None
            try:
                if raw:
                    plain = "{" not in raw and raw.count(", ") == raw.count(",")
                    texts = raw.split(", ") if plain else split_operands(raw)
                    operands = list(map(node_of, texts))
                    key = tuple(map(class_of, texts))
                else:
                    operands, key = [], ()
                if guard_text is not None:
                    guard = node_of(guard_text)
                    if class_of(guard_text) not in cl.GUARD_CLASSES:
                        return position
            except (PtxError, NotSupported):
                return position
            if key not in entry.accepted and check(entry, key, operands) is not None:
                return position
            try:
                emit(entry.variant, guard, operands, at)
            except NotSupported as error:
                state.not_supported(error.what, error.at(at))
            position = match.end()

    def line(self, position: int) -> int:
        """Take a common line that is no instruction; returns where it ends, ``position`` for anything else."""
        match = _LINE.match(self.state.text, position)
        if match is None:
            return position
        try:
            taken = self.take_line(match)
        except PtxError:  # read again with places for its messages
            return position
        except NotSupported as error:
            self.state.not_supported(error.what, error.at(next(match.start(i) for i in _LINE_STARTS if match[i] is not None)))
            taken = True
        return match.end() if taken else position

    def take_line(self, match: re.Match[str]) -> bool:
        """Act on a common line; False when it needs a closer look.

        Raises:
            PtxError: there is a mistake in it; nothing was done.
        """
        if match[23] is not None:
            return self.brace(match[23], match.start(23))
        if match[1] is not None:
            return self.plain_label(match[1], match.start(1))
        if match[2] is not None:
            return self.plain_place(match)
        if match[10] is not None:
            return self.declarations.plain_registers(self.scope, match[11], match[12], match[13], match.start(12))
        if match[14] is not None:
            spec = TypeSpec(match[16], int(match[15] or 0))
            if match[15] is not None and not spec.align:
                return False
            dims = () if match[18] is None else (int(match[18]),)
            return self.declarations.plain_variable(self.scope, spec, match[14], match[17], dims, match.start(17))
        return self.plain_call(match)

    def plain_label(self, name: str, at: int) -> bool:
        """``name:``."""
        scope = self.scope
        if name in scope.names:
            return False
        if name in scope.pending:
            del scope.pending[name]
        elif name in NO_NAMES or name in scope.labels:
            return False
        else:
            scope.labels[name] = self.state.builder.new_label(name)
        scope.places[name] = at
        self.state.builder.place_label(scope.labels[name], at)
        return True

    def plain_place(self, match: re.Match[str]) -> bool:
        """``.loc``, perhaps with the function that was inlined."""
        at, name = match.start(2), match[6]
        if name is not None:
            if not self.state.seen_place((int(match[7]), int(match[8]), int(match[9])), at):
                return False
            self.state.section_labels.setdefault(name, match.start(6))
        self.state.builder.line_info(int(match[3]), int(match[4]), int(match[5]), at)
        return True

    def plain_call(self, match: re.Match[str]) -> bool:
        """``call.uni (a), function, (b, c);``."""
        entry = entries_for(self.state).get(match[19])
        if entry is None or entry.warning:
            return False
        from .calls import named_call

        operands = named_call(self.reader, match[20], match[21], match[22])
        if operands is not None:
            self.state.builder.instruction(entry.variant, None, operands, match.start(19))
        return operands is not None

    def brace(self, character: str, at: int) -> bool:
        """Open or close a scope; False when it is too deep."""
        if character == "}":
            self.close(at)
        elif self.scope.depth > MAX_DEPTH:
            return False
        else:
            self.open(at)
        return True

    # -- the careful way -----------------------------------------------------------------------------------

    def step(self, position: int) -> int:
        """One statement or brace at ``position``; returns where the next one begins."""
        try:
            lexer = Lexer(self.state.text, position)
        except PtxError as error:
            self.state.report(error)
            self.done = True
            return len(self.state.text)
        begin = self.state.statement_at = lexer.at
        try:
            self.statement(lexer)
        except PtxError as error:
            self.state.report(error)
            self.reader.forget_labels(begin)
            self.recover(lexer, begin)
        except NotSupported as missing:
            self.state.not_supported(missing.what, missing.at(begin))
            self.recover(lexer, begin)
        return lexer.at

    def recover(self, lexer: Lexer, begin: int) -> None:
        """Go on behind a broken statement (the code for that is loaded when it is needed)."""
        from .recovery import next_statement

        next_statement(lexer, begin)

    def statement(self, lexer: Lexer) -> None:
        """One statement, from its first token on."""
        if lexer.kind == DOT_WORD:
            self.directive(lexer)
        elif lexer.is_punct("}"):
            self.close(lexer.at)
            lexer.advance()
        elif lexer.is_punct("{"):
            if not self.brace("{", lexer.at):
                at = lexer.at
                self.done = True
                lexer.move(len(lexer.text))
                raise PtxError(at, f"more than {MAX_DEPTH} nested scopes")
            lexer.advance()
        elif lexer.kind == IDENT:
            match = _LABEL.match(lexer.text, lexer.at)
            if match is not None:
                lexer.move(match.end())
                self.label(lexer, match[1], match.start())
            else:
                self.instruction(lexer)
        elif lexer.is_punct("@"):
            self.instruction(lexer)
        elif lexer.kind == END:
            self.done = True
            raise PtxError(lexer.at, f"expected '}}' at the end of '{self.function.name}', found end of file")
        else:
            raise lexer.expected("an instruction or directive")

    def instruction(self, lexer: Lexer) -> None:
        """Guard, mnemonic, operands."""
        guard = self.guard(lexer)
        match = _OPCODE.match(lexer.text, lexer.at)
        if match is None or lexer.kind != IDENT:
            raise lexer.expected("an instruction")
        at = lexer.at
        mnemonic = match[0]
        lexer.move(match.end())
        while lexer.kind == DOT_WORD:  # "add .s32"
            mnemonic += lexer.value
            lexer.advance()
        entry = self.entry(lexer, mnemonic, at)
        if entry.special:
            from .calls import read_call

            operands = read_call(lexer, self.reader)
        else:
            operands = self.operands(lexer, entry, at)
        if not lexer.is_punct(";"):
            raise lexer.expected("';'" if entry.special else "',' or ';'")
        if entry.warning:
            self.state.diag.warning(f"'{entry.variant.name}' {entry.warning}", at)
        try:
            self.state.builder.instruction(entry.variant, guard, operands, at)
        except NotSupported as error:
            self.state.not_supported(error.what, error.at(at))
        lexer.advance()

    def entry(self, lexer: Lexer, mnemonic: str, at: int) -> Entry:
        """The entry of a mnemonic; on an error the lexer goes back to it, where recovery begins."""
        try:
            return entry_of(self.state, mnemonic, at)
        except PtxError:
            lexer.move(at)
            raise

    def operands(self, lexer: Lexer, entry: Entry, at: int) -> list[Operand]:
        """The operands up to ``;``, checked."""
        operands: list[Operand] = []
        classes: list[int] = []
        places: list[int] = []
        if not lexer.is_punct(";"):
            while True:
                places.append(lexer.at)
                node, class_ = self.reader.read(lexer)
                operands.append(node)
                classes.append(class_)
                if not lexer.take(","):
                    break
            if not lexer.is_punct(";"):
                raise lexer.expected("',' or ';'")
        fault = check(entry, tuple(classes), operands)
        if fault is not None:
            self.check_gates(entry, classes, operands, at)
            index, message = fault
            place = at if index < 0 else places[index]
            name = Lexer(lexer.text, place).value
            if (
                index >= 0
                and classes[index] == cl.LABEL_CLASS
                and self.reader.is_pending(name)
                and not self.label_behind(name, at)
            ):
                raise PtxError(place, f"name '{name}' is not declared")
            raise PtxError(place, message)
        for index, class_ in enumerate(classes):
            if cl.DESCRIPTORS[class_][0] == cl.C_ELEMENT and operands[index][0] == SYM and entry.is_address(index):
                operands[index] = (ADDR_SYM, *operands[index][1:])
        return operands

    def label_behind(self, name: str, at: int) -> bool:
        """A label of that name stands behind ``at``: looked up in the text, and only for a message."""
        return (
            re.compile(rf"(?:^|[;{{}}]){SPACE}{re.escape(name)}{SPACE}:(?!:)", re.ASCII | re.MULTILINE).search(
                self.state.text, at
            )
            is not None
        )

    def check_gates(self, entry: Entry, classes: list[int], operands: list[Operand], at: int) -> None:
        """Report operands that would fit in a later version or on a newer target."""
        for signature in entry.variant.signatures:
            if signature not in entry.signatures and fits(signature, tuple(classes), operands) is None:
                what = f"'{entry.variant.text}' with these operands"
                self.state.gate(what, signature.ptx, signature.sm, signature.arch, at)

    def guard(self, lexer: Lexer) -> Operand | None:
        """``@p`` or ``@!p``."""
        if not lexer.take("@"):
            return None
        at = lexer.at
        if lexer.is_punct("!"):
            node, class_ = self.reader.prefixed(lexer)
        elif lexer.kind == IDENT:
            name = lexer.value
            node, class_ = self.reader.named(lexer)
            if class_ == cl.LABEL_CLASS:
                raise PtxError(at, f"predicate '{name}' is not declared")
        else:
            raise lexer.expected("a predicate register")
        if class_ not in cl.GUARD_CLASSES:
            raise PtxError(at, "a guard is a register of type .pred")
        return node

    # -- scopes and labels ---------------------------------------------------------------------------------

    def open(self, at: int) -> None:
        """``{``."""
        self.scope = Scope(self.scope, at, self.reader.resolve)
        self.reader.scope = self.scope
        self.state.builder.begin_scope(at)

    def close(self, at: int) -> None:
        """``}`` of a scope or of the body."""
        for name, place in self.scope.pending.items():
            self.state.report(PtxError(self.state.text.find(name, place), f"label '{name}' is not defined"))
        closed = self.scope
        if closed.depth == 1:
            self.done = True
            self.state.builder.end_body(at)
        else:
            assert closed.parent is not None
            self.scope = self.reader.scope = closed.parent
            self.state.builder.end_scope(at)
        closed.leave()

    def label(self, lexer: Lexer, name: str, at: int) -> None:
        """``name:``, perhaps the name of a table."""
        if name in NO_NAMES:
            raise PtxError(at, f"'{name}' cannot be a label")
        if lexer.kind == DOT_WORD and lexer.value in (".branchtargets", ".calltargets", ".callprototype"):
            self.table(lexer, name, at)
            return
        scope = self.scope
        used = name in scope.pending
        if used:
            del scope.pending[name]
        elif name in scope.labels:
            raise again(at, f"label '{name}' is defined twice", scope.places[name])
        if name in scope.names:
            raise again(at, f"label '{name}' is declared twice in this scope", scope.places[name])
        if not used:
            scope.labels[name] = self.state.builder.new_label(name)
        scope.places[name] = at
        self.state.builder.place_label(scope.labels[name], at)

    def table(self, lexer: Lexer, name: str, at: int) -> None:
        """``name: .branchtargets ...;`` and its kin."""
        word = lexer.value
        lexer.advance()
        builder = self.state.builder
        if word == ".callprototype":
            prototype = self.headers.prototype(lexer, name, at)
            entity = Entity(TABLE_NAME, builder.call_prototype(name, prototype), "prototype", 1, [prototype])
        elif word == ".branchtargets":
            labels = [self.label_name(lexer)]
            while lexer.take(","):
                labels.append(self.label_name(lexer))
            lexer.expect(";")
            entity = Entity(TABLE_NAME, builder.branch_targets(name, labels, at), "branch")
        else:
            functions = [self.function_name(lexer)]
            while lexer.take(","):
                functions.append(self.function_name(lexer))
            lexer.expect(";")
            handle = builder.call_targets(name, [f.handle for f in functions], at)
            entity = Entity(TABLE_NAME, handle, "call", 1, [f.info for f in functions])
        self.scope.declare(name, entity, at)

    def label_name(self, lexer: Lexer) -> int:
        """The handle of a label in a table."""
        at = lexer.at
        return self.reader.label(lexer.identifier("a label"), at)

    def function_name(self, lexer: Lexer) -> Entity:
        """The name of a declared function."""
        at = lexer.at
        name = lexer.identifier("a function name")
        entity = self.scope.lookup(name)
        if entity is None or entity.kind != FUNCTION:
            raise PtxError(at, f"function '{name}' is not declared")
        return entity

    # -- directives ----------------------------------------------------------------------------------------

    def directive(self, lexer: Lexer) -> None:
        """A directive inside a body."""
        word, at = lexer.value, lexer.at
        if word == ".loc":
            self.source_line(lexer)
            return
        if word == ".reg":
            lexer.advance()
            self.declarations.registers(lexer, self.scope)
        elif word in VARIABLE_SPACES or word in (".align", ".attribute"):
            self.variables(lexer)
        elif word == ".pragma":
            lexer.advance()
            for text in self.headers.pragma_strings(lexer, "body"):
                self.state.builder.pragma(text, at)
        elif word == ".target":
            lexer.advance()
            read_target(lexer, self.state, [f"texmode_{self.state.texmode}"])
        elif word in (".func", ".entry") or word in LINKAGE:
            self.function_declaration(lexer)
        else:
            raise PtxError(at, f"'{word}' is no directive of function bodies", *nearest(word, _WORDS))

    def function_declaration(self, lexer: Lexer) -> None:
        """``.func f (...);``: it is known from here on, outside of the body too. What has a body stands behind this one."""
        begin = lexer.at
        linkage = "" if lexer.value in (".func", ".entry") else lexer.value[1:]
        if linkage:
            lexer.advance()
        if linkage != "common" and lexer.take_dot(".func"):
            function = self.headers.header(lexer, False, linkage)
            if not lexer.is_punct("{"):
                lexer.expect(";")
                self.declare_function(function)
                return
        elif lexer.value != ".entry":
            raise PtxError(begin, f"variables in function bodies take no '.{linkage}'")
        text = lexer.text
        brace = text.find("{", begin)
        if 0 <= text.find(";", begin) < brace or brace < 0:
            raise PtxError(begin, "entries are declared at module level")
        self.state.report(PtxError(begin, f"expected '}}' at the end of '{self.function.name}', found another function"))
        if text.count("{") == text.count("}"):  # it stands inside
            from .recovery import behind_body

            lexer.move(brace + 1)
            behind_body(lexer)
            return
        while not self.done:
            self.scope.pending.clear()
            self.close(begin)
        lexer.move(begin)

    def declare_function(self, function: Function) -> None:
        """Enter a function into the module's scope; operands that were remembered may have its name."""
        known = self.scope.lookup(function.name)
        other = known is not None and known.kind != FUNCTION
        scope = self.scope
        while scope.parent is not None:
            other = other or function.name in scope.labels
            scope.forget()
            scope = scope.parent
        if other:
            raise PtxError(function.loc, f"'{function.name}' is another name here already")
        self.headers.enter_function(scope, function)

    def variables(self, lexer: Lexer) -> None:
        """``.shared .u32 a[4];``, perhaps with ``.align`` in front of the state space."""
        before = TypeSpec()
        self.declarations.modifiers(lexer, before)
        space, at = lexer.value, lexer.at
        if lexer.kind != DOT_WORD or space not in VARIABLE_SPACES:
            raise lexer.expected("a state space")
        if space == ".tex":
            raise PtxError(at, "variables in .tex are declared at module level")
        lexer.advance()
        self.declarations.variables(lexer, self.scope, space[1:], "", True, before)

    def source_line(self, lexer: Lexer) -> None:
        """``.loc FILE LINE COLUMN``, perhaps with ``, function_name LABEL+4, inlined_at FILE LINE COLUMN``."""
        at = lexer.at
        lexer.advance()
        file, line, column = self.place(lexer)
        if lexer.take(","):
            self.word(lexer, "function_name")
            self.label_in_section(lexer)
            lexer.expect(",")
            self.word(lexer, "inlined_at")
            inlined_at = lexer.at
            outer = self.place(lexer)
            if not self.state.seen_place(outer, at):
                raise PtxError(
                    inlined_at, f"no '.loc {outer[0]} {outer[1]} {outer[2]}' stands before, into which it could be inlined"
                )
        self.state.builder.line_info(file, line, column, at)

    def label_in_section(self, lexer: Lexer) -> None:
        """``LABEL+4`` or ``.debug_str+4``: a function's name in the debug data."""
        if lexer.kind == DOT_WORD:
            lexer.advance()
        else:
            at = lexer.at
            self.state.section_labels.setdefault(lexer.identifier("a label"), at)
        if lexer.take("+"):
            lexer.integer("an offset")

    def place(self, lexer: Lexer) -> tuple[int, int, int]:
        """``FILE LINE COLUMN``."""
        found = []
        for what in ("a file number", "a line number", "a column"):
            at = lexer.at
            found.append(lexer.integer(what))
            if found[-1] >> 32:
                raise PtxError(at, f"{found[-1]} does not fit 32 bits")
        return found[0], found[1], found[2]

    def word(self, lexer: Lexer, word: str) -> None:
        """Pass over an attribute of ``.loc``."""
        if lexer.value != word:
            raise lexer.expected(f"'{word}'")
        lexer.advance()
