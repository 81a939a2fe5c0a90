"""Calls of intrinsics (``__nv_ptx_builtin_ocg_...``): checked, matched with instructions, and replaced by these.

While a body is read its calls are noted (:func:`note_call`), and the types with which the variables of their results and
arguments are read and written. Where the body ends :func:`lower_intrinsics` does what the described system's driver does:
names are resolved and operands checked by the tables of ``spec/ocg``; each call is matched with an instruction; what nothing
reads and has no other effect is collected; the others are replaced by the code of their instructions.
Source: OCG intrinsics, OCG Intrinsic Lowering Pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import ocg as tables
from oric_tables.intrinsics import GROUPS

from oric.ir import operand as opd
from oric.ir.calls import WORD, ParamVariable
from oric.ir.edges import make_edges
from oric.ir.function import NONE
from oric.ir.optable import OPS
from oric.support import nodes
from oric.support.diagnostics import NotSupported, Refused

from .arguments import actual, take_result, word
from .emit import part
from .intrinsics import UNSUPPORTED, Intrinsic, UnknownIntrinsic, is_intrinsic, resolve, support

if TYPE_CHECKING:
    from .builder import OriBuilder
    from .memory import Memory

_WARNING: Final = "warning"
_UNTYPED: Final = ("b32", "f32", "u32", "s32")  # types that words of a variable are tried as where nothing says theirs
_BYTES: Final = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), 8),
}
_DOUBLE: Final = 8
_QUAD: Final = "b128"  # ptxas counts it as two ...
_HALF: Final = "b64"  # ... of these
_BITS: Final = 32
_UNKNOWN: Final = -1
_MASK32: Final = 0xFFFFFFFF


@final
class IntrinsicVariant:
    """An instruction that a call becomes, as the lowering rules know instructions: its text, and its types in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.types = tuple(word for word in text.split(".")[1:] if word in _BYTES)


@final
class Given:
    """A result or argument: its type, and its place in a variable of a call (``offset``) or its register or constant."""

    def __init__(self, type_: str, is_result: bool, operand: int = 0, node: Any = None) -> None:
        self.type = type_
        self.is_result = is_result
        self.variable: ParamVariable | None = None
        self.offset = 0
        self.operand = operand
        self.node = node


@final
class IntrinsicCall:
    """A noted call: its place, the name, and what is passed for each result and parameter."""

    def __init__(self, name: str, loc: int, line: int) -> None:
        self.name = name
        self.loc = loc
        self.line = line
        self.actuals: list[ParamVariable | int] = []
        self.variables: tuple[Any, ...] = ()
        self.nodes: tuple[Any, ...] = ()
        self.symbols: list[bool] = []  # which are variables of a call
        self.results = 0


@final
class Call:
    """What the expressions of ``spec/ocg`` see of a call. Results and arguments have numbers, results first."""

    def __init__(self, target: Any, operation: str, words: tuple[str, ...], given: list[Given], results: int) -> None:
        self.operation = operation
        self.words = words
        self.given = given
        self.n = len(given)
        self.results = results
        self.args = len(given) - results
        self.count = len(words)
        self.features = target.features
        self.group = GROUPS.get(target.name, "")
        self.constants: list[int | None] = []

    def has(self, *words: str) -> bool:
        """One of these sub-operations is there."""
        return any(word in self.words for word in words)

    def opt(self, *words: str) -> str:
        """``.`` and the first of these sub-operations that is there, or nothing."""
        return next((f".{word}" for word in words if word in self.words), "")

    def last(self, *words: str) -> str:
        """The last of these sub-operations that is there, or nothing: of a group of which one counts, it is that one."""
        return next((word for word in reversed(self.words) if word in words), "")

    def number(self, *words: str) -> int:
        """How many sub-operations of these there are, one that stands twice counted twice."""
        return sum(word in words for word in self.words)

    def sub(self, i: int) -> str:
        """The sub-operation at a place, nothing where there is none."""
        return self.words[i] if 0 <= i < self.count else ""

    def rest(self, i: int) -> str:
        """The sub-operations from a place on, as they stand in the name."""
        return "_".join(self.words[i:])

    def type(self, i: int) -> str:
        """The type of a result or argument, nothing where there is none; from the end where negative."""
        return self.given[i].type if -self.n <= i < self.n else ""

    def bits(self, i: int) -> int:
        """The size of a result or argument, 0 where there is none."""
        return 8 * _BYTES.get(self.type(i), 0)

    def all_words(self, first: int, last: int) -> bool:
        """Whether the results and arguments from one to another have 32 bits each."""
        return all(self.bits(i) == _BITS for i in range(first, last + 1))

    def is_const(self, i: int) -> bool:
        """Whether an argument is a constant."""
        return -self.n <= i < self.n and self.constants[i] is not None

    def value(self, i: int) -> int:
        """The constant that an argument is, 0 where it is none."""
        found = self.constants[i] if -self.n <= i < self.n else None
        return found if found is not None else 0

    def feature(self, name: str) -> bool:
        """Whether the target has a feature."""
        return name in self.features

    def subops_range(self) -> range:
        """Numbers of the sub-operations."""
        return range(self.count)

    def params_range(self) -> range:
        """Numbers of the results and arguments."""
        return range(self.n)

    def args_range(self) -> range:
        """Numbers of the arguments."""
        return range(self.results, self.n)


# -- while the body is read ---------------------------------------------------------------------------------------------------


def note_call(b: Memory, function: Any, guard: i64, results: Any, arguments: Any) -> bool:
    """Note a call when it is one of an intrinsic: a call without a number stands in its place until the body ends."""
    if not is_intrinsic(function.name):
        return False
    made = IntrinsicCall(function.name, b.loc, b.line)
    made.variables = (*function.returns, *function.params)
    made.results = len(function.returns)
    made.nodes = (*results, *arguments)
    if len(made.variables) != len(made.nodes):
        raise NotSupported("a call without the open array at the end of the parameters")
    for n, variable in enumerate(made.variables):
        node = made.nodes[n]
        made.actuals.append(actual(b, variable, node, n < made.results))
        made.symbols.append(node[0] == nodes.SYM and b.place_of(node[1]).param is not None)
    line = b.tables.template("invoke").first
    i = b.stand().make(b.tables.op[line], b.tables.mods[line], guard)
    b.intrinsics[i] = made
    for n in range(made.results):
        take_result(b, made.variables[n], made.nodes[n], made.actuals[n])
    return True


# -- where the body ends ------------------------------------------------------------------------------------------------------


def lower_intrinsics(b: OriBuilder) -> None:
    """Replace the calls of intrinsics of the body that ends: match them, collect those without an instruction, emit the others.

    Raises:
        Refused: a call that the described system refuses, in its words, or that the target has no instruction for.
        NotSupported: one that cannot be compiled yet.
    """
    if not b.intrinsics:
        return
    constants = _constants(b, b.move_op)
    matched = {i: _matched(b, call, constants) for i, call in b.intrinsics.items()}  # while all of them are still noted
    b.intrinsics = {}
    b.code.intrinsics += matched.values()
    for i in [i for i, found in matched.items() if found.lowered is None]:
        b.cursor.remove(i)
        del matched[i]
    b.prove("after the collection of intrinsics")
    _replace(b, matched)
    b.prove("after the lowering of intrinsics")


def _replace(b: OriBuilder, matched: dict[int, Matched]) -> None:
    """Put the code of their instructions in the place of calls."""
    waiting = {int(b.code.block[i]) for i in matched}
    order = vec[i64]()
    before = b.code.blocks()
    made = before
    block: i64 = 0
    while block < before:
        order = append(order, block)
        if block in waiting:
            _rebuild(b, block, matched)
        while made < b.code.blocks():
            order = append(order, made)
            made += 1
        block += 1
    if made > before:
        b.resolve_labels()
        b.cursor.reorder(order)
        make_edges(b.code)


@final
class Matched:
    """A call with its instruction and the numbers of the operands of that; none: it is collected."""

    def __init__(self, call: IntrinsicCall, given: list[Given], seen: Call, lowered: Any) -> None:
        self.call = call
        self.given = given
        self.seen = seen
        self.lowered = lowered


def _matched(b: OriBuilder, call: IntrinsicCall, constants: dict[int, int]) -> Matched:
    """Resolve the name of a call, check its operands, find its instruction."""
    try:
        found = resolve(call.name)
    except UnknownIntrinsic as error:
        raise Refused(f"({error.id}) {error}", call.loc) from None
    if found.operation not in tables.CHECKS:
        raise NotSupported(call.name, call.loc)
    given, seen = _checked(b, call, found, constants)
    if found.operation in tables.PURE and not _is_read(b, given):
        return Matched(call, given, seen, None)
    known = support(found.operation, b.target.name)
    lowered = tables.LOWER[found.operation](seen) if known != UNSUPPORTED else None
    if lowered is None:
        raise _without_code(b, call)
    return Matched(call, given, seen, lowered)


def _checked(b: OriBuilder, call: IntrinsicCall, found: Intrinsic, constants: dict[int, int]) -> tuple[list[Given], Call]:
    """What a call gives and takes, checked; words of results whose types nothing says have the first types that will do.

    Raises:
        Refused: see :func:`lower_intrinsics`.
    """
    refused: Refused | None = None
    for type_ in _UNTYPED:
        given, open_ = _given(b, call, type_)
        seen = Call(b.target, found.operation, found.subops, given, sum(one.is_result for one in given))
        seen.constants = [_constant_of(b, one, constants) for one in given]
        problem = _problem(b, call, seen)
        if problem is None:
            return given, seen
        refused = refused or problem
        if not open_:
            break
    assert refused is not None
    raise refused


def unexpected_name(name: str, loc: int) -> Refused:
    """The refusal of a function that has the name of an intrinsic and a body of its own."""
    id_, text, _ = tables.MESSAGES["name"]
    return Refused(f"({id_}) {text.replace('{s}', name)}", loc)


def _without_code(b: OriBuilder, call: IntrinsicCall) -> Refused:
    """The refusal of a call that the target has no instruction for: ptxas drops it, or makes what means something else."""
    return Refused(f"'{call.name}' has no instruction for {b.target.name}", call.loc)


def _problem(b: OriBuilder, call: IntrinsicCall, seen: Call) -> Refused | None:
    """The first message of the checks of a call that is no warning; warnings are told."""
    for name, places in tables.CHECKS[seen.operation](seen):
        id_, text, severity = tables.MESSAGES[name]
        for place, value in places.items():
            text = text.replace(f"{{{place}}}", str(value))
        if id_ == "C7308":
            text = f'Instrinsic - "{text}"'
        if severity != _WARNING:
            return Refused(f"({id_}) {text}", call.loc)
        b.events.warn(f"({id_}) {text}", call.loc)
    return None


def _given(b: OriBuilder, call: IntrinsicCall, untyped: str) -> tuple[list[Given], bool]:
    """What a call gives and takes, by the accesses to its variables; whether words of a variable took the type ``untyped``."""
    found: list[Given] = []
    open_ = False
    for n, variable in enumerate(call.variables):
        made = call.actuals[n]
        is_result = n < call.results
        if not isinstance(made, ParamVariable):
            found.append(Given(variable.type, is_result, made, call.nodes[n]))
        elif not call.symbols[n]:
            _scalar_in(found, made, variable, is_result, call.nodes[n])
        else:
            accesses = sorted(set(made.loads)) if is_result else sorted(made.stores)
            if not accesses and is_result:
                open_ = open_ or bool(variable.dims)
                type_ = untyped if variable.dims else variable.type
                accesses = [(at, type_) for at in range(0, variable.size, _BYTES[type_])]
            for offset, type_ in accesses:
                one = Given(type_, is_result)
                one.variable, one.offset = made, offset
                found.append(one)
    return found, open_


def _scalar_in(found: list[Given], made: ParamVariable, variable: Any, is_result: bool, node: Any) -> None:
    """The elements of what was given in registers for a parameter that is a variable."""
    type_, count = (_HALF, 2 * variable.vector) if variable.type == _QUAD else (variable.type, variable.vector)
    for k in range(count):
        one = Given(type_, is_result, 0, node if count == 1 else None)
        one.variable, one.offset = made, k * _BYTES[type_]
        found.append(one)


def _written_elsewhere(b: OriBuilder) -> set[int]:
    """The words of registers that a caller of the function writes, or what it calls, and no instruction."""
    places: list[ParamVariable | int] = []
    for formal in b.code.formals:
        places.append(formal.variable if formal.variable is not None else formal.operand)
    for site in b.code.calls:
        places += site.actuals
    for call in b.intrinsics.values():
        places += call.actuals[: call.results]
    found: set[int] = set()
    for place in places:
        for operand in place.words if isinstance(place, ParamVariable) else [place]:
            if opd.is_register(operand):
                found |= {int(opd.word(operand, k)) for k in range(opd.count_of(operand))}
    return found


def _constants(b: OriBuilder, move: i64) -> dict[int, int]:
    """The words of registers that one instruction writes, which moves a constant there, and the constant."""
    f = b.code
    found = dict.fromkeys(_written_elsewhere(b), _UNKNOWN)
    i: i64 = 0
    while i < len(f.op):
        at: i64 = 0
        while f.block[i] != NONE and at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and OPS.writes_at(f.op[i], at):
                for k in range(opd.count_of(operand)):
                    name = int(opd.word(operand, k))
                    source = f.get(i, 1) if f.op[i] == move and not f.guard[i] else opd.NO_OPERAND
                    if name in found:
                        found[name] = _UNKNOWN
                    elif source & opd.TYPE == opd.IS_IMM:
                        found[name] = f.imm_value(source) & _MASK32
                    elif source == opd.RZ_OPERAND:
                        found[name] = 0
                    else:
                        found[name] = _UNKNOWN
            at += 1
        i += 1
    return found


def _constant_of(b: OriBuilder, given: Given, constants: dict[int, int]) -> int | None:
    """The constant that an argument is: written so, or by the only move into its register."""
    if given.is_result:
        return None
    if given.node is not None and given.node[0] == nodes.INT:
        return int(given.node[1])
    if given.node is not None and given.node[0] == nodes.FLOAT:
        return int(given.node[2] if _BYTES[given.type] == _DOUBLE else given.node[1])
    found = [constants.get(int(opd.word(operand, 0)), _UNKNOWN) for operand in _words(b, given)]
    if any(value == _UNKNOWN for value in found):
        return None
    return sum(value << 32 * k for k, value in enumerate(found))


def _words(b: Memory, given: Given) -> list[int]:
    """The words of a result or argument."""
    count = max(1, _BYTES.get(given.type, WORD) // WORD)
    if given.variable is not None:
        return [int(word(b, given.variable, given.offset // WORD + k)) for k in range(count)]
    return [int(part(given.operand, k) if count > 1 else given.operand) for k in range(count)]


def _is_read(b: OriBuilder, given: list[Given]) -> bool:
    """Whether anything reads one of the results: a register of theirs is a source somewhere, or a result of the function."""
    registers = {name for one in given if one.is_result for name in _names(one.variable, one.operand)}
    for other in b.intrinsics.values():  # the arguments of all calls, of this one in a loop too
        for n in range(other.results, len(other.actuals)):
            passed_on = other.actuals[n]
            names = _names(passed_on, 0) if isinstance(passed_on, ParamVariable) else _names(None, passed_on)
            if not registers.isdisjoint(names):
                return True
    f = b.code
    for formal in f.formals:
        if formal.is_result and not registers.isdisjoint(_names(formal.variable, formal.operand)):
            return True
    for site in f.calls:
        for passed in site.actuals:
            if isinstance(passed, ParamVariable):
                if not registers.isdisjoint(_names(passed, 0)):
                    return True
            elif not registers.isdisjoint(_names(None, passed)):
                return True
    i: i64 = 0
    while i < len(f.op):
        if f.block[i] != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if opd.is_register(operand) and operand & opd.INDEX in registers and not OPS.writes_at(f.op[i], at):
                    return True
                at += 1
            if f.guard[i] and f.guard[i] & opd.INDEX in registers:
                return True
        i += 1
    return False


def _names(variable: ParamVariable | None, operand: int) -> set[int]:
    """The registers of a variable, or the one that an operand names."""
    words = variable.words if variable is not None else [operand]
    return {int(word & opd.INDEX) for word in words if opd.is_register(word)}


def _rebuild(b: OriBuilder, block: i64, matched: dict[int, Matched]) -> None:
    """Put the instructions of a block back, code in the place of its calls."""
    i = b.cursor.empty(block)
    b.block = block
    while i != NONE:
        following = b.code.next[i]
        if i in matched:
            b.code.block[i] = NONE
            b.line = matched[i].call.line
            b.loc = matched[i].call.loc
            _emit(b, matched[i], b.code.guard[i])
        else:
            b.stand().link(i)
        i = following


def _emit(b: OriBuilder, found: Matched, guard: i64) -> None:
    """The code of a call: its operands brought together, the instruction, its results brought to their places."""
    code, operands = found.lowered
    seen = found.seen
    handles: dict[int, Any] = {}
    made = [_operand(b, found, seen, handles, spec) for spec in operands]
    condition = None
    if guard:
        kind = nodes.NOT if guard & opd.NEGATE else nodes.REG
        condition = (kind, b.add_register(guard & ~opd.NEGATE, 0))
    try:
        b.make_instruction(_variant(code), condition, made)
    except Refused:
        raise
    except NotSupported:
        raise _without_code(b, found.call) from None
    for n, node in handles.items():
        one = found.given[n]
        if one.is_result and one.variable is not None and node[0] == nodes.REG:
            register = b.register(node[1])
            words = _words(b, one)
            for k, target in enumerate(words):
                if target != opd.RZ_OPERAND and opd.is_register(register):
                    b.copy(target, part(register, k) if len(words) > 1 else register, guard)


_VARIANTS: Final[dict[str, IntrinsicVariant]] = {}


def _variant(text: str) -> IntrinsicVariant:
    found = _VARIANTS.get(text)
    if found is None:
        found = _VARIANTS[text] = IntrinsicVariant(text)
    return found


def _operand(b: OriBuilder, found: Matched, seen: Call, handles: dict[int, Any], spec: Any) -> Any:
    """The node of an operand."""
    kind: str = spec[0]
    if kind == "number":
        return (nodes.INT, spec[1])
    first = spec[1] if spec[1] >= 0 else spec[1] + seen.n
    if kind == "param":
        return _node(b, found, seen, handles, first)
    if kind == "wide":
        return _wide(b, _node(b, found, seen, handles, first))
    if kind == "address":
        node = _node(b, found, seen, handles, first)
        if spec[2]:
            node = _wide(b, node)
        return (nodes.ADDR_IMM, node[1]) if node[0] == nodes.INT else (nodes.ADDR_REG, node[1], 0)
    last = spec[2] if spec[2] >= 0 else spec[2] + seen.n
    if kind == "pair":
        return (nodes.PAIR, _node(b, found, seen, handles, first), _node(b, found, seen, handles, last))
    return (nodes.VEC, tuple(_node(b, found, seen, handles, n) for n in range(first, last + 1)))


def _wide(b: OriBuilder, node: Any) -> Any:
    """An argument as one of 64 bits, with zeros above one of 32."""
    if node[0] != nodes.REG or opd.count_of(b.register(node[1])) > 1:
        return node
    pair = b.new_pair()
    b.copy(part(pair, 0), b.register(node[1]), 0)
    b.copy(part(pair, 1), opd.RZ_OPERAND, 0)
    return (nodes.REG, b.add_register(pair, 2))


def _node(b: OriBuilder, found: Matched, seen: Call, handles: dict[int, Any], n: int) -> Any:
    """The node of a result or argument: a constant, or a register, in which the words of an argument stand."""
    known = handles.get(n)
    if known is not None:
        return known
    given = found.given[n]
    constant = seen.constants[n]
    size = max(1, _BYTES.get(given.type, WORD) // WORD)
    node: Any
    if given.is_result and given.node is not None and given.node[0] == nodes.SINK:
        node = (nodes.SINK,)
    elif constant is not None and not given.is_result:
        node = (nodes.INT, constant)
    elif given.variable is None:
        node = (nodes.REG, b.add_register(given.operand, size))
    else:
        register = b.new_pair() if size > 1 else b.new_r()
        if not given.is_result:
            for k, operand in enumerate(_words(b, given)):
                b.copy(part(register, k) if size > 1 else register, operand, 0)
        node = (nodes.REG, b.add_register(register, size))
    handles[n] = node
    return node
