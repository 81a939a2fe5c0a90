"""What the parser tells its client: the Builder protocol, operand nodes, declarations, instruction variants.

The parser keeps no tree. It checks each statement and at once calls the builder, which makes of it what it
wants: Ori instructions in the compiler, a typed module in :mod:`oric.ptx.recorder`.

Handles
    Registers, symbols (variables, parameters, functions), labels and tables are ints that the *builder* hands
    out when the parser declares them; the parser gives the same ints back inside operands. Registers of one
    declaration are consecutive: ``.reg .b32 %r<100>;`` is one call ``registers("b32", 100)`` whose result is
    the handle of ``%r0``. Vector registers (``.reg .v4 .f32 v``) are consecutive scalar registers.

Places
    ``loc`` is a character offset into the source (see :class:`oric.support.diagnostics.Source`).

Operand nodes
    Tuples whose item 0 is the kind, in the order of the text; for ``call`` always ``(ARGS results)``, target (SYM or
    REG), ``(ARGS arguments)``, and ``(TABLE t)`` when given. They are shared and cached by the parser: never compare
    them by identity for anything but speed.

    ==================================  =======================================================================
    ``(REG, handle)``                   a register of any type, predicates too
    ``(NOT, handle)``                   ``!%p1``: negated predicate register
    ``(NEG, node)``                     ``-%r1`` where an instruction allows it (video instructions)
    ``(INT, value)``                    integer immediate as a Python int, ``-2**63 .. 2**64-1``, not truncated
    ``(FLOAT, bits32, bits64)``         floating immediate: its pattern as .f32 and as .f64; take the one of the
                                        operand's size
    ``(SYM, symbol, offset)``           the address of a variable or function as a value, offset in bytes
    ``(ADDR_REG, handle, offset)``      ``[%rd1+16]``, signed offset in bytes
    ``(ADDR_SYM, symbol, offset)``      ``[var+8]``
    ``(ADDR_IMM, address)``             ``[16]``
    ``(VEC, (node, ...))``              ``{%f1, %f2, %f3, %f4}``; elements REG, INT, FLOAT, SINK
    ``(PAIR, node, node)``              ``d|p``
    ``(LABEL, label)``                  branch target
    ``(SREG, name)``                    special register without the percent sign: ``"tid.x"``, ``"laneid"``
    ``(SINK,)``                         ``_``: result not wanted
    ``(ARGS, (node, ...))``             parenthesised list of a call: results or arguments, nodes SYM (parameter
                                        variables), REG, INT, FLOAT
    ``(TABLE, table)``                  label of ``.branchtargets``, ``.calltargets`` or ``.callprototype``
    ``(TENSOR, node, node, ...)``       ``[tensorMap, {c0, c1}]``: address node and the nodes behind it
    ``(SELECT, node, name)``            ``%r1.b0``: sub-word of a register (video instructions)
    ``(SUM, handle, offset)``           ``%r1+4``: the value of an integer register plus a constant
    ``(INDEX, symbol, handle, scale,    ``a[%r1+2]``: the address of a variable plus ``scale`` times a register plus
    offset)``                           ``offset`` bytes, as a value or, in ld and st, as an address
    ==================================  =======================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from oric.support.nodes import (
    ADDR_IMM,
    ADDR_REG,
    ADDR_SYM,
    ARGS,
    FLOAT,
    INDEX,
    INT,
    KIND_NAMES,
    LABEL,
    NEG,
    NOT,
    PAIR,
    REG,
    SELECT,
    SINK,
    SREG,
    SUM,
    SYM,
    TABLE,
    TENSOR,
    VEC,
    Operand,
)

__all__ = [
    "ADDR_IMM",
    "ADDR_REG",
    "ADDR_SYM",
    "ARGS",
    "FLOAT",
    "INDEX",
    "INT",
    "KIND_NAMES",
    "LABEL",
    "NEG",
    "NOT",
    "PAIR",
    "REG",
    "SELECT",
    "SINK",
    "SREG",
    "SUM",
    "SYM",
    "TABLE",
    "TENSOR",
    "VEC",
    "Builder",
    "Function",
    "InitSymbol",
    "InlinedAt",
    "ModuleHeader",
    "Operand",
    "Variable",
    "Variant",
]


class Variant:
    """An instruction with its qualifiers resolved: one object per distinct mnemonic text in the process.

    So a builder may keep what it derives in a dict keyed by the variant (identity hash); what depends on the
    target must be keyed by the target too.

    Attributes:
        text: the mnemonic as written, ``"ld.global.nc.v4.f32"``.
        name: the family, ``"ld"``.
        fields: slot name -> qualifier without dot, as the signature in spec/ptx names the slots:
            ``{"space": "global", "nc": "nc", "vec": "v4", "type": "f32"}``; slots left out are absent.
        qualifiers: all qualifiers that are no types, in order: ``("global", "nc", "v4")``.
        types: the type qualifiers in order: ``("f32",)``; ``cvt.rn.f32.s32`` has ``("f32", "s32")``.
    """

    __slots__ = ("fields", "name", "qualifiers", "signatures", "text", "types")

    def __init__(self, text: str, name: str, fields: dict[str, str], qualifiers: tuple[str, ...],
                 types: tuple[str, ...], signatures: tuple[Any, ...]) -> None:  # fmt: skip
        self.text = text
        self.name = name
        self.fields = fields
        self.qualifiers = qualifiers
        self.types = types
        self.signatures = signatures  # the parser's own: resolved operand lists

    def __repr__(self) -> str:
        return f"<Variant {self.text}>"


class ModuleHeader:
    """``.version``, ``.target`` and ``.address_size``.

    Attributes:
        version: (major, minor).
        target: ``"sm_90a"``, as written.
        options: the other words of the ``.target`` line (``debug``, ``texmode_independent`` ...).
        address_size: 32 or 64.
    """

    __slots__ = ("address_size", "loc", "options", "target", "version")

    def __init__(self, version: tuple[int, int], target: str, options: tuple[str, ...], address_size: int, loc: int) -> None:
        self.version = version
        self.target = target
        self.options = options
        self.address_size = address_size
        self.loc = loc


class InitSymbol:
    """A symbol's address inside an initialiser.

    ``size`` bytes at byte ``offset`` of the variable get the address of ``symbol`` plus ``addend``: its generic
    address when ``generic``, else its address in its own space. ``mask`` is the byte mask of ``0xFF00(expr)`` forms as
    written (the byte that it selects is stored), 0 for none.
    """

    __slots__ = ("addend", "generic", "mask", "offset", "size", "symbol")

    def __init__(self, offset: int, size: int, symbol: int, addend: int, generic: bool, mask: int = 0) -> None:
        self.offset = offset
        self.size = size
        self.symbol = symbol
        self.addend = addend
        self.generic = generic
        self.mask = mask


class Variable:
    """A variable or parameter.

    Attributes:
        name: as written.
        space: ``"global" "const" "shared" "local" "param"``, or ``"reg"`` for register parameters of functions.
        type: element type without dot (``"f32"``, ``"b8"``, ``"texref"`` ...).
        vector: elements of a vector type (1, 2, 4 or 8).
        dims: array dimensions; () for a scalar; a first dimension of 0 is one left open (``[]``).
        size: bytes in all; 0 when the first dimension is open.
        align: bytes.
        init: initial bytes up to the last one that is given, zeros follow; None when there is no initialiser.
        fields: values of the fields of an opaque variable, for each element: ``((("width", 3), ("filter_mode", "nearest")),)``.
        relocs: addresses inside ``init``.
        linkage: ``""``, ``"visible"``, ``"extern"``, ``"weak"`` or ``"common"``.
        attributes: words of ``.attribute(...)`` such as ``("managed",)``.
        ptr: for kernel parameters with ``.ptr``: (space or "", alignment), else None.
        in_function: declared inside a function body or as its parameter.
        formal: ``"parameter"`` or ``"result"`` in the header of a function, else "".
        loc: place of the name.
    """

    __slots__ = ("align", "attributes", "dims", "fields", "formal", "in_function", "init", "linkage", "loc", "name", "ptr",
                 "relocs", "size", "space", "type", "vector")  # fmt: skip

    def __init__(self, name: str, space: str, type_: str, vector: int, dims: tuple[int, ...], size: int, align: int,
                 loc: int) -> None:  # fmt: skip
        self.name = name
        self.space = space
        self.type = type_
        self.vector = vector
        self.dims = dims
        self.size = size
        self.align = align
        self.loc = loc
        self.init: bytes | None = None
        self.fields: tuple[tuple[tuple[str, str | int], ...], ...] = ()
        self.relocs: tuple[InitSymbol, ...] = ()
        self.linkage = ""
        self.attributes: tuple[str, ...] = ()
        self.ptr: tuple[str, int] | None = None
        self.in_function = False
        self.formal = ""


class Function:
    """The header of an entry or function, or of a call prototype.

    Attributes:
        name: as written (``"_"`` in prototypes).
        is_entry: ``.entry`` as against ``.func``.
        linkage: ``""``, ``"visible"``, ``"extern"`` or ``"weak"``.
        attributes: words of ``.attribute(...)`` such as ``("unified",)``.
        returns, params: parameters in order.
        directives: performance directives: name without dot -> ints: ``{"maxntid": (256, 1, 1), "minnctapersm":
            (2,), "maxnreg": (64,), "noreturn": (), "reqntid": (128, 1, 1), "explicitcluster": () ...}``; missing
            dimensions of the ntid forms are filled with 1.
        pragmas: the strings of ``.pragma`` directives in the header.
        has_body: False for a declaration.
        loc: place of the name.
        body_at: place of the opening brace of the body.
    """

    __slots__ = ("attributes", "body_at", "directives", "has_body", "is_entry", "linkage", "loc", "name", "params", "pragmas",
                 "returns")  # fmt: skip

    def __init__(self, name: str, is_entry: bool, linkage: str, loc: int) -> None:
        self.name = name
        self.is_entry = is_entry
        self.linkage = linkage
        self.loc = loc
        self.attributes: tuple[str, ...] = ()
        self.returns: tuple[Variable, ...] = ()
        self.params: tuple[Variable, ...] = ()
        self.directives: dict[str, tuple[int, ...]] = {}
        self.pragmas: tuple[str, ...] = ()
        self.has_body = False
        self.body_at = 0


# Of a .loc: label or section of the name of the function that was inlined, offset behind it; file, line and column of the call.
InlinedAt = tuple[str, int, tuple[int, int, int]]


class Builder(Protocol):
    """What a client of the parser implements; calls come in the order of the text.

    Any method may raise :class:`oric.support.diagnostics.NotSupported`; the parser then reports
    ``'WHAT' is not supported for TARGET yet`` at the place of the statement and goes on with the next one. After
    the first error the parser still calls the builder, so that it can report further ones; the caller looks at
    the diagnostics before it uses what was built. Statements with errors are not passed on.
    """

    def module(self, header: ModuleHeader) -> None:
        """The header; first call. Not made when the header is broken beyond use."""

    def variable(self, variable: Variable) -> int:
        """A variable at module level or in a function body (``.shared``, ``.local``, ``.param`` ...): symbol handle."""

    def define_variable(self, symbol: int, variable: Variable) -> None:
        """The definition of a variable that was declared external before; it keeps its handle."""

    def function(self, function: Function) -> int:
        """First sight of a function name, by declaration or definition: symbol handle."""

    def begin_body(self, symbol: int, function: Function) -> Sequence[int]:
        """The body of a function begins.

        Returns:
            one handle for each of ``function.returns`` and then of ``function.params``: symbol handles, or
            register handles for those in space ``reg``.
        """

    def end_body(self, loc: int) -> None:
        """The closing brace of the body; all labels used are placed."""

    def begin_scope(self, loc: int) -> None:
        """A nested ``{``. Names in it are the parser's business: handles never clash."""

    def end_scope(self, loc: int) -> None:
        """Its ``}``."""

    def registers(self, type_: str, count: int, name: str) -> int:
        """``count`` registers of type ``type_`` (``"b32"``, ``"pred"``, ``"f64"`` ...): handle of the first.

        ``name`` is the declared name or prefix, for dumps. ``count`` can be large (``%r<100000>``): make them lazily.
        """

    def new_label(self, name: str) -> int:
        """First sight of a label, used or placed, in the current body: label handle."""

    def place_label(self, label: int, loc: int) -> None:
        """The label stands here."""

    def branch_targets(self, name: str, labels: Sequence[int], loc: int) -> int:
        """``name: .branchtargets L1, L2;``: table handle."""

    def call_targets(self, name: str, functions: Sequence[int], loc: int) -> int:
        """``name: .calltargets f, g;``: table handle."""

    def call_prototype(self, name: str, prototype: Function) -> int:
        """``name: .callprototype (...) _ (...);``: table handle."""

    def instruction(self, variant: Variant, guard: Operand | None, operands: Sequence[Operand], loc: int) -> None:
        """One checked instruction. ``guard`` is ``(REG, p)``, ``(NOT, p)`` or None. Operands as written, in order."""

    def pragma(self, text: str, loc: int) -> None:
        """``.pragma`` at module level or in a body (those of a function's header are in Function.pragmas)."""

    def file(self, index: int, name: str, loc: int, time: int = 0, size: int = 0) -> None:
        """``.file INDEX "name", TIME, SIZE``."""

    def line_info(self, file: int, line: int, col: int, loc: int, inlined: InlinedAt | None = None) -> None:
        """``.loc`` in a body: source line of the instructions that follow."""

    def section(self, name: str, text: str, loc: int) -> None:
        """``.section NAME { text }``: debug data, unparsed."""

    def alias(self, name: str, target: int, loc: int) -> None:
        """``.alias name, target;``."""

    def end_module(self) -> None:
        """End of the text; last call."""
