"""Initialisers of variables: nested aggregates, symbols' addresses, byte masks; gives bytes and relocations."""

from __future__ import annotations

import re
from typing import Final

from oric_tables.ptx_index import TYPES

from .builder import InitSymbol, Variable
from .constants import Constant, expression
from .lexer import IDENT, NUMBER, Lexer, PtxError, integer_value
from .opaque import read_fields
from .scopes import FUNCTION, SYMBOL, Scope

_FLAT: Final = re.compile(r"\{([-0-9a-fA-FxX,\s]*)\}")
MAX_GAP: Final = 1 << 26  # bytes that braces may skip in front of later values: what is skipped is stored, its end is not
FLOATS: Final = ("f32", "f64")  # the types that floating-point literals have
FLOAT_SIZES: Final = (4, 8)  # bytes that hold a value of one of them; of others the lowest bytes of the pattern are kept
INTEGER_BYTES: Final = 8  # of a constant
PLAIN: Final = ("u32", "u64")  # types that take an address ...
MASKED: Final = ("u8",)  # ... and one byte of it
MASKS: Final = frozenset(0xFF << 8 * byte for byte in range(8))


class Initializer:
    """Reads the initialiser of one variable from a lexer that stands behind ``=``.

    ``data`` holds the bytes up to the last value, ``length`` counts what the braces have filled up as well.
    """

    __slots__ = ("data", "element", "kind", "length", "lexer", "relocs", "scope", "skipped", "variable")

    def __init__(self, lexer: Lexer, scope: Scope, variable: Variable) -> None:
        self.lexer = lexer
        self.scope = scope
        self.variable = variable
        self.kind, bits, *_ = TYPES[variable.type]
        self.element = bits // 8
        self.data = bytearray()
        self.length = 0
        self.skipped = 0
        self.relocs: list[InitSymbol] = []

    def read(self) -> None:
        """Fill ``variable.init``, ``relocs`` and, for an open first dimension, ``dims`` and ``size``.

        Raises:
            PtxError: too many elements, values that the type cannot hold, unknown names.
        """
        variable = self.variable
        if self.kind == "opaque":
            read_fields(self.lexer, variable)
            return
        dims = (*variable.dims, variable.vector) if variable.vector > 1 else variable.dims
        flat = len(dims) == 1 and variable.vector == 1 and self.kind in ("int", "bits")
        if not (flat and self.flat_integers(dims[0])):
            if not dims:
                self.scalar()
            elif self.lexer.is_punct("{"):
                self.aggregate(dims)
            else:
                raise self.lexer.expected("'{'")
        row = self.element * variable.vector
        for size in variable.dims[1:]:
            row *= size
        if variable.dims and variable.dims[0] == 0:
            count = -(-self.length // row)
            variable.dims = (count, *variable.dims[1:])
            variable.size = count * row
        variable.init = bytes(self.data or self.element)
        variable.relocs = tuple(self.relocs)

    def flat_integers(self, limit: int) -> bool:
        """The common ``{1, 2, 3}`` of a table of integers, read at once; False when it is of another form."""
        lexer = self.lexer
        match = _FLAT.match(lexer.text, lexer.at)
        if match is None or not match[1].strip():
            return False
        mask = (1 << 8 * self.element) - 1
        try:
            values = [int(word, 0) for word in match[1].split(",")]
        except ValueError:
            return False
        if (limit and len(values) > limit) or any(v >> 64 and not -(1 << 63) <= v < 0 for v in values):
            return False
        self.data = bytearray(b"".join([(v & mask).to_bytes(self.element, "little") for v in values]))
        self.length = len(self.data)
        lexer.move(match.end())
        return True

    def aggregate(self, dims: tuple[int, ...]) -> None:
        """``{ ... }`` for an array of these dimensions; missing elements are zero."""
        lexer = self.lexer
        lexer.expect("{")
        begin = self.length
        stride = self.element
        for size in dims[1:]:
            stride *= size
        name, at = self.variable.name, lexer.at
        more = not lexer.is_punct("}")
        while more:
            if dims[0] and (self.length - begin) >= dims[0] * stride:
                raise PtxError(lexer.at, f"more than {dims[0]} elements in the initialiser of '{name}'")
            if len(dims) > 1:
                if not lexer.is_punct("{"):
                    raise PtxError(lexer.at, f"a row of '{name}' begins with '{{', found {lexer.describe()}")
                self.aggregate(dims[1:])
            elif lexer.is_punct("{"):
                raise PtxError(lexer.at, f"too many braces in the initialiser of '{name}'")
            else:
                self.scalar()
            more = lexer.take(",")
        lexer.expect("}")
        length = self.length - begin
        if length == 0 and dims[0] == 0:
            raise PtxError(at, f"'{name}' has no size: give the first dimension or initial values")
        if len(dims) == 1 and self.variable.vector > 1 and length != dims[0] * stride:
            raise PtxError(at, f"a vector of '{name}' has {dims[0]} elements, found {length // stride}")
        full = dims[0] * stride if dims[0] else -(-length // stride) * stride
        self.length = begin + max(full, length)

    def scalar(self) -> None:
        """One element: a constant, a symbol's address or a masked byte of one."""
        lexer = self.lexer
        if lexer.kind == IDENT and lexer.value != "WARP_SZ":
            self.symbol(0)
            return
        if lexer.kind == NUMBER:
            probe = lexer.following()
            if probe.is_punct("("):
                mask = integer_value(lexer.value, lexer.at)
                if mask not in MASKS:
                    raise PtxError(lexer.at, f"{lexer.describe()} is no byte mask: one of its bytes is 0xFF, the others are 0")
                lexer.advance()
                lexer.advance()
                self.symbol(mask)
                lexer.expect(")")
                return
        at = lexer.at
        self.put(expression(lexer), at)

    def put(self, constant: Constant, at: int) -> None:
        """Append a constant in the variable's type."""
        size, type_ = self.element, self.variable.type
        if self.kind not in ("int", "bits") and not self.is_float():
            raise PtxError(at, f"variables of type .{type_} take no initial value; use .b{8 * size} and a bit pattern")
        if constant.is_float and not (self.is_float() or self.kind == "bits"):
            raise PtxError(at, f"'{self.variable.name}' of type .{type_} cannot be initialised with a floating-point constant")
        if not constant.is_float and self.is_float():
            raise PtxError(at, f"'{self.variable.name}' of type .{type_} cannot be initialised with an integer")
        value = constant.value & (1 << 8 * INTEGER_BYTES) - 1
        if constant.is_float:
            short = size == FLOAT_SIZES[0] or (constant.single and size not in FLOAT_SIZES)
            value = constant.bits32 if short else constant.bits64
        self.write((value & (1 << 8 * size) - 1).to_bytes(size, "little"), at)

    def write(self, element: bytes, at: int) -> None:
        """Append the bytes of an element behind what the braces have skipped."""
        gap = self.length - len(self.data)
        self.skipped += gap
        if self.skipped > MAX_GAP:
            raise PtxError(at, f"the initialiser of '{self.variable.name}' skips more than {MAX_GAP} bytes")
        self.data += bytes(gap)
        self.data += element
        self.length = len(self.data)

    def is_float(self) -> bool:
        """The elements are .f32 or .f64, of which there are literals."""
        return self.kind == "float" and self.variable.type in FLOATS

    def symbol(self, mask: int) -> None:
        """``name``, ``name+4``, ``generic(name)+4``."""
        lexer = self.lexer
        at = lexer.at
        generic = lexer.value == "generic" and lexer.following().is_punct("(")
        if generic:
            lexer.advance()
            lexer.advance()
            at = lexer.at
        name = lexer.identifier("the name of a variable or function")
        entity = self.scope.lookup(name)
        if entity is None:
            raise PtxError(at, f"name '{name}' is not declared")
        if entity.kind not in (SYMBOL, FUNCTION) or (entity.kind == SYMBOL and entity.info.space not in ("global", "const")):
            raise PtxError(at, f"'{name}' has no address that an initialiser could take")
        if generic:
            lexer.expect(")")
        if entity.kind == FUNCTION and (generic or lexer.is_punct("+")):
            raise PtxError(at, f"'{name}' is a function: its address is taken as it is")
        addend = self.addend()
        wanted = MASKED if mask and self.element == 1 else PLAIN
        if self.variable.type not in wanted:
            what = "a byte of an address" if mask else "an address"
            raise PtxError(at, f"{what} needs type {' or '.join('.' + t for t in wanted)}, not .{self.variable.type}")
        self.relocs.append(InitSymbol(self.length, self.element, entity.handle, addend, generic, mask))
        self.write(bytes(self.element), at)

    def addend(self) -> int:
        """``+ constant``; 0 when there is none."""
        lexer = self.lexer
        if not lexer.take("+"):
            return 0
        constant = expression(lexer)
        if constant.is_float:
            raise PtxError(lexer.at, "an address offset is an integer")
        return constant.value
