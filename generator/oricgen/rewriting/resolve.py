"""Finds what the names of a rule stand for: operations, operand positions, modifiers, functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Mistakes, SpecError
from ..isa import rows
from ..isa.model import Modifier, Operand, Operation
from ..spec import Spec
from ..strictyaml import Map
from ..tables import macros
from .model import (
    Anything,
    Commute,
    Constant,
    Contraction,
    Function,
    Literal,
    Narrow,
    Node,
    Rule,
    Rules,
    Source,
    Truth,
    Variable,
    Within,
)
from .parse import pattern

FOLDER = "rewrites"
# Pseudo-operations of rules for the address of a memory operation: base and offset; the width of the base.
ADDRESSES = {"ADDRESS32": 1, "ADDRESS64": 2}
# Pseudo-operation of patterns: a pair of registers by its words.
PAIR = "PAIR"
BASE, OFFSET = "Ra", "off"
DIRECT = 3  # sources of what is made that follow its result; further ones are predicates behind other results
_WORD = 32
_REACH = 20  # bits of an offset; where a form has fewer, sums stay in front
ROOT = "root_"  # in front of the name of a modifier of the instruction around an operand rule
_EXPRESSION = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub,
    ast.Mult, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Invert, ast.USub, ast.Not, ast.And, ast.Or, ast.Eq,
    ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
)  # fmt: skip


@dataclass(frozen=True)
class Slot:
    """Where a source of a pattern stands: operand position, 32-bit registers (0: an immediate or predicate), what it is."""

    position: int
    words: int
    operand: Operand | None


class Resolver:
    """Knows the operations while rules are read."""

    def __init__(self, spec: Spec) -> None:
        expanded = macros.load(spec)
        self.operations: dict[str, Operation] = {o.name: o for o in (*rows.load(spec).operations, *expanded)}
        self.whole = {o.name for o in expanded}  # their sources of 64 bits take whole constants

    def operation(self, name: str, path: str, line: int) -> Operation:
        """The operation of that name.

        Raises:
            SpecError: there is none.
        """
        if name not in self.operations:
            raise SpecError(path, line, f"{name}: there is no such operation in spec/encoding or spec/macros.yaml")
        return self.operations[name]

    @staticmethod
    def width(operation: Operation, position: int) -> int:
        """See :func:`words`."""
        return words(operation, position)

    def slots(self, name: str) -> list[Slot]:
        """The sources of an operation, or of the address of one, in order."""
        if name in ADDRESSES:
            return [Slot(0, ADDRESSES[name], None), Slot(1, 0, None)]
        if name == PAIR:
            return [Slot(0, 1, None), Slot(1, 1, None)]
        operation = self.operations[name]
        return [Slot(i, words(operation, i), o) for i, o in enumerate(operation.operands) if not o.writes]

    def modifier(self, node: Node, name: str) -> Modifier | None:
        """A modifier of the operation of a node."""
        if node.operation in ADDRESSES or node.operation == PAIR:
            return None
        return next((m for m in self.operations[node.operation].mods if m.name == name), None)


def words(operation: Operation, position: int) -> int:
    """Number of 32-bit registers of an operand; 0 for what is none, -1 when modifiers say it."""
    if operation.operands[position].kind not in ("gpr", "ugpr"):
        return 0
    registers = operation.registers[position]
    return registers.table[0] if not registers.mods else -1


def constant_words(root: Node, resolver: Resolver) -> dict[str, int]:
    """The names of the constants of a pattern; 2 for those of 64 bits, 1 for others."""
    out = {}
    for node in root.nodes():
        for source, slot in zip(node.sources, resolver.slots(node.operation), strict=False):
            if isinstance(source, Constant):
                out[source.text] = 2 if slot.words == 2 else 1
    return out


def code_of(modifier: Modifier, value: str) -> int | None:
    """The packed value that a rule names."""
    if value in modifier.codes:
        return modifier.codes[value]
    try:
        number = int(value, 0)
    except ValueError:
        return None
    return number if not modifier.codes and 0 <= number < 1 << modifier.width else None


def load(spec: Spec) -> Rules:
    """Everything in ``spec/rewrites``, in the order of files and lines."""
    return spec.memo("rewrites", lambda: _load(spec))


def _load(spec: Spec) -> Rules:
    out = Rules()
    resolver = Resolver(spec)
    files = spec.family(FOLDER)
    for name, data in files.items():
        path = str(spec.path(name))
        functions = data.get("functions", {})
        for key, row in functions.items():
            if key in out.functions:
                raise SpecError(path, functions.line_of(key), f"{key}: there is a function of that name already")
            out.functions[key] = Function(key, tuple(row["takes"]), row["doc"], path, functions.line_of(key))
        for key in data.get("rank", ()):
            resolver.operation(key, path, data.line_of("rank"))
            out.rank[key] = len(out.rank) + 1
        commute = data.get("commute", {})
        for key, row in commute.items():
            out.commute[key] = _commute(resolver, key, row, path, commute.line_of(key))
        contract = data.get("contract", {})
        out.contract += [_contraction(resolver, key, row, path, contract.line_of(key)) for key, row in contract.items()]
        narrow = data.get("narrow", [])
        for number, row in enumerate(narrow):
            out.narrow += _narrow(resolver, row, path, narrow.line_of(number))
    with Mistakes() as each:
        for name, data in files.items():
            rules = data.get("rules", [])
            for number, row in enumerate(rules):
                with each:
                    out.rules.append(_rule(resolver, out, row, str(spec.path(name)), rules.line_of(number)))
    return out


def _commute(resolver: Resolver, name: str, row: Map, path: str, line: int) -> Commute:
    operation = resolver.operation(name, path, line)
    places = {o.name: i for i, o in enumerate(operation.operands)}
    mods = {m.name: m for m in operation.mods}
    for source in row["sources"]:
        if source not in places:
            raise SpecError(path, line, f"{name}: there is no operand '{source}'")
    swaps = []
    for mod_name, values in row.get("swap", {}).items():
        mod = mods.get(mod_name)
        if mod is None or not set(values) | set(values.values()) <= set(mod.codes):
            raise SpecError(path, line, f"{name}: modifier '{mod_name}' has no such values")
        swaps.append((mod, {mod.codes[a]: mod.codes[b] for a, b in values.items()}))
    table = row.get("table")
    if table is not None and (table not in mods or len(row["sources"]) != 3):
        raise SpecError(path, line, f"{name}: 'table' names the truth table of three sources")
    negated = row.get("negate")
    if negated is not None and (negated not in places or operation.operands[places[negated]].kind != "pred"):
        raise SpecError(path, line, f"{name}: there is no predicate '{negated}'")
    positions = tuple(places[s] for s in row["sources"])
    other = places[negated] if negated else None
    return Commute(positions, tuple(swaps), mods[table] if table else None, "results" in row, other, "nan" in row, path, line)


def _contraction(resolver: Resolver, name: str, row: Map, path: str, line: int) -> Contraction:
    total, product, fused = (resolver.operation(n, path, line) for n in (name, row["product"], row["fused"]))
    kinds = {operand.kind for operation in (total, product, fused) for operand in operation.operands}
    sizes = {words(operation, 0) for operation in (total, product, fused)}
    if [len(o.operands) for o in (total, product, fused)] != [3, 3, 4] or kinds != {"gpr"} or len(sizes) != 1:
        raise SpecError(path, line, f"{name}: it does not take what {product.name} makes as {fused.name} does")
    values = []
    for number, values_row in enumerate(row.get("modifiers", ())):
        at = row["modifiers"].line_of(number)
        product_bits, sum_bits, fused_bits = (
            _bits_of(operation, values_row.get(key, ()), path, at)
            for key, operation in (("product", product), ("sum", total), ("fused", fused))
        )
        values.append((product_bits, sum_bits, fused_bits))
    return Contraction(product, total, fused, tuple(values))


def _narrow(resolver: Resolver, row: Map, path: str, line: int) -> list[Narrow]:
    found = []
    for name in row["operations"]:
        operation = resolver.operation(name, path, line)
        mask, bits = _bits_of(operation, [row["modifier"]], path, line)
        found.append(Narrow(operation, mask, bits, row.get("unsigned", _WORD), row["signed"]))
    return found


def _bits_of(operation: Operation, names: Sequence[str], path: str, line: int) -> tuple[int, int]:
    """(mask, bits) of values ``NAME=VALUE`` in the modifiers of an operation."""
    mask = bits = 0
    mods = {m.name: m for m in operation.mods}
    for text in names:
        name, _, value = text.partition("=")
        code = code_of(mods[name], value) if name in mods else None
        if code is None:
            raise SpecError(path, line, f"{operation.name}: there is no value of a modifier '{text}'")
        mask |= (1 << mods[name].width) - 1 << mods[name].shift
        bits |= code << mods[name].shift
    return mask, bits


# -- rules -----------------------------------------------------------------------------------------------------


def _rule(resolver: Resolver, rules: Rules, row: Map, path: str, line: int) -> Rule:
    match = pattern(row["match"], path, line)
    if not isinstance(match, Node):
        raise SpecError(path, line, f"'{row['match']}' must be an operation and its sources")
    make = pattern(str(row["make"]), path, line, made=True)
    if isinstance(make, Node) and any(isinstance(s, Node) for s in make.sources):
        raise SpecError(path, line, f"'{row['make']}': one instruction is made, its sources are no instructions")
    conditions = row.get("if", ())
    conditions = (conditions,) if isinstance(conditions, str) else tuple(conditions)
    within = _within(resolver, row["within"], match, path, line) if "within" in row else None
    more = {key: row[key] for key in ("register", "alone", "is_register") if key in row}
    more |= {key: tuple(row[key].items()) for key in ("unsigned", "signed") if key in row}
    rule = Rule(path, line, match, make, conditions, within, **more)
    check_names(resolver, rules, rule)
    return rule


def check_names(resolver: Resolver, rules: Rules, rule: Rule) -> None:
    """Check that what a rule names exists and fits where it stands.

    Raises:
        SpecError: it does not.
    """
    _Names(resolver, rules, rule).check()


def _within(resolver: Resolver, row: Map, match: Node, path: str, line: int) -> Within:
    absent, default = tuple(row.get("absent", ())), tuple(row.get("default", ()))
    if match.operation in ADDRESSES:
        found = tuple(o for o in resolver.operations.values() if _has_address(o))
        return Within(found, True, default, absent)
    if "operations" not in row:
        raise SpecError(path, line, f"'within' lists the operations around {match.operation}")
    return Within(tuple(resolver.operation(n, path, line) for n in row["operations"]), False, default, absent)


def _has_address(operation: Operation) -> bool:
    """Whether a memory operation has a register and a number that are added, and the number may be large."""
    kinds = {o.name: o.kind for o in operation.operands}
    memory = {"load", "store", "atomic"} & set(operation.effects)
    if not memory or "constant" in operation.effects or kinds.get(BASE) != "gpr" or kinds.get(OFFSET) != "imm":
        return False
    forms = [form for of_isa in operation.forms.values() for form in of_isa]
    places = [p for form in forms for p in form.operands if operation.operands[p.index].name == OFFSET]
    return all(p.bits.width >= _REACH for p in places)


def _is_whole(source: Source) -> bool:
    """Whether a source of 64 bits is a constant with an upper word of its own, as far as can be seen."""
    return isinstance(source, Constant) or (isinstance(source, Literal) and not source.exact and source.value != 0)


class _Names:
    """See :func:`check_names`."""

    def __init__(self, resolver: Resolver, rules: Rules, rule: Rule) -> None:
        self.resolver = resolver
        self.rules = rules
        self.rule = rule
        self.variables: dict[str, int] = {}  # operands: words
        self.constants: dict[str, bool] = {}  # whether they have 64 bits
        self.numbers: set[str] = set()  # constants and values of modifiers

    def error(self, message: str) -> SpecError:
        return SpecError(self.rule.path, self.rule.line, message)

    def check(self) -> None:
        rule = self.rule
        if rule.match.operation == PAIR:
            raise self.error(f"{PAIR} stands for a source, not for an instruction")
        self.node(rule.match, True)
        if rule.within is not None:
            for operation in rule.within.operations:
                self.numbers |= {f"{ROOT}{m.name}" for m in operation.mods}
        for text in rule.conditions:
            self.expression(text)
        if isinstance(rule.make, Node):
            self.node(rule.make, False)
            self._made(rule.make)
        else:
            self.leaf(rule.make, self._result_words(), False)
        if rule.register and not (isinstance(rule.make, Node) and Variable(rule.register) in rule.make.sources):
            raise self.error(f"'{rule.register}' should go into a register and is no source of what is made")
        if rule.is_register and rule.is_register not in self.variables:
            raise self.error(f"'{rule.is_register}' should be a register and is no source of the pattern")
        for name, _ in (*rule.unsigned, *rule.signed):
            if self.variables.get(name) != 1:
                raise self.error(f"'{name}' should have few bits and is no register of the pattern")

    def _result_words(self) -> int:
        node = self.rule.match
        if node.operation in ADDRESSES:
            return ADDRESSES[node.operation]
        return words(self.resolver.operations[node.operation], 0)

    def _made(self, node: Node) -> None:
        slots = self.resolver.slots(node.operation)[: len(node.sources)]
        first = 0 if node.operation in ADDRESSES else 1
        direct = slots[:DIRECT]
        if [s.position for s in direct] != list(range(first, first + len(direct))):
            raise self.error(f"the sources of {node.operation} do not follow its destination")
        for source, slot in zip(node.sources, slots, strict=True):
            if source == Anything() and (slot.operand is None or slot.operand.default is None):
                raise self.error(f"{node.operation} cannot do without its source number {slot.position}")
            if slot not in direct and (slot.operand is None or slot.operand.kind != "pred"):
                raise self.error(f"{node.operation}: behind {DIRECT} sources only predicates are made")
        if node.operation in ADDRESSES or self.rule.match.operation in ADDRESSES:
            if node.operation != self.rule.match.operation:
                raise self.error("an address is made of an address of the same width")
        elif words(self.resolver.operations[node.operation], 0) != self._result_words():
            raise self.error(f"{node.operation} and {self.rule.match.operation} write results of different widths")

    def node(self, node: Node, matched: bool) -> None:
        if node.operation == PAIR:
            if not matched or len(node.sources) != 2:
                raise self.error(f"{PAIR} has two words and cannot be made")
        elif node.operation not in ADDRESSES:
            operation = self.resolver.operation(node.operation, self.rule.path, self.rule.line)
            if not operation.operands or not operation.operands[0].writes:
                raise self.error(f"{node.operation} has no result as its first operand")
        slots = self.resolver.slots(node.operation)
        if len(node.sources) > len(slots) or not node.sources:
            raise self.error(f"{node.operation} has {len(slots)} sources")
        self.modifiers(node, matched)
        for source, slot in zip(node.sources, slots, strict=False):
            if isinstance(source, Node):
                if self._made_words(source) != slot.words or not slot.words:
                    raise self.error(f"a source of {node.operation} does not take the result of {source.operation}")
                self.node(source, matched)
            else:
                if slot.words == 2 and node.operation not in {*self.resolver.whole, *ADDRESSES} and _is_whole(source):
                    raise self.error(f"{node.operation} takes no constants of 64 bits")
                self.leaf(source, slot.words, matched, slot.operand)

    def _made_words(self, node: Node) -> int:
        if node.operation == PAIR:
            return 2
        return words(self.resolver.operation(node.operation, self.rule.path, self.rule.line), 0)

    def modifiers(self, node: Node, matched: bool) -> None:
        for test in node.modifiers:
            modifier = self.resolver.modifier(node, test.name)
            if modifier is None:
                raise self.error(f"{node.operation}: there is no modifier '{test.name}'")
            if test.value and code_of(modifier, test.value) is None:
                raise self.error(f"{node.operation}: modifier '{test.name}' has no value '{test.value}'")
            if test.text:
                self.expression(test.text)
            elif not test.value and matched:
                self.numbers.add(test.bound or test.name)
            elif not test.value and (test.bound or test.name) not in self.numbers:
                raise self.error(f"{node.operation}: '{test.bound or test.name}' is not matched")

    def leaf(self, source: Source, size: int, matched: bool, operand: Operand | None = None) -> None:
        is_predicate = operand is not None and operand.kind in ("pred", "upred")
        match source:
            case Variable(name):
                if not matched and name not in self.variables:
                    raise self.error(f"'{name}' is not matched")
                if self.variables.setdefault(name, size) != size:
                    raise self.error(f"'{name}' stands for operands of different widths")
            case Constant(text) if matched:
                if self.constants.setdefault(text, size == 2) != (size == 2):
                    raise self.error(f"'{text}' stands for constants of different widths")
                self.numbers.add(text)
            case Constant(text):
                self.expression(text)
            case Truth() if operand is not None and not is_predicate:
                raise self.error(f"{operand.name} is no predicate")
            case Literal() if is_predicate:
                raise self.error(f"{operand.name if operand else ''} is a predicate")
            case Anything() | Literal() | Truth() | Node():
                pass

    def expression(self, text: str) -> None:
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError as error:
            raise self.error(f"'{text}' is no expression: {error.msg}") from error
        for node in ast.walk(tree):
            if not isinstance(node, _EXPRESSION) or (isinstance(node, ast.Constant) and not isinstance(node.value, int)):
                raise self.error(f"'{text}': {type(node).__name__} does not belong in an expression")
            if isinstance(node, ast.Call):
                self._call(node, text)
        called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - called
        if unknown := used - self.numbers:
            raise self.error(f"'{text}': {', '.join(sorted(unknown))} is not matched")

    def _call(self, node: ast.Call, text: str) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = self.rules.functions.get(name)
        if function is None:
            raise self.error(f"'{text}': there is no function '{name}' under 'functions'")
        if len(node.args) != len(function.parameters) or node.keywords:
            raise self.error(f"'{text}': {name} takes {', '.join(function.parameters)}")


__all__ = ["ADDRESSES", "DIRECT", "PAIR", "Resolver", "Slot", "check_names", "code_of", "constant_words", "load", "words"]
