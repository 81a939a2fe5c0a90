"""Function bodies: rows of numbers for the plain statements of a module, a careful reader for everything else.

The scanner in C gives whole statements, an operand text as a number (:mod:`oric.ptx.statements`). What such a text stands for is
remembered for the scope, the operand classes form a key, and a key that the mnemonic accepted before needs no check. Whatever is
unusual or wrong (a first use, a comment inside, an error) is read token by token by :meth:`Body.statement`, which has places for
its messages.
"""

from __future__ import annotations

import re
from typing import Final

from mypy_extensions import i64

from oric.support.diagnostics import NotSupported

from . import classes as cl
from . import statements as st
from .builder import ADDR_SYM, SYM, Function, InlinedAt, Operand
from .check import check, fits, within_limits
from .declarations import LINKAGE, MAX_FAMILY, VARIABLE_SPACES, TypeSpec, name_class
from .headers import Headers, nearest
from .lexer import DOT_WORD, END, IDENT, NO_NAMES, SPACE, Lexer, PtxError, again
from .opaque import names_registers
from .operands import OperandReader
from .scopes import FUNCTION, LABEL_NAME, REGISTER, SYMBOL, TABLE_NAME, Entity, Scope
from .signatures import KEY_BITS, KEY_CLASSES, KEY_OPERANDS, Entry, entries_for, entry_of
from .state import State
from .statements import CLASS_BITS, DETAILS, OPERANDS, PLACE, Statements
from .targets import read_target

MAX_DEPTH: Final = 2000
_WORDS: Final = dict.fromkeys(("loc", "reg", "pragma", *(space[1:] for space in sorted(VARIABLE_SPACES))))
_OPCODE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:")
_CLASS: Final = (1 << CLASS_BITS) - 1


class Body:
    """Reads one function body."""

    __slots__ = ("declarations", "done", "function", "headers", "outside", "reader", "scope", "state", "statements")

    def __init__(self, state: State, statements: Statements, headers: Headers, module_scope: Scope, function: Function) -> None:
        self.state = state
        self.statements = statements
        self.headers = headers
        self.declarations = headers.declarations
        self.function = function
        self.done = False
        self.scope = Scope(module_scope, -1)
        self.outside = module_scope.names
        self.reader = OperandReader(state, statements, self.scope)

    def read(self, symbol: int, position: i64) -> i64:
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

    def scan(self, position: i64) -> i64:
        """Take statements as long as they are plain; returns where it stopped."""
        statements = self.statements
        statements.use(entries_for(self.state))
        while statements.find(position):
            stream = statements.stream
            cursor = statements.cursor
            count = statements.count
            while cursor < count:
                head = stream[cursor]
                if head & 0xFF == st.INSTRUCTION:
                    done = self.plain_instruction(cursor, cursor + (head >> 8))
                else:
                    done = self.line(cursor, head & 0xFF)
                if not done:
                    statements.cursor = cursor
                    return stream[cursor + PLACE]
                position = stream[cursor + st.END]
                cursor += head >> 8
                if self.done:
                    break
            statements.cursor = cursor
            if self.done:
                break
        return position

    def plain_instruction(self, cursor: i64, end: i64) -> bool:
        """Take the instruction whose words stand from ``cursor`` on; False when it needs a closer look."""
        statements = self.statements
        stream = statements.stream
        known = statements.known
        nodes = statements.nodes
        reader = self.reader
        state = self.state
        at = stream[cursor + DETAILS]
        entry = statements.entry(stream[cursor + DETAILS + 1])
        if entry is None or entry.careful:
            return False
        state.statement_at = at
        serial = reader.serial()
        operands: list[Operand] = []
        key: i64 = 0
        large = end - cursor > OPERANDS + KEY_OPERANDS
        for index in range(cursor + OPERANDS, end):
            row = stream[index]
            word = known[row]
            class_ = word & _CLASS if word >> CLASS_BITS == serial else reader.class_of(row)
            if class_ < 0:
                return False
            large = large or class_ >= KEY_CLASSES
            if not large:
                key = key << KEY_BITS | (class_ + 1)
            operands.append(nodes[row])
        guard: Operand | None = None
        row = stream[cursor + DETAILS + 2]
        if row >= 0:
            class_ = reader.class_of(row)
            if class_ not in (cl.PRED_CLASS, cl.NOT_PRED_CLASS):
                return False
            guard = nodes[row]
            for index in range(cursor + OPERANDS, end):
                if known[stream[index]] & _CLASS == cl.CALL_VARIABLE_CLASS:
                    return False
        if (large or (key != entry.last and not entry.accepts(key))) and not self.fits(entry, cursor + OPERANDS, end, operands):
            return False
        try:
            state.builder.instruction(entry.variant, guard, operands, at)
        except NotSupported as error:
            state.not_supported(error, error.at(at))
        return True

    def fits(self, entry: Entry, begin: i64, end: i64, operands: list[Operand]) -> bool:
        """Check the operands whose rows stand from ``begin`` on."""
        statements = self.statements
        classes = tuple([int(statements.known[statements.stream[index]] & _CLASS) for index in range(begin, end)])
        if classes in entry.accepted_long:
            return True
        limits = entry.limited.get(classes)
        return (limits is not None and within_limits(limits, operands)) or check(entry, classes, operands) is None

    def line(self, cursor: i64, kind: i64) -> bool:
        """Take a plain statement that is no instruction; False when it needs a closer look."""
        try:
            return self.take_line(cursor, kind)
        except PtxError:  # read again with places for its messages
            return False
        except NotSupported as error:
            self.state.not_supported(error, error.at(self.statements.stream[cursor + PLACE]))
            return True

    def take_line(self, cursor: i64, kind: i64) -> bool:
        """Act on a plain statement; False when it needs a closer look.

        Raises:
            PtxError: there is a mistake in it; nothing was done.
        """
        stream = self.statements.stream
        text = self.state.text
        at = stream[cursor + PLACE]
        word = cursor + DETAILS
        if kind == st.LABEL:
            return self.plain_label(text[at : stream[word]], at)
        if kind == st.LOC:
            return self.plain_place(cursor)
        if kind == st.REGISTERS:
            type_ = text[stream[word] : stream[word + 1]]
            name = text[stream[word + 2] : stream[word + 3]]
            return self.declarations.plain_registers(self.scope, type_, name, stream[word + 4], stream[word + 2])
        if kind == st.VARIABLE:
            spec = TypeSpec(text[stream[word + 2] : stream[word + 3]], stream[word + 6])
            dims = (int(stream[word + 7]),) if stream[word + 7] >= 0 else ()
            name = text[stream[word + 4] : stream[word + 5]]
            space = text[stream[word] : stream[word + 1]]
            return self.declarations.plain_variable(self.scope, spec, space, name, dims, stream[word + 4])
        if kind == st.CALL:
            return self.plain_call(cursor)
        return self.brace(kind == st.OPEN, at)

    def plain_label(self, name: str, at: i64) -> bool:
        """``name:``."""
        scope = self.scope
        if name in scope.names or name in self.outside:
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

    def plain_place(self, cursor: i64) -> bool:
        """``.loc``, perhaps with the function that was inlined."""
        stream = self.statements.stream
        at = stream[cursor + PLACE]
        word = cursor + DETAILS
        inlined: InlinedAt | None = None
        if stream[cursor] >> 8 > DETAILS + 3:
            outer = (int(stream[word + 5]), int(stream[word + 6]), int(stream[word + 7]))
            if not self.state.seen_place(outer, at):
                return False
            label = self.state.text[stream[word + 3] : stream[word + 4]]
            self.state.section_labels.setdefault(label, stream[word + 3])
            inlined = (label, 0, outer)
        self.state.has_loc = True
        self.state.builder.line_info(stream[word], stream[word + 1], stream[word + 2], at, inlined)
        return True

    def plain_call(self, cursor: i64) -> bool:
        """``call.uni (a), function, (b, c);``."""
        statements = self.statements
        entry = statements.entry(statements.stream[cursor + DETAILS])
        if entry is None or entry.warning:
            return False
        from .calls import named_call

        operands = named_call(self.reader, cursor)
        if operands is not None:
            self.state.builder.instruction(entry.variant, None, operands, statements.stream[cursor + PLACE])
        return operands is not None

    def brace(self, opens: bool, at: i64) -> bool:
        """Open or close a scope; False when it is too deep."""
        if not opens:
            self.close(at)
        elif self.scope.depth > MAX_DEPTH:
            return False
        else:
            self.open(at)
        return True

    # -- the careful way -----------------------------------------------------------------------------------

    def step(self, position: i64) -> i64:
        """One statement or brace at ``position``; returns where the next one begins."""
        try:
            lexer = Lexer(self.state.source, position)
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
            self.state.not_supported(missing, missing.at(begin))
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
            if not self.brace(True, lexer.at):
                at = lexer.at
                self.done = True
                lexer.move(len(lexer.text))
                raise PtxError(at, f"more than {MAX_DEPTH} nested scopes")
            lexer.advance()
        elif lexer.kind == IDENT:
            following = lexer.following()
            if following.is_punct(":") and lexer.text[following.after : following.after + 1] != ":":
                name, at = lexer.value, lexer.at
                lexer.move(following.after)
                self.label(lexer, name, at)
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
        at = end = lexer.at
        if lexer.kind != IDENT or lexer.value[0] in "%$":
            raise lexer.expected("an instruction")
        while lexer.text[end : end + 1] in _OPCODE:
            end += 1
        mnemonic = lexer.text[at:end]
        lexer.move(end)
        while lexer.kind == DOT_WORD:  # "add .s32"
            mnemonic += lexer.value
            lexer.advance()
        entry = self.entry(lexer, mnemonic, at)
        if entry.special:
            from .calls import read_call

            operands = read_call(lexer, self.reader)
        else:
            operands = self.operands(lexer, entry, at, guard is not None)
        if not lexer.is_punct(";"):
            raise lexer.expected("';'" if entry.special else "',' or ';'")
        if entry.warning:
            self.state.diag.warning(f"'{entry.variant.name}' {entry.warning}", at)
        try:
            self.state.builder.instruction(entry.variant, guard, operands, at)
        except NotSupported as error:
            self.state.not_supported(error, error.at(at))
        lexer.advance()

    def entry(self, lexer: Lexer, mnemonic: str, at: int) -> Entry:
        """The entry of a mnemonic; on an error the lexer goes back to it, where recovery begins."""
        try:
            return entry_of(self.state, mnemonic, at)
        except PtxError:
            lexer.move(at)
            raise

    def operands(self, lexer: Lexer, entry: Entry, at: int, guarded: bool) -> list[Operand]:
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
            name = Lexer(lexer.source, place).value
            if (
                index >= 0
                and classes[index] == cl.LABEL_CLASS
                and self.reader.is_pending(name)
                and not self.label_behind(name, at)
            ):
                raise PtxError(place, f"name '{name}' is not declared")
            raise PtxError(place, message)
        for index, class_ in enumerate(classes):
            if guarded and class_ == cl.CALL_VARIABLE_CLASS:
                name = Lexer(lexer.source, places[index] + 1).value
                raise PtxError(
                    places[index], f"Illegal to predicate instruction '{entry.variant.name}.param' with operand '{name}'"
                )
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
        self.scope = self.reader.scope = Scope(self.scope, at)
        self.state.builder.begin_scope(at)

    def close(self, at: int) -> None:
        """``}`` of a scope or of the body."""
        for name, place in self.scope.pending.items():
            found = self.state.text.find(name, place)  # of a family there is no such name
            self.state.report(PtxError(found if found >= 0 else place, f"label '{name}' is not defined"))
        closed = self.scope
        if closed.depth == 1:
            self.done = True
            self.state.builder.end_body(at)
        else:
            assert closed.parent is not None
            self.scope = self.reader.scope = closed.parent
            self.state.builder.end_scope(at)

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
        if name in self.outside:
            scope.names[name] = Entity(LABEL_NAME, scope.labels[name], "label")
            scope.forget()

    def table(self, lexer: Lexer, name: str, at: int) -> None:
        """``name: .branchtargets ...;`` and its kin."""
        word = lexer.value
        lexer.advance()
        builder = self.state.builder
        if word == ".callprototype":
            prototype = self.headers.prototype(lexer, name, at)
            entity = Entity(TABLE_NAME, builder.call_prototype(name, prototype), "prototype", 1, [prototype])
        elif word == ".branchtargets":
            labels = [self.reader.label(label, place) for label, place in self.names_in_table(lexer, "a label")]
            entity = Entity(TABLE_NAME, builder.branch_targets(name, labels, at), "branch")
        else:
            functions = [self.function_named(*found) for found in self.names_in_table(lexer, "a function name")]
            handle = builder.call_targets(name, [f.handle for f in functions], at)
            entity = Entity(TABLE_NAME, handle, "call", 1, [f.info for f in functions])
        self.scope.declare(name, entity, at)

    def names_in_table(self, lexer: Lexer, what: str) -> list[tuple[str, int]]:
        """``A, B<2>;``: A, B0 and B1, with their places."""
        found: list[tuple[str, int]] = []
        while not found or lexer.take(","):
            at = lexer.at
            name = lexer.identifier(what)
            if lexer.take("<"):
                count_at = lexer.at
                count = lexer.integer(f"a number of names '{name}0' ...")
                if not 0 < count <= MAX_FAMILY:
                    raise PtxError(count_at, f"'{name}<{count}>' stands for no name or for more than {MAX_FAMILY}")
                lexer.expect(">")
                found += [(f"{name}{index}", at) for index in range(count)]
            else:
                found.append((name, at))
        lexer.expect(";")
        return found

    def function_named(self, name: str, at: int) -> Entity:
        """A declared function in a table."""
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
            for text in self.headers.pragma_strings(lexer, "kernel" if self.function.is_entry else "body"):
                if self.function.is_entry and names_registers(text):
                    raise PtxError(at, f"Pragma '{text}' cannot be specified for function '{self.function.name}'")
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
        inlined: InlinedAt | None = None
        if lexer.take(","):
            self.word(lexer, "function_name")
            label, offset = self.label_in_section(lexer)
            lexer.expect(",")
            self.word(lexer, "inlined_at")
            inlined_at = lexer.at
            outer = self.place(lexer)
            if not self.state.seen_place(outer, at):
                raise PtxError(
                    inlined_at, f"no '.loc {outer[0]} {outer[1]} {outer[2]}' stands before, into which it could be inlined"
                )
            inlined = (label, offset, outer)
        self.state.has_loc = True
        self.state.builder.line_info(file, line, column, at, inlined)

    def label_in_section(self, lexer: Lexer) -> tuple[str, int]:
        """``LABEL+4`` or ``.debug_str+4``: a function's name in the debug data."""
        if lexer.kind == DOT_WORD:
            name = lexer.value
            lexer.advance()
        else:
            at = lexer.at
            name = lexer.identifier("a label")
            self.state.section_labels.setdefault(name, at)
        return name, lexer.integer("an offset") if lexer.take("+") else 0

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
